//! Random expressions of a given kind, made of what is visible at one place.
//!
//! Most of them go right most of the time. What a constant expression would do wrong is avoided, because that is an
//! error before the search; everything else may go wrong.

use birk_lang::ast::{BinaryOp, Domain, Expr, ExprKind, Quantifier, UnaryOp};

use crate::programs::data::SPREAD;
use crate::programs::world::{Kind, Procedure, Scalar, Thread, Var, World};
use crate::random::{Draw as _, Random};
use crate::tree::{at, binary, call, conditional, expr, index, member, name, named, number, truth, unary};

/// Numbers near which 32 bits end.
const EXTREME: [i64; 4] = [2_147_483_647, -2_147_483_648, 46_341, 65_536];
const COMPARISONS: [BinaryOp; 6] = [BinaryOp::Lt, BinaryOp::Le, BinaryOp::Gt, BinaryOp::Ge, BinaryOp::Eq, BinaryOp::Ne];

/// Where an expression stands: what it can name there.
pub(crate) struct Place<'w> {
    pub(crate) world: &'w World,
    pub(crate) random: &'w mut Random,
    /// The thread whose parameters and locals are visible.
    pub(crate) own: Option<usize>,
    /// Parameters of the function or procedure being written.
    pub(crate) params: &'w [Var],
    /// The procedure, whose parameters may also be records and channels.
    pub(crate) procedure: Option<&'w Procedure>,
    /// Functions before this one may be called.
    pub(crate) callable: usize,
    /// Quantified names with their ranges.
    pub(crate) bound: Vec<(String, Kind, i64, i64)>,
}

/// Something that can be read, before its indices.
pub(crate) struct Readable {
    pub(crate) base: Expr,
    pub(crate) shape: Vec<i64>,
    /// Behind so many indices stands this.
    fields: Vec<(usize, String)>,
    spread: bool,
    /// Its index is a value of the symmetric type.
    by_name: bool,
    pub(crate) lo: i64,
    pub(crate) hi: i64,
    pub(crate) fixed: bool,
}

impl Readable {
    fn single(base: Expr, lo: i64, hi: i64, fixed: bool) -> Self {
        Readable { base, shape: Vec::new(), fields: Vec::new(), spread: false, by_name: false, lo, hi, fixed }
    }

    /// The array without an index, unless it is spread over an array of records or has more elements than are used.
    pub(crate) fn array(self) -> Option<Expr> {
        if self.fields.is_empty() && !self.spread { Some(self.base) } else { None }
    }
}

impl Place<'_> {
    /// A boolean.
    pub(crate) fn boolean(&mut self, depth: usize) -> Expr {
        let weights = if depth == 0 { [2, 40, 40, 0, 0, 0, 0, 0] } else { [1, 14, 27, 22, 12, 8, 6, 10] };
        if self.world.has_collections()
            && self.random.chance(20)
            && let Some(held) = self.held_boolean(depth)
        {
            return held;
        }
        if self.world.rich
            && self.random.chance(30)
            && let Some(rich) = self.rich_boolean(depth)
        {
            return rich;
        }
        match self.random.weighted(&weights) {
            0 => truth(self.random.chance(50)),
            1 => self.read(Kind::Boolean, depth).unwrap_or_else(|| self.where_is(depth)),
            2 => self.where_is_or_comparison(depth),
            3 => self.logical(depth),
            4 => {
                let operand = self.boolean(depth - 1);
                unary(UnaryOp::Not, operand)
            }
            5 => self.quantifier(depth),
            6 => {
                let [condition, yes, no] = [(); 3].map(|()| self.boolean(depth - 1));
                conditional(condition, yes, no)
            }
            _ => self.call_of(Kind::Boolean, depth).unwrap_or_else(|| self.boolean(depth - 1)),
        }
    }

    fn logical(&mut self, depth: usize) -> Expr {
        let op = *self.random.pick(&[BinaryOp::And, BinaryOp::Or, BinaryOp::Or, BinaryOp::Implies]);
        let left = self.boolean(depth - 1);
        let right = self.boolean(depth - 1);
        binary(op, left, right)
    }

    fn where_is_or_comparison(&mut self, depth: usize) -> Expr {
        let below = depth.saturating_sub(1);
        if self.random.chance(25) {
            return self.where_is(depth);
        }
        let kinds = [Kind::Integer, Kind::Integer, Kind::Integer, Kind::Boolean];
        let kind = if self.world.enums.is_empty() { kinds[self.random.below(4)] } else { Kind::Enum(0) };
        let kind = if self.random.chance(60) { Kind::Integer } else { kind };
        let equality = kind != Kind::Integer;
        let op = if equality { COMPARISONS[4 + self.random.below(2)] } else { *self.random.pick(&COMPARISONS) };
        let variable = if self.random.chance(70) { self.variable_of(kind) } else { None };
        let left = variable.unwrap_or_else(|| self.of_kind(kind, below));
        let right = self.of_kind(kind, below);
        binary(op, left, right)
    }

    pub(crate) fn of_kind(&mut self, kind: Kind, depth: usize) -> Expr {
        match kind {
            Kind::Boolean => self.boolean(depth),
            Kind::Integer => self.integer(depth),
            Kind::Enum(e) => self.enumerator(e, depth),
            Kind::Set => self.set(depth),
            Kind::Name => self.name_of(depth),
        }
    }

    /// `T@loc` or `T[i]@loc`.
    fn where_is(&mut self, depth: usize) -> Expr {
        let threads: Vec<&Thread> = self.world.threads.iter().filter(|t| t.copies > 0).collect();
        // Nothing of a thread can be asked before there is one: in constants.
        let Some(position) = (!threads.is_empty()).then(|| self.random.below(threads.len())) else {
            return truth(true);
        };
        let thread = threads[position];
        let location = self.random.pick(&thread.locations).clone();
        let copy = self.copy_of(thread, depth);
        at(copy, &location)
    }

    fn copy_of(&mut self, thread: &Thread, depth: usize) -> Expr {
        let base = named(&thread.name);
        if thread.copies == 1 && self.random.chance(70) {
            return base;
        }
        let copy = match thread.is_by_names() {
            true => self.any_name(),
            false => self.index_of(thread.copies, depth),
        };
        index(base, copy)
    }

    /// A variable of the symmetric type.
    pub(crate) fn any_name(&mut self) -> Expr {
        let mut names = self.visible(Kind::Name);
        // Nobody has no number.
        names.retain(|read| read.shape.is_empty() && !is_name(&read.base, "who"));
        match names.is_empty() {
            true => named("id"),
            false => names.swap_remove(self.random.below(names.len())).base,
        }
    }

    /// A copy by its number or by a name alone, which seldom misses.
    pub(crate) fn plain_copy_of(&mut self, thread: &Thread) -> Expr {
        if thread.is_by_names() {
            let name = self.any_name();
            return index(named(&thread.name), name);
        }
        let mut names = self.visible(Kind::Integer);
        let wide = self.random.chance(10);
        names.retain(|r| !r.fixed && r.shape.is_empty() && (wide || (0 <= r.lo && r.hi < thread.copies)));
        let base = named(&thread.name);
        match self.random.below(2) {
            0 if thread.copies == 1 => base,
            1 if !names.is_empty() => index(base, names.swap_remove(self.random.below(names.len())).base),
            _ => index(base, number(self.random.between(0, thread.copies - 1))),
        }
    }

    /// `forall (i : lo .. hi) …`, with constant or variable bounds.
    fn quantifier(&mut self, depth: usize) -> Expr {
        if self.bound.len() >= 2 {
            return self.boolean(depth - 1);
        }
        let small = |r: &Readable| !r.fixed && r.hi - r.lo <= 6 && r.shape.is_empty();
        let mut from = self.random.between(0, 1);
        let mut to = from + self.random.between(-1, 2);
        let mut low = self.world.written_number(from, self.random);
        let mut high = self.world.written_number(to, self.random);
        if self.random.chance(35)
            && let Some(read) = self.readable(Kind::Integer, &small)
        {
            (high, to) = (read.base, read.hi);
        }
        if self.random.chance(10)
            && let Some(read) = self.readable(Kind::Integer, &small)
        {
            (low, from) = (read.base, read.lo);
        }
        let quantified = (*self.random.pick(&["i", "j", "g0"])).to_owned();
        let all = self.random.chance(50);
        self.bound.push((quantified.clone(), Kind::Integer, from, to.max(from)));
        let body = self.boolean(depth - 1);
        self.bound.pop();
        {
            let kind = if all { Quantifier::All } else { Quantifier::Any };
            let domain = Box::new(Domain::Range(low, high));
            expr(ExprKind::Quantifier(kind, name(&quantified), domain, Box::new(body)))
        }
    }

    /// An integer.
    pub(crate) fn integer(&mut self, depth: usize) -> Expr {
        let weights = if depth == 0 { [30, 60, 0, 0, 0, 0, 0, 0] } else { [10, 25, 25, 14, 6, 8, 8, 8] };
        if self.world.has_collections()
            && self.random.chance(12)
            && let Some(held) = self.held_integer(depth)
        {
            return held;
        }
        if self.world.rich
            && self.random.chance(20)
            && let Some(rich) = self.rich_integer(depth)
        {
            return rich;
        }
        match self.random.weighted(&weights) {
            0 => {
                let value = self.random.between(-1, 3);
                self.world.written_number(value, self.random)
            }
            1 => self.read(Kind::Integer, depth).unwrap_or_else(|| number(1)),
            2 => {
                let op = *self.random.pick(&[BinaryOp::Add, BinaryOp::Sub, BinaryOp::Mul]);
                let left = self.integer(depth - 1);
                let right = self.integer(depth - 1);
                binary(op, left, right)
            }
            3 => {
                let op = *self.random.pick(&[BinaryOp::Div, BinaryOp::Rem]);
                let left = self.integer(depth - 1);
                let right = self.divisor();
                binary(op, left, right)
            }
            4 => {
                let operand = self.integer(depth - 1);
                unary(UnaryOp::Neg, operand)
            }
            5 => {
                let condition = self.boolean(depth - 1);
                let [yes, no] = [(); 2].map(|()| self.integer(depth - 1));
                conditional(condition, yes, no)
            }
            6 => self.call_of(Kind::Integer, depth).unwrap_or_else(|| self.integer(depth - 1)),
            _ => self.extreme(),
        }
    }

    /// Not a constant 0: dividing by that is an error before the search.
    fn divisor(&mut self) -> Expr {
        if self.random.chance(30)
            && self.params.is_empty()
            && let Some(read) = self.variable_of(Kind::Integer)
        {
            return read;
        }
        number(*self.random.pick(&[1, 2, 2, 3, 3, -1, -2]))
    }

    /// Arithmetic that may leave 32 bits.
    fn extreme(&mut self) -> Expr {
        let op = *self.random.pick(&[BinaryOp::Add, BinaryOp::Sub, BinaryOp::Mul, BinaryOp::Div]);
        match self.variable_of(Kind::Integer) {
            Some(read) if self.params.is_empty() => binary(op, number(*self.random.pick(&EXTREME)), read),
            _ => number(2),
        }
    }

    fn enumerator(&mut self, e: usize, depth: usize) -> Expr {
        let weights = if depth == 0 { [40, 60, 0, 0] } else { [30, 50, 15, 5] };
        match self.random.weighted(&weights) {
            1 => self.read(Kind::Enum(e), depth).unwrap_or_else(|| self.enumerator(e, 0)),
            2 => {
                let condition = self.boolean(depth - 1);
                let [yes, no] = [(); 2].map(|()| self.enumerator(e, depth - 1));
                conditional(condition, yes, no)
            }
            3 => self.call_of(Kind::Enum(e), depth).unwrap_or_else(|| self.enumerator(e, 0)),
            _ => {
                let (owner, variants) = &self.world.enums[e];
                let variant: &String = self.random.pick(variants);
                member(named(owner), variant)
            }
        }
    }

    pub(crate) fn call_of(&mut self, kind: Kind, depth: usize) -> Option<Expr> {
        let functions = &self.world.functions[..self.callable];
        let fitting: Vec<_> = functions.iter().filter(|f| f.result.kind == kind).collect();
        if fitting.is_empty() {
            return None;
        }
        let function = *self.random.pick(&fitting);
        let args = function.params.iter().map(|param| self.value_of(&param.scalar, depth - 1)).collect();
        Some(call(&function.name, args))
    }

    /// A value for a variable, parameter or result of this type: mostly one that fits.
    pub(crate) fn value_of(&mut self, scalar: &Scalar, depth: usize) -> Expr {
        match scalar.kind {
            Kind::Boolean => self.boolean(depth),
            Kind::Enum(e) => self.enumerator(e, depth),
            Kind::Set => self.set(depth),
            Kind::Name => self.name_of(depth),
            Kind::Integer if !scalar.is_small() => self.wide_value(scalar, depth),
            Kind::Integer if scalar.wraps => self.integer(depth),
            Kind::Integer => {
                let value = match self.random.weighted(&[35, 25, 20, 20]) {
                    0 => self.literal_of(scalar),
                    1 => {
                        let fits = |r: &Readable| scalar.lo <= r.lo && r.hi <= scalar.hi && !r.fixed;
                        match self.readable(Kind::Integer, &fits) {
                            Some(read) => self.indexed(read, depth),
                            None => self.literal_of(scalar),
                        }
                    }
                    2 => self.clamped(scalar, depth),
                    _ => self.integer(depth),
                };
                if self.is_fixed(&value) { self.literal_of(scalar) } else { value }
            }
        }
    }

    /// A parameter of a thread, for `start`.
    pub(crate) fn of_started(&mut self, thread: &Thread, scalar: &Scalar) -> Expr {
        let fitting: Vec<&Var> = thread.params.iter().filter(|p| p.scalar.kind == scalar.kind).collect();
        let param = &self.random.pick(&fitting).name;
        let copy = self.plain_copy_of(thread);
        member(copy, param)
    }

    /// Of `byte` and `int` only a few values are used, so that there are not too many states.
    fn wide_value(&mut self, scalar: &Scalar, depth: usize) -> Expr {
        let value = match self.random.weighted(&[45, 25, 12, 6, 12]) {
            1 => binary(BinaryOp::Rem, self.integer(depth), number(3)),
            2 => {
                let fits = |r: &Readable| !r.fixed && r.hi - r.lo <= 6;
                match self.readable(Kind::Integer, &fits) {
                    Some(read) => self.indexed(read, depth),
                    None => number(1),
                }
            }
            3 => self.extreme(),
            4 => number(EXTREME[self.random.below(2)].clamp(scalar.lo, scalar.hi)),
            _ => number(self.random.between(0, 2)),
        };
        if self.is_fixed(&value) && !matches!(value.kind, ExprKind::Int(_) | ExprKind::Unary(..)) {
            return number(1);
        }
        value
    }

    fn literal_of(&mut self, scalar: &Scalar) -> Expr {
        let value = self.random.between(scalar.lo, scalar.hi.min(scalar.lo + 6));
        self.world.written_number(value, self.random)
    }

    /// `e < hi ? e + 1 : lo`, and the like: stays in the range of its type if `e` does.
    fn clamped(&mut self, scalar: &Scalar, depth: usize) -> Expr {
        let fits = |r: &Readable| scalar.lo <= r.lo && r.hi <= scalar.hi && !r.fixed && r.shape.is_empty();
        match self.readable(Kind::Integer, &fits) {
            Some(read) if self.random.chance(60) => {
                let next = binary(BinaryOp::Add, read.base.clone(), number(1));
                let below = binary(BinaryOp::Lt, read.base, number(scalar.hi));
                conditional(below, next, number(scalar.lo))
            }
            _ if scalar.lo <= 0 && scalar.hi > 0 => binary(BinaryOp::Rem, self.integer(depth), number(scalar.hi + 1)),
            _ => self.literal_of(scalar),
        }
    }

    /// An index into an array of this length: mostly one that fits.
    pub(crate) fn index_of(&mut self, length: i64, depth: usize) -> Expr {
        self.number_below(length, depth)
    }

    /// Indices of an array, whose elements may be far apart.
    pub(crate) fn indices_of(&mut self, shape: &[i64], (spread, by_name): (bool, bool), depth: usize) -> Vec<Expr> {
        if by_name {
            return vec![self.any_name()];
        }
        let at = |&length: &i64| match spread {
            true => apart(self.number_below(length, depth)),
            false => self.index_of(length, depth),
        };
        shape.iter().map(at).collect()
    }

    fn number_below(&mut self, length: i64, depth: usize) -> Expr {
        let fits = |r: &Readable| 0 <= r.lo && r.hi < length && !r.fixed && r.shape.is_empty();
        match self.random.weighted(&[30, 55, 15]) {
            1 => {
                let is_element = |r: &Readable| 0 <= r.lo && r.hi < length && !r.shape.is_empty();
                if depth > 0
                    && self.random.chance(20)
                    && let Some(read) = self.readable(Kind::Integer, &is_element)
                {
                    return self.indexed(read, 0);
                }
                if let Some(read) = self.readable(Kind::Integer, &fits) {
                    return read.base;
                }
            }
            2 if self.params.is_empty() => {
                let value = if depth > 0 { Some(self.integer(depth - 1)) } else { self.variable_of(Kind::Integer) };
                if let Some(value) = value.filter(|value| !self.is_fixed(value)) {
                    return value;
                }
            }
            _ => {}
        }
        let literal = self.random.between(0, length - 1);
        self.world.written_number(literal, self.random)
    }

    /// Reads something of a kind.
    pub(crate) fn read(&mut self, kind: Kind, depth: usize) -> Option<Expr> {
        if self.world.has_collections()
            && self.random.chance(20)
            && let Some(held) = self.held_value(kind, depth)
        {
            return Some(held);
        }
        let read = self.readable(kind, &|_| true)?;
        Some(self.indexed(read, depth))
    }

    /// Reads something that is not constant, and no array.
    pub(crate) fn variable_of(&mut self, kind: Kind) -> Option<Expr> {
        Some(self.readable(kind, &|r| !r.fixed && r.shape.is_empty())?.base)
    }

    /// A small integer variable that can be counted up to its bound: itself, and its bounds.
    pub(crate) fn counter(&mut self) -> Option<(Expr, i64, i64)> {
        let small = |r: &Readable| !r.fixed && r.shape.is_empty() && r.hi - r.lo <= 6;
        self.readable(Kind::Integer, &small).map(|read| (read.base, read.lo, read.hi))
    }

    pub(crate) fn indexed(&mut self, read: Readable, depth: usize) -> Expr {
        let below = depth.saturating_sub(1);
        let indices = self.indices_of(&read.shape, (read.spread, read.by_name), below);
        spelled(read.base, &read.fields, indices)
    }

    /// Something that can be read here.
    pub(crate) fn readable(&mut self, kind: Kind, wanted: &dyn Fn(&Readable) -> bool) -> Option<Readable> {
        let mut found = self.visible(kind);
        found.extend(self.of_threads(kind));
        found.retain(|read| wanted(read));
        if self.random.chance(70) && found.iter().any(|read| !read.fixed) {
            found.retain(|read| !read.fixed);
        }
        if found.is_empty() {
            return None;
        }
        let chosen = self.random.below(found.len());
        Some(found.swap_remove(chosen))
    }

    /// What a name alone stands for. Inner names hide outer ones.
    fn visible(&self, kind: Kind) -> Vec<Readable> {
        let mut found = Vec::new();
        let mut hidden: Vec<&str> = Vec::new();
        for (name, own, lo, hi) in self.bound.iter().rev() {
            if kind == *own && !hidden.contains(&name.as_str()) {
                found.push(Readable::single(named(name), *lo, *hi, false));
            }
            hidden.push(name);
        }
        let thread = self.own.map(|own| &self.world.threads[own]);
        let locals = thread.map_or(Vec::new(), |t| t.params.iter().chain(&t.locals).collect());
        let layers: [Vec<&Var>; 3] = [self.params.iter().collect(), locals, self.world.globals.iter().collect()];
        for layer in layers {
            for variable in &layer {
                if variable.scalar.kind == kind && !hidden.contains(&variable.name.as_str()) {
                    found.push(readable_of(variable, named(&variable.name), thread));
                }
            }
            hidden.extend(layer.iter().map(|variable| variable.name.as_str()));
        }
        for constant in self.world.constants.iter().filter(|c| c.kind == kind) {
            let (base, value) = (constant.path.clone(), constant.value);
            found.push(Readable::single(base, value, value, true));
        }
        found
    }

    /// `T[i].local`, seldom.
    fn of_threads(&mut self, kind: Kind) -> Vec<Readable> {
        let mut found = Vec::new();
        if !self.random.chance(25) {
            return found;
        }
        for thread in self.world.threads.iter().filter(|t| t.copies > 0) {
            for variable in thread.params.iter().chain(&thread.locals).filter(|v| v.scalar.kind == kind) {
                let copy = self.plain_copy_of(thread);
                found.push(readable_of(variable, member(copy, &variable.name), Some(thread)));
            }
        }
        found
    }

    /// Made of literals and constants only.
    pub(crate) fn is_fixed(&self, expr: &Expr) -> bool {
        match &expr.kind {
            ExprKind::Int(_) | ExprKind::Bool(_) => true,
            ExprKind::Name(name) => self.world.constants.iter().any(|c| is_name(&c.path, name)),
            ExprKind::Member(base, _) => matches!(&base.kind, ExprKind::Name(name) if name == "P" || name == "Hue"),
            ExprKind::Call(name, args) => {
                let is_declared = self.world.functions.iter().any(|function| function.name == name.text);
                (is_declared || name.text == "twice") && args.iter().all(|arg| self.is_fixed(arg))
            }
            ExprKind::Unary(_, a) => self.is_fixed(a),
            ExprKind::Binary(_, a, b) => self.is_fixed(a) && self.is_fixed(b),
            ExprKind::Conditional(a, b, c) => [a, b, c].iter().all(|part| self.is_fixed(part)),
            ExprKind::Index(..) | ExprKind::At(..) | ExprKind::Quantifier(..) => false,
            ExprKind::Let(..) | ExprKind::Set(_) | ExprKind::Choose(_) | ExprKind::Error => false,
            ExprKind::Modal(..) | ExprKind::Fixpoint(..) => false,
        }
    }
}

fn readable_of(variable: &Var, base: Expr, thread: Option<&Thread>) -> Readable {
    let (mut lo, mut hi) = (variable.scalar.lo, variable.scalar.hi);
    // The parameter of an active thread that nobody starts is the number of the copy.
    if let Some(thread) = thread.filter(|t| variable.name == "me" && !t.startable) {
        (lo, hi) = (0, thread.copies - 1);
    }
    // What stands before any index belongs to the base.
    let (first, fields): (Vec<_>, Vec<_>) = variable.fields.iter().cloned().partition(|(before, _)| *before == 0);
    let base = first.iter().fold(base, |base, (_, field)| member(base, field));
    let (shape, spread, by_name) = (variable.shape.clone(), variable.spread, variable.is_by_name());
    Readable { base, shape, fields, spread, by_name, lo, hi, fixed: false }
}

/// A variable with its indices, and the fields that stand among them.
pub(crate) fn spelled(base: Expr, fields: &[(usize, String)], indices: Vec<Expr>) -> Expr {
    let behind = |path: Expr, count: usize| {
        fields.iter().filter(|(before, _)| *before == count).fold(path, |path, (_, name)| member(path, name))
    };
    let mut path = behind(base, 0);
    for (position, at) in indices.into_iter().enumerate() {
        path = behind(index(path, at), position + 1);
    }
    path
}

/// An index of an array whose elements are far apart.
pub(crate) fn apart(at: Expr) -> Expr {
    binary(BinaryOp::Mul, at, named(SPREAD))
}

fn is_name(path: &Expr, text: &str) -> bool {
    matches!(&path.kind, ExprKind::Name(name) if name == text)
}

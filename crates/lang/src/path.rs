//! Names and what hangs on them: `x`, `a[i][j]`, `Param.N`, `Color.Red`, `T[i].local`, `T[i]@loc`.

use birk_ir::{BinaryOp, Expr, FaultKind, Place, Span, VarId, VarRole};

use crate::ast::{self, ExprKind};
use crate::context::{Symbol, ThreadDecl};
use crate::control::FrameKind;
use crate::diagnostic::{Diagnostic, list, nearest};
use crate::expression::{Elaborator, Receiver, count};
use crate::types::{Hazard, Scalar, Ty, Type, Value, outside};

/// What a path stands for.
pub(crate) enum Path {
    /// A variable with the indices given so far.
    Variable(Indexed),
    Value(Value),
    /// A thread, and which copy of it where that was said.
    Thread(usize, Option<(Value, Span)>),
    Block(usize),
    Enum(usize),
    Error,
}

#[derive(Clone)]
pub(crate) struct Indexed {
    /// The variables it is made of: one, unless it is a record or a channel.
    pub(crate) leaves: Vec<VarId>,
    pub(crate) scalar: Scalar,
    pub(crate) shape: Vec<u32>,
    pub(crate) indices: Vec<(Value, Span)>,
    /// Belongs to a thread other than the one being lowered.
    pub(crate) foreign: bool,
}

impl Indexed {
    /// Whether it is more than one value: a record, or an array for which an index is missing.
    pub(crate) fn is_whole(&self) -> bool {
        matches!(self.scalar.ty, Ty::Record(_)) || self.indices.len() < self.shape.len()
    }

    /// Its type.
    pub(crate) fn ty(&self) -> Type {
        Type { scalar: self.scalar, shape: self.shape[self.indices.len()..].to_vec() }
    }
}

/// A place to write to.
pub(crate) struct Target {
    pub(crate) place: Place,
    pub(crate) scalar: Scalar,
    pub(crate) hazards: Vec<Hazard>,
    /// The element, where it is known.
    pub(crate) element: Option<u32>,
}

impl Elaborator<'_, '_> {
    /// Reads what a path stands for.
    pub(crate) fn read(&mut self, expr: &ast::Expr) -> Value {
        if let ExprKind::At(thread, location) = &expr.kind {
            return self.at(thread, location, expr.span);
        }
        let path = self.path(expr);
        self.value_at(path, expr.span)
    }

    /// The value of a path that was looked up already.
    pub(crate) fn value_at(&mut self, path: Path, span: Span) -> Value {
        match path {
            Path::Value(value) => value,
            Path::Error => Value::error(),
            Path::Variable(indexed) => self.element(indexed, span),
            Path::Thread(kind, _) => {
                let spots = &self.cx.threads[kind].control.spots;
                let location = spots.iter().find(|spot| spot.named).map_or("LOCATION", |spot| spot.name.as_str());
                let help = format!("ask where it is: `{}@{location}`", self.cx.source(span));
                self.not_a_value(span, "a thread", help)
            }
            Path::Block(block) => {
                let (owner, entries) = &self.cx.blocks[block];
                let example = entries.keys().min().map_or("NAME", |name| *name);
                let help = format!("name one of its constants: `{owner}.{example}`");
                self.not_a_value(span, "a block of constants", help)
            }
            Path::Enum(index) => {
                let owner = &self.cx.enums[index];
                let example = owner.variants.first().map_or("NAME", String::as_str);
                let help = format!("name one of its values: `{}.{example}`", owner.name);
                self.not_a_value(span, "an enumeration", help)
            }
        }
    }

    fn not_a_value(&mut self, span: Span, what: &str, help: String) -> Value {
        let message = format!("`{}` is {what}, not a value", self.cx.source(span));
        self.cx.report(Diagnostic::new("E0022", span, message, "expected a value").help(help));
        Value::error()
    }

    pub(crate) fn element(&mut self, indexed: Indexed, span: Span) -> Value {
        if let Ty::Record(_) | Ty::Channel(_) = indexed.scalar.ty {
            let what = self.cx.type_name(indexed.scalar.ty);
            let message = format!("`{}` is {what}, not a single value", self.cx.source(span));
            let help = match indexed.scalar.ty {
                Ty::Record(_) => "name one of its fields; whole records can be assigned, compared and sent",
                _ => "use `send`, `receive`, `len`, `full`, `empty` or `peek`",
            };
            self.cx.report(Diagnostic::new("E0022", span, message, "expected a single value").help(help));
            return Value::error();
        }
        let (id, scalar) = (indexed.leaves[0], indexed.scalar);
        if indexed.indices.len() < indexed.shape.len() {
            let message = format!("`{}` is an array, not a value", self.cx.source(span));
            let help = format!("name one element: `{}`", self.one_element(&indexed, span));
            self.cx.report(Diagnostic::new("E0033", span, message, "an index is missing").help(help));
            return Value::error();
        }
        let Some((index, hazards)) = self.flatten(indexed) else { return Value::error() };
        self.cx.read.push(id);
        let (expr, element) = match index {
            None => (Expr::Var(id), Some(0)),
            Some(index) => {
                let element = index.as_const().and_then(|i| u32::try_from(i).ok());
                (Expr::element(id, index), element)
            }
        };
        let bounds = element.map(|element| self.facts.bounds(id, element, scalar.lo, scalar.hi));
        let (lo, hi) = bounds.unwrap_or((scalar.lo, scalar.hi));
        Value { expr, ty: scalar.ty, lo, hi, hazards, fixed: false }.settled()
    }

    /// How to write what is still an array with the indices that it lacks.
    fn one_element(&self, indexed: &Indexed, span: Span) -> String {
        let missing = indexed.shape.len() - indexed.indices.len();
        let indices = ["[i]", "[j]", "[k]"].into_iter().chain(std::iter::repeat("[…]"));
        indices.take(missing).fold(self.cx.source(span), |name, index| name + index)
    }

    /// The place that an assignment writes.
    pub(crate) fn target(&mut self, expr: &ast::Expr) -> Option<Indexed> {
        let indexed = match self.path(expr) {
            Path::Variable(indexed) if !indexed.foreign && !matches!(indexed.scalar.ty, Ty::Channel(_)) => indexed,
            Path::Error => return None,
            other => {
                let (label, help) = self.why_not(&other, expr);
                let message = format!("cannot assign to `{}`", self.cx.source(expr.span));
                let mut diagnostic = Diagnostic::new("E0029", expr.span, message, label);
                diagnostic.help = help;
                self.cx.report(diagnostic);
                return None;
            }
        };
        Some(indexed)
    }

    /// The place of a single value.
    pub(crate) fn target_of(&mut self, indexed: Indexed) -> Option<Target> {
        let (id, scalar) = (indexed.leaves[0], indexed.scalar);
        let (index, hazards) = self.flatten(indexed)?;
        let element = match &index {
            None => Some(0),
            Some(index) => index.as_const().and_then(|i| u32::try_from(i).ok()),
        };
        Some(Target { place: Place { variable: id, index }, scalar, hazards, element })
    }

    /// Why something is no place to write to: a label, and what to do.
    fn why_not(&self, path: &Path, expr: &ast::Expr) -> (&'static str, Option<String>) {
        let is_constant = match &expr.kind {
            ExprKind::Name(name) => {
                let is_own = |(kind, _): (usize, u32)| self.cx.threads[kind].index_param.as_ref() == Some(name);
                if self.thread.is_some_and(is_own) {
                    let help = "copy it into a variable of the thread, and change that";
                    return ("the number of a copy never changes", Some(help.into()));
                }
                true
            }
            ExprKind::Member(base, _) => match &base.kind {
                ExprKind::Name(name) => {
                    matches!(self.cx.symbols.get(name.as_str()), Some((Symbol::Block(_), _)))
                }
                _ => false,
            },
            _ => false,
        };
        match path {
            Path::Variable(indexed) if matches!(indexed.scalar.ty, Ty::Channel(_)) => {
                ("a channel, not a variable", Some("use `send` and `receive`".into()))
            }
            Path::Variable(_) => {
                let help = "a thread changes only its own variables; use one of the system to tell it something";
                ("belongs to another thread", Some(help.into()))
            }
            Path::Value(_) if is_constant => {
                ("a constant never changes", Some("declare it as a variable if it has to change".into()))
            }
            Path::Value(_) if matches!(expr.kind, ExprKind::At(..)) => ("a thread moves by its own jumps only", None),
            Path::Value(_) | Path::Error => ("a value, not a variable", None),
            Path::Thread(..) => ("a thread, not a variable", None),
            Path::Block(_) => ("a block of constants, not a variable", None),
            Path::Enum(_) => ("an enumeration, not a variable", None),
        }
    }

    /// One index from several, with the hazards of computing it and of missing the array. None may be missing.
    pub(crate) fn flatten(&mut self, indexed: Indexed) -> Option<(Option<Expr>, Vec<Hazard>)> {
        let owner = &self.cx.variables[indexed.leaves[0].index()];
        // The first index of what belongs to a thread is the number of the copy.
        let thread = match owner.role {
            VarRole::Counter(kind) | VarRole::Local(kind) => Some(kind),
            _ => None,
        };
        let mut hazards = Vec::new();
        let mut flat: Option<Expr> = None;
        for (dimension, ((value, at), &length)) in indexed.indices.into_iter().zip(&indexed.shape).enumerate() {
            if value.ty == Ty::Error {
                return None;
            }
            hazards.extend(value.hazards.iter().cloned());
            let last = i64::from(length) - 1;
            if value.fixed && !self.unreached && (value.hi < 0 || value.lo > last) {
                let index = value.lo;
                let message = match thread.filter(|_| dimension == 0) {
                    Some(kind) => format!("there is no copy {index} of `{}`", self.cx.threads[kind].ast.name.text),
                    None => format!("the index {index} is outside an array of {}", count(length as usize, "element")),
                };
                let label = if length == 0 { "there are none".into() } else { format!("must be in 0..{last}") };
                self.cx.report(Diagnostic::new("E0031", at, message, label));
                return None;
            }
            if !value.is_within(0, last) {
                let fault = self
                    .cx
                    .fault(FaultKind::Index, at, |cx| format!("the index `{}` must stay in 0..{last}", cx.source(at)));
                hazards.push(Hazard { when: outside(&value, 0, last), fault });
            }
            flat = Some(match flat {
                None => value.expr,
                Some(outer) => {
                    let scaled = Expr::binary(BinaryOp::Mul, outer, Expr::Const(i64::from(length)));
                    Expr::binary(BinaryOp::Add, scaled, value.expr)
                }
            });
        }
        Some((flat, hazards))
    }

    pub(crate) fn path(&mut self, expr: &ast::Expr) -> Path {
        let path = match &expr.kind {
            ExprKind::Name(name) => self.name(name, expr.span),
            ExprKind::Member(base, name) => {
                let path = self.path(base);
                self.member(path, name, base.span)
            }
            ExprKind::Index(base, index) => {
                let path = self.path(base);
                let value = self.value(index);
                let value = match value.ty {
                    Ty::Symmetric(_) => Value { ty: Ty::Int, ..value },
                    _ => self.expect(value, Ty::Int, index.span, "an index"),
                };
                self.index(path, value, index.span, base.span)
            }
            _ => Path::Value(self.value(expr)),
        };
        match path {
            Path::Value(value) if value.ty == Ty::Error => Path::Error,
            path => path,
        }
    }

    fn name(&mut self, name: &str, span: Span) -> Path {
        if let Some((_, value)) = self.bindings.iter().rev().find(|(n, _)| n == name) {
            return Path::Value(value.clone());
        }
        let scope = self.scope.clone();
        let mut inside = &scope;
        let mut in_procedure = false;
        while let Some(frame) = inside {
            match &frame.kind {
                FrameKind::Round(own, value) if own.text == name => {
                    return Path::Value(Value { fixed: false, ..Value::constant(*value, Ty::Int) });
                }
                FrameKind::Round(..) => {}
                FrameKind::Call(procedure, args) => {
                    if let Some(position) = procedure.params.iter().position(|param| param.name.text == name) {
                        // A parameter stands for its argument, which is read where the call stands.
                        self.nodes += 1;
                        if self.is_too_large(span) {
                            return Path::Error;
                        }
                        let bindings = std::mem::take(&mut self.bindings);
                        let before = std::mem::replace(&mut self.scope, frame.outer.clone());
                        let path = self.path(&args[position]);
                        (self.scope, self.bindings) = (before, bindings);
                        return path;
                    }
                    in_procedure = true;
                    break;
                }
            }
            inside = &frame.outer;
        }
        if let Some((kind, copy)) = self.thread.filter(|_| !in_procedure) {
            let own = Value { fixed: false, ..Value::constant(i64::from(copy), Ty::Int) };
            if let Some(path) = self.local(kind, name, (own, span), false) {
                return path;
            }
        }
        match self.cx.symbols.get(name).map(|(symbol, _)| *symbol) {
            Some(Symbol::Constant(index)) => Path::Value(self.constant_value(index)),
            Some(Symbol::Variable(index)) if self.stateful => {
                let declared = &self.cx.globals[index];
                if declared.ty.scalar.ty == Ty::Error || declared.leaves.is_empty() {
                    return Path::Error;
                }
                Path::Variable(Indexed {
                    leaves: declared.leaves.clone(),
                    scalar: declared.ty.scalar,
                    shape: declared.ty.shape.clone(),
                    indices: Vec::new(),
                    foreign: false,
                })
            }
            Some(Symbol::Thread(index)) if self.stateful => Path::Thread(index, None),
            Some(Symbol::Block(index)) => Path::Block(index),
            Some(Symbol::Enum(index)) => Path::Enum(index),
            Some(Symbol::Ambiguous) => Path::Error,
            Some(symbol @ (Symbol::Variable(_) | Symbol::Thread(_))) => {
                let message = format!("`{name}` is {}, not a constant", symbol.noun());
                let mut diagnostic = Diagnostic::new("E0024", span, message, "must be known before the search");
                if matches!(symbol, Symbol::Variable(_)) {
                    diagnostic = diagnostic.help(format!("if it never changes, declare it so: `const {name} = …;`"));
                }
                self.cx.report(diagnostic);
                Path::Error
            }
            Some(Symbol::Alias(_) | Symbol::Function(_) | Symbol::Record(_) | Symbol::Procedure(_)) => {
                let is_function = self.cx.functions.iter().any(|(function, _)| function.name.text == name);
                if let Some(mut diagnostic) = self.cx.misused(name, span, "a value") {
                    diagnostic.help = is_function.then(|| format!("call it: `{name}(…)`"));
                    self.cx.report(diagnostic);
                }
                Path::Error
            }
            None => {
                self.unknown_name(name, span);
                Path::Error
            }
        }
    }

    fn unknown_name(&mut self, name: &str, span: Span) {
        if name.is_empty() {
            return;
        }
        let message = format!("cannot find a value named `{name}`");
        let mut diagnostic = Diagnostic::new("E0020", span, message, "not declared");
        if !self.cx.is_hopeless() {
            diagnostic.help = self.elsewhere(name).or_else(|| self.alike(name));
        }
        self.cx.report(diagnostic);
    }

    /// Something of this name that must be written differently here.
    fn elsewhere(&self, name: &str) -> Option<String> {
        let cx = &*self.cx;
        let a_copy = |kind: usize| if cx.threads[kind].copies == 1 { "" } else { "[i]" };
        if let Some(owner) = cx.enums.iter().find(|e| e.variants.iter().any(|v| v == name)) {
            return Some(format!("write `{}.{name}` for the value of the enumeration", owner.name));
        }
        if let Some((block, _)) = cx.blocks.iter().find(|(_, entries)| entries.contains_key(name)) {
            return Some(format!("write `{block}.{name}` for the constant"));
        }
        if !self.stateful {
            return None;
        }
        if let Some(kind) = cx.threads.iter().position(|t| t.locals.iter().any(|local| local.name == name)) {
            let owner = &cx.threads[kind].ast.name.text;
            return Some(format!("write `{owner}{}.{name}` for the variable of the thread", a_copy(kind)));
        }
        let has_location = |thread: &ThreadDecl<'_>| thread.control.names.contains_key(name);
        let kind = cx.threads.iter().position(has_location)?;
        let owner = &cx.threads[kind].ast.name.text;
        Some(format!("write `{owner}{}@{name}` to ask whether the thread is there", a_copy(kind)))
    }

    /// The name that was probably misspelt.
    fn alike(&self, name: &str) -> Option<String> {
        let bound = self.bindings.iter().map(|(name, _)| name.as_str());
        let thread = self.thread.map(|(kind, _)| &self.cx.threads[kind]);
        let locals = thread.into_iter().flat_map(|thread| {
            thread.locals.iter().map(|local| local.name.as_str()).chain(thread.index_param.as_deref())
        });
        let is_value = |symbol: &Symbol| match symbol {
            Symbol::Constant(_) | Symbol::Block(_) | Symbol::Enum(_) => true,
            Symbol::Variable(_) | Symbol::Thread(_) => self.stateful,
            Symbol::Function(_) | Symbol::Alias(_) | Symbol::Ambiguous => false,
            Symbol::Record(_) | Symbol::Procedure(_) => false,
        };
        let symbols = self.cx.symbols.iter().filter(|(_, (symbol, _))| is_value(symbol)).map(|(name, _)| *name);
        let meant = nearest(name, bound.chain(locals).chain(symbols).chain(["true", "false"]))?;
        Some(format!("did you mean `{meant}`?"))
    }

    /// A parameter or local of a copy of a thread.
    fn local(&mut self, kind: usize, name: &str, copy: (Value, Span), foreign: bool) -> Option<Path> {
        let thread = &self.cx.threads[kind];
        if thread.index_param.as_deref() == Some(name) {
            // The copies' numbers are written by the system, not by a constant expression.
            let (ty, last) = (thread.index_ty, i64::from(thread.copies) - 1);
            let (mut own, at) = copy;
            if !own.is_within(0, last) {
                let fault = self
                    .cx
                    .fault(FaultKind::Index, at, |cx| format!("the index `{}` must stay in 0..{last}", cx.source(at)));
                own.hazards.push(Hazard { when: outside(&own, 0, last), fault });
                (own.lo, own.hi) = (own.lo.max(0).min(last.max(0)), own.hi.min(last).max(0));
            }
            return Some(Path::Value(Value { fixed: false, ty, ..own }));
        }
        let declared = &thread.locals[*thread.local_names.get(name)?];
        if declared.ty.scalar.ty == Ty::Error || declared.leaves.is_empty() {
            return Some(Path::Error);
        }
        let copies = self.cx.threads[kind].copies;
        let mut shape = vec![copies];
        shape.extend(&declared.ty.shape);
        let (leaves, scalar) = (declared.leaves.clone(), declared.ty.scalar);
        Some(Path::Variable(Indexed { leaves, scalar, shape, indices: vec![copy], foreign }))
    }

    fn member(&mut self, base: Path, name: &ast::Name, at: Span) -> Path {
        match base {
            Path::Block(block) => match self.cx.blocks[block].1.get(name.text.as_str()) {
                Some(&constant) => Path::Value(self.constant_value(constant)),
                None => {
                    let (owner, entries) = &self.cx.blocks[block];
                    let mut names: Vec<&str> = entries.keys().copied().collect();
                    names.sort_unstable();
                    let owner = (*owner).to_owned();
                    self.no_member(&owner, "constant", name, &names)
                }
            },
            Path::Enum(index) => {
                let owner = &self.cx.enums[index];
                match owner.variants.iter().position(|variant| *variant == name.text) {
                    Some(position) => Path::Value(Value::constant(position as i64, Ty::Enum(index))),
                    None => {
                        let (owner, names) = (owner.name.to_owned(), owner.variants.clone());
                        let names: Vec<&str> = names.iter().map(String::as_str).collect();
                        self.no_member(&owner, "value", name, &names)
                    }
                }
            }
            Path::Thread(kind, copy) => {
                let Some(copy) = self.copy_of(kind, copy, at) else { return Path::Error };
                let foreign =
                    !self.thread.is_some_and(|(own, c)| own == kind && copy.0.expr == Expr::Const(i64::from(c)));
                if let Some(path) = self.local(kind, &name.text, copy, foreign) {
                    return path;
                }
                let thread = &self.cx.threads[kind];
                let owner = thread.ast.name.text.clone();
                let names: Vec<String> = thread.locals.iter().map(|l| l.name.clone()).collect();
                let names: Vec<&str> = names.iter().map(String::as_str).collect();
                self.no_member(&owner, "variable", name, &names)
            }
            Path::Error => Path::Error,
            Path::Variable(indexed) if matches!(indexed.scalar.ty, Ty::Record(_)) => self.field(indexed, name, at),
            Path::Variable(_) | Path::Value(_) => {
                if !name.text.is_empty() {
                    let message = format!("`{}` has no members", self.cx.source(at));
                    let label = "neither a record, nor a thread, nor an enumeration, nor a block of constants";
                    self.cx.report(Diagnostic::new("E0035", at, message, label));
                }
                Path::Error
            }
        }
    }

    /// A field of a record, which must be one record and not an array of them.
    fn field(&mut self, indexed: Indexed, name: &ast::Name, at: Span) -> Path {
        let Ty::Record(record) = indexed.scalar.ty else { return Path::Error };
        if indexed.indices.len() < indexed.shape.len() {
            let message = format!("`{}` is an array of records", self.cx.source(at));
            self.cx.report(Diagnostic::new("E0033", at, message, "an index is missing"));
            return Path::Error;
        }
        let mut offset = 0;
        let fields = crate::declarations::fields_of(self.cx, record);
        for (field, ty) in &fields {
            let size = crate::declarations::leaves_of(self.cx, ty).len();
            if *field == name.text {
                let leaves = indexed.leaves.get(offset..offset + size).unwrap_or_default().to_vec();
                if ty.scalar.ty == Ty::Error || leaves.is_empty() {
                    return Path::Error;
                }
                let shape = indexed.shape.iter().chain(&ty.shape).copied().collect();
                return Path::Variable(Indexed { leaves, scalar: ty.scalar, shape, ..indexed });
            }
            offset += size;
        }
        let owner = self.cx.records[record].ast.name.text.clone();
        let names: Vec<&str> = fields.iter().map(|(name, _)| name.as_str()).collect();
        self.no_member(&owner, "field", name, &names)
    }

    /// Every single value of a record or array, in order.
    pub(crate) fn spread(&mut self, indexed: &Indexed, at: Span) -> Vec<Indexed> {
        let leaves = crate::declarations::leaves_of(self.cx, &indexed.ty());
        let mut values = Vec::new();
        for (leaf, &id) in leaves.iter().zip(&indexed.leaves) {
            let elements: u32 = leaf.shape.iter().product();
            for mut element in 0..elements {
                let mut own = Vec::new();
                for &length in leaf.shape.iter().rev() {
                    let value = Value { fixed: false, ..Value::constant(i64::from(element % length), Ty::Int) };
                    own.push((value, at));
                    element /= length;
                }
                own.reverse();
                let given = indexed.shape[..indexed.indices.len()].iter();
                values.push(Indexed {
                    leaves: vec![id],
                    scalar: leaf.scalar,
                    shape: given.chain(&leaf.shape).copied().collect(),
                    indices: indexed.indices.iter().cloned().chain(own).collect(),
                    foreign: indexed.foreign,
                });
            }
        }
        values
    }

    /// The single values of an expression of a type: a variable, or a record put together from its fields.
    pub(crate) fn parts(&mut self, expr: &ast::Expr, ty: &Type, what: &str) -> Option<Vec<Value>> {
        if ty.shape.is_empty() && !matches!(ty.scalar.ty, Ty::Record(_)) {
            let value = self.value_as(expr, ty.scalar.ty);
            let receiver = Receiver { what, value: expr.span, whole: expr.span, declared: None };
            let value = self.convert(value, &ty.scalar, &receiver);
            return (value.ty != Ty::Error).then(|| vec![value]);
        }
        if let (ExprKind::Call(name, args), Ty::Record(record)) = (&expr.kind, ty.scalar.ty) {
            let is_own = self.cx.symbols.get(name.text.as_str()).map(|(s, _)| *s) == Some(Symbol::Record(record));
            if is_own && ty.shape.is_empty() {
                return self.fields(record, args, expr.span);
            }
        }
        let found = match self.path(expr) {
            Path::Variable(indexed) if indexed.ty().is_like(ty) => indexed,
            Path::Error => return None,
            _ => {
                let wanted = self.cx.type_name(ty.scalar.ty);
                let array = if ty.shape.is_empty() { "" } else { "an array of " };
                let message = format!("{what} must be {array}{wanted}");
                let mut diagnostic = Diagnostic::new("E0022", expr.span, message, "this is not");
                if !ty.shape.is_empty() {
                    diagnostic = diagnostic.help("an array is assigned as a whole; for one element, write its index");
                }
                self.cx.report(diagnostic);
                return None;
            }
        };
        let parts = self.spread(&found, expr.span);
        let leaves = crate::declarations::leaves_of(self.cx, ty);
        let scalars =
            leaves.iter().flat_map(|l| std::iter::repeat_n(l.scalar, l.shape.iter().product::<u32>() as usize));
        let mut values = Vec::new();
        for (part, scalar) in parts.into_iter().zip(scalars.collect::<Vec<_>>()) {
            let value = self.element(part, expr.span);
            let receiver = Receiver { what, value: expr.span, whole: expr.span, declared: None };
            values.push(self.convert(value, &scalar, &receiver));
        }
        values.iter().all(|value| value.ty != Ty::Error).then_some(values)
    }

    /// The single values of a record from its fields.
    pub(crate) fn fields(&mut self, record: usize, args: &[ast::Expr], span: Span) -> Option<Vec<Value>> {
        let fields = crate::declarations::fields_of(self.cx, record);
        if fields.len() != args.len() {
            let owner = &self.cx.records[record].ast.name;
            let message = format!("`{}` has {}, not {}", owner.text, count(fields.len(), "field"), args.len());
            let diagnostic = Diagnostic::new("E0027", span, message, "wrong number of values");
            let declared = owner.span;
            self.cx.report(diagnostic.related(declared, "declared here"));
            return None;
        }
        let mut values = Vec::new();
        for ((name, ty), arg) in fields.iter().zip(args) {
            values.extend(self.parts(arg, ty, &format!("the field `{name}`"))?);
        }
        Some(values)
    }

    fn no_member(&mut self, owner: &str, what: &str, name: &ast::Name, names: &[&str]) -> Path {
        // A member whose name is missing may be the one that is meant.
        if name.text.is_empty() || names.contains(&"") {
            return Path::Error;
        }
        let message = format!("`{owner}` has no {what} `{}`", name.text);
        let mut diagnostic = Diagnostic::new("E0035", name.span, message, format!("no such {what}"));
        let other = self.cx.enums.iter().find(|e| e.variants.contains(&name.text));
        diagnostic.help = match (nearest(&name.text, names.iter().copied()), other) {
            (Some(meant), _) => Some(format!("did you mean `{meant}`?")),
            (None, Some(other)) => Some(format!("did you mean `{}.{}`?", other.name, name.text)),
            (None, None) if names.is_empty() => None,
            (None, None) => Some(format!("it has {}", list(names.iter().copied()))),
        };
        self.cx.report(diagnostic);
        Path::Error
    }

    fn index(&mut self, base: Path, value: Value, at: Span, of: Span) -> Path {
        let name = self.cx.source(of);
        let diagnostic = match base {
            Path::Variable(mut indexed) if indexed.indices.len() < indexed.shape.len() => {
                indexed.indices.push((value, at));
                return Path::Variable(indexed);
            }
            Path::Thread(kind, None) => return Path::Thread(kind, Some((value, at))),
            Path::Error => return Path::Error,
            Path::Thread(..) => {
                Diagnostic::new("E0033", at, format!("`{name}` is one copy already"), "one index too many")
            }
            Path::Variable(indexed) if !indexed.shape.is_empty() && name.ends_with(']') => {
                let message = format!("`{name}` is a single value, not an array");
                Diagnostic::new("E0033", at, message, "one index too many")
            }
            _ => Diagnostic::new("E0033", of, format!("`{name}` is not an array"), "cannot be indexed"),
        };
        self.cx.report(diagnostic);
        Path::Error
    }

    /// Which copy of a thread is meant, and where that is said.
    fn copy_of(&mut self, kind: usize, copy: Option<(Value, Span)>, span: Span) -> Option<(Value, Span)> {
        let (copies, name) = (self.cx.threads[kind].copies, &self.cx.threads[kind].ast.name.text);
        match (copy, copies) {
            (Some(copy), _) => Some(copy),
            (None, 1) => Some((Value { fixed: false, ..Value::constant(0, Ty::Int) }, span)),
            (None, 0) => {
                let message = format!("`{name}` has no copies");
                self.cx.report(Diagnostic::new("E0034", span, message, "there is none to ask"));
                None
            }
            (None, _) => {
                let message = format!("`{name}` has {copies} copies, and this does not say which");
                let help = format!("write `{name}[i]` with `i` in 0..{}", copies - 1);
                self.cx.report(Diagnostic::new("E0034", span, message, "an index is missing").help(help));
                None
            }
        }
    }

    /// `T@loc`, `T[i]@loc`.
    fn at(&mut self, thread: &ast::Expr, location: &ast::Name, span: Span) -> Value {
        let path = self.path(thread);
        let (kind, copy) = match path {
            Path::Thread(kind, copy) => (kind, copy),
            Path::Error => return Value::error(),
            _ => {
                let message = format!("`{}` is not a thread", self.cx.source(thread.span));
                let help = format!("`@{}` asks whether a thread is at a location", location.text);
                self.cx.report(Diagnostic::new("E0022", thread.span, message, "expected a thread").help(help));
                return Value::error();
            }
        };
        let Some(copy) = self.copy_of(kind, copy, thread.span) else { return Value::error() };
        let declaration = &self.cx.threads[kind];
        let Some(&position) = declaration.control.names.get(&location.text) else {
            self.unknown_location(kind, location);
            return Value::error();
        };
        let (id, copies) = (declaration.counter, declaration.copies);
        let scalar = Scalar { ty: Ty::Int, lo: 0, hi: self.cx.variables[id.index()].hi, wrap: false };
        let counter = self.element(
            Indexed { leaves: vec![id], scalar, shape: vec![copies], indices: vec![copy], foreign: true },
            span,
        );
        if counter.ty == Ty::Error {
            return counter;
        }
        Value { hazards: counter.hazards, ..Value::boolean(counter.expr.equals(position as i64)) }
    }

    /// Says that a thread has no such location.
    fn unknown_location(&mut self, kind: usize, location: &ast::Name) {
        let thread = &self.cx.threads[kind];
        // A location whose name is missing may be the one that is meant.
        let locations = &thread.ast.locations;
        let is_empty = locations.is_empty() && thread.ast.body.is_empty();
        let is_broken = is_empty || locations.iter().any(|l| l.name.text.is_empty());
        if location.text.is_empty() || is_broken {
            return;
        }
        let message = format!("`{}` has no location `{}`", thread.ast.name.text, location.text);
        let mut diagnostic = Diagnostic::new("E0026", location.span, message, "no such location");
        let mut names: Vec<&str> = thread.control.names.keys().map(String::as_str).collect();
        names.sort_unstable();
        diagnostic.help = match nearest(&location.text, names.iter().copied()) {
            Some(meant) => Some(format!("did you mean `{meant}`?")),
            None if names.is_empty() => Some("name a statement: `here: await …;`".into()),
            None => Some(format!("it has {}", list(names.into_iter()))),
        };
        self.cx.report(diagnostic);
    }
}

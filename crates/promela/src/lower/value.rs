//! Expressions: C's arithmetic of 32 bits. What can go wrong is a hazard beside the value.

use birk_ir::{BinaryOp, Expr, FaultId, FaultKind, LocalId, Span, UnaryOp, VarId};

use crate::flow::Scope;
use crate::sema::{Channel, Kind, Leaf, Scalar, Var, World};
use crate::syntax::ast::{self, ExprKind, Place};

/// Where an expression stands.
pub(crate) struct Lowering<'w> {
    pub(crate) world: &'w mut World,
    /// The process whose names are meant.
    pub(crate) instance: Option<usize>,
    pub(crate) scope: Scope,
    /// How many values are bound.
    pub(crate) locals: u32,
    /// In a property: `timeout` and `run` have no meaning there.
    pub(crate) is_property: bool,
}

/// Something that goes wrong where a condition is true.
#[derive(Clone, Debug)]
pub(crate) struct Hazard {
    pub(crate) when: Expr,
    pub(crate) fault: FaultId,
}

/// A value with its bounds.
#[derive(Clone, Debug)]
pub(crate) struct Value {
    pub(crate) expr: Expr,
    pub(crate) lo: i64,
    pub(crate) hi: i64,
    pub(crate) hazards: Vec<Hazard>,
}

/// A variable that can be read and written.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    pub(crate) id: VarId,
    pub(crate) index: Option<Expr>,
    pub(crate) scalar: Scalar,
    pub(crate) hazards: Vec<Hazard>,
}

impl Value {
    pub(crate) fn constant(value: i64) -> Self {
        Value { expr: Expr::Const(value), lo: value, hi: value, hazards: Vec::new() }
    }

    fn boolean(expr: Expr, hazards: Vec<Hazard>) -> Self {
        Value { expr, lo: 0, hi: 1, hazards }
    }

    /// Whether it is not 0.
    pub(crate) fn truth(&self) -> Expr {
        if self.lo >= 0 && self.hi <= 1 {
            return self.expr.clone();
        }
        Expr::binary(BinaryOp::Ne, self.expr.clone(), Expr::Const(0))
    }

    /// As it is stored in a variable of this type.
    pub(crate) fn stored(&self, scalar: Scalar) -> Expr {
        let inside = scalar.lo <= self.lo && self.hi <= scalar.hi;
        match self.expr {
            _ if inside => self.expr.clone(),
            Expr::Const(value) => Expr::Const(birk_ir::expr::wrap(value, scalar.lo, scalar.hi)),
            _ => Expr::Wrap(Box::new(self.expr.clone()), scalar.lo, scalar.hi),
        }
    }

    /// Brought into 32 bits.
    fn fitting(self) -> Self {
        let expr = self.stored(Scalar::INT);
        let (lo, hi) = match expr.as_const() {
            Some(value) => (value, value),
            None if self.lo >= Scalar::INT.lo && self.hi <= Scalar::INT.hi => (self.lo, self.hi),
            None => (Scalar::INT.lo, Scalar::INT.hi),
        };
        Value { expr, lo, hi, hazards: self.hazards }
    }
}

impl Lowering<'_> {
    pub(crate) fn new<'w>(world: &'w mut World, instance: Option<usize>, scope: &Scope) -> Lowering<'w> {
        Lowering { world, instance, scope: scope.clone(), locals: 0, is_property: false }
    }

    pub(crate) fn bind(&mut self) -> LocalId {
        self.locals += 1;
        LocalId(self.locals - 1)
    }

    pub(crate) fn error(&mut self, code: &'static str, span: Span, message: impl Into<String>, label: &str) {
        self.world.error(code, span, message, label);
    }

    fn find(&self, name: &str) -> Option<Var> {
        self.world.find(self.instance, &self.scope, name)
    }

    /// The part of a variable that a place names, and the indices.
    fn leaf(&mut self, place: &Place) -> Option<(Var, Leaf, Expr, Vec<Hazard>)> {
        let (root, _) = &place.parts[0];
        let Some(var) = self.find(&root.text) else {
            if &*root.text == "STDIN" {
                self.error("E2038", root.span, "`STDIN` is not supported: there is nobody to type", "reads input");
                return None;
            }
            let message = format!("`{}` is not declared", root.text);
            self.error("E2020", root.span, message, "not found");
            return None;
        };
        self.leaf_of(var, place)
    }

    fn leaf_of(&mut self, var: Var, place: &Place) -> Option<(Var, Leaf, Expr, Vec<Hazard>)> {
        let names = || place.parts[1..].iter().map(|(name, _)| &name.text);
        let found = var.leaves.iter().find(|leaf| leaf.path.iter().eq(names()));
        let Some(leaf) = found.cloned() else {
            let message = match place.parts.len() {
                1 => format!("`{}` is a record: name a field of it", place.parts[0].0.text),
                _ => format!("there is no such field in `{}`", place.parts[0].0.text),
            };
            self.error("E2021", place.span, message, "here");
            return None;
        };
        let (mut index, mut hazards) = (Expr::Const(0), Vec::new());
        for ((name, given), length) in place.parts.iter().zip(&leaf.lengths) {
            match (given, length) {
                (None, None) => {}
                (Some(given), Some(length)) => {
                    let value = self.value(given);
                    let length = i64::from(*length);
                    hazards.extend(value.hazards.clone());
                    if value.lo < 0 || value.hi >= length {
                        let low = Expr::binary(BinaryOp::Lt, value.expr.clone(), Expr::Const(0));
                        let high = Expr::binary(BinaryOp::Ge, value.expr.clone(), Expr::Const(length));
                        let message = format!("the index of `{}` is not in 0..{}", name.text, length - 1);
                        let fault = self.world.fault(FaultKind::Index, given.span, message);
                        let when = if value.lo < 0 { low.or(high) } else { high };
                        hazards.push(Hazard { when, fault });
                    }
                    let before = Expr::binary(BinaryOp::Mul, index, Expr::Const(length));
                    index = Expr::binary(BinaryOp::Add, before, value.expr);
                }
                // SPIN reads `a[0]` of what is no array as `a`.
                (Some(given), None) if matches!(given.kind, ExprKind::Const(0)) => {}
                (Some(_), None) => {
                    self.error("E2021", name.span, format!("`{}` is not an array", name.text), "has an index");
                    return None;
                }
                (None, Some(_)) => {
                    self.error("E2021", name.span, format!("`{}` is an array", name.text), "an index is missing");
                    return None;
                }
            }
        }
        Some((var, leaf, index, hazards))
    }

    /// A place that can be written.
    pub(crate) fn target(&mut self, place: &Place) -> Option<Target> {
        let (var, leaf, index, hazards) = self.leaf(place)?;
        if var.fixed.is_some() {
            self.error("E2021", place.span, "nothing can be assigned to a channel with messages", "here");
            return None;
        }
        Some(place_of(&var, &leaf, index, hazards))
    }

    /// All places of a record, or the one place of anything else, as messages have them.
    pub(crate) fn targets(&mut self, place: &Place) -> Vec<Target> {
        let parts = self.expanded(place);
        parts.iter().filter_map(|place| self.target(place)).collect()
    }

    /// A record's name in a message stands for all its fields.
    pub(crate) fn expanded(&self, place: &Place) -> Vec<Place> {
        let Some(var) = self.find(&place.parts[0].0.text) else { return vec![place.clone()] };
        let given = place.parts.len() - 1;
        let is_below = |leaf: &&Leaf| {
            leaf.path.len() > given && leaf.path.iter().zip(&place.parts[1..]).all(|(a, (b, _))| *a == b.text)
        };
        let below: Vec<&Leaf> = var.leaves.iter().filter(is_below).collect();
        if below.is_empty() {
            return vec![place.clone()];
        }
        let mut found = Vec::new();
        for leaf in below {
            let mut all = vec![place.clone()];
            for (at, field) in leaf.path.iter().enumerate().skip(given) {
                let name = ast::Name { text: field.clone(), span: place.span };
                let length = leaf.lengths[at + 1];
                let mut longer = Vec::new();
                for place in all {
                    let indices: Vec<Option<ast::Expr>> = match length {
                        None => vec![None],
                        Some(length) => (0..i64::from(length))
                            .map(|i| Some(ast::Expr { kind: ExprKind::Const(i), span: place.span }))
                            .collect(),
                    };
                    for index in indices {
                        let mut place = place.clone();
                        place.parts.push((name.clone(), index));
                        longer.push(place);
                    }
                }
                all = longer;
            }
            found.extend(all);
        }
        found
    }

    /// The channel that a place names.
    pub(crate) fn channel(&mut self, place: &Place) -> Option<(Channel, Vec<Hazard>)> {
        let (var, leaf, index, hazards) = self.leaf(place)?;
        if let Some(group) = var.fixed {
            return Some((Channel::Fixed { group, index }, hazards));
        }
        if leaf.scalar.kind != Kind::Chan && leaf.scalar.hi != 255 && leaf.scalar.hi != Scalar::INT.hi {
            self.error("E2022", place.span, format!("`{}` is not a channel", place.parts[0].0.text), "here");
            return None;
        }
        let target = place_of(&var, &leaf, index, Vec::new());
        Some((Channel::Number(target.read()), hazards))
    }

    pub(crate) fn value(&mut self, expr: &ast::Expr) -> Value {
        match &expr.kind {
            ExprKind::Const(value) => {
                Value { expr: Expr::Const(*value), lo: *value, hi: *value, hazards: Vec::new() }.fitting()
            }
            ExprKind::Place(place) => self.read(place),
            ExprKind::Unary(sign, inner) => self.unary(sign, inner),
            ExprKind::Binary(sign, parts) => self.binary(sign, &parts.0, &parts.1, expr.span),
            ExprKind::Cond(parts) => {
                let condition = self.value(&parts.0);
                let (yes, no) = (self.value(&parts.1), self.value(&parts.2));
                let truth = condition.truth();
                let mut hazards = condition.hazards;
                hazards.extend(under(&truth, yes.hazards));
                hazards.extend(under(&truth.clone().negate(), no.hazards));
                let (lo, hi) = (yes.lo.min(no.lo), yes.hi.max(no.hi));
                Value { expr: Expr::choose(truth, yes.expr, no.expr), lo, hi, hazards }
            }
            ExprKind::Timeout if self.is_property => Value::constant(0),
            ExprKind::Timeout => Value::boolean(Expr::Stuck, Vec::new()),
            ExprKind::Run(..) => {
                let message = "`run` stands alone, or alone behind `=`";
                self.error("E2023", expr.span, message, "in an expression");
                Value::constant(0)
            }
            ExprKind::Ask(what, place) => self.ask(what, place),
            ExprKind::Poll { channel, args, random } => self.poll(channel, args, *random, expr.span),
            ExprKind::At(name, index, label) => self.at_label(name, index.as_deref(), label),
            ExprKind::Remote(name, index, place) => self.remote(name, index.as_deref(), place),
            ExprKind::Temporal(sign, _) | ExprKind::Between(sign, _) => {
                let message = format!("`{sign}` cannot stand in an expression over one state");
                self.error("E2024", expr.span, message, "put the formula around it");
                Value::constant(0)
            }
            ExprKind::Error => Value::constant(0),
        }
    }

    fn read(&mut self, place: &Place) -> Value {
        if let [(name, None)] = &place.parts[..]
            && self.find(&name.text).is_none()
        {
            if let Some(value) = self.world.mtypes.get(&name.text) {
                return Value::constant(*value);
            }
            match &*name.text {
                "_pid" => {
                    let pid = self.instance.map(|instance| self.world.instances[instance].pid);
                    return Value::constant(pid.unwrap_or(0));
                }
                "_nr_pr" => {
                    let running = self.world.running.expect("declared first");
                    return Value { expr: Expr::Var(running), lo: 0, hi: 255, hazards: Vec::new() };
                }
                "_" | "_last" | "_priority" => {
                    self.error("E2037", name.span, format!("`{}` cannot be read", name.text), "not supported");
                    return Value::constant(0);
                }
                _ => {}
            }
        }
        let Some((var, leaf, index, hazards)) = self.leaf(place) else { return Value::constant(0) };
        if let Some(group) = var.fixed {
            let first = Expr::Const(self.world.groups[group].first);
            return Value { expr: Expr::binary(BinaryOp::Add, first, index), lo: 0, hi: 255, hazards };
        }
        let target = place_of(&var, &leaf, index, hazards);
        Value { expr: target.read(), lo: target.scalar.lo, hi: target.scalar.hi, hazards: target.hazards }
    }

    fn unary(&mut self, sign: &str, inner: &ast::Expr) -> Value {
        let value = self.value(inner);
        match sign {
            "!" => Value::boolean(value.truth().negate(), value.hazards),
            "-" => {
                let expr = match value.expr {
                    Expr::Const(number) => Expr::Const(-number),
                    other => Expr::Unary(UnaryOp::Neg, Box::new(other)),
                };
                Value { expr, lo: -value.hi, hi: -value.lo, hazards: value.hazards }.fitting()
            }
            _ => {
                let expr = Expr::binary(BinaryOp::Sub, Expr::Const(-1), value.expr);
                Value { expr, lo: -1 - value.hi, hi: -1 - value.lo, hazards: value.hazards }
            }
        }
    }

    fn binary(&mut self, sign: &str, left: &ast::Expr, right: &ast::Expr, span: Span) -> Value {
        let (a, b) = (self.value(left), self.value(right));
        let mut hazards = a.hazards.clone();
        if matches!(sign, "&&" | "||") {
            let truth = a.truth();
            let needed = if sign == "&&" { truth.clone() } else { truth.clone().negate() };
            hazards.extend(under(&needed, b.hazards.clone()));
            let expr = if sign == "&&" { truth.and(b.truth()) } else { truth.or(b.truth()) };
            return Value::boolean(expr, hazards);
        }
        hazards.extend(b.hazards.clone());
        let compare = |op| Expr::binary(op, a.expr.clone(), b.expr.clone());
        let comparison = match sign {
            "==" => Some(BinaryOp::Eq),
            "!=" => Some(BinaryOp::Ne),
            "<" => Some(BinaryOp::Lt),
            "<=" => Some(BinaryOp::Le),
            ">" => Some(BinaryOp::Gt),
            ">=" => Some(BinaryOp::Ge),
            _ => None,
        };
        if let Some(op) = comparison {
            return Value::boolean(compare(op), hazards);
        }
        let corners = |f: fn(i64, i64) -> i64| {
            let all = [f(a.lo, b.lo), f(a.lo, b.hi), f(a.hi, b.lo), f(a.hi, b.hi)];
            (all.into_iter().min().unwrap_or(0), all.into_iter().max().unwrap_or(0))
        };
        let (expr, (lo, hi)) = match sign {
            "+" => (compare(BinaryOp::Add), (a.lo + b.lo, a.hi + b.hi)),
            "-" => (compare(BinaryOp::Sub), (a.lo - b.hi, a.hi - b.lo)),
            "*" => (compare(BinaryOp::Mul), corners(i64::wrapping_mul)),
            "/" | "%" => {
                if b.lo <= 0 && b.hi >= 0 {
                    let fault = self.world.fault(FaultKind::DivisionByZero, span, "division by zero");
                    hazards.push(Hazard { when: b.expr.clone().equals(0), fault });
                }
                let most = a.lo.abs().max(a.hi.abs());
                let below = b.lo.abs().max(b.hi.abs()) - 1;
                let most = if sign == "%" { most.min(below.max(0)) } else { most };
                let range = if a.lo >= 0 && b.lo >= 0 { (0, most) } else { (-most, most) };
                (compare(if sign == "/" { BinaryOp::Div } else { BinaryOp::Rem }), range)
            }
            "&" => {
                let range = if a.lo >= 0 || b.lo >= 0 {
                    let bound = |v: &Value| if v.lo >= 0 { v.hi } else { i64::MAX };
                    (0, bound(&a).min(bound(&b)))
                } else {
                    (Scalar::INT.lo, Scalar::INT.hi)
                };
                (compare(BinaryOp::BitAnd), range)
            }
            "|" | "^" => {
                let range = if a.lo >= 0 && b.lo >= 0 {
                    (0, (1i64 << (64 - (a.hi | b.hi).leading_zeros())) - 1)
                } else {
                    (Scalar::INT.lo, Scalar::INT.hi)
                };
                let or = compare(BinaryOp::BitOr);
                let expr = if sign == "|" { or } else { Expr::binary(BinaryOp::Sub, or, compare(BinaryOp::BitAnd)) };
                (expr, range)
            }
            "<<" => {
                let by = Expr::binary(BinaryOp::BitAnd, b.expr.clone(), Expr::Const(31));
                (Expr::binary(BinaryOp::Shl, a.expr.clone(), by), (i64::MIN / 4, i64::MAX / 4))
            }
            _ => {
                let by = Expr::binary(BinaryOp::BitAnd, b.expr.clone(), Expr::Const(31));
                let up = Expr::binary(BinaryOp::Shr, a.expr.clone(), by.clone());
                let expr = if a.lo >= 0 {
                    up
                } else {
                    // The sign moves in from above.
                    let mirrored = Expr::binary(BinaryOp::Sub, Expr::Const(-1), a.expr.clone());
                    let down = Expr::binary(BinaryOp::Shr, mirrored, by);
                    let down = Expr::binary(BinaryOp::Sub, Expr::Const(-1), down);
                    Expr::choose(Expr::binary(BinaryOp::Lt, a.expr.clone(), Expr::Const(0)), down, up)
                };
                (expr, (a.lo.min(0), a.hi.max(0)))
            }
        };
        Value { expr, lo, hi, hazards }.fitting()
    }

    /// The instances that a remote reference may mean, each with the condition that it does.
    fn instances(&mut self, name: &ast::Name, index: Option<&ast::Expr>) -> (Vec<(Expr, usize)>, Vec<Hazard>) {
        let Some(proc) = self.world.procs.iter().position(|proc| proc.name.text == name.text) else {
            self.error("E2020", name.span, format!("there is no proctype `{}`", name.text), "not found");
            return (Vec::new(), Vec::new());
        };
        let mut all = self.world.procs[proc].instances.clone();
        all.sort_by_key(|instance| self.world.instances[*instance].pid);
        if let Some(index) = index {
            let value = self.value(index);
            let is = |instance: &usize| {
                let pid = self.world.instances[*instance].pid;
                (value.expr.clone().equals(pid), *instance)
            };
            return (all.iter().map(is).collect(), value.hazards);
        }
        // The one with the lowest number that runs.
        let mut found = Vec::new();
        let mut none_before = Expr::TRUE;
        for instance in all {
            let runs = self.world.runs(instance);
            found.push((none_before.clone().and(runs.clone()), instance));
            none_before = none_before.and(runs.negate());
        }
        (found, Vec::new())
    }

    fn at_label(&mut self, name: &ast::Name, index: Option<&ast::Expr>, label: &ast::Name) -> Value {
        let (all, hazards) = self.instances(name, index);
        let mut found = Vec::new();
        for (condition, instance) in all {
            let proc = &self.world.procs[self.world.instances[instance].proc];
            match proc.flow.labels.get(&label.text) {
                Some(element) => found.push(condition.and(self.world.is_at(instance, *element))),
                None => {
                    let message = format!("there is no label `{}` in `{}`", label.text, name.text);
                    self.error("E2007", label.span, message, "not found");
                    break;
                }
            }
        }
        Value::boolean(Expr::any(found), hazards)
    }

    fn remote(&mut self, name: &ast::Name, index: Option<&ast::Expr>, place: &Place) -> Value {
        let (all, mut hazards) = self.instances(name, index);
        let mut result = Value::constant(0);
        for (condition, instance) in all {
            let this = &self.world.instances[instance];
            let flow = &self.world.procs[this.proc].flow;
            let root = &place.parts[0].0;
            let Some(local) = flow.locals.iter().position(|local| local.decl.name.text == root.text) else {
                self.error("E2020", root.span, format!("`{}` is not a variable of `{}`", root.text, name.text), "here");
                return result;
            };
            let var = self.world.instances[instance].vars[local].clone();
            if var.fixed.is_some() {
                self.error("E2022", root.span, "a channel of another process cannot be read", "here");
                return result;
            }
            let Some((var, leaf, index, more)) = self.leaf_of(var, place) else { return result };
            hazards.extend(under(&condition, more));
            let target = place_of(&var, &leaf, index, Vec::new());
            let (lo, hi) = (result.lo.min(target.scalar.lo), result.hi.max(target.scalar.hi));
            result = Value { expr: Expr::choose(condition, target.read(), result.expr), lo, hi, hazards: Vec::new() };
        }
        result.hazards = hazards;
        result
    }
}

impl Target {
    pub(crate) fn read(&self) -> Expr {
        match &self.index {
            Some(index) => Expr::element(self.id, index.clone()),
            None => Expr::Var(self.id),
        }
    }

    pub(crate) fn place(&self) -> birk_ir::Place {
        birk_ir::Place { variable: self.id, index: self.index.clone() }
    }
}

fn place_of(var: &Var, leaf: &Leaf, index: Expr, hazards: Vec<Hazard>) -> Target {
    let is_array = var.is_local || leaf.lengths.iter().any(Option::is_some);
    Target { id: leaf.id, index: is_array.then_some(index), scalar: leaf.scalar, hazards }
}

/// What goes wrong only where something is true.
pub(crate) fn under(condition: &Expr, hazards: Vec<Hazard>) -> Vec<Hazard> {
    hazards.into_iter().map(|hazard| Hazard { when: condition.clone().and(hazard.when), ..hazard }).collect()
}

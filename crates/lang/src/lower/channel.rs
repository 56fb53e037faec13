//! Channels: first in, first out, of bounded capacity; at capacity 0 a rendezvous.
//!
//! The messages lie in an array with the oldest first, and places behind the last are kept at their defaults, so that
//! equal contents are equal states. Sending to a full channel and receiving from an empty one wait. At a rendezvous
//! the sender's step contains the receiver's.

use birk_ir::{
    BinaryOp, Expr, FaultKind, Location, LocationId, Op, Place, Span, Thread, ThreadId, ThreadKind, ThreadRole,
    Transition, ValueKind, VarId, VarRole, Variable,
};

use crate::diagnostic::{Diagnostic, list};
use crate::lower::{Handed, Step, Steps};
use crate::sema::context::{ChannelDecl, Context};
use crate::sema::declarations::{fields_of, leaves_of};
use crate::sema::expression::{Elaborator, count};
use crate::sema::place::{Indexed, Resolved};
use crate::sema::types::{Hazard, INT_MAX, INT_MIN, Scalar, Ty, Type, Value};
use crate::syntax::ast::{self, ExprKind, Pattern};

/// One channel, with its index where it is one of several.
pub(super) struct Channel {
    pub(super) decl: ChannelDecl,
    pub(super) indexed: Indexed,
}

impl Channel {
    /// Its last variable holds the number of messages.
    pub(super) fn length(&self) -> Indexed {
        let leaves = self.indexed.leaves.last().copied().into_iter().collect();
        let scalar = Scalar { ty: Ty::Int, lo: 0, hi: i64::from(self.decl.capacity), wrap: false };
        Indexed { leaves, scalar, ..self.indexed.clone() }
    }

    /// The message at a place.
    pub(super) fn slot(&self, place: Value, span: Span) -> Indexed {
        let contents = self.indexed.leaves.len() - 1;
        let element = &self.decl.element;
        let mut indices = self.indexed.indices.clone();
        indices.push((place, span));
        let own = self.indexed.shape.iter().copied();
        Indexed {
            leaves: self.indexed.leaves[..contents].to_vec(),
            scalar: element.scalar,
            shape: own.chain([self.decl.capacity]).chain(element.shape.iter().copied()).collect(),
            by: self.indexed.by.iter().chain([&None]).chain(&element.by).copied().collect(),
            indices,
            foreign: false,
            added: None,
        }
    }
}

pub(super) fn number(value: i64) -> Value {
    Value { fixed: false, ..Value::constant(value, Ty::Int) }
}

impl Elaborator<'_, '_> {
    fn channel(&mut self, expr: &ast::Expr) -> Option<Channel> {
        match self.path(expr) {
            Resolved::Variable(indexed) if indexed.indices.len() == indexed.shape.len() => {
                if let Ty::Channel(index) = indexed.scalar.ty {
                    let decl = self.cx.channels[index].clone();
                    return Some(Channel { decl, indexed });
                }
            }
            Resolved::Variable(indexed) if matches!(indexed.scalar.ty, Ty::Channel(_)) => {
                let message = format!("`{}` is an array of channels", self.cx.source(expr.span));
                self.cx.report(Diagnostic::new("E0033", expr.span, message, "an index is missing"));
                return None;
            }
            Resolved::Error => return None,
            _ => {}
        }
        let message = format!("`{}` is not a channel", self.cx.source(expr.span));
        let help = "declare one in the system: `channel of byte [2] c;`";
        self.cx.report(Diagnostic::new("E0051", expr.span, message, "expected a channel").help(help));
        None
    }

    /// `len(c)`, `full(c)`, `empty(c)`, `peek(c)`
    pub(crate) fn ask_channel(&mut self, what: &str, arg: &ast::Expr, span: Span) -> Value {
        if let ("len" | "full" | "empty", Some(Ty::Collection(_))) = (what, self.peek_type(arg)) {
            return self.ask_sequence(what, arg);
        }
        let Some(channel) = self.channel(arg) else { return Value::error() };
        if channel.decl.capacity == 0 {
            let message = "a rendezvous holds no messages";
            self.cx.report(Diagnostic::new("E0051", arg.span, message, "nothing to ask it"));
            return Value::error();
        }
        let length = self.element(channel.length(), arg.span);
        let compare = |op, with: u32| Value {
            hazards: length.hazards.clone(),
            ..Value::boolean(Expr::binary(op, length.expr.clone(), Expr::Const(i64::from(with))))
        };
        match what {
            "len" => length,
            "full" => compare(BinaryOp::Eq, channel.decl.capacity),
            "empty" => compare(BinaryOp::Eq, 0),
            _ => {
                let mut value = self.element(channel.slot(number(0), arg.span), span);
                let fault = self
                    .cx
                    .fault(FaultKind::Index, span, |cx| format!("`{}` has no message to look at", cx.source(arg.span)));
                value.hazards.push(Hazard { when: length.expr.equals(0), fault });
                value
            }
        }
    }

    /// The types of the values that make up a message, as they are sent: the fields of a record, or one value.
    fn message(&mut self, element: &Type, given: usize) -> Vec<Type> {
        match element.scalar.ty {
            Ty::Record(record) if element.shape.is_empty() => {
                let fields: Vec<Type> = fields_of(self.cx, record).into_iter().map(|(_, ty)| ty).collect();
                if given == 1 && fields.len() != 1 { vec![element.clone()] } else { fields }
            }
            _ => vec![element.clone()],
        }
    }

    /// Whether one value is sent where a message has several, and cannot be a whole message.
    fn is_single(&mut self, message: &Type, value: &ast::Expr) -> bool {
        let is_value = match &value.kind {
            ExprKind::Name(_) | ExprKind::Member(..) | ExprKind::Index(..) => {
                self.peek_type(value).is_some_and(|ty| !matches!(ty, Ty::Record(_) | Ty::Error))
            }
            ExprKind::Call(..) | ExprKind::Error => false,
            _ => true,
        };
        is_value && message.shape.is_empty() && matches!(message.scalar.ty, Ty::Record(_))
    }

    fn wrong_number(&mut self, element: &Type, given: usize, span: Span) {
        let fields = match element.scalar.ty {
            Ty::Record(record) if element.shape.is_empty() => fields_of(self.cx, record),
            _ => Vec::new(),
        };
        let wanted = fields.len().max(1);
        let message = format!("a message of this channel has {}, not {given}", count(wanted, "value"));
        let label = format!("{} expected, {given} given", count(wanted, "value"));
        let mut diagnostic = Diagnostic::new("E0027", span, message, label);
        if wanted > 1 {
            let names = list(fields.iter().map(|(name, _)| name.as_str()));
            diagnostic = diagnostic
                .help(format!("give the fields of {} in order: {names}", self.cx.type_name(element.scalar.ty)));
        } else {
            diagnostic = diagnostic.help("write one value: `send c (1);`, `receive c (?x);`");
        }
        self.cx.report(diagnostic);
    }
}

impl Step<'_, '_> {
    /// The channel, with an index that is computed once.
    fn steady(&mut self, expr: &ast::Expr) -> Option<Channel> {
        let mut channel = self.elaborator.channel(expr)?;
        for ((value, _), &length) in channel.indexed.indices.clone().iter().zip(&channel.indexed.shape) {
            if value.ty == Ty::Error {
                return None;
            }
            let is_known = value.expr.as_const().is_some() && value.hazards.is_empty();
            if !is_known || !value.is_within(0, i64::from(length) - 1) {
                let mut whole = channel.length();
                whole.indices.clone_from(&channel.indexed.indices);
                let (_, hazards) = self.elaborator.flatten(whole)?;
                self.check(hazards);
                break;
            }
        }
        for ((value, _), &length) in channel.indexed.indices.iter_mut().zip(&channel.indexed.shape) {
            value.hazards.clear();
            (value.lo, value.hi) = (value.lo.max(0), value.hi.min(i64::from(length) - 1));
            value.fixed = false;
        }
        Some(channel)
    }

    /// `send c (values)`
    pub(crate) fn send(&mut self, channel: &ast::Expr, values: &[ast::Expr], span: Span) {
        let Some(found) = self.steady(channel) else { return };
        let Some(types) = self.types_sent(&found.decl.element, values, span) else { return };
        let rendezvous = found.decl.capacity == 0;
        let length = self.elaborator.element(found.length(), channel.span);
        if !rendezvous {
            let room = Expr::binary(BinaryOp::Lt, length.expr.clone(), Expr::Const(i64::from(found.decl.capacity)));
            self.require(Value::boolean(room));
        }
        let Some(parts) = self.sent(values, &types) else { return };
        if rendezvous {
            let index = self.elaborator.flatten(found.length()).and_then(|(index, _)| index);
            self.handed = Some(Handed { channel: found.indexed.leaves[0], index, values: parts });
            return;
        }
        let last = Value { expr: length.expr.clone(), lo: 0, hi: i64::from(found.decl.capacity) - 1, ..number(0) };
        let slot = found.slot(last, channel.span);
        for (part, value) in self.elaborator.spread(&slot, channel.span).into_iter().zip(parts) {
            let target = self.elaborator.target_of(part);
            self.assign(target, value, [channel.span, span, span]);
        }
        self.set_length(&found, Expr::binary(BinaryOp::Add, length.expr, Expr::Const(1)), channel.span);
    }

    /// The types of the values that are sent, if these make up a message.
    pub(super) fn types_sent(&mut self, element: &Type, values: &[ast::Expr], span: Span) -> Option<Vec<Type>> {
        let types = self.elaborator.message(element, values.len());
        let is_single = values.len() == 1 && types.len() == 1 && self.elaborator.is_single(&types[0], &values[0]);
        if types.len() != values.len() || is_single {
            self.elaborator.wrong_number(element, values.len(), span);
            return None;
        }
        Some(types)
    }

    /// The single values of a message.
    pub(super) fn sent(&mut self, values: &[ast::Expr], types: &[Type]) -> Option<Vec<Value>> {
        let mut parts = Vec::new();
        for (value, ty) in values.iter().zip(types) {
            parts.extend(self.elaborator.parts(value, ty, "a value that is sent")?);
        }
        Some(self.hold(parts))
    }

    pub(super) fn set_length(&mut self, channel: &Channel, value: Expr, span: Span) {
        let hi = i64::from(channel.decl.capacity);
        let value = Value { expr: value, lo: 0, hi, ..number(0) };
        let target = self.elaborator.target_of(channel.length());
        self.assign(target, value, [span, span, span]);
    }

    /// `receive c (patterns) when condition`
    pub(crate) fn receive(
        &mut self,
        channel: &ast::Expr,
        patterns: &[Pattern],
        condition: Option<&ast::Expr>,
        span: Span,
    ) {
        let Some(mut found) = self.steady(channel) else { return };
        let is_held = found.decl.capacity > 0;
        let types = self.elaborator.message(&found.decl.element, patterns.len());
        if types.len() != patterns.len() {
            return self.elaborator.wrong_number(&found.decl.element, patterns.len(), span);
        }
        let head: Vec<Value> = if !is_held {
            let Some(handed) = self.handed.take() else { return };
            let index = self.elaborator.flatten(found.length()).and_then(|(index, _)| index);
            if let (Some(own), Some(theirs)) = (index, &handed.index) {
                self.require(Value::boolean(Expr::binary(BinaryOp::Eq, own, theirs.clone())));
            }
            if handed.channel != found.indexed.leaves[0] {
                // A second rendezvous in one step, which was reported.
                return;
            }
            // Whether a known value ever comes here, the search must tell.
            handed.values.into_iter().map(|value| Value { fixed: false, ..value }).collect()
        } else {
            let length = self.elaborator.element(found.length(), channel.span);
            self.require(Value::boolean(Expr::binary(BinaryOp::Gt, length.expr.clone(), Expr::Const(0))));
            let slot = found.slot(number(0), channel.span);
            let parts = self.elaborator.spread(&slot, channel.span);
            parts.into_iter().map(|part| self.elaborator.element(part, channel.span)).collect()
        };
        let sizes: Vec<usize> = types.iter().map(|ty| self.values_in(ty)).collect();
        self.compare(patterns, &types, &sizes, &head);
        self.condition_on(patterns, condition, &types, &head);
        let head = self.hold(head);
        // What is bound may be part of the index, which stays what it was.
        let indices = found.indexed.indices.iter().map(|(value, _)| value.clone()).collect();
        for ((index, _), held) in found.indexed.indices.iter_mut().zip(self.hold(indices)) {
            *index = held;
        }
        let mut at = 0;
        for ((pattern, ty), size) in patterns.iter().zip(&types).zip(&sizes) {
            if let Pattern::Bind(place) = pattern {
                self.bind(place, ty, &head[at..at + size], span);
            }
            at += size;
        }
        if is_held {
            let length = self.elaborator.element(found.length(), channel.span);
            self.shift(&found, channel.span);
            self.set_length(&found, Expr::binary(BinaryOp::Sub, length.expr, Expr::Const(1)), channel.span);
        }
    }

    /// How many single values a type has.
    fn values_in(&mut self, ty: &Type) -> usize {
        leaves_of(self.elaborator.cx, ty).iter().map(|leaf| leaf.shape.iter().product::<u32>() as usize).sum()
    }

    /// What must be equal is required to be.
    fn compare(&mut self, patterns: &[Pattern], types: &[Type], sizes: &[usize], head: &[Value]) {
        let mut at = 0;
        for ((pattern, ty), size) in patterns.iter().zip(types).zip(sizes) {
            if let Pattern::Equal(expr) = pattern {
                let mut wanted = self.wanted(expr, ty).unwrap_or_default();
                // A record is made before it is compared.
                if wanted.len() > 1 {
                    wanted.iter_mut().for_each(|part| self.check(std::mem::take(&mut part.hazards)));
                }
                for (wanted, found) in wanted.into_iter().zip(&head[at..at + size]) {
                    let equal = self.elaborator.comparison(BinaryOp::Eq, found.clone(), wanted);
                    self.require(equal);
                }
            }
            at += size;
        }
    }

    /// The single values that a pattern stands for. A value that no message can have is not equal to any: that is no
    /// fault, unless it is known before the search, and then it is an error.
    fn wanted(&mut self, expr: &ast::Expr, ty: &Type) -> Option<Vec<Value>> {
        const WHAT: &str = "a value to receive";
        let scalar = ty.scalar;
        if !matches!(scalar.ty, Ty::Int | Ty::Symmetric(_)) || matches!(expr.kind, ExprKind::Set(_)) {
            return self.elaborator.parts(expr, ty, WHAT);
        }
        if !ty.shape.is_empty() {
            let any = Scalar { lo: INT_MIN, hi: INT_MAX, wrap: false, ..scalar };
            return self.elaborator.parts(expr, &Type { scalar: any, ..ty.clone() }, WHAT);
        }
        let value = self.elaborator.value(expr);
        let value = self.elaborator.expect(value, scalar.ty, expr.span, WHAT);
        if !value.fixed || scalar.wrap || value.is_within(scalar.lo, scalar.hi) {
            return (value.ty != Ty::Error).then(|| vec![value]);
        }
        self.elaborator.parts(expr, ty, WHAT)
    }

    /// The condition is asked of the message: a name that will be bound stands for what it will be bound to. A record or
    /// an array that will be bound has no value yet.
    fn condition_on(&mut self, patterns: &[Pattern], condition: Option<&ast::Expr>, types: &[Type], head: &[Value]) {
        let Some(condition) = condition else { return };
        let before = self.elaborator.bindings.len();
        let mut at = 0;
        for (pattern, ty) in patterns.iter().zip(types) {
            let is_single = ty.shape.is_empty() && !matches!(ty.scalar.ty, Ty::Record(_) | Ty::Collection(_));
            if let Pattern::Bind(ast::Expr { kind: ExprKind::Name(name), span }) = pattern {
                if is_single {
                    self.elaborator.bindings.push((name.clone(), head[at].clone()));
                } else if condition.names().contains(&name.as_str()) {
                    let message = format!("the condition asks about `{name}`, which is received as a whole");
                    let help = "receive its parts one by one, and ask about those";
                    let diagnostic = Diagnostic::new("E0052", condition.span, message, "not there yet").help(help);
                    let diagnostic = diagnostic.related(*span, "received here");
                    let diagnostic = self.elaborator.cx.in_parts(diagnostic, name, ty, *span);
                    self.elaborator.cx.report(diagnostic);
                }
            }
            at += self.values_in(ty);
        }
        let value = self.elaborator.condition(condition, "the condition of `receive`");
        self.elaborator.bindings.truncate(before);
        // The condition asks for what the variable will be: whoever does that reads it.
        let names = condition.names();
        for pattern in patterns {
            if let Pattern::Bind(place @ ast::Expr { kind: ExprKind::Name(name), .. }) = pattern
                && names.contains(&name.as_str())
                && let Resolved::Variable(bound) = self.elaborator.path(place)
            {
                self.elaborator.cx.read.extend(bound.leaves);
            }
        }
        self.require(value);
    }

    fn bind(&mut self, place: &ast::Expr, ty: &Type, values: &[Value], span: Span) {
        let Some(target) = self.elaborator.target(place) else { return };
        let own = target.ty();
        if own.shape != ty.shape || own.scalar.ty != ty.scalar.ty {
            let (wanted, found) =
                (self.elaborator.cx.type_name(ty.scalar.ty), self.elaborator.cx.type_name(own.scalar.ty));
            let message =
                format!("the message has {wanted} here, and `{}` is {found}", self.elaborator.cx.source(place.span));
            return self.elaborator.cx.report(Diagnostic::new("E0022", place.span, message, "another type"));
        }
        if target.is_whole() {
            return self.assign_whole(target, values.to_vec(), [place.span, place.span, span]);
        }
        let target = self.elaborator.target_of(target);
        self.assign(target, values[0].clone(), [place.span, place.span, span]);
    }

    /// Moves every message one place forward.
    fn shift(&mut self, channel: &Channel, span: Span) {
        let last = i64::from(channel.decl.capacity) - 1;
        for place in 0..=last {
            let to = self.elaborator.spread(&channel.slot(number(place), span), span);
            let values: Vec<Value> = if place == last {
                to.iter()
                    .map(|part| Value { ty: part.scalar.ty, ..number(self.elaborator.cx.default_of(&part.scalar)) })
                    .collect()
            } else {
                let from = self.elaborator.spread(&channel.slot(number(place + 1), span), span);
                from.into_iter().map(|part| self.elaborator.element(part, span)).collect()
            };
            for (part, mut value) in to.into_iter().zip(values) {
                (value.lo, value.hi) = (part.scalar.lo, part.scalar.hi);
                let target = self.elaborator.target_of(part);
                self.assign(target, value, [span, span, span]);
            }
        }
    }
}

/// What the environment does to messages on the way: one thread for each marked channel.
pub(crate) fn environment(cx: &mut Context<'_>, steps: &mut Steps) {
    for global in 0..cx.globals.len() {
        let declared = cx.globals[global].clone();
        let Ty::Channel(index) = declared.ty.scalar.ty else { continue };
        let decl = cx.channels[index].clone();
        if decl.marks == ast::ChannelMarks::default() || declared.leaves.is_empty() {
            continue;
        }
        let kind = steps.kinds.len();
        let name = format!("({})", declared.name);
        // What it does there has the names that the declaration gives it.
        let marks = &decl.marks;
        let given = [(marks.lossy, "lossy"), (marks.duplicating, "duplicating"), (marks.reordering, "reordering")];
        let given: Vec<&str> = given.iter().filter(|(is_given, _)| *is_given).map(|(_, mark)| *mark).collect();
        let place = given.join(" ");
        cx.variables.push(Variable {
            name: format!("{name}@"),
            role: VarRole::Counter(kind),
            lo: 0,
            hi: 0,
            shape: vec![1],
            values: ValueKind::Names(vec![place.clone(), birk_ir::text::TERMINATED.into()]),
            initial: vec![0],
            span: declared.span,
        });
        let counter = VarId::new(cx.variables.len() - 1);
        let waiting = Location { name: place, span: declared.span, end: true, accept: false, progress: false };
        steps.kinds.push(ThreadKind {
            name: name.clone(),
            role: ThreadRole::Channel,
            span: declared.span,
            locations: vec![waiting],
            counter,
            copies: 1,
            indexed: false,
            fair: false,
            crashed: None,
        });
        let start = steps.transitions.len() as u32;
        let channels: u32 = declared.ty.shape.iter().product();
        let thread = ThreadId::new(steps.threads.len());
        for channel in 0..channels {
            let traffic = Traffic { cx, leaves: &declared.leaves, channel, capacity: decl.capacity };
            for (guard, ops) in traffic.steps(decl.marks) {
                steps.transitions.push(Transition {
                    thread,
                    location: LocationId(0),
                    ordinal: steps.transitions.len() as u32 - start,
                    target: Some(LocationId(0)),
                    span: declared.span,
                    guard_span: None,
                    parts: Vec::new(),
                    guard,
                    ops,
                    locals: MOST_LOCALS,
                    fair: None,
                    receiver: None,
                    then: None,
                });
            }
        }
        steps.threads.push(Thread { name, kind, copy: 0, at: vec![(start, steps.transitions.len() as u32)] });
    }
}

/// A step of the environment holds at most one message aside.
const MOST_LOCALS: u32 = 256;

/// The messages of one channel.
struct Traffic<'c, 'a> {
    cx: &'c Context<'a>,
    leaves: &'c [VarId],
    channel: u32,
    capacity: u32,
}

impl Traffic<'_, '_> {
    fn steps(&self, marks: ast::ChannelMarks) -> Vec<(Expr, Vec<Op>)> {
        let mut steps = Vec::new();
        for place in 0..self.capacity {
            if marks.lossy {
                steps.push((self.longer_than(place), self.lose(place)));
            }
            if marks.duplicating {
                let room = Expr::binary(BinaryOp::Lt, self.length(), Expr::Const(i64::from(self.capacity)));
                steps.push((self.longer_than(place).and(room), self.double(place)));
            }
            if marks.reordering && place + 1 < self.capacity {
                steps.push((self.longer_than(place + 1), self.swap(place)));
            }
        }
        steps
    }

    fn length_place(&self) -> Place {
        let variable = self.leaves[self.leaves.len() - 1];
        let single = self.cx.variables[variable.index()].shape.is_empty();
        Place { variable, index: (!single).then(|| Expr::Const(i64::from(self.channel))) }
    }

    fn length(&self) -> Expr {
        read(&self.length_place())
    }

    fn longer_than(&self, place: u32) -> Expr {
        Expr::binary(BinaryOp::Gt, self.length(), Expr::Const(i64::from(place)))
    }

    /// All single values of the message at a place.
    fn message(&self, place: u32) -> Vec<Place> {
        let mut places = Vec::new();
        for &variable in &self.leaves[..self.leaves.len() - 1] {
            let elements = self.cx.variables[variable.index()].len();
            let channels: u32 = elements / self.capacity.max(1);
            let dimensions = self
                .length_place()
                .index
                .map_or(1, |_| self.cx.variables[self.leaves[self.leaves.len() - 1].index()].len());
            let own = channels / dimensions.max(1);
            let first = (self.channel * self.capacity + place) * own;
            places.extend((first..first + own).map(|e| Place { variable, index: Some(Expr::Const(i64::from(e))) }));
        }
        places
    }

    fn copy(&self, from: u32, to: u32) -> Vec<Op> {
        self.message(to).into_iter().zip(self.message(from)).map(|(to, from)| Op::Assign(to, read(&from))).collect()
    }

    fn add(&self, change: i64) -> Op {
        Op::Assign(self.length_place(), Expr::binary(BinaryOp::Add, self.length(), Expr::Const(change)))
    }

    fn lose(&self, place: u32) -> Vec<Op> {
        let mut ops: Vec<Op> = (place..self.capacity - 1).flat_map(|k| self.copy(k + 1, k)).collect();
        for last in self.message(self.capacity - 1) {
            let initial = self.cx.variables[last.variable.index()].initial.first().copied().unwrap_or(0);
            ops.push(Op::Assign(last, Expr::Const(initial)));
        }
        ops.push(self.add(-1));
        ops
    }

    fn double(&self, place: u32) -> Vec<Op> {
        let mut ops: Vec<Op> = (place + 1..self.capacity).rev().flat_map(|k| self.copy(k - 1, k)).collect();
        ops.push(self.add(1));
        ops
    }

    fn swap(&self, place: u32) -> Vec<Op> {
        let (a, b) = (self.message(place), self.message(place + 1));
        let mut ops = Vec::new();
        for (local, (a, b)) in a.into_iter().zip(b).enumerate() {
            let local = birk_ir::LocalId::new(local % MOST_LOCALS as usize);
            ops.push(Op::Let(local, read(&a)));
            ops.push(Op::Assign(a, read(&b)));
            ops.push(Op::Assign(b, Expr::Local(local)));
        }
        ops
    }
}

fn read(place: &Place) -> Expr {
    match &place.index {
        None => Expr::Var(place.variable),
        Some(index) => Expr::element(place.variable, index.clone()),
    }
}

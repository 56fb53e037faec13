//! Sequences and maps: what they hold, and the values that are made of them.
//!
//! A sequence is an array, and how many of its places count; a map is an array, and the set of the places that count. What
//! does not count is kept at the default of its type, so that equal contents are equal states.

use birk_ir::{BinaryOp, Expr, FaultKind, FoldOp, Place, Span};

use crate::diagnostic::Diagnostic;
use crate::sema::aggregate::has;
use crate::sema::context::{Context, Symbol};
use crate::sema::declarations::leaves_of;
use crate::sema::expression::{Elaborator, count};
use crate::sema::place::{Added, Indexed, Resolved};
use crate::sema::types::{Collection, Hazard, Scalar, Ty, Type, Value, decided, full, outside};
use crate::syntax::ast::{self, ExprKind};

/// The built-in functions that give a sequence or a map.
const MADE: [&str; 3] = ["append", "tail", "remove"];

impl Context<'_> {
    /// The type of a collection; the same for those that hold the same.
    pub(crate) fn collection(&mut self, collection: Collection) -> Ty {
        let known = self.collections.iter().position(|known| *known == collection);
        Ty::Collection(known.unwrap_or_else(|| {
            self.collections.push(collection);
            self.collections.len() - 1
        }))
    }
}

fn number(value: i64) -> Value {
    Value { fixed: false, ..Value::constant(value, Ty::Int) }
}

/// Takes all hazards of values, each once.
fn gather(values: &mut [Value]) -> Vec<Hazard> {
    let mut all: Vec<Hazard> = Vec::new();
    for hazard in values.iter_mut().flat_map(|value| std::mem::take(&mut value.hazards)) {
        if !all.iter().any(|known| known.fault == hazard.fault && known.when == hazard.when) {
            all.push(hazard);
        }
    }
    all
}

/// One value where a condition is true, and another where it is false.
pub(crate) fn either(condition: &Value, yes: Value, no: Value) -> Value {
    match condition.expr.as_const() {
        Some(0) => no,
        Some(_) => yes,
        None => {
            let (lo, hi) = (yes.lo.min(no.lo), yes.hi.max(no.hi));
            Value { expr: Expr::choose(condition.expr.clone(), yes.expr, no.expr), lo, hi, fixed: false, ..no }
        }
    }
}

/// Whether a number is this one.
pub(crate) fn is(value: &Value, constant: i64) -> Value {
    let known = decided(BinaryOp::Eq, value, &number(constant));
    Value::boolean(known.map_or_else(|| value.expr.clone().equals(constant), |is| Expr::Const(i64::from(is))))
}

impl Elaborator<'_, '_> {
    /// The collection that a path stands for, if it is one and not an array of them.
    fn as_collection(&self, indexed: &Indexed) -> Option<Collection> {
        match indexed.scalar.ty {
            Ty::Collection(index) if indexed.indices.len() == indexed.shape.len() => {
                Some(self.cx.collections[index].clone())
            }
            _ => None,
        }
    }

    /// The variable that says which places of a collection count.
    fn counted(&self, indexed: &Indexed, collection: &Collection) -> Indexed {
        let leaves = indexed.leaves.last().copied().into_iter().collect();
        Indexed { leaves, scalar: collection.counted(), added: None, ..indexed.clone() }
    }

    /// What is at a place of a collection.
    fn at_place(&self, indexed: &Indexed, collection: &Collection, place: Value, at: Span) -> Indexed {
        let array = collection.array();
        let held = indexed.leaves.len() - 1;
        Indexed {
            leaves: indexed.leaves[..held].to_vec(),
            scalar: array.scalar,
            shape: indexed.shape.iter().chain(&array.shape).copied().collect(),
            by: indexed.by.iter().chain(&array.by).copied().collect(),
            indices: indexed.indices.iter().cloned().chain([(place, at)]).collect(),
            foreign: indexed.foreign,
            added: None,
        }
    }

    /// `s[i]`, `m[k]`: what is wrong with the index is a hazard of it. A key of a place that is written is added.
    pub(crate) fn indexed_by(&mut self, base: &Indexed, value: Value, [at, of]: [Span; 2], writes: bool) -> Resolved {
        let Some(collection) = self.as_collection(base) else { return Resolved::Error };
        if value.ty == Ty::Error {
            return Resolved::Error;
        }
        let counted = self.element(self.counted(base, &collection), of);
        match collection {
            Collection::Sequence { capacity, .. } => {
                let place = self.in_sequence(value, &counted, i64::from(capacity) - 1, [at, of]);
                Resolved::Variable(self.at_place(base, &collection, place, at))
            }
            Collection::Map { lo, hi, .. } => {
                if value.fixed && !self.unreached && (value.hi < lo || value.lo > hi) {
                    let message = format!("{} cannot be a key of `{}`", value.lo, self.cx.source(of));
                    let label = format!("must be in {lo}..{hi}");
                    self.cx.report(Diagnostic::new("E0031", at, message, label));
                    return Resolved::Error;
                }
                let mut key = value;
                let when = match writes {
                    true => outside(&key, lo, hi),
                    false => has(&key, counted.expr, lo, hi).negate(),
                };
                let fault = self.cx.fault(FaultKind::Index, at, |cx| match writes {
                    true => format!("the key `{}` must stay in {lo}..{hi}", cx.source(at)),
                    false => format!("`{}` has no key `{}`", cx.source(of), cx.source(at)),
                });
                if when != Expr::FALSE {
                    key.hazards.push(Hazard { when, fault });
                }
                (key.lo, key.hi, key.fixed) = (key.lo.clamp(lo, hi), key.hi.clamp(lo, hi), false);
                let expr = Expr::binary(BinaryOp::Sub, key.expr.clone(), Expr::Const(lo));
                let place = Value { expr, ty: Ty::Int, lo: key.lo - lo, hi: key.hi - lo, ..key.clone() };
                let mut found = self.at_place(base, &collection, place, at);
                found.added = writes.then(|| Box::new(Added { keys: self.counted(base, &collection), key }));
                Resolved::Variable(found)
            }
        }
    }

    /// An index of a sequence, with the hazard that there is no such element.
    fn in_sequence(&mut self, mut value: Value, length: &Value, last: i64, [at, of]: [Span; 2]) -> Value {
        // What no length allows, the array reports.
        if value.fixed && (value.hi < 0 || value.lo > last) {
            return value;
        }
        let below = if value.lo < 0 { outside(&value, 0, i64::MAX) } else { Expr::FALSE };
        let behind = match value.hi < length.lo {
            true => Expr::FALSE,
            false => Expr::binary(BinaryOp::Le, length.expr.clone(), value.expr.clone()),
        };
        let when = below.or(behind);
        if when != Expr::FALSE {
            let fault = self
                .cx
                .fault(FaultKind::Index, at, |cx| format!("`{}` has no element `{}`", cx.source(of), cx.source(at)));
            value.hazards.push(Hazard { when, fault });
        }
        (value.lo, value.hi) = (value.lo.clamp(0, last), value.hi.clamp(0, last));
        value
    }

    /// Whether a call is one of these built-in functions, and not a function of the model.
    pub(crate) fn is_built_in(&self, name: &ast::Name, words: &[&str]) -> bool {
        let hidden = self.cx.symbols.get(name.text.as_str()).map(|(symbol, _)| *symbol);
        let is_hidden = matches!(hidden, Some(Symbol::Function(_) | Symbol::Record(_) | Symbol::Ambiguous));
        words.contains(&name.text.as_str()) && !is_hidden
    }

    /// `head(s)`, `last(s)`: an element, which may have parts.
    pub(crate) fn end_of(&mut self, name: &ast::Name, args: &[ast::Expr], span: Span) -> Resolved {
        let [arg] = args else {
            let message = format!("`{}` takes 1 argument, not {}", name.text, args.len());
            self.cx.report(Diagnostic::new("E0027", span, message, "wrong number of arguments"));
            return Resolved::Error;
        };
        let Some((base, collection)) = self.collection_at(arg, "a sequence") else { return Resolved::Error };
        let Collection::Sequence { capacity, .. } = collection else {
            self.not_a(arg, "a sequence");
            return Resolved::Error;
        };
        let length = self.element(self.counted(&base, &collection), arg.span);
        let mut place = match name.text.as_str() {
            "head" => number(0),
            _ => Value {
                expr: Expr::binary(BinaryOp::Sub, length.expr.clone(), Expr::Const(1)),
                lo: (length.lo - 1).max(0),
                hi: (length.hi - 1).clamp(0, i64::from(capacity) - 1),
                ..number(0)
            },
        };
        if length.lo <= 0 {
            let fault =
                self.cx.fault(FaultKind::Index, span, |cx| format!("`{}` has no elements", cx.source(arg.span)));
            place.hazards.push(Hazard { when: length.expr.equals(0), fault });
        }
        Resolved::Variable(self.at_place(&base, &collection, place, span))
    }

    /// The sequence or map that an expression names; anything else is reported.
    fn collection_at(&mut self, expr: &ast::Expr, what: &str) -> Option<(Indexed, Collection)> {
        match self.path(expr) {
            Resolved::Variable(indexed) => match self.as_collection(&indexed) {
                Some(collection) => return Some((indexed, collection)),
                None => self.not_a(expr, what),
            },
            Resolved::Error => {}
            _ => self.not_a(expr, what),
        }
        None
    }

    fn not_a(&mut self, expr: &ast::Expr, what: &str) {
        let message = format!("`{}` is not {what}", self.cx.source(expr.span));
        self.cx.report(Diagnostic::new("E0022", expr.span, message, format!("expected {what}")));
    }

    /// Of a sequence how many elements it has, of a map its keys.
    pub(crate) fn count_of(&mut self, indexed: &Indexed, span: Span) -> Option<Value> {
        let collection = self.as_collection(indexed)?;
        Some(self.element(self.counted(indexed, &collection), span))
    }

    /// The variable of a map's keys, and what it becomes with one more.
    pub(crate) fn with_key(&mut self, added: &Added) -> Option<(Place, Expr)> {
        let Ty::Set(lo, hi, _) = added.keys.scalar.ty else { return None };
        let variable = added.keys.leaves[0];
        let (index, _) = self.flatten(added.keys.clone())?;
        let known = match &index {
            None => Expr::Var(variable),
            Some(index) => Expr::element(variable, index.clone()),
        };
        let place = Expr::binary(BinaryOp::Sub, added.key.expr.clone(), Expr::Const(lo));
        let bit = Expr::binary(BinaryOp::Shl, Expr::Const(1), place);
        let bit = Expr::binary(BinaryOp::BitAnd, bit, Expr::Const(full(lo, hi)));
        Some((Place { variable, index }, Expr::binary(BinaryOp::BitOr, known, bit)))
    }

    /// `len(s)`, `full(s)`, `empty(s)` of a sequence.
    pub(crate) fn ask_sequence(&mut self, what: &str, arg: &ast::Expr) -> Value {
        let Some((indexed, collection)) = self.collection_at(arg, "a sequence") else { return Value::error() };
        let Collection::Sequence { capacity, .. } = collection else {
            let message = format!("`{what}` asks a sequence or a channel, and `{}` is a map", self.cx.source(arg.span));
            let diagnostic = Diagnostic::new("E0022", arg.span, message, "a map");
            self.cx.report(diagnostic.help("`size(m)` is how many keys it has"));
            return Value::error();
        };
        let length = self.element(self.counted(&indexed, &collection), arg.span);
        let compare =
            |with: i64| Value { hazards: length.hazards.clone(), ..Value::boolean(length.expr.clone().equals(with)) };
        match what {
            "full" => compare(i64::from(capacity)),
            "empty" => compare(0),
            _ => length,
        }
    }

    /// `keys(m)`
    pub(crate) fn keys_of(&mut self, arg: &ast::Expr) -> Value {
        match self.collection_at(arg, "a map") {
            Some((indexed, collection @ Collection::Map { .. })) => {
                self.element(self.counted(&indexed, &collection), arg.span)
            }
            Some(_) => {
                self.not_a(arg, "a map");
                Value::error()
            }
            None => Value::error(),
        }
    }

    /// `x in s` of a sequence with single elements.
    pub(crate) fn is_element(&mut self, x: Value, indexed: &Indexed, [left, right]: [Span; 2]) -> Option<Value> {
        let collection = self.as_collection(indexed)?;
        let Collection::Sequence { capacity, .. } = collection else { return None };
        let local = self.fresh();
        let last = i64::from(capacity) - 1;
        let place = Value { expr: Expr::Local(local), lo: 0, hi: last, ..number(0) };
        let length = self.element(self.counted(indexed, &collection), right);
        let element = self.element(self.at_place(indexed, &collection, place, right), right);
        let x = self.expect(x, element.ty, left, "what is looked for");
        let hazards = [x.hazards.clone(), length.hazards].concat();
        let equal =
            self.comparison(BinaryOp::Eq, Value { hazards: Vec::new(), ..element }, Value { hazards: Vec::new(), ..x });
        if equal.ty == Ty::Error {
            return Some(equal);
        }
        let counts = Expr::binary(BinaryOp::Lt, Expr::Local(local), length.expr);
        let parts = Box::new((Expr::Const(0), Expr::Const(last), counts.and(equal.expr)));
        Some(Value { hazards, ..Value::boolean(Expr::Fold { op: FoldOp::Any, local, parts }) })
    }

    /// The element of a sequence at a bound place, and whether that place counts.
    pub(crate) fn ranged(&mut self, indexed: &Indexed, at: Value, span: Span) -> Option<(Value, Expr, i64)> {
        let collection = self.as_collection(indexed)?;
        let Collection::Sequence { capacity, .. } = collection else { return None };
        let last = i64::from(capacity) - 1;
        let length = self.element(self.counted(indexed, &collection), span);
        let counts = Expr::binary(BinaryOp::Lt, at.expr.clone(), length.expr);
        let place = Value { lo: 0, hi: last, ..at };
        Some((self.element(self.at_place(indexed, &collection, place, span), span), counts, last))
    }

    /// The single values of a sequence or map that an expression makes; `None` where it is a variable.
    pub(crate) fn made(&mut self, expr: &ast::Expr, ty: &Type, what: &str) -> Option<Option<Vec<Value>>> {
        let Ty::Collection(index) = ty.scalar.ty else { return None };
        let collection = self.cx.collections[index].clone();
        match &expr.kind {
            ExprKind::Set(members) => Some(self.listed(&collection, members, expr.span)),
            ExprKind::Call(name, args) if self.is_built_in(name, &MADE) => {
                let wanted = if name.text == "tail" { 1 } else { 2 };
                if args.len() != wanted {
                    let message = format!("`{}` takes {}, not {}", name.text, count(wanted, "argument"), args.len());
                    self.cx.report(Diagnostic::new("E0027", expr.span, message, "wrong number of arguments"));
                    return Some(None);
                }
                let is_map = matches!(collection, Collection::Map { .. });
                if is_map != (name.text == "remove") {
                    let kind = if is_map { "a map" } else { "a sequence" };
                    let message = format!("`{}` gives no {}", name.text, &kind[2..]);
                    let label = format!("{what} is {kind}");
                    self.cx.report(Diagnostic::new("E0022", expr.span, message, label));
                    return Some(None);
                }
                let made = self.parts(&args[0], ty, &format!("what `{}` is applied to", name.text));
                let made = made.and_then(|parts| match name.text.as_str() {
                    "append" => self.append(&collection, parts, &args[1], expr.span),
                    "tail" => Some(self.tail(&collection, parts, expr.span)),
                    _ => self.remove(&collection, parts, &args[1]),
                });
                Some(made)
            }
            _ => None,
        }
    }

    /// How many single values each part of what a collection holds has, in order, and what they are.
    fn held_leaves(&mut self, collection: &Collection) -> Vec<(usize, Scalar)> {
        let leaves = leaves_of(self.cx, collection.held());
        leaves.iter().map(|leaf| (leaf.shape.iter().product::<u32>() as usize, leaf.scalar)).collect()
    }

    /// Gives each place of a collection a value made of what it was: `new` is asked for the single value `at` of all that
    /// are at `place`, with the old values of all places.
    fn replaced(
        &mut self,
        collection: &Collection,
        parts: &[Value],
        mut new: impl FnMut(&mut Self, &Scalar, usize, usize, &dyn Fn(usize) -> Value) -> Value,
    ) -> Vec<Value> {
        let places = collection.places().0 as usize;
        let (mut begin, mut at) = (0, 0);
        let mut values = Vec::new();
        for (size, scalar) in self.held_leaves(collection) {
            for place in 0..places {
                for own in 0..size {
                    let old = |place: usize| parts[begin + place * size + own].clone();
                    values.push(new(self, &scalar, place, at + own, &old));
                }
            }
            begin += places * size;
            at += size;
        }
        values
    }

    fn default_value(&self, scalar: &Scalar) -> Value {
        Value { ty: scalar.ty, ..number(self.cx.default_of(scalar)) }
    }

    fn append(
        &mut self,
        collection: &Collection,
        mut parts: Vec<Value>,
        item: &ast::Expr,
        span: Span,
    ) -> Option<Vec<Value>> {
        let mut hazards = gather(&mut parts);
        let mut items = self.parts(item, collection.held(), "an element")?;
        hazards.extend(gather(&mut items));
        let length = parts.pop()?;
        let most = i64::from(collection.places().0);
        if length.hi >= most {
            let fault = self.cx.fault(FaultKind::Range, span, |cx| {
                format!("`{}`: no more than {}", cx.source(span), count(most as usize, "element"))
            });
            hazards.push(Hazard { when: length.expr.clone().equals(most), fault });
        }
        let mut values = self.replaced(collection, &parts, |_, _, place, at, old| {
            either(&is(&length, place as i64), items[at].clone(), old(place))
        });
        let expr = Expr::binary(BinaryOp::Add, length.expr, Expr::Const(1));
        values.push(Value { expr, lo: (length.lo + 1).min(most), hi: (length.hi + 1).min(most), ..number(0) });
        values[0].hazards = hazards;
        Some(values)
    }

    fn tail(&mut self, collection: &Collection, mut parts: Vec<Value>, span: Span) -> Vec<Value> {
        let mut hazards = gather(&mut parts);
        let last = collection.places().0 as usize - 1;
        let length = parts.pop().unwrap_or_else(|| number(0));
        if length.lo <= 0 {
            let fault = self.cx.fault(FaultKind::Index, span, |cx| {
                format!("`{}` of a sequence that has no elements", cx.source(span))
            });
            hazards.push(Hazard { when: length.expr.clone().equals(0), fault });
        }
        let mut values = self.replaced(collection, &parts, |own, scalar, place, _, old| match place == last {
            true => own.default_value(scalar),
            false => old(place + 1),
        });
        let expr = Expr::binary(BinaryOp::Sub, length.expr, Expr::Const(1));
        values.push(Value { expr, lo: (length.lo - 1).max(0), hi: (length.hi - 1).max(0), ..number(0) });
        values[0].hazards = hazards;
        values
    }

    fn remove(&mut self, collection: &Collection, mut parts: Vec<Value>, key: &ast::Expr) -> Option<Vec<Value>> {
        let &Collection::Map { lo, hi, of, .. } = collection else { return None };
        let mut hazards = gather(&mut parts);
        let set = self.set(std::slice::from_ref(key), (lo, hi), of);
        if set.ty == Ty::Error {
            return None;
        }
        let mut value = self.value(key);
        hazards.extend(set.hazards);
        value.hazards.clear();
        let keys = parts.pop()?;
        let mut values = self.replaced(collection, &parts, |own, scalar, place, _, old| {
            either(&is(&value, lo + place as i64), own.default_value(scalar), old(place))
        });
        let others = Expr::binary(BinaryOp::Sub, Expr::Const(full(lo, hi)), set.expr);
        let expr = Expr::binary(BinaryOp::BitAnd, keys.expr, others);
        values.push(Value { expr, lo: 0, hi: full(lo, hi), fixed: false, ..Value::constant(0, keys.ty) });
        values[0].hazards = hazards;
        Some(values)
    }

    /// `{a, b}` as a sequence, or `{}` as a map without keys.
    fn listed(&mut self, collection: &Collection, members: &[ast::Expr], span: Span) -> Option<Vec<Value>> {
        let most = collection.places().0 as usize;
        let is_map = matches!(collection, Collection::Map { .. });
        if members.len() > most || is_map && !members.is_empty() {
            let (message, label) = match is_map {
                true => ("a map has no literal but `{}`".to_owned(), "write `m[k] := v;` for each key".to_owned()),
                false => {
                    let message = format!("{} for a sequence of at most {most}", count(members.len(), "element"));
                    (message, "too many".to_owned())
                }
            };
            self.cx.report(Diagnostic::new("E0022", span, message, label));
            return None;
        }
        let mut items = Vec::new();
        for member in members {
            items.push(self.parts(member, collection.held(), "an element")?);
        }
        let hazards: Vec<Hazard> = items.iter_mut().flat_map(|item| gather(item)).collect();
        let places = most * self.held_leaves(collection).iter().map(|(size, _)| size).sum::<usize>();
        let nothing = vec![number(0); places];
        let mut values = self.replaced(collection, &nothing, |own, scalar, place, at, _| match items.get(place) {
            Some(item) => item[at].clone(),
            None => own.default_value(scalar),
        });
        values.push(Value { ty: collection.counted().ty, ..number(members.len() as i64) });
        values[0].hazards = hazards;
        Some(values)
    }
}

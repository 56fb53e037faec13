//! Sets, quantifiers, local names: what ranges over several values.
//!
//! A set over a small range of numbers is one number with a bit for each; its operations are those of bits.

use birk_ir::{BinaryOp, Expr, FaultKind, FoldOp, Span, UnaryOp};

use crate::diagnostic::Diagnostic;
use crate::lower::control::{FrameKind, Scope};
use crate::sema::context::Symbol;
use crate::sema::expression::Elaborator;
use crate::sema::place::{Indexed, Resolved};
use crate::sema::types::{Hazard, Scalar, Ty, Type, Value, full, outside};
use crate::syntax::ast::{self, Domain, ExprKind, Quantifier};

impl Elaborator<'_, '_> {
    /// The value of an expression where a type is expected, which a set in braces needs.
    pub(crate) fn value_as(&mut self, expr: &ast::Expr, ty: Ty) -> Value {
        match (&expr.kind, ty) {
            (ExprKind::Set(members), Ty::Set(lo, hi, of)) => self.set(members, (lo, hi), of),
            (ExprKind::Conditional(c, yes, no), Ty::Set(..)) if is_literal(yes) || is_literal(no) => {
                self.conditional(c, [yes, no], Some(ty))
            }
            _ => self.value(expr),
        }
    }

    /// `{a, b}` as a set over a range; a member outside it is a fault.
    pub(crate) fn set(&mut self, members: &[ast::Expr], (lo, hi): (i64, i64), of: Option<usize>) -> Value {
        let ty = Ty::Set(lo, hi, of);
        let mut result = Value { hi: full(lo, hi), lo: 0, ..Value::constant(0, ty) };
        let mut fixed = true;
        for member in members {
            let value = self.value(member);
            let value = self.expect(value, Ty::of_members(of), member.span, "a member of a set");
            if value.ty == Ty::Error {
                return value;
            }
            if value.fixed && (value.hi < lo || value.lo > hi) {
                let message = format!("{} is not in {lo}..{hi}", value.lo);
                self.cx.report(Diagnostic::new("E0030", member.span, message, "cannot be a member"));
                return Value::error();
            }
            result.hazards.extend(value.hazards.iter().cloned());
            if !value.is_within(lo, hi) {
                let fault = self.cx.fault(FaultKind::Range, member.span, |cx| {
                    format!("the member `{}` must stay in {lo}..{hi}", cx.source(member.span))
                });
                result.hazards.push(Hazard { when: outside(&value, lo, hi), fault });
            }
            fixed &= value.fixed;
            let place = Expr::binary(BinaryOp::Sub, value.expr, Expr::Const(lo));
            let bit = Expr::binary(BinaryOp::Shl, Expr::Const(1), place);
            // A member outside was reported as a fault; the bits of a set stay inside.
            let bit = Expr::binary(BinaryOp::BitAnd, bit, Expr::Const(full(lo, hi)));
            result.expr = Expr::binary(BinaryOp::BitOr, result.expr, bit);
        }
        result.fixed = fixed;
        if let Some(value) = result.expr.as_const() {
            (result.lo, result.hi) = (value, value);
        }
        result
    }

    /// An operator on sets, if one of the sides is a set.
    pub(crate) fn set_operation(&mut self, op: ast::BinaryOp, left: &ast::Expr, right: &ast::Expr) -> Option<Value> {
        if op == ast::BinaryOp::In {
            return Some(self.member_of(left, right));
        }
        let ty = self.set_type_of(left).or_else(|| self.set_type_of(right))?;
        let a = self.value_as(left, ty);
        self.with_set(op, a, ty, left, right)
    }

    /// The same with the left side evaluated already.
    fn with_set(&mut self, op: ast::BinaryOp, a: Value, ty: Ty, left: &ast::Expr, right: &ast::Expr) -> Option<Value> {
        use ast::BinaryOp as B;
        let b = self.value_as(right, ty);
        if a.ty == Ty::Error || b.ty == Ty::Error {
            return Some(Value::error());
        }
        if a.ty != b.ty {
            let (l, r) = (self.cx.type_name(a.ty), self.cx.type_name(b.ty));
            let message = format!("cannot combine {l} with {r}");
            let diagnostic = Diagnostic::new("E0022", right.span, message, format!("this is {r}"));
            self.cx.report(
                diagnostic.related(left.span, format!("this is {l}")).help("both must be sets of the same range"),
            );
            return Some(Value::error());
        }
        let Ty::Set(lo, hi, _) = ty else { return None };
        let hazards = [a.hazards, b.hazards].concat();
        let both = |a: Expr, b: Expr| Expr::binary(BinaryOp::BitAnd, a, b);
        let others = |b: Expr| Expr::binary(BinaryOp::Sub, Expr::Const(full(lo, hi)), b);
        let set = |expr| Value { expr, ty, lo: 0, hi: full(lo, hi), hazards: Vec::new(), fixed: a.fixed && b.fixed };
        let result = match op {
            B::Add => set(Expr::binary(BinaryOp::BitOr, a.expr, b.expr)),
            B::Mul => set(both(a.expr, b.expr)),
            B::Sub => set(both(a.expr, others(b.expr))),
            B::Le => Value::boolean(both(a.expr, others(b.expr)).equals(0)),
            B::Eq => Value::boolean(Expr::binary(BinaryOp::Eq, a.expr, b.expr)),
            _ => Value::boolean(Expr::binary(BinaryOp::Ne, a.expr, b.expr)),
        };
        Some(Value { hazards, ..result })
    }

    /// The set type of an expression, as far as its variables tell, without evaluating it.
    fn set_type_of(&self, expr: &ast::Expr) -> Option<Ty> {
        let either = |a, b| self.set_type_of(a).or_else(|| self.set_type_of(b));
        match &expr.kind {
            ExprKind::Binary(ast::BinaryOp::Add | ast::BinaryOp::Sub | ast::BinaryOp::Mul, a, b) => either(a, b),
            ExprKind::Conditional(_, a, b) => either(a, b),
            ExprKind::Name(_) | ExprKind::Member(..) | ExprKind::Index(..) | ExprKind::Call(..) => self.peek_type(expr),
            _ => None,
        }
        .filter(|ty| matches!(ty, Ty::Set(..)))
    }

    /// The type of what a function gives, if that has a name.
    fn set_result(&self, function: &ast::Name) -> Option<Ty> {
        match self.cx.symbols.get(function.text.as_str()) {
            Some((Symbol::Function(index), _)) => match &self.cx.functions[*index].0.result.kind {
                ast::TypeKind::Named(alias) => self.alias_type(&alias.text).map(|scalar| scalar.ty),
                ast::TypeKind::SetOf(members) => {
                    self.alias_type(&members.text).map(|Scalar { ty, lo, hi, .. }| match ty {
                        Ty::Symmetric(of) => Ty::Set(lo, hi, Some(of)),
                        _ => Ty::Set(lo, hi, None),
                    })
                }
                _ => None,
            },
            _ => None,
        }
    }

    fn alias_type(&self, name: &str) -> Option<Scalar> {
        let Some((Symbol::Alias(index), _)) = self.cx.symbols.get(name) else { return None };
        match &self.cx.aliases[*index].1 {
            crate::sema::context::Evaluated::Done(ty) => Some(ty.scalar),
            _ => None,
        }
    }

    /// The type of a variable or of a part of it, found by its names alone.
    pub(crate) fn peek_type(&self, expr: &ast::Expr) -> Option<Ty> {
        if let ExprKind::Name(name) = &expr.kind
            && let Some((_, value)) = self.bindings.iter().rev().find(|(n, _)| n == name)
        {
            return Some(value.ty);
        }
        self.peek_inside(expr, &self.scope).map(|ty| ty.scalar.ty)
    }

    /// The same inside of calls and rounds, where no other name is bound.
    fn peek_inside(&self, expr: &ast::Expr, scope: &Scope<'_>) -> Option<Type> {
        match &expr.kind {
            ExprKind::Index(base, _) => self.peek_inside(base, scope).map(|ty| self.peek_element(ty)),
            ExprKind::Name(name) => self.peek_name(name, scope),
            // What stands for a parameter may be any expression.
            ExprKind::Binary(ast::BinaryOp::Add | ast::BinaryOp::Sub | ast::BinaryOp::Mul, a, b)
            | ExprKind::Conditional(_, a, b) => self.peek_inside(a, scope).or_else(|| self.peek_inside(b, scope)),
            ExprKind::Call(name, args) if self.is_built_in(name, &["head", "last"]) => {
                self.peek_inside(args.first()?, scope).map(|ty| self.peek_element(ty))
            }
            ExprKind::Call(name, args) if self.is_built_in(name, &["keys"]) => {
                match self.peek_inside(args.first()?, scope)?.scalar.ty {
                    Ty::Collection(index) => Some(Type::of(self.cx.collections[index].counted())),
                    _ => None,
                }
            }
            ExprKind::Call(name, _) => self.set_result(name).map(of_type),
            ExprKind::Member(base, field) => match self.peek_inside(base, scope).map(|ty| ty.scalar.ty) {
                Some(Ty::Record(record)) => match &self.cx.records[record].fields {
                    crate::sema::context::Evaluated::Done(fields) => {
                        fields.iter().find(|(name, _)| *name == field.text).map(|(_, ty)| ty.clone())
                    }
                    _ => None,
                },
                _ => self.foreign_local(base, &field.text),
            },
            _ => None,
        }
    }

    /// What an element of a variable of a type is.
    fn peek_element(&self, mut ty: Type) -> Type {
        match ty.scalar.ty {
            Ty::Collection(index) if ty.shape.is_empty() => self.cx.collections[index].held().clone(),
            _ if ty.shape.is_empty() => ty,
            _ => {
                ty.shape.remove(0);
                ty.by.remove(0);
                ty
            }
        }
    }

    fn peek_name(&self, name: &str, scope: &Scope<'_>) -> Option<Type> {
        let mut in_procedure = false;
        let mut around = scope;
        while let Some(frame) = around {
            match &frame.kind {
                FrameKind::Round(own, _) if own.text == name => return Some(of_type(Ty::Int)),
                FrameKind::Round(..) => around = &frame.outer,
                FrameKind::Call(procedure, args) => {
                    if let Some(position) = procedure.params.iter().position(|param| param.name.text == name) {
                        return self.peek_inside(args.get(position)?, &frame.outer);
                    }
                    in_procedure = true;
                    break;
                }
            }
        }
        let local = self.thread.filter(|_| !in_procedure).and_then(|(kind, _)| {
            self.cx.threads[kind].locals.iter().find(|local| local.name == name).map(|l| l.ty.clone())
        });
        local.or_else(|| match self.cx.symbols.get(name) {
            Some((Symbol::Variable(index), _)) => self.cx.globals.get(*index).map(|g| g.ty.clone()),
            _ => None,
        })
    }

    fn foreign_local(&self, base: &ast::Expr, name: &str) -> Option<Type> {
        let base = if let ExprKind::Index(base, _) = &base.kind { base } else { base };
        let ExprKind::Name(thread) = &base.kind else { return None };
        let Some((Symbol::Thread(kind), _)) = self.cx.symbols.get(thread.as_str()) else { return None };
        self.cx.threads.get(*kind)?.locals.iter().find(|local| local.name == name).map(|l| l.ty.clone())
    }

    /// `x in s`; false for a number that cannot be a member.
    fn member_of(&mut self, left: &ast::Expr, right: &ast::Expr) -> Value {
        let x = self.value(left);
        if x.ty == Ty::Error {
            return x;
        }
        if let ExprKind::Set(members) = &right.kind {
            let mut result = Value { hazards: x.hazards.clone(), ..Value::boolean(Expr::FALSE) };
            for member in members {
                let value = self.value(member);
                let value = self.expect(value, x.ty, member.span, "a member of this set");
                let equal = self.comparison(BinaryOp::Eq, Value { hazards: Vec::new(), ..x.clone() }, value);
                if equal.ty == Ty::Error {
                    return equal;
                }
                result.hazards.extend(equal.hazards);
                result.expr = result.expr.or(equal.expr);
            }
            return Value { hazards: result.hazards, ..Value::boolean(result.expr) };
        }
        let path = self.path(right);
        if let Resolved::Variable(indexed) = &path
            && let Some(found) = self.is_element(x.clone(), indexed, [left.span, right.span])
        {
            return found;
        }
        let s = self.set_at(path, right.span);
        let Ty::Set(lo, hi, of) = s.ty else {
            if s.ty != Ty::Error {
                let found = self.cx.type_name(s.ty);
                let message = format!("`{}` is {found}, not a set", self.cx.source(right.span));
                self.cx.report(Diagnostic::new("E0022", right.span, message, "expected a set"));
            }
            return Value::error();
        };
        let x = self.expect(x, Ty::of_members(of), left.span, "a member of a set");
        if x.ty == Ty::Error {
            return x;
        }
        let hazards = [x.hazards.clone(), s.hazards].concat();
        Value { hazards, ..Value::boolean(has(&x, s.expr, lo, hi)) }
    }

    /// The value of a path; a map stands for the set of its keys.
    fn set_at(&mut self, path: Resolved, span: Span) -> Value {
        if let Resolved::Variable(indexed) = &path
            && let Some(keys) = self.count_of(indexed, span)
        {
            return keys;
        }
        self.value_at(path, span)
    }

    /// `forall`, `exists`, `count`, `sum`. Every value is examined, so a hazard of the body counts wherever it happens.
    pub(crate) fn quantifier(
        &mut self,
        kind: Quantifier,
        name: &ast::Name,
        domain: &Domain,
        body: &ast::Expr,
    ) -> Value {
        let local = self.fresh();
        let at = Value { expr: Expr::Local(local), fixed: false, ..Value::constant(0, Ty::Int) };
        let Some(Range { from, to, bound, only }) = self.range_of(domain, at) else {
            return Value::error();
        };
        self.bindings.push((name.text.clone(), bound));
        let inner = match kind {
            Quantifier::Sum => self.integer(body, "the body of `sum`"),
            _ => self.condition(body, "the body of a quantifier"),
        };
        self.bindings.pop();
        if [&from, &to, &inner].iter().any(|value| value.ty == Ty::Error) {
            return Value::error();
        }
        let fold = |op, body| Expr::Fold { op, local, parts: Box::new((from.expr.clone(), to.expr.clone(), body)) };
        let mut hazards: Vec<Hazard> = from.hazards.iter().chain(&to.hazards).cloned().collect();
        for hazard in inner.hazards {
            let when = only.clone().and(hazard.when);
            if when != Expr::FALSE {
                hazards.push(Hazard { when: fold(FoldOp::Any, when), fault: hazard.fault });
            }
        }
        let empty = from.fixed && to.fixed && from.lo > to.hi;
        let (op, body, none) = match kind {
            Quantifier::All => (FoldOp::All, only.negate().or(inner.expr), Expr::TRUE),
            Quantifier::Any => (FoldOp::Any, only.and(inner.expr), Expr::FALSE),
            Quantifier::Count => (FoldOp::Count, only.and(inner.expr), Expr::Const(0)),
            Quantifier::Sum => (FoldOp::Sum, Expr::choose(only, inner.expr, Expr::Const(0)), Expr::Const(0)),
        };
        let expr = if empty { none } else { fold(op, body) };
        if let Quantifier::All | Quantifier::Any = kind {
            return Value { hazards, ..Value::boolean(expr) };
        }
        let most = (to.hi - from.lo + 1).max(0);
        let (lo, hi) = match kind {
            Quantifier::Sum => ((inner.lo * most).min(0), (inner.hi * most).max(0)),
            _ => (0, most),
        };
        let total = Value { expr, ty: Ty::Int, lo, hi, hazards, fixed: false };
        self.checked(total, name.span)
    }

    /// What a quantifier ranges over: the bounds of the fold, the value its name has, and which rounds count.
    fn range_of(&mut self, domain: &Domain, at: Value) -> Option<Range> {
        match domain {
            Domain::Range(lo, hi) => {
                let from = self.integer(lo, "a bound of a quantifier");
                let to = self.integer(hi, "a bound of a quantifier");
                let bound = Value { lo: from.lo, hi: to.hi.max(from.lo), ..at };
                Some(Range { from, to, bound, only: Expr::TRUE })
            }
            Domain::Members(members) => {
                let number = |value| Value::constant(value, Ty::Int);
                if let Some((ty, last)) = self.symmetric(members) {
                    let bound = Value { ty, lo: 0, hi: last, ..at };
                    return Some(Range { from: number(0), to: number(last), bound, only: Expr::TRUE });
                }
                let path = self.path(members);
                if let Resolved::Variable(indexed) = &path
                    && indexed.indices.len() + 1 == indexed.shape.len()
                {
                    let length = i64::from(indexed.shape[indexed.indices.len()]);
                    let mut element = indexed.clone();
                    element.indices.push((Value { lo: 0, hi: length - 1, ..at }, members.span));
                    let mut bound = self.element(element, members.span);
                    // Which array it is, is found once, whether or not an element is asked for.
                    let from = Value { hazards: std::mem::take(&mut bound.hazards), ..number(0) };
                    return Some(Range { from, to: number(length - 1), bound, only: Expr::TRUE });
                }
                if let Resolved::Variable(indexed) = &path
                    && let Some((mut bound, only, last)) = self.ranged(indexed, at.clone(), members.span)
                {
                    let from = Value { hazards: std::mem::take(&mut bound.hazards), ..number(0) };
                    return Some(Range { from, to: number(last), bound, only });
                }
                let set = self.set_at(path, members.span);
                let Ty::Set(lo, hi, of) = set.ty else {
                    if set.ty != Ty::Error {
                        let message = format!("`{}` is neither a set nor an array", self.cx.source(members.span));
                        let diagnostic = Diagnostic::new("E0022", members.span, message, "nothing to range over");
                        self.cx.report(diagnostic.help("a range is written `i : lo .. hi`"));
                    }
                    return None;
                };
                let bound = Value { ty: Ty::of_members(of), lo, hi, ..at };
                let only = has(&bound, set.expr, lo, hi);
                let from = Value { hazards: set.hazards, ..number(lo) };
                Some(Range { from, to: number(hi), bound, only })
            }
        }
    }

    /// A symmetric type named as a domain, and its last value.
    pub(crate) fn symmetric(&mut self, expr: &ast::Expr) -> Option<(Ty, i64)> {
        let ExprKind::Name(name) = &expr.kind else { return None };
        let Some(&(Symbol::Alias(index), _)) = self.cx.symbols.get(name.as_str()) else { return None };
        match &self.cx.aliases[index].1 {
            crate::sema::context::Evaluated::Done(ty) if matches!(ty.scalar.ty, Ty::Symmetric(_)) => {
                Some((ty.scalar.ty, ty.scalar.hi))
            }
            _ => None,
        }
    }

    /// `let x = value in body`: the value is computed once.
    pub(crate) fn let_in(&mut self, name: &ast::Name, value: &ast::Expr, body: &ast::Expr) -> Value {
        let mut value = self.value(value);
        let mut hazards = std::mem::take(&mut value.hazards);
        let local = self.fresh();
        let bound = Value { expr: Expr::Local(local), fixed: false, ..value.clone() };
        self.bindings.push((name.text.clone(), bound));
        let mut result = self.value(body);
        self.bindings.pop();
        if value.ty == Ty::Error || result.ty == Ty::Error {
            return Value::error();
        }
        let within = |body: Expr| match body {
            Expr::Const(_) => body,
            body => Expr::Let { local, parts: Box::new((value.expr.clone(), body)) },
        };
        hazards.extend(result.hazards.into_iter().map(|h| Hazard { when: within(h.when), fault: h.fault }));
        result.expr = within(result.expr);
        Value { hazards, ..result }
    }

    /// `size(s)`, and what is asked of channels.
    pub(crate) fn built_in(&mut self, name: &ast::Name, args: &[ast::Expr], span: Span) -> Option<Value> {
        let [arg] = args else { return None };
        match name.text.as_str() {
            "keys" => Some(self.keys_of(arg)),
            "size" => {
                let path = self.path(arg);
                let set = self.set_at(path, arg.span);
                let Ty::Set(lo, hi, _) = set.ty else {
                    if set.ty != Ty::Error {
                        let message = format!("`{}` is not a set", self.cx.source(arg.span));
                        self.cx.report(Diagnostic::new("E0022", arg.span, message, "expected a set"));
                    }
                    return Some(Value::error());
                };
                let expr = Expr::Unary(UnaryOp::Ones, Box::new(set.expr));
                Some(Value { expr, ty: Ty::Int, lo: 0, hi: hi - lo + 1, hazards: set.hazards, fixed: false })
            }
            "len" | "full" | "empty" | "peek" => Some(self.ask_channel(&name.text, arg, span)),
            _ => None,
        }
    }

    /// `==` and `!=` of a variable or a part of it with something: whole records, arrays, sets or single values.
    pub(crate) fn compare_path(&mut self, op: BinaryOp, left: &ast::Expr, right: &ast::Expr) -> Value {
        let path = self.path(left);
        if let Resolved::Variable(indexed) = &path
            && indexed.is_whole()
            && !matches!(indexed.scalar.ty, Ty::Channel(_))
        {
            return self.compare_whole(op == BinaryOp::Eq, indexed, left, right);
        }
        let a = self.value_at(path, left.span);
        match self.set_type_of(left).or_else(|| self.set_type_of(right)) {
            Some(ty) => {
                let sign = if op == BinaryOp::Eq { ast::BinaryOp::Eq } else { ast::BinaryOp::Ne };
                self.with_set(sign, a, ty, left, right).unwrap_or_else(Value::error)
            }
            None => self.equality_with(op, a, left, right),
        }
    }

    /// Whole records or arrays compared.
    fn compare_whole(&mut self, equal: bool, indexed: &Indexed, left: &ast::Expr, right: &ast::Expr) -> Value {
        let theirs = match self.variable_like(right, &indexed.ty()) {
            Some(other) => {
                let parts = self.spread(&other, right.span);
                parts.into_iter().map(|part| self.element(part, right.span)).collect()
            }
            None => match self.parts(right, &indexed.ty(), "the other side") {
                Some(parts) => parts,
                None => return Value::error(),
            },
        };
        let mut hazards = Vec::new();
        let mut all = Vec::new();
        for (own, their) in self.spread(indexed, left.span).into_iter().zip(theirs) {
            let own = self.element(own, left.span);
            let same = self.comparison(BinaryOp::Eq, own, their);
            if same.ty == Ty::Error {
                return same;
            }
            hazards.extend(same.hazards);
            all.push(same.expr);
        }
        let expr = Expr::all(all);
        Value { hazards, ..Value::boolean(if equal { expr } else { expr.negate() }) }
    }
}

impl Elaborator<'_, '_> {
    /// A variable of such a type: to be compared, its values need not be in the same range.
    fn variable_like(&mut self, expr: &ast::Expr, ty: &Type) -> Option<crate::sema::place::Indexed> {
        if !matches!(expr.kind, ExprKind::Name(_) | ExprKind::Index(..) | ExprKind::Member(..)) {
            return None;
        }
        let reported = self.cx.diagnostics.len();
        match self.path(expr) {
            Resolved::Variable(indexed) if indexed.ty().is_like(ty) => Some(indexed),
            // Whatever is wrong with it is said when it is read.
            _ => {
                self.cx.diagnostics.truncate(reported);
                None
            }
        }
    }
}

/// The type of single values of which only the kind is known.
fn of_type(ty: Ty) -> Type {
    Type::of(Scalar { ty, ..Scalar::INT })
}

struct Range {
    from: Value,
    to: Value,
    bound: Value,
    only: Expr,
}

fn is_literal(expr: &ast::Expr) -> bool {
    matches!(expr.kind, ExprKind::Set(_))
}

/// Whether a number is a member of a set.
pub(crate) fn has(x: &Value, set: Expr, lo: i64, hi: i64) -> Expr {
    let place = Expr::binary(BinaryOp::Sub, x.expr.clone(), Expr::Const(lo));
    let bit = Expr::binary(BinaryOp::BitAnd, Expr::binary(BinaryOp::Shr, set, place), Expr::Const(1));
    outside(x, lo, hi).negate().and(Expr::binary(BinaryOp::Ne, bit, Expr::Const(0)))
}

//! Records and arrays as wholes: their fields, and all their single values.

use birk_ir::Span;

use super::{Indexed, Resolved};
use crate::diagnostic::Diagnostic;
use crate::edit;
use crate::sema::context::Symbol;
use crate::sema::expression::{Elaborator, Receiver, count};
use crate::sema::types::{Ty, Type, Value};
use crate::syntax::ast::{self, ExprKind};

impl Elaborator<'_, '_> {
    /// A field of a record, which must be one record and not an array of them.
    pub(super) fn field(&mut self, indexed: Indexed, name: &ast::Name, at: Span) -> Resolved {
        let Ty::Record(record) = indexed.scalar.ty else { return Resolved::Error };
        if indexed.indices.len() < indexed.shape.len() {
            let message = format!("`{}` is an array of records", self.cx.source(at));
            self.cx.report(Diagnostic::new("E0033", at, message, "an index is missing"));
            return Resolved::Error;
        }
        let mut offset = 0;
        let fields = crate::sema::declarations::fields_of(self.cx, record);
        for (field, ty) in &fields {
            let size = crate::sema::declarations::leaves_of(self.cx, ty).len();
            if *field == name.text {
                let leaves = indexed.leaves.get(offset..offset + size).unwrap_or_default().to_vec();
                if ty.scalar.ty == Ty::Error || leaves.is_empty() {
                    return Resolved::Error;
                }
                let shape = indexed.shape.iter().chain(&ty.shape).copied().collect();
                let by = indexed.by.iter().chain(&ty.by).copied().collect();
                return Resolved::Variable(Indexed { leaves, scalar: ty.scalar, shape, by, ..indexed });
            }
            offset += size;
        }
        let owner = self.cx.records[record].ast.name.text.clone();
        let names: Vec<&str> = fields.iter().map(|(name, _)| name.as_str()).collect();
        self.no_member(&owner, "field", name, &names)
    }

    /// Every single value of a record or array, in order.
    pub(crate) fn spread(&mut self, indexed: &Indexed, at: Span) -> Vec<Indexed> {
        let leaves = crate::sema::declarations::leaves_of(self.cx, &indexed.ty());
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
                let given_by = indexed.by[..indexed.indices.len()].iter();
                values.push(Indexed {
                    leaves: vec![id],
                    scalar: leaf.scalar,
                    shape: given.chain(&leaf.shape).copied().collect(),
                    by: given_by.chain(&leaf.by).copied().collect(),
                    indices: indexed.indices.iter().cloned().chain(own).collect(),
                    foreign: indexed.foreign,
                    added: None,
                });
            }
        }
        values
    }

    /// The single values of an expression of a type: a variable, or a record put together from its fields.
    pub(crate) fn parts(&mut self, expr: &ast::Expr, ty: &Type, what: &str) -> Option<Vec<Value>> {
        if ty.shape.is_empty() && !matches!(ty.scalar.ty, Ty::Record(_) | Ty::Collection(_)) {
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
        if ty.shape.is_empty()
            && let Some(made) = self.made(expr, ty, what)
        {
            return made;
        }
        if let (ExprKind::Set(members), false) = (&expr.kind, ty.shape.is_empty()) {
            return self.array(members, ty, what, expr.span);
        }
        let found = match self.path(expr) {
            Resolved::Variable(indexed) if indexed.ty().is_like(ty) => indexed,
            Resolved::Error => return None,
            _ => {
                let wanted = self.cx.type_name(ty.scalar.ty);
                let array = if ty.shape.is_empty() { "" } else { "an array of " };
                let message = format!("{what} must be {array}{wanted}");
                let mut diagnostic = Diagnostic::new("E0022", expr.span, message, "this is not");
                if !ty.shape.is_empty() {
                    diagnostic = diagnostic.help("an array is assigned as a whole; for one element, write its index");
                    let target = self.cx.text(expr.span).and_then(|text| edit::target_of(text, expr.span));
                    if let (Some(target), [None]) = (target, &ty.by[..]) {
                        diagnostic = diagnostic.propose(target, "[0]");
                    }
                } else if let Ty::Record(record) = ty.scalar.ty {
                    let fields = crate::sema::declarations::fields_of(self.cx, record);
                    let names: Vec<&str> = fields.iter().map(|(name, _)| name.as_str()).collect();
                    let name = &self.cx.records[record].ast.name.text;
                    diagnostic =
                        diagnostic.help(format!("put it together from its fields: `{name}({})`", names.join(", ")));
                }
                self.cx.report(diagnostic);
                return None;
            }
        };
        let parts = self.spread(&found, expr.span);
        let leaves = crate::sema::declarations::leaves_of(self.cx, ty);
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

    /// The single values of an array whose elements are listed: `{1, 2, 3}`.
    fn array(&mut self, members: &[ast::Expr], ty: &Type, what: &str, span: Span) -> Option<Vec<Value>> {
        let length = ty.shape[0];
        if ty.by[0].is_some() {
            let message = format!("the elements of {what} have no order, and cannot be listed");
            let help = "its index is of a symmetric type: assign to its elements one by one";
            self.cx.report(Diagnostic::new("E0022", span, message, "a list").help(help));
            return None;
        }
        if members.len() != length as usize {
            let message = format!("{what} has {length} elements, and {} values are given", members.len());
            self.cx.report(Diagnostic::new("E0022", span, message, "not one for each").help("give each a value"));
            return None;
        }
        let part = Type { scalar: ty.scalar, shape: ty.shape[1..].to_vec(), by: ty.by[1..].to_vec() };
        let mut elements = Vec::new();
        for member in members {
            elements.push(self.parts(member, &part, "an element")?.into_iter());
        }
        // Values come variable by variable, and each of these has all elements.
        let leaves = crate::sema::declarations::leaves_of(self.cx, &part);
        let mut values = Vec::new();
        for leaf in &leaves {
            let own = leaf.shape.iter().product::<u32>() as usize;
            values.extend(elements.iter_mut().flat_map(|element| element.take(own).collect::<Vec<_>>()));
        }
        Some(values)
    }

    /// The single values of a record from its fields.
    pub(crate) fn fields(&mut self, record: usize, args: &[ast::Expr], span: Span) -> Option<Vec<Value>> {
        let fields = crate::sema::declarations::fields_of(self.cx, record);
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
}

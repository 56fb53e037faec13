//! The types of sequences and maps.

use birk_lang::ast::{Expr, Type, TypeKind};

use super::{ANY, Writer};

impl Writer<'_> {
    pub(super) fn sequence(&mut self, element: &Type, capacity: &Expr) {
        self.put("sequence of ");
        self.holding(element, capacity);
    }

    pub(super) fn map(&mut self, keys: &TypeKind, value: &Type) {
        self.put("map of ");
        self.members(keys);
        self.put(" to ");
        self.ty(value);
    }

    /// What is held, and how much of it at most.
    pub(super) fn holding(&mut self, element: &Type, capacity: &Expr) {
        self.ty(element);
        self.put(" [");
        self.expr(capacity, ANY, true);
        self.put("]");
    }

    /// What can be a member of a set, or a key.
    pub(super) fn members(&mut self, of: &TypeKind) {
        match of {
            TypeKind::SetOf(name) => self.put(&name.text),
            TypeKind::Set(lo, hi) => {
                self.expr(lo, ANY, true);
                self.put(" .. ");
                self.expr(hi, ANY, true);
            }
            _ => unreachable!("keys are the members of a set"),
        }
    }
}

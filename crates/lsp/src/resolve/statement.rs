//! The names in statements and actions, and the labels before them.

use birk_ir::Span;
use birk_lang::ast::{Action, ActionKind, Expr, ExprKind, Pattern};

use super::Resolver;
use crate::scope::{GLOBAL, Kind, Room};

impl Resolver<'_> {
    /// Declares the labels in a block: those of a thread are visible in all of it.
    pub(super) fn labels(&mut self, block: &[Action], owner: usize) {
        for action in block {
            for label in &action.labels {
                self.symbol(&label.name, Kind::Location, label.name.span, Some(owner), None, Room::Locations(owner));
            }
            for inner in blocks_of(action) {
                self.labels(inner, owner);
            }
        }
    }

    pub(super) fn block(&mut self, block: &[Action], scope: usize, owner: Option<usize>) {
        for action in block {
            self.action(action, scope, owner);
        }
    }

    fn action(&mut self, action: &Action, scope: usize, owner: Option<usize>) {
        match &action.kind {
            ActionKind::Assign(place, value) | ActionKind::ChooseMember(place, value) => {
                self.place(place, scope);
                self.expr(value, scope);
            }
            ActionKind::Choose(place, lo, hi) => {
                self.place(place, scope);
                self.expr(lo, scope);
                self.expr(hi, scope);
            }
            ActionKind::Assert(condition, _) | ActionKind::Assume(condition) | ActionKind::Await(condition) => {
                self.expr(condition, scope);
            }
            ActionKind::Start(name, args) | ActionKind::Call(name, args) => {
                self.used_in(Room::Scope(GLOBAL), name);
                args.iter().for_each(|arg| _ = self.expr(arg, scope));
            }
            ActionKind::Send(channel, values) => {
                self.place(channel, scope);
                values.iter().for_each(|value| _ = self.expr(value, scope));
            }
            ActionKind::Broadcast(channels, values, except) => {
                self.place(channels, scope);
                values.iter().chain(except).for_each(|value| _ = self.expr(value, scope));
            }
            ActionKind::Receive(channel, patterns, condition) => {
                self.place(channel, scope);
                for pattern in patterns {
                    match pattern {
                        Pattern::Bind(place) => self.place(place, scope),
                        Pattern::Equal(value) => _ = self.expr(value, scope),
                        Pattern::Any(_) => {}
                    }
                }
                if let Some(condition) = condition {
                    self.expr(condition, scope);
                }
            }
            ActionKind::If(branches, _) => {
                branches.iter().for_each(|(condition, _)| _ = self.expr(condition, scope));
            }
            ActionKind::While(condition, _) => _ = self.expr(condition, scope),
            ActionKind::For(name, lo, hi, body) => {
                self.expr(lo, scope);
                self.expr(hi, scope);
                let inner = self.names.open(action.span, Some(scope));
                let head = Span { end: hi.span.end.max(name.span.end), ..action.span };
                self.symbol(name, Kind::Bound, head, None, None, Room::Scope(inner));
                return self.block(body, inner, owner);
            }
            ActionKind::Goto(name) => {
                if let Some(owner) = owner {
                    self.used_in(Room::Locations(owner), name);
                }
            }
            ActionKind::Either(_)
            | ActionKind::Atomic(_)
            | ActionKind::Skip
            | ActionKind::Break
            | ActionKind::Return => {}
        }
        for inner in blocks_of(action) {
            self.block(inner, scope, owner);
        }
    }

    /// An expression that is written to.
    fn place(&mut self, place: &Expr, scope: usize) {
        self.expr(place, scope);
        let written = target(place);
        if let Some(found) = self.names.uses.iter_mut().rfind(|found| Some(found.span) == written && !found.declares) {
            found.writes = true;
        }
    }
}

/// The name of what is written: `a` in `a[i]`, `f` in `r.f`.
fn target(place: &Expr) -> Option<Span> {
    match &place.kind {
        ExprKind::Name(_) => Some(place.span),
        ExprKind::Member(_, name) => Some(name.span),
        ExprKind::Index(base, _) => target(base),
        _ => None,
    }
}

/// The blocks inside of a statement.
fn blocks_of(action: &Action) -> Vec<&[Action]> {
    match &action.kind {
        ActionKind::If(branches, last) => {
            let branches = branches.iter().map(|(_, block)| block.as_slice());
            branches.chain(last.as_deref()).collect()
        }
        ActionKind::While(_, block) | ActionKind::For(.., block) | ActionKind::Atomic(block) => vec![block],
        ActionKind::Either(blocks) => blocks.iter().map(Vec::as_slice).collect(),
        _ => Vec::new(),
    }
}

//! The paths through one step: each path through the statements inside it becomes one edge.

use super::{Builder, MAX_EDGES, Part, Scope, What};
use crate::diagnostic::Diagnostic;
use crate::edit;
use crate::syntax::ast::{Action, ActionKind, Name};

/// A path through a step, and how it leaves.
pub(super) type Path<'a> = (Vec<Part<'a>>, Leave<'a>);

#[derive(Clone, Copy, Debug)]
pub(super) enum Leave<'a> {
    Next,
    Break,
    Return,
    Goto(&'a Name),
}

impl<'a> Builder<'_, 'a> {
    /// All paths through statements that are one step, behind the paths that lead to them.
    pub(super) fn paths(
        &mut self,
        statements: &'a [Action],
        before: Vec<Path<'a>>,
        scope: &Scope<'a>,
    ) -> Vec<Path<'a>> {
        let mut paths = before;
        let Some(first) = statements.first() else { return paths };
        if !self.descend(first.span) {
            return Vec::new();
        }
        for statement in statements {
            for label in &statement.labels {
                let message = format!("the label `{}` is inside a step", label.name.text);
                let help = "remove it: no thread ever stands there; or put the label before the step";
                let diagnostic = Diagnostic::new("E0048", label.name.span, message, "not a place").help(help);
                self.cx.report(self.cx.without_label(diagnostic));
                self.misplaced(&label.name);
            }
            if self.is_full {
                break;
            }
            let (open, closed): (Vec<_>, Vec<_>) = paths.into_iter().partition(|(_, l)| matches!(l, Leave::Next));
            paths = closed;
            paths.extend(self.extend(statement, open, scope));
            if paths.len() > MAX_EDGES {
                self.too_many(statement.span);
            }
        }
        self.depth -= 1;
        if self.is_full { Vec::new() } else { paths }
    }

    /// The paths that go on through one more statement.
    pub(super) fn extend(&mut self, statement: &'a Action, open: Vec<Path<'a>>, scope: &Scope<'a>) -> Vec<Path<'a>> {
        let with = |open: Vec<Path<'a>>, whats: &[What<'a>]| -> Vec<Path<'a>> {
            let more = |(mut parts, leave): Path<'a>| {
                parts.extend(whats.iter().map(|&what| Part { scope: scope.clone(), what }));
                (parts, leave)
            };
            open.into_iter().map(more).collect()
        };
        let leaving = |open: Vec<Path<'a>>, leave| {
            with(open, &[What::Leave(statement)]).into_iter().map(|(parts, _)| (parts, leave)).collect()
        };
        let copied = 1 + open.iter().map(|(parts, _)| parts.len()).sum::<usize>();
        self.spend(open.len(), statement.span);
        match &statement.kind {
            ActionKind::Await(condition) => with(open, &[What::Require(condition)]),
            ActionKind::If(branches, otherwise) => {
                let mut paths = Vec::new();
                let mut refused = Vec::new();
                for (condition, branch) in branches {
                    self.spend(copied + refused.len() * open.len(), condition.span);
                    if self.is_full {
                        return Vec::new();
                    }
                    let mut conditions = refused.clone();
                    conditions.push(What::Test(condition));
                    let begun = with(open.clone(), &conditions);
                    paths.extend(self.through(branch, begun, scope));
                    refused.push(What::Refuse(condition));
                }
                let begun = with(open, &refused);
                paths.extend(self.through(otherwise.as_deref().unwrap_or_default(), begun, scope));
                paths
            }
            ActionKind::Either(branches) => {
                let mut paths = Vec::new();
                for branch in branches {
                    self.spend(copied, statement.span);
                    if self.is_full {
                        return Vec::new();
                    }
                    paths.extend(self.through(branch, open.clone(), scope));
                }
                paths
            }
            ActionKind::Atomic(body) => self.through(body, open, scope),
            ActionKind::For(name, lo, hi, body) => {
                let rounds = self.rounds(name, lo, hi, scope);
                rounds.iter().fold(open, |paths, scope| self.through(body, paths, scope))
            }
            ActionKind::Call(name, args) => match self.call(name, args, scope) {
                None => Vec::new(),
                Some((procedure, scope)) => {
                    let paths = self.through(&procedure.body, open, &scope);
                    // `return` ends the procedure only.
                    let back = |(parts, leave)| match leave {
                        Leave::Return => (parts, Leave::Next),
                        other => (parts, other),
                    };
                    paths.into_iter().map(back).collect()
                }
            },
            ActionKind::While(..) => {
                let help = "use `for` with constant bounds, or let each round be a step of its own";
                let message = "a `while` inside one step";
                let diagnostic = Diagnostic::new("E0047", statement.span, message, "may have no end").help(help);
                let text = self.cx.text(statement.span);
                self.cx.report(match text.and_then(|text| edit::atomic(text, statement.span)) {
                    Some((atomic, body)) => diagnostic.propose(atomic, body),
                    None => diagnostic,
                });
                Vec::new()
            }
            ActionKind::Break => leaving(open, Leave::Break),
            ActionKind::Return => leaving(open, Leave::Return),
            ActionKind::Goto(name) => leaving(open, Leave::Goto(name)),
            _ => with(open, &[What::Do(statement)]),
        }
    }

    /// As `paths`, where there may be none at all.
    pub(super) fn through(
        &mut self,
        statements: &'a [Action],
        open: Vec<Path<'a>>,
        scope: &Scope<'a>,
    ) -> Vec<Path<'a>> {
        if open.is_empty() { Vec::new() } else { self.paths(statements, open, scope) }
    }
}

//! Threads in expressions: which copy is meant, and whether it is at a location.

use birk_ir::Span;

use super::{Indexed, Resolved};
use crate::diagnostic::{Diagnostic, list, nearest, resembling};
use crate::sema::expression::Elaborator;
use crate::sema::types::{Scalar, Ty, Value};
use crate::syntax::ast::{self};

impl Elaborator<'_, '_> {
    /// Which copy of a thread is meant, and where that is said.
    pub(super) fn copy_of(&mut self, kind: usize, copy: Option<(Value, Span)>, span: Span) -> Option<(Value, Span)> {
        let (copies, name) = (self.cx.threads[kind].copies, &self.cx.threads[kind].ast.name.text);
        match (copy, copies) {
            (Some(copy), _) => Some(copy),
            (None, 1) => Some((Value { fixed: false, ..Value::constant(0, Ty::Int) }, span)),
            (None, 0) => {
                let message = format!("`{name}` has no instances");
                self.cx.report(Diagnostic::new("E0034", span, message, "there is none to ask"));
                None
            }
            (None, _) => {
                let message = format!("`{name}` has {copies} instances, and this does not say which");
                let help = format!("write `{name}[i]` with `i` in 0..{}", copies - 1);
                let diagnostic = Diagnostic::new("E0034", span, message, "an index is missing").help(help);
                let diagnostic = self.for_each(diagnostic, name, &format!("{name}[i]"));
                self.cx.report(diagnostic);
                None
            }
        }
    }

    /// `T@loc`, `T[i]@loc`.
    pub(super) fn at(&mut self, thread: &ast::Expr, location: &ast::Name, span: Span) -> Value {
        let path = self.path(thread);
        let (kind, copy) = match path {
            Resolved::Thread(kind, copy) => (kind, copy),
            Resolved::Error => return Value::error(),
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
            Indexed {
                leaves: vec![id],
                scalar,
                shape: vec![copies],
                by: vec![None],
                indices: vec![copy],
                foreign: true,
                added: None,
            },
            span,
        );
        if counter.ty == Ty::Error {
            return counter;
        }
        Value { hazards: counter.hazards, ..Value::boolean(counter.expr.equals(position as i64)) }
    }

    /// Says that a thread has no such location.
    pub(crate) fn unknown_location(&mut self, kind: usize, location: &ast::Name) {
        let thread = &self.cx.threads[kind];
        // A location whose name is missing may be the one that is meant.
        let locations = &thread.ast.locations;
        let is_empty = locations.is_empty() && thread.ast.body.is_empty();
        let is_broken = is_empty || locations.iter().any(|l| l.name.text.is_empty());
        if location.text.is_empty() || is_broken {
            return;
        }
        let message = format!("`{}` has no location `{}`", thread.ast.name.text, location.text);
        let diagnostic = Diagnostic::new("E0026", location.span, message, "no such location");
        let mut names: Vec<&str> = thread.control.names.keys().map(String::as_str).collect();
        names.sort_unstable();
        self.cx.report(match nearest(&location.text, names.iter().copied()) {
            Some(meant) => diagnostic.meant(meant),
            None if names.is_empty() => diagnostic.help("name a statement: `here: await …;`"),
            None => {
                let meant = resembling(&location.text, names.iter().copied());
                let diagnostic = diagnostic.help(format!("it has {}", list(names.iter().copied())));
                match meant {
                    Some(meant) => diagnostic.propose(location.span, meant),
                    None => diagnostic,
                }
            }
        });
    }
}

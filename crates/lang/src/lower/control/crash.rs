//! Crashes: a step from every place of a thread to one where it has lost what is not durable, and the way back.
//!
//! The place is called `crashed`. What the thread does on a restart leads from there to its first place, and it may crash
//! on the way, too.

use birk_ir::Span;

use super::paths::Leave;
use super::{Around, Builder, Control, END, Edge, MAX_EDGES, Out, Part, What};
use crate::diagnostic::Diagnostic;
use crate::sema::context::Context;
use crate::syntax::ast::{Crashes, Name};

/// What the place is called where a thread is after a crash.
const CRASHED: &str = "crashed";

/// The ways to crash: what each does.
pub(super) struct Ways<'a> {
    paths: Vec<Vec<Part<'a>>>,
    span: Span,
}

impl<'a> Builder<'_, 'a> {
    /// The place of a thread that has crashed, what leads from there to its first place, and the ways to crash.
    pub(super) fn crashes(&mut self, crashes: &'a Crashes) -> Ways<'a> {
        let span = crashes.span;
        let crashed = self.spot(span, None);
        match self.names.get(CRASHED).map(|&spot| &self.spots[spot]).filter(|spot| spot.named) {
            Some(declared) => {
                let message = format!("`{CRASHED}` is declared twice");
                let diagnostic = Diagnostic::new("E0021", declared.span, message, "declared again here");
                let diagnostic = diagnostic.related(span, "this is where a thread is after a crash");
                let name = Name { text: CRASHED.into(), span: declared.span };
                self.cx.report(self.cx.with_other_name(diagnostic, &name));
            }
            // A jump to it makes a place without a name, which is reported.
            None => _ = self.names.entry(CRASHED.into()).or_insert(crashed),
        }
        self.mark(crashed, &Name { text: CRASHED.into(), span }, &[]);
        self.crashed = Some(crashed);
        match crashes.restart.as_deref().unwrap_or_default() {
            [] => self.edge(crashed, 0, span, None, Vec::new()),
            restart => {
                let first = self.spot(restart[0].span, None);
                self.out[crashed].push(Out::Epsilon(first));
                let around = Around { scope: None, site: None, exit: None, back: END };
                self.list(restart, first, 0, &around);
            }
        }
        let part = |what| Part { scope: None, what };
        let condition = crashes.condition.iter().map(|condition| part(What::Require(condition))).collect();
        let mut paths = Vec::new();
        let actions = crashes.crash.as_deref().unwrap_or_default();
        for (mut parts, leave) in self.paths(actions, vec![(condition, Leave::Next)], &None) {
            if !matches!(leave, Leave::Next) {
                let at = parts.iter().rev().find_map(|part| match part.what {
                    What::Leave(action) => Some(action.span),
                    _ => None,
                });
                let diagnostic =
                    Diagnostic::new("E0061", at.unwrap_or(span), "a jump in `on crash`", "leads elsewhere");
                let diagnostic = diagnostic.help("the thread has crashed: jump in `on restart` instead");
                self.cx.report(self.cx.without(diagnostic, at));
            }
            parts.push(part(What::Lose(span)));
            paths.push(parts);
        }
        Ways { paths, span }
    }
}

/// Adds the ways to crash to every place but the one where the thread has crashed already.
pub(super) fn with_crashes<'a>(cx: &mut Context<'a>, mut control: Control<'a>, ways: &Ways<'a>) -> Control<'a> {
    let span = ways.span;
    if control.edges.len() + control.spots.len() * ways.paths.len() > MAX_EDGES {
        let message = format!("this thread has more than {MAX_EDGES} steps");
        let help = "it may crash at each of its locations: put steps together with `atomic`, or do less in `on crash`";
        cx.report(Diagnostic::new("E0039", span, message, "too many").help(help));
        return control;
    }
    for from in (0..control.spots.len()).filter(|&from| Some(from) != control.crashed) {
        for parts in &ways.paths {
            control.edges.push(Edge { from, to: control.crashed, span, fair: None, parts: parts.clone() });
        }
    }
    control.edges.sort_by_key(|edge| edge.from);
    control
}

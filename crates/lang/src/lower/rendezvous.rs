//! Who meets whom at a rendezvous: the steps that send, and those that can receive.

use std::collections::HashMap;
use std::rc::Rc;

use birk_ir::VarId;

use crate::diagnostic::Diagnostic;
use crate::edit;
use crate::lower::control::{Edge, What};
use crate::sema::context::Context;
use crate::sema::expression::Elaborator;
use crate::sema::place::Resolved;
use crate::sema::types::Ty;
use crate::syntax::ast::ActionKind;

/// The other side of a rendezvous: a thread, and the step of it that receives.
#[derive(Clone)]
pub(crate) struct Partner<'a> {
    pub(crate) kind: usize,
    pub(crate) copy: u32,
    pub(crate) edge: Rc<Edge<'a>>,
}

/// The steps that receive at each rendezvous.
pub(super) type Receivers<'a> = HashMap<VarId, Vec<Partner<'a>>>;

pub(super) fn receivers<'a>(cx: &mut Context<'a>) -> Receivers<'a> {
    let mut receivers = Receivers::new();
    if cx.channels.iter().all(|channel| channel.capacity > 0) {
        return receivers;
    }
    for kind in 0..cx.threads.len() {
        let control = Rc::clone(&cx.threads[kind].control);
        let edges: Vec<Rc<Edge<'a>>> = control.edges.iter().cloned().map(Rc::new).collect();
        for copy in 0..cx.threads[kind].copies {
            for edge in &edges {
                if let Some((false, channel)) = rendezvous(cx, edge, kind, copy) {
                    let partner = Partner { kind, copy, edge: Rc::clone(edge) };
                    receivers.entry(channel).or_default().push(partner);
                }
            }
        }
    }
    receivers
}

/// With whom a step is taken: alone, with each of the steps that can receive what it sends, or (a step that receives
/// at a rendezvous) only as somebody's partner.
pub(super) fn partners<'a>(
    cx: &mut Context<'a>,
    receivers: &Receivers<'a>,
    edge: &Edge<'a>,
    kind: usize,
    copy: u32,
) -> Vec<Option<Partner<'a>>> {
    let Some((sends, channel)) = rendezvous(cx, edge, kind, copy) else { return vec![None] };
    let others = receivers.get(&channel).into_iter().flatten().filter(|_| sends);
    others.filter(|other| (other.kind, other.copy) != (kind, copy)).cloned().map(Some).collect()
}

/// Whether a step sends (or else receives) at a rendezvous, and which channel that is.
pub(super) fn rendezvous<'a>(cx: &mut Context<'a>, edge: &Edge<'a>, kind: usize, copy: u32) -> Option<(bool, VarId)> {
    if cx.channels.iter().all(|channel| channel.capacity > 0) {
        return None;
    }
    let mut found: Option<(bool, VarId, birk_ir::Span)> = None;
    for part in &edge.parts {
        let What::Do(action) = part.what else { continue };
        let (sends, channel) = match &action.kind {
            ActionKind::Send(channel, _) => (true, channel),
            ActionKind::Receive(channel, ..) => (false, channel),
            _ => continue,
        };
        let reported = cx.diagnostics.len();
        let mut elaborator = Elaborator::new(cx, Some((kind, copy)));
        elaborator.enter(&part.scope);
        let path = elaborator.path(channel);
        // Whatever is wrong with it is said when the step is lowered.
        cx.diagnostics.truncate(reported);
        if let Resolved::Variable(indexed) = path
            && let Ty::Channel(index) = indexed.scalar.ty
            && cx.channels[index].capacity == 0
        {
            if let Some((_, _, first)) = found {
                let message = "a second rendezvous in one step";
                let help = "the partner of each would have to take part in the step: make two steps of it";
                let diagnostic = Diagnostic::new("E0054", action.span, message, "only one is possible").help(help);
                let diagnostic = diagnostic.related(first, "the first");
                let is_split = cx.text(action.span).is_some_and(|text| edit::are_atomic(text, first, action.span));
                cx.report(match is_split {
                    true => diagnostic.propose(edit::before(action.span), "} atomic { "),
                    false => diagnostic,
                });
                break;
            }
            found = Some((sends, indexed.leaves[0], action.span));
        }
    }
    found.map(|(sends, channel, _)| (sends, channel))
}

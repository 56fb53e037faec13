//! Transitions as the model writes them: a transformation that was lowered to several, one for each instance of a thread and
//! each way through it, is named once, with its line.

use std::collections::BTreeSet;

use birk_ir::{Span, ThreadId, Transition, TransitionId};

use crate::report::Report;

/// What several transitions have in common: the kind of thread, and where they are written.
struct Written {
    kind: usize,
    /// One of them.
    first: TransitionId,
    /// The instances of the thread whose transitions are meant.
    copies: BTreeSet<u32>,
    ways: usize,
}

/// A line of the model, in a list of those of a thread.
pub(crate) struct Line {
    /// The kind of thread.
    pub(crate) kind: usize,
    pub(crate) line: usize,
    /// `idle`, `idle (instances 0, 2; 1 of 2 ways)`
    pub(crate) text: String,
}

impl Report<'_> {
    /// The names of transitions, in their order: `Client.idle (line 12)`, `Client[0,2].idle (line 12)` where only some
    /// instances are meant, with `1 of 2 ways` where the others through the same text are not.
    pub(crate) fn written(&self, ids: &[TransitionId]) -> Vec<(TransitionId, String)> {
        self.grouped(ids).iter().map(|one| (one.first, self.name(one))).collect()
    }

    /// Where transitions are written.
    pub(crate) fn lines(&self, ids: &[TransitionId]) -> Vec<(TransitionId, Line)> {
        let line = |one: &Written| {
            let transition = self.program.transition(one.first);
            let location = self.program.location_text(transition.thread, Some(transition.location));
            let (line, _) = self.source.position(transition.span);
            (one.first, self.line(one.kind, line, location, &one.copies, self.ways(one)))
        };
        self.grouped(ids).iter().map(line).collect()
    }

    /// Where the locations are that were not entered, by no instance or by some of them.
    pub(crate) fn missed_locations(&self) -> Vec<Line> {
        if self.hunt.fired.is_empty() {
            return Vec::new();
        }
        let (program, entered) = (self.program, self.entered());
        let mut found = Vec::new();
        for (number, kind) in program.kinds.iter().enumerate().filter(|(number, _)| !self.is_listed_before(*number)) {
            for (at, location) in kind.locations.iter().enumerate() {
                let of_kind =
                    (0..program.threads.len()).map(ThreadId::new).filter(|&id| program.thread(id).kind == number);
                let missed = of_kind.filter(|id| !entered[id.index()][at]).map(|id| program.thread(id).copy);
                let copies: BTreeSet<u32> = missed.collect();
                if !copies.is_empty() {
                    let (line, _) = self.source.position(location.span);
                    found.push(self.line(number, line, &location.name, &copies, None));
                }
            }
        }
        found
    }

    fn line(&self, kind: usize, line: usize, what: &str, copies: &BTreeSet<u32>, ways: Option<String>) -> Line {
        let instances = self.program.kinds[kind].copies as usize;
        let numbers: Vec<String> = copies.iter().map(ToString::to_string).collect();
        let only = (numbers.len() < instances).then(|| {
            let noun = if numbers.len() == 1 { "instance" } else { "instances" };
            format!("{noun} {}", numbers.join(", "))
        });
        let notes: Vec<String> = only.into_iter().chain(ways).collect();
        let notes = if notes.is_empty() { String::new() } else { format!(" ({})", notes.join("; ")) };
        Line { kind, line, text: format!("{what}{notes}") }
    }

    fn grouped(&self, ids: &[TransitionId]) -> Vec<Written> {
        let mut all: Vec<Written> = Vec::new();
        for &id in ids {
            let (place, kind, copy) = self.place(id);
            match all.iter_mut().find(|one| one.kind == kind && self.place(one.first).0 == place) {
                Some(one) => {
                    one.copies.insert(copy);
                    one.ways += 1;
                }
                None => all.push(Written { kind, first: id, copies: BTreeSet::from([copy]), ways: 1 }),
            }
        }
        all
    }

    fn name(&self, written: &Written) -> String {
        let (program, transition) = (self.program, self.program.transition(written.first));
        let kind = &program.kinds[written.kind];
        let instances = program.threads.iter().filter(|thread| thread.kind == written.kind).count();
        let copies: Vec<String> = written.copies.iter().map(ToString::to_string).collect();
        let which = if copies.len() < instances { format!("[{}]", copies.join(",")) } else { String::new() };
        let location = program.location_text(transition.thread, Some(transition.location));
        let line = self.source.position(transition.span).0;
        // Locations without a name are called after their line.
        let is_named = location != format!("line {line}");
        let line = if is_named { Some(format!("line {line}")) } else { None };
        let notes: Vec<String> = line.into_iter().chain(self.ways(written)).collect();
        let notes = if notes.is_empty() { String::new() } else { format!(" ({})", notes.join(", ")) };
        format!("{}{which}.{location}{notes}", kind.name)
    }

    /// How many of the ways through the text are meant, unless all are.
    fn ways(&self, written: &Written) -> Option<String> {
        let place = self.place(written.first).0;
        let is_meant = |id: &usize| {
            let (other, kind, copy) = self.place(TransitionId::new(*id));
            (other, kind) == (place, written.kind) && written.copies.contains(&copy)
        };
        let all = (0..self.program.transitions.len()).filter(is_meant).count();
        let copies = written.copies.len();
        let is_even = written.ways.is_multiple_of(copies) && all.is_multiple_of(copies);
        let each = if is_even { copies } else { 1 };
        (written.ways < all).then(|| format!("{} of {} ways", written.ways / each, all / each))
    }

    /// Where a transition is written, the kind of its thread, and which instance it is.
    fn place(&self, id: TransitionId) -> ((u32, Span), usize, u32) {
        let transition: &Transition = self.program.transition(id);
        let thread = self.program.thread(transition.thread);
        ((transition.location.0, transition.span), thread.kind, thread.copy)
    }
}

//! Which steps commute: what the partial-order reduction knows of a model.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use birk_exec::Specialised;
use birk_exec::reduction::{Conflict, Independence, touched};
use birk_ir::{Program, Transition, TransitionId, VarRole};

use crate::numbers::count;
use crate::source::Source;

/// The text of a step is cut off after so many characters.
const LONGEST: usize = 80;

/// The steps of two threads that do not commute, by where they are written.
struct Dependent {
    pairs: u64,
    /// Of the first pair.
    example: (TransitionId, TransitionId, Independence),
}

#[derive(Default)]
struct Found {
    apart: u64,
    exclusive: u64,
    proved: u64,
    /// By the places of both in the source.
    dependent: BTreeMap<(Place, Place), Dependent>,
}

/// Kind of thread, location, alternative.
type Place = (usize, usize, u32);

/// All pairs of steps of different threads.
pub(super) fn text(source: &Source, program: &Program) -> String {
    let specialised = Specialised::new(program);
    let mut found = Found::default();
    let place = |id: TransitionId| {
        let transition = program.transition(specialised.origins[id.index()]);
        (program.thread(transition.thread).kind, transition.location.index(), transition.ordinal)
    };
    birk::independence(&specialised.program, |one, other, known| {
        found.take((one, place(one)), (other, place(other)), known);
    });
    found.text(source, &specialised, program)
}

impl Found {
    fn take(&mut self, one: (TransitionId, Place), other: (TransitionId, Place), known: Independence) {
        match known {
            Independence::Apart => self.apart += 1,
            Independence::Exclusive => self.exclusive += 1,
            Independence::Proved => self.proved += 1,
            known => {
                let (first, second, known) =
                    if one.1 <= other.1 { (one, other, known) } else { (other, one, turned(known)) };
                let example = (first.0, second.0, known);
                self.dependent.entry((first.1, second.1)).or_insert(Dependent { pairs: 0, example }).pairs += 1;
            }
        }
    }

    fn text(&self, source: &Source, specialised: &Specialised, program: &Program) -> String {
        let dependent: u64 = self.dependent.values().map(|dependent| dependent.pairs).sum();
        let commuting = self.apart + self.exclusive + self.proved;
        let mut out = String::new();
        let _ =
            writeln!(out, "{}: {} of steps of different threads", program.system, count(commuting + dependent, "pair"));
        let _ = writeln!(
            out,
            "  {commuting} commute: {} touch nothing in common, {} are never enabled together, {} were proved to commute",
            self.apart, self.exclusive, self.proved
        );
        let _ = writeln!(out, "  {dependent} do not, or it is not known:");
        for Dependent { pairs, example: (one, other, known) } in self.dependent.values() {
            let [first, second] = [*one, *other].map(|id| step_text(source, program, specialised.origins[id.index()]));
            let _ = writeln!(out, "\n{first}\n{second}");
            let specialised = &specialised.program;
            let more = if *pairs > 1 { format!(" ({} like this)", count(*pairs, "pair")) } else { String::new() };
            let _ = match known {
                Independence::Conflict(state, how) => {
                    let how = match how {
                        Conflict::FirstDisables => "the first disables the second",
                        Conflict::SecondDisables => "the second disables the first",
                        Conflict::Fails => "whether a check fails depends on the order",
                        Conflict::Ends => "the order decides where both lead",
                    };
                    let values = values(specialised, state, [*one, *other].map(|id| specialised.transition(id)));
                    writeln!(out, "  {how}, if {values}{more}")
                }
                _ => writeln!(out, "  not known whether they commute{more}"),
            };
        }
        out
    }
}

/// A step: who takes it from where, and what is written there.
fn step_text(source: &Source, program: &Program, id: TransitionId) -> String {
    let span = program.transition(id).span;
    let (line, _) = source.position(span);
    let text = source.slice(span);
    let text =
        if text.chars().count() > LONGEST { text.chars().take(LONGEST - 1).chain(['…']).collect() } else { text };
    format!("{} (line {line}): {text}", program.transition_text(id))
}

/// The same with its transitions in the other order.
fn turned(known: Independence) -> Independence {
    match known {
        Independence::Conflict(state, Conflict::FirstDisables) => {
            Independence::Conflict(state, Conflict::SecondDisables)
        }
        Independence::Conflict(state, Conflict::SecondDisables) => {
            Independence::Conflict(state, Conflict::FirstDisables)
        }
        other => other,
    }
}

/// What two transitions read or write, besides the places of their own threads, in a state.
fn values(program: &Program, state: &[u32], transitions: [&Transition; 2]) -> String {
    let own = transitions.map(|transition| {
        let thread = program.thread(transition.thread);
        (program.kinds[thread.kind].counter, thread.copy)
    });
    let mut elements: Vec<_> = transitions
        .iter()
        .flat_map(|transition| touched(program, transition))
        .flat_map(|(variable, first, last)| (first..=last).map(move |element| (variable, element)))
        .filter(|place| !own.contains(place) && program.variable(place.0).role != VarRole::Fault)
        .collect();
    elements.sort_unstable();
    elements.dedup();
    let value = |&(variable, element): &(_, u32)| {
        let number = program.layout.slot(variable).get(state, element);
        let value = program.variable(variable).value_text(number);
        format!("{} = {value}", program.element_name(variable, element))
    };
    match elements.is_empty() {
        true => "both are enabled".to_owned(),
        false => elements.iter().map(value).collect::<Vec<_>>().join(", "),
    }
}

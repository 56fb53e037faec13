//! Which states count as one in a search for properties of states: those that differ only in names.

use birk_engine::{Hunt, Model};
use birk_exec::symmetry::{Broken, Site};
use birk_exec::{Automorphisms, Specialised, Symmetric};
use birk_ir::{Goal, Program};

use super::context::Context;
use crate::report::{SymmetryBreak, SymmetryFigures};
use crate::watch::Watch;

/// The symmetry of a program and some goals, where it was asked for and may be used.
pub(super) struct Orbits(Option<Automorphisms>);

impl Orbits {
    pub(super) fn new(context: &Context<'_>, goals: &[Goal], watch: &mut dyn Watch) -> Self {
        let mut is_asked = context.is_symmetric(watch);
        if let (true, Some(reason)) = (is_asked, context.program.interpreted_only()) {
            watch.note(&format!("symmetry was not used: {reason}"));
            is_asked = false;
        }
        let found = is_asked.then(|| Automorphisms::new(context.program, goals));
        if found.as_ref().is_some_and(Automorphisms::is_trivial) {
            watch.note("symmetry was not used: no threads were proved to be interchangeable");
        }
        Self(found)
    }

    /// What is permuted, if anything is.
    fn used(&self) -> Option<&Automorphisms> {
        self.0.as_ref().filter(|found| !found.is_trivial())
    }

    pub(super) fn is_used(&self) -> bool {
        self.used().is_some()
    }

    /// A model of which one state of each orbit is visited.
    pub(super) fn layer<'m>(&'m self, model: &'m dyn Model) -> Option<Symmetric<'m>> {
        self.used().map(|found| Symmetric::new(model, found))
    }

    /// What a hunt says of the program itself.
    pub(super) fn original(&self, program: &Program, hunt: Hunt) -> Hunt {
        let Some(found) = self.used() else { return hunt };
        let hunt = found.original(program, program, hunt);
        // What one of several interchangeable threads does, the others may do as well: nothing is told of one of them.
        Hunt { fired: Vec::new(), stats: birk_engine::Stats { cut: 0, ..hunt.stats }, ..hunt }
    }

    /// The same for a hunt in a specialised program.
    pub(super) fn of_specialised(&self, program: &Program, specialised: &Specialised, mut hunt: Hunt) -> Hunt {
        let Some(found) = self.used() else { return specialised.original(program, hunt) };
        hunt = found.original(program, &specialised.program, hunt);
        let outcomes = std::mem::take(&mut hunt.outcomes);
        Hunt { outcomes, ..specialised.original(program, hunt) }
    }

    /// What is to be told of it; the goals are those of the properties at these positions.
    pub(super) fn figures(&self, context: &Context<'_>, indices: &[usize]) -> Option<SymmetryFigures> {
        let found = self.0.as_ref()?;
        let program = context.program;
        let named = |(kind, groups): (usize, &Vec<Vec<u32>>)| {
            let name = program.kinds[kind].name.clone();
            groups.iter().map(|group| (name.clone(), group.clone())).collect::<Vec<_>>()
        };
        let told = |broken: &Broken| SymmetryBreak {
            thread: program.kinds[broken.kind].name.clone(),
            span: match broken.site {
                Site::Transition(id) => Some(program.transition(id).span),
                Site::Goal(goal) => context.properties[indices[goal]].span,
                Site::Declaration => Some(program.kinds[broken.kind].span),
            },
            why: match (broken.is_number, broken.site) {
                (true, _) => "computes with their numbers, or puts them in order",
                (false, Site::Goal(_)) => "asks about some of them",
                (false, _) => "is done by some of them, or to some of them, only",
            },
        };
        Some(SymmetryFigures {
            is_used: self.is_used(),
            is_exact: found.is_exact(),
            threads: found.threads().iter().enumerate().flat_map(named).collect(),
            broken: found.broken().iter().map(told).collect(),
        })
    }
}

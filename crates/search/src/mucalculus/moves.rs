//! The steps of a graph that modalities mean.

use birk_ir::TransitionId;

use super::graph::Graph;
use super::states::StateSet;
use birk_exec::equations::Meant;

/// The steps between states, by modality.
pub(super) struct Moves<'a> {
    pub(super) graph: &'a Graph,
    meant: &'a [Meant],
    /// For each modality of fairness: where nothing is possible that was promised.
    idle: Vec<StateSet>,
}

impl<'a> Moves<'a> {
    pub(super) fn new(graph: &'a Graph, meant: &'a [Meant]) -> Self {
        let idle = |meant: &Meant| {
            let mut idle = StateSet::new(graph.len(), false);
            if let Meant::Fair(of) = meant {
                (0..graph.len()).filter(|&state| !graph.is_possible(of, state)).for_each(|state| idle.put(state, true));
            }
            idle
        };
        Self { graph, meant, idle: meant.iter().map(idle).collect() }
    }

    /// Whether a step from a state is meant.
    pub(super) fn is_meant(&self, steps: usize, state: u32, label: Option<TransitionId>) -> bool {
        self.meant[steps].includes(label) || self.idle[steps].contains(state)
    }

    /// Where the steps that are meant lead.
    pub(super) fn successors(&self, steps: usize, state: u32) -> impl Iterator<Item = u32> + '_ {
        let taken = self.graph.forwards().of(state).filter(move |(_, label)| self.is_meant(steps, state, *label));
        taken.map(|(end, _)| end).chain(self.stays(steps, state))
    }

    /// From where they lead into a state.
    pub(super) fn predecessors(&self, steps: usize, state: u32) -> impl Iterator<Item = u32> + '_ {
        let taken = self.graph.backwards().of(state).filter(move |&(start, label)| self.is_meant(steps, start, label));
        taken.map(|(start, _)| start).chain(self.stays(steps, state))
    }

    pub(super) fn count(&self, steps: usize, state: u32) -> u32 {
        match &self.meant[steps] {
            Meant::All => self.graph.forwards().count(state),
            _ => self.successors(steps, state).count() as u32,
        }
    }

    fn stays(&self, steps: usize, state: u32) -> Option<u32> {
        (self.meant[steps].includes_staying() && self.graph.is_stuck(state)).then_some(state)
    }
}

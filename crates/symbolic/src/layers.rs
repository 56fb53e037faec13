//! Reachability by layers: the states at distance 0, 1, 2, … as one set each (Burch, Clarke, McMillan, Dill, Hwang 1990).
//!
//! The layers are kept: they give the depth of every state, and a shortest run to any of them. As in the explicit
//! search, a layer is judged to its end before the search ends at a goal, and at the depth limit the search is
//! complete if nothing new lies beyond.

use birk_ir::Stop;

use crate::diagram::{Attempt, Broken, Set};
use crate::search::{Search, Target};
use crate::value::Algebra;

/// What was explored, layer by layer.
pub(crate) struct Layers {
    pub(crate) layers: Vec<Set>,
    /// All layers together.
    pub(crate) reached: Set,
    /// The layers from which all steps were taken.
    pub(crate) expanded: Set,
    /// The nearest state for each goal.
    pub(crate) found: Vec<Option<Target>>,
    /// Depth of the last layer judged to its end.
    pub(crate) judged: Option<u32>,
}

impl Layers {
    /// The initial state.
    pub(crate) fn new(search: &Search<'_, '_>) -> Attempt<Self> {
        let initial = search.encoding.single(&search.encoding.program.initial_state())?;
        Ok(Self {
            layers: vec![initial.clone()],
            reached: initial,
            expanded: search.encoding.diagrams.no.clone(),
            found: vec![None; search.goals.len()],
            judged: None,
        })
    }

    /// Explores layer after layer, until the search is over.
    pub(crate) fn explore(&mut self, search: &mut Search<'_, '_>) -> Stop {
        loop {
            match self.layer(search) {
                Ok(()) => {}
                Err(Broken::Stopped(stop)) => return stop,
                Err(Broken::Refused(reason)) => unreachable!("everything is encoded: {reason}"),
            }
        }
    }

    /// Judges and expands the last layer. It breaks off when there is no next one.
    fn layer(&mut self, search: &mut Search<'_, '_>) -> Attempt<()> {
        let depth = self.layers.len() as u32 - 1;
        let here = self.layers[depth as usize].clone();
        let states = search.count(&here)?;
        search.arrived(depth, states);
        self.judge(search, &here, depth)?;
        self.judged = Some(depth);
        if search.ends_with(&self.found) {
            return Err(Broken::Stopped(Stop::Goal));
        }
        let diagrams = &search.encoding.diagrams;
        let mut next = diagrams.no.clone();
        for piece in &search.relation.pieces {
            next = diagrams.or(&next, &piece.image(diagrams, &here)?)?;
            search.watch.look(diagrams)?;
        }
        next = diagrams.minus(&next, &self.reached)?;
        search.watch.iterations += 1;
        self.expanded = self.reached.clone();
        diagrams.tidy();
        if next == diagrams.no {
            return Err(Broken::Stopped(Stop::Exhausted));
        }
        if depth == search.job.limits.depth {
            return Err(Broken::Stopped(Stop::Depth));
        }
        if search.watch.progress.states >= search.job.limits.states {
            return Err(Broken::Stopped(Stop::States));
        }
        self.reached = diagrams.or(&self.reached, &next)?;
        self.layers.push(next);
        Ok(())
    }

    fn judge(&mut self, search: &Search<'_, '_>, here: &Set, depth: u32) -> Attempt<()> {
        for (goal, found) in search.goals.iter().zip(&mut self.found).filter(|(_, found)| found.is_none()) {
            let hits = search.encoding.diagrams.and(here, goal)?;
            *found = search.encoding.pick(&hits).map(|state| Target { depth, state });
        }
        Ok(())
    }
}

//! Leaves out steps of a run as long as the others still lead to the goal: first all steps of a thread, then parts of the run, each half
//! as long as those before, at last single steps, until none of them can be left out alone.

use birk_ir::Step;

use super::graph::{Graph, OutOfWork};
use super::{Run, threads};

/// The positions of the steps that are needed, as far as the work suffices to find out.
pub(super) fn needed(graph: &mut Graph<'_>, run: &Run) -> Vec<usize> {
    let mut shrinking = Shrinking { graph, run, kept: (0..run.steps.len()).collect() };
    // What was left out before the work was done is superfluous all the same.
    let _ = shrinking.by_threads().and_then(|()| shrinking.by_parts());
    shrinking.kept
}

struct Shrinking<'s, 'p> {
    graph: &'s mut Graph<'p>,
    run: &'s Run,
    kept: Vec<usize>,
}

impl Shrinking<'_, '_> {
    fn by_threads(&mut self) -> Result<(), OutOfWork> {
        let program = self.graph.program;
        let thread = |step: Step| program.transition(step.transition).thread;
        for id in threads(program, &self.run.steps) {
            let others = self.kept.iter().copied().filter(|&at| thread(self.run.steps[at]) != id).collect();
            self.attempt(others)?;
        }
        Ok(())
    }

    fn by_parts(&mut self) -> Result<(), OutOfWork> {
        let mut size = self.kept.len().div_ceil(2).max(1);
        loop {
            let (mut at, mut is_shorter) = (0, false);
            while at < self.kept.len() {
                let end = (at + size).min(self.kept.len());
                let others = [&self.kept[..at], &self.kept[end..]].concat();
                match self.attempt(others)? {
                    true => is_shorter = true,
                    false => at = end,
                }
            }
            match size {
                1 if !is_shorter => return Ok(()),
                1 => {}
                _ => size = size.div_ceil(2),
            }
        }
    }

    /// Keeps only these steps if they lead to the goal, or the first of them.
    fn attempt(&mut self, others: Vec<usize>) -> Result<bool, OutOfWork> {
        if others.len() == self.kept.len() {
            return Ok(false);
        }
        let mut here = self.run.states[0];
        for (taken, &at) in others.iter().enumerate() {
            let node = self.graph.node(here)?;
            if node.is_goal {
                self.kept = others[..taken].to_vec();
                return Ok(true);
            }
            match node.steps.iter().find(|(step, _)| *step == self.run.steps[at]) {
                Some(&(_, to)) => here = to,
                None => return Ok(false),
            }
        }
        let is_there = self.graph.node(here)?.is_goal;
        if is_there {
            self.kept = others;
        }
        Ok(is_there)
    }
}

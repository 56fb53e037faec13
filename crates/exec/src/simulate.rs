//! Random runs: at each state one of the enabled transitions, without memory of what was seen.
//!
//! A run is decided by its seed alone. It says something about itself and nothing about other runs.

use std::ops::ControlFlow;

use birk_ir::{Program, Step, Trace};

use crate::random::Random;
use birk_engine::{GoalSet, Model, Successors};

/// Among what a step is drawn; a transition with several outcomes draws one of them afterwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choose {
    /// All enabled transitions alike.
    Transition,
    /// First a thread that can go on, then one of its transitions.
    Thread,
}

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunEnd {
    /// It met a goal at which it was told to end.
    Goal,
    /// No step is possible.
    Stuck,
    /// A check failed, and nobody asked about faults.
    Fault,
    /// Every way on is cut by an `assume`.
    Cut,
    /// It has as many steps as it may have.
    Steps,
}

/// One random run.
#[derive(Clone, Debug)]
pub struct Run {
    /// Its steps.
    pub trace: Trace,
    /// The goals it met.
    pub met: GoalSet,
    /// Why it ended.
    pub end: RunEnd,
}

/// What a run is like: shared by all runs of a simulation.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// Among what a step is drawn.
    pub choose: Choose,
    /// The most steps of a run.
    pub steps: usize,
    /// The goals that end a run.
    pub stop_at: GoalSet,
}

/// The run of a seed. `fired` counts how often each transition was taken.
pub fn simulate(program: &Program, model: &dyn Model, rules: &Rules, seed: u64, fired: &mut [u64]) -> Run {
    let mut random = Random::new(seed);
    let mut batch = Successors::in_parts(model.words());
    let mut steps = Vec::new();
    model.initial(&mut batch);
    let initial = random.below(batch.len());
    let mut state = batch.state(initial).to_vec();
    let trace = Trace { initial: initial as u32, ..Trace::default() };
    let mut run = Run { trace, met: GoalSet::default(), end: RunEnd::Steps };
    loop {
        let cut = batch.cut;
        steps.clear();
        let _ = batch.each_part(model, &state, |part| {
            steps.extend_from_slice(part.steps(0));
            ControlFlow::<()>::Continue(())
        });
        let is_cut = batch.cut > cut;
        let met = model.evaluate(&state, steps.is_empty() && !is_cut);
        run.met.0 |= met.0;
        let end = if met.0 & rules.stop_at.0 != 0 {
            Some(RunEnd::Goal)
        } else if model.is_fault(&state) {
            Some(RunEnd::Fault)
        } else if steps.is_empty() {
            Some(if is_cut { RunEnd::Cut } else { RunEnd::Stuck })
        } else {
            (run.trace.steps.len() == rules.steps).then_some(RunEnd::Steps)
        };
        if let Some(end) = end {
            run.end = end;
            return run;
        }
        let mut next = draw(program, &steps, rules.choose, &mut random);
        let step = steps[next];
        fired[step.transition.index()] += 1;
        run.trace.steps.push(step);
        if batch.len() < steps.len() {
            // The last part is there, and another may be wanted.
            next = batch.find(model, &state, |other, _| other == step).expect("models are deterministic");
        }
        state.copy_from_slice(batch.state(next));
    }
}

/// Draws one of the steps of a state, of which there is at least one.
pub fn draw(program: &Program, steps: &[Step], choose: Choose, random: &mut Random) -> usize {
    let mut range = 0..steps.len();
    if choose == Choose::Thread {
        range = draw_group(steps, range, random, |step| program.transition(step.transition).thread);
    }
    range = draw_group(steps, range, random, |step| step.transition);
    range.start + random.below(range.len())
}

/// Models give steps by thread and transition, so that those with one key are neighbours: draws one such group.
fn draw_group<K: PartialEq>(
    steps: &[Step],
    range: std::ops::Range<usize>,
    random: &mut Random,
    key: impl Fn(&Step) -> K,
) -> std::ops::Range<usize> {
    let groups = || steps[range.clone()].chunk_by(|a, b| key(a) == key(b));
    let wanted = random.below(groups().count());
    let start = range.start + groups().take(wanted).map(<[Step]>::len).sum::<usize>();
    let length = groups().nth(wanted).map_or(0, <[Step]>::len);
    start..start + length
}

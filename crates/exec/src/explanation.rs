//! Which steps of an execution matter to what it ends in, and which would not have been needed.
//!
//! Three questions, each answered by replaying or searching. Which steps can be left out (`shrink`: delta debugging on the schedule;
//! Zeller and Hildebrandt, "Simplifying and isolating failure-inducing input", 2002)? From which step on can it not be avoided any more
//! (`doom`)? In whose place do other steps not lead there (`detour`)? All work on the state graph around the run (`graph`), within
//! counted work. In a shortest run no step can be left out, but few of them decide.

mod detour;
mod doom;
mod graph;
mod shrink;
mod turns;

use birk_ir::{Program, Property, Step, ThreadId, Trace};

use crate::goal::goal_of;
use crate::replay::{ReplayError, Replayed, replay};
use detour::Detours;
pub use doom::{Escape, EscapeEnd};
use graph::{Graph, OutOfWork};

/// How hard to try.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effort {
    /// About so many steps are computed.
    pub work: u64,
    /// Other executions have at most so many steps, and no fewer than the run itself.
    pub steps: Option<u32>,
    /// Whether steps may be superfluous: those of a shortest run are not.
    pub shrinks: bool,
}

/// What is known of the steps of a run that ends where a property is decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// For each step, what is known of it.
    pub steps: Vec<Role>,
    /// The same for what the run begins with, where there is a choice.
    pub initial: Vec<Beginning>,
    /// The run without its superfluous steps, if there are any.
    pub shorter: Option<Trace>,
    /// The executions that were compared have at most so many steps.
    pub within: u32,
    /// After so many steps, every execution ends there. Where this is the number of steps, only the end is one.
    pub unavoidable_after: usize,
    /// How the last step before that can be replaced, so that it is avoided; nothing where that is not known or not possible.
    pub escape: Option<Escape>,
}

/// What is known of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Role {
    /// Other steps were possible in its place, and none of them leads there: these, with the states after them.
    Matters(Vec<(Step, Vec<u32>)>),
    /// This step in its place leads there, too.
    Replaceable(Step),
    /// No thread of the run could take another step.
    Forced,
    /// Every execution leads there from before this step on.
    Unavoidable,
    /// Without it, the others still lead there.
    Superfluous,
    /// The work did not suffice to find out.
    Unknown,
}

/// What is known of an element that begins with one of several values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Beginning {
    /// Its position in [`Program::choices`].
    pub choice: usize,
    /// What it begins with.
    pub value: i64,
    /// Whether it leads there only with this value; nothing where that is not known.
    pub matters: Option<bool>,
}

impl Role {
    /// Whether the step is known not to matter.
    pub fn is_minor(&self) -> bool {
        !matches!(self, Role::Matters(_) | Role::Unknown)
    }
}

impl Explanation {
    /// Whether nothing was found out.
    pub fn is_empty(&self) -> bool {
        self.steps.iter().all(|role| *role == Role::Unknown)
            && self.initial.iter().all(|beginning| beginning.matters.is_none())
            && self.unavoidable_after == self.steps.len()
    }

    /// The numbers of the steps that matter, from 1.
    pub fn decisive(&self) -> impl Iterator<Item = usize> {
        self.steps.iter().zip(1..).filter(|(role, _)| matches!(role, Role::Matters(_))).map(|(_, number)| number)
    }

    /// The numbers of the steps of which nothing is known, from 1.
    pub fn unknown(&self) -> impl Iterator<Item = usize> {
        self.steps.iter().zip(1..).filter(|(role, _)| **role == Role::Unknown).map(|(_, number)| number)
    }
}

/// Explains a run that decides a property of states; nothing for other properties. An error is a mistake in Birk.
pub fn explain_run(
    program: &Program,
    property: &Property,
    run: &Replayed,
    effort: &Effort,
) -> Result<Option<Explanation>, ReplayError> {
    let Some(goal) = goal_of(program, property) else { return Ok(None) };
    if run.loop_start.is_some() {
        return Ok(None);
    }
    let mut graph = Graph::new(program, &goal);
    let mut run = Run::new(&mut graph, run);
    // Half of the work is for leaving out, and half of the rest for what cannot be avoided; what is not needed is for the others.
    graph.give(effort.work / 2);
    if effort.shrinks {
        run.shrink(&mut graph, property)?;
    }
    let within = (run.steps.len() as u32).max(effort.steps.unwrap_or(0));
    graph.give(effort.work / 4);
    let doomed = doom::unavoidable(&mut graph, &run)?;
    graph.give(effort.work - effort.work / 2 - effort.work / 4);
    let mut search = Search { property, within, detours: Detours::new(&mut graph, &run) };
    let roles = search.roles(&run, doomed.after)?;
    let initial = search.beginnings(&run)?;
    let mut steps = vec![Role::Superfluous; run.of];
    run.kept.iter().zip(roles).for_each(|(&at, role)| steps[at] = role);
    let number = |steps: usize| steps.checked_sub(1).map_or(0, |last| run.kept[last] + 1);
    Ok(Some(Explanation {
        steps,
        initial,
        shorter: (run.kept.len() < run.of).then(|| run.trace(run.steps.len())),
        within,
        // Where nothing is known of the steps before the end, the end of the run itself is meant.
        unavoidable_after: if doomed.after == run.steps.len() { run.of } else { number(doomed.after) },
        escape: doomed.escape,
    }))
}

/// Of all executions of at most so many steps that decide a property of states, one with the fewest context switches; nothing if there is
/// none, or if the work does not suffice.
pub fn fewest_switches_within(program: &Program, property: &Property, steps: u32, work: u64) -> Option<Trace> {
    let mut graph = Graph::new(program, &goal_of(program, property)?);
    graph.give(work);
    turns::fewest(&mut graph, steps).ok().flatten()
}

/// The run that is explained: what is left of the one that was given.
struct Run {
    initial: u32,
    /// How many steps it had.
    of: usize,
    /// Which of those are left.
    kept: Vec<usize>,
    steps: Vec<Step>,
    /// The states in the graph, one more than steps.
    states: Vec<usize>,
}

impl Run {
    fn new(graph: &mut Graph<'_>, run: &Replayed) -> Self {
        Self {
            initial: run.initial,
            of: run.steps.len(),
            kept: (0..run.steps.len()).collect(),
            steps: run.steps.clone(),
            states: run.states.iter().map(|state| graph.number(state)).collect(),
        }
    }

    /// Its first steps.
    fn trace(&self, steps: usize) -> Trace {
        Trace { initial: self.initial, steps: self.steps[..steps].to_vec(), loop_start: None }
    }

    /// Leaves out what is superfluous.
    fn shrink(&mut self, graph: &mut Graph<'_>, property: &Property) -> Result<(), ReplayError> {
        let kept = shrink::needed(graph, self);
        if kept.len() == self.kept.len() {
            return Ok(());
        }
        self.steps = kept.iter().map(|&at| self.steps[at]).collect();
        self.kept = kept;
        let shorter = replay(graph.program, &self.trace(self.steps.len()))?;
        shorter.confirm(graph.program, property)?;
        self.states = shorter.states.iter().map(|state| graph.number(state)).collect();
        Ok(())
    }
}

/// Which steps could be other ones.
struct Search<'s, 'p> {
    property: &'s Property,
    within: u32,
    detours: Detours<'s, 'p>,
}

impl Search<'_, '_> {
    /// The last steps first: what is found for them shortens the search for the others.
    fn roles(&mut self, run: &Run, unavoidable_after: usize) -> Result<Vec<Role>, ReplayError> {
        let mut roles = vec![Role::Unavoidable; run.steps.len()];
        for at in (0..unavoidable_after).rev() {
            roles[at] = match self.role(run, at) {
                Ok(role) => self.replayed(run, at, role)?,
                Err(OutOfWork) => Role::Unknown,
            };
        }
        Ok(roles)
    }

    fn role(&mut self, run: &Run, at: usize) -> Result<(Role, Vec<Step>), OutOfWork> {
        let others = self.detours.others(run.states[at], run.steps[at])?;
        if others.is_empty() {
            return Ok((Role::Forced, Vec::new()));
        }
        let states: Vec<usize> = others.iter().map(|&(_, state)| state).collect();
        Ok(match self.detours.way(&states, self.within - at as u32 - 1)? {
            None => {
                let graph = &self.detours.graph;
                let shown = others.into_iter().map(|(step, state)| (step, graph.state(state).to_vec()));
                (Role::Matters(shown.collect()), Vec::new())
            }
            Some((place, rest)) => {
                let step = others[place].0;
                (Role::Replaceable(step), [&[step][..], &rest[..]].concat())
            }
        })
    }

    /// What is replaceable is so by an execution that was replayed.
    fn replayed(&mut self, run: &Run, at: usize, (role, way): (Role, Vec<Step>)) -> Result<Role, ReplayError> {
        if !matches!(role, Role::Replaceable(_)) {
            return Ok(role);
        }
        let mut trace = run.trace(at);
        trace.steps.extend(way);
        self.confirm(&trace).map(|is_confirmed| if is_confirmed { role } else { Role::Unknown })
    }

    /// Whether there is work left to replay it; it must lead where the run leads.
    fn confirm(&mut self, trace: &Trace) -> Result<bool, ReplayError> {
        if self.detours.graph.pay(trace.steps.len() as u64).is_err() {
            return Ok(false);
        }
        let program = self.detours.graph.program;
        replay(program, trace)?.confirm(program, self.property).map(|()| true)
    }

    /// A way from one of these initial states, with its position.
    fn beginning<'a>(
        &mut self,
        states: impl ExactSizeIterator<Item = &'a Vec<u32>>,
    ) -> Result<Option<(usize, Vec<Step>)>, OutOfWork> {
        self.detours.graph.pay(states.len() as u64)?;
        let starts: Vec<usize> = states.map(|state| self.detours.graph.number(state)).collect();
        self.detours.way(&starts, self.within)
    }

    fn beginnings(&mut self, run: &Run) -> Result<Vec<Beginning>, ReplayError> {
        let program = self.detours.graph.program;
        let states = if program.choices.is_empty() { Vec::new() } else { program.initial_states() };
        let mut found = Vec::new();
        for (choice, of) in program.choices.iter().enumerate() {
            let slot = program.layout.slot(of.variable);
            let value = slot.get(&states[run.initial as usize], of.element);
            let is_other = |state: &&Vec<u32>| slot.get(state, of.element) != value;
            let places: Vec<usize> = (0..states.len()).filter(|&place| is_other(&&states[place])).collect();
            let matters = match self.beginning(places.iter().map(|&place| &states[place])) {
                Err(OutOfWork) => None,
                Ok(None) => Some(true),
                Ok(Some((place, steps))) => {
                    let trace = Trace { initial: places[place] as u32, steps, loop_start: None };
                    self.confirm(&trace)?.then_some(false)
                }
            };
            found.push(Beginning { choice, value, matters });
        }
        Ok(found)
    }
}

/// The threads that take the steps of a run.
fn threads(program: &Program, steps: &[Step]) -> Vec<ThreadId> {
    let mut threads: Vec<ThreadId> = steps.iter().map(|step| program.transition(step.transition).thread).collect();
    threads.sort_unstable();
    threads.dedup();
    threads
}

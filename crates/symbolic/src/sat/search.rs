//! Bounded model checking and k-induction: one depth after the other, is there a run of that length to a goal?
//!
//! After Biere, Cimatti, Clarke and Zhu, "Symbolic Model Checking without BDDs" (1999), and Sheeran, Singh and Stålmarck, "Checking
//! Safety Properties Using Induction and a SAT-Solver" (2000). All depths share one solver, to which a step is added at a
//! time (Eén and Sörensson 2003). Beside it a second one looks at runs that begin anywhere: if no run of k + 1
//! different states without the goal leads to it, and none of up to k steps from the start does, it cannot be reached. States
//! are required to differ only where a solution has two alike.

use birk_ir::{Coverage, Expr, Goal, Outcome, Program, Stop, Trace};
use birk_search::job::Unrolled;
use birk_search::{Hunt, Job, Observer, Stats};

use super::circuit::{Circuit, Literal, Rule, Watch};
use super::unrolling::Frame;
use crate::diagram::{Attempt, Broken};
use crate::ranges::{Range, ranges};
use crate::trace::through;

#[cfg(test)]
#[path = "tests.rs"]
mod tests;

/// An attempt at an inductive proof is given up after so many conflicts, to be made again a step further.
const MOST_CONFLICTS: i32 = 20_000;

/// Hunts the goals; a program that cannot be encoded is refused with the reason.
pub(crate) fn hunt(program: &Program, goals: &[Goal], job: &Job, observer: &mut dyn Observer) -> Result<Hunt, String> {
    watched(program, goals, job, &Watch::new(observer))
}

fn watched<'o>(program: &Program, goals: &[Goal], job: &Job, watch: &'o Watch<'o>) -> Result<Hunt, String> {
    let (base, step) = (Circuit::new(watch), Circuit::new(watch));
    let ranges = ranges(program).variables;
    let goals: Vec<&Expr> = goals.iter().map(|Goal::BadState(bad)| bad).collect();
    let mut search = Search {
        program,
        job,
        watch,
        base: Unrolling::new(&base, Frame::initial(&base, program, &ranges)),
        step: None,
        answers: vec![Answer::Open; goals.len()],
        goals,
        covered: None,
        proved_at: None,
    };
    match search.run(&step, &ranges) {
        Ok(stopped) | Err(Broken::Stopped(stopped)) => Ok(search.finish(stopped)),
        Err(Broken::Refused(reason)) => Err(reason),
        Err(Broken::Undecided(_)) => unreachable!("a frame never asks for the value of a bit"),
    }
}

/// What is known of a goal.
#[derive(Clone)]
enum Answer {
    Open,
    Found(Trace),
    /// It cannot be reached.
    Proved,
}

struct Search<'s, 'o, 'p> {
    program: &'p Program,
    job: &'s Job,
    watch: &'s Watch<'o>,
    goals: Vec<&'s Expr>,
    /// Runs from the initial state.
    base: Unrolling<'s, 'o, 'p>,
    /// Runs from any state, once they are asked for.
    step: Option<Unrolling<'s, 'o, 'p>>,
    answers: Vec<Answer>,
    /// Up to which depth no open goal is satisfied.
    covered: Option<u32>,
    /// The number of steps of the last inductive proof; none where runs come to an end.
    proved_at: Option<u32>,
}

/// Frames, one step apart.
struct Unrolling<'s, 'o, 'p> {
    circuit: &'s Circuit<'o>,
    frames: Vec<Frame<'s, 'o, 'p>>,
}

impl<'s, 'o, 'p> Unrolling<'s, 'o, 'p> {
    fn new(circuit: &'s Circuit<'o>, first: Frame<'s, 'o, 'p>) -> Self {
        Self { circuit, frames: vec![first] }
    }

    fn last(&self) -> &Frame<'s, 'o, 'p> {
        self.frames.last().expect("there is a first frame")
    }

    fn extend(&mut self) -> Attempt<()> {
        let next = self.last().next()?;
        self.frames.push(next);
        Ok(())
    }

    fn states(&self) -> Vec<Vec<u32>> {
        self.frames.iter().map(Frame::state).collect()
    }
}

impl<'s, 'o, 'p> Search<'s, 'o, 'p> {
    fn run(&mut self, any: &'s Circuit<'o>, ranges: &'s [Range]) -> Attempt<Stop> {
        for depth in 0.. {
            self.watch.depth.set(depth);
            self.look()?;
            for goal in self.open() {
                self.reach(goal)?;
            }
            self.covered = Some(depth);
            if self.ends() {
                return Ok(Stop::Goal);
            }
            self.base.extend()?;
            if self.base.circuit.solve(&[], None)? == Some(false) {
                self.proved_at = None;
                return Ok(Stop::Exhausted);
            }
            if depth == 0 {
                self.step = Some(Unrolling::new(any, Frame::any(any, self.program, ranges)?));
            }
            self.prove(depth)?;
            if self.open().is_empty() && !self.goals.is_empty() {
                let is_found = self.answers.iter().any(|answer| matches!(answer, Answer::Found(_)));
                return Ok(if is_found { Stop::Goal } else { Stop::Exhausted });
            }
            if depth == self.job.limits.depth {
                return Ok(Stop::Depth);
            }
        }
        unreachable!("a depth limit has no more bits than a depth")
    }

    fn open(&self) -> Vec<usize> {
        (0..self.goals.len()).filter(|&goal| matches!(self.answers[goal], Answer::Open)).collect()
    }

    /// Asks whether it shall go on.
    fn look(&mut self) -> Attempt<()> {
        let sizes = [Some(self.base.circuit), self.step.as_ref().map(|step| step.circuit)];
        let bytes = sizes.into_iter().flatten().map(Circuit::bytes).sum();
        self.watch.bytes.set(bytes);
        if bytes > self.job.limits.memory {
            return Err(Broken::Stopped(Stop::Memory));
        }
        self.watch.look()
    }

    /// Looks for a goal in the last frame.
    fn reach(&mut self, goal: usize) -> Attempt<()> {
        let here = self.base.last().goal(self.goals[goal])?;
        while self.base.circuit.solve(&[here], None)?.expect("without a limit the solver finds out") {
            let (states, claim) = (self.base.states(), self.base.last().claim());
            if !claim.map_or(Ok(false), |state| self.base.last().refute(&state))? {
                self.answers[goal] = Answer::Found(through(self.program, &states));
                return Ok(());
            }
        }
        self.base.circuit.require(&[here.negated()]);
        Ok(())
    }

    /// Whether what was found ends the search.
    fn ends(&self) -> bool {
        let is_found = |goal: usize| matches!(self.answers[goal], Answer::Found(_));
        let is_told = (0..self.goals.len()).any(|goal| self.job.stop_at.contains(goal) && is_found(goal));
        is_told || !self.goals.is_empty() && (0..self.goals.len()).all(is_found)
    }

    /// Tries to prove that open goals cannot be reached, given that none is within this depth.
    fn prove(&mut self, depth: u32) -> Attempt<()> {
        let open = self.open();
        // What is not proved soon is tried less often: it takes as long as the search itself.
        let is_time = depth < 8 || depth.is_multiple_of(8);
        let Some(step) = self.step.as_mut().filter(|_| is_time && !open.is_empty()) else { return Ok(()) };
        let steps = if self.watch.keeps(Rule::Base) { depth + 1 } else { depth + 2 };
        while step.frames.len() <= steps as usize {
            step.extend()?;
        }
        for goal in open {
            let mut assumed = vec![step.last().goal(self.goals[goal])?];
            for frame in step.frames.iter().rev().skip(1).filter(|_| self.watch.keeps(Rule::First)) {
                assumed.push(frame.goal(self.goals[goal])?.negated());
            }
            if step.has_no_solution(&assumed)? {
                self.answers[goal] = Answer::Proved;
                self.proved_at = Some(steps);
            }
        }
        Ok(())
    }

    fn finish(self, stopped: Stop) -> Hunt {
        let coverage = match (stopped, self.covered) {
            (Stop::Exhausted, _) => Coverage::Complete,
            (_, Some(depth)) => Coverage::Depth(depth),
            (_, None) => Coverage::Sampled(0),
        };
        let outcome = |answer: Answer| match answer {
            Answer::Found(trace) => Outcome::Found(trace),
            Answer::Proved => Outcome::Absent,
            Answer::Open if coverage == Coverage::Complete => Outcome::Absent,
            Answer::Open => Outcome::Inconclusive,
        };
        let outcomes = self.answers.iter().cloned().map(outcome).collect();
        let sizes = [Some(self.base.circuit), self.step.as_ref().map(|step| step.circuit)];
        let (variables, clauses) =
            sizes.into_iter().flatten().map(Circuit::size).fold((0, 0), |sum, size| (sum.0 + size.0, sum.1 + size.1));
        let unrolled = Unrolled { variables, clauses, proved_at: self.proved_at };
        let stats = Stats {
            max_depth: self.covered.unwrap_or(0),
            store_bytes: self.watch.bytes.get(),
            unrolled: Some(unrolled),
            ..Stats::default()
        };
        Hunt { outcomes, coverage, stopped, stats, fired: Vec::new() }
    }
}

impl Unrolling<'_, '_, '_> {
    /// Whether no run of different states is a solution. Where that takes too long, it is not known.
    fn has_no_solution(&self, assumed: &[Literal]) -> Attempt<bool> {
        loop {
            match self.circuit.solve(assumed, Some(MOST_CONFLICTS))? {
                Some(false) => return Ok(true),
                None => return Ok(false),
                Some(true) => {}
            }
            let (states, claim) = (self.states(), self.last().claim());
            let mut has_twins = false;
            for (later, state) in states.iter().enumerate() {
                let Some(earlier) = states[..later].iter().position(|other| other == state) else { continue };
                self.frames[later].require_other(&self.frames[earlier])?;
                has_twins = true;
            }
            let is_refuted = claim.map_or(Ok(false), |state| self.last().refute(&state))?;
            if !is_refuted && (!has_twins || !self.circuit.keeps(Rule::Different)) {
                return Ok(false);
            }
        }
    }
}

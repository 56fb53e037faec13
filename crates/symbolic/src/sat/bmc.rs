//! Bounded model checking: one depth after the other, is there a run of that length to a goal?
//!
//! After Biere, Cimatti, Clarke and Zhu, "Symbolic Model Checking without BDDs" (1999). All depths share one solver, to which
//! a step is added at a time (Eén and Sörensson 2003). After each depth `induction` tries to prove that the goals that are left
//! cannot be reached at all.

use birk_engine::{EngineStats, Hunt, Job, Observer, SatStats, Stats};
use birk_ir::interval::{Interval, reachable};
use birk_ir::{Coverage, Expr, Goal, Outcome, Program, Stop};

use super::circuit::{Circuit, Watch};
use super::unrolling::{Frame, Unrolling};
use crate::attempt::{Attempt, Broken};
use crate::trace::found;

#[cfg(test)]
mod tests;

/// Hunts the goals; a program that cannot be encoded is refused with the reason.
pub(crate) fn hunt(program: &Program, goals: &[Goal], job: &Job, observer: &mut dyn Observer) -> Result<Hunt, String> {
    if let Some(reason) = program.interpreted_only() {
        return Err(reason.to_owned());
    }
    watched(program, goals, job, &Watch::new(observer, job.limits.memory))
}

fn watched<'o>(program: &Program, goals: &[Goal], job: &Job, watch: &'o Watch<'o>) -> Result<Hunt, String> {
    let (base, step) = (Circuit::new(watch), Circuit::new(watch));
    let ranges = reachable(program).variables;
    let goals: Vec<&Expr> = goals.iter().map(|Goal::State(bad)| bad).collect();
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
pub(super) enum Answer {
    Open,
    Found(Outcome),
    /// It cannot be reached.
    Proved,
}

pub(super) struct Search<'s, 'o, 'p> {
    program: &'p Program,
    job: &'s Job,
    pub(super) watch: &'s Watch<'o>,
    pub(super) goals: Vec<&'s Expr>,
    /// Runs from the initial state.
    base: Unrolling<'s, 'o, 'p>,
    /// Runs from any state, once they are asked for.
    pub(super) step: Option<Unrolling<'s, 'o, 'p>>,
    pub(super) answers: Vec<Answer>,
    /// Up to which depth no open goal is satisfied.
    covered: Option<u32>,
    /// The number of steps of the last inductive proof; none where runs come to an end.
    pub(super) proved_at: Option<u32>,
}

impl<'s, 'o, 'p> Search<'s, 'o, 'p> {
    fn run(&mut self, any: &'s Circuit<'o>, ranges: &'s [Interval]) -> Attempt<Stop> {
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

    pub(super) fn open(&self) -> Vec<usize> {
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
            let (states, taken, claim) = (self.base.states(), self.base.taken(), self.base.last().claim());
            if !claim.map_or(Ok(false), |state| self.base.last().refute(&state))? {
                self.answers[goal] = Answer::Found(found(self.program, &states, &taken));
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

    fn finish(self, stopped: Stop) -> Hunt {
        let coverage = match (stopped, self.covered) {
            (Stop::Exhausted, _) => Coverage::Complete,
            (_, Some(depth)) => Coverage::Depth(depth),
            (_, None) => Coverage::Partial(0),
        };
        let outcome = |answer: Answer| match answer {
            Answer::Found(outcome) => outcome,
            Answer::Proved => Outcome::Absent,
            Answer::Open if coverage == Coverage::Complete => Outcome::Absent,
            Answer::Open => Outcome::Inconclusive,
        };
        let outcomes = self.answers.iter().cloned().map(outcome).collect();
        let sizes = [Some(self.base.circuit), self.step.as_ref().map(|step| step.circuit)];
        let (variables, clauses) =
            sizes.into_iter().flatten().map(Circuit::size).fold((0, 0), |sum, size| (sum.0 + size.0, sum.1 + size.1));
        let unrolled = SatStats { variables, clauses, proved_at: self.proved_at, invariants: Vec::new() };
        let stats = Stats {
            max_depth: self.covered.unwrap_or(0),
            store_bytes: self.watch.bytes.get(),
            engine: EngineStats::Sat(unrolled),
            ..Stats::default()
        };
        Hunt { outcomes, coverage, stopped, stats, fired: Vec::new() }
    }
}

//! What a check found: plain data, which knows no command line.

use std::time::Duration;

use birk_engine::{Engine, Hunt};
use birk_exec::{Effort, Explanation, ReplayError, Replayed, explain_run, fewest_switches_within, replay};
use birk_ir::{Coverage, Program, Property, Span, Step, Stop, Verdict};
use birk_search::forecast::Forecast;

use crate::error::Error;
use crate::properties::replay_failure;

/// What a check found.
#[derive(Clone, Debug)]
pub struct Report {
    /// One for each property.
    pub answers: Vec<Answer>,
    /// The traces of all answers.
    pub traces: Vec<ShownTrace>,
    /// What its searches did together; the coverage is that of the one that covered least.
    pub hunt: Hunt,
    /// How many states lie within each depth, as far as is known.
    pub forecast: Forecast,
    /// For each transition, whether an `assume` pruned one of its branches, where that was noticed.
    pub assumed: Option<Vec<bool>>,
    /// The slices, if such were visited.
    pub slices: Option<Slices>,
    /// Properties of states were searched for with a partial-order reduction: what is said of them is complete, but not every
    /// state was visited.
    pub is_reduced: bool,
    /// The variables that were reset to their initial values where they are dead: states that differ only in such values count
    /// as one.
    pub dead: Vec<String>,
    /// What was found of the symmetry of the model, where that was asked for.
    pub symmetry: Option<SymmetryFigures>,
    /// The hunt of other engines after the search, if there was one: then the answers are those of all of them, and the rest is
    /// about the search that came first.
    pub joint: Option<Joint>,
    /// The bytes of a certificate, or why there is none; where one was asked for.
    pub certificate: Option<Result<Vec<u8>, String>>,
    /// The engine that was asked for, or that a portfolio began with.
    pub engine: Engine,
    /// Threads that searched.
    pub threads: usize,
    /// Traces to states are shortest.
    pub is_shortest: bool,
}

/// The answer to one property.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The property, as it was checked.
    pub property: Property,
    /// What is known of it.
    pub verdict: Verdict,
    /// What was explored to find out; nothing where nobody looked.
    pub coverage: Option<Coverage>,
    /// Position among the traces.
    pub trace: Option<usize>,
    /// In so many steps it is reached, where the search was ended before it had the trace, or where a trace cannot number its steps.
    pub untraced: Option<u32>,
    /// Why nobody looked.
    pub reason: Option<String>,
    /// The automaton that watched the runs, for an LTL property.
    pub automaton: Option<AutomatonFigures>,
    /// The member of the portfolio whose answer it is, where it is not that of the first search.
    pub by: Option<usize>,
    /// How long after the beginning of the check a member of the portfolio found the violation; the check may have gone on for a
    /// shorter trace.
    pub after: Option<Duration>,
}

impl Answer {
    /// Nothing is known yet.
    pub fn open(property: &Property) -> Self {
        Self {
            property: property.clone(),
            verdict: Verdict::Inconclusive,
            coverage: None,
            trace: None,
            untraced: None,
            reason: None,
            automaton: None,
            by: None,
            after: None,
        }
    }

    /// How much was explored for this property; nothing where a trace decides it, whatever else there may be.
    pub fn grade(&self) -> Option<Grade> {
        let is_shown = self.trace.is_some() || self.untraced.is_some() && self.verdict == Verdict::Violated;
        (!is_shown).then(|| Grade::of(self.coverage.as_ref()))
    }
}

/// A trace that was replayed, and whose it is.
#[derive(Clone, Debug)]
pub struct ShownTrace {
    /// Position among the answers.
    pub answer: usize,
    /// The states and steps.
    pub run: Replayed,
    /// Which of the steps matter, where [`Report::explain`] was asked.
    pub explanation: Option<Explanation>,
    /// It was replaced by one with the fewest context switches of all of up to so many steps, and is not the shortest.
    pub fewest_within: Option<u32>,
}

impl ShownTrace {
    /// As it was found.
    pub fn new(answer: usize, run: Replayed) -> Self {
        Self { answer, run, explanation: None, fewest_within: None }
    }

    /// Takes one with fewer context switches in its place, if there is one of up to so many steps.
    fn prefer_few_switches(
        &mut self,
        program: &Program,
        property: &Property,
        steps: u32,
        work: u64,
    ) -> Result<(), ReplayError> {
        let thread = |step: &Step| program.transition(step.transition).thread;
        let switches = |steps: &[Step]| steps.windows(2).filter(|two| thread(&two[0]) != thread(&two[1])).count();
        let known = switches(&self.run.steps);
        let found = fewest_switches_within(program, property, steps, work);
        if let Some(trace) = found.filter(|trace| switches(&trace.steps) < known) {
            let run = replay(program, &trace)?;
            run.confirm(program, property)?;
            self.fewest_within = (run.steps.len() > self.run.steps.len()).then_some(steps);
            self.run = run;
        }
        Ok(())
    }
}

/// The automaton of an LTL property, and the product with it.
#[derive(Clone, Debug)]
pub struct AutomatonFigures {
    /// States of the automaton.
    pub automaton: usize,
    /// Which cycles count: `terminal`, `weak` or `general`.
    pub strength: &'static str,
    /// No run is accepted more often than so many times, where that was proved; the product was not searched then.
    pub bound: Option<u32>,
    /// States of the product that were visited.
    pub states: u64,
    /// Its steps.
    pub transitions: u64,
    /// No lasso of the product is shorter than the one that was found.
    pub is_shortest: bool,
    /// How long that took.
    pub seconds: f64,
}

/// What was found of the symmetry of a model.
#[derive(Clone, Debug, Default)]
pub struct SymmetryFigures {
    /// The search visited one state of each orbit: what is said of properties of states is complete, but the states that are
    /// counted are representatives.
    pub is_used: bool,
    /// No orbit has more than one representative.
    pub is_exact: bool,
    /// The instances of threads that are interchangeable, by the name of the thread and their numbers.
    pub threads: Vec<(String, Vec<u32>)>,
    /// Why others are not.
    pub broken: Vec<SymmetryBreak>,
}

/// Why the instances of a thread are not all interchangeable.
#[derive(Clone, Debug)]
pub struct SymmetryBreak {
    /// The thread.
    pub thread: String,
    /// What tells them apart: a step, or a property.
    pub span: Option<Span>,
    /// What it does, in words.
    pub why: &'static str,
}

/// What the members of a portfolio did.
#[derive(Clone, Debug)]
pub struct Joint {
    /// All of them, also those that had no turn.
    pub members: Vec<MemberFigures>,
    /// How long they hunted.
    pub seconds: f64,
}

/// What one member of a portfolio did.
#[derive(Clone, Debug, Default)]
pub struct MemberFigures {
    /// What it is called.
    pub name: &'static str,
    /// What to write after `birk check MODEL` to search as in its last turn.
    pub words: String,
    /// How many turns it had.
    pub turns: u32,
    /// How long they took.
    pub seconds: f64,
    /// States of all its turns, those that several have counted several times.
    pub states: u64,
    /// The largest depth.
    pub depth: u32,
    /// The positions of the answers that it decided.
    pub decided: Vec<usize>,
    /// Why it left.
    pub reason: Option<String>,
    /// With what the next run goes on.
    pub pace: Pace,
}

/// How far one member of a portfolio has come, in this run and in those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    /// How many turns it had: each draws something else.
    pub turns: u32,
    /// How often the next turn is doubled.
    pub doublings: u32,
    /// The width with which the next turn begins, where it widens.
    pub width: usize,
}

impl Default for Pace {
    fn default() -> Self {
        Self { turns: 0, doublings: 0, width: 1 }
    }
}

/// What slices were visited.
#[derive(Clone, Debug)]
pub struct Slices {
    /// How many were asked for; none where the budget says when to end.
    pub asked: Option<u64>,
    /// How many there were.
    pub done: u64,
    /// Width of the last one.
    pub width: usize,
    /// Each was twice as wide as the one before.
    pub is_doubling: bool,
    /// The run that found a violation: its number from 1 on, its seed and its width.
    pub found_in: Option<(u64, u64, usize)>,
    /// States of all of them, those that several have counted several times.
    pub visits: u64,
    /// How many different states they have together, roughly where there are several.
    pub union: u64,
    /// What fruitless runs of one width rule out: the confidence, and how often such a run would have to find something.
    pub ruled_out: Option<(f64, f64)>,
}

/// The coverage that counts as a success.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Accept {
    /// Only a complete search.
    Complete,
    /// Everything but what may have been lost to hashing.
    Hashed,
    /// Everything up to this depth.
    Depth(u32),
    /// Anything without a violation.
    Partial,
}

/// How much was explored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Grade {
    /// Everything.
    A,
    /// Everything up to a depth.
    B,
    /// As A or B, but for what hashing may have lost.
    C,
    /// Some states.
    D,
    /// Nothing.
    E,
}

impl Grade {
    /// Of what was covered; nothing was checked where there is nothing.
    pub fn of(coverage: Option<&Coverage>) -> Self {
        match coverage {
            Some(Coverage::Complete) => Grade::A,
            Some(Coverage::Depth(_)) => Grade::B,
            Some(Coverage::Hashed { .. }) => Grade::C,
            Some(Coverage::Partial(_)) => Grade::D,
            None => Grade::E,
        }
    }

    /// The letter in reports.
    pub fn letter(self) -> &'static str {
        match self {
            Grade::A => "A",
            Grade::B => "B",
            Grade::C => "C",
            Grade::D => "D",
            Grade::E => "E",
        }
    }
}

impl Report {
    /// Finds out which steps of its counterexamples matter, and with `steps` also of its witnesses: among executions of so many steps,
    /// or as many as the trace has. All of them share the work, which is counted, so that the answers are always the same.
    pub fn explain(&mut self, program: &Program, work: u64, steps: Option<u32>) -> Result<(), Error> {
        let is_asked = |answer: &Answer| answer.verdict == Verdict::Violated || steps.is_some();
        let asked = self.traces.iter().filter(|trace| is_asked(&self.answers[trace.answer])).count();
        for trace in &mut self.traces {
            let answer = &self.answers[trace.answer];
            if is_asked(answer) {
                let (property, work) = (&answer.property, work / asked as u64);
                let failed = |error: ReplayError| replay_failure(property, &error);
                if let Some(steps) = steps.filter(|&steps| steps as usize > trace.run.steps.len()) {
                    trace.prefer_few_switches(program, property, steps, work).map_err(failed)?;
                }
                let shrinks = !self.is_shortest || answer.by.is_some() || trace.fewest_within.is_some();
                let effort = Effort { work, steps, shrinks };
                trace.explanation = explain_run(program, property, &trace.run, &effort).map_err(failed)?;
            }
        }
        Ok(())
    }

    /// The worst of all answers.
    pub fn verdict(&self) -> Verdict {
        self.answers.iter().map(|answer| answer.verdict).max().unwrap_or(Verdict::Holds)
    }

    /// The trace to show first: of the first violation, otherwise the first there is.
    pub fn first_trace(&self) -> Option<&ShownTrace> {
        let violated = self.answers.iter().find(|answer| answer.verdict == Verdict::Violated && answer.trace.is_some());
        let index = violated.or(self.answers.iter().find(|answer| answer.trace.is_some()))?.trace?;
        self.traces.get(index)
    }

    /// The property that a trace is for.
    pub fn property_of(&self, trace: &ShownTrace) -> &Property {
        &self.answers[trace.answer].property
    }

    /// The grade of the whole: that of the search, unless some property was not checked.
    pub fn grade(&self) -> Grade {
        let is_checked = self.answers.iter().all(|answer| answer.coverage.is_some());
        let of_search = Grade::of(Some(&self.hunt.coverage).filter(|_| is_checked));
        // What only others looked at counts as they did.
        let of_others = self.answers.iter().filter(|answer| answer.by.is_some()).filter_map(Answer::grade).max();
        of_others.map_or(of_search, |of_others| of_others.max(of_search))
    }

    /// Whether a search that could not decide was as thorough as was asked for. What was not checked is not.
    pub fn is_accepted(&self, accept: Accept) -> bool {
        let thorough = match (accept, &self.hunt.coverage) {
            (Accept::Partial, _) => true,
            (Accept::Hashed, Coverage::Hashed { depth: None, .. }) => true,
            (Accept::Depth(wanted), Coverage::Depth(depth)) => *depth >= wanted,
            _ => false,
        };
        let is_asked = self.answers.iter().all(|answer| answer.coverage.is_some());
        thorough && self.verdict() == Verdict::Inconclusive && is_asked
    }

    /// Whether only LTL properties were checked, and of the whole model: then states that no violating run can visit were not
    /// explored.
    pub fn is_of_runs(&self) -> bool {
        let is_of_runs = !self.answers.is_empty() && self.answers.iter().all(|answer| answer.property.is_of_runs());
        is_of_runs && self.slices.is_none()
    }

    /// Whether the states that are counted are representatives of orbits.
    pub fn is_of_orbits(&self) -> bool {
        self.symmetry.as_ref().is_some_and(|symmetry| symmetry.is_used)
    }

    /// Whether every state counts that a search reaches, and each of them: neither steps nor states stand for others.
    pub fn is_of_all_states(&self) -> bool {
        !self.is_reduced && !self.is_of_orbits()
    }

    /// Whether it was ended from outside.
    pub fn is_interrupted(&self) -> bool {
        self.hunt.stopped == Stop::Interrupt
    }
}

//! Properties about the branching of runs: `ctl` and `mu`. They are decided together, on one graph of all states, or on
//! sets of states.

use std::ops::ControlFlow;
use std::time::Instant;

use birk_exec::replay::Shows;
use birk_exec::{GoalSet, Replayed, fair, replay};
use birk_ir::{Branching, Coverage, Expr, Goal, Outcome, Program, Property, PropertyKind, Steps, Stop, Trace, Verdict};
use birk_jit::Staged;
use birk_search::branching::{Graph, Needs, Truth, bytes_per_state, decide};
use birk_search::highway::Slice;
use birk_search::{Hunt, Job, Limits, Observer, Progress};
use birk_symbolic::SymbolicDecision;

use super::runs::fairness;
use super::{impostor, note_refusal};
use crate::Failure;
use crate::cli::CheckArgs;
use crate::engines::engine;
use crate::limits::at_once;
use crate::progress::Watcher;

/// Properties whose conditions one graph can hold.
pub(super) struct Group<'p> {
    /// Each with its position among the properties asked for.
    properties: Vec<(usize, &'p Property, &'p Branching)>,
    propositions: Vec<Expr>,
}

/// What became of a group.
pub(super) struct Decided {
    pub(super) hunt: Hunt,
    /// By the position of the property.
    pub(super) answers: Vec<(usize, Answered)>,
}

impl Decided {
    /// Whether a property is violated.
    pub(super) fn is_violated(&self) -> bool {
        self.answers.iter().any(|(_, answer)| answer.verdict == Verdict::Violated)
    }

    /// What two slices tell together: of each property what the first tells that tells something.
    pub(super) fn joined(mut self, next: Decided, hunts: impl FnOnce(Hunt, Hunt) -> Hunt) -> Decided {
        for (index, answer) in next.answers {
            match self.answers.iter_mut().find(|(known, _)| *known == index) {
                Some((_, known)) if known.verdict == Verdict::Inconclusive => *known = answer,
                Some(_) => {}
                None => self.answers.push((index, answer)),
            }
        }
        Decided { hunt: hunts(self.hunt, next.hunt), answers: self.answers }
    }
}

/// What became of one property.
pub(super) struct Answered {
    pub(super) verdict: Verdict,
    /// Why nobody looked.
    pub(super) reason: Option<String>,
    pub(super) run: Option<Replayed>,
}

/// Where fairness is asked for, `ctl` properties are about fair runs only.
pub(super) fn make_fair(program: &mut Program, args: &CheckArgs) -> Result<(), Failure> {
    if !program.properties.iter().any(|property| matches!(property.kind, PropertyKind::Ctl(_))) {
        return Ok(());
    }
    let Some(fairness) = fairness(program, args)? else { return Ok(()) };
    let goes_on = fair::goes_on(program);
    for property in &mut program.properties {
        if let PropertyKind::Ctl(formula) = &mut property.kind {
            *formula = fairness.ctl(formula, goes_on).ok_or_else(|| {
                Failure::usage(format!("--fairness weak is about runs, and `{}` is not only about runs", property.name))
            })?;
        }
    }
    Ok(())
}

/// Properties for which fairness has no meaning, or of which too little is known.
pub(super) fn reconcile(args: &CheckArgs, properties: &[&Property]) -> Result<(), Failure> {
    if let Some(property) = properties.iter().find(|property| matches!(property.kind, PropertyKind::Mu(_))) {
        return Err(Failure::usage(format!(
            "--fairness weak is about runs, and `{}` is `mu`, which is about steps; choose others with --property",
            property.name
        )));
    }
    let in_slice = engine(&args.search).is_some_and(|engine| engine.slices);
    let ctl = properties.iter().find(|property| property.branching().is_some());
    match ctl.filter(|_| in_slice) {
        Some(property) => Err(Failure::usage(format!(
            "--fairness weak needs to know of `{}` what could have been done instead, and --search {} leaves that out; \
             use --search bfs or --search bdd, or choose others with --property",
            property.name, args.search
        ))),
        None => Ok(()),
    }
}

impl<'p> Group<'p> {
    /// All properties about branching, in as few groups as their conditions need.
    pub(super) fn all(properties: &[&'p Property]) -> Vec<Self> {
        let mut groups: Vec<Self> = Vec::new();
        let asked =
            properties.iter().enumerate().filter_map(|(i, property)| Some((i, *property, property.branching()?)));
        for (index, property, formula) in asked {
            let mut alone = Vec::new();
            formula.add_propositions(&mut alone);
            if let Some(group) = groups.last_mut() {
                let mut together = group.propositions.clone();
                formula.add_propositions(&mut together);
                if together.len() <= GoalSet::CAPACITY {
                    group.properties.push((index, property, formula));
                    group.propositions = together;
                    continue;
                }
            }
            groups.push(Self { properties: vec![(index, property, formula)], propositions: alone });
        }
        groups
    }

    /// The conditions of its properties, as goals of a model.
    pub(super) fn goals(&self) -> Vec<Goal> {
        self.propositions.iter().map(|expr| Goal::BadState(expr.clone())).collect()
    }

    /// Decides the properties, up to the first that is violated: on sets of states where the engine has those, and
    /// otherwise on the graph of all states.
    pub(super) fn decide(
        &self,
        program: &Program,
        args: &CheckArgs,
        limits: Limits,
        watcher: &mut Watcher,
    ) -> Result<Decided, Failure> {
        watcher.begin();
        if let Some(decision) = birk_symbolic::decision(&args.search) {
            return self.decide_on_sets(decision, program, args, limits, watcher);
        }
        let goals = self.goals();
        if goals.len() > GoalSet::CAPACITY {
            return Ok(self.refused(program, goals.len()));
        }
        let model = Staged::new(program, &goals);
        let mut early = Early::new(watcher, self.can_tell_of_part());
        let (graph, hunt) = Graph::explore(&model, self.needs(), &limits, &mut early);
        note_refusal(&model, watcher);
        self.decide_on(program, args, &model, graph, hunt, watcher)
    }

    /// The same in a slice, which a hunt visited; the model judges by the conditions of the group.
    pub(super) fn decide_in(
        &self,
        program: &Program,
        args: &CheckArgs,
        model: &Staged<'_>,
        (slice, hunt): (&Slice, &Hunt),
        limits: Limits,
        observer: &mut dyn Observer,
    ) -> Result<Decided, Failure> {
        if self.propositions.len() > GoalSet::CAPACITY {
            return Ok(self.refused(program, self.propositions.len()));
        }
        let memory = limits.memory.saturating_sub(hunt.stats.store_bytes);
        let rest = Limits { depth: u32::MAX, states: u64::MAX, memory, ..limits };
        let (mut graph, of_slice) = Graph::explore(&slice.of(model), self.needs(), &rest, observer);
        if !slice.is_complete() {
            graph.is_of_part();
        }
        let stopped = if hunt.stopped == Stop::Exhausted { of_slice.stopped } else { hunt.stopped };
        let coverage = if graph.is_complete() { hunt.coverage.clone() } else { Coverage::Sampled(hunt.stats.states) };
        let hunt = Hunt { stopped, coverage, ..hunt.clone() };
        self.decide_on(program, args, model, graph, hunt, observer)
    }

    fn decide_on(
        &self,
        program: &Program,
        args: &CheckArgs,
        model: &Staged<'_>,
        mut graph: Graph,
        mut hunt: Hunt,
        observer: &mut dyn Observer,
    ) -> Result<Decided, Failure> {
        let mut answers = Vec::new();
        for &(index, property, formula) in &self.properties {
            let truth = match hunt.stopped {
                Stop::Interrupt => ControlFlow::Break(Stop::Interrupt),
                _ if graph.is_empty() => ControlFlow::Continue(Truth::Open),
                _ => decide(formula, &self.propositions, &mut graph, model, observer),
            };
            let answered = match truth {
                ControlFlow::Break(stop) => {
                    hunt.stopped = stop;
                    if hunt.coverage == Coverage::Complete {
                        hunt.coverage = Coverage::Sampled(hunt.stats.states);
                    }
                    answered(property, &Outcome::Inconclusive)
                }
                ControlFlow::Continue(Truth::Open) if formula.is_existential() || formula.is_universal() => {
                    answered(property, &Outcome::Inconclusive)
                }
                ControlFlow::Continue(Truth::Open) => {
                    Answered { reason: Some(NEEDS_ALL.to_owned()), ..answered(property, &Outcome::Inconclusive) }
                }
                ControlFlow::Continue(Truth::Known(is_true, trace)) if is_true == property.wants_goal() => {
                    let run = confirmed(program, property, formula, &trace, is_true)?;
                    Answered { run: Some(run), ..answered(property, &Outcome::Found(trace)) }
                }
                ControlFlow::Continue(Truth::Known(..)) => answered(property, &Outcome::Absent),
            };
            let ends = answered.verdict == Verdict::Violated && !args.keep_going;
            answers.push((index, answered));
            if ends {
                break;
            }
        }
        Ok(Decided { hunt, answers })
    }

    fn decide_on_sets(
        &self,
        decision: SymbolicDecision,
        program: &Program,
        args: &CheckArgs,
        limits: Limits,
        watcher: &mut Watcher,
    ) -> Result<Decided, Failure> {
        // What a run can show is looked for: that the formula is true, or that it is not.
        let sought = self.properties.iter().map(|(_, property, formula)| match property.wants_goal() {
            true => (*formula).clone(),
            false => formula.dual(),
        });
        let sought: Vec<Branching> = sought.collect();
        let mut stop_at = GoalSet::default();
        for (number, (_, property, _)) in self.properties.iter().enumerate() {
            if !args.keep_going && !property.wants_goal() && number < GoalSet::CAPACITY {
                stop_at.insert(number);
            }
        }
        let refused = |reason| Failure::usage(format!("--search {} cannot be used here: {reason}", args.search));
        let beside = birk_symbolic::address_space(&args.search);
        let limits = Limits { memory: at_once(limits.memory, beside).map_err(refused)?, ..limits };
        let job = Job { goals: sought.len(), stop_at, keep_going: args.keep_going, limits };
        let hunt = decision(program, &sought, &job, watcher).map_err(refused)?;
        let mut answers = Vec::new();
        for ((&(index, property, formula), outcome), sought) in self.properties.iter().zip(&hunt.outcomes).zip(&sought)
        {
            let mut answer = answered(property, outcome);
            if let Outcome::Found(trace) = outcome {
                answer.run = Some(confirmed(program, property, formula, trace, property.wants_goal())?);
            }
            if hunt.coverage != Coverage::Complete && !sought.is_existential() && *outcome == Outcome::Inconclusive {
                answer.reason = Some(NEEDS_ALL.to_owned());
            }
            let ends = answer.verdict == Verdict::Violated && !args.keep_going;
            answers.push((index, answer));
            if ends {
                break;
            }
        }
        Ok(Decided { hunt, answers })
    }

    /// Whether a part of the graph can be enough for one of its properties.
    fn can_tell_of_part(&self) -> bool {
        self.properties.iter().any(|(.., formula)| formula.is_existential() || formula.is_universal())
    }

    /// What the graph must have.
    fn needs(&self) -> Needs {
        let has_labels = |formula: &Branching| {
            let mut found = false;
            formula.walk(&mut |part| {
                let (Branching::Some(steps, _) | Branching::Every(steps, _)) = part else { return };
                found |= matches!(steps, Steps::Of(_) | Steps::Fair(_));
            });
            found
        };
        let spare = self.properties.iter().map(|(.., formula)| bytes_per_state(formula, &self.propositions)).max();
        Needs {
            propositions: self.propositions.len(),
            labels: self.properties.iter().any(|(.., formula)| has_labels(formula)),
            spare: spare.unwrap_or(0),
        }
    }

    /// More conditions than a graph can hold.
    fn refused(&self, program: &Program, conditions: usize) -> Decided {
        let reason = format!("{conditions} different conditions; {} are possible", GoalSet::CAPACITY);
        let answers = self.properties.iter().map(|&(index, property, _)| {
            (index, Answered { reason: Some(reason.clone()), ..answered(property, &Outcome::Inconclusive) })
        });
        let hunt = Hunt {
            outcomes: Vec::new(),
            coverage: Coverage::Complete,
            stopped: Stop::Exhausted,
            stats: birk_search::Stats::default(),
            fired: vec![false; program.transitions.len()],
        };
        Decided { hunt, answers: answers.collect() }
    }
}

/// Why a formula that is not only about what can happen stays open in a part of the graph.
const NEEDS_ALL: &str = "it needs all states, and some were not looked at";

/// The run for a formula, walked again; it must not show the opposite.
fn confirmed(
    program: &Program,
    property: &Property,
    formula: &Branching,
    trace: &Trace,
    is_true: bool,
) -> Result<Replayed, Failure> {
    let run = replay(program, trace).map_err(|error| impostor(property, &error))?;
    if run.loop_start.is_some() {
        run.closes(program).map_err(|error| impostor(property, &error))?;
    }
    if run.shows(program, formula) == Shows::Whole(!is_true) {
        return Err(Failure::internal(format!("the run for `{}` shows the opposite", property.name)));
    }
    Ok(run)
}

fn answered(property: &Property, outcome: &Outcome) -> Answered {
    Answered { verdict: property.verdict(outcome), reason: None, run: None }
}

/// Ends the exploration of a graph when two fifths of the time that is left are over: what it tells takes as long to compute.
struct Early<'w> {
    watcher: &'w mut Watcher,
    end: Option<Instant>,
}

impl<'w> Early<'w> {
    /// Only if a part of the graph is worth something.
    fn new(watcher: &'w mut Watcher, can_tell_of_part: bool) -> Self {
        let now = Instant::now();
        let end = watcher.deadline().filter(|_| can_tell_of_part);
        let end = end.map(|deadline| now + deadline.saturating_duration_since(now) * 2 / 5);
        Self { watcher, end }
    }
}

impl Observer for Early<'_> {
    fn progress(&mut self, progress: &Progress) -> ControlFlow<Stop> {
        self.watcher.progress(progress)?;
        match self.end {
            Some(end) if Instant::now() >= end => ControlFlow::Break(Stop::Time),
            _ => ControlFlow::Continue(()),
        }
    }
}

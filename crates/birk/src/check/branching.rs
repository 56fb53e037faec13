//! Properties about the branching of runs: `ctl` and `mu`. They are decided together, on one graph of all states, or
//! symbolically.

use std::ops::ControlFlow;
use std::time::Instant;

use birk_engine::{GoalSet, Hunt, Job, Limits, MuCalculusSearch, Observer, Progress};
use birk_exec::replay::Shows;
use birk_exec::{Replayed, fair};
use birk_ir::{Branching, Coverage, Expr, Goal, Outcome, Program, Property, PropertyKind, Steps, Stop, Trace, Verdict};
use birk_search::highway::Slice;
use birk_search::mucalculus::{Graph, Needs, Truth, bytes_per_state, decide};

use super::context::{Context, fairness};
use super::findings::{Answered, Decided, Question, nothing};
use crate::error::Error;
use crate::model::Layers;
use crate::options::Options;
use crate::process_memory::at_once;
use crate::properties::replay_failure;
use crate::watch::Watch;

/// Properties whose conditions one graph can hold.
pub(super) struct BranchingQuestion<'a> {
    /// Each with its position among the properties asked for.
    properties: Vec<(usize, &'a Property, &'a Branching)>,
    propositions: Vec<Expr>,
    /// The conditions of its properties, as goals of a model.
    pub(super) goals: Vec<Goal>,
}

/// Where fairness is asked for, `ctl` properties are about fair runs only.
pub(super) fn make_fair(program: &mut Program, options: &Options) -> Result<(), Error> {
    let Some(fairness) = fairness(program, options)? else { return Ok(()) };
    let goes_on = fair::goes_on(program);
    for property in &mut program.properties {
        if let PropertyKind::Ctl(formula) = &mut property.kind {
            *formula = fairness.ctl(formula, goes_on).ok_or_else(|| {
                Error::refused(format!(
                    "--fairness weak is about executions, and `{}` is not only about them",
                    property.name
                ))
            })?;
        }
    }
    Ok(())
}

impl<'a> BranchingQuestion<'a> {
    /// All properties about branching, in as few groups as their conditions need.
    pub(super) fn all(properties: &[&'a Property]) -> Vec<Self> {
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
            groups.push(Self { properties: vec![(index, property, formula)], propositions: alone, goals: Vec::new() });
        }
        for group in &mut groups {
            group.goals = group.propositions.iter().map(|expr| Goal::State(expr.clone())).collect();
        }
        groups
    }

    /// Decides the properties in a slice, which a hunt visited; the layers evaluate the conditions.
    pub(super) fn decide_in(
        &self,
        context: &Context<'_>,
        layers: &Layers<'_>,
        (slice, hunt): (&Slice, &Hunt),
        limits: Limits,
        observer: &mut dyn Observer,
    ) -> Result<Decided, Error> {
        if self.propositions.len() > GoalSet::CAPACITY {
            return Ok(self.refused(context));
        }
        let memory = limits.memory.saturating_sub(hunt.stats.store_bytes);
        let rest = Limits { depth: u32::MAX, states: u64::MAX, memory, ..limits };
        let (mut graph, of_slice) = Graph::explore(&slice.of(layers.plain()), self.needs(), &rest, observer);
        if !slice.is_complete() {
            graph.is_of_part();
        }
        let stopped = if hunt.stopped == Stop::Exhausted { of_slice.stopped } else { hunt.stopped };
        let coverage = if graph.is_complete() { hunt.coverage.clone() } else { Coverage::Partial(hunt.stats.states) };
        let hunt = Hunt { stopped, coverage, ..hunt.clone() };
        self.decide_on(context, layers, (graph, hunt), observer)
    }

    /// Decides the properties on a graph, up to the first that is violated.
    fn decide_on(
        &self,
        context: &Context<'_>,
        layers: &Layers<'_>,
        (mut graph, mut hunt): (Graph, Hunt),
        observer: &mut dyn Observer,
    ) -> Result<Decided, Error> {
        let mut answers = Vec::new();
        for &(index, property, formula) in &self.properties {
            let truth = match hunt.stopped {
                Stop::Interrupt => ControlFlow::Break(Stop::Interrupt),
                _ if graph.is_empty() => ControlFlow::Continue(Truth::Open),
                _ => decide(formula, &self.propositions, &mut graph, layers.plain(), observer),
            };
            if let ControlFlow::Break(stop) = truth {
                hunt.stopped = stop;
                if hunt.coverage == Coverage::Complete {
                    hunt.coverage = Coverage::Partial(hunt.stats.states);
                }
            }
            let answered = Self::answered(context, (property, formula), truth, &hunt.coverage)?;
            let ends = answered.verdict == Verdict::Violated && !context.options.keep_going;
            answers.push((index, answered));
            if ends {
                break;
            }
        }
        // What was covered before one of them was interrupted was not covered by the formula's own search.
        for (_, answered) in answers.iter_mut().filter(|(_, answered)| answered.coverage.is_some()) {
            answered.coverage = Some(hunt.coverage.clone());
        }
        Ok(Decided { hunt, answers, assumed: Some(layers.assumed()), is_reduced: false, symmetry: None })
    }

    /// What the truth of a formula says of its property.
    fn answered(
        context: &Context<'_>,
        (property, formula): (&Property, &Branching),
        truth: ControlFlow<Stop, Truth>,
        coverage: &Coverage,
    ) -> Result<Answered, Error> {
        let open = Answered::new(property, &Outcome::Inconclusive, coverage);
        Ok(match truth {
            ControlFlow::Break(_) => open,
            ControlFlow::Continue(Truth::Open) if formula.is_existential() || formula.is_universal() => open,
            ControlFlow::Continue(Truth::Open) => Answered::not_checked(NEEDS_ALL.to_owned()),
            ControlFlow::Continue(Truth::Known(is_true, trace)) if is_true == property.wants_goal() => {
                let run = confirmed(context, property, formula, &trace, is_true)?;
                Answered { run: Some(run), ..Answered::new(property, &Outcome::Found(trace), coverage) }
            }
            ControlFlow::Continue(Truth::Known(..)) => Answered::new(property, &Outcome::Absent, coverage),
        })
    }

    /// Decides the properties on sets of states.
    fn decide_on_sets(
        &self,
        search: MuCalculusSearch,
        context: &Context<'_>,
        watch: &mut dyn Watch,
    ) -> Result<Decided, Error> {
        // What a run can show is looked for: that the formula is true, or that it is not.
        // Where there are several initial states, one in which it is true is not enough: one in which it is false is.
        let is_turned = |property: &Property| property.wants_goal() && !context.program.choices.is_empty();
        let sought =
            self.properties.iter().map(|(_, property, formula)| match property.wants_goal() && !is_turned(property) {
                true => (*formula).clone(),
                false => formula.dual(),
            });
        let sought: Vec<Branching> = sought.collect();
        let refused = |reason: String| context.refused(&reason);
        let stop_at = context.stop_at(self.properties.iter().map(|(_, property, _)| *property));
        let mut job = Job { stop_at, ..context.job(sought.len()) };
        job.limits.memory = at_once(job.limits.memory, context.engine.address_space).map_err(refused)?;
        let hunt = search(context.program, &sought, &job, watch).map_err(refused)?;
        let mut answers = Vec::new();
        for ((&(index, property, formula), outcome), sought) in self.properties.iter().zip(&hunt.outcomes).zip(&sought)
        {
            let turned = match outcome {
                Outcome::Found(_) => Outcome::Absent,
                Outcome::Absent => Outcome::Found(Trace::default()),
                other => other.clone(),
            };
            let outcome = if is_turned(property) { &turned } else { outcome };
            let mut answered = Answered::new(property, outcome, &hunt.coverage);
            if let Outcome::Found(trace) = outcome {
                answered.run = Some(confirmed(context, property, formula, trace, property.wants_goal())?);
            }
            if hunt.coverage != Coverage::Complete && !sought.is_existential() && *outcome == Outcome::Inconclusive {
                answered = Answered::not_checked(NEEDS_ALL.to_owned());
            }
            let ends = answered.verdict == Verdict::Violated && !context.options.keep_going;
            answers.push((index, answered));
            if ends {
                break;
            }
        }
        Ok(Decided { hunt, answers, assumed: None, is_reduced: false, symmetry: None })
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
    fn refused(&self, context: &Context<'_>) -> Decided {
        let reason = format!("{} different conditions; {} are possible", self.propositions.len(), GoalSet::CAPACITY);
        let answers =
            self.properties.iter().map(|&(index, ..)| (index, Answered::not_checked(reason.clone()))).collect();
        let transitions = context.program.transitions.len();
        Decided {
            hunt: nothing(transitions),
            answers,
            assumed: Some(vec![false; transitions]),
            is_reduced: false,
            symmetry: None,
        }
    }
}

impl Question for BranchingQuestion<'_> {
    fn name(&self, _: &Context<'_>) -> String {
        match self.properties[..] {
            [(_, one, _)] => one.name.clone(),
            _ => "CTL and mu-calculus".into(),
        }
    }

    /// On sets of states where the engine has those, and otherwise on the graph of all states.
    fn decide(&self, context: &Context<'_>, watch: &mut dyn Watch) -> Result<Decided, Error> {
        if let Some(search) = context.engine.mu_calculus {
            return self.decide_on_sets(search, context, watch);
        }
        if self.propositions.len() > GoalSet::CAPACITY {
            return Ok(self.refused(context));
        }
        let layers = context.layers(&self.goals);
        let mut early = Early::new(watch, self.can_tell_of_part());
        let explored = Graph::explore(layers.plain(), self.needs(), &context.job(0).limits, &mut early);
        layers.note_refusal(watch);
        self.decide_on(context, &layers, explored, watch)
    }
}

/// Why a formula that is not only about what can happen stays open in a part of the graph.
const NEEDS_ALL: &str = "it needs all states, and some were not explored";

/// The run for a formula, walked again; it must not show the opposite.
fn confirmed(
    context: &Context<'_>,
    property: &Property,
    formula: &Branching,
    trace: &Trace,
    is_true: bool,
) -> Result<Replayed, Error> {
    let (program, run) = (context.written, context.replay(property, trace)?);
    if run.loop_start.is_some() {
        run.closes(program).map_err(|error| replay_failure(property, &error))?;
    }
    if run.shows(program, formula) == Shows::Whole(!is_true) {
        return Err(Error::Internal(format!("the trace for `{}` shows the opposite", property.name)));
    }
    Ok(run)
}

/// Ends the exploration of a graph when three tenths of the time that is left are over: what it tells can take twice as long to
/// compute.
struct Early<'w> {
    watch: &'w mut dyn Watch,
    end: Option<Instant>,
}

impl<'w> Early<'w> {
    /// Only if a part of the graph is worth something.
    fn new(watch: &'w mut dyn Watch, can_tell_of_part: bool) -> Self {
        let now = Instant::now();
        let end = watch.deadline().filter(|_| can_tell_of_part);
        let end = end.map(|deadline| now + deadline.saturating_duration_since(now) * 3 / 10);
        Self { watch, end }
    }
}

impl Observer for Early<'_> {
    fn progress(&mut self, progress: &Progress) -> ControlFlow<Stop> {
        self.watch.progress(progress)?;
        match self.end {
            Some(end) if Instant::now() >= end => ControlFlow::Break(Stop::Time),
            _ => ControlFlow::Continue(()),
        }
    }
}

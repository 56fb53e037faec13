//! Properties of whole runs: LTL, and automata of files. Each is a search of its own, for an accepting cycle in the product.

use std::time::Instant;

use birk_engine::{Hunt, Job, Limits, Model, Observer};
use birk_exec::automaton::{Buchi, Strength};
use birk_exec::reduction::{Preserve, Trial};
use birk_exec::{Product, Replayed, Specialised};
use birk_ir::{Expr, Goal, Outcome, Property, PropertyKind, Stop, Trace};
use birk_search::highway::Slice;
use birk_search::liveness::{CycleSearch, find_strongly_fair_cycle};

use super::context::Context;
use super::counted::ByCounting;
use super::findings::{Answered, Decided, Question};
use super::reduced::USELESS;
use crate::error::Error;
use crate::model::Layers;
use crate::options::{Automaton, Fairness};
use crate::properties::{automaton_of_violations, replay_failure};
use crate::report::AutomatonFigures;
use crate::watch::Watch;

/// A product of so many states is searched for cycles before an engine that counts does so.
const FIRST_STATES: u64 = 100_000;

/// One property: the automaton of the runs that violate it, and what its propositions mean.
pub(super) struct LivenessQuestion<'a> {
    pub(super) index: usize,
    pub(super) property: &'a Property,
    pub(super) automaton: Buchi,
    pub(super) propositions: Vec<Expr>,
    /// What a model must evaluate states by to be watched.
    pub(super) goals: Vec<Goal>,
}

impl<'a> LivenessQuestion<'a> {
    /// Of a property; a reason if its automaton cannot be had.
    pub(super) fn new(index: usize, property: &'a Property, file: Option<&Automaton>) -> Result<Self, String> {
        let (automaton, propositions) = automaton_of_violations(property, file)?;
        let goals = propositions.iter().map(|expr| Goal::State(expr.clone())).collect();
        Ok(Self { index, property, automaton, propositions, goals })
    }

    /// Hunts in the whole model, or in a slice of it; a trace that is found is one of the model.
    pub(super) fn hunt(
        &self,
        context: &Context<'_>,
        model: &dyn Model,
        limits: Limits,
        slice: Option<&Slice>,
        observer: &mut dyn Observer,
    ) -> Hunt {
        let strong = context.fairness.clone().filter(|_| context.options.fairness == Fairness::Strong);
        let product = match strong.clone() {
            Some(fairness) => Product::without_copies(model, self.automaton.clone(), fairness),
            None => Product::new(model, self.automaton.clone(), context.fairness.clone()),
        };
        let weak = product.is_weak();
        let threads = if slice.is_some() { 1 } else { context.options.threads.for_cycles() };
        let job = Job { limits: Limits { threads, ..limits }, ..context.job(1) };
        let mut hunt = match (slice, context.bitstate(), context.engine.liveness) {
            _ if strong.is_some() => find_strongly_fair_cycle(&product, &limits, observer),
            (Some(slice), ..) => slice.find_cycle(&product, &CycleSearch::of(weak, &job), observer),
            (None, Some(bitstate), _) => bitstate.find_cycle(&product, &CycleSearch::of(weak, &job), observer),
            (None, None, Some(search)) => search(&product, weak, &job, observer),
            (None, None, None) => CycleSearch::of(weak, &job).hunt(&product, observer),
        };
        if let Outcome::Found(trace) = &mut hunt.outcomes[0] {
            *trace = product.project(trace);
        }
        // What was searched must be the whole product, whose lassos are those of the model.
        let is_whole = slice.is_none() && context.engine.liveness.is_none() && limits.depth == u32::MAX;
        hunt.stats.is_shortest_lasso &= is_whole && context.bitstate().is_none();
        let transitions = model.transitions();
        hunt.fired.truncate(transitions);
        hunt.stats.cutoff.open.truncate(transitions);
        hunt
    }

    /// What became of a hunt: the run it found is replayed.
    pub(super) fn decided(
        &self,
        context: &Context<'_>,
        hunt: Hunt,
        bound: Option<u32>,
        seconds: f64,
    ) -> Result<Decided, Error> {
        let strength = match self.automaton.strength() {
            Strength::Terminal => "terminal",
            Strength::Weak => "weak",
            Strength::General => "general",
        };
        let (states, transitions) = (hunt.stats.states, hunt.stats.transitions);
        // A lasso of a model with variables reset may close later in the model as it is written.
        let is_shortest = hunt.stats.is_shortest_lasso && context.reset.is_none();
        let automaton = self.automaton.len();
        let figures = AutomatonFigures { automaton, strength, bound, states, transitions, is_shortest, seconds };
        let mut answered = Answered::new(self.property, &hunt.outcomes[0], &hunt.coverage);
        answered.automaton = Some(figures);
        if let Outcome::Found(trace) = &hunt.outcomes[0] {
            answered.run = Some(self.confirmed(context, trace)?);
        }
        // An engine on slices notes what an `assume` prunes for all questions together.
        let assumed = Some(vec![false; context.program.transitions.len()]);
        Ok(Decided { answers: vec![(self.index, answered)], hunt, assumed, is_reduced: false, symmetry: None })
    }

    pub(super) fn confirmed(&self, context: &Context<'_>, trace: &Trace) -> Result<Replayed, Error> {
        let (program, property) = (context.written, self.property);
        let failure = |error| replay_failure(property, &error);
        let run = context.replay(property, trace)?;
        run.confirm(program, property).map_err(failure)?;
        if let Some(fairness) = &context.fairness {
            match context.options.fairness {
                Fairness::Strong => run.is_strongly_fair(program, fairness).map_err(failure)?,
                _ => run.is_fair(program, fairness).map_err(failure)?,
            }
        }
        let is_given = matches!(property.kind, PropertyKind::Automaton | PropertyKind::Claim(_));
        if is_given && !run.is_accepted(program, &self.automaton, &self.propositions) {
            return Err(Error::Internal("the automaton does not accept the lasso that was found".into()));
        }
        Ok(run)
    }
}

impl LivenessQuestion<'_> {
    /// Hunts in a model with a stubborn set of steps in each state, where that is asked for and of use.
    fn hunt_reduced(&self, context: &Context<'_>, limits: Limits, watch: &mut dyn Watch) -> Option<Hunt> {
        if !context.reduces(watch) || !context.reduces_runs(self.property, watch) {
            return None;
        }
        let specialised = Specialised::new(context.program);
        let layers = Layers::new(&specialised.program, &self.goals);
        let reduced = layers.reduced(|goals| Preserve::Formulas(goals), false, limits.memory, watch);
        let tried = reduced.and_then(|(reduced, trial)| match trial {
            Trial::Useless | Trial::Hopeless => Err(USELESS.to_owned()),
            trial => Ok(layers.natively(reduced, trial, watch)),
        });
        let reduced = tried.map_err(|reason| context.note_unreduced(&reason, watch)).ok()?;
        let hunt = self.hunt(context, &reduced, limits, None, watch);
        layers.note_refusal(watch);
        let mut hunt = specialised.original(context.program, hunt);
        // What was not met may be there all the same: it is not told.
        (hunt.fired, hunt.stats.cut, hunt.stats.is_shortest_lasso) = (Vec::new(), 0, false);
        Some(hunt)
    }
}

impl Question for LivenessQuestion<'_> {
    fn name(&self, _: &Context<'_>) -> String {
        self.property.name.clone()
    }

    fn decide(&self, context: &Context<'_>, watch: &mut dyn Watch) -> Result<Decided, Error> {
        let began = Instant::now();
        let limits = context.job(1).limits;
        let layers = context.layers(&self.goals);
        if context.engine.counts_runs {
            // Counting visits no state: where few may be visited, it is all that is done. What it proves has a certificate.
            let first = Limits { states: FIRST_STATES, ..limits };
            let searches = limits.states > FIRST_STATES && !context.options.certificate;
            let hunt = searches.then(|| self.hunt(context, layers.plain(), first, None, watch));
            let is_short = |hunt: &Hunt| matches!(hunt.stopped, Stop::States | Stop::Depth | Stop::Memory);
            let (assumed, counted) = match hunt.filter(|hunt| !is_short(hunt)) {
                None => (None, self.count(context, limits, watch)?),
                Some(hunt) => (Some(layers.assumed()), Some(ByCounting { hunt, bound: None })),
            };
            if let Some(ByCounting { hunt, bound }) = counted {
                watch.end();
                layers.note_refusal(watch);
                let decided = self.decided(context, hunt, bound, began.elapsed().as_secs_f64())?;
                return Ok(Decided { assumed, ..decided });
            }
        }
        if let Some(hunt) = self.hunt_reduced(context, limits, watch) {
            watch.end();
            let decided = self.decided(context, hunt, None, began.elapsed().as_secs_f64())?;
            return Ok(Decided { assumed: None, is_reduced: true, ..decided });
        }
        let hunt = self.hunt(context, layers.plain(), limits, None, watch);
        watch.end();
        layers.note_refusal(watch);
        let decided = self.decided(context, hunt, None, began.elapsed().as_secs_f64())?;
        Ok(Decided { assumed: Some(layers.assumed()), ..decided })
    }
}

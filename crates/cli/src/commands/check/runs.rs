//! Properties of whole runs: formulas, and automata of files. Each is a hunt of its own, for a cycle in the product.

use birk_exec::automaton::{Buchi, OfFile, Strength, hoa, never, violations_of};
use birk_exec::{Fairness, Model as _, Product, Replayed, replay};
use birk_ir::{Expr, Goal, Outcome, Program, Property, PropertyKind};
use birk_jit::Staged;
use birk_search::cycle::Chase;
use birk_search::highway::Slice;
use birk_search::{Hunt, Limits, Observer};

use super::{field, impostor, note_refusal};
use crate::Failure;
use crate::cli::{CheckArgs, Fair};
use crate::progress::Watcher;
use crate::source::{Source, load_conditions};

/// What became of a property of runs.
pub(crate) struct Decided {
    pub(crate) hunt: Hunt,
    pub(crate) run: Option<Replayed>,
    pub(crate) watch: Watch,
    /// For each transition, whether an `assume` cut one of its outcomes.
    pub(crate) assumed: Vec<bool>,
}

/// The automaton that watched, for the report.
#[derive(Clone, Debug)]
pub(crate) struct Watch {
    pub(crate) automaton: usize,
    pub(crate) strength: &'static str,
    pub(crate) states: u64,
    pub(crate) transitions: u64,
    pub(crate) seconds: f64,
}

/// A question about runs: the automaton of those that violate it, and what its propositions mean.
pub(crate) struct Question {
    automaton: Buchi,
    propositions: Vec<Expr>,
}

impl Question {
    /// Of a property; a reason if its automaton cannot be had.
    pub(crate) fn of(property: &Property, file: Option<&Question>) -> Result<Self, String> {
        match (&property.kind, file) {
            (PropertyKind::Ltl(formula), _) => {
                let (automaton, propositions) = violations_of(formula).map_err(|error| error.to_string())?;
                Ok(Self { automaton, propositions })
            }
            (_, Some(file)) => Ok(Self { automaton: file.automaton.clone(), propositions: file.propositions.clone() }),
            _ => Err("it is not about runs".into()),
        }
    }

    /// The automaton of a file: HOA, or a never claim of SPIN.
    pub(crate) fn read(args: &CheckArgs, source: &Source) -> Result<Option<Self>, Failure> {
        let Some(path) = &args.automaton else { return Ok(None) };
        let file = Source::read(path)?;
        let is_claim = file.text.trim_start().starts_with("never");
        let read = if is_claim { never::read(&file.text) } else { hoa::read(&file.text) };
        let OfFile { automaton, places } = read.map_err(|reason| Failure::usage(format!("{}: {reason}", file.path)))?;
        let propositions = load_conditions(&args.model, source, &file, places)?;
        Ok(Some(Self { automaton, propositions }))
    }

    /// Hunts for a run that the automaton accepts; what is found was walked again.
    pub(crate) fn decide(
        &self,
        program: &Program,
        property: &Property,
        args: &CheckArgs,
        limits: Limits,
        watcher: &mut Watcher,
    ) -> Result<Decided, Failure> {
        let began = watcher.elapsed();
        let fairness = fairness(program, args)?;
        let goals = self.goals();
        let model = Staged::new(program, &goals);
        watcher.begin();
        let hunt = self.chase(&model, fairness.as_ref(), args, limits, None, watcher);
        watcher.end();
        note_refusal(&model, watcher);
        let seconds = (watcher.elapsed() - began).as_secs_f64();
        let decided = self.decided(program, property, fairness.as_ref(), hunt, seconds)?;
        Ok(Decided { assumed: model.assumed(), ..decided })
    }

    /// What a model must judge states by to be watched.
    pub(crate) fn goals(&self) -> Vec<Goal> {
        self.propositions.iter().map(|expr| Goal::BadState(expr.clone())).collect()
    }

    /// Hunts in the whole model or in a slice of it; a trace that is found is one of the model.
    pub(crate) fn chase(
        &self,
        model: &Staged<'_>,
        fairness: Option<&Fairness>,
        args: &CheckArgs,
        limits: Limits,
        slice: Option<&Slice>,
        observer: &mut dyn Observer,
    ) -> Hunt {
        let product = Product::new(model, self.automaton.clone(), fairness.cloned());
        let weak = product.is_weak();
        let mut hunt = match (slice, field(args, limits)) {
            (Some(slice), _) => slice.chase(&product, &Chase { weak, threads: 1, seed: args.seed, limits }, observer),
            (None, field) => {
                let chase = Chase { weak, threads: args.threads.for_cycles(), seed: args.seed, limits };
                match field {
                    Some(field) => field.chase(&product, &chase, observer),
                    None if args.search == "depth" => chase.hunt_by_bounds(&product, observer),
                    None => chase.hunt(&product, observer),
                }
            }
        };
        if let Outcome::Found(trace) = &mut hunt.outcomes[0] {
            *trace = product.project(trace);
        }
        hunt.fired.truncate(model.transitions());
        hunt.stats.border.open.truncate(model.transitions());
        hunt
    }

    /// What became of a hunt: the run it found was walked again.
    pub(crate) fn decided(
        &self,
        program: &Program,
        property: &Property,
        fairness: Option<&Fairness>,
        hunt: Hunt,
        seconds: f64,
    ) -> Result<Decided, Failure> {
        let run = match &hunt.outcomes[0] {
            Outcome::Found(trace) => Some(self.confirmed(program, property, trace, fairness)?),
            _ => None,
        };
        let strength = match self.automaton.strength() {
            Strength::Terminal => "terminal",
            Strength::Weak => "weak",
            Strength::General => "general",
        };
        let (states, transitions) = (hunt.stats.states, hunt.stats.transitions);
        let watch = Watch { automaton: self.automaton.len(), strength, states, transitions, seconds };
        Ok(Decided { hunt, run, watch, assumed: Vec::new() })
    }

    fn confirmed(
        &self,
        program: &Program,
        property: &Property,
        trace: &birk_ir::Trace,
        fairness: Option<&Fairness>,
    ) -> Result<Replayed, Failure> {
        let run = replay(program, trace).map_err(|error| impostor(property, &error))?;
        run.confirm(program, property).map_err(|error| impostor(property, &error))?;
        if let Some(fairness) = fairness {
            run.is_fair(program, fairness).map_err(|error| impostor(property, &error))?;
        }
        let is_of_file = matches!(property.kind, PropertyKind::Automaton);
        if is_of_file && !run.is_accepted(program, &self.automaton, &self.propositions) {
            return Err(Failure::internal("the automaton does not accept the run that was found"));
        }
        Ok(run)
    }
}

/// The fairness that was asked for.
pub(crate) fn fairness(program: &Program, args: &CheckArgs) -> Result<Option<Fairness>, Failure> {
    match args.fairness {
        Fair::Weak => Fairness::weak(program).map(Some).map_err(Failure::usage),
        _ => Ok(None),
    }
}

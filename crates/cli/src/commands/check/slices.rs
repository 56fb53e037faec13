//! `birk check --search highway`: slices of a model, one or many, for properties of states, of runs and of branching.

use std::time::Instant;

use birk_exec::Fairness;
use birk_ir::{Coverage, Goal, Outcome, Program, Stop};
use birk_jit::Staged;
use birk_search::bits::Sketch;
use birk_search::highway::{Highway, Ran, Runs};
use birk_search::{Hunt, Job, Limits, Observer};

use super::branching::{Decided, Group};
use super::note_refusal;
use super::runs::Question;
use crate::Failure;
use crate::cli::{CheckArgs, StoreKind, Width};
use crate::engines::Engine;
use crate::progress::Watcher;

/// What the slices were, for the report.
#[derive(Clone, Debug)]
pub(crate) struct Slices {
    /// How many were asked for; none where the budget says when to end.
    pub(crate) asked: Option<u64>,
    pub(crate) done: u64,
    /// Of the last one.
    pub(crate) width: usize,
    /// Each was twice as wide as the one before.
    pub(crate) is_doubling: bool,
    /// The run that found a violation: its number from 1 on, its seed and its width.
    pub(crate) found_in: Option<(u64, u64, usize)>,
    /// States of all of them, those that several have counted several times.
    pub(crate) visits: u64,
    /// How many different states they have together, roughly where there are several.
    pub(crate) union: u64,
    /// What fruitless runs of one width rule out: the confidence, and how often such a run would have to find something.
    pub(crate) ruled_out: Option<(f64, f64)>,
}

/// Confidence, unless told otherwise.
const USUAL_CONFIDENCE: f64 = 0.99;
/// The share of slices with a violation that is to be ruled out, unless told otherwise.
const USUAL_RATE: f64 = 0.01;
/// More slices are surely a mistake.
const MOST_RUNS: u64 = 1_000_000_000;

/// The slices together: the hunt for states, a hunt and its seconds for each question, and how many slices there were.
pub(super) struct Sliced {
    pub(super) hunt: Hunt,
    /// By property; none where it is not about runs, or a violation was found before it was asked.
    pub(super) chased: Vec<Option<(Hunt, f64)>>,
    /// By group of properties about branching; none where a violation was found before it was asked.
    pub(super) branched: Vec<Option<Result<Decided, Failure>>>,
    pub(super) slices: Slices,
    /// For each transition, whether an `assume` cut one of its outcomes.
    pub(super) assumed: Vec<bool>,
}

/// What is asked of each slice beside its states.
pub(super) struct Asked<'a> {
    /// By property; none where it is not about runs.
    pub(super) questions: &'a [Option<Result<Question, String>>],
    /// About branching.
    pub(super) groups: &'a [Group<'a>],
}

/// What one run found.
struct Found {
    highway: Highway,
    hunt: Hunt,
    chased: Vec<Option<(Hunt, f64)>>,
    branched: Vec<Option<Result<Decided, Failure>>>,
    is_violated: bool,
}

/// Options of slices that contradict each other.
pub(super) fn reconcile(args: &CheckArgs, engine: &Engine) -> Result<(), Failure> {
    if engine.slices && args.store == StoreKind::Bitstate {
        return Err(Failure::usage(format!(
            "--store bitstate keeps no state to come back to, so --search {} cannot use it; use --search dfs",
            engine.name
        )));
    }
    if args.runs.is_some() && args.rate.is_some() {
        return Err(Failure::usage("--rate says how many slices are visited, and so does --runs; leave one out"));
    }
    if args.width == Width::Auto && (args.rate.is_some() || args.confidence.is_some()) {
        return Err(Failure::usage(
            "--confidence and --rate are about slices of one width, and --width auto doubles it; give a number",
        ));
    }
    match asked(args) {
        Some(MOST_RUNS..) => Err(Failure::usage("so many slices would never end; raise --rate or lower --confidence")),
        _ => Ok(()),
    }
}

/// Visits as many slices as the options say, and asks all questions of each: of runs and, in groups, of branching.
pub(super) fn check(
    program: &Program,
    args: &CheckArgs,
    job: &Job,
    hunted: &[(usize, Goal)],
    asked: &Asked<'_>,
    fairness: Option<&Fairness>,
    watcher: &mut Watcher,
) -> Sliced {
    let goals: Vec<Goal> = hunted.iter().map(|(_, goal)| goal.clone()).collect();
    let model = Staged::new(program, &goals);
    let Asked { questions, groups } = *asked;
    let asked: Vec<Option<&Question>> = questions.iter().map(|question| question.as_ref()?.as_ref().ok()).collect();
    let propositions: Vec<Vec<Goal>> =
        asked.iter().map(|question| question.map_or_else(Vec::new, Question::goals)).collect();
    let conditions: Vec<Vec<Goal>> = groups.iter().map(Group::goals).collect();
    let models: Vec<Staged<'_>> = propositions.iter().map(|goals| Staged::new(program, goals)).collect();
    let of_groups: Vec<Staged<'_>> = conditions.iter().map(|goals| Staged::new(program, goals)).collect();
    let needs_slice = asked.iter().any(Option::is_some) || !groups.is_empty();
    // A target that was reached does not end a slice that is asked about runs.
    let job = Job { keep_going: job.keep_going || needs_slice, ..job.clone() };
    let one = |highway: &Highway, limits: Limits, observer: &mut dyn Observer| {
        let job = Job { limits, ..job.clone() };
        let (hunt, slice) = if needs_slice {
            let (hunt, slice) = highway.slice(&model, &job, observer);
            (hunt, Some(slice))
        } else {
            (highway.hunt(&model, &job, observer), None)
        };
        let mut is_violated = is_violation(&hunt, &job);
        let is_over = |is_violated: bool| {
            (is_violated && !args.keep_going) || matches!(hunt.stopped, Stop::Time | Stop::Interrupt)
        };
        let mut branched = Vec::new();
        for (group, model) in groups.iter().zip(&of_groups) {
            let (Some(slice), false) = (&slice, is_over(is_violated)) else {
                branched.push(None);
                continue;
            };
            let decided = group.decide_in(program, args, model, (slice, &hunt), limits, observer);
            is_violated |= decided.as_ref().is_ok_and(Decided::is_violated);
            branched.push(Some(decided));
        }
        let mut chased = Vec::new();
        for (question, model) in asked.iter().zip(&models) {
            let (Some(question), Some(slice), false) = (question, &slice, is_over(is_violated)) else {
                chased.push(None);
                continue;
            };
            let began = Instant::now();
            let hunt = question.chase(model, fairness, args, limits, Some(slice), observer);
            is_violated |= matches!(hunt.outcomes[0], Outcome::Found(_));
            chased.push(Some((hunt, began.elapsed().as_secs_f64())));
        }
        let decided = branched.iter().flatten().filter_map(|decided| decided.as_ref().ok());
        let mut hunts = std::iter::once(&hunt)
            .chain(chased.iter().flatten().map(|(hunt, _)| hunt))
            .chain(decided.map(|decided| &decided.hunt));
        let is_ended = hunts.any(|hunt| is_ended(hunt.stopped));
        let is_done = hunt.stopped == Stop::Goal || hunt.coverage == Coverage::Complete;
        let is_last = (is_violated && !args.keep_going) || is_done || is_ended;
        let states = hunt.stats.states;
        Ran { result: Found { highway: *highway, hunt, chased, branched, is_violated }, states, is_last }
    };
    let runs = runs(args, &job.limits);
    let found = runs.hunt(job.limits, watcher, &one);
    note_refusal(&model, watcher);
    let slices = described(args, &runs, &found);
    let mut assumed = model.assumed();
    for model in models.iter().chain(&of_groups) {
        assumed.iter_mut().zip(model.assumed()).for_each(|(all, one)| *all |= one);
    }
    together(found, slices, assumed)
}

/// Whether a hunt ended at a goal that is a violation.
fn is_violation(hunt: &Hunt, job: &Job) -> bool {
    let found = |(goal, outcome): (usize, &Outcome)| job.stop_at.contains(goal) && matches!(outcome, Outcome::Found(_));
    hunt.outcomes.iter().enumerate().any(found)
}

/// Whether this ends not only one slice, but all.
fn is_ended(stop: Stop) -> bool {
    matches!(stop, Stop::Time | Stop::Interrupt | Stop::Memory | Stop::States)
}

/// Which slices are asked for.
fn runs(args: &CheckArgs, limits: &Limits) -> Runs {
    let doubles = args.width == Width::Auto;
    let first = Highway::of(limits);
    Runs { first, count: asked(args).unwrap_or(if doubles { u64::MAX } else { 1 }), doubles }
}

/// How many slices were asked for, directly or by a confidence.
fn asked(args: &CheckArgs) -> Option<u64> {
    let is_of_confidence = args.rate.is_some() || args.confidence.is_some();
    let (confidence, rate) = (args.confidence.unwrap_or(USUAL_CONFIDENCE), args.rate.unwrap_or(USUAL_RATE));
    args.runs.or_else(|| is_of_confidence.then(|| Runs::for_confidence(confidence, rate)))
}

fn described(args: &CheckArgs, runs: &Runs, found: &[Found]) -> Slices {
    let mut union = Sketch::default();
    found.iter().filter_map(|one| one.hunt.stats.union.as_ref()).for_each(|one| union.join(one));
    let largest = found.iter().map(|one| one.hunt.stats.states).max().unwrap_or(0);
    let violated = found.iter().zip(1..).find(|(one, _)| one.is_violated);
    let is_fruitless = violated.is_none() && found.iter().all(|one| one.hunt.stopped == Stop::Exhausted);
    let done = found.len() as u64;
    let confidence = args.confidence.unwrap_or(USUAL_CONFIDENCE);
    Slices {
        asked: asked(args),
        done,
        width: found.last().map_or(runs.first.width, |one| one.highway.width),
        is_doubling: runs.doubles,
        found_in: violated.map(|(one, number)| (number, one.highway.seed, one.highway.width)),
        visits: found.iter().map(|one| one.hunt.stats.states).sum(),
        union: if found.len() > 1 { union.estimate().max(largest) } else { largest },
        ruled_out: (is_fruitless && !runs.doubles && done > 1)
            .then(|| (confidence, Runs::rate_after(confidence, done))),
    }
}

/// All runs as one: what the first found that found something, or what is known of all.
fn together(found: Vec<Found>, slices: Slices, assumed: Vec<bool>) -> Sliced {
    let mut runs = found.into_iter();
    let first = runs.next().expect("at least one slice was visited");
    let (mut hunt, mut chased, mut branched) = (first.hunt, first.chased, first.branched);
    for next in runs {
        hunt = joined(hunt, next.hunt);
        for (all, next) in branched.iter_mut().zip(next.branched) {
            *all = match (all.take(), next) {
                (Some(Ok(all)), Some(Ok(next))) => Some(Ok(all.joined(next, joined))),
                (Some(Err(failure)), _) | (_, Some(Err(failure))) => Some(Err(failure)),
                (all, next) => all.or(next),
            };
        }
        for (all, next) in chased.iter_mut().zip(next.chased) {
            *all = match (all.take(), next) {
                (Some((all, before)), Some((next, seconds))) => Some((joined(all, next), before + seconds)),
                (all, next) => all.or(next),
            };
        }
    }
    if slices.done > 1 {
        let of_groups = branched.iter_mut().flatten().flatten().map(|decided| &mut decided.hunt);
        for hunt in of_groups.chain([&mut hunt]) {
            hunt.stats.states = slices.union;
            if let Coverage::Sampled(states) = &mut hunt.coverage {
                *states = slices.union;
            }
        }
    }
    Sliced { hunt, chased, branched, slices, assumed }
}

/// Two hunts for the same as one. A complete one is the last, and decides.
fn joined(mut all: Hunt, next: Hunt) -> Hunt {
    for (one, other) in all.outcomes.iter_mut().zip(next.outcomes) {
        if !matches!(one, Outcome::Found(_)) {
            *one = other;
        }
    }
    all.fired.iter_mut().zip(next.fired).for_each(|(all, next)| *all |= next);
    all.stats.states += next.stats.states;
    all.stats.transitions += next.stats.transitions;
    all.stats.revisits += next.stats.revisits;
    all.stats.cut += next.stats.cut;
    all.stats.max_depth = all.stats.max_depth.max(next.stats.max_depth);
    all.stats.store_bytes = all.stats.store_bytes.max(next.stats.store_bytes);
    all.stats.levels = next.stats.levels;
    (all.stopped, all.coverage, all.stats.border) = (next.stopped, next.coverage, next.stats.border);
    all
}

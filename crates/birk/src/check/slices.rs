//! Slices of a model, one or many, each of which is asked all questions: of states, of branching and of runs.

use std::time::Instant;

use birk_engine::{Hunt, HyperLogLog, Job, Limits, Observer};
use birk_ir::{Coverage, Outcome, Stop, Verdict};
use birk_search::highway::{CONFIDENCE, Highway, RATE, RUNS, Ran, Slice, Swarm, WIDTH};

use super::context::Context;
use super::findings::{Decided, Findings};
use super::questions::Questions;
use super::safety::SafetyQuestion;
use crate::error::Error;
use crate::model::Layers;
use crate::options::Options;
use crate::report::Slices;
use crate::watch::{Phase, Watch};

/// More slices are surely not intended.
pub(super) const MOST_RUNS: u64 = 1_000_000_000;

/// What one run found.
struct Found {
    highway: Highway,
    hunt: Hunt,
    /// By group of properties about branching; none where a violation was found before it was asked.
    branching: Vec<Option<Result<Decided, Error>>>,
    /// By question about runs, with seconds; none where a violation was found before it was asked.
    liveness: Vec<Option<(Hunt, f64)>>,
    is_violated: bool,
}

/// A model for each question.
struct Models<'p> {
    safety: Layers<'p>,
    branching: Vec<Layers<'p>>,
    liveness: Vec<Layers<'p>>,
}

/// Visits as many slices as the options say, and asks all questions of each.
pub(super) fn decide<'p>(
    context: &Context<'p>,
    questions: &Questions<'p>,
    findings: &mut Findings,
    watch: &mut dyn Watch,
) -> Result<(), Error> {
    // The states are visited even if nobody asks about them.
    let safety = SafetyQuestion::new(context)?;
    let models = Models {
        safety: context.layers(&safety.goals),
        branching: questions.branching.iter().map(|group| context.layers(&group.goals)).collect(),
        liveness: questions.liveness.iter().map(|one| context.layers(&one.goals)).collect(),
    };
    let job = safety.job(context);
    let runs = runs(context.options, &job);
    let visit = Visit { context, questions, models: &models, job: &job };
    watch.begin(&Phase { name: "slices", number: 1, of: 1, is_of_states: false });
    let found = runs.hunt(job.limits, watch, &|highway, limits, observer| visit.slice(highway, limits, observer));
    watch.end();
    models.safety.note_refusal(watch);
    let slices = described(context.options, &runs, &found);
    let all = together(found, &slices);
    let answers = safety.answers(context, &all.hunt)?;
    findings.take(
        Decided { hunt: all.hunt, answers, assumed: Some(models.assumed()), is_reduced: false, symmetry: None },
        watch,
    );
    for decided in all.branching.into_iter().flatten() {
        findings.take(decided?, watch);
    }
    for (question, hunted) in questions.liveness.iter().zip(all.liveness) {
        if let Some((hunt, seconds)) = hunted {
            findings.take(question.decided(context, hunt, None, seconds)?, watch);
        }
    }
    findings.sliced(slices);
    Ok(())
}

impl Models<'_> {
    /// For each transition, whether an `assume` pruned one of its branches.
    fn assumed(&self) -> Vec<bool> {
        let mut assumed = self.safety.assumed();
        for layers in self.branching.iter().chain(&self.liveness) {
            assumed.iter_mut().zip(layers.assumed()).for_each(|(all, one)| *all |= one);
        }
        assumed
    }
}

/// How one slice is visited.
struct Visit<'a, 'p, 'm> {
    context: &'a Context<'p>,
    questions: &'a Questions<'p>,
    models: &'a Models<'m>,
    job: &'a Job,
}

impl Visit<'_, '_, '_> {
    fn slice(&self, highway: &Highway, limits: Limits, observer: &mut dyn Observer) -> Ran<Found> {
        let keep_going = self.context.options.keep_going;
        let asks_more = !self.questions.branching.is_empty() || !self.questions.liveness.is_empty();
        // A state that was to be reached does not end a slice that is asked more.
        let job = Job { limits, keep_going: keep_going || asks_more, ..self.job.clone() };
        let model = self.models.safety.plain();
        let (hunt, slice) = match asks_more {
            true => {
                let (hunt, slice) = highway.slice(model, &job, observer);
                (hunt, Some(slice))
            }
            false => (highway.hunt(model, &job, observer), None),
        };
        let mut found = Found {
            highway: *highway,
            is_violated: is_violation(&hunt, &job),
            hunt,
            branching: Vec::new(),
            liveness: Vec::new(),
        };
        if let Some(slice) = &slice {
            self.ask_about_branching(slice, limits, &mut found, observer);
            self.ask_about_runs(slice, limits, &mut found, observer);
        }
        let hunts = found.liveness.iter().flatten().map(|(hunt, _)| hunt);
        let of_groups = found.branching.iter().flatten().filter_map(|decided| Some(&decided.as_ref().ok()?.hunt));
        let is_ended = hunts.chain(of_groups).chain([&found.hunt]).any(|hunt| is_ended(hunt.stopped));
        let is_done = found.hunt.stopped == Stop::Goal || found.hunt.coverage == Coverage::Complete;
        let is_last = (found.is_violated && !keep_going) || is_done || is_ended;
        Ran { states: found.hunt.stats.states, result: found, is_last }
    }

    fn is_over(&self, found: &Found) -> bool {
        let is_violated = found.is_violated && !self.context.options.keep_going;
        is_violated || matches!(found.hunt.stopped, Stop::Time | Stop::Interrupt)
    }

    fn ask_about_branching(&self, slice: &Slice, limits: Limits, found: &mut Found, observer: &mut dyn Observer) {
        for (group, layers) in self.questions.branching.iter().zip(&self.models.branching) {
            let decided = (!self.is_over(found))
                .then(|| group.decide_in(self.context, layers, (slice, &found.hunt), limits, observer));
            found.is_violated |=
                decided.as_ref().is_some_and(|decided| decided.as_ref().is_ok_and(Decided::is_violated));
            found.branching.push(decided);
        }
    }

    fn ask_about_runs(&self, slice: &Slice, limits: Limits, found: &mut Found, observer: &mut dyn Observer) {
        for (question, layers) in self.questions.liveness.iter().zip(&self.models.liveness) {
            let hunted = (!self.is_over(found)).then(|| {
                let began = Instant::now();
                let hunt = question.hunt(self.context, layers.plain(), limits, Some(slice), observer);
                (hunt, began.elapsed().as_secs_f64())
            });
            found.is_violated |= hunted.as_ref().is_some_and(|(hunt, _)| matches!(hunt.outcomes[0], Outcome::Found(_)));
            found.liveness.push(hunted);
        }
    }
}

/// Whether a hunt ended at a goal that is a violation.
fn is_violation(hunt: &Hunt, job: &Job) -> bool {
    let found = |(goal, outcome): (usize, &Outcome)| job.stop_at.contains(goal) && matches!(outcome, Outcome::Found(_));
    hunt.outcomes.iter().enumerate().any(found)
}

/// Whether this ends not only one slice, but all.
fn is_ended(stop: Stop) -> bool {
    matches!(stop, Stop::Time | Stop::Interrupt | Stop::Memory | Stop::Disk | Stop::States)
}

/// Which slices are asked for.
fn runs(options: &Options, job: &Job) -> Swarm {
    let doubles = WIDTH.word(&options.engine_options).is_some();
    let count = asked(options).unwrap_or(if doubles { u64::MAX } else { 1 });
    let mut first = Highway::of(job);
    if doubles {
        first.width = options.first_width;
    }
    Swarm { first, count, doubles }
}

/// How many slices were asked for, directly or by a confidence.
pub(super) fn asked(options: &Options) -> Option<u64> {
    let own = &options.engine_options;
    let is_of_confidence = own.get(RATE.name).is_some() || own.get(CONFIDENCE.name).is_some();
    let by_confidence = || Some(Swarm::for_confidence(CONFIDENCE.share(own)?, RATE.share(own)?));
    RUNS.number(own).or_else(|| if is_of_confidence { by_confidence() } else { None })
}

fn described(options: &Options, runs: &Swarm, found: &[Found]) -> Slices {
    let mut union = HyperLogLog::default();
    found.iter().filter_map(|one| one.hunt.stats.visited()).for_each(|one| union.join(one));
    let largest = found.iter().map(|one| one.hunt.stats.states).max().unwrap_or(0);
    let violated = found.iter().zip(1..).find(|(one, _)| one.is_violated);
    let is_fruitless = violated.is_none() && found.iter().all(|one| one.hunt.stopped == Stop::Exhausted);
    let done = found.len() as u64;
    let confidence = CONFIDENCE.share(&options.engine_options).filter(|_| is_fruitless && !runs.doubles && done > 1);
    Slices {
        asked: asked(options),
        done,
        width: found.last().map_or(runs.first.width, |one| one.highway.width),
        is_doubling: runs.doubles,
        found_in: violated.map(|(one, number)| (number, one.highway.seed, one.highway.width)),
        visits: found.iter().map(|one| one.hunt.stats.states).sum(),
        union: if found.len() > 1 { union.estimate().max(largest) } else { largest },
        ruled_out: confidence.map(|confidence| (confidence, Swarm::rate_after(confidence, done))),
    }
}

/// All runs as one: what the first found that found something, or what is known of all.
fn together(found: Vec<Found>, slices: &Slices) -> Found {
    let mut runs = found.into_iter();
    let mut all = runs.next().expect("at least one slice was visited");
    for next in runs {
        all.hunt = joined(all.hunt, next.hunt);
        for (all, next) in all.branching.iter_mut().zip(next.branching) {
            *all = match (all.take(), next) {
                (Some(Ok(all)), Some(Ok(next))) => Some(Ok(joined_decisions(all, next))),
                (Some(Err(error)), _) | (_, Some(Err(error))) => Some(Err(error)),
                (all, next) => all.or(next),
            };
        }
        for (all, next) in all.liveness.iter_mut().zip(next.liveness) {
            *all = match (all.take(), next) {
                (Some((all, before)), Some((next, seconds))) => Some((joined(all, next), before + seconds)),
                (all, next) => all.or(next),
            };
        }
    }
    if slices.done > 1 {
        let of_groups = all.branching.iter_mut().flatten().flatten().map(|decided| &mut decided.hunt);
        for hunt in of_groups.chain([&mut all.hunt]) {
            hunt.stats.states = slices.union;
            if let Coverage::Partial(states) = &mut hunt.coverage {
                *states = slices.union;
            }
        }
        for decided in all.branching.iter_mut().flatten().flatten() {
            let answers = decided.answers.iter_mut().filter(|(_, answer)| answer.coverage.is_some());
            answers.for_each(|(_, answer)| answer.coverage = Some(decided.hunt.coverage.clone()));
        }
    }
    all
}

/// What two slices tell together: of each property what the first tells that tells something.
fn joined_decisions(mut all: Decided, next: Decided) -> Decided {
    for (index, answer) in next.answers {
        match all.answers.iter_mut().find(|(known, _)| *known == index) {
            Some((_, known)) if known.verdict == Verdict::Inconclusive => *known = answer,
            Some(_) => {}
            None => all.answers.push((index, answer)),
        }
    }
    Decided { hunt: joined(all.hunt, next.hunt), ..all }
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
    (all.stopped, all.coverage, all.stats.cutoff) = (next.stopped, next.coverage, next.stats.cutoff);
    all
}

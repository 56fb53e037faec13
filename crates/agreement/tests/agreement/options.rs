//! The options of the engines on random programs: whatever is asked for, nothing is claimed that is not so, every run that is
//! found replays and is as short as promised, and the number of threads changes nothing.

use birk_agreement::case::{Case, programs};
use birk_agreement::check::{Checked, Subject, same, traces, truthful};
use birk_agreement::hunt;
use birk_agreement::random::{Draw as _, Random};
use birk_engine::{GoalSet, Hunt, Job, Limits, Model, Patient, Storage, Value};
use birk_exec::heuristic::REFINE;
use birk_exec::{Directed, Heuristic, Interpreter};
use birk_ir::{Coverage, Outcome, Stop};
use birk_jit::Compiled;
use birk_search::astar::WEIGHT;
use birk_search::bitstate::BitState;
use birk_search::bounded::{FRONTIER, INCREMENT};
use birk_search::engine;
use birk_search::engines::BEAM;
use birk_search::highway::{Highway, Ran, Swarm};

/// How many programs are examined, unless the environment says otherwise.
const PROGRAMS: u64 = 50;
/// Searches of each kind, each with options of its own.
const DRAWS: usize = 3;
const THREADS: [usize; 3] = [1, 2, 8];

/// What was really tried: none of these may be 0.
#[derive(Debug, Default)]
struct Tally {
    searches: usize,
    /// Searches that found something.
    found: usize,
    /// Searches that explored everything.
    complete: usize,
    /// Searches that left a goal open which can be reached.
    missed: usize,
}

/// A way to change what a search answers.
type Bend = fn(&mut Hunt);

/// The searches of one program with options that are drawn.
struct Trial<'c> {
    case: &'c Case,
    model: &'c dyn Model,
    random: Random,
    bend: Bend,
    tally: Tally,
}

impl Trial<'_> {
    /// As the command asks, or until everything was examined; sometimes with a limit on depth or states.
    fn job(&mut self) -> Job {
        let keep_going = self.random.chance(50);
        let mut stop_at = GoalSet::default();
        for (goal, property) in self.case.program.properties.iter().enumerate() {
            if !keep_going && !property.wants_goal() {
                stop_at.insert(goal);
            }
        }
        let answer = &self.case.answer;
        let mut limits = Limits { grain: 1 + self.random.below(3), ..Limits::NONE };
        let seed = self.random.below(1000) as u64;
        if self.random.chance(20) {
            limits.depth = self.random.between(0, i64::from(answer.depth) + 1) as u32;
        }
        if self.random.chance(15) {
            limits.states = self.random.below(answer.states as usize + 2) as u64;
        }
        Job { stop_at, keep_going, seed, ..Job::new(self.case.goals.len(), limits) }
    }

    fn storage(&mut self) -> Storage {
        *self.random.pick(&[Storage::Exact, Storage::Compact])
    }

    /// What no search may get wrong; `longest` is the length that is promised for a goal of this distance.
    fn honest(&mut self, job: &Job, mut hunt: Hunt, longest: &dyn Fn(u32) -> u32) -> Checked {
        (self.bend)(&mut hunt);
        let answer = &self.case.answer;
        truthful(self.case, &hunt)?;
        traces(self.case, &Subject { shortest: false, hunt: &|_| unreachable!("it is over") }, &hunt)?;
        self.tally.searches += 1;
        self.tally.complete += usize::from(hunt.coverage == Coverage::Complete);
        for (outcome, shortest) in hunt.outcomes.iter().zip(&answer.shortest) {
            self.tally.missed += usize::from(*outcome == Outcome::Inconclusive && shortest.is_some());
            let (Outcome::Found(trace), Some(shortest)) = (outcome, shortest) else { continue };
            self.tally.found += 1;
            let length = trace.steps.len() as u32;
            same("a run is as short as promised", &(length <= longest(*shortest)), &true)?;
            same("a run is within the depth limit", &(length <= job.limits.depth), &true)?;
        }
        same(
            "states that there are not",
            &(hunt.stats.visited().is_none() && hunt.stats.states > answer.states),
            &false,
        )?;
        if hunt.coverage == Coverage::Complete {
            same("states of everything", &hunt.stats.states, &answer.states)?;
            same("stop", &hunt.stopped, &Stop::Exhausted)?;
        }
        let ends = hunt
            .outcomes
            .iter()
            .enumerate()
            .any(|(goal, outcome)| job.stop_at.contains(goal) && matches!(outcome, Outcome::Found(_)));
        if ends {
            same("it ends at a goal", &hunt.stopped, &Stop::Goal)?;
        }
        Ok(())
    }

    /// Depth bounds: increments, what waits behind a bound, stores, threads.
    fn bounds(&mut self) -> Checked {
        let name = *self.random.pick(&["depth", "depth", "depth-naive"]);
        let mut job = self.job();
        let increment = *self.random.pick(&[1, 1, 2, 3, 7, u32::MAX]);
        job.options.set(&INCREMENT, Value::Number(increment.into()));
        let frontier = *self.random.pick(&["auto", "states", "traces", "tree"]);
        job.options.set(&FRONTIER, Value::Word(frontier));
        job.storage = self.storage();
        job.limits.threads = *self.random.pick(&THREADS);
        let hunt = hunt::of_model(engine(name).expect("it is in the table"), self.model, &job, &mut Patient);
        // It is found within the bound that has it, and no run is longer than that.
        let bound = |shortest: u32| shortest.div_ceil(increment).saturating_mul(increment);
        self.honest(&job, hunt, &bound).map_err(|why| format!("{name}, {job:?}: {why}"))
    }

    /// Highways: widths, degrading, and the same slice on any number of threads.
    fn highways(&mut self) -> Checked {
        let mut job = self.job();
        let width = *self.random.pick(&[1, 2, 3, 8, usize::MAX]);
        let degrade_depth = self.random.chance(40).then(|| 1 + self.random.below(6) as u32);
        let highway = Highway { width, degrade_depth, seed: job.seed, is_beam: false };
        job.storage = self.storage();
        let mut first: Option<Hunt> = None;
        for threads in THREADS {
            job.limits.threads = threads;
            let about = |why| format!("{highway:?}, {job:?}: {why}");
            let hunt = highway.hunt(self.model, &job, &mut Patient);
            // Nothing is left out of levels that are narrower: then it is breadth-first search.
            let is_all = width == usize::MAX && degrade_depth.is_none();
            let longest = |shortest: u32| if is_all { shortest } else { u32::MAX };
            self.honest(&job, hunt.clone(), &longest).map_err(about)?;
            match &first {
                None => first = Some(hunt),
                Some(first) => same_answer(&hunt, first).map_err(about)?,
            }
        }
        Ok(())
    }

    /// Several highways, each with its seed, some of them wider and wider.
    fn runs(&mut self) -> Checked {
        let job = self.job();
        let first = Highway { width: 1 + self.random.below(3), degrade_depth: None, seed: job.seed, is_beam: false };
        let runs = Swarm { first, count: 1 + self.random.below(5) as u64, doubles: self.random.chance(40) };
        let model = self.model;
        let stop_at = job.stop_at;
        let one = |highway: &Highway, limits: Limits, observer: &mut dyn birk_engine::Observer| {
            let hunt = highway.hunt(model, &Job { limits, ..job.clone() }, observer);
            let ends =
                |(goal, outcome): (usize, &Outcome)| stop_at.contains(goal) && matches!(outcome, Outcome::Found(_));
            let is_last = hunt.outcomes.iter().enumerate().any(ends) || hunt.coverage == Coverage::Complete;
            Ran { states: hunt.stats.states, is_last, result: hunt }
        };
        let mut expected: Option<Vec<Hunt>> = None;
        for threads in THREADS {
            let about = |why| format!("{runs:?} on {threads} threads, {:?}: {why}", job.limits);
            let hunts = runs.hunt(Limits { threads, ..job.limits }, &mut Patient, &one);
            for hunt in &hunts {
                self.honest(&job, hunt.clone(), &|_| u32::MAX).map_err(about)?;
            }
            match &expected {
                None => expected = Some(hunts),
                Some(expected) => {
                    same("runs", &hunts.len(), &expected.len()).map_err(about)?;
                    hunts
                        .iter()
                        .zip(expected)
                        .try_for_each(|(hunt, expected)| same_answer(hunt, expected))
                        .map_err(about)?;
                }
            }
        }
        Ok(())
    }

    /// Directed search: refinements, weights, beams.
    fn directed(&mut self) -> Checked {
        let mut job = self.job();
        let refine = self.random.chance(60).then(|| self.random.below(5) as u32);
        let estimate = |goal| match refine {
            Some(depth) => Heuristic::new(&self.case.program, goal, depth),
            None => Heuristic::deepened(&self.case.program, goal),
        };
        let model = Directed::new(self.model, self.case.goals.iter().map(estimate).collect());
        let weight = *self.random.pick(&[1, 1, 2, 5]);
        job.options.set(&WEIGHT, Value::Number(weight.into()));
        let beam = self.random.chance(40).then(|| 1 + self.random.below(5) as u64);
        beam.into_iter().for_each(|width| job.options.set(&BEAM, Value::Number(width)));
        let hunt = hunt::of_model(engine("astar").expect("it is in the table"), &model, &job, &mut Patient);
        let is_shortest = beam.is_none() && weight == 1;
        let longest = |shortest: u32| if is_shortest { shortest } else { u32::MAX };
        let is_limited = (job.limits.depth, job.limits.states) != (u32::MAX, u64::MAX);
        let weighted = if beam.is_some() || is_limited { Ok(()) } else { self.within_weight(&job, weight, &hunt) };
        weighted
            .and_then(|()| self.honest(&job, hunt, &longest))
            .map_err(|why| format!("astar, refined {refine:?}, {job:?}: {why}"))
    }

    /// The first violation is at most so many times as far as the nearest.
    fn within_weight(&self, job: &Job, weight: u32, hunt: &Hunt) -> Checked {
        let nearest = job.stop_at.iter().filter_map(|goal| self.case.answer.shortest[goal]).min();
        let found = job.stop_at.iter().filter_map(|goal| match &hunt.outcomes[goal] {
            Outcome::Found(trace) => Some(trace.steps.len() as u32),
            _ => None,
        });
        let bound = nearest.map(|nearest| nearest * weight);
        same("the first violation is as near as promised", &(found.min() <= bound), &true)
    }

    /// Directed search on sets of states: refinements of the simpler model.
    fn sets(&mut self) -> Checked {
        let mut job = self.job();
        let refine = self.random.chance(70).then(|| self.random.below(4) as u64);
        refine.into_iter().for_each(|rounds| job.options.set(&REFINE, Value::Number(rounds)));
        job.limits = Limits { memory: 8 << 20, ..Limits::NONE };
        let row = birk_symbolic::ENGINES.iter().find(|row| row.name == "bdd-astar").expect("it is in the table");
        match hunt::of_program(row, &self.case.program, &self.case.goals, &job, &mut Patient) {
            Ok(hunt) if hunt.stopped != Stop::Memory => {
                self.honest(&job, hunt, &|shortest| shortest).map_err(|why| format!("bdd-astar, {job:?}: {why}"))
            }
            // It is too much for so little memory.
            _ => Ok(()),
        }
    }

    /// Bits, also so few that states are lost, in one run or several.
    fn bits(&mut self) -> Checked {
        let job = self.job();
        let bitstate = BitState {
            bytes: 1 << self.random.between(3, 14),
            expected: self.random.chance(50).then_some(self.case.answer.states),
            swarm: 1 + self.random.below(3) as u32,
            seed: job.seed,
        };
        let hunt = bitstate.hunt(self.model, &job, &mut Patient);
        let is_claimed = hunt.coverage == Coverage::Complete || hunt.outcomes.contains(&Outcome::Absent);
        same("bits know everything", &is_claimed, &false).map_err(|why| format!("{bitstate:?}: {why}"))?;
        let hunt = Hunt { stats: birk_engine::Stats { states: 0, ..hunt.stats.clone() }, ..hunt };
        self.honest(&job, hunt, &|_| u32::MAX).map_err(|why| format!("{bitstate:?}, {:?}: {why}", job.limits))
    }
}

/// The same answer, whoever computed it.
fn same_answer(found: &Hunt, expected: &Hunt) -> Checked {
    same("outcomes", &found.outcomes, &expected.outcomes)?;
    same("coverage", &found.coverage, &expected.coverage)?;
    same("stop", &found.stopped, &expected.stopped)?;
    same("states", &found.stats.states, &expected.stats.states)
}

/// Every kind of search with options that are drawn, on native code or not.
fn tried(case: &Case, seed: u64, bend: Bend, tally: &mut Tally) -> Checked {
    let interpreter = Interpreter::new(&case.program, &case.goals);
    let native = if seed.is_multiple_of(2) { None } else { Some(Compiled::new(&case.program, &case.goals)?) };
    let model: &dyn Model = native.as_ref().map_or(&interpreter, |native| native);
    let random = Random::new(seed ^ 0x0b7);
    let mut trial = Trial { case, model, random, bend, tally: std::mem::take(tally) };
    let checked = (0..DRAWS).try_for_each(|_| {
        trial.bounds()?;
        trial.highways()?;
        trial.runs()?;
        trial.directed()?;
        trial.bits()
    });
    let checked = checked.and_then(|()| trial.sets());
    *tally = trial.tally;
    checked
}

#[test]
fn whatever_is_asked_for_nothing_false_is_claimed() {
    let mut tally = Tally::default();
    for (seed, text, case) in programs(PROGRAMS) {
        tried(&case, seed, |_| {}, &mut tally).unwrap_or_else(|why| panic!("seed {seed}: {why}\n{text}"));
    }
    println!("{tally:?}");
    let least = tally.found.min(tally.complete).min(tally.missed);
    assert!(least * 20 > tally.searches, "not everything was tried: {tally:?}");
}

/// What a search must not get wrong, whatever its options are; each is noticed.
#[test]
fn bent_answers_to_options_are_noticed() {
    let bends: [(&str, Bend); 5] = [
        ("a run has one step more", |hunt| {
            for outcome in &mut hunt.outcomes {
                if let Outcome::Found(trace) = outcome {
                    trace.steps.extend(trace.steps.last().copied());
                }
            }
        }),
        ("what is open is absent", |hunt| {
            let open = hunt.outcomes.iter_mut().filter(|outcome| **outcome == Outcome::Inconclusive);
            open.for_each(|outcome| *outcome = Outcome::Absent);
        }),
        ("what is found is forgotten", |hunt| {
            let found = hunt.outcomes.iter_mut().filter(|outcome| matches!(outcome, Outcome::Found(_)));
            found.for_each(|outcome| *outcome = Outcome::Absent);
        }),
        ("everything was examined", |hunt| hunt.coverage = Coverage::Complete),
        ("a state is counted twice", |hunt| hunt.stats.states *= 2),
    ];
    let cases: Vec<(u64, Case)> = programs(PROGRAMS).take(30).map(|(seed, _, case)| (seed, case)).collect();
    for (what, bend) in bends {
        let notices = |(seed, case): &(u64, Case)| tried(case, *seed, bend, &mut Tally::default()).is_err();
        assert!(cases.iter().any(notices), "nobody notices: {what}");
    }
}

//! Partial-order reduction on random programs: the reduced search against the reference, and the sets themselves against the
//! definition of a stubborn set.
//!
//! Verdicts *and* the lengths of shortest traces are those of the full graph, for deadlock, fault, each goal alone and all
//! together, whatever is known of commutation; a reduced search has no state that the full one has not.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;

use birk_agreement::case::{self, Case};
use birk_agreement::check::{Checked, same};
use birk_agreement::hunt;
use birk_agreement::random::{Draw as _, Random};
use birk_engine::{Hunt, Job, Limits, Model, Patient, Successors};
use birk_exec::reduction::{Oracle, Preserve};
use birk_exec::{Interpreter, Reduced, Specialised, Syntactic, replay};
use birk_ir::{Coverage, Goal, Outcome, Step, TransitionId};
use birk_jit::Predicates;
use birk_search::{ENGINES, engine};
use birk_symbolic::with_solver;

use super::each_program;

/// How many programs are looked at, unless the environment says otherwise.
const PROGRAMS: u64 = 240;
/// Every so many programs, each set is held against the definition.
const DEFINED: u64 = 3;
/// In every so many, the solver knows nothing of reachable states.
const UNLEARNED: u64 = 4;
/// States that are reached outside of a set, and sets of one search, that are looked at.
const MOST_OUTSIDE: usize = 60;
const MOST_SETS: u64 = 200;
/// Larger programs take too long, unless the environment asks for more programs.
const MOST_STATES: u64 = 1_500;
const MOST_TRANSITIONS: usize = 100;

#[derive(Debug, Default)]
pub(crate) struct Tally {
    searches: u64,
    full: u64,
    reduced: u64,
    forgotten: u64,
    sets: u64,
    runs: u64,
    /// Programs that were reduced by what the solver knows; a few of many are too large for it.
    solved: u64,
    unsolved: u64,
}

/// Calls `look` with what knows nothing, and with the solver.
fn with_oracles(program: &birk_ir::Program, mut look: impl FnMut(&str, &mut dyn Oracle) -> Checked) -> Checked {
    look("syntactic", &mut Syntactic)?;
    with_solver(program, &mut Patient, u64::MAX, |solver| solver.map_or(Ok(()), |solver| look("solver", solver)))
}

fn reduced_programs(part: u64) {
    let mut tally = Tally::default();
    each_program(part, PROGRAMS, |seed, _, text| {
        case::make(text).usable().map_or(Ok(()), |case| agreed(&case, seed, &mut tally))
    });
    println!("{tally:?}");
    let is_tried = tally.searches > 0 && tally.forgotten > 0 && tally.sets > 0 && tally.runs > 0;
    assert!(is_tried && tally.reduced < tally.full, "nothing was reduced: {tally:?}");
    assert!(tally.solved > 100 * tally.unsolved, "random programs are small: {tally:?}");
}

/// Reduced for each goal alone, and for all together.
pub(crate) fn agreed(case: &Case, seed: u64, tally: &mut Tally) -> Checked {
    let specialised = Specialised::new(&case.program);
    let is_small = case.answer.states <= MOST_STATES && specialised.program.transitions.len() <= MOST_TRANSITIONS;
    if !is_small && case::seeds(PROGRAMS) <= PROGRAMS {
        return Ok(());
    }
    let alone = (0..case.goals.len()).map(|goal| goal..goal + 1);
    let groups: Vec<Vec<usize>> = alone.chain(std::iter::once(0..case.goals.len())).map(Iterator::collect).collect();
    let mut is_solved = false;
    let checked = with_oracles(&specialised.program, |name, oracle| {
        is_solved |= name == "solver";
        if !seed.is_multiple_of(UNLEARNED) {
            // As before a search: it is asked, and asked again when it has learned more.
            let full = Interpreter::new(&specialised.program, &case.goals);
            let _ = Reduced::new(&specialised.program, &full, Preserve::Distances(&case.goals), oracle);
            oracle.learn();
        }
        for group in &groups {
            let of = |why: String| format!("{name}, goals {group:?}: {why}");
            let goals: Vec<Goal> = group.iter().map(|&goal| case.goals[goal].clone()).collect();
            let full = Interpreter::new(&specialised.program, &goals);
            let Ok(reduced) = Reduced::new(&specialised.program, &full, Preserve::Distances(&goals), oracle) else {
                continue;
            };
            let counted = searched(case, &specialised, &reduced, group, tally).map_err(of)?;
            let reduced = reduced.forgetting(seed % 3 * 20);
            forgetful(case, &specialised, &reduced, (group, counted), tally).map_err(of)?;
            if seed.is_multiple_of(DEFINED) {
                let every = case.answer.states / MOST_SETS + 1;
                defined(&full, &reduced, (goals.len(), every), tally).map_err(of)?;
                let conditions = Predicates::new(&specialised.program, reduced.conditions())?;
                let states: Vec<Vec<u32>> = states(&full).into_iter().step_by(every as usize).collect();
                let interpreted: Vec<_> = states.iter().map(|state| reduced.stubborn_set(state)).collect();
                let steps = taken(&reduced, &states);
                let native = reduced.with_conditions(Arc::new(conditions));
                for (state, expected) in states.iter().zip(&interpreted) {
                    same("the set by native code", &native.stubborn_set(state), expected).map_err(of)?;
                }
                // One state after the other, sets are remembered.
                same("the steps by native code", &taken(&native, &states), &steps).map_err(of)?;
            }
        }
        Ok(())
    });
    *if is_solved { &mut tally.solved } else { &mut tally.unsolved } += u64::from(checked.is_ok());
    checked
}

/// The steps that are taken in each of these states.
fn taken(reduced: &Reduced<'_>, states: &[Vec<u32>]) -> Vec<Vec<Step>> {
    let mut batch = Successors::new(reduced.words());
    let mut steps = |state: &Vec<u32>| {
        batch.clear();
        reduced.successors(state, &mut batch);
        batch.steps(0).to_vec()
    };
    states.iter().map(&mut steps).collect()
}

/// What the engines find is what the reference finds, at the same depth.
fn searched(
    case: &Case,
    specialised: &Specialised,
    reduced: &Reduced<'_>,
    group: &[usize],
    tally: &mut Tally,
) -> Result<(u64, u64), String> {
    let mut counts = None;
    // The sets depend on the state alone: several threads need not be tried for each of them.
    let threads: &[usize] = if group.len() == case.goals.len() { &[1, 2, 8] } else { &[1] };
    let engines = ENGINES.iter().filter(|engine| !engine.slices);
    for (engine, &threads) in engines.flat_map(|engine| threads.iter().map(move |threads| (engine, threads))) {
        if threads > 1 && !engine.scales {
            continue;
        }
        let limits = Limits { threads, grain: 4, ..Limits::NONE };
        let job = Job { keep_going: true, ..Job::new(group.len(), limits) };
        let found = hunt::of_model(engine, reduced, &job, &mut Patient);
        let of = |why: String| format!("{} on {threads} threads: {why}", engine.name);
        same("coverage", &found.coverage, &Coverage::Complete).map_err(of)?;
        same("fewer states", &(found.stats.states <= case.answer.states), &true).map_err(of)?;
        let counted = (found.stats.states, found.stats.transitions);
        same("states and transitions", &counted, counts.get_or_insert(counted)).map_err(of)?;
        tally.searches += 1;
        tally.full += case.answer.states;
        tally.reduced += found.stats.states;
        let found = specialised.original(&case.program, found);
        confirmed(case, &found, group, engine.shortest).map_err(of)?;
    }
    counts.ok_or_else(|| "no engine has searched".to_owned())
}

/// A search that forgets states finds the same, looks at no fewer, and remembers no more.
fn forgetful(
    case: &Case,
    specialised: &Specialised,
    reduced: &Reduced<'_>,
    (group, (states, _)): (&[usize], (u64, u64)),
    tally: &mut Tally,
) -> Checked {
    let mut counts = None;
    let threads: &[usize] = if group.len() == case.goals.len() { &[1, 2, 8] } else { &[1] };
    for &threads in threads {
        let limits = Limits { threads, grain: 4, ..Limits::NONE };
        let job = Job { keep_going: true, ..Job::new(group.len(), limits) };
        let found = hunt::of_model(engine("bfs").expect("there is breadth-first search"), reduced, &job, &mut Patient);
        let of = |why: String| format!("forgetting, on {threads} threads: {why}");
        same("coverage", &found.coverage, &Coverage::Complete).map_err(of)?;
        let stats = &found.stats;
        let is_less = stats.states - stats.transient <= states && stats.states >= states;
        same("no more states remembered", &is_less, &true).map_err(of)?;
        let counted = (stats.states, stats.transient, stats.transitions);
        same("states and transitions", &counted, counts.get_or_insert(counted)).map_err(of)?;
        tally.forgotten += stats.transient;
        let found = specialised.original(&case.program, found);
        confirmed(case, &found, group, true).map_err(of)?;
    }
    Ok(())
}

/// Each goal is found where it is there, as near as it is; and its trace is one of the original program.
pub(crate) fn confirmed(case: &Case, found: &Hunt, group: &[usize], is_shortest: bool) -> Checked {
    for (&goal, outcome) in group.iter().zip(&found.outcomes) {
        let property = &case.program.properties[goal];
        let shortest = case.answer.shortest[goal];
        let about = |what: &str| format!("{what} of `{}`", property.name);
        same(&about("found"), &matches!(outcome, Outcome::Found(_)), &shortest.is_some())?;
        let Outcome::Found(trace) = outcome else { continue };
        if is_shortest {
            same(&about("length"), &Some(trace.steps.len() as u32), &shortest)?;
        }
        let run = replay(&case.program, trace).map_err(|error| format!("{}: {error:?}", about("replay")))?;
        run.confirm(&case.program, property).map_err(|error| format!("{}: {error:?}", about("replay")))?;
    }
    Ok(())
}

/// In states that are visited, every so many, the set is stubborn: D1 and the attractors hold for all runs outside of it.
fn defined(full: &Interpreter<'_>, reduced: &Reduced<'_>, (goals, every): (usize, u64), tally: &mut Tally) -> Checked {
    let mut batch = Successors::new(full.words());
    full.initial(&mut batch);
    let mut queue: VecDeque<Vec<u32>> = (0..batch.len()).map(|at| batch.state(at).to_vec()).collect();
    let mut seen: HashSet<Vec<u32>> = queue.iter().cloned().collect();
    let mut visited = 0;
    while let Some(state) = queue.pop_front() {
        visited += 1;
        if visited % every == 0
            && let Some(set) = reduced.stubborn_set(&state)
        {
            tally.sets += 1;
            let mut definition = Definition { full, set, goals, batch: Successors::new(full.words()), runs: 0 };
            definition.check(&state).map_err(|why| format!("in {state:x?}: {why}"))?;
            tally.runs += definition.runs;
        }
        batch.clear();
        reduced.successors(&state, &mut batch);
        for i in (0..batch.len()).filter(|&i| !full.is_fault(batch.state(i))) {
            if seen.insert(batch.state(i).to_vec()) {
                queue.push_back(batch.state(i).to_vec());
            }
        }
    }
    Ok(())
}

/// A set in a state of the full graph.
struct Definition<'m> {
    full: &'m Interpreter<'m>,
    set: Vec<bool>,
    goals: usize,
    batch: Successors,
    runs: u64,
}

impl Definition<'_> {
    fn check(&mut self, state: &[u32]) -> Checked {
        let met = self.goals_in(state);
        // Each state that is reached without the set, and one run to it.
        let mut runs: HashMap<Vec<u32>, Vec<TransitionId>> = HashMap::from([(state.to_vec(), Vec::new())]);
        let mut queue = VecDeque::from([state.to_vec()]);
        while let Some(there) = queue.pop_front() {
            self.runs += 1;
            let run = runs[&there].clone();
            let new = self.goals_in(&there) & !met;
            same(&format!("goals that are met without the set, by {run:?}"), &new, &0)?;
            for (transition, next) in self.steps(&there) {
                if self.set[transition.index()] {
                    let moved = self.first(state, transition, &run);
                    same(&format!("{transition:?} may come before {run:?}"), &moved.contains(&next), &true)?;
                } else if runs.len() < MOST_OUTSIDE && !self.full.is_fault(&next) && !runs.contains_key(&next) {
                    runs.insert(next.clone(), [&run[..], &[transition]].concat());
                    queue.push_back(next);
                } else if self.full.is_fault(&next) {
                    let new = self.goals_in(&next) & !met;
                    same(&format!("faults that are met without the set, by {run:?}"), &new, &0)?;
                }
            }
        }
        Ok(())
    }

    /// Where a transition and then a run lead. What fails first fails whatever follows: a run ends there.
    fn first(&mut self, state: &[u32], transition: TransitionId, run: &[TransitionId]) -> HashSet<Vec<u32>> {
        let mut states = self.by(state, transition);
        for &next in run {
            let mut after = HashSet::new();
            for state in states {
                match self.full.is_fault(&state) {
                    true => after.extend([state]),
                    false => after.extend(self.by(&state, next)),
                }
            }
            states = after;
        }
        // The values of a step that broke off are of no meaning.
        states
    }

    fn by(&mut self, state: &[u32], transition: TransitionId) -> HashSet<Vec<u32>> {
        self.steps(state).into_iter().filter(|(taken, _)| *taken == transition).map(|(_, next)| next).collect()
    }

    fn steps(&mut self, state: &[u32]) -> Vec<(TransitionId, Vec<u32>)> {
        self.batch.clear();
        self.full.successors(state, &mut self.batch);
        (0..self.batch.len()).map(|i| (self.batch.step(i).transition, self.batch.state(i).to_vec())).collect()
    }

    fn goals_in(&mut self, state: &[u32]) -> u64 {
        let cut = self.batch.cut;
        self.batch.clear();
        self.full.successors(state, &mut self.batch);
        let stuck = !self.full.is_fault(state) && self.batch.is_stuck_since(0, cut);
        self.full.evaluate(state, stuck).0 & ((1 << self.goals) - 1)
    }
}

parts! {
    reduced_programs:
    reduced_programs_0: 0;
    reduced_programs_1: 1;
    reduced_programs_2: 2;
    reduced_programs_3: 3;
    reduced_programs_4: 4;
    reduced_programs_5: 5;
    reduced_programs_6: 6;
    reduced_programs_7: 7;
}

/// What the solver says of pairs of transitions is what their meaning says in every reachable state.
#[test]
fn what_the_solver_proves_is_so() {
    let (mut proved, mut compared) = (0, 0);
    for (seed, text, case) in case::programs(60) {
        let specialised = Specialised::new(&case.program);
        let program = &specialised.program;
        let model = Interpreter::new(program, &[]);
        let mut random = Random::new(seed);
        let many = program.transitions.len() as i64;
        let pairs: Vec<(usize, usize)> =
            (0..40).map(|_| (random.between(0, many - 1) as usize, random.between(0, many - 1) as usize)).collect();
        let proved_pairs: Vec<(usize, usize)> = with_solver(program, &mut Patient, u64::MAX, |solver| {
            let solver = solver.expect("random programs are small");
            solver.learn();
            pairs.into_iter().filter(|&(one, other)| one != other && solver.accord(one, other)).collect()
        });
        proved += proved_pairs.len();
        let mut definition =
            Definition { full: &model, set: Vec::new(), goals: 0, batch: Successors::new(model.words()), runs: 0 };
        for state in states(&model) {
            for &(one, other) in &proved_pairs {
                let (one, other) = (TransitionId::new(one), TransitionId::new(other));
                let (first, second) = (definition.by(&state, one), definition.by(&state, other));
                if first.is_empty() || second.is_empty() {
                    continue;
                }
                compared += 1;
                let is_whole = |states: &HashSet<Vec<u32>>| !states.iter().any(|state| model.is_fault(state));
                let mut then = |states: &HashSet<Vec<u32>>, next| -> HashSet<Vec<u32>> {
                    states.iter().flat_map(|state| definition.by(state, next)).collect()
                };
                if is_whole(&first) && is_whole(&second) {
                    assert_eq!(then(&first, other), then(&second, one), "seed {seed}: {one:?} and {other:?}\n{text}");
                }
            }
        }
    }
    assert!(proved > 0 && compared > 0, "{proved} proved, {compared} compared");
}

fn states(model: &Interpreter<'_>) -> Vec<Vec<u32>> {
    let mut batch = Successors::new(model.words());
    model.initial(&mut batch);
    let mut states: Vec<Vec<u32>> = (0..batch.len()).map(|at| batch.state(at).to_vec()).collect();
    let mut seen: HashSet<Vec<u32>> = states.iter().cloned().collect();
    let mut next = 0;
    while next < states.len() {
        batch.clear();
        model.successors(&states[next], &mut batch);
        next += 1;
        for i in (0..batch.len()).filter(|&i| !model.is_fault(batch.state(i))) {
            if seen.insert(batch.state(i).to_vec()) {
                states.push(batch.state(i).to_vec());
            }
        }
    }
    states
}

//! Certificates of random programs: all that engines write are accepted, and of those that are bent, exactly those that still prove
//! something. What does is decided by brute force, with the interpreter, over all states that there can be.

use std::collections::{BTreeSet, HashSet};

use birk::certificate::{of_invariants, of_states, values};
use birk::certify::{Evidence, Keys, Refusal, check};
use birk_agreement::case::{Case, programs};
use birk_agreement::check::{Checked, same};
use birk_agreement::hunt::{self, Ends};
use birk_agreement::random::Random;
use birk_engine::{Job, Limits, Model as _, Search, Successors};
use birk_exec::Interpreter;
use birk_ir::{BitIs, Goal, Invariant, Outcome, Program, Property, VarId};

/// How many programs are examined, unless the environment says otherwise.
const PROGRAMS: u64 = 60;
/// IC3 is ended when it has asked so many times whether to go on.
pub(crate) const MOST: u32 = 5_000;
/// Programs with more states than this, reachable or not, are not enumerated.
const MOST_STATES: u64 = 20_000;
/// How often each certificate is bent, each time in another way.
const BENT: u32 = 8;

pub(crate) type State = Vec<u32>;

/// The interpreter's successors of a state, and the goals that it meets.
pub(crate) fn expand(model: &Interpreter<'_>, state: &[u32]) -> (Vec<State>, Vec<usize>) {
    let mut batch = Successors::new(model.words());
    model.successors(state, &mut batch);
    let next: Vec<State> = (0..batch.len()).map(|at| batch.state(at).to_vec()).collect();
    let goals = model.evaluate(state, next.is_empty() && batch.cut == 0).iter().collect();
    (next, goals)
}

pub(crate) fn reachable(model: &Interpreter<'_>, program: &Program) -> BTreeSet<State> {
    let mut open = program.initial_states();
    let mut seen: BTreeSet<State> = open.iter().cloned().collect();
    while let Some(state) = open.pop() {
        for next in expand(model, &state).0 {
            if seen.insert(next.clone()) {
                open.push(next);
            }
        }
    }
    seen
}

fn packed<'s>(program: &Program, states: impl IntoIterator<Item = &'s State>) -> Vec<u8> {
    let (keys, mut bytes) = (Keys::new(program), Vec::new());
    states.into_iter().for_each(|state| assert!(keys.pack(values(program, state), &mut bytes)));
    bytes
}

/// The properties whose goals no state satisfies.
fn absent(case: &Case) -> Vec<&Property> {
    let of = case.program.properties.iter().zip(&case.answer.shortest);
    of.filter(|(_, shortest)| shortest.is_none()).map(|(property, _)| property).collect()
}

fn verdict(program: &Program, bytes: &[u8]) -> Result<Evidence, Refusal> {
    check(program, bytes, &|| true).map(|certified| certified.evidence)
}

/// What one search of an engine writes, through the front door.
fn written(program: &Program, engine: &str) -> Result<Vec<u8>, String> {
    let options = birk::Options { engine: engine.into(), keep_going: true, certificate: true, ..Default::default() };
    let report = birk::check(program, &options, &mut birk::Patient).map_err(|error| error.to_string())?;
    report.certificate.ok_or("one was asked for")?
}

#[derive(Debug, Default)]
struct Tally {
    accepted: usize,
    /// Bent, and no longer a proof.
    rejected: usize,
    /// Bent, and a proof all the same.
    still: usize,
    /// The encoding cannot tell.
    unknown: usize,
}

fn by_states(case: &Case, random: &mut Random, tally: &mut Tally) -> Checked {
    let (program, absent) = (&case.program, absent(case));
    if absent.is_empty() {
        return Ok(());
    }
    let model = Interpreter::new(program, &case.goals);
    let states = reachable(&model, program);
    let whole = of_states(program, &absent, &packed(program, &states));
    let evidence = Evidence::States(states.len() as u64, case.answer.transitions);
    same("accepted", &verdict(program, &whole), &Ok(evidence))?;
    for engine in birk::Engines::default().iter().filter(|engine| engine.certifies && !engine.on_disk) {
        if matches!(engine.search, Search::Model(_)) {
            same(engine.name, &written(program, engine.name), &Ok(whole.clone()))?;
            tally.accepted += 1;
        }
    }
    for _ in 0..BENT {
        let mut bent = states.clone();
        let one = bent.iter().nth(random.below(states.len())).expect("there are states").clone();
        bent.remove(&one);
        let is_refused =
            |states: &BTreeSet<State>| verdict(program, &of_states(program, &absent, &packed(program, states)));
        if !bent.is_empty() {
            same("a state less", &matches!(is_refused(&bent), Err(Refusal::Fails(_))), &true)?;
            tally.rejected += 1;
        }
        // A bit of one state turned round: it may be another state, or none.
        let mut keys = packed(program, &states);
        let bit = random.below(keys.len() * 8);
        keys[bit / 8] ^= 1 << (bit % 8);
        let refused = verdict(program, &of_states(program, &absent, &keys));
        same("a bit turned", &matches!(refused, Err(Refusal::Fails(_))), &true)?;
        tally.rejected += 1;
        // One state more: it proves the same if no step leads out, and it is not bad.
        if let Some(more) = another(program, &states, random) {
            let (next, goals) = expand(&model, &more);
            let mut bent = states.clone();
            bent.insert(more);
            let is_bad = goals.iter().any(|&goal| case.answer.shortest[goal].is_none());
            let is_proof = !is_bad && next.iter().all(|next| bent.contains(next));
            same("a state more", &is_refused(&bent).is_ok(), &is_proof)?;
            *(if is_proof { &mut tally.still } else { &mut tally.rejected }) += 1;
        }
    }
    Ok(())
}

/// A state that is not among these.
fn another(program: &Program, states: &BTreeSet<State>, random: &mut Random) -> Option<State> {
    let mut state = states.iter().nth(random.below(states.len()))?.clone();
    let variable = random.below(program.variables.len());
    let (slot, declared) = (program.layout.slot(VarId::new(variable)), &program.variables[variable]);
    let value = declared.lo + random.below((declared.hi - declared.lo + 1).min(1 << 16) as usize) as i64;
    let element = random.below(declared.len().max(1) as usize) as u32;
    (!declared.is_empty()).then(|| slot.set(&mut state, element, value))?;
    (!states.contains(&state)).then_some(state)
}

/// All states that the types of the variables allow, if they are few.
pub(crate) fn all_states(program: &Program) -> Option<Vec<State>> {
    let mut all = vec![vec![0; program.layout.words()]];
    for (number, variable) in program.variables.iter().enumerate() {
        let slot = program.layout.slot(VarId::new(number));
        for element in 0..variable.len() {
            if (variable.hi - variable.lo + 1) as u64 * all.len() as u64 > MOST_STATES {
                return None;
            }
            let with = |state: &State, value: i64| {
                let mut state = state.clone();
                slot.set(&mut state, element, value);
                state
            };
            all =
                all.iter().flat_map(|state| (variable.lo..=variable.hi).map(move |value| with(state, value))).collect();
        }
    }
    Some(all)
}

/// Whether an invariant is true in a state.
pub(crate) fn is_true(program: &Program, invariant: &Invariant, state: &[u32]) -> bool {
    let value = |variable: VarId, element: u32| program.layout.slot(variable).get(state, element);
    let is = |is: &BitIs| (value(is.variable, is.element) >> is.bit & 1 == 1) == is.is_set;
    let in_bounds = invariant.bounds.iter().enumerate().all(|(number, (lo, hi))| {
        let elements = 0..program.variables[number].len();
        elements.into_iter().all(|element| (lo..=hi).contains(&&value(VarId::new(number), element)))
    });
    in_bounds && !invariant.excluded.iter().any(|cube| cube.iter().all(is))
}

/// Whether it is inductive and excludes a goal, by looking at every state.
fn is_proof(program: &Program, goal: &Goal, invariant: &Invariant, all: &[State]) -> bool {
    let model = Interpreter::new(program, std::slice::from_ref(goal));
    let holds: HashSet<&State> = all.iter().filter(|state| is_true(program, invariant, state)).collect();
    program.initial_states().iter().all(|state| holds.contains(state))
        && holds.iter().all(|state| {
            let (next, goals) = expand(&model, state);
            goals.is_empty() && next.iter().all(|next| holds.contains(next))
        })
}

/// Leaves a clause out, turns a condition round, or narrows a bound.
fn bend(invariant: &mut Invariant, random: &mut Random) {
    let cubes = invariant.excluded.len();
    match random.below(3) {
        0 if cubes > 0 => _ = invariant.excluded.remove(random.below(cubes)),
        1 if cubes > 0 => {
            let cube = &mut invariant.excluded[random.below(cubes)];
            let (at, length) = (random.below(cube.len()), cube.len());
            cube[at.min(length - 1)].is_set ^= true;
        }
        _ => {
            let variable = random.below(invariant.bounds.len());
            let (lo, hi) = &mut invariant.bounds[variable];
            if lo < hi {
                *hi -= 1;
            }
        }
    }
}

fn by_invariants(engine: &str, case: &Case, random: &mut Random, tally: &mut Tally) -> Checked {
    let program = &case.program;
    let engine = birk_symbolic::ENGINES.iter().find(|of| of.name == engine).expect("it is in the table");
    let job = Job { keep_going: true, wants_invariant: true, ..Job::new(case.goals.len(), Limits::NONE) };
    let Ok(hunt) = hunt::of_program(engine, program, &case.goals, &job, &mut Ends(MOST)) else { return Ok(()) };
    let all = all_states(program);
    for (goal, invariant) in hunt.stats.invariants().iter().enumerate() {
        same("an invariant", &invariant.is_some(), &(hunt.outcomes[goal] == Outcome::Absent))?;
        let Some(invariant) = invariant else { continue };
        let property = &program.properties[goal];
        match verdict(program, &of_invariants(program, &[(property, invariant)])) {
            Ok(_) => tally.accepted += 1,
            Err(Refusal::Unknown(_)) => {
                tally.unknown += 1;
                continue;
            }
            Err(refusal) => return Err(format!("not accepted: {refusal}")),
        }
        let Some(all) = &all else { continue };
        same("by brute force", &is_proof(program, &case.goals[goal], invariant, all), &true)?;
        for _ in 0..BENT {
            let mut bent = invariant.clone();
            bend(&mut bent, random);
            let refused = verdict(program, &of_invariants(program, &[(property, &bent)]));
            match is_proof(program, &case.goals[goal], &bent, all) {
                true if refused.is_ok() => tally.still += 1,
                false if matches!(refused, Err(Refusal::Fails(_))) => tally.rejected += 1,
                _ if matches!(refused, Err(Refusal::Unknown(_))) => tally.unknown += 1,
                is_proof => return Err(format!("a proof: {is_proof}, and the checker says {refused:?}: {bent:?}")),
            }
        }
    }
    Ok(())
}

#[test]
fn visited_states_prove_what_they_do() {
    let mut tally = Tally::default();
    for (seed, text, case) in programs(PROGRAMS) {
        if let Err(why) = by_states(&case, &mut Random::new(seed), &mut tally) {
            panic!("seed {seed}: {why}\n{text}");
        }
    }
    println!("{tally:?}");
    assert!(tally.accepted.min(tally.rejected) > 100 && tally.still > 0, "not everything was tried: {tally:?}");
}

/// Invariants of an engine, of so many programs.
fn invariants_of(engine: &str, programs_of_it: u64) {
    let mut tally = Tally::default();
    for (seed, text, case) in programs(programs_of_it) {
        if let Err(why) = by_invariants(engine, &case, &mut Random::new(seed), &mut tally) {
            panic!("seed {seed}, {engine}: {why}\n{text}");
        }
    }
    println!("{engine}: {tally:?}");
    assert!(tally.accepted.min(tally.rejected).min(tally.still) > 20, "not everything was tried: {tally:?}");
}

#[test]
fn invariants_prove_what_they_do() {
    invariants_of("ic3", 4 * PROGRAMS);
}

/// What they have reached excludes every other state, and so is an invariant.
#[test]
fn diagrams_prove_what_they_do() {
    invariants_of("bdd", 2 * PROGRAMS);
    invariants_of("bdd-chain", 2 * PROGRAMS);
}

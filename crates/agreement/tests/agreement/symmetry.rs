//! Symmetry reduction on random programs: what is proved is so, and a search among representatives finds what the reference finds.
//!
//! In every state, a swap of two names maps the successors of the state to those of its image, and goals are met in both or in
//! neither. There are as many representatives as orbits, counted by brute force. Verdicts *and* the lengths of shortest traces are
//! those of the full graph, and traces are traces of the program.

use std::collections::{HashMap, HashSet};

use birk_agreement::case::{self, Case};
use birk_agreement::check::{Checked, same};
use birk_agreement::hunt;
use birk_agreement::programs::symmetric::symmetric;
use birk_engine::{Job, Limits, Model, Patient, Successors};
use birk_exec::reduction::Preserve;
use birk_exec::{Automorphisms, Interpreter, Reduced, Specialised, Symmetric, Syntactic};
use birk_ir::{Coverage, Goal};
use birk_search::ENGINES;

use super::PARTS;
use crate::reduction::confirmed;

/// How many programs are looked at, unless the environment says otherwise.
const PROGRAMS: u64 = 240;
/// Larger programs take too long, unless the environment asks for more programs.
const MOST_STATES: u64 = 2_000;

/// Images of states that are looked at in one program.
const MOST_IMAGES: u64 = 50_000;

#[derive(Debug, Default)]
pub(crate) struct Tally {
    programs: u64,
    /// Of which some names can be permuted.
    symmetric: u64,
    /// Whose representatives are found by more than sorting.
    refined: u64,
    /// With names that are rotated.
    rings: u64,
    inexact: u64,
    searches: u64,
    images: u64,
    full: u64,
    orbits: u64,
}

fn symmetric_programs(part: u64) {
    let mut tally = Tally::default();
    for seed in (0..case::seeds(PROGRAMS)).filter(|seed| seed % PARTS == part) {
        let text = symmetric(seed);
        let Some(case) = case::make(&text).usable() else { continue };
        if let Err(why) = agreed(&case, &mut tally) {
            panic!("seed {seed}: {why}\n{text}");
        }
    }
    println!("{tally:?}");
    let is_tried = tally.symmetric > 0 && tally.images > 0 && tally.orbits < tally.full && tally.rings > 0;
    assert!(is_tried, "nothing was permuted: {tally:?}");
}

/// Programs that were not made to be symmetric are so now and then.
#[test]
fn programs_of_all_kinds() {
    let mut tally = Tally::default();
    for (seed, text, case) in case::programs(PROGRAMS) {
        if let Err(why) = agreed(&case, &mut tally) {
            panic!("seed {seed}: {why}\n{text}");
        }
    }
    println!("{tally:?}");
    assert!(tally.symmetric > 0 && tally.programs > tally.symmetric, "{tally:?}");
}

/// For all goals together, and for each alone, where that leaves more permutations.
pub(crate) fn agreed(case: &Case, tally: &mut Tally) -> Checked {
    if case.answer.states > MOST_STATES && case::seeds(PROGRAMS) <= PROGRAMS {
        return Ok(());
    }
    tally.programs += 1;
    let all: Vec<usize> = (0..case.goals.len()).collect();
    let groups = std::iter::once(all).chain((0..case.goals.len()).map(|goal| vec![goal]));
    let mut known = Vec::new();
    for group in groups {
        let goals: Vec<Goal> = group.iter().map(|&goal| case.goals[goal].clone()).collect();
        let found = Automorphisms::new(&case.program, &goals);
        if found.is_trivial() || known.contains(&found.groups().to_vec()) {
            continue;
        }
        known.push(found.groups().to_vec());
        // All images of all states are looked at.
        let orders = found.groups().iter().flat_map(|group| 1..=group.len() as u64);
        if orders.fold(case.answer.states, u64::saturating_mul) > MOST_IMAGES {
            continue;
        }
        tally.symmetric += 1;
        tally.refined += u64::from(!found.is_sorted());
        tally.rings += u64::from(found.rings().contains(&true));
        let of = |why: String| format!("goals {group:?}, names {:?}: {why}", found.groups());
        let model = Interpreter::new(&case.program, &goals);
        let orbits = proved(&model, &found, tally).map_err(of)?;
        searched(case, &model, &found, (&group, orbits), tally).map_err(of)?;
        reduced(case, &found, &group, &goals, tally).map_err(of)?;
        tally.inexact += u64::from(!found.is_exact());
    }
    Ok(())
}

/// Each swap is an automorphism of the states that are reached from the initial one and from its images. How many orbits those
/// from the initial state have.
fn proved(model: &Interpreter<'_>, found: &Automorphisms, tally: &mut Tally) -> Result<u64, String> {
    let mut batch = Successors::new(model.words());
    model.initial(&mut batch);
    let mut states: Vec<Vec<u32>> = (0..batch.len()).map(|at| batch.state(at).to_vec()).collect();
    let mut seen: HashSet<Vec<u32>> = states.iter().cloned().collect();
    // The number of the orbit of each state, those of images that were met included.
    let mut orbits: HashMap<Vec<u32>, usize> = HashMap::new();
    let mut next = 0;
    let mut number = 0;
    while next < states.len() {
        let state = states[next].clone();
        next += 1;
        if !orbits.contains_key(&state) {
            orbits.insert(state.clone(), number);
            let mut open = vec![state.clone()];
            while let Some(state) = open.pop() {
                for image in found.neighbours(&state) {
                    if !orbits.contains_key(&image) {
                        orbits.insert(image.clone(), number);
                        open.push(image);
                    }
                }
            }
            number += 1;
        }
        let (successors, goals) = expanded(model, &state, &mut batch);
        for (position, image) in found.neighbours(&state).into_iter().enumerate() {
            tally.images += 1;
            let about = |what: &str| format!("{what} of {state:x?} and its image {image:x?}");
            let (theirs, met) = expanded(model, &image, &mut batch);
            same(&about("goals"), &met, &goals)?;
            // What a failing check leaves need not be an image in all of its values.
            let mut ours: Vec<Option<Vec<u32>>> = successors
                .iter()
                .map(|next| next.as_ref().map(|next| found.neighbours(next).swap_remove(position)))
                .collect();
            ours.sort_unstable();
            same(&about("successors"), &theirs, &ours)?;
        }
        for next in successors.into_iter().flatten() {
            if seen.insert(next.clone()) {
                states.push(next);
            }
        }
    }
    // Each orbit has one representative, which is in it.
    let mut representatives: HashMap<usize, Vec<u32>> = HashMap::new();
    for (state, orbit) in &orbits {
        let mut representative = state.clone();
        found.represent(&mut representative);
        same("orbit of the representative", &orbits.get(&representative), &Some(orbit))?;
        let one = representatives.entry(*orbit).or_insert_with(|| representative.clone());
        if found.is_exact() {
            same("the representative", &representative, &*one)?;
        }
    }
    Ok(number as u64)
}

/// The successors in order, without what failing checks leave, and the goals that are met.
fn expanded(model: &Interpreter<'_>, state: &[u32], batch: &mut Successors) -> (Vec<Option<Vec<u32>>>, u64) {
    batch.clear();
    let cut = batch.cut;
    model.successors(state, batch);
    let goals = model.evaluate(state, batch.is_stuck_since(0, cut)).0;
    let next = |index: usize| (!model.is_fault(batch.state(index))).then(|| batch.state(index).to_vec());
    let mut successors: Vec<Option<Vec<u32>>> = (0..batch.len()).map(next).collect();
    successors.sort_unstable();
    (successors, goals)
}

/// What the engines find is what the reference finds, at the same depth.
fn searched(
    case: &Case,
    model: &Interpreter<'_>,
    found: &Automorphisms,
    (group, orbits): (&[usize], u64),
    tally: &mut Tally,
) -> Checked {
    let symmetric = Symmetric::new(model, found);
    let engines = ENGINES.iter().filter(|engine| !engine.slices && !engine.directed);
    for (engine, threads) in engines.flat_map(|engine| [1, 2, 8].map(|threads| (engine, threads))) {
        if threads > 1 && !engine.scales {
            continue;
        }
        let limits = Limits { threads, grain: 4, ..Limits::NONE };
        let job = Job { keep_going: true, ..Job::new(group.len(), limits) };
        let hunt = hunt::of_model(engine, &symmetric, &job, &mut Patient);
        let of = |why: String| format!("{} on {threads} threads: {why}", engine.name);
        same("coverage", &hunt.coverage, &Coverage::Complete).map_err(of)?;
        match found.is_exact() {
            true => same("orbits", &hunt.stats.states, &orbits).map_err(of)?,
            false => {
                same("at least as many as orbits", &(orbits..=case.answer.states).contains(&hunt.stats.states), &true)
                    .map_err(of)?;
            }
        }
        tally.searches += 1;
        tally.full += case.answer.states;
        tally.orbits += hunt.stats.states;
        let hunt = found.original(&case.program, &case.program, hunt);
        confirmed(case, &hunt, group, engine.shortest).map_err(of)?;
    }
    Ok(())
}

/// The same with a partial-order reduction below.
fn reduced(case: &Case, found: &Automorphisms, group: &[usize], goals: &[Goal], tally: &mut Tally) -> Checked {
    let specialised = Specialised::new(&case.program);
    let full = Interpreter::new(&specialised.program, goals);
    let Ok(reduced) = Reduced::new(&specialised.program, &full, Preserve::Distances(goals), &mut Syntactic) else {
        return Ok(());
    };
    let symmetric = Symmetric::new(&reduced, found);
    let bfs = birk_search::engine("bfs").expect("there is breadth-first search");
    let mut counts = None;
    for threads in [1, 2] {
        let job = Job { keep_going: true, ..Job::new(goals.len(), Limits { threads, grain: 4, ..Limits::NONE }) };
        let hunt = hunt::of_model(bfs, &symmetric, &job, &mut Patient);
        let of = |why: String| format!("reduced, on {threads} threads: {why}");
        same("states", &hunt.stats.states, counts.get_or_insert(hunt.stats.states)).map_err(of)?;
        same("fewer states", &(hunt.stats.states <= case.answer.states), &true).map_err(of)?;
        tally.searches += 1;
        let hunt = found.original(&case.program, &specialised.program, hunt);
        confirmed(case, &hunt, group, true).map_err(of)?;
    }
    Ok(())
}

parts! {
    symmetric_programs:
    symmetric_programs_0: 0;
    symmetric_programs_1: 1;
    symmetric_programs_2: 2;
    symmetric_programs_3: 3;
    symmetric_programs_4: 4;
    symmetric_programs_5: 5;
    symmetric_programs_6: 6;
    symmetric_programs_7: 7;
}

//! The labels `accept` and `progress` on random programs: what the graph of the tree says about runs, against every search for
//! cycles.

use std::collections::HashMap;

use birk_agreement::case::programs;
use birk_agreement::check::{Checked, same};
use birk_agreement::meaning::{Meaning, Outcome as Taken, State};
use birk_engine::{Hunt, Job, Limits, Model, Patient};
use birk_exec::automaton::violations_of;
use birk_exec::{Interpreter, Product, replay};
use birk_ir::{Coverage, Formula, Goal, Outcome, Program, Property, PropertyKind};
use birk_jit::Compiled;
use birk_lang::ast::System;
use birk_search::bitstate::BitState;
use birk_search::liveness::CycleSearch;

/// How many programs are examined, unless the environment says otherwise.
const PROGRAMS: u64 = 120;
/// Their graphs have fewer states than this.
const FEW_STATES: u64 = 600;

/// What became of some labels.
#[derive(Debug, Default)]
struct Tally {
    violated: [usize; 2],
    holds: [usize; 2],
}

/// The states of a tree, where their steps lead, and which have no step at all: those repeat forever.
struct Runs {
    /// For each state, whether some thread is at a place labelled `accept`, and `progress`.
    labelled: Vec<[bool; 2]>,
    next: Vec<Vec<usize>>,
}

impl Runs {
    fn of(system: &System) -> Self {
        let meaning = Meaning::new(system);
        let mut states = meaning.initial_states();
        let mut known: HashMap<State, usize> = states.iter().cloned().zip(0..).collect();
        let mut runs = Runs { labelled: Vec::new(), next: Vec::new() };
        while let Some(state) = states.get(runs.next.len()).cloned() {
            let own = runs.next.len();
            let outcomes: Vec<Taken> = meaning.steps(&state).into_iter().flat_map(|step| step.outcomes).collect();
            // What only goes wrong, or is cut, ends; what has no step at all stays.
            let mut next = if outcomes.is_empty() { vec![own] } else { Vec::new() };
            for outcome in outcomes {
                let Taken::State(to) = outcome else { continue };
                next.push(*known.entry(to.clone()).or_insert_with(|| {
                    states.push(to);
                    states.len() - 1
                }));
            }
            runs.next.push(next);
            runs.labelled.push(labels(&meaning, &state));
        }
        runs
    }

    /// The states that are on a cycle of states which are all so.
    fn on_cycles(&self, is_so: &dyn Fn(usize) -> bool) -> Vec<bool> {
        let reaches_itself = |start: usize| {
            let mut seen = vec![false; self.next.len()];
            let mut stack: Vec<usize> = self.next[start].clone();
            while let Some(state) = stack.pop() {
                if !is_so(state) || std::mem::replace(&mut seen[state], true) {
                    continue;
                }
                stack.extend(&self.next[state]);
            }
            seen[start]
        };
        (0..self.next.len()).map(|state| is_so(state) && reaches_itself(state)).collect()
    }

    /// Some thread is at `accept` again and again.
    fn accepts(&self) -> bool {
        let on_cycles = self.on_cycles(&|_| true);
        (0..self.next.len()).any(|state| self.labelled[state][0] && on_cycles[state])
    }

    /// From some point on, no thread is at `progress`.
    fn stagnates(&self) -> bool {
        self.on_cycles(&|state| !self.labelled[state][1]).contains(&true)
    }
}

/// Whether some thread is at a place labelled `accept`, and `progress`.
fn labels(meaning: &Meaning<'_>, state: &State) -> [bool; 2] {
    let mut found = [false; 2];
    for (kind, declared) in meaning.kinds.iter().enumerate() {
        for copy in 0..declared.copies {
            if let Some(place) = meaning.place_of(state, kind, copy) {
                let labels = declared.code.places[place].marks;
                found = [found[0] || labels[1], found[1] || labels[2]];
            }
        }
    }
    found
}

/// What the graph says, if the label is there.
fn truth(property: &Property, runs: &Runs) -> Option<(usize, bool)> {
    match property.name.as_str() {
        "accept" => Some((0, runs.accepts())),
        "progress" => Some((1, runs.stagnates())),
        _ => None,
    }
}

/// How the graph is misread.
type Misread = fn(&mut Runs);

/// What must not be misread; some program tells the difference.
#[test]
fn misread_labels_are_noticed() {
    let misread: [(&str, Misread); 4] = [
        ("a state without a step ends the run", |runs| {
            let stays = |(state, next): (usize, &mut Vec<usize>)| {
                if *next == [state] {
                    next.clear();
                }
            };
            runs.next.iter_mut().enumerate().for_each(stays);
        }),
        ("a run that ends stays where it ends", |runs| {
            let ends = runs.next.iter_mut().enumerate().filter(|(_, next)| next.is_empty());
            ends.for_each(|(state, next)| next.push(state));
        }),
        ("the labels are taken for each other", |runs| runs.labelled.iter_mut().for_each(|labels| labels.reverse())),
        ("labels are lost", |runs| runs.labelled.fill([false; 2])),
    ];
    let graphs: Vec<Runs> = programs(PROGRAMS)
        .filter(|(_, text, case)| {
            case.answer.states < FEW_STATES && (text.contains("accept") || text.contains("progress"))
        })
        .map(|(.., case)| Runs::of(&case.system))
        .collect();
    for (what, misread) in misread {
        let notices = |runs: &Runs| {
            let mut other = Runs { labelled: runs.labelled.clone(), next: runs.next.clone() };
            misread(&mut other);
            (other.accepts(), other.stagnates()) != (runs.accepts(), runs.stagnates())
        };
        assert!(graphs.iter().any(notices), "nobody notices: {what}");
    }
}

/// Every search for a cycle says the same, and shows a run that violates the formula.
fn chased(program: &Program, property: &Property, formula: &Formula, is_violated: bool, native: bool) -> Checked {
    let (automaton, propositions) = violations_of(formula).map_err(|error| error.to_string())?;
    let goals: Vec<Goal> = propositions.into_iter().map(Goal::State).collect();
    let interpreter = Interpreter::new(program, &goals);
    let compiled = if native { Some(Compiled::new(program, &goals)?) } else { None };
    let model: &dyn Model = compiled.as_ref().map_or(&interpreter, |compiled| compiled);
    let product = Product::new(model, automaton, None);
    let cycle_search = |threads| {
        let job = Job { seed: 7, ..Job::new(1, Limits { threads, ..Limits::NONE }) };
        CycleSearch::of(product.is_weak(), &job)
    };
    let bitstate = BitState { bytes: 1 << 14, expected: None, swarm: 2, seed: 3 };
    let hunts: [(&str, Hunt); 5] = [
        ("1 thread", cycle_search(1).hunt(&product, &mut Patient)),
        ("2 threads", cycle_search(2).hunt(&product, &mut Patient)),
        ("8 threads", cycle_search(8).hunt(&product, &mut Patient)),
        ("by bounds", cycle_search(1).hunt_by_bounds(&product, &mut Patient)),
        ("bits", bitstate.find_cycle(&product, &cycle_search(1), &mut Patient)),
    ];
    for (name, hunt) in hunts {
        evaluated(program, property, &product, &hunt, is_violated, name == "bits")
            .map_err(|why| format!("{name}: {why}"))?;
    }
    Ok(())
}

fn evaluated(
    program: &Program,
    property: &Property,
    product: &Product<'_>,
    hunt: &Hunt,
    is_violated: bool,
    may_miss: bool,
) -> Checked {
    let name = &property.name;
    match &hunt.outcomes[0] {
        Outcome::Found(trace) => {
            let run = replay(program, &product.project(trace)).map_err(|error| error.to_string())?;
            run.closes(program).map_err(|error| error.to_string())?;
            run.confirm(program, property).map_err(|error| error.to_string())?;
            same(&format!("`{name}` is violated"), &true, &is_violated)
        }
        Outcome::Absent => {
            same("bits know everything", &may_miss, &false)?;
            same(&format!("`{name}` is violated"), &false, &is_violated)
        }
        Outcome::Untraced(_) | Outcome::Inconclusive => {
            let is_hashed = matches!(hunt.coverage, Coverage::Hashed { .. });
            same(&format!("`{name}` is left open"), &(may_miss && is_hashed), &true)
        }
    }
}

#[test]
fn labels_of_random_programs_mean_what_the_graph_says() {
    let mut tally = Tally::default();
    for (seed, text, case) in programs(PROGRAMS).filter(|(.., case)| case.answer.states < FEW_STATES) {
        let loaded = birk_lang::load(&text, &[]).program.expect("it was loaded before");
        let mut runs = None;
        for property in loaded.properties.iter().filter(|property| property.is_of_runs()) {
            let PropertyKind::Ltl(formula) = &property.kind else { continue };
            let runs = runs.get_or_insert_with(|| Runs::of(&case.system));
            let Some((label, is_violated)) = truth(property, runs) else { continue };
            let of = if is_violated { &mut tally.violated } else { &mut tally.holds };
            of[label] += 1;
            let checked = chased(&loaded, property, formula, is_violated, seed % 4 < 2);
            checked.unwrap_or_else(|why| panic!("seed {seed}: {why}\n{text}"));
        }
    }
    println!("{tally:?}");
    let least = tally.violated.iter().chain(&tally.holds).min();
    assert!(least.is_some_and(|&least| least > 5), "not everything was tried: {tally:?}");
}

//! Partial-order reduction on models that people know: verdicts and lengths of shortest traces are those of the full search, and
//! the numbers of states are those that are known.

use std::fs;
use std::path::Path;

use birk_engine::{Hunt, Job, Limits, Model as _, Patient, Successors};
use birk_exec::reduction::Preserve;
use birk_exec::{Interpreter, Reduced, Specialised, Syntactic, goal_of, reference};
use birk_ir::{Expr, Goal, Op, Outcome, Program, Property, PropertyKind, Transition, VarRole};
use birk_search::{ENGINES, engine};
use birk_symbolic::with_solver;

use crate::traps::TRAPS;
use crate::{hunt_in, load, program};

/// Larger models are searched elsewhere.
const MOST_STATES: usize = 5_000;

/// The properties of states, each with its goal.
fn goals(program: &Program) -> Vec<(&Property, Goal)> {
    program.properties.iter().filter_map(|property| Some((property, goal_of(program, property)?))).collect()
}

/// Breadth-first, reduced for these goals, by what a solver proves or by what the text says.
fn reduced(program: &Program, goals: &[Goal], is_proved: bool) -> Hunt {
    hunted(program, goals, is_proved, |reduced| reduced)
}

/// The same, by a search that forgets states.
fn forgetful(program: &Program, goals: &[Goal]) -> Hunt {
    hunted(program, goals, true, |reduced| reduced.forgetting(0))
}

fn hunted(program: &Program, goals: &[Goal], is_proved: bool, as_wanted: fn(Reduced<'_>) -> Reduced<'_>) -> Hunt {
    let specialised = Specialised::new(program);
    let full = Interpreter::new(&specialised.program, goals);
    let search = |model: Reduced<'_>| {
        let job = Job { keep_going: true, ..Job::new(goals.len(), Limits::NONE) };
        let model = as_wanted(model);
        specialised.original(program, hunt_in(engine("bfs").expect("there is breadth-first search"), &model, &job))
    };
    let new = |oracle: &mut dyn birk_exec::reduction::Oracle| {
        Reduced::new(&specialised.program, &full, Preserve::Distances(goals), oracle).expect("it can be reduced")
    };
    match is_proved {
        true => search(with_solver(&specialised.program, &mut Patient, u64::MAX, |solver| {
            let solver = solver.expect("small");
            solver.learn();
            new(solver)
        })),
        false => search(new(&mut Syntactic)),
    }
}

fn length(outcome: &Outcome) -> Option<u32> {
    if let Outcome::Found(trace) = outcome { Some(trace.steps.len() as u32) } else { None }
}

/// For each property alone, and for all, the reduced search finds what the full one finds, as near. The states of both.
#[track_caller]
fn compare(name: &str, program: &Program) -> Option<(u64, u64)> {
    let (properties, goals): (Vec<&Property>, Vec<Goal>) = goals(program).into_iter().unzip();
    let answer = reference::explore(program, &goals, MOST_STATES).ok()?;
    for (index, property) in properties.iter().enumerate() {
        // What a solver proves of transitions is the same for all properties: one is enough.
        for is_proved in if index < 1 { vec![false, true] } else { vec![false] } {
            let hunt = reduced(program, &goals[index..=index], is_proved);
            assert_eq!(length(&hunt.outcomes[0]), answer.shortest[index], "{name}: `{}` alone", property.name);
            assert!(hunt.stats.states <= answer.states, "{name}: `{}` alone", property.name);
        }
    }
    let hunt = reduced(program, &goals, true);
    let found: Vec<Option<u32>> = hunt.outcomes.iter().map(length).collect();
    assert_eq!(found, answer.shortest, "{name}: all together");
    let forgetful = forgetful(program, &goals);
    let found: Vec<Option<u32>> = forgetful.outcomes.iter().map(length).collect();
    assert_eq!(found, answer.shortest, "{name}: all together, and states are forgotten");
    assert!(forgetful.stats.states - forgetful.stats.transient <= hunt.stats.states, "{name}");
    Some((answer.states, hunt.stats.states))
}

#[test]
fn nothing_is_lost_in_traps() {
    for trap in TRAPS {
        let program = program(trap.text, &[]);
        compare(trap.about, &program).expect("traps are small");
        let (properties, goals): (Vec<&Property>, Vec<Goal>) = goals(&program).into_iter().unzip();
        let found = reduced(&program, &goals, true);
        let lengths =
            properties.iter().zip(&found.outcomes).filter_map(|(p, outcome)| Some((&*p.name, length(outcome)?)));
        assert_eq!(lengths.collect::<Vec<_>>(), trap.expected, "{}", trap.about);
    }
}

/// Every model of the corpus that is not too large.
#[test]
fn nothing_is_lost_in_the_corpus() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models");
    let mut names: Vec<String> = Vec::new();
    for entry in fs::read_dir(&folder).expect("there are models") {
        let name = entry.expect("it can be read").file_name().into_string().expect("names are text");
        names.extend(name.ends_with(".bir").then_some(name));
    }
    names.sort();
    let mut compared = 0;
    for name in names {
        if let Some((full, reduced)) = compare(&name, &load(&name, &[])) {
            println!("{name}: {reduced} of {full}");
            compared += 1;
        }
    }
    assert!(compared >= 60, "only {compared} models were compared");
}

/// The goal of having no step.
fn deadlock(program: &Program) -> Goal {
    let deadlock = program.properties.iter().find(|property| matches!(property.kind, PropertyKind::Deadlock));
    goal_of(program, deadlock.expect("it is built in")).expect("it is about states")
}

/// The states of a search that is reduced for deadlocks.
fn for_deadlock(program: &Program) -> u64 {
    reduced(program, &[deadlock(program)], true).stats.states
}

/// States that are remembered where those with a single step are forgotten.
#[test]
fn few_states_are_remembered() {
    for (name, constants, most) in
        [("peers/phil", &[("N", "13")][..], 150), ("beem/szymanski", &[], 2_000), ("beem/elevator2", &[], 32)]
    {
        let program = load(&format!("{name}.bir"), constants);
        let stats = forgetful(&program, &[deadlock(&program)]).stats;
        let remembered = stats.states - stats.transient;
        println!("{name}: {remembered} of {} looked at, of {}", stats.states, for_deadlock(&program));
        assert!(remembered <= most, "{name}: {remembered}");
    }
}

/// Philosophers: 3N² − 6N + 7 states remain of 3^N.
#[test]
fn philosophers_grow_with_the_square() {
    for n in [3, 4, 5, 7, 9, 13] {
        let program = load("peers/phil.bir", &[("N", &n.to_string())]);
        assert_eq!(for_deadlock(&program), 3 * n * n - 6 * n + 7, "N = {n}");
    }
}

/// A ring with queues written by hand: N(N + 1) + 1.
#[test]
fn a_ring_is_a_line() {
    for n in [4, 5, 6, 8, 10] {
        let program = load("peers/ring.bir", &[("N", &n.to_string())]);
        assert_eq!(for_deadlock(&program), n * (n + 1) + 1, "N = {n}");
    }
}

/// A buffer: independent of the number of its places, whatever is asked.
#[test]
fn a_buffer_does_not_grow_with_its_places() {
    let program = load("peers/buffer.bir", &[("K", "6"), ("M", "4")]);
    let all: Vec<Goal> = goals(&program).into_iter().map(|(_, goal)| goal).collect();
    let states = reduced(&program, &all, true).stats.states;
    assert!(states <= 3_784, "{states}");
}

/// Models of BEEM: below what LTSmin's three methods leave.
#[test]
fn models_of_beem_have_fewer_states_than_with_ltsmin() {
    for (name, most) in
        [("szymanski", 7_000), ("lamport", 15_300), ("peterson", 6_000), ("elevator2", 192), ("bakery", 1_020)]
    {
        let states = for_deadlock(&load(&format!("beem/{name}.bir"), &[]));
        println!("{name}: {states}");
        assert!(states <= most, "{name}: {states}");
    }
}

/// Engines that do not go breadth-first, and several threads.
#[test]
fn every_engine_finds_a_deadlock_among_few_states() {
    let program = load("peers/phil.bir", &[("N", "9")]);
    let goals: Vec<Goal> = goals(&program).into_iter().map(|(_, goal)| goal).collect();
    let specialised = Specialised::new(&program);
    let full = Interpreter::new(&specialised.program, &goals[..1]);
    let model = with_solver(&specialised.program, &mut Patient, u64::MAX, |solver| {
        let solver = solver.expect("it is small");
        solver.learn();
        Reduced::new(&specialised.program, &full, Preserve::Distances(&goals[..1]), solver).expect("it can be reduced")
    });
    for engine in ENGINES.iter().filter(|engine| engine.complete) {
        for threads in if engine.scales { vec![1, 2, 8] } else { vec![1] } {
            let limits = Limits { threads, ..Limits::NONE };
            let hunt = hunt_in(engine, &model, &Job { keep_going: true, ..Job::new(1, limits) });
            assert_eq!(hunt.stats.states, 196, "{} on {threads} threads", engine.name);
        }
    }
}

/// A way to get a reduction wrong.
struct Mutant {
    about: &'static str,
    /// Changes what the relations are computed from; the steps themselves stay as they are.
    bend: fn(&mut Program),
    /// Which properties bring an attractor.
    has_attractor: fn(&Property) -> bool,
    oracle: Lies,
}

/// An oracle that says more than it knows.
#[derive(Clone, Copy)]
struct Lies {
    accord: bool,
    never_enables: bool,
}

impl birk_exec::reduction::Oracle for Lies {
    fn accord(&mut self, _: usize, _: usize) -> bool {
        self.accord
    }

    fn never_enables(&mut self, _: usize, _: &Expr) -> bool {
        self.never_enables
    }
}

/// Nothing is wrong.
const RIGHT: Mutant = Mutant {
    about: "right",
    bend: |_| {},
    has_attractor: |_| true,
    oracle: Lies { accord: false, never_enables: false },
};

fn retain_ops(program: &mut Program, is_kept: impl Fn(&Program, &Transition, &Op) -> bool) {
    let original = program.clone();
    for transition in &mut program.transitions {
        let kept = transition.clone();
        transition.ops.retain(|op| is_kept(&original, &kept, op));
    }
}

fn change_ops(program: &mut Program, change: impl Fn(&mut Op)) {
    program.transitions.iter_mut().flat_map(|transition| &mut transition.ops).for_each(change);
}

const MUTANTS: &[Mutant] = &[
    Mutant {
        about: "sets for deadlocks are used for everything",
        has_attractor: |property| matches!(property.kind, PropertyKind::Deadlock),
        ..RIGHT
    },
    Mutant {
        about: "no attractor for faults",
        has_attractor: |property| !matches!(property.kind, PropertyKind::Fault),
        ..RIGHT
    },
    Mutant {
        about: "properties cannot fail to be evaluated",
        bend: |program| program.property_faults.clear(),
        ..RIGHT
    },
    Mutant {
        about: "nothing is necessary to enable what is disabled",
        oracle: Lies { never_enables: true, ..RIGHT.oracle },
        ..RIGHT
    },
    Mutant { about: "everything accords", oracle: Lies { accord: true, ..RIGHT.oracle }, ..RIGHT },
    Mutant {
        about: "a check is not a read",
        bend: |program| retain_ops(program, |_, _, op| !matches!(op, Op::Check(..))),
        ..RIGHT
    },
    Mutant {
        about: "only the guard enables",
        bend: |program| retain_ops(program, |_, _, op| !matches!(op, Op::Require(_) | Op::Assume(_))),
        ..RIGHT
    },
    Mutant {
        about: "only its own steps move a thread",
        bend: |program| {
            retain_ops(program, |program, transition, op| match op {
                Op::Assign(place, _) if matches!(program.variable(place.variable).role, VarRole::Counter(_)) => {
                    let copy = i64::from(program.thread(transition.thread).copy);
                    place.variable == program.kind_of(transition.thread).counter
                        && place.index.as_ref().and_then(Expr::as_const) == Some(copy)
                }
                _ => true,
            });
        },
        ..RIGHT
    },
    Mutant {
        about: "a dynamic write goes to the first element",
        bend: |program| {
            change_ops(program, |op| {
                if let Op::Assign(place, _) = op
                    && place.index.as_ref().is_some_and(|index| index.as_const().is_none())
                {
                    place.index = Some(Expr::Const(0));
                }
            });
        },
        ..RIGHT
    },
    Mutant {
        about: "a choice is its first value",
        bend: |program| {
            change_ops(program, |op| {
                if let Op::Choose(local, lo, _) = op {
                    *op = Op::Let(*local, lo.clone());
                }
            });
        },
        ..RIGHT
    },
];

/// What a mutant finds for all properties together, and for each alone.
fn found_by(mutant: &Mutant, program: &Program) -> Vec<Option<u32>> {
    let all: Vec<(&Property, Goal)> = goals(program);
    let mut bent = program.clone();
    (mutant.bend)(&mut bent);
    let alone = (0..all.len()).map(|index| index..index + 1);
    let groups = alone.chain(std::iter::once(0..all.len())).map(|range| &all[range]);
    groups
        .flat_map(|group| {
            let goals: Vec<Goal> = group.iter().map(|(_, goal)| goal.clone()).collect();
            let attractive = group.iter().filter(|(property, _)| (mutant.has_attractor)(property));
            let attractors: Vec<Goal> = attractive.filter_map(|(property, _)| goal_of(&bent, property)).collect();
            let full = Interpreter::new(program, &goals);
            let reduced = Reduced::new(&bent, &full, Preserve::Distances(&attractors), &mut mutant.oracle.clone())
                .expect("it can be reduced");
            let job = Job { keep_going: true, ..Job::new(goals.len(), Limits::NONE) };
            let hunt = hunt_in(engine("bfs").expect("there is breadth-first search"), &reduced, &job);
            hunt.outcomes.iter().map(length).collect::<Vec<_>>()
        })
        .collect()
}

/// Each condition is necessary: without it, something is lost in one of the traps.
#[test]
fn a_reduction_without_one_of_its_conditions_is_noticed() {
    for mutant in MUTANTS {
        let noticed = TRAPS.iter().filter(|trap| {
            let program = program(trap.text, &[]);
            found_by(mutant, &program) != found_by(&RIGHT, &program)
        });
        let noticed: Vec<&str> = noticed.map(|trap| trap.about).collect();
        assert!(!noticed.is_empty(), "nobody notices that {}", mutant.about);
        println!("{}: noticed by {} traps", mutant.about, noticed.len());
    }
}

/// Where no step can lead to the goal none is taken: that is not a deadlock.
#[test]
fn what_is_withheld_is_not_stuck() {
    let trap = TRAPS.iter().find(|trap| trap.about.contains("it is not stuck")).expect("it is one of the traps");
    let program = program(trap.text, &[]);
    let goals: Vec<Goal> = goals(&program).into_iter().map(|(_, goal)| goal).collect();
    let full = Interpreter::new(&program, &goals[2..]);
    let reduced =
        Reduced::new(&program, &full, Preserve::Distances(&goals[2..]), &mut Syntactic).expect("it can be reduced");
    let mut batch = Successors::new(reduced.words());
    full.successors(&program.initial_state(), &mut batch);
    // Both threads can move here, and no step leads to the goal.
    let here = batch.state(0).to_vec();
    batch.clear();
    reduced.successors(&here, &mut batch);
    assert!(batch.is_empty() && batch.is_withheld && !batch.is_stuck_since(0, 0));
}

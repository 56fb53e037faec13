//! Highway search on the protocols of "Breadth-Bounded Model Checking" (Meulen, Stappers, Willemse), section 4.2.

use std::fs;
use std::path::Path;

use birk_engine::{Hunt, Job, Limits, Patient};
use birk_exec::{Interpreter, goal_of, replay};
use birk_ir::{Coverage, Goal, Outcome, Program, Stop};
use birk_search::highway::Highway;

fn program(name: &str, items: u64) -> Program {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models").join(name);
    let text = fs::read_to_string(path).expect("the model is there");
    birk_lang::load(&text, &[("M".to_owned(), items.to_string())]).program.expect("the model has no errors")
}

fn hunt(program: &Program, highway: Highway) -> Hunt {
    let goals: Vec<Goal> = program.properties.iter().filter_map(|property| goal_of(program, property)).collect();
    let job = Job { keep_going: true, ..Job::new(goals.len(), Limits::NONE) };
    highway.hunt(&Interpreter::new(program, &goals), &job, &mut Patient)
}

/// The size of a model, and its states and transitions.
type Counts = (u64, u64, u64);

#[test]
fn a_wide_highway_is_the_whole_protocol() {
    let table: [(&str, [Counts; 4], usize); 2] = [
        ("abp.bir", [(2, 74, 92), (4, 146, 184), (8, 290, 368), (16, 578, 736)], 20),
        ("cabp.bir", [(2, 464, 1632), (4, 1040, 3808), (8, 2576, 9888), (16, 7184, 28960)], 26),
    ];
    for (name, sizes, levels) in table {
        for (items, states, transitions) in sizes {
            let hunt = hunt(&program(name, items), Highway::of(&Job::new(0, Limits::NONE)));
            assert_eq!((&hunt.coverage, hunt.stopped), (&Coverage::Complete, Stop::Exhausted), "{name}");
            assert_eq!((hunt.stats.states, hunt.stats.transitions), (states, transitions), "{name} with {items} items");
            assert_eq!(hunt.stats.levels.len(), levels, "{name} with {items} items");
        }
    }
}

/// The protocols have no deadlock, and slices make none; what is found in them replays.
#[test]
fn narrow_highways_invent_nothing() {
    for name in ["abp.bir", "cabp.bir"] {
        let program = program(name, 4);
        let all = hunt(&program, Highway::of(&Job::new(0, Limits::NONE))).stats.states;
        let mut partial = 0;
        for (seed, width) in (0..60).flat_map(|seed| [(seed, 1), (seed, 2), (seed, 4)]) {
            let degrade_depth = [None, Some(10)][seed as usize % 2];
            let hunt = hunt(&program, Highway { width, degrade_depth, seed, is_beam: false });
            assert!(hunt.stats.levels.iter().all(|&lanes| lanes <= width as u64));
            assert_eq!(hunt.coverage == Coverage::Complete, hunt.stats.states == all, "{name}, seed {seed}");
            partial += u32::from(hunt.coverage != Coverage::Complete);
            for (property, outcome) in program.properties.iter().zip(&hunt.outcomes) {
                let Outcome::Found(trace) = outcome else { continue };
                assert!(property.wants_goal(), "{name}, seed {seed}: {} is violated", property.name);
                let run = replay(&program, trace).expect("the trace replays");
                run.confirm(&program, property).expect("it shows what it claims");
            }
        }
        assert!(partial > 100, "{name}: {partial} of 180 slices are partial");
    }
}

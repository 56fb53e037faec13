//! Engines on sets of states where single states are too many: `models/large`, against counts that were found in other
//! ways (by explicit search, or published).

use std::fs;
use std::path::PathBuf;

use birk_engine::{Engine, GoalSet, Hunt, Job, Limits};
use birk_exec::{goal_of, replay};
use birk_ir::{Goal, Outcome, Program, Property, Stop};
use birk_symbolic::ENGINES;

use crate::hunt_with;

fn models(folder: &str) -> Vec<(String, String)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../models").join(folder);
    let files = fs::read_dir(&folder).expect("the models are there").map(|entry| entry.expect("readable").path());
    let mut found: Vec<(String, String)> = files
        .filter(|path| path.extension().is_some_and(|extension| extension == "bir"))
        .map(|path| {
            let name = path.file_stem().expect("a file").to_string_lossy().into_owned();
            (name, fs::read_to_string(&path).expect("readable"))
        })
        .collect();
    found.sort();
    found
}

fn load(name: &str, text: &str, defines: &[(String, String)]) -> Program {
    let loaded = birk_lang::load(text, defines);
    loaded.program.unwrap_or_else(|| panic!("{name}: {:#?}", loaded.diagnostics))
}

/// With one engine: violations end the search.
fn with_engine(program: &Program, engine: &Engine, check: impl FnOnce(&[&Property], &Hunt)) {
    let properties: Vec<&Property> =
        program.properties.iter().filter(|property| goal_of(program, property).is_some()).collect();
    let goals: Vec<Goal> = properties.iter().filter_map(|property| goal_of(program, property)).collect();
    let mut stop_at = GoalSet::default();
    for (goal, _) in properties.iter().enumerate().filter(|(_, property)| !property.wants_goal()) {
        stop_at.insert(goal);
    }
    let limits = Limits { memory: 256 << 20, ..Limits::NONE };
    let job = Job { stop_at, ..Job::new(goals.len(), limits) };
    check(&properties, &hunt_with(engine, program, &goals, &job));
}

/// The words of the header line `// found with decision diagrams: …`.
fn expected(name: &str, text: &str) -> Vec<String> {
    let line = text.lines().find_map(|line| line.strip_prefix("// found with decision diagrams: "));
    line.unwrap_or_else(|| panic!("{name} expects nothing")).split([';', ',', ' ']).map(str::to_owned).collect()
}

#[test]
fn large_models_are_as_they_say() {
    let (mut holding, mut violated) = (0, 0);
    for (name, text) in models("large") {
        let program = load(&name, &text, &[]);
        let words = expected(&name, &text);
        let words: Vec<&str> = words.iter().map(String::as_str).filter(|word| !word.is_empty()).collect();
        let mut check = |engine: &str, properties: &[&Property], hunt: &Hunt| match words[..] {
            ["holds", states, "states", transitions, "transitions", "depth", depth] => {
                holding += 1;
                let counts = hunt.stats.bdd().expect("it counts sets");
                assert_eq!(hunt.stopped, Stop::Exhausted, "{name} with {engine}");
                assert_eq!(counts.states, states, "states of {name} with {engine}");
                assert_eq!(counts.transitions.as_deref(), Some(transitions), "transitions of {name} with {engine}");
                assert!(counts.depth.is_none_or(|found| found.to_string() == depth), "depth of {name} with {engine}");
            }
            // Too deep to be searched by levels in a test.
            ["holds", states, "states", transitions, "transitions"] => {
                holding += 1;
                let counts = hunt.stats.bdd().expect("it counts sets");
                assert_eq!(hunt.stopped, Stop::Exhausted, "{name} with {engine}");
                assert_eq!(counts.states, states, "states of {name} with {engine}");
                assert_eq!(counts.transitions.as_deref(), Some(transitions), "transitions of {name} with {engine}");
            }
            ["violated", property, "in", length] => {
                violated += 1;
                let at = properties.iter().position(|asked| asked.name == property).expect("it is declared");
                let Outcome::Found(trace) = &hunt.outcomes[at] else { panic!("{name} with {engine}: not found") };
                assert_eq!(trace.steps.len().to_string(), length, "{name} with {engine}");
                let replayed = replay(&program, trace).unwrap_or_else(|why| panic!("{name} with {engine}: {why:?}"));
                replayed
                    .confirm(&program, properties[at])
                    .unwrap_or_else(|why| panic!("{name} with {engine}: {why:?}"));
            }
            _ => panic!("{name}: cannot read {words:?}"),
        };
        // A directed search is for what goes wrong.
        let is_directed = |engine: &&Engine| engine.name == "bdd-astar";
        let is_deep = words[0] == "holds" && !words.contains(&"depth");
        let is_fit = |engine: &&Engine| match words[0] {
            "violated" => true,
            _ => !is_directed(engine) && (!is_deep || !engine.covers_by_depth),
        };
        let on_diagrams = ENGINES.iter().filter(|engine| engine.name.starts_with("bdd"));
        for engine in on_diagrams.filter(is_fit) {
            with_engine(&program, engine, |properties, hunt| check(engine.name, properties, hunt));
        }
    }
    assert!(holding >= 4 && violated >= 4, "{holding} {violated}");
}

/// Rings of philosophers of whom one takes the other fork first: 7, 24, 79, 261, 862, 2847 states for 2 to 7 of them, as the
/// explicit search counts them, which is a(n) = 3 a(n-1) + a(n-2).
#[test]
fn a_large_ring_has_as_many_states_as_the_recurrence_of_small_ones_says() {
    let (_, text) = models("").into_iter().find(|(name, _)| name == "philosophers_swapped").expect("it is there");
    let chain = ENGINES.iter().find(|engine| engine.name == "bdd-chain").expect("it is in the table");
    for philosophers in [24, 100, 1000] {
        let (mut before, mut states) = (vec![7], vec![4, 2]);
        for _ in 3..philosophers {
            let next = sum(&[&states, &states, &states, &before]);
            (before, states) = (states, next);
        }
        let states: String = states.iter().rev().map(u8::to_string).collect();
        let program = load("philosophers_swapped", &text, &[("N".to_owned(), philosophers.to_string())]);
        with_engine(&program, chain, |_, hunt| {
            assert_eq!(hunt.stopped, Stop::Exhausted);
            assert_eq!(hunt.stats.bdd().expect("it counts sets").states, states);
        });
    }
}

/// Of numbers in decimal digits, the lowest first.
fn sum(numbers: &[&Vec<u8>]) -> Vec<u8> {
    let (mut digits, mut carry) = (Vec::new(), 0);
    for at in 0.. {
        let here = carry + numbers.iter().filter_map(|number| number.get(at)).sum::<u8>();
        if here == 0 && numbers.iter().all(|number| at >= number.len()) {
            break;
        }
        digits.push(here % 10);
        carry = here / 10;
    }
    digits
}

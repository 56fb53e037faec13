//! Every model of `models/structured/` is as its header says, and those that have a namesake in `models/`, written with
//! locations, have the same states, transitions, depth and answers as it.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::PathBuf;

use birk_engine::{Engine, Job, Limits};
use birk_exec::{Interpreter, goal_of, replay};
use birk_ir::{Clause, Coverage, Expectation, Goal, Outcome, Property, Verdict};
use birk_search::ENGINES;

use crate::hunt_in;

/// So many pairs there are at least.
const LEAST_TWINS: usize = 8;

/// What was found in a model; it reads like the expectation that says so.
#[derive(Debug, PartialEq)]
struct Findings {
    /// Property, whether it has to be reached, its verdict, and how many steps lead to what was found.
    answers: Vec<(String, bool, Verdict, Option<usize>)>,
    states: u64,
    transitions: u64,
    depth: u32,
}

impl fmt::Display for Findings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.answers.iter().all(|(_, _, verdict, _)| *verdict == Verdict::Holds) {
            write!(f, "holds; ")?;
        }
        for (name, wanted, verdict, steps) in &self.answers {
            match (wanted, verdict, steps) {
                (true, Verdict::Holds, Some(steps)) => write!(f, "reached {name} in {steps}; ")?,
                (_, Verdict::Violated, Some(steps)) => write!(f, "violated {name} in {steps}; ")?,
                (_, Verdict::Violated, None) => write!(f, "violated {name}; ")?,
                _ => {}
            }
        }
        write!(f, "{} states, {} transitions, depth {}", self.states, self.transitions, self.depth)
    }
}

impl Findings {
    /// What does not depend on the order of a search.
    fn in_any_order(&self) -> (Vec<(&str, Verdict)>, u64, u64) {
        let answers = self.answers.iter().map(|(name, _, verdict, _)| (name.as_str(), *verdict)).collect();
        (answers, self.states, self.transitions)
    }
}

/// The models of a folder by name.
fn models(folder: &str) -> BTreeMap<String, String> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..").join(folder);
    let paths = fs::read_dir(folder).expect("the corpus is there").map(|entry| entry.expect("readable").path());
    let paths = paths.filter(|path| path.extension().is_some_and(|extension| extension == "bir"));
    let named = paths.map(|path| {
        let name = path.file_stem().expect("a file").to_string_lossy().into_owned();
        (name, fs::read_to_string(&path).expect("readable"))
    });
    named.collect()
}

/// The values of constants in each expectation of a model, and what is expected, in the words of [`Findings`].
fn expectations(text: &str) -> Vec<(Vec<(String, String)>, String)> {
    let loaded = birk_lang::load(text, &[]);
    let program = loaded.program.as_ref().unwrap_or_else(|| panic!("{:#?}", loaded.diagnostics));
    let is_of_states = |name: &str| program.properties.iter().any(|p| p.name == name && goal_of(program, p).is_some());
    let within = |steps: Option<u64>| steps.map_or(String::new(), |steps| format!(" in {steps}"));
    let read = |said: &Expectation| {
        let (mut verdicts, mut counts) = (Vec::new(), Vec::new());
        for clause in &said.clauses {
            match clause {
                Clause::Holds(_) => verdicts.push("holds".to_owned()),
                Clause::Violated(name, _) | Clause::Reached(name, _) if !is_of_states(name) => {}
                Clause::Violated(name, steps) => verdicts.push(format!("violated {name}{}", within(*steps))),
                Clause::Reached(name, steps) => verdicts.push(format!("reached {name}{}", within(*steps))),
                Clause::States(count) => counts.push(format!("{count} states")),
                Clause::Transitions(count) => counts.push(format!("{count} transitions")),
                Clause::Depth(count) => counts.push(format!("depth {count}")),
            }
        }
        verdicts.push(counts.join(", "));
        (said.constants.clone(), verdicts.join("; "))
    };
    loaded.expectations.iter().map(read).collect()
}

/// Explores all of a model; every trace is walked again.
fn explore(context: &str, text: &str, defines: &[(String, String)], engine: &Engine) -> Findings {
    let loaded = birk_lang::load(text, defines);
    let program = loaded.program.unwrap_or_else(|| panic!("{context}: {:#?}", loaded.diagnostics));
    let safety = program.properties.iter().filter_map(|property| Some((property, goal_of(&program, property)?)));
    let (properties, goals): (Vec<&Property>, Vec<Goal>) = safety.unzip();
    let job = Job { keep_going: true, ..Job::new(goals.len(), Limits::NONE) };
    let hunt = hunt_in(engine, &Interpreter::new(&program, &goals), &job);
    assert_eq!(hunt.coverage, Coverage::Complete, "{context}");
    let mut answers = Vec::new();
    for (property, outcome) in properties.iter().zip(&hunt.outcomes) {
        let steps = if let Outcome::Found(trace) = outcome {
            let run = replay(&program, trace).unwrap_or_else(|error| panic!("{context}: {}: {error}", property.name));
            run.confirm(&program, property).unwrap_or_else(|error| panic!("{context}: {error}"));
            Some(trace.steps.len())
        } else {
            None
        };
        answers.push((property.name.clone(), property.wants_goal(), property.verdict(outcome), steps));
    }
    let stats = &hunt.stats;
    Findings { answers, states: stats.states, transitions: stats.transitions, depth: stats.max_depth }
}

#[test]
fn structured_models_are_as_their_headers_say() {
    for (name, text) in models("models/structured") {
        let expectations = expectations(&text);
        assert!(!expectations.is_empty(), "structured/{name} says nothing about what is expected");
        for (defines, expected) in expectations {
            let mut shortest = None;
            for engine in ENGINES.iter().filter(|engine| engine.complete && engine.shortest) {
                let context = format!("structured/{name} {defines:?} with {}", engine.name);
                let found = explore(&context, &text, &defines, engine);
                assert_eq!(found.to_string(), expected, "{context}");
                shortest = Some(found);
            }
            let shortest = shortest.expect("an engine finds shortest traces");
            for engine in ENGINES.iter().filter(|engine| engine.complete && !engine.shortest) {
                let context = format!("structured/{name} {defines:?} with {}", engine.name);
                let found = explore(&context, &text, &defines, engine);
                assert_eq!(found.in_any_order(), shortest.in_any_order(), "{context}");
            }
        }
    }
}

#[test]
fn twins_have_the_same_states_and_transitions() {
    let engine = ENGINES.iter().find(|engine| engine.complete && engine.shortest).expect("there is one");
    let with_locations = models("models");
    let mut twins = 0;
    for (name, structured) in models("models/structured") {
        let Some(located) = with_locations.get(&name) else { continue };
        for (defines, _) in expectations(&structured) {
            let context = format!("{name} {defines:?}");
            let one = explore(&format!("structured/{context}"), &structured, &defines, engine);
            let other = explore(&context, located, &defines, engine);
            assert_eq!(one, other, "{context}: the structured form and the one with locations");
        }
        twins += 1;
    }
    assert!(twins >= LEAST_TWINS, "only {twins} models have a twin");
}

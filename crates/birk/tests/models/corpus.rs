//! Every model of `models/` with every engine: what its header expects is what Birk finds.

use std::fs;
use std::ops::ControlFlow;
use std::path::PathBuf;

use birk_engine::{Engine, GoalSet, Hunt, Job, Limits, Patient, Search};
use birk_exec::replay::Shows;
use birk_exec::{Interpreter, goal_of, replay};
use birk_ir::{Branching, Clause, Coverage, Goal, Outcome, Program, Property, Verdict};
use birk_search::ENGINES;
use birk_search::mucalculus::{Graph, Needs, Truth, decide};

use crate::{hunt_in, hunt_with};

/// What a model expects with some values of its constants.
#[derive(Debug)]
struct Expectation {
    defines: Vec<(String, String)>,
    /// Property, verdict, and the length of a shortest trace where one is shown.
    verdicts: Vec<(String, Verdict, Option<usize>)>,
    states: u64,
    transitions: u64,
    depth: u32,
}

fn models() -> Vec<(String, String)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../models");
    let mut found: Vec<(String, String)> = fs::read_dir(&folder)
        .expect("the corpus is there")
        .chain(fs::read_dir(folder.join("cookbook")).expect("the models of the cookbook are there"))
        .chain(fs::read_dir(folder.join("peers")).expect("the twins of other tools' models are there"))
        .chain(fs::read_dir(folder.join("refinement")).expect("the models that refine others are there"))
        .chain(fs::read_dir(folder.join("timeout")).expect("the models with `timeout` are there"))
        .chain(fs::read_dir(folder.join("dve")).expect("the models in DVE are there"))
        .map(|entry| entry.expect("readable").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "bir" || extension == "dve"))
        .map(|path| {
            let name = path.file_name().expect("a file").to_string_lossy().into_owned();
            (name, fs::read_to_string(&path).expect("readable"))
        })
        .collect();
    found.sort();
    found
}

fn expectations(name: &str, text: &str) -> Vec<Expectation> {
    let said = birk::expectations(name.as_ref(), text, &load(name, text, &[]));
    let said = said.unwrap_or_else(|place| panic!("{name}: cannot read what is expected at {place:?}"));
    said.into_iter().map(|said| read(said).unwrap_or_else(|| panic!("{name}: counts are missing"))).collect()
}

fn read(said: birk_ir::Expectation) -> Option<Expectation> {
    let mut verdicts = Vec::new();
    let (mut states, mut transitions, mut depth) = (None, None, None);
    for clause in said.clauses {
        match clause {
            Clause::Holds(_) => {}
            Clause::Violated(name, steps) => {
                verdicts.push((name, Verdict::Violated, steps.map(|steps| steps as usize)));
            }
            Clause::Reached(name, steps) => verdicts.push((name, Verdict::Holds, steps.map(|steps| steps as usize))),
            Clause::States(count) => states = Some(count),
            Clause::Transitions(count) => transitions = Some(count),
            Clause::Depth(count) => depth = Some(count as u32),
        }
    }
    Some(Expectation { defines: said.constants, verdicts, states: states?, transitions: transitions?, depth: depth? })
}

/// Whose steps are known only where all others are: engines that encode programs refuse them.
const LATE: &[&str] = &["retransmission.bir", "token_loss.bir"];
/// Too large for diagrams in the memory and time of a test, for all that is known today.
const BEYOND: &[&str] = &["chang_roberts.bir", "dolev_klawe_rodeh.bir", "usb_stack.bir"];
/// More states, and other values of constants, are left to the explicit engines, unless the environment gives another number (`BIRK_SETS`).
const MOST_IN_SETS: u64 = 500;

/// Directed search, with its estimates, is tried on models of at most this many states, unless the environment gives another
/// number (`BIRK_DIRECTED`).
const MOST_DIRECTED: u64 = 2_000;

/// Every engine that is complete, and that can be expected to manage.
fn each_engine(name: &str, expected: &Expectation, mut check: impl FnMut(&Engine)) {
    let (most_directed, most) = (most("BIRK_DIRECTED", MOST_DIRECTED), most("BIRK_SETS", MOST_IN_SETS));
    let is_of_sets = ![BEYOND, LATE].concat().contains(&name) && expected.defines.is_empty() && expected.states <= most;
    for engine in ENGINES.iter().chain(birk_symbolic::ENGINES).filter(|engine| engine.complete) {
        let is_tried = match engine.search {
            Search::Model(_) => !engine.directed || expected.states <= most_directed,
            Search::Program(_) => is_of_sets,
        };
        if is_tried {
            check(engine);
        }
    }
}

/// A number of states that the environment may change.
fn most(variable: &str, usually: u64) -> u64 {
    std::env::var(variable).map_or(usually, |number| number.parse().expect("it is a number of states"))
}

fn hunt(program: &Program, goals: &[Goal], engine: &Engine, keep_going: bool, properties: &[&Property]) -> Hunt {
    let mut stop_at = GoalSet::default();
    for (goal, _) in properties.iter().enumerate().filter(|(_, p)| !keep_going && !p.wants_goal()) {
        stop_at.insert(goal);
    }
    let job = Job { stop_at, keep_going, ..Job::new(goals.len(), Limits::NONE) };
    let memory = if matches!(engine.search, Search::Program(_)) { 64 << 20 } else { u64::MAX };
    let job = Job { limits: Limits { memory, ..job.limits }, ..job };
    // The first engine is interpreted; the others go on with native code, as they do for users.
    match engine.search {
        Search::Model(_) if !engine.directed && engine.name != ENGINES[0].name => {
            hunt_in(engine, &birk::compiled(program, goals), &job)
        }
        _ => hunt_with(engine, program, goals, &job),
    }
}

fn check(name: &str, text: &str, expected: &Expectation, engine: &Engine) {
    let context = format!("{name} {:?} with {}", expected.defines, engine.name);
    let loaded = load(name, text, &expected.defines);
    let program = loaded.program.unwrap_or_else(|| panic!("{context}: {:#?}", loaded.diagnostics));
    let safety: Vec<(&Property, Goal)> =
        program.properties.iter().filter_map(|p| Some((p, goal_of(&program, p)?))).collect();
    let (properties, goals): (Vec<&Property>, Vec<Goal>) = safety.into_iter().unzip();

    let full = hunt(&program, &goals, engine, true, &properties);
    assert_eq!(full.coverage, Coverage::Complete, "{context}");
    assert_eq!(
        (full.stats.states, full.stats.transitions),
        (expected.states, expected.transitions),
        "{context}: states, transitions"
    );
    if engine.shortest && engine.covers_by_depth {
        assert_eq!(full.stats.max_depth, expected.depth, "{context}: depth");
    }
    for (property, outcome) in properties.iter().zip(&full.outcomes) {
        let listed = expected.verdicts.iter().find(|(name, ..)| *name == property.name);
        let (verdict, length) = listed.map_or((Verdict::Holds, None), |(_, verdict, length)| (*verdict, *length));
        assert_eq!(property.verdict(outcome), verdict, "{context}: {}", property.name);
        confirm(&program, property, outcome, length.filter(|_| engine.shortest), &context);
        assert!(
            listed.is_some() || !matches!(outcome, Outcome::Found(_)),
            "{context}: the header does not mention {}",
            property.name
        );
    }
    if engine.name == ENGINES[0].name {
        check_branching(&program, expected, &context);
    }
    for (name, ..) in &expected.verdicts {
        let is_known = program.properties.iter().any(|property| property.name == *name);
        assert!(is_known, "{context}: the header names an unknown property {name}");
    }
    // Without exploring on, the first violation is confirmed too.
    let first = hunt(&program, &goals, engine, false, &properties);
    for (property, outcome) in properties.iter().zip(&first.outcomes) {
        confirm(&program, property, outcome, None, &context);
    }
}

fn load(name: &str, text: &str, defines: &[(String, String)]) -> birk::Loaded {
    birk::load(name.as_ref(), text, defines, &mut |_| Err("it is not there".into()), birk::Conditions::default())
}

/// What is said about the branching of runs, decided on the graph.
fn check_branching(program: &Program, expected: &Expectation, context: &str) {
    for property in &program.properties {
        let Some(formula) = property.branching() else { continue };
        let mut propositions = Vec::new();
        formula.add_propositions(&mut propositions);
        let goals: Vec<Goal> = propositions.iter().map(|expr| Goal::State(expr.clone())).collect();
        let model = Interpreter::new(program, &goals);
        let needs = Needs { propositions: goals.len(), labels: true, spare: 0 };
        let (mut graph, hunt) = Graph::explore(&model, needs, &Limits::NONE, &mut Patient);
        let totals = (hunt.stats.states, hunt.stats.transitions, hunt.stats.max_depth);
        assert_eq!(totals, (expected.states, expected.transitions, expected.depth), "{context}: the graph");
        let truth = decide(formula, &propositions, &mut graph, &model, &mut Patient);
        let ControlFlow::Continue(Truth::Known(is_true, trace)) = truth else { panic!("{context}: {truth:?}") };
        let outcome = match is_true == property.wants_goal() {
            true => Outcome::Found(trace),
            false => Outcome::Absent,
        };
        let listed = expected.verdicts.iter().find(|(name, ..)| *name == property.name);
        let (verdict, length) = listed.map_or((Verdict::Holds, None), |(_, verdict, length)| (*verdict, *length));
        assert_eq!(property.verdict(&outcome), verdict, "{context}: {}", property.name);
        let of_sets = on_sets(program, formula, property.wants_goal());
        for outcome in of_sets.into_iter().chain([outcome]) {
            assert_eq!(property.verdict(&outcome), verdict, "{context}: {} on sets", property.name);
            let Outcome::Found(trace) = &outcome else { continue };
            let run = replay(program, trace).unwrap_or_else(|e| panic!("{context}: {}: {e}", property.name));
            assert_ne!(run.shows(program, formula), Shows::Whole(!is_true), "{context}: {}", property.name);
            if let Some(length) = length {
                assert_eq!(trace.steps.len(), length, "{context}: the run for {}", property.name);
            }
        }
    }
}

/// What each engine on sets says of a formula: a run for it, or for its negation, is found or not.
fn on_sets(program: &Program, formula: &Branching, wants_goal: bool) -> Vec<Outcome> {
    let sought = if wants_goal { formula.clone() } else { formula.dual() };
    let limits = Limits { memory: 64 << 20, ..Limits::NONE };
    let job = Job { keep_going: true, ..Job::new(1, limits) };
    let decisions = birk_symbolic::ENGINES.iter().filter_map(|engine| engine.mu_calculus);
    let hunts = decisions.map(|decide| decide(program, std::slice::from_ref(&sought), &job, &mut Patient));
    let outcomes: Vec<Outcome> =
        hunts.map(|hunt| hunt.expect("the corpus can be encoded").outcomes[0].clone()).collect();
    assert!(outcomes.len() >= 2, "the engines on sets decide formulas");
    outcomes
}

fn confirm(program: &Program, property: &Property, outcome: &Outcome, length: Option<usize>, context: &str) {
    let Outcome::Found(trace) = outcome else { return };
    let run = replay(program, trace).unwrap_or_else(|e| panic!("{context}: {}: {e}", property.name));
    run.confirm(program, property).unwrap_or_else(|e| panic!("{context}: {e}"));
    if let Some(length) = length {
        assert_eq!(trace.steps.len(), length, "{context}: shortest trace to {}", property.name);
    }
}

fn run_share(share: usize, shares: usize) {
    let mut lines = 0;
    for (name, text) in models().into_iter().skip(share).step_by(shares) {
        let expectations = expectations(&name, &text);
        assert!(!expectations.is_empty(), "{name} says nothing about what is expected");
        for expected in &expectations {
            each_engine(&name, expected, |engine| check(&name, &text, expected, engine));
            lines += 1;
        }
    }
    assert!(lines > 0);
}

/// In so many tests, which run beside each other.
const SHARES: usize = 8;

#[test]
fn the_corpus_is_as_its_headers_say_1() {
    run_share(0, SHARES);
}

#[test]
fn the_corpus_is_as_its_headers_say_2() {
    run_share(1, SHARES);
}

#[test]
fn the_corpus_is_as_its_headers_say_3() {
    run_share(2, SHARES);
}

#[test]
fn the_corpus_is_as_its_headers_say_4() {
    run_share(3, SHARES);
}

#[test]
fn the_corpus_is_as_its_headers_say_5() {
    run_share(4, SHARES);
}

#[test]
fn the_corpus_is_as_its_headers_say_6() {
    run_share(5, SHARES);
}

#[test]
fn the_corpus_is_as_its_headers_say_7() {
    run_share(6, SHARES);
}

#[test]
fn the_corpus_is_as_its_headers_say_8() {
    run_share(7, SHARES);
}

/// Bounded model checking is asked for runs of at most this many steps, unless the environment gives another number (`BIRK_STEPS`).
const MOST_STEPS: u64 = 6;

/// Bounded model checking finds the runs that the headers name, of that length, if they are short, and no others. What takes it
/// long is left out, unless the environment gives a number.
#[test]
fn clauses_find_the_shortest_runs() {
    let steps = most("BIRK_STEPS", MOST_STEPS);
    let takes_all = std::env::var_os("BIRK_STEPS").is_some();
    let bmc = birk_symbolic::ENGINES.iter().find(|engine| engine.name == "bmc").expect("it is in the table");
    let (mut found, mut refused) = (0, Vec::new());
    for (name, text) in models() {
        let Some(expected) = expectations(&name, &text).into_iter().find(|expected| expected.defines.is_empty()) else {
            continue;
        };
        let program = load(&name, &text, &[]).program.expect("the corpus can be loaded");
        if program.has_timeout() || !takes_all && program.layout.bits() > 200 {
            assert_eq!(program.has_timeout(), LATE.contains(&&name[..]), "{name}");
            continue;
        }
        let safety = program.properties.iter().filter_map(|p| Some((p, goal_of(&program, p)?)));
        let (properties, goals): (Vec<&Property>, Vec<Goal>) = safety.unzip();
        let limits = Limits { depth: steps as u32, ..Limits::NONE };
        let job = Job { keep_going: true, ..Job::new(goals.len(), limits) };
        let Search::Program(search) = bmc.search else { panic!("it takes the program") };
        let hunt = match search(&program, &goals, &job, &mut Patient) {
            Ok(hunt) => hunt,
            Err(reason) => {
                refused.push(format!("{name}: {reason}"));
                continue;
            }
        };
        for (property, outcome) in properties.iter().zip(&hunt.outcomes) {
            let listed = expected.verdicts.iter().find(|(name, ..)| *name == property.name);
            let length = listed.and_then(|(.., length)| *length).filter(|&length| length as u64 <= steps);
            let context = format!("{name}: {}", property.name);
            assert_eq!(matches!(outcome, Outcome::Found(_)), length.is_some(), "{context}");
            assert!(*outcome != Outcome::Absent || listed.is_none_or(|(.., length)| length.is_none()), "{context}");
            confirm(&program, property, outcome, length, &context);
            found += usize::from(length.is_some());
        }
    }
    assert!(refused.len() <= 2, "{}", refused.join("\n"));
    assert!(found >= 10, "only {found} runs are so short");
}

#[test]
fn the_corpus_has_at_least_25_models() {
    assert!(models().len() >= 25);
}

//! Successors in parts: with parts of one, two or three successors every engine says what it says when they come at once,
//! on the corpus and on random programs, interpreted and as native code.

use std::ops::ControlFlow;
use std::path::PathBuf;

use birk_engine::{GoalSet, Hunt, Job, Limits, Model, Options, Patient, Successors, Value};
use birk_exec::automaton::violations_of;
use birk_exec::{Choose, Fairness, Interpreter, Product, Rules, goal_of, simulate};
use birk_ir::{Field, Formula, Goal, Outcome, Program};
use birk_jit::Compiled;
use birk_search::bounded::INCREMENT;
use birk_search::highway::WIDTH;
use birk_search::liveness::CycleSearch;
use birk_search::mucalculus::{Graph, Needs};
use birk_search::{ENGINES, bitstate};

use crate::native::{GRAIN, same_hunts};
use birk_agreement::case::{programs, seeds};
use birk_agreement::check::{Checked, same};
use birk_agreement::hunt;

/// Programs that are drawn.
const PROGRAMS: u64 = 80;
/// Models of the corpus with more states are left out.
const MOST_STATES: u64 = 200;

/// A model whose successors come in small parts.
struct Narrow<'m> {
    inner: &'m dyn Model,
    most: usize,
}

impl Model for Narrow<'_> {
    fn words(&self) -> usize {
        self.inner.words()
    }

    fn fields(&self) -> Vec<Field> {
        self.inner.fields()
    }

    fn initial(&self, out: &mut Successors) {
        self.inner.initial(out);
    }

    fn successors(&self, state: &[u32], out: &mut Successors) {
        out.narrow(self.most);
        self.inner.successors(state, out);
    }

    fn evaluate(&self, state: &[u32], stuck: bool) -> GoalSet {
        self.inner.evaluate(state, stuck)
    }

    fn is_fault(&self, state: &[u32]) -> bool {
        self.inner.is_fault(state)
    }

    fn transitions(&self) -> usize {
        self.inner.transitions()
    }

    fn written(&self, transition: usize) -> Option<Vec<u32>> {
        self.inner.written(transition)
    }
}

/// What was really tried: none of these may be 0.
#[derive(Debug, Default)]
struct Tried {
    programs: u64,
    /// States whose successors came in more than one part.
    divided: u64,
    searches: u64,
    cycles: u64,
}

#[test]
fn random_programs_are_the_same_in_parts() {
    let mut tried = Tried::default();
    for (seed, text, case) in programs(PROGRAMS) {
        let looked = same_in_parts(&case.program, &case.goals, &mut tried);
        looked.unwrap_or_else(|why| panic!("seed {seed}: {why}\n{text}"));
    }
    assert!(tried.programs * 2 > seeds(PROGRAMS) && tried.divided > 0 && tried.cycles > 0, "{tried:?}");
}

#[test]
fn the_corpus_is_the_same_in_parts() {
    let mut tried = Tried::default();
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../models");
    for entry in std::fs::read_dir(&folder).expect("the corpus is there") {
        let path = entry.expect("readable").path();
        if path.extension().is_none_or(|extension| extension != "bir") {
            continue;
        }
        let text = std::fs::read_to_string(&path).expect("readable");
        let read = &mut |name: &str| std::fs::read_to_string(folder.join(name)).map_err(|error| error.to_string());
        let program = birk_lang::load_files(&text, &[], read).program.expect("the corpus has no errors");
        let goals: Vec<Goal> = program.properties.iter().filter_map(|property| goal_of(&program, property)).collect();
        let small = Limits { states: MOST_STATES, ..Limits::NONE };
        let model = Interpreter::new(&program, &goals);
        if Graph::explore(&model, needs(&goals), &small, &mut Patient).0.is_complete() {
            let looked = same_in_parts(&program, &goals, &mut tried);
            looked.unwrap_or_else(|why| panic!("{}: {why}", path.display()));
        }
    }
    assert!(tried.programs > 20 && tried.divided > 0 && tried.cycles > 0, "{tried:?}");
}

fn needs(goals: &[Goal]) -> Needs {
    Needs { propositions: goals.len(), labels: true, spare: 0 }
}

fn same_in_parts(program: &Program, goals: &[Goal], tried: &mut Tried) -> Checked {
    tried.programs += 1;
    let whole = Interpreter::new(program, goals);
    let expected = everything(&whole, goals, tried)?;
    let expected_run = random_run(program, &whole);
    for most in [1, 2, 3] {
        let native = Compiled::in_parts(program, goals, most)?;
        for (by, inner) in [("interpreted", &whole as &dyn Model), ("native", &native)] {
            let named = |why: String| format!("{by}, parts of {most}: {why}");
            let model = Narrow { inner, most };
            tried.divided += state_by_state(&whole, &model).map_err(named)?;
            let found = everything(&model, goals, tried).map_err(named)?;
            for ((name, found), (_, expected)) in found.iter().zip(&expected) {
                let named = |why: String| named(format!("{name}: {why}"));
                same_hunts(std::slice::from_ref(found), std::slice::from_ref(expected)).map_err(named)?;
                same("border", &found.stats.cutoff, &expected.stats.cutoff).map_err(named)?;
            }
            same("a random run", &random_run(program, &model), &expected_run).map_err(named)?;
        }
        cycles(program, goals, most, tried).map_err(|why| format!("parts of {most}: {why}"))?;
    }
    Ok(())
}

fn random_run(program: &Program, model: &dyn Model) -> Vec<birk_ir::Step> {
    let rules = Rules { choose: Choose::Thread, steps: 40, stop_at: GoalSet::default() };
    simulate(program, model, &rules, 7, &mut vec![0; model.transitions()]).trace.steps
}

/// Compares the parts with the whole, and counts the states that have several.
fn state_by_state(whole: &dyn Model, narrow: &dyn Model) -> Result<u64, String> {
    let (mut expected, mut parts) = (Successors::new(whole.words()), Successors::in_parts(whole.words()));
    whole.initial(&mut expected);
    let mut states: Vec<Vec<u32>> = (0..expected.len()).map(|i| expected.state(i).to_vec()).collect();
    let mut seen: std::collections::HashSet<Vec<u32>> = states.iter().cloned().collect();
    let (mut next, mut divided) = (0, 0);
    while next < states.len() {
        let state = states[next].clone();
        next += 1;
        expected.clear();
        let cut = (expected.cut, parts.cut);
        whole.successors(&state, &mut expected);
        let (mut at, mut count) = (0, 0);
        let flow = parts.each_part(narrow, &state, |part| {
            count += 1;
            for i in 0..part.len() {
                if at == expected.len() || (part.step(i), part.state(i)) != (expected.step(at), expected.state(at)) {
                    return ControlFlow::Break(format!("successor {at} of {state:x?} is another"));
                }
                at += 1;
            }
            let is_nothing = part.has_rest() && part.is_empty() && part.cut == cut.1;
            if is_nothing { ControlFlow::Break("an empty part".to_owned()) } else { ControlFlow::Continue(()) }
        });
        flow.break_value().map_or(Ok(()), Err)?;
        same(&format!("successors of {state:x?}"), &at, &expected.len())?;
        same(&format!("cut outcomes of {state:x?}"), &(parts.cut - cut.1), &(expected.cut - cut.0))?;
        divided += u64::from(count > 1);
        for i in 0..expected.len() {
            if seen.insert(expected.state(i).to_vec()) {
                states.push(expected.state(i).to_vec());
            }
        }
    }
    Ok(divided)
}

/// Every engine for states, to the end, to a depth, and to a goal; by bits; and the graph for branching.
fn everything(model: &dyn Model, goals: &[Goal], tried: &mut Tried) -> Result<Vec<(String, Hunt)>, String> {
    let mut hunts = Vec::new();
    let all = GoalSet((1u64 << goals.len()).wrapping_sub(1));
    for (what, depth, stop_at) in
        [("all", u32::MAX, GoalSet::default()), ("depth", 2, GoalSet::default()), ("goal", u32::MAX, all)]
    {
        let job = |threads| {
            let limits = Limits { depth, threads, grain: GRAIN, ..Limits::NONE };
            let options = Options::default().with(&INCREMENT, Value::Number(2)).with(&WIDTH, Value::Number(3));
            Job { stop_at, keep_going: stop_at.is_empty(), options, ..Job::new(goals.len(), limits) }
        };
        for engine in ENGINES {
            let threads = if engine.scales && engine.shortest { [1, 2].as_slice() } else { &[1] };
            for &threads in threads {
                let hunt = hunt::of_model(engine, model, &job(threads), &mut Patient);
                hunts.push((format!("{}, {what}, {threads} threads", engine.name), hunt));
            }
        }
        let field = bitstate::BitState { bytes: 1 << 16, expected: None, swarm: 2, seed: 3 };
        hunts.push((format!("bits, {what}"), field.hunt(model, &job(1), &mut Patient)));
        let limits = Limits { depth, ..Limits::NONE };
        hunts.push((format!("graph, {what}"), Graph::explore(model, needs(goals), &limits, &mut Patient).1));
    }
    tried.searches += hunts.len() as u64;
    Ok(hunts)
}

/// Hunts for cycles, in the product of a narrow model and in a narrow product, with fairness and without.
fn cycles(program: &Program, goals: &[Goal], most: usize, tried: &mut Tried) -> Checked {
    let Some(Goal::State(bad)) = goals.first() else { return Ok(()) };
    let whole = Interpreter::new(program, &goals[..1]);
    let narrow = Narrow { inner: &whole, most };
    let formula = Formula::Always(Box::new(Formula::Eventually(Box::new(Formula::Atom(bad.clone())))));
    let (automaton, propositions) = violations_of(&formula).map_err(|error| error.to_string())?;
    if propositions != [bad.clone()] {
        return Ok(());
    }
    for fairness in [None, Fairness::weak(program).ok()] {
        let product = |model| Product::new(model, automaton.clone(), fairness.clone());
        let (expected, inside) = (product(&whole), product(&narrow));
        let outside = Narrow { inner: &inside, most };
        for (threads, depth) in [(1, u32::MAX), (2, u32::MAX), (1, 2)] {
            let job = Job::new(1, Limits { depth, threads, ..Limits::NONE });
            let cycle_search = CycleSearch::of(expected.is_weak(), &job);
            let expected = cycle_search.hunt(&expected, &mut Patient);
            for model in [&inside as &dyn Model, &outside] {
                let found = cycle_search.hunt(model, &mut Patient);
                same("a cycle", &is_found(&found), &is_found(&expected))?;
                if !is_found(&expected) {
                    let end = |hunt: &Hunt| (hunt.coverage.clone(), hunt.stopped);
                    same("the end of a hunt for cycles", &end(&found), &end(&expected))?;
                }
                if threads == 1 {
                    // What is cut is counted once for a state of the model, or for each of the product.
                    let counts = |hunt: &Hunt| (hunt.stats.states, hunt.stats.transitions);
                    same("counts of cycles", &counts(&found), &counts(&expected))?;
                    same("runs into cycles", &found.outcomes, &expected.outcomes)?;
                }
                tried.cycles += 1;
            }
        }
        let field = bitstate::BitState { bytes: 1 << 16, expected: None, swarm: 1, seed: 0 };
        let cycle_search = CycleSearch::of(expected.is_weak(), &Job::new(1, Limits::NONE));
        let by_bits = |model: &dyn Model| is_found(&field.find_cycle(model, &cycle_search, &mut Patient));
        same("a cycle by bits", &by_bits(&outside), &by_bits(&expected))?;
    }
    Ok(())
}

fn is_found(hunt: &Hunt) -> bool {
    matches!(hunt.outcomes[0], Outcome::Found(_))
}

//! Slices of abstract models, held against all runs of the model itself, as explicit search knows them.

use super::*;
use std::collections::{HashMap, HashSet};

use crate::bdd::testing;
use crate::cancellable::Line;
use birk_engine::{Model as _, Successors};
use birk_exec::{Interpreter, goal_of};
use birk_ir::{Goal, Program};

/// All states of a program, their depths, and how far the nearest goal is.
struct Explored {
    states: Vec<Vec<u32>>,
    depths: Vec<usize>,
    distances: Vec<Option<usize>>,
}

impl Explored {
    fn new(program: &Program, goal: &Goal) -> Self {
        let states = testing::reachable(program, usize::MAX);
        let numbers: HashMap<&[u32], usize> = states.iter().enumerate().map(|(n, state)| (&state[..], n)).collect();
        let model = Interpreter::new(program, std::slice::from_ref(goal));
        let mut before = vec![Vec::new(); states.len()];
        let mut depths = vec![usize::MAX; states.len()];
        let mut distances = vec![None; states.len()];
        depths[0] = 0;
        // They come in the order of their depths.
        for (number, state) in states.iter().enumerate() {
            let mut successors = Successors::new(model.words());
            if !model.is_fault(state) {
                model.successors(state, &mut successors);
            }
            for index in 0..successors.len() {
                let next = numbers[successors.state(index)];
                before[next].push(number);
                depths[next] = depths[next].min(depths[number] + 1);
            }
            let is_stuck = !model.is_fault(state) && successors.is_empty() && successors.cut == 0;
            distances[number] = model.evaluate(state, is_stuck).contains(0).then_some(0);
        }
        let mut here: Vec<usize> = (0..states.len()).filter(|&number| distances[number].is_some()).collect();
        for steps in 1.. {
            let all: HashSet<usize> = here.iter().flat_map(|&number| before[number].iter().copied()).collect();
            here = all.into_iter().filter(|&number| distances[number].is_none()).collect();
            here.iter().for_each(|&number| distances[number] = Some(steps));
            if here.is_empty() {
                break;
            }
        }
        Self { states, depths, distances }
    }

    fn shortest(&self) -> Option<usize> {
        self.distances[0]
    }

    /// What a search meets within a bound that follows a slice: by depth, as sets.
    fn met(&self, encoding: &Encoding<'_>, slice: &Slice) -> Vec<Set> {
        let diagrams = &encoding.diagrams;
        let mut met: Vec<Set> = Vec::new();
        for (state, &depth) in self.states.iter().zip(&self.depths) {
            if encoding.contains(slice.at(diagrams, depth), state) {
                met.resize(met.len().max(depth + 1), diagrams.no.clone());
                let single = encoding.single(state).expect("memory");
                met[depth] = diagrams.or(&met[depth], &single).expect("memory");
            }
        }
        met
    }
}

/// Refines the models of one goal until they have no run that the program has not, and lets each slice be examined. Returns
/// the length of the shortest run that is left, and the bits that are kept.
fn refined(
    program: &Program,
    goal: &Goal,
    explored: &Explored,
    mut check: impl FnMut(&Encoding<'_>, &Slice),
) -> Attempt<(Option<usize>, BTreeSet<u32>)> {
    let encoding = Encoding::new(program, 64 << 20)?;
    let relation = Relation::new(&encoding, &mut || Ok(()))?;
    let Goal::State(condition) = goal;
    let goals = [Condition::new(&encoding, condition)?];
    let line = Line::default();
    let mut watch = Watch::new(&line);
    let mut concrete = Concrete { encoding: &encoding, relation: &relation, goals: &goals, watch: &mut watch };
    let mut abstraction = Abstraction::new(&mut concrete)?;
    loop {
        check(&encoding, abstraction.slice());
        let bound = abstraction.slice().bound;
        if explored.shortest() == Some(bound) || abstraction.is_full {
            return Ok((Some(bound), abstraction.model.kept));
        }
        let met = explored.met(&encoding, abstraction.slice());
        abstraction.refine(&mut concrete, &met)?;
        check(&encoding, abstraction.slice());
        if !abstraction.raise(&mut concrete)? && !abstraction.is_full {
            return Ok((None, abstraction.model.kept));
        }
    }
}

fn goals(program: &Program) -> impl Iterator<Item = Goal> {
    program.properties.iter().filter_map(|property| goal_of(program, property))
}

/// What is on a run within the bound is in the slice, and where the program has such a run, the model has one.
#[test]
fn slices_have_all_runs_within_the_bound() {
    let (mut examined, mut inside, mut exact) = (0, 0, 0);
    for (name, text) in testing::MODELS.into_iter().filter(|(name, _)| !SLOW.contains(name)) {
        let program = birk_lang::load(text, &[]).program.expect("the corpus is right");
        for goal in goals(&program) {
            let explored = Explored::new(&program, &goal);
            let done = refined(&program, &goal, &explored, |encoding, slice| {
                let diagrams = &encoding.diagrams;
                for (number, state) in explored.states.iter().enumerate().step_by(7) {
                    let depth = explored.depths[number];
                    let is_on_run = explored.distances[number].is_some_and(|steps| depth + steps <= slice.bound);
                    let is_inside = encoding.contains(slice.at(diagrams, depth), state);
                    assert!(
                        is_inside || !is_on_run || slice.shortest.is_none(),
                        "{name}: {depth} within {}",
                        slice.bound
                    );
                    (examined, inside) = (examined + 1, inside + usize::from(is_inside));
                }
                let is_short = explored.shortest().is_some_and(|shortest| shortest <= slice.bound);
                assert!(slice.shortest.is_some() || !is_short, "{name}: no run within {}", slice.bound);
            });
            let (steps, _) = done.unwrap_or_else(|broken| panic!("{name}: {broken:?}"));
            assert!(steps.is_some() || explored.shortest().is_none(), "{name}");
            exact += usize::from(explored.shortest().is_some() && steps == explored.shortest());
        }
    }
    assert!(inside > 200 && inside * 2 < examined && exact > 3, "{examined} {inside} {exact}");
}

/// They have many states, or many choices.
const SLOW: [&str; 3] = ["german", "sliding_window", "elevator"];

fn load(text: &str) -> (Program, Goal) {
    let program = birk_lang::load(text, &[]).program.unwrap_or_else(|| panic!("{text}"));
    let last = program.properties.iter().find(|property| property.name == "last").expect("it is declared");
    let goal = goal_of(&program, last).expect("it is about states");
    (program, goal)
}

/// A chain of flags, and others that have nothing to do with it.
fn chain(links: usize) -> String {
    let mut text = format!("system Chain {{\n  boolean[{links}] flags;\n  boolean[6] others;\n");
    text += "  active thread T() {\n    loc l: end\n      do { flags[0] := true; } goto l;\n";
    for flag in 1..links {
        text += &format!("      when flags[{}] do {{ flags[{flag}] := true; }} goto l;\n", flag - 1);
    }
    for other in 0..6 {
        text += &format!("      when flags[0] do {{ others[{other}] := !others[{other}]; }} goto l;\n");
    }
    text + &format!("  }}\n  invariant last: !flags[{}];\n}}\n", links - 1)
}

#[test]
fn what_a_run_needs_is_kept_and_nothing_else() {
    let (program, goal) = load(&chain(4));
    let explored = Explored::new(&program, &goal);
    let (steps, kept) = refined(&program, &goal, &explored, |_, _| {}).expect("memory");
    assert_eq!((steps, kept.len()), (Some(4), 4), "a flag for each link");
}

/// The first flag needs two that never agree: a model that keeps both knows that there is no run.
#[test]
fn a_model_may_know_that_there_is_no_run() {
    let declared = "boolean[4] flags; boolean x; boolean y := true;";
    let agree = "do { x := !x; y := !y; } goto l; when x == y do { flags[0] := true";
    let text = chain(4).replace("boolean[4] flags;", declared).replace("do { flags[0] := true", agree);
    let (program, goal) = load(&text);
    let explored = Explored::new(&program, &goal);
    let (steps, kept) = refined(&program, &goal, &explored, |_, _| {}).expect("memory");
    assert_eq!((steps, kept.len()), (None, 6));
}

#[test]
fn bits_in_the_way_are_few() {
    testing::with(testing::FEW[0], |encoding, _, _, _| {
        let diagrams = &encoding.diagrams;
        let bits: Vec<u32> = encoding.all_places().take(3).collect();
        let [a, b, c] = [0, 1, 2].map(|bit| diagrams.bit(bits[bit]).expect("memory"));
        // a && b || c && !a
        let condition = diagrams.ite(&a, &b, &c)?;
        let in_the_way =
            |set: [usize; 2]| differing(diagrams, condition.clone(), |bit| set.iter().any(|&at| bits[at] == bit));
        assert_eq!(in_the_way([0, 0]), BTreeSet::from([bits[1]]));
        assert_eq!(in_the_way([1, 1]), BTreeSet::from([bits[2]]));
        assert_eq!(in_the_way([0, 1]), BTreeSet::new());
        Ok(())
    });
}

//! A heuristic as sets: the states by how many steps a goal is away from them, at least.
//!
//! `exec::heuristic` infers an estimate and evaluates it for one state. Here each of its parts becomes a list of
//! sets instead: the states for which it is 0, 1, 2, …; those in none of them never reach the goal.

use birk_engine::NEVER;
use birk_exec::heuristic::{Cell, Heuristic, Part};

use crate::attempt::Attempt;
use crate::bdd::diagram::{Diagrams, Set};
use crate::bdd::encoding::Encoding;
use crate::bitvector::{Algebra, Arithmetic};
use crate::expression::{Ground, Scene};

/// Sets of states by their estimate.
pub(crate) type Estimates = Vec<Set>;

/// The estimates of a goal; `look` is called after each part.
pub(crate) fn estimates(
    encoding: &Encoding<'_>,
    stuck: &Set,
    heuristic: &Heuristic<'_>,
    look: &mut dyn FnMut() -> Attempt<()>,
) -> Attempt<Estimates> {
    let mut known: Vec<Estimates> = Vec::new();
    for part in heuristic.parts() {
        known.push(of(encoding, stuck, part, &known)?);
        look()?;
    }
    Ok(known.pop().expect("an estimate has parts"))
}

/// One part; those it refers to are known.
fn of(encoding: &Encoding<'_>, stuck: &Set, part: &Part, known: &[Estimates]) -> Attempt<Estimates> {
    let diagrams = &encoding.diagrams;
    let flag = |set: Set| Ok(vec![set.clone(), diagrams.not(&set)?]);
    match part {
        Part::Fixed(NEVER) => Ok(Vec::new()),
        Part::Fixed(steps) => {
            let mut sets = vec![diagrams.no.clone(); *steps as usize];
            sets.push(diagrams.yes.clone());
            Ok(sets)
        }
        Part::Among(cell, values) => {
            let each = values.iter().map(|&value| has(encoding, *cell, value)).collect::<Attempt<Vec<Set>>>()?;
            flag(diagrams.any(each)?)
        }
        Part::Written(cell, value, before) => {
            let here = has(encoding, *cell, *value)?;
            let mut sets = vec![here.clone()];
            for set in &known[*before] {
                sets.push(diagrams.minus(set, &here)?);
            }
            Ok(sets)
        }
        Part::Opaque(condition) => flag(Scene::with_stuck(encoding, stuck).truth(condition)?),
        Part::Least(parts) => {
            parts.iter().try_fold(Vec::new(), |least, &part| self::least(diagrams, &least, &known[part]))
        }
        Part::Sum(groups) => {
            let mut sum = vec![diagrams.yes.clone()];
            for group in groups {
                let mut greatest = vec![diagrams.yes.clone()];
                for &part in group {
                    greatest = self::greatest(diagrams, &greatest, &known[part])?;
                }
                sum = added(diagrams, &sum, &greatest)?;
            }
            Ok(sum)
        }
    }
}

/// Where an element has a value.
fn has(encoding: &Encoding<'_>, cell: Cell, value: i64) -> Attempt<Set> {
    encoding.diagrams.equal(encoding.value(cell.variable, cell.element), &encoding.diagrams.literal(value))
}

/// The smaller of two.
pub(crate) fn least(diagrams: &Diagrams, a: &[Set], b: &[Set]) -> Attempt<Estimates> {
    let (mut sets, mut nearer) = (Vec::new(), diagrams.no.clone());
    for steps in 0..a.len().max(b.len()) {
        let here = diagrams.or(at(diagrams, a, steps), at(diagrams, b, steps))?;
        sets.push(diagrams.minus(&here, &nearer)?);
        nearer = diagrams.or(&nearer, &here)?;
    }
    Ok(trimmed(diagrams, sets))
}

/// The larger of two: never, where one of them is.
fn greatest(diagrams: &Diagrams, a: &[Set], b: &[Set]) -> Attempt<Estimates> {
    let mut sets = Vec::new();
    let (mut a_nearer, mut b_nearer) = (diagrams.no.clone(), diagrams.no.clone());
    for steps in 0..a.len().max(b.len()) {
        let (a_here, b_here) = (at(diagrams, a, steps), at(diagrams, b, steps));
        let (a_near, b_near) = (diagrams.or(&a_nearer, a_here)?, diagrams.or(&b_nearer, b_here)?);
        sets.push(diagrams.or(&diagrams.and(a_here, &b_near)?, &diagrams.and(&a_near, b_here)?)?);
        (a_nearer, b_nearer) = (a_near, b_near);
    }
    Ok(trimmed(diagrams, sets))
}

/// The sum of two: never, where one of them is.
pub(crate) fn added(diagrams: &Diagrams, a: &[Set], b: &[Set]) -> Attempt<Estimates> {
    let mut sets = vec![diagrams.no.clone(); (a.len() + b.len()).saturating_sub(1)];
    for (first, a) in a.iter().enumerate() {
        for (second, b) in b.iter().enumerate() {
            sets[first + second] = diagrams.or(&sets[first + second], &diagrams.and(a, b)?)?;
        }
    }
    Ok(trimmed(diagrams, sets))
}

fn at<'s>(diagrams: &'s Diagrams, sets: &'s [Set], steps: usize) -> &'s Set {
    sets.get(steps).unwrap_or(&diagrams.no)
}

/// Without empty sets at the end.
fn trimmed(diagrams: &Diagrams, mut sets: Vec<Set>) -> Estimates {
    while sets.last() == Some(&diagrams.no) {
        sets.pop();
    }
    sets
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bdd::testing;
    use birk_exec::{Random, goal_of};
    use oxidd::BooleanFunction;

    const BITS: u32 = 4;

    /// An estimate of each value of four bits, as numbers and as sets.
    fn draw(diagrams: &Diagrams, random: &mut Random) -> (Vec<u32>, Estimates) {
        let numbers: Vec<u32> =
            (0..1 << BITS).map(|_| if random.below(6) == 0 { NEVER } else { random.below(4) as u32 }).collect();
        let mut sets = vec![diagrams.no.clone(); 4];
        for (value, &steps) in numbers.iter().enumerate().filter(|(_, steps)| **steps != NEVER) {
            let literals: Vec<(u32, bool)> = (0..BITS).map(|bit| (bit, value >> bit & 1 == 1)).collect();
            let cube = diagrams.cube(&literals).expect("memory");
            sets[steps as usize] = diagrams.or(&sets[steps as usize], &cube).expect("memory");
        }
        (numbers, sets)
    }

    /// The number that the sets give for a value; it is in one of them at most.
    fn read(sets: &[Set], value: usize) -> u32 {
        let is_in = |set: &Set| set.eval((0..BITS).map(|bit| (bit, value >> bit & 1 == 1)));
        let found: Vec<usize> = (0..sets.len()).filter(|&steps| is_in(&sets[steps])).collect();
        assert!(found.len() <= 1, "{found:?}");
        found.first().map_or(NEVER, |&steps| steps as u32)
    }

    #[test]
    fn sets_of_estimates_are_joined_as_numbers_are() {
        let diagrams = Diagrams::new(16 << 20, BITS);
        let mut random = Random::new(3);
        for _ in 0..50 {
            let ((a, a_sets), (b, b_sets)) = (draw(&diagrams, &mut random), draw(&diagrams, &mut random));
            let least = least(&diagrams, &a_sets, &b_sets).expect("memory");
            let greatest = greatest(&diagrams, &a_sets, &b_sets).expect("memory");
            let added = added(&diagrams, &a_sets, &b_sets).expect("memory");
            for value in 0..1 << BITS {
                let (a, b) = (a[value], b[value]);
                assert_eq!(read(&least, value), a.min(b));
                assert_eq!(read(&greatest, value), a.max(b));
                assert_eq!(read(&added, value), a.saturating_add(b));
            }
        }
    }

    /// Against the evaluation of the same estimate state by state.
    #[test]
    fn sets_say_what_the_estimate_says_of_each_state() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models");
        let mut positive = 0;
        for model in ["dme_2", "tree_arbiter_buggy_2", "peterson_filter", "broken_mutex", "elevator", "german"] {
            let text = std::fs::read_to_string(folder.join(format!("{model}.bir"))).expect("the model is there");
            let program = birk_lang::load(&text, &[]).program.expect("the corpus is right");
            let encoding = Encoding::new(&program, 64 << 20).unwrap_or_else(|_| panic!("{model}: memory"));
            let states = testing::reachable(&program, 300);
            for goal in program.properties.iter().filter_map(|property| goal_of(&program, property)) {
                let birk_ir::Goal::State(condition) = &goal;
                let mut asks_stuck = false;
                condition.walk(&mut |expr| asks_stuck |= *expr == birk_ir::Expr::Stuck);
                if asks_stuck {
                    continue;
                }
                for depth in [0, 1, 3] {
                    let heuristic = Heuristic::new(&program, &goal, depth);
                    let no = encoding.diagrams.no.clone();
                    let sets = estimates(&encoding, &no, &heuristic, &mut || Ok(()));
                    let sets = sets.unwrap_or_else(|_| panic!("{model}: memory"));
                    for state in states.iter().filter(|state| !program.is_faulty(state)) {
                        let bits = encoding.bits_of(state);
                        let is_in = |set: &Set| set.eval(bits.iter().map(|(&bit, &value)| (bit, value)));
                        let found: Vec<usize> = (0..sets.len()).filter(|&steps| is_in(&sets[steps])).collect();
                        let expected = heuristic.steps(state, &mut Vec::new());
                        positive += u32::from(expected > 1);
                        let expected: Vec<usize> =
                            (expected != NEVER).then_some(expected as usize).into_iter().collect();
                        assert_eq!(found, expected, "{model}, refined {depth} times, in {state:?}");
                    }
                }
            }
        }
        assert!(positive > 1000, "{positive}");
    }
}

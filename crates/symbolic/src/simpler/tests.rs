//! Estimates of simpler models, held against the steps of the model itself.

use super::*;
use crate::diagram::Broken;
use crate::testing;
use birk_exec::{Interpreter, Model as _, Successors, goal_of};

/// The estimates of all goals of a program that have one, with the number of states that are followed.
fn with_estimates(text: &str, mut check: impl FnMut(&Encoding<'_>, &Set, &Estimates)) -> Option<()> {
    let program = birk_lang::load(text, &[]).program.expect("the text is right");
    let encoding = Encoding::new(&program, 64 << 20).ok()?;
    let relation = Relation::new(&encoding, &mut || Ok(())).ok()?;
    for goal in program.properties.iter().filter_map(|property| goal_of(&program, property)) {
        let Goal::BadState(condition) = &goal;
        let mut asks_stuck = false;
        condition.walk(&mut |expr| asks_stuck |= *expr == Expr::Stuck);
        if asks_stuck {
            continue;
        }
        let set = crate::expression::Scene::with_stuck(&encoding, &encoding.diagrams.no).truth(condition).ok()?;
        let look = &mut || Ok(());
        let estimate = Simplifier { encoding: &encoding, relation: &relation, look }.estimate(&goal, &set);
        if let Some(estimate) = estimate.unwrap_or_else(|broken: Broken| panic!("{broken:?}")) {
            check(&encoding, &set, &estimate);
        }
    }
    Some(())
}

/// What the sets say of a state; it is in one of them at most.
fn read(encoding: &Encoding<'_>, estimate: &Estimates, state: &[u32]) -> Option<usize> {
    let found: Vec<usize> = (0..estimate.len()).filter(|&steps| encoding.contains(&estimate[steps], state)).collect();
    assert!(found.len() <= 1, "{found:?}");
    found.first().copied()
}

/// 0 at the goal, and no step comes nearer to it by more than one: so it is never more than the distance, either.
#[test]
fn estimates_are_consistent() {
    let mut steps_looked_at = 0;
    let mut farthest = 0;
    for (name, text) in testing::MODELS {
        let done = with_estimates(text, |encoding, goal, estimate| {
            let model = Interpreter::new(encoding.program, &[]);
            for state in testing::reachable(encoding.program, 400).iter().filter(|s| !encoding.program.is_faulty(s)) {
                let here = read(encoding, estimate, state);
                if encoding.contains(goal, state) {
                    assert_eq!(here, Some(0), "{name}");
                }
                let mut successors = Successors::new(model.words());
                model.successors(state, &mut successors);
                for index in 0..successors.len() {
                    let there = read(encoding, estimate, successors.state(index));
                    let nearer = there.is_some_and(|there| here.is_none_or(|here| here > there + 1));
                    assert!(!nearer, "{name}: from {here:?} to {there:?}");
                    steps_looked_at += 1;
                }
                farthest = farthest.max(here.unwrap_or(0));
            }
        });
        done.unwrap_or_else(|| panic!("{name}: memory"));
    }
    assert!(steps_looked_at > 5_000 && farthest > 8, "{steps_looked_at} {farthest}");
}

fn from_start(text: &str) -> Vec<Option<usize>> {
    let mut found = Vec::new();
    let from_start = |encoding: &Encoding<'_>, _: &Set, estimate: &Estimates| {
        found.push(read(encoding, estimate, &encoding.program.initial_state()));
    };
    with_estimates(text, from_start).expect("memory");
    found
}

/// Two simpler models, one for each flag; a transition that writes both is a step of one of them only.
#[test]
fn what_is_written_together_is_counted_once() {
    let system = |body: &str| {
        format!(
            "system S {{ boolean a; boolean b; active thread T() {{ loc l: end {body} }} invariant i: !(a && b); }}"
        )
    };
    assert_eq!(from_start(&system("do { a := true; b := true; } goto l;")), [Some(1)]);
    let apart = "when !a do { a := true; } goto l; when !b do { b := true; } goto l;";
    assert_eq!(from_start(&system(apart)), [Some(2)]);
    let one_frees_the_other = "do { a := true; b := true; } goto l; when b do { b := false; } goto l;";
    assert_eq!(from_start(&system(one_frees_the_other)), [Some(1)]);
    assert_eq!(from_start(&system("do { a := true; } goto l;")), [None], "b is never written");
    let one_of_both = "invariant j: !a && !b";
    let text = system("do { a := true; b := true; } goto l;").replace("invariant i: !(a && b)", one_of_both);
    assert_eq!(from_start(&text), [], "the goal insists on neither of them");
}

/// Rounds keep what is needed for what is needed: a chain of flags is as long as it is.
#[test]
fn rounds_follow_what_transitions_read() {
    let mut text = "system Chain {\n  boolean[9] flags;\n  active thread T() {\n    loc l: end\n".to_owned();
    text += "      do { flags[0] := true; } goto l;\n";
    for flag in 1..9 {
        text += &format!("      when flags[{}] do {{ flags[{flag}] := true; }} goto l;\n", flag - 1);
    }
    text += "  }\n  invariant last: !flags[8];\n}\n";
    assert_eq!(from_start(&text), [Some(9)]);
}

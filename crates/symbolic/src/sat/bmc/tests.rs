//! Small programs by hand: what bounded model checking must answer, and that no rule of it can be left out.

use std::panic::{AssertUnwindSafe, catch_unwind};

use birk_engine::{GoalSet, Job, Limits, Patient};
use birk_exec::goal_of;
use birk_ir::{Goal, Outcome};

use super::*;
use crate::sat::circuit::Rule;

/// A program, and for its last property how many steps a shortest run to a violation has, or over how many steps it is proved.
struct Puzzle {
    text: &'static str,
    answer: Result<usize, u32>,
}

const PUZZLES: [Puzzle; 7] = [
    // Two count by themselves: a step is one of them.
    Puzzle {
        text: "system Counters { int (0, 3) a; int (0, 3) b;
            active thread A() { loc go: when a < 3 do { a := a + 1; } goto go; }
            active thread B() { loc go: when b < 3 do { b := b + 1; } goto go; }
            invariant never: !(a == 2 && b == 3); }",
        answer: Ok(5),
    },
    // The light comes back to where it was; what is not written stays.
    Puzzle {
        text: "system Light { int (0, 2) light; int wrap (0, 7) rounds;
            active thread L() {
                loc go: when light < 2 do { light := light + 1; } goto go;
                        when light == 2 do { light := 0; rounds := rounds + 1; } goto go; }
            invariant never: !(rounds == 3 && light == 1); }",
        answer: Ok(10),
    },
    // Nothing leads to the start, so no run of two steps leads to 1.
    Puzzle {
        text: "system Start { int (0, 3) at;
            active thread T() { loc go: when at < 3 do { at := at + 1; } goto go; }
            invariant never: at != 1; }",
        answer: Ok(1),
    },
    // At 5 the only step adds 1, at 6 there is none: which values are chosen decides.
    Puzzle {
        text: "system Choosy { int (0, 6) at; int (0, 3) by;
            active thread T() { loc go: do { by := choose(0, 3); await by > 0 && at + by <= 6; at := at + by; } goto go; } }",
        answer: Ok(2),
    },
    // Both move together, so they are alike after every step: one step is enough.
    Puzzle {
        text: "system Twins { int (0, 1000) a; int (0, 1000) b;
            active thread T() { loc go: when a < 1000 do { a := a + 1; b := b + 1; } goto go; }
            invariant alike: a == b; }",
        answer: Err(1),
    },
    // 6 and 7 change into one another, and 7 leads to 9; they are never reached. A loop, which different states exclude.
    Puzzle {
        text: "system Island { int (0, 9) at;
            active thread T() {
                loc go: when at < 3 do { at := at + 1; } goto go;
                        when at == 3 do { at := 0; } goto go;
                        when at == 6 do { at := 7; } goto go;
                        when at == 7 do { at := 6; } goto go;
                        when at == 7 do { at := 9; } goto go; }
            invariant never: at != 9; }",
        answer: Err(3),
    },
    // Behind the goal there is a long way of goals: only its first is examined.
    Puzzle {
        text: "system Tail { int (0, 30) at;
            active thread T() {
                loc go: when at < 3 do { at := at + 1; } goto go;
                        when at == 3 do { at := 0; } goto go;
                        when at >= 9 && at < 30 do { at := at + 1; } goto go; }
            invariant never: at < 10; }",
        answer: Err(2),
    },
];

/// The length of the run that was found, or the steps of the proof; `None` for another answer.
fn answer(text: &str, without: Option<Rule>) -> Option<Result<usize, u32>> {
    let loaded = birk_lang::load(text, &[]);
    let program = loaded.program.unwrap_or_else(|| panic!("{:?}", loaded.diagnostics));
    let mut asked = program.properties.iter().filter(|property| property.name != "fault");
    let property = asked.next_back().expect("there is always one about deadlocks");
    let goals: Vec<Goal> = goal_of(&program, property).into_iter().collect();
    let job = Job { stop_at: GoalSet(1), ..Job::new(1, Limits { depth: 12, ..Limits::NONE }) };
    let mut patient = Patient;
    let mut watch = Watch::new(&mut patient, u64::MAX);
    watch.without = without;
    let hunt = watched(&program, &goals, &job, &watch).expect("it can be encoded");
    match &hunt.outcomes[0] {
        Outcome::Found(trace) => Some(Ok(trace.steps.len())),
        Outcome::Absent => Some(Err(hunt.stats.sat()?.proved_at?)),
        Outcome::Untraced(_) | Outcome::Inconclusive => None,
    }
}

#[test]
fn small_programs_are_answered() {
    for puzzle in &PUZZLES {
        assert_eq!(answer(puzzle.text, None), Some(puzzle.answer), "{}", puzzle.text);
    }
}

/// Each rule is needed for one of the programs at least: without it the answer is another, or no run at all.
#[test]
fn a_rule_left_out_is_noticed() {
    for rule in [Rule::Initial, Rule::One, Rule::Frame, Rule::Base, Rule::First, Rule::Different, Rule::Stuck] {
        let is_noticed = |puzzle: &Puzzle| {
            // States that no step joins are not made a trace.
            let mutant = catch_unwind(AssertUnwindSafe(|| answer(puzzle.text, Some(rule))));
            mutant.is_err() || mutant.is_ok_and(|mutant| mutant != Some(puzzle.answer))
        };
        assert!(PUZZLES.iter().any(is_noticed), "nobody misses {rule:?}");
    }
}

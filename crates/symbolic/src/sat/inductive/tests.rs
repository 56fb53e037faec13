//! Programs by hand: what is inductive, what is not, and by which step.

use birk_engine::Patient;
use birk_exec::goal_of;
use birk_ir::{Goal, Program};

use super::*;

fn load(text: &str) -> Program {
    let loaded = birk_lang::load(text, &[]);
    loaded.program.unwrap_or_else(|| panic!("{:?}", loaded.diagnostics))
}

/// Counts up by two, and at 6 goes back to 0; nobody else writes.
const EVEN: &str = "system Even { int (0, 9) x; boolean odd;
    active thread T() {
        loc go: when x < 6 do { x := x + 2; } goto go;
                when x == 6 do { x := 0; } goto go;
                when odd do { x := 7; } goto go;
                when x == 9 do { odd := true; } goto go; }
    invariant low: x < 8;
    invariant even: x % 2 == 0;
    invariant never_odd: !odd;
    invariant late: x > 0; }";

/// What becomes of the invariants of these names.
fn examined(program: &Program, names: &[&str]) -> Induction {
    let goal = |name: &&str| {
        let property = program.properties.iter().find(|property| property.name == *name).expect("it is there");
        let Some(Goal::State(bad)) = goal_of(program, property) else { panic!("it has a goal") };
        bad
    };
    let bad: Vec<Expr> = names.iter().map(goal).collect();
    let found = induction(program, &bad.iter().collect::<Vec<_>>(), u64::MAX, &mut Patient).expect("it can be encoded");
    assert_eq!(found.stopped, None);
    found
}

/// A value of a variable in a state.
fn value(program: &Program, name: &str, state: &[u32]) -> i64 {
    let number = program.variables.iter().position(|variable| variable.name == name).expect("it is there");
    program.layout.slot(VarId::new(number)).get(state, 0)
}

#[test]
fn together_they_are_inductive() {
    let program = load(EVEN);
    assert_eq!(examined(&program, &["low", "even", "never_odd"]).gaps, [None, None, None]);
    // Each needs another.
    for name in ["even", "never_odd"] {
        assert!(matches!(examined(&program, &[name]).gaps[0], Some(Gap::Step(_))), "{name}");
    }
}

#[test]
fn a_step_breaks_what_lacks_another() {
    let program = load(EVEN);
    let found = examined(&program, &["even"]);
    let Some(Gap::Step(breach)) = &found.gaps[0] else { panic!("{found:?}") };
    let [from, to] = &breach.states;
    assert_eq!((value(&program, "odd", from), value(&program, "x", to)), (1, 7));
    // From any such state, whatever `x` is.
    let parts: Vec<&str> = breach.part.iter().map(|is| &*program.variable(is.variable).name).collect();
    assert_eq!(parts, ["odd"]);
    assert_eq!(breach.assumed, [0]);
}

#[test]
fn what_rests_on_a_broken_one_is_broken() {
    // Without `never_odd`, which is false initially here, nothing keeps `even`.
    let program = load(&EVEN.replace("boolean odd;", "boolean odd := true;"));
    let found = examined(&program, &["never_odd", "even", "low"]);
    assert_eq!(found.gaps[0], Some(Gap::Initial));
    assert!(matches!(&found.gaps[1], Some(Gap::Step(breach)) if breach.assumed == [1, 2]), "{found:?}");
    assert_eq!(found.gaps[2], None);
}

#[test]
fn what_is_false_initially_is_no_invariant() {
    assert_eq!(examined(&load(EVEN), &["late"]).gaps, [Some(Gap::Initial)]);
}

//! Why a transition is not enabled, and where the nearest state is that satisfies a condition.

use birk_engine::{Model as _, Successors};
use birk_exec::Interpreter;
use birk_exec::nearest::{Nearest, nearest};
use birk_exec::why::{Reason, Why, why};
use birk_ir::{Program, PropertyKind, TransitionId};

fn program(text: &str) -> Program {
    let loaded = birk_lang::load(text, &[]);
    loaded.program.unwrap_or_else(|| panic!("{:#?}", loaded.diagnostics))
}

/// Why the transition of this name is (not) enabled after these steps, given by their positions.
fn asked(program: &Program, steps: &[usize], name: &str) -> Why {
    let model = Interpreter::new(program, &[]);
    let mut state = program.initial_state();
    for &step in steps {
        let mut batch = Successors::new(model.words());
        model.successors(&state, &mut batch);
        state = batch.state(step).to_vec();
    }
    let ids = (0..program.transitions.len()).map(TransitionId::new);
    let id = ids.into_iter().find(|&id| program.transition_text(id) == name);
    why(program, &state, id.unwrap_or_else(|| panic!("there is no {name}")))
}

/// The parts as an indented list.
fn shown(why: &Why) -> Vec<String> {
    why.parts.iter().map(|part| format!("{}{} = {}", "  ".repeat(part.depth), part.text, part.value)).collect()
}

#[test]
fn guards_are_shown_with_their_parts() {
    let program = program(
        "system S { enum Mode { idle, busy } int (0, 9) a; int (0, 9) b; Mode mode; boolean on; int (0, 1) i; boolean [2] flag;
           active thread T() {
             loc l: when a > 0 && b + 1 < 3 && (mode == Mode.busy || on) && flag[i] do { } goto l;
                    do { a := 1; b := 2; } goto m;
             loc m: do { } goto l; } }",
    );
    let first = asked(&program, &[], "T.l #1");
    assert_eq!(first.reason, Reason::Guard);
    assert_eq!(
        shown(&first),
        [
            "a > 0 && b + 1 < 3 && ((mode == busy || on) && flag[i]) = false",
            "  a > 0 = false",
            "    a = 0",
            "  b + 1 < 3 = true",
            "    b + 1 = 1",
            "      b = 0",
            "  mode == busy || on = false",
            "    mode == busy = false",
            "      mode = idle",
            "    on = false",
            "  flag[i] = false",
            "    i = 0",
        ]
    );
    let elsewhere = asked(&program, &[0], "T.l #1");
    assert_eq!(elsewhere, Why { reason: Reason::Elsewhere(Some(birk_ir::LocationId(1))), parts: vec![] });
    assert_eq!(asked(&program, &[0], "T.m").reason, Reason::Enabled);
    assert_eq!(shown(&asked(&program, &[0, 0], "T.l #1"))[1], "  a > 0 = true");
}

#[test]
fn quantifiers_show_what_decides_them() {
    let program = program(
        "system S { int (0, 9) [12] a; active thread T() {
           loc l: when (forall (i : 0 .. 11) a[i] == 0) && (exists (i : 0 .. 11) a[i] > 2) do { } goto l;
                  do { a[3] := 1; } goto l; } }",
    );
    let lines = shown(&asked(&program, &[0], "T.l #1"));
    assert!(lines.contains(&"    a[3] == 0 = false".to_owned()), "{lines:#?}");
    assert!(!lines.iter().any(|line| line.contains("a[2] == 0")), "only what decides: {lines:#?}");
    assert_eq!(lines.iter().filter(|line| line.contains("] > 2 = false")).count(), 9, "the whole and the first eight");
}

#[test]
fn what_blocks_or_cuts_a_step_is_named() {
    let blocked = program(
        "system S { channel of byte [1] c; byte x; active thread T() {
           loc l: do { x := 1; send c (x); send c (2); } goto l; } }",
    );
    let answer = asked(&blocked, &[], "T.l");
    assert_eq!(answer.reason, Reason::Blocked);
    assert_eq!(shown(&answer), ["len(c) < 1 = false", "  len(c) = 1"]);
    let cut = program(
        "system S { int (0, 9) x; int (0, 9) y; active thread T() {
           loc l: do { x := 2; assume x < y; } goto l;   when x > 5 do { y := x; } goto l; } }",
    );
    let answer = asked(&cut, &[], "T.l #1");
    assert_eq!(answer.reason, Reason::Cut);
    assert_eq!(shown(&answer), ["2 < y = false", "  y = 0"]);
    let over = program("system S { int (0, 3) x; active thread T() { loc l: do { assert x == 1; } goto l; } }");
    assert_eq!(asked(&over, &[0], "T.l").reason, Reason::Over);
}

#[test]
fn the_nearest_state_is_nearest() {
    let program = program(
        "system S { int (0, 9) x; active thread T() { loc l: when x < 9 do { x := x + 1; } goto l;
             when x < 8 do { x := x + 2; } goto l; } reachable five: x == 5; reachable ten: x == 10; reachable small: x == 0; }",
    );
    let target = |name: &str| {
        program.properties.iter().find_map(|p| match &p.kind {
            PropertyKind::Reachable(target) if p.name == name => Some(target.clone()),
            _ => None,
        })
    };
    let look =
        |name: &str, limit| nearest(&program, &program.initial_state(), &target(name).expect("it is there"), limit);
    let Nearest::Found(steps) = look("five", 100) else { panic!("5 can be reached") };
    assert_eq!(steps.len(), 3, "2 + 2 + 1");
    assert_eq!(look("five", 2), Nearest::Unknown(3));
    assert_eq!(look("small", 100), Nearest::Absent, "the state itself is not meant");
}

#[test]
fn timeout_has_the_value_that_the_step_found() {
    let program = program(
        "system S { boolean on; active thread T() { loc l: when timeout && !on do { on := true; } goto l; }
           active thread U() { loc a: when timeout && on do { } goto b; loc b: do { on := false; } goto a; } }",
    );
    // Nothing else can move: T waited for that, and U waits for something else.
    assert_eq!(asked(&program, &[], "T.l").reason, Reason::Enabled);
    let other = asked(&program, &[], "U.a");
    assert_eq!((other.reason, &shown(&other)[..]), (Reason::Guard, &other_parts()[..]));
    // U can move, so T cannot.
    let early = asked(&program, &[0, 0], "T.l");
    assert_eq!(early.reason, Reason::Guard);
    assert!(shown(&early).contains(&"  timeout = false".to_owned()), "{early:?}");
}

fn other_parts() -> [String; 3] {
    ["on && timeout = false", "  on = false", "  timeout = true"].map(str::to_owned)
}

//! Threads that crash: what becomes of them, and what is said where something is wrong.

use birk_ir::{Op, Program};
use birk_lang::load;

fn program(text: &str) -> Program {
    let loaded = load(text, &[]);
    loaded.program.unwrap_or_else(|| panic!("{text}: {:#?}", loaded.diagnostics))
}

/// `E0060 message | label`, for each error.
fn errors(thread: &str) -> Vec<String> {
    let text = format!("system S {{ byte x; active thread T() {thread} }}");
    let found = load(&text, &[]).diagnostics.into_iter().filter(|found| !found.is_warning());
    found.map(|found| format!("{} {} | {}", found.code, found.message, found.label)).collect()
}

/// The steps of a program: from where to where, what they ask for, and what they write.
fn steps(program: &Program) -> Vec<String> {
    let shown = |transition: &birk_ir::Transition| {
        let place = |at| program.location_text(transition.thread, at);
        let writes = transition.ops.iter().filter_map(|op| match op {
            Op::Assign(place, value) => {
                let name = &program.variable(place.variable).name;
                (!name.ends_with('@')).then(|| format!(" {name} := {}", program.expr_text(value)))
            }
            _ => None,
        });
        let guard = program.expr_text(&transition.guard);
        let (from, to) = (place(Some(transition.location)), place(transition.target));
        format!("{from} -> {to} when {guard}:{}", writes.collect::<String>())
    };
    program.transitions.iter().map(shown).collect()
}

#[test]
fn a_crash_leads_from_every_location_to_one_where_only_durable_variables_are_left() {
    let program = program(
        "system S { int (0, 3) left := 3; active thread T() crashes when left > 0 {
           durable int (0, 3) kept := 1; int (0, 3) lost := 2;
           on crash { left := left - 1; } on restart { lost := kept; }
           a: kept := lost; b: lost := kept; } }",
    );
    let expected = [
        "a -> b when 1: T.kept := T.lost",
        "a -> crashed when left > 0: left := left - 1 T.lost := 2",
        "crashed -> a when 1: T.lost := T.kept",
        "b -> terminated when 1: T.lost := T.kept T.kept := 1 T.lost := 2",
        "b -> crashed when left > 0: left := left - 1 T.lost := 2",
    ];
    assert_eq!(steps(&program), expected);
    let crashed = program.kinds[0].crashed.expect("it crashes");
    assert_eq!(program.kinds[0].locations[crashed.index()].name, "crashed");
}

#[test]
fn running_again_is_a_step_where_nothing_is_to_be_done() {
    let program = program("system S { active thread T() crashes { loc a: do { } goto a; } }");
    assert_eq!(steps(&program), ["a -> a when 1:", "a -> crashed when 1:", "crashed -> a when 1:"]);
}

/// A loop on a restart does not keep the thread at `crashed`, and it may crash there, too.
#[test]
fn a_loop_on_a_restart_is_not_where_a_thread_has_crashed() {
    let program = program(
        "system S { byte x; active thread T() crashes { on restart { while (true) { r: x := 1; } } a: x := 2; } }",
    );
    let places: Vec<&str> = program.kinds[0].locations.iter().map(|location| location.name.as_str()).collect();
    assert_eq!(places, ["a", "crashed", "r"]);
    let expected = [
        "a -> terminated when 1: x := 2",
        "a -> crashed when 1:",
        "crashed -> r when 1: x := 1",
        "r -> r when 1: x := 1",
        "r -> crashed when 1:",
    ];
    assert_eq!(steps(&program), expected);
}

#[test]
fn the_words_are_names_elsewhere() {
    let text = "system S { byte on, durable, crash, restart, crashes; active thread T() {
        on := durable; durable := crash; crash := restart; restart := crashes; crashes := on; } }";
    assert_eq!(program(text).transitions.len(), 5);
}

#[test]
fn what_is_wrong_is_said_once() {
    let second = "E0021 a second `on restart` | again";
    assert_eq!(errors("crashes { on restart { skip; } on restart { skip; } x := 1; }"), [second]);
    let unknown = "E0004 expected `crash` or `restart`, found `reboot` | expected `crash` or `restart`";
    assert_eq!(errors("crashes { on reboot { skip; } x := 1; }"), [unknown]);
    let late = "E0004 `durable` behind the first step | too late";
    assert_eq!(errors("crashes { x := 1; durable byte y; y := x; }"), [late]);
    let steady = "E0060 `on crash` in a thread that does not crash | it has a meaning only where the thread can crash";
    assert_eq!(errors("{ on crash { x := 1; } x := 2; }"), [steady]);
    let jump = "E0061 a jump in `on crash` | leads elsewhere";
    assert_eq!(errors("crashes { on crash { if (x > 0) { return; } } x := 1; }"), [jump]);
    let twice = "E0021 `crashed` is declared twice | declared again here";
    assert_eq!(errors("crashes { crashed: x := 1; }"), [twice]);
    assert_eq!(errors("crashes { loc crashed: do { x := 1; } return; }"), [twice]);
    let nowhere = "E0026 there is no location `crashed` in this thread | no such location";
    assert_eq!(errors("crashes { x := 1; goto crashed; }"), [nowhere]);
    // In a procedure they are no words of the language.
    let text = "system S { byte x; procedure p() { on crash { x := 1; } } active thread T() crashes { p(); } }";
    assert!(load(text, &[]).diagnostics.iter().all(|found| found.code != "E0006"), "no brace is missing");
    assert!(errors("crashes when x { x := 1; }")[0].starts_with("E0022"));
}

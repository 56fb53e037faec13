//! `timeout` in guards: where it is allowed, what it becomes, and what is said where it is not.

use birk_ir::{Expr, Program};
use birk_lang::{fmt, load};

fn system(items: &str, body: &str) -> String {
    format!("system S {{ int (0, 3) x; boolean b; {items} active thread T() {{ {body} }} }}")
}

fn program(text: &str) -> Program {
    let loaded = load(text, &[]);
    loaded.program.unwrap_or_else(|| panic!("{text}: {:#?}", loaded.diagnostics))
}

/// `E0057 message | label`, for each error.
fn errors(text: &str) -> Vec<String> {
    let found = load(text, &[]).diagnostics.into_iter().filter(|found| !found.is_warning());
    found.map(|found| format!("{} {} | {}", found.code, found.message, found.label)).collect()
}

/// The guards of a program's steps, as Birk writes them.
fn guards(text: &str) -> Vec<String> {
    let program = program(text);
    program.transitions.iter().map(|transition| program.expr_text(&transition.guard)).collect()
}

#[test]
fn a_guard_may_wait_for_it() {
    let guard = |condition: &str| guards(&system("", &format!("await {condition}; b := x > 1;")))[..].to_vec();
    assert_eq!(guard("timeout"), ["timeout", "1"]);
    assert_eq!(guard("timeout && x > 1"), ["x > 1 && timeout", "1"]);
    assert_eq!(guard("(x > 1 && (timeout)) && b"), ["x > 1 && b && timeout", "1"]);
    // What need not wait is a step of its own.
    assert_eq!(guard("timeout || x > 1"), ["x > 1", "timeout", "1"]);
    assert_eq!(guard("x > 1 && (b || timeout)"), ["x > 1 && b", "x > 1 && timeout", "1"]);
    // What never waits for it has no second step.
    assert_eq!(guard("timeout || true"), ["1", "1"]);
    let located = "system S { boolean b; active thread T() { loc a: when timeout && b do { b := false; } goto a; } }";
    assert_eq!(guards(located), ["b && timeout"]);
    let called = "procedure idle(boolean c) { await c && x < 2; }";
    assert_eq!(guards(&system(called, "idle(timeout); x := 1;")), ["x < 2 && timeout", "1"]);
}

/// Operations are never about `timeout`: what can go wrong in a guard goes wrong where the guard is evaluated.
#[test]
fn nothing_else_of_a_step_asks_for_it() {
    for body in [
        "await timeout && 6 / x > 1; x := 2;",
        "await 6 / x > 1 && timeout; x := 2;",
        "await timeout || 6 / x > 1; x := 2;",
        "atomic { x := 2; await timeout && b; b := false; }",
        "either { await timeout; x := 1; } or { await b || timeout && 3 / x == 1; }",
    ] {
        let program = program(&system("", body));
        assert!(program.has_timeout(), "{body}");
        for transition in &program.transitions {
            let mut parts = transition.ops.iter().map(|op| format!("{op:?}"));
            assert!(!parts.any(|part| part.contains("Stuck")), "{body}: {transition:?}");
        }
    }
}

#[test]
fn elsewhere_it_is_an_error() {
    let outside = "E0057 `timeout` outside a guard | only allowed in `await` and `when`";
    let below = "E0057 `timeout` inside another operator | only `&&` and `||` may join it";
    let test = "E0057 `timeout` in the test of an `if` or `while` | never true: the test itself can move";
    for (body, expected) in [
        ("b := timeout;", outside),
        ("assert timeout;", outside),
        ("assume timeout;", outside),
        ("x := timeout ? 1 : 2;", outside),
        ("await !timeout;", below),
        ("await timeout == b;", below),
        ("await b => timeout;", below),
        ("await b ? timeout : b;", below),
        ("await exists (i : 0 .. 1) timeout;", below),
        ("await let c = timeout in c;", below),
        ("if (timeout) { skip; } else { b := true; }", test),
        ("while (b && timeout) { skip; }", test),
        ("atomic { if (timeout) { x := 1; } }", test),
    ] {
        assert_eq!(errors(&system("", body)), [expected], "{body}");
    }
    for item in [
        "invariant p: !timeout;",
        "reachable p: timeout;",
        "ltl p: <> timeout;",
        "ctl p: AG !timeout;",
        "function f(): boolean = timeout;",
        "const C = timeout;",
        "boolean c := timeout;",
        "channel of byte [1] c; active thread U() { byte y; receive c (?y) when timeout; }",
    ] {
        assert_eq!(errors(&system(item, "b := true;")), [outside], "{item}");
    }
    assert_eq!(errors(&system("", "await timeout > 1;")), [below]);
    let help = load(&system("invariant p: !timeout;", "skip;"), &[]).diagnostics.remove(0).help;
    assert!(help.is_some_and(|help| help.contains("`deadlock`")));
}

/// It is not reserved.
#[test]
fn what_is_declared_wins() {
    for (items, body) in [
        ("boolean timeout;", "timeout := b; await !timeout;"),
        ("const timeout = true;", "await !timeout || b;"),
        ("", "timeout: skip; await T@timeout || b;"),
        ("procedure timeout(boolean t) { await t; }", "timeout(b);"),
    ] {
        assert!(!program(&system(items, body)).has_timeout(), "{items} {body}");
    }
    // A procedure is no value: both can be used.
    let both = format!("import \"std/timer.bir\";\n{}", system("", "start_timer(b); timeout(b); await timeout;"));
    assert!(program(&both).has_timeout());
    let value = errors(&system("enum E { on, timeout } E e;", "e := E.on; await e == timeout;"));
    assert_eq!(value, ["E0020 cannot find a value named `timeout` | not declared"]);
}

#[test]
fn it_is_no_constant_for_the_warnings() {
    for body in ["await timeout; b := x > 1; x := 1; await b;", "await b && timeout; b := x > 1; x := 1;"] {
        assert_eq!(load(&system("", body), &[]).diagnostics, [], "{body}");
    }
    let never = load(&system("", "await timeout && x > 3; b := x > 1; x := 1; await b;"), &[]).diagnostics;
    assert_eq!(never.iter().map(|found| found.code).collect::<Vec<_>>(), ["W0005"]);
}

#[test]
fn the_formatter_keeps_it() {
    let text = "system S { boolean b; active thread T() { loc a: when   timeout&&b  do {} goto a; } }";
    let formatted = fmt::format(text).expect("it is correct");
    assert!(formatted.contains("when timeout && b do { } goto a;"), "{formatted}");
    assert_eq!(guards(&formatted), guards(text));
    assert_eq!(program(text).transitions[0].guard, Expr::Var(birk_ir::VarId::new(0)).and(Expr::Stuck));
}

//! Why a formula is true or false of a run that repeats: each line is what evaluating says, and every operator has one.

use birk_exec::replay::{Because, Decided, replay_ordinals};
use birk_ir::{Program, PropertyKind};

/// A counter that goes 0, 1, 2, 3, 2, 3, ... forever.
fn program(formula: &str) -> Program {
    let text = format!(
        "system S {{ int (0, 9) x;
           active thread T() {{ loc l: when x < 3 do {{ x := x + 1; }} goto l; when x == 3 do {{ x := 2; }} goto l; }}
           ltl f: {formula}; }}"
    );
    let loaded = birk_lang::load(&text, &[]);
    loaded.program.unwrap_or_else(|| panic!("{:#?}", loaded.diagnostics))
}

/// The lines for a formula: what is true (`+`) or false (`-`), where, and what decides it.
fn because(formula: &str) -> Vec<String> {
    let program = program(formula);
    let run = replay_ordinals(&program, 0, &[0, 0, 0, 0], Some(2)).expect("the trace fits");
    run.closes(&program).expect("it is a lasso");
    let property = program.properties.iter().find(|property| property.name == "f").expect("it is there");
    let PropertyKind::Ltl(formula) = &property.kind else { panic!("not an LTL property") };
    let lines = run.because(&program, formula);
    assert_eq!(lines[0].holds, run.satisfies(&program, formula), "the first line is about the whole");
    let line = |line: &Because<'_>| {
        let by = match line.by {
            Decided::Here => String::new(),
            Decided::At(at) => format!(" by {at}"),
            Decided::Forever => " forever".into(),
        };
        let (sign, text) = (if line.holds { '+' } else { '-' }, program.formula_text(line.formula));
        format!("{}{sign} {text} at {}{by}", "  ".repeat(line.depth), line.at)
    };
    lines.iter().map(line).collect()
}

#[test]
fn what_never_comes() {
    assert_eq!(because("<> (x == 7)"), ["- <> (x == 7) at 0 forever"]);
    assert_eq!(
        because("[] (x == 1 -> <> (x == 0))"),
        [
            "- [] (!(x == 1) || <> (x == 0)) at 0 by 1",
            "  - (!(x == 1) || <> (x == 0)) at 1",
            "    - !(x == 1) at 1",
            "    - <> (x == 0) at 1 forever",
        ]
    );
    assert_eq!(
        because("<> [] (x == 3)"),
        ["- <> [] (x == 3) at 0 forever", "  - [] (x == 3) at 2 by 2", "    - (x == 3) at 2"]
    );
    assert_eq!(
        because("[] <> (x == 1)"),
        ["- [] <> (x == 1) at 0 by 2", "  - <> (x == 1) at 2 forever"],
        "the first position from which it is not true any more"
    );
}

#[test]
fn what_comes_too_early_or_never() {
    assert_eq!(because("(x <= 3) U (x == 9)"), ["- ((x <= 3) U (x == 9)) at 0 forever"]);
    assert_eq!(
        because("(x == 0) U (x == 2)"),
        ["- ((x == 0) U (x == 2)) at 0 by 1", "  - (x == 0) at 1", "  - (x == 2) at 1"]
    );
    assert_eq!(
        because("(x < 2) W (x == 3)"),
        ["- ((x < 2) W (x == 3)) at 0 by 2", "  - (x < 2) at 2", "  - (x == 3) at 2"]
    );
    assert_eq!(because("(x == 3) R (x < 2)"), ["- ((x == 3) R (x < 2)) at 0 by 2", "  - (x < 2) at 2"]);
    assert_eq!(because("X (x == 0)"), ["- X (x == 0) at 0 by 1", "  - (x == 0) at 1"]);
}

#[test]
fn what_is_true() {
    assert_eq!(because("(x < 3) U (x == 3)"), ["+ ((x < 3) U (x == 3)) at 0 by 3", "  + (x == 3) at 3"]);
    assert_eq!(because("(x <= 3) W (x == 9)"), ["+ ((x <= 3) W (x == 9)) at 0 forever"]);
    assert_eq!(because("[] (x <= 3)"), ["+ [] (x <= 3) at 0 forever"]);
    assert_eq!(
        because("!([] (x == 0)) && (x == 1 || <> (x == 3))"),
        [
            "+ (![] (x == 0) && ((x == 1) || <> (x == 3))) at 0",
            "  + ![] (x == 0) at 0",
            "    - [] (x == 0) at 0 by 1",
            "      - (x == 0) at 1",
            "  + ((x == 1) || <> (x == 3)) at 0",
            "    + <> (x == 3) at 0 by 3",
            "      + (x == 3) at 3",
        ]
    );
}

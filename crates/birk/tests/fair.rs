//! CTL about fair runs, as users meet it.

mod binary;

use std::fs;

use binary::{BIRK, command, folder, run};

/// Of runs that end because everything is cut or goes wrong nothing is said, by whichever engine.
#[test]
fn ctl_of_fair_runs_says_nothing_of_runs_that_end() {
    let folder = folder("fair_ends");
    let check = |body: &str, formula: &str, holds: [bool; 2]| {
        fs::write(folder.join("m.bir"), format!("system M {{ {body} ctl f: {formula}; }}")).expect("writable");
        for (fairness, holds) in ["none", "weak"].into_iter().zip(holds) {
            for engine in ["bfs", "bdd", "bdd-chain"] {
                let words = ["check", "m.bir", "--property", "f", "--search", engine, "--fairness", fairness];
                let answer = run(command(BIRK).current_dir(&folder).args(words));
                let code = i32::from(!holds);
                assert_eq!(answer.code, Some(code), "{formula} {engine} {fairness}: {}{}", answer.out, answer.err);
            }
        }
    };
    // Some step is pruned somewhere, but this run goes on.
    let goes_on = "boolean b; active thread T() { loc a: do { assume !b; } goto a; }";
    check(goes_on, "AX (EX b)", [false, false]);
    check(goes_on, "AG (EF b)", [false, false]);
    check(goes_on, "EX (AX !b)", [true, true]);
    // Behind the second step everything goes wrong.
    let faults = "int (0, 1) k; active thread T() { loc a: do { k := k + 1; } goto a; }";
    check(faults, "AX (EX (k == 0))", [false, true]);
    check(faults, "EX (AX (k == 0))", [true, false]);
    check(faults, "AG (k == 0)", [false, true]);
    check(faults, "EF (k == 1)", [true, false]);
    // Everything is pruned at once.
    let ends = "boolean b; active thread T() { loc a: do { assume b; } goto a; }";
    check(ends, "AX b", [true, true]);
    check(ends, "EX true", [false, false]);
    check(ends, "AF b", [true, true]);
    check(ends, "EG true", [false, false]);
    check(ends, "AG b", [false, true]);
    check(ends, "EF !b", [true, false]);
    // One way is pruned, the other goes on.
    let either = "boolean b; active thread T() { loc a: do { } goto a; do { b := true; } goto z; loc z: do { assume !b; } goto z; }";
    check(either, "AG !b", [false, true]);
    check(either, "EF b", [true, false]);
    check(either, "AG (EX !b)", [false, true]);
    check(either, "EG !b", [true, true]);
}

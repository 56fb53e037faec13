//! What is marked `fair` is one condition of weak fairness, whatever it is lowered to: held against SPIN, in which each process
//! is treated fairly. What is marked is a process of its own there, and the other ways to go on are another.

use std::fs;
use std::process::Command;

use birk_agreement::tools;

use crate::binary::{BIRK, command, folder, run};

/// A model for Birk and for SPIN, and the same formula in LTL and in CTL.
struct Pair {
    name: &'static str,
    bir: &'static str,
    pml: &'static str,
    ltl: &'static str,
    ctl: &'static str,
    /// Whether it holds of all runs, and of fair ones.
    holds: [bool; 2],
}

const PAIRS: &[Pair] = &[
    Pair {
        name: "either",
        bir: "boolean b; active thread T() { loc a: fair do { either { b := true; } or { b := false; } } goto a; }",
        pml: "bool b; active proctype T() { do :: b = true :: b = false od }",
        ltl: "[] <> b",
        ctl: "AG AF b",
        holds: [false, false],
    },
    Pair {
        name: "if",
        bir: "boolean c; boolean b;
            active thread T() {
              loc a: do { } goto a;
                fair do { if (c) { b := true; } else { b := true; } } goto z;
              loc z: end do { } goto z;
            }
            active thread N() { loc t: do { c := !c; } goto t; }",
        pml: "bool i; bool c; bool b;
            active proctype T0() { do :: i = !i od }
            active proctype T1() { atomic { if :: c -> b = true :: else -> b = true fi } }
            active proctype N() { do :: c = !c od }",
        ltl: "<> b",
        ctl: "AF b",
        holds: [false, true],
    },
    Pair {
        name: "ways_that_come_and_go",
        bir: "boolean c; boolean b; int (0, 2) x;
            active thread T() {
              loc a: do { } goto a;
                fair do { either { await c; x := 1; } or { await !c; x := 2; } b := true; } goto a;
            }
            active thread N() { loc t: do { c := !c; } goto t; }
            invariant known: x < 3;",
        pml: "bool i; bool c; bool b; byte x;
            active proctype T0() { do :: i = !i od }
            active proctype T1() { do :: atomic { c -> x = 1; b = true } :: atomic { !c -> x = 2; b = true } od }
            active proctype N() { do :: c = !c od }",
        ltl: "<> b",
        ctl: "AF b",
        holds: [false, true],
    },
    Pair {
        name: "one_way_that_comes_and_goes",
        bir: "boolean c; boolean b;
            active thread T() { loc a: do { } goto a; fair do { await c; b := true; } goto a; }
            active thread N() { loc t: do { c := !c; } goto t; }",
        pml: "bool i; bool c; bool b;
            active proctype T0() { do :: i = !i od }
            active proctype T1() { do :: atomic { c -> b = true } od }
            active proctype N() { do :: c = !c od }",
        ltl: "<> b",
        ctl: "AF b",
        holds: [false, false],
    },
    Pair {
        name: "atomic",
        bir: "boolean c; boolean b; int (0, 2) n;
            active thread T() {
              while (true) {
                either { skip; } or { fair atomic { if (c) { n := 1; } else { n := 2; } b := n > 0; } }
              }
            }
            active thread N() { while (true) { c := !c; } }",
        pml: "bool i; bool c; bool b; byte n;
            active proctype T0() { do :: i = !i od }
            active proctype T1() { do :: atomic { if :: c -> n = 1 :: else -> n = 2 fi; b = (n > 0) } od }
            active proctype N() { do :: c = !c od }",
        ltl: "<> b",
        ctl: "AF b",
        holds: [false, true],
    },
    Pair {
        name: "test_of_if",
        bir: "boolean c; boolean b;
            active thread T() {
              while (true) { either { skip; } or { fair if (c) { b := true; } else { b := true; } } }
            }
            active thread N() { while (true) { c := !c; } }",
        pml: "bool i; bool c; bool b; bool inside;
            active proctype T0() { do :: atomic { !inside -> i = !i } od }
            active proctype T1() {
              do
              :: atomic { if :: c -> inside = true :: else -> inside = true fi }; atomic { b = true; inside = false }
              od
            }
            active proctype N() { do :: c = !c od }",
        ltl: "<> b",
        ctl: "AF b",
        holds: [false, true],
    },
    Pair {
        name: "rendezvous_with_two",
        bir: "channel of boolean [0] c; boolean b;
            active thread S() { loc a: fair do { send c (true); } goto a; }
            active thread R0() { loc w: do { receive c (_); b := false; } goto w; }
            active thread R1() { loc w: do { receive c (_); b := true; } goto w; }",
        pml: "chan c = [0] of { bool }; bool b;
            active proctype S() { do :: c!true od }
            active proctype R0() { do :: atomic { c?_; b = false } od }
            active proctype R1() { do :: atomic { c?_; b = true } od }",
        ltl: "[] <> b",
        ctl: "AG AF b",
        holds: [false, false],
    },
    Pair {
        name: "rendezvous_of_two",
        bir: "channel of boolean [0] c; boolean b;
            active thread S() { loc a: do { } goto a; fair do { send c (true); } goto a; }
            active thread R0() { loc w: do { receive c (_); b := true; } goto w; }
            active thread R1() { loc w: do { receive c (_); b := true; } goto w; }",
        pml: "bool i; chan c = [0] of { bool }; bool b;
            active proctype S0() { do :: i = !i od }
            active proctype S1() { do :: c!true od }
            active proctype R0() { do :: atomic { c?_; b = true } od }
            active proctype R1() { do :: atomic { c?_; b = true } od }",
        ltl: "<> b",
        ctl: "AF b",
        holds: [false, true],
    },
    // Who receives has no step: nobody owes it one, though it could always be given one.
    Pair {
        name: "rendezvous_is_the_senders",
        bir: "channel of boolean [0] c; boolean b;
            active thread S() { loc a: do { } goto a; do { send c (true); } goto a; }
            active thread R() { loc w: do { receive c (_); b := true; } goto w; }",
        pml: "bool i; chan c = [0] of { bool }; bool b;
            active proctype S() { do :: i = !i :: c!true od }
            active proctype R() { do :: atomic { c?_; b = true } od }",
        ltl: "<> b",
        ctl: "AF b",
        holds: [false, false],
    },
];

fn spin(pair: &Pair) -> [bool; 2] {
    let folder = folder(&format!("fair_spin_{}", pair.name));
    fs::write(folder.join("m.pml"), format!("{}\nltl asked {{ {} }}\n", pair.pml, pair.ltl)).expect("writable");
    let go = |program: &str, arguments: &[&str]| {
        let answer = run(Command::new(program).args(arguments).current_dir(&folder));
        assert_eq!(answer.code, Some(0), "{}: {program}: {}{}", pair.name, answer.out, answer.err);
        answer.out
    };
    go("spin", &["-a", "m.pml"]);
    go("gcc", &["-O0", "-w", "-DNOREDUCE", "-DNFAIR=3", "-o", "pan", "pan.c"]);
    let holds = [&["-a", "-E"][..], &["-a", "-f", "-E"]].map(|options| {
        let out = go("./pan", options);
        let errors = out.split("errors: ").nth(1).and_then(|rest| rest.split_whitespace().next());
        errors.expect("a number of errors") == "0"
    });
    let _ = fs::remove_dir_all(folder);
    holds
}

/// What one way to decide says, without and with fairness.
fn ours(pair: &Pair, property: &str, options: &[&str]) -> [bool; 2] {
    let folder = folder(&format!("fair_{}_{property}_{}", pair.name, options.concat()));
    let text = format!("system M {{ {} ltl l: {}; ctl c: {}; }}\n", pair.bir, pair.ltl, pair.ctl);
    fs::write(folder.join("m.bir"), text).expect("writable");
    ["none", "weak"].map(|fairness| {
        let words = ["check", "m.bir", "--property", property, "--fairness", fairness];
        let answer = run(command(BIRK).current_dir(&folder).args(words).args(options));
        match answer.code {
            Some(0) => true,
            Some(1) => false,
            _ => panic!("{} {property} {fairness} {options:?}: {}{}", pair.name, answer.out, answer.err),
        }
    })
}

#[test]
fn what_is_marked_fair_is_fair_as_a_process_of_spin_is() {
    let has_spin = tools::are_installed(&["spin", "gcc"]);
    for pair in PAIRS {
        if has_spin {
            assert_eq!(spin(pair), pair.holds, "SPIN: {}", pair.name);
        }
        for options in [&["--threads", "1"][..], &["--threads", "2"], &["--search", "depth"]] {
            assert_eq!(ours(pair, "l", options), pair.holds, "ltl {options:?}: {}", pair.name);
        }
        for engine in ["bfs", "bdd", "bdd-chain"] {
            assert_eq!(ours(pair, "c", &["--search", engine]), pair.holds, "ctl {engine}: {}", pair.name);
        }
    }
}

/// What is written once is one condition for each instance of its thread, however often it is written out.
#[test]
fn conditions_are_counted_as_they_are_written() {
    let conditions = |body: &str| {
        let text = format!("system M {{ boolean b; channel of boolean [0] c; {body} }}");
        let loaded = birk_lang::load(&text, &[]);
        let program = loaded.program.unwrap_or_else(|| panic!("{:?}", loaded.diagnostics));
        let threads = program.threads.len();
        birk_exec::Fairness::weak(&program).expect("few conditions").names.len() - threads
    };
    assert_eq!(conditions("active thread T() { loc a: do { b := !b; } goto a; }"), 0);
    assert_eq!(conditions("active [3] thread T() { loc a: fair do { if (b) { b := false; } } goto a; }"), 3);
    assert_eq!(
        conditions(
            "active thread T() { while (true) { for (i : 0 .. 2) { fair atomic { either { b := i == 1; } or { } } } } }"
        ),
        1
    );
    let called = "procedure p() { fair b := !b; } active thread T() { while (true) { p(); p(); } }";
    assert_eq!(conditions(called), 1);
    assert_eq!(conditions("active thread T() { while (true) { fair b := true; fair b := false; } }"), 2);
    let of_sender = "active thread S() { loc a: fair do { send c (b); } goto a; } \
        active [3] thread R() { loc a: fair do { receive c (?b); } goto a; }";
    assert_eq!(conditions(of_sender), 1);
}

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

/// Where a cycle passes over a thread that could always move, the report says how to exclude that; and only there.
#[test]
fn fairness_is_hinted_at_where_it_helps() {
    let folder = folder("fair_hint");
    let text = "system Hint { boolean asked; boolean free;
      active thread Busy() { loc l: do { free := !free; } goto l; }
      active thread Asks() { loc l: when !asked do { asked := true; } goto l; }
      active thread Waits() { boolean done; loc l: when asked && free && !done do { done := true; } goto l; }
      ltl asks: <> asked; ltl finds: <> Waits.done; ltl still: [] !free; }";
    fs::write(folder.join("m.bir"), text).expect("writable");
    let check = |options: &str| {
        let mut check = command(BIRK);
        run(check.current_dir(&folder).args(["check", "m.bir", "--deadlock", "off"]).args(options.split(' ')))
    };
    let hint = "hint: Asks could move in every state of the cycle; --fairness weak excludes such executions";
    check("--property asks").exits(1).prints(hint);
    check("--property asks --fairness weak").exits(0);
    // Enabled again and again, but not always.
    let weak = check("--property finds --fairness weak").exits(1);
    assert!(!weak.out.contains("hint:"), "{}", weak.out);
}

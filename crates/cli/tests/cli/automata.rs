//! Automata of files are about conditions of the model: never claims as SPIN writes them say what Birk's own formulas say, and
//! what is wrong with a condition is shown where it stands.

use std::fs;
use std::path::Path;
use std::process::Command;

use birk_agreement::tools;

use crate::binary::{Answer, BIRK, command, folder, run};

const MODEL: &str = "system Walk {
  int (0, 3) n;
  boolean b;
  int (0, 3)[2] x;
  active thread T() {
    loc a:
      when n < 3 do { n := n + 1; x[0] := n; } goto a;
      when n == 3 do { n := 0; b := !b; } goto c;
    loc c:
      do { x[1] := 0; } goto a;
  }
";

/// As Birk and as SPIN read them; each with whether it holds.
const FORMULAS: &[(&str, bool)] = &[
    ("<> [] (n == 1)", false),
    ("[] <> (n == 1)", true),
    ("[] (n <= 3)", true),
    ("[] (n + 1 <= 3)", false),
    ("<> (x[0] > 2)", true),
    ("[] ((n == 3) -> <> (n == 0))", true),
    ("(n <= 2) U (n == 3)", true),
    ("(n < 2) U (b == true)", false),
    ("[] ((x[0] > 2) -> <> (T@c && b))", true),
    ("<> (n == 1 && x[1] != 0)", false),
    ("[] (n != 2 || !b)", false),
    ("([] <> (T@c)) && ([] <> (!b))", true),
    ("<> !(n == 0)", true),
    ("[] (((n + 1) * 2 > 7) -> (b || <> (b)))", true),
    ("[] (b -> (b U (n == 1)))", false),
    ("<> [] ((x[0] == n) || b)", false),
    ("[] ((n == 1 && b) -> <> !(b))", true),
    ("[] ((n > 1 ? b : !b) -> <> (b))", true),
    ("(n == 0) U (n == 1 && b == false)", true),
];

fn check(folder: &Path, options: &str) -> Answer {
    run(command(BIRK).current_dir(folder).args(["check", "m.bir"]).args(options.split_whitespace()))
}

#[test]
fn claims_of_spin_say_what_formulas_say() {
    if !tools::are_installed(&["spin"]) {
        return;
    }
    let folder = folder("automata_spin");
    for (formula, holds) in FORMULAS {
        let claim = run(Command::new("spin").args(["-f", &format!("!({formula})")]).current_dir(&folder));
        assert_eq!(claim.code, Some(0), "{formula}: {}{}", claim.out, claim.err);
        fs::write(folder.join("never.pml"), &claim.out).expect("writable");
        fs::write(folder.join("m.bir"), format!("{MODEL}  ltl own: {formula};\n}}\n")).expect("writable");
        let code = i32::from(!holds);
        let own = check(&folder, "--property own");
        assert_eq!(own.code, Some(code), "{formula}: {}{}", own.out, own.err);
        let theirs = check(&folder, "--automaton never.pml --property automaton");
        assert_eq!(theirs.code, Some(code), "{formula}: {}{}\n{}", theirs.out, theirs.err, claim.out);
    }
}

/// The conditions are read beside the model, not written into it: whatever its text looks like, and whatever they are.
#[test]
fn conditions_are_not_put_into_the_text_of_the_model() {
    let folder = folder("automata_text");
    let hoa = |condition: &str| {
        let text = format!(
            "HOA: v1\nStart: 0\nAP: 1 \"{condition}\"\nAcceptance: 1 Inf(0)\n--BODY--\nState: 0\n[t] 0\n[0] 1\nState: 1 {{0}}\n[t] 1\n--END--\n"
        );
        fs::write(folder.join("a.hoa"), text).expect("writable");
    };
    for end in ["}\n", "}\n// the end of Walk }\n", "}\n/* } */", "} // {"] {
        fs::write(folder.join("m.bir"), format!("{MODEL}{end}")).expect("writable");
        hoa("n == 3");
        check(&folder, "--automaton a.hoa --property automaton").exits(1);
        hoa("x[1] == 3");
        check(&folder, "--automaton a.hoa --property automaton").exits(0);
    }
    hoa("n == 3; reachable more: true");
    check(&folder, "--automaton a.hoa").exits(2).says("expected an operator, found `;`").says("a.hoa:3:14");
    hoa("n + m == 3");
    check(&folder, "--automaton a.hoa").exits(2).says("cannot find a value named `m`").says("a.hoa:3:12");
    hoa("n");
    check(&folder, "--automaton a.hoa").exits(2).says("a.hoa:3:8").says("a.hoa has 1 error");
    hoa("<> b");
    check(&folder, "--automaton a.hoa").exits(2).says("a.hoa:3:8");
}

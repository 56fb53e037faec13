//! What people write who come from another language, and what they are told: exactly one error for one mistake, at its
//! place, with the reason and the next step. Where the next step is a text, that text is accepted in place of the mistake.

use birk_lang::load;

/// Where a fragment stands.
#[derive(Clone, Copy)]
enum Where {
    Statement,
    Item,
    File,
}
use Where::{File, Item, Statement};

struct Mistake {
    place: Where,
    text: &'static str,
    /// The code of the error, and words of its message.
    says: (&'static str, &'static str),
    /// Words of the next step; empty where the label is one.
    next: &'static str,
    /// What to write instead; the next step has it, too, unless it says so for any names.
    instead: &'static str,
}

const fn mistake(
    place: Where,
    text: &'static str,
    says: (&'static str, &'static str),
    next: &'static str,
    instead: &'static str,
) -> Mistake {
    Mistake { place, text, says, next, instead }
}

const FRAME: &str = "system S {
  int (0, 9) x;
  boolean b;
  int (0, 3)[3] a;
  set of 0 .. 3 s;
  enum Colour { red, green }
  record M { int (0, 3) k; boolean f; }
  channel of byte [1] c;
  channel of M [1] m;
  {item}
  active thread T() {
    {statement}
    b := !b;
  }
}
";

const MISTAKES: &[Mistake] = &[
    mistake(Statement, "x++;", ("E0012", "no `++`"), "write `x := x + 1;`", "x := x + 1;"),
    mistake(Statement, "--x;", ("E0012", "no `--`"), "write `x := x - 1;`", "x := x - 1;"),
    mistake(Statement, "x += a[0];", ("E0012", "no `+=`"), "write `x := x + (a[0]);`", "x := x + (a[0]);"),
    mistake(Statement, "x = 1;", ("E0012", "`=` does not assign"), "write `:=`", "x := 1;"),
    mistake(Statement, "if (x = 1) { skip; }", ("E0012", "not a comparison"), "write `==`", "if (x == 1) { skip; }"),
    mistake(Statement, "await x == 1 and b;", ("E0012", "no `and`"), "write `&&`", "await x == 1 && b;"),
    mistake(Statement, "await 0 < x < 3;", ("E0011", "chained"), "write `0 < x && x < 3`", "await 0 < x && x < 3;"),
    mistake(
        Statement,
        "x := choose(0, 2) + 1;",
        ("E0004", "expected `;` after `choose(…)`"),
        "`atomic { x := choose(0, 2); x := x + 1; }`",
        "atomic { x := choose(0, 2); x := x + 1; }",
    ),
    mistake(
        Statement,
        "x := receive c;",
        ("E0012", "`receive` is a statement"),
        "`receive c (?x);`",
        "receive c (?x);",
    ),
    mistake(Statement, "c ? x;", ("E0012", "no `c ? …`"), "`receive c (?x);`", "receive c (?x);"),
    mistake(Statement, "c ! 1;", ("E0012", "no `c ! …`"), "`send c (…);`", "send c (1);"),
    mistake(Statement, "send m (1);", ("E0027", "has 2 values, not 1"), "in order: `k` and `f`", "send m (1, b);"),
    mistake(
        Statement,
        "for (int i = 0; i < 3; i++) { a[i] := 0; }",
        ("E0012", "a range instead of a counter"),
        "`for (i : 0 .. 2) {",
        "for (i : 0 .. 2) { a[i] := 0; }",
    ),
    mistake(
        Statement,
        "for i in 0..2 { a[i] := 0; }",
        ("E0012", "stands in parentheses"),
        "`for (i : 0..2) {",
        "for (i : 0..2) { a[i] := 0; }",
    ),
    mistake(Statement, "if (b) x := 1;", ("E0004", "expected `{`"), "in braces", "if (b) { x := 1; }"),
    mistake(Statement, "while (b) do { skip; }", ("E0004", "expected `{`"), "leave out `do`", "while (b) { skip; }"),
    mistake(
        Statement,
        "switch (x) { case 1: x := 2; }",
        ("E0012", "no `switch`"),
        "`if (…) {",
        "if (x == 1) { x := 2; }",
    ),
    mistake(Statement, "x := if b then 1 else 2;", ("E0004", "found `if`"), "`condition ? a : b`", "x := b ? 1 : 2;"),
    mistake(Statement, "b := timeout;", ("E0057", "outside a guard"), "`await timeout;`", "await timeout; b := true;"),
    mistake(
        Statement,
        "if (timeout) { x := 1; }",
        ("E0057", "in the test"),
        "`either { await timeout; … } or { … }`",
        "either { await timeout; x := 1; } or { skip; }",
    ),
    mistake(
        Statement,
        "for (i in s) { x := i; }",
        ("E0012", "not over a set"),
        "`for (i : 0 .. 3) { if (i in …) { … } }`",
        "for (i : 0 .. 3) { if (i in s) { x := i; } }",
    ),
    mistake(Statement, "printf(\"x\");", ("E0012", "no `printf`"), "leave it out", ""),
    mistake(
        Statement,
        "assert(x == 1, \"one\");",
        ("E0012", "not a function"),
        "`assert x == 1, \"one\";`",
        "assert x == 1, \"one\";",
    ),
    mistake(Statement, "run T();", ("E0012", "no `run`"), "`start NAME(…);`", ""),
    mistake(Statement, "return x;", ("E0012", "gives no value"), "`return;` ends the thread", "return;"),
    mistake(Statement, "a := {1, 2};", ("E0022", "has 3 elements, and 2 values are given"), "give each a value", ""),
    mistake(Statement, "b := x;", ("E0022", "must be `boolean`"), "`x != 0`", "b := x != 0;"),
    mistake(Statement, "x := 1", ("E0005", "missing `;`"), "", "x := 1;"),
    mistake(Item, "int 0..3 y;", ("E0012", "in parentheses"), "`int (0, 3)`", "int (0, 3) y;"),
    mistake(Item, "int[0..3] y;", ("E0012", "length of an array"), "`int (0, 3)`", "int (0, 3) y;"),
    mistake(Item, "int y[3];", ("E0012", "belongs to its type"), "`int[3] a;`", "int[3] y;"),
    mistake(Item, "y : 0..3;", ("E0012", "found `y`"), "`int (0, 3) y;`", "int (0, 3) y;"),
    mistake(Item, "bool y;", ("E0023", "`bool`"), "did you mean `boolean`", "boolean y;"),
    mistake(
        Item,
        "int (0, 3)[3] d := {1, 2};",
        ("E0022", "3 elements, and 2 values"),
        "`d := 1;`",
        "int (0, 3)[3] d := 1;",
    ),
    mistake(
        Item,
        "chan q = [2] of { byte };",
        ("E0012", "found `chan`"),
        "`channel of byte [2] q;`",
        "channel of byte [2] q;",
    ),
    mistake(
        Item,
        "procedure f(int v) { return v + 1; }",
        ("E0012", "gives no value"),
        "`function f(int v): int = v + 1;`",
        "function f(int v): int = v + 1;",
    ),
    mistake(Item, "#define N 3", ("E0001", "`#`"), "`const N = 3;`", "const N = 3;"),
    mistake(
        Item,
        "active proctype P() { skip; }",
        ("E0012", "no `proctype`"),
        "`thread P() {",
        "active thread P() { skip; }",
    ),
    mistake(Item, "Colour k := red;", ("E0020", "`red`"), "`Colour.red`", "Colour k := Colour.red;"),
    mistake(
        Item,
        "ltl p: [] <> x == 3;",
        ("E0013", "binds more tightly"),
        "`[] <> (x == 3)`",
        "ltl p: [] <> (x == 3);",
    ),
    mistake(
        Item,
        "invariant p: forall i in 0..2: a[i] == 0;",
        ("E0012", "in parentheses"),
        "`forall (i : 0..2) a[i] == 0`",
        "invariant p: forall (i : 0..2) a[i] == 0;",
    ),
    mistake(Item, "ltl p { [] b }", ("E0004", "expected `:`"), "`ltl p: …;`", "ltl p: [] b;"),
    mistake(
        File,
        "#define N 2\nbool flag[N];\nactive [2] proctype P() {\n  do\n  :: flag[0] -> flag[1] = true\n  od\n}\nltl p { []<> flag[1] }\n",
        ("E0010", "this looks like Promela"),
        "docs/src/side-by-side.md",
        "",
    ),
    mistake(
        File,
        "---- MODULE Counter ----\nEXTENDS Naturals\nVARIABLE x\nInit == x = 0\nNext == x' = x + 1 /\\ x < 3\n====\n",
        ("E0010", "this looks like TLA+"),
        "docs/src/side-by-side.md",
        "",
    ),
];

fn text_of(place: Where, text: &str) -> String {
    let (item, statement) = match place {
        Statement => ("", text),
        Item => (text, ""),
        File => return text.to_owned(),
    };
    FRAME.replace("{item}", item).replace("{statement}", statement)
}

/// Every mistake is one error, and its message is good: the place is on a line of the mistake, and reason and next step
/// are there.
#[test]
fn newcomers_are_told_what_to_write() {
    assert_eq!(MISTAKES.len(), 44);
    let mut wrong = Vec::new();
    for Mistake { place, text, says: (code, message), next, instead } in MISTAKES {
        let whole = text_of(*place, text);
        let loaded = load(&whole, &[]);
        let errors: Vec<_> = loaded.diagnostics.iter().filter(|found| !found.is_warning()).collect();
        let first = whole.find(text).expect("it was put in");
        let is_there = |at: u32| (first..=first + text.len()).contains(&(at as usize));
        let is_good = match &errors[..] {
            [error] => {
                let help = error.help.as_deref().unwrap_or_default();
                let says = error.code == *code && error.message.contains(message) && help.contains(next);
                says && is_there(error.span.start) && !error.label.is_empty()
            }
            _ => false,
        };
        if !is_good {
            let found: Vec<String> =
                errors.iter().map(|e| format!("    {} {} | {} | {:?}", e.code, e.message, e.label, e.help)).collect();
            wrong.push(format!("{text}\n{}", found.join("\n")));
        }
        let repaired = load(&format!("import \"std/timer.bir\";\n{}", text_of(*place, instead)), &[]);
        if !instead.is_empty() && repaired.program.is_none() {
            wrong.push(format!("{instead}\n    is no repair: {:?}", repaired.diagnostics));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Mistakes with a repair that no edit of one place makes, or of which there are several.
const WITHOUT_FIX: [&str; 10] = [
    "send m (1);",
    "switch (x) { case 1: x := 2; }",
    "x := if b then 1 else 2;",
    "if (timeout) { x := 1; }",
    "for (i in s) { x := i; }",
    "run T();",
    "return x;",
    "a := {1, 2};",
    "int (0, 3)[3] d := {1, 2};",
    "procedure f(int v) { return v + 1; }",
];

/// Where a diagnostic carries an edit, the edited text is the repair: it is accepted, and says what the table says.
#[test]
fn edits_of_diagnostics_are_repairs() {
    let bare = |text: &str| text.replace(|c: char| c.is_whitespace() || "()".contains(c), "");
    let mut wrong = Vec::new();
    for Mistake { place, text, instead, .. } in MISTAKES.iter().filter(|mistake| !matches!(mistake.place, File)) {
        let whole = text_of(*place, text);
        let errors = load(&whole, &[]).diagnostics.into_iter().filter(|found| !found.is_warning());
        let fixes: Vec<_> = errors.filter_map(|error| error.fix).collect();
        match &fixes[..] {
            [] if WITHOUT_FIX.contains(text) => {}
            [fix] if !WITHOUT_FIX.contains(text) => {
                let mut edited = whole.clone();
                edited.replace_range(fix.span.range(), &fix.replacement);
                if load(&edited, &[]).program.is_none() || bare(&edited) != bare(&text_of(*place, instead)) {
                    wrong.push(format!("{text}\n    {fix:?}\n{edited}"));
                }
            }
            other => wrong.push(format!("{text}\n    {other:?}")),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Misspelt names and words carry the edit, in any file.
#[test]
fn what_was_meant_is_an_edit() {
    for (text, fixed) in [
        ("system S { byte counter; active thread T() { coutner := 1; counter := 2; } }", "counter := 1"),
        ("system S { byte x; actve thread T() { x := 1; } }", "active thread"),
        ("system S { byte x; active thread T() { loc here: do { x := 1; } goto her; } }", "goto here;"),
        ("system S { byte x; active thread T() { loc here: do { x := 1; } here; } }", "goto here;"),
        (
            "system S { byte x; invariant p: !T@hre; active thread T() { loc here: do { x := 1; } goto here; } }",
            "T@here",
        ),
        ("system S { enum E { on, off } E e; active thread T() { e := E.offf; } }", "E.off"),
    ] {
        let found = load(text, &[]).diagnostics;
        let fix = found.iter().find_map(|found| found.fix.clone()).unwrap_or_else(|| panic!("{text}: {found:?}"));
        let mut edited = text.to_owned();
        edited.replace_range(fix.span.range(), &fix.replacement);
        assert!(edited.contains(fixed) && load(&edited, &[]).program.is_some(), "{edited}");
    }
    let import = "import \"l.bir\"; system S { boolean b; active thread T() { b := !b; } }";
    let library = "library L { function f(boolean v): bolean = !v; }";
    let loaded = birk_lang::load_files(import, &[], &mut |_| Ok(library.to_owned()));
    let fix = loaded.diagnostics.iter().find_map(|found| found.fix.clone()).expect("a misspelt type");
    assert_eq!((fix.span.file, &library[fix.span.range()], &*fix.replacement), (1, "bolean", "boolean"));
}

#[test]
fn other_languages_are_recognised() {
    for (language, text) in [
        (
            "Promela",
            "mtype = { req, ack };\nchan c = [0] of { mtype };\nproctype P(byte i) { c!req }\ninit { run P(1) }",
        ),
        ("Promela", "int x;\nnever { do :: x > 1 od }"),
        ("PlusCal", "---- MODULE M ----\n(* --algorithm M\nvariables x = 0;\nbegin skip; end algorithm; *)\n===="),
        ("PlusCal", "--fair algorithm M { variables x = 0; { skip; } }"),
        ("Quint", "module counter {\n  var x: int\n  action init = x' = 0\n}"),
        ("DVE", "byte x;\nprocess P { state a, b; init a; trans a -> b { guard x == 0; }; }\nsystem async;"),
        ("Murphi", "var x: 0..3;\nstartstate x := 0; end;\nrule \"up\" x < 3 ==> x := x + 1; end;"),
        ("SMV", "MODULE main\nVAR x : 0..3;\nASSIGN init(x) := 0;"),
    ] {
        let found = load(text, &[]).diagnostics;
        let messages: Vec<&str> = found.iter().map(|diagnostic| diagnostic.message.as_str()).collect();
        assert_eq!(messages, [format!("this looks like {language}, not like BIR")], "{text}");
    }
    // Words of other languages are names in BIR.
    let own =
        "system S { boolean init, never, chan, process; active thread T() { init := never || chan || process; } }";
    assert!(load(own, &[]).program.is_some());
}

/// `G` and `F` are operators of formulas where no function of the file has the name.
#[test]
fn own_names_win_over_operators_in_letters() {
    let frame = |declarations: &str, formula: &str| {
        format!(
            "system S {{ boolean b; {declarations} active thread T() {{ loc l: do {{ b := !b; }} goto l; }} ltl p: {formula}; }}"
        )
    };
    let property = |text: &str| load(text, &[]).program.map(|program| format!("{:?}", program.properties[2].kind));
    let signs = property(&frame("", "[] <> (b) && X (<> b)"));
    assert!(signs.is_some());
    assert_eq!(property(&frame("", "G F (b) && X (F b)")), signs);
    // Variables: no operand follows, or an operator does.
    assert_eq!(
        property(&frame("boolean G; boolean F;", "G F F && G U F")),
        property(&frame("boolean G; boolean F;", "[] <> F && (G) U F"))
    );
    let declared = "function F(boolean v): boolean = !v;";
    assert_eq!(property(&frame(declared, "G F (b)")), property(&frame(declared, "[] (!b)")));
    // Without a parenthesis it can only be the operator.
    assert_eq!(property(&frame(declared, "G F b")), property(&frame(declared, "[] <> b")));
}

/// A function of another file does not silently become an operator.
#[test]
fn functions_of_libraries_are_not_taken_for_operators() {
    let text = "import \"l.bir\"; system S { boolean b; active thread T() { b := F(b); } ltl p: [] F (b); }";
    let library = "library L { function F(boolean v): boolean = !v; }";
    let loaded = birk_lang::load_files(text, &[], &mut |_| Ok(library.to_owned()));
    let messages: Vec<&str> = loaded.diagnostics.iter().map(|diagnostic| diagnostic.message.as_str()).collect();
    assert_eq!(messages, ["`F` is an operator here, and a function of an imported file"]);
}

/// A choice is not put where the old value is still read.
#[test]
fn a_suggestion_does_not_change_the_meaning() {
    for (text, next) in [
        ("x := choose(0, 2) * (x + 1);", "into a variable of its own"),
        ("x := choose(0, 2) * (a[0] + 1);", "x := x * (a[0] + 1);"),
        ("a[0] := choose(0, 2) + a[1];", "into a variable of its own"),
    ] {
        let found = load(&text_of(Statement, text), &[]).diagnostics;
        let help = found.iter().find(|found| !found.is_warning()).and_then(|found| found.help.clone());
        assert!(help.is_some_and(|help| help.contains(next)), "{text}: {found:?}");
    }
}

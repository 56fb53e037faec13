//! Long chains and large structured files: everything that is written out or followed has a limit, so that the front end
//! answers every text in time and on a small stack.

use birk_lang::load;
use birk_lang::parser::parse;
use std::time::Duration;

use crate::clock::now;

type Shape = (&'static str, fn(usize) -> String);

/// A thread of a system with these declarations and this body.
fn system(items: &str, body: &str) -> String {
    format!("system S {{ int (0, 9) x; boolean b; set of 0 .. 3 s;\n{items}\nactive thread T() {{\n{body}\n}} }}")
}

fn repeat(count: usize, line: impl Fn(usize) -> String) -> String {
    (0..count).map(line).collect()
}

/// `count` parts, each of which needs the one before it; those that are doubled need it twice.
#[rustfmt::skip]
const CHAINS: &[Shape] = &[
    ("procedures", |n| system(&format!("procedure p0() {{ skip; }}\n{}", repeat(n, |i| format!("procedure p{}() {{ p{i}(); }}\n", i + 1))), &format!("p{n}();"))),
    ("procedures doubled", |n| system(&format!("procedure p0() {{ }}\n{}", repeat(n, |i| format!("procedure p{}() {{ p{i}(); p{i}(); }}\n", i + 1))), &format!("p{n}();"))),
    ("procedures doubled in one step", |n| system(&format!("procedure p0() {{ }}\n{}", repeat(n, |i| format!("procedure p{}() {{ p{i}(); p{i}(); }}\n", i + 1))), &format!("atomic {{ p{n}(); }}"))),
    ("arguments doubled", |n| system(&format!("procedure p0(int a) {{ x := a; }}\n{}", repeat(n, |i| format!("procedure p{}(int a) {{ p{i}(a + a); }}\n", i + 1))), &format!("p{n}(x);"))),
    ("short arguments doubled", |n| system(&format!("procedure p0(int a) {{ x := a; }}\n{}", repeat(n, |i| format!("procedure p{}(int a) {{ p{i}(a + a); }}\n", i + 1))), "p60(x);")),
    ("records", |n| system(&format!("record R0 {{ int a; }}\n{}", repeat(n, |i| format!("record R{} {{ R{i} r; }}\n", i + 1))), "skip;")),
    ("records doubled", |n| system(&format!("record R0 {{ int a; }}\n{}R{n} r;", repeat(n, |i| format!("record R{} {{ R{i} r; R{i} s; }}\n", i + 1))), "skip;")),
    ("constants", |n| system(&format!("{}const A{n} = 1;", repeat(n, |i| format!("const A{i} = A{};\n", i + 1))), "skip;")),
    ("types", |n| system(&format!("{}typealias A{n} int;", repeat(n, |i| format!("typealias A{i} A{};\n", i + 1))), "skip;")),
    ("functions", |n| system(&format!("function f0(int a): int = a;\n{}", repeat(n / 20, |i| format!("function f{}(int a): int = f{i}(a);\n", i + 1))), "skip;")),
    ("functions doubled", |n| system(&format!("function f0(int a): int = a;\n{}", repeat(n / 20, |i| format!("function f{}(int a): int = f{i}(a) + f{i}(a);\n", i + 1))), "skip;")),
    ("jumps", |n| system("", &format!("{}l{n}: skip;", repeat(n, |i| format!("l{i}: goto l{};\n", i + 1))))),
    ("choices with jumps", |n| system("", &format!("{}l{n}: skip;", repeat(n, |i| format!("l{i}: either {{ goto l{}; }} or {{ skip; }}\n", i + 1))))),
    ("rounds in rounds", |n| system("", &format!("{}{}", "for (i : 0 .. 999) {".repeat(n.min(90)), "}".repeat(n.min(90))))),
    ("labels", |n| system("", &format!("{}skip;", repeat(n, |i| format!("l{i}: "))))),
    ("jumps to nowhere", |n| system("", &repeat(n, |i| format!("goto l{i};\n")))),
    ("names that are nowhere", |n| system(&repeat(n, |i| format!("boolean v{i};\n")), &repeat(n, |i| format!("y{i} := 1;\n")))),
    ("variables of a thread", |n| system("", &format!("{}skip;", repeat(n, |i| format!("boolean v{i};\n"))))),
    ("branches", |n| system("", &format!("if (b) {{ }} {}", "else if (x == 1) { x := 2; } ".repeat(n)))),
    ("branches in one step", |n| system("", &format!("atomic {{ if (b) {{ }} {} }}", "else if (x == 1) { x := 2; } ".repeat(n)))),
    ("choices in one step", |n| system("", &format!("atomic {{ {} }}", "either { } or { } ".repeat(n)))),
    ("statements in one step", |n| system("", &format!("atomic {{ {} }}", "x := 1; ".repeat(n)))),
    ("members of a set", |n| system("", &format!("s := {{{}0}};", "1, ".repeat(n)))),
    ("rendezvous", |n| format!("system S {{ channel of byte [0] c; byte x; active thread A() {{ {} }} active thread B() {{ {} }} }}", "send c (1);".repeat(n / 20), "receive c (?x);".repeat(n / 20))),
    ("waiting in one step", |n| system("int (0, 9)[4] a;", &format!("atomic {{ {} }}", "await a[x] == 1; ".repeat(n)))),
    ("whole arrays in one step", |n| system("byte[10000] a; byte[10000] c;", &format!("atomic {{ {} }}", "a := c; ".repeat(n)))),
    ("long messages", |n| system("record M { byte[200] a; }\nchannel of M [1000] c; M m;", &"receive c (?m); ".repeat(n / 20))),
    ("much that is put back", |n| system("", &format!("byte[100000] own; {}", "either { skip; return; } or { skip; } ".repeat(n / 20)))),
    ("formulas in formulas", |_| format!("system S {{ boolean b; ltl f: {} [] b; active thread T() {{ skip; }} }}", "forall (i : 0 .. 999) ".repeat(5))),
];

#[test]
fn long_chains_are_answered_on_a_small_stack() {
    let work = || {
        for (name, shape) in CHAINS {
            let text = shape(20_000);
            let start = now();
            drop(load(&text, &[]));
            let elapsed = now() - start;
            println!("{name}: {} bytes in {elapsed:?}", text.len());
            assert!(elapsed < Duration::from_secs(10), "{name}: {elapsed:?}");
        }
        assert!(!load(&CHAINS[0].1(100_000), &[]).diagnostics.is_empty(), "calls nested 100,000 deep");
    };
    let thread = std::thread::Builder::new().stack_size(2 << 20).spawn(work).expect("a thread can be started");
    thread.join().expect("every chain is answered");
}

/// What opens, what stands innermost, what closes: as deep as the parser allows it, every later pass must follow.
#[rustfmt::skip]
const NESTINGS: &[(&str, &str, &str)] = &[
    ("if (b) {", "skip;", "}"), ("if (b) { } else {", "skip;", "}"), ("while (b) {", "skip;", "}"), ("atomic {", "skip;", "}"),
    ("either {", "skip;", "} or { skip; }"), ("either { skip; } or {", "skip;", "}"), ("for (i : 0 .. 0) {", "skip;", "}"),
    ("while (true) { if (b) {", "break;", "} skip; }"), ("atomic { if (b) {", "x := 1;", "} }"), ("p(", "1", ");"),
];

#[rustfmt::skip]
const OPERANDS: &[(&str, &str, &str)] = &[
    ("b && x in {", "1", "}"), ("{1, ", "1", "}"), ("let y = ", "1", " in y"), ("let y = 1 in ", "y", ""), ("1 + sum (i : 0 .. 1) ", "1", ""),
    ("count (i in ", "s", ") b"), ("!", "b", ""), ("(1 + ", "x", ")"), ("b ? ", "b", " : b"), ("forall (i : 0 .. 1) ", "b", ""), ("x == f(", "x", ")"),
    ("s - (", "s", ")"), ("(", "s", ") - s"), ("b && (", "s", ") <= s"), ("(2 * x + (", "1", ") in {1, 2, 3} ? 1 : x) in s"),
    ("a[", "x", "] == 1 ? 1 : 2"), ("count (i in a[", "x", "]) b"), ("count (i in T[", "x", "]) b"), ("x / (", "x", ")"), ("b <-> (", "b", ")"),
];

/// The same for formulas: what opens, what stands innermost, what closes.
#[rustfmt::skip]
const FORMULAS: &[(&str, &str, &str)] = &[
    ("([] b) <-> (", "b", ")"), ("(", "<> b", ") <-> b"), ("([] b) ? (", "b", ") : b"), ("b ? [] (", "b", ") : <> b"),
    ("(", "[] b", ") ? b : b"), ("forall (i : 0 .. 1) (", "[] b", ")"), ("[] (b -> ", "<> b", ")"), ("b U (", "b", ")"),
];

#[test]
fn what_the_parser_allows_can_be_lowered_on_a_small_stack() {
    let work = || {
        for depth in [1, 2, 5, 10, 49, 50, 98, 99, 100, 101, 198, 199, 200, 1000] {
            let nest = |(open, inner, close): &(&str, &str, &str)| {
                format!("{}{inner}{}", open.repeat(depth), close.repeat(depth))
            };
            for nesting in NESTINGS {
                drop(load(&system("procedure p(int a) { x := a; }", &nest(nesting)), &[]));
                drop(load(&system(&format!("procedure p() {{ {} }}", nest(nesting)), "p();"), &[]));
            }
            for nesting in OPERANDS {
                let items = "function f(int y): int = y; int (0, 9)[4] a;";
                drop(load(&system(items, &format!("x := {};", nest(nesting))), &[]));
                drop(load(&system(items, &format!("await {};", nest(nesting))), &[]));
                drop(load(&system(items, &format!("await ({}) == 1;", nest(nesting))), &[]));
            }
            for nesting in FORMULAS {
                drop(load(&system(&format!("ltl p: {};", nest(nesting)), "skip;"), &[]));
            }
        }
    };
    let thread = std::thread::Builder::new().stack_size(2 << 20).spawn(work).expect("a thread can be started");
    thread.join().expect("every nesting is answered");
}

fn worker(number: usize) -> String {
    let body = "byte own;\n    while (true) {\n      either {\n        atomic { await !b; b := true; }\n      } or {\n        \
                own := own + 1;\n      }\n      if (own > 3) { b := false; }\n    }\n";
    format!("  active thread T{number}() {{\n    {body}  }}\n")
}

/// Structured texts of about `size` bytes that are large but not strange.
#[rustfmt::skip]
const LARGE: &[Shape] = &[
    ("threads", |size| format!("system S {{\n  boolean b;\n{}}}\n", repeat(size / 215, worker))),
    ("statements", |size| system("", &"if (b) { x := 1; }\n".repeat(size / 19))),
    ("comments", |size| system("", &"// nothing is said here\nskip;\n".repeat(size / 30))),
    ("procedures", |size| system(&repeat(size / 50, |i| format!("procedure p{i}(int a) {{ if (b) {{ x := a; }} }}\n")), "p0(1);")),
    ("records", |size| system(&repeat(size / 48, |i| format!("record R{i} {{ int (0, 3) a; boolean[2] b; }}\n")), "skip;")),
];

#[test]
fn five_structured_megabytes_load() {
    for (name, shape) in LARGE {
        let text = shape(5_000_000);
        let start = now();
        drop(parse(&text, 0));
        let parsing = now() - start;
        let start = now();
        drop(load(&text, &[]));
        let loading = now() - start;
        println!("{name}: {} bytes, parsed in {parsing:?}, loaded in {loading:?}", text.len());
        assert!(parsing < Duration::from_secs(2), "{name}: {parsing:?}");
        assert!(loading < Duration::from_secs(15), "{name}: {loading:?}");
    }
}

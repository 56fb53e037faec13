//! `refines` blocks: what they become, how they are formatted, and what is said of those that are wrong.

use birk_ir::{Refinement, ValueKind};
use birk_lang::{fmt, load};

fn system(items: &str) -> String {
    format!(
        "system S {{ enum Colour {{ red, green }} int (0, 3) x; Colour c; byte[2][3] m; set of 2 .. 4 s; {items}
         active thread T() {{ int (0, 5) own; here: x := choose(0, 3); own := x; c := Colour.green; m[1][2] := 7; s := {{3}}; }} }}"
    )
}

fn refinement(items: &str) -> Refinement {
    let loaded = load(&system(items), &[]);
    let errors: Vec<_> = loaded.diagnostics.iter().filter(|found| !found.is_warning()).collect();
    loaded.refinement.unwrap_or_else(|| panic!("{items}: {errors:#?}"))
}

/// `E0058 message | label`, for each error.
fn errors(items: &str) -> Vec<String> {
    let found = load(&system(items), &[]).diagnostics.into_iter().filter(|found| !found.is_warning());
    found.map(|found| format!("{} {} | {}", found.code, found.message, found.label)).collect()
}

#[test]
fn arrays_are_written_out() {
    let found =
        refinement("refines Spec { a = x + 1; b[i : 0 .. 1][j : 1 .. 2] = m[i][j] > 0; f[1].k = c; q.r[0] = s; }");
    assert_eq!(found.name, "Spec");
    let names: Vec<(&str, &[i64])> = found.mapped.iter().map(|one| (&*one.variable, &*one.indices)).collect();
    let expected: [(&str, &[i64]); 7] =
        [("a", &[]), ("b", &[0, 1]), ("b", &[0, 2]), ("b", &[1, 1]), ("b", &[1, 2]), ("f[].k", &[1]), ("q.r", &[0])];
    assert_eq!(names, expected);
    let kinds: Vec<&ValueKind> = found.mapped.iter().map(|one| &one.values).collect();
    assert_eq!((kinds[0], kinds[1]), (&ValueKind::Integer, &ValueKind::Boolean));
    assert_eq!(kinds[5], &ValueKind::Names(vec!["red".into(), "green".into()]));
    assert_eq!(kinds[6], &ValueKind::Set(2));
}

#[test]
fn threads_can_be_asked() {
    let found = refinement("refines Spec { there = T@here; own = T.own; }");
    assert_eq!(found.mapped.len(), 2);
}

/// What can go wrong in a mapping is no runtime error of the model: nothing else changes.
#[test]
fn a_mapping_changes_nothing_else() {
    let with = load(&system("refines Spec { a = 6 / x; b = m[x][0]; }"), &[]);
    let without = load(&system(""), &[]);
    let hazards: Vec<usize> =
        with.refinement.expect("it is correct").mapped.iter().map(|one| one.hazards.len()).collect();
    assert_eq!(hazards, [1, 1]);
    let (with, without) = (with.program.expect("correct"), without.program.expect("correct"));
    assert_eq!(with.faults.len(), without.faults.len());
    assert_eq!(with.property_faults.len(), 0);
    assert_eq!(with.transitions.len(), without.transitions.len());
}

/// A variable that only a mapping reads is read.
#[test]
fn a_mapping_reads() {
    let warned = |items: &str| {
        let found = load(&system(items), &[]).diagnostics;
        found.iter().any(|found| found.code == "W0002" && found.message.contains("`c`"))
    };
    assert!(warned("") && !warned("refines Spec { colour = c; }"));
}

#[test]
fn it_is_no_reserved_word() {
    let text = "system S { typealias refines int (0, 3); refines refines_too := 1; refines[2] a;
        active thread T() { int (0, 1) refines; refines := 1; a[refines] := refines_too; refines_too := a[0]; } }";
    let loaded = load(text, &[]);
    assert!(loaded.program.is_some() && loaded.refinement.is_none(), "{:?}", loaded.diagnostics);
}

#[test]
fn it_is_formatted() {
    let text = "system S { byte x; active thread T() { x := 1; }
      refines   Spec{a=x;   // why
      b[ i:0..1 ][2]=x>i?1:0 ; r . f = x; } }";
    let expected = "system S {\n  byte x;\n\n  active thread T() {\n    x := 1;\n  }\n\n  refines Spec {\n    a = x; // why\n    \
                    b[i : 0 .. 1][2] = x > i ? 1 : 0;\n    r.f = x;\n  }\n}\n";
    let formatted = fmt::format(text).expect("it is correct");
    assert_eq!(formatted.replace("\n\n", "\n"), expected.replace("\n\n", "\n"));
    assert_eq!(fmt::format(&formatted).expect("it is correct"), formatted);
    let long = "x + x + x + x + x + x + x + x > 100 && x > 17 || x + x + x + x + x + x + x > 200 && x > 18 || x == 99";
    let text =
        format!("system S {{ byte x; active thread T() {{ x := 1; }} refines Spec {{ b[i : 0 .. 1] = {long}; }} }}");
    let formatted = fmt::format(&text).expect("it is correct");
    assert!(formatted.lines().all(|line| line.len() <= 100), "{formatted}");
    assert_eq!(fmt::format(&formatted).expect("it is correct"), formatted);
}

#[test]
fn what_says_nothing_or_too_much_is_an_error() {
    assert_eq!(errors("refines Spec { }"), ["E0058 this mapping is empty | maps nothing"]);
    assert_eq!(errors("refines A { a = x; } refines B { a = x; }"), ["E0058 a system has one mapping | a second one"]);
    let twice = "E0058 `a[1]` is mapped twice | mapped again here";
    assert_eq!(errors("refines A { a[i : 0 .. 2] = x; a[1] = x; }"), [twice]);
    assert_eq!(errors("refines A { a[i : 2 .. 0] = x; }"), ["E0058 this range is empty | maps nothing"]);
    let many = "E0039 this mapping has more than 4096 elements | too many";
    assert_eq!(errors("refines A { a[i : 0 .. 5000] = x; }"), [many]);
    assert_eq!(errors("refines A { a[i : 0 .. 70][j : 0 .. 70] = x; }"), [many]);
}

#[test]
fn values_are_expressions_of_one_state() {
    for (mapped, code) in [
        ("a = y;", "E0020"),
        ("a = m;", "E0033"),
        ("a = {1};", "E0022"),
        ("a[x] = 1;", "E0024"),
        ("a = timeout;", "E0057"),
        ("a := x;", "E0012"),
        ("a x;", "E0004"),
        ("3 = x;", "E0004"),
    ] {
        let found = errors(&format!("refines A {{ {mapped} }}"));
        assert!(found.first().is_some_and(|first| first.starts_with(code)), "{mapped}: {found:?}");
    }
}

//! The checker on programs by hand. Each certificate that is refused here is wrong in one respect only, so that a checker that leaves
//! out one of its examinations fails the test of that name.

use birk::certificate::{of_invariants, of_states};
use birk_certify::{Certified, Evidence, INVARIANTS, Keys, Refusal, STATES, TOGETHER, check, seal};
use birk_ir::{BitIs, Invariant, Program, Property, VarId};

/// Counts to 3, and from there back to 1; `far` is never reached, and from 4 on nobody moves.
const COUNTER: &str = "system Counter { int (0, 7) x;
    active thread T() {
        loc go: when x < 3 do { x := x + 1; } goto go;
                when x == 3 do { x := 1; } goto go; }
    invariant low: x <= 3;
    reachable far: x == 5; }";

fn load(text: &str) -> Program {
    let loaded = birk_lang::load(text, &[]);
    loaded.program.unwrap_or_else(|| panic!("{:?}", loaded.diagnostics))
}

fn property<'p>(program: &'p Program, name: &str) -> &'p Property {
    program.properties.iter().find(|property| property.name == name).expect("the program has it")
}

fn checked(program: &Program, bytes: &[u8]) -> Result<Certified, Refusal> {
    check(program, bytes, &|| true)
}

/// That a certificate proves nothing, for a reason that has these words.
#[track_caller]
fn fails(answer: &Result<Certified, Refusal>, words: &str) {
    assert!(matches!(answer, Err(Refusal::Fails(reason)) if reason.contains(words)), "{answer:?}");
}

/// That a certificate is damaged, or about something else.
#[track_caller]
fn is_unfit(answer: &Result<Certified, Refusal>, words: &str) {
    assert!(matches!(answer, Err(Refusal::Unfit(reason)) if reason.contains(words)), "{answer:?}");
}

/// The certificate of some properties by states with these values of `x`.
fn by_states(program: &Program, names: &[&str], values: &[i64]) -> Vec<u8> {
    let (keys, mut packed) = (Keys::new(program), Vec::new());
    for &value in values {
        let of = |name: &str, initial: i64| if name == "x" { value } else { initial };
        let state =
            program.variables.iter().flat_map(|v| v.initial.iter().map(|i| of(&v.name, *i)).collect::<Vec<_>>());
        assert!(keys.pack(state, &mut packed));
    }
    let properties: Vec<&Property> = names.iter().map(|name| property(program, name)).collect();
    of_states(program, &properties, &packed)
}

/// The certificate of a property by these lines.
fn by_lines(program: &Program, name: &str, lines: &str) -> Vec<u8> {
    let body = format!("invariant of {name}\n{lines}");
    seal(INVARIANTS, program, &[property(program, name)], body.as_bytes())
}

#[test]
fn a_closed_set_is_accepted() {
    let program = load(COUNTER);
    let names = ["low", "far", "deadlock", "fault"];
    let certified = checked(&program, &by_states(&program, &names, &[0, 1, 2, 3])).expect("it is a proof");
    assert_eq!(certified.evidence, Evidence::States(4, 4));
    assert_eq!(certified.properties.iter().map(|property| &*property.name).collect::<Vec<_>>(), names);
    // What cannot be reached may be in it, if it is not bad.
    let program = load(&COUNTER.replace("x <= 3", "x <= 6").replace("x == 5", "x == 4"));
    assert!(checked(&program, &by_states(&program, &["low", "far"], &[0, 1, 2, 3, 6])).is_ok());
}

#[test]
fn a_set_without_the_initial_state_fails() {
    let program = load(COUNTER);
    fails(&checked(&program, &by_states(&program, &["low"], &[1, 2, 3])), "an initial state is missing");
}

#[test]
fn a_set_that_a_step_leaves_fails() {
    let program = load(COUNTER);
    fails(&checked(&program, &by_states(&program, &["low"], &[0, 1, 2])), "leads from (x = 2");
    fails(&checked(&program, &by_states(&program, &["low"], &[0])), "a state is missing");
}

#[test]
fn a_set_with_a_bad_state_fails() {
    let program = load(COUNTER);
    fails(&checked(&program, &by_states(&program, &["low"], &[0, 1, 2, 3, 4])), "`low` is not so");
    fails(&checked(&program, &by_states(&program, &["far"], &[0, 1, 2, 3, 5])), "`far` is not so");
    fails(&checked(&program, &by_states(&program, &["deadlock"], &[0, 1, 2, 3, 6])), "`deadlock` is not so");
}

#[test]
fn a_set_out_of_order_fails() {
    let program = load(COUNTER);
    let low = property(&program, "low");
    // Keys of one byte, none of which begins like the one before.
    let sorted = |keys: &[u8]| {
        let body: Vec<u8> = keys.iter().flat_map(|&key| [0, key]).collect();
        let head = format!("states {}\n", keys.len());
        seal(STATES, &program, &[low], &[head.as_bytes(), &body].concat())
    };
    let mut keys = Vec::new();
    for x in 0..4 {
        let state = program.variables.iter().map(|v| if v.name == "x" { x } else { v.initial[0] });
        assert!(Keys::new(&program).pack(state, &mut keys));
    }
    assert!(checked(&program, &sorted(&keys)).is_ok());
    fails(&checked(&program, &sorted(&[keys[0], keys[2], keys[1], keys[3]])), "not behind");
    fails(&checked(&program, &sorted(&[keys[0], keys[0], keys[1], keys[2], keys[3]])), "not behind");
    fails(&checked(&program, &sorted(&[keys[0], keys[1], keys[2], keys[3], 0xff])), "none of the model");
    is_unfit(&checked(&program, &sorted(&[])), "as many states");
    let more = seal(STATES, &program, &[low], b"states 1\n\0\0\0");
    is_unfit(&checked(&program, &more), "behind its last state");
    let shared = seal(STATES, &program, &[low], b"states 2\n\x01\0\0");
    is_unfit(&checked(&program, &shared), "no state number 1");
}

#[test]
fn a_set_with_a_value_outside_of_its_type_fails() {
    let program = load(&COUNTER.replace("int (0, 7) x", "int (0, 6) x"));
    let key = |x: i64| {
        let mut key = Vec::new();
        let state = program.variables.iter().map(|v| if v.name == "x" { x } else { v.initial[0] });
        assert!(Keys::new(&program).pack(state, &mut key));
        key[0]
    };
    // There are bits for 7, which is not between 0 and 6.
    let seven = key(0) | key(1) | key(2) | key(4);
    let body: Vec<u8> = [key(0), key(1), key(2), key(3), seven].iter().flat_map(|&key| [0, key]).collect();
    let bytes = seal(STATES, &program, &[property(&program, "fault")], &[b"states 5\n", &body[..]].concat());
    fails(&checked(&program, &bytes), "state number 5 is none of the model");
}

#[test]
fn an_inductive_invariant_is_accepted() {
    let program = load(COUNTER);
    for lines in ["always x in 0..3\n", "never x in {4, 5, 6, 7}\n", "never x matches 1??\n"] {
        let certified = checked(&program, &by_lines(&program, "low", lines)).expect("it is a proof");
        assert_eq!(certified.properties[0].name, "low");
        assert!(checked(&program, &by_lines(&program, "deadlock", lines)).is_ok());
    }
    // As the engine says it, and as it is written.
    let x = VarId::new(program.variables.iter().position(|v| v.name == "x").expect("it has one"));
    let bounds = program.variables.iter().map(|v| (v.lo, v.hi)).collect();
    let excluded = vec![vec![BitIs { variable: x, element: 0, bit: 2, is_set: true }]];
    let bytes = of_invariants(&program, &[(property(&program, "low"), &Invariant { bounds, excluded })]);
    let text = String::from_utf8(bytes.clone()).expect("it is text");
    assert!(text.contains("\nnever x in {4, 5, 6, 7}\n"), "{text}");
    assert!(checked(&program, &bytes).is_ok());
}

#[test]
fn an_invariant_that_is_initially_untrue_fails() {
    let program = load(COUNTER);
    fails(&checked(&program, &by_lines(&program, "low", "always x in 1..3\n")), "initially not in 1..3");
    fails(
        &checked(&program, &by_lines(&program, "low", "always x in 0..3\nnever x == 0\n")),
        "initial state is excluded",
    );
}

#[test]
fn an_invariant_that_a_step_breaks_fails() {
    let program = load(COUNTER);
    fails(&checked(&program, &by_lines(&program, "low", "always x in 0..2\n")), "does not stay true");
    fails(&checked(&program, &by_lines(&program, "low", "never x matches 1??\nnever x == 3\n")), "`never x == 3`");
    // Into a runtime error.
    let checks = load("system Checks { int (0, 7) x; active thread T() { loc go: do { x := x + 1; } goto go; } }");
    fails(&checked(&checks, &by_lines(&checks, "fault", "never fault == true\n")), "`never fault == true`");
    // With what is chosen.
    let chooses = load(
        "system Chooses { int (0, 7) x; active thread T() { int (0, 7) by;
            loc go: do { by := choose(0, 4); x := by; } goto go; } invariant low: x <= 4; }",
    );
    assert!(checked(&chooses, &by_lines(&chooses, "low", "always x in 0..4\n")).is_ok());
    fails(&checked(&chooses, &by_lines(&chooses, "low", "always x in 0..3\n")), "does not stay true");
}

#[test]
fn an_invariant_that_lets_a_bad_state_pass_fails() {
    let program = load(COUNTER);
    fails(&checked(&program, &by_lines(&program, "low", "never x in {5, 6, 7}\n")), "(x = 4");
    fails(&checked(&program, &by_lines(&program, "low", "")), "does not exclude");
    fails(&checked(&program, &by_lines(&program, "deadlock", "")), "does not exclude");
    // The invariant of another property is no proof.
    fails(&checked(&program, &by_lines(&program, "far", "always x in 0..7\n")), "does not exclude");
}

#[test]
fn what_is_damaged_or_about_something_else_is_not_examined() {
    let program = load(COUNTER);
    let bytes = by_states(&program, &["low"], &[0, 1, 2, 3]);
    is_unfit(&checked(&program, b"a model"), "not a certificate");
    is_unfit(&checked(&program, b"birk certificate, version 9: x"), "another version");
    for length in 30..bytes.len() {
        assert!(matches!(checked(&program, &bytes[..length]), Err(Refusal::Unfit(_))), "{length}");
    }
    for bit in 0..bytes.len() * 8 {
        let mut bent = bytes.clone();
        bent[bit / 8] ^= 1 << (bit % 8);
        assert!(matches!(checked(&program, &bent), Err(Refusal::Unfit(_))), "bit {bit}");
    }
    let other = |text: &str| checked(&load(text), &bytes);
    is_unfit(&other(&COUNTER.replace("Counter", "Other")), "`system Counter`");
    is_unfit(&other(&COUNTER.replace("x := 1", "x := 2")), "another text of this model");
    is_unfit(&other(&COUNTER.replace("low: x <= 3", "low: x <= 2")), "no such property");
    is_unfit(&other(&COUNTER.replace("low:", "small:")), "`property invariant low");
    // Comments and other properties do not matter.
    assert!(other(&COUNTER.replace("x == 5", "x == 6").replace("invariant", "/* more */ invariant")).is_ok());
    for lines in [
        "never y == 1\n",
        "never x = 1\n",
        "never x == one\n",
        "sometimes x == 1\n",
        "always x in 0..3\ninvariant of far\n",
    ] {
        assert!(matches!(checked(&program, &by_lines(&program, "low", lines)), Err(Refusal::Unfit(_))), "{lines}");
    }
}

#[test]
fn what_cannot_be_encoded_is_refused_and_not_accepted() {
    let program = load(
        "system Many { int (0, 100000) x; active thread T() { loc go: do { x := 0; } goto go; }
            invariant none: forall (i : 0 .. x) i >= 0; }",
    );
    let answer = checked(&program, &by_lines(&program, "none", ""));
    assert!(matches!(&answer, Err(Refusal::Unknown(reason)) if reason.contains("more than 4096")), "{answer:?}");
    // Whoever does not want to wait gets no answer.
    let bytes = by_lines(&program, "none", "");
    assert!(matches!(check(&program, &bytes, &|| false), Err(Refusal::Stopped)));
}

/// The certificate of properties that are a part of each invariant.
fn together(program: &Program, names: &[&str]) -> Vec<u8> {
    let properties: Vec<&Property> = names.iter().map(|name| property(program, name)).collect();
    let sections: String = names.iter().map(|name| format!("invariant of {name}\n")).collect();
    seal(INVARIANTS, program, &properties, format!("{TOGETHER}\n{sections}").as_bytes())
}

#[test]
fn properties_may_be_inductive_together() {
    let pair = "system Pair { int (0, 7) x; int (0, 7) y;
        active thread T() { loc go: when x < 3 do { x := x + 1; y := y + 1; } goto go;
                                    when x > 3 do { y := 0; } goto go; }
        invariant same: x == y;
        invariant low: x <= 3;
        invariant early: x > 0; }";
    let program = load(pair);
    // Both need the other, or themselves, before a step.
    let certified = checked(&program, &together(&program, &["same", "low"])).expect("it is a proof");
    assert!(matches!(certified.evidence, Evidence::Invariants(2, _)), "{:?}", certified.evidence);
    assert!(checked(&program, &together(&program, &["low"])).is_ok());
    fails(&checked(&program, &together(&program, &["same"])), "`same` does not stay true");
    fails(&checked(&program, &together(&program, &["same", "early"])), "`early` is not true initially");
    // Without the line that says so, a property is no part of its invariant.
    fails(&checked(&program, &by_lines(&program, "low", "")), "it does not exclude a state that is bad");
    is_unfit(&checked(&program, &together(&program, &["low", "deadlock"])), "no deadlock cannot be a part");
}

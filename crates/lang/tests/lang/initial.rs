//! Several initial values: what each form of `choose` means in a declaration, and what is said where it is not possible.

use birk_ir::Program;
use birk_lang::{fmt, load};

fn program(items: &str) -> Program {
    let text = format!("system S {{ {items} active thread T() {{ skip; }} }}");
    let loaded = load(&text, &[]);
    loaded.program.unwrap_or_else(|| panic!("{text}: {:#?}", loaded.diagnostics))
}

/// The values of all variables but the locations of threads, in every initial state.
fn initial(items: &str) -> Vec<String> {
    let program = program(items);
    let view = program.view();
    let shown = |state: &Vec<u32>| {
        let state = view.show(state);
        let leaves = state.leaves().into_iter().filter(|(name, _)| !name.ends_with('@'));
        leaves.map(|(_, value)| value.to_string()).collect::<Vec<_>>().join(" ")
    };
    program.initial_states().iter().map(shown).collect()
}

/// `E0057 message | label`, for each error.
fn errors(items: &str) -> Vec<String> {
    let text = format!("system S {{ {items} active thread T() {{ skip; }} }}");
    let found = load(&text, &[]).diagnostics.into_iter().filter(|found| !found.is_warning());
    found.map(|found| format!("{} {} | {}", found.code, found.message, found.label)).collect()
}

#[test]
fn every_combination_is_an_initial_state() {
    assert_eq!(initial("int (0, 9) x;"), ["0"]);
    assert_eq!(initial("int (0, 9) x := choose(3, 5);"), ["3", "4", "5"]);
    assert_eq!(initial("int (-3, 3) x := choose({2, -1, 1 + 1});"), ["-1", "2"], "in order, and each once");
    assert_eq!(initial("boolean b := choose({true, false});"), ["false", "true"]);
    assert_eq!(initial("enum Hue { red, green, blue } Hue h := choose({Hue.blue, Hue.red});"), ["red", "blue"]);
    let two = "boolean b := choose({false, true}), c; int (0, 9) x := choose(7, 8);";
    assert_eq!(initial(two), ["false false 7", "false false 8", "true false 7", "true false 8"]);
    // Each element by itself.
    let array = initial("int (0, 2)[2] a := choose(1, 2);");
    assert_eq!(array, ["1 1", "1 2", "2 1", "2 2"]);
    let names = "const N = 3; symmetric typealias Id int (0, N - 1); Id who := choose(Id);";
    assert_eq!(initial(names), ["0", "1", "2"]);
    assert_eq!(initial("const LOW = 2; int (0, 9) x := choose(LOW, LOW + 1);"), ["2", "3"]);
    // A choice of one value is none.
    assert!(program("int (0, 9) x := choose(4, 4);").choices.is_empty());
}

#[test]
fn what_never_changes_is_a_parameter() {
    let text = "system S { int (0, 9) x := choose(1, 3); int (0, 9) y := 4; int (0, 9) z;
      active thread T() { z := x + y; } invariant small: z < 8; }";
    let warned: Vec<String> = load(text, &[]).diagnostics.into_iter().map(|found| found.message).collect();
    assert_eq!(warned, ["`y` is never written"]);
}

#[test]
fn what_cannot_be_chosen_is_said() {
    let range = "E0032 a choice from the empty range 5..3 | no value to choose";
    assert_eq!(errors("int (0, 9) x := choose(5, 3);"), [range]);
    assert_eq!(errors("int (0, 9) x := choose({});"), ["E0032 a choice from the empty set | no value to choose"]);
    let outside = "E0030 12 is outside the range of `x` | must be in 0..9";
    assert_eq!(errors("int (0, 9) x := choose(0, 12);"), [outside]);
    assert_eq!(errors("boolean b := choose(0, 1);"), ["E0022 `b` is `boolean`, but a range has numbers | numbers"]);
    assert_eq!(errors("int (0, 9) x := choose(4);"), ["E0022 `4` is not a set | expected a set"]);
    let variable = "E0024 `y` is a variable, not a constant | must be known before the search";
    assert_eq!(errors("int (0, 9) y; int (0, 9) x := choose(y, 9);"), [variable]);
    let many = "E0039 too many initial states | chosen among too many";
    assert_eq!(errors("int (0, 9)[5] a := choose(0, 9);"), [many]);
    assert_eq!(errors("int x := choose(0, 70000);"), [many]);
    assert_eq!(errors("int (0, 3)[8] a := choose(0, 3);"), [""; 0], "65536 are possible");
    // Choices stand alone, and are not a part of something else.
    assert_eq!(errors("int (0, 9) x := choose(0, 2) + 1;").len(), 1);
    assert_eq!(errors("const X = choose(0, 2);").len(), 1);
    let local = "E0062 `x` cannot begin with a choice | only variables of the system can";
    let thread = "thread Other() { int (0, 9) x := choose(0, 9); skip; }";
    assert_eq!(errors(thread), [local]);
}

#[test]
fn it_is_formatted_like_any_choice() {
    let text =
        "system S { int (0,9) x:=choose( 1,3 ),y;boolean b := choose({ false,true }); active thread T() { x := y; } }";
    let formatted = fmt::format(text).expect("it is a model");
    assert!(formatted.contains("int (0, 9) x := choose(1, 3), y;"), "{formatted}");
    assert!(formatted.contains(":= choose({false, true});"), "{formatted}");
}

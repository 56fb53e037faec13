//! When the front end warns, and when it does not: conditions may be decided by what the user of a model sets.

use birk_lang::load;

/// The codes of the warnings for a system with these parts; there must be no errors.
fn warnings(items: &str, body: &str) -> Vec<&'static str> {
    let text = format!(
        "system S {{ const BUG = 0; const P {{ N = 2; }} int (0, 3) x; {items} active thread T() {{ {body} }} }}"
    );
    let loaded = load(&text, &[]);
    assert!(loaded.program.is_some(), "{text}: {:?}", loaded.diagnostics);
    loaded.diagnostics.iter().map(|diagnostic| diagnostic.code).collect()
}

const COUNT: &str = "while (x < 3) { x := x + 1; }";

#[test]
fn a_condition_that_the_types_decide_is_a_slip() {
    assert_eq!(warnings("", &format!("{COUNT} await x <= 3;")), ["W0004"]);
    assert_eq!(warnings("", &format!("{COUNT} await x > 3;")), ["W0005"]);
    assert_eq!(warnings("invariant p: x >= 0;", COUNT), ["W0006"]);
    assert_eq!(warnings("", &format!("{COUNT} await 1 == 1;")), ["W0004"]);
}

#[test]
fn a_condition_on_a_named_constant_is_a_switch() {
    assert!(warnings("", &format!("{COUNT} await BUG == 0;")).is_empty());
    assert!(warnings("", &format!("{COUNT} await BUG == 1 && x > 1;")).is_empty());
    assert!(warnings("", &format!("{COUNT} if (P.N > 1) {{ x := 0; }} else {{ x := 1; }}")).is_empty());
    assert!(warnings("", &format!("{COUNT} atomic {{ if (BUG == 2) {{ x := 0; }} x := 1; }}")).is_empty());
    assert!(warnings("invariant p: BUG == 0 || x < 2;", COUNT).is_empty());
    assert!(warnings("reachable p: BUG == 1 && x < 2;", COUNT).is_empty());
}

#[test]
fn a_condition_on_an_argument_or_a_round_is_a_switch() {
    let procedure = "procedure p(int k) { if (k == 0) { x := 0; } }";
    assert!(warnings(procedure, &format!("{COUNT} p(0); p(1);")).is_empty());
    assert!(warnings("", &format!("{COUNT} for (i : 0 .. 0) {{ if (i == 0) {{ x := 0; }} }}")).is_empty());
}

#[test]
fn what_a_receive_is_conditional_on_is_read() {
    let channel = "channel of int (0, 3) [1] c; int (0, 3) y;";
    let send = format!("{COUNT} send c (x);");
    assert!(warnings(channel, &format!("{send} receive c (?y) when y > 0;")).is_empty());
    assert_eq!(warnings(channel, &format!("{send} receive c (?y);")), ["W0002"]);
}

/// A label where an alternative begins is no place to be: the message says so, and where to put it.
#[test]
fn a_label_of_an_alternative_names_no_location() {
    let text = "system S { boolean b; active thread T() { while (true) { \
                either { first: b := !b; second: skip; } or { await b; third: skip; } } } }";
    let found = load(text, &[]).diagnostics;
    let messages: Vec<(&str, &str)> = found.iter().map(|found| (found.code, found.message.as_str())).collect();
    assert_eq!(messages, [("W0001", "the label `first` names no location")]);
    assert!(found[0].help.as_deref().is_some_and(|help| help.contains("before the `either`")), "{found:?}");
    // A jump leads there.
    let reached = text.replace("second: skip;", "goto first;");
    assert!(load(&reached, &[]).diagnostics.is_empty());
}

/// Members that are written down are chosen from like those of a variable.
#[test]
fn a_choice_from_members() {
    assert!(
        warnings("set of 0 .. 3 s;", "s := {x}; x := choose({1, 3}); x := choose({x, 2}); await x in s;").is_empty()
    );
    assert!(warnings("byte y;", "y := choose({200, 210}); x := 1; await y > x;").is_empty());
    let errors = |body: &str| {
        let found = load(&format!("system S {{ int (0, 3) x; int y; active thread T() {{ {body} }} }}"), &[]);
        found.diagnostics.into_iter().filter(|d| !d.is_warning()).map(|d| (d.code, d.help)).collect::<Vec<_>>()
    };
    assert_eq!(errors("x := choose({1, 2});"), []);
    let apart = errors("y := choose({1, 100});");
    assert!(apart[0].0 == "E0022" && apart[0].1.as_deref().is_some_and(|help| help.contains("either")), "{apart:?}");
    assert_eq!(errors("x := choose({true});").len(), 1);
}

//! Models in DVE as the library sees them: a property process accepts what must not happen, values wrap as in DiVinE, and what
//! cannot be evaluated is a runtime error.

use birk::{Options, Threads};
use birk_engine::Patient;
use birk_ir::{Program, PropertyKind, Verdict};

/// Reads a model.
fn dve(text: &str) -> Program {
    birk::load_text("model.dve", text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// The verdict on a property, the steps of what shows it, and the states of the product.
fn verdict(program: &Program, property: &str, threads: usize) -> (Verdict, Option<(usize, Option<usize>)>, u64) {
    let properties = vec![property.to_owned()];
    let options = Options { properties, threads: Threads::Number(threads), ..Options::default() };
    let report = birk::check(program, &options, &mut Patient).expect("it can be checked");
    let trace = report.traces.first().map(|shown| (shown.run.steps.len(), shown.run.loop_start));
    let product = report.answers[0].automaton.as_ref().map_or(0, |figures| figures.states);
    (report.answers[0].verdict, trace, product)
}

/// A process that asks and one that answers at once or, with `LAZY`, tries as long as it likes.
const REQUEST: &str = "\
channel ask, answer;
process Client { state idle, waiting; init idle; trans idle -> waiting { sync ask!; }, waiting -> idle { sync answer?; }; }
process Server { state idle, busy; init idle; trans idle -> busy { sync ask?; }, LAZY busy -> idle { sync answer!; }; }
process never {
  state anything, open; init anything; accept open;
  trans anything -> anything {}, anything -> open { guard Client.waiting; }, open -> open { guard Client.waiting; };
}
system async property never;";

#[test]
fn a_property_process_accepts_what_must_not_happen() {
    let prompt = dve(&REQUEST.replace("LAZY", ""));
    assert!(matches!(prompt.properties[2].kind, PropertyKind::Claim(_)));
    for threads in [1, 2] {
        assert_eq!(verdict(&prompt, "never", threads), (Verdict::Holds, None, 3));
        let lazy = dve(&REQUEST.replace("LAZY", "busy -> busy {},"));
        let (found, trace, _) = verdict(&lazy, "never", threads);
        assert_eq!(found, Verdict::Violated);
        let (steps, loop_start) = trace.expect("the lasso is shown");
        assert!(loop_start.is_some_and(|start| 1 <= start && start < steps), "{steps} {loop_start:?}");
    }
}

#[test]
fn the_property_stutters_where_the_system_is_stuck() {
    let stuck = "process P { state a, b; init a; trans a -> b {}; }
        process never { state p, q; init p; accept q; trans p -> p {}, p -> q { guard P.b; }, q -> q { guard LOOP; }; }
        system async property never;";
    let (found, trace, product) = verdict(&dve(&stuck.replace("LOOP", "P.b")), "never", 1);
    assert_eq!((found, trace), (Verdict::Violated, Some((1, Some(1)))), "nothing happens forever after one step");
    assert_eq!(product, 3);
    // Where the property cannot move, the execution is not accepted, though its state is accepting.
    assert_eq!(verdict(&dve(&stuck.replace("LOOP", "P.a")), "never", 1).0, Verdict::Holds);
}

#[test]
fn the_property_reads_the_state_that_is_left() {
    // After one step x is 1, after two it is 0 for good: only whoever looks after exactly one step sees the 1.
    let text = "byte x;
        process P { state a, b, c; init a; trans a -> b { effect x = 1; }, b -> c { effect x = 0; }, c -> c {}; }
        process never { state p, q, r; init p; accept r; trans p -> q { guard FIRST; }, q -> r { guard SECOND; }, r -> r {}; }
        system async property never;";
    let asked = |first: &str, second: &str| {
        verdict(&dve(&text.replace("FIRST", first).replace("SECOND", second)), "never", 1).0
    };
    assert_eq!(asked("x == 0", "x == 1"), Verdict::Violated);
    assert_eq!(asked("x == 1", "x == 0"), Verdict::Holds);
    assert_eq!(asked("P.a", "P.b"), Verdict::Violated);
}

/// The verdict on `fault` of a process that assigns once.
fn fault(declarations: &str, parts: &str) -> Verdict {
    let text = format!("{declarations} process P {{ state q, r; init q; trans q -> r {{ {parts} }}; }} system async;");
    verdict(&dve(&text), "fault", 1).0
}

#[test]
fn what_has_no_value_is_a_runtime_error() {
    let arrays = "byte a[3]; byte z; int i = -1;";
    for wrong in [
        "effect a[3] = 1;",
        "effect a[i] = 1;",
        "effect z = a[i];",
        "effect z = 1 / z;",
        "effect z = 1 % z;",
        "guard 1 / z == 0;",
        "guard a[i] == 0 && false;",
        "guard z == 0 && a[i] == 0;",
        "effect z = 3, a[z] = 0;",
    ] {
        assert_eq!(fault(arrays, wrong), Verdict::Violated, "{wrong}");
    }
    for right in [
        "effect a[2] = 300;",
        "effect z = z - 1;",
        "guard z != 0 && a[i] == 0;",
        "guard z == 0 || a[i] == 0;",
        "guard z == 1 imply 1 / z == 1;",
        "effect z = 2, a[z] = 1 / z;",
    ] {
        assert_eq!(fault(arrays, right), Verdict::Holds, "{right}");
    }
}

/// What a variable is after one assignment.
fn assigned(ty: &str, value: &str) -> i64 {
    let text = format!(
        "{ty} x; byte b = 200; int i = -7; byte two = 2;
        process P {{ state q, r; init q; trans q -> r {{ effect x = {value}; }}; }} system async;"
    );
    let program = dve(&text);
    let interpreter = birk_exec::Interpreter::new(&program, &[]);
    let mut batch = birk_engine::Successors::new(birk_engine::Model::words(&interpreter));
    birk_engine::Model::successors(&interpreter, &program.initial_state(), &mut batch);
    program.layout.slot(birk_ir::VarId(0)).get(batch.state(0), 0)
}

#[test]
fn arithmetic_is_that_of_c_and_wraps_when_it_is_stored() {
    for (value, expected) in [
        ("b + 100", 300),
        ("b * b * 10", 400_000 - 6 * 65_536),
        ("b * b * b * b * b", ((200_i64.pow(4) as i32).wrapping_mul(200)) as i16 as i64),
        ("-b - i", -193),
        ("i / two", -3),
        ("i % two", -1),
        ("i >> 1", -4),
        ("i << 2", -28),
        ("1 << 15", -32_768),
        ("1 << 40", 256),
        ("~i", 6),
        ("i & 12", 8),
        ("i | 12", -3),
        ("b ^ 255", 55),
        ("i ^ b", -7 ^ 200),
        ("i == -7", 1),
        ("not b", 0),
        ("not not b + 1", 2),
        ("b == 200 == 1", 1),
        ("1 or 0 and 0", 0),
        ("1 | 2 & 2", 2),
        ("2 + 3 * 4 - 1", 13),
        ("10 - 3 - 2", 5),
        ("0 imply 0 imply 0", 0),
        ("3 < 4 == 1", 1),
        ("1 + 1 << 2", 8),
    ] {
        assert_eq!(assigned("int", value), expected, "{value}");
        assert_eq!(assigned("byte", value), expected.rem_euclid(256), "{value} as a byte");
    }
}

//! States of many kilobytes: every explicit engine, interpreted and as native code, on 1, 2 and 8 threads; and what
//! native code needs of the stack, which must not grow with the state.

use birk_agreement::hunt;
use birk_engine::{Hunt, Job, Limits, Model, Patient};
use birk_exec::automaton::violations_of;
use birk_exec::{Interpreter, Product, goal_of};
use birk_ir::{Coverage, Goal, Outcome, Program, PropertyKind};
use birk_jit::{Compiled, Staged};
use birk_search::ENGINES;
use birk_search::bitstate::BitState;
use birk_search::liveness::CycleSearch;

const THREADS: [usize; 3] = [1, 2, 8];

fn load(text: &str) -> Program {
    let loaded = birk_lang::load(text, &[]);
    loaded.program.unwrap_or_else(|| panic!("{:#?}", loaded.diagnostics))
}

/// States of `size` words. In each step elements are written whose places are only known then, and others read, again
/// and again.
fn wide(size: usize, locations: usize, rounds: usize) -> Program {
    let mut text = format!("system Wide {{ int[{size}] a;\n");
    for thread in 0..2 {
        text += &format!("int (0, 1) i{thread}; active thread T{thread}() {{\n");
        for here in 0..locations {
            let (i, there, odd) = (format!("i{thread}"), (here + 1) % locations, here % 2);
            let round = format!("a[{i}] := {here}; {i} := a[{i}] == {here} ? 1 : 0; a[{i}] := 0; {i} := {odd};");
            let drawn = if here + 1 < locations { odd.to_string() } else { "choose(0, 1)".to_owned() };
            text += &format!(
                "loc l{here}: do {{ {} {i} := {drawn}; a[{size} - 1 - {i}] := a[{i}] + {thread}; {i} := {odd}; }} goto l{there};\n",
                round.repeat(rounds)
            );
        }
        text += "}\n";
    }
    let last = locations - 1;
    text += &format!("invariant low: a[0] < {last};\ninvariant apart: !(T0@l{last} && T1@l{last});\n");
    text += &format!("ltl again: [] <> (a[1] == 0);\nltl never: [] !(T0@l{last});\n}}\n");
    load(&text)
}

/// What must not depend on who computes successors, nor on how many threads.
fn summary(hunt: &Hunt) -> (Vec<&'static str>, u64, String) {
    let word = |outcome: &Outcome| match outcome {
        Outcome::Found(_) => "found",
        Outcome::Absent => "absent",
        Outcome::Untraced(_) | Outcome::Inconclusive => "inconclusive",
    };
    let coverage = match hunt.coverage {
        Coverage::Hashed { .. } => "hashed".to_owned(),
        ref other => format!("{other:?}"),
    };
    (hunt.outcomes.iter().map(word).collect(), hunt.stats.states, coverage)
}

/// Every engine of states, and one with bits for states.
fn searches_agree(program: &Program) {
    let goals: Vec<Goal> = program.properties.iter().filter_map(|property| goal_of(program, property)).collect();
    let (interpreter, native) = (Interpreter::new(program, &goals), Compiled::new(program, &goals).expect("compiled"));
    let job = |limits| Job { keep_going: true, ..Job::new(goals.len(), limits) };
    for engine in ENGINES {
        let hunt = |model: &dyn Model, threads| {
            let limits = Limits { threads, grain: 2, ..Limits::NONE };
            hunt::of_model(engine, model, &job(limits), &mut Patient)
        };
        let expected = hunt(&interpreter, 1);
        assert!(expected.stats.states > 30, "{}: {} states", engine.name, expected.stats.states);
        for threads in if engine.scales { &THREADS[..] } else { &THREADS[..1] } {
            let found = hunt(&native, *threads);
            assert_eq!(summary(&found), summary(&expected), "{}, {threads} threads", engine.name);
            if *threads == 1 {
                assert_eq!(found.outcomes, expected.outcomes, "{}", engine.name);
                assert_eq!(found.stats.transitions, expected.stats.transitions, "{}", engine.name);
            }
        }
    }
    let bitstate = BitState { bytes: 1 << 16, expected: None, swarm: 2, seed: 0 };
    let hunt = |model: &dyn Model| bitstate.hunt(model, &job(Limits::NONE), &mut Patient);
    assert_eq!(summary(&hunt(&native)), summary(&hunt(&interpreter)), "bits");
}

/// Every hunt for a cycle, of a formula that holds and of one that does not.
fn cycle_searches_agree(program: &Program) {
    let mut found = Vec::new();
    for property in &program.properties {
        let PropertyKind::Ltl(formula) = &property.kind else { continue };
        let (automaton, propositions) = violations_of(formula).expect("a small automaton");
        let goals: Vec<Goal> = propositions.into_iter().map(Goal::State).collect();
        let interpreter = Interpreter::new(program, &goals);
        let native = Compiled::new(program, &goals).expect("compiled");
        let answer = |model: &dyn Model, threads, by: fn(&CycleSearch, &Product<'_>) -> Hunt| {
            let product = Product::new(model, automaton.clone(), None);
            let job = Job::new(1, Limits { threads, ..Limits::NONE });
            let cycle_search = CycleSearch::of(product.is_weak(), &job);
            let hunt = by(&cycle_search, &product);
            (matches!(hunt.outcomes[0], Outcome::Found(_)), hunt.stats.states)
        };
        let ways: [fn(&CycleSearch, &Product<'_>) -> Hunt; 3] = [
            |cycle_search, product| cycle_search.hunt(product, &mut Patient),
            |cycle_search, product| cycle_search.hunt_by_bounds(product, &mut Patient),
            |cycle_search, product| {
                BitState { bytes: 1 << 16, expected: None, swarm: 1, seed: 0 }.find_cycle(
                    product,
                    cycle_search,
                    &mut Patient,
                )
            },
        ];
        for (way, by) in ways.into_iter().enumerate() {
            let expected = answer(&interpreter, 1, by);
            assert_eq!(answer(&native, 1, by), expected, "{}, way {way}", property.name);
            for threads in &THREADS[1..] {
                assert_eq!(answer(&native, *threads, by).0, expected.0, "{}, way {way}, {threads}", property.name);
            }
            found.push(expected.0);
        }
    }
    assert_eq!(found, [false, false, false, true, true, true], "one formula holds and one does not");
}

#[test]
fn searches_of_states_of_16_kilobytes_agree() {
    searches_agree(&wide(4_000, 5, 12));
}

#[test]
fn searches_of_states_of_64_kilobytes_agree() {
    searches_agree(&wide(16_000, 4, 6));
}

#[test]
fn searches_of_states_of_200_kilobytes_agree() {
    searches_agree(&wide(50_000, 3, 3));
}

#[test]
fn cycle_searches_of_states_of_16_kilobytes_agree() {
    cycle_searches_agree(&wide(4_000, 5, 12));
}

#[test]
fn cycle_searches_of_states_of_200_kilobytes_agree() {
    cycle_searches_agree(&wide(50_000, 2, 4));
}

fn frame(program: &Program) -> u32 {
    Compiled::new(program, &[]).expect("compiled").frame()
}

#[test]
fn stack_frames_do_not_grow_with_the_state() {
    // However large the state, and however much of it a step writes: what is pending or bound has a limit.
    let most = 4 << 10;
    let narrow = frame(&wide(100, 6, 6));
    let copied = |size: usize| {
        load(&format!(
            "system Copied {{ int[{size}] a := 1; int[{size}] b; int (0, 9) i; int (0, 1) c;
               active thread T() {{ while (true) {{
                 atomic {{ b := a; c := choose(0, 1); b[i] := 7; a := b; i := a[i]; a[i] := 3; assert a[5] < 9; }} }} }}
             }}"
        ))
    };
    for size in [100, 1_000, 10_000, 50_000] {
        let (written, copied) = (frame(&wide(size, 6, 6)), frame(&copied(size.min(3_000))));
        println!("{size} words: {written} bytes, copied whole {copied} bytes");
        assert!(written <= narrow && copied <= most, "{size} words: {written} and {copied} bytes");
    }
}

/// Two sums of all elements, one behind the other: the second finds the elements of the first on the stack.
fn greedy(size: usize) -> Program {
    let sum = (0..size).map(|i| format!("a[{i}]")).collect::<Vec<_>>();
    let product = (0..size).map(|i| format!("a[{i}] * 3")).collect::<Vec<_>>();
    let any = |parts: &[String]| {
        // Halves of halves: sums nest only a little.
        let mut parts = parts.to_vec();
        while parts.len() > 1 {
            parts = parts.chunks(2).map(|two| format!("({})", two.join(" + "))).collect();
        }
        parts.remove(0)
    };
    load(&format!(
        "system Greedy {{ int (0, 100000)[{size}] a; int (0, 1) x;
           active thread T() {{ loc l: when {} < 5 do {{ x := 1 - x; }} goto l; when {} < 7 do {{ x := 1; }} goto l; }}
         }}",
        any(&sum),
        any(&product)
    ))
}

#[test]
fn functions_with_too_large_a_frame_are_not_used() {
    let program = greedy(2_200);
    let refusal = Compiled::new(&program, &[]).expect_err("the frame is too large");
    assert!(refusal.contains("stack frame of"), "{refusal}");
    let staged = Staged::with_patience(&program, &[], 0);
    let job = Job { keep_going: true, ..Job::new(0, Limits::NONE) };
    for engine in ENGINES {
        let hunt = hunt::of_model(engine, &staged, &job, &mut Patient);
        assert_eq!(hunt.stats.states, 2, "{}", engine.name);
    }
    assert_eq!((staged.is_native(), staged.refusal()), (false, Some(refusal.as_str())));
}

#[test]
fn deep_expressions_are_compiled_on_a_small_stack() {
    let work = || {
        // What opens, what stands innermost, what closes; as deep as the language allows it.
        let shapes = [
            ("x := ", "(1 + ", "x", ") % 10", ";"),
            ("x := ", "a[", "x", "]", ";"),
            ("x := ", "(x == 1 ? x : ", "2", ")", ";"),
            ("x := ", "let y = x in ", "y", "", ";"),
            ("x := ", "(x / (1 + ", "x", "))", ";"),
            ("await ", "!(b && ", "b", ")", ";"),
            ("await ", "forall (i : 0 .. x) (b || ", "b", ")", ";"),
            ("atomic {", "x := choose(0, 0); a[x] := x; x := a[x]; ", "", "", "}"),
        ];
        for (before, open, inner, close, after) in shapes {
            let load = |depth: usize| {
                let body = format!("{before}{}{inner}{}{after}", open.repeat(depth), close.repeat(depth));
                let items = "int (0, 9) x; boolean b; int (0, 9)[10] a;";
                birk_lang::load(&format!("system Deep {{ {items} active thread T() {{ {body} }} }}"), &[]).program
            };
            let program = [190, 150, 120, 90, 60, 40].into_iter().find_map(load);
            let program = program.unwrap_or_else(|| panic!("{open} is refused at every depth"));
            Compiled::new(&program, &[]).expect("compiled");
        }
    };
    // Half of what a thread of a search has.
    let thread = std::thread::Builder::new().stack_size(1 << 20).spawn(work).expect("a thread can be started");
    thread.join().expect("everything is compiled");
}

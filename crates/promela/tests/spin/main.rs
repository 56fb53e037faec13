//! Promela against SPIN: random programs with the numbers of states that SPIN 6.5.2 stores for them
//! (`spin -o1 -o2 -o3 -a`, `gcc -DNOREDUCE -DSAFETY -DNOCLAIM`, `pan -c0`), and broken texts, which are never a surprise.

mod counts;
mod programs;

use std::collections::HashSet;

use birk_engine::{Model, Successors};
use birk_exec::Interpreter;
use birk_ir::{Conditions, Expr, Goal, Loaded};

fn load(text: &str) -> Loaded {
    birk_promela::load(text, &[], &mut |_| Err("there is no such file".into()), Conditions::default())
}

/// In the programs of these seeds something watches the order of messages.
const WATCHED: u64 = 1_000_000;

/// Programs with more states are not counted to the end.
const MOST: usize = 50_000;

/// How many states there are, and in how many of them a process waits forever; `None` where something goes wrong.
fn count(text: &str) -> Option<(usize, usize)> {
    let program = load(text).program.expect("it can be read");
    let bad = Expr::Stuck.and(program.valid_end.clone().negate());
    let model = Interpreter::new(&program, &[Goal::State(bad)]);
    let mut open = vec![program.initial_state()];
    let mut seen: HashSet<Vec<u32>> = open.iter().cloned().collect();
    let mut out = Successors::new(program.layout.words());
    let mut ends = 0;
    while let Some(state) = open.pop().filter(|_| seen.len() < MOST) {
        out.clear();
        model.successors(&state, &mut out);
        let is_stuck = out.is_stuck_since(0, 0);
        ends += usize::from(model.evaluate(&state, is_stuck).0 == 1);
        for next in (0..out.len()).map(|number| out.state(number)) {
            if program.is_faulty(next) {
                return None;
            }
            if seen.insert(next.to_vec()) {
                open.push(next.to_vec());
            }
        }
    }
    Some((seen.len(), ends))
}

/// `BIRK_PROGRAMS=FOLDER,FROM,TO` writes the programs of these seeds, to be compared with SPIN by hand.
#[test]
fn random_programs_have_the_states_that_spin_stores() {
    if let Ok(asked) = std::env::var("BIRK_PROGRAMS") {
        let [folder, from, to] = asked.split(',').collect::<Vec<_>>()[..] else { panic!("FOLDER,FROM,TO") };
        write(folder, from.parse().expect("a seed")..to.parse().expect("a seed"));
    }
    for &(seed, states, ends) in counts::COUNTS {
        assert_eq!(count(&programs::program(seed)), Some((states, ends)), "seed {seed}");
    }
}

/// Without what watches, every one of them has other states, or no fault.
#[test]
fn random_programs_are_watched_as_spin_watches_them() {
    for &(seed, counted) in counts::WATCHED {
        assert_eq!(count(&programs::watched(seed)), counted, "seed {seed}");
    }
}

/// How a `trace` ends, with whom it meets, and what it describes; all but the last as SPIN counts.
#[test]
fn messages_are_watched() {
    let text = |trace: &str| {
        format!(
            "mtype = {{ a, b }}; chan q = [2] of {{ mtype, byte }}; chan r = [0] of {{ byte }}; chan s;
            active proctype Idle() {{ end: false }}
            active proctype P() {{ q!a,2; q!a,3; r!3 }}
            active proctype Q() {{ mtype m; byte x; q?m,x; r?x; q?m,x; end: false }}
            {trace}"
        )
    };
    let whole = Some((7, 0));
    for (trace, counted) in [
        ("", whole),
        ("trace { q!a,2; q!a,3 }", whole),
        ("trace { q!_,2; q!_,3; q!_ }", Some((7, 1))),
        ("trace { q!a,2; q!a,2 }", None),
        ("trace { do :: q!a,_ :: r!3 -> break od }", whole),
        ("trace { do :: q!a,_ :: r!3; r?eval(1 + 2) od }", Some((7, 1))),
        ("trace { end: do :: q!a,_ :: r!3; r?3 od }", whole),
        ("trace { do :: q!a,_ :: r?3; r!3 od }", None),
        ("notrace { q!a,2; q!a,2 }", whole),
        ("notrace { q!a,2; q!a,3 }", None),
        ("notrace { q!a,3 }", whole),
        ("notrace { q?a,_; r?3; q?a,3 }", None),
        ("trace { do :: q!a,_ :: q!_,3 od }", None),
    ] {
        assert_eq!(count(&text(trace)), counted, "{trace}");
    }
    // A message that a trace never comes to, a channel that is known when it is used, and a run after which no process is left.
    let text_of = |trace: &str, end: &str| {
        format!(
            "chan c[2] = [2] of {{ byte }};
            active proctype Idle() {{ {end} }}
            active proctype P() {{ byte x; c[x]!1; x = 1; c[x]!1; x = 0; c[x]!1; {end} }}
            {trace}"
        )
    };
    for (trace, end, counted) in [
        ("", "skip", Some((17, 0))),
        ("trace { end: do :: c[0]!1 od; c[1]!1 }", "skip", None),
        ("trace { end: do :: c[0]!1 od }", "skip", Some((17, 0))),
        ("trace { do :: c[0]!1 od }", "skip", Some((17, 0))),
        ("trace { do :: c[0]!1 od }", "end: false", Some((6, 1))),
        ("notrace { c[0]!1; c[0]!1 }", "skip", None),
        ("notrace { c[0]!1; c[0]!2 }", "skip", Some((17, 0))),
        ("notrace { c[0]!1; c[1]!1; c[1]!1 }", "skip", Some((17, 0))),
    ] {
        assert_eq!(count(&text_of(trace, end)), counted, "{trace} {end}");
    }
    for (wrong, label) in [
        ("trace { q!a,2; true }", "describes no message"),
        ("trace { q?[a,2] }", "describes no message"),
        ("trace { q??a,2 }", "describes no message"),
        ("trace { q!s,2 }", "a variable"),
        ("trace { q?s,2 }", "a variable"),
        ("trace { accept: q!a,2 }", "labelled"),
        ("trace { r?eval(1 / len(q)) }", "may go wrong"),
        ("trace { q!a,2 } notrace { r?3 }", "another one"),
        ("trace { r!1,2 }", "another number"),
    ] {
        let loaded = load(&text(wrong));
        let said = loaded.diagnostics.iter().any(|diagnostic| diagnostic.label == label);
        assert!(loaded.program.is_none() && said, "{wrong}: {:?}", loaded.diagnostics);
    }
    let translated = birk_promela::translate(&text("notrace { r?3 }"), &[], &mut |_| Err("there is no file".into()));
    assert!(translated.is_err_and(|unsayable| unsayable.message.starts_with("a `notrace` watches")));
}

/// SPIN puts a semicolon behind `else` where there is none.
#[test]
fn else_needs_no_semicolon() {
    let text = "byte x; active proctype P() {
        do :: x < 3 -> x++ :: else break od; if :: x == 0 -> x = 9 :: else skip fi }";
    assert_eq!(count(text), Some((11, 0)));
}

#[test]
fn broken_texts_are_reported_and_nothing_else_happens() {
    let words =
        ["{", "}", "(", ")", "::", "fi", "od", "->", ";", "!", "?", "[", "]", "#if 1\n", "\n#define g h\n", "\"", "'"];
    let mut broken = 0;
    let many = std::env::var("BIRK_MUTANTS").ok().and_then(|many| many.parse().ok()).unwrap_or(120u64);
    for seed in 0..many {
        let mut random = programs::Random::new(seed + 1000);
        let mut text = programs::program(seed % 300);
        for _ in 0..1 + random.below(3) {
            let at = random.below(text.len() as u64 + 1) as usize;
            match random.below(3) {
                0 if at < text.len() => {
                    text.remove(at);
                }
                1 => text.insert_str(at, words[random.below(words.len() as u64) as usize]),
                _ => text.truncate(at.max(text.len() * 3 / 4)),
            }
        }
        let loaded = load(&text);
        broken += u64::from(loaded.program.is_none());
        assert!(loaded.program.is_some() || !loaded.diagnostics.is_empty(), "nothing is said of seed {seed}");
        for diagnostic in &loaded.diagnostics {
            let text = &loaded.files[diagnostic.span.file as usize].1;
            assert!(text.get(diagnostic.span.range()).is_some(), "{diagnostic:?} is outside of its text");
        }
    }
    assert!(broken > many / 2, "only {broken} of the texts were broken");
}

#[test]
fn a_program_counts_what_it_was_written_to_count() {
    let text = "byte x; active proctype P() { do :: x < 3 -> x++ :: else -> break od }";
    assert_eq!(count(text), Some((9, 0)));
    let text = "chan c = [0] of { byte }; active proctype P() { c!1 } active proctype Q() { byte x; c?x; c?x }";
    assert_eq!(count(text), Some((2, 1)));
}

/// What an `unless` escapes to is itself left for what an outer one escapes to: as many states as SPIN stores.
#[test]
fn an_escape_is_left_for_an_outer_one() {
    for (states, body) in [
        (5, "{ { x = 0 } unless { true; do :: q?x od }; x = 1 } unless { q?[0]; false }"),
        (5, "{ { x = 0 } unless { true; q?x }; x = 1 } unless { q?[0]; false }"),
        (14, "{ { x = 0; x = 3 } unless { true; x = 2; x = 7 }; x = 1 } unless { q?[0]; x = 5 }"),
        (11, "{ { x = 0; x = 3 } unless { true; x = 2; x = 7 } } unless { q?[0]; x = 5 }"),
        (8, "{ { x = 0 } unless { true; do :: q?x :: x = 4 od }; x = 1 } unless { q?[0]; false }"),
        (15, "{ x = 9; { x = 0; x = 3 } unless { q?[0]; x = 2; x = 7 }; x = 6 } unless { q?[0]; x = 5 }"),
    ] {
        let other = "active proctype Q() { do :: q!0 od }";
        let text = format!("chan q = [1] of {{ byte }}; active proctype P() {{ byte x = 8; {body} }} {other}");
        assert_eq!(count(&text).map(|(states, _)| states), Some(states), "{body}");
    }
}

/// Writes programs for SPIN into a folder, with what Birk counts.
fn write(folder: &str, seeds: std::ops::Range<u64>) {
    let mut counts = String::new();
    for seed in seeds {
        // From a million on, something watches the messages.
        let text = if seed < WATCHED { programs::program(seed) } else { programs::watched(seed) };
        let counted = match load(&text).program {
            Some(_) => count(&text).map_or("fault,".into(), |(states, ends)| format!("{states},{ends}")),
            None => format!("refused,{:?}", load(&text).diagnostics.first().map(|diagnostic| &diagnostic.message)),
        };
        std::fs::write(format!("{folder}/{seed}.pml"), text).expect("the folder can be written to");
        counts += &format!("{seed},{counted}\n");
    }
    std::fs::write(format!("{folder}/counts.csv"), counts).expect("the folder can be written to");
}

//! Agreement: random programs, the reference against every engine, and the lowering against the meaning of the tree.
//!
//! `BIRK_AGREEMENT=N` looks at N programs instead of 2000, and instead of 240 with native code, every store and several
//! threads; `BIRK_AGREEMENT_FROM=M` begins with the seed M. A failure names the seed and shows the program.

macro_rules! parts {
    ($look:ident: $($name:ident: $part:literal;)*) => {
        $(#[test] fn $name() { $look($part); })*
    };
}

mod bent_programs;
mod bent_trees;
mod bounded;
mod branching;
mod certificates;
mod collections;
mod counted;
mod coverage;
mod crashes;
mod cuts;
mod dead;
mod directed;
mod explanations;
mod fairness;
mod ic3;
mod inductive;
mod labels;
mod limits;
mod mutants;
mod native;
mod options;
mod parts;
mod reduced_runs;
mod reduction;
mod refinement;
mod regressions;
mod shortest;
mod switches;
mod symmetry;
mod timeouts;
mod wide;
mod words;

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

use birk_agreement::case::{Case, Made};
use birk_agreement::check::{Checked, Subject, check, same};
use birk_agreement::faithful::faithful;
use birk_agreement::random::{Draw as _, Random};
use birk_agreement::{case, hunt, writer};
use birk_engine::{Engine, Job, Limits, Patient};
use birk_exec::Interpreter;
use birk_ir::Stop;
use birk_lang::ast::System;
use birk_search::ENGINES;

/// How many programs are examined, unless the environment says otherwise.
const PROGRAMS: u64 = 2000;
/// How many of them with native code, every store and several threads.
const NATIVE_PROGRAMS: u64 = 240;
/// In how many tests, so that they run beside each other.
const PARTS: u64 = 8;

/// What became of some programs.
#[derive(Debug, Default)]
struct Tally {
    drawn: usize,
    refused: usize,
    too_large: usize,
    states: u64,
    /// Left alone by the engines on sets.
    left: usize,
}

/// Looks at the programs of one part, `usually` so many in all; the first that disagrees is shown.
fn each_program(part: u64, usually: u64, mut look: impl FnMut(u64, &System, &str) -> Checked) {
    for seed in (case::first_seed() + part..case::seeds(usually)).step_by(PARTS as usize) {
        let (system, text) = case::draw(seed);
        if let Err(why) = caught(|| look(seed, &system, &text)) {
            panic!("seed {seed}: {why}\n{text}");
        }
    }
}

/// What is found, or that it panics.
fn caught(look: impl FnOnce() -> Checked) -> Checked {
    catch_unwind(AssertUnwindSafe(look)).unwrap_or(Err("it panics".to_owned()))
}

/// Lowering, reference and engines.
fn agree(part: u64) {
    let mut tally = Tally::default();
    each_program(part, PROGRAMS, |seed, system, text| look(seed, system, text, &mut tally));
    println!("{tally:?}");
    assert!(tally.refused * 20 <= tally.drawn, "more than 5 % of the programs have errors: {tally:?}");
    let unusable = tally.refused + tally.too_large;
    assert!(tally.left * 20 <= tally.drawn, "more than 5 % of the programs are too much for diagrams: {tally:?}");
    assert!(unusable * 5 <= tally.drawn, "more than 20 % of the programs are of no use: {tally:?}");
}

/// Interpreted and compiled, with every store, on several threads.
fn agree_natively(part: u64) {
    let (mut tried, mut compared) = (native::Tried::default(), 0);
    each_program(part, NATIVE_PROGRAMS, |seed, _, text| match case::make(text).usable() {
        Some(case) => {
            words::any_words(&case, seed, &mut compared)?;
            native::agreed(&case, limit(seed, &case), &mut tried)
        }
        None => Ok(()),
    });
    println!("{tried:?}, {compared} words that are no states");
    let least = tried.states.min(tried.shared).min(tried.hashed).min(tried.staged).min(compared);
    assert!(least > 0, "not everything was tried: {tried:?}");
}

parts! {
    agree_natively:
    native_programs_0: 0;
    native_programs_1: 1;
    native_programs_2: 2;
    native_programs_3: 3;
    native_programs_4: 4;
    native_programs_5: 5;
    native_programs_6: 6;
    native_programs_7: 7;
}

parts! {
    agree:
    random_programs_0: 0;
    random_programs_1: 1;
    random_programs_2: 2;
    random_programs_3: 3;
    random_programs_4: 4;
    random_programs_5: 5;
    random_programs_6: 6;
    random_programs_7: 7;
}

/// Everything that must agree about one program.
fn look(seed: u64, system: &System, text: &str, tally: &mut Tally) -> Checked {
    tally.drawn += 1;
    let parsed = birk_lang::parser::parse(text, 0);
    let read = parsed.system.map(|system| writer::normal_form(&system));
    same("what the parser reads", &read, &Some(writer::normal_form(system)))?;
    match case::make(text) {
        Made::Refused(why) => {
            println!("seed {seed} is refused: {why:?}");
            tally.refused += 1;
        }
        Made::TooLarge => tally.too_large += 1,
        Made::Usable(case) => {
            tally.states += case.answer.states;
            agreed(&case, limit(seed, &case), &mut tally.left)?;
        }
    }
    Ok(())
}

/// The parser reads what was written, also of the formatted text, which formatting does not change again.
fn read_back(system: &System, text: &str) -> Checked {
    let read = |text: &str| birk_lang::parser::parse(text, 0).system.map(|system| writer::normal_form(&system));
    let expected = Some(writer::normal_form(system));
    same("what the parser reads", &read(text), &expected)?;
    let format = |text: &str| birk_lang::fmt::format(text).map_err(|_| "it cannot be formatted".to_owned());
    let formatted = format(text)?;
    same("what the parser reads of the formatted text", &read(&formatted), &expected)?;
    same("formatted once more", &format(&formatted)?, &formatted)
}

/// A depth limit to be tried.
fn limit(seed: u64, case: &Case) -> u32 {
    Random::new(seed).between(0, i64::from(case.answer.depth) + 1) as u32
}

/// The lowering keeps the meaning, and every engine finds what there is; the depth is a limit to be tried.
fn agreed(case: &Case, depth: u32, left: &mut usize) -> Checked {
    faithful(&case.system, &case.program, &case.answer).map_err(|why| format!("lowering: {why}"))?;
    ENGINES.iter().try_for_each(|engine| held_against(case, engine, depth))?;
    // They share most of what they do: one of them a program is enough.
    // Bounded model checking counts no states: `bounded` looks at it.
    let sets: Vec<_> = birk_symbolic::ENGINES.iter().filter(|engine| engine.complete).collect();
    sets_held_against(case, sets[case.answer.states as usize % sets.len()], depth, left)
}

/// The same for an engine on sets of states. What it refuses, or has no memory for, is counted and left.
fn sets_held_against(case: &Case, engine: &Engine, depth: u32, left: &mut usize) -> Checked {
    let is_left = Cell::new(false);
    let hunt = |job: &Job| {
        // So many searches are short ones: little memory is made ready sooner.
        let job = Job { limits: Limits { memory: 8 << 20, ..job.limits }, ..job.clone() };
        let hunt = hunt::of_program(engine, &case.program, &case.goals, &job, &mut Patient);
        is_left.set(is_left.get() || hunt.as_ref().map_or(true, |hunt| hunt.stopped == Stop::Memory));
        let model = Interpreter::new(&case.program, &case.goals);
        hunt.unwrap_or_else(|_| hunt::of_model(&ENGINES[0], &model, &job, &mut Patient))
    };
    let subject = Subject { shortest: engine.shortest, hunt: &hunt };
    let checked = check(case, &subject, depth);
    *left += usize::from(is_left.get());
    if is_left.get() { Ok(()) } else { checked.map_err(|why| format!("{}: {why}", engine.name)) }
}

fn held_against(case: &Case, engine: &Engine, depth: u32) -> Checked {
    let model = Interpreter::new(&case.program, &case.goals);
    let hunt = |job: &Job| hunt::of_model(engine, &model, job, &mut Patient);
    let subject = Subject { shortest: engine.shortest, hunt: &hunt };
    check(case, &subject, depth).map_err(|why| format!("{}: {why}", engine.name))
}

#[test]
fn programs_that_were_once_wrong() {
    let mut wrong = Vec::new();
    for (about, text) in regressions::PROGRAMS {
        let agrees = match case::make(text) {
            Made::Refused(why) => Err(format!("refused: {why:?}")),
            Made::TooLarge => Err("too large".to_owned()),
            Made::Usable(case) => (0..=case.answer.depth + 1)
                .try_for_each(|depth| agreed(&case, depth, &mut 0))
                .and_then(|()| native::agreed(&case, 1, &mut native::Tried::default())),
        };
        wrong.extend(agrees.err().map(|why| format!("{about}: {why}")));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

//! Random programs whose threads may crash: the lowering against the meaning of the tree, the reference against every engine,
//! native code, reductions, symmetry, proofs, and what is owed to threads that crash.

use birk_exec::Fairness;
use birk_lang::ast::{Item, System};

use crate::{agreed, caught, dead, fairness, ic3, limit, native, read_back, reduction, symmetry};
use birk_agreement::case::{self, Case, Made};
use birk_agreement::check::Checked;
use birk_agreement::programs::crashing::with_crashes;
use birk_agreement::random::Random;
use birk_agreement::writer;

/// How many programs are examined, unless the environment says otherwise, and in how many tests.
const PROGRAMS: u64 = 240;
const PARTS: u64 = 4;
/// Graphs of fair runs have fewer states than this.
const FEW_STATES: u64 = 200;

#[derive(Debug, Default)]
struct Tally {
    drawn: usize,
    refused: usize,
    too_large: usize,
    /// In which a thread crashes, and in which one runs again.
    crashed: usize,
    restarted: usize,
    /// In which something is lost, and something outlives a crash.
    lost: usize,
    durable: usize,
    /// Left alone by the engines on sets.
    left: usize,
    native: native::Tried,
    fair: fairness::Tally,
    dead: dead::Tally,
    reduced: reduction::Tally,
    symmetric: symmetry::Tally,
    proved: ic3::Tally,
}

fn draw(seed: u64) -> (System, String) {
    let mut system = case::draw(seed).0;
    with_crashes(&mut system, &mut Random::new(seed ^ 0xc7a5));
    let text = writer::text(&system, &mut Random::new(seed ^ 0x5eed));
    (system, text)
}

fn look(seed: u64, tally: &mut Tally) -> Checked {
    let (system, text) = draw(seed);
    tally.drawn += 1;
    read_back(&system, &text)?;
    let case = match case::make(&text) {
        Made::Usable(case) => case,
        Made::Refused(why) => {
            println!("seed {seed} is refused: {why:?}");
            tally.refused += 1;
            return Ok(());
        }
        Made::TooLarge => {
            tally.too_large += 1;
            return Ok(());
        }
    };
    count(&case, tally);
    let depth = limit(seed, &case);
    agreed(&case, depth, &mut tally.left)?;
    match seed / PARTS % 5 {
        0 => native::agreed(&case, depth, &mut tally.native),
        1 => dead::agreed(&case, seed, &mut tally.dead),
        2 => reduction::agreed(&case, seed, &mut tally.reduced),
        3 => symmetry::agreed(&case, &mut tally.symmetric),
        _ => ic3::decided(&case, &mut tally.proved),
    }?;
    match Fairness::weak(&case.program) {
        Ok(weak) if case.answer.states < FEW_STATES => {
            fairness::agree(seed, &case, &weak, &mut tally.fair).map_err(|why| format!("weak fairness: {why}"))
        }
        _ => Ok(()),
    }
}

/// What happens in a program, so that it is seen that enough does.
fn count(case: &Case, tally: &mut Tally) {
    let program = &case.program;
    let is_fired = |leaves: bool| {
        program.transitions.iter().zip(&case.survey.fired).any(|(transition, fired)| {
            let crashed = program.kind_of(transition.thread).crashed;
            let place = if leaves { Some(transition.location) } else { transition.target };
            *fired && crashed.is_some() && place == crashed
        })
    };
    let crashes = is_fired(false);
    tally.crashed += usize::from(crashes);
    tally.restarted += usize::from(is_fired(true));
    let has = |durable: bool| {
        case.system.items.iter().any(|item| match item {
            Item::Thread(thread) => thread.crashes.is_some() && thread.variables.iter().any(|v| v.durable == durable),
            _ => false,
        })
    };
    tally.lost += usize::from(crashes && has(false));
    tally.durable += usize::from(crashes && has(true));
}

fn agree(part: u64) {
    let mut tally = Tally::default();
    for seed in (part..case::seeds(PROGRAMS)).step_by(PARTS as usize) {
        if let Err(why) = caught(|| look(seed, &mut tally)) {
            panic!("seed {seed}: {why}\n{}", draw(seed).1);
        }
    }
    println!("{tally:?}");
    assert!(tally.refused * 20 <= tally.drawn, "more than 5 % of the programs have errors: {tally:?}");
    let usable = tally.drawn - tally.refused - tally.too_large;
    assert!(usable * 2 >= tally.drawn, "more than half of the programs are of no use: {tally:?}");
    let least = tally.crashed.min(tally.restarted).min(tally.lost).min(tally.durable);
    assert!(least * 5 >= usable, "crashes are seldom: {tally:?}");
}

parts! {
    agree:
    programs_with_crashes_0: 0;
    programs_with_crashes_1: 1;
    programs_with_crashes_2: 2;
    programs_with_crashes_3: 3;
}

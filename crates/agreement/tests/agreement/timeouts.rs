//! Random programs with `timeout`: the lowering against the meaning of the tree, the reference against every engine that
//! takes them. The others refuse them.

use birk_engine::{Job, Limits, Patient};
use birk_exec::Fairness;
use birk_ir::Expr;
use birk_lang::ast::System;

use crate::{fairness, held_against, limit, read_back, same};
use birk_agreement::case::{self, Case, Made};
use birk_agreement::check::Checked;
use birk_agreement::faithful::faithful;
use birk_agreement::programs::late::with_timeouts;
use birk_agreement::random::Random;
use birk_agreement::{hunt, writer};

/// How many programs are examined, unless the environment says otherwise, and in how many tests.
const PROGRAMS: u64 = 600;
const PARTS: u64 = 4;
const REASON: &str = "`timeout` asks whether any other step is possible";

#[derive(Debug, Default)]
struct Tally {
    drawn: usize,
    unusable: usize,
    /// In which a step that waits for `timeout` is taken.
    late: usize,
    /// In which one step is two transitions.
    split: usize,
    fair: fairness::Tally,
}

fn draw(seed: u64) -> (System, String) {
    let mut system = case::draw(seed).0;
    with_timeouts(&mut system, &mut Random::new(seed ^ 0x71e0));
    let text = writer::text(&system, &mut Random::new(seed ^ 0x5eed));
    (system, text)
}

fn asks(case: &Case, transition: usize) -> bool {
    let mut found = false;
    case.program.transitions[transition].guard.walk(&mut |part| found |= *part == Expr::Stuck);
    found
}

fn look(seed: u64, tally: &mut Tally) -> Checked {
    let (system, text) = draw(seed);
    tally.drawn += 1;
    read_back(&system, &text)?;
    let case = match case::make(&text) {
        Made::Usable(case) => case,
        Made::Refused(why) => {
            println!("seed {seed} is refused: {why:?}");
            tally.unusable += 1;
            return Ok(());
        }
        Made::TooLarge => {
            tally.unusable += 1;
            return Ok(());
        }
    };
    let fired = &case.survey.fired;
    tally.late += usize::from((0..fired.len()).any(|id| fired[id] && asks(&case, id)));
    let transitions = &case.program.transitions;
    let is_split = |id: usize| transitions[id].span == transitions[id + 1].span && asks(&case, id + 1);
    tally.split += usize::from((0..transitions.len().saturating_sub(1)).any(is_split));
    faithful(&case.system, &case.program, &case.answer).map_err(|why| format!("lowering: {why}"))?;
    let depth = limit(seed, &case);
    birk_search::ENGINES.iter().try_for_each(|engine| held_against(&case, engine, depth))?;
    if case.program.has_timeout() {
        refused(&case)?;
    }
    match Fairness::weak(&case.program) {
        Ok(weak) => fairness::agree(seed, &case, &weak, &mut tally.fair).map_err(|why| format!("weak fairness: {why}")),
        Err(_) => Ok(()),
    }
}

/// Nobody answers who does not know which steps there are.
fn refused(case: &Case) -> Checked {
    for engine in birk_symbolic::ENGINES {
        let job = Job::new(case.goals.len(), Limits::NONE);
        let answer = hunt::of_program(engine, &case.program, &case.goals, &job, &mut Patient);
        let is_refused = answer.as_ref().is_err_and(|why| why.contains(REASON));
        same(&format!("{} refuses", engine.name), &is_refused, &true)?;
    }
    let native = birk_jit::Compiled::new(&case.program, &case.goals);
    same("native code is refused", &native.is_err_and(|why| why.contains(REASON)), &true)
}

fn agree(part: u64) {
    let mut tally = Tally::default();
    for seed in (part..case::seeds(PROGRAMS)).step_by(PARTS as usize) {
        if let Err(why) = look(seed, &mut tally) {
            panic!("seed {seed}: {why}\n{}", draw(seed).1);
        }
    }
    println!("{tally:?}");
    assert!(tally.unusable * 4 <= tally.drawn, "more than 25 % of the programs are of no use: {tally:?}");
    assert!(tally.late * 5 >= tally.drawn && tally.split > 0, "it is seldom waited for: {tally:?}");
}

parts! {
    agree:
    programs_with_timeout_0: 0;
    programs_with_timeout_1: 1;
    programs_with_timeout_2: 2;
    programs_with_timeout_3: 3;
}

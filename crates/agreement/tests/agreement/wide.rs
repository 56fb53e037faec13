//! Wide states: random programs with an array of which few elements are used, far apart.
//!
//! How far is a constant of the program. Whatever it is, there are the same states and steps: so the reference looks at the
//! narrow program, and the engines at the wide one, interpreted and compiled, with every store, on 1, 2 and 8 threads.

use birk_lang::load;

use crate::native::{self, Tried};
use birk_agreement::case::{self, Case, draw, goals_of, seeds};
use birk_agreement::programs::SPREAD;

/// How many bytes the state of a wide program has, about.
const BYTES: [usize; 2] = [16_000, 200_000];
/// So many programs for each of them, unless the environment says otherwise, and at most so many states of each.
const PROGRAMS: u64 = 4;
const FEW_STATES: u64 = 120;
/// And some level has at least so many.
const SHARED: u64 = 16;

/// A program made wide, with what is known about it.
fn widened(text: &str, bytes: usize) -> Option<Case> {
    if !text.contains(SPREAD) {
        return None;
    }
    // A level with some states can be shared by threads.
    let is_fit = |case: &Case| {
        (20..FEW_STATES).contains(&case.answer.states) && case.answer.levels.iter().any(|&states| states >= SHARED)
    };
    let narrow = case::make(text).usable().filter(is_fit)?;
    let spread = [(SPREAD.to_owned(), (bytes / 2).to_string())];
    let mut program = load(text, &spread).program.expect("the constant changes nothing else");
    program.properties.retain(|property| !property.is_of_runs());
    assert!(program.layout.words() * 4 >= bytes, "a state has {} words only", program.layout.words());
    let goals = goals_of(&program);
    Some(Case { program, goals, ..narrow })
}

/// Half of the programs of one width.
fn wide_states(part: u64) {
    let mut tried = Tried::default();
    let (bytes, half) = (BYTES[part as usize / 2], part as usize % 2);
    let cases = (0..).filter_map(|seed| {
        let text = draw(seed).1;
        widened(&text, bytes).map(|case| (seed, text, case))
    });
    let each = seeds(PROGRAMS).div_ceil(2) as usize;
    for (seed, text, case) in cases.skip(half * each).take(each) {
        let checked = native::agreed(&case, 2, &mut tried);
        checked.unwrap_or_else(|why| panic!("seed {seed}, {bytes} bytes: {why}\n{text}"));
    }
    println!("{tried:?}");
    assert!(tried.states.min(tried.shared).min(tried.staged) > 0, "not everything was tried: {tried:?}");
}

parts! {
    wide_states:
    wide_states_are_searched_as_narrow_ones_0: 0;
    wide_states_are_searched_as_narrow_ones_1: 1;
    wide_states_are_searched_as_narrow_ones_2: 2;
    wide_states_are_searched_as_narrow_ones_3: 3;
}

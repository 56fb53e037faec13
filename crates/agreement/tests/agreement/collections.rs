//! Random programs with sequences, maps and broadcasts: the lowering against the meaning of the tree, the reference against
//! every engine, native code, reductions, symmetry and proofs.

use birk_lang::ast::System;

use crate::{agreed, caught, dead, ic3, limit, native, read_back, reduction, symmetry};
use birk_agreement::case::{self, Made};
use birk_agreement::check::Checked;

/// How many programs are examined, unless the environment says otherwise, and in how many tests.
const PROGRAMS: u64 = 120;
const PARTS: u64 = 4;
/// So far apart are the seeds of programs that are drawn until one has what is wanted.
const STRIDE: u64 = 1 << 24;
/// So often one is drawn.
const DRAWS: u64 = 1000;

/// What is wanted (one of the first three of each program), and how many programs of a hundred have it at least.
const WANTED: [(&str, usize); 8] = [
    ("sequence of", 30),
    ("map of", 30),
    ("broadcast c", 25),
    ("append(", 15),
    ("tail(", 10),
    ("remove(", 10),
    ("keys(", 5),
    ("head(", 5),
];

#[derive(Debug, Default)]
struct Tally {
    drawn: usize,
    refused: usize,
    too_large: usize,
    /// By what is wanted.
    with: [usize; WANTED.len()],
    /// Left alone by the engines on sets.
    left: usize,
    native: native::Tried,
    dead: dead::Tally,
    reduced: reduction::Tally,
    symmetric: symmetry::Tally,
    proved: ic3::Tally,
}

fn draw(seed: u64) -> (System, String) {
    let wanted = seed as usize % 3;
    let (word, _) = WANTED[wanted];
    // Channels are in programs of statements.
    let first = if wanted == 2 { seed | 1 } else { seed };
    let mut drawn = (0..DRAWS).map(|draw| case::draw(first + draw * STRIDE));
    drawn.find(|(_, text)| text.contains(word)).expect("each is in some of so many programs")
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
    for ((word, _), with) in WANTED.iter().zip(&mut tally.with) {
        *with += usize::from(text.contains(word));
    }
    let depth = limit(seed, &case);
    agreed(&case, depth, &mut tally.left)?;
    match seed / PARTS % 5 {
        0 => native::agreed(&case, depth, &mut tally.native),
        1 => dead::agreed(&case, seed, &mut tally.dead),
        2 => reduction::agreed(&case, seed, &mut tally.reduced),
        3 => symmetry::agreed(&case, &mut tally.symmetric),
        _ => ic3::decided(&case, &mut tally.proved),
    }
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
    for ((word, least), with) in WANTED.iter().zip(tally.with) {
        assert!(with * 100 >= least * usable, "`{word}` is seldom: {tally:?}");
    }
}

parts! {
    agree:
    programs_with_collections_0: 0;
    programs_with_collections_1: 1;
    programs_with_collections_2: 2;
    programs_with_collections_3: 3;
}

//! Models of the corpus, encoded, for the tests of what works on diagrams.

use crate::apart::Line;
use crate::diagram::{Attempt, Set};
use crate::encoding::Encoding;
use crate::expression::Ground;
use crate::relation::Relation;
use crate::search::Watch;
use crate::value::Arithmetic;

/// A model of the corpus: its name and its text.
pub(crate) type Model = (&'static str, &'static str);

macro_rules! model {
    ($name:literal) => {
        ($name, include_str!(concat!("../../../models/", $name, ".bir")))
    };
}

/// Small models of many kinds: circuits, choices, faults, channels, arrays.
pub(crate) const MODELS: [Model; 12] = [
    model!("dme_2"),
    model!("dme_module_2"),
    model!("tree_arbiter_module_4"),
    model!("tree_arbiter_buggy_2"),
    model!("peterson_filter"),
    model!("german"),
    model!("division_by_zero"),
    model!("index_out_of_range"),
    model!("philosophers_ring"),
    model!("sliding_window"),
    model!("dice"),
    model!("elevator"),
];

/// Something with the encoding of a model, its relation, where a check has failed, and a watch that lets it go on.
pub(crate) fn with(
    (name, text): Model,
    check: impl FnOnce(&Encoding<'_>, &Relation, &Set, &mut Watch<'_>) -> Attempt<()>,
) {
    let program = birk_lang::load(text, &[]).program.expect("the corpus is right");
    let attempt = || {
        let encoding = Encoding::new(&program, 64 << 20)?;
        let relation = Relation::new(&encoding, &mut || Ok(()))?;
        let faulty = match program.fault {
            Some(flag) => encoding.diagrams.truth(encoding.value(flag, 0))?,
            None => encoding.diagrams.no.clone(),
        };
        let line = Line::default();
        check(&encoding, &relation, &faulty, &mut Watch::new(&line))
    };
    attempt().unwrap_or_else(|broken| panic!("{name}: {broken:?}"));
}

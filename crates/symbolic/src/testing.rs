//! Models of the corpus, encoded, for the tests of what works on diagrams.

use birk_ir::Program;

use crate::apart::Line;
use crate::diagram::{Attempt, Set};
use crate::encoding::Encoding;
use crate::expression::Ground;
use crate::relation::Relation;
use crate::search::Watch;
use crate::value::Arithmetic;

/// Small models of many kinds: circuits, choices, faults, channels, arrays.
pub(crate) const MODELS: [&str; 12] = [
    "dme_2",
    "dme_module_2",
    "tree_arbiter_module_4",
    "tree_arbiter_buggy_2",
    "peterson_filter",
    "german",
    "division_by_zero",
    "index_out_of_range",
    "philosophers_ring",
    "sliding_window",
    "dice",
    "elevator",
];

/// A model of the corpus.
pub(crate) fn load(model: &str) -> Program {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models");
    let text = std::fs::read_to_string(folder.join(format!("{model}.bir"))).expect("the model is there");
    birk_lang::load(&text, &[]).program.expect("the corpus is right")
}

/// Something with the encoding of a model, its relation, where a check has failed, and a watch that lets it go on.
pub(crate) fn with(model: &str, check: impl FnOnce(&Encoding<'_>, &Relation, &Set, &mut Watch<'_>) -> Attempt<()>) {
    let program = load(model);
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
    attempt().unwrap_or_else(|broken| panic!("{model}: {broken:?}"));
}

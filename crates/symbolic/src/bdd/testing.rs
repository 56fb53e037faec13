//! Models of the corpus, encoded, for the tests of what works on diagrams.

use std::collections::HashSet;

use birk_engine::{Model as _, Successors};
use birk_exec::Interpreter;
use birk_ir::Program;

use crate::attempt::Attempt;
use crate::bdd::diagram::Set;
use crate::bdd::encoding::Encoding;
use crate::bdd::relation::Relation;
use crate::bdd::search::Watch;
use crate::bitvector::Arithmetic;
use crate::cancellable::Line;
use crate::expression::Ground;

/// A model of the corpus: its name and its text.
pub(crate) type Model = (&'static str, &'static str);

macro_rules! model {
    ($name:literal) => {
        ($name, include_str!(concat!("../../../../models/", $name, ".bir")))
    };
}

/// Two that stay small whatever is done to them.
pub(crate) const FEW: [Model; 2] = [model!("tree_arbiter_2"), model!("philosophers_ring")];

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
    check: impl FnOnce(&Encoding<'_>, &mut Relation, &Set, &mut Watch<'_>) -> Attempt<()>,
) {
    let program = birk_lang::load(text, &[]).program.expect("the corpus is right");
    let attempt = || {
        let encoding = Encoding::new(&program, 64 << 20)?;
        let mut relation = Relation::new(&encoding, &mut || Ok(()))?;
        let faulty = match program.fault {
            Some(flag) => encoding.diagrams.truth(encoding.value(flag, 0))?,
            None => encoding.diagrams.no.clone(),
        };
        let line = Line::default();
        check(&encoding, &mut relation, &faulty, &mut Watch::new(&line))
    };
    attempt().unwrap_or_else(|broken| panic!("{name}: {broken:?}"));
}

/// The states that explicit search reaches, until there are so many.
pub(crate) fn reachable(program: &Program, most: usize) -> Vec<Vec<u32>> {
    let model = Interpreter::new(program, &[]);
    let mut states = program.initial_states();
    let mut seen: HashSet<Vec<u32>> = states.iter().cloned().collect();
    let mut next = 0;
    while next < states.len() && states.len() < most {
        let mut successors = Successors::new(model.words());
        model.successors(&states[next], &mut successors);
        next += 1;
        for index in 0..successors.len() {
            let state = successors.state(index).to_vec();
            if seen.insert(state.clone()) {
                states.push(state);
            }
        }
    }
    states
}

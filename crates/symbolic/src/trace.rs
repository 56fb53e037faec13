//! A shortest run to a state: back through the layers, one state of each.
//!
//! Which step leads from one state to the next is asked of the interpreter, so that a trace is never the word of
//! diagrams or clauses alone.

use birk_exec::{Interpreter, Model, Successors};
use birk_ir::{Program, Step, Trace};

use crate::diagram::{Attempt, Set};
use crate::encoding::Encoding;
use crate::relation::Relation;

/// The run through `layers`, one step a layer, that ends in a state of the next.
pub(crate) fn rebuild(encoding: &Encoding<'_>, relation: &Relation, layers: &[Set], end: &[u32]) -> Attempt<Trace> {
    let mut states = vec![end.to_vec()];
    for layer in layers.iter().rev() {
        let last = states.last().expect("the end is there");
        states.push(predecessor(encoding, relation, layer, last)?);
    }
    states.reverse();
    Ok(through(encoding.program, &states))
}

/// The run through these states.
pub(crate) fn through(program: &Program, states: &[Vec<u32>]) -> Trace {
    let model = Interpreter::new(program, &[]);
    let steps = states.windows(2).map(|pair| step(&model, &pair[0], &pair[1])).collect();
    Trace { initial: 0, steps, loop_start: None }
}

fn predecessor(encoding: &Encoding<'_>, relation: &Relation, layer: &Set, state: &[u32]) -> Attempt<Vec<u32>> {
    let (bits, single) = (encoding.bits_of(state), encoding.single(state)?);
    for piece in &relation.pieces {
        let origins = piece.origins(&encoding.diagrams, layer, &bits, &single)?;
        if let Some(origin) = encoding.pick(&origins) {
            return Ok(origin);
        }
    }
    unreachable!("a state of a layer has a predecessor in the layer before it")
}

fn step(model: &Interpreter<'_>, from: &[u32], to: &[u32]) -> Step {
    let mut successors = Successors::new(model.words());
    model.successors(from, &mut successors);
    let found = (0..successors.len()).find(|&index| successors.state(index) == to);
    successors.step(found.expect("an engine on sets knows the successors"))
}

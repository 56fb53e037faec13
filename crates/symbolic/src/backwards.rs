//! What steps lead into a set of states: the pieces of the relation, read from their ends.
//!
//! What a piece sets directly is known before the step, so it is put in place of the bit that was written; only
//! bits whose new value stands in the relation need their second bit here, too.

use birk_ir::TransitionId;

use crate::diagram::{Attempt, Diagrams, Renaming, Set};
use crate::encoding::{Encoding, after};
use crate::relation::{Piece, Relation};
use crate::value::Algebra;

/// A piece, backwards.
pub(crate) struct Back {
    pub(crate) transition: TransitionId,
    /// Where it happens, with the new values of the bits that need one after the step.
    relation: Set,
    /// The bits before the step take the places of those after it.
    renaming: Option<Renaming>,
    /// The bits after the step, which are then forgotten.
    renamed: Set,
    /// The bits that are set directly, as one condition on the state after the step, and they alone.
    direct: Set,
    direct_bits: Set,
}

/// All pieces of a relation that end in a state, in their order.
pub(crate) fn backwards(encoding: &Encoding<'_>, relation: &Relation, faulty: &Set) -> Attempt<Vec<Back>> {
    let mut backs = Vec::new();
    for piece in &relation.pieces {
        // What ends in a failing check leads to no state.
        let ends = encoding.diagrams.minus(&piece.image(&encoding.diagrams, &encoding.diagrams.yes)?, faulty)?;
        if ends != encoding.diagrams.no {
            backs.push(Back::new(&encoding.diagrams, piece)?);
        }
    }
    Ok(backs)
}

impl Back {
    pub(crate) fn new(diagrams: &Diagrams, piece: &Piece) -> Attempt<Self> {
        let cube = |bits: &mut dyn Iterator<Item = u32>| {
            let literals: Vec<(u32, bool)> = bits.map(|bit| (bit, true)).collect();
            diagrams.cube(&literals)
        };
        let renaming = (!piece.renamed.is_empty()).then(|| {
            let bits = piece.renamed.iter().map(|&place| diagrams.bit(after(place))).collect::<Attempt<Vec<Set>>>()?;
            Ok(Renaming::new(piece.renamed.clone(), bits))
        });
        Ok(Self {
            transition: piece.transition,
            relation: piece.relation.clone(),
            renaming: renaming.transpose()?,
            renamed: cube(&mut piece.renamed.iter().map(|&place| after(place)))?,
            direct: piece.direct.clone(),
            direct_bits: cube(&mut piece.direct_bits.iter().map(|(place, _)| *place))?,
        })
    }

    /// The states from which it leads into these.
    pub(crate) fn before(&self, diagrams: &Diagrams, states: &Set) -> Attempt<Set> {
        let mut ends = diagrams.and_exists(states, &self.direct, &self.direct_bits)?;
        if ends == diagrams.no {
            return Ok(ends);
        }
        if let Some(renaming) = &self.renaming {
            ends = diagrams.rename(&ends, renaming)?;
        }
        diagrams.and_exists(&ends, &self.relation, &self.renamed)
    }
}

//! Preimages: the states from which a step leads into a set of states.
//!
//! What an event sets directly is known before the step, so it is put in place of the bit that was written; only
//! bits whose new value stands in the relation need their second bit here, too.

use birk_ir::TransitionId;

use crate::attempt::Attempt;
use crate::bdd::diagram::{Diagrams, Renaming, Set};
use crate::bdd::encoding::{Encoding, after};
use crate::bdd::relation::{Event, Relation};
use crate::bitvector::Algebra;

/// The preimage of an event.
pub(crate) struct Preimage {
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

/// All events of a relation that end in a state, in their order.
pub(crate) fn preimages(encoding: &Encoding<'_>, relation: &Relation, faulty: &Set) -> Attempt<Vec<Preimage>> {
    let mut preimages = Vec::new();
    for event in &relation.events {
        // What ends in a failing check leads to no state.
        let ends = encoding.diagrams.minus(&event.image(&encoding.diagrams, &encoding.diagrams.yes)?, faulty)?;
        if ends != encoding.diagrams.no {
            preimages.push(Preimage::new(&encoding.diagrams, event)?);
        }
    }
    Ok(preimages)
}

impl Preimage {
    pub(crate) fn new(diagrams: &Diagrams, event: &Event) -> Attempt<Self> {
        let cube = |bits: &mut dyn Iterator<Item = u32>| {
            let literals: Vec<(u32, bool)> = bits.map(|bit| (bit, true)).collect();
            diagrams.cube(&literals)
        };
        let renaming = (!event.renamed.is_empty()).then(|| {
            let bits = event.renamed.iter().map(|&place| diagrams.bit(after(place))).collect::<Attempt<Vec<Set>>>()?;
            Ok(Renaming::new(event.renamed.clone(), bits))
        });
        Ok(Self {
            transition: event.transition,
            relation: event.relation.clone(),
            renaming: renaming.transpose()?,
            renamed: cube(&mut event.renamed.iter().map(|&place| after(place)))?,
            direct: event.direct.clone(),
            direct_bits: cube(&mut event.direct_bits.iter().map(|(place, _)| *place))?,
        })
    }

    /// The states from which it leads into these.
    pub(crate) fn of(&self, diagrams: &Diagrams, states: &Set) -> Attempt<Set> {
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

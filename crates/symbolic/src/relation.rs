//! What steps do to sets of states: one piece for each way in which a transition can end.
//!
//! A piece quantifies and renames only the bits that it writes. And of these only those whose new value depends on
//! a bit that is written too (or on a choice) need a bit for "after the step": the others are forgotten and then set,
//! which is all that happens in most models, where locations and flags are set to constants.

use birk_ir::TransitionId;

use crate::diagram::{Attempt, Count, Diagrams, Renaming, Set};
use crate::encoding::{Bits, Encoding, after};
use crate::pieces::Builder;
use crate::value::Algebra;

/// All steps of a program.
pub(crate) struct Relation {
    pub(crate) pieces: Vec<Piece>,
    /// Outcomes that an `assume` cuts.
    pub(crate) cuts: Vec<Outcomes>,
    /// Where there is no step, taken or cut.
    pub(crate) stuck: Set,
}

/// Where something happens: states, and for each the choices with which it does.
pub(crate) struct Outcomes {
    pub(crate) set: Set,
    pub(crate) choice_bits: u32,
}

/// One way in which a transition can end: in a state, or in one of its checks.
pub(crate) struct Piece {
    pub(crate) transition: TransitionId,
    pub(crate) outcomes: Outcomes,
    /// When it happens, and the new values of the bits that need one after the step.
    pub(crate) relation: Set,
    /// The bits it writes, as they are before the step.
    pub(crate) forgotten: Set,
    /// The bits after the step take the places of those before it.
    pub(crate) renaming: Option<Renaming>,
    /// The bits that are set directly, as one condition on the state after the step.
    pub(crate) direct: Set,
    /// The same by place, with the new value.
    pub(crate) direct_bits: Vec<(u32, Set)>,
    /// The places whose new value is in the relation.
    pub(crate) renamed: Vec<u32>,
}

impl Relation {
    /// Encodes all transitions; `looked` is called after each.
    pub(crate) fn new(encoding: &Encoding<'_>, looked: &mut dyn FnMut() -> Attempt<()>) -> Attempt<Self> {
        let mut relation = Self { pieces: Vec::new(), cuts: Vec::new(), stuck: encoding.diagrams.yes.clone() };
        let mut enabled = Vec::new();
        for id in (0..encoding.program.transitions.len()).map(TransitionId::new) {
            Builder::new(encoding, id)?.run(0, &mut relation, &mut enabled)?;
            looked()?;
        }
        relation.stuck = encoding.diagrams.not(&encoding.diagrams.any(enabled)?)?;
        Ok(relation)
    }

    /// Puts the pieces into the order of the first bit that they look at or change, the last first.
    pub(crate) fn bottom_up(&mut self, diagrams: &Diagrams) {
        self.pieces.sort_by_cached_key(|piece| {
            let parts = [&piece.relation, &piece.forgotten, &piece.direct];
            std::cmp::Reverse(parts.map(|part| diagrams.top(part)).into_iter().min())
        });
    }

    /// Steps that can be taken from these states.
    pub(crate) fn steps(&self, encoding: &Encoding<'_>, states: &Set) -> Attempt<Count> {
        total(encoding, states, self.pieces.iter().map(|piece| &piece.outcomes))
    }

    /// Outcomes from these states that an `assume` cuts.
    pub(crate) fn cut(&self, encoding: &Encoding<'_>, states: &Set) -> Attempt<Count> {
        total(encoding, states, self.cuts.iter())
    }
}

fn total<'o>(encoding: &Encoding<'_>, states: &Set, outcomes: impl Iterator<Item = &'o Outcomes>) -> Attempt<Count> {
    let mut sum = Count::from(0u32);
    for outcomes in outcomes {
        let here = encoding.diagrams.and(states, &outcomes.set)?;
        sum = sum + encoding.diagrams.count(&here, encoding.bits + outcomes.choice_bits);
    }
    Ok(sum)
}

impl Piece {
    /// Whether it happens in one of these states.
    pub(crate) fn is_enabled(&self, diagrams: &Diagrams, states: &Set) -> Attempt<bool> {
        Ok(diagrams.and(states, &self.outcomes.set)? != diagrams.no)
    }

    /// The states in which it happens, with some choice.
    pub(crate) fn possible(&self, diagrams: &Diagrams) -> Attempt<Set> {
        let after: Vec<(u32, bool)> = self.renamed.iter().map(|&place| (after(place), true)).collect();
        diagrams.exists(&self.relation, &diagrams.cube(&after)?)
    }

    /// The states to which it leads.
    pub(crate) fn image(&self, diagrams: &Diagrams, states: &Set) -> Attempt<Set> {
        let mut image = diagrams.and_exists(states, &self.relation, &self.forgotten)?;
        if let Some(renaming) = &self.renaming {
            image = diagrams.rename(&image, renaming)?;
        }
        diagrams.and(&image, &self.direct)
    }

    /// The states among these from which it leads to this one, given by its bits.
    pub(crate) fn origins(&self, diagrams: &Diagrams, among: &Set, bits: &Bits) -> Attempt<Set> {
        let is_written =
            |place: u32| self.renamed.contains(&place) || self.direct_bits.iter().any(|(p, _)| *p == place);
        let kept: Vec<(u32, bool)> =
            bits.iter().filter(|&(&place, _)| !is_written(place)).map(|(&place, &bit)| (place, bit)).collect();
        let mut origins = diagrams.and(among, &diagrams.cube(&kept)?)?;
        let renamed: Vec<(u32, bool)> = self.renamed.iter().map(|&place| (after(place), bits[&place])).collect();
        let relation = diagrams.restrict(&self.relation, &diagrams.cube(&renamed)?)?;
        origins = diagrams.and(&origins, &relation)?;
        for (place, value) in &self.direct_bits {
            origins = diagrams.and(&origins, &diagrams.same(value, diagrams.constant(bits[place]))?)?;
        }
        Ok(origins)
    }
}

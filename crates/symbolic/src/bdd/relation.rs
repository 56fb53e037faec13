//! The transition relation, disjunctively partitioned (Burch, Clarke and Long 1991): one event for each way in which a
//! transition can end.
//!
//! An event quantifies and renames only the bits that it writes. And of these only those whose new value depends on
//! a bit that is written too (or on a choice) need a bit for "after the step": the others are forgotten and then set,
//! which is all that happens in most models, where locations and flags are set to constants.

use birk_ir::TransitionId;

use crate::attempt::Attempt;
use crate::bdd::condition::{FEW_NODES, joined};
use crate::bdd::diagram::{Diagrams, Renaming, Set};
use crate::bdd::encoding::{Bits, Encoding, after};
use crate::bdd::partition::Builder;
use crate::bitvector::Algebra;

/// All steps of a program.
pub(crate) struct Relation {
    pub(crate) events: Vec<Event>,
    /// Outcomes that an `assume` cuts.
    pub(crate) cuts: Vec<Outcomes>,
    /// Where there is a step, taken or cut: in all of these together.
    pub(crate) enabled: Vec<Set>,
    /// Where there is none, for who asks it of all states at once: known when the search is settled.
    pub(crate) stuck: Set,
}

/// Where something happens: states, and for each the choices with which it does.
pub(crate) struct Outcomes {
    pub(crate) set: Set,
    pub(crate) choice_bits: u32,
}

/// One way in which a transition can end: in a state, or in one of its checks.
pub(crate) struct Event {
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

/// The bits after the step take the places of those before it.
pub(crate) fn back_in_place(diagrams: &Diagrams, renamed: &[u32]) -> Attempt<Option<Renaming>> {
    if renamed.is_empty() {
        return Ok(None);
    }
    let bits = renamed.iter().map(|&place| diagrams.bit(place)).collect::<Attempt<Vec<Set>>>()?;
    Ok(Some(Renaming::new(renamed.iter().map(|&place| after(place)).collect(), bits)))
}

impl Relation {
    /// Encodes all transitions; `looked` is called after each.
    pub(crate) fn new(encoding: &Encoding<'_>, looked: &mut dyn FnMut() -> Attempt<()>) -> Attempt<Self> {
        let stuck = encoding.diagrams.no.clone();
        let mut relation = Self { events: Vec::new(), cuts: Vec::new(), enabled: Vec::new(), stuck };
        for id in (0..encoding.program.transitions.len()).map(TransitionId::new) {
            Builder::new(encoding, id)?.run(0, &mut relation)?;
            looked()?;
            encoding.diagrams.tidy();
        }
        relation.enabled = joined(&encoding.diagrams, std::mem::take(&mut relation.enabled), FEW_NODES)?;
        Ok(relation)
    }
}

impl Event {
    /// The event of which this is all: when it happens, and for the bits that it writes the new values after the step.
    pub(crate) fn of(diagrams: &Diagrams, transition: TransitionId, all: &Set, written: &[u32]) -> Attempt<Self> {
        let cube =
            |bits: &mut dyn Iterator<Item = u32>| diagrams.cube(&bits.map(|bit| (bit, true)).collect::<Vec<_>>());
        let forgotten = cube(&mut written.iter().copied())?;
        let vanishing = diagrams.and(&forgotten, &cube(&mut written.iter().map(|&place| after(place)))?)?;
        let (mut direct, mut direct_bits, mut renamed) = (Vec::new(), Vec::new(), Vec::new());
        for &place in written {
            let bit = diagrams.bit(after(place))?;
            let set = diagrams.and_exists(all, &bit, &vanishing)?;
            let unset = diagrams.and_exists(all, &diagrams.not(&bit)?, &vanishing)?;
            if diagrams.and(&set, &unset)? == diagrams.no {
                direct.push(diagrams.same(&diagrams.bit(place)?, &set)?);
                direct_bits.push((place, set));
            } else {
                renamed.push(place);
            }
        }
        let known = cube(&mut direct_bits.iter().map(|(place, _)| after(*place)))?;
        let relation = diagrams.exists(all, &known)?;
        Ok(Self {
            transition,
            outcomes: Outcomes { set: relation.clone(), choice_bits: 0 },
            relation,
            forgotten,
            renaming: back_in_place(diagrams, &renamed)?,
            direct: diagrams.all(direct)?,
            direct_bits,
            renamed,
        })
    }

    /// When it happens, and the new values of all bits that it writes.
    pub(crate) fn all(&self, diagrams: &Diagrams) -> Attempt<Set> {
        let mut parts = vec![self.relation.clone()];
        for (place, value) in &self.direct_bits {
            parts.push(diagrams.same(&diagrams.bit(after(*place))?, value)?);
        }
        diagrams.all(parts)
    }

    /// The places of the bits that it writes.
    pub(crate) fn written(&self) -> impl Iterator<Item = u32> {
        self.renamed.iter().copied().chain(self.direct_bits.iter().map(|(place, _)| *place))
    }

    /// The states in which it happens, with some choice.
    pub(crate) fn possible(&self, diagrams: &Diagrams) -> Attempt<Set> {
        let after: Vec<(u32, bool)> = self.renamed.iter().map(|&place| (after(place), true)).collect();
        diagrams.exists(&self.relation, &diagrams.cube(&after)?)
    }

    /// The states to which it leads.
    pub(crate) fn image(&self, diagrams: &Diagrams, states: &Set) -> Attempt<Set> {
        self.image_by(&self.relation, diagrams, states)
    }

    /// The same by another relation, which says the same of these states.
    pub(crate) fn image_by(&self, relation: &Set, diagrams: &Diagrams, states: &Set) -> Attempt<Set> {
        let mut image = diagrams.and_exists(states, relation, &self.forgotten)?;
        // Mostly it does not happen here, and to rename takes a look at every bit there is.
        if image == diagrams.no {
            return Ok(image);
        }
        if let Some(renaming) = &self.renaming {
            image = diagrams.rename(&image, renaming)?;
        }
        diagrams.and(&image, &self.direct)
    }

    /// The states among these from which it leads to this one, given by its bits and as a set.
    pub(crate) fn origins(&self, diagrams: &Diagrams, among: &Set, bits: &Bits, single: &Set) -> Attempt<Set> {
        // Where all that it does not write is as in this one.
        let mut origins = diagrams.and(among, &diagrams.exists(single, &self.forgotten)?)?;
        if origins == diagrams.no {
            return Ok(origins);
        }
        let renamed: Vec<(u32, bool)> = self.renamed.iter().map(|&place| (after(place), bits[&place])).collect();
        let relation = diagrams.restrict(&self.relation, &diagrams.cube(&renamed)?)?;
        origins = diagrams.and(&origins, &relation)?;
        for (place, value) in &self.direct_bits {
            origins = diagrams.and(&origins, &diagrams.same(value, diagrams.constant(bits[place]))?)?;
        }
        Ok(origins)
    }
}

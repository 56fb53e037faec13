//! A shortest run to a state: back through the layers, one state of each.

use std::collections::{BTreeSet, HashMap};

use birk_ir::Trace;

use crate::attempt::Attempt;
use crate::bdd::diagram::{Diagrams, Set};
use crate::bdd::encoding::{Bits, Encoding};
use crate::bdd::relation::Relation;
use crate::trace::through;

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

fn predecessor(encoding: &Encoding<'_>, relation: &Relation, layer: &Set, state: &[u32]) -> Attempt<Vec<u32>> {
    let (bits, single) = (encoding.bits_of(state), encoding.single(state)?);
    let mut beside = Beside::new(&encoding.diagrams, &bits, layer);
    for event in &relation.events {
        if !beside.has(&event.written().collect()) {
            continue;
        }
        let origins = event.origins(&encoding.diagrams, layer, &bits, &single)?;
        if let Some(origin) = encoding.pick(&origins) {
            return Ok(origin);
        }
    }
    unreachable!("a state of a layer has a predecessor in the layer before it")
}

/// Which states of a layer differ from a given one in some bits only. It is asked for every event, of which most have
/// not led to the state: so it makes no diagrams, and looks at no more than lies between the first and the last of the bits.
struct Beside<'d> {
    diagrams: &'d Diagrams,
    bits: &'d Bits,
    /// The parts of the layer on the way of the state.
    way: Vec<Set>,
    /// Whether the way of the state leads on from a part to its end.
    known: HashMap<Set, bool>,
}

impl<'d> Beside<'d> {
    fn new(diagrams: &'d Diagrams, bits: &'d Bits, layer: &Set) -> Self {
        let mut beside = Self { diagrams, bits, way: vec![layer.clone()], known: HashMap::new() };
        while let Some(next) = beside.way.last().and_then(|part| beside.next(part)) {
            beside.way.push(next);
        }
        beside
    }

    /// The next part on the way of the state.
    fn next(&self, part: &Set) -> Option<Set> {
        let (bit, yes, no) = self.diagrams.above(part, u32::MAX)?;
        Some(if self.bits[&bit] { yes } else { no })
    }

    /// Whether there is such a state.
    fn has(&mut self, free: &BTreeSet<u32>) -> bool {
        let (Some(&first), Some(&last)) = (free.first(), free.last()) else {
            return self.ends_well(&self.way[0].clone());
        };
        // The constants come last.
        let at = self.way.partition_point(|part| self.diagrams.top(part) < first);
        self.way.get(at).cloned().is_some_and(|part| self.leads(&part, free, last))
    }

    fn leads(&mut self, part: &Set, free: &BTreeSet<u32>, last: u32) -> bool {
        match self.diagrams.above(part, last.saturating_add(1)) {
            None => self.ends_well(part),
            Some((bit, yes, no)) if free.contains(&bit) => self.leads(&yes, free, last) || self.leads(&no, free, last),
            Some((bit, yes, no)) => self.leads(if self.bits[&bit] { &yes } else { &no }, free, last),
        }
    }

    fn ends_well(&mut self, part: &Set) -> bool {
        let mut new = Vec::new();
        let mut part = part.clone();
        let ends_well = loop {
            if let Some(&known) = self.known.get(&part) {
                break known;
            }
            let Some(next) = self.next(&part) else { break part == self.diagrams.yes };
            new.push(std::mem::replace(&mut part, next));
        };
        self.known.extend(new.into_iter().map(|part| (part, ends_well)));
        ends_well
    }
}

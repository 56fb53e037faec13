//! Conjunctions and negations as an algebra: gates of constants and of equal inputs are not made, and none is made twice.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;

use crate::attempt::{Attempt, Broken};
use crate::bitvector::Algebra;

/// More gates than this are not made.
const MOST_GATES: usize = 1 << 22;

/// Twice the number of a node, and 1 where it is negated; node 0 is false.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Wire(pub(super) u32);

const NO: Wire = Wire(0);
const YES: Wire = Wire(1);

/// What a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Node {
    /// A constant, an input or a latch.
    Source,
    /// The conjunction of two.
    And(Wire, Wire),
}

/// Gates, each behind what it is made of.
pub(super) struct Gates {
    nodes: RefCell<Vec<Node>>,
    known: RefCell<HashMap<(Wire, Wire), Wire>>,
    /// Sources that are given out again and again.
    shared: RefCell<Vec<Wire>>,
    /// How many of them are given out, while they are shared.
    given: Cell<Option<usize>>,
}

impl Default for Gates {
    fn default() -> Self {
        let nodes = RefCell::new(vec![Node::Source]);
        Self { nodes, known: RefCell::default(), shared: RefCell::default(), given: Cell::new(None) }
    }
}

impl Gates {
    fn add(&self, node: Node) -> Wire {
        let mut nodes = self.nodes.borrow_mut();
        nodes.push(node);
        Wire((nodes.len() as u32 - 1) * 2)
    }

    /// An input or a latch.
    pub(super) fn source(&self) -> Wire {
        let Some(given) = self.given.get() else { return self.add(Node::Source) };
        self.given.set(Some(given + 1));
        if given == self.shared.borrow().len() {
            let wire = self.add(Node::Source);
            self.shared.borrow_mut().push(wire);
        }
        self.shared.borrow()[given]
    }

    /// From now on, sources are those that were shared before.
    pub(super) fn share_from_first(&self) {
        self.given.set(Some(0));
    }

    /// From now on, sources are new.
    pub(super) fn end_sharing(&self) {
        self.given.set(None);
    }

    /// All sources that were shared.
    pub(super) fn all_shared(&self) -> Vec<Wire> {
        self.shared.borrow().clone()
    }

    pub(super) fn is_constant(&self, wire: Wire) -> bool {
        wire.0 < 2
    }

    pub(super) fn nodes(&self) -> Vec<Node> {
        self.nodes.borrow().clone()
    }
}

impl Algebra for Gates {
    type Bit = Wire;

    fn yes(&self) -> &Wire {
        &YES
    }

    fn no(&self) -> &Wire {
        &NO
    }

    fn not(&self, a: &Wire) -> Attempt<Wire> {
        Ok(Wire(a.0 ^ 1))
    }

    fn and(&self, a: &Wire, b: &Wire) -> Attempt<Wire> {
        let (a, b) = (*a.min(b), *a.max(b));
        match (a, b) {
            _ if a == NO || a.0 == b.0 ^ 1 => return Ok(NO),
            _ if a == YES || a == b => return Ok(b),
            _ => {}
        }
        if let Some(known) = self.known.borrow().get(&(a, b)) {
            return Ok(*known);
        }
        if self.nodes.borrow().len() >= MOST_GATES {
            return Err(Broken::Refused(format!("the circuit has more than {MOST_GATES} gates")));
        }
        let made = self.add(Node::And(a, b));
        self.known.borrow_mut().insert((a, b), made);
        Ok(made)
    }

    fn or(&self, a: &Wire, b: &Wire) -> Attempt<Wire> {
        self.not(&self.and(&self.not(a)?, &self.not(b)?)?)
    }

    fn xor(&self, a: &Wire, b: &Wire) -> Attempt<Wire> {
        let (both, neither) = (self.and(a, b)?, self.and(&self.not(a)?, &self.not(b)?)?);
        self.and(&self.not(&both)?, &self.not(&neither)?)
    }

    fn ite(&self, condition: &Wire, yes: &Wire, no: &Wire) -> Attempt<Wire> {
        if yes == no {
            return Ok(*yes);
        }
        let (a, b) = (self.and(condition, yes)?, self.and(&self.not(condition)?, no)?);
        self.or(&a, &b)
    }

    fn all(&self, parts: Vec<Wire>) -> Attempt<Wire> {
        parts.iter().try_fold(YES, |all, part| self.and(&all, part))
    }

    fn any(&self, parts: Vec<Wire>) -> Attempt<Wire> {
        parts.iter().try_fold(NO, |any, part| self.or(&any, part))
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use birk_exec::Random;

    use super::*;
    use crate::bitvector::tests::agree;

    #[test]
    fn arithmetic_is_that_of_the_expressions() {
        let mut random = Random::new(4);
        for _ in 0..3 {
            let gates = Gates::default();
            let bits: Vec<Wire> = (0..6).map(|_| gates.source()).collect();
            let values = RefCell::new((u32::MAX, Vec::<bool>::new()));
            let mut is_set = |at: u32, bit: &Wire| {
                let mut values = values.borrow_mut();
                let nodes = gates.nodes();
                if values.0 != at || values.1.len() < nodes.len() {
                    let of = |all: &[bool], wire: Wire| all[wire.0 as usize / 2] != (wire.0 & 1 == 1);
                    let mut all: Vec<bool> = Vec::new();
                    for (number, node) in nodes.iter().enumerate() {
                        let source = bits.iter().position(|bit| bit.0 as usize / 2 == number);
                        all.push(match node {
                            Node::Source => source.is_some_and(|source| at >> source & 1 == 1),
                            Node::And(a, b) => of(&all, *a) && of(&all, *b),
                        });
                    }
                    *values = (at, all);
                }
                values.1[bit.0 as usize / 2] != (bit.0 & 1 == 1)
            };
            agree(&gates, &bits, &mut random, &mut is_set);
        }
    }
}

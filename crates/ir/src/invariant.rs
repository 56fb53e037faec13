//! An inductive invariant, as an engine finds it: what a proof is made of, and what a certificate writes down.

use crate::ids::VarId;
use crate::interval::Interval;

/// Conditions that are true initially, and stay true with every step.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Invariant {
    /// The smallest and the largest value of each variable, of all its elements.
    pub bounds: Vec<Interval>,
    /// Cubes: no state satisfies all conditions of one of them.
    pub excluded: Vec<Vec<BitIs>>,
}

/// A bit of a value, in two's complement, is set or is not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct BitIs {
    /// The variable.
    pub variable: VarId,
    /// Its element.
    pub element: u32,
    /// The bit, from the lowest on.
    pub bit: u32,
    /// Whether it is set.
    pub is_set: bool,
}

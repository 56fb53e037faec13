//! Gates as clauses of a SAT solver. Gates of constants and of equal inputs are not made, and none is made twice.

use std::cell::RefCell;
use std::collections::HashMap;

use batsat::{Callbacks, Lit, Solver, SolverInterface as _, SolverOpts, lbool};

use crate::{MayGoOn, Refusal};

/// A bit that depends on the state.
pub(crate) type Bit = Lit;

/// Ends the solver where the caller does not let it go on.
struct Asked<'a>(MayGoOn<'a>);

impl Callbacks for Asked<'_> {
    fn stop(&self) -> bool {
        !(self.0)()
    }
}

/// Gates, and the solver that has their clauses.
pub(crate) struct Circuit<'a> {
    solver: RefCell<Solver<Asked<'a>>>,
    /// What was made of two bits: `and`, or else `xor`.
    gates: RefCell<HashMap<(bool, Bit, Bit), Bit>>,
    yes: Bit,
}

impl<'a> Circuit<'a> {
    pub(crate) fn new(may_go_on: MayGoOn<'a>) -> Self {
        let mut solver = Solver::new(SolverOpts::default(), Asked(may_go_on));
        let yes = Lit::new(solver.new_var_default(), true);
        solver.add_clause_reuse(&mut vec![yes]);
        Self { solver: RefCell::new(solver), gates: RefCell::default(), yes }
    }

    pub(crate) fn constant(&self, is_set: bool) -> Bit {
        self.yes ^ !is_set
    }

    /// The value of a bit that is always the same.
    pub(crate) fn known(&self, bit: Bit) -> Option<bool> {
        (bit.var() == self.yes.var()).then(|| bit == self.yes)
    }

    /// A bit that may be set or not.
    pub(crate) fn free(&self) -> Bit {
        Lit::new(self.solver.borrow_mut().new_var_default(), true)
    }

    /// One of these bits is set, from now on.
    pub(crate) fn require(&self, bits: &[Bit]) {
        self.solver.borrow_mut().add_clause_reuse(&mut bits.to_vec());
    }

    /// Whether all these bits can be set at once.
    pub(crate) fn can_be(&self, bits: &[Bit]) -> Result<bool, Refusal> {
        match self.solver.borrow_mut().solve_limited(bits) {
            answer if answer == lbool::TRUE => Ok(true),
            answer if answer == lbool::FALSE => Ok(false),
            _ => Err(Refusal::Stopped),
        }
    }

    /// Whether a bit is set in the solution that was found last.
    pub(crate) fn is_set(&self, bit: Bit) -> bool {
        self.solver.borrow().value_lit(bit) == lbool::TRUE
    }

    pub(crate) fn and(&self, a: Bit, b: Bit) -> Bit {
        match (self.known(a), self.known(b)) {
            (Some(false), _) | (_, Some(true)) => a,
            (_, Some(false)) | (Some(true), _) => b,
            _ if a == b => a,
            _ if a == !b => self.constant(false),
            _ => self.gate((true, a.min(b), a.max(b)), |both| vec![vec![!both, a], vec![!both, b], vec![both, !a, !b]]),
        }
    }

    pub(crate) fn or(&self, a: Bit, b: Bit) -> Bit {
        !self.and(!a, !b)
    }

    pub(crate) fn xor(&self, a: Bit, b: Bit) -> Bit {
        match (self.known(a), self.known(b)) {
            (Some(is_set), _) => b ^ is_set,
            (_, Some(is_set)) => a ^ is_set,
            _ if a.var() == b.var() => self.constant(a != b),
            _ => self.gate((false, a.min(b), a.max(b)), |one| {
                vec![vec![!one, a, b], vec![!one, !a, !b], vec![one, !a, b], vec![one, a, !b]]
            }),
        }
    }

    /// The second bit where the first is set, else the third.
    pub(crate) fn choose(&self, condition: Bit, yes: Bit, no: Bit) -> Bit {
        if yes == no { yes } else { self.or(self.and(condition, yes), self.and(!condition, no)) }
    }

    /// Set where all of these are.
    pub(crate) fn all(&self, bits: impl IntoIterator<Item = Bit>) -> Bit {
        bits.into_iter().fold(self.yes, |all, bit| self.and(all, bit))
    }

    /// Set where one of these is.
    pub(crate) fn any(&self, bits: impl IntoIterator<Item = Bit>) -> Bit {
        bits.into_iter().fold(!self.yes, |any, bit| self.or(any, bit))
    }

    fn gate(&self, gate: (bool, Bit, Bit), clauses: impl FnOnce(Bit) -> Vec<Vec<Bit>>) -> Bit {
        let known = self.gates.borrow().get(&gate).copied();
        known.unwrap_or_else(|| {
            let bit = self.free();
            clauses(bit).iter().for_each(|clause| self.require(clause));
            self.gates.borrow_mut().insert(gate, bit);
            bit
        })
    }
}

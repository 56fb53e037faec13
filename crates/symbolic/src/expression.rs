//! Expressions and operations on bits that depend on the state: a transition is run once, for all states at once.

use std::collections::BTreeMap;

use birk_ir::{Expr, FoldOp, LocalId, Place, Program, VarId};

use crate::attempt::{Attempt, Broken};
use crate::bitvector::{Algebra, Arithmetic, Number};

/// A `forall`, `exists`, `count` or `sum` over more values than this is refused: each is encoded by itself.
const MOST_BODIES: i128 = 1 << 12;

/// The state that expressions are about.
pub(crate) trait Ground {
    /// What its bits are.
    type Algebra: Algebra;

    fn algebra(&self) -> &Self::Algebra;
    fn program(&self) -> &Program;
    /// The value of an element.
    fn value(&self, variable: VarId, element: u32) -> &ValueOf<Self>;

    /// A value where the values of some bits are known.
    fn given(&self, value: &ValueOf<Self>, _decided: &BitOf<Self>) -> Attempt<ValueOf<Self>> {
        Ok(value.clone())
    }

    /// Breaks off where the search shall not go on; asked for each value of a quantifier.
    fn look(&self) -> Attempt<()> {
        Ok(())
    }

    /// Breaks off where the value of at most so many bits would make a number of this index.
    fn ask(&self, _index: &ValueOf<Self>, _decidable: usize) -> Attempt<()> {
        Ok(())
    }
}

/// A bit of the values that expressions have there.
pub(crate) type BitOf<G> = <<G as Ground>::Algebra as Algebra>::Bit;
/// A value that expressions have there.
pub(crate) type ValueOf<G> = Number<BitOf<G>>;

/// What expressions see: the state with what was written so far, and the values bound so far.
pub(crate) struct Scene<'g, G: Ground> {
    pub(crate) ground: &'g G,
    /// What was written, by variable and element.
    pub(crate) written: BTreeMap<(VarId, u32), ValueOf<G>>,
    pub(crate) locals: BTreeMap<LocalId, ValueOf<G>>,
    /// Where no step is possible; known only to goals.
    stuck: Option<&'g BitOf<G>>,
    /// Bits whose values are known.
    pub(crate) decided: BitOf<G>,
    /// How many more bits may be decided, so that an index becomes a number.
    pub(crate) decidable: usize,
}

impl<G: Ground> Clone for Scene<'_, G> {
    fn clone(&self) -> Self {
        let (written, locals) = (self.written.clone(), self.locals.clone());
        Self { written, locals, decided: self.decided.clone(), ..*self }
    }
}

impl<'g, G: Ground> Scene<'g, G> {
    /// Nothing is written and nothing is bound.
    pub(crate) fn new(ground: &'g G) -> Self {
        let decided = ground.algebra().yes().clone();
        Self { ground, written: BTreeMap::new(), locals: BTreeMap::new(), stuck: None, decided, decidable: 0 }
    }

    /// The same, with an answer to where no step is possible.
    pub(crate) fn with_stuck(ground: &'g G, stuck: &'g BitOf<G>) -> Self {
        Self { stuck: Some(stuck), ..Self::new(ground) }
    }

    fn ask(&self, index: &ValueOf<G>) -> Attempt<()> {
        if index.as_const().is_some() || self.decidable == 0 {
            return Ok(());
        }
        self.ground.ask(index, self.decidable)
    }

    /// Binds a value.
    pub(crate) fn bind(&mut self, local: LocalId, value: ValueOf<G>) {
        self.locals.insert(local, value);
    }

    /// The element that a place means.
    pub(crate) fn index(&mut self, place: &Place) -> Attempt<ValueOf<G>> {
        match &place.index {
            Some(index) => {
                let index = self.value(index)?;
                self.ask(&index)?;
                Ok(index)
            }
            None => Ok(self.ground.algebra().literal(0)),
        }
    }

    /// Writes a value; outside an array it has no effect.
    pub(crate) fn assign(&mut self, place: &Place, index: &ValueOf<G>, value: &ValueOf<G>) -> Attempt<()> {
        let algebra = self.ground.algebra();
        for element in self.elements(place.variable, index) {
            let here = algebra.equal(index, &algebra.literal(i64::from(element)))?;
            let value = algebra.choose(&here, value, &self.read(place.variable, element)?)?;
            self.written.insert((place.variable, element), value);
        }
        Ok(())
    }

    /// Where an expression is not 0.
    pub(crate) fn truth(&mut self, expr: &Expr) -> Attempt<BitOf<G>> {
        let value = self.value(expr)?;
        self.ground.algebra().truth(&value)
    }

    /// The value of an expression. Every expression has one, so nothing depends on what is evaluated first.
    pub(crate) fn value(&mut self, expr: &Expr) -> Attempt<ValueOf<G>> {
        let algebra = self.ground.algebra();
        match expr {
            Expr::Const(value) => Ok(algebra.literal(*value)),
            Expr::Var(variable) => self.read(*variable, 0),
            Expr::Element(variable, index) => {
                let index = self.value(index)?;
                self.element(*variable, &index)
            }
            Expr::Local(local) => Ok(self.locals[local].clone()),
            Expr::Unary(op, operand) => algebra.unary(*op, &self.value(operand)?),
            Expr::Binary(op, parts) => {
                let (left, right) = (self.value(&parts.0)?, self.value(&parts.1)?);
                algebra.binary(*op, &left, &right)
            }
            Expr::If(parts) => {
                let condition = self.truth(&parts.0)?;
                let (yes, no) = (self.value(&parts.1)?, self.value(&parts.2)?);
                algebra.choose(&condition, &yes, &no)
            }
            Expr::Wrap(value, lo, hi) => algebra.wrapped(&self.value(value)?, *lo, *hi),
            Expr::Fold { op, local, parts } => self.fold(*op, *local, parts),
            Expr::Let { local, parts } => {
                let value = self.value(&parts.0)?;
                self.bind(*local, value);
                self.value(&parts.1)
            }
            Expr::Stuck => {
                let stuck = self.stuck.expect("only goals ask whether a state is stuck");
                Ok(algebra.boolean(stuck.clone()))
            }
        }
    }

    fn fold(&mut self, op: FoldOp, local: LocalId, parts: &(Expr, Expr, Expr)) -> Attempt<ValueOf<G>> {
        let algebra = self.ground.algebra();
        let (lo, hi) = (self.value(&parts.0)?, self.value(&parts.1)?);
        if i128::from(hi.hi) - i128::from(lo.lo) >= MOST_BODIES {
            let text = self.ground.program().expr_text(&parts.2);
            return Err(Broken::Refused(format!(
                "`{text}` is asked for each number from {} to {}, which are more than {MOST_BODIES}; \
                 give the bounds a smaller range",
                lo.lo, hi.hi
            )));
        }
        let mut result = algebra.literal(i64::from(op == FoldOp::All));
        for number in lo.lo..=hi.hi {
            self.ground.look()?;
            let value = algebra.literal(number);
            let above = algebra.not(&algebra.less(&value, &lo)?)?;
            let within = algebra.minus(&above, &algebra.less(&hi, &value)?)?;
            if within == *algebra.no() {
                continue;
            }
            self.bind(local, value);
            let body = self.value(&parts.2)?;
            result = match op {
                FoldOp::Sum => algebra.add(&result, &algebra.choose(&within, &body, &algebra.literal(0))?)?,
                FoldOp::Count => {
                    let counts = algebra.and(&within, &algebra.truth(&body)?)?;
                    algebra.add(&result, &algebra.boolean(counts))?
                }
                FoldOp::All => {
                    let fails = algebra.minus(&within, &algebra.truth(&body)?)?;
                    algebra.boolean(algebra.minus(&algebra.truth(&result)?, &fails)?)
                }
                FoldOp::Any => {
                    let holds = algebra.and(&within, &algebra.truth(&body)?)?;
                    algebra.boolean(algebra.or(&algebra.truth(&result)?, &holds)?)
                }
            };
        }
        Ok(result)
    }

    /// The elements that an index can mean.
    pub(crate) fn elements(&self, variable: VarId, index: &ValueOf<G>) -> std::ops::RangeInclusive<u32> {
        let last = i64::from(self.ground.program().variable(variable).len()) - 1;
        let (lo, hi) = (index.lo.max(0), index.hi.min(last));
        if lo > hi { std::ops::RangeInclusive::new(1, 0) } else { lo as u32..=hi as u32 }
    }

    /// An element of an array; 0 outside it.
    fn element(&self, variable: VarId, index: &ValueOf<G>) -> Attempt<ValueOf<G>> {
        let algebra = self.ground.algebra();
        if let (Some(index), true) = (index.as_const(), self.elements(variable, index).count() == 1) {
            return self.read(variable, index as u32);
        }
        self.ask(index)?;
        let mut value = algebra.literal(0);
        for element in self.elements(variable, index) {
            let here = algebra.equal(index, &algebra.literal(i64::from(element)))?;
            value = algebra.choose(&here, &self.read(variable, element)?, &value)?;
        }
        Ok(value)
    }

    fn read(&self, variable: VarId, element: u32) -> Attempt<ValueOf<G>> {
        match self.written.get(&(variable, element)) {
            Some(value) => Ok(value.clone()),
            None => self.ground.given(self.ground.value(variable, element), &self.decided),
        }
    }
}

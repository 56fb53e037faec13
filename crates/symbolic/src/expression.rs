//! Expressions and operations as diagrams: a transition is run once, for all states at once.

use std::collections::BTreeMap;

use birk_ir::{Expr, FoldOp, LocalId, Place, VarId};

use crate::diagram::{Attempt, Broken, Set};
use crate::encoding::Encoding;
use crate::value::Value;

/// A `forall`, `exists`, `count` or `sum` over more values than this is refused: each is encoded by itself.
const MOST_BODIES: i128 = 1 << 12;

/// At most so many bits are decided for one transition: each doubles its pieces.
const MOST_DECIDED: usize = 8;

/// What expressions see: the state with what was written so far, and the values bound so far.
#[derive(Clone)]
pub(crate) struct Scene<'e, 'p> {
    encoding: &'e Encoding<'p>,
    /// What was written, by variable and element.
    pub(crate) written: BTreeMap<(VarId, u32), Value>,
    locals: BTreeMap<LocalId, Value>,
    /// Where no step is possible; known only to goals.
    stuck: Option<&'e Set>,
    /// Bits whose values are known.
    decided: Set,
    /// How many more bits may be decided, so that an index becomes a number.
    decidable: usize,
}

impl<'e, 'p> Scene<'e, 'p> {
    /// Nothing is written and nothing is bound.
    pub(crate) fn new(encoding: &'e Encoding<'p>) -> Self {
        Self {
            encoding,
            written: BTreeMap::new(),
            locals: BTreeMap::new(),
            stuck: None,
            decided: encoding.diagrams.yes.clone(),
            decidable: 0,
        }
    }

    /// The same, with an answer to where no step is possible.
    pub(crate) fn with_stuck(encoding: &'e Encoding<'p>, stuck: &'e Set) -> Self {
        Self { stuck: Some(stuck), ..Self::new(encoding) }
    }

    /// The same, which asks for the values of bits where they would make an index a number, as long as they are few.
    pub(crate) fn asking(encoding: &'e Encoding<'p>) -> Self {
        Self { decidable: MOST_DECIDED, ..Self::new(encoding) }
    }

    /// The values of some bits are known from here on.
    pub(crate) fn decide(&mut self, bits: &[(u32, bool)]) -> Attempt<()> {
        let diagrams = &self.encoding.diagrams;
        self.decided = diagrams.and(&self.decided, &diagrams.cube(bits)?)?;
        self.decidable = self.decidable.saturating_sub(bits.len());
        for value in self.written.values_mut().chain(self.locals.values_mut()) {
            *value = diagrams.given(value, &self.decided)?;
        }
        Ok(())
    }

    /// A bit of the state as it is now, if it is known its value.
    pub(crate) fn bit(&self, place: u32) -> Attempt<Set> {
        let bit = self.encoding.diagrams.bit(place)?;
        self.encoding.diagrams.restrict(&bit, &self.decided)
    }

    /// Breaks off where the value of a few bits would make a number of this index.
    fn ask(&self, index: &Value) -> Attempt<()> {
        if index.as_const().is_some() || self.decidable == 0 {
            return Ok(());
        }
        match self.encoding.diagrams.support(&index.bits, self.decidable) {
            Some(bits) if !bits.is_empty() => Err(Broken::Undecided(bits)),
            _ => Ok(()),
        }
    }

    /// Binds a value.
    pub(crate) fn bind(&mut self, local: LocalId, value: Value) {
        self.locals.insert(local, value);
    }

    /// The element that a place means.
    pub(crate) fn index(&mut self, place: &Place) -> Attempt<Value> {
        match &place.index {
            Some(index) => {
                let index = self.value(index)?;
                self.ask(&index)?;
                Ok(index)
            }
            None => Ok(self.encoding.diagrams.literal(0)),
        }
    }

    /// Writes a value; outside an array it has no effect.
    pub(crate) fn assign(&mut self, place: &Place, index: &Value, value: &Value) -> Attempt<()> {
        let diagrams = &self.encoding.diagrams;
        for element in self.elements(place.variable, index) {
            let here = diagrams.equal(index, &diagrams.literal(i64::from(element)))?;
            let value = diagrams.choose(&here, value, &self.read(place.variable, element)?)?;
            self.written.insert((place.variable, element), value);
        }
        Ok(())
    }

    /// Where an expression is not 0.
    pub(crate) fn truth(&mut self, expr: &Expr) -> Attempt<Set> {
        let value = self.value(expr)?;
        self.encoding.diagrams.truth(&value)
    }

    /// The value of an expression. Every expression has one, so nothing depends on what is evaluated first.
    pub(crate) fn value(&mut self, expr: &Expr) -> Attempt<Value> {
        let diagrams = &self.encoding.diagrams;
        match expr {
            Expr::Const(value) => Ok(diagrams.literal(*value)),
            Expr::Var(variable) => self.read(*variable, 0),
            Expr::Element(variable, index) => {
                let index = self.value(index)?;
                self.element(*variable, &index)
            }
            Expr::Local(local) => Ok(self.locals[local].clone()),
            Expr::Unary(op, operand) => diagrams.unary(*op, &self.value(operand)?),
            Expr::Binary(op, parts) => {
                let (left, right) = (self.value(&parts.0)?, self.value(&parts.1)?);
                diagrams.binary(*op, &left, &right)
            }
            Expr::If(parts) => {
                let condition = self.truth(&parts.0)?;
                let (yes, no) = (self.value(&parts.1)?, self.value(&parts.2)?);
                diagrams.choose(&condition, &yes, &no)
            }
            Expr::Wrap(value, lo, hi) => diagrams.wrapped(&self.value(value)?, *lo, *hi),
            Expr::Fold { op, local, parts } => self.fold(*op, *local, parts),
            Expr::Let { local, parts } => {
                let value = self.value(&parts.0)?;
                self.bind(*local, value);
                self.value(&parts.1)
            }
            Expr::Stuck => {
                let stuck = self.stuck.expect("only goals ask whether a state is stuck");
                Ok(diagrams.boolean(stuck.clone()))
            }
        }
    }

    fn fold(&mut self, op: FoldOp, local: LocalId, parts: &(Expr, Expr, Expr)) -> Attempt<Value> {
        let diagrams = &self.encoding.diagrams;
        let (lo, hi) = (self.value(&parts.0)?, self.value(&parts.1)?);
        if i128::from(hi.hi) - i128::from(lo.lo) >= MOST_BODIES {
            let text = self.encoding.program.expr_text(&parts.2);
            return Err(Broken::Refused(format!(
                "`{text}` is asked for each number from {} to {}, which are more than {MOST_BODIES}; \
                 give the bounds a smaller range",
                lo.lo, hi.hi
            )));
        }
        let mut result = diagrams.literal(i64::from(op == FoldOp::All));
        for number in lo.lo..=hi.hi {
            let value = diagrams.literal(number);
            let above = diagrams.not(&diagrams.less(&value, &lo)?)?;
            let within = diagrams.minus(&above, &diagrams.less(&hi, &value)?)?;
            if within == diagrams.no {
                continue;
            }
            self.bind(local, value);
            let body = self.value(&parts.2)?;
            result = match op {
                FoldOp::Sum => diagrams.add(&result, &diagrams.choose(&within, &body, &diagrams.literal(0))?)?,
                FoldOp::Count => {
                    let counts = diagrams.and(&within, &diagrams.truth(&body)?)?;
                    diagrams.add(&result, &diagrams.boolean(counts))?
                }
                FoldOp::All => {
                    let fails = diagrams.minus(&within, &diagrams.truth(&body)?)?;
                    diagrams.boolean(diagrams.minus(&diagrams.truth(&result)?, &fails)?)
                }
                FoldOp::Any => {
                    let holds = diagrams.and(&within, &diagrams.truth(&body)?)?;
                    diagrams.boolean(diagrams.or(&diagrams.truth(&result)?, &holds)?)
                }
            };
        }
        Ok(result)
    }

    /// The elements that an index can mean.
    pub(crate) fn elements(&self, variable: VarId, index: &Value) -> std::ops::RangeInclusive<u32> {
        let last = i64::from(self.encoding.program.variable(variable).len()) - 1;
        let (lo, hi) = (index.lo.max(0), index.hi.min(last));
        if lo > hi { std::ops::RangeInclusive::new(1, 0) } else { lo as u32..=hi as u32 }
    }

    /// An element of an array; 0 outside it.
    fn element(&self, variable: VarId, index: &Value) -> Attempt<Value> {
        let diagrams = &self.encoding.diagrams;
        if let (Some(index), true) = (index.as_const(), self.elements(variable, index).count() == 1) {
            return self.read(variable, index as u32);
        }
        self.ask(index)?;
        let mut value = diagrams.literal(0);
        for element in self.elements(variable, index) {
            let here = diagrams.equal(index, &diagrams.literal(i64::from(element)))?;
            value = diagrams.choose(&here, &self.read(variable, element)?, &value)?;
        }
        Ok(value)
    }

    fn read(&self, variable: VarId, element: u32) -> Attempt<Value> {
        match self.written.get(&(variable, element)) {
            Some(value) => Ok(value.clone()),
            None => self.encoding.diagrams.given(self.encoding.value(variable, element), &self.decided),
        }
    }
}

//! What a program does, for all states at once: expressions and steps on numbers whose bits depend on the state.

use std::collections::{BTreeMap, HashMap};

use birk_ir::{Expr, FoldOp, LocalId, Op, Program, Transition, VarId};

use crate::Refusal;
use crate::circuit::{Bit, Circuit};
use crate::notation::{Clauses, Condition, Element};
use crate::numbers::{Number, bit};

/// A `forall`, `exists`, `count` or `sum` over more values than this is not encoded.
const MOST_BODIES: i128 = 1 << 12;

/// The values of all elements, and what is bound.
#[derive(Clone)]
pub(crate) struct State<'c, 'a, 'p> {
    circuit: &'c Circuit<'a>,
    program: &'p Program,
    values: Vec<Vec<Number>>,
    /// What was written since the beginning of a step.
    pub(crate) written: BTreeMap<Element, Number>,
    locals: HashMap<LocalId, Number>,
    /// Where no step is possible; only what is asked of a whole state knows it.
    stuck: Option<Bit>,
}

/// A way in which a step can end: where it does, and the state there.
pub(crate) struct End<'c, 'a, 'p> {
    pub(crate) path: Bit,
    pub(crate) state: State<'c, 'a, 'p>,
}

/// What a step chooses.
#[derive(Clone, Copy)]
pub(crate) enum Choice {
    Any,
    Lowest,
}

type Result<T> = std::result::Result<T, Refusal>;

impl<'c, 'a, 'p> State<'c, 'a, 'p> {
    /// Any state that satisfies some clauses.
    pub(crate) fn any(circuit: &'c Circuit<'a>, program: &'p Program, clauses: &Clauses<'_>) -> Self {
        let variables = program.variables.iter().zip(&clauses.bounds);
        let values = variables.map(|(of, &bounds)| of.initial.iter().map(|_| circuit.any_number(bounds)).collect());
        let (written, locals, values) = (BTreeMap::new(), HashMap::new(), values.collect());
        let state = Self { circuit, program, values, written, locals, stuck: None };
        for (number, &bounds) in clauses.bounds.iter().enumerate() {
            for element in 0..program.variables[number].initial.len() as u32 {
                circuit.require(&[state.is_within((VarId::new(number), element), bounds)]);
            }
        }
        for (cube, _) in &clauses.cubes {
            circuit.require(&cube.iter().map(|(of, is)| !state.condition(*of, is)).collect::<Vec<_>>());
        }
        state
    }

    /// The value of an element.
    pub(crate) fn read(&self, element: Element) -> &Number {
        self.written.get(&element).unwrap_or_else(|| &self.values[element.0.index()][element.1 as usize])
    }

    /// Where the value of an element is between bounds.
    pub(crate) fn is_within(&self, element: Element, (lo, hi): (i64, i64)) -> Bit {
        self.circuit.is_between(self.read(element), &self.circuit.number(lo), &self.circuit.number(hi))
    }

    /// Where an element is as a condition says.
    pub(crate) fn condition(&self, element: Element, condition: &Condition) -> Bit {
        let (circuit, value) = (self.circuit, self.read(element));
        match condition {
            Condition::Bits(bits) => circuit.all(bits.iter().map(|&(at, is_set)| bit(value, at as usize) ^ !is_set)),
            Condition::OneOf(values) => {
                circuit.any(values.iter().map(|&one| circuit.equal(value, &circuit.number(one))))
            }
        }
    }

    /// The values in the solution that was found last.
    pub(crate) fn solution(&self) -> Vec<i64> {
        let set = |number: &[Bit], at: usize| i64::from(self.circuit.is_set(bit(number, at))) << at;
        let value = |element| (0..64).fold(0, |value, at| value | set(self.read(element), at));
        let elements = |(v, elements): (usize, &Vec<Number>)| {
            (0..elements.len()).map(|e| value((VarId::new(v), e as u32))).collect::<Vec<_>>()
        };
        self.values.iter().enumerate().flat_map(elements).collect()
    }

    /// Where a condition is true; if it asks for that, where no step is possible is encoded, too.
    pub(crate) fn holds(&mut self, condition: &Expr) -> Result<Bit> {
        let mut asks_stuck = false;
        condition.walk(&mut |part| asks_stuck |= *part == Expr::Stuck);
        if asks_stuck {
            let mut possible = self.circuit.constant(false);
            for step in &self.program.transitions {
                // Where it can be done with the lowest value of each choice, it surely is possible.
                let (ends, pruned) = self.step(step, Choice::Lowest)?;
                possible = self.circuit.any(ends.iter().map(|end| end.path).chain([possible, pruned]));
            }
            self.stuck = Some(!possible);
        }
        self.truth(condition)
    }

    /// The ways in which a step can end, and where an assumption prunes it.
    pub(crate) fn step(&self, step: &Transition, choice: Choice) -> Result<(Vec<End<'c, 'a, 'p>>, Bit)> {
        let (circuit, mut state) = (self.circuit, self.clone());
        let (mut ends, mut pruned) = (Vec::new(), circuit.constant(false));
        let mut path = state.is_enabled(step)?;
        for op in &step.ops {
            match op {
                Op::Assign(place, value) => {
                    let value = state.value(value)?;
                    let index = place.index.as_ref().map_or(Ok(circuit.number(0)), |index| state.value(index))?;
                    for element in state.elements(place.variable, &index) {
                        let is_meant = circuit.equal(&index, &circuit.number(i64::from(element)));
                        let written = circuit.select(is_meant, &value, state.read((place.variable, element)));
                        state.written.insert((place.variable, element), written);
                    }
                }
                Op::Let(local, value) => state.bind(*local, value)?,
                Op::Check(condition, _) | Op::Assume(condition) | Op::Require(condition) => {
                    let holds = state.truth(condition)?;
                    let fails = circuit.and(path, !holds);
                    path = circuit.and(path, holds);
                    if let Op::Check(..) = op {
                        let fault = self.program.fault.expect("a program with checks has a fault flag");
                        let mut broken_off = state.clone();
                        broken_off.written.insert((fault, 0), circuit.number(1));
                        ends.push(End { path: fails, state: broken_off });
                    } else if let Op::Assume(_) = op {
                        pruned = circuit.or(pruned, fails);
                    }
                }
                Op::Choose(local, lo, hi) => {
                    let (lo, hi) = (state.value(lo)?, state.value(hi)?);
                    let (least, most) = (circuit.bounds(&lo).0, circuit.bounds(&hi).1);
                    let chosen = match choice {
                        Choice::Any => circuit.any_number((least, most.max(least))),
                        Choice::Lowest => lo.clone(),
                    };
                    path = circuit.and(path, circuit.is_between(&chosen, &lo, &hi));
                    state.locals.insert(*local, chosen);
                }
            }
        }
        ends.push(End { path, state });
        Ok((ends, pruned))
    }

    /// Where the guard of a step is true, its thread is there, and no check has failed.
    fn is_enabled(&mut self, step: &Transition) -> Result<Bit> {
        let (circuit, thread) = (self.circuit, self.program.thread(step.thread));
        let counter = self.read((self.program.kinds[thread.kind].counter, thread.copy));
        let is_there = circuit.equal(counter, &circuit.number(step.location.index() as i64));
        let is_broken_off = self.program.fault.map(|fault| circuit.truth(self.read((fault, 0))));
        let can_begin = circuit.and(is_there, !is_broken_off.unwrap_or(circuit.constant(false)));
        Ok(circuit.and(can_begin, self.truth(&step.guard)?))
    }

    fn bind(&mut self, local: LocalId, value: &Expr) -> Result<()> {
        let value = self.value(value)?;
        self.locals.insert(local, value);
        Ok(())
    }

    /// The elements that an index can mean.
    fn elements(&self, variable: VarId, index: &[Bit]) -> std::ops::Range<u32> {
        let (lo, hi) = self.circuit.bounds(index);
        let length = self.values[variable.index()].len() as i64;
        lo.clamp(0, length) as u32..hi.saturating_add(1).clamp(0, length) as u32
    }

    fn truth(&mut self, expr: &Expr) -> Result<Bit> {
        let value = self.value(expr)?;
        Ok(self.circuit.truth(&value))
    }

    /// Every expression has a value, so it does not matter what is evaluated although it need not be.
    fn value(&mut self, expr: &Expr) -> Result<Number> {
        let circuit = self.circuit;
        Ok(match expr {
            Expr::Const(value) => circuit.number(*value),
            Expr::Var(variable) => self.element(*variable, &circuit.number(0)),
            Expr::Element(variable, index) => {
                let index = self.value(index)?;
                self.element(*variable, &index)
            }
            Expr::Local(local) => match self.locals.get(local) {
                Some(value) => value.clone(),
                None => return Err(Refusal::Unknown("a value is used before it is bound".to_owned())),
            },
            Expr::Unary(op, operand) => circuit.unary(*op, &self.value(operand)?),
            Expr::Binary(op, parts) => circuit.binary(*op, &self.value(&parts.0)?, &self.value(&parts.1)?),
            Expr::If(parts) => circuit.select(self.truth(&parts.0)?, &self.value(&parts.1)?, &self.value(&parts.2)?),
            Expr::Wrap(value, lo, hi) => circuit.wrap(&self.value(value)?, *lo, *hi),
            Expr::Fold { op, local, parts } => self.fold(*op, *local, parts)?,
            Expr::Let { local, parts } => {
                self.bind(*local, &parts.0)?;
                self.value(&parts.1)?
            }
            Expr::Stuck => match self.stuck {
                Some(stuck) => circuit.truth_value(stuck),
                None => return Err(Refusal::Unknown("a step asks whether any other is possible".to_owned())),
            },
        })
    }

    /// An element of a variable; 0 outside of it.
    fn element(&self, variable: VarId, index: &[Bit]) -> Number {
        let circuit = self.circuit;
        self.elements(variable, index).fold(circuit.number(0), |value, element| {
            let is_meant = circuit.equal(index, &circuit.number(i64::from(element)));
            circuit.select(is_meant, self.read((variable, element)), &value)
        })
    }

    fn fold(&mut self, op: FoldOp, local: LocalId, parts: &(Expr, Expr, Expr)) -> Result<Number> {
        let circuit = self.circuit;
        let (lo, hi) = (self.value(&parts.0)?, self.value(&parts.1)?);
        let (least, most) = (circuit.bounds(&lo).0, circuit.bounds(&hi).1);
        if i128::from(most) - i128::from(least) >= MOST_BODIES {
            let body = self.program.expr_text(&parts.2);
            return Err(Refusal::Unknown(format!(
                "`{body}` is asked for each number from {least} to {most}, which are more than {MOST_BODIES}"
            )));
        }
        let mut result = circuit.number(i64::from(op == FoldOp::All));
        for number in least..=most {
            let number = circuit.number(number);
            let is_within = circuit.is_between(&number, &lo, &hi);
            self.locals.insert(local, number);
            let body = self.value(&parts.2)?;
            let counts = circuit.and(is_within, circuit.truth(&body));
            result = match op {
                FoldOp::All => circuit.select(circuit.and(is_within, !counts), &circuit.number(0), &result),
                FoldOp::Any => circuit.truth_value(circuit.or(counts, circuit.truth(&result))),
                FoldOp::Count => circuit.add(&result, &circuit.truth_value(counts)),
                FoldOp::Sum => circuit.add(&result, &circuit.select(is_within, &body, &circuit.number(0))),
            };
        }
        Ok(result)
    }
}

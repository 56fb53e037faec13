//! Which values each variable can have: bounds from what is ever assigned to it, often much nearer than its type's.
//!
//! Guards and checks are not looked at, so every state that can be reached is within the bounds, also the result of
//! a failing check. What a step assigns and overwrites before it ends is in no state, and does not count. A variable
//! that still grows after some rounds gets the bounds of its type.

use std::collections::BTreeMap;

use birk_ir::{BinaryOp, Expr, FoldOp, LocalId, Op, Place, Program, Transition, UnaryOp, VarId};

/// The smallest and the largest value.
pub(crate) type Range = (i64, i64);

/// Rounds after which what still grows is given up.
const MOST_ROUNDS: usize = 64;
const ANY: Range = (i64::MIN, i64::MAX);
const TRUTH: Range = (0, 1);

type Locals = BTreeMap<LocalId, Range>;

/// The bounds of all variables and of all choices.
pub(crate) struct Ranges {
    /// By variable: the same for all elements of an array.
    pub(crate) variables: Vec<Range>,
    /// By transition: for each value that it chooses, as far as it can come.
    pub(crate) choices: Vec<Vec<Range>>,
}

/// The bounds of everything in a program.
pub(crate) fn ranges(program: &Program) -> Ranges {
    let mut bounds = Bounds { program, ranges: Vec::new(), written: BTreeMap::new() };
    for (id, variable) in program.variables.iter().enumerate() {
        let (least, most) = (variable.initial.iter().min(), variable.initial.iter().max());
        let is_flag = Some(VarId::new(id)) == program.fault;
        bounds.ranges.push(match (least, most) {
            (Some(&least), Some(&most)) if !is_flag => (least, most),
            _ => (variable.lo, variable.hi),
        });
    }
    for round in 0.. {
        let before = bounds.ranges.clone();
        program.transitions.iter().for_each(|transition| _ = bounds.step(transition));
        let grown: Vec<usize> = (0..before.len()).filter(|&id| before[id] != bounds.ranges[id]).collect();
        if grown.is_empty() {
            break;
        }
        for id in grown.into_iter().filter(|_| round >= MOST_ROUNDS) {
            bounds.ranges[id] = (program.variables[id].lo, program.variables[id].hi);
        }
    }
    let choices = program.transitions.iter().map(|transition| bounds.step(transition)).collect();
    Ranges { variables: bounds.ranges, choices }
}

struct Bounds<'p> {
    program: &'p Program,
    ranges: Vec<Range>,
    /// What the step under way has written so far, by element; `None` is any element.
    written: BTreeMap<(VarId, Option<u32>), Range>,
}

impl Bounds<'_> {
    /// Widens what a transition leaves behind; the bounds of what it chooses.
    fn step(&mut self, transition: &Transition) -> Vec<Range> {
        let (mut locals, mut choices) = (Locals::new(), Vec::new());
        self.written.clear();
        for op in &transition.ops {
            match op {
                Op::Assign(place, value) => {
                    let value = self.of(value, &mut locals);
                    self.assign(place, value);
                }
                Op::Let(local, value) => {
                    let value = self.of(value, &mut locals);
                    locals.insert(*local, value);
                }
                Op::Choose(local, lo, hi) => {
                    let (lo, hi) = (self.of(lo, &mut locals).0, self.of(hi, &mut locals).1);
                    if lo > hi {
                        return choices;
                    }
                    locals.insert(*local, (lo, hi));
                    choices.push((lo, hi));
                }
                // It may end here.
                Op::Check(..) => self.leave(),
                Op::Assume(_) | Op::Require(_) => {}
            }
        }
        self.leave();
        choices
    }

    fn assign(&mut self, place: &Place, value: Range) {
        let variable = self.program.variable(place.variable);
        // What is outside the type's bounds fails a check before it is assigned.
        let (lo, hi) = (value.0.max(variable.lo), value.1.min(variable.hi));
        let element = match &place.index {
            None => Some(0),
            Some(index) => index.as_const().and_then(|index| u32::try_from(index).ok()),
        };
        if lo <= hi {
            let before = self.written.get(&(place.variable, element)).filter(|_| element.is_none());
            let now = before.map_or((lo, hi), |&before| hull(before, (lo, hi)));
            self.written.insert((place.variable, element), now);
        }
    }

    /// What is written so far is in a state.
    fn leave(&mut self) {
        for ((variable, _), &range) in &self.written {
            let before = &mut self.ranges[variable.index()];
            *before = hull(*before, range);
        }
    }

    fn of(&self, expr: &Expr, locals: &mut Locals) -> Range {
        match expr {
            Expr::Const(value) => (*value, *value),
            Expr::Var(variable) => self.element(*variable, (0, 0)),
            Expr::Element(variable, index) => self.element(*variable, self.of(index, locals)),
            Expr::Local(local) => locals[local],
            Expr::Unary(op, operand) => {
                let (lo, hi) = self.of(operand, locals);
                match op {
                    UnaryOp::Not => TRUTH,
                    UnaryOp::Neg => fitting(-i128::from(hi), -i128::from(lo)),
                    UnaryOp::Ones => (0, 64),
                }
            }
            Expr::Binary(op, parts) => {
                let (left, right) = (self.of(&parts.0, locals), self.of(&parts.1, locals));
                binary(*op, left, right)
            }
            Expr::If(parts) => {
                self.of(&parts.0, locals);
                hull(self.of(&parts.1, locals), self.of(&parts.2, locals))
            }
            Expr::Wrap(value, lo, hi) => {
                let value = self.of(value, locals);
                if *lo <= value.0 && value.1 <= *hi { value } else { (*lo, *hi) }
            }
            Expr::Fold { op, local, parts } => {
                let (lo, hi) = (self.of(&parts.0, locals).0, self.of(&parts.1, locals).1);
                if lo > hi {
                    return if *op == FoldOp::All { (1, 1) } else { (0, 0) };
                }
                locals.insert(*local, (lo, hi));
                let body = self.of(&parts.2, locals);
                let times = i128::from(hi) - i128::from(lo) + 1;
                match op {
                    FoldOp::All | FoldOp::Any => TRUTH,
                    FoldOp::Count => fitting(0, times),
                    FoldOp::Sum => fitting((times * i128::from(body.0)).min(0), (times * i128::from(body.1)).max(0)),
                }
            }
            Expr::Let { local, parts } => {
                let value = self.of(&parts.0, locals);
                locals.insert(*local, value);
                self.of(&parts.1, locals)
            }
            Expr::Stuck => TRUTH,
        }
    }

    /// An element of a variable; reading outside it gives 0.
    fn element(&self, variable: VarId, index: Range) -> Range {
        let written = self.written.range((variable, None)..=(variable, Some(u32::MAX)));
        let range = written.fold(self.ranges[variable.index()], |all, (_, &one)| hull(all, one));
        let is_inside = 0 <= index.0 && index.1 < i64::from(self.program.variable(variable).len());
        if is_inside { range } else { hull(range, (0, 0)) }
    }
}

fn binary(op: BinaryOp, (a, b): Range, (c, d): Range) -> Range {
    let wide = |value: i64| i128::from(value);
    let largest = |lo: i64, hi: i64| wide(lo).abs().max(wide(hi).abs());
    match op {
        BinaryOp::Add => fitting(wide(a) + wide(c), wide(b) + wide(d)),
        BinaryOp::Sub => fitting(wide(a) - wide(d), wide(b) - wide(c)),
        BinaryOp::Mul => {
            let corners = [wide(a) * wide(c), wide(a) * wide(d), wide(b) * wide(c), wide(b) * wide(d)];
            let (least, most) = (corners.iter().min(), corners.iter().max());
            fitting(*least.expect("four corners"), *most.expect("four corners"))
        }
        BinaryOp::Div => fitting(if a >= 0 && c >= 0 { 0 } else { -largest(a, b) }, largest(a, b)),
        BinaryOp::Rem => {
            let most = largest(a, b).min((largest(c, d) - 1).max(0));
            fitting(if a < 0 { -most } else { 0 }, if b > 0 { most } else { 0 })
        }
        BinaryOp::BitAnd if a >= 0 && c >= 0 => (0, b.min(d)),
        BinaryOp::BitOr if a >= 0 && c >= 0 => (0, u64::MAX.checked_shr((b | d).leading_zeros()).unwrap_or(0) as i64),
        BinaryOp::Shr if a >= 0 => (0, b),
        BinaryOp::BitAnd | BinaryOp::BitOr | BinaryOp::Shl | BinaryOp::Shr => ANY,
        _ => TRUTH,
    }
}

/// These bounds, unless what is between them can wrap.
fn fitting(lo: i128, hi: i128) -> Range {
    match (i64::try_from(lo), i64::try_from(hi)) {
        (Ok(lo), Ok(hi)) => (lo, hi),
        _ => ANY,
    }
}

fn hull(a: Range, b: Range) -> Range {
    (a.0.min(b.0), a.1.max(b.1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(body: &str) -> (Range, Vec<Vec<Range>>) {
        let text = format!(
            "system S {{ int (0, 100) x; int (0, 100) y; int (0, 9)[2] a; active thread T() {{ loc l: {body} goto l; }} }}"
        );
        let loaded = birk_lang::load(&text, &[]);
        let program = loaded.program.unwrap_or_else(|| panic!("{:#?}", loaded.diagnostics));
        let ranges = ranges(&program);
        let x = program.variables.iter().position(|variable| variable.name == "x").expect("x is declared");
        (ranges.variables[x], ranges.choices)
    }

    #[test]
    fn what_a_step_overwrites_is_in_no_state() {
        assert_eq!(of("do { x := 50; y := x / 2; x := 3; }").0, (0, 3));
        assert_eq!(of("do { x := 50; x := x / 10; }").0, (0, 5), "what it wrote is what it reads");
    }

    #[test]
    fn what_stands_when_a_check_fails_is_in_a_state() {
        assert_eq!(of("do { x := 50; assert y < 7; x := 3; }").0, (0, 50));
    }

    #[test]
    fn choices_have_the_bounds_of_their_bounds() {
        assert_eq!(of("do { x := choose(2, 7); }"), ((0, 7), vec![vec![(2, 7)]]));
    }
}

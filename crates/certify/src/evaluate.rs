//! What a program does, state by state: an interpreter of its own. A state is a plain list of values, one for each element of each
//! variable in the order of the program.

use std::collections::HashSet;

use birk_ir::expr::wrap;
use birk_ir::{BinaryOp, Expr, FoldOp, Op, Program, ThreadId, TransitionId, VarId};

/// How one outcome of a step ends: in a state, in a check that fails, in an assumption that is false, so that there is no state
/// although the step was possible, or in a requirement that is false, so that it was not.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    State,
    BrokenOff,
    Cut,
    Blocked,
}

/// Hears how a step ends.
type Hear<'h> = &'h mut dyn FnMut(&[i64], End);

/// A program, ready to be executed.
pub(crate) struct Evaluator<'p> {
    program: &'p Program,
    /// Where the elements of each variable begin in a state, and how many there are.
    elements: Vec<(usize, usize)>,
    /// How many values a step or a condition binds.
    locals: usize,
}

impl<'p> Evaluator<'p> {
    /// For steps, and for conditions.
    pub(crate) fn new(program: &'p Program, conditions: &[Expr]) -> Self {
        let mut locals = program.transitions.iter().map(|step| step.locals as usize).max().unwrap_or(0);
        let mut note = |part: &Expr| {
            if let Expr::Local(local) | Expr::Let { local, .. } | Expr::Fold { local, .. } = part {
                locals = locals.max(local.index() + 1);
            }
        };
        conditions.iter().for_each(|condition| condition.walk(&mut note));
        let (mut elements, mut next) = (Vec::new(), 0);
        for variable in &program.variables {
            elements.push((next, variable.initial.len()));
            next += variable.initial.len();
        }
        Self { program, elements, locals }
    }

    /// The initial states: every combination of what elements may begin with.
    pub(crate) fn initial(&self) -> Vec<Vec<i64>> {
        let mut all = vec![self.program.variables.iter().flat_map(|variable| variable.initial.clone()).collect()];
        for choice in &self.program.choices {
            let place = self.elements[choice.variable.index()].0 + choice.element as usize;
            let with = |state: &Vec<i64>, value: i64| [&state[..place], &[value], &state[place + 1..]].concat();
            all = all.iter().flat_map(|state| choice.values.iter().map(|&value| with(state, value))).collect();
        }
        all
    }

    /// Whether a condition is true in a state; `stuck` says that no step is possible there.
    pub(crate) fn is_true(&self, condition: &Expr, state: &[i64], stuck: bool) -> bool {
        self.value(condition, state, stuck, &mut vec![0; self.locals]) != 0
    }

    /// Takes all steps from a state; whether none was possible.
    pub(crate) fn expand(&self, state: &[i64], hear: &mut dyn FnMut(TransitionId, &[i64])) -> bool {
        let is_broken_off = self.program.fault.is_some_and(|fault| self.read(state, fault, 0) != 0);
        let mut is_possible = false;
        // Where nobody can go on, what waits for that is asked again.
        for stuck in [false, true] {
            for thread in (0..self.program.threads.len()).map(ThreadId::new) {
                if is_broken_off || (stuck && is_possible) {
                    break;
                }
                for id in self.enabled(thread, state, stuck) {
                    self.outcomes(id, state, &mut |state, end| {
                        is_possible |= end != End::Blocked;
                        if let End::State | End::BrokenOff = end {
                            hear(id, state);
                        }
                    });
                }
            }
        }
        !is_possible
    }

    /// The transitions of a thread at its location whose guards are true.
    fn enabled(&self, thread: ThreadId, state: &[i64], stuck: bool) -> Vec<TransitionId> {
        let (kind, thread) = (self.program.kind_of(thread), self.program.thread(thread));
        let at = self.read(state, kind.counter, i64::from(thread.copy));
        let (first, last) = thread.at.get(at as usize).copied().unwrap_or_default();
        let is_enabled = |id: &TransitionId| self.is_true(&self.program.transition(*id).guard, state, stuck);
        (first..last).map(TransitionId).filter(is_enabled).collect()
    }

    /// All outcomes of a step. Where a thread goes on at once, the step ends where nobody goes on any more.
    fn outcomes(&self, id: TransitionId, state: &[i64], hear: Hear<'_>) {
        let mut open = vec![(id, state.to_vec())];
        let (mut seen, mut has_ended) = (HashSet::new(), false);
        while let Some((id, state)) = open.pop() {
            let step = self.program.transition(id);
            self.run(&step.ops, state, vec![0; self.locals], &mut |state, end| {
                let then = step.then.filter(|_| end == End::State);
                let next = then.map_or(Vec::new(), |thread| self.enabled(thread, state, false));
                if next.is_empty() {
                    has_ended |= end != End::Blocked;
                    hear(state, end);
                } else if seen.insert((then, state.to_vec())) {
                    open.extend(next.into_iter().map(|id| (id, state.to_vec())));
                }
            });
        }
        // It goes round forever, and nothing comes out: possible, but no state.
        if !has_ended && !seen.is_empty() {
            hear(state, End::Cut);
        }
    }

    fn run(&self, ops: &[Op], mut state: Vec<i64>, mut locals: Vec<i64>, hear: Hear<'_>) {
        for (at, op) in ops.iter().enumerate() {
            let mut value = |expr: &Expr| self.value(expr, &state, false, &mut locals);
            match op {
                Op::Assign(place, assigned) => {
                    let (assigned, index) = (value(assigned), place.index.as_ref().map_or(0, &mut value));
                    let (first, length) = self.elements[place.variable.index()];
                    if (0..length as i64).contains(&index) {
                        state[first + index as usize] = assigned;
                    }
                }
                Op::Let(local, bound) => locals[local.index()] = value(bound),
                Op::Check(condition, _) | Op::Assume(condition) | Op::Require(condition) => {
                    if value(condition) == 0 {
                        let end = match op {
                            Op::Check(..) => End::BrokenOff,
                            Op::Assume(_) => End::Cut,
                            _ => End::Blocked,
                        };
                        if let (End::BrokenOff, Some(fault)) = (end, self.program.fault) {
                            state[self.elements[fault.index()].0] = 1;
                        }
                        return hear(&state, end);
                    }
                }
                Op::Choose(local, lo, hi) => {
                    for chosen in value(lo)..=value(hi) {
                        locals[local.index()] = chosen;
                        self.run(&ops[at + 1..], state.clone(), locals.clone(), hear);
                    }
                    return;
                }
            }
        }
        hear(&state, End::State);
    }

    fn value(&self, expr: &Expr, state: &[i64], stuck: bool, locals: &mut [i64]) -> i64 {
        let mut of = |part: &Expr| self.value(part, state, stuck, locals);
        match expr {
            Expr::Const(value) => *value,
            Expr::Var(variable) => self.read(state, *variable, 0),
            Expr::Element(variable, index) => self.read(state, *variable, of(index)),
            Expr::Local(local) => locals[local.index()],
            Expr::Unary(op, operand) => op.apply(of(operand)),
            Expr::Binary(op, parts) => match (op, of(&parts.0)) {
                (BinaryOp::And, 0) => 0,
                (BinaryOp::Or, left) if left != 0 => 1,
                (_, left) => op.apply(left, of(&parts.1)),
            },
            Expr::If(parts) if of(&parts.0) != 0 => of(&parts.1),
            Expr::If(parts) => of(&parts.2),
            Expr::Wrap(value, lo, hi) => wrap(of(value), *lo, *hi),
            Expr::Fold { op, local, parts } => {
                let (lo, hi) = (of(&parts.0), of(&parts.1));
                let mut result = i64::from(*op == FoldOp::All);
                for value in lo..=hi {
                    locals[local.index()] = value;
                    let body = self.value(&parts.2, state, stuck, locals);
                    result = match op {
                        FoldOp::All => result & i64::from(body != 0),
                        FoldOp::Any => result | i64::from(body != 0),
                        FoldOp::Count => result + i64::from(body != 0),
                        FoldOp::Sum => result.wrapping_add(body),
                    };
                }
                result
            }
            Expr::Let { local, parts } => {
                locals[local.index()] = of(&parts.0);
                self.value(&parts.1, state, stuck, locals)
            }
            Expr::Stuck => i64::from(stuck),
        }
    }

    fn read(&self, state: &[i64], variable: VarId, index: i64) -> i64 {
        let (first, length) = self.elements[variable.index()];
        if (0..length as i64).contains(&index) { state[first + index as usize] } else { 0 }
    }
}

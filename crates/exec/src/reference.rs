//! The simplest checker that could be right: the tutorial, and the oracle for every engine.
//!
//! It shares nothing with the interpreter or the engines. A state is a list of plain numbers, one per element of each
//! variable; the visited set is an ordered map; the search is the textbook's breadth-first one.

use std::collections::{BTreeMap, VecDeque};

use birk_ir::expr::wrap;
use birk_ir::{BinaryOp, Expr, FoldOp, Goal, Op, Program, UnaryOp, VarId};

/// What an exhaustive search of a program finds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// Distinct reachable states (faults excluded).
    pub states: u64,
    /// Steps from them (faulting ones included, cut ones not).
    pub transitions: u64,
    /// Depth of the deepest state.
    pub depth: u32,
    /// For each goal, the length of a shortest run to it.
    pub shortest: Vec<Option<u32>>,
    /// How many reachable states (faults included) satisfy each goal.
    pub satisfying: Vec<u64>,
    /// Outcomes cut by `assume`.
    pub cut: u64,
    /// How many states there are at each depth.
    pub levels: Vec<u64>,
}

/// Why there is no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// There are more states than were asked for.
    TooLarge,
    /// The program has something that this checker does not know.
    Unknown(&'static str),
}

/// A state: every element of every variable in order, and whether a check has failed.
type State = (Vec<i64>, bool);

/// Explores everything, if there are at most `limit` states.
pub fn explore(program: &Program, goals: &[Goal], limit: usize) -> Result<Answer, Refusal> {
    if let Some(reason) = program.joined_late() {
        return Err(Refusal::Unknown(reason));
    }
    let checker = Checker::new(program);
    let none = vec![None; goals.len()];
    let mut answer = Answer { shortest: none, satisfying: vec![0; goals.len()], ..Answer::default() };
    let mut seen: BTreeMap<State, u32> = BTreeMap::new();
    let mut queue = VecDeque::new();
    for initial in checker.initial() {
        seen.insert((initial.clone(), false), 0);
        queue.push_back((initial, false));
    }
    while let Some(state) = queue.pop_front() {
        let depth = seen[&state];
        let mut successors = Vec::new();
        let mut cut = 0;
        if !state.1 {
            checker.successors(&state, false, &mut successors, &mut cut);
            if successors.is_empty() && cut == 0 {
                checker.successors(&state, true, &mut successors, &mut cut);
            }
            answer.states += 1;
            answer.depth = answer.depth.max(depth);
            answer.levels.resize(depth as usize + 1, 0);
            answer.levels[depth as usize] += 1;
        }
        answer.transitions += successors.len() as u64;
        answer.cut += cut;
        let stuck = successors.is_empty() && cut == 0;
        for (g, Goal::State(bad)) in goals.iter().enumerate() {
            if checker.eval(bad, &state, stuck, &mut BTreeMap::new()) != 0 {
                answer.satisfying[g] += 1;
                answer.shortest[g].get_or_insert(depth);
            }
        }
        for next in successors {
            if !seen.contains_key(&next) {
                seen.insert(next.clone(), depth + 1);
                queue.push_back(next);
            }
        }
        if seen.len() > limit {
            return Err(Refusal::TooLarge);
        }
    }
    Ok(answer)
}

struct Checker<'p> {
    program: &'p Program,
    /// Where each variable's elements begin in a state.
    offsets: Vec<usize>,
}

type Locals = BTreeMap<u32, i64>;

impl<'p> Checker<'p> {
    fn new(program: &'p Program) -> Self {
        let mut offsets = Vec::new();
        let mut next = 0;
        for variable in &program.variables {
            offsets.push(next);
            next += variable.initial.len();
        }
        Self { program, offsets }
    }

    /// The values of all elements, in every initial state.
    fn initial(&self) -> Vec<Vec<i64>> {
        let first = self.program.variables.iter().flat_map(|variable| variable.initial.clone());
        let mut all: Vec<Vec<i64>> = vec![first.collect()];
        for choice in &self.program.choices {
            let place = self.offsets[choice.variable.index()] + choice.element as usize;
            let mut more = Vec::new();
            for state in &all {
                for &value in &choice.values {
                    let mut state = state.clone();
                    state[place] = value;
                    more.push(state);
                }
            }
            all = more;
        }
        all
    }

    /// The steps that are possible, where it is known whether there are others.
    fn successors(&self, state: &State, stuck: bool, out: &mut Vec<State>, cut: &mut u64) {
        for transition in &self.program.transitions {
            let thread = self.program.thread(transition.thread);
            let counter = self.program.kinds[thread.kind].counter;
            let here = self.read(state, counter, i64::from(thread.copy));
            if here == transition.location.index() as i64
                && self.eval(&transition.guard, state, stuck, &mut Locals::new()) != 0
            {
                self.run(&transition.ops, state.clone(), Locals::new(), out, cut);
            }
        }
    }

    fn run(&self, ops: &[Op], mut state: State, mut locals: Locals, out: &mut Vec<State>, cut: &mut u64) {
        let Some((op, rest)) = ops.split_first() else {
            out.push(state);
            return;
        };
        match op {
            Op::Assign(place, value) => {
                let value = self.eval(value, &state, false, &mut locals);
                let index = place.index.as_ref().map_or(0, |i| self.eval(i, &state, false, &mut locals));
                let length = self.program.variable(place.variable).initial.len();
                if index >= 0 && (index as usize) < length {
                    state.0[self.offsets[place.variable.index()] + index as usize] = value;
                }
            }
            Op::Let(local, value) => {
                let value = self.eval(value, &state, false, &mut locals);
                locals.insert(local.0, value);
            }
            Op::Choose(local, lo, hi) => {
                let lo = self.eval(lo, &state, false, &mut locals);
                let hi = self.eval(hi, &state, false, &mut locals);
                for value in lo..=hi {
                    locals.insert(local.0, value);
                    self.run(rest, state.clone(), locals.clone(), out, cut);
                }
                return;
            }
            Op::Check(condition, _) if self.eval(condition, &state, false, &mut locals) == 0 => {
                state.1 = true;
                out.push(state);
                return;
            }
            Op::Assume(condition) if self.eval(condition, &state, false, &mut locals) == 0 => {
                *cut += 1;
                return;
            }
            Op::Require(condition) if self.eval(condition, &state, false, &mut locals) == 0 => return,
            Op::Check(..) | Op::Assume(_) | Op::Require(_) => {}
        }
        self.run(rest, state, locals, out, cut);
    }

    fn read(&self, state: &State, variable: VarId, index: i64) -> i64 {
        if Some(variable) == self.program.fault {
            return i64::from(state.1);
        }
        let length = self.program.variable(variable).initial.len();
        if index < 0 || index as usize >= length { 0 } else { state.0[self.offsets[variable.index()] + index as usize] }
    }

    fn eval(&self, expr: &Expr, state: &State, stuck: bool, locals: &mut Locals) -> i64 {
        match expr {
            Expr::Const(value) => *value,
            Expr::Var(variable) => self.read(state, *variable, 0),
            Expr::Element(variable, index) => {
                let index = self.eval(index, state, stuck, locals);
                self.read(state, *variable, index)
            }
            Expr::Local(local) => locals[&local.0],
            Expr::Unary(UnaryOp::Not, a) => 1 - self.eval(a, state, stuck, locals),
            Expr::Unary(UnaryOp::Neg, a) => -self.eval(a, state, stuck, locals),
            Expr::Unary(UnaryOp::Ones, a) => i64::from(self.eval(a, state, stuck, locals).count_ones()),
            Expr::Binary(BinaryOp::And, parts) => {
                if self.eval(&parts.0, state, stuck, locals) == 0 {
                    0
                } else {
                    self.eval(&parts.1, state, stuck, locals)
                }
            }
            Expr::Binary(BinaryOp::Or, parts) => {
                if self.eval(&parts.0, state, stuck, locals) != 0 {
                    1
                } else {
                    self.eval(&parts.1, state, stuck, locals)
                }
            }
            Expr::Binary(op, parts) => {
                let (a, b) = (self.eval(&parts.0, state, stuck, locals), self.eval(&parts.1, state, stuck, locals));
                op.apply(a, b)
            }
            Expr::If(parts) => {
                let condition = self.eval(&parts.0, state, stuck, locals);
                self.eval(if condition != 0 { &parts.1 } else { &parts.2 }, state, stuck, locals)
            }
            Expr::Wrap(value, lo, hi) => wrap(self.eval(value, state, stuck, locals), *lo, *hi),
            Expr::Fold { op, local, parts } => {
                let lo = self.eval(&parts.0, state, stuck, locals);
                let hi = self.eval(&parts.1, state, stuck, locals);
                let mut bodies = (lo..=hi).map(|value| {
                    locals.insert(local.0, value);
                    self.eval(&parts.2, state, stuck, locals)
                });
                match op {
                    FoldOp::All => i64::from(bodies.all(|body| body != 0)),
                    FoldOp::Any => i64::from(bodies.any(|body| body != 0)),
                    FoldOp::Count => bodies.filter(|body| *body != 0).count() as i64,
                    FoldOp::Sum => bodies.sum(),
                }
            }
            Expr::Let { local, parts } => {
                let value = self.eval(&parts.0, state, stuck, locals);
                locals.insert(local.0, value);
                self.eval(&parts.1, state, stuck, locals)
            }
            Expr::Stuck => i64::from(stuck),
        }
    }
}

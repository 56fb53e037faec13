//! The reference interpreter: a `Program` as a `Model`, one step at a time.
//!
//! It is the meaning of a program. Compiled models are held against it, state by state, and traces are
//! replayed with it.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use birk_ir::expr::wrap;
use birk_ir::{
    BinaryOp, Expr, FaultId, Field, FoldOp, Goal, LocalId, Op, Place, Program, Step, ThreadId, TransitionId, VarId,
};

use birk_engine::{GoalSet, Model, Successors};

/// A program with the goals that it evaluates.
#[derive(Debug)]
pub struct Interpreter<'p> {
    program: &'p Program,
    goals: Vec<Expr>,
    locals: usize,
    /// For each transition, whether an `assume` has cut one of its outcomes.
    assumed: Vec<AtomicBool>,
    /// Some guards ask whether no step is possible: those are asked again where there is none.
    has_timeout: bool,
}

/// What one outcome of a transition is: a state, the result of a failing check, or nothing because it was cut by an
/// assumption or because something in it cannot be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    State,
    /// With the value that the check refused, where it looks at one that was just computed.
    Fault(FaultId, Option<i64>),
    Cut,
    Blocked,
}

/// The outcomes of a step, one after the other.
struct Enumeration<'f> {
    /// Hears of each; whether that is enough for now.
    hear: &'f mut dyn FnMut(&[u32], End) -> bool,
    is_enough: bool,
    /// The values of the choices with which to begin, the first choice last; at the end, those with which to continue.
    values: Vec<i64>,
}

impl Enumeration<'_> {
    fn add(&mut self, state: &[u32], end: End) {
        self.is_enough |= (self.hear)(state, end);
    }
}

impl<'p> Interpreter<'p> {
    /// A model that evaluates these goals, of which there are at most `GoalSet::CAPACITY`.
    pub fn new(program: &'p Program, goals: &[Goal]) -> Self {
        assert!(goals.len() <= GoalSet::CAPACITY, "one search hunts at most {} goals", GoalSet::CAPACITY);
        let goals: Vec<Expr> = goals.iter().map(|Goal::State(bad)| bad.clone()).collect();
        let locals = frame_size(program, &goals);
        let assumed = program.transitions.iter().map(|_| AtomicBool::new(false)).collect();
        Self { program, goals, locals, assumed, has_timeout: program.has_timeout() }
    }

    /// The value of an expression in a state (`Expr::Stuck` is false here).
    pub fn value(&self, expr: &Expr, state: &[u32]) -> i64 {
        self.value_where(expr, state, false)
    }

    /// The value of an expression in a state of which it is known whether a step is possible.
    pub(crate) fn value_where(&self, expr: &Expr, state: &[u32], stuck: bool) -> i64 {
        let mut locals = vec![0; self.locals.max(frame_of(expr))];
        Evaluation { program: self.program, state, stuck }.eval(expr, &mut locals)
    }

    /// The same as `value`, in room that is large enough.
    pub(crate) fn value_in(&self, expr: &Expr, state: &[u32], room: &mut [i64]) -> i64 {
        Evaluation { program: self.program, state, stuck: false }.eval(expr, room)
    }

    /// For each transition, whether an `assume` has cut one of its outcomes in a state that was expanded.
    pub fn assumed(&self) -> Vec<bool> {
        self.assumed.iter().map(|assumed| assumed.load(Ordering::Relaxed)).collect()
    }

    /// Writes a place whose index is a constant.
    pub(crate) fn write(&self, place: &Place, value: i64, state: &mut [u32]) {
        self.assign(place, value, state, &mut []);
    }

    /// Which check fails in this step, if one does.
    pub fn fault_of(&self, state: &[u32], step: Step) -> Option<FaultId> {
        self.failing(state, step).map(|(fault, _)| fault)
    }

    /// The computed value that a check of this step refuses, if one does.
    pub fn refused_by(&self, state: &[u32], step: Step) -> Option<i64> {
        self.failing(state, step).and_then(|(_, refused)| refused)
    }

    fn failing(&self, state: &[u32], step: Step) -> Option<(FaultId, Option<i64>)> {
        let mut locals = vec![0; self.locals];
        let mut found = None;
        let is_enabled = |stuck| self.is_enabled(state, step.transition, stuck, &mut vec![0; self.locals]);
        if !is_enabled(false) && !is_enabled(true) {
            return None;
        }
        self.outcomes(state, step.transition, &mut locals, (0, Vec::new()), &mut |choice, _, end| {
            // Outcomes that are cut or blocked have no number of their own.
            let is_the_step = choice == step.choice && matches!(end, End::State | End::Fault(..));
            if let (true, End::Fault(fault, refused)) = (is_the_step, end) {
                found = Some((fault, refused));
            }
            is_the_step
        });
        found
    }

    /// Whether the guard of a transition is true, whose thread is at its location.
    #[inline]
    fn is_enabled(&self, state: &[u32], id: TransitionId, stuck: bool, locals: &mut [i64]) -> bool {
        Evaluation { program: self.program, state, stuck }.eval(&self.program.transition(id).guard, locals) != 0
    }

    /// The outcomes of a transition that is enabled: `(choice, state, end)`, from a place on, until `found`
    /// says that it is enough for now; then the place where the next ones begin, unless that was the last.
    fn outcomes(
        &self,
        state: &[u32],
        id: TransitionId,
        locals: &mut [i64],
        (mut choice, values): (u32, Vec<i64>),
        found: &mut dyn FnMut(u32, &[u32], End) -> bool,
    ) -> Option<(u32, Vec<i64>)> {
        let transition = self.program.transition(id);
        if transition.then.is_some() {
            return self.chain(state, id, locals, choice, found);
        }
        let mut hear = |state: &[u32], end: End| {
            let is_enough = found(choice, state, end);
            choice += u32::from(matches!(end, End::State | End::Fault(..)));
            is_enough
        };
        let mut enumeration = Enumeration { hear: &mut hear, is_enough: false, values };
        self.run(&transition.ops, &mut state.to_vec(), locals, &mut enumeration);
        let values = enumeration.values;
        (!values.is_empty()).then_some((choice, values))
    }

    /// The outcomes of a transition behind which a thread goes on at once, from a number on. What lies between is seen by
    /// nobody; a thread that comes back to where it was between adds nothing.
    fn chain(
        &self,
        state: &[u32],
        id: TransitionId,
        locals: &mut [i64],
        from: u32,
        found: &mut dyn FnMut(u32, &[u32], End) -> bool,
    ) -> Option<(u32, Vec<i64>)> {
        let mut open = vec![(state.to_vec(), id)];
        let mut seen = HashSet::new();
        let (mut number, mut has_ended) = (0, false);
        while let Some((state, id)) = open.pop() {
            let transition = self.program.transition(id);
            let mut ends = Vec::new();
            let mut hear = |state: &[u32], end: End| {
                ends.push((state.to_vec(), end));
                false
            };
            let mut all = Enumeration { hear: &mut hear, is_enough: false, values: Vec::new() };
            self.run(&transition.ops, &mut state.clone(), locals, &mut all);
            let mut next = Vec::new();
            for (state, end) in ends {
                if let (End::State, Some(thread)) = (end, transition.then) {
                    let ids = self.enabled_of(thread, &state, locals);
                    if !ids.is_empty() {
                        if seen.insert((thread, state.clone())) {
                            next.extend(ids.into_iter().map(|id| (state.clone(), id)));
                        }
                        continue;
                    }
                }
                has_ended |= end != End::Blocked;
                let is_numbered = matches!(end, End::State | End::Fault(..));
                let is_enough = number >= from && found(number, &state, end);
                number += u32::from(is_numbered);
                if is_enough {
                    return Some((number, Vec::new()));
                }
            }
            open.extend(next.into_iter().rev());
        }
        // It goes round forever, and nothing comes out.
        if !has_ended && !seen.is_empty() && from == 0 {
            found(0, state, End::Cut);
        }
        None
    }

    /// The transitions of a thread that are enabled.
    fn enabled_of(&self, thread: ThreadId, state: &[u32], locals: &mut [i64]) -> Vec<TransitionId> {
        let Some(location) = self.program.location_of(thread, state) else { return Vec::new() };
        let (first, last) = self.program.thread(thread).at[location.index()];
        (first..last).map(TransitionId).filter(|id| self.is_enabled(state, *id, false, locals)).collect()
    }

    fn run(&self, ops: &[Op], work: &mut [u32], locals: &mut [i64], outcomes: &mut Enumeration<'_>) {
        for (at, op) in ops.iter().enumerate() {
            match op {
                Op::Assign(place, value) => {
                    let value = self.eval(value, work, locals);
                    self.assign(place, value, work, locals);
                }
                Op::Let(local, value) => locals[local.index()] = self.eval(value, work, locals),
                Op::Check(condition, fault) => {
                    if self.eval(condition, work, locals) == 0 {
                        let flag = self.program.fault.expect("a program with checks has a fault flag");
                        self.program.layout.slot(flag).set(work, 0, 1);
                        let refused = only_local(condition).map(|local| locals[local.index()]);
                        return outcomes.add(work, End::Fault(*fault, refused));
                    }
                }
                Op::Assume(condition) => {
                    if self.eval(condition, work, locals) == 0 {
                        return outcomes.add(work, End::Cut);
                    }
                }
                Op::Require(condition) => {
                    if self.eval(condition, work, locals) == 0 {
                        return outcomes.add(work, End::Blocked);
                    }
                }
                Op::Choose(local, lo, hi) => {
                    let (lo, hi) = (self.eval(lo, work, locals), self.eval(hi, work, locals));
                    let first = outcomes.values.pop().unwrap_or(lo);
                    let (mut branch, mut branch_locals) = (work.to_vec(), locals.to_vec());
                    for value in first..=hi {
                        if outcomes.is_enough {
                            outcomes.values.push(value);
                            return;
                        }
                        branch.copy_from_slice(work);
                        branch_locals.copy_from_slice(locals);
                        branch_locals[local.index()] = value;
                        self.run(&ops[at + 1..], &mut branch, &mut branch_locals, outcomes);
                        if !outcomes.values.is_empty() {
                            outcomes.values.push(value);
                            return;
                        }
                    }
                    return;
                }
            }
        }
        outcomes.add(work, End::State);
    }

    /// Appends the successors of a state by steps of some threads, the next part of them where there are many: the place of
    /// the rest is a thread, a transition, the number of its next outcome, and the values of its choices.
    pub fn successors_of(&self, threads: Range<usize>, state: &[u32], out: &mut Successors) {
        if self.is_fault(state) {
            return;
        }
        let place = out.resume(state).unwrap_or_default();
        // Behind the last thread begins the second round, in which no step was possible.
        let is_second = place.last().is_some_and(|thread| *thread < 0);
        let (len, cut, is_first) = (out.len(), out.cut, place.is_empty());
        self.round(threads.clone(), state, is_second, place, out);
        let is_stuck = is_first && out.len() == len && out.cut == cut && !out.has_rest();
        if self.has_timeout && is_stuck && threads.len() == self.program.threads.len() {
            self.round(threads, state, true, Vec::new(), out);
        }
    }

    /// The same, where it is known whether a step was possible.
    fn round(&self, threads: Range<usize>, state: &[u32], stuck: bool, mut place: Vec<i64>, out: &mut Successors) {
        let mut locals = std::mem::take(&mut out.scratch);
        locals.resize(self.locals, 0);
        // What is cut takes time, too.
        let end = (out.len() as u64 + out.cut).saturating_add(out.most() as u64);
        let first = place.pop().map_or(threads.start, |thread| if thread < 0 { !thread } else { thread } as usize);
        'threads: for t in first..threads.end {
            let Some(location) = self.program.location_of(ThreadId::new(t), state) else { continue };
            let (first, last) = self.program.threads[t].at[location.index()];
            for id in place.pop().map_or(first, |id| id as u32)..last {
                if !self.is_enabled(state, TransitionId(id), stuck, &mut locals) {
                    continue;
                }
                let from = (place.pop().unwrap_or(0) as u32, std::mem::take(&mut place));
                let rest = match out.len() as u64 + out.cut >= end {
                    true => Some((0, Vec::new())),
                    false => {
                        self.outcomes(state, TransitionId(id), &mut locals, from, &mut |choice, state, outcome| {
                            match outcome {
                                End::Cut => {
                                    out.cut += 1;
                                    self.assumed[id as usize].store(true, Ordering::Relaxed);
                                }
                                End::Blocked => {}
                                End::State | End::Fault(..) => out.push(TransitionId(id), choice, state),
                            }
                            out.len() as u64 + out.cut >= end
                        })
                    }
                };
                if let Some((choice, mut place)) = rest {
                    let thread = if stuck { !(t as i64) } else { t as i64 };
                    place.extend([i64::from(choice), i64::from(id), thread]);
                    out.leave(state, place);
                    break 'threads;
                }
            }
        }
        out.scratch = locals;
    }

    fn assign(&self, place: &Place, value: i64, work: &mut [u32], locals: &mut [i64]) {
        let variable = self.program.variable(place.variable);
        debug_assert!(
            (variable.lo..=variable.hi).contains(&value),
            "lowering keeps {} in {}..{}, and {value} is outside",
            variable.name,
            variable.lo,
            variable.hi
        );
        let index = place.index.as_ref().map_or(0, |index| self.eval(index, work, locals));
        let slot = self.program.layout.slot(place.variable);
        if (0..i64::from(slot.len)).contains(&index) {
            slot.set(work, index as u32, value);
        }
    }

    fn eval(&self, expr: &Expr, state: &[u32], locals: &mut [i64]) -> i64 {
        Evaluation { program: self.program, state, stuck: false }.eval(expr, locals)
    }
}

impl Model for Interpreter<'_> {
    fn words(&self) -> usize {
        self.program.layout.words()
    }

    fn fields(&self) -> Vec<Field> {
        self.program.fields()
    }

    fn initial(&self, out: &mut Successors) {
        self.program.initial_states().iter().for_each(|state| out.push(TransitionId(0), 0, state));
    }

    fn successors(&self, state: &[u32], out: &mut Successors) {
        self.successors_of(0..self.program.threads.len(), state, out);
    }

    fn evaluate(&self, state: &[u32], stuck: bool) -> GoalSet {
        let mut set = GoalSet::default();
        let mut locals = vec![0; self.locals];
        for (goal, bad) in self.goals.iter().enumerate() {
            if (Evaluation { program: self.program, state, stuck }).eval(bad, &mut locals) != 0 {
                set.insert(goal);
            }
        }
        set
    }

    fn is_state(&self, words: &[u32]) -> bool {
        self.program.is_state(words)
    }

    fn is_fault(&self, state: &[u32]) -> bool {
        self.program.is_faulty(state)
    }

    fn transitions(&self) -> usize {
        self.program.transitions.len()
    }

    fn written(&self, transition: usize) -> Option<Vec<u32>> {
        // Whoever goes on at once writes more.
        let id = TransitionId::new(transition);
        self.program.transition(id).then.is_none().then(|| self.program.written_words(id))
    }
}

/// An expression's surroundings.
struct Evaluation<'a> {
    program: &'a Program,
    state: &'a [u32],
    stuck: bool,
}

impl Evaluation<'_> {
    fn eval(&self, expr: &Expr, locals: &mut [i64]) -> i64 {
        match expr {
            Expr::Const(value) => *value,
            Expr::Var(variable) => self.read(*variable, 0),
            Expr::Element(variable, index) => {
                let index = self.eval(index, locals);
                self.read(*variable, index)
            }
            Expr::Local(local) => locals[local.index()],
            Expr::Unary(op, operand) => op.apply(self.eval(operand, locals)),
            Expr::Binary(op, parts) => {
                let left = self.eval(&parts.0, locals);
                match (op, left != 0) {
                    (BinaryOp::And, false) => 0,
                    (BinaryOp::Or, true) => 1,
                    _ => op.apply(left, self.eval(&parts.1, locals)),
                }
            }
            Expr::If(parts) => {
                let chosen = if self.eval(&parts.0, locals) != 0 { &parts.1 } else { &parts.2 };
                self.eval(chosen, locals)
            }
            Expr::Wrap(value, lo, hi) => wrap(self.eval(value, locals), *lo, *hi),
            Expr::Fold { op, local, parts } => {
                let (lo, hi) = (self.eval(&parts.0, locals), self.eval(&parts.1, locals));
                let mut result = i64::from(*op == FoldOp::All);
                for value in lo..=hi {
                    locals[local.index()] = value;
                    let body = self.eval(&parts.2, locals);
                    match op {
                        FoldOp::All if body == 0 => return 0,
                        FoldOp::Any if body != 0 => return 1,
                        FoldOp::All | FoldOp::Any => {}
                        FoldOp::Count => result += i64::from(body != 0),
                        FoldOp::Sum => result = result.wrapping_add(body),
                    }
                }
                result
            }
            Expr::Let { local, parts } => {
                locals[local.index()] = self.eval(&parts.0, locals);
                self.eval(&parts.1, locals)
            }
            Expr::Stuck => i64::from(self.stuck),
        }
    }

    fn read(&self, variable: VarId, index: i64) -> i64 {
        let slot = self.program.layout.slot(variable);
        if (0..i64::from(slot.len)).contains(&index) { slot.get(self.state, index as u32) } else { 0 }
    }
}

/// The value bound by the step that a check looks at, if it looks at nothing else.
fn only_local(condition: &Expr) -> Option<LocalId> {
    let mut found = None;
    let mut is_only = true;
    condition.walk(&mut |e| match e {
        Expr::Local(local) => is_only &= *found.get_or_insert(*local) == *local,
        Expr::Var(_) | Expr::Element(..) | Expr::Let { .. } | Expr::Fold { .. } => is_only = false,
        _ => {}
    });
    found.filter(|_| is_only)
}

/// How many locals the largest transition or goal uses.
fn frame_size(program: &Program, goals: &[Expr]) -> usize {
    let steps = program.transitions.iter().map(|t| t.locals as usize).max().unwrap_or(0);
    goals.iter().map(frame_of).max().unwrap_or(0).max(steps)
}

pub(crate) fn frame_of(expr: &Expr) -> usize {
    let mut size = 0;
    expr.walk(&mut |e| {
        if let Expr::Local(local) | Expr::Let { local, .. } | Expr::Fold { local, .. } = e {
            size = size.max(local.index() + 1);
        }
    });
    size
}

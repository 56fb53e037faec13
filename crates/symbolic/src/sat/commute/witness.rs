//! States in which two transitions do not accord, or in which one makes a condition true, looked for by trying some: most
//! answers are negative, and such a state is found sooner than a solver is set up.

use birk_engine::{Model, Successors};
use birk_exec::{Interpreter, Random};
use birk_ir::interval::Interval;
use birk_ir::{Expr, Program, Transition, TransitionId};

use crate::sat::pairs::{Atom, Pair};
use crate::sat::unrolling::Elements;

/// States that are tried for a query.
const TRIES: usize = 16;
/// One in so many elements keeps its initial value.
const KEPT: usize = 4;

/// What a state is tried in: the elements that matter, the bounds of variables, and what no reachable state has.
pub(super) struct Around<'q> {
    pub(super) touched: &'q [Elements],
    pub(super) bounds: &'q [Interval],
    pub(super) never: &'q [Pair],
}

/// Tries states; always the same ones for the same queries.
pub(super) struct Witnesses<'p> {
    program: &'p Program,
    interpreter: Interpreter<'p>,
    initial: Vec<u32>,
    random: Random,
    out: Successors,
}

/// What a transition without choices leads to.
struct End {
    state: Vec<u32>,
    fails: bool,
}

impl<'p> Witnesses<'p> {
    pub(super) fn new(program: &'p Program) -> Self {
        let interpreter = Interpreter::new(program, &[]);
        let out = Successors::new(interpreter.words());
        Self { program, interpreter, initial: program.initial_state(), random: Random::new(0), out }
    }

    /// Whether a state was found in which two transitions do not accord.
    pub(super) fn against_accord(&mut self, pair: [TransitionId; 2], around: &Around<'_>) -> bool {
        self.tried(&pair, around, |witnesses, state| witnesses.is_conflict(pair, state))
    }

    /// Whether a state was found in which a transition makes a condition true.
    pub(super) fn of_enabling(&mut self, transition: TransitionId, condition: &Expr, around: &Around<'_>) -> bool {
        let mut asks_whether_stuck = false;
        condition.walk(&mut |part| asks_whether_stuck |= *part == Expr::Stuck);
        !asks_whether_stuck
            && self.tried(&[transition], around, |witnesses, state| {
                // Where it fails, the solver is asked.
                let is_true = |witnesses: &Self, state: &[u32]| witnesses.interpreter.value(condition, state) != 0;
                !is_true(witnesses, state)
                    && witnesses.end(transition, state).is_some_and(|end| !end.fails && is_true(witnesses, &end.state))
            })
    }

    fn tried(
        &mut self,
        transitions: &[TransitionId],
        around: &Around<'_>,
        mut is_one: impl FnMut(&mut Self, &[u32]) -> bool,
    ) -> bool {
        let mut state = self.initial.clone();
        (0..TRIES).any(|_| {
            self.fill(&mut state, transitions, around);
            !self.is_impossible(&state, around.never) && is_one(self, &state)
        })
    }

    /// Makes it a state within the bounds in which the threads are where the transitions begin.
    fn fill(&mut self, state: &mut [u32], transitions: &[TransitionId], around: &Around<'_>) {
        for (variable, elements) in around.touched {
            let (slot, (lo, hi)) = (self.program.layout.slot(*variable), around.bounds[variable.index()]);
            let values = usize::try_from(hi.saturating_sub(lo)).unwrap_or(0).saturating_add(1);
            for element in elements.clone() {
                let value = match self.random.below(KEPT) {
                    0 => slot.get(&self.initial, element),
                    _ => lo + self.random.below(values) as i64,
                };
                slot.set(state, element, value);
            }
        }
        for &id in transitions {
            let Transition { thread, location, .. } = self.program.transition(id);
            let thread = self.program.thread(*thread);
            let counter = self.program.layout.slot(self.program.kinds[thread.kind].counter);
            counter.set(state, thread.copy, location.index() as i64);
        }
        if let Some(flag) = self.program.fault {
            self.program.layout.slot(flag).set(state, 0, 0);
        }
    }

    /// Whether a state has values together that no reachable state has.
    fn is_impossible(&self, state: &[u32], never: &[Pair]) -> bool {
        let is = |&(variable, element, value): &Atom| self.program.layout.slot(variable).get(state, element) == value;
        never.iter().any(|[one, other]| is(one) && is(other))
    }

    /// Where a transition leads, if it is enabled.
    fn end(&mut self, id: TransitionId, state: &[u32]) -> Option<End> {
        let thread = self.program.transition(id).thread.index();
        self.out.clear();
        self.interpreter.successors_of(thread..thread + 1, state, &mut self.out);
        let index = (0..self.out.len()).find(|&index| self.out.step(index).transition == id)?;
        let state = self.out.state(index).to_vec();
        Some(End { fails: self.interpreter.is_fault(&state), state })
    }

    /// Whether two transitions do not accord in a state.
    fn is_conflict(&mut self, [one, other]: [TransitionId; 2], state: &[u32]) -> bool {
        let (Some(first), Some(second)) = (self.end(one, state), self.end(other, state)) else { return false };
        let is_loop = |id| {
            let transition = self.program.transition(id);
            transition.target == Some(transition.location)
        };
        let threads = [one, other].map(|id| self.program.transition(id).thread);
        if threads[0] == threads[1] && !(is_loop(one) && is_loop(other)) {
            return true;
        }
        let mut changed = false;
        let mut ends = [None, None];
        for (at, (taken, then, before)) in [(&first, other, &second), (&second, one, &first)].into_iter().enumerate() {
            if !taken.fails {
                ends[at] = self.end(then, &taken.state);
                changed |= ends[at].as_ref().is_none_or(|after| after.fails != before.fails);
            }
        }
        let [there, back] = ends;
        changed
            || matches!((there, back), (Some(there), Some(back)) if there.state != back.state && !there.fails && !back.fails)
    }
}

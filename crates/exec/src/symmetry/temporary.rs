//! Variables of threads that hold nothing where they are not needed: wherever no step reads them before writing them, they have one
//! fixed value.
//!
//! `c := choose(Client); … c := 0;` would tell client 0 from the others, though nobody looks at `c` any more. Such a variable counts
//! as a name only where it is live, and what resets it is no step that names a client.

use std::collections::HashSet;

use birk_ir::{Expr, Op, Program, Transition, VarId, VarRole};

use super::classes::Site;

/// The variables of threads that are reset where they are not live.
#[derive(Clone, Debug)]
pub(super) struct Temporaries {
    /// For each variable that is one: for each location of its thread, whether it is live there.
    live: Vec<Option<Vec<bool>>>,
    /// Which operations set one back: transition and position.
    resets: HashSet<(u32, usize)>,
}

impl Temporaries {
    /// Those of a program, if these goals are asked.
    pub(super) fn new(program: &Program, goals: &[&Expr], is_live_checked: bool) -> Self {
        let mut found = Self { live: vec![None; program.variables.len()], resets: HashSet::new() };
        let moved = moved_by_others(program);
        for (v, variable) in program.variables.iter().enumerate() {
            let VarRole::Local(kind) = variable.role else { continue };
            if variable.shape.len() == 1
                && !moved[kind]
                && let Some((live, resets)) =
                    (Candidate { program, variable: VarId::new(v), kind, is_live_checked }).look(goals)
            {
                found.live[v] = Some(live);
                found.resets.extend(resets);
            }
        }
        found
    }

    /// Whether an operation only resets a variable.
    pub(super) fn is_reset(&self, site: Site, at: usize) -> bool {
        matches!(site, Site::Transition(id) if self.resets.contains(&(id.0, at)))
    }

    /// For each location of its thread whether a variable is live, if it is reset elsewhere. A thread that is not running has
    /// no live variable.
    pub(super) fn live(&self, variable: VarId) -> Option<&[bool]> {
        self.live[variable.index()].as_deref()
    }
}

/// For each kind of threads, whether one of them is moved by another one's step.
fn moved_by_others(program: &Program) -> Vec<bool> {
    let mut moved = vec![false; program.kinds.len()];
    for transition in &program.transitions {
        let own = program.thread(transition.thread);
        for op in &transition.ops {
            let Op::Assign(place, _) = op else { continue };
            let VarRole::Counter(kind) = program.variable(place.variable).role else { continue };
            let is_own = kind == own.kind && place.index == Some(Expr::Const(i64::from(own.copy)));
            moved[kind] |= !is_own;
        }
    }
    moved
}

struct Candidate<'p> {
    program: &'p Program,
    variable: VarId,
    kind: usize,
    is_live_checked: bool,
}

/// What a transition does with the variable of its thread.
#[derive(Clone, Copy, Debug, Default)]
struct Use {
    /// Reads it before it writes it.
    reads: bool,
    /// The last write: where, and the value if that is a constant that nobody reads afterwards.
    last: Option<(usize, Option<i64>)>,
}

/// For each location whether it is live there; and transitions with the operations that set it back.
type Looked = (Vec<bool>, Vec<(u32, usize)>);

impl Candidate<'_> {
    /// Where it is live, and what resets it; `None` if it holds something elsewhere.
    fn look(&self, goals: &[&Expr]) -> Option<Looked> {
        if goals.iter().any(|goal| self.reads(goal, None) != Some(false)) {
            return None;
        }
        let uses: Vec<Use> =
            self.program.transitions.iter().map(|transition| self.uses(transition)).collect::<Option<_>>()?;
        let steps = || self.program.transitions.iter().zip(&uses).filter(|(transition, _)| self.is_ours(transition));
        let mut live = vec![false; self.program.kinds[self.kind].locations.len()];
        loop {
            let mut is_changed = false;
            for (transition, used) in steps() {
                let passes = used.last.is_none() && transition.target.is_some_and(|target| live[target.index()]);
                let location = &mut live[transition.location.index()];
                let (reads, passes) = (used.reads && self.is_live_checked, passes && self.is_live_checked);
                is_changed |= !*location && (reads || passes);
                *location |= reads || passes;
            }
            if !is_changed {
                break;
            }
        }
        if live.iter().all(|&live| live) && steps().all(|(transition, _)| transition.target.is_some()) {
            return None;
        }
        let mut rest = None;
        let mut resets = Vec::new();
        for (id, (transition, used)) in self.program.transitions.iter().zip(&uses).enumerate() {
            if !self.is_ours(transition) || transition.target.is_some_and(|target| live[target.index()]) {
                continue;
            }
            match used.last {
                None if live[transition.location.index()] => return None,
                None => {}
                Some((at, Some(value))) if *rest.get_or_insert(value) == value => resets.push((id as u32, at)),
                Some(_) => return None,
            }
        }
        let counter = &self.program.variable(self.program.kinds[self.kind].counter).initial;
        let begins = |(&location, &value): (&i64, &i64)| {
            live.get(location as usize) == Some(&true) || rest.is_none_or(|rest| rest == value)
        };
        if self.program.choices.iter().any(|choice| choice.variable == self.variable) {
            return None;
        }
        let initial = &self.program.variable(self.variable).initial;
        counter.iter().zip(initial).all(begins).then_some((live, resets))
    }

    fn is_ours(&self, transition: &Transition) -> bool {
        self.program.thread(transition.thread).kind == self.kind
    }

    /// Whether an expression reads it; `None` if it may be that of another thread than this.
    fn reads(&self, expr: &Expr, own: Option<u32>) -> Option<bool> {
        let (mut reads, mut is_own) = (false, true);
        expr.walk(&mut |part| match part {
            Expr::Var(variable) if *variable == self.variable => is_own = false,
            Expr::Element(variable, index) if *variable == self.variable => {
                reads = true;
                is_own &= own.is_some_and(|own| **index == Expr::Const(i64::from(own)));
            }
            _ => {}
        });
        is_own.then_some(reads)
    }

    fn uses(&self, transition: &Transition) -> Option<Use> {
        let own = self.is_ours(transition).then(|| self.program.thread(transition.thread).copy);
        let mut used = Use { reads: self.reads(&transition.guard, own)?, last: None };
        for (at, op) in transition.ops.iter().enumerate() {
            let parts: &[&Expr] = match op {
                Op::Assign(place, value) => match &place.index {
                    Some(index) => &[index, value],
                    None => &[value],
                },
                Op::Let(_, part) | Op::Check(part, _) | Op::Assume(part) | Op::Require(part) => &[part],
                Op::Choose(_, lo, hi) => &[lo, hi],
            };
            for part in parts {
                if self.reads(part, own)? {
                    used.reads |= used.last.is_none();
                    // What is read afterwards is no longer reset.
                    used.last = used.last.map(|(at, _)| (at, None));
                }
            }
            if let Op::Assign(place, value) = op
                && place.variable == self.variable
            {
                let own = Expr::Const(i64::from(own?));
                if place.index.as_ref() != Some(&own) {
                    return None;
                }
                used.last = Some((at, value.as_const()));
            }
        }
        Some(used)
    }
}

//! CTL about fair runs only, written in the mu-calculus, so that whoever decides that decides this.
//!
//! A run is fair if it keeps every promise again and again, and a run that does so on which `p` is always true is
//! (Emerson and Lei 1986, with the promises kept one after the other instead of each by itself)
//!
//! ```text
//! nu Z. mu Y1. (p && <keeps 1> mu Y2. (p && <keeps 2> … Z) || p && EX Y2) || p && EX Y1
//! ```
//!
//! One after the other, so that a single run shows it: a lasso on which each of them is kept. All else that CTL says of some
//! run is true of a finite beginning of it, from whose end a fair run goes on; what it says of all runs is that
//! no run is otherwise.

use birk_ir::{Branching, Expr, Op, Program, Steps, TransitionId};

use crate::product::Fairness;

impl Fairness {
    /// A formula of CTL whose runs are the fair ones. Where `goes_on` says that from every state some fair run goes on, it
    /// is left out that one does. `None` if a part of the formula is not CTL.
    pub fn ctl(&self, formula: &Branching, goes_on: bool) -> Option<Branching> {
        let promise = |condition: usize| {
            let keeps = self.met_by.iter().enumerate().filter(move |(_, met)| *met >> condition & 1 == 1);
            keeps.map(|(id, _)| TransitionId::new(id)).collect::<Vec<TransitionId>>()
        };
        // What nobody can do is not waited for.
        let promises: Vec<_> = (0..self.names.len()).map(promise).filter(|promise| !promise.is_empty()).collect();
        let mut fixpoints = 0;
        formula.walk(&mut |part| match part {
            Branching::Least(number, _) | Branching::Greatest(number, _) => fixpoints = fixpoints.max(number + 1),
            _ => {}
        });
        let mut fair = Fair { promises, fixpoints, goes_on: None, is_negated: false };
        if !goes_on {
            fair.goes_on = Some([(); 2].map(|()| fair.globally(&Branching::Atom(Expr::TRUE))));
        }
        fair.over(formula)
    }
}

/// Whether from every state a fair run goes on, because no step of the program is cut and none goes wrong: who can
/// always go on can be given its turn.
pub fn goes_on(program: &Program) -> bool {
    let is_cut = |op: &Op| matches!(op, Op::Assume(_));
    program.fault.is_none() && !program.transitions.iter().any(|transition| transition.ops.iter().any(is_cut))
}

struct Fair {
    promises: Vec<Vec<TransitionId>>,
    /// How many fixpoints there are.
    fixpoints: u32,
    /// That some fair run goes on, where that has to be said: once as it stands and once for below a negation, because a
    /// fixpoint and its dual are different ones, and those must not have the same number.
    goes_on: Option<[Branching; 2]>,
    /// What is being written will be negated.
    is_negated: bool,
}

/// When something is true on a run.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Time {
    /// Up to and including the end: `q` there, and `p` until then.
    Until,
    /// For ever.
    Always,
    /// Either.
    WeakUntil,
    /// `q` up to and including the state where `p` is.
    StrongRelease,
    /// The same, or `q` forever.
    Release,
}

impl Fair {
    fn over(&mut self, formula: &Branching) -> Option<Branching> {
        if let Branching::Atom(_) = formula {
            return Some(formula.clone());
        }
        if let Branching::And(parts) | Branching::Or(parts) = formula {
            let (left, right) = (self.over(&parts.0)?, self.over(&parts.1)?);
            return Some(if matches!(formula, Branching::And(_)) { left.and(right) } else { left.or(right) });
        }
        if is_of_all(formula) {
            self.is_negated = !self.is_negated;
            let some = self.over(&formula.dual());
            self.is_negated = !self.is_negated;
            return some.map(|some| some.dual());
        }
        if let Branching::Some(Steps::OrStay, body) = formula {
            let end = self.over(body)?;
            return Some(next(self.ends(end)));
        }
        let (number, time, p, q) = quantified(formula)?;
        let (p, q) = (self.over(p)?, self.over(q)?);
        let again = next(Branching::Variable(number));
        let finite = |fair: &Self| match time {
            Time::Until | Time::WeakUntil => {
                Branching::Least(number, Box::new(fair.ends(q.clone()).or(and(&p, again.clone()))))
            }
            _ => Branching::Least(number, Box::new(q.clone().and(fair.ends(p.clone()).or(again.clone())))),
        };
        Some(match time {
            Time::Until | Time::StrongRelease => finite(self),
            Time::Always => self.globally(&q),
            Time::WeakUntil => finite(self).or(self.globally(&p)),
            Time::Release => finite(self).or(self.globally(&q)),
        })
    }

    /// Here, and some fair run goes on.
    fn ends(&self, here: Branching) -> Branching {
        match &self.goes_on {
            Some(goes_on) => here.and(goes_on[usize::from(self.is_negated)].clone()),
            None => here,
        }
    }

    /// On some fair run it is always true.
    fn globally(&mut self, p: &Branching) -> Branching {
        let first = self.fixpoints;
        self.fixpoints += 1 + self.promises.len() as u32;
        let mut rest = Branching::Variable(first);
        if self.promises.is_empty() {
            rest = and(p, next(rest));
        }
        for (place, promise) in self.promises.iter().enumerate().rev() {
            let number = first + 1 + place as u32;
            let kept = Branching::Some(Steps::Fair(promise.clone()), Box::new(rest));
            let body = and(p, kept).or(and(p, next(Branching::Variable(number))));
            rest = Branching::Least(number, Box::new(body));
        }
        Branching::Greatest(first, Box::new(rest))
    }
}

fn and(p: &Branching, then: Branching) -> Branching {
    if *p == Branching::Atom(Expr::TRUE) { then } else { p.clone().and(then) }
}

fn next(body: Branching) -> Branching {
    Branching::Some(Steps::OrStay, Box::new(body))
}

/// Whether it begins with `A`.
fn is_of_all(formula: &Branching) -> bool {
    match formula {
        Branching::Every(Steps::OrStay, _) => true,
        Branching::Least(number, body) | Branching::Greatest(number, body) => {
            let again = Branching::Every(Steps::OrStay, Box::new(Branching::Variable(*number)));
            let mut found = false;
            body.walk(&mut |part| found |= *part == again);
            found
        }
        _ => false,
    }
}

/// `E` with what follows it, as CTL is written in fixpoints: `q` comes first, `p` beside the next step.
fn quantified(formula: &Branching) -> Option<(u32, Time, &Branching, &Branching)> {
    const TRUE: &Branching = &Branching::Atom(Expr::TRUE);
    let (Branching::Least(number, body) | Branching::Greatest(number, body)) = formula else { return None };
    let is_least = matches!(formula, Branching::Least(..));
    let again = next(Branching::Variable(*number));
    let (is_or, q, rest) = match &**body {
        Branching::Or(parts) => (true, &parts.0, &parts.1),
        Branching::And(parts) => (false, &parts.0, &parts.1),
        _ => return None,
    };
    let (time, p) = match rest {
        rest if *rest == again && is_or && is_least => (Time::Until, TRUE),
        rest if *rest == again && !is_or && !is_least => (Time::Always, TRUE),
        Branching::And(parts) if parts.1 == again && is_or => {
            (if is_least { Time::Until } else { Time::WeakUntil }, &parts.0)
        }
        Branching::Or(parts) if parts.1 == again && !is_or => {
            (if is_least { Time::StrongRelease } else { Time::Release }, &parts.0)
        }
        _ => return None,
    };
    Some((*number, time, p, q))
}

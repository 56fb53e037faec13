//! What the user asked (`Property`), and what an engine hunts (`Goal`).

use crate::branching::Branching;
use crate::expr::Expr;
use crate::ids::Span;
use crate::outcome::{Outcome, Verdict};

/// A question about a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Property {
    /// `deadlock`, `fault`, or the name the user gave.
    pub name: String,
    /// What is asked.
    pub kind: PropertyKind,
    /// Where it is written; `None` for the built-in ones.
    pub span: Option<Span>,
}

/// Kinds of properties.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PropertyKind {
    /// No reachable state is stuck, except where that is proper.
    Deadlock,
    /// No step and no evaluation of a property goes wrong.
    Fault,
    /// True in every reachable state.
    Invariant(Expr),
    /// True in some reachable state.
    Reachable(Expr),
    /// True of every infinite run (a run that ends stutters forever).
    Ltl(Formula),
    /// True in the initial state, by what can happen from there on; written in CTL.
    Ctl(Branching),
    /// The same, written in the modal mu-calculus.
    Mu(Branching),
    /// No infinite run is accepted by an automaton that was given beside the program.
    Automaton,
    /// No infinite run is accepted by an automaton that the model itself declares.
    Claim(Claim),
}

/// A Büchi automaton that a model declares: it moves with every step of the program, by a condition on the state that is left,
/// and stutters along with a run that ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// Its states.
    pub states: Vec<ClaimState>,
    /// Where it begins.
    pub initial: usize,
}

/// A state of a claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClaimState {
    /// Its name.
    pub name: String,
    /// Whether visiting it infinitely often is accepting.
    pub is_accepting: bool,
    /// Its moves: a condition over one state of the program, and the number of the next state of the claim.
    pub moves: Vec<(Expr, usize)>,
}

/// A formula of linear temporal logic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Formula {
    /// A state predicate.
    Atom(Expr),
    /// Negation.
    Not(Box<Formula>),
    /// Conjunction.
    And(Box<(Formula, Formula)>),
    /// Disjunction.
    Or(Box<(Formula, Formula)>),
    /// In the next state.
    Next(Box<Formula>),
    /// From now on.
    Always(Box<Formula>),
    /// Now or later.
    Eventually(Box<Formula>),
    /// The first holds until the second does, and it does.
    Until(Box<(Formula, Formula)>),
    /// The first holds until the second does, or forever.
    WeakUntil(Box<(Formula, Formula)>),
    /// The second holds up to and including the state in which the first does, or forever.
    Release(Box<(Formula, Formula)>),
}

impl Formula {
    /// Whether it counts steps: whether `X` occurs in it.
    pub fn has_next(&self) -> bool {
        match self {
            Formula::Atom(_) => false,
            Formula::Next(_) => true,
            Formula::Not(f) | Formula::Always(f) | Formula::Eventually(f) => f.has_next(),
            Formula::And(parts)
            | Formula::Or(parts)
            | Formula::Until(parts)
            | Formula::WeakUntil(parts)
            | Formula::Release(parts) => parts.0.has_next() || parts.1.has_next(),
        }
    }

    /// Its state predicates.
    fn conditions(&self) -> Vec<&Expr> {
        match self {
            Formula::Atom(expr) => vec![expr],
            Formula::Not(f) | Formula::Next(f) | Formula::Always(f) | Formula::Eventually(f) => f.conditions(),
            Formula::And(parts)
            | Formula::Or(parts)
            | Formula::Until(parts)
            | Formula::WeakUntil(parts)
            | Formula::Release(parts) => {
                let mut found = parts.0.conditions();
                found.extend(parts.1.conditions());
                found
            }
        }
    }
}

/// What an engine hunts. It is neither good nor bad news.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Goal {
    /// A reachable state in which the expression is true; `Expr::Stuck` may occur in it.
    State(Expr),
}

impl Property {
    /// The word for its kind in reports.
    pub fn word(&self) -> &'static str {
        match self.kind {
            PropertyKind::Deadlock => "deadlock",
            PropertyKind::Fault => "fault",
            PropertyKind::Invariant(_) => "invariant",
            PropertyKind::Reachable(_) => "reachable",
            PropertyKind::Ltl(_) => "ltl",
            PropertyKind::Ctl(_) => "ctl",
            PropertyKind::Mu(_) => "mu",
            PropertyKind::Automaton | PropertyKind::Claim(_) => "automaton",
        }
    }

    /// Whether finding the goal is what the user hoped for.
    pub fn wants_goal(&self) -> bool {
        match &self.kind {
            PropertyKind::Reachable(_) => true,
            PropertyKind::Ctl(formula) | PropertyKind::Mu(formula) => formula.seeks(),
            _ => false,
        }
    }

    /// The formula about the branching of runs, if it is one.
    pub fn branching(&self) -> Option<&Branching> {
        match &self.kind {
            PropertyKind::Ctl(formula) | PropertyKind::Mu(formula) => Some(formula),
            _ => None,
        }
    }

    /// Its conditions of single states. What the built-in ones look at is said by the program, what an automaton beside it looks
    /// at by that.
    pub fn conditions(&self) -> Vec<&Expr> {
        match &self.kind {
            PropertyKind::Deadlock | PropertyKind::Fault | PropertyKind::Automaton => Vec::new(),
            PropertyKind::Invariant(expr) | PropertyKind::Reachable(expr) => vec![expr],
            PropertyKind::Ltl(formula) => formula.conditions(),
            PropertyKind::Ctl(formula) | PropertyKind::Mu(formula) => {
                let mut found = Vec::new();
                formula.walk(&mut |part| {
                    if let Branching::Atom(expr) = part {
                        found.push(expr);
                    }
                });
                found
            }
            PropertyKind::Claim(claim) => {
                claim.states.iter().flat_map(|state| state.moves.iter().map(|(condition, _)| condition)).collect()
            }
        }
    }

    /// Whether it is about whole runs, not about states.
    pub fn is_of_runs(&self) -> bool {
        matches!(self.kind, PropertyKind::Ltl(_) | PropertyKind::Automaton | PropertyKind::Claim(_))
    }

    /// Whether single states decide it: neither whole runs nor their branching.
    pub fn is_of_states(&self) -> bool {
        !self.is_of_runs() && self.branching().is_none()
    }

    /// The one place where an outcome becomes good or bad news.
    pub fn verdict(&self, outcome: &Outcome) -> Verdict {
        match (outcome, self.wants_goal()) {
            (Outcome::Found(_), true) | (Outcome::Absent, false) => Verdict::Holds,
            (Outcome::Found(_) | Outcome::Untraced(_), false) | (Outcome::Absent, true) => Verdict::Violated,
            // Without a trace nobody has confirmed it: enough to warn, too little to rely on.
            (Outcome::Untraced(_), true) | (Outcome::Inconclusive, _) => Verdict::Inconclusive,
        }
    }
}

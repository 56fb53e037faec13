//! Formulas about the branching of runs: the modal mu-calculus, which CTL is written in, too.
//!
//! They are in positive form: negation stands only within conditions of one state, so that every variable is monotone
//! and every fixpoint exists. `dual` negates.

use crate::expr::{Expr, UnaryOp};
use crate::ids::TransitionId;

/// A formula that is true or false in a state, by what can happen from there on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Branching {
    /// A condition of one state.
    Atom(Expr),
    /// What the fixpoint with this number stands for.
    Variable(u32),
    /// Conjunction.
    And(Box<(Branching, Branching)>),
    /// Disjunction.
    Or(Box<(Branching, Branching)>),
    /// Some of these steps leads to a state in which it is true.
    Some(Steps, Box<Branching>),
    /// Each of these steps leads to a state in which it is true.
    Every(Steps, Box<Branching>),
    /// The smallest set of states that is what the body says, given that set; no two different fixpoints have the
    /// same number.
    Least(u32, Box<Branching>),
    /// The largest such set.
    Greatest(u32, Box<Branching>),
}

/// Which steps are meant. A step that goes wrong is none of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Steps {
    /// All.
    All,
    /// All, and staying where no step is possible: CTL is about runs that never end.
    OrStay,
    /// Those of these transitions, in order.
    Of(Vec<TransitionId>),
    /// Those that keep the promise not to pass over these transitions forever: theirs, and, where none of them is possible,
    /// all, and staying. A step that goes wrong is possible.
    Fair(Vec<TransitionId>),
}

impl Branching {
    /// Conjunction.
    pub fn and(self, other: Self) -> Self {
        Self::And(Box::new((self, other)))
    }

    /// Disjunction.
    pub fn or(self, other: Self) -> Self {
        Self::Or(Box::new((self, other)))
    }

    /// The negation.
    pub fn dual(&self) -> Self {
        let two = |parts: &(Self, Self)| Box::new((parts.0.dual(), parts.1.dual()));
        match self {
            Self::Atom(expr) => Self::Atom(expr.clone().negate()),
            Self::Variable(number) => Self::Variable(*number),
            Self::And(parts) => Self::Or(two(parts)),
            Self::Or(parts) => Self::And(two(parts)),
            Self::Some(steps, body) => Self::Every(steps.clone(), Box::new(body.dual())),
            Self::Every(steps, body) => Self::Some(steps.clone(), Box::new(body.dual())),
            Self::Least(number, body) => Self::Greatest(*number, Box::new(body.dual())),
            Self::Greatest(number, body) => Self::Least(*number, Box::new(body.dual())),
        }
    }

    /// It and all its parts, outermost first.
    pub fn walk<'f>(&'f self, visit: &mut impl FnMut(&'f Self)) {
        visit(self);
        match self {
            Self::Atom(_) | Self::Variable(_) => {}
            Self::And(parts) | Self::Or(parts) => {
                parts.0.walk(visit);
                parts.1.walk(visit);
            }
            Self::Some(_, body) | Self::Every(_, body) | Self::Least(_, body) | Self::Greatest(_, body) => {
                body.walk(visit);
            }
        }
    }

    fn has(&self, is_meant: impl Fn(&Self) -> bool) -> bool {
        let mut found = false;
        self.walk(&mut |part| found |= is_meant(part));
        found
    }

    /// It only claims that something can happen: true in a part of the graph, it is true.
    pub fn is_existential(&self) -> bool {
        !self.has(|part| matches!(part, Self::Every(..)))
    }

    /// It only claims what happens whatever is done: false in a part of the graph, it is false.
    pub fn is_universal(&self) -> bool {
        !self.has(|part| matches!(part, Self::Some(..)))
    }

    /// Whether it looks for something, as `EF` does: then a run shows its truth; otherwise a run shows that it is false.
    ///
    /// What the outermost fixpoint goes on with decides, or, without fixpoints, the outermost modality.
    pub fn seeks(&self) -> bool {
        match self {
            Self::Atom(_) | Self::Variable(_) | Self::Every(..) => false,
            Self::Some(..) => true,
            Self::And(parts) | Self::Or(parts) => parts.0.seeks() || parts.1.seeks(),
            Self::Least(number, body) | Self::Greatest(number, body) => {
                body.goes_on(*number, None).unwrap_or_else(|| body.seeks())
            }
        }
    }

    /// Whether the first occurrence of a variable is below a `Some`, given the outermost modality above.
    fn goes_on(&self, variable: u32, above: Option<bool>) -> Option<bool> {
        match self {
            Self::Atom(_) => None,
            Self::Variable(number) => above.filter(|_| *number == variable),
            Self::And(parts) | Self::Or(parts) => {
                parts.0.goes_on(variable, above).or_else(|| parts.1.goes_on(variable, above))
            }
            Self::Some(_, body) => body.goes_on(variable, above.or(Some(true))),
            Self::Every(_, body) => body.goes_on(variable, above.or(Some(false))),
            Self::Least(_, body) | Self::Greatest(_, body) => body.goes_on(variable, above),
        }
    }

    /// The different conditions in it, without their negations, added to those that are known.
    pub fn add_propositions(&self, known: &mut Vec<Expr>) {
        self.walk(&mut |part| {
            if let Self::Atom(expr) = part {
                let (proposition, _) = literal(expr);
                if !known.contains(proposition) {
                    known.push(proposition.clone());
                }
            }
        });
    }
}

/// A condition without its negation, and whether it was negated.
pub fn literal(expr: &Expr) -> (&Expr, bool) {
    match expr {
        Expr::Unary(UnaryOp::Not, inner) => (inner, true),
        other => (other, false),
    }
}

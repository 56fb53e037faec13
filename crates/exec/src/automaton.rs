//! Formulas of linear temporal logic become Büchi automata, and automata come from and go to files.
//!
//! The way: normal form and rewriting (`formula`), a generalized automaton with marks on its edges (`translate`),
//! smaller by simulation and without useless states (`reduce`), one set of accepting states (`degeneralize`), smaller
//! again. Labels of edges are Boolean functions of propositions (`label`).

mod buchi;
mod degeneralize;
pub mod dot;
pub mod formula;
mod graph;
pub mod hoa;
pub mod label;
pub mod never;
mod reduce;
mod simplify;
pub mod text;
mod translate;

use std::ops::Range;

use birk_ir::{Claim, Expr, Formula};

pub use buchi::{Buchi, Strength};
pub use formula::{FormulaId, Formulas};
pub use graph::{Edge, Graph};
pub use translate::TooLarge;

/// So many propositions can a formula or an automaton have.
pub const MAX_PROPOSITIONS: usize = 64;

/// An automaton of a file, and where in the text its propositions stand.
#[derive(Clone, Debug)]
pub struct OfFile {
    /// What was read.
    pub automaton: Buchi,
    /// By the number of the proposition.
    pub places: Vec<Range<usize>>,
}

/// The automaton that accepts exactly the runs of which the formula is true.
pub fn automaton_of(formulas: &mut Formulas, formula: FormulaId) -> Result<Buchi, TooLarge> {
    let mut graph = translate::translate(formulas, formula)?;
    reduce::reduce(&mut graph);
    Ok(degeneralize::degeneralize(&graph, formulas.names().to_vec()))
}

/// The automaton of the runs that violate a formula, and its propositions: number `i` is `propositions[i]`.
pub fn violations_of(formula: &Formula) -> Result<(Buchi, Vec<Expr>), TooLarge> {
    let mut propositions = Vec::new();
    let mut formulas = Formulas::default();
    let read = lower(formula, &mut formulas, &mut propositions)?;
    let negated = formulas.negate(read);
    Ok((automaton_of(&mut formulas, negated)?, propositions))
}

/// A claim as it is written, state by state, and its propositions: each different condition is one.
pub fn automaton_of_claim(claim: &Claim) -> Result<(Buchi, Vec<Expr>), TooLarge> {
    let mut propositions: Vec<Expr> = Vec::new();
    let mut labels = label::Labels::default();
    let mut edges = Vec::new();
    for (from, state) in claim.states.iter().enumerate() {
        for (condition, target) in &state.moves {
            let label = match condition.as_const() {
                Some(0) => continue,
                Some(_) => label::Label::TRUE,
                None => {
                    let known = propositions.iter().position(|other| other == condition);
                    let number = known.unwrap_or(propositions.len());
                    if number == MAX_PROPOSITIONS {
                        return Err(TooLarge(format!("it has more than {MAX_PROPOSITIONS} different conditions")));
                    }
                    if known.is_none() {
                        propositions.push(condition.clone());
                    }
                    labels.proposition(number)
                }
            };
            edges.push((from, label, *target));
        }
    }
    let names = (0..propositions.len()).map(|number| format!("p{number}")).collect();
    let accepting: Vec<bool> = claim.states.iter().map(|state| state.is_accepting).collect();
    Ok((Buchi::exactly(labels, names, vec![claim.initial], &accepting, &edges), propositions))
}

/// Labels that are nested deeper than this are refused, so that reading them may recurse.
const MAX_NESTING: usize = 1000;

fn refuse_depth(text: &str) -> Result<(), String> {
    let (mut depth, mut negations) = (0usize, 0);
    for c in text.chars() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        negations = match c {
            '!' => negations + 1,
            c if c.is_whitespace() => negations,
            _ => 0,
        };
        if depth + negations > MAX_NESTING {
            return Err(format!("labels are nested more than {MAX_NESTING} deep"));
        }
    }
    Ok(())
}

fn lower(formula: &Formula, to: &mut Formulas, propositions: &mut Vec<Expr>) -> Result<FormulaId, TooLarge> {
    let mut both = |parts: &(Formula, Formula), to: &mut Formulas| {
        Ok((lower(&parts.0, to, propositions)?, lower(&parts.1, to, propositions)?))
    };
    Ok(match formula {
        Formula::Atom(expr) => match expr.as_const() {
            Some(value) => to.constant(value != 0),
            None => proposition(expr, to, propositions)?,
        },
        Formula::Not(inner) => {
            let inner = lower(inner, to, propositions)?;
            to.negate(inner)
        }
        Formula::And(parts) => both(parts, to).map(|(a, b)| to.and([a, b]))?,
        Formula::Or(parts) => both(parts, to).map(|(a, b)| to.or([a, b]))?,
        Formula::Next(inner) => lower(inner, to, propositions).map(|inner| to.next(inner))?,
        Formula::Always(inner) => lower(inner, to, propositions).map(|inner| to.always(inner))?,
        Formula::Eventually(inner) => lower(inner, to, propositions).map(|inner| to.eventually(inner))?,
        Formula::Until(parts) => both(parts, to).map(|(a, b)| to.until(a, b))?,
        Formula::WeakUntil(parts) => both(parts, to).map(|(a, b)| to.weak_until(a, b))?,
        Formula::Release(parts) => both(parts, to).map(|(a, b)| to.release(a, b))?,
    })
}

/// A condition or its negation; each condition has one number.
fn proposition(expr: &Expr, to: &mut Formulas, propositions: &mut Vec<Expr>) -> Result<FormulaId, TooLarge> {
    let negation = expr.clone().negate();
    if let Some(known) = propositions.iter().position(|other| *other == negation) {
        let known = to.proposition(&format!("p{known}"));
        return Ok(to.negate(known));
    }
    let number = propositions.iter().position(|other| other == expr).unwrap_or_else(|| {
        propositions.push(expr.clone());
        propositions.len() - 1
    });
    if propositions.len() > MAX_PROPOSITIONS {
        return Err(TooLarge(format!("it has more than {MAX_PROPOSITIONS} different conditions")));
    }
    Ok(to.proposition(&format!("p{number}")))
}

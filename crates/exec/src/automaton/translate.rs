//! A formula becomes a generalized automaton: a state is a formula that the rest of the run must satisfy.
//!
//! After Couvreur, "On-the-fly verification of linear temporal logic", 1999: each formula is split into what must be
//! true now, what must be true from the next state on, and which `until` was put off. An edge has the marks of the
//! `until`s that it does not put off, so one that is put off forever is never accepted.

use std::collections::HashMap;
use std::fmt;

use super::formula::{FormulaId, Formulas, Node, TRUE};
use super::graph::{Edge, Graph};
use super::label::{Label, Labels};

/// More states, or more ways to satisfy one formula, are refused.
const MAX_STATES: usize = 4000;
const MAX_WAYS: usize = 4000;
/// One bit each.
const MAX_UNTILS: usize = 63;

/// Why a formula was not translated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TooLarge(pub String);

impl fmt::Display for TooLarge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the LTL formula is too large: {}", self.0)
    }
}

impl std::error::Error for TooLarge {}

/// One way to satisfy a formula.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Way {
    /// What is true now.
    now: Label,
    /// What is true from the next state on: all of these, in order.
    later: Vec<FormulaId>,
    /// The `until`s that are put off.
    put_off: u64,
}

struct Translation<'f> {
    formulas: &'f mut Formulas,
    labels: Labels,
    ways: HashMap<FormulaId, Vec<Way>>,
    untils: Vec<FormulaId>,
}

/// The automaton of a formula.
pub(super) fn translate(formulas: &mut Formulas, formula: FormulaId) -> Result<Graph, TooLarge> {
    let mut translation = Translation { formulas, labels: Labels::default(), ways: HashMap::new(), untils: Vec::new() };
    let mut numbers = HashMap::from([(formula, 0)]);
    let mut states = vec![formula];
    let mut found: Vec<Vec<(Label, u64, usize)>> = Vec::new();
    while let Some(&state) = states.get(found.len()) {
        let mut edges = Vec::new();
        for way in translation.ways(state)? {
            let target = translation.conjunction(&way.later);
            let number = *numbers.entry(target).or_insert_with(|| {
                states.push(target);
                states.len() - 1
            });
            edges.push((way.now, way.put_off, number));
        }
        if states.len() > MAX_STATES {
            return Err(TooLarge(format!("its automaton has more than {MAX_STATES} states")));
        }
        found.push(edges);
    }
    let marks = translation.untils.len() as u32;
    let all = (1u64 << marks) - 1;
    let mut labels = translation.labels;
    let edges = found
        .into_iter()
        .map(|edges| {
            let edges = edges.into_iter().map(|(label, put_off, target)| Edge { label, marks: all & !put_off, target });
            labels.merged(edges.collect())
        })
        .collect();
    Ok(Graph { labels, marks, by_state: false, initial: vec![0], edges })
}

impl Translation<'_> {
    /// A state. What another part asks for anyway, now, is left out; to leave out whatever is implied would be wrong: in
    /// `[] X <> p` and `<> p` the first implies the second, but only ever asks for it one step later.
    fn conjunction(&mut self, parts: &[FormulaId]) -> FormulaId {
        let asks = |part: FormulaId, other: FormulaId| match self.formulas.node(other) {
            Node::Release(_, right) => match self.formulas.node(*right) {
                Node::And(inner) => inner.contains(&part),
                _ => *right == part,
            },
            _ => false,
        };
        let kept = parts.iter().copied().filter(|&part| !parts.iter().any(|&other| asks(part, other)));
        let kept: Vec<FormulaId> = kept.collect();
        match kept[..] {
            [] => TRUE,
            [one] => one,
            _ => self.formulas.keep(Node::And(kept)),
        }
    }

    /// All ways to satisfy a formula, none of which is worse than another.
    fn ways(&mut self, formula: FormulaId) -> Result<Vec<Way>, TooLarge> {
        if let Some(known) = self.ways.get(&formula) {
            return Ok(known.clone());
        }
        let now = |now| vec![Way { now, later: Vec::new(), put_off: 0 }];
        let later = |formula, put_off| vec![Way { now: Label::TRUE, later: vec![formula], put_off }];
        let ways = match self.formulas.node(formula).clone() {
            Node::True => now(Label::TRUE),
            Node::False => Vec::new(),
            Node::Literal(number, positive) => {
                let label = self.labels.proposition(usize::from(number));
                now(if positive { label } else { self.labels.not(label) })
            }
            Node::And(parts) => {
                let mut all = now(Label::TRUE);
                for part in parts {
                    let ways = self.ways(part)?;
                    all = self.both(&all, &ways)?;
                }
                all
            }
            Node::Or(parts) => {
                let mut any = Vec::new();
                for part in parts {
                    any.extend(self.ways(part)?);
                }
                self.best(any)?
            }
            Node::Next(inner) => match self.formulas.node(inner).clone() {
                Node::And(parts) => vec![Way { now: Label::TRUE, later: parts, put_off: 0 }],
                Node::Or(parts) => parts.into_iter().flat_map(|part| later(part, 0)).collect(),
                _ => later(inner, 0),
            },
            Node::Until(left, right) => {
                let put_off = self.number_of(formula)?;
                let waits = self.ways(left)?;
                let waits = self.both(&waits, &later(formula, put_off))?;
                let mut ways = self.ways(right)?;
                ways.extend(waits);
                self.best(ways)?
            }
            Node::Release(left, right) => {
                let mut ends = self.ways(left)?;
                ends.extend(later(formula, 0));
                let stays = self.ways(right)?;
                self.both(&stays, &ends)?
            }
        };
        self.ways.insert(formula, ways.clone());
        Ok(ways)
    }

    fn number_of(&mut self, until: FormulaId) -> Result<u64, TooLarge> {
        let number = self.untils.iter().position(|&known| known == until).unwrap_or_else(|| {
            self.untils.push(until);
            self.untils.len() - 1
        });
        if number >= MAX_UNTILS {
            return Err(TooLarge(format!("it has more than {MAX_UNTILS} eventualities")));
        }
        Ok(1 << number)
    }

    fn both(&mut self, left: &[Way], right: &[Way]) -> Result<Vec<Way>, TooLarge> {
        let mut ways = Vec::new();
        for a in left {
            for b in right {
                let now = self.labels.and(a.now, b.now);
                if now == Label::FALSE {
                    continue;
                }
                let mut later: Vec<FormulaId> = a.later.iter().chain(&b.later).copied().collect();
                later.sort_unstable();
                later.dedup();
                ways.push(Way { now, later, put_off: a.put_off | b.put_off });
            }
            if ways.len() > 4 * MAX_WAYS {
                ways = self.best(ways)?;
            }
        }
        self.best(ways)
    }

    /// For each letter, the ways that no other beats: one that asks for less later, and puts off less.
    fn best(&mut self, mut ways: Vec<Way>) -> Result<Vec<Way>, TooLarge> {
        ways.sort_unstable_by(|a, b| (a.later.len(), &a.later, a.put_off).cmp(&(b.later.len(), &b.later, b.put_off)));
        let mut best: Vec<Way> = Vec::new();
        for mut way in ways {
            if let Some(same) = best.iter_mut().find(|w| w.later == way.later && w.put_off == way.put_off) {
                same.now = self.labels.or(same.now, way.now);
                continue;
            }
            for other in &best {
                let less = other.put_off & !way.put_off == 0 && other.later.iter().all(|f| way.later.contains(f));
                if less {
                    way.now = self.labels.minus(way.now, other.now);
                }
            }
            if way.now != Label::FALSE {
                best.push(way);
            }
        }
        if best.len() > MAX_WAYS {
            return Err(TooLarge(format!("there are more than {MAX_WAYS} ways to satisfy a part of it")));
        }
        Ok(best)
    }
}

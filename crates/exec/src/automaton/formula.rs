//! Formulas in negation normal form, each kept once: equal formulas have equal numbers.
//!
//! Whatever builds a formula goes through the rewriting of `simplify`, so that a formula is as small as its rules can
//! make it from the moment it exists.

use std::collections::HashMap;

/// A formula of its `Formulas`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FormulaId(pub(super) u32);

/// One formula: negations stand before propositions only; always, eventually and weak until are forms of the rest.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Node {
    True,
    False,
    /// A proposition, or its negation.
    Literal(u8, bool),
    /// At least two, in order.
    And(Vec<FormulaId>),
    Or(Vec<FormulaId>),
    Next(FormulaId),
    Until(FormulaId, FormulaId),
    Release(FormulaId, FormulaId),
}

/// Formulas over named propositions.
#[derive(Clone, Debug)]
pub struct Formulas {
    nodes: Vec<Node>,
    index: HashMap<Node, FormulaId>,
    negations: HashMap<FormulaId, FormulaId>,
    pub(super) implications: HashMap<(FormulaId, FormulaId), bool>,
    names: Vec<String>,
}

pub(super) const TRUE: FormulaId = FormulaId(0);
pub(super) const FALSE: FormulaId = FormulaId(1);

impl Default for Formulas {
    fn default() -> Self {
        let nodes = vec![Node::True, Node::False];
        let index = HashMap::from([(Node::True, TRUE), (Node::False, FALSE)]);
        Self { nodes, index, negations: HashMap::new(), implications: HashMap::new(), names: Vec::new() }
    }
}

impl Formulas {
    pub(super) fn node(&self, formula: FormulaId) -> &Node {
        &self.nodes[formula.0 as usize]
    }

    pub(super) fn keep(&mut self, node: Node) -> FormulaId {
        if let Some(&known) = self.index.get(&node) {
            return known;
        }
        let formula = FormulaId(u32::try_from(self.nodes.len()).expect("formulas are small"));
        self.nodes.push(node.clone());
        self.index.insert(node, formula);
        formula
    }

    /// The names of the propositions.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// True or false.
    pub fn constant(&self, value: bool) -> FormulaId {
        if value { TRUE } else { FALSE }
    }

    /// The proposition of this name.
    pub fn proposition(&mut self, name: &str) -> FormulaId {
        let number = self.names.iter().position(|known| known == name).unwrap_or_else(|| {
            self.names.push(name.to_owned());
            self.names.len() - 1
        });
        self.keep(Node::Literal(u8::try_from(number).expect("there are few propositions"), true))
    }

    /// Negation, pushed down to the propositions.
    pub fn negate(&mut self, formula: FormulaId) -> FormulaId {
        if let Some(&known) = self.negations.get(&formula) {
            return known;
        }
        let negation = match self.node(formula).clone() {
            Node::True => FALSE,
            Node::False => TRUE,
            Node::Literal(number, positive) => self.keep(Node::Literal(number, !positive)),
            Node::And(parts) => {
                let parts: Vec<_> = parts.into_iter().map(|part| self.negate(part)).collect();
                self.or(parts)
            }
            Node::Or(parts) => {
                let parts: Vec<_> = parts.into_iter().map(|part| self.negate(part)).collect();
                self.and(parts)
            }
            Node::Next(inner) => {
                let inner = self.negate(inner);
                self.next(inner)
            }
            Node::Until(left, right) => {
                let (left, right) = (self.negate(left), self.negate(right));
                self.release(left, right)
            }
            Node::Release(left, right) => {
                let (left, right) = (self.negate(left), self.negate(right));
                self.until(left, right)
            }
        };
        self.negations.insert(formula, negation);
        self.negations.entry(negation).or_insert(formula);
        negation
    }

    /// From now on.
    pub fn always(&mut self, formula: FormulaId) -> FormulaId {
        self.release(FALSE, formula)
    }

    /// Now or later.
    pub fn eventually(&mut self, formula: FormulaId) -> FormulaId {
        self.until(TRUE, formula)
    }

    /// The first until the second, or forever.
    pub fn weak_until(&mut self, left: FormulaId, right: FormulaId) -> FormulaId {
        let either = self.or([left, right]);
        self.release(right, either)
    }

    /// Whether it can only become true later, not false: if it is true of some later part of a run, it is true of the
    /// whole ("pure eventuality").
    pub(super) fn is_eventual(&self, formula: FormulaId) -> bool {
        match self.node(formula) {
            Node::True | Node::False => true,
            Node::Literal(..) => false,
            Node::And(parts) | Node::Or(parts) => parts.iter().all(|&part| self.is_eventual(part)),
            Node::Next(inner) => self.is_eventual(*inner),
            Node::Until(left, right) => *left == TRUE || self.is_eventual(*right),
            Node::Release(left, right) => self.is_eventual(*right) && (*left == FALSE || self.is_eventual(*left)),
        }
    }

    /// Whether it stays true once it is ("pure universality").
    pub(super) fn is_universal(&self, formula: FormulaId) -> bool {
        match self.node(formula) {
            Node::True | Node::False => true,
            Node::Literal(..) => false,
            Node::And(parts) | Node::Or(parts) => parts.iter().all(|&part| self.is_universal(part)),
            Node::Next(inner) => self.is_universal(*inner),
            Node::Release(left, right) => *left == FALSE || self.is_universal(*right),
            Node::Until(left, right) => self.is_universal(*right) && (*left == TRUE || self.is_universal(*left)),
        }
    }

    /// Whether it is true of a run if and only if it is true of all its later parts.
    pub(super) fn is_timeless(&self, formula: FormulaId) -> bool {
        self.is_eventual(formula) && self.is_universal(formula)
    }
}

//! Labels of edges: Boolean functions of propositions, as reduced ordered decision diagrams, so that equal functions
//! are equal numbers and implication is exact. A label has few propositions; nothing here is ever freed.

use std::collections::HashMap;

use birk_ir::Expr;

/// A function of the propositions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Label(u32);

impl Label {
    /// True of no letter.
    pub const FALSE: Label = Label(0);
    /// True of every letter.
    pub const TRUE: Label = Label(1);
}

/// Some propositions that must be true and some that must be false.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cube {
    /// Those that are true.
    pub positive: u64,
    /// Those that are false.
    pub negative: u64,
}

/// All labels of an automaton.
#[derive(Clone, Debug)]
pub struct Labels {
    /// Proposition, value where it is false, value where it is true.
    nodes: Vec<(u8, Label, Label)>,
    unique: HashMap<(u8, Label, Label), Label>,
    conditional: HashMap<(Label, Label, Label), Label>,
}

/// Below every proposition.
const LEAF: u8 = u8::MAX;

impl Default for Labels {
    fn default() -> Self {
        let leaves = [Label::FALSE, Label::TRUE].map(|leaf| (LEAF, leaf, leaf));
        Self { nodes: leaves.to_vec(), unique: HashMap::new(), conditional: HashMap::new() }
    }
}

impl Labels {
    /// True where the proposition is.
    pub fn proposition(&mut self, number: usize) -> Label {
        self.node(u8::try_from(number).expect("there are few propositions"), Label::FALSE, Label::TRUE)
    }

    fn node(&mut self, proposition: u8, low: Label, high: Label) -> Label {
        if low == high {
            return low;
        }
        let next = Label(u32::try_from(self.nodes.len()).expect("labels are small"));
        let label = *self.unique.entry((proposition, low, high)).or_insert(next);
        if label == next {
            self.nodes.push((proposition, low, high));
        }
        label
    }

    fn top(&self, label: Label) -> u8 {
        self.nodes[label.0 as usize].0
    }

    fn parts(&self, label: Label, proposition: u8) -> (Label, Label) {
        let (top, low, high) = self.nodes[label.0 as usize];
        if top == proposition { (low, high) } else { (label, label) }
    }

    /// `yes` where the condition is true, else `no`.
    pub fn choose(&mut self, condition: Label, yes: Label, no: Label) -> Label {
        match condition {
            Label::TRUE => return yes,
            Label::FALSE => return no,
            _ if yes == no => return yes,
            _ if yes == Label::TRUE && no == Label::FALSE => return condition,
            _ => {}
        }
        if let Some(&known) = self.conditional.get(&(condition, yes, no)) {
            return known;
        }
        let proposition = self.top(condition).min(self.top(yes)).min(self.top(no));
        let [c, y, n] = [condition, yes, no].map(|label| self.parts(label, proposition));
        let (low, high) = (self.choose(c.0, y.0, n.0), self.choose(c.1, y.1, n.1));
        let label = self.node(proposition, low, high);
        self.conditional.insert((condition, yes, no), label);
        label
    }

    /// Both.
    pub fn and(&mut self, a: Label, b: Label) -> Label {
        self.choose(a, b, Label::FALSE)
    }

    /// Either.
    pub fn or(&mut self, a: Label, b: Label) -> Label {
        self.choose(a, Label::TRUE, b)
    }

    /// Not.
    pub fn not(&mut self, a: Label) -> Label {
        self.choose(a, Label::FALSE, Label::TRUE)
    }

    /// The first and not the second.
    pub fn minus(&mut self, a: Label, b: Label) -> Label {
        let not = self.not(b);
        self.and(a, not)
    }

    /// Whether every letter of the first is one of the second.
    pub fn implies(&mut self, a: Label, b: Label) -> bool {
        self.minus(a, b) == Label::FALSE
    }

    /// Its value for a letter: the set of propositions that are true.
    pub fn is_true(&self, mut label: Label, letter: u64) -> bool {
        loop {
            match label {
                Label::FALSE => return false,
                Label::TRUE => return true,
                _ => {
                    let (proposition, low, high) = self.nodes[label.0 as usize];
                    label = if letter >> proposition & 1 == 1 { high } else { low };
                }
            }
        }
    }

    /// The same function of what stands for its propositions.
    pub fn condition(&self, label: Label, propositions: &[Expr]) -> Expr {
        match label {
            Label::FALSE => return Expr::FALSE,
            Label::TRUE => return Expr::TRUE,
            _ => {}
        }
        let (proposition, low, high) = self.nodes[label.0 as usize];
        let is_true = propositions[usize::from(proposition)].clone();
        let (no, yes) = (self.condition(low, propositions), self.condition(high, propositions));
        match (low, high) {
            (Label::FALSE, _) => is_true.and(yes),
            (_, Label::FALSE) => is_true.negate().and(no),
            (Label::TRUE, _) => is_true.negate().or(yes),
            (_, Label::TRUE) => is_true.or(no),
            _ => Expr::choose(is_true, yes, no),
        }
    }

    /// The same function with other numbers for its propositions, among the labels of another automaton.
    pub fn copy_to(&self, label: Label, other: &mut Labels, number: &impl Fn(usize) -> usize) -> Label {
        if label == Label::FALSE || label == Label::TRUE {
            return label;
        }
        let (proposition, low, high) = self.nodes[label.0 as usize];
        let (low, high) = (self.copy_to(low, other, number), self.copy_to(high, other, number));
        let condition = other.proposition(number(usize::from(proposition)));
        other.choose(condition, high, low)
    }

    /// A short list of cubes of which it is the union (irredundant sum of products, after Minato and Morreale).
    pub fn cubes(&mut self, label: Label) -> Vec<Cube> {
        self.sum_of_products(label, label).1
    }

    fn sum_of_products(&mut self, least: Label, most: Label) -> (Label, Vec<Cube>) {
        if least == Label::FALSE {
            return (Label::FALSE, Vec::new());
        }
        if most == Label::TRUE {
            return (Label::TRUE, vec![Cube::default()]);
        }
        let proposition = self.top(least).min(self.top(most));
        let (least_0, least_1) = self.parts(least, proposition);
        let (most_0, most_1) = self.parts(most, proposition);
        let only_0 = self.minus(least_0, most_1);
        let only_1 = self.minus(least_1, most_0);
        let (covered_0, mut cubes) = self.sum_of_products(only_0, most_0);
        cubes.iter_mut().for_each(|cube| cube.negative |= 1 << proposition);
        let (covered_1, mut positive) = self.sum_of_products(only_1, most_1);
        positive.iter_mut().for_each(|cube| cube.positive |= 1 << proposition);
        cubes.append(&mut positive);
        let (rest_0, rest_1) = (self.minus(least_0, covered_0), self.minus(least_1, covered_1));
        let (rest, both) = (self.or(rest_0, rest_1), self.and(most_0, most_1));
        let (covered, mut free) = self.sum_of_products(rest, both);
        cubes.append(&mut free);
        let (low, high) = (self.or(covered_0, covered), self.or(covered_1, covered));
        (self.node(proposition, low, high), cubes)
    }
}

//! Formulas as trees: what they mean on a word, said directly, and how random ones are made.

use birk_exec::Random;
use birk_exec::automaton::{FormulaId, Formulas};

use crate::product::Word;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Tree {
    Constant(bool),
    Atom(usize),
    Not(Box<Tree>),
    Next(Box<Tree>),
    Always(Box<Tree>),
    Eventually(Box<Tree>),
    And(Box<(Tree, Tree)>),
    Or(Box<(Tree, Tree)>),
    Until(Box<(Tree, Tree)>),
    Weak(Box<(Tree, Tree)>),
    Release(Box<(Tree, Tree)>),
}

use Tree::*;

impl Tree {
    pub(crate) fn not(tree: Tree) -> Tree {
        Not(Box::new(tree))
    }

    pub(crate) fn children(&self) -> Vec<&Tree> {
        match self {
            Constant(_) | Atom(_) => Vec::new(),
            Not(a) | Next(a) | Always(a) | Eventually(a) => vec![a],
            And(p) | Or(p) | Until(p) | Weak(p) | Release(p) => vec![&p.0, &p.1],
        }
    }

    /// How many temporal operators.
    pub(crate) fn temporal(&self) -> usize {
        let own = !matches!(self, Constant(_) | Atom(_) | Not(_) | And(_) | Or(_));
        usize::from(own) + self.children().iter().map(|child| child.temporal()).sum::<usize>()
    }

    /// One more than the highest proposition.
    pub(crate) fn propositions(&self) -> usize {
        let own = if let Atom(p) = self { p + 1 } else { 0 };
        self.children().iter().map(|child| child.propositions()).max().unwrap_or(0).max(own)
    }

    pub(crate) fn build(&self, to: &mut Formulas) -> FormulaId {
        let parts: Vec<FormulaId> = self.children().iter().map(|child| child.build(to)).collect();
        match self {
            Constant(value) => to.constant(*value),
            Atom(p) => to.proposition(&format!("p{p}")),
            Not(_) => to.negate(parts[0]),
            Next(_) => to.next(parts[0]),
            Always(_) => to.always(parts[0]),
            Eventually(_) => to.eventually(parts[0]),
            And(_) => to.and(parts),
            Or(_) => to.or(parts),
            Until(_) => to.until(parts[0], parts[1]),
            Weak(_) => to.weak_until(parts[0], parts[1]),
            Release(_) => to.release(parts[0], parts[1]),
        }
    }

    /// As SPIN reads it, which has no weak until.
    pub(crate) fn text(&self) -> String {
        let two = |p: &(Tree, Tree), op: &str| format!("({} {op} {})", p.0.text(), p.1.text());
        match self {
            Constant(value) => value.to_string(),
            Atom(p) => format!("p{p}"),
            Not(a) => format!("!({})", a.text()),
            Next(a) => format!("X({})", a.text()),
            Always(a) => format!("[]({})", a.text()),
            Eventually(a) => format!("<>({})", a.text()),
            And(p) => two(p, "&&"),
            Or(p) => two(p, "||"),
            Until(p) => two(p, "U"),
            Weak(p) => format!("({} || []({}))", two(p, "U"), p.0.text()),
            Release(p) => two(p, "V"),
        }
    }

    /// Its value on a word.
    pub(crate) fn value(&self, word: &Word) -> bool {
        self.values(word)[0]
    }

    /// Its value at each position. Fixed points: what must come begins false, what may stay begins true.
    fn values(&self, word: &Word) -> Vec<bool> {
        let inner: Vec<Vec<bool>> = self.children().iter().map(|child| child.values(word)).collect();
        let count = word.letters.len();
        let step = |start: bool, rule: &dyn Fn(usize, bool) -> bool| {
            let mut values = vec![start; count];
            for _ in 0..=count {
                for at in (0..count).rev() {
                    values[at] = rule(at, values[word.next(at)]);
                }
            }
            values
        };
        let each = |rule: &dyn Fn(usize) -> bool| (0..count).map(rule).collect();
        match self {
            Constant(value) => vec![*value; count],
            Atom(p) => each(&|at| word.letters[at] >> p & 1 == 1),
            Not(_) => each(&|at| !inner[0][at]),
            And(_) => each(&|at| inner[0][at] && inner[1][at]),
            Or(_) => each(&|at| inner[0][at] || inner[1][at]),
            Next(_) => each(&|at| inner[0][word.next(at)]),
            Always(_) => step(true, &|at, next| inner[0][at] && next),
            Eventually(_) => step(false, &|at, next| inner[0][at] || next),
            Until(_) => step(false, &|at, next| inner[1][at] || inner[0][at] && next),
            Weak(_) => step(true, &|at, next| inner[1][at] || inner[0][at] && next),
            Release(_) => step(true, &|at, next| inner[1][at] && (inner[0][at] || next)),
        }
    }
}

impl Tree {
    /// A random formula with about this many operators.
    pub(crate) fn drawn(random: &mut Random, size: usize, propositions: usize, next_and_weak: bool) -> Self {
        if size <= 1 {
            return match random.below(20) {
                0 => Constant(random.below(2) == 0),
                _ => Atom(random.below(propositions)),
            };
        }
        let kind = random.below(11);
        if kind < 4 {
            let inner = Box::new(Self::drawn(random, size - 1, propositions, next_and_weak));
            return match kind {
                0 => Not(inner),
                1 if next_and_weak => Next(inner),
                2 => Always(inner),
                _ => Eventually(inner),
            };
        }
        let left = 1 + random.below(size - 1);
        let parts = Box::new((
            Self::drawn(random, left, propositions, next_and_weak),
            Self::drawn(random, (size - 1).saturating_sub(left), propositions, next_and_weak),
        ));
        match kind {
            4 | 5 => And(parts),
            6 | 7 => Or(parts),
            8 => Until(parts),
            9 if next_and_weak => Weak(parts),
            9 => Until(parts),
            _ => Release(parts),
        }
    }
}

impl Word {
    pub(crate) fn drawn(random: &mut Random, propositions: usize) -> Self {
        let length = 1 + random.below(7);
        let letters = (0..length).map(|_| random.below(1 << propositions) as u64).collect();
        Self { letters, back: random.below(length) }
    }
}

/// Reads a formula of the lists: every operator between two parts is in parentheses or alone on its level.
pub(crate) fn parse(text: &str) -> Tree {
    let mut rest = text;
    let tree = binary(&mut rest, 0);
    assert!(rest.trim().is_empty(), "`{rest}` is left of {text}");
    tree
}

fn take(rest: &mut &str, token: &str) -> bool {
    *rest = rest.trim_start();
    let found = rest.starts_with(token);
    if found {
        *rest = &rest[token.len()..];
    }
    found
}

fn binary(rest: &mut &str, level: usize) -> Tree {
    const LEVELS: [&[&str]; 4] = [&["->"], &["||"], &["&&"], &["U ", "W ", "R ", "V "]];
    let Some(operators) = LEVELS.get(level) else { return unary(rest) };
    let left = binary(rest, level + 1);
    let Some(operator) = operators.iter().find(|operator| take(rest, operator)) else { return left };
    let parts = Box::new((left, binary(rest, level)));
    match *operator {
        "->" => Or(Box::new((Tree::not(parts.0), parts.1))),
        "||" => Or(parts),
        "&&" => And(parts),
        "U " => Until(parts),
        "W " => Weak(parts),
        _ => Release(parts),
    }
}

fn unary(rest: &mut &str) -> Tree {
    for (token, make) in [
        ("!", Not as fn(Box<Tree>) -> Tree),
        ("[]", Always),
        ("<>", Eventually),
        ("X ", Next),
        ("G ", Always),
        ("F ", Eventually),
    ] {
        if take(rest, token) {
            return make(Box::new(unary(rest)));
        }
    }
    if take(rest, "(") {
        let inner = binary(rest, 0);
        assert!(take(rest, ")"), "`)` expected before {rest}");
        return inner;
    }
    for (token, value) in [("true", true), ("false", false)] {
        if take(rest, token) {
            return Constant(value);
        }
    }
    assert!(take(rest, "p"), "a proposition expected before `{rest}`");
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let number = rest[..end].parse().expect("a number");
    *rest = &rest[end..];
    Atom(number)
}

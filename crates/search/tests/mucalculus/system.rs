//! Small random graphs and formulas, and what a formula means, by its definition.

use std::collections::{BTreeMap, BTreeSet};

use birk_engine::{GoalSet, Model, Successors};
use birk_exec::Random;
use birk_ir::{Branching, Expr, Steps, TransitionId, VarId};

/// How many propositions and transitions the graphs have.
pub(crate) const PROPOSITIONS: usize = 3;
pub(crate) const TRANSITIONS: usize = 3;

/// A graph; its states are numbers, its propositions sets of them.
#[derive(Clone, Debug)]
pub(crate) struct System {
    /// Transition and target.
    pub(crate) steps: Vec<Vec<(usize, usize)>>,
    pub(crate) letters: Vec<u64>,
    /// States in which something was cut: without steps, they are not stuck.
    pub(crate) cut: Vec<bool>,
    /// Not states, but results of failing checks.
    pub(crate) faults: Vec<bool>,
}

impl System {
    pub(crate) fn random(random: &mut Random) -> Self {
        let count = 1 + random.below(9);
        let mut steps = vec![Vec::new(); count];
        for _ in 0..random.below(3 * count) {
            let step = (random.below(TRANSITIONS), random.below(count));
            steps[random.below(count)].push(step);
        }
        let rare = |random: &mut Random| random.below(12) == 0;
        let mut faults: Vec<bool> = (0..count).map(|_| rare(random)).collect();
        faults[0] = false;
        let letters = (0..count).map(|_| random.below(1 << PROPOSITIONS) as u64).collect();
        Self { steps, letters, cut: (0..count).map(|_| rare(random)).collect(), faults }
    }

    pub(crate) fn reached(&self) -> BTreeSet<usize> {
        let mut reached = BTreeSet::from([0]);
        let mut waiting = vec![0];
        while let Some(state) = waiting.pop() {
            let ends = self.steps[state].iter().map(|&(_, end)| end).filter(|&end| !self.faults[end]);
            waiting.extend(ends.filter(|&end| reached.insert(end)));
        }
        reached
    }

    pub(crate) fn is_stuck(&self, state: usize) -> bool {
        self.steps[state].is_empty() && !self.cut[state]
    }

    /// Where the steps that are meant lead, by definition.
    fn ends(&self, state: usize, steps: &Steps, bent: Bent) -> Vec<usize> {
        let is_meant = |transition: usize| match steps {
            Steps::Of(ids) => ids.contains(&TransitionId::new(transition)),
            Steps::Fair(ids) => {
                let promised = |transition: usize| ids.contains(&TransitionId::new(transition));
                promised(transition) || !self.steps[state].iter().any(|(other, _)| promised(*other))
            }
            Steps::All | Steps::OrStay => true,
        };
        let real = self.steps[state].iter().filter(|(t, end)| is_meant(*t) && !self.faults[*end]);
        let mut ends: Vec<usize> = real.map(|&(_, end)| end).collect();
        let stays = match bent {
            Bent::DeadlockEnds => false,
            Bent::DeadEndsStay => ends.is_empty() && *steps == Steps::OrStay,
            _ => matches!(steps, Steps::OrStay | Steps::Fair(_)) && self.is_stuck(state),
        };
        if stays {
            ends.push(state);
        }
        ends
    }

    /// The states in which a formula is true, by the definition of each operator, in these states.
    pub(crate) fn meaning(
        &self,
        formula: &Branching,
        states: &BTreeSet<usize>,
        values: &mut BTreeMap<u32, BTreeSet<usize>>,
        bent: Bent,
    ) -> BTreeSet<usize> {
        match formula {
            Branching::Atom(expr) => states.iter().copied().filter(|&state| self.is_true(expr, state)).collect(),
            Branching::Variable(number) => values[number].clone(),
            Branching::And(parts) => {
                let (a, b) =
                    (self.meaning(&parts.0, states, values, bent), self.meaning(&parts.1, states, values, bent));
                a.intersection(&b).copied().collect()
            }
            Branching::Or(parts) => {
                let (a, b) =
                    (self.meaning(&parts.0, states, values, bent), self.meaning(&parts.1, states, values, bent));
                a.union(&b).copied().collect()
            }
            Branching::Some(steps, body) | Branching::Every(steps, body) => {
                let inner = self.meaning(body, states, values, bent);
                let is_some = matches!(formula, Branching::Some(..)) != (bent == Bent::BoxForDiamond);
                let holds = |&state: &usize| {
                    let ends: Vec<usize> =
                        self.ends(state, steps, bent).into_iter().filter(|e| states.contains(e)).collect();
                    if is_some {
                        ends.iter().any(|e| inner.contains(e))
                    } else {
                        ends.iter().all(|e| inner.contains(e))
                    }
                };
                states.iter().copied().filter(holds).collect()
            }
            Branching::Least(number, body) | Branching::Greatest(number, body) => {
                let is_least = matches!(formula, Branching::Least(..));
                let begin = if is_least { BTreeSet::new() } else { states.clone() };
                // An inner fixpoint that goes on from where it was is the classical bug.
                let begin = match bent {
                    Bent::NoReset => values.remove(&(number + 1000)).unwrap_or(begin),
                    _ => begin,
                };
                let mut value = begin;
                loop {
                    values.insert(*number, value.clone());
                    let next = self.meaning(body, states, values, bent);
                    let next = match (bent, is_least) {
                        (Bent::NoReset, true) => value.union(&next).copied().collect(),
                        (Bent::NoReset, false) => value.intersection(&next).copied().collect(),
                        _ => next,
                    };
                    if next == value {
                        values.insert(number + 1000, value.clone());
                        return value;
                    }
                    value = next;
                }
            }
        }
    }

    fn is_true(&self, expr: &Expr, state: usize) -> bool {
        match expr {
            Expr::Unary(_, inner) => !self.is_true(inner, state),
            Expr::Var(variable) => self.letters[state] >> variable.0 & 1 == 1,
            other => panic!("{other:?} is no condition of these graphs"),
        }
    }
}

/// How a definition may be wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bent {
    Not,
    /// A fixpoint goes on from the value that it had in another round of the outer one.
    NoReset,
    BoxForDiamond,
    /// A state without steps does not stay where it is.
    DeadlockEnds,
    /// Nor does a state whose steps all fault or are cut.
    DeadEndsStay,
}

impl Model for System {
    fn words(&self) -> usize {
        1
    }

    fn initial(&self, out: &mut Successors) {
        out.push(TransitionId(0), 0, &[0]);
    }

    fn successors(&self, state: &[u32], out: &mut Successors) {
        let state = state[0] as usize;
        for (choice, &(transition, end)) in self.steps[state].iter().enumerate() {
            out.push(TransitionId::new(transition), choice as u32, &[end as u32]);
        }
        out.cut += u64::from(self.cut[state]);
    }

    fn evaluate(&self, state: &[u32], _: bool) -> GoalSet {
        GoalSet(self.letters[state[0] as usize])
    }

    fn is_fault(&self, state: &[u32]) -> bool {
        self.faults[state[0] as usize]
    }

    fn transitions(&self) -> usize {
        TRANSITIONS
    }
}

/// Formulas are about these.
pub(crate) fn propositions() -> Vec<Expr> {
    (0..PROPOSITIONS).map(|index| Expr::Var(VarId::new(index))).collect()
}

/// What kind of formulas are made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    /// Fixpoints are nested up to this.
    pub(crate) fixpoints: u32,
    /// Only `Some` and, in conjunctions, at most one part that is about steps: one run shows all.
    pub(crate) is_of_one_run: bool,
}

/// Makes formulas.
pub(crate) struct Maker<'r> {
    pub(crate) random: &'r mut Random,
    pub(crate) shape: Shape,
    /// How many fixpoints were made.
    pub(crate) made: u32,
}

impl Maker<'_> {
    /// Some fixpoints, least and greatest by turns, around a formula in which all of them may be used.
    pub(crate) fn alternating(&mut self, depth: usize) -> Branching {
        let fixpoints = self.random.below(self.shape.fixpoints as usize + 1) as u32;
        self.made = fixpoints;
        let body = self.formula(depth, &mut (0..fixpoints).collect());
        let is_least = self.random.below(2) == 0;
        (0..fixpoints).rev().fold(body, |body, number| match is_least == (number % 2 == 0) {
            true => Branching::Least(number, Box::new(body)),
            false => Branching::Greatest(number, Box::new(body)),
        })
    }

    pub(crate) fn formula(&mut self, depth: usize, bound: &mut Vec<u32>) -> Branching {
        let choice = if depth == 0 { self.random.below(3) } else { self.random.below(12) };
        let inner = |maker: &mut Self, bound: &mut Vec<u32>| Box::new(maker.formula(depth - 1, bound));
        match choice {
            0 => self.atom(),
            1 | 2 if bound.is_empty() => self.atom(),
            1 | 2 => Branching::Variable(bound[self.random.below(bound.len())]),
            3 | 4 => {
                let left = if self.shape.is_of_one_run { self.atom() } else { *inner(self, bound) };
                left.and(*inner(self, bound))
            }
            5 => inner(self, bound).or(*inner(self, bound)),
            6 | 7 => Branching::Some(self.steps(), inner(self, bound)),
            8 if self.shape.is_of_one_run => Branching::Some(Steps::OrStay, inner(self, bound)),
            8 => Branching::Every(self.steps(), inner(self, bound)),
            _ if bound.len() as u32 >= self.shape.fixpoints => Branching::Some(self.steps(), inner(self, bound)),
            _ => {
                let number = self.made;
                self.made += 1;
                bound.push(number);
                let body = inner(self, bound);
                bound.pop();
                if choice.is_multiple_of(2) {
                    Branching::Least(number, body)
                } else {
                    Branching::Greatest(number, body)
                }
            }
        }
    }

    fn atom(&mut self) -> Branching {
        let proposition = Expr::Var(VarId::new(self.random.below(PROPOSITIONS)));
        Branching::Atom(if self.random.below(2) == 0 { proposition } else { proposition.negate() })
    }

    fn steps(&mut self) -> Steps {
        let kind = self.random.below(5);
        let mut some = || (0..TRANSITIONS).filter(|_| self.random.below(2) == 0).map(TransitionId::new).collect();
        match kind {
            0 => Steps::OrStay,
            1 => Steps::Of(some()),
            2 => Steps::Fair(some()),
            _ => Steps::All,
        }
    }
}

/// How often least and greatest fixpoints alternate that depend on each other.
pub(crate) fn alternation(formula: &Branching) -> usize {
    fn occurs(variable: u32, formula: &Branching) -> bool {
        let mut found = false;
        formula.walk(&mut |part| found |= *part == Branching::Variable(variable));
        found
    }
    fn from(formula: &Branching, around: &[(u32, bool)]) -> usize {
        match formula {
            Branching::Atom(_) | Branching::Variable(_) => 0,
            Branching::And(parts) | Branching::Or(parts) => from(&parts.0, around).max(from(&parts.1, around)),
            Branching::Some(_, body) | Branching::Every(_, body) => from(body, around),
            Branching::Least(number, body) | Branching::Greatest(number, body) => {
                let is_least = matches!(formula, Branching::Least(..));
                // The outer fixpoints on which it depends, by turns.
                let chain = around.iter().filter(|(outer, _)| occurs(*outer, body));
                let kinds: Vec<bool> = chain.map(|(_, kind)| *kind).chain([is_least]).collect();
                let turns = 1 + kinds.windows(2).filter(|pair| pair[0] != pair[1]).count();
                let mut inner = around.to_vec();
                inner.push((*number, is_least));
                turns.max(from(body, &inner))
            }
        }
    }
    from(formula, &[])
}

//! Pairs of values that no reachable state has together, and values that none has: what is known of reachable states at little cost.
//!
//! Whatever the first states and some random executions do not show is supposed to be impossible. If a step leads from a state in
//! which nothing impossible is to one in which something is, that is given up, until no step does: what is left is the largest part
//! that is inductive (Flanagan and Leino, "Houdini, an Annotation Assistant for ESC/Java", 2001). What names of threads that can be
//! exchanged make of it is given up with it: as little of that is inductive.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, HashMap, HashSet};

use birk_engine::{Model as _, Successors};
use birk_exec::{Automorphisms, Interpreter, Random};
use birk_ir::interval::Interval;
use birk_ir::{Op, Program, Transition, VarId};

use super::circuit::{Circuit, Literal, Watch};
use super::unrolling::Frame;
use crate::attempt::Attempt;
use crate::bitvector::Arithmetic as _;

#[cfg(test)]
mod tests;

/// An element of a variable, and a value of it.
pub(super) type Atom = (VarId, u32, i64);
/// Two atoms of different elements that are never true together, or twice the same one, which is never true.
pub(super) type Pair = [Atom; 2];

/// Elements with more values have no atoms.
const MOST_VALUES: i64 = 16;
/// Programs with more atoms, transitions or impossible pairs to begin with are not looked at.
const MOST_ATOMS: usize = 512;
const MOST_TRANSITIONS: usize = 500;
const MOST_PAIRS: usize = 20_000;
/// So many outcomes may a transition have.
const MOST_OUTCOMES: i64 = 64;
/// States that are visited first, then so many random executions, of so many steps each.
const FIRST_STATES: usize = 2_000;
const WALKS: usize = 64;
const STEPS: usize = 200;
/// Fewer where that needs more assignments than this.
const MOST_WORK: u64 = 1 << 25;
/// Random executions from a state that a solver has found, and their steps: they are faster than its next answer.
const MORE_WALKS: usize = 4;
const MORE_STEPS: usize = 16;
/// Questions to the solver, and conflicts of each; then nothing is known.
const MOST_QUESTIONS: usize = 300;
const MOST_CONFLICTS: i32 = 5_000;

/// The pairs of a program whose variables are within some bounds.
pub(super) fn never_together<'o>(program: &Program, ranges: &[Interval], watch: &'o Watch<'o>) -> Attempt<Vec<Pair>> {
    let is_large = program.transitions.len() > MOST_TRANSITIONS || !program.transitions.iter().all(has_few_outcomes);
    if is_large || program.interpreted_only().is_some() {
        return Ok(Vec::new());
    }
    let Some(mut shown) = Shown::new(program, ranges) else { return Ok(Vec::new()) };
    shown.visit_first(watch)?;
    for _ in 0..WALKS {
        watch.look()?;
        shown.walk(program.initial_state(), STEPS);
    }
    shown.spread_all();
    let supposed = shown.supposed();
    if supposed.is_empty() || supposed.len() > MOST_PAIRS {
        return Ok(Vec::new());
    }
    let circuit = Circuit::new(watch);
    let kept = shown.inductive(&Frame::any(&circuit, program, ranges)?, supposed)?;
    Ok(kept.into_iter().map(|(one, other)| [shown.atoms[one], shown.atoms[other]]).collect())
}

/// Whether a transition has few outcomes, for certain: all of them are looked at.
fn has_few_outcomes(transition: &Transition) -> bool {
    outcomes(transition).is_some_and(|all| all <= MOST_OUTCOMES)
}

/// How many outcomes a transition has at most, if its text says so.
fn outcomes(transition: &Transition) -> Option<i64> {
    let mut outcomes = transition.ops.iter().map(|op| match op {
        Op::Choose(_, lo, hi) => Some(hi.as_const()?.checked_sub(lo.as_const()?)?.checked_add(1)?.max(1)),
        _ => Some(1),
    });
    outcomes.try_fold(1i64, |all, more| all.checked_mul(more?))
}

/// What generators of the symmetries of a program make of its atoms, each where all of them have images.
fn images(program: &Program, atoms: &[Atom]) -> Vec<Vec<usize>> {
    let places: HashMap<Atom, usize> = atoms.iter().copied().zip(0..).collect();
    let automorphisms = Automorphisms::new(program, &[]);
    let all = automorphisms.generators().into_iter().map(|generator| {
        let image = |&(variable, element, value): &Atom| {
            let (element, value) = generator.image(variable, element, value);
            places.get(&(variable, element, value)).copied()
        };
        atoms.iter().map(image).collect::<Option<Vec<usize>>>()
    });
    all.flatten().collect()
}

/// Which pairs of atoms some state has.
struct Shown<'p> {
    program: &'p Program,
    interpreter: Interpreter<'p>,
    atoms: Vec<Atom>,
    /// The elements that have atoms: the first atom of each, and its least value.
    elements: Vec<(VarId, u32, usize, i64)>,
    /// For each atom, those that some state has together with it, a bit each.
    together: Vec<Vec<u64>>,
    /// What exchanges of names make of each atom.
    images: Vec<Vec<usize>>,
    random: Random,
    out: Successors,
    /// Assignments of the steps from a state, roughly, and how many are left before nothing more is visited.
    weight: u64,
    left: u64,
}

impl<'p> Shown<'p> {
    fn new(program: &'p Program, ranges: &[Interval]) -> Option<Self> {
        let (mut atoms, mut elements) = (Vec::new(), Vec::new());
        for (id, variable) in program.variables.iter().enumerate() {
            let (id, (lo, hi)) = (VarId::new(id), ranges[id]);
            if lo == hi || hi.saturating_sub(lo) >= MOST_VALUES || program.fault == Some(id) {
                continue;
            }
            for element in 0..variable.len() {
                elements.push((id, element, atoms.len(), lo));
                atoms.extend((lo..=hi).map(|value| (id, element, value)));
                if atoms.len() > MOST_ATOMS {
                    return None;
                }
            }
        }
        let together = vec![vec![0; atoms.len().div_ceil(64)]; atoms.len()];
        let interpreter = Interpreter::new(program, &[]);
        let (random, out) = (Random::new(0), Successors::new(interpreter.words()));
        let weight = program.transitions.iter().map(|transition| {
            let outcomes = outcomes(transition).unwrap_or(MOST_OUTCOMES).unsigned_abs();
            outcomes * (1 + transition.ops.len() as u64)
        });
        let (weight, left) = (weight.sum(), MOST_WORK);
        let images = images(program, &atoms);
        Some(Self { program, interpreter, atoms, elements, together, images, random, out, weight, left })
    }

    /// A state has all its atoms together.
    fn show(&mut self, state: &[u32]) {
        let layout = &self.program.layout;
        let atom = |&(variable, element, first, lo): &(VarId, u32, usize, i64)| {
            first + (layout.slot(variable).get(state, element) - lo) as usize
        };
        let atoms: Vec<usize> = self.elements.iter().map(atom).collect();
        let mut all = vec![0; self.atoms.len().div_ceil(64)];
        atoms.iter().for_each(|atom| all[atom / 64] |= 1 << (atom % 64));
        for atom in atoms {
            self.together[atom].iter_mut().zip(&all).for_each(|(known, new)| *known |= new);
        }
    }

    fn is_shown(&self, one: usize, other: usize) -> bool {
        self.together[one][other / 64] >> (other % 64) & 1 == 1
    }

    /// Shows what exchanges of names make of these pairs, and of what becomes of them.
    fn spread(&mut self, mut open: Vec<(usize, usize)>) {
        while let Some((one, other)) = open.pop() {
            for image in 0..self.images.len() {
                let (one, other) = (self.images[image][one], self.images[image][other]);
                if !self.is_shown(one, other) {
                    self.together[one][other / 64] |= 1 << (other % 64);
                    self.together[other][one / 64] |= 1 << (one % 64);
                    open.push((one, other));
                }
            }
        }
    }

    /// The same with all that was shown.
    fn spread_all(&mut self) {
        let all = 0..self.atoms.len();
        let pairs = all.clone().flat_map(|one| all.clone().skip(one).map(move |other| (one, other)));
        let shown = pairs.filter(|&(one, other)| self.is_shown(one, other)).collect();
        self.spread(shown);
    }

    /// Shows all initial states, and some next to them.
    fn visit_first(&mut self, watch: &Watch<'_>) -> Attempt<()> {
        let mut initial = Successors::new(self.interpreter.words());
        self.interpreter.initial(&mut initial);
        let mut open: Vec<Vec<u32>> = (0..initial.len()).map(|at| initial.state(at).to_vec()).collect();
        open.iter().for_each(|state| self.show(state));
        let mut seen: HashSet<Vec<u32>> = open.iter().cloned().collect();
        let mut next = 0;
        while next < open.len() && next < FIRST_STATES && self.is_worthwhile() {
            watch.look()?;
            self.show(&open[next].clone());
            self.out.clear();
            self.interpreter.successors(&open[next], &mut self.out);
            for at in 0..self.out.len() {
                if open.len() < FIRST_STATES && seen.insert(self.out.state(at).to_vec()) {
                    open.push(self.out.state(at).to_vec());
                }
            }
            next += 1;
        }
        Ok(())
    }

    /// Whether one state more may be asked for its steps; that is counted.
    fn is_worthwhile(&mut self) -> bool {
        let is_worthwhile = self.left > 0;
        self.left = self.left.saturating_sub(self.weight);
        is_worthwhile
    }

    /// Shows the states of a random execution from this one on.
    fn walk(&mut self, mut state: Vec<u32>, steps: usize) {
        for _ in 0..steps {
            self.show(&state);
            if !self.is_worthwhile() {
                return;
            }
            self.out.clear();
            self.interpreter.successors(&state, &mut self.out);
            if self.out.is_empty() {
                return;
            }
            state.copy_from_slice(self.out.state(self.random.below(self.out.len())));
        }
    }

    /// What no state has shown: an atom, or two of different elements, each of which was shown.
    fn supposed(&self) -> Vec<(usize, usize)> {
        let mut supposed = Vec::new();
        for one in 0..self.atoms.len() {
            if !self.is_shown(one, one) {
                supposed.push((one, one));
                continue;
            }
            let is_other =
                |&other: &usize| (self.atoms[other].0, self.atoms[other].1) != (self.atoms[one].0, self.atoms[one].1);
            let others = (one + 1..self.atoms.len()).filter(is_other);
            supposed.extend(
                others
                    .filter(|&other| self.is_shown(other, other) && !self.is_shown(one, other))
                    .map(|other| (one, other)),
            );
        }
        supposed
    }

    /// What of it no step makes true from a state in which none of it is; nothing, if that is not found out soon.
    fn inductive(&mut self, now: &Frame<'_, '_, '_>, mut open: Vec<(usize, usize)>) -> Attempt<Vec<(usize, usize)>> {
        let circuit = now.circuit;
        let next = now.next()?;
        let (before, after) = (self.literals(now, &open)?, self.literals(&next, &open)?);
        // For each of them, what makes it count before the step, and whether it is the one that is true behind it.
        let mut counts = BTreeMap::new();
        let mut some = Vec::new();
        for &(one, other) in &open {
            let (count, broken) = (circuit.free(), circuit.free());
            circuit.require(&[count.negated(), before[&one].negated(), before[&other].negated()]);
            circuit.require(&[broken.negated(), after[&one]]);
            circuit.require(&[broken.negated(), after[&other]]);
            counts.insert((one, other), (count, broken));
            some.push(broken);
        }
        circuit.require(&some);
        for _ in 0..MOST_QUESTIONS {
            let assumed: Vec<Literal> = open.iter().map(|pair| counts[pair].0).collect();
            match circuit.solve(&assumed, Some(MOST_CONFLICTS))? {
                Some(false) => return Ok(open),
                None => return Ok(Vec::new()),
                Some(true) => (0..MORE_WALKS).for_each(|_| self.walk(next.state(), MORE_STEPS)),
            }
            self.spread(open.iter().copied().filter(|&(one, other)| self.is_shown(one, other)).collect());
            let (kept, broken): (Vec<_>, Vec<_>) =
                open.into_iter().partition(|&(one, other)| !self.is_shown(one, other));
            for pair in broken {
                circuit.require(&[counts[&pair].0.negated()]);
                circuit.require(&[counts[&pair].1.negated()]);
            }
            open = kept;
        }
        Ok(Vec::new())
    }

    /// Where each atom that is asked for is true.
    fn literals(&self, frame: &Frame<'_, '_, '_>, pairs: &[(usize, usize)]) -> Attempt<BTreeMap<usize, Literal>> {
        let mut literals = BTreeMap::new();
        for &atom in pairs.iter().flat_map(|(one, other)| [one, other]) {
            if let Entry::Vacant(place) = literals.entry(atom) {
                place.insert(frame.is(self.atoms[atom])?);
            }
        }
        Ok(literals)
    }
}

impl Frame<'_, '_, '_> {
    /// Where an element has a value.
    pub(super) fn is(&self, (variable, element, value): Atom) -> Attempt<Literal> {
        use crate::expression::Ground as _;
        self.circuit.equal(self.value(variable, element), &self.circuit.literal(value))
    }

    /// Where it has no atoms together that are never true together. Each question says for itself which of them it knows: answers are
    /// remembered for others like it, which know as much and no more.
    pub(super) fn apart(&self, pairs: &[Pair]) -> Attempt<Literal> {
        let apart = self.circuit.free();
        for &[one, other] in pairs {
            let (one, other) = (self.is(one)?, self.is(other)?);
            self.circuit.require(&[apart.negated(), one.negated(), other.negated()]);
        }
        Ok(apart)
    }
}

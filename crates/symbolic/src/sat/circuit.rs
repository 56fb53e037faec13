//! Bits as literals of clauses: the only file that calls CaDiCaL.
//!
//! Every gate is a variable with the clauses that define it (Tseitin 1968); a gate that is there already is used again, and what
//! is constant or follows from one operand has no gate. The solver is told of a gate when something is said or asked that depends
//! on it: most questions are about a small part of a program.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::hash::BuildHasherDefault;
use std::ops::ControlFlow;

use birk_engine::{Observer, Progress};
use birk_ir::Stop;
use cadical::{Callbacks, Solver};
use oxidd::util::FxHasher;

use crate::attempt::{Attempt, Broken};
use crate::bitvector::Algebra;

/// A variable, or its negation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Literal(i32);

impl Literal {
    /// The opposite.
    pub(crate) fn negated(self) -> Self {
        Self(-self.0)
    }
}

/// Bytes of a variable and of a clause, roughly: in the solver with its watches and queues, and in the table of gates.
const VARIABLE_BYTES: u64 = 300;
const CLAUSE_BYTES: u64 = 60;
/// Bytes of a variable in the tables that the solver doubles, and of a gate in the one that is doubled here.
const ROOM_BYTES: u64 = 100;
const GATE_BYTES: u64 = size_of::<(Gate, Literal)>() as u64 + 1;

/// Gates between two looks: an expression can have millions.
const LOOK: i32 = 1 << 10;

const YES: Literal = Literal(1);
const NO: Literal = Literal(-1);

/// How gates are told apart; operands in order, the first of `Differ` and `Choose` not negated.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Gate {
    Both(Literal, Literal),
    Differ(Literal, Literal),
    Choose(Literal, Literal, Literal),
}

impl Gate {
    fn operands(self) -> impl Iterator<Item = Literal> {
        let (a, b, c) = match self {
            Self::Both(a, b) | Self::Differ(a, b) => (a, b, None),
            Self::Choose(condition, yes, no) => (condition, yes, Some(no)),
        };
        [a, b].into_iter().chain(c)
    }
}

/// What a variable is.
#[derive(Clone, Copy)]
enum Part {
    /// The solver knows it.
    Told,
    /// It does not: it may be anything,
    Free,
    /// or is this.
    Gate(Gate),
}

/// A round of a quantifier counts as so many variables.
const ROUND: u32 = 20;

fn too_large() -> Broken {
    Broken::Refused("a query is too large".to_owned())
}

/// Clauses in a solver, and the gates that they define.
pub(crate) struct Circuit<'o> {
    watch: &'o Watch<'o>,
    solver: RefCell<Solver<Asking<'o>>>,
    gates: RefCell<HashMap<Gate, Literal, BuildHasherDefault<FxHasher>>>,
    parts: RefCell<Vec<Part>>,
    /// What gates are that it has not been told of, in the solution that was found last.
    values: RefCell<HashMap<i32, bool, BuildHasherDefault<FxHasher>>>,
    /// With this variable the solver makes room for twice as many.
    room: Cell<i32>,
    clauses: Cell<u64>,
    /// With more variables it is given up.
    most: i32,
    /// How often was asked whether to go on: in every round of a quantifier, which may make no gate.
    looks: Cell<u32>,
}

/// Asks, while the solver works, whether it shall go on.
struct Asking<'o> {
    watch: &'o Watch<'o>,
}

/// Tells the observer how it goes.
pub(crate) struct Watch<'o> {
    observer: RefCell<&'o mut dyn Observer>,
    /// Bytes that may be in use.
    memory: u64,
    pub(crate) depth: Cell<u32>,
    pub(crate) bytes: Cell<u64>,
    ended: Cell<Option<Stop>>,
    #[cfg(test)]
    pub(crate) without: Option<Rule>,
}

/// What makes an unrolling right; tests leave one out, to see that it is missed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rule {
    /// A run begins in the initial state.
    Initial,
    /// A step is one transition.
    One,
    /// What a step does not write stays as it is.
    Frame,
    /// A proof by induction over k steps needs all runs of fewer steps from the start.
    Base,
    /// Its runs have no goal before their end.
    First,
    /// Their states differ.
    Different,
    /// A state is stuck only if no values make a step possible.
    Stuck,
}

impl<'o> Watch<'o> {
    pub(crate) fn new(observer: &'o mut dyn Observer, memory: u64) -> Self {
        Self {
            observer: RefCell::new(observer),
            memory,
            depth: Cell::new(0),
            bytes: Cell::new(0),
            ended: Cell::new(None),
            #[cfg(test)]
            without: None,
        }
    }

    /// Whether a rule holds: always, except in tests.
    pub(crate) fn keeps(&self, rule: Rule) -> bool {
        #[cfg(test)]
        return self.without != Some(rule);
        #[cfg(not(test))]
        {
            let _ = rule;
            true
        }
    }

    /// Whether the search shall go on.
    pub(crate) fn look(&self) -> Attempt<()> {
        let progress = Progress { depth: self.depth.get(), bytes: self.bytes.get(), ..Progress::default() };
        if let ControlFlow::Break(stop) = self.observer.borrow_mut().progress(&progress) {
            self.ended.set(Some(stop));
        }
        self.ended.get().map_or(Ok(()), |stop| Err(Broken::Stopped(stop)))
    }

    /// Whether the search shall go on, and can: this many bytes more are needed at once.
    fn look_ahead(&self, more: u64) -> Attempt<()> {
        let bytes = self.bytes.get();
        let overhead = self.observer.borrow_mut().overhead(bytes);
        if bytes.saturating_add(overhead).saturating_add(more) > self.memory {
            self.ended.set(Some(Stop::Memory));
        }
        self.look()
    }
}

impl Callbacks for Asking<'_> {
    fn terminate(&mut self) -> bool {
        self.watch.look().is_err()
    }
}

impl<'o> Circuit<'o> {
    /// Without a gate.
    pub(crate) fn new(watch: &'o Watch<'o>) -> Self {
        Self::of_at_most(watch, i32::MAX)
    }

    /// The same for a query that is not worth more than so many variables.
    pub(crate) fn of_at_most(watch: &'o Watch<'o>, most: i32) -> Self {
        let mut solver = Solver::new();
        solver.set_callbacks(Some(Asking { watch }));
        solver.add_clause([YES.0]);
        Self {
            watch,
            solver: RefCell::new(solver),
            gates: RefCell::default(),
            // No variable has the number 0, and the first is always true.
            parts: RefCell::new(vec![Part::Told; 2]),
            values: RefCell::default(),
            room: Cell::new(LOOK),
            clauses: Cell::new(1),
            most,
            looks: Cell::new(0),
        }
    }

    /// Whether the search shall go on.
    pub(crate) fn look(&self) -> Attempt<()> {
        self.looks.set(self.looks.get() + 1);
        if self.looks.get() > self.most as u32 / ROUND {
            return Err(too_large());
        }
        self.watch.look()
    }

    /// What was done so far, in variables.
    pub(crate) fn work(&self) -> u64 {
        self.variables() + u64::from(self.looks.get()) * u64::from(ROUND)
    }

    /// Whether a rule holds: always, except in tests.
    pub(crate) fn keeps(&self, rule: Rule) -> bool {
        self.watch.keeps(rule)
    }

    /// A bit that may be anything.
    pub(crate) fn free(&self) -> Literal {
        self.variable(Part::Free)
    }

    fn variable(&self, part: Part) -> Literal {
        let mut parts = self.parts.borrow_mut();
        parts.push(part);
        Literal(i32::try_from(parts.len() - 1).expect("memory ends before 31 bits of variables do"))
    }

    fn variables(&self) -> u64 {
        self.parts.borrow().len() as u64 - 1
    }

    /// At least one of them is true, from now on.
    pub(crate) fn require(&self, clause: &[Literal]) {
        if clause.contains(&YES) {
            return;
        }
        self.tell(clause);
        self.add(clause);
    }

    fn add(&self, clause: &[Literal]) {
        self.clauses.set(self.clauses.get() + 1);
        self.solver.borrow_mut().add_clause(clause.iter().filter(|&&literal| literal != NO).map(|literal| literal.0));
    }

    /// Whether the solver has been told of a bit; nothing that was said or asked so far depends on any other.
    pub(crate) fn is_told(&self, bit: Literal) -> bool {
        matches!(self.parts.borrow()[bit.0.unsigned_abs() as usize], Part::Told)
    }

    /// Tells the solver what these are, and what that depends on.
    pub(crate) fn tell(&self, literals: &[Literal]) {
        let mut open = literals.to_vec();
        while let Some(literal) = open.pop() {
            let output = Literal(literal.0.abs());
            let part = std::mem::replace(&mut self.parts.borrow_mut()[output.0 as usize], Part::Told);
            let Part::Gate(gate) = part else { continue };
            match gate {
                Gate::Both(a, b) => {
                    self.add(&[output.negated(), a]);
                    self.add(&[output.negated(), b]);
                    self.add(&[output, a.negated(), b.negated()]);
                }
                Gate::Differ(a, b) => {
                    self.add(&[output.negated(), a, b]);
                    self.add(&[output.negated(), a.negated(), b.negated()]);
                    self.add(&[output, a.negated(), b]);
                    self.add(&[output, a, b.negated()]);
                }
                Gate::Choose(condition, yes, no) => {
                    self.add(&[condition.negated(), output.negated(), yes]);
                    self.add(&[condition.negated(), output, yes.negated()]);
                    self.add(&[condition, output.negated(), no]);
                    self.add(&[condition, output, no.negated()]);
                }
            }
            open.extend(gate.operands());
        }
    }

    /// Where the condition is true, two bits are the same.
    pub(crate) fn require_same(&self, condition: Literal, a: Literal, b: Literal) {
        if a != b {
            self.require(&[condition.negated(), a.negated(), b]);
            self.require(&[condition.negated(), a, b.negated()]);
        }
    }

    /// Whether all of these can be true together; `None` if that was not found out within so many conflicts.
    pub(crate) fn solve(&self, assumed: &[Literal], most_conflicts: Option<i32>) -> Attempt<Option<bool>> {
        self.tell(assumed);
        self.values.borrow_mut().clear();
        let mut solver = self.solver.borrow_mut();
        if let Some(most) = most_conflicts {
            solver.set_limit("conflicts", most).expect("the solver has a limit on conflicts");
        }
        let found = solver.solve_with(assumed.iter().map(|literal| literal.0));
        let ended = solver.get_callbacks().and_then(|asking| asking.watch.ended.get());
        match (found, ended) {
            (None, Some(stop)) => Err(Broken::Stopped(stop)),
            (found, _) => Ok(found),
        }
    }

    /// The value of a bit in the solution that was found last; what may be either is false.
    pub(crate) fn value(&self, bit: Literal) -> bool {
        let mut open = vec![bit.0.abs()];
        while let Some(&variable) = open.last() {
            let Part::Gate(gate) = self.parts.borrow()[variable as usize] else {
                open.pop();
                continue;
            };
            let (known, before) = (|literal: Literal| self.known(literal), open.len());
            open.extend(gate.operands().filter(|&one| known(one).is_none()).map(|one| one.0.abs()));
            if open.len() == before {
                let is_set = |literal| known(literal).expect("its operands are known");
                let value = match gate {
                    Gate::Both(a, b) => is_set(a) && is_set(b),
                    Gate::Differ(a, b) => is_set(a) != is_set(b),
                    Gate::Choose(condition, yes, no) => is_set(if is_set(condition) { yes } else { no }),
                };
                self.values.borrow_mut().insert(variable, value);
                open.pop();
            }
        }
        self.known(bit).expect("it was found out")
    }

    /// The same, if the solver knows it, or it was found out already.
    fn known(&self, bit: Literal) -> Option<bool> {
        let variable = bit.0.abs();
        let is_set = match self.parts.borrow()[variable as usize] {
            // Asked of the variable, so that a bit that may be either and its negation differ.
            Part::Told => self.solver.borrow().value(variable) == Some(true),
            Part::Free => false,
            Part::Gate(_) => *self.values.borrow().get(&variable)?,
        };
        Some(is_set == (bit.0 > 0))
    }

    /// Whether an assumption was needed to find that there is no solution, the last time.
    pub(crate) fn failed(&self, assumed: Literal) -> bool {
        self.solver.borrow().failed(assumed.0)
    }

    /// How many variables and clauses there are.
    pub(crate) fn size(&self) -> (u64, u64) {
        (self.variables(), self.clauses.get())
    }

    /// Bytes of what was given to the solver, roughly; what it learns comes on top.
    pub(crate) fn bytes(&self) -> u64 {
        self.variables() * VARIABLE_BYTES + self.clauses.get() * CLAUSE_BYTES
    }

    fn gate(&self, gate: Gate) -> Attempt<Literal> {
        if let Some(&known) = self.gates.borrow().get(&gate) {
            return Ok(known);
        }
        let output = self.variable(Part::Gate(gate));
        if output.0 > self.most {
            return Err(too_large());
        }
        let (gates, room) = (self.gates.borrow().len(), self.gates.borrow().capacity());
        if gates == room {
            self.watch.look_ahead(room as u64 * 2 * GATE_BYTES)?;
        }
        if output.0 >= self.room.get() {
            self.watch.look_ahead(output.0 as u64 * ROOM_BYTES)?;
            self.room.set((output.0 as u32 + 1).next_power_of_two() as i32);
        }
        if output.0 % LOOK == 0 {
            self.look()?;
        }
        self.gates.borrow_mut().insert(gate, output);
        Ok(output)
    }
}

impl Algebra for Circuit<'_> {
    type Bit = Literal;

    fn yes(&self) -> &Literal {
        &YES
    }

    fn no(&self) -> &Literal {
        &NO
    }

    fn not(&self, a: &Literal) -> Attempt<Literal> {
        Ok(a.negated())
    }

    fn and(&self, a: &Literal, b: &Literal) -> Attempt<Literal> {
        let (a, b) = (*a.min(b), *a.max(b));
        Ok(match (a, b) {
            _ if a == NO || b == NO || a == b.negated() => NO,
            _ if a == YES || a == b => b,
            _ if b == YES => a,
            _ => self.gate(Gate::Both(a, b))?,
        })
    }

    fn or(&self, a: &Literal, b: &Literal) -> Attempt<Literal> {
        Ok(self.and(&a.negated(), &b.negated())?.negated())
    }

    fn xor(&self, a: &Literal, b: &Literal) -> Attempt<Literal> {
        // Negations go to the output.
        let is_negated = (a.0 < 0) != (b.0 < 0);
        let (a, b) = (Literal(a.0.abs().min(b.0.abs())), Literal(a.0.abs().max(b.0.abs())));
        let output = match (a, b) {
            _ if a == b => NO,
            (YES, b) => b.negated(),
            _ => self.gate(Gate::Differ(a, b))?,
        };
        Ok(if is_negated { output.negated() } else { output })
    }

    fn same(&self, a: &Literal, b: &Literal) -> Attempt<Literal> {
        Ok(self.xor(a, b)?.negated())
    }

    fn minus(&self, a: &Literal, b: &Literal) -> Attempt<Literal> {
        self.and(a, &b.negated())
    }

    fn ite(&self, condition: &Literal, yes: &Literal, no: &Literal) -> Attempt<Literal> {
        let (condition, yes, no) =
            if condition.0 < 0 { (condition.negated(), *no, *yes) } else { (*condition, *yes, *no) };
        match (yes, no) {
            _ if yes == no || condition == YES => Ok(yes),
            _ if yes == no.negated() => self.same(&condition, &yes),
            (YES, _) => self.or(&condition, &no),
            (NO, _) => self.minus(&no, &condition),
            (_, YES) => self.or(&condition.negated(), &yes),
            (_, NO) => self.and(&condition, &yes),
            _ if yes == condition => self.or(&condition, &no),
            _ if no == condition => self.and(&condition, &yes),
            _ => self.gate(Gate::Choose(condition, yes, no)),
        }
    }

    fn all(&self, parts: Vec<Literal>) -> Attempt<Literal> {
        parts.iter().try_fold(YES, |all, part| self.and(&all, part))
    }

    fn any(&self, parts: Vec<Literal>) -> Attempt<Literal> {
        parts.iter().try_fold(NO, |any, part| self.or(&any, part))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bitvector::tests::agree;
    use birk_engine::Patient;
    use birk_exec::Random;

    #[test]
    fn arithmetic_is_that_of_the_expressions() {
        let mut random = Random::new(3);
        for _ in 0..3 {
            let mut patient = Patient;
            let watch = Watch::new(&mut patient, u64::MAX);
            let circuit = Circuit::new(&watch);
            let bits: Vec<Literal> = (0..6).map(|_| circuit.free()).collect();
            let mut solved = None;
            let mut is_set = |at: u32, bit: &Literal| {
                if solved != Some(at) {
                    let assumed: Vec<Literal> =
                        (0..6).map(|n| if at >> n & 1 == 1 { bits[n] } else { bits[n].negated() }).collect();
                    assert_eq!(circuit.solve(&assumed, None).expect("nobody ends it"), Some(true));
                    solved = Some(at);
                }
                circuit.value(*bit)
            };
            agree(&circuit, &bits, &mut random, &mut is_set);
        }
    }

    /// What is required holds, what is contradictory has no solution, and a limit on conflicts ends an attempt.
    #[test]
    fn clauses_are_kept() {
        let mut patient = Patient;
        let watch = Watch::new(&mut patient, u64::MAX);
        let circuit = Circuit::new(&watch);
        let (a, b) = (circuit.free(), circuit.free());
        circuit.require_same(a, b, a);
        assert_eq!(circuit.solve(&[a, b.negated()], None).expect("nobody ends it"), Some(false));
        assert_eq!(circuit.solve(&[a], None).expect("nobody ends it"), Some(true));
        assert!(circuit.value(b) && !circuit.value(b.negated()));
        // Seven pigeons in six holes take more than one conflict.
        let holes: Vec<Vec<Literal>> = (0..7).map(|_| (0..6).map(|_| circuit.free()).collect()).collect();
        holes.iter().for_each(|pigeon| circuit.require(pigeon));
        for hole in 0..6 {
            for (at, one) in holes.iter().enumerate() {
                holes[..at].iter().for_each(|other| circuit.require(&[one[hole].negated(), other[hole].negated()]));
            }
        }
        assert_eq!(circuit.solve(&[], Some(1)).expect("nobody ends it"), None);
        assert_eq!(circuit.solve(&[], None).expect("nobody ends it"), Some(false));
    }
}

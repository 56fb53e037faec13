//! Which steps commute, and which can enable which, asked of a SAT solver: two transitions accord if no state within the bounds
//! of its variables shows the contrary, and without a pair of values that no reachable state has. Before it is asked, some states
//! are tried.
//!
//! A query is limited by conflicts, not by time, so that its answer is the same on every machine.

mod witness;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write as _;
use std::rc::Rc;

use birk_engine::Observer;
use birk_exec::reduction::{Oracle, touched, touched_by};
use birk_ir::interval::{Interval, reachable};
use birk_ir::{Access, Expr, Op, Place, Program, Transition, TransitionId, VarId};

use super::circuit::{Circuit, Literal, Watch};
use super::pairs::{Atom, Pair, never_together};
use super::unrolling::{Elements, Frame, Value, least};
use crate::attempt::Attempt;
use crate::bitvector::Algebra;
use crate::ends::{assign, name};
use witness::{Around, Witnesses};

/// Conflicts of one query; and when so many were not decided within that, of each from then on.
const MOST_CONFLICTS: i32 = 500;
const MOST_UNDECIDED: u32 = 10;
const FEW_CONFLICTS: i32 = 20;
/// Variables of queries that share a solver: to set one up takes longer than most queries, but each has the clauses of all.
const SHARED_VARIABLES: u64 = 2_000;
/// Variables of one query, and of all.
const MOST_VARIABLES: i32 = 20_000;
const MOST_OF_ALL: u64 = 3_000_000;
/// Programs with more transitions, or with more bits, are not asked about: their queries would take too long.
const MOST_TRANSITIONS: usize = 1_000;
const MOST_BITS: u64 = 1 << 13;

/// Calls `hear` with what answers queries about the transitions of a program; with nothing, if it is too large.
pub fn with_solver<T>(
    program: &Program,
    observer: &mut dyn Observer,
    memory: u64,
    hear: impl FnOnce(Option<&mut dyn Oracle>) -> T,
) -> T {
    if program.transitions.len() > MOST_TRANSITIONS || program.layout.bits() > MOST_BITS {
        return hear(None);
    }
    let watch = Watch::new(observer, memory);
    let ranges = reachable(program).variables;
    let least = least(&Circuit::new(&watch), program, &ranges);
    let witnesses = Witnesses::new(program);
    let known = HashMap::new();
    hear(Some(&mut Commutation {
        watch: &watch,
        program,
        ranges,
        least,
        never: Never::default(),
        witnesses,
        known,
        shared: None,
        undecided: 0,
        variables: 0,
    }))
}

/// Queries about one program.
struct Commutation<'o, 'p> {
    watch: &'o Watch<'o>,
    program: &'p Program,
    ranges: Vec<Interval>,
    /// For every element the least value within its bounds.
    least: Vec<Rc<Vec<Value>>>,
    /// What it has learned.
    never: Never,
    witnesses: Witnesses<'p>,
    /// Answers by the shapes of queries: what instances of a thread do to each other is asked once.
    known: HashMap<String, bool>,
    shared: Option<Shared<'o>>,
    undecided: u32,
    /// Variables of all queries.
    variables: u64,
}

/// The pairs of values that no reachable state has, by the first of their elements.
#[derive(Default)]
struct Never {
    pairs: BTreeMap<(VarId, u32), Vec<Pair>>,
}

impl Never {
    fn new(pairs: Vec<Pair>) -> Self {
        let mut by_element: BTreeMap<_, Vec<Pair>> = BTreeMap::new();
        for pair in pairs {
            by_element.entry((pair[0].0, pair[0].1)).or_default().push(pair);
        }
        Self { pairs: by_element }
    }

    /// Those of some elements, which are in order.
    fn of<'a>(&'a self, elements: &'a [Elements]) -> impl Iterator<Item = &'a Pair> {
        let is_among = |&(variable, element, _): &Atom| {
            elements.iter().any(|(other, range)| *other == variable && range.contains(&element))
        };
        let each = elements.iter().flat_map(|(variable, range)| range.clone().map(|element| (*variable, element)));
        each.filter_map(|element| self.pairs.get(&element)).flatten().filter(move |pair| is_among(&pair[1]))
    }
}

/// A solver for some queries, and the bits of the state that all of them are about, as far as they are needed.
struct Shared<'o> {
    circuit: Circuit<'o>,
    values: Vec<Rc<Vec<Value>>>,
}

/// What a transition without choices does to a state.
struct Effect<'c, 'o, 'p> {
    /// Where it leads to a state.
    taken: Literal,
    /// Where one of its checks fails.
    fails: Literal,
    /// Where it has an outcome.
    enabled: Literal,
    after: Frame<'c, 'o, 'p>,
}

impl Oracle for Commutation<'_, '_> {
    fn learn(&mut self) -> bool {
        let never = never_together(self.program, &self.ranges, self.watch).unwrap_or_default();
        self.never = Never::new(never);
        // What is asked from now on may cost as much as what was asked before.
        (self.undecided, self.variables) = (0, 0);
        !self.never.pairs.is_empty()
    }

    fn accord(&mut self, one: usize, other: usize) -> bool {
        let pair = [one, other].map(TransitionId::new);
        let (one, other) = (&self.program.transitions[one], &self.program.transitions[other]);
        if has_choice(one) || has_choice(other) {
            return false;
        }
        self.is_impossible(
            (&[one, other], None),
            |witnesses, around| witnesses.against_accord(pair, around),
            |frame| contradiction(frame, one, other),
        )
    }

    fn never_enables(&mut self, transition: usize, condition: &Expr) -> bool {
        let id = TransitionId::new(transition);
        let transition = &self.program.transitions[transition];
        if has_choice(transition) {
            return false;
        }
        self.is_impossible(
            (&[transition], Some(condition)),
            |witnesses, around| witnesses.of_enabling(id, condition, around),
            |frame| enabling(frame, transition, condition),
        )
    }

    fn conflict(&mut self, one: usize, other: usize) -> Option<Vec<u32>> {
        let (one, other) = (&self.program.transitions[one], &self.program.transitions[other]);
        if has_choice(one) || has_choice(other) {
            return None;
        }
        let mut state = None;
        let shown = |frame: &Frame<'_, '_, '_>| state = Some(frame.state());
        let touched = elements(self.program, &[one, other], None);
        let never: Vec<Pair> = self.never.of(&touched).copied().collect();
        let _ = self.ask(&mut self.shared(), &touched, &never, |frame| contradiction(frame, one, other), shown);
        state
    }
}

/// The elements that are read and written, and the flag of faults: each once, in order.
fn elements(program: &Program, transitions: &[&Transition], condition: Option<&Expr>) -> Vec<Elements> {
    let mut ranges: Vec<(VarId, u32, u32)> = program.fault.map(|flag| (flag, 0, 0)).into_iter().collect();
    transitions.iter().for_each(|transition| ranges.extend(touched(program, transition)));
    ranges.extend(condition.into_iter().flat_map(|condition| touched_by(program, condition)));
    ranges.sort_unstable();
    let mut elements: Vec<Elements> = Vec::new();
    for (variable, first, last) in ranges {
        let end = last.saturating_add(1).min(program.variable(variable).len());
        match elements.last_mut() {
            Some((before, range)) if *before == variable && first <= range.end => range.end = range.end.max(end),
            _ => elements.push((variable, first.min(end)..end)),
        }
    }
    elements
}

fn has_choice(transition: &Transition) -> bool {
    transition.ops.iter().any(|op| matches!(op, Op::Choose(..)))
}

impl<'o> Commutation<'o, '_> {
    /// Whether in no state all of some bits are set, as far as it has learned which states there are; a state in which they are may be
    /// found without the solver.
    fn is_impossible(
        &mut self,
        (transitions, condition): (&[&Transition], Option<&Expr>),
        is_found: impl FnOnce(&mut Witnesses<'_>, &Around<'_>) -> bool,
        bits: impl FnOnce(&Frame<'_, '_, '_>) -> Attempt<Vec<Literal>>,
    ) -> bool {
        if self.variables >= MOST_OF_ALL {
            return false;
        }
        let touched = elements(self.program, transitions, condition);
        let never: Vec<Pair> = self.never.of(&touched).copied().collect();
        let mut shape = Shape::of((self.program, &self.ranges), transitions, condition);
        match self.known.get(&shape.text) {
            // What is so in all states is so in those that can be reached.
            Some(true) => return true,
            Some(false) if never.is_empty() => return false,
            _ => shape.never(&never),
        }
        if let Some(&known) = self.known.get(&shape.text) {
            return known;
        }
        let around = Around { touched: &touched, bounds: &self.ranges, never: &never };
        let is_impossible = !is_found(&mut self.witnesses, &around) && {
            let is_usable = |shared: &Shared<'_>| shared.circuit.work() < SHARED_VARIABLES;
            let mut shared = self.shared.take().filter(is_usable).unwrap_or_else(|| self.shared());
            let before = shared.circuit.work();
            let answer = self.ask(&mut shared, &touched, &never, bits, |_| {});
            self.variables += shared.circuit.work() - before;
            // What was broken off is not gone on with.
            self.shared = answer.is_ok().then_some(shared);
            self.undecided += u32::from(matches!(answer, Ok(None)));
            matches!(answer, Ok(Some(false)))
        };
        self.known.insert(shape.text, is_impossible);
        is_impossible
    }

    /// A solver without a query.
    fn shared(&self) -> Shared<'o> {
        // A query is as large as it may be, whatever was asked before.
        let most = MOST_VARIABLES + SHARED_VARIABLES as i32;
        Shared { circuit: Circuit::of_at_most(self.watch, most), values: self.least.clone() }
    }

    /// Whether in some state all of some bits are set, if that is found out; `hear` is called with such a state.
    fn ask(
        &self,
        shared: &mut Shared<'_>,
        touched: &[Elements],
        never: &[Pair],
        bits: impl FnOnce(&Frame<'_, '_, '_>) -> Attempt<Vec<Literal>>,
        hear: impl FnOnce(&Frame<'_, '_, '_>),
    ) -> Attempt<Option<bool>> {
        let Shared { circuit, values } = shared;
        let circuit = &*circuit;
        let frame = Frame::any_of(circuit, self.program, &self.ranges, std::mem::take(values), touched)?;
        *values = frame.values();
        let apart = if never.is_empty() { None } else { Some(frame.apart(never)?) };
        let mut bits = bits(&frame)?;
        bits.extend(apart);
        if bits.contains(circuit.no()) {
            return Ok(Some(false));
        }
        let most = if self.undecided < MOST_UNDECIDED { MOST_CONFLICTS } else { FEW_CONFLICTS };
        let answer = circuit.solve(&bits, Some(most))?;
        if answer == Some(true) {
            hear(&frame);
        }
        Ok(answer)
    }
}

/// What is true together in a state in which two transitions do not accord.
fn contradiction(any: &Frame<'_, '_, '_>, one: &Transition, other: &Transition) -> Attempt<Vec<Literal>> {
    let circuit = any.circuit;
    let (first, second) = (any.effect(one)?, any.effect(other)?);
    let both = circuit.and(&first.enabled, &second.enabled)?;
    // A thread that is elsewhere after its step can take no other: it is enough that they are never enabled together.
    let is_loop = |transition: &Transition| transition.target == Some(transition.location);
    if both == *circuit.no() || one.thread == other.thread && !(is_loop(one) && is_loop(other)) {
        return Ok(vec![both]);
    }
    let first_then = first.after.effect(other)?;
    let second_then = second.after.effect(one)?;
    // Where one was taken, the other has an outcome still, and fails just where it failed before.
    let changes = |taken: &Literal, before: &Effect<'_, '_, '_>, after: &Effect<'_, '_, '_>| {
        let differs = circuit.xor(&before.fails, &after.fails)?;
        circuit.and(taken, &circuit.or(&after.enabled.negated(), &differs)?)
    };
    let one_changes = changes(&first.taken, &second, &first_then)?;
    let other_changes = changes(&second.taken, &first, &second_then)?;
    let taken = circuit.and(&first_then.taken, &second_then.taken)?;
    let ends_differ = circuit.and(&taken, &first_then.after.differs(&second_then.after)?)?;
    let bad = circuit.any(vec![one_changes, other_changes, ends_differ])?;
    Ok(vec![first.enabled, second.enabled, bad])
}

/// What is true together in a state in which a transition makes a condition true.
fn enabling(any: &Frame<'_, '_, '_>, transition: &Transition, condition: &Expr) -> Attempt<Vec<Literal>> {
    let (circuit, program) = (any.circuit, any.program);
    let before = any.goal(condition)?;
    let effect = any.effect(transition)?;
    let mut makes = circuit.and(&effect.taken, &effect.after.goal(condition)?)?;
    let mut reads_flag = false;
    condition.walk(&mut |part| reads_flag |= program.fault.is_some_and(|flag| *part == Expr::Var(flag)));
    if reads_flag {
        makes = circuit.or(&makes, &effect.fails)?;
    }
    Ok(vec![before.negated(), makes])
}

/// The text of a query in which elements are named by their first occurrence.
struct Shape<'p> {
    program: &'p Program,
    ranges: &'p [Interval],
    /// Variables that are indexed by more than constants: their elements are not renamed.
    dynamic: BTreeSet<VarId>,
    names: BTreeMap<Access, usize>,
    text: String,
}

impl<'p> Shape<'p> {
    fn of(
        (program, ranges): (&'p Program, &'p [Interval]),
        transitions: &[&Transition],
        condition: Option<&Expr>,
    ) -> Self {
        let (dynamic, names) = (BTreeSet::new(), BTreeMap::new());
        let mut shape = Self { program, ranges, dynamic, names, text: String::new() };
        for transition in transitions {
            let touched = transition.reads(program).into_iter().chain(transition.writes(program));
            shape.dynamic.extend(touched.filter(|access| access.element.is_none()).map(|access| access.variable));
        }
        if let Some(condition) = condition {
            condition.walk(&mut |part| match part {
                Expr::Element(variable, index) if index.as_const().is_none() => _ = shape.dynamic.insert(*variable),
                _ => {}
            });
        }
        let is_one_thread = transitions.windows(2).any(|pair| pair[0].thread == pair[1].thread);
        let _ = write!(shape.text, "{is_one_thread}");
        for transition in transitions {
            shape.transition(transition);
        }
        if let Some(condition) = condition {
            shape.expr(condition);
        }
        shape
    }

    /// With pairs of values that no reachable state has: by the names of their elements, each in any order.
    fn never(&mut self, never: &[Pair]) {
        if never.is_empty() {
            return;
        }
        let mut pairs = BTreeSet::new();
        for pair in never {
            let mut named: [_; 2] = pair.map(|(variable, element, value)| {
                let is_dynamic = self.dynamic.contains(&variable);
                let name = self.names.get(&Access { variable, element: (!is_dynamic).then_some(element) });
                let within = (is_dynamic || name.is_none()).then_some(element);
                (name.copied().ok_or(variable), within, value)
            });
            named.sort_unstable();
            pairs.insert(named);
        }
        let _ = write!(self.text, "{pairs:?}");
    }

    fn transition(&mut self, transition: &Transition) {
        let thread = self.program.thread(transition.thread);
        let counter = Access { variable: self.program.kinds[thread.kind].counter, element: Some(thread.copy) };
        self.access(counter);
        let _ = write!(self.text, "={};", transition.location.index());
        self.expr(&transition.guard);
        for op in &transition.ops {
            match op {
                Op::Assign(Place { variable, index }, value) => {
                    match index {
                        Some(index) => self.element(*variable, index),
                        None => self.access(Access { variable: *variable, element: Some(0) }),
                    }
                    self.text.push_str(":=");
                    self.expr(value);
                }
                Op::Let(local, value) => {
                    let _ = write!(self.text, "let {}=", local.index());
                    self.expr(value);
                }
                Op::Choose(local, lo, hi) => {
                    let _ = write!(self.text, "choose {}:", local.index());
                    self.expr(lo);
                    self.expr(hi);
                }
                Op::Check(condition, _) => {
                    self.text.push_str("check ");
                    self.expr(condition);
                }
                Op::Assume(condition) | Op::Require(condition) => {
                    self.text.push_str("need ");
                    self.expr(condition);
                }
            }
            self.text.push(';');
        }
        self.text.push('|');
    }

    fn element(&mut self, variable: VarId, index: &Expr) {
        match index.as_const().and_then(|index| u32::try_from(index).ok()) {
            Some(element) if !self.dynamic.contains(&variable) => {
                self.access(Access { variable, element: Some(element) });
            }
            _ => {
                self.access(Access { variable, element: None });
                self.text.push('[');
                self.expr(index);
                self.text.push(']');
            }
        }
    }

    /// The name of an element, or of a variable all of whose elements are meant; at its first occurrence with its bounds.
    fn access(&mut self, access: Access) {
        let is_dynamic = self.dynamic.contains(&access.variable);
        let is_outside = access.element.is_some_and(|element| element >= self.program.variable(access.variable).len());
        let access = if is_dynamic { Access { element: None, ..access } } else { access };
        let next = self.names.len();
        let name = *self.names.entry(access).or_insert(next);
        let _ = write!(self.text, "v{name}");
        if name == next {
            let len = if is_dynamic { self.program.variable(access.variable).len() } else { 1 };
            let is_flag = Some(access.variable) == self.program.fault;
            let _ = write!(self.text, "{{{:?},{len},{is_outside},{is_flag}}}", self.ranges[access.variable.index()]);
        }
    }

    fn expr(&mut self, expr: &Expr) {
        self.text.push('(');
        match expr {
            Expr::Const(value) => _ = write!(self.text, "{value}"),
            Expr::Var(variable) => self.access(Access { variable: *variable, element: Some(0) }),
            Expr::Element(variable, index) => self.element(*variable, index),
            Expr::Local(local) => _ = write!(self.text, "l{}", local.index()),
            Expr::Stuck => self.text.push_str("stuck"),
            Expr::Unary(op, part) => {
                let _ = write!(self.text, "{op:?}");
                self.expr(part);
            }
            Expr::Wrap(part, lo, hi) => {
                let _ = write!(self.text, "wrap {lo} {hi}");
                self.expr(part);
            }
            Expr::Binary(op, parts) => {
                let _ = write!(self.text, "{op:?}");
                self.expr(&parts.0);
                self.expr(&parts.1);
            }
            Expr::Let { local, parts } => {
                let _ = write!(self.text, "let {}", local.index());
                self.expr(&parts.0);
                self.expr(&parts.1);
            }
            Expr::If(parts) => {
                self.text.push('?');
                [&parts.0, &parts.1, &parts.2].into_iter().for_each(|part| self.expr(part));
            }
            Expr::Fold { op, local, parts } => {
                let _ = write!(self.text, "{op:?} {}", local.index());
                [&parts.0, &parts.1, &parts.2].into_iter().for_each(|part| self.expr(part));
            }
        }
        self.text.push(')');
    }
}

impl<'c, 'o, 'p> Frame<'c, 'o, 'p> {
    /// What a transition without choices does.
    fn effect(&self, transition: &Transition) -> Attempt<Effect<'c, 'o, 'p>> {
        let circuit = self.circuit;
        let (mut path, mut scene) = self.enabled(transition)?;
        let mut fails = *circuit.no();
        for op in &transition.ops {
            match op {
                Op::Assign(place, value) => assign(&mut scene, place, value)?,
                Op::Let(local, value) => name(&mut scene, *local, value)?,
                Op::Check(condition, _) => {
                    let condition = scene.truth(condition)?;
                    fails = circuit.or(&fails, &circuit.minus(&path, &condition)?)?;
                    path = circuit.and(&path, &condition)?;
                }
                Op::Assume(condition) | Op::Require(condition) => {
                    path = circuit.and(&path, &scene.truth(condition)?)?;
                }
                Op::Choose(..) => unreachable!("only transitions without choices are asked about"),
            }
        }
        let after = self.with_written(&scene.written);
        Ok(Effect { taken: path, fails, enabled: circuit.or(&path, &fails)?, after })
    }

    /// Where two states differ.
    fn differs(&self, other: &Self) -> Attempt<Literal> {
        let mut differs = Vec::new();
        for (a, b) in self.beside(other) {
            for at in 0..a.bits.len().max(b.bits.len()) {
                differs.push(self.circuit.xor(a.bit(at), b.bit(at))?);
            }
        }
        self.circuit.any(differs)
    }
}

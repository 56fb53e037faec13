//! Dead variables: an element that nobody reads before it is written again is reset to its initial value, so that states which
//! differ only in such elements become one.
//!
//! Liveness as compilers compute it (Aho, Lam, Sethi, Ullman, *Compilers*, section 9.2.5), for each thread along its locations. An
//! element belongs to a thread if only transitions that move this thread read it, and no property does; what others do cannot
//! depend on it then. It is dead at a location if every path from there writes it for certain before one may read it. Transitions
//! that lead there end by resetting it. So wherever it is dead it has its initial value, as long as nobody else writes it:
//! elements that others write while the thread stays where it is are left alone, because one state would become several, by the
//! order of the write and the reset.
//!
//! The program with the resets is bisimilar to the original one: the same transitions are enabled, with as many outcomes in the
//! same order unless a thread goes on at once, and every property has the same value. So verdicts, lengths of traces, fairness and
//! branching stay.

use std::collections::{BTreeMap, BTreeSet};

use birk_engine::{Model as _, Successors};
use birk_ir::{Expr, LocationId, Op, Place, Program, Step, ThreadId, Trace, Transition, VarId, VarRole, Variable};

use super::footprint::{Element, Range, Walk};
use crate::interpreter::Interpreter;
use crate::replay::{ReplayError, Replayed, replay};

/// Longer variables are not looked at.
const LONGEST: u32 = 1 << 8;

/// A program that resets its dead variables.
#[derive(Clone, Debug)]
pub struct Reset {
    /// The program that is searched: transition by transition that of the original.
    pub program: Program,
    /// The variables of which some transition resets an element.
    pub variables: Vec<VarId>,
    /// The elements that nobody reads.
    unread: BTreeSet<Element>,
    /// For each thread, those that are dead at each of its locations, and, at last, where it does not run.
    dead: Vec<Vec<Vec<Element>>>,
}

impl Reset {
    /// The program with resets, given all that its properties read; `None` if nothing is ever dead.
    pub fn new<'e>(original: &Program, asked: impl IntoIterator<Item = &'e Expr>) -> Option<Self> {
        let accesses: Vec<Accesses> = original.transitions.iter().map(|t| Accesses::new(original, t)).collect();
        let owned = Owned::new(original, &accesses, asked);
        let mut resets: Vec<BTreeSet<Element>> =
            accesses.iter().map(|accesses| &accesses.may_write & &owned.unread).collect();
        let mut dead = Vec::new();
        for (number, elements) in owned.of_threads.iter().enumerate() {
            let flow = Flow::new(original, ThreadId::new(number), elements, &accesses);
            flow.add_resets(&accesses, &mut resets);
            dead.push(flow.dead());
        }
        let mut program = original.clone();
        for (transition, elements) in program.transitions.iter_mut().zip(&resets) {
            transition.ops.extend(elements.iter().map(|&element| reset(original, element)));
        }
        let variables: BTreeSet<VarId> = resets.iter().flatten().map(|(variable, _)| *variable).collect();
        let variables: Vec<VarId> = variables.into_iter().collect();
        let mut reset = (!variables.is_empty()).then_some(Self { program, variables, unread: owned.unread, dead })?;
        reset.begin_normally();
        Some(reset)
    }

    /// What is dead where all threads begin need not be chosen.
    fn begin_normally(&mut self) {
        let mut chosen = std::mem::take(&mut self.program.choices);
        let first = self.program.initial_state();
        let mut dead: BTreeSet<Element> = self.dead_in(&first).copied().collect();
        dead.retain(|(variable, _)| self.variables.contains(variable));
        chosen.retain(|choice| !dead.contains(&(choice.variable, choice.element)));
        self.program.choices = chosen;
    }

    /// The initial state that stands for one of the original program.
    pub fn initial(&self, state: &[u32]) -> Vec<u32> {
        let is_chosen = |element: &Element| self.program.choices.iter().any(|c| (c.variable, c.element) == *element);
        let mut found = self.program.initial_state();
        for (number, variable) in (0..).zip(&self.program.variables) {
            let slot = self.program.layout.slot(VarId(number));
            for element in (0..variable.len()).filter(|&element| is_chosen(&(VarId(number), element))) {
                slot.set(&mut found, element, slot.get(state, element));
            }
        }
        found
    }

    fn dead_in(&self, state: &[u32]) -> impl Iterator<Item = &Element> {
        let of_threads = self.dead.iter().enumerate().flat_map(|(thread, dead)| {
            let location = self.program.location_of(ThreadId::new(thread), state);
            &dead[location.map_or(dead.len() - 1, LocationId::index)]
        });
        of_threads.chain(&self.unread)
    }

    /// A trace of the program with resets as a run of the original program, with the values that its variables have there.
    ///
    /// Where a loop begins, dead elements may have values from before it. They are not read in the loop, so whatever is written
    /// in it is the same every time: it closes after one more turn.
    pub fn original(&self, original: &Program, trace: &Trace) -> Result<Replayed, ReplayError> {
        let run = self.walk(original, trace)?;
        match trace.loop_start {
            Some(start) if start < trace.steps.len() && run.states[start] != run.last() => {
                let mut steps = trace.steps.clone();
                steps.extend_from_slice(&trace.steps[start..]);
                self.walk(original, &Trace { loop_start: Some(trace.steps.len()), steps, ..*trace })
            }
            _ => Ok(run),
        }
    }

    /// The same steps in the original program. Where threads go on at once they may have other numbers there, and the states that
    /// they lead to tell which is which.
    fn walk(&self, original: &Program, trace: &Trace) -> Result<Replayed, ReplayError> {
        let starts = self.program.initial_states();
        let Some(start) = starts.get(trace.initial as usize) else {
            return Err(ReplayError { step: 0, reason: format!("there is no initial state {}", trace.initial) });
        };
        let initial = original.initial_states().iter().position(|state| state == start).unwrap_or(0) as u32;
        if original.joined_late().is_none() {
            return replay(original, &Trace { initial, ..trace.clone() });
        }
        let run = replay(&self.program, trace)?;
        let model = Interpreter::new(original, &[]);
        let mut batch = Successors::in_parts(model.words());
        let (mut state, mut steps) = (run.states[0].clone(), Vec::new());
        for (at, (step, next)) in run.steps.iter().zip(&run.states[1..]).enumerate() {
            let wanted = self.normal(next);
            let is_it =
                |other: Step, state: &[u32]| other.transition == step.transition && self.normal(state) == wanted;
            let Some(found) = batch.find(&model, &state, is_it) else {
                return Err(ReplayError { step: at, reason: "the program without resets has no such step".into() });
            };
            steps.push(batch.step(found));
            state = batch.state(found).to_vec();
        }
        replay(original, &Trace { initial, steps, ..trace.clone() })
    }

    /// A state with its dead elements reset.
    fn normal(&self, state: &[u32]) -> Vec<u32> {
        let mut found = state.to_vec();
        for &(variable, element) in self.dead_in(state) {
            let initial = self.program.variable(variable).initial[element as usize];
            self.program.layout.slot(variable).set(&mut found, element, initial);
        }
        found
    }
}

fn reset(program: &Program, (variable, element): Element) -> Op {
    let declared = program.variable(variable);
    let index = (!declared.shape.is_empty()).then(|| Expr::Const(element.into()));
    Op::Assign(Place { variable, index }, Expr::Const(declared.initial[element as usize]))
}

/// What a transition does with elements.
#[derive(Default)]
struct Accesses {
    /// Read before they are written for certain: what they were before matters.
    uses: BTreeSet<Element>,
    /// Written in every outcome.
    kills: BTreeSet<Element>,
    /// Written in some outcome, and not with their initial values.
    may_write: BTreeSet<Element>,
}

impl Accesses {
    fn new(program: &Program, transition: &Transition) -> Self {
        let (mut found, mut walk) = (Self::default(), Walk::new(program, transition));
        // The guard as it is written: what it says is known only behind it.
        found.read(program, &Walk::anywhere(program), &transition.guard);
        for op in &transition.ops {
            walk.expressions(op).into_iter().for_each(|expr| found.read(program, &walk, expr));
            if let Op::Assign(place, value) = op
                && let Some(range) = walk.range(place.variable, place.index.as_ref())
            {
                let index = place.index.as_ref().map_or(Some(0), |index| walk.fold(index).as_const());
                if index == Some(i64::from(range.first)) && range.is_one() {
                    found.kills.insert(range.element());
                }
                // What writes the initial value does what a reset does.
                let (variable, value) = (program.variable(place.variable), walk.fold(value).as_const());
                let is_change = |(_, element): &Element| {
                    matches!(variable.role, VarRole::Counter(_)) || value != Some(variable.initial[*element as usize])
                };
                found.may_write.extend(elements(program, &range).filter(is_change));
            }
            walk.take(op);
        }
        found
    }

    fn read(&mut self, program: &Program, walk: &Walk<'_>, expr: &Expr) {
        let mut ranges = Vec::new();
        walk.reads(expr, &mut ranges);
        let read = ranges.iter().flat_map(|range| elements(program, range));
        self.uses.extend(read.filter(|element| !self.kills.contains(element)));
    }
}

/// The elements that a range reaches, where they are looked at: those of counters always are.
fn elements(program: &Program, range: &Range) -> impl Iterator<Item = Element> + use<> {
    let variable = program.variable(range.variable);
    let is_seen = variable.len() <= LONGEST || matches!(variable.role, VarRole::Counter(_));
    let id = range.variable;
    (range.first..=range.last).filter(move |_| is_seen).map(move |element| (id, element))
}

/// Whose business the value of an element is.
struct Owned {
    /// For each thread, the elements that only transitions read that move it.
    of_threads: Vec<BTreeSet<Element>>,
    /// Those that nobody reads.
    unread: BTreeSet<Element>,
}

impl Owned {
    fn new<'e>(program: &Program, accesses: &[Accesses], asked: impl IntoIterator<Item = &'e Expr>) -> Self {
        let mut seen = Vec::new();
        let anywhere = Walk::anywhere(program);
        asked.into_iter().for_each(|expr| anywhere.reads(expr, &mut seen));
        program.property_faults.iter().for_each(|(condition, _)| anywhere.reads(condition, &mut seen));
        anywhere.reads(&program.valid_end, &mut seen);
        let seen: BTreeSet<Element> = seen.iter().flat_map(|range| elements(program, range)).collect();

        // The threads that every reader moves.
        let mut movers: BTreeMap<Element, Vec<ThreadId>> = BTreeMap::new();
        for (transition, accesses) in program.transitions.iter().zip(accesses) {
            let moved = moved(transition);
            for element in &accesses.uses {
                let all = movers.entry(*element).or_insert_with(|| moved.iter().map(|m| m.thread).collect());
                all.retain(|thread| moved.iter().any(|other| other.thread == *thread));
            }
        }
        let is_local =
            |variable: &Variable, thread: ThreadId| variable.role == VarRole::Local(program.thread(thread).kind);
        let (mut of_threads, mut unread) = (vec![BTreeSet::new(); program.threads.len()], BTreeSet::new());
        for (number, variable) in program.variables.iter().enumerate() {
            let is_state = !matches!(variable.role, VarRole::Counter(_) | VarRole::Fault);
            let ids = (0..variable.len()).map(|element| (VarId::new(number), element));
            for element in ids.filter(|element| is_state && variable.len() <= LONGEST && !seen.contains(element)) {
                match movers.get(&element) {
                    None => _ = unread.insert(element),
                    Some(threads) => {
                        let own = threads.iter().find(|&&thread| is_local(variable, thread));
                        if let Some(thread) = own.or(threads.first()) {
                            of_threads[thread.index()].insert(element);
                        }
                    }
                }
            }
        }
        Self { of_threads, unread }
    }
}

/// A thread that a transition takes from one location to another; `None` is the end of the thread.
struct Moved {
    thread: ThreadId,
    from: LocationId,
    to: Option<LocationId>,
}

fn moved(transition: &Transition) -> Vec<Moved> {
    let own = Moved { thread: transition.thread, from: transition.location, to: transition.target };
    let other = transition.receiver.as_ref().map(|r| Moved { thread: r.thread, from: r.location, to: r.target });
    std::iter::once(own).chain(other).collect()
}

/// Where a thread with this counter begins that a transition of another one starts.
fn begin(transition: &Transition, counter: VarId) -> Option<usize> {
    let written = transition.ops.iter().filter_map(|op| match op {
        Op::Assign(place, value) if place.variable == counter => Some(value),
        _ => None,
    });
    match written.collect::<Vec<_>>()[..] {
        [one] => usize::try_from(one.as_const()?).ok(),
        _ => None,
    }
}

/// The elements of one thread that are live at each of its locations.
struct Flow {
    /// The thread's moves, each with its transition.
    moves: Vec<(usize, Moved)>,
    /// Transitions of others that may start it, each with the place where it begins, if that is known.
    jumps: Vec<(usize, Option<usize>)>,
    elements: BTreeSet<Element>,
    /// By location; the last place is that of a thread that does not run.
    live: Vec<BTreeSet<Element>>,
}

impl Flow {
    fn new(program: &Program, thread: ThreadId, elements: &BTreeSet<Element>, accesses: &[Accesses]) -> Self {
        let kind = program.kind_of(thread);
        let counter = (kind.counter, program.thread(thread).copy);
        let (mut moves, mut jumps, mut others) = (Vec::new(), Vec::new(), Vec::new());
        for (number, transition) in program.transitions.iter().enumerate() {
            match moved(transition).into_iter().find(|moved| moved.thread == thread) {
                Some(moved) => moves.push((number, moved)),
                None if accesses[number].may_write.contains(&counter) => {
                    jumps.push((number, begin(transition, counter.0)));
                }
                None => others.push(number),
            }
        }
        let live = vec![BTreeSet::new(); kind.locations.len() + 1];
        let mut flow = Self { moves, jumps, elements: elements.clone(), live };
        while flow.step(accesses) {}
        flow.elements.retain(|element| {
            let is_written = |other: usize| accesses[other].may_write.contains(element);
            let is_live = |place: usize| flow.live[place].contains(element);
            // Only a thread that does not run is started.
            let is_disturbed = |&(jump, begin): &(usize, Option<usize>)| match begin {
                Some(begin) => !is_live(begin) && (is_live(flow.live.len() - 1) || is_written(jump)),
                None => (0..flow.live.len()).any(is_live) || is_written(jump),
            };
            !others.iter().copied().any(is_written) && !flow.jumps.iter().any(is_disturbed)
        });
        flow
    }

    fn place(&self, location: Option<LocationId>) -> usize {
        location.map_or(self.live.len() - 1, LocationId::index)
    }

    /// Goes back along every move once; whether more elements are live now.
    fn step(&mut self, accesses: &[Accesses]) -> bool {
        let mut more: Vec<(usize, Vec<Element>)> = Vec::new();
        for (transition, moved) in &self.moves {
            let accesses = &accesses[*transition];
            let behind = self.live[self.place(moved.to)].difference(&accesses.kills);
            let live = behind.chain(accesses.uses.intersection(&self.elements));
            more.push((moved.from.index(), live.copied().collect()));
        }
        for &(jump, begin) in &self.jumps {
            let behind: BTreeSet<Element> = match begin {
                Some(begin) => self.live[begin].clone(),
                None => self.live.iter().flatten().copied().collect(),
            };
            let live: Vec<Element> = behind.difference(&accesses[jump].kills).copied().collect();
            more.extend((0..self.live.len()).map(|place| (place, live.clone())));
        }
        let count = |live: &[BTreeSet<Element>]| live.iter().map(BTreeSet::len).sum::<usize>();
        let before = count(&self.live);
        more.into_iter().for_each(|(place, live)| self.live[place].extend(live));
        count(&self.live) > before
    }

    /// The elements that are dead at each place.
    fn dead(&self) -> Vec<Vec<Element>> {
        self.live.iter().map(|live| self.elements.difference(live).copied().collect()).collect()
    }

    /// Dead elements have their initial values already, unless they were live or are written.
    fn add_resets(&self, accesses: &[Accesses], resets: &mut [BTreeSet<Element>]) {
        for (transition, moved) in &self.moves {
            let (before, behind) = (&self.live[moved.from.index()], &self.live[self.place(moved.to)]);
            let is_changed =
                |element: &&Element| before.contains(*element) || accesses[*transition].may_write.contains(*element);
            resets[*transition].extend(self.elements.difference(behind).filter(is_changed));
        }
    }
}

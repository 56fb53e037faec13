//! A program: variables with their layout, initial states, guarded transitions.
//!
//! It is *total*: whatever can go wrong in a step is a `Check` among its operations, and a failing check is an
//! ordinary outcome of the step, the state in which `fault` is set. Expressions always have a value.

use crate::expr::Expr;
use crate::ids::{FaultId, LocalId, LocationId, Span, ThreadId, TransitionId, VarId};
use crate::layout::Layout;
use crate::property::Property;

/// What every engine works on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// The system's name.
    pub system: String,
    /// Constants by full name, after overrides, in source order.
    pub constants: Vec<(String, String)>,
    /// All variables: globals, program counters, locals, the fault flag.
    pub variables: Vec<Variable>,
    /// Which of them hold the messages of channels, so that these can be shown as queues.
    pub channels: Vec<Channel>,
    /// Elements that begin with one of several values: every combination of them is an initial state.
    pub choices: Vec<InitialChoice>,
    /// Where they live in a state.
    pub layout: Layout,
    /// Thread declarations.
    pub kinds: Vec<ThreadKind>,
    /// Their copies, in the order in which steps are offered.
    pub threads: Vec<Thread>,
    /// Transitions, ordered by thread, location and place in the source.
    pub transitions: Vec<Transition>,
    /// What can go wrong; referred to by `Op::Check`.
    pub faults: Vec<Fault>,
    /// The flag that a failing check sets; absent when nothing can fail.
    pub fault: Option<VarId>,
    /// Faults in the evaluation of properties: the condition under which each happens.
    pub property_faults: Vec<(Expr, FaultId)>,
    /// True in states where it is proper to have no successor.
    pub valid_end: Expr,
    /// What the user asked, in source order, after the two built-in ones.
    pub properties: Vec<Property>,
}

/// A variable of the state: a scalar, or an array of `len` elements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// As shown: `x`, `fork`, `Reader.count`, `Reader@`; `[]` stands where an index goes that is not the last part,
    /// as in `queue[].kind`.
    pub name: String,
    /// What it stands for.
    pub role: VarRole,
    /// Smallest value.
    pub lo: i64,
    /// Largest value.
    pub hi: i64,
    /// Lengths of its dimensions; empty for a scalar.
    pub shape: Vec<u32>,
    /// How values are written.
    pub values: ValueKind,
    /// Initial value of each element; the first of them, where there is a choice.
    pub initial: Vec<i64>,
    /// Where it is declared.
    pub span: Span,
}

/// An element that begins with one of several values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InitialChoice {
    /// Its variable.
    pub variable: VarId,
    /// Which element of it.
    pub element: u32,
    /// What it may begin with, in order and at least two; the first is its `Variable::initial`.
    pub values: Vec<i64>,
}

/// A channel, or an array of channels, that holds messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Channel {
    /// As declared.
    pub name: String,
    /// How many messages there are: `len(c)`.
    pub length: VarId,
    /// The parts of the messages, each an array over the places, the oldest message first.
    pub contents: Vec<VarId>,
}

/// What a variable stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VarRole {
    /// Declared in the system.
    Global,
    /// How many messages are in a channel, or in each of an array of channels; always 0 at a rendezvous.
    Length,
    /// The locations of the threads of a kind (an array over its copies).
    Counter(usize),
    /// A parameter or local of the threads of a kind (the first dimension ranges over its copies).
    Local(usize),
    /// Set by a failing check.
    Fault,
}

/// What a kind of threads stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThreadRole {
    /// Declared as a thread.
    Thread,
    /// What a channel does to its messages by itself: loses, duplicates or reorders them.
    Channel,
}

/// How the values of a variable are written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ValueKind {
    /// `true` and `false`.
    Boolean,
    /// Decimal.
    Integer,
    /// By name, from 0 on: enumerators, locations.
    Names(Vec<String>),
    /// As a set whose members are counted from this number: bit 0 is that number.
    Set(i64),
}

/// A thread declaration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThreadKind {
    /// Its name.
    pub name: String,
    /// What it stands for.
    pub role: ThreadRole,
    /// Where it is declared.
    pub span: Span,
    /// Its locations; the counter's value `locations.len()` means that it has terminated or was not started.
    pub locations: Vec<Location>,
    /// The counter variable, an array over the copies.
    pub counter: VarId,
    /// How many copies there are.
    pub copies: u32,
    /// Whether it was declared with a number of copies, and is therefore shown with an index.
    pub indexed: bool,
    /// Its copies are not kept waiting forever while they can go on, under `--fairness`.
    pub fair: bool,
    /// Where a copy is after a crash, if they can crash: every step there is one, and no promise of fairness.
    pub crashed: Option<LocationId>,
}

/// A location of a thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// Its name.
    pub name: String,
    /// Where it is declared.
    pub span: Span,
    /// Waiting here forever is proper.
    pub end: bool,
    /// Visiting it infinitely often is accepting.
    pub accept: bool,
    /// Visiting it is progress.
    pub progress: bool,
}

/// One copy of a thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Thread {
    /// `Philosopher1`, `Reader[0]`.
    pub name: String,
    /// Its declaration in `kinds`.
    pub kind: usize,
    /// Its number among the copies.
    pub copy: u32,
    /// Its transitions per location: `transitions[start..end]`.
    pub at: Vec<(u32, u32)>,
}

/// A guarded step of one thread from one location.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transition {
    /// Who takes it.
    pub thread: ThreadId,
    /// From where.
    pub location: LocationId,
    /// Which transformation of that location, from 0.
    pub ordinal: u32,
    /// Where it leads; `None` ends the thread.
    pub target: Option<LocationId>,
    /// The transformation in the source.
    pub span: Span,
    /// The guard in the source, where it was written.
    pub guard_span: Option<Span>,
    /// What it executes in the source, where it is one of several paths through the transformation; otherwise empty.
    pub parts: Vec<Span>,
    /// When it is enabled, given that the thread is at the location.
    pub guard: Expr,
    /// What it does, in order, each seeing the effect of the earlier ones.
    pub ops: Vec<Op>,
    /// How many `LocalId`s its operations use.
    pub locals: u32,
    /// Where what is marked `fair` is written. Under `--fairness` all transitions of the thread with this mark are one
    /// condition: while one of them is enabled, they are not all passed over forever.
    pub fair: Option<Span>,
    /// Who goes on at once, before anybody else: the result of the step is then not a state of its own, unless that thread
    /// has no step that is enabled.
    pub then: Option<ThreadId>,
    /// Who receives, where it sends at a rendezvous.
    pub receiver: Option<Receiver>,
}

/// The other side of a rendezvous: its step is a part of the sender's transition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Receiver {
    /// Who receives.
    pub thread: ThreadId,
    /// Where it waits.
    pub location: LocationId,
    /// Where it goes; `None` ends the thread.
    pub target: Option<LocationId>,
    /// The step in the source.
    pub span: Span,
    /// Its guard in the source, where it was written.
    pub guard_span: Option<Span>,
}

/// One operation of a transition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Op {
    /// Writes a variable; the value is in its range.
    Assign(Place, Expr),
    /// Binds a value.
    Let(LocalId, Expr),
    /// Binds every value of the range in turn: one outcome each.
    Choose(LocalId, Expr, Expr),
    /// Where it is false the step ends here: the outcome has `fault` set.
    Check(Expr, FaultId),
    /// Where it is false this outcome does not exist; it is counted as cut.
    Assume(Expr),
    /// Where it is false this outcome does not exist: a step is taken whole or not at all.
    Require(Expr),
}

/// What can be written: a scalar, or an element of an array (a write outside it has no effect).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The variable.
    pub variable: VarId,
    /// The element, for arrays.
    pub index: Option<Expr>,
}

/// Something that can go wrong at one place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// What kind.
    pub kind: FaultKind,
    /// One sentence, as shown to the user.
    pub message: String,
    /// Where.
    pub span: Span,
}

/// Kinds of faults.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FaultKind {
    /// `assert` was false.
    Assertion,
    /// A value left its variable's range.
    Range,
    /// An index outside its array.
    Index,
    /// Arithmetic left 32 bits.
    Overflow,
    /// Division or remainder by zero.
    DivisionByZero,
    /// `start` with every copy running.
    Start,
    /// `choose` from an empty range.
    EmptyChoice,
}

impl FaultKind {
    /// A word for reports.
    pub fn word(self) -> &'static str {
        match self {
            FaultKind::Assertion => "assertion",
            FaultKind::Range => "range",
            FaultKind::Index => "index",
            FaultKind::Overflow => "overflow",
            FaultKind::DivisionByZero => "division-by-zero",
            FaultKind::Start => "start",
            FaultKind::EmptyChoice => "empty-choice",
        }
    }
}

/// A variable, or one element of it, that a transition reads or writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Access {
    /// The variable.
    pub variable: VarId,
    /// The element; `None` means any of them.
    pub element: Option<u32>,
}

impl Variable {
    /// Adds the variable that a failing check sets, if a step checks something.
    pub fn of_faults(variables: &mut Vec<Variable>, transitions: &[Transition]) -> Option<VarId> {
        if !transitions.iter().flat_map(|t| &t.ops).any(|op| matches!(op, Op::Check(..))) {
            return None;
        }
        variables.push(Variable {
            name: "fault".into(),
            role: VarRole::Fault,
            lo: 0,
            hi: 1,
            shape: Vec::new(),
            values: ValueKind::Boolean,
            initial: vec![0],
            span: Span::default(),
        });
        Some(VarId::new(variables.len() - 1))
    }

    /// Number of elements.
    pub fn len(&self) -> u32 {
        self.shape.iter().product()
    }

    /// Whether it only stands for a channel without messages.
    pub fn is_rendezvous(&self) -> bool {
        self.hi == 0 && self.role == VarRole::Length
    }

    /// Whether it has no element (an array of length 0).
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl ThreadKind {
    /// The counter's value of a thread that is not running.
    pub fn idle(&self) -> i64 {
        self.locations.len() as i64
    }
}

impl Program {
    /// The variable with this id.
    pub fn variable(&self, id: VarId) -> &Variable {
        &self.variables[id.index()]
    }

    /// The transition with this id.
    pub fn transition(&self, id: TransitionId) -> &Transition {
        &self.transitions[id.index()]
    }

    /// The thread with this id.
    pub fn thread(&self, id: ThreadId) -> &Thread {
        &self.threads[id.index()]
    }

    /// The declaration of a thread.
    pub fn kind_of(&self, id: ThreadId) -> &ThreadKind {
        &self.kinds[self.thread(id).kind]
    }

    /// The location a thread is at in a state; `None` when it is not running.
    pub fn location_of(&self, id: ThreadId, state: &[u32]) -> Option<LocationId> {
        let kind = self.kind_of(id);
        let value = self.layout.slot(kind.counter).get(state, self.thread(id).copy);
        (value < kind.idle()).then(|| LocationId::new(value as usize))
    }

    /// Whether a guard asks that no step is possible: such a step has a lower priority than all others.
    pub fn has_timeout(&self) -> bool {
        let mut found = false;
        self.transitions.iter().for_each(|t| t.guard.walk(&mut |e| found |= *e == Expr::Stuck));
        found
    }

    /// Why only the interpreter knows its steps, if it is so: `timeout`, or a thread that goes on at once.
    pub fn interpreted_only(&self) -> Option<&'static str> {
        let asks = || self.has_timeout().then_some("`timeout` asks whether any other step is possible");
        self.joined_late().or_else(asks)
    }

    /// Why its steps are not all written out, if it is so: a thread goes on at once.
    pub fn joined_late(&self) -> Option<&'static str> {
        self.transitions.iter().any(|transition| transition.then.is_some()).then_some(
            "an `atomic` or `d_step` sequence loops, so that its steps are joined only while they are executed",
        )
    }

    /// The first initial state.
    pub fn initial_state(&self) -> Vec<u32> {
        let mut state = vec![0; self.layout.words()];
        for (v, variable) in self.variables.iter().enumerate() {
            let slot = self.layout.slot(VarId::new(v));
            for (element, &value) in variable.initial.iter().enumerate() {
                slot.set(&mut state, element as u32, value);
            }
        }
        state
    }

    /// All initial states; the last choice varies fastest.
    pub fn initial_states(&self) -> Vec<Vec<u32>> {
        let mut states = vec![self.initial_state()];
        for choice in &self.choices {
            let slot = self.layout.slot(choice.variable);
            let with = |state: &Vec<u32>, value: i64| {
                let mut state = state.clone();
                slot.set(&mut state, choice.element, value);
                state
            };
            states =
                states.iter().flat_map(|state| choice.values.iter().map(move |&value| with(state, value))).collect();
        }
        states
    }

    /// What an element may begin with.
    pub fn initial_values(&self, variable: VarId, element: u32) -> &[i64] {
        let chosen = self.choices.iter().find(|choice| (choice.variable, choice.element) == (variable, element));
        let only = std::slice::from_ref(&self.variable(variable).initial[element as usize]);
        chosen.map_or(only, |choice| &choice.values)
    }

    /// The word and the bits in it that are not 0 in the result of a failing check.
    pub fn fault_bits(&self) -> Option<(usize, u32)> {
        let slot = self.layout.slot(self.fault?);
        let (word, shift) = slot.position(0);
        Some((word, slot.mask() << shift))
    }

    /// Whether these words are a state: each variable has a value of its range, and all other bits are 0.
    pub fn is_state(&self, words: &[u32]) -> bool {
        let mut used = vec![0; self.layout.words()];
        let mut is_value = |(number, variable): (u32, &Variable)| {
            let slot = self.layout.slot(VarId(number));
            (0..slot.len).filter(|_| slot.bits > 0).all(|element| {
                let (word, shift) = slot.position(element);
                used[word] |= slot.mask() << shift;
                slot.get(words, element) <= variable.hi
            })
        };
        words.len() == self.layout.words()
            && (0..).zip(&self.variables).all(&mut is_value)
            && words.iter().zip(&used).all(|(word, used)| word & !used == 0)
    }

    /// Whether the state is the result of a failing check.
    pub fn is_faulty(&self, state: &[u32]) -> bool {
        self.fault.is_some_and(|fault| self.layout.slot(fault).get(state, 0) != 0)
    }
}

impl Transition {
    /// Whether its guard is not written inside of it but in a procedure that it calls, about the parameters there.
    pub fn is_guarded_elsewhere(&self) -> bool {
        self.guard_span.is_some_and(|span| span.file != self.span.file || self.span.to(span) != self.span)
    }

    /// What it reads, the thread's own counter included; derived from guard and operations.
    pub fn reads(&self, program: &Program) -> Vec<Access> {
        let mut found = vec![self.counter(program)];
        let mut expr = |e: &Expr| {
            e.walk(&mut |e| match e {
                Expr::Var(variable) => found.push(Access { variable: *variable, element: None }),
                Expr::Element(variable, index) => found.push(access(*variable, Some(index))),
                _ => {}
            });
        };
        expr(&self.guard);
        for op in &self.ops {
            match op {
                Op::Assign(place, value) => {
                    place.index.iter().for_each(&mut expr);
                    expr(value);
                }
                Op::Let(_, e) | Op::Check(e, _) | Op::Assume(e) | Op::Require(e) => expr(e),
                Op::Choose(_, lo, hi) => {
                    expr(lo);
                    expr(hi);
                }
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// What it writes, the fault flag included where a check can fail.
    pub fn writes(&self, program: &Program) -> Vec<Access> {
        let mut found = Vec::new();
        for op in &self.ops {
            match op {
                Op::Assign(place, _) => found.push(access(place.variable, place.index.as_ref())),
                Op::Check(..) => {
                    found.extend(program.fault.map(|variable| Access { variable, element: None }));
                }
                _ => {}
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    fn counter(&self, program: &Program) -> Access {
        let thread = program.thread(self.thread);
        Access { variable: program.kinds[thread.kind].counter, element: Some(thread.copy) }
    }
}

fn access(variable: VarId, index: Option<&Expr>) -> Access {
    Access { variable, element: index.and_then(Expr::as_const).and_then(|i| u32::try_from(i).ok()) }
}

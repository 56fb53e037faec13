//! A model and an automaton that watches it, step by step, as one model: built while it is searched.
//!
//! The automaton reads the state that is left. A state in which no step is possible repeats forever; one whose steps
//! all fault or are cut by `assume` does not: its runs end there, and are not evaluated. Under weak fairness a state also
//! has a copy number (the flag construction of Choueka): copy 0 waits for an accepting state, copy i for the i-th
//! condition of fairness to be met, and only accepting states of copy 0 count.

use std::collections::HashMap;
use std::ops::ControlFlow;

use birk_ir::{Field, Program, ThreadRole, Trace, TransitionId};

use crate::automaton::{Buchi, Strength};
use birk_engine::{GoalSet, Model, Monitor, Successors, Watched};

/// With at most so many propositions, the moves of the automaton are looked up by letter.
const MAX_TABLE: usize = 10;

/// Who is not passed over forever: each condition is met by some transitions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fairness {
    /// For each transition, the conditions that taking it meets.
    pub met_by: Vec<u64>,
    /// For each condition, whom it is about: a thread, or a transition.
    pub names: Vec<String>,
}

/// So many conditions are possible.
const MAX_CONDITIONS: usize = 63;

impl Fairness {
    /// Weak fairness of a program: to every thread (or, where some are marked `fair`, to those only), and to everything
    /// marked in a thread, whatever transitions it was lowered to: it is enabled where one of them is, and taken with one.
    pub fn weak(program: &Program) -> Result<Self, String> {
        let marked = program.kinds.iter().any(|kind| kind.fair);
        let mut names = Vec::new();
        let mut met_by = vec![0u64; program.transitions.len()];
        let mut of_threads = vec![None; program.threads.len()];
        for (t, thread) in program.threads.iter().enumerate() {
            let kind = &program.kinds[thread.kind];
            // What a channel does to messages by itself is no thread that anybody promised to run.
            if (!marked || kind.fair) && kind.role == ThreadRole::Thread {
                of_threads[t] = Some(names.len());
                names.push(thread.name.clone());
            }
        }
        // Whatever was lowered from one mark is one condition, for each thread.
        let mut of_marks = HashMap::new();
        for (id, transition) in program.transitions.iter().enumerate() {
            let mark = transition.fair.map(|mark| {
                *of_marks.entry((transition.thread, mark)).or_insert_with(|| {
                    names.push(program.transition_text(TransitionId::new(id)));
                    names.len() - 1
                })
            });
            // A thread that can crash is owed everything but that.
            let is_crash =
                transition.target.is_some() && transition.target == program.kind_of(transition.thread).crashed;
            let owed = of_threads[transition.thread.index()].filter(|_| !is_crash);
            let conditions = owed.into_iter().chain(mark);
            met_by[id] = conditions.filter(|&i| i < MAX_CONDITIONS).fold(0, |all, i| all | 1 << i);
        }
        if names.len() > MAX_CONDITIONS {
            return Err(format!("fairness to {} threads and steps; {MAX_CONDITIONS} are possible", names.len()));
        }
        Ok(Self { met_by, names })
    }
}

/// The product.
pub struct Product<'m> {
    model: &'m dyn Model,
    automaton: Buchi,
    /// By automaton state and letter: where its moves are in `targets`.
    table: Option<Vec<(u32, u32)>>,
    targets: Vec<u32>,
    accepting: Vec<bool>,
    fairness: Option<Fairness>,
    copies: u32,
}

impl std::fmt::Debug for Product<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Product({} states of the automaton, {} copies)", self.automaton.len(), self.copies)
    }
}

impl<'m> Product<'m> {
    /// Of a model whose goals are the propositions of the automaton, in their order.
    pub fn new(model: &'m dyn Model, automaton: Buchi, fairness: Option<Fairness>) -> Self {
        let copies = fairness.as_ref().map_or(1, |fairness| fairness.names.len() as u32 + 1);
        let accepting = (0..automaton.len()).map(|state| automaton.is_accepting(state)).collect();
        let mut product = Self { model, automaton, table: None, targets: Vec::new(), accepting, fairness, copies };
        let propositions = product.automaton.names().len();
        if propositions <= MAX_TABLE {
            let mut table = Vec::new();
            for state in 0..product.automaton.len() {
                for letter in 0..1 << propositions {
                    let start = product.targets.len() as u32;
                    let mut moves = Vec::new();
                    product.moves_of(state, letter, &mut moves);
                    product.targets.extend(moves);
                    table.push((start, product.targets.len() as u32));
                }
            }
            product.table = Some(table);
        }
        product
    }

    /// The same without copies, for a search that looks after fairness itself: it asks which conditions a step meets.
    pub fn without_copies(model: &'m dyn Model, automaton: Buchi, fairness: Fairness) -> Self {
        Self { fairness: Some(fairness), ..Self::new(model, automaton, None) }
    }

    /// Whether any cycle through an accepting state is a sign, so that a simple search will do.
    pub fn is_weak(&self) -> bool {
        self.fairness.is_none() && self.automaton.strength() != Strength::General
    }

    /// A run of the product as a run of the model. Staying in the last state forever is a loop of no step.
    pub fn project(&self, trace: &Trace) -> Trace {
        let watchers = self.automaton.initial().len().max(1) as u32;
        let is_step = |step: &&birk_ir::Step| step.transition != self.stutter();
        let steps: Vec<birk_ir::Step> = trace.steps.iter().filter(is_step).copied().collect();
        let loop_start = trace.loop_start.map(|start| start.min(steps.len()));
        Trace { initial: trace.initial / watchers, steps, loop_start }
    }

    /// As what watches the model.
    fn monitor(&self) -> &(dyn Monitor + '_) {
        self
    }

    /// The same for all steps of a model state that has very many.
    #[cold]
    fn enabled_in(&self, inner: &[u32]) -> u64 {
        let (mut parts, mut enabled) = (Successors::in_parts(inner.len()), 0);
        if self.copies > 1 {
            let _ = parts.each_part(self.model, inner, |part| {
                enabled |= self.monitor().enabled(part.len(), |step| self.met(part.step(step).transition.index()));
                // One bit for each copy but the first: when all are set, the other parts add nothing.
                if enabled.count_ones() + 1 == self.copies { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            });
        }
        enabled
    }

    fn moves_of(&self, state: usize, letter: u64, out: &mut Vec<u32>) {
        for edge in self.automaton.edges(state) {
            if self.automaton.labels().is_true(edge.label, letter) {
                out.push(edge.target as u32);
            }
        }
        out.sort_unstable();
        out.dedup();
    }
}

impl Monitor for Product<'_> {
    fn watchers(&self) -> u32 {
        self.automaton.len() as u32
    }

    #[inline]
    fn copies(&self) -> u32 {
        self.copies
    }

    fn propositions(&self) -> usize {
        self.automaton.names().len()
    }

    fn initial(&self) -> &[usize] {
        self.automaton.initial()
    }

    #[inline]
    fn accepts(&self, watcher: u32) -> bool {
        self.accepting[watcher as usize]
    }

    #[inline]
    fn met(&self, transition: usize) -> u64 {
        self.fairness.as_ref().and_then(|fairness| fairness.met_by.get(transition)).copied().unwrap_or(0)
    }

    #[inline]
    fn moves<'a>(&'a self, watcher: u32, letter: u64, room: &'a mut Vec<u32>) -> &'a [u32] {
        match &self.table {
            Some(table) => {
                let (start, end) = table[(watcher as usize) << self.automaton.names().len() | letter as usize];
                &self.targets[start as usize..end as usize]
            }
            None => {
                self.moves_of(watcher as usize, letter, room);
                room
            }
        }
    }

    fn stutter(&self) -> TransitionId {
        TransitionId::new(self.model.transitions())
    }
}

impl Model for Product<'_> {
    fn words(&self) -> usize {
        self.model.words() + 1
    }

    fn fields(&self) -> Vec<Field> {
        let bits = 32 - self.monitor().places().saturating_sub(1).leading_zeros();
        let mut fields = self.model.fields();
        if bits > 0 {
            fields.push(Field { word: self.model.words() as u32, shift: 0, bits });
        }
        fields
    }

    fn initial(&self, out: &mut Successors) {
        let mut below = Successors::new(self.model.words());
        self.model.initial(&mut below);
        let mut state = vec![0; self.words()];
        for i in 0..below.len() {
            for place in self.monitor().initial_places() {
                state[..self.model.words()].copy_from_slice(below.state(i));
                state[self.model.words()] = place;
                let step = below.step(i);
                out.push(step.transition, step.choice, &state);
            }
        }
    }

    fn successors(&self, state: &[u32], out: &mut Successors) {
        let words = self.model.words();
        let (inner, place) = (&state[..words], state[words]);
        let (mut below, rest) = out.begin_below(words, state);
        let cut = below.cut;
        self.model.successors(inner, &mut below);
        out.cut += below.cut - cut;
        let stuck = rest.is_none() && below.is_stuck_since(0, cut);
        let letter = self.model.evaluate(inner, stuck).0;
        if stuck {
            below.push(self.stutter(), 0, inner);
        }
        let met = |step: usize| self.met(below.step(step).transition.index());
        // What could be done instead is asked of all parts when the first is followed.
        let enabled = match rest {
            Some(enabled) => enabled[0] as u64,
            None if below.has_rest() => self.enabled_in(inner),
            None => self.monitor().enabled(below.len(), met),
        };
        self.monitor().follow(place, letter, (below.len(), enabled), met, |step, place| {
            let target = below.state(step);
            if !self.model.is_fault(target) {
                let (states, steps) = out.room(1);
                states[..words].copy_from_slice(target);
                states[words] = place;
                steps[0] = below.step(step);
                out.advance(1);
            }
        });
        out.end_below(below, state, || vec![enabled as i64]);
    }

    /// Goal 0: a cycle through this state is a sign of what the automaton accepts.
    fn evaluate(&self, state: &[u32], _: bool) -> GoalSet {
        GoalSet(u64::from(self.monitor().is_accepting(state[self.model.words()])))
    }

    fn transitions(&self) -> usize {
        self.model.transitions() + 1
    }

    fn watched(&self) -> Option<Watched<'_>> {
        Some(Watched { model: self.model, monitor: self })
    }
}

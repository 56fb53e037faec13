//! Partial-order reduction by stubborn sets (Valmari 1990) that keeps every distance.
//!
//! In each state only the enabled transitions of a *stubborn set* `T` are taken. Let `d(s)` be the length of a shortest path from
//! `s` to a goal. `T` fulfils two conditions:
//!
//! - **D1**: if `u1 … un t` is an execution from `s` with `t` in `T` and no `ui` in `T`, then so is `t u1 … un`, with the same end;
//! - **attractor**: every path from `s` to a goal takes a member of `T`, unless `s` is one itself. (For deadlocks a *key* does
//!   this: an enabled member that nothing outside `T` disables.)
//!
//! Then the reduced graph has the same `d`. By induction on `d(s) = n > 0`: let `ti` be the first member of `T` on a shortest path
//! `t1 … tn`. By D1 the path `ti t1 … ti-1 ti+1 … tn` reaches the goal as well, and its first step is taken. The path that is
//! found is a permutation of one in the full graph. Hence a reduced breadth-first search finds shortest traces, there is nothing
//! that a cycle could put off for ever (no proviso), and the set depends on the state alone: a reduction is one more [`Model`],
//! and engines, threads and traces stay as they are. (For planning: Wehrle and Helmert 2014; for nets: Kristensen, Schmidt and
//! Valmari 2006.)
//!
//! For LTL without `X` and without fairness the conditions are the classical ones (Valmari 1990): D1, a key that no proposition
//! sees if there is one, with one visible step all of them, and all of them wherever a step is taken that may close a cycle. That
//! is known before the search (`sticky.rs`), so that the set depends on the state alone here, too: the reduced program is
//! stutter-equivalent to the full one, whatever automaton is laid over it, and whatever search looks for its cycles.
//!
//! D1 holds if `T` is closed: an enabled member brings all that does not *accord* with it, a disabled one all that is *necessary*
//! to enable it. Attractors are closed in the same way, as guards of transitions that do not exist. A check that may fail is a
//! guard of the goal `fault`; where a step fails, everything is expanded.

mod condition;
mod dead;
mod footprint;
mod independence;
mod memo;
mod relations;
mod sets;
mod specialise;
mod sticky;
mod stubborn;

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;

use birk_engine::{GoalSet, Hunt, Model, Successors};
use birk_ir::{Expr, Field, Outcome, Program, Step, Trace, Transition, TransitionId, VarId};

use crate::interpreter::Interpreter;
pub use dead::Reset;
use footprint::Footprint;
pub use independence::{Conflict, Independence, independence};
pub use relations::{Oracle, Preserve, Relations, Syntactic};
use sets::{count, is_in, set};
pub use specialise::Specialised;
use stubborn::{Beginning, Choose, Room, chooser};

/// States that are expanded to see whether a reduction is worth it, and of so many one to see how sets are best looked for.
const TRIAL: usize = 2_000;
const COMPARED: usize = 4;

/// Successors of one state, by their bytes: a state with more would have to be expanded in parts.
const MOST_BYTES: u64 = 16 << 20;

/// The elements that a transition reads or writes: variable, first and last element.
pub fn touched(program: &Program, transition: &Transition) -> Vec<(VarId, u32, u32)> {
    let footprint = Footprint::new(program, transition);
    footprint.reads.iter().chain(&footprint.writes).map(|range| (range.variable, range.first, range.last)).collect()
}

/// The elements that a condition reads.
pub fn touched_by(program: &Program, condition: &Expr) -> Vec<(VarId, u32, u32)> {
    relations::reads_of(program, condition).iter().map(|range| (range.variable, range.first, range.last)).collect()
}

/// A model of a specialised program in which only the steps of a stubborn set are taken.
pub struct Reduced<'m> {
    model: &'m dyn Model,
    interpreter: Interpreter<'m>,
    relations: Arc<Relations>,
    chooser: Arc<dyn Choose>,
    beginning: Beginning,
    native: Option<Arc<dyn Conditions + 'm>>,
    /// The only goal that is hunted, if not all are.
    goal: Option<usize>,
    /// A search that holds so many states may forget others.
    forgets_beyond: Option<u64>,
}

/// Conditions over states, evaluated together.
pub trait Conditions: Send + Sync {
    /// Sets one bit for each condition, in order: whether it is true.
    fn evaluate(&self, state: &[u32], out: &mut [u64]);
}

/// What the first states of a reduced search show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trial {
    /// There are no more.
    Over,
    /// Fewer steps are taken.
    Worthwhile,
    /// Nearly all steps are taken: to choose among them takes longer than to take them.
    Useless,
    /// All, or so nearly all that it would not help to know more of the states.
    Hopeless,
}

impl<'m> Reduced<'m> {
    /// The model of a specialised program, reduced for what it evaluates; an error says why that cannot be.
    pub fn new(
        program: &'m Program,
        model: &'m dyn Model,
        preserve: Preserve<'_>,
        oracle: &mut dyn Oracle,
    ) -> Result<Self, String> {
        if let Some(reason) = program.interpreted_only() {
            return Err(reason.to_owned());
        }
        let most = program.threads.iter().map(|thread| {
            let at = |&(first, last): &(u32, u32)| {
                (first..last).fold(0u64, |sum, id| sum.saturating_add(program.most_outcomes(TransitionId(id))))
            };
            thread.at.iter().map(at).max().unwrap_or(0)
        });
        let most = most.fold(0u64, u64::saturating_add);
        if most.saturating_mul(model.words() as u64 * 4 + 8) > MOST_BYTES {
            return Err(format!("a state may have {most} successors"));
        }
        let relations = Relations::new(program, preserve, oracle)?;
        let chooser = chooser(&relations, &relations.goals);
        let interpreter = Interpreter::new(program, &[]);
        let (relations, beginning) = (Arc::new(relations), Beginning::Both);
        Ok(Self { model, interpreter, relations, chooser, beginning, native: None, goal: None, forgets_beyond: None })
    }

    /// The same for one of its goals alone, which is then its only one.
    pub fn for_goal(&self, program: &'m Program, goal: usize) -> Self {
        Self {
            model: self.model,
            interpreter: Interpreter::new(program, &[]),
            relations: Arc::clone(&self.relations),
            chooser: chooser(&self.relations, &self.relations.goals[goal..=goal]),
            beginning: Beginning::Both,
            native: self.native.clone(),
            goal: Some(goal),
            forgets_beyond: self.forgets_beyond,
        }
    }

    /// The conditions that are evaluated in every state.
    pub fn conditions(&self) -> &[Expr] {
        &self.relations.atoms
    }

    /// The same with its conditions evaluated by this.
    pub fn with_conditions(self, native: Arc<dyn Conditions + 'm>) -> Self {
        Self { native: Some(native), ..self }
    }

    /// The same for a search that, when it holds so many states, may forget those from which a single step is taken.
    pub fn forgetting(self, beyond: u64) -> Self {
        Self { forgets_beyond: Some(beyond), ..self }
    }

    /// Whether it is worth it, as the first states of a breadth-first search show; what brings nothing there in the choice of
    /// sets is left out. Decided before a search, so that the choice depends on the state alone.
    pub fn trial(&mut self) -> Trial {
        let (mut here, mut all) = (Successors::new(self.words()), Successors::new(self.words()));
        self.initial(&mut here);
        let mut states: VecDeque<Vec<u32>> = (0..here.len()).map(|index| here.state(index).to_vec()).collect();
        let mut seen: HashSet<Vec<u32>> = states.iter().cloned().collect();
        let (mut expanded, mut taken, mut enabled) = (0, 0, 0);
        // Wide states, and such with many successors, are judged by fewer.
        let most = MOST_BYTES as usize / (self.words() * 4).max(1);
        let (mut best, mut sizes) = (0, [0; 2]);
        while expanded < TRIAL && seen.len() < most {
            // A model that is over by then is small either way.
            let Some(state) = states.pop_front() else { return Trial::Over };
            expanded += 1;
            here.clear();
            all.clear();
            self.successors(&state, &mut here);
            self.model.successors(&state, &mut all);
            (taken, enabled) = (taken + here.len(), enabled + all.len());
            if expanded % COMPARED == 0 {
                best += here.len();
                sizes[0] += self.chosen_from(Beginning::Closure, &state, &all);
                sizes[1] += self.chosen_from(Beginning::All, &state, &all);
            }
            for next in (0..here.len()).map(|index| here.state(index)) {
                if !self.is_fault(next) && !seen.contains(next) {
                    seen.insert(next.to_vec());
                    states.push_back(next.to_vec());
                }
            }
        }
        self.beginning = match sizes.map(|size| size <= best) {
            [true, _] => Beginning::Closure,
            [false, true] => Beginning::All,
            _ => Beginning::Both,
        };
        if taken * 10 <= enabled * 9 {
            Trial::Worthwhile
        } else if taken * 50 <= enabled * 49 {
            Trial::Useless
        } else {
            Trial::Hopeless
        }
    }

    /// How many of the successors of a state are taken if its set is looked for in this way alone.
    fn chosen_from(&self, beginning: Beginning, state: &[u32], all: &Successors) -> usize {
        let mut room = Room::default();
        match self.is_choice(all, 0, &mut room) && self.choose(beginning, state, &mut room) {
            true => all.steps(0).iter().filter(|step| is_in(&room.chosen, step.transition.index())).count(),
            false => all.len(),
        }
    }

    /// The stubborn set of a state, by transition; none where all steps are taken.
    pub fn stubborn_set(&self, state: &[u32]) -> Option<Vec<bool>> {
        let mut all = Successors::new(self.words());
        self.model.successors(state, &mut all);
        let mut room = Room::default();
        let is_reduced = self.is_choice(&all, 0, &mut room) && self.choose(self.beginning, state, &mut room);
        let is_member = |transition| is_in(&room.chosen, transition);
        is_reduced.then(|| (0..self.relations.transitions).map(is_member).collect())
    }

    /// Chooses a set; whether it has fewer than all enabled transitions.
    fn choose(&self, beginning: Beginning, state: &[u32], room: &mut Room) -> bool {
        let Some(native) = &self.native else {
            let is_true = |atom: usize| self.relations.tests[atom].is_true(&self.interpreter, state);
            return self.chooser.choose(beginning, &is_true, room);
        };
        native.evaluate(state, &mut room.atoms);
        room.evaluated.fill(u64::MAX);
        room.choose_again(&self.chooser, beginning)
    }

    /// Keeps of the successors of a state, from a position on, those by steps of a stubborn set.
    fn reduce(&self, state: &[u32], from: usize, out: &mut Successors) {
        let mut room = out.take_room::<Room>();
        if self.is_choice(out, from, &mut room) && self.choose(self.beginning, state, &mut room) {
            let before = out.len();
            out.retain(from, |step, _| is_in(&room.chosen, step.transition.index()));
            out.is_withheld = out.len() < before;
        }
        out.give_room(room);
    }

    /// Fills the room with the transitions that have an outcome in the state; whether a set is to be chosen.
    fn is_choice(&self, out: &Successors, from: usize, room: &mut Room) -> bool {
        room.clear(&self.relations);
        for index in from..out.len() {
            // What fails is met now: the others are not put off.
            if self.model.is_fault(out.state(index)) {
                return false;
            }
            set(&mut room.enabled, out.step(index).transition.index());
        }
        count(&room.enabled) > 1
    }
}

impl Model for Reduced<'_> {
    fn words(&self) -> usize {
        self.model.words()
    }

    fn fields(&self) -> Vec<Field> {
        self.model.fields()
    }

    fn initial(&self, out: &mut Successors) {
        self.model.initial(out);
    }

    fn successors(&self, state: &[u32], out: &mut Successors) {
        let from = out.len();
        out.is_withheld = false;
        self.model.successors(state, out);
        while out.has_rest() {
            self.model.successors(state, out);
        }
        if out.len() - from > 1 {
            self.reduce(state, from, out);
        }
        out.is_transient = out.len() - from == 1 && !self.is_fault(out.state(from));
    }

    fn evaluate(&self, state: &[u32], stuck: bool) -> GoalSet {
        let met = self.model.evaluate(state, stuck);
        self.goal.map_or(met, |goal| GoalSet(u64::from(met.contains(goal))))
    }

    fn is_state(&self, words: &[u32]) -> bool {
        self.model.is_state(words)
    }

    fn is_fault(&self, state: &[u32]) -> bool {
        self.model.is_fault(state)
    }

    fn estimate(&self, state: &[u32], room: &mut Vec<u32>) -> u32 {
        self.model.estimate(state, room)
    }

    fn transitions(&self) -> usize {
        self.model.transitions()
    }

    fn written(&self, transition: usize) -> Option<Vec<u32>> {
        self.model.written(transition)
    }

    fn forgets_beyond(&self) -> Option<u64> {
        self.forgets_beyond
    }
}

impl Specialised {
    /// What a hunt in the specialised program says of the original one.
    pub fn original(&self, original: &Program, mut hunt: Hunt) -> Hunt {
        for outcome in &mut hunt.outcomes {
            if let Outcome::Found(trace) = outcome {
                *trace = self.trace(original, trace);
            }
        }
        let mut fired = vec![false; original.transitions.len()];
        let open = std::mem::take(&mut hunt.stats.cutoff.open);
        hunt.stats.cutoff.open = vec![0; if open.is_empty() { 0 } else { fired.len() }];
        for (variant, origin) in self.origins.iter().enumerate() {
            fired[origin.index()] |= hunt.fired.get(variant).is_some_and(|&is_fired| is_fired);
            if let Some(open) = open.get(variant) {
                hunt.stats.cutoff.open[origin.index()] += open;
            }
        }
        hunt.fired = fired;
        hunt
    }

    /// The steps of the original program that lead through the same states.
    fn trace(&self, original: &Program, trace: &Trace) -> Trace {
        let (derived, original) = (Interpreter::new(&self.program, &[]), Interpreter::new(original, &[]));
        let (mut here, mut there) = (Successors::new(derived.words()), Successors::new(derived.words()));
        let mut state = self.program.initial_states()[trace.initial as usize].clone();
        let mut steps = Vec::new();
        for step in &trace.steps {
            let next = here.find(&derived, &state, |other, _| other == *step).expect("a trace consists of steps");
            let next = here.state(next).to_vec();
            let origin = self.origins[step.transition.index()];
            let is_it = |other: Step, state: &[u32]| other.transition == origin && *state == *next;
            let index = there.find(&original, &state, is_it).expect("a variant has no other outcomes than its origin");
            steps.push(there.step(index));
            state = next;
        }
        Trace { steps, ..trace.clone() }
    }
}

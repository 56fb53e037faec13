//! Symmetry reduction: of all states that differ only in names, one is visited.
//!
//! A *name* is a value of which only equality matters: the number of one of several threads, an index that stands for such a
//! thread, a value that is only chosen, stored and compared. A permutation π of names acts on states. If the program with π applied
//! is the same program (an *automorphism*), then `s → s'` is a step if and only if `πs → πs'` is one; if the goals are the same as
//! well, then `s` and `πs` are equally far from each of them. So a search may replace each state by a representative of its orbit.
//! It finds every goal, at the same distance. The initial state need not be symmetric: a path that begins in its image is the image
//! of a path that begins in it.
//!
//! Nobody promises the symmetry: it is proved for each program and its goals, and what is not proved is not used. Types are
//! inferred from what is done with values (`typing`), so that a swap of two names maps an expression to the one with its constants
//! swapped; the swap is an automorphism if that maps the steps of the program to its steps, and each goal to itself (`proof`).
//! Properties that name one thread leave the permutations of the others. Names of which each has a next one, as around a table,
//! are not swapped but rotated (`ring`). (Ip and Dill 1996 for types that are declared so; Clarke, Enders, Filkorn and Jha 1996;
//! Emerson and Sistla 1996.)

mod action;
mod canonical;
mod classes;
mod patterns;
mod proof;
mod refine;
mod ring;
mod temporary;
mod text;
mod typing;

use birk_engine::{GoalSet, Hunt, Model, Successors};
use birk_ir::{Expr, Field, Goal, Outcome, Program, Trace, VarId};

use crate::interpreter::Interpreter;
use action::{Action, Held, Permutation, composed, inverse};
use canonical::Canonical;
pub use classes::Site;
use proof::prove;
pub use proof::{Broken, Checks};
use typing::Typing;

/// The permutations of names that a program and some goals do not notice.
#[derive(Debug)]
pub struct Automorphisms {
    canonical: Canonical,
    /// For each kind of threads, which of its instances are interchangeable: the numbers of each group.
    threads: Vec<Vec<Vec<u32>>>,
    broken: Vec<Broken>,
}

impl Automorphisms {
    /// What can be proved.
    pub fn new(program: &Program, goals: &[Goal]) -> Self {
        Self::checked(program, goals, Checks::ALL)
    }

    /// What is left if only some things are checked: for tests of what the checks are for.
    pub fn checked(program: &Program, goals: &[Goal], checks: Checks) -> Self {
        let goals: Vec<&Expr> = goals.iter().map(|Goal::State(goal)| goal).collect();
        let typing = Typing::new(program, &goals, checks);
        let (mut found, broken) = prove(program, &typing, checks);
        let action = Action::new(program, &typing, &found, checks);
        let mut group = 0..;
        found.retain(|_| group.next().is_some_and(|group| action.is_used(group)));
        let is_mixed = found.iter().any(|names| names.is_ring) && found.iter().any(|names| !names.is_ring);
        if is_mixed && !Canonical::new(Action::new(program, &typing, &found, checks)).is_by_keys() {
            // A least image under both would have to be looked for among all of them.
            found.retain(|names| !names.is_ring);
        }
        let of_kind = |kind: usize| {
            let (class, copies) = (typing.classes.find(typing.instances(kind)), program.kinds[kind].copies);
            let ours = found.iter().filter(|names| {
                !names.is_ring && names.class == class && names.names.iter().all(|name| *name < copies)
            });
            ours.map(|names| names.names.clone()).collect()
        };
        let threads = (0..program.kinds.len()).map(of_kind).collect();
        Self { canonical: Canonical::new(Action::new(program, &typing, &found, checks)), threads, broken }
    }

    /// Whether there is nothing to permute.
    pub fn is_trivial(&self) -> bool {
        self.canonical.action.groups.is_empty()
    }

    /// The groups of names that are permuted: the names of each.
    pub fn groups(&self) -> &[Vec<u32>] {
        &self.canonical.action.groups
    }

    /// For each group, whether its names form a ring: they are permuted only by rotation.
    pub fn rings(&self) -> &[bool] {
        &self.canonical.action.rings
    }

    /// For each kind of threads, which of its instances are interchangeable: the numbers of each group.
    pub fn threads(&self) -> &[Vec<Vec<u32>>] {
        &self.threads
    }

    /// Which threads' instances are not all interchangeable, and why.
    pub fn broken(&self) -> &[Broken] {
        &self.broken
    }

    /// Whether every orbit had one representative only, in all states so far.
    pub fn is_exact(&self) -> bool {
        self.canonical.is_exact()
    }

    /// Whether representatives are found by sorting alone.
    pub fn is_sorted(&self) -> bool {
        self.canonical.is_by_keys()
    }

    /// Replaces a state by the representative of its orbit.
    #[inline]
    pub fn represent(&self, state: &mut [u32]) {
        self.canonical.replace(state, &mut |_, _| {});
    }

    /// The images of a state under swaps and rotations that generate all permutations.
    pub fn neighbours(&self, state: &[u32]) -> Vec<Vec<u32>> {
        self.generators().iter().map(|generator| generator.action.image(&generator.permutation, state)).collect()
    }

    /// Swaps and rotations that generate all permutations.
    pub fn generators(&self) -> Vec<Generator<'_>> {
        let action = &self.canonical.action;
        let mut generators = Vec::new();
        for (group, names) in action.groups.iter().enumerate() {
            if action.rings[group] {
                let mut permutation = action.identity();
                permutation[group] = action.turned(group, 1);
                generators.push(Generator { action, permutation });
                continue;
            }
            for position in 1..names.len() {
                let mut permutation = action.identity();
                permutation[group].swap(position - 1, position);
                generators.push(Generator { action, permutation });
            }
        }
        generators
    }

    /// What a hunt among representatives says of the program; `searched` is the one that was searched, whose steps the traces
    /// have, with the same states.
    pub fn original(&self, program: &Program, searched: &Program, mut hunt: Hunt) -> Hunt {
        for outcome in &mut hunt.outcomes {
            if let Outcome::Found(trace) = outcome {
                *trace = self.trace(program, searched, trace);
            }
        }
        hunt
    }

    /// A path of the program, from the steps of representatives. If `π` maps a representative to the state of the path, then it
    /// maps the step that was taken there to one of the program.
    fn trace(&self, program: &Program, searched: &Program, trace: &Trace) -> Trace {
        let (derived, original) = (Interpreter::new(searched, &[]), Interpreter::new(program, &[]));
        let (mut here, mut there) = (Successors::new(derived.words()), Successors::new(derived.words()));
        let mut state = program.initial_states()[trace.initial as usize].clone();
        let mut representative = state.clone();
        let mut back = inverse(&self.canonical.permutation(&mut representative));
        let mut steps = Vec::new();
        for step in &trace.steps {
            let next =
                here.find(&derived, &representative, |other, _| other == *step).expect("a trace consists of steps");
            let mut next = here.state(next).to_vec();
            let image = self.canonical.action.image(&back, &next);
            // What a failing check leaves of a step need not be the image in all of its values.
            let is_fault = derived.is_fault(&next);
            let index = there
                .find(&original, &state, |_, other| *other == *image)
                .or_else(|| there.find(&original, &state, |_, other| is_fault && original.is_fault(other)))
                .expect("an automorphism maps steps to steps");
            steps.push(there.step(index));
            state = there.state(index).to_vec();
            if !is_fault {
                let to = self.canonical.permutation(&mut next);
                back = composed(&inverse(&to), &back);
            }
            representative = next;
        }
        Trace { steps, ..trace.clone() }
    }
}

/// A permutation of names, and what it does to each element of a state.
#[derive(Debug)]
pub struct Generator<'a> {
    action: &'a Action,
    permutation: Permutation,
}

impl Generator<'_> {
    /// Where an element of a variable goes, and what becomes of a value that it has; of a set, as bits. Where it is a matter of the
    /// state whether it is a name, it is taken for one.
    pub fn image(&self, variable: VarId, element: u32, value: i64) -> (u32, i64) {
        match self.action.variables.iter().find(|moved| moved.variable == variable) {
            Some(moved) => {
                let to = self.action.element(&self.permutation, moved, element);
                (to, self.action.value(&self.permutation, moved, value))
            }
            None => (element, value),
        }
    }

    /// What a variable holds.
    pub fn holds(&self, variable: VarId) -> Holds {
        match self.action.variables.iter().find(|moved| moved.variable == variable).map(|moved| &moved.held) {
            Some(Held::Name(_)) => Holds::Names,
            Some(Held::Set(_)) => Holds::Sets,
            Some(Held::Number) | None => Holds::Numbers,
        }
    }
}

/// What the elements of a variable are to a symmetry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holds {
    /// No permutation changes them.
    Numbers,
    /// Names, or other values that stay what they are.
    Names,
    /// Sets of names, each by its bit.
    Sets,
}

/// A model whose states are representatives.
pub struct Symmetric<'m> {
    model: &'m dyn Model,
    automorphisms: &'m Automorphisms,
}

impl<'m> Symmetric<'m> {
    /// The model of a program, or one with the same states, in which each state is replaced by the representative of its orbit.
    pub fn new(model: &'m dyn Model, automorphisms: &'m Automorphisms) -> Self {
        Self { model, automorphisms }
    }

    fn represent(&self, out: &mut Successors, from: usize) {
        for state in out.states_mut(from) {
            // What a failing check leaves is evaluated, and that is all.
            if !self.model.is_fault(state) {
                self.automorphisms.represent(state);
            }
        }
    }
}

impl Model for Symmetric<'_> {
    fn words(&self) -> usize {
        self.model.words()
    }

    fn fields(&self) -> Vec<Field> {
        self.model.fields()
    }

    fn initial(&self, out: &mut Successors) {
        let from = out.len();
        self.model.initial(out);
        self.represent(out, from);
    }

    fn successors(&self, state: &[u32], out: &mut Successors) {
        let from = out.len();
        self.model.successors(state, out);
        self.represent(out, from);
    }

    fn evaluate(&self, state: &[u32], stuck: bool) -> GoalSet {
        self.model.evaluate(state, stuck)
    }

    fn is_state(&self, words: &[u32]) -> bool {
        self.model.is_state(words)
    }

    fn is_fault(&self, state: &[u32]) -> bool {
        self.model.is_fault(state)
    }

    fn transitions(&self) -> usize {
        self.model.transitions()
    }

    fn forgets_beyond(&self) -> Option<u64> {
        self.model.forgets_beyond()
    }
}

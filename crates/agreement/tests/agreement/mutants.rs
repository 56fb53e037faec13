//! Break the rule, see the check fail: every essential of a search and of a model is broken once, and the agreement
//! check must notice on some program of a fixed set. The unbroken parts must pass it on all.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};

use birk_engine::{GoalSet, Hunt, Job, Model, Observer, Progress, Successors};
use birk_exec::Interpreter;
use birk_ir::{StateId, Stop};
use birk_search::dfs::explore;
use birk_search::frontier::{Frontier, Node, Queue};
use birk_search::store::{Arrival, Store};

use crate::regressions;
use birk_agreement::case::{Case, MOST_STATES, cases, make};
use birk_agreement::check::{Checked, Subject, check};

/// The fixed set of programs.
pub(crate) fn programs() -> Vec<Case> {
    let by_hand = regressions::PROGRAMS.iter().filter_map(|(_, text)| make(text).usable());
    by_hand.chain(cases(0..160)).collect()
}

/// How a part is broken, and the check of a program with it.
pub(crate) type Mutant<'a> = (String, Box<dyn Fn(&Case) -> Checked + 'a>);

pub(crate) fn mutant<'a>(name: impl Into<String>, check: impl Fn(&Case) -> Checked + 'a) -> Mutant<'a> {
    (name.into(), Box::new(check))
}

/// Each is noticed on some program: the check says so, or an assertion of the search does.
pub(crate) fn all_noticed(mutants: &[Mutant<'_>]) {
    let programs = programs();
    for (name, check) in mutants {
        let notices = |case: &&Case| !matches!(catch_unwind(AssertUnwindSafe(|| check(case))), Ok(Ok(())));
        assert!(programs.iter().any(|case| notices(&case)), "nobody notices: {name}");
    }
}

/// Ends searches that a broken part made endless.
struct Impatient;

impl Observer for Impatient {
    fn progress(&mut self, progress: &Progress) -> ControlFlow<Stop> {
        let endless = progress.states > 4 * MOST_STATES as u64;
        if endless { ControlFlow::Break(Stop::Time) } else { ControlFlow::Continue(()) }
    }
}

fn checked(case: &Case, hunt: &dyn Fn(&Job) -> Hunt) -> Checked {
    check(case, &Subject { shortest: true, hunt }, case.answer.depth / 2)
}

/// Breadth-first search of a model with a plain store.
pub(crate) fn checked_model(case: &Case, model: &dyn Model) -> Checked {
    checked(case, &|job| explore(model, job, Plain::new(Lie::None), Queue::default(), &mut Impatient))
}

fn checked_store(case: &Case, lie: Lie) -> Checked {
    let model = Interpreter::new(&case.program, &case.goals);
    checked(case, &|job| explore(&model, job, Plain::new(lie), Queue::default(), &mut Impatient))
}

fn checked_frontier(case: &Case, order: fn(&mut Vec<Node>) -> Option<Node>) -> Checked {
    let model = Interpreter::new(&case.program, &case.goals);
    let frontier = || List { nodes: Vec::new(), order };
    checked(case, &|job| explore(&model, job, Plain::new(Lie::None), frontier(), &mut Impatient))
}

#[test]
fn unbroken_parts_pass() {
    for case in programs() {
        let model = Interpreter::new(&case.program, &case.goals);
        checked_model(&case, &Bent::new(&model)).unwrap();
        checked_frontier(&case, first_in_first_out).unwrap();
    }
}

/// A model with one thing changed.
struct Bent<'m> {
    inner: &'m Interpreter<'m>,
    evaluate: fn(&Interpreter<'_>, &[u32], bool) -> GoalSet,
    hides_cuts: bool,
    hides_faults: bool,
    /// How many of the successors of a state are left out.
    forgets: usize,
}

impl<'m> Bent<'m> {
    fn new(inner: &'m Interpreter<'m>) -> Self {
        let evaluate = |model: &Interpreter<'_>, state: &[u32], stuck| model.evaluate(state, stuck);
        Self { inner, evaluate, hides_cuts: false, hides_faults: false, forgets: 0 }
    }
}

impl Model for Bent<'_> {
    fn words(&self) -> usize {
        self.inner.words()
    }

    fn initial(&self, out: &mut Successors) {
        self.inner.initial(out);
    }

    fn successors(&self, state: &[u32], out: &mut Successors) {
        let (cut, before) = (out.cut, out.len());
        self.inner.successors(state, out);
        if self.hides_cuts {
            out.cut = cut;
        }
        out.truncate(out.len().saturating_sub(self.forgets).max(before));
    }

    fn evaluate(&self, state: &[u32], stuck: bool) -> GoalSet {
        (self.evaluate)(self.inner, state, stuck)
    }

    fn is_fault(&self, state: &[u32]) -> bool {
        !self.hides_faults && self.inner.is_fault(state)
    }

    fn transitions(&self) -> usize {
        self.inner.transitions()
    }
}

fn evaluated(name: &str, evaluate: fn(&Interpreter<'_>, &[u32], bool) -> GoalSet) -> Mutant<'_> {
    mutant(name, move |case: &Case| {
        let model = Interpreter::new(&case.program, &case.goals);
        checked_model(case, &Bent { evaluate, ..Bent::new(&model) })
    })
}

fn bent(name: &str, change: fn(&mut Bent<'_>)) -> Mutant<'_> {
    mutant(name, move |case: &Case| {
        let model = Interpreter::new(&case.program, &case.goals);
        let mut bent = Bent::new(&model);
        change(&mut bent);
        checked_model(case, &bent)
    })
}

#[test]
fn broken_evaluation_is_noticed() {
    all_noticed(&[
        evaluated("states are never evaluated", |_, _, _| GoalSet::default()),
        evaluated("no state is ever stuck", |model, state, _| model.evaluate(state, false)),
        evaluated("every state is stuck", |model, state, _| model.evaluate(state, true)),
        evaluated("only the first goal is examined", |model, state, stuck| GoalSet(model.evaluate(state, stuck).0 & 1)),
        evaluated("every goal is always reached", |_, _, _| GoalSet(u64::MAX)),
        bent("where everything is cut, a state is stuck", |bent| bent.hides_cuts = true),
        bent("results of failing checks are states", |bent| bent.hides_faults = true),
        bent("one successor of each state is forgotten", |bent| bent.forgets = 1),
    ]);
}

/// What a store says wrongly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lie {
    None,
    /// The state before is taken for the parent.
    WrongParent,
    /// Every state is an initial one.
    NoParent,
    /// Some known states are new. A hundred times, so that the search ends.
    NewForKnown,
    /// Some new states are known.
    KnownForNew,
    /// Everything was seen: the depth limit hides nothing.
    ContainsAll,
    /// Nothing was seen: the depth limit always hides something.
    ContainsNone,
}

/// The simplest store.
struct Plain {
    lie: Lie,
    states: Vec<Vec<u32>>,
    parents: Vec<Option<StateId>>,
    known: HashMap<Vec<u32>, usize>,
    lies_left: usize,
}

impl Plain {
    fn new(lie: Lie) -> Self {
        Self { lie, states: Vec::new(), parents: Vec::new(), known: HashMap::new(), lies_left: 100 }
    }

    fn arrive(&mut self, state: &[u32], parent: Option<StateId>) -> Arrival {
        let is_known = self.known.contains_key(state);
        let id = self.states.len();
        let lies_here = id % 7 == 3 && self.lies_left > 0;
        match (is_known, self.lie) {
            (true, Lie::NewForKnown) if lies_here => self.lies_left -= 1,
            (true, _) => return Arrival::Known,
            (false, Lie::KnownForNew) if lies_here => {
                self.lies_left = 0;
                return Arrival::Known;
            }
            (false, _) => {}
        }
        self.states.push(state.to_vec());
        self.parents.push(match self.lie {
            Lie::WrongParent => id.checked_sub(1).map(StateId::new),
            Lie::NoParent => None,
            _ => parent,
        });
        self.known.insert(state.to_vec(), id);
        Arrival::New(StateId::new(id))
    }
}

impl Store for Plain {
    fn reserve(&mut self, _: usize, _: u64) -> bool {
        true
    }

    fn insert(&mut self, batch: &Successors, parents: &[Option<StateId>], arrivals: &mut Vec<Arrival>) {
        for (i, parent) in parents.iter().enumerate() {
            arrivals.push(self.arrive(batch.state(i), *parent));
        }
    }

    fn contains(&self, state: &[u32]) -> bool {
        match self.lie {
            Lie::ContainsAll => true,
            Lie::ContainsNone => false,
            _ => self.known.contains_key(state),
        }
    }

    fn load(&self, id: StateId, out: &mut [u32]) {
        out.copy_from_slice(&self.states[id.index()]);
    }

    fn parent(&self, id: StateId) -> Option<StateId> {
        self.parents[id.index()]
    }

    fn len(&self) -> u64 {
        self.states.len() as u64
    }

    fn bytes(&self) -> u64 {
        0
    }
}

#[test]
fn broken_stores_are_noticed() {
    use Lie::{ContainsAll, ContainsNone, KnownForNew, NewForKnown, NoParent, WrongParent};
    let lies = [WrongParent, NoParent, NewForKnown, KnownForNew, ContainsAll, ContainsNone];
    let mutants = lies.map(|lie| mutant(format!("{lie:?}"), move |case: &Case| checked_store(case, lie)));
    all_noticed(&mutants);
}

/// A frontier that claims to go by depth, whatever its order is.
struct List {
    nodes: Vec<Node>,
    order: fn(&mut Vec<Node>) -> Option<Node>,
}

fn first_in_first_out(nodes: &mut Vec<Node>) -> Option<Node> {
    if nodes.is_empty() { None } else { Some(nodes.remove(0)) }
}

impl Frontier for List {
    const BY_DEPTH: bool = true;
    const BATCH: usize = 1;

    fn push_all(&mut self, nodes: &[Node]) {
        self.nodes.extend(nodes);
    }

    fn pop(&mut self) -> Option<Node> {
        (self.order)(&mut self.nodes)
    }

    fn len(&self) -> usize {
        self.nodes.len()
    }

    fn bytes(&self) -> u64 {
        0
    }
}

#[test]
fn broken_frontiers_are_noticed() {
    let drops_some = |nodes: &mut Vec<Node>| {
        if nodes.len() > 3 {
            nodes.remove(0);
        }
        first_in_first_out(nodes)
    };
    let forgets_depth = |nodes: &mut Vec<Node>| first_in_first_out(nodes).map(|node| Node { depth: 0, ..node });
    all_noticed(&[
        mutant("last in, first out", |case| checked_frontier(case, Vec::pop)),
        mutant("some states are dropped", |case| checked_frontier(case, drops_some)),
        mutant("depths are forgotten", |case| checked_frontier(case, forgets_depth)),
    ]);
}

#[test]
fn broken_limits_are_noticed() {
    let hunt = |case: &Case, job: &Job| {
        let model = Interpreter::new(&case.program, &case.goals);
        explore(&model, job, Plain::new(Lie::None), Queue::default(), &mut Impatient)
    };
    let one_more = move |case: &Case, job: &Job| {
        let mut job = job.clone();
        job.limits.depth = job.limits.depth.saturating_add(1);
        hunt(case, &job)
    };
    let no_stop =
        move |case: &Case, job: &Job| hunt(case, &Job { stop_at: GoalSet::default(), keep_going: true, ..job.clone() });
    all_noticed(&[
        mutant("the depth limit is one too large", |case| checked(case, &|job| one_more(case, job))),
        mutant("the search does not end at a goal", |case| checked(case, &|job| no_stop(case, job))),
    ]);
}

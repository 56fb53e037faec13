//! Whoever ends a search ends it also while it decides a formula, and while it looks for a trace.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use birk_agreement::hunt;
use birk_engine::{GoalSet, Job, Limits, Model, Observer, Patient, Progress, Successors};
use birk_ir::{Branching, Coverage, Expr, Outcome, Steps, Stop, TransitionId, VarId};
use birk_search::ENGINES;
use birk_search::liveness::CycleSearch;
use birk_search::mucalculus::{Graph, Needs, Truth, decide};

const STATES: u32 = 100_000;

/// Numbers that lead to the next one and back to the first; goal 0 are odd ones. It counts how often it evaluates.
#[derive(Default)]
struct Numbers {
    evaluated: AtomicU32,
}

impl Model for Numbers {
    fn words(&self) -> usize {
        1
    }

    fn initial(&self, out: &mut Successors) {
        out.push(TransitionId(0), 0, &[0]);
    }

    fn successors(&self, state: &[u32], out: &mut Successors) {
        out.push(TransitionId(0), 0, &[(state[0] + 1) % STATES]);
        out.push(TransitionId(1), 0, &[0]);
    }

    fn evaluate(&self, state: &[u32], _: bool) -> GoalSet {
        self.evaluated.fetch_add(1, Ordering::Relaxed);
        GoalSet(u64::from(state[0] % 2))
    }

    fn transitions(&self) -> usize {
        2
    }
}

/// Ends a search when it has asked so often.
struct Hurried {
    left: u32,
}

impl Observer for Hurried {
    fn progress(&mut self, _: &Progress) -> ControlFlow<Stop> {
        match self.left.checked_sub(1) {
            Some(left) => self.left = left,
            None => return ControlFlow::Break(Stop::Time),
        }
        ControlFlow::Continue(())
    }
}

fn odd() -> Expr {
    Expr::Var(VarId(0))
}

/// From every state an odd one can be reached.
fn formula() -> Branching {
    let next = |number| Branching::Variable(number);
    let reached = Branching::Atom(odd()).or(Branching::Some(Steps::All, Box::new(next(0))));
    let always = Branching::Least(0, Box::new(reached)).and(Branching::Every(Steps::All, Box::new(next(1))));
    Branching::Greatest(1, Box::new(always))
}

fn graph(model: &Numbers, observer: &mut dyn Observer) -> Graph {
    let needs = Needs { propositions: 1, labels: false, spare: 0 };
    Graph::explore(model, needs, &Limits::NONE, observer).0
}

#[test]
fn a_part_of_a_graph_that_can_tell_nothing_is_not_evaluated() {
    let model = Numbers::default();
    let mut graph = graph(&model, &mut Hurried { left: 100 });
    let truth = decide(&formula(), &[odd()], &mut graph, &model, &mut Hurried { left: 0 });
    assert_eq!(truth, ControlFlow::Continue(Truth::Open));
    assert_eq!((graph.is_complete(), model.evaluated.into_inner()), (false, 0));
}

#[test]
fn deciding_asks_all_the_time_whether_to_go_on() {
    let model = Numbers::default();
    let mut graph = graph(&model, &mut Patient);
    let mut decided = |left: u32| decide(&formula(), &[odd()], &mut graph, &model, &mut Hurried { left });
    for left in [0, 1, 10] {
        assert_eq!(decided(left), ControlFlow::Break(Stop::Time));
        assert!(model.evaluated.swap(0, Ordering::Relaxed) <= 256 * left, "after it was told to end");
    }
    // For each 256 states that are evaluated it asks once, and for each 16,384 edges and facts.
    let mut observer = Hurried { left: 1000 };
    let truth = decide(&formula(), &[odd()], &mut graph, &model, &mut observer);
    assert!(matches!(truth, ControlFlow::Continue(Truth::Known(true, _))), "{truth:?}");
    assert!((400..=600).contains(&observer.left), "{}", observer.left);
}

/// Pairs of numbers, either of which grows; the goals are a near pair, and that of the largest. It knows whether that was seen.
struct Pairs {
    most: u32,
    is_seen: AtomicBool,
    expanded: AtomicU32,
}

impl Model for Pairs {
    fn words(&self) -> usize {
        2
    }

    fn initial(&self, out: &mut Successors) {
        out.push(TransitionId(0), 0, &[0, 0]);
    }

    fn successors(&self, state: &[u32], out: &mut Successors) {
        self.expanded.fetch_add(1, Ordering::Relaxed);
        for (transition, pair) in [[state[0] + 1, state[1]], [state[0], state[1] + 1]].iter().enumerate() {
            if pair.iter().all(|&number| number <= self.most) {
                out.push(TransitionId(transition as u32), 0, pair);
            }
        }
    }

    fn evaluate(&self, state: &[u32], _: bool) -> GoalSet {
        let is_last = *state == [self.most, self.most];
        self.is_seen.fetch_or(is_last, Ordering::Relaxed);
        GoalSet(u64::from(*state == [1, 2]) | u64::from(is_last) << 1)
    }

    fn transitions(&self) -> usize {
        2
    }
}

/// Ends a search when the last goal was found.
struct Satisfied<'m>(&'m Pairs, Stop);

impl Observer for Satisfied<'_> {
    fn progress(&mut self, _: &Progress) -> ControlFlow<Stop> {
        match self.0.is_seen.load(Ordering::Relaxed) {
            true => ControlFlow::Break(self.1),
            false => ControlFlow::Continue(()),
        }
    }
}

#[test]
fn what_was_found_is_told_where_the_time_ends_the_search_for_its_trace() {
    let job = Job { stop_at: GoalSet(2), ..Job::new(2, Limits::NONE) };
    let hunted = |most: u32, stop: Stop| {
        let model = Pairs { most, is_seen: AtomicBool::new(false), expanded: AtomicU32::new(0) };
        let hunt = hunt::of_model(&ENGINES[0], &model, &job, &mut Satisfied(&model, stop));
        let again = model.expanded.into_inner() - (most + 1) * (most + 1);
        let traced: Vec<bool> = hunt.outcomes.iter().map(|outcome| matches!(outcome, Outcome::Found(_))).collect();
        (hunt, traced, again)
    };
    for stop in [Stop::Time, Stop::Interrupt] {
        let (hunt, traced, again) = hunted(799, stop);
        assert_eq!(
            (traced, &hunt.outcomes[1]),
            (vec![true, false], &Outcome::Untraced(2 * 799)),
            "the near one is known"
        );
        assert_eq!((hunt.stopped, hunt.coverage), (stop, Coverage::Depth(2 * 799 - 1)), "the levels before it");
        assert!((50_000..250_000).contains(&again), "{again} of 640,000 states were expanded again");
    }
    // A little is not given up, and there is always enough memory.
    assert_eq!(hunted(99, Stop::Time).1, [true, true]);
    let (hunt, traced, _) = hunted(799, Stop::Memory);
    assert_eq!((hunt.stopped, traced), (Stop::Goal, vec![true, true]));
}

/// Long states on stages, from each of which all of the next can be reached; the last lead back to the first. All count.
struct Stages {
    expanded: AtomicU32,
}

impl Stages {
    const STAGES: u32 = 30;
    const WIDTH: u32 = 500;
}

impl Model for Stages {
    fn words(&self) -> usize {
        1024
    }

    fn initial(&self, out: &mut Successors) {
        out.push(TransitionId(0), 0, &[0; 1024]);
    }

    fn successors(&self, state: &[u32], out: &mut Successors) {
        self.expanded.fetch_add(1, Ordering::Relaxed);
        let stage = (state[0] + 1) % Self::STAGES;
        for place in 0..if stage == 0 { 1 } else { Self::WIDTH } {
            let mut next = [0; 1024];
            next[..2].copy_from_slice(&[stage, place]);
            out.push(TransitionId(0), place, &next);
        }
    }

    fn evaluate(&self, _: &[u32], _: bool) -> GoalSet {
        GoalSet(1)
    }

    fn transitions(&self) -> usize {
        1
    }
}

#[test]
fn a_run_is_not_made_shorter_at_any_cost() {
    for threads in [1, 2] {
        let model = Stages { expanded: AtomicU32::new(0) };
        let job = Job::new(1, Limits { threads, ..Limits::NONE });
        let hunt = CycleSearch::of(false, &job).hunt(&model, &mut Patient);
        assert!(matches!(hunt.outcomes[0], Outcome::Found(_)));
        let expanded = model.expanded.into_inner();
        assert!(expanded < 5000, "{expanded} expansions: about all states were kept");
    }
}

//! Breadth-first search that forgets states with a single step: on random graphs it finds what it finds when it remembers all.

use birk_agreement::graph::Graph;
use birk_agreement::hunt;
use birk_engine::{GoalSet, Hunt, Job, Limits, Model, Patient, Storage, Successors};
use birk_exec::Random;
use birk_ir::{Coverage, Field, Outcome, Stop, TransitionId};
use birk_search::engine;

/// A graph whose states with a single step may be forgotten, once there are so many.
struct Forgettable<'g> {
    graph: &'g Graph,
    beyond: u64,
}

impl Model for Forgettable<'_> {
    fn words(&self) -> usize {
        self.graph.words()
    }

    fn fields(&self) -> Vec<Field> {
        self.graph.fields()
    }

    fn initial(&self, out: &mut Successors) {
        self.graph.initial(out);
    }

    fn successors(&self, state: &[u32], out: &mut Successors) {
        self.graph.successors(state, out);
        out.is_transient = self.graph.edges[self.graph.node(state)].len() == 1;
    }

    fn evaluate(&self, state: &[u32], stuck: bool) -> GoalSet {
        self.graph.evaluate(state, stuck)
    }

    fn is_fault(&self, state: &[u32]) -> bool {
        self.graph.is_fault(state)
    }

    fn transitions(&self) -> usize {
        self.graph.transitions()
    }

    fn forgets_beyond(&self) -> Option<u64> {
        Some(self.beyond)
    }
}

fn searched(model: &dyn Model, goals: usize, limits: Limits) -> Hunt {
    let job = Job { keep_going: true, ..Job::new(goals, limits) };
    hunt::of_model(engine("bfs").expect("there is breadth-first search"), model, &job, &mut Patient)
}

/// A random graph, some of whose edges are chains.
fn drawn(random: &mut Random) -> Graph {
    let mut graph = Graph::drawn(random);
    for from in 0..graph.edges.len() {
        for edge in 0..graph.edges[from].len() {
            if random.below(3) > 0 {
                continue;
            }
            let (first, most) = (graph.edges.len(), [3, 30, 200][random.below(3)]);
            let length = 1 + random.below(most);
            let to = std::mem::replace(&mut graph.edges[from][edge], first);
            graph.edges.extend((first + 1..=first + length).map(|next| vec![next]));
            graph.edges[first + length - 1] = vec![to];
        }
    }
    graph.labels = vec![0; graph.edges.len()];
    for goal in 1..4 {
        let node = random.below(graph.edges.len());
        graph.labels[node] |= 1 << goal;
    }
    if random.below(4) == 0 {
        // What a failing check leads to has no step.
        let stuck = graph.edges.iter().position(Vec::is_empty);
        graph.faults.extend(stuck);
    }
    graph
}

#[track_caller]
fn compare(seed: u64, graph: &Graph, full: &Hunt, found: &Hunt) {
    assert_eq!(found.coverage, full.coverage, "seed {seed}");
    for (goal, (found, full)) in found.outcomes.iter().zip(&full.outcomes).enumerate() {
        let (Outcome::Found(found), Outcome::Found(full)) = (found, full) else {
            let kinds = [found, full].map(std::mem::discriminant);
            assert_eq!(kinds[0], kinds[1], "seed {seed}, goal {goal}");
            continue;
        };
        assert_eq!(found.steps.len(), full.steps.len(), "seed {seed}, goal {goal}");
        let path = graph.walk(found).expect("a trace is a path");
        assert!(graph.is_goal(*path.last().expect("it has a state"), goal), "seed {seed}, goal {goal}");
    }
    let remembered = found.stats.states - found.stats.transient;
    let (states, all) = (found.stats.states, full.stats.states);
    assert!(remembered <= all && (all..=12 * all.max(64)).contains(&states), "seed {seed}: {states} of {all}");
    assert_eq!(found.stats.max_depth, full.stats.max_depth.max(found.stats.max_depth), "seed {seed}");
    assert_eq!(found.stats.levels.iter().sum::<u64>(), found.stats.states, "seed {seed}");
}

#[test]
fn what_is_forgotten_is_not_lost() {
    let (mut remembered, mut all, mut repeated) = (0, 0, 0);
    for seed in 0..400 {
        let graph = drawn(&mut Random::new(seed));
        let full = searched(&graph, graph.goals(), Limits::NONE);
        for model in [0, 1, 10, 100].map(|beyond| Forgettable { graph: &graph, beyond }) {
            let counts = [1, 2, 8].map(|threads| {
                let limits = Limits { threads, grain: 2, ..Limits::NONE };
                let found = searched(&model, graph.goals(), limits);
                compare(seed, &graph, &full, &found);
                (found.stats.states, found.stats.transient, found.stats.transitions, found.stats.peak_frontier)
            });
            assert!(counts.iter().all(|count| *count == counts[0]), "seed {seed}: {counts:?}");
            (remembered, all) = (remembered + counts[0].0 - counts[0].1, all + full.stats.states);
            repeated += counts[0].0 - full.stats.states;
        }
    }
    println!("{remembered} of {all} remembered, {repeated} repeated");
    assert!(remembered * 2 < all && repeated > 0);
}

/// A cycle of states with a single step: one of them is remembered sooner or later.
#[test]
fn a_cycle_of_forgotten_states_ends() {
    for length in [1, 2, 63, 64, 65, 200] {
        let edges = (0..length).map(|node| vec![(node + 1) % length]).collect();
        let graph = Graph { initial: vec![0], edges, ..Graph::default() };
        let found = searched(&Forgettable { graph: &graph, beyond: 0 }, 0, Limits::NONE);
        assert_eq!((found.coverage, found.stopped), (Coverage::Complete, Stop::Exhausted), "{length}");
    }
}

/// A chain that many states of one level lead to would be walked once for each of them.
#[test]
fn no_state_is_visited_many_times() {
    const FAN: usize = 400;
    const CHAIN: usize = 58;
    let mut edges = vec![(1..=FAN).collect()];
    edges.extend((0..FAN).map(|_| vec![FAN + 1, 0]));
    edges.extend((1..=CHAIN).map(|at| vec![FAN + (at + 1).min(CHAIN)]));
    let graph = Graph { initial: vec![0], edges, ..Graph::default() };
    let found = searched(&Forgettable { graph: &graph, beyond: 0 }, 0, Limits::NONE);
    let (states, all) = (found.stats.states, (1 + FAN + CHAIN) as u64);
    assert_eq!(found.coverage, Coverage::Complete);
    assert!((all + 1..=12 * all).contains(&states), "{states} of {all}");
}

/// The level in which the search ends has room for all its states: each counts once, whoever comes first.
#[test]
fn the_last_level_is_counted_as_every_other() {
    const MANY: usize = 30_000;
    // Two states lead to all others, each of which has two steps.
    let mut edges = vec![vec![1, 2], (3..MANY).collect(), (3..MANY).rev().collect()];
    edges.extend((3..MANY).map(|node| vec![node, 0]));
    let labels = (0..MANY).map(|node| u64::from(node == 3)).collect();
    let graph = Graph { initial: vec![0], edges, labels, ..Graph::default() };
    for (threads, beyond) in [(1, 0), (2, 0), (8, 0), (1, u64::MAX)] {
        let job = Job::new(1, Limits { threads, grain: 16, ..Limits::NONE });
        let model = Forgettable { graph: &graph, beyond };
        let found = hunt::of_model(engine("bfs").expect("there is one"), &model, &job, &mut Patient);
        assert_eq!((found.stopped, found.stats.states), (Stop::Goal, MANY as u64), "{threads} threads");
    }
}

/// At a depth limit every state is remembered: what lies behind it is compared with them.
#[test]
fn with_a_depth_limit_nothing_is_forgotten() {
    let edges = vec![vec![1], vec![2], vec![3], vec![4], vec![2]];
    let graph = Graph { initial: vec![0], edges, ..Graph::default() };
    for (depth, coverage) in [(3, Coverage::Depth(3)), (4, Coverage::Complete)] {
        let found = searched(&Forgettable { graph: &graph, beyond: 0 }, 0, Limits { depth, ..Limits::NONE });
        assert_eq!((found.coverage, found.stats.transient), (coverage, 0));
    }
}

/// Levels are dropped, and made again, while a trace is looked for; the table grows while states are forgotten.
#[test]
fn a_trace_through_forgotten_states_needs_little_memory() {
    // A grid, with a state on each edge.
    const SIDE: usize = 300;
    let node = |x, y| x * SIDE + y;
    let mut graph = Graph::with_ends(&[0], vec![Vec::new(); SIDE * SIDE]);
    for (x, y) in (0..SIDE).flat_map(|x| (0..SIDE).map(move |y| (x, y))) {
        for (x_next, y_next) in [(x + 1, y), (x, y + 1)].into_iter().filter(|&(x, y)| x < SIDE && y < SIDE) {
            let between = graph.edges.len();
            graph.edges.push(vec![node(x_next, y_next)]);
            graph.edges[node(x, y)].push(between);
        }
    }
    let limits = Limits { threads: 2, memory: 16 << 20, ..Limits::NONE };
    let found = searched(&Forgettable { graph: &graph, beyond: 0 }, 1, limits);
    let Outcome::Found(trace) = &found.outcomes[0] else { panic!("the corner is found: {:?}", found.stopped) };
    assert_eq!(trace.steps.len(), 4 * (SIDE - 1));
    let path = graph.walk(trace).expect("a trace is a path");
    assert_eq!(path.last(), Some(&node(SIDE - 1, SIDE - 1)));
    assert_eq!(found.coverage, Coverage::Complete);
    assert!(found.stats.states - found.stats.transient < 3 * (SIDE * SIDE) as u64 / 2 && found.stats.transient > 0);
}

/// Two threads, each in so many words, that step in any order; the words of one are odd only in a state that is forgotten.
struct Threads {
    words: usize,
    beyond: u64,
}

impl Threads {
    const LAST: u32 = 2 * 120;
}

impl Model for Threads {
    fn words(&self) -> usize {
        2 * self.words
    }

    fn initial(&self, out: &mut Successors) {
        out.push(TransitionId(0), 0, &vec![0; 2 * self.words]);
    }

    fn successors(&self, state: &[u32], out: &mut Successors) {
        let threads = [&state[..self.words], &state[self.words..]];
        out.is_transient = threads.iter().any(|thread| thread[0] % 2 == 1);
        for (number, thread) in threads.iter().enumerate() {
            if thread[0] < Self::LAST && (thread[0] % 2 == 1 || !out.is_transient) {
                let mut next = state.to_vec();
                next[number * self.words..][..self.words].iter_mut().for_each(|word| *word += 1);
                out.push(TransitionId::new(number), 0, &next);
            }
        }
    }

    fn evaluate(&self, state: &[u32], _: bool) -> GoalSet {
        GoalSet(u64::from([&state[..self.words], &state[self.words..]].iter().all(|thread| thread[0] == Self::LAST)))
    }

    fn transitions(&self) -> usize {
        2
    }

    fn forgets_beyond(&self) -> Option<u64> {
        Some(self.beyond)
    }
}

/// Parts of states have numbers, and so that they can be shorter, are numbered again: also those of states that only wait.
#[test]
fn states_that_are_forgotten_have_keys_whatever_becomes_of_those_of_others() {
    for (words, beyond, storage) in [1, 2, 3].into_iter().flat_map(|words| {
        [0, 100, 5_000]
            .into_iter()
            .flat_map(move |beyond| [Storage::Exact, Storage::Compact].map(|s| (words, beyond, s)))
    }) {
        for threads in [1, 2] {
            let job = Job { storage, ..Job::new(1, Limits { threads, grain: 8, ..Limits::NONE }) };
            let model = Threads { words, beyond };
            let found = hunt::of_model(engine("bfs").expect("there is one"), &model, &job, &mut Patient);
            let Outcome::Found(trace) = &found.outcomes[0] else {
                panic!("{words} words beyond {beyond}: {storage:?}")
            };
            assert_eq!(trace.steps.len(), 2 * Threads::LAST as usize);
            assert!(found.stats.transient > 0);
        }
    }
}

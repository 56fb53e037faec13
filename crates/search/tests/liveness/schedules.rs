//! CNDFS under every kind of schedule: workers that take small steps in a random order, and its two traps.
//!
//! Threads of the machine seldom meet in the wrong moment; here the moments are drawn. A schedule runs one worker for a
//! while, then another, which finds the traps far more often than steps in turn.

use birk_exec::Random;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mutant {
    None,
    /// A worker does not wait until the others' accepting states are red.
    NoAwait,
    /// States become red as soon as the red search meets them.
    RedAtOnce,
    /// A successor on the path does not keep a state from becoming red without a red search.
    CyanIsRed,
    /// Nor does one that another worker is done with.
    BlueIsRed,
}

struct Graph {
    edges: Vec<Vec<usize>>,
    accepting: Vec<bool>,
}

impl Graph {
    fn random(random: &mut Random) -> Self {
        let count = 3 + random.below(5);
        let mut edges = vec![Vec::new(); count];
        for _ in 0..count + random.below(5) {
            let (from, to) = (random.below(count), random.below(count));
            if !edges[from].contains(&to) {
                edges[from].push(to);
            }
        }
        Self { edges, accepting: (0..count).map(|_| random.below(2) == 0).collect() }
    }

    /// What can be reached in one step or more.
    fn reach(&self, from: usize) -> u32 {
        let (mut seen, mut waiting) = (0u32, vec![from]);
        while let Some(node) = waiting.pop() {
            for &target in &self.edges[node] {
                if seen >> target & 1 == 0 {
                    seen |= 1 << target;
                    waiting.push(target);
                }
            }
        }
        seen
    }

    fn has_cycle(&self) -> bool {
        let reached = self.reach(0) | 1;
        (0..self.edges.len()).any(|n| self.accepting[n] && reached >> n & 1 == 1 && self.reach(n) >> n & 1 == 1)
    }
}

#[derive(Default)]
struct Shared {
    blue: u32,
    red: u32,
    found: bool,
}

struct Frame {
    node: usize,
    order: Vec<usize>,
    /// No successor seen so far is other than red.
    all_red: bool,
}

/// One worker between two steps.
#[derive(Default)]
struct Worker {
    path: Vec<Frame>,
    cyan: u32,
    /// Of a red search: its own path, what it has met, and whether it is done and waits.
    red_path: Vec<Frame>,
    region: u32,
    waits: bool,
}

impl Worker {
    fn frame(graph: &Graph, node: usize, random: &mut Random) -> Frame {
        let mut order = graph.edges[node].clone();
        for i in (1..order.len()).rev() {
            order.swap(i, random.below(i + 1));
        }
        Frame { node, order, all_red: true }
    }

    fn enter(&mut self, graph: &Graph, node: usize, random: &mut Random) {
        self.cyan |= 1 << node;
        self.path.push(Self::frame(graph, node, random));
    }

    fn enter_red(&mut self, graph: &Graph, node: usize, shared: &mut Shared, mutant: Mutant, random: &mut Random) {
        self.region |= 1 << node;
        if mutant == Mutant::RedAtOnce {
            shared.red |= 1 << node;
        }
        self.red_path.push(Self::frame(graph, node, random));
    }

    fn leave(&mut self, shared: &Shared) {
        if let Some(frame) = self.path.pop() {
            self.cyan &= !(1 << frame.node);
            if let Some(below) = self.path.last_mut() {
                below.all_red &= shared.red >> frame.node & 1 == 1;
            }
        }
    }

    /// The next access to what is shared.
    fn step(&mut self, graph: &Graph, shared: &mut Shared, mutant: Mutant, random: &mut Random) {
        let Some(top) = self.path.last_mut() else { return };
        let seed = top.node;
        if self.waits {
            let others =
                (0..graph.edges.len()).filter(|&n| graph.accepting[n] && n != seed && self.region >> n & 1 == 1);
            let mut red = others.map(|n| shared.red >> n & 1 == 1);
            if mutant == Mutant::NoAwait || red.all(|red| red) {
                shared.red |= self.region;
                self.waits = false;
                self.leave(shared);
            }
        } else if let Some(red) = self.red_path.last_mut() {
            match red.order.pop() {
                None => {
                    self.red_path.pop();
                    self.waits = self.red_path.is_empty();
                }
                Some(target) if self.cyan >> target & 1 == 1 => shared.found = true,
                Some(target) if (self.region | shared.red) >> target & 1 == 1 => {}
                Some(target) => self.enter_red(graph, target, shared, mutant, random),
            }
        } else if let Some(target) = top.order.pop() {
            let is = |set: u32| set >> target & 1 == 1;
            match mutant {
                _ if !is(self.cyan | shared.blue) => self.enter(graph, target, random),
                Mutant::CyanIsRed if is(self.cyan) => {}
                Mutant::BlueIsRed if is(shared.blue) => {}
                _ => top.all_red &= is(shared.red),
            }
        } else {
            shared.blue |= 1 << seed;
            self.region = 0;
            if top.all_red {
                shared.red |= 1 << seed;
                self.leave(shared);
            } else if graph.accepting[seed] {
                self.enter_red(graph, seed, shared, mutant, random);
            } else {
                self.leave(shared);
            }
        }
    }
}

/// What the workers find together; a wait without an end is a failure of its own.
fn run(graph: &Graph, mutant: Mutant, random: &mut Random) -> bool {
    let mut shared = Shared::default();
    let mut workers: Vec<Worker> = (0..2 + random.below(2)).map(|_| Worker::default()).collect();
    workers.iter_mut().for_each(|worker| worker.enter(graph, 0, random));
    for _ in 0..10_000 {
        if shared.found || workers.iter().all(|worker| worker.path.is_empty()) {
            return shared.found;
        }
        let worker = random.below(workers.len());
        for _ in 0..1 + random.below(12) {
            workers[worker].step(graph, &mut shared, mutant, random);
        }
    }
    panic!("the workers wait for each other");
}

/// How many cycles are missed in so many runs. None is ever invented.
fn missed(mutant: Mutant, runs: usize, seed: u64) -> usize {
    let mut random = Random::new(seed);
    let mut missed = 0;
    for _ in 0..runs {
        let graph = Graph::random(&mut random);
        let expected = graph.has_cycle();
        for _ in 0..5 {
            let found = run(&graph, mutant, &mut random);
            assert!(expected || !found, "{mutant:?} invents a cycle");
            missed += usize::from(expected && !found);
        }
    }
    missed
}

#[test]
fn schedules_do_not_matter() {
    assert_eq!(missed(Mutant::None, crate::number(400_000, 40_000), 21), 0);
}

#[test]
fn traps_of_several_cores_are_seen() {
    assert!(missed(Mutant::RedAtOnce, 20_000, 22) > 0);
    assert!(missed(Mutant::CyanIsRed, 2_000, 24) > 0);
    assert!(missed(Mutant::BlueIsRed, 20_000, 25) > 0);
    assert!(missed(Mutant::NoAwait, crate::number(1_000_000, 200_000), 23) > 0);
}

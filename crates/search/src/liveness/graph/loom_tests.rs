//! Two threads that expand the same state at the same time, examined by loom.

use birk_engine::{GoalSet, Model, Successors};
use birk_ir::TransitionId;
use loom::sync::Arc;

use super::*;

/// Two states in a circle.
struct Two;

impl Model for Two {
    fn words(&self) -> usize {
        1
    }

    fn initial(&self, out: &mut Successors) {
        out.push(TransitionId(0), 0, &[5]);
    }

    fn successors(&self, state: &[u32], out: &mut Successors) {
        out.push(TransitionId(0), 0, &[state[0] ^ 3]);
    }

    fn evaluate(&self, _: &[u32], _: bool) -> GoalSet {
        GoalSet(0)
    }

    fn transitions(&self) -> usize {
        1
    }
}

/// The states of a run of one step, and the number of the last.
fn run(graph: &Graph<'_>, thread: usize) -> (Vec<Vec<u32>>, Node) {
    let (mut hand, mut out) = (graph.hand(thread), Vec::new());
    let mut node = graph.initial(&mut hand).expect("memory")[0];
    let first = graph.state(node);
    graph.successors(&mut hand, node, std::iter::empty(), |_| true, &mut out).expect("memory");
    node = out[0];
    let states = vec![first, graph.state(node)];
    (states, node)
}

#[test]
fn steps_are_seen_whole_whatever_the_interleaving() {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(2);
    builder.check(|| {
        let graph = Arc::new(Graph::new(&Two, 2, u64::MAX));
        // Loom does not see the standard library's lock around a region that is made.
        assert!(graph.rows.reserve(0) && graph.pages.reserve(0), "memory");
        let other = Arc::clone(&graph);
        let thread = loom::thread::spawn(move || run(&other, 1));
        let (states, last) = run(&graph, 0);
        assert_eq!(states, [[5], [6]]);
        assert_eq!(thread.join().expect("no panic"), (states, last));
    });
}

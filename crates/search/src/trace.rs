//! A trace from the arrivals a store recorded: the parents are known, the steps between them are found again.

use birk_engine::{Model, Successors};
use birk_ir::{StateId, Trace};

use crate::store::Store;

/// The path by which a state was first reached.
pub fn rebuild(model: &dyn Model, store: &impl Store, id: StateId) -> Trace {
    let mut path = vec![id];
    while let Some(parent) = store.parent(path[path.len() - 1]) {
        path.push(parent);
    }
    path.reverse();
    let mut batch = Successors::in_parts(model.words());
    let (mut here, mut next) = (vec![0; model.words()], vec![0; model.words()]);
    store.load(path[0], &mut here);
    model.initial(&mut batch);
    let initial = (0..batch.len()).find(|&i| batch.state(i) == here).expect("a path begins in an initial state");
    let mut trace = Trace { initial: initial as u32, ..Trace::default() };
    for &id in &path[1..] {
        store.load(id, &mut next);
        let found = batch.find(model, &here, |_, state| state == next);
        let found = found.expect("a recorded arrival is a successor of its parent: models are deterministic");
        trace.steps.push(batch.step(found));
        std::mem::swap(&mut here, &mut next);
    }
    trace
}

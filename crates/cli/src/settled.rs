//! What was decided so far, for whoever has to report before the check is over.

use std::sync::Mutex;

use birk::{Answer, ShownTrace};

/// What was decided so far: answers by their positions, each with its trace.
#[derive(Debug, Default)]
pub(crate) struct Settled(Mutex<Vec<(usize, Answer, Option<ShownTrace>)>>);

impl Settled {
    /// Notes an answer.
    pub(crate) fn note(&self, position: usize, answer: &Answer, trace: Option<&ShownTrace>) {
        let mut all = self.0.lock().expect("nobody panics with it");
        all.retain(|(other, ..)| *other != position);
        all.push((position, answer.clone(), trace.cloned()));
    }

    /// All answers; nothing is left.
    pub(crate) fn take(&self) -> Vec<(usize, Answer, Option<ShownTrace>)> {
        std::mem::take(&mut *self.0.lock().expect("nobody panics with it"))
    }
}

//! What was decided so far, for whoever has to report before the check is over.

use std::sync::Mutex;

use birk::{Answer, ShownTrace};
use birk_ir::Verdict;

/// What was decided so far: answers by their positions, each with its trace.
#[derive(Debug, Default)]
pub(crate) struct Settled(Mutex<Vec<(usize, Answer, Option<ShownTrace>)>>);

impl Settled {
    /// Notes an answer, unless a search that was cut off says less than is known.
    pub(crate) fn note(&self, position: usize, answer: &Answer, trace: Option<&ShownTrace>) {
        let mut all = self.0.lock().expect("nobody panics with it");
        let is_open = |answer: &Answer| answer.verdict == Verdict::Inconclusive;
        if is_open(answer) && all.iter().any(|(other, known, _)| *other == position && !is_open(known)) {
            return;
        }
        all.retain(|(other, ..)| *other != position);
        all.push((position, answer.clone(), trace.cloned()));
    }

    /// All answers; nothing is left.
    pub(crate) fn take(&self) -> Vec<(usize, Answer, Option<ShownTrace>)> {
        std::mem::take(&mut *self.0.lock().expect("nobody panics with it"))
    }
}

#[cfg(test)]
mod tests {
    use birk_ir::{Property, PropertyKind};

    use super::*;

    #[test]
    fn what_is_decided_stays_so() {
        let property = Property { name: "deadlock".into(), kind: PropertyKind::Deadlock, span: None };
        let of = |verdict| Answer { verdict, ..Answer::open(&property) };
        let settled = Settled::default();
        for verdict in [Verdict::Inconclusive, Verdict::Violated, Verdict::Inconclusive] {
            settled.note(0, &of(verdict), None);
            settled.note(1, &of(Verdict::Inconclusive), None);
        }
        let mut known: Vec<_> = settled.take().into_iter().map(|(at, answer, _)| (at, answer.verdict)).collect();
        known.sort_by_key(|one| one.0);
        assert_eq!(known, [(0, Verdict::Violated), (1, Verdict::Inconclusive)]);
    }
}

//! The first worker has this beside its states: it hears how each level stands at all workers, and decides how to go on.
//!
//! Before a level is opened, all keys that were sent to it have been received: it is counted for every pair of workers, although
//! the fabric promises it. A key that is lost would be a state that nobody looks at, and "holds" would be a lie.

use birk_engine::{GoalSet, Job};
use birk_ir::Stop;
use birk_search::levels::limits::Flow;
use birk_search::levels::log::Record;

use crate::manifest::{Manifest, Restored};
use crate::protocol::{Decision, Over, Report, bit, bits};

pub(crate) struct Coordinator<'a> {
    job: &'a Job,
    /// Of the level that is being gathered.
    reports: Vec<Option<Report>>,
    level: u32,
    goals: GoalSet,
    so_far: Over,
    /// What the level says that an earlier search has left, and where this one is written down, if it is.
    taken_up: Option<Record>,
    manifest: Option<Manifest>,
    transitions: usize,
}

impl<'a> Coordinator<'a> {
    pub(crate) fn new(job: &'a Job, workers: usize, transitions: usize) -> Self {
        Self {
            job,
            reports: vec![None; workers],
            level: 0,
            goals: GoalSet::default(),
            so_far: Over { found: vec![None; job.goals], ..Over::default() },
            taken_up: None,
            manifest: None,
            transitions,
        }
    }

    /// Every level that is complete is written down there. Where an earlier search has left something, it goes on from there: from
    /// what was known before its last level was counted, because all workers report that level again.
    pub(crate) fn begin(&mut self, manifest: Option<Manifest>, restored: Option<&Restored>) {
        self.manifest = manifest;
        let Some(Restored { record, levels }) = restored else { return };
        let before = &levels[..levels.len() - 1];
        let so_far = &mut self.so_far;
        self.level = record.depth;
        so_far.evaluated = record.depth.checked_sub(1);
        so_far.max_depth = record.depth.saturating_sub(1);
        so_far.states = record.states - record.new;
        so_far.levels = before.iter().map(|level| level.states).collect();
        so_far.peak_frontier = record.peak_frontier;
        so_far.found = record.found.clone();
        let found = so_far.found.iter().enumerate().filter(|(_, found)| found.is_some());
        found.for_each(|(goal, _)| self.goals.insert(goal));
        self.taken_up = Some(record.clone());
    }

    /// Takes a report; when it is the last of a level, what to do.
    pub(crate) fn take(&mut self, from: usize, report: Report) -> Option<Flow<Decision>> {
        assert_eq!(report.level, self.level, "worker {from} reports the level that is open");
        let before = self.reports[from].replace(report);
        assert!(before.is_none(), "worker {from} reports a level once");
        if self.reports.iter().any(Option::is_none) {
            return None;
        }
        let reports: Vec<Report> = self.reports.iter_mut().filter_map(Option::take).collect();
        self.conserve(&reports);
        let decision = self.decide(&reports);
        self.level += 1;
        Some(decision)
    }

    /// Every key that was sent was received.
    fn conserve(&self, reports: &[Report]) {
        for (from, sender) in reports.iter().enumerate() {
            for (to, receiver) in reports.iter().enumerate() {
                let (sent, received) = (sender.sent[to], receiver.received[from]);
                assert_eq!(sent, received, "keys from worker {from} to worker {to} at level {} are lost", self.level);
            }
        }
    }

    fn decide(&mut self, reports: &[Report]) -> Flow<Decision> {
        let sum = |figure: fn(&Report) -> u64| reports.iter().map(figure).sum::<u64>();
        let (keys, states) = (sum(|report| report.keys), sum(|report| report.states));
        let halted = reports.iter().filter_map(|report| report.halted).min();
        let earlier = self.taken_up.as_ref();
        if let Some(record) = earlier.filter(|record| record.depth == self.level && halted.is_none()) {
            let read = (keys, states);
            assert_eq!(read, (record.keys, record.new), "the keys of level {} that were written are lost", self.level);
        }
        let so_far = &mut self.so_far;
        so_far.transitions = earlier.map_or(0, |record| record.transitions) + sum(|report| report.transitions);
        so_far.cut = earlier.map_or(0, |record| record.cut) + sum(|report| report.cut);
        so_far.bytes = sum(|report| report.bytes);
        so_far.exchanged = reports.iter().map(|report| report.exchanged).sum();
        let fired = earlier.map(|record| bits(&record.fired));
        so_far.fired = join(fired.iter().chain(reports.iter().map(|report| &report.fired)), |all, one| *all |= one);
        so_far.edge.0 = sum(|report| report.edge.0);
        so_far.edge.1 = join(reports.iter().map(|report| &report.edge.1), |all, one| *all += one);
        let is_over = self.gather_goals(reports);
        let so_far = &mut self.so_far;
        if halted.is_none() {
            so_far.evaluated = self.level.checked_sub(1);
        }
        if halted.is_none() && is_over {
            // What was reached of the next level does not count.
            return Ok(self.over(Stop::Goal));
        }
        so_far.states += states;
        if states > 0 {
            so_far.levels.push(states);
            so_far.max_depth = self.level;
        }
        so_far.waiting = sum(|report| report.waiting) + keys;
        if let Some(halted) = halted {
            return Ok(self.over(halted.into()));
        }
        if keys == 0 {
            let is_open = so_far.edge.0 > 0;
            return Ok(self.over(if is_open { Stop::Depth } else { Stop::Exhausted }));
        }
        self.write_down(keys, states, reports)?;
        let so_far = &mut self.so_far;
        if so_far.states > self.job.limits.states {
            return Ok(self.over(Stop::States));
        }
        so_far.peak_frontier = so_far.peak_frontier.max(keys);
        Ok(Decision::Go { goals: self.goals.0 })
    }

    /// The level is complete everywhere, and every worker has written its part: from now on the search can be taken up here.
    fn write_down(&mut self, keys: u64, new: u64, reports: &[Report]) -> Flow<()> {
        let Some(manifest) = &mut self.manifest else { return Ok(()) };
        let so_far = &self.so_far;
        let record = Record {
            depth: self.level,
            keys,
            new,
            states: so_far.states,
            transitions: so_far.transitions,
            cut: so_far.cut,
            peak_frontier: so_far.peak_frontier,
            found: so_far.found.clone(),
            fired: (0..self.transitions).map(|transition| bit(&so_far.fired, transition)).collect(),
            ..Record::default()
        };
        manifest.commit(record, reports.iter().map(|report| report.part).collect())
    }

    /// Notes goals that the level before has and none before it; whether the search ends with them.
    fn gather_goals(&mut self, reports: &[Report]) -> bool {
        let Some(depth) = self.level.checked_sub(1) else { return false };
        let mut ends = false;
        for goal in 0..self.job.goals {
            if self.so_far.found[goal].is_some() {
                continue;
            }
            let smallest = reports.iter().filter_map(|report| report.found[goal].clone()).min();
            let Some(state) = smallest else { continue };
            self.so_far.found[goal] = Some((depth, state));
            self.goals.insert(goal);
            ends |= self.job.stop_at.contains(goal);
            ends |= !self.job.keep_going && self.so_far.found.iter().all(Option::is_some);
        }
        ends
    }

    pub(crate) fn over(&mut self, stop: Stop) -> Decision {
        self.so_far.ended = stop.into();
        Decision::Over(Box::new(self.so_far.clone()))
    }
}

/// All lists in one, place by place.
fn join<'r>(lists: impl Iterator<Item = &'r Vec<u64>>, join: impl Fn(&mut u64, u64)) -> Vec<u64> {
    let mut all: Vec<u64> = Vec::new();
    for list in lists {
        all.resize(all.len().max(list.len()), 0);
        all.iter_mut().zip(list).for_each(|(all, &one)| join(all, one));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use birk_engine::Limits;

    fn report(sent: [u64; 2], received: [u64; 2]) -> Report {
        Report { keys: 1, states: 1, sent: sent.into(), received: received.into(), ..Report::default() }
    }

    #[test]
    fn a_level_opens_when_all_have_reported() {
        let job = Job::new(0, Limits::NONE);
        let mut coordinator = Coordinator::new(&job, 2, 0);
        assert!(coordinator.take(1, report([3, 0], [4, 0])).is_none());
        let decision = coordinator.take(0, report([0, 4], [0, 3]));
        assert!(matches!(decision, Some(Ok(Decision::Go { .. }))), "{decision:?}");
    }

    #[test]
    #[should_panic(expected = "keys from worker 0 to worker 1 at level 0 are lost")]
    fn lost_keys_are_never_a_verdict() {
        let job = Job::new(0, Limits::NONE);
        let mut coordinator = Coordinator::new(&job, 2, 0);
        coordinator.take(0, report([0, 4], [0, 3]));
        coordinator.take(1, report([3, 0], [3, 0]));
    }

    #[test]
    #[should_panic(expected = "worker 1 reports the level that is open")]
    fn no_level_is_reported_early() {
        let job = Job::new(0, Limits::NONE);
        Coordinator::new(&job, 2, 0).take(1, Report { level: 1, ..report([0, 0], [0, 0]) });
    }
}

//! The first worker has this beside its states: it hears how each level stands at all workers, and decides how to go on.
//!
//! Before a level is opened, all keys that were sent to it have been received: it is counted for every pair of workers, although
//! the fabric promises it. A key that is lost would be a state that nobody looks at, and "holds" would be a lie.

use birk_engine::{GoalSet, Job};
use birk_ir::Stop;

use crate::protocol::{Decision, Over, Report};

pub(crate) struct Coordinator<'a> {
    job: &'a Job,
    /// Of the level that is being gathered.
    reports: Vec<Option<Report>>,
    level: u32,
    goals: GoalSet,
    so_far: Over,
}

impl<'a> Coordinator<'a> {
    pub(crate) fn new(job: &'a Job, workers: usize) -> Self {
        let so_far = Over { found: vec![None; job.goals], ..Over::default() };
        Self { job, reports: vec![None; workers], level: 0, goals: GoalSet::default(), so_far }
    }

    /// Takes a report; when it is the last of a level, what to do.
    pub(crate) fn take(&mut self, from: usize, report: Report) -> Option<Decision> {
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

    fn decide(&mut self, reports: &[Report]) -> Decision {
        let sum = |figure: fn(&Report) -> u64| reports.iter().map(figure).sum::<u64>();
        let (keys, states) = (sum(|report| report.keys), sum(|report| report.states));
        let so_far = &mut self.so_far;
        so_far.transitions = sum(|report| report.transitions);
        so_far.cut = sum(|report| report.cut);
        so_far.bytes = sum(|report| report.bytes);
        so_far.fired = join(reports.iter().map(|report| &report.fired), |all, one| *all |= one);
        so_far.edge.0 = sum(|report| report.edge.0);
        so_far.edge.1 = join(reports.iter().map(|report| &report.edge.1), |all, one| *all += one);
        let is_over = self.gather_goals(reports);
        let so_far = &mut self.so_far;
        let halted = reports.iter().filter_map(|report| report.halted).min();
        if halted.is_none() {
            so_far.evaluated = self.level.checked_sub(1);
        }
        if halted.is_none() && is_over {
            // What was reached of the next level does not count.
            return self.over(Stop::Goal);
        }
        so_far.states += states;
        if states > 0 {
            so_far.levels.push(states);
            so_far.max_depth = self.level;
        }
        so_far.waiting = sum(|report| report.waiting) + keys;
        if let Some(halted) = halted {
            return self.over(halted.into());
        }
        if keys == 0 {
            let is_open = so_far.edge.0 > 0;
            return self.over(if is_open { Stop::Depth } else { Stop::Exhausted });
        }
        if so_far.states > self.job.limits.states {
            return self.over(Stop::States);
        }
        so_far.peak_frontier = so_far.peak_frontier.max(keys);
        Decision::Go { goals: self.goals.0 }
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

    fn over(&mut self, stop: Stop) -> Decision {
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
        let mut coordinator = Coordinator::new(&job, 2);
        assert!(coordinator.take(1, report([3, 0], [4, 0])).is_none());
        let decision = coordinator.take(0, report([0, 4], [0, 3]));
        assert!(matches!(decision, Some(Decision::Go { .. })), "{decision:?}");
    }

    #[test]
    #[should_panic(expected = "keys from worker 0 to worker 1 at level 0 are lost")]
    fn lost_keys_are_never_a_verdict() {
        let job = Job::new(0, Limits::NONE);
        let mut coordinator = Coordinator::new(&job, 2);
        coordinator.take(0, report([0, 4], [0, 3]));
        coordinator.take(1, report([3, 0], [3, 0]));
    }

    #[test]
    #[should_panic(expected = "worker 1 reports the level that is open")]
    fn no_level_is_reported_early() {
        let job = Job::new(0, Limits::NONE);
        Coordinator::new(&job, 2).take(1, Report { level: 1, ..report([0, 0], [0, 0]) });
    }
}

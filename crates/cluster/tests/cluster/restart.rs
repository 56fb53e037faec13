//! A search that was killed, interrupted or limited goes on from the last level that was complete, with any number of workers, and finds
//! what an undisturbed one finds. What was changed in its files is refused, or costs some levels, and never changes an answer.

use birk_agreement::counters::Counters;
use birk_agreement::shelf::Shelf;
use birk_cluster::{Setting, hunt_by_threads};
use birk_engine::{GoalSet, Hunt, Job, Limits, Patient};
use birk_ir::{Coverage, Stop};

use crate::same::{WORKERS, same, settings, with_workers};

fn job(workers: usize) -> Job {
    Job { keep_going: true, ..Job::new(3, Limits { threads: workers, ..Limits::NONE }) }
}

/// The same trace, as well.
#[track_caller]
fn equal(hunt: &Hunt, undisturbed: &Hunt) {
    same(hunt, undisturbed);
    assert_eq!(hunt.outcomes, undisturbed.outcomes);
}

/// Killed in the middle of each write, then once more after it was resumed, each time with another number of workers.
#[test]
fn a_killed_search_goes_on_with_other_workers() {
    let (mut at_once, mut later) = (0, 0);
    for model in [Counters::new(4, 3, 2), Counters::new(7, 2, 28)] {
        let undisturbed = hunt_by_threads(&model, &job(2), &mut Patient, Setting::default());
        let mut whole = Shelf::default();
        equal(&hunt_by_threads(&model, &job(2), &mut whole, settings(1)[1]), &undisturbed);
        for killed_at in 1..whole.writes() {
            let mut shelf = Shelf { killed_at: Some(killed_at), ..Shelf::default() };
            let hunt = hunt_by_threads(&model, &job(2), &mut shelf, settings(killed_at)[2]);
            assert!(shelf.failed.is_some() && hunt.coverage != Coverage::Complete, "killed at {killed_at}");
            let workers = WORKERS[killed_at as usize % 4];
            let mut again = Shelf { killed_at: Some(1 + killed_at % 13), ..shelf.next() };
            let hunt = hunt_by_threads(&model, &job(workers), &mut again, settings(killed_at)[0]);
            assert_eq!(again.refused, None, "killed at {killed_at}");
            if again.failed.is_none() {
                at_once += 1;
                equal(&hunt, &undisturbed);
            } else {
                later += 1;
                assert_ne!(hunt.coverage, Coverage::Complete);
            }
            let mut last = again.next();
            let hunt = hunt_by_threads(&model, &job(3), &mut last, settings(killed_at)[1]);
            assert_eq!((&last.refused, &last.failed), (&None, &None), "killed at {killed_at}");
            equal(&hunt, &undisturbed);
        }
    }
    assert!(at_once > 3 && later > 30, "{at_once} ended, {later} were killed again");
}

/// A limit on depth or states, and an interrupt; then without.
#[test]
fn a_limited_search_goes_on_without_the_limit() {
    let model = Counters::new(5, 4, 2);
    for stop_at in [GoalSet(0), GoalSet(1), GoalSet(4)] {
        let job = Job { stop_at, keep_going: stop_at.is_empty(), ..job(1) };
        let undisturbed = hunt_by_threads(&model, &job, &mut Patient, Setting::default());
        for (depth, states, asks) in
            [(5, u64::MAX, None), (0, u64::MAX, None), (u32::MAX, 200, None), (u32::MAX, u64::MAX, Some(9))]
        {
            let mut shelf = Shelf { asks, ..Shelf::default() };
            let limits = Limits { depth, states, threads: 3, ..Limits::NONE };
            let limited = hunt_by_threads(&model, &Job { limits, ..job.clone() }, &mut shelf, settings(5)[1]);
            assert_ne!(limited.coverage, Coverage::Complete);
            for workers in WORKERS {
                let mut again = shelf.next();
                let hunt = hunt_by_threads(&model, &with_workers(&job, workers), &mut again, settings(7)[2]);
                equal(&hunt, &undisturbed);
                // A search that is over can be taken up, too, and says the same.
                let hunt = hunt_by_threads(&model, &with_workers(&job, 2), &mut again.next(), settings(7)[1]);
                equal(&hunt, &undisturbed);
            }
        }
    }
}

/// Bytes of a run without keys.
const EMPTY_RUN: usize = 60;

/// Bytes that were changed, and files that are shorter or missing.
#[test]
fn what_was_changed_never_changes_an_answer() {
    let model = Counters::new(3, 3, 2);
    let undisturbed = hunt_by_threads(&model, &job(2), &mut Patient, Setting::default());
    let mut shelf = Shelf::default();
    let limits = Limits { depth: 4, threads: 2, ..Limits::NONE };
    hunt_by_threads(&model, &Job { limits, ..job(2) }, &mut shelf, settings(1)[1]);
    let files = shelf.named.lock().expect("nobody has panicked").clone();
    assert_eq!(files.keys().collect::<Vec<_>>(), ["1-0-levels.run", "1-1-levels.run", "levels.log"]);
    let (mut refused, mut shorter) = (0, 0);
    for (name, bytes) in &files {
        let flips = (0..bytes.len()).step_by(3).map(|at| (Some(at), bytes.len()));
        let cuts = (0..bytes.len()).step_by(11).map(|length| (None, length));
        for (flip, length) in flips.chain(cuts) {
            let mut again = shelf.next();
            let mut changed = bytes[..length].to_vec();
            if let Some(at) = flip {
                changed[at] ^= 1 << (at % 8);
            }
            again.named.lock().expect("nobody has panicked").insert(name.clone(), changed);
            let hunt = hunt_by_threads(&model, &job(1 + length % 3), &mut again, Setting::default());
            if again.refused.is_some() || again.failed.is_some() {
                refused += 1;
                assert_eq!(hunt.stopped, Stop::Disk, "{name} {flip:?} {length}");
                assert_ne!(hunt.coverage, Coverage::Complete, "{name} {flip:?} {length}");
            } else {
                shorter += 1;
                equal(&hunt, &undisturbed);
                // Only a record can look as if it was not written to its end; and nobody reads the last level, which has no states.
                let is_unread = |at: usize| name == "levels.log" || at + EMPTY_RUN >= bytes.len();
                assert!(flip.is_none_or(is_unread), "{name} {flip:?} of {}", bytes.len());
            }
        }
        let mut again = shelf.next();
        again.named.lock().expect("nobody has panicked").remove(name);
        let hunt = hunt_by_threads(&model, &job(2), &mut again, Setting::default());
        match &again.refused {
            Some(reason) => assert_eq!(reason, "a file with levels of a worker is missing"),
            None => equal(&hunt, &undisturbed),
        }
    }
    assert!(refused > 300 && shorter > 30, "{refused} refused, {shorter} not");
}

/// Another model, or another question, is refused.
#[test]
fn another_search_is_refused() {
    let mut shelf = Shelf { asks: Some(20), ..Shelf::default() };
    hunt_by_threads(&Counters::new(4, 4, 2), &job(2), &mut shelf, settings(1)[1]);
    let mut again = shelf.next();
    hunt_by_threads(&Counters::new(5, 4, 2), &job(2), &mut again, Setting::default());
    assert_eq!(again.refused.as_deref(), Some("it is of another model, or asks for something else"));
    let mut again = shelf.next();
    let other = Job { keep_going: false, ..job(2) };
    hunt_by_threads(&Counters::new(4, 4, 2), &other, &mut again, Setting::default());
    assert_eq!(again.refused.as_deref(), Some("it is of another model, or asks for something else"));
}

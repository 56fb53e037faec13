//! Distributed search against search in one process: any number of workers, with large blocks and with blocks of a few keys, with
//! blocks that are turned into bytes, and with blocks that arrive in any order.

use std::ops::ControlFlow;

use birk_agreement::case::programs;
use birk_agreement::check::{Subject, check};
use birk_agreement::counters::Counters;
use birk_agreement::hunt;
use birk_agreement::shelf::Shelf;
use birk_cluster::{Compress, Setting, hunt_by_threads};
use birk_engine::{GoalSet, Hunt, Job, Limits, Model, Observer, Patient, Progress, Successors};
use birk_exec::{Interpreter, goal_of};
use birk_ir::{Coverage, Outcome, Stop};

use crate::same::{WORKERS, same, settings, with_workers};

fn in_one_process(model: &dyn Model, job: &Job) -> Hunt {
    let bfs = birk_search::engine("bfs").expect("it is in the table");
    hunt::of_model(bfs, model, &with_workers(job, 1), &mut Patient)
}

/// Keys of one word, two and four; with and without goals that end the search; cut off at a depth.
#[test]
fn any_number_of_workers_finds_what_one_process_finds() {
    for model in [Counters::new(4, 4, 2), Counters::new(5, 3, 12), Counters::new(7, 2, 28)] {
        for (stop_at, depth) in [(0, u32::MAX), (1, u32::MAX), (2, u32::MAX), (4, 6), (0, 4), (0, 0)] {
            let stop_at = GoalSet(stop_at);
            let limits = Limits { depth, ..Limits::NONE };
            let job = Job { stop_at, keep_going: stop_at.is_empty(), ..Job::new(3, limits) };
            let expected = in_one_process(&model, &job);
            let mut first: Option<Hunt> = None;
            for workers in WORKERS {
                let most = if workers == 2 { 4 } else { 3 };
                for setting in settings(workers as u64 + u64::from(depth)).into_iter().take(most) {
                    let hunt = hunt_by_threads(&model, &with_workers(&job, workers), &mut Patient, setting);
                    same(&hunt, &expected);
                    let first = first.get_or_insert_with(|| hunt.clone());
                    assert_eq!(hunt.outcomes, first.outcomes, "{workers} workers find the same traces");
                }
            }
        }
    }
}

/// Blocks that are compressed, all of them or none, in any order.
#[test]
fn compressed_blocks_hold_the_same_states() {
    for model in [Counters::new(5, 4, 2), Counters::new(5, 3, 12), Counters::new(7, 2, 28)] {
        for depth in [u32::MAX, 5] {
            let job = Job { keep_going: true, ..Job::new(3, Limits { depth, ..Limits::NONE }) };
            let expected = in_one_process(&model, &job);
            for (workers, seed) in WORKERS.into_iter().zip(1..) {
                for compress in [Compress::Always, Compress::Never] {
                    for reorders in [None, Some(seed), Some(seed + 70)] {
                        let setting =
                            Setting { block: 3, window: 4, recent: 0, compress, reorders, ..Setting::default() };
                        let hunt = hunt_by_threads(&model, &with_workers(&job, workers), &mut Patient, setting);
                        same(&hunt, &expected);
                        let exchange = hunt.stats.exchange().expect("it exchanges states");
                        assert_eq!(exchange.blocks > 0, workers > 1);
                        match compress {
                            // At the depth limit it is asked whether states are known.
                            Compress::Always if depth < u32::MAX => {
                                assert_eq!(exchange.compressed_blocks > 0, workers > 1);
                            }
                            Compress::Always => assert_eq!(exchange.compressed_blocks, exchange.blocks),
                            _ => assert_eq!(exchange.compressed_blocks, 0),
                        }
                    }
                }
            }
        }
    }
}

/// With levels of many blocks credit runs out, and then, and only then, blocks are compressed.
#[test]
fn blocks_are_compressed_where_credit_runs_out() {
    let model = Counters::new(6, 6, 2);
    let job = Job { keep_going: true, ..Job::new(3, Limits::NONE) };
    let expected = in_one_process(&model, &job);
    for (workers, reorders) in [(2, None), (3, Some(1)), (8, Some(2))] {
        let setting = Setting { block: 3, window: 4, recent: 0, reorders, ..Setting::default() };
        let hunt = hunt_by_threads(&model, &with_workers(&job, workers), &mut Patient, setting);
        same(&hunt, &expected);
        let exchange = hunt.stats.exchange().expect("it exchanges states");
        assert!((1..exchange.blocks).contains(&exchange.compressed_blocks), "{workers} workers: {exchange:?}");
        let plenty = Setting { window: 1 << 20, ..setting };
        let hunt = hunt_by_threads(&model, &with_workers(&job, workers), &mut Patient, plenty);
        same(&hunt, &expected);
        assert_eq!(hunt.stats.exchange().map(|exchange| exchange.compressed_blocks), Some(0));
    }
}

/// Every model of the corpus that is not large, to its end or to as many states as are allowed.
#[test]
fn the_corpus_has_the_same_answers() {
    let most: u64 = std::env::var("BIRK_CLUSTER_STATES").map_or(800, |most| most.parse().expect("a number of states"));
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../models");
    let mut paths: Vec<_> =
        std::fs::read_dir(folder).expect("there is a corpus").map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "bir"));
    paths.sort();
    let mut examined = 0;
    for path in &paths {
        let text = std::fs::read_to_string(path).expect("a model can be read");
        let Some(program) = birk_lang::load(&text, &[]).program else { continue };
        let goals: Vec<_> = program.properties.iter().filter_map(|property| goal_of(&program, property)).collect();
        if goals.is_empty() {
            continue;
        }
        let model = Interpreter::new(&program, &goals);
        let limits = Limits { states: most, ..Limits::NONE };
        for keep_going in [true, false] {
            let stop_at = if keep_going { GoalSet::default() } else { GoalSet((1 << goals.len()) - 1) };
            let job = Job { stop_at, keep_going, ..Job::new(goals.len(), limits) };
            // Large models are cut off at a level.
            let whole = in_one_process(&model, &job);
            let depth = if whole.stopped == Stop::States { whole.stats.max_depth.saturating_sub(2) } else { u32::MAX };
            let job = Job { limits: Limits { depth, states: u64::MAX, ..limits }, ..job };
            let expected = in_one_process(&model, &job);
            for (workers, setting) in
                [2, 3].into_iter().zip([Setting::default(), Setting { block: 50, ..settings(examined)[2] }])
            {
                let hunt = hunt_by_threads(&model, &with_workers(&job, workers), &mut Patient, setting);
                eprintln!("{}", path.display());
                same(&hunt, &expected);
            }
        }
        examined += 1;
    }
    assert!(examined > 40, "{examined} models");
}

/// What the reference says of random programs: verdicts, counts, shortest traces, depth limits.
#[test]
fn random_programs_agree_with_the_reference() {
    let mut examined = 0;
    for (seed, text, case) in programs(24) {
        let model = Interpreter::new(&case.program, &case.goals);
        let (workers, setting) = (WORKERS[seed as usize % 4], settings(seed)[seed as usize % 3]);
        let hunt = |job: &Job| hunt_by_threads(&model, &with_workers(job, workers), &mut Patient, setting);
        let checked = check(&case, &Subject { shortest: true, hunt: &hunt }, 3);
        assert_eq!(checked, Ok(()), "seed {seed}, {workers} workers, {setting:?}\n{text}");
        examined += 1;
    }
    assert!(examined > 10, "{examined} programs");
}

/// Ends a search after some words.
struct Ending {
    after: u32,
    stop: Stop,
}

impl Observer for Ending {
    fn progress(&mut self, _: &Progress) -> ControlFlow<Stop> {
        self.after = self.after.saturating_sub(1);
        if self.after == 0 { ControlFlow::Break(self.stop) } else { ControlFlow::Continue(()) }
    }
}

/// What ends a search early ends it at all workers, and never becomes an answer.
#[test]
fn an_interrupt_or_a_limit_leaves_it_open() {
    let model = Counters::new(6, 6, 2);
    for workers in WORKERS {
        for (after, stop) in [(1, Stop::Interrupt), (20, Stop::Time), (90, Stop::Interrupt)] {
            let job = Job { keep_going: true, ..Job::new(3, Limits { threads: workers, ..Limits::NONE }) };
            let hunt =
                hunt_by_threads(&model, &job, &mut Ending { after, stop }, Setting { block: 64, ..settings(7)[1] });
            assert_eq!(hunt.stopped, stop, "{workers} workers");
            assert!(matches!(hunt.coverage, Coverage::Depth(_) | Coverage::Partial(_)), "{:?}", hunt.coverage);
            assert!(hunt.outcomes.iter().all(|outcome| *outcome != Outcome::Absent));
            assert!(hunt.stats.cutoff.states > 0, "states wait");
        }
        let limits = Limits { threads: workers, memory: 64 << 10, ..Limits::NONE };
        let job = Job { keep_going: true, ..Job::new(3, limits) };
        let hunt = hunt_by_threads(&model, &job, &mut Patient, Setting::default());
        assert_eq!(hunt.stopped, Stop::Memory, "{workers} workers");
        assert_ne!(hunt.coverage, Coverage::Complete);
        let limits = Limits { threads: workers, states: 1000, ..Limits::NONE };
        let job = Job { keep_going: true, ..Job::new(3, limits) };
        same(
            &hunt_by_threads(&model, &job, &mut Patient, Setting { block: 64, ..settings(3)[2] }),
            &hunt_by_threads(&model, &with_workers(&job, 1), &mut Patient, Setting::default()),
        );
    }
}

/// A level file that cannot be written or read is told, and never becomes an answer.
#[test]
fn a_worn_out_disk_is_an_error() {
    let model = Counters::new(6, 5, 2);
    let job = |threads| Job { keep_going: true, ..Job::new(3, Limits { threads, ..Limits::NONE }) };
    let mut shelf = Shelf::default();
    let whole = hunt_by_threads(&model, &job(2), &mut shelf, Setting::default());
    assert_eq!((whole.coverage, &shelf.failed), (Coverage::Complete, &None));
    let writes = shelf.writes();
    for killed_at in (5..writes).step_by(7) {
        let mut shelf = Shelf { killed_at: Some(killed_at), ..Shelf::default() };
        let hunt = hunt_by_threads(&model, &job(2), &mut shelf, Setting::default());
        assert!(shelf.failed.is_some() && hunt.coverage != Coverage::Complete, "killed at {killed_at} of {writes}");
    }
}

/// A panic of a model in one worker ends all of them, and goes on in the caller.
#[test]
fn a_panic_ends_all_workers() {
    struct Panics(Counters);
    impl Model for Panics {
        fn words(&self) -> usize {
            self.0.words()
        }
        fn initial(&self, out: &mut Successors) {
            self.0.initial(out);
        }
        fn successors(&self, state: &[u32], out: &mut Successors) {
            assert!(state.iter().sum::<u32>() < 12, "this state is too much");
            self.0.successors(state, out);
        }
        fn evaluate(&self, state: &[u32], stuck: bool) -> GoalSet {
            self.0.evaluate(state, stuck)
        }
        fn transitions(&self) -> usize {
            self.0.transitions()
        }
    }
    for workers in [1, 2, 3] {
        let model = Panics(Counters::new(5, 5, 0));
        let job = Job { keep_going: true, ..Job::new(3, Limits { threads: workers, ..Limits::NONE }) };
        let searched = std::panic::catch_unwind(|| hunt_by_threads(&model, &job, &mut Patient, Setting::default()));
        let panic = searched.expect_err("it panics");
        let text = panic.downcast_ref::<&str>().copied().unwrap_or_default();
        assert_eq!(text, "this state is too much");
    }
}

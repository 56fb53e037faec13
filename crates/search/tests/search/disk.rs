//! Search on disk against search in memory, with so little memory that runs are written and merged all the time; killed, interrupted,
//! with a full disk and with damaged files.

use std::cell::Cell;

use birk_agreement::case::programs;
use birk_agreement::check::{Subject, check};
use birk_agreement::counters::Counters;
use birk_agreement::hunt;
use birk_agreement::shelf::Shelf;
use birk_engine::{Engine, GoalSet, Hunt, Job, Limits, Model, Observer, Options, Patient, Value};
use birk_exec::{Interpreter, Random};
use birk_ir::{Coverage, Outcome, Stop};
use birk_search::disk::MAX_DISK;
use birk_search::engine;

/// One, two and four words of a key.
fn models() -> [Counters; 3] {
    [Counters::new(6, 5, 2), Counters::new(5, 6, 12), Counters::new(8, 3, 28)]
}

fn named(name: &str) -> &'static Engine {
    engine(name).expect("it is in the table")
}

fn job(memory: u64) -> Job {
    Job { keep_going: true, ..Job::new(3, Limits { memory, ..Limits::NONE }) }
}

/// So much that a buffer takes some thousand keys.
const LITTLE: u64 = 72 << 10;

fn lengths(hunt: &Hunt) -> Vec<Option<usize>> {
    let length = |outcome: &Outcome| match outcome {
        Outcome::Found(trace) => Some(trace.steps.len()),
        _ => None,
    };
    hunt.outcomes.iter().map(length).collect()
}

#[track_caller]
fn same(hunt: &Hunt, other: &Hunt) {
    let essence = |hunt: &Hunt| {
        let stats = &hunt.stats;
        let counts = (stats.states, stats.transitions, stats.max_depth, stats.cut, stats.peak_frontier);
        (hunt.stopped, hunt.coverage.clone(), counts, stats.levels.clone(), hunt.fired.clone(), lengths(hunt))
    };
    assert_eq!(essence(hunt), essence(other));
    assert_eq!(hunt.stats.cutoff, other.stats.cutoff);
}

fn searched(model: &dyn Model, job: &Job, observer: &mut dyn Observer) -> Hunt {
    hunt::of_model(named("disk"), model, job, observer)
}

fn in_memory(model: &dyn Model, job: &Job) -> Hunt {
    let limits = Limits { memory: u64::MAX, ..job.limits };
    hunt::of_model(named("bfs"), model, &Job { limits, ..job.clone() }, &mut Patient)
}

#[test]
fn little_memory_is_enough() {
    for model in models() {
        for stop_at in [0, 1, 2, 4] {
            for depth in [u32::MAX, 7, 3] {
                let stop_at = GoalSet(stop_at);
                let limits = Limits { memory: LITTLE, depth, ..Limits::NONE };
                let job = Job { stop_at, keep_going: stop_at.is_empty(), ..Job::new(3, limits) };
                let hunt = searched(&model, &job, &mut Shelf::default());
                same(&hunt, &in_memory(&model, &job));
                let figures = hunt.stats.disk().expect("it is a search on disk");
                let is_whole = depth == u32::MAX && stop_at.is_empty();
                assert!(!is_whole || (figures.spills > 0 && figures.merges > 0), "{figures:?}");
            }
        }
    }
}

/// Levels that are shared in blocks and in parts of blocks, with little memory and with enough: the same is found, traces included.
#[test]
fn any_number_of_threads_finds_the_same() {
    for model in [Counters::new(5, 9, 2), Counters::new(5, 7, 12), Counters::new(7, 4, 28)] {
        for (stop_at, depth) in [(0, u32::MAX), (1, u32::MAX), (0, 9)] {
            let stop_at = GoalSet(stop_at);
            let job = |threads, grain, memory| {
                let limits = Limits { memory, depth, threads, grain, ..Limits::NONE };
                Job { stop_at, keep_going: stop_at.is_empty(), ..Job::new(3, limits) }
            };
            let alone = searched(&model, &job(1, 64, LITTLE), &mut Shelf::default());
            same(&alone, &in_memory(&model, &job(1, 64, LITTLE)));
            for (threads, grain, memory) in [
                (2, 64, 2 * LITTLE),
                (3, 100, 3 * LITTLE),
                (8, 64, 8 * LITTLE),
                (8, 16, u64::MAX),
                (3, 1 << 10, u64::MAX),
            ] {
                let mut shelf = Shelf::default();
                let hunt = searched(&model, &job(threads, grain, memory), &mut shelf);
                assert_eq!((&shelf.refused, &shelf.failed), (&None, &None));
                same(&hunt, &alone);
                assert_eq!(hunt.outcomes, alone.outcomes, "{threads} threads");
                let spills = hunt.stats.disk().expect("it is a search on disk").spills;
                let is_whole = depth == u32::MAX && stop_at.is_empty();
                assert!(memory == u64::MAX || !is_whole || spills > 0, "{threads} threads");
            }
        }
    }
}

/// However many threads a search has, those of the one that takes it up may be more or fewer.
#[test]
fn a_search_of_several_threads_killed_at_any_write_goes_on() {
    let model = Counters::new(5, 7, 2);
    let job = |threads| {
        let limits = Limits { memory: 8 * LITTLE, threads, grain: 64, ..Limits::NONE };
        Job { keep_going: true, ..Job::new(3, limits) }
    };
    let whole = in_memory(&model, &job(1));
    let mut shelf = Shelf::default();
    same(&searched(&model, &job(8), &mut shelf), &whole);
    let (writes, mut random) = (shelf.writes(), Random::new(8));
    for _ in 0..8 {
        let killed_at = Some(1 + random.below(writes as usize / 2) as u64);
        let mut shelf = Shelf { killed_at, ..Shelf::default() };
        let killed = searched(&model, &job(8), &mut shelf);
        assert!(shelf.failed.is_some() && killed.coverage != Coverage::Complete, "{killed_at:?}");
        let mut last = shelf.next();
        let hunt = searched(&model, &job([1, 3, 8][random.below(3)]), &mut last);
        assert_eq!((&last.refused, &last.failed), (&None, &None));
        same(&hunt, &whole);
    }
}

#[test]
fn a_search_killed_at_any_write_goes_on() {
    let kills: u64 = std::env::var("BIRK_TEST_KILLS").map_or(40, |kills| kills.parse().expect("a number"));
    let mut random = Random::new(5);
    for model in models() {
        let job = job(LITTLE);
        let whole = in_memory(&model, &job);
        let mut shelf = Shelf::default();
        same(&searched(&model, &job, &mut shelf), &whole);
        let writes = shelf.writes();
        assert!(writes > 40, "{writes}");
        let mut taken_up = 0;
        for _ in 0..kills / 3 + 1 {
            let killed_at = Some(1 + random.below(writes as usize) as u64);
            let mut shelf = Shelf { killed_at, ..Shelf::default() };
            let killed = searched(&model, &job, &mut shelf);
            assert!(shelf.failed.is_some() && killed.coverage != Coverage::Complete, "{killed_at:?}");
            // Killed once more on the way.
            let mut again = Shelf { killed_at: Some(1 + random.below(writes as usize) as u64), ..shelf.next() };
            let second = searched(&model, &job, &mut again);
            assert_eq!(again.refused, None);
            taken_up += u32::from(killed.stats.max_depth > 0 && second.stats.max_depth > killed.stats.max_depth);
            let mut last = again.next();
            same(&searched(&model, &job, &mut last), &whole);
        }
        assert!(taken_up > 0);
    }
}

#[test]
fn an_interrupted_search_goes_on() {
    for model in models() {
        let job = job(LITTLE);
        let whole = in_memory(&model, &job);
        let mut shelf = Shelf { asks: Some(20), ..Shelf::default() };
        let mut pieces = 1;
        let last = loop {
            let hunt = searched(&model, &job, &mut shelf);
            assert_eq!((&shelf.refused, &shelf.failed), (&None, &None));
            if hunt.stopped != Stop::Interrupt {
                break hunt;
            }
            assert_ne!(hunt.coverage, Coverage::Complete);
            pieces += 1;
            shelf = Shelf { asks: Some(20 * pieces), ..shelf.next() };
        };
        assert!(pieces > 3, "{pieces}");
        same(&last, &whole);
        // It is at its end now; going on leads to the same end.
        same(&searched(&model, &job, &mut shelf.next()), &whole);
    }
}

/// A search in memory writes the same levels, and reads them into its table to go on.
#[test]
fn a_search_in_memory_goes_on() {
    let mut random = Random::new(6);
    for model in models() {
        for threads in [1, 3] {
            let limits = Limits { threads, grain: 16, ..Limits::NONE };
            let job = Job { keep_going: true, ..Job::new(3, limits) };
            let search = |shelf: &mut Shelf| hunt::of_model(named("bfs"), &model, &job, shelf);
            let (whole, mut shelf) = (in_memory(&model, &job), Shelf::default());
            same(&search(&mut shelf), &whole);
            let writes = shelf.writes();
            assert!(writes > 2 * u64::from(whole.stats.max_depth), "every level is written, and its record");
            for _ in 0..6 {
                let killed_at = Some(1 + random.below(writes as usize) as u64);
                let mut shelf = Shelf { killed_at, ..Shelf::default() };
                let killed = search(&mut shelf);
                assert!(shelf.failed.is_some() && killed.coverage != Coverage::Complete, "{killed_at:?}");
                let mut last = shelf.next();
                same(&search(&mut last), &whole);
                assert_eq!((&last.refused, &last.failed), (&None, &None));
            }
            let mut shelf = Shelf { asks: Some(10), ..Shelf::default() };
            let mut pieces = 1;
            let last = loop {
                let hunt = search(&mut shelf);
                assert_eq!((&shelf.refused, &shelf.failed), (&None, &None));
                if hunt.stopped != Stop::Interrupt {
                    break hunt;
                }
                pieces += 1;
                shelf = Shelf { asks: Some(10 * pieces), ..shelf.next() };
            };
            assert!(pieces > 2, "{pieces}");
            same(&last, &whole);
        }
    }
}

#[test]
fn damage_is_refused() {
    damaged("disk", 300);
    damaged("bfs", 90);
}

/// Whatever byte is changed and wherever a file ends: the search is refused, or what it finds is right.
fn damaged(name: &str, asks: u64) {
    let model = &models()[0];
    let memory = if name == "disk" { LITTLE } else { u64::MAX };
    let job = job(memory);
    let searched = |model: &dyn Model, job: &Job, shelf: &mut Shelf| hunt::of_model(named(name), model, job, shelf);
    let whole = in_memory(model, &job);
    let mut shelf = Shelf { asks: Some(asks), ..Shelf::default() };
    assert_eq!(searched(model, &job, &mut shelf).stopped, Stop::Interrupt);
    let (mut random, mut refused, mut tried) = (Random::new(3), 0, 0);
    for name in ["levels.run", "levels.log"] {
        let length = shelf.named.lock().expect("no panic")[name].len();
        for change in 0..120 {
            let mut bent = shelf.next();
            let place = random.below(length);
            {
                let mut files = bent.named.lock().expect("no panic");
                let file = files.get_mut(name).expect("it is there");
                if change % 4 == 0 { file.truncate(place) } else { file[place] ^= 1 << random.below(8) }
            }
            let hunt = searched(model, &job, &mut bent);
            match bent.refused {
                Some(_) => {
                    assert!(
                        hunt.coverage != Coverage::Complete
                            && hunt.outcomes.iter().all(|o| *o == Outcome::Inconclusive)
                    );
                    refused += usize::from(change % 4 != 0);
                }
                None => same(&hunt, &whole),
            }
            tried += usize::from(change % 4 != 0);
        }
    }
    // The rest is behind the last record, or makes that seem incomplete: it is done again.
    assert!(refused * 100 >= tried * 85, "{refused} of {tried}");
    // What is of another search.
    let mut other = shelf.next();
    searched(&Counters::new(6, 4, 2), &Job { keep_going: false, ..job.clone() }, &mut other);
    assert!(other.refused.is_some());
}

/// A full disk or one that cannot be read is an error, never an answer.
#[test]
fn what_cannot_be_written_or_read_is_no_answer() {
    let model = &models()[0];
    let mut shelf = Shelf::default();
    let whole = searched(model, &job(LITTLE), &mut shelf);
    let (written, reads) = (whole.stats.disk().expect("on disk").written, shelf.reads());
    let mut random = Random::new(9);
    for _ in 0..40 {
        let room = Some(random.below(written as usize) as u64);
        let unreadable = Some(1 + random.below(reads as usize) as u64);
        for mut shelf in [Shelf { room, ..Shelf::default() }, Shelf { unreadable, ..Shelf::default() }] {
            let hunt = searched(model, &job(LITTLE), &mut shelf);
            if shelf.failed.is_some() {
                let is_traced = hunt.outcomes.iter().any(|outcome| matches!(outcome, Outcome::Untraced(_)));
                assert!(hunt.stopped == Stop::Disk || is_traced, "{:?}", hunt.stopped);
                assert!(hunt.coverage != Coverage::Complete || is_traced);
            } else {
                assert_eq!(unreadable, shelf.unreadable, "only what nobody needs may be unreadable");
            }
        }
    }
}

#[test]
fn the_room_for_files_is_limited() {
    let model = &models()[0];
    let whole = searched(model, &job(LITTLE), &mut Shelf::default());
    let peak = whole.stats.disk().expect("on disk").peak_bytes;
    for most in [10, peak / 3, peak - 1, peak] {
        let mut job = job(LITTLE);
        job.options = Options::default().with(&MAX_DISK, Value::Number(most));
        let mut shelf = Shelf::default();
        let hunt = searched(model, &job, &mut shelf);
        assert_eq!(shelf.failed, None);
        if most < peak {
            assert_eq!(hunt.stopped, Stop::Disk, "{most}");
            assert_ne!(hunt.coverage, Coverage::Complete);
            // Where there is more room, it goes on.
            let mut next = shelf.next();
            job.options = Options::default();
            same(&searched(model, &job, &mut next), &whole);
        } else {
            same(&hunt, &whole);
        }
    }
}

/// Random programs, with so little memory that successors are written: what the reference says. `BIRK_AGREEMENT=N` looks at N.
#[test]
fn random_programs_agree_with_the_reference() {
    let (mut examined, mut left_out, spills) = (0, 0, Cell::new(0));
    for (seed, text, case) in programs(200) {
        let model = Interpreter::new(&case.program, &case.goals);
        let hunt = |job: &Job| {
            let limits = Limits { memory: 40 << 10, ..job.limits };
            let mut shelf = Shelf::default();
            let hunt = searched(&model, &Job { limits, ..job.clone() }, &mut shelf);
            assert_eq!((&shelf.refused, &shelf.failed), (&None, &None));
            spills.set(spills.get() + hunt.stats.disk().map_or(0, |disk| disk.spills));
            hunt
        };
        // Some states have more successors than fit.
        if hunt(&Job { keep_going: true, ..Job::new(case.goals.len(), Limits::NONE) }).stopped == Stop::Memory {
            left_out += 1;
            continue;
        }
        examined += 1;
        let checked = check(&case, &Subject { shortest: true, hunt: &hunt }, 3);
        assert_eq!(checked, Ok(()), "seed {seed}\n{text}");
    }
    assert!(examined > left_out * 4 && spills.get() > 0, "{examined}, {left_out} left out, {} spills", spills.get());
}

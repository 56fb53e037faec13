//! Searches whose memory is short go on with less, step by step, and find the same.

use std::collections::BTreeMap;
use std::io::{Cursor, Error, Read, Result, Seek, SeekFrom, Write};
use std::ops::ControlFlow;

use birk_engine::{Job, Limits, Observer, Outside, Progress, Relief, Spill};

use super::*;

/// How well a place outside of memory works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Disk {
    Sound,
    Full,
    Unreadable,
    None,
}

struct File {
    disk: Disk,
    bytes: Cursor<Vec<u8>>,
}

impl Read for File {
    fn read(&mut self, bytes: &mut [u8]) -> Result<usize> {
        if self.disk == Disk::Unreadable { Err(Error::other("worn out")) } else { self.bytes.read(bytes) }
    }
}

impl Write for File {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        if self.disk == Disk::Full { Err(Error::other("full")) } else { self.bytes.write(bytes) }
    }

    fn flush(&mut self) -> Result<()> {
        Ok(())
    }
}

impl Seek for File {
    fn seek(&mut self, to: SeekFrom) -> Result<u64> {
        self.bytes.seek(to)
    }
}

/// Every thread but the first is said to need some memory until it leaves.
struct Short {
    disk: Disk,
    threads: usize,
    heard: Vec<(Relief, u64)>,
}

const THREAD: u64 = 20_000;

impl Observer for Short {
    fn progress(&mut self, progress: &Progress) -> ControlFlow<Stop> {
        self.heard.extend(progress.relief.map(|relief| (relief, progress.states)));
        ControlFlow::Continue(())
    }

    fn overhead(&mut self, _: u64) -> u64 {
        let is_alone = self.heard.iter().any(|(relief, _)| *relief == Relief::Thread);
        if is_alone { 0 } else { THREAD * (self.threads as u64 - 1) }
    }

    fn outside(&mut self) -> Option<&mut dyn Outside> {
        (self.disk != Disk::None).then_some(self)
    }
}

impl Outside for Short {
    fn spill(&mut self) -> Option<Box<dyn Spill>> {
        Some(Box::new(File { disk: self.disk, bytes: Cursor::default() }))
    }
}

/// What was done when memory was short.
fn relief(hunt: &Hunt) -> &[(Relief, u64)] {
    &hunt.stats.bounded().expect("figures of its bounds").relief
}

/// What was done by searches that came to their end all the same, for each number of threads.
fn helped(disk: Disk) -> BTreeMap<usize, BTreeSet<String>> {
    let mut random = Random::new(19);
    let mut helped: BTreeMap<usize, BTreeSet<String>> = BTreeMap::new();
    for number in 0..if std::env::var_os("BIRK_TEST_FULL").is_some() { 100 } else { 6 } {
        // A tree with random edges more: most of its nodes wait at one bound.
        let nodes = 4000 + random.below(4000);
        let successors = |from: usize| -> Vec<usize> {
            let more = (0..random.below(2)).map(|_| random.below(nodes)).collect::<Vec<_>>();
            (from * 3 + 1..from * 3 + 4).filter(|&to| to < nodes).chain(more).collect()
        };
        let edges = (0..nodes).map(successors).collect();
        let graph = super::graph(edges, &[0]);
        let depth = [NO_LIMIT, 7][number % 2];
        let job = job(Limits { depth, grain: 8, ..Limits::NONE }, 2);
        let (free, frontier) = hunt(&graph, &job);
        assert!(relief(&free).is_empty() && free.stats.states > 2000, "{:?}", free.stats);
        for (threads, part) in (0..24).map(|i| (1 + i % 2 * 2, 80 + 5 * i as u64)) {
            let memory = free.stats.store_bytes * part / 100 + THREAD * (threads as u64 - 1) / 2;
            let mut short = Short { disk, threads, heard: Vec::new() };
            graph.take_evaluated();
            let job = Job { limits: Limits { memory, threads, ..job.limits }, ..job.clone() };
            let (hunt, same) = with_frontier(&graph, &job, &mut short);
            assert_eq!(relief(&hunt), short.heard, "what is told is what is reported");
            if hunt.stopped == Stop::Memory {
                assert!(!matches!(hunt.coverage, Coverage::Complete));
                continue;
            }
            assert_eq!((&hunt.coverage, hunt.stopped), (&free.coverage, free.stopped));
            assert_eq!((hunt.stats.states, hunt.stats.transitions), (free.stats.states, free.stats.transitions));
            assert_eq!(graph.evaluated.lock().unwrap().len() as u64, hunt.stats.states, "evaluated once");
            let same: BTreeSet<usize> = same.iter().map(|state| graph.node(state)).collect();
            assert_eq!(same, frontier);
            let steps: Vec<&str> = short.heard.iter().map(|(relief, _)| relief.word()).collect();
            helped.entry(threads).or_default().insert(steps.join(" "));
        }
    }
    helped
}

fn words(all: &[&str]) -> BTreeSet<String> {
    all.iter().map(|word| (*word).to_owned()).collect()
}

#[test]
fn a_search_whose_memory_is_short_finds_the_same() {
    let helped = helped(Disk::Sound);
    println!("{helped:?}");
    assert!(helped[&1].is_superset(&words(&["tree", "tree disk"])), "{helped:?}");
    assert!(helped[&1].is_subset(&words(&["", "tree", "tree disk"])), "{helped:?}");
    assert!(helped[&3].contains("tree disk thread"), "{helped:?}");
}

#[test]
fn a_disk_that_is_full_or_missing_is_done_without() {
    for disk in [Disk::Full, Disk::None] {
        let helped = helped(disk);
        println!("{disk:?}: {helped:?}");
        assert!(helped[&1].contains("tree") && !helped[&1].contains("tree disk"), "{helped:?}");
        assert!(disk == Disk::Full || !helped[&3].iter().any(|steps| steps.contains("disk")), "{helped:?}");
    }
}

/// What cannot be read any more was not explored: nothing is claimed of it.
#[test]
fn a_disk_that_cannot_be_read_ends_the_search() {
    let helped = helped(Disk::Unreadable);
    println!("{helped:?}");
    assert!(helped[&1].contains("tree") && !helped[&1].contains("tree disk"), "{helped:?}");
}

/// What was said about the frontier is kept to.
#[test]
fn a_frontier_that_was_chosen_stays_as_it_is() {
    let edges = (0..5000).map(|node| vec![(node * 7 + 1) % 5000, (node * 3 + 2) % 5000]).collect();
    let graph = super::graph(edges, &[0]);
    let free = hunt(&graph, &job(Limits::NONE, 10)).0;
    for frontier in FRONTIERS {
        let memory = free.stats.store_bytes / 2;
        let hunt = hunt(&graph, &with(frontier, job(Limits { memory, ..Limits::NONE }, 10))).0;
        assert_eq!((hunt.stopped, relief(&hunt)), (Stop::Memory, &[][..]));
    }
}

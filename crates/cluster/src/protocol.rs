//! What workers tell each other beside keys: each tells the first how a level stands, and that one tells all how to go on.

use birk_ir::Stop;
use birk_search::levels::file::Place;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::manifest::Restored;

/// How a level stands, when everything that was sent to it has arrived at a worker.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub(crate) struct Report {
    pub(crate) level: u32,
    /// Keys of the level that this worker owns, and how many of them are no results of failing checks.
    pub(crate) keys: u64,
    pub(crate) states: u64,
    /// Keys of the level that were sent to each worker, and received from each.
    pub(crate) sent: Vec<u64>,
    pub(crate) received: Vec<u64>,
    /// Steps taken so far, and branches pruned.
    pub(crate) transitions: u64,
    pub(crate) cut: u64,
    /// For each goal the smallest state of the level before that meets it.
    pub(crate) found: Vec<Option<Vec<u32>>>,
    /// The transitions taken so far, a bit for each.
    pub(crate) fired: Vec<u64>,
    /// States of the level before that were not expanded.
    pub(crate) waiting: u64,
    /// Beyond the depth limit: states with steps to unknown ones, and such steps of each transition.
    pub(crate) edge: (u64, Vec<u64>),
    pub(crate) bytes: u64,
    /// What this worker has sent to others so far.
    pub(crate) exchanged: Exchanged,
    /// Where the level is in the file of this worker.
    pub(crate) part: Place,
    /// Why this worker wants the search to end.
    pub(crate) halted: Option<Ended>,
}

/// How the search goes on.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) enum Decision {
    /// The search begins, or goes on from what an earlier one has left; workers have begun so often.
    Begin { start: u32, restored: Option<Box<Restored>> },
    /// The level is to be expanded. These goals were found before it.
    Go { goals: u64 },
    /// The search is over.
    Over(Box<Over>),
}

/// What all workers together have found, when the search is over.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub(crate) struct Over {
    pub(crate) ended: Ended,
    /// The last level that was evaluated to its end.
    pub(crate) evaluated: Option<u32>,
    pub(crate) states: u64,
    pub(crate) transitions: u64,
    pub(crate) cut: u64,
    pub(crate) levels: Vec<u64>,
    pub(crate) max_depth: u32,
    pub(crate) peak_frontier: u64,
    pub(crate) bytes: u64,
    pub(crate) exchanged: Exchanged,
    pub(crate) fired: Vec<u64>,
    /// For each goal where it was found first: the depth, and the smallest state.
    pub(crate) found: Vec<Option<(u32, Vec<u32>)>>,
    /// States that were reached and not expanded, and steps that were not taken.
    pub(crate) waiting: u64,
    pub(crate) edge: (u64, Vec<u64>),
}

/// Blocks of keys that were sent to other workers, how many of them were compressed, and the bytes of all.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize)]
pub(crate) struct Exchanged {
    pub(crate) blocks: u64,
    pub(crate) packed: u64,
    pub(crate) bytes: u64,
}

impl std::iter::Sum for Exchanged {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), |all, one| Self {
            blocks: all.blocks + one.blocks,
            packed: all.packed + one.packed,
            bytes: all.bytes + one.bytes,
        })
    }
}

/// Of each state that a trace is to lead to, the smallest predecessor among the states of a worker.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub(crate) struct Predecessors {
    pub(crate) keys: Vec<Option<Vec<u64>>>,
    pub(crate) ended: Option<Ended>,
}

/// Why a search ends, as it travels.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub(crate) struct Ended(u8);

/// The first is what a search ends with of which nothing better is known.
const STOPS: [Stop; 8] =
    [Stop::Interrupt, Stop::Exhausted, Stop::Goal, Stop::Disk, Stop::Memory, Stop::Time, Stop::States, Stop::Depth];

impl From<Stop> for Ended {
    fn from(stop: Stop) -> Self {
        let place = STOPS.iter().position(|&other| other == stop);
        // What else ends a search ends it early.
        Self(place.unwrap_or(0) as u8)
    }
}

impl From<Ended> for Stop {
    fn from(ended: Ended) -> Self {
        STOPS.get(usize::from(ended.0)).copied().unwrap_or(Stop::Interrupt)
    }
}

/// As words of a block: how many bytes, then the bytes.
pub(crate) fn written(value: &impl Serialize) -> Vec<u64> {
    as_words(&postcard::to_stdvec(value).expect("what is in memory can be written"))
}

/// What was written so.
pub(crate) fn read<T: DeserializeOwned>(words: &[u64]) -> T {
    postcard::from_bytes(&as_bytes(words)).expect("a message is as it was written")
}

/// How many bytes, then the bytes.
pub(crate) fn as_words(bytes: &[u8]) -> Vec<u64> {
    let mut words = Vec::with_capacity(1 + bytes.len().div_ceil(8));
    words.push(bytes.len() as u64);
    let (whole, rest) = bytes.as_chunks();
    words.extend(whole.iter().map(|bytes| u64::from_le_bytes(*bytes)));
    if !rest.is_empty() {
        words.push(rest.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte)));
    }
    words
}

/// The bytes in such words.
pub(crate) fn as_bytes(words: &[u64]) -> Vec<u8> {
    let (length, words) = words.split_first().expect("bytes come with their number");
    let mut bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    bytes.truncate(*length as usize);
    bytes
}

/// A bit for each that is true.
pub(crate) fn bits(list: &[bool]) -> Vec<u64> {
    let word = |part: &[bool]| part.iter().rev().fold(0, |word, &bit| word << 1 | u64::from(bit));
    list.chunks(64).map(word).collect()
}

/// Whether a bit is set.
pub(crate) fn bit(bits: &[u64], at: usize) -> bool {
    bits[at / 64] >> (at % 64) & 1 == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_survive() {
        for length in 0..20 {
            let report =
                Report { sent: vec![u64::MAX; length], found: vec![None, Some(vec![1, 2])], ..Report::default() };
            let again: Report = read(&written(&report));
            assert_eq!((again.sent, again.found), (report.sent, report.found));
        }
        let list: Vec<bool> = (0..130).map(|at| at % 3 == 0).collect();
        assert!((0..130).all(|at| bit(&bits(&list), at) == list[at]));
        for stop in STOPS {
            assert_eq!(Stop::from(Ended::from(stop)), stop);
        }
    }
}

//! A search is taken up again: what was written is read, and refused if no search can have written it.
//!
//! Nothing that is read is believed: lengths and numbers must be possible, traces must lead to the states they were kept
//! for, and what `verify` can compute again must be what was counted.

use std::io::{self, ErrorKind, Read};
use std::ops::ControlFlow;

use birk_engine::{Observer, Progress, Successors};
use birk_ir::Stop;

use super::checkpoint::{FORMAT, Written};
use super::options::increment;
use super::search::{Search, run};
use super::shared::{Seen, Turn};
use super::spill::SpillQueue;
use super::thresholds::{OPEN, Thresholds, UNSEEN, WAITING};
use super::trace_tree::{Chunk, Reader};
use crate::expand::expand;
use crate::store::codec::Codec;
use crate::store::encoding::{get, take};

/// Computations of successors, or ways to states of a frontier, between two words to the observer.
pub(super) const PATIENCE: u64 = 256;
/// Keys that are read between them.
const KEYS: u64 = 1 << 14;

/// Why a search is not taken up.
#[derive(Debug)]
pub(super) enum Failed {
    /// A limit was met.
    Stop(Stop),
    /// It cannot be read.
    Read(io::Error),
    /// It cannot be what was written.
    Refused(&'static str),
}

impl From<io::Error> for Failed {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            ErrorKind::OutOfMemory => Failed::Stop(Stop::Memory),
            ErrorKind::UnexpectedEof => Failed::Refused("it ends too early"),
            ErrorKind::InvalidData => Failed::Refused("it holds what no search writes"),
            _ => Failed::Read(error),
        }
    }
}

pub(super) type Result<T> = std::result::Result<T, Failed>;

/// What was saved is of no use.
fn refuse(observer: &mut dyn Observer, reason: &str) {
    if let Some(outside) = observer.outside() {
        outside.refuse(reason);
    }
}

impl<C: Codec> Search<'_, C> {
    /// Reads what was written. Otherwise, why the search ends here; what was read is then of no use.
    pub(super) fn restore(&mut self, input: &mut dyn Read, observer: &mut dyn Observer) -> ControlFlow<Stop> {
        match self.read(input, observer) {
            Ok(()) => return ControlFlow::Continue(()),
            Err(Failed::Stop(stop)) => return ControlFlow::Break(stop),
            Err(Failed::Read(error)) => refuse(observer, &error.to_string()),
            Err(Failed::Refused(reason)) => refuse(observer, reason),
        }
        ControlFlow::Break(Stop::Interrupt)
    }

    fn read(&mut self, input: &mut dyn Read, observer: &mut dyn Observer) -> Result<()> {
        if u64::from_le_bytes(take(input)?) != FORMAT {
            return Err(Failed::Refused("it was written in another format"));
        }
        let mut written: Written = get(input)?;
        let (from, to, max_depth) = (written.from, written.to, written.counts.max_depth);
        let increment = increment(self.shared.job);
        if from > to || to - from > increment || max_depth > to {
            return Err(Failed::Refused("its depth is impossible"));
        }
        if written.counts.fired.len() != self.shared.model.transitions() {
            return Err(Failed::Refused("its transitions are not those of the model"));
        }
        (self.shared.from, self.shared.to, self.covered) = (from, to, Some(from));
        (self.largest, self.most_bytes) = (written.largest, written.most_bytes);
        self.take_found(std::mem::take(&mut written.found))?;
        self.read_seen(written.keys, input, observer)?;
        let mut pending = self.read_frontiers(&written, input, observer)?;
        if input.read(&mut [0])? != 0 {
            return Err(Failed::Refused("it goes on behind its end"));
        }
        pending.sort_unstable();
        self.verify(&pending, written, observer)
    }

    /// The traces to the goals that were found: each must lead to a state in which its goal is true.
    fn take_found(&mut self, found: Vec<Option<Vec<u32>>>) -> Result<()> {
        let shared = &mut self.shared;
        let leads_to = |goal: usize, positions: &[u32]| {
            run(shared.model, &shared.initial, positions).is_some_and(|(_, state)| {
                let mut batch = Successors::new(shared.model.words());
                expand(shared.model, &state, &mut batch).goals(shared.model, &state).contains(goal)
            })
        };
        let mut traces = found.iter().enumerate();
        let are_right = traces.all(|(goal, trace)| trace.as_ref().is_none_or(|positions| leads_to(goal, positions)));
        if found.len() != shared.job.goals || !are_right {
            return Err(Failed::Refused("a trace in it does not lead to what was found"));
        }
        *shared.found.get_mut().expect("no worker panics with it") = found;
        Ok(())
    }

    /// What is known of the states visited.
    fn read_seen(&mut self, count: u64, input: &mut dyn Read, observer: &mut dyn Observer) -> Result<()> {
        let (from, to, most) = (self.shared.from, self.shared.to, self.shared.job.limits.memory);
        let seen = self.shared.seen.get_mut().expect("no worker panics with it");
        seen.codec.load(input, most)?;
        let room = Thresholds::with_room_for(count, most.saturating_sub(seen.codec.bytes()));
        let Some(room) = room else {
            // So many keys there is no memory for; or there are not so many.
            for number in 0..count {
                let _: [u8; 12] = take(input)?;
                if number.is_multiple_of(KEYS) {
                    tell(observer, number, seen.bytes())?;
                }
            }
            return Err(Failed::Stop(Stop::Memory));
        };
        seen.thresholds = room;
        for number in 0..count {
            let (key, value) = (u64::from_le_bytes(take(input)?), u32::from_le_bytes(take(input)?));
            let is_possible = value <= to.saturating_add(1) || value == WAITING || value == OPEN && from < to;
            if !is_possible || !seen.codec.is_key(key) || seen.thresholds.lower(key, value) != Some(UNSEEN) {
                return Err(Failed::Refused("what it says of a state is impossible"));
            }
            if number.is_multiple_of(KEYS) {
                tell(observer, number, seen.bytes())?;
            }
        }
        Ok(())
    }

    /// Both frontiers, and the keys of those states that wait in the one that is explored: all states that wait must be there,
    /// once, with traces that lead to them.
    fn read_frontiers(
        &mut self,
        written: &Written,
        input: &mut dyn Read,
        observer: &mut dyn Observer,
    ) -> Result<Vec<u64>> {
        let (from, to) = (self.shared.from, self.shared.to);
        let here = if from < to { from + 1 } else { WAITING };
        let mut waiting = [Vec::new(), Vec::new()];
        let (mut deepest, mut bytes) = (0, 0);
        for (side, (depth, value)) in [(from, here), (to, WAITING)].into_iter().enumerate() {
            for _ in 0..written.chunks[side] {
                let chunk = Chunk::load(input, depth)?;
                let wait = |key, is_fault: bool| {
                    waiting[side].push(key);
                    deepest = if is_fault { deepest } else { depth };
                };
                self.go_through(&chunk, value, observer, wait)?;
                self.queue(side).push(chunk);
            }
            bytes += self.queue(side).bytes;
        }
        if written.counts.max_depth < deepest {
            return Err(Failed::Refused("its depth is impossible"));
        }
        let [here, next] = waiting;
        *self.shared.pending.get_mut() = (here.len() + next.len()) as i64;
        *self.shared.frontier_bytes.get_mut() = bytes;
        let marked: Vec<u64> = if from < to { next } else { here.clone() };
        self.all_wait(marked)?;
        Ok(here)
    }

    /// The frontier that is explored, or the next.
    fn queue(&mut self, side: usize) -> &mut SpillQueue {
        let queue = if side == 0 { &mut self.shared.here } else { &mut self.shared.next };
        queue.get_mut().expect("no worker panics with it")
    }

    /// Goes to each state of a chunk that has this value.
    fn go_through(
        &mut self,
        chunk: &Chunk,
        value: u32,
        observer: &mut dyn Observer,
        mut wait: impl FnMut(u64, bool),
    ) -> Result<()> {
        let no_state = || Failed::Refused("a trace in it leads to no state");
        let (worker, turn) = (&mut self.workers[0], Turn::new(&self.shared, None));
        let mut roots = Reader::new(chunk, &turn.shared.form);
        for number in 0..chunk.states {
            roots.next().ok_or_else(no_state)?;
            let Seen { codec, thresholds } = turn.seen();
            let known = if codec.is_key(roots.key) { thresholds.get(roots.key) } else { UNSEEN };
            let is_waiting = known == value;
            if known == UNSEEN || is_waiting && !(worker.is_possible(&turn, &roots) && worker.can_go(&turn, &roots)) {
                return Err(no_state());
            }
            if is_waiting {
                wait(roots.key, turn.shared.model.is_fault(worker.state()));
            }
            if number % PATIENCE == 0 {
                tell(observer, turn.seen().thresholds.len(), turn.seen().bytes())?;
            }
        }
        if roots.is_at_end() { Ok(()) } else { Err(no_state()) }
    }

    /// Whether these keys are those that wait behind the bound, each of them once.
    fn all_wait(&mut self, mut keys: Vec<u64>) -> Result<()> {
        let mut marked = 0;
        let seen = self.shared.seen.get_mut().expect("no worker panics with it");
        seen.thresholds.for_each(|_, value| {
            marked += usize::from(value == WAITING);
            Ok::<(), Failed>(())
        })?;
        let count = keys.len();
        keys.sort_unstable();
        keys.dedup();
        if keys.len() == count && count == marked {
            Ok(())
        } else {
            Err(Failed::Refused("a state that waits is not in its frontier"))
        }
    }
}

/// Lets the observer look; an error when it ends the search.
pub(super) fn tell(observer: &mut dyn Observer, states: u64, bytes: u64) -> Result<()> {
    match observer.progress(&Progress { states, bytes, ..Progress::default() }) {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(stop) => Err(Failed::Stop(stop)),
    }
}

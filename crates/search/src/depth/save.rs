//! A search written down, to be taken up later: what was counted and found, the thresholds, and both frontiers.
//!
//! Whoever keeps it says whether it is whole; what is read here is what was written.

use std::io::{Error, ErrorKind, Read, Result, Write};

use super::Search;
use super::list::Chunk;
use crate::codec::Codec;

/// Changes when what is written does.
const FORMAT: u64 = 3;
/// More is not believed to be the length of a list of bytes.
const LONGEST: u64 = 1 << 40;

impl<C: Codec> Search<'_, C> {
    /// Writes everything that it takes to go on from here. No worker runs.
    pub(super) fn save(&mut self, out: &mut dyn Write) -> Result<()> {
        let counts = self.counts();
        let shared = &mut self.shared;
        let seen = shared.seen.get_mut().expect("no worker panics with it");
        let covered = self.covered.map_or(0, |bound| u64::from(bound) + 1);
        let numbers = [
            FORMAT,
            u64::from(shared.from),
            u64::from(shared.to),
            covered,
            *shared.states.get_mut(),
            *shared.transitions.get_mut(),
            *shared.pending.get_mut(),
            self.largest.0,
            self.largest.1,
            self.most_bytes,
            counts.revisits,
            counts.cut,
            u64::from(counts.max_depth),
            counts.peak_frontier,
            counts.replays,
            counts.replayed,
        ];
        numbers.iter().try_for_each(|&number| put(out, number))?;
        put_bytes(out, &counts.fired.iter().map(|&fired| u8::from(fired)).collect::<Vec<u8>>())?;
        for trace in shared.found.get_mut().expect("no worker panics with it") {
            let words = trace.as_deref().unwrap_or_default();
            put_bytes(out, &words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>())?;
        }
        seen.codec.save(out)?;
        put(out, seen.thresholds.len())?;
        seen.thresholds.for_each(|key, value| {
            put(out, key)?;
            out.write_all(&value.to_le_bytes())
        })?;
        for frontier in [&mut shared.here, &mut shared.next] {
            let frontier = frontier.get_mut().expect("no worker panics with it");
            put(out, frontier.len() as u64)?;
            frontier.each(|chunk| chunk.save(out))?;
        }
        Ok(())
    }

    /// Reads what was written.
    pub(super) fn restore(&mut self, input: &mut dyn Read) -> Result<()> {
        let mut numbers = [0; 16];
        for number in &mut numbers {
            *number = get(input)?;
        }
        let [format, from, to, covered, states, transitions, pending, bytes, most, rest @ ..] = numbers;
        if format != FORMAT {
            return Err(Error::new(ErrorKind::InvalidData, "it was written in another format"));
        }
        let [most_bytes, revisits, cut, max_depth, peak_frontier, replays, replayed] = rest;
        let shared = &mut self.shared;
        (shared.from, shared.to, self.covered) = (from as u32, to as u32, covered.checked_sub(1).map(|c| c as u32));
        (*shared.states.get_mut(), *shared.transitions.get_mut()) = (states, transitions);
        (*shared.pending.get_mut(), self.largest) = (pending, (bytes, most));
        let counts = &mut self.workers[0].counts;
        (counts.revisits, counts.cut, counts.max_depth) = (revisits, cut, max_depth as u32);
        (counts.peak_frontier, counts.replays, counts.replayed) = (peak_frontier, replays, replayed);
        self.most_bytes = most_bytes;
        counts.fired = get_bytes(input)?.iter().map(|&fired| fired != 0).collect();
        for trace in shared.found.get_mut().expect("no worker panics with it") {
            let bytes = get_bytes(input)?;
            let word = |bytes: &[u8]| u32::from_le_bytes(bytes.try_into().expect("four bytes"));
            *trace = (!bytes.is_empty()).then(|| bytes.chunks_exact(4).map(word).collect());
        }
        let seen = shared.seen.get_mut().expect("no worker panics with it");
        seen.codec.load(input)?;
        for _ in 0..get(input)? {
            let (key, value) = (get(input)?, u32::from_le_bytes(take(input)?));
            while seen.thresholds.lower(key, value).is_none() {
                if !seen.thresholds.grow(u64::MAX) {
                    return Err(ErrorKind::OutOfMemory.into());
                }
            }
        }
        let mut bytes = 0;
        for frontier in [&mut shared.here, &mut shared.next] {
            let frontier = frontier.get_mut().expect("no worker panics with it");
            for _ in 0..get(input)? {
                frontier.push(Chunk::load(input)?);
            }
            bytes += frontier.bytes;
        }
        *shared.frontier_bytes.get_mut() = bytes;
        Ok(())
    }
}

/// Writes a number.
pub(crate) fn put(out: &mut dyn Write, number: u64) -> Result<()> {
    out.write_all(&number.to_le_bytes())
}

/// Reads a number.
pub(crate) fn get(input: &mut dyn Read) -> Result<u64> {
    take(input).map(u64::from_le_bytes)
}

fn take<const N: usize>(input: &mut dyn Read) -> Result<[u8; N]> {
    let mut bytes = [0; N];
    input.read_exact(&mut bytes)?;
    Ok(bytes)
}

/// Writes bytes and how many they are.
pub(crate) fn put_bytes(out: &mut dyn Write, bytes: &[u8]) -> Result<()> {
    put(out, bytes.len() as u64)?;
    out.write_all(bytes)
}

/// Reads what `put_bytes` wrote.
pub(crate) fn get_bytes(input: &mut dyn Read) -> Result<Vec<u8>> {
    let length = get(input)?;
    let mut bytes = Vec::new();
    if length > LONGEST || input.take(length).read_to_end(&mut bytes)? as u64 != length {
        return Err(ErrorKind::UnexpectedEof.into());
    }
    Ok(bytes)
}

//! A search written down, to be taken up later: what was counted and found, the thresholds, and both frontiers.

use std::io::{ErrorKind, Read, Result, Write};

use super::Search;
use crate::codec::Codec;

/// Changes when what is written does.
pub(super) const FORMAT: u64 = 4;
/// More is not believed to be the length of a list of bytes.
const LONGEST: u64 = 1 << 40;

impl<C: Codec> Search<'_, C> {
    /// Writes everything that it takes to go on from here. No worker runs.
    pub(super) fn save(&mut self, out: &mut dyn Write) -> Result<()> {
        let counts = self.counts();
        let shared = &mut self.shared;
        let seen = shared.seen.get_mut().expect("no worker panics with it");
        let numbers = [
            FORMAT,
            u64::from(shared.from),
            u64::from(shared.to),
            *shared.states.get_mut(),
            *shared.transitions.get_mut(),
            counts.cut,
            u64::from(counts.max_depth),
            counts.revisits,
            counts.peak_frontier,
            counts.replays,
            counts.replayed,
            self.largest.0,
            self.largest.1,
            self.most_bytes,
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
}

/// Writes a number.
pub(crate) fn put(out: &mut dyn Write, number: u64) -> Result<()> {
    out.write_all(&number.to_le_bytes())
}

/// Reads a number.
pub(crate) fn get(input: &mut dyn Read) -> Result<u64> {
    take(input).map(u64::from_le_bytes)
}

/// Reads so many bytes.
pub(super) fn take<const N: usize>(input: &mut dyn Read) -> Result<[u8; N]> {
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

//! Where a frontier waits: its chunks in the order they came, in memory or, when that is short, outside of it.

use std::collections::VecDeque;
use std::io::{Read as _, Result, Seek as _, SeekFrom, Write as _};

use super::trace_tree::Chunk;
use birk_engine::Spill;

/// A frontier.
#[derive(Default)]
pub(crate) struct SpillQueue {
    slots: VecDeque<Slot>,
    /// States of all its chunks, and their bytes, wherever they are.
    pub(crate) states: u64,
    pub(crate) size: u64,
    /// Bytes in memory.
    pub(crate) bytes: u64,
    outside: Option<Box<dyn Spill>>,
    /// Where it is written next outside.
    end: u64,
}

/// A chunk; what it holds may have been put outside, at this place and so many bytes of it.
struct Slot {
    chunk: Chunk,
    outside: Option<(u64, usize)>,
}

impl Slot {
    fn bytes(&self) -> u64 {
        self.chunk.bytes() + 24
    }

    fn size(&self) -> u64 {
        self.chunk.bytes() + self.outside.map_or(0, |(_, length)| length as u64)
    }
}

impl SpillQueue {
    /// How many chunks it has.
    pub(crate) fn len(&self) -> usize {
        self.slots.len()
    }

    /// Whether nothing waits.
    pub(crate) fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// Adds a chunk at the end.
    pub(crate) fn push(&mut self, chunk: Chunk) {
        let mut slot = Slot { chunk, outside: None };
        self.put_outside(&mut slot);
        self.states += slot.chunk.states;
        self.size += slot.size();
        self.bytes += slot.bytes();
        self.slots.push_back(slot);
    }

    /// Takes the first chunk; one that cannot be read stays.
    pub(crate) fn pop(&mut self) -> Result<Option<Chunk>> {
        let Some(first) = self.slots.front() else { return Ok(None) };
        let (size, bytes, chunk) = (first.size(), first.bytes(), self.read(0)?);
        self.slots.pop_front();
        self.states -= chunk.states;
        self.size -= size;
        self.bytes -= bytes;
        Ok(Some(chunk))
    }

    /// Looks at each chunk.
    pub(crate) fn each(&mut self, look: impl FnMut(&Chunk) -> Result<()>) -> Result<()> {
        self.each_of(1, look)
    }

    /// Looks at the first of every so many chunks.
    pub(crate) fn each_of(&mut self, every: usize, mut look: impl FnMut(&Chunk) -> Result<()>) -> Result<()> {
        for place in (0..self.slots.len()).step_by(every) {
            match self.slots[place].outside {
                None => look(&self.slots[place].chunk)?,
                Some(_) => look(&self.read(place)?)?,
            }
        }
        Ok(())
    }

    /// Replaces each chunk in memory.
    pub(crate) fn replace(&mut self, mut with: impl FnMut(&Chunk) -> Vec<Chunk>) {
        for slot in std::mem::take(self).slots {
            with(&slot.chunk).into_iter().for_each(|chunk| self.push(chunk));
        }
    }

    /// From now on, chunks wait outside, those included that are here.
    pub(crate) fn leave(&mut self, outside: Box<dyn Spill>) {
        self.outside = Some(outside);
        for mut slot in std::mem::take(&mut self.slots) {
            self.bytes -= slot.bytes();
            self.put_outside(&mut slot);
            self.bytes += slot.bytes();
            self.slots.push_back(slot);
        }
    }

    /// Nothing waits here any more; what comes next is written over what was there.
    pub(crate) fn clear(&mut self) {
        *self = Self { outside: self.outside.take(), ..Self::default() };
    }

    /// Puts a chunk outside; where that is not possible, it stays in memory.
    fn put_outside(&mut self, slot: &mut Slot) {
        let Some(file) = &mut self.outside else { return };
        let held = &slot.chunk.held;
        if file.seek(SeekFrom::Start(self.end)).and_then(|_| file.write_all(held)).is_ok() {
            slot.outside = Some((self.end, held.len()));
            self.end += held.len() as u64;
            slot.chunk.held = Vec::new();
        }
    }

    /// The chunk at a place, whole.
    fn read(&mut self, place: usize) -> Result<Chunk> {
        let slot = &mut self.slots[place];
        let (Some((at, length)), Some(file)) = (slot.outside, &mut self.outside) else {
            return Ok(std::mem::take(&mut slot.chunk));
        };
        let mut chunk = slot.chunk.clone();
        chunk.held.resize(length, 0);
        file.seek(SeekFrom::Start(at))?;
        file.read_exact(&mut chunk.held)?;
        Ok(chunk)
    }
}

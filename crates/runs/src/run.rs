//! A run that was written, and where to read it.

use std::io::Result;
use std::sync::Arc;

use crate::block;
use crate::shape::{damaged, keys_in_block};
use crate::writer::{ENTRY, FOOTER, HEADER, MAGIC};

/// Something with bytes to read at any place.
pub trait Source: Send + Sync {
    /// Fills `bytes` with what is at this place.
    fn read_at(&self, bytes: &mut [u8], at: u64) -> Result<()>;
}

impl Source for Vec<u8> {
    fn read_at(&self, bytes: &mut [u8], at: u64) -> Result<()> {
        let at = usize::try_from(at).unwrap_or(usize::MAX);
        let found = self.get(at..at.saturating_add(bytes.len())).ok_or(std::io::ErrorKind::UnexpectedEof)?;
        bytes.copy_from_slice(found);
        Ok(())
    }
}

/// A run: its index is in memory, its keys are where they were written.
#[derive(Clone)]
pub struct Run {
    source: Arc<dyn Source>,
    /// Where it begins, and how many bytes it has.
    at: u64,
    bytes: u64,
    words: usize,
    keys: u64,
    label: u64,
    /// Of each block the first word of its first key, and where it begins; the end of the last. Copies share them.
    firsts: Arc<[u64]>,
    starts: Arc<[u64]>,
}

impl std::fmt::Debug for Run {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Run").field("at", &self.at).field("bytes", &self.bytes).field("keys", &self.keys).finish()
    }
}

impl Run {
    /// Opens the run of so many bytes that begins at a place; refuses one that is not as it was written, as far as can be seen from
    /// its header, index and footer. Blocks are examined when they are read.
    pub fn open(source: Arc<dyn Source>, at: u64, bytes: u64) -> Result<Self> {
        let Some(index_end) = bytes.checked_sub(FOOTER as u64).filter(|&end| end >= HEADER as u64) else {
            return Err(damaged("a run is too short"));
        };
        let (mut header, mut footer) = ([0; HEADER], [0; FOOTER]);
        source.read_at(&mut header, at)?;
        source.read_at(&mut footer, at + index_end)?;
        let sum = number(&footer[32..36]);
        footer[32..36].fill(0);
        let is_whole = header[..8] == MAGIC
            && number(&header[12..]) == u64::from(crc32fast::hash(&header[..12]))
            && footer[36..] == MAGIC
            && sum == u64::from(crc32fast::hash(&footer))
            && header[8..12] == footer[24..28];
        if !is_whole {
            return Err(damaged("a run does not begin or end as one does"));
        }
        let [label, blocks, keys] = [0, 8, 16].map(|at| number(&footer[at..at + 8]));
        let words = number(&footer[24..28]) as usize;
        let index_bytes = blocks.checked_mul(ENTRY as u64).filter(|&index| index <= index_end - HEADER as u64);
        let Some(index_bytes) = index_bytes.filter(|_| words > 0) else {
            return Err(damaged("a run has an impossible number of blocks"));
        };
        let mut index = vec![0; index_bytes as usize];
        source.read_at(&mut index, at + index_end - index_bytes)?;
        if u64::from(crc32fast::hash(&index)) != number(&footer[28..32]) {
            return Err(damaged("the index of a run does not match its checksum"));
        }
        let column = |from: usize| index.chunks_exact(ENTRY).map(move |entry| number(&entry[from..from + 8]));
        let firsts: Arc<[u64]> = column(0).collect();
        let starts: Arc<[u64]> = column(8).chain([index_end - index_bytes]).collect();
        if !starts.is_sorted() || !firsts.is_sorted() || starts[0] != HEADER as u64 {
            return Err(damaged("the index of a run is out of order"));
        }
        Ok(Self { source, at, bytes, words, keys, label, firsts, starts })
    }

    /// Words of a key.
    pub fn words(&self) -> usize {
        self.words
    }

    /// How many keys it has.
    pub fn keys(&self) -> u64 {
        self.keys
    }

    /// What the writer called it.
    pub fn label(&self) -> u64 {
        self.label
    }

    /// Bytes where it was written.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Bytes in memory.
    pub fn memory(&self) -> u64 {
        ((self.firsts.len() + self.starts.len()) * 8) as u64
    }

    /// The most keys of a block.
    pub fn block_keys(&self) -> usize {
        keys_in_block(self.words)
    }

    /// How many blocks it has.
    pub fn blocks(&self) -> usize {
        self.firsts.len()
    }

    /// The first words of the first keys of its blocks.
    pub fn firsts(&self) -> &[u64] {
        &self.firsts
    }

    /// Reads the keys of a block. `ahead` holds bytes read before, and may take so many bytes from the block on, up to the end of
    /// another one.
    pub(crate) fn read(
        &self,
        number: usize,
        ahead: &mut Ahead,
        (more, end): (usize, usize),
        keys: &mut Vec<u64>,
    ) -> Result<()> {
        let rest = self.starts[end.clamp(number + 1, self.blocks())];
        let (start, end) = (self.starts[number], self.starts[number + 1]);
        let length = (end - start) as usize;
        if start < ahead.at || end > ahead.at + ahead.bytes.len() as u64 {
            let rest = usize::try_from(rest - start).unwrap_or(usize::MAX);
            ahead.bytes.resize(length.max(more.min(rest)), 0);
            ahead.at = u64::MAX;
            self.source.read_at(&mut ahead.bytes, self.at + start)?;
            ahead.at = start;
        }
        let from = (start - ahead.at) as usize;
        block::decode(&ahead.bytes[from..from + length], self.words, keys)?;
        if keys[0] != self.firsts[number] {
            return Err(damaged("a block is not the one that the index names"));
        }
        Ok(())
    }
}

/// Bytes of a run that were read ahead.
#[derive(Debug)]
pub(crate) struct Ahead {
    at: u64,
    bytes: Vec<u8>,
}

impl Default for Ahead {
    fn default() -> Self {
        Self { at: u64::MAX, bytes: Vec::new() }
    }
}

impl Ahead {
    pub(crate) fn memory(&self) -> u64 {
        self.bytes.capacity() as u64
    }
}

/// A number of up to eight bytes.
fn number(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte))
}

//! Writing a run: keys come in ascending order, and go out block by block.
//!
//! A run: a header (what it is, words of a key), blocks, the index (of each block the first word of its first key, and where it
//! begins), and a footer (number of blocks and keys, a number of the caller's, checksums).

use std::io::{Result, Write};

use crate::block;
use crate::shape::keys_in_block;

/// How a run begins and ends; the last byte is the version of the format.
pub(crate) const MAGIC: [u8; 8] = *b"birkrun\x01";
/// Bytes of the header: magic, words, checksum.
pub(crate) const HEADER: usize = 16;
/// Bytes of the footer: label, blocks, keys, words, checksum of the index, checksum of the footer, magic.
pub(crate) const FOOTER: usize = 44;
/// Bytes of a block in the index.
pub(crate) const ENTRY: usize = 16;

/// Writes one run.
#[derive(Debug)]
pub struct Writer<W: Write> {
    out: W,
    words: usize,
    label: u64,
    /// Keys of the block that is not yet full.
    pending: Vec<u64>,
    block: Vec<u8>,
    /// The last key of the block before.
    last: Vec<u64>,
    index: Vec<u8>,
    at: u64,
    keys: u64,
}

impl<W: Write> Writer<W> {
    /// Begins a run of keys of this many words. The label is the caller's, to know the run again.
    pub fn new(mut out: W, words: usize, label: u64) -> Result<Self> {
        assert!(words > 0, "a key has words");
        let mut header = [0; HEADER];
        header[..8].copy_from_slice(&MAGIC);
        header[8..12].copy_from_slice(&(words as u32).to_le_bytes());
        let sum = crc32fast::hash(&header[..12]);
        header[12..].copy_from_slice(&sum.to_le_bytes());
        out.write_all(&header)?;
        Ok(Self {
            out,
            words,
            label,
            pending: Vec::new(),
            block: Vec::new(),
            last: Vec::new(),
            index: Vec::new(),
            at: HEADER as u64,
            keys: 0,
        })
    }

    /// Adds keys, which are greater than those before.
    pub fn push(&mut self, mut keys: &[u64]) -> Result<()> {
        let full = keys_in_block(self.words) * self.words;
        self.keys += (keys.len() / self.words) as u64;
        while self.pending.len() + keys.len() >= full {
            if self.pending.is_empty() {
                let (block, rest) = keys.split_at(full);
                self.write(block)?;
                keys = rest;
                continue;
            }
            let (part, rest) = keys.split_at(full - self.pending.len());
            let mut pending = std::mem::take(&mut self.pending);
            pending.extend_from_slice(part);
            self.write(&pending)?;
            pending.clear();
            self.pending = pending;
            keys = rest;
        }
        self.pending.extend_from_slice(keys);
        Ok(())
    }

    fn write(&mut self, keys: &[u64]) -> Result<()> {
        let words = self.words;
        assert!(self.last.is_empty() || self.last[..] < keys[..words], "the keys of a run ascend");
        self.last.clear();
        self.last.extend_from_slice(&keys[keys.len() - words..]);
        self.block.clear();
        block::encode(keys, words, &mut self.block);
        self.index.extend_from_slice(&keys[0].to_le_bytes());
        self.index.extend_from_slice(&self.at.to_le_bytes());
        self.at += self.block.len() as u64;
        self.out.write_all(&self.block)
    }

    /// Keys so far.
    pub fn keys(&self) -> u64 {
        self.keys
    }

    /// Bytes so far, without those of the block that is not yet full.
    pub fn bytes(&self) -> u64 {
        self.at
    }

    /// Bytes that it occupies itself.
    pub fn memory(&self) -> u64 {
        (self.pending.capacity() * 8 + self.block.capacity() + self.index.capacity()) as u64
    }

    /// Ends the run; how many bytes it has.
    pub fn finish(mut self) -> Result<(W, u64)> {
        let pending = std::mem::take(&mut self.pending);
        if !pending.is_empty() {
            self.write(&pending)?;
        }
        let mut footer = [0; FOOTER];
        let blocks = (self.index.len() / ENTRY) as u64;
        footer[..8].copy_from_slice(&self.label.to_le_bytes());
        footer[8..16].copy_from_slice(&blocks.to_le_bytes());
        footer[16..24].copy_from_slice(&self.keys.to_le_bytes());
        footer[24..28].copy_from_slice(&(self.words as u32).to_le_bytes());
        footer[28..32].copy_from_slice(&crc32fast::hash(&self.index).to_le_bytes());
        footer[36..].copy_from_slice(&MAGIC);
        let sum = crc32fast::hash(&footer);
        footer[32..36].copy_from_slice(&sum.to_le_bytes());
        self.out.write_all(&self.index)?;
        self.out.write_all(&footer)?;
        Ok((self.out, self.at + self.index.len() as u64 + FOOTER as u64))
    }
}

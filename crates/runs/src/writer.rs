//! Writing a run: keys come in ascending order, and go out block by block.
//!
//! A run: a header (what it is, words of a key), blocks, the index (of each block the first word of its first key, and where it
//! begins), and a footer (number of blocks and keys, a number of the caller's, checksums).

use std::io::{Result, Write};

use crate::blocks::Blocks;
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
    label: u64,
    /// What is not yet written.
    blocks: Blocks,
    /// The last key that is.
    last: Vec<u64>,
    index: Vec<u8>,
    at: u64,
    keys: u64,
}

impl<W: Write> Writer<W> {
    /// Begins a run of keys of this many words. The label is the caller's, to know the run again.
    pub fn new(mut out: W, words: usize, label: u64) -> Result<Self> {
        let blocks = Blocks::new(words);
        let mut header = [0; HEADER];
        header[..8].copy_from_slice(&MAGIC);
        header[8..12].copy_from_slice(&(words as u32).to_le_bytes());
        let sum = crc32fast::hash(&header[..12]);
        header[12..].copy_from_slice(&sum.to_le_bytes());
        out.write_all(&header)?;
        Ok(Self { out, label, blocks, last: Vec::new(), index: Vec::new(), at: HEADER as u64, keys: 0 })
    }

    /// Adds keys, which are greater than those before.
    pub fn push(&mut self, keys: &[u64]) -> Result<()> {
        // Few at once, so that no more than some blocks are in memory.
        for keys in keys.chunks(keys_in_block(self.blocks.words) * self.blocks.words) {
            self.blocks.push(keys);
            self.write()?;
        }
        Ok(())
    }

    /// Appends blocks whose keys are greater than those before, and leaves none there; the last one may be short.
    pub fn append(&mut self, blocks: &mut Blocks) -> Result<()> {
        self.blocks.end_block();
        self.write()?;
        blocks.end_block();
        std::mem::swap(&mut self.blocks, blocks);
        let written = self.write();
        std::mem::swap(&mut self.blocks, blocks);
        written
    }

    /// Writes the blocks that are full.
    fn write(&mut self) -> Result<()> {
        let Self { out, blocks, last, index, at, keys, .. } = self;
        if blocks.index.is_empty() {
            return Ok(());
        }
        assert!(last.is_empty() || last[..] < blocks.first[..], "the keys of a run ascend");
        last.clone_from(&blocks.last);
        for (first, start) in &blocks.index {
            index.extend_from_slice(&first.to_le_bytes());
            index.extend_from_slice(&(*at + start).to_le_bytes());
        }
        *at += blocks.bytes.len() as u64;
        *keys += blocks.keys;
        out.write_all(&blocks.bytes)?;
        blocks.clear();
        Ok(())
    }

    /// Keys so far.
    pub fn keys(&self) -> u64 {
        self.keys + (self.blocks.pending.len() / self.blocks.words) as u64
    }

    /// Bytes so far, without those of the block that is not yet full.
    pub fn bytes(&self) -> u64 {
        self.at
    }

    /// Bytes that it occupies itself.
    pub fn memory(&self) -> u64 {
        (self.blocks.pending.capacity() * 8 + self.blocks.bytes.capacity() + self.index.capacity()) as u64
    }

    /// Ends the run; how many bytes it has.
    pub fn finish(mut self) -> Result<(W, u64)> {
        self.blocks.end_block();
        self.write()?;
        let mut footer = [0; FOOTER];
        let blocks = (self.index.len() / ENTRY) as u64;
        footer[..8].copy_from_slice(&self.label.to_le_bytes());
        footer[8..16].copy_from_slice(&blocks.to_le_bytes());
        footer[16..24].copy_from_slice(&self.keys.to_le_bytes());
        footer[24..28].copy_from_slice(&(self.blocks.words as u32).to_le_bytes());
        footer[28..32].copy_from_slice(&crc32fast::hash(&self.index).to_le_bytes());
        footer[36..].copy_from_slice(&MAGIC);
        let sum = crc32fast::hash(&footer);
        footer[32..36].copy_from_slice(&sum.to_le_bytes());
        self.out.write_all(&self.index)?;
        self.out.write_all(&footer)?;
        Ok((self.out, self.at + self.index.len() as u64 + FOOTER as u64))
    }
}

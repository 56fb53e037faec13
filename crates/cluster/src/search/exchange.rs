//! What a worker sends to others and takes from them, against credit; and which blocks it compresses.
//!
//! To compress a block takes longer than to make its states (it is sorted and delta-coded, as in a level file), but a worker that has no
//! credit left has nothing else to do: a link that holds it up gets compressed blocks until most of its credit is back, and as many
//! more as may be under way.

use std::time::Duration;

use birk_runs::{pack, sort_unique, unpack};
use timely::dataflow::channels::ContainerBytes;

use super::{PATIENCE, Turn, Worker};
use crate::block::{Block, Kind};
use crate::fabric::Fabric;
use crate::protocol::{as_bytes, as_words};
use crate::setting::Compress;

impl<F: Fabric> Worker<'_, '_, F> {
    /// Sends the block of an owner; this worker's own is taken at once.
    pub(super) fn send(&mut self, to: usize) {
        if self.out[to].is_empty() {
            return;
        }
        let is_at_limit = self.is_at_limit();
        let mut keys = std::mem::take(&mut self.out[to]);
        let steps = std::mem::take(&mut self.out_steps[to]);
        if to == self.fabric.index() {
            if is_at_limit {
                self.asked[to].extend(steps);
                let known = self.known(&keys);
                self.learn(to, &known);
            } else {
                self.add(&keys);
            }
            keys.clear();
            self.out[to] = keys;
            return;
        }
        self.out[to].reserve(keys.len());
        let block = if is_at_limit {
            self.asked[to].extend(steps);
            Block::new(to, Kind::Ask, keys)
        } else {
            self.block_of_keys(to, keys)
        };
        self.credit[to] -= 1;
        self.exchanged.blocks += 1;
        self.exchanged.bytes += block.length_in_bytes() as u64;
        self.fabric.send(block);
    }

    /// A block of keys, compressed or not.
    fn block_of_keys(&mut self, to: usize, mut keys: Vec<u64>) -> Block {
        let words = self.shared.keys.words();
        let short = self.short[to];
        // With most of the credit back, the link keeps up.
        if self.credit[to] >= i64::from(self.shared.setting.window) * 3 / 4 {
            self.short[to] = short.saturating_sub(1);
        }
        let compresses = match self.shared.setting.compress {
            Compress::Auto => short > 0,
            Compress::Always => true,
            Compress::Never => false,
        };
        if !compresses {
            self.sent[to] += (keys.len() / words) as u64;
            return Block::new(to, Kind::Keys, keys);
        }
        sort_unique(&mut keys, words, &mut || true);
        self.sent[to] += (keys.len() / words) as u64;
        self.exchanged.packed += 1;
        let mut bytes = Vec::with_capacity(keys.len() * 4);
        pack(&keys, words, &mut bytes);
        Block::new(to, Kind::Packed, as_words(&bytes))
    }

    /// Waits until a block can be sent to every worker. Links that it waits for are short of credit.
    pub(super) fn await_credit(&mut self) -> Turn<()> {
        let mut patience = Duration::ZERO;
        while self.credit.iter().any(|&credit| credit <= 0) && !self.is_ceasing {
            self.turn(patience)?;
            patience = PATIENCE;
            for (short, _) in self.short.iter_mut().zip(&self.credit).filter(|(_, credit)| **credit <= 0) {
                *short = self.shared.setting.window;
            }
        }
        Ok(())
    }

    /// The keys of a compressed block.
    pub(super) fn unpacked(&self, block: &Block) -> Vec<u64> {
        let mut keys = Vec::new();
        let unpacked = unpack(&as_bytes(&block.words), self.shared.keys.words(), &mut keys);
        unpacked.expect("a block is as it was sent");
        keys
    }

    /// Takes keys of the next level.
    pub(super) fn take_keys(&mut self, level: u32, from: usize, keys: &[u64]) {
        assert_eq!(level, self.arriving, "keys of worker {from} arrive at the level that is gathered");
        self.received[from] += (keys.len() / self.shared.keys.words()) as u64;
        let news = self.news(keys);
        self.add(&news);
        self.return_credit(from);
    }

    /// A block was taken: its sender may send another.
    pub(super) fn return_credit(&mut self, from: usize) {
        self.owed[from] += 1;
        if self.owed[from] >= u64::from(self.shared.setting.window).div_ceil(4) {
            let owed = std::mem::take(&mut self.owed[from]);
            self.fabric.send(Block::new(from, Kind::Credit, vec![owed]));
        }
    }
}

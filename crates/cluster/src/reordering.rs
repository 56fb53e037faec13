//! A fabric for tests: what has arrived is held back, and blocks of different senders come in any order.

use std::collections::VecDeque;
use std::time::Duration;

use crate::block::Block;
use crate::fabric::Fabric;

/// Another fabric, whose blocks it delivers in an order of its own; those of one sender stay in theirs.
pub(crate) struct Reordering<F> {
    fabric: F,
    held: Vec<VecDeque<(u32, Block)>>,
    random: u64,
}

impl<F: Fabric> Reordering<F> {
    pub(crate) fn new(fabric: F, seed: u64) -> Self {
        let held = (0..fabric.workers()).map(|_| VecDeque::new()).collect();
        let random = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ (fabric.index() as u64) << 32 | 1;
        Self { fabric, held, random }
    }

    pub(crate) fn into_inner(self) -> F {
        self.fabric
    }

    fn draw(&mut self, below: usize) -> usize {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        (self.random >> 33) as usize % below
    }
}

impl<F: Fabric> Fabric for Reordering<F> {
    fn index(&self) -> usize {
        self.fabric.index()
    }

    fn workers(&self) -> usize {
        self.fabric.workers()
    }

    fn send(&mut self, block: Block) {
        self.fabric.send(block);
    }

    fn receive(&mut self) -> Option<(u32, Block)> {
        while let Some((level, block)) = self.fabric.receive() {
            self.held[block.from as usize].push_back((level, block));
        }
        // Now and then, nothing is there yet.
        let senders: Vec<usize> = (0..self.held.len()).filter(|&from| !self.held[from].is_empty()).collect();
        if senders.is_empty() || self.draw(3) == 0 {
            return None;
        }
        let from = senders[self.draw(senders.len())];
        self.held[from].pop_front()
    }

    fn advance(&mut self) {
        self.fabric.advance();
    }

    fn is_complete(&self, level: u32) -> bool {
        let is_held = self.held.iter().flatten().any(|(of, _)| *of <= level);
        !is_held && self.fabric.is_complete(level)
    }

    fn step(&mut self, patience: Duration) {
        let is_idle = self.held.iter().all(VecDeque::is_empty);
        self.fabric.step(if is_idle { patience } else { Duration::ZERO });
    }

    fn close(&mut self) {
        self.fabric.close();
    }
}

//! The exchange of a search without the search: keys are made, sent to their owners, received and dropped, level by level. What this
//! takes is what a distributed search costs at least beyond a search by one process; for measurements.

use std::io::Result;
use std::sync::Arc;
use std::time::Duration;

use birk_engine::Peers;
use birk_search::levels::limits::Halt;

use crate::block::{Block, Kind};
use crate::engine::connected;
use crate::fabric::Fabric;
use crate::owner::owner;
use crate::setting::Setting;

/// Keys that are made before blocks are received.
const CHUNK: u64 = 1024;
/// How long a worker without work waits before it looks around.
const PATIENCE: Duration = Duration::from_millis(20);

/// How much is sent.
#[derive(Clone, Copy, Debug)]
pub struct Traffic {
    /// Levels, each of which is complete everywhere before the next begins.
    pub levels: u32,
    /// Keys of one word that each worker makes for a level; those that it owns itself are not sent.
    pub keys: u64,
}

/// Takes part in an exchange with one worker in each process; how many keys were received.
pub fn exchange_only(peers: &Arc<dyn Peers>, traffic: Traffic) -> Result<u64> {
    let (makings, guard) = connected(peers, 1).map_err(|halt| match halt {
        Halt::Failed(error) => error,
        other => std::io::Error::other(format!("{other:?}")),
    })?;
    let making = makings.into_iter().next().expect("there is one worker");
    let mut exchange = Exchange::new(making.dataflow(), Setting::default());
    for level in 0..traffic.levels {
        exchange.level(level, traffic.keys);
    }
    let received = exchange.received;
    exchange.fabric.finish();
    drop(guard);
    Ok(received)
}

struct Exchange<F> {
    fabric: F,
    setting: Setting,
    out: Vec<Vec<u64>>,
    credit: Vec<i64>,
    owed: Vec<u64>,
    received: u64,
    /// The key that was made last.
    key: u64,
}

impl<F: Fabric> Exchange<F> {
    fn new(fabric: F, setting: Setting) -> Self {
        let (workers, key) = (fabric.workers(), fabric.index() as u64 + 1);
        let credit = vec![i64::from(setting.window); workers];
        Self { fabric, setting, out: vec![Vec::new(); workers], credit, owed: vec![0; workers], received: 0, key }
    }

    fn level(&mut self, level: u32, keys: u64) {
        for number in 0..keys {
            if number % CHUNK == 0 {
                self.turn(Duration::ZERO);
                while self.credit.iter().any(|&credit| credit <= 0) {
                    self.turn(PATIENCE);
                }
            }
            self.key ^= self.key << 13;
            self.key ^= self.key >> 7;
            self.key ^= self.key << 17;
            let to = owner(&[self.key], self.out.len());
            self.out[to].push(self.key);
            if self.out[to].len() == self.setting.block {
                self.send(to);
            }
        }
        (0..self.out.len()).for_each(|to| self.send(to));
        self.fabric.advance();
        while !self.fabric.is_complete(level + 1) {
            self.turn(PATIENCE);
        }
    }

    /// Sends a block; this worker's own is dropped.
    fn send(&mut self, to: usize) {
        if to == self.fabric.index() || self.out[to].is_empty() {
            self.out[to].clear();
            return;
        }
        let keys = std::mem::replace(&mut self.out[to], Vec::with_capacity(self.setting.block));
        self.credit[to] -= 1;
        self.fabric.send(Block::new(to, Kind::Keys, keys));
    }

    fn turn(&mut self, patience: Duration) {
        while let Some((_, block)) = self.fabric.receive() {
            let from = block.from as usize;
            if block.kind == Kind::Credit {
                self.credit[from] += block.words[0] as i64;
                continue;
            }
            self.received += block.words.len() as u64;
            self.owed[from] += 1;
            if self.owed[from] >= u64::from(self.setting.window).div_ceil(4) {
                let owed = std::mem::take(&mut self.owed[from]);
                self.fabric.send(Block::new(from, Kind::Credit, vec![owed]));
            }
        }
        self.fabric.step(patience);
    }
}

//! What a search asks of whatever connects its workers.

use std::time::Duration;

use crate::block::Block;

/// Connects one worker with all others, and knows when a level is complete.
///
/// A worker is at a level: what it sends arrives at the level after. When every worker has gone on to a level, and everything that
/// was sent to it has been received, that level is complete, and nothing more will arrive there.
pub trait Fabric {
    /// The number of this worker.
    fn index(&self) -> usize;

    /// How many workers there are.
    fn workers(&self) -> usize;

    /// Sends a block. Blocks to one worker arrive in this order.
    fn send(&mut self, block: Block);

    /// A block that has arrived, and the level at which it has.
    fn receive(&mut self) -> Option<(u32, Block)>;

    /// Goes on to the next level: nothing more is sent at this one.
    fn advance(&mut self);

    /// Whether everything that is ever sent to a level was received, by all workers.
    fn is_complete(&self, level: u32) -> bool;

    /// Lets blocks travel; waits up to so long for something to happen.
    fn step(&mut self, patience: Duration);

    /// This worker sends nothing more; what is under way still arrives.
    fn close(&mut self);
}

//! What a search remembers of the states it has seen.

pub(crate) mod bloom;
pub(crate) mod codec;
pub(crate) mod encoding;
pub mod exact;
pub(crate) mod hash;
pub(crate) mod interner;
pub mod memory;
pub(crate) mod table;
pub(crate) mod with_codec;

use birk_engine::Successors;
use birk_ir::StateId;

/// What became of a successor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// Seen for the first time.
    New(StateId),
    /// Seen before.
    Known,
}

/// A visited set. Successors come in batches, so that an implementation can prefetch.
pub trait Store {
    /// Makes room for this many more states without exceeding a total of `budget` bytes; false when it cannot.
    fn reserve(&mut self, additional: usize, budget: u64) -> bool;

    /// Takes a batch whose room was reserved. `parents[i]` is where successor `i` came from; `None` for initial states.
    /// Appends one arrival for each, in order.
    fn insert(&mut self, batch: &Successors, parents: &[Option<StateId>], arrivals: &mut Vec<Arrival>);

    /// Whether a state was seen.
    fn contains(&self, state: &[u32]) -> bool;

    /// Writes a stored state to `out`.
    fn load(&self, id: StateId, out: &mut [u32]);

    /// Where a state was first reached from.
    fn parent(&self, id: StateId) -> Option<StateId>;

    /// How many states it holds.
    fn len(&self) -> u64;

    /// Whether it holds none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes it occupies, unused capacity included.
    fn bytes(&self) -> u64;
}

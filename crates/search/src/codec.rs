//! How a state becomes a key of at most 64 bits, and a ticket that waits in the frontier.
//!
//! A codec is exact when a ticket gives its state back: then two states have the same key only if they are equal.

pub(crate) mod direct;
pub(crate) mod fingerprint;
pub(crate) mod interner;
pub(crate) mod packing;
pub(crate) mod tree;

/// What growing did to the keys.
pub(crate) enum Growth {
    /// They are as they were.
    Same,
    /// They are wider; the function gives the new key for an old one.
    Wider(Box<dyn Fn(u64) -> u64 + Sync>),
    /// The system had no memory to give.
    Failed,
}

/// Turns states into keys and back. Shared by threads; each has a `Parent` of its own.
pub(crate) trait Codec: Sync {
    /// What a worker knows of the state it is expanding.
    type Parent: Send;

    /// A state can have parts for which there is no room.
    const GROWS: bool = false;

    /// Room for a worker's parent.
    fn parent(&self) -> Self::Parent;

    /// Bits of a key, now.
    fn bits(&self) -> u32;

    /// Words of a ticket.
    fn ticket_words(&self) -> usize;

    /// Writes the state of a ticket, and remembers it as the parent of the states that follow.
    fn open(&self, ticket: &[u32], parent: &mut Self::Parent, state: &mut [u32]);

    /// The key of a successor of the parent; `None` when there is no room for its parts, so that the codec must grow.
    fn key(&self, state: &[u32], parent: &mut Self::Parent) -> Option<u64>;

    /// The key of a state if all its parts are known; nothing is added.
    fn known_key(&self, state: &[u32], parent: &mut Self::Parent) -> Option<u64>;

    /// Appends the ticket of a state with this key.
    fn ticket(&self, key: u64, state: &[u32], out: &mut Vec<u32>);

    /// Bytes it occupies.
    fn bytes(&self) -> u64 {
        0
    }

    /// Bytes it will occupy when it has grown.
    fn bytes_after_growth(&self) -> u64 {
        0
    }

    /// Makes room where there is none.
    fn grow(&mut self) -> Growth {
        Growth::Same
    }

    /// The probability that one of this many states was lost because another had its key.
    fn omission(&self, _states: u64) -> Option<f64> {
        None
    }
}

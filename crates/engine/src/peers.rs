//! Other processes that take part in a search. Who connects them, and watches over the connections, the observer knows.

use std::io::Result;

/// The processes of a search, of which this is one.
pub trait Peers: Send + Sync {
    /// The number of this process.
    fn rank(&self) -> usize;

    /// A connection to each process in the order of their numbers, and none at the place of this one. They are for one search: a
    /// second one gets none.
    fn links(&self) -> Option<Vec<Option<Box<dyn Link>>>>;

    /// A level is complete in all processes: where the search is kept, it can be taken up from there.
    fn complete(&self, level: u32);

    /// A connection broke before the search was over. The process cannot go on: this does not return where somebody ends it.
    fn broken(&self);
}

/// A connection to another process, on which bytes arrive in the order in which they were sent.
pub trait Link: Send + Sync {
    /// Sends some of these bytes; how many.
    fn send(&mut self, bytes: &[u8]) -> Result<usize>;

    /// Waits for bytes; how many there are, or 0 when nothing more will come.
    fn receive(&mut self, bytes: &mut [u8]) -> Result<usize>;

    /// The same connection, for another thread.
    fn another(&self) -> Result<Box<dyn Link>>;

    /// Nothing more is sent on it.
    fn end(&self) -> Result<()>;
}

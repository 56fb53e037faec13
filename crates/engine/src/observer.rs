//! Whom an engine tells how it goes: clock, Ctrl-C, progress lines and files live behind this.

use std::io::{Read, Seek, Write};
use std::ops::ControlFlow;

use birk_ir::Stop;

use crate::files::Files;
use crate::peers::Peers;

/// Hears how the search goes, and may end it.
pub trait Observer {
    /// Called often (at least every few hundred expansions): must be cheap when there is nothing to say.
    fn progress(&mut self, progress: &Progress) -> ControlFlow<Stop>;

    /// Bytes that are in use beyond those which a search counts: buffers, code, what the allocator keeps. Where nobody
    /// knows better, a twelfth.
    fn overhead(&mut self, counted: u64) -> u64 {
        counted / 12
    }

    /// Storage outside of memory, if there is any.
    fn outside(&mut self) -> Option<&mut dyn Outside> {
        None
    }
}

/// Storage outside of memory: for what a search needs only later, and for checkpoints.
pub trait Outside {
    /// Memory is short: a place to spill to, if there is one.
    fn spill(&mut self) -> Option<Box<dyn Spill>> {
        None
    }

    /// What an earlier search has saved, to continue from there.
    fn saved(&mut self) -> Option<Box<dyn Read>> {
        None
    }

    /// What an earlier search is said to have saved cannot be used, for this reason; the search ends.
    fn refuse(&mut self, _reason: &str) {}

    /// Files for a search that keeps its states outside of memory, if there is a place for them.
    fn files(&mut self) -> Option<Box<dyn Files>> {
        None
    }

    /// Other processes that take part in the search, if there are any.
    fn peers(&mut self) -> Option<std::sync::Arc<dyn Peers>> {
        None
    }

    /// A file could not be written or read, for this reason: the search ends, and what it says then is not to be relied on.
    fn fail(&mut self, _reason: &std::io::Error) {}

    /// The search could be continued from here: a bound was completed, or, the last time, a limit ends it. `save` writes
    /// what is needed.
    fn checkpoint(&mut self, _save: &mut Save<'_>, _is_last: bool) {}
}

/// A place outside of memory that can be written and read again.
pub trait Spill: Read + Write + Seek + Send {}

impl<T: Read + Write + Seek + Send> Spill for T {}

/// Writes a search down.
pub type Save<'a> = dyn FnMut(&mut dyn Write) -> std::io::Result<()> + 'a;

/// Lets a search run to its end.
#[derive(Clone, Copy, Debug)]
pub struct Patient;

impl Observer for Patient {
    fn progress(&mut self, _: &Progress) -> ControlFlow<Stop> {
        ControlFlow::Continue(())
    }
}

/// How a search stands.
#[derive(Clone, Copy, Debug, Default)]
pub struct Progress {
    /// Distinct states reached.
    pub states: u64,
    /// Steps taken from the expanded ones.
    pub transitions: u64,
    /// Depth of the state expanded last.
    pub depth: u32,
    /// States waiting to be expanded.
    pub frontier: u64,
    /// Bytes of states, table and frontier.
    pub bytes: u64,
    /// For engines on decision diagrams: nodes in use, and how often an image was computed.
    pub bdd: Option<(u64, u32)>,
    /// For engines that keep their states outside of memory: bytes read and written there.
    pub disk: Option<(u64, u64)>,
    /// What was done just now, because memory was short.
    pub relief: Option<Relief>,
}

/// What a search does to need less memory when that is short, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relief {
    /// The frontier behind a bound is kept as a tree of traces instead of as states.
    Tree,
    /// It is spilled to disk.
    Disk,
    /// One thread goes on alone.
    Thread,
}

impl Relief {
    /// The word in reports.
    pub fn word(self) -> &'static str {
        match self {
            Relief::Tree => "tree",
            Relief::Disk => "disk",
            Relief::Thread => "thread",
        }
    }
}

//! What a search occupies beyond what it counts.

use birk_engine::{Limits, Observer};

/// The overhead of a search that grows in small steps. The observer is asked when what is counted has grown by a sixty-fourth of
/// the limit.
#[derive(Debug, Default)]
pub(crate) struct Overhead {
    bytes: u64,
    ask_at: u64,
}

impl Overhead {
    pub(crate) fn at(&mut self, counted: u64, limits: &Limits, observer: &mut dyn Observer) -> u64 {
        if counted >= self.ask_at {
            self.bytes = observer.overhead(counted);
            self.ask_at = counted.saturating_add(limits.memory / 64);
        }
        self.bytes
    }
}

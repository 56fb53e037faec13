//! Files of a search that keeps its states outside of memory. Where they are, the observer knows.

use std::io::Result;

/// Files for one search.
pub trait Files: Send + Sync {
    /// A new, empty file that is kept under this name as long as the search is kept; one that has the name is replaced.
    fn create(&self, name: &str) -> Result<Box<dyn Stored>>;

    /// The file that an earlier search kept under this name.
    fn open(&self, name: &str) -> Result<Option<Box<dyn Stored>>>;

    /// A new, empty file without a name, which is gone when nobody uses it any more.
    fn scratch(&self) -> Result<Box<dyn Stored>>;
}

/// A file.
pub trait Stored: Send + Sync {
    /// Fills `bytes` with what is at this place.
    fn read_at(&self, bytes: &mut [u8], at: u64) -> Result<()>;

    /// Writes bytes at this place, which is at most the length of the file.
    fn write_at(&self, bytes: &[u8], at: u64) -> Result<()>;

    /// Its length.
    fn length(&self) -> Result<u64>;

    /// Cuts it off at this length.
    fn truncate(&self, length: u64) -> Result<()>;

    /// What was written survives a power failure from now on, or soon.
    fn sync(&self) -> Result<()>;
}

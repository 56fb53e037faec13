//! Sorted runs of keys of a fixed number of 64-bit words, and what a search beyond memory does with them: sort candidates, write them,
//! merge runs, and take away the keys of some runs from others, all as streams.
//!
//! Keys lie side by side in slices of words, and are compared word by word. Nothing here opens a file: a run is written to a
//! [`std::io::Write`] and read from a [`Source`]. What was changed or cut off since it was written is refused.
#![forbid(unsafe_code)]

mod block;
mod blocks;
mod cursor;
mod merge;
mod packed;
mod rows;
mod run;
mod shape;
mod sort;
mod tiers;
mod writer;

pub use blocks::Blocks;
pub use cursor::Cursor;
pub use merge::{Merge, Stream};
pub use packed::{pack, unpack};
pub use run::{Run, Source};
pub use sort::{Sorted, sort_unique};
pub use tiers::{MOST_RUNS, due};
pub use writer::Writer;

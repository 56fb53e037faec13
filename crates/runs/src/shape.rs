//! How many keys a block has, and what is said of one that is not as it was written.

/// The most keys of a block.
const BLOCK: usize = 1 << 10;
/// The most words of a block of wide keys, unless one key has more.
const BLOCK_WORDS: usize = 1 << 12;

/// How many keys of this many words a block holds.
pub(crate) fn keys_in_block(words: usize) -> usize {
    (BLOCK_WORDS / words).clamp(1, BLOCK)
}

/// What was read is not what was written.
pub(crate) fn damaged(what: &str) -> std::io::Error {
    std::io::Error::new(std::io::ErrorKind::InvalidData, what)
}

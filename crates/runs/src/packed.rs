//! Keys in the blocks of a run, without a file: for whoever sends them.

use std::io::Result;

use crate::block::{HEADER, decode, encode, length};
use crate::shape::{damaged, keys_in_block};

/// Appends the blocks of some keys, which ascend.
pub fn pack(keys: &[u64], words: usize, out: &mut Vec<u8>) {
    keys.chunks(keys_in_block(words) * words).for_each(|block| encode(block, words, out));
}

/// Appends the keys of some blocks, which are refused if they are not as they were packed.
pub fn unpack(mut blocks: &[u8], words: usize, keys: &mut Vec<u64>) -> Result<()> {
    let mut block = Vec::new();
    while !blocks.is_empty() {
        let end = blocks.get(..HEADER).map(length).filter(|&end| end <= blocks.len());
        let (first, rest) = blocks.split_at(end.ok_or_else(|| damaged("a block has another length"))?);
        decode(first, words, &mut block)?;
        keys.extend_from_slice(&block);
        blocks = rest;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sort_unique;

    /// Random keys of one word and of several, more and fewer than a block holds.
    #[test]
    fn what_was_packed_comes_back() {
        let mut seed = 1u64;
        for words in [1, 2, 9] {
            for count in [0, 1, 455, 5000] {
                let mut keys: Vec<u64> = (0..count * words)
                    .map(|_| {
                        seed = seed.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(7);
                        seed >> 50
                    })
                    .collect();
                sort_unique(&mut keys, words, &mut || true);
                let (mut bytes, mut back) = (Vec::new(), vec![3; words]);
                pack(&keys, words, &mut bytes);
                unpack(&bytes, words, &mut back).expect("it is whole");
                assert!(back[..words].iter().all(|&word| word == 3) && back[words..] == keys);
                for shorter in (1..bytes.len().min(300)).chain([bytes.len() - bytes.len().min(1)]) {
                    let is_whole = unpack(&bytes[..shorter], words, &mut Vec::new()).is_ok();
                    assert!(!is_whole || shorter == 0, "{words} words, {shorter} of {} bytes", bytes.len());
                }
            }
        }
    }
}

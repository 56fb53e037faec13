//! A block: up to 1024 keys in ascending order, delta-coded.
//!
//! Keys of one word: the differences, less one, have four widths in bits, chosen for each block so that it is shortest. Two bits tell
//! the width of each; they lie apart from the differences, so that reading one does not wait for another. Wider keys: of each word
//! that differs from the same word of the key before, the bytes that do.

use std::io::Result;

use crate::shape::damaged;

/// Bytes before the first key: count, widths, bytes behind the header, checksum.
pub(crate) const HEADER: usize = 16;
/// Zeros at the end, so that eight bytes can be read wherever a difference begins.
const PADDING: usize = 8;
/// Differences of up to so many bits are read at once.
const AT_ONCE: u32 = 56;

/// Appends the block of some keys.
pub(crate) fn encode(keys: &[u64], words: usize, out: &mut Vec<u8>) {
    let start = out.len();
    let count = keys.len() / words;
    out.resize(start + HEADER, 0);
    keys[..words].iter().for_each(|word| out.extend_from_slice(&word.to_le_bytes()));
    let widths = if words == 1 { narrow(keys, out) } else { wide(keys, words, out) };
    let length = (out.len() - start - HEADER) as u32;
    let header = &mut out[start..start + HEADER];
    header[..2].copy_from_slice(&(count as u16).to_le_bytes());
    header[2..6].copy_from_slice(&widths);
    header[8..12].copy_from_slice(&length.to_le_bytes());
    let sum = checksum(&out[start..]);
    out[start + 12..start + HEADER].copy_from_slice(&sum.to_le_bytes());
}

/// Bytes of a whole block, from its header.
pub(crate) fn length(header: &[u8]) -> usize {
    HEADER + u32::from_le_bytes([header[8], header[9], header[10], header[11]]) as usize
}

/// Replaces what is in `keys` by the keys of a block; refuses one that is not as it was written.
pub(crate) fn decode(bytes: &[u8], words: usize, keys: &mut Vec<u64>) -> Result<()> {
    keys.clear();
    if bytes.len() < HEADER + words * 8 || length(bytes) != bytes.len() {
        return Err(damaged("a block has another length"));
    }
    let sum = u32::from_le_bytes([bytes[12], bytes[13], bytes[14], bytes[15]]);
    if checksum(bytes) != sum {
        return Err(damaged("a block does not match its checksum"));
    }
    let count = usize::from(u16::from_le_bytes([bytes[0], bytes[1]]));
    let (first, rest) = bytes[HEADER..].split_at(words * 8);
    keys.resize(count * words, 0);
    if count == 0 {
        return Err(damaged("a block is empty"));
    }
    first.chunks_exact(8).zip(keys.iter_mut()).for_each(|(bytes, word)| *word = load(bytes, 0));
    let whole = match words {
        1 => read_narrow([bytes[2], bytes[3], bytes[4], bytes[5]], rest, keys),
        _ => read_wide(rest, words, keys),
    };
    whole.ok_or_else(|| damaged("a block has another length"))
}

/// The checksum of a block without the place where it stands.
fn checksum(block: &[u8]) -> u32 {
    let mut sum = crc32fast::Hasher::new();
    sum.update(&block[..12]);
    sum.update(&block[HEADER..]);
    sum.finalize()
}

#[inline(always)]
fn load(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"))
}

/// Bits of a number.
#[inline(always)]
fn bits(number: u64) -> u32 {
    u64::BITS - number.leading_zeros()
}

/// Appends the differences of keys of one word; their widths.
fn narrow(keys: &[u64], out: &mut Vec<u8>) -> [u8; 4] {
    let mut counts = [0u32; 65];
    let mut is_ascending = true;
    for two in keys.windows(2) {
        is_ascending &= two[0] < two[1];
        counts[bits(two[1].wrapping_sub(two[0]).wrapping_sub(1)) as usize] += 1;
    }
    assert!(is_ascending, "the keys of a run ascend");
    let widths = best_widths(&counts);
    let mut class_of = [0u8; 65];
    let mut class = 0;
    for (width, of) in class_of.iter_mut().enumerate() {
        while class < 3 && width > usize::from(widths[class]) {
            class += 1;
        }
        *of = class as u8;
    }
    let controls = out.len();
    out.resize(controls + (keys.len() - 1).div_ceil(4), 0);
    let (mut waiting, mut held) = (0u128, 0u32);
    for (i, two) in keys.windows(2).enumerate() {
        let difference = two[1] - two[0] - 1;
        let class = class_of[bits(difference) as usize];
        out[controls + i / 4] |= class << (i % 4 * 2);
        waiting |= u128::from(difference) << held;
        held += u32::from(widths[usize::from(class)]);
        while held >= 32 {
            out.extend_from_slice(&(waiting as u32).to_le_bytes());
            waiting >>= 32;
            held -= 32;
        }
    }
    out.extend_from_slice(&waiting.to_le_bytes()[..held.div_ceil(8) as usize]);
    out.extend_from_slice(&[0; PADDING]);
    widths
}

/// The four widths that make the differences shortest, given how many have each number of bits.
fn best_widths(counts: &[u32; 65]) -> [u8; 4] {
    // Widths that occur, and how many differences have at most each.
    let (mut present, mut below, mut len, mut all) = ([0u32; 65], [0u32; 65], 0, 0);
    for (width, &count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
        all += count;
        (present[len], below[len]) = (width as u32, all);
        len += 1;
    }
    if len == 0 {
        return [0; 4];
    }
    // cost[k][j]: bits of the differences up to the j-th width with k + 1 classes, the last of that width; from: the class before.
    let (mut cost, mut from) = ([[u32::MAX; 65]; 4], [[0usize; 65]; 4]);
    for j in 0..len {
        cost[0][j] = below[j] * present[j];
        for k in 1..4.min(j + 1) {
            for i in k - 1..j {
                let with = cost[k - 1][i].saturating_add((below[j] - below[i]) * present[j]);
                if with < cost[k][j] {
                    (cost[k][j], from[k][j]) = (with, i);
                }
            }
        }
    }
    let last = len - 1;
    let mut class = (0..4.min(len)).min_by_key(|&k| cost[k][last]).unwrap_or(0);
    let mut widths = [present[last] as u8; 4];
    let mut at = last;
    while class > 0 {
        at = from[class][at];
        class -= 1;
        widths[class] = present[at] as u8;
    }
    widths
}

/// Reads the differences of keys of one word behind the first.
fn read_narrow(widths: [u8; 4], bytes: &[u8], keys: &mut [u64]) -> Option<()> {
    let widths = widths.map(u32::from);
    let count = keys.len() - 1;
    let (controls, rest) = bytes.split_at_checked(count.div_ceil(4))?;
    let most = widths.iter().max().copied().unwrap_or(0);
    if most > 64 || rest.len() < PADDING {
        return None;
    }
    let mask = |width: u32| if width == 64 { u64::MAX } else { (1 << width) - 1 };
    let masks = widths.map(mask);
    let end = (rest.len() - PADDING) * 8;
    let mut at = 0usize;
    let mut key = keys[0];
    if most <= AT_ONCE {
        for (four, &control) in keys[1..].chunks_mut(4).zip(controls) {
            let mut control = usize::from(control);
            for slot in four {
                let class = control & 3;
                control >>= 2;
                if at > end {
                    return None;
                }
                key = key.wrapping_add((load(rest, at >> 3) >> (at & 7)) & masks[class]).wrapping_add(1);
                at += widths[class] as usize;
                *slot = key;
            }
        }
    } else {
        for (i, slot) in keys[1..].iter_mut().enumerate() {
            let class = usize::from(controls[i / 4] >> (i % 4 * 2) & 3);
            let (low, high) = (widths[class].min(32), widths[class].saturating_sub(32));
            let part = |at: usize, width: u32| -> Option<u64> {
                (at <= end).then(|| (load(rest, at >> 3) >> (at & 7)) & mask(width))
            };
            let difference = part(at, low)? | part(at + low as usize, high)? << 32;
            key = key.wrapping_add(difference).wrapping_add(1);
            at += widths[class] as usize;
            *slot = key;
        }
    }
    (at <= end && end - at < 8).then_some(())
}

/// Appends what differs between neighbours of keys of several words.
fn wide(keys: &[u64], words: usize, out: &mut Vec<u8>) -> [u8; 4] {
    for (before, key) in keys.chunks_exact(words).zip(keys[words..].chunks_exact(words)) {
        assert!(before < key, "the keys of a run ascend");
        for (before, key) in before.chunks(8).zip(key.chunks(8)) {
            let place = out.len();
            out.push(0);
            for (i, (before, key)) in before.iter().zip(key).enumerate().filter(|(_, (before, key))| before != key) {
                out[place] |= 1 << i;
                let bytes = (before ^ key).to_le_bytes();
                let mask = out.len();
                out.push(0);
                for (j, &byte) in bytes.iter().enumerate().filter(|(_, byte)| **byte != 0) {
                    out[mask] |= 1 << j;
                    out.push(byte);
                }
            }
        }
    }
    [0; 4]
}

/// Reads the keys of several words behind the first.
fn read_wide(bytes: &[u8], words: usize, keys: &mut [u64]) -> Option<()> {
    let mut bytes = bytes.iter().copied();
    for at in (words..keys.len()).step_by(words) {
        let (before, keys) = keys.split_at_mut(at);
        let before = &before[at - words..];
        for (before, key) in before.chunks(8).zip(keys[..words].chunks_mut(8)) {
            let changed = bytes.next()?;
            for (i, (before, key)) in before.iter().zip(key).enumerate() {
                *key = *before;
                if changed >> i & 1 == 1 {
                    let mask = bytes.next()?;
                    for j in (0..8).filter(|j| mask >> j & 1 == 1) {
                        *key ^= u64::from(bytes.next()?) << (j * 8);
                    }
                }
            }
        }
    }
    bytes.next().is_none().then_some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_give_their_keys_back() {
        let spread = |n: u64, step: u64| (0..n).map(|i| i * step).collect::<Vec<u64>>();
        let cases: Vec<(usize, Vec<u64>)> = vec![
            (1, vec![0]),
            (1, vec![u64::MAX]),
            (1, vec![0, u64::MAX]),
            (1, vec![0, 1, u64::MAX - 1, u64::MAX]),
            (1, spread(1024, 1)),
            (1, spread(1000, 1 << 40)),
            (1, (0..63).map(|i| 1 << i).collect()),
            (2, vec![0, 0, 0, 1, 5, 0]),
            (9, (0..90).map(|i| if i % 9 == 0 { i } else { i * 77 % 5 }).collect()),
        ];
        for (words, keys) in cases {
            let (mut bytes, mut back) = (vec![7; 3], vec![9; 9]);
            encode(&keys, words, &mut bytes);
            decode(&bytes[3..], words, &mut back).expect("it is whole");
            assert_eq!(back, keys);
        }
    }

    #[test]
    fn a_dense_block_takes_a_quarter_of_a_byte_for_a_key() {
        let mut bytes = Vec::new();
        encode(&(500..1524).collect::<Vec<u64>>(), 1, &mut bytes);
        assert_eq!(bytes.len(), HEADER + 8 + 256 + PADDING);
    }

    /// Differences as they are between random keys take little more than they must: log2 of their mean, and 1.44 bits.
    #[test]
    fn a_random_block_is_near_its_entropy() {
        let (mut seed, mut key, mut keys) = (1u64, 0, Vec::new());
        for _ in 0..1024 {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            let uniform = (seed >> 11) as f64 / (1u64 << 53) as f64;
            key += 1 + (-(1.0 - uniform).ln() * 65_536.0) as u64;
            keys.push(key);
        }
        let mut bytes = Vec::new();
        encode(&keys, 1, &mut bytes);
        let bits = bytes.len() as f64 * 8.0 / 1024.0;
        assert!(bits < 17.44 * 1.09, "{bits}");
    }

    #[test]
    fn every_changed_or_missing_byte_is_refused() {
        for words in [1, 3] {
            let keys: Vec<u64> = (0..300).map(|i| i * i * 31).collect();
            let (mut bytes, mut back) = (Vec::new(), Vec::new());
            encode(&keys, words, &mut bytes);
            for place in 0..bytes.len() {
                bytes[place] ^= 16;
                assert!(decode(&bytes, words, &mut back).is_err(), "{place}");
                bytes[place] ^= 16;
                assert!(decode(&bytes[..place], words, &mut back).is_err(), "{place}");
            }
        }
    }
}

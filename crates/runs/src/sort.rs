//! Sorting keys where they are, and leaving each once.
//!
//! Keys of one word: by their first bits that differ into 256 buckets where they are (American flag sort), until a bucket fits the
//! cache; there from the last bits that differ to the first, with room for a copy. Wider keys: by the standard library.

/// Keys that are sorted with room for a copy.
const CACHED: usize = 1 << 15;
/// Fewer are left to the standard library.
const FEW: usize = 256;

/// How sorting ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sorted {
    /// All is sorted.
    Whole,
    /// It was told not to go on; the keys are in some order.
    Ended,
}

/// Sorts keys of this many words and leaves each once. Between parts that take some milliseconds it asks whether to go on.
pub fn sort_unique(keys: &mut Vec<u64>, words: usize, may_go_on: &mut dyn FnMut() -> bool) -> Sorted {
    if words > 1 {
        return sort_wide(keys, words, may_go_on);
    }
    let mut room = vec![0; keys.len().min(CACHED)];
    if !sort(keys, &mut room, may_go_on) {
        return Sorted::Ended;
    }
    keys.dedup();
    Sorted::Whole
}

/// Sorts keys of one word; false when it was told to end.
fn sort(keys: &mut [u64], room: &mut [u64], may_go_on: &mut dyn FnMut() -> bool) -> bool {
    if keys.len() <= FEW {
        keys.sort_unstable();
        return true;
    }
    let (all, some) = keys.iter().fold((u64::MAX, 0), |(all, some), &key| (all & key, some | key));
    let differing = all ^ some;
    if differing == 0 {
        return true;
    }
    if keys.len() <= room.len() {
        sort_cached(keys, room, differing);
        return true;
    }
    let shift = (u64::BITS - differing.leading_zeros()).saturating_sub(8);
    let ends = into_buckets(keys, shift);
    let mut start = 0;
    for end in ends {
        let bucket = &mut keys[start..end];
        start = end;
        let is_large = bucket.len() > CACHED / 32;
        if (is_large && !may_go_on()) || !sort(bucket, room, may_go_on) {
            return false;
        }
    }
    true
}

/// Moves keys to the buckets of eight bits, where they are; where the buckets end.
fn into_buckets(keys: &mut [u64], shift: u32) -> [usize; 256] {
    let bucket_of = |key: u64| (key >> shift & 255) as usize;
    let mut counts = [0usize; 256];
    keys.iter().for_each(|&key| counts[bucket_of(key)] += 1);
    let (mut next, mut ends, mut end) = ([0; 256], [0; 256], 0);
    for bucket in 0..256 {
        next[bucket] = end;
        end += counts[bucket];
        ends[bucket] = end;
    }
    for bucket in 0..256 {
        while next[bucket] < ends[bucket] {
            let mut key = keys[next[bucket]];
            let mut home = bucket_of(key);
            while home != bucket {
                std::mem::swap(&mut keys[next[home]], &mut key);
                next[home] += 1;
                home = bucket_of(key);
            }
            keys[next[bucket]] = key;
            next[bucket] += 1;
        }
    }
    ends
}

/// Sorts by the bytes that differ, from the last to the first, between `keys` and `room`.
fn sort_cached(keys: &mut [u64], room: &mut [u64], differing: u64) {
    let mut shift = differing.trailing_zeros();
    let room = &mut room[..keys.len()];
    let mut is_here = true;
    while shift < 64 && differing >> shift != 0 {
        let (from, to) = if is_here { (&*keys, &mut *room) } else { (&*room, &mut *keys) };
        let mut places = [0u32; 256];
        from.iter().for_each(|&key| places[(key >> shift & 255) as usize] += 1);
        let mut place = 0;
        for count in &mut places {
            place += std::mem::replace(count, place);
        }
        for &key in from {
            let place = &mut places[(key >> shift & 255) as usize];
            to[*place as usize] = key;
            *place += 1;
        }
        is_here = !is_here;
        shift += 8;
        if shift < 64 {
            // Bits that are the same in all keys are passed over.
            shift += (differing >> shift).trailing_zeros().min(64);
        }
    }
    if !is_here {
        keys.copy_from_slice(room);
    }
}

fn sort_wide(keys: &mut Vec<u64>, words: usize, may_go_on: &mut dyn FnMut() -> bool) -> Sorted {
    match words {
        2 => keys.as_chunks_mut::<2>().0.sort_unstable(),
        3 => keys.as_chunks_mut::<3>().0.sort_unstable(),
        4 => keys.as_chunks_mut::<4>().0.sort_unstable(),
        5 => keys.as_chunks_mut::<5>().0.sort_unstable(),
        6 => keys.as_chunks_mut::<6>().0.sort_unstable(),
        7 => keys.as_chunks_mut::<7>().0.sort_unstable(),
        8 => keys.as_chunks_mut::<8>().0.sort_unstable(),
        _ => {
            // With the first word beside its place, most comparisons do not go to the keys.
            let mut order: Vec<(u64, u32)> = keys.iter().step_by(words).copied().zip(0..).collect();
            let key = |&(_, place): &(u64, u32)| &keys[place as usize * words..(place as usize + 1) * words];
            order.sort_unstable_by(|a, b| a.0.cmp(&b.0).then_with(|| key(a).cmp(key(b))));
            let mut sorted = Vec::with_capacity(keys.len());
            order.iter().for_each(|place| sorted.extend_from_slice(key(place)));
            *keys = sorted;
        }
    }
    if !may_go_on() {
        return Sorted::Ended;
    }
    let mut to = words.min(keys.len());
    for from in (words..keys.len()).step_by(words) {
        if keys[from..from + words] != keys[to - words..to] {
            keys.copy_within(from..from + words, to);
            to += words;
        }
    }
    keys.truncate(to);
    Sorted::Whole
}

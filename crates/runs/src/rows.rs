//! Steps through sorted keys side by side: merging two lists, and taking one away from another. One-word keys have loops of their own,
//! in which no branch depends on a comparison.

/// Appends the keys of both lists, each once.
pub(crate) fn union(a: &[u64], b: &[u64], words: usize, out: &mut Vec<u64>) {
    if words == 1 {
        return union_narrow(a, b, out);
    }
    let (mut i, mut j) = (0, 0);
    while i < a.len() && j < b.len() {
        let (x, y) = (&a[i..i + words], &b[j..j + words]);
        out.extend_from_slice(x.min(y));
        i += if x <= y { words } else { 0 };
        j += if y <= x { words } else { 0 };
    }
    out.extend_from_slice(&a[i..]);
    out.extend_from_slice(&b[j..]);
}

fn union_narrow(a: &[u64], b: &[u64], out: &mut Vec<u64>) {
    let start = out.len();
    out.resize(start + a.len() + b.len(), 0);
    let (mut i, mut j, mut end) = (0, 0, start);
    {
        let out = &mut out[..];
        while i < a.len() && j < b.len() {
            let (x, y) = (a[i], b[j]);
            out[end] = x.min(y);
            end += 1;
            i += usize::from(x <= y);
            j += usize::from(y <= x);
        }
    }
    for rest in [&a[i..], &b[j..]] {
        out[end..end + rest.len()].copy_from_slice(rest);
        end += rest.len();
    }
    out.truncate(end);
}

/// Takes the keys of `block` out of those of `keys` between two places, which are moved up to `to`; stops when either is at its end.
/// The places in both lists, and the end of what was moved.
pub(crate) fn subtract(
    keys: &mut [u64],
    (mut from, mut to): (usize, usize),
    block: &[u64],
    words: usize,
) -> (usize, usize, usize) {
    let mut at = 0;
    if words == 1 {
        while from < keys.len() && at < block.len() {
            let (x, y) = (keys[from], block[at]);
            keys[to] = x;
            to += usize::from(x < y);
            from += usize::from(x <= y);
            at += usize::from(y <= x);
        }
        return (from, to, at);
    }
    while from < keys.len() && at < block.len() {
        let order = keys[from..from + words].cmp(&block[at..at + words]);
        if order.is_lt() {
            keys.copy_within(from..from + words, to);
            to += words;
        }
        from += if order.is_le() { words } else { 0 };
        at += if order.is_ge() { words } else { 0 };
    }
    (from, to, at)
}

/// How many words the keys before the first take that is not less than this one.
pub(crate) fn lower_bound(keys: &[u64], words: usize, key: &[u64]) -> usize {
    partition(keys, words, |other| other < key)
}

/// How many words the keys take that are not greater than this one.
pub(crate) fn upper_bound(keys: &[u64], words: usize, key: &[u64]) -> usize {
    partition(keys, words, |other| other <= key)
}

/// How many words the keys take of which this is true; they come first.
pub(crate) fn partition(keys: &[u64], words: usize, is_before: impl Fn(&[u64]) -> bool) -> usize {
    let (mut low, mut high) = (0, keys.len() / words);
    while low < high {
        let middle = low + (high - low) / 2;
        if is_before(&keys[middle * words..(middle + 1) * words]) { low = middle + 1 } else { high = middle }
    }
    low * words
}

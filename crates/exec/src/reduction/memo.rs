//! The sets that were chosen before: a set depends on which transitions are enabled and which conditions are true, and most states
//! differ in other things. A table of fixed size, in which what comes later takes the place of what was there.

/// Entries; and words of all of them, at the most.
const ENTRIES: usize = 1 << 12;
const MOST_WORDS: usize = 1 << 17;

/// Sets of words by keys of words.
#[derive(Debug, Default)]
pub(super) struct Memo {
    /// Words of a key, and of a set.
    key: usize,
    set: usize,
    /// Key, set and whether it has fewer than all enabled transitions, entry by entry.
    words: Vec<u64>,
    /// The place of the key that was asked for last.
    at: usize,
}

/// The last word of an entry.
const VACANT: u64 = 0;
const ALL: u64 = 1;
const REDUCED: u64 = 2;

impl Memo {
    /// Forgets everything; keys and sets have so many words from now on.
    pub(super) fn reset(&mut self, key: usize, set: usize) {
        (self.key, self.set) = (key, set);
        let entry = key + set + 1;
        let entries = ENTRIES.min((MOST_WORDS / entry + 1).next_power_of_two() / 2).max(1);
        self.words.clear();
        self.words.resize(entries * entry, VACANT);
    }

    /// The set of a key, and whether it has fewer than all enabled transitions; the parts of the key are one behind the other.
    #[inline]
    pub(super) fn find(&mut self, parts: [&[u64]; 2]) -> Option<(&[u64], bool)> {
        let entry = self.key + self.set + 1;
        let mut hash = 0u64;
        for &word in parts.iter().copied().flatten() {
            hash = (hash.rotate_left(5) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        }
        let entries = self.words.len() / entry;
        self.at = ((hash >> 40) as usize & (entries - 1)) * entry;
        let found = &self.words[self.at..self.at + entry];
        let (first, rest) = found.split_at(parts[0].len());
        let (second, rest) = rest.split_at(parts[1].len());
        let is_it = first == parts[0] && second == parts[1] && rest[self.set] != VACANT;
        is_it.then(|| (&rest[..self.set], rest[self.set] == REDUCED))
    }

    /// Notes the set of the key that was asked for last.
    pub(super) fn note(&mut self, parts: [&[u64]; 2], set: &[u64], is_reduced: bool) {
        let words = parts.into_iter().flatten().chain(set).copied().chain([if is_reduced { REDUCED } else { ALL }]);
        self.words[self.at..].iter_mut().zip(words).for_each(|(to, from)| *to = from);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// What is found is what was noted for the same key, however many keys share a place.
    #[test]
    fn sets_are_those_of_their_keys() {
        let mut memo = Memo::default();
        for (key, set) in [(2, 1), (70, 64), (100_000, 3)] {
            memo.reset(2 * key, set);
            let (mut found, mut random) = (0, Random::new(key as u64));
            for _ in 0..20_000.min(4_000_000 / key) {
                let number = random.below(if key < 100 { 5_000 } else { 2 }) as u64;
                let (enabled, atoms) = (vec![number % 7; key], vec![number; key]);
                let parts = [&enabled[..], &atoms[..]];
                match memo.find(parts) {
                    Some((words, is_reduced)) => {
                        found += 1;
                        assert_eq!((words, is_reduced), (&vec![number * 3; set][..], number.is_multiple_of(2)));
                    }
                    None => memo.note(parts, &vec![number * 3; set], number.is_multiple_of(2)),
                }
            }
            assert!(found > 0, "nothing was found again");
            memo.reset(2 * key, set);
            assert!(memo.find([&vec![0; key], &vec![0; key]]).is_none(), "what was forgotten is not found");
        }
    }
}

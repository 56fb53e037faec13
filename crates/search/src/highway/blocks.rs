//! States in blocks that never move: room for more needs no copy, and what workers noted is put together by moving blocks.

/// States in a block.
const PER_BLOCK: usize = 1024;
/// Blocks with more words grow with what is in them.
const MANY_WORDS: usize = 1 << 20;

/// States by number. Numbers rise, but not always by one.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    used: Vec<Vec<u32>>,
    /// Empty ones, which have their memory.
    spare: Vec<Vec<u32>>,
}

impl Blocks {
    /// The number of a state that is added.
    #[inline]
    pub(super) fn push(&mut self, state: &[u32]) -> u32 {
        if self.used.last().is_none_or(|block| block.len() == PER_BLOCK * state.len()) {
            self.begin(state.len());
        }
        let last = self.used.len() - 1;
        let block = &mut self.used[last];
        let number = last * PER_BLOCK + block.len() / state.len();
        block.extend_from_slice(state);
        number as u32
    }

    #[cold]
    fn begin(&mut self, words: usize) {
        let mut block = self.spare.pop().unwrap_or_default();
        // The first grows with what is in it, too: there may be few states, and they may be long.
        if !self.used.is_empty() && PER_BLOCK * words <= MANY_WORDS {
            block.reserve_exact(PER_BLOCK * words);
        }
        self.used.push(block);
    }

    pub(super) fn get(&self, number: u32, words: usize) -> &[u32] {
        let (block, place) = (number as usize / PER_BLOCK, number as usize % PER_BLOCK);
        &self.used[block][place * words..(place + 1) * words]
    }

    /// Takes all states of others; how much larger their numbers are now.
    pub(super) fn take(&mut self, others: &mut Blocks) -> u32 {
        let before = self.used.len() * PER_BLOCK;
        self.used.append(&mut others.used);
        before as u32
    }

    /// Forgets all states; the memory for up to twice as many is kept.
    pub(super) fn clear(&mut self) {
        let used = self.used.len();
        self.used.iter_mut().for_each(Vec::clear);
        self.spare.append(&mut self.used);
        self.spare.truncate(used * 2);
    }

    /// Gives the memory that is kept to others, in equal parts.
    pub(super) fn lend<'b>(&mut self, others: impl ExactSizeIterator<Item = &'b mut Blocks>) {
        let share = self.spare.len().div_ceil(others.len().max(1));
        for other in others {
            let rest = self.spare.len().saturating_sub(share);
            other.spare.extend(self.spare.drain(rest..));
        }
    }

    pub(super) fn bytes(&self) -> u64 {
        self.used.iter().chain(&self.spare).map(|block| block.capacity() as u64 * 4).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against plain lists, while states are added, moved, forgotten and memory is lent.
    #[test]
    fn states_keep_their_numbers() {
        let mut random = birk_exec::Random::new(11);
        for words in 1..4 {
            let mut blocks = [Blocks::default(), Blocks::default()];
            let mut lists: [Vec<(u32, Vec<u32>)>; 2] = Default::default();
            for round in 0..400u32 {
                let (here, there) = (random.below(2), random.below(40));
                match there {
                    0 => {
                        blocks[here].clear();
                        lists[here].clear();
                    }
                    1 => {
                        let [one, other] = &mut blocks;
                        let more = one.take(other);
                        let moved: Vec<_> = lists[1].drain(..).map(|(number, state)| (number + more, state)).collect();
                        lists[0].extend(moved);
                    }
                    2 => {
                        let [one, other] = &mut blocks;
                        let before = one.bytes() + other.bytes();
                        one.lend([&mut *other].into_iter());
                        assert_eq!(one.bytes() + other.bytes(), before);
                    }
                    _ => {
                        for more in 0..random.below(300) as u32 {
                            let state: Vec<u32> = (0..words).map(|word| round * 1000 + more + word).collect();
                            lists[here].push((blocks[here].push(&state), state));
                        }
                    }
                }
                for (blocks, list) in blocks.iter().zip(&lists) {
                    assert!(list.windows(2).all(|pair| pair[0].0 < pair[1].0));
                    assert!(list.iter().all(|(number, state)| blocks.get(*number, words as usize) == state));
                }
            }
        }
    }
}

//! Where each variable lives in the bit-packed vector of 32-bit words.
//!
//! No element straddles a word. A value is stored as its distance from the lower bound, in as many bits as
//! its range needs (none, when the range is one value). Arrays longer than a word get words of their own,
//! with as many elements to a word as fit; everything else is placed first-fit, widest first.

use crate::ids::VarId;
use crate::program::Variable;

/// The place of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    /// Word of element 0.
    pub word: u32,
    /// Bit of element 0 in that word.
    pub shift: u32,
    /// Bits of one element, 0 to 32.
    pub bits: u32,
    /// Elements to a word (1 for scalars).
    pub per_word: u32,
    /// Number of elements.
    pub len: u32,
    /// What a stored 0 means.
    pub lo: i64,
}

impl Slot {
    /// Word and shift of an element.
    #[inline]
    pub fn position(&self, element: u32) -> (usize, u32) {
        let word = element / self.per_word;
        ((self.word + word) as usize, self.shift + (element - word * self.per_word) * self.bits)
    }

    /// The bits of one element, at shift 0.
    #[inline]
    pub fn mask(&self) -> u32 {
        ((1u64 << self.bits) - 1) as u32
    }

    /// Reads an element.
    #[inline]
    pub fn get(&self, state: &[u32], element: u32) -> i64 {
        if self.bits == 0 {
            return self.lo;
        }
        let (word, shift) = self.position(element);
        i64::from((state[word] >> shift) & self.mask()) + self.lo
    }

    /// Writes an element; the value is in the variable's range.
    #[inline]
    pub fn set(&self, state: &mut [u32], element: u32, value: i64) {
        if self.bits == 0 {
            return;
        }
        let (word, shift) = self.position(element);
        let mask = self.mask() << shift;
        state[word] = (state[word] & !mask) | (((value - self.lo) as u32) << shift) & mask;
    }
}

/// The places of all variables.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Layout {
    slots: Vec<Slot>,
    /// Bits taken in each word, from bit 0 on.
    used: Vec<u32>,
}

/// What the layout needs to know of a variable: its range and how many elements it has.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Smallest value.
    pub lo: i64,
    /// Largest value.
    pub hi: i64,
    /// Number of elements.
    pub len: u32,
}

impl Layout {
    /// Places these variables.
    pub fn of(variables: &[Variable]) -> Self {
        let shape = |variable: &Variable| Shape { lo: variable.lo, hi: variable.hi, len: variable.len() };
        Self::pack(&variables.iter().map(shape).collect::<Vec<_>>())
    }

    /// Places variables of these shapes.
    pub fn pack(shapes: &[Shape]) -> Self {
        let width = |s: &Shape| 64 - ((s.hi - s.lo) as u64).leading_zeros();
        let mut order: Vec<usize> = (0..shapes.len()).collect();
        order.sort_by_key(|&i| std::cmp::Reverse(u64::from(width(&shapes[i])) * u64::from(shapes[i].len)));
        let mut used: Vec<u32> = Vec::new();
        // Words before this one are full: keeps first-fit linear on thousands of variables.
        let mut first_open = 0;
        let empty = Slot { word: 0, shift: 0, bits: 0, per_word: 1, len: 1, lo: 0 };
        let mut slots = vec![empty; shapes.len()];
        for i in order {
            let (bits, len, lo) = (width(&shapes[i]), shapes[i].len, shapes[i].lo);
            let mut slot = Slot { bits, len, lo, ..empty };
            if bits == 0 {
                slot.per_word = len.max(1);
            } else if u64::from(bits) * u64::from(len) <= 32 {
                let total = bits * len;
                while first_open < used.len() && used[first_open] == 32 {
                    first_open += 1;
                }
                let word = (first_open..used.len()).find(|&w| used[w] + total <= 32).unwrap_or(used.len());
                if word == used.len() {
                    used.push(0);
                }
                (slot.word, slot.shift, slot.per_word) = (word as u32, used[word], len.max(1));
                used[word] += total;
            } else {
                slot.per_word = 32 / bits;
                slot.word = used.len() as u32;
                let words = len.div_ceil(slot.per_word);
                used.extend((1..words).map(|_| 32));
                used.push((len - (words - 1) * slot.per_word) * bits);
            }
            slots[i] = slot;
        }
        Self { slots, used }
    }

    /// Length of a state in words; at least 1, so that a state without variables is still a state.
    pub fn words(&self) -> usize {
        self.used.len().max(1)
    }

    /// How many bits of a word, from bit 0 on, can be other than 0.
    pub fn used_bits(&self, word: usize) -> u32 {
        self.used.get(word).copied().unwrap_or(0)
    }

    /// Bits that carry information.
    pub fn bits(&self) -> u64 {
        self.slots.iter().map(|s| u64::from(s.bits) * u64::from(s.len)).sum()
    }

    /// The place of a variable.
    #[inline]
    pub fn slot(&self, variable: VarId) -> &Slot {
        &self.slots[variable.index()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_element_keeps_its_value_whatever_else_is_written() {
        let shapes = [
            Shape { lo: 0, hi: 1, len: 1 },
            Shape { lo: i64::from(i32::MIN), hi: i64::from(i32::MAX), len: 2 },
            Shape { lo: -3, hi: 3, len: 40 },
            Shape { lo: 5, hi: 5, len: 7 },
            Shape { lo: 0, hi: 255, len: 3 },
            Shape { lo: 0, hi: 16, len: 1 },
        ];
        let layout = Layout::pack(&shapes);
        let mut state = vec![0; layout.words()];
        let value = |v: usize, e: u32| {
            let s = shapes[v];
            s.lo + i64::from(e.wrapping_mul(2_654_435_761) ^ v as u32).rem_euclid(s.hi - s.lo + 1)
        };
        for (v, shape) in shapes.iter().enumerate() {
            for e in 0..shape.len {
                layout.slot(VarId::new(v)).set(&mut state, e, value(v, e));
            }
        }
        for (v, shape) in shapes.iter().enumerate() {
            for e in 0..shape.len {
                assert_eq!(layout.slot(VarId::new(v)).get(&state, e), value(v, e), "variable {v} element {e}");
            }
        }
        assert_eq!(layout.bits(), 1 + 64 + 40 * 3 + 24 + 5);
        for (word, &value) in state.iter().enumerate() {
            assert_eq!(u64::from(value) >> layout.used_bits(word), 0, "word {word}");
        }
    }

    #[test]
    fn small_variables_share_a_word() {
        let layout = Layout::pack(&[Shape { lo: 0, hi: 3, len: 1 }; 16]);
        assert_eq!(layout.words(), 1);
    }
}

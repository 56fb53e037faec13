//! Small states are their own keys: the used bits of their words, side by side.

use birk_engine::{Model, Successors};

use super::Codec;

/// States whose used bits fit a key.
#[derive(Debug)]
pub(crate) struct Direct {
    /// Bits of each word.
    widths: Vec<u32>,
    bits: u32,
}

impl Direct {
    /// For the states of a model; `None` when they have more than this many bits.
    pub(crate) fn new(model: &dyn Model, most: u32) -> Option<Self> {
        let mut widths = vec![0; model.words()];
        for field in model.fields() {
            let width = &mut widths[field.word as usize];
            *width = field.bits.saturating_add(field.shift).max(*width);
        }
        let bits: u64 = widths.iter().map(|&width| u64::from(width)).sum();
        (bits <= u64::from(most)).then(|| Self { bits: (bits as u32).max(1), widths })
    }

    /// Where the first bit of a word goes.
    pub(super) fn starts(&self) -> impl Iterator<Item = u32> {
        self.widths.iter().scan(0, |at, width| Some(std::mem::replace(at, *at + width)))
    }

    #[inline]
    pub(crate) fn pack(&self, state: &[u32]) -> u64 {
        let (mut key, mut at) = (0, 0);
        for (&word, &width) in state.iter().zip(&self.widths) {
            key |= u64::from(word).wrapping_shl(at);
            at += width;
        }
        key
    }

    /// Appends the keys of the successors in a batch from one on, with a loop of its own for each short length.
    #[inline]
    pub(crate) fn pack_all(&self, batch: &Successors, from: usize, keys: &mut Vec<u64>) {
        let states = batch.states(from);
        match self.widths[..] {
            [_] => keys.extend(states.iter().map(|&word| u64::from(word))),
            [a, _] => {
                let (states, _) = states.as_chunks();
                keys.extend(states.iter().map(|&[x, y]| u64::from(x) | u64::from(y).wrapping_shl(a)));
            }
            [a, b, _] => {
                let (states, _) = states.as_chunks();
                let key = |&[x, y, z]: &[u32; 3]| {
                    u64::from(x) | u64::from(y).wrapping_shl(a) | u64::from(z).wrapping_shl(a + b)
                };
                keys.extend(states.iter().map(key));
            }
            _ => keys.extend(states.chunks_exact(self.widths.len()).map(|state| self.pack(state))),
        }
    }

    /// Writes the state of a key.
    #[inline]
    pub(crate) fn unpack(&self, mut key: u64, state: &mut [u32]) {
        for (word, &width) in state.iter_mut().zip(&self.widths) {
            *word = (key & ((1 << width) - 1)) as u32;
            key = key.wrapping_shr(width);
        }
    }
}

impl Codec for Direct {
    type Parent = ();

    fn parent(&self) {}

    fn bits(&self) -> u32 {
        self.bits
    }

    fn packed_words(&self) -> usize {
        2
    }

    #[inline]
    fn open(&self, packed: &[u32], (): &mut (), state: &mut [u32]) {
        self.unpack(u64::from(packed[0]) | u64::from(packed[1]) << 32, state);
    }

    #[inline]
    fn key(&self, state: &[u32], (): &mut ()) -> Option<u64> {
        Some(self.pack(state))
    }

    #[inline]
    fn keys(&self, batch: &Successors, from: usize, (): &mut (), keys: &mut Vec<u64>) -> bool {
        self.pack_all(batch, from, keys);
        true
    }

    fn known_key(&self, state: &[u32], (): &mut ()) -> Option<u64> {
        Some(self.pack(state))
    }

    fn is_packed_state(&self, packed: &[u32]) -> bool {
        self.is_key(u64::from(packed[0]) | u64::from(packed[1]) << 32)
    }

    fn is_key(&self, key: u64) -> bool {
        self.bits == 64 || key >> self.bits == 0
    }

    #[inline]
    fn push_packed(&self, key: u64, _: &[u32], out: &mut Vec<u32>) {
        out.extend_from_slice(&[key as u32, (key >> 32) as u32]);
    }
}

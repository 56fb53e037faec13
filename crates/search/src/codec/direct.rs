//! Small states are their own keys: the used bits of their words, side by side.

use birk_exec::Model;

use super::Codec;

/// States whose used bits fit a key.
#[derive(Debug)]
pub(crate) struct Direct {
    /// Bits of each word.
    widths: Vec<u32>,
    bits: u32,
}

impl Direct {
    /// States of up to this many bits are their own keys: in a large table their slots have four bytes.
    pub(crate) const SMALL_STATE: u32 = 46;

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

    #[inline]
    fn pack(&self, state: &[u32]) -> u64 {
        let (mut key, mut at) = (0, 0);
        for (&word, &width) in state.iter().zip(&self.widths) {
            key |= u64::from(word).wrapping_shl(at);
            at += width;
        }
        key
    }
}

impl Codec for Direct {
    type Parent = ();

    fn parent(&self) {}

    fn bits(&self) -> u32 {
        self.bits
    }

    fn ticket_words(&self) -> usize {
        2
    }

    #[inline]
    fn open(&self, ticket: &[u32], (): &mut (), state: &mut [u32]) {
        let mut key = u64::from(ticket[0]) | u64::from(ticket[1]) << 32;
        for (word, &width) in state.iter_mut().zip(&self.widths) {
            *word = (key & ((1 << width) - 1)) as u32;
            key >>= width;
        }
    }

    #[inline]
    fn key(&self, state: &[u32], (): &mut ()) -> Option<u64> {
        Some(self.pack(state))
    }

    fn known_key(&self, state: &[u32], (): &mut ()) -> Option<u64> {
        Some(self.pack(state))
    }

    #[inline]
    fn ticket(&self, key: u64, _: &[u32], out: &mut Vec<u32>) {
        out.extend_from_slice(&[key as u32, (key >> 32) as u32]);
    }
}

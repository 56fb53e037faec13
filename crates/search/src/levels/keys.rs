//! Canonical keys: the bits of a state that can be other than 0, side by side. They mean the same in every process, so they can be
//! written to files.

use birk_engine::{Model, Successors};

use crate::store::codec::direct::Direct;

/// Turns states into keys of so many words and back.
#[derive(Debug)]
pub struct Keys(Kind);

#[derive(Debug)]
enum Kind {
    /// States of up to 64 bits.
    Narrow(Direct),
    /// Others: for each word of a state its first bit in the key, and how many bits it has.
    Wide { places: Vec<(usize, u32)>, words: usize },
}

impl Keys {
    /// For the states of a model.
    pub fn new(model: &dyn Model) -> Self {
        if let Some(direct) = Direct::new(model, 64) {
            return Keys(Kind::Narrow(direct));
        }
        let mut widths = vec![0; model.words()];
        for field in model.fields() {
            let width: &mut u32 = &mut widths[field.word as usize];
            *width = field.bits.saturating_add(field.shift).max(*width);
        }
        let mut bits = 0;
        let mut places = Vec::with_capacity(widths.len());
        for width in widths {
            places.push((bits, width));
            bits += width as usize;
        }
        Keys(Kind::Wide { places, words: bits.div_ceil(64) })
    }

    /// Words of a key.
    pub fn words(&self) -> usize {
        match &self.0 {
            Kind::Narrow(_) => 1,
            Kind::Wide { words, .. } => *words,
        }
    }

    /// Appends the keys of the states in a batch from one on.
    #[inline]
    pub fn pack_all(&self, batch: &Successors, from: usize, keys: &mut Vec<u64>) {
        match &self.0 {
            Kind::Narrow(direct) => direct.pack_all(batch, from, keys),
            Kind::Wide { .. } => (from..batch.len()).for_each(|i| self.pack(batch.state(i), keys)),
        }
    }

    /// Appends the keys of the states in a batch, which are successors of one with this key: most of its bits are theirs, too.
    pub fn pack_successors(&self, (key, state): (&[u64], &[u32]), batch: &Successors, keys: &mut Vec<u64>) {
        let Kind::Wide { places, .. } = &self.0 else { return self.pack_all(batch, 0, keys) };
        for i in 0..batch.len() {
            let start = keys.len();
            keys.extend_from_slice(key);
            let key = &mut keys[start..];
            for ((&new, &old), &(at, width)) in batch.state(i).iter().zip(state).zip(places) {
                if new != old {
                    let (index, shift, change) = (at / 64, at as u32 % 64, u64::from(new ^ old));
                    key[index] ^= change << shift;
                    if shift + width > 64 {
                        key[index + 1] ^= change >> (64 - shift);
                    }
                }
            }
            debug_assert!(self.is_packed(batch.state(i), &keys[start..]), "a change of a key is that of its state");
        }
    }

    fn is_packed(&self, state: &[u32], key: &[u64]) -> bool {
        let mut packed = Vec::new();
        self.pack(state, &mut packed);
        packed == key
    }

    /// Appends the key of a state.
    pub fn pack(&self, state: &[u32], keys: &mut Vec<u64>) {
        let Kind::Wide { places, words } = &self.0 else {
            let Kind::Narrow(direct) = &self.0 else { unreachable!("there are two kinds") };
            return keys.push(direct.pack(state));
        };
        let start = keys.len();
        keys.resize(start + words, 0);
        let key = &mut keys[start..];
        for (&word, &(at, width)) in state.iter().zip(places) {
            let (index, shift) = (at / 64, at as u32 % 64);
            if width > 0 {
                key[index] |= u64::from(word) << shift;
                if shift + width > 64 {
                    key[index + 1] |= u64::from(word) >> (64 - shift);
                }
            }
        }
    }

    /// Writes the state of a key.
    #[inline]
    pub fn unpack(&self, key: &[u64], state: &mut [u32]) {
        match &self.0 {
            Kind::Narrow(direct) => direct.unpack(key[0], state),
            Kind::Wide { places, .. } => {
                for (word, &(at, width)) in state.iter_mut().zip(places) {
                    let (index, shift) = (at / 64, at as u32 % 64);
                    let mut bits = 0;
                    if width > 0 {
                        bits = key[index] >> shift;
                        if shift + width > 64 {
                            bits |= key[index + 1] << (64 - shift);
                        }
                    }
                    *word = (bits & ((1 << width) - 1)) as u32;
                }
            }
        }
    }
}

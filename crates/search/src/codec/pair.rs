//! States of up to 64 bits as pairs of numbers: tree compression with one level.
//!
//! The bits of a state are gathered so that those that change together lie side by side, and cut in the middle; each half
//! gets a number, and the two numbers are the key, which is much shorter than the state where threads are nearly
//! independent. Gathering is linear, so it is a table look-up for each byte. Tickets are the gathered bits themselves.

use birk_exec::Model;

use super::numbers::Numbers;
use super::{Codec, FIRST_WIDTH, Growth};

/// A run of bits: where they are in the state, and where they go.
#[derive(Clone, Copy, Debug)]
struct Run {
    word: usize,
    shift: u32,
    bits: u32,
    at: u32,
}

/// A byte of a state that has used bits, with the gathered bits for each of its values.
#[derive(Debug)]
struct Byte {
    word: usize,
    shift: u32,
    gathered: Box<[u64; 256]>,
}

/// Pairs of numbers.
#[derive(Debug)]
pub(crate) struct Pair {
    bytes: Vec<Byte>,
    spread: Spread,
    /// Bits of the lower half.
    middle: u32,
    halves: [Numbers; 2],
    /// Bits for each half in a key.
    widths: [u32; 2],
}

impl Pair {
    /// For the states of a model; `None` when they have more than 64 bits.
    pub(crate) fn new(model: &dyn Model) -> Option<Self> {
        let mut runs = Vec::new();
        let mut total = 0u32;
        let mut ends = Vec::new();
        for field in model.fields() {
            runs.push(Run { word: field.word as usize, shift: field.shift, bits: field.bits, at: total });
            total = total.checked_add(field.bits).filter(|&total| total <= 64)?;
            ends.push(total);
        }
        // Between two fields where that is possible, as near to the middle as possible.
        let fits = |&end: &u32| end <= 32 && total - end <= 32;
        let middle = ends.into_iter().filter(fits).min_by_key(|&end| end.abs_diff(total / 2)).unwrap_or(total / 2);
        let bytes = (0..model.words() * 4).filter_map(|byte| Byte::new(&runs, byte / 4, byte as u32 % 4 * 8)).collect();
        let halves = [Numbers::new(), Numbers::new()];
        Some(Self { spread: Spread::new(&runs, model.words()), bytes, middle, halves, widths: [FIRST_WIDTH; 2] })
    }

    #[inline]
    fn gather(&self, state: &[u32]) -> u64 {
        let mut gathered = 0;
        for byte in &self.bytes {
            gathered |= byte.gathered[(state[byte.word] >> byte.shift & 255) as usize];
        }
        gathered
    }

    /// The two halves of gathered bits.
    #[inline]
    fn cut(&self, gathered: u64) -> [u32; 2] {
        [(gathered & ((1 << self.middle) - 1)) as u32, (gathered >> self.middle) as u32]
    }

    /// The key of two numbers, if they fit the widths.
    #[inline]
    fn pack(&self, low: Option<u32>, high: Option<u32>) -> Option<u64> {
        let (low, high) = (u64::from(low?), u64::from(high?));
        (low >> self.widths[0] == 0 && high >> self.widths[1] == 0).then_some(low | high << self.widths[0])
    }
}

impl Byte {
    /// `None` when no run has bits in it.
    fn new(runs: &[Run], word: usize, shift: u32) -> Option<Self> {
        let gather = |value: u64| {
            let bits = value << shift;
            let of = |run: &&Run| run.word == word;
            runs.iter().filter(of).map(|run| (bits >> run.shift & ((1 << run.bits) - 1)) << run.at).sum::<u64>()
        };
        (gather(255) != 0).then(|| Self {
            word,
            shift,
            gathered: Box::new(std::array::from_fn(|value| gather(value as u64))),
        })
    }
}

/// How gathered bits become a state again.
#[derive(Debug)]
enum Spread {
    /// States of up to four words: what each value of each of the eight bytes adds to all of them.
    Bytes(Box<[[u128; 256]; 8]>),
    /// Longer ones, which have few bits in a word.
    Runs(Vec<Run>),
}

impl Spread {
    fn new(runs: &[Run], words: usize) -> Self {
        if words > 4 {
            return Spread::Runs(runs.to_vec());
        }
        let spread = |gathered: u64| {
            let of =
                |run: &Run| u128::from((gathered >> run.at & ((1 << run.bits) - 1)) << run.shift) << (32 * run.word);
            runs.iter().map(of).sum::<u128>()
        };
        let table = |byte: usize| std::array::from_fn(|value| spread((value as u64) << (8 * byte)));
        Spread::Bytes(Box::new(std::array::from_fn(table)))
    }

    #[inline]
    fn state(&self, gathered: u64, state: &mut [u32]) {
        match self {
            Spread::Bytes(tables) => {
                let bytes = gathered.to_le_bytes();
                let all = tables.iter().zip(bytes).fold(0, |all, (table, byte)| all | table[usize::from(byte)]);
                for (word, out) in state.iter_mut().enumerate() {
                    *out = (all >> (32 * word)) as u32;
                }
            }
            Spread::Runs(runs) => {
                state.fill(0);
                for run in runs {
                    state[run.word] |= ((gathered >> run.at & ((1 << run.bits) - 1)) << run.shift) as u32;
                }
            }
        }
    }
}

fn width_of(half: &Numbers) -> u32 {
    half.room().ilog2()
}

impl Codec for Pair {
    type Parent = ();

    const GROWS: bool = true;

    fn parent(&self) {}

    fn bits(&self) -> u32 {
        self.widths[0] + self.widths[1]
    }

    fn ticket_words(&self) -> usize {
        2
    }

    #[inline]
    fn open(&self, ticket: &[u32], (): &mut (), state: &mut [u32]) {
        self.spread.state(u64::from(ticket[0]) | u64::from(ticket[1]) << 32, state);
    }

    #[inline]
    fn key(&self, state: &[u32], (): &mut ()) -> Option<u64> {
        let [low, high] = self.cut(self.gather(state));
        self.pack(self.halves[0].number(low), self.halves[1].number(high))
    }

    fn known_key(&self, state: &[u32], (): &mut ()) -> Option<u64> {
        let [low, high] = self.cut(self.gather(state));
        self.pack(self.halves[0].find(low), self.halves[1].find(high))
    }

    #[inline]
    fn ticket(&self, _: u64, state: &[u32], out: &mut Vec<u32>) {
        let gathered = self.gather(state);
        out.extend_from_slice(&[gathered as u32, (gathered >> 32) as u32]);
    }

    fn bytes(&self) -> u64 {
        self.halves.iter().map(Numbers::bytes).sum()
    }

    fn bytes_after_growth(&self) -> u64 {
        self.halves.iter().map(|half| half.bytes() * if half.is_full() { 2 } else { 1 }).sum()
    }

    fn grow(&mut self) -> Growth {
        for half in &mut self.halves {
            if half.is_full() && !half.grow() {
                return Growth::Failed;
            }
        }
        super::widen(&mut self.widths, [0, 1].map(|half| width_of(&self.halves[half])))
    }
}

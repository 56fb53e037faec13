//! The fields of a state, gathered into groups of at most 32 bits and back.
//!
//! Gathering is linear: the groups of a successor are those of its parent with the differing bits exchanged, so only bits
//! that changed are moved.

use birk_exec::Model;
use birk_ir::Field;

/// Bits of a word that lie side by side in a group too.
#[derive(Clone, Copy, Debug)]
struct Run {
    word: u32,
    shift: u32,
    bits: u32,
    group: u32,
    at: u32,
}

impl Run {
    #[inline]
    fn mask(&self) -> u32 {
        (u64::MAX >> (64 - self.bits)) as u32
    }
}

/// Where each bit of a state goes.
#[derive(Debug, Default)]
pub(crate) struct Packing {
    words: usize,
    runs: Vec<Run>,
    /// For each bit of each word, its run.
    run_of: Vec<[u16; 32]>,
    /// Bits of each group.
    widths: Vec<u32>,
}

impl Packing {
    /// Gathers the fields of a model, in their order, into groups of about equal width.
    pub(crate) fn new(model: &dyn Model) -> Self {
        let fields = model.fields();
        let total: u32 = fields.iter().map(|field| field.bits).sum();
        let width = total.div_ceil(total.div_ceil(32).max(1));
        let mut packing = Self {
            words: model.words(),
            runs: Vec::new(),
            run_of: vec![[u16::MAX; 32]; model.words()],
            widths: vec![0],
        };
        for field in fields {
            packing.place(field, width);
        }
        packing.runs.sort_by_key(|run| (run.word, run.shift));
        packing.runs = merge(&packing.runs);
        for (number, run) in packing.runs.iter().enumerate() {
            for bit in run.shift..run.shift + run.bits {
                packing.run_of[run.word as usize][bit as usize] =
                    u16::try_from(number).expect("states have fewer than 65,536 runs of bits");
            }
        }
        packing
    }

    /// Puts a field into the last group, or into a new one: before the usual width is exceeded by more than it lacks.
    fn place(&mut self, field: Field, usual: u32) {
        let at = *self.widths.last().expect("there is a group");
        let after = at + field.bits;
        if at > 0 && (after > 32 || after > usual && after - usual > usual.saturating_sub(at)) {
            self.widths.push(0);
        }
        let group = self.widths.len() - 1;
        let at = self.widths[group];
        let Field { word, shift, bits } = field;
        self.runs.push(Run { word, shift, bits, group: group as u32, at });
        self.widths[group] += bits;
    }

    /// How many groups there are.
    pub(crate) fn groups(&self) -> usize {
        self.widths.len()
    }

    /// Renames the groups: from now on they are at these places.
    pub(crate) fn move_groups(&mut self, places: &[usize]) {
        for run in &mut self.runs {
            run.group = places[run.group as usize] as u32;
        }
    }

    /// Moves the bits in which a word differs to the groups; tells which groups they are.
    #[inline]
    pub(crate) fn exchange(
        &self,
        word: usize,
        mut differing: u32,
        groups: &mut [u32],
        mut touched: impl FnMut(usize, u32),
    ) {
        while differing != 0 {
            let number = self.run_of[word][differing.trailing_zeros() as usize];
            let run = &self.runs[number as usize];
            let group = run.group as usize;
            touched(group, groups[group]);
            groups[group] ^= (differing >> run.shift & run.mask()) << run.at;
            differing &= !(run.mask() << run.shift);
        }
    }

    /// Writes the state of some groups.
    #[inline]
    pub(crate) fn spread(&self, groups: &[u32], state: &mut [u32]) {
        state[..self.words].fill(0);
        for run in &self.runs {
            state[run.word as usize] |= (groups[run.group as usize] >> run.at & run.mask()) << run.shift;
        }
    }
}

/// Joins runs that continue each other on both sides.
fn merge(runs: &[Run]) -> Vec<Run> {
    let mut merged: Vec<Run> = Vec::new();
    for &run in runs {
        match merged.last_mut() {
            Some(last)
                if (last.word, last.group) == (run.word, run.group)
                    && last.shift + last.bits == run.shift
                    && last.at + last.bits == run.at =>
            {
                last.bits += run.bits;
            }
            _ => merged.push(run),
        }
    }
    merged
}

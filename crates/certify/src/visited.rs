//! The first kind of certificate: the states that a complete search has visited.
//!
//! A state is a key: the values of its elements, each as its distance from the lower bound in as many bits as its range needs, side by
//! side, the first the highest. The keys are sorted. Each is written as the number of bytes that it begins with in common with the one
//! before, and the bytes behind them.
//!
//! The set proves that nothing else can be reached, if all initial states are in it and no step leads out of it; the checker takes every
//! step of every member. In memory, it has the bytes of all keys side by side, and looks keys up by binary search.

use std::cmp::Ordering;

use birk_ir::{Expr, Program};

use crate::evaluate::Evaluator;
use crate::file::{Opened, line, unfit};
use crate::{Evidence, MayGoOn, Refusal, notation};

/// How many members are examined before the caller is asked whether to go on.
const PATIENCE: usize = 1 << 12;

/// How the states of a program are keys.
#[derive(Clone, Debug)]
pub struct Keys {
    /// Of each element: the bounds of its values, and how many bits they need.
    fields: Vec<(i64, i64, u32)>,
    bytes: usize,
    /// Bits at the beginning of a key that are always 0.
    unused: u32,
}

impl Keys {
    /// Of a program.
    pub fn new(program: &Program) -> Self {
        let field = |lo: i64, hi: i64| (lo, hi, u64::BITS - ((hi - lo) as u64).leading_zeros());
        let of = program.variables.iter().flat_map(|v| v.initial.iter().map(move |_| field(v.lo, v.hi)));
        let fields: Vec<_> = of.collect();
        let bits: usize = fields.iter().map(|&(.., bits)| bits as usize).sum();
        let bytes = bits.div_ceil(8).max(1);
        Self { fields, bytes, unused: (bytes * 8 - bits) as u32 }
    }

    /// Bytes of a key.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Appends the key of a state; false if a value is none of its variable's.
    pub fn pack(&self, values: impl IntoIterator<Item = i64>, key: &mut Vec<u8>) -> bool {
        let (mut waiting, mut bits, end) = (0u128, self.unused, key.len() + self.bytes);
        let mut is_state = true;
        for (value, &(lo, hi, width)) in values.into_iter().zip(&self.fields) {
            is_state &= (lo..=hi).contains(&value);
            waiting = waiting << width | u128::from(value.wrapping_sub(lo) as u64) & ((1 << width) - 1);
            bits += width;
            while bits >= 8 {
                bits -= 8;
                key.push((waiting >> bits) as u8);
            }
            waiting &= (1 << bits) - 1;
        }
        key.resize(end, 0);
        is_state
    }

    /// The state of a key; false if a value is none of its variable's, or a bit is set that no element has.
    fn unpack(&self, key: &[u8], state: &mut [i64]) -> bool {
        let (mut waiting, mut bits, mut bytes) = (0u128, 0, key.iter().rev());
        // From the last element on, whose bits are the lowest.
        for (&(lo, hi, width), value) in self.fields.iter().zip(state).rev() {
            while bits < width {
                waiting |= u128::from(*bytes.next().expect("a key has all bits")) << bits;
                bits += 8;
            }
            *value = lo.wrapping_add((waiting & ((1 << width) - 1)) as i64);
            if *value > hi || *value < lo {
                return false;
            }
            waiting >>= width;
            bits -= width;
        }
        waiting == 0 && bytes.all(|&byte| byte == 0)
    }
}

/// Reads so many keys: side by side, sorted.
fn read(width: usize, number: usize, mut bytes: &[u8]) -> Result<Vec<u8>, Refusal> {
    if number == 0 || number > bytes.len() {
        return unfit("it is damaged: it has not as many states as it says");
    }
    let mut keys = Vec::with_capacity(number * width);
    for place in 0..number {
        let before = keys.len().saturating_sub(width);
        let shared = usize::from(bytes.first().copied().unwrap_or_default());
        let Some(own) = width.checked_sub(shared).and_then(|own| bytes.get(1..=own)).filter(|_| shared <= keys.len())
        else {
            return unfit(&format!("it is damaged: there is no state number {}", place + 1));
        };
        keys.extend_from_within(before..before + shared);
        keys.extend_from_slice(own);
        bytes = &bytes[1 + own.len()..];
        if place > 0 && keys[before..before + width] >= keys[before + width..] {
            return Err(Refusal::Fails(format!("state number {} is not behind the one before it", place + 1)));
        }
    }
    if bytes.is_empty() { Ok(keys) } else { unfit("it is damaged: there is something behind its last state") }
}

/// Whether a key is among sorted ones.
fn has(sorted: &[u8], key: &[u8]) -> bool {
    let (mut low, mut high) = (0, sorted.len() / key.len());
    while low < high {
        let middle = low + (high - low) / 2;
        match sorted[middle * key.len()..][..key.len()].cmp(key) {
            Ordering::Equal => return true,
            Ordering::Less => low = middle + 1,
            Ordering::Greater => high = middle,
        }
    }
    false
}

/// Checks that no step leads out of the set, that all initial states are in it, and that no member is bad.
pub(crate) fn check(program: &Program, opened: &Opened<'_>, may_go_on: MayGoOn<'_>) -> Result<Evidence, Refusal> {
    let (count, body) = line(opened.body)?;
    let number = count.strip_prefix("states ").and_then(|number| number.parse().ok());
    let Some(number) = number else { return unfit("it is damaged: it does not say how many states it has") };
    let keys = Keys::new(program);
    let members = read(keys.bytes, number, body)?;
    let bad: Vec<Expr> = opened.properties.iter().map(|(_, bad)| bad.clone()).collect();
    let evaluator = Evaluator::new(program, &bad);
    let mut key = Vec::new();
    let mut is_member = |state: &[i64]| {
        key.clear();
        keys.pack(state.iter().copied(), &mut key) && has(&members, &key)
    };
    let shown = |state: &[i64]| notation::state(program, state);
    let initial = evaluator.initial();
    if let Some(missing) = initial.iter().find(|state| !is_member(state)) {
        return Err(Refusal::Fails(format!("an initial state is missing: {}", shown(missing))));
    }
    let mut transitions = 0;
    let mut state = initial[0].clone();
    for (place, member) in members.chunks_exact(keys.bytes).enumerate() {
        if place % PATIENCE == 0 && !may_go_on() {
            return Err(Refusal::Stopped);
        }
        if !keys.unpack(member, &mut state) {
            return Err(Refusal::Fails(format!("state number {} is none of the model", place + 1)));
        }
        let mut leaves = None;
        let stuck = evaluator.expand(&state, &mut |id, next| {
            transitions += 1;
            if leaves.is_none() && !is_member(next) {
                leaves = Some((id, next.to_vec()));
            }
        });
        if let Some((id, next)) = leaves {
            let (step, from, to) = (program.transition_text(id), shown(&state), shown(&next));
            return Err(Refusal::Fails(format!("a state is missing: {step} leads from {from} to {to}")));
        }
        if let Some(at) = bad.iter().position(|bad| evaluator.is_true(bad, &state, stuck)) {
            let property = &opened.properties[at].0.name;
            return Err(Refusal::Fails(format!("`{property}` is not so in a state: {}", shown(&state))));
        }
    }
    Ok(Evidence::States(number as u64, transitions))
}

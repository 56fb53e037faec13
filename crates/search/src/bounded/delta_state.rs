//! States written as what differs from the state written before: a tree of traces holds some, to start from.
//!
//! Of a large state, a few hundred steps change little; what they change is written in a few bytes.

/// A variable-length number.
pub(crate) fn put(bytes: &mut Vec<u8>, mut value: u64) {
    while value >= 128 {
        bytes.push(value as u8 | 128);
        value >>= 7;
    }
    bytes.push(value as u8);
}

/// Reads what `put` wrote, from a place on, which moves behind it; `None` if there is nothing that it writes.
pub(crate) fn get(bytes: &[u8], at: &mut usize) -> Option<u64> {
    let (mut value, mut shift) = (0, 0);
    loop {
        let byte = *bytes.get(*at)?;
        *at += 1;
        value |= u64::from(byte & 127).checked_shl(shift)?;
        shift += 7;
        if byte < 128 {
            return Some(value);
        }
    }
}

/// Writes a state, given the one written before, which it becomes.
pub(crate) fn write(bytes: &mut Vec<u8>, before: &mut [u32], state: &[u32]) {
    put(bytes, before.iter().zip(state).filter(|(before, word)| before != word).count() as u64);
    let mut last = 0;
    for (place, (before, &word)) in before.iter_mut().zip(state).enumerate() {
        if *before != word {
            put(bytes, (place - last) as u64);
            put(bytes, u64::from(*before ^ word));
            (last, *before) = (place, word);
        }
    }
}

/// Reads what `write` wrote, given the state read before, which it becomes; `None` if there is nothing that it writes.
pub(crate) fn read(bytes: &[u8], at: &mut usize, state: &mut [u32]) -> Option<()> {
    let mut place = 0usize;
    for _ in 0..get(bytes, at)? {
        place = place.checked_add(get(bytes, at)? as usize)?;
        *state.get_mut(place)? ^= get(bytes, at)? as u32;
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_come_back() {
        let states: Vec<Vec<u32>> = (0..50u32)
            .map(|i| (0..40).map(|word| if word % 9 == i % 7 { u32::MAX / (i + 1) } else { word }).collect())
            .collect();
        let (mut bytes, mut before) = (Vec::new(), vec![7; 40]);
        states.iter().for_each(|state| write(&mut bytes, &mut before, state));
        let (mut at, mut read_back) = (0, vec![7; 40]);
        for state in &states {
            read(&bytes, &mut at, &mut read_back).expect("it was written");
            assert_eq!(read_back, *state);
        }
        assert_eq!(at, bytes.len());
        assert_eq!(read(&bytes[..bytes.len() - 1], &mut 0, &mut [7; 40]), Some(()), "the first is whole");
        assert_eq!(read(&bytes, &mut 0, &mut [7; 3]), None, "a state has more words");
        assert_eq!(get(&[255; 20], &mut 0), None);
        let whole = bytes.len();
        write(&mut bytes, &mut before, &states[49]);
        assert_eq!(bytes.len(), whole + 1, "what does not differ is not written");
    }
}

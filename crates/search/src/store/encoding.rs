//! Numbers and bytes as a checkpoint has them.

use std::io::{ErrorKind, Read, Result, Write};

/// More is not believed to be the length of a list of bytes.
const LONGEST: u64 = 1 << 40;

/// Writes a number.
pub(crate) fn put(out: &mut dyn Write, number: u64) -> Result<()> {
    out.write_all(&number.to_le_bytes())
}

/// Reads a number.
pub(crate) fn get(input: &mut dyn Read) -> Result<u64> {
    take(input).map(u64::from_le_bytes)
}

/// Reads so many bytes.
pub(crate) fn take<const N: usize>(input: &mut dyn Read) -> Result<[u8; N]> {
    let mut bytes = [0; N];
    input.read_exact(&mut bytes)?;
    Ok(bytes)
}

/// Writes bytes and how many they are.
pub(crate) fn put_bytes(out: &mut dyn Write, bytes: &[u8]) -> Result<()> {
    put(out, bytes.len() as u64)?;
    out.write_all(bytes)
}

/// Reads what `put_bytes` wrote.
pub(crate) fn get_bytes(input: &mut dyn Read) -> Result<Vec<u8>> {
    let length = get(input)?;
    let mut bytes = Vec::new();
    if length > LONGEST || input.take(length).read_to_end(&mut bytes)? as u64 != length {
        return Err(ErrorKind::UnexpectedEof.into());
    }
    Ok(bytes)
}

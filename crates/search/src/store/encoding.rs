//! How a checkpoint is written: structures by `postcard`, tables as bare bytes.
//!
//! The tables are nearly all of a file, and their numbers are hashes: `postcard` would make them longer, and take its time.

use std::io::{Error, ErrorKind, Read, Result, Write};

use serde::Serialize;
use serde::de::DeserializeOwned;

/// More is not believed to be the length of a list of bytes.
const LONGEST: u64 = 1 << 40;

/// Writes a structure.
pub(crate) fn put(out: &mut dyn Write, value: &impl Serialize) -> Result<()> {
    put_bytes(out, &postcard::to_stdvec(value).map_err(Error::other)?)
}

/// Reads what `put` wrote.
pub(crate) fn get<T: DeserializeOwned>(input: &mut dyn Read) -> Result<T> {
    match postcard::take_from_bytes(&get_bytes(input)?) {
        Ok((value, [])) => Ok(value),
        _ => Err(ErrorKind::InvalidData.into()),
    }
}

/// Reads so many bytes.
pub(crate) fn take<const N: usize>(input: &mut dyn Read) -> Result<[u8; N]> {
    let mut bytes = [0; N];
    input.read_exact(&mut bytes)?;
    Ok(bytes)
}

/// Writes bytes and how many they are.
pub(crate) fn put_bytes(out: &mut dyn Write, bytes: &[u8]) -> Result<()> {
    out.write_all(&(bytes.len() as u64).to_le_bytes())?;
    out.write_all(bytes)
}

/// Reads what `put_bytes` wrote.
pub(crate) fn get_bytes(input: &mut dyn Read) -> Result<Vec<u8>> {
    let length = u64::from_le_bytes(take(input)?);
    let mut bytes = Vec::new();
    if length > LONGEST || input.take(length).read_to_end(&mut bytes)? as u64 != length {
        return Err(ErrorKind::UnexpectedEof.into());
    }
    Ok(bytes)
}

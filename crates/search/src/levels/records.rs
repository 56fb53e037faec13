//! Records, one behind the other in a file. Each has a checksum that goes on from the one before it: what was not written to its end
//! does not count, and what was changed later is refused.

use std::sync::Arc;

use birk_runs::Source as _;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::limits::{Flow, Halt};
use super::vault::{Held, Vault};

/// The file that says which levels are complete.
pub const RECORDS: &str = "levels.log";
/// Bytes before a record: its length, and the checksum of it and of the one before.
const FRAME: usize = 8;
/// No record is longer.
const LONGEST: usize = 1 << 26;

/// How a file of records begins; the last byte is the version of the format.
pub type Magic = [u8; 8];

/// A file of records.
pub struct Records {
    file: Arc<Held>,
    /// Where the records that count end, and the checksum there; before that, what these were one record earlier.
    end: Mark,
    before: Mark,
    /// What was in the file when it was opened.
    bytes: Vec<u8>,
}

#[derive(Clone, Copy)]
struct Mark {
    at: usize,
    sum: u32,
}

impl Mark {
    fn behind(magic: Magic) -> Self {
        Self { at: magic.len(), sum: crc32fast::hash(&magic) }
    }
}

impl Records {
    /// A file without records.
    pub fn create(vault: &Vault, magic: Magic) -> Flow<Self> {
        let file = vault.create(RECORDS)?;
        file.write_at(&magic, 0)?;
        let end = Mark::behind(magic);
        Ok(Self { file, end, before: end, bytes: Vec::new() })
    }

    /// The file that an earlier search has left, to be read from its beginning; none if there is nothing in it.
    pub fn open(vault: &Vault, magic: Magic) -> Flow<Option<Self>> {
        let Some(file) = vault.open(RECORDS)? else { return Ok(None) };
        let mut bytes = vec![0; usize::try_from(file.size()).map_err(|_| Halt::Refused("its records are too long"))?];
        file.read_at(&mut bytes, 0)?;
        if bytes.len() < magic.len() {
            return Ok(None);
        }
        if !bytes.starts_with(&magic) {
            return Err(Halt::Refused("levels.log was written in another format"));
        }
        let end = Mark::behind(magic);
        Ok(Some(Self { file, end, before: end, bytes }))
    }

    /// The next record of those that were in the file; none where there is none that was written to its end.
    pub fn read<T: DeserializeOwned>(&mut self) -> Flow<Option<T>> {
        let bytes = &self.bytes[self.end.at.min(self.bytes.len())..];
        // Zeros are what a file holds that had grown when the power failed.
        if bytes.iter().all(|&byte| byte == 0) {
            return Ok(None);
        }
        let Some((frame, rest)) = bytes.split_at_checked(FRAME) else { return Ok(None) };
        let number = |at: usize| u32::from_le_bytes([frame[at], frame[at + 1], frame[at + 2], frame[at + 3]]);
        let (length, sum) = (number(0) as usize, number(4));
        if length > LONGEST {
            return Err(Halt::Refused("a record of levels.log is too long"));
        }
        let Some(payload) = rest.get(..length) else { return Ok(None) };
        if checksum(self.end.sum, payload) != sum {
            return Err(Halt::Refused("a record of levels.log does not match its checksum"));
        }
        let Ok((record, [])) = postcard::take_from_bytes(payload) else {
            return Err(Halt::Refused("a record of levels.log holds what no search writes"));
        };
        self.before = self.end;
        self.end = Mark { at: self.end.at + FRAME + length, sum };
        Ok(Some(record))
    }

    /// The record that was read last does not count.
    pub fn put_back(&mut self) {
        self.end = self.before;
    }

    /// Forgets what was not read: records are added behind those that count.
    pub fn cut_off(&mut self) -> Flow<()> {
        self.bytes = Vec::new();
        Ok(self.file.truncate(self.end.at as u64)?)
    }

    /// Adds a record.
    pub fn push(&mut self, record: &impl Serialize) -> Flow<()> {
        let bytes = postcard::to_stdvec(record).map_err(|error| Halt::Failed(std::io::Error::other(error)))?;
        let sum = checksum(self.end.sum, &bytes);
        let mut framed = (bytes.len() as u32).to_le_bytes().to_vec();
        framed.extend_from_slice(&sum.to_le_bytes());
        framed.extend_from_slice(&bytes);
        self.file.write_at(&framed, self.end.at as u64)?;
        self.file.sync()?;
        self.before = self.end;
        self.end = Mark { at: self.end.at + framed.len(), sum };
        Ok(())
    }
}

fn checksum(before: u32, bytes: &[u8]) -> u32 {
    let mut sum = crc32fast::Hasher::new();
    sum.update(&before.to_le_bytes());
    sum.update(&(bytes.len() as u32).to_le_bytes());
    sum.update(bytes);
    sum.finalize()
}

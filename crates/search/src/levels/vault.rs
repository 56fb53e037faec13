//! The files of a search: how many bytes are read, written and held, and no more than allowed. Where nobody offers a place for files,
//! they are in memory.

use std::io::{self, ErrorKind, Result, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use birk_engine::{Files, Stored};
use birk_runs::Source;

/// What was read, written and held.
#[derive(Debug)]
pub struct Tally {
    read: AtomicU64,
    written: AtomicU64,
    held: AtomicU64,
    peak: AtomicU64,
    /// All files together may have so many bytes.
    most: u64,
}

/// More bytes were to be written than are allowed.
#[derive(Debug)]
pub struct OverLimit;

impl std::fmt::Display for OverLimit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the limit on the size of files is reached")
    }
}

impl std::error::Error for OverLimit {}

/// Where files come from.
pub struct Vault {
    files: Box<dyn Files>,
    tally: Arc<Tally>,
    is_in_memory: bool,
}

impl Vault {
    /// With these files, or in memory; no more than so many bytes of them.
    pub fn new(files: Option<Box<dyn Files>>, most: u64) -> Self {
        let tally = Tally {
            read: AtomicU64::new(0),
            written: AtomicU64::new(0),
            held: AtomicU64::new(0),
            peak: AtomicU64::new(0),
            most,
        };
        let is_in_memory = files.is_none();
        Self { files: files.unwrap_or_else(|| Box::new(InMemory)), tally: Arc::new(tally), is_in_memory }
    }

    /// A file that is kept under a name.
    pub fn create(&self, name: &str) -> Result<Arc<Held>> {
        Ok(self.held(self.files.create(name)?, 0))
    }

    /// The file that was kept under a name.
    pub fn open(&self, name: &str) -> Result<Option<Arc<Held>>> {
        let Some(file) = self.files.open(name)? else { return Ok(None) };
        let size = file.length()?;
        Ok(Some(self.held(file, size)))
    }

    /// A file that is gone when nobody uses it any more.
    pub fn scratch(&self) -> Result<Arc<Held>> {
        Ok(self.held(self.files.scratch()?, 0))
    }

    fn held(&self, file: Box<dyn Stored>, size: u64) -> Arc<Held> {
        self.tally.held.fetch_add(size, Ordering::Relaxed);
        Arc::new(Held { file, size: AtomicU64::new(size), tally: Arc::clone(&self.tally) })
    }

    /// Bytes read and written.
    pub fn traffic(&self) -> (u64, u64) {
        (self.tally.read.load(Ordering::Relaxed), self.tally.written.load(Ordering::Relaxed))
    }

    /// The most bytes of all files at once.
    pub fn peak(&self) -> u64 {
        self.tally.peak.load(Ordering::Relaxed)
    }

    /// Bytes of files that are in memory.
    pub fn memory(&self) -> u64 {
        if self.is_in_memory { self.tally.held.load(Ordering::Relaxed) } else { 0 }
    }
}

/// A file, which counts.
pub struct Held {
    file: Box<dyn Stored>,
    size: AtomicU64,
    tally: Arc<Tally>,
}

impl Held {
    /// Writes at a place.
    pub fn write_at(&self, bytes: &[u8], at: u64) -> Result<()> {
        let end = at + bytes.len() as u64;
        let more = end.saturating_sub(self.size.load(Ordering::Relaxed));
        let held = self.tally.held.fetch_add(more, Ordering::Relaxed) + more;
        let is_allowed = more == 0 || held <= self.tally.most;
        let written = if is_allowed { self.file.write_at(bytes, at) } else { Err(io::Error::other(OverLimit)) };
        if written.is_err() {
            self.tally.held.fetch_sub(more, Ordering::Relaxed);
            return written;
        }
        self.size.fetch_add(more, Ordering::Relaxed);
        self.tally.peak.fetch_max(held, Ordering::Relaxed);
        self.tally.written.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        Ok(())
    }

    /// Its length.
    pub fn size(&self) -> u64 {
        self.size.load(Ordering::Relaxed)
    }

    /// Cuts it off.
    pub fn truncate(&self, length: u64) -> Result<()> {
        self.file.truncate(length)?;
        let less = self.size.swap(length, Ordering::Relaxed).saturating_sub(length);
        self.tally.held.fetch_sub(less, Ordering::Relaxed);
        Ok(())
    }

    /// What was written survives.
    pub fn sync(&self) -> Result<()> {
        self.file.sync()
    }
}

impl Source for Held {
    fn read_at(&self, bytes: &mut [u8], at: u64) -> Result<()> {
        self.tally.read.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        self.file.read_at(bytes, at)
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.tally.held.fetch_sub(self.size.load(Ordering::Relaxed), Ordering::Relaxed);
    }
}

/// Writes behind a place of a file, many bytes at once.
pub struct Appender {
    file: Arc<Held>,
    at: u64,
    buffer: Vec<u8>,
    most: usize,
}

impl Appender {
    /// Writes so many bytes at once.
    pub fn new(file: Arc<Held>, at: u64, most: usize) -> Self {
        Self { file, at, buffer: Vec::new(), most }
    }
}

impl Write for Appender {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        if self.buffer.len() + bytes.len() > self.most {
            self.flush()?;
        }
        if bytes.len() >= self.most {
            self.file.write_at(bytes, self.at)?;
            self.at += bytes.len() as u64;
        } else {
            self.buffer.extend_from_slice(bytes);
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> Result<()> {
        self.file.write_at(&self.buffer, self.at)?;
        self.at += self.buffer.len() as u64;
        self.buffer.clear();
        Ok(())
    }
}

/// Files in memory.
struct InMemory;

impl Files for InMemory {
    fn create(&self, _: &str) -> Result<Box<dyn Stored>> {
        self.scratch()
    }

    fn open(&self, _: &str) -> Result<Option<Box<dyn Stored>>> {
        Ok(None)
    }

    fn scratch(&self) -> Result<Box<dyn Stored>> {
        Ok(Box::new(InMemoryFile(RwLock::default())))
    }
}

struct InMemoryFile(RwLock<Vec<u8>>);

impl Stored for InMemoryFile {
    fn read_at(&self, bytes: &mut [u8], at: u64) -> Result<()> {
        let file = self.0.read().unwrap_or_else(PoisonError::into_inner);
        file.read_at(bytes, at)
    }

    fn write_at(&self, bytes: &[u8], at: u64) -> Result<()> {
        let mut file = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let at = usize::try_from(at).map_err(|_| ErrorKind::FileTooLarge)?;
        if file.len() < at + bytes.len() {
            file.resize(at + bytes.len(), 0);
        }
        file[at..at + bytes.len()].copy_from_slice(bytes);
        Ok(())
    }

    fn length(&self) -> Result<u64> {
        Ok(self.0.read().unwrap_or_else(PoisonError::into_inner).len() as u64)
    }

    fn truncate(&self, length: u64) -> Result<()> {
        let mut file = self.0.write().unwrap_or_else(PoisonError::into_inner);
        file.truncate(usize::try_from(length).unwrap_or(usize::MAX));
        Ok(())
    }

    fn sync(&self) -> Result<()> {
        Ok(())
    }
}

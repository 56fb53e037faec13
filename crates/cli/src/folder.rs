//! The files of a search on disk: in the folder of a checkpoint, where the levels have names, or in any folder, where no file has one
//! and all are gone with the process, whatever ends it.

use std::fs::File;
use std::io::{Error, ErrorKind, Result};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use birk::process_memory::unnamed_file;
use birk_engine::{Files, Stored};

/// Files are made safe against a power failure no more often than this: a level may take a millisecond, and that a hundred.
const PERIOD: Duration = Duration::from_secs(1);

/// A folder for files.
#[derive(Clone, Debug)]
pub(crate) struct Folder {
    path: PathBuf,
    /// Files that are to be kept have names.
    is_kept: bool,
}

impl Folder {
    pub(crate) fn new(path: &Path, is_kept: bool) -> Self {
        Self { path: path.to_owned(), is_kept }
    }

    fn named(&self, name: &str, file: Result<File>) -> Result<Box<dyn Stored>> {
        let path = self.path.join(name);
        let file = file.map_err(|error| told("make", &path, &error))?;
        Ok(Box::new(OnDisk { file, path, synced: Mutex::new(Instant::now()) }))
    }
}

impl Files for Folder {
    fn create(&self, name: &str) -> Result<Box<dyn Stored>> {
        if !self.is_kept {
            return self.scratch();
        }
        let mut options = File::options();
        options.read(true).write(true).create(true).truncate(true);
        self.named(name, options.open(self.path.join(name)))
    }

    fn open(&self, name: &str) -> Result<Option<Box<dyn Stored>>> {
        if !self.is_kept {
            return Ok(None);
        }
        match File::options().read(true).write(true).open(self.path.join(name)) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            file => self.named(name, file).map(Some),
        }
    }

    fn scratch(&self) -> Result<Box<dyn Stored>> {
        self.named("", unnamed_file(&self.path))
    }
}

/// A file, and its name or its folder.
struct OnDisk {
    file: File,
    path: PathBuf,
    synced: Mutex<Instant>,
}

impl Stored for OnDisk {
    fn read_at(&self, bytes: &mut [u8], at: u64) -> Result<()> {
        read_exact_at(&self.file, bytes, at).map_err(|error| told("read", &self.path, &error))
    }

    fn write_at(&self, bytes: &[u8], at: u64) -> Result<()> {
        write_all_at(&self.file, bytes, at).map_err(|error| told("write to", &self.path, &error))
    }

    fn length(&self) -> Result<u64> {
        self.file.metadata().map(|data| data.len()).map_err(|error| told("read", &self.path, &error))
    }

    fn truncate(&self, length: u64) -> Result<()> {
        self.file.set_len(length).map_err(|error| told("write to", &self.path, &error))
    }

    fn sync(&self) -> Result<()> {
        let mut synced = self.synced.lock().unwrap_or_else(PoisonError::into_inner);
        if synced.elapsed() < PERIOD {
            return Ok(());
        }
        self.file.sync_data().map_err(|error| told("write to", &self.path, &error))?;
        *synced = Instant::now();
        Ok(())
    }
}

/// The error with the file that it is about.
fn told(what: &str, path: &Path, error: &Error) -> Error {
    Error::new(error.kind(), format!("cannot {what} {}: {error}", path.display()))
}

#[cfg(unix)]
fn read_exact_at(file: &File, bytes: &mut [u8], at: u64) -> Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, bytes, at)
}

#[cfg(unix)]
fn write_all_at(file: &File, bytes: &[u8], at: u64) -> Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, bytes, at)
}

/// One thread reads and writes: nobody else moves the place.
#[cfg(not(any(unix, windows)))]
fn read_exact_at(mut file: &File, bytes: &mut [u8], at: u64) -> Result<()> {
    std::io::Seek::seek(&mut file, std::io::SeekFrom::Start(at))?;
    std::io::Read::read_exact(&mut file, bytes)
}

#[cfg(not(any(unix, windows)))]
fn write_all_at(mut file: &File, bytes: &[u8], at: u64) -> Result<()> {
    std::io::Seek::seek(&mut file, std::io::SeekFrom::Start(at))?;
    std::io::Write::write_all(&mut file, bytes)
}

#[cfg(windows)]
fn read_exact_at(file: &File, mut bytes: &mut [u8], mut at: u64) -> Result<()> {
    while !bytes.is_empty() {
        let count = std::os::windows::fs::FileExt::seek_read(file, bytes, at)?;
        if count == 0 {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        bytes = &mut bytes[count..];
        at += count as u64;
    }
    Ok(())
}

#[cfg(windows)]
fn write_all_at(file: &File, mut bytes: &[u8], mut at: u64) -> Result<()> {
    while !bytes.is_empty() {
        let count = std::os::windows::fs::FileExt::seek_write(file, bytes, at)?;
        bytes = &bytes[count..];
        at += count as u64;
    }
    Ok(())
}

//! An observer with files in memory, for searches on disk: they can be killed at any write, find the disk full, or find other bytes
//! than they wrote.

use std::collections::BTreeMap;
use std::io::{Cursor, Error, ErrorKind, Read, Result};
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError};

use birk_engine::{Files, Observer, Outside, Progress, Save, Stored};
use birk_ir::Stop;

/// Keeps the files of one search after the other.
#[derive(Clone, Default)]
pub struct Shelf {
    /// What the search said of itself, to be taken up.
    pub head: Option<Vec<u8>>,
    /// The files that have names.
    pub named: Arc<Mutex<BTreeMap<String, Vec<u8>>>>,
    /// The process is killed in the middle of this write.
    pub killed_at: Option<u64>,
    /// The disk has room for so many bytes.
    pub room: Option<u64>,
    /// This read fails.
    pub unreadable: Option<u64>,
    /// The search is interrupted after so many questions.
    pub asks: Option<u64>,
    /// Why the search was refused, or what could not be written or read.
    pub refused: Option<String>,
    /// What could not be written or read.
    pub failed: Option<String>,
    /// There is a search to be taken up.
    pub taken_up: bool,
    /// What was written and read.
    pub counts: Arc<Mutex<Counts>>,
}

/// What was written and read.
#[derive(Debug, Default)]
pub struct Counts {
    writes: u64,
    reads: u64,
    bytes: u64,
}

impl Shelf {
    /// The same files for the next search, which takes up what the last one left.
    pub fn next(&self) -> Self {
        let named = locked(&self.named).clone();
        Self { head: self.head.clone(), named: Arc::new(Mutex::new(named)), taken_up: true, ..Self::default() }
    }

    /// How often was written.
    pub fn writes(&self) -> u64 {
        locked(&self.counts).writes
    }

    /// How often was read.
    pub fn reads(&self) -> u64 {
        locked(&self.counts).reads
    }
}

fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Observer for Shelf {
    fn progress(&mut self, _: &Progress) -> ControlFlow<Stop> {
        match &mut self.asks {
            Some(0) => return ControlFlow::Break(Stop::Interrupt),
            Some(asks) => *asks -= 1,
            None => {}
        }
        ControlFlow::Continue(())
    }

    fn outside(&mut self) -> Option<&mut dyn Outside> {
        Some(self)
    }
}

impl Outside for Shelf {
    fn saved(&mut self) -> Option<Box<dyn Read>> {
        let head = self.head.clone().filter(|_| self.taken_up)?;
        Some(Box::new(Cursor::new(head)))
    }

    fn refuse(&mut self, reason: &str) {
        self.refused = Some(reason.to_owned());
    }

    fn files(&mut self) -> Option<Box<dyn Files>> {
        Some(Box::new(self.clone()))
    }

    fn fail(&mut self, reason: &Error) {
        self.failed = Some(reason.to_string());
    }

    fn checkpoint(&mut self, save: &mut Save<'_>, _: bool) {
        let mut head = Vec::new();
        save(&mut head).expect("memory takes everything");
        self.head = Some(head);
    }
}

impl Files for Shelf {
    fn create(&self, name: &str) -> Result<Box<dyn Stored>> {
        locked(&self.named).insert(name.to_owned(), Vec::new());
        Ok(Box::new(OnShelf { shelf: self.clone(), name: Some(name.to_owned()), bytes: Mutex::default() }))
    }

    fn open(&self, name: &str) -> Result<Option<Box<dyn Stored>>> {
        if !locked(&self.named).contains_key(name) {
            return Ok(None);
        }
        Ok(Some(Box::new(OnShelf { shelf: self.clone(), name: Some(name.to_owned()), bytes: Mutex::default() })))
    }

    fn scratch(&self) -> Result<Box<dyn Stored>> {
        Ok(Box::new(OnShelf { shelf: self.clone(), name: None, bytes: Mutex::default() }))
    }
}

struct OnShelf {
    shelf: Shelf,
    name: Option<String>,
    bytes: Mutex<Vec<u8>>,
}

impl OnShelf {
    fn with<T>(&self, act: impl FnOnce(&mut Vec<u8>) -> T) -> T {
        match &self.name {
            Some(name) => act(locked(&self.shelf.named).get_mut(name).expect("it was made")),
            None => act(&mut locked(&self.bytes)),
        }
    }
}

impl Stored for OnShelf {
    fn read_at(&self, bytes: &mut [u8], at: u64) -> Result<()> {
        let mut counts = locked(&self.shelf.counts);
        counts.reads += 1;
        if self.shelf.unreadable == Some(counts.reads) {
            return Err(Error::other("the disk cannot be read"));
        }
        let at = at as usize;
        self.with(|file| match file.get(at..at + bytes.len()) {
            Some(found) => {
                bytes.copy_from_slice(found);
                Ok(())
            }
            None => Err(ErrorKind::UnexpectedEof.into()),
        })
    }

    fn write_at(&self, mut bytes: &[u8], at: u64) -> Result<()> {
        let mut counts = locked(&self.shelf.counts);
        counts.writes += 1;
        let is_killed = self.shelf.killed_at.is_some_and(|last| counts.writes >= last);
        if is_killed {
            // A write may be begun, and is not ended.
            bytes = if self.shelf.killed_at == Some(counts.writes) { &bytes[..bytes.len() / 2] } else { &[] };
        }
        counts.bytes += bytes.len() as u64;
        if self.shelf.room.is_some_and(|room| counts.bytes > room) {
            return Err(ErrorKind::StorageFull.into());
        }
        let at = at as usize;
        self.with(|file| {
            assert!(at <= file.len(), "there are no holes in a file");
            let end = file.len().max(at + bytes.len());
            file.resize(end, 0);
            file[at..at + bytes.len()].copy_from_slice(bytes);
        });
        if is_killed { Err(Error::other("the process was killed")) } else { Ok(()) }
    }

    fn length(&self) -> Result<u64> {
        Ok(self.with(|file| file.len() as u64))
    }

    fn truncate(&self, length: u64) -> Result<()> {
        self.with(|file| file.truncate(length as usize));
        Ok(())
    }

    fn sync(&self) -> Result<()> {
        Ok(())
    }
}

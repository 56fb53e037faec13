//! Levels, one behind the other in a file, each as a run of its keys.

use std::sync::Arc;

use birk_runs::{Run, Source, Writer};
use serde::{Deserialize, Serialize};

use super::candidates::finish;
use super::limits::{Flow, Sizes};
use super::vault::{Appender, Held, Vault};

/// Where a level is in its file.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct Place {
    /// Where it begins.
    pub at: u64,
    /// Its bytes.
    pub bytes: u64,
    /// Its keys.
    pub keys: u64,
}

impl Place {
    /// Where the next level begins.
    pub fn end(&self) -> u64 {
        self.at.saturating_add(self.bytes)
    }

    /// Opens the level that is there; refuses another one.
    pub fn open(&self, file: &Arc<Held>, depth: usize) -> Flow<Run> {
        let run = Run::open(Arc::clone(file) as Arc<dyn Source>, self.at, self.bytes)?;
        if (run.label(), run.keys()) != (depth as u64, self.keys) {
            let text = "levels.run does not hold the levels that were written";
            return Err(std::io::Error::new(std::io::ErrorKind::InvalidData, text).into());
        }
        Ok(run)
    }
}

/// A file of levels, from one of them on.
pub struct LevelFile {
    file: Arc<Held>,
    first: usize,
    places: Vec<Place>,
}

impl LevelFile {
    /// A new file, for the levels from this one on.
    pub fn create(vault: &Vault, name: &str, first: usize) -> Flow<Self> {
        Ok(Self::new(vault.create(name)?, first))
    }

    pub(crate) fn new(file: Arc<Held>, first: usize) -> Self {
        Self { file, first, places: Vec::new() }
    }

    pub(crate) fn size(&self) -> u64 {
        self.file.size()
    }

    /// Forgets what is behind the last level.
    pub(crate) fn cut_off(&self) -> Flow<()> {
        Ok(self.file.truncate(self.end())?)
    }

    /// The depth of its first level.
    pub fn first(&self) -> usize {
        self.first
    }

    /// How many levels it has.
    #[allow(clippy::len_without_is_empty, reason = "nobody asks")]
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Where the last level ends.
    pub fn end(&self) -> u64 {
        self.places.last().map_or(0, Place::end)
    }

    /// The level of this depth.
    pub fn level(&self, depth: usize) -> Flow<Run> {
        self.places[depth - self.first].open(&self.file, depth)
    }

    /// Begins the next level.
    pub fn begin(&self, words: usize, sizes: &Sizes) -> Flow<Writer<Appender>> {
        let out = Appender::new(Arc::clone(&self.file), self.end(), sizes.io);
        Ok(Writer::new(out, words, (self.first + self.places.len()) as u64)?)
    }

    /// Ends it; it counts when it is added.
    pub fn finish(&self, writer: Writer<Appender>) -> Flow<(Run, Place)> {
        let at = self.end();
        let run = finish(writer, Arc::clone(&self.file), at)?;
        self.file.sync()?;
        let place = Place { at, bytes: run.bytes(), keys: run.keys() };
        Ok((run, place))
    }

    /// The level that is at this place is the next.
    pub fn add(&mut self, place: Place) {
        self.places.push(place);
    }
}

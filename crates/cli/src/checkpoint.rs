//! A search that is kept: written at once or not at all, and refused when it is damaged or belongs to something else.
//!
//! The file has a line that says what it is, a line of JSON that says which search, what the engine wrote, and a checksum of all that.
//! A new one is written beside the old one and takes its place when it is safely on the disk. As long as a process is at a search, it
//! has a lock on the folder. In an object store the file is an object, created before the search begins, and there is no lock.

use std::fs::{self, File, TryLockError};
use std::io::{BufRead, BufReader, Read, Result, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use birk_engine::Save;
use crc32fast::Hasher;
use serde::{Deserialize, Serialize};

#[cfg(feature = "object-store")]
use crate::objects::Put;
use crate::place::Place;
use crate::source::Source;
use crate::{Exit, Failure, durable, say};

/// The file of a search, and its name while it is being written.
const FILE: &str = "search.birk";
const UNFINISHED: &str = "search.unfinished";
/// The file that is locked.
const LOCK: &str = "search.lock";
/// The first line; the number changes when what follows does.
const TITLE: &str = "a search of birk, version 2\n";
/// How it begins in every version.
const KIND: &str = "a search of birk, version ";
/// Saving may take this share of the time: one in so many.
const SHARE: u32 = 5;
/// Bytes of a checksum.
const SUM: u64 = 4;

/// Which search it is.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, Serialize)]
pub(crate) struct Identity {
    birk: String,
    /// Its path, from the root on.
    pub(crate) model: PathBuf,
    /// A checksum of the model's text and of those that it imports.
    text: u32,
    /// The options that decide what the search finds.
    pub(crate) options: Vec<String>,
}

impl Identity {
    /// Of a search with these options.
    pub(crate) fn new(source: &Source, options: &[String]) -> Self {
        let mut sum = Hasher::new();
        source.texts().for_each(|text| sum.update(text.as_bytes()));
        Self {
            birk: env!("CARGO_PKG_VERSION").to_owned(),
            model: fs::canonicalize(&source.path).unwrap_or_else(|_| PathBuf::from(&source.path)),
            text: sum.finalize(),
            options: options.to_vec(),
        }
    }
}

impl Identity {
    /// Whether this is the same model, in the same text.
    pub(crate) fn is_of(&self, other: &Identity) -> bool {
        (&self.model, self.text) == (&other.model, other.text)
    }
}

/// A search that is kept.
#[derive(Debug)]
pub(crate) struct Kept {
    pub(crate) identity: Identity,
    /// Where another process keeps the search, that one has it.
    lock: Option<File>,
}

/// Keeps a search.
#[derive(Debug)]
pub(crate) struct Checkpoint {
    place: Place,
    identity: Identity,
    /// Nobody else writes there as long as it is open.
    _lock: Option<File>,
    /// There is a search to go on with.
    resumes: bool,
    /// When the last one was saved, and how long that took.
    last: Option<(Instant, Duration)>,
    pub(crate) failure: Option<std::io::Error>,
    /// Why the search cannot be gone on with.
    refusal: Option<String>,
}

impl Checkpoint {
    /// For a new search; a place that holds one is left alone.
    pub(crate) fn begin(place: &Place, identity: Identity) -> std::result::Result<Self, Failure> {
        match place {
            Place::Folder(folder) => {
                let failed = |error| Failure::io(&format!("make the folder {place}"), &error);
                fs::create_dir_all(folder).map_err(failed)?;
                let lock = lock(folder)?;
                match folder.join(FILE).exists() {
                    true => Err(Failure::usage(format!("{}, or remove the folder", already(place)))),
                    false => Ok(Self::new(place, identity, Some(lock), false)),
                }
            }
            #[cfg(feature = "object-store")]
            Place::Store(store) => {
                let keeper = Self::new(place, identity, None, false);
                // Of two processes that begin at the same time, one finds that the object is there.
                let put = keeper.unbegun().and_then(|bytes| store.put(FILE, bytes, Put::New));
                match put {
                    Ok(()) => Ok(keeper),
                    Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
                        Err(Failure::usage(format!("{}, or delete what is below that address", already(place))))
                    }
                    Err(error) => Err(unreached(&error)),
                }
            }
        }
    }

    /// The search will not begin after all: its place is free again, unless another process has taken it up.
    pub(crate) fn abandon(&self) {
        #[cfg(feature = "object-store")]
        if let (Place::Store(store), Ok(unbegun)) = (&self.place, self.unbegun())
            && matches!(store.get(FILE), Ok(Some(bytes)) if bytes == unbegun)
        {
            let _ = store.delete(FILE);
        }
    }

    /// What the file of a search is before that has begun.
    #[cfg(feature = "object-store")]
    fn unbegun(&self) -> Result<Vec<u8>> {
        self.filled(Vec::new(), &mut |_| Ok(()))
    }

    /// For the search that is there; it was found to be whole.
    pub(crate) fn resume(place: &Place, identity: Identity, kept: Kept) -> Self {
        Self::new(place, identity, kept.lock, true)
    }

    fn new(place: &Place, identity: Identity, lock: Option<File>, resumes: bool) -> Self {
        Self { place: place.clone(), identity, _lock: lock, resumes, last: None, failure: None, refusal: None }
    }

    /// What was written is not a search that can be gone on with.
    pub(crate) fn refuse(&mut self, reason: &str) {
        self.refusal = Some(reason.to_owned());
    }

    /// That, for the user.
    pub(crate) fn refusal(&self) -> Option<Failure> {
        self.refusal.as_ref().map(|reason| damaged(&self.place, reason))
    }

    /// Where it keeps it.
    pub(crate) fn place(&self) -> &Place {
        &self.place
    }

    /// What the engine wrote, if there is a search to go on with.
    pub(crate) fn input(&mut self) -> Option<Box<dyn Read>> {
        if !std::mem::take(&mut self.resumes) {
            return None;
        }
        self.open().unwrap_or_else(|error| {
            self.refuse(&error.to_string());
            None
        })
    }

    /// None where a process ended before its search began.
    fn open(&self) -> Result<Option<Box<dyn Read>>> {
        let mut file = contents(&self.place)?;
        header(&mut file)?;
        let left = length(&mut file)? - SUM - file.stream_position()?;
        Ok((left > 0).then(|| Box::new(file.take(left)) as Box<dyn Read>))
    }

    /// Saves a search, unless that was done a moment ago: `is_last` says that there will be no other time.
    pub(crate) fn save(&mut self, save: &mut Save<'_>, is_last: bool) {
        let now = Instant::now();
        if !is_last && self.last.is_some_and(|(then, took)| now.duration_since(then) < took * SHARE) {
            return;
        }
        self.failure = self.write(save).err();
        let end = Instant::now();
        self.last = Some((end, end.duration_since(now)));
    }

    fn write(&self, save: &mut Save<'_>) -> Result<()> {
        match &self.place {
            Place::Folder(folder) => {
                durable::replace(&folder.join(FILE), &folder.join(UNFINISHED), |file| self.filled(file, save).map(drop))
            }
            #[cfg(feature = "object-store")]
            Place::Store(store) => store.put(FILE, self.filled(Vec::new(), save)?, Put::Anew),
        }
    }

    /// Writes the file.
    fn filled<W: Write>(&self, file: W, save: &mut Save<'_>) -> Result<W> {
        let mut out = Summed { inner: file, sum: Hasher::new() };
        out.write_all(TITLE.as_bytes())?;
        serde_json::to_writer(&mut out, &self.identity)?;
        out.write_all(b"\n")?;
        save(&mut out)?;
        let Summed { mut inner, sum } = out;
        inner.write_all(&sum.finalize().to_le_bytes())?;
        Ok(inner)
    }
}

/// The first request to a store has failed; the error names what it is about.
fn unreached(error: &std::io::Error) -> Failure {
    let message = format!(
        "{error}; see that the store can be reached from here, and that its address and the credentials in the environment are right"
    );
    Failure { exit: Exit::Io, message }
}

fn already(place: &Place) -> String {
    format!("{place} already holds a search; continue it with `birk resume {place}`")
}

/// The file of a search, wherever it is.
trait Contents: BufRead + Seek {}

impl<T: BufRead + Seek> Contents for T {}

/// It may not be there.
fn contents(place: &Place) -> Result<Box<dyn Contents>> {
    match place {
        Place::Folder(folder) => Ok(Box::new(BufReader::with_capacity(1 << 20, File::open(folder.join(FILE))?))),
        #[cfg(feature = "object-store")]
        Place::Store(store) => match store.get(FILE)? {
            Some(bytes) => Ok(Box::new(std::io::Cursor::new(bytes))),
            None => Err(std::io::ErrorKind::NotFound.into()),
        },
    }
}

/// Its length; it is where it was afterwards.
fn length(file: &mut dyn Contents) -> Result<u64> {
    let at = file.stream_position()?;
    let length = file.seek(SeekFrom::End(0))?;
    file.seek(SeekFrom::Start(at))?;
    Ok(length)
}

/// Takes the lock on a folder, which ends with the process.
pub(crate) fn lock(folder: &Path) -> std::result::Result<File, Failure> {
    let shown = folder.display();
    let failed = |error| Failure::io(&format!("lock the folder {shown}"), &error);
    let file = File::options().write(true).create(true).truncate(false).open(folder.join(LOCK)).map_err(failed)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::Error(error)) => Err(failed(error)),
        Err(TryLockError::WouldBlock) => {
            Err(Failure::usage(format!("{shown} is in use by another process; wait until it ends")))
        }
    }
}

/// Whether a folder holds a search.
pub(crate) fn is_in(folder: &Path) -> bool {
    folder.join(FILE).exists()
}

/// Which search is kept at a place; refused when it is damaged, was written by another version, or somebody is at it. Looking through
/// it ends at a deadline. Where the process is led by another, that one is at it.
pub(crate) fn look(place: &Place, deadline: Option<Instant>, is_led: bool) -> std::result::Result<Kept, Failure> {
    let shown = format!("{place}/{FILE}");
    let failed = |error: std::io::Error| match error.kind() {
        std::io::ErrorKind::NotFound => {
            Failure::usage(format!("there is no search in {place}: `birk check --checkpoint` saves one"))
        }
        _ if !matches!(place, Place::Folder(_)) => unreached(&error),
        _ => Failure::io(&format!("read {shown}"), &error),
    };
    let lock = match place {
        Place::Folder(folder) => {
            // Where there is no search, nothing is made.
            fs::metadata(folder.join(FILE)).map_err(failed)?;
            if is_led { None } else { Some(lock(folder)?) }
        }
        #[cfg(feature = "object-store")]
        Place::Store(_) => None,
    };
    let mut file = contents(place).map_err(failed)?;
    if is_of_another_version(&mut file).map_err(failed)? {
        return Err(Failure::usage(format!(
            "{shown} has the format of another version of birk; go on with that version, or start the search anew"
        )));
    }
    match is_whole(&mut file, deadline).map_err(failed)? {
        None => {
            let message = format!("the time limit was reached before {shown} was read; the search is unchanged");
            return Err(Failure { exit: Exit::Inconclusive, message });
        }
        Some(false) => return Err(damaged(place, "its checksum does not match its contents")),
        Some(true) => {}
    }
    file.seek(SeekFrom::Start(0)).map_err(failed)?;
    let identity = header(&mut file).map_err(|_| damaged(place, "it does not say which search it is"))?;
    if identity.birk != env!("CARGO_PKG_VERSION") {
        return Err(Failure::usage(format!(
            "{shown} was written by birk {}; continue with that version",
            identity.birk
        )));
    }
    Ok(Kept { identity, lock })
}

fn damaged(place: &Place, reason: &str) -> Failure {
    Failure::usage(format!("{place}/{FILE} is damaged: {reason}; start the search again"))
}

/// Whether the title says so; the file is at its beginning afterwards.
fn is_of_another_version(file: &mut dyn Contents) -> Result<bool> {
    let mut title = Vec::new();
    Read::take(&mut *file, TITLE.len() as u64).read_to_end(&mut title)?;
    file.seek(SeekFrom::Start(0))?;
    Ok(title.starts_with(KIND.as_bytes()) && title != TITLE.as_bytes())
}

/// Whether the checksum at the end of a file is that of all before it; `None` when the time is up.
fn is_whole(file: &mut dyn Contents, deadline: Option<Instant>) -> Result<Option<bool>> {
    let Some(mut left) = length(file)?.checked_sub(SUM) else { return Ok(Some(false)) };
    let (mut sum, mut buffer) = (Hasher::new(), vec![0; 1 << 16]);
    while left > 0 {
        if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            return Ok(None);
        }
        let part = buffer.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        file.read_exact(&mut buffer[..part])?;
        sum.update(&buffer[..part]);
        left -= part as u64;
    }
    let mut bytes = [0; SUM as usize];
    file.read_exact(&mut bytes)?;
    Ok(Some(u32::from_le_bytes(bytes) == sum.finalize()))
}

/// Reads the first two lines.
fn header(file: &mut dyn Contents) -> Result<Identity> {
    let mut line = String::new();
    file.read_line(&mut line)?;
    if line != TITLE {
        return Err(std::io::ErrorKind::InvalidData.into());
    }
    line.clear();
    file.read_line(&mut line)?;
    Ok(serde_json::from_str(&line)?)
}

/// Says what became of the last attempt to save, and how to go on, with more words of a command where they are needed.
pub(crate) fn farewell(keeper: &Checkpoint, more: &str) {
    let shown = &keeper.place;
    match &keeper.failure {
        Some(error) => say(&format!("birk: the search could not be saved in {shown}: {error}")),
        None => say(&format!("birk: the search is saved; continue it with `birk resume {shown}{more}`")),
    }
}

/// A writer that adds up what goes through it.
struct Summed<W> {
    inner: W,
    sum: Hasher,
}

impl<W: Write> Write for Summed<W> {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        let written = self.inner.write(bytes)?;
        self.sum.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> Result<()> {
        self.inner.flush()
    }
}

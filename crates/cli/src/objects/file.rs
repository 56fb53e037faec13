//! The files of a search in a store. What is written at the end of a file is collected, and put as its next object when the file is
//! made safe, or when it has become long. Files without a name are in a local folder.
//!
//! What this process has put is in a local file without a name, too: a search on disk reads its last levels again and again. Where
//! there is no room for that, it is read from the store, like everything that an earlier process has put.

use std::collections::HashMap;
use std::io::{Error, ErrorKind, Result};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use birk_engine::{Files, Stored};
use object_store::PutPayload;

use super::windows::{WINDOW, Windows};
use super::{Part, Put, Store};
use crate::folder::Folder;

/// No more bytes than this, and one write, wait to be put.
const LONGEST: usize = 8 << 20;

/// The files of one search.
pub(crate) struct Objects {
    store: Arc<Store>,
    scratch: Folder,
    windows: Arc<Windows>,
    /// Those that are known: a level is opened by every thread, and the objects of a file are listed once.
    known: Mutex<HashMap<String, Arc<Growing>>>,
}

impl Objects {
    /// Those in a store; files without a name are in a folder.
    pub(crate) fn new(store: Arc<Store>, scratch: &Path) -> Self {
        Self { store, scratch: Folder::new(scratch, false), windows: Arc::default(), known: Mutex::default() }
    }

    /// A file with these objects.
    fn file(&self, name: &str, objects: Vec<Object>) -> Box<dyn Stored> {
        let growing = Arc::new(Growing {
            store: Arc::clone(&self.store),
            name: name.to_owned(),
            scratch: self.scratch.clone(),
            windows: Arc::clone(&self.windows),
            state: Mutex::new(State { objects, waiting: Vec::new(), local: Local::None }),
        });
        self.known().insert(name.to_owned(), Arc::clone(&growing));
        Box::new(Opened(growing))
    }

    fn known(&self) -> MutexGuard<'_, HashMap<String, Arc<Growing>>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Files for Objects {
    fn create(&self, name: &str) -> Result<Box<dyn Stored>> {
        // From the last on, so that what is left at any moment is the beginning of a file.
        for (at, _) in self.store.list(name)?.into_iter().rev() {
            self.store.delete_part(name, at)?;
        }
        self.windows.forget(name);
        Ok(self.file(name, Vec::new()))
    }

    fn open(&self, name: &str) -> Result<Option<Box<dyn Stored>>> {
        if let Some(known) = self.known().get(name) {
            return Ok(Some(Box::new(Opened(Arc::clone(known)))));
        }
        let objects: Vec<Object> = self.store.list(name)?.into_iter().map(|(at, size)| Object { at, size }).collect();
        if objects.is_empty() {
            return Ok(None);
        }
        let mut end = 0;
        for object in &objects {
            if object.at != end {
                let reason = format!(
                    "the object {end:020} is missing, and {:020} is there; bring it back, or delete all that follow, which costs the \
                     levels in them",
                    object.at
                );
                return Err(self.store.error(("read", name), ErrorKind::Other, &reason));
            }
            end += object.size;
        }
        Ok(Some(self.file(name, objects)))
    }

    fn scratch(&self) -> Result<Box<dyn Stored>> {
        self.scratch.scratch()
    }
}

/// An object of a file: where in the file it begins, and its bytes.
#[derive(Clone, Copy)]
struct Object {
    at: u64,
    size: u64,
}

impl Object {
    fn end(&self) -> u64 {
        self.at + self.size
    }
}

/// A file that grows at its end.
struct Growing {
    store: Arc<Store>,
    name: String,
    scratch: Folder,
    windows: Arc<Windows>,
    state: Mutex<State>,
}

struct State {
    /// What is in the store.
    objects: Vec<Object>,
    /// What is behind that, and waits to be put.
    waiting: Vec<u8>,
    local: Local,
}

/// What this process has put, once more on this machine.
#[derive(Clone)]
enum Local {
    /// Nothing was put yet.
    None,
    /// The file from this place on.
    From(u64, Arc<dyn Stored>),
    /// There was no room for it.
    Lost,
}

impl State {
    /// Where that ends which is in the store.
    fn stored(&self) -> u64 {
        self.objects.last().map_or(0, Object::end)
    }

    fn length(&self) -> u64 {
        self.stored() + self.waiting.len() as u64
    }

    /// The parts of objects that are between two places.
    fn parts(&self, from: u64, to: u64) -> Vec<Part> {
        let first = self.objects.partition_point(|object| object.end() <= from);
        let reaching = self.objects[first..].iter().take_while(|object| object.at < to);
        reaching.map(|object| (object.at, from.max(object.at) - object.at..to.min(object.end()) - object.at)).collect()
    }
}

impl Growing {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts what waits as the next object.
    fn put(&self, state: &mut State) -> Result<()> {
        if state.waiting.is_empty() {
            return Ok(());
        }
        let at = state.stored();
        self.copy(state, at);
        let size = state.waiting.len() as u64;
        let payload = PutPayload::from(std::mem::take(&mut state.waiting));
        let put = self.store.put_part(&self.name, at, &payload, Put::New);
        match put {
            Ok(()) => state.objects.push(Object { at, size }),
            // It still waits, and whoever tries again hears of it again.
            Err(_) => state.waiting = payload.as_ref().concat(),
        }
        put
    }

    /// Writes what is put at a place to the local file, which begins with it if there is none.
    fn copy(&self, state: &mut State, at: u64) {
        if matches!(state.local, Local::None) {
            state.local = self.scratch.scratch().map_or(Local::Lost, |file| Local::From(at, Arc::from(file)));
        }
        let Local::From(from, file) = &state.local else { return };
        if file.write_at(&state.waiting, at - from).is_err() {
            state.local = Local::Lost;
        }
    }

    /// Reads what an earlier process has put.
    fn read_stored(&self, mut bytes: &mut [u8], mut at: u64) -> Result<()> {
        while !bytes.is_empty() {
            let (number, from) = (at / WINDOW, at % WINDOW);
            let length = bytes.len().min((WINDOW - from) as usize);
            let (here, rest) = std::mem::take(&mut bytes).split_at_mut(length);
            if !self.windows.copy(&self.name, number, from as usize, here) {
                let parts = self.state().parts(number * WINDOW, (number + 1) * WINDOW);
                let window = self.store.read_parts(&self.name, &parts)?;
                let end = from as usize + length;
                here.copy_from_slice(window.get(from as usize..end).ok_or_else(|| self.too_short())?);
                self.windows.add(&self.name, number, window);
            }
            (bytes, at) = (rest, at + length as u64);
        }
        Ok(())
    }

    fn too_short(&self) -> Error {
        self.store.error(("read", &self.name), ErrorKind::UnexpectedEof, "it ends too early")
    }
}

/// A file that was opened, perhaps by several threads.
struct Opened(Arc<Growing>);

impl Stored for Opened {
    fn read_at(&self, bytes: &mut [u8], at: u64) -> Result<()> {
        let end = at + bytes.len() as u64;
        let state = self.0.state();
        if end > state.length() {
            return Err(self.0.too_short());
        }
        let (stored, local) = (state.stored(), state.local.clone());
        let copied = if let Local::From(from, _) = &local { *from } else { stored };
        let place = |border: u64| (border.clamp(at, end) - at) as usize;
        let (bytes, waiting) = bytes.split_at_mut(place(stored));
        if !waiting.is_empty() {
            let from = (at.max(stored) - stored) as usize;
            waiting.copy_from_slice(&state.waiting[from..from + waiting.len()]);
        }
        drop(state);
        let (old, new) = bytes.split_at_mut(place(copied));
        if let (false, Local::From(from, file)) = (new.is_empty(), &local) {
            file.read_at(new, at.max(*from) - from)?;
        }
        self.0.read_stored(old, at)
    }

    fn write_at(&self, bytes: &[u8], at: u64) -> Result<()> {
        let mut state = self.0.state();
        let Some(place) = at.checked_sub(state.stored()).filter(|&place| place <= state.waiting.len() as u64) else {
            let reason = "what is in a store is not changed, only added to";
            return Err(self.0.store.error(("write to", &self.0.name), ErrorKind::Unsupported, reason));
        };
        let place = place as usize;
        let within = bytes.len().min(state.waiting.len() - place);
        let (over, behind) = bytes.split_at(within);
        state.waiting[place..place + within].copy_from_slice(over);
        state.waiting.extend_from_slice(behind);
        if state.waiting.len() >= LONGEST { self.0.put(&mut state) } else { Ok(()) }
    }

    fn length(&self) -> Result<u64> {
        Ok(self.0.state().length())
    }

    fn truncate(&self, length: u64) -> Result<()> {
        let mut state = self.0.state();
        let stored = state.stored();
        if length >= stored {
            state.waiting.truncate((length - stored) as usize);
            return Ok(());
        }
        state.waiting.clear();
        self.0.windows.forget(&self.0.name);
        if matches!(state.local, Local::From(from, _) if from > length) {
            state.local = Local::None;
        }
        while let Some(last) = state.objects.last().copied().filter(|last| last.at >= length) {
            self.0.store.delete_part(&self.0.name, last.at)?;
            state.objects.pop();
        }
        let Some(last) = state.objects.last().copied().filter(|last| last.end() > length) else { return Ok(()) };
        let size = length - last.at;
        let kept = self.0.store.read_parts(&self.0.name, &[(last.at, 0..size)])?;
        self.0.store.put_part(&self.0.name, last.at, &kept.into(), Put::Anew)?;
        state.objects.pop();
        state.objects.push(Object { size, ..last });
        Ok(())
    }

    fn sync(&self) -> Result<()> {
        self.0.put(&mut self.0.state())
    }
}

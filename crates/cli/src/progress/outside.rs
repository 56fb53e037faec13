//! Storage outside of memory, for an engine: the files of a search that is kept, and those that are not.

use std::io::Read;
use std::path::PathBuf;
use std::sync::Arc;

use birk::process_memory::unnamed_file;
use birk_engine::{Files, Outside, Peers, Save, Spill};

use super::Watcher;
use crate::checkpoint::Checkpoint;
use crate::folder::Folder;

impl Outside for Watcher {
    fn spill(&mut self) -> Option<Box<dyn Spill>> {
        let other = std::env::temp_dir();
        let folder = self.keeper.as_ref().map_or(&*other, |keeper| keeper.place().for_scratch(&other));
        Some(Box::new(unnamed_file(folder).ok()?))
    }

    fn saved(&mut self) -> Option<Box<dyn Read>> {
        self.keeper.as_mut()?.input()
    }

    fn refuse(&mut self, reason: &str) {
        if let Some(keeper) = &mut self.keeper {
            keeper.refuse(reason);
        }
    }

    fn files(&mut self) -> Option<Box<dyn Files>> {
        let folder: PathBuf = self.folder.clone().unwrap_or_else(std::env::temp_dir);
        Some(match self.keeper.as_ref().map(Checkpoint::place).or(self.shared.as_ref()) {
            Some(place) => place.files(&folder),
            None => Box::new(Folder::new(&folder, false)),
        })
    }

    fn peers(&mut self) -> Option<Arc<dyn Peers>> {
        self.together.0.clone()
    }

    fn fail(&mut self, reason: &std::io::Error) {
        self.failure = Some(reason.to_string());
    }

    fn checkpoint(&mut self, save: &mut Save<'_>, is_last: bool) {
        if let Some(keeper) = &mut self.keeper {
            keeper.save(save, is_last);
        }
    }
}

//! Where a search is kept: in a folder, or in an object store.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU32;

use birk::Options;
use birk_engine::Files;

use crate::Failure;
use crate::folder::Folder;
#[cfg(feature = "object-store")]
use crate::objects::{Objects, Store};

/// Where a search is kept.
#[derive(Clone, Debug)]
pub(crate) enum Place {
    Folder(PathBuf),
    #[cfg(feature = "object-store")]
    Store(Arc<Store>),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Folder(folder) => folder.display().fmt(f),
            #[cfg(feature = "object-store")]
            Self::Store(store) => f.write_str(store.address()),
        }
    }
}

impl Place {
    /// What a word of the command line names.
    pub(crate) fn named(word: &Path) -> Result<Self, Failure> {
        match address(word) {
            None => Ok(Self::Folder(word.to_owned())),
            #[cfg(feature = "object-store")]
            Some(address) => Ok(Self::Store(Arc::new(Store::at(address)?))),
            #[cfg(not(feature = "object-store"))]
            Some(address) => Err(Failure::usage(format!(
                "{address} is the address of an object store, and this birk was built without them: name a folder, or use one that was \
                 built with the Cargo feature object-store (`cargo install birk-cli --features object-store`)"
            ))),
        }
    }

    /// Refuses an engine that does not save levels: only these are files that grow at their ends.
    pub(crate) fn suits(&self, options: &Options) -> Result<(), Failure> {
        let engine = options.engine()?;
        if engine.saves_levels || !engine.resumes || matches!(self, Self::Folder(_)) {
            return Ok(());
        }
        let others = options.engines.iter().filter(|other| other.saves_levels).map(|other| other.name);
        Err(Failure::usage(format!(
            "--search {} saves all that it knows at once, and {self} is for searches that save a level after the other; name a folder, \
             or use {}",
            engine.name,
            others.collect::<Vec<_>>().join(" or ")
        )))
    }

    /// The files of the search that is kept there. Those without a name are there, too, or in another folder if that cannot be.
    pub(crate) fn files(&self, other: &Path) -> Box<dyn Files> {
        match self {
            Self::Folder(_) => Box::new(Folder::new(self.for_scratch(other), true)),
            #[cfg(feature = "object-store")]
            Self::Store(store) => Box::new(Objects::new(Arc::clone(store), self.for_scratch(other))),
        }
    }

    /// How many threads wait for an answer from there, where that may take long.
    pub(crate) fn waiting(&self) -> Option<Arc<AtomicU32>> {
        match self {
            Self::Folder(_) => None,
            #[cfg(feature = "object-store")]
            Self::Store(store) => Some(Arc::clone(store.waiting())),
        }
    }

    /// Where files without a name are.
    pub(crate) fn for_scratch<'a>(&'a self, other: &'a Path) -> &'a Path {
        let folder = match self {
            Self::Folder(folder) => Some(folder.as_path()),
            #[cfg(feature = "object-store")]
            Self::Store(_) => None,
        };
        folder.unwrap_or(other)
    }
}

/// The address of an object store, where a word is one: it has a scheme.
pub(crate) fn address(word: &Path) -> Option<&str> {
    let word = word.to_str()?;
    let (scheme, _) = word.split_once("://")?;
    let is_scheme = !scheme.is_empty() && scheme.chars().all(|letter| letter.is_ascii_alphanumeric());
    is_scheme.then_some(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_a_scheme() {
        let found =
            ["s3://a/b", "file:///a", "ftp://a", "a/b", "/a://b", "://a", "a:b", "s3:/a"].map(Path::new).map(address);
        assert_eq!(found, [Some("s3://a/b"), Some("file:///a"), Some("ftp://a"), None, None, None, None, None]);
    }
}

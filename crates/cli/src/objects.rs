//! An object store: how it is reached by its address, and what is said when it does not answer.
//!
//! A file of a search is a sequence of objects, each named by the place in the file at which it begins. An object appears when it is
//! complete, and is created only where there is none: so two processes that write to the same search do not mix what they write.

mod file;
#[cfg(test)]
mod tests;
mod windows;

use std::future::Future;
use std::io::{Error, ErrorKind, Result};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::azure::{AzureConfigKey, MicrosoftAzureBuilder};
use object_store::gcp::{GoogleCloudStorageBuilder, GoogleConfigKey};
use object_store::local::LocalFileSystem;
use object_store::path::Path;
use object_store::{
    BackoffConfig, ClientConfigKey, Error as StoreError, ObjectStore, ObjectStoreExt as _, PutMode, PutPayload,
    RetryConfig,
};
use tokio::runtime::{Builder, Runtime};

use crate::Failure;
use crate::numbers::count;

pub(crate) use file::Objects;

/// A store that has not answered for so long has failed, however often it was asked.
const DEADLINE: Duration = Duration::from_secs(30);
/// After this, a request that failed is not made again.
const LAST_RETRY: Duration = Duration::from_secs(20);
/// What holds for each request. Idle connections are closed soon: nobody listens to them between two requests, so it would not be
/// noticed that the store has closed them.
const REQUESTS: [(ClientConfigKey, &str); 3] = [
    (ClientConfigKey::Timeout, "25 seconds"),
    (ClientConfigKey::ConnectTimeout, "5 seconds"),
    (ClientConfigKey::PoolIdleTimeout, "3 seconds"),
];
/// So many objects are read at the same time.
const AT_ONCE: usize = 32;
/// The longest reason of a store that is shown, in letters.
const LONGEST_REASON: usize = 400;

/// A part of an object: where that begins in its file, and which of its bytes.
type Part = (u64, Range<u64>);

/// A store, and the place in it at which a search is kept.
#[derive(Debug)]
pub(crate) struct Store {
    address: String,
    root: Path,
    objects: Arc<dyn ObjectStore>,
    runtime: Runtime,
    /// How many threads wait for an answer.
    waiting: Arc<AtomicU32>,
}

/// How a new object is put.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Put {
    /// Only where there is none.
    New,
    /// In the place of that which is there.
    Anew,
}

impl Store {
    /// The store with this address. Whether it answers is not asked yet.
    pub(crate) fn at(address: &str) -> std::result::Result<Self, Failure> {
        let address = address.trim_end_matches('/');
        let failed = |error: &dyn std::fmt::Display| {
            Failure::usage(format!("cannot use {address}: {error}; see that its name and its credentials are right"))
        };
        let (scheme, rest) = address.split_once("://").unwrap_or_default();
        let (bucket, prefix) = rest.split_once('/').unwrap_or((rest, ""));
        if bucket.is_empty() != (scheme == "file") {
            return Err(unknown(address));
        }
        let objects: Arc<dyn ObjectStore> = match scheme {
            "s3" => Arc::new(s3(address).map_err(|error| failed(&error))?),
            "gs" => Arc::new(google(address).map_err(|error| failed(&error))?),
            "az" => Arc::new(azure(address).map_err(|error| failed(&error))?),
            "file" => Arc::new(LocalFileSystem::new().with_fsync(true)),
            _ => return Err(unknown(address)),
        };
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| Failure::io(&format!("reach {address}"), &error))?;
        let (address, root) = (address.to_owned(), Path::from(prefix));
        Ok(Self { address, root, objects, runtime, waiting: Arc::default() })
    }

    /// How a user writes it.
    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    /// How many threads wait for an answer, for whoever expects one of them to be elsewhere.
    pub(crate) fn waiting(&self) -> &Arc<AtomicU32> {
        &self.waiting
    }

    /// What an object holds that is no part of a file, if there is one.
    pub(crate) fn get(&self, name: &str) -> Result<Option<Vec<u8>>> {
        let path = self.root.clone().join(name);
        let found = self.wait(("read", name), async {
            match self.objects.get(&path).await {
                Ok(found) => Ok(Some(found.bytes().await?)),
                Err(StoreError::NotFound { .. }) => Ok(None),
                Err(error) => Err(error),
            }
        })?;
        Ok(found.map(Vec::from))
    }

    /// Puts an object that is no part of a file. Where there is one and should be none, the error is of the kind `AlreadyExists`.
    pub(crate) fn put(&self, name: &str, bytes: Vec<u8>, how: Put) -> Result<()> {
        self.put_at(&self.root.clone().join(name), name, &bytes.into(), how)
    }

    /// Deletes an object that is no part of a file, if it is there.
    pub(crate) fn delete(&self, name: &str) -> Result<()> {
        self.delete_at(&self.root.clone().join(name), name)
    }

    /// Where the objects of a file begin, and how many bytes each has, in their order.
    fn list(&self, name: &str) -> Result<Vec<(u64, u64)>> {
        let path = self.root.clone().join(name);
        let found = self.wait(("list", name), self.objects.list_with_delimiter(Some(&path)))?;
        let place = |path: &Path| path.filename().filter(|name| name.len() == 20)?.parse::<u64>().ok();
        let mut found: Vec<(u64, u64)> =
            found.objects.iter().filter_map(|object| Some((place(&object.location)?, object.size))).collect();
        found.sort_unstable();
        Ok(found)
    }

    /// Puts the object of a file that begins at a place.
    fn put_part(&self, name: &str, at: u64, payload: &PutPayload, how: Put) -> Result<()> {
        self.put_at(&self.part(name, at), name, payload, how)
    }

    /// Deletes it, if it is there.
    fn delete_part(&self, name: &str, at: u64) -> Result<()> {
        self.delete_at(&self.part(name, at), name)
    }

    /// What parts of objects of a file hold, one behind the other.
    fn read_parts(&self, name: &str, parts: &[Part]) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        for some in parts.chunks(AT_ONCE) {
            let found = self.wait(("read", name), async {
                let read = |(at, range): &Part| {
                    let (objects, path, range) = (Arc::clone(&self.objects), self.part(name, *at), range.clone());
                    tokio::spawn(async move { objects.get_range(&path, range).await })
                };
                let reading: Vec<_> = some.iter().map(read).collect();
                let mut found = Vec::new();
                for one in reading {
                    found.push(one.await??);
                }
                Ok::<_, StoreError>(found)
            })?;
            for ((_, range), found) in some.iter().zip(found) {
                if found.len() as u64 != range.end - range.start {
                    return Err(self.error(
                        ("read", name),
                        ErrorKind::UnexpectedEof,
                        "an object is shorter than it was",
                    ));
                }
                bytes.extend_from_slice(&found);
            }
        }
        Ok(bytes)
    }

    fn part(&self, name: &str, at: u64) -> Path {
        self.root.clone().join(name).join(format!("{at:020}"))
    }

    fn put_at(&self, path: &Path, name: &str, payload: &PutPayload, how: Put) -> Result<()> {
        let mode = if how == Put::New { PutMode::Create } else { PutMode::Overwrite };
        let put = || self.objects.put_opts(path, payload.clone(), mode.clone().into());
        self.wait(("write to", name), async {
            let failed = match put().await {
                Ok(_) => return Ok(()),
                // Whether it arrived is not known.
                Err(error @ StoreError::Generic { .. }) if how == Put::New => error,
                Err(error) => return Err(error),
            };
            match self.objects.get(path).await {
                Ok(found) => match payload.as_ref() == [found.bytes().await?] {
                    true => Ok(()),
                    false => Err(failed),
                },
                Err(StoreError::NotFound { .. }) => put().await.map(drop),
                Err(_) => Err(failed),
            }
        })
    }

    fn delete_at(&self, path: &Path, name: &str) -> Result<()> {
        self.wait(("write to", name), async {
            match self.objects.delete(path).await {
                Err(StoreError::NotFound { .. }) => Ok(()),
                deleted => deleted,
            }
        })
    }

    /// Waits for what a request answers, but not for longer than the deadline.
    fn wait<T>(&self, doing: (&str, &str), answer: impl Future<Output = object_store::Result<T>>) -> Result<T> {
        let _waiting = Waiting::new(&self.waiting);
        match self.runtime.block_on(async { tokio::time::timeout(DEADLINE, answer).await }) {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(StoreError::AlreadyExists { .. })) => Err(self.error(
                doing,
                ErrorKind::AlreadyExists,
                "another process writes to it; let only one of them go on",
            )),
            Ok(Err(error)) => Err(self.error(doing, ErrorKind::Other, &reason(&error))),
            Err(_) => {
                let text = format!("the store has not answered for {}", count(DEADLINE.as_secs(), "second"));
                Err(self.error(doing, ErrorKind::TimedOut, &text))
            }
        }
    }

    /// An error that names what it is about.
    fn error(&self, (what, name): (&str, &str), kind: ErrorKind, reason: &str) -> Error {
        Error::new(kind, format!("cannot {what} {}/{name}: {reason}", self.address))
    }
}

/// A thread waits for an answer as long as this is there.
struct Waiting<'a>(&'a AtomicU32);

impl<'a> Waiting<'a> {
    fn new(count: &'a AtomicU32) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(count)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Credentials, region and endpoint come from the environment.
fn s3(address: &str) -> object_store::Result<impl ObjectStore> {
    let builder = AmazonS3Builder::from_env().with_url(address).with_retry(retries());
    REQUESTS
        .into_iter()
        .fold(builder, |builder, (key, value)| builder.with_config(AmazonS3ConfigKey::Client(key), value))
        .build()
}

fn google(address: &str) -> object_store::Result<impl ObjectStore> {
    let builder = GoogleCloudStorageBuilder::from_env().with_url(address).with_retry(retries());
    REQUESTS
        .into_iter()
        .fold(builder, |builder, (key, value)| builder.with_config(GoogleConfigKey::Client(key), value))
        .build()
}

fn azure(address: &str) -> object_store::Result<impl ObjectStore> {
    let builder = MicrosoftAzureBuilder::from_env().with_url(address).with_retry(retries());
    REQUESTS
        .into_iter()
        .fold(builder, |builder, (key, value)| builder.with_config(AzureConfigKey::Client(key), value))
        .build()
}

/// A request that failed is made again after some tenths of a second, later after some seconds.
fn retries() -> RetryConfig {
    let backoff = BackoffConfig { max_backoff: Duration::from_secs(4), ..BackoffConfig::default() };
    RetryConfig { backoff, max_retries: 20, retry_timeout: LAST_RETRY }
}

fn unknown(address: &str) -> Failure {
    Failure::usage(format!(
        "{address} is not the address of an object store: that is s3://BUCKET/NAME, gs://BUCKET/NAME, az://CONTAINER/NAME or \
         file:///FOLDER; or name a folder"
    ))
}

/// What a store says, on one line.
fn reason(error: &StoreError) -> String {
    let text = match error {
        StoreError::NotFound { .. } => "it is not there, or there is no such bucket".to_owned(),
        StoreError::PermissionDenied { .. } | StoreError::Unauthenticated { .. } => {
            format!("the store refuses the credentials of the environment: {error}")
        }
        error => error.to_string(),
    };
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match text.chars().count() > LONGEST_REASON {
        true => text.chars().take(LONGEST_REASON).chain(['…']).collect(),
        false => text,
    }
}

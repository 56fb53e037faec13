//! What the workers of one process share.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use birk_engine::{Job, Model};
use birk_ir::Stop;
use birk_search::levels::keys::Keys;
use birk_search::levels::limits::{Halt, Sizes};
use birk_search::levels::vault::Vault;

use crate::setting::Setting;

pub(crate) struct Shared<'a> {
    pub(crate) model: &'a dyn Model,
    pub(crate) job: &'a Job,
    pub(crate) setting: Setting,
    pub(crate) keys: Keys,
    pub(crate) vault: Vault,
    pub(crate) sizes: Sizes,
    /// Bytes that each worker may have.
    pub(crate) memory: u64,
    is_called_back: AtomicBool,
    failure: Mutex<Option<Halt>>,
}

impl<'a> Shared<'a> {
    pub(crate) fn new(model: &'a dyn Model, job: &'a Job, vault: Vault, setting: Setting) -> Self {
        let memory = job.limits.counted_memory() / job.limits.threads.max(1) as u64;
        Self {
            model,
            job,
            setting,
            keys: Keys::new(model),
            vault,
            sizes: Sizes::of(memory / 8, 1),
            memory,
            is_called_back: AtomicBool::new(false),
            failure: Mutex::new(None),
        }
    }

    /// Makes all workers of the process return soon.
    pub(crate) fn call_back(&self) {
        self.is_called_back.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_called_back(&self) -> bool {
        self.is_called_back.load(Ordering::Relaxed)
    }

    /// Notes why a worker cannot go on; why the search ends.
    pub(crate) fn failed(&self, halt: Halt) -> Stop {
        if let Halt::Stop(stop) = halt {
            return stop;
        }
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(halt);
        Stop::Disk
    }

    /// The first that was noted, once.
    pub(crate) fn failure(&self) -> Option<Halt> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

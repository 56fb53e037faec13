//! What all threads of a search on disk use: the model, the files, how the search stands, and whether it goes on.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use birk_engine::{Job, Model, Observer, Progress};
use birk_ir::Stop;

use crate::crew;
use crate::levels::keys::Keys;
use crate::levels::limits::{Flow, Halt, Sizes};
use crate::levels::vault::Vault;

/// What all threads of a search use.
pub(super) struct Shared<'a> {
    pub(super) model: &'a dyn Model,
    pub(super) job: &'a Job,
    pub(super) keys: Keys,
    pub(super) sizes: Sizes,
    pub(super) vault: Vault,
    /// How it stands.
    pub(super) states: AtomicU64,
    pub(super) transitions: AtomicU64,
    pub(super) depth: AtomicU32,
    pub(super) frontier: AtomicU64,
    /// Bytes in memory: of the workers, of the visited set and the level, and those that are not counted, as the observer said last.
    pub(super) own_bytes: AtomicU64,
    pub(super) common_bytes: AtomicU64,
    overhead: AtomicU64,
    /// All threads come back soon, for this reason.
    is_ended: AtomicBool,
    why: Mutex<Option<Halt>>,
}

impl<'a> Shared<'a> {
    pub(super) fn new(model: &'a dyn Model, job: &'a Job, vault: Vault) -> Self {
        Self {
            model,
            job,
            keys: Keys::new(model),
            sizes: Sizes::new(job),
            vault,
            states: AtomicU64::new(0),
            transitions: AtomicU64::new(0),
            depth: AtomicU32::new(0),
            frontier: AtomicU64::new(0),
            own_bytes: AtomicU64::new(0),
            common_bytes: AtomicU64::new(0),
            overhead: AtomicU64::new(0),
            is_ended: AtomicBool::new(false),
            why: Mutex::default(),
        }
    }

    /// Bytes in memory.
    pub(super) fn memory(&self) -> u64 {
        let counted = [&self.own_bytes, &self.common_bytes].map(|bytes| bytes.load(Ordering::Relaxed));
        counted.iter().sum::<u64>() + self.vault.memory()
    }

    pub(super) fn progress(&self) -> Progress {
        Progress {
            states: self.states.load(Ordering::Relaxed),
            transitions: self.transitions.load(Ordering::Relaxed),
            depth: self.depth.load(Ordering::Relaxed),
            frontier: self.frontier.load(Ordering::Relaxed),
            bytes: self.memory(),
            disk: Some(self.vault.traffic()),
            ..Progress::default()
        }
    }

    /// For a thread that has the observer.
    pub(super) fn asking<'o>(&'o self, observer: &'o mut dyn Observer) -> Asking<'o> {
        Asking { shared: self, observer: Some(observer) }
    }

    /// Lets workers work together, the first of them in this thread, until all are done or one of them ends it.
    pub(super) fn together<W: Send>(
        &self,
        workers: &mut [W],
        observer: &mut dyn Observer,
        work: impl Fn(&mut W, &mut Asking<'_>) -> Flow<()> + Sync,
    ) -> Flow<()> {
        let run = |worker: &mut W, mut asking: Asking<'_>| {
            if let Err(halt) = work(worker, &mut asking) {
                self.end(halt);
            }
        };
        let call_back = || self.end(Halt::Stop(Stop::Interrupt));
        let first = |worker: &mut W| run(worker, self.asking(observer));
        let other = |worker: &mut W| run(worker, Asking { shared: self, observer: None });
        crew::together("disk", workers, &call_back, first, &other);
        self.is_ended.store(false, Ordering::Relaxed);
        self.why.lock().unwrap_or_else(PoisonError::into_inner).take().map_or(Ok(()), Err)
    }

    /// Ends it for the first reason that there is.
    fn end(&self, halt: Halt) {
        self.why.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(halt);
        self.is_ended.store(true, Ordering::Relaxed);
    }
}

/// Whether to go on: the observer is asked in the thread that has it; others hear whether anybody has ended it.
pub(super) struct Asking<'o> {
    pub(super) shared: &'o Shared<'o>,
    observer: Option<&'o mut dyn Observer>,
}

impl Asking<'_> {
    pub(super) fn ask(&mut self) -> Flow<()> {
        let shared = self.shared;
        if shared.is_ended.load(Ordering::Relaxed) {
            return Err(Halt::Stop(Stop::Interrupt));
        }
        // Before the first level there is nothing to tell.
        let is_begun = shared.frontier.load(Ordering::Relaxed) > 0;
        match self.observer.as_deref_mut().filter(|_| is_begun).map(|observer| observer.progress(&shared.progress())) {
            Some(ControlFlow::Break(stop)) => Err(Halt::Stop(stop)),
            _ => Ok(()),
        }
    }

    /// The same, and whether what is in memory may be there.
    pub(super) fn ask_for_memory(&mut self) -> Flow<()> {
        self.ask()?;
        let (bytes, overhead) = (self.shared.memory(), &self.shared.overhead);
        if let Some(observer) = self.observer.as_deref_mut() {
            overhead.store(observer.overhead(bytes), Ordering::Relaxed);
        }
        let is_too_much = bytes.saturating_add(overhead.load(Ordering::Relaxed)) > self.shared.job.limits.memory;
        if is_too_much { Err(Halt::Stop(Stop::Memory)) } else { Ok(()) }
    }
}

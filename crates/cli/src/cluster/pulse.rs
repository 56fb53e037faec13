//! Signs of life: every process says each second to every other that it is alive. One that is silent for too long, or whose connection
//! ends before it has said that it is done, is lost, and whoever notices says so to all others, and ends.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, sleep};
use std::time::{Duration, Instant};

use super::hosts::Hosts;
use crate::{Exit, Failure, say};

const BEAT: Duration = Duration::from_secs(1);
/// Who says nothing for so long is lost.
const SILENCE: Duration = Duration::from_secs(10);
/// When a connection for keys breaks, so long it takes at most to hear why.
const REASON: Duration = Duration::from_secs(12);

/// What is said: one of these, and a rank.
const ALIVE: u8 = 1;
const DONE: u8 = 2;
const LOST: u8 = 3;
const WORD: usize = 5;

/// Watches over the connections of this process.
#[derive(Debug)]
pub(super) struct Heartbeat(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    rank: usize,
    hosts: Hosts,
    links: Vec<Option<Mutex<TcpStream>>>,
    /// How to go on, where the search is kept.
    resume: Option<String>,
    /// How many levels are complete in all processes.
    levels: AtomicU32,
    /// This process may go: the search is over.
    is_done: AtomicBool,
    /// The process ends, and has said why.
    is_ending: AtomicBool,
}

impl Heartbeat {
    /// Begins to watch.
    pub(super) fn start(
        (rank, hosts): (usize, &Hosts),
        links: Vec<Option<TcpStream>>,
        resume: Option<String>,
    ) -> Result<Self, Failure> {
        let failed = |error: std::io::Error| Failure::io("watch over the connections of a cluster", &error);
        let mut readers = Vec::new();
        for (peer, link) in links.iter().enumerate() {
            if let Some(link) = link {
                link.set_write_timeout(Some(BEAT)).map_err(failed)?;
                link.set_read_timeout(Some(SILENCE)).map_err(failed)?;
                readers.push((peer, link.try_clone().map_err(failed)?));
            }
        }
        let shared = Arc::new(Shared {
            rank,
            hosts: hosts.clone(),
            links: links.into_iter().map(|link| link.map(Mutex::new)).collect(),
            resume,
            levels: AtomicU32::new(0),
            is_done: AtomicBool::new(false),
            is_ending: AtomicBool::new(false),
        });
        for (peer, link) in readers {
            let shared = Arc::clone(&shared);
            let thread = Builder::new().name(format!("watch {peer}"));
            thread.spawn(move || shared.listen(peer, link)).map_err(failed)?;
        }
        let beating = Arc::clone(&shared);
        Builder::new().name("heartbeat".into()).spawn(move || beating.beat()).map_err(failed)?;
        Ok(Self(shared))
    }

    /// A level is complete in all processes.
    pub(super) fn complete(&self, level: u32) {
        self.0.levels.store(level + 1, Ordering::Relaxed);
    }

    /// The search is over: the others need this process no longer.
    pub(super) fn finish(&self) {
        self.0.is_done.store(true, Ordering::Release);
        self.0.tell_all(DONE, self.0.rank);
    }

    /// A connection for keys broke: waits for whoever knows why, and ends the process in any case.
    pub(super) fn give_up(&self) {
        if self.0.is_done.load(Ordering::Acquire) {
            return;
        }
        sleep(REASON);
        self.0.end(self.0.rank, "a connection to another rank broke");
    }
}

impl Drop for Heartbeat {
    fn drop(&mut self) {
        if !self.0.is_done.load(Ordering::Acquire) {
            // This process fails, and says itself why.
            self.0.is_ending.store(true, Ordering::Release);
            self.0.tell_all(LOST, self.0.rank);
        }
    }
}

impl Shared {
    fn tell_all(&self, word: u8, rank: usize) {
        let mut message = [word; WORD];
        message[1..].copy_from_slice(&(rank as u32).to_le_bytes());
        for link in self.links.iter().flatten() {
            // Whoever cannot be told is lost, and noticed by whoever listens to it.
            let _ = link.lock().unwrap_or_else(PoisonError::into_inner).write_all(&message);
        }
    }

    fn beat(&self) {
        while !self.is_done.load(Ordering::Acquire) {
            self.tell_all(ALIVE, self.rank);
            sleep(BEAT);
        }
    }

    /// Hears what another process says, until it is done.
    fn listen(&self, peer: usize, mut link: TcpStream) {
        let mut last = Instant::now();
        let mut message = [0; WORD];
        let mut read = 0;
        loop {
            match link.read(&mut message[read..]) {
                Ok(0) => return self.end(peer, "its connection was closed: it has ended or was killed"),
                Ok(bytes) => read += bytes,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                    if last.elapsed() >= SILENCE {
                        return self.end(peer, "it has said nothing for 10 s: it is stopped, or the network is cut");
                    }
                }
                Err(error) => return self.end(peer, &format!("its connection failed: {error}")),
            }
            if read < WORD {
                continue;
            }
            (read, last) = (0, Instant::now());
            let rank = u32::from_le_bytes([message[1], message[2], message[3], message[4]]) as usize;
            match message[0] {
                DONE => return,
                LOST if rank == peer => return self.end(peer, "it could not go on, and says itself why"),
                LOST if rank < self.hosts.len() => return self.end(rank, &format!("rank {peer} says so")),
                _ => {}
            }
        }
    }

    fn next_step(&self) -> String {
        let Some(resume) = &self.resume else { return "start all ranks again".into() };
        match self.levels.load(Ordering::Relaxed).checked_sub(1) {
            Some(level) => format!("resume from level {level} with {resume}"),
            None => format!("start all ranks again with {resume}"),
        }
    }

    /// Ends the process, because a rank is lost: nobody has an answer.
    fn end(&self, lost: usize, why: &str) {
        if self.is_done.load(Ordering::Acquire) || self.is_ending.swap(true, Ordering::AcqRel) {
            return;
        }
        self.tell_all(LOST, lost);
        say(&format!(
            "birk: {} was lost: {why}; the search has no answer. Look at what that process said last, then {}",
            self.hosts.name(lost),
            self.next_step()
        ));
        std::process::exit(Exit::Inconclusive as i32);
    }
}

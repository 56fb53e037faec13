//! The explorer's connections: a few threads answer them, and never more than a few are open. Whoever says nothing makes
//! room for the next, so that nobody can keep others out by waiting.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::net::{Shutdown, TcpListener, TcpStream};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::Builder;
use std::time::{Duration, Instant};

use birk::process_memory::address_space;

/// How many are answered at once, if the system has as many threads to give. Browsers open six.
const THREADS: usize = 16;
/// How many more may be open and wait for a thread.
const MOST_WAITING: usize = 16;
/// The address space that must be left for another thread: its stack, the heap that the C library reserves for each (64 MiB,
/// while it looks for an aligned one 128), and as much again for all others. A thread that finds no memory ends the process.
const ROOM: u64 = 192 << 20;
/// How long whoever has a thread may say nothing while others wait: on a busy machine, hearing takes a moment.
const GRACE: Duration = Duration::from_millis(20);

/// Those that are open.
#[derive(Default)]
pub(crate) struct Connections {
    open: Mutex<Open>,
    changed: Condvar,
}

#[derive(Default)]
struct Open {
    waiting: VecDeque<Arc<TcpStream>>,
    /// Those that a thread listens to, or answers; the oldest first.
    taken: Vec<Taken>,
    threads: usize,
    /// The system has no room for another.
    is_full: bool,
}

struct Taken {
    stream: Arc<TcpStream>,
    since: Instant,
    /// What it asks for is known, and may be asked.
    is_heard: bool,
}

impl Connections {
    /// Answers each connection, until the process ends; an error if there is not even one thread for it. `answer` says by
    /// the function it is given that a request was read which may be asked.
    pub(crate) fn serve(
        &self,
        listener: &TcpListener,
        answer: impl Fn(&TcpStream, &dyn Fn()) + Sync,
    ) -> std::io::Result<Infallible> {
        std::thread::scope(|scope| {
            Builder::new().spawn_scoped(scope, || self.make_room())?;
            for _ in 0..THREADS {
                let before = self.lock().threads;
                if before > 0 && address_space().is_some_and(|left| left < ROOM) {
                    break;
                }
                match Builder::new().spawn_scoped(scope, || self.work(&answer)) {
                    Ok(_) => self.wait_for_more_than(before),
                    Err(error) if before == 0 => return Err(error),
                    Err(_) => break,
                }
            }
            loop {
                self.take_in(listener.accept().ok().map(|(stream, _)| stream));
            }
        })
    }

    /// Takes in the next connection, or learns that none can be had: most likely there are as many files open as there may be.
    fn take_in(&self, stream: Option<TcpStream>) {
        let mut open = self.lock();
        open.is_full = stream.is_none();
        open.waiting.extend(stream.map(Arc::new));
        self.changed.notify_all();
        while open.waiting.len() > MOST_WAITING {
            open = self.changed.wait(open).unwrap_or_else(PoisonError::into_inner);
        }
        if open.is_full {
            drop(self.changed.wait_timeout(open, GRACE));
        }
    }

    /// Ends those who say nothing, the oldest first, as long as others wait for their place.
    fn make_room(&self) -> ! {
        let mut open = self.lock();
        loop {
            open = if open.is_needed() {
                open.end_oldest();
                self.changed.wait_timeout(open, GRACE).unwrap_or_else(PoisonError::into_inner).0
            } else {
                self.changed.wait(open).unwrap_or_else(PoisonError::into_inner)
            };
        }
    }

    /// One thread after the other: a thread that begins while others take up the last memory ends the process.
    fn wait_for_more_than(&self, threads: usize) {
        drop(self.changed.wait_while(self.lock(), |open| open.threads == threads));
    }

    /// What each thread does.
    fn work(&self, answer: &impl Fn(&TcpStream, &dyn Fn())) -> ! {
        self.lock().threads += 1;
        self.changed.notify_all();
        loop {
            let mut open = self.lock();
            let stream = loop {
                match open.waiting.pop_front() {
                    Some(stream) => break stream,
                    None => open = self.changed.wait(open).unwrap_or_else(PoisonError::into_inner),
                }
            };
            open.taken.push(Taken { stream: stream.clone(), since: Instant::now(), is_heard: false });
            self.changed.notify_all();
            drop(open);
            // A panic was reported when it happened; others are answered all the same.
            let _ = catch_unwind(AssertUnwindSafe(|| answer(&stream, &|| self.lock().hear(&stream))));
            let mut open = self.lock();
            open.taken.retain(|one| !Arc::ptr_eq(&one.stream, &stream));
            // Closed before others hear that there is room.
            drop(stream);
            self.changed.notify_all();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Open {
    /// Whether someone waits for the place of one who says nothing.
    fn is_needed(&self) -> bool {
        let is_kept_out = self.is_full || !self.waiting.is_empty() && self.taken.len() == self.threads;
        is_kept_out && self.taken.iter().any(|one| !one.is_heard)
    }

    fn end_oldest(&self) {
        if let Some(silent) = self.taken.iter().find(|one| !one.is_heard && one.since.elapsed() >= GRACE) {
            // What it has said by now is answered: its thread may only have had no time to read it.
            let _ = silent.stream.shutdown(Shutdown::Read);
        }
    }

    /// It said what it wants, and may want it: it is not ended for others any more.
    fn hear(&mut self, stream: &Arc<TcpStream>) {
        for one in self.taken.iter_mut().filter(|one| Arc::ptr_eq(&one.stream, stream)) {
            one.is_heard = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::net::Ipv4Addr;

    use super::*;

    /// On a busy machine, a thread may get no time between taking a connection and reading what it says.
    #[test]
    fn who_has_said_something_is_answered_by_threads_that_are_late() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("there is a port");
        let address = listener.local_addr().expect("it has an address");
        // It ends with the process.
        std::thread::spawn(move || {
            Connections::default().serve(&listener, |mut stream, hear| {
                std::thread::sleep(GRACE * 5);
                let mut said = [0; 5];
                if stream.read_exact(&mut said).is_ok() {
                    hear();
                    _ = stream.write_all(&said);
                }
            })
        });
        let ask = |_| {
            let mut stream = TcpStream::connect(address).expect("it listens");
            stream.write_all(b"hello").expect("it hears");
            stream
        };
        for mut stream in (0..THREADS + MOST_WAITING).map(ask).collect::<Vec<_>>() {
            let mut answer = String::new();
            stream.read_to_string(&mut answer).expect("it answers");
            assert_eq!(answer, "hello");
        }
    }
}

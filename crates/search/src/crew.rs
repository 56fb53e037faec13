//! Threads that search together: a panic in one of them calls the others back, and goes on in the thread that started them.

use std::panic::resume_unwind;
use std::thread::{Builder, Scope, ScopedJoinHandle};

/// Lets the first of some workers work here, and the others in threads of their own, until all are done. After a panic
/// `call_back` is called, which makes all of them return soon.
pub(crate) fn together<W: Send>(
    engine: &str,
    workers: &mut [W],
    call_back: &(impl Fn() + Sync),
    first: impl FnOnce(&mut W),
    other: &(impl Fn(&mut W) + Sync),
) {
    let (one, others) = workers.split_first_mut().expect("there is at least one worker");
    let guard = || {
        Leaving(|panics| {
            if panics {
                call_back();
            }
        })
    };
    std::thread::scope(|scope| {
        let _guard = guard();
        let work = |(number, worker)| {
            start(scope, engine, number, move || {
                let _guard = guard();
                other(worker);
            })
        };
        let others: Vec<_> = (1..).zip(others).map(work).collect();
        first(one);
        others.into_iter().for_each(join);
    });
}

/// Starts a worker, which the message of a panic will name.
pub(crate) fn start<'s, T: Send + 's>(
    scope: &'s Scope<'s, '_>,
    engine: &str,
    number: usize,
    work: impl FnOnce() -> T + Send + 's,
) -> ScopedJoinHandle<'s, T> {
    let name = format!("{engine} worker {number}");
    let thread = Builder::new().name(name.clone());
    thread.spawn_scoped(scope, work).unwrap_or_else(|error| panic!("{name} cannot be started: {error}"))
}

/// What a worker returned. Its panic becomes ours; the message was printed when it happened.
pub(crate) fn join<T>(worker: ScopedJoinHandle<'_, T>) -> T {
    worker.join().unwrap_or_else(|panic| resume_unwind(panic))
}

/// Done when a thread leaves the scope of this, however it leaves; told whether it panics.
pub(crate) struct Leaving<F: FnMut(bool)>(pub(crate) F);

impl<F: FnMut(bool)> Drop for Leaving<F> {
    fn drop(&mut self) {
        (self.0)(std::thread::panicking());
    }
}

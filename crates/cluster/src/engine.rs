//! The engine: workers in threads of this process, and of others where there are any.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::thread::Builder;

use birk_engine::{Cutoff, Engine, EngineStats, ExchangeStats, Hunt, Job, Model, Observer, Peers, Search, Stats};
use birk_ir::{Coverage, Outcome, Stop};
use birk_search::levels::limits::{Flow, Halt, nothing};
use birk_search::levels::vault::Vault;
use timely::communication::allocator::ProcessBuilder;
use timely::communication::allocator::zero_copy::allocator::TcpBuilder;
use timely::communication::allocator::zero_copy::initialize::{CommsGuard, initialize_networking_from_sockets};
use timely::communication::{Allocator, Hooks};

use crate::dataflow::Dataflow;
use crate::fabric::Fabric;
use crate::link::Wire;
use crate::protocol::{Over, bit};
use crate::reordering::Reordering;
use crate::search::{Turn, Worker};
use crate::setting::{COMPRESS, Setting};
use crate::shared::Shared;

/// The engine of this crate.
pub const ENGINES: &[Engine] = &[Engine {
    summary: "breadth-first on several machines: as bfs, with each state at the worker that owns it",
    when: "models that fit in the memory of several machines and not of one; safety properties only",
    memory: "every state once at its owner, in a few bytes, and once in a level file",
    complete: true,
    shortest: true,
    scales: true,
    covers_by_depth: true,
    on_disk: true,
    resumes: true,
    saves_levels: true,
    distributed: true,
    options: &[COMPRESS],
    ..Engine::new("cluster", Search::Model(cluster_search))
}];

/// How an allocator of timely is made, in the thread of its worker.
pub(crate) enum Making {
    Thread(ProcessBuilder),
    Process(TcpBuilder),
}

impl Making {
    pub(crate) fn dataflow(self) -> Dataflow {
        Dataflow::new(match self {
            Making::Thread(builder) => Allocator::Process(builder.build()),
            Making::Process(builder) => Allocator::Tcp(builder.build()),
        })
    }
}

/// Searches with a worker for each thread, in all processes that the observer knows of.
fn cluster_search(model: &dyn Model, job: &Job, observer: &mut dyn Observer) -> Hunt {
    let peers = observer.outside().and_then(|outside| outside.peers());
    match peers {
        None => hunt_by_threads(model, job, observer, Setting::of(job)),
        Some(peers) => hunt_by_processes(model, job, observer, &peers),
    }
}

/// Searches with a worker for each thread of this process.
pub fn hunt_by_threads(model: &dyn Model, job: &Job, observer: &mut dyn Observer, setting: Setting) -> Hunt {
    let Hooks { refill, spill, .. } = Hooks::default();
    let threads = job.limits.threads.max(1);
    let builders = match setting.serialises {
        true => ProcessBuilder::new_bytes_vector(threads, refill, spill),
        false => ProcessBuilder::new_typed_vector(threads, refill, spill),
    };
    let makings = builders.into_iter().map(Making::Thread).collect();
    together(model, job, observer, (makings, setting))
}

/// Searches together with the workers of other processes.
fn hunt_by_processes(model: &dyn Model, job: &Job, observer: &mut dyn Observer, peers: &Arc<dyn Peers>) -> Hunt {
    let (makings, guard) = match connected(peers, job.limits.threads.max(1)) {
        Ok(connected) => connected,
        Err(halt) => return nothing(model, job, halt, observer),
    };
    let search = AssertUnwindSafe(|| {
        let hunt = together(model, job, &mut *observer, (makings, Setting::of(job)));
        // Waits until everything was sent, and the others have ended, too.
        drop(guard);
        hunt
    });
    match catch_unwind(search) {
        Ok(hunt) => hunt,
        Err(panic) if is_of_communication(&*panic) => {
            peers.broken();
            nothing(model, job, Halt::Stop(Stop::Interrupt), observer)
        }
        Err(panic) => resume_unwind(panic),
    }
}

/// The workers of this process among those of all processes; the connections are there until the guard is dropped.
pub(crate) fn connected(peers: &Arc<dyn Peers>, threads: usize) -> Flow<(Vec<Making>, CommsGuard)> {
    let links = peers.links().ok_or(Halt::Refused("the connections of a cluster are for one search"))?;
    let wires = links.into_iter().map(|link| link.map(|link| Wire::new(link, peers))).collect();
    let hooks = Hooks::default();
    let builders = ProcessBuilder::new_typed_vector(threads, hooks.refill.clone(), None);
    let (builders, guard) = initialize_networking_from_sockets(builders, wires, peers.rank(), threads, hooks)?;
    Ok((builders.into_iter().map(Making::Process).collect(), guard))
}

/// Whether a panic says that timely lost a connection: it has no other way to say so.
fn is_of_communication(panic: &(dyn std::any::Any + Send)) -> bool {
    let text = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
    let words = ["timely communication error", "MergeQueue", "Send thread panic", "Recv thread panic"];
    text.is_some_and(|text| words.iter().any(|words| text.contains(words)))
}

/// Lets all workers of this process search, the first of them in this thread. A panic in one calls the others back, and goes on here.
fn together(
    model: &dyn Model,
    job: &Job,
    observer: &mut dyn Observer,
    (makings, setting): (Vec<Making>, Setting),
) -> Hunt {
    let files = observer.outside().and_then(|outside| outside.files());
    let shared = &Shared::new(model, job, Vault::new(files, u64::MAX), setting);
    let found = std::thread::scope(|scope| {
        let mut makings = makings.into_iter();
        let first = makings.next().expect("there is at least one worker");
        let start = |(number, making): (usize, Making)| {
            let name = format!("cluster worker {number}");
            let thread = Builder::new().name(name.clone());
            let spawned = thread.spawn_scoped(scope, move || {
                let _guard = Leaving(shared);
                let _ = work(shared, making.dataflow(), None);
            });
            spawned.unwrap_or_else(|error| panic!("{name} cannot be started: {error}"))
        };
        let others: Vec<_> = (1..).zip(makings).map(start).collect();
        let found = {
            let _guard = Leaving(shared);
            work(shared, first.dataflow(), Some(observer))
        };
        others.into_iter().for_each(|other| other.join().unwrap_or_else(|panic| resume_unwind(panic)));
        found
    });
    found.unwrap_or_else(|_| panic!("a worker was called back, and none has panicked"))
}

/// Calls all workers back when one of them panics.
struct Leaving<'a>(&'a Shared<'a>);

impl Drop for Leaving<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.call_back();
        }
    }
}

fn work(shared: &Shared<'_>, dataflow: Dataflow, observer: Option<&mut dyn Observer>) -> Turn<Hunt> {
    match shared.setting.reorders {
        None => {
            let (hunt, dataflow) = hunt(shared, dataflow, observer)?;
            dataflow.finish();
            Ok(hunt)
        }
        Some(seed) => {
            let (hunt, reordering) = hunt(shared, Reordering::new(dataflow, seed), observer)?;
            reordering.into_inner().finish();
            Ok(hunt)
        }
    }
}

/// Searches as one worker of many; every one of them has the whole answer.
fn hunt<F: Fabric>(shared: &Shared<'_>, fabric: F, observer: Option<&mut dyn Observer>) -> Turn<(Hunt, F)> {
    let mut worker = Worker::new(shared, fabric, observer);
    let over = worker.search()?;
    let (traces, ended) = worker.traces(&over)?;
    worker.told();
    let mut traces = traces.into_iter();
    let is_untraced = ended.is_some();
    let hunt = answer(shared, over, ended, |depth| match traces.next().flatten() {
        Some(trace) => Outcome::Found(trace),
        None => {
            assert!(is_untraced, "a trace leads along the levels");
            Outcome::Untraced(depth)
        }
    });
    Ok((hunt, worker.fabric))
}

/// What is said in the end, given what is said of each goal that was found.
fn answer(shared: &Shared<'_>, over: Over, ended: Option<Stop>, mut outcome: impl FnMut(u32) -> Outcome) -> Hunt {
    let transitions = shared.model.transitions();
    let stopped = match (Stop::from(over.ended), ended) {
        (Stop::Goal, Some(ended)) => ended,
        (stopped, _) => stopped,
    };
    let coverage = match (stopped, over.evaluated) {
        (Stop::Exhausted, _) => Coverage::Complete,
        (_, Some(depth)) => Coverage::Depth(depth),
        (_, None) => Coverage::Partial(over.states),
    };
    let absent = if coverage == Coverage::Complete { Outcome::Absent } else { Outcome::Inconclusive };
    let mut cutoff = Cutoff::new(transitions);
    match stopped {
        Stop::Exhausted | Stop::Goal => cutoff = Cutoff::default(),
        Stop::Depth => {
            (cutoff.states, cutoff.examined) = (over.edge.0, over.edge.0);
            cutoff.open.iter_mut().zip(&over.edge.1).for_each(|(open, &steps)| *open = steps);
        }
        _ => cutoff.states = over.waiting,
    }
    Hunt {
        outcomes: over
            .found
            .iter()
            .map(|found| found.as_ref().map_or(absent.clone(), |(depth, _)| outcome(*depth)))
            .collect(),
        coverage,
        stopped,
        stats: Stats {
            states: over.states,
            transitions: over.transitions,
            max_depth: over.max_depth,
            cut: over.cut,
            peak_frontier: over.peak_frontier,
            store_bytes: over.bytes,
            levels: over.levels,
            cutoff,
            engine: EngineStats::Exchange(ExchangeStats {
                blocks: over.exchanged.blocks,
                compressed_blocks: over.exchanged.packed,
                bytes: over.exchanged.bytes,
            }),
            ..Stats::default()
        },
        fired: (0..transitions)
            .map(|transition| over.fired.get(transition / 64).is_some() && bit(&over.fired, transition))
            .collect(),
    }
}

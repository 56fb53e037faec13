//! Processes that search together: who they are, how they find and trust each other, and what happens when one is lost.
//!
//! Every process has a rank, its place in the file of hosts. Each pair has two connections: one is timely's, for keys, on the other
//! both say every second that they are alive. A process that is lost, stopped or cut off ends all others: none of them has an answer.

mod connect;
mod greeting;
mod hosts;
mod pulse;

use std::io::{Read as _, Result, Write as _};
use std::net::{Shutdown, TcpStream};
use std::panic::{set_hook, take_hook};
use std::sync::{Arc, Mutex, PoisonError};

use birk_engine::{Link, Peers};
use sha2::{Digest as _, Sha256};

use crate::cli::{CheckArgs, ClusterOptions};
use crate::source::Source;
use crate::{Exit, Failure};
use connect::connect;
use greeting::Common;
use hosts::{Hosts, rank};
use pulse::Heartbeat;

/// What the token is read from.
pub(crate) const TOKEN: &str = "BIRK_CLUSTER_TOKEN";
/// How many processes `birk cluster` has started on this machine, of which this is one.
pub(crate) const PROCESSES: &str = "BIRK_CLUSTER_PROCESSES";
/// A shorter token could be guessed.
const SHORTEST_TOKEN: usize = 16;

/// This process among those that search together.
#[derive(Debug)]
pub(crate) struct Cluster {
    rank: usize,
    processes: usize,
    links: Mutex<Option<Vec<Option<TcpStream>>>>,
    heartbeat: Heartbeat,
}

impl Cluster {
    /// Connects with all other processes, if there are any.
    pub(crate) fn join(
        args: &CheckArgs,
        source: &Source,
        threads: usize,
    ) -> std::result::Result<Option<Arc<Self>>, Failure> {
        let Some(path) = &args.together.cluster else { return Ok(None) };
        let hosts = Hosts::read(path)?;
        let rank = rank(args.together.rank, &hosts)?;
        let token = std::env::var(TOKEN).unwrap_or_default();
        if token.len() < SHORTEST_TOKEN {
            return Err(Failure::usage(format!(
                "--cluster needs the same secret of at least {SHORTEST_TOKEN} characters in {TOKEN} of every process; for example \
                 that which `openssl rand -hex 32` prints"
            )));
        }
        let program = identity(args, source, threads, &hosts);
        let common = Common { version: env!("CARGO_PKG_VERSION"), token, program, rank, hosts };
        let connected = connect(&common, args.together.cluster_wait)?;
        silence_timely();
        let resume = args.checkpoint.as_ref().map(|folder| match std::env::var(PROCESSES) {
            Ok(processes) => format!("`birk cluster resume -n {processes} {}`", folder.display()),
            Err(_) => format!("`birk resume {} --cluster {}` on every rank", folder.display(), path.display()),
        });
        let heartbeat = Heartbeat::start((rank, &common.hosts), connected.control, resume)?;
        let links = Mutex::new(Some(connected.data));
        Ok(Some(Arc::new(Self { rank, processes: common.hosts.len(), links, heartbeat })))
    }

    /// Whether another process reports, and keeps the search, where it is kept.
    pub(crate) fn is_led(options: &ClusterOptions) -> std::result::Result<bool, Failure> {
        let Some(path) = &options.cluster else { return Ok(false) };
        Ok(rank(options.rank, &Hosts::read(path)?)? > 0)
    }

    /// Whether another process reports.
    pub(crate) fn is_silent(&self) -> bool {
        self.rank > 0
    }

    /// What this process says instead of a report.
    pub(crate) fn farewell(&self) -> String {
        format!("birk: rank {} of {} has finished; rank 0 reports", self.rank, self.processes)
    }

    /// The search is over, and this process may go.
    pub(crate) fn finish(&self) {
        self.heartbeat.finish();
    }
}

impl Peers for Cluster {
    fn rank(&self) -> usize {
        self.rank
    }

    fn links(&self) -> Option<Vec<Option<Box<dyn Link>>>> {
        let links = self.links.lock().unwrap_or_else(PoisonError::into_inner).take()?;
        let boxed = |stream: TcpStream| Box::new(Connection(stream)) as Box<dyn Link>;
        Some(links.into_iter().map(|link| link.map(boxed)).collect())
    }

    fn complete(&self, level: u32) {
        self.heartbeat.complete(level);
    }

    fn broken(&self) {
        self.heartbeat.give_up();
    }
}

/// A connection for keys.
struct Connection(TcpStream);

impl Link for Connection {
    fn send(&mut self, bytes: &[u8]) -> Result<usize> {
        self.0.write(bytes)
    }

    fn receive(&mut self, bytes: &mut [u8]) -> Result<usize> {
        self.0.read(bytes)
    }

    fn another(&self) -> Result<Box<dyn Link>> {
        Ok(Box::new(Self(self.0.try_clone()?)))
    }

    fn end(&self) -> Result<()> {
        self.0.shutdown(Shutdown::Write)
    }
}

/// What all processes must have in common: the model, the options that decide what is found, and how many workers there are.
fn identity(args: &CheckArgs, source: &Source, threads: usize, hosts: &Hosts) -> [u8; 32] {
    let mut hash = Sha256::new();
    let mut add = |text: &str| {
        hash.update((text.len() as u64).to_le_bytes());
        hash.update(text.as_bytes());
    };
    source.texts().for_each(&mut add);
    add("options");
    args.given.iter().for_each(|word| add(word));
    add(&format!("{threads} threads, {} processes", hosts.len()));
    hash.finalize().into()
}

/// The search has no answer, for a reason that lies in another process or between them.
fn lost(message: String) -> Failure {
    Failure { exit: Exit::Inconclusive, message }
}

/// Threads of timely panic when a connection ends, and that is said in other words.
fn silence_timely() {
    let usual = take_hook();
    set_hook(Box::new(move |panic| {
        let payload = panic.payload();
        let text = payload.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or_default();
        let is_of_timely = std::thread::current().name().is_some_and(|name| name.starts_with("timely:"));
        if !is_of_timely && !text.contains("MergeQueue") {
            usual(panic);
        }
    }));
}

//! Connections between all processes, or a reason why there are none, before a deadline.
//!
//! A process listens at its own port, and connects to those of lower rank. Whoever is not there yet is tried again.

use std::io::{Error, ErrorKind};
use std::net::{TcpListener, TcpStream, ToSocketAddrs as _};
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::greeting::{Common, Met, Purpose, Refusal, answer, ask};
use super::lost;
use crate::{Exit, Failure};

/// Between two tries.
const PAUSE: Duration = Duration::from_millis(50);
/// A connection whose other end has confirmed nothing for so long is closed by the system. Later than signs of life are missed, because
/// those say who is lost: this is for when nobody is left to say it.
#[cfg(target_os = "linux")]
const UNANSWERED: Duration = Duration::from_secs(20);
/// A greeting takes no longer.
const GREETING: Duration = Duration::from_secs(5);

/// A connection to each process for keys, and one for signs of life.
pub(super) struct Connected {
    pub(super) data: Vec<Option<TcpStream>>,
    pub(super) control: Vec<Option<TcpStream>>,
}

impl Connected {
    fn list(&mut self, purpose: Purpose) -> &mut Vec<Option<TcpStream>> {
        match purpose {
            Purpose::Data => &mut self.data,
            Purpose::Control => &mut self.control,
        }
    }

    /// The first process above this rank that has not connected.
    fn missing(&self, rank: usize) -> Option<usize> {
        (rank + 1..self.data.len()).find(|&peer| self.data[peer].is_none() || self.control[peer].is_none())
    }
}

/// Connects with all other processes.
pub(super) fn connect(common: &Common, wait: Duration) -> Result<Connected, Failure> {
    let deadline = Instant::now() + wait;
    let (rank, processes) = (common.rank, common.hosts.len());
    let port = common.hosts.port(rank);
    let listener = TcpListener::bind(("0.0.0.0", port)).map_err(|error| {
        let next = match error.kind() {
            ErrorKind::AddrInUse => {
                "; another process uses the port: end it, or write another port into the file of hosts"
            }
            _ => "",
        };
        Failure { exit: Exit::Io, message: format!("rank {rank} cannot listen at port {port}: {error}{next}") }
    })?;
    let empty = || (0..processes).map(|_| None).collect();
    let mut connected = Connected { data: empty(), control: empty() };
    for peer in 0..rank {
        for purpose in [Purpose::Data, Purpose::Control] {
            let stream = reach(common, peer, purpose, deadline)?;
            connected.list(purpose)[peer] = Some(stream);
        }
    }
    await_others(common, &listener, &mut connected, (deadline, wait))?;
    for stream in connected.data.iter().chain(&connected.control).flatten() {
        settle(stream).map_err(|error| Failure::io("set up a connection", &error))?;
    }
    Ok(connected)
}

/// A connection stays as long as the search, unless the other side does not answer.
fn settle(stream: &TcpStream) -> Result<(), Error> {
    stream.set_read_timeout(None)?;
    stream.set_write_timeout(None)?;
    stream.set_nodelay(true)?;
    // Elsewhere signs of life alone must do.
    #[cfg(target_os = "linux")]
    {
        use rustix::net::sockopt;
        sockopt::set_tcp_user_timeout(stream, UNANSWERED.as_millis() as u32)?;
        sockopt::set_tcp_keepidle(stream, UNANSWERED / 2)?;
        sockopt::set_tcp_keepintvl(stream, UNANSWERED / 4)?;
        sockopt::set_tcp_keepcnt(stream, 2)?;
        sockopt::set_socket_keepalive(stream, true)?;
    }
    Ok(())
}

/// Connects to a process of lower rank.
fn reach(common: &Common, peer: usize, purpose: Purpose, deadline: Instant) -> Result<TcpStream, Failure> {
    loop {
        let error = match try_once(common, peer, purpose) {
            Ok((stream, Met::Peer(found, _))) if found == peer => return Ok(stream),
            Ok((_, Met::Peer(..))) => return Err(refused(common, peer, Refusal::Rank)),
            Ok((_, Met::Refused(refusal))) => return Err(refused(common, peer, refusal)),
            Err(error) if error.kind() == ErrorKind::InvalidData => return Err(unreachable(common, peer, &error)),
            Err(error) => error,
        };
        if Instant::now() >= deadline {
            return Err(unreachable(common, peer, &error));
        }
        sleep(PAUSE);
    }
}

fn try_once(common: &Common, peer: usize, purpose: Purpose) -> Result<(TcpStream, Met), Error> {
    let mut addresses = common.hosts.of(peer).to_socket_addrs()?;
    let address = addresses.next().ok_or_else(|| Error::other("the host has no address"))?;
    let mut stream = TcpStream::connect_timeout(&address, GREETING)?;
    limit(&stream)?;
    let met = ask(&mut stream, common, purpose)?;
    Ok((stream, met))
}

fn limit(stream: &TcpStream) -> Result<(), Error> {
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(GREETING))?;
    stream.set_write_timeout(Some(GREETING))
}

/// Waits until all processes of higher rank have connected.
fn await_others(
    common: &Common,
    listener: &TcpListener,
    connected: &mut Connected,
    (deadline, wait): (Instant, Duration),
) -> Result<(), Failure> {
    listener.set_nonblocking(true).map_err(|error| Failure::io("listen", &error))?;
    // Somebody else may knock: that is no reason to end, but it may be the reason why another is missing.
    let mut last = None;
    while let Some(missing) = connected.missing(common.rank) {
        match listener.accept() {
            Ok((stream, from)) => match welcome(stream, common) {
                Ok((stream, Met::Peer(peer, purpose))) if connected.list(purpose)[peer].is_none() => {
                    connected.list(purpose)[peer] = Some(stream);
                }
                Ok((_, Met::Peer(..))) => last = Some(format!("{from}: {}", Refusal::Rank.reason())),
                Ok((_, Met::Refused(refusal))) => last = Some(format!("{from}: {}", refusal.reason())),
                Err(error) => last = Some(format!("{from}: {error}")),
            },
            Err(_) if Instant::now() >= deadline => {
                let heard = last.map_or(String::new(), |last| format!("; who connected last was refused, {last}"));
                return Err(lost(format!(
                    "{} did not connect within {} s{heard}; see that it is started, and that it reaches {}",
                    common.hosts.name(missing),
                    wait.as_secs(),
                    common.hosts.of(common.rank)
                )));
            }
            Err(_) => sleep(PAUSE),
        }
    }
    Ok(())
}

fn welcome(mut stream: TcpStream, common: &Common) -> Result<(TcpStream, Met), Error> {
    stream.set_nonblocking(false)?;
    limit(&stream)?;
    let met = answer(&mut stream, common)?;
    Ok((stream, met))
}

fn refused(common: &Common, peer: usize, refusal: Refusal) -> Failure {
    Failure::usage(format!("rank {} cannot search with {}: {}", common.rank, common.hosts.name(peer), refusal.reason()))
}

fn unreachable(common: &Common, peer: usize, error: &Error) -> Failure {
    lost(format!(
        "rank {} does not reach {}: {error}; see that it is started, and that its port is open",
        common.rank,
        common.hosts.name(peer)
    ))
}

#[cfg(test)]
mod tests {
    use super::super::hosts::Hosts;
    use super::*;

    /// Two processes at free ports: how each ends, when the second is as it is made.
    fn two(change: impl FnOnce(Common) -> Common) -> [Result<Connected, Failure>; 2] {
        let held = [0, 1].map(|_| TcpListener::bind(("127.0.0.1", 0)).expect("there is a port"));
        let lines = held.each_ref().map(|listener| format!("{}", listener.local_addr().expect("it has an address")));
        drop(held);
        let hosts = Hosts::parse(&lines.join("\n")).expect("two hosts");
        let common = |rank| Common {
            version: "1.2.3",
            token: "a secret of the tests".to_owned(),
            program: [7; 32],
            rank,
            hosts: hosts.clone(),
        };
        let (first, second) = (common(0), change(common(1)));
        std::thread::scope(|scope| {
            let first = scope.spawn(move || connect(&first, Duration::from_secs(2)));
            let second = connect(&second, Duration::from_secs(2));
            [first.join().expect("no panic"), second]
        })
    }

    #[test]
    fn another_version_is_refused_by_both() {
        let other = two(|common| Common { version: "1.2.4", ..common });
        let failures = other.map(|connected| connected.err().expect("they differ"));
        for Failure { message, .. } in &failures {
            assert!(message.contains("it is another version of Birk; install the same everywhere"), "{message}");
        }
        assert_eq!(failures.map(|failure| failure.exit), [Exit::Inconclusive, Exit::Usage]);
    }

    /// The system closes a connection that nobody answers, and asks whether the other end is there when nothing is said.
    #[test]
    #[cfg(target_os = "linux")]
    fn connections_are_watched_by_the_system() {
        use rustix::net::sockopt;
        for connected in two(|common| common) {
            let connected = connected.unwrap_or_else(|failure| panic!("{}", failure.message));
            let streams: Vec<&TcpStream> = connected.data.iter().chain(&connected.control).flatten().collect();
            assert_eq!(streams.len(), 2);
            for stream in streams {
                assert_eq!(sockopt::tcp_user_timeout(stream).ok(), Some(20_000));
                assert_eq!(sockopt::socket_keepalive(stream).ok(), Some(true));
                assert_eq!(sockopt::tcp_keepidle(stream).ok(), Some(Duration::from_secs(10)));
            }
        }
    }
}

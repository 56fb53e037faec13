//! How two processes make sure of each other before anything is sent: both have the same token, Birk, model and options, and each is
//! the one that the other expects. The token proves itself (HMAC over what both have said, with a number that each has drawn); it is
//! never sent. What is sent afterwards is neither encrypted nor signed: the network has to be a private one.

use std::io::{Error, ErrorKind, Read, Result, Write};

use hmac::{Hmac, Mac as _};
use sha2::Sha256;

use super::hosts::Hosts;

/// How a greeting begins; the last number is the version of what follows.
const MAGIC: [u8; 8] = *b"birkcl\x00\x01";
/// Bytes of a greeting: how it begins, version of Birk, program, rank, processes, purpose, and what was drawn.
const LENGTH: usize = 8 + 32 + 32 + 4 + 4 + 4 + 16;
const SUM: usize = 32;

/// What this process brings.
#[derive(Clone, Debug)]
pub(super) struct Common {
    pub(super) version: &'static str,
    pub(super) token: String,
    pub(super) program: [u8; 32],
    pub(super) rank: usize,
    pub(super) hosts: Hosts,
}

/// What a connection is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    Data = 0,
    Control = 1,
}

/// Why two processes cannot search together. The number travels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    Version = 1,
    Token = 2,
    Program = 3,
    Rank = 4,
}

impl Refusal {
    fn of(number: u8) -> Option<Self> {
        [Self::Version, Self::Token, Self::Program, Self::Rank].into_iter().find(|refusal| *refusal as u8 == number)
    }

    /// What is wrong, and what to do.
    pub(super) fn reason(self) -> &'static str {
        match self {
            Self::Version => "it is another version of Birk; install the same everywhere",
            Self::Token => "it has another token; set the same BIRK_CLUSTER_TOKEN everywhere",
            Self::Program => {
                "it checks another model, or with other options, hosts or threads; start all with the same files and options"
            }
            Self::Rank => {
                "it has a rank that another process has, or none of the hosts'; give each process its own --rank"
            }
        }
    }
}

/// How a greeting ended.
pub(super) enum Met {
    /// The other is this rank, and wants the connection for this.
    Peer(usize, Purpose),
    Refused(Refusal),
}

struct Greeting([u8; LENGTH]);

impl Greeting {
    fn new(common: &Common, purpose: Purpose) -> Result<Self> {
        let mut bytes = [0; LENGTH];
        bytes[..8].copy_from_slice(&MAGIC);
        let version = common.version.as_bytes();
        let length = version.len().min(32);
        bytes[8..8 + length].copy_from_slice(&version[..length]);
        bytes[40..72].copy_from_slice(&common.program);
        bytes[72..76].copy_from_slice(&(common.rank as u32).to_le_bytes());
        bytes[76..80].copy_from_slice(&(common.hosts.len() as u32).to_le_bytes());
        bytes[80..84].copy_from_slice(&(purpose as u32).to_le_bytes());
        getrandom::fill(&mut bytes[84..]).map_err(Error::other)?;
        Ok(Self(bytes))
    }

    fn read(stream: &mut impl Read) -> Result<Self> {
        let mut bytes = [0; LENGTH];
        stream.read_exact(&mut bytes)?;
        if bytes[..7] != MAGIC[..7] {
            return Err(Error::new(ErrorKind::InvalidData, "what answers there is not a process of a cluster of Birk"));
        }
        Ok(Self(bytes))
    }

    fn number(&self, at: usize) -> usize {
        u32::from_le_bytes([self.0[at], self.0[at + 1], self.0[at + 2], self.0[at + 3]]) as usize
    }

    fn rank(&self) -> usize {
        self.number(72)
    }

    fn purpose(&self) -> Purpose {
        if self.number(80) == 0 { Purpose::Data } else { Purpose::Control }
    }

    /// Why the other cannot be one of this cluster, apart from its token.
    fn refusal(&self, other: &Greeting) -> Option<Refusal> {
        if self.0[..40] != other.0[..40] {
            Some(Refusal::Version)
        } else if self.0[40..72] != other.0[40..72] || self.0[76..80] != other.0[76..80] {
            Some(Refusal::Program)
        } else {
            (other.rank() >= self.number(76) || other.rank() == self.rank()).then_some(Refusal::Rank)
        }
    }
}

/// Proves the token for all that both have said.
fn proof(token: &str, side: &[u8], asking: &Greeting, answering: &Greeting) -> Hmac<Sha256> {
    let mut mac = Hmac::<Sha256>::new_from_slice(token.as_bytes()).expect("a key may have any length");
    mac.update(side);
    mac.update(&asking.0);
    mac.update(&answering.0);
    mac
}

/// Greets the process that was connected to.
pub(super) fn ask(stream: &mut (impl Read + Write), common: &Common, purpose: Purpose) -> Result<Met> {
    let mine = Greeting::new(common, purpose)?;
    stream.write_all(&mine.0)?;
    let theirs = Greeting::read(stream)?;
    let mut sum = [0; SUM];
    stream.read_exact(&mut sum)?;
    let is_trusted = proof(&common.token, b"answers", &mine, &theirs).verify_slice(&sum).is_ok();
    stream.write_all(&proof(&common.token, b"asks", &mine, &theirs).finalize().into_bytes())?;
    let mut verdict = [0];
    stream.read_exact(&mut verdict)?;
    let own = if is_trusted { mine.refusal(&theirs) } else { Some(Refusal::Token) };
    Ok(match own.or(Refusal::of(verdict[0])) {
        Some(refusal) => Met::Refused(refusal),
        None => Met::Peer(theirs.rank(), purpose),
    })
}

/// Answers the greeting of a process that has connected.
pub(super) fn answer(stream: &mut (impl Read + Write), common: &Common) -> Result<Met> {
    let theirs = Greeting::read(stream)?;
    let purpose = theirs.purpose();
    let mine = Greeting::new(common, purpose)?;
    stream.write_all(&mine.0)?;
    stream.write_all(&proof(&common.token, b"answers", &theirs, &mine).finalize().into_bytes())?;
    let mut sum = [0; SUM];
    stream.read_exact(&mut sum)?;
    let is_trusted = proof(&common.token, b"asks", &theirs, &mine).verify_slice(&sum).is_ok();
    let refusal = if is_trusted { mine.refusal(&theirs) } else { Some(Refusal::Token) };
    stream.write_all(&[refusal.map_or(0, |refusal| refusal as u8)])?;
    Ok(refusal.map_or(Met::Peer(theirs.rank(), purpose), Met::Refused))
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixStream;

    use super::*;

    fn common(rank: usize) -> Common {
        let hosts = Hosts::parse("a:1\nb:2\nc:3").expect("three hosts");
        Common { version: "1.2.3", token: "a secret of the tests".to_owned(), program: [7; 32], rank, hosts }
    }

    /// How both sides see a greeting.
    fn met(asking: &Common, answering: &Common) -> [Result<usize, Refusal>; 2] {
        let (mut here, mut there) = UnixStream::pair().expect("a pair");
        let seen = |met: Result<Met>| match met.expect("both are there") {
            Met::Peer(rank, purpose) => {
                assert_eq!(purpose, Purpose::Control);
                Ok(rank)
            }
            Met::Refused(refusal) => Err(refusal),
        };
        std::thread::scope(|scope| {
            let asked = scope.spawn(|| seen(ask(&mut here, asking, Purpose::Control)));
            let answered = seen(answer(&mut there, answering));
            [asked.join().expect("no panic"), answered]
        })
    }

    type Result<T, E = Error> = std::result::Result<T, E>;

    #[test]
    fn only_processes_of_one_cluster_meet() {
        assert_eq!(met(&common(2), &common(0)), [Ok(0), Ok(2)]);
        let other = Common { version: "1.2.4", ..common(2) };
        assert_eq!(met(&other, &common(0)), [Err(Refusal::Version); 2]);
        let other = Common { token: "another secret of tests".to_owned(), ..common(2) };
        assert_eq!(met(&other, &common(0)), [Err(Refusal::Token); 2]);
        let other = Common { program: [8; 32], ..common(2) };
        assert_eq!(met(&other, &common(0)), [Err(Refusal::Program); 2]);
        assert_eq!(met(&common(1), &common(1)), [Err(Refusal::Rank); 2]);
    }

    #[test]
    fn a_stranger_is_no_process_of_birk() {
        let (mut here, mut there) = UnixStream::pair().expect("a pair");
        here.write_all(&[b'x'; LENGTH]).expect("it can be written");
        assert!(answer(&mut there, &common(0)).is_err_and(|error| error.kind() == ErrorKind::InvalidData));
    }
}

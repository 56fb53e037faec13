//! One of several processes on this machine that only exchange keys (`benches/cluster.py` measures what that takes):
//! `exchange RANK PROCESSES FIRST_PORT LEVELS KEYS`. Whoever uses a cluster has `birk check --cluster` instead, which also makes sure
//! of who connects.

use std::io::{Read as _, Result, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use birk_cluster::{Traffic, exchange_only};
use birk_engine::{Link, Peers};

struct Local {
    rank: usize,
    links: Mutex<Option<Vec<Option<TcpStream>>>>,
}

impl Peers for Local {
    fn rank(&self) -> usize {
        self.rank
    }

    fn links(&self) -> Option<Vec<Option<Box<dyn Link>>>> {
        let links = self.links.lock().expect("nobody has panicked").take()?;
        Some(links.into_iter().map(|link| link.map(|stream| Box::new(Connection(stream)) as Box<dyn Link>)).collect())
    }

    fn complete(&self, _: u32) {}

    fn broken(&self) {
        std::process::exit(3);
    }
}

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

/// Connects to all processes of lower rank, and is connected to by the others, which say their rank.
fn connect(rank: usize, processes: usize, port: u16) -> Result<Vec<Option<TcpStream>>> {
    let listener = TcpListener::bind(("127.0.0.1", port + rank as u16))?;
    let mut links: Vec<Option<TcpStream>> = (0..processes).map(|_| None).collect();
    for (peer, link) in links.iter_mut().enumerate().take(rank) {
        let mut stream = loop {
            match TcpStream::connect(("127.0.0.1", port + peer as u16)) {
                Ok(stream) => break stream,
                Err(_) => std::thread::sleep(Duration::from_millis(20)),
            }
        };
        stream.write_all(&[rank as u8])?;
        *link = Some(stream);
    }
    for _ in rank + 1..processes {
        let (mut stream, _) = listener.accept()?;
        let mut peer = [0];
        stream.read_exact(&mut peer)?;
        links[usize::from(peer[0])] = Some(stream);
    }
    links.iter().flatten().try_for_each(|link| link.set_nodelay(true))?;
    Ok(links)
}

fn main() -> Result<()> {
    let numbers: Vec<u64> = std::env::args().skip(1).map(|word| word.parse().expect("a number")).collect();
    let [rank, processes, port, levels, keys] = numbers[..] else { panic!("five numbers are wanted") };
    let links = Mutex::new(Some(connect(rank as usize, processes as usize, port as u16)?));
    let peers: Arc<dyn Peers> = Arc::new(Local { rank: rank as usize, links });
    println!("{}", exchange_only(&peers, Traffic { levels: levels as u32, keys })?);
    Ok(())
}

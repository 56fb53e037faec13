//! Connections to other processes, as timely wants them.

use std::io::{Read, Result, Write};
use std::net::Shutdown;
use std::sync::Arc;

use birk_engine::{Link, Peers};
use timely::communication::allocator::zero_copy::stream::Stream;

/// A connection that says so when timely gives it up: its threads panic when the other side is gone.
pub(crate) struct Wire {
    link: Box<dyn Link>,
    peers: Arc<dyn Peers>,
}

impl Wire {
    pub(crate) fn new(link: Box<dyn Link>, peers: &Arc<dyn Peers>) -> Self {
        Self { link, peers: Arc::clone(peers) }
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.peers.broken();
        }
    }
}

impl Read for Wire {
    fn read(&mut self, bytes: &mut [u8]) -> Result<usize> {
        self.link.receive(bytes)
    }
}

impl Write for Wire {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        self.link.send(bytes)
    }

    fn flush(&mut self) -> Result<()> {
        Ok(())
    }
}

impl Stream for Wire {
    fn try_clone(&self) -> Result<Self> {
        Ok(Self { link: self.link.another()?, peers: Arc::clone(&self.peers) })
    }

    fn set_nonblocking(&self, _: bool) -> Result<()> {
        Ok(())
    }

    fn shutdown(&self, _: Shutdown) -> Result<()> {
        self.link.end()
    }
}

//! What travels between workers: whole blocks of keys, and a few words to steer the search. A block is one record for timely's
//! progress tracking, however many keys it has.

use std::io::Write;

use timely::Accountable;
use timely::bytes::arc::Bytes;
use timely::dataflow::channels::ContainerBytes;

/// Bytes before the words of a block.
const HEADER: usize = 16;

/// What a block holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    /// Nothing: what is left of a block that was sent.
    #[default]
    Empty,
    /// Keys of states of the next level, all owned by the receiver.
    Keys,
    /// The same, sorted and delta-coded: how many bytes, then the bytes.
    Packed,
    /// Keys of which the sender asks whether they are known.
    Ask,
    /// The answer: how many keys, and a bit for each.
    Known,
    /// So many blocks of keys were taken: as many more may be sent.
    Credit,
    /// A worker tells the first how a level stands.
    Report,
    /// The first tells all how the search goes on.
    Decision,
    /// No more states of this level are to be expanded.
    Cease,
    /// A worker tells the first of predecessors of states that a trace leads to.
    Predecessors,
    /// The first tells all which states a trace goes through.
    Path,
}

const KINDS: [Kind; 11] = [
    Kind::Empty,
    Kind::Keys,
    Kind::Packed,
    Kind::Ask,
    Kind::Known,
    Kind::Credit,
    Kind::Report,
    Kind::Decision,
    Kind::Cease,
    Kind::Predecessors,
    Kind::Path,
];

/// A message from one worker to another.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Block {
    /// The sender.
    pub from: u32,
    /// The receiver.
    pub to: u32,
    /// What it holds.
    pub kind: Kind,
    /// Its words.
    pub words: Vec<u64>,
}

impl Block {
    /// A block to a worker; the fabric says from whom it is.
    pub fn new(to: usize, kind: Kind, words: Vec<u64>) -> Self {
        Self { from: 0, to: to as u32, kind, words }
    }
}

impl Accountable for Block {
    fn record_count(&self) -> i64 {
        i64::from(self.kind != Kind::Empty)
    }
}

impl ContainerBytes for Block {
    fn from_bytes(bytes: Bytes) -> Self {
        let number = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes are four bytes"));
        let (kind, count) = (number(8) as usize, number(12) as usize);
        assert!(kind < KINDS.len() && bytes.len() == HEADER + count * 8, "a block is as it was sent");
        let words = bytes[HEADER..].as_chunks().0.iter().map(|word| u64::from_le_bytes(*word)).collect();
        Self { from: number(0), to: number(4), kind: KINDS[kind], words }
    }

    fn length_in_bytes(&self) -> usize {
        HEADER + self.words.len() * 8
    }

    fn into_bytes<W: Write>(&self, writer: &mut W) {
        let kind = KINDS.iter().position(|&kind| kind == self.kind).unwrap_or(0) as u32;
        let mut header = [0; HEADER];
        for (place, number) in [self.from, self.to, kind, self.words.len() as u32].into_iter().enumerate() {
            header[place * 4..place * 4 + 4].copy_from_slice(&number.to_le_bytes());
        }
        // The writer is memory of timely, which has room for as many bytes as were announced.
        let written = writer.write_all(&header).and_then(|()| {
            self.words.chunks(64).try_for_each(|words| {
                let mut bytes = [0; 512];
                for (to, word) in bytes.as_chunks_mut().0.iter_mut().zip(words) {
                    *to = word.to_le_bytes();
                }
                writer.write_all(&bytes[..words.len() * 8])
            })
        });
        written.expect("there is room for a block");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_survive_the_wire() {
        for (kind, length) in KINDS.into_iter().zip([0, 1, 63, 64, 65, 4096, 2, 3, 5, 7, 9]) {
            let block = Block {
                from: 3,
                to: 70_000,
                kind,
                words: (0..length).map(|word: u64| word.wrapping_mul(GOLDEN)).collect(),
            };
            let mut bytes = Vec::new();
            block.into_bytes(&mut bytes);
            assert_eq!(bytes.len(), block.length_in_bytes());
            let mut shared = timely::bytes::arc::BytesMut::from(bytes.clone());
            let received = Block::from_bytes(shared.extract_to(bytes.len()));
            assert_eq!(received, block);
        }
    }

    const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;
}

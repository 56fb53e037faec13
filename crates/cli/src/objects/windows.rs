//! What was read of files in a store a moment ago: whoever reads them in order asks for less at a time than is worth a request.

use std::sync::{Mutex, PoisonError};

/// Bytes that are read at a time.
pub(super) const WINDOW: u64 = 512 << 10;
/// So many of them are kept, so that as many places of a file can be read in turn.
const MOST: usize = 32;

/// The windows that were read last, of all files of a search; the last is the one that was read last.
#[derive(Debug, Default)]
pub(super) struct Windows(Mutex<Vec<Window>>);

#[derive(Debug)]
struct Window {
    file: String,
    number: u64,
    bytes: Vec<u8>,
}

impl Windows {
    /// Fills `bytes` from a place in a window on, if it was read as far as that.
    pub(super) fn copy(&self, file: &str, number: u64, from: usize, bytes: &mut [u8]) -> bool {
        let mut windows = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(place) = windows.iter().position(|window| window.number == number && window.file == file) else {
            return false;
        };
        let window = windows.remove(place);
        let found = window.bytes.get(from..from + bytes.len()).map(|found| bytes.copy_from_slice(found));
        windows.push(window);
        found.is_some()
    }

    /// A window was read.
    pub(super) fn add(&self, file: &str, number: u64, bytes: Vec<u8>) {
        let mut windows = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        windows.retain(|window| window.number != number || window.file != file);
        if windows.len() == MOST {
            windows.remove(0);
        }
        windows.push(Window { file: file.to_owned(), number, bytes });
    }

    /// A file is not what it was.
    pub(super) fn forget(&self, file: &str) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).retain(|window| window.file != file);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_windows_that_were_read_last_are_kept() {
        let (windows, mut byte) = (Windows::default(), [0]);
        for number in 0..MOST as u64 {
            windows.add("a", number, vec![number as u8; 8]);
        }
        assert!(windows.copy("a", 0, 7, &mut byte));
        windows.add("b", 0, vec![99]);
        assert!(windows.copy("a", 0, 0, &mut byte) && byte == [0], "it was read after the others");
        assert!(!windows.copy("a", 1, 0, &mut byte), "it was read first");
        assert!(windows.copy("b", 0, 0, &mut byte) && byte == [99]);
        assert!(!windows.copy("b", 0, 1, &mut byte), "it was not read as far as that");
        windows.add("b", 0, vec![99, 100]);
        assert!(windows.copy("b", 0, 1, &mut byte) && byte == [100]);
        windows.forget("b");
        assert!(!windows.copy("b", 0, 0, &mut byte) && windows.copy("a", 2, 0, &mut byte));
    }
}

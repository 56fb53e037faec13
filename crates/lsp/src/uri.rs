//! Names of files: the addresses of the protocol and the paths of the system.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use lsp_types::Uri;

/// The path of an address, if it is that of a file.
pub(crate) fn path_of(uri: &Uri) -> Option<PathBuf> {
    let rest = uri.as_str().strip_prefix("file://")?;
    // An address may name the machine before the first slash.
    let path = decoded(&rest[rest.find('/')?..])?;
    let is_drive = path.as_bytes().get(2) == Some(&b':') && path.as_bytes()[1].is_ascii_alphabetic();
    Some(PathBuf::from(if is_drive { &path[1..] } else { &path }))
}

/// The address of a path.
pub(crate) fn uri_of(path: &Path) -> Option<Uri> {
    let path = path.to_str()?.replace('\\', "/");
    let mut address = String::from(if path.starts_with('/') { "file://" } else { "file:///" });
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                address.push(char::from(byte));
            }
            _ => address.push_str(&format!("%{byte:02X}")),
        }
    }
    Uri::from_str(&address).ok()
}

/// The text behind `%XX`.
fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        let digit = |byte: Option<u8>| char::from(byte?).to_digit(16);
        bytes.push(match byte {
            b'%' => (digit(rest.next())? * 16 + digit(rest.next())?) as u8,
            byte => byte,
        });
    }
    String::from_utf8(bytes).ok()
}

/// A path without `.` and `..`, so that a file has one name.
pub(crate) fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            std::path::Component::CurDir => {}
            std::path::Component::ParentDir => _ = plain.pop(),
            part => plain.push(part),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_found_again() {
        for path in ["/a/b.bir", "/with blank/ä%😀.bir", "/#?/x.pml"] {
            let uri = uri_of(Path::new(path)).expect("it is an address");
            assert_eq!(path_of(&uri), Some(PathBuf::from(path)), "{}", uri.as_str());
        }
        let uri = |text: &str| Uri::from_str(text).expect("it is an address");
        assert_eq!(path_of(&uri("file:///c%3A/x.bir")), Some(PathBuf::from("c:/x.bir")));
        assert_eq!(path_of(&uri("untitled:Untitled-1")), None);
        assert_eq!(plain(Path::new("/a/./b/../c.bir")), PathBuf::from("/a/c.bir"));
    }
}

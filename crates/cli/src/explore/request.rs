//! What browsers ask of the explorer: just enough of HTTP/1.1 to read it.

use std::io::{BufRead as _, BufReader, Read as _, Result};
use std::net::TcpStream;

/// No line of a request is longer.
const MAX_LINE: u64 = 16 << 10;
/// No request has more lines before its body.
const MAX_HEADERS: usize = 100;
/// No question is larger.
const MAX_BODY: usize = 4 << 20;

/// A request, as far as it matters, without its body.
pub(crate) struct Request {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) host: String,
    query: Vec<(String, String)>,
    length: usize,
}

impl Request {
    /// Reads what comes before the body; `None` if it is no request.
    pub(crate) fn read(reader: &mut BufReader<&TcpStream>) -> Result<Option<Self>> {
        let first = line(reader)?;
        let mut words = first.split(' ');
        let (Some(method), Some(target)) = (words.next(), words.next()) else { return Ok(None) };
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
        let mut request = Self {
            method: method.to_owned(),
            path: path.to_owned(),
            host: String::new(),
            query: pairs.map(|(key, value)| (decode(key), decode(value))).collect(),
            length: 0,
        };
        for _ in 0..MAX_HEADERS {
            let header = line(reader)?;
            if header.is_empty() {
                return Ok(Some(request));
            }
            let Some((name, value)) = header.split_once(':') else { return Ok(None) };
            match name.to_ascii_lowercase().as_str() {
                "host" => value.trim().clone_into(&mut request.host),
                "content-length" => match value.trim().parse() {
                    Ok(number) => request.length = number,
                    Err(_) => return Ok(None),
                },
                _ => {}
            }
        }
        Ok(None)
    }

    /// Reads the body; `None` if it is too large.
    pub(crate) fn body(&self, reader: &mut BufReader<&TcpStream>) -> Result<Option<String>> {
        if self.length > MAX_BODY {
            return Ok(None);
        }
        let mut body = Vec::new();
        reader.take(self.length as u64).read_to_end(&mut body)?;
        Ok(Some(String::from_utf8_lossy(&body).into_owned()))
    }

    /// A value of the query.
    pub(crate) fn value(&self, name: &str) -> Option<&String> {
        self.query.iter().find(|(key, _)| key == name).map(|(_, value)| value)
    }
}

fn line(reader: &mut BufReader<&TcpStream>) -> Result<String> {
    let mut bytes = Vec::new();
    reader.by_ref().take(MAX_LINE).read_until(b'\n', &mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).trim_end().to_owned())
}

/// `%26` and `+` as the characters they stand for.
fn decode(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        let digit = |byte: Option<u8>| byte.and_then(|byte| (byte as char).to_digit(16));
        match byte {
            b'+' => bytes.push(b' '),
            b'%' => match (digit(rest.next()), digit(rest.next())) {
                (Some(high), Some(low)) => bytes.push((high * 16 + low) as u8),
                _ => bytes.push(b'?'),
            },
            _ => bytes.push(byte),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_browsers_encode_is_read() {
        assert_eq!(decode("x%20%3D%3D+2%26%26%C3%A9%"), "x == 2&&é?");
    }
}

//! The explorer's server: just enough HTTP for one page and its questions, on loopback only.
//!
//! Every request must carry the token of the address that was printed, and name this server as its host, so that
//! neither other users of the machine nor foreign pages in the same browser can ask anything.

use std::hash::{BuildHasher as _, RandomState};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};

use crate::explore::graph::{Explorer, find};
use crate::guided::Place;
use crate::layout;
use crate::report::html::fill;
use crate::{Failure, say};

const PAGE: &str = include_str!("../../assets/explore.html");
const CSS: &str = include_str!("../../assets/explore.css");
const JS: &str = include_str!("../../assets/explore.js");

/// No line of a request is longer.
const MAX_LINE: u64 = 16 << 10;
/// No request has more lines before its body.
const MAX_HEADERS: usize = 100;
/// No question is larger.
const MAX_BODY: usize = 4 << 20;
/// Who says nothing for so long has gone.
const PATIENCE: Duration = Duration::from_secs(10);

/// A request, as far as it matters.
struct Request {
    method: String,
    path: String,
    query: Vec<(String, String)>,
    host: String,
    body: String,
}

/// Status, type and text.
type Response = (u16, &'static str, String);

/// Serves until the process ends.
pub(crate) fn serve(place: &Place<'_>, port: u16) -> Result<(), Failure> {
    let lost = |error: std::io::Error| Failure::io(&format!("listen on port {port} of this machine"), &error);
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).map_err(lost)?;
    let address = listener.local_addr().map_err(lost)?;
    let server = Server {
        place,
        explorer: Mutex::new(Explorer::new(place.program)),
        token: token(),
        hosts: [address.to_string(), format!("localhost:{}", address.port())],
    };
    crate::commands::print(&format!("http://{address}/?token={}\n", server.token))?;
    say("birk: open this address in a browser on this machine; Ctrl-C ends");
    std::thread::scope(|scope| {
        for stream in listener.incoming().flatten() {
            let server = &server;
            scope.spawn(move || {
                // A browser that went away is no reason to complain.
                let _ = server.answer(stream);
            });
        }
    });
    Ok(())
}

/// 128 random bits: the hasher's keys come from the operating system.
fn token() -> String {
    let secret = RandomState::new();
    format!("{:016x}{:016x}", secret.hash_one("explorer"), secret.hash_one("token"))
}

struct Server<'a> {
    place: &'a Place<'a>,
    explorer: Mutex<Explorer<'a>>,
    token: String,
    hosts: [String; 2],
}

impl Server<'_> {
    fn answer(&self, stream: TcpStream) -> std::io::Result<()> {
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        let mut reader = BufReader::new(stream);
        let (status, kind, text) = match read(&mut reader)? {
            Some(request) => self.respond(&request),
            None => (400, "text/plain", "this is not a request\n".into()),
        };
        let reason = match status {
            200 => "OK",
            400 => "Bad Request",
            403 => "Forbidden",
            _ => "Not Found",
        };
        let head = format!(
            "HTTP/1.1 {status} {reason}\r\nContent-Type: {kind}; charset=utf-8\r\nContent-Length: {}\r\n\
             Connection: close\r\nCache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n\
             Referrer-Policy: no-referrer\r\nCross-Origin-Resource-Policy: same-origin\r\n\
             Content-Security-Policy: default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; \
             connect-src 'self'; frame-ancestors 'none'\r\n\r\n",
            text.len()
        );
        let mut stream = reader.into_inner();
        stream.write_all(head.as_bytes())?;
        stream.write_all(text.as_bytes())?;
        stream.flush()
    }

    fn respond(&self, request: &Request) -> Response {
        let is_ours = self.hosts.contains(&request.host) && request.value("token") == Some(&self.token);
        if !is_ours {
            return (403, "text/plain", "open the address that `birk explore` has printed, token and all\n".into());
        }
        match (request.method.as_str(), request.path.as_str()) {
            ("GET", "/") => (200, "text/html", fill(PAGE, &[("css", CSS), ("js", JS)])),
            ("GET" | "POST", path) if path.starts_with("/api/") => match self.ask(&path[5..], request) {
                Ok(value) => (200, "application/json", value.to_string()),
                Err(reason) => (400, "application/json", json!({"error": reason}).to_string()),
            },
            _ => (404, "text/plain", "there is nothing here\n".into()),
        }
    }

    fn ask(&self, what: &str, request: &Request) -> Result<Value, String> {
        let number = |name: &str| request.value(name).and_then(|text| text.parse::<usize>().ok());
        let node = number("node").ok_or("which state?");
        let explorer = || self.explorer.lock().unwrap_or_else(PoisonError::into_inner);
        match what {
            "start" => Ok(explorer().start(&self.place.source.path)),
            "expand" => explorer().expand(node?),
            "why" => explorer().why(node?, number("transition").ok_or("which transition?")?),
            "find" => {
                let node = node?;
                let condition = self.place.condition(request.value("condition").map_or("", String::as_str))?;
                let state = explorer().state(node)?;
                let steps = find(self.place.program, &state, &condition)?;
                explorer().way(node, &steps)
            }
            "layout" => layout_of(&request.body),
            _ => Err("there is no such question".into()),
        }
    }
}

/// `{"nodes": 3, "edges": [[0, 1], [0, 2]]}` to `[[layer, place], …]`.
fn layout_of(body: &str) -> Result<Value, String> {
    let graph: Value = serde_json::from_str(body).map_err(|error| error.to_string())?;
    let nodes = graph["nodes"].as_u64().filter(|nodes| *nodes <= 100_000).ok_or("how many nodes?")?;
    let edges = graph["edges"].as_array().ok_or("which edges?")?;
    let end = |edge: &Value, at: usize| edge[at].as_u64().map(|node| node as usize);
    let edges: Vec<(usize, usize)> = edges.iter().filter_map(|edge| Some((end(edge, 0)?, end(edge, 1)?))).collect();
    Ok(layout::places(nodes as usize, &edges).into_iter().map(|(layer, x)| json!([layer, x])).collect())
}

impl Request {
    fn value(&self, name: &str) -> Option<&String> {
        self.query.iter().find(|(key, _)| key == name).map(|(_, value)| value)
    }
}

/// Reads a request; `None` if it is none.
fn read(reader: &mut BufReader<TcpStream>) -> std::io::Result<Option<Request>> {
    let first = line(reader)?;
    let mut words = first.split(' ');
    let (Some(method), Some(target)) = (words.next(), words.next()) else { return Ok(None) };
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let mut request = Request {
        method: method.to_owned(),
        path: path.to_owned(),
        query: query.split('&').filter_map(|pair| pair.split_once('=')).map(|(k, v)| (decode(k), decode(v))).collect(),
        host: String::new(),
        body: String::new(),
    };
    let mut length = 0;
    for _ in 0..MAX_HEADERS {
        let header = line(reader)?;
        if header.is_empty() {
            if length > MAX_BODY {
                return Ok(None);
            }
            let mut body = vec![0; length];
            reader.read_exact(&mut body)?;
            request.body = String::from_utf8_lossy(&body).into_owned();
            return Ok(Some(request));
        }
        let Some((name, value)) = header.split_once(':') else { return Ok(None) };
        match name.to_ascii_lowercase().as_str() {
            "host" => value.trim().clone_into(&mut request.host),
            "content-length" => match value.trim().parse() {
                Ok(number) => length = number,
                Err(_) => return Ok(None),
            },
            _ => {}
        }
    }
    Ok(None)
}

fn line(reader: &mut BufReader<TcpStream>) -> std::io::Result<String> {
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
    fn tokens_are_long_and_differ() {
        let (a, b) = (token(), token());
        assert_eq!(a.len(), 32);
        assert_ne!(a, b);
        assert_ne!(a[..16], a[16..]);
    }

    #[test]
    fn what_browsers_encode_is_read() {
        assert_eq!(decode("x%20%3D%3D+2%26%26%C3%A9%"), "x == 2&&é?");
    }
}

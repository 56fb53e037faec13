//! The explorer's server: just enough HTTP for one page and its questions, on loopback only.
//!
//! Every request must carry the token of the address that was printed, and name this server as its host, so that
//! neither other users of the machine nor foreign pages in the same browser can ask anything.

use std::convert::Infallible;
use std::io::{BufReader, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::time::Duration;

use serde_json::{Value, json};

use crate::explore::connections::Connections;
use crate::explore::questions::{Questions, page};
use crate::explore::request::Request;
use crate::interactive::Place;
use crate::{Failure, say};

/// Who says nothing for so long has gone.
const PATIENCE: Duration = Duration::from_secs(10);

/// Status, type and text.
type Response = (u16, &'static str, String);

/// Serves until the process ends.
pub(crate) fn serve(place: &Place<'_>, port: u16) -> Result<Infallible, Failure> {
    let lost = |error: std::io::Error| Failure::io(&format!("listen on port {port} of this machine"), &error);
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).map_err(lost)?;
    let address = listener.local_addr().map_err(lost)?;
    let server = Server {
        questions: Questions::new(place),
        token: token()?,
        hosts: [address.to_string(), format!("localhost:{}", address.port())],
    };
    crate::terminal::print(&format!("http://{address}/?token={}\n", server.token))?;
    say("birk: open this address in a browser on this machine; Ctrl-C ends");
    // A browser that went away is no reason to complain.
    let served = Connections::default().serve(&listener, |stream, hear| _ = server.answer(stream, hear));
    served.map_err(|error| Failure::io("start a thread", &error))
}

/// 128 random bits from the operating system.
fn token() -> Result<String, Failure> {
    let mut secret = [0; 16];
    getrandom::fill(&mut secret).map_err(|error| Failure::io("get a random token from the system", &error.into()))?;
    Ok(format!("{:032x}", u128::from_ne_bytes(secret)))
}

struct Server<'a> {
    questions: Questions<'a>,
    token: String,
    hosts: [String; 2],
}

impl Server<'_> {
    /// Reads a request and answers it; `hear` is called when it is known to be one of ours.
    fn answer(&self, mut stream: &TcpStream, hear: &dyn Fn()) -> std::io::Result<()> {
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        let mut reader = BufReader::new(stream);
        let nonsense = || (400, "text/plain", "this is not a request\n".into());
        let (status, kind, text) = match Request::read(&mut reader)? {
            None => nonsense(),
            // What strangers send further is not even read.
            Some(request) if !self.is_ours(&request) => {
                (403, "text/plain", "open the address that `birk explore` has printed, token and all\n".into())
            }
            Some(request) => {
                hear();
                request.body(&mut reader)?.map_or_else(nonsense, |body| self.respond(&request, &body))
            }
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
             connect-src 'self'; \
             img-src blob:; frame-ancestors 'none'\r\n\r\n",
            text.len()
        );
        stream.write_all(head.as_bytes())?;
        stream.write_all(text.as_bytes())?;
        stream.flush()
    }

    fn is_ours(&self, request: &Request) -> bool {
        self.hosts.contains(&request.host) && request.value("token") == Some(&self.token)
    }

    fn respond(&self, request: &Request, body: &str) -> Response {
        match (request.method.as_str(), request.path.as_str()) {
            ("GET", "/") => (200, "text/html", page()),
            ("GET" | "POST", path) if path.starts_with("/api/") => match self.ask(&path[5..], request, body) {
                Ok(value) => (200, "application/json", value.to_string()),
                Err(reason) => (400, "application/json", json!({"error": reason}).to_string()),
            },
            _ => (404, "text/plain", "there is nothing here\n".into()),
        }
    }

    fn ask(&self, what: &str, request: &Request, body: &str) -> Result<Value, String> {
        let body = match body.is_empty() {
            true => Value::Null,
            false => serde_json::from_str(body).map_err(|error| error.to_string())?,
        };
        self.questions.ask(what, |name| request.value(name).cloned(), &body)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_long_and_differ() {
        let [a, b] = [token(), token()].map(|token| token.expect("the system has random bits"));
        assert_eq!(a.len(), 32);
        assert_ne!(a, b);
        assert_ne!(a[..16], a[16..]);
    }
}

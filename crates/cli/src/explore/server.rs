//! The explorer's server: just enough HTTP for one page and its questions, on loopback only.
//!
//! Every request must carry the token of the address that was printed, and name this server as its host, so that
//! neither other users of the machine nor foreign pages in the same browser can ask anything.

use std::convert::Infallible;
use std::io::{BufReader, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};

use crate::automata::{Automaton, automata};
use crate::explore::connections::Connections;
use crate::explore::graph::Explorer;
use crate::explore::request::Request;
use crate::explore::search::{Found, search};
use crate::graph_layout::{self, Edge, Point, Route, Size};
use crate::interactive::Place;
use crate::picture::{self, COLOURS, TIP};
use crate::report::html::fill;
use crate::{Failure, say};

const PAGE: &str = include_str!("../../assets/explore.html");
const CSS: &str = include_str!("../../assets/explore.css");
const JS: &str = include_str!("../../assets/explore.js");
const CANVAS: &str = include_str!("../../assets/explore_canvas.js");

/// Who says nothing for so long has gone.
const PATIENCE: Duration = Duration::from_secs(10);

/// More boxes, or steps between them, are not drawn.
const MAX_BOXES: usize = 20_000;
const MAX_EDGES: usize = 100_000;

/// Status, type and text.
type Response = (u16, &'static str, String);

/// Serves until the process ends.
pub(crate) fn serve(place: &Place<'_>, port: u16) -> Result<Infallible, Failure> {
    let lost = |error: std::io::Error| Failure::io(&format!("listen on port {port} of this machine"), &error);
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).map_err(lost)?;
    let address = listener.local_addr().map_err(lost)?;
    let server = Server {
        place,
        explorer: Mutex::new(Explorer::new(place.program)),
        automata: automata(place.source, place.program),
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
    place: &'a Place<'a>,
    explorer: Mutex<Explorer<'a>>,
    automata: Vec<Automaton>,
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
        let number = |name: &str| request.value(name).and_then(|text| text.parse::<usize>().ok());
        let node = number("node").ok_or("which state?");
        let explorer = || self.explorer.lock().unwrap_or_else(PoisonError::into_inner);
        match what {
            "start" => Ok(explorer().start(&self.place.source.path)),
            "expand" => explorer().expand(node?),
            "why" => explorer().why(node?, number("transition").ok_or("which transition?")?),
            "open" => explorer().open(request.value("steps").map_or("", String::as_str)),
            "threads" => explorer().threads(&self.automata, node?),
            "search" => {
                let node = node?;
                let condition = self.place.condition(request.value("condition").map_or("", String::as_str))?;
                let state = explorer().state(node)?;
                // Nobody else waits for a long search.
                let found = search(self.place.program, &state, &condition);
                results(&mut explorer(), node, &found)
            }
            "layout" => layout_of(body),
            _ => Err("there is no such question".into()),
        }
    }
}

/// The page with its style and its scripts.
fn page() -> String {
    let style = [("css", CSS), ("colours", COLOURS), ("drawing", picture::CSS)];
    fill(PAGE, &[&style[..], &[("tip", TIP), ("canvas", CANVAS), ("js", JS)]].concat())
}

/// The paths to what was found; an error says why there is nothing.
fn results(explorer: &mut Explorer<'_>, node: usize, found: &Found) -> Result<Value, String> {
    if found.ways.is_empty() {
        return Err(match found.is_everything {
            true => "no other state that can be reached from the selected one satisfies it".into(),
            false => format!("none of the nearest {} states satisfies it; there are more", found.states),
        });
    }
    let results: Result<Vec<_>, String> = found.ways.iter().map(|steps| explorer.result(node, steps)).collect();
    Ok(json!({"found": results?, "states": found.states, "isEverything": found.is_everything}))
}

/// `{"boxes": [[wide, high], …], "edges": [[from, to, label wide, label high], …]}` to where all of them lie.
fn layout_of(body: &str) -> Result<Value, String> {
    let graph: Value = serde_json::from_str(body).map_err(|error| error.to_string())?;
    let boxes = graph["boxes"].as_array().ok_or("which boxes?")?;
    let edges = graph["edges"].as_array().ok_or("which edges?")?;
    if boxes.len() > MAX_BOXES || edges.len() > MAX_EDGES {
        return Err(format!(
            "{} boxes with {} steps are too many to draw: at most {MAX_BOXES} with {MAX_EDGES}; fold some, hide a thread, or \
             begin again",
            boxes.len(),
            edges.len()
        ));
    }
    // Nobody has a screen of a million pixels; what is not a number is nothing.
    let length = |value: &Value| value.as_f64().filter(|length| (0.0..1e6).contains(length)).unwrap_or(0.0);
    let size = |value: &Value, at: usize| Size { wide: length(&value[at]), high: length(&value[at + 1]) };
    let end = |value: &Value| value.as_u64().map_or(usize::MAX, |end| end as usize);
    let boxes: Vec<Size> = boxes.iter().map(|value| size(value, 0)).collect();
    let edge = |value: &Value| Edge { from: end(&value[0]), to: end(&value[1]), label: size(value, 2) };
    let edges: Vec<Edge> = edges.iter().map(edge).collect();
    let drawing = graph_layout::draw(&boxes, &edges);
    let tenth = |length: f64| (length * 10.0).round() / 10.0;
    let point = |point: &Point| json!([tenth(point.x), tenth(point.y)]);
    let route = |route: &Route| json!({"path": route.path, "label": route.label.as_ref().map(point)});
    Ok(json!({
        "size": [tenth(drawing.size.wide), tenth(drawing.size.high)],
        "boxes": drawing.boxes.iter().map(point).collect::<Vec<_>>(),
        "edges": drawing.edges.iter().map(route).collect::<Vec<_>>(),
    }))
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

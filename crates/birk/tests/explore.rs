//! The explorer's server: who may ask, what it answers, and what it refuses.

mod binary;

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::Child;

use binary::{BIRK, birk, command};
use serde_json::Value;

/// A running explorer.
struct Server {
    process: Child,
    host: String,
    token: String,
}

impl Server {
    fn of(model: &str) -> Self {
        let mut process = command(BIRK).args(["explore"]).args(model.split(' ')).spawn().expect("birk can be run");
        let mut line = String::new();
        let out = process.stdout.take().expect("it is heard");
        BufReader::new(out).read_line(&mut line).expect("it says where it is");
        let address = line.trim().strip_prefix("http://").expect("an address");
        let (host, token) = address.split_once("/?token=").expect("a token");
        Self { process, host: host.to_owned(), token: token.to_owned() }
    }

    /// Status and body of the answer to what is sent.
    fn send(&self, text: &str) -> (String, String) {
        let mut stream = TcpStream::connect(&self.host).expect("it listens");
        stream.write_all(text.as_bytes()).expect("it hears");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("it answers");
        let (head, body) = answer.split_once("\r\n\r\n").expect("an answer has a body");
        (head.split(' ').nth(1).unwrap_or_default().to_owned(), body.to_owned())
    }

    fn get(&self, path: &str) -> (String, String) {
        self.send(&format!("GET {path} HTTP/1.1\r\nHost: {}\r\n\r\n", self.host))
    }

    /// The answer to a question.
    fn ask(&self, question: &str) -> Value {
        let (status, body) = self.get(&format!("/api/{question}token={}", self.token));
        let value: Value = serde_json::from_str(&body).expect("it is JSON");
        assert_eq!(status == "400", value.get("error").is_some(), "{status}: {value}");
        value
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[test]
fn only_who_knows_the_token_is_answered() {
    let server = Server::of("models/philosophers2.bir");
    assert!(server.host.starts_with("127.0.0.1:"), "loopback only: {}", server.host);
    assert_eq!(server.token.len(), 32);
    let token = &server.token;
    assert_eq!(server.get(&format!("/?token={token}")).0, "200");
    assert_eq!(server.get("/").0, "403");
    assert_eq!(server.get("/api/start?token=0000").0, "403");
    assert_eq!(server.get(&format!("/elsewhere?token={token}")).0, "404");
    // A page of another site that made its name lead here still says its own name.
    let foreign = format!("GET /?token={token} HTTP/1.1\r\nHost: example.org\r\n\r\n");
    assert_eq!(server.send(&foreign).0, "403");
    assert_eq!(server.send("nonsense\r\n\r\n").0, "400");
    let large =
        format!("POST /api/layout?token={token} HTTP/1.1\r\nHost: {}\r\nContent-Length: 99999999\r\n\r\n", server.host);
    assert_eq!(server.send(&large).0, "400");
    let page = server.get(&format!("/?token={token}")).1;
    assert!(!page.contains("src=") && !page.contains("http://") || page.contains("www.w3.org/2000/svg"));
}

#[test]
fn questions_are_answered() {
    let server = Server::of("models/philosophers2.bir");
    let start = server.ask("start?");
    assert_eq!(start["threads"], serde_json::json!(["Philosopher1", "Philosopher2"]));
    let first = server.ask("expand?node=0&");
    assert_eq!(first["edges"][0]["title"], "Philosopher1.loc0 → loc1");
    server.ask("expand?node=1&");
    let other = server.ask("expand?node=2&");
    // Both orders lead to the same deadlock.
    let stuck = other["nodes"].as_array().and_then(|nodes| nodes.iter().find(|node| node["enabled"] == 0));
    let stuck = stuck.expect("a deadlock").clone();
    assert_eq!(stuck["violated"], serde_json::json!(["deadlock"]));
    let id = &stuck["id"];
    assert_eq!(server.ask(&format!("expand?node={id}&"))["disabled"].as_array().map(Vec::len), Some(2));
    let why = server.ask(&format!("why?node={id}&transition=1&"));
    assert_eq!(why["lines"][1], "  !fork2   false");
    let path = server.ask("find?node=0&condition=fork1+%26%26+fork2+%26%26+Philosopher1@loc1&");
    assert_eq!(path["path"].as_array().map(Vec::len), Some(3));
    assert_eq!(path["path"][2], *id);

    for (question, reason) in [
        ("expand?node=99&", "there is no such state"),
        ("expand?", "which state?"),
        ("why?node=0&transition=99&", "there is no such transition"),
        ("find?node=0&condition=&", "a condition is missing"),
        ("find?node=0&condition=fork3&", "did you mean `fork1`?"),
        ("find?node=0&condition=false&", "no other state"),
        ("dance?", "there is no such question"),
    ] {
        let error = server.ask(question)["error"].as_str().unwrap_or_default().to_owned();
        assert!(error.contains(reason), "{question}: {error}");
    }
}

#[test]
fn faults_are_states_with_a_reason() {
    let server = Server::of("models/sum_to_n.bir -D N=1");
    let first = server.ask("expand?node=0&");
    assert_eq!(first["nodes"][0]["violated"], serde_json::json!(["fault"]));
    assert_eq!(first["nodes"][0]["fault"], "assertion `x != Param.N` failed");
    assert_eq!(server.ask("expand?node=1&")["edges"], serde_json::json!([]));
}

#[test]
fn a_port_in_use_is_an_error() {
    let server = Server::of("models/philosophers2.bir");
    let port = server.host.split(':').nth(1).expect("a port");
    birk(&format!("explore models/philosophers2.bir --port {port}")).exits(4).says("cannot listen on port");
    birk("explore models/nowhere.bir").exits(4).says("cannot read models/nowhere.bir");
    birk("explore models/philosophers2.bir --port 70000").exits(2).says("too large");
}

//! A running explorer, and questions to it.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::Child;

use serde_json::Value;

use crate::binary::{BIRK, command};

/// A running explorer.
pub(crate) struct Server {
    pub(crate) process: Child,
    pub(crate) host: String,
    pub(crate) token: String,
}

impl Server {
    pub(crate) fn of(model: &str) -> Self {
        Self::limited("true", model)
    }

    /// In a shell that has limited its resources.
    pub(crate) fn limited(limits: &str, model: &str) -> Self {
        let mut shell = command("sh");
        shell.arg("-c").arg(format!("{limits}; exec \"$0\" \"$@\"")).args([BIRK, "explore"]).args(model.split(' '));
        let mut process = shell.spawn().expect("birk can be run");
        let mut line = String::new();
        let out = process.stdout.take().expect("it is heard");
        BufReader::new(out).read_line(&mut line).expect("it says where it is");
        let address = line.trim().strip_prefix("http://").expect("an address");
        let (host, token) = address.split_once("/?token=").expect("a token");
        Self { process, host: host.to_owned(), token: token.to_owned() }
    }

    /// Status and body of the answer to what is sent.
    pub(crate) fn send(&self, text: &str) -> (String, String) {
        let mut stream = TcpStream::connect(&self.host).expect("it listens");
        stream.write_all(text.as_bytes()).expect("it hears");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("it answers");
        let (head, body) = answer.split_once("\r\n\r\n").expect("an answer has a body");
        (head.split(' ').nth(1).unwrap_or_default().to_owned(), body.to_owned())
    }

    pub(crate) fn get(&self, path: &str) -> (String, String) {
        self.send(&format!("GET {path} HTTP/1.1\r\nHost: {}\r\n\r\n", self.host))
    }

    /// The answer to a question.
    pub(crate) fn ask(&self, question: &str) -> Value {
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

//! `birk mcp`: serves a coding assistant by the Model Context Protocol, over standard input and output.
//!
//! A message is a line of JSON (JSON-RPC 2.0). A call of a tool is a run of this program in a process of its own: it can be ended at any
//! time, and whatever happens to it, the server goes on. No library is used for the protocol: those that exist bring an asynchronous
//! runtime, and what a server of tools needs of it are four requests.

mod answers;
mod tools;

use std::collections::VecDeque;
use std::io::{BufRead as _, Write as _, stdin, stdout};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use serde_json::{Value, json};

use crate::{Exit, Failure};

/// Revisions of the protocol that are spoken, the newest first.
const REVISIONS: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];
/// How long a process is left alone before messages are looked at.
const PATIENCE: Duration = Duration::from_millis(10);

const PARSE_ERROR: i64 = -32700;
const INVALID_REQUEST: i64 = -32600;
const UNKNOWN_METHOD: i64 = -32601;
const INVALID_PARAMS: i64 = -32602;

const INSTRUCTIONS: &str = "Birk checks models of concurrent and distributed systems. Write a model in BIR (the tool `language` has \
                            the language on one page), `check` it, read the counterexample, repair the model, check again. An error \
                            has a code (`explain`) and often a `fix`: replace the bytes from `start` to `end` of the text. A verdict \
                            is only as good as its coverage: grade A means every reachable state.";

/// Runs the command.
pub(crate) fn run() -> Result<Exit, Failure> {
    let (sender, lines) = channel();
    std::thread::spawn(move || {
        for line in stdin().lock().lines() {
            let Ok(line) = line else { break };
            if sender.send(line).is_err() {
                break;
            }
        }
    });
    let mut server = Server { lines, waiting: VecDeque::new() };
    while let Some(message) = server.next() {
        server.hear(message)?;
    }
    Ok(Exit::Success)
}

/// What is read from the assistant, and what was read while a tool ran.
struct Server {
    lines: Receiver<String>,
    waiting: VecDeque<Message>,
}

/// A message of the assistant.
enum Message {
    Request {
        id: Value,
        method: String,
        params: Value,
    },
    Notification {
        method: String,
        params: Value,
    },
    /// Something else, with the reason that it is told.
    Wrong(Value, i64, String),
}

impl Message {
    /// Reads a line; nothing, if it needs no answer.
    fn read(line: &str) -> Option<Self> {
        if line.trim().is_empty() {
            return None;
        }
        let message: Value = match serde_json::from_str(line) {
            Ok(message) => message,
            Err(error) => return Some(Self::Wrong(Value::Null, PARSE_ERROR, error.to_string())),
        };
        let id = message.get("id").filter(|id| id.is_string() || id.is_number()).cloned();
        let params = message.get("params").cloned().unwrap_or(Value::Null);
        match (message.get("method").and_then(Value::as_str), id) {
            (Some(method), Some(id)) => Some(Self::Request { id, method: method.to_owned(), params }),
            (Some(method), None) => Some(Self::Notification { method: method.to_owned(), params }),
            // An answer: nothing was asked.
            (None, Some(_)) if message.get("result").is_some() || message.get("error").is_some() => None,
            (None, id) => {
                let reason = "a request has a method and an id".to_owned();
                Some(Self::Wrong(id.unwrap_or(Value::Null), INVALID_REQUEST, reason))
            }
        }
    }
}

impl Server {
    /// The next message; nothing when the assistant is gone.
    fn next(&mut self) -> Option<Message> {
        loop {
            if let Some(message) = self.waiting.pop_front() {
                return Some(message);
            }
            self.waiting.extend(Message::read(&self.lines.recv().ok()?));
        }
    }

    fn hear(&mut self, message: Message) -> Result<(), Failure> {
        match message {
            Message::Wrong(id, code, reason) => refuse(&id, code, &reason),
            // A call that is cancelled now is over already; other notifications are of no concern.
            Message::Notification { .. } => Ok(()),
            Message::Request { id, method, params } => match method.as_str() {
                "initialize" => answer(&id, &initialized(&params)),
                "ping" => answer(&id, &json!({})),
                "tools/list" => answer(&id, &json!({ "tools": tools::list() })),
                "tools/call" => match tools::call(&params, &mut |running| self.is_over(&id, running)) {
                    Err(reason) => refuse(&id, INVALID_PARAMS, &reason),
                    // A call that was cancelled has no answer.
                    Ok(None) => Ok(()),
                    Ok(Some(result)) => answer(&id, &result),
                },
                _ => refuse(&id, UNKNOWN_METHOD, &format!("there is no method `{method}`")),
            },
        }
    }

    /// Whether a tool has finished, or is to be ended because its call was cancelled, or because the assistant is gone. Other messages
    /// wait, except that it is asked whether the server is there.
    fn is_over(&mut self, call: &Value, has_finished: &mut dyn FnMut() -> bool) -> tools::End {
        while !has_finished() {
            let line = match self.lines.recv_timeout(PATIENCE) {
                Ok(line) => line,
                Err(RecvTimeoutError::Timeout) => continue,
                Err(RecvTimeoutError::Disconnected) => return tools::End::Cancelled,
            };
            match Message::read(&line) {
                Some(Message::Notification { method, params })
                    if method == "notifications/cancelled" && params["requestId"] == *call =>
                {
                    return tools::End::Cancelled;
                }
                Some(Message::Request { id, method, .. }) if method == "ping" => {
                    if answer(&id, &json!({})).is_err() {
                        return tools::End::Cancelled;
                    }
                }
                other => self.waiting.extend(other),
            }
        }
        tools::End::Finished
    }
}

fn initialized(params: &Value) -> Value {
    let asked = params["protocolVersion"].as_str().unwrap_or_default();
    let revision = REVISIONS.into_iter().find(|revision| *revision == asked).unwrap_or(REVISIONS[0]);
    json!({
        "protocolVersion": revision,
        "capabilities": { "tools": {} },
        "serverInfo": { "name": "birk", "version": env!("CARGO_PKG_VERSION") },
        "instructions": INSTRUCTIONS,
    })
}

fn answer(id: &Value, result: &Value) -> Result<(), Failure> {
    send(&json!({ "jsonrpc": "2.0", "id": id, "result": result }))
}

fn refuse(id: &Value, code: i64, reason: &str) -> Result<(), Failure> {
    send(&json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": reason } }))
}

fn send(message: &Value) -> Result<(), Failure> {
    let mut out = stdout().lock();
    writeln!(out, "{message}").and_then(|()| out.flush()).map_err(|error| Failure::io("talk to the assistant", &error))
}

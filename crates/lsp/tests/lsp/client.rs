//! An editor for tests: it talks to the real server over channels, and counts UTF-16 units in its own way.

use std::path::{Path, PathBuf};
use std::thread::JoinHandle;
use std::time::Duration;

use birk_lsp::{BIR, Language, ServeError, serve};
use lsp_server::{Connection, Message, Notification, Request, RequestId, Response};
use lsp_types::{Diagnostic, Position, PublishDiagnosticsParams, Range, TextEdit};
use serde_json::{Value, json};

/// The languages of the command.
pub(crate) const LANGUAGES: [Language; 3] = [
    Language { name: BIR, extensions: &["bir"], load: birk_lang::load_with, format: Some(birk_lang::fmt::format) },
    Language { name: "DVE", extensions: &["dve"], load: birk_dve::load, format: None },
    Language {
        name: "Promela",
        extensions: &["pml", "prom", "promela", "pm", "spin"],
        load: birk_promela::load,
        format: None,
    },
];

/// Nothing takes longer than this, on however slow a machine.
const PATIENCE: Duration = Duration::from_secs(120);

pub(crate) struct Client {
    connection: Option<Connection>,
    server: Option<JoinHandle<Result<(), ServeError>>>,
    next: i32,
    /// Diagnostics that came while an answer was waited for.
    waiting: Vec<PublishDiagnosticsParams>,
}

/// The folder of models.
pub(crate) fn models() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models").canonicalize().expect("the repository has models")
}

/// All models below a folder, in order.
pub(crate) fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).expect("the folder can be read") {
        let path = entry.expect("its entries can be read").path();
        if path.is_dir() {
            found.extend(files_below(&path));
        } else if language_of(&path).is_some() {
            found.push(path);
        }
    }
    found.sort();
    found
}

pub(crate) fn language_of(path: &Path) -> Option<&'static Language> {
    let extension = path.extension()?.to_str()?;
    LANGUAGES.iter().find(|language| language.extensions.contains(&extension))
}

pub(crate) fn uri_of(path: &Path) -> String {
    format!("file://{}", path.display())
}

/// What the front end says of a text at a path.
pub(crate) fn load(path: &Path, text: &str) -> birk_ir::Loaded {
    let folder = path.parent().expect("a file is in a folder").to_owned();
    let mut read = |name: &str| std::fs::read_to_string(folder.join(name)).map_err(|error| error.to_string());
    let language = language_of(path).expect("it is a model");
    (language.load)(text, &[], &mut read, birk_ir::Conditions::default())
}

impl Client {
    /// Starts a server and says hello.
    pub(crate) fn start() -> Self {
        let (own, other) = Connection::memory();
        let read = |path: &Path| std::fs::read_to_string(path).map_err(|error| error.to_string());
        let server = std::thread::Builder::new()
            .stack_size(16 << 20)
            .spawn(move || serve(&LANGUAGES, &read, other))
            .expect("a thread can be started");
        let mut client = Self { connection: Some(own), server: Some(server), next: 0, waiting: Vec::new() };
        let hello = client.ask("initialize", json!({ "capabilities": {} })).expect("it is answered");
        assert_eq!(hello["capabilities"]["textDocumentSync"]["change"], 2, "changes are incremental");
        client.tell("initialized", json!({}));
        client
    }

    pub(crate) fn connection(&self) -> &Connection {
        self.connection.as_ref().expect("the conversation goes on")
    }

    pub(crate) fn tell(&self, method: &str, params: Value) {
        let message = Notification { method: method.to_owned(), params };
        self.connection().sender.send(Message::Notification(message)).expect("the server listens");
    }

    pub(crate) fn send_request(&mut self, method: &str, params: Value) -> RequestId {
        self.next += 1;
        let id = RequestId::from(self.next);
        let request = Request { id: id.clone(), method: method.to_owned(), params };
        self.connection().sender.send(Message::Request(request)).expect("the server listens");
        id
    }

    fn receive(&mut self) -> Message {
        match self.connection().receiver.recv_timeout(PATIENCE) {
            Ok(message) => message,
            Err(error) => panic!("the server is silent: {error}"),
        }
    }

    pub(crate) fn answer_to(&mut self, id: &RequestId) -> Response {
        loop {
            match self.receive() {
                Message::Response(response) if response.id == *id => return response,
                Message::Notification(message) => self.note(message),
                other => panic!("unexpected {other:?}"),
            }
        }
    }

    fn note(&mut self, message: Notification) {
        assert_eq!(message.method, "textDocument/publishDiagnostics");
        self.waiting.push(serde_json::from_value(message.params).expect("diagnostics have their type"));
    }

    /// The result of a request, or why it was refused.
    pub(crate) fn ask(&mut self, method: &str, params: Value) -> Result<Value, String> {
        let id = self.send_request(method, params);
        self.answer_to(&id).response_result.map_err(|error| error.message)
    }

    pub(crate) fn open(&self, uri: &str, text: &str) {
        let document = json!({ "uri": uri, "languageId": "", "version": 0, "text": text });
        self.tell("textDocument/didOpen", json!({ "textDocument": document }));
    }

    pub(crate) fn change(&self, uri: &str, version: i32, changes: &Value) {
        let document = json!({ "uri": uri, "version": version });
        self.tell("textDocument/didChange", json!({ "textDocument": document, "contentChanges": changes }));
    }

    pub(crate) fn close(&mut self, uri: &str) {
        self.tell("textDocument/didClose", json!({ "textDocument": { "uri": uri } }));
        let empty = self.next_diagnostics(|found| found.uri.as_str() == uri && found.version.is_none());
        assert_eq!(empty.diagnostics, []);
        self.waiting.retain(|found| found.uri.as_str() != uri);
    }

    pub(crate) fn next_diagnostics(
        &mut self,
        is_it: impl Fn(&PublishDiagnosticsParams) -> bool,
    ) -> PublishDiagnosticsParams {
        loop {
            if let Some(index) = self.waiting.iter().position(&is_it) {
                return self.waiting.remove(index);
            }
            match self.receive() {
                Message::Notification(message) => self.note(message),
                other => panic!("unexpected {other:?}"),
            }
        }
    }

    /// The diagnostics of a version of a text.
    pub(crate) fn diagnostics(&mut self, uri: &str, version: i32) -> Vec<Diagnostic> {
        self.next_diagnostics(|found| found.uri.as_str() == uri && found.version == Some(version)).diagnostics
    }

    /// A request about a place.
    pub(crate) fn at(&mut self, method: &str, uri: &str, position: Position) -> Result<Value, String> {
        self.ask(method, json!({ "textDocument": { "uri": uri }, "position": position }))
    }

    /// A request about a whole text.
    pub(crate) fn of(&mut self, method: &str, uri: &str) -> Result<Value, String> {
        self.ask(method, json!({ "textDocument": { "uri": uri } }))
    }

    /// All sure fixes of a text in one: their edits.
    pub(crate) fn all_fixes(&mut self, uri: &str) -> Option<Vec<TextEdit>> {
        self.actions(uri, "source.fixAll").pop().map(|(_, edits)| edits)
    }

    /// The titles and the edits of the fixes of a text, one by one.
    pub(crate) fn fixes(&mut self, uri: &str) -> Vec<(String, Vec<TextEdit>)> {
        self.actions(uri, "quickfix")
    }

    fn actions(&mut self, uri: &str, kind: &str) -> Vec<(String, Vec<TextEdit>)> {
        let whole = Range::new(Position::new(0, 0), Position::new(u32::MAX, 0));
        let context = json!({ "diagnostics": [], "only": [kind] });
        let params = json!({ "textDocument": { "uri": uri }, "range": whole, "context": context });
        let actions = self.ask("textDocument/codeAction", params).expect("it is answered");
        let read = |action: &Value| {
            let edits = action["edit"]["changes"][uri].clone();
            let title = action["title"].as_str().expect("an action has a title").to_owned();
            (title, serde_json::from_value(edits).expect("edits have their type"))
        };
        actions.as_array().into_iter().flatten().map(read).collect()
    }

    /// Says goodbye; the server ends as it should.
    pub(crate) fn stop(mut self) {
        self.ask("shutdown", Value::Null).expect("it is answered");
        self.tell("exit", Value::Null);
        let end = self.server.take().expect("it was started").join().expect("the server does not panic");
        end.expect("it ends as it should");
    }

    /// Breaks off; answers with what the server says of that.
    pub(crate) fn break_off(mut self, word: Option<&str>) -> Result<(), ServeError> {
        if let Some(word) = word {
            self.tell(word, Value::Null);
        }
        drop(self.connection.take());
        self.server.take().expect("it was started").join().expect("the server does not panic")
    }
}

/// The position of a byte, by walking over all characters before it.
pub(crate) fn position_of(text: &str, offset: usize) -> Position {
    let (mut line, mut column) = (0, 0);
    let mut before = text[..offset].chars().peekable();
    while let Some(character) = before.next() {
        match character {
            '\r' if before.peek() == Some(&'\n') => column += 1,
            '\r' if text[offset..].starts_with('\n') && before.peek().is_none() => column += 1,
            '\r' | '\n' => (line, column) = (line + 1, 0),
            other => column += other.len_utf16() as u32,
        }
    }
    Position::new(line, column)
}

/// The byte at a position.
pub(crate) fn offset_of(text: &str, position: Position) -> usize {
    let mut start = 0;
    for _ in 0..position.line {
        let end = text[start..].find(['\n', '\r']).expect("the text has this line") + start;
        start = end + if text[end..].starts_with("\r\n") { 2 } else { 1 };
    }
    let mut left = position.character as usize;
    for (at, character) in text[start..].char_indices() {
        if left == 0 {
            return start + at;
        }
        left = left.checked_sub(character.len_utf16()).expect("no character is cut");
    }
    assert_eq!(left, 0, "the line is long enough");
    text.len()
}

pub(crate) fn range_of(text: &str, span: birk_ir::Span) -> Range {
    Range::new(position_of(text, span.start as usize), position_of(text, span.end as usize))
}

/// Applies edits that do not overlap.
pub(crate) fn applied(text: &str, edits: &[TextEdit]) -> String {
    let place = |edit: &TextEdit| (offset_of(text, edit.range.start), offset_of(text, edit.range.end));
    let mut edits: Vec<((usize, usize), &str)> = edits.iter().map(|edit| (place(edit), &*edit.new_text)).collect();
    edits.sort_unstable();
    let mut changed = text.to_owned();
    for ((start, end), new) in edits.into_iter().rev() {
        changed.replace_range(start..end, new);
    }
    changed
}

/// Whether diagnostics as sent are those of the front end: places, codes, kinds, messages, places that explain them.
pub(crate) fn assert_same(text: &str, sent: &[Diagnostic], loaded: &birk_ir::Loaded, what: &str) {
    assert_eq!(sent.len(), loaded.diagnostics.len(), "{what}: {sent:#?}\n{:#?}", loaded.diagnostics);
    for (sent, own) in sent.iter().zip(&loaded.diagnostics) {
        let code = serde_json::to_value(&sent.code).expect("a code is JSON");
        assert_eq!(code, own.code, "{what}");
        let is_library = own.label == "not a system";
        let severity = if own.is_warning() {
            2
        } else if is_library {
            3
        } else {
            1
        };
        assert_eq!(serde_json::to_value(sent.severity).expect("a number"), severity, "{what}");
        assert!(sent.message.contains(&own.message), "{what}: {} is not {}", sent.message, own.message);
        if own.span.file == 0 {
            assert_eq!(sent.range, range_of(text, own.span), "{what}: {own:?}");
            assert!(sent.message.starts_with(&own.message) && sent.message.contains(&own.label), "{what}");
        }
        let related = sent.related_information.iter().flatten().count();
        let named = own.related.iter().filter(|(span, _)| span.file == 0).count();
        assert!(related >= named, "{what}: {own:?}");
        if let Some(help) = &own.help {
            assert!(sent.message.ends_with(&format!("\nhelp: {help}")), "{what}: {}", sent.message);
        }
    }
}

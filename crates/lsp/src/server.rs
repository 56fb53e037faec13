//! The conversation with an editor: messages in their order, diagnostics when nothing else is waiting.
//!
//! A change only edits its text. What the front end says is computed when the queue is empty, so that of many changes
//! in a row only the last costs anything; and a request that the editor has cancelled in the meantime is not worked on.

use std::collections::VecDeque;

use lsp_server::{Connection, ErrorCode, Message, Notification, Request, RequestId, Response};
use lsp_types::notification::{self as note, Notification as _};
use lsp_types::request::{self as ask, Request as _};
use lsp_types::{
    DidChangeTextDocumentParams, InitializeResult, NumberOrString, PublishDiagnosticsParams, ServerInfo, Uri,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::documents::Documents;
use crate::language::{Language, ReadFile};
use crate::{actions, capabilities, check, completion, hints, hover, navigation, outline, semantic};

/// Why a conversation did not end as it should.
#[derive(Debug)]
pub struct ServeError {
    reason: String,
}

impl ServeError {
    fn new(reason: impl Into<String>) -> Self {
        Self { reason: reason.into() }
    }
}

impl std::fmt::Display for ServeError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.reason)
    }
}

impl std::error::Error for ServeError {}

/// A request that cannot be answered, and why; shown to the user.
#[derive(Debug)]
pub(crate) struct Refusal(pub(crate) String);

/// Answers an editor until it says `exit`.
pub(crate) fn run(languages: &[Language], read: ReadFile<'_>, connection: Connection) -> Result<(), ServeError> {
    assert!(!languages.is_empty(), "a server needs a language");
    let (id, _) = connection.initialize_start().map_err(|error| ServeError::new(error.to_string()))?;
    let result = InitializeResult {
        capabilities: capabilities::capabilities(),
        server_info: Some(ServerInfo { name: "birk".to_owned(), version: Some(env!("CARGO_PKG_VERSION").to_owned()) }),
    };
    let result = serde_json::to_value(result).map_err(|error| ServeError::new(error.to_string()))?;
    connection.initialize_finish(id, result).map_err(|error| ServeError::new(error.to_string()))?;
    let documents = Documents::new(languages, read);
    Server { connection, documents, queue: VecDeque::new(), is_shut_down: false }.run()
}

struct Server<'s> {
    connection: Connection,
    documents: Documents<'s>,
    queue: VecDeque<Message>,
    is_shut_down: bool,
}

impl Server<'_> {
    fn run(mut self) -> Result<(), ServeError> {
        loop {
            self.queue.extend(self.connection.receiver.try_iter());
            let message = match self.queue.pop_front() {
                Some(message) => message,
                None if !self.documents.unpublished.is_empty() => {
                    self.publish_next()?;
                    continue;
                }
                None => self.connection.receiver.recv().map_err(|_| ServeError::new("the editor is gone"))?,
            };
            match message {
                Message::Request(request) => self.request(request)?,
                Message::Notification(message) if message.method == note::Exit::METHOD => {
                    let reason = "the editor said `exit` without `shutdown`";
                    return if self.is_shut_down { Ok(()) } else { Err(ServeError::new(reason)) };
                }
                Message::Notification(message) => self.notification(message)?,
                Message::Response(_) => {}
            }
        }
    }

    fn send(&self, message: impl Into<Message>) -> Result<(), ServeError> {
        self.connection.sender.send(message.into()).map_err(|_| ServeError::new("the editor is gone"))
    }

    /// Sends the diagnostics of one text.
    fn publish_next(&mut self) -> Result<(), ServeError> {
        let uri = self.documents.unpublished.remove(0);
        let Some(checked) = self.documents.check(&uri) else { return Ok(()) };
        let Some(document) = self.documents.get(&uri) else { return Ok(()) };
        self.publish(uri, check::diagnostics(document, &checked), Some(document.version))
    }

    fn publish(
        &self,
        uri: Uri,
        diagnostics: Vec<lsp_types::Diagnostic>,
        version: Option<i32>,
    ) -> Result<(), ServeError> {
        let params = PublishDiagnosticsParams { uri, diagnostics, version };
        self.send(Notification::new(note::PublishDiagnostics::METHOD.to_owned(), params))
    }

    fn notification(&mut self, message: Notification) -> Result<(), ServeError> {
        match message.method.as_str() {
            note::DidOpenTextDocument::METHOD => {
                if let Some(params) = read_as::<note::DidOpenTextDocument>(message) {
                    self.documents.open(params.text_document);
                }
            }
            note::DidChangeTextDocument::METHOD => {
                if let Some(params) = read_as::<note::DidChangeTextDocument>(message) {
                    let DidChangeTextDocumentParams { text_document, content_changes } = params;
                    self.documents.change(&text_document.uri, text_document.version, content_changes);
                }
            }
            note::DidSaveTextDocument::METHOD => {
                if let Some(params) = read_as::<note::DidSaveTextDocument>(message) {
                    self.documents.changed(&params.text_document.uri);
                }
            }
            note::DidCloseTextDocument::METHOD => {
                if let Some(params) = read_as::<note::DidCloseTextDocument>(message) {
                    let uri = params.text_document.uri;
                    if self.documents.close(&uri) {
                        self.publish(uri, Vec::new(), None)?;
                    }
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Whether the editor has taken a request back; that stands somewhere behind it in the queue.
    fn is_cancelled(&mut self, id: &RequestId) -> bool {
        self.queue.extend(self.connection.receiver.try_iter());
        self.queue.iter().any(|message| match message {
            Message::Notification(message) if message.method == note::Cancel::METHOD => {
                let cancelled = read_as::<note::Cancel>(message.clone()).map(|params| match params.id {
                    NumberOrString::Number(id) => RequestId::from(id),
                    NumberOrString::String(id) => RequestId::from(id),
                });
                cancelled.as_ref() == Some(id)
            }
            _ => false,
        })
    }

    fn request(&mut self, request: Request) -> Result<(), ServeError> {
        let id = request.id.clone();
        if self.is_shut_down {
            let reason = "the server is shut down".to_owned();
            return self.send(Response::new_err(id, ErrorCode::InvalidRequest as i32, reason));
        }
        if request.method == ask::Shutdown::METHOD {
            self.is_shut_down = true;
            return self.send(Response::new_ok(id, ()));
        }
        if self.is_cancelled(&id) {
            let reason = "cancelled".to_owned();
            return self.send(Response::new_err(id, ErrorCode::RequestCanceled as i32, reason));
        }
        let response = self.answer(request);
        self.send(response)
    }

    fn answer(&mut self, request: Request) -> Response {
        let documents = &mut self.documents;
        match request.method.as_str() {
            ask::CodeActionRequest::METHOD => {
                answer::<ask::CodeActionRequest>(request, |p| actions::actions(documents, p))
            }
            ask::Formatting::METHOD => answer::<ask::Formatting>(request, |p| actions::format(documents, &p)),
            ask::CodeLensRequest::METHOD => answer::<ask::CodeLensRequest>(request, |p| actions::lenses(documents, p)),
            ask::HoverRequest::METHOD => answer::<ask::HoverRequest>(request, |p| hover::hover(documents, p)),
            ask::GotoDefinition::METHOD => {
                answer::<ask::GotoDefinition>(request, |p| navigation::definition(documents, p))
            }
            ask::References::METHOD => answer::<ask::References>(request, |p| navigation::references(documents, p)),
            ask::DocumentHighlightRequest::METHOD => {
                answer::<ask::DocumentHighlightRequest>(request, |p| navigation::highlights(documents, p))
            }
            ask::PrepareRenameRequest::METHOD => {
                answer_or::<ask::PrepareRenameRequest>(request, |p| navigation::prepare_rename(documents, p))
            }
            ask::Rename::METHOD => answer_or::<ask::Rename>(request, |p| navigation::rename(documents, p)),
            ask::DocumentSymbolRequest::METHOD => {
                answer::<ask::DocumentSymbolRequest>(request, |p| outline::symbols(documents, p))
            }
            ask::Completion::METHOD => answer::<ask::Completion>(request, |p| completion::complete(documents, p)),
            ask::SemanticTokensFullRequest::METHOD => {
                answer::<ask::SemanticTokensFullRequest>(request, |p| semantic::tokens(documents, p))
            }
            ask::InlayHintRequest::METHOD => answer::<ask::InlayHintRequest>(request, |p| hints::hints(documents, p)),
            method => {
                let reason = format!("there is no method `{method}`");
                Response::new_err(request.id, ErrorCode::MethodNotFound as i32, reason)
            }
        }
    }
}

/// The content of a message; one that is malformed is ignored, as the protocol has no answer to it.
fn read_as<N: note::Notification>(message: Notification) -> Option<N::Params>
where
    N::Params: DeserializeOwned,
{
    message.extract(N::METHOD).ok()
}

/// Answers a request; `None` is the protocol's `null`.
fn answer<R: ask::Request>(request: Request, work: impl FnOnce(R::Params) -> R::Result) -> Response
where
    R::Params: DeserializeOwned,
    R::Result: Serialize,
{
    answer_or::<R>(request, |params| Ok(work(params)))
}

/// Answers a request, or says why not.
fn answer_or<R: ask::Request>(request: Request, work: impl FnOnce(R::Params) -> Result<R::Result, Refusal>) -> Response
where
    R::Params: DeserializeOwned,
    R::Result: Serialize,
{
    let id = request.id.clone();
    match request.extract::<R::Params>(R::METHOD) {
        Err(error) => Response::new_err(id, ErrorCode::InvalidParams as i32, error.to_string()),
        Ok((id, params)) => match work(params) {
            Ok(result) => Response::new_ok(id, result),
            Err(Refusal(reason)) => Response::new_err(id, ErrorCode::RequestFailed as i32, reason),
        },
    }
}

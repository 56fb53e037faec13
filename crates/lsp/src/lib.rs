//! The language server: what editors ask about models, answered by the front ends and by the names in a BIR text.
//!
//! It prints nothing and opens nothing: the caller makes the connection, and passes languages and how to read a file.
#![forbid(unsafe_code)]

mod actions;
mod capabilities;
mod check;
mod completion;
mod document;
mod documents;
mod hints;
mod hover;
mod language;
mod navigation;
mod outline;
mod position;
mod resolve;
mod scope;
mod semantic;
mod server;
mod tree;
mod uri;
mod words;

use lsp_server::Connection;

pub use language::{BIR, Formatter, Language, ReadFile};
pub use server::ServeError;

/// Answers an editor until it says `exit`. A file whose extension no language has is read in the first one.
pub fn serve(languages: &[Language], read: ReadFile<'_>, connection: Connection) -> Result<(), ServeError> {
    server::run(languages, read, connection)
}

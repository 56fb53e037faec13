//! `birk lsp`: the language server, over standard input and output.

use std::path::Path;

use birk_lsp::Language;

use crate::load::imported;
use crate::{Exit, Failure};

/// Runs the command.
pub(crate) fn run() -> Result<Exit, Failure> {
    let language = |one: &birk::FrontEnd| Language {
        name: one.name,
        extensions: one.extensions,
        load: one.load,
        format: one.format,
    };
    let languages: Vec<Language> = birk::FRONT_ENDS.iter().map(language).collect();
    let (connection, threads) = lsp_server::Connection::stdio();
    let served = birk_lsp::serve(&languages, &|path: &Path| imported(path), connection);
    let ended = threads.join();
    served.map_err(|error| Failure { exit: Exit::Io, message: format!("the editor is gone: {error}") })?;
    ended.map_err(|error| Failure::io("talk to the editor", &error))?;
    Ok(Exit::Success)
}

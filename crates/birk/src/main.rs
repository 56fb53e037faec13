//! The `birk` command: the only part of Birk that reads files, prints, and sets exit codes.
#![forbid(unsafe_code)]

mod cli;
mod commands;
mod diagnostics;
mod itf;
mod limits;
mod progress;
mod report;
mod source;

use std::process::ExitCode;

use clap::Parser;

/// The ways in which the command can end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Exit {
    /// Everything asked for holds, or was done.
    Success = 0,
    /// A violation.
    Violated = 1,
    /// Usage, syntax, type or configuration error.
    Usage = 2,
    /// No violation, but the search was not complete.
    Inconclusive = 3,
    /// Input or output failed.
    Io = 4,
    /// Birk's own fault.
    Internal = 70,
    /// Interrupted by the user.
    Interrupted = 130,
}

/// A failure with its message; the message is already for the user's eyes.
#[derive(Debug)]
struct Failure {
    exit: Exit,
    message: String,
}

impl Failure {
    fn usage(message: impl Into<String>) -> Self {
        Self { exit: Exit::Usage, message: message.into() }
    }

    fn io(what: &str, error: &std::io::Error) -> Self {
        Self { exit: Exit::Io, message: format!("cannot {what}: {error}") }
    }

    fn internal(message: impl Into<String>) -> Self {
        let message = message.into();
        Self { exit: Exit::Internal, message: format!("{message}\nthis is a bug in Birk; please report it") }
    }
}

fn main() -> ExitCode {
    let cli = cli::Cli::parse();
    let exit = commands::run(cli).unwrap_or_else(|failure| {
        if !failure.message.is_empty() {
            eprintln!("birk: {}", failure.message);
        }
        failure.exit
    });
    ExitCode::from(exit as u8)
}

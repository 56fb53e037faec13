//! The `birk` command: the only part of Birk that reads files, prints, and sets exit codes. Its binary does no more than to call
//! [`main`].
#![forbid(unsafe_code)]

mod automata;
mod campaign;
mod checkpoint;
mod cli;
#[cfg(feature = "cluster")]
mod cluster;
mod commands;
mod condition;
mod config;
mod diagnostics;
mod durable;
mod escape;
mod explore;
mod folder;
mod graph_layout;
mod interactive;
mod itf;
mod load;
mod numbers;
#[cfg(feature = "object-store")]
mod objects;
mod picture;
mod place;
mod progress;
mod report;
mod settled;
mod source;
mod terminal;

use std::io::Write as _;
use std::panic::{UnwindSafe, catch_unwind};
use std::process::ExitCode;
#[cfg(feature = "native")]
use std::thread;

use birk::Engines;

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

impl From<birk::Error> for Failure {
    fn from(error: birk::Error) -> Self {
        match error {
            birk::Error::Internal(message) => Failure::internal(message),
            error => Failure::usage(error.to_string()),
        }
    }
}

/// The stack of the command. The system may give the first thread less than it needs.
#[cfg(feature = "native")]
const STACK: usize = 16 << 20;

/// Runs the command with the arguments of the process.
pub fn main() -> ExitCode {
    main_with(Engines::default())
}

/// The same with these engines to choose from.
pub fn main_with(engines: Engines) -> ExitCode {
    let run = move || guarded(move || run(&engines));
    let exit = on_a_stack(run);
    ExitCode::from(exit as u8)
}

/// Runs on a stack that is large enough.
#[cfg(feature = "native")]
fn on_a_stack(run: impl FnOnce() -> Exit + Send + 'static) -> Exit {
    let thread = thread::Builder::new().name("birk".into()).stack_size(STACK).spawn(run);
    thread.map(|thread| thread.join().unwrap_or(Exit::Internal)).unwrap_or_else(|error| {
        say(&format!("birk: there is not enough memory to begin: {error}"));
        Exit::Io
    })
}

/// There is one thread, and whoever built it has chosen its stack.
#[cfg(not(feature = "native"))]
fn on_a_stack(run: impl FnOnce() -> Exit) -> Exit {
    run()
}

fn run(engines: &Engines) -> Exit {
    durable::survive_limits();
    let arguments: Vec<_> = std::env::args_os().collect();
    config::parse(&arguments, engines).and_then(|cli| commands::run(cli, engines)).unwrap_or_else(|failure| {
        if !failure.message.is_empty() {
            say(&format!("birk: {}", failure.message));
        }
        failure.exit
    })
}

/// A panic is Birk's own fault, and says so.
fn guarded(act: impl FnOnce() -> Exit + UnwindSafe) -> Exit {
    catch_unwind(act).unwrap_or_else(|_| {
        say("birk: this is a bug in Birk; please report it");
        Exit::Internal
    })
}

/// Writes a line to standard error; a reader that went away is not an error.
fn say(line: &str) {
    let _ = writeln!(std::io::stderr(), "{}", terminal::visible(line));
}

/// The same of a line in which colours may be set.
fn say_in_color(line: &str) {
    let _ = writeln!(std::io::stderr(), "{}", terminal::visible_in_color(line));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exit_codes_are_those_of_the_manual() {
        use Exit::*;
        let codes = [Success, Violated, Usage, Inconclusive, Io, Internal, Interrupted].map(|exit| exit as u8);
        assert_eq!(codes, [0, 1, 2, 3, 4, 70, 130]);
    }

    #[test]
    fn what_is_birks_own_fault_says_so() {
        let failure = Failure::internal("the trace does not replay");
        assert_eq!(failure.exit, Exit::Internal);
        assert!(failure.message.ends_with("this is a bug in Birk; please report it"), "{}", failure.message);
        assert_eq!(guarded(|| panic!("provoked by a test")), Exit::Internal);
        assert_eq!(guarded(|| Exit::Violated), Exit::Violated);
    }
}

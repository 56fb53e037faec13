//! One file a command.

mod automaton;
mod check;
mod documents;
mod explore;
mod fmt;
mod graph;
mod replay;
mod resume;
mod show;
mod simulate;

pub(crate) use check::{Slices, Watch};

use crate::cli::{Cli, Command};
use crate::terminal::{visible, visible_in_color};
use crate::{Exit, Failure};

/// Does what the command line says.
pub(crate) fn run(cli: Cli) -> Result<Exit, Failure> {
    match cli.command {
        Command::Check(args) => check::run(&args),
        Command::Simulate(args) => simulate::run(&args),
        Command::Resume(args) => resume::run(&args),
        Command::Replay(args) => replay::run(&args),
        Command::Show(args) => show::run(&args),
        Command::Graph(args) => graph::run(&args),
        Command::Explore(args) => explore::run(&args),
        Command::Fmt(args) => fmt::run(&args),
        Command::Automaton(args) => automaton::run(&args),
        Command::Explain { code } => documents::explain(code.as_deref()),
        Command::Engines => print(&documents::engines()),
        Command::Completions { shell } => documents::completions(shell),
        Command::Man => documents::man(),
    }
}

/// Writes to standard output; a reader that went away is not an error.
pub(crate) fn print(text: &str) -> Result<Exit, Failure> {
    write(&visible(text))
}

/// The same of a text for people, in which colours may be set.
pub(crate) fn print_for_people(text: &str, color: bool) -> Result<Exit, Failure> {
    write(&if color { visible_in_color(text) } else { visible(text) })
}

fn write(text: &str) -> Result<Exit, Failure> {
    use std::io::Write as _;
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Failure::io("write to standard output", &error))
        }
        _ => Ok(Exit::Success),
    }
}

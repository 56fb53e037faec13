//! One file a command.

mod about;
mod automaton;
mod campaign;
mod certify;
mod check;
#[cfg(feature = "cluster")]
mod cluster;
mod explore;
mod fmt;
mod graph;
#[cfg(feature = "native")]
mod lsp;
#[cfg(feature = "native")]
mod mcp;
mod plan;
#[cfg(feature = "native")]
mod prove;
mod refine;
mod repair;
pub(crate) mod replay;
mod resume;
mod show;
mod simulate;
mod sweep;
mod test;
mod translate;

use birk::Engines;

use crate::cli::{Cli, Command};
use crate::terminal::print;
use crate::{Exit, Failure};

/// Does what the command line says.
pub(crate) fn run(cli: Cli, engines: &Engines) -> Result<Exit, Failure> {
    match cli.command {
        Command::Check(args) => check::run(&args),
        Command::Simulate(args) => simulate::run(&args),
        Command::Resume(args) => resume::run(&args),
        Command::Replay(args) => replay::run(&args),
        Command::Certify(args) => certify::run(&args),
        #[cfg(feature = "native")]
        Command::Prove(args) => prove::run(&args),
        Command::Refine(args) => refine::run(&args),
        Command::Repair(args) => repair::run(&args),
        Command::Show(args) => show::run(&args),
        Command::Graph(args) => graph::run(&args),
        Command::Explore(args) => explore::run(&args),
        Command::Plan(args) => plan::run(&args),
        Command::Sweep(args) => sweep::run(&args),
        Command::Campaign(args) => campaign::run(&args),
        Command::Test(args) => test::run(&args),
        #[cfg(feature = "native")]
        Command::Lsp => lsp::run(),
        #[cfg(feature = "native")]
        Command::Mcp => mcp::run(),
        Command::Fmt(args) => fmt::run(&args),
        Command::Translate(args) => translate::run(&args),
        Command::Automaton(args) => automaton::run(&args),
        #[cfg(feature = "cluster")]
        Command::Cluster(args) => cluster::run(&args),
        Command::Explain { code } => about::explain(code.as_deref()),
        Command::Engines => print(&about::engines(engines)),
        Command::Schema => print(&about::schemas()),
        Command::Completions { shell } => about::completions(shell, engines),
        Command::Man => about::man(engines),
    }
}

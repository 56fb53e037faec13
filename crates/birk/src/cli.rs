//! The command line.

use std::path::PathBuf;
use std::time::Duration;

use birk_search::ENGINES;
use clap::builder::PossibleValuesParser;
use clap::{Args, Parser, Subcommand, ValueEnum};

/// A model checker that says exactly what it covered.
#[derive(Debug, Parser)]
#[command(name = "birk", version, about, max_term_width = 100)]
#[command(after_help = "Exit codes: 0 holds, 1 violated, 2 usage or model error, 3 inconclusive, 4 input/output, \
                        70 Birk's own fault, 130 interrupted.")]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Search a model until a violation or the end
    Check(Box<CheckArgs>),
    /// Walk a trace again, independently of any engine
    Replay(ReplayArgs),
    /// The program as Birk sees it: threads, transitions, read and write sets, state layout
    Show(ModelArgs),
    /// The state graph, for other tools to draw or examine
    Graph(GraphArgs),
    /// Format models in place
    Fmt(FmtArgs),
    /// An error code, with an example and its cure
    Explain {
        /// For example E0020; without it, all codes are listed
        code: Option<String>,
    },
    /// The engines: what each promises and when to use it
    Engines,
    /// Completions for a shell, to be put where it looks for them
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// The manual page, in roff
    Man,
}

/// A model and its constants.
#[derive(Args, Debug)]
pub(crate) struct ModelArgs {
    /// The model (a .bir file)
    pub(crate) model: PathBuf,
    /// Give a constant another value (repeatable)
    #[arg(short = 'D', value_name = "NAME=VALUE", value_parser = parse_define)]
    pub(crate) define: Vec<(String, String)>,
    /// Colours
    #[arg(long, value_enum, default_value = "auto", env = "BIRK_COLOR")]
    pub(crate) color: Color,
}

/// Options of a search.
#[derive(Args, Debug)]
pub(crate) struct CheckArgs {
    #[command(flatten)]
    pub(crate) model: ModelArgs,
    /// Check only this property (repeatable; default: all)
    #[arg(long, value_name = "NAME")]
    pub(crate) property: Vec<String>,
    /// The engine; see `birk engines`
    #[arg(long, value_name = "ENGINE", default_value = ENGINES[0].name, env = "BIRK_SEARCH",
          value_parser = PossibleValuesParser::new(ENGINES.iter().map(|engine| engine.name)))]
    pub(crate) search: String,
    /// Stop after this time, for example 90s, 10m, 1h
    #[arg(long, value_parser = parse_time, env = "BIRK_TIME")]
    pub(crate) time: Option<Duration>,
    /// Use at most this much memory, for example 512M, 4G [default: four fifths of what is free]
    #[arg(long, value_parser = parse_memory, env = "BIRK_MEMORY")]
    pub(crate) memory: Option<u64>,
    /// Look at most this many steps ahead
    #[arg(long, value_name = "N", env = "BIRK_MAX_DEPTH")]
    pub(crate) max_depth: Option<u32>,
    /// Stop after this many states
    #[arg(long, value_name = "N", env = "BIRK_MAX_STATES")]
    pub(crate) max_states: Option<u64>,
    /// Threads to search with; auto means one for each core
    #[arg(long, value_name = "N|auto", default_value = "auto", value_parser = parse_threads)]
    pub(crate) threads: Threads,
    /// How states are remembered: exact, or compact (fingerprints of 64 bits; what may be lost is stated)
    #[arg(long, value_name = "exact|compact", value_enum, default_value = "exact", hide_possible_values = true)]
    pub(crate) store: StoreKind,
    /// The seed of everything random
    #[arg(long, value_name = "N", default_value_t = 0, env = "BIRK_SEED")]
    pub(crate) seed: u64,
    /// Explore on after a violation
    #[arg(long)]
    pub(crate) keep_going: bool,
    /// Count a search that was cut short as a success: complete, depth:N or sampled
    #[arg(long, value_name = "COVERAGE", default_value = "complete", value_parser = parse_accept, env = "BIRK_ACCEPT")]
    pub(crate) accept: Accept,
    /// Whether a deadlock is a violation
    #[arg(long, value_enum, default_value = "on", env = "BIRK_DEADLOCK")]
    pub(crate) deadlock: OnOff,
    /// What to print
    #[arg(long, value_enum, default_value = "human", env = "BIRK_FORMAT")]
    pub(crate) format: Format,
    /// How to show progress (json: one object a line, on standard error)
    #[arg(long, value_enum, default_value = "auto", env = "BIRK_PROGRESS")]
    pub(crate) progress: ProgressMode,
    /// Save the first trace to this file (ITF JSON)
    #[arg(long, value_name = "FILE")]
    pub(crate) trace: Option<PathBuf>,
}

/// Options of `replay`.
#[derive(Args, Debug)]
pub(crate) struct ReplayArgs {
    #[command(flatten)]
    pub(crate) model: ModelArgs,
    /// A trace file (ITF JSON), or the steps themselves, as in the `replay` line of a report: 0:0,1,2
    pub(crate) trace: String,
}

/// Options of `graph`.
#[derive(Args, Debug)]
pub(crate) struct GraphArgs {
    #[command(flatten)]
    pub(crate) model: ModelArgs,
    /// dot (Graphviz) or aut (Aldebaran)
    #[arg(long, value_enum, default_value = "dot")]
    pub(crate) format: GraphFormat,
    /// Refuse to draw more states than this
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    pub(crate) max_states: u64,
}

/// Options of `fmt`.
#[derive(Args, Debug)]
pub(crate) struct FmtArgs {
    /// The models
    #[arg(required = true)]
    pub(crate) models: Vec<PathBuf>,
    /// Change nothing; fail if something is not formatted
    #[arg(long)]
    pub(crate) check: bool,
}

/// When to use colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// A switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum OnOff {
    /// On
    On,
    /// Off
    Off,
}

/// How many threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Threads {
    Auto,
    Number(usize),
}

/// How states are remembered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum StoreKind {
    Exact,
    Compact,
}

/// What to print.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people
    Human,
    /// One JSON object on standard output
    Json,
}

/// How to show progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ProgressMode {
    /// A line that changes on a terminal, a line now and then elsewhere
    Auto,
    /// Nothing
    Off,
    /// One JSON object a line
    Json,
}

/// Formats of graphs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum GraphFormat {
    /// Graphviz
    Dot,
    /// Aldebaran
    Aut,
}

/// The coverage that counts as a success.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Accept {
    /// Only a complete search.
    Complete,
    /// Everything up to this depth.
    Depth(u32),
    /// Anything without a violation.
    Sampled,
}

fn parse_define(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.trim().is_empty() && !value.trim().is_empty() => {
            Ok((name.trim().to_owned(), value.trim().to_owned()))
        }
        _ => Err("write NAME=VALUE, for example -D N=5".into()),
    }
}

fn parse_threads(text: &str) -> Result<Threads, String> {
    match text.parse() {
        _ if text == "auto" => Ok(Threads::Auto),
        Ok(number @ 1..=1024) => Ok(Threads::Number(number)),
        _ => Err("write a number from 1 to 1024, or auto".to_owned()),
    }
}

fn parse_time(text: &str) -> Result<Duration, String> {
    let split = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let factor = match unit.trim() {
        "ms" => 0.001,
        "" | "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        "d" => 86400.0,
        _ => return Err(format!("unknown unit `{unit}`: use ms, s, m, h or d")),
    };
    let seconds: f64 = number.parse().map_err(|_| "write a number and a unit, for example 10m".to_owned())?;
    Duration::try_from_secs_f64(seconds * factor).map_err(|_| "too long".to_owned())
}

fn parse_memory(text: &str) -> Result<u64, String> {
    let split = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let factor = match unit.trim().to_ascii_uppercase().trim_end_matches("IB").trim_end_matches('B') {
        "" => 1.0,
        "K" => 1024.0,
        "M" => 1024.0 * 1024.0,
        "G" => 1024.0 * 1024.0 * 1024.0,
        "T" => 1024.0 * 1024.0 * 1024.0 * 1024.0,
        _ => return Err(format!("unknown unit `{unit}`: use K, M, G or T")),
    };
    let number: f64 = number.parse().map_err(|_| "write a number and a unit, for example 4G".to_owned())?;
    if number * factor < 1.0 { Err("must be more than nothing".into()) } else { Ok((number * factor) as u64) }
}

fn parse_accept(text: &str) -> Result<Accept, String> {
    match text.split_once(':') {
        None if text == "complete" => Ok(Accept::Complete),
        None if text == "sampled" => Ok(Accept::Sampled),
        Some(("depth", depth)) => {
            depth.parse().map(Accept::Depth).map_err(|_| "write depth:N, for example depth:100".into())
        }
        _ => Err("write complete, depth:N or sampled".into()),
    }
}

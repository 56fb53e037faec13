//! The command line.

mod grammar;
mod parse;
mod resume;

use std::path::PathBuf;
use std::time::Duration;

use birk::{Accept, Engines, Threads};
use clap::builder::BoolishValueParser;
use clap::{Args, Parser, Subcommand, ValueEnum};

pub(crate) use grammar::{engine_options, grammar};
use parse::{parse_accept, parse_define, parse_memory, parse_number, parse_positive, parse_threads, parse_time};
pub(crate) use resume::ResumeArgs;

const QUESTIONS: &str = "Questions";
const SEARCH: &str = "Search";
const RUNS: &str = "Runs";
const BUDGET: &str = "Budget";
const OUTPUT: &str = "Output";
const ELSEWHERE: &str = "Options can also be set in the environment (BIRK_MAX_DEPTH=10) and in a file birk.toml \
                         beside the model (max-depth = 10), there also by profile ([profile.NAME]). The command \
                         line wins over the environment, that over the profile, and that over the rest of the file.";

/// A model checker that says exactly what it covered.
#[derive(Debug, Parser)]
#[command(name = "birk", version, max_term_width = 100)]
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
    /// Go on with a search that was kept with --checkpoint
    Resume(ResumeArgs),
    /// Run a model: at random, or as you choose step by step
    Simulate(Box<SimulateArgs>),
    /// Walk a trace again, independently of any engine
    Replay(ReplayArgs),
    /// The program as Birk sees it: threads, transitions, read and write sets, state layout
    Show(ShowArgs),
    /// The state graph, for other tools to draw or examine
    Graph(GraphArgs),
    /// Look around in a model, in a browser on this machine
    Explore(ExploreArgs),
    /// Format models in place
    Fmt(FmtArgs),
    /// The automaton of a formula of linear temporal logic
    Automaton(AutomatonArgs),
    /// An error code, with an example and its cure
    Explain {
        /// For example E0020; without it, all codes are listed
        code: Option<String>,
    },
    /// The engines: what each promises and when to use it
    Engines,
    /// The JSON schema of the reports that --format json writes
    Schema,
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
    #[arg(short = 'D', long, value_name = "NAME=VALUE", value_parser = parse_define)]
    pub(crate) define: Vec<(String, String)>,
    /// Use this profile of the birk.toml beside the model
    #[arg(long, value_name = "NAME")]
    pub(crate) profile: Option<String>,
    /// Colours; auto means on a terminal
    #[arg(long, value_name = "auto|always|never", value_enum, default_value = "auto", hide_possible_values = true)]
    pub(crate) color: Color,
}

/// Options of a search.
#[derive(Args, Debug)]
#[command(after_help = ELSEWHERE)]
pub(crate) struct CheckArgs {
    #[command(flatten)]
    pub(crate) model: ModelArgs,
    /// Check only this property (repeatable) [default: all]
    #[arg(long, value_name = "NAME", help_heading = QUESTIONS)]
    pub(crate) property: Vec<String>,
    /// No run may be one that this automaton accepts (HOA, or a never claim of SPIN)
    #[arg(long, value_name = "FILE", help_heading = QUESTIONS)]
    pub(crate) automaton: Option<PathBuf>,
    /// Which runs count for formulas: weak means that no thread waits for ever while it can go on
    #[arg(long, value_name = "none|weak", value_enum, default_value = "none", hide_possible_values = true,
          help_heading = QUESTIONS)]
    pub(crate) fairness: Fair,
    /// The engine; see `birk engines`
    #[arg(long, value_name = "ENGINE", help_heading = SEARCH)]
    pub(crate) search: String,
    /// Repeat a search with bits this often, each time with other bits and another order
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = parse_positive, help_heading = SEARCH)]
    pub(crate) swarm: u32,
    /// Stop after this time, for example 300ms, 90s, 10m, 1h [default: no limit]
    #[arg(long, value_parser = parse_time, help_heading = BUDGET)]
    pub(crate) time: Option<Duration>,
    /// Use at most this much memory, for example 512M, 4G [default: four fifths of what is free]
    #[arg(long, value_name = "SIZE", value_parser = parse_memory, help_heading = BUDGET)]
    pub(crate) memory: Option<u64>,
    /// Look at most this many steps ahead [default: no limit]
    #[arg(long, value_name = "N", value_parser = parse_number::<u32>, help_heading = BUDGET)]
    pub(crate) max_depth: Option<u32>,
    /// Stop after this many states [default: no limit]
    #[arg(long, value_name = "N", value_parser = parse_number::<u64>, help_heading = BUDGET)]
    pub(crate) max_states: Option<u64>,
    /// Threads to search with; auto means one for each core, and one for formulas
    #[arg(long, value_name = "N|auto", default_value = "auto", value_parser = parse_threads, help_heading = SEARCH)]
    pub(crate) threads: Threads,
    /// How states are remembered: exact, compact (fingerprints of 64 bits) or bitstate (a few bits of a field); for the last
    /// two, what may be lost is stated
    #[arg(long, value_name = "exact|compact|bitstate", value_enum, default_value = "exact", hide_possible_values = true,
          help_heading = SEARCH)]
    pub(crate) store: StoreKind,
    /// The seed of everything random
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = parse_number::<u64>, help_heading = SEARCH)]
    pub(crate) seed: u64,
    /// Explore on after a violation
    #[arg(long, value_name = "true|false", num_args = 0..=1, require_equals = true, default_value = "false",
          default_missing_value = "true", value_parser = BoolishValueParser::new(), hide_possible_values = true,
          help_heading = SEARCH)]
    pub(crate) keep_going: bool,
    /// How much is enough, if there is no violation: complete, hashed, depth:N or sampled
    #[arg(long, value_name = "COVERAGE", default_value = "complete", value_parser = parse_accept,
          help_heading = QUESTIONS)]
    pub(crate) accept: Accept,
    /// Whether a deadlock is a violation
    #[arg(long, value_name = "on|off", value_enum, default_value = "on", hide_possible_values = true,
          help_heading = QUESTIONS)]
    pub(crate) deadlock: OnOff,
    /// For people, or one JSON object on standard output
    #[arg(long, value_name = "human|json", value_enum, default_value = "human", hide_possible_values = true,
          help_heading = OUTPUT)]
    pub(crate) format: Format,
    /// Progress on standard error; json means one object a line
    #[arg(long, value_name = "auto|off|json", value_enum, default_value = "auto", hide_possible_values = true,
          help_heading = OUTPUT)]
    pub(crate) progress: ProgressMode,
    /// Save the first trace to this file (ITF JSON)
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    pub(crate) trace: Option<PathBuf>,
    /// Write a report with charts, source and plots to this file (one HTML page)
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    pub(crate) report: Option<PathBuf>,
    /// With --search depth: keep the search in this folder, for `birk resume`
    #[arg(long, value_name = "FOLDER", help_heading = BUDGET)]
    pub(crate) checkpoint: Option<PathBuf>,
    /// The options that decide what the search finds, wherever they came from, as words of a command line.
    #[arg(skip)]
    pub(crate) given: Vec<String>,
    /// What was said for the engine's own options.
    #[arg(skip)]
    pub(crate) engine_options: birk_engine::Options,
    /// The engines to choose from.
    #[arg(skip)]
    pub(crate) engines: Engines,
}

/// Options of a simulation.
#[derive(Args, Debug)]
#[command(after_help = ELSEWHERE)]
pub(crate) struct SimulateArgs {
    #[command(flatten)]
    pub(crate) model: ModelArgs,
    /// Choose each step yourself: on a screen, or line by line where there is no terminal
    #[arg(long, conflicts_with_all = ["steps", "runs", "time", "format"])]
    pub(crate) guided: bool,
    /// Watch only this property (repeatable) [default: all]
    #[arg(long, value_name = "NAME", help_heading = QUESTIONS)]
    pub(crate) property: Vec<String>,
    /// Whether a deadlock is a violation
    #[arg(long, value_name = "on|off", value_enum, default_value = "on", hide_possible_values = true,
          help_heading = QUESTIONS)]
    pub(crate) deadlock: OnOff,
    /// The seed of the first run; each further run has the next
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = parse_number::<u64>, help_heading = RUNS)]
    pub(crate) seed: u64,
    /// The most steps of a run
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = parse_number::<u32>, help_heading = RUNS)]
    pub(crate) steps: u32,
    /// How many runs
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = parse_number::<u64>, help_heading = RUNS)]
    pub(crate) runs: u64,
    /// Draw a step among all enabled transitions, or first a thread and then one of its transitions
    #[arg(long, value_name = "transition|thread", value_enum, default_value = "transition",
          hide_possible_values = true, help_heading = RUNS)]
    pub(crate) choose: ChooseBy,
    /// Start no further run after this time, for example 90s, 10m [default: no limit]
    #[arg(long, value_parser = parse_time, help_heading = BUDGET)]
    pub(crate) time: Option<Duration>,
    /// For people, or one JSON object on standard output
    #[arg(long, value_name = "human|json", value_enum, default_value = "human", hide_possible_values = true,
          help_heading = OUTPUT)]
    pub(crate) format: Format,
    /// Save the run that is shown to this file (ITF JSON); with --guided, open this file
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    pub(crate) trace: Option<PathBuf>,
    /// The options that decide what the runs are, wherever they came from, as words of a command line.
    #[arg(skip)]
    pub(crate) given: Vec<String>,
}

/// Options of `show`.
#[derive(Args, Debug)]
pub(crate) struct ShowArgs {
    #[command(flatten)]
    pub(crate) model: ModelArgs,
    /// Show instead how far each property's goal seems from the initial state, and what that estimate is made of
    #[arg(long)]
    pub(crate) heuristic: bool,
    /// Refine the estimates of --heuristic so often [default: as seems best]
    #[arg(long, value_name = "N", value_parser = parse_number::<u32>, requires = "heuristic")]
    pub(crate) refine: Option<u32>,
}

/// Options of `replay`.
#[derive(Args, Debug)]
pub(crate) struct ReplayArgs {
    #[command(flatten)]
    pub(crate) model: ModelArgs,
    /// A trace file (ITF JSON), or the steps themselves, as in the `replay` line of a report: 0:0,1,2
    pub(crate) trace: String,
    /// For people, or as a sequence chart for Mermaid or PlantUML
    #[arg(
        long,
        value_name = "human|mermaid|plantuml",
        value_enum,
        default_value = "human",
        hide_possible_values = true
    )]
    pub(crate) format: TraceFormat,
}

/// Options of `graph`.
#[derive(Args, Debug)]
pub(crate) struct GraphArgs {
    #[command(flatten)]
    pub(crate) model: ModelArgs,
    /// dot (Graphviz), aut (Aldebaran) or svg (a picture, for small graphs)
    #[arg(long, value_name = "dot|aut|svg", value_enum, default_value = "dot", hide_possible_values = true)]
    pub(crate) format: GraphFormat,
    /// Draw the whole graph (bfs), or a slice of it (highway)
    #[arg(long, value_name = "bfs|highway", default_value = "bfs", value_parser = ["bfs", "highway"],
          hide_possible_values = true)]
    pub(crate) search: String,
    /// With --search highway: at most this many states of each level, drawn at random
    #[arg(long, value_name = "N", value_parser = parse_positive)]
    pub(crate) width: Option<u32>,
    /// With --search highway: from this depth on, follow only what would end otherwise [default: never]
    #[arg(long, value_name = "N", value_parser = parse_positive)]
    pub(crate) degrade_depth: Option<u32>,
    /// With --search highway: decides what is drawn at random
    #[arg(long, value_name = "N", value_parser = parse_number::<u64>)]
    pub(crate) seed: Option<u64>,
    /// Refuse to draw more states than this
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = parse_number::<u64>)]
    pub(crate) max_states: u64,
}

/// Options of `explore`.
#[derive(Args, Debug)]
pub(crate) struct ExploreArgs {
    #[command(flatten)]
    pub(crate) model: ModelArgs,
    /// The port to listen on; 0 means any that is free
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = parse_number::<u16>)]
    pub(crate) port: u16,
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

/// Options of `automaton`.
#[derive(Args, Debug)]
pub(crate) struct AutomatonArgs {
    /// The formula, for example '[] (request -> <> answer)'; a proposition is a name, or any text in double quotes
    pub(crate) formula: String,
    /// hoa (Hanoi Omega-Automata) or dot (Graphviz)
    #[arg(long, value_name = "hoa|dot", value_enum, default_value = "hoa", hide_possible_values = true)]
    pub(crate) format: AutomatonFormat,
    /// The automaton of the runs that violate the formula
    #[arg(long)]
    pub(crate) negate: bool,
}

/// Formats of automata.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum AutomatonFormat {
    Hoa,
    Dot,
}

/// Which runs count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Fair {
    None,
    Weak,
    Strong,
}

/// When to use colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    Auto,
    Always,
    Never,
}

/// A switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum OnOff {
    On,
    Off,
}

/// How states are remembered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum StoreKind {
    Exact,
    Compact,
    Bitstate,
}

/// What to print.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    Human,
    Json,
}

/// How to print a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TraceFormat {
    Human,
    Mermaid,
    Plantuml,
}

/// How to show progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ProgressMode {
    Auto,
    Off,
    Json,
}

/// Formats of graphs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum GraphFormat {
    Dot,
    Aut,
    Svg,
}

/// Among what a random step is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ChooseBy {
    Transition,
    Thread,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_units() {
        let seconds = |text| parse_time(text).map(|time| time.as_secs_f64());
        assert_eq!(
            ["300ms", "90", "90s", "1.5m", "1min", "2h", "1d"].map(|text| seconds(text).ok()),
            [Some(0.3), Some(90.0), Some(90.0), Some(90.0), Some(60.0), Some(7200.0), Some(86400.0)]
        );
        assert!(["", "m", "-5s", "5 weeks", "1e9d", "..s"].iter().all(|text| seconds(text).is_err()));
    }

    #[test]
    fn sizes_have_units() {
        assert_eq!(parse_memory("512"), Ok(512));
        assert_eq!(
            ["1K", "1k", "1KB", "1KiB", "0.5M"].map(parse_memory),
            [1 << 10, 1 << 10, 1 << 10, 1 << 10, 1 << 19].map(Ok)
        );
        assert_eq!(["4G", "1TiB"].map(parse_memory), [4 << 30, 1 << 40].map(Ok));
        assert!(["", "G", "0", "-1G", "1X"].iter().all(|text| parse_memory(text).is_err()));
    }

    #[test]
    fn the_grammar_is_sound() {
        grammar(&Engines::default()).debug_assert();
    }
}

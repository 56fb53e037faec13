//! The command line.

#[cfg(feature = "cluster")]
mod cluster;
mod grammar;
mod graph;
mod model;
mod parse;
mod plan;
mod refine;
mod repair;
mod resume;

use std::path::PathBuf;
use std::time::Duration;

use birk::{Accept, Engines, Threads};
use clap::builder::BoolishValueParser;
use clap::{Args, Parser, Subcommand, ValueEnum};

#[cfg(feature = "cluster")]
pub(crate) use cluster::{ClusterAction, ClusterArgs, ClusterOptions};
pub(crate) use grammar::{engine_options, grammar};
pub(crate) use graph::{GraphArgs, GraphFormat};
pub(crate) use model::{Color, Format, ModelArgs, ProgressMode};
use parse::{parse_accept, parse_memory, parse_number, parse_positive, parse_threads, parse_time};
pub(crate) use plan::PlanArgs;
pub(crate) use refine::RefineArgs;
pub(crate) use repair::RepairArgs;
pub(crate) use resume::ResumeArgs;

const PROPERTIES: &str = "Properties";
const SEARCH: &str = "Search";
const SIMULATION: &str = "Simulation";
const BUDGET: &str = "Budget";
const OUTPUT: &str = "Output";
const ELSEWHERE: &str = "Options can also be set in the environment (BIRK_MAX_DEPTH=10) and in a file birk.toml \
                         beside the model (max-depth = 10), also for a profile only ([profile.NAME]). The command \
                         line takes precedence over the environment, the environment over the profile, and the \
                         profile over the rest of the file.";

/// A model checker that says exactly what it covered.
#[derive(Debug, Parser)]
#[command(name = "birk", version, max_term_width = 100)]
#[command(after_help = "Exit codes: 0 holds, 1 violated, 2 usage or model error, 3 inconclusive, 4 input/output, \
                        70 internal error, 130 interrupted.")]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Check the properties of a model
    Check(Box<CheckArgs>),
    /// Continue a search that was saved with --checkpoint
    Resume(ResumeArgs),
    /// Simulate a model, at random or step by step
    Simulate(Box<SimulateArgs>),
    /// Replay a trace, independently of any engine
    Replay(ReplayArgs),
    /// Check a certificate, with a checker that shares no code with the engines
    Certify(CertifyArgs),
    /// Find out which invariants are inductive, and which step breaks the others
    #[cfg(feature = "native")]
    Prove(ProveArgs),
    /// Check that every behaviour of a model is a behaviour of its specification
    Refine(RefineArgs),
    /// Find small changes of a model after which a violation is not found any more
    Repair(RepairArgs),
    /// Show the compiled program: threads, transitions, read and write sets, state layout
    Show(ShowArgs),
    /// Print the state graph, for other tools to draw or analyse
    Graph(GraphArgs),
    /// Explore the state graph in a browser on this machine
    Explore(ExploreArgs),
    /// Compute what a search of very many states needs, from a short one
    Plan(PlanArgs),
    /// Check a model with many values of its constants, within one budget
    Sweep(SweepArgs),
    /// Show what the runs of `birk check --campaign FOLDER` know of a model
    Campaign(CampaignArgs),
    /// Check that models are as their `expect` lines say
    Test(TestArgs),
    /// Format models in place
    Fmt(FmtArgs),
    /// Print a model in DVE or Promela as a model in BIR
    Translate(TranslateArgs),
    /// Print the Büchi automaton of an LTL formula
    Automaton(AutomatonArgs),
    /// Search with several processes on this machine, to try what --cluster does on several
    #[cfg(feature = "cluster")]
    Cluster(ClusterArgs),
    /// Serve an editor: the language server protocol over standard input and output
    #[cfg(feature = "native")]
    Lsp,
    /// Serve a coding assistant: the Model Context Protocol over standard input and output
    #[cfg(feature = "native")]
    Mcp,
    /// Explain an error code, with an example and its fix
    Explain {
        /// The code, for example E0020; without it, list all codes
        code: Option<String>,
    },
    /// List the engines: what each guarantees and when to use it
    Engines,
    /// Print the JSON schema of the reports that --format json writes
    Schema,
    /// Print a completion script for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Print the manual page, in roff
    Man,
}

/// Options of a search.
#[derive(Args, Debug)]
#[command(after_help = ELSEWHERE)]
pub(crate) struct CheckArgs {
    #[command(flatten)]
    pub(crate) model: ModelArgs,
    /// More models; each is checked by itself, and gets one line. A folder stands for the models in it
    #[arg(value_name = "MODELS")]
    pub(crate) more: Vec<PathBuf>,
    /// With several models: check so many at a time [default: one per core]
    #[arg(long, value_name = "N", value_parser = parse_positive)]
    pub(crate) jobs: Option<u32>,
    /// Check only this property (repeatable) [default: all]
    #[arg(long, value_name = "NAME", help_heading = PROPERTIES)]
    pub(crate) property: Vec<String>,
    /// Check that this automaton accepts no execution (HOA, or a SPIN never claim)
    #[arg(long, value_name = "FILE", help_heading = PROPERTIES)]
    pub(crate) automaton: Option<PathBuf>,
    /// Fairness for temporal properties; weak: a thread that stays enabled eventually takes a step; strong: one that is
    /// enabled again and again takes steps again and again
    #[arg(long, value_name = "none|weak|strong", value_enum, default_value = "none", hide_possible_values = true,
          help_heading = PROPERTIES)]
    pub(crate) fairness: Fair,
    /// The engine; see `birk engines`
    #[arg(long, value_name = "ENGINE", help_heading = SEARCH)]
    pub(crate) search: String,
    /// Repeat a bitstate search N times, with other hash functions and another order
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = parse_positive, help_heading = SEARCH)]
    pub(crate) swarm: u32,
    /// Stop after this time, for example 300ms, 90s, 10m, 1h [default: no limit]
    #[arg(long, value_parser = parse_time, help_heading = BUDGET)]
    pub(crate) time: Option<Duration>,
    /// Use at most this much memory, for example 512M, 4G [default: four fifths of what is free]
    #[arg(long, value_name = "SIZE", value_parser = parse_memory, help_heading = BUDGET)]
    pub(crate) memory: Option<u64>,
    /// Explore to at most this depth [default: no limit]
    #[arg(long, value_name = "N", value_parser = parse_number::<u32>, help_heading = BUDGET)]
    pub(crate) max_depth: Option<u32>,
    /// Stop after this many states [default: no limit]
    #[arg(long, value_name = "N", value_parser = parse_number::<u64>, help_heading = BUDGET)]
    pub(crate) max_states: Option<u64>,
    /// Reduction: dead resets variables that nobody reads any more; auto also takes commuting steps in one order only. Both keep
    /// verdicts and shortest traces
    #[arg(long, value_name = "off|dead|auto", value_enum, default_value = "off", hide_possible_values = true,
          help_heading = SEARCH)]
    pub(crate) reduce: ReduceMode,
    /// Symmetry reduction: auto visits one of the states that differ only in which interchangeable thread is which
    #[arg(long, value_name = "off|auto", value_enum, default_value = "off", hide_possible_values = true,
          help_heading = SEARCH)]
    pub(crate) symmetry: SymmetryMode,
    /// Number of search threads; auto means one per core, but one for temporal properties
    #[arg(long, value_name = "N|auto", default_value = "auto", value_parser = parse_threads, help_heading = SEARCH)]
    pub(crate) threads: Threads,
    /// How states are stored: exact, compact (hash compaction, 64-bit fingerprints) or bitstate (bitstate hashing, a few
    /// bits); the last two report what may be lost
    #[arg(long, value_name = "exact|compact|bitstate", value_enum, default_value = "exact", hide_possible_values = true,
          help_heading = SEARCH)]
    pub(crate) store: StoreKind,
    /// Seed for all random choices
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = parse_number::<u64>, help_heading = SEARCH)]
    pub(crate) seed: u64,
    /// Continue after a violation
    #[arg(long, value_name = "true|false", num_args = 0..=1, require_equals = true, default_value = "false",
          default_missing_value = "true", value_parser = BoolishValueParser::new(), hide_possible_values = true,
          help_heading = SEARCH)]
    pub(crate) keep_going: bool,
    /// Coverage that counts as success without a violation: complete, hashed, depth:N or partial
    #[arg(long, value_name = "COVERAGE", default_value = "complete", value_parser = parse_accept,
          help_heading = PROPERTIES)]
    pub(crate) accept: Accept,
    /// Whether a deadlock is a violation
    #[arg(long, value_name = "on|off", value_enum, default_value = "on", hide_possible_values = true,
          help_heading = PROPERTIES)]
    pub(crate) deadlock: OnOff,
    /// Report as text for people, as one JSON object, as SARIF for code scanners, or with annotations for GitHub
    #[arg(long, value_name = "human|json|sarif|github", value_enum, default_value = "human", hide_possible_values = true,
          help_heading = OUTPUT)]
    pub(crate) format: ReportFormat,
    /// Progress on standard error; json means one object per line
    #[arg(long, value_name = "auto|off|json", value_enum, default_value = "auto", hide_possible_values = true,
          help_heading = OUTPUT)]
    pub(crate) progress: ProgressMode,
    /// Save the first trace to this file (ITF JSON)
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    pub(crate) trace: Option<PathBuf>,
    /// Write an HTML report with charts, source and plots to this file
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    pub(crate) report: Option<PathBuf>,
    /// Explain traces by comparing all executions of at most N steps [default: as many as the trace has, as far as that is quick]
    #[arg(long, value_name = "N", value_parser = parse_number::<u32>, help_heading = OUTPUT)]
    pub(crate) explain: Option<u32>,
    /// Write a certificate of what is proved to this file, for `birk certify`; of a circuit, to .aig or .aag, a witness circuit
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    pub(crate) certificate: Option<PathBuf>,
    /// With --search disk or cluster: put files into this folder [default: the checkpoint's, or the system's for temporary files]
    #[arg(long, value_name = "FOLDER", help_heading = BUDGET)]
    pub(crate) disk: Option<PathBuf>,
    /// With --search bfs, depth, disk or cluster: save the search in this folder, or at an address of an object store, for `birk resume`
    #[arg(long, value_name = "FOLDER", help_heading = BUDGET)]
    pub(crate) checkpoint: Option<PathBuf>,
    /// Keep what is known in this folder, and go on from there: with --search auto and --time, run after run
    #[arg(long, value_name = "FOLDER", help_heading = BUDGET)]
    pub(crate) campaign: Option<PathBuf>,
    #[cfg(feature = "cluster")]
    #[command(flatten)]
    pub(crate) together: ClusterOptions,
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
    /// Choose each step yourself: full-screen, or line by line without a terminal
    #[arg(long, conflicts_with_all = ["steps", "runs", "time", "format"])]
    pub(crate) guided: bool,
    /// Monitor only this property (repeatable) [default: all]
    #[arg(long, value_name = "NAME", help_heading = PROPERTIES)]
    pub(crate) property: Vec<String>,
    /// Whether a deadlock is a violation
    #[arg(long, value_name = "on|off", value_enum, default_value = "on", hide_possible_values = true,
          help_heading = PROPERTIES)]
    pub(crate) deadlock: OnOff,
    /// Seed of the first run; each further run uses the next
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = parse_number::<u64>, help_heading = SIMULATION)]
    pub(crate) seed: u64,
    /// Maximum number of steps of a run
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = parse_number::<u32>, help_heading = SIMULATION)]
    pub(crate) steps: u32,
    /// Number of runs
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = parse_number::<u64>, help_heading = SIMULATION)]
    pub(crate) runs: u64,
    /// Choose among all enabled transitions, or choose a thread first, then one of its transitions
    #[arg(long, value_name = "transition|thread", value_enum, default_value = "transition",
          hide_possible_values = true, help_heading = SIMULATION)]
    pub(crate) choose: ChooseBy,
    /// Start no new run after this time, for example 90s, 10m [default: no limit]
    #[arg(long, value_parser = parse_time, help_heading = BUDGET)]
    pub(crate) time: Option<Duration>,
    /// Report as text for people, or as one JSON object
    #[arg(long, value_name = "human|json", value_enum, default_value = "human", hide_possible_values = true,
          help_heading = OUTPUT)]
    pub(crate) format: Format,
    /// Save the run shown to this file (ITF JSON); with --guided, open this file
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
    /// Show the heuristic estimate for each property in the initial state, and its parts
    #[arg(long)]
    pub(crate) heuristic: bool,
    /// Number of refinement rounds for --heuristic [default: automatic]
    #[arg(long, value_name = "N", value_parser = parse_number::<u32>, requires = "heuristic")]
    pub(crate) refine: Option<u32>,
    /// Show which steps of different threads commute, and for those that do not, a state in which the order matters
    #[arg(long, conflicts_with = "heuristic")]
    pub(crate) independence: bool,
}

/// Options of `replay`.
#[derive(Args, Debug)]
pub(crate) struct ReplayArgs {
    #[command(flatten)]
    pub(crate) model: ModelArgs,
    /// A trace file (ITF JSON), or the steps from the `replay` line of a report: 0:0,1,2
    pub(crate) trace: String,
    /// Text for people, or a sequence diagram for Mermaid or PlantUML
    #[arg(
        long,
        value_name = "human|mermaid|plantuml",
        value_enum,
        default_value = "human",
        hide_possible_values = true
    )]
    pub(crate) format: TraceFormat,
}

/// Options of `certify`.
#[derive(Args, Debug)]
pub(crate) struct CertifyArgs {
    #[command(flatten)]
    pub(crate) model: ModelArgs,
    /// The certificate
    pub(crate) certificate: PathBuf,
    /// Text for people, or one JSON object
    #[arg(long, value_name = "human|json", value_enum, default_value = "human", hide_possible_values = true)]
    pub(crate) format: Format,
}

/// Options of `prove`.
#[cfg(feature = "native")]
#[derive(Args, Debug)]
pub(crate) struct ProveArgs {
    #[command(flatten)]
    pub(crate) model: ModelArgs,
    /// The invariants that are examined together, or `fault` (repeatable) [default: all invariants]
    #[arg(long, value_name = "NAME")]
    pub(crate) with: Vec<String>,
    /// Prove what is not inductive by IC3, with clauses that make it so, given what is
    #[arg(long)]
    pub(crate) strengthen: bool,
    /// Stop after this time, for example 90s, 10m, 1h [default: no limit]
    #[arg(long, value_parser = parse_time)]
    pub(crate) time: Option<Duration>,
    /// Write a certificate of what is proved, for `birk certify`
    #[arg(long, value_name = "FILE")]
    pub(crate) certificate: Option<PathBuf>,
    /// Text for people, or one JSON object
    #[arg(long, value_name = "human|json", value_enum, default_value = "human", hide_possible_values = true)]
    pub(crate) format: Format,
}

/// Options of `explore`.
#[derive(Args, Debug)]
pub(crate) struct ExploreArgs {
    #[command(flatten)]
    pub(crate) model: ModelArgs,
    /// Port to listen on; 0 means any free port
    #[cfg(feature = "native")]
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = parse_number::<u16>)]
    pub(crate) port: u16,
    /// Answer the questions of the page on standard input, one JSON object per line, instead of a browser's
    #[arg(long)]
    pub(crate) stdio: bool,
}

/// Options of `sweep`.
#[derive(Args, Debug)]
#[command(
    after_help = "Give constants several values: a range (-D N=2..6), a list (-D BUG=0,1), or both (-D N=1,4..6)."
)]
pub(crate) struct SweepArgs {
    #[command(flatten)]
    pub(crate) model: ModelArgs,
    /// Check only this property (repeatable) [default: all]
    #[arg(long, value_name = "NAME")]
    pub(crate) property: Vec<String>,
    /// Stop after this time in all, for example 90s, 10m, 1h [default: no limit]
    #[arg(long, value_parser = parse_time)]
    pub(crate) time: Option<Duration>,
    /// Use at most this much memory, for example 512M, 4G [default: four fifths of what is free]
    #[arg(long, value_name = "SIZE", value_parser = parse_memory)]
    pub(crate) memory: Option<u64>,
    /// Number of search threads; auto means one per core, but one for temporal properties
    #[arg(long, value_name = "N|auto", default_value = "auto", value_parser = parse_threads)]
    pub(crate) threads: Threads,
    /// A table for people, or one JSON object
    #[arg(long, value_name = "human|json", value_enum, default_value = "human", hide_possible_values = true)]
    pub(crate) format: Format,
    /// Write an HTML page with the table and a plot to this file
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Option<PathBuf>,
    /// Progress on standard error; json means one object per line
    #[arg(long, value_name = "auto|off|json", value_enum, default_value = "auto", hide_possible_values = true)]
    pub(crate) progress: ProgressMode,
}

/// Options of `campaign`.
#[derive(Args, Debug)]
pub(crate) struct CampaignArgs {
    /// The folder of the campaign
    pub(crate) folder: PathBuf,
    /// A table for people, or one JSON object
    #[arg(long, value_name = "human|json", value_enum, default_value = "human", hide_possible_values = true)]
    pub(crate) format: Format,
    /// Write an HTML page with the table and plots to this file
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Option<PathBuf>,
    /// When to use colours; auto means only on a terminal
    #[arg(long, value_name = "auto|always|never", value_enum, default_value = "auto", hide_possible_values = true)]
    pub(crate) color: Color,
}

/// Options of `test`.
#[derive(Args, Debug)]
pub(crate) struct TestArgs {
    /// Models, and folders whose models are tested
    #[arg(required = true, value_name = "PATH")]
    pub(crate) models: Vec<PathBuf>,
    /// How many expectations are checked at a time [default: one per core]
    #[arg(long, value_name = "N", value_parser = parse_positive)]
    pub(crate) jobs: Option<u32>,
    /// The report: text for people, a JUnit file for other tools, or text with annotations for GitHub
    #[arg(long, value_name = "human|junit|github", value_enum, default_value = "human", hide_possible_values = true)]
    pub(crate) format: TestFormat,
}

/// How the results of tests are reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TestFormat {
    Human,
    Junit,
    Github,
}

/// Options of `fmt`.
#[derive(Args, Debug)]
pub(crate) struct FmtArgs {
    /// The models to format
    #[arg(required = true)]
    pub(crate) models: Vec<PathBuf>,
    /// Change nothing; fail if a file is not formatted
    #[arg(long)]
    pub(crate) check: bool,
}

/// Options of `translate`.
#[derive(Args, Debug)]
pub(crate) struct TranslateArgs {
    #[command(flatten)]
    pub(crate) model: ModelArgs,
}

/// Options of `automaton`.
#[derive(Args, Debug)]
pub(crate) struct AutomatonArgs {
    /// The LTL formula, for example '[] (request -> <> answer)'; propositions are names or quoted strings
    pub(crate) formula: String,
    /// hoa (Hanoi Omega-Automata) or dot (Graphviz)
    #[arg(long, value_name = "hoa|dot", value_enum, default_value = "hoa", hide_possible_values = true)]
    pub(crate) format: AutomatonFormat,
    /// Print the automaton of the executions that violate the formula
    #[arg(long)]
    pub(crate) negate: bool,
}

/// Formats of automata.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum AutomatonFormat {
    Hoa,
    Dot,
}

/// Which executions count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Fair {
    None,
    Weak,
    Strong,
}

/// Whether a search is reduced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReduceMode {
    Off,
    Dead,
    Auto,
}

/// Whether a search uses symmetry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SymmetryMode {
    Off,
    Auto,
}

/// A switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum OnOff {
    On,
    Off,
}

/// How states are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum StoreKind {
    Exact,
    Compact,
    Bitstate,
}

/// How to report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportFormat {
    Human,
    Json,
    Sarif,
    Github,
}

/// How to print a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TraceFormat {
    Human,
    Mermaid,
    Plantuml,
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

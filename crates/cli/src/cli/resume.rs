//! The options of `birk resume`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use birk::{Engines, Threads};

#[cfg(feature = "cluster")]
use super::ClusterOptions;
use super::{Color, ProgressMode, ReportFormat, parse_memory, parse_number, parse_threads, parse_time};

/// Options of a search that goes on: those that it had, but for these.
#[derive(Args, Debug)]
pub(crate) struct ResumeArgs {
    /// The folder of the saved search, or its address in an object store
    pub(crate) folder: PathBuf,
    /// Stop after this time [default: no limit]
    #[arg(long, value_parser = parse_time)]
    pub(crate) time: Option<Duration>,
    /// Use at most this much memory [default: as before]
    #[arg(long, value_name = "SIZE", value_parser = parse_memory)]
    pub(crate) memory: Option<u64>,
    /// Explore to at most this depth [default: as before]
    #[arg(long, value_name = "N", value_parser = parse_number::<u32>)]
    pub(crate) max_depth: Option<u32>,
    /// Stop after this many states in all [default: no limit]
    #[arg(long, value_name = "N", value_parser = parse_number::<u64>)]
    pub(crate) max_states: Option<u64>,
    /// Use at most this much room for files, with --search disk [default: as before]
    #[arg(long, value_name = "SIZE", value_parser = parse_memory)]
    pub(crate) max_disk: Option<u64>,
    /// With a search in an object store: put other files into this folder [default: the system's for temporary files]
    #[cfg(feature = "object-store")]
    #[arg(long, value_name = "FOLDER")]
    pub(crate) disk: Option<PathBuf>,
    /// Number of search threads [default: as before]
    #[arg(long, value_name = "N|auto", value_parser = parse_threads)]
    pub(crate) threads: Option<Threads>,
    /// Report as text for people, as one JSON object, as SARIF, or with annotations for GitHub [default: human]
    #[arg(long, value_name = "human|json|sarif|github", value_enum, hide_possible_values = true)]
    pub(crate) format: Option<ReportFormat>,
    /// Progress on standard error; json means one object per line [default: auto]
    #[arg(long, value_name = "auto|off|json", value_enum, hide_possible_values = true)]
    pub(crate) progress: Option<ProgressMode>,
    /// When to use colours; auto means only on a terminal [default: auto]
    #[arg(long, value_name = "auto|always|never", value_enum, hide_possible_values = true)]
    pub(crate) color: Option<Color>,
    /// Save the first trace to this file (ITF JSON)
    #[arg(long, value_name = "FILE")]
    pub(crate) trace: Option<PathBuf>,
    /// Write an HTML report with charts, source and plots to this file
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Option<PathBuf>,
    #[cfg(feature = "cluster")]
    #[command(flatten)]
    pub(crate) together: ClusterOptions,
    /// The options above that were given, as words of a command line.
    #[arg(skip)]
    pub(crate) given: Vec<String>,
    /// The engines to choose from.
    #[arg(skip)]
    pub(crate) engines: Engines,
}

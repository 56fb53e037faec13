//! The options of `birk refine`.

use std::path::PathBuf;
use std::time::Duration;

use birk::Threads;
use clap::Args;

use super::model::{Format, ModelArgs, ProgressMode};
use super::parse::{parse_memory, parse_number, parse_threads, parse_time};

/// Options of `refine`.
#[derive(Args, Debug)]
pub(crate) struct RefineArgs {
    #[command(flatten)]
    pub(crate) model: ModelArgs,
    /// The specification (.bir, .dve or .pml) that the model's `refines` block maps to
    pub(crate) specification: PathBuf,
    /// Number of search threads; auto means one per core
    #[arg(long, value_name = "N|auto", default_value = "auto", value_parser = parse_threads)]
    pub(crate) threads: Threads,
    /// Stop after this time, for example 300ms, 90s, 10m, 1h [default: no limit]
    #[arg(long, value_parser = parse_time)]
    pub(crate) time: Option<Duration>,
    /// Use at most this much memory, for example 512M, 4G [default: four fifths of what is free]
    #[arg(long, value_name = "SIZE", value_parser = parse_memory)]
    pub(crate) memory: Option<u64>,
    /// Explore to at most this depth [default: no limit]
    #[arg(long, value_name = "N", value_parser = parse_number::<u32>)]
    pub(crate) max_depth: Option<u32>,
    /// Stop after this many pairs of a state and a set of specification states [default: no limit]
    #[arg(long, value_name = "N", value_parser = parse_number::<u64>)]
    pub(crate) max_states: Option<u64>,
    /// Text for people, or one JSON object
    #[arg(long, value_name = "human|json", value_enum, default_value = "human", hide_possible_values = true)]
    pub(crate) format: Format,
    /// Progress on standard error; json means one object per line
    #[arg(long, value_name = "auto|off|json", value_enum, default_value = "auto", hide_possible_values = true)]
    pub(crate) progress: ProgressMode,
}

//! The options of `birk graph`.

use clap::{Args, ValueEnum};

use super::model::ModelArgs;
use super::parse::{parse_number, parse_positive};

/// Options of `graph`.
#[derive(Args, Debug)]
pub(crate) struct GraphArgs {
    #[command(flatten)]
    pub(crate) model: ModelArgs,
    /// dot (Graphviz), aut (Aldebaran), json, svg (a picture, for small graphs), or the model as a circuit: aiger, or aag in
    /// ASCII
    #[arg(long, value_name = "FORMAT", value_enum, default_value = "dot", hide_possible_values = true)]
    pub(crate) format: GraphFormat,
    /// Instead of the state graph, print the automaton of each thread, or of the thread with this name
    #[arg(long, value_name = "NAME", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    pub(crate) threads: Option<String>,
    /// Draw the whole graph (bfs) or a slice of it (highway)
    #[arg(long, value_name = "bfs|highway", default_value = "bfs", value_parser = ["bfs", "highway"],
          hide_possible_values = true)]
    pub(crate) search: String,
    /// With --search highway: at most this many states per level, drawn at random
    #[arg(long, value_name = "N", value_parser = parse_positive)]
    pub(crate) width: Option<u32>,
    /// With --search highway: from this depth on, stop widening: keep only successors that a lane needs to continue
    /// [default: never]
    #[arg(long, value_name = "N", value_parser = parse_positive)]
    pub(crate) degrade_depth: Option<u32>,
    /// With --search highway: seed for the random choice
    #[arg(long, value_name = "N", value_parser = parse_number::<u64>)]
    pub(crate) seed: Option<u64>,
    /// Refuse to draw more than this many states
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = parse_number::<u64>)]
    pub(crate) max_states: u64,
}

/// Formats of graphs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum GraphFormat {
    Dot,
    Aut,
    Json,
    Svg,
    #[cfg(feature = "native")]
    Aiger,
    #[cfg(feature = "native")]
    Aag,
}

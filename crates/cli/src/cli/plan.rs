//! The options of `birk plan`.

use std::time::Duration;

use clap::Args;

use super::model::{Format, ModelArgs};
use super::parse::{parse_memory, parse_positive, parse_states, parse_time};

/// Options of `plan`.
#[derive(Args, Debug)]
pub(crate) struct PlanArgs {
    #[command(flatten)]
    pub(crate) model: ModelArgs,
    /// How many states there are, for example 1e12
    #[arg(long, value_name = "NUMBER", value_parser = parse_states)]
    pub(crate) states: f64,
    /// How long to measure, for example 3s, 1m
    #[arg(long, default_value = "3s", value_parser = parse_time)]
    pub(crate) time: Duration,
    /// Number of machines [default: as many as have memory for all states]
    #[arg(long, value_name = "N", value_parser = parse_positive)]
    pub(crate) machines: Option<u32>,
    /// Memory of a machine
    #[arg(long, value_name = "SIZE", default_value = "512G", value_parser = parse_memory)]
    pub(crate) machine_memory: u64,
    /// Cores of a machine
    #[arg(long, value_name = "N", default_value_t = 32, value_parser = parse_positive)]
    pub(crate) cores: u32,
    /// Network of a machine, in Gbit/s
    #[arg(long, value_name = "N", default_value_t = 25, value_parser = parse_positive)]
    pub(crate) network: u32,
    /// Text for people, or one JSON object
    #[arg(long, value_name = "human|json", value_enum, default_value = "human", hide_possible_values = true)]
    pub(crate) format: Format,
}

//! The options of `birk repair`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::model::{Format, ModelArgs, ProgressMode};
use super::parse::{parse_memory, parse_time};
use super::{Fair, OnOff};

/// Options of `repair`.
#[derive(Args, Debug)]
pub(crate) struct RepairArgs {
    #[command(flatten)]
    pub(crate) model: ModelArgs,
    /// Check only this property; may be repeated [default: all]
    #[arg(long, value_name = "NAME")]
    pub(crate) property: Vec<String>,
    /// Whether a deadlock is a violation
    #[arg(long, value_name = "on|off", value_enum, default_value = "on", hide_possible_values = true)]
    pub(crate) deadlock: OnOff,
    /// Which executions count for temporal properties: all, or those in which no thread that could move waits forever
    #[arg(long, value_name = "none|weak|strong", value_enum, default_value = "none", hide_possible_values = true)]
    pub(crate) fairness: Fair,
    /// Stop after this time, for example 300ms, 90s, 10m, 1h
    #[arg(long, default_value = "20s", value_parser = parse_time)]
    pub(crate) time: Duration,
    /// Use at most this much memory, for example 512M, 4G [default: four fifths of what is free]
    #[arg(long, value_name = "SIZE", value_parser = parse_memory)]
    pub(crate) memory: Option<u64>,
    /// Write an HTML page with each change in the text around it to this file
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Option<PathBuf>,
    /// Text for people, or one JSON object
    #[arg(long, value_name = "human|json", value_enum, default_value = "human", hide_possible_values = true)]
    pub(crate) format: Format,
    /// Progress on standard error; json means one object per line
    #[arg(long, value_name = "auto|off|json", value_enum, default_value = "auto", hide_possible_values = true)]
    pub(crate) progress: ProgressMode,
}

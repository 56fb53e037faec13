//! The options of a search by several processes, and of `birk cluster`.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};

use super::parse::{parse_number, parse_positive, parse_time};

const CLUSTER: &str = "Cluster";

/// With whom a process searches.
#[derive(Args, Debug)]
pub(crate) struct ClusterOptions {
    /// Search with the processes in this file, a line host:port for each; start the same check on each of them
    #[arg(long, value_name = "FILE", help_heading = CLUSTER)]
    pub(crate) cluster: Option<PathBuf>,
    /// Place of this process in the file of --cluster, from 0 on [default: what Slurm or Kubernetes sets]
    #[arg(long, value_name = "N", value_parser = parse_number::<u32>, requires = "cluster", help_heading = CLUSTER)]
    pub(crate) rank: Option<u32>,
    /// Wait this long for the other processes of --cluster
    #[arg(long, value_name = "TIME", value_parser = parse_time, requires = "cluster", default_value = "20s",
          help_heading = CLUSTER)]
    pub(crate) cluster_wait: Duration,
}

/// Options of `cluster`.
#[derive(Args, Debug)]
pub(crate) struct ClusterArgs {
    #[command(subcommand)]
    pub(crate) action: ClusterAction,
}

/// What to do with a cluster.
#[derive(Debug, Subcommand)]
pub(crate) enum ClusterAction {
    /// Start several processes on this machine that check a model together
    Up {
        /// Number of processes
        #[arg(short = 'n', long, value_name = "N", default_value_t = 2, value_parser = parse_positive)]
        processes: u32,
        /// The model and the options of `birk check`
        #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true, value_name = "MODEL AND OPTIONS")]
        check: Vec<OsString>,
    },
    /// Start several processes on this machine that resume a saved search
    Resume {
        /// Number of processes
        #[arg(short = 'n', long, value_name = "N", default_value_t = 2, value_parser = parse_positive)]
        processes: u32,
        /// The folder of the saved search and the options of `birk resume`
        #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true, value_name = "FOLDER AND OPTIONS")]
        resume: Vec<OsString>,
    },
}

//! What commands with a model share.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::parse::parse_define;

/// A model and its constants.
#[derive(Args, Debug)]
pub(crate) struct ModelArgs {
    /// The model (.bir, .dve, .pml, .aig or .aag)
    pub(crate) model: PathBuf,
    /// Override the value of a constant (repeatable)
    #[arg(short = 'D', long, value_name = "NAME=VALUE", value_parser = parse_define)]
    pub(crate) define: Vec<(String, String)>,
    /// Use this profile from the birk.toml beside the model
    #[arg(long, value_name = "NAME")]
    pub(crate) profile: Option<String>,
    /// When to use colours; auto means only on a terminal
    #[arg(long, value_name = "auto|always|never", value_enum, default_value = "auto", hide_possible_values = true)]
    pub(crate) color: Color,
    /// Errors and warnings of the model as text for people, or as JSON, one object per line
    #[arg(long, value_name = "human|json", value_enum, default_value = "human", hide_possible_values = true)]
    pub(crate) diagnostics: Format,
}

/// When to use colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    Auto,
    Always,
    Never,
}

/// What to print.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    Human,
    Json,
}

/// How to show progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ProgressMode {
    Auto,
    Off,
    Json,
}

impl From<super::Fair> for birk::Fairness {
    fn from(fair: super::Fair) -> Self {
        match fair {
            super::Fair::None => Self::None,
            super::Fair::Weak => Self::Weak,
            super::Fair::Strong => Self::Strong,
        }
    }
}

//! What a JSON report says of how much was explored.

use birk_ir::Coverage;
use schemars::JsonSchema;
use serde::Serialize;

use crate::report::Report;

/// A count; as text where 64 bits do not hold it.
#[derive(JsonSchema, Serialize)]
#[serde(untagged)]
pub(super) enum Count {
    Number(u64),
    Digits(String),
}

impl Count {
    pub(super) fn new(digits: &str) -> Self {
        digits.parse().map_or_else(|_| Count::Digits(digits.to_owned()), Count::Number)
    }
}

#[derive(JsonSchema, Serialize)]
pub(super) struct CoverageReport {
    #[serde(flatten)]
    kind: CoverageKind,
    grade: &'static str,
    /// The coverage statement, in the words of the report for people.
    statement: String,
    /// A partial-order reduction took steps that commute in one order only: what is claimed holds, but not every state was visited.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    reduced: bool,
    /// These variables were reset to their initial values where they are dead: states that differ only in such values count as
    /// one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    dead: Vec<String>,
    /// The properties of labels, which were not checked because `--property` did not name them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    unchecked: Vec<String>,
    /// Of the states that differ only in interchangeable threads one was visited: those that are counted are representatives.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    symmetry: bool,
}

#[derive(JsonSchema, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum CoverageKind {
    Complete,
    /// Everything within so many steps.
    Depth {
        depth: u32,
    },
    Hashed {
        depth: Option<u32>,
        omission_probability: f64,
        expected_omissions: f64,
    },
    Partial {
        states: Count,
    },
}

impl CoverageReport {
    pub(super) fn new(report: &Report<'_>) -> Self {
        let kind = match report.hunt.coverage {
            Coverage::Complete => CoverageKind::Complete,
            Coverage::Depth(depth) => CoverageKind::Depth { depth },
            Coverage::Hashed { depth, omission_probability, expected_omissions } => {
                CoverageKind::Hashed { depth, omission_probability, expected_omissions }
            }
            // States of the model: the search of a formula counts those of its product.
            Coverage::Partial(_) => {
                let stats = &report.hunt.stats;
                let states = stats.bdd().map_or(Count::Number(stats.states), |sets| Count::new(&sets.states));
                CoverageKind::Partial { states }
            }
        };
        Self {
            kind,
            grade: report.grade().letter(),
            statement: report.covered(),
            reduced: report.is_reduced,
            dead: report.dead.clone(),
            unchecked: report.unchecked().into_iter().map(str::to_owned).collect(),
            symmetry: report.is_of_orbits(),
        }
    }
}

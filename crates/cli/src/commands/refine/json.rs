//! The report of `birk refine` for programs.

use birk::{Counterexample, Grade};
use birk_ir::Coverage;
use schemars::JsonSchema;
use serde::Serialize;

use super::Shown;
use crate::report::json::{Fields, constants};
use crate::report::ordinals_text;

/// The report of `birk refine`.
#[derive(JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RefineReport {
    schema: u32,
    birk: &'static str,
    model: String,
    system: String,
    constants: Fields,
    specification: SpecificationReport,
    /// `holds` if it refines the specification, `violated` or `inconclusive`.
    verdict: &'static str,
    coverage: CoverageReport,
    stopped_by: &'static str,
    stats: Figures,
    /// The shortest run that the specification cannot follow.
    counterexample: Option<CounterexampleReport>,
    /// There is one of so many steps, but the search ended before it had it.
    #[serde(skip_serializing_if = "Option::is_none")]
    untraced_steps: Option<u32>,
}

#[derive(JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
struct SpecificationReport {
    /// As the `refines` block names it.
    name: String,
    model: String,
    system: String,
    constants: Fields,
    /// Its global variables that are mapped, and those that are not; an array may be both.
    mapped: Vec<String>,
    hidden: Vec<String>,
}

#[derive(JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
struct CoverageReport {
    /// `complete`, `depth` or `partial`.
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    depth: Option<u32>,
    grade: &'static str,
}

#[derive(JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
struct Figures {
    /// Pairs of a state of the implementation and a set of specification states.
    pairs: u64,
    transitions: u64,
    max_depth: u32,
    /// States of the specification that were expanded.
    specification_states: u64,
    /// Different sets of them.
    sets: u64,
    set_bytes: u64,
    seconds: f64,
}

#[derive(JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
struct CounterexampleReport {
    /// What is wrong at its end: `initial`, `step` or `fault`.
    kind: &'static str,
    length: usize,
    /// The mapped values initially, unless one has none.
    start: Option<Fields>,
    steps: Vec<StepReport>,
    /// The mapped values that the specification could have had instead.
    instead: Vec<Fields>,
    /// Mapped elements that have no value at the end, and why.
    unmapped: Fields,
    replay: String,
}

#[derive(JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
struct StepReport {
    thread: String,
    line: usize,
    column: usize,
    /// The mapped values after it; none where one has none, or after a runtime error.
    observed: Option<Fields>,
    /// The steps of the specification beside it: none where it stutters, null where it has none.
    specification: Option<Vec<BesideReport>>,
}

#[derive(JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
struct BesideReport {
    thread: String,
    line: usize,
    column: usize,
    /// It leaves the mapped variables as they are.
    internal: bool,
}

impl RefineReport {
    pub(super) fn of(shown: &Shown<'_>) -> Self {
        let (hunt, specification) = (&shown.refined.hunt, &shown.refined.specification);
        let (kind, depth) = match hunt.coverage {
            Coverage::Complete => ("complete", None),
            Coverage::Depth(depth) => ("depth", Some(depth)),
            Coverage::Hashed { .. } | Coverage::Partial(_) => ("partial", None),
        };
        Self {
            schema: 1,
            birk: env!("CARGO_PKG_VERSION"),
            model: shown.source.path.clone(),
            system: shown.program.system.clone(),
            constants: constants(shown.program),
            specification: SpecificationReport {
                name: shown.mapping.name.clone(),
                model: shown.spec_source.path.clone(),
                system: shown.specification.system.clone(),
                constants: constants(shown.specification),
                mapped: names(shown.variables(true)),
                hidden: names(shown.variables(false)),
            },
            verdict: shown.refined.verdict.word(),
            coverage: CoverageReport { kind, depth, grade: Grade::of(Some(&hunt.coverage)).letter() },
            stopped_by: hunt.stopped.word(),
            stats: Figures {
                pairs: hunt.stats.states,
                transitions: hunt.stats.transitions,
                max_depth: hunt.stats.max_depth,
                specification_states: specification.states,
                sets: specification.sets,
                set_bytes: specification.bytes,
                seconds: shown.seconds,
            },
            counterexample: shown.refined.counterexample.as_ref().map(|found| counterexample(shown, found)),
            untraced_steps: shown.refined.untraced,
        }
    }
}

fn names(variables: Vec<(&str, bool)>) -> Vec<String> {
    variables.into_iter().map(|(name, _)| name.to_owned()).collect()
}

fn counterexample(shown: &Shown<'_>, found: &Counterexample) -> CounterexampleReport {
    let (run, mismatch) = (&found.run, &found.mismatch);
    let fields = |observation: &Vec<i64>| -> Fields {
        shown.values(observation).into_iter().map(|(name, value)| (name, value.into())).collect()
    };
    let step = |at: usize| {
        let (thread, (line, column)) = Shown::step(shown.source, shown.program, run, at);
        let observed = mismatch.observed.get(at + 1).and_then(Option::as_ref).map(fields);
        let beside = mismatch.beside.get(at).map(|beside| {
            let one = |step: usize| {
                let of = &mismatch.specification;
                let (thread, (line, column)) = Shown::step(shown.spec_source, shown.specification, of, step);
                BesideReport { thread, line, column, internal: step + 1 < beside.steps.end }
            };
            beside.steps.clone().map(one).collect()
        });
        StepReport { thread, line, column, observed, specification: beside }
    };
    let is_fault = shown.program.is_faulty(run.last());
    let unmapped = if is_fault { Vec::new() } else { shown.unmapped(run.last()) };
    CounterexampleReport {
        kind: found.kind.word(),
        length: run.steps.len(),
        start: mismatch.observed[0].as_ref().map(fields),
        steps: (0..run.steps.len()).map(step).collect(),
        instead: if is_fault { Vec::new() } else { mismatch.instead.iter().map(fields).collect() },
        unmapped: unmapped.into_iter().map(|(name, why)| (name, why.into())).collect(),
        replay: ordinals_text(run),
    }
}

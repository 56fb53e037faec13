//! `birk certify`: checks a certificate, and says exactly what it certifies.

use std::fmt::Write as _;
use std::fs;
use std::time::Instant;

use birk::certificate::{Bound, Checked, check};
use birk::certify::{Evidence, Refusal};
use birk_ir::{Program, Property};
use schemars::JsonSchema;
use serde::Serialize;

use crate::cli::{CertifyArgs, Format};
use crate::load::load;
use crate::numbers::count;
use crate::report::json::{Fields, constants};
use crate::terminal::print;
use crate::{Exit, Failure};

/// The report of `birk certify`.
#[derive(JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CertifyReport {
    schema: u32,
    birk: &'static str,
    model: String,
    system: String,
    constants: Fields,
    certificate: String,
    /// `certified`, `fails` or `unknown`.
    verdict: &'static str,
    /// Why it is not certified.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    properties: Vec<PropertyReport>,
    /// Properties of the model that the certificate says nothing of.
    uncovered: Vec<String>,
    /// What it was certified by.
    evidence: Option<EvidenceReport>,
    seconds: f64,
}

#[derive(JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
struct PropertyReport {
    name: String,
    kind: &'static str,
    /// `holds`, or `never reached`.
    certified: &'static str,
    /// Of a property of executions: no execution is accepted more often by the automaton of its violations.
    #[serde(skip_serializing_if = "Option::is_none")]
    bound: Option<u32>,
    /// Of a property of executions: which ones are meant, `none` for all of them, or `weak`.
    #[serde(skip_serializing_if = "Option::is_none")]
    fairness: Option<&'static str>,
}

#[derive(JsonSchema, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum EvidenceReport {
    /// The visited states, and the steps that were taken from them.
    States { states: u64, transitions: u64 },
    /// The clauses of all invariants, and how often the solver was asked.
    Invariants { clauses: u64, queries: u64 },
}

/// Runs the command.
pub(crate) fn run(args: &CertifyArgs) -> Result<Exit, Failure> {
    let (source, program) = load(&args.model)?;
    let path = args.certificate.display().to_string();
    let bytes = fs::read(&args.certificate).map_err(|error| Failure::io(&format!("read {path}"), &error))?;
    let began = Instant::now();
    let answer = check(&program, &bytes, &|| true);
    let report = |verdict, reason, certified: Option<&Checked>| CertifyReport {
        schema: 1,
        birk: env!("CARGO_PKG_VERSION"),
        model: source.path.clone(),
        system: program.system.clone(),
        constants: constants(&program),
        certificate: path.clone(),
        verdict,
        reason,
        properties: certified.iter().flat_map(|certified| &certified.properties).map(property).collect(),
        uncovered: certified.map_or(Vec::new(), |certified| uncovered(&program, certified)),
        evidence: certified.map(evidence),
        seconds: began.elapsed().as_secs_f64(),
    };
    let (exit, verdict, refusal) = match &answer {
        Ok(certified) => {
            let text = match args.format {
                Format::Human => human(&source.path, &program, certified, &path),
                Format::Json => json(&report("certified", None, Some(certified))),
            };
            return print(&text);
        }
        // What is damaged, or about something else, says nothing of the model.
        Err(Refusal::Unfit(reason)) => return Err(Failure::usage(format!("{path} cannot be used: {reason}"))),
        Err(refusal @ Refusal::Fails(_)) => (Exit::Internal, "fails", refusal),
        Err(refusal @ (Refusal::Unknown(_) | Refusal::Stopped)) => (Exit::Inconclusive, "unknown", refusal),
    };
    if args.format == Format::Json {
        print(&json(&report(verdict, Some(refusal.to_string()), None)))?;
    }
    let message = match exit {
        Exit::Internal => {
            format!("{path} fails: {refusal}\nif Birk has written it, this is a bug in Birk; please report it")
        }
        _ => format!(
            "{path} cannot be checked: {refusal}; check the model by a search, `birk check --search bfs --certificate`"
        ),
    };
    Err(Failure { exit, message })
}

fn json(report: &CertifyReport) -> String {
    serde_json::to_string_pretty(report).expect("a report has only string keys") + "\n"
}

fn property((property, bound): &(Property, Option<Bound>)) -> PropertyReport {
    let fairness = bound.as_ref().map(|bound| if bound.is_fair { "weak" } else { "none" });
    PropertyReport {
        name: property.name.clone(),
        kind: property.word(),
        certified: certified_as(property),
        bound: bound.as_ref().map(|bound| bound.most),
        fairness,
    }
}

/// What is certified of a property: that no state is as it says, where it asks for one.
fn certified_as(property: &Property) -> &'static str {
    if property.wants_goal() { "never reached" } else { "holds" }
}

/// The names of the properties that a certificate is not about.
fn uncovered(program: &Program, certified: &Checked) -> Vec<String> {
    let is_covered = |property: &&Property| certified.properties.iter().any(|(one, _)| one.name == property.name);
    let others = program.properties.iter().filter(|property| !is_covered(property));
    others.map(|property| property.name.clone()).collect()
}

fn evidence(certified: &Checked) -> EvidenceReport {
    match certified.evidence {
        Evidence::States(states, transitions) => EvidenceReport::States { states, transitions },
        Evidence::Invariants(clauses, queries) => EvidenceReport::Invariants { clauses, queries },
    }
}

fn human(model: &str, program: &Program, certified: &Checked, path: &str) -> String {
    let constants: Vec<String> = program.constants.iter().map(|(name, value)| format!("{name} = {value}")).collect();
    let constants = if constants.is_empty() { String::new() } else { format!(", {}", constants.join(", ")) };
    let mut out = format!("{model}: system {}{constants}\n", program.system);
    for (property, bound) in &certified.properties {
        let kind = Some(property.word()).filter(|word| *word != property.name);
        let kind = kind.map_or(String::new(), |kind| format!("{kind} "));
        let bound = bound.as_ref().map_or(String::new(), |Bound { most, is_fair }| {
            let which = if *is_fair { ", under weak fairness" } else { "" };
            format!("{which}: accepted at most {}", count(u64::from(*most), "time"))
        });
        let _ = writeln!(out, "  certified: {kind}`{}` {}{bound}", property.name, certified_as(property));
    }
    for name in uncovered(program, certified) {
        let _ = writeln!(out, "  not certified: `{name}`, of which the certificate says nothing");
    }
    let by = match certified.evidence {
        Evidence::States(states, transitions) => format!(
            "{}: the initial state is among them, none of {} leads out of them, and none of them is bad",
            count(states, "state"),
            count(transitions, "step")
        ),
        Evidence::Invariants(clauses, queries) => format!(
            "{} of inductive invariants: true initially, kept by every step, and false in what is bad ({} to a SAT solver)",
            count(clauses, "clause"),
            count(queries, "question")
        ),
    };
    let _ = writeln!(out, "  by {path}, {by}");
    out
}

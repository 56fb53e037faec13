//! What a model says should be found of it, against what is found.

use std::path::Path;

use birk_exec::goal_of;
use birk_ir::{Clause, Expectation, Loaded, Program, Property, PropertyKind, Span, Verdict};

use crate::check::check;
use crate::error::Error;
use crate::load::front_end;
use crate::options::Options;
use crate::report::{Answer, Report};
use crate::watch::Watch;

/// What a model expects: its declarations, or, in a language that has none, lines of comments `// expect: …`. The place of such a
/// line that cannot be read is the error.
pub fn expectations(path: &Path, text: &str, loaded: &Loaded) -> Result<Vec<Expectation>, Span> {
    match front_end(path).expects {
        true => Ok(loaded.expectations.clone()),
        false => Expectation::in_comments(text),
    }
}

/// Checks a model, which was read with the constants of an expectation, and says in which ways it is not as expected.
pub fn differences(
    program: &Program,
    expected: &Expectation,
    options: &Options,
    watch: &mut dyn Watch,
) -> Result<Vec<String>, Error> {
    let is_named = |property: &Property| expected.clauses.iter().any(|clause| name(clause) == Some(&property.name));
    // What labels mean is checked where it is named.
    let is_asked = |property: &&Property| property.span.is_some() || is_built_in(property) || is_named(property);
    let (of_states, others): (Vec<&Property>, Vec<&Property>) =
        program.properties.iter().filter(is_asked).partition(|property| goal_of(program, property).is_some());
    let mut found = Vec::new();
    // Counts are those of the states, so the searches for other properties are made apart.
    for (properties, has_counts) in [(of_states, true), (others, false)] {
        if properties.is_empty() {
            continue;
        }
        let properties = properties.into_iter().map(|property| property.name.clone()).collect();
        let report = check(program, &Options { properties, keep_going: true, ..options.clone() }, watch)?;
        found.extend(report.answers.iter().filter_map(|answer| verdict(&report, answer, &expected.clauses)));
        if has_counts {
            found.extend(expected.clauses.iter().filter_map(|clause| count(&report, clause)));
        }
    }
    Ok(found)
}

fn is_built_in(property: &Property) -> bool {
    matches!(property.kind, PropertyKind::Deadlock | PropertyKind::Fault)
}

/// The property that a part of an expectation is about.
fn name(clause: &Clause) -> Option<&String> {
    match clause {
        Clause::Holds(name) => name.as_ref(),
        Clause::Violated(name, _) | Clause::Reached(name, _) => Some(name),
        Clause::States(_) | Clause::Transitions(_) | Clause::Depth(_) => None,
    }
}

/// How an answer differs from what is expected of it.
fn verdict(report: &Report, answer: &Answer, clauses: &[Clause]) -> Option<String> {
    let property = &answer.property.name;
    let (expected, steps) = match clauses.iter().find(|clause| name(clause) == Some(property)) {
        Some(Clause::Violated(_, steps)) => (Verdict::Violated, *steps),
        Some(Clause::Reached(_, steps)) => (Verdict::Holds, *steps),
        _ => (Verdict::Holds, None),
    };
    let length = answer.trace.map(|trace| report.traces[trace].run.steps.len() as u64);
    let is_met = answer.verdict == expected && (steps.is_none() || steps == length);
    let with = |length: Option<u64>| length.map_or(String::new(), |steps| format!(" in {steps}"));
    let word = |verdict| match verdict {
        Verdict::Holds if answer.property.wants_goal() => "reached",
        Verdict::Violated if answer.property.wants_goal() => "not reached",
        Verdict::Holds => "holds",
        Verdict::Violated => "violated",
        Verdict::Inconclusive => "inconclusive",
    };
    (!is_met).then(|| {
        format!("`{property}`: {}{}, expected {}{}", word(answer.verdict), with(length), word(expected), with(steps))
    })
}

/// How a count differs from what is expected of it.
fn count(report: &Report, clause: &Clause) -> Option<String> {
    let stats = &report.hunt.stats;
    let (what, found, expected) = match *clause {
        Clause::States(states) => ("states", stats.states, states),
        Clause::Transitions(transitions) => ("transitions", stats.transitions, transitions),
        Clause::Depth(depth) => ("depth", u64::from(stats.max_depth), depth),
        _ => return None,
    };
    (found != expected).then(|| format!("{what}: {found}, expected {expected}"))
}

//! Circuits as the library sees them: what engines say of them is what brute force over all states and inputs says.

mod circuit;
mod corpus;
mod exported;
mod inputs;
mod justice;
mod random;
mod robustness;
mod witness;

use birk::{Options, Patient, Report, check, load_text};
use birk_ir::{Program, Property, Verdict};

/// The program of a text, or of the bytes of a binary file, one character each.
fn program(name: &str, text: &str) -> Program {
    load_text(name, text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// What an engine says.
fn report(program: &Program, engine: &str, max_depth: Option<u32>) -> Report {
    report_of(program, engine, max_depth, |_| true)
}

/// The same, of some properties.
fn report_of(program: &Program, engine: &str, max_depth: Option<u32>, is_asked: fn(&Property) -> bool) -> Report {
    let asked = program.properties.iter().filter(|property| is_asked(property));
    let properties = asked.map(|property| property.name.clone()).collect();
    let options = Options { engine: engine.into(), properties, keep_going: true, max_depth, ..Options::default() };
    check(program, &options, &mut Patient).unwrap_or_else(|error| panic!("{engine}: {error}"))
}

/// For each property its name, the verdict, and the steps of the trace.
fn answers(report: &Report) -> Vec<(String, Verdict, Option<usize>)> {
    let of = |(number, answer): (usize, &birk::Answer)| {
        let trace = report.traces.iter().find(|trace| trace.answer == number);
        (answer.property.name.clone(), answer.verdict, trace.map(|trace| trace.run.steps.len()))
    };
    report.answers.iter().enumerate().map(of).collect()
}

//! What was asked, and how the answer is presented: on standard output, in files, and by the exit code.

use std::path::Path;

use birk::{Form, Options, process_memory};
use birk_ir::{Program, Property, Verdict};

use crate::cli::{CheckArgs, ReportFormat};
use crate::progress::Course;
use crate::report::fold::Look;
use crate::report::{self, Report};
use crate::source::Source;
use crate::terminal::{print, print_for_people, uses_color};
use crate::{Exit, Failure, durable, itf, say};

/// What is asked.
pub(super) struct Asked<'a> {
    pub(super) args: &'a CheckArgs,
    pub(super) options: &'a Options,
    pub(super) source: &'a Source,
    pub(super) program: &'a Program,
    pub(super) properties: Vec<Property>,
}

impl Asked<'_> {
    /// What was found, ready to be shown.
    pub(super) fn report<'a>(&'a self, found: &'a birk::Report, seconds: f64) -> Report<'a> {
        let Self { args, source, program, .. } = *self;
        Report { found, source, program, args, seconds, peak_memory: process_memory::peak_memory() }
    }
}

/// Prints a report, and writes the files that were asked for.
pub(super) fn present(report: &Report<'_>, course: &Course<'_>) -> Result<Exit, Failure> {
    let args = report.args;
    let color = uses_color(args.model.color, &std::io::stdout());
    match args.format {
        ReportFormat::Json => print(&report::json::text(report))?,
        ReportFormat::Sarif => print(&report::sarif::text(report))?,
        ReportFormat::Human => print_for_people(&report::human::text(report, Look::of_output(color)), color)?,
        ReportFormat::Github => {
            print(&report::sarif::annotations(report))?;
            print_for_people(&report::human::text(report, Look::of_output(color)), color)?
        }
    };
    if let Some(path) = &args.trace {
        save(path, report)?;
    }
    if let Some(path) = &args.certificate {
        save_certificate(path, report)?;
    }
    if let Some(path) = &args.report {
        durable::write(path, report::html::page(report, course).as_bytes())
            .map_err(|error| Failure::io(&format!("write {}", path.display()), &error))?;
    }
    Ok(exit(report))
}

/// Saves the trace; the report is already out, so a full disk costs only the file.
fn save(path: &Path, report: &Report<'_>) -> Result<(), Failure> {
    let Some(trace) = report.first_trace() else {
        say(&format!("birk: there is no trace, so {} was not written", path.display()));
        return Ok(());
    };
    durable::write(
        path,
        itf::write(report.source, report.program, Some(report.property_of(trace)), &trace.run).as_bytes(),
    )
    .map_err(|error| Failure::io(&format!("write {}", path.display()), &error))
}

/// How a certificate is written whose file ends like a circuit's: as a witness circuit, which only a circuit has.
pub(super) fn witness_form(certificate: &Path) -> Option<Form> {
    let extension = certificate.extension().and_then(|extension| extension.to_str())?;
    match extension {
        "aig" => Some(Form::Binary),
        "aag" => Some(Form::Ascii),
        _ => None,
    }
}

/// Saves the certificate, or says why there is none.
fn save_certificate(path: &Path, report: &Report<'_>) -> Result<(), Failure> {
    let witness = witness_form(path)
        .map(|form| birk::certificate::of_circuit(&report.source.text, report.program, report.found, form));
    match witness.as_ref().or(report.certificate.as_ref()) {
        Some(Ok(bytes)) => {
            durable::write(path, bytes).map_err(|error| Failure::io(&format!("write {}", path.display()), &error))
        }
        Some(Err(reason)) => {
            say(&format!("birk: {reason}, so {} was not written", path.display()));
            Ok(())
        }
        None => Ok(()),
    }
}

/// How the process ends.
pub(super) fn exit(report: &Report<'_>) -> Exit {
    match report.verdict() {
        Verdict::Violated => Exit::Violated,
        Verdict::Holds => Exit::Success,
        Verdict::Inconclusive if report.is_interrupted() => Exit::Interrupted,
        Verdict::Inconclusive if report.is_accepted(report.args.accept) => Exit::Success,
        Verdict::Inconclusive => Exit::Inconclusive,
    }
}

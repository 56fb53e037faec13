//! `birk replay`: walks a trace again and shows it.

use std::path::Path;

use birk_exec::replay::replay_ordinals;
use birk_exec::{ReplayError, Replayed};
use birk_ir::Program;

use crate::cli::{ReplayArgs, TraceFormat};
use crate::commands::print;
use crate::report::chart::{Chart, chart};
use crate::report::{diagram, human};
use crate::source::{load, uses_color};
use crate::{Exit, Failure, itf};

/// Runs the command.
pub(crate) fn run(args: &ReplayArgs) -> Result<Exit, Failure> {
    let (source, program) = load(&args.model)?;
    let misfit = |error: &ReplayError| Failure::usage(format!("the trace does not fit the model: {error}"));
    let run = match parse_ordinals(&args.trace) {
        Some((initial, ordinals)) => replay_ordinals(&program, initial, &ordinals).map_err(|e| misfit(&e))?,
        None => itf::open(&program, Path::new(&args.trace))?,
    };
    let diagram = match args.format {
        TraceFormat::Human => None,
        TraceFormat::Mermaid => Some(diagram::mermaid as fn(&Chart, &str) -> String),
        TraceFormat::Plantuml => Some(diagram::plantuml as fn(&Chart, &str) -> String),
    };
    if let Some(diagram) = diagram {
        let ending = match &violated(&program, &run)[..] {
            [] => "the end of the run".to_owned(),
            decided => format!("decides {}", decided.join(", ")).replace('`', ""),
        };
        return print(&diagram(&chart(&source, &program, &run), &ending));
    }
    let color = uses_color(args.model.color, &std::io::stdout());
    let mut out = human::trace_table(&source, &program, &run, color);
    let shown = violated(&program, &run);
    out.push('\n');
    let steps = human::count(run.steps.len() as u64, "step");
    let decided = if shown.is_empty() { "no property".to_owned() } else { shown.join(", ") };
    out.push_str(&format!("the trace fits the model; its last state, after {steps}, decides {decided}\n"));
    print(&out)
}

/// The properties that the last state decides.
fn violated(program: &Program, run: &Replayed) -> Vec<String> {
    let decided = program.properties.iter().filter(|property| run.confirm(program, property).is_ok());
    decided.map(|property| format!("`{}`", property.name)).collect()
}

/// `0:0,1,2`
fn parse_ordinals(text: &str) -> Option<(u32, Vec<u32>)> {
    let (initial, rest) = text.split_once(':')?;
    let steps = rest.split(',').filter(|part| !part.is_empty()).map(str::parse).collect::<Result<_, _>>();
    Some((initial.parse().ok()?, steps.ok()?))
}

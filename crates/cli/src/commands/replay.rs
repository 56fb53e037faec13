//! `birk replay`: walks a trace again and shows it.

use std::path::Path;

use birk_exec::replay::replay_ordinals;
use birk_exec::{ReplayError, Replayed};
use birk_ir::Program;

use crate::cli::{ReplayArgs, TraceFormat};
use crate::load::load;
use crate::numbers::count;
use crate::report::chart::{Chart, chart};
use crate::report::diagram;
use crate::report::fold::Look;
use crate::report::trace_table::{Extent, TraceTable};
use crate::terminal::uses_color;
use crate::terminal::{print, print_for_people};
use crate::{Exit, Failure, itf};

/// Runs the command.
pub(crate) fn run(args: &ReplayArgs) -> Result<Exit, Failure> {
    let (source, program) = load(&args.model)?;
    let misfit = |error: &ReplayError| Failure::usage(format!("the trace does not fit the model: {error}"));
    let run = match parse_ordinals(&args.trace) {
        Some((initial, ordinals, back)) => {
            let run = replay_ordinals(&program, initial, &ordinals, back).map_err(|e| misfit(&e))?;
            if run.loop_start.is_some() {
                run.closes(&program).map_err(|e| misfit(&e))?;
            }
            run
        }
        None => itf::open(&program, Path::new(&args.trace))?,
    };
    let diagram = match args.format {
        TraceFormat::Human => None,
        TraceFormat::Mermaid => Some(diagram::mermaid as fn(&Chart, &str) -> String),
        TraceFormat::Plantuml => Some(diagram::plantuml as fn(&Chart, &str) -> String),
    };
    if let Some(diagram) = diagram {
        let ending = match &violated(&program, &run)[..] {
            [] => "the end of the trace".to_owned(),
            decided => format!("decides {}", decided.join(", ")).replace('`', ""),
        };
        return print(&diagram(&chart(&source, &program, &run), &ending));
    }
    let color = uses_color(args.model.color, &std::io::stdout());
    let look = Look::of_output(color);
    let table = TraceTable { source: &source, program: &program, run: &run, extent: Extent::Whole, explanation: None };
    let mut out = table.text(look);
    let shown = violated(&program, &run);
    out.push('\n');
    let decided = if shown.is_empty() { "no property".to_owned() } else { shown.join(", ") };
    let what = match run.loop_start {
        None => format!("its last state, after {},", count(run.steps.len() as u64, "step")),
        Some(start) if start == run.steps.len() => {
            "the execution, which stutters forever in its last state,".to_owned()
        }
        Some(start) => {
            format!("the lasso, which repeats its last {} forever,", count((run.steps.len() - start) as u64, "step"))
        }
    };
    out.push_str(&format!("the trace fits the model; {what} decides {decided}\n"));
    print_for_people(&look.folded(&out), color)
}

/// The properties that the last state decides, or the whole run, if it repeats.
fn violated(program: &Program, run: &Replayed) -> Vec<String> {
    let repeats = run.loop_start.is_some();
    let about =
        program.properties.iter().filter(|property| property.branching().is_some() || property.is_of_runs() == repeats);
    let decided = about.filter(|property| run.confirm(program, property).is_ok());
    decided.map(|property| format!("`{}`", property.name)).collect()
}

/// `0:0,1,2`, or `0:0,1(2,3)` for a run that repeats: initial state, steps, where it repeats.
pub(crate) fn parse_ordinals(text: &str) -> Option<(u32, Vec<u32>, Option<usize>)> {
    let (initial, rest) = text.split_once(':')?;
    let list =
        |text: &str| text.split(',').filter(|part| !part.is_empty()).map(str::parse).collect::<Result<Vec<u32>, _>>();
    let (stem, period) = match rest.split_once('(') {
        None => (rest, None),
        Some((stem, period)) => (stem, Some(period.strip_suffix(')')?)),
    };
    let mut steps = list(stem).ok()?;
    let back = period.map(|_| steps.len());
    steps.extend(list(period.unwrap_or_default()).ok()?);
    Some((initial.parse().ok()?, steps, back))
}

//! `birk show`: the program as Birk sees it, how far its goals seem to be, or which of its steps commute.

mod independence;

use std::fmt::Write as _;

use birk_engine::NEVER;
use birk_exec::goal_of;
use birk_exec::heuristic::text::steps;
use birk_ir::Program;

use crate::cli::ShowArgs;
use crate::load::load;
use crate::numbers::count;
use crate::terminal::print;
use crate::{Exit, Failure};

/// Runs the command.
pub(crate) fn run(args: &ShowArgs) -> Result<Exit, Failure> {
    let (source, program) = load(&args.model)?;
    if let (true, Some(reason)) = (args.independence, program.interpreted_only()) {
        return Err(Failure::usage(format!("it is not known which steps commute: {reason}")));
    }
    print(&match args {
        ShowArgs { independence: true, .. } => independence::text(&source, &program),
        ShowArgs { heuristic: true, .. } => heuristics(&program, args.refine),
        _ => program.to_text(),
    })
}

fn heuristics(program: &Program, refine: Option<u32>) -> String {
    let initial = program.initial_state();
    let mut out = String::new();
    for property in &program.properties {
        let Some(goal) = goal_of(program, property) else { continue };
        let heuristic = &birk::heuristics(program, &[goal], refine.map(u64::from))[0];
        let verb = if property.wants_goal() { "reached" } else { "violated" };
        let when = match heuristic.steps(&initial, &mut Vec::new()) {
            NEVER => format!("never {verb}"),
            estimate => format!("{verb} after at least {}", steps(estimate)),
        };
        let times = count(u64::from(heuristic.depth()), "time");
        let parts = count(heuristic.parts().len() as u64, "part");
        let _ = writeln!(out, "{} is {when} (refined {times}, {parts})", property.name);
        out += &heuristic.explain(&initial);
    }
    out
}

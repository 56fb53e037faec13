//! `birk plan`: what a search of very many states needs, from the figures of a short one.

mod cost;

use std::fmt::Write as _;
use std::time::Instant;

use birk::{Options, Threads};
use birk_ir::{Coverage, Program};
use schemars::JsonSchema;
use serde::Serialize;

use crate::cli::{Format, PlanArgs, ProgressMode};
use crate::load::load;
use crate::numbers::{bytes, count, grouped};
use crate::progress::Watcher;
use crate::report::json::{Fields, constants};
use crate::terminal::print;
use crate::{Exit, Failure};
use cost::{Assumed, Measured, Plan, plan};

/// The report of `birk plan`.
#[derive(JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PlanReport {
    schema: u32,
    birk: &'static str,
    model: String,
    system: String,
    constants: Fields,
    /// By a breadth-first search with one thread, on this machine.
    measured: Measured,
    assumed: Assumed,
    /// From both.
    plan: Plan,
}

/// Runs the command.
pub(crate) fn run(args: &PlanArgs) -> Result<Exit, Failure> {
    let (source, program) = load(&args.model)?;
    let measured = measured(&program, args)?;
    let assumed = Assumed::new(args.states, args.machine_memory, args.cores, args.network);
    let plan = plan(&measured, &assumed, args.machines);
    match args.format {
        Format::Human => print(&human(&source.path, &program, &measured, &assumed, &plan)),
        Format::Json => {
            let report = PlanReport {
                schema: 1,
                birk: env!("CARGO_PKG_VERSION"),
                model: source.path.clone(),
                system: program.system.clone(),
                constants: constants(&program),
                measured,
                assumed,
                plan,
            };
            print(&(serde_json::to_string_pretty(&report).expect("a report has only string keys") + "\n"))
        }
    }
}

/// Searches for a while, whatever the properties say.
fn measured(program: &Program, args: &PlanArgs) -> Result<Measured, Failure> {
    let options =
        Options { engine: "bfs".to_owned(), threads: Threads::Number(1), keep_going: true, ..Options::default() };
    let mut watcher = Watcher::start(ProgressMode::Off, Some(args.time))?;
    let began = Instant::now();
    let report = birk::check(program, &options, &mut watcher)?;
    let (stats, seconds) = (&report.hunt.stats, began.elapsed().as_secs_f64());
    let (states, transitions) = (stats.states.max(1) as f64, stats.transitions.max(1) as f64);
    Ok(Measured {
        states: stats.states,
        is_complete: report.hunt.coverage == Coverage::Complete,
        seconds,
        // Of those in the frontier, nobody has taken the steps.
        transitions_per_state: transitions / stats.states.saturating_sub(stats.cutoff.states).max(1) as f64,
        nanoseconds_per_transition: seconds / transitions * 1e9,
        bytes_per_state: stats.store_bytes as f64 / states,
        bits_per_state: program.layout.bits(),
    })
}

fn human(path: &str, program: &Program, measured: &Measured, assumed: &Assumed, plan: &Plan) -> String {
    let mut out = format!("{path}: system {}\n", program.system);
    let mut section = |title: &str, rows: &[(&str, String)]| {
        let _ = writeln!(out, "{title}");
        for (name, value) in rows {
            let _ = writeln!(out, "  {name:<24}{value}");
        }
    };
    let all = if measured.is_complete { ", which are all" } else { "" };
    section(
        "measured, with one thread of this machine:",
        &[
            ("search", format!("{}{all}, in {}", count(measured.states, "state"), duration(measured.seconds))),
            ("transitions a state", format!("{:.2}", measured.transitions_per_state)),
            ("time a transition", format!("{:.0} ns", measured.nanoseconds_per_transition)),
            ("memory a state", format!("{:.1} bytes", measured.bytes_per_state)),
            ("bits of a state", grouped(measured.bits_per_state)),
        ],
    );
    section(
        "assumed:",
        &[
            ("states", format!("{:e}", assumed.states)),
            (
                "a machine",
                format!(
                    "{}, {}, {:.0} Gbit/s",
                    bytes(assumed.memory_bytes as u64),
                    count(u64::from(assumed.cores), "core"),
                    assumed.network_bytes_per_second * 8e-9
                ),
            ),
            ("of use", format!("{} of the cores, {} of the memory", assumed.efficiency, assumed.usable_memory)),
        ],
    );
    let size = |number: f64| bytes(number.min(u64::MAX as f64) as u64);
    section(
        "computed from both:",
        &[
            ("memory for all states", size(plan.memory_bytes)),
            ("a machine has room for", format!("{:.1e} states", plan.states_per_machine)),
            ("machines", grouped(plan.machines)),
            ("time", format!("{}, limited by the {}", duration(plan.seconds), plan.limited_by)),
            ("network", format!("{} in all", size(plan.network_bytes))),
            ("disk, at most", format!("{} for level files (--checkpoint) or --search disk", size(plan.disk_bytes))),
        ],
    );
    out + "not measured: a search on more than one machine, and what the states beyond those that were reached are like\n"
}

fn duration(seconds: f64) -> String {
    match seconds {
        ..10.0 => format!("{seconds:.1} s"),
        ..60.0 => format!("{seconds:.0} s"),
        ..3600.0 => format!("{:.0} min", seconds / 60.0),
        ..172_800.0 => format!("{:.1} h", seconds / 3600.0),
        _ => format!("{:.0} days", seconds / 86_400.0),
    }
}

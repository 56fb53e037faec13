//! `birk check`: from text to verdict and trace.

use std::path::Path;

use birk_exec::{GoalSet, goal_of, replay};
use birk_ir::{Expr, Goal, Outcome, Program, Property, PropertyKind, Stop, Verdict};
use birk_jit::Staged;
use birk_search::{Engine, Job, Limits, Storage, engine};

use crate::cli::{Accept, CheckArgs, Format, OnOff, StoreKind, Threads};
use crate::commands::print;
use crate::progress::Watcher;
use crate::report::{self, Answer, Report, ShownTrace};
use crate::source::{load, uses_color};
use crate::{Exit, Failure, itf, limits, say};

/// Runs the command.
pub(crate) fn run(args: &CheckArgs) -> Result<Exit, Failure> {
    let engine = engine(&args.search).expect("the command line offers only engines of the table");
    reconcile(args, engine)?;
    let (source, program) = load(&args.model)?;
    let properties = selected(&program, &args.property, args.deadlock)?;
    let hunted = hunted(&program, &properties)?;
    let goals: Vec<Goal> = hunted.iter().map(|(_, goal)| goal.clone()).collect();
    let model = Staged::new(&program, &goals);
    let mut watcher = Watcher::start(args.progress, args.time)?;
    if args.report.is_some() {
        watcher.remember();
    }
    let job = job(args, engine, &properties, &hunted);
    let hunt = (engine.hunt)(&model, &job, &mut watcher);
    watcher.clear();
    if let Some(reason) = model.refusal() {
        eprintln!("note: the model was interpreted, because it could not be compiled: {reason}");
    }
    let seconds = watcher.elapsed().as_secs_f64();

    let mut traces = Vec::new();
    let mut answers: Vec<Answer<'_>> = properties
        .iter()
        .map(|property| Answer { property, verdict: Verdict::Inconclusive, trace: None, reason: no_engine(property) })
        .collect();
    for ((index, goal), outcome) in hunted.iter().zip(&hunt.outcomes) {
        let property = properties[*index];
        // A goal that the types exclude needs no search.
        let outcome = if *goal == Goal::BadState(Expr::FALSE) { &Outcome::Absent } else { outcome };
        answers[*index].verdict = property.verdict(outcome);
        if let Outcome::Found(trace) = outcome {
            let run = replay(&program, trace).map_err(|error| impostor(property, &error))?;
            run.confirm(&program, property).map_err(|error| impostor(property, &error))?;
            answers[*index].trace = Some(traces.len());
            traces.push(ShownTrace { property, run });
        }
    }
    let report = Report {
        source: &source,
        program: &program,
        args,
        engine,
        verdict: answers.iter().map(|answer| answer.verdict).max().unwrap_or(Verdict::Holds),
        answers,
        traces,
        hunt: &hunt,
        threads: job.limits.threads,
        seconds,
        peak_memory: limits::peak_memory(),
    };
    match args.format {
        Format::Json => print(&report::json::text(&report))?,
        Format::Human => print(&report::human::text(&report, uses_color(args.model.color, &std::io::stdout())))?,
    };
    if let Some(path) = &args.trace {
        save(path, &report)?;
    }
    if let Some(path) = &args.report {
        std::fs::write(path, report::html::page(&report, watcher.samples()))
            .map_err(|error| Failure::io(&format!("write {}", path.display()), &error))?;
    }
    Ok(exit(&report))
}

/// Saves the trace; the report is already out, so a full disk costs only the file.
fn save(path: &Path, report: &Report<'_>) -> Result<(), Failure> {
    let Some(trace) = report.first_trace() else {
        say(&format!("birk: there is no trace, so {} was not written", path.display()));
        return Ok(());
    };
    std::fs::write(path, itf::write(report.source, report.program, Some(trace.property), &trace.run))
        .map_err(|error| Failure::io(&format!("write {}", path.display()), &error))
}

/// Options that cannot be meant together.
fn reconcile(args: &CheckArgs, engine: &Engine) -> Result<(), Failure> {
    if !engine.scales && matches!(args.threads, Threads::Number(2..)) {
        let name = engine.name;
        return Err(Failure::usage(format!(
            "--search {name} uses one thread; leave --threads out, or use --search bfs"
        )));
    }
    if !engine.scales && args.store != StoreKind::Exact {
        return Err(Failure::usage(format!("--search {} stores states exactly; use --search bfs", engine.name)));
    }
    let Accept::Depth(wanted) = args.accept else { return Ok(()) };
    if !engine.shortest {
        return Err(Failure::usage(format!(
            "--search {} does not go level by level, so --accept depth:{wanted} could never be met; \
             use --search bfs, or --accept sampled",
            engine.name
        )));
    }
    match args.max_depth {
        Some(depth) if depth < wanted => Err(Failure::usage(format!(
            "--max-depth {depth} ends the search before --accept depth:{wanted} can be met; raise it to {wanted}"
        ))),
        _ => Ok(()),
    }
}

/// The properties asked for.
pub(crate) fn selected<'p>(
    program: &'p Program,
    names: &[String],
    deadlock: OnOff,
) -> Result<Vec<&'p Property>, Failure> {
    if deadlock == OnOff::Off && names.iter().any(|name| name == "deadlock") {
        return Err(Failure::usage("--property deadlock and --deadlock off contradict each other; leave one out"));
    }
    for name in names {
        if !program.properties.iter().any(|property| property.name == *name) {
            let names: Vec<&str> = program.properties.iter().map(|p| p.name.as_str()).collect();
            let meant = birk_lang::diagnostic::nearest(name, names.iter().copied());
            let help = match meant {
                Some(meant) => format!("did you mean `{meant}`?"),
                None => format!("there are {}", names.join(", ")),
            };
            return Err(Failure::usage(format!("there is no property `{name}`; {help}")));
        }
    }
    let asked = |property: &&Property| match property.kind {
        PropertyKind::Deadlock if deadlock == OnOff::Off => false,
        _ => names.is_empty() || names.contains(&property.name),
    };
    Ok(program.properties.iter().filter(asked).collect())
}

/// The goals of the properties that have one, each with its property's position.
pub(crate) fn hunted(program: &Program, properties: &[&Property]) -> Result<Vec<(usize, Goal)>, Failure> {
    let goals = properties.iter().enumerate().filter_map(|(i, property)| Some((i, goal_of(program, property)?)));
    let hunted: Vec<(usize, Goal)> = goals.collect();
    if hunted.len() > GoalSet::CAPACITY {
        return Err(Failure::usage(format!(
            "{} properties are more than the {} of one search; choose some with --property",
            hunted.len(),
            GoalSet::CAPACITY
        )));
    }
    Ok(hunted)
}

fn job(args: &CheckArgs, engine: &Engine, properties: &[&Property], hunted: &[(usize, Goal)]) -> Job {
    let mut stop_at = GoalSet::default();
    for (goal, (index, _)) in hunted.iter().enumerate() {
        if !args.keep_going && !properties[*index].wants_goal() {
            stop_at.insert(goal);
        }
    }
    Job {
        goals: hunted.len(),
        stop_at,
        keep_going: args.keep_going,
        limits: Limits {
            memory: args.memory.unwrap_or_else(limits::default_memory),
            depth: args.max_depth.unwrap_or(u32::MAX),
            states: args.max_states.unwrap_or(u64::MAX),
            threads: match args.threads {
                Threads::Number(number) => number,
                Threads::Auto if !engine.scales => 1,
                Threads::Auto => std::thread::available_parallelism().map_or(1, usize::from),
            },
            storage: match args.store {
                StoreKind::Exact => Storage::Exact,
                StoreKind::Compact => Storage::Compact,
            },
        },
    }
}

/// Why a property was not looked at.
fn no_engine(property: &Property) -> Option<&'static str> {
    matches!(property.kind, PropertyKind::Ltl(_)).then_some("no engine checks formulas yet")
}

pub(crate) fn impostor(property: &Property, error: &birk_exec::ReplayError) -> Failure {
    Failure::internal(format!("the trace for `{}` does not replay: {error}", property.name))
}

fn exit(report: &Report<'_>) -> Exit {
    match report.verdict {
        Verdict::Violated => Exit::Violated,
        Verdict::Holds => Exit::Success,
        Verdict::Inconclusive if report.hunt.stopped == Stop::Interrupt => Exit::Interrupted,
        Verdict::Inconclusive if report.is_accepted() => Exit::Success,
        Verdict::Inconclusive => Exit::Inconclusive,
    }
}

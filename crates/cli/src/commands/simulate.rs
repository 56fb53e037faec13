//! `birk simulate`: runs of a model, at random or as the user chooses.

use std::io::IsTerminal as _;
use std::ops::ControlFlow;
use std::path::Path;

use birk::{goals_of, replay_failure, selected};
use birk_engine::{GoalSet, Observer as _, Progress};
use birk_exec::{Choose, Rules, replay, simulate};
use birk_ir::{Goal, Program, Property, Stop};

use crate::cli::{ChooseBy, Format, OnOff, ProgressMode, SimulateArgs};
#[cfg(feature = "native")]
use crate::interactive::screen;
use crate::interactive::session::Session;
use crate::interactive::{Place, prompt};
use crate::load::load;
use crate::progress::Watcher;
use crate::report::fold::Look;
use crate::report::simulation::{self, Ends, Lengths, Simulation, Watched};
use crate::source::Source;
use crate::terminal::uses_color;
use crate::terminal::{print, print_for_people};
use crate::{Exit, Failure, durable, itf};

/// Runs the command.
pub(crate) fn run(args: &SimulateArgs) -> Result<Exit, Failure> {
    if args.runs == 0 {
        return Err(Failure::usage("--runs 0 asks for nothing; give a number from 1 on"));
    }
    let (source, program) = load(&args.model)?;
    if args.guided {
        return guide(args, &source, &program);
    }
    let properties = selected(&program, &args.property, args.deadlock == OnOff::On)?;
    let hunted = goals_of(&program, &properties)?;
    let simulation = sample(args, &source, &program, &properties, &hunted)?;
    let color = uses_color(args.model.color, &std::io::stdout());
    match args.format {
        Format::Json => print(&simulation::json(&simulation))?,
        Format::Human => print_for_people(&simulation::text(&simulation, Look::of_output(color)), color)?,
    };
    if let Some(path) = &args.trace {
        save(path, &simulation)?;
    }
    Ok(match (simulation.is_violated(), simulation.stopped) {
        (true, _) => Exit::Violated,
        (false, Some(Stop::Interrupt)) => Exit::Interrupted,
        (false, _) => Exit::Success,
    })
}

/// The user chooses: on a screen if there is a terminal on both sides, otherwise line by line.
fn guide(args: &SimulateArgs, source: &Source, program: &Program) -> Result<Exit, Failure> {
    let properties = selected(program, &args.property, args.deadlock == OnOff::On)?;
    let place = Place { args: &args.model, source, program };
    let mut session = Session::new(program, properties, choose(args), args.seed);
    if let Some(path) = &args.trace {
        session.open(&itf::open(program, path)?);
    }
    #[cfg(feature = "native")]
    if std::io::stdin().is_terminal() && std::io::stdout().is_terminal() {
        return screen::run(&place, session, uses_color(args.model.color, &std::io::stdout()));
    }
    let is_person = std::io::stdin().is_terminal();
    prompt::run(&place, &mut session, &mut std::io::stdin().lock(), &mut std::io::stdout().lock(), is_person)
}

fn choose(args: &SimulateArgs) -> Choose {
    match args.choose {
        ChooseBy::Transition => Choose::Transition,
        ChooseBy::Thread => Choose::Thread,
    }
}

/// Makes the runs, and keeps the first that violates something; of a single run, that run.
fn sample<'a>(
    args: &'a SimulateArgs,
    source: &'a Source,
    program: &'a Program,
    properties: &[&'a Property],
    hunted: &[(usize, Goal)],
) -> Result<Simulation<'a>, Failure> {
    let goals: Vec<Goal> = hunted.iter().map(|(_, goal)| goal.clone()).collect();
    let model = birk::compiled(program, &goals);
    let rules = rules(args, properties, hunted);
    let mut watcher = Watcher::start(ProgressMode::Off, args.time)?;
    let mut simulation = Simulation {
        source,
        program,
        args,
        watched: properties.iter().map(|&property| Watched { property, runs: 0, first: None }).collect(),
        ends: Ends::default(),
        fired: vec![0; program.transitions.len()],
        lengths: Lengths::default(),
        shown: None,
        stopped: None,
    };
    for index in 0..args.runs {
        let seed = args.seed.wrapping_add(index);
        let run = simulate(program, &model, &rules, seed, &mut simulation.fired);
        simulation.note(run.end, run.trace.steps.len());
        for (goal, (property, _)) in hunted.iter().enumerate().filter(|(goal, _)| run.met.contains(*goal)) {
            simulation.watched[*property].meet(seed);
            let is_first = simulation.shown.is_none();
            if is_first && rules.stop_at.contains(goal) {
                let property = properties[*property];
                let replayed = replay(program, &run.trace).map_err(|error| replay_failure(property, &error))?;
                replayed.confirm(program, property).map_err(|error| replay_failure(property, &error))?;
                simulation.show(seed, Some(property), replayed, run.end);
            }
        }
        if args.runs == 1 && simulation.shown.is_none() {
            let replayed = replay(program, &run.trace)
                .map_err(|error| Failure::internal(format!("a random run does not replay: {error}")))?;
            simulation.show(seed, None, replayed, run.end);
        }
        if let ControlFlow::Break(stop) = watcher.progress(&Progress::default()) {
            simulation.stopped = (index + 1 < args.runs).then_some(stop);
            break;
        }
    }
    Ok(simulation)
}

/// Violations end a run, targets do not.
fn rules(args: &SimulateArgs, properties: &[&Property], hunted: &[(usize, Goal)]) -> Rules {
    let mut stop_at = GoalSet::default();
    for (goal, (index, _)) in hunted.iter().enumerate() {
        if !properties[*index].wants_goal() {
            stop_at.insert(goal);
        }
    }
    Rules { choose: choose(args), steps: args.steps as usize, stop_at }
}

/// Saves the run that was shown.
fn save(path: &Path, simulation: &Simulation<'_>) -> Result<(), Failure> {
    let Some(shown) = &simulation.shown else {
        crate::say(&format!("birk: no run is shown, so {} was not written", path.display()));
        return Ok(());
    };
    let text = itf::write(simulation.source, simulation.program, shown.property, &shown.run);
    durable::write(path, text.as_bytes()).map_err(|error| Failure::io(&format!("write {}", path.display()), &error))
}

//! `birk check`: from text to verdict and trace.

mod campaign;
mod late;
mod present;
mod several;
mod together;

use std::path::Path;

use birk::process_memory::Memory;
use birk::{Automaton, Options, Reduce, Store, Symmetry};
use birk_ir::{Program, Stop};

use crate::checkpoint::{self, Checkpoint, Identity, Kept};
use crate::cli::{CheckArgs, OnOff, ReduceMode, StoreKind, SymmetryMode};
use crate::load::load_with_conditions;
use crate::place::{self, Place};
use crate::progress::Watcher;
use crate::source::Source;
use crate::{Exit, Failure, say};
use present::{Asked, exit, present, witness_form};
use together::Together;

/// Steps that are computed to explain traces: some milliseconds, and, where that was asked for, some seconds.
const QUICK: u64 = 10_000;
const THOROUGH: u64 = 5_000_000;

/// Runs the command.
pub(crate) fn run(args: &CheckArgs) -> Result<Exit, Failure> {
    match several::models(args)? {
        Some(paths) => several::run(args, &paths),
        None if args.campaign.is_some() => campaign::run(args),
        None => check(args, None),
    }
}

/// Goes on with a search that was kept at the place of `--checkpoint`.
pub(crate) fn resume(args: &CheckArgs, kept: Kept) -> Result<Exit, Failure> {
    check(args, Some(kept))
}

fn check(args: &CheckArgs, kept: Option<Kept>) -> Result<Exit, Failure> {
    let mut options = options(args);
    options.is_continued = kept.is_some();
    Together::choose(args, &mut options)?;
    birk::validate_options(&options)?;
    let place = args.checkpoint.as_deref().map(Place::named).transpose()?;
    place.iter().try_for_each(|place| place.suits(&options))?;
    let (source, program, automaton) = read(args)?;
    let is_witness = args.certificate.as_deref().is_some_and(|path| witness_form(path).is_some());
    if is_witness && birk::front_end(Path::new(&source.path)).name != "AIGER" {
        return Err(Failure::usage(
            "--certificate with a file in AIGER writes a witness circuit, and this model is no circuit; \
             give the file another ending, such as .cert",
        ));
    }
    options.automaton = automaton;
    let properties = birk::validate(&program, &options)?;
    let mut watcher = Watcher::start(args.progress, args.time)?;
    options.memory = Memory::new(args.memory);
    watcher.limit_memory(options.memory);
    if args.report.is_some() {
        watcher.remember();
    }
    if options.engine()?.covers_by_depth {
        watcher.foresee(args.max_depth);
    }
    if let Some(folder) = &args.disk {
        let failed = |error| Failure::io(&format!("make the folder {}", folder.display()), &error);
        std::fs::create_dir_all(folder).map_err(failed)?;
        watcher.use_folder(folder.clone());
    }
    if let Some(place) = place {
        match Together::is_led(args)? {
            true => watcher.share(place),
            false => watcher.keep(keeper(&place, Identity::new(&source, &words(args, &options)), kept)?),
        }
    }
    let together = Together::join(args, &options, &source, &mut watcher).inspect_err(|_| watcher.abandon())?;
    let asked = Asked { args, options: &options, source: &source, program: &program, properties };
    let (settled, pulse) = (watcher.settled(), watcher.pulse());
    let mut act = || answer(&asked, &mut watcher, &together);
    // In a browser there is one thread, and the page ends what does not answer.
    if cfg!(feature = "native") { late::watched(&asked, &settled, &pulse, act) } else { act() }
}

/// The options that decide what the search finds, with the engine that was chosen for processes that search together.
fn words(args: &CheckArgs, options: &Options) -> Vec<String> {
    let mut words = args.given.clone();
    if let Some(place) = words.iter().position(|word| word == "--search").filter(|_| options.engine == "cluster") {
        words[place + 1].clone_from(&options.engine);
    }
    words
}

/// The model, and the automaton of a file with what its propositions mean in the model.
fn read(args: &CheckArgs) -> Result<(Source, Program, Option<Automaton>), Failure> {
    let Some(path) = &args.automaton else {
        let (source, program, _) = load_with_conditions(&args.model, None)?;
        return Ok((source, program, None));
    };
    let file = Source::read(path)?;
    let read = Automaton::read(&file.text).map_err(|reason| Failure::usage(format!("{}: {reason}", file.path)))?;
    let (source, program, propositions) = load_with_conditions(&args.model, Some((&file, &read.places)))?;
    Ok((source, program, Some(Automaton::new(read.automaton, propositions))))
}

/// What the arguments say about the search.
fn options(args: &CheckArgs) -> Options {
    Options {
        engines: args.engines.clone(),
        engine: args.search.clone(),
        engine_options: args.engine_options.clone(),
        properties: args.property.clone(),
        deadlock: args.deadlock == OnOff::On,
        fairness: args.fairness.into(),
        keep_going: args.keep_going,
        reduce: match args.reduce {
            ReduceMode::Off => Reduce::Off,
            ReduceMode::Dead => Reduce::Dead,
            ReduceMode::Auto => Reduce::Auto,
        },
        symmetry: match args.symmetry {
            SymmetryMode::Off => Symmetry::Off,
            SymmetryMode::Auto => Symmetry::Auto,
        },
        store: match args.store {
            StoreKind::Exact => Store::Exact,
            StoreKind::Compact => Store::Compact,
            StoreKind::Bitstate => Store::Bitstate,
        },
        swarm: args.swarm,
        threads: args.threads,
        max_depth: args.max_depth,
        max_states: args.max_states,
        seed: args.seed,
        accept: args.accept,
        certificate: args.certificate.is_some(),
        is_saved: args.checkpoint.is_some(),
        // A store has no room for files that are not kept.
        has_folder: args.disk.is_some() && args.checkpoint.as_deref().and_then(place::address).is_none(),
        ..Options::default()
    }
}

/// Searches, and reports what was found.
fn answer(asked: &Asked<'_>, watcher: &mut Watcher, together: &Together) -> Result<Exit, Failure> {
    let mut found = birk::check(asked.program, asked.options, watcher)?;
    if let Some(failure) = watcher.keeper().and_then(Checkpoint::refusal) {
        return Err(failure);
    }
    if let Some(reason) = watcher.failure() {
        return Err(broken(asked.args, reason));
    }
    watcher.conclude();
    let is_ended = !matches!(found.hunt.stopped, Stop::Exhausted | Stop::Goal);
    if let Some(keeper) = watcher.keeper().filter(|_| is_ended) {
        checkpoint::farewell(keeper, &together::words(asked.args));
    }
    tell_broken(asked, &found);
    let work = if asked.args.explain.is_some() { THOROUGH } else { QUICK };
    found.explain(asked.program, work, asked.args.explain)?;
    let report = asked.report(&found, watcher.elapsed().as_secs_f64());
    match together.finish() {
        true => Ok(exit(&report)),
        false => present(&report, &watcher.course()),
    }
}

/// A file could not be written or read: nothing is said of the model.
fn broken(args: &CheckArgs, reason: &str) -> Failure {
    let next = match &args.checkpoint {
        Some(folder) => format!("then go on from the last complete level with `birk resume {}`", folder.display()),
        None => "or name another folder with --disk".to_owned(),
    };
    Failure {
        exit: Exit::Io,
        message: format!("the search was ended: {reason}; make room or repair the cause, {next}"),
    }
}

/// Says which threads are not interchangeable, and where that is seen.
fn tell_broken(asked: &Asked<'_>, found: &birk::Report) {
    for broken in found.symmetry.iter().flat_map(|symmetry| &symmetry.broken) {
        let what = format!("the instances of `{}` are not all interchangeable", broken.thread);
        match broken.span {
            Some(span) => {
                let (line, _) = asked.source.position(span);
                let path = &asked.source.file(span).path;
                say(&format!("note: {what}: {path}:{line} {}", broken.why));
            }
            None => say(&format!("note: {what}: a property {}", broken.why)),
        }
    }
}

/// What keeps the search: at a new place, or at that which it was kept at for the same model.
fn keeper(place: &Place, identity: Identity, kept: Option<Kept>) -> Result<Checkpoint, Failure> {
    match kept {
        None => Checkpoint::begin(place, identity),
        Some(kept) if kept.identity.is_of(&identity) => Ok(Checkpoint::resume(place, identity, kept)),
        Some(kept) => Err(Failure::usage(format!(
            "{} is not what it was when the search began; start a new one with `birk check`",
            kept.identity.model.display()
        ))),
    }
}

//! Options that cannot be meant together: each refusal says what to do instead.

use birk_engine::Engine;
use birk_ir::{Property, PropertyKind};
use birk_search::highway::{CONFIDENCE, RATE, WIDTH};

use super::slices;
use crate::error::Error;
use crate::options::{Fairness, Options, Reduce, Store, Symmetry, Threads};
use crate::report::Accept;

/// Options that contradict each other, or mean nothing to the engine.
pub(crate) fn options(options: &Options, engine: &Engine) -> Result<(), Error> {
    if options.fairness == Fairness::Strong {
        strong(options, engine)?;
    }
    store(options)?;
    engine_options(options, engine)?;
    abilities(options, engine)?;
    distributed(options, engine)?;
    certificate(options, engine)?;
    slices_and_widths(options, engine)?;
    acceptance(options, engine)
}

/// Strong fairness is decided on the whole graph.
fn strong(options: &Options, engine: &Engine) -> Result<(), Error> {
    if options.store == Store::Bitstate {
        return Err(Error::refused("--fairness strong needs exact states; use --store exact"));
    }
    match engine.slices {
        false => Ok(()),
        true => Err(Error::refused(format!(
            "--fairness strong needs all steps of every state, and --search {} drops some; use {}",
            engine.name,
            options.engines.named(|engine| !engine.slices)
        ))),
    }
}

fn store(options: &Options) -> Result<(), Error> {
    let is_bitstate = options.store == Store::Bitstate;
    if is_bitstate && matches!(options.threads, Threads::Number(2..)) {
        return Err(Error::refused("--store bitstate uses one thread; leave --threads out"));
    }
    if !is_bitstate && options.swarm > 1 {
        return Err(Error::refused("--swarm repeats a search that may lose states; it needs --store bitstate"));
    }
    Ok(())
}

/// Options that another engine has, and such that exclude each other.
fn engine_options(options: &Options, engine: &Engine) -> Result<(), Error> {
    for (name, _) in options.engine_options.iter() {
        let Some(option) = engine.options.iter().find(|option| option.name == name) else {
            return Err(Error::refused(format!(
                "--{name} does not apply to --search {}; leave it out, or use {}",
                engine.name,
                options.engines.named(|engine| engine.options.iter().any(|option| option.name == name))
            )));
        };
        let said = |(other, _): &&(&str, &str)| options.engine_options.get(other).is_some();
        if let Some((other, why)) = option.excludes.iter().find(said) {
            return Err(Error::refused(format!("--{name} and --{other}: {why}; leave one of them out")));
        }
    }
    Ok(())
}

/// What the engine cannot do.
fn abilities(options: &Options, engine: &Engine) -> Result<(), Error> {
    let name = engine.name;
    let engines = &options.engines;
    if !engine.scales && matches!(options.threads, Threads::Number(2..)) {
        return Err(Error::refused(format!(
            "--search {name} uses one thread; leave --threads out, or use {}",
            engines.named(|engine| engine.scales)
        )));
    }
    if !engine.compacts && options.store == Store::Compact {
        let others = engines.named(|engine| engine.compacts);
        return Err(Error::refused(format!("--search {name} stores states exactly; use {others}")));
    }
    if options.is_saved && !engine.resumes {
        return Err(Error::refused(format!(
            "--search {name} cannot be saved; leave --checkpoint out, or use {}",
            engines.named(|engine| engine.resumes)
        )));
    }
    if options.has_folder && !engine.on_disk {
        return Err(Error::refused(format!(
            "--disk does not apply to --search {name}; leave it out, or use {}",
            engines.named(|engine| engine.on_disk)
        )));
    }
    if options.has_folder && options.is_saved {
        return Err(Error::refused(
            "--disk and --checkpoint: a search that is saved has its files in the folder of the checkpoint; leave one of them out",
        ));
    }
    Ok(())
}

/// What processes that search together cannot do.
fn distributed(options: &Options, engine: &Engine) -> Result<(), Error> {
    if engine.distributed && options.reduce == Reduce::Auto {
        return Err(Error::refused(format!(
            "--reduce auto may take a search for each property, and --search {} takes one; leave it out, or use {}",
            engine.name,
            options.engines.named(|engine| !engine.distributed)
        )));
    }
    Ok(())
}

/// A certificate by states has every state, and one process has seen them all.
fn certificate(options: &Options, engine: &Engine) -> Result<(), Error> {
    let why_not = match options {
        options if !options.certificate => return Ok(()),
        options if options.reduce == Reduce::Auto => "--reduce auto leaves some out".to_owned(),
        options if options.reduce == Reduce::Dead => "--reduce dead merges some".to_owned(),
        options if options.symmetry == Symmetry::Auto => "--symmetry auto leaves some out".to_owned(),
        options if options.store != Store::Exact => "only --store exact has them".to_owned(),
        options if options.is_saved => {
            "a search with --checkpoint may go on without those that it has saved".to_owned()
        }
        _ if !engine.certifies => {
            let others = options.engines.named(|engine| engine.certifies);
            format!("--search {} does not tell them; use {others}", engine.name)
        }
        _ => return Ok(()),
    };
    Err(Error::refused(format!("--certificate needs all states, or an invariant: {why_not}")))
}

fn slices_and_widths(options: &Options, engine: &Engine) -> Result<(), Error> {
    if engine.slices && options.store == Store::Bitstate {
        return Err(no_bitstate(options, engine));
    }
    let said = |name: &str| options.engine_options.get(name).is_some();
    if WIDTH.word(&options.engine_options).is_some() && (said(RATE.name) || said(CONFIDENCE.name)) {
        return Err(Error::refused(
            "--confidence and --rate are about slices of one width, and --width auto doubles it; give a number",
        ));
    }
    match slices::asked(options) {
        Some(slices::MOST_RUNS..) => {
            Err(Error::refused("this asks for too many slices; raise --rate or lower --confidence"))
        }
        _ => Ok(()),
    }
}

fn acceptance(options: &Options, engine: &Engine) -> Result<(), Error> {
    let Accept::Depth(wanted) = options.accept else { return Ok(()) };
    if !engine.covers_by_depth {
        return Err(Error::refused(format!(
            "--search {} does not proceed level by level, so --accept depth:{wanted} could never be met; use {}, or \
             --accept partial",
            engine.name,
            options.engines.named(|engine| engine.covers_by_depth)
        )));
    }
    match options.max_depth {
        Some(depth) if depth < wanted => Err(Error::refused(format!(
            "--max-depth {depth} stops the search before --accept depth:{wanted} can be met; raise it to {wanted}"
        ))),
        _ => Ok(()),
    }
}

fn no_bitstate(options: &Options, engine: &Engine) -> Error {
    Error::refused(format!(
        "--store bitstate stores no states to return to, so --search {} cannot use it; use {}",
        engine.name,
        options.engines.named(|engine| engine.bitstate)
    ))
}

/// Options that mean nothing for the properties that are asked for.
pub(super) fn properties(options: &Options, engine: &Engine, properties: &[&Property]) -> Result<(), Error> {
    let of_runs = properties.iter().any(|property| property.is_of_runs());
    let of_states = properties.iter().any(|property| !property.is_of_runs());
    let branching = properties.iter().find(|property| property.branching().is_some());
    let temporal = properties.iter().find(|property| property.is_of_runs() || property.branching().is_some());
    if let Some(property) = temporal.filter(|_| engine.distributed) {
        return Err(Error::refused(format!(
            "`{}` is a `{}` property, and --search {} decides properties of states only; select others with --property, or use {}",
            property.name,
            property.word(),
            engine.name,
            options.engines.named(|engine| !engine.distributed)
        )));
    }
    if let Some(property) = branching.filter(|_| options.store != Store::Exact) {
        return Err(Error::refused(format!(
            "`{}` properties such as `{}` need exact states; use --store exact, or select others with --property",
            property.word(),
            property.name
        )));
    }
    if options.fairness != Fairness::None {
        fairness(options, engine, properties)?;
    }
    if options.store == Store::Bitstate && of_states && !engine.bitstate {
        return Err(no_bitstate(options, engine));
    }
    if options.store == Store::Compact && of_runs {
        return Err(Error::refused(
            "--store compact does not apply to LTL properties; select others with --property, or use --store bitstate",
        ));
    }
    if options.store == Store::Bitstate && of_runs && options.max_depth.is_some() {
        return Err(Error::refused("--max-depth needs exact states for an LTL property; use --store exact"));
    }
    Ok(())
}

/// Properties for which fairness has no meaning, or of which too little is known.
fn fairness(options: &Options, engine: &Engine, properties: &[&Property]) -> Result<(), Error> {
    if let Some(property) = properties.iter().find(|property| matches!(property.kind, PropertyKind::Mu(_))) {
        return Err(Error::refused(format!(
            "--fairness is about executions, and the `mu` property `{}` is about steps; select others with --property",
            property.name
        )));
    }
    let ctl = properties.iter().find(|property| property.branching().is_some());
    if let Some(property) = ctl.filter(|_| options.fairness == Fairness::Strong) {
        return Err(Error::refused(format!(
            "--fairness strong applies to LTL and automata, and `{}` is CTL; use --fairness weak, or select others with --property",
            property.name
        )));
    }
    if let Some(property) = ctl.filter(|_| engine.slices) {
        return Err(Error::refused(format!(
            "with --fairness weak, `{}` needs all steps of every state, and --search {} drops some; use {}, or select \
             others with --property",
            property.name,
            engine.name,
            options.engines.named(|engine| !engine.slices)
        )));
    }
    let is_temporal = |property: &&&Property| property.is_of_runs() || matches!(property.kind, PropertyKind::Ctl(_));
    match properties.iter().find(is_temporal) {
        Some(_) => Ok(()),
        None => Err(Error::refused("--fairness applies to temporal properties, and none is checked; leave it out")),
    }
}

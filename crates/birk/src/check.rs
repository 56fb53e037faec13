//! From a program and its properties to a report.
//!
//! Properties become questions: all that are about states are one, for a search by the engine that was chosen; those about
//! branching are decided in groups; each about runs by itself. An engine that visits slices decides all of them in each slice.
//! What is found for them is put together in one place ([`Findings`]). A portfolio is several checks, each by another engine.

mod branching;
mod certified;
mod context;
mod counted;
mod dead;
mod findings;
mod liveness;
mod orbits;
mod portfolio;
mod questions;
mod reconcile;
mod reduced;
mod safety;
mod slices;

use std::borrow::Cow;
use std::sync::{Mutex, OnceLock};

use birk_engine::{Engine, EngineOption};
use birk_ir::{Program, Property, PropertyKind};

use crate::error::Error;
use crate::model::Native;
use crate::options::{Fairness, Options, Store};
use crate::properties::{goals_of, selected};
use crate::report::Report;
use crate::watch::{Phase, Watch};
pub use context::decides;
use context::{Context, fairness};
use findings::Findings;
pub use portfolio::{Earlier, Kept, night};
use questions::Questions;

/// Checks the properties of a program that the options name, and says what was covered.
pub fn check(program: &Program, options: &Options, watch: &mut dyn Watch) -> Result<Report, Error> {
    let engine = options.engine()?;
    reconcile::options(options, engine)?;
    if engine.portfolio {
        return portfolio::check(program, options, watch);
    }
    search(program, options, &Native::default(), watch)
}

/// The same by one engine, which shares native code with others.
fn search(program: &Program, options: &Options, native: &Native, watch: &mut dyn Watch) -> Result<Report, Error> {
    let engine = options.engine()?;
    reconcile::options(options, engine)?;
    let program = &*prepared(program, options)?;
    let properties = selected(program, &options.properties, options.deadlock)?;
    reconcile::properties(options, engine, &properties)?;
    let fairness = fairness(program, options)?;
    let reset = dead::reset(program, options, &properties, watch);
    let (written, reset) = (program, reset.as_ref());
    let program = reset.map_or(written, |reset| &reset.program);
    let (certificate, of_runs, properties) = (OnceLock::new(), Mutex::default(), &properties);
    let context =
        Context { program, written, reset, options, engine, properties, fairness, native, certificate, of_runs };
    let mut findings = Findings::new(&context);
    let questions = Questions::new(&context, &mut findings)?;
    if engine.slices {
        slices::decide(&context, &questions, &mut findings, watch)?;
    } else {
        let of = questions.all().count();
        for (question, number) in questions.all().zip(1..) {
            if findings.is_over() {
                break;
            }
            let is_of_states = number == 1 && questions.safety.is_some();
            watch.begin(&Phase { name: &question.name(&context), number, of, is_of_states });
            let decided = question.decide(&context, watch)?;
            watch.end();
            findings.take(decided, watch);
        }
    }
    let has_engine = questions.safety.is_some() || engine.slices;
    let threads = if has_engine { options.threads_of(engine) } else { options.threads.for_cycles() };
    let mut report = findings.report(*engine, threads, is_shortest(options, engine));
    report.dead = reset.map(dead::names).unwrap_or_default();
    report.certificate = options.certificate.then(|| certified::conclude(context, &report.answers, watch));
    Ok(report)
}

/// Refuses options that contradict each other or mean nothing to the engine, whatever the model.
pub fn validate_options(options: &Options) -> Result<(), Error> {
    reconcile::options(options, options.engine()?)
}

/// Refuses what [`check`] would refuse, without a search; otherwise, the properties that it would check.
pub fn validate(program: &Program, options: &Options) -> Result<Vec<Property>, Error> {
    let engine = options.engine()?;
    let program = &*prepared(program, options)?;
    let properties = selected(program, &options.properties, options.deadlock)?;
    reconcile::properties(options, engine, &properties)?;
    fairness(program, options)?;
    goals_of(program, &properties)?;
    Ok(properties.into_iter().cloned().collect())
}

/// Whether traces to states are shortest.
fn is_shortest(options: &Options, engine: &Engine) -> bool {
    let own = &options.engine_options;
    let is_usual = |option: &EngineOption| option.keeps_shortest || option.value(own) == option.default;
    engine.shortest && options.store != Store::Bitstate && engine.options.iter().all(is_usual)
}

/// The program with the automaton of a file as a property, and with CTL about fair runs only, where those are asked for.
fn prepared<'p>(program: &'p Program, options: &Options) -> Result<Cow<'p, Program>, Error> {
    let has_ctl = program.properties.iter().any(|property| matches!(property.kind, PropertyKind::Ctl(_)));
    let is_fair = has_ctl && options.fairness == Fairness::Weak;
    if !is_fair && options.automaton.is_none() {
        return Ok(Cow::Borrowed(program));
    }
    let mut program = program.clone();
    if options.automaton.is_some() {
        let property = Property { name: "automaton".into(), kind: PropertyKind::Automaton, span: None };
        program.properties.push(property);
    }
    if is_fair {
        branching::make_fair(&mut program, options)?;
    }
    Ok(Cow::Owned(program))
}

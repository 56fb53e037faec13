//! Options from elsewhere than the command line: the environment (`BIRK_MAX_DEPTH`), and the file `birk.toml` beside
//! the model, with its profiles.
//!
//! What nearer sources leave open is added to the arguments as if it had been typed. So only clap decides about
//! names and values, and the line that reproduces a search holds everything that decided it.

mod file;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use birk::Engines;
use birk_ir::diagnostic::nearest;
use clap::error::{ContextKind, ContextValue};
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Args as _, Command as Grammar, FromArgMatches as _};

use crate::Failure;
use crate::cli::{Cli, Color, Command, ModelArgs, ResumeArgs, SimulateArgs, engine_options, grammar};
use crate::terminal::visible;

/// The file, beside the model.
const FILE: &str = "birk.toml";
/// Options that are about one invocation only.
const TYPED_ONLY: &[&str] = &[
    "profile",
    "trace",
    "report",
    "certificate",
    "checkpoint",
    "campaign",
    "disk",
    "jobs",
    "guided",
    "help",
    "cluster",
    "rank",
    "cluster-wait",
];
/// Options that decide how an answer looks, not what it is.
const APPEARANCE: &[&str] = &["format", "progress", "color", "diagnostics"];

/// What one source says: keys and their values, as a command line has them.
type Layer = Vec<(String, Vec<String>)>;

/// The command line, with what it leaves open filled in. Asking for help ends the process here.
pub(crate) fn parse(arguments: &[OsString], engines: &Engines) -> Result<Cli, Failure> {
    let grammar = grammar(engines);
    let known = search_options(&grammar);
    let all = matched(arguments, grammar, engines);
    let (name, typed) = all.subcommand().expect("clap insists on a command");
    let mut more = Vec::new();
    // Of several models, each is completed by itself.
    if matches!(typed.try_contains_id("model"), Ok(true)) && !is_of_several(typed) {
        let mut options = options_of(name, &known);
        if matches!(typed.try_get_one("guided"), Ok(Some(true))) {
            // A walk has no clock and one form; what a file says about searches is not meant for it.
            options.retain(|option| !["time", "format"].contains(&key_of(option)));
        }
        more = missing(&options, typed, &layers(typed, &known, engines)?);
    }
    let matches = if more.is_empty() {
        all
    } else {
        let mut completed = arguments.to_vec();
        completed.splice(2..2, more);
        matched(&completed, crate::cli::grammar(engines), engines)
    };
    let mut cli = Cli::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    match (&mut cli.command, matches.subcommand()) {
        (Command::Check(args), Some((_, matches))) => {
            let always: &[&str] = if is_of_several(matches) { &[] } else { &["search", "seed"] };
            args.given = given(&known, always, matches);
            args.engine_options = engine_options(engines, matches);
            args.engines = engines.clone();
        }
        (Command::Simulate(args), Some((_, matches))) => {
            args.given = given(&run_options(), &["seed", "steps"], matches);
        }
        (Command::Resume(args), Some((_, matches))) => {
            args.given = typed_options(matches);
            args.engines = engines.clone();
        }
        _ => {}
    }
    Ok(cli)
}

/// Whether not just one model is named.
fn is_of_several(matches: &ArgMatches) -> bool {
    let is_more = matches!(matches.try_contains_id("more"), Ok(true));
    let is_folder = |path: &PathBuf| matches.try_contains_id("more").is_ok() && path.is_dir();
    is_more || matches.try_get_one("model").ok().flatten().is_some_and(is_folder)
}

/// What the words mean, or the end of the process, where help was asked for or a word cannot be understood. Then the words
/// are shown, so what a terminal would obey is written out first.
fn matched(words: &[OsString], grammar: Grammar, engines: &Engines) -> ArgMatches {
    grammar.try_get_matches_from(words).unwrap_or_else(|error| {
        let shown = words.iter().map(|word| visible(&word.to_string_lossy()).into_owned());
        crate::cli::grammar(engines).try_get_matches_from(shown).err().unwrap_or(error).exit()
    })
}

/// The options of a command that other sources may give.
fn options_of(command: &str, known: &[Arg]) -> Vec<Arg> {
    match command {
        "check" => known.to_vec(),
        "simulate" => {
            let mut options = run_options();
            options.retain(|option| known.iter().any(|other| key_of(other) == key_of(option)));
            options
        }
        _ => model_options(),
    }
}

/// The options of random runs; those that a search has too may stand in a file.
fn run_options() -> Vec<Arg> {
    configurable(&SimulateArgs::augment_args(Grammar::new("simulate")))
}

/// The options of searches that other sources may give.
fn search_options(grammar: &Grammar) -> Vec<Arg> {
    configurable(grammar.find_subcommand("check").expect("there is such a command"))
}

/// Those of them that are about the model, and so concern every command that reads one.
fn model_options() -> Vec<Arg> {
    configurable(&ModelArgs::augment_args(Grammar::new("model")))
}

fn configurable(grammar: &Grammar) -> Vec<Arg> {
    let may_be = |arg: &&Arg| arg.get_long().is_some_and(|key| !TYPED_ONLY.contains(&key));
    grammar.get_arguments().filter(may_be).cloned().collect()
}

/// The name of an option in a file; on the command line it follows two dashes.
fn key_of(option: &Arg) -> &str {
    option.get_long().expect("only options with long names are configurable")
}

fn is_repeatable(option: &Arg) -> bool {
    matches!(option.get_action(), ArgAction::Append)
}

/// The sources in order, the nearest first.
fn layers(typed: &ArgMatches, known: &[Arg], engines: &Engines) -> Result<Vec<Layer>, Failure> {
    let mut layers = vec![environment(known, engines)?];
    let model: &PathBuf = typed.get_one("model").expect("a model was named");
    let path = model.parent().unwrap_or(Path::new("")).join(FILE);
    let profile = typed.get_one("profile").cloned().or_else(|| variable("profile"));
    if path.try_exists().unwrap_or(true) {
        let color = typed.get_one::<Color>("color").copied().unwrap_or(Color::Auto);
        layers.extend(file::read(&path, profile.as_deref(), color, engines)?);
    } else if let Some(profile) = profile {
        let reason = format!("there is no file {} to hold it", path.display());
        return Err(Failure::usage(format!("there is no profile `{profile}`; {reason}")));
    }
    Ok(layers)
}

/// What the environment says; several values are separated by commas.
fn environment(known: &[Arg], engines: &Engines) -> Result<Layer, Failure> {
    let mut layer = Layer::new();
    for option in known {
        let key = key_of(option);
        let Some(text) = variable(key) else { continue };
        let values = if is_repeatable(option) { text.split(',').map(str::to_owned).collect() } else { vec![text] };
        if let Some((objection, help)) = values.iter().find_map(|value| objection(key, value, engines)) {
            let help = help.map(|help| format!("; {help}")).unwrap_or_default();
            return Err(Failure::usage(format!("the environment's {}: {objection}{help}", variable_name(key))));
        }
        layer.push((key.to_owned(), values));
    }
    Ok(layer)
}

/// The variable of an option; an empty one counts as not set.
fn variable(key: &str) -> Option<String> {
    std::env::var(variable_name(key)).ok().filter(|value| !value.is_empty())
}

fn variable_name(key: &str) -> String {
    format!("BIRK_{}", key.replace('-', "_").to_uppercase())
}

/// What clap has against a value, and what to do about it.
fn objection(key: &str, value: &str, engines: &Engines) -> Option<(String, Option<String>)> {
    let error = grammar(engines).try_get_matches_from(["birk", "check", "MODEL", &format!("--{key}={value}")]).err()?;
    let valid = match error.get(ContextKind::ValidValue) {
        Some(ContextValue::Strings(valid)) => &valid[..],
        _ => &[],
    };
    let reason = match std::error::Error::source(&error) {
        Some(reason) => reason.to_string(),
        None => format!("`{value}` is none of {}", valid.join(", ")),
    };
    let meant = nearest(value, valid.iter().map(String::as_str));
    Some((reason, meant.map(|meant| format!("did you mean `{meant}`?"))))
}

/// The arguments that the command line leaves open and another source gives.
fn missing(options: &[Arg], typed: &ArgMatches, layers: &[Layer]) -> Vec<OsString> {
    let mut arguments = Vec::new();
    for option in options {
        let key = key_of(option);
        let is_typed = typed.value_source(option.get_id().as_str()) == Some(ValueSource::CommandLine);
        let values = match layers.iter().flatten().find(|(name, _)| name == key) {
            Some(_) if key == "define" => constants(typed, layers),
            Some((_, values)) if !is_typed => values.clone(),
            _ => continue,
        };
        arguments.extend(values.into_iter().map(|value| OsString::from(format!("--{key}={value}"))));
    }
    arguments
}

/// Constants are settings of their own: a nearer source replaces those it names, and no others.
fn constants(typed: &ArgMatches, layers: &[Layer]) -> Vec<String> {
    let typed = typed.get_many::<(String, String)>("define").into_iter().flatten();
    let mut names: Vec<String> = typed.map(|(name, _)| name.clone()).collect();
    let mut found = Vec::new();
    for layer in layers {
        let values = layer.iter().filter(|(key, _)| key == "define").flat_map(|(_, values)| values);
        let name = |value: &str| value.split('=').next().unwrap_or_default().trim().to_owned();
        let new: Vec<&String> = values.filter(|value| !names.iter().any(|n| is_same(n, &name(value)))).collect();
        names.extend(new.iter().map(|value| name(value)));
        found.extend(new.into_iter().cloned());
    }
    found
}

/// `N` and `Param.N` name the same constant.
fn is_same(a: &str, b: &str) -> bool {
    let (long, short) = if a.len() > b.len() { (a, b) } else { (b, a) };
    long.strip_suffix(short).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
}

/// The options of `birk resume` that were typed, as words of a command line.
fn typed_options(matches: &ArgMatches) -> Vec<String> {
    let grammar = ResumeArgs::augment_args(Grammar::new("resume"));
    let mut words = Vec::new();
    for option in grammar.get_arguments() {
        let (Some(key), id) = (option.get_long(), option.get_id().as_str()) else { continue };
        if matches.value_source(id) == Some(ValueSource::CommandLine) {
            let values = matches.get_raw(id).into_iter().flatten();
            words.extend(values.flat_map(|value| [format!("--{key}"), value.to_string_lossy().into_owned()]));
        }
    }
    words
}

/// The options that decided an answer, as words of a command line: those given anywhere, and always those named.
fn given(options: &[Arg], always: &[&str], matches: &ArgMatches) -> Vec<String> {
    let mut words = Vec::new();
    for option in options.iter().filter(|option| !APPEARANCE.contains(&key_of(option))) {
        let (key, id) = (key_of(option), option.get_id().as_str());
        let is_given = matches.value_source(id) == Some(ValueSource::CommandLine) || always.contains(&key);
        let values = matches.get_raw(id).into_iter().flatten().filter(|_| is_given);
        for value in values.map(|value| value.to_string_lossy().into_owned()) {
            match (key, value.as_str()) {
                ("define", _) => words.extend(["-D".into(), value]),
                ("keep-going", "true") => words.push("--keep-going".into()),
                ("keep-going", _) => words.push(format!("--keep-going={value}")),
                _ => words.extend([format!("--{key}"), value]),
            }
        }
    }
    words
}

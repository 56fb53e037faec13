//! The grammar of the command line: what is declared in `cli`, and the options of the engines, which their rows declare.

use birk::Engines;
use birk_engine::{EngineOption, Kind, Options, Value};
use clap::builder::{PossibleValuesParser, TypedValueParser as _, ValueParser};
use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Command, CommandFactory as _};

use super::Cli;

const ENGINES: &str = "Engine options";

/// The grammar of all commands.
pub(crate) fn grammar(engines: &Engines) -> Command {
    let names: Vec<&'static str> = engines.iter().map(|engine| engine.name).collect();
    let usual = engines.usual().name;
    Cli::command().mut_subcommand("check", |check| {
        // Not by `mut_arg`, which moves the argument behind all others.
        let check = check.mut_args(|arg| match arg.get_id().as_str() {
            "search" => arg.required(false).default_value(usual).value_parser(PossibleValuesParser::new(names.clone())),
            _ => arg,
        });
        let arguments = engines.options().into_iter().map(|(option, owners)| argument(&option, &owners));
        check.args(arguments)
    })
}

/// An option of some engines.
fn argument(option: &EngineOption, owners: &[&str]) -> Arg {
    let kind = option.kind;
    let parser = match kind {
        Kind::Word(words) => {
            let parser = PossibleValuesParser::new(words);
            ValueParser::new(parser.try_map(move |word| kind.read(&word)))
        }
        _ => ValueParser::new(move |text: &str| kind.read(text)),
    };
    let argument = Arg::new(option.name)
        .long(option.name)
        .value_name(kind.placeholder())
        .value_parser(parser)
        .hide_possible_values(true)
        .help_heading(ENGINES)
        .help(format!("With --search {}: {}", owners.join(" or "), option.help));
    match option.default {
        Some(default) => argument.default_value(default.to_string()),
        None => argument,
    }
}

/// What was said for the options of engines.
pub(crate) fn engine_options(engines: &Engines, matches: &ArgMatches) -> Options {
    let mut said = Options::default();
    for (option, _) in engines.options() {
        if matches.value_source(option.name) == Some(ValueSource::CommandLine)
            && let Some(value) = matches.get_one::<Value>(option.name)
        {
            said.set(&option, *value);
        }
    }
    said
}

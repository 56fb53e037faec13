//! `birk translate`: a model of another language in BIR, with the same states and steps.

use std::path::Path;

use crate::cli::TranslateArgs;
use crate::load::{imported, load};
use crate::terminal::print;
use crate::{Exit, Failure};

/// Runs the command.
pub(crate) fn run(args: &TranslateArgs) -> Result<Exit, Failure> {
    let (source, _) = load(&args.model)?;
    let language = birk::front_end(&args.model.model);
    let Some(translate) = language.translate else {
        let known: Vec<&str> =
            birk::FRONT_ENDS.iter().filter(|other| other.translate.is_some()).map(|other| other.name).collect();
        let (path, known) = (&source.path, known.join(" and "));
        return Err(Failure::usage(format!("{path} is a model in {}; what is translated is {known}", language.name)));
    };
    let folder = args.model.model.parent().unwrap_or(Path::new(""));
    let found = translate(&source.text, &args.model.define, &mut |path| imported(&folder.join(path)));
    let text = found.map_err(|unsayable| {
        let (line, column) = source.position(unsayable.span);
        Failure::usage(format!("{}:{line}:{column}: BIR cannot say this: {}", source.path, unsayable.message))
    })?;
    match birk::lang::fmt::format(&text) {
        Ok(formatted) => print(&formatted),
        Err(problems) => {
            let problem = problems.first().map(|problem| problem.message.as_str()).unwrap_or_default();
            Err(Failure::internal(format!("the translation is not correct: {problem}")))
        }
    }
}

//! `birk fmt`: formats models in place.

use crate::cli::{Color, FmtArgs};
use crate::source::Source;
use crate::terminal::uses_color;
use crate::{Exit, Failure, diagnostics, durable, say};

/// Runs the command.
pub(crate) fn run(args: &FmtArgs) -> Result<Exit, Failure> {
    let mut exit = Exit::Success;
    for path in &args.models {
        let source = Source::read(path)?;
        let language = birk::front_end(path);
        let Some(format) = language.format else {
            return Err(Failure::usage(format!(
                "{} is a model in {}, which `birk fmt` does not format; name files with the extension .bir only",
                source.path, language.name
            )));
        };
        match format(&source.text) {
            Err(problems) => {
                diagnostics::print(&source, &problems, uses_color(Color::Auto, &std::io::stderr()));
                exit = Exit::Usage;
            }
            Ok(formatted) if formatted == source.text => {}
            Ok(_) if args.check => {
                say(&format!("birk: {} is not formatted; `birk fmt {}` formats it", source.path, source.path));
                exit = if exit == Exit::Success { Exit::Violated } else { exit };
            }
            Ok(formatted) => {
                durable::write(path, formatted.as_bytes())
                    .map_err(|error| Failure::io(&format!("write {}", source.path), &error))?;
            }
        }
    }
    Ok(exit)
}

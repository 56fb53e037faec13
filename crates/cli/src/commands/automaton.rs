//! `birk automaton`: what a search for violations of a formula works with.

use birk_exec::automaton::text::parse;
use birk_exec::automaton::{Formulas, automaton_of, dot, hoa};
use birk_ir::Span;

use crate::cli::{AutomatonArgs, AutomatonFormat, Color};
use crate::source::Source;
use crate::terminal::print;
use crate::terminal::uses_color;
use crate::{Exit, Failure, diagnostics, say_in_color};

/// Runs the command.
pub(crate) fn run(args: &AutomatonArgs) -> Result<Exit, Failure> {
    let mut formulas = Formulas::default();
    let mut formula = match parse(&args.formula, &mut formulas) {
        Ok(formula) => formula,
        Err(error) => {
            let source = Source::new("formula".into(), args.formula.clone());
            let place = Span::new(error.at, (error.at + 1).min(args.formula.len()));
            let color = uses_color(Color::Auto, &std::io::stderr());
            let help =
                Some("operators: [] <> X U W R ! && || -> <-> or in words; propositions: names, or \"any text\"");
            say_in_color(&diagnostics::error(&source, "this is not a formula", (place, &error.reason), help, color));
            return Err(Failure { exit: Exit::Usage, message: String::new() });
        }
    };
    let mut title = args.formula.clone();
    if args.negate {
        formula = formulas.negate(formula);
        title = format!("!({title})");
    }
    let automaton = automaton_of(&mut formulas, formula).map_err(|error| Failure::usage(error.to_string()))?;
    print(&match args.format {
        AutomatonFormat::Hoa => hoa::write(&automaton, &title),
        AutomatonFormat::Dot => dot::write(&automaton, &title),
    })
}

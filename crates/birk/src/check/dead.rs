//! Whether the program that is searched resets dead variables.

use birk_exec::Reset;
use birk_ir::{Program, Property};

use crate::options::{Options, Reduce};
use crate::watch::Watch;

/// The program with resets, where they were asked for and something is ever dead; a note says why where they cannot be.
pub(super) fn reset(program: &Program, options: &Options, asked: &[&Property], watch: &mut dyn Watch) -> Option<Reset> {
    let automaton = options.automaton.iter().flat_map(|automaton| &automaton.propositions);
    let conditions = asked.iter().flat_map(|property| property.conditions()).chain(automaton);
    let why_not = match options {
        options if options.reduce == Reduce::Off => return None,
        options if options.is_saved => "a search with --checkpoint visits all states",
        options if options.keep_going => "--keep-going counts all states",
        _ => return Reset::new(program, conditions),
    };
    watch.note(&format!("dead variables were not reset: {why_not}"));
    None
}

/// The variables that are reset, as they are shown.
pub(super) fn names(reset: &Reset) -> Vec<String> {
    reset.variables.iter().map(|&variable| reset.program.variable(variable).title()).collect()
}

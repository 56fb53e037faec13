//! All engines, of every kind: the table that the command line offers.

use birk_search::{ENGINES, ExplicitHunt};
use birk_symbolic::SymbolicHunt;

/// What an engine searches.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Way {
    /// The states of a model, one by one.
    Model(ExplicitHunt),
    /// Sets of states, made of the program's own expressions.
    Program(SymbolicHunt),
}

/// An engine of either kind.
pub(crate) type Engine = birk_search::Engine<Way>;

/// All engines, the default first.
pub(crate) fn all() -> impl Iterator<Item = Engine> {
    let explicit = ENGINES.iter().map(|engine| engine.with(Way::Model(engine.hunt)));
    explicit.chain(birk_symbolic::ENGINES.iter().map(|engine| engine.with(Way::Program(engine.hunt))))
}

/// The engine of this name.
pub(crate) fn engine(name: &str) -> Option<Engine> {
    all().find(|engine| engine.name == name)
}

//! A circuit as a file has it.

use birk_ir::Span;

/// A literal of the file: twice a variable, and 1 where it is negated; 0 is false.
pub(crate) type Literal = u32;

/// Something with a literal.
#[derive(Clone, Debug)]
pub(crate) struct Signal {
    pub(crate) literal: Literal,
    pub(crate) name: Option<String>,
    pub(crate) span: Span,
}

/// A bit that is kept from cycle to cycle.
#[derive(Clone, Debug)]
pub(crate) struct Latch {
    pub(crate) name: Option<String>,
    pub(crate) span: Span,
    pub(crate) next: Literal,
    /// What it begins with; either where there is none.
    pub(crate) reset: Option<bool>,
}

/// Signals that are all true again and again in what is sought.
#[derive(Clone, Debug)]
pub(crate) struct Justice {
    pub(crate) literals: Vec<Literal>,
    pub(crate) name: Option<String>,
    pub(crate) span: Span,
}

/// What a variable of the file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Definition {
    Nothing,
    False,
    Input(u32),
    Latch(u32),
    And(Literal, Literal),
}

/// A circuit that was read; whatever a literal in it names is defined.
#[derive(Debug, Default)]
pub(crate) struct Circuit {
    /// The first line.
    pub(crate) header: Span,
    pub(crate) inputs: Vec<Signal>,
    pub(crate) latches: Vec<Latch>,
    pub(crate) outputs: Vec<Signal>,
    pub(crate) bads: Vec<Signal>,
    pub(crate) constraints: Vec<Signal>,
    pub(crate) justice: Vec<Justice>,
    pub(crate) fairness: Vec<Signal>,
    /// By variable, with the line.
    pub(crate) definitions: Vec<(Definition, Span)>,
}

impl Circuit {
    /// Every literal that is used outside of gates, with the line.
    pub(crate) fn uses(&self) -> impl Iterator<Item = (Literal, Span)> + '_ {
        let signals = [&self.outputs, &self.bads, &self.constraints, &self.fairness];
        let of_signals = signals.into_iter().flatten().map(|signal| (signal.literal, signal.span));
        let of_latches = self.latches.iter().map(|latch| (latch.next, latch.span));
        let of_justice = self.justice.iter().flat_map(|one| one.literals.iter().map(|&literal| (literal, one.span)));
        of_latches.chain(of_signals).chain(of_justice)
    }
}

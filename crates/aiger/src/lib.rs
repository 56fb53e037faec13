//! AIGER 1.9, the format of circuits of the hardware model checking competition: binary (`aig`) or in ASCII (`aag`), to a `Program`.
//!
//! A latch is a variable, a cycle of the clock is a step, and inputs are chosen in each. A bad state property is a step of its own,
//! from a state to a location that an invariant excludes, so that it may look at inputs; it takes as many steps to be there as the
//! circuit has cycles, that of the bad included.
//!
//! A text has a character for every byte of the file, `U+0000` to `U+00FF`.
//!
//! ```
//! let toggle = "aag 1 0 1 0 0 1\n2 3\n2\n";
//! let loaded = birk_aiger::load(toggle, &[], &mut |_| Err(String::new()), birk_ir::Conditions::default());
//! assert_eq!(loaded.program.unwrap().properties.len(), 1);
//! ```
#![forbid(unsafe_code)]

mod circuit;
pub mod codes;
mod file;
mod graph;
mod names;
mod program;
mod reader;
mod step;
mod witness;

pub use file::{File, Form};
pub use witness::witness;

use birk_ir::{Conditions, Diagnostic, Loaded, Resolve, Span};

/// Reads a circuit. It has no constants, names no other files, and conditions about it are not known.
pub fn load(text: &str, overrides: &[(String, String)], _resolve: Resolve<'_>, conditions: Conditions) -> Loaded {
    let mut files = vec![(String::new(), text.to_owned())];
    let mut diagnostics = Vec::new();
    for (name, _) in overrides {
        let message = format!("there is no constant `{name}`");
        let help = "a circuit has no constants; leave out -D";
        diagnostics.push(Diagnostic::new("E3008", Span::default(), message, "given by -D").help(help));
    }
    for place in &conditions.places {
        let span = Span { file: 1, ..Span::new(place.start, place.end) };
        let help = "make the condition an output or a bad of the circuit";
        let message = "there are no conditions about circuits beside the file";
        diagnostics.push(Diagnostic::new("E3008", span, message, "not possible").help(help));
    }
    if !conditions.places.is_empty() {
        files.push(conditions.file);
    }
    let program = match reader::read(text) {
        Ok(circuit) => program::of(&circuit, &mut diagnostics),
        Err(found) => {
            diagnostics.extend(found);
            None
        }
    };
    diagnostics.sort_by_key(|diagnostic| (diagnostic.span.file, diagnostic.span.start));
    let is_broken = diagnostics.iter().any(|diagnostic| !diagnostic.is_warning());
    Loaded { program: program.filter(|_| !is_broken), diagnostics, files, ..Loaded::default() }
}

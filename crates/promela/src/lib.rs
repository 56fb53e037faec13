//! Promela, the language of SPIN, to a `Program`, with SPIN's semantics and SPIN's states.
//!
//! ```
//! use birk_ir::Conditions;
//!
//! let text = "byte x; active proctype P() { do :: x < 3 -> x++ :: else -> break od }";
//! let loaded = birk_promela::load(text, &[], &mut |_| Err("no such file".into()), Conditions::default());
//! assert_eq!(loaded.program.unwrap().threads.len(), 1);
//! ```
#![forbid(unsafe_code)]

pub mod codes;
mod fixes;
mod flow;
mod fold;
mod lower;
mod process;
mod sema;
mod syntax;
mod translate;
mod watch;

use std::collections::HashSet;

use birk_ir::{Conditions, Loaded, Resolve};

use crate::syntax::{parser, preprocess};

pub use crate::translate::translate;

/// How many processes there may be at once, as a `-D` option.
const PROCESSES: &str = "_processes";

/// Reads a model; `constants` are the `-D NAME=VALUE` of the command line, which define macros.
pub fn load(text: &str, constants: &[(String, String)], resolve: Resolve<'_>, conditions: Conditions) -> Loaded {
    let most = constants.iter().find(|(name, _)| name == PROCESSES).and_then(|(_, value)| value.parse().ok());
    let given: Vec<(String, String)> = constants.iter().filter(|(name, _)| name != PROCESSES).cloned().collect();
    let expanded = preprocess::expand(text, &given, resolve);
    let (mut files, mut diagnostics) = (expanded.files, expanded.diagnostics);
    let (model, wrong) = parser::parse(expanded.tokens);
    diagnostics.extend(wrong);
    let mut written = Vec::new();
    for place in &conditions.places {
        let (expr, wrong) = parser::condition(&conditions.file.1, place.clone(), files.len() as u32, &model);
        diagnostics.extend(wrong);
        written.extend(expr);
    }
    if !conditions.places.is_empty() {
        files.push(conditions.file);
    }
    let is_broken = diagnostics.iter().any(|d| !d.is_warning());
    if model.procs.is_empty() && !is_broken {
        let message = "a model needs a process: `active proctype` or `init`";
        diagnostics.push(birk_ir::Diagnostic::new("E2001", birk_ir::Span::default(), message, "no process"));
    }
    let is_broken = is_broken || model.procs.is_empty();
    let (mut program, mut found) = (None, Vec::new());
    if !is_broken {
        let lowered = lower::lower(&model, &files, expanded.defined, most, &written);
        diagnostics.extend(lowered.world.diagnostics);
        (program, found) = (lowered.program, lowered.conditions);
    }
    let mut seen = HashSet::new();
    diagnostics.retain(|d| seen.insert((d.code, d.span, d.message.clone())));
    diagnostics.sort_by_key(|d| (d.span.file, d.span.start));
    fixes::add(&mut diagnostics, text);
    if diagnostics.iter().any(|d| !d.is_warning()) {
        (program, found) = (None, Vec::new());
    }
    Loaded { program, diagnostics, files, conditions: found, ..Loaded::default() }
}

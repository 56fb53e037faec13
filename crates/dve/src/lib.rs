//! DVE, the language of DiVinE and of the BEEM benchmark: text to a `Program`, or all diagnostics at once.
//!
//! ```
//! let text = "byte x; process P { state q; init q; trans q -> q { effect x = x + 1; }; } system async;";
//! let loaded = birk_dve::load(text, &[], &mut |_| Err(String::new()), birk_ir::Conditions::default());
//! assert_eq!(loaded.program.unwrap().transitions.len(), 1);
//! ```
#![forbid(unsafe_code)]

mod ast;
pub mod codes;
mod context;
mod expression;
mod fixes;
mod lexer;
mod parser;
mod properties;
mod steps;
mod translate;

use std::collections::HashSet;

use birk_ir::{Channel, Conditions, Diagnostic, Expr, Layout, Loaded, Program, Resolve, Variable};

use crate::context::{Context, Symbol};
use crate::properties::Asked;
use crate::steps::Steps;

pub use crate::translate::translate;

/// Reads a system, and conditions that another text has about it; DVE knows no other files.
pub fn load(text: &str, overrides: &[(String, String)], _resolve: Resolve<'_>, conditions: Conditions) -> Loaded {
    let mut files = vec![(String::new(), text.to_owned())];
    let parser::Parsed { tree: system, mut diagnostics } = parser::parse(text);
    let mut written = Vec::new();
    for place in conditions.places {
        let parsed = parser::parse_expression(&conditions.file.1, place, files.len() as u32);
        written.push(parsed.tree);
        diagnostics.extend(parsed.diagnostics);
    }
    if !written.is_empty() {
        files.push(conditions.file);
    }
    // After a syntax error, names may be missing that were declared.
    let is_broken = |diagnostics: &[Diagnostic]| diagnostics.iter().any(|diagnostic| !diagnostic.is_warning());
    if is_broken(&diagnostics) {
        sort(&mut diagnostics);
        return Loaded { diagnostics, files, ..Loaded::default() };
    }
    let mut cx = Context::new(files.iter().map(|(_, text)| text.as_str()).collect(), &system, overrides);
    let steps = steps::lower(&mut cx);
    let asked = properties::lower(&mut cx);
    let conditions = properties::conditions(&mut cx, &written);
    diagnostics.append(&mut cx.diagnostics);
    sort(&mut diagnostics);
    fixes::add(&mut diagnostics, text);
    if is_broken(&diagnostics) {
        return Loaded { diagnostics, files, ..Loaded::default() };
    }
    let program = Some(assemble(cx, steps, asked));
    Loaded { program, diagnostics, files, conditions, ..Loaded::default() }
}

/// In the order of the text, each once: what sends to several receivers is lowered with each of them.
fn sort(diagnostics: &mut Vec<Diagnostic>) {
    let mut seen = HashSet::new();
    diagnostics.retain(|d| seen.insert((d.code, d.span, d.message.clone())));
    diagnostics.sort_by_key(|d| (d.span.file, d.span.start));
}

fn assemble(cx: Context<'_>, steps: Steps, asked: Asked) -> Program {
    let mut variables = cx.variables;
    let fault = Variable::of_faults(&mut variables, &steps.transitions);
    let channels = cx.system.channels.iter().filter_map(|declared| {
        let Some((Symbol::Channel(number), _)) = cx.globals.get(&declared.name.text) else { return None };
        let buffer = cx.channels[*number].buffer.as_ref()?;
        let (length, contents) = (buffer.length, buffer.contents.clone());
        Some(Channel { name: declared.name.text.clone(), length, contents })
    });
    Program {
        system: "DVE".into(),
        constants: cx.constants,
        channels: channels.collect(),
        layout: Layout::of(&variables),
        variables,
        kinds: steps.kinds,
        threads: steps.threads,
        transitions: steps.transitions,
        faults: cx.faults,
        fault,
        property_faults: asked.faults,
        // No state of DVE is marked as a proper end.
        choices: Vec::new(),
        valid_end: Expr::FALSE,
        properties: asked.properties,
    }
}

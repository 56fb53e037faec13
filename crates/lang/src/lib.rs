//! BIR text to a `Program`, or all diagnostics at once.
//!
//! ```
//! let text = "system S { boolean b; active thread T() { loc l: when !b do { b := true; } goto l; } }";
//! let loaded = birk_lang::load(text, &[]);
//! assert_eq!(loaded.program.unwrap().transitions.len(), 1);
//! ```
#![forbid(unsafe_code)]

pub mod codes;
pub mod diagnostic;
mod edit;
mod fitting;
pub mod import;
mod lower;
mod sema;
mod syntax;

use std::collections::HashSet;

use birk_ir::{Expr, Layout, Program, ThreadKind, ValueKind, Variable};

pub use birk_ir::{Conditions, Loaded};
pub use fitting::fit;

use crate::lower::{Steps, expectations, properties, refinement};
use crate::sema::context::{self, Context};
use crate::sema::expression::Elaborator;
use crate::sema::types::{self, Value};
use crate::sema::{declarations, lint};
pub use crate::syntax::{ast, fmt, lexer, parser};

/// Reads a system; `overrides` are the `-D NAME=VALUE` of the command line.
///
/// Only the standard library can be imported; `load_files` reads other files too.
pub fn load(text: &str, overrides: &[(String, String)]) -> Loaded {
    load_files(text, overrides, &mut |_| Err("there is no such file in the standard library".into()))
}

/// Reads a system of files: `resolve` gives the text of an imported file.
pub fn load_files(text: &str, overrides: &[(String, String)], resolve: import::Resolve<'_>) -> Loaded {
    load_with(text, overrides, resolve, Conditions::default())
}

/// Reads a system of files, and conditions that another text has about it. Their names and types mean what they mean in a
/// property of the system. The other text is the last of the files.
pub fn load_with(
    text: &str,
    overrides: &[(String, String)],
    resolve: import::Resolve<'_>,
    conditions: Conditions,
) -> Loaded {
    let import::Files { texts: mut files, system, mut diagnostics } = import::read(text, resolve);
    let Some(system) = system else { return Loaded { diagnostics, files, ..Loaded::default() } };
    let mut written = Vec::new();
    for place in conditions.places {
        let (expr, wrong) = parser::parse_expression(&conditions.file.1, place, files.len() as u32);
        written.push(expr);
        diagnostics.extend(wrong);
    }
    if !written.is_empty() {
        files.push(conditions.file);
    }
    let broken = diagnostics.iter().any(|d| !d.is_warning());
    let mut cx = Context::new(files.iter().map(|(_, text)| text.as_str()).collect());
    declarations::declare(&mut cx, &system, overrides);
    check_functions(&mut cx);
    let steps = lower::lower(&mut cx);
    let (properties, property_faults) = properties::lower(&mut cx, &system, &steps);
    let conditions = properties::conditions(&mut cx, &steps, &written);
    let expectations = expectations::lower(&mut cx, &system, &properties);
    let refinement = refinement::lower(&mut cx, &system);
    let failed = broken || cx.diagnostics.iter().any(|d| !d.is_warning());
    if !failed {
        lint::lint(&mut cx, &system, &steps, &properties);
    }
    diagnostic::remove_consequences(&cx.sources, &diagnostics, &steps_of(&system), &mut cx.diagnostics);
    diagnostics.append(&mut cx.diagnostics);
    let program = (!failed).then(|| assemble(cx, &system.name.text, steps, properties, property_faults));
    // The copies of a thread share their text: say everything once.
    let mut seen = HashSet::new();
    diagnostics.retain(|d| seen.insert((d.code, d.span, d.message.clone())));
    // A stable sort: at one place the cause was found before its consequence.
    diagnostics.sort_by_key(|d| (d.span.file, d.span.start));
    diagnostic::remove_repetitions(&mut diagnostics);
    let conditions = if failed { Vec::new() } else { conditions };
    let refinement = refinement.filter(|_| !failed);
    Loaded { program, diagnostics, files, conditions, expectations, refinement }
}

/// The parts of a system that declare nothing which others use, except labels.
fn steps_of(system: &ast::System) -> Vec<birk_ir::Span> {
    let mut spans = Vec::new();
    for item in &system.items {
        match item {
            ast::Item::Property(property) => spans.push(property.span),
            ast::Item::Expectation(expectation) => spans.push(expectation.span),
            ast::Item::Refinement(refinement) => spans.push(refinement.span),
            ast::Item::Thread(thread) => {
                spans.extend(thread.locations.iter().flat_map(|l| &l.transformations).map(|t| t.span));
                let crashes = thread.crashes.iter().flat_map(|crashes| [&crashes.crash, &crashes.restart]);
                spans.extend(crashes.flatten().flatten().map(|action| action.span));
                spans.extend(body_of(&thread.body, thread.span));
            }
            ast::Item::Procedure(procedure) => spans.extend(body_of(&procedure.body, procedure.span)),
            _ => {}
        }
    }
    spans
}

/// From the first statement to the end of what it is the body of: nothing is declared there.
fn body_of(body: &[ast::Action], whole: birk_ir::Span) -> Option<birk_ir::Span> {
    body.first().map(|first| birk_ir::Span { end: whole.end, ..first.span })
}

/// Functions are checked on their own, called or not.
fn check_functions(cx: &mut Context<'_>) {
    for index in 0..cx.functions.len() {
        let function = cx.functions[index].0;
        let mut args = Vec::new();
        for param in &function.params {
            let scalar = declarations::scalar_type(cx, &param.ty);
            let expr = Expr::Local(birk_ir::LocalId(0));
            let (lo, hi) = (scalar.lo, scalar.hi);
            args.push(Value { expr, ty: scalar.ty, lo, hi, hazards: Vec::new(), fixed: false });
        }
        Elaborator::new(cx, None).check_function(index, args);
    }
}

fn assemble(
    cx: Context<'_>,
    system: &str,
    steps: Steps,
    properties: Vec<birk_ir::Property>,
    property_faults: Vec<(Expr, birk_ir::FaultId)>,
) -> Program {
    let mut variables = cx.variables;
    let constants = cx
        .constants
        .iter()
        .map(|constant| match &constant.state {
            context::Evaluated::Done(value) => {
                let names = match value.ty {
                    types::Ty::Boolean => ValueKind::Boolean,
                    types::Ty::Enum(e) => ValueKind::Names(cx.enums[e].variants.clone()),
                    types::Ty::Set(lo, ..) => ValueKind::Set(lo),
                    _ => ValueKind::Integer,
                };
                (constant.full_name.clone(), names.text(value.lo))
            }
            _ => unreachable!("every constant is evaluated before the steps are lowered"),
        })
        .collect();
    let fault = Variable::of_faults(&mut variables, &steps.transitions);
    let channels = cx.globals.iter().filter(|declared| matches!(declared.ty.scalar.ty, types::Ty::Channel(_)));
    let channels = channels.filter_map(|declared| match &declared.leaves[..] {
        [contents @ .., length] if !contents.is_empty() => {
            Some(birk_ir::Channel { name: declared.name.clone(), length: *length, contents: contents.to_vec() })
        }
        _ => None,
    });
    Program {
        system: system.to_owned(),
        constants,
        channels: channels.collect(),
        choices: cx.choices,
        layout: Layout::of(&variables),
        variables,
        valid_end: valid_end(&steps.kinds),
        kinds: steps.kinds,
        threads: steps.threads,
        transitions: steps.transitions,
        faults: cx.faults,
        fault,
        property_faults,
        properties,
    }
}

/// Every thread is at a location marked `end`, or not running.
fn valid_end(kinds: &[ThreadKind]) -> Expr {
    let mut all = Vec::new();
    for kind in kinds {
        let proper = kind.locations.iter().enumerate().filter(|(_, l)| l.end).map(|(i, _)| i as i64);
        let proper: Vec<i64> = proper.chain([kind.idle()]).collect();
        for copy in 0..kind.copies {
            let here = Expr::element(kind.counter, Expr::Const(i64::from(copy)));
            all.push(Expr::any(proper.iter().map(|&value| here.clone().equals(value)).collect()));
        }
    }
    Expr::all(all)
}

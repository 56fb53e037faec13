//! What a system declares: names, constants with their overrides, types, variables, threads.

mod constants;
mod initial;
mod threads;
mod types;

use std::collections::{HashMap, HashSet};

use birk_ir::{Span, ValueKind, VarId, VarRole, Variable};

use crate::diagnostic::Diagnostic;
use crate::sema::context::{Context, Enumeration, Evaluated, RecordDecl, Symbol};
use crate::sema::types::{Declared, NOBODY, Ty, Type};
use crate::syntax::ast::{self, Item};
use constants::{declare_constants, evaluate_constants, override_constants};
use initial::{choose_initially, initial_choice, initial_values};
use threads::{declare_thread, started_names};
use types::resolve_alias;
pub(crate) use types::{MAX_MEMBERS, fields_of, leaves_of, resolve_type, scalar_type};

/// A state may not be longer than this.
const MAX_ELEMENTS: u64 = 1 << 18;
/// Stands in a suffix for the length of a channel.
const LENGTH: &str = "#";

/// Fills the tables of the context.
pub(crate) fn declare<'a>(cx: &mut Context<'a>, system: &'a ast::System, overrides: &[(String, String)]) {
    cx.system = system.name.span;
    let mut next = (0, 0);
    for item in &system.items {
        declare_names(cx, item, &mut next);
    }
    let before = cx.diagnostics.len();
    evaluate_constants(cx);
    if !overrides.is_empty() {
        // The overrides may fix what is wrong with the values in the file; what they do not is found again.
        cx.diagnostics.truncate(before);
        override_constants(cx, system.name.span, overrides);
        evaluate_constants(cx);
    }
    for index in 0..cx.aliases.len() {
        resolve_alias(cx, index);
    }
    for index in 0..cx.records.len() {
        fields_of(cx, index);
    }
    for item in &system.items {
        if let Item::Variables(variables) = item {
            declare_globals(cx, variables);
        }
    }
    let started: HashSet<&str> = started_names(system).into_iter().collect();
    for item in &system.items {
        if let Item::Thread(thread) = item {
            declare_thread(cx, thread, started.contains(thread.name.text.as_str()));
        }
    }
    limit_size(cx, system.name.span);
}

/// Gives a name its meaning; false when it has one already.
fn define<'a>(cx: &mut Context<'a>, name: &'a ast::Name, symbol: Symbol) -> bool {
    if name.text.is_empty() {
        return false;
    }
    if let Some((symbol, first)) = cx.symbols.get_mut(name.text.as_str()) {
        *symbol = Symbol::Ambiguous;
        let first = *first;
        duplicate(cx, name, first);
        return false;
    }
    cx.symbols.insert(&name.text, (symbol, name.span));
    true
}

fn duplicate(cx: &mut Context<'_>, name: &ast::Name, first: Span) {
    if !name.text.is_empty() {
        let message = format!("`{}` is declared twice", name.text);
        let diagnostic = Diagnostic::new("E0021", name.span, message, "declared again here");
        let diagnostic = diagnostic.related(first, "first declared here");
        cx.report(cx.with_other_name(diagnostic, name));
    }
}

/// Reports all but the first of equal names.
fn no_duplicates<'n>(cx: &mut Context<'_>, names: impl Iterator<Item = &'n ast::Name>) -> bool {
    let mut seen: HashMap<&str, Span> = HashMap::new();
    let before = cx.diagnostics.len();
    for name in names {
        match seen.get(name.text.as_str()) {
            Some(first) => duplicate(cx, name, *first),
            None => _ = seen.insert(&name.text, name.span),
        }
    }
    cx.diagnostics.len() == before
}

/// `next` counts the variables and threads declared so far: their tables are filled later, in the same order.
fn declare_names<'a>(cx: &mut Context<'a>, item: &'a Item, next: &mut (usize, usize)) {
    match item {
        Item::Constants(constants) => declare_constants(cx, constants),
        Item::Alias(alias) => {
            define(cx, &alias.name, Symbol::Alias(cx.aliases.len()));
            cx.aliases.push((alias, Evaluated::NotYet));
        }
        Item::Enum(declared) => {
            define(cx, &declared.name, Symbol::Enum(cx.enums.len()));
            no_duplicates(cx, declared.variants.iter());
            let variants = declared.variants.iter().map(|v| v.text.clone()).collect();
            let last = declared.variants.last().map(|variant| variant.span);
            cx.enums.push(Enumeration { name: &declared.name.text, variants, last });
        }
        Item::Variables(variables) => {
            for (name, _) in &variables.declarators {
                next.0 += usize::from(define(cx, name, Symbol::Variable(next.0)));
            }
        }
        Item::Function(function) => {
            define(cx, &function.name, Symbol::Function(cx.functions.len()));
            let is_sound = no_duplicates(cx, function.params.iter().map(|param| &param.name));
            let is_named = function.params.iter().all(|param| !param.name.text.is_empty());
            cx.functions.push((function, !is_sound || !is_named));
        }
        Item::Thread(thread) => {
            next.1 += usize::from(define(cx, &thread.name, Symbol::Thread(next.1)));
        }
        Item::Record(record) => {
            define(cx, &record.name, Symbol::Record(cx.records.len()));
            no_duplicates(cx, record.fields.iter().flat_map(|field| &field.declarators).map(|(name, _)| name));
            cx.records.push(RecordDecl { ast: record, fields: Evaluated::NotYet, depth: 0 });
        }
        Item::Procedure(procedure) => {
            define(cx, &procedure.name, Symbol::Procedure(cx.procedures.len()));
            no_duplicates(cx, procedure.params.iter().map(|param| &param.name));
            cx.procedures.push(procedure);
        }
        Item::Property(_) | Item::Expectation(_) | Item::Refinement(_) => {}
    }
}

fn declare_globals(cx: &mut Context<'_>, variables: &ast::Variables) {
    let ty = resolve_type(cx, &variables.ty);
    for (name, initial) in &variables.declarators {
        let choices = initial.as_ref().and_then(|initial| initial_choice(cx, &ty, initial, &name.text));
        let values = match &choices {
            Some(choices) => vec![choices.first().copied().unwrap_or_else(|| cx.default_of(&ty.scalar))],
            None => initial_values(cx, &ty, initial.as_ref(), &name.text),
        };
        let is_first = cx.symbols.get(name.text.as_str()).is_some_and(|(_, span)| *span == name.span);
        if is_first {
            let leaves = add_leaves(cx, &name.text, VarRole::Global, &ty, &[], &values, name.span);
            let id = leaves.first().copied().unwrap_or(VarId(u32::MAX));
            if let (Some(values), false) = (choices, leaves.is_empty()) {
                choose_initially(cx, id, &values, name.span);
            }
            cx.globals.push(Declared { name: name.text.clone(), id, leaves, ty: ty.clone(), span: name.span });
        }
    }
}

/// The variables that a declared one is made of. `outer` are lengths before its own: the copies of its thread.
fn add_leaves(
    cx: &mut Context<'_>,
    name: &str,
    role: VarRole,
    ty: &Type,
    outer: &[u32],
    initial: &[i64],
    span: Span,
) -> Vec<VarId> {
    let single = !matches!(ty.scalar.ty, Ty::Record(_) | Ty::Collection(_) | Ty::Channel(_));
    let mut ids = Vec::new();
    for leaf in leaves_of(cx, ty) {
        let values = match leaf.scalar.ty {
            Ty::Boolean => ValueKind::Boolean,
            Ty::Enum(index) => ValueKind::Names(cx.enums[index].variants.clone()),
            Ty::Set(lo, ..) => ValueKind::Set(lo),
            Ty::Symmetric(_) if cx.is_optional(&leaf.scalar) => {
                let numbers = (0..leaf.scalar.hi).map(|value| value.to_string());
                ValueKind::Names(numbers.chain([NOBODY.into()]).collect())
            }
            _ => ValueKind::Integer,
        };
        let shape: Vec<u32> = outer.iter().chain(&leaf.shape).copied().collect();
        let default = [cx.default_of(&leaf.scalar)];
        let initial = if single { initial } else { &default };
        let elements = shape.iter().map(|&n| u64::from(n)).product::<u64>();
        if elements > MAX_ELEMENTS {
            let message = format!("`{name}` is too large");
            let help = format!("a state has at most {MAX_ELEMENTS} elements");
            cx.report(Diagnostic::new("E0039", span, message, "too many elements").help(help));
            return Vec::new();
        }
        let (name, role) = match leaf.suffix.as_str() {
            LENGTH => (format!("len({name}{})", "[]".repeat(leaf.shape.len())), VarRole::Length),
            suffix => (format!("{name}{suffix}"), role),
        };
        let (lo, hi) = (leaf.scalar.lo, leaf.scalar.hi);
        let initial = initial.iter().copied().cycle().take(elements as usize).collect();
        cx.variables.push(Variable { name, role, lo, hi, shape, values, initial, span });
        ids.push(VarId::new(cx.variables.len() - 1));
    }
    ids
}

fn limit_size(cx: &mut Context<'_>, span: Span) {
    let elements: u64 = cx.variables.iter().map(|v| u64::from(v.len())).sum();
    if elements > MAX_ELEMENTS {
        let message = format!("a state of {elements} elements is too large");
        let label = format!("at most {MAX_ELEMENTS} are possible");
        cx.report(Diagnostic::new("E0039", span, message, label).help("use smaller arrays or fewer instances"));
    }
}

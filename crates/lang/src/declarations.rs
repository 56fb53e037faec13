//! What a system declares: names, constants with their overrides, types, variables, threads.

use std::collections::HashMap;

use birk_ir::text::NOT_RUNNING;
use birk_ir::{Span, ValueKind, VarId, VarRole, Variable};

use crate::ast::{self, ActionKind, Item, Jump, TypeKind};
use crate::constant::constant_int;
use crate::context::{Constant, Context, Enumeration, Evaluated, Symbol, ThreadDecl};
use crate::diagnostic::{Diagnostic, list, nearest};
use crate::expression::{Elaborator, Receiver};
use crate::types::{Declared, INT_MAX, INT_MIN, Scalar, Ty, Type, Value};

/// A state may not be longer than this.
const MAX_ELEMENTS: u64 = 1 << 18;
/// A thread may not have more copies.
const MAX_COPIES: i64 = 1000;

/// Fills the tables of the context.
pub(crate) fn declare<'a>(cx: &mut Context<'a>, system: &'a ast::System, overrides: &[(String, String)]) {
    let mut next = (0, 0);
    for item in &system.items {
        declare_names(cx, item, &mut next);
    }
    let before = cx.diagnostics.len();
    evaluate_constants(cx);
    if !overrides.is_empty() {
        // The overrides may cure what is wrong with the values in the file; what they do not is found again.
        cx.diagnostics.truncate(before);
        override_constants(cx, system.name.span, overrides);
        evaluate_constants(cx);
    }
    for index in 0..cx.aliases.len() {
        resolve_alias(cx, index);
    }
    for item in &system.items {
        if let Item::Variables(variables) = item {
            declare_globals(cx, variables);
        }
    }
    let started = started_names(system);
    for item in &system.items {
        if let Item::Thread(thread) = item {
            declare_thread(cx, thread, started.contains(&thread.name.text.as_str()));
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
        cx.report(diagnostic.related(first, "first declared here"));
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
            cx.enums.push(Enumeration { name: &declared.name.text, variants });
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
        Item::Property(_) => {}
    }
}

fn declare_constants<'a>(cx: &mut Context<'a>, constants: &'a ast::Constants) {
    let first = cx.constants.len();
    for (i, (name, expr)) in constants.entries.iter().enumerate() {
        let full_name = match &constants.block {
            Some(block) => format!("{}.{}", block.text, name.text),
            None => name.text.clone(),
        };
        if constants.block.is_none() {
            define(cx, name, Symbol::Constant(first + i));
        }
        cx.constants.push(Constant { full_name, name, expr, state: Evaluated::NotYet });
    }
    if let Some(block) = &constants.block {
        define(cx, block, Symbol::Block(cx.blocks.len()));
        no_duplicates(cx, constants.entries.iter().map(|(name, _)| name));
        let entries = constants.entries.iter().enumerate().map(|(i, (n, _))| (n.text.as_str(), first + i));
        cx.blocks.push((&block.text, entries.collect()));
    }
}

fn evaluate_constants(cx: &mut Context<'_>) {
    for index in 0..cx.constants.len() {
        Elaborator::constant(cx).constant_value(index);
    }
}

/// `-D NAME=VALUE`: the constants keep their types, and those that depend on them follow.
fn override_constants(cx: &mut Context<'_>, system: Span, overrides: &[(String, String)]) {
    let mut values = Vec::new();
    for (name, text) in overrides {
        let exact: Vec<usize> = (0..cx.constants.len()).filter(|&i| cx.constants[i].full_name == *name).collect();
        let short = (0..cx.constants.len()).filter(|&i| cx.constants[i].name.text == *name).collect();
        let matching = if exact.is_empty() { short } else { exact };
        match matching[..] {
            [index] => {
                if let Some(value) = parse_override(cx, index, text) {
                    values.push((index, value));
                }
            }
            [] => {
                let names: Vec<&str> = cx.constants.iter().map(|c| c.full_name.as_str()).collect();
                let mut diagnostic = Diagnostic::new(
                    "E0040",
                    system,
                    format!("-D {name}={text}: there is no constant `{name}`"),
                    "this system has no such constant",
                );
                diagnostic.help = match nearest(name, names.iter().copied()) {
                    Some(meant) => Some(format!("did you mean `-D {meant}={text}`?")),
                    None if names.is_empty() => Some("the system declares no constants".into()),
                    None => Some(format!("it has {}", list(names))),
                };
                cx.report(diagnostic);
            }
            _ => {
                let message = format!("-D {name}={text}: several constants are named `{name}`");
                let options = matching.iter().map(|&i| format!("`-D {}={text}`", cx.constants[i].full_name));
                let options = options.collect::<Vec<_>>().join(" or ");
                let mut diagnostic = Diagnostic::new("E0041", system, message, "this system has several of this name");
                for &i in &matching {
                    diagnostic = diagnostic.related(cx.constants[i].name.span, "one of them");
                }
                cx.report(diagnostic.help(format!("write {options}")));
            }
        }
    }
    for constant in &mut cx.constants {
        constant.state = Evaluated::NotYet;
    }
    for (index, value) in values {
        cx.constants[index].state = Evaluated::Done(value);
    }
}

fn parse_override(cx: &mut Context<'_>, index: usize, text: &str) -> Option<Value> {
    let ty = Elaborator::constant(cx).constant_value(index).ty;
    let value = match ty {
        Ty::Boolean => text.parse::<bool>().ok().map(i64::from),
        Ty::Int => text.parse::<i64>().ok().filter(|value| (INT_MIN..=INT_MAX).contains(value)),
        Ty::Enum(owner) => {
            let owner = &cx.enums[owner];
            let variant = text.strip_prefix(&format!("{}.", owner.name)).unwrap_or(text);
            owner.variants.iter().position(|v| v == variant).map(|position| position as i64)
        }
        Ty::Error => return None,
    };
    if value.is_none() {
        let constant = &cx.constants[index];
        let wanted = cx.type_name(ty);
        let message = format!("-D {}={text}: `{text}` is not a value of {wanted}", constant.full_name);
        let mut diagnostic =
            Diagnostic::new("E0042", constant.name.span, message, format!("this constant is {wanted}"));
        diagnostic.help = match ty {
            Ty::Boolean => Some("the values are `true` and `false`".into()),
            Ty::Enum(owner) => Some(format!("it has {}", list(cx.enums[owner].variants.iter().map(String::as_str)))),
            _ => Some(format!("numbers go from {INT_MIN} to {INT_MAX}")),
        };
        cx.report(diagnostic);
    }
    value.map(|value| Value::constant(value, ty))
}

/// A type that must not be an array.
pub(crate) fn scalar_type(cx: &mut Context<'_>, ty: &ast::Type) -> Scalar {
    let resolved = resolve_type(cx, ty);
    if resolved.shape.is_empty() {
        return resolved.scalar;
    }
    if resolved.scalar.ty != Ty::Error {
        let help = "declare the array as a variable of the system, and pass an index";
        let message = "an array cannot be a parameter or the value of a function";
        cx.report(Diagnostic::new("E0022", ty.span, message, "expected the type of a single value").help(help));
    }
    Scalar::ERROR
}

/// A type as written, with its sizes computed.
pub(crate) fn resolve_type(cx: &mut Context<'_>, ty: &ast::Type) -> Type {
    let mut base = match &ty.kind {
        TypeKind::Boolean => Type { scalar: Scalar::BOOLEAN, shape: Vec::new() },
        TypeKind::Byte => Type { scalar: Scalar::BYTE, shape: Vec::new() },
        TypeKind::Int => Type { scalar: Scalar::INT, shape: Vec::new() },
        TypeKind::Error => Type::ERROR,
        TypeKind::Range(wrap, lo, hi) => {
            let (lo, hi) = (constant_int(cx, lo, "a bound"), constant_int(cx, hi, "a bound"));
            Type { scalar: range_type(cx, *wrap, lo, hi, ty.span), shape: Vec::new() }
        }
        TypeKind::Named(name) => named_type(cx, name),
    };
    let mut shape = Vec::new();
    for dimension in &ty.dimensions {
        match constant_int(cx, dimension, "the length of an array") {
            Some(length @ 1..=INT_MAX) => shape.push(length as u32),
            Some(length) => {
                let message = format!("an array cannot have {length} elements");
                cx.report(Diagnostic::new("E0032", dimension.span, message, "must be at least 1"));
                base.scalar = Scalar::ERROR;
            }
            None => base.scalar = Scalar::ERROR,
        }
    }
    shape.append(&mut base.shape);
    let elements = shape.iter().try_fold(1u64, |all, &n| all.checked_mul(u64::from(n)));
    if elements.is_none_or(|elements| elements > MAX_ELEMENTS) {
        let help = format!("a state has at most {MAX_ELEMENTS} elements");
        cx.report(Diagnostic::new("E0039", ty.span, "this array is too large", "too many elements").help(help));
        return Type::ERROR;
    }
    Type { scalar: base.scalar, shape }
}

fn range_type(cx: &mut Context<'_>, wrap: bool, lo: Option<i64>, hi: Option<i64>, span: Span) -> Scalar {
    let (Some(lo), Some(hi)) = (lo, hi) else { return Scalar::ERROR };
    if lo > hi {
        let wrap = if wrap { " wrap" } else { "" };
        let diagnostic = Diagnostic::new("E0032", span, format!("the range {lo}..{hi} is empty"), "no value fits");
        cx.report(diagnostic.help(format!("the lower bound comes first: `int{wrap} ({hi}, {lo})`")));
        return Scalar::ERROR;
    }
    Scalar { ty: Ty::Int, lo, hi, wrap }
}

fn named_type(cx: &mut Context<'_>, name: &ast::Name) -> Type {
    match cx.symbols.get(name.text.as_str()).map(|(symbol, _)| *symbol) {
        Some(Symbol::Alias(index)) => resolve_alias(cx, index),
        Some(Symbol::Enum(index)) => {
            let hi = (cx.enums[index].variants.len() as i64 - 1).max(0);
            Type { scalar: Scalar { ty: Ty::Enum(index), lo: 0, hi, wrap: false }, shape: Vec::new() }
        }
        Some(Symbol::Ambiguous) => Type::ERROR,
        _ if name.text.is_empty() => Type::ERROR,
        Some(_) => {
            if let Some(mut diagnostic) = cx.misused(&name.text, name.span, "a type") {
                diagnostic.code = "E0023";
                cx.report(diagnostic);
            }
            Type::ERROR
        }
        None => {
            let message = format!("cannot find a type named `{}`", name.text);
            let mut diagnostic = Diagnostic::new("E0023", name.span, message, "not a type");
            let declared = cx.symbols.iter().filter(|(_, (s, _))| matches!(s, Symbol::Alias(_) | Symbol::Enum(_)));
            let names = declared.map(|(name, _)| *name).chain(["boolean", "byte", "int"]);
            let meant = foreign_type(&name.text).or_else(|| nearest(&name.text, names));
            diagnostic = match meant {
                Some(meant) => diagnostic.help(format!("did you mean `{meant}`?")),
                None => diagnostic.help("types are `boolean`, `byte`, `int (lo, hi)` and what `enum` declares"),
            };
            cx.report(diagnostic);
            Type::ERROR
        }
    }
}

/// What a type of another language is called here.
fn foreign_type(name: &str) -> Option<&'static str> {
    Some(match name.to_ascii_lowercase().as_str() {
        "bool" | "bit" | "logical" => "boolean",
        "integer" | "int16" | "int32" | "int64" | "i16" | "i32" | "i64" | "short" | "long" | "number" => "int",
        "char" | "uint8" | "uint8_t" | "u8" | "octet" => "byte",
        _ => return None,
    })
}

fn resolve_alias(cx: &mut Context<'_>, index: usize) -> Type {
    let alias = cx.aliases[index].0;
    let resolved = match &cx.aliases[index].1 {
        Evaluated::Done(ty) => return ty.clone(),
        Evaluated::Begun => {
            cx.depends_on_itself("type", &alias.name.text, alias.name.span);
            Type::ERROR
        }
        Evaluated::NotYet => {
            cx.aliases[index].1 = Evaluated::Begun;
            cx.evaluating.push((alias.name.text.clone(), alias.name.span));
            let resolved = resolve_type(cx, &alias.target);
            cx.evaluating.pop();
            resolved
        }
    };
    cx.aliases[index].1 = Evaluated::Done(resolved.clone());
    resolved
}

fn declare_globals(cx: &mut Context<'_>, variables: &ast::Variables) {
    let ty = resolve_type(cx, &variables.ty);
    for (name, initial) in &variables.declarators {
        let value = initial_value(cx, &ty.scalar, initial.as_ref(), &name.text);
        let is_first = cx.symbols.get(name.text.as_str()).is_some_and(|(_, span)| *span == name.span);
        if is_first {
            let id = add_variable(cx, name.text.clone(), VarRole::Global, &ty, ty.shape.clone(), value, name.span);
            cx.globals.push(Declared { name: name.text.clone(), id, ty: ty.clone(), span: name.span });
        }
    }
}

/// The initial value of a variable; an array's fills all its elements.
fn initial_value(cx: &mut Context<'_>, scalar: &Scalar, initial: Option<&ast::Expr>, name: &str) -> i64 {
    let Some(expr) = initial else { return scalar.default_value() };
    let mut elaborator = Elaborator::constant(cx);
    let value = elaborator.value(expr);
    let value = elaborator.settle(value, expr.span);
    let what = format!("`{name}`");
    let receiver = Receiver { what: &what, value: expr.span, whole: expr.span, declared: None };
    let value = elaborator.convert(value, scalar, &receiver);
    value.expr.as_const().filter(|_| value.ty != Ty::Error).unwrap_or_else(|| scalar.default_value())
}

fn add_variable(
    cx: &mut Context<'_>,
    name: String,
    role: VarRole,
    ty: &Type,
    shape: Vec<u32>,
    initial: i64,
    span: Span,
) -> VarId {
    let values = match ty.scalar.ty {
        Ty::Boolean => ValueKind::Boolean,
        Ty::Int | Ty::Error => ValueKind::Integer,
        Ty::Enum(index) => ValueKind::Names(cx.enums[index].variants.clone()),
    };
    let len: u32 = shape.iter().product();
    let (lo, hi) = (ty.scalar.lo, ty.scalar.hi);
    let initial = vec![initial; len as usize];
    cx.variables.push(Variable { name, role, lo, hi, shape, values, initial, span });
    VarId::new(cx.variables.len() - 1)
}

/// The threads that some step starts.
fn started_names(system: &ast::System) -> Vec<&str> {
    let mut names = Vec::new();
    for item in &system.items {
        let Item::Thread(thread) = item else { continue };
        for action in thread.locations.iter().flat_map(|l| &l.transformations).flat_map(|t| &t.actions) {
            if let ActionKind::Start(name, _) = &action.kind {
                names.push(name.text.as_str());
            }
        }
    }
    names
}

fn declare_thread<'a>(cx: &mut Context<'a>, thread: &'a ast::Thread, started: bool) {
    let is_first = cx.symbols.get(thread.name.text.as_str()).is_some_and(|(_, span)| *span == thread.name.span);
    if !is_first {
        return;
    }
    let kind = cx.threads.len();
    let copies = copies_of(cx, thread);
    no_duplicates(cx, thread.locations.iter().map(|location| &location.name));
    let counter = declare_counter(cx, thread, kind, copies);
    let mut declaration =
        ThreadDecl { ast: thread, copies, started, counter, index_param: None, locals: Vec::new(), params: 0 };
    declare_params(cx, &mut declaration, kind);
    for variables in &thread.variables {
        let ty = resolve_type(cx, &variables.ty);
        for (name, initial) in &variables.declarators {
            let value = initial_value(cx, &ty.scalar, initial.as_ref(), &name.text);
            declare_local(cx, &mut declaration, kind, name, &ty, value);
        }
    }
    cx.threads.push(declaration);
}

fn copies_of(cx: &mut Context<'_>, thread: &ast::Thread) -> u32 {
    let Some(expr) = &thread.copies else { return 1 };
    match constant_int(cx, expr, "the number of copies") {
        Some(copies @ 0..=MAX_COPIES) => copies as u32,
        Some(copies) => {
            let message = format!("a thread cannot have {copies} copies");
            cx.report(Diagnostic::new("E0038", expr.span, message, format!("must be in 0..{MAX_COPIES}")));
            1
        }
        None => 1,
    }
}

fn declare_counter(cx: &mut Context<'_>, thread: &ast::Thread, kind: usize, copies: u32) -> VarId {
    let returns = thread.locations.iter().flat_map(|l| &l.transformations);
    let can_stop = !thread.active || returns.into_iter().any(|t| matches!(t.jump, Some(Jump::Return(_))));
    let count = thread.locations.len() as i64;
    let mut names: Vec<String> = thread.locations.iter().map(|l| l.name.text.clone()).collect();
    names.push(NOT_RUNNING.into());
    cx.variables.push(Variable {
        name: format!("{}@", thread.name.text),
        role: VarRole::Counter(kind),
        lo: 0,
        hi: if can_stop { count } else { (count - 1).max(0) },
        shape: vec![copies],
        values: ValueKind::Names(names),
        initial: vec![if thread.active { 0 } else { count }; copies as usize],
        span: thread.name.span,
    });
    VarId::new(cx.variables.len() - 1)
}

/// The parameter of a thread that only runs from the start is a constant of each copy; others are variables.
fn declare_params(cx: &mut Context<'_>, declaration: &mut ThreadDecl<'_>, kind: usize) {
    let thread = declaration.ast;
    for (position, param) in thread.params.iter().enumerate() {
        let mut scalar = scalar_type(cx, &param.ty);
        if param.name.text.is_empty() {
            scalar = Scalar::ERROR;
        }
        let last = i64::from(declaration.copies) - 1;
        if thread.active && position > 0 {
            let message = format!("the active thread `{}` has {} parameters", thread.name.text, thread.params.len());
            let help = "a thread that runs from the start has at most one: the number of its copy";
            cx.report(Diagnostic::new("E0037", param.name.span, message, "nothing gives it a value").help(help));
            scalar = Scalar::ERROR;
        } else if thread.active && scalar.ty != Ty::Int && scalar.ty != Ty::Error {
            let message = format!("the parameter `{}` of an active thread must be an integer", param.name.text);
            cx.report(Diagnostic::new("E0037", param.ty.span, message, "it is the number of the copy"));
            scalar = Scalar::ERROR;
        } else if thread.active && scalar.ty == Ty::Int && (scalar.lo > 0 || scalar.hi < last) {
            let message = format!("`{}` cannot number {} copies", param.name.text, declaration.copies);
            cx.report(Diagnostic::new("E0030", param.ty.span, message, format!("must hold 0..{last}")));
        }
        if thread.active && !declaration.started && scalar.ty == Ty::Int {
            declaration.index_param = Some(param.name.text.clone());
            continue;
        }
        let ty = Type { scalar, shape: Vec::new() };
        declare_local(cx, declaration, kind, &param.name, &ty, scalar.default_value());
        if thread.active
            && scalar.ty == Ty::Int
            && let Some(variable) = cx.variables.last_mut()
        {
            for (copy, value) in variable.initial.iter_mut().enumerate() {
                *value = (copy as i64).clamp(variable.lo, variable.hi);
            }
        }
    }
    declaration.params = declaration.locals.len();
}

fn declare_local(
    cx: &mut Context<'_>,
    declaration: &mut ThreadDecl<'_>,
    kind: usize,
    name: &ast::Name,
    ty: &Type,
    initial: i64,
) {
    if let Some(first) = declaration.locals.iter_mut().find(|local| local.name == name.text) {
        first.ty.scalar = Scalar::ERROR;
        return duplicate(cx, name, first.span);
    }
    if declaration.index_param.as_ref() == Some(&name.text) {
        return duplicate(cx, name, declaration.ast.params[0].name.span);
    }
    let mut shape = vec![declaration.copies];
    shape.extend(&ty.shape);
    if shape.iter().map(|&n| u64::from(n)).product::<u64>() > MAX_ELEMENTS {
        let message = format!("the variables of {} copies are too large", declaration.copies);
        let help = format!("a state has at most {MAX_ELEMENTS} elements");
        cx.report(Diagnostic::new("E0039", name.span, message, "too many elements").help(help));
        shape.truncate(1);
    }
    let full_name = format!("{}.{}", declaration.ast.name.text, name.text);
    let id = add_variable(cx, full_name, VarRole::Local(kind), ty, shape, initial, name.span);
    declaration.locals.push(Declared { name: name.text.clone(), id, ty: ty.clone(), span: name.span });
}

fn limit_size(cx: &mut Context<'_>, span: Span) {
    let elements: u64 = cx.variables.iter().map(|v| u64::from(v.len())).sum();
    if elements > MAX_ELEMENTS {
        let message = format!("a state of {elements} elements is too large");
        let label = format!("at most {MAX_ELEMENTS} are possible");
        cx.report(Diagnostic::new("E0039", span, message, label).help("use smaller arrays or fewer copies"));
    }
}

//! What a system declares: names, constants with their overrides, types, variables, threads.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use birk_ir::text::NOT_RUNNING;
use birk_ir::{Span, ValueKind, VarId, VarRole, Variable};

use crate::ast::{self, ActionKind, Item, TypeKind};
use crate::constant::constant_int;
use crate::context::{ChannelDecl, Constant, Context, Enumeration, Evaluated, RecordDecl, Symbol, ThreadDecl};
use crate::diagnostic::{Diagnostic, list, nearest};
use crate::expression::{Elaborator, Receiver};
use crate::types::{Declared, INT_MAX, INT_MIN, Leaf, Scalar, Ty, Type, Value};

/// A state may not be longer than this.
const MAX_ELEMENTS: u64 = 1 << 18;
/// A set ranges over at most this many numbers.
const MAX_MEMBERS: i64 = 31;
/// A channel holds at most this many messages.
const MAX_CAPACITY: i64 = 1000;
/// A record may have so many single values and arrays in it.
const MAX_LEAVES: usize = 1000;
/// How deep records may be nested in records.
const MAX_RECORD_DEPTH: usize = 50;
/// Stands in a suffix for the length of a channel.
const LENGTH: &str = "#";
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
        _ => return None,
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
        TypeKind::Set(lo, hi) => {
            let (lo, hi) = (constant_int(cx, lo, "a bound"), constant_int(cx, hi, "a bound"));
            Type { scalar: set_type(cx, lo, hi, ty.span), shape: Vec::new() }
        }
        TypeKind::Channel(marks, element, capacity) => channel_type(cx, *marks, element, capacity),
        TypeKind::Named(name) => named_type(cx, name),
    };
    let mut shape = Vec::new();
    for dimension in &ty.dimensions {
        match length_of(cx, dimension, "the length of an array") {
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

/// The length of an array: a number, or how many values a symmetric type has.
fn length_of(cx: &mut Context<'_>, dimension: &ast::Expr, what: &str) -> Option<i64> {
    if let ast::ExprKind::Name(name) = &dimension.kind
        && let Some(&(Symbol::Alias(index), _)) = cx.symbols.get(name.as_str())
    {
        let scalar = resolve_alias(cx, index).scalar;
        if matches!(scalar.ty, Ty::Symmetric(_)) {
            return Some(scalar.hi - scalar.lo + 1);
        }
    }
    constant_int(cx, dimension, what)
}

fn set_type(cx: &mut Context<'_>, lo: Option<i64>, hi: Option<i64>, span: Span) -> Scalar {
    let scalar = range_type(cx, false, lo, hi, span);
    if scalar.ty == Ty::Error {
        return scalar;
    }
    if scalar.hi - scalar.lo >= MAX_MEMBERS {
        let message = format!("a set over {} numbers", scalar.hi - scalar.lo + 1);
        let help = format!("a set ranges over at most {MAX_MEMBERS} numbers; use an array of `boolean`");
        cx.report(Diagnostic::new("E0039", span, message, "too many").help(help));
        return Scalar::ERROR;
    }
    let members = scalar.hi - scalar.lo + 1;
    Scalar { ty: Ty::Set(scalar.lo, scalar.hi), lo: 0, hi: (1 << members) - 1, wrap: false }
}

fn channel_type(cx: &mut Context<'_>, marks: ast::ChannelMarks, element: &ast::Type, capacity: &ast::Expr) -> Type {
    let element = resolve_type(cx, element);
    let capacity_value = constant_int(cx, capacity, "the capacity of a channel");
    let Some(capacity_value @ 0..=MAX_CAPACITY) = capacity_value else {
        if let Some(number) = capacity_value {
            let label = format!("must be in 0..{MAX_CAPACITY}");
            cx.report(Diagnostic::new("E0039", capacity.span, format!("a channel for {number} messages"), label));
        }
        return Type::ERROR;
    };
    if matches!(element.scalar.ty, Ty::Channel(_)) {
        let message = "a channel cannot be sent through a channel";
        let help = "declare an array of channels, and send an index";
        cx.report(Diagnostic::new("E0052", capacity.span, message, "a channel of channels").help(help));
        return Type::ERROR;
    }
    if element.scalar.ty == Ty::Error {
        return Type::ERROR;
    }
    if capacity_value == 0 && marks != ast::ChannelMarks::default() {
        let message = "a rendezvous holds no messages";
        let help = "give the channel a capacity, or leave the marks out";
        cx.report(Diagnostic::new("E0052", capacity.span, message, "nothing to lose here").help(help));
        return Type::ERROR;
    }
    cx.channels.push(ChannelDecl { element, capacity: capacity_value as u32, marks });
    let ty = Ty::Channel(cx.channels.len() - 1);
    Type { scalar: Scalar { ty, lo: 0, hi: 0, wrap: false }, shape: Vec::new() }
}

/// The fields of a record with their types.
pub(crate) fn fields_of(cx: &mut Context<'_>, index: usize) -> Vec<(String, Type)> {
    let record = cx.records[index].ast;
    match &cx.records[index].fields {
        Evaluated::Done(fields) => return fields.clone(),
        Evaluated::Begun => {
            cx.depends_on_itself("record", &record.name.text, record.name.span);
            cx.records[index].fields = Evaluated::Done(Vec::new());
            return Vec::new();
        }
        Evaluated::NotYet => {}
    }
    if !cx.begin(&record.name.text, record.name.span) {
        cx.records[index].fields = Evaluated::Done(Vec::new());
        return Vec::new();
    }
    cx.records[index].fields = Evaluated::Begun;
    let mut fields = Vec::new();
    for field in &record.fields {
        let mut ty = resolve_type(cx, &field.ty);
        if matches!(ty.scalar.ty, Ty::Channel(_)) {
            let message = "a channel cannot be part of a record";
            cx.report(Diagnostic::new("E0052", field.ty.span, message, "declare it in the system"));
            ty = Type::ERROR;
        }
        for (name, initial) in &field.declarators {
            if let Some(initial) = initial {
                let message = "a field has no initial value of its own";
                cx.report(Diagnostic::new("E0052", initial.span, message, "leave it out"));
            }
            fields.push((name.text.clone(), ty.clone()));
        }
    }
    cx.evaluating.pop();
    let inner =
        fields.iter().map(|(_, ty)| if let Ty::Record(inner) = ty.scalar.ty { cx.records[inner].depth } else { 0 });
    let depth = inner.max().unwrap_or(0) + 1;
    cx.records[index].depth = depth;
    if depth > MAX_RECORD_DEPTH {
        let message = format!("nested too deeply: records may be {MAX_RECORD_DEPTH} levels deep");
        cx.report(Diagnostic::new("E0009", record.name.span, message, "one level too many"));
        fields.clear();
    }
    let parts: usize = fields.iter().map(|(_, ty)| leaves_of(cx, ty).len()).sum();
    if parts > MAX_LEAVES {
        let message = format!("`{}` has {parts} parts", record.name.text);
        let help = format!("a record has at most {MAX_LEAVES}, those of its records counted; use arrays");
        cx.report(Diagnostic::new("E0039", record.name.span, message, "too many").help(help));
        fields.clear();
    }
    cx.records[index].fields = Evaluated::Done(fields.clone());
    fields
}

/// The single-valued parts of a type, in order.
pub(crate) fn leaves_of(cx: &mut Context<'_>, ty: &Type) -> Vec<Leaf> {
    match ty.scalar.ty {
        Ty::Record(index) => {
            let mut leaves = Vec::new();
            for (name, field) in fields_of(cx, index) {
                for leaf in leaves_of(cx, &field) {
                    let suffix = format!("{}.{name}{}", "[]".repeat(ty.shape.len()), leaf.suffix);
                    let shape = ty.shape.iter().chain(&leaf.shape).copied().collect();
                    leaves.push(Leaf { suffix, shape, scalar: leaf.scalar });
                }
            }
            leaves
        }
        Ty::Channel(index) => {
            let channel = cx.channels[index].clone();
            let mut leaves = Vec::new();
            if channel.capacity > 0 {
                let mut slots = channel.element.clone();
                slots.shape.insert(0, channel.capacity);
                for leaf in leaves_of(cx, &slots) {
                    let shape = ty.shape.iter().chain(&leaf.shape).copied().collect();
                    let suffix = match leaf.suffix.is_empty() {
                        true => String::new(),
                        false => format!("{}{}", "[]".repeat(ty.shape.len()), leaf.suffix),
                    };
                    leaves.push(Leaf { suffix, shape, scalar: leaf.scalar });
                }
            }
            // At a rendezvous it is always 0, takes no room, and stands for the channel.
            let scalar = Scalar { ty: Ty::Int, lo: 0, hi: i64::from(channel.capacity), wrap: false };
            leaves.push(Leaf { suffix: LENGTH.into(), shape: ty.shape.clone(), scalar });
            leaves
        }
        _ => vec![Leaf { suffix: String::new(), shape: ty.shape.clone(), scalar: ty.scalar }],
    }
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

/// Whether something is wrong with a record, which was reported: it has no fields, or fields without a type.
fn is_broken(cx: &mut Context<'_>, record: usize) -> bool {
    let fields = fields_of(cx, record);
    fields.is_empty() || fields.iter().any(|(_, ty)| ty.scalar.ty == Ty::Error)
}

fn named_type(cx: &mut Context<'_>, name: &ast::Name) -> Type {
    match cx.symbols.get(name.text.as_str()).map(|(symbol, _)| *symbol) {
        Some(Symbol::Alias(index)) => resolve_alias(cx, index),
        Some(Symbol::Enum(index)) => {
            let hi = (cx.enums[index].variants.len() as i64 - 1).max(0);
            Type { scalar: Scalar { ty: Ty::Enum(index), lo: 0, hi, wrap: false }, shape: Vec::new() }
        }
        Some(Symbol::Record(index)) if is_broken(cx, index) => Type::ERROR,
        Some(Symbol::Record(index)) => {
            let scalar = Scalar { ty: Ty::Record(index), lo: 0, hi: 0, wrap: false };
            Type { scalar, shape: Vec::new() }
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
            let mut resolved = Type::ERROR;
            if cx.begin(&alias.name.text, alias.name.span) {
                resolved = resolve_type(cx, &alias.target);
                cx.evaluating.pop();
            }
            if alias.symmetric && resolved.scalar.ty != Ty::Error {
                resolved = symmetric_type(cx, index, &resolved);
            }
            resolved
        }
    };
    cx.aliases[index].1 = Evaluated::Done(resolved.clone());
    resolved
}

/// A range from 0 whose values have no order.
fn symmetric_type(cx: &mut Context<'_>, index: usize, resolved: &Type) -> Type {
    let alias = cx.aliases[index].0;
    if resolved.scalar.ty != Ty::Int || !resolved.shape.is_empty() || resolved.scalar.lo != 0 || resolved.scalar.wrap {
        let message = format!("the symmetric type `{}` must be a range from 0", alias.name.text);
        let help = format!("write `symmetric typealias {} int (0, N - 1);`", alias.name.text);
        cx.report(Diagnostic::new("E0053", alias.target.span, message, "not such a range").help(help));
        return Type::ERROR;
    }
    Type { scalar: Scalar { ty: Ty::Symmetric(index), ..resolved.scalar }, shape: Vec::new() }
}

fn declare_globals(cx: &mut Context<'_>, variables: &ast::Variables) {
    let ty = resolve_type(cx, &variables.ty);
    for (name, initial) in &variables.declarators {
        let value = initial_value(cx, &ty.scalar, initial.as_ref(), &name.text);
        let is_first = cx.symbols.get(name.text.as_str()).is_some_and(|(_, span)| *span == name.span);
        if is_first {
            let leaves = add_leaves(cx, &name.text, VarRole::Global, &ty, &[], value, name.span);
            let id = leaves.first().copied().unwrap_or(VarId(u32::MAX));
            cx.globals.push(Declared { name: name.text.clone(), id, leaves, ty: ty.clone(), span: name.span });
        }
    }
}

/// The initial value of a variable; an array's fills all its elements.
fn initial_value(cx: &mut Context<'_>, scalar: &Scalar, initial: Option<&ast::Expr>, name: &str) -> i64 {
    let Some(expr) = initial else { return scalar.default_value() };
    if matches!(scalar.ty, Ty::Record(_) | Ty::Channel(_)) {
        let message = format!("`{name}` has no initial value of its own");
        let help = "its parts begin with the defaults of their types; assign to it in a first step";
        cx.report(Diagnostic::new("E0052", expr.span, message, "leave it out").help(help));
        return 0;
    }
    let mut elaborator = Elaborator::constant(cx);
    let value = elaborator.value_as(expr, scalar.ty);
    let value = elaborator.settle(value, expr.span);
    let what = format!("`{name}`");
    let receiver = Receiver { what: &what, value: expr.span, whole: expr.span, declared: None };
    let value = elaborator.convert(value, scalar, &receiver);
    value.expr.as_const().filter(|_| value.ty != Ty::Error).unwrap_or_else(|| scalar.default_value())
}

/// The variables that a declared one is made of. `outer` are lengths before its own: the copies of its thread.
fn add_leaves(
    cx: &mut Context<'_>,
    name: &str,
    role: VarRole,
    ty: &Type,
    outer: &[u32],
    initial: i64,
    span: Span,
) -> Vec<VarId> {
    let single = !matches!(ty.scalar.ty, Ty::Record(_) | Ty::Channel(_));
    let mut ids = Vec::new();
    for leaf in leaves_of(cx, ty) {
        let values = match leaf.scalar.ty {
            Ty::Boolean => ValueKind::Boolean,
            Ty::Enum(index) => ValueKind::Names(cx.enums[index].variants.clone()),
            Ty::Set(lo, _) => ValueKind::Set(lo),
            _ => ValueKind::Integer,
        };
        let shape: Vec<u32> = outer.iter().chain(&leaf.shape).copied().collect();
        let initial = if single { initial } else { leaf.scalar.default_value() };
        let elements = shape.iter().map(|&n| u64::from(n)).product::<u64>();
        if elements > MAX_ELEMENTS {
            let message = format!("`{name}` is too large");
            let help = format!("a state has at most {MAX_ELEMENTS} elements");
            cx.report(Diagnostic::new("E0039", span, message, "too many elements").help(help));
            return Vec::new();
        }
        let name = match leaf.suffix.as_str() {
            LENGTH => format!("len({name}{})", "[]".repeat(leaf.shape.len())),
            suffix => format!("{name}{suffix}"),
        };
        let (lo, hi) = (leaf.scalar.lo, leaf.scalar.hi);
        let initial = vec![initial; elements as usize];
        cx.variables.push(Variable { name, role, lo, hi, shape, values, initial, span });
        ids.push(VarId::new(cx.variables.len() - 1));
    }
    ids
}

/// The threads that some step starts.
fn started_names(system: &ast::System) -> Vec<&str> {
    fn visit<'s>(actions: &'s [ast::Action], names: &mut Vec<&'s str>) {
        for action in actions {
            match &action.kind {
                ActionKind::Start(name, _) => names.push(name.text.as_str()),
                ActionKind::If(branches, otherwise) => {
                    branches.iter().for_each(|(_, branch)| visit(branch, names));
                    visit(otherwise.as_deref().unwrap_or_default(), names);
                }
                ActionKind::While(_, body) | ActionKind::For(_, _, _, body) | ActionKind::Atomic(body) => {
                    visit(body, names);
                }
                ActionKind::Either(branches) => branches.iter().for_each(|branch| visit(branch, names)),
                _ => {}
            }
        }
    }
    let mut names = Vec::new();
    for item in &system.items {
        match item {
            Item::Thread(thread) => {
                visit(&thread.body, &mut names);
                for transformation in thread.locations.iter().flat_map(|l| &l.transformations) {
                    visit(&transformation.actions, &mut names);
                }
            }
            Item::Procedure(procedure) => visit(&procedure.body, &mut names),
            _ => {}
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
    let control = Rc::new(crate::control::control(cx, thread));
    let counter = declare_counter(cx, thread, &control, kind, copies);
    let mut declaration = ThreadDecl {
        ast: thread,
        control,
        copies,
        started,
        counter,
        index_param: None,
        index_ty: Ty::Int,
        local_names: HashMap::new(),
        locals: Vec::new(),
        params: 0,
    };
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
    match length_of(cx, expr, "the number of copies") {
        Some(copies @ 0..=MAX_COPIES) => copies as u32,
        Some(copies) => {
            let message = format!("a thread cannot have {copies} copies");
            cx.report(Diagnostic::new("E0038", expr.span, message, format!("must be in 0..{MAX_COPIES}")));
            1
        }
        None => 1,
    }
}

fn declare_counter(
    cx: &mut Context<'_>,
    thread: &ast::Thread,
    control: &crate::control::Control<'_>,
    kind: usize,
    copies: u32,
) -> VarId {
    let can_stop = !thread.active || control.edges.iter().any(|edge| edge.to.is_none());
    let count = control.spots.len() as i64;
    let mut names: Vec<String> = control.spots.iter().map(|spot| spot.name.clone()).collect();
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
        } else if thread.active && !matches!(scalar.ty, Ty::Int | Ty::Symmetric(_) | Ty::Error) {
            let message = format!("the parameter `{}` of an active thread must be an integer", param.name.text);
            cx.report(Diagnostic::new("E0037", param.ty.span, message, "it is the number of the copy"));
            scalar = Scalar::ERROR;
        } else if thread.active && scalar.ty != Ty::Error && (scalar.lo > 0 || scalar.hi < last) {
            let message = format!("`{}` cannot number {} copies", param.name.text, declaration.copies);
            cx.report(Diagnostic::new("E0030", param.ty.span, message, format!("must hold 0..{last}")));
        }
        if thread.active && !declaration.started && scalar.ty != Ty::Error {
            declaration.index_param = Some(param.name.text.clone());
            declaration.index_ty = scalar.ty;
            continue;
        }
        let ty = Type { scalar, shape: Vec::new() };
        declare_local(cx, declaration, kind, &param.name, &ty, scalar.default_value());
        if thread.active
            && scalar.ty != Ty::Error
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
    if let Some(&position) = declaration.local_names.get(&name.text) {
        let first = &mut declaration.locals[position];
        first.ty.scalar = Scalar::ERROR;
        return duplicate(cx, name, first.span);
    }
    if declaration.index_param.as_ref() == Some(&name.text) {
        return duplicate(cx, name, declaration.ast.params[0].name.span);
    }
    if matches!(ty.scalar.ty, Ty::Channel(_)) {
        let message = "a channel cannot belong to one thread";
        cx.report(Diagnostic::new("E0052", name.span, message, "declare it in the system"));
        return declare_local(cx, declaration, kind, name, &Type::ERROR, 0);
    }
    let full_name = format!("{}.{}", declaration.ast.name.text, name.text);
    let copies = [declaration.copies];
    let leaves = add_leaves(cx, &full_name, VarRole::Local(kind), ty, &copies, initial, name.span);
    let id = leaves.first().copied().unwrap_or(VarId(u32::MAX));
    declaration.local_names.insert(name.text.clone(), declaration.locals.len());
    declaration.locals.push(Declared { name: name.text.clone(), id, leaves, ty: ty.clone(), span: name.span });
}

fn limit_size(cx: &mut Context<'_>, span: Span) {
    let elements: u64 = cx.variables.iter().map(|v| u64::from(v.len())).sum();
    if elements > MAX_ELEMENTS {
        let message = format!("a state of {elements} elements is too large");
        let label = format!("at most {MAX_ELEMENTS} are possible");
        cx.report(Diagnostic::new("E0039", span, message, label).help("use smaller arrays or fewer copies"));
    }
}

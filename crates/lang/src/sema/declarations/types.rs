//! Types as written: ranges, sets, arrays, channels, records, and what they are made of.

use birk_ir::Span;

use super::{LENGTH, MAX_ELEMENTS};
use crate::diagnostic::{Diagnostic, nearest};
use crate::edit;
use crate::sema::const_eval::constant_int;
use crate::sema::context::{ChannelDecl, Context, Evaluated, Symbol};
use crate::sema::types::{Collection, INT_MAX, Leaf, Scalar, Ty, Type};
use crate::syntax::ast::{self, TypeKind};

/// A set ranges over at most this many numbers.
pub(crate) const MAX_MEMBERS: i64 = 31;
/// A channel holds at most this many messages.
const MAX_CAPACITY: i64 = 1000;
/// A record may have so many single values and arrays in it.
const MAX_LEAVES: usize = 1000;
/// How deep records may be nested in records.
const MAX_RECORD_DEPTH: usize = 50;

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
        TypeKind::Boolean => Type::of(Scalar::BOOLEAN),
        TypeKind::Byte => Type::of(Scalar::BYTE),
        TypeKind::Int => Type::of(Scalar::INT),
        TypeKind::Error => Type::ERROR,
        TypeKind::Range(wrap, lo, hi) => {
            let (lo, hi) = (constant_int(cx, lo, "a bound"), constant_int(cx, hi, "a bound"));
            Type::of(range_type(cx, *wrap, lo, hi, ty.span))
        }
        TypeKind::Set(lo, hi) => {
            let (lo, hi) = (constant_int(cx, lo, "a bound"), constant_int(cx, hi, "a bound"));
            Type::of(set_type(cx, lo, hi, ty.span))
        }
        TypeKind::SetOf(name) => Type::of(set_of_type(cx, name)),
        TypeKind::OrNobody(name) => Type::of(or_nobody(cx, name)),
        TypeKind::Channel(marks, element, capacity) => channel_type(cx, *marks, element, capacity),
        TypeKind::Sequence(element, capacity) => sequence_type(cx, element, capacity),
        TypeKind::Map(keys, value) => map_type(cx, keys, value, ty.span),
        TypeKind::Named(name) => named_type(cx, name),
    };
    let (mut shape, mut by) = (Vec::new(), Vec::new());
    for dimension in &ty.dimensions {
        match length_of(cx, dimension, "the length of an array") {
            Some((length @ 1..=INT_MAX, name)) => {
                shape.push(length as u32);
                by.push(name);
            }
            Some((length, _)) => {
                let message = format!("an array cannot have {length} elements");
                let diagnostic = Diagnostic::new("E0032", dimension.span, message, "must be at least 1");
                cx.report(diagnostic.propose(dimension.span, "1"));
                base.scalar = Scalar::ERROR;
            }
            None => base.scalar = Scalar::ERROR,
        }
    }
    shape.append(&mut base.shape);
    by.append(&mut base.by);
    let elements = shape.iter().try_fold(1u64, |all, &n| all.checked_mul(u64::from(n)));
    if elements.is_none_or(|elements| elements > MAX_ELEMENTS) {
        let help = format!("a state has at most {MAX_ELEMENTS} elements");
        cx.report(Diagnostic::new("E0039", ty.span, "this array is too large", "too many elements").help(help));
        return Type::ERROR;
    }
    Type { scalar: base.scalar, shape, by }
}

/// The length of an array: a number, or how many values a symmetric type has, and which that is.
pub(super) fn length_of(cx: &mut Context<'_>, dimension: &ast::Expr, what: &str) -> Option<(i64, Option<usize>)> {
    if let ast::ExprKind::Name(name) = &dimension.kind
        && let Some(&(Symbol::Alias(index), _)) = cx.symbols.get(name.as_str())
    {
        let scalar = resolve_alias(cx, index).scalar;
        if let Ty::Symmetric(name) = scalar.ty {
            return Some((scalar.hi - scalar.lo + 1, Some(name)));
        }
    }
    constant_int(cx, dimension, what).map(|length| (length, None))
}

pub(super) fn set_type(cx: &mut Context<'_>, lo: Option<i64>, hi: Option<i64>, span: Span) -> Scalar {
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
    Scalar { ty: Ty::Set(scalar.lo, scalar.hi, None), lo: 0, hi: (1 << members) - 1, wrap: false }
}

/// A symmetric type with one more value, which no permutation moves.
fn or_nobody(cx: &mut Context<'_>, name: &ast::Name) -> Scalar {
    let scalar = named_type(cx, name).scalar;
    match scalar.ty {
        Ty::Symmetric(_) => Scalar { hi: scalar.hi + 1, ..scalar },
        Ty::Error => Scalar::ERROR,
        _ => {
            let message = format!("`{}` is not a symmetric type", name.text);
            let help = "of other types, use one more value of the range or of the enumeration";
            cx.report(Diagnostic::new("E0053", name.span, message, "`nobody` is none of its values").help(help));
            Scalar::ERROR
        }
    }
}

/// A set of the values of a type that has a name: a range, symmetric or not.
fn set_of_type(cx: &mut Context<'_>, name: &ast::Name) -> Scalar {
    let members = named_type(cx, name);
    if members.scalar.ty == Ty::Error {
        return Scalar::ERROR;
    }
    if !matches!(members.scalar.ty, Ty::Int | Ty::Symmetric(_)) || !members.shape.is_empty() {
        let message = format!("there are no sets of `{}`", name.text);
        let help = "the members of a set are numbers of a range, or values of a symmetric type";
        cx.report(Diagnostic::new("E0022", name.span, message, "not a range").help(help));
        return Scalar::ERROR;
    }
    let set = set_type(cx, Some(members.scalar.lo), Some(members.scalar.hi), name.span);
    match (set.ty, members.scalar.ty) {
        (Ty::Set(lo, hi, _), Ty::Symmetric(of)) => Scalar { ty: Ty::Set(lo, hi, Some(of)), ..set },
        _ => set,
    }
}

pub(super) fn channel_type(
    cx: &mut Context<'_>,
    marks: ast::ChannelMarks,
    element: &ast::Type,
    capacity: &ast::Expr,
) -> Type {
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
        let help = "give the channel a capacity, such as `1`, or leave the modifiers out";
        let diagnostic = Diagnostic::new("E0052", capacity.span, message, "nothing to lose here").help(help);
        cx.report(diagnostic.propose(capacity.span, "1"));
        return Type::ERROR;
    }
    cx.channels.push(ChannelDecl { element, capacity: capacity_value as u32, marks });
    let ty = Ty::Channel(cx.channels.len() - 1);
    Type::of(Scalar { ty, lo: 0, hi: 0, wrap: false })
}

fn sequence_type(cx: &mut Context<'_>, element: &ast::Type, capacity: &ast::Expr) -> Type {
    let (span, held) = (element.span, resolve_type(cx, element));
    match constant_int(cx, capacity, "the capacity of a sequence") {
        Some(number @ 1..=MAX_CAPACITY) => {
            collection_type(cx, Collection::Sequence { element: held, capacity: number as u32 }, span)
        }
        Some(number) => {
            let (message, label) = (format!("a sequence of at most {number}"), format!("must be in 1..{MAX_CAPACITY}"));
            cx.report(Diagnostic::new("E0039", capacity.span, message, label));
            Type::ERROR
        }
        None => Type::ERROR,
    }
}

fn map_type(cx: &mut Context<'_>, keys: &TypeKind, value: &ast::Type, span: Span) -> Type {
    let keys = match keys {
        TypeKind::Set(lo, hi) => {
            let (lo, hi) = (constant_int(cx, lo, "a bound"), constant_int(cx, hi, "a bound"));
            set_type(cx, lo, hi, span)
        }
        TypeKind::SetOf(name) => set_of_type(cx, name),
        _ => Scalar::ERROR,
    };
    let held = resolve_type(cx, value);
    match keys.ty {
        Ty::Set(lo, hi, of) => collection_type(cx, Collection::Map { lo, hi, of, value: held }, value.span),
        _ => Type::ERROR,
    }
}

/// A sequence or map, if what it holds has values, and not too many.
fn collection_type(cx: &mut Context<'_>, collection: Collection, span: Span) -> Type {
    match collection.held().scalar.ty {
        Ty::Error => return Type::ERROR,
        Ty::Channel(_) => {
            let message = "a channel cannot be part of a sequence or map";
            cx.report(Diagnostic::new("E0052", span, message, "declare it in the system"));
            return Type::ERROR;
        }
        _ => {}
    }
    let leaves = leaves_of(cx, &collection.array());
    let elements = |leaf: &Leaf| leaf.shape.iter().try_fold(1u64, |all, &n| all.checked_mul(u64::from(n)));
    if leaves.len() >= MAX_LEAVES || leaves.iter().any(|leaf| elements(leaf).is_none_or(|all| all > MAX_ELEMENTS)) {
        let help = format!("a state has at most {MAX_ELEMENTS} elements, and one value at most {MAX_LEAVES} parts");
        cx.report(Diagnostic::new("E0039", span, "this type is too large", "too much in one").help(help));
        return Type::ERROR;
    }
    let ty = cx.collection(collection);
    Type::of(Scalar { ty, lo: 0, hi: 0, wrap: false })
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
            let diagnostic = Diagnostic::new("E0052", field.ty.span, message, "declare it in the system");
            cx.report(cx.moved_out(diagnostic, record.span, field.span));
            ty = Type::ERROR;
        }
        for (name, initial) in &field.declarators {
            if let Some(initial) = initial {
                let message = "a field has no initial value of its own";
                let diagnostic = Diagnostic::new("E0052", initial.span, message, "leave it out");
                let written = cx.text(initial.span).and_then(|text| edit::initial(text, initial.span));
                cx.report(cx.without(diagnostic, written));
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
                    let by = ty.by.iter().chain(&leaf.by).copied().collect();
                    leaves.push(Leaf { suffix, shape, by, scalar: leaf.scalar });
                }
            }
            leaves
        }
        Ty::Collection(index) => {
            let collection = cx.collections[index].clone();
            let before = "[]".repeat(ty.shape.len());
            let mut leaves = leaves_of(cx, &collection.array());
            for leaf in &mut leaves {
                leaf.shape.splice(0..0, ty.shape.iter().copied());
                leaf.by.splice(0..0, ty.by.iter().copied());
                if !leaf.suffix.is_empty() {
                    leaf.suffix.insert_str(0, &before);
                }
            }
            let (suffix, scalar) = (format!("{before}{}", collection.mark()), collection.counted());
            leaves.push(Leaf { suffix, shape: ty.shape.clone(), by: ty.by.clone(), scalar });
            leaves
        }
        Ty::Channel(index) => {
            let channel = cx.channels[index].clone();
            let mut leaves = Vec::new();
            if channel.capacity > 0 {
                let mut slots = channel.element.clone();
                slots.shape.insert(0, channel.capacity);
                slots.by.insert(0, None);
                for leaf in leaves_of(cx, &slots) {
                    let shape = ty.shape.iter().chain(&leaf.shape).copied().collect();
                    let suffix = match leaf.suffix.is_empty() {
                        true => String::new(),
                        false => format!("{}{}", "[]".repeat(ty.shape.len()), leaf.suffix),
                    };
                    let by = ty.by.iter().chain(&leaf.by).copied().collect();
                    leaves.push(Leaf { suffix, shape, by, scalar: leaf.scalar });
                }
            }
            // At a rendezvous it is always 0, takes no room, and stands for the channel.
            let scalar = Scalar { ty: Ty::Int, lo: 0, hi: i64::from(channel.capacity), wrap: false };
            leaves.push(Leaf { suffix: LENGTH.into(), shape: ty.shape.clone(), by: ty.by.clone(), scalar });
            leaves
        }
        _ => vec![Leaf { suffix: String::new(), shape: ty.shape.clone(), by: ty.by.clone(), scalar: ty.scalar }],
    }
}

pub(super) fn range_type(cx: &mut Context<'_>, wrap: bool, lo: Option<i64>, hi: Option<i64>, span: Span) -> Scalar {
    let (Some(lo), Some(hi)) = (lo, hi) else { return Scalar::ERROR };
    if lo > hi {
        let wrap = if wrap { " wrap" } else { "" };
        let diagnostic = Diagnostic::new("E0032", span, format!("the range {lo}..{hi} is empty"), "no value fits");
        let diagnostic = diagnostic.help(format!("the lower bound comes first: `int{wrap} ({hi}, {lo})`"));
        let is_plain = cx.source(span).starts_with("int") && cx.source(span).ends_with(')');
        cx.report(if is_plain { diagnostic.propose(span, format!("int{wrap} ({hi}, {lo})")) } else { diagnostic });
        return Scalar::ERROR;
    }
    Scalar { ty: Ty::Int, lo, hi, wrap }
}

/// Whether something is wrong with a record, which was reported: it has no fields, or fields without a type.
pub(super) fn is_broken(cx: &mut Context<'_>, record: usize) -> bool {
    let fields = fields_of(cx, record);
    fields.is_empty() || fields.iter().any(|(_, ty)| ty.scalar.ty == Ty::Error)
}

pub(super) fn named_type(cx: &mut Context<'_>, name: &ast::Name) -> Type {
    match cx.symbols.get(name.text.as_str()).map(|(symbol, _)| *symbol) {
        Some(Symbol::Alias(index)) => resolve_alias(cx, index),
        Some(Symbol::Enum(index)) => {
            let hi = (cx.enums[index].variants.len() as i64 - 1).max(0);
            Type::of(Scalar { ty: Ty::Enum(index), lo: 0, hi, wrap: false })
        }
        Some(Symbol::Record(index)) if is_broken(cx, index) => Type::ERROR,
        Some(Symbol::Record(index)) => {
            let scalar = Scalar { ty: Ty::Record(index), lo: 0, hi: 0, wrap: false };
            Type::of(scalar)
        }
        Some(Symbol::Ambiguous) => Type::ERROR,
        _ if name.text.is_empty() => Type::ERROR,
        Some(_) => {
            if let Some(mut diagnostic) = cx.misused(&name.text, name.span, "a type") {
                diagnostic.code = "E0023";
                if let Some((Symbol::Thread(_), _)) = cx.symbols.get(name.text.as_str()) {
                    let help = "an instance of a thread is known by its number, a `byte`";
                    diagnostic = diagnostic.help(help).propose(name.span, "byte");
                }
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
                Some(meant) => diagnostic.meant(meant),
                None => {
                    let help = "types are `boolean`, `byte`, `int (lo, hi)` and what `enum` declares";
                    cx.with_enumeration(diagnostic.help(help), &name.text)
                }
            };
            cx.report(diagnostic);
            Type::ERROR
        }
    }
}

/// What a type of another language is called here.
pub(super) fn foreign_type(name: &str) -> Option<&'static str> {
    Some(match name.to_ascii_lowercase().as_str() {
        "bool" | "bit" | "logical" => "boolean",
        "integer" | "int16" | "int32" | "int64" | "i16" | "i32" | "i64" | "short" | "long" | "number" => "int",
        "char" | "uint8" | "uint8_t" | "u8" | "octet" => "byte",
        _ => return None,
    })
}

pub(super) fn resolve_alias(cx: &mut Context<'_>, index: usize) -> Type {
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
pub(super) fn symmetric_type(cx: &mut Context<'_>, index: usize, resolved: &Type) -> Type {
    let alias = cx.aliases[index].0;
    if resolved.scalar.ty != Ty::Int || !resolved.shape.is_empty() || resolved.scalar.lo != 0 || resolved.scalar.wrap {
        let message = format!("the symmetric type `{}` must be a range from 0", alias.name.text);
        let help = format!("write `symmetric typealias {} int (0, N - 1);`", alias.name.text);
        cx.report(Diagnostic::new("E0053", alias.target.span, message, "not such a range").help(help));
        return Type::ERROR;
    }
    Type::of(Scalar { ty: Ty::Symmetric(index), ..resolved.scalar })
}

//! The mapping of a system to its specification: values over one state, arrays written out element by element.
//!
//! What the specification declares is not known here. Names, ranges and types are held against it by `birk refine`.

use birk_ir::{Mapped, Refinement, Span, ValueKind};

use crate::ast::{self, Item, MappedPart};
use crate::diagnostic::Diagnostic;
use crate::sema::const_eval::constant_int;
use crate::sema::context::Context;
use crate::sema::expression::Elaborator;
use crate::sema::types::{Ty, Value};

/// A mapping may have so many elements.
const MAX_MAPPED: usize = 4096;
const MAPS_NOTHING: &str = "map a global variable of the specification: `variable = expression;`";

/// The mapping of a system, if it has one.
pub(crate) fn lower(cx: &mut Context<'_>, system: &ast::System) -> Option<Refinement> {
    let mut written = system.items.iter().filter_map(|item| match item {
        Item::Refinement(refinement) => Some(refinement),
        _ => None,
    });
    let refinement = written.next()?;
    for other in written {
        let diagnostic = Diagnostic::new("E0058", other.name.span, "a system has one mapping", "a second one");
        let help = "keep one of them; a model that refines two specifications is two files";
        cx.report(diagnostic.related(refinement.name.span, "the first is here").help(help));
    }
    if refinement.mapped.is_empty() {
        let diagnostic = Diagnostic::new("E0058", refinement.name.span, "this mapping is empty", "maps nothing");
        cx.report(diagnostic.help(MAPS_NOTHING));
    }
    // What can go wrong in a mapping is no runtime error of the model.
    let faults = cx.faults.len();
    let mut mapped: Vec<Mapped> = Vec::new();
    for one in &refinement.mapped {
        elements(cx, one, &mut mapped);
    }
    cx.forget_faults(faults);
    Some(Refinement { name: refinement.name.text.clone(), mapped, span: refinement.span })
}

/// The values of one index, each with the binding of its name.
type Values<'m> = (Option<&'m str>, Vec<i64>);

fn elements(cx: &mut Context<'_>, one: &ast::Mapped, mapped: &mut Vec<Mapped>) {
    let mut name = one.variable.text.clone();
    let (mut indices, mut dots): (Vec<Values<'_>>, usize) = (Vec::new(), 0);
    for part in &one.parts {
        let values = match part {
            MappedPart::Field(field) => {
                // An index that is not the last part belongs to the name.
                name += &"[]".repeat(indices.len() - dots);
                name += &format!(".{}", field.text);
                dots = indices.len();
                continue;
            }
            MappedPart::At(index) => constant_int(cx, index, "an index").map(|index| (None, vec![index])),
            MappedPart::Each(name, lo, hi) => {
                let lo = constant_int(cx, lo, "a bound");
                let bounds = lo.zip(constant_int(cx, hi, "a bound"));
                let span = Span { end: one.place.end, ..name.span };
                bounds.filter(|bounds| fits(cx, *bounds, span)).map(|(lo, hi)| (Some(&*name.text), (lo..=hi).collect()))
            }
        };
        let Some(values) = values else { return };
        indices.push(values);
    }
    let total: usize = indices.iter().map(|(_, values)| values.len()).product();
    if mapped.len().saturating_add(total) > MAX_MAPPED {
        let message = format!("this mapping has more than {MAX_MAPPED} elements");
        cx.report(Diagnostic::new("E0039", one.place, message, "too many"));
        return;
    }
    for number in 0..total {
        let mut left = number;
        let mut place = vec![0; indices.len()];
        for (at, (_, values)) in indices.iter().enumerate().rev() {
            place[at] = values[left % values.len()];
            left /= values.len();
        }
        if let Some(earlier) = mapped.iter().find(|other| other.variable == name && other.indices == place) {
            let element: String = place.iter().map(|index| format!("[{index}]")).collect();
            let message = format!("`{name}{element}` is mapped twice");
            let diagnostic = Diagnostic::new("E0058", one.place, message, "mapped again here");
            cx.report(diagnostic.related(earlier.span, "first mapped here").help("remove one of them"));
            return;
        }
        let names: Vec<Option<&str>> = indices.iter().map(|(name, _)| *name).collect();
        match value(cx, one, &names, &place) {
            Some(found) => mapped.push(Mapped { variable: name.clone(), indices: place, ..found }),
            None => return,
        }
    }
}

fn fits(cx: &mut Context<'_>, (lo, hi): (i64, i64), span: Span) -> bool {
    let is_small = hi.checked_sub(lo).is_some_and(|more| more < MAX_MAPPED as i64);
    if hi < lo {
        let diagnostic = Diagnostic::new("E0058", span, "this range is empty", "maps nothing");
        cx.report(diagnostic.help(format!("{lo} .. {hi} has no value; the first bound is the smaller one")));
    } else if !is_small {
        let message = format!("this mapping has more than {MAX_MAPPED} elements");
        cx.report(Diagnostic::new("E0039", span, message, "too many"));
    }
    hi >= lo && is_small
}

/// The value of one element; nothing where it is wrong, which was reported.
fn value(cx: &mut Context<'_>, one: &ast::Mapped, names: &[Option<&str>], place: &[i64]) -> Option<Mapped> {
    let mut elaborator = Elaborator::new(cx, None);
    for (name, index) in names.iter().zip(place) {
        let bound = Value { fixed: false, ..Value::constant(*index, Ty::Int) };
        elaborator.bindings.extend(name.map(|name| (name.to_owned(), bound)));
    }
    let value = elaborator.value(&one.value);
    let values = match value.ty {
        Ty::Boolean => ValueKind::Boolean,
        Ty::Int | Ty::Symmetric(_) => ValueKind::Integer,
        Ty::Enum(index) => ValueKind::Names(cx.enums[index].variants.clone()),
        Ty::Set(lo, ..) => ValueKind::Set(lo),
        Ty::Record(_) | Ty::Collection(_) | Ty::Channel(_) | Ty::Error => return None,
    };
    let hazards = value.hazards.into_iter().filter(|hazard| hazard.when != birk_ir::Expr::FALSE);
    let hazards = hazards.map(|hazard| (hazard.when, cx.faults[hazard.fault.index()].message.clone())).collect();
    let (span, value_span) = (one.place, one.value.span);
    Some(Mapped { variable: String::new(), indices: Vec::new(), values, value: value.expr, hazards, span, value_span })
}

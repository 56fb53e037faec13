//! Constants and their overrides on the command line.

use birk_ir::Span;

use super::{define, no_duplicates};
use crate::diagnostic::{Diagnostic, list, nearest};
use crate::sema::context::{Constant, Context, Evaluated, Symbol};
use crate::sema::expression::Elaborator;
use crate::sema::types::{INT_MAX, INT_MIN, Ty, Value};
use crate::syntax::ast::{self};

pub(super) fn declare_constants<'a>(cx: &mut Context<'a>, constants: &'a ast::Constants) {
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

pub(super) fn evaluate_constants(cx: &mut Context<'_>) {
    for index in 0..cx.constants.len() {
        Elaborator::constant(cx).constant_value(index);
    }
}

/// `-D NAME=VALUE`: the constants keep their types, and those that depend on them follow.
pub(super) fn override_constants(cx: &mut Context<'_>, system: Span, overrides: &[(String, String)]) {
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

pub(super) fn parse_override(cx: &mut Context<'_>, index: usize, text: &str) -> Option<Value> {
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

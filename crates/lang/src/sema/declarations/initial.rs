//! What variables begin with: one value, or one of several, of which every combination is an initial state.

use birk_ir::{InitialChoice, Span, VarId};

use crate::diagnostic::Diagnostic;
use crate::edit;
use crate::sema::context::Context;
use crate::sema::expression::{Elaborator, Receiver};
use crate::sema::types::{Scalar, Ty, Type};
use crate::syntax::ast;

/// The most initial states of a model.
const MAX_INITIAL: usize = 1 << 16;

/// The initial values of a variable: one for all elements of an array, or a list with one for each.
pub(super) fn initial_values(cx: &mut Context<'_>, ty: &Type, initial: Option<&ast::Expr>, name: &str) -> Vec<i64> {
    let is_set = matches!(ty.scalar.ty, Ty::Set(..) | Ty::Record(_) | Ty::Collection(_) | Ty::Channel(_));
    let (Some(ast::Expr { kind: ast::ExprKind::Set(members), span, .. }), [length, rest @ ..], false) =
        (initial, &ty.shape[..], is_set)
    else {
        return vec![initial_value(cx, &ty.scalar, initial, name)];
    };
    if members.len() != *length as usize {
        let first = members.first().map_or("0".into(), |first| cx.source(first.span));
        let message = format!("`{name}` has {length} elements, and {} values are given", members.len());
        let help = format!("give each element a value, or one value for all: `{name} := {first};`");
        cx.report(Diagnostic::new("E0022", *span, message, "not one for each").help(help));
        return vec![cx.default_of(&ty.scalar)];
    }
    if matches!(ty.by.first(), Some(Some(_))) {
        let message = format!("the elements of `{name}` have no order, and cannot be listed");
        let help = "its index is of a symmetric type: give one value for all";
        cx.report(Diagnostic::new("E0022", *span, message, "a list").help(help));
    }
    let part = Type { scalar: ty.scalar, shape: rest.to_vec(), by: ty.by.iter().skip(1).copied().collect() };
    let count = rest.iter().product::<u32>() as usize;
    let mut values = Vec::new();
    for member in members {
        values.extend(initial_values(cx, &part, Some(member), name).into_iter().cycle().take(count));
    }
    values
}

/// What a variable, or each element of an array, may begin with, if that is chosen: in order, and none where it is wrong.
pub(super) fn initial_choice(cx: &mut Context<'_>, ty: &Type, initial: &ast::Expr, name: &str) -> Option<Vec<i64>> {
    let ast::ExprKind::Choose(parts) = &initial.kind else { return None };
    let scalar = &ty.scalar;
    if matches!(scalar.ty, Ty::Record(_) | Ty::Collection(_) | Ty::Channel(_)) {
        initial_value(cx, scalar, Some(initial), name);
        return Some(Vec::new());
    }
    let mut values = match &parts[..] {
        [low, high] => {
            if !matches!(scalar.ty, Ty::Int | Ty::Error) {
                let message = format!("`{name}` is {}, but a range has numbers", cx.type_name(scalar.ty));
                let diagnostic = Diagnostic::new("E0022", low.span.to(high.span), message, "numbers");
                let both = "choose({false, true})";
                cx.report(match scalar.ty {
                    Ty::Boolean => diagnostic.help(format!("write `{both}`")).propose(initial.span, both.to_owned()),
                    _ => diagnostic.help("write the values that it may begin with: `choose({a, b})`"),
                });
                return Some(Vec::new());
            }
            let (low, high) = (initial_value(cx, scalar, Some(low), name), initial_value(cx, scalar, Some(high), name));
            if low > high {
                let message = format!("a choice from the empty range {low}..{high}");
                let turned = format!("choose({high}, {low})");
                let diagnostic = Diagnostic::new("E0032", initial.span, message, "no value to choose");
                let help = format!("the lower bound comes first: `{turned}`");
                cx.report(diagnostic.help(help).propose(initial.span, turned));
            }
            if high.saturating_sub(low) >= MAX_INITIAL as i64 {
                too_many(cx, initial.span);
                return Some(Vec::new());
            }
            (low..=high).collect()
        }
        [ast::Expr { kind: ast::ExprKind::Set(members), .. }] => {
            if members.is_empty() {
                let message = "a choice from the empty set";
                cx.report(Diagnostic::new("E0032", initial.span, message, "no value to choose"));
            }
            members.iter().map(|member| initial_value(cx, scalar, Some(member), name)).collect::<Vec<_>>()
        }
        [set] => members_of(cx, scalar, set),
        _ => Vec::new(),
    };
    values.sort_unstable();
    values.dedup();
    Some(values)
}

/// The values of a symmetric type, or of a constant set.
fn members_of(cx: &mut Context<'_>, scalar: &Scalar, set: &ast::Expr) -> Vec<i64> {
    let mut elaborator = Elaborator::constant(cx);
    if let Some((ty, last)) = elaborator.symmetric(set)
        && ty == scalar.ty
    {
        return (0..=last).collect();
    }
    let value = elaborator.value(set);
    let value = elaborator.settle(value, set.span);
    let (Ty::Set(lo, hi, of), Some(bits)) = (value.ty, value.expr.as_const()) else {
        if value.ty != Ty::Error {
            let message = format!("`{}` is not a set", cx.source(set.span));
            let help = "choose from a set, or from a range: `choose(lo, hi)`";
            cx.report(Diagnostic::new("E0022", set.span, message, "expected a set").help(help));
        }
        return Vec::new();
    };
    let members: Vec<i64> = (lo..=hi).filter(|member| bits >> (member - lo) & 1 == 1).collect();
    let outside = members.iter().find(|member| !(scalar.lo..=scalar.hi).contains(member));
    if Ty::of_members(of) != scalar.ty || outside.is_some() || members.is_empty() {
        let message = format!("`{}` has members that cannot be chosen here", cx.source(set.span));
        let help = "write the values that it may begin with: `choose({a, b})`";
        cx.report(Diagnostic::new("E0022", set.span, message, "not all are values of the variable").help(help));
        return Vec::new();
    }
    members
}

/// Lets every element of a variable begin with one of these values, if there are not too many initial states.
pub(super) fn choose_initially(cx: &mut Context<'_>, variable: VarId, values: &[i64], span: Span) {
    if values.len() < 2 {
        return;
    }
    let elements = cx.variables[variable.index()].len();
    let before = cx.choices.iter().map(|choice| choice.values.len());
    let all = before.chain((0..elements).map(|_| values.len())).try_fold(1usize, usize::checked_mul);
    if all.is_none_or(|all| all > MAX_INITIAL) {
        return too_many(cx, span);
    }
    let choices = (0..elements).map(|element| InitialChoice { variable, element, values: values.to_vec() });
    cx.choices.extend(choices);
}

fn too_many(cx: &mut Context<'_>, span: Span) {
    let message = "too many initial states";
    let help =
        format!("at most {MAX_INITIAL} combinations of initial values are possible; choose the rest in a first step");
    cx.report(Diagnostic::new("E0039", span, message, "chosen among too many").help(help));
}

/// The initial value of a variable, or of all elements of an array.
fn initial_value(cx: &mut Context<'_>, scalar: &Scalar, initial: Option<&ast::Expr>, name: &str) -> i64 {
    let Some(expr) = initial else { return cx.default_of(scalar) };
    if matches!(scalar.ty, Ty::Record(_) | Ty::Collection(_) | Ty::Channel(_)) {
        let message = format!("`{name}` has no initial value of its own");
        let help = "its parts begin with the defaults of their types; assign to it in a first step";
        let diagnostic = Diagnostic::new("E0052", expr.span, message, "leave it out").help(help);
        let initial = cx.text(expr.span).and_then(|text| edit::initial(text, expr.span));
        cx.report(cx.without(diagnostic, initial));
        return 0;
    }
    let mut elaborator = Elaborator::constant(cx);
    let value = elaborator.value_as(expr, scalar.ty);
    let value = elaborator.settle(value, expr.span);
    let what = format!("`{name}`");
    let receiver = Receiver { what: &what, value: expr.span, whole: expr.span, declared: None };
    let value = elaborator.convert(value, scalar, &receiver);
    value.expr.as_const().filter(|_| value.ty != Ty::Error).unwrap_or_else(|| cx.default_of(scalar))
}

//! Break the rule, see the check fail, in programs: their checks, ends, operators and operations are broken one by one.
//! What a search would find in the broken program, or what the tree means, must tell.

use birk_exec::Interpreter;
use birk_ir::{BinaryOp, Expr, FaultKind, FoldOp, Op, Program, UnaryOp, VarRole};

use crate::mutants::{Mutant, all_noticed, checked_model, mutant, programs};
use birk_agreement::case::{Case, goals_of};
use birk_agreement::check::Checked;
use birk_agreement::faithful::faithful;

fn checked_program(case: &Case, change: &dyn Fn(&mut Program)) -> Checked {
    let mut program = case.program.clone();
    change(&mut program);
    let goals = goals_of(&program);
    checked_model(case, &Interpreter::new(&program, &goals))
}

/// A changed program against the meaning of the tree.
fn meant(case: &Case, change: &dyn Fn(&mut Program)) -> Checked {
    let mut program = case.program.clone();
    change(&mut program);
    faithful(&case.system, &program, &case.answer)
}

#[test]
fn unbroken_programs_pass() {
    for case in programs() {
        checked_program(&case, &|_| {}).unwrap();
        meant(&case, &|program| bend(program, &|_| {})).unwrap();
    }
}

pub(crate) const FAULTS: [FaultKind; 7] = [
    FaultKind::Assertion,
    FaultKind::Range,
    FaultKind::Index,
    FaultKind::Overflow,
    FaultKind::DivisionByZero,
    FaultKind::Start,
    FaultKind::EmptyChoice,
];

/// Removes the checks of a kind, or turns them round.
fn without_checks(program: &mut Program, kind: FaultKind, inverted: bool) {
    let faults = program.faults.clone();
    for transition in &mut program.transitions {
        for op in &mut transition.ops {
            if let Op::Check(condition, fault) = op
                && faults[fault.index()].kind == kind
            {
                *condition = if inverted { condition.clone().negate() } else { Expr::TRUE };
            }
        }
    }
}

#[test]
fn broken_rules_of_programs_are_noticed() {
    let mut mutants = vec![
        mutant("a proper end is a deadlock and the reverse", |case: &Case| {
            checked_program(case, &|program| program.valid_end = program.valid_end.clone().negate())
        }),
        mutant("every end is proper", |case| checked_program(case, &|program| program.valid_end = Expr::TRUE)),
        mutant("no end is proper", |case| checked_program(case, &|program| program.valid_end = Expr::FALSE)),
        mutant("faults in properties are ignored", |case| checked_program(case, &|p| p.property_faults.clear())),
    ];
    for kind in FAULTS {
        for inverted in [false, true] {
            let change = move |program: &mut Program| without_checks(program, kind, inverted);
            let name = format!("checks of {kind:?} {}", if inverted { "turned round" } else { "removed" });
            mutants.push(mutant(name.clone(), move |case| checked_program(case, &change)));
            mutants.push(mutant(format!("{name}, seen by the meaning"), move |case| meant(case, &change)));
        }
    }
    all_noticed(&mutants);
}

/// Applies a rule to every expression of every step.
fn bend(program: &mut Program, rule: &dyn Fn(&mut Expr)) {
    for transition in &mut program.transitions {
        bend_expr(&mut transition.guard, rule);
        for op in &mut transition.ops {
            match op {
                Op::Assign(place, value) => {
                    place.index.iter_mut().for_each(|index| bend_expr(index, rule));
                    bend_expr(value, rule);
                }
                Op::Let(_, expr) | Op::Check(expr, _) | Op::Assume(expr) | Op::Require(expr) => bend_expr(expr, rule),
                Op::Choose(_, lo, hi) => {
                    bend_expr(lo, rule);
                    bend_expr(hi, rule);
                }
            }
        }
    }
}

fn bend_expr(expr: &mut Expr, rule: &dyn Fn(&mut Expr)) {
    match expr {
        Expr::Const(_) | Expr::Var(_) | Expr::Local(_) | Expr::Stuck => {}
        Expr::Element(_, a) | Expr::Unary(_, a) | Expr::Wrap(a, _, _) => bend_expr(a, rule),
        Expr::Binary(_, parts) | Expr::Let { parts, .. } => {
            bend_expr(&mut parts.0, rule);
            bend_expr(&mut parts.1, rule);
        }
        Expr::If(parts) | Expr::Fold { parts, .. } => {
            bend_expr(&mut parts.0, rule);
            bend_expr(&mut parts.1, rule);
            bend_expr(&mut parts.2, rule);
        }
    }
    rule(expr);
}

/// How an expression is broken.
type Rule = fn(&mut Expr);

/// Puts one operator in place of another.
fn instead(of: BinaryOp, other: BinaryOp) -> impl Fn(&mut Expr) {
    move |expr| match expr {
        Expr::Binary(op, _) if *op == of => *op = other,
        _ => {}
    }
}

#[test]
fn broken_operators_are_noticed_by_the_meaning() {
    use BinaryOp::{Add, And, Div, Eq, Ge, Gt, Le, Lt, Mul, Ne, Or, Rem, Sub};
    let swaps = [
        (Add, Sub),
        (Sub, Add),
        (Mul, Add),
        (Div, Mul),
        (Rem, Div),
        (Lt, Le),
        (Le, Lt),
        (Gt, Ge),
        (Ge, Gt),
        (Eq, Ne),
        (Ne, Eq),
        (And, Or),
        (Or, And),
    ];
    let mut mutants: Vec<Mutant<'_>> = Vec::new();
    for (of, other) in swaps {
        let rule = instead(of, other);
        mutants.push(mutant(format!("{other:?} for {of:?}"), move |case| meant(case, &|p| bend(p, &rule))));
    }
    let rules: [(&str, Rule); 6] = [
        ("! does nothing", |expr| {
            if let Expr::Unary(UnaryOp::Not, inner) = expr {
                *expr = (**inner).clone();
            }
        }),
        ("- does nothing", |expr| {
            if let Expr::Unary(UnaryOp::Neg, inner) = expr {
                *expr = (**inner).clone();
            }
        }),
        ("the branches of ?: are swapped", |expr| {
            if let Expr::If(parts) = expr {
                let (condition, yes, no) = (**parts).clone();
                **parts = (condition, no, yes);
            }
        }),
        ("forall is exists and the reverse", |expr| {
            if let Expr::Fold { op, .. } = expr {
                *op = if *op == FoldOp::All { FoldOp::Any } else { FoldOp::All };
            }
        }),
        ("quantifiers leave out the last value", |expr| {
            if let Expr::Fold { parts, .. } = expr {
                parts.1 = Expr::binary(BinaryOp::Sub, parts.1.clone(), Expr::Const(1));
            }
        }),
        ("wrapping stops at the bound", |expr| {
            if let Expr::Wrap(inner, lo, hi) = expr {
                let above = Expr::binary(BinaryOp::Gt, (**inner).clone(), Expr::Const(*hi));
                let below = Expr::binary(BinaryOp::Lt, (**inner).clone(), Expr::Const(*lo));
                let kept = Expr::choose(below, Expr::Const(*lo), (**inner).clone());
                *expr = Expr::choose(above, Expr::Const(*hi), kept);
            }
        }),
    ];
    for (name, rule) in rules {
        mutants.push(mutant(name, move |case| meant(case, &|program| bend(program, &rule))));
    }
    all_noticed(&mutants);
}

#[test]
fn broken_operations_are_noticed_by_the_meaning() {
    let dropping = |wanted: fn(&Program, &Op) -> bool| {
        move |program: &mut Program| {
            let before = program.clone();
            for transition in &mut program.transitions {
                transition.ops.retain(|op| !wanted(&before, op));
            }
        }
    };
    let ends = dropping(|program, op| match written(program, op) {
        Some((VarRole::Counter(kind), Some(value))) => value == program.kinds[kind].idle(),
        _ => false,
    });
    let resets = |program: &mut Program| {
        let before = program.clone();
        for transition in program.transitions.iter_mut().filter(|transition| transition.target.is_none()) {
            transition.ops.retain(|op| !matches!(written(&before, op), Some((VarRole::Local(_), Some(_)))));
        }
    };
    let last_copy = |program: &mut Program| bend(program, &swap_constants_of_start);
    let choices = |program: &mut Program| {
        for op in program.transitions.iter_mut().flat_map(|transition| &mut transition.ops) {
            if let Op::Choose(_, lo, hi) = op {
                *hi = lo.clone();
            }
        }
    };
    all_noticed(&[
        mutant("return does not end", |case| meant(case, &ends)),
        mutant("return does not reset", |case| meant(case, &resets)),
        mutant("start takes another copy", |case| meant(case, &last_copy)),
        mutant("choose takes the first value only", |case| meant(case, &choices)),
        mutant("assume does nothing", |case| meant(case, &dropping(|_, op| matches!(op, Op::Assume(_))))),
        mutant("guards are ignored", |case| {
            meant(case, &|program| program.transitions.iter_mut().for_each(|t| t.guard = Expr::TRUE))
        }),
    ]);
}

/// What kind of variable an operation writes, and the value where it is constant.
fn written(program: &Program, op: &Op) -> Option<(VarRole, Option<i64>)> {
    match op {
        Op::Assign(place, value) => Some((program.variable(place.variable).role, value.as_const())),
        _ => None,
    }
}

/// `start` picks its copy by a chain of conditions with constant results: `T@[0] is free ? 0 : 1`.
fn swap_constants_of_start(expr: &mut Expr) {
    if let Expr::If(parts) = expr
        && let (Expr::Const(yes), Expr::Const(no)) = (&parts.1, &parts.2)
    {
        (parts.1, parts.2) = (Expr::Const(*no), Expr::Const(*yes));
    }
}

//! Bounds against all values between them, and small programs by hand.

use super::*;
use crate::ids::{FaultId, LocationId, Span, ThreadId};
use crate::layout::{Layout, Shape};
use crate::program::{ValueKind, VarRole, Variable};

const UNARY: [UnaryOp; 3] = [UnaryOp::Not, UnaryOp::Neg, UnaryOp::Ones];
const BINARY: [BinaryOp; 17] = [
    BinaryOp::Add,
    BinaryOp::Sub,
    BinaryOp::Mul,
    BinaryOp::Div,
    BinaryOp::Rem,
    BinaryOp::Eq,
    BinaryOp::Ne,
    BinaryOp::Lt,
    BinaryOp::Le,
    BinaryOp::Gt,
    BinaryOp::Ge,
    BinaryOp::And,
    BinaryOp::Or,
    BinaryOp::BitAnd,
    BinaryOp::BitOr,
    BinaryOp::Shl,
    BinaryOp::Shr,
];

const X: VarId = VarId(0);
const Y: VarId = VarId(1);
const ARRAY: VarId = VarId(2);
const FAULT: VarId = VarId(3);
const CHOSEN: LocalId = LocalId(0);

/// All intervals between two of these values.
fn intervals(ends: &[i64]) -> Vec<Interval> {
    let all = ends.iter().flat_map(|&lo| ends.iter().map(move |&hi| (lo, hi)));
    all.filter(|(lo, hi)| lo <= hi).collect()
}

/// Bounds hold for these values of an interval.
fn hold(intervals: &[Interval], values: impl Fn(Interval) -> Vec<i64>, check: impl Fn(BinaryOp, &[i64], Interval)) {
    for &left in intervals {
        for op in UNARY {
            let (lo, hi) = unary(op, left);
            assert!(values(left).iter().all(|&a| (lo..=hi).contains(&op.apply(a))), "{op:?} {left:?}");
        }
        for &right in intervals {
            let (left_values, right_values) = (values(left), values(right));
            for op in BINARY {
                let (lo, hi) = binary(op, left, right);
                let pairs = left_values.iter().flat_map(|&a| right_values.iter().map(move |&b| (a, b)));
                let results: Vec<i64> = pairs.map(|(a, b)| op.apply(a, b)).collect();
                let wrong = results.iter().find(|result| !(lo..=hi).contains(*result));
                assert_eq!(wrong, None, "{op:?} of {left:?} and {right:?} is between {lo} and {hi}");
                check(op, &results, (lo, hi));
            }
        }
    }
}

#[test]
fn bounds_hold_and_those_of_arithmetic_are_reached() {
    let ends: Vec<i64> = (-5..=5).collect();
    hold(
        &intervals(&ends),
        |(lo, hi)| (lo..=hi).collect(),
        |op, results, bounds| {
            let reached = (*results.iter().min().expect("some"), *results.iter().max().expect("some"));
            if matches!(op, BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div) {
                assert_eq!(bounds, reached, "{op:?}");
            }
        },
    );
}

#[test]
fn bounds_hold_where_64_bits_wrap() {
    let ends = [i64::MIN, i64::MIN + 1, -(1 << 32), -1, 0, 1, 63, 64, 1 << 32, i64::MAX - 1, i64::MAX];
    let inside = |(lo, hi): Interval| ends.into_iter().filter(|value| (lo..=hi).contains(value)).collect();
    hold(&intervals(&ends), inside, |_, _, _| {});
}

fn variable(name: &str, role: VarRole, hi: i64, shape: Vec<u32>) -> Variable {
    let initial = vec![0; shape.iter().product::<u32>() as usize];
    Variable { name: name.into(), role, lo: 0, hi, shape, values: ValueKind::Integer, initial, span: Span::default() }
}

/// One transition over `x` and `y` from 0 to 100 and an array of two digits.
fn program(ops: Vec<Op>) -> Program {
    let variables = vec![
        variable("x", VarRole::Global, 100, Vec::new()),
        variable("y", VarRole::Global, 100, Vec::new()),
        variable("a", VarRole::Global, 9, vec![2]),
        variable("fault", VarRole::Fault, 1, Vec::new()),
    ];
    let shapes: Vec<Shape> = variables.iter().map(|v| Shape { lo: v.lo, hi: v.hi, len: v.len() }).collect();
    let transition = Transition {
        thread: ThreadId(0),
        location: LocationId(0),
        ordinal: 0,
        target: None,
        span: Span::default(),
        guard_span: None,
        parts: Vec::new(),
        guard: Expr::TRUE,
        ops,
        locals: 1,
        fair: None,
        then: None,
        receiver: None,
    };
    Program {
        system: "S".into(),
        constants: Vec::new(),
        channels: Vec::new(),
        layout: Layout::pack(&shapes),
        variables,
        kinds: Vec::new(),
        threads: Vec::new(),
        transitions: vec![transition],
        faults: Vec::new(),
        fault: Some(FAULT),
        property_faults: Vec::new(),
        choices: Vec::new(),
        valid_end: Expr::TRUE,
        properties: Vec::new(),
    }
}

fn set(variable: VarId, value: Expr) -> Op {
    Op::Assign(Place { variable, index: None }, value)
}

fn number(value: i64) -> Expr {
    Expr::Const(value)
}

fn two(op: BinaryOp, left: Expr, right: Expr) -> Expr {
    Expr::Binary(op, Box::new((left, right)))
}

/// The bounds of `x`, and of what is chosen.
fn reached(ops: Vec<Op>) -> (Interval, Vec<Interval>) {
    let Reachable { variables, choices } = reachable(&program(ops));
    (variables[X.index()], choices[0].clone())
}

#[test]
fn what_a_step_overwrites_is_in_no_state() {
    let half = two(BinaryOp::Div, Expr::Var(X), number(2));
    assert_eq!(reached(vec![set(X, number(50)), set(Y, half), set(X, number(3))]).0, (0, 3));
    let tenth = two(BinaryOp::Div, Expr::Var(X), number(10));
    assert_eq!(reached(vec![set(X, number(50)), set(X, tenth)]).0, (0, 5), "what it wrote is what it reads");
}

#[test]
fn what_stands_when_a_check_fails_is_in_a_state() {
    let check = Op::Check(two(BinaryOp::Lt, Expr::Var(Y), number(7)), FaultId(0));
    assert_eq!(reached(vec![set(X, number(50)), check, set(X, number(3))]).0, (0, 50));
}

#[test]
fn choices_have_the_bounds_of_their_bounds() {
    let choose = Op::Choose(CHOSEN, number(2), number(7));
    assert_eq!(reached(vec![choose, set(X, Expr::Local(CHOSEN))]), ((0, 7), vec![(2, 7)]));
    let none = Op::Choose(CHOSEN, number(7), number(2));
    assert_eq!(reached(vec![none, set(X, Expr::Local(CHOSEN))]), ((0, 0), Vec::new()), "nothing can be chosen");
}

#[test]
fn what_grows_ends_at_the_bounds_of_its_type() {
    let more = two(BinaryOp::Add, Expr::Var(X), number(1));
    assert_eq!(reached(vec![set(X, more)]).0, (0, 100));
    let both = vec![set(X, two(BinaryOp::Add, Expr::Var(Y), number(1))), set(Y, Expr::Var(X))];
    assert_eq!(reached(both).0, (0, 100));
}

/// The bounds of an expression from the types of variables.
fn declared(expr: &Expr) -> Interval {
    let program = program(Vec::new());
    of(expr, &Declared::new(&program))
}

#[test]
fn reading_outside_of_an_array_gives_0() {
    let mut program = program(Vec::new());
    program.variables[ARRAY.index()].lo = 4;
    let at = |index: Expr| of(&Expr::element(ARRAY, index), &Declared::new(&program));
    assert_eq!(at(number(1)), (4, 9));
    assert_eq!(at(number(2)), (0, 0));
    assert_eq!(at(two(BinaryOp::Rem, Expr::Var(X), number(2))), (4, 9), "an index that is always inside");
    assert_eq!(at(Expr::Var(X)), (0, 9));
}

#[test]
fn a_condition_that_is_known_decides() {
    let either = |condition: Expr| declared(&Expr::If(Box::new((condition, number(3), number(8)))));
    assert_eq!(either(Expr::Var(X)), (3, 8));
    assert_eq!(either(two(BinaryOp::Add, Expr::Var(X), number(1))), (3, 3));
    assert_eq!(either(two(BinaryOp::Mul, Expr::Var(X), number(0))), (8, 8));
}

#[test]
fn what_an_expression_binds_hides_what_was_bound_before() {
    let inner = Expr::Let { local: CHOSEN, parts: Box::new((number(5), Expr::Local(CHOSEN))) };
    let sum = two(BinaryOp::Add, inner, Expr::Local(CHOSEN));
    let outer = Expr::Let { local: CHOSEN, parts: Box::new((Expr::Var(Y), sum)) };
    assert_eq!(declared(&outer), (5, 105));
    assert_eq!(declared(&Expr::Local(CHOSEN)), ANY, "nobody has bound it");
}

#[test]
fn folds_have_the_bounds_of_their_rounds() {
    let fold = |op: FoldOp, hi: i64, body: Expr| {
        declared(&Expr::Fold { op, local: CHOSEN, parts: Box::new((number(1), number(hi), body)) })
    };
    assert_eq!(fold(FoldOp::Count, 4, Expr::Var(X)), (0, 4));
    assert_eq!(fold(FoldOp::Sum, 4, Expr::Local(CHOSEN)), (0, 16));
    assert_eq!(fold(FoldOp::Sum, 4, number(-2)), (-8, 0));
    assert_eq!(fold(FoldOp::All, 0, Expr::Var(X)), (1, 1), "without a round");
    assert_eq!(fold(FoldOp::Sum, 0, Expr::Var(X)), (0, 0), "without a round");
}

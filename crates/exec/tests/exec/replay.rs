//! Replay: runs that fit are walked, runs that do not are refused at the right step, and what a run claims must show.
//!
//! The program is built by hand, as the lowering would build it:
//!
//! ```text
//! int (0, 3) x;
//! active thread T() {
//!   loc a: do { x := choose(0, 3); assume x != 1; } goto b;
//!   loc b: when x == 0 do { } goto a;   when x == 2 do { assert x != 2; } goto a;   when x == 3 do { } goto c;
//!   loc c: end when x == 2 do { } goto d;   do { x := 2; } goto d;   do { x := 1; } goto d;   do { x := 0; } goto d;
//!   loc d: when x == 2 do { assume false; } goto d;   when x == 1 do { } return;
//! }
//! ```

use birk_engine::{Model as _, Successors};
use birk_exec::replay::{Replayed, replay, replay_ordinals, replay_states};
use birk_exec::{Interpreter, reference};
use birk_ir::layout::Shape;
use birk_ir::{
    BinaryOp, Expr, Fault, FaultId, FaultKind, Formula, Layout, LocalId, Location, LocationId, Op, Place, Program,
    Property, PropertyKind, Span, Step, Thread, ThreadId, ThreadKind, ThreadRole, Trace, Transition, TransitionId,
    ValueKind, VarId, VarRole, Variable,
};

const X: VarId = VarId(0);
const COUNTER: VarId = VarId(1);
const FAULT: VarId = VarId(2);
const A: u32 = 0;
const B: u32 = 1;
const C: u32 = 2;
const D: u32 = 3;
const ASSERTION: FaultId = FaultId(0);
const IN_PROPERTY: FaultId = FaultId(1);

/// Transitions and choices.
type Steps = [(u32, u32)];

/// From which location, when, what, and to which location (or the end).
type Written = (u32, Expr, Vec<Op>, Option<u32>);

fn x_is(value: i64) -> Expr {
    Expr::Var(X).equals(value)
}

fn assign(value: Expr) -> Op {
    Op::Assign(Place { variable: X, index: None }, value)
}

fn written() -> Vec<Written> {
    let chosen = Expr::Local(LocalId(0));
    let choose = Op::Choose(LocalId(0), Expr::Const(0), Expr::Const(3));
    let some = vec![choose, assign(chosen), Op::Assume(x_is(1).negate())];
    vec![
        (A, Expr::TRUE, some, Some(B)),
        (B, x_is(0), vec![], Some(A)),
        (B, x_is(2), vec![Op::Check(x_is(2).negate(), ASSERTION)], Some(A)),
        (B, x_is(3), vec![], Some(C)),
        (C, x_is(2), vec![], Some(D)),
        (C, Expr::TRUE, vec![assign(Expr::Const(2))], Some(D)),
        (C, Expr::TRUE, vec![assign(Expr::Const(1))], Some(D)),
        (C, Expr::TRUE, vec![assign(Expr::Const(0))], Some(D)),
        (D, x_is(2), vec![Op::Assume(Expr::FALSE)], Some(D)),
        (D, x_is(1), vec![], None),
    ]
}

fn transition(at: usize, (from, guard, mut ops, to): Written, all: &[Written]) -> Transition {
    let ordinal = all[..at].iter().filter(|(other, ..)| *other == from).count() as u32;
    let place = Place { variable: COUNTER, index: Some(Expr::Const(0)) };
    ops.push(Op::Assign(place, Expr::Const(to.map_or(4, i64::from))));
    Transition {
        thread: ThreadId(0),
        location: LocationId(from),
        ordinal,
        target: to.map(LocationId),
        span: Span::default(),
        guard_span: None,
        parts: Vec::new(),
        guard,
        ops,
        locals: 1,
        fair: None,
        receiver: None,
        then: None,
    }
}

fn variable(name: &str, role: VarRole, hi: i64, shape: Vec<u32>) -> Variable {
    let values = ValueKind::Integer;
    Variable { name: name.into(), role, lo: 0, hi, shape, values, initial: vec![0], span: Span::default() }
}

fn location(name: &str, end: bool) -> Location {
    Location { name: name.into(), span: Span::default(), end, accept: false, progress: false }
}

fn property(name: &str, kind: PropertyKind) -> Property {
    Property { name: name.into(), kind, span: None }
}

/// `x == 3` in a property goes wrong, too.
fn program() -> Program {
    let written = written();
    let transitions: Vec<Transition> =
        written.iter().enumerate().map(|(at, step)| transition(at, step.clone(), &written)).collect();
    let first = |from: u32| written.iter().filter(|(other, ..)| *other < from).count() as u32;
    let variables = vec![
        variable("x", VarRole::Global, 3, Vec::new()),
        variable("T@", VarRole::Counter(0), 4, vec![1]),
        variable("fault", VarRole::Fault, 1, Vec::new()),
    ];
    let shapes: Vec<Shape> = variables.iter().map(|v| Shape { lo: v.lo, hi: v.hi, len: v.len() }).collect();
    let fault = |kind| Fault { kind, message: String::new(), span: Span::default() };
    let here = Expr::element(COUNTER, Expr::Const(0));
    Program {
        system: "ByHand".into(),
        constants: Vec::new(),
        variables,
        channels: Vec::new(),
        layout: Layout::pack(&shapes),
        kinds: vec![ThreadKind {
            name: "T".into(),
            role: ThreadRole::Thread,
            span: Span::default(),
            locations: vec![location("a", false), location("b", false), location("c", true), location("d", false)],
            counter: COUNTER,
            copies: 1,
            indexed: false,
            fair: false,
            crashed: None,
        }],
        threads: vec![Thread {
            name: "T".into(),
            kind: 0,
            copy: 0,
            at: (0..4).map(|location| (first(location), first(location + 1))).collect(),
        }],
        transitions,
        faults: vec![fault(FaultKind::Assertion), fault(FaultKind::DivisionByZero)],
        fault: Some(FAULT),
        property_faults: vec![(x_is(3), IN_PROPERTY)],
        choices: Vec::new(),
        valid_end: here.clone().equals(i64::from(C)).or(here.equals(4)),
        properties: vec![
            property("deadlock", PropertyKind::Deadlock),
            property("fault", PropertyKind::Fault),
            property("small", PropertyKind::Invariant(Expr::binary(BinaryOp::Le, Expr::Var(X), Expr::Const(1)))),
            property("two", PropertyKind::Reachable(x_is(2))),
            property("formula", PropertyKind::Ltl(Formula::Atom(Expr::TRUE))),
        ],
    }
}

/// A trace by transition and choice.
fn trace(steps: &Steps) -> Trace {
    let step = |&(transition, choice)| Step { transition: TransitionId(transition), choice };
    Trace { initial: 0, steps: steps.iter().map(step).collect(), loop_start: None }
}

fn walked(steps: &Steps) -> Replayed {
    replay(&program(), &trace(steps)).expect("this run fits")
}

/// The value of `x` in each state, and where the thread is.
fn seen(run: &Replayed) -> Vec<(i64, i64)> {
    let program = program();
    let value = |variable, state: &Vec<u32>| program.layout.slot(variable).get(state, 0);
    run.states.iter().map(|state| (value(X, state), value(COUNTER, state))).collect()
}

#[test]
fn runs_that_fit_are_walked() {
    assert_eq!(seen(&walked(&[])), [(0, 0)]);
    assert_eq!(seen(&walked(&[(0, 0), (1, 0), (0, 2), (3, 0)])), [(0, 0), (0, 1), (0, 0), (3, 1), (3, 2)]);
    // The outcome that is cut does not count: the second choice is 2.
    assert_eq!(seen(&walked(&[(0, 1)])), [(0, 0), (2, 1)]);
    assert_eq!(walked(&[(0, 2), (3, 0), (6, 0)]).ordinals, [2, 0, 1]);
}

/// Steps that do not fit, where that is noticed, and what is said about it.
#[test]
fn runs_that_do_not_fit_are_refused_at_the_step() {
    let cases: &[(&Steps, usize, &str)] = &[
        (&[(1, 0)], 0, "T.b #1 is not enabled"),
        (&[(0, 0), (0, 0)], 1, "T.a is not enabled"),
        (&[(0, 0), (2, 0)], 1, "T.b #2 is not enabled"),
        (&[(0, 3)], 0, "T.a is not enabled"),
        (&[(0, 0), (1, 1)], 1, "T.b #1 is not enabled"),
        (&[(0, 0), (1, 0), (0, 1), (3, 0)], 3, "T.b #3 is not enabled"),
        (&[(0, 0), (99, 0)], 1, "transition 99 is not enabled"),
        // Nothing follows the result of a failing check, nor an outcome that is cut, nor the end of the thread.
        (&[(0, 1), (2, 0), (0, 0)], 2, "T.a is not enabled"),
        (&[(0, 2), (3, 0), (5, 0), (8, 0)], 3, "T.d #1 is not enabled"),
        (&[(0, 2), (3, 0), (6, 0), (9, 0), (0, 0)], 4, "T.a is not enabled"),
    ];
    for (steps, at, reason) in cases {
        let error = replay(&program(), &trace(steps)).expect_err("this run does not fit");
        assert_eq!((error.step, error.reason.as_str()), (*at, *reason), "{steps:?}");
        assert_eq!(error.to_string(), format!("step {}: {reason}", at + 1));
    }
}

#[test]
fn initial_states_that_do_not_exist_are_refused() {
    let elsewhere = Trace { initial: 1, ..trace(&[(0, 0)]) };
    let error = replay(&program(), &elsewhere).unwrap_err();
    assert_eq!((error.step, error.reason.as_str()), (0, "there is no initial state 1"));
    assert_eq!(replay_ordinals(&program(), 1, &[], None).unwrap_err(), error);
}

#[test]
fn ordinals_that_do_not_exist_are_refused() {
    let error = replay_ordinals(&program(), 0, &[0, 0, 3], None).unwrap_err();
    assert_eq!((error.step, error.reason.as_str()), (2, "no successor 3, there are 3"));
    let error = replay_ordinals(&program(), 0, &[1, 0, 0], None).unwrap_err();
    assert_eq!((error.step, error.reason.as_str()), (2, "no successor 0, there are 0"));
}

#[test]
fn runs_by_states_take_the_first_step_that_fits() {
    let program = program();
    let value = |state: &[u32]| program.layout.slot(X).get(state, 0);
    let wanted = [0, 3, 3, 0];
    let run = replay_states(&program, 3, |at, state| value(state) == wanted[at]).unwrap();
    assert_eq!(run.trace(), trace(&[(0, 2), (3, 0), (7, 0)]));
    let error = replay_states(&program, 2, |at, state| value(state) == [0, 2, 3][at]).unwrap_err();
    assert_eq!((error.step, error.reason.as_str()), (1, "no step leads to the state that the trace shows next"));
}

/// All runs of at most this many steps.
fn all_runs(program: &Program, length: usize) -> Vec<Trace> {
    let model = Interpreter::new(program, &[]);
    let mut batch = Successors::new(model.words());
    let mut runs = vec![(trace(&[]), program.initial_state())];
    let mut at = 0;
    while at < runs.len() {
        let (run, state) = runs[at].clone();
        at += 1;
        if run.steps.len() == length {
            continue;
        }
        batch.clear();
        model.successors(&state, &mut batch);
        for i in 0..batch.len() {
            let mut longer = run.clone();
            longer.steps.push(batch.step(i));
            runs.push((longer, batch.state(i).to_vec()));
        }
    }
    runs.into_iter().map(|(run, _)| run).collect()
}

#[test]
fn ordinals_are_another_way_to_write_a_run() {
    let program = program();
    let runs = all_runs(&program, 6);
    assert_eq!(runs.len(), 27);
    for run in runs {
        let first = replay(&program, &run).expect("a run of the program fits");
        let second = replay_ordinals(&program, 0, &first.ordinals, None).expect("so do its ordinals");
        assert_eq!((first.trace(), &first.states), (run, &second.states));
        assert_eq!((first.steps, first.ordinals, first.fault), (second.steps, second.ordinals, second.fault));
    }
}

/// What each run shows, property by property: deadlock, fault, small, two, formula.
#[test]
fn a_run_must_show_what_it_claims() {
    const NOTHING: [bool; 5] = [false; 5];
    let cases: &[(&Steps, [bool; 5])] = &[
        (&[], NOTHING),
        (&[(0, 0)], NOTHING),
        (&[(0, 1)], [false, false, true, true, false]),
        // A failing check: only the fault is shown, although x is still 2.
        (&[(0, 1), (2, 0)], [false, true, false, false, false]),
        // The invariant is broken, and the property goes wrong.
        (&[(0, 2)], [false, true, true, false, false]),
        // Everything that could be done is cut: no deadlock.
        (&[(0, 2), (3, 0), (5, 0)], [false, false, true, true, false]),
        // Stuck at a location that is no end.
        (&[(0, 2), (3, 0), (7, 0)], [true, false, false, false, false]),
        // All threads have ended.
        (&[(0, 2), (3, 0), (6, 0), (9, 0)], NOTHING),
    ];
    let program = program();
    for (steps, shows) in cases {
        let run = walked(steps);
        for (property, shows) in program.properties.iter().zip(shows) {
            match run.confirm(&program, property) {
                Ok(()) => assert!(shows, "{steps:?} does not show `{}`", property.name),
                Err(error) => {
                    assert!(!shows, "{steps:?} shows `{}`", property.name);
                    let reason = match property.kind {
                        PropertyKind::Ltl(_) => "the trace has no loop".to_owned(),
                        _ => format!("the last state does not decide `{}`", property.name),
                    };
                    assert_eq!((error.step, error.reason), (steps.len().saturating_sub(1), reason));
                }
            }
        }
    }
}

fn not(formula: Formula) -> Formula {
    Formula::Not(Box::new(formula))
}

/// A formula is evaluated on the states of the run, and only if the run repeats.
#[test]
fn formulas_are_evaluated_on_runs_that_repeat() {
    use Formula::{Always, Eventually, Next, Release, Until, WeakUntil};
    let at = |location: u32| {
        let here = Expr::element(COUNTER, Expr::Const(0)).equals(i64::from(location));
        Formula::Atom(here)
    };
    let one = |make: fn(Box<Formula>) -> Formula, formula| make(Box::new(formula));
    let two = |make: fn(Box<(Formula, Formula)>) -> Formula, a, b| make(Box::new((a, b)));
    let lasso = |steps: &Steps, start| {
        let trace = Trace { loop_start: Some(start), ..trace(steps) };
        replay(&program(), &trace).expect("this run fits")
    };
    let program = program();
    let says = |run: &Replayed, formula: &Formula| {
        run.closes(&program).expect("it repeats");
        let property = Property { name: "f".into(), kind: PropertyKind::Ltl(formula.clone()), span: None };
        let value = run.satisfies(&program, formula);
        assert_eq!(run.confirm(&program, &property).is_err(), value, "a violation is a formula that is false");
        assert_eq!(run.satisfies(&program, &not(formula.clone())), !value);
        value
    };
    // A and B forever, with x = 0.
    let around = lasso(&[(0, 0), (1, 0)], 0);
    assert!(
        says(&around, &one(Always, one(Eventually, at(B)))) && !says(&around, &one(Eventually, one(Always, at(B))))
    );
    assert!(says(&around, &one(Next, at(B))) && !says(&around, &one(Next, one(Next, at(B)))));
    assert!(says(&around, &two(Until, at(A), at(B))) && !says(&around, &two(Until, at(A), at(C))));
    assert!(says(&around, &two(WeakUntil, not(at(C)), at(C))) && !says(&around, &two(Until, not(at(C)), at(C))));
    assert!(says(&around, &two(Release, at(C), not(at(D)))) && !says(&around, &two(Release, at(C), at(A))));
    // Once around, then to D with x = 0, where no step is possible.
    let ends = lasso(&[(0, 0), (1, 0), (0, 2), (3, 0), (7, 0)], 5);
    assert!(says(&ends, &one(Eventually, one(Always, at(D)))) && !says(&ends, &one(Always, one(Eventually, at(A)))));
    assert!(says(&ends, &two(Until, not(at(D)), at(D))) && says(&ends, &one(Eventually, at(C))));
    // What does not repeat is refused.
    let refused = |steps: &Steps, start| lasso(steps, start).closes(&program).expect_err("it does not repeat").reason;
    assert_eq!(refused(&[(0, 0), (1, 0)], 1), "the last state is not the one that the loop returns to");
    assert_eq!(refused(&[(0, 0), (1, 0)], 2), "the execution stutters in a state that has enabled steps");
    assert_eq!(refused(&[(0, 0), (1, 0)], 3), "the loop begins after the end");
}

/// A location marked `end` is a proper place to be stuck; the same one without the mark is not.
#[test]
fn waiting_at_an_end_is_no_deadlock() {
    let run: &Steps = &[(0, 2), (3, 0)];
    let mut program = program();
    program.threads[0].at[C as usize] = (4, 5);
    let confirmed = |program: &Program| {
        let run = replay(program, &trace(run)).expect("this run fits");
        run.confirm(program, &program.properties[0]).is_ok()
    };
    assert!(!confirmed(&program), "c is labelled `end`");
    program.kinds[0].locations[C as usize].end = false;
    assert!(confirmed(&program), "c is not labelled `end`");
}

#[test]
fn the_fault_of_a_run_is_that_of_its_last_step() {
    assert_eq!(walked(&[(0, 1)]).fault, None);
    assert_eq!(walked(&[(0, 1), (2, 0)]).fault, Some(ASSERTION));
    assert_eq!(walked(&[(0, 2)]).fault, Some(IN_PROPERTY));
    assert_eq!(walked(&[(0, 2), (3, 0), (7, 0)]).fault, None);
}

#[test]
fn changes_are_what_a_step_wrote_differently() {
    let program = program();
    let run = walked(&[(0, 0), (1, 0), (0, 1), (2, 0)]);
    let changes = |at: usize| -> Vec<String> {
        let (before, after) = (program.show(&run.states[at]), program.show(&run.states[at + 1]));
        before.changes(&after).into_iter().map(|change| change.name).collect()
    };
    let [x, counter] = [X, COUNTER].map(|variable| program.element_name(variable, 0));
    assert_eq!(changes(0), [counter.as_str()]);
    assert_eq!(changes(2), [x, counter]);
    assert_eq!(changes(3), [""; 0], "the flag of a fault is not shown");
}

/// The reference counts the same program by hand: 9 states, and one step into a failing check.
#[test]
fn the_reference_agrees() {
    let program = program();
    let asked = &program.properties[..4];
    let goals: Vec<_> = asked.iter().filter_map(|property| birk_exec::goal_of(&program, property)).collect();
    let answer = reference::explore(&program, &goals, 100).unwrap();
    assert_eq!((answer.states, answer.transitions, answer.cut, answer.depth), (9, 10, 2, 4));
    assert_eq!(answer.shortest, [Some(3), Some(1), Some(1), Some(1)]);
    assert_eq!(answer.levels, [1, 3, 1, 3, 1]);
}

//! Searches share native code: of an equal program only, and each evaluates its own goals.

use std::thread;

use birk_engine::{Model, Successors};
use birk_exec::Interpreter;
use birk_ir::{Expr, Goal, Program};
use birk_jit::{Native, Staged};

/// Two threads that count to `last`; some goals are asked of each.
fn counting(last: u32) -> Program {
    let text = format!(
        "system Counting {{ int (0, 5000) a; int (0, 5000) b;
           active thread A() {{ loc l: when a < {last} do {{ a := a + 1; }} goto l; }}
           active thread B() {{ loc l: when b < a do {{ b := b + 1; }} goto l; }}
           invariant low: a < {last}; invariant behind: b < {last}; }}"
    );
    let loaded = birk_lang::load(&text, &[]);
    loaded.program.unwrap_or_else(|| panic!("{:#?}", loaded.diagnostics))
}

fn goals(program: &Program) -> Vec<Goal> {
    program.properties.iter().flat_map(|property| property.conditions()).cloned().map(Goal::State).collect()
}

/// Walks until no more is possible, and compares with the interpreter on the way; how many steps it was interpreted.
fn walked(staged: &Staged<'_>, program: &Program, goals: &[Goal]) -> usize {
    let oracle = Interpreter::new(program, goals);
    let successors = |model: &dyn Model, state: &[u32]| {
        let mut out = Successors::new(model.words());
        model.successors(state, &mut out);
        (0..out.len()).map(|index| (out.step(index), out.state(index).to_vec())).collect::<Vec<_>>()
    };
    let mut initial = Successors::new(oracle.words());
    oracle.initial(&mut initial);
    let (mut state, mut interpreted) = (initial.state(0).to_vec(), 0);
    loop {
        let expected = successors(&oracle, &state);
        assert_eq!(successors(staged, &state), expected);
        assert_eq!(staged.evaluate(&state, expected.is_empty()), oracle.evaluate(&state, expected.is_empty()));
        interpreted += usize::from(!staged.is_native());
        let Some((_, next)) = expected.into_iter().last() else { return interpreted };
        state = next;
    }
}

#[test]
fn what_one_search_has_compiled_others_need_not() {
    let (native, program) = (Native::default(), counting(4_000));
    let asked = goals(&program);
    let first = walked(&Staged::sharing(&native, &program, &asked), &program, &asked);
    assert!(first > 1_000, "it is interpreted until it proves worth compiling: {first}");
    let again = walked(&Staged::sharing(&native, &program, &asked), &program, &asked);
    assert!(again <= 1, "{again}");
    // An equal program is the same; other goals are compiled a little later.
    let equal = program.clone();
    assert!(walked(&Staged::sharing(&native, &equal, &asked), &equal, &asked) <= 1);
    for goals in [&asked[..1], &asked[1..], &[]] {
        let others = walked(&Staged::sharing(&native, &program, goals), &program, goals);
        assert!((2..first).contains(&others), "{others}");
    }
    let never = [Goal::State(Expr::FALSE)];
    let others = walked(&Staged::sharing(&native, &program, &never), &program, &never);
    assert!((2..first).contains(&others), "{others}");
}

#[test]
fn a_program_that_differs_has_its_own_code() {
    let native = Native::default();
    let programs = [counting(3_000), counting(3_001), counting(2_999)];
    for program in programs.iter().chain(&programs) {
        let asked = goals(program);
        walked(&Staged::sharing(&native, program, &asked), program, &asked);
    }
}

#[test]
fn searches_at_the_same_time_share_too() {
    let (native, program) = (Native::default(), counting(4_000));
    let asked = goals(&program);
    thread::scope(|scope| {
        for number in 0..8 {
            let (native, program, goals) = (&native, &program, &asked[..number % 3]);
            scope.spawn(move || walked(&Staged::sharing(native, program, goals), program, goals));
        }
    });
}

#[test]
fn each_search_says_for_itself_what_assume_has_cut() {
    let text =
        "system Cut { int (0, 9) x; active thread A() { loc l: do { x := choose(0, 9); assume x < 5; } goto l; } }";
    let program = birk_lang::load(text, &[]).program.expect("it is a model");
    let native = Native::default();
    let [one, other] = [(); 2].map(|()| Staged::sharing(&native, &program, &[]));
    let start = program.initial_states()[0].clone();
    let expand = |model: &Staged<'_>, times| {
        for _ in 0..times {
            let mut out = Successors::new(model.words());
            model.successors(&start, &mut out);
            assert_eq!((out.len(), out.cut), (5, 5));
        }
        model.assumed()
    };
    assert_eq!(expand(&one, 3_000), [true]);
    assert!(one.is_native());
    let late = Staged::sharing(&native, &program, &[]);
    assert_eq!([expand(&other, 0), expand(&late, 0)], [[false], [false]]);
    assert_eq!([expand(&other, 3_000), expand(&late, 2)], [[true], [true]]);
}

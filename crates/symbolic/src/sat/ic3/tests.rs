//! Programs by hand: what IC3 must answer, and that what it calls an invariant is one in every state that can be reached.

use birk_engine::{GoalSet, Job, Limits, Patient, SatStats};
use birk_exec::goal_of;
use birk_ir::{Goal, Outcome, Program};

use super::*;

pub(in crate::sat) fn load(text: &str) -> Program {
    let loaded = birk_lang::load(text, &[]);
    loaded.program.unwrap_or_else(|| panic!("{:?}", loaded.diagnostics))
}

/// The goal of the last property of a program.
fn goals(program: &Program) -> Vec<Goal> {
    let mut asked = program.properties.iter().filter(|property| property.name != "fault");
    goal_of(program, asked.next_back().expect("there is always one about deadlocks")).into_iter().collect()
}

/// The length of the run that was found, or how many clauses prove that there is none.
fn answer(text: &str) -> Result<usize, u64> {
    let program = load(text);
    let job = Job { stop_at: GoalSet(1), ..Job::new(1, Limits::NONE) };
    let hunt = hunt(&program, &goals(&program), &job, &mut Patient).expect("it can be encoded");
    match &hunt.outcomes[0] {
        Outcome::Found(trace) => Ok(trace.steps.len()),
        Outcome::Absent => {
            Err(hunt.stats.sat().and_then(SatStats::largest_invariant).expect("a proof has an invariant"))
        }
        outcome => panic!("no limit was set: {outcome:?}"),
    }
}

#[test]
fn violations_are_found() {
    let counters = "system Counters { int (0, 3) a; int (0, 3) b;
        active thread A() { loc go: when a < 3 do { a := a + 1; } goto go; }
        active thread B() { loc go: when b < 3 do { b := b + 1; } goto go; }
        invariant never: !(a == 2 && b == 3); }";
    assert_eq!(answer(counters), Ok(5));
    let light = "system Light { int (0, 2) light; int wrap (0, 7) rounds;
        active thread L() {
            loc go: when light < 2 do { light := light + 1; } goto go;
                    when light == 2 do { light := 0; rounds := rounds + 1; } goto go; }
        invariant never: !(rounds == 3 && light == 1); }";
    assert_eq!(answer(light), Ok(10));
    // What is chosen decides, and there is more than one way to the goal.
    let choosy = "system Choosy { int (0, 60) at;
        active thread T() { int (0, 3) by; loc go: when at <= 50 do { by := choose(1, 3); at := at + by; } goto go; }
        invariant never: at != 11; }";
    assert!(answer(choosy).is_ok_and(|steps| (4..=11).contains(&steps)));
    // The text of the choices allows millions of outcomes, and the state eight.
    let wide = "system Wide { byte x := 254; byte[3] y;
        active thread T() { loc go: do {
            y[0] := choose(x, 255); y[1] := choose(x, 255); y[2] := choose(x, 255); } goto go;
                                    when y[0] + y[1] == 9 do { x := 0; } goto go; }
        invariant never: !(y[1] == 255 && y[2] == 254); }";
    assert_eq!(answer(wide), Ok(1));
    // The initial state itself.
    assert_eq!(
        answer("system Here { byte b; active thread T() { loc l: do { } goto l; } invariant never: b != 0; }"),
        Ok(0)
    );
    // A deadlock behind a runtime error that nobody asks for.
    let stuck = "system Stuck { int (0, 3) a; active thread T() { loc go: when a < 3 do { a := a + 1; } goto go; } }";
    assert_eq!(answer(stuck), Ok(3));
}

#[test]
fn what_cannot_happen_is_proved() {
    // Both move together.
    let twins = "system Twins { int (0, 1000) a; int (0, 1000) b;
        active thread T() { loc go: when a < 1000 do { a := a + 1; b := b + 1; } goto go; }
        invariant alike: a == b; }";
    assert!(answer(twins).is_err());
    // Peterson's algorithm: not inductive by itself.
    let peterson = "system Peterson { boolean[2] wants; int (0, 1) turn;
        active [2] thread P(int me) {
            loc idle: do { wants[me] := true; } goto yielding;
            loc yielding: do { turn := 1 - me; } goto waiting;
            loc waiting: when !wants[1 - me] || turn == me do { } goto critical;
            loc critical: do { wants[me] := false; } goto idle; }
        invariant exclusion: !(P[0]@critical && P[1]@critical); }";
    assert!(answer(peterson).is_err());
    // Nothing within the bounds is a goal.
    assert_eq!(
        answer(
            "system Low { int (0, 5) a; active thread T() { loc l: do { a := 1; } goto l; } invariant low: a < 6; }"
        ),
        Err(0)
    );
    // Numbers below 0.
    let below = "system Below { int (-8, 7) x; active thread T() {
            loc go: when x > -6 do { x := x - 2; } goto go; when x == -6 do { x := 0; } goto go; }
        invariant even: x != -3 && x != 5; }";
    assert!(answer(below).is_err());
}

/// Break a proof, see that it is noticed: a cube left out, or a condition turned around.
#[test]
fn what_is_no_invariant_is_noticed() {
    let program = load(
        "system Ring { boolean[4] token; boolean is_set;
            active thread T() { loc go: when !is_set do { token[0] := true; is_set := true; } goto pass;
                loc pass: when token[0] do { token[0] := false; token[1] := true; } goto pass;
                          when token[1] do { token[1] := false; token[2] := true; } goto pass;
                          when token[2] do { token[2] := false; token[0] := true; } goto pass; }
            invariant one: !(token[0] && token[1]) && !(token[1] && token[2]) && !token[3]; }",
    );
    let goals = goals(&program);
    let Goal::State(goal) = &goals[0];
    let (mut patient, job) = (Patient, Job::new(1, Limits::NONE));
    let watch = Watch::new(&mut patient, u64::MAX);
    let ranges = reachable(&program).variables;
    let goals_of = [goal];
    let mut search = Search { program: &program, excluded: &[], job: &job, watch: &watch, proofs: Vec::new() };
    let (symmetries, pairs) = ([symmetries(&program, goal, &[])], OnceCell::new());
    search.run(&goals_of, &symmetries, &pairs, &ranges).expect("nobody ends it");
    let Answer::Invariant(cubes) = &search.proofs[0].answer else { panic!("it holds") };
    let is_invariant = |cubes: &[Cube]| search.is_invariant(goal, cubes, &ranges).expect("nobody ends it");
    assert!(is_invariant(cubes) && cubes.len() > 1, "{cubes:?}");
    let mut noticed = 0;
    for at in 0..cubes.len() {
        let mut fewer = cubes.clone();
        fewer.remove(at);
        noticed += usize::from(!is_invariant(&fewer));
        let mut turned = cubes.clone();
        turned[at][0].1 = !turned[at][0].1;
        assert!(!is_invariant(&turned), "{at}");
    }
    assert!(noticed > 0, "no clause is needed");
    assert!(!is_invariant(&[]), "something has to be excluded");
}

/// A depth limit is reached, and no more is claimed.
#[test]
fn a_depth_limit_is_covered() {
    let program = load(
        "system Far { int (0, 200) x; int (0, 200) y;
            active thread T() { loc go: when x < 200 do { x := x + 1; y := (y * 7 + x) % 201; } goto go; }
            invariant never: !(x == 150 && y != 3); }",
    );
    for depth in [0, 1, 4] {
        let job = Job { stop_at: GoalSet(1), ..Job::new(1, Limits { depth, ..Limits::NONE }) };
        let hunt = hunt(&program, &goals(&program), &job, &mut Patient).expect("it can be encoded");
        assert_eq!((hunt.stopped, hunt.coverage), (Stop::Depth, Coverage::Depth(depth)));
        assert_eq!(hunt.outcomes, [Outcome::Inconclusive]);
    }
}

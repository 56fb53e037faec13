//! Symmetry reduction on models that people know: verdicts and lengths of shortest traces are those of the full search, and there
//! are as many representatives as orbits.

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use birk_engine::{Hunt, Job, Limits, Model as _, Successors};
use birk_exec::reduction::Preserve;
use birk_exec::symmetry::{Checks, Site};
use birk_exec::{Automorphisms, Interpreter, Reduced, Specialised, Symmetric, Syntactic, goal_of, reference, replay};
use birk_ir::{Goal, Outcome, Program, Property};
use birk_search::engine;

use crate::{hunt_in, load, program};

/// Larger models are searched elsewhere.
const MOST_STATES: usize = 5_000;

/// The properties of states, each with its goal.
fn goals(program: &Program) -> (Vec<&Property>, Vec<Goal>) {
    program.properties.iter().filter_map(|property| Some((property, goal_of(program, property)?))).unzip()
}

/// Breadth-first, among representatives.
fn search(program: &Program, goals: &[Goal], found: &Automorphisms) -> Hunt {
    let model = birk::compiled(program, goals);
    let job = Job { keep_going: true, ..Job::new(goals.len(), Limits::NONE) };
    hunt_in(engine("bfs").expect("there is breadth-first search"), &Symmetric::new(&model, found), &job)
}

fn length(outcome: &Outcome) -> Option<u32> {
    if let Outcome::Found(trace) = outcome { Some(trace.steps.len() as u32) } else { None }
}

/// How many orbits the reachable states have, by brute force.
fn orbits(program: &Program, found: &Automorphisms) -> u64 {
    let model = Interpreter::new(program, &[]);
    let mut batch = Successors::new(model.words());
    model.initial(&mut batch);
    let mut states = vec![batch.state(0).to_vec()];
    let mut seen: HashSet<Vec<u32>> = states.iter().cloned().collect();
    let mut met = HashSet::new();
    let (mut next, mut orbits) = (0, 0);
    while next < states.len() {
        let state = states[next].clone();
        next += 1;
        let mut open = vec![state.clone()];
        orbits += u64::from(!met.contains(&state));
        while let Some(state) = open.pop() {
            if met.insert(state.clone()) {
                open.extend(found.neighbours(&state));
            }
        }
        batch.clear();
        model.successors(&state, &mut batch);
        for i in (0..batch.len()).filter(|&i| !model.is_fault(batch.state(i))) {
            if seen.insert(batch.state(i).to_vec()) {
                states.push(batch.state(i).to_vec());
            }
        }
    }
    orbits
}

/// The search among representatives finds what the full one finds, as near, and shows it by traces of the program. The states of
/// both.
#[track_caller]
fn compare(name: &str, program: &Program) -> Option<(u64, u64)> {
    let (properties, goals) = goals(program);
    let answer = reference::explore(program, &goals, MOST_STATES).ok()?;
    let found = Automorphisms::new(program, &goals);
    if found.is_trivial() {
        return Some((answer.states, answer.states));
    }
    let hunt = search(program, &goals, &found);
    let lengths: Vec<Option<u32>> = hunt.outcomes.iter().map(length).collect();
    assert_eq!(lengths, answer.shortest, "{name}");
    if found.is_exact() {
        assert_eq!(hunt.stats.states, orbits(program, &found), "{name}");
    }
    let states = hunt.stats.states;
    let hunt = found.original(program, program, hunt);
    for (property, outcome) in properties.iter().zip(&hunt.outcomes) {
        if let Outcome::Found(trace) = outcome {
            let run = replay(program, trace).unwrap_or_else(|error| panic!("{name}: `{}`: {error:?}", property.name));
            run.confirm(program, property).unwrap_or_else(|error| panic!("{name}: `{}`: {error:?}", property.name));
        }
    }
    Some((answer.states, states))
}

/// Every model of the corpus that is not too large; some are symmetric, though none says so.
#[test]
fn nothing_is_lost_in_the_corpus() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models");
    let mut names: Vec<String> = Vec::new();
    for entry in fs::read_dir(&folder).expect("there are models") {
        let name = entry.expect("it can be read").file_name().into_string().expect("names are text");
        names.extend(name.ends_with(".bir").then_some(name));
    }
    names.sort();
    let (mut compared, mut symmetric) = (0, 0);
    for name in names {
        if let Some((full, states)) = compare(&name, &load(&name, &[])) {
            println!("{name}: {states} of {full}");
            compared += 1;
            symmetric += u32::from(states < full);
        }
    }
    assert!(compared >= 60, "only {compared} models were compared");
    assert!(symmetric >= 8, "only {symmetric} models have a symmetry");
}

/// The states of a search among representatives, for all properties.
#[track_caller]
fn states(name: &str, size: &str) -> u64 {
    let program = load(name, &[("N", size)]);
    let (_, goals) = goals(&program);
    let found = Automorphisms::new(&program, &goals);
    assert_eq!(found.broken(), [], "{name}");
    assert!(found.is_sorted(), "{name} needs no more than sorting");
    search(&program, &goals, &found).stats.states
}

/// As many as Rumur finds.
#[test]
fn peterson_has_as_many_orbits_as_is_known() {
    for (size, orbits) in [("4", 898), ("5", 4_555), ("6", 20_610)] {
        assert_eq!(states("peers/peterson.bir", size), orbits, "N={size}");
    }
}

#[test]
fn german_has_as_many_orbits_as_is_known() {
    for (size, orbits) in [("2", 753), ("3", 5_115), ("4", 28_514)] {
        assert_eq!(states("german.bir", size), orbits, "N={size}");
    }
}

/// German's protocol with its clients as a symmetric type, sets of them, and a variable that holds nobody between two steps.
#[test]
fn names_that_are_declared_have_the_same_orbits() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/german.bir");
    let mut text = fs::read_to_string(path).expect("the model is there");
    for (numbers, names) in [
        ("typealias Group set of 0 .. N - 1;", "symmetric typealias Id int (0, N - 1); typealias Group set of Id;"),
        ("int (0, N - 1) c;", "Id or nobody c;"),
        ("int (0, N - 1) asker;", "Id asker;"),
        ("choose(0, N - 1)", "choose(Id)"),
        ("c := 0;", "c := Id.nobody;"),
        ("[1][N]", "[1][Id]"),
        ("Copy[N]", "Copy[Id]"),
        ("active [N] thread Client(int me)", "active [Id] thread Client(Id me)"),
        ("i : 0 .. N - 1", "i in Id"),
        ("j : 0 .. N - 1", "j in Id"),
    ] {
        assert!(text.contains(numbers), "{numbers}");
        text = text.replace(numbers, names);
    }
    for (size, all, orbits) in [("2", 1_497, 753), ("3", 28_593, 5_115)] {
        let program = program(&text, &[("N", size)]);
        let (_, goals) = goals(&program);
        let found = Automorphisms::new(&program, &goals);
        assert_eq!(found.broken(), [], "N={size}");
        assert_eq!(search(&program, &goals, &found).stats.states, orbits, "N={size}");
        let job = Job { keep_going: true, ..Job::new(goals.len(), Limits::NONE) };
        let full = hunt_in(engine("bfs").expect("there is one"), &birk::compiled(&program, &goals), &job);
        assert_eq!(full.stats.states, all, "N={size}");
    }
}

/// The largest ones that Rumur finds in some seconds.
#[test]
fn larger_ones_have_as_many_orbits_as_is_known() {
    assert_eq!(states("peers/peterson.bir", "7"), 85_870);
    assert_eq!(states("german.bir", "5"), 134_355);
    assert_eq!(states("german.bir", "6"), 549_915);
}

/// Threads in a ring are rotated: as many representatives as orbits, by brute force, and as few as there can be, up to the N states
/// of an orbit.
#[test]
fn rings_are_rotated() {
    for (name, size, length) in [
        ("philosophers_ring.bir", "3", 3),
        ("philosophers_ring.bir", "6", 6),
        ("philosophers_ring.bir", "7", 7),
        ("beem/phils.bir", "5", 5),
        ("token_ring.bir", "6", 6),
    ] {
        let program = load(name, &[("N", size)]);
        let (_, goals) = goals(&program);
        let found = Automorphisms::new(&program, &goals);
        assert_eq!((found.groups().len(), found.rings()), (1, &[true][..]), "{name}");
        assert_eq!(found.groups()[0].len(), length, "{name}");
        let (full, states) = compare(name, &program).expect("it is small");
        println!("{name} N={size}: {states} of {full}");
        assert!(found.is_exact() && states < full * 5 / 4 / length as u64 + 10, "{name}: {states} of {full}");
    }
}

/// With partial-order reduction below, deadlock alone.
#[test]
fn both_reductions_together() {
    for (name, size, most) in [("peers/peterson.bir", "4", 894), ("german.bir", "2", 550), ("german.bir", "3", 3_238)] {
        let program = load(name, &[("N", size)]);
        let goals: Vec<Goal> = goals(&program).1.into_iter().take(1).collect();
        let found = Automorphisms::new(&program, &goals);
        let specialised = Specialised::new(&program);
        let full = Interpreter::new(&specialised.program, &goals);
        let reduced = Reduced::new(&specialised.program, &full, Preserve::Distances(&goals), &mut Syntactic)
            .expect("it can be reduced");
        let job = Job { keep_going: true, ..Job::new(1, Limits::NONE) };
        let both = hunt_in(engine("bfs").expect("there is one"), &Symmetric::new(&reduced, &found), &job).stats.states;
        let alone = search(&program, &goals, &found).stats.states;
        println!("{name} N={size}: {both} of {alone} (measured with exact relations: {most})");
        assert!(both <= alone, "{name} N={size}");
    }
}

/// A model in which something can go wrong with names.
struct Trap {
    about: &'static str,
    /// The names that can be permuted.
    groups: &'static [&'static [u32]],
    /// The line that tells instances apart.
    line: Option<usize>,
    text: &'static str,
}

const TRAPS: &[Trap] = &[
    Trap {
        about: "a property about one thread: only the others are interchangeable",
        groups: &[&[1, 2]],
        line: Some(4),
        text: "system T {
            int (0, 2) n;
            active [3] thread P(int me) { loc a: do { } goto b; loc b: end when false do { } goto b; }
            reachable first: P[0]@b && !P[1]@b && !P[2]@b;
        }",
    },
    Trap {
        about: "neighbours in a ring, of which a property asks only as such",
        groups: &[&[0, 1, 2]],
        line: None,
        text: "system T {
            boolean[3] has;
            active [3] thread P(int me) { loc a: when !has[(me + 1) % 3] do { has[me] := true; } goto b; loc b: do { has[(me + 2) % 3] := false; } goto a; }
            reachable two: exists (i : 0 .. 2) has[i] && has[(i + 1) % 3] && !has[(i + 2) % 3];
        }",
    },
    Trap {
        about: "a ring of which a property asks about one",
        groups: &[],
        line: Some(4),
        text: "system T {
            boolean[3] has;
            active [3] thread P(int me) { loc a: when !has[(me + 1) % 3] do { has[me] := true; } goto b; loc b: end when false do { } goto b; }
            reachable last: has[2] && !has[0] && has[1];
        }",
    },
    Trap {
        about: "a ring in which one does something else",
        groups: &[],
        line: Some(3),
        text: "system T {
            boolean[3] has;
            active [3] thread P(int me) { loc a: when me == 1 || has[(me + 1) % 3] do { has[me] := true; } goto b; loc b: end when false do { } goto b; }
            reachable two: exists (i : 0 .. 2) has[i] && !has[(i + 1) % 3];
        }",
    },
    Trap {
        about: "a ring that is counted modulo less than its length",
        groups: &[],
        line: Some(4),
        text: "system T {
            int (0, 3) at;
            boolean[4] has;
            active [4] thread P(int me) { loc a: when at == me do { at := (at + 1) % 3; has[me] := true; } goto b; loc b: end when false do { } goto b; }
            reachable all: forall (i : 0 .. 3) has[i];
            reachable one: exists (i : 0 .. 3) has[i] && !has[(i + 1) % 4];
        }",
    },
    Trap {
        about: "a ring whose values go on from the last to nobody",
        groups: &[],
        line: Some(4),
        text: "system T {
            int (0, 3) at;
            boolean[3] has;
            active [3] thread P(int me) { loc a: when at == me do { at := (at + 1) % 4; has[me] := true; } goto b; loc b: end when false do { } goto b; }
            reachable over: at == 3;
            reachable one: exists (i : 0 .. 2) has[i] && !has[(i + 1) % 3];
        }",
    },
    Trap {
        about: "a step of one thread only",
        groups: &[&[1, 2]],
        line: Some(3),
        text: "system T {
            boolean[3] has;
            active [3] thread P(int me) { loc a: when me != 0 || has[0] do { has[me] := true; } goto b; when me == 0 do { has[me] := true; } goto b; loc b: end when false do { } goto b; }
            reachable one: exists (i : 0 .. 2) P[i]@b;
        }",
    },
    Trap {
        about: "numbers of threads are put in order",
        groups: &[],
        line: Some(3),
        text: "system T {
            boolean[3] has;
            active [3] thread P(int me) { loc a: when forall (k : 0 .. 2) k >= me || has[k] do { has[me] := true; } goto b; loc b: end when false do { } goto b; }
            reachable gap: exists (i : 0 .. 2) (exists (j : 0 .. 2) i < j && has[j] && !has[i]);
        }",
    },
    Trap {
        about: "a range that leaves some threads out",
        groups: &[&[0, 1]],
        line: Some(4),
        text: "system T {
            boolean[3] has;
            active [3] thread P(int me) { loc a: do { has[me] := true; } goto b; loc b: end when false do { } goto b; }
            reachable two: forall (k : 0 .. 1) has[k];
        }",
    },
    Trap {
        about: "an element that is named by a constant",
        groups: &[&[1, 2]],
        line: Some(4),
        text: "system T {
            boolean[3] has;
            active [3] thread P(int me) { loc a: do { has[me] := true; } goto b; loc b: end when false do { } goto b; }
            active thread Q() { loc q: when has[0] do { has[0] := false; } goto r; loc r: end when false do { } goto r; }
            reachable gone: forall (k : 0 .. 2) P[k]@b && !has[k];
            reachable some: exists (k : 0 .. 2) P[k]@b && !has[k];
        }",
    },
    Trap {
        about: "variables hold names",
        groups: &[&[0, 1, 2]],
        line: None,
        text: "system T {
            int (0, 2) last;
            boolean[3] has;
            active [3] thread P(int me) { loc a: do { last := me; } goto b; loc b: when last != me do { has[me] := true; } goto c; loc c: end when false do { } goto c; }
            reachable all: forall (k : 0 .. 2) has[k];
            reachable two: exists (k : 0 .. 2) k != last && has[k] && (exists (j : 0 .. 2) j != k && j != last && has[j]);
        }",
    },
    Trap {
        about: "nobody is a name that stays",
        groups: &[&[0, 1, 2]],
        line: None,
        text: "system T {
            int (0, 3) owner := 3;
            active [3] thread P(int me) { loc a: when owner == 3 do { owner := me; } goto b; loc b: do { owner := 3; } goto a; }
            invariant mutex: forall (i : 0 .. 2) (forall (j : 0 .. 2) i == j || !(P[i]@b && P[j]@b));
            invariant held: owner == 3 || (exists (i : 0 .. 2) owner == i && P[i]@b);
            reachable free: owner == 3;
        }",
    },
    Trap {
        about: "sets hold names",
        groups: &[&[0, 1, 2]],
        line: None,
        text: "system T {
            typealias Group set of 0 .. 2;
            Group in_use;
            active [3] thread P(int me) { loc a: when size(in_use) < 2 do { in_use := in_use + {me}; } goto b; loc b: do { in_use := in_use - {me}; } goto a; }
            invariant few: size(in_use) < 3;
            invariant known: forall (i : 0 .. 2) (i in in_use) == P[i]@b;
            reachable two: size(in_use) == 2;
        }",
    },
    Trap {
        about: "names point to names: ties are not broken by position",
        groups: &[&[0, 1, 2]],
        line: None,
        text: "system T {
            int (0, 2)[3] next;
            boolean[3] done;
            active [3] thread P(int me) { loc a: do { next[me] := choose(0, 2); } goto b; loc b: when next[next[me]] == me do { done[me] := true; } goto c; loc c: end when false do { } goto c; }
            reachable ring: forall (i : 0 .. 2) next[i] != i && next[next[i]] != i;
            reachable all: forall (i : 0 .. 2) done[i];
        }",
    },
    Trap {
        about: "pairs of names are indices",
        groups: &[&[0, 1, 2]],
        line: None,
        text: "system T {
            boolean[3][3] knows;
            active [3] thread P(int me) { int (0, 2) c; loc a: do { c := choose(0, 2); knows[me][c] := true; c := 0; } goto b; loc b: when exists (k : 0 .. 2) knows[k][me] do { } goto d; loc d: end when false do { } goto d; }
            reachable ring: forall (i : 0 .. 2) !knows[i][i] && (exists (j : 0 .. 2) knows[i][j] && !knows[j][i]);
        }",
    },
    Trap {
        about: "a variable that is reset to 0 is no longer a name, but one that is still read is",
        groups: &[],
        line: Some(3),
        text: "system T {
            boolean[2] has;
            active [2] thread P(int me) { int (0, 1) c; loc a: do { c := me; has[c] := true; c := 0; } goto b; loc b: do { has[c] := false; } goto d; loc d: end when false do { } goto d; }
            reachable none: forall (i : 0 .. 1) P[i]@d && !has[i];
        }",
    },
    Trap {
        about: "a place of a channel that is free holds 0, which is no name",
        groups: &[&[1, 2]],
        line: Some(4),
        text: "system T {
            channel of int (0, 2) [2] line; int (0, 2) got; boolean[3] served;
            active [3] thread P(int me) { loc a: do { send line (me); } goto b; loc b: end when false do { } goto b; }
            active thread Q() { loc q: end do { receive line (?got); served[got] := true; } goto q; }
            reachable all: forall (i : 0 .. 2) served[i];
        }",
    },
    Trap {
        about: "what a failing check leaves is not the image of a state",
        groups: &[&[0, 1, 2], &[0, 1, 2]],
        line: None,
        text: "system T {
            int (0, 2) last; int (0, 2)[3] x;
            active [3] thread P(int me) { int (0, 2) c; loc a: do { c := choose(0, 2); x[c] := x[c] + 1; last := c; c := 0; } goto a; }
            reachable even: forall (i : 0 .. 2) x[i] == 2;
        }",
    },
    Trap {
        about: "one array, two kinds of threads",
        groups: &[&[0, 1]],
        line: None,
        text: "system T {
            boolean[2] link;
            active [2] thread P(int me) { loc a: when !link[me] do { link[me] := true; } goto b; loc b: end when false do { } goto b; }
            active [2] thread Q(int me) { loc a: when link[me] do { link[me] := false; } goto b; loc b: end when false do { } goto b; }
            reachable all: forall (i : 0 .. 1) Q[i]@b && !link[i];
        }",
    },
];

/// In each trap the names are permuted that can be; otherwise the line is known that is to blame; and nothing is lost.
#[test]
fn nothing_is_lost_in_traps() {
    for trap in TRAPS {
        let program = program(trap.text, &[]);
        let (properties, goals) = goals(&program);
        let found = Automorphisms::new(&program, &goals);
        let groups: Vec<&[u32]> = found.groups().iter().map(Vec::as_slice).collect();
        assert_eq!(groups, trap.groups, "{}", trap.about);
        let span = found.broken().first().and_then(|broken| match broken.site {
            Site::Transition(id) => Some(program.transition(id).span),
            Site::Goal(goal) => properties[goal].span,
            Site::Declaration => None,
        });
        let line = span.map(|span| trap.text[..span.start as usize].matches('\n').count() + 1);
        assert_eq!(line, trap.line, "{}", trap.about);
        compare(trap.about, &program).expect("traps are small");
    }
}

/// A proof that leaves one of its checks out is wrong in one of the traps: something is found elsewhere, or not at all.
#[test]
fn each_check_is_needed() {
    let all = Checks::ALL;
    let mutants = [
        ("goals", Checks { goals: false, ..all }),
        ("steps", Checks { steps: false, ..all }),
        ("ranges", Checks { ranges: false, ..all }),
        ("numbers", Checks { numbers: false, ..all }),
        ("values", Checks { values: false, ..all }),
        ("live", Checks { live: false, ..all }),
    ];
    for (name, checks) in mutants {
        let killers: Vec<&str> = TRAPS.iter().filter(|trap| is_wrong(trap, checks)).map(|trap| trap.about).collect();
        println!("without {name}: {killers:?}");
        assert!(!killers.is_empty(), "nobody notices that {name} are not checked");
    }
    assert!(!TRAPS.iter().any(|trap| is_wrong(trap, all)));
}

fn is_wrong(trap: &Trap, checks: Checks) -> bool {
    let program = program(trap.text, &[]);
    let (_, goals) = goals(&program);
    let answer = reference::explore(&program, &goals, MOST_STATES).expect("traps are small");
    let found = Automorphisms::checked(&program, &goals, checks);
    let hunt = search(&program, &goals, &found);
    hunt.outcomes.iter().map(length).collect::<Vec<_>>() != answer.shortest
}

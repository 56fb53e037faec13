//! Estimates and directed search on random programs: every estimate is held against the true distances, and A* against
//! the reference.
//!
//! An estimate is right if it never exceeds the true distance, if no step lowers it by more than 1, if refining it never
//! lowers it, and if it is 0 exactly where the goal is.

use std::collections::HashMap;

use birk_agreement::case::{self, Case, programs};
use birk_agreement::check::{Checked, Subject, check};
use birk_agreement::hunt;
use birk_engine::{GoalSet, Hunt, Job, Limits, Model, NEVER, Options, Patient, Successors, Value};
use birk_exec::heuristic::Part;
use birk_exec::{Directed, Heuristic, Interpreter, replay};
use birk_ir::{Coverage, Expr, Goal, Outcome};
use birk_search::astar::WEIGHT;
use birk_search::engine;
use birk_search::engines::BEAM;

/// The depths of refinement that are examined.
const DEPTHS: [u32; 6] = [0, 1, 2, 3, 4, 8];

/// All states of a program with the steps between them, results of failing checks included.
struct Graph {
    states: Vec<Vec<u32>>,
    edges: Vec<Vec<usize>>,
    /// For each state, whether it is the result of a failing check, and the goals it satisfies.
    faulty: Vec<bool>,
    goals: Vec<u64>,
}

fn graph(model: &Interpreter<'_>) -> Graph {
    let mut graph = Graph { states: Vec::new(), edges: Vec::new(), faulty: Vec::new(), goals: Vec::new() };
    let mut numbers: HashMap<Vec<u32>, usize> = HashMap::new();
    let mut batch = Successors::new(model.words());
    model.initial(&mut batch);
    graph.states.extend((0..batch.len()).map(|at| batch.state(at).to_vec()));
    numbers.extend(graph.states.iter().cloned().zip(0..));
    while graph.edges.len() < graph.states.len() {
        let state = graph.states[graph.edges.len()].clone();
        batch.clear();
        let cut = batch.cut;
        model.successors(&state, &mut batch);
        let successors = (0..batch.len()).map(|i| {
            *numbers.entry(batch.state(i).to_vec()).or_insert_with(|| {
                graph.states.push(batch.state(i).to_vec());
                graph.states.len() - 1
            })
        });
        let successors = successors.collect();
        graph.edges.push(successors);
        graph.faulty.push(model.is_fault(&state));
        graph.goals.push(model.evaluate(&state, batch.is_empty() && batch.cut == cut).0);
    }
    graph
}

impl Graph {
    /// Steps from each state to the nearest that satisfies a goal.
    fn distances(&self, goal: usize) -> Vec<u32> {
        let mut distances: Vec<u32> =
            self.goals.iter().map(|goals| if goals >> goal & 1 == 1 { 0 } else { NEVER }).collect();
        loop {
            let nearer = |state: usize, distances: &[u32]| {
                self.edges[state].iter().map(|&next| distances[next].saturating_add(1)).min().unwrap_or(NEVER)
            };
            let mut is_settled = true;
            for state in 0..self.states.len() {
                let best = nearer(state, &distances).min(distances[state]);
                is_settled &= best == distances[state];
                distances[state] = best;
            }
            if is_settled {
                return distances;
            }
        }
    }
}

/// A way to change an estimate.
type Bend = fn(&mut Part);

/// Every estimate of a program, bent if so, is right.
fn estimated(case: &Case, bend: Option<Bend>) -> Checked {
    let model = Interpreter::new(&case.program, &case.goals);
    let graph = graph(&model);
    let mut room = Vec::new();
    for (number, goal) in case.goals.iter().enumerate() {
        let distances = graph.distances(number);
        let Goal::State(condition) = goal;
        let mut speaks_of_stuck = false;
        condition.walk(&mut |e| speaks_of_stuck |= *e == Expr::Stuck);
        let mut last: Option<Vec<u32>> = None;
        for depth in DEPTHS {
            let mut heuristic = Heuristic::new(&case.program, goal, depth);
            if heuristic.depth() < depth {
                break;
            }
            bend.into_iter().for_each(|bend| heuristic.parts_mut().iter_mut().for_each(bend));
            let directed = Directed::new(&model, vec![heuristic]);
            let estimates: Vec<u32> = graph.states.iter().map(|state| directed.estimate(state, &mut room)).collect();
            let wrong = |why: &str, state: usize| {
                let (name, estimate) = (&case.program.properties[number].name, estimates[state]);
                Err(format!("`{name}`, depth {depth}: {why}: {estimate}, true {}", distances[state]))
            };
            for state in (0..graph.states.len()).filter(|&state| !graph.faulty[state]) {
                if estimates[state] > distances[state] {
                    return wrong("too much", state);
                }
                let lowest = graph.edges[state].iter().filter(|&&next| !graph.faulty[next] || distances[next] == 0);
                if lowest.clone().any(|&next| estimates[state] > estimates[next].saturating_add(1)) {
                    return wrong("a step lowers it by more than 1", state);
                }
                if !speaks_of_stuck && (estimates[state] == 0) != (distances[state] == 0) {
                    return wrong("not 0 exactly at the goal", state);
                }
                if last.as_ref().is_some_and(|last| last[state] > estimates[state]) {
                    return wrong("less than before it was refined", state);
                }
            }
            last = Some(estimates);
        }
    }
    Ok(())
}

/// A model with estimates of this depth, or of the depth that suits.
fn directed<'m>(case: &'m Case, model: &'m Interpreter<'m>, refine: Option<u32>) -> Directed<'m, Interpreter<'m>> {
    let estimate = |goal| match refine {
        Some(depth) => Heuristic::new(&case.program, goal, depth),
        None => Heuristic::deepened(&case.program, goal),
    };
    Directed::new(model, case.goals.iter().map(estimate).collect())
}

fn astar(model: &dyn Model, weight: u32, job: &Job) -> Hunt {
    let options = Options::default().with(&WEIGHT, Value::Number(weight.into()));
    birk_search::astar::astar(model, &Job { options, ..job.clone() }, &mut Patient)
}

/// How many programs are examined, unless the environment says otherwise.
const PROGRAMS: u64 = 80;
/// Their graphs have fewer states than this.
const FEW_STATES: u64 = 400;

#[test]
fn estimates_of_random_programs_are_right() {
    let mut examined = 0;
    for (seed, text, case) in programs(PROGRAMS).filter(|(.., case)| case.answer.states < FEW_STATES) {
        examined += 1;
        if let Err(why) = estimated(&case, None) {
            panic!("seed {seed}: {why}\n{text}");
        }
    }
    println!("{examined} programs");
    assert!(examined > 50, "only {examined} programs are small");
}

#[test]
fn bent_estimates_are_noticed() {
    let bends: [(&str, Bend); 6] = [
        ("a value that is there is not seen", |part| {
            if let Part::Among(_, values) = part {
                values.clear();
            }
        }),
        ("all parts are added, whoever writes them", |part| {
            if let Part::Sum(groups) = part {
                *groups = groups.concat().into_iter().map(|part| vec![part]).collect();
            }
        }),
        ("one part of several counts", |part| {
            if let Part::Sum(groups) = part {
                groups.truncate(1);
                groups.iter_mut().for_each(|group| group.truncate(1));
            }
        }),
        ("one way of several counts", |part| {
            if let Part::Least(parts) = part {
                parts.truncate(1);
            }
        }),
        ("the other value is written", |part| {
            if let Part::Written(_, value, _) = part {
                *value ^= 1;
            }
        }),
        ("what is opaque is true", |part| {
            if let Part::Opaque(condition) = part {
                *condition = Expr::TRUE;
            }
        }),
    ];
    let cases: Vec<Case> = (0..60)
        .filter_map(|seed| case::make(&case::draw(seed).1).usable())
        .filter(|case| case.answer.states < 100)
        .collect();
    for (what, bend) in bends {
        assert!(cases.iter().any(|case| estimated(case, Some(bend)).is_err()), "nobody notices: {what}");
    }
}

/// The estimate of the paper adds parts whose modules differ. Here `v0` has a module of its own, and `v1` and `v2` share
/// one that sets both in one step: 2 steps suffice, and the sum is 3.
#[test]
fn parts_are_added_only_if_no_step_serves_both() {
    let text = "system Plus { boolean v0 := true, v1 := true, v2;
        active thread A() { loc run: do { v0 := v1; } goto run; }
        active thread B() { loc run: do { v1 := !v0; } goto run; do { v2 := !v2 || v0; } goto run;
            do { v1 := !v0; v2 := !v2 || v0; } goto run; }
        invariant safe: !(v2 && !v0); }";
    let case = case::make(text).usable().expect("it is a program");
    let goal = case.program.properties.iter().position(|p| p.name == "safe").expect("it is there");
    assert_eq!(case.answer.shortest[goal], Some(2));
    let initial = case.program.initial_state();
    let at = |depth| Heuristic::new(&case.program, &case.goals[goal], depth);
    let steps = |heuristic: &Heuristic<'_>| heuristic.steps(&initial, &mut Vec::new());
    assert_eq!([0, 1, 2, 8].map(|depth| steps(&at(depth))), [2, 2, 2, 2]);
    let mut sum = at(1);
    let Some(Part::Sum(groups)) =
        sum.parts().iter().find(|part| matches!(part, Part::Sum(groups) if groups.len() == 1))
    else {
        panic!("both parts are in one group: {:?}", sum.parts())
    };
    let apart = Part::Sum(groups[0].iter().map(|&part| vec![part]).collect());
    let merged = Part::Sum(groups.clone());
    sum.parts_mut().iter_mut().filter(|part| **part == merged).for_each(|part| *part = apart.clone());
    assert_eq!(steps(&sum), 3);
    estimated(&case, None).expect("the right sum is right");
}

#[test]
fn directed_search_of_random_programs_finds_the_shortest_way() {
    for (seed, text, case) in programs(PROGRAMS) {
        let interpreter = Interpreter::new(&case.program, &case.goals);
        let (given, deepened) = (Some(seed as u32 % 4), directed(&case, &interpreter, None));
        for (model, refine, weight) in
            [(&directed(&case, &interpreter, given), given, 1), (&deepened, None, 1), (&deepened, None, 3)]
        {
            let hunt = |job: &Job| astar(model, weight, job);
            if let Err(why) = check(&case, &Subject { shortest: weight == 1, hunt: &hunt }, 3) {
                panic!("seed {seed}, depth {refine:?}, weight {weight}: {why}\n{text}");
            }
        }
    }
}

/// With a weight, runs are sometimes longer: without one, that they are shortest is no accident.
#[test]
fn weighted_search_is_not_taken_for_shortest() {
    let is_longer = |(.., case): (u64, String, Case)| {
        let job = Job { keep_going: true, ..Job::new(case.goals.len(), Limits::NONE) };
        let interpreter = Interpreter::new(&case.program, &case.goals);
        let hunt = astar(&directed(&case, &interpreter, None), 5, &job);
        hunt.outcomes.iter().zip(&case.answer.shortest).any(|(outcome, shortest)| match outcome {
            Outcome::Found(trace) => Some(trace.steps.len() as u32) > *shortest,
            _ => false,
        })
    };
    assert!(programs(PROGRAMS).any(is_longer), "every run is shortest");
}

fn beam(model: &dyn Model, width: usize, seed: u64, job: &Job) -> Hunt {
    let options = Options::default().with(&BEAM, Value::Number(width as u64));
    let engine = engine("astar").expect("it is in the table");
    hunt::of_model(engine, model, &Job { options, seed, ..job.clone() }, &mut Patient)
}

/// A beam that is wide enough is everything; a narrow one finds only what is there, says that it is a sample, and is the
/// same for the same seed and any number of threads.
#[test]
fn a_beam_is_a_sample_and_never_a_false_alarm() {
    let (mut curtailed, mut found) = (0, 0);
    for (seed, text, case) in programs(PROGRAMS) {
        let interpreter = Interpreter::new(&case.program, &case.goals);
        let model = directed(&case, &interpreter, None);
        let whole = Job { keep_going: true, ..Job::new(case.goals.len(), Limits::NONE) };
        let wide = beam(&model, usize::MAX, seed, &whole);
        let lengths = |hunt: &Hunt| -> Vec<Option<u32>> {
            let length = |outcome: &Outcome| match outcome {
                Outcome::Found(trace) => Some(trace.steps.len() as u32),
                _ => None,
            };
            hunt.outcomes.iter().map(length).collect()
        };
        assert_eq!(wide.coverage, Coverage::Complete, "seed {seed}\n{text}");
        assert_eq!(wide.stats.states, case.answer.states, "seed {seed}\n{text}");
        assert_eq!(lengths(&wide), case.answer.shortest, "seed {seed}\n{text}");
        let narrow = beam(&model, 2, seed, &whole);
        for (goal, outcome) in narrow.outcomes.iter().enumerate() {
            match outcome {
                Outcome::Found(trace) => {
                    let run =
                        replay(&case.program, trace).unwrap_or_else(|error| panic!("seed {seed}: {error}\n{text}"));
                    let property = &case.program.properties[goal];
                    run.confirm(&case.program, property).unwrap_or_else(|error| panic!("seed {seed}: {error}\n{text}"));
                    found += 1;
                }
                Outcome::Absent => assert_eq!(narrow.coverage, Coverage::Complete, "seed {seed}\n{text}"),
                Outcome::Untraced(_) | Outcome::Inconclusive => {}
            }
        }
        let is_all = narrow.stats.states == case.answer.states;
        assert_eq!(narrow.coverage == Coverage::Complete, is_all, "seed {seed}\n{text}");
        curtailed += usize::from(!is_all);
        let limits = Limits { threads: 2, grain: 1, ..Limits::NONE };
        let shared = beam(&model, 2, seed, &Job { limits, ..whole.clone() });
        assert_eq!(
            (shared.stats.states, &shared.outcomes),
            (narrow.stats.states, &narrow.outcomes),
            "seed {seed}\n{text}"
        );
    }
    assert!(curtailed > 10 && found > 10, "{curtailed} were curtailed, {found} found");
}

/// Of each level the states with the best estimates are followed, and no others.
#[test]
fn a_beam_follows_what_seems_nearest() {
    // Straight ahead is the goal; everything else leads away from it.
    let text = "system Line { int (0, 10) x := 5;
        active thread T() { loc run: when x < 10 do { x := x + 1; } goto run; when x > 0 do { x := x - 1; } goto run;
            when x > 1 do { x := x - 2; } goto run; }
        invariant low: x < 10; }";
    let case = case::make(text).usable().expect("it is a program");
    let goal = case.program.properties.iter().position(|p| p.name == "low").expect("it is there");
    let one = vec![case.goals[goal].clone()];
    let interpreter = Interpreter::new(&case.program, &one);
    let refined = vec![Heuristic::new(&case.program, &one[0], 8)];
    let model = Directed::new(&interpreter, refined);
    let job = Job { stop_at: GoalSet(1), ..Job::new(1, Limits::NONE) };
    let hunt = beam(&model, 1, 7, &job);
    let Outcome::Found(trace) = &hunt.outcomes[0] else { panic!("{:?}", hunt.coverage) };
    assert_eq!((trace.steps.len(), hunt.stats.states), (5, 6));
}

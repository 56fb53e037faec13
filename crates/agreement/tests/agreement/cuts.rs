//! What a search says it covered, took and left, against the graph: for random programs, every engine, and every way to
//! be ended early.

use std::collections::HashMap;

use birk_agreement::case::{Case, cases, seeds};
use birk_agreement::check::{Checked, same};
use birk_agreement::hunt::{self, Ends};
use birk_engine::{Cutoff, Hunt, Job, Limits, Model, Observer, Options, Patient, Successors, Value};
use birk_exec::automaton::violations_of;
use birk_exec::{Interpreter, Product};
use birk_ir::{Coverage, Expr, Formula, Goal, Stop};
use birk_search::ENGINES;
use birk_search::bitstate::BitState;
use birk_search::bounded::INCREMENT;
use birk_search::highway::Highway;
use birk_search::liveness::CycleSearch;

/// A model's graph, the results of failing checks included: distances, and steps as from, transition, to.
struct Graph {
    depths: Vec<u32>,
    steps: Vec<(usize, usize, usize)>,
    transitions: usize,
    /// States, without the results of failing checks, at each distance.
    levels: Vec<u64>,
}

impl Graph {
    fn of(model: &dyn Model) -> Self {
        let mut batch = Successors::new(model.words());
        model.initial(&mut batch);
        let mut numbers = HashMap::new();
        let (mut states, mut depths, mut steps) = (Vec::new(), Vec::new(), Vec::new());
        for i in 0..batch.len() {
            let state = batch.state(i).to_vec();
            if numbers.insert(state.clone(), states.len()).is_none() {
                states.push(state);
                depths.push(0);
            }
        }
        let mut at = 0;
        while at < states.len() {
            batch.clear();
            model.successors(&states[at], &mut batch);
            for i in 0..batch.len() {
                let to = *numbers.entry(batch.state(i).to_vec()).or_insert(states.len());
                if to == states.len() {
                    states.push(batch.state(i).to_vec());
                    depths.push(depths[at] + 1);
                }
                steps.push((at, batch.step(i).transition.index(), to));
            }
            at += 1;
        }
        let mut levels = vec![0; depths.last().map_or(0, |&depth| depth as usize + 1)];
        for (state, &depth) in states.iter().zip(&depths).filter(|(state, _)| !model.is_fault(state)) {
            debug_assert!(!state.is_empty());
            levels[depth as usize] += 1;
        }
        Self { depths, steps, transitions: model.transitions(), levels }
    }

    fn deepest(&self) -> u32 {
        self.depths.iter().copied().max().unwrap_or(0)
    }

    /// The transitions of the steps of a kind.
    fn transitions(&self, is_meant: impl Fn(u32, u32) -> bool) -> Vec<bool> {
        let mut found = vec![false; self.transitions];
        for &(from, transition, to) in &self.steps {
            found[transition] |= is_meant(self.depths[from], self.depths[to]);
        }
        found
    }

    /// What a depth limit cuts.
    fn border(&self, limit: u32) -> Cutoff {
        let mut open = vec![0; self.transitions];
        let mut states: Vec<usize> = Vec::new();
        for &(from, transition, _) in self.steps.iter().filter(|step| self.depths[step.2] > limit) {
            if self.depths[from] == limit {
                open[transition] += 1;
                states.push(from);
            }
        }
        states.dedup();
        Cutoff { states: states.len() as u64, examined: states.len() as u64, open, ..Cutoff::default() }
    }
}

/// How a search covers.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    /// Level by level.
    Levels,
    /// Bound by bound.
    Bounds,
    /// Without a claim until it is complete.
    Sample,
}

/// Everything that can be said of the end of a search, whatever ended it; `limit` is the depth limit.
fn honest(graph: &Graph, hunt: &Hunt, kind: Kind, limit: u32) -> Checked {
    let truth = graph.transitions(|_, _| true);
    let border = &hunt.stats.cutoff;
    let none = vec![0; graph.transitions];
    let open = if border.open.is_empty() { &none } else { &border.open };
    let within = |fired: &[bool]| fired.iter().zip(&truth).all(|(fired, truth)| !fired || *truth);
    same("what was taken can be taken", &within(&hunt.fired), &true)?;
    let is_open: Vec<bool> = open.iter().map(|&open| open > 0).collect();
    same("what is open can be taken", &within(&is_open), &true)?;
    for &(depth, states) in hunt.stats.bounded().iter().flat_map(|stats| &stats.bounds) {
        let within: u64 = graph.levels.iter().take(depth as usize + 1).sum();
        same("states within a bound", &states, &within)?;
    }
    let is_early = matches!(hunt.stopped, Stop::Time | Stop::States | Stop::Memory | Stop::Interrupt);
    if !is_early && hunt.stopped != Stop::Depth && hunt.coverage == Coverage::Complete {
        same("taken", &hunt.fired, &truth)?;
        same("states", &hunt.stats.states, &graph.levels.iter().sum())?;
        return same("nothing is cut", &(border.states, &is_open), &(0, &vec![false; graph.transitions]));
    }
    same("complete, but ended early", &(hunt.coverage == Coverage::Complete), &false)?;
    if hunt.stopped == Stop::Goal {
        return same("where it ended at a goal nothing is told", &border.states, &0);
    }
    same("what is examined", &(border.examined <= border.states), &true)?;
    let seen = |transition: usize| hunt.fired[transition] || open[transition] > 0;
    let all_seen = |is_meant: &dyn Fn(u32, u32) -> bool| {
        let meant = graph.transitions(is_meant);
        (0..graph.transitions).all(|transition| !meant[transition] || seen(transition))
    };
    if !hunt.fired.is_empty() {
        same("steps of initial states", &all_seen(&|from, _| from == 0), &true)?;
    }
    if hunt.fired != truth {
        same("something lies beyond the border", &is_open.contains(&true), &true)?;
    }
    let Coverage::Depth(depth) = hunt.coverage else { return Ok(()) };
    match hunt.stopped {
        Stop::Depth => {
            same("depth", &depth, &limit)?;
            same("a limit beyond everything", &(graph.deepest() > limit), &true)?;
            let expected = graph.transitions(|from, to| from.max(to) <= depth);
            same("taken within the depth", &hunt.fired, &expected)?;
            same("border", border, &graph.border(depth))
        }
        _ => {
            // The states of the last bound wait, those of the last level were expanded.
            let expected = graph.transitions(|from, _| from < depth + u32::from(kind == Kind::Levels));
            let taken = (0..graph.transitions).all(|transition| !expected[transition] || hunt.fired[transition]);
            same("taken within what is covered", &taken, &true)?;
            let near: u64 = graph.levels.iter().take(depth as usize + 1).sum();
            same("states within what is covered", &(hunt.stats.states >= near), &true)?;
            let reached = if kind == Kind::Levels { depth + 1 } else { depth };
            same("steps of what was reached", &all_seen(&|from, _| from <= reached), &true)
        }
    }
}

/// A search of a model with these limits.
type Search<'a> = &'a dyn Fn(&dyn Model, &Job, &mut dyn Observer) -> Hunt;

/// A search is ended in every way.
fn ended(case: &Case, graph: &Graph, kind: Kind, search: Search<'_>) -> Checked {
    let model = Interpreter::new(&case.program, &case.goals);
    let goals = case.goals.len();
    let mut depths: Vec<u32> = vec![0, 1, 2, graph.deepest() / 2, graph.deepest().saturating_sub(1), graph.deepest()];
    depths.push(graph.deepest() + 1);
    let increments: &[u64] = if kind == Kind::Bounds { &[1, 2, 3] } else { &[1] };
    for &increment in increments {
        let options = Options::default().with(&INCREMENT, Value::Number(increment));
        let job = |limits| Job { keep_going: true, options: options.clone(), ..Job::new(goals, limits) };
        for &depth in &depths {
            let hunt = search(&model, &job(Limits { depth, ..Limits::NONE }), &mut Patient);
            honest(graph, &hunt, kind, depth).map_err(|why| format!("depth limit {depth}: {why}"))?;
            let is_complete = hunt.coverage == Coverage::Complete;
            if kind != Kind::Sample {
                same("complete, exactly if nothing lies beyond", &is_complete, &(graph.deepest() <= depth))?;
            }
        }
        let most = graph.depths.len() as u64;
        for states in [0, 1, most / 3, most / 2, most.saturating_sub(2)] {
            let hunt = search(&model, &job(Limits { states, ..Limits::NONE }), &mut Patient);
            honest(graph, &hunt, kind, u32::MAX).map_err(|why| format!("at most {states} states: {why}"))?;
        }
        for asked in [1, 2, 3, 7] {
            let limits = Limits { depth: graph.deepest() / 2 + 1, ..Limits::NONE };
            let hunt = search(&model, &job(limits), &mut Ends(asked));
            honest(graph, &hunt, kind, limits.depth).map_err(|why| format!("asked {asked} times: {why}"))?;
        }
    }
    Ok(())
}

/// Every engine, and what may be put in its place.
fn all_searches(case: &Case) -> Checked {
    let graph = Graph::of(&Interpreter::new(&case.program, &case.goals));
    for engine in ENGINES {
        let kind = match engine.name {
            "bfs" => Kind::Levels,
            "depth" | "depth-naive" => Kind::Bounds,
            _ => Kind::Sample,
        };
        ended(case, &graph, kind, &|model, job, observer| hunt::of_model(engine, model, job, observer))
            .map_err(|why| format!("{}: {why}", engine.name))?;
    }
    for (width, degrade_depth) in [(1, None), (3, None), (2, Some(2))] {
        let highway = Highway { width, degrade_depth, seed: 7, is_beam: false };
        ended(case, &graph, Kind::Sample, &|model, job, observer| highway.hunt(model, job, observer))
            .map_err(|why| format!("highway of width {width}: {why}"))?;
    }
    let bitstate = BitState { bytes: 1 << 12, expected: None, swarm: 1, seed: 0 };
    ended(case, &graph, Kind::Sample, &|model, job, observer| bitstate.hunt(model, job, observer))
        .map_err(|why| format!("bits: {why}"))
}

/// The hunt for cycles, in the product with the automaton of a formula.
fn all_chases(case: &Case, threads: usize) -> Checked {
    let Some(Goal::State(bad)) = case.goals.last() else { return Ok(()) };
    // No run comes to a state in which the goal is true; `Stuck` is left to the search for states.
    let mut has_stuck = false;
    bad.walk(&mut |expr| has_stuck |= *expr == Expr::Stuck);
    let atom = if has_stuck { Expr::TRUE } else { bad.clone() };
    let formula = Formula::Eventually(Box::new(Formula::Always(Box::new(Formula::Atom(atom)))));
    let (automaton, propositions) = violations_of(&formula).map_err(|error| error.to_string())?;
    let goals: Vec<Goal> = propositions.into_iter().map(Goal::State).collect();
    let model = Interpreter::new(&case.program, &goals);
    let product = Product::new(&model, automaton, None);
    let graph = Graph::of(&product);
    for depth in [1, graph.deepest() / 2, graph.deepest(), u32::MAX] {
        for (states, asked) in [(u64::MAX, u32::MAX), (0, u32::MAX), (u64::MAX, 1), (u64::MAX, 2)] {
            let job = Job::new(1, Limits { depth, states, threads, ..Limits::NONE });
            let cycle_search = CycleSearch::of(product.is_weak(), &job);
            let hunt = cycle_search.hunt(&product, &mut Ends(asked));
            let here = |why| format!("{threads} threads, depth {depth}, {states} states, asked {asked} times: {why}");
            if hunt.fired.is_empty() {
                same("nothing was searched", &matches!(hunt.coverage, Coverage::Partial(_)), &true)?;
                continue;
            }
            honest(&graph, &hunt, Kind::Sample, depth).map_err(here)?;
        }
    }
    Ok(())
}

fn programs(part: u64) -> Vec<Case> {
    (part..seeds(80)).step_by(4).flat_map(|seed| cases(70_000 + seed..70_001 + seed)).collect()
}

fn look(part: u64) {
    let programs = programs(part);
    assert!(programs.len() > 10, "{} programs are of use", programs.len());
    for case in programs {
        let text = case.program.system.clone();
        all_searches(&case).unwrap_or_else(|why| panic!("{text}: {why}"));
        for threads in [1, 2] {
            all_chases(&case, threads).unwrap_or_else(|why| panic!("{text}: {why}"));
        }
    }
}

#[test]
fn searches_say_truly_where_they_were_cut_0() {
    look(0);
}

#[test]
fn searches_say_truly_where_they_were_cut_1() {
    look(1);
}

#[test]
fn searches_say_truly_where_they_were_cut_2() {
    look(2);
}

#[test]
fn searches_say_truly_where_they_were_cut_3() {
    look(3);
}

/// A way to bend the end of a search.
type Bend = fn(&mut Hunt);

/// What a search must not get wrong; each is noticed.
#[test]
fn bent_ends_are_noticed() {
    let bends: [(&str, Bend); 8] = [
        ("one transition less was taken", |hunt| {
            hunt.fired.iter_mut().find(|fired| **fired).into_iter().for_each(|fired| *fired = false);
        }),
        ("all transitions were taken", |hunt| hunt.fired.fill(true)),
        ("steps at the border count as taken", |hunt| {
            hunt.fired.iter_mut().zip(&hunt.stats.cutoff.open).for_each(|(fired, open)| *fired |= *open > 0);
        }),
        ("a step at the border is forgotten", |hunt| {
            hunt.stats.cutoff.open.iter_mut().find(|open| **open > 0).into_iter().for_each(|open| *open -= 1);
        }),
        ("one state more is at the border", |hunt| hunt.stats.cutoff.states += 1),
        ("the border is forgotten", |hunt| hunt.stats.cutoff = Cutoff::default()),
        ("one step deeper", |hunt| {
            if let Coverage::Depth(depth) = &mut hunt.coverage {
                *depth += 1;
            }
        }),
        ("complete", |hunt| (hunt.coverage, hunt.stopped) = (Coverage::Complete, Stop::Exhausted)),
    ];
    let cases = cases(70_000..70_040);
    for (kind, engine) in [Kind::Levels, Kind::Bounds].into_iter().zip(["bfs", "depth"]) {
        let engine = birk_search::engine(engine).expect("it is in the table");
        for (what, bend) in bends {
            let notices = |case: &Case| {
                let graph = Graph::of(&Interpreter::new(&case.program, &case.goals));
                let bent = |model: &dyn Model, job: &Job, observer: &mut dyn Observer| {
                    let mut hunt = hunt::of_model(engine, model, job, observer);
                    bend(&mut hunt);
                    hunt
                };
                ended(case, &graph, kind, &bent).is_err()
            };
            assert!(cases.iter().any(notices), "nobody notices with {}: {what}", engine.name);
        }
    }
}

//! Which conditions are inductive, on random programs, against brute force over all states that there can be.

use std::collections::HashMap;

use birk::certificate::of_properties;
use birk::certify::{Refusal, check};
use birk_agreement::case::{Case, programs};
use birk_agreement::check::{Checked, same};
use birk_agreement::hunt::Ends;
use birk_agreement::random::Random;
use birk_engine::{Job, Limits, Model as _, Patient};
use birk_exec::Interpreter;
use birk_ir::{Expr, Goal, Invariant, Outcome, Program, Property, PropertyKind, VarId};
use birk_symbolic::{Breach, Gap, induction, strengthen};

use crate::certificates::{MOST, State, all_states, expand, is_true, reachable};

/// How many programs are examined, unless the environment says otherwise.
const PROGRAMS: u64 = 300;
/// So many conditions are drawn for each.
const CONDITIONS: usize = 8;

/// Conditions such as `!(x[1] == 2 && y == 0)`, of elements that steps write, as invariants of the program.
fn conditions(program: &Program, random: &mut Random) -> Vec<Property> {
    let is_written = |&number: &usize| {
        let variable = &program.variables[number];
        variable.lo < variable.hi && !variable.is_empty()
    };
    let written: Vec<usize> = (0..program.variables.len()).filter(is_written).collect();
    let mut part = || {
        let one = written[random.below(written.len())];
        let variable = &program.variables[one];
        let element = random.below(variable.len() as usize) as i64;
        let value = variable.lo + random.below((variable.hi - variable.lo + 1).min(4) as usize) as i64;
        Expr::element(VarId::new(one), Expr::Const(element)).equals(value)
    };
    let condition = |number: usize| {
        let is = if number.is_multiple_of(2) { part() } else { part().and(part()) };
        let kind = PropertyKind::Invariant(is.negate());
        Property { name: format!("drawn_{number}"), kind, ..program.properties[0].clone() }
    };
    if written.is_empty() { Vec::new() } else { (0..CONDITIONS).map(condition).collect() }
}

/// The successors of a state, and which goals each meets.
struct Graph<'p> {
    model: Interpreter<'p>,
    known: HashMap<State, Vec<bool>>,
    goals: usize,
}

impl Graph<'_> {
    fn next(&self, state: &[u32]) -> Vec<State> {
        expand(&self.model, state).0
    }

    /// Which conditions are false.
    fn bad(&mut self, state: &[u32]) -> Vec<bool> {
        let (model, goals) = (&self.model, self.goals);
        let evaluate = || {
            let met = model.evaluate(state, false);
            (0..goals).map(|goal| met.contains(goal)).collect()
        };
        self.known.entry(state.to_vec()).or_insert_with(evaluate).clone()
    }

    /// Which conditions are false in some initial state.
    fn bad_initially(&mut self, program: &Program) -> Vec<bool> {
        let mut bad = vec![false; self.goals];
        for state in program.initial_states() {
            bad.iter_mut().zip(self.bad(&state)).for_each(|(any, here)| *any |= here);
        }
        bad
    }

    /// The largest part of the conditions that is inductive.
    fn inductive(&mut self, program: &Program, states: &[State]) -> Vec<bool> {
        let mut kept: Vec<bool> = self.bad_initially(program).iter().map(|is_bad| !is_bad).collect();
        loop {
            let before = kept.clone();
            for state in states {
                let bad = self.bad(state);
                if (0..self.goals).any(|one| before[one] && bad[one]) {
                    continue;
                }
                for next in self.next(state) {
                    let bad = self.bad(&next);
                    (0..self.goals).for_each(|one| kept[one] &= !bad[one]);
                }
            }
            if kept == before {
                return kept;
            }
        }
    }

    /// A counterexample to induction is one, and so is every other state like the part of it that matters.
    fn breaks(&mut self, program: &Program, condition: usize, breach: &Breach, states: &[State]) -> Checked {
        let [from, to] = &breach.states;
        let bad = self.bad(from);
        same("what is assumed", &breach.assumed.iter().all(|&one| !bad[one]), &true)?;
        same("the step", &self.next(from).contains(to), &true)?;
        same("the condition", &self.bad(to)[condition], &true)?;
        for state in states {
            let is_like = breach.part.iter().all(|is| {
                program.layout.slot(is.variable).get(state, is.element) >> is.bit & 1 == i64::from(is.is_set)
            });
            if is_like {
                let leads = self.next(state).iter().any(|next| self.bad(next)[condition]);
                same("a state like it", &leads, &true)?;
            }
        }
        Ok(())
    }
}

fn examined(case: &Case, random: &mut Random, tried: &mut [u32; 5]) -> Checked {
    let mut program = case.program.clone();
    if program.interpreted_only().is_some() {
        return Ok(());
    }
    program.properties = conditions(&program, random);
    let goals: Vec<Goal> =
        program.properties.iter().filter_map(|property| birk_exec::goal_of(&program, property)).collect();
    let bad: Vec<&Expr> = goals.iter().map(|Goal::State(bad)| bad).collect();
    let Ok(found) = induction(&program, &bad, u64::MAX, &mut Patient) else { return Ok(()) };
    let Some(mut states) = all_states(&program) else { return Ok(()) };
    let bounds = Invariant { bounds: found.bounds.clone(), excluded: Vec::new() };
    states.retain(|state| is_true(&program, &bounds, state));
    let mut graph = Graph { model: Interpreter::new(&program, &goals), known: HashMap::new(), goals: goals.len() };
    let expected = graph.inductive(&program, &states);
    let kept: Vec<bool> = found.gaps.iter().map(Option::is_none).collect();
    same("what is inductive", &kept, &expected)?;
    for (condition, gap) in found.gaps.iter().enumerate() {
        match gap {
            Some(Gap::Initial) => {
                same("initially", &graph.bad_initially(&program)[condition], &true)?;
                tried[0] += 1;
            }
            Some(Gap::Step(breach)) => {
                graph.breaks(&program, condition, breach, &states)?;
                tried[1] += 1;
            }
            None => tried[2] += 1,
        }
    }
    strengthened(&program, &goals, &kept, &mut graph, tried)?;
    // The certifier agrees, and does not accept one condition more.
    for extra in (0..kept.len()).map(Some).chain([None]).filter(|one| one.is_none_or(|one| !kept[one])) {
        let is_named = |number: usize| kept[number] || extra == Some(number);
        let named: Vec<&Property> =
            (0..kept.len()).filter(|one| is_named(*one)).map(|at| &program.properties[at]).collect();
        if named.is_empty() {
            continue;
        }
        match check(&program, &of_properties(&program, &named, &bounds), &|| true) {
            Err(Refusal::Unknown(_)) => {}
            answer => same("certified", &answer.is_ok(), &extra.is_none())?,
        }
    }
    Ok(())
}

/// What IC3 says of the others, where it knows those that are inductive, is what can be reached.
fn strengthened(
    program: &Program,
    goals: &[Goal],
    kept: &[bool],
    graph: &mut Graph<'_>,
    tried: &mut [u32; 5],
) -> Checked {
    let known: Vec<&Expr> =
        goals.iter().zip(kept).filter(|(_, kept)| **kept).map(|(Goal::State(bad), _)| bad).collect();
    let reached = reachable(&graph.model, program);
    for goal in (0..goals.len()).filter(|&goal| !kept[goal]) {
        let job = Job::new(1, Limits::NONE);
        let Ok(hunt) = strengthen(program, &goals[goal..=goal], &known, &job, &mut Ends(MOST)) else { continue };
        let is_reached = reached.iter().any(|state| graph.bad(state)[goal]);
        match &hunt.outcomes[0] {
            Outcome::Found(_) => tried[3] += 1,
            Outcome::Absent => tried[4] += 1,
            _ => continue,
        }
        same("reached", &matches!(hunt.outcomes[0], Outcome::Found(_)), &is_reached)?;
        let Some([Some(invariant)]) = hunt.stats.sat().map(|sat| &sat.invariants[..]) else { continue };
        let is_named = |number: &usize| kept[*number] || *number == goal;
        let named: Vec<&Property> = (0..kept.len()).filter(is_named).map(|at| &program.properties[at]).collect();
        match check(program, &of_properties(program, &named, invariant), &|| true) {
            Err(Refusal::Unknown(_)) => {}
            answer => same("certified", &answer.err(), &None)?,
        }
    }
    Ok(())
}

#[test]
fn what_is_inductive_is_what_brute_force_says() {
    let mut tried = [0; 5];
    for (seed, text, case) in programs(PROGRAMS) {
        if let Err(why) = examined(&case, &mut Random::new(seed), &mut tried) {
            panic!("seed {seed}: {why}\n{text}");
        }
    }
    println!("{tried:?}");
    assert!(tried.iter().all(|&count| count > 10), "not everything was tried: {tried:?}");
}

//! Which steps of a run matter, on random programs: everything that an explanation claims is decided again, by going through all
//! executions up to the length, or through the whole state graph. A claim that is turned round is noticed.

use std::collections::{HashMap, HashSet};

use birk_agreement::case::{Case, programs, seeds};
use birk_agreement::check::{Checked, same};
use birk_engine::{Model as _, Successors};
use birk_exec::explanation::EscapeEnd;
use birk_exec::{Effort, Explanation, Interpreter, Random, Replayed, Role, explain_run, replay};
use birk_ir::{Property, Step, ThreadId, Trace};

/// How many programs are examined, unless the environment says otherwise.
const PROGRAMS: u64 = 120;
/// Programs with more states are left out, unless the environment asks for more programs.
const MOST_STATES: u64 = 1_000;
/// More than any of them needs.
const PLENTY: u64 = 100_000_000;

#[derive(Debug, Default)]
struct Tally {
    runs: u64,
    matters: u64,
    replaceable: u64,
    forced: u64,
    unavoidable: u64,
    superfluous: u64,
    unknown: u64,
    escapes: u64,
    inevitable: u64,
    beginnings: [u64; 2],
}

/// A state as a brute-force search sees it.
struct Seen {
    is_goal: bool,
    /// Steps that are pruned are no way out.
    is_pruned: bool,
    steps: Vec<(Step, ThreadId, Vec<u32>)>,
}

/// The whole state graph, without any of the structures of the explanation.
struct Whole<'c> {
    case: &'c Case,
    states: HashMap<Vec<u32>, Seen>,
}

impl<'c> Whole<'c> {
    fn new(case: &'c Case, goal: usize) -> Self {
        let model = Interpreter::new(&case.program, &case.goals);
        let mut open = case.program.initial_states();
        let mut states = HashMap::new();
        while let Some(state) = open.pop() {
            if states.contains_key(&state) {
                continue;
            }
            let mut batch = Successors::new(model.words());
            if !model.is_fault(&state) {
                model.successors(&state, &mut batch);
            }
            let is_stuck = !model.is_fault(&state) && batch.is_stuck_since(0, 0);
            let step = |at| {
                let step: Step = batch.step(at);
                (step, case.program.transition(step.transition).thread, batch.state(at).to_vec())
            };
            let steps: Vec<_> = (0..batch.len()).map(step).collect();
            open.extend(steps.iter().map(|(.., to)| to.clone()));
            let is_pruned = steps.is_empty() && !is_stuck && !model.is_fault(&state);
            states.insert(
                state.clone(),
                Seen { is_goal: model.evaluate(&state, is_stuck).contains(goal), is_pruned, steps },
            );
        }
        Self { case, states }
    }

    /// Whether some execution of these threads meets the goal, from one of these states in at most so many steps.
    fn leads(&self, starts: Vec<Vec<u32>>, most: u32, threads: &HashSet<ThreadId>) -> bool {
        let mut here: HashSet<Vec<u32>> = starts.into_iter().collect();
        for left in (0..=most).rev() {
            if here.iter().any(|state| self.states[state].is_goal) {
                return true;
            }
            if left > 0 {
                let of = |state| self.states[state].steps.iter().filter(|(_, thread, _)| threads.contains(thread));
                here = here.iter().flat_map(of).map(|(.., to)| to.clone()).collect();
            }
        }
        false
    }

    /// The states from which every execution meets the goal: added round by round, from the goals on.
    fn doomed(&self) -> HashSet<&Vec<u32>> {
        let mut doomed: HashSet<&Vec<u32>> = HashSet::new();
        loop {
            let is_doomed = |seen: &Seen| {
                let all = seen.steps.iter().all(|(.., to)| doomed.contains(to));
                seen.is_goal || seen.is_pruned || !seen.steps.is_empty() && all
            };
            let next: HashSet<&Vec<u32>> =
                self.states.iter().filter(|(_, seen)| is_doomed(seen)).map(|at| at.0).collect();
            if next.len() == doomed.len() {
                return doomed;
            }
            doomed = next;
        }
    }

    fn ends_at_goal(&self, trace: &Trace) -> bool {
        replay(&self.case.program, trace).is_ok_and(|run| self.states[run.last()].is_goal)
    }
}

/// Whether everything that is claimed of a run is true.
fn is_true(whole: &Whole<'_>, run: &Replayed, found: &Explanation, tally: &mut Tally) -> Checked {
    let program = &whole.case.program;
    let is_left = |&at: &usize| found.steps[at] != Role::Superfluous;
    let kept: Vec<usize> = (0..run.steps.len()).filter(is_left).collect();
    let steps: Vec<Step> = kept.iter().map(|&at| run.steps[at]).collect();
    let trace = Trace { initial: run.initial, steps: steps.clone(), loop_start: None };
    same("the shorter run", &found.shorter, &(kept.len() < run.steps.len()).then(|| trace.clone()))?;
    same("the shorter run leads there", &whole.ends_at_goal(&trace), &true)?;
    let left = replay(program, &trace).map_err(|error| error.to_string())?;
    let thread = |step: &Step| program.transition(step.transition).thread;
    let threads: HashSet<ThreadId> = steps.iter().map(thread).collect();
    let doomed = whole.doomed();
    for (at, &number) in kept.iter().enumerate() {
        let most = found.within - at as u32 - 1;
        let seen = &whole.states[&left.states[at]];
        let others = || seen.steps.iter().filter(|other| other.0 != steps[at] && threads.contains(&other.1));
        let leads = |only: Option<Step>| {
            let starts = others().filter(|other| only.is_none_or(|only| only == other.0)).map(|other| other.2.clone());
            whole.leads(starts.collect(), most, &threads)
        };
        let what = format!("step {number}");
        match &found.steps[number] {
            Role::Matters(listed) => {
                let all: Vec<(Step, Vec<u32>)> = others().map(|other| (other.0, other.2.clone())).collect();
                same(&format!("{what}: what else is possible"), listed, &all)?;
                same(&format!("{what}: it matters"), &(!all.is_empty() && !leads(None)), &true)?;
                tally.matters += 1;
            }
            Role::Replaceable(by) => {
                same(&format!("{what}: replaceable"), &leads(Some(*by)), &true)?;
                tally.replaceable += 1;
            }
            Role::Forced => {
                same(&format!("{what}: forced"), &others().count(), &0)?;
                tally.forced += 1;
            }
            Role::Unavoidable => {
                same(&format!("{what}: unavoidable"), &doomed.contains(&left.states[at]), &true)?;
                tally.unavoidable += 1;
            }
            Role::Unknown => tally.unknown += 1,
            Role::Superfluous => unreachable!("it is not kept"),
        }
    }
    tally.superfluous += (run.steps.len() - kept.len()) as u64;
    beginnings(whole, run, (found, &threads), tally)?;
    endings(whole, (&left, &kept), (found, run.steps.len()), (&doomed, tally))
}

/// What is claimed of initial values.
fn beginnings(
    whole: &Whole<'_>,
    run: &Replayed,
    (found, threads): (&Explanation, &HashSet<ThreadId>),
    tally: &mut Tally,
) -> Checked {
    let program = &whole.case.program;
    let states = program.initial_states();
    for beginning in &found.initial {
        let choice = &program.choices[beginning.choice];
        let value = |state: &[u32]| program.layout.slot(choice.variable).get(state, choice.element);
        same("initial value", &beginning.value, &value(&states[run.initial as usize]))?;
        let others = states.iter().filter(|state| value(state) != beginning.value).cloned().collect();
        let Some(matters) = beginning.matters else { continue };
        same("the initial value matters", &matters, &!whole.leads(others, found.within, threads))?;
        tally.beginnings[usize::from(matters)] += 1;
    }
    Ok(())
}

/// What is claimed to be unavoidable, and how it is avoided before.
fn endings(
    whole: &Whole<'_>,
    (left, kept): (&Replayed, &[usize]),
    (found, length): (&Explanation, usize),
    (doomed, tally): (&HashSet<&Vec<u32>>, &mut Tally),
) -> Checked {
    let number = |steps: usize| if steps == 0 { 0 } else { kept[steps - 1] + 1 };
    for (steps, state) in left.states.iter().enumerate() {
        let is_claimed = number(steps) >= found.unavoidable_after && found.unavoidable_after < length;
        same(&format!("doomed after {steps}"), &(is_claimed && !doomed.contains(state)), &false)?;
    }
    tally.inevitable += u64::from(found.unavoidable_after == 0 && length > 0);
    let Some(escape) = &found.escape else { return Ok(()) };
    let at = kept.iter().position(|&at| at == escape.instead_of).ok_or("the step that is replaced is superfluous")?;
    same("the last place to escape", &doomed.contains(&left.states[at]), &false)?;
    same("none behind it", &doomed.contains(&left.states[at + 1]), &true)?;
    same("the same until there", &&escape.trace.steps[..at], &&left.steps[..at])?;
    same("another step there", &(escape.trace.steps[at] == left.steps[at]), &false)?;
    let away = replay(&whole.case.program, &escape.trace).map_err(|error| format!("escape: {error}"))?;
    same("after the other step", &escape.after, &away.states[at + 1])?;
    same("the goal is avoided", &away.states.iter().any(|state| whole.states[state].is_goal), &false)?;
    match escape.end {
        EscapeEnd::Fault => same("it ends", &whole.states[away.last()].steps.len(), &0)?,
        EscapeEnd::Ends | EscapeEnd::Forever => away.closes(&whole.case.program).map_err(|error| error.to_string())?,
    }
    tally.escapes += 1;
    Ok(())
}

/// A random run to a goal that is longer than it need be.
fn wander(whole: &Whole<'_>, random: &mut Random) -> Option<Trace> {
    let starts = whole.case.program.initial_states();
    for _ in 0..20 {
        let initial = random.below(starts.len());
        let mut trace = Trace { initial: initial as u32, ..Trace::default() };
        let mut here = &starts[initial];
        for _ in 0..60 {
            let seen = &whole.states[here];
            if seen.is_goal {
                return Some(trace);
            }
            if seen.steps.is_empty() {
                break;
            }
            let (step, _, to) = &seen.steps[random.below(seen.steps.len())];
            trace.steps.push(*step);
            here = to;
        }
    }
    None
}

/// No single step of what is left can be left out.
fn is_least(whole: &Whole<'_>, run: &Replayed, found: &Explanation) -> Checked {
    let all = found.shorter.clone().unwrap_or_else(|| run.trace());
    for at in 0..all.steps.len() {
        let mut less = all.clone();
        less.steps.remove(at);
        same(&format!("without step {at} of {:?}", all.steps), &whole.ends_at_goal(&less), &false)?;
    }
    Ok(())
}

/// An explanation in which one claim is turned round is not true.
fn mutants(whole: &Whole<'_>, run: &Replayed, found: &Explanation) -> Checked {
    for at in 0..found.steps.len() {
        let turned = match &found.steps[at] {
            Role::Matters(others) => Role::Replaceable(others[0].0),
            Role::Replaceable(by) => Role::Matters(vec![(*by, Vec::new())]),
            Role::Forced => Role::Matters(Vec::new()),
            Role::Superfluous => Role::Forced,
            Role::Unavoidable | Role::Unknown => continue,
        };
        let mut wrong = found.clone();
        wrong.steps[at] = turned;
        let is_noticed = is_true(whole, run, &wrong, &mut Tally::default()).is_err();
        same(&format!("the wrong claim of step {at} is noticed"), &is_noticed, &true)?;
    }
    if found.unavoidable_after > 0 && found.escape.is_some() {
        let mut wrong = found.clone();
        wrong.unavoidable_after -= 1;
        let is_noticed = is_true(whole, run, &wrong, &mut Tally::default()).is_err();
        // Only states of what is left are claimed to be doomed.
        let is_claimed = found.shorter.is_none();
        same("the wrong point of no return is noticed", &(is_claimed && !is_noticed), &false)?;
    }
    Ok(())
}

fn explained(whole: &Whole<'_>, property: &Property, trace: &Trace, tally: &mut Tally) -> Checked {
    let program = &whole.case.program;
    let run = replay(program, trace).map_err(|error| error.to_string())?;
    let explain = |effort: Effort| {
        let found = explain_run(program, property, &run, &effort).map_err(|error| error.to_string())?;
        found.ok_or_else(|| "a property of states is explained".to_owned())
    };
    for (steps, shrinks) in [(None, false), (None, true), (Some(trace.steps.len() as u32 + 3), true)] {
        let found = explain(Effort { work: PLENTY, steps, shrinks })?;
        is_true(whole, &run, &found, tally)?;
        same("all is known", &found.unknown().count(), &0)?;
        if shrinks {
            is_least(whole, &run, &found)?;
        }
        mutants(whole, &run, &found)?;
    }
    // With little work, less is known and nothing false.
    for work in [0, 10, 60, 300] {
        let found = explain(Effort { work, steps: None, shrinks: true })?;
        is_true(whole, &run, &found, tally)?;
    }
    tally.runs += 1;
    Ok(())
}

fn agreed(seed: u64, case: &Case, tally: &mut Tally) -> Checked {
    if case.answer.states > MOST_STATES && seeds(PROGRAMS) <= PROGRAMS {
        return Ok(());
    }
    let model = Interpreter::new(&case.program, &case.goals);
    for (goal, shortest) in case.answer.shortest.iter().enumerate() {
        let Some(length) = *shortest else { continue };
        let property = &case.program.properties[goal];
        let whole = Whole::new(case, goal);
        let trace = birk_exec::fewest_switches(&case.program, &model, goal, length, usize::MAX).ok_or("no run")?;
        explained(&whole, property, &trace, tally).map_err(|why| format!("goal {goal}: {why}"))?;
        if let Some(trace) = wander(&whole, &mut Random::new(seed)) {
            explained(&whole, property, &trace, tally).map_err(|why| format!("goal {goal}, {trace:?}: {why}"))?;
        }
    }
    Ok(())
}

#[test]
fn nothing_is_claimed_that_a_search_through_all_executions_refutes() {
    let mut tally = Tally::default();
    for (seed, text, case) in programs(PROGRAMS) {
        agreed(seed, &case, &mut tally).unwrap_or_else(|why| panic!("seed {seed}: {why}\n{text}"));
    }
    println!("{tally:?}");
    let kinds = [tally.matters, tally.replaceable, tally.forced, tally.unavoidable, tally.superfluous, tally.unknown];
    assert!(kinds.iter().all(|&number| number > 20) && tally.escapes > 20 && tally.inevitable > 5, "{tally:?}");
    assert!(tally.runs > 50 && tally.beginnings.iter().all(|&number| number > 0), "{tally:?}");
}

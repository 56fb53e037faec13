//! One program with everything that is known about it before an engine looks at it.

use std::collections::{HashMap, VecDeque};

use birk_engine::{Model as _, Successors};
use birk_exec::reference::{self, Answer};
use birk_exec::{Interpreter, goal_of};
use birk_ir::{Goal, Program, Property};
use birk_lang::ast::System;

use crate::programs::generate;
use crate::random::Random;
use crate::writer;

/// Larger programs are left out.
pub const MOST_STATES: usize = 5_000;
/// Smaller ones are drawn again, so many times at most.
const FEW_STATES: u64 = 12;
const CANDIDATES: u64 = 3;

/// A program and what the reference says about it.
pub struct Case {
    /// As the parser reads it.
    pub system: System,
    /// As it is lowered.
    pub program: Program,
    /// The goals of the properties, in their order.
    pub goals: Vec<Goal>,
    /// What the reference says.
    pub answer: Answer,
    /// What it does not count.
    pub survey: Survey,
}

/// What became of a text.
pub enum Made {
    /// It has errors: their messages.
    Refused(Vec<String>),
    /// It has too many states.
    TooLarge,
    /// It can be searched.
    Usable(Box<Case>),
}

impl Made {
    /// The case, if there is one.
    pub fn usable(self) -> Option<Case> {
        match self {
            Made::Usable(case) => Some(*case),
            Made::Refused(_) | Made::TooLarge => None,
        }
    }
}

/// What the reference does not count: the graph, the results of failing checks included.
#[derive(Debug, Default)]
pub struct Survey {
    /// Depth of the deepest state or result of a failing check.
    pub deepest: u32,
    /// Steps taken from the states of each depth.
    pub steps: Vec<u64>,
    /// For each transition, whether it is ever taken.
    pub fired: Vec<bool>,
}

/// The system of a seed, and its text: of several candidates the first in which enough happens, or else the last.
pub fn draw(seed: u64) -> (System, String) {
    let mut last = None;
    for candidate in 0..CANDIDATES {
        let system = generate(seed % 2 == 1, seed ^ candidate << 40);
        let text = writer::text(&system, &mut Random::new(seed ^ 0x5eed));
        if is_worth_it(&text) {
            return (system, text);
        }
        last = Some((system, text));
    }
    last.expect("there are candidates")
}

fn is_worth_it(text: &str) -> bool {
    let Some(mut program) = birk_lang::load(text, &[]).program else { return false };
    program.properties.retain(|property| !property.is_of_runs());
    let goals = goals_of(&program);
    reference::explore(&program, &goals, MOST_STATES).is_ok_and(|answer| answer.states >= FEW_STATES)
}

/// Loads a text and asks the reference.
pub fn make(text: &str) -> Made {
    let loaded = birk_lang::load(text, &[]);
    let Some(mut program) = loaded.program else {
        let errors = loaded.diagnostics.iter().filter(|d| !d.is_warning());
        return Made::Refused(errors.map(|d| format!("{} {} ({})", d.code, d.message, d.label)).collect());
    };
    // Marks of locations make properties of runs, which are not about single states.
    program.properties.retain(|property| !property.is_of_runs());
    let goals = goals_of(&program);
    let Ok(answer) = reference::explore(&program, &goals, MOST_STATES) else { return Made::TooLarge };
    let survey = survey(&Interpreter::new(&program, &goals));
    let system = birk_lang::parser::parse(text, 0).system.expect("a text with a program has a system");
    Made::Usable(Box::new(Case { system, program, goals, answer, survey }))
}

/// The usable cases among some seeds.
pub fn cases(seeds: std::ops::Range<u64>) -> Vec<Case> {
    seeds.filter_map(|seed| make(&draw(seed).1).usable()).collect()
}

/// The usable cases among the first seeds, each with its seed and its text: so many seeds, unless `BIRK_AGREEMENT` says otherwise.
pub fn programs(usually: u64) -> impl Iterator<Item = (u64, String, Case)> {
    (0..seeds(usually)).filter_map(|seed| {
        let text = draw(seed).1;
        make(&text).usable().map(|case| (seed, text, case))
    })
}

/// The seed to go on with, where a long run was ended: what `BIRK_AGREEMENT_FROM` says, a multiple of 8, or 0.
pub fn first_seed() -> u64 {
    let asked = std::env::var("BIRK_AGREEMENT_FROM").ok();
    asked.map_or(0, |n| n.parse().expect("BIRK_AGREEMENT_FROM is a number of programs"))
}

/// How many seeds are examined: what `BIRK_AGREEMENT` says, or so many.
pub fn seeds(usually: u64) -> u64 {
    let asked = std::env::var("BIRK_AGREEMENT").ok();
    asked.map_or(usually, |n| n.parse().expect("BIRK_AGREEMENT is a number of programs"))
}

/// One goal for each property: formulas are not generated.
pub fn goals_of(program: &Program) -> Vec<Goal> {
    let goal = |property: &Property| goal_of(program, property).expect("every property but a formula has a goal");
    program.properties.iter().map(goal).collect()
}

fn survey(model: &Interpreter<'_>) -> Survey {
    let mut survey = Survey { fired: vec![false; model.transitions()], ..Survey::default() };
    let mut batch = Successors::new(model.words());
    model.initial(&mut batch);
    let mut queue: VecDeque<Vec<u32>> = (0..batch.len()).map(|at| batch.state(at).to_vec()).collect();
    let mut depths: HashMap<Vec<u32>, u32> = queue.iter().map(|state| (state.clone(), 0)).collect();
    while let Some(state) = queue.pop_front() {
        let depth = depths[&state];
        survey.deepest = depth;
        batch.clear();
        model.successors(&state, &mut batch);
        survey.steps.resize(depth as usize + 1, 0);
        survey.steps[depth as usize] += batch.len() as u64;
        for i in 0..batch.len() {
            survey.fired[batch.step(i).transition.index()] = true;
            if !depths.contains_key(batch.state(i)) {
                depths.insert(batch.state(i).to_vec(), depth + 1);
                queue.push_back(batch.state(i).to_vec());
            }
        }
    }
    survey
}

//! A model with a question, and how often slices of it have the answer.

use std::collections::HashSet;
use std::path::Path;

use birk_engine::{Job, Limits, Model, Patient, Successors};
use birk_exec::automaton::{Buchi, violations_of};
use birk_exec::{Interpreter, Product, Random, goal_of};
use birk_ir::{Goal, Outcome, Program, PropertyKind};
use birk_search::highway::{Highway, Slice};
use birk_search::liveness::CycleSearch;

/// What is looked for in a slice.
pub(crate) enum Question {
    /// A run that one of these automata accepts, of a model that evaluates its propositions.
    Run(Vec<(Buchi, Interpreter<'static>)>),
    /// A state in which the goal of a model is true.
    State(Interpreter<'static>),
    /// A state in which one of the goals of a model is true, and after states in which none is, one with another.
    Again(Interpreter<'static>, usize),
}

/// A model with questions. What is loaded lives as long as the experiments.
pub(crate) struct Subject {
    pub(crate) program: &'static Program,
    model: Interpreter<'static>,
}

impl Subject {
    /// A model of the corpus, with properties added to it.
    pub(crate) fn load(root: &Path, model: &str, defines: &[(&str, u32)], more: &str) -> Self {
        let text = std::fs::read_to_string(root.join("models").join(model)).expect("the model is there");
        let end = text.rfind('}').expect("a model ends with a brace");
        let text = format!("{}{more}\n}}\n", &text[..end]);
        let defines: Vec<(String, String)> =
            defines.iter().map(|(name, value)| ((*name).to_owned(), value.to_string())).collect();
        let loaded = birk_lang::load(&text, &defines);
        let program = loaded.program.unwrap_or_else(|| panic!("{model}: {:?}", loaded.diagnostics));
        let program: &'static Program = Box::leak(Box::new(program));
        Self { program, model: Interpreter::new(program, &[]) }
    }

    /// The properties whose names begin so: a violation of one of them is looked for, or a target.
    pub(crate) fn question(&self, name: &str) -> Question {
        let named = self.program.properties.iter().filter(|property| property.name.starts_with(name));
        let mut runs = Vec::new();
        for property in named {
            if let PropertyKind::Ltl(formula) = &property.kind {
                let (automaton, propositions) = violations_of(formula).expect("the formula is small");
                runs.push((automaton, self.evaluating(propositions.into_iter().map(Goal::State).collect())));
            } else {
                return Question::State(self.evaluating(goal_of(self.program, property).into_iter().collect()));
            }
        }
        assert!(!runs.is_empty(), "there is no property {name}");
        Question::Run(runs)
    }

    /// Two targets, one after the other, whose names begin so.
    pub(crate) fn again(&self, name: &str) -> Question {
        let named = self.program.properties.iter().filter(|property| property.name.starts_with(name));
        let goals: Vec<Goal> = named.filter_map(|property| goal_of(self.program, property)).collect();
        let count = goals.len();
        Question::Again(self.evaluating(goals), count)
    }

    fn evaluating(&self, goals: Vec<Goal>) -> Interpreter<'static> {
        Interpreter::new(self.program, Box::leak(goals.into_boxed_slice()))
    }

    pub(crate) fn slice(&self, highway: Highway) -> Slice {
        let job = Job { keep_going: true, ..Job::new(0, Limits::NONE) };
        highway.slice(&self.model, &job, &mut Patient).1
    }

    /// How many states breadth-first search needs, level by level and in order, until they have the answer.
    pub(crate) fn breadth(&self, question: &Question) -> usize {
        let states = breadth_first(&self.model);
        let has = |count: usize| question.is_answered(&Slice::of_states(self.model.words(), &states[..count]));
        assert!(has(states.len()), "the whole model has the answer");
        let (mut without, mut with) = (0, states.len());
        while with - without > 1 {
            let middle = usize::midpoint(without, with);
            if has(middle) { with = middle } else { without = middle }
        }
        with
    }

    /// In how many of a hundred slices each question is answered, and how many states a slice has on average.
    pub(crate) fn rates(&self, questions: &[Question], highway: Highway, runs: u64) -> (Vec<f64>, f64) {
        let (mut found, mut states) = (vec![0; questions.len()], 0);
        for seed in 0..runs {
            let slice = self.slice(Highway { seed, ..highway });
            states += slice.len();
            for (found, question) in found.iter_mut().zip(questions) {
                *found += u32::from(question.is_answered(&slice));
            }
        }
        let rates = found.into_iter().map(|found| 100.0 * f64::from(found) / runs as f64);
        (rates.collect(), states as f64 / runs as f64)
    }
}

impl Subject {
    /// In how many of a hundred slices a question is answered, if every lane with a new successor must get one, and not only
    /// those that lead to no visited state. Plainly, and not quite evenly drawn: representatives first where luck fails.
    pub(crate) fn lively_rate(&self, question: &Question, width: usize, runs: u64) -> f64 {
        let found = (0..runs).filter(|&seed| {
            let states = lively(&self.model, width, &mut Random::new(seed));
            question.is_answered(&Slice::of_states(self.model.words(), &states))
        });
        100.0 * found.count() as f64 / runs as f64
    }
}

/// The states of such a slice.
fn lively(model: &dyn Model, width: usize, random: &mut Random) -> Vec<Vec<u32>> {
    let mut batch = Successors::new(model.words());
    model.initial(&mut batch);
    let mut visited: Vec<Vec<u32>> = vec![batch.state(0).to_vec()];
    let mut known: HashSet<Vec<u32>> = visited.iter().cloned().collect();
    let mut lanes = visited.clone();
    while !lanes.is_empty() {
        let mut ways: Vec<Vec<Vec<u32>>> = Vec::new();
        for lane in &lanes {
            batch.clear();
            model.successors(lane, &mut batch);
            let new = (0..batch.len()).map(|i| batch.state(i).to_vec()).filter(|state| !known.contains(state));
            ways.push(new.collect());
        }
        ways.retain(|way| !way.is_empty());
        let mut seen = HashSet::new();
        let new: Vec<Vec<u32>> = ways.iter().flatten().filter(|state| seen.insert(*state)).cloned().collect();
        let mut drawn = |first: Vec<Vec<u32>>| {
            let mut rest: Vec<&Vec<u32>> = new.iter().filter(|state| !first.contains(state)).collect();
            let mut queue = first;
            while queue.len() < width && !rest.is_empty() {
                queue.push(rest.swap_remove(random.below(rest.len())).clone());
            }
            queue
        };
        let serves = |queue: &[Vec<u32>]| ways.iter().all(|way| way.iter().any(|state| queue.contains(state)));
        let queue = (0..400).map(|_| drawn(Vec::new())).find(|queue| serves(queue));
        lanes = queue.unwrap_or_else(|| {
            let mut first: Vec<Vec<u32>> = Vec::new();
            for way in &ways {
                if !way.iter().any(|state| first.contains(state)) {
                    first.push(way[0].clone());
                }
            }
            drawn(first)
        });
        known.extend(lanes.iter().cloned());
        visited.extend(lanes.iter().cloned());
    }
    visited
}

impl Question {
    fn is_answered(&self, slice: &Slice) -> bool {
        match self {
            Question::Run(automata) => automata.iter().any(|(automaton, model)| {
                let product = Product::new(model, automaton.clone(), None);
                let cycle_search = CycleSearch::of(product.is_weak(), &Job::new(1, Limits::NONE));
                matches!(slice.find_cycle(&product, &cycle_search, &mut Patient).outcomes[0], Outcome::Found(_))
            }),
            Question::State(model) => slice.states().any(|state| model.evaluate(&state, false).contains(0)),
            Question::Again(model, goals) => (0..*goals).any(|first| has_again(slice, model, first)),
        }
    }
}

/// A path within the slice from a state with this goal, out of all goals, into a state with another.
fn has_again(slice: &Slice, model: &Interpreter<'_>, first: usize) -> bool {
    let inside = slice.of(model);
    let goal = |state: &[u32]| model.evaluate(state, false).iter().next();
    let mut batch = Successors::new(model.words());
    let mut waiting: Vec<Vec<u32>> = slice.states().filter(|state| goal(state) == Some(first)).collect();
    let mut seen: HashSet<Vec<u32>> = HashSet::new();
    while let Some(state) = waiting.pop() {
        let is_start = goal(&state) == Some(first);
        batch.clear();
        inside.successors(&state, &mut batch);
        for i in 0..batch.len() {
            let next = batch.state(i);
            match goal(next) {
                Some(other) if other != first && !is_start => return true,
                None if seen.insert(next.to_vec()) => waiting.push(next.to_vec()),
                _ => {}
            }
        }
    }
    false
}

/// All states in the order in which a search finds them.
fn breadth_first(model: &dyn Model) -> Vec<Vec<u32>> {
    let mut batch = Successors::new(model.words());
    model.initial(&mut batch);
    let mut states: Vec<Vec<u32>> = (0..batch.len()).map(|i| batch.state(i).to_vec()).collect();
    let mut seen: HashSet<Vec<u32>> = states.iter().cloned().collect();
    let mut at = 0;
    while at < states.len() {
        batch.clear();
        model.successors(&states[at], &mut batch);
        for i in 0..batch.len() {
            if seen.insert(batch.state(i).to_vec()) {
                states.push(batch.state(i).to_vec());
            }
        }
        at += 1;
    }
    states
}

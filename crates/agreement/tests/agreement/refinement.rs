//! Refinement of random pairs, against an oracle that knows both graphs.
//!
//! The oracle enumerates both graphs with the interpreter, computes which states internal steps connect by a transitive closure over the
//! whole graph, makes both sides deterministic on what is observed, and decides inclusion on pairs of those. How long the shortest
//! counterexample is, it finds in the product of the implementation with the finished automaton. What is observed it compares as text.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

use birk::{Misstep, Patient, Refined, refine};
use birk_agreement::case::{self, draw};
use birk_agreement::check::{Checked, same};
use birk_agreement::programs::refining::{Small, bend, mapping};
use birk_agreement::random::{Draw as _, Random};
use birk_agreement::tree::{self, named, number};
use birk_agreement::writer;
use birk_engine::{Limits, Model as _, Successors};
use birk_exec::Interpreter;
use birk_ir::{Coverage, Program, Refinement, Stop, ValueKind, VarId, VarRole, Verdict};
use birk_lang::ast::{Item, Mapped, MappedPart, Name, System};

/// How many pairs are examined, unless the environment says otherwise.
const PAIRS: u64 = 600;
const PARTS: u64 = 2;
/// Larger graphs, and automata of more states, are left out.
const MOST_STATES: usize = 700;
const MOST_SETS: usize = 2_000;

type Letter = usize;

/// The names of observations, shared by both sides.
#[derive(Default)]
struct Alphabet(BTreeMap<Vec<String>, Letter>);

impl Alphabet {
    fn letter(&mut self, observed: Vec<String>) -> Letter {
        let next = self.0.len();
        *self.0.entry(observed).or_insert(next)
    }
}

/// All states of a program, what is observed of each, its steps that do not fail, and whether one fails.
#[derive(Default)]
struct Graph {
    /// So many at the beginning are initial.
    initial: usize,
    states: Vec<Vec<u32>>,
    numbers: HashMap<Vec<u32>, usize>,
    letters: Vec<Letter>,
    next: Vec<BTreeSet<usize>>,
    fails: Vec<bool>,
}

impl Graph {
    fn new(program: &Program, mut observe: impl FnMut(&Interpreter<'_>, &[u32]) -> Letter) -> Option<Self> {
        let model = Interpreter::new(program, &[]);
        let mut graph = Self::default();
        let mut add = |graph: &mut Self, state: &[u32]| match graph.numbers.get(state) {
            Some(&number) => number,
            None => {
                let number = graph.states.len();
                graph.numbers.insert(state.to_vec(), number);
                graph.states.push(state.to_vec());
                graph.letters.push(observe(&model, state));
                number
            }
        };
        program.initial_states().iter().for_each(|state| _ = add(&mut graph, state));
        graph.initial = graph.states.len();
        let mut at = 0;
        while at < graph.states.len() {
            let mut batch = Successors::new(model.words());
            model.successors(&graph.states[at].clone(), &mut batch);
            let (mut next, mut fails) = (BTreeSet::new(), false);
            for one in 0..batch.len() {
                match program.is_faulty(batch.state(one)) {
                    true => fails = true,
                    false => _ = next.insert(add(&mut graph, batch.state(one))),
                }
            }
            graph.next.push(next);
            graph.fails.push(fails);
            at += 1;
            if graph.states.len() > MOST_STATES {
                return None;
            }
        }
        Some(graph)
    }

    /// For each state, those that steps lead to which keep what is observed: the reflexive and transitive closure.
    fn internal(&self) -> Vec<Vec<bool>> {
        let len = self.states.len();
        let mut closure = vec![vec![false; len]; len];
        for (from, next) in self.next.iter().enumerate() {
            closure[from][from] = true;
            next.iter().filter(|&&to| self.letters[to] == self.letters[from]).for_each(|&to| closure[from][to] = true);
        }
        for middle in 0..len {
            let row = closure[middle].clone();
            for from in closure.iter_mut().filter(|from| from[middle]) {
                from.iter_mut().zip(&row).for_each(|(to, more)| *to |= more);
            }
        }
        closure
    }

    /// The automaton that is deterministic on what is observed; none where it is too large.
    fn automaton(&self) -> Option<Automaton> {
        let internal = self.internal();
        let closed = |states: &BTreeSet<usize>| -> BTreeSet<usize> {
            let is_in = |to: &usize| states.iter().any(|&from| internal[from][*to]);
            (0..self.states.len()).filter(is_in).collect()
        };
        let mut initial: BTreeMap<Letter, BTreeSet<usize>> = BTreeMap::new();
        (0..self.initial).for_each(|state| _ = initial.entry(self.letters[state]).or_default().insert(state));
        let first = initial.keys().copied().zip(0..).collect();
        let mut sets: Vec<BTreeSet<usize>> = initial.values().map(closed).collect();
        let mut moves = Vec::new();
        while let Some(set) = sets.get(moves.len()).cloned() {
            let mut by_letter: BTreeMap<Letter, BTreeSet<usize>> = BTreeMap::new();
            for &to in set.iter().flat_map(|&state| &self.next[state]).filter(|to| !set.contains(to)) {
                by_letter.entry(self.letters[to]).or_default().insert(to);
            }
            let mut of_set = BTreeMap::new();
            for (letter, states) in by_letter {
                let to = closed(&states);
                let number = sets.iter().position(|known| *known == to).unwrap_or_else(|| {
                    sets.push(to);
                    sets.len() - 1
                });
                of_set.insert(letter, number);
            }
            moves.push(of_set);
            if sets.len() > MOST_SETS {
                return None;
            }
        }
        Some(Automaton { first, moves })
    }
}

/// Deterministic on observations: where each leads from each state, if it can be made.
struct Automaton {
    /// Where what is observed first leads.
    first: BTreeMap<Letter, usize>,
    moves: Vec<BTreeMap<Letter, usize>>,
}

impl Automaton {
    /// Whether every word of another one is a word of this one.
    fn includes(&self, other: &Self) -> bool {
        let mut open = Vec::new();
        for (letter, its) in &other.first {
            let Some(&own) = self.first.get(letter) else { return false };
            open.push((own, *its));
        }
        let mut seen: BTreeSet<(usize, usize)> = open.iter().copied().collect();
        while let Some((own, its)) = open.pop() {
            for (letter, to) in &other.moves[its] {
                let Some(&own) = self.moves[own].get(letter) else { return false };
                if seen.insert((own, *to)) {
                    open.push((own, *to));
                }
            }
        }
        true
    }
}

/// What the oracle says.
#[derive(Debug, PartialEq)]
struct Expected {
    /// What is nearest, and how far: a step that cannot be followed before a runtime error.
    nearest: Option<(u32, Misstep)>,
    /// Pairs of a state and a set, where all are visited.
    pairs: u64,
}

/// The product of the implementation with the automaton of the specification, breadth first.
fn expected(graph: &Graph, automaton: &Automaton) -> Expected {
    let first = |state: usize| automaton.first.get(&graph.letters[state]).copied();
    if (0..graph.initial).any(|state| first(state).is_none()) {
        return Expected { nearest: Some((0, Misstep::Initial)), pairs: graph.initial as u64 };
    }
    let mut nearest: Option<(u32, Misstep)> = None;
    let mut near = |depth: u32, what: Misstep| {
        let is_nearer = nearest.is_none_or(|(best, known)| depth < best || depth == best && known == Misstep::Fault);
        if is_nearer {
            nearest = Some((depth, what));
        }
    };
    let mut seen: BTreeSet<(usize, usize)> =
        (0..graph.initial).filter_map(|state| Some((state, first(state)?))).collect();
    let mut queue: VecDeque<(usize, usize, u32)> = seen.iter().map(|&(state, set)| (state, set, 0)).collect();
    while let Some((state, set, depth)) = queue.pop_front() {
        if graph.fails[state] {
            near(depth + 1, Misstep::Fault);
        }
        for &to in &graph.next[state] {
            let next = match graph.letters[to] {
                letter if letter == graph.letters[state] => Some(set),
                letter => automaton.moves[set].get(&letter).copied(),
            };
            match next {
                None => near(depth + 1, Misstep::Step),
                Some(next) if seen.insert((to, next)) => queue.push_back((to, next, depth + 1)),
                Some(_) => {}
            }
        }
    }
    Expected { nearest, pairs: seen.len() as u64 }
}

/// What is observed, as text: of the implementation by the expressions as they were written.
fn of_implementation(refinement: &Refinement, model: &Interpreter<'_>, state: &[u32]) -> Vec<String> {
    let text = |mapped: &birk_ir::Mapped| match mapped.hazards.iter().find(|(when, _)| model.value(when, state) != 0) {
        Some(_) => "undefined".to_owned(),
        None => mapped.values.text(model.value(&mapped.value, state)),
    };
    refinement.mapped.iter().map(text).collect()
}

fn of_specification(refinement: &Refinement, program: &Program, state: &[u32]) -> Vec<String> {
    let text = |mapped: &birk_ir::Mapped| {
        let is_it = |variable: &birk_ir::Variable| variable.name == mapped.variable;
        let number = program.variables.iter().position(is_it).expect("it was bound");
        let shape = program.variables[number].shape.iter();
        let element = mapped.indices.iter().zip(shape).fold(0, |at, (index, length)| at * length + *index as u32);
        let value = program.layout.slot(VarId::new(number)).get(state, element);
        // A value `or nobody` is a number, and the next number after the last is nobody.
        match &program.variables[number].values {
            ValueKind::Names(names) if names.last().is_some_and(|last| last == "nobody") => value.to_string(),
            values => values.text(value),
        }
    };
    refinement.mapped.iter().map(text).collect()
}

/// The counterexample is one: the specification follows all but the last step, and not that.
fn confirmed(refined: &Refined, sides: [&Graph; 2], automaton: &Automaton, program: &Program) -> Checked {
    let Some(counterexample) = &refined.counterexample else { return Err("there is no counterexample".to_owned()) };
    let [own, spec] = sides;
    let run = &counterexample.run;
    let is_fault = program.is_faulty(run.last());
    let states = &run.states[..run.states.len() - usize::from(is_fault)];
    let letters: Vec<Letter> = states.iter().map(|state| own.letters[own.numbers[state]]).collect();
    let mut set = automaton.first.get(&letters[0]).copied();
    let mut followed = usize::from(set.is_some());
    for pair in letters.windows(2) {
        set = set
            .and_then(|set| if pair[0] == pair[1] { Some(set) } else { automaton.moves[set].get(&pair[1]).copied() });
        followed += usize::from(set.is_some());
    }
    same("steps that are followed", &followed, &(states.len() - usize::from(!is_fault)))?;
    let beside = &counterexample.mismatch.specification.states;
    let mut shown: Vec<Letter> = beside.iter().map(|state| spec.letters[spec.numbers[state]]).collect();
    let steps = beside.windows(2).all(|pair| spec.next[spec.numbers[&pair[0]]].contains(&spec.numbers[&pair[1]]));
    same("the specification's steps", &steps, &true)?;
    let mut wanted = letters[..followed].to_vec();
    shown.dedup();
    wanted.dedup();
    if followed > 0 {
        same("what both show", &shown, &wanted)?;
    }
    Ok(())
}

#[derive(Debug, Default)]
struct Tally {
    refined: u32,
    unmatched: u32,
    initially: u32,
    faults: u32,
    /// Of those that are refined, in which the specification moves at all, and in which it has internal steps.
    moving: u32,
    internal: u32,
    unusable: u32,
}

/// The texts of an implementation and a specification.
fn pair(seed: u64) -> Option<[String; 2]> {
    let mut random = Random::new(seed ^ 0x4ef1_4e5e);
    if (seed / 2).is_multiple_of(4) {
        return rich(seed, &mut random);
    }
    let own = Small::draw(&mut random);
    let spec = match random.below(6) {
        0..2 => Small::draw(&mut random),
        2..5 => own.bent(false, &mut random),
        _ => own.bent(true, &mut random),
    };
    Some([own.text("Own", &mapping(&mut random)), spec.text("Spec", "")])
}

/// A program of the whole language, and the same with fewer guards or steps; some variables are mapped to themselves.
fn rich(seed: u64, random: &mut Random) -> Option<[String; 2]> {
    let (mut own, _) = draw(seed);
    let mut spec = own.clone();
    bend(&mut spec, random.chance(30), random);
    let write = |system: &System| writer::text(system, &mut Random::new(seed ^ 0x5eed));
    let program = birk_lang::load(&write(&own), &[]).program?;
    let name = |text: &str| Name { text: text.to_owned(), ..Name::default() };
    let mut mapped = Vec::new();
    for variable in program.variables.iter().filter(|variable| variable.role == VarRole::Global) {
        let is_plain = variable.name.chars().all(|letter| letter.is_alphanumeric() || letter == '_');
        if !is_plain || variable.shape.len() > 1 || !random.chance(50) {
            continue;
        }
        let index = |length: u32| MappedPart::Each(name("at"), number(0), number(i64::from(length) - 1));
        let parts: Vec<MappedPart> =
            variable.shape.iter().filter(|length| **length > 0).map(|&length| index(length)).collect();
        let own = named(&variable.name);
        let value = if parts.is_empty() { own } else { tree::index(own, named("at")) };
        mapped.push(Mapped { variable: name(&variable.name), parts, place: birk_ir::Span::default(), value });
    }
    let refines = birk_lang::ast::Refinement { name: name("Spec"), mapped, span: birk_ir::Span::default() };
    own.items.push(Item::Refinement(refines));
    Some([write(&own), write(&spec)])
}

fn look(seed: u64, tally: &mut Tally) -> Checked {
    let Some([own, spec]) = pair(seed) else {
        tally.unusable += 1;
        return Ok(());
    };
    let formatted = birk_lang::fmt::format(&own).map_err(|why| format!("it cannot be formatted: {why:?}"))?;
    same("formatted twice", &birk_lang::fmt::format(&formatted).ok(), &Some(formatted.clone()))?;
    let (read, specification) = (birk_lang::load(&formatted, &[]), birk_lang::load(&spec, &[]).program);
    let (Some(program), Some(specification), Some(refinement)) = (read.program, specification, read.refinement) else {
        tally.unusable += 1;
        return Ok(());
    };
    let Ok(mapping) = birk_lang::fit(&refinement, &specification) else {
        return Err("the mapping does not fit".to_owned());
    };
    let mut alphabet = Alphabet::default();
    let own = Graph::new(&program, |model, state| alphabet.letter(of_implementation(&refinement, model, state)));
    let spec =
        Graph::new(&specification, |_, state| alphabet.letter(of_specification(&refinement, &specification, state)));
    let (Some(own), Some(spec)) = (own, spec) else {
        tally.unusable += 1;
        return Ok(());
    };
    let (Some(automaton), Some(of_own)) = (spec.automaton(), own.automaton()) else {
        tally.unusable += 1;
        return Ok(());
    };
    let expected = expected(&own, &automaton);
    let threads = 1 + (seed % 2) as usize;
    let limits = Limits { threads, grain: 2, ..Limits::NONE };
    let search = |limits: Limits| {
        refine(&program, &specification, &mapping, limits, &mut Patient, &|| true).map_err(|error| error.to_string())
    };
    let refined = search(limits)?;
    let verdict = if expected.nearest.is_none() { Verdict::Holds } else { Verdict::Violated };
    same("verdict", &refined.verdict, &verdict)?;
    let found = refined.counterexample.as_ref().map(|found| (found.run.steps.len() as u32, found.kind));
    same("nearest", &found, &expected.nearest)?;
    // Words are made of steps that do not fail: a runtime error is no word.
    if expected.nearest.is_none_or(|(_, what)| what != Misstep::Fault) {
        same("inclusion", &automaton.includes(&of_own), &expected.nearest.is_none())?;
    }
    match expected.nearest {
        None => {
            same("coverage", &refined.hunt.coverage, &Coverage::Complete)?;
            same("pairs", &refined.hunt.stats.states, &expected.pairs)?;
            tally.refined += 1;
            tally.moving += u32::from(automaton.moves.iter().any(|moves| !moves.is_empty()));
            let is_internal = |(from, next): (usize, &BTreeSet<usize>)| {
                next.iter().any(|&to| to != from && spec.letters[to] == spec.letters[from])
            };
            tally.internal += u32::from(spec.next.iter().enumerate().any(is_internal));
        }
        Some((steps, what)) => {
            confirmed(&refined, [&own, &spec], &automaton, &program)?;
            match what {
                Misstep::Initial => tally.initially += 1,
                Misstep::Step => tally.unmatched += 1,
                Misstep::Fault => tally.faults += 1,
            }
            // One step less is not enough, and nothing is claimed.
            if steps > 0 {
                let less = search(Limits { depth: steps - 1, ..limits })?;
                same("one step less", &(less.verdict, less.hunt.stopped), &(Verdict::Inconclusive, Stop::Depth))?;
            }
        }
    }
    Ok(())
}

fn agree(part: u64) {
    let mut tally = Tally::default();
    for seed in (part..case::seeds(PAIRS)).step_by(PARTS as usize) {
        if let Err(why) = look(seed, &mut tally) {
            let texts = pair(seed).expect("it was drawn");
            panic!("seed {seed}: {why}\n{}\n{}", texts[0], texts[1]);
        }
    }
    println!("{tally:?}");
    let all = tally.refined + tally.unmatched + tally.initially + tally.faults + tally.unusable;
    assert!(tally.unusable * 4 <= all, "more than 25 % of the pairs are of no use: {tally:?}");
    assert!(tally.refined * 5 >= all && tally.unmatched * 5 >= all, "a verdict is rare: {tally:?}");
    assert!(tally.moving * 2 >= tally.refined && tally.internal * 4 >= tally.refined, "little is shown: {tally:?}");
}

parts! {
    agree:
    refinement_0: 0;
    refinement_1: 1;
}

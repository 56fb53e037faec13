//! The lowering against the meaning of the tree: state by state, step by step, outcome by outcome.

use std::collections::HashMap;

use birk_engine::{Model as _, Successors};
use birk_exec::Interpreter;
use birk_exec::reference::Answer;
use birk_ir::{Program, PropertyKind as Asked, VarId};
use birk_lang::ast::{self, ExprKind, PropertyKind, System};

use crate::case::MOST_STATES;
use crate::check::{Checked, same};
use crate::colours::{self, Explored};
use crate::meaning::code::{Piece, Way};
use crate::meaning::value::Scene;
use crate::meaning::{Kind, Meaning, Outcome, State, Step};

/// Says where a program does something else than its tree means, if it does.
pub fn faithful(system: &System, program: &Program, answer: &Answer) -> Checked {
    let meaning = Meaning::new(system);
    let mut found = Findings::new(&meaning);
    let mut explored = Explored::default();
    explored.states = meaning.initial_states();
    explored.known = explored.states.iter().cloned().zip(0..).collect();
    let mut depths = vec![0; explored.states.len()];
    // A step that waits for `timeout` or for something else is two transitions.
    let is_plain = is_plain(&meaning) && !program.has_timeout();
    let translation = if is_plain { Some(Translation::new(&meaning, program)?) } else { None };
    let mut batch = Successors::new(program.layout.words());
    while let Some(state) = explored.states.get(explored.steps.len()).cloned() {
        let depth = depths[explored.steps.len()];
        let steps = meaning.steps(&state);
        if let Some(translation) = &translation {
            translation.compare(&state, &steps, &mut batch)?;
        }
        found.evaluate(&state, &steps, depth);
        for outcome in steps.iter().flat_map(|step| &step.outcomes) {
            let Outcome::State(next) = outcome else { continue };
            if !explored.known.contains_key(next) {
                explored.known.insert(next.clone(), depths.len());
                explored.states.push(next.clone());
                depths.push(depth + 1);
            }
        }
        explored.steps.push(steps);
        if explored.states.len() > 3 * MOST_STATES {
            return Err("the tree has many more states".to_owned());
        }
    }
    if translation.is_none() {
        let in_some_way = |way: &Way<'_>| way.pieces.iter().any(|(piece, _)| quantifies(&meaning, piece));
        let mut places = meaning.kinds.iter().flat_map(|kind| &kind.code.places);
        let by_kind = !places.any(|place| place.ways.iter().any(in_some_way));
        colours::compare(&meaning, program, &explored, by_kind)?;
    }
    found.compare(program, answer)
}

/// Whether the program must have the places and steps of the tree, in their order: all threads are made of locations,
/// and every step has one way through it.
fn is_plain(meaning: &Meaning<'_>) -> bool {
    let plain = |kind: &Kind<'_>| {
        let steps = kind.tree.locations.iter().map(|location| location.transformations.len());
        let ways = kind.code.places.iter().map(|place| place.ways.len());
        kind.tree.body.is_empty() && steps.eq(ways)
    };
    meaning.channels.is_empty() && meaning.kinds.iter().all(plain)
}

/// Which bits of a state of the program are which numbers of a state of the tree.
struct Translation<'p> {
    program: &'p Program,
    model: Interpreter<'p>,
    names: Vec<String>,
    /// Variable and element of each number.
    elements: Vec<(VarId, u32)>,
    has_quantifier: HashMap<(usize, usize, usize), bool>,
}

impl<'p> Translation<'p> {
    fn new(meaning: &Meaning<'_>, program: &'p Program) -> Result<Self, String> {
        let visible: HashMap<String, (VarId, u32)> =
            program.visible_elements().map(|(v, e)| (program.element_name(v, e), (v, e))).collect();
        same("elements", &visible.len(), &meaning.names.len())?;
        let find = |name: &String| visible.get(name).copied().ok_or_else(|| format!("`{name}` is not in the program"));
        let elements = meaning.names.iter().map(find).collect::<Result<_, _>>()?;
        let mut has_quantifier = HashMap::new();
        for (k, kind) in meaning.kinds.iter().enumerate() {
            for (l, place) in kind.code.places.iter().enumerate() {
                for (o, way) in place.ways.iter().enumerate() {
                    let found = way.pieces.iter().any(|(piece, _)| quantifies(meaning, piece));
                    has_quantifier.insert((k, l, o), found);
                }
            }
        }
        let model = Interpreter::new(program, &[]);
        Ok(Self { program, model, names: meaning.names.clone(), elements, has_quantifier })
    }

    fn encode(&self, state: &State) -> Vec<u32> {
        let mut words = vec![0; self.program.layout.words()];
        for (&(variable, element), &value) in self.elements.iter().zip(state) {
            self.program.layout.slot(variable).set(&mut words, element, value);
        }
        words
    }

    fn decode(&self, words: &[u32]) -> State {
        self.elements.iter().map(|&(v, element)| self.program.layout.slot(v).get(words, element)).collect()
    }

    fn compare(&self, state: &State, steps: &[Step], batch: &mut Successors) -> Checked {
        batch.clear();
        batch.cut = 0;
        let words = self.encode(state);
        if self.decode(&words) != *state {
            return Err(format!("the program cannot hold the state {}", self.shown(state)));
        }
        self.model.successors(&words, batch);
        let here = |what: &str| format!("in {}: {what}", self.shown(state));
        let cuts = steps.iter().flat_map(|s| &s.outcomes).filter(|o| **o == Outcome::Cut).count();
        same(&here("outcomes cut"), &batch.cut, &(cuts as u64))?;
        let mut position = 0;
        for step in steps {
            let taken = step.outcomes.iter().filter(|outcome| **outcome != Outcome::Cut);
            for (choice, outcome) in (0..).zip(taken) {
                if position == batch.len() {
                    return Err(here(&format!("the program has no step for {step:?}")));
                }
                self.compare_outcome(&words, step, choice, outcome, (batch, position)).map_err(|why| here(&why))?;
                position += 1;
            }
        }
        same(&here("steps"), &batch.len(), &position)
    }

    fn compare_outcome(
        &self,
        words: &[u32],
        step: &Step,
        choice: u32,
        outcome: &Outcome,
        (batch, position): (&Successors, usize),
    ) -> Checked {
        let taken = batch.step(position);
        let transition = self.program.transition(taken.transition);
        let thread = self.program.thread(transition.thread);
        let found = (thread.kind, i64::from(thread.copy), transition.location.index(), transition.ordinal as usize);
        same("the step (kind, copy, location, ordinal)", &found, &(step.kind, step.copy, step.location, step.ordinal))?;
        same("what is marked `fair`", &transition.fair, &step.fair)?;
        same("the choice", &taken.choice, &choice)?;
        let fault = self.model.fault_of(words, taken).map(|id| self.program.faults[id.index()].kind);
        let where_is = format!("the outcome {choice} of {}", self.program.transition_text(taken.transition));
        match (outcome, fault) {
            (Outcome::State(next), None) => {
                same(&format!("{where_is} is a fault"), &self.model.is_fault(batch.state(position)), &false)?;
                let reached = self.decode(batch.state(position));
                if reached == *next {
                    return Ok(());
                }
                Err(format!("{where_is} is {}, not {}", self.shown(&reached), self.shown(next)))
            }
            (Outcome::Fault(kind), Some(fault)) => {
                same(&format!("{where_is} is a fault"), &self.model.is_fault(batch.state(position)), &true)?;
                // Several things may go wrong in the body of a quantifier: which comes first is not said.
                let open = self.has_quantifier[&(step.kind, step.location, step.ordinal)];
                if open { Ok(()) } else { same(&format!("what goes wrong in {where_is}"), &fault, kind) }
            }
            _ => Err(format!("{where_is}: the program says {fault:?}, the tree means {outcome:?}")),
        }
    }

    fn shown(&self, state: &State) -> String {
        let pairs: Vec<String> = self.names.iter().zip(state).map(|(name, value)| format!("{name}={value}")).collect();
        pairs.join(" ")
    }
}

/// What the tree means for the properties, collected over all states.
struct Findings<'m> {
    meaning: &'m Meaning<'m>,
    states: u64,
    transitions: u64,
    cut: u64,
    levels: Vec<u64>,
    deadlocks: (Option<u32>, u64),
    fault: Option<u32>,
    /// For each property its goal: nearest, how many, and whether it ever went wrong.
    asked: Vec<(Option<u32>, u64, bool)>,
}

impl<'m> Findings<'m> {
    fn new(meaning: &'m Meaning<'m>) -> Self {
        Self {
            meaning,
            states: 0,
            transitions: 0,
            cut: 0,
            levels: Vec::new(),
            deadlocks: (None, 0),
            fault: None,
            asked: vec![(None, 0, false); meaning.properties.len()],
        }
    }

    fn evaluate(&mut self, state: &State, steps: &[Step], depth: u32) {
        self.states += 1;
        self.levels.resize(depth as usize + 1, 0);
        self.levels[depth as usize] += 1;
        let mut goes_wrong = |depth: u32| self.fault = Some(self.fault.map_or(depth, |nearest| nearest.min(depth)));
        let mut is_stuck = true;
        for outcome in steps.iter().flat_map(|step| &step.outcomes) {
            is_stuck = false;
            self.transitions += u64::from(*outcome != Outcome::Cut);
            self.cut += u64::from(*outcome == Outcome::Cut);
            if matches!(outcome, Outcome::Fault(_)) {
                goes_wrong(depth + 1);
            }
        }
        for ((kind, expr), asked) in self.meaning.properties.iter().zip(&mut self.asked) {
            match Scene::new(self.meaning, state, None).holds(expr) {
                Ok(value) if value == (*kind == PropertyKind::Reachable) => {
                    asked.0.get_or_insert(depth);
                    asked.1 += 1;
                }
                Ok(_) => {}
                Err(_) => {
                    asked.2 = true;
                    goes_wrong(depth);
                }
            }
        }
        if is_stuck && !self.meaning.ends_properly(state) {
            self.deadlocks.0.get_or_insert(depth);
            self.deadlocks.1 += 1;
        }
    }

    fn compare(&self, program: &Program, answer: &Answer) -> Checked {
        same("states", &answer.states, &self.states)?;
        same("transitions", &answer.transitions, &self.transitions)?;
        same("cut", &answer.cut, &self.cut)?;
        same("levels", &answer.levels, &self.levels)?;
        let mut asked = self.asked.iter();
        for (goal, property) in program.properties.iter().enumerate() {
            let found = (answer.shortest[goal], answer.satisfying[goal]);
            match &property.kind {
                Asked::Deadlock => same("deadlocks", &found, &self.deadlocks)?,
                Asked::Fault => same("the nearest fault", &found.0, &self.fault)?,
                Asked::Invariant(_) | Asked::Reachable(_) => {
                    let (nearest, count, goes_wrong) = *asked.next().expect("as many properties as in the tree");
                    // Where it goes wrong it has no value, and `fault` is reported.
                    if !goes_wrong {
                        same(&format!("`{}`", property.name), &found, &(nearest, count))?;
                    }
                }
                Asked::Ltl(_) | Asked::Ctl(_) | Asked::Mu(_) | Asked::Automaton | Asked::Claim(_) => {
                    unreachable!("formulas are not generated")
                }
            }
        }
        Ok(())
    }
}

/// Whether a part of a step evaluates a quantifier, itself or in a function.
fn quantifies(meaning: &Meaning<'_>, piece: &Piece<'_>) -> bool {
    use ast::ActionKind as A;
    let parts: Vec<&ast::Expr> = match piece {
        Piece::Only(_, condition) => vec![condition],
        Piece::Do(A::Assign(a, b) | A::ChooseMember(a, b)) => vec![a, b],
        Piece::Do(A::Choose(a, b, c)) => vec![a, b, c],
        Piece::Do(A::Assert(a, _) | A::Assume(a)) => vec![a],
        Piece::Do(A::Start(_, args) | A::Send(_, args)) => args.iter().collect(),
        Piece::Do(A::Broadcast(_, values, except)) => values.iter().chain(except).collect(),
        // Patterns are compared one after the other; which of them goes wrong first is not said.
        Piece::Do(A::Receive(..)) => return true,
        Piece::Do(_) | Piece::Lose => Vec::new(),
    };
    parts.iter().any(|part| has_quantifier(meaning, part))
}

fn has_quantifier(meaning: &Meaning<'_>, expr: &ast::Expr) -> bool {
    let has = |part: &ast::Expr| has_quantifier(meaning, part);
    match &expr.kind {
        ExprKind::Quantifier(..) => true,
        ExprKind::Int(_) | ExprKind::Bool(_) | ExprKind::Name(_) | ExprKind::Error => false,
        ExprKind::Let(_, a, b) => has(a) || has(b),
        ExprKind::Modal(_, _, a) | ExprKind::Fixpoint(_, _, a) => has(a),
        // Which member is outside, and whether that comes before or after other faults, is not said.
        ExprKind::Set(_) | ExprKind::Choose(_) => true,
        ExprKind::Member(a, _) | ExprKind::At(a, _) | ExprKind::Unary(_, a) => has(a),
        ExprKind::Index(a, b) | ExprKind::Binary(_, a, b) => has(a) || has(b),
        ExprKind::Conditional(a, b, c) => has(a) || has(b) || has(c),
        ExprKind::Call(name, args) => {
            let function = meaning.functions.get(name.text.as_str());
            args.iter().any(has) || function.is_some_and(|function| has(&function.body))
        }
    }
}

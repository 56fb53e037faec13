//! The meaning of the language, said a second time: a direct interpreter of the tree.
//!
//! It shares nothing with the lowering. There are no hazards, no intervals and no total expressions: an expression has a
//! value or goes wrong, and a step walks its actions. A state is a list of numbers, one for each element of each variable.

mod collections;
mod run;
pub(crate) mod value;

pub mod code;
pub mod fair;
pub mod shape;

use std::collections::HashMap;
use std::rc::Rc;

use birk_ir::{FaultKind, Span};
use birk_lang::ast::{self, Action, ActionKind, Expr, ExprKind, Item, PropertyKind, System, Type, TypeKind};

use code::Code;
use run::{Run, environment};
use shape::{Channel, Map, Range, Sequence, Shape, Value};
use value::Scene;

/// Every element of every variable. Threads that are not running are at the place after their last.
pub type State = Vec<i64>;

/// A variable: where its elements are in a state. A local has the same elements once more for each copy.
#[derive(Clone, Debug)]
pub struct Variable {
    pub(crate) offset: usize,
    /// Its type.
    pub shape: Shape,
    pub(crate) initial: Vec<i64>,
}

/// A thread declaration.
#[derive(Debug)]
pub struct Kind<'a> {
    /// As it is written.
    pub tree: &'a ast::Thread,
    /// Where its instances can be.
    pub code: Code<'a>,
    /// How many instances it has.
    pub copies: i64,
    /// Where the places of its copies are in a state.
    pub counter: usize,
    /// The parameter that is the number of the copy.
    pub(crate) index_param: Option<&'a str>,
    pub(crate) params: Vec<Variable>,
    pub(crate) locals: HashMap<&'a str, Variable>,
}

impl Kind<'_> {
    /// Where a copy is that is not running.
    pub fn idle(&self) -> i64 {
        self.code.places.len() as i64
    }
}

/// One outcome of one step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// A state.
    State(State),
    /// A check fails.
    Fault(FaultKind),
    /// An assumption is false.
    Cut,
}

/// A step with all its outcomes, in order.
#[derive(Debug)]
pub struct Step {
    /// Whose step it is; behind the last thread comes the environment.
    pub kind: usize,
    /// Which instance.
    pub copy: i64,
    /// Where that is.
    pub location: usize,
    /// Which way it takes from there.
    pub ordinal: usize,
    /// Where what is marked `fair` is written.
    pub fair: Option<Span>,
    /// It is a crash.
    pub crash: bool,
    /// What can come of it.
    pub outcomes: Vec<Outcome>,
}

/// A system with its names resolved.
#[derive(Debug, Default)]
pub struct Meaning<'a> {
    /// By full name.
    pub(crate) constants: HashMap<String, &'a Expr>,
    pub(crate) blocks: Vec<&'a str>,
    pub(crate) enums: HashMap<&'a str, &'a [ast::Name]>,
    pub(crate) records: HashMap<&'a str, &'a ast::Record>,
    pub(crate) procedures: HashMap<&'a str, &'a ast::Procedure>,
    aliases: HashMap<&'a str, &'a ast::Alias>,
    pub(crate) functions: HashMap<&'a str, &'a ast::Function>,
    /// Global variables.
    pub globals: HashMap<&'a str, Variable>,
    /// Variables that are channels, or arrays of them, in order.
    pub(crate) channels: Vec<&'a str>,
    /// Threads, in order.
    pub kinds: Vec<Kind<'a>>,
    pub(crate) properties: Vec<(PropertyKind, &'a Expr)>,
    /// The first initial state.
    pub initial: State,
    /// Elements that begin with one of several values.
    choices: Vec<(usize, Vec<i64>)>,
    /// The names of its elements.
    pub names: Vec<String>,
}

impl<'a> Meaning<'a> {
    /// Resolves the names of a system without errors.
    pub fn new(system: &'a System) -> Self {
        let mut meaning = Meaning::default();
        for item in &system.items {
            meaning.name(item);
        }
        for item in &system.items {
            let Item::Variables(variables) = item else { continue };
            for (name, initial) in &variables.declarators {
                let variable = meaning.variable(&variables.ty, initial.as_ref());
                if let Some(Expr { kind: ExprKind::Choose(parts), .. }) = initial {
                    let values = meaning.chosen(&variable.shape, parts);
                    let elements = variable.offset..variable.offset + variable.shape.len();
                    meaning.choices.extend(elements.map(|element| (element, values.clone())));
                }
                meaning.add_elements(std::slice::from_ref(&name.text), &variable);
                if matches!(variables.ty.kind, TypeKind::Channel(..)) {
                    meaning.channels.push(&name.text);
                }
                meaning.globals.insert(&name.text, variable);
            }
        }
        for item in &system.items {
            if let Item::Thread(thread) = item {
                meaning.declare_thread(thread, starts(system, &thread.name.text));
            }
        }
        meaning
    }

    fn name(&mut self, item: &'a Item) {
        match item {
            Item::Constants(constants) => {
                let prefix = constants.block.as_ref().map_or(String::new(), |block| format!("{}.", block.text));
                self.blocks.extend(constants.block.as_ref().map(|block| block.text.as_str()));
                for (name, value) in &constants.entries {
                    self.constants.insert(format!("{prefix}{}", name.text), value);
                }
            }
            Item::Alias(alias) => _ = self.aliases.insert(&alias.name.text, alias),
            Item::Enum(declared) => _ = self.enums.insert(&declared.name.text, &declared.variants),
            Item::Function(function) => _ = self.functions.insert(&function.name.text, function),
            Item::Record(record) => _ = self.records.insert(&record.name.text, record),
            Item::Procedure(procedure) => _ = self.procedures.insert(&procedure.name.text, procedure),
            Item::Property(property) => self.properties.push((property.kind, &property.body)),
            Item::Variables(_) | Item::Thread(_) | Item::Expectation(_) | Item::Refinement(_) => {}
        }
    }

    fn constant(&self, expr: &Expr) -> i64 {
        Scene::new(self, &[], None).number(expr).expect("a system without errors has constants that go right")
    }

    /// How many: a number, or all values of a symmetric type.
    fn count(&self, expr: &Expr) -> i64 {
        self.symmetric(expr).map_or_else(|| self.constant(expr), |last| last + 1)
    }

    /// The last value of a symmetric type.
    pub(crate) fn symmetric(&self, expr: &Expr) -> Option<i64> {
        let ExprKind::Name(name) = &expr.kind else { return None };
        let alias = self.aliases.get(name.as_str()).filter(|alias| alias.symmetric)?;
        match self.shape_of(&alias.target) {
            Shape::Number(range) => Some(range.hi),
            _ => unreachable!("a symmetric type has numbers"),
        }
    }

    /// The fields of a record.
    pub(crate) fn fields(&self, record: &ast::Record) -> Vec<(String, Shape)> {
        let of = |variables: &ast::Variables| {
            let shape = self.shape_of(&variables.ty);
            variables.declarators.iter().map(|(name, _)| (name.text.clone(), shape.clone())).collect::<Vec<_>>()
        };
        record.fields.iter().flat_map(of).collect()
    }

    /// What a type is.
    pub(crate) fn shape_of(&self, ty: &Type) -> Shape {
        let dimensions = ty.dimensions.iter().rev();
        let inner = self.shape_without_lengths(&ty.kind);
        dimensions.fold(inner, |element, length| Shape::Array(self.count(length), Box::new(element)))
    }

    fn shape_without_lengths(&self, kind: &TypeKind) -> Shape {
        let number = |lo: i64, hi, wraps| {
            Shape::Number(Range { lo, hi, wraps, default: if lo <= 0 && 0 <= hi { 0 } else { lo } })
        };
        match kind {
            TypeKind::Boolean => number(0, 1, false),
            TypeKind::Byte => number(0, 255, true),
            TypeKind::Int => Shape::Number(Range::INT),
            TypeKind::Range(wraps, lo, hi) => number(self.constant(lo), self.constant(hi), *wraps),
            TypeKind::Set(lo, hi) => Shape::Set(self.constant(lo), self.constant(hi)),
            TypeKind::OrNobody(name) => match self.shape_of(&self.aliases[name.text.as_str()].target) {
                Shape::Number(range) => Shape::Number(Range { hi: range.hi + 1, default: range.hi + 1, ..range }),
                _ => unreachable!("a symmetric type has numbers"),
            },
            TypeKind::SetOf(name) => match self.shape_of(&self.aliases[name.text.as_str()].target) {
                Shape::Number(range) => Shape::Set(range.lo, range.hi),
                _ => unreachable!("the members of a set are numbers"),
            },
            TypeKind::Channel(marks, element, capacity) => {
                let (element, capacity) = (self.shape_of(element), self.constant(capacity));
                Shape::Channel(Box::new(Channel { element, capacity, marks: *marks }))
            }
            TypeKind::Sequence(element, capacity) => {
                Shape::Sequence(Rc::new(Sequence::new(self.shape_of(element), self.constant(capacity))))
            }
            TypeKind::Map(keys, value) => match self.shape_without_lengths(keys) {
                Shape::Set(lo, hi) => Shape::Map(Rc::new(Map::new(lo, hi, self.shape_of(value)))),
                _ => unreachable!("keys are the members of a set"),
            },
            TypeKind::Named(name) => {
                let name = name.text.as_str();
                match (self.aliases.get(name), self.records.get(name)) {
                    (Some(alias), _) => self.shape_of(&alias.target),
                    (None, Some(record)) => Shape::Record(self.fields(record)),
                    (None, None) => number(0, self.enums[name].len() as i64 - 1, false),
                }
            }
            TypeKind::Error => unreachable!("a system without errors has types"),
        }
    }

    /// Every initial state.
    pub fn initial_states(&self) -> Vec<State> {
        let mut states = vec![self.initial.clone()];
        for (element, values) in &self.choices {
            let with = |state: &State, value: i64| {
                let mut state = state.clone();
                state[*element] = value;
                state
            };
            states = states.iter().flat_map(|state| values.iter().map(|&value| with(state, value))).collect();
        }
        states
    }

    /// What a variable of single values may begin with, the least first.
    fn chosen(&self, shape: &Shape, parts: &[Expr]) -> Vec<i64> {
        let mut single = shape;
        while let Shape::Array(_, element) = single {
            single = element;
        }
        let of = |expr: &Expr| {
            let value = Scene::new(self, &[], None).value(expr).and_then(|value| single.take(value));
            single.written(value.expect("initial values are in range"))[0]
        };
        let mut values: Vec<i64> = match parts {
            [Expr { kind: ExprKind::Set(members), .. }] => members.iter().map(of).collect(),
            [named] => (0..=self.symmetric(named).expect("the name of a symmetric type")).collect(),
            [low, high] => (of(low)..=of(high)).collect(),
            _ => unreachable!("a set or two numbers"),
        };
        values.sort_unstable();
        values.dedup();
        values
    }

    fn variable(&self, ty: &Type, initial: Option<&Expr>) -> Variable {
        let shape = self.shape_of(ty);
        let initial = match initial {
            None => shape.defaults(),
            Some(Expr { kind: ExprKind::Choose(parts), .. }) => vec![self.chosen(&shape, parts)[0]; shape.len()],
            Some(expr) => {
                let mut single = &shape;
                while let Shape::Array(_, element) = single {
                    single = element;
                }
                let value = Scene::new(self, &[], None).value(expr);
                // Braces are all elements, where an element is a number; any other value is that of each.
                if matches!((single, &value), (Shape::Number(_), Ok(Value::Braces(_)))) {
                    single = &shape;
                }
                let value = value.and_then(|value| single.take(value)).expect("initial values are in range");
                single.written(value).repeat(shape.len() / single.len())
            }
        };
        Variable { offset: self.initial.len(), shape, initial }
    }

    /// Appends a variable to the state, once for each of its names.
    fn add_elements(&mut self, names: &[String], variable: &Variable) {
        for name in names {
            variable.shape.names(name, &mut self.names);
            self.initial.extend(&variable.initial);
        }
    }

    fn declare_thread(&mut self, tree: &'a ast::Thread, is_started: bool) {
        let copies = tree.copies.as_ref().map_or(1, |expr| self.count(expr));
        let indexed = |copy: i64| if tree.copies.is_some() { format!("[{copy}]") } else { String::new() };
        let owners: Vec<String> = (0..copies).map(|copy| format!("{}{}", tree.name.text, indexed(copy))).collect();
        let named = |suffix: &str| owners.iter().map(|owner| format!("{owner}{suffix}")).collect::<Vec<_>>();
        let code = Code::new(self, tree);
        let place = if tree.active { 0 } else { code.places.len() as i64 };
        let offset = self.initial.len();
        let counter = Variable { offset, shape: Shape::Number(Range::INT), initial: vec![place] };
        self.add_elements(&named("@"), &counter);
        let mut kind = Kind {
            tree,
            code,
            copies,
            counter: counter.offset,
            index_param: None,
            params: Vec::new(),
            locals: HashMap::new(),
        };
        for param in &tree.params {
            if tree.active && !is_started {
                kind.index_param = Some(&param.name.text);
                continue;
            }
            let variable = self.variable(&param.ty, None);
            self.add_elements(&named(&format!(".{}", param.name.text)), &variable);
            if tree.active {
                for copy in 0..copies {
                    self.initial[variable.offset + copy as usize] = copy;
                }
            }
            kind.locals.insert(&param.name.text, variable.clone());
            kind.params.push(variable);
        }
        for variables in &tree.variables {
            for (name, initial) in &variables.declarators {
                let variable = self.variable(&variables.ty, initial.as_ref());
                self.add_elements(&named(&format!(".{}", name.text)), &variable);
                kind.locals.insert(&name.text, variable);
            }
        }
        self.kinds.push(kind);
    }

    /// The place of a copy, if it is running.
    pub fn place_of(&self, state: &State, kind: usize, copy: i64) -> Option<usize> {
        let declared = &self.kinds[kind];
        let place = state[declared.counter + copy as usize] as usize;
        (place < declared.code.places.len()).then_some(place)
    }

    /// All copies of all threads.
    fn copies(&self) -> impl Iterator<Item = (usize, i64)> + '_ {
        let kinds = self.kinds.iter().enumerate();
        kinds.flat_map(|(kind, declared)| (0..declared.copies).map(move |copy| (kind, copy)))
    }

    /// All steps that are possible in a state, in order. Those that wait for `timeout` are possible where no other is.
    pub fn steps(&self, state: &State) -> Vec<Step> {
        let mut steps = self.steps_of_threads(state, false);
        steps.extend(environment(self, state));
        if steps.is_empty() { self.steps_of_threads(state, true) } else { steps }
    }

    fn steps_of_threads(&self, state: &State, timeout: bool) -> Vec<Step> {
        let mut steps = Vec::new();
        for (kind, copy) in self.copies() {
            let Some(location) = self.place_of(state, kind, copy) else { continue };
            for (ordinal, way) in self.kinds[kind].code.places[location].ways.iter().enumerate() {
                let mut take = |run: Run<'_, '_>| {
                    let outcomes = run.late(timeout).outcomes(state);
                    if !outcomes.is_empty() {
                        let (fair, crash) = (way.fair, way.crash);
                        steps.push(Step { kind, copy, location, ordinal, fair, crash, outcomes });
                    }
                };
                match way.meets {
                    None => take(Run::new(self, (kind, copy), way)),
                    Some((false, _)) => {}
                    Some((true, channel)) => {
                        for other in self.copies().filter(|&other| other != (kind, copy)) {
                            let Some(place) = self.place_of(state, other.0, other.1) else { continue };
                            for theirs in &self.kinds[other.0].code.places[place].ways {
                                if theirs.meets == Some((false, channel)) {
                                    take(Run::together(self, (kind, copy), way, other, theirs));
                                }
                            }
                        }
                    }
                }
            }
        }
        steps
    }

    /// Every thread has ended or is at a place marked `end`.
    pub(crate) fn ends_properly(&self, state: &State) -> bool {
        self.copies().all(|(kind, copy)| {
            let place = self.place_of(state, kind, copy);
            place.is_none_or(|place| self.kinds[kind].code.places[place].marks[0])
        })
    }
}

/// Whether some step starts this thread.
fn starts(system: &System, thread: &str) -> bool {
    fn among(actions: &[Action], thread: &str) -> bool {
        actions.iter().any(|action| match &action.kind {
            ActionKind::Start(name, _) => name.text == thread,
            ActionKind::If(branches, otherwise) => {
                branches.iter().any(|(_, branch)| among(branch, thread))
                    || otherwise.as_ref().is_some_and(|branch| among(branch, thread))
            }
            ActionKind::While(_, body) | ActionKind::For(_, _, _, body) | ActionKind::Atomic(body) => {
                among(body, thread)
            }
            ActionKind::Either(branches) => branches.iter().any(|branch| among(branch, thread)),
            _ => false,
        })
    }
    system.items.iter().any(|item| match item {
        Item::Thread(own) => {
            let mut steps = own.locations.iter().flat_map(|location| &location.transformations);
            let mut of_crashes = own.crashes.iter().flat_map(|crashes| [&crashes.crash, &crashes.restart]).flatten();
            among(&own.body, thread)
                || steps.any(|step| among(&step.actions, thread))
                || of_crashes.any(|block| among(block, thread))
        }
        Item::Procedure(procedure) => among(&procedure.body, thread),
        _ => false,
    })
}

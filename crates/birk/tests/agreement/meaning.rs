//! The meaning of the language, said a second time: a direct interpreter of the tree.
//!
//! It shares nothing with the lowering. There are no hazards, no intervals and no total expressions: an expression has a
//! value or goes wrong, and a step walks its actions. A state is a list of numbers, one for each element of each variable.

use std::collections::HashMap;

use birk_ir::FaultKind;
use birk_lang::ast::{self, ActionKind, Expr, Item, Jump, Mark, PropertyKind, System, Type, TypeKind};

use crate::value::Scene;

/// Every element of every variable. Threads that are not running are at the location after their last.
pub(crate) type State = Vec<i64>;

/// The range of a type, and what happens outside it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Range {
    lo: i64,
    hi: i64,
    wraps: bool,
}

impl Range {
    const INT: Range = Range { lo: i32::MIN as i64, hi: i32::MAX as i64, wraps: false };

    /// 0, or the lower bound if 0 is outside.
    fn default_value(self) -> i64 {
        if self.lo <= 0 && 0 <= self.hi { 0 } else { self.lo }
    }

    /// What becomes of a value that is stored or passed with this type.
    pub(crate) fn take(self, value: i64) -> Result<i64, FaultKind> {
        let size = self.hi - self.lo + 1;
        match value {
            _ if self.lo <= value && value <= self.hi => Ok(value),
            _ if self.wraps => Ok(self.lo + (value - self.lo).rem_euclid(size)),
            _ => Err(FaultKind::Range),
        }
    }
}

/// A variable: where its elements are in a state. A local has the same elements once more for each copy.
#[derive(Clone, Debug)]
pub(crate) struct Variable {
    pub(crate) offset: usize,
    pub(crate) shape: Vec<i64>,
    pub(crate) range: Range,
    initial: i64,
}

impl Variable {
    /// How many elements one copy has.
    pub(crate) fn len(&self) -> usize {
        self.shape.iter().product::<i64>() as usize
    }
}

/// A thread declaration.
#[derive(Debug)]
pub(crate) struct Kind<'a> {
    pub(crate) tree: &'a ast::Thread,
    pub(crate) copies: i64,
    /// Where the locations of its copies are in a state.
    pub(crate) counter: usize,
    /// The parameter that is the number of the copy.
    pub(crate) index_param: Option<&'a str>,
    params: Vec<Variable>,
    pub(crate) locals: HashMap<&'a str, Variable>,
}

/// One outcome of one step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    State(State),
    Fault(FaultKind),
    Cut,
}

/// A step with all its outcomes, in order.
#[derive(Debug)]
pub(crate) struct Step {
    pub(crate) kind: usize,
    pub(crate) copy: i64,
    pub(crate) location: usize,
    pub(crate) ordinal: usize,
    pub(crate) outcomes: Vec<Outcome>,
}

/// A system with its names resolved.
#[derive(Debug, Default)]
pub(crate) struct Meaning<'a> {
    /// By full name.
    pub(crate) constants: HashMap<String, &'a Expr>,
    pub(crate) blocks: Vec<&'a str>,
    pub(crate) enums: HashMap<&'a str, &'a [ast::Name]>,
    aliases: HashMap<&'a str, &'a Type>,
    pub(crate) functions: HashMap<&'a str, &'a ast::Function>,
    pub(crate) globals: HashMap<&'a str, Variable>,
    pub(crate) kinds: Vec<Kind<'a>>,
    pub(crate) properties: Vec<(PropertyKind, &'a Expr)>,
    /// The initial state, and the names of its elements.
    pub(crate) initial: State,
    pub(crate) names: Vec<String>,
}

impl<'a> Meaning<'a> {
    /// Resolves the names of a system without errors.
    pub(crate) fn new(system: &'a System) -> Self {
        let mut meaning = Meaning::default();
        for item in &system.items {
            meaning.name(item);
        }
        for item in &system.items {
            let Item::Variables(variables) = item else { continue };
            for (name, initial) in &variables.declarators {
                let variable = meaning.variable(&variables.ty, initial.as_ref());
                meaning.add_elements(std::slice::from_ref(&name.text), &variable);
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
            Item::Alias(alias) => _ = self.aliases.insert(&alias.name.text, &alias.target),
            Item::Enum(declared) => _ = self.enums.insert(&declared.name.text, &declared.variants),
            Item::Function(function) => _ = self.functions.insert(&function.name.text, function),
            Item::Property(property) => self.properties.push((property.kind, &property.body)),
            Item::Variables(_) | Item::Thread(_) => {}
            Item::Record(_) | Item::Procedure(_) => unreachable!("not generated"),
        }
    }

    fn constant(&self, expr: &Expr) -> i64 {
        Scene::new(self, &[], None).value(expr).expect("a system without errors has constants that go right")
    }

    /// The range and the lengths of a type.
    pub(crate) fn type_of(&self, ty: &Type) -> (Range, Vec<i64>) {
        let (range, inner) = match &ty.kind {
            TypeKind::Boolean => (Range { lo: 0, hi: 1, wraps: false }, Vec::new()),
            TypeKind::Byte => (Range { lo: 0, hi: 255, wraps: true }, Vec::new()),
            TypeKind::Int => (Range::INT, Vec::new()),
            TypeKind::Range(wraps, lo, hi) => {
                (Range { lo: self.constant(lo), hi: self.constant(hi), wraps: *wraps }, Vec::new())
            }
            TypeKind::Named(name) => match self.aliases.get(name.text.as_str()) {
                Some(target) => self.type_of(target),
                None => {
                    (Range { lo: 0, hi: self.enums[name.text.as_str()].len() as i64 - 1, wraps: false }, Vec::new())
                }
            },
            TypeKind::Set(..) | TypeKind::Channel(..) => unreachable!("not generated"),
            TypeKind::Error => unreachable!("a system without errors has types"),
        };
        let outer = ty.dimensions.iter().map(|length| self.constant(length));
        (range, outer.chain(inner).collect())
    }

    fn variable(&self, ty: &Type, initial: Option<&Expr>) -> Variable {
        let (range, shape) = self.type_of(ty);
        let value = initial.map(|expr| range.take(self.constant(expr)).expect("initial values are in range"));
        let initial = value.unwrap_or_else(|| range.default_value());
        Variable { offset: self.initial.len(), shape, range, initial }
    }

    /// Appends a variable to the state, once for each of its names.
    fn add_elements(&mut self, names: &[String], variable: &Variable) {
        for name in names {
            for element in 0..variable.len() {
                let mut full = name.clone();
                let mut below = variable.len();
                let mut rest = element;
                for &length in &variable.shape {
                    below /= length as usize;
                    full += &format!("[{}]", rest / below);
                    rest %= below;
                }
                self.names.push(full);
                self.initial.push(variable.initial);
            }
        }
    }

    fn declare_thread(&mut self, tree: &'a ast::Thread, is_started: bool) {
        let copies = tree.copies.as_ref().map_or(1, |expr| self.constant(expr));
        let indexed = |copy: i64| if tree.copies.is_some() { format!("[{copy}]") } else { String::new() };
        let owners: Vec<String> = (0..copies).map(|copy| format!("{}{}", tree.name.text, indexed(copy))).collect();
        let named = |suffix: &str| owners.iter().map(|owner| format!("{owner}{suffix}")).collect::<Vec<_>>();
        let place = if tree.active { 0 } else { tree.locations.len() as i64 };
        let counter = Variable { offset: self.initial.len(), shape: Vec::new(), range: Range::INT, initial: place };
        self.add_elements(&named("@"), &counter);
        let mut kind = Kind {
            tree,
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

    /// All steps that are possible in a state, in order.
    pub(crate) fn steps(&self, state: &State) -> Vec<Step> {
        let mut steps = Vec::new();
        for (kind, declared) in self.kinds.iter().enumerate() {
            for copy in 0..declared.copies {
                let location = state[declared.counter + copy as usize] as usize;
                let Some(here) = declared.tree.locations.get(location) else { continue };
                for (ordinal, transformation) in here.transformations.iter().enumerate() {
                    let mut outcomes = Vec::new();
                    let own = (kind, copy);
                    match transformation.guard.as_ref().map_or(Ok(1), |g| self.scene(state, own).value(g)) {
                        Ok(0) => continue,
                        Ok(_) => {
                            let mut run = Run { meaning: self, own, tree: transformation, outcomes: &mut outcomes };
                            run.actions(0, state.clone());
                        }
                        Err(fault) => outcomes.push(Outcome::Fault(fault)),
                    }
                    steps.push(Step { kind, copy, location, ordinal, outcomes });
                }
            }
        }
        steps
    }

    fn scene<'s>(&'s self, state: &'s State, own: (usize, i64)) -> Scene<'s> {
        Scene::new(self, state, Some(own))
    }

    /// Every thread has ended or is at a location marked `end`.
    pub(crate) fn ends_properly(&self, state: &State) -> bool {
        self.kinds.iter().all(|kind| {
            (0..kind.copies).all(|copy| {
                let location = kind.tree.locations.get(state[kind.counter + copy as usize] as usize);
                location.is_none_or(|location| location.marks.iter().any(|(mark, _)| *mark == Mark::End))
            })
        })
    }
}

/// Whether some step starts this thread.
fn starts(system: &System, thread: &str) -> bool {
    let threads = system.items.iter().filter_map(|item| if let Item::Thread(t) = item { Some(t) } else { None });
    let mut actions = threads.flat_map(|t| &t.locations).flat_map(|l| &l.transformations).flat_map(|t| &t.actions);
    actions.any(|action| matches!(&action.kind, ActionKind::Start(name, _) if name.text == thread))
}

/// One transformation of one copy, being executed.
struct Run<'m, 'a> {
    meaning: &'m Meaning<'a>,
    own: (usize, i64),
    tree: &'m ast::Transformation,
    outcomes: &'m mut Vec<Outcome>,
}

impl Run<'_, '_> {
    /// Executes the actions from a position on.
    fn actions(&mut self, position: usize, mut state: State) {
        let Some(action) = self.tree.actions.get(position) else {
            self.jump(&mut state);
            return self.outcomes.push(Outcome::State(state));
        };
        match self.action(&action.kind, position, &mut state) {
            Ok(true) => self.actions(position + 1, state),
            Ok(false) => {}
            Err(fault) => self.outcomes.push(Outcome::Fault(fault)),
        }
    }

    /// Executes one action; false when what follows it was taken care of.
    fn action(&mut self, action: &ActionKind, position: usize, state: &mut State) -> Result<bool, FaultKind> {
        let before = state.clone();
        let mut scene = self.meaning.scene(&before, self.own);
        match action {
            ActionKind::Assign(place, value) => {
                let (element, range) = scene.element(place)?;
                state[element] = range.take(scene.value(value)?)?;
            }
            ActionKind::Choose(place, lo, hi) => {
                let (element, range) = scene.element(place)?;
                let (lo, hi) = (scene.value(lo)?, scene.value(hi)?);
                if lo > hi {
                    return Err(FaultKind::EmptyChoice);
                }
                for chosen in lo..=hi {
                    match range.take(chosen) {
                        Ok(value) => {
                            let mut branch = before.clone();
                            branch[element] = value;
                            self.actions(position + 1, branch);
                        }
                        Err(fault) => self.outcomes.push(Outcome::Fault(fault)),
                    }
                }
                return Ok(false);
            }
            ActionKind::Assert(condition, _) if scene.value(condition)? == 0 => return Err(FaultKind::Assertion),
            ActionKind::Assume(condition) if scene.value(condition)? == 0 => {
                self.outcomes.push(Outcome::Cut);
                return Ok(false);
            }
            ActionKind::Start(name, args) => self.start(&name.text, args, &mut scene, state)?,
            ActionKind::Assert(..) | ActionKind::Assume(_) | ActionKind::Skip => {}
            _ => unreachable!("not generated"),
        }
        Ok(true)
    }

    /// Evaluates the arguments, then takes the lowest copy that is not running.
    fn start<'s>(
        &self,
        name: &str,
        args: &'s [Expr],
        scene: &mut Scene<'s>,
        state: &mut State,
    ) -> Result<(), FaultKind> {
        let kind = self.meaning.kinds.iter().find(|kind| kind.tree.name.text == name).expect("a declared thread");
        let mut values = Vec::new();
        for (param, arg) in kind.params.iter().zip(args) {
            values.push(param.range.take(scene.value(arg)?)?);
        }
        let idle = kind.tree.locations.len() as i64;
        let copy = (0..kind.copies as usize).find(|copy| state[kind.counter + copy] == idle).ok_or(FaultKind::Start)?;
        for (param, value) in kind.params.iter().zip(values) {
            state[param.offset + copy] = value;
        }
        state[kind.counter + copy] = 0;
        Ok(())
    }

    fn jump(&self, state: &mut State) {
        let kind = &self.meaning.kinds[self.own.0];
        let copy = self.own.1 as usize;
        match self.tree.jump.as_ref().expect("a system without errors has its jumps") {
            Jump::Goto(name) => {
                let target = kind.tree.locations.iter().position(|location| location.name.text == name.text);
                state[kind.counter + copy] = target.expect("a declared location") as i64;
            }
            Jump::Return(_) => {
                state[kind.counter + copy] = kind.tree.locations.len() as i64;
                for local in kind.locals.values() {
                    let start = local.offset + copy * local.len();
                    state[start..start + local.len()].fill(local.initial);
                }
            }
        }
    }
}

//! Random systems that use every construct of the language's core, most of them with a few hundred states.

use birk_ir::Span;
use birk_lang::ast::{
    self, Action, ActionKind, BinaryOp, Domain, Expr, ExprKind, Item, Location, Mark, Param, PropertyKind, Quantifier,
    System, Transformation, TypeKind, UnaryOp,
};

use crate::programs::expressions::{Place, apart, spelled};
use crate::programs::world::{Formal, Kind, Procedure, Thread, Var, World};
use crate::random::{Draw as _, Random};
use crate::tree::{self, action, at, binary, conditional, expr, index, member, name, named, number, unary};

/// Tells the numbers that decide about sequences and maps from those that decide about everything else.
const COLLECTED: u64 = 0xc011_ec7e;

/// The system of a seed. One that is not rich has locations and single values only, with many more of them.
pub fn generate(rich: bool, seed: u64) -> System {
    let mut random = Random::new(seed);
    let mut world = World::new(rich, &mut random);
    world.declare_collections(&mut Random::new(seed ^ COLLECTED));
    let mut items = world.items.clone();
    for position in 0..world.functions.len() {
        items.push(function(&world, position, &mut random));
    }
    for position in 0..world.procedures.len() {
        items.push(Item::Procedure(procedure(&world, position, &mut random)));
    }
    for position in 0..world.threads.len() {
        items.push(Item::Thread(thread(&world, position, &mut random)));
    }
    for position in 0..random.weighted(&[10, 40, 35, 15]) {
        items.push(property(&world, position, &mut random));
    }
    // Declarations may stand in any order.
    if random.chance(30) {
        for i in (1..items.len()).rev() {
            items.swap(i, random.below(i + 1));
        }
    }
    begin(&world, &mut items, &mut Random::new(!seed));
    System { name: name("Random"), items, ..System::default() }
}

/// Lets a variable or two begin with one of several values.
fn begin(world: &World, items: &mut [Item], random: &mut Random) {
    if !random.chance(20) {
        return;
    }
    for _ in 0..2 {
        let variable = random.pick(&world.globals);
        let (scalar, elements) = (&variable.scalar, variable.shape.iter().product::<i64>());
        let is_field = !variable.fields.is_empty() || variable.spread;
        if is_field || scalar.kind == Kind::Set || scalar.lo == scalar.hi || elements > 3 {
            continue;
        }
        let most = if elements == 1 { 3 } else { 2 };
        let choice = match scalar.kind {
            Kind::Name => vec![named("Id")],
            Kind::Integer if random.chance(50) => {
                let least = scalar.lo.max(-2).min(scalar.hi - 1);
                let low = random.between(least, (scalar.hi - 1).min(4).max(least));
                let high = (low + random.between(1, most - 1)).min(scalar.hi);
                vec![world.written_number(low, random), world.written_number(high, random)]
            }
            _ => vec![tree::set((0..most).map(|_| world.constant_of(scalar, random)).collect())],
        };
        let declared = items.iter_mut().filter_map(|item| match item {
            Item::Variables(variables) => Some(&mut variables.declarators),
            _ => None,
        });
        for (_, initial) in declared.flatten().filter(|(name, _)| name.text == variable.name) {
            *initial = Some(expr(ExprKind::Choose(choice.clone())));
        }
    }
}

fn place<'w>(world: &'w World, random: &'w mut Random, own: Option<usize>) -> Place<'w> {
    Place { world, random, own, params: &[], procedure: None, callable: world.functions.len(), bound: Vec::new() }
}

fn params(variables: &[Var]) -> Vec<Param> {
    variables.iter().map(|v| tree::param(v.written.clone(), &v.name)).collect()
}

fn function(world: &World, position: usize, random: &mut Random) -> Item {
    let signature = &world.functions[position];
    let mut here = Place { params: &signature.params, callable: position, ..place(world, random, None) };
    let body = here.value_of(&signature.result, 2);
    tree::function(&signature.name, params(&signature.params), signature.result.written.clone(), body)
}

fn procedure(world: &World, position: usize, random: &mut Random) -> ast::Procedure {
    let signature = &world.procedures[position];
    let mut steps = Steps {
        params: &signature.singles,
        procedure: Some(signature),
        callable: position,
        ..Steps { world, thread: None, params: &[], procedure: None, callable: 0, rounds: Vec::new() }
    };
    let body = steps.procedure(signature.plain, random);
    let name = name(&signature.name);
    let formal = |formal: &Formal| match formal {
        Formal::Single(single) => tree::param(single.written.clone(), &single.name),
        Formal::Whole(group, text) => tree::param(world.group_type(*group, Vec::new()), text),
        // A parameter stands for its argument, whatever its type: so do the procedures of the standard library.
        Formal::Channel(_) => tree::param(tree::ty(TypeKind::Int, Vec::new()), "via"),
    };
    let params = signature.params.iter().map(formal).collect();
    ast::Procedure { name, params, body, span: Span::default() }
}

fn property(world: &World, position: usize, random: &mut Random) -> Item {
    let kind = *random.pick(&[PropertyKind::Invariant, PropertyKind::Reachable]);
    let body = place(world, random, None).boolean(3);
    tree::property(kind, &format!("property{position}"), body)
}

fn thread(world: &World, position: usize, random: &mut Random) -> ast::Thread {
    let outside = &world.threads[position];
    let locals = outside.locals.iter().filter(|local| local.fields.is_empty());
    let variables = locals.map(|l| tree::variables(l.written.clone(), vec![(name(&l.name), l.initial.clone())]));
    let mut steps = Steps::of_thread(world, position);
    let (locations, body) = match outside.structured {
        true => (Vec::new(), steps.body(random)),
        false => ((0..outside.locations.len()).map(|l| location(&mut steps, l, random)).collect(), Vec::new()),
    };
    ast::Thread {
        fair: world.rich && random.chance(10),
        body,
        active: outside.active,
        copies: outside.written.clone(),
        name: name(&outside.name),
        params: params(&outside.params),
        crashes: None,
        variables: variables.chain(outside.records.iter().cloned()).collect(),
        locations,
        span: Span::default(),
    }
}

fn location(steps: &mut Steps<'_>, position: usize, random: &mut Random) -> Location {
    let count = random.weighted(&[0, 45, 40, 15]);
    let marks = marks(random);
    let transformations = (0..count).map(|_| steps.transformation(position, random)).collect();
    tree::location(&steps.own().expect("a thread").locations[position], marks, transformations)
}

pub(crate) fn marks(random: &mut Random) -> Vec<Mark> {
    let marks = [(Mark::End, 20), (Mark::Accept, 8), (Mark::Progress, 8)];
    marks.into_iter().filter(|(_, percent)| random.chance(*percent)).map(|(mark, _)| mark).collect()
}

/// Writes the steps of one thread or procedure.
pub(crate) struct Steps<'w> {
    pub(crate) world: &'w World,
    pub(crate) thread: Option<usize>,
    /// Of the procedure.
    pub(crate) params: &'w [Var],
    pub(crate) procedure: Option<&'w Procedure>,
    /// Procedures before this one may be called.
    pub(crate) callable: usize,
    /// The variables of the `for`s around, with their ranges.
    pub(crate) rounds: Vec<(String, Kind, i64, i64)>,
}

impl<'w> Steps<'w> {
    fn of_thread(world: &'w World, thread: usize) -> Self {
        let callable = world.procedures.len();
        Steps { world, thread: Some(thread), params: &[], procedure: None, callable, rounds: Vec::new() }
    }

    pub(crate) fn own(&self) -> Option<&'w Thread> {
        self.thread.map(|thread| &self.world.threads[thread])
    }

    /// Where the expressions of the steps stand.
    pub(crate) fn place<'r>(&'r self, random: &'r mut Random) -> Place<'r> {
        let bound = self.rounds.clone();
        Place { params: self.params, procedure: self.procedure, bound, ..place(self.world, random, self.thread) }
    }

    /// Most steps are tame: they seldom go wrong or get stuck, so that the wild ones meet many states.
    fn transformation(&mut self, from: usize, random: &mut Random) -> Transformation {
        let is_tame = random.chance(62);
        let mut guard = self.guard(is_tame, random);
        let mut actions: Vec<Action> = if is_tame {
            (0..random.weighted(&[10, 60, 30])).map(|_| self.tame_assignment(random)).collect()
        } else {
            (0..random.weighted(&[15, 45, 30, 10])).map(|_| self.action(random)).collect()
        };
        if random.chance(15) {
            if let Some((counted, bound)) = self.count(random) {
                guard = Some(bound);
                actions.insert(random.below(actions.len() + 1), counted);
            }
        } else if random.chance(15)
            && let Some((start, is_free)) = self.tame_start(random)
        {
            guard = Some(is_free);
            actions.insert(0, start);
        }
        if self.world.has_collections()
            && random.chance(50)
            && let Some((change, is_possible)) = self.change(random)
        {
            guard = is_possible.filter(|_| random.chance(90)).or(guard);
            actions.insert(0, action(change));
        }
        if self.world.rich && random.chance(30) {
            let at = random.below(actions.len() + 1);
            let mut more = self.inside(2, false, random);
            // In the braces themselves, a jump is the jump of the transformation.
            more.retain(|part| !matches!(part.kind, ActionKind::Goto(_) | ActionKind::Return));
            actions.splice(at..at, more);
        }
        if self.world.rich && random.chance(25) {
            actions.extend(self.exchange(random).into_iter().next());
        }
        let own = self.own().expect("a thread");
        let locations = &own.locations;
        let next = if random.chance(60) { (from + 1) % locations.len() } else { random.below(locations.len()) };
        let ends = random.chance(if own.active { 5 } else { 30 });
        let fair = self.world.rich && random.chance(5);
        let target = if ends { None } else { Some(&locations[next][..]) };
        Transformation { fair, ..tree::transformation(guard, actions, target) }
    }

    pub(crate) fn guard(&self, is_tame: bool, random: &mut Random) -> Option<Expr> {
        let weights = if is_tame { [72, 24, 4, 0] } else { [30, 20, 25, 25] };
        let depth = match random.weighted(&weights) {
            0 => return None,
            depth => depth - 1,
        };
        Some(self.place(random).boolean(depth))
    }

    /// Gives a variable another value that it can hold.
    pub(crate) fn tame_assignment(&self, random: &mut Random) -> Action {
        if self.world.has_collections()
            && random.chance(25)
            && let Some(change) = self.possible_change(random)
        {
            return change;
        }
        if random.chance(20)
            && let Some(whole) = self.whole_assignment(random)
        {
            return whole;
        }
        let fitting = |v: &Var| v.scalar.kind != Kind::Integer || v.scalar.is_small();
        let Some(target) = self.target(random, fitting) else { return action(ActionKind::Skip) };
        let place_of = self.known_place_of(target, random);
        let (lo, hi) = (target.scalar.lo, target.scalar.hi);
        action(match target.scalar.kind {
            Kind::Boolean if random.chance(60) => ActionKind::Assign(place_of.clone(), unary(UnaryOp::Not, place_of)),
            Kind::Integer if self.world.data.set.is_some() && random.chance(10) => {
                let set = self.place(random).set(0);
                ActionKind::ChooseMember(place_of, set)
            }
            Kind::Integer if random.chance(40) => {
                let [low, high] = [lo, hi].map(|bound| self.world.written_number(bound, random));
                ActionKind::Choose(place_of, low, high)
            }
            Kind::Integer if random.chance(50) => {
                let next = binary(BinaryOp::Add, place_of.clone(), number(1));
                let below = binary(BinaryOp::Lt, place_of.clone(), number(hi));
                ActionKind::Assign(place_of, conditional(below, next, number(lo)))
            }
            Kind::Name if matches!(target.scalar.written.kind, TypeKind::OrNobody(_)) && random.chance(30) => {
                ActionKind::Assign(place_of, member(named("Id"), "nobody"))
            }
            Kind::Name => {
                if self.world.data.names.is_some() && random.chance(50) {
                    return action(ActionKind::ChooseMember(place_of, named("Id")));
                }
                let value = self.place(random).name_of(0);
                ActionKind::Assign(place_of, value)
            }
            Kind::Set => {
                let value = self.place(random).changed_set(&place_of);
                ActionKind::Assign(place_of, value)
            }
            Kind::Boolean | Kind::Integer | Kind::Enum(_) => {
                let value = self.world.constant_of(&target.scalar, random);
                ActionKind::Assign(place_of, value)
            }
        })
    }

    /// `when exists (i : 0 .. 1) !(T[i]@l0 || T[i]@l1) do { start T(…); … }`: only where a copy is free.
    fn tame_start(&self, random: &mut Random) -> Option<(Action, Expr)> {
        let startable: Vec<&Thread> =
            self.world.threads.iter().filter(|t| !t.active && t.copies > 0 && !t.structured).collect();
        if startable.is_empty() {
            return None;
        }
        let started = *random.pick(&startable);
        let copy = |thread: &Thread| match thread.copies {
            1 => named(&thread.name),
            _ => index(named(&thread.name), named("i")),
        };
        let runs = started.locations.iter().map(|location| at(copy(started), location));
        let runs = runs.reduce(|left, right| binary(BinaryOp::Or, left, right))?;
        let mut is_free = unary(UnaryOp::Not, runs);
        if started.copies > 1 {
            let last = self.world.written_number(started.copies - 1, random);
            let bounds = (Box::new(number(0)), Box::new(last));
            is_free = expr(ExprKind::Quantifier(
                Quantifier::Any,
                name("i"),
                Box::new(Domain::Range(*bounds.0, *bounds.1)),
                Box::new(is_free),
            ));
        }
        let args = started.params.iter().map(|param| match param.scalar.kind {
            Kind::Set | Kind::Name => self.place(random).value_of(&param.scalar, 0),
            _ => self.world.constant_of(&param.scalar, random),
        });
        let args = args.collect();
        Some((action(ActionKind::Start(name(&started.name), args)), is_free))
    }

    /// `when x < hi do { … x := x + 1; … }`, the usual way to stay in a range, unless something comes between.
    pub(crate) fn count(&self, random: &mut Random) -> Option<(Action, Expr)> {
        let target = self.target(random, |v| v.scalar.kind == Kind::Integer && v.scalar.is_small())?;
        let variable = self.known_place_of(target, random);
        let next = binary(BinaryOp::Add, variable.clone(), number(1));
        let bound = binary(BinaryOp::Lt, variable.clone(), self.world.written_number(target.scalar.hi, random));
        Some((action(ActionKind::Assign(variable, next)), bound))
    }

    /// A variable, or an element of it with a constant index, where that has one.
    pub(crate) fn known_place_of(&self, target: &Var, random: &mut Random) -> Expr {
        if target.is_by_name() {
            return self.place_of(target, random);
        }
        let at = |length: &i64| {
            let at = random.between(0, length - 1);
            let at = self.world.written_number(at, random);
            if target.spread { apart(at) } else { at }
        };
        let indices = target.shape.iter().map(at).collect();
        spelled(named(&target.name), &target.fields, indices)
    }

    pub(crate) fn action(&self, random: &mut Random) -> Action {
        if self.world.rich
            && random.chance(35)
            && let Some(rich) = self.rich_action(random)
        {
            return rich;
        }
        action(match random.weighted(&[52, 14, 8, 7, 14, 5]) {
            0 => self.assignment(random),
            1 => self.choice(random),
            2 => {
                let message = random.chance(50).then(|| "must be so".to_owned());
                ActionKind::Assert(self.probably(random), message)
            }
            3 => ActionKind::Assume(self.probably(random)),
            4 => self.start(random),
            _ => ActionKind::Skip,
        })
    }

    /// A condition that is true more often than not.
    pub(crate) fn probably(&self, random: &mut Random) -> Expr {
        let mut here = self.place(random);
        let left = here.boolean(1);
        let right = here.boolean(2);
        binary(BinaryOp::Or, left, right)
    }

    /// A variable that may be assigned here.
    pub(crate) fn target(&self, random: &mut Random, wanted: impl Fn(&Var) -> bool) -> Option<&'w Var> {
        let own = self.own();
        let mut locals: Vec<&Var> = self.params.iter().collect();
        locals.extend(own.iter().flat_map(|own| own.params.iter().chain(&own.locals)));
        let is_round = |v: &&Var| self.rounds.iter().any(|(name, ..)| *name == v.name);
        let is_hidden = |v: &&Var| locals.iter().any(|local| local.name == v.name);
        let mut found: Vec<&Var> = self.world.globals.iter().filter(|v| !is_hidden(v)).collect();
        found.extend(own.iter().flat_map(|own| &own.locals));
        // The parameter of an active thread may be a constant: the number of its copy.
        found.extend(own.iter().filter(|own| !own.active).flat_map(|own| &own.params));
        found.extend(self.params.iter().filter(|param| param.by_place));
        found.retain(|v| wanted(v) && !is_round(v));
        if found.is_empty() { None } else { Some(*random.pick(&found)) }
    }

    pub(crate) fn place_of(&self, target: &Var, random: &mut Random) -> Expr {
        let mut here = self.place(random);
        let indices = here.indices_of(&target.shape, (target.spread, target.is_by_name()), 1);
        spelled(named(&target.name), &target.fields, indices)
    }

    fn assignment(&self, random: &mut Random) -> ActionKind {
        let Some(target) = self.target(random, |_| true) else { return ActionKind::Skip };
        let place_of = self.place_of(target, random);
        let mut here = self.place(random);
        let value = match target.scalar.kind {
            Kind::Set => here.set_value(2),
            _ => here.value_of(&target.scalar, 2),
        };
        ActionKind::Assign(place_of, value)
    }

    /// `x := choose(lo, hi)`; variable bounds may cross, which is a fault.
    fn choice(&self, random: &mut Random) -> ActionKind {
        let Some(target) = self.target(random, |v| v.scalar.kind == Kind::Integer) else { return ActionKind::Skip };
        let place_of = self.place_of(target, random);
        let least = target.scalar.lo.max(-1);
        let from = least + random.between(0, 1);
        let width = random.between(0, 2);
        let to = if random.chance(90) { (from + width).min(target.scalar.hi).max(from) } else { from + width };
        let (mut low, mut high) = (number(from), self.world.written_number(to, random));
        let mut here = self.place(random);
        for bound in [&mut low, &mut high] {
            if here.random.chance(25) {
                *bound = here.counter().map_or(number(from), |(variable, _, _)| variable);
            }
        }
        ActionKind::Choose(place_of, low, high)
    }

    fn start(&self, random: &mut Random) -> ActionKind {
        let startable: Vec<&Thread> = self.world.threads.iter().filter(|t| t.startable).collect();
        if startable.is_empty() {
            return self.assignment(random);
        }
        let started = *random.pick(&startable);
        let mut here = self.place(random);
        let args = started.params.iter().map(|param| match here.random.chance(30) && started.copies > 0 {
            // What the copy to be started has now must not depend on what it is about to get.
            true => here.of_started(started, &param.scalar),
            false => here.value_of(&param.scalar, 1),
        });
        ActionKind::Start(name(&started.name), args.collect())
    }
}

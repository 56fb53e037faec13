//! The statements of an `atomic` sequence as one step: every path through it becomes a transition, as far as it can be
//! followed here. A path that cannot, because it loops, keeps its first statement, and the program says who goes on.

use std::collections::HashMap;

use birk_ir::{Expr, LocalId, LocationId, Op, Place, Receiver, Span, ThreadId, Transition, VarId};

use super::step::{Fine, Partner};
use crate::fold::{fold, replace};
use crate::sema::World;

/// A step has at most so many paths.
const MAX_PATHS: usize = 64;
/// A path has at most so many statements.
const MAX_STEPS: usize = 300;
/// All paths of a step together have at most so many operations.
const MAX_OPS: usize = 20_000;

/// All steps of a model together: beyond this, they are joined only while they are executed.
const MAX_ALL_OPS: usize = 1_000_000;

/// The fine steps, by instance and by place.
pub(crate) type Steps = Vec<Vec<Vec<Fine>>>;

/// What is known of the variables on a path.
#[derive(Clone, Default)]
struct Known {
    variables: HashMap<(VarId, i64), i64>,
    locals: HashMap<LocalId, i64>,
}

impl Known {
    fn fold(&self, expr: &Expr) -> Expr {
        let plain = replace(expr, &|e| match e {
            Expr::Local(local) => self.locals.get(local).map(|value| Expr::Const(*value)),
            _ => None,
        });
        fold(&plain, &|variable, index| self.variables.get(&(variable, index)).copied())
    }

    fn forget(&mut self, variable: VarId) {
        self.variables.retain(|(own, _), _| *own != variable);
    }
}

/// A path through an atomic sequence.
#[derive(Clone)]
struct Path {
    guard: Expr,
    ops: Vec<Op>,
    locals: u32,
    spans: Vec<Span>,
    known: Known,
    /// Where the processes are.
    at: HashMap<usize, Option<usize>>,
    /// Those that have received at a rendezvous; nothing in place of one that was moved before, for example by `run`.
    partners: Vec<Option<Partner>>,
    then: Option<usize>,
    steps: usize,
}

struct Expansion<'s> {
    world: &'s World,
    steps: &'s Steps,
    done: Vec<Path>,
    ops: usize,
}

/// Too many paths, or too long ones.
struct TooMany;

/// The transitions of a process at a place; `spent` is how many operations were looked at.
pub(crate) fn transitions(
    world: &World,
    steps: &Steps,
    instance: usize,
    position: usize,
    spent: &mut usize,
) -> Vec<Transition> {
    let mut found = Vec::new();
    for fine in &steps[instance][position] {
        let mut expansion = Expansion { world, steps, done: Vec::new(), ops: 0 };
        let start = Path {
            guard: fine.enabled(),
            ops: Vec::new(),
            locals: 0,
            spans: Vec::new(),
            known: Known::default(),
            at: HashMap::new(),
            partners: Vec::new(),
            then: None,
            steps: 0,
        };
        let followed = match *spent < MAX_ALL_OPS {
            true => expansion.follow(start.clone(), fine),
            false => Err(TooMany),
        };
        *spent += expansion.ops;
        let paths = match followed {
            Ok(()) => expansion.done,
            Err(TooMany) => {
                let mut path = start;
                path.known = Known::default();
                expansion.execute(&mut path, fine);
                path.then = fine.then;
                vec![path]
            }
        };
        for path in paths {
            found.push(transition(world, path, instance, position));
        }
    }
    found
}

fn transition(world: &World, path: Path, instance: usize, position: usize) -> Transition {
    let proc = &world.procs[world.instances[instance].proc];
    let here = proc.states[position];
    let target = path.at.get(&instance).copied().unwrap_or(Some(here));
    let receiver = receiver(world, &path, instance);
    let first = path.spans.first().copied().unwrap_or_default();
    let parts = if path.spans.len() > 1 { path.spans } else { Vec::new() };
    Transition {
        thread: ThreadId::new(instance),
        location: LocationId::new(position),
        ordinal: 0,
        target: target.map(|element| LocationId::new(proc.position[&element])),
        span: first,
        guard_span: None,
        parts,
        guard: path.guard,
        ops: path.ops,
        locals: path.locals,
        fair: None,
        then: path.then.map(ThreadId::new),
        receiver,
    }
}

/// The one process that receives at a rendezvous, where it waited from the beginning, nobody else is moved and nobody goes on.
fn receiver(world: &World, path: &Path, instance: usize) -> Option<Receiver> {
    let [Some(partner)] = path.partners[..] else { return None };
    let is_alone = path.at.keys().all(|moved| [instance, partner.instance].contains(moved));
    if path.then.is_some() || !is_alone {
        return None;
    }
    let position = &world.procs[world.instances[partner.instance].proc].position;
    let place = |element: usize| position.get(&element).copied().map(LocationId::new);
    let target = path.at.get(&partner.instance)?;
    Some(Receiver {
        thread: ThreadId::new(partner.instance),
        location: place(partner.state)?,
        target: target.map_or(Some(None), |element| place(element).map(Some))?,
        span: partner.span,
        guard_span: None,
    })
}

impl Expansion<'_> {
    /// Executes a statement, and follows who goes on.
    fn follow(&mut self, mut path: Path, fine: &Fine) -> Result<(), TooMany> {
        path.steps += 1;
        let ends = self.execute(&mut path, fine);
        self.ops += path.ops.len();
        if path.steps > MAX_STEPS || self.done.len() > MAX_PATHS || self.ops > MAX_OPS {
            return Err(TooMany);
        }
        let Some(who) = fine.then.filter(|_| !ends) else {
            self.done.push(path);
            return Ok(());
        };
        let steps = self.steps;
        let proc = &self.world.procs[self.world.instances[who].proc];
        let Some(Some(element)) = path.at.get(&who).copied() else {
            self.done.push(path);
            return Ok(());
        };
        let next = &steps[who][proc.position[&element]];
        let mut waits = Vec::new();
        for fine in next {
            // `timeout` is asked in states, not between the statements of a step.
            let enabled = replace(&fine.enabled(), &|e| (*e == Expr::Stuck).then_some(Expr::FALSE));
            let enabled = path.known.fold(&renumbered(&enabled, path.locals));
            if enabled == Expr::FALSE {
                continue;
            }
            let mut longer = path.clone();
            if enabled != Expr::TRUE {
                longer.ops.push(Op::Require(enabled.clone()));
            }
            waits.push(enabled);
            self.follow(longer, fine)?;
        }
        let none = Expr::any(waits).negate();
        if none != Expr::FALSE {
            if none != Expr::TRUE {
                path.ops.push(Op::Require(none));
            }
            self.done.push(path);
        }
        Ok(())
    }

    /// Appends what a statement does; whether the step ends there, because it goes wrong.
    fn execute(&mut self, path: &mut Path, fine: &Fine) -> bool {
        let offset = path.locals;
        for span in &fine.spans {
            if path.spans.last() != Some(span) {
                path.spans.push(*span);
            }
        }
        path.partners.extend(fine.partner.map(|partner| {
            let counter = self.world.instances[partner.instance].counter;
            let starts = |op: &Op| matches!(op, Op::Assign(place, _) if place.variable == counter);
            let has_moved = path.at.contains_key(&partner.instance) || path.ops.iter().any(starts);
            (!has_moved).then_some(partner)
        }));
        for (instance, element) in &fine.moves {
            path.at.insert(*instance, *element);
        }
        path.locals += fine.locals;
        for op in &fine.ops {
            let known = &mut path.known;
            match op {
                Op::Assign(place, value) => {
                    let value = known.fold(&renumbered(value, offset));
                    let index = place.index.as_ref().map(|index| known.fold(&renumbered(index, offset)));
                    let element = index.as_ref().map_or(Some(0), Expr::as_const);
                    match (element, value.as_const()) {
                        (Some(element), Some(value)) => {
                            known.variables.insert((place.variable, element), value);
                        }
                        (Some(element), None) => {
                            known.variables.remove(&(place.variable, element));
                        }
                        (None, _) => known.forget(place.variable),
                    }
                    path.ops.push(Op::Assign(Place { variable: place.variable, index }, value));
                }
                Op::Let(local, value) => {
                    let local = LocalId(local.0 + offset);
                    let value = known.fold(&renumbered(value, offset));
                    match value.as_const() {
                        Some(value) => {
                            known.locals.insert(local, value);
                        }
                        None => path.ops.push(Op::Let(local, value)),
                    }
                }
                Op::Check(condition, fault) => {
                    let condition = known.fold(&renumbered(condition, offset));
                    let (holds, fails) = (condition == Expr::TRUE, condition == Expr::FALSE);
                    if !holds {
                        path.ops.push(Op::Check(condition, *fault));
                    }
                    if fails {
                        return true;
                    }
                }
                other => path.ops.push(other.clone()),
            }
        }
        false
    }
}

/// With the numbers of locals moved up.
fn renumbered(expr: &Expr, offset: u32) -> Expr {
    if offset == 0 {
        return expr.clone();
    }
    replace(expr, &|e| match e {
        Expr::Local(local) => Some(Expr::Local(LocalId(local.0 + offset))),
        _ => None,
    })
}

//! Random bodies made of statements, and what may stand inside one step.

use birk_ir::Span;
use birk_lang::ast::{Action, ActionKind, Expr, Label};

use crate::programs::generator::{Steps, marks};
use crate::programs::world::{Formal, Kind, Procedure, Var};
use crate::random::{Draw as _, Random};
use crate::tree::{action, name, named, truth};

impl Steps<'_> {
    /// The body of a thread. Its labels stand before statements that are steps.
    pub(crate) fn body(&mut self, random: &mut Random) -> Vec<Action> {
        let mut statements = vec![self.simple(random)];
        statements.extend((0..random.weighted(&[10, 30, 40, 20])).map(|_| self.statement(2, false, random)));
        for exchanged in self.exchange(random) {
            // Who has something else to do does not wait forever.
            let statement = match random.chance(40) {
                true => action(ActionKind::Either(vec![vec![exchanged], vec![self.tame_assignment(random)]])),
                false => exchanged,
            };
            statements.insert(random.below(statements.len() + 1), statement);
        }
        if random.chance(60) {
            statements = vec![action(ActionKind::While(truth(true), statements))];
        }
        let labels: Vec<String> = self.own().map_or(Vec::new(), |own| own.locations.clone());
        for label in labels {
            let marks = marks(random).into_iter().map(|mark| (mark, Span::default())).collect();
            let label = Label { name: name(&label), marks };
            let mut count = 0;
            each_open(&mut statements, &mut |_| count += 1);
            let mut chosen = random.below(count) as i64;
            each_open(&mut statements, &mut |statement| {
                if chosen == 0 {
                    statement.labels.push(label.clone());
                }
                chosen -= 1;
            });
        }
        statements
    }

    /// The body of a procedure; without a loop if it may be called inside one step.
    pub(crate) fn procedure(&mut self, plain: bool, random: &mut Random) -> Vec<Action> {
        let mut statements = vec![self.simple(random)];
        let given = self.procedure.map(|procedure| &procedure.channels[..]).unwrap_or_default();
        statements.extend(given.iter().filter_map(|channel| {
            let sends = random.chance(50);
            self.tame_traffic(channel, sends, random)
        }));
        if plain {
            statements.extend(self.inside(1, false, random));
        } else {
            statements.extend((0..random.below(3)).map(|_| self.statement(1, false, random)));
        }
        statements
    }

    /// A statement that is one step.
    fn simple(&mut self, random: &mut Random) -> Action {
        if random.chance(30)
            && let Some(traffic) = self.traffic(&|channel| channel.capacity > 0, random)
        {
            return traffic;
        }
        let mut statement = match random.weighted(&[52, 28, 8, 6, 6]) {
            0 => self.tame_assignment(random),
            1 => self.action(random),
            2 => action(ActionKind::Await(self.probably(random))),
            3 => action(ActionKind::Assert(self.place(random).boolean(1), None)),
            _ => action(ActionKind::Assume(self.place(random).boolean(1))),
        };
        statement.fair = random.chance(5);
        statement
    }

    fn block(&mut self, depth: usize, in_loop: bool, random: &mut Random) -> Vec<Action> {
        (0..random.weighted(&[10, 55, 35])).map(|_| self.statement(depth, in_loop, random)).collect()
    }

    fn statement(&mut self, depth: usize, in_loop: bool, random: &mut Random) -> Action {
        if depth == 0 {
            return self.last_statement(in_loop, random);
        }
        let below = depth - 1;
        let kind = match random.weighted(&[45, 13, 8, 5, 7, 12, 16, 9]) {
            0 => return self.last_statement(in_loop, random),
            1 => self.conditional(random, &mut |steps, random| steps.block(below, in_loop, random)),
            2 => {
                let mut body = self.block(below, true, random);
                let condition = match self.count(random) {
                    Some((counted, bound)) if random.chance(60) => {
                        body.push(counted);
                        bound
                    }
                    _ => self.place(random).boolean(1),
                };
                ActionKind::While(condition, body)
            }
            3 => {
                let mut body = vec![self.simple(random)];
                body.extend(self.block(below, true, random));
                if random.chance(60) {
                    let leave = vec![action(ActionKind::Break)];
                    let condition = self.place(random).boolean(1);
                    body.push(action(ActionKind::If(vec![(condition, leave)], None)));
                }
                ActionKind::While(truth(true), body)
            }
            4 => self.rounds(random, &mut |steps, random| steps.block(below, in_loop, random)),
            5 => self.either(random, &mut |steps, random| steps.block(below, in_loop, random)),
            6 => {
                let mut parts = self.inside(2, in_loop, random);
                let at = random.below(parts.len() + 1);
                if self.thread.is_some() && random.chance(30) {
                    parts.splice(at..at, self.traffic(&|channel| channel.capacity == 0, random));
                }
                ActionKind::Atomic(parts)
            }
            _ => return self.call(false, random),
        };
        Action { fair: random.chance(5), ..action(kind) }
    }

    /// A statement without others in it.
    fn last_statement(&mut self, in_loop: bool, random: &mut Random) -> Action {
        // Inside a step there is at most one rendezvous; some procedures may be called there.
        let may_meet = self.procedure.is_none_or(|procedure| !procedure.plain);
        if may_meet
            && random.chance(25)
            && let Some(traffic) = self.traffic(&|channel| channel.capacity == 0, random)
        {
            return traffic;
        }
        match random.weighted(&[88, 4, 2, 4, 2]) {
            1 => self.leave(in_loop, random),
            2 => action(ActionKind::Skip),
            3 => self.call(false, random),
            _ => self.simple(random),
        }
    }

    /// Statements that are one step together.
    pub(crate) fn inside(&mut self, depth: usize, in_loop: bool, random: &mut Random) -> Vec<Action> {
        (0..random.weighted(&[5, 40, 40, 15])).map(|_| self.part(depth, in_loop, random)).collect()
    }

    fn part(&mut self, depth: usize, in_loop: bool, random: &mut Random) -> Action {
        let below = depth.saturating_sub(1);
        let weights = if depth == 0 { [60, 0, 0, 0, 4, 6] } else { [60, 14, 10, 8, 4, 8] };
        let block = &mut |steps: &mut Self, random: &mut Random| match random.chance(15) {
            true => Vec::new(),
            false => vec![steps.part(below, in_loop, random)],
        };
        action(match random.weighted(&weights) {
            1 => self.conditional(random, block),
            2 => self.either(random, block),
            3 => self.rounds(random, block),
            4 => return self.leave(in_loop, random),
            5 => return self.call(true, random),
            _ => return Action { fair: false, ..self.simple(random) },
        })
    }

    fn conditional(
        &mut self,
        random: &mut Random,
        block: &mut dyn FnMut(&mut Self, &mut Random) -> Vec<Action>,
    ) -> ActionKind {
        let mut branches = Vec::new();
        for _ in 0..random.weighted(&[0, 70, 30]) {
            let depth = random.below(3);
            let condition = self.place(random).boolean(depth);
            branches.push((condition, block(self, random)));
        }
        let otherwise = random.chance(50).then(|| block(self, random));
        ActionKind::If(branches, otherwise)
    }

    fn either(
        &mut self,
        random: &mut Random,
        block: &mut dyn FnMut(&mut Self, &mut Random) -> Vec<Action>,
    ) -> ActionKind {
        ActionKind::Either((0..random.weighted(&[0, 0, 75, 25])).map(|_| block(self, random)).collect())
    }

    /// `for (k : lo .. hi) { … }`, seldom without a round.
    fn rounds(
        &mut self,
        random: &mut Random,
        block: &mut dyn FnMut(&mut Self, &mut Random) -> Vec<Action>,
    ) -> ActionKind {
        let lo = random.between(0, 1);
        let hi = lo + random.weighted(&[10, 25, 50, 15]) as i64 - 1;
        let own = (*random.pick(&["k", "m", "g0"])).to_owned();
        let mut bound = |value| match self.rounds.last() {
            Some((outer, ..)) if value == lo && random.chance(20) => named(outer),
            _ => self.world.written_number(value, random),
        };
        let (low, high) = (bound(lo), bound(hi));
        self.rounds.push((own.clone(), Kind::Integer, lo, hi.max(lo)));
        let body = block(self, random);
        self.rounds.pop();
        ActionKind::For(name(&own), low, high, body)
    }

    /// `break`, `goto`, `return`.
    fn leave(&mut self, in_loop: bool, random: &mut Random) -> Action {
        action(match (self.own(), random.below(3)) {
            (_, 0) if in_loop => ActionKind::Break,
            (Some(own), 0 | 1) => ActionKind::Goto(name(random.pick::<String>(&own.locations))),
            _ => ActionKind::Return,
        })
    }

    /// A call of a procedure that comes before this one.
    fn call(&mut self, in_step: bool, random: &mut Random) -> Action {
        let callable = self.world.procedures[..self.callable].iter();
        let fitting: Vec<&Procedure> = callable.filter(|p| p.plain || !in_step).collect();
        if fitting.is_empty() {
            return self.tame_assignment(random);
        }
        let called = *random.pick(&fitting);
        let mut args = Vec::new();
        for param in &called.params {
            let arg = match param {
                Formal::Single(param) => self.argument(param, random),
                Formal::Whole(group, _) => self.place(random).whole(*group),
                Formal::Channel(channel) => Some(self.place(random).channel_place(channel)),
            };
            match arg {
                Some(arg) => args.push(arg),
                None => return self.tame_assignment(random),
            }
        }
        action(ActionKind::Call(name(&called.name), args))
    }

    /// A variable for what is assigned, or any expression for what is only read.
    fn argument(&mut self, param: &Var, random: &mut Random) -> Option<Expr> {
        if !param.by_place {
            return Some(self.place(random).value_of(&param.scalar, 1));
        }
        let (kind, lo, hi) = (param.scalar.kind, param.scalar.lo, param.scalar.hi);
        let same = |v: &Var| v.scalar.kind == kind && v.scalar.lo <= lo && hi <= v.scalar.hi;
        let target = self.target(random, same).or_else(|| self.target(random, |v| v.scalar.kind == kind))?;
        Some(if random.chance(70) { self.known_place_of(target, random) } else { self.place_of(target, random) })
    }
}

/// Visits the statements that a label can stand before.
fn each_open(statements: &mut [Action], visit: &mut dyn FnMut(&mut Action)) {
    for statement in statements {
        match &mut statement.kind {
            // These may lead to the end of the thread without a step, and there is no place there.
            ActionKind::Break | ActionKind::Return | ActionKind::Goto(_) | ActionKind::For(..) => continue,
            ActionKind::If(branches, otherwise) => {
                branches.iter_mut().for_each(|(_, branch)| each_open(branch, visit));
                otherwise.iter_mut().for_each(|branch| each_open(branch, visit));
            }
            ActionKind::While(_, body) => each_open(body, visit),
            ActionKind::Either(branches) => branches.iter_mut().for_each(|branch| each_open(branch, visit)),
            _ => {}
        }
        visit(statement);
    }
}

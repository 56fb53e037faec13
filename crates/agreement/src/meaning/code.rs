//! Where a thread can be, and the ways that lead on from there.
//!
//! A place is a point before a statement, reached by nothing but statements that are no steps: `while (true)`, `for`,
//! calls, `goto`, `break`, `return` are passed at once. It is written as the way down to it: the number of a statement,
//! the part of it that was entered, the number of a statement in there, and so on. Nothing is shared with the lowering.

use std::collections::HashMap;
use std::rc::Rc;

use birk_ir::Span;
use birk_lang::ast::{Action, ActionKind, Crashes, Expr, ExprKind, Jump, Mark, Procedure, Thread};

use crate::meaning::Meaning;
use crate::meaning::shape::Shape;
use crate::meaning::value::Scene;

/// The calls and rounds around a statement, innermost first.
pub type Scope<'a> = Option<Rc<Frame<'a>>>;

/// A call or a round.
#[derive(Debug)]
pub enum Frame<'a> {
    /// A call of a procedure with arguments, and what is around it.
    Call(&'a Procedure, &'a [Expr], Scope<'a>),
    /// A round of a `for` with the value of its variable, and what is around it.
    Round(&'a str, i64, Scope<'a>),
}

/// A part of a step.
#[derive(Clone, Debug)]
pub enum Piece<'a> {
    /// It goes on only where this is true, or false.
    Only(bool, &'a Expr),
    /// Something happens.
    Do(&'a ActionKind),
    /// What is not durable is lost.
    Lose,
}

/// One way through a step.
#[derive(Clone, Debug)]
pub struct Way<'a> {
    pub(crate) pieces: Vec<(Piece<'a>, Scope<'a>)>,
    /// Where it leads; `None` ends the thread.
    pub(crate) exit: Option<usize>,
    /// Where what is marked `fair` is written.
    pub(crate) fair: Option<Span>,
    /// It sends, or else receives, at this rendezvous.
    pub meets: Option<(bool, &'a str)>,
    /// It is a crash: nobody is owed that.
    pub(crate) crash: bool,
}

impl Way<'_> {
    /// Whether a message goes to several channels.
    pub fn broadcasts(&self) -> bool {
        self.pieces.iter().any(|(piece, _)| matches!(piece, Piece::Do(ActionKind::Broadcast(..))))
    }
}

/// A place where a thread can be.
#[derive(Clone, Debug, Default)]
pub struct Place<'a> {
    /// `end`, `accept`, `progress`.
    pub marks: [bool; 3],
    /// The ways that leave it.
    pub ways: Vec<Way<'a>>,
}

/// All places of a thread; the first is where it starts.
#[derive(Debug, Default)]
pub struct Code<'a> {
    /// Each place by its number.
    pub places: Vec<Place<'a>>,
    /// Locations and labels; `None` if the thread ends there.
    pub(crate) labels: HashMap<&'a str, Option<usize>>,
}

/// The number of a statement, the part of it that was entered, the number of a statement there, …
type Point = Vec<i64>;

/// How a way leaves its step.
#[derive(Clone, Copy, Debug)]
enum Leave<'a> {
    Next,
    Break,
    Return,
    Goto(&'a str),
}

type Through<'a> = Vec<(Vec<(Piece<'a>, Scope<'a>)>, Leave<'a>)>;

impl<'a> Code<'a> {
    pub(crate) fn new(meaning: &Meaning<'a>, thread: &'a Thread) -> Self {
        let mut code = Code::default();
        let mut reader = Reader::new(meaning, thread);
        if thread.locations.is_empty() {
            let start = reader.settle(vec![0]);
            reader.number(start);
        } else {
            code.locations(meaning, thread);
            reader.of_locations = code.places.iter().map(|place| place.ways.clone()).collect();
        }
        reader.read(&mut code);
        if let Some(crashes) = &thread.crashes {
            reader.crashes(crashes, &mut code);
        }
        code
    }

    fn locations(&mut self, meaning: &Meaning<'a>, thread: &'a Thread) {
        for (position, location) in thread.locations.iter().enumerate() {
            self.labels.insert(&location.name.text, Some(position));
        }
        for location in &thread.locations {
            let mut place = Place::default();
            mark(&mut place, &location.marks);
            for transformation in &location.transformations {
                for (mut pieces, leave) in through(meaning, &transformation.actions, &None) {
                    pieces.splice(0..0, transformation.guard.iter().map(|guard| (Piece::Only(true, guard), None)));
                    let exit = match (leave, &transformation.jump) {
                        (Leave::Goto(name), _) => self.labels[name],
                        (Leave::Next, Some(Jump::Goto(name))) => self.labels[name.text.as_str()],
                        (Leave::Return, _) | (Leave::Next, Some(Jump::Return(_))) => None,
                        (Leave::Break, _) | (Leave::Next, None) => unreachable!("a system without errors"),
                    };
                    let meets = meets(meaning, &pieces);
                    let fair = transformation.fair.then_some(transformation.span);
                    place.ways.push(Way { pieces, exit, fair, meets, crash: false });
                }
            }
            self.places.push(place);
        }
    }
}

fn mark(place: &mut Place<'_>, marks: &[(Mark, birk_ir::Span)]) {
    for (position, mark) in [Mark::End, Mark::Accept, Mark::Progress].into_iter().enumerate() {
        place.marks[position] |= marks.iter().any(|(own, _)| *own == mark);
    }
}

/// The values of a `for`.
fn rounds(meaning: &Meaning<'_>, lo: &Expr, hi: &Expr, scope: &Scope<'_>) -> (i64, i64) {
    let bound = |expr| Scene::new(meaning, &[], None).inside(scope).number(expr).expect("constant bounds go right");
    (bound(lo), bound(hi))
}

fn enter_call<'a>(meaning: &Meaning<'a>, name: &str, args: &'a [Expr], scope: &Scope<'a>) -> (&'a [Action], Scope<'a>) {
    let procedure = meaning.procedures[name];
    (&procedure.body, Some(Rc::new(Frame::Call(procedure, args, scope.clone()))))
}

fn enter_round<'a>(name: &'a str, value: i64, scope: &Scope<'a>) -> Scope<'a> {
    Some(Rc::new(Frame::Round(name, value, scope.clone())))
}

/// All ways through statements that are one step.
fn through<'a>(meaning: &Meaning<'a>, statements: &'a [Action], scope: &Scope<'a>) -> Through<'a> {
    let mut ways: Through<'a> = vec![(Vec::new(), Leave::Next)];
    for statement in statements {
        ways = behind(ways, &of_one(meaning, &statement.kind, scope));
    }
    ways
}

/// Every way that is not left yet goes on by each of some others.
fn behind<'a>(ways: Through<'a>, more: &Through<'a>) -> Through<'a> {
    let mut all = Vec::new();
    for (pieces, leave) in ways {
        match leave {
            Leave::Next => {
                all.extend(more.iter().map(|(rest, leave)| ([pieces.clone(), rest.clone()].concat(), *leave)));
            }
            _ => all.push((pieces, leave)),
        }
    }
    all
}

fn of_one<'a>(meaning: &Meaning<'a>, statement: &'a ActionKind, scope: &Scope<'a>) -> Through<'a> {
    let alone = |piece| vec![(vec![(piece, scope.clone())], Leave::Next)];
    match statement {
        ActionKind::Await(condition) => alone(Piece::Only(true, condition)),
        ActionKind::If(branches, otherwise) => {
            let mut all = Vec::new();
            for (position, tests) in tests(branches, scope).into_iter().enumerate() {
                let branch = branches.get(position).map(|(_, branch)| branch).or(otherwise.as_ref());
                let inside = branch.map_or(vec![(Vec::new(), Leave::Next)], |branch| through(meaning, branch, scope));
                all.extend(behind(vec![(tests, Leave::Next)], &inside));
            }
            all
        }
        ActionKind::Either(branches) => branches.iter().flat_map(|branch| through(meaning, branch, scope)).collect(),
        ActionKind::Atomic(body) => through(meaning, body, scope),
        ActionKind::For(name, lo, hi, body) => {
            let (lo, hi) = rounds(meaning, lo, hi, scope);
            (lo..=hi).fold(vec![(Vec::new(), Leave::Next)], |ways, value| {
                behind(ways, &through(meaning, body, &enter_round(&name.text, value, scope)))
            })
        }
        ActionKind::Call(name, args) => {
            let (body, inner) = enter_call(meaning, &name.text, args, scope);
            let back = |leave| if matches!(leave, Leave::Return) { Leave::Next } else { leave };
            through(meaning, body, &inner).into_iter().map(|(pieces, leave)| (pieces, back(leave))).collect()
        }
        ActionKind::Break => vec![(Vec::new(), Leave::Break)],
        ActionKind::Return => vec![(Vec::new(), Leave::Return)],
        ActionKind::Goto(name) => vec![(Vec::new(), Leave::Goto(&name.text))],
        ActionKind::While(..) => unreachable!("no loop is inside a step"),
        other => alone(Piece::Do(other)),
    }
}

/// What the tests of an `if` say for each of its branches, the last one included.
fn tests<'a>(branches: &'a [(Expr, Vec<Action>)], scope: &Scope<'a>) -> Vec<Vec<(Piece<'a>, Scope<'a>)>> {
    let test = |answer: bool, position: usize| (Piece::Only(answer, &branches[position].0), scope.clone());
    let mut all = Vec::new();
    for taken in 0..=branches.len() {
        let refused = (0..taken).map(|position| test(false, position));
        all.push(refused.chain((taken < branches.len()).then(|| test(true, taken))).collect());
    }
    all
}

/// The first rendezvous that a step comes to.
fn meets<'a>(meaning: &Meaning<'a>, pieces: &[(Piece<'a>, Scope<'a>)]) -> Option<(bool, &'a str)> {
    pieces.iter().find_map(|(piece, scope)| match piece {
        Piece::Do(ActionKind::Send(channel, _)) => Some((true, rendezvous(meaning, channel, scope)?)),
        Piece::Do(ActionKind::Receive(channel, ..)) => Some((false, rendezvous(meaning, channel, scope)?)),
        _ => None,
    })
}

/// The name of a channel, if it is a rendezvous.
pub(crate) fn rendezvous<'e>(meaning: &Meaning<'_>, channel: &'e Expr, scope: &Scope<'e>) -> Option<&'e str> {
    let name = match &channel.kind {
        ExprKind::Index(base, _) => return rendezvous(meaning, base, scope),
        ExprKind::Name(name) => name,
        _ => return None,
    };
    let mut around = scope;
    while let Some(frame) = around.as_deref() {
        match frame {
            Frame::Round(_, _, outer) => around = outer,
            Frame::Call(procedure, args, outer) => {
                match procedure.params.iter().position(|param| param.name.text == *name) {
                    Some(position) => return rendezvous(meaning, &args[position], outer),
                    None => break,
                }
            }
        }
    }
    let mut shape = &meaning.globals.get(name.as_str())?.shape;
    while let Shape::Array(_, element) = shape {
        shape = element;
    }
    matches!(shape, Shape::Channel(channel) if channel.capacity == 0).then_some(name.as_str())
}

/// Reads the places of statements: of a body, and of what is done on a restart. A point there begins with a negative
/// number, so that the body comes behind it. Where the thread is made of locations, they are points, too.
struct Reader<'m, 'a> {
    meaning: &'m Meaning<'a>,
    restart: &'a [Action],
    body: &'a [Action],
    labels: Vec<(&'a birk_lang::ast::Label, Point)>,
    locations: Vec<&'a str>,
    /// The ways that leave them.
    of_locations: Vec<Vec<Way<'a>>>,
    points: Vec<Point>,
}

impl<'m, 'a> Reader<'m, 'a> {
    fn new(meaning: &'m Meaning<'a>, thread: &'a Thread) -> Self {
        let restart = thread.crashes.as_ref().and_then(|crashes| crashes.restart.as_deref()).unwrap_or_default();
        let locations: Vec<&str> = thread.locations.iter().map(|location| location.name.text.as_str()).collect();
        let points = (0..locations.len() as i64).map(|location| vec![location]).collect();
        let mut reader = Reader {
            meaning,
            restart,
            body: &thread.body,
            labels: Vec::new(),
            locations,
            of_locations: Vec::new(),
            points,
        };
        reader.find_labels(&thread.body, 0, &Vec::new());
        reader.find_labels(restart, -(restart.len() as i64), &Vec::new());
        reader
    }

    /// A statement that is inside no other.
    fn outermost(&self, number: i64) -> Option<&'a Action> {
        match number {
            0.. => self.body.get(number as usize),
            _ => self.restart.get((self.restart.len() as i64 + number) as usize),
        }
    }

    fn find_labels(&mut self, block: &'a [Action], first: i64, around: &Point) {
        for (position, statement) in (first..).zip(block) {
            let here = [&around[..], &[position]].concat();
            self.labels.extend(statement.labels.iter().map(|label| (label, here.clone())));
            let blocks: Vec<&'a [Action]> = match &statement.kind {
                ActionKind::If(branches, otherwise) => {
                    let first = branches.iter().map(|(_, branch)| &branch[..]);
                    first.chain(otherwise.as_deref()).collect()
                }
                ActionKind::While(_, body) => vec![body],
                ActionKind::Either(branches) => branches.iter().map(|branch| &branch[..]).collect(),
                _ => Vec::new(),
            };
            for (part, block) in (0..).zip(blocks) {
                self.find_labels(block, 0, &[&here[..], &[part]].concat());
            }
        }
    }

    /// The places of all labels, and all that can be reached.
    fn read(&mut self, code: &mut Code<'a>) {
        for (label, point) in self.labels.clone() {
            let place = self.settle(point);
            let place = self.number(place);
            code.labels.insert(&label.name.text, place);
        }
        self.go_on(code);
        for (label, _) in &self.labels {
            if let Some(place) = code.labels[label.name.text.as_str()] {
                mark(&mut code.places[place], &label.marks);
            }
        }
    }

    /// What leaves the places that were found, until none is new.
    fn go_on(&mut self, code: &mut Code<'a>) {
        while let Some(point) = self.points.get(code.places.len()).cloned() {
            let mut place = Place::default();
            self.leaving(&point, &mut Vec::new(), &mut place.ways);
            code.places.push(place);
        }
    }

    /// The place of a thread that has crashed comes last: every other has ways to it, and from it the restart begins.
    fn crashes(&mut self, crashes: &'a Crashes, code: &mut Code<'a>) {
        let mut crashed = Place::default();
        match self.settle(vec![-(self.restart.len() as i64)]) {
            Some(first) if !self.restart.is_empty() => match self.location_at(&first) {
                Some(location) => crashed.ways = code.places[location].ways.clone(),
                None => self.leaving(&first, &mut Vec::new(), &mut crashed.ways),
            },
            first => {
                let exit = self.number(first);
                crashed.ways.push(Way { pieces: Vec::new(), exit, fair: None, meets: None, crash: false });
            }
        }
        self.go_on(code);
        let number = code.places.len();
        let actions = crashes.crash.as_deref().unwrap_or_default();
        for (mut pieces, _) in through(self.meaning, actions, &None) {
            pieces.splice(0..0, crashes.condition.iter().map(|condition| (Piece::Only(true, condition), None)));
            let meets = meets(self.meaning, &pieces);
            pieces.push((Piece::Lose, None));
            let way = Way { pieces, exit: Some(number), fair: None, meets, crash: true };
            code.places.iter_mut().for_each(|place| place.ways.push(way.clone()));
        }
        code.labels.insert("crashed", Some(number));
        code.places.push(crashed);
    }

    /// The location that a point is.
    fn location_at(&self, point: &[i64]) -> Option<usize> {
        let location = usize::try_from(*point.first()?).ok()?;
        (point.len() == 1 && location < self.locations.len()).then_some(location)
    }

    fn number(&mut self, point: Option<Point>) -> Option<usize> {
        let point = point?;
        let known = self.points.iter().position(|own| *own == point);
        Some(known.unwrap_or_else(|| {
            self.points.push(point);
            self.points.len() - 1
        }))
    }

    /// The statements around a point, and what is around those.
    fn around(&self, point: &[i64]) -> (&'a [Action], Scope<'a>) {
        let mut block = self.body;
        let mut scope = None;
        for (depth, step) in point.chunks_exact(2).enumerate() {
            let part = step[1];
            let around = if depth == 0 { self.outermost(step[0]) } else { block.get(step[0] as usize) };
            (block, scope) = match &around.expect("a point is in statements").kind {
                ActionKind::If(branches, otherwise) => match branches.get(part as usize) {
                    Some((_, branch)) => (&branch[..], scope),
                    None => (otherwise.as_deref().unwrap_or_default(), scope),
                },
                ActionKind::While(_, body) => (&body[..], scope),
                ActionKind::Either(branches) => (&branches[part as usize][..], scope),
                ActionKind::For(name, _, _, body) => (&body[..], enter_round(&name.text, part, &scope)),
                ActionKind::Call(name, args) => enter_call(self.meaning, &name.text, args, &scope),
                _ => unreachable!("nothing else has parts"),
            };
        }
        (block, scope)
    }

    /// The statement at a point; `None` behind the last of its block.
    fn statement(&self, point: &[i64]) -> Option<&'a Action> {
        match point {
            [number] => self.outermost(*number),
            [around @ .., number] => self.around(around).0.get(*number as usize),
            [] => unreachable!("a point is not empty"),
        }
    }

    /// Where a thread is that comes to a point: `None` if it has ended.
    fn settle(&self, mut point: Point) -> Option<Point> {
        for _ in 0..10_000 {
            if self.location_at(&point).is_some() {
                return Some(point);
            }
            let last = point.len() - 1;
            let Some(statement) = self.statement(&point) else {
                // Behind a block: back to what it is a part of.
                point.pop();
                let part = point.pop()?;
                let outer = self.statement(&point).expect("a block is in a statement");
                match &outer.kind {
                    ActionKind::While(..) => {}
                    ActionKind::For(..) if part < self.rounds_at(&point).1 => point.extend([part + 1, 0]),
                    _ => *point.last_mut()? += 1,
                }
                continue;
            };
            match &statement.kind {
                ActionKind::While(condition, _) if matches!(condition.kind, ExprKind::Bool(true)) => {
                    point.extend([0, 0]);
                }
                ActionKind::Call(..) => point.extend([0, 0]),
                ActionKind::For(..) => match self.rounds_at(&point) {
                    (lo, hi) if lo <= hi => point.extend([lo, 0]),
                    _ => point[last] += 1,
                },
                ActionKind::Break => return self.leave(&point, Leave::Break),
                ActionKind::Return => return self.leave(&point, Leave::Return),
                ActionKind::Goto(name) => return self.leave(&point, Leave::Goto(&name.text)),
                _ => return Some(point),
            }
        }
        unreachable!("a loop without a step is an error")
    }

    fn rounds_at(&self, point: &[i64]) -> (i64, i64) {
        let scope = self.around(&point[..point.len() - 1]).1;
        match self.statement(point).map(|statement| &statement.kind) {
            Some(ActionKind::For(_, lo, hi, _)) => rounds(self.meaning, lo, hi, &scope),
            _ => unreachable!("asked of `for` only"),
        }
    }

    /// Where a thread is that leaves the statement at a point.
    fn leave(&self, point: &[i64], leave: Leave<'a>) -> Option<Point> {
        let mut point = point.to_vec();
        match leave {
            Leave::Next => {}
            Leave::Goto(name) => {
                if let Some(location) = self.locations.iter().position(|own| *own == name) {
                    return Some(vec![location as i64]);
                }
                let (_, target) = self.labels.iter().find(|(label, _)| label.name.text == name)?;
                return self.settle(target.clone());
            }
            Leave::Break => loop {
                point.truncate(point.len().checked_sub(2).expect("`break` is in a loop"));
                if matches!(self.statement(&point).map(|s| &s.kind), Some(ActionKind::While(..))) {
                    break;
                }
            },
            Leave::Return => loop {
                point.truncate(point.len().checked_sub(2)?);
                if matches!(self.statement(&point)?.kind, ActionKind::Call(..)) {
                    break;
                }
            },
        }
        *point.last_mut()? += 1;
        self.settle(point)
    }

    /// The ways that leave a place. Each branch of an `either` offers the ways of its own first place, every place once.
    fn leaving(&mut self, point: &Point, seen: &mut Vec<Option<Point>>, ways: &mut Vec<Way<'a>>) {
        let statement = self.statement(point).expect("a place is before a statement");
        let scope = self.around(&point[..point.len() - 1]).1;
        let enter = |part: i64| [&point[..], &[part, 0]].concat();
        let mut found = Vec::new();
        match &statement.kind {
            ActionKind::Either(branches) => {
                for part in 0..branches.len() as i64 {
                    let first = self.settle(enter(part));
                    if seen.contains(&first) {
                        continue;
                    }
                    seen.push(first.clone());
                    match first {
                        Some(first) => match self.location_at(&first) {
                            Some(location) => ways.extend(self.of_locations[location].iter().cloned()),
                            None => self.leaving(&first, seen, ways),
                        },
                        None => {
                            ways.push(Way { pieces: Vec::new(), exit: None, fair: None, meets: None, crash: false });
                        }
                    }
                }
                return;
            }
            ActionKind::If(branches, _) => {
                for (part, tests) in (0..).zip(tests(branches, &scope)) {
                    found.push((tests, self.settle(enter(part))));
                }
            }
            ActionKind::While(condition, _) => {
                let test = |answer| vec![(Piece::Only(answer, condition), scope.clone())];
                found.push((test(true), self.settle(enter(0))));
                found.push((test(false), self.leave(point, Leave::Next)));
            }
            simple => {
                for (pieces, leave) in of_one(self.meaning, simple, &scope) {
                    found.push((pieces, self.leave(point, leave)));
                }
            }
        }
        for (pieces, exit) in found {
            let exit = self.number(exit);
            let meets = meets(self.meaning, &pieces);
            let fair = statement.fair.then_some(statement.span);
            ways.push(Way { pieces, exit, fair, meets, crash: false });
        }
    }
}

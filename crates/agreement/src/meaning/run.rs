//! One step being taken: its pieces happen in order, each sees the effect of the earlier ones, and they may branch.

use birk_ir::FaultKind;
use birk_lang::ast::{ActionKind, Expr, Pattern};

use crate::meaning::code::{Piece, Scope, Way};
use crate::meaning::shape::{Channel, Shape, Value};
use crate::meaning::value::{Scene, Spot};
use crate::meaning::{Meaning, Outcome, State, Step};

/// What happens next in a step, and who does it.
enum Act<'a> {
    Piece(&'a Piece<'a>, &'a Scope<'a>),
    Jump(Option<usize>),
}

/// A step of one copy, or of two that meet.
pub(crate) struct Run<'m, 'a> {
    meaning: &'m Meaning<'a>,
    acts: Vec<((usize, i64), Act<'m>)>,
    /// Nothing else can move.
    timeout: bool,
}

/// Why a step does not go on.
enum Stop {
    /// It is not possible: it waits.
    Waits,
    Cut,
    Wrong(FaultKind),
    /// What follows was taken care of.
    Done,
}

impl From<FaultKind> for Stop {
    fn from(kind: FaultKind) -> Self {
        Stop::Wrong(kind)
    }
}

/// What is handed over at a rendezvous, and at which of several.
type Handed = Option<(i64, Vec<i64>)>;

impl<'m, 'a> Run<'m, 'a> {
    pub(crate) fn new(meaning: &'m Meaning<'a>, own: (usize, i64), way: &'m Way<'a>) -> Self {
        Run { meaning, acts: acts(own, way), timeout: false }
    }

    /// The receiver's whole step happens when the sender sends.
    pub(crate) fn together(
        meaning: &'m Meaning<'a>,
        own: (usize, i64),
        way: &'m Way<'a>,
        other: (usize, i64),
        theirs: &'m Way<'a>,
    ) -> Self {
        let mut all = acts(own, way);
        let is_send = |(_, act): &((usize, i64), Act<'m>)| {
            matches!(act, Act::Piece(Piece::Do(ActionKind::Send(channel, _)), scope)
                if crate::meaning::code::rendezvous(meaning, channel, scope).is_some())
        };
        let sends = all.iter().position(is_send).expect("a sender sends");
        all.splice(sends + 1..sends + 1, acts(other, theirs));
        Run { meaning, acts: all, timeout: false }
    }

    /// The same, where it is known whether anything else can move.
    pub(crate) fn late(self, timeout: bool) -> Self {
        Run { timeout, ..self }
    }

    pub(crate) fn outcomes(&self, state: &State) -> Vec<Outcome> {
        let mut outcomes = Vec::new();
        self.go_on(0, state.clone(), None, &mut outcomes);
        outcomes
    }

    fn go_on(&self, position: usize, mut state: State, mut handed: Handed, outcomes: &mut Vec<Outcome>) {
        for position in position..self.acts.len() {
            match self.act(position, &mut state, &mut handed, outcomes) {
                Ok(()) => {}
                Err(Stop::Waits | Stop::Done) => return,
                Err(Stop::Cut) => return outcomes.push(Outcome::Cut),
                Err(Stop::Wrong(kind)) => return outcomes.push(Outcome::Fault(kind)),
            }
        }
        outcomes.push(Outcome::State(state));
    }

    fn act(
        &self,
        position: usize,
        state: &mut State,
        handed: &mut Handed,
        outcomes: &mut Vec<Outcome>,
    ) -> Result<(), Stop> {
        let (own, act) = &self.acts[position];
        let before = state.clone();
        let (piece, scope) = match act {
            Act::Jump(target) => {
                self.jump(*own, *target, state);
                return Ok(());
            }
            Act::Piece(Piece::Lose, _) => {
                self.lose(*own, state);
                return Ok(());
            }
            Act::Piece(piece, scope) => (piece, scope),
        };
        let mut scene = Scene::new(self.meaning, &before, Some(*own)).inside(scope).late(self.timeout);
        let action = match piece {
            Piece::Only(true, condition) => return if scene.holds(condition)? { Ok(()) } else { Err(Stop::Waits) },
            // Where the test goes wrong, the branch that wants it says so.
            Piece::Only(false, condition) => {
                return if scene.holds(condition) == Ok(false) { Ok(()) } else { Err(Stop::Waits) };
            }
            Piece::Do(action) => action,
            Piece::Lose => unreachable!("done above"),
        };
        let choose = |spot: Spot<'_>, chosen: &mut dyn Iterator<Item = i64>, outcomes: &mut Vec<Outcome>| {
            for value in chosen {
                let mut branch = before.clone();
                match write(&mut branch, spot, Value::Number(value)) {
                    Ok(()) => self.go_on(position + 1, branch, handed.clone(), outcomes),
                    Err(fault) => outcomes.push(Outcome::Fault(fault)),
                }
            }
            Err(Stop::Done)
        };
        match action {
            ActionKind::Assign(place, value) => {
                let spot = scene.target(place)?;
                write(state, spot, scene.value(value)?)?;
            }
            ActionKind::Choose(place, lo, hi) => {
                let spot = scene.target(place)?;
                let (lo, hi) = (scene.number(lo)?, scene.number(hi)?);
                if lo > hi {
                    return Err(FaultKind::EmptyChoice.into());
                }
                return choose(spot, &mut (lo..=hi), outcomes);
            }
            ActionKind::ChooseMember(place, set) => {
                let spot = scene.target(place)?;
                if let Some(last) = self.meaning.symmetric(set) {
                    return choose(spot, &mut (0..=last), outcomes);
                }
                let (members, _) = scene.value(set)?.members();
                if members.is_empty() {
                    return Err(FaultKind::EmptyChoice.into());
                }
                return choose(spot, &mut members.into_iter(), outcomes);
            }
            ActionKind::Assert(condition, _) if !scene.holds(condition)? => return Err(FaultKind::Assertion.into()),
            ActionKind::Assume(condition) if !scene.holds(condition)? => return Err(Stop::Cut),
            ActionKind::Start(name, args) => self.start(&name.text, args, &mut scene, state)?,
            ActionKind::Assert(..) | ActionKind::Assume(_) | ActionKind::Skip => {}
            ActionKind::Send(channel, values) => send(channel, values, &mut scene, state, handed)?,
            ActionKind::Broadcast(channels, values, except) => {
                broadcast(channels, values, except.as_ref(), &mut scene, state)?;
            }
            ActionKind::Receive(channel, patterns, condition) => {
                let spot = receive(channel, patterns, condition.as_ref(), &mut scene, handed)?;
                self.bind(*own, scope, patterns, spot, state)?;
            }
            _ => unreachable!("not an action of one step"),
        }
        Ok(())
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
            values.push(param.shape.take(scene.value(arg)?)?);
        }
        let mut copies = 0..kind.copies as usize;
        let copy = copies.find(|copy| state[kind.counter + copy] == kind.idle()).ok_or(FaultKind::Start)?;
        for (param, value) in kind.params.iter().zip(values) {
            let spot = Spot::new(&param.shape, param.offset + copy * param.shape.len());
            write(state, spot, value)?;
        }
        state[kind.counter + copy] = 0;
        Ok(())
    }

    /// A thread that has ended looks as if it had never run.
    fn jump(&self, own: (usize, i64), target: Option<usize>, state: &mut State) {
        let kind = &self.meaning.kinds[own.0];
        let copy = own.1 as usize;
        state[kind.counter + copy] = target.map_or(kind.idle(), |target| target as i64);
        if target.is_none() {
            for local in kind.locals.values() {
                let start = local.offset + copy * local.shape.len();
                state[start..start + local.shape.len()].copy_from_slice(&local.initial);
            }
        }
    }

    /// A crash: all but the parameters and what is durable begins again.
    fn lose(&self, own: (usize, i64), state: &mut State) {
        let kind = &self.meaning.kinds[own.0];
        for declared in kind.tree.variables.iter().filter(|declared| !declared.durable) {
            for (name, _) in &declared.declarators {
                let local = &kind.locals[name.text.as_str()];
                let start = local.offset + own.1 as usize * local.shape.len();
                state[start..start + local.shape.len()].copy_from_slice(&local.initial);
            }
        }
    }

    /// Keeps what was received, from left to right; then the message is gone.
    fn bind(
        &self,
        own: (usize, i64),
        scope: &Scope<'a>,
        patterns: &[Pattern],
        received: Received<'_>,
        state: &mut State,
    ) -> Result<(), Stop> {
        for (pattern, value) in patterns.iter().zip(received.values) {
            if let Pattern::Bind(place) = pattern {
                let before = state.clone();
                let mut scene = Scene::new(self.meaning, &before, Some(own)).inside(scope);
                let spot = scene.target(place)?;
                write(state, spot, value)?;
            }
        }
        if let Some((spot, channel)) = received.from {
            lose(state, spot, channel, 0);
        }
        Ok(())
    }
}

fn acts<'m>(own: (usize, i64), way: &'m Way<'_>) -> Vec<((usize, i64), Act<'m>)> {
    let pieces = way.pieces.iter().map(|(piece, scope)| (own, Act::Piece(piece, scope)));
    pieces.chain([(own, Act::Jump(way.exit))]).collect()
}

fn write(state: &mut State, spot: Spot<'_>, value: Value) -> Result<(), FaultKind> {
    let numbers = spot.shape.written(spot.shape.take(value)?);
    state[spot.offset..spot.offset + numbers.len()].copy_from_slice(&numbers);
    if let Some((keys, own)) = spot.key {
        state[keys] |= own;
    }
    Ok(())
}

/// The types of what is written between the parentheses of `send` and `receive`.
fn parts(channel: &Channel, given: usize) -> Vec<&Shape> {
    match &channel.element {
        Shape::Record(fields) if given > 1 || fields.len() == 1 => fields.iter().map(|(_, field)| field).collect(),
        whole => vec![whole],
    }
}

fn send<'s>(
    channel: &'s Expr,
    values: &'s [Expr],
    scene: &mut Scene<'s>,
    state: &mut State,
    handed: &mut Handed,
) -> Result<(), Stop> {
    let (spot, channel) = scene.channel(channel)?;
    if channel.capacity == 0 {
        *handed = Some((spot.ordinal, message(channel, values, scene)?));
        return Ok(());
    }
    if is_full(state, spot, channel) {
        return Err(Stop::Waits);
    }
    put(state, spot, &message(channel, values, scene)?);
    Ok(())
}

/// The same message for every channel of an array, but the one that is left out. All of them have room, or it waits.
fn broadcast<'s>(
    channels: &'s Expr,
    values: &'s [Expr],
    except: Option<&'s Expr>,
    scene: &mut Scene<'s>,
    state: &mut State,
) -> Result<(), Stop> {
    let mut spots = each_channel(scene.variable(channels)?);
    let Shape::Channel(channel) = spots[0].shape else { unreachable!("the types are right") };
    if let Some(except) = except
        && let Ok(left_out) = usize::try_from(scene.number(except)?)
        && left_out < spots.len()
    {
        spots.remove(left_out);
    }
    if spots.iter().any(|spot| is_full(state, *spot, channel)) {
        return Err(Stop::Waits);
    }
    let numbers = message(channel, values, scene)?;
    spots.into_iter().for_each(|spot| put(state, spot, &numbers));
    Ok(())
}

/// The channels of an array.
fn each_channel(array: Spot<'_>) -> Vec<Spot<'_>> {
    let mut spots = vec![array];
    while let Shape::Array(length, element) = spots[0].shape {
        let part = |spot: &Spot<'_>, at: usize| spot.offset + at * element.len();
        let parts = spots.iter().flat_map(|spot| (0..*length as usize).map(move |at| part(spot, at)));
        spots = parts.map(|offset| Spot::new(element, offset)).collect();
    }
    spots
}

fn is_full(state: &State, spot: Spot<'_>, channel: &Channel) -> bool {
    state[spot.offset + spot.shape.len() - 1] == channel.capacity
}

/// The numbers of a message.
fn message<'s>(channel: &Channel, values: &'s [Expr], scene: &mut Scene<'s>) -> Result<Vec<i64>, FaultKind> {
    let mut numbers = Vec::new();
    for (shape, value) in parts(channel, values.len()).into_iter().zip(values) {
        numbers.extend(shape.written(shape.take(scene.value(value)?)?));
    }
    Ok(numbers)
}

/// Puts a message behind the others.
fn put(state: &mut State, spot: Spot<'_>, numbers: &[i64]) {
    let last = spot.offset + spot.shape.len() - 1;
    let slot = spot.offset + state[last] as usize * numbers.len();
    state[slot..slot + numbers.len()].copy_from_slice(numbers);
    state[last] += 1;
}

/// A message that fits: its values, and the channel that still holds it.
struct Received<'s> {
    values: Vec<Value>,
    from: Option<(Spot<'s>, &'s Channel)>,
}

fn receive<'s>(
    channel: &'s Expr,
    patterns: &'s [Pattern],
    condition: Option<&'s Expr>,
    scene: &mut Scene<'s>,
    handed: &mut Handed,
) -> Result<Received<'s>, Stop> {
    let (spot, channel) = scene.channel(channel)?;
    let singles = if channel.capacity == 0 {
        let (ordinal, numbers) = handed.take().ok_or(Stop::Waits)?;
        if ordinal != spot.ordinal {
            return Err(Stop::Waits);
        }
        numbers
    } else {
        match scene.oldest(spot, channel) {
            None => return Err(Stop::Waits),
            Some(numbers) => numbers.to_vec(),
        }
    };
    let mut values = Vec::new();
    let mut at = 0;
    for shape in parts(channel, patterns.len()) {
        values.push(shape.read(&singles[at..at + shape.len()]));
        at += shape.len();
    }
    for (pattern, value) in patterns.iter().zip(&values) {
        if let Pattern::Equal(expr) = pattern
            && !scene.equals(value, expr)?
        {
            return Err(Stop::Waits);
        }
    }
    if let Some(condition) = condition {
        let bound = scene.bound.len();
        for (pattern, value) in patterns.iter().zip(&values) {
            if let (Pattern::Bind(place), Value::Number(_) | Value::Set(..)) = (pattern, value)
                && let birk_lang::ast::ExprKind::Name(name) = &place.kind
            {
                scene.bound.push((name, value.clone()));
            }
        }
        let fits = scene.holds(condition);
        scene.bound.truncate(bound);
        if !fits? {
            return Err(Stop::Waits);
        }
    }
    Ok(Received { values, from: (channel.capacity > 0).then_some((spot, channel)) })
}

/// Takes the message at a place out of a channel.
fn lose(state: &mut State, spot: Spot<'_>, channel: &Channel, place: usize) {
    let (size, last) = (channel.element.len(), spot.offset + spot.shape.len() - 1);
    state[spot.offset + place * size..last].rotate_left(size);
    state[last - size..last].copy_from_slice(&channel.element.defaults());
    state[last] -= 1;
}

/// What the environment may do to messages on their way.
pub(crate) fn environment(meaning: &Meaning<'_>, state: &State) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut kind = meaning.kinds.len();
    for name in &meaning.channels {
        let variable = &meaning.globals[name];
        let spots = each_channel(Spot::new(&variable.shape, variable.offset));
        let Shape::Channel(channel) = spots[0].shape else { unreachable!("only channels are examined") };
        let marks = channel.marks;
        if !(marks.lossy || marks.duplicating || marks.reordering) {
            continue;
        }
        let mut add = |next: State| {
            let outcomes = vec![Outcome::State(next)];
            steps.push(Step { kind, copy: 0, location: 0, ordinal: 0, fair: None, crash: false, outcomes });
        };
        for spot in spots {
            let (size, last) = (channel.element.len(), spot.offset + spot.shape.len() - 1);
            let messages = state[last] as usize;
            for place in 0..messages {
                let here = spot.offset + place * size;
                if marks.lossy {
                    let mut next = state.clone();
                    lose(&mut next, spot, channel, place);
                    add(next);
                }
                if marks.duplicating && messages < channel.capacity as usize {
                    // The double is beside the message.
                    let mut next = state.clone();
                    next[here + size..last].rotate_right(size);
                    next.copy_within(here..here + size, here + size);
                    next[last] += 1;
                    add(next);
                }
                if marks.reordering && place + 1 < messages {
                    let mut next = state.clone();
                    next[here..here + 2 * size].rotate_left(size);
                    add(next);
                }
            }
        }
        kind += 1;
    }
    steps
}

//! The threads' automata: for each declaration of a thread its locations, and its transitions with guards and actions as they are
//! written. Where a guard is not written as such, as in an `else`, it is the one that Birk derived.

use birk_ir::{Expr, LocationId, Op, Program, Receiver, Span, ThreadId, ThreadRole, Transition, TransitionId, VarRole};
use birk_lang::lexer::{TokenKind, tokenize};

use crate::picture::{Arrow, Card, Line, Picture};
use crate::source::Source;

/// A line of a label has at most so many characters, and a label so many lines.
const MAX_LINE: usize = 40;
const MAX_LINES: usize = 8;
/// The numbers of the instances at a location have so many characters; if there are more, they are counted.
const MAX_INDICES: usize = 16;

/// The automaton of a thread, and of all its instances.
#[derive(Debug)]
pub(crate) struct Automaton {
    /// The thread as it is declared.
    pub(crate) name: String,
    /// Which of `Program::kinds` it is.
    pub(crate) kind: usize,
    pub(crate) instances: Vec<ThreadId>,
    /// By their number in the program; where a thread can terminate, one more for that.
    pub(crate) locations: Vec<Place>,
    pub(crate) initial: usize,
    pub(crate) edges: Vec<Edge>,
}

/// A location.
#[derive(Debug)]
pub(crate) struct Place {
    pub(crate) name: String,
    /// `end`, `accept`, `progress`
    pub(crate) labels: Vec<&'static str>,
}

/// A guarded command.
#[derive(Debug)]
pub(crate) struct Edge {
    pub(crate) from: usize,
    pub(crate) to: usize,
    pub(crate) guard: Option<String>,
    pub(crate) actions: Vec<String>,
    /// Where it is written.
    pub(crate) span: Span,
    /// Its transitions, of each instance at least one; where it receives at a rendezvous, those of the senders.
    pub(crate) transitions: Vec<TransitionId>,
}

/// What is known of a search or a state: how often each transition was taken, where each thread is, and what it can do there.
#[derive(Clone, Copy)]
pub(crate) struct Now<'a> {
    pub(crate) taken: &'a dyn Fn(TransitionId) -> u64,
    /// Whether `taken` says how often; otherwise it only says whether at all.
    pub(crate) is_counted: bool,
    /// Where each thread is, if a state is shown.
    pub(crate) at: Option<&'a dyn Fn(ThreadId) -> Option<LocationId>>,
    pub(crate) is_enabled: &'a dyn Fn(TransitionId) -> bool,
}

/// The automata of all threads that are declared as such.
pub(crate) fn automata(source: &Source, program: &Program) -> Vec<Automaton> {
    let is_declared = |kind: &usize| program.kinds[*kind].role == ThreadRole::Thread;
    (0..program.kinds.len()).filter(is_declared).map(|kind| automaton(source, program, kind)).collect()
}

fn automaton(source: &Source, program: &Program, kind: usize) -> Automaton {
    let declared = &program.kinds[kind];
    let ids = (0..program.threads.len()).map(ThreadId::new);
    let instances: Vec<ThreadId> = ids.filter(|id| program.thread(*id).kind == kind).collect();
    let mut locations: Vec<Place> = declared
        .locations
        .iter()
        .map(|location| {
            let labels = [(location.end, "end"), (location.accept, "accept"), (location.progress, "progress")];
            let labels = labels.into_iter().filter(|(is_so, _)| *is_so).map(|(_, label)| label).collect();
            Place { name: location.name.clone(), labels }
        })
        .collect();
    let initial = program.variable(declared.counter).initial.iter().map(|&value| value as usize);
    let initial = initial.filter(|&value| value < locations.len()).min().unwrap_or(0);
    let ended = locations.len();
    let mut edges: Vec<Edge> = Vec::new();
    for &id in &instances {
        for &(start, end) in &program.thread(id).at {
            for transition in (start..end).map(TransitionId) {
                add(source, program, (transition, None), ended, &mut edges);
            }
        }
    }
    for transition in (0..program.transitions.len()).map(TransitionId::new) {
        let receiver = program.transition(transition).receiver.as_ref();
        if let Some(receiver) = receiver.filter(|receiver| program.thread(receiver.thread).kind == kind) {
            add(source, program, (transition, Some(receiver)), ended, &mut edges);
        }
    }
    edges.sort_by_key(|edge| (edge.from, edge.span.start));
    if edges.iter().any(|edge| edge.to == ended) {
        locations.push(Place { name: birk_ir::text::TERMINATED.to_owned(), labels: Vec::new() });
    }
    Automaton { name: declared.name.clone(), kind, instances, locations, initial, edges }
}

/// A transition, or what the thread does that receives at a rendezvous.
type Side<'p> = (TransitionId, Option<&'p Receiver>);

/// Adds a transition: the same command of another instance, or with another partner at a rendezvous, is the same edge.
fn add(source: &Source, program: &Program, side: Side<'_>, ended: usize, edges: &mut Vec<Edge>) {
    let transition = program.transition(side.0);
    let (from, to, span) = match side.1 {
        Some(receiver) => (receiver.location, receiver.target, receiver.span),
        None => (transition.location, transition.target, transition.span),
    };
    let (from, to) = (from.index(), to.map_or(ended, LocationId::index));
    let (guard, actions) = written(source, program, side);
    let same = |edge: &&mut Edge| {
        (edge.from, edge.to, edge.span) == (from, to, span) && (&edge.guard, &edge.actions) == (&guard, &actions)
    };
    match edges.iter_mut().find(same) {
        Some(edge) => edge.transitions.push(side.0),
        None => edges.push(Edge { from, to, guard, actions, span, transitions: vec![side.0] }),
    }
}

/// Guard and actions of a transition.
fn written(source: &Source, program: &Program, (id, receiver): Side<'_>) -> (Option<String>, Vec<String>) {
    let transition = program.transition(id);
    if !source.is_bir() {
        return receiver.map_or_else(|| spanned(source, transition), |receiver| received(source, receiver));
    }
    let (span, guard_span) = match receiver {
        Some(receiver) => (receiver.span, receiver.guard_span),
        None => (transition.span, transition.guard_span),
    };
    let mut words = words(source, span);
    if words.first().is_some_and(|word| word.text == "fair") {
        words.remove(0);
    }
    let derived = || (transition.guard != Expr::TRUE).then(|| program.expr_text(&transition.guard));
    let of_span = |span: Span| joined(&self::words(source, span));
    match words.first().map(|word| (word.kind, word.text)) {
        Some((TokenKind::When | TokenKind::Do | TokenKind::Goto | TokenKind::Return, first)) => {
            let guard = guard_span.filter(|_| first == "when").map(of_span);
            (guard, statements(inner(&words)))
        }
        _ if guard_span == Some(span) => (Some(joined(&words)), Vec::new()),
        // The other side of a condition.
        _ if receiver.is_none() && !does_something(program, id) => (derived(), Vec::new()),
        Some((_, "atomic")) => (None, statements(inner(&words))),
        _ => (None, statements(&words)),
    }
}

/// Guard and actions of a transition in another language, as its front end has marked them. Without marks, everything is one
/// action.
fn spanned(source: &Source, transition: &Transition) -> (Option<String>, Vec<String>) {
    let guard = transition.guard_span.map(|span| source.slice(span));
    let is_received = |part: Span| transition.receiver.as_ref().is_some_and(|other| other.span.to(part) == other.span);
    // What the receiver does comes last.
    let own = transition.parts.iter().take_while(|part| !is_received(**part));
    let actions: Vec<String> = own.map(|part| source.slice(*part)).collect();
    let is_plain = guard.is_none() && transition.parts.is_empty();
    (guard, if is_plain { vec![source.slice(transition.span)] } else { actions })
}

/// The same of the other side of a rendezvous: a statement, or the guard and what else stands between its braces.
fn received(source: &Source, receiver: &Receiver) -> (Option<String>, Vec<String>) {
    let text = source.slice(receiver.span);
    let Some((_, inner)) = text.split_once('{') else { return (None, vec![text]) };
    let actions = inner.trim_end_matches('}').split(';').map(|part| part.trim().to_owned());
    let is_action = |part: &String| !part.is_empty() && !part.starts_with("guard");
    (receiver.guard_span.map(|span| source.slice(span)), actions.filter(is_action).collect())
}

/// Whether it does more than to go on.
fn does_something(program: &Program, id: TransitionId) -> bool {
    let is_counter = |op: &Op| match op {
        Op::Assign(place, _) => matches!(program.variable(place.variable).role, VarRole::Counter(_)),
        _ => false,
    };
    !program.transition(id).ops.iter().all(is_counter)
}

/// A token, and whether a blank comes before it.
struct Word<'s> {
    kind: TokenKind,
    text: &'s str,
    is_apart: bool,
}

/// What is written at a place, without comments.
fn words(source: &Source, span: Span) -> Vec<Word<'_>> {
    let text = source.file(span).text.get(span.range()).unwrap_or_default();
    let mut is_apart = false;
    let mut words = Vec::new();
    for token in tokenize(text).0 {
        if token.kind.is_trivia() {
            is_apart = true;
            continue;
        }
        words.push(Word { kind: token.kind, text: &text[token.span.range()], is_apart });
        is_apart = false;
    }
    words
}

fn joined(words: &[Word<'_>]) -> String {
    let mut text = String::new();
    for word in words {
        if word.is_apart && !text.is_empty() {
            text.push(' ');
        }
        text.push_str(word.text);
    }
    text
}

/// What is between the first brace and its partner.
fn inner<'w, 's>(words: &'w [Word<'s>]) -> &'w [Word<'s>] {
    let Some(start) = words.iter().position(|word| word.kind == TokenKind::OpenBrace) else { return &[] };
    let mut depth = 0;
    for (index, word) in words.iter().enumerate().skip(start) {
        match word.kind {
            TokenKind::OpenBrace => depth += 1,
            TokenKind::CloseBrace => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return &words[start + 1..index];
        }
    }
    &words[start + 1..]
}

/// Statements, one each; what stands in braces stays together.
fn statements(words: &[Word<'_>]) -> Vec<String> {
    let mut depth = 0;
    let mut found = Vec::new();
    let mut start = 0;
    for (index, word) in words.iter().enumerate() {
        match word.kind {
            TokenKind::OpenBrace => depth += 1,
            TokenKind::CloseBrace => depth -= 1,
            TokenKind::Semicolon if depth == 0 => {
                found.push(joined(&words[start..index]));
                start = index + 1;
            }
            _ => {}
        }
    }
    found.push(joined(&words[start..]));
    found.retain(|statement| !statement.is_empty() && statement != "skip");
    found
}

impl Edge {
    fn lines(&self) -> Vec<Line> {
        let guard = self.guard.iter().flat_map(|guard| wrapped(&format!("[{guard}]"), "strong"));
        let mut lines: Vec<Line> = guard.chain(self.actions.iter().flat_map(|action| wrapped(action, ""))).collect();
        if lines.len() > MAX_LINES {
            lines.truncate(MAX_LINES - 1);
            lines.push(Line::new("…", ""));
        }
        lines
    }

    fn arrow(&self, now: Option<&Now<'_>>) -> Arrow {
        let mut lines = self.lines();
        let taken = now.map(|now| self.transitions.iter().map(|&id| (now.taken)(id)).sum::<u64>());
        match taken {
            Some(0) => lines.push(Line::new("never taken", "soft")),
            Some(times) if now.is_some_and(|now| now.is_counted) => {
                lines.push(Line::new(format!("taken ×{times}"), "soft"));
            }
            _ => {}
        }
        let is_enabled = now.is_some_and(|now| self.transitions.iter().any(|&id| (now.is_enabled)(id)));
        let looks = [(taken == Some(0), "never"), (is_enabled, "lit")];
        let whole = self.guard.iter().map(|guard| format!("[{guard}]")).chain(self.actions.iter().cloned());
        let ids: Vec<String> = self.transitions.iter().map(|id| id.index().to_string()).collect();
        let data = now.map(|_| format!(" data-transitions=\"{}\"", ids.join(" ")));
        Arrow {
            data: data.unwrap_or_default(),
            looks: looks.into_iter().filter(|(is_so, _)| *is_so).map(|(_, look)| look).collect(),
            lines,
            hint: whole.collect::<Vec<_>>().join("\n"),
            ..Arrow::default()
        }
    }
}

/// A text in lines, broken at blanks.
fn wrapped(text: &str, look: &'static str) -> Vec<Line> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= MAX_LINE => {
                line.push(' ');
                line.push_str(word);
            }
            Some(_) => lines.push(format!("  {word}")),
            None => lines.push(word.to_owned()),
        }
    }
    lines.into_iter().map(|line| Line::new(line, look).cut(MAX_LINE)).collect()
}

impl Automaton {
    /// The automaton as a picture, the initial location at the top. Where more is known, locations with a thread and transitions
    /// that are enabled are lit, it says how often transitions were taken, and those that never were are dotted.
    pub(crate) fn picture(&self, program: &Program, now: Option<&Now<'_>>) -> Picture {
        // The first box is at the top.
        let mut order: Vec<usize> = (0..self.locations.len()).collect();
        order[..=self.initial].rotate_right(1);
        let position = |location: usize| order.iter().position(|&other| other == location).unwrap_or(0);
        let arrow = |edge: &Edge| Arrow { from: position(edge.from), to: position(edge.to), ..edge.arrow(now) };
        Picture {
            caption: self.caption(program),
            boxes: order.iter().map(|&location| self.card(program, location, now)).collect(),
            edges: self.edges.iter().map(arrow).collect(),
        }
    }

    fn card(&self, program: &Program, location: usize, now: Option<&Now<'_>>) -> Card {
        let Place { name, labels } = &self.locations[location];
        let mut lines = vec![Line::new(name.as_str(), "strong").cut(MAX_LINE)];
        lines.extend(labels.iter().map(|label| Line::new(*label, "soft")));
        let at = now.and_then(|now| now.at);
        let is_here = |id: &ThreadId| at.and_then(|at| at(*id)).is_some_and(|at| at.index() == location);
        let here: Vec<ThreadId> = self.instances.iter().copied().filter(is_here).collect();
        if at.is_some() && program.kinds[self.kind].indexed {
            lines.push(Line::new(self.indices(program, &here), "here"));
        }
        let looks = [(location == self.initial, "first"), (!here.is_empty(), "lit")];
        Card {
            looks: looks.into_iter().filter(|(is_so, _)| *is_so).map(|(_, look)| look).collect(),
            lines,
            hint: String::new(),
            data: format!(" data-location=\"{}\"", crate::escape::escape(name)),
        }
    }

    /// The instances at a location. There is always room for them, so that nothing moves when they do.
    fn indices(&self, program: &Program, here: &[ThreadId]) -> String {
        let text = |ids: &[ThreadId]| {
            let indices: Vec<String> = ids.iter().map(|&id| format!("[{}]", program.thread(id).copy)).collect();
            indices.join(" ")
        };
        let room = text(&self.instances).len().min(MAX_INDICES);
        let told = text(here);
        let told = if told.len() > room { crate::numbers::count(here.len() as u64, "instance") } else { told };
        format!("{told:room$}")
    }

    /// `Philosopher (3 instances)`
    fn caption(&self, program: &Program) -> String {
        match self.instances.len() {
            1 if !program.kinds[self.kind].indexed => self.name.clone(),
            instances => format!("{} ({})", self.name, crate::numbers::count(instances as u64, "instance")),
        }
    }
}

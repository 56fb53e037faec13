//! A run as a sequence chart: a lane for each thread, a row for each step, an arrow for each message.
//!
//! Messages are not part of a step; they are found again by watching the channels. A channel is the variable
//! `len(c)` beside its contents: where it grows something was sent, where it shrinks something was taken, and the
//! place that is missing afterwards says which. At a rendezvous one step moves two threads.

use std::collections::{BTreeMap, VecDeque};

use birk_exec::Replayed;
use birk_ir::{Program, ThreadId, VarId};

use crate::source::Source;

/// A run, ready to be drawn.
#[derive(Debug)]
pub(crate) struct Chart {
    /// Names of the threads that take part.
    pub(crate) lanes: Vec<String>,
    pub(crate) rows: Vec<Row>,
    pub(crate) messages: Vec<Message>,
    /// The row from which the rest repeats forever.
    pub(crate) loop_start: Option<usize>,
}

/// One step.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) lane: usize,
    /// `loc0 → loc1`
    pub(crate) title: String,
    /// `fork1 = true`
    pub(crate) changes: Vec<String>,
}

/// A message from the row in which it was sent to the row in which it was taken; at a rendezvous these are one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Message {
    pub(crate) sent: usize,
    pub(crate) taken: usize,
    pub(crate) from: usize,
    pub(crate) to: usize,
    pub(crate) label: String,
}

/// A channel: the variable that counts its messages, one element of it, and what the messages consist of.
struct Channel {
    name: String,
    length: VarId,
    element: u32,
    capacity: u32,
    contents: Vec<VarId>,
    /// The messages in it: the row and lane they were sent from, and their text.
    waiting: VecDeque<(usize, usize, String)>,
}

/// The chart of a run.
pub(crate) fn chart(source: &Source, program: &Program, run: &Replayed) -> Chart {
    let lanes = Lanes::of(program, run);
    let mut channels = channels(program);
    for channel in &mut channels {
        let start = channel.texts(program, &run.states[0]);
        channel.waiting = start.into_iter().map(|text| (0, 0, text)).collect();
    }
    let mut chart =
        Chart { lanes: lanes.names(program), rows: Vec::new(), messages: Vec::new(), loop_start: run.loop_start };
    for (at, step) in run.steps.iter().enumerate() {
        let transition = program.transition(step.transition);
        let lane = lanes.of_thread(transition.thread);
        chart.rows.push(row(program, run, at, lane));
        for channel in &mut channels {
            channel.watch(program, &run.states[at + 1], at, lane, &mut chart.messages);
        }
        let text = source.slice(transition.span);
        for other in moved(program, run, at).filter(|other| *other != transition.thread) {
            let to = lanes.of_thread(other);
            let label = if text.contains("start ") { "start".to_owned() } else { sent_to(&text) };
            chart.messages.push(Message { sent: at, taken: at, from: lane, to, label });
        }
    }
    chart
}

/// Which threads have a lane: those that move.
struct Lanes(Vec<ThreadId>);

impl Lanes {
    fn of(program: &Program, run: &Replayed) -> Self {
        let mut threads: Vec<ThreadId> = Vec::new();
        for (at, step) in run.steps.iter().enumerate() {
            threads.push(program.transition(step.transition).thread);
            threads.extend(moved(program, run, at));
        }
        threads.sort_unstable();
        threads.dedup();
        Self(threads)
    }

    fn of_thread(&self, thread: ThreadId) -> usize {
        self.0.iter().position(|other| *other == thread).expect("every thread that moves has a lane")
    }

    fn names(&self, program: &Program) -> Vec<String> {
        self.0.iter().map(|&thread| program.thread(thread).name.clone()).collect()
    }
}

/// The threads whose location a step changes.
fn moved<'a>(program: &'a Program, run: &'a Replayed, at: usize) -> impl Iterator<Item = ThreadId> + 'a {
    let (before, after) = (&run.states[at], &run.states[at + 1]);
    (0..program.threads.len())
        .map(ThreadId::new)
        .filter(move |&thread| program.location_of(thread, before) != program.location_of(thread, after))
}

fn row(program: &Program, run: &Replayed, at: usize, lane: usize) -> Row {
    let thread = program.transition(run.steps[at].transition).thread;
    let name = |state: &[u32]| program.location_text(thread, program.location_of(thread, state)).to_owned();
    let after = &run.states[at + 1];
    let to = if program.is_faulty(after) { "fault".to_owned() } else { name(after) };
    let is_location = |variable: VarId| program.kinds.iter().any(|kind| kind.counter == variable);
    let changes = run.changes(program, at).into_iter().filter(|(variable, _)| !is_location(*variable));
    let text = |(variable, element): (VarId, u32)| {
        let value = program.layout.slot(variable).get(after, element);
        format!("{} = {}", program.element_name(variable, element), program.variable(variable).value_text(value))
    };
    Row { lane, title: format!("{} → {to}", name(&run.states[at])), changes: changes.map(text).collect() }
}

/// What a rendezvous sends on, read from the step's text.
fn sent_to(text: &str) -> String {
    let sent = text.split("send ").nth(1).and_then(|rest| rest.split(['(', ';']).next());
    sent.map_or_else(|| "moves".to_owned(), |channel| channel.trim().to_owned())
}

fn channels(program: &Program) -> Vec<Channel> {
    let mut found = Vec::new();
    for channel in &program.channels {
        let variable = program.variable(channel.length);
        for element in 0..variable.len() {
            let name = if variable.len() > 1 { format!("{}[{element}]", channel.name) } else { channel.name.clone() };
            let (length, capacity, contents) = (channel.length, variable.hi as u32, channel.contents.clone());
            found.push(Channel { name, length, element, capacity, contents, waiting: VecDeque::new() });
        }
    }
    found
}

impl Channel {
    /// The messages in it, in words, the oldest first.
    fn texts(&self, program: &Program, state: &[u32]) -> Vec<String> {
        let length = program.layout.slot(self.length).get(state, self.element) as u32;
        (0..length).map(|place| self.text(program, state, place)).collect()
    }

    fn text(&self, program: &Program, state: &[u32], place: u32) -> String {
        let number = program.variable(self.length).len();
        let mut parts = Vec::new();
        for &id in &self.contents {
            let variable = program.variable(id);
            let each = variable.len() / (number * self.capacity).max(1);
            let first = (self.element * self.capacity + place) * each;
            let slot = program.layout.slot(id);
            parts.extend((first..first + each).map(|e| variable.value_text(slot.get(state, e))));
        }
        format!("{}({})", self.name, parts.join(", "))
    }

    /// Compares the channel with what it was: finds what was sent and what was taken.
    fn watch(&mut self, program: &Program, state: &[u32], at: usize, lane: usize, messages: &mut Vec<Message>) {
        let now = self.texts(program, state);
        let before: Vec<String> = self.waiting.iter().map(|(.., text)| text.clone()).collect();
        if now == before {
            return;
        }
        let is_permuted = now.len() == before.len() && count(&now) == count(&before);
        if is_permuted {
            let mut old = std::mem::take(&mut self.waiting);
            for text in &now {
                let place = old.iter().position(|(.., other)| other == text).expect("the same texts, in another order");
                self.waiting.extend(old.remove(place));
            }
            return;
        }
        // What is no longer there was taken: the first place whose absence explains the rest.
        let kept = now.len().min(before.len());
        let taken = if now.len() < before.len() || now[..kept] != before[..kept] {
            let fits = |place: usize| {
                let rest: Vec<&String> =
                    before.iter().enumerate().filter(|(i, _)| *i != place).map(|(_, text)| text).collect();
                now.iter().zip(&rest).all(|(a, b)| a == *b)
            };
            (0..before.len()).find(|&place| fits(place))
        } else {
            None
        };
        if let Some((sent, from, label)) = taken.and_then(|place| self.waiting.remove(place)) {
            messages.push(Message { sent, taken: at, from, to: lane, label });
        }
        for text in now.into_iter().skip(self.waiting.len()) {
            self.waiting.push_back((at, lane, text));
        }
    }
}

fn count(texts: &[String]) -> BTreeMap<&str, usize> {
    texts.iter().fold(BTreeMap::new(), |mut counts, text| {
        *counts.entry(text.as_str()).or_default() += 1;
        counts
    })
}

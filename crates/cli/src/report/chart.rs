//! A run as a sequence chart: a lane for each thread, a row for each step, an arrow for each message.
//!
//! Messages are not part of a step; they are found again by watching the channels: where one grows something was sent,
//! where it shrinks something was taken, and the place that is missing afterwards says which. At a rendezvous one step
//! is one of two threads.

use std::collections::{BTreeMap, HashMap, VecDeque};

use birk_exec::Replayed;
use birk_ir::{Change, Program, ShownValue, ThreadId};

use crate::source::Source;

/// Statements have at most so many letters.
const STATEMENT: usize = 28;

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
    /// `loc0 → loc1`, or the statement in Promela.
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

/// A channel.
struct Channel {
    name: String,
    /// The messages in it: the row and lane they were sent from, and their text.
    waiting: VecDeque<(usize, usize, String)>,
}

/// The chart of a run.
pub(crate) fn chart(source: &Source, program: &Program, run: &Replayed) -> Chart {
    let lanes = Lanes::of(program, run);
    let view = program.view();
    let mut history = view.history();
    let mut before = history.show(&run.states[0]);
    let mut channels: HashMap<String, Channel> = HashMap::new();
    for (name, value) in before.leaves() {
        if let ShownValue::Queue(messages) = value {
            let mut channel = Channel { name: name.clone(), waiting: VecDeque::new() };
            channel.waiting = channel.texts(messages).into_iter().map(|text| (0, 0, text)).collect();
            channels.insert(name, channel);
        }
    }
    let mut chart =
        Chart { lanes: lanes.names(program), rows: Vec::new(), messages: Vec::new(), loop_start: run.loop_start };
    for (at, step) in run.steps.iter().enumerate() {
        let transition = program.transition(step.transition);
        let lane = lanes.of_thread(transition.thread);
        let after = history.show(&run.states[at + 1]);
        let changes = before.changes(&after);
        chart.rows.push(row(source, program, run, at, lane, &changes));
        for change in &changes {
            if let (ShownValue::Queue(messages), Some(channel)) = (change.after, channels.get_mut(&change.name)) {
                channel.watch(messages, at, lane, &mut chart.messages);
            }
        }
        before = after;
        let text = source.slice(transition.span);
        let mut parts = match &transition.parts[..] {
            [] if source.is_promela() => vec![transition.span],
            parts => parts.to_vec(),
        };
        for other in moved(program, run, at).filter(|other| *other != transition.thread) {
            let to = lanes.of_thread(other);
            // Each new process is started by the next `run` of its proctype.
            let is_new = program.location_of(other, &run.states[at]).is_none();
            let proctype = program.thread(other).name.split('[').next().unwrap_or_default();
            let starts =
                |part: &birk_ir::Span| source.slice(*part).replace(' ', "").contains(&format!("run{proctype}("));
            let part = match parts.iter().position(|part| is_new && starts(part)) {
                Some(place) => Some(parts.remove(place)),
                None => parts.first().copied(),
            };
            let label = match part.filter(|_| !source.is_bir()) {
                Some(part) => source.slice(part),
                None if text.contains("start ") => "start".to_owned(),
                None => sent_to(&text),
            };
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

/// The threads whose location a step changes, and the one that receives at a rendezvous, wherever it goes.
fn moved<'a>(program: &'a Program, run: &'a Replayed, at: usize) -> impl Iterator<Item = ThreadId> + 'a {
    let (before, after) = (&run.states[at], &run.states[at + 1]);
    let receiver = program.transition(run.steps[at].transition).receiver.as_ref().map(|receiver| receiver.thread);
    let has_moved = move |thread| program.location_of(thread, before) != program.location_of(thread, after);
    (0..program.threads.len()).map(ThreadId::new).filter(move |&thread| has_moved(thread) || receiver == Some(thread))
}

fn row(source: &Source, program: &Program, run: &Replayed, at: usize, lane: usize, changes: &[Change<'_, '_>]) -> Row {
    let transition = program.transition(run.steps[at].transition);
    let thread = transition.thread;
    let name = |state: &[u32]| program.location_text(thread, program.location_of(thread, state)).to_owned();
    let after = &run.states[at + 1];
    let to = if program.is_faulty(after) { "fault".to_owned() } else { name(after) };
    let is_place = |change: &Change<'_, '_>| matches!(change.after, ShownValue::Location(_));
    let others = changes.iter().filter(|change| !is_place(change) && source.has_variable(&change.name));
    let changes = others.map(|change| format!("{} = {}", change.name, change.after)).collect();
    let title = match source.is_promela() && !program.is_faulty(after) {
        true => source.statements(transition, STATEMENT),
        false => format!("{} → {to}", name(&run.states[at])),
    };
    Row { lane, title, changes }
}

/// What a rendezvous sends on, read from the step's text.
fn sent_to(text: &str) -> String {
    let sent = text.split("send ").nth(1).and_then(|rest| rest.split(['(', ';']).next());
    sent.map_or_else(|| "moves".to_owned(), |channel| channel.trim().to_owned())
}

impl Channel {
    /// The messages in it as they are drawn, the oldest first.
    fn texts(&self, messages: &[ShownValue<'_>]) -> Vec<String> {
        let text = |message: &ShownValue<'_>| match message {
            ShownValue::Record(_) => format!("{}{message}", self.name),
            _ => format!("{}({message})", self.name),
        };
        messages.iter().map(text).collect()
    }

    /// Compares the channel with what it was: finds what was sent and what was taken.
    fn watch(&mut self, now: &[ShownValue<'_>], at: usize, lane: usize, messages: &mut Vec<Message>) {
        let now = self.texts(now);
        let before: Vec<String> = self.waiting.iter().map(|(.., text)| text.clone()).collect();
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

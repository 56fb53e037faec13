//! A circuit of a test: what it does, decided by brute force, and the two forms of its file. Shares no code with the front end.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt::Write as _;

/// Variables are numbered in the order constant, inputs, latches, gates.
#[derive(Clone, Debug, Default)]
pub(crate) struct Circuit {
    pub(crate) inputs: u32,
    /// What a latch becomes, and what it begins with.
    pub(crate) latches: Vec<(u32, Option<bool>)>,
    pub(crate) outputs: Vec<u32>,
    pub(crate) bads: Vec<u32>,
    pub(crate) constraints: Vec<u32>,
    pub(crate) justice: Vec<Vec<u32>>,
    pub(crate) fairness: Vec<u32>,
    /// The larger input of each first.
    pub(crate) gates: Vec<(u32, u32)>,
    /// Lines behind the gates.
    pub(crate) names: String,
}

/// The states that a step leads to, with the inputs that do.
type Steps = BTreeMap<u32, Vec<(u32, Vec<bool>)>>;

impl Circuit {
    pub(crate) fn variables(&self) -> u32 {
        self.inputs + self.latches.len() as u32 + self.gates.len() as u32
    }

    /// The values of all variables.
    pub(crate) fn values(&self, state: u32, inputs: u32) -> Vec<bool> {
        let mut values = vec![false];
        values.extend((0..self.inputs).map(|input| inputs >> input & 1 == 1));
        values.extend((0..self.latches.len()).map(|latch| state >> latch & 1 == 1));
        for &(a, b) in &self.gates {
            let both = is_set(&values, a) && is_set(&values, b);
            values.push(both);
        }
        values
    }

    /// What latches become, given the values of all variables.
    pub(crate) fn next(&self, values: &[bool]) -> u32 {
        let latches = self.latches.iter().enumerate();
        latches.fold(0, |next, (at, (literal, _))| next | u32::from(is_set(values, *literal)) << at)
    }

    pub(crate) fn initial(&self) -> Vec<u32> {
        let mut states = vec![0];
        for (number, (_, reset)) in self.latches.iter().enumerate() {
            states = match reset {
                Some(value) => states.iter().map(|state| state | u32::from(*value) << number).collect(),
                None => states.iter().flat_map(|state| [*state, state | 1 << number]).collect(),
            };
        }
        states
    }

    /// All cycles from all states that can be reached, and the depth of each state.
    fn explore(&self) -> (Steps, BTreeMap<u32, usize>) {
        let mut depths: BTreeMap<u32, usize> = self.initial().into_iter().map(|state| (state, 0)).collect();
        let mut open: VecDeque<u32> = depths.keys().copied().collect();
        let mut steps = Steps::new();
        while let Some(state) = open.pop_front() {
            let depth = depths[&state];
            let here = steps.entry(state).or_default();
            for inputs in 0..1 << self.inputs {
                let values = self.values(state, inputs);
                if !self.constraints.iter().all(|&one| is_set(&values, one)) {
                    continue;
                }
                let next = self.next(&values);
                depths.entry(next).or_insert_with(|| {
                    open.push_back(next);
                    depth + 1
                });
                here.push((next, values));
            }
        }
        (steps, depths)
    }

    /// How many cycles it takes until each bad is true, that cycle included.
    pub(crate) fn distances(&self) -> Vec<Option<usize>> {
        let (steps, depths) = self.explore();
        let bads = if self.bads.is_empty() && self.justice.is_empty() { &self.outputs } else { &self.bads };
        let is_bad = |state: &u32, bad: u32| steps[state].iter().any(|(_, values)| is_set(values, bad));
        let of = |&bad: &u32| depths.iter().filter(|(state, _)| is_bad(state, bad)).map(|(_, depth)| depth + 1).min();
        bads.iter().map(of).collect()
    }

    /// Whether some execution without an end satisfies each justice property: whether cycles of the clock that lead round and round,
    /// all in one component, have all its signals among them.
    pub(crate) fn is_just(&self) -> Vec<bool> {
        let (steps, _) = self.explore();
        let reach = |from: u32| {
            let (mut seen, mut open) = (BTreeSet::new(), vec![from]);
            while let Some(state) = open.pop() {
                open.extend(steps[&state].iter().map(|(next, _)| *next).filter(|next| seen.insert(*next)));
            }
            seen
        };
        let reach: BTreeMap<u32, BTreeSet<u32>> = steps.keys().map(|&state| (state, reach(state))).collect();
        let is_together = |a: u32, b: u32| reach[&a].contains(&b) && reach[&b].contains(&a);
        let is_satisfied = |state: u32, wanted: &[u32]| {
            let inside = steps.keys().filter(|&&other| is_together(state, other));
            let of = |&from: &u32| steps[&from].iter().filter(move |(next, _)| is_together(from, *next));
            let values: Vec<&Vec<bool>> = inside.flat_map(of).map(|(_, values)| values).collect();
            !values.is_empty() && wanted.iter().all(|&one| values.iter().any(|values| is_set(values, one)))
        };
        let all = |literals: &Vec<u32>| [&literals[..], &self.fairness].concat();
        self.justice.iter().map(|one| steps.keys().any(|&state| is_satisfied(state, &all(one)))).collect()
    }

    fn header(&self, format: &str) -> String {
        let (latches, gates) = (self.latches.len(), self.gates.len());
        let mut text =
            format!("{format} {} {} {latches} {} {gates}", self.variables(), self.inputs, self.outputs.len());
        let more = [self.bads.len(), self.constraints.len(), self.justice.len(), self.fairness.len()];
        let needed = more.iter().rposition(|&many| many > 0).map_or(0, |last| last + 1);
        more[..needed].iter().for_each(|many| _ = write!(text, " {many}"));
        text + "\n"
    }

    /// What stands between latches and gates in both forms.
    fn signals(&self) -> String {
        let mut text = String::new();
        let mut add = |literals: &[u32]| literals.iter().for_each(|literal| _ = writeln!(text, "{literal}"));
        add(&self.outputs);
        add(&self.bads);
        add(&self.constraints);
        add(&self.justice.iter().map(|one| one.len() as u32).collect::<Vec<_>>());
        self.justice.iter().for_each(|one| add(one));
        add(&self.fairness);
        text
    }

    /// What a latch begins with, as it is written behind the rest.
    fn reset(&self, latch: u32) -> String {
        match self.latches[latch as usize].1 {
            Some(false) => String::new(),
            Some(true) => " 1".into(),
            None => format!(" {}", (self.inputs + latch) * 2 + 2),
        }
    }

    pub(crate) fn ascii(&self) -> String {
        let mut text = self.header("aag");
        (1..=self.inputs).for_each(|input| _ = writeln!(text, "{}", input * 2));
        for (number, (next, _)) in (0..).zip(&self.latches) {
            _ = writeln!(text, "{} {next}{}", (self.inputs + number) * 2 + 2, self.reset(number));
        }
        text += &self.signals();
        let first = self.inputs + self.latches.len() as u32 + 1;
        for (number, (a, b)) in (first..).zip(&self.gates) {
            _ = writeln!(text, "{} {a} {b}", number * 2);
        }
        text + &self.names
    }

    /// With a character for each byte.
    pub(crate) fn binary(&self) -> String {
        let mut text = self.header("aig");
        for (number, (next, _)) in (0..).zip(&self.latches) {
            _ = writeln!(text, "{next}{}", self.reset(number));
        }
        text += &self.signals();
        let first = self.inputs + self.latches.len() as u32 + 1;
        for (number, &(a, b)) in (first..).zip(&self.gates) {
            for mut difference in [number * 2 - a, a - b] {
                while difference > 0x7f {
                    text.push(char::from(difference as u8 | 0x80));
                    difference >>= 7;
                }
                text.push(char::from(difference as u8));
            }
        }
        text + &self.names
    }

    /// Reads what `ascii` writes.
    pub(crate) fn of_ascii(text: &str) -> Self {
        let mut lines = text.lines();
        let mut numbers = || -> Vec<u32> {
            let words = lines.next().expect("a line").split(' ').filter(|word| *word != "aag");
            words.map(|word| word.parse().expect("a number")).collect()
        };
        let mut header = numbers();
        header.resize(9, 0);
        let inputs = header[1];
        (0..inputs).for_each(|_| _ = numbers());
        let mut read = |many: u32| (0..many).map(|_| numbers()).collect::<Vec<_>>();
        let latch = |line: &Vec<u32>| match line[..] {
            [_, next] => (next, Some(false)),
            [latch, next, reset] => (next, (reset != latch).then_some(reset == 1)),
            _ => panic!("not a latch: {line:?}"),
        };
        let latches = read(header[2]).iter().map(latch).collect();
        let (outputs, bads) = (read(header[3]).concat(), read(header[5]).concat());
        let constraints = read(header[6]).concat();
        let sizes = read(header[7]).concat();
        let justice = sizes.iter().map(|&size| read(size).concat()).collect();
        let fairness = read(header[8]).concat();
        let gates = read(header[4]).iter().map(|line| (line[1], line[2])).collect();
        Self { inputs, latches, outputs, bads, constraints, justice, fairness, gates, names: String::new() }
    }
}

pub(crate) fn is_set(values: &[bool], literal: u32) -> bool {
    values[literal as usize / 2] != (literal % 2 == 1)
}

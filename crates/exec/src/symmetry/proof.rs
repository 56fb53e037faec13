//! Which names can be renamed: the steps and goals of a program with the names changed are the same steps and goals.
//!
//! Swaps that are proved generate all permutations of the names that they connect. Where no two names can be swapped, all of them
//! may still be rotated: each becomes the next one, as around a table. What is not proved is not used.

use std::collections::HashMap;

use birk_ir::{Program, TransitionId};

use super::classes::{Class, Classes, Site};
use super::text::{By, Renaming, Term};
use super::typing::Typing;

/// Names from this number on are not swapped; and, so that sets of them fit into a word while they are turned, not rotated.
const MOST: i64 = 64;
const MOST_IN_RING: i64 = 62;

/// What is checked of a renaming. All of it, but in tests of the tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Checks {
    /// Goals are mapped to themselves.
    pub goals: bool,
    /// Steps are mapped to steps.
    pub steps: bool,
    /// Both names are in each range, or neither.
    pub ranges: bool,
    /// What is computed with or put in order is no name.
    pub numbers: bool,
    /// Variables that hold names are permuted, too.
    pub values: bool,
    /// What resets a variable that is still read is a step like others.
    pub live: bool,
}

impl Checks {
    /// What makes a proof.
    pub const ALL: Checks = Checks { goals: true, steps: true, ranges: true, numbers: true, values: true, live: true };
}

/// Names of one class that can be permuted, at will unless they form a ring.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Names {
    pub(super) class: Class,
    /// In order.
    pub(super) names: Vec<u32>,
    /// Only all at once, each to the next: not at will.
    pub(super) is_ring: bool,
}

/// Why the instances of a thread are not symmetric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Broken {
    /// The thread, among the kinds of the program.
    pub kind: usize,
    /// What tells instances apart.
    pub site: Site,
    /// The numbers of instances are computed with or put in order there; otherwise what is there names some of them.
    pub is_number: bool,
}

/// The names that can be permuted, and which threads' instances cannot.
pub(super) fn prove(program: &Program, typing: &Typing<'_>, checks: Checks) -> (Vec<Names>, Vec<Broken>) {
    let proof = Proof::new(program, typing, checks);
    let (mut found, mut broken) = (Vec::new(), Vec::new());
    for &class in &typing.candidates {
        if typing.classes.is_number(class).is_some() || typing.classes.members(class).is_some() {
            continue;
        }
        let (names, failed) = proof.names(class);
        found.extend(names);
        for (kind, declared) in program.kinds.iter().enumerate() {
            let copies = i64::from(declared.copies);
            let is_here = typing.classes.find(typing.instances(kind)) == class;
            if let Some(&(site, ..)) = failed.iter().find(|&&(_, one, other)| is_here && one.max(other) < copies) {
                broken.push(Broken { kind, site, is_number: false });
            }
        }
    }
    for (kind, declared) in program.kinds.iter().enumerate() {
        if let Some(site) = typing.classes.is_number(typing.instances(kind))
            && declared.copies > 1
        {
            broken.push(Broken { kind, site, is_number: true });
        }
    }
    (found, broken)
}

struct Proof<'t, 'p> {
    program: &'p Program,
    typing: &'t Typing<'p>,
    checks: Checks,
    /// How often each step is there.
    steps: HashMap<Vec<i64>, u32>,
    /// The constants of each step.
    constants: Vec<Vec<(i64, Class)>>,
}

/// Where a renaming fails, and two names that it tells apart.
type Failed = (Site, i64, i64);

impl<'t, 'p> Proof<'t, 'p> {
    fn new(program: &'p Program, typing: &'t Typing<'p>, checks: Checks) -> Self {
        let constants = typing.steps.iter().map(constants_of).collect();
        let mut proof = Self { program, typing, checks, steps: HashMap::new(), constants };
        for id in 0..typing.steps.len() {
            *proof.steps.entry(proof.step(id, None)).or_default() += 1;
        }
        proof
    }

    fn classes(&self) -> &'t Classes {
        &self.typing.classes
    }

    /// The names of a class that can be permuted, and which renamings failed.
    fn names(&self, class: Class) -> (Vec<Names>, Vec<Failed>) {
        let is_ours = |range: &&(Class, i64, i64, Site)| self.classes().find(range.0) == class;
        let ranges: Vec<(i64, i64, Site)> =
            self.typing.ranges.iter().filter(is_ours).map(|&(_, lo, hi, site)| (lo, hi, site)).collect();
        if let Some((length, site)) = self.classes().ring(class) {
            let failed = |site| vec![(site, 0, 1)];
            return match self.ring(class, (0, length - 1), &ranges) {
                Ok(names) => (vec![names], Vec::new()),
                Err(broken) => (Vec::new(), failed(broken.unwrap_or(site))),
            };
        }
        let (found, failed) = self.interchangeable(class, &ranges);
        let mut circles: Vec<(i64, i64)> =
            ranges.iter().map(|&(lo, hi, _)| (lo, hi)).filter(|&(lo, hi)| lo + 1 < hi).collect();
        circles.sort_unstable();
        circles.dedup();
        let ring = || circles.iter().find_map(|&circle| self.ring(class, circle, &ranges).ok());
        match found.is_empty().then(ring).flatten() {
            Some(names) => (vec![names], Vec::new()),
            None => (found, failed),
        }
    }

    /// The names between two, if they can be rotated; otherwise what tells them apart, unless that is a range.
    fn ring(
        &self,
        class: Class,
        (first, last): (i64, i64),
        ranges: &[(i64, i64, Site)],
    ) -> Result<Names, Option<Site>> {
        let is_whole = |&(lo, hi, _): &(i64, i64, Site)| hi < first || last < lo || lo <= first && last <= hi;
        if first < 0 || last >= MOST_IN_RING || last <= first || self.checks.ranges && !ranges.iter().all(is_whole) {
            return Err(None);
        }
        self.is_proved(Renaming { class, by: By::Rotation(first, last) })?;
        Ok(Names { class, names: (first as u32..=last as u32).collect(), is_ring: last > first + 1 })
    }

    /// The names of a class that can be permuted at will, and which swaps failed.
    fn interchangeable(&self, class: Class, ranges: &[(i64, i64, Site)]) -> (Vec<Names>, Vec<Failed>) {
        let last = ranges.iter().map(|&(_, hi, _)| hi).max().unwrap_or(-1).min(MOST - 1);
        let lowest = ranges.iter().filter(|range| range.0 >= 0).map(|range| range.0).min().unwrap_or(0);
        let mut group: Vec<i64> = (0..=last).collect();
        let mut failed = Vec::new();
        let near = (lowest..last).map(|name| (name, name + 1));
        let far = (lowest..=last).flat_map(|one| (one + 2..=last).map(move |other| (one, other)));
        for (one, other) in near.chain(far) {
            if group[one as usize] == group[other as usize] {
                continue;
            }
            let is_in = |name: i64, range: &(i64, i64, Site)| range.0 <= name && name <= range.1;
            let apart = ranges.iter().find(|range| is_in(one, range) != is_in(other, range));
            if let Some(&(.., site)) = apart.filter(|_| self.checks.ranges) {
                failed.push((site, one, other));
                continue;
            }
            match self.is_proved(Renaming { class, by: By::Swap(one, other) }) {
                Ok(()) => {
                    let (from, to) = (group[other as usize], group[one as usize]);
                    group.iter_mut().filter(|name| **name == from).for_each(|name| *name = to);
                }
                Err(site) => failed.push((site, one, other)),
            }
        }
        failed.retain(|&(_, one, other)| group[one as usize] != group[other as usize]);
        let members =
            |name: i64| (0..=last).filter(|&other| group[other as usize] == name).map(|name| name as u32).collect();
        let found = (0..=last)
            .map(|name| Names { class, names: members(name), is_ring: false })
            .filter(|names| names.names.len() > 1);
        (found.collect(), failed)
    }

    /// Whether a renaming maps steps to steps and goals to themselves; otherwise, what it does not.
    fn is_proved(&self, renaming: Renaming) -> Result<(), Site> {
        for (position, goal) in self.typing.goals.iter().enumerate() {
            let is_touched = || constants_of(goal).iter().any(|&constant| self.moves(renaming, constant));
            if self.checks.goals
                && is_touched()
                && goal.text(self.classes(), Some(renaming)) != goal.text(self.classes(), None)
            {
                return Err(Site::Goal(position));
            }
        }
        for id in 0..self.typing.steps.len() {
            if self.checks.steps && self.is_touched(id, renaming) {
                let (before, after) = (self.step(id, None), self.step(id, Some(renaming)));
                if self.steps.get(&before) != self.steps.get(&after) {
                    return Err(Site::Transition(TransitionId::new(id)));
                }
            }
        }
        Ok(())
    }

    /// Whether a step can have another text after a renaming.
    fn is_touched(&self, id: usize, renaming: Renaming) -> bool {
        let is_moved = self.thread(id, Some(renaming)) != self.thread(id, None);
        is_moved || self.constants[id].iter().any(|&constant| self.moves(renaming, constant))
    }

    fn moves(&self, renaming: Renaming, (value, class): (i64, Class)) -> bool {
        renaming.constant(self.classes(), value, class) != value
    }

    /// The kind and the number of the thread that takes a step.
    fn thread(&self, id: usize, renaming: Option<Renaming>) -> [i64; 2] {
        let thread = self.program.thread(self.program.transitions[id].thread);
        let instances = self.typing.instances(thread.kind);
        let copy = i64::from(thread.copy);
        [thread.kind as i64, renaming.map_or(copy, |renaming| renaming.constant(self.classes(), copy, instances))]
    }

    fn step(&self, id: usize, renaming: Option<Renaming>) -> Vec<i64> {
        let mut text = self.thread(id, renaming).to_vec();
        text.push(i64::from(self.program.transitions[id].location.0));
        text.extend(self.typing.steps[id].text(self.classes(), renaming));
        text
    }
}

fn constants_of(term: &Term) -> Vec<(i64, Class)> {
    let mut constants = Vec::new();
    term.outline(&mut Vec::new(), &mut constants);
    constants
}

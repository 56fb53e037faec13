//! CTL about fair runs, by its definition: a run is fair forever in a part of the graph in which every state leads to every
//! other, and in which every promise is kept by some step.

use std::collections::BTreeSet;

use birk_exec::{Fairness, Random};
use birk_ir::{Branching, Steps};

use crate::system::{PROPOSITIONS, System, TRANSITIONS, propositions};

/// A formula of CTL.
#[derive(Clone, Debug)]
pub(crate) enum Ctl {
    Atom(usize),
    Not(Box<Ctl>),
    And(Box<(Ctl, Ctl)>),
    /// Of all runs or of some: when, and what.
    Runs(bool, Time, Box<(Ctl, Ctl)>),
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Time {
    Next,
    Eventually,
    Always,
    Until,
    WeakUntil,
    Release,
}

const TIMES: [Time; 6] = [Time::Next, Time::Eventually, Time::Always, Time::Until, Time::WeakUntil, Time::Release];

impl Ctl {
    pub(crate) fn random(random: &mut Random, depth: usize) -> Self {
        let choice = if depth == 0 { 0 } else { random.below(10) };
        match choice {
            0 | 1 => Ctl::Atom(random.below(PROPOSITIONS)),
            2 => Ctl::Not(Box::new(Self::random(random, depth - 1))),
            3 => Ctl::And(Box::new((Self::random(random, depth - 1), Self::random(random, depth - 1)))),
            _ => {
                let time = TIMES[random.below(TIMES.len())];
                let parts = (Self::random(random, depth - 1), Self::random(random, depth - 1));
                Ctl::Runs(random.below(2) == 0, time, Box::new(parts))
            }
        }
    }

    /// In fixpoints, as the language lowers it; or its negation.
    pub(crate) fn branching(&self, positive: bool, fixpoints: &mut u32) -> Branching {
        let (is_all, time, parts) = match self {
            Ctl::Atom(index) => {
                let atom = propositions()[*index].clone();
                return Branching::Atom(if positive { atom } else { atom.negate() });
            }
            Ctl::Not(inner) => return inner.branching(!positive, fixpoints),
            Ctl::And(parts) => {
                let two = (parts.0.branching(positive, fixpoints), parts.1.branching(positive, fixpoints));
                return if positive { two.0.and(two.1) } else { two.0.or(two.1) };
            }
            Ctl::Runs(is_all, time, parts) => (*is_all, *time, parts),
        };
        let (p, q) = (parts.0.branching(positive, fixpoints), parts.1.branching(positive, fixpoints));
        let number = *fixpoints;
        *fixpoints += 1;
        let next = |body: Branching| match is_all == positive {
            true => Branching::Every(Steps::OrStay, Box::new(body)),
            false => Branching::Some(Steps::OrStay, Box::new(body)),
        };
        let and = |a: Branching, b: Branching| if positive { a.and(b) } else { a.or(b) };
        let or = |a: Branching, b: Branching| if positive { a.or(b) } else { a.and(b) };
        let again = next(Branching::Variable(number));
        let (is_least, body) = match time {
            Time::Next => return next(q),
            Time::Eventually => (true, or(q, again)),
            Time::Always => (false, and(q, again)),
            Time::Until => (true, or(q, and(p, again))),
            Time::WeakUntil => (false, or(q, and(p, again))),
            Time::Release => (false, and(q, or(p, again))),
        };
        match is_least == positive {
            true => Branching::Least(number, Box::new(body)),
            false => Branching::Greatest(number, Box::new(body)),
        }
    }
}

/// Some promises about the transitions of a graph.
pub(crate) fn fairness(random: &mut Random) -> Fairness {
    let names: Vec<String> = (0..random.below(4)).map(|number| number.to_string()).collect();
    let met_by = (0..TRANSITIONS).map(|_| random.below(1 << names.len()) as u64).collect();
    Fairness { met_by, names }
}

/// How the definition may be wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unfair {
    Not,
    /// Every run is taken for fair.
    Ignored,
    /// One promise is kept, and the others forgotten.
    First,
    /// Who cannot go on must be given its turn all the same.
    Strict,
    /// A step that would go wrong is none that is possible.
    FaultsAreNone,
    /// It is not asked whether a fair run goes on from where something is seen.
    Anywhere,
}

type States = BTreeSet<usize>;

/// The runs of a graph that are fair.
pub(crate) struct Runs<'s> {
    pub(crate) system: &'s System,
    pub(crate) fairness: &'s Fairness,
    pub(crate) unfair: Unfair,
}

impl Runs<'_> {
    /// The steps of a state: where they lead, and the promises they keep. Staying where nothing is possible keeps all.
    fn steps(&self, state: usize) -> Vec<(usize, u64)> {
        if self.system.is_stuck(state) {
            return vec![(state, u64::MAX)];
        }
        let met = |transition: usize| self.fairness.met_by[transition];
        let all = self.system.steps[state].iter();
        let counts = |end: usize| self.unfair != Unfair::FaultsAreNone || !self.system.faults[end];
        let possible =
            all.clone().filter(|(_, end)| counts(*end)).fold(0, |all, (transition, _)| all | met(*transition));
        let idle = if self.unfair == Unfair::Strict { 0 } else { !possible };
        let real = all.filter(|(_, end)| !self.system.faults[*end]);
        real.map(|&(transition, end)| (end, idle | met(transition))).collect()
    }

    fn reach(&self, from: usize, within: &States) -> States {
        let mut found = BTreeSet::new();
        let mut waiting = vec![from];
        while let Some(state) = waiting.pop() {
            let ends = self.steps(state).into_iter().map(|(end, _)| end).filter(|end| within.contains(end));
            waiting.extend(ends.filter(|&end| found.insert(end)));
        }
        found
    }

    /// From where a fair run stays within these states forever.
    fn globally(&self, within: &States) -> States {
        let is_fair = |state: usize| {
            let all = self.reach(state, within);
            let together: States =
                all.iter().copied().filter(|&other| self.reach(other, within).contains(&state)).collect();
            let inner = together.iter().flat_map(|&start| self.steps(start)).filter(|(end, _)| together.contains(end));
            let kept = inner.fold(0, |all, (_, kept)| all | kept);
            let wanted = match self.unfair {
                Unfair::Ignored => 0,
                Unfair::First => 1,
                _ => u64::MAX,
            } & ((1 << self.fairness.names.len()) - 1);
            together.contains(&state) && wanted & !kept == 0
        };
        let fair: States = within.iter().copied().filter(|&state| is_fair(state)).collect();
        let leads = |&state: &usize| fair.contains(&state) || !self.reach(state, within).is_disjoint(&fair);
        within.iter().copied().filter(leads).collect()
    }

    /// From where a run leads through some states into others, from which a fair run goes on.
    fn until(&self, through: &States, ends: &States, all: &States) -> States {
        let fair = if self.unfair == Unfair::Anywhere { all.clone() } else { self.globally(all) };
        let ends: States = ends.intersection(&fair).copied().collect();
        all.iter().copied().filter(|&state| self.passes(state, through, &ends)).collect()
    }

    fn passes(&self, from: usize, through: &States, ends: &States) -> bool {
        let mut seen = BTreeSet::from([from]);
        let mut waiting = vec![from];
        while let Some(state) = waiting.pop() {
            if ends.contains(&state) {
                return true;
            }
            if through.contains(&state) {
                let next = self.steps(state).into_iter().map(|(end, _)| end);
                waiting.extend(next.filter(|&end| seen.insert(end)));
            }
        }
        false
    }

    /// The states in which a formula is true of fair runs.
    pub(crate) fn meaning(&self, formula: &Ctl, all: &States) -> States {
        let without = |states: &States| all.difference(states).copied().collect::<States>();
        let (is_all, time, parts) = match formula {
            Ctl::Atom(index) => {
                return all.iter().copied().filter(|&state| self.system.letters[state] >> index & 1 == 1).collect();
            }
            Ctl::Not(inner) => return without(&self.meaning(inner, all)),
            Ctl::And(parts) => {
                let (left, right) = (self.meaning(&parts.0, all), self.meaning(&parts.1, all));
                return left.intersection(&right).copied().collect();
            }
            Ctl::Runs(is_all, time, parts) => (*is_all, *time, parts),
        };
        let (mut p, mut q) = (self.meaning(&parts.0, all), self.meaning(&parts.1, all));
        // What is so on all runs is otherwise on none: the negation of each is one of the others.
        if is_all {
            (p, q) = (without(&p), without(&q));
        }
        let both: States = p.intersection(&q).copied().collect();
        let some = match (time, is_all) {
            (Time::Next, _) => {
                let fair = if self.unfair == Unfair::Anywhere { all.clone() } else { self.globally(all) };
                let leads =
                    |&state: &usize| self.steps(state).iter().any(|(end, _)| q.contains(end) && fair.contains(end));
                all.iter().copied().filter(leads).collect()
            }
            (Time::Eventually, false) | (Time::Always, true) => self.until(all, &q, all),
            (Time::Always, false) | (Time::Eventually, true) => self.globally(&q),
            (Time::Until, false) => self.until(&p, &q, all),
            // Not (p until q): not q forever, or not q up to where neither is.
            (Time::Until, true) => self.until(&q, &both, all).union(&self.globally(&q)).copied().collect(),
            (Time::WeakUntil, false) => self.until(&p, &q, all).union(&self.globally(&p)).copied().collect(),
            (Time::WeakUntil, true) => self.until(&q, &both, all),
            (Time::Release, false) => self.until(&q, &both, all).union(&self.globally(&q)).copied().collect(),
            (Time::Release, true) => self.until(&p, &q, all),
        };
        if is_all { without(&some) } else { some }
    }
}

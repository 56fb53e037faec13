//! Who hunts, in the order in which they get their first turns.

use std::time::Duration;

use birk_engine::Value;
use birk_ir::Property;
use birk_search::BEAM;
use birk_search::highway::WIDTH;

use crate::options::{Fairness, Options, Reduce, Store, Symmetry, Threads};
use crate::report::Pace;

/// States of the first turn of an engine that visits them one by one.
const STATES: u64 = 1 << 17;
/// Steps of the first turn of an engine that asks a solver.
const STEPS: u32 = 8;
/// States of a level in the first turn of an engine that follows only so many.
const LANES: u64 = 1 << 7;
/// A turn of highway search has fewer slices than this; each has a seed.
const SLICES: u64 = 1 << 6;
/// The first turn takes no longer than this,
const LONGEST: Duration = Duration::from_millis(400);
/// or than so many times as long with one thread, so that the clock ends hardly any and a run can be repeated.
const PATIENCE: u32 = 50;
/// No turn is more than two to the power of this as large as the first.
const DOUBLINGS: u32 = 24;

/// A way to hunt.
pub(super) struct Member {
    pub(super) name: &'static str,
    engine: &'static str,
    /// Which properties it may decide.
    asks: fn(&Property) -> bool,
    /// It hunts one property at a time, each in its turn.
    pub(super) one_by_one: bool,
    /// Each turn draws something else at random.
    pub(super) draws: bool,
    /// It starts at once, and finds most of what is found early: every second turn goes to one of these, and may be longer.
    pub(super) is_quick: bool,
    /// How many seeds a turn has, so that the next one begins with others.
    seeds: u64,
    /// What makes the options those of a turn that is so many times doubled.
    sized: fn(&mut Options, doublings: u32),
}

fn is_of_states_or_branching(property: &Property) -> bool {
    !property.is_of_runs()
}

fn is_any(_: &Property) -> bool {
    true
}

fn by_states(options: &mut Options, doublings: u32) {
    options.max_states = Some(STATES << doublings);
}

fn by_steps(options: &mut Options, doublings: u32) {
    options.max_depth = Some(STEPS << doublings.min(16));
}

/// All members.
pub(super) const MEMBERS: &[Member] = &[
    Member {
        name: "highway",
        engine: "highway",
        asks: is_any,
        one_by_one: false,
        draws: true,
        is_quick: true,
        seeds: SLICES,
        sized: |options, doublings| {
            options.engine_options.set(&WIDTH, Value::Word("auto"));
            by_states(options, doublings);
        },
    },
    Member {
        name: "bitstate",
        engine: "dfs",
        asks: |property| property.branching().is_none(),
        one_by_one: false,
        draws: true,
        is_quick: true,
        seeds: 1,
        sized: |options, doublings| {
            options.store = Store::Bitstate;
            // Sixteen bits for each state of the turn.
            options.memory.asked = options.memory.asked.map(|most| most.min(STATES << doublings << 2));
            by_states(options, doublings);
        },
    },
    Member {
        name: "bmc",
        engine: "bmc",
        asks: Property::is_of_states,
        one_by_one: false,
        draws: false,
        is_quick: false,
        seeds: 0,
        sized: by_steps,
    },
    Member {
        name: "ic3",
        engine: "ic3",
        asks: Property::is_of_states,
        one_by_one: false,
        draws: false,
        is_quick: false,
        seeds: 0,
        sized: by_steps,
    },
    Member {
        name: "beam",
        engine: "astar",
        asks: Property::is_of_states,
        one_by_one: true,
        draws: true,
        is_quick: false,
        seeds: 0,
        sized: |options, doublings| {
            options.engine_options.set(&BEAM, Value::Number(LANES << doublings.min(20)));
            by_states(options, doublings);
        },
    },
    Member {
        name: "bdd-chain",
        engine: "bdd-chain",
        asks: is_of_states_or_branching,
        one_by_one: false,
        draws: false,
        is_quick: false,
        seeds: 0,
        sized: |_, _| {},
    },
    Member {
        name: "astar",
        engine: "astar",
        asks: Property::is_of_states,
        one_by_one: true,
        draws: false,
        is_quick: false,
        seeds: 0,
        sized: by_states,
    },
    Member {
        name: "reduced bfs",
        engine: "bfs",
        asks: |property| property.branching().is_none(),
        one_by_one: false,
        draws: false,
        is_quick: false,
        seeds: 0,
        sized: |options, doublings| {
            (options.reduce, options.symmetry) = (Reduce::Auto, Symmetry::Auto);
            by_states(options, doublings);
        },
    },
    Member {
        name: "cycles",
        engine: "bfs",
        asks: Property::is_of_runs,
        one_by_one: true,
        draws: false,
        is_quick: false,
        seeds: 0,
        sized: by_states,
    },
];

impl Member {
    /// How its next turn searches, and how long that may take; nothing where no open property is for it.
    pub(super) fn turn(&self, base: &Options, open: &[&Property], pace: Pace) -> Option<(Options, Duration)> {
        let mut asked: Vec<&Property> = open.iter().copied().filter(|property| (self.asks)(property)).collect();
        let Pace { turns, mut doublings, width } = pace;
        if self.one_by_one && !asked.is_empty() {
            doublings /= asked.len() as u32;
            asked = vec![asked[turns as usize % asked.len()]];
        }
        if asked.is_empty() {
            return None;
        }
        let doublings = doublings.min(DOUBLINGS);
        let is_temporal = |property: &&Property| property.is_of_runs() || property.branching().is_some();
        let fairness = if asked.iter().any(is_temporal) { base.fairness } else { Fairness::None };
        let mut options = Options {
            engine: self.engine.to_owned(),
            properties: asked.iter().map(|property| property.name.clone()).collect(),
            fairness,
            threads: Threads::Number(1),
            reduce: Reduce::Dead,
            symmetry: Symmetry::Off,
            first_width: width,
            ..base.clone()
        };
        options.seed = options.seed.wrapping_add(u64::from(turns) * self.seeds);
        (self.sized)(&mut options, doublings);
        let patience = if base.threads == Threads::Number(1) { PATIENCE } else { 1 };
        Some((options, LONGEST * patience * (1 << doublings.min(12))))
    }

    /// What to write to search as in this turn, without its limits.
    pub(super) fn words(&self, options: &Options) -> String {
        let mut words = format!("--search {}", self.engine);
        for (name, value) in options.engine_options.iter() {
            words += &format!(" --{name} {value}");
        }
        words += match options.reduce {
            Reduce::Off => "",
            Reduce::Dead => " --reduce dead",
            Reduce::Auto => " --reduce auto --symmetry auto",
        };
        if options.store == Store::Bitstate {
            words += " --store bitstate";
        }
        if self.draws && options.seed != 0 {
            words += &format!(" --seed {}", options.seed);
        }
        if self.one_by_one {
            words += &format!(" --property {}", options.properties.join(" --property "));
        }
        words
    }
}

//! The coverage statement: how much was explored, where the search stopped early, what was not reached, what the next
//! depth would cost, and how to continue. No engine's word is stretched: a grade says what the search can prove.

use birk::search::forecast::Guess;
use birk_ir::{Coverage, LocationId, Op, Stop, ThreadId, TransitionId, Verdict};

use crate::cli::StoreKind;
use crate::numbers::{count, grouped};
use crate::report::{Report, command_line};

/// An unexplored place: steps of one thread from one location that were not taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Cut {
    pub(crate) thread: ThreadId,
    pub(crate) location: LocationId,
    pub(crate) steps: u64,
}

/// The transitions that were never taken, by what is known of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Untaken {
    /// Their thread came to their location, but they could not be taken there.
    pub(crate) not_enabled: Vec<TransitionId>,
    /// They could be taken, but only in unexplored states.
    pub(crate) cut: Vec<TransitionId>,
    /// They could be taken, but an `assume` pruned whatever they led to.
    pub(crate) assumed: Vec<TransitionId>,
}

/// What the next depth would cost: at least, at most.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Next {
    pub(crate) depth: u32,
    /// States that are new there.
    pub(crate) states: (u64, u64),
    /// Of a search from the start to that depth.
    pub(crate) seconds: (f64, f64),
    pub(crate) memory: Option<(u64, u64)>,
}

/// The time of a search varies by so much from run to run.
const TIME_SLACK: (f64, f64) = (0.7, 1.6);

impl Report<'_> {
    /// What was covered, in one line: grade, meaning, why the search ended.
    pub(crate) fn covered(&self) -> String {
        let unchecked: Vec<String> = self
            .answers
            .iter()
            .filter(|answer| answer.coverage.is_none())
            .map(|answer| format!("`{}`", answer.property.name))
            .collect();
        let searched = self.searched();
        match (unchecked.is_empty(), unchecked.len() == self.answers.len()) {
            (true, _) => searched,
            (false, true) => format!("E, not checked: {}", unchecked.join(", ")),
            (false, false) => format!("E, not checked: {}; otherwise {searched}", unchecked.join(", ")),
        }
    }

    /// The grade and meaning of what was searched.
    fn searched(&self) -> String {
        let states = self.states();
        let steps = |depth: u32| count(u64::from(depth), "step");
        let ended = stopped(self.hunt.stopped);
        let alike = if self.dead.is_empty() { "" } else { ", up to the values of dead variables" };
        match &self.hunt.coverage {
            _ if !self.is_of_all_states() => self.searched_reduced(),
            Coverage::Complete if self.is_of_runs() => "A, exhaustive: every execution".to_owned(),
            Coverage::Complete => match self.induction() {
                Some(why) => format!("A, exhaustive: every reachable state, {why}"),
                None => format!("A, exhaustive: every reachable state{alike}"),
            },
            Coverage::Depth(depth) => {
                let within = steps(*depth);
                format!("B, complete to depth {depth}: every state within {within} of the start{alike}; {ended}")
            }
            Coverage::Hashed { depth, omission_probability, expected_omissions } => {
                let about = if self.args.swarm > 1 { "about " } else { "" };
                let to = depth.map(|depth| format!(", complete to depth {depth}")).unwrap_or_default();
                let ended = if depth.is_some() { format!("; {ended}") } else { String::new() };
                format!(
                    "C, hashed{to}: {about}{states}; {expected_omissions:.2} more expected to be lost to hash collisions, any \
                     with a probability of at most {omission_probability:.3}{ended}"
                )
            }
            Coverage::Partial(_) if self.hunt.stopped == Stop::Exhausted => {
                let about = if self.slices.as_ref().is_some_and(|slices| slices.done > 1) { "about " } else { "" };
                let why =
                    if self.engine.directed { "had a worse heuristic estimate" } else { "were left out at random" };
                format!("D, partial: {about}{states}, with no claim about others; some {why}")
            }
            Coverage::Partial(_) => format!("D, partial: {states}, with no claim about others; {ended}"),
        }
    }

    /// The same for a reduced search, which says nothing of states that it did not visit.
    fn searched_reduced(&self) -> String {
        let (states, ended) = (self.states(), stopped(self.hunt.stopped));
        let how = match (self.is_reduced, self.is_of_orbits()) {
            (_, false) => "by reduction",
            (false, true) => "up to symmetry",
            (true, true) => "by reduction and up to symmetry",
        };
        match &self.hunt.coverage {
            Coverage::Complete => {
                format!("A, complete {how}: a violation would have been met; {states} visited")
            }
            Coverage::Depth(depth) => {
                let steps = count(u64::from(*depth), "step");
                format!("B, complete to depth {depth} {how}: a violation within {steps} would have been met; {ended}")
            }
            Coverage::Hashed { depth, omission_probability, expected_omissions } => {
                let to = depth.map(|depth| format!(", complete to depth {depth}")).unwrap_or_default();
                format!(
                    "C, hashed{to} {how}: {states} visited; {expected_omissions:.2} more expected to be lost to hash \
                     collisions, any with a probability of at most {omission_probability:.3}; {ended}"
                )
            }
            Coverage::Partial(_) => format!("D, partial: {states} visited by a reduced search; {ended}"),
        }
    }

    /// Where the search stopped early, the place with most steps first.
    pub(crate) fn cuts(&self) -> Vec<Cut> {
        let mut cuts: Vec<Cut> = Vec::new();
        for (transition, &steps) in self.program.transitions.iter().zip(&self.hunt.stats.cutoff.open) {
            let (thread, location) = (transition.thread, transition.location);
            match cuts.iter_mut().find(|cut| (cut.thread, cut.location) == (thread, location)) {
                Some(cut) => cut.steps += steps,
                None => cuts.push(Cut { thread, location, steps }),
            }
        }
        cuts.retain(|cut| cut.steps > 0);
        // Where they are equal, the order of the model stays.
        cuts.sort_by_key(|cut| std::cmp::Reverse(cut.steps));
        cuts
    }

    /// The transitions that were never taken although their thread was at their location.
    pub(crate) fn untaken(&self) -> Untaken {
        let (entered, executed) = (self.entered(), self.executed());
        let mut untaken = Untaken::default();
        for (index, transition) in self.program.transitions.iter().enumerate() {
            // Nobody noted what was taken where the list is empty.
            if self.hunt.fired.get(index).copied().unwrap_or(true) || executed.contains(&transition.span) {
                continue;
            }
            let id = TransitionId::new(index);
            let has_assumption = transition.ops.iter().any(|op| matches!(op, Op::Assume(_)));
            if self.hunt.stats.cutoff.open.get(index).is_some_and(|&open| open > 0) {
                untaken.cut.push(id);
            } else if has_assumption && self.assumed.as_ref().is_none_or(|assumed| assumed[index]) {
                // Where nobody noticed what was pruned, it is not known whether it was enabled.
                if self.assumed.is_some() {
                    untaken.assumed.push(id);
                }
            } else if self.joint.is_none() && entered[transition.thread.index()][transition.location.index()] {
                // Where others came to a location, nobody noted what they did not take there.
                untaken.not_enabled.push(id);
            }
        }
        untaken
    }

    /// The condition of a transition, as it is written.
    pub(crate) fn guard_text(&self, id: TransitionId) -> Option<String> {
        let transition = self.program.transition(id);
        // A condition of a procedure is about its parameters: the call says what they stand for.
        match self.source.is_bir() && transition.is_guarded_elsewhere() {
            true => Some(self.source.slice(transition.span).trim_end_matches(';').to_owned()),
            false => transition.guard_span.map(|span| self.source.slice(span)),
        }
    }

    /// What the next depth would cost, or why that cannot be told; nothing where it was not asked for.
    pub(crate) fn next(&self) -> Option<Result<Next, &'static str>> {
        if self.verdict() != Verdict::Inconclusive || self.hunt.stopped == Stop::Goal || !self.is_of_all_states() {
            return None;
        }
        match self.hunt.coverage {
            Coverage::Complete | Coverage::Hashed { depth: None, .. } => None,
            Coverage::Partial(_) => Some(Err("this search does not proceed depth by depth")),
            Coverage::Depth(depth) | Coverage::Hashed { depth: Some(depth), .. } => Some(self.next_depth(depth)),
        }
    }

    fn next_depth(&self, depth: u32) -> Result<Next, &'static str> {
        let stats = &self.hunt.stats;
        let why = match stats.states {
            u64::MAX => "there are more states than 64 bits hold",
            _ => "too few depths were completed to tell",
        };
        let Guess { depth, states, within } = self.forecast.after(depth).ok_or(why)?;
        let is_early = self.hunt.stopped != Stop::Depth;
        let waiting = if is_early { stats.cutoff.states } else { 0 };
        // Successors on disk wait before it is known which are new: there may be more of them than states.
        let expanded = stats.states.saturating_sub(waiting).max(within / 4).max(1) as f64;
        let total = (within as f64 + states.0 as f64, within as f64 + states.1 as f64);
        let pace = self.first_seconds() / expanded;
        let held = stats.states.max(1) as f64;
        let memory = self.peak_memory.map(|peak| {
            let (rest, each) = (peak.saturating_sub(stats.store_bytes) as f64, stats.store_bytes as f64 / held);
            // Tables grow by doubling.
            ((rest + each * total.0 / 2.0) as u64, (rest + each * total.1 * 2.0) as u64)
        });
        Ok(Next { depth, states, seconds: (pace * total.0 * TIME_SLACK.0, pace * total.1 * TIME_SLACK.1), memory })
    }

    /// A command that goes on where this search ended: with more of what it lacked. None where it would only repeat it.
    pub(crate) fn go_on(&self) -> Option<String> {
        self.command_to_go_on().filter(|command| *command != self.reproduce())
    }

    fn command_to_go_on(&self) -> Option<String> {
        let args = self.args;
        if args.campaign.is_some() {
            return None;
        }
        let is_open = self.answers.iter().any(|answer| answer.verdict == Verdict::Inconclusive);
        let double = |number: u64| number.saturating_mul(2).to_string();
        let option = match (self.hunt.stopped, &self.hunt.coverage) {
            (Stop::Exhausted, Coverage::Complete) => return None,
            (Stop::Exhausted, Coverage::Hashed { .. }) if args.store == StoreKind::Bitstate => {
                ("--swarm", args.swarm.saturating_mul(2).max(4).to_string())
            }
            (Stop::Exhausted, Coverage::Hashed { .. }) => ("--store", "exact".to_owned()),
            (Stop::Exhausted, _) => {
                let seeds = self.slices.as_ref().map_or(1, |slices| slices.done);
                ("--seed", args.seed.wrapping_add(seeds).to_string())
            }
            (Stop::Goal, _) if args.keep_going => return None,
            (Stop::Goal, Coverage::Complete) if !is_open => return None,
            // Where every property that was asked about is decided, nothing is left to be found out.
            (Stop::Goal, _) if !is_open && (self.is_of_runs() || !args.property.is_empty()) => return None,
            (Stop::Goal, _) => ("--keep-going", String::new()),
            (Stop::Depth, _) => {
                let depth = args.max_depth.unwrap_or(0);
                let next = self.next().and_then(Result::ok).map_or(depth.saturating_mul(2).max(1), |next| next.depth);
                ("--max-depth", next.to_string())
            }
            (Stop::States, _) => {
                let states = args.max_states.unwrap_or(self.hunt.stats.states);
                ("--max-states", doubled(&args.given, "--max-states").unwrap_or_else(|| double(states)))
            }
            (Stop::Time, _) => ("--time", doubled(&args.given, "--time").unwrap_or_else(|| "1s".to_owned())),
            (Stop::Memory, _) => {
                let used = self.peak_memory.unwrap_or(1 << 30).div_ceil(1 << 20);
                ("--memory", doubled(&args.given, "--memory").unwrap_or_else(|| format!("{}M", double(used))))
            }
            (Stop::Disk, _) => {
                let used = self.hunt.stats.disk().map_or(1 << 30, |disk| disk.peak_bytes).div_ceil(1 << 20);
                ("--max-disk", doubled(&args.given, "--max-disk").unwrap_or_else(|| format!("{}M", double(used))))
            }
            (Stop::Interrupt, _) if args.checkpoint.is_none() => return None,
            (Stop::Interrupt, _) => ("", String::new()),
        };
        // A search that was kept goes on from there; it forgets the limits on time and states.
        if let (Some(folder), false) = (&args.checkpoint, matches!(self.hunt.stopped, Stop::Goal | Stop::Exhausted)) {
            let words = match option.0 {
                "--max-depth" | "--memory" | "--max-disk" => vec![option.0.to_owned(), option.1],
                _ => Vec::new(),
            };
            return Some(command_line("birk resume", &folder.display().to_string(), &words));
        }
        Some(command_line("birk check", &self.source.path, &with_option(&self.options(), option.0, &option.1)))
    }
}

/// The words of a command line with an option given another value.
fn with_option(words: &[String], option: &str, value: &str) -> Vec<String> {
    let mut words = words.to_vec();
    // A switch stands in one word with its value.
    words.retain(|word| !value.is_empty() || word.split('=').next() != Some(option));
    match words.iter().position(|word| word == option) {
        Some(place) => words[place + 1] = value.to_owned(),
        None if value.is_empty() => words.push(option.to_owned()),
        None => words.extend([option.to_owned(), value.to_owned()]),
    }
    words
}

/// Twice what an option was given, in the same unit: `10s` of `5s`, `2_000_000` of `1_000_000`.
fn doubled(words: &[String], option: &str) -> Option<String> {
    let value = words.get(words.iter().position(|word| word == option)? + 1)?;
    if let Ok(number) = value.replace('_', "").parse::<u64>() {
        let twice = number.saturating_mul(2);
        return Some(if value.contains('_') { grouped(twice).replace(',', "_") } else { twice.to_string() });
    }
    let split = value.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(value.len());
    let (number, unit) = value.split_at(split);
    Some(format!("{}{unit}", number.parse::<f64>().ok()? * 2.0))
}

/// Why a search ended, in words.
pub(crate) fn stopped(stop: Stop) -> &'static str {
    match stop {
        Stop::Exhausted => "the search ran to completion",
        Stop::Goal => "the search stopped at what it found",
        Stop::Time => "the time limit was reached",
        Stop::Memory => "the memory limit was reached",
        Stop::Disk => "the limit on files was reached",
        Stop::Depth => "the depth limit was reached",
        Stop::States => "the state limit was reached",
        Stop::Interrupt => "interrupted",
    }
}

//! What a search found, ready to be written for people or for programs.

pub(crate) mod chart;
mod covered;
pub(crate) mod diagram;
mod disk;
pub(crate) mod ending;
pub(crate) mod explained;
pub(crate) mod fold;
pub(crate) mod html;
pub(crate) mod human;
mod joint;
pub(crate) mod json;
pub(crate) mod plot;
pub(crate) mod sarif;
pub(crate) mod simulation;
pub(crate) mod statement;
mod statistics;
mod threads;
pub(crate) mod trace_table;
mod written;

use std::collections::{BTreeSet, HashMap};
use std::ops::Deref;

use birk_exec::Replayed;
use birk_ir::{Op, Program, Span, ThreadId, TransitionId};

use crate::cli::{CheckArgs, Fair};
use crate::numbers::{count, counted, grouped, grouped_digits};
use crate::source::Source;
use crate::terminal::{is_obeyed, visible};

/// What a check found, and what is needed to show it.
pub(crate) struct Report<'a> {
    pub(crate) found: &'a birk::Report,
    pub(crate) source: &'a Source,
    pub(crate) program: &'a Program,
    pub(crate) args: &'a CheckArgs,
    pub(crate) seconds: f64,
    pub(crate) peak_memory: Option<u64>,
}

impl Deref for Report<'_> {
    type Target = birk::Report;

    fn deref(&self) -> &birk::Report {
        self.found
    }
}

/// What no run of the search touched.
pub(crate) struct Unreached {
    pub(crate) transitions: Vec<TransitionId>,
    /// `thread.location`
    pub(crate) locations: Vec<String>,
}

impl Report<'_> {
    /// For each thread, which of its locations were entered.
    fn entered(&self) -> Vec<Vec<bool>> {
        let program = self.program;
        let mut entered: Vec<Vec<bool>> =
            program.threads.iter().map(|t| vec![false; program.kinds[t.kind].locations.len()]).collect();
        // What threads begin with is not chosen: their places are the same in all initial states.
        let initial = program.initial_state();
        for (t, entered) in entered.iter_mut().enumerate() {
            if let Some(location) = program.location_of(ThreadId::new(t), &initial) {
                entered[location.index()] = true;
            }
        }
        let numbers: HashMap<(usize, i64), usize> =
            program.threads.iter().enumerate().map(|(t, thread)| ((thread.kind, i64::from(thread.copy)), t)).collect();
        for (id, _) in self.hunt.fired.iter().enumerate().filter(|(_, fired)| **fired) {
            self.note_entered(id, &numbers, &mut entered);
        }
        if self.source.is_promela() {
            // The processes of a proctype have the same places: each is entered where one of them is.
            let declared = |thread: &birk_ir::Thread| program.kinds[thread.kind].span;
            let mut of_proctype: HashMap<Span, Vec<bool>> = HashMap::new();
            for (thread, own) in program.threads.iter().zip(&entered) {
                let all = of_proctype.entry(declared(thread)).or_insert_with(|| own.clone());
                all.iter_mut().zip(own).for_each(|(any, own)| *any |= own);
            }
            for (thread, own) in program.threads.iter().zip(&mut entered) {
                own.clone_from(&of_proctype[&declared(thread)]);
            }
        }
        entered
    }

    /// The properties of labels, which are checked only if they are named, where none was.
    pub(crate) fn unchecked(&self) -> Vec<&str> {
        let is_open = |property: &&birk_ir::Property| {
            let is_of_labels = matches!(property.kind, birk_ir::PropertyKind::Ltl(_)) && property.span.is_none();
            is_of_labels && !self.answers.iter().any(|answer| answer.property.name == property.name)
        };
        let open = self.program.properties.iter().filter(is_open).filter(|_| self.args.property.is_empty());
        open.map(|property| property.name.as_str()).collect()
    }

    /// The transitions never taken and the locations never entered.
    pub(crate) fn unreached(&self) -> Unreached {
        let program = self.program;
        if self.hunt.fired.is_empty() {
            return Unreached { transitions: Vec::new(), locations: Vec::new() };
        }
        let mut locations = Vec::new();
        let executed = self.executed();
        for (thread, entered) in program.threads.iter().zip(&self.entered()) {
            let kind = &program.kinds[thread.kind];
            if self.is_listed_before(thread.kind) {
                continue;
            }
            let name = if self.source.is_promela() { self.proctype(thread.kind) } else { thread.name.as_str() };
            let missed = kind.locations.iter().zip(entered).filter(|(_, entered)| !**entered);
            locations.extend(missed.map(|(location, _)| format!("{name}.{}", location.name)));
        }
        let is_executed = |id: usize| executed.contains(&program.transitions[id].span);
        let transitions = (0..program.transitions.len()).filter(|&id| !self.hunt.fired[id] && !is_executed(id));
        Unreached { transitions: transitions.map(TransitionId::new).collect(), locations }
    }

    /// Whether a process of the same proctype comes before: what is said of one is said of all.
    pub(crate) fn is_listed_before(&self, kind: usize) -> bool {
        let kinds = &self.program.kinds;
        self.source.is_promela() && kinds[..kind].iter().any(|other| other.span == kinds[kind].span)
    }

    fn proctype(&self, kind: usize) -> &str {
        self.program.kinds[kind].name.split('[').next().unwrap_or_default()
    }

    /// The statements of a Promela model that were executed, in whichever process, and whichever sequence that is one step: that
    /// some other process, or the same one outside of the sequence, did not take its own step there says nothing.
    pub(crate) fn executed(&self) -> BTreeSet<Span> {
        let taken = self.program.transitions.iter().zip(&self.hunt.fired).filter(|(_, fired)| **fired);
        let taken = taken.filter(|_| self.source.is_promela());
        taken.flat_map(|(transition, _)| transition.parts.iter().chain([&transition.span])).copied().collect()
    }

    /// A transition that was taken enters the locations its assignments to counters name; `numbers` are those of threads, by
    /// kind and copy.
    fn note_entered(&self, id: usize, numbers: &HashMap<(usize, i64), usize>, entered: &mut [Vec<bool>]) {
        let program = self.program;
        for op in &program.transitions[id].ops {
            let Op::Assign(place, value) = op else { continue };
            let Some(kind) = program.kinds.iter().position(|kind| kind.counter == place.variable) else { continue };
            let (Some(location), index) = (value.as_const(), place.index.as_ref()) else { continue };
            let meant: Vec<usize> = match index.and_then(|index| index.as_const()) {
                Some(copy) => numbers.get(&(kind, copy)).copied().into_iter().collect(),
                None => (0..entered.len()).filter(|&thread| program.threads[thread].kind == kind).collect(),
            };
            for thread in meant {
                if let Some(entered) = entered[thread].get_mut(location as usize) {
                    *entered = true;
                }
            }
        }
    }

    /// Why bounded model checking knows that it has looked far enough.
    pub(crate) fn induction(&self) -> Option<String> {
        let unrolled = self.hunt.stats.sat()?;
        let steps = |number: u32| count(u64::from(number), "step");
        if let Some(clauses) = unrolled.largest_invariant() {
            return Some(format!("by an inductive invariant of {}, checked again", count(clauses, "clause")));
        }
        Some(match unrolled.proved_at {
            Some(length) => format!("by induction over {}", steps(length)),
            None => format!("no execution has more than {}", steps(self.hunt.stats.max_depth)),
        })
    }

    /// How many states were reached, as people read it.
    pub(crate) fn states(&self) -> String {
        let full = self.states_text();
        let digits = full.replace(',', "");
        match digits.len() {
            0..=24 if self.is_of_orbits() => counted(&full, "representative"),
            0..=24 => counted(&full, "state"),
            long => format!("about {}.{}e{} states", &digits[..1], &digits[1..3], long - 1),
        }
    }

    /// How many states were reached, in full.
    pub(crate) fn states_text(&self) -> String {
        let stats = &self.hunt.stats;
        stats.bdd().map_or_else(|| grouped(stats.states), |sets| grouped_digits(&sets.states))
    }

    /// How many steps were taken from them, in full; unless nobody could count them.
    pub(crate) fn transitions_text(&self) -> Option<String> {
        let stats = &self.hunt.stats;
        match stats.bdd() {
            None => Some(grouped(stats.transitions)),
            Some(sets) => sets.transitions.as_deref().map(grouped_digits),
        }
    }

    /// The depth of the deepest state, where it is known.
    pub(crate) fn depth(&self) -> Option<u32> {
        let stats = &self.hunt.stats;
        stats.bdd().map_or(Some(stats.max_depth), |sets| sets.depth)
    }

    /// What searched: the engine, or, where only runs were asked about, the search for cycles.
    pub(crate) fn searched_with(&self) -> &'static str {
        match self.is_of_runs() {
            true if self.args.fairness == Fair::Strong => "scc",
            true if self.engine.liveness.is_some() => self.engine.name,
            true if self.args.threads.for_cycles() > 1 => "cndfs",
            true => "ndfs",
            false => self.engine.name,
        }
    }

    /// The command that repeats this search, whatever the environment and birk.toml say.
    pub(crate) fn reproduce(&self) -> String {
        let folder = self.args.campaign.iter().map(|folder| folder.display().to_string());
        let campaign = folder.flat_map(|folder| ["--campaign".to_owned(), folder]);
        let words: Vec<String> = self.options().into_iter().chain(campaign).collect();
        command_line("birk check", &self.source.path, &words)
    }

    /// The options that decided what was found. The engine is not among them where the search for cycles took its place; where
    /// the first of a portfolio decided alone, it is that one.
    pub(crate) fn options(&self) -> Vec<String> {
        let mut words = self.args.given.clone();
        let usual = self.args.engines.usual().name;
        let Some(place) = words.iter().position(|word| word == "--search") else { return words };
        let is_first = words[place + 1] == usual || words[place + 1] == self.engine.name;
        if self.is_of_runs() && self.engine.liveness.is_none() && is_first && self.joint.is_none() {
            words.drain(place..place + 2);
        } else if words[place + 1] == usual && self.joint.is_none() {
            words[place + 1] = self.engine.name.to_owned();
        }
        words
    }
}

/// A command with its model and options, as a shell reads it.
pub(crate) fn command_line(command: &str, model: &str, options: &[String]) -> String {
    let words = std::iter::once(model).chain(options.iter().map(String::as_str));
    words.fold(command.to_owned(), |line, word| line + " " + &quoted(word))
}

/// A word as a shell reads it back.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,@%+".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else if word.contains(|c: char| is_obeyed(c) || "\n\t".contains(c)) {
        let escaped = word.replace('\\', r"\\").replace('\'', r"\'").replace('\n', r"\n").replace('\t', r"\t");
        format!("$'{}'", visible(&escaped))
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// The steps of a run as `replay` reads them; those that repeat stand in parentheses.
pub(crate) fn ordinals_text(run: &Replayed) -> String {
    let text = |ordinals: &[u32]| ordinals.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
    let steps = match run.loop_start {
        None => text(&run.ordinals),
        Some(start) => format!("{}({})", text(&run.ordinals[..start]), text(&run.ordinals[start..])),
    };
    format!("{}:{steps}", run.initial)
}

//! `--search auto`: breadth-first search, and, where that cannot finish within the budget, a hunt by other engines in what is
//! left of it.
//!
//! Every second turn goes to a quick member: one that starts at once, and finds most of what is found early. Within both groups
//! UCB1 selects the member (Auer, Cesa-Bianchi, Fischer: *Finite-time Analysis of the Multiarmed Bandit Problem*, Machine Learning
//! 47, 2002): the one with the largest mean gain plus √(2 ln n / nᵢ), where nᵢ counts its turns and n those of its group. A turn
//! gains 1 if it decided a property, covered one further than was known, or took a transition that nobody had taken; otherwise 0.
//! Each turn of a member is twice as large as the one before, so that what is repeated never costs more than what is new. Turns are
//! measured in states or in steps; the clock ends only those that take too long.
//!
//! Nothing is believed that a member does not claim for itself: of each property the best answer counts, with the coverage of
//! the search that gave it.

mod members;
mod night;
mod standing;
mod turns;

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use birk_engine::{Engine, Hunt, Progress};
use birk_ir::{Coverage, Program, Property, Stop, Verdict};
use birk_search::forecast::Forecast;
use birk_search::store::memory::give_back;

use super::findings::nothing;
use crate::error::Error;
use crate::model::Native;
use crate::options::{Options, Store};
use crate::process_memory::Memory;
use crate::report::{Accept, Answer, Joint, MemberFigures, Report, ShownTrace};
use crate::watch::Watch;
use members::{MEMBERS, Member};
pub use night::{Earlier, Kept, night};
use standing::{Standing, State, best};
use turns::{Share, Turn};

/// The engine that begins.
pub(super) const FIRST: &str = "bfs";
/// How often the user hears of a hunt, and may end it.
const PERIOD: Duration = Duration::from_millis(20);
/// Whoever was told to end has so much time to hear it; nobody waits longer.
const PATIENCE: Duration = Duration::from_millis(200);
/// A trace that is found is shortened for as long as it took to find it, but at least so long.
const SHORTENING: Duration = Duration::from_millis(300);
/// Whoever waits so long for it hears that there is a violation.
const WORTH_TELLING: Duration = Duration::from_secs(1);
/// Shorter traces are not worth it.
const SHORT: usize = 20;
/// Engines recurse no deeper than this, in bytes.
const STACK: usize = 16 << 20;
/// A turn takes no more than this part of the remaining time; that of a quick member may take more.
const PART: u32 = 8;
const QUICK_PART: u32 = 3;
/// The position of earlier runs among the members: behind all that hunt.
const EARLIER: usize = MEMBERS.len();

/// Checks by breadth-first search, and by others where that does not finish.
pub(super) fn check(program: &Program, options: &Options, watch: &mut dyn Watch) -> Result<Report, Error> {
    let alone = Options { engine: FIRST.to_owned(), ..options.clone() };
    if !may_hunt(options) {
        return super::check(program, &alone, watch);
    }
    let began = Instant::now();
    let native = Arc::default();
    let mut share = Share::new(program, options, &native, watch, began);
    let report = super::search(program, &alone, &native, &mut share)?;
    let (goes_on, early) = (share.is_used_up || report.hunt.stopped == Stop::Memory, share.end()?);
    let is_violated = !options.keep_going && report.verdict() == Verdict::Violated;
    let is_decided = report.answers.iter().all(|answer| answer.verdict != Verdict::Inconclusive);
    let mut portfolio = match early {
        _ if is_decided => return Ok(report),
        None if is_violated || !goes_on => return Ok(report),
        None => Portfolio::new(program, options, &native, began)?,
        Some(portfolio) => portfolio,
    };
    portfolio.adopt(report, watch);
    portfolio.hear_the_silent(watch)?;
    // Whoever ends the search ends the check, and hears what others have found by then.
    if !goes_on || portfolio.violation().is_some() {
        return Ok(portfolio.report());
    }
    // Where there is no limit on time, the others get as much as the first took.
    let until = watch.deadline().unwrap_or_else(|| Instant::now() + began.elapsed());
    portfolio.hunt(until, options.memory.search, false, watch)?;
    watch.end();
    Ok(portfolio.report())
}

/// Whether the options leave it open how to search: a limit on depth or states, a store or a file is about one search.
fn may_hunt(options: &Options) -> bool {
    let is_limited = options.max_depth.is_some() || options.max_states.is_some();
    let is_kept = options.is_saved || options.has_folder || options.is_continued || options.certificate;
    !is_limited && !is_kept && options.store == Store::Exact && !matches!(options.accept, Accept::Depth(_))
}

/// A hunt.
struct Portfolio<'a> {
    /// Shared with the turns, which nobody waits for.
    program: Arc<Program>,
    native: Arc<Native>,
    options: &'a Options,
    /// When the check began, and to which depth its first search has visited every state.
    first: Instant,
    depth: u32,
    report: Report,
    /// The positions of traces that are not known to be shortest.
    not_shortest: BTreeSet<usize>,
    standing: Vec<Standing>,
    channel: (Sender<Turned>, Receiver<Turned>),
    /// How long it has hunted, since when it does now, until when, and with how much memory.
    hunted: Duration,
    began: Instant,
    until: Instant,
    memory: u64,
    /// Only the first member hunts.
    is_brief: bool,
    /// How many turns there are at one time.
    slots: usize,
    /// Until when a long trace may be shortened, once there is one.
    shortened_until: Option<Instant>,
}

/// A turn that is over.
struct Turned {
    member: usize,
    options: Options,
    result: Result<Report, Error>,
    seconds: f64,
    /// It was the whole search, not cut off by the limits of the turn.
    is_whole: bool,
}

impl<'a> Portfolio<'a> {
    /// Nothing is known yet, in a check that began then.
    fn new(program: &Program, options: &'a Options, native: &Arc<Native>, first: Instant) -> Result<Self, Error> {
        let standing = MEMBERS.iter().map(|member| Standing {
            member,
            figures: MemberFigures { name: member.name, ..MemberFigures::default() },
            gains: 0,
            state: State::Waits,
            started: Instant::now(),
            until: Instant::now(),
            beacon: Arc::default(),
            memory: 0,
            fits: 0,
            is_cut: false,
        });
        let alone = Options { engine: FIRST.to_owned(), ..options.clone() };
        let properties = super::validate(program, &alone)?;
        let now = Instant::now();
        Ok(Self {
            program: Arc::new(program.clone()),
            native: Arc::clone(native),
            options,
            first,
            depth: 0,
            not_shortest: BTreeSet::new(),
            report: unsearched(&properties, program.transitions.len(), *alone.engine()?),
            standing: standing.collect(),
            channel: mpsc::channel(),
            hunted: Duration::ZERO,
            began: now,
            until: now,
            memory: 0,
            is_brief: false,
            slots: 1,
            shortened_until: None,
        })
    }

    /// Gives turns until everything is decided, nobody is left, or the time is up; those at one time share the memory. In a brief hunt
    /// only the first member has turns.
    fn hunt(&mut self, until: Instant, memory: u64, is_brief: bool, watch: &mut dyn Watch) -> Result<(), Error> {
        (self.began, self.until, self.memory) = (Instant::now(), until, memory);
        self.is_brief = is_brief;
        let first = self.report.engine;
        self.slots = self.options.threads_of(&first);
        give_back();
        let ended = self.give_turns(watch);
        self.standing.iter().for_each(|one| one.beacon.end());
        ended?;
        self.wait_for_the_rest(watch)?;
        self.hunted += self.began.elapsed();
        Ok(())
    }

    fn give_turns(&mut self, watch: &mut dyn Watch) -> Result<(), Error> {
        loop {
            self.pass_over_the_silent();
            while self.running() < self.slots && self.has_room() && !self.is_over() {
                let Some(member) = self.next() else { break };
                self.start(member)?;
                self.tell_who(watch);
            }
            if self.running() == 0 && self.has_room() {
                return Ok(());
            }
            match self.channel.1.recv_timeout(PERIOD.min(self.until.saturating_duration_since(Instant::now()))) {
                Ok(turned) => self.take(turned, watch)?,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
            }
            if self.is_over() {
                return Ok(());
            }
            match watch.progress(&self.progress()) {
                ControlFlow::Continue(()) if Instant::now() < self.until => {}
                ControlFlow::Continue(()) => return Ok(()),
                ControlFlow::Break(Stop::Memory) => self.relieve(),
                ControlFlow::Break(stop) => {
                    self.report.hunt.stopped = stop;
                    return Ok(());
                }
            }
        }
    }

    /// What those have found who were not waited for, and have ended since.
    fn hear_the_silent(&mut self, watch: &mut dyn Watch) -> Result<(), Error> {
        while let Ok(turned) = self.channel.1.try_recv() {
            self.take(turned, watch)?;
        }
        Ok(())
    }

    /// Who computes and does not hear that its turn is over leaves its place to others, until it does.
    fn pass_over_the_silent(&mut self) {
        let now = Instant::now();
        for one in self.standing.iter_mut().filter(|one| one.state == State::Runs && now > one.until + PATIENCE) {
            one.state = State::Silent;
        }
    }

    /// What a turn may have: who does not hear that its turn is over still has its memory. What turns do not count needs more than half.
    fn room(&self) -> u64 {
        let all = self.memory / 8 * 3;
        let held: u64 = self.standing.iter().map(|one| one.memory).sum();
        all.saturating_sub(held).min(all / self.slots as u64)
    }

    /// Whether that is enough for a turn.
    fn has_room(&self) -> bool {
        self.room() >= self.memory / 16
    }

    fn running(&self) -> usize {
        self.standing.iter().filter(|one| one.state == State::Runs).count()
    }

    /// What the first search found takes the place of nothing; what is known better stays.
    fn adopt(&mut self, report: Report, watch: &mut dyn Watch) {
        let known = std::mem::replace(&mut self.report, report);
        let were_not_shortest = std::mem::take(&mut self.not_shortest);
        if !self.report.is_shortest {
            self.not_shortest = (0..self.report.traces.len()).collect();
        }
        if let Coverage::Depth(depth) = self.report.hunt.coverage {
            self.depth = depth + 1;
        }
        self.standing.iter_mut().for_each(|one| one.figures.decided.clear());
        for answer in &known.answers {
            let Some(member) = answer.by.filter(|&member| member != EARLIER) else { continue };
            let hunt = Hunt { fired: known.hunt.fired.clone(), ..self.report.hunt.clone() };
            let is_shortest = answer.trace.is_none_or(|trace| !were_not_shortest.contains(&trace));
            let found = Report { answers: vec![answer.clone()], hunt, is_shortest, ..known.clone() };
            self.learn(member, found, watch);
        }
    }

    /// Whether a violation was found that ends the check: its answer.
    fn violation(&self) -> Option<&Answer> {
        let mut violated = self.report.answers.iter().filter(|answer| answer.verdict == Verdict::Violated);
        violated.next().filter(|_| !self.options.keep_going)
    }

    /// Those who were told to end do so before the report, unless one of them computes and does not hear it.
    fn wait_for_the_rest(&mut self, watch: &mut dyn Watch) -> Result<(), Error> {
        let until = Instant::now() + PATIENCE;
        while self.running() > 0 {
            match self.channel.1.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(turned) => self.take(turned, watch)?,
                Err(_) => return Ok(()),
            }
        }
        Ok(())
    }

    /// The member that gets the next turn: alternately a quick one and another, as long as both wait; in a brief hunt, the first.
    fn next(&self) -> Option<usize> {
        let turns =
            |is_quick| self.standing.iter().filter(move |one| one.member.is_quick == is_quick).map(Standing::turns);
        let is_quick = turns(true).sum::<u32>() <= turns(false).sum();
        let waits = |is_quick| {
            let all = self.standing.iter().enumerate();
            all.filter(move |(_, one)| one.state == State::Waits && one.member.is_quick == is_quick)
        };
        match self.is_brief {
            true => (self.standing[0].state == State::Waits).then_some(0),
            false => best(waits(is_quick)).or_else(|| best(waits(!is_quick))),
        }
    }

    /// Begins a turn; a member that cannot take part leaves.
    fn start(&mut self, member: usize) -> Result<(), Error> {
        let open: Vec<&Property> = self.wanted().map(|answer| &answer.property).collect();
        let standing = &self.standing[member];
        let budget = self.room();
        let memory = Memory { search: budget, asked: Some(budget), ..self.options.memory };
        let base = Options { memory, ..self.options.clone() };
        let Some((options, limit)) = standing.member.turn(&base, &open, standing.figures.pace) else {
            self.standing[member].state = State::Left;
            return Ok(());
        };
        let standing = &mut self.standing[member];
        standing.figures.words = standing.member.words(&options);
        (standing.state, standing.started, standing.memory) = (State::Runs, Instant::now(), budget);
        let (program, native) = (Arc::clone(&self.program), Arc::clone(&self.native));
        let (sender, beacon) = (self.channel.0.clone(), Arc::clone(&standing.beacon));
        // No turn takes more than a part of what is left, unless that is very little.
        let left = self.until.saturating_duration_since(Instant::now());
        let part = if standing.member.is_quick { QUICK_PART } else { PART };
        let until = self.until.min(Instant::now() + limit.min(PATIENCE.max(left / part)));
        standing.until = until;
        beacon.begin();
        let spawned = thread::Builder::new().stack_size(STACK).spawn(move || {
            let began = Instant::now();
            let mut turn = Turn::new(&beacon, until);
            let result = catch_unwind(AssertUnwindSafe(|| super::search(&program, &options, &native, &mut turn)));
            let result = result.unwrap_or_else(|_| Err(Error::Internal(format!("{} panicked", options.engine))));
            let is_whole = result.as_ref().is_ok_and(|report| report.hunt.stopped == Stop::Exhausted);
            // Who gave up waiting does not hear it.
            let _ = sender.send(Turned { member, options, result, seconds: began.elapsed().as_secs_f64(), is_whole });
        });
        spawned.map(|_| ()).map_err(|error| Error::Refused(format!("a search cannot begin: {error}")))
    }

    /// What became of a turn.
    fn take(&mut self, turned: Turned, watch: &mut dyn Watch) -> Result<(), Error> {
        let Turned { member, options, result, seconds, is_whole } = turned;
        self.standing[member].memory = 0;
        let is_dismissed = self.standing[member].state == State::Left;
        let is_violated = self.violation().is_some();
        let figures = &mut self.standing[member].figures;
        figures.seconds += seconds;
        let found = match result {
            Ok(found) => found,
            Err(Error::Refused(reason)) => {
                figures.reason = Some(reason);
                self.standing[member].state = State::Left;
                return Ok(());
            }
            // What was replayed is so, whatever becomes of the others.
            Err(error) if is_violated => {
                watch.note(&format!("{}: {error}", figures.name));
                figures.reason = Some("it failed".to_owned());
                self.standing[member].state = State::Left;
                return Ok(());
            }
            Err(error) => return Err(error),
        };
        figures.states = figures.states.saturating_add(found.hunt.stats.states);
        figures.depth = figures.depth.max(found.hunt.stats.max_depth);
        self.standing[member].count_turn(found.hunt.stopped);
        if let Some(slices) = &found.slices {
            self.standing[member].take_slices(slices, options);
        }
        let Member { draws, one_by_one, .. } = self.standing[member].member;
        let gains = self.learn(member, found, watch);
        give_back();
        let standing = &mut self.standing[member];
        standing.gains += u32::from(gains);
        standing.state = if is_dismissed || (is_whole && !draws && !one_by_one) { State::Left } else { State::Waits };
        Ok(())
    }

    /// Takes up what a turn found; whether any of it is new.
    fn learn(&mut self, member: usize, found: Report, watch: &mut dyn Watch) -> bool {
        let Report { answers, traces, hunt, is_shortest, .. } = found;
        let fired = self.report.hunt.fired.iter_mut().zip(&hunt.fired);
        let mut is_new = false;
        for (known, taken) in fired {
            is_new |= taken & !*known;
            *known |= taken;
        }
        for answer in answers {
            let place = |known: &Answer| known.property.name == answer.property.name;
            let Some(index) = self.report.answers.iter().position(place) else { continue };
            let known = &self.report.answers[index];
            let is_decided = answer.verdict != Verdict::Inconclusive;
            let shown = answer.trace.and_then(|trace| traces.get(trace));
            let is_better = match known.verdict {
                Verdict::Inconclusive => is_decided || is_further(&answer, known),
                verdict => verdict == answer.verdict && self.is_shown_better(shown, known),
            };
            if !is_better {
                continue;
            }
            is_new = true;
            let (was_open, after) = (known.verdict == Verdict::Inconclusive, known.after.or(answer.after));
            let trace = shown.map(|shown| {
                let trace = self.show(index, shown);
                self.not_shortest.remove(&trace);
                self.not_shortest.extend((!is_shortest).then_some(trace));
                self.report.is_shortest = self.not_shortest.is_empty();
                trace
            });
            let is_found = answer.verdict == Verdict::Violated && was_open && after.is_none();
            let after = if is_found { Some(self.first.elapsed()) } else { after };
            self.report.answers[index] = Answer { trace, by: Some(member), after, ..answer };
            if is_found {
                self.tell_found(&self.report.answers[index], watch);
            }
            if is_decided {
                self.standing.iter_mut().for_each(|one| one.figures.decided.retain(|other| *other != index));
                self.standing[member].figures.decided.push(index);
            }
            let answer = &self.report.answers[index];
            watch.decided(index, answer, trace.map(|trace| &self.report.traces[trace]));
        }
        is_new
    }

    /// Keeps the trace of an answer, in the place of a longer one.
    fn show(&mut self, index: usize, shown: &ShownTrace) -> usize {
        let shown = ShownTrace::new(index, shown.run.clone());
        if let Some(place) = self.report.answers[index].trace {
            self.report.traces[place] = shown;
            return place;
        }
        self.report.traces.push(shown);
        self.report.traces.len() - 1
    }

    /// Whether a trace is better than what an answer has: shorter, or the first of a violation.
    fn is_shown_better(&self, shown: Option<&ShownTrace>, known: &Answer) -> bool {
        let Some(shown) = shown else { return false };
        known.trace.map_or(known.verdict == Verdict::Violated, |trace| {
            shown.run.steps.len() < self.report.traces[trace].run.steps.len()
        })
    }

    /// The properties that are not decided.
    fn open(&self) -> impl Iterator<Item = &Answer> {
        self.report.answers.iter().filter(|answer| answer.verdict == Verdict::Inconclusive)
    }

    /// Those, and such with a long trace as long as that may be shortened.
    fn wanted(&self) -> impl Iterator<Item = &Answer> {
        let is_wanted = |answer: &&Answer| answer.verdict == Verdict::Inconclusive || self.is_long(answer);
        self.report.answers.iter().filter(is_wanted)
    }

    /// Whether the trace of an answer is more than twice as long as a shortest one may be, for all that is known.
    fn is_long(&self, answer: &Answer) -> bool {
        let Some(trace) = answer.trace.filter(|trace| self.not_shortest.contains(trace)) else { return false };
        let trace = &self.report.traces[trace].run;
        let is_longer = trace.steps.len() > SHORT.max(2 * self.depth as usize);
        is_longer && trace.loop_start.is_none()
    }

    /// Says that there is a violation, where the check goes on for a while.
    fn tell_found(&self, answer: &Answer, watch: &mut dyn Watch) {
        let after = answer.after.unwrap_or_default();
        if after >= WORTH_TELLING && self.is_long(answer) && !self.options.keep_going {
            let steps = answer.trace.map_or(0, |trace| self.report.traces[trace].run.steps.len());
            watch.note(&format!(
                "`{}` is violated ({steps} steps, found after {:.1} s); the search continues for a shorter trace; Ctrl-C ends it",
                answer.property.name,
                after.as_secs_f64(),
            ));
        }
    }

    /// Whether nothing more is to be found out.
    fn is_over(&mut self) -> bool {
        let is_violated = |answer: &Answer| answer.verdict == Verdict::Violated;
        let is_ended = !self.options.keep_going && self.report.answers.iter().any(is_violated);
        if !is_ended && self.open().next().is_some() {
            return false;
        }
        if !self.report.answers.iter().any(|answer| self.is_long(answer)) {
            return true;
        }
        let now = Instant::now();
        now >= *self.shortened_until.get_or_insert(now + (now - self.began).max(SHORTENING))
    }

    /// The process needs too much memory: the turns end, and from now on there is one at a time. Who needs too much alone leaves.
    fn relieve(&mut self) {
        let (now, is_alone) = (Instant::now(), self.slots == 1);
        let mut running = self.standing.iter_mut().filter(|one| one.state == State::Runs && one.until > now).peekable();
        // Otherwise they were told before, and have not heard it yet.
        if running.peek().is_some() {
            self.slots = 1;
        }
        for one in running {
            one.beacon.end();
            one.until = now;
            if is_alone {
                one.state = State::Left;
                one.figures.reason = Some("it needed too much memory".to_owned());
            }
        }
    }

    fn tell_who(&self, watch: &mut dyn Watch) {
        let running = self.standing.iter().filter(|one| one.state == State::Runs);
        let names: Vec<&str> = running.map(|one| one.member.name).collect();
        watch.hunting(&names.join(" and "));
    }

    /// How all stand together: what each turn has counted, and what those before it had.
    fn progress(&self) -> Progress {
        let mut all = Progress { states: self.report.hunt.stats.states, ..Progress::default() };
        for standing in &self.standing {
            all.states = all.states.saturating_add(standing.figures.states);
            if standing.state == State::Runs {
                let now = standing.beacon.seen();
                all.states = all.states.saturating_add(now.states);
                all.depth = all.depth.max(now.depth);
                all.frontier = all.frontier.saturating_add(now.frontier);
                all.bytes = all.bytes.saturating_add(now.bytes);
            }
        }
        all
    }

    /// The end.
    fn report(mut self) -> Report {
        let is_violated = !self.options.keep_going && self.report.verdict() == Verdict::Violated;
        if is_violated || self.open().next().is_none() {
            self.report.hunt.stopped = Stop::Goal;
        }
        for one in self.standing.iter_mut().filter(|one| matches!(one.state, State::Runs | State::Silent)) {
            one.figures.turns += 1;
            one.figures.pace.turns += 1;
            one.figures.seconds += one.started.elapsed().as_secs_f64();
            one.figures.reason = Some("its last turn did not end in time".to_owned());
        }
        let mut members: Vec<MemberFigures> = self.standing.into_iter().map(Standing::end).collect();
        let by_earlier = self.report.answers.iter().enumerate().filter(|(_, answer)| answer.by == Some(EARLIER));
        let decided: Vec<usize> = by_earlier.map(|(index, _)| index).collect();
        if !decided.is_empty() {
            members.push(MemberFigures { name: "an earlier run", decided, ..MemberFigures::default() });
        }
        self.report.joint = Some(Joint { members, seconds: self.hunted.as_secs_f64() });
        self.report
    }
}

/// The report of a check that has not begun.
fn unsearched(properties: &[Property], transitions: usize, engine: Engine) -> Report {
    Report {
        answers: properties.iter().map(Answer::open).collect(),
        traces: Vec::new(),
        hunt: Hunt { coverage: Coverage::Partial(0), ..nothing(transitions) },
        forecast: Forecast::default(),
        assumed: None,
        slices: None,
        is_reduced: false,
        dead: Vec::new(),
        symmetry: None,
        joint: None,
        certificate: None,
        engine,
        threads: 1,
        is_shortest: true,
    }
}

/// Whether an answer that does not decide says more than another.
fn is_further(answer: &Answer, known: &Answer) -> bool {
    match (&answer.coverage, &known.coverage) {
        (_, Some(Coverage::Complete)) | (None, _) => false,
        (_, None) => true,
        (Some(Coverage::Depth(depth)), Some(Coverage::Depth(known))) => depth > known,
        (Some(Coverage::Depth(_)), Some(_)) => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests;

//! IC3: a proof by an inductive invariant that is found clause by clause.
//!
//! After Bradley, "SAT-Based Model Checking without Unrolling" (2011), with the obligations of Eén, Mishchenko and Brayton, "Efficient
//! Implementation of Property Directed Reachability" (2011). Frame i is a set of clauses that all states within i steps satisfy; it
//! is kept as the cubes that it excludes, each at the last frame that excludes it. A state of the last frame that is a goal must be
//! excluded, or is reached: it is made a cube of states that are all goals, and a predecessor of it within the frame before becomes
//! an obligation in turn, until the initial state is met, or none is left. What is excluded is made as large as can be. When two
//! frames are equal, their clauses are true initially and stay true with every step: no goal can be reached. That is checked again
//! by another solver before it is said.

use std::cell::OnceCell;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

use birk_engine::{EngineStats, Hunt, Job, Model as _, Observer, SatStats, Stats, Successors};
use birk_exec::{Automorphisms, Interpreter};
use birk_ir::interval::{Interval, reachable};
use birk_ir::{BitIs, Coverage, Expr, Goal, Invariant, Outcome, Program, Stop};

use super::circuit::{Literal, Watch};
use super::pairs::never_together;
use super::stuck::depends_on_choices;
use super::unrolling::{Way, number};
use crate::attempt::{Attempt, Broken};
use crate::bitvector::Algebra as _;
use crate::trace::{Taken, after, found};
use asked::Asked;
pub(super) use cube::bits;
use cube::{Bit, Cube, cubes, literal, solution};
use images::Images;
use initial::Initial;

mod asked;
mod checked;
mod cube;
mod images;
mod initial;
#[cfg(test)]
pub(super) mod tests;

/// Solvers are made anew when they have so many times the variables that they had at first.
const RENEWAL: u64 = 3;
/// So many states in a row are excluded for the sake of one condition less.
const MOST_STATES: u32 = 3;
/// That is tried so often, and so often more for each time when it was worthwhile.
const FIRST_ATTEMPTS: u64 = 100;
const ATTEMPTS: u64 = 3;

/// Hunts the goals; a program that cannot be encoded is refused with the reason.
pub(crate) fn hunt(program: &Program, goals: &[Goal], job: &Job, observer: &mut dyn Observer) -> Result<Hunt, String> {
    strengthen(program, goals, &[], job, observer)
}

/// Hunts the goals where it is known that no reachable state satisfies some conditions, and no step leads to one that does: an
/// invariant that is found is one together with that.
pub fn strengthen(
    program: &Program,
    goals: &[Goal],
    excluded: &[&Expr],
    job: &Job,
    observer: &mut dyn Observer,
) -> Result<Hunt, String> {
    if let Some(reason) = program.interpreted_only() {
        return Err(reason.to_owned());
    }
    let goals: Vec<&Expr> = goals.iter().map(|Goal::State(bad)| bad).collect();
    let mut asks_stuck = false;
    goals.iter().for_each(|goal| goal.walk(&mut |part| asks_stuck |= *part == Expr::Stuck));
    if let Some(transition) = program.transitions.iter().find(|t| asks_stuck && depends_on_choices(t)) {
        let thread = &program.thread(transition.thread).name;
        return Err(format!(
            "whether a step of {thread} is possible depends on what it chooses, so that IC3 cannot say where nothing is possible; \
             use --search bmc, or leave out what asks for deadlocks (--deadlock off)"
        ));
    }
    watched(program, &goals, excluded, job, &Watch::new(observer, job.limits.memory))
}

fn watched<'o>(
    program: &Program,
    goals: &[&Expr],
    excluded: &[&Expr],
    job: &Job,
    watch: &'o Watch<'o>,
) -> Result<Hunt, String> {
    let ranges = reachable(program).variables;
    let symmetries: Vec<Option<Automorphisms>> = goals.iter().map(|goal| symmetries(program, goal, excluded)).collect();
    let pairs = OnceCell::new();
    let mut search = Search { program, excluded, job, watch, proofs: Vec::new() };
    match search.run(goals, &symmetries, &pairs, &ranges) {
        Ok(stopped) | Err(Broken::Stopped(stopped)) => Ok(search.finish(goals.len(), &ranges, stopped)),
        Err(Broken::Refused(reason)) => Err(reason),
        Err(Broken::Undecided(_)) => unreachable!("a frame never asks for the value of a bit"),
    }
}

/// What permutations of names neither the program nor the goal notices, nor what is known already. Where no thread has another one
/// like it, they are not looked for.
fn symmetries(program: &Program, goal: &Expr, excluded: &[&Expr]) -> Option<Automorphisms> {
    let asked: Vec<Goal> = [goal].into_iter().chain(excluded.iter().copied()).cloned().map(Goal::State).collect();
    program.kinds.iter().any(|kind| kind.copies > 1).then(|| Automorphisms::new(program, &asked))
}

struct Search<'s, 'o, 'p> {
    program: &'p Program,
    /// What no reachable state satisfies.
    excluded: &'p [&'p Expr],
    job: &'s Job,
    watch: &'o Watch<'o>,
    /// One for each goal that was begun with.
    proofs: Vec<Proof<'s, 'o, 'p>>,
}

impl<'s, 'o: 's, 'p> Search<'s, 'o, 'p> {
    /// One frame more for each goal in turn, until all are decided.
    fn run(
        &mut self,
        goals: &'s [&'p Expr],
        symmetries: &'s [Option<Automorphisms>],
        pairs: &'s OnceCell<Vec<Cube>>,
        ranges: &'s [Interval],
    ) -> Attempt<Stop> {
        for (goal, symmetries) in goals.iter().zip(symmetries) {
            let sought = (self.program, *goal, self.excluded);
            self.proofs.push(Proof::new(sought, symmetries.as_ref(), pairs, ranges, self.watch)?);
        }
        loop {
            self.look()?;
            for (goal, &sought) in goals.iter().enumerate() {
                if !matches!(self.proofs[goal].answer, Answer::Open) {
                    continue;
                }
                self.proofs[goal].advance(self.watch)?;
                if let Answer::Invariant(cubes) = &self.proofs[goal].answer {
                    let cubes = self.needed(sought, cubes, ranges)?;
                    assert!(self.is_invariant(sought, &cubes, ranges)?, "a proof was not one");
                    self.proofs[goal].answer = Answer::Invariant(cubes);
                }
                if matches!(self.proofs[goal].answer, Answer::Found(_)) && self.job.stop_at.contains(goal) {
                    return Ok(Stop::Goal);
                }
            }
            let mut open = self.proofs.iter().filter(|proof| matches!(proof.answer, Answer::Open));
            match open.next() {
                None if self.proofs.iter().any(|proof| matches!(proof.answer, Answer::Found(_))) => {
                    return Ok(Stop::Goal);
                }
                None => return Ok(Stop::Exhausted),
                Some(proof) if proof.covered >= Some(self.job.limits.depth) => return Ok(Stop::Depth),
                Some(_) => {}
            }
        }
    }

    fn look(&self) -> Attempt<()> {
        let bytes = self.proofs.iter().map(Proof::bytes).sum();
        self.watch.bytes.set(bytes);
        if bytes > self.job.limits.memory {
            return Err(Broken::Stopped(Stop::Memory));
        }
        self.watch.look()
    }

    fn finish(self, goals: usize, ranges: &[Interval], stopped: Stop) -> Hunt {
        // Up to its last frame there is no way to a goal that is open.
        let open = self.proofs.iter().filter(|proof| matches!(proof.answer, Answer::Open));
        let covered = match open.map(|proof| proof.covered).min() {
            Some(covered) => covered.filter(|_| self.proofs.len() == goals),
            None => self.proofs.iter().filter_map(|proof| proof.covered).min(),
        };
        let coverage = match (stopped, covered) {
            (Stop::Exhausted, _) => Coverage::Complete,
            (_, Some(depth)) => Coverage::Depth(depth),
            (_, None) => Coverage::Partial(0),
        };
        let outcome = |proof: &Proof<'_, '_, '_>| match &proof.answer {
            Answer::Found(outcome) => outcome.clone(),
            Answer::Invariant(_) => Outcome::Absent,
            Answer::Open => Outcome::Inconclusive,
        };
        let mut outcomes: Vec<Outcome> = self.proofs.iter().map(outcome).collect();
        outcomes.resize(goals, Outcome::Inconclusive);
        let size = |proof: &Proof<'_, '_, '_>| [proof.asked.step.size(), proof.asked.here.size()];
        let sizes = self.proofs.iter().flat_map(size).fold((0, 0), |sum, size| (sum.0 + size.0, sum.1 + size.1));
        let invariants = self.proofs.iter().map(|proof| proof.invariant(ranges)).collect();
        let unrolled = SatStats { variables: sizes.0, clauses: sizes.1, proved_at: None, invariants };
        let depth = self.proofs.iter().filter_map(|proof| proof.covered).max();
        let stats = Stats {
            max_depth: depth.unwrap_or(0),
            store_bytes: self.watch.bytes.get(),
            engine: EngineStats::Sat(unrolled),
            ..Stats::default()
        };
        Hunt { outcomes, coverage, stopped, stats, fired: Vec::new() }
    }
}

/// What is known of a goal.
enum Answer {
    Open,
    Found(Outcome),
    /// It cannot be reached: these cubes are excluded forever, and all goals are among them.
    Invariant(Vec<Cube>),
}

/// A cube that must be excluded from a frame, because it leads to a goal.
struct Obligation {
    cube: Cube,
    /// The obligation that all its states lead to with one step, and that step; none if they are goals.
    next: Option<(usize, Taken)>,
}

struct Proof<'s, 'o, 'p> {
    program: &'p Program,
    sought: &'s Expr,
    excluded: &'p [&'p Expr],
    ranges: &'s [Interval],
    watch: &'o Watch<'o>,
    /// What no reachable state is in, to begin with: pairs of values, once they have been looked for.
    known: &'s [Cube],
    pairs: &'s OnceCell<Vec<Cube>>,
    /// Which bit of which variable each bit of a state is.
    free: Vec<Bit>,
    images: Images<'s>,
    initial: Initial,
    asked: Asked<'o>,
    /// For each frame, the cubes that it and those before it exclude; the first are the initial states.
    frames: Vec<Vec<Cube>>,
    /// Up to so many steps there is no goal.
    covered: Option<u32>,
    answer: Answer,
    /// How often a bit was of use.
    activity: Vec<u32>,
    /// How often states were excluded for the sake of a condition less, and how often that was worthwhile.
    attempts: u64,
    worthwhile: u64,
    /// How many obligations were looked at.
    looked_at: usize,
}

impl<'s, 'o, 'p> Proof<'s, 'o, 'p> {
    fn new(
        (program, sought, excluded): (&'p Program, &'s Expr, &'p [&'p Expr]),
        symmetries: Option<&'s Automorphisms>,
        pairs: &'s OnceCell<Vec<Cube>>,
        ranges: &'s [Interval],
        watch: &'o Watch<'o>,
    ) -> Attempt<Self> {
        let free = bits(program, ranges);
        let images = Images::new(symmetries, &free, ranges);
        let initial = Initial::new(program, &free);
        let asked = Asked::new((program, sought, excluded), ranges, &free, &initial, watch)?;
        let activity = vec![0; free.len()];
        let frames = vec![Vec::new()];
        let answer = Answer::Open;
        Ok(Self {
            program,
            sought,
            excluded,
            ranges,
            watch,
            known: &[],
            pairs,
            free,
            images,
            initial,
            asked,
            frames,
            covered: None,
            answer,
            activity,
            attempts: 0,
            worthwhile: 0,
            looked_at: 0,
        })
    }

    fn bytes(&self) -> u64 {
        self.asked.step.bytes() + self.asked.here.bytes()
    }

    /// New solvers that know what is excluded, where most variables of those that were asked until now are of no use any more.
    fn renew(&mut self) -> Attempt<()> {
        if self.asked.variables() < self.asked.least * RENEWAL {
            return Ok(());
        }
        let sought = (self.program, self.sought, self.excluded);
        self.asked = Asked::new(sought, self.ranges, &self.free, &self.initial, self.watch)?;
        self.known.iter().for_each(|cube| self.asked.exclude(cube, 0));
        while self.asked.counts.len() < self.frames.len() {
            self.asked.add_frame();
        }
        for (frame, cubes) in self.frames.iter().enumerate().skip(1) {
            cubes.iter().for_each(|cube| self.asked.exclude(cube, frame));
        }
        self.asked.least = self.asked.variables();
        Ok(())
    }

    /// From now on no state has two values together that no reachable state has. Looked for only by
    /// a proof that has looked at as many obligations as a state has bits: a short one has no use for them.
    fn learn_pairs(&mut self) {
        let found = || match never_together(self.program, self.ranges, self.watch) {
            Ok(pairs) => cubes(&pairs, &self.free),
            Err(_) => Vec::new(),
        };
        self.known = self.pairs.get_or_init(found);
        self.known.iter().for_each(|cube| self.asked.exclude(cube, 0));
    }

    /// One frame more: either a goal is reached, or the last frame excludes them all; then clauses are carried forward.
    fn advance(&mut self, watch: &Watch<'_>) -> Attempt<()> {
        let last = self.frames.len() - 1;
        watch.depth.set(last as u32);
        while let Some(state) = self.goal_within(last)? {
            let cube = self.widened_goal(&state)?;
            if let Some(found) = self.block(cube, last)? {
                self.answer = Answer::Found(found);
                return Ok(());
            }
        }
        self.covered = Some(last as u32);
        self.frames.push(Vec::new());
        self.asked.add_frame();
        for frame in 1..=last {
            for cube in std::mem::take(&mut self.frames[frame]) {
                let assumed =
                    self.assumed(frame, 0, &cube.iter().map(|&bit| literal(&self.asked.then, bit)).collect::<Vec<_>>());
                if self.asked.step.solve(&assumed, None)? == Some(false) {
                    self.exclude(cube, frame + 1);
                } else {
                    self.frames[frame].push(cube);
                }
            }
            if self.frames[frame].is_empty() {
                let found = self.frames[frame + 1..].iter().flatten().chain(self.known);
                self.answer = Answer::Invariant(found.cloned().collect());
                return Ok(());
            }
        }
        Ok(())
    }

    /// A goal in a frame, if there is one.
    fn goal_within(&self, frame: usize) -> Attempt<Option<Cube>> {
        let assumed = self.assumed(frame, 1, &[self.asked.goal]);
        let found = self.asked.here.solve(&assumed, None)?.expect("without a limit the solver finds out");
        Ok(found.then(|| solution(&self.asked.here, &self.asked.state)))
    }

    /// That a state is in a frame, and something else.
    fn assumed(&self, frame: usize, side: usize, also: &[Literal]) -> Vec<Literal> {
        let (circuit, bits) = match side {
            0 => (&self.asked.step, &self.asked.now),
            _ => (&self.asked.here, &self.asked.state),
        };
        let mut assumed: Vec<Literal> =
            self.asked.counts[frame.max(1).min(self.asked.counts.len())..].iter().map(|count| count[side]).collect();
        if frame == 0 {
            // Nothing depends on the other bits.
            circuit.tell(also);
            circuit.tell(&[self.asked.begins[side]]);
            assumed.extend(self.initial.fixed().map(|bit| literal(bits, bit)).filter(|&bit| circuit.is_told(bit)));
            assumed.push(self.asked.begins[side]);
        }
        assumed.extend_from_slice(also);
        assumed.retain(|literal| literal != self.asked.step.yes());
        assumed
    }

    /// A cube around a state that is a goal, all of whose states are.
    fn widened_goal(&self, state: &Cube) -> Attempt<Cube> {
        let assumed: Vec<Literal> = state.iter().map(|&bit| literal(&self.asked.state, bit)).collect();
        let is_other = self.asked.here.solve(&[&assumed[..], &[self.asked.goal.negated()]].concat(), None)?;
        assert_eq!(is_other, Some(false), "a state is a goal or not");
        Ok(state.iter().copied().filter(|&bit| self.asked.here.failed(literal(&self.asked.state, bit))).collect())
    }

    /// A cube around a state from which a step leads into another cube, and a step that leads there from all states of that cube.
    fn widened(&self, state: &Cube, end: usize, into: &Cube) -> Attempt<(Cube, Taken)> {
        let way = &self.asked.ends[end];
        let assumed: Vec<Literal> = state.iter().map(|&bit| literal(&self.asked.state, bit)).collect();
        let there = into.iter().map(|&bit| literal(&way.then, bit));
        let leads: Vec<Literal> = assumed.iter().copied().chain([way.path]).chain(there.clone()).collect();
        assert_eq!(self.asked.here.solve(&leads, None)?, Some(true), "the step that was found leads there");
        let is_set = |bit: Literal| if self.asked.here.value(bit) { bit } else { bit.negated() };
        let chosen: Vec<Literal> = way.chosen.iter().flat_map(|value| &value.bits).map(|&bit| is_set(bit)).collect();
        let numbers = way.chosen.iter().map(|value| number(&self.asked.here, value)).collect();
        let taken = Taken { transition: self.asked.taken[end].transition, chosen: numbers };
        // Now and then it does not.
        let fails = self.asked.here.free();
        let clause: Vec<Literal> =
            [fails.negated(), way.path.negated()].into_iter().chain(there.map(Literal::negated)).collect();
        self.asked.here.require(&clause);
        let is_other = self.asked.here.solve(&[&assumed[..], &chosen[..], &[fails]].concat(), None)?;
        assert_eq!(is_other, Some(false), "where a step leads is decided by the state and what is chosen");
        let core =
            state.iter().copied().filter(|&bit| self.asked.here.failed(literal(&self.asked.state, bit))).collect();
        self.asked.here.require(&[fails.negated()]);
        Ok((core, taken))
    }

    /// Excludes a cube from a frame, and whatever leads to it from those before; a trace if the initial state is met.
    fn block(&mut self, cube: Cube, frame: usize) -> Attempt<Option<Outcome>> {
        let mut obligations = vec![Obligation { cube, next: None }];
        let mut open = BinaryHeap::from([Reverse((frame, 0))]);
        while let Some(Reverse((at, number))) = open.pop() {
            self.asked.step.look()?;
            self.renew()?;
            self.looked_at += 1;
            if self.looked_at == self.free.len() {
                self.learn_pairs();
            }
            let cube = obligations[number].cube.clone();
            if self.initial.is_in(&cube) {
                return Ok(Some(self.trace(&obligations, number)));
            }
            if at == 0 {
                continue;
            }
            if self.is_excluded(&cube, at)? {
                continue;
            }
            match self.predecessor(&cube, at - 1)? {
                Ok(core) => {
                    let wide = self.generalised(core, at - 1, 0)?;
                    let last = self.last_without_predecessor(&wide, at)?;
                    wide.iter().for_each(|&(bit, _)| self.activity[bit] += 1);
                    self.exclude(wide.clone(), last);
                    self.exclude_images(wide, last)?;
                    if last < frame {
                        open.push(Reverse((last + 1, number)));
                    }
                }
                Err((state, end)) => {
                    let (before, taken) = self.widened(&state, end, &cube)?;
                    obligations.push(Obligation { cube: before, next: Some((number, taken)) });
                    open.push(Reverse((at - 1, obligations.len() - 1)));
                    open.push(Reverse((at, number)));
                }
            }
        }
        Ok(None)
    }

    /// Whether a frame excludes a cube as it is.
    fn is_excluded(&self, cube: &Cube, frame: usize) -> Attempt<bool> {
        let bits: Vec<Literal> = cube.iter().map(|&bit| literal(&self.asked.state, bit)).collect();
        Ok(self.asked.here.solve(&self.assumed(frame, 1, &bits), None)? == Some(false))
    }

    /// A step from a frame into a cube, from outside of the cube: the state and the way to end it. If there is none: what of the
    /// cube was needed for that, which does not include an initial state.
    fn predecessor(&self, cube: &Cube, frame: usize) -> Attempt<Result<Cube, (Cube, usize)>> {
        let outside = self.asked.step.free();
        let clause = cube.iter().map(|&bit| literal(&self.asked.now, bit).negated());
        self.asked.step.require(&[outside.negated()].into_iter().chain(clause).collect::<Vec<_>>());
        let there = cube.iter().map(|&bit| literal(&self.asked.then, bit));
        let assumed = self.assumed(frame, 0, &there.chain([outside]).collect::<Vec<_>>());
        let is_found = self.asked.step.solve(&assumed, None)?.expect("without a limit the solver finds out");
        let answer = if is_found {
            let is_taken = |way: &Way| self.asked.step.value(way.is_taken);
            let end = self.asked.taken.iter().position(is_taken).expect("a step is taken");
            Err((solution(&self.asked.step, &self.asked.now), end))
        } else {
            let mut core: Cube =
                cube.iter().copied().filter(|&bit| self.asked.step.failed(literal(&self.asked.then, bit))).collect();
            if self.initial.is_in(&core) {
                core.extend(self.initial.apart(cube));
                core.sort_unstable();
                core.dedup();
            }
            Ok(core)
        };
        self.asked.step.require(&[outside.negated()]);
        Ok(answer)
    }

    /// A cube with fewer conditions, into which no step leads from a frame either: without whole elements first, then without bits.
    /// Those of little use go first.
    fn generalised(&mut self, mut cube: Cube, frame: usize, depth: u32) -> Attempt<Cube> {
        let mut order = cube.clone();
        order.sort_by_key(|&(bit, _)| self.activity[bit]);
        for by_element in [true, false] {
            for &(bit, _) in &order {
                let (variable, element, _) = self.free[bit];
                let is_left_out = |&(other, _): &(usize, bool)| {
                    let of = self.free[other];
                    other == bit || by_element && (of.0, of.1) == (variable, element)
                };
                let fewer: Cube = cube.iter().copied().filter(|other| !is_left_out(other)).collect();
                let left_out = cube.len() - fewer.len();
                if fewer.is_empty() || left_out <= usize::from(by_element) {
                    continue;
                }
                if let Some(core) = self.without_predecessor(&fewer, frame, depth)? {
                    cube = core;
                }
            }
        }
        Ok(cube)
    }

    /// A part of a cube into which no step leads from a frame, if there is one near. A state from which a step does lead there is
    /// excluded, too, if that is easily done (Hassan, Bradley and Somenzi, "Better Generalization in IC3", 2013).
    fn without_predecessor(&mut self, cube: &Cube, frame: usize, depth: u32) -> Attempt<Option<Cube>> {
        let mut excluded = 0;
        loop {
            if self.initial.is_in(cube) {
                return Ok(None);
            }
            let state = match self.predecessor(cube, frame)? {
                Ok(core) => {
                    self.worthwhile += u64::from(excluded > 0);
                    return Ok(Some(core));
                }
                Err((state, _)) => state,
            };
            let is_worthwhile = self.attempts < FIRST_ATTEMPTS + self.worthwhile * ATTEMPTS;
            let is_tried = depth == 0 && is_worthwhile && excluded < MOST_STATES && frame > 0;
            if !is_tried || self.initial.is_in(&state) {
                return Ok(None);
            }
            let Ok(core) = self.predecessor(&state, frame - 1)? else { return Ok(None) };
            self.attempts += u64::from(excluded == 0);
            excluded += 1;
            let wide = self.generalised(core, frame - 1, depth + 1)?;
            let last = self.last_without_predecessor(&wide, frame)?;
            self.exclude(wide, last);
        }
    }

    /// The last frame that can exclude a cube, which this one can.
    fn last_without_predecessor(&self, cube: &Cube, mut frame: usize) -> Attempt<usize> {
        while frame + 1 < self.frames.len() && self.predecessor(cube, frame)?.is_ok() {
            frame += 1;
        }
        Ok(frame)
    }

    /// From now on a frame and those before it exclude a cube. What it includes is not needed any more.
    fn exclude(&mut self, cube: Cube, frame: usize) {
        self.asked.exclude(&cube, frame);
        for cubes in &mut self.frames[1..=frame] {
            cubes.retain(|other| !cube.iter().all(|bit| other.contains(bit)));
        }
        self.frames[frame].push(cube);
    }

    /// The steps from an initial state through the obligations: in each cube, the same step leads from every state into the next.
    fn trace(&self, obligations: &[Obligation], first: usize) -> Outcome {
        let model = Interpreter::new(self.program, &[]);
        let mut initial = Successors::new(model.words());
        model.initial(&mut initial);
        let start = (0..initial.len()).find(|&at| self.is_within(initial.state(at), &obligations[first].cube));
        let mut states = vec![initial.state(start.expect("the cube includes an initial state")).to_vec()];
        let (mut at, mut steps) = (first, Vec::new());
        while let Some((next, step)) = &obligations[at].next {
            let state = after(&model, self.program, &states[states.len() - 1], step);
            assert!(self.is_within(&state, &obligations[*next].cube), "a step leads from each cube into the next");
            states.push(state);
            steps.push(step.clone());
            at = *next;
        }
        found(self.program, &states, &steps)
    }
}

impl Proof<'_, '_, '_> {
    /// What was proved, in terms of the program.
    fn invariant(&self, ranges: &[Interval]) -> Option<Invariant> {
        let Answer::Invariant(cubes) = &self.answer else { return None };
        let bit = |&(bit, is_set): &(usize, bool)| {
            let (variable, element, at) = self.free[bit];
            BitIs { variable, element, bit: at as u32, is_set }
        };
        let excluded = cubes.iter().map(|cube| cube.iter().map(bit).collect()).collect();
        Some(Invariant { bounds: ranges.to_vec(), excluded })
    }

    /// Whether a state satisfies the conditions of a cube.
    fn is_within(&self, state: &[u32], cube: &Cube) -> bool {
        let is_set = |bit: usize| {
            let (variable, element, at) = self.free[bit];
            self.program.layout.slot(variable).get(state, element) >> at & 1 == 1
        };
        cube.iter().all(|&(bit, expected)| is_set(bit) == expected)
    }
}

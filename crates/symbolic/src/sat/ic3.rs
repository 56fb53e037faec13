//! IC3: a proof by an inductive invariant that is found clause by clause.
//!
//! After Bradley, "SAT-Based Model Checking without Unrolling" (2011), with the obligations of Eén, Mishchenko and Brayton, "Efficient
//! Implementation of Property Directed Reachability" (2011). Frame i is a set of clauses that all states within i steps satisfy; it
//! is kept as the cubes that it excludes, each at the last frame that excludes it. A state of the last frame that is a goal must be
//! excluded, or is reached: it is made a cube of states that are all goals, and a predecessor of it within the frame before becomes
//! an obligation in turn, until the initial state is met, or none is left. What is excluded is made as large as can be. When two
//! frames are equal, their clauses are true initially and stay true with every step: no goal can be reached. That is checked again
//! by another solver before it is said.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use birk_engine::{EngineStats, Hunt, Job, Model as _, Observer, SatStats, Stats, Successors};
use birk_exec::Interpreter;
use birk_ir::interval::{Interval, reachable};
use birk_ir::{BitIs, Coverage, Expr, Goal, Invariant, Outcome, Program, Stop, VarId};

use super::circuit::{Circuit, Literal, Watch};
use super::stuck::depends_on_choices;
use super::unrolling::{self, End, Frame, Value};
use crate::attempt::{Attempt, Broken};
use crate::bitvector::{Algebra as _, width};
use crate::trace::{Taken, after, found};
use generalise::DEPTH;
use initial::Initial;

mod generalise;
mod initial;
#[cfg(test)]
mod tests;

/// A bit of an element of a variable.
type Bit = (VarId, u32, usize);
/// A conjunction of state bits: each by its number, and whether it is set.
type Cube = Vec<(usize, bool)>;

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
    let circuits: Vec<[Circuit<'_>; 2]> = goals.iter().map(|_| [Circuit::new(watch), Circuit::new(watch)]).collect();
    let mut search = Search { program, excluded, job, watch, proofs: Vec::new() };
    match search.run(goals, &circuits, &ranges) {
        Ok(stopped) | Err(Broken::Stopped(stopped)) => Ok(search.finish(goals.len(), &ranges, stopped)),
        Err(Broken::Refused(reason)) => Err(reason),
        Err(Broken::Undecided(_)) => unreachable!("a frame never asks for the value of a bit"),
    }
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
    fn run(&mut self, goals: &[&'p Expr], circuits: &'s [[Circuit<'o>; 2]], ranges: &'s [Interval]) -> Attempt<Stop> {
        for (goal, circuits) in goals.iter().zip(circuits) {
            self.proofs.push(Proof::new(self.program, goal, self.excluded, circuits, ranges)?);
        }
        loop {
            self.look()?;
            for (goal, &sought) in goals.iter().enumerate() {
                if !matches!(self.proofs[goal].answer, Answer::Open) {
                    continue;
                }
                self.proofs[goal].advance(self.watch)?;
                if let Answer::Invariant(cubes) = &self.proofs[goal].answer {
                    assert!(self.is_invariant(sought, cubes, ranges)?, "a proof was not one");
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

    /// Whether no step leads from outside of these cubes into one of them, and all goals are inside: asked of other solvers than
    /// those that found it. The initial states are outside.
    fn is_invariant(&self, goal: &Expr, cubes: &[Cube], ranges: &[Interval]) -> Attempt<bool> {
        let free = bits(self.program, ranges);
        let literals = |frame: &Frame<'_, '_, '_>| -> Vec<Literal> {
            free.iter().map(|&(variable, element, at)| frame.bit(variable, element, at)).collect()
        };
        let outside = |circuit: &Circuit<'_>, bits: &[Literal]| {
            for cube in cubes {
                circuit.require(&cube.iter().map(|&bit| literal(bits, bit).negated()).collect::<Vec<_>>());
            }
        };
        let (step, here) = (Circuit::new(self.watch), Circuit::new(self.watch));
        let state = Frame::any(&here, self.program, ranges)?;
        outside(&here, &literals(&state));
        state.exclude(self.excluded)?;
        let is_goal = state.goal(goal)?;
        if here.solve(&[is_goal], None)? != Some(false) {
            return Ok(false);
        }
        let now = Frame::any(&step, self.program, ranges)?;
        outside(&step, &literals(&now));
        now.exclude(self.excluded)?;
        let then = literals(&now.next()?);
        for cube in cubes {
            let inside: Vec<Literal> = cube.iter().map(|&bit| literal(&then, bit)).collect();
            if step.solve(&inside, None)? != Some(false) {
                return Ok(false);
            }
        }
        let first = Initial::new(self.program, &free);
        Ok(!cubes.iter().any(|cube| first.is_in(cube)))
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
        let size = |proof: &Proof<'_, '_, '_>| [proof.step.size(), proof.here.size()];
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

/// A step that was found: where it begins, the way in which it ends, and what it chooses.
struct Found {
    state: Cube,
    end: usize,
    taken: Taken,
}

struct Proof<'s, 'o, 'p> {
    program: &'p Program,
    /// Which bit of which variable each bit of a state is.
    free: Vec<Bit>,
    /// A state and a step from it.
    step: &'s Circuit<'o>,
    now: Vec<Literal>,
    then: Vec<Literal>,
    /// The ways in which a step can end.
    taken: Vec<unrolling::Way>,
    frame: Frame<'s, 'o, 'p>,
    /// A state, whether it is a goal, and where each way to end a step would lead.
    here: &'s Circuit<'o>,
    state: Vec<Literal>,
    goal: Literal,
    ends: Vec<Way>,
    initial: Initial,
    /// What makes a state an initial one where there is a choice, in both circuits.
    begins: [Literal; 2],
    /// For each frame, the cubes that it and those before it exclude; the first are the initial states.
    frames: Vec<Vec<Cube>>,
    /// For each frame, what makes its clauses count, in both circuits.
    counts: Vec<[Literal; 2]>,
    /// Up to so many steps there is no goal.
    covered: Option<u32>,
    answer: Answer,
    /// How often a bit was of use.
    activity: Vec<u32>,
}

/// A way in which a step can end.
struct Way {
    path: Literal,
    /// The bits of the state that it leads to.
    then: Vec<Literal>,
    /// What was chosen.
    chosen: Vec<Value>,
}

impl<'s, 'o, 'p> Proof<'s, 'o, 'p> {
    fn new(
        program: &'p Program,
        goal: &Expr,
        excluded: &[&Expr],
        [step, here]: &'s [Circuit<'o>; 2],
        ranges: &'s [Interval],
    ) -> Attempt<Self> {
        let frame = Frame::any(step, program, ranges)?;
        frame.exclude(excluded)?;
        let (next, taken) = frame.step()?;
        let free = bits(program, ranges);
        let literals = |frame: &Frame<'_, '_, '_>| -> Vec<Literal> {
            free.iter().map(|&(variable, element, at)| frame.bit(variable, element, at)).collect()
        };
        let state = Frame::any(here, program, ranges)?;
        state.exclude(excluded)?;
        let way = |end: End| {
            let then = free.iter().map(|&(variable, element, at)| match end.written.get(&(variable, element)) {
                Some(value) => *value.bit(at),
                None => state.bit(variable, element, at),
            });
            Way { path: end.path, then: then.collect(), chosen: end.chosen }
        };
        let ends = state.all_ends()?.into_iter().map(way).collect();
        let initial = Initial::new(program, &free);
        let now = literals(&frame);
        let begins = [initial.begins(step, &now), initial.begins(here, &literals(&state))];
        Ok(Self {
            program,
            now,
            then: literals(&next),
            taken,
            frame,
            goal: state.goal(goal)?,
            state: literals(&state),
            ends,
            initial,
            begins,
            activity: vec![0; free.len()],
            free,
            step,
            here,
            frames: vec![Vec::new()],
            counts: vec![[*step.yes(), *here.yes()]],
            covered: None,
            answer: Answer::Open,
        })
    }

    fn bytes(&self) -> u64 {
        self.step.bytes() + self.here.bytes()
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
        self.counts.push([self.step.free(), self.here.free()]);
        for frame in 1..=last {
            for cube in std::mem::take(&mut self.frames[frame]) {
                let assumed = self.assumed(
                    frame,
                    0,
                    self.step,
                    &cube.iter().map(|&bit| literal(&self.then, bit)).collect::<Vec<_>>(),
                );
                if self.step.solve(&assumed, None)? == Some(false) {
                    self.exclude(cube, frame + 1);
                } else {
                    self.frames[frame].push(cube);
                }
            }
            if self.frames[frame].is_empty() {
                self.answer = Answer::Invariant(self.frames[frame + 1..].concat());
                return Ok(());
            }
        }
        Ok(())
    }

    /// A goal in a frame, if there is one.
    fn goal_within(&self, frame: usize) -> Attempt<Option<Cube>> {
        let assumed = self.assumed(frame, 1, self.here, &[self.goal]);
        let found = self.here.solve(&assumed, None)?.expect("without a limit the solver finds out");
        Ok(found.then(|| solution(self.here, &self.state)))
    }

    /// That a state is in a frame, and something else.
    fn assumed(&self, frame: usize, side: usize, circuit: &Circuit<'o>, also: &[Literal]) -> Vec<Literal> {
        let bits = if side == 0 { &self.now } else { &self.state };
        let mut assumed: Vec<Literal> =
            self.counts[frame.max(1).min(self.counts.len())..].iter().map(|count| count[side]).collect();
        if frame == 0 {
            assumed.extend(self.initial.fixed().map(|bit| literal(bits, bit)));
            assumed.push(self.begins[side]);
        }
        assumed.extend_from_slice(also);
        assumed.retain(|literal| literal != circuit.yes());
        assumed
    }

    /// A cube around a state that is a goal, all of whose states are.
    fn widened_goal(&self, state: &Cube) -> Attempt<Cube> {
        let assumed: Vec<Literal> = state.iter().map(|&bit| literal(&self.state, bit)).collect();
        let is_other = self.here.solve(&[&assumed[..], &[self.goal.negated()]].concat(), None)?;
        assert_eq!(is_other, Some(false), "a state is a goal or not");
        Ok(state.iter().copied().filter(|&bit| self.here.failed(literal(&self.state, bit))).collect())
    }

    /// A cube around a state from which a step leads into another cube, from all of whose states the same step does.
    fn widened(&self, Found { state, end, taken }: &Found, into: &Cube) -> Attempt<Cube> {
        let way = &self.ends[*end];
        let assumed: Vec<Literal> = state.iter().map(|&bit| literal(&self.state, bit)).collect();
        let there = into.iter().map(|&bit| literal(&way.then, bit));
        let bits = way
            .chosen
            .iter()
            .zip(&taken.chosen)
            .flat_map(|(value, chosen)| value.bits.iter().zip(0..).map(move |of| (of, chosen)));
        let chosen: Vec<Literal> =
            bits.map(|((&bit, at), chosen)| if chosen >> at & 1 == 1 { bit } else { bit.negated() }).collect();
        // Now and then it does not.
        let fails = self.here.free();
        let clause: Vec<Literal> =
            [fails.negated(), way.path.negated()].into_iter().chain(there.map(Literal::negated)).collect();
        self.here.require(&clause);
        let is_other = self.here.solve(&[&assumed[..], &chosen[..], &[fails]].concat(), None)?;
        assert_eq!(is_other, Some(false), "where a step leads is decided by the state and what is chosen");
        let core = state.iter().copied().filter(|&bit| self.here.failed(literal(&self.state, bit))).collect();
        self.here.require(&[fails.negated()]);
        Ok(core)
    }

    /// Excludes a cube from a frame, and whatever leads to it from those before; a trace if the initial state is met.
    fn block(&mut self, cube: Cube, frame: usize) -> Attempt<Option<Outcome>> {
        let mut obligations = vec![Obligation { cube, next: None }];
        let mut open = BinaryHeap::from([Reverse((frame, 0))]);
        while let Some(Reverse((at, number))) = open.pop() {
            self.step.look()?;
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
                    let wide = self.generalised(core, at - 1, DEPTH)?;
                    let last = self.exclude_far(wide, at)?;
                    if last < frame {
                        open.push(Reverse((last + 1, number)));
                    }
                }
                Err(found) => {
                    let before = self.widened(&found, &cube)?;
                    obligations.push(Obligation { cube: before, next: Some((number, found.taken)) });
                    open.push(Reverse((at - 1, obligations.len() - 1)));
                    open.push(Reverse((at, number)));
                }
            }
        }
        Ok(None)
    }

    /// Excludes a cube from a frame that can exclude it, and from as many behind it as can, too; the last of them.
    fn exclude_far(&mut self, cube: Cube, frame: usize) -> Attempt<usize> {
        let mut last = frame;
        while last + 1 < self.frames.len() && self.predecessor(&cube, last)?.is_ok() {
            last += 1;
        }
        cube.iter().for_each(|&(bit, _)| self.activity[bit] += 1);
        self.exclude(cube, last);
        Ok(last)
    }

    /// Whether a frame excludes a cube as it is.
    fn is_excluded(&self, cube: &Cube, frame: usize) -> Attempt<bool> {
        if self.frames[frame..].iter().flatten().any(|other| other.iter().all(|bit| cube.binary_search(bit).is_ok())) {
            return Ok(true);
        }
        let bits: Vec<Literal> = cube.iter().map(|&bit| literal(&self.state, bit)).collect();
        Ok(self.here.solve(&self.assumed(frame, 1, self.here, &bits), None)? == Some(false))
    }

    /// A step from a frame into a cube, from outside of the cube. If there is none: what of the
    /// cube was needed for that, which does not include an initial state.
    fn predecessor(&self, cube: &Cube, frame: usize) -> Attempt<Result<Cube, Found>> {
        let outside = self.step.free();
        let clause = cube.iter().map(|&bit| literal(&self.now, bit).negated());
        self.step.require(&[outside.negated()].into_iter().chain(clause).collect::<Vec<_>>());
        let there = cube.iter().map(|&bit| literal(&self.then, bit));
        let assumed = self.assumed(frame, 0, self.step, &there.chain([outside]).collect::<Vec<_>>());
        let is_found = self.step.solve(&assumed, None)?.expect("without a limit the solver finds out");
        let answer = if is_found {
            let (end, taken) = self.frame.taken(&self.taken);
            Err(Found { state: solution(self.step, &self.now), end, taken })
        } else {
            let mut core: Cube =
                cube.iter().copied().filter(|&bit| self.step.failed(literal(&self.then, bit))).collect();
            if self.initial.is_in(&core) {
                core.extend(self.initial.apart(cube));
                core.sort_unstable();
                core.dedup();
            }
            Ok(core)
        };
        self.step.require(&[outside.negated()]);
        Ok(answer)
    }

    /// From now on a frame and those before it exclude a cube. What it includes is not needed any more.
    fn exclude(&mut self, cube: Cube, frame: usize) {
        let of = |bits: &[Literal], count: Literal| -> Vec<Literal> {
            [count.negated()].into_iter().chain(cube.iter().map(|&bit| literal(bits, bit).negated())).collect()
        };
        let [in_step, in_here] = self.counts[frame];
        self.step.require(&of(&self.now, in_step));
        self.here.require(&of(&self.state, in_here));
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

/// The bits of a state that are not always the same.
pub(super) fn bits(program: &Program, ranges: &[Interval]) -> Vec<Bit> {
    let mut bits = Vec::new();
    for (id, (variable, &(lo, hi))) in
        program.variables.iter().zip(ranges).enumerate().filter(|(_, (_, (lo, hi)))| lo < hi)
    {
        let width = width(lo, hi) - usize::from(lo >= 0 || hi < 0);
        for element in 0..variable.len() {
            bits.extend((0..width).map(|at| (VarId::new(id), element, at)));
        }
    }
    bits
}

fn literal(bits: &[Literal], (bit, is_set): (usize, bool)) -> Literal {
    if is_set { bits[bit] } else { bits[bit].negated() }
}

/// The state in the solution that was found last.
fn solution(circuit: &Circuit<'_>, bits: &[Literal]) -> Cube {
    bits.iter().enumerate().map(|(bit, &literal)| (bit, circuit.value(literal))).collect()
}

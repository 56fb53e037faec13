//! How far a goal is, at least: an estimate inferred from the goal and from what the transitions write.
//!
//! After Reffel and Edelkamp, "Error Detection with Directed Symbolic Model Checking" (1999): an estimate of depth k is
//! refined k times. A condition on one element is 0 steps away where it is true. Where it is not, some transition must
//! write one of its values: one step, and before that whatever that transition needs to be enabled and to write that
//! value, estimated at depth k - 1.
//!
//! ```text
//! Heu^k(a or b)   = the least
//! Heu^k(a and b)  = the greatest; the sum over parts that no transition can bring nearer together
//! Heu^k(x in W)   = 0 if x is in W; 1 if k = 0; else the least over v in W of Heu^k(x = v)
//! Heu^k(x = v)    = 0 if x is v; 1 if k = 0;
//!                   else 1 + the least over transitions t that can write v to x of Heu^(k-1)(what t needs for it)
//! ```
//!
//! What is too large to take apart is opaque: 0 where it is true, else 1. Every estimate is optimistic (never more than
//! the true distance) and consistent (a step lowers it by at most 1), because what a transition needs is never overstated. The
//! paper adds the estimates of parts whose modules differ; that is wrong (a module may be needed by both): parts are
//! added only if the sets of transitions that write anything of what they look at, at any depth, are disjoint. A deeper
//! estimate looks at more, so that fewer parts may be added; then the less deep one counts, too, if it is greater.

mod build;
pub mod text;

use birk_engine::{EngineOption, Kind, NEVER};
use birk_ir::{Expr, Goal, Program, VarId};

use crate::interpreter::Interpreter;
use build::Builder;

/// The option of engines that are directed by it.
pub const REFINE: EngineOption = EngineOption {
    name: "refine",
    kind: Kind::Number(0, u32::MAX as u64),
    default: None,
    help: "number of refinement rounds for the heuristic [default: automatic]",
    excludes: &[],
    keeps_shortest: true,
};

/// One element of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cell {
    /// The variable.
    pub variable: VarId,
    /// Its element, 0 for scalars.
    pub element: u32,
}

/// A part of an estimate; the parts it refers to stand before it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Part {
    /// The same in every state.
    Fixed(u32),
    /// 0 where the element has one of these values (ascending), else 1.
    Among(Cell, Vec<i64>),
    /// 0 where the element has this value, else 1 more than what must be before.
    Written(Cell, i64, usize),
    /// 0 where it is true, else 1.
    Opaque(Expr),
    /// The least of them.
    Least(Vec<usize>),
    /// The sum over the groups, of each the greatest.
    Sum(Vec<Vec<usize>>),
}

/// An estimate for one goal.
#[derive(Debug)]
pub struct Heuristic<'p> {
    program: &'p Program,
    interpreter: Interpreter<'p>,
    /// How often it was refined.
    depth: u32,
    parts: Vec<Part>,
}

/// More parts than this make an estimate too slow to be worth it.
const MAX_PARTS: usize = 4_000;
/// How deep an estimate is refined unasked: each time to the next of these depths.
const DEPTHS: [u32; 6] = [1, 2, 4, 8, 16, 32];

impl<'p> Heuristic<'p> {
    /// Refined `depth` times, or as often as is possible below that.
    pub fn new(program: &'p Program, goal: &Goal, depth: u32) -> Self {
        let Goal::State(condition) = goal;
        // Where several transitions are one step, counting transitions would be too much.
        if program.interpreted_only().is_some() {
            return Self::of(program, goal, None);
        }
        let mut builder = Builder::new(program, MAX_PARTS);
        let built = (0..=depth).rev().find_map(|depth| Some((depth, builder.build(condition, depth)?)));
        Self::of(program, goal, built)
    }

    /// Refined to the least of some depths that is best for the initial state.
    pub fn deepened(program: &'p Program, goal: &Goal) -> Self {
        let Goal::State(condition) = goal;
        if program.interpreted_only().is_some() {
            return Self::of(program, goal, None);
        }
        let initial = program.initial_state();
        let mut scratch = Vec::new();
        let mut builder = Builder::new(program, MAX_PARTS);
        let mut best = Self::of(program, goal, builder.build(condition, 0).map(|parts| (0, parts)));
        let mut estimate = best.steps(&initial, &mut scratch);
        for depth in DEPTHS {
            let Some(parts) = builder.build(condition, depth) else { break };
            let next = Self::of(program, goal, Some((depth, parts)));
            let refined = next.steps(&initial, &mut scratch);
            if refined > estimate {
                (best, estimate) = (next, refined);
            }
        }
        best
    }

    /// Without parts, nothing is known: 0 steps.
    fn of(program: &'p Program, goal: &Goal, built: Option<(u32, Vec<Part>)>) -> Self {
        let (depth, parts) = built.unwrap_or((0, vec![Part::Fixed(0)]));
        Self { program, interpreter: Interpreter::new(program, std::slice::from_ref(goal)), depth, parts }
    }

    /// How often it was refined.
    pub fn depth(&self) -> u32 {
        self.depth
    }

    /// Its parts; the last is the whole.
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// The same to be changed, by those who test what notices.
    pub fn parts_mut(&mut self) -> &mut [Part] {
        &mut self.parts
    }

    /// A lower bound on the steps from a state, in which no check failed, to the goal, apart from whether it is there: the
    /// caller knows that best.
    pub fn steps(&self, state: &[u32], scratch: &mut Vec<u32>) -> u32 {
        scratch.clear();
        scratch.resize(self.parts.len(), UNKNOWN);
        self.value(self.parts.len() - 1, state, scratch)
    }

    fn value(&self, part: usize, state: &[u32], known: &mut [u32]) -> u32 {
        if known[part] != UNKNOWN {
            return known[part];
        }
        let read = |cell: &Cell| self.program.layout.slot(cell.variable).get(state, cell.element);
        let value = match &self.parts[part] {
            Part::Fixed(value) => *value,
            Part::Among(cell, values) => u32::from(values.binary_search(&read(cell)).is_err()),
            Part::Written(cell, value, _) if read(cell) == *value => 0,
            Part::Written(_, _, before) => self.value(*before, state, known).saturating_add(1),
            Part::Opaque(condition) => u32::from(self.interpreter.value(condition, state) == 0),
            Part::Least(parts) => {
                let mut least = NEVER;
                for &part in parts {
                    least = least.min(self.value(part, state, known));
                    if least == 0 {
                        break;
                    }
                }
                least
            }
            Part::Sum(groups) => {
                let greatest = |group: &Vec<usize>, known: &mut [u32]| {
                    group.iter().map(|&part| self.value(part, state, known)).max().unwrap_or(0)
                };
                groups.iter().fold(0, |sum: u32, group| sum.saturating_add(greatest(group, known)))
            }
        };
        known[part] = value;
        value
    }
}

/// No estimate: one less than `NEVER`.
const UNKNOWN: u32 = u32::MAX - 1;

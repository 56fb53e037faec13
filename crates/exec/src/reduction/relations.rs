//! The static relations between transitions: which accord, and which are necessary to make a condition true.

use birk_ir::{Expr, Goal, Program};

use super::condition::{Atoms, Test, Tree};
use super::footprint::{Footprint, Range, Walk, meet};
use super::sets::{members, set};
use crate::rewrite::Rewriter;

/// More transitions take too long to compare.
const MOST_TRANSITIONS: usize = 4_000;
/// More nodes are not folded.
const MOST_NODES: usize = 2_000;

/// Answers, where reading and writing say nothing: what it does not know it need not say.
pub trait Oracle {
    /// Whether two transitions were proved to accord: wherever both are enabled, neither disables the other, both orders lead to
    /// the same states, and each fails after the other just where it fails before it.
    fn accord(&mut self, one: usize, other: usize) -> bool;

    /// Whether it was proved that a transition never makes a condition true that was false.
    fn never_enables(&mut self, transition: usize, condition: &Expr) -> bool;
}

/// Knows nothing.
#[derive(Clone, Copy, Debug)]
pub struct Syntactic;

impl Oracle for Syntactic {
    fn accord(&mut self, _: usize, _: usize) -> bool {
        false
    }

    fn never_enables(&mut self, _: usize, _: &Expr) -> bool {
        false
    }
}

/// What the choice of steps needs to know of a program and its goals. Sets of transitions are bits in words.
#[derive(Debug)]
pub struct Relations {
    /// Transitions, and words of a set of them.
    pub(super) transitions: usize,
    pub(super) words: usize,
    /// For each transition, those that do not accord with it.
    dependent: Vec<u64>,
    /// For each atom, those that may make it true.
    enabling: Vec<u64>,
    /// For each transition, those that may give it an outcome where that cannot be told apart.
    opaque: Vec<u64>,
    /// For each transition, those that it may help to enable.
    helped: Vec<u64>,
    pub(super) tests: Vec<Test>,
    /// For each transition, when it is enabled.
    pub(super) enabled: Vec<Tree>,
    /// When each goal is reached by a state that is not stuck.
    pub(super) goals: Vec<Tree>,
    /// Whether states that are stuck are goals.
    pub(super) wants_stuck: bool,
}

impl Relations {
    /// The relations of a program for some goals; an error says why there is no reduction.
    pub fn new(program: &Program, goals: &[Goal], oracle: &mut dyn Oracle) -> Result<Self, String> {
        let transitions = program.transitions.len();
        if transitions > MOST_TRANSITIONS {
            return Err(format!("it has {transitions} transitions, more than {MOST_TRANSITIONS}"));
        }
        let footprints: Vec<Footprint> = program.transitions.iter().map(|t| Footprint::new(program, t)).collect();
        let mut atoms = Atoms::default();
        let enabled = program.transitions.iter().zip(&footprints);
        let enabled: Vec<Tree> = enabled.map(|(t, footprint)| atoms.enabled(program, t, &footprint.before)).collect();
        let mut wants_stuck = false;
        let mut goal_trees = Vec::new();
        for Goal::State(goal) in goals {
            goal.walk(&mut |part| wants_stuck |= *part == Expr::Stuck);
            goal_trees.push(atoms.goal(goal).ok_or("a property is too large to be taken apart")?);
        }
        let words = transitions.div_ceil(64);
        let mut relations = Self {
            transitions,
            words,
            dependent: vec![0; transitions * words],
            enabling: vec![0; atoms.conditions.len() * words],
            opaque: vec![0; transitions * words],
            helped: vec![0; transitions * words],
            tests: atoms.conditions.iter().map(|condition| Test::new(program, condition)).collect(),
            enabled,
            goals: goal_trees,
            wants_stuck,
        };
        relations.compare(&footprints, oracle);
        for (atom, condition) in atoms.conditions.iter().enumerate() {
            let reads = reads_of(program, condition);
            for (transition, footprint) in footprints.iter().enumerate() {
                if may_enable(program, footprint, condition, &reads) && !oracle.never_enables(transition, condition) {
                    set(&mut relations.enabling[atom * words..], transition);
                }
            }
        }
        relations.turn_round();
        Ok(relations)
    }

    /// Notes for each transition which others have it among those that enable them.
    fn turn_round(&mut self) {
        for transition in 0..self.transitions {
            let mut enabling = vec![0; self.words];
            self.enabled[transition].each_leaf(&mut |leaf| {
                let more = leaf.map_or_else(|| self.opaque(transition), |atom| self.enabling(atom));
                enabling.iter_mut().zip(more).for_each(|(all, more)| *all |= more);
            });
            for helper in members(&enabling) {
                set(&mut self.helped[helper * self.words..], transition);
            }
        }
    }

    fn compare(&mut self, footprints: &[Footprint], oracle: &mut dyn Oracle) {
        for (one, first) in footprints.iter().enumerate() {
            for (other, second) in footprints.iter().enumerate().skip(one + 1) {
                if meet(&second.writes, &first.reads) {
                    set(&mut self.opaque[one * self.words..], other);
                }
                if meet(&first.writes, &second.reads) {
                    set(&mut self.opaque[other * self.words..], one);
                }
                let accord = first.excludes(second) || first.is_apart_from(second) || oracle.accord(one, other);
                if !accord {
                    set(&mut self.dependent[one * self.words..], other);
                    set(&mut self.dependent[other * self.words..], one);
                }
            }
        }
    }

    /// Those that do not accord with a transition.
    #[inline]
    pub(super) fn dependent(&self, transition: usize) -> &[u64] {
        &self.dependent[transition * self.words..][..self.words]
    }

    /// Those that a transition may help to enable.
    #[inline]
    pub(super) fn helped(&self, transition: usize) -> &[u64] {
        &self.helped[transition * self.words..][..self.words]
    }

    /// Those that may make an atom true.
    #[inline]
    pub(super) fn enabling(&self, atom: usize) -> &[u64] {
        &self.enabling[atom * self.words..][..self.words]
    }

    /// Those that may give a transition an outcome.
    #[inline]
    pub(super) fn opaque(&self, transition: usize) -> &[u64] {
        &self.opaque[transition * self.words..][..self.words]
    }
}

/// What a condition reads.
pub(super) fn reads_of(program: &Program, condition: &Expr) -> Vec<Range> {
    let mut reads = Vec::new();
    Walk::anywhere(program).reads(condition, &mut reads);
    reads
}

/// Whether a transition may make a condition true that was false, as far as its text says.
fn may_enable(program: &Program, footprint: &Footprint, condition: &Expr, reads: &[Range]) -> bool {
    let is_flag = |read: &Range| Some(read.variable) == program.fault;
    if reads.iter().any(is_flag) {
        return footprint.can_fail || meet(&footprint.writes, reads);
    }
    let folded = |known: &_| {
        let mut leaf = |leaf: &Expr| super::footprint::value_in(known, leaf);
        Rewriter { leaf: &mut leaf, budget: MOST_NODES }.rewrite(condition)
    };
    let was_true = || matches!(folded(&footprint.before), Some(Expr::Const(value)) if value != 0);
    let is_false = || folded(&footprint.after) == Some(Expr::FALSE);
    meet(&footprint.writes, reads) && !was_true() && !is_false()
}

//! The static relations between transitions: which accord, and which are necessary to make a condition true.

use birk_ir::{Expr, Goal, Program};

use super::condition::{Atoms, Test, Tree};
use super::footprint::{Footprint, Range, Walk, meet};
use super::sets::{members, set};
use super::sticky::sticky;
use crate::rewrite::Rewriter;

/// More transitions take too long to compare.
const MOST_TRANSITIONS: usize = 4_000;
/// More nodes are not folded.
const MOST_NODES: usize = 2_000;

/// Answers, where reading and writing say nothing: what it does not know it need not say. They are about all states within the bounds
/// of their variables, and from then on, when it has learned which of them can be reached, about those.
pub trait Oracle {
    /// Learns what is so of reachable states alone; whether it may answer otherwise now.
    fn learn(&mut self) -> bool {
        false
    }

    /// Whether two transitions were proved to accord: wherever both are enabled, neither disables the other, both orders lead to
    /// the same states, and each fails after the other just where it fails before it.
    fn accord(&mut self, one: usize, other: usize) -> bool;

    /// Whether it was proved that a transition never makes a condition true that was false.
    fn never_enables(&mut self, transition: usize, condition: &Expr) -> bool;

    /// A state in which two transitions do not accord, if one is known.
    fn conflict(&mut self, _one: usize, _other: usize) -> Option<Vec<u32>> {
        None
    }
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

/// What a reduction preserves.
#[derive(Clone, Copy, Debug)]
pub enum Preserve<'a> {
    /// The length of a shortest path to each of these goals.
    Distances(&'a [Goal]),
    /// What formulas without `X` over these propositions say.
    Formulas(&'a [Goal]),
}

/// What the choice of steps needs to know of a program and its goals. Sets of transitions are bits in words.
#[derive(Debug)]
pub struct Relations {
    /// Transitions, and words of a set of them.
    pub(super) transitions: usize,
    pub(super) words: usize,
    /// For each transition, those that a set has with it where it is enabled: what does not accord with it.
    dependent: Vec<u64>,
    /// The same, turned round.
    demanding: Vec<u64>,
    /// For each atom, those that may make it true.
    enabling: Vec<u64>,
    /// For each transition, those that may give it an outcome where that cannot be told apart.
    opaque: Vec<u64>,
    /// For each transition, those that it may help to enable.
    helped: Vec<u64>,
    /// Conditions over states, and how they are evaluated.
    pub(super) atoms: Vec<Expr>,
    pub(super) tests: Vec<Test>,
    /// For each transition, when it is enabled.
    pub(super) enabled: Vec<Tree>,
    /// What sets lead to.
    pub(super) goals: Vec<Aim>,
    /// Whether something that is enabled must be in every set, whatever the goals.
    pub(super) wants_key: bool,
    /// Transitions that may change the value of a proposition.
    pub(super) visible: Vec<u64>,
}

impl Relations {
    /// The relations of a program; an error says why there is no reduction.
    pub fn new(program: &Program, preserve: Preserve<'_>, oracle: &mut dyn Oracle) -> Result<Self, String> {
        let transitions = program.transitions.len();
        if transitions > MOST_TRANSITIONS {
            return Err(format!("it has {transitions} transitions, more than {MOST_TRANSITIONS}"));
        }
        let footprints: Vec<Footprint> = program.transitions.iter().map(|t| Footprint::new(program, t)).collect();
        let mut atoms = Atoms::default();
        let enabled = program.transitions.iter().zip(&footprints);
        let enabled: Vec<Tree> = enabled.map(|(t, footprint)| atoms.enabled(program, t, &footprint.before)).collect();
        let aims = Aims::new(preserve, &mut atoms)?;
        let words = transitions.div_ceil(64);
        let mut relations = Self {
            transitions,
            words,
            dependent: vec![0; transitions * words],
            demanding: Vec::new(),
            enabling: vec![0; atoms.conditions.len() * words],
            opaque: vec![0; transitions * words],
            helped: vec![0; transitions * words],
            tests: atoms.conditions.iter().map(|condition| Test::new(program, condition)).collect(),
            atoms: atoms.conditions,
            enabled,
            goals: aims.goals,
            wants_key: aims.wants_key,
            visible: vec![0; words],
        };
        relations.compare(&footprints, oracle);
        for (atom, condition) in relations.atoms.iter().enumerate() {
            let reads = reads_of(program, condition);
            for (transition, footprint) in footprints.iter().enumerate() {
                if may_enable(program, footprint, condition, &reads) && !oracle.never_enables(transition, condition) {
                    set(&mut relations.enabling[atom * words..], transition);
                }
            }
        }
        relations.demanding = relations.dependent.clone();
        if !aims.watched.is_empty() {
            relations.watch(&aims.watched, &sticky(program, &footprints));
        }
        relations.turn_round();
        Ok(relations)
    }

    /// Keeps the order of what changes these conditions (V), and lets nothing put it off for ever (L): with something that is
    /// visible, or that closes a cycle, all that is visible is in a set.
    fn watch(&mut self, watched: &[Tree], sticky: &[bool]) {
        let mut visible = vec![0; self.words];
        for tree in watched {
            tree.each_leaf(&mut |leaf| {
                let more = self.enabling(leaf.expect("a proposition can be told apart"));
                visible.iter_mut().zip(more).for_each(|(all, more)| *all |= more);
            });
        }
        let mut bringing = visible.clone();
        sticky.iter().enumerate().filter(|(_, is_sticky)| **is_sticky).for_each(|(t, _)| set(&mut bringing, t));
        for (table, of, with) in
            [(&mut self.dependent, &bringing, &visible), (&mut self.demanding, &visible, &bringing)]
        {
            for transition in members(of) {
                let row = &mut table[transition * self.words..][..self.words];
                row.iter_mut().zip(with).for_each(|(all, more)| *all |= more);
            }
        }
        self.visible = visible;
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

    /// Those that a set has with a transition where it is enabled.
    #[inline]
    pub(super) fn dependent(&self, transition: usize) -> &[u64] {
        &self.dependent[transition * self.words..][..self.words]
    }

    /// Those that a set cannot have, where they are enabled, without a transition.
    #[inline]
    pub(super) fn demanding(&self, transition: usize) -> &[u64] {
        &self.demanding[transition * self.words..][..self.words]
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

/// A goal.
#[derive(Clone, Debug)]
pub(super) struct Aim {
    /// When it is reached by a state that is not stuck.
    pub(super) tree: Tree,
    /// Whether it may be reached by one that is: something that is enabled must be in every set.
    pub(super) may_be_stuck: bool,
}

/// What is preserved, as trees.
#[derive(Default)]
struct Aims {
    goals: Vec<Aim>,
    wants_key: bool,
    /// Conditions whose changes are seen.
    watched: Vec<Tree>,
}

impl Aims {
    fn new(preserve: Preserve<'_>, atoms: &mut Atoms) -> Result<Self, String> {
        let mut aims = Self::default();
        let mut tree = |condition: &Expr| atoms.goal(condition).ok_or("a property is too large to be taken apart");
        match preserve {
            Preserve::Distances(goals) => {
                for Goal::State(goal) in goals {
                    aims.goals.push(Aim { tree: tree(goal)?, may_be_stuck: asks_whether_stuck(goal) });
                }
            }
            Preserve::Formulas(propositions) => {
                aims.wants_key = true;
                for Goal::State(proposition) in propositions {
                    if asks_whether_stuck(proposition) {
                        return Err("the formula asks for deadlocks".into());
                    }
                    aims.watched.push(tree(proposition)?);
                    aims.watched.push(tree(&proposition.clone().negate())?);
                }
            }
        }
        Ok(aims)
    }
}

fn asks_whether_stuck(condition: &Expr) -> bool {
    let mut is_asked = false;
    condition.walk(&mut |part| is_asked |= *part == Expr::Stuck);
    is_asked
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

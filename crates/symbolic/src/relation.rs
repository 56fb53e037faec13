//! What steps do to sets of states: one piece for each way in which a transition can end.
//!
//! A step that writes an element of an array has a piece for each element that it may be, if they are few. A piece
//! quantifies and renames only the bits that it writes. And of these only those whose new value depends on
//! a bit that is written too (or on a choice) need a bit for "after the step": the others are forgotten and then set,
//! which is all that happens in most models, where locations and flags are set to constants.

use birk_ir::{Expr, LocalId, Op, Program, Transition, TransitionId};

use crate::diagram::{Attempt, Count, Diagrams, Renaming, Set};
use crate::encoding::{Encoding, after, now};
use crate::expression::Scene;
use crate::value::{Algebra, Arithmetic, Value};

/// A transition has at most about this many pieces because of elements that it may write.
const MOST_BRANCHES: usize = 64;

/// All steps of a program.
pub(crate) struct Relation {
    pub(crate) pieces: Vec<Piece>,
    /// Outcomes that an `assume` cuts.
    cuts: Vec<Outcomes>,
    /// Where there is no step, taken or cut.
    pub(crate) stuck: Set,
}

/// Where something happens: states, and for each the choices with which it does.
struct Outcomes {
    set: Set,
    choice_bits: u32,
}

/// One way in which a transition can end: in a state, or in one of its checks.
pub(crate) struct Piece {
    pub(crate) transition: TransitionId,
    outcomes: Outcomes,
    /// When it happens, and the new values of the bits that need one after the step.
    relation: Set,
    /// The bits it writes, as they are before the step.
    forgotten: Set,
    /// The bits after the step take the places of those before it.
    renaming: Option<Renaming>,
    /// The bits that are set directly, as one condition on the state after the step.
    direct: Set,
    /// The same by place, with the new value.
    direct_bits: Vec<(u32, Set)>,
    /// The places whose new value is in the relation.
    renamed: Vec<u32>,
}

impl Relation {
    /// Encodes all transitions; `looked` is called after each.
    pub(crate) fn new(encoding: &Encoding<'_>, looked: &mut dyn FnMut() -> Attempt<()>) -> Attempt<Self> {
        let mut relation = Self { pieces: Vec::new(), cuts: Vec::new(), stuck: encoding.diagrams.yes.clone() };
        let mut enabled = Vec::new();
        for (id, transition) in encoding.program.transitions.iter().enumerate() {
            let mut builder = Builder {
                encoding,
                id: TransitionId::new(id),
                scene: Scene::new(encoding),
                path: encoding.diagrams.yes.clone(),
                choices: Vec::new(),
                branches: 1,
            };
            builder.begin(transition)?;
            builder.run(&transition.ops, &mut relation, &mut enabled)?;
            looked()?;
        }
        relation.stuck = encoding.diagrams.not(&encoding.diagrams.any(enabled)?)?;
        Ok(relation)
    }

    /// Steps that can be taken from these states.
    pub(crate) fn steps(&self, encoding: &Encoding<'_>, states: &Set) -> Attempt<Count> {
        total(encoding, states, self.pieces.iter().map(|piece| &piece.outcomes))
    }

    /// Outcomes from these states that an `assume` cuts.
    pub(crate) fn cut(&self, encoding: &Encoding<'_>, states: &Set) -> Attempt<Count> {
        total(encoding, states, self.cuts.iter())
    }
}

fn total<'o>(encoding: &Encoding<'_>, states: &Set, outcomes: impl Iterator<Item = &'o Outcomes>) -> Attempt<Count> {
    let mut sum = Count::from(0u32);
    for outcomes in outcomes {
        let here = encoding.diagrams.and(states, &outcomes.set)?;
        sum = sum + encoding.diagrams.count(&here, encoding.bits + outcomes.choice_bits);
    }
    Ok(sum)
}

impl Piece {
    /// Whether it happens in one of these states.
    pub(crate) fn is_enabled(&self, diagrams: &Diagrams, states: &Set) -> Attempt<bool> {
        Ok(diagrams.and(states, &self.outcomes.set)? != diagrams.no)
    }

    /// The states to which it leads.
    pub(crate) fn image(&self, diagrams: &Diagrams, states: &Set) -> Attempt<Set> {
        let mut image = diagrams.and_exists(states, &self.relation, &self.forgotten)?;
        if let Some(renaming) = &self.renaming {
            image = diagrams.rename(&image, renaming)?;
        }
        diagrams.and(&image, &self.direct)
    }

    /// The states among these from which it leads to this one, given by its bits.
    pub(crate) fn origins(&self, diagrams: &Diagrams, among: &Set, bits: &[bool]) -> Attempt<Set> {
        let is_written =
            |place: u32| self.renamed.contains(&place) || self.direct_bits.iter().any(|(p, _)| *p == place);
        let places = 0..bits.len() as u32;
        let kept: Vec<(u32, bool)> =
            places.filter(|&place| !is_written(place)).map(|place| (now(place), bits[place as usize])).collect();
        let mut origins = diagrams.and(among, &diagrams.cube(&kept)?)?;
        let renamed: Vec<(u32, bool)> =
            self.renamed.iter().map(|&place| (after(place), bits[place as usize])).collect();
        let relation = diagrams.restrict(&self.relation, &diagrams.cube(&renamed)?)?;
        origins = diagrams.and(&origins, &relation)?;
        for (place, value) in &self.direct_bits {
            origins = diagrams.and(&origins, &diagrams.same(value, diagrams.constant(bits[*place as usize]))?)?;
        }
        Ok(origins)
    }
}

/// One transition while it is encoded, as far as a path through its operations.
#[derive(Clone)]
struct Builder<'e, 'p> {
    encoding: &'e Encoding<'p>,
    id: TransitionId,
    scene: Scene<'e, Encoding<'p>>,
    /// Where it comes as far as this, and with which choices.
    path: Set,
    /// The bits of the values that it has chosen.
    choices: Vec<u32>,
    /// How many paths there may be beside this one.
    branches: usize,
}

impl Builder<'_, '_> {
    fn begin(&mut self, transition: &Transition) -> Attempt<()> {
        self.path = self.encoding.diagrams.and(&self.at(transition)?, &self.scene.truth(&transition.guard)?)?;
        Ok(())
    }

    /// Makes the pieces of all paths through these operations; where they are enabled is added to the list.
    fn run(&mut self, ops: &[Op], relation: &mut Relation, enabled: &mut Vec<Set>) -> Attempt<()> {
        let diagrams = &self.encoding.diagrams;
        for (at, op) in ops.iter().enumerate() {
            if self.path == diagrams.no {
                return Ok(());
            }
            match op {
                Op::Assign(place, value) => {
                    let (value, index) = (self.scene.value(value)?, self.scene.index(place)?);
                    let elements = self.scene.elements(place.variable, &index);
                    let ways = elements.clone().count() + 1;
                    if index.as_const().is_some() || self.branches * ways > MOST_BRANCHES {
                        self.scene.assign(place, &index, &value)?;
                        continue;
                    }
                    let mut outside = self.path.clone();
                    for element in elements {
                        let element = diagrams.literal(i64::from(element));
                        let here = diagrams.equal(&index, &element)?;
                        outside = diagrams.minus(&outside, &here)?;
                        let mut branch = self.clone();
                        branch.path = diagrams.and(&self.path, &here)?;
                        branch.branches *= ways;
                        branch.scene.assign(place, &element, &value)?;
                        branch.run(&ops[at + 1..], relation, enabled)?;
                    }
                    self.branches *= ways;
                    self.path = outside;
                }
                Op::Let(local, value) => {
                    let value = self.scene.value(value)?;
                    self.scene.bind(*local, value);
                }
                Op::Check(condition, _) => {
                    let failing = self.part(condition, false)?;
                    self.fault(failing, relation, enabled)?;
                    self.path = self.part(condition, true)?;
                }
                Op::Assume(condition) => {
                    let set = self.part(condition, false)?;
                    enabled.push(diagrams.exists(&set, &self.chosen()?)?);
                    relation.cuts.push(Outcomes { set, choice_bits: self.choices.len() as u32 });
                    self.path = self.part(condition, true)?;
                }
                Op::Require(condition) => self.path = self.part(condition, true)?,
                Op::Choose(local, lo, hi) => {
                    let (lo, hi) = (self.scene.value(lo)?, self.scene.value(hi)?);
                    self.choose(*local, &lo, &hi)?;
                }
            }
        }
        let path = self.path.clone();
        self.piece(path, relation, enabled)
    }

    /// Binds any value between two others.
    fn choose(&mut self, local: LocalId, lo: &Value, hi: &Value) -> Attempt<()> {
        let diagrams = &self.encoding.diagrams;
        if lo.lo > hi.hi {
            self.path = diagrams.no.clone();
            return Ok(());
        }
        let largest = hi.hi.abs_diff(lo.lo);
        let first = self.choices.len() as u32;
        let numbers = first..first + 64 - largest.leading_zeros();
        let bits: Vec<u32> = numbers.map(|number| self.encoding.choice(number)).collect();
        let mut distance = bits.iter().map(|&bit| diagrams.bit(bit)).collect::<Attempt<Vec<Set>>>()?;
        distance.push(diagrams.no.clone());
        let distance = diagrams.number(distance, (i64::MIN, i64::MAX));
        let value = diagrams.add(&distance, &diagrams.literal(lo.lo))?;
        self.choices.extend(bits);
        let beyond = diagrams.or(&diagrams.less(&value, lo)?, &diagrams.less(hi, &value)?)?;
        self.path = diagrams.minus(&self.path, &beyond)?;
        // Only now: what is beyond the bounds is no longer on the path.
        self.scene.bind(local, Value { lo: lo.lo, hi: hi.hi, ..value });
        Ok(())
    }

    /// Where the thread is at the transition's location, and no check has failed.
    fn at(&mut self, transition: &Transition) -> Attempt<Set> {
        let program: &Program = self.encoding.program;
        let thread = program.thread(transition.thread);
        let counter = Expr::element(program.kinds[thread.kind].counter, Expr::Const(i64::from(thread.copy)));
        let here = counter.equals(transition.location.index() as i64);
        let faulty = program.fault.map_or(Expr::FALSE, Expr::Var);
        self.scene.truth(&here.and(faulty.negate()))
    }

    /// The part of the path on which a condition is true, or false.
    fn part(&mut self, condition: &Expr, is_true: bool) -> Attempt<Set> {
        let truth = self.scene.truth(condition)?;
        let diagrams = &self.encoding.diagrams;
        if is_true { diagrams.and(&self.path, &truth) } else { diagrams.minus(&self.path, &truth) }
    }

    fn chosen(&self) -> Attempt<Set> {
        self.encoding.diagrams.cube(&self.choices.iter().map(|&bit| (bit, true)).collect::<Vec<_>>())
    }

    /// The step ends here: what was written so far, and the flag.
    fn fault(&mut self, failing: Set, relation: &mut Relation, enabled: &mut Vec<Set>) -> Attempt<()> {
        let flag = self.encoding.program.fault.expect("a program with checks has a fault flag");
        let before = self.scene.written.insert((flag, 0), self.encoding.diagrams.literal(1));
        self.piece(failing, relation, enabled)?;
        match before {
            Some(value) => _ = self.scene.written.insert((flag, 0), value),
            None => _ = self.scene.written.remove(&(flag, 0)),
        }
        Ok(())
    }

    fn piece(&mut self, path: Set, relation: &mut Relation, enabled: &mut Vec<Set>) -> Attempt<()> {
        let diagrams = &self.encoding.diagrams;
        if path == diagrams.no {
            return Ok(());
        }
        let mut writes: Vec<(u32, Set)> = Vec::new();
        for (&(variable, element), value) in &self.scene.written {
            let places = self.encoding.places(variable, element);
            for (&place, bit) in places.iter().zip(self.encoding.code(variable, value)?) {
                if bit != diagrams.bit(now(place))? {
                    writes.push((place, bit));
                }
            }
        }
        let written: Vec<(u32, bool)> = writes.iter().map(|&(place, _)| (now(place), true)).collect();
        let chosen: Vec<(u32, bool)> = self.choices.iter().map(|&bit| (bit, true)).collect();
        let vanishing = diagrams.cube(&[&written[..], &chosen[..]].concat())?;
        let (mut renamed, mut direct_bits) = (Vec::new(), Vec::new());
        let mut relates = vec![path.clone()];
        let mut direct = Vec::new();
        for (place, value) in writes {
            if diagrams.exists(&value, &vanishing)? == value {
                direct.push(diagrams.same(&diagrams.bit(now(place))?, &value)?);
                direct_bits.push((place, value));
            } else {
                relates.push(diagrams.same(&diagrams.bit(after(place))?, &value)?);
                renamed.push(place);
            }
        }
        let related = diagrams.all(relates)?;
        enabled.push(diagrams.exists(&path, &self.chosen()?)?);
        let renaming = (!renamed.is_empty()).then(|| {
            let bits = renamed.iter().map(|&place| diagrams.bit(now(place))).collect::<Attempt<Vec<Set>>>()?;
            Ok(Renaming::new(renamed.iter().map(|&place| after(place)).collect(), bits))
        });
        relation.pieces.push(Piece {
            transition: self.id,
            relation: diagrams.exists(&related, &self.chosen()?)?,
            outcomes: Outcomes { set: path, choice_bits: self.choices.len() as u32 },
            forgotten: diagrams.cube(&written)?,
            renaming: renaming.transpose()?,
            direct: diagrams.all(direct)?,
            direct_bits,
            renamed,
        });
        Ok(())
    }
}

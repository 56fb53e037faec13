//! Partitions the transition relation: a transition is run once for all states, along every path through its operations, and
//! becomes an event for each way in which it can end.
//!
//! An index that depends on a few bits, such as the number of a thread, is made a number by running the rest once for each
//! value of those bits: an element chosen among many makes a diagram that remembers all of them. An index of more bits
//! still gives an event for each element that is written, if they are few.

use birk_ir::interval::ANY;
use birk_ir::{Expr, LocalId, Op, Program, Transition, TransitionId};

use crate::attempt::{Attempt, Broken};
use crate::bdd::diagram::{Set, Value};
use crate::bdd::encoding::{Encoding, after};
use crate::bdd::relation::{Event, Outcomes, Relation, back_in_place};
use crate::bitvector::{Algebra, Arithmetic};
use crate::expression::Scene;

/// A transition has at most about this many events because of elements that it may write.
const MOST_BRANCHES: usize = 64;

/// One transition while it is encoded, as far as a path through its operations.
#[derive(Clone)]
pub(crate) struct Builder<'e, 'p> {
    encoding: &'e Encoding<'p>,
    id: TransitionId,
    scene: Scene<'e, Encoding<'p>>,
    /// Where it comes as far as this, and with which choices.
    path: Set,
    /// The bits of the values that it has chosen.
    choices: Vec<u32>,
    /// How many values these are.
    chosen: usize,
    /// How many paths there may be beside this one.
    branches: usize,
}

impl<'e, 'p> Builder<'e, 'p> {
    /// Where the transition's thread is at its location.
    pub(crate) fn new(encoding: &'e Encoding<'p>, id: TransitionId) -> Attempt<Self> {
        let mut scene = Scene::asking(encoding);
        let path = at(&mut scene, encoding.program, encoding.program.transition(id))?;
        Ok(Self { encoding, id, scene, path, choices: Vec::new(), chosen: 0, branches: 1 })
    }

    /// Makes the events of all paths from a stage on.
    pub(crate) fn run(mut self, mut stage: usize, relation: &mut Relation) -> Attempt<()> {
        let diagrams = &self.encoding.diagrams;
        let last = self.encoding.program.transition(self.id).ops.len();
        while self.path != diagrams.no {
            if stage > last {
                let path = self.path.clone();
                return self.event(path, relation);
            }
            match self.stage(stage, relation) {
                Ok(()) => stage += 1,
                Err(Broken::Undecided(bits)) => return self.decided(&bits, stage, relation),
                Err(broken) => return Err(broken),
            }
        }
        Ok(())
    }

    /// From a stage on once for each value of some bits.
    fn decided(self, bits: &[u32], stage: usize, relation: &mut Relation) -> Attempt<()> {
        let diagrams = &self.encoding.diagrams;
        let path = diagrams.and(&self.path, &self.encoding.valid(bits)?)?;
        for values in 0..1u32 << bits.len() {
            let literals: Vec<(u32, bool)> =
                bits.iter().enumerate().map(|(at, &bit)| (bit, values >> at & 1 == 1)).collect();
            let mut branch = self.clone();
            branch.path = diagrams.and(&path, &diagrams.cube(&literals)?)?;
            branch.scene.decide(&literals)?;
            branch.run(stage, relation)?;
        }
        Ok(())
    }

    /// Does one operation, or, in stage 0, looks at the guard. Nothing is changed before all it needs is evaluated.
    fn stage(&mut self, stage: usize, relation: &mut Relation) -> Attempt<()> {
        let diagrams = &self.encoding.diagrams;
        let transition = self.encoding.program.transition(self.id);
        let Some(op) = stage.checked_sub(1).map(|at| &transition.ops[at]) else {
            self.path = self.part(&transition.guard, true)?;
            return Ok(());
        };
        match op {
            Op::Assign(place, value) => {
                let (value, index) = (self.scene.value(value)?, self.scene.index(place)?);
                let elements = self.scene.elements(place.variable, &index);
                let ways = elements.clone().count() + 1;
                if index.as_const().is_some() || self.branches * ways > MOST_BRANCHES {
                    return self.scene.assign(place, &index, &value);
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
                    branch.run(stage + 1, relation)?;
                }
                self.branches *= ways;
                self.path = outside;
            }
            Op::Let(local, value) => {
                let value = self.scene.value(value)?;
                self.scene.bind(*local, value);
            }
            Op::Check(condition, _) => {
                let (passing, failing) = (self.part(condition, true)?, self.part(condition, false)?);
                self.fault(failing, relation)?;
                self.path = passing;
            }
            Op::Assume(condition) => {
                let (passing, set) = (self.part(condition, true)?, self.part(condition, false)?);
                relation.enabled.push(diagrams.exists(&set, &self.chosen()?)?);
                relation.cuts.push(Outcomes { set, choice_bits: self.choices.len() as u32 });
                self.path = passing;
            }
            Op::Require(condition) => self.path = self.part(condition, true)?,
            Op::Choose(local, lo, hi) => {
                let (lo, hi) = (self.scene.value(lo)?, self.scene.value(hi)?);
                self.choose(*local, &lo, &hi)?;
            }
        }
        Ok(())
    }

    /// Binds any value between two others.
    fn choose(&mut self, local: LocalId, lo: &Value, hi: &Value) -> Attempt<()> {
        let diagrams = &self.encoding.diagrams;
        let choice = self.encoding.choice(self.id, self.chosen).filter(|_| lo.lo <= hi.hi);
        let Some(choice) = choice else {
            self.path = diagrams.no.clone();
            return Ok(());
        };
        let (bits, (least, most)) = (&choice.bits, choice.range);
        let mut distance = bits.iter().map(|&bit| diagrams.bit(bit)).collect::<Attempt<Vec<Set>>>()?;
        distance.push(diagrams.no.clone());
        let distance = diagrams.number(distance, ANY);
        let value = diagrams.add(&distance, &diagrams.literal(least))?;
        self.choices.extend(bits);
        self.chosen += 1;
        let beyond = diagrams.or(&diagrams.less(&value, lo)?, &diagrams.less(hi, &value)?)?;
        self.path = diagrams.minus(&self.path, &beyond)?;
        // Only now: what is beyond the bounds is no longer on the path.
        self.scene.bind(local, Value { lo: least.max(lo.lo), hi: most.min(hi.hi), ..value });
        Ok(())
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
    fn fault(&mut self, failing: Set, relation: &mut Relation) -> Attempt<()> {
        let flag = self.encoding.program.fault.expect("a program with checks has a fault flag");
        let before = self.scene.written.insert((flag, 0), self.encoding.diagrams.literal(1));
        self.event(failing, relation)?;
        match before {
            Some(value) => _ = self.scene.written.insert((flag, 0), value),
            None => _ = self.scene.written.remove(&(flag, 0)),
        }
        Ok(())
    }

    /// What a bit becomes on a path, without the bits that vanish, if it does not depend on them there. A gate that flips
    /// where it is not as its inputs ask becomes what they ask.
    fn settled(&self, path: &Set, value: &Set, vanishing: &Set) -> Attempt<Option<Set>> {
        let diagrams = &self.encoding.diagrams;
        let is_constant = *value == diagrams.yes || *value == diagrams.no;
        if is_constant || diagrams.exists(value, vanishing)? == *value {
            return Ok(Some(value.clone()));
        }
        let set = diagrams.and_exists(path, value, vanishing)?;
        let unset = diagrams.exists(&diagrams.minus(path, value)?, vanishing)?;
        Ok((diagrams.and(&set, &unset)? == diagrams.no).then_some(set))
    }

    fn event(&mut self, path: Set, relation: &mut Relation) -> Attempt<()> {
        let diagrams = &self.encoding.diagrams;
        if path == diagrams.no {
            return Ok(());
        }
        let mut writes: Vec<(u32, Set)> = Vec::new();
        for (&(variable, element), value) in &self.scene.written {
            let places = self.encoding.places(variable, element);
            for (&place, bit) in places.iter().zip(self.encoding.code(variable, value)?) {
                if bit != self.scene.bit(place)? {
                    writes.push((place, bit));
                }
            }
        }
        let written: Vec<(u32, bool)> = writes.iter().map(|&(place, _)| (place, true)).collect();
        let (forgotten, chosen) = (diagrams.cube(&written)?, self.chosen()?);
        let vanishing = diagrams.and(&forgotten, &chosen)?;
        let (mut renamed, mut direct_bits) = (Vec::new(), Vec::new());
        let mut relates = vec![path.clone()];
        let mut direct = Vec::new();
        for (place, value) in writes {
            if let Some(value) = self.settled(&path, &value, &vanishing)? {
                direct.push(diagrams.same(&diagrams.bit(place)?, &value)?);
                direct_bits.push((place, value));
            } else {
                relates.push(diagrams.same(&diagrams.bit(after(place))?, &value)?);
                renamed.push(place);
            }
        }
        let related = diagrams.all(relates)?;
        relation.enabled.push(diagrams.exists(&path, &chosen)?);
        relation.events.push(Event {
            transition: self.id,
            relation: diagrams.exists(&related, &chosen)?,
            outcomes: Outcomes { set: path, choice_bits: self.choices.len() as u32 },
            forgotten,
            renaming: back_in_place(diagrams, &renamed)?,
            direct: diagrams.all(direct)?,
            direct_bits,
            renamed,
        });
        Ok(())
    }
}

/// Where the thread is at the transition's location, and no check has failed.
fn at(scene: &mut Scene<'_, Encoding<'_>>, program: &Program, transition: &Transition) -> Attempt<Set> {
    let thread = program.thread(transition.thread);
    let counter = Expr::element(program.kinds[thread.kind].counter, Expr::Const(i64::from(thread.copy)));
    let here = counter.equals(transition.location.index() as i64);
    let faulty = program.fault.map_or(Expr::FALSE, Expr::Var);
    scene.truth(&here.and(faulty.negate()))
}

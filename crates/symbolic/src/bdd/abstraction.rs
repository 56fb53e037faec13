//! A heuristic from abstractions that are refined on demand: symbolic pattern databases (Culberson and Schaeffer 1998;
//! Edelkamp 2002) with counterexample-guided refinement (CEGAR: Clarke, Grumberg, Jha, Lu and Veith 2000).
//!
//! An abstract model keeps some elements of the state and forgets the others: it can do what the model can do with any value
//! of what was forgotten. So a goal is never farther away in it, and a step of the model comes nearer to the goal
//! by one step there, at most: its distances are an admissible and consistent heuristic.
//!
//! A search with a bound asks only for what can be part of a run of so many steps: states that are not too far from the start,
//! nor from the goal. They are a thin slice of all states: those of a model are found by walking forwards inside the slice of
//! a coarser one, and then back from the goal inside of what was met.
//!
//! The first model keeps nothing. When a search has found no run within the bound, but the model has one, some state is the
//! last on such a run that was met: from there the model goes on by a transition, or sees a goal, only because it has
//! forgotten something. That is kept from now on, as little as is enough; again and again, until the model has no such
//! run. Only what matters for a run to the goal is ever kept, be the model as large as it may.

use std::collections::BTreeSet;

use birk_ir::VarId;

use crate::attempt::Attempt;
use crate::bdd::condition::Condition;
use crate::bdd::diagram::{Diagrams, Renaming, Set};
use crate::bdd::encoding::{Encoding, after};
use crate::bdd::preimage::Preimage;
use crate::bdd::relation::{Event, Relation};
use crate::bdd::saturation::{Saturation, Walk};
use crate::bdd::search::Watch;
use crate::bitvector::Algebra;

/// Nodes that the slice of an abstract model may have for each bit of the concrete one: more take longer than they save.
const NODES_FOR_A_BIT: usize = 512;
/// Nodes that the steps of an abstract model may have.
const STEP_NODES: usize = 1 << 13;
/// A model that keeps more than one bit of so many is not much simpler; tests try all.
const SIMPLER: usize = if cfg!(test) { 1 } else { 2 };

/// The concrete model, of which abstract ones are made.
pub(crate) struct Concrete<'s, 'p> {
    pub(crate) encoding: &'s Encoding<'p>,
    pub(crate) relation: &'s Relation,
    pub(crate) goals: &'s [Condition],
    pub(crate) watch: &'s mut Watch<'p>,
}

/// An abstract model that becomes finer and finer.
pub(crate) struct Abstraction {
    model: AbstractModel,
    slice: Slice,
    /// A finer model would be too large.
    is_full: bool,
}

/// An abstract model.
struct AbstractModel {
    /// The bits of the elements that it keeps.
    kept: BTreeSet<u32>,
    start: Set,
    goal: Set,
    forwards: Steps,
    backwards: Steps,
}

/// The steps of an abstract model, in one direction.
struct Steps {
    events: Vec<Event>,
    saturation: Saturation,
}

/// The states of a model that can be on a run of limited length from the start to a goal.
pub(crate) struct Slice {
    pub(crate) bound: usize,
    /// By steps to the goal.
    layers: Vec<Set>,
    /// The same, for each number of steps: those that are no farther.
    near: Vec<Set>,
    /// The length of the model's shortest run, if it is one of these.
    shortest: Option<usize>,
}

impl Slice {
    /// Whether all runs are shortest ones.
    pub(crate) fn is_tight(&self) -> bool {
        self.shortest == Some(self.bound)
    }

    /// The states that a search may meet at this depth.
    pub(crate) fn at<'s>(&'s self, diagrams: &'s Diagrams, depth: usize) -> &'s Set {
        self.bound.checked_sub(depth).map_or(&diagrams.no, |steps| self.near(diagrams, steps))
    }

    /// The states from which a goal seems to be no farther than that.
    fn near<'s>(&'s self, diagrams: &'s Diagrams, steps: usize) -> &'s Set {
        let last = self.near.len().saturating_sub(1);
        self.near.get(steps.min(last)).unwrap_or(&diagrams.no)
    }
}

impl Steps {
    fn new(diagrams: &Diagrams, events: Vec<Event>) -> Attempt<Self> {
        let saturation = Saturation::new(diagrams, &events, &diagrams.no)?;
        Ok(Self { events, saturation })
    }

    fn take(&mut self, diagrams: &Diagrams, watch: &mut Watch<'_>, states: &Set) -> Attempt<Set> {
        let next = self.saturation.image(&mut Walk { diagrams, events: &self.events, watch }, states);
        self.saturation.tidy(diagrams);
        next
    }
}

impl Abstraction {
    /// The one that keeps nothing.
    pub(crate) fn new(concrete: &mut Concrete<'_, '_>) -> Attempt<Self> {
        let yes = concrete.encoding.diagrams.yes.clone();
        let model = concrete.model(&BTreeSet::new())?.expect("no model is simpler");
        let slice = Slice { bound: 0, layers: vec![yes.clone()], near: vec![yes], shortest: Some(0) };
        Ok(Self { model, slice, is_full: false })
    }

    /// What can be on a run within the bound.
    pub(crate) fn slice(&self) -> &Slice {
        &self.slice
    }

    /// Whether the model keeps one of these bits.
    pub(crate) fn keeps(&self, mut bits: impl Iterator<Item = u32>) -> bool {
        bits.any(|bit| self.model.kept.contains(&bit))
    }

    /// Keeps more, until the model has no run within the bound: the search has found none. What it has met is given
    /// by depth.
    pub(crate) fn refine(&mut self, concrete: &mut Concrete<'_, '_>, met: &[Set]) -> Attempt<()> {
        while self.slice.shortest.is_some() && !self.is_full {
            let mut kept = concrete.missed(&self.model, &self.slice, met)?;
            // Nothing was missed where a goal was found, and others are looked for.
            self.is_full = kept.is_empty();
            kept.extend(&self.model.kept);
            match concrete.model(&kept)? {
                None => self.is_full = true,
                Some(model) => {
                    self.model = model;
                    match concrete.slice(&mut self.model, self.slice.bound, Some(&self.slice))? {
                        None => self.is_full = true,
                        Some(slice) => self.slice = slice,
                    }
                }
            }
        }
        Ok(())
    }

    /// Raises the bound to the length of the model's shortest run; `false` if it has none, or would be too large.
    pub(crate) fn raise(&mut self, concrete: &mut Concrete<'_, '_>) -> Attempt<bool> {
        if self.is_full {
            return Ok(false);
        }
        match concrete.slice(&mut self.model, self.slice.bound, None)? {
            None => self.is_full = true,
            Some(slice) => self.slice = slice,
        }
        Ok(self.slice.shortest.is_some() && !self.is_full)
    }
}

impl Concrete<'_, '_> {
    /// The model that keeps the elements which have these bits; `None` if it is not much simpler.
    fn model(&mut self, bits: &BTreeSet<u32>) -> Attempt<Option<AbstractModel>> {
        let (diagrams, program) = (&self.encoding.diagrams, self.encoding.program);
        let mut kept = BTreeSet::new();
        for (id, variable) in program.variables.iter().enumerate() {
            for element in 0..variable.len() {
                let places = self.encoding.places(VarId::new(id), element);
                if places.iter().any(|place| bits.contains(place)) {
                    kept.extend(places);
                }
            }
        }
        if kept.len() * SIMPLER > self.encoding.bits as usize {
            return Ok(None);
        }
        let others = self.encoding.all_places().filter(|place| !kept.contains(place));
        let forgotten = diagrams.cube(&others.map(|place| (place, true)).collect::<Vec<_>>())?;
        let mut goal = diagrams.no.clone();
        for condition in self.goals {
            goal = diagrams.or(&goal, &condition.without(diagrams, self.relation, &forgotten)?)?;
            self.watch.look(diagrams)?;
        }
        let start = diagrams.exists(&self.encoding.initial()?, &forgotten)?;
        let (mut forwards, mut backwards, mut nodes) = (Vec::new(), Vec::new(), 0);
        for event in &self.relation.events {
            let (written, lost): (Vec<u32>, Vec<u32>) = event.written().partition(|place| kept.contains(place));
            if written.is_empty() {
                continue;
            }
            let lost = diagrams.cube(&lost.into_iter().map(|place| (after(place), true)).collect::<Vec<_>>())?;
            let all = diagrams.exists(&event.all(diagrams)?, &diagrams.and(&forgotten, &lost)?)?;
            nodes += diagrams.size(&all);
            if nodes > STEP_NODES {
                return Ok(None);
            }
            let from = written.iter().flat_map(|&place| [place, after(place)]).collect();
            let to = written.iter().flat_map(|&place| [after(place), place]).map(|bit| diagrams.bit(bit));
            let reversed = diagrams.rename(&all, &Renaming::new(from, to.collect::<Attempt<Vec<Set>>>()?))?;
            forwards.push(Event::of(diagrams, event.transition, &all, &written)?);
            backwards.push(Event::of(diagrams, event.transition, &reversed, &written)?);
            self.watch.look(diagrams)?;
        }
        let (forwards, backwards) = (Steps::new(diagrams, forwards)?, Steps::new(diagrams, backwards)?);
        Ok(Some(AbstractModel { kept, start, goal, forwards, backwards }))
    }

    /// The states of a model that can be on a run within a bound, inside the slice of a coarser one; without such a
    /// slice those on its shortest runs, which are beyond the bound. `None` if they are too many.
    fn slice(&mut self, model: &mut AbstractModel, bound: usize, coarser: Option<&Slice>) -> Attempt<Option<Slice>> {
        let slice = self.cut(model, bound, coarser);
        model.forwards.saturation.forget();
        model.backwards.saturation.forget();
        slice
    }

    fn cut(&mut self, model: &mut AbstractModel, bound: usize, coarser: Option<&Slice>) -> Attempt<Option<Slice>> {
        let diagrams = &self.encoding.diagrams;
        let most = NODES_FOR_A_BIT * (self.encoding.bits as usize + 1);
        let mut slice = Slice { bound, layers: Vec::new(), near: Vec::new(), shortest: None };
        // Forwards: by depth, all that is no deeper.
        let inside = |set: &Set, depth: usize| {
            coarser.map_or(Ok(set.clone()), |coarser| diagrams.and(set, coarser.at(diagrams, depth)))
        };
        let mut level = inside(&model.start, 0)?;
        let mut within = vec![level.clone()];
        let mut nodes = 0;
        while level != diagrams.no {
            let depth = within.len() - 1;
            if slice.shortest.is_none() && diagrams.and(&level, &model.goal)? != diagrams.no {
                slice.shortest = Some(depth);
                slice.bound = slice.bound.max(depth);
            }
            if depth == slice.bound && (slice.shortest.is_some() || coarser.is_some()) {
                break;
            }
            let all = &within[depth];
            let next = diagrams.minus(&model.forwards.take(diagrams, self.watch, &level)?, all)?;
            level = inside(&next, depth + 1)?;
            nodes += diagrams.size(&level);
            if nodes > most {
                return Ok(None);
            }
            within.push(diagrams.or(all, &level)?);
        }
        if slice.shortest.is_none() {
            return Ok(Some(slice));
        }
        // And back.
        let all = within.last().expect("it begins with the start");
        let mut layer = diagrams.and(&model.goal, all)?;
        let mut nodes = 0;
        while layer != diagrams.no {
            let near = slice.near.last().map_or_else(|| Ok(layer.clone()), |near| diagrams.or(near, &layer))?;
            let before = diagrams.minus(&model.backwards.take(diagrams, self.watch, &layer)?, &near)?;
            slice.near.push(near);
            slice.layers.push(layer);
            layer = match slice.bound.checked_sub(slice.layers.len()) {
                Some(depth) => diagrams.and(&before, within.get(depth).unwrap_or(all))?,
                None => diagrams.no.clone(),
            };
            nodes += diagrams.size(&layer);
            if nodes > most {
                return Ok(None);
            }
        }
        Ok(Some(slice))
    }

    /// Bits without which a model goes on beyond what was met.
    fn missed(&mut self, model: &AbstractModel, slice: &Slice, met: &[Set]) -> Attempt<BTreeSet<u32>> {
        let diagrams = &self.encoding.diagrams;
        let mut last = diagrams.no.clone();
        for (depth, met) in met.iter().enumerate().rev() {
            last = diagrams.and(met, slice.at(diagrams, depth))?;
            if last != diagrams.no {
                break;
            }
        }
        let state = self.encoding.pick(&last).expect("the start was met, and is in the slice");
        let values = self.encoding.bits_of(&state);
        let kept_if = |is_kept: &dyn Fn(u32) -> bool| {
            let literals = model.kept.iter().filter(|place| is_kept(**place)).map(|place| (*place, values[place]));
            diagrams.cube(&literals.collect::<Vec<_>>())
        };
        let steps = slice.layers.iter().position(|layer| self.encoding.contains(layer, &state));
        let mut conditions = Vec::new();
        match steps.expect("it is in the slice").checked_sub(1) {
            None => {
                let single = self.encoding.single(&state)?;
                for goal in self.goals {
                    conditions.extend(goal.failing(diagrams, self.relation, &single)?);
                }
            }
            Some(steps) => {
                for event in
                    self.relation.events.iter().filter(|event| event.written().any(|w| model.kept.contains(&w)))
                {
                    let written: BTreeSet<u32> = event.written().collect();
                    let ends = diagrams.and(&slice.layers[steps], &kept_if(&|place| !written.contains(&place))?)?;
                    if ends != diagrams.no {
                        conditions.push(Preimage::new(diagrams, event)?.of(diagrams, &ends)?);
                    }
                }
            }
        }
        let kept = kept_if(&|_| true)?;
        let mut fewest: Option<BTreeSet<u32>> = None;
        for condition in conditions {
            self.watch.look(diagrams)?;
            let condition = diagrams.restrict(&condition, &kept)?;
            if condition == diagrams.no {
                continue;
            }
            let differing = differing(diagrams, condition, |place| values[&place]);
            if fewest.as_ref().is_none_or(|fewest| differing.len() < fewest.len()) {
                fewest = Some(differing);
            }
        }
        Ok(fewest.unwrap_or_default())
    }
}

/// Bits that are in the way of a condition: not as they would have to be, if all others stay as they are.
fn differing(diagrams: &Diagrams, mut condition: Set, is_set: impl Fn(u32) -> bool) -> BTreeSet<u32> {
    let mut differing = BTreeSet::new();
    while let Some((bit, yes, no)) = diagrams.above(&condition, u32::MAX) {
        let (same, other) = if is_set(bit) { (yes, no) } else { (no, yes) };
        if same != diagrams.no {
            condition = same;
        } else {
            differing.insert(bit);
            condition = other;
        }
    }
    differing
}

#[cfg(test)]
mod tests;

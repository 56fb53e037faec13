//! Saturation: all events at once, in one walk down a diagram (Ciardo, Lüttgen and Siminiceanu 2001).
//!
//! An event neither looks at nor changes the bits above its top level. So it need not be applied to a whole set, only to
//! the parts of its diagram that begin there; and each part is computed once, however many paths lead to it. An `EventLevel`
//! has the events with the same top level.
//!
//! An image walks down the levels and joins what each of them does. Saturation is the same walk, where each part is closed
//! under all events at and below its level before those above build on it. (The paper saturates also within an
//! image; here an image is taken, and then saturated.)
//!
//! Events that end in a failing check stand apart: nothing follows them. All others leave the flag as it is, unset,
//! and are taken without it: otherwise that bit would be the top level of all of them.

use std::collections::BTreeMap;

use crate::attempt::Attempt;
use crate::bdd::diagram::{Diagrams, Known, Set};
use crate::bdd::relation::Event;
use crate::bdd::search::Watch;
use crate::bitvector::Algebra;

/// What a walk down the diagrams needs at hand.
pub(crate) struct Walk<'c, 'w> {
    pub(crate) diagrams: &'c Diagrams,
    pub(crate) events: &'c [Event],
    pub(crate) watch: &'c mut Watch<'w>,
}

impl Walk<'_, '_> {
    fn look(&mut self) -> Attempt<()> {
        self.watch.look(self.diagrams)
    }
}

/// The events by their top level: the first bit that each looks at or changes.
pub(crate) struct Saturation {
    /// Where no check has failed.
    sound: Set,
    levels: Vec<EventLevel>,
    /// Events that end in a failing check.
    faults: Vec<usize>,
    /// What is known of parts below a level, until garbage is collected.
    known: Known<(Operation, usize, Set), Set>,
}

/// What is computed of a part.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Operation {
    /// The states to which one step leads.
    Image,
    /// The part, and all states to which any number of steps lead.
    Closure,
}

/// The events whose top level is the same.
struct EventLevel {
    top: u32,
    /// The number of the event, and its relation where no check has failed.
    events: Vec<(usize, Set)>,
}

impl Saturation {
    /// All events of a relation; `faulty` is where a check has failed.
    pub(crate) fn new(diagrams: &Diagrams, events: &[Event], faulty: &Set) -> Attempt<Self> {
        Self::some(diagrams, events, faulty, |_| true)
    }

    /// The events of which this is true.
    pub(crate) fn some(
        diagrams: &Diagrams,
        events: &[Event],
        faulty: &Set,
        is_meant: impl Fn(&Event) -> bool,
    ) -> Attempt<Self> {
        let (mut levels, mut faults) = (BTreeMap::new(), Vec::new());
        let sound = diagrams.not(faulty)?;
        for (number, event) in events.iter().enumerate().filter(|(_, event)| is_meant(event)) {
            if sound != diagrams.yes && diagrams.and(&event.direct, &sound)? == diagrams.no {
                faults.push(number);
                continue;
            }
            let healthy = diagrams.restrict(&event.relation, &sound)?;
            let parts = [&healthy, &event.forgotten, &event.direct];
            let top = parts.map(|part| diagrams.top(part)).into_iter().min().expect("there are three");
            levels.entry(top).or_insert_with(Vec::new).push((number, healthy));
        }
        let levels = levels.into_iter().map(|(top, events)| EventLevel { top, events }).collect();
        Ok(Self { sound, levels, faults, known: Known::default() })
    }

    /// The states to which a step leads from these.
    pub(crate) fn image(&mut self, walk: &mut Walk<'_, '_>, states: &Set) -> Attempt<Set> {
        let diagrams = walk.diagrams;
        let sound = diagrams.restrict(states, &self.sound)?;
        let next = diagrams.and(&self.descend(walk, Operation::Image, 0, &sound)?, &self.sound)?;
        diagrams.or(&next, &self.faults(walk, states)?)
    }

    /// The ends of failing checks to which a step leads from these.
    pub(crate) fn faults(&self, walk: &mut Walk<'_, '_>, states: &Set) -> Attempt<Set> {
        let mut next = walk.diagrams.no.clone();
        for &number in &self.faults {
            next = walk.diagrams.or(&next, &walk.events[number].image(walk.diagrams, states)?)?;
            walk.look()?;
        }
        Ok(next)
    }

    /// What the events on a level and below it make of a part.
    fn descend(&mut self, walk: &mut Walk<'_, '_>, operation: Operation, level: usize, part: &Set) -> Attempt<Set> {
        let diagrams = walk.diagrams;
        let is_done = level >= self.levels.len() || *part == diagrams.no;
        match operation {
            Operation::Image if is_done => return Ok(diagrams.no.clone()),
            Operation::Closure if is_done || *part == diagrams.yes => return Ok(part.clone()),
            _ => {}
        }
        let key = (operation, level, part.clone());
        if let Some(known) = self.known.get(&key) {
            return Ok(known.clone());
        }
        let next = if let Some((bit, yes, no)) = diagrams.above(part, self.levels[level].top) {
            let (yes, no) = (self.descend(walk, operation, level, &yes)?, self.descend(walk, operation, level, &no)?);
            diagrams.node(bit, &yes, &no)?
        } else {
            let below = self.descend(walk, operation, level + 1, part)?;
            match operation {
                Operation::Image => self.step(walk, level, part, below)?,
                Operation::Closure => self.close(walk, level, below)?,
            }
        };
        if self.known.len() >= diagrams.most_known() {
            self.forget();
        }
        self.known.insert(key, next.clone());
        Ok(next)
    }

    /// One step of each event on a level, and what those below it lead to.
    fn step(&self, walk: &mut Walk<'_, '_>, level: usize, part: &Set, mut next: Set) -> Attempt<Set> {
        for (number, healthy) in &self.levels[level].events {
            let image = walk.events[*number].image_by(healthy, walk.diagrams, part)?;
            next = walk.diagrams.or(&next, &image)?;
            walk.look()?;
        }
        Ok(next)
    }

    /// Any number of steps of the events on a level, and behind each all that is below.
    fn close(&mut self, walk: &mut Walk<'_, '_>, level: usize, mut closed: Set) -> Attempt<Set> {
        let events = self.levels[level].events.len();
        let (mut at, mut idle) = (0, 0);
        // Closed when each event in turn has brought nothing since the set last grew.
        while idle < events {
            let more = self.fire(walk, level, at, &closed)?;
            idle = if more.is_some() { 0 } else { idle + 1 };
            closed = more.unwrap_or(closed);
            at = (at + 1) % events;
        }
        Ok(closed)
    }

    /// Everything to which the events below the first level lead, any number of times.
    pub(crate) fn below(&mut self, walk: &mut Walk<'_, '_>, sound: &Set) -> Attempt<Set> {
        self.descend(walk, Operation::Closure, 1, sound)
    }

    /// Everything to which each event of the first level once, and then all below it, leads.
    pub(crate) fn round(&mut self, walk: &mut Walk<'_, '_>, mut reached: Set) -> Attempt<Set> {
        for at in 0..self.levels.first().map_or(0, |level| level.events.len()) {
            reached = self.fire(walk, 0, at, &reached)?.unwrap_or(reached);
        }
        Ok(reached)
    }

    /// With one step of an event of a level, and behind it all that is below; `None` where it brings nothing new.
    fn fire(&mut self, walk: &mut Walk<'_, '_>, level: usize, at: usize, reached: &Set) -> Attempt<Option<Set>> {
        let diagrams = walk.diagrams;
        let (number, healthy) = &self.levels[level].events[at];
        let image = walk.events[*number].image_by(healthy, diagrams, reached)?;
        walk.look()?;
        if image == diagrams.no {
            return Ok(None);
        }
        let new = diagrams.minus(&image, reached)?;
        if new == diagrams.no {
            return Ok(None);
        }
        let more = diagrams.or(reached, &self.descend(walk, Operation::Closure, level + 1, &new)?)?;
        self.tidy(diagrams);
        Ok(Some(more))
    }

    /// Forgets what is known of parts, which keeps their diagrams.
    pub(crate) fn forget(&mut self) {
        self.known = Known::default();
    }

    /// Collects garbage if there may be much of it. What is known of parts is not worth what it would keep.
    pub(crate) fn tidy(&mut self, diagrams: &Diagrams) {
        if diagrams.is_untidy() {
            self.forget();
            diagrams.tidy();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bdd::count::count_steps;
    use crate::bdd::encoding::Encoding;
    use crate::bdd::relation::Relation;
    use crate::bdd::search::saturated;
    use crate::bdd::testing;

    /// Each event on the whole set, and all counted one by one.
    fn plainly(encoding: &Encoding<'_>, relation: &Relation, states: &Set) -> Attempt<(Set, u64)> {
        let diagrams = &encoding.diagrams;
        let (mut next, mut steps) = (diagrams.no.clone(), 0);
        for event in &relation.events {
            next = diagrams.or(&next, &event.image(diagrams, states)?)?;
            let here = diagrams.and(states, &event.outcomes.set)?;
            let count = diagrams.count(&here, encoding.bits + event.outcomes.choice_bits)?;
            steps += saturated(&count);
        }
        Ok((next, steps))
    }

    #[test]
    fn a_walk_down_the_levels_does_what_the_events_do() {
        let (mut layers, mut faults) = (0, 0);
        for model in testing::MODELS {
            let (name, _) = model;
            testing::with(model, |encoding, relation, faulty, watch| {
                let diagrams = &encoding.diagrams;
                let mut saturation = Saturation::new(diagrams, &relation.events, faulty)?;
                let mut walk = Walk { diagrams, events: &relation.events, watch };
                let initial = encoding.initial()?;
                let (mut here, mut reached) = (initial.clone(), initial.clone());
                while here != diagrams.no {
                    let (next, steps) = plainly(encoding, relation, &here)?;
                    assert!(saturation.image(&mut walk, &here)? == next, "{name}, layer {layers}");
                    let counted = count_steps(encoding, relation, faulty, &here)?;
                    assert_eq!(saturated(&counted.steps), steps, "{name}, layer {layers}");
                    for (number, fired) in counted.fired.iter().enumerate() {
                        let of = relation.events.iter().filter(|event| event.transition.index() == number);
                        let mut happens = of.map(|event| diagrams.and(&here, &event.outcomes.set));
                        assert_eq!(*fired, happens.any(|set| set.is_ok_and(|set| set != diagrams.no)), "{name}");
                    }
                    here = diagrams.minus(&next, &reached)?;
                    reached = diagrams.or(&reached, &here)?;
                    layers += 1;
                }
                faults += usize::from(diagrams.and(&reached, faulty)? != diagrams.no);
                // All layers are what saturation reaches, and the failing checks behind it.
                let mut closed = saturation.below(&mut walk, &diagrams.restrict(&initial, &saturation.sound)?)?;
                loop {
                    let more = saturation.round(&mut walk, closed.clone())?;
                    if more == closed {
                        break;
                    }
                    closed = more;
                }
                let sound = diagrams.and(&closed, &saturation.sound)?;
                let all = diagrams.or(&sound, &saturation.faults(&mut walk, &sound)?)?;
                assert!(all == reached, "{name}");
                Ok(())
            });
        }
        assert!(layers > 100 && faults > 0, "{layers} {faults}");
    }

    /// States that saturation reaches, and those that explicit search counts.
    fn both(
        encoding: &Encoding<'_>,
        relation: &Relation,
        faulty: &Set,
        saturation: &mut Saturation,
        watch: &mut Watch<'_>,
    ) -> Attempt<(String, String)> {
        let diagrams = &encoding.diagrams;
        let mut walk = Walk { diagrams, events: &relation.events, watch };
        let initial = encoding.initial()?;
        let mut closed = saturation.below(&mut walk, &diagrams.restrict(&initial, &saturation.sound)?)?;
        loop {
            let more = saturation.round(&mut walk, closed.clone())?;
            if more == closed {
                break;
            }
            closed = more;
        }
        let counted = diagrams.count(&diagrams.minus(&closed, faulty)?, encoding.bits)?.to_string();
        let states = testing::reachable(encoding.program, usize::MAX);
        let sound = states.iter().filter(|state| !encoding.program.is_faulty(state)).count();
        Ok((counted, sound.to_string()))
    }

    /// A mutant must count other states in at least one model.
    fn is_noticed(mutate: impl Fn(&Encoding<'_>, &mut Relation, &mut Saturation) -> Attempt<()>) -> bool {
        let mut is_noticed = false;
        for model in testing::FEW {
            testing::with(model, |encoding, relation, faulty, watch| {
                let mut saturation = Saturation::new(&encoding.diagrams, &relation.events, faulty)?;
                mutate(encoding, relation, &mut saturation)?;
                let (counted, states) = both(encoding, relation, faulty, &mut saturation, watch)?;
                is_noticed |= counted != states;
                Ok(())
            });
        }
        is_noticed
    }

    #[test]
    fn a_mutant_of_saturation_is_noticed() {
        assert!(!is_noticed(|_, _, _| Ok(())), "there is no mutation");
        let lost = is_noticed(|_, _, saturation| {
            saturation.levels.iter_mut().next_back().and_then(|level| level.events.pop());
            Ok(())
        });
        assert!(lost, "an event was lost");
        let forgetful = is_noticed(|encoding, relation, _| {
            let diagrams = &encoding.diagrams;
            let other = relation.events.last().expect("there are events").forgotten.clone();
            relation.events[0].forgotten = diagrams.and(&relation.events[0].forgotten, &other)?;
            Ok(())
        });
        assert!(forgetful, "a bit is forgotten that is not written");
        let kept = is_noticed(|encoding, relation, _| {
            relation.events[0].forgotten = encoding.diagrams.yes.clone();
            Ok(())
        });
        assert!(kept, "what is written is not forgotten");
        let stale = is_noticed(|encoding, relation, saturation| {
            // As if only the first level were applied to what is reached, and the others to the beginning.
            let diagrams = &encoding.diagrams;
            let initial = encoding.initial()?;
            for level in 1..saturation.levels.len() {
                let number = saturation.levels[level].events[0].0;
                let only = diagrams.and(&relation.events[number].relation, &initial)?;
                saturation.levels[level].events[0].1 = only;
            }
            Ok(())
        });
        assert!(stale, "events are applied to the beginning only");
    }
}

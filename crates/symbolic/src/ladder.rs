//! All pieces at once, in one walk down a diagram.
//!
//! A piece neither looks at nor changes the bits above its first one. So it need not be applied to a whole set, only to
//! the parts of its diagram that begin there; and each part is done once, however many ways lead to it. A rung of the
//! ladder has the pieces with the same first bit.
//!
//! A step of all pieces goes down the ladder and joins what each rung does. Saturation (Ciardo, Lüttgen, Siminiceanu
//! 2001) is the same walk, where each part is closed under all pieces at and below its rung before those above
//! build on it. (The paper saturates also within an image; here an image is taken, and then saturated.)
//!
//! Pieces that end in a failing check stand apart: nothing follows them. All others leave the flag as it is, unset,
//! and are taken without it: else they would all begin at that bit.

use std::collections::BTreeMap;

use crate::diagram::{Attempt, Diagrams, Known, Set};
use crate::relation::Piece;
use crate::search::Watch;
use crate::value::Algebra;

/// What a walk needs at hand.
pub(crate) struct Climb<'c, 'w> {
    pub(crate) diagrams: &'c Diagrams,
    pub(crate) pieces: &'c [Piece],
    pub(crate) watch: &'c mut Watch<'w>,
}

impl Climb<'_, '_> {
    fn look(&mut self) -> Attempt<()> {
        self.watch.look(self.diagrams)
    }
}

/// The pieces by their first bit.
pub(crate) struct Ladder {
    /// Where no check has failed.
    sound: Set,
    rungs: Vec<Rung>,
    /// Pieces that end in a failing check.
    faults: Vec<usize>,
    /// What is known of parts below a rung, until garbage is collected.
    known: Known<(Walk, usize, Set), Set>,
}

/// What is asked of a part.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Walk {
    /// Where one step leads.
    Step,
    /// It, and where any number of steps lead.
    Closure,
}

struct Rung {
    first: u32,
    /// The number of the piece, and its relation where no check has failed.
    pieces: Vec<(usize, Set)>,
}

impl Ladder {
    /// All pieces of a relation; `faulty` is where a check has failed.
    pub(crate) fn new(diagrams: &Diagrams, pieces: &[Piece], faulty: &Set) -> Attempt<Self> {
        Self::some(diagrams, pieces, faulty, |_| true)
    }

    /// The pieces of which this is true.
    pub(crate) fn some(
        diagrams: &Diagrams,
        pieces: &[Piece],
        faulty: &Set,
        is_meant: impl Fn(&Piece) -> bool,
    ) -> Attempt<Self> {
        let (mut rungs, mut faults) = (BTreeMap::new(), Vec::new());
        let sound = diagrams.not(faulty)?;
        for (number, piece) in pieces.iter().enumerate().filter(|(_, piece)| is_meant(piece)) {
            if sound != diagrams.yes && diagrams.and(&piece.direct, &sound)? == diagrams.no {
                faults.push(number);
                continue;
            }
            let healthy = diagrams.restrict(&piece.relation, &sound)?;
            let parts = [&healthy, &piece.forgotten, &piece.direct];
            let first = parts.map(|part| diagrams.top(part)).into_iter().min().expect("there are three");
            rungs.entry(first).or_insert_with(Vec::new).push((number, healthy));
        }
        let rungs = rungs.into_iter().map(|(first, pieces)| Rung { first, pieces }).collect();
        Ok(Self { sound, rungs, faults, known: Known::default() })
    }

    /// The states to which a step leads from these.
    pub(crate) fn image(&mut self, climb: &mut Climb<'_, '_>, states: &Set) -> Attempt<Set> {
        let diagrams = climb.diagrams;
        let sound = diagrams.restrict(states, &self.sound)?;
        let next = diagrams.and(&self.walk(climb, Walk::Step, 0, &sound)?, &self.sound)?;
        diagrams.or(&next, &self.faults(climb, states)?)
    }

    /// The ends of failing checks to which a step leads from these.
    pub(crate) fn faults(&self, climb: &mut Climb<'_, '_>, states: &Set) -> Attempt<Set> {
        let mut next = climb.diagrams.no.clone();
        for &number in &self.faults {
            next = climb.diagrams.or(&next, &climb.pieces[number].image(climb.diagrams, states)?)?;
            climb.look()?;
        }
        Ok(next)
    }

    /// What the pieces on a rung and below it make of a part.
    fn walk(&mut self, climb: &mut Climb<'_, '_>, walk: Walk, rung: usize, part: &Set) -> Attempt<Set> {
        let diagrams = climb.diagrams;
        let is_done = rung >= self.rungs.len() || *part == diagrams.no;
        match walk {
            Walk::Step if is_done => return Ok(diagrams.no.clone()),
            Walk::Closure if is_done || *part == diagrams.yes => return Ok(part.clone()),
            _ => {}
        }
        let key = (walk, rung, part.clone());
        if let Some(known) = self.known.get(&key) {
            return Ok(known.clone());
        }
        let next = if let Some((bit, yes, no)) = diagrams.above(part, self.rungs[rung].first) {
            let (yes, no) = (self.walk(climb, walk, rung, &yes)?, self.walk(climb, walk, rung, &no)?);
            diagrams.node(bit, &yes, &no)?
        } else {
            let below = self.walk(climb, walk, rung + 1, part)?;
            match walk {
                Walk::Step => self.step(climb, rung, part, below)?,
                Walk::Closure => self.close(climb, rung, below)?,
            }
        };
        if self.known.len() >= diagrams.most_known() {
            self.forget();
        }
        self.known.insert(key, next.clone());
        Ok(next)
    }

    /// One step of each piece on a rung, and what those below it lead to.
    fn step(&self, climb: &mut Climb<'_, '_>, rung: usize, part: &Set, mut next: Set) -> Attempt<Set> {
        for (number, healthy) in &self.rungs[rung].pieces {
            let image = climb.pieces[*number].image_by(healthy, climb.diagrams, part)?;
            next = climb.diagrams.or(&next, &image)?;
            climb.look()?;
        }
        Ok(next)
    }

    /// Any number of steps of the pieces on a rung, and behind each all that is below.
    fn close(&mut self, climb: &mut Climb<'_, '_>, rung: usize, mut closed: Set) -> Attempt<Set> {
        let pieces = self.rungs[rung].pieces.len();
        let (mut at, mut idle) = (0, 0);
        // Closed when each piece in turn has brought nothing since the set last grew.
        while idle < pieces {
            let more = self.fire(climb, rung, at, &closed)?;
            idle = if more.is_some() { 0 } else { idle + 1 };
            closed = more.unwrap_or(closed);
            at = (at + 1) % pieces;
        }
        Ok(closed)
    }

    /// Everything to which the pieces below the first rung lead, any number of times.
    pub(crate) fn below(&mut self, climb: &mut Climb<'_, '_>, sound: &Set) -> Attempt<Set> {
        self.walk(climb, Walk::Closure, 1, sound)
    }

    /// Everything to which each piece of the first rung once, and then all below it, leads.
    pub(crate) fn round(&mut self, climb: &mut Climb<'_, '_>, mut reached: Set) -> Attempt<Set> {
        for at in 0..self.rungs.first().map_or(0, |rung| rung.pieces.len()) {
            reached = self.fire(climb, 0, at, &reached)?.unwrap_or(reached);
        }
        Ok(reached)
    }

    /// With one step of a piece of a rung, and behind it all that is below; `None` where it brings nothing new.
    fn fire(&mut self, climb: &mut Climb<'_, '_>, rung: usize, at: usize, reached: &Set) -> Attempt<Option<Set>> {
        let diagrams = climb.diagrams;
        let (number, healthy) = &self.rungs[rung].pieces[at];
        let image = climb.pieces[*number].image_by(healthy, diagrams, reached)?;
        climb.look()?;
        if image == diagrams.no {
            return Ok(None);
        }
        let new = diagrams.minus(&image, reached)?;
        if new == diagrams.no {
            return Ok(None);
        }
        let more = diagrams.or(reached, &self.walk(climb, Walk::Closure, rung + 1, &new)?)?;
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
    use crate::encoding::Encoding;
    use crate::relation::Relation;
    use crate::search::saturated;
    use crate::tally::tally;
    use crate::testing;

    /// Each piece on the whole set, and all counted one by one.
    fn plainly(encoding: &Encoding<'_>, relation: &Relation, states: &Set) -> Attempt<(Set, u64)> {
        let diagrams = &encoding.diagrams;
        let (mut next, mut steps) = (diagrams.no.clone(), 0);
        for piece in &relation.pieces {
            next = diagrams.or(&next, &piece.image(diagrams, states)?)?;
            let here = diagrams.and(states, &piece.outcomes.set)?;
            let count = diagrams.count(&here, encoding.bits + piece.outcomes.choice_bits)?;
            steps += saturated(&count);
        }
        Ok((next, steps))
    }

    #[test]
    fn a_walk_down_the_ladder_does_what_the_pieces_do() {
        let (mut layers, mut faults) = (0, 0);
        for model in testing::MODELS {
            let (name, _) = model;
            testing::with(model, |encoding, relation, faulty, watch| {
                let diagrams = &encoding.diagrams;
                let mut ladder = Ladder::new(diagrams, &relation.pieces, faulty)?;
                let mut climb = Climb { diagrams, pieces: &relation.pieces, watch };
                let initial = encoding.single(&encoding.program.initial_state())?;
                let (mut here, mut reached) = (initial.clone(), initial.clone());
                while here != diagrams.no {
                    let (next, steps) = plainly(encoding, relation, &here)?;
                    assert!(ladder.image(&mut climb, &here)? == next, "{name}, layer {layers}");
                    let counted = tally(encoding, relation, faulty, &here)?;
                    assert_eq!(saturated(&counted.steps), steps, "{name}, layer {layers}");
                    for (number, fired) in counted.fired.iter().enumerate() {
                        let of = relation.pieces.iter().filter(|piece| piece.transition.index() == number);
                        let mut happens = of.map(|piece| diagrams.and(&here, &piece.outcomes.set));
                        assert_eq!(*fired, happens.any(|set| set.is_ok_and(|set| set != diagrams.no)), "{name}");
                    }
                    here = diagrams.minus(&next, &reached)?;
                    reached = diagrams.or(&reached, &here)?;
                    layers += 1;
                }
                faults += usize::from(diagrams.and(&reached, faulty)? != diagrams.no);
                // All layers are what saturation reaches, and the failing checks behind it.
                let mut closed = ladder.below(&mut climb, &diagrams.restrict(&initial, &ladder.sound)?)?;
                loop {
                    let more = ladder.round(&mut climb, closed.clone())?;
                    if more == closed {
                        break;
                    }
                    closed = more;
                }
                let sound = diagrams.and(&closed, &ladder.sound)?;
                let all = diagrams.or(&sound, &ladder.faults(&mut climb, &sound)?)?;
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
        ladder: &mut Ladder,
        watch: &mut Watch<'_>,
    ) -> Attempt<(String, String)> {
        let diagrams = &encoding.diagrams;
        let mut climb = Climb { diagrams, pieces: &relation.pieces, watch };
        let initial = encoding.single(&encoding.program.initial_state())?;
        let mut closed = ladder.below(&mut climb, &diagrams.restrict(&initial, &ladder.sound)?)?;
        loop {
            let more = ladder.round(&mut climb, closed.clone())?;
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

    /// A ladder that was bent must count other states in at least one model.
    fn is_noticed(bend: impl Fn(&Encoding<'_>, &mut Relation, &mut Ladder) -> Attempt<()>) -> bool {
        let mut is_noticed = false;
        for model in testing::FEW {
            testing::with(model, |encoding, relation, faulty, watch| {
                let mut ladder = Ladder::new(&encoding.diagrams, &relation.pieces, faulty)?;
                bend(encoding, relation, &mut ladder)?;
                let (counted, states) = both(encoding, relation, faulty, &mut ladder, watch)?;
                is_noticed |= counted != states;
                Ok(())
            });
        }
        is_noticed
    }

    #[test]
    fn a_ladder_that_was_bent_is_noticed() {
        assert!(!is_noticed(|_, _, _| Ok(())), "nothing was bent");
        let lost = is_noticed(|_, _, ladder| {
            ladder.rungs.iter_mut().next_back().and_then(|rung| rung.pieces.pop());
            Ok(())
        });
        assert!(lost, "a piece was lost");
        let forgetful = is_noticed(|encoding, relation, _| {
            let diagrams = &encoding.diagrams;
            let other = relation.pieces.last().expect("there are pieces").forgotten.clone();
            relation.pieces[0].forgotten = diagrams.and(&relation.pieces[0].forgotten, &other)?;
            Ok(())
        });
        assert!(forgetful, "a bit is forgotten that is not written");
        let kept = is_noticed(|encoding, relation, _| {
            relation.pieces[0].forgotten = encoding.diagrams.yes.clone();
            Ok(())
        });
        assert!(kept, "what is written is not forgotten");
        let stale = is_noticed(|encoding, relation, ladder| {
            // As if only the first rung were applied to what is reached, and the others to the beginning.
            let diagrams = &encoding.diagrams;
            let initial = encoding.single(&encoding.program.initial_state())?;
            for rung in 1..ladder.rungs.len() {
                let number = ladder.rungs[rung].pieces[0].0;
                let only = diagrams.and(&relation.pieces[number].relation, &initial)?;
                ladder.rungs[rung].pieces[0].1 = only;
            }
            Ok(())
        });
        assert!(stale, "pieces are applied to the beginning only");
    }
}

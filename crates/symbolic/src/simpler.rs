//! An estimate on sets: the distances to a goal in simpler models (pattern databases: Culberson, Schaeffer 1998; on sets:
//! Edelkamp 2002; added: Korf, Felner 2002).
//!
//! A simpler model keeps some elements of the state and forgets the others: it can do what the model can do with any value
//! of what was forgotten. So a goal is never farther away in it, and a step of the model comes nearer to the goal
//! by one step there, at most: its distances are an optimistic and consistent estimate. They are found by walking back
//! from the goal, all states of one distance at once.
//!
//! What is kept follows from goal and transitions. Each element on whose own value the goal insists is a beginning; those
//! that depend on each other begin together. Then, round by round, what transitions read that write what is kept is
//! kept, too; no element is kept by two models. A transition that writes in several of them is a step in the first and
//! costs nothing in the others: so the distances may be added. Rounds go on while the estimate for the initial state
//! grows and its diagrams stay small. A goal that insists on nothing, such as one of many alternatives, has no such
//! estimate.

use std::collections::BTreeSet;

use birk_exec::heuristic::Cell;
use birk_ir::{Access, Expr, Goal, Program, Transition, VarId};

use crate::backwards::Back;
use crate::diagram::{Attempt, Set};
use crate::encoding::Encoding;
use crate::estimate::{Estimates, added};
use crate::relation::{Piece, Relation};
use crate::value::Algebra;

/// Nodes that the distances in one simpler model may have: more take longer than they save.
const MOST_NODES: usize = 1 << 12;
/// A goal that insists on more elements is not looked at.
const MOST_BEGINNINGS: usize = 64;

type Cells = BTreeSet<Cell>;

/// What the estimate is made from; `look` is called between operations.
pub(crate) struct Simplifier<'s, 'p> {
    pub(crate) encoding: &'s Encoding<'p>,
    pub(crate) relation: &'s Relation,
    pub(crate) look: &'s mut dyn FnMut() -> Attempt<()>,
}

impl Simplifier<'_, '_> {
    /// The best estimate of a goal that is small, if there is any.
    pub(crate) fn estimate(&mut self, asked: &Goal, goal: &Set) -> Attempt<Option<Estimates>> {
        let program = self.encoding.program;
        let links: Vec<Link> = program.transitions.iter().map(|transition| Link::new(program, transition)).collect();
        let mut kept = self.beginnings(asked, goal, &links)?;
        let mut best: Option<(usize, Estimates)> = None;
        while !kept.is_empty() {
            let Some(estimate) = self.sum(goal, &kept)? else { break };
            let steps = self.steps_from_start(&estimate);
            if best.as_ref().is_some_and(|(before, _)| steps <= *before) {
                break;
            }
            best = Some((steps, estimate));
            kept = wider(&kept, &links);
        }
        Ok(best.map(|(_, estimate)| estimate))
    }

    /// The elements on whose own value the goal insists, those that depend on each other together.
    fn beginnings(&mut self, asked: &Goal, goal: &Set, links: &[Link]) -> Attempt<Vec<Cells>> {
        let diagrams = &self.encoding.diagrams;
        let looked_at = looked_at(self.encoding.program, asked);
        let mut groups: Vec<Cells> = Vec::new();
        for cell in looked_at.into_iter().filter(|cell| !self.encoding.places(cell.variable, cell.element).is_empty()) {
            (self.look)()?;
            let mut group = Cells::from([cell]);
            if diagrams.exists(goal, &self.forgotten(&group)?)? == diagrams.yes {
                continue;
            }
            let reads = read_for(&group, links);
            let depends = |other: &mut Cells| !reads.is_disjoint(other) || read_for(other, links).contains(&cell);
            group.extend(groups.extract_if(.., depends).flatten().collect::<Vec<_>>());
            groups.push(group);
            if groups.len() > MOST_BEGINNINGS {
                return Ok(Vec::new());
            }
        }
        Ok(groups)
    }

    /// The distances in the models that keep these elements, added; `None` if they are too large.
    fn sum(&mut self, goal: &Set, kept: &[Cells]) -> Attempt<Option<Estimates>> {
        let diagrams = &self.encoding.diagrams;
        let places: Vec<BTreeSet<u32>> = kept.iter().map(|kept| self.places(kept)).collect();
        let mut sum = vec![diagrams.yes.clone()];
        for (model, own) in places.iter().enumerate() {
            let writes = |piece: &Piece, places: &BTreeSet<u32>| piece.written().any(|place| places.contains(&place));
            let mut steps = Vec::new();
            for piece in self.relation.pieces.iter().filter(|piece| writes(piece, own)) {
                let is_free = places[..model].iter().any(|before| writes(piece, before));
                steps.push(Step { piece, back: Back::new(diagrams, piece)?, is_free });
            }
            let forgotten = self.forgotten(&kept[model])?;
            let Some(distances) = self.distances(goal, &steps, &forgotten)? else { return Ok(None) };
            sum = added(diagrams, &sum, &distances)?;
            (self.look)()?;
        }
        Ok(Some(sum))
    }

    /// The states by their distance to the goal in one model; those in none of the sets never reach it, or are never
    /// reached. What is farther away than the initial state counts as one step farther: it is not worth more nodes.
    fn distances(&mut self, goal: &Set, steps: &[Step<'_>], forgotten: &Set) -> Attempt<Option<Estimates>> {
        let diagrams = &self.encoding.diagrams;
        let initial = self.encoding.program.initial_state();
        let Some(reached) = self.reached(steps, forgotten)? else { return Ok(None) };
        let (mut sets, mut nodes) = (Vec::new(), 0);
        let mut near = diagrams.no.clone();
        let mut next = diagrams.and(&diagrams.exists(goal, forgotten)?, &reached)?;
        while next != diagrams.no {
            let mut here = next;
            // What costs nothing is done to its end.
            loop {
                let mut all = here.clone();
                for step in steps.iter().filter(|step| step.is_free) {
                    all = diagrams.or(&all, &step.before(self.encoding, &all, forgotten)?)?;
                    (self.look)()?;
                }
                all = diagrams.minus(&diagrams.and(&all, &reached)?, &near)?;
                if all == here {
                    break;
                }
                here = all;
            }
            near = diagrams.or(&near, &here)?;
            let mut before = diagrams.no.clone();
            for step in steps.iter().filter(|step| !step.is_free) {
                before = diagrams.or(&before, &step.before(self.encoding, &here, forgotten)?)?;
                (self.look)()?;
            }
            next = diagrams.minus(&diagrams.and(&before, &reached)?, &near)?;
            nodes += diagrams.size(&here);
            if nodes > MOST_NODES {
                return Ok(None);
            }
            let is_start = self.encoding.contains(&here, &initial);
            sets.push(here);
            if is_start {
                let farther = diagrams.minus(&reached, &near)?;
                sets.extend(Some(farther).filter(|farther| *farther != diagrams.no));
                break;
            }
            diagrams.tidy();
        }
        Ok(Some(sets))
    }

    /// The states that one model reaches; `None` if that is too large.
    fn reached(&mut self, steps: &[Step<'_>], forgotten: &Set) -> Attempt<Option<Set>> {
        let diagrams = &self.encoding.diagrams;
        let initial = self.encoding.single(&self.encoding.program.initial_state())?;
        let mut reached = diagrams.exists(&initial, forgotten)?;
        loop {
            let before = reached.clone();
            for step in steps {
                let image = diagrams.exists(&step.piece.image(diagrams, &reached)?, forgotten)?;
                reached = diagrams.or(&reached, &image)?;
                (self.look)()?;
            }
            if diagrams.size(&reached) > MOST_NODES {
                return Ok(None);
            }
            if reached == before {
                return Ok(Some(reached));
            }
            diagrams.tidy();
        }
    }

    /// What an estimate says of the initial state.
    fn steps_from_start(&self, estimate: &Estimates) -> usize {
        let initial = self.encoding.program.initial_state();
        estimate.iter().position(|set| self.encoding.contains(set, &initial)).unwrap_or(usize::MAX)
    }

    fn places(&self, kept: &Cells) -> BTreeSet<u32> {
        kept.iter().flat_map(|cell| self.encoding.places(cell.variable, cell.element)).copied().collect()
    }

    /// All bits of a state but those of some elements.
    fn forgotten(&self, kept: &Cells) -> Attempt<Set> {
        let kept = self.places(kept);
        let forgotten = self.encoding.all_places().filter(|place| !kept.contains(place));
        self.encoding.diagrams.cube(&forgotten.map(|place| (place, true)).collect::<Vec<_>>())
    }
}

/// A piece as a step of a simpler model.
struct Step<'r> {
    piece: &'r Piece,
    back: Back,
    /// It is counted in another model.
    is_free: bool,
}

impl Step<'_> {
    /// From where it leads into these states of the simpler model.
    fn before(&self, encoding: &Encoding<'_>, states: &Set, forgotten: &Set) -> Attempt<Set> {
        encoding.diagrams.exists(&self.back.before(&encoding.diagrams, states)?, forgotten)
    }
}

/// What a transition reads and writes.
struct Link {
    reads: Cells,
    writes: Cells,
}

impl Link {
    fn new(program: &Program, transition: &Transition) -> Self {
        let cells = |accesses: Vec<Access>| accesses.into_iter().flat_map(|access| elements(program, access)).collect();
        Self { reads: cells(transition.reads(program)), writes: cells(transition.writes(program)) }
    }
}

/// None, where the index is out of range.
fn elements(program: &Program, access: Access) -> impl Iterator<Item = Cell> {
    let all = 0..program.variable(access.variable).len();
    let elements = match access.element {
        Some(element) if !all.contains(&element) => 0..0,
        Some(element) => element..element + 1,
        None => all,
    };
    elements.map(move |element| Cell { variable: access.variable, element })
}

/// What transitions read that write one of these elements.
fn read_for(kept: &Cells, links: &[Link]) -> Cells {
    links.iter().filter(|link| !link.writes.is_disjoint(kept)).flat_map(|link| link.reads.iter().copied()).collect()
}

/// Each with what is read for it, as far as no other keeps it; what several want is the first one's.
fn wider(kept: &[Cells], links: &[Link]) -> Vec<Cells> {
    let mut wider = kept.to_vec();
    for (model, own) in kept.iter().enumerate() {
        let is_free = |cell: &Cell| !wider.iter().any(|other| other.contains(cell));
        let new: Vec<Cell> = read_for(own, links).into_iter().filter(is_free).collect();
        wider[model].extend(new);
    }
    wider
}

/// The elements that a goal looks at; all, if it asks whether there is a step.
fn looked_at(program: &Program, goal: &Goal) -> Cells {
    let Goal::BadState(condition) = goal;
    let mut cells = Cells::new();
    condition.walk(&mut |expr| match expr {
        Expr::Var(variable) => cells.extend(elements(program, Access { variable: *variable, element: None })),
        Expr::Element(variable, index) => {
            let element = index.as_const().and_then(|index| u32::try_from(index).ok());
            cells.extend(elements(program, Access { variable: *variable, element }));
        }
        Expr::Stuck => {
            let all = (0..program.variables.len()).map(VarId::new);
            cells.extend(all.flat_map(|variable| elements(program, Access { variable, element: None })));
        }
        _ => {}
    });
    cells
}

#[cfg(test)]
mod tests;

//! Which bit of a diagram is which bit of a state.
//!
//! Each bit of a state has two: its value now and its value after a step, one directly after the other in the order.
//! Behind them come bits for values that a step chooses, beside the element to which they belong.

use std::collections::BTreeMap;

use birk_ir::interval::{Interval, reachable};
use birk_ir::{Program, TransitionId, VarId};

use crate::attempt::{Attempt, Broken};
use crate::bdd::choices::belongings;
use crate::bdd::diagram::{Diagrams, Set, Value};
use crate::bdd::order::order;
use crate::bitvector::{Algebra, Arithmetic};
use crate::expression::{Ground, Scene};

/// The bits of a state, by place: a place is the bit of a diagram for the value now.
pub(crate) type Bits = BTreeMap<u32, bool>;

/// At most so many bits are decided for one transition: each doubles its events.
const MOST_DECIDED: usize = 8;

/// A value that a step chooses.
#[derive(Clone, Debug)]
pub(crate) struct Choice {
    /// What it can be at most.
    pub(crate) range: Interval,
    /// Its bits, the lowest first: the distance from its smallest value.
    pub(crate) bits: Vec<u32>,
}

/// The bits of a program's states.
pub(crate) struct Encoding<'p> {
    pub(crate) program: &'p Program,
    pub(crate) diagrams: Diagrams,
    /// By variable: the values it can have.
    ranges: Vec<Interval>,
    /// By variable and element: the place of each bit, the lowest first.
    places: Vec<Vec<Vec<u32>>>,
    /// By variable and element: its value now.
    current: Vec<Vec<Value>>,
    /// Bits of a state.
    pub(crate) bits: u32,
    /// By transition: what it chooses. Transitions share these bits.
    choices: Vec<Vec<Choice>>,
}

/// The bit of a diagram for the value after a step.
pub(crate) fn after(place: u32) -> u32 {
    place + 1
}

impl<'p> Encoding<'p> {
    /// Bits for every variable, and diagrams over them in this much memory.
    pub(crate) fn new(program: &'p Program, memory: u64) -> Attempt<Self> {
        let mut places: Vec<Vec<Vec<u32>>> =
            program.variables.iter().map(|variable| vec![Vec::new(); variable.len() as usize]).collect();
        let ranges = reachable(program);
        let wide = |variable: VarId| width(ranges.variables[variable.index()]);
        for (id, elements) in places.iter_mut().enumerate() {
            elements.iter_mut().for_each(|places| places.resize(wide(VarId::new(id)) as usize, 0));
        }
        let order = order(program, wide);
        let bits = order.bits.len() as u32;
        for (rank, &(variable, element, bit)) in (0..).zip(&order.bits) {
            places[variable.index()][element as usize][bit as usize] = rank;
        }
        // So far a place is a rank among the bits of states; now the bits of choices come between them.
        let mut slots = Slots::new(order.bits.len());
        let choices: Vec<Vec<(Interval, Vec<Slot>)>> = (program.transitions.iter().zip(&ranges.choices))
            .map(|(transition, ranges)| {
                let ranks = belongings(program, transition).into_iter().map(|elements| middle(&places, &elements));
                slots.take(ranks.zip(ranges.iter().copied()))
            })
            .collect();
        let starts = slots.starts();
        places.iter_mut().flatten().flatten().for_each(|place| *place = starts[*place as usize]);
        let numbers = |(range, slots): (Interval, Vec<Slot>)| {
            let bits = slots.into_iter().map(|(rank, at)| starts[rank] + 2 + at).collect();
            Choice { range, bits }
        };
        let choices = choices.into_iter().map(|choices| choices.into_iter().map(numbers).collect()).collect();
        let ranges = ranges.variables;
        let diagrams =
            Diagrams::of_steps(memory, *starts.last().expect("behind the last is a start too"), order.widest);
        let mut current = Vec::new();
        for (id, elements) in places.iter().enumerate() {
            let value = |places: &Vec<u32>| read(&diagrams, ranges[id], places);
            current.push(elements.iter().map(value).collect::<Attempt<Vec<Value>>>()?);
        }
        Ok(Self { program, diagrams, ranges, places, current, bits, choices })
    }

    /// Where the bits of an element are, the lowest first.
    pub(crate) fn places(&self, variable: VarId, element: u32) -> &[u32] {
        &self.places[variable.index()][element as usize]
    }

    /// By variable: the values it can have.
    pub(crate) fn ranges(&self) -> &[Interval] {
        &self.ranges
    }

    /// Where all bits of a state are.
    pub(crate) fn all_places(&self) -> impl Iterator<Item = u32> {
        self.places.iter().flatten().flatten().copied()
    }

    /// The bits that an element has when this is its value.
    pub(crate) fn code(&self, variable: VarId, value: &Value) -> Attempt<Vec<Set>> {
        let range = self.ranges[variable.index()];
        let from_zero = self.diagrams.sub(value, &self.diagrams.literal(range.0))?;
        Ok((0..width(range) as usize).map(|at| from_zero.bit(at).clone()).collect())
    }

    /// What a transition chooses, by the number of the choice; `None` where it never comes so far.
    pub(crate) fn choice(&self, transition: TransitionId, number: usize) -> Option<&Choice> {
        self.choices[transition.index()].get(number)
    }

    /// The bits of a state.
    pub(crate) fn bits_of(&self, state: &[u32]) -> Bits {
        let mut bits = Bits::new();
        self.each_element(|variable, element, places| {
            let slot = self.program.layout.slot(variable);
            let code = slot.get(state, element) - self.ranges[variable.index()].0;
            bits.extend(places.iter().enumerate().map(|(at, &place)| (place, code >> at & 1 == 1)));
        });
        bits
    }

    /// Where the elements that have one of these bits have values within their bounds.
    pub(crate) fn valid(&self, bits: &[u32]) -> Attempt<Set> {
        let mut parts = Vec::new();
        for (id, elements) in self.places.iter().enumerate() {
            let (lo, hi) = self.ranges[id];
            for places in elements.iter().filter(|places| places.iter().any(|place| bits.contains(place))) {
                let mut code = places.iter().map(|&place| self.diagrams.bit(place)).collect::<Attempt<Vec<Set>>>()?;
                code.push(self.diagrams.no.clone());
                let code = self.diagrams.number(code, (0, i64::MAX));
                parts.push(self.diagrams.not(&self.diagrams.less(&self.diagrams.literal(hi - lo), &code)?)?);
            }
        }
        self.diagrams.all(parts)
    }

    /// The state in which the diagrams' bits are these; those of values after a step are ignored.
    fn state_of(&self, picked: &[bool]) -> Vec<u32> {
        let mut state = vec![0; self.program.layout.words()];
        self.each_element(|variable, element, places| {
            let slot = self.program.layout.slot(variable);
            let code: i64 = places.iter().enumerate().map(|(at, &p)| i64::from(picked[p as usize]) << at).sum();
            slot.set(&mut state, element, self.ranges[variable.index()].0 + code);
        });
        state
    }

    /// One state of a set.
    pub(crate) fn pick(&self, set: &Set) -> Option<Vec<u32>> {
        self.diagrams.pick(set).map(|picked| self.state_of(&picked))
    }

    /// Whether a state is in a set.
    pub(crate) fn contains(&self, set: &Set, state: &[u32]) -> bool {
        self.diagrams.contains(set, self.bits_of(state))
    }

    /// Each element of each variable, with the places of its bits.
    pub(crate) fn each_element(&self, mut visit: impl FnMut(VarId, u32, &[u32])) {
        for (variable, elements) in self.places.iter().enumerate() {
            for (element, places) in elements.iter().enumerate() {
                visit(VarId::new(variable), element as u32, places);
            }
        }
    }

    /// The initial states.
    pub(crate) fn initial(&self) -> Attempt<Set> {
        let mut chosen = Vec::new();
        let mut first = self.bits_of(&self.program.initial_state());
        for choice in &self.program.choices {
            let places = &self.places[choice.variable.index()][choice.element as usize];
            places.iter().for_each(|place| _ = first.remove(place));
            let lo = self.ranges[choice.variable.index()].0;
            let bits = |value: i64| (0..).zip(places).map(move |(at, &place)| (place, (value - lo) >> at & 1 == 1));
            let cubes = choice.values.iter().map(|&value| self.diagrams.cube(&bits(value).collect::<Vec<_>>()));
            chosen.push(self.diagrams.any(cubes.collect::<Attempt<Vec<Set>>>()?)?);
        }
        chosen.push(self.diagrams.cube(&first.into_iter().collect::<Vec<_>>())?);
        self.diagrams.all(chosen)
    }

    /// The set of one state.
    pub(crate) fn single(&self, state: &[u32]) -> Attempt<Set> {
        self.diagrams.cube(&self.bits_of(state).into_iter().collect::<Vec<_>>())
    }
}

/// The rank behind which a choice lies, and which of the bits there it is.
type Slot = (usize, u32);

/// How many bits of choices lie behind each bit of a state.
struct Slots(Vec<u32>);

impl Slots {
    fn new(ranks: usize) -> Self {
        Self(vec![0; ranks.max(1)])
    }

    /// Slots for the choices of one transition: the rank where each should lie, and its range.
    fn take(&mut self, choices: impl Iterator<Item = (Option<usize>, Interval)>) -> Vec<(Interval, Vec<Slot>)> {
        let mut used: BTreeMap<usize, u32> = BTreeMap::new();
        let last = self.0.len() - 1;
        let place = |(rank, range): (Option<usize>, Interval)| {
            let rank = rank.unwrap_or(last);
            let first = used.entry(rank).or_insert(0);
            let slots = (*first..*first + width(range)).map(|at| (rank, at)).collect();
            *first += width(range);
            self.0[rank] = self.0[rank].max(*first);
            (range, slots)
        };
        choices.map(place).collect()
    }

    /// The number of the first bit of each rank, and how many there are in all.
    fn starts(&self) -> Vec<u32> {
        let ends = self.0.iter().scan(0, |end, choices| {
            *end += 2 + choices;
            Some(*end)
        });
        std::iter::once(0).chain(ends).collect()
    }
}

/// The rank in the middle of the bits of some elements.
fn middle(places: &[Vec<Vec<u32>>], elements: &[(VarId, Option<u32>)]) -> Option<usize> {
    let mut ranks: Vec<u32> = Vec::new();
    for &(variable, element) in elements {
        let all = &places[variable.index()];
        match element {
            Some(element) => ranks.extend(all.get(element as usize).into_iter().flatten()),
            None => ranks.extend(all.iter().flatten()),
        }
    }
    ranks.sort_unstable();
    ranks.get(ranks.len() / 2).map(|&rank| rank as usize)
}

impl Ground for Encoding<'_> {
    type Algebra = Diagrams;

    fn algebra(&self) -> &Diagrams {
        &self.diagrams
    }

    fn program(&self) -> &Program {
        self.program
    }

    /// Its value now.
    fn value(&self, variable: VarId, element: u32) -> &Value {
        &self.current[variable.index()][element as usize]
    }

    fn given(&self, value: &Value, decided: &Set) -> Attempt<Value> {
        self.diagrams.given(value, decided)
    }

    fn ask(&self, index: &Value, decidable: usize) -> Attempt<()> {
        match self.diagrams.support(&index.bits, decidable) {
            Some(bits) if !bits.is_empty() => Err(Broken::Undecided(bits)),
            _ => Ok(()),
        }
    }
}

impl<'e, 'p> Scene<'e, Encoding<'p>> {
    /// Nothing is written and nothing is bound. It asks for the values of bits where they would make an index a number, as
    /// long as they are few.
    pub(crate) fn asking(encoding: &'e Encoding<'p>) -> Self {
        let mut scene = Self::new(encoding);
        scene.decidable = MOST_DECIDED;
        scene
    }

    /// The values of some bits are known from here on.
    pub(crate) fn decide(&mut self, bits: &[(u32, bool)]) -> Attempt<()> {
        let diagrams = &self.ground.diagrams;
        self.decided = diagrams.and(&self.decided, &diagrams.cube(bits)?)?;
        self.decidable = self.decidable.saturating_sub(bits.len());
        for value in self.written.values_mut().chain(self.locals.values_mut()) {
            *value = diagrams.given(value, &self.decided)?;
        }
        Ok(())
    }

    /// A bit of the state as it is now, if it is known its value.
    pub(crate) fn bit(&self, place: u32) -> Attempt<Set> {
        let bit = self.ground.diagrams.bit(place)?;
        self.ground.diagrams.restrict(&bit, &self.decided)
    }
}

/// Bits for the distances from the smallest value.
fn width((lo, hi): Interval) -> u32 {
    64 - hi.abs_diff(lo).leading_zeros()
}

/// The number that these bits stand for: the distance from the variable's smallest value.
fn read(diagrams: &Diagrams, (lo, hi): Interval, places: &[u32]) -> Attempt<Value> {
    let mut bits = places.iter().map(|&place| diagrams.bit(place)).collect::<Attempt<Vec<Set>>>()?;
    bits.push(diagrams.no.clone());
    let distance = diagrams.number(bits, (0, hi - lo));
    let value = diagrams.add(&distance, &diagrams.literal(lo))?;
    Ok(Value { lo: value.lo.max(lo), hi: value.hi.min(hi), ..value })
}

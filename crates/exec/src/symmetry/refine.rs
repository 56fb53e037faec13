//! The representative of a state in which names point to names, or pairs of names index an array.
//!
//! Names get colours, from what the state says of them; a name takes into account the colours of those that it is related to, until
//! that tells no more names apart (colour refinement). Names of one colour are tried in every order, but for those that can be
//! swapped without changing the state; the least image wins. Where these orders are too many the first is taken: then some
//! orbits have several representatives, which costs states and nothing else.

use super::action::{Action, Held, Moved, Name, Permutation};

/// Orders of names that are tried for a state.
const MOST_ORDERS: u64 = 5_040;

/// The elements that say something of names.
#[derive(Clone, Debug)]
pub(super) struct Refinement {
    elements: Vec<Element>,
}

/// An element of a variable.
#[derive(Clone, Debug)]
struct Element {
    variable: usize,
    element: u32,
    names: Vec<Name>,
    /// What it shares with its images.
    template: u64,
}

/// A colour for each name of each group.
type Colours = Vec<Vec<u64>>;

impl Refinement {
    pub(super) fn new(action: &Action) -> Self {
        let mut elements = Vec::new();
        for (v, variable) in action.variables.iter().enumerate() {
            for element in 0..variable.slot.len {
                let names: Vec<Name> = variable.names_of(element).collect();
                if names.is_empty() && matches!(variable.held, Held::Number) {
                    continue;
                }
                let mut template = mix(v as u64, 0);
                for (axis, (stride, length, table)) in variable.axes.iter().enumerate() {
                    let index = element / stride % length;
                    template = match table.get(index as usize).copied().flatten() {
                        Some((group, _)) => mix(template, u64::from(group) << 8 | axis as u64),
                        None => mix(template, u64::from(index) << 32 | axis as u64),
                    };
                }
                for (stride, length) in plain_axes(variable) {
                    template = mix(template, u64::from(element / stride % length));
                }
                elements.push(Element { variable: v, element, names, template });
            }
        }
        Self { elements }
    }

    /// The permutation that leads to the representative, and whether that of all images is the same.
    pub(super) fn permutation(&self, action: &Action, state: &[u32]) -> (Permutation, bool) {
        let colours = self.colours(action, state);
        let mut orders: Vec<Vec<u8>> = action.identity();
        for (order, colours) in orders.iter_mut().zip(&colours) {
            order.sort_by_key(|&position| colours[usize::from(position)]);
        }
        let mut cells = Vec::new();
        for (group, order) in orders.iter().enumerate() {
            let mut from = 0;
            while from < order.len() {
                let colour = |at: usize| colours[group][usize::from(order[at])];
                let to = (from..order.len()).find(|&at| colour(at) != colour(from)).unwrap_or(order.len());
                if to - from > 1 {
                    cells.push(Cell::new(action, state, group, from, &order[from..to]));
                }
                from = to;
            }
        }
        let many = cells.iter().fold(1u64, |all, cell| all.saturating_mul(cell.many()));
        if many == 1 || many > MOST_ORDERS {
            return (of_orders(&orders), many == 1);
        }
        (least(action, state, orders, &cells), true)
    }

    fn colours(&self, action: &Action, state: &[u32]) -> Colours {
        let mut colours: Colours =
            action.groups.iter().enumerate().map(|(g, names)| vec![g as u64; names.len()]).collect();
        let mut known = 0;
        loop {
            let mut sums: Colours = colours.iter().map(|group| vec![0; group.len()]).collect();
            for element in &self.elements {
                element.tell(action, state, &colours, &mut sums);
            }
            for (colour, sum) in colours.iter_mut().flatten().zip(sums.iter().flatten()) {
                *colour = mix(*colour, *sum);
            }
            let different = colours.iter().map(|group| count_different(group)).sum();
            if different <= known {
                return colours;
            }
            known = different;
        }
    }
}

impl Element {
    /// Tells each name that this is about what it says of it.
    fn tell(&self, action: &Action, state: &[u32], colours: &Colours, sums: &mut Colours) {
        let variable = &action.variables[self.variable];
        let value = variable.slot.get(state, self.element);
        let colour = |name: Name| colours[usize::from(name.0)][usize::from(name.1)];
        let is_live = variable.is_live(state, self.element);
        let (held, rest): (Vec<Name>, i64) = match &variable.held {
            Held::Name(names) if is_live => {
                match usize::try_from(value).ok().and_then(|value| names.get(value).copied().flatten()) {
                    Some(name) => (vec![name], -1),
                    None => (Vec::new(), value),
                }
            }
            Held::Set(names) if is_live => {
                let is_name = |bit: usize| names.get(bit).copied().flatten().filter(|_| value >> bit & 1 == 1);
                let named = (0..names.len()).filter(|&bit| is_name(bit).is_some()).fold(0, |all, bit| all | 1 << bit);
                ((0..names.len()).filter_map(is_name).collect(), value & !named)
            }
            _ => (Vec::new(), value),
        };
        // The same for all images: the template, the colours of indices in order, those that are held in any order.
        let whole = self.names.iter().fold(mix(self.template, rest as u64), |all, &name| mix(all, colour(name)));
        let whole = mix(whole, held.iter().fold(0u64, |sum, &name| sum.wrapping_add(mix(colour(name), 1))));
        let mut tell = |name: Name, role: u64| {
            // Which of the indices are the name itself, and whether it is held.
            let own = self.names.iter().fold(0, |own, &other| own << 1 | u64::from(other == name));
            let is_held = u64::from(held.contains(&name));
            let sum = &mut sums[usize::from(name.0)][usize::from(name.1)];
            *sum = sum.wrapping_add(mix(whole, role << 32 | own << 1 | is_held));
        };
        self.names.iter().zip(2..).for_each(|(&name, role)| tell(name, role));
        held.iter().for_each(|&name| tell(name, 1));
    }
}

/// The dimensions that are not indexed by names.
fn plain_axes(variable: &Moved) -> Vec<(u32, u32)> {
    let mut axes = Vec::new();
    let mut stride = variable.slot.len;
    for (inner, length, _) in &variable.axes {
        // What lies outside of this axis and inside of the one before.
        if stride > inner * length {
            axes.push((inner * length, stride / (inner * length)));
        }
        stride = *inner;
    }
    axes.push((1, stride.max(1)));
    axes
}

/// Names of one colour.
struct Cell {
    group: usize,
    /// Where they begin in the order of their group.
    from: usize,
    /// Which of them are interchangeable with each other: sorted, and the names in the same order.
    twins: Vec<u8>,
    names: Vec<u8>,
}

impl Cell {
    fn new(action: &Action, state: &[u32], group: usize, from: usize, order: &[u8]) -> Self {
        let mut classes: Vec<Vec<u8>> = Vec::new();
        for &name in order {
            let is_twin = |class: &&mut Vec<u8>| {
                let mut swap = action.identity();
                swap[group].swap(usize::from(class[0]), usize::from(name));
                action.image(&swap, state) == state
            };
            match classes.iter_mut().find(is_twin) {
                Some(class) => class.push(name),
                None => classes.push(vec![name]),
            }
        }
        let twins = classes.iter().zip(0..).flat_map(|(class, twin)| class.iter().map(move |_| twin)).collect();
        Self { group, from, twins, names: classes.concat() }
    }

    /// How many orders there are that make a difference.
    fn many(&self) -> u64 {
        let factorial = |many: u64| (1..=many).fold(1u64, u64::saturating_mul);
        let same = |twin: u8| self.twins.iter().filter(|&&other| other == twin).count() as u64;
        let twins = self.twins.last().map_or(0, |&last| last + 1);
        (0..twins).fold(factorial(self.twins.len() as u64), |many, twin| many / factorial(same(twin)).max(1))
    }

    /// Writes the names in the order that these twins are in.
    fn write(&self, twins: &[u8], order: &mut [u8]) {
        let mut next: Vec<usize> = Vec::new();
        for twin in 0..=*self.twins.last().unwrap_or(&0) {
            next.push(self.twins.iter().position(|&other| other == twin).unwrap_or(0));
        }
        for (place, &twin) in twins.iter().enumerate() {
            order[self.from + place] = self.names[next[usize::from(twin)]];
            next[usize::from(twin)] += 1;
        }
    }
}

/// The order with the least image.
fn least(action: &Action, state: &[u32], mut orders: Vec<Vec<u8>>, cells: &[Cell]) -> Permutation {
    let mut twins: Vec<Vec<u8>> = cells.iter().map(|cell| cell.twins.clone()).collect();
    let mut best: Option<(Vec<u32>, Permutation)> = None;
    loop {
        for (cell, twins) in cells.iter().zip(&twins) {
            cell.write(twins, &mut orders[cell.group]);
        }
        let permutation = of_orders(&orders);
        let image = action.image(&permutation, state);
        if best.as_ref().is_none_or(|(least, _)| image < *least) {
            best = Some((image, permutation));
        }
        // The next order of the first cell that has one; those before it begin again.
        if !twins.iter_mut().any(|twins| next_order(twins)) {
            break;
        }
    }
    best.map_or_else(|| action.identity(), |(_, permutation)| permutation)
}

/// The next order of some numbers that may be equal; the first one again after the last, which is said.
fn next_order(numbers: &mut [u8]) -> bool {
    let Some(rises) = (1..numbers.len()).rev().find(|&at| numbers[at - 1] < numbers[at]) else {
        numbers.sort_unstable();
        return false;
    };
    let larger = (rises..numbers.len()).rev().find(|&at| numbers[at] > numbers[rises - 1]).unwrap_or(rises);
    numbers.swap(rises - 1, larger);
    numbers[rises..].reverse();
    true
}

/// The permutation that brings names into these orders.
fn of_orders(orders: &[Vec<u8>]) -> Permutation {
    super::action::inverse(&orders.to_vec())
}

fn count_different(group: &[u64]) -> usize {
    let mut sorted = group.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    sorted.len()
}

/// Two numbers made one, so that different ones are unlikely to give the same.
fn mix(one: u64, other: u64) -> u64 {
    let mixed = (one ^ other.rotate_left(32)).wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(other);
    let mixed = (mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed ^ mixed >> 32
}

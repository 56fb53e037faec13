//! What was reached as an inductive invariant: the combinations of bits that no reached state has.
//!
//! A sum of products by Minato and Morreale: each product leaves out what it can, also by including states beyond the bounds of
//! variables, which no state has. In diagrams a value is its distance from the smallest one of its variable; an invariant is about the
//! bits of the value itself.

use std::collections::BTreeMap;

use birk_ir::interval::Interval;
use birk_ir::{BitIs, Invariant, VarId};

use crate::attempt::Attempt;
use crate::bdd::diagram::{Diagrams, Set};
use crate::bdd::encoding::Encoding;
use crate::bdd::search::Watch;
use crate::bitvector::{Algebra, width};

/// There is no invariant of more products than this.
const MOST_PRODUCTS: usize = 5_000;
/// Nor one about part of a variable that does not begin with 0 and has more values than this.
const MOST_VALUES: i64 = 1 << 10;

/// Bits of a diagram, and whether each is set.
type Product = Vec<(u32, bool)>;
/// Which bit of a value is set.
type Pattern = Vec<(u32, bool)>;

/// The invariant that a state is one of these; none where it would be too large.
pub(crate) fn of(encoding: &Encoding<'_>, states: &Set, watch: &mut Watch<'_>) -> Attempt<Option<Invariant>> {
    let diagrams = &encoding.diagrams;
    let places: Vec<u32> = encoding.all_places().collect();
    let (others, valid) = (diagrams.not(states)?, encoding.valid(&places)?);
    let wanted = diagrams.and(&others, &valid)?;
    let allowed = diagrams.or(&others, &diagrams.not(&valid)?)?;
    let mut sum = Sum { diagrams, watch, count: 0 };
    let Some((products, _)) = sum.of(&wanted, &allowed)? else { return Ok(None) };
    let mut meaning = BTreeMap::new();
    encoding.each_element(|variable, element, places| {
        meaning.extend((0..).zip(places).map(|(at, &place)| (place, (variable, element, at))));
    });
    let mut excluded = Vec::new();
    for product in products {
        match cubes(encoding.ranges(), &meaning, &product) {
            Some(cubes) if excluded.len() + cubes.len() <= MOST_PRODUCTS => excluded.extend(cubes),
            _ => return Ok(None),
        }
    }
    Ok(Some(Invariant { bounds: encoding.ranges().to_vec(), excluded }))
}

/// Products whose sum is between two sets.
struct Sum<'d, 'w, 'o> {
    diagrams: &'d Diagrams,
    watch: &'w mut Watch<'o>,
    count: usize,
}

impl Sum<'_, '_, '_> {
    /// Products that include all of the first and nothing beyond the second, and what they include; none if there are too many.
    fn of(&mut self, wanted: &Set, allowed: &Set) -> Attempt<Option<(Vec<Product>, Set)>> {
        let diagrams = self.diagrams;
        if *wanted == diagrams.no {
            return Ok(Some((Vec::new(), diagrams.no.clone())));
        }
        if *allowed == diagrams.yes {
            self.count += 1;
            return Ok((self.count <= MOST_PRODUCTS).then(|| (vec![Vec::new()], diagrams.yes.clone())));
        }
        self.watch.look(diagrams)?;
        let top = |set: &Set| if *set == diagrams.yes { u32::MAX } else { diagrams.top(set) };
        let bit = top(wanted).min(top(allowed));
        let ([wanted_yes, wanted_no], [allowed_yes, allowed_no]) = (self.sides(wanted, bit), self.sides(allowed, bit));
        let Some((yes, in_yes)) = self.of(&diagrams.minus(&wanted_yes, &allowed_no)?, &allowed_yes)? else {
            return Ok(None);
        };
        let Some((no, in_no)) = self.of(&diagrams.minus(&wanted_no, &allowed_yes)?, &allowed_no)? else {
            return Ok(None);
        };
        let left = diagrams.or(&diagrams.minus(&wanted_yes, &in_yes)?, &diagrams.minus(&wanted_no, &in_no)?)?;
        let Some((both, in_both)) = self.of(&left, &diagrams.and(&allowed_yes, &allowed_no)?)? else {
            return Ok(None);
        };
        let included = diagrams.or(&diagrams.node(bit, &in_yes, &in_no)?, &in_both)?;
        let with = |is_set: bool| {
            move |mut product: Product| {
                product.push((bit, is_set));
                product
            }
        };
        let products = yes.into_iter().map(with(true)).chain(no.into_iter().map(with(false))).chain(both);
        Ok(Some((products.collect(), included)))
    }

    /// What a function is where a bit is set, and where it is not; it decides none before it.
    fn sides(&self, function: &Set, bit: u32) -> [Set; 2] {
        let is_constant = *function == self.diagrams.yes || *function == self.diagrams.no;
        match (!is_constant).then(|| self.diagrams.above(function, bit + 1)).flatten() {
            Some((_, yes, no)) => [yes, no],
            None => [function.clone(), function.clone()],
        }
    }
}

/// A product in terms of the bits of values: several, where a variable does not begin with 0.
fn cubes(
    ranges: &[Interval],
    meaning: &BTreeMap<u32, (VarId, u32, u32)>,
    product: &Product,
) -> Option<Vec<Vec<BitIs>>> {
    let mut elements: BTreeMap<(VarId, u32), Pattern> = BTreeMap::new();
    for &(place, is_set) in product {
        let (variable, element, at) = meaning[&place];
        elements.entry((variable, element)).or_default().push((at, is_set));
    }
    let mut cubes: Vec<Vec<BitIs>> = vec![Vec::new()];
    for ((variable, element), distance) in elements {
        let patterns = patterns(ranges[variable.index()], &distance)?;
        let bits = |pattern: &Pattern| -> Vec<BitIs> {
            pattern.iter().map(|&(bit, is_set)| BitIs { variable, element, bit, is_set }).collect()
        };
        cubes = cubes.iter().flat_map(|cube| patterns.iter().map(|of| [&cube[..], &bits(of)].concat())).collect();
        if cubes.len() > MOST_PRODUCTS {
            return None;
        }
    }
    Some(cubes)
}

/// The patterns of the values whose distances from the smallest one have these bits.
fn patterns((lo, hi): Interval, distance: &Pattern) -> Option<Vec<Pattern>> {
    if lo == 0 {
        return Some(vec![distance.clone()]);
    }
    if hi - lo >= MOST_VALUES {
        return None;
    }
    let is_meant = |value: i64| distance.iter().all(|&(bit, is_set)| ((value - lo) >> bit & 1 == 1) == is_set);
    let bits = width(lo, hi) as u32;
    let mut found = Vec::new();
    let mut open: Vec<Pattern> = vec![Vec::new()];
    while let Some(pattern) = open.pop() {
        let is_within = |value: &i64| pattern.iter().all(|&(bit, is_set)| (value >> bit & 1 == 1) == is_set);
        let values: Vec<i64> = (lo..=hi).filter(is_within).collect();
        let meant = values.iter().filter(|&&value| is_meant(value)).count();
        if meant > 0 && meant == values.len() {
            found.push(pattern);
        } else if meant > 0 {
            let next = bits - 1 - pattern.len() as u32;
            open.extend([true, false].map(|is_set| [&pattern[..], &[(next, is_set)]].concat()));
        }
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Patterns are true of the values that are meant, and of no other within the bounds.
    #[test]
    fn distances_become_values() {
        for (lo, hi) in [(0, 5), (1, 6), (-3, 4), (-9, -2), (-1, 0), (7, 8), (100, 163)] {
            for distance in
                [vec![(0, true)], vec![(0, false), (1, true)], vec![(2, true)], vec![(1, false), (2, false)]]
            {
                let patterns = patterns((lo, hi), &distance).expect("they are few");
                for value in lo..=hi {
                    let is =
                        |pattern: &Pattern, value: i64| pattern.iter().all(|&(b, set)| (value >> b & 1 == 1) == set);
                    let found = patterns.iter().filter(|pattern| is(pattern, value)).count();
                    assert_eq!(found, usize::from(is(&distance, value - lo)), "{lo}..{hi}, {value}, {distance:?}");
                }
            }
        }
        assert_eq!(patterns((1, 5_000), &vec![(0, true)]), None);
    }
}

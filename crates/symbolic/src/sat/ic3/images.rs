//! The images of a cube under the symmetries of a program. What cannot be reached has images that hardly can: each is asked for by one
//! question, where another cube like it would have to be found and made as large.

use std::collections::{BTreeMap, BTreeSet};

use birk_exec::{Automorphisms, Generator, Holds};
use birk_ir::VarId;
use birk_ir::interval::Interval;

use super::{Bit, Cube, Proof};
use crate::attempt::Attempt;

#[cfg(test)]
mod tests;

/// So many images of a cube are asked for.
const MOST_IMAGES: usize = 64;
/// Names are not looked for among more values of a variable.
const MOST_VALUES: i64 = 256;

/// What swaps and rotations of names make of cubes.
pub(super) struct Images<'s> {
    generators: Vec<Generator<'s>>,
    /// For each bit, of which element it is; for each element, its first bit and how many it has.
    free: Vec<Bit>,
    elements: BTreeMap<(VarId, u32), (usize, usize)>,
    ranges: &'s [Interval],
}

impl<'s> Images<'s> {
    pub(super) fn new(automorphisms: Option<&'s Automorphisms>, free: &[Bit], ranges: &'s [Interval]) -> Self {
        let mut elements = BTreeMap::new();
        for (bit, &(variable, element, _)) in free.iter().enumerate() {
            elements.entry((variable, element)).or_insert((bit, 0)).1 += 1;
        }
        let generators = automorphisms.map_or_else(Vec::new, Automorphisms::generators);
        Self { generators, free: free.to_vec(), elements, ranges }
    }

    /// The images that are cubes, too: of a part of the bits of a name, none need be.
    fn of(&self, cube: &Cube) -> impl Iterator<Item = Cube> {
        self.generators.iter().filter_map(|generator| self.image(generator, cube))
    }

    fn image(&self, generator: &Generator<'_>, cube: &Cube) -> Option<Cube> {
        let mut image = Vec::with_capacity(cube.len());
        let place = |bit: usize| (self.free[bit].0, self.free[bit].1);
        for part in cube.chunk_by(|one, other| place(one.0) == place(other.0)) {
            let (variable, element) = place(part[0].0);
            let (mut known, mut value) = (0, 0);
            for &(bit, is_set) in part {
                known |= 1 << self.free[bit].2;
                value |= i64::from(is_set) << self.free[bit].2;
            }
            let (to, _) = generator.image(variable, element, 0);
            let &(first, width) = self.elements.get(&(variable, to))?;
            let renamed = |value| generator.image(variable, element, value).1;
            (known, value) = match generator.holds(variable) {
                Holds::Numbers => (known, value),
                Holds::Sets => (renamed(known), renamed(value)),
                Holds::Names => self.names((variable, width), (known, value), renamed)?,
            };
            if known >> width != 0 {
                return None;
            }
            image.extend((0..width).filter(|at| known >> at & 1 == 1).map(|at| (first + at, value >> at & 1 == 1)));
        }
        image.sort_unstable();
        Some(image)
    }

    /// Which bits of so many are known of the images of those values of a variable of which some are, if exactly these values have them.
    fn names(
        &self,
        (variable, width): (VarId, usize),
        (known, value): (i64, i64),
        renamed: impl Fn(i64) -> i64,
    ) -> Option<(i64, i64)> {
        let (lo, hi) = self.ranges[variable.index()];
        if hi - lo >= MOST_VALUES {
            return None;
        }
        let like = |(known, value): (i64, i64)| (lo..=hi).filter(move |other| other & known == value);
        let images: Vec<i64> = like((known, value)).map(renamed).collect();
        let (all, any) = images.iter().fold((-1, 0), |(all, any), image| (all & image, any | image));
        let known = !(all ^ any) & ((1 << width) - 1);
        (like((known, all & known)).count() == images.len()).then_some((known, all & known))
    }
}

impl Proof<'_, '_, '_> {
    /// Excludes the images of a cube from a frame that excludes it, as far as no step leads to them.
    pub(super) fn exclude_images(&mut self, cube: Cube, frame: usize) -> Attempt<()> {
        let mut seen = BTreeSet::from([cube.clone()]);
        let mut open = vec![cube];
        while let Some(cube) = open.pop() {
            let images: Vec<Cube> = self.images.of(&cube).collect();
            for image in images {
                if seen.len() > MOST_IMAGES || !seen.insert(image.clone()) || self.initial.is_in(&image) {
                    continue;
                }
                let is_part = |cube: &Cube| cube.iter().all(|bit| image.contains(bit));
                if self.frames[frame..].iter().flatten().any(is_part) {
                    continue;
                }
                if let Ok(core) = self.predecessor(&image, frame - 1)? {
                    self.exclude(core, frame);
                    open.push(image);
                }
            }
        }
        Ok(())
    }
}

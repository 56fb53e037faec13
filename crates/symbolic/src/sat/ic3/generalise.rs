//! Cubes with fewer conditions: what is excluded is made as large as can be.

use super::{Cube, Proof};
use crate::attempt::Attempt;

/// How deep what hinders a generalisation is itself generalised.
pub(super) const DEPTH: u32 = 1;
/// So many cubes that hinder one generalisation are excluded before it is given up.
const MOST_HINDERING: usize = 3;

impl Proof<'_, '_, '_> {
    /// A cube with fewer conditions, into which no step leads from a frame either. Conditions of little use go first. What hinders
    /// that is excluded, where it can be, and in turn generalised so deep.
    pub(super) fn generalised(&mut self, mut cube: Cube, frame: usize, depth: u32) -> Attempt<Cube> {
        let mut order = cube.clone();
        order.sort_by_key(|&(bit, _)| self.activity[bit]);
        for bit in order {
            if cube.len() == 1 || !cube.contains(&bit) {
                continue;
            }
            let fewer: Cube = cube.iter().copied().filter(|&other| other != bit).collect();
            if self.initial.is_in(&fewer) {
                continue;
            }
            if let Some(core) = self.excludable(&fewer, frame, depth)? {
                cube = core;
            }
        }
        Ok(cube)
    }

    /// What of a cube is needed so that no step leads from a frame into it. A step that does is no reason to give up if the states
    /// where it begins can be excluded from the frame: counterexamples to generalisation (Hassan, Bradley and Somenzi, "Better
    /// Generalization in IC3", 2013).
    fn excludable(&mut self, cube: &Cube, frame: usize, depth: u32) -> Attempt<Option<Cube>> {
        for _ in 0..=MOST_HINDERING {
            let found = match self.predecessor(cube, frame)? {
                Ok(core) => return Ok(Some(core)),
                Err(found) => found,
            };
            if depth == 0 || frame == 0 {
                return Ok(None);
            }
            let hinders = self.widened(&found, cube)?;
            if self.initial.is_in(&hinders) {
                return Ok(None);
            }
            let Ok(core) = self.predecessor(&hinders, frame - 1)? else { return Ok(None) };
            let wide = self.generalised(core, frame - 1, depth - 1)?;
            self.exclude_far(wide, frame)?;
        }
        Ok(None)
    }
}

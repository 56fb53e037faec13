//! The ways in which a transition can end, on whatever bits: in a state, or in one of its checks.

use std::collections::BTreeMap;

use birk_ir::{Expr, LocalId, Op, Place, Transition, VarId};

use crate::attempt::Attempt;
use crate::bitvector::{Algebra, Arithmetic, Number};
use crate::expression::{BitOf, Ground, Scene, ValueOf};

/// An element of a variable.
pub(crate) type Element = (VarId, u32);

/// One way in which a step can end.
pub(crate) struct End<B> {
    /// Where it can.
    pub(crate) path: B,
    pub(crate) written: BTreeMap<Element, Number<B>>,
    /// What was chosen on the way.
    pub(crate) chosen: Vec<Number<B>>,
}

/// Where values can be chosen.
pub(crate) trait Choosing: Ground {
    /// A number that may be any between these, or some beyond them; none if there is none.
    fn any_between(&self, lo: &ValueOf<Self>, hi: &ValueOf<Self>) -> Option<ValueOf<Self>>;
}

/// Where the thread is at the transition's location, its guard is true, and no check has failed.
pub(crate) fn enabled<'g, G: Ground>(ground: &'g G, transition: &Transition) -> Attempt<(BitOf<G>, Scene<'g, G>)> {
    let (program, algebra) = (ground.program(), ground.algebra());
    let thread = program.thread(transition.thread);
    let counter = Expr::element(program.kinds[thread.kind].counter, Expr::Const(i64::from(thread.copy)));
    let here = counter.equals(transition.location.index() as i64);
    let faulty = program.fault.map_or(Expr::FALSE, Expr::Var);
    let mut scene = Scene::new(ground);
    let at = scene.truth(&here.and(faulty.negate()))?;
    // Elsewhere the guard needs no gates.
    if at == *algebra.no() {
        return Ok((at, scene));
    }
    let guard = scene.truth(&transition.guard)?;
    Ok((algebra.and(&at, &guard)?, scene))
}

/// The ways in which a transition can end.
pub(crate) fn of<G: Choosing>(ground: &G, transition: &Transition, ends: &mut Vec<End<BitOf<G>>>) -> Attempt<()> {
    let (algebra, no) = (ground.algebra(), ground.algebra().no());
    let (mut path, mut scene) = enabled(ground, transition)?;
    let mut all_chosen = Vec::new();
    for op in &transition.ops {
        if path == *no {
            return Ok(());
        }
        match op {
            Op::Assign(place, value) => assign(&mut scene, place, value)?,
            Op::Let(local, value) => name(&mut scene, *local, value)?,
            Op::Check(condition, _) => {
                let condition = scene.truth(condition)?;
                let failing = algebra.minus(&path, &condition)?;
                if failing != *no {
                    let flag = ground.program().fault.expect("a program with checks has a fault flag");
                    let mut written = scene.written.clone();
                    written.insert((flag, 0), algebra.literal(1));
                    ends.push(End { path: failing, written, chosen: all_chosen.clone() });
                }
                path = algebra.and(&path, &condition)?;
            }
            Op::Assume(condition) | Op::Require(condition) => {
                path = algebra.and(&path, &scene.truth(condition)?)?;
            }
            Op::Choose(local, lo, hi) => {
                let (lo, hi) = (scene.value(lo)?, scene.value(hi)?);
                let Some(chosen) = ground.any_between(&lo, &hi) else { return Ok(()) };
                path = algebra.and(&path, &is_within(algebra, &chosen, &lo, &hi)?)?;
                all_chosen.push(chosen.clone());
                scene.bind(*local, chosen);
            }
        }
    }
    if path != *no {
        ends.push(End { path, written: scene.written, chosen: all_chosen });
    }
    Ok(())
}

/// Where a number is between these.
pub(crate) fn is_within<A: Arithmetic>(
    algebra: &A,
    value: &Number<A::Bit>,
    lo: &Number<A::Bit>,
    hi: &Number<A::Bit>,
) -> Attempt<A::Bit> {
    // Compared as if nothing were known of it.
    let any = Number { lo: i64::MIN, hi: i64::MAX, ..value.clone() };
    let (low, high) = (algebra.less(&any, lo)?, algebra.less(hi, &any)?);
    algebra.and(&algebra.not(&low)?, &algebra.not(&high)?)
}

/// Writes the value of an expression.
pub(crate) fn assign<G: Ground>(scene: &mut Scene<'_, G>, place: &Place, value: &Expr) -> Attempt<()> {
    let (value, index) = (scene.value(value)?, scene.index(place)?);
    scene.assign(place, &index, &value)
}

/// Gives the value of an expression a name.
pub(crate) fn name<G: Ground>(scene: &mut Scene<'_, G>, local: LocalId, value: &Expr) -> Attempt<()> {
    let value = scene.value(value)?;
    scene.bind(local, value);
    Ok(())
}

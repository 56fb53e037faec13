//! Which elements a chosen value belongs to, so that its bits can lie beside theirs in the order.
//!
//! A choice whose bits came after all others would have to remember all states in which it is possible: with eighteen
//! gates that may each move, every subset. Beside the element that it decides it remembers next to nothing.

use std::collections::{BTreeMap, BTreeSet};

use birk_ir::{Expr, LocalId, Op, Place, Program, Transition, VarId};

/// An element of a variable; `None` is any element.
type Element = (VarId, Option<u32>);

/// For each value that a transition chooses: the elements which it decides, or else those that its bounds read.
pub(crate) fn belongings(program: &Program, transition: &Transition) -> Vec<Vec<Element>> {
    let mut flow = Flow::default();
    for op in &transition.ops {
        match op {
            Op::Assign(place, value) => {
                let from = flow.of(value);
                flow.elements.insert(target(place), from);
            }
            Op::Let(local, value) => {
                let from = flow.of(value);
                flow.locals.insert(*local, from);
            }
            Op::Choose(local, lo, hi) => {
                flow.locals.insert(*local, BTreeSet::from([flow.bounds.len()]));
                flow.bounds.push([elements(lo), elements(hi)].concat());
            }
            Op::Check(..) | Op::Assume(_) | Op::Require(_) => {}
        }
    }
    let counters: Vec<VarId> = program.kinds.iter().map(|kind| kind.counter).collect();
    let decided = |choice: usize| {
        let all = flow.elements.iter().filter(|(element, _)| !counters.contains(&element.0));
        all.filter(|(_, from)| from.contains(&choice)).map(|(&element, _)| element).collect::<Vec<Element>>()
    };
    let belongs = |(choice, bounds): (usize, &Vec<Element>)| match decided(choice) {
        decided if decided.is_empty() => bounds.clone(),
        decided => decided,
    };
    flow.bounds.iter().enumerate().map(belongs).collect()
}

/// Which choices the values of a step depend on.
#[derive(Default)]
struct Flow {
    locals: BTreeMap<LocalId, BTreeSet<usize>>,
    /// Of what was written last.
    elements: BTreeMap<Element, BTreeSet<usize>>,
    /// By choice: the elements that its bounds read.
    bounds: Vec<Vec<Element>>,
}

impl Flow {
    fn of(&self, expr: &Expr) -> BTreeSet<usize> {
        let mut found = BTreeSet::new();
        expr.walk(&mut |expr| {
            if let Expr::Local(local) = expr {
                found.extend(self.locals.get(local).into_iter().flatten());
            }
        });
        for element in elements(expr) {
            found.extend(self.elements.get(&element).into_iter().flatten());
        }
        found
    }
}

fn target(place: &Place) -> Element {
    match &place.index {
        None => (place.variable, Some(0)),
        Some(index) => element(place.variable, index),
    }
}

fn element(variable: VarId, index: &Expr) -> Element {
    (variable, index.as_const().and_then(|index| u32::try_from(index).ok()))
}

fn elements(expr: &Expr) -> Vec<Element> {
    let mut found = Vec::new();
    expr.walk(&mut |expr| match expr {
        Expr::Var(variable) => found.push((*variable, Some(0))),
        Expr::Element(variable, index) => found.push(element(*variable, index)),
        _ => {}
    });
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(body: &str) -> Vec<Vec<String>> {
        let text = format!(
            "system S {{ boolean x; boolean y; boolean z; int (0, 1)[2] m; active thread T() {{ loc l: {body} goto l; }} }}"
        );
        let loaded = birk_lang::load(&text, &[]);
        let program = loaded.program.unwrap_or_else(|| panic!("{:#?}", loaded.diagnostics));
        let named = |&(variable, element): &Element| format!("{} {element:?}", program.variable(variable).name);
        let belongings = belongings(&program, &program.transitions[0]);
        belongings.iter().map(|elements| elements.iter().map(named).collect()).collect()
    }

    #[test]
    fn a_choice_belongs_to_what_it_decides() {
        let found = of(
            "do { m[0] := choose(0, 1); m[1] := choose(0, 1); x := x != (m[0] == 1); y := m[1] == 1; m[0] := 0; m[1] := 0; }",
        );
        assert_eq!(found, [["x Some(0)"], ["y Some(0)"]]);
    }

    #[test]
    fn a_choice_that_decides_nothing_belongs_to_its_bounds() {
        assert_eq!(of("do { m[0] := choose(0, z ? 1 : 0); m[0] := 0; }"), [["z Some(0)"]]);
    }
}

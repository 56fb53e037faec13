//! The second kind of certificate: for each property an inductive invariant, which a person can read.
//!
//! The checker makes sure of three things, each for all states at once: the invariant is true initially (*initiation*), no step leads
//! from a state in which it is true to one in which it is not (*consecution*), and it excludes what is bad (*safety*). Besides the
//! clauses, an invariant says that every variable has a value of its type: that, too, is not believed but checked. Where properties
//! are inductive together, they themselves are a part of the invariant.

use birk_ir::{Expr, Program, Property, PropertyKind, TransitionId, VarId};

use crate::circuit::{Bit, Circuit};
use crate::evaluate::Evaluator;
use crate::file::{Opened, TOGETHER, unfit};
use crate::notation::{self, Clauses, Cube, Names};
use crate::symbolic::{Choice, State};
use crate::{Evidence, MayGoOn, Refusal};

/// Checks the invariants of all properties.
pub(crate) fn check(program: &Program, opened: &Opened<'_>, may_go_on: MayGoOn<'_>) -> Result<Evidence, Refusal> {
    if let Some(reason) = program.interpreted_only() {
        return Err(Refusal::Unknown(reason.to_owned()));
    }
    let Ok(text) = std::str::from_utf8(opened.body) else { return unfit("it is damaged: it is not UTF-8 text") };
    let mut lines = text.lines().peekable();
    let names = Names::new(program);
    let own = if lines.next_if_eq(&TOGETHER).is_some() { &opened.properties[..] } else { &[] };
    if own.iter().any(|(property, _)| matches!(property.kind, PropertyKind::Deadlock)) {
        return unfit("that there is no deadlock cannot be a part of an invariant");
    }
    let (mut clauses, mut queries) = (own.len() as u64, 0);
    for (property, bad) in &opened.properties {
        if lines.next().and_then(|line| line.strip_prefix("invariant of ")) != Some(&property.name) {
            return unfit(&format!("it is damaged: the invariant of `{}` is missing", property.name));
        }
        let of: Vec<&str> = std::iter::from_fn(|| lines.next_if(|line| !line.starts_with("invariant "))).collect();
        let proof = Proof { program, property, own, clauses: names.read(of)?, may_go_on };
        proof.initiation()?;
        queries += proof.consecution()? + proof.safety(bad)?;
        clauses += proof.clauses.cubes.len() as u64;
    }
    match lines.next() {
        Some(line) => unfit(&format!("its line `{line}` is about no property that it names")),
        None => Ok(Evidence::Invariants(clauses, queries)),
    }
}

/// The invariant of one property.
struct Proof<'a> {
    program: &'a Program,
    property: &'a Property,
    /// The properties that are a part of it, and what they exclude.
    own: &'a [(&'a Property, Expr)],
    clauses: Clauses<'a>,
    may_go_on: MayGoOn<'a>,
}

impl Proof<'_> {
    /// The invariant is true initially.
    fn initiation(&self) -> Result<(), Refusal> {
        let values = |number: usize, element: usize| self.program.initial_values(VarId::new(number), element as u32);
        for (number, (variable, (lo, hi))) in self.program.variables.iter().zip(&self.clauses.bounds).enumerate() {
            let mut all = (0..variable.initial.len()).flat_map(|element| values(number, element));
            if all.any(|value| !(lo..=hi).contains(&value)) {
                return self.fails(&format!("`{}` is initially not in {lo}..{hi}", variable.title()));
            }
        }
        // Elements begin independently of each other; a cube may ask several things of one.
        let can_be = |cube: &Cube| {
            cube.iter().all(|(of, _)| {
                let asked = || cube.iter().filter(|(other, _)| other == of);
                values(of.0.index(), of.1 as usize).iter().any(|&value| asked().all(|(_, is)| is.is_true(value)))
            })
        };
        if let Some((_, line)) = self.clauses.cubes.iter().find(|(cube, _)| can_be(cube)) {
            return self.fails(&format!("an initial state is excluded by `{line}`"));
        }
        let bad: Vec<Expr> = self.own.iter().map(|(_, bad)| bad.clone()).collect();
        let evaluator = Evaluator::new(self.program, &bad);
        for state in evaluator.initial() {
            if let Some(at) = bad.iter().position(|bad| evaluator.is_true(bad, &state, false)) {
                return self.fails(&format!("`{}` is not true initially", self.own[at].0.name));
            }
        }
        Ok(())
    }

    /// Any state in which the invariant is true.
    fn any<'c, 'a>(&self, circuit: &'c Circuit<'a>) -> Result<State<'c, 'a, '_>, Refusal> {
        let mut state = State::any(circuit, self.program, &self.clauses);
        for (_, bad) in self.own {
            let is_bad = state.holds(bad)?;
            circuit.require(&[!is_bad]);
        }
        Ok(state)
    }

    /// The invariant stays true with every step; how many questions that took.
    fn consecution(&self) -> Result<u64, Refusal> {
        let mut queries = 0;
        for (number, step) in self.program.transitions.iter().enumerate() {
            if !(self.may_go_on)() {
                return Err(Refusal::Stopped);
            }
            let circuit = &Circuit::new(self.may_go_on);
            let before = self.any(circuit)?;
            for mut end in before.step(step, Choice::Any)?.0 {
                let mut violations = self.violations(circuit, [&before, &end.state]);
                for (property, bad) in self.own {
                    violations.push((end.state.holds(bad)?, property.name.clone()));
                }
                let is_violated = circuit.any(violations.iter().map(|(bit, _)| *bit));
                queries += 1;
                if circuit.can_be(&[end.path, is_violated])? {
                    let broken = violations.iter().find(|(bit, _)| circuit.is_set(*bit)).map_or("", |(_, text)| text);
                    let [from, to] = [&before, &end.state].map(|s| notation::state(self.program, &s.solution()));
                    let id = self.program.transition_text(TransitionId::new(number));
                    return self.fails(&format!("`{broken}` does not stay true: {id} leads from {from} to {to}"));
                }
            }
        }
        Ok(queries)
    }

    /// What must not be true at the end of a step, as far as the step matters, and how the invariant says that.
    fn violations(&self, circuit: &Circuit<'_>, [before, after]: [&State<'_, '_, '_>; 2]) -> Vec<(Bit, String)> {
        let is_changed = |element| after.written.get(&element).is_some_and(|value| value != before.read(element));
        let mut violations = Vec::new();
        for &element in after.written.keys().filter(|element| is_changed(**element)) {
            let (lo, hi) = self.clauses.bounds[element.0.index()];
            let name = self.program.element_name(element.0, element.1);
            violations.push((!after.is_within(element, (lo, hi)), format!("always {name} in {lo}..{hi}")));
        }
        for (cube, line) in &self.clauses.cubes {
            if cube.iter().any(|(element, _)| is_changed(*element)) {
                let is_true = circuit.all(cube.iter().map(|(of, is)| after.condition(*of, is)));
                violations.push((is_true, (*line).to_owned()));
            }
        }
        violations
    }

    /// The invariant excludes what is bad; how many questions that took.
    fn safety(&self, bad: &Expr) -> Result<u64, Refusal> {
        let circuit = &Circuit::new(self.may_go_on);
        let mut state = self.any(circuit)?;
        let is_bad = state.holds(bad)?;
        if !circuit.can_be(&[is_bad])? {
            return Ok(1);
        }
        let values = state.solution();
        // Where choices decide whether a step is possible, the encoding knows only some of them.
        let evaluator = Evaluator::new(self.program, std::slice::from_ref(bad));
        let stuck = evaluator.expand(&values, &mut |_, _| {});
        match evaluator.is_true(bad, &values, stuck) {
            true => self
                .fails(&format!("it does not exclude a state that is bad: {}", notation::state(self.program, &values))),
            false => Err(Refusal::Unknown(
                "whether a step is possible depends on what it chooses, and the encoding knows only one choice"
                    .to_owned(),
            )),
        }
    }

    fn fails<T>(&self, reason: &str) -> Result<T, Refusal> {
        Err(Refusal::Fails(format!("the invariant of `{}` proves nothing: {reason}", self.property.name)))
    }
}

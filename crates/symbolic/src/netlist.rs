//! A program as a circuit, for tools that read AIGER 1.9.
//!
//! A latch is a bit of the state. In each cycle, inputs select a transition, and what it chooses; where that transition is not
//! possible, the state stays as it is, which neither adds states nor brings any nearer. Goals are bad state properties, of latches
//! alone: what Birk finds in n steps is bad in cycle n, counted from 0. Where there are several initial states, latches begin with
//! anything, and a constraint on the first cycle says with what.

mod file;
mod gates;

use birk_ir::interval::{Interval, reachable};
use birk_ir::{Expr, Op, Program, Transition, VarId};

use crate::attempt::{Attempt, Broken};
use crate::bitvector::{Algebra, Arithmetic, Number, width};
use crate::ends::{self, Choosing, End, enabled};
use crate::expression::{Ground, Scene};
use crate::sat::depends_on_choices;
use gates::{Gates, Wire};

/// A latch, with what it becomes.
struct Latch {
    name: String,
    output: Wire,
    next: Wire,
    /// What it begins with; either where there is none.
    reset: Option<bool>,
}

/// A circuit.
pub struct Netlist {
    system: String,
    gates: Gates,
    inputs: Vec<(String, Wire)>,
    latches: Vec<Latch>,
    bads: Vec<(String, Wire)>,
    constraints: Vec<(String, Wire)>,
}

impl Netlist {
    /// The circuit of a program, with a bad state property for each of these goals; or why there is none.
    pub fn new(program: &Program, goals: &[(String, Expr)]) -> Result<Self, String> {
        if let Some(reason) = program.interpreted_only() {
            return Err(reason.to_owned());
        }
        let ranges = reachable(program).variables;
        let gates = Gates::default();
        let built = {
            let state = State::new(&gates, program, &ranges);
            Builder { state: &state, inputs: Vec::new() }.build(goals)
        };
        match built {
            Ok((inputs, latches, bads, constraints)) => {
                Ok(Self { system: program.system.clone(), gates, inputs, latches, bads, constraints })
            }
            Err(Broken::Refused(reason)) => Err(reason),
            Err(Broken::Stopped(_) | Broken::Undecided(_)) => unreachable!("gates neither stop nor ask"),
        }
    }
}

/// The bits of one state.
struct State<'g, 'p> {
    gates: &'g Gates,
    program: &'p Program,
    values: Vec<Vec<Number<Wire>>>,
}

impl<'g, 'p> State<'g, 'p> {
    fn new(gates: &'g Gates, program: &'p Program, ranges: &[Interval]) -> Self {
        let variables = program.variables.iter().zip(ranges);
        let values = variables.map(|(variable, &range)| (0..variable.len()).map(|_| free(gates, range)).collect());
        Self { gates, program, values: values.collect() }
    }
}

impl Ground for State<'_, '_> {
    type Algebra = Gates;

    fn algebra(&self) -> &Gates {
        self.gates
    }

    fn program(&self) -> &Program {
        self.program
    }

    fn value(&self, variable: VarId, element: u32) -> &Number<Wire> {
        &self.values[variable.index()][element as usize]
    }
}

impl Choosing for State<'_, '_> {
    fn any_between(&self, lo: &Number<Wire>, hi: &Number<Wire>) -> Option<Number<Wire>> {
        (lo.lo <= hi.hi).then(|| free(self.gates, (lo.lo, hi.hi)))
    }
}

/// A number between these that may be any, or some beyond them of as many bits.
fn free(gates: &Gates, (lo, hi): Interval) -> Number<Wire> {
    if lo == hi {
        return gates.literal(lo);
    }
    let mut bits: Vec<Wire> = (1..width(lo, hi)).map(|_| gates.source()).collect();
    bits.push(match (lo, hi) {
        (0.., _) => *gates.no(),
        (_, ..0) => *gates.yes(),
        _ => gates.source(),
    });
    Number { bits, lo, hi }
}

/// Inputs, latches, bads and constraints.
type Parts = (Vec<(String, Wire)>, Vec<Latch>, Vec<(String, Wire)>, Vec<(String, Wire)>);

struct Builder<'s, 'g, 'p> {
    state: &'s State<'g, 'p>,
    inputs: Vec<(String, Wire)>,
}

impl Builder<'_, '_, '_> {
    fn build(mut self, goals: &[(String, Expr)]) -> Attempt<Parts> {
        let ends = self.ends()?;
        let mut latches = self.latches(&ends)?;
        let asks = |goal: &Expr| {
            let mut asks = false;
            goal.walk(&mut |part| asks |= *part == Expr::Stuck);
            asks
        };
        let is_asked = goals.iter().any(|(_, goal)| asks(goal));
        let stuck = if is_asked { self.stuck()? } else { *self.state.gates.no() };
        let mut bads = Vec::new();
        for (name, goal) in goals {
            bads.push((name.clone(), Scene::with_stuck(self.state, &stuck).truth(goal)?));
        }
        let constraints = self.constraints(&mut latches)?;
        Ok((self.inputs, latches, bads, constraints))
    }

    /// The ways in which steps can end, each where its transition is selected. Choices of different transitions share inputs.
    fn ends(&mut self) -> Attempt<Vec<End<Wire>>> {
        let (gates, transitions) = (self.state.gates, &self.state.program.transitions);
        let bits = usize::BITS - transitions.len().saturating_sub(1).leading_zeros();
        for bit in 0..bits {
            self.inputs.push((format!("select[{bit}]"), gates.source()));
        }
        let select: Vec<Wire> = self.inputs.iter().map(|&(_, wire)| wire).collect();
        let mut all = Vec::new();
        for (number, transition) in transitions.iter().enumerate() {
            let mut selected = *gates.yes();
            for (bit, wire) in select.iter().enumerate() {
                let is_set = number >> bit & 1 == 1;
                selected = gates.and(&selected, &if is_set { *wire } else { gates.not(wire)? })?;
            }
            let first = all.len();
            gates.share_from_first();
            ends::of(self.state, transition, &mut all)?;
            for end in &mut all[first..] {
                end.path = gates.and(&end.path, &selected)?;
            }
        }
        gates.end_sharing();
        let shared = gates.all_shared();
        self.inputs.extend(shared.into_iter().enumerate().map(|(at, wire)| (format!("choose[{at}]"), wire)));
        Ok(all)
    }

    /// The bits of the state. At most one end is taken.
    fn latches(&self, ends: &[End<Wire>]) -> Attempt<Vec<Latch>> {
        let (gates, program) = (self.state.gates, self.state.program);
        let mut latches = Vec::new();
        for variable in (0..program.variables.len()).map(VarId::new) {
            for element in 0..program.variable(variable).len() {
                let now = self.state.value(variable, element);
                let mut next = now.clone();
                for (end, value) in ends.iter().filter_map(|end| Some((end, end.written.get(&(variable, element))?))) {
                    let bits = (0..now.bits.len()).map(|at| gates.ite(&end.path, value.bit(at), next.bit(at)));
                    next = Number { bits: bits.collect::<Attempt<_>>()?, ..*now };
                }
                let initial = program.initial_values(variable, element);
                let outputs = now.bits.iter().enumerate().filter(|(_, bit)| !gates.is_constant(**bit));
                let outputs: Vec<(usize, Wire)> = outputs.map(|(at, bit)| (at, *bit)).collect();
                for &(at, output) in &outputs {
                    let name = program.element_name(variable, element);
                    let name = if outputs.len() > 1 { format!("{name}[{at}]") } else { name };
                    let first = initial[0] >> at & 1;
                    let reset = initial.iter().all(|value| value >> at & 1 == first).then_some(first == 1);
                    latches.push(Latch { name, output, next: *next.bit(at), reset });
                }
            }
        }
        Ok(latches)
    }

    /// In the first cycle, what begins with one of several values has one of them.
    fn constraints(&self, latches: &mut Vec<Latch>) -> Attempt<Vec<(String, Wire)>> {
        let (gates, program) = (self.state.gates, self.state.program);
        if program.choices.is_empty() {
            return Ok(Vec::new());
        }
        let goes_on = gates.source();
        latches.push(Latch { name: "goes_on".into(), output: goes_on, next: *gates.yes(), reset: Some(false) });
        let mut constraints = Vec::new();
        for choice in &program.choices {
            let value = self.state.value(choice.variable, choice.element);
            let is_one = choice.values.iter().map(|&one| gates.equal(value, &gates.literal(one)));
            let is_one = gates.any(is_one.collect::<Attempt<_>>()?)?;
            let name = format!("begin {}", program.element_name(choice.variable, choice.element));
            constraints.push((name, gates.or(&goes_on, &is_one)?));
        }
        Ok(constraints)
    }

    /// Where no step is possible.
    fn stuck(&self) -> Attempt<Wire> {
        let gates = self.state.gates;
        let mut possible = *gates.no();
        for transition in &self.state.program.transitions {
            possible = gates.or(&possible, &self.is_possible(transition)?)?;
        }
        gates.not(&possible)
    }

    /// Where a transition has an outcome. A check that fails is one, and what is cut is no deadlock.
    fn is_possible(&self, transition: &Transition) -> Attempt<Wire> {
        if depends_on_choices(transition) {
            let thread = &self.state.program.thread(transition.thread).name;
            return Err(Broken::Refused(format!(
                "whether a step of {thread} is possible depends on what it chooses, which a circuit cannot ask of all values at once; \
                 leave out deadlocks"
            )));
        }
        let gates = self.state.gates;
        let (path, mut scene) = enabled(self.state, transition)?;
        // Where it goes on, and where it has ended well before.
        let (mut on, mut ended) = (path, *gates.no());
        let last = transition.ops.iter().rposition(|op| matches!(op, Op::Require(_)));
        for op in &transition.ops[..last.map_or(0, |last| last + 1)] {
            match op {
                Op::Assign(place, value) => ends::assign(&mut scene, place, value)?,
                Op::Let(local, value) => ends::name(&mut scene, *local, value)?,
                Op::Check(condition, _) | Op::Assume(condition) => {
                    let condition = scene.truth(condition)?;
                    ended = gates.or(&ended, &gates.minus(&on, &condition)?)?;
                    on = gates.and(&on, &condition)?;
                }
                Op::Require(condition) => on = gates.and(&on, &scene.truth(condition)?)?,
                Op::Choose(..) => unreachable!("nothing is required behind a choice"),
            }
        }
        gates.or(&on, &ended)
    }
}

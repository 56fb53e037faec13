//! A circuit as a program: one thread, the clock, whose locations are `run` and one for each bad state property.
//!
//! In `run`, a step is a cycle: inputs are chosen, and all latches change together. Another step leads to the location of a bad if
//! that is true with some inputs, and ends the execution. Both need all invariant constraints, so that a bad counts only where they
//! held in every cycle up to its own, and where they cannot be met the execution ends. Latches without a reset value are chosen by
//! a first step, `power`. For justice and fairness, variables say what was true in the last cycle.

mod justice;

use birk_ir::{
    Diagnostic, Expr, Layout, Location, LocationId, Op, Place, Program, Property, PropertyKind, Span, Thread, ThreadId,
    ThreadKind, ThreadRole, Transition, ValueKind, VarId, VarRole, Variable,
};

use crate::circuit::{Circuit, Signal};
use crate::graph::{Edge, Graph, Node};
use crate::names::Names;
use crate::step::Step;
use justice::Watched;

/// What the thread is called.
const CLOCK: &str = "Clock";
/// Where cycles begin.
const RUN: &str = "run";
/// Where latches without a reset value get one.
const POWER: &str = "power";

/// The signals of a circuit in its graph.
struct Signals {
    next: Vec<Edge>,
    bads: Vec<Edge>,
    constraints: Vec<Edge>,
    justice: Vec<Vec<Edge>>,
    fairness: Vec<Edge>,
}

/// The program of a circuit, unless a gate depends on itself.
pub(crate) fn of(circuit: &Circuit, diagnostics: &mut Vec<Diagnostic>) -> Option<Program> {
    let bads = bads(circuit);
    if bads.is_empty() && circuit.justice.is_empty() {
        let message = "there is nothing to check: no bad state property, no justice property, and no output";
        let help =
            "the sixth number of the header says how many bad state properties there are; without any, outputs are bad";
        diagnostics.push(Diagnostic::new("E3010", circuit.header, message, "nothing is asked").help(help));
    }
    let mut graph = Graph::new(circuit);
    match signals(circuit, bads, &mut graph) {
        Ok(signals) => Some(Builder::new(circuit, bads, &graph, &signals).program()),
        Err(variable) => {
            let span = circuit.definitions[variable].1;
            let message = format!("the gate {} depends on itself", variable * 2);
            let help = "what is kept from one cycle to the next is a latch";
            diagnostics.push(Diagnostic::new("E3009", span, message, "in a circle").help(help));
            None
        }
    }
}

/// The bad state properties; in a file that knows none, the outputs.
pub(crate) fn bads(circuit: &Circuit) -> &[Signal] {
    if circuit.bads.is_empty() && circuit.justice.is_empty() { &circuit.outputs } else { &circuit.bads }
}

fn signals(circuit: &Circuit, bads: &[Signal], graph: &mut Graph) -> Result<Signals, usize> {
    // Whether or not somebody asks for it.
    for variable in 0..circuit.definitions.len() {
        graph.edge(circuit, variable as u32 * 2)?;
    }
    let mut edge = |literal: u32| graph.edge(circuit, literal);
    let mut of = |signals: &[Signal]| signals.iter().map(|signal| edge(signal.literal)).collect::<Result<Vec<_>, _>>();
    let (bads, constraints, fairness) = (of(bads)?, of(&circuit.constraints)?, of(&circuit.fairness)?);
    let next = circuit.latches.iter().map(|latch| edge(latch.next)).collect::<Result<_, _>>()?;
    let mut justice = Vec::new();
    for one in &circuit.justice {
        justice.push(one.literals.iter().map(|&literal| edge(literal)).collect::<Result<_, _>>()?);
    }
    Ok(Signals { next, bads, constraints, justice, fairness })
}

struct Builder<'a> {
    circuit: &'a Circuit,
    bads: &'a [Signal],
    graph: &'a Graph,
    signals: &'a Signals,
    variables: Vec<Variable>,
    /// The variables of the latches.
    latches: Vec<VarId>,
    watched: Watched,
    /// Names of properties, in their order.
    properties: Vec<String>,
    counter: VarId,
}

impl<'a> Builder<'a> {
    fn new(circuit: &'a Circuit, bads: &'a [Signal], graph: &'a Graph, signals: &'a Signals) -> Self {
        let mut names = Names::without(&["fault"]);
        let mut variables: Vec<Variable> = circuit
            .latches
            .iter()
            .enumerate()
            .map(|(number, latch)| {
                let name = names.name(latch.name.as_deref(), 'l', number);
                boolean(name, latch.reset == Some(true), latch.span)
            })
            .collect();
        let latches = (0..variables.len()).map(VarId::new).collect();
        let watched = Watched::new(circuit, signals, &mut names, &mut variables);
        let mut names = Names::without(&["deadlock", "fault", RUN, POWER]);
        let of_bads = if circuit.bads.is_empty() { 'o' } else { 'b' };
        let name_bad = |(number, bad): (usize, &Signal)| names.name(bad.name.as_deref(), of_bads, number);
        let mut properties: Vec<String> = bads.iter().enumerate().map(name_bad).collect();
        let justice = circuit.justice.iter().enumerate();
        properties.extend(justice.map(|(number, one)| names.name(one.name.as_deref(), 'j', number)));
        let counter = VarId::new(variables.len());
        Self { circuit, bads, graph, signals, variables, latches, watched, properties, counter }
    }

    fn begins_with_power(&self) -> bool {
        self.circuit.latches.iter().any(|latch| latch.reset.is_none())
    }

    /// The location of a bad.
    fn location_of(&self, bad: usize) -> LocationId {
        LocationId::new(bad + 1)
    }

    fn program(mut self) -> Program {
        let header = self.circuit.header;
        let mut locations = vec![location(RUN, header)];
        let bads = self.bads.iter().zip(&self.properties);
        locations.extend(bads.map(|(bad, name)| location(name, bad.span)));
        let power = self.begins_with_power().then(|| LocationId::new(locations.len()));
        locations.extend(power.map(|_| location(POWER, header)));
        let names: Vec<String> = locations.iter().map(|location| location.name.clone()).collect();
        self.variables.push(Variable {
            name: format!("{CLOCK}@"),
            role: VarRole::Counter(0),
            lo: 0,
            hi: names.len() as i64 - 1,
            shape: vec![1],
            values: ValueKind::Names(names),
            initial: vec![power.map_or(0, |power| power.index() as i64)],
            span: header,
        });
        let mut transitions = vec![self.cycle()];
        transitions.extend((0..self.bads.len()).map(|bad| self.bad(bad)));
        let in_run = transitions.len() as u32;
        let mut at = vec![(in_run, in_run); locations.len()];
        at[0] = (0, in_run);
        if let Some(power) = power {
            at[power.index()] = (in_run, in_run + 1);
            transitions.push(self.power(power));
        }
        let properties = self.properties();
        let kind = ThreadKind {
            name: CLOCK.into(),
            role: ThreadRole::Thread,
            span: header,
            locations,
            counter: self.counter,
            copies: 1,
            indexed: false,
            fair: false,
            crashed: None,
        };
        Program {
            system: "AIGER".into(),
            constants: Vec::new(),
            channels: Vec::new(),
            choices: Vec::new(),
            layout: Layout::of(&self.variables),
            variables: self.variables,
            kinds: vec![kind],
            threads: vec![Thread { name: CLOCK.into(), kind: 0, copy: 0, at }],
            transitions,
            faults: Vec::new(),
            fault: None,
            property_faults: Vec::new(),
            // A clock that stops where constraints cannot be met is no deadlock.
            valid_end: Expr::TRUE,
            properties,
        }
    }

    /// Neither deadlock nor runtime errors: a circuit knows neither.
    fn properties(&self) -> Vec<Property> {
        let here = |location: LocationId| Expr::element(self.counter, Expr::FALSE).equals(location.index() as i64);
        let of_bads = self
            .bads
            .iter()
            .enumerate()
            .map(|(bad, signal)| (PropertyKind::Invariant(here(self.location_of(bad)).negate()), signal.span));
        let in_run = here(LocationId::new(0));
        let of_justice = self.circuit.justice.iter().enumerate();
        let of_justice = of_justice.map(|(number, one)| {
            let formula = self.watched.violated(number, &in_run, !self.bads.is_empty());
            (PropertyKind::Ltl(formula), one.span)
        });
        let all = of_bads.chain(of_justice).zip(&self.properties);
        all.map(|((kind, span), name)| Property { name: name.clone(), kind, span: Some(span) }).collect()
    }

    /// All latches take their next values.
    fn cycle(&self) -> Transition {
        let mut changing: Vec<(VarId, Edge)> = Vec::new();
        for (number, &next) in self.signals.next.iter().enumerate() {
            let is_kept = self.graph.nodes[next.node()] == Node::Latch(number as u32) && !next.is_negated();
            if !is_kept {
                changing.push((self.latches[number], next));
            }
        }
        changing.extend(self.watched.signals());
        let edges: Vec<Edge> = changing.iter().map(|&(_, edge)| edge).collect();
        let mut step = Step::new(self.graph, &self.latches, &self.signals.constraints, &edges);
        step.keep(&edges);
        for (variable, edge) in changing {
            let value = step.value(edge);
            step.ops.push(write(variable, value));
        }
        step.ops.extend(self.watched.tick());
        self.transition(step, [LocationId::new(0); 2], 0, self.circuit.header)
    }

    /// A bad is true.
    fn bad(&self, bad: usize) -> Transition {
        let required = [&self.signals.constraints[..], &[self.signals.bads[bad]]].concat();
        let mut step = Step::new(self.graph, &self.latches, &required, &[]);
        let target = self.location_of(bad);
        step.ops.push(self.go(target));
        self.transition(step, [LocationId::new(0), target], bad + 1, self.bads[bad].span)
    }

    /// Latches without a reset value get one.
    fn power(&self, power: LocationId) -> Transition {
        let mut step = Step::new(self.graph, &self.latches, &[], &[]);
        for (latch, &variable) in self.circuit.latches.iter().zip(&self.latches) {
            if latch.reset.is_none() {
                let value = step.choose();
                step.ops.push(write(variable, value));
            }
        }
        step.ops.push(self.go(LocationId::new(0)));
        self.transition(step, [power, LocationId::new(0)], 0, self.circuit.header)
    }

    fn go(&self, target: LocationId) -> Op {
        let place = Place { variable: self.counter, index: Some(Expr::FALSE) };
        Op::Assign(place, Expr::Const(target.index() as i64))
    }

    fn transition(&self, step: Step<'_>, [from, to]: [LocationId; 2], ordinal: usize, span: Span) -> Transition {
        Transition {
            thread: ThreadId::new(0),
            location: from,
            ordinal: ordinal as u32,
            target: Some(to),
            span,
            guard_span: None,
            parts: Vec::new(),
            guard: Expr::TRUE,
            ops: step.ops,
            locals: step.count,
            fair: None,
            then: None,
            receiver: None,
        }
    }
}

/// A location where it is proper to stay.
fn location(name: &str, span: Span) -> Location {
    Location { name: name.to_owned(), span, end: true, accept: false, progress: false }
}

fn write(variable: VarId, value: Expr) -> Op {
    Op::Assign(Place { variable, index: None }, value)
}

/// A variable that is true or false.
fn boolean(name: String, initial: bool, span: Span) -> Variable {
    Variable {
        name,
        role: VarRole::Global,
        lo: 0,
        hi: 1,
        shape: Vec::new(),
        values: ValueKind::Boolean,
        initial: vec![i64::from(initial)],
        span,
    }
}

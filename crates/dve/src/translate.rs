//! A system of DVE in BIR, with the same steps: a process is a thread, a state a location, a transition a guarded command.

mod expression;

use std::collections::{BTreeSet, HashSet};
use std::fmt::Write as _;

use birk_ir::{RESERVED, Resolve, Span, Translated, Unsayable};

use crate::ast::{Expr, ExprKind, Name, Process, Sync, System, Transition, Type, Variable};
use crate::context::{Context, Symbol};
use crate::parser;

/// The text of a correct system in BIR, or why there is none.
pub fn translate(text: &str, overrides: &[(String, String)], _resolve: Resolve<'_>) -> Translated {
    let parser::Parsed { tree: system, .. } = parser::parse(text);
    let cx = Context::new(vec![text], &system, overrides);
    let names = names(&system);
    let mut writer =
        Writer { cx, names, out: String::new(), helpers: BTreeSet::new(), refused: None, is_outside: false };
    writer.out.push_str(head(text));
    writer.system(&system);
    match writer.refused {
        Some(refused) => Err(refused),
        None => Ok(writer.out),
    }
}

/// The comments that a text begins with.
fn head(text: &str) -> &str {
    let mut rest = text;
    loop {
        let trimmed = rest.trim_start();
        rest = match trimmed {
            _ if trimmed.starts_with("//") => trimmed.find('\n').map_or("", |end| &trimmed[end + 1..]),
            _ if trimmed.starts_with("/*") => trimmed.find("*/").map_or("", |end| &trimmed[end + 2..]),
            _ => return &text[..text.len() - rest.len()],
        };
    }
}

/// All names that are declared somewhere.
fn names(system: &System) -> HashSet<String> {
    let variables = system.variables.iter().chain(system.processes.iter().flat_map(|process| &process.variables));
    let mut all: HashSet<String> = variables.map(|variable| variable.name.text.clone()).collect();
    all.extend(system.channels.iter().map(|channel| channel.name.text.clone()));
    for process in &system.processes {
        all.insert(process.name.text.clone());
        all.extend(process.states.iter().map(|state| state.text.clone()));
    }
    all
}

/// A text on its way.
pub(super) struct Writer<'a> {
    pub(super) cx: Context<'a>,
    names: HashSet<String>,
    out: String,
    /// The functions that expressions need.
    pub(super) helpers: BTreeSet<&'static str>,
    /// What BIR cannot say.
    refused: Option<Unsayable>,
    /// Behind the threads, whose variables are then written with their names.
    pub(super) is_outside: bool,
}

impl Writer<'_> {
    /// Something that BIR cannot say.
    pub(super) fn refuse(&mut self, span: Span, message: String) {
        self.refused.get_or_insert(Unsayable { span, message });
    }

    /// A name that is free in BIR.
    pub(super) fn fresh(&self, wanted: &str) -> String {
        let mut name = wanted.to_owned();
        while self.names.contains(&name) || RESERVED.contains(&name.as_str()) {
            name.push('_');
        }
        name
    }

    /// A name of the system, of a state, or of a variable of a process.
    pub(super) fn name(&self, name: &Name) -> String {
        if RESERVED.contains(&name.text.as_str()) { self.fresh(&name.text) } else { name.text.clone() }
    }

    /// A constant, which belongs to the whole system in BIR.
    pub(super) fn constant(&self, process: Option<usize>, name: &Name) -> String {
        match process {
            Some(process) => self.fresh(&format!("{}_{}", self.cx.system.processes[process].name.text, name.text)),
            None => self.name(name),
        }
    }

    fn system(&mut self, system: &System) {
        if let Some(property) = &system.property {
            let message = format!("`{}` is a Büchi automaton: translate the system without it", property.text);
            self.refuse(property.span, message);
        }
        let mut body = String::new();
        std::mem::swap(&mut body, &mut self.out);
        for variable in &system.variables {
            self.variable(variable, None);
        }
        for (number, process) in system.processes.iter().enumerate() {
            for variable in process.variables.iter().filter(|variable| variable.is_const) {
                self.variable(variable, Some(number));
            }
        }
        self.channels(system);
        self.committed(system);
        for (number, process) in system.processes.iter().enumerate() {
            self.process(number, process);
        }
        self.is_outside = true;
        for (number, process) in system.processes.iter().enumerate() {
            for (at, (state, condition)) in process.assertions.iter().enumerate() {
                let name = self.fresh(&format!("{}_{}_{at}", process.name.text, state.text));
                let place = format!("{}@{}", self.name(&process.name), self.name(state));
                let condition = self.condition(Some(number), condition, expression::IMPLIES);
                _ = writeln!(self.out, "invariant {name}: {place} => {condition};");
            }
        }
        std::mem::swap(&mut body, &mut self.out);
        _ = writeln!(self.out, "system {} {{", self.fresh("Model"));
        let helpers: String =
            self.helpers.iter().map(|name| expression::helper(name, &|name| self.fresh(name))).collect();
        self.out += &helpers;
        self.out += &body;
        self.out.push_str("}\n");
    }

    fn variable(&mut self, variable: &Variable, process: Option<usize>) {
        let scope = process.map_or(&self.cx.globals, |process| &self.cx.processes[process].names);
        let Some((symbol, _)) = scope.get(&variable.name.text).cloned() else { return };
        let name = match variable.is_const {
            true => self.constant(process, &variable.name),
            false => self.name(&variable.name),
        };
        let (id, length) = match symbol {
            Symbol::Variable { id, length, .. } => (id, length),
            Symbol::Constant(value) => {
                _ = writeln!(self.out, "const {name} = {value};");
                return;
            }
            _ => return,
        };
        let initial = self.cx.variables[id.index()].initial.clone();
        let values: Vec<String> = initial.iter().map(ToString::to_string).collect();
        if variable.is_const {
            let cases: String =
                values.iter().enumerate().skip(1).map(|(i, value)| format!("i == {i} ? {value} : ")).collect();
            let (last, first) = (values.len() - 1, &values[0]);
            _ = writeln!(self.out, "function {name}(int (0, {last}) i): int = {cases}{first};");
            return;
        }
        let ty = ty(variable.ty);
        let length = match (&variable.length, length) {
            (Some(written), Some(_)) => format!("[{}]", self.number(process, written, 0)),
            _ => String::new(),
        };
        let start = match initial.first() {
            _ if initial.iter().any(|value| *value != initial[0]) => format!(" := {{{}}}", values.join(", ")),
            Some(0) | None => String::new(),
            Some(value) => format!(" := {value}"),
        };
        _ = writeln!(self.out, "{ty}{length} {name}{start};");
    }

    fn channels(&mut self, system: &System) {
        for channel in &system.channels {
            let Some((Symbol::Channel(number), _)) = self.cx.globals.get(&channel.name.text).cloned() else { continue };
            let capacity = self.cx.channels[number].buffer.as_ref().map_or(0, |buffer| buffer.capacity);
            let types: Vec<&str> = match &channel.types {
                Some(types) => types.iter().map(|of| ty(*of)).collect(),
                // What a rendezvous transmits is stored by the receiver only.
                None => vec!["int"; self.values(system, &channel.name.text)],
            };
            let name = self.name(&channel.name);
            let of = match &types[..] {
                [] => "byte".to_owned(),
                [one] => (*one).to_owned(),
                several => {
                    let record = self.fresh(&format!("{}_message", channel.name.text));
                    let fields = several.iter().enumerate().map(|(at, ty)| format!("{ty} value_{at};"));
                    _ = writeln!(self.out, "record {record} {{ {} }}", fields.collect::<Vec<_>>().join(" "));
                    record
                }
            };
            _ = writeln!(self.out, "channel of {of} [{capacity}] {name};");
        }
    }

    /// How many values an untyped channel transmits.
    fn values(&self, system: &System, channel: &str) -> usize {
        let transitions = system.processes.iter().flat_map(|process| &process.transitions);
        let mut syncs = transitions.filter_map(|transition| transition.sync.as_ref());
        syncs.find(|sync| sync.channel.text == channel).map_or(0, |sync| sync.values.len())
    }

    /// While a process is in a committed state, only such processes move.
    fn committed(&mut self, system: &System) {
        let mut places = Vec::new();
        for process in &system.processes {
            for state in &process.committed {
                places.push(format!("{}@{}", self.name(&process.name), self.name(state)));
            }
        }
        if !places.is_empty() {
            _ = writeln!(self.out, "function {}(): boolean = {};", self.fresh("committed"), places.join(" || "));
        }
    }

    fn process(&mut self, number: usize, process: &Process) {
        _ = writeln!(self.out, "\nactive thread {}() {{", self.name(&process.name));
        for variable in process.variables.iter().filter(|variable| !variable.is_const) {
            self.variable(variable, Some(number));
        }
        let initial = self.cx.processes[number].initial;
        let others = (0..process.states.len()).filter(|state| *state != initial);
        for at in [initial].into_iter().chain(others) {
            let state = &process.states[at];
            _ = writeln!(self.out, "loc {}:", self.name(state));
            let mut steps = process.transitions.iter().filter(|step| step.from.text == state.text).peekable();
            if steps.peek().is_none() {
                _ = writeln!(self.out, "when false do {{ }} goto {};", self.name(state));
            }
            for step in steps {
                self.transition(number, at, step);
            }
        }
        self.out.push_str("}\n");
    }

    fn transition(&mut self, process: usize, from: usize, step: &Transition) {
        let mut guards = Vec::new();
        let is_committed = self.cx.processes[process].committed[from];
        if !is_committed && self.cx.processes.iter().any(|process| process.committed.contains(&true)) {
            guards.push(format!("!{}()", self.fresh("committed")));
        }
        if let Some(guard) = &step.guard {
            let level = if guards.is_empty() { 0 } else { expression::AND };
            guards.push(self.condition(Some(process), guard, level));
        }
        if !guards.is_empty() {
            _ = write!(self.out, "when {} ", guards.join(" && "));
        }
        self.out.push_str("do { ");
        if let Some(sync) = &step.sync {
            self.sync(process, sync);
        }
        for effect in &step.effects {
            for expr in [&effect.place, &effect.value] {
                if asks_for_state(expr) {
                    let message =
                        "an effect depends on the state of a process, which in DVE changes before the effects";
                    self.refuse(expr.span, message.into());
                }
            }
            let place = self.number(Some(process), &effect.place, 0);
            let value = self.number(Some(process), &effect.value, 0);
            _ = write!(self.out, "{place} := {value}; ");
        }
        _ = writeln!(self.out, "}} goto {};", self.name(&step.to));
    }

    fn sync(&mut self, process: usize, sync: &Sync) {
        let mark = if sync.sends { "" } else { "?" };
        let mut values: Vec<String> = Vec::new();
        for value in &sync.values {
            values.push(format!("{mark}{}", self.number(Some(process), value, 0)));
        }
        if values.is_empty() {
            values.push(if sync.sends { "0" } else { "_" }.into());
        }
        let word = if sync.sends { "send" } else { "receive" };
        _ = write!(self.out, "{word} {} ({}); ", self.name(&sync.channel), values.join(", "));
    }
}

/// A type of variables.
fn ty(ty: Type) -> &'static str {
    match ty {
        Type::Byte => "byte",
        Type::Int => "int wrap (-32768, 32767)",
    }
}

fn asks_for_state(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::State(..) => true,
        ExprKind::Unary(_, operand) => asks_for_state(operand),
        ExprKind::Binary(_, parts) => asks_for_state(&parts.0) || asks_for_state(&parts.1),
        ExprKind::Variable(_, _, index) => index.as_ref().is_some_and(|index| asks_for_state(index)),
        ExprKind::Number(_) | ExprKind::Error => false,
    }
}

//! What the names of a system stand for: variables with their places in the state, constants, channels, processes.

use std::collections::HashMap;

use birk_ir::diagnostic::{list, nearest};
use birk_ir::edit;
use birk_ir::{Diagnostic, Fault, FaultId, FaultKind, Span, ValueKind, VarId, VarRole, Variable};

use crate::ast::{self, Expr, ExprKind, Name, System, Type};

/// A state has at most so many elements.
pub(crate) const MAX_ELEMENTS: u64 = 1 << 20;
/// A channel holds at most so many messages.
pub(crate) const MAX_CAPACITY: i64 = 1 << 8;
/// After so many messages no more names are proposed.
const MOST_ADVICE: usize = 50;

/// What a name stands for.
#[derive(Clone, Debug)]
pub(crate) enum Symbol {
    /// A constant, and whether it has a value.
    Constant(i64),
    /// A variable, or an array of so many elements.
    Variable {
        id: VarId,
        ty: Type,
        length: Option<u32>,
        is_local: bool,
        is_const: bool,
    },
    Channel(usize),
    Process(usize),
    /// Something that is wrong, of which enough was said.
    Error,
}

impl Symbol {
    fn word(&self) -> &'static str {
        match self {
            Symbol::Constant(_) => "a constant",
            Symbol::Variable { length: Some(_), .. } => "an array",
            Symbol::Variable { .. } => "a variable",
            Symbol::Channel(_) => "a channel",
            Symbol::Process(_) => "a process",
            Symbol::Error => "something else",
        }
    }
}

/// The names of a system or of a process.
pub(crate) type Names = HashMap<String, (Symbol, Span)>;

/// A channel.
#[derive(Debug)]
pub(crate) struct Channel {
    pub(crate) types: Option<Vec<Type>>,
    /// What holds its messages, unless it is a rendezvous.
    pub(crate) buffer: Option<Buffer>,
}

/// What holds the messages of a channel.
#[derive(Clone, Debug)]
pub(crate) struct Buffer {
    pub(crate) capacity: i64,
    pub(crate) length: VarId,
    pub(crate) contents: Vec<VarId>,
}

/// A process: its own names, its states, and the variable that says in which it is. The property has none.
#[derive(Debug)]
pub(crate) struct Process {
    pub(crate) names: Names,
    pub(crate) states: HashMap<String, usize>,
    pub(crate) counter: Option<VarId>,
    pub(crate) initial: usize,
    pub(crate) committed: Vec<bool>,
}

/// Everything that is known of a system.
#[derive(Debug)]
pub(crate) struct Context<'a> {
    pub(crate) texts: Vec<&'a str>,
    pub(crate) system: &'a System,
    pub(crate) globals: Names,
    pub(crate) channels: Vec<Channel>,
    pub(crate) processes: Vec<Process>,
    /// Which process is the property.
    pub(crate) property: Option<usize>,
    pub(crate) variables: Vec<Variable>,
    pub(crate) constants: Vec<(String, String)>,
    pub(crate) faults: Vec<Fault>,
    /// By their places: what sends to several receivers is lowered with each of them.
    fault_ids: HashMap<(Span, FaultKind), FaultId>,
    /// How many elements a state has.
    elements: u64,
    pub(crate) diagnostics: Vec<Diagnostic>,
}

impl<'a> Context<'a> {
    /// Declares everything; `overrides` are values for constants.
    pub(crate) fn new(texts: Vec<&'a str>, system: &'a System, overrides: &[(String, String)]) -> Self {
        let mut cx = Self {
            texts,
            system,
            globals: Names::new(),
            channels: Vec::new(),
            processes: Vec::new(),
            property: None,
            variables: Vec::new(),
            constants: Vec::new(),
            faults: Vec::new(),
            fault_ids: HashMap::new(),
            elements: 0,
            diagnostics: Vec::new(),
        };
        let mut unused: Vec<&(String, String)> = overrides.iter().collect();
        for variable in &system.variables {
            cx.declare_variable(variable, None, &mut unused);
        }
        for channel in &system.channels {
            cx.declare_channel(channel);
        }
        for (number, process) in system.processes.iter().enumerate() {
            cx.declare(None, &process.name, Symbol::Process(number));
        }
        cx.property = system.property.as_ref().and_then(|name| cx.property_named(name));
        for number in 0..system.processes.len() {
            cx.declare_process(number, &mut unused);
        }
        cx.report_overrides(&unused);
        if cx.processes.len() == usize::from(cx.property.is_some()) && cx.diagnostics.is_empty() {
            let message = "this system has no process that could move";
            let help = "write `process P { state q; init q; trans q -> q {}; }` before `system async;`";
            cx.report(Diagnostic::new("E1005", Span::default(), message, "a process is missing").help(help));
        }
        cx
    }

    pub(crate) fn report(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    /// What is written at a place.
    pub(crate) fn source(&self, span: Span) -> &'a str {
        self.texts.get(span.file as usize).and_then(|text| text.get(span.range())).unwrap_or_default()
    }

    /// The text of the model.
    fn text(&self) -> &'a str {
        self.texts.first().copied().unwrap_or_default()
    }

    /// Something that can go wrong at a place.
    pub(crate) fn fault(&mut self, kind: FaultKind, span: Span, message: String) -> FaultId {
        let next = FaultId::new(self.faults.len());
        let id = *self.fault_ids.entry((span, kind)).or_insert(next);
        if id == next {
            self.faults.push(Fault { kind, message, span });
        }
        id
    }

    /// The number of a process among those of the program, which the property is none of.
    pub(crate) fn kind(&self, process: usize) -> usize {
        process - usize::from(self.property.is_some_and(|property| property < process))
    }

    /// All processes but the property.
    pub(crate) fn system_processes(&self) -> Vec<usize> {
        (0..self.processes.len()).filter(|process| Some(*process) != self.property).collect()
    }

    fn names(&mut self, process: Option<usize>) -> &mut Names {
        match process {
            Some(process) => &mut self.processes[process].names,
            None => &mut self.globals,
        }
    }

    fn declare(&mut self, process: Option<usize>, name: &Name, symbol: Symbol) {
        if name.text.is_empty() {
            return;
        }
        if let Some((_, first)) = self.names(process).get(&name.text) {
            let message = format!("`{}` is declared twice", name.text);
            let diagnostic = Diagnostic::new("E1004", name.span, message, "declared again here");
            let diagnostic = diagnostic.related(*first, "first declared here").help("choose another name");
            // Each name is compared with all words of the text.
            let is_wanted = self.diagnostics.len() < MOST_ADVICE;
            let other = is_wanted.then(|| edit::fresh(self.text(), &name.text));
            self.report(match other {
                Some(other) => {
                    diagnostic.help(format!("choose another name, such as `{other}`")).propose(name.span, other)
                }
                None => diagnostic,
            });
            return;
        }
        self.names(process).insert(name.text.clone(), (symbol, name.span));
    }

    fn declare_variable(
        &mut self,
        variable: &ast::Variable,
        process: Option<usize>,
        unused: &mut Vec<&(String, String)>,
    ) {
        let mut length = variable.length.as_ref().map(|length| self.length(length, process));
        if !self.has_room(length.unwrap_or(1), variable.name.span) {
            length = length.map(|_| 1);
        }
        let name = match process {
            Some(process) => format!("{}.{}", self.system.processes[process].name.text, variable.name.text),
            None => variable.name.text.clone(),
        };
        if variable.is_list && length.is_none() {
            let message = format!("`{}` is no array, and has one value only", variable.name.text);
            let span = variable.initial[0].span;
            let help = "write the value without braces, or the length of the array in brackets";
            let diagnostic = Diagnostic::new("E1007", span, message, "several values").help(help);
            let behind = Span { start: variable.name.span.end, ..variable.name.span };
            self.report(diagnostic.propose(behind, format!("[{}]", variable.initial.len())));
        }
        let mut initial: Vec<i64> = Vec::new();
        for value in &variable.initial {
            initial.push(self.initial(value, variable.ty, process).unwrap_or(0));
        }
        if let Some(at) = unused.iter().position(|(constant, _)| variable.is_const && *constant == name) {
            let (_, value) = unused.remove(at);
            initial = self.override_with(&name, value, variable, length).into_iter().collect();
        }
        let elements = length.unwrap_or(1);
        if let Some(extra) = variable.initial.get(elements as usize).filter(|_| length.is_some()) {
            let message = format!("`{}` has {elements} elements, and more values", variable.name.text);
            let help = "values without an element are ignored, as DiVinE does";
            self.report(Diagnostic::new("W1002", extra.span, message, "ignored").help(help));
        }
        initial.resize(elements as usize, 0);
        if variable.is_const && length.is_none() {
            self.constants.push((name, initial[0].to_string()));
            self.declare(process, &variable.name, Symbol::Constant(initial[0]));
            return;
        }
        let (lo, hi) = match variable.is_const {
            true => (initial.iter().copied().min().unwrap_or(0), initial.iter().copied().max().unwrap_or(0)),
            false => variable.ty.range(),
        };
        let (role, mut shape) = match process {
            Some(process) => (VarRole::Local(self.kind(process)), vec![1]),
            None => (VarRole::Global, Vec::new()),
        };
        shape.extend(length);
        let id = VarId::new(self.variables.len());
        let values = ValueKind::Integer;
        // The property is no part of a state.
        if process.is_none() || process != self.property {
            self.variables.push(Variable { name, role, lo, hi, shape, values, initial, span: variable.name.span });
        } else {
            self.refuse_local(&variable.name);
        }
        let (ty, is_const, is_local) = (variable.ty, variable.is_const, process.is_some());
        self.declare(process, &variable.name, Symbol::Variable { id, ty, length, is_local, is_const });
    }

    fn refuse_local(&mut self, name: &Name) {
        let message = "a property has no variables of its own";
        let help = "declare it as a variable of the system, or count with the states of the property";
        self.report(Diagnostic::new("E1009", name.span, message, "declared here").help(help));
    }

    /// The length of an array.
    fn length(&mut self, expr: &Expr, process: Option<usize>) -> u32 {
        match self.constant(expr, process) {
            Some(length) if (1..=MAX_ELEMENTS as i64).contains(&length) => length as u32,
            Some(length) => {
                let message = format!("an array cannot have {length} elements");
                let help = format!("the length of an array is a number from 1 to {MAX_ELEMENTS}");
                self.report(Diagnostic::new("E1006", expr.span, message, "not a length").help(help));
                1
            }
            None => 1,
        }
    }

    /// An initial value; it is brought into the range of the type.
    fn initial(&mut self, expr: &Expr, ty: Type, process: Option<usize>) -> Option<i64> {
        let value = self.constant(expr, process)?;
        let (lo, hi) = ty.range();
        let wrapped = birk_ir::expr::wrap(value, lo, hi);
        if value != wrapped {
            let message = format!("{value} is no value of `{}`", ty.word());
            let help = format!("a `{}` is a number from {lo} to {hi}; {wrapped} is stored", ty.word());
            self.report(Diagnostic::new("W1003", expr.span, message, "does not fit").help(help));
        }
        Some(wrapped)
    }

    fn override_with(&mut self, name: &str, value: &str, variable: &ast::Variable, length: Option<u32>) -> Option<i64> {
        let (lo, hi) = variable.ty.range();
        let number = value.parse::<i64>().ok().filter(|number| length.is_none() && (lo..=hi).contains(number));
        if number.is_none() {
            let message = format!("`{value}` is no value of the constant `{name}`");
            let what = if length.is_some() { "it is an array, which -D cannot set" } else { "-D NAME=VALUE sets it" };
            let help = format!("it is a `{}`, a number from {lo} to {hi}; {what}", variable.ty.word());
            self.report(Diagnostic::new("E1010", variable.name.span, message, "declared here").help(help));
        }
        number
    }

    fn report_overrides(&mut self, unused: &[&(String, String)]) {
        for (name, _) in unused {
            let message = format!("there is no constant `{name}`");
            let known = self.constants.iter().map(|(name, _)| name.as_str());
            let help = match (nearest(name, known.clone()), self.constants.is_empty()) {
                (Some(meant), _) => format!("did you mean `{meant}`?"),
                (None, false) => format!("there are {}", list(known)),
                (None, true) => "this system has no constants; declare one with `const`".into(),
            };
            self.report(Diagnostic::new("E1010", Span::default(), message, "given by -D").help(help));
        }
    }

    fn declare_channel(&mut self, channel: &ast::Channel) {
        let capacity = match &channel.capacity {
            Some(expr) => match self.constant(expr, None) {
                Some(capacity) if (0..=MAX_CAPACITY).contains(&capacity) => capacity,
                Some(capacity) => {
                    let message = format!("a channel cannot hold {capacity} messages");
                    let help = format!("its capacity is a number from 0, a rendezvous, to {MAX_CAPACITY}");
                    self.report(Diagnostic::new("E1006", expr.span, message, "not a capacity").help(help));
                    0
                }
                None => 0,
            },
            None => 0,
        };
        if capacity > 0 && channel.types.is_none() {
            let message = format!("`{}` holds messages, but has no types", channel.name.text);
            let help = format!("say what its messages are: `channel {{byte}} {}[{capacity}];`", channel.name.text);
            let diagnostic = Diagnostic::new("E1007", channel.name.span, message, "declared here").help(help);
            let is_first = self.text()[..channel.name.span.start as usize].trim_end().ends_with("channel");
            let start = Span { end: channel.name.span.start, ..channel.name.span };
            self.report(if is_first { diagnostic.propose(start, "{byte} ") } else { diagnostic });
        }
        let types = channel.types.clone();
        let elements = capacity as u32 * types.as_ref().map_or(0, Vec::len) as u32;
        let has_room = self.has_room(elements, channel.name.span);
        let buffer = (has_room && capacity > 0).then(|| self.buffer(channel, capacity));
        let symbol = Symbol::Channel(self.channels.len());
        self.channels.push(Channel { types, buffer });
        self.declare(None, &channel.name, symbol);
    }

    fn buffer(&mut self, channel: &ast::Channel, capacity: i64) -> Buffer {
        let (name, span) = (&channel.name.text, channel.name.span);
        let types = channel.types.as_deref().unwrap_or_default();
        let mut contents = Vec::new();
        for (part, ty) in types.iter().enumerate() {
            let (lo, hi) = ty.range();
            let suffix = if types.len() > 1 { format!("[].{part}") } else { String::new() };
            contents.push(VarId::new(self.variables.len()));
            self.variables.push(Variable {
                name: format!("{name}{suffix}"),
                role: VarRole::Global,
                lo,
                hi,
                shape: vec![capacity as u32],
                values: ValueKind::Integer,
                initial: vec![0; capacity as usize],
                span,
            });
        }
        let length = VarId::new(self.variables.len());
        self.variables.push(Variable {
            name: format!("len({name})"),
            role: VarRole::Length,
            lo: 0,
            hi: capacity,
            shape: Vec::new(),
            values: ValueKind::Integer,
            initial: vec![0],
            span,
        });
        Buffer { capacity, length, contents }
    }

    /// The process that a system names as its property.
    fn property_named(&mut self, name: &Name) -> Option<usize> {
        match self.globals.get(&name.text) {
            _ if name.text.is_empty() => None,
            Some((Symbol::Process(number), _)) => Some(*number),
            _ => {
                let processes = self.system.processes.iter().map(|process| process.name.text.as_str());
                let message = format!("there is no process `{}`", name.text);
                let diagnostic = Diagnostic::new("E1005", name.span, message, "not declared");
                let help = "a property is a process that is declared above";
                self.report(did_you_mean(diagnostic, &name.text, processes, help));
                None
            }
        }
    }

    fn declare_process(&mut self, number: usize, unused: &mut Vec<&(String, String)>) {
        let process = &self.system.processes[number];
        let mut states: HashMap<String, usize> = HashMap::new();
        for (at, state) in process.states.iter().enumerate().filter(|(_, state)| !state.text.is_empty()) {
            if let Some(first) = states.get(&state.text) {
                let message = format!("the state `{}` is declared twice", state.text);
                let diagnostic = Diagnostic::new("E1004", state.span, message, "declared again here");
                let first = process.states[*first].span;
                let diagnostic = diagnostic.related(first, "first declared here").help("leave one of them out");
                let comma = self.text()[..state.span.start as usize].trim_end().strip_suffix(',');
                self.report(match comma {
                    Some(before) => {
                        diagnostic.propose(Span { start: before.trim_end().len() as u32, ..state.span }, "")
                    }
                    None => diagnostic,
                });
                continue;
            }
            states.insert(state.text.clone(), at);
        }
        let is_property = self.property == Some(number);
        let names = Names::new();
        let committed = vec![false; process.states.len()];
        self.processes.push(Process { names, states, counter: None, initial: 0, committed });
        if process.states.is_empty() {
            let message = format!("the process `{}` has no states", process.name.text);
            let help = "write `state q; init q;` at its begin";
            let diagnostic = Diagnostic::new("E1005", process.name.span, message, "declared here").help(help);
            let mut used: Vec<&str> = Vec::new();
            for name in process.transitions.iter().flat_map(|one| [&one.from.text, &one.to.text]) {
                if !name.is_empty() && !used.contains(&name.as_str()) {
                    used.push(name);
                }
            }
            let rest = self.text()[process.name.span.end as usize..].trim_start().strip_prefix('{');
            self.report(match (rest, used.first()) {
                (Some(rest), Some(first)) => {
                    let place = self.text().len() - rest.len();
                    let states = format!("state {}; init {first};", used.join(", "));
                    let help = format!("write `{states}` at its begin");
                    diagnostic.help(help).propose(Span::new(place, place), format!("\n{states}"))
                }
                _ => diagnostic,
            });
        }
        let initial = match &process.initial {
            Some(name) => self.state(number, name),
            None => {
                let message = format!("the process `{}` has no initial state", process.name.text);
                if let [first, .., last] | [first @ last] = &process.states[..] {
                    let init = format!("init {};", first.text);
                    let help = format!("write `{init}` after its states");
                    let diagnostic = Diagnostic::new("E1005", process.name.span, message, "declared here").help(help);
                    let rest = self.text()[last.span.end as usize..].trim_start().strip_prefix(';');
                    self.report(match rest.map(|rest| self.text().len() - rest.len()) {
                        Some(place) => diagnostic.propose(Span::new(place, place), format!("\n{init}")),
                        None => diagnostic,
                    });
                }
                None
            }
        };
        self.processes[number].initial = initial.unwrap_or(0);
        for name in &process.committed {
            if let Some(at) = self.state(number, name) {
                self.processes[number].committed[at] = true;
            }
        }
        if !is_property {
            self.processes[number].counter = Some(VarId::new(self.variables.len()));
            let mut names: Vec<String> = process.states.iter().map(|state| state.text.clone()).collect();
            names.push(birk_ir::text::TERMINATED.into());
            self.variables.push(Variable {
                name: format!("{}@", process.name.text),
                role: VarRole::Counter(self.kind(number)),
                lo: 0,
                hi: (process.states.len() as i64 - 1).max(0),
                shape: vec![1],
                values: ValueKind::Names(names),
                initial: vec![initial.unwrap_or(0) as i64],
                span: process.name.span,
            });
        }
        for variable in &process.variables {
            self.declare_variable(variable, Some(number), unused);
        }
    }

    /// The number of a state of a process.
    pub(crate) fn state(&mut self, process: usize, name: &Name) -> Option<usize> {
        let known = self.processes[process].states.get(&name.text).copied();
        if known.is_none() && !name.text.is_empty() && !self.processes[process].states.is_empty() {
            let owner = &self.system.processes[process];
            let message = format!("the process `{}` has no state `{}`", owner.name.text, name.text);
            let states = owner.states.iter().map(|state| state.text.as_str());
            let diagnostic = Diagnostic::new("E1005", name.span, message, "not declared");
            self.report(did_you_mean(diagnostic, &name.text, states.clone(), &format!("it has {}", list(states))));
        }
        known
    }

    /// What a name stands for in a process, or in the system.
    pub(crate) fn lookup(&mut self, process: Option<usize>, name: &Name) -> Symbol {
        let own = process.and_then(|process| self.processes[process].names.get(&name.text));
        if let Some((symbol, _)) = own.or_else(|| self.globals.get(&name.text)) {
            return symbol.clone();
        }
        if !name.text.is_empty() {
            let own = process.into_iter().flat_map(|process| self.processes[process].names.keys());
            let names = own.chain(self.globals.keys()).map(String::as_str);
            let message = format!("`{}` is not declared", name.text);
            let diagnostic = Diagnostic::new("E1005", name.span, message, "not declared");
            let help = "declare it as a variable of the process or of the system";
            let diagnostic = did_you_mean(diagnostic, &name.text, names, help);
            self.report(diagnostic);
        }
        Symbol::Error
    }

    /// The process of a name.
    pub(crate) fn process(&mut self, name: &Name) -> Option<usize> {
        match self.lookup(None, name) {
            Symbol::Process(process) => Some(process),
            Symbol::Error => None,
            other => {
                self.report_kind(name, &other, "a process");
                None
            }
        }
    }

    pub(crate) fn report_kind(&mut self, name: &Name, found: &Symbol, wanted: &str) {
        let message = format!("`{}` is {}, not {wanted}", name.text, found.word());
        let declared = self.globals.get(&name.text).map(|(_, span)| *span);
        let mut diagnostic = Diagnostic::new("E1007", name.span, message, format!("expected {wanted}"));
        if let Some(declared) = declared.filter(|declared| *declared != name.span) {
            diagnostic = diagnostic.related(declared, "declared here");
        }
        self.report(diagnostic);
    }

    /// The value of a constant expression.
    fn constant(&mut self, expr: &Expr, process: Option<usize>) -> Option<i64> {
        let before = self.diagnostics.len();
        let value = crate::expression::value(self, process, expr);
        if self.diagnostics.len() > before || matches!(expr.kind, ExprKind::Error) {
            return None;
        }
        let can_fail = value.hazards.iter().any(|hazard| hazard.when != birk_ir::Expr::FALSE);
        let constant = value.expr.as_const().filter(|_| !can_fail);
        if constant.is_none() {
            let message = format!("`{}` is not constant", self.source(expr.span));
            let help = "lengths and initial values are made of numbers and of what is declared with `const`";
            self.report(Diagnostic::new("E1006", expr.span, message, "not constant").help(help));
        }
        constant
    }

    /// Whether a state has room for so many more elements.
    fn has_room(&mut self, elements: u32, span: Span) -> bool {
        self.elements += u64::from(elements);
        let is_over = self.elements > MAX_ELEMENTS;
        if is_over && self.elements - u64::from(elements) <= MAX_ELEMENTS {
            let message = format!("a state has more than {MAX_ELEMENTS} elements");
            self.report(Diagnostic::new("E1006", span, message, "too many").help("use smaller arrays"));
        }
        !is_over
    }
}

fn did_you_mean<'n>(
    diagnostic: Diagnostic,
    name: &str,
    names: impl Iterator<Item = &'n str>,
    otherwise: &str,
) -> Diagnostic {
    match nearest(name, names) {
        Some(meant) => diagnostic.meant(meant),
        None => diagnostic.help(otherwise),
    }
}

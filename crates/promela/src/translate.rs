//! A model of Promela in BIR, with the same states and steps.
//!
//! A process is a thread, a place a location, and each path through an `atomic` sequence a guarded command. Variables of processes
//! belong to the whole system, because at a rendezvous the sender also sets those of the receiver.

mod expression;

use std::collections::{BTreeMap, HashSet};
use std::fmt::Write as _;

use birk_ir::{
    Conditions, Expr, Formula, LocalId, Op, Program, PropertyKind, RESERVED, Resolve, Span, Transition, Translated,
    Unsayable, ValueKind, VarId, VarRole,
};

use crate::fold::replace;

/// The text of a correct model in BIR, or why there is none.
pub fn translate(text: &str, constants: &[(String, String)], resolve: Resolve<'_>) -> Translated {
    let loaded = crate::load(text, constants, resolve, Conditions::default());
    let program = loaded.program.ok_or_else(|| unsayable(Span::default(), "this model has errors"))?;
    if let Some(reason) = program.joined_late() {
        return Err(unsayable(program.transitions.first().map_or(Span::default(), |first| first.span), reason));
    }
    // No proctype has such a name.
    let watches = |kind: &&birk_ir::ThreadKind| matches!(&*kind.name, "trace" | "notrace");
    if let Some(watch) = program.kinds.iter().find(watches) {
        let message = format!("a `{}` watches every message: translate the model without it", watch.name);
        return Err(unsayable(watch.span, &message));
    }
    let mut writer = Writer::new(&program);
    writer.system()?;
    Ok(writer.out)
}

fn unsayable(span: Span, message: &str) -> Unsayable {
    Unsayable { span, message: message.to_owned() }
}

/// A text on its way.
struct Writer<'p> {
    program: &'p Program,
    /// The names of variables, threads and locations.
    variables: Vec<String>,
    threads: Vec<String>,
    locations: Vec<Vec<String>>,
    /// The values of `mtype`, by number.
    values: BTreeMap<i64, String>,
    taken: HashSet<String>,
    /// What a receiver has at its places: channel and target.
    meetings: BTreeMap<(usize, i64), Vec<(String, i64)>>,
    /// How many values are held during a step.
    held: usize,
    /// The functions that expressions need.
    helpers: std::cell::RefCell<std::collections::BTreeSet<String>>,
    out: String,
}

/// Letters, digits and underscores only.
fn plain(name: &str) -> String {
    let mut found = String::new();
    for c in name.chars() {
        match c {
            c if c.is_ascii_alphanumeric() || c == '_' => found.push(c),
            _ if found.ends_with('_') => {}
            _ => found.push('_'),
        }
    }
    let found = found.trim_end_matches('_');
    if found.starts_with(|c: char| c.is_ascii_digit()) || found.is_empty() { format!("_{found}") } else { found.into() }
}

fn fresh(taken: &mut HashSet<String>, wanted: &str) -> String {
    let plain = plain(wanted);
    let mut name = plain.clone();
    let mut number = 1;
    while RESERVED.contains(&name.as_str()) || !taken.insert(name.clone()) {
        number += 1;
        name = format!("{plain}_{number}");
    }
    name
}

impl<'p> Writer<'p> {
    fn new(program: &'p Program) -> Self {
        let mut taken = HashSet::new();
        let threads = program.threads.iter().map(|thread| fresh(&mut taken, &thread.name)).collect();
        let mut values = BTreeMap::new();
        let is_mtype = |variable: &&birk_ir::Variable| !matches!(variable.role, VarRole::Counter(_));
        for variable in program.variables.iter().filter(is_mtype) {
            let ValueKind::Names(names) = &variable.values else { continue };
            for (number, name) in names.iter().enumerate().skip(1) {
                values.entry(number as i64).or_insert_with(|| fresh(&mut taken, name));
            }
        }
        let variables = program.variables.iter().map(|variable| match variable.role {
            VarRole::Length => fresh(&mut taken, &format!("len {}", variable.name)),
            VarRole::Counter(_) | VarRole::Fault => String::new(),
            _ => fresh(&mut taken, &variable.name),
        });
        let variables = variables.collect();
        let mut locations = Vec::new();
        for kind in &program.kinds {
            let mut own = HashSet::new();
            locations.push(kind.locations.iter().map(|location| fresh(&mut own, &location.name)).collect());
        }
        let (meetings, helpers) = (BTreeMap::new(), std::cell::RefCell::default());
        Self { program, variables, threads, locations, values, taken, meetings, held: 0, helpers, out: String::new() }
    }

    /// The thread whose place a variable is.
    fn thread_of(&self, variable: VarId) -> Option<usize> {
        match self.program.variable(variable).role {
            VarRole::Counter(kind) => self.program.threads.iter().position(|thread| thread.kind == kind),
            _ => None,
        }
    }

    fn system(&mut self) -> Result<(), Unsayable> {
        for (number, variable) in self.program.variables.iter().enumerate() {
            if !matches!(variable.role, VarRole::Counter(_) | VarRole::Fault) {
                self.variable(number);
            }
        }
        let declared = std::mem::take(&mut self.out);
        let mut steps: Vec<Vec<Vec<String>>> = Vec::new();
        for thread in &self.program.threads {
            let mut all = Vec::new();
            for &(first, last) in &thread.at {
                let texts = (first..last).map(|at| self.step(&self.program.transitions[at as usize]));
                all.push(texts.collect::<Result<Vec<String>, Unsayable>>()?);
            }
            steps.push(all);
        }
        for (thread, steps) in steps.iter().enumerate() {
            self.thread(thread, steps);
        }
        for property in &self.program.properties {
            match &property.kind {
                PropertyKind::Ltl(formula) if property.span.is_some() => {
                    let formula = self.formula(formula)?;
                    _ = writeln!(self.out, "ltl {}: {formula};", plain(&property.name));
                }
                PropertyKind::Claim(_) => {
                    let span = property.span.unwrap_or_default();
                    return Err(unsayable(span, "a never claim is a Büchi automaton: translate the model without it"));
                }
                _ => {}
            }
        }
        let body = std::mem::take(&mut self.out);
        let name = fresh(&mut self.taken, "Model");
        _ = writeln!(self.out, "system {name} {{");
        for (number, name) in &self.values {
            _ = writeln!(self.out, "const {name} = {number};");
        }
        for helper in self.helpers.borrow().iter() {
            self.out += helper;
        }
        self.out += &declared;
        for number in 0..self.held {
            _ = writeln!(self.out, "int held_{number};");
        }
        for (channel, _) in self.meetings.values().flatten() {
            _ = writeln!(self.out, "channel of byte [0] {channel};");
        }
        self.out += &body;
        self.out.push_str("}\n");
        Ok(())
    }

    fn is_boolean(&self, variable: VarId) -> bool {
        self.program.variable(variable).values == ValueKind::Boolean
    }

    fn variable(&mut self, number: usize) {
        let variable = &self.program.variables[number];
        let is_boolean = variable.values == ValueKind::Boolean;
        let ty = match (variable.lo, variable.hi) {
            _ if is_boolean => "boolean".into(),
            (0, 255) => "byte".into(),
            (lo, hi) if lo == i64::from(i32::MIN) && hi == i64::from(i32::MAX) => "int".into(),
            (lo, hi) => format!("int wrap ({lo}, {hi})"),
        };
        let value = |value: i64| if is_boolean { (value != 0).to_string() } else { value.to_string() };
        let length = if variable.len() > 1 { format!("[{}]", variable.len()) } else { String::new() };
        let values: Vec<String> = variable.initial.iter().map(|initial| value(*initial)).collect();
        let start = match variable.initial.first() {
            _ if variable.initial.iter().any(|value| *value != variable.initial[0]) => {
                format!(" := {{{}}}", values.join(", "))
            }
            Some(0) | None => String::new(),
            Some(initial) => format!(" := {}", value(*initial)),
        };
        _ = writeln!(self.out, "{ty}{length} {}{start};", self.variables[number]);
    }

    fn thread(&mut self, number: usize, steps: &[Vec<String>]) {
        let thread = &self.program.threads[number];
        let kind = &self.program.kinds[thread.kind];
        let initial = self.program.variable(kind.counter).initial[thread.copy as usize];
        let active = if initial < kind.idle() { "active " } else { "" };
        _ = writeln!(self.out, "\n{active}thread {}() {{", self.threads[number]);
        for (at, location) in kind.locations.iter().enumerate() {
            let marks = [(location.end, " end"), (location.accept, " accept"), (location.progress, " progress")];
            let marks: String = marks.iter().filter(|(has, _)| *has).map(|(_, mark)| *mark).collect();
            let name = &self.locations[thread.kind][at];
            _ = writeln!(self.out, "loc {name}:{marks}");
            for step in &steps[at] {
                self.out += step;
            }
            let meetings = self.meetings.get(&(number, at as i64)).cloned().unwrap_or_default();
            for (channel, target) in &meetings {
                let jump = self.jump(number, *target);
                _ = writeln!(self.out, "do {{ receive {channel} (_); }} {jump};");
            }
            if steps[at].is_empty() && meetings.is_empty() {
                _ = writeln!(self.out, "when false do {{ }} goto {name};");
            }
        }
        self.out.push_str("}\n");
    }

    fn jump(&self, thread: usize, target: i64) -> String {
        let names = &self.locations[self.program.threads[thread].kind];
        names.get(target as usize).map_or("return".into(), |name| format!("goto {name}"))
    }

    fn step(&mut self, transition: &Transition) -> Result<String, Unsayable> {
        let thread = transition.thread.index();
        let wrong = |message: &str| unsayable(transition.span, message);
        let (ops, held) = holding(&transition.ops);
        self.held = self.held.max(held.len());
        if !is_sayable(&transition.guard) || ops.iter().flat_map(expressions).any(|expr| mentions(expr, &is_stuck)) {
            return Err(wrong("`timeout` stands inside another operator than `&&` and `||`, or behind what is done"));
        }
        let guard = self.condition(&transition.guard, 0).map_err(wrong)?;
        let mut text = if transition.guard == Expr::TRUE { String::new() } else { format!("when {guard} ") };
        text.push_str("do { ");
        // The places that changed, and those that others had before.
        let mut moved: BTreeMap<usize, i64> = BTreeMap::new();
        let mut before: BTreeMap<usize, i64> = BTreeMap::new();
        self.places(&transition.guard, &mut before);
        for op in &ops {
            let asked = self.asked(op);
            if asked.iter().any(|thread| moved.contains_key(thread)) {
                return Err(wrong("the place of a process is asked for where it has just changed"));
            }
            match op {
                Op::Assign(place, value) => match self.thread_of(place.variable) {
                    Some(other) => {
                        let target = value.as_const().ok_or_else(|| wrong("a place that is not known"))?;
                        if moved.insert(other, target).is_none() && other != thread {
                            let kind = &self.program.kinds[self.program.threads[other].kind];
                            match before.get(&other) {
                                Some(_) => text.push_str("send ? (0); "),
                                None if target < kind.idle() => _ = write!(text, "start {}(); ", self.threads[other]),
                                None => return Err(wrong("a process that ends another")),
                            }
                        }
                    }
                    None => {
                        let target = self.place(place.variable, place.index.as_ref()).map_err(wrong)?;
                        let value = match self.is_boolean(place.variable) {
                            true => self.condition(value, 0).map_err(wrong)?,
                            false => self.assigned(place.variable, value).map_err(wrong)?,
                        };
                        _ = write!(text, "{target} := {value}; ");
                    }
                },
                Op::Let(local, value) => {
                    let at = held.iter().position(|held| held == local).unwrap_or(0);
                    _ = write!(text, "held_{at} := {}; ", self.number(value, 0).map_err(wrong)?);
                }
                Op::Check(condition, fault) => {
                    let message = self.program.faults[fault.index()].message.replace(['"', '\\'], "'");
                    let condition = self.condition(condition, 0).map_err(wrong)?;
                    _ = write!(text, "assert {condition}, \"{message}\"; ");
                }
                Op::Require(condition) => {
                    self.places(condition, &mut before);
                    _ = write!(text, "await {}; ", self.condition(condition, 0).map_err(wrong)?);
                }
                Op::Choose(..) | Op::Assume(_) => return Err(wrong("a choice in a step")),
            }
        }
        for at in 0..held.len() {
            _ = write!(text, "held_{at} := 0; ");
        }
        let partners: Vec<usize> =
            moved.keys().copied().filter(|other| *other != thread && before.contains_key(other)).collect();
        match partners[..] {
            [] => {}
            [partner] => {
                let channel = fresh(&mut self.taken, &format!("meet_{}", self.threads[partner]));
                text = text.replacen("send ? (0);", &format!("send {channel} (0);"), 1);
                let place = (partner, before[&partner]);
                self.meetings.entry(place).or_default().push((channel, moved[&partner]));
            }
            _ => return Err(wrong("two rendezvous in one step")),
        }
        let target = moved.get(&thread).copied().unwrap_or(transition.location.index() as i64);
        _ = writeln!(text, "}} {};", self.jump(thread, target));
        Ok(text)
    }

    /// The threads whose places an operation asks for.
    fn asked(&self, op: &Op) -> Vec<usize> {
        let mut found = Vec::new();
        let mut hear = |expr: &Expr| {
            expr.walk(&mut |inner| {
                if let Expr::Element(variable, _) = inner {
                    found.extend(self.thread_of(*variable));
                }
            });
        };
        match op {
            Op::Assign(place, value) => {
                if let (Some(index), None) = (&place.index, self.thread_of(place.variable)) {
                    hear(index);
                }
                hear(value);
            }
            Op::Let(_, expr) | Op::Check(expr, _) | Op::Assume(expr) | Op::Require(expr) => hear(expr),
            Op::Choose(..) => {}
        }
        found
    }

    /// The places at which a condition needs threads to be.
    fn places(&self, condition: &Expr, found: &mut BTreeMap<usize, i64>) {
        match condition {
            Expr::Binary(birk_ir::BinaryOp::And, parts) => {
                self.places(&parts.0, found);
                self.places(&parts.1, found);
            }
            Expr::Binary(birk_ir::BinaryOp::Or, parts) => self.places(&parts.1, found),
            Expr::Binary(birk_ir::BinaryOp::Eq, parts) => {
                if let (Expr::Element(variable, _), Expr::Const(place)) = (&parts.0, &parts.1)
                    && let Some(thread) = self.thread_of(*variable)
                {
                    found.insert(thread, *place);
                }
            }
            _ => {}
        }
    }

    fn formula(&self, formula: &Formula) -> Result<String, Unsayable> {
        let both = |sign: &str, parts: &(Formula, Formula)| {
            Ok(format!("({} {sign} {})", self.formula(&parts.0)?, self.formula(&parts.1)?))
        };
        match formula {
            Formula::Atom(condition) => {
                let text = self.condition(condition, 0);
                text.map(|text| format!("({text})")).map_err(|message| unsayable(Span::default(), message))
            }
            Formula::Not(inner) => Ok(format!("!{}", self.formula(inner)?)),
            Formula::Next(inner) => Ok(format!("X {}", self.formula(inner)?)),
            Formula::Always(inner) => Ok(format!("[] {}", self.formula(inner)?)),
            Formula::Eventually(inner) => Ok(format!("<> {}", self.formula(inner)?)),
            Formula::And(parts) => both("&&", parts),
            Formula::Or(parts) => both("||", parts),
            Formula::Until(parts) => both("U", parts),
            Formula::WeakUntil(parts) => both("W", parts),
            Formula::Release(parts) => both("R", parts),
        }
    }
}

/// The operations with every bound value put in where it is used; those that would be another value there stay.
fn holding(ops: &[Op]) -> (Vec<Op>, Vec<LocalId>) {
    let mut ops = ops.to_vec();
    let mut held = Vec::new();
    let mut at = 0;
    while at < ops.len() {
        let Op::Let(local, value) = ops[at].clone() else {
            at += 1;
            continue;
        };
        let uses = |op: &Op| expressions(op).iter().any(|expr| mentions(expr, &|e| *e == Expr::Local(local)));
        let last = (at + 1..ops.len()).rev().find(|&later| uses(&ops[later])).unwrap_or(at);
        let is_changed = ops[at + 1..last.max(at + 1)].iter().any(|op| match op {
            Op::Assign(place, _) => {
                mentions(&value, &|e| matches!(e, Expr::Var(own) | Expr::Element(own, _) if *own == place.variable))
            }
            Op::Let(..) | Op::Check(..) | Op::Assume(_) | Op::Require(_) | Op::Choose(..) => false,
        });
        let is_held = is_changed || mentions(&value, &|e| matches!(e, Expr::Local(own) if held.contains(own)));
        if is_held {
            held.push(local);
            at += 1;
            continue;
        }
        ops.remove(at);
        for op in &mut ops[at..] {
            let put = |expr: &Expr| replace(expr, &|e| (*e == Expr::Local(local)).then(|| value.clone()));
            match op {
                Op::Assign(place, expr) => {
                    *expr = put(expr);
                    place.index = place.index.as_ref().map(put);
                }
                Op::Let(_, expr) | Op::Check(expr, _) | Op::Assume(expr) | Op::Require(expr) => *expr = put(expr),
                Op::Choose(_, lo, hi) => (*lo, *hi) = (put(lo), put(hi)),
            }
        }
    }
    // What is held is numbered from 0 on.
    for op in &mut ops {
        let numbered = |expr: &Expr| {
            replace(expr, &|e| match e {
                Expr::Local(local) => {
                    let number = held.iter().position(|held| held == local)?;
                    Some(Expr::Local(LocalId(number as u32)))
                }
                _ => None,
            })
        };
        match op {
            Op::Assign(place, expr) => {
                *expr = numbered(expr);
                place.index = place.index.as_ref().map(numbered);
            }
            Op::Let(_, expr) | Op::Check(expr, _) | Op::Assume(expr) | Op::Require(expr) => *expr = numbered(expr),
            Op::Choose(..) => {}
        }
    }
    (ops, held)
}

fn is_stuck(expr: &Expr) -> bool {
    *expr == Expr::Stuck
}

/// Whether `timeout` occurs below `&&` and `||` only.
fn is_sayable(guard: &Expr) -> bool {
    match guard {
        Expr::Binary(birk_ir::BinaryOp::And | birk_ir::BinaryOp::Or, parts) => {
            is_sayable(&parts.0) && is_sayable(&parts.1)
        }
        Expr::Stuck => true,
        other => !mentions(other, &is_stuck),
    }
}

fn expressions(op: &Op) -> Vec<&Expr> {
    match op {
        Op::Assign(place, expr) => place.index.iter().chain([expr]).collect(),
        Op::Let(_, expr) | Op::Check(expr, _) | Op::Assume(expr) | Op::Require(expr) => vec![expr],
        Op::Choose(_, lo, hi) => vec![lo, hi],
    }
}

fn mentions(expr: &Expr, is_it: &dyn Fn(&Expr) -> bool) -> bool {
    let mut found = false;
    expr.walk(&mut |inner| found |= is_it(inner));
    found
}

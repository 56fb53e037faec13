//! What a trace shows: who waits for what, what failed, which values decide, what repeats forever. Every line is found by
//! evaluating the model in the states of the trace.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use birk_exec::replay::{Because, Chance, Decided, Shows, is_of_state};
use birk_exec::{Part, Replayed, explain, why};
use birk_ir::{
    Access, Branching, Expr, FaultKind, Formula, Op, Program, Property, PropertyKind, ShownValue, Span, ThreadId,
    TransitionId,
};

use crate::diagnostics;
use crate::numbers::count;
use crate::report::fold::Look;
use crate::source::Source;
use crate::terminal::{Paint, visible};

/// Longer lists are cut.
const MAX_LISTED: usize = 12;
/// Of a variable that changes on a cycle, so many values are shown, and so many of the values in one condition.
const MAX_VALUES: usize = 6;
/// Values stand in a column of their own, at most so far to the right.
const MAX_COLUMN: usize = 60;

/// A trace and the property that it decides.
#[derive(Clone, Copy)]
pub(crate) struct Ending<'a> {
    pub(crate) source: &'a Source,
    pub(crate) program: &'a Program,
    pub(crate) property: &'a Property,
    pub(crate) run: &'a Replayed,
}

impl Ending<'_> {
    /// What it shows, in short.
    pub(crate) fn text(&self, look: Look) -> String {
        let (paint, mut out) = (Paint(look.color), String::new());
        match &self.property.kind {
            PropertyKind::Deadlock => self.waiting(&mut out, paint),
            PropertyKind::Fault => self.fault(&mut out, look),
            PropertyKind::Invariant(expr) | PropertyKind::Reachable(expr) => self.of_state(&mut out, expr, look),
            PropertyKind::Ltl(formula) => {
                self.because(&mut out, formula);
                self.cycle(&mut out, &atoms(formula));
                self.idle(&mut out, paint);
            }
            PropertyKind::Automaton | PropertyKind::Claim(_) => {
                let _ = writeln!(out, "  the automaton accepts this execution");
                self.cycle(&mut out, &[]);
                self.idle(&mut out, paint);
            }
            PropertyKind::Ctl(formula) | PropertyKind::Mu(formula) => {
                if self.run.loop_start.is_some() {
                    self.idle(&mut out, paint);
                }
                if self.run.shows(self.program, formula) == Shows::Part {
                    out += "  this path shows only a part of it: the rest is about other paths from its states\n";
                }
            }
        }
        out
    }

    /// What it shows, with the values of all parts of what decides.
    pub(crate) fn details(&self) -> String {
        let mut out = self.text(Look::default());
        let last = self.run.last();
        match &self.property.kind {
            PropertyKind::Invariant(expr) | PropertyKind::Reachable(expr) => self.parts(&mut out, expr),
            PropertyKind::Fault => {
                // A condition on what the step itself has computed cannot be evaluated afterwards.
                if let Some(condition) = self.failed_check().filter(|condition| !has_locals(condition)) {
                    let is_false = birk_exec::Interpreter::new(self.program, &[]).value(condition, last) == 0;
                    if is_false {
                        self.parts(&mut out, condition);
                    }
                }
            }
            PropertyKind::Ctl(formula) | PropertyKind::Mu(formula) => self.propositions(&mut out, formula),
            _ => {}
        }
        out
    }

    /// An expression in the last state, from the whole to its parts.
    fn parts(&self, out: &mut String, expr: &Expr) {
        let parts = explain(self.program, expr, self.run.last());
        if parts.is_empty() {
            return;
        }
        let _ = writeln!(out, "  in the last state:");
        let text = |part: &Part| format!("{}{}", "  ".repeat(part.depth), part.text);
        let width = parts.iter().map(|part| text(part).chars().count()).max().unwrap_or(0).min(MAX_COLUMN);
        for part in &parts {
            let _ = writeln!(out, "    {:width$}   {}", text(part), part.value);
        }
    }

    /// The conditions of a formula about branching at both ends of the path.
    fn propositions(&self, out: &mut String, formula: &Branching) {
        let model = birk_exec::Interpreter::new(self.program, &[]);
        let mut known = Vec::new();
        formula.add_propositions(&mut known);
        known.retain(|proposition| proposition.as_const().is_none());
        let ends = [("the first state", &self.run.states[0][..]), ("the last state", self.run.last())];
        for (place, state) in ends.into_iter().take(1 + usize::from(!self.run.steps.is_empty())) {
            let truth =
                |expr: &Expr| format!("`{}` is {}", self.program.expr_text(expr), model.value(expr, state) != 0);
            let mut values: Vec<String> = known.iter().take(MAX_LISTED).map(truth).collect();
            if known.len() > MAX_LISTED {
                values.push("…".into());
            }
            if !values.is_empty() {
                let _ = writeln!(out, "  in {place}: {}", values.join(", "));
            }
        }
    }

    /// The values that decide a condition in the last state.
    fn of_state(&self, out: &mut String, expr: &Expr, look: Look) {
        let values = self.values_text(&reads(expr));
        if self.property.wants_goal() {
            let _ = writeln!(out, "  reached with {}", if values.is_empty() { "any values" } else { &values });
        } else {
            let title = format!("invariant `{}` is false in the last state", self.property.name);
            self.excerpt(out, &title, (self.property.span.unwrap_or_default(), &values), look);
        }
    }

    /// A piece of the source with a label; one that is too long for the terminal stands below.
    fn excerpt(&self, out: &mut String, title: &str, (span, label): (Span, &str), look: Look) {
        // The frame, and where the text begins.
        let column = self.source.position(span).1 + 12;
        let is_long = look.width.is_some_and(|width| column + label.chars().count() > width);
        let shown = if label.is_empty() || is_long { "here" } else { label };
        let _ = writeln!(out, "{}", diagnostics::excerpt(self.source, title, (span, shown), look));
        if is_long {
            let _ = writeln!(out, "  with {label}");
        }
    }

    /// Why a formula is false of the execution.
    fn because(&self, out: &mut String, formula: &Formula) {
        let mut parent: Vec<usize> = Vec::new();
        for line in self.run.because(self.program, formula) {
            parent.truncate(line.depth);
            let is_there = parent.last() == Some(&line.at);
            let place = if is_there { "there".to_owned() } else { position(line.at) };
            let _ = writeln!(out, "  {}{}", "  ".repeat(line.depth), self.reason(&line, &place));
            parent.push(line.at);
        }
    }

    fn reason(&self, line: &Because<'_>, place: &str) -> String {
        let text = |formula: &Formula| format!("`{}`", formula_text(self.program, formula));
        let (formula, holds) = match line.formula {
            Formula::Not(inner) if is_of_state(inner) => (&**inner, !line.holds),
            formula => (formula, line.holds),
        };
        let is = format!("{} is {holds} {place}", text(formula));
        let lasting = match (line.by, formula) {
            (Decided::Forever, Formula::Eventually(part)) => format!("{} is never true from there on", text(part)),
            (Decided::Forever, Formula::Always(part)) => format!("{} stays true from there on", text(part)),
            (Decided::Forever, Formula::Until(parts)) => {
                format!("{} stays true, but {} is never true from there on", text(&parts.0), text(&parts.1))
            }
            (Decided::Forever, Formula::WeakUntil(parts)) => format!("{} stays true from there on", text(&parts.0)),
            (Decided::Forever, Formula::Release(parts)) => format!("{} stays true from there on", text(&parts.1)),
            _ => return is,
        };
        format!("{is}: {lasting}")
    }

    /// Where the cycle begins, whose steps it has, and what the conditions read on it.
    fn cycle(&self, out: &mut String, atoms: &[&Expr]) {
        let (run, program) = (self.run, self.program);
        let Some(start) = run.loop_start else { return };
        let steps = &run.steps[start.min(run.steps.len())..];
        let mut taken: BTreeMap<ThreadId, u64> = BTreeMap::new();
        for step in steps {
            *taken.entry(program.transition(step.transition).thread).or_default() += 1;
        }
        let by: Vec<String> =
            taken.iter().map(|(id, number)| format!("{} {number}", program.thread(*id).name)).collect();
        let place = position(start);
        let _ = match steps.len() {
            0 => writeln!(out, "  {place}, no step is possible: this state repeats forever"),
            length => {
                let steps = count(length as u64, "step");
                writeln!(out, "  the cycle begins {place} and has {steps}: {}", by.join(", "))
            }
        };
        let names: Vec<Access> = atoms.iter().flat_map(|atom| reads(atom)).collect();
        let values = self.values_on_cycle(&names, start);
        if !values.is_empty() {
            let _ = writeln!(out, "  values on the cycle: {}", values.join("; "));
        }
    }

    /// `x = 1`, or `x = 0, 1, 2` where it changes: each value once, in the order in which they come.
    fn values_on_cycle(&self, accesses: &[Access], start: usize) -> Vec<String> {
        let names = self.names(accesses);
        let view = self.program.view();
        let mut history = view.history();
        let mut found: Vec<(String, Vec<String>)> = Vec::new();
        for (at, state) in self.run.states.iter().enumerate() {
            if at < start {
                history.pass(state);
                continue;
            }
            let shown = history.show(state);
            for (name, value) in shown.leaves().into_iter().filter(|(name, _)| names.contains(name)) {
                let value = value.to_string();
                match found.iter_mut().find(|(known, _)| *known == name) {
                    None => found.push((name, vec![value])),
                    Some((_, values)) if !values.contains(&value) => values.push(value),
                    Some(_) => {}
                }
            }
        }
        let text = |(name, values): &(String, Vec<String>)| match values.len() > MAX_VALUES {
            true => format!("{name} = {}, …", values[..MAX_VALUES].join(", ")),
            false => format!("{name} = {}", values.join(", ")),
        };
        let mut texts: Vec<String> = found.iter().take(MAX_LISTED).map(text).collect();
        if found.len() > MAX_LISTED {
            texts.push("…".into());
        }
        texts
    }

    /// Who does not move in the loop, and whether it could.
    fn idle(&self, out: &mut String, paint: Paint) {
        let (run, program) = (self.run, self.program);
        let threads = run.idle_threads(program);
        let width = threads.iter().map(|(id, _)| program.thread(*id).name.chars().count()).max().unwrap_or(0);
        let mut is_said = false;
        for (id, chance) in threads {
            let Some(location) = program.location_of(id, run.last()) else { continue };
            is_said = true;
            let says = match chance {
                Chance::Always => "continuously enabled but never scheduled",
                Chance::Sometimes => "repeatedly enabled but never scheduled",
                Chance::Never => "never enabled",
            };
            let name = program.location_text(id, Some(location));
            let thread = paint.bold(&format!("{:width$}", program.thread(id).name));
            let _ = writeln!(out, "    {thread} stays at {name}, {says}");
        }
        if !is_said {
            let ended = run.loop_start == Some(run.steps.len());
            let what = if ended { "no thread is running" } else { "every running thread takes a step in the loop" };
            let _ = writeln!(out, "    {what}");
        }
    }

    /// Where each thread waits in a deadlock, and for what.
    fn waiting(&self, out: &mut String, paint: Paint) {
        let (run, program) = (self.run, self.program);
        let _ = writeln!(out, "  no step is possible:");
        let mut lines = Vec::new();
        for id in (0..program.threads.len()).map(ThreadId::new) {
            let Some(location) = program.location_of(id, run.last()) else { continue };
            let thread = program.thread(id);
            let (start, end) = thread.at[location.index()];
            let mut guards: Vec<String> = Vec::new();
            for guard in (start..end).filter_map(|t| self.waits_for(TransitionId::new(t as usize))) {
                if !guards.contains(&guard) {
                    guards.push(guard);
                }
            }
            let waits = if guards.is_empty() { "forever".to_owned() } else { format!("for {}", guards.join(" or ")) };
            let proper = match (program.kind_of(id).locations[location.index()].end, self.source.is_promela()) {
                (true, true) => " (a valid end state)",
                (true, false) => " (labelled `end`)",
                (false, _) => "",
            };
            let name = program.location_text(id, Some(location)).to_owned();
            lines.push((thread.name.clone(), name, format!("{waits}{proper}")));
        }
        let width = lines.iter().map(|(thread, ..)| thread.chars().count()).max().unwrap_or(0);
        for (thread, location, waits) in lines {
            let _ = writeln!(out, "    {} at {location} waits {waits}", paint.bold(&format!("{thread:width$}")));
        }
    }

    /// The guard of a transition as it is written, with the values that make it false: `` `!fork2` (fork2 = true) ``.
    fn waits_for(&self, id: TransitionId) -> Option<String> {
        let transition = self.program.transition(id);
        // Where no condition is written, the statement itself is what cannot be executed.
        let span = transition.guard_span.or_else(|| (transition.guard != Expr::TRUE).then_some(transition.span))?;
        // A condition of a procedure is about its parameters: the call says what they stand for.
        let is_called = self.source.is_bir() && transition.is_guarded_elsewhere();
        let text = self.source.slice(if is_called { transition.span } else { span });
        let text = text.lines().next().unwrap_or_default();
        let guard = format!("`{}`", visible(if is_called { text.trim_end_matches(';') } else { text }));
        let parts = why(self.program, self.run.last(), id).parts;
        let is_leaf = |&(at, part): &(usize, &Part)| parts.get(at + 1).is_none_or(|next| next.depth <= part.depth);
        let shown = self.program.show(self.run.last());
        let mut queues = shown.leaves();
        queues.retain(|(_, value)| matches!(value, ShownValue::Queue(_) | ShownValue::Sequence(_)));
        let mut values: Vec<String> = Vec::new();
        for (_, part) in parts.iter().enumerate().filter(is_leaf) {
            // How many messages there are, or one of them: all of them say more.
            let text = part.text.strip_prefix("len(").and_then(|text| text.strip_suffix(')')).unwrap_or(&part.text);
            let is_of =
                |name: &str| text.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('['));
            let value = match queues.iter().find(|(name, _)| is_of(name)) {
                Some((name, queue)) => format!("{name} = {queue}"),
                None => format!("{} = {}", part.text, part.value),
            };
            if !values.contains(&value) {
                values.push(value);
            }
        }
        // A rendezvous is one step with each process that could receive: all that matters is that none of them does.
        let is_place = |value: &String| value.split(' ').next().is_some_and(|name| name.ends_with('@'));
        if self.source.is_promela()
            && transition.receiver.is_some()
            && !values.is_empty()
            && values.iter().all(is_place)
        {
            return Some(format!("{guard} (no process is ready to receive)"));
        }
        if values.len() > MAX_VALUES {
            values.truncate(MAX_VALUES);
            values.push("…".into());
        }
        Some(if values.is_empty() { guard } else { format!("{guard} ({})", values.join(", ")) })
    }

    /// The condition that the last step found to be false.
    fn failed_check(&self) -> Option<&Expr> {
        let id = self.run.fault?;
        let step = self.run.steps.last()?;
        self.program.transition(step.transition).ops.iter().find_map(|op| match op {
            Op::Check(condition, fault) if *fault == id => Some(condition),
            _ => None,
        })
    }

    /// What went wrong, shown in the source with the values it read.
    fn fault(&self, out: &mut String, look: Look) {
        let Some(id) = self.run.fault else { return };
        let fault = &self.program.faults[id.index()];
        let values = self.failed_check().map(|c| self.values_text(&reads(c))).unwrap_or_default();
        let label = match self.run.refused {
            Some(value) if fault.kind == FaultKind::Range => format!("this would be {value}"),
            _ => values,
        };
        self.excerpt(out, &fault.message, (fault.span, &label), look);
    }

    /// The names of what was accessed, as states show them.
    fn names(&self, accesses: &[Access]) -> BTreeSet<String> {
        let program = self.program;
        let each = |access: &Access| {
            let elements = match access.element {
                Some(element) => element..element + 1,
                None => 0..program.variable(access.variable).len(),
            };
            let variable = access.variable;
            elements.map(move |element| program.shown_name(variable, element))
        };
        accesses.iter().flat_map(each).collect()
    }

    /// What was accessed, with its values at the end of a run.
    fn values_text(&self, accesses: &[Access]) -> String {
        let names = self.names(accesses);
        let view = self.program.view();
        let mut history = view.history();
        self.run.states.iter().for_each(|state| history.pass(state));
        let end = history.show(self.run.last());
        let read = end.leaves().into_iter().filter(|(name, _)| names.contains(name));
        let mut parts: Vec<String> = read.map(|(name, value)| format!("{name} = {value}")).collect();
        if parts.len() > MAX_LISTED {
            parts.truncate(MAX_LISTED);
            parts.push("…".into());
        }
        parts.join(", ")
    }
}

/// A position of a trace in words.
fn position(at: usize) -> String {
    if at == 0 { "at the start".to_owned() } else { format!("after step {at}") }
}

/// The conditions of a formula.
fn atoms(formula: &Formula) -> Vec<&Expr> {
    match formula {
        Formula::Atom(expr) => vec![expr],
        Formula::Not(inner) | Formula::Next(inner) | Formula::Always(inner) | Formula::Eventually(inner) => {
            atoms(inner)
        }
        Formula::And(parts)
        | Formula::Or(parts)
        | Formula::Until(parts)
        | Formula::WeakUntil(parts)
        | Formula::Release(parts) => [atoms(&parts.0), atoms(&parts.1)].concat(),
    }
}

/// A formula in BIR's own notation, with as few parentheses as it can be read with.
fn formula_text(program: &Program, formula: &Formula) -> String {
    written(program, formula, 0)
}

/// Inside of what binds as tightly as `level`: implications are 1, `||` 2, `&&` 3, `U` and its like 4, `!` and its like 5.
fn written(program: &Program, formula: &Formula, level: u8) -> String {
    let inner = |part: &Formula, level| written(program, part, level);
    let (text, own) = match formula {
        Formula::Atom(expr) => {
            let text = program.expr_text(expr);
            let binds_loosely = [" || ", " && ", " ? ", ") "].iter().any(|sign| text.contains(sign));
            let own = if binds_loosely { 0 } else { 4 };
            (text.clone(), if text.contains(' ') { own } else { u8::MAX })
        }
        Formula::Not(part) => (format!("!{}", inner(part, 5)), 5),
        Formula::Next(part) => (format!("X {}", inner(part, 5)), 5),
        Formula::Always(part) => (format!("[] {}", inner(part, 5)), 5),
        Formula::Eventually(part) => (format!("<> {}", inner(part, 5)), 5),
        Formula::And(parts) => (format!("{} && {}", inner(&parts.0, 3), inner(&parts.1, 3)), 3),
        Formula::Or(parts) => match &parts.0 {
            Formula::Not(left) => (format!("{} -> {}", inner(left, 2), inner(&parts.1, 1)), 1),
            left => (format!("{} || {}", inner(left, 2), inner(&parts.1, 2)), 2),
        },
        Formula::Until(parts) => (format!("{} U {}", inner(&parts.0, 5), inner(&parts.1, 5)), 4),
        Formula::WeakUntil(parts) => (format!("{} W {}", inner(&parts.0, 5), inner(&parts.1, 5)), 4),
        Formula::Release(parts) => (format!("{} R {}", inner(&parts.0, 5), inner(&parts.1, 5)), 4),
    };
    if own < level { format!("({text})") } else { text }
}

/// Whether it depends on what a step binds.
fn has_locals(expr: &Expr) -> bool {
    let (mut bound, mut used) = (BTreeSet::new(), BTreeSet::new());
    expr.walk(&mut |part| match part {
        Expr::Local(id) => _ = used.insert(*id),
        Expr::Fold { local, .. } | Expr::Let { local, .. } => _ = bound.insert(*local),
        _ => {}
    });
    !used.is_subset(&bound)
}

/// The variables an expression reads.
fn reads(expr: &Expr) -> Vec<Access> {
    let mut found = Vec::new();
    expr.walk(&mut |e| match e {
        Expr::Var(variable) => found.push(Access { variable: *variable, element: Some(0) }),
        Expr::Element(variable, index) => {
            let element = index.as_const().and_then(|i| u32::try_from(i).ok());
            found.push(Access { variable: *variable, element });
        }
        _ => {}
    });
    found.sort_unstable();
    found.dedup();
    found
}

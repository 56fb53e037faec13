//! Programs, expressions and states in words: for `birk show`, traces and snapshots.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use crate::branching::{Branching, Steps};
use crate::expr::{BinaryOp, Expr, FoldOp, UnaryOp};
use crate::ids::{LocationId, ThreadId, TransitionId, VarId};
use crate::program::{Access, Op, Place, Program, ValueKind, VarRole, Variable};
use crate::property::{Claim, Formula, PropertyKind};

/// What is shown for the location of a thread that ran before.
pub const TERMINATED: &str = "terminated";
/// What is shown for the location of a thread that did not run before.
pub const NOT_STARTED: &str = "not started";
/// What is shown for the location of a thread where nobody knows which of these two it is.
pub const NOT_RUNNING: &str = "not running";

impl ValueKind {
    /// How a value is written.
    pub fn text(&self, value: i64) -> String {
        self.shown(value).to_string()
    }
}

impl Variable {
    /// How one of its values is written.
    pub fn value_text(&self, value: i64) -> String {
        self.values.text(value)
    }

    fn type_text(&self) -> String {
        match &self.values {
            ValueKind::Boolean => "boolean".into(),
            ValueKind::Integer => format!("{}..{}", self.lo, self.hi),
            // A thread that never stops has a name for that all the same.
            ValueKind::Names(names) => {
                format!("{{{}}}", names[..names.len().min(self.hi as usize + 1)].join(", "))
            }
            ValueKind::Set(first) => {
                let members = i64::from(64 - self.hi.leading_zeros());
                format!("set of {first} .. {}", first + members - 1)
            }
        }
    }
}

/// The name of an element: its indices stand where `[]` does, the others at the end.
pub(crate) fn indexed(mut name: String, shape: &[u32], mut element: u32) -> String {
    for dimension in 0..shape.len() {
        let below: u32 = shape[dimension + 1..].iter().product();
        let index = format!("[{}]", element / below.max(1));
        match name.find("[]") {
            Some(at) => name.replace_range(at..at + 2, &index),
            None => name.push_str(&index),
        }
        element %= below.max(1);
    }
    name
}

/// What the name of the variable ends with that holds how many elements a sequence has.
pub const LENGTH: &str = "#len";
/// What the name of the variable ends with that holds which keys a map has.
pub const KEYS: &str = "#keys";

/// `len(s)` for `s#len`.
fn of_collection(name: String) -> String {
    match name.split_once('#') {
        Some((path, what)) => format!("{what}({path})"),
        None => name,
    }
}

impl Variable {
    /// Its name as people read it: `fork`, `len(log[])`.
    pub fn title(&self) -> String {
        of_collection(self.name.clone())
    }
}

impl Program {
    /// The name of one element of a variable: `x`, `fork[2]`, `Reader[0].count`, `Philosopher1@`.
    pub fn element_name(&self, variable: VarId, element: u32) -> String {
        let declared = self.variable(variable);
        let (name, shape, element) = match declared.role {
            VarRole::Global | VarRole::Length | VarRole::Fault => (declared.name.clone(), &declared.shape[..], element),
            VarRole::Counter(kind) | VarRole::Local(kind) => {
                let own: u32 = declared.shape[1..].iter().product();
                let kind = &self.kinds[kind];
                let index = if kind.indexed { format!("[{}]", element / own.max(1)) } else { String::new() };
                let suffix = &declared.name[kind.name.len()..];
                (format!("{}{index}{suffix}", kind.name), &declared.shape[1..], element % own.max(1))
            }
        };
        of_collection(indexed(name, shape, element))
    }

    /// Everything the user can see, with its value: `(name, value)`.
    pub fn state_text(&self, state: &[u32]) -> Vec<(String, String)> {
        self.show(state).leaves().into_iter().map(|(name, value)| (name, value.to_string())).collect()
    }

    /// The elements that make up what the user can see, in their order.
    pub fn visible_elements(&self) -> impl Iterator<Item = (VarId, u32)> + '_ {
        self.variables
            .iter()
            .enumerate()
            .filter(|(_, variable)| variable.role != VarRole::Fault && !variable.is_rendezvous())
            .flat_map(|(v, variable)| (0..variable.len()).map(move |element| (VarId::new(v), element)))
    }

    /// The name of the location that a thread comes to; `None` is where it terminates.
    pub fn location_text(&self, thread: ThreadId, location: Option<LocationId>) -> &str {
        location.map_or(TERMINATED, |location| &self.kind_of(thread).locations[location.index()].name)
    }

    /// A transition's name: `Philosopher1.loc0`, with `#n` where its location has several.
    pub fn transition_text(&self, id: TransitionId) -> String {
        let transition = self.transition(id);
        let thread = self.thread(transition.thread);
        let (start, end) = thread.at[transition.location.index()];
        let location = self.location_text(transition.thread, Some(transition.location));
        let number = if end - start > 1 { format!(" #{}", transition.ordinal + 1) } else { String::new() };
        format!("{}.{location}{number}", thread.name)
    }

    /// An expression in BIR's own notation.
    pub fn expr_text(&self, expr: &Expr) -> String {
        let mut text = String::new();
        self.write_expr(&mut text, expr, 0);
        let mut bound = BTreeSet::new();
        expr.walk(&mut |part| {
            if let Expr::Fold { local, .. } | Expr::Let { local, .. } = part {
                bound.insert(*local);
            }
        });
        // From behind, so that `$1` is not taken for a part of `$10`.
        for (number, local) in bound.into_iter().enumerate().rev() {
            text = text.replace(&format!("${local}"), &self.bound_name(number));
        }
        text
    }

    /// A name for what an expression binds, which nothing that is declared has: `i`, `j`, …
    fn bound_name(&self, number: usize) -> String {
        let letters = ["i", "j", "k", "l", "m", "n"];
        let mut name = letters[number % letters.len()].to_owned();
        if number >= letters.len() {
            _ = write!(name, "{}", number / letters.len());
        }
        while self.variables.iter().any(|variable| variable.name == name) {
            name.push('_');
        }
        name
    }

    fn write_expr(&self, out: &mut String, expr: &Expr, level: u8) {
        match expr {
            Expr::Const(value) => _ = write!(out, "{value}"),
            Expr::Var(variable) => out.push_str(&self.element_name(*variable, 0)),
            Expr::Element(variable, index) => self.write_element(out, *variable, index),
            Expr::Local(local) => _ = write!(out, "${local}"),
            Expr::Unary(op, operand) => {
                out.push_str(match op {
                    UnaryOp::Not => "!",
                    UnaryOp::Neg => "-",
                    UnaryOp::Ones => "size ",
                });
                self.write_expr(out, operand, 8);
            }
            Expr::Binary(op, parts) => {
                let (symbol, own) = symbol(*op);
                if let (BinaryOp::Eq | BinaryOp::Ne, Some(text)) = (*op, self.named_value(&parts.0, &parts.1)) {
                    return parenthesised(out, own < level, |out| {
                        self.write_expr(out, &parts.0, own + 1);
                        _ = write!(out, " {symbol} {text}");
                    });
                }
                // Nobody remembers how tightly the operators on bits bind.
                let (left, right) = if own == BITS { (8, 8) } else { (own, own + 1) };
                parenthesised(out, own < level, |out| {
                    self.write_expr(out, &parts.0, left);
                    _ = write!(out, " {symbol} ");
                    self.write_expr(out, &parts.1, right);
                });
            }
            Expr::If(parts) => parenthesised(out, level > 0, |out| {
                self.write_expr(out, &parts.0, 1);
                out.push_str(" ? ");
                self.write_expr(out, &parts.1, 1);
                out.push_str(" : ");
                self.write_expr(out, &parts.2, 0);
            }),
            Expr::Wrap(value, lo, hi) => {
                out.push_str("wrap(");
                self.write_expr(out, value, 0);
                _ = write!(out, ", {lo}, {hi})");
            }
            Expr::Fold { op, local, parts } => parenthesised(out, level > 0, |out| {
                let word = match op {
                    FoldOp::All => "forall",
                    FoldOp::Any => "exists",
                    FoldOp::Count => "count",
                    FoldOp::Sum => "sum",
                };
                _ = write!(out, "{word} (${local} : ");
                self.write_expr(out, &parts.0, 0);
                out.push_str(" .. ");
                self.write_expr(out, &parts.1, 0);
                out.push_str(") ");
                self.write_expr(out, &parts.2, 0);
            }),
            Expr::Let { local, parts } => parenthesised(out, level > 0, |out| {
                _ = write!(out, "let ${local} = ");
                self.write_expr(out, &parts.0, 0);
                out.push_str(" in ");
                self.write_expr(out, &parts.1, 0);
            }),
            Expr::Stuck => out.push_str("timeout"),
        }
    }

    fn write_element(&self, out: &mut String, variable: VarId, index: &Expr) {
        match index.as_const().and_then(|i| u32::try_from(i).ok()) {
            Some(element) => out.push_str(&self.element_name(variable, element)),
            None => {
                let declared = self.variable(variable);
                // `Client[i].x` where each thread of a kind has one.
                let title = declared.title();
                let (name, suffix) = match declared.role {
                    VarRole::Counter(kind) | VarRole::Local(kind)
                        if declared.shape.len() == 1 && title == declared.name =>
                    {
                        declared.name.split_at(self.kinds[kind].name.len())
                    }
                    _ => (&title[..], ""),
                };
                _ = write!(out, "{name}[");
                self.write_expr(out, index, 0);
                _ = write!(out, "]{suffix}");
            }
        }
    }

    /// The right side of a comparison by name, when the left is a variable with named values.
    fn named_value(&self, left: &Expr, right: &Expr) -> Option<String> {
        let (Expr::Var(variable) | Expr::Element(variable, _)) = left else { return None };
        let declared = self.variable(*variable);
        match declared.values {
            ValueKind::Names(_) | ValueKind::Boolean | ValueKind::Set(_) => {
                Some(declared.value_text(right.as_const()?))
            }
            ValueKind::Integer => None,
        }
    }

    fn place_text(&self, place: &Place) -> String {
        let mut text = String::new();
        match &place.index {
            None => text.push_str(&self.element_name(place.variable, 0)),
            Some(index) => self.write_element(&mut text, place.variable, index),
        }
        text
    }

    /// An operation of a transition.
    pub fn op_text(&self, op: &Op) -> String {
        match op {
            Op::Assign(place, value) => {
                let variable = self.variable(place.variable);
                let value = match value.as_const() {
                    Some(value) => variable.value_text(value),
                    None => self.expr_text(value),
                };
                format!("{} := {value}", self.place_text(place))
            }
            Op::Let(local, value) => format!("${local} = {}", self.expr_text(value)),
            Op::Choose(local, lo, hi) => {
                format!("${local} = choose({}, {})", self.expr_text(lo), self.expr_text(hi))
            }
            Op::Check(condition, fault) => {
                let fault = &self.faults[fault.index()];
                format!("check {} else {}", self.expr_text(condition), fault.kind.word())
            }
            Op::Assume(condition) => format!("assume {}", self.expr_text(condition)),
            Op::Require(condition) => format!("require {}", self.expr_text(condition)),
        }
    }

    /// A formula in BIR's own notation.
    pub fn formula_text(&self, formula: &Formula) -> String {
        let two = |parts: &(Formula, Formula), op: &str| {
            format!("({} {op} {})", self.formula_text(&parts.0), self.formula_text(&parts.1))
        };
        match formula {
            Formula::Atom(expr) => format!("({})", self.expr_text(expr)),
            Formula::Not(f) => format!("!{}", self.formula_text(f)),
            Formula::And(parts) => two(parts, "&&"),
            Formula::Or(parts) => two(parts, "||"),
            Formula::Next(f) => format!("X {}", self.formula_text(f)),
            Formula::Always(f) => format!("[] {}", self.formula_text(f)),
            Formula::Eventually(f) => format!("<> {}", self.formula_text(f)),
            Formula::Until(parts) => two(parts, "U"),
            Formula::WeakUntil(parts) => two(parts, "W"),
            Formula::Release(parts) => two(parts, "R"),
        }
    }

    /// A formula about branching, much as BIR writes it: `EX` and `AX` stay where no step is possible.
    pub fn branching_text(&self, formula: &Branching) -> String {
        let two = |parts: &(Branching, Branching), op: &str| {
            format!("({} {op} {})", self.branching_text(&parts.0), self.branching_text(&parts.1))
        };
        let modal = |[open, all, close]: [&str; 3], stay: &str, steps: &Steps, body: &Branching| {
            let body = self.branching_text(body);
            match steps {
                Steps::All => format!("{open}{all}{close} {body}"),
                Steps::OrStay => format!("{stay} {body}"),
                Steps::Of(ids) | Steps::Fair(ids) => {
                    let fair = if matches!(steps, Steps::Fair(_)) { "fair " } else { "" };
                    let ids: Vec<String> = ids.iter().map(ToString::to_string).collect();
                    format!("{open}{fair}{}{close} {body}", ids.join(","))
                }
            }
        };
        match formula {
            Branching::Atom(expr) => format!("({})", self.expr_text(expr)),
            Branching::Variable(number) => format!("X{number}"),
            Branching::And(parts) => two(parts, "&&"),
            Branching::Or(parts) => two(parts, "||"),
            Branching::Some(steps, body) => modal(["<", "-", ">"], "EX", steps, body),
            Branching::Every(steps, body) => modal(["[", "-", "]"], "AX", steps, body),
            Branching::Least(number, body) => format!("(mu X{number}. {})", self.branching_text(body)),
            Branching::Greatest(number, body) => format!("(nu X{number}. {})", self.branching_text(body)),
        }
    }

    fn accesses_text(&self, accesses: &[Access]) -> String {
        let name = |access: &Access| match access.element {
            Some(element) => self.element_name(access.variable, element),
            None if self.variable(access.variable).shape.is_empty() => self.element_name(access.variable, 0),
            None => format!("{}[*]", self.variable(access.variable).title()),
        };
        accesses.iter().map(name).collect::<Vec<_>>().join(", ")
    }

    /// The whole program as Birk sees it.
    pub fn to_text(&self) -> String {
        let mut out = String::new();
        _ = writeln!(out, "system {}", self.system);
        for (name, value) in &self.constants {
            _ = writeln!(out, "  const {name} = {value}");
        }
        let (bits, words) = (count(self.layout.bits(), "bit"), count(self.layout.words() as u64, "word"));
        _ = writeln!(out, "state: {bits} in {words} of 32");
        for (v, variable) in self.variables.iter().enumerate() {
            let slot = self.layout.slot(VarId::new(v));
            let shape: String = variable.shape.iter().map(|n| format!("[{n}]")).collect();
            _ = writeln!(
                out,
                "  {}{shape}: {}  ({} at word {} bit {})",
                variable.title(),
                variable.type_text(),
                count(u64::from(slot.bits), "bit"),
                slot.word,
                slot.shift
            );
        }
        for (t, transition) in self.transitions.iter().enumerate() {
            let starts_thread = t == 0 || self.transitions[t - 1].thread != transition.thread;
            if starts_thread {
                _ = writeln!(out, "thread {}", self.thread(transition.thread).name);
            }
            let target = self.location_text(transition.thread, transition.target);
            _ = writeln!(out, "  {t}: {} -> {target}", self.transition_text(TransitionId::new(t)));
            if transition.guard != Expr::TRUE {
                _ = writeln!(out, "      when {}", self.expr_text(&transition.guard));
            }
            for op in &transition.ops {
                _ = writeln!(out, "      {}", self.op_text(op));
            }
            _ = writeln!(out, "      reads  {}", self.accesses_text(&transition.reads(self)));
            _ = writeln!(out, "      writes {}", self.accesses_text(&transition.writes(self)));
        }
        _ = writeln!(out, "properties");
        for property in &self.properties {
            let text = match &property.kind {
                PropertyKind::Deadlock => format!("a stuck state satisfies {}", self.expr_text(&self.valid_end)),
                PropertyKind::Fault => format!("{} checked", count(self.faults.len() as u64, "place")),
                PropertyKind::Invariant(e) | PropertyKind::Reachable(e) => self.expr_text(e),
                PropertyKind::Ltl(formula) => self.formula_text(formula),
                PropertyKind::Ctl(formula) | PropertyKind::Mu(formula) => self.branching_text(formula),
                PropertyKind::Automaton => "of a file".into(),
                PropertyKind::Claim(claim) => self.claim_text(claim),
            };
            _ = writeln!(out, "  {} {}: {text}", property.word(), property.name);
        }
        out
    }
}

impl Program {
    /// `q0 -> q0 if true, q0 -> q1 if x == 1; from q0, accepting q1`
    fn claim_text(&self, claim: &Claim) -> String {
        let name = |state: usize| claim.states[state].name.as_str();
        let mut moves = Vec::new();
        for state in &claim.states {
            for (condition, target) in &state.moves {
                let condition = if *condition == Expr::TRUE { "true".into() } else { self.expr_text(condition) };
                moves.push(format!("{} -> {} if {condition}", state.name, name(*target)));
            }
        }
        let accepting = claim.states.iter().filter(|state| state.is_accepting).map(|state| state.name.as_str());
        let accepting = accepting.collect::<Vec<_>>().join(", ");
        format!("{}; from {}, accepting {accepting}", moves.join(", "), name(claim.initial))
    }
}

/// `1 bit`, `2 bits`.
fn count(number: u64, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

/// How tightly the operators on bits bind: not at all.
const BITS: u8 = 1;

/// How an operator is written, and how tightly it binds.
fn symbol(op: BinaryOp) -> (&'static str, u8) {
    match op {
        BinaryOp::Or => ("||", 2),
        BinaryOp::And => ("&&", 3),
        BinaryOp::Eq => ("==", 4),
        BinaryOp::Ne => ("!=", 4),
        BinaryOp::Lt => ("<", 5),
        BinaryOp::Le => ("<=", 5),
        BinaryOp::Gt => (">", 5),
        BinaryOp::Ge => (">=", 5),
        BinaryOp::BitOr => ("|", BITS),
        BinaryOp::BitAnd => ("&", BITS),
        BinaryOp::Shl => ("<<", BITS),
        BinaryOp::Shr => (">>", BITS),
        BinaryOp::Add => ("+", 6),
        BinaryOp::Sub => ("-", 6),
        BinaryOp::Mul => ("*", 7),
        BinaryOp::Div => ("/", 7),
        BinaryOp::Rem => ("%", 7),
    }
}

fn parenthesised(out: &mut String, needed: bool, write: impl FnOnce(&mut String)) {
    if needed {
        out.push('(');
    }
    write(out);
    if needed {
        out.push(')');
    }
}

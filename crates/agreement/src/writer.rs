//! A tree as text, independent of the parser and the formatter: with as few parentheses as the grammar allows, or with
//! all of them. The latter is a normal form: two trees mean the same text if their normal forms are equal.

mod collections;
mod crashes;
mod messages;
mod refinement;

use std::fmt::Write as _;

use birk_lang::ast::{
    Action, ActionKind, BinaryOp, Clause, ClauseKind, Domain, Expectation, Expr, ExprKind, Function, Item, Jump,
    Location, Mark, Param, Property, PropertyKind, Quantifier, System, Thread, Transformation, Type, TypeKind, UnaryOp,
    Variables,
};

use crate::random::{Draw as _, Random};

/// How tightly operators bind; a conditional or quantifier is the loosest, an operand of a prefix the tightest.
const ANY: u8 = 0;
const CONDITION: u8 = 1;
const PREFIX: u8 = 10;

/// The text of a system; what the grammar leaves to taste (the place of a jump, separators) is drawn by lot.
pub fn text(system: &System, taste: &mut Random) -> String {
    let mut writer = Writer { out: String::new(), taste: Some(taste) };
    writer.system(system);
    writer.out
}

/// The normal form: every parenthesis, no taste.
pub fn normal_form(system: &System) -> String {
    let mut writer = Writer { out: String::new(), taste: None };
    writer.system(system);
    writer.out
}

struct Writer<'r> {
    out: String,
    /// `None` in the normal form.
    taste: Option<&'r mut Random>,
}

impl Writer<'_> {
    fn flip(&mut self) -> bool {
        self.taste.as_mut().is_some_and(|random| random.chance(50))
    }

    fn put(&mut self, text: &str) {
        self.out.push_str(text);
    }

    fn system(&mut self, system: &System) {
        let _ = writeln!(self.out, "system {} {{", system.name.text);
        for item in &system.items {
            self.put("  ");
            self.item(item);
            self.put("\n");
        }
        self.put("}\n");
    }

    fn expectation(&mut self, expectation: &Expectation) {
        self.put("expect ");
        if !expectation.constants.is_empty() {
            let given = expectation.constants.iter().map(|(name, value)| format!("{} = {value}", name.text));
            let _ = write!(self.out, "({}): ", given.collect::<Vec<_>>().join(", "));
        }
        let clause = |clause: &Clause| {
            let name = clause.property.as_ref().map_or(String::new(), |name| format!(" {}", name.text));
            let steps = clause.number.map_or(String::new(), |number| format!(" in {number}"));
            let count = clause.number.unwrap_or_default();
            match clause.kind {
                ClauseKind::Holds => format!("holds{name}"),
                ClauseKind::Violated => format!("violated{name}{steps}"),
                ClauseKind::Reached => format!("reached{name}{steps}"),
                ClauseKind::States => format!("{count} states"),
                ClauseKind::Transitions => format!("{count} transitions"),
                ClauseKind::Depth => format!("depth {count}"),
            }
        };
        let clauses: Vec<String> = expectation.clauses.iter().map(clause).collect();
        let _ = write!(self.out, "{};", clauses.join(", "));
    }

    fn item(&mut self, item: &Item) {
        match item {
            Item::Constants(constants) => {
                self.put("const ");
                if let Some(block) = &constants.block {
                    let _ = write!(self.out, "{} {{ ", block.text);
                }
                for (name, value) in &constants.entries {
                    let _ = write!(self.out, "{} = ", name.text);
                    self.expr(value, ANY, true);
                    let comma = constants.block.is_some() && self.flip();
                    self.put(if comma { ", " } else { "; " });
                }
                if constants.block.is_some() {
                    let semicolon = self.flip();
                    self.put(if semicolon { "};" } else { "}" });
                }
            }
            Item::Alias(alias) => {
                let symmetric = if alias.symmetric { "symmetric " } else { "" };
                let _ = write!(self.out, "{symmetric}typealias {} ", alias.name.text);
                self.ty(&alias.target);
                self.put(";");
            }
            Item::Enum(declared) => {
                let names: Vec<&str> = declared.variants.iter().map(|v| v.text.as_str()).collect();
                let _ = write!(self.out, "enum {} {{ {} }}", declared.name.text, names.join(", "));
            }
            Item::Expectation(expectation) => self.expectation(expectation),
            Item::Refinement(refinement) => self.refinement(refinement),
            Item::Variables(variables) => self.variables(variables),
            Item::Function(function) => self.function(function),
            Item::Thread(thread) => self.thread(thread),
            Item::Property(property) => self.property(property),
            Item::Record(record) => {
                let _ = write!(self.out, "record {} {{ ", record.name.text);
                for field in &record.fields {
                    self.variables(field);
                    self.put(" ");
                }
                self.put("}");
            }
            Item::Procedure(procedure) => {
                let _ = write!(self.out, "procedure {}", procedure.name.text);
                self.params(&procedure.params);
                self.block(&procedure.body, 1);
            }
        }
    }

    fn variables(&mut self, variables: &Variables) {
        self.ty(&variables.ty);
        for (i, (name, initial)) in variables.declarators.iter().enumerate() {
            let _ = write!(self.out, "{} {}", if i == 0 { "" } else { "," }, name.text);
            if let Some(initial) = initial {
                self.put(" := ");
                self.expr(initial, ANY, true);
            }
        }
        self.put(";");
    }

    fn ty(&mut self, ty: &Type) {
        match &ty.kind {
            TypeKind::Boolean => self.put("boolean"),
            TypeKind::Byte => self.put("byte"),
            TypeKind::Int => self.put("int"),
            TypeKind::Range(wraps, lo, hi) => {
                self.put(if *wraps { "int wrap (" } else { "int (" });
                self.expr(lo, ANY, true);
                self.put(", ");
                self.expr(hi, ANY, true);
                self.put(")");
            }
            TypeKind::Named(name) => self.put(&name.text),
            TypeKind::OrNobody(name) => {
                self.put(&name.text);
                self.put(" or nobody");
            }
            TypeKind::SetOf(_) | TypeKind::Set(..) => {
                self.put("set of ");
                self.members(&ty.kind);
            }
            TypeKind::Channel(marks, element, capacity) => self.channel(*marks, element, capacity),
            TypeKind::Sequence(element, capacity) => self.sequence(element, capacity),
            TypeKind::Map(keys, value) => self.map(keys, value),
            TypeKind::Error => unreachable!("trees without errors are written"),
        }
        for dimension in &ty.dimensions {
            self.put("[");
            self.expr(dimension, ANY, true);
            self.put("]");
        }
    }

    fn params(&mut self, params: &[Param]) {
        self.put("(");
        for (i, param) in params.iter().enumerate() {
            self.put(if i == 0 { "" } else { ", " });
            self.ty(&param.ty);
            let _ = write!(self.out, " {}", param.name.text);
        }
        self.put(")");
    }

    fn function(&mut self, function: &Function) {
        let _ = write!(self.out, "function {}", function.name.text);
        self.params(&function.params);
        self.put(": ");
        self.ty(&function.result);
        self.put(" = ");
        self.expr(&function.body, ANY, true);
        self.put(";");
    }

    fn property(&mut self, property: &Property) {
        let word = match property.kind {
            PropertyKind::Invariant => "invariant",
            PropertyKind::Reachable => "reachable",
            PropertyKind::Ltl | PropertyKind::Ctl | PropertyKind::Mu => unreachable!("formulas are not generated"),
        };
        let _ = write!(self.out, "{word} {}: ", property.name.text);
        self.expr(&property.body, ANY, true);
        self.put(";");
    }

    fn thread(&mut self, thread: &Thread) {
        self.put(if thread.fair { "fair " } else { "" });
        self.put(if thread.active { "active " } else { "" });
        if let Some(copies) = &thread.copies {
            self.put("[");
            self.expr(copies, ANY, true);
            self.put("] ");
        }
        let _ = write!(self.out, "thread {}", thread.name.text);
        self.params(&thread.params);
        thread.crashes.iter().for_each(|crashes| self.crashes(crashes));
        self.put(" {\n");
        for variables in &thread.variables {
            self.put(if variables.durable { "    durable " } else { "    " });
            self.variables(variables);
            self.put("\n");
        }
        thread.crashes.iter().for_each(|crashes| self.blocks_of(crashes));
        for location in &thread.locations {
            self.location(location);
        }
        self.statements(&thread.body, 2);
        self.put("  }");
    }

    fn location(&mut self, location: &Location) {
        let _ = write!(self.out, "    loc {}:", location.name.text);
        self.marks(&location.marks);
        self.put("\n");
        for transformation in &location.transformations {
            self.transformation(transformation);
        }
    }

    fn marks(&mut self, marks: &[(Mark, birk_ir::Span)]) {
        for (mark, _) in marks {
            self.put(match mark {
                Mark::End => " end",
                Mark::Accept => " accept",
                Mark::Progress => " progress",
            });
        }
    }

    fn block(&mut self, statements: &[Action], indent: usize) {
        self.put(" {\n");
        self.statements(statements, indent + 1);
        self.put(&"  ".repeat(indent));
        self.put("}");
    }

    /// Each on its own line.
    fn statements(&mut self, statements: &[Action], indent: usize) {
        for statement in statements {
            self.put(&"  ".repeat(indent));
            self.statement(statement, indent);
            self.put("\n");
        }
    }

    /// With its labels and its semicolon.
    fn statement(&mut self, statement: &Action, indent: usize) {
        for label in &statement.labels {
            let _ = write!(self.out, "{}:", label.name.text);
            self.marks(&label.marks);
            self.put(" ");
        }
        self.put(if statement.fair { "fair " } else { "" });
        match &statement.kind {
            ActionKind::If(branches, otherwise) => {
                for (position, (condition, branch)) in branches.iter().enumerate() {
                    self.put(if position == 0 { "if (" } else { " else if (" });
                    self.expr(condition, ANY, true);
                    self.put(")");
                    self.block(branch, indent);
                }
                if let Some(branch) = otherwise {
                    self.put(" else");
                    self.block(branch, indent);
                }
            }
            ActionKind::While(condition, body) => {
                self.put("while (");
                self.expr(condition, ANY, true);
                self.put(")");
                self.block(body, indent);
            }
            ActionKind::For(name, lo, hi, body) => {
                let _ = write!(self.out, "for ({} : ", name.text);
                self.expr(lo, ANY, true);
                self.put(" .. ");
                self.expr(hi, ANY, true);
                self.put(")");
                self.block(body, indent);
            }
            ActionKind::Either(branches) => {
                for (position, branch) in branches.iter().enumerate() {
                    self.put(if position == 0 { "either" } else { " or" });
                    self.block(branch, indent);
                }
            }
            ActionKind::Atomic(body) => {
                self.put("atomic");
                self.block(body, indent);
            }
            _ => {
                self.action(statement);
                self.put(";");
            }
        }
    }

    fn transformation(&mut self, transformation: &Transformation) {
        self.put(if transformation.fair { "      fair " } else { "      " });
        if let Some(guard) = &transformation.guard {
            self.put("when ");
            self.expr(guard, ANY, true);
            self.put(" ");
        }
        self.put("do { ");
        for action in &transformation.actions {
            self.statement(action, 3);
            self.put(" ");
        }
        let jump = match &transformation.jump {
            Some(Jump::Goto(name)) => format!("goto {};", name.text),
            Some(Jump::Return(_)) => "return;".to_owned(),
            None => unreachable!("trees without errors are written"),
        };
        let inside = self.flip();
        let _ = writeln!(self.out, "{}", if inside { format!("{jump} }}") } else { format!("}} {jump}") });
    }

    fn action(&mut self, action: &Action) {
        match &action.kind {
            ActionKind::Assign(place, value) => {
                self.expr(place, ANY, true);
                self.put(" := ");
                self.expr(value, ANY, true);
            }
            ActionKind::Choose(place, lo, hi) => {
                self.expr(place, ANY, true);
                self.put(" := choose(");
                self.list(&[lo, hi]);
                self.put(")");
            }
            ActionKind::Assert(condition, message) => {
                self.put("assert ");
                self.expr(condition, ANY, true);
                if let Some(message) = message {
                    let _ = write!(self.out, ", \"{message}\"");
                }
            }
            ActionKind::Assume(condition) => {
                self.put("assume ");
                self.expr(condition, ANY, true);
            }
            ActionKind::Start(name, args) => {
                let _ = write!(self.out, "start {}(", name.text);
                self.list(&args.iter().collect::<Vec<_>>());
                self.put(")");
            }
            ActionKind::Skip => self.put("skip"),
            ActionKind::ChooseMember(place, set) => {
                self.expr(place, ANY, true);
                self.put(" := choose(");
                self.expr(set, ANY, true);
                self.put(")");
            }
            ActionKind::Await(condition) => {
                self.put("await ");
                self.expr(condition, ANY, true);
            }
            ActionKind::Send(channel, values) => self.message("send", channel, values),
            ActionKind::Broadcast(channels, values, except) => self.broadcast(channels, values, except.as_ref()),
            ActionKind::Receive(channel, patterns, condition) => self.receive(channel, patterns, condition.as_ref()),
            ActionKind::Call(name, args) => {
                let _ = write!(self.out, "{}(", name.text);
                self.list(&args.iter().collect::<Vec<_>>());
                self.put(")");
            }
            ActionKind::Break => self.put("break"),
            ActionKind::Return => self.put("return"),
            ActionKind::Goto(name) => _ = write!(self.out, "goto {}", name.text),
            ActionKind::If(..) | ActionKind::While(..) | ActionKind::For(..) => unreachable!("no simple statement"),
            ActionKind::Either(_) | ActionKind::Atomic(_) => unreachable!("no simple statement"),
        }
    }

    fn list(&mut self, exprs: &[&Expr]) {
        for (i, expr) in exprs.iter().enumerate() {
            self.put(if i == 0 { "" } else { ", " });
            self.expr(expr, ANY, true);
        }
    }

    /// `level`: what binds less tightly needs parentheses. `last`: nothing of the same expression follows, so that a
    /// quantifier, whose body reaches as far as it can, needs none.
    fn expr(&mut self, expr: &Expr, level: u8, last: bool) {
        let own = tightness(expr, last);
        // The normal form has parentheses around everything but operands.
        let open = own < level || (self.taste.is_none() && own <= PREFIX);
        self.put(if open { "(" } else { "" });
        self.inner(expr, open || last);
        self.put(if open { ")" } else { "" });
    }

    fn inner(&mut self, expr: &Expr, last: bool) {
        match &expr.kind {
            ExprKind::Int(value) => _ = write!(self.out, "{value}"),
            ExprKind::Bool(value) => _ = write!(self.out, "{value}"),
            ExprKind::Name(name) => self.put(name),
            ExprKind::Member(base, name) => {
                self.inner(base, false);
                let _ = write!(self.out, ".{}", name.text);
            }
            ExprKind::Index(base, index) => {
                self.inner(base, false);
                self.put("[");
                self.expr(index, ANY, true);
                self.put("]");
            }
            ExprKind::At(base, name) => {
                self.inner(base, false);
                let _ = write!(self.out, "@{}", name.text);
            }
            ExprKind::Call(name, args) => {
                let _ = write!(self.out, "{}(", name.text);
                self.list(&args.iter().collect::<Vec<_>>());
                self.put(")");
            }
            ExprKind::Unary(op, operand) => {
                self.put(if *op == UnaryOp::Not { "!" } else { "-" });
                self.expr(operand, PREFIX, last);
            }
            ExprKind::Binary(op @ (BinaryOp::And | BinaryOp::Or), ..) => self.chain(*op, expr, last),
            ExprKind::Binary(op, left, right) => {
                let (symbol, own) = symbol(*op);
                let comparison = own == 7;
                let to_the_right = *op == BinaryOp::Implies;
                self.expr(left, own + u8::from(comparison || to_the_right), false);
                let _ = write!(self.out, " {symbol} ");
                self.expr(right, own + u8::from(!to_the_right), last);
            }
            ExprKind::Conditional(condition, yes, no) => {
                self.expr(condition, CONDITION, false);
                self.put(" ? ");
                self.expr(yes, ANY, true);
                self.put(" : ");
                self.expr(no, ANY, last);
            }
            ExprKind::Quantifier(kind, name, domain, body) => {
                let word = match kind {
                    Quantifier::All => "forall",
                    Quantifier::Any => "exists",
                    Quantifier::Count => "count",
                    Quantifier::Sum => "sum",
                };
                let _ = write!(self.out, "{word} ({} ", name.text);
                match &**domain {
                    Domain::Range(lo, hi) => {
                        self.put(": ");
                        self.expr(lo, ANY, true);
                        self.put(" .. ");
                        self.expr(hi, ANY, true);
                    }
                    Domain::Members(members) => {
                        self.put("in ");
                        self.expr(members, ANY, true);
                    }
                }
                self.put(") ");
                self.expr(body, if is_total(*kind) { PREFIX } else { ANY }, last);
            }
            ExprKind::Let(name, value, body) => {
                let _ = write!(self.out, "let {} = ", name.text);
                self.expr(value, symbol(BinaryOp::Add).1, false);
                self.put(" in ");
                self.expr(body, ANY, last);
            }
            ExprKind::Set(parts) | ExprKind::Choose(parts) => {
                let is_set = matches!(expr.kind, ExprKind::Set(_));
                self.put(if is_set { "{" } else { "choose(" });
                self.list(&parts.iter().collect::<Vec<_>>());
                self.put(if is_set { "}" } else { ")" });
            }
            ExprKind::Modal(..) | ExprKind::Fixpoint(..) => unreachable!("formulas are not generated"),
            ExprKind::Error => unreachable!("trees without errors are written"),
        }
    }

    /// `a && b && c`, however it is nested.
    fn chain(&mut self, op: BinaryOp, expr: &Expr, last: bool) {
        let mut parts = Vec::new();
        flatten(op, expr, &mut parts);
        let (symbol, own) = symbol(op);
        for (i, part) in parts.iter().enumerate() {
            let _ = if i == 0 { Ok(()) } else { write!(self.out, " {symbol} ") };
            self.expr(part, own + 1, last && i + 1 == parts.len());
        }
    }
}

fn flatten<'e>(op: BinaryOp, expr: &'e Expr, parts: &mut Vec<&'e Expr>) {
    match &expr.kind {
        ExprKind::Binary(own, left, right) if *own == op => {
            flatten(op, left, parts);
            flatten(op, right, parts);
        }
        _ => parts.push(expr),
    }
}

/// Its body is one operand, so that the total can be compared.
fn is_total(kind: Quantifier) -> bool {
    matches!(kind, Quantifier::Count | Quantifier::Sum)
}

fn tightness(expr: &Expr, last: bool) -> u8 {
    match &expr.kind {
        ExprKind::Conditional(..) => ANY,
        ExprKind::Quantifier(kind, ..) if !last && !is_total(*kind) => ANY,
        ExprKind::Let(..) if !last => ANY,
        ExprKind::Quantifier(..) | ExprKind::Let(..) | ExprKind::Unary(..) => PREFIX,
        ExprKind::Binary(op, ..) => symbol(*op).1,
        _ => PREFIX + 1,
    }
}

fn symbol(op: BinaryOp) -> (&'static str, u8) {
    match op {
        BinaryOp::Implies => ("=>", 2),
        BinaryOp::Or => ("||", 3),
        BinaryOp::And => ("&&", 4),
        BinaryOp::Eq => ("==", 6),
        BinaryOp::Ne => ("!=", 6),
        BinaryOp::Lt => ("<", 7),
        BinaryOp::Le => ("<=", 7),
        BinaryOp::Gt => (">", 7),
        BinaryOp::Ge => (">=", 7),
        BinaryOp::In => ("in", 7),
        BinaryOp::Add => ("+", 8),
        BinaryOp::Sub => ("-", 8),
        BinaryOp::Mul => ("*", 9),
        BinaryOp::Div => ("/", 9),
        BinaryOp::Rem => ("%", 9),
        BinaryOp::Iff | BinaryOp::Until | BinaryOp::WeakUntil | BinaryOp::Release => {
            unreachable!("formulas are not generated")
        }
    }
}

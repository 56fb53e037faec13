//! Names and what hangs on them: `x`, `a[i][j]`, `Param.N`, `Color.Red`, `T[i].local`, `T[i]@loc`.

use birk_ir::{BinaryOp, Expr, FaultKind, Place, Span, VarId};

use crate::ast::{self, ExprKind};
use crate::context::Symbol;
use crate::diagnostic::{Diagnostic, nearest};
use crate::expression::Elaborator;
use crate::types::{Hazard, Scalar, Ty, Value, outside};

/// What a path stands for.
enum Path {
    /// A variable with the indices given so far.
    Variable(Indexed),
    Value(Value),
    /// A thread, and which copy of it where that was said.
    Thread(usize, Option<Value>),
    Block(usize),
    Enum(usize),
    Error,
}

struct Indexed {
    id: VarId,
    scalar: Scalar,
    shape: Vec<u32>,
    indices: Vec<(Value, Span)>,
    /// Belongs to a thread other than the one being lowered.
    foreign: bool,
}

/// A place to write to.
pub(crate) struct Target {
    pub(crate) place: Place,
    pub(crate) scalar: Scalar,
    pub(crate) hazards: Vec<Hazard>,
    /// The element, where it is known.
    pub(crate) element: Option<u32>,
}

impl Elaborator<'_, '_> {
    /// Reads what a path stands for.
    pub(crate) fn read(&mut self, expr: &ast::Expr) -> Value {
        if let ExprKind::At(thread, location) = &expr.kind {
            return self.at(thread, location, expr.span);
        }
        match self.path(expr) {
            Path::Value(value) => value,
            Path::Error => Value::error(),
            Path::Variable(indexed) => self.element(indexed, expr.span),
            Path::Thread(..) => self.not_a_value(expr.span, "a thread", "ask for its location with `@`"),
            Path::Block(_) => self.not_a_value(expr.span, "a block of constants", "name one of its constants"),
            Path::Enum(_) => self.not_a_value(expr.span, "an enumeration", "name one of its values"),
        }
    }

    fn not_a_value(&mut self, span: Span, what: &str, help: &str) -> Value {
        self.cx.report(
            Diagnostic::new("E0022", span, format!("this is {what}, not a value"), "a value is needed here").help(help),
        );
        Value::error()
    }

    fn element(&mut self, indexed: Indexed, span: Span) -> Value {
        let (id, scalar) = (indexed.id, indexed.scalar);
        let Some((index, hazards)) = self.flatten(indexed, span) else { return Value::error() };
        self.cx.read.push(id);
        let (expr, element) = match index {
            None => (Expr::Var(id), Some(0)),
            Some(index) => {
                let element = index.as_const().and_then(|i| u32::try_from(i).ok());
                (Expr::element(id, index), element)
            }
        };
        let bounds = element.map(|element| self.facts.bounds(id, element, scalar.lo, scalar.hi));
        let (lo, hi) = bounds.unwrap_or((scalar.lo, scalar.hi));
        Value { expr, ty: scalar.ty, lo, hi, hazards, fixed: false }.settled()
    }

    /// The place that an assignment writes.
    pub(crate) fn target(&mut self, expr: &ast::Expr) -> Option<Target> {
        let indexed = match self.path(expr) {
            Path::Variable(indexed) if !indexed.foreign => indexed,
            Path::Error => return None,
            other => {
                let what = match other {
                    Path::Variable(_) => "a local of another thread can only be read",
                    Path::Value(_) => "a constant, a parameter or a quantified name cannot be assigned",
                    _ => "only variables can be assigned",
                };
                let message = format!("cannot assign to `{}`", self.cx.source(expr.span));
                self.cx.report(Diagnostic::new("E0029", expr.span, message, what));
                return None;
            }
        };
        let (id, scalar) = (indexed.id, indexed.scalar);
        let (index, hazards) = self.flatten(indexed, expr.span)?;
        let element = match &index {
            None => Some(0),
            Some(index) => index.as_const().and_then(|i| u32::try_from(i).ok()),
        };
        Some(Target { place: Place { variable: id, index }, scalar, hazards, element })
    }

    /// One index from several, with the hazards of computing it and of missing the array.
    fn flatten(&mut self, indexed: Indexed, span: Span) -> Option<(Option<Expr>, Vec<Hazard>)> {
        let missing = indexed.shape.len() - indexed.indices.len();
        if missing > 0 {
            self.cx.report(
                Diagnostic::new("E0033", span, "an array is not a value", "an index is missing")
                    .help(format!("add {} to name one element", "[…]".repeat(missing))),
            );
            return None;
        }
        let mut hazards = Vec::new();
        let mut flat: Option<Expr> = None;
        for ((value, at), &length) in indexed.indices.into_iter().zip(&indexed.shape) {
            if value.ty == Ty::Error {
                return None;
            }
            hazards.extend(value.hazards.iter().cloned());
            let last = i64::from(length) - 1;
            if value.fixed && (value.hi < 0 || value.lo > last) {
                self.cx.report(Diagnostic::new(
                    "E0031",
                    at,
                    format!("the index {} is outside an array of {length}", value.lo),
                    format!("must be in 0..{last}"),
                ));
                return None;
            }
            if !value.is_within(0, last) {
                let fault = self
                    .cx
                    .fault(FaultKind::Index, at, |cx| format!("the index `{}` must stay in 0..{last}", cx.source(at)));
                hazards.push(Hazard { when: outside(&value, 0, last), fault });
            }
            flat = Some(match flat {
                None => value.expr,
                Some(outer) => {
                    let scaled = Expr::binary(BinaryOp::Mul, outer, Expr::Const(i64::from(length)));
                    Expr::binary(BinaryOp::Add, scaled, value.expr)
                }
            });
        }
        Some((flat, hazards))
    }

    fn path(&mut self, expr: &ast::Expr) -> Path {
        match &expr.kind {
            ExprKind::Name(name) => self.name(name, expr.span),
            ExprKind::Member(base, name) => {
                let base = self.path(base);
                self.member(base, name)
            }
            ExprKind::Index(base, index) => {
                let base = self.path(base);
                let value = self.integer(index, "an index");
                self.index(base, value, index.span, expr.span)
            }
            _ => Path::Value(self.value(expr)),
        }
    }

    fn name(&mut self, name: &str, span: Span) -> Path {
        if let Some((_, value)) = self.bindings.iter().rev().find(|(n, _)| n == name) {
            return Path::Value(value.clone());
        }
        if let Some((kind, copy)) = self.thread {
            if let Some(path) = self.local(kind, name, Value::constant(i64::from(copy), Ty::Int), span, false) {
                return path;
            }
        }
        match self.cx.symbols.get(name).map(|(symbol, _)| *symbol) {
            Some(Symbol::Constant(index)) => Path::Value(self.constant_value(index)),
            Some(Symbol::Variable(index)) if self.stateful => {
                let declared = &self.cx.globals[index];
                Path::Variable(Indexed {
                    id: declared.id,
                    scalar: declared.ty.scalar,
                    shape: declared.ty.shape.clone(),
                    indices: Vec::new(),
                    foreign: false,
                })
            }
            Some(Symbol::Variable(_)) => {
                let message = format!("`{name}` is a variable, not a constant");
                self.cx.report(Diagnostic::new("E0024", span, message, "must be known before the search"));
                Path::Error
            }
            Some(Symbol::Thread(index)) if self.stateful => Path::Thread(index, None),
            Some(Symbol::Block(index)) => Path::Block(index),
            Some(Symbol::Enum(index)) => Path::Enum(index),
            Some(symbol) => {
                let message = format!("`{name}` is a {}, not a value", symbol.word());
                self.cx.report(Diagnostic::new("E0022", span, message, "a value is needed here"));
                Path::Error
            }
            None => {
                self.unknown_name(name, span);
                Path::Error
            }
        }
    }

    fn unknown_name(&mut self, name: &str, span: Span) {
        if name.is_empty() {
            return;
        }
        let mut names: Vec<String> = self.bindings.iter().map(|(n, _)| n.clone()).collect();
        if let Some((kind, _)) = self.thread {
            let thread = &self.cx.threads[kind];
            names.extend(thread.locals.iter().map(|l| l.name.clone()));
            names.extend(thread.index_param.clone());
        }
        let value = |symbol: &Symbol| !matches!(symbol, Symbol::Function(_) | Symbol::Alias(_));
        names.extend(self.cx.symbols.iter().filter(|(_, (s, _))| value(s)).map(|(n, _)| (*n).to_owned()));
        names.sort_unstable();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        self.cx.unknown("a value named", name, span, &names);
    }

    /// A parameter or local of a copy of a thread.
    fn local(&mut self, kind: usize, name: &str, copy: Value, span: Span, foreign: bool) -> Option<Path> {
        let thread = &self.cx.threads[kind];
        if thread.index_param.as_deref() == Some(name) {
            // The copies' numbers are written by the system, not by a constant expression.
            return Some(Path::Value(Value { fixed: false, ..copy }));
        }
        let declared = thread.locals.iter().find(|local| local.name == name)?;
        let copies = self.cx.threads[kind].copies;
        let mut shape = vec![copies];
        shape.extend(&declared.ty.shape);
        let (id, scalar) = (declared.id, declared.ty.scalar);
        Some(Path::Variable(Indexed { id, scalar, shape, indices: vec![(copy, span)], foreign }))
    }

    fn member(&mut self, base: Path, name: &ast::Name) -> Path {
        match base {
            Path::Block(block) => match self.cx.blocks[block].1.get(name.text.as_str()) {
                Some(&constant) => Path::Value(self.constant_value(constant)),
                None => {
                    let (owner, entries) = &self.cx.blocks[block];
                    let names: Vec<&str> = entries.keys().copied().collect();
                    let owner = (*owner).to_owned();
                    self.no_member(&owner, name, &names)
                }
            },
            Path::Enum(index) => {
                let owner = &self.cx.enums[index];
                match owner.variants.iter().position(|variant| *variant == name.text) {
                    Some(position) => Path::Value(Value::constant(position as i64, Ty::Enum(index))),
                    None => {
                        let (owner, names) = (owner.name.to_owned(), owner.variants.clone());
                        self.no_member(&owner, name, &names.iter().map(String::as_str).collect::<Vec<_>>())
                    }
                }
            }
            Path::Thread(kind, copy) => {
                let Some(copy) = self.copy_of(kind, copy, name.span) else { return Path::Error };
                let foreign =
                    !self.thread.is_some_and(|(own, c)| own == kind && copy.expr == Expr::Const(i64::from(c)));
                if let Some(path) = self.local(kind, &name.text, copy, name.span, foreign) {
                    return path;
                }
                let thread = &self.cx.threads[kind];
                let owner = thread.ast.name.text.clone();
                let names: Vec<String> = thread.locals.iter().map(|l| l.name.clone()).collect();
                self.no_member(&owner, name, &names.iter().map(String::as_str).collect::<Vec<_>>())
            }
            Path::Error => Path::Error,
            Path::Variable(_) | Path::Value(_) => {
                let message = format!("no `{}` here: a value has no members", name.text);
                self.cx.report(Diagnostic::new("E0035", name.span, message, "not a thread, block or enumeration"));
                Path::Error
            }
        }
    }

    fn no_member(&mut self, owner: &str, name: &ast::Name, names: &[&str]) -> Path {
        if !name.text.is_empty() {
            let message = format!("`{owner}` has no `{}`", name.text);
            let mut diagnostic = Diagnostic::new("E0035", name.span, message, "not found there");
            if let Some(meant) = nearest(&name.text, names.iter().copied()) {
                diagnostic = diagnostic.help(format!("did you mean `{owner}.{meant}`?"));
            }
            self.cx.report(diagnostic);
        }
        Path::Error
    }

    fn index(&mut self, base: Path, value: Value, at: Span, span: Span) -> Path {
        match base {
            Path::Variable(mut indexed) if indexed.indices.len() < indexed.shape.len() => {
                indexed.indices.push((value, at));
                Path::Variable(indexed)
            }
            Path::Thread(kind, None) => Path::Thread(kind, Some(value)),
            Path::Error => Path::Error,
            _ => {
                let help = "only arrays and threads with several copies are indexed";
                self.cx.report(Diagnostic::new("E0033", span, "this cannot be indexed", "not an array").help(help));
                Path::Error
            }
        }
    }

    /// Which copy of a thread is meant.
    fn copy_of(&mut self, kind: usize, copy: Option<Value>, span: Span) -> Option<Value> {
        let (copies, name) = (self.cx.threads[kind].copies, self.cx.threads[kind].ast.name.text.clone());
        match copy {
            Some(copy) => Some(copy),
            None if copies == 1 => Some(Value { fixed: false, ..Value::constant(0, Ty::Int) }),
            None => {
                self.cx.report(
                    Diagnostic::new("E0034", span, format!("`{name}` has {copies} copies"), "which of them?")
                        .help(format!("write `{name}[i]` with i in 0..{}", i64::from(copies) - 1)),
                );
                None
            }
        }
    }

    /// `T@loc`, `T[i]@loc`.
    fn at(&mut self, thread: &ast::Expr, location: &ast::Name, span: Span) -> Value {
        let path = self.path(thread);
        let (kind, copy) = match path {
            Path::Thread(kind, copy) => (kind, copy),
            Path::Error => return Value::error(),
            _ => {
                let help = "`@` asks where a thread is: `T@loc` or `T[i]@loc`";
                self.cx.report(Diagnostic::new("E0022", thread.span, "this is not a thread", "no location").help(help));
                return Value::error();
            }
        };
        let Some(copy) = self.copy_of(kind, copy, thread.span) else { return Value::error() };
        let declaration = &self.cx.threads[kind];
        let Some(position) = declaration.ast.locations.iter().position(|l| l.name.text == location.text) else {
            let owner = declaration.ast;
            self.unknown_location(owner, location);
            return Value::error();
        };
        let (id, copies) = (declaration.counter, declaration.copies);
        let scalar = Scalar { ty: Ty::Int, lo: 0, hi: self.cx.variables[id.index()].hi, wrap: false };
        let indices = vec![(copy, thread.span)];
        let counter = self.element(Indexed { id, scalar, shape: vec![copies], indices, foreign: true }, span);
        if counter.ty == Ty::Error {
            return counter;
        }
        Value { hazards: counter.hazards, ..Value::boolean(counter.expr.equals(position as i64)) }
    }

    /// Says that a thread has no such location.
    pub(crate) fn unknown_location(&mut self, thread: &ast::Thread, location: &ast::Name) {
        if location.text.is_empty() {
            return;
        }
        let message = format!("`{}` has no location `{}`", thread.name.text, location.text);
        let mut diagnostic = Diagnostic::new("E0026", location.span, message, "no such location");
        let names = thread.locations.iter().map(|l| l.name.text.as_str());
        if let Some(meant) = nearest(&location.text, names) {
            diagnostic = diagnostic.help(format!("did you mean `{meant}`?"));
        }
        self.cx.report(diagnostic);
    }
}

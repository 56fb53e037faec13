//! Names and what hangs on them: `x`, `a[i][j]`, `Param.N`, `Color.Red`, `T[i].local`, `T[i]@loc`.

mod name;
mod thread;
mod timeout;
mod whole;

use birk_ir::{BinaryOp, Expr, FaultKind, Place, Span, VarId, VarRole};

use crate::diagnostic::{Diagnostic, list, nearest};
use crate::edit;
use crate::sema::context::Symbol;
use crate::sema::expression::{Elaborator, count};
use crate::sema::types::{Hazard, NOBODY, Scalar, Ty, Type, Value, outside};
use crate::syntax::ast::{self, ExprKind};

/// What a path stands for.
pub(crate) enum Resolved {
    /// A variable with the indices given so far.
    Variable(Indexed),
    Value(Value),
    /// A thread, and which copy of it where that was said.
    Thread(usize, Option<(Value, Span)>),
    Block(usize),
    Enum(usize),
    Error,
}

#[derive(Clone)]
pub(crate) struct Indexed {
    /// The variables it is made of: one, unless it is a record or a channel.
    pub(crate) leaves: Vec<VarId>,
    pub(crate) scalar: Scalar,
    pub(crate) shape: Vec<u32>,
    /// For each dimension, the symmetric type whose values are its indices, if it has one.
    pub(crate) by: Vec<Option<usize>>,
    pub(crate) indices: Vec<(Value, Span)>,
    /// Belongs to a thread other than the one being lowered.
    pub(crate) foreign: bool,
    /// It is in a map, and writing it adds its key.
    pub(crate) added: Option<Box<Added>>,
}

/// A key that a write adds to a map: the variable of its keys, and the key.
#[derive(Clone)]
pub(crate) struct Added {
    pub(crate) keys: Indexed,
    pub(crate) key: Value,
}

impl Indexed {
    /// Whether it is more than one value: a record, or an array for which an index is missing.
    pub(crate) fn is_whole(&self) -> bool {
        matches!(self.scalar.ty, Ty::Record(_) | Ty::Collection(_)) || self.indices.len() < self.shape.len()
    }

    /// Its type.
    pub(crate) fn ty(&self) -> Type {
        let given = self.indices.len();
        Type { scalar: self.scalar, shape: self.shape[given..].to_vec(), by: self.by[given..].to_vec() }
    }
}

/// A place to write to.
pub(crate) struct Target {
    pub(crate) place: Place,
    pub(crate) scalar: Scalar,
    pub(crate) hazards: Vec<Hazard>,
    /// The element, where it is known.
    pub(crate) element: Option<u32>,
    /// The keys of the map that it is in, and what they become.
    pub(crate) added: Option<(Place, Expr)>,
}

impl Elaborator<'_, '_> {
    /// Reads what a path stands for.
    pub(crate) fn read(&mut self, expr: &ast::Expr) -> Value {
        if let ExprKind::At(thread, location) = &expr.kind {
            return self.at(thread, location, expr.span);
        }
        let path = self.path(expr);
        self.value_at(path, expr.span)
    }

    /// The value of a path that was looked up already.
    pub(crate) fn value_at(&mut self, path: Resolved, span: Span) -> Value {
        match path {
            Resolved::Value(value) => value,
            Resolved::Error => Value::error(),
            Resolved::Variable(indexed) => self.element(indexed, span),
            Resolved::Thread(kind, _) => {
                let spots = &self.cx.threads[kind].control.spots;
                let location = spots.iter().find(|spot| spot.named).map_or("LOCATION", |spot| spot.name.as_str());
                let help = format!("ask where it is: `{}@{location}`", self.cx.source(span));
                self.not_a_value(span, "a thread", help)
            }
            Resolved::Block(block) => {
                let (owner, entries) = &self.cx.blocks[block];
                let example = entries.keys().min().map_or("NAME", |name| *name);
                let help = format!("name one of its constants: `{owner}.{example}`");
                self.not_a_value(span, "a block of constants", help)
            }
            Resolved::Enum(index) => {
                let owner = &self.cx.enums[index];
                let example = owner.variants.first().map_or("NAME", String::as_str);
                let help = format!("name one of its values: `{}.{example}`", owner.name);
                self.not_a_value(span, "an enumeration", help)
            }
        }
    }

    fn not_a_value(&mut self, span: Span, what: &str, help: String) -> Value {
        let message = format!("`{}` is {what}, not a value", self.cx.source(span));
        self.cx.report(Diagnostic::new("E0022", span, message, "expected a value").help(help));
        Value::error()
    }

    pub(crate) fn element(&mut self, indexed: Indexed, span: Span) -> Value {
        if let Ty::Record(_) | Ty::Collection(_) | Ty::Channel(_) = indexed.scalar.ty {
            let what = self.cx.type_name(indexed.scalar.ty);
            let message = format!("`{}` is {what}, not a single value", self.cx.source(span));
            let help = match indexed.scalar.ty {
                Ty::Record(_) => "name one of its fields; whole records can be assigned, compared and sent",
                Ty::Collection(_) => "ask for one of its elements; as a whole it can be assigned, compared and sent",
                _ => "use `send`, `receive`, `len`, `full`, `empty` or `peek`",
            };
            self.cx.report(Diagnostic::new("E0022", span, message, "expected a single value").help(help));
            return Value::error();
        }
        let (id, scalar) = (indexed.leaves[0], indexed.scalar);
        if indexed.indices.len() < indexed.shape.len() {
            let message = format!("`{}` is an array, not a value", self.cx.source(span));
            let diagnostic = Diagnostic::new("E0033", span, message, "an index is missing");
            let missing = indexed.indices.len()..;
            // The values of a symmetric type have no numbers.
            self.cx.report(match indexed.by[missing.clone()].iter().all(Option::is_none) {
                true => {
                    let first = "[0]".repeat(indexed.shape[missing].len());
                    let help = format!("name one element, such as `{}{first}`", self.cx.source(span));
                    diagnostic.help(help).propose(edit::behind(span), first)
                }
                false => diagnostic.help(format!("name one element: `{}`", self.one_element(&indexed, span))),
            });
            return Value::error();
        }
        let Some((index, hazards)) = self.flatten(indexed) else { return Value::error() };
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

    /// How to write what is still an array with the indices that it lacks.
    fn one_element(&self, indexed: &Indexed, span: Span) -> String {
        let missing = indexed.shape.len() - indexed.indices.len();
        let indices = ["[i]", "[j]", "[k]"].into_iter().chain(std::iter::repeat("[…]"));
        indices.take(missing).fold(self.cx.source(span), |name, index| name + index)
    }

    /// The place that an assignment writes.
    pub(crate) fn target(&mut self, expr: &ast::Expr) -> Option<Indexed> {
        self.writes = true;
        let path = self.path(expr);
        self.writes = false;
        let indexed = match path {
            Resolved::Variable(_) if matches!(expr.kind, ExprKind::Call(..)) => {
                let message = format!("cannot assign to `{}`", self.cx.source(expr.span));
                let diagnostic = Diagnostic::new("E0029", expr.span, message, "a value, not a variable");
                self.cx.report(diagnostic.help("write the element by its index: `s[0] := …;`"));
                return None;
            }
            Resolved::Variable(indexed) if !indexed.foreign && !matches!(indexed.scalar.ty, Ty::Channel(_)) => indexed,
            Resolved::Error => return None,
            other => {
                let (label, help) = self.why_not(&other, expr);
                let message = format!("cannot assign to `{}`", self.cx.source(expr.span));
                let mut diagnostic = Diagnostic::new("E0029", expr.span, message, label);
                diagnostic.help = help;
                // In a procedure it may be wrong because of one call only.
                let text = self.cx.text(expr.span).filter(|_| self.scope.is_none());
                let assignment = text.and_then(|text| edit::assignment(text, expr.span));
                if assignment.is_some() {
                    let help = diagnostic.help.map_or("remove it".into(), |help| format!("remove it, or {help}"));
                    diagnostic.help = Some(help);
                }
                self.cx.report(self.cx.without(diagnostic, assignment));
                return None;
            }
        };
        Some(indexed)
    }

    /// The place of a single value.
    pub(crate) fn target_of(&mut self, indexed: Indexed) -> Option<Target> {
        let (id, scalar) = (indexed.leaves[0], indexed.scalar);
        let added = indexed.added.as_ref().and_then(|added| self.with_key(added));
        let (index, hazards) = self.flatten(indexed)?;
        let element = match &index {
            None => Some(0),
            Some(index) => index.as_const().and_then(|i| u32::try_from(i).ok()),
        };
        Some(Target { place: Place { variable: id, index }, scalar, hazards, element, added })
    }

    /// Why something is no place to write to: a label, and what to do.
    fn why_not(&self, path: &Resolved, expr: &ast::Expr) -> (&'static str, Option<String>) {
        let is_constant = match &expr.kind {
            ExprKind::Name(name) => {
                let is_own = |(kind, _): (usize, u32)| self.cx.threads[kind].index_param.as_ref() == Some(name);
                if self.thread.is_some_and(is_own) {
                    let help = "copy it into a variable of the thread, and change that";
                    return ("the number of an instance never changes", Some(help.into()));
                }
                true
            }
            ExprKind::Member(base, _) => match &base.kind {
                ExprKind::Name(name) => {
                    matches!(self.cx.symbols.get(name.as_str()), Some((Symbol::Block(_), _)))
                }
                _ => false,
            },
            _ => false,
        };
        match path {
            Resolved::Variable(indexed) if matches!(indexed.scalar.ty, Ty::Channel(_)) => {
                ("a channel, not a variable", Some("use `send` and `receive`".into()))
            }
            Resolved::Variable(_) => {
                ("belongs to another thread", Some("use a variable of the system to tell that thread something".into()))
            }
            Resolved::Value(_) if is_constant => {
                ("a constant never changes", Some("declare it as a variable if it has to change".into()))
            }
            Resolved::Value(_) if matches!(expr.kind, ExprKind::At(..)) => {
                ("a thread moves by its own jumps only", None)
            }
            Resolved::Value(_) | Resolved::Error => ("a value, not a variable", None),
            Resolved::Thread(..) => ("a thread, not a variable", None),
            Resolved::Block(_) => ("a block of constants, not a variable", None),
            Resolved::Enum(_) => ("an enumeration, not a variable", None),
        }
    }

    /// One index from several, with the hazards of computing it and of missing the array. None may be missing.
    pub(crate) fn flatten(&mut self, indexed: Indexed) -> Option<(Option<Expr>, Vec<Hazard>)> {
        let owner = &self.cx.variables[indexed.leaves[0].index()];
        // The first index of what belongs to a thread is the number of the copy.
        let thread = match owner.role {
            VarRole::Counter(kind) | VarRole::Local(kind) => Some(kind),
            _ => None,
        };
        let mut hazards = Vec::new();
        let mut flat: Option<Expr> = None;
        for (dimension, ((value, at), &length)) in indexed.indices.into_iter().zip(&indexed.shape).enumerate() {
            if value.ty == Ty::Error {
                return None;
            }
            hazards.extend(value.hazards.iter().cloned());
            let last = i64::from(length) - 1;
            if value.fixed && !self.unreached && (value.hi < 0 || value.lo > last) {
                let index = value.lo;
                let message = match thread.filter(|_| dimension == 0) {
                    Some(kind) => format!("there is no instance {index} of `{}`", self.cx.threads[kind].ast.name.text),
                    None => format!("the index {index} is outside an array of {}", count(length as usize, "element")),
                };
                let label = if length == 0 { "there are none".into() } else { format!("must be in 0..{last}") };
                let mut diagnostic = Diagnostic::new("E0031", at, message, label);
                // What is right elsewhere may be wrong in one call.
                if length > 0 && self.bindings.is_empty() {
                    diagnostic = self.cx.with_near_index(diagnostic, index, last);
                }
                self.cx.report(diagnostic);
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

    pub(crate) fn path(&mut self, expr: &ast::Expr) -> Resolved {
        let writes = std::mem::take(&mut self.writes);
        let path = match &expr.kind {
            ExprKind::Name(name) => {
                // What stands for a parameter is written where that is.
                self.writes = writes;
                let path = self.name(name, expr.span);
                self.writes = false;
                path
            }
            ExprKind::Call(name, args) if self.is_built_in(name, &["head", "last"]) => {
                self.end_of(name, args, expr.span)
            }
            ExprKind::Member(base, name) if name.text == NOBODY && self.symmetric(base).is_some() => {
                let (ty, last) = self.symmetric(base).expect("it is one");
                Resolved::Value(Value::constant(last + 1, ty))
            }
            ExprKind::Member(base, name) => {
                let path = self.path(base);
                self.member(path, name, base.span)
            }
            ExprKind::Index(base, index) => {
                let path = self.path(base);
                let value = self.value(index);
                let value = match value.ty {
                    Ty::Symmetric(_) => value,
                    _ => self.expect(value, Ty::Int, index.span, "an index"),
                };
                self.index(path, value, [index.span, base.span], writes)
            }
            _ => Resolved::Value(self.value(expr)),
        };
        match path {
            Resolved::Value(value) if value.ty == Ty::Error => Resolved::Error,
            path => path,
        }
    }

    fn member(&mut self, base: Resolved, name: &ast::Name, at: Span) -> Resolved {
        match base {
            Resolved::Block(block) => match self.cx.blocks[block].1.get(name.text.as_str()) {
                Some(&constant) => Resolved::Value(self.constant_value(constant)),
                None => {
                    let (owner, entries) = &self.cx.blocks[block];
                    let mut names: Vec<&str> = entries.keys().copied().collect();
                    names.sort_unstable();
                    let owner = (*owner).to_owned();
                    self.no_member(&owner, "constant", name, &names)
                }
            },
            Resolved::Enum(index) => {
                let owner = &self.cx.enums[index];
                match owner.variants.iter().position(|variant| *variant == name.text) {
                    Some(position) => Resolved::Value(Value::constant(position as i64, Ty::Enum(index))),
                    None => {
                        let (owner, names) = (owner.name.to_owned(), owner.variants.clone());
                        let names: Vec<&str> = names.iter().map(String::as_str).collect();
                        self.no_member(&owner, "value", name, &names)
                    }
                }
            }
            Resolved::Thread(kind, copy) => {
                let Some(copy) = self.copy_of(kind, copy, at) else { return Resolved::Error };
                let foreign =
                    !self.thread.is_some_and(|(own, c)| own == kind && copy.0.expr == Expr::Const(i64::from(c)));
                if let Some(path) = self.local(kind, &name.text, copy, foreign) {
                    return path;
                }
                let thread = &self.cx.threads[kind];
                let owner = thread.ast.name.text.clone();
                let names: Vec<String> = thread.locals.iter().map(|l| l.name.clone()).collect();
                let names: Vec<&str> = names.iter().map(String::as_str).collect();
                self.no_member(&owner, "variable", name, &names)
            }
            Resolved::Error => Resolved::Error,
            Resolved::Variable(indexed) if matches!(indexed.scalar.ty, Ty::Record(_)) => self.field(indexed, name, at),
            Resolved::Variable(_) | Resolved::Value(_) => {
                if !name.text.is_empty() {
                    let message = format!("`{}` has no members", self.cx.source(at));
                    let label = "neither a record, nor a thread, nor an enumeration, nor a block of constants";
                    self.cx.report(Diagnostic::new("E0035", at, message, label));
                }
                Resolved::Error
            }
        }
    }

    fn no_member(&mut self, owner: &str, what: &str, name: &ast::Name, names: &[&str]) -> Resolved {
        // A member whose name is missing may be the one that is meant.
        if name.text.is_empty() || names.contains(&"") {
            return Resolved::Error;
        }
        let message = format!("`{owner}` has no {what} `{}`", name.text);
        let diagnostic = Diagnostic::new("E0035", name.span, message, format!("no such {what}"));
        let other = self.cx.enums.iter().find(|e| e.variants.contains(&name.text));
        let diagnostic = match (nearest(&name.text, names.iter().copied()), other) {
            (Some(meant), _) => diagnostic.meant(meant),
            (None, Some(other)) => diagnostic.help(format!("did you mean `{}.{}`?", other.name, name.text)),
            (None, None) if names.is_empty() => diagnostic,
            (None, None) => diagnostic.help(format!("it has {}", list(names.iter().copied()))),
        };
        let last = self.cx.enums.iter().find(|one| one.name == owner && what == "value").and_then(|one| one.last);
        self.cx.report(match (last, &diagnostic.fix, &diagnostic.help) {
            (Some(last), None, Some(help)) => {
                let or = if help.ends_with('?') { " Otherwise" } else { "; or" };
                let help = format!("{help}{or} add `{}` to `{owner}`", name.text);
                diagnostic.help(help).propose(edit::behind(last), format!(", {}", name.text))
            }
            _ => diagnostic,
        });
        Resolved::Error
    }

    /// An index where one of this symmetric type is wanted, or a number where there is none.
    pub(crate) fn name_as_index(&mut self, value: Value, by: Option<usize>, at: Span, of: Span) -> Option<Value> {
        let name = self.cx.source(of);
        let found = self.cx.type_name(value.ty);
        let diagnostic = match (value.ty, by) {
            (Ty::Symmetric(own), Some(by)) if own == by => return Some(Value { ty: Ty::Int, ..value }),
            (Ty::Symmetric(own), None) => {
                let alias = self.cx.aliases[own].0.name.text.clone();
                let help = format!("write `{alias}` between the brackets where `{name}` is declared");
                let message = format!("`{name}` is not indexed by {found}");
                Diagnostic::new("E0053", at, message, format!("this is {found}")).help(help)
            }
            (Ty::Error, _) | (_, None) => return Some(value),
            (_, Some(by)) => {
                let alias = self.cx.aliases[by].0.name.text.clone();
                let help = format!(
                    "its values have no numbers: use a variable or a parameter of type `{alias}`, or all of them: `forall (c in {alias}) …`"
                );
                let message = format!("`{name}` is indexed by `{alias}`, not by {found}");
                Diagnostic::new("E0053", at, message, format!("this is {found}")).help(help)
            }
        };
        self.cx.report(diagnostic);
        None
    }

    fn index(&mut self, base: Resolved, value: Value, [at, of]: [Span; 2], writes: bool) -> Resolved {
        let name = self.cx.source(of);
        let is_wrong = |of: Span, message: String, label: &str| {
            let diagnostic = Diagnostic::new("E0033", of, message, label);
            let text = self.cx.text(at).filter(|_| value.ty == Ty::Int);
            match text.and_then(|text| edit::index(text, at)) {
                Some(index) => self.cx.without(diagnostic.help("remove the index"), Some(index)),
                None => diagnostic,
            }
        };
        let diagnostic = match base {
            Resolved::Variable(mut indexed) if indexed.indices.len() < indexed.shape.len() => {
                let Some(value) = self.name_as_index(value, indexed.by[indexed.indices.len()], at, of) else {
                    return Resolved::Error;
                };
                indexed.indices.push((value, at));
                return Resolved::Variable(indexed);
            }
            Resolved::Variable(indexed) if let Ty::Collection(collection) = indexed.scalar.ty => {
                let by = self.cx.collections[collection].array().by[0];
                let Some(value) = self.name_as_index(value, by, at, of) else { return Resolved::Error };
                return self.indexed_by(&indexed, value, [at, of], writes);
            }
            Resolved::Thread(kind, None) => {
                let Some(value) = self.name_as_index(value, self.cx.threads[kind].by, at, of) else {
                    return Resolved::Error;
                };
                return Resolved::Thread(kind, Some((value, at)));
            }
            Resolved::Error => return Resolved::Error,
            Resolved::Thread(..) => is_wrong(at, format!("`{name}` is one instance already"), "one index too many"),
            Resolved::Variable(indexed) if !indexed.shape.is_empty() && name.ends_with(']') => {
                let message = format!("`{name}` is a single value, not an array");
                is_wrong(at, message, "one index too many")
            }
            _ => is_wrong(of, format!("`{name}` is not an array"), "cannot be indexed"),
        };
        self.cx.report(diagnostic);
        Resolved::Error
    }
}

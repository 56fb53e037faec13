//! What the passes after parsing share: the names of a system, its tables, and the diagnostics so far.

use std::collections::HashMap;

use birk_ir::{Fault, FaultId, FaultKind, Op, Span, VarId, Variable};

use crate::ast;
use crate::diagnostic::{Diagnostic, nearest};
use crate::types::{Declared, Type, Value};

/// What a name of the system stands for, with its position in the table of its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Symbol {
    Constant(usize),
    Block(usize),
    Alias(usize),
    Enum(usize),
    Variable(usize),
    Function(usize),
    Thread(usize),
}

impl Symbol {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Symbol::Constant(_) => "constant",
            Symbol::Block(_) => "block of constants",
            Symbol::Alias(_) => "type",
            Symbol::Enum(_) => "enumeration",
            Symbol::Variable(_) => "variable",
            Symbol::Function(_) => "function",
            Symbol::Thread(_) => "thread",
        }
    }
}

/// A constant: where it is written, and its value once somebody asked.
#[derive(Debug)]
pub(crate) struct Constant<'a> {
    /// `N` or `Param.N`.
    pub(crate) full_name: String,
    pub(crate) name: &'a ast::Name,
    pub(crate) expr: &'a ast::Expr,
    pub(crate) state: Evaluated,
}

/// How far the evaluation of a constant, alias or function is: what is begun and not done is a cycle.
#[derive(Clone, Debug)]
pub(crate) enum Evaluated<T = Value> {
    NotYet,
    Begun,
    Done(T),
}

/// An enumeration.
#[derive(Debug)]
pub(crate) struct Enumeration<'a> {
    pub(crate) name: &'a str,
    pub(crate) variants: Vec<String>,
}

/// A thread declaration with what is known of it before its steps are lowered.
#[derive(Debug)]
pub(crate) struct ThreadDecl<'a> {
    pub(crate) ast: &'a ast::Thread,
    pub(crate) copies: u32,
    /// Some `start` names it.
    pub(crate) started: bool,
    pub(crate) counter: VarId,
    /// Parameters that are constants of each copy, by name; `None` where they are variables.
    pub(crate) index_param: Option<String>,
    /// Parameters and locals that are variables.
    pub(crate) locals: Vec<Declared>,
    /// How many of `locals` are parameters.
    pub(crate) params: usize,
}

/// What the passes share.
#[derive(Debug)]
pub(crate) struct Context<'a> {
    pub(crate) text: &'a str,
    pub(crate) diagnostics: Vec<Diagnostic>,
    pub(crate) symbols: HashMap<&'a str, (Symbol, Span)>,
    pub(crate) constants: Vec<Constant<'a>>,
    pub(crate) blocks: Vec<(&'a str, HashMap<&'a str, usize>)>,
    pub(crate) aliases: Vec<(&'a ast::Alias, Evaluated<Type>)>,
    pub(crate) enums: Vec<Enumeration<'a>>,
    pub(crate) globals: Vec<Declared>,
    pub(crate) functions: Vec<(&'a ast::Function, bool)>,
    pub(crate) threads: Vec<ThreadDecl<'a>>,
    pub(crate) variables: Vec<Variable>,
    pub(crate) faults: Vec<Fault>,
    fault_ids: HashMap<(FaultKind, Span), FaultId>,
    /// Variables read and written anywhere, for the warnings.
    pub(crate) read: Vec<VarId>,
    pub(crate) written: Vec<VarId>,
}

impl<'a> Context<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Self {
            text,
            diagnostics: Vec::new(),
            symbols: HashMap::new(),
            constants: Vec::new(),
            blocks: Vec::new(),
            aliases: Vec::new(),
            enums: Vec::new(),
            globals: Vec::new(),
            functions: Vec::new(),
            threads: Vec::new(),
            variables: Vec::new(),
            faults: Vec::new(),
            fault_ids: HashMap::new(),
            read: Vec::new(),
            written: Vec::new(),
        }
    }

    pub(crate) fn report(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    /// The source of a span, on one line.
    pub(crate) fn source(&self, span: Span) -> String {
        let text = self.text.get(span.range()).unwrap_or_default();
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// The id of a fault; the copies of a thread share it.
    pub(crate) fn fault(&mut self, kind: FaultKind, span: Span, message: impl FnOnce(&Self) -> String) -> FaultId {
        if let Some(&id) = self.fault_ids.get(&(kind, span)) {
            return id;
        }
        let id = FaultId::new(self.faults.len());
        let message = message(self);
        self.faults.push(Fault { kind, message, span });
        self.fault_ids.insert((kind, span), id);
        id
    }

    /// Says that a name is unknown, and which was probably meant.
    pub(crate) fn unknown(&mut self, what: &str, name: &str, span: Span, candidates: &[&str]) {
        let mut diagnostic =
            Diagnostic::new("E0020", span, format!("cannot find {what} `{name}`"), "not declared in this system");
        if let Some(meant) = nearest(name, candidates.iter().copied()) {
            diagnostic = diagnostic.help(format!("did you mean `{meant}`?"));
        } else if let Some(owner) = self.enums.iter().find(|e| e.variants.iter().any(|v| v == name)) {
            diagnostic = diagnostic.help(format!("write `{}.{name}` for the enumerator", owner.name));
        } else if let Some((block, _)) = self.blocks.iter().find(|(_, entries)| entries.contains_key(name)) {
            diagnostic = diagnostic.help(format!("write `{block}.{name}` for the constant"));
        }
        self.report(diagnostic);
    }

    /// A name for a type in messages.
    pub(crate) fn type_name(&self, ty: crate::types::Ty) -> String {
        match ty {
            crate::types::Ty::Boolean => "boolean".into(),
            crate::types::Ty::Int => "int".into(),
            crate::types::Ty::Enum(e) => self.enums[e].name.to_owned(),
            crate::types::Ty::Error => "unknown".into(),
        }
    }

    /// Remembers what operations write, for the warnings.
    pub(crate) fn note_writes(&mut self, ops: &[Op]) {
        for op in ops {
            if let Op::Assign(place, _) = op {
                self.written.push(place.variable);
            }
        }
    }
}

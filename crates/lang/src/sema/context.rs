//! What the passes after parsing share: the names of a system, its tables, and the diagnostics so far.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use birk_ir::{Fault, FaultId, FaultKind, InitialChoice, Op, Span, VarId, Variable};

use crate::diagnostic::{Diagnostic, list, nearest};
use crate::lower::control::Control;
use crate::sema::types::{Collection, Declared, Scalar, Ty, Type, Value};
use crate::syntax::ast;

/// So many constants and types may wait for each other's values.
const MAX_CHAIN: usize = 200;
/// After so many messages no more names are guessed, nor among more names: each guess looks at all of them.
const MOST_ADVICE: usize = 50;
const MOST_NAMES: usize = 20_000;

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
    Record(usize),
    Procedure(usize),
    /// Declared more than once, which was reported: nobody knows what a use of it means.
    Ambiguous,
}

impl Symbol {
    /// What it is, for messages.
    pub(crate) fn noun(self) -> &'static str {
        match self {
            Symbol::Constant(_) => "a constant",
            Symbol::Block(_) => "a block of constants",
            Symbol::Alias(_) => "a type",
            Symbol::Enum(_) => "an enumeration",
            Symbol::Variable(_) => "a variable",
            Symbol::Function(_) => "a function",
            Symbol::Thread(_) => "a thread",
            Symbol::Record(_) => "a record",
            Symbol::Procedure(_) => "a procedure",
            Symbol::Ambiguous => "declared twice",
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
    /// Where the last of them is written.
    pub(crate) last: Option<Span>,
}

/// A record type.
#[derive(Debug)]
pub(crate) struct RecordDecl<'a> {
    pub(crate) ast: &'a ast::Record,
    /// Names and types of the fields.
    pub(crate) fields: Evaluated<Vec<(String, Type)>>,
    /// How deep records are nested in it.
    pub(crate) depth: usize,
}

/// A channel type.
#[derive(Clone, Debug)]
pub(crate) struct ChannelDecl {
    pub(crate) element: Type,
    pub(crate) capacity: u32,
    pub(crate) marks: ast::ChannelMarks,
}

/// A thread declaration with what is known of it before its steps are lowered.
#[derive(Debug)]
pub(crate) struct ThreadDecl<'a> {
    pub(crate) ast: &'a ast::Thread,
    /// Its places and steps.
    pub(crate) control: Rc<Control<'a>>,
    pub(crate) copies: u32,
    /// Some `start` names it.
    pub(crate) started: bool,
    pub(crate) counter: VarId,
    /// Parameters that are constants of each copy, by name; `None` where they are variables.
    pub(crate) index_param: Option<String>,
    /// The type of that parameter.
    pub(crate) index_ty: Ty,
    /// The symmetric type that numbers the instances, if one does.
    pub(crate) by: Option<usize>,
    /// Parameters and locals that are variables.
    pub(crate) locals: Vec<Declared>,
    /// Where they stand in `locals`.
    pub(crate) local_names: HashMap<String, usize>,
    /// How many of `locals` are parameters.
    pub(crate) params: usize,
    /// Which of `locals` a crash does not change.
    pub(crate) durable: HashSet<usize>,
}

/// What the passes share.
#[derive(Debug)]
pub(crate) struct Context<'a> {
    /// The texts of the files, by the number in their spans.
    pub(crate) sources: Vec<&'a str>,
    /// Where the lines of each file end.
    line_ends: Vec<Vec<usize>>,
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// Where the system is named.
    pub(crate) system: Span,
    pub(crate) symbols: HashMap<&'a str, (Symbol, Span)>,
    pub(crate) constants: Vec<Constant<'a>>,
    pub(crate) blocks: Vec<(&'a str, HashMap<&'a str, usize>)>,
    pub(crate) aliases: Vec<(&'a ast::Alias, Evaluated<Type>)>,
    pub(crate) enums: Vec<Enumeration<'a>>,
    pub(crate) records: Vec<RecordDecl<'a>>,
    pub(crate) channels: Vec<ChannelDecl>,
    pub(crate) collections: Vec<Collection>,
    /// What variables may begin with, where that is more than one value.
    pub(crate) choices: Vec<InitialChoice>,
    pub(crate) procedures: Vec<&'a ast::Procedure>,
    pub(crate) globals: Vec<Declared>,
    /// With those that must not be called: their declaration is wrong, which was reported.
    pub(crate) functions: Vec<(&'a ast::Function, bool)>,
    pub(crate) threads: Vec<ThreadDecl<'a>>,
    pub(crate) variables: Vec<Variable>,
    pub(crate) faults: Vec<Fault>,
    fault_ids: HashMap<(FaultKind, Span), FaultId>,
    /// Operations and parts of expressions in all steps so far.
    pub(crate) parts: usize,
    /// Variables read and written anywhere, for the warnings.
    pub(crate) read: Vec<VarId>,
    pub(crate) written: Vec<VarId>,
    /// Constants or types whose evaluation is begun, outermost first.
    pub(crate) evaluating: Vec<(String, Span)>,
}

impl<'a> Context<'a> {
    pub(crate) fn new(sources: Vec<&'a str>) -> Self {
        let ends = |text: &&str| text.bytes().enumerate().filter(|(_, b)| *b == b'\n').map(|(at, _)| at).collect();
        Self {
            line_ends: sources.iter().map(ends).collect(),
            sources,
            diagnostics: Vec::new(),
            system: Span::default(),
            symbols: HashMap::new(),
            constants: Vec::new(),
            blocks: Vec::new(),
            aliases: Vec::new(),
            enums: Vec::new(),
            records: Vec::new(),
            channels: Vec::new(),
            collections: Vec::new(),
            choices: Vec::new(),
            procedures: Vec::new(),
            globals: Vec::new(),
            functions: Vec::new(),
            threads: Vec::new(),
            variables: Vec::new(),
            faults: Vec::new(),
            fault_ids: HashMap::new(),
            parts: 0,
            read: Vec::new(),
            written: Vec::new(),
            evaluating: Vec::new(),
        }
    }

    pub(crate) fn report(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    /// There are so many messages that nobody wants advice, or so many names that it takes too long.
    pub(crate) fn is_hopeless(&self) -> bool {
        self.diagnostics.len() > MOST_ADVICE || self.symbols.len() > MOST_NAMES
    }

    /// The source of a span, on one line.
    pub(crate) fn source(&self, span: Span) -> String {
        let text = self.sources.get(span.file as usize).and_then(|text| text.get(span.range())).unwrap_or_default();
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// The line of the beginning of a span, from 1.
    pub(crate) fn line_of(&self, span: Span) -> usize {
        let ends = self.line_ends.get(span.file as usize).map(Vec::as_slice).unwrap_or_default();
        ends.partition_point(|&end| end < span.start as usize) + 1
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

    /// Forgets all but so many faults.
    pub(crate) fn forget_faults(&mut self, len: usize) {
        self.faults.truncate(len);
        self.fault_ids.retain(|_, id| id.index() < len);
    }

    /// Says that a name is not declared, and which was probably meant.
    pub(crate) fn unknown(&mut self, what: &str, name: &ast::Name, candidates: &[&str]) {
        if name.text.is_empty() {
            return;
        }
        let message = format!("cannot find {what} named `{}`", name.text);
        let diagnostic = Diagnostic::new("E0020", name.span, message, "not declared");
        let meant = nearest(&name.text, candidates.iter().copied().filter(|_| !self.is_hopeless()));
        self.report(match (library_of(&name.text), meant) {
            (Some(library), _) => diagnostic.help(library),
            (None, Some(meant)) => diagnostic.meant(meant),
            (None, None) if matches!(name.text.as_str(), "random" | "rand" | "nondet") => {
                diagnostic.help("a value is chosen by an assignment: `x := choose(0, 3);`")
            }
            (None, None) if candidates.is_empty() => diagnostic,
            (None, None) => diagnostic.help(format!("there are {}", list(candidates.iter().copied()))),
        });
    }

    /// Says that a name stands for something else than its use needs.
    pub(crate) fn misused(&mut self, name: &str, span: Span, wanted: &str) -> Option<Diagnostic> {
        let (symbol, declared) = *self.symbols.get(name)?;
        if symbol == Symbol::Ambiguous {
            return None;
        }
        let message = format!("`{name}` is {}, not {wanted}", symbol.noun());
        let mut diagnostic = Diagnostic::new("E0022", span, message, format!("expected {wanted}"));
        diagnostic.help = match symbol {
            Symbol::Thread(_) if wanted == "a procedure" => Some(format!("a thread is started: `start {name}(…);`")),
            Symbol::Procedure(_) => Some(format!("a procedure is called by a statement: `{name}(…);`")),
            _ => None,
        };
        Some(diagnostic.related(declared, "declared here"))
    }

    /// Begins to evaluate a constant or type, unless too many wait for each other already.
    pub(crate) fn begin(&mut self, name: &str, span: Span) -> bool {
        if self.evaluating.len() >= MAX_CHAIN {
            let message = format!("`{name}` ends a chain of more than {MAX_CHAIN} declarations that need each other");
            self.report(Diagnostic::new("E0009", span, message, "one too many"));
            return false;
        }
        self.evaluating.push((name.to_owned(), span));
        true
    }

    /// Says that a constant or type needs itself; what leads from it to itself is being evaluated.
    pub(crate) fn depends_on_itself(&mut self, what: &str, name: &str, span: Span) {
        let first = self.evaluating.iter().position(|(_, declared)| *declared == span).unwrap_or(0);
        let chain: Vec<(String, Span)> = self.evaluating[first..].to_vec();
        let message = format!("the {what} `{name}` depends on itself");
        let needs = |i: usize| match &chain[(i + 1) % chain.len()].0 {
            next if chain.len() == 1 => format!("`{next}` needs itself"),
            next => format!("this needs `{next}`"),
        };
        let mut diagnostic = Diagnostic::new("E0025", span, message, needs(0));
        for (i, (_, declared)) in chain.iter().enumerate().skip(1) {
            diagnostic = diagnostic.related(*declared, needs(i));
        }
        self.report(diagnostic);
    }

    /// Whether it has a value more than its symmetric type.
    pub(crate) fn is_optional(&self, scalar: &Scalar) -> bool {
        let Ty::Symmetric(index) = scalar.ty else { return false };
        matches!(&self.aliases[index].1, Evaluated::Done(ty) if scalar.hi > ty.scalar.hi)
    }

    /// The value of a variable that is not initialised: nobody, 0, or the lower bound if 0 is outside.
    pub(crate) fn default_of(&self, scalar: &Scalar) -> i64 {
        match self.is_optional(scalar) {
            true => scalar.hi,
            false if (scalar.lo..=scalar.hi).contains(&0) => 0,
            false => scalar.lo,
        }
    }

    /// A type as messages name it.
    pub(crate) fn type_name(&self, ty: Ty) -> String {
        match ty {
            Ty::Boolean => "`boolean`".into(),
            Ty::Int => "`int`".into(),
            Ty::Enum(e) => format!("`{}`", self.enums[e].name),
            Ty::Set(_, _, Some(index)) => format!("`set of {}`", self.aliases[index].0.name.text),
            Ty::Set(lo, hi, None) => format!("`set of {lo} .. {hi}`"),
            Ty::Symmetric(index) => format!("`{}`", self.aliases[index].0.name.text),
            Ty::Record(index) => format!("`{}`", self.records[index].ast.name.text),
            Ty::Channel(_) => "a channel".into(),
            Ty::Collection(index) => match &self.collections[index] {
                Collection::Sequence { element, capacity } => {
                    format!("`sequence of {} [{capacity}]`", self.type_name(element.scalar.ty).trim_matches('`'))
                }
                Collection::Map { lo, hi, of, value } => {
                    let keys = self.type_name(Ty::Set(*lo, *hi, *of));
                    let keys = keys.trim_matches('`').trim_start_matches("set of ");
                    format!("`map of {keys} to {}`", self.type_name(value.scalar.ty).trim_matches('`'))
                }
            },
            Ty::Error => "unknown".into(),
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

/// Where the standard library has a procedure of this name.
pub(crate) fn library_of(name: &str) -> Option<String> {
    let declares = |text: &str| text.contains(&format!("procedure {name}("));
    let (path, _) = crate::import::STANDARD.iter().find(|(_, text)| declares(text))?;
    Some(format!("the standard library has it: write `import \"{path}\";` before `system`"))
}

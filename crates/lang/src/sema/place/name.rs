//! What a single name stands for, and which was probably meant where there is none.

use birk_ir::{FaultKind, Span};

use super::{Indexed, Resolved};
use crate::diagnostic::{Diagnostic, nearest};
use crate::lower::control::FrameKind;
use crate::sema::context::{Symbol, ThreadDecl};
use crate::sema::expression::{Elaborator, TIMEOUT};
use crate::sema::types::{Hazard, Ty, Value, outside};

impl Elaborator<'_, '_> {
    pub(super) fn name(&mut self, name: &str, span: Span) -> Resolved {
        if let Some((_, value)) = self.bindings.iter().rev().find(|(n, _)| n == name) {
            return Resolved::Value(value.clone());
        }
        let scope = self.scope.clone();
        let mut inside = &scope;
        let mut in_procedure = false;
        while let Some(frame) = inside {
            match &frame.kind {
                FrameKind::Round(own, value) if own.text == name => {
                    return Resolved::Value(Value { fixed: false, ..Value::constant(*value, Ty::Int) });
                }
                FrameKind::Round(..) => {}
                FrameKind::Call(procedure, args) => {
                    if let Some(position) = procedure.params.iter().position(|param| param.name.text == name) {
                        // A parameter stands for its argument, which is read where the call stands.
                        self.nodes += 1;
                        if self.is_too_large(span) {
                            return Resolved::Error;
                        }
                        let bindings = std::mem::take(&mut self.bindings);
                        let before = std::mem::replace(&mut self.scope, frame.outer.clone());
                        let path = self.path(&args[position]);
                        (self.scope, self.bindings) = (before, bindings);
                        return path;
                    }
                    in_procedure = true;
                    break;
                }
            }
            inside = &frame.outer;
        }
        if let Some((kind, copy)) = self.thread.filter(|_| !in_procedure) {
            let own = Value { fixed: false, ..Value::constant(i64::from(copy), Ty::Int) };
            if let Some(path) = self.local(kind, name, (own, span), false) {
                return path;
            }
        }
        match self.cx.symbols.get(name).map(|(symbol, _)| *symbol) {
            Some(Symbol::Constant(index)) => Resolved::Value(self.constant_value(index)),
            Some(Symbol::Variable(index)) if self.stateful => {
                let declared = &self.cx.globals[index];
                if declared.ty.scalar.ty == Ty::Error || declared.leaves.is_empty() {
                    return Resolved::Error;
                }
                Resolved::Variable(Indexed {
                    leaves: declared.leaves.clone(),
                    scalar: declared.ty.scalar,
                    shape: declared.ty.shape.clone(),
                    by: declared.ty.by.clone(),
                    indices: Vec::new(),
                    foreign: false,
                    added: None,
                })
            }
            Some(Symbol::Thread(index)) if self.stateful => Resolved::Thread(index, None),
            Some(Symbol::Block(index)) => Resolved::Block(index),
            Some(Symbol::Enum(index)) => Resolved::Enum(index),
            Some(Symbol::Ambiguous) => Resolved::Error,
            Some(symbol @ (Symbol::Variable(_) | Symbol::Thread(_))) => {
                let message = format!("`{name}` is {}, not a constant", symbol.noun());
                let mut diagnostic = Diagnostic::new("E0024", span, message, "must be known before the search");
                if matches!(symbol, Symbol::Variable(_)) {
                    diagnostic = diagnostic.help(format!("if it never changes, declare it so: `const {name} = …;`"));
                    diagnostic = self.as_bound(diagnostic, name, span);
                }
                self.cx.report(diagnostic);
                Resolved::Error
            }
            // A procedure is no value: the library of timers declares one of this name.
            None | Some(Symbol::Procedure(_)) if name == TIMEOUT => self.timeout(span),
            Some(Symbol::Alias(_) | Symbol::Function(_) | Symbol::Record(_) | Symbol::Procedure(_)) => {
                let is_function = self.cx.functions.iter().any(|(function, _)| function.name.text == name);
                if let Some(mut diagnostic) = self.cx.misused(name, span, "a value") {
                    diagnostic.help = is_function.then(|| format!("call it: `{name}(…)`"));
                    self.cx.report(diagnostic);
                }
                Resolved::Error
            }
            None => {
                self.unknown_name(name, span);
                Resolved::Error
            }
        }
    }

    /// Proposes the most that a variable can be as the length of an array.
    fn as_bound(&self, diagnostic: Diagnostic, name: &str, span: Span) -> Diagnostic {
        let declared = self.cx.globals.iter().find(|declared| declared.name == name);
        let is_number = |declared: &&crate::sema::types::Declared| declared.ty.scalar.ty == Ty::Int;
        let most = declared.filter(is_number).map_or(0, |declared| declared.ty.scalar.hi);
        let is_length = self.cx.text(span).is_some_and(|text| {
            text[..span.start as usize].ends_with('[') && text[span.end as usize..].starts_with(']')
        });
        if !is_length || !(1..=1000).contains(&most) {
            return diagnostic;
        }
        let help = format!("write the most that it can be, `{most}`, or, if it never changes, `const {name} = …;`");
        diagnostic.help(help).propose(span, most.to_string())
    }

    pub(super) fn unknown_name(&mut self, name: &str, span: Span) {
        if name.is_empty() {
            return;
        }
        let message = format!("cannot find a value named `{name}`");
        let mut diagnostic = Diagnostic::new("E0020", span, message, "not declared");
        if !self.cx.is_hopeless() {
            let binds = format!("bind it: `mu {name}. …` or `nu {name}. …`");
            diagnostic = match (self.elsewhere(name), self.alike(name)) {
                (Some((written, what)), _) => {
                    diagnostic = diagnostic.help(format!("write `{written}` {what}"));
                    match written.split_once("[i]") {
                        None => diagnostic.fix(span, written),
                        Some((owner, _)) => self.for_each(diagnostic, owner, &written),
                    }
                }
                (None, Some(meant)) => diagnostic.meant(meant),
                (None, None) if self.in_fixpoints => diagnostic.help(binds),
                (None, None) => {
                    let diagnostic = diagnostic.help(self.next_step(name));
                    let is_foreign = matches!(name, "_pid" | "self" | "null" | "nil");
                    match self.stateful && !is_foreign {
                        true => self.cx.with_declaration(diagnostic, name),
                        false => diagnostic,
                    }
                }
            };
        }
        self.cx.report(diagnostic);
    }

    /// Proposes to say of each instance of a thread what a property says of the thread at this place, or of the one that
    /// a quantifier names; what shall be reachable, of some instance. `written` has `[i]` behind the thread.
    pub(super) fn for_each(&self, diagnostic: Diagnostic, thread: &str, written: &str) -> Diagnostic {
        let declared = self.cx.threads.iter().find(|one| one.ast.name.text == thread);
        let last = declared.map_or(0, |one| i64::from(one.copies) - 1);
        let (ty, domain) = match declared.and_then(|one| one.by) {
            Some(by) => (Ty::Symmetric(by), format!("in {}", self.cx.aliases[by].0.name.text)),
            None => (Ty::Int, format!(": 0 .. {last}")),
        };
        let is_index = |(_, value): &&(String, Value)| value.ty == ty && value.is_within(0, last);
        if let Some((name, _)) = self.bindings.iter().rev().find(is_index) {
            let place = diagnostic.span;
            return diagnostic.propose(place, written.replace("[i]", &format!("[{name}]")));
        }
        let (Some((whole, quantifier)), place) = (self.whole, diagnostic.span) else { return diagnostic };
        let Some(text) = self.cx.text(whole).filter(|_| whole.to(place) == whole && whole.file == place.file) else {
            return diagnostic;
        };
        let inside = &text[whole.range()];
        let is_used = |name: &str| {
            let mut words = inside.split(|c: char| !c.is_alphanumeric() && c != '_');
            self.cx.symbols.contains_key(name) || words.any(|word| word == name)
        };
        let Some(name) = ["i", "j", "k"].into_iter().find(|name| !is_used(name)) else { return diagnostic };
        let written = written.replace("[i]", &format!("[{name}]"));
        let (before, after) =
            (&text[whole.start as usize..place.start as usize], &text[place.end as usize..whole.end as usize]);
        diagnostic.propose(whole, format!("{quantifier} ({name} {domain}) ({before}{written}{after})"))
    }

    /// What to do about a name that nothing resembles.
    fn next_step(&self, name: &str) -> String {
        match name {
            "_pid" | "self" => "the number of an instance is its parameter: `active [2] thread T(int me) { … }`".into(),
            "null" | "nil" => "every variable has a value of its type: use one more value of its range".into(),
            _ if self.stateful => format!("declare it with its type: `TYPE {name};`"),
            _ => format!("declare it: `const {name} = …;`"),
        }
    }

    /// Something of this name that must be written differently here: how, and for what.
    pub(super) fn elsewhere(&self, name: &str) -> Option<(String, &'static str)> {
        let cx = &*self.cx;
        let a_copy = |kind: usize| if cx.threads[kind].copies == 1 { "" } else { "[i]" };
        if let Some(owner) = cx.enums.iter().find(|e| e.variants.iter().any(|v| v == name)) {
            return Some((format!("{}.{name}", owner.name), "for the value of the enumeration"));
        }
        if let Some((block, _)) = cx.blocks.iter().find(|(_, entries)| entries.contains_key(name)) {
            return Some((format!("{block}.{name}"), "for the constant"));
        }
        if !self.stateful {
            return None;
        }
        if let Some(kind) = cx.threads.iter().position(|t| t.locals.iter().any(|local| local.name == name)) {
            let owner = &cx.threads[kind].ast.name.text;
            return Some((format!("{owner}{}.{name}", a_copy(kind)), "for the variable of the thread"));
        }
        let has_location = |thread: &ThreadDecl<'_>| thread.control.names.contains_key(name);
        let kind = cx.threads.iter().position(has_location)?;
        let owner = &cx.threads[kind].ast.name.text;
        Some((format!("{owner}{}@{name}", a_copy(kind)), "to ask whether the thread is there"))
    }

    /// The name that was probably misspelt.
    pub(super) fn alike(&self, name: &str) -> Option<&str> {
        let bound = self.bindings.iter().map(|(name, _)| name.as_str());
        let thread = self.thread.map(|(kind, _)| &self.cx.threads[kind]);
        let locals = thread.into_iter().flat_map(|thread| {
            thread.locals.iter().map(|local| local.name.as_str()).chain(thread.index_param.as_deref())
        });
        let is_value = |symbol: &Symbol| match symbol {
            Symbol::Constant(_) | Symbol::Block(_) | Symbol::Enum(_) => true,
            Symbol::Variable(_) | Symbol::Thread(_) => self.stateful,
            Symbol::Function(_) | Symbol::Alias(_) | Symbol::Ambiguous => false,
            Symbol::Record(_) | Symbol::Procedure(_) => false,
        };
        let symbols = self.cx.symbols.iter().filter(|(_, (symbol, _))| is_value(symbol)).map(|(name, _)| *name);
        nearest(name, bound.chain(locals).chain(symbols).chain(["true", "false"]))
    }

    /// A parameter or local of a copy of a thread.
    pub(super) fn local(&mut self, kind: usize, name: &str, copy: (Value, Span), foreign: bool) -> Option<Resolved> {
        let thread = &self.cx.threads[kind];
        if thread.index_param.as_deref() == Some(name) {
            // The copies' numbers are written by the system, not by a constant expression.
            let (ty, last) = (thread.index_ty, i64::from(thread.copies) - 1);
            let (mut own, at) = copy;
            if !own.is_within(0, last) {
                let fault = self
                    .cx
                    .fault(FaultKind::Index, at, |cx| format!("the index `{}` must stay in 0..{last}", cx.source(at)));
                own.hazards.push(Hazard { when: outside(&own, 0, last), fault });
                (own.lo, own.hi) = (own.lo.max(0).min(last.max(0)), own.hi.min(last).max(0));
            }
            return Some(Resolved::Value(Value { fixed: false, ty, ..own }));
        }
        let declared = &thread.locals[*thread.local_names.get(name)?];
        if declared.ty.scalar.ty == Ty::Error || declared.leaves.is_empty() {
            return Some(Resolved::Error);
        }
        let copies = self.cx.threads[kind].copies;
        let mut shape = vec![copies];
        shape.extend(&declared.ty.shape);
        let by = [None].into_iter().chain(declared.ty.by.iter().copied()).collect();
        let (leaves, scalar) = (declared.leaves.clone(), declared.ty.scalar);
        Some(Resolved::Variable(Indexed { leaves, scalar, shape, by, indices: vec![copy], foreign, added: None }))
    }
}

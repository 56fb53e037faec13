//! Calls of functions: the body is put in place of the call, and its arguments are bound once.

use birk_ir::{Expr, Span};

use super::{Elaborator, MAX_NODES, Receiver, count};
use crate::diagnostic::{Diagnostic, list};
use crate::sema::context::Symbol;
use crate::sema::types::{Hazard, Scalar, Ty, Value};
use crate::syntax::ast::{self, ExprKind};

impl Elaborator<'_, '_> {
    pub(super) fn call(&mut self, name: &ast::Name, args: &[ast::Expr], span: Span) -> Value {
        if self.is_built_in(name, &["size", "keys", "len", "full", "empty", "peek"])
            && let Some(value) = self.built_in(name, args, span)
        {
            return value;
        }
        let values: Vec<Value> = args.iter().map(|arg| self.value(arg)).collect();
        let Some(&(Symbol::Function(index), _)) = self.cx.symbols.get(name.text.as_str()) else {
            self.not_a_function(name);
            return Value::error();
        };
        let (function, is_broken) = self.cx.functions[index];
        if is_broken {
            return Value::error();
        }
        if self.calls.contains(&index) {
            self.recursion(index, span);
            return Value::error();
        }
        if function.params.len() != args.len() {
            let takes = count(function.params.len(), "argument");
            let message = format!("`{}` takes {takes}, not {}", name.text, args.len());
            let diagnostic = Diagnostic::new("E0027", span, message, "wrong number of arguments");
            let diagnostic = diagnostic.related(function.name.span, "declared here");
            let diagnostic = self.cx.with_arguments(diagnostic, name.span, &function.params, args);
            self.cx.report(diagnostic);
            return Value::error();
        }
        if self.is_too_large(span) {
            return Value::error();
        }
        let before = self.cx.diagnostics.len();
        let result = self.inline(index, function, values, args);
        self.nodes += result.size();
        // What is wrong in the body for any arguments was said without a call; the rest is due to this one.
        for diagnostic in &mut self.cx.diagnostics[before..] {
            let is_inside = function.span.start <= diagnostic.span.start && diagnostic.span.end <= function.span.end;
            if is_inside {
                diagnostic.related.push((span, "in this call".into()));
            }
        }
        result
    }

    pub(super) fn not_a_function(&mut self, name: &ast::Name) {
        let symbol = self.cx.symbols.get(name.text.as_str()).map(|(symbol, _)| *symbol);
        let help = match symbol {
            Some(Symbol::Thread(_)) => Some(format!("a thread is started by an action: `start {}(…);`", name.text)),
            Some(Symbol::Variable(_)) => Some(format!("an element of an array is written `{}[i]`", name.text)),
            Some(_) => None,
            None => {
                let names: Vec<&str> = self.cx.functions.iter().map(|(f, _)| f.name.text.as_str()).collect();
                return self.cx.unknown("a function", name, &names);
            }
        };
        if let Some(mut diagnostic) = self.cx.misused(&name.text, name.span, "a function") {
            diagnostic.help = help;
            self.cx.report(diagnostic);
        }
    }

    /// Says that a function calls itself, through which others, and where.
    pub(super) fn recursion(&mut self, index: usize, span: Span) {
        let name = &self.cx.functions[index].0.name;
        let others = self.calls.iter().skip_while(|call| **call != index).skip(1);
        let others: Vec<&str> = others.map(|call| self.cx.functions[*call].0.name.text.as_str()).collect();
        let through = if others.is_empty() { String::new() } else { format!(" through {}", list(others)) };
        let message = format!("`{}` calls itself{through}", name.text);
        let diagnostic = Diagnostic::new("E0028", name.span, message, "a function must not be recursive")
            .related(span, "called again here")
            .help("calls are replaced by what they stand for; describe a loop with locations and `goto`");
        self.cx.report(diagnostic);
        self.cx.functions[index].1 = true;
    }

    /// Whether what was put in place of calls and parameters is too much, which is reported.
    pub(crate) fn is_too_large(&mut self, span: Span) -> bool {
        let too_large = self.nodes > MAX_NODES;
        if too_large {
            self.too_large(span);
            self.give_up();
        }
        too_large
    }

    pub(crate) fn too_large(&mut self, span: Span) {
        self.cx.report(
            Diagnostic::new("E0039", span, "this expression becomes too large", "after functions are put in place")
                .help(format!("an expression may have {MAX_NODES} parts; let functions call each other less often")),
        );
    }

    pub(super) fn inline(
        &mut self,
        index: usize,
        function: &ast::Function,
        values: Vec<Value>,
        args: &[ast::Expr],
    ) -> Value {
        let mut hazards = Vec::new();
        let mut bound = Vec::new();
        let mut bindings = Vec::new();
        for ((param, value), arg) in function.params.iter().zip(values).zip(args) {
            let Some(scalar) = self.type_of(index, &param.ty) else { return Value::error() };
            let what = format!("the argument `{}`", param.name.text);
            let receiver = Receiver { what: &what, value: arg.span, whole: arg.span, declared: Some(param.name.span) };
            let mut value = self.convert(value, &scalar, &receiver);
            if value.ty == Ty::Error {
                return Value::error();
            }
            hazards.append(&mut value.hazards);
            if !matches!(value.expr, Expr::Const(_) | Expr::Var(_) | Expr::Local(_)) {
                let local = self.fresh();
                bound.push((local, std::mem::replace(&mut value.expr, Expr::Local(local))));
            }
            bindings.push((param.name.text.clone(), value));
        }
        let outer = (std::mem::replace(&mut self.bindings, bindings), self.thread.take(), self.scope.take());
        self.calls.push(index);
        let result = self.value(&function.body);
        let scalar = self.type_of(index, &function.result).unwrap_or(Scalar::ERROR);
        let what = format!("the value of `{}`", function.name.text);
        let (value, declared) = (function.body.span, Some(function.result.span));
        let mut result = self.convert(result, &scalar, &Receiver { what: &what, value, whole: value, declared });
        self.calls.pop();
        (self.bindings, self.thread, self.scope) = outer;
        let within = |body: Expr| match body {
            Expr::Const(_) => body,
            body => bound
                .iter()
                .rev()
                .fold(body, |body, (local, value)| Expr::Let { local: *local, parts: Box::new((value.clone(), body)) }),
        };
        hazards.extend(result.hazards.into_iter().map(|h| Hazard { when: within(h.when), fault: h.fault }));
        result.expr = within(result.expr);
        result.hazards = hazards;
        result
    }

    /// The type of a parameter or of the value of a function, unless that needs the function itself.
    fn type_of(&mut self, index: usize, ty: &ast::Type) -> Option<Scalar> {
        let name = &self.cx.functions[index].0.name;
        if self.cx.evaluating.iter().any(|(_, span)| *span == name.span) {
            self.cx.depends_on_itself("function", &name.text, name.span);
            self.cx.functions[index].1 = true;
            return None;
        }
        if !self.cx.begin(&name.text, name.span) {
            return None;
        }
        let scalar = crate::sema::declarations::scalar_type(self.cx, ty);
        self.cx.evaluating.pop();
        Some(scalar)
    }

    /// Checks a function that may never be called.
    pub(crate) fn check_function(&mut self, index: usize, args: Vec<Value>) {
        let function = self.cx.functions[index].0;
        let spans: Vec<ast::Expr> =
            function.params.iter().map(|p| ast::Expr { kind: ExprKind::Error, span: p.name.span }).collect();
        if self.cx.functions[index].1 {
            return;
        }
        let before = self.cx.diagnostics.len();
        let result = self.inline(index, function, args, &spans);
        // It needs something that is broken, which was reported there: nobody has to find that out again.
        let is_silent = self.cx.diagnostics.len() == before;
        self.cx.functions[index].1 |= is_silent && result.ty == Ty::Error;
    }
}

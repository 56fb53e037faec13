//! From statements to elements.

use std::rc::Rc;

use birk_ir::Span;

use super::{ATOM, DSTEP, Element, Flow, Frame, LAST, Local, Node, Scope, Seq, Target};
use crate::syntax::ast::{Decl, Expr, ExprKind, Init, Name, Pattern, Place, Stmt, StmtKind, TypeName};
use birk_ir::Diagnostic;

/// What `for (x in a)` goes over.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Range {
    /// The indices of an array of this length.
    Indices(i64),
    /// The messages of a channel.
    Messages,
}

/// What a name in `for (x in a)` stands for.
pub(crate) type RangeOf<'l> = &'l dyn Fn(&Place, &Scope, &[Local]) -> Option<Range>;

pub(super) struct Open {
    first: Option<usize>,
    last: Option<usize>,
}

pub(super) struct Builder<'b> {
    pub(super) elements: Vec<Element>,
    pub(super) locals: Vec<Local>,
    open: Vec<Open>,
    scope: Scope,
    depth: usize,
    /// Declarations are still at the start of the process: they take no step.
    is_start: bool,
    loops: Vec<usize>,
    pub(super) loop_ends: Vec<Option<usize>>,
    inline: usize,
    inlines: usize,
    pub(super) labels: Vec<(Rc<str>, usize, usize)>,
    range_of: RangeOf<'b>,
    diagnostics: &'b mut Vec<Diagnostic>,
}

/// The flow of a process with these parameters and statements. `referred` are the labels that others refer to.
pub(crate) fn build(
    params: &[Decl],
    body: &[Stmt],
    end: Span,
    referred: &[Rc<str>],
    range_of: RangeOf<'_>,
    diagnostics: &mut Vec<Diagnostic>,
) -> Flow {
    let mut builder = Builder {
        elements: Vec::new(),
        locals: Vec::new(),
        open: Vec::new(),
        scope: Scope::default(),
        depth: 0,
        is_start: true,
        loops: Vec::new(),
        loop_ends: Vec::new(),
        inline: 0,
        inlines: 0,
        labels: Vec::new(),
        range_of,
        diagnostics,
    };
    for param in params {
        builder.declare(param, true);
    }
    builder.open();
    builder.statements(body);
    builder.push(Node::End, end);
    let whole = builder.close();
    builder.finish(whole, referred)
}

impl Builder<'_> {
    pub(super) fn error(&mut self, code: &'static str, span: Span, message: impl Into<String>, label: &str) {
        self.diagnostics.push(Diagnostic::new(code, span, message, label));
    }

    fn element(&mut self, node: Node, span: Span) -> usize {
        self.elements.push(Element {
            node,
            span,
            scope: self.scope.clone(),
            next: None,
            options: Vec::new(),
            body: None,
            escapes: Vec::new(),
            status: 0,
            inline: self.inline,
            dstep: None,
            labels: Vec::new(),
        });
        self.elements.len() - 1
    }

    fn open(&mut self) {
        self.open.push(Open { first: None, last: None });
    }

    fn close(&mut self) -> Seq {
        let open = self.open.pop().expect("every sequence is opened");
        let (first, last) = match (open.first, open.last) {
            (Some(first), Some(last)) => (first, last),
            _ => {
                let skip = self.element(Node::Skip, Span::default());
                (skip, skip)
            }
        };
        Seq { first, last, extent: last }
    }

    /// Appends to the sequence that is open.
    fn append(&mut self, element: usize) {
        let is_special = |label: &Rc<str>| ["accept", "end", "progress"].iter().any(|word| label.starts_with(word));
        if matches!(self.elements[element].node, Node::Goto(_)) && self.elements[element].labels.iter().any(is_special)
        {
            let skip = self.element(Node::Skip, self.elements[element].span);
            self.elements[skip].labels = std::mem::take(&mut self.elements[element].labels);
            for label in &mut self.labels {
                if label.2 == element {
                    label.2 = skip;
                }
            }
            self.append(skip);
        }
        let open = self.open.last_mut().expect("a sequence is open");
        if open.first.is_none() {
            open.first = Some(element);
        } else if let Some(last) = open.last {
            self.elements[last].next = Some(element);
        }
        open.last = Some(element);
    }

    fn push(&mut self, node: Node, span: Span) -> usize {
        let element = self.element(node, span);
        self.append(element);
        element
    }

    fn declare(&mut self, decl: &Decl, is_param: bool) {
        let mut at = &self.scope;
        while let Some(frame) = at.0.as_ref().filter(|frame| frame.depth == self.depth) {
            if frame.name == decl.name.text {
                let message = format!("`{}` is declared twice in this block", decl.name.text);
                return self.error("E2002", decl.name.span, message, "again");
            }
            at = &frame.outer;
        }
        let same = self.locals.iter().filter(|local| local.decl.name.text == decl.name.text).count();
        let name = match same {
            0 => decl.name.text.to_string(),
            _ => format!("{}#{}", decl.name.text, same + 1),
        };
        let init = self.is_start.then(|| self.scope.clone());
        self.locals.push(Local { decl: decl.clone(), name, init, is_param });
        let frame = Frame {
            name: Rc::clone(&decl.name.text),
            local: self.locals.len() - 1,
            depth: self.depth,
            outer: self.scope.clone(),
        };
        self.scope = Scope(Some(Rc::new(frame)));
    }

    /// A declaration behind the first statement: the variable is there from the start, its value is set here.
    fn declaration(&mut self, decl: &Decl, span: Span) {
        self.declare(decl, false);
        if self.is_start {
            return;
        }
        let index = decl.length.as_ref().map(|_| Expr { kind: ExprKind::Const(0), span });
        let place = Place { parts: vec![(decl.name.clone(), index)], span: decl.name.span };
        match &decl.init {
            Init::None if matches!(decl.ty, TypeName::User(_)) => {
                self.push(Node::Print, span);
            }
            Init::None => {
                self.push(Node::Assign(place, Expr { kind: ExprKind::Const(0), span }), span);
            }
            Init::Value(value) => {
                self.push(Node::Assign(place, value.clone()), span);
            }
            Init::List(_) | Init::Chan { .. } => {
                let message = "a channel or an array with values is declared at the start of its process";
                self.error("E2003", decl.name.span, message, "behind a statement");
            }
        }
    }

    fn statements(&mut self, stmts: &[Stmt]) {
        for stmt in stmts {
            self.statement(stmt, &[]);
        }
    }

    fn label(&mut self, element: usize, names: &[Name]) {
        for name in names {
            let is_same = |label: &(Rc<str>, usize, usize)| label.0 == name.text && label.1 == self.inline;
            if self.labels.iter().any(is_same) {
                let message = format!("label `{}` is declared twice", name.text);
                self.error("E2002", name.span, message, "again");
            }
            self.labels.push((Rc::clone(&name.text), self.inline, element));
            self.elements[element].labels.push(Rc::clone(&name.text));
        }
    }

    /// A statement with the labels before it.
    fn statement(&mut self, stmt: &Stmt, labels: &[Name]) {
        let span = stmt.span;
        let node = match &stmt.kind {
            StmtKind::Decl(decl) => return self.declaration(decl, span),
            StmtKind::Nothing => return,
            StmtKind::Label(name, inner) => {
                let mut all = labels.to_vec();
                all.push(name.clone());
                self.is_start = false;
                return self.statement(inner, &all);
            }
            StmtKind::If(options) => return self.choice(options, span, labels),
            StmtKind::Do(options) => return self.repetition(options, span, labels),
            StmtKind::Atomic(body) => return self.container(Node::Atomic, body, span, labels),
            StmtKind::DStep(body) => return self.container(Node::DStep, body, span, labels),
            StmtKind::Block(body) => return self.container(Node::Block, body, span, labels),
            StmtKind::Inlined(body) => {
                self.inlines += 1;
                let outer = std::mem::replace(&mut self.inline, self.inlines);
                self.is_start = false;
                self.container(Node::Block, body, span, &[]);
                self.inline = outer;
                let block = self.open.last().and_then(|open| open.last).expect("just appended");
                return self.label(block, labels);
            }
            StmtKind::For { variable, from, to, body } => {
                return self.for_loop((variable, from), ("<=", to.clone()), Vec::new(), body, span, labels);
            }
            StmtKind::ForIn { variable, array, body } => {
                let number = |value| Expr { kind: ExprKind::Const(value), span };
                return match (self.range_of)(array, &self.scope, &self.locals) {
                    Some(Range::Indices(length)) => {
                        let last = ("<=", number(length - 1));
                        self.for_loop((variable, &number(0)), last, Vec::new(), body, span, labels);
                    }
                    Some(Range::Messages) => self.for_messages(variable, array, body, span, labels),
                    None => {
                        let message = "`for (x in a)` goes over the indices of an array or the messages of a channel";
                        self.error("E2004", array.span, message, "neither");
                    }
                };
            }
            StmtKind::Select { variable, from, to, spelled } => {
                return self.select(variable, (from, to), *spelled, span, labels);
            }
            StmtKind::Unless(parts) => return self.unless(&parts.0, &parts.1, span),
            StmtKind::Break => match self.loops.last() {
                Some(number) => Node::Goto(Target::Loop(*number)),
                None => return self.error("E2005", span, "`break` stands in no loop", "nothing to leave"),
            },
            StmtKind::Goto(name) => Node::Goto(Target::Label(name.clone())),
            StmtKind::Assign(place, value) => Node::Assign(place.clone(), value.clone()),
            StmtKind::Assert(value) => Node::Assert(value.clone()),
            StmtKind::Print => Node::Print,
            StmtKind::Send { channel, args, sorted } => {
                Node::Send { channel: channel.clone(), args: args.clone(), sorted: *sorted }
            }
            StmtKind::Receive { channel, args, random, keep } => {
                Node::Receive { channel: channel.clone(), args: args.clone(), random: *random, keep: *keep }
            }
            StmtKind::Else => Node::Else,
            StmtKind::Wait(Expr { kind: ExprKind::Const(1), .. }) => Node::Skip,
            StmtKind::Wait(condition) => Node::Wait(condition.clone()),
        };
        self.is_start = false;
        let element = self.element(node, span);
        self.label(element, labels);
        self.append(element);
    }

    fn option(&mut self, stmts: &[Stmt]) -> Seq {
        self.open();
        self.is_start = false;
        self.statements(stmts);
        let seq = self.close();
        self.prune(seq);
        seq
    }

    /// Of several statements in a row that do nothing, SPIN keeps one.
    fn prune(&mut self, seq: Seq) {
        let mut count = 0;
        let mut before = None;
        let mut at = Some(seq.first);
        while let Some(element) = at {
            let this = &self.elements[element];
            let is_skip = matches!(this.node, Node::Skip | Node::Print) && this.labels.is_empty();
            count = if is_skip { count + 1 } else { 0 };
            let is_print = matches!(this.node, Node::Print);
            let is_inner = element != seq.first && element != seq.last;
            at = this.next.filter(|_| element != seq.last);
            if is_skip && count > 1 && !is_print && is_inner {
                let next = this.next;
                if let Some(before) = before {
                    let before: usize = before;
                    self.elements[before].next = next;
                }
                continue;
            }
            before = Some(element);
        }
    }

    /// `else` goes to the end of the options.
    fn choose(&mut self, mut options: Vec<Seq>, span: Span, labels: &[Name], is_loop: bool) {
        let is_else = |builder: &Self, seq: &Seq| matches!(builder.elements[seq.first].node, Node::Else);
        if let Some(at) = options.iter().position(|seq| is_else(self, seq)) {
            let last = options.remove(at);
            if options.iter().any(|seq| is_else(self, seq)) {
                self.error("E2006", span, "a selection has two `else`", "here");
            }
            options.push(last);
        }
        let head = self.element(Node::Choice, span);
        let mut end = self.element(Node::Dot, span);
        for option in &mut options {
            self.elements[option.last].next = Some(end);
            option.last = end;
        }
        self.elements[head].options = options;
        self.label(head, labels);
        if is_loop {
            self.append(end);
            end = self.element(Node::Break, span);
            let number = self.loops.pop().expect("a loop is open");
            self.loop_ends[number] = Some(end);
        }
        self.append(head);
        self.append(end);
    }

    fn open_loop(&mut self) {
        self.loops.push(self.loop_ends.len());
        self.loop_ends.push(None);
    }

    fn choice(&mut self, options: &[Vec<Stmt>], span: Span, labels: &[Name]) {
        let options = options.iter().map(|option| self.option(option)).collect();
        self.choose(options, span, labels, false);
    }

    fn repetition(&mut self, options: &[Vec<Stmt>], span: Span, labels: &[Name]) {
        self.open_loop();
        let options = options.iter().map(|option| self.option(option)).collect();
        self.choose(options, span, labels, true);
    }

    fn container(&mut self, node: Node, body: &[Stmt], span: Span, labels: &[Name]) {
        self.is_start = false;
        let outer = self.scope.clone();
        self.depth += 1;
        self.open();
        self.statements(body);
        let seq = self.close();
        self.depth -= 1;
        self.scope = outer;
        let whole = self.element(node, span);
        self.elements[whole].body = Some(seq);
        match self.elements[whole].node {
            Node::Atomic => self.make_atomic(seq, 0),
            Node::DStep => self.make_atomic(seq, DSTEP),
            _ => {}
        }
        self.label(whole, labels);
        self.append(whole);
    }

    /// `{ … } unless { … }`
    fn unless(&mut self, main: &Stmt, escape: &Stmt, span: Span) {
        self.is_start = false;
        // The label of a block stands before the whole.
        if let StmtKind::Label(name, inner) = &main.kind
            && let Some((node, body)) = match &inner.kind {
                StmtKind::Block(body) => Some((Node::Block, body)),
                StmtKind::Atomic(body) => Some((Node::Atomic, body)),
                StmtKind::DStep(body) => Some((Node::DStep, body)),
                _ => None,
            }
        {
            let main = Stmt { kind: StmtKind::Block(body.clone()), span: inner.span };
            let whole = Stmt { kind: StmtKind::Unless(Box::new((main, escape.clone()))), span };
            return self.container(node, &[whole], span, std::slice::from_ref(name));
        }
        let mut parts: Vec<Seq> = [main, escape].into_iter().map(|part| self.part(part)).collect();
        self.attach(parts[0], parts[1]);
        let whole = self.element(Node::Unless, span);
        let end = self.element(Node::Dot, span);
        for part in &mut parts {
            self.elements[part.last].next = Some(end);
            part.last = end;
        }
        self.elements[whole].options = parts;
        self.append(whole);
        self.append(end);
    }

    fn part(&mut self, stmt: &Stmt) -> Seq {
        let outer = self.scope.clone();
        self.depth += 1;
        self.open();
        match &stmt.kind {
            StmtKind::Block(body) => self.statements(body),
            _ => self.statement(stmt, &[]),
        }
        self.depth -= 1;
        self.scope = outer;
        self.close()
    }

    /// Every statement of a sequence is left for another.
    fn attach(&mut self, seq: Seq, escape: Seq) {
        let mut at = seq.first;
        loop {
            self.attach_to(at, escape);
            match self.elements[at].next {
                Some(next) if at != seq.extent => at = next,
                _ => return,
            }
        }
    }

    /// A statement is left for a sequence, and so is every sequence that it is left for already, and all that it consists of.
    fn attach_to(&mut self, at: usize, escape: Seq) {
        let lower = self.elements[at].escapes.clone();
        if lower.iter().any(|known| known.first == escape.first) {
            return;
        }
        for known in lower {
            self.attach(known, escape);
        }
        let this = &mut self.elements[at];
        this.escapes.insert(0, escape);
        let mut inner = this.options.clone();
        if matches!(this.node, Node::Unless) {
            inner.truncate(1);
        }
        // A `d_step` is left before it begins, or not at all.
        inner.extend(this.body.filter(|_| !matches!(this.node, Node::DStep)));
        for part in inner {
            self.attach(part, escape);
        }
    }

    fn make_atomic(&mut self, seq: Seq, added: u8) {
        self.walk_atomic(seq.first, seq.last, added);
        match (&self.elements[seq.last].node, self.elements[seq.last].body) {
            (Node::Block | Node::Atomic, Some(body)) => self.make_atomic(body, added),
            _ => {
                let last = &mut self.elements[seq.last];
                last.status = last.status & !ATOM | LAST;
            }
        }
    }

    fn walk_atomic(&mut self, first: usize, last: usize, added: u8) {
        let mut at = first;
        loop {
            self.elements[at].status |= ATOM | added;
            let is_ignored = match self.elements[at].node {
                Node::Atomic | Node::Block => true,
                Node::DStep => added != 0,
                _ => false,
            };
            if is_ignored {
                self.elements[at].node = Node::Block;
                let body = self.elements[at].body.expect("a block has statements");
                self.walk_atomic(body.first, body.last, added);
            }
            for option in self.elements[at].options.clone() {
                self.walk_atomic(option.first, option.last, added);
            }
            match self.elements[at].next {
                Some(next) if at != last => at = next,
                _ => return,
            }
        }
    }

    /// Every message in turn is taken out, looked at, and put back behind the others.
    fn for_messages(&mut self, variable: &Place, channel: &Place, body: &[Stmt], span: Span, labels: &[Name]) {
        let head = variable.span;
        let name = Name { text: format!("for {}", channel.parts[0].0.text).into(), span: channel.span };
        let counter = Place { parts: vec![(name.clone(), None)], span: head };
        let outer = self.scope.clone();
        self.depth += 1;
        self.declare(&Decl { name, ty: TypeName::Byte, length: None, init: Init::None, hidden: false }, false);
        let length = Expr { kind: ExprKind::Ask("len", channel.clone()), span: head };
        let args = vec![Pattern::Place(variable.clone())];
        let take = Node::Receive { channel: channel.clone(), args, random: false, keep: false };
        let args = vec![Expr { kind: ExprKind::Place(variable.clone()), span: head }];
        let put = Node::Send { channel: channel.clone(), args, sorted: false };
        let zero = Expr { kind: ExprKind::Const(0), span: head };
        self.for_loop((&counter, &zero), ("<", length), vec![take, put], body, span, labels);
        self.depth -= 1;
        self.scope = outer;
    }

    /// A loop that counts: what it begins with, how long it goes on, and what is done before its body.
    fn for_loop(
        &mut self,
        (variable, from): (&Place, &Expr),
        (sign, to): (&'static str, Expr),
        before: Vec<Node>,
        body: &[Stmt],
        span: Span,
        labels: &[Name],
    ) {
        self.open_loop();
        let head = variable.span;
        let value = Expr { kind: ExprKind::Place(variable.clone()), span: head };
        self.is_start = false;
        self.push(Node::Assign(variable.clone(), from.clone()), head);
        self.open();
        let condition = ExprKind::Binary(sign, Box::new((value.clone(), to)));
        self.push(Node::Wait(Expr { kind: condition, span: head }), head);
        for node in before {
            self.push(node, head);
        }
        let outer = self.scope.clone();
        self.depth += 1;
        self.statements(body);
        self.depth -= 1;
        self.scope = outer;
        let one = Expr { kind: ExprKind::Const(1), span: head };
        let next = Expr { kind: ExprKind::Binary("+", Box::new((value, one))), span: head };
        self.push(Node::Assign(variable.clone(), next), head);
        let inside = self.close();
        self.open();
        self.push(Node::Else, head);
        let number = *self.loops.last().expect("a loop is open");
        self.push(Node::Goto(Target::Loop(number)), head);
        let leave = self.close();
        self.choose(vec![leave, inside], span, labels, true);
    }

    fn select(&mut self, variable: &Place, (from, to): (&Expr, &Expr), spelled: bool, span: Span, labels: &[Name]) {
        self.is_start = false;
        if let (true, ExprKind::Const(first), ExprKind::Const(last)) = (spelled, &from.kind, &to.kind) {
            let mut options = Vec::new();
            for value in *first..=*last {
                self.open();
                let value = Expr { kind: ExprKind::Const(value), span };
                self.push(Node::Assign(variable.clone(), value), span);
                options.push(self.close());
            }
            if options.is_empty() {
                return self.error("E2004", span, "there is no value between these bounds", "an empty range");
            }
            return self.choose(options, span, labels, false);
        }
        let value = Expr { kind: ExprKind::Place(variable.clone()), span };
        self.push(Node::Assign(variable.clone(), from.clone()), span);
        self.open_loop();
        self.open();
        let condition = ExprKind::Binary("<", Box::new((value.clone(), to.clone())));
        self.push(Node::Wait(Expr { kind: condition, span }), span);
        let one = Expr { kind: ExprKind::Const(1), span };
        let next = Expr { kind: ExprKind::Binary("+", Box::new((value, one))), span };
        self.push(Node::Assign(variable.clone(), next), span);
        let inside = self.close();
        self.open();
        let number = *self.loops.last().expect("a loop is open");
        self.push(Node::Goto(Target::Loop(number)), span);
        let leave = self.close();
        self.choose(vec![leave, inside], span, labels, true);
    }
}

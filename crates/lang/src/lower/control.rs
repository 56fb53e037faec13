//! Control: the places where a thread can be, and the steps between them, from locations or from statements.
//!
//! Each statement is one step; `atomic` makes one step of several. `either`, `while (true)`, `goto`, `break`, labels and
//! calls are no steps of their own: they are epsilon edges, removed at the end, so that they cost no states. What is
//! inside one step (a transformation's braces, `atomic`) is written out as one edge for each path through it.

mod crash;
mod epsilon;
mod paths;

use std::collections::HashMap;
use std::rc::Rc;

use birk_ir::Span;

use crate::diagnostic::{Diagnostic, list, nearest};
use crate::sema::context::{Context, Symbol};
use crate::sema::expression::Elaborator;
use crate::syntax::ast::{self, Action, ActionKind, Expr, ExprKind, Jump, Mark, Name};

use paths::Leave;

/// A thread may not have more steps, nor a step more paths through it.
const MAX_EDGES: usize = 20_000;
/// A thread may not be written out into more places, parts of steps, calls and rounds.
const MAX_WORK: usize = 400_000;
/// How deep blocks and calls may be nested in each other.
const MAX_NESTING: usize = 300;
/// A `for` may not have more rounds.
const MAX_ROUNDS: i64 = 1000;
/// Where a thread is when it has ended.
const END: usize = usize::MAX;

/// The places and steps of a thread.
#[derive(Debug, Default)]
pub(crate) struct Control<'a> {
    pub(crate) spots: Vec<Spot>,
    pub(crate) edges: Vec<Edge<'a>>,
    /// Locations and labels by name.
    pub(crate) names: HashMap<String, usize>,
    /// Where it is after a crash.
    pub(crate) crashed: Option<usize>,
}

/// A place where a thread can be.
#[derive(Clone, Debug)]
pub(crate) struct Spot {
    /// The location's or label's name, or the line of the statement that comes next.
    pub(crate) name: String,
    /// It was named by the user.
    pub(crate) named: bool,
    pub(crate) span: Span,
    pub(crate) end: bool,
    pub(crate) accept: bool,
    pub(crate) progress: bool,
    /// It is where an alternative of an `either` begins: a thread that chooses is before the `either`.
    pub(crate) alternative: bool,
}

/// A step.
#[derive(Clone, Debug)]
pub(crate) struct Edge<'a> {
    pub(crate) from: usize,
    /// `None` ends the thread.
    pub(crate) to: Option<usize>,
    pub(crate) span: Span,
    /// Where what is marked `fair` is written, of which this is a step.
    pub(crate) fair: Option<Span>,
    pub(crate) parts: Vec<Part<'a>>,
}

/// A part of a step, with the names that are visible to it.
#[derive(Clone, Debug)]
pub(crate) struct Part<'a> {
    pub(crate) scope: Scope<'a>,
    pub(crate) what: What<'a>,
}

/// What a part does.
#[derive(Clone, Copy, Debug)]
pub(crate) enum What<'a> {
    /// The step exists only where this is true.
    Require(&'a Expr),
    /// The same, in the test of an `if` or `while`.
    Test(&'a Expr),
    /// The step exists only where this is false.
    Refuse(&'a Expr),
    Do(&'a Action),
    /// The step leaves a block here; this does nothing by itself.
    Leave(&'a Action),
    /// What is not durable is lost.
    Lose(Span),
}

/// The calls and rounds that a statement is inside of, innermost first.
pub(crate) type Scope<'a> = Option<Rc<Frame<'a>>>;

/// A call or a round.
#[derive(Debug)]
pub(crate) struct Frame<'a> {
    pub(crate) kind: FrameKind<'a>,
    pub(crate) outer: Scope<'a>,
}

/// What a frame gives names to.
#[derive(Debug)]
pub(crate) enum FrameKind<'a> {
    /// The parameters of a procedure stand for the arguments.
    Call(&'a ast::Procedure, &'a [Expr]),
    /// The variable of a `for` is this.
    Round(&'a Name, i64),
}

/// The control of a thread; what is wrong with it is reported.
pub(crate) fn control<'a>(cx: &mut Context<'a>, thread: &'a ast::Thread) -> Control<'a> {
    let reported = cx.diagnostics.len();
    let mut builder = Builder {
        cx,
        spots: Vec::new(),
        out: Vec::new(),
        edges: Vec::new(),
        names: HashMap::new(),
        crashed: None,
        work: 0,
        depth: 0,
        is_full: false,
        reported,
    };
    if thread.locations.is_empty() {
        let start = builder.spot(thread.body.first().map_or(thread.name.span, |first| first.span), None);
        let around = Around { scope: None, site: None, exit: None, back: END };
        builder.list(&thread.body, start, END, &around);
    } else {
        builder.locations(&thread.locations);
    }
    let crashes = thread.crashes.as_ref().map(|crashes| builder.crashes(crashes));
    let control = builder.finish(thread);
    match crashes {
        Some(crashes) => crash::with_crashes(cx, control, &crashes),
        None => control,
    }
}

/// `i = 0`, `j = 1`: the rounds that a statement is inside of, outermost first.
fn rounds_text(scope: &Scope<'_>) -> Vec<String> {
    let Some(frame) = scope else { return Vec::new() };
    let mut found = rounds_text(&frame.outer);
    if let FrameKind::Round(name, value) = frame.kind {
        found.push(format!("{} = {value}", name.text));
    }
    found
}

struct Builder<'c, 'a> {
    cx: &'c mut Context<'a>,
    spots: Vec<Spot>,
    /// What leaves each place, in order.
    out: Vec<Vec<Out>>,
    edges: Vec<Edge<'a>>,
    names: HashMap<String, usize>,
    crashed: Option<usize>,
    /// How much was written out so far.
    work: usize,
    /// How deep the blocks and calls are that are being written out.
    depth: usize,
    /// It became too much, which was reported: nothing more is written out.
    is_full: bool,
    /// How many messages there were before.
    reported: usize,
}

/// What leaves a place: a step, or an epsilon edge.
#[derive(Clone, Copy, Debug)]
enum Out {
    Edge(usize),
    Epsilon(usize),
}

/// What a statement is inside of.
#[derive(Clone)]
struct Around<'a> {
    scope: Scope<'a>,
    /// The outermost call.
    site: Option<Span>,
    /// Behind the innermost loop.
    exit: Option<usize>,
    /// Where `return` leads.
    back: usize,
}

impl<'a> Builder<'_, 'a> {
    /// A place before what stands at `span`; inside a procedure, it is named after the call.
    fn spot(&mut self, span: Span, around: Option<&Around<'a>>) -> usize {
        self.spend(1, span);
        let span = around.and_then(|around| around.site).unwrap_or(span);
        let rounds = around.map(|around| rounds_text(&around.scope)).filter(|rounds| !rounds.is_empty());
        let rounds = rounds.map_or(String::new(), |rounds| format!(" ({})", rounds.join(", ")));
        let name = format!("line {}{rounds}", self.cx.line_of(span));
        let (named, end, accept, progress, alternative) = (false, false, false, false, false);
        self.spots.push(Spot { name, named, span, end, accept, progress, alternative });
        self.out.push(Vec::new());
        self.spots.len() - 1
    }

    /// The place with a name, which may come later in the text.
    fn named(&mut self, name: &Name) -> usize {
        if let Some(&spot) = self.names.get(&name.text) {
            return spot;
        }
        let spot = self.spot(name.span, None);
        self.names.insert(name.text.clone(), spot);
        spot
    }

    fn edge(&mut self, from: usize, to: usize, span: Span, fair: Option<Span>, parts: Vec<Part<'a>>) {
        if self.edges.len() >= MAX_EDGES {
            self.too_many(span);
        }
        self.spend(1 + parts.len(), span);
        if self.is_full {
            return;
        }
        self.out[from].push(Out::Edge(self.edges.len()));
        self.edges.push(Edge { from, to: (to != END).then_some(to), span, fair, parts });
    }

    fn spend(&mut self, amount: usize, span: Span) {
        self.work += amount;
        if self.work > MAX_WORK {
            self.too_many(span);
        }
    }

    /// Goes one level deeper, unless that is too deep.
    fn descend(&mut self, span: Span) -> bool {
        if self.depth >= MAX_NESTING && !self.is_full {
            let message = format!("nested too deeply: blocks and calls may be {MAX_NESTING} levels deep");
            self.cx.report(Diagnostic::new("E0009", span, message, "one level too many"));
            self.is_full = true;
        }
        self.depth += usize::from(!self.is_full);
        !self.is_full
    }

    fn too_many(&mut self, span: Span) {
        if std::mem::replace(&mut self.is_full, true) {
            return;
        }
        let message = format!("this thread has more than {MAX_EDGES} steps");
        let help = "procedures and `for` are written out: call them less often, or use a `while` with a variable";
        self.cx.report(Diagnostic::new("E0039", span, message, "too many").help(help));
    }

    fn mark(&mut self, spot: usize, name: &Name, marks: &[(Mark, Span)]) {
        let has = |mark| marks.iter().any(|(m, _)| *m == mark);
        let place = &mut self.spots[spot];
        if !place.named {
            (place.name, place.named, place.span) = (name.text.clone(), true, name.span);
        }
        place.end |= has(Mark::End);
        place.accept |= has(Mark::Accept);
        place.progress |= has(Mark::Progress);
    }

    /// The form with locations: one edge for each way through each transformation.
    fn locations(&mut self, locations: &'a [ast::Location]) {
        for location in locations {
            let spot = self.spot(location.name.span, None);
            self.mark(spot, &location.name, &location.marks);
            self.names.entry(location.name.text.clone()).or_insert(spot);
        }
        for (from, location) in locations.iter().enumerate() {
            for t in &location.transformations {
                let guard = t.guard.iter().map(|guard| Part { scope: None, what: What::Require(guard) }).collect();
                for (parts, leave) in self.paths(&t.actions, vec![(guard, Leave::Next)], &None) {
                    let to = match (leave, &t.jump) {
                        (Leave::Next, Some(Jump::Goto(name))) => self.location(name),
                        (Leave::Next, Some(Jump::Return(_))) => Some(END),
                        (Leave::Next, None) => None,
                        (Leave::Goto(name), _) => self.location(name),
                        (Leave::Return, _) => Some(END),
                        (Leave::Break, _) => {
                            self.no_loop(t.span);
                            None
                        }
                    };
                    // A step that leads nowhere was reported; what it does is checked all the same.
                    self.edge(from, to.unwrap_or(from), t.span, t.fair.then_some(t.span), parts);
                }
            }
        }
    }

    /// A location that must exist; `finish` reports it if it does not.
    fn location(&mut self, name: &Name) -> Option<usize> {
        let known = self.names.get(&name.text).copied();
        if known.is_none() {
            self.unknown_location(name);
        }
        known
    }

    fn unknown_location(&mut self, name: &Name) {
        // A location whose name is missing may be the one that is meant.
        if name.text.is_empty() || self.names.contains_key("") {
            return;
        }
        let message = format!("there is no location `{}` in this thread", name.text);
        let diagnostic = Diagnostic::new("E0026", name.span, message, "no such location");
        // A jump forward makes a place for its label too.
        if self.cx.is_hopeless() {
            return self.cx.report(diagnostic);
        }
        let declared = self.names.iter().filter(|(_, spot)| self.spots[**spot].named);
        let mut names: Vec<&str> = declared.map(|(name, _)| name.as_str()).collect();
        names.sort_unstable();
        self.cx.report(match nearest(&name.text, names.iter().copied()) {
            Some(meant) => diagnostic.meant(meant),
            None if names.is_empty() => diagnostic.help(format!("name the place to jump to: `{}: skip;`", name.text)),
            None => diagnostic.help(format!("it has {}", list(names))),
        });
    }

    /// Gives a label that was reported a place of its own, so that nobody misses it.
    fn misplaced(&mut self, name: &Name) {
        let spot = self.named(name);
        self.mark(spot, name, &[]);
    }

    fn no_loop(&mut self, span: Span) {
        let help = "remove it; `break` leaves the innermost `while` of the same thread or procedure";
        let diagnostic = Diagnostic::new("E0049", span, "`break` outside a loop", "nothing to leave").help(help);
        self.cx.report(self.cx.without(diagnostic, Some(span)));
    }

    /// A list of statements from one place to another.
    fn list(&mut self, statements: &'a [Action], mut here: usize, next: usize, around: &Around<'a>) {
        if statements.is_empty() {
            self.out[here].push(Out::Epsilon(next));
        }
        if !statements.first().is_some_and(|first| self.descend(first.span)) {
            return;
        }
        for (i, statement) in statements.iter().enumerate() {
            if self.is_full {
                break;
            }
            let after = match statements.get(i + 1) {
                Some(following) => self.spot(following.span, Some(around)),
                None => next,
            };
            self.labels(statement, here, around);
            self.statement(statement, here, after, around);
            here = after;
        }
        self.depth -= 1;
    }

    fn labels(&mut self, statement: &'a Action, here: usize, around: &Around<'a>) {
        for label in &statement.labels {
            if around.scope.is_some() {
                let message = format!(
                    "the label `{}` is in a procedure or a `for`, which stands for several places",
                    label.name.text
                );
                let help = "remove it; labels stand outside procedures and `for`";
                let diagnostic = Diagnostic::new("E0048", label.name.span, message, "not one place").help(help);
                self.cx.report(self.cx.without_label(diagnostic));
                self.misplaced(&label.name);
                continue;
            }
            let spot = self.named(&label.name);
            if self.spots[spot].named {
                let first = self.spots[spot].span;
                let message = format!("`{}` is declared twice", label.name.text);
                let diagnostic = Diagnostic::new("E0021", label.name.span, message, "declared again here");
                let diagnostic = diagnostic.related(first, "first declared here");
                self.cx.report(self.cx.with_other_name(diagnostic, &label.name));
                continue;
            }
            // A jump forward may have made a place for the label already: the two become one.
            self.mark(spot, &label.name, &label.marks);
            self.mark(here, &label.name, &label.marks);
            self.names.insert(label.name.text.clone(), here);
            if spot != here {
                self.out[spot].push(Out::Epsilon(here));
            }
        }
    }

    fn statement(&mut self, statement: &'a Action, here: usize, next: usize, around: &Around<'a>) {
        let part = |what| Part { scope: around.scope.clone(), what };
        let fair = statement.fair.then_some(statement.span);
        let at = |span: Span| around.site.unwrap_or(span);
        match &statement.kind {
            ActionKind::If(branches, otherwise) => {
                let mut refused = Vec::new();
                for (condition, branch) in branches {
                    self.spend(refused.len(), condition.span);
                    if self.is_full {
                        return;
                    }
                    let mut parts = refused.clone();
                    parts.push(part(What::Test(condition)));
                    self.branch(branch, here, next, at(condition.span), fair, parts, around);
                    refused.push(part(What::Refuse(condition)));
                }
                let otherwise = otherwise.as_deref().unwrap_or_default();
                self.branch(otherwise, here, next, at(branches[0].0.span), fair, refused, around);
            }
            ActionKind::While(condition, body) => {
                let inside = Around { exit: Some(next), ..around.clone() };
                if matches!(condition.kind, ExprKind::Bool(true)) {
                    let start = self.spot(body.first().map_or(statement.span, |first| first.span), Some(around));
                    self.out[here].push(Out::Epsilon(start));
                    self.list(body, start, here, &inside);
                } else {
                    let parts = vec![part(What::Test(condition))];
                    let start = self.spot(body.first().map_or(statement.span, |first| first.span), Some(around));
                    self.edge(here, start, at(condition.span), fair, parts);
                    self.list(body, start, here, &inside);
                    self.edge(here, next, at(condition.span), fair, vec![part(What::Refuse(condition))]);
                }
            }
            ActionKind::For(name, lo, hi, body) => {
                let rounds = self.rounds(name, lo, hi, &around.scope);
                let mut at = here;
                for (i, scope) in rounds.iter().enumerate() {
                    let inside = Around { scope: scope.clone(), ..around.clone() };
                    // A label of the loop names the first place in it.
                    if i > 0 || !self.spots[here].named {
                        let start = self.spot(body.first().map_or(statement.span, |first| first.span), Some(&inside));
                        self.out[at].push(Out::Epsilon(start));
                        at = start;
                    }
                    let to = if i + 1 == rounds.len() { next } else { self.spot(statement.span, Some(around)) };
                    self.list(body, at, to, &inside);
                    at = to;
                }
                if rounds.is_empty() {
                    self.out[here].push(Out::Epsilon(next));
                }
            }
            ActionKind::Either(branches) => {
                for branch in branches {
                    let start = self.spot(branch.first().map_or(statement.span, |first| first.span), Some(around));
                    self.spots[start].alternative = true;
                    self.out[here].push(Out::Epsilon(start));
                    self.list(branch, start, next, around);
                }
            }
            ActionKind::Call(name, args) => {
                if let Some((procedure, scope)) = self.call(name, args, &around.scope) {
                    let site = around.site.or(Some(statement.span));
                    self.list(&procedure.body, here, next, &Around { scope, site, exit: None, back: next });
                }
            }
            ActionKind::Break => match around.exit {
                Some(exit) => self.out[here].push(Out::Epsilon(exit)),
                None => self.no_loop(statement.span),
            },
            ActionKind::Return => self.out[here].push(Out::Epsilon(around.back)),
            ActionKind::Goto(name) => {
                let target = self.named(name);
                self.out[here].push(Out::Epsilon(target));
            }
            _ => {
                for (parts, leave) in self.extend(statement, vec![(Vec::new(), Leave::Next)], &around.scope) {
                    let to = match leave {
                        Leave::Next => Some(next),
                        Leave::Break => around.exit,
                        Leave::Return => Some(around.back),
                        Leave::Goto(name) => Some(self.named(name)),
                    };
                    match to {
                        Some(to) => self.edge(here, to, at(statement.span), fair, parts),
                        None => self.no_loop(statement.span),
                    }
                }
            }
        }
    }

    #[expect(clippy::too_many_arguments, reason = "the two places, what the step is, and where it stands")]
    fn branch(
        &mut self,
        branch: &'a [Action],
        here: usize,
        next: usize,
        span: Span,
        fair: Option<Span>,
        parts: Vec<Part<'a>>,
        around: &Around<'a>,
    ) {
        match branch.first() {
            None => self.edge(here, next, span, fair, parts),
            Some(first) => {
                let start = self.spot(first.span, Some(around));
                self.edge(here, start, span, fair, parts);
                self.list(branch, start, next, around);
            }
        }
    }

    /// The scopes of the rounds of a `for`.
    fn rounds(&mut self, name: &'a Name, lo: &'a Expr, hi: &'a Expr, scope: &Scope<'a>) -> Vec<Scope<'a>> {
        let mut elaborator = Elaborator::constant(self.cx);
        elaborator.enter(scope);
        let bound = |elaborator: &mut Elaborator<'_, '_>, expr: &Expr| {
            let value = elaborator.integer(expr, "a bound of `for`");
            elaborator.settle(value, expr.span)
        };
        let (from, to) = (bound(&mut elaborator, lo), bound(&mut elaborator, hi));
        if from.ty == crate::sema::types::Ty::Error || to.ty == crate::sema::types::Ty::Error {
            return Vec::new();
        }
        if to.lo - from.lo >= MAX_ROUNDS {
            let message = format!("a `for` with {} rounds", to.lo - from.lo + 1);
            let help = format!("at most {MAX_ROUNDS} are possible; use a `while` with a variable");
            self.cx.report(Diagnostic::new("E0039", lo.span.to(hi.span), message, "too many").help(help));
            return Vec::new();
        }
        self.spend(usize::try_from(to.lo - from.lo + 1).unwrap_or(0), lo.span);
        let frame = |value| Some(Rc::new(Frame { kind: FrameKind::Round(name, value), outer: scope.clone() }));
        (from.lo..=to.lo).map(frame).collect()
    }

    /// The procedure that is called, and the scope inside it.
    fn call(&mut self, name: &'a Name, args: &'a [Expr], scope: &Scope<'a>) -> Option<(&'a ast::Procedure, Scope<'a>)> {
        let Some(&(Symbol::Procedure(index), _)) = self.cx.symbols.get(name.text.as_str()) else {
            if self.cx.symbols.contains_key(name.text.as_str()) {
                let diagnostic = self.cx.misused(&name.text, name.span, "a procedure");
                self.cx.diagnostics.extend(diagnostic);
                return None;
            }
            if let Some(meant) = nearest(&name.text, ["assert", "assume"]) {
                let message = format!("cannot find a procedure named `{}`", name.text);
                let diagnostic = Diagnostic::new("E0020", name.span, message, "not declared");
                self.cx.report(diagnostic.meant(meant));
                return None;
            }
            let names: Vec<&str> = self.cx.procedures.iter().map(|p| p.name.text.as_str()).collect();
            self.cx.unknown("a procedure", name, &names);
            return None;
        };
        let procedure = self.cx.procedures[index];
        let mut outer = scope;
        while let Some(frame) = outer {
            if matches!(frame.kind, FrameKind::Call(inner, _) if std::ptr::eq(inner, procedure)) {
                let message = format!("`{}` calls itself", name.text);
                let help = "procedures are put in place of their calls, so they must not be recursive";
                self.cx.report(Diagnostic::new("E0028", procedure.name.span, message, "recursive").help(help));
                return None;
            }
            outer = &frame.outer;
        }
        if procedure.params.len() != args.len() {
            let wanted = crate::sema::expression::count(procedure.params.len(), "argument");
            let message = format!("`{}` takes {wanted}, not {}", name.text, args.len());
            let diagnostic = Diagnostic::new("E0027", name.span, message, "wrong number of arguments");
            let diagnostic = diagnostic.related(procedure.name.span, "declared here");
            // A procedure may write to its arguments: only a person knows those that are missing.
            let diagnostic = match args.len() > procedure.params.len() {
                true => self.cx.with_arguments(diagnostic, name.span, &procedure.params, args),
                false => diagnostic,
            };
            self.cx.report(diagnostic);
            return None;
        }
        self.spend(1, name.span);
        let frame = Frame { kind: FrameKind::Call(procedure, args), outer: scope.clone() };
        Some((procedure, Some(Rc::new(frame))))
    }
}

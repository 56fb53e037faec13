//! Break the rule, see the check fail, in trees: every construct is bent in the tree, and what the bent tree means must
//! differ from the program on some random program. So no rule of a construct can be lost without notice.

use std::panic::{AssertUnwindSafe, catch_unwind};

use birk_lang::ast::{
    Action, ActionKind, BinaryOp, Domain, Expr, ExprKind, Item, Pattern, Quantifier, System, TypeKind,
};

use crate::mutants::programs;
use birk_agreement::case::cases;
use birk_agreement::faithful::faithful;
use birk_agreement::tree::{self, binary, expr, member, number, truth};

/// How a construct is bent; whether there was one.
type Bend = (&'static str, fn(&mut Action) -> bool);
/// How a whole system is bent.
type Rule = (&'static str, Box<dyn Fn(&mut System) -> bool>);
type BendExpr = (&'static str, fn(&mut Expr) -> bool);

const STATEMENTS: &[Bend] = &[
    ("a test that is false enters its branch", |action| match &mut action.kind {
        ActionKind::If(branches, Some(otherwise)) => {
            std::mem::swap(&mut branches[0].1, otherwise);
            true
        }
        _ => false,
    }),
    ("`else if` is passed over", |action| match &mut action.kind {
        ActionKind::If(branches, _) => branches.len() > 1 && branches.pop().is_some(),
        _ => false,
    }),
    ("a loop ends after one round", |action| match &mut action.kind {
        ActionKind::While(condition, body) => {
            action.kind = ActionKind::If(vec![(condition.clone(), std::mem::take(body))], None);
            true
        }
        _ => false,
    }),
    ("`while (true)` is tested", |action| match &mut action.kind {
        ActionKind::While(condition, _) if matches!(condition.kind, ExprKind::Bool(true)) => {
            *condition = binary(BinaryOp::Or, truth(true), truth(false));
            true
        }
        _ => false,
    }),
    ("the last round is left out", |action| match &mut action.kind {
        ActionKind::For(_, _, hi, _) => {
            *hi = binary(BinaryOp::Sub, hi.clone(), number(1));
            true
        }
        _ => false,
    }),
    ("the last branch is never taken", |action| match &mut action.kind {
        ActionKind::Either(branches) => branches.pop().is_some(),
        _ => false,
    }),
    ("`either` is a step", |action| match &mut action.kind {
        ActionKind::Either(branches) => {
            let skip = Action { labels: Vec::new(), fair: false, kind: ActionKind::Skip, span: action.span };
            branches.iter_mut().for_each(|branch| branch.insert(0, skip.clone()));
            true
        }
        _ => false,
    }),
    ("`atomic` is several steps", |action| match &mut action.kind {
        ActionKind::Atomic(body) => {
            action.kind = ActionKind::If(vec![(truth(true), std::mem::take(body))], None);
            true
        }
        _ => false,
    }),
    ("`await` does not wait", |action| replaced(action, |kind| matches!(kind, ActionKind::Await(_)))),
    ("`await` is like `assume`", |action| match &mut action.kind {
        ActionKind::Await(condition) => {
            action.kind = ActionKind::Assume(condition.clone());
            true
        }
        _ => false,
    }),
    ("`break` does nothing", |action| replaced(action, |kind| matches!(kind, ActionKind::Break))),
    ("`return` does nothing", |action| replaced(action, |kind| matches!(kind, ActionKind::Return))),
    ("`goto` does nothing", |action| replaced(action, |kind| matches!(kind, ActionKind::Goto(_)))),
    ("calls do nothing", |action| replaced(action, |kind| matches!(kind, ActionKind::Call(..)))),
    ("marks behind labels are lost", |action| {
        let marks = action.labels.iter_mut().map(|label| std::mem::take(&mut label.marks));
        marks.filter(|marks| !marks.is_empty()).count() > 0
    }),
    ("`fair` is lost", |action| std::mem::take(&mut action.fair)),
    ("records are not assigned", |action| {
        replaced(action, |kind| matches!(kind, ActionKind::Assign(_, value) if is_named(value, "r1")))
    }),
    ("arrays are not assigned", |action| {
        replaced(action, |kind| matches!(kind, ActionKind::Assign(_, value) if is_named(value, "a1")))
    }),
    ("records in records are not assigned", |action| {
        let is_inside = |value: &Expr| matches!(&value.kind, ExprKind::Member(_, field) if field.text == "r");
        replaced(action, |kind| matches!(kind, ActionKind::Assign(to, from) if is_inside(to) || is_inside(from)))
    }),
    ("records that are copied have their fields swapped", |action| match &action.kind {
        ActionKind::Assign(to, from) if [to, from].iter().all(|e| ["r0", "r1", "z"].iter().any(|n| is_named(e, n))) => {
            let field = |of: &Expr, text: &str| member(of.clone(), text);
            let swapped = [("f", "g"), ("g", "f")].map(|(a, b)| ActionKind::Assign(field(to, a), field(from, b)));
            let all = [action.kind.clone()].into_iter().chain(swapped).map(tree::action).collect();
            action.kind = ActionKind::Atomic(all);
            true
        }
        _ => false,
    }),
    ("`peek` takes the message", |action| match peeked(&action.kind) {
        Some(channel) => {
            let taken = ActionKind::Receive(channel, vec![Pattern::Any(action.span)], None);
            let all = [action.kind.clone(), taken].map(tree::action).to_vec();
            action.kind = ActionKind::Atomic(all);
            true
        }
        None => false,
    }),
    ("messages go to the channel beside it", |action| match &mut action.kind {
        ActionKind::Send(Expr { kind: ExprKind::Index(_, at), .. }, _) => {
            **at = binary(BinaryOp::Sub, number(1), (**at).clone());
            true
        }
        _ => false,
    }),
    ("channels that are passed are the first of several", |action| match &mut action.kind {
        ActionKind::Call(_, args) => args.iter_mut().map(first_channel).max().unwrap_or(false),
        _ => false,
    }),
    ("what is put together is not assigned", |action| {
        let is_record = |value: &Expr| matches!(&value.kind, ExprKind::Call(name, _) if name.text == "Rec");
        replaced(action, |kind| matches!(kind, ActionKind::Assign(_, value) if is_record(value)))
    }),
    ("a key that is written is not added", |action| match &action.kind {
        ActionKind::Assign(Expr { kind: ExprKind::Index(map, key), .. }, _) if is_map(map) => {
            let has = binary(BinaryOp::In, (**key).clone(), (**map).clone());
            action.kind = ActionKind::If(vec![(has, vec![tree::action(action.kind.clone())])], None);
            true
        }
        _ => false,
    }),
    ("sequences and maps are not copied", |action| {
        let is_whole = |value: &Expr| is_sequence(value) || is_map(value);
        replaced(action, |kind| matches!(kind, ActionKind::Assign(to, from) if is_whole(to) && is_whole(from)))
    }),
    ("elements of sequences are not written", |action| {
        let is_element = |place: &Expr| matches!(&place.kind, ExprKind::Index(base, _) if is_sequence(base));
        replaced(action, |kind| matches!(kind, ActionKind::Assign(place, _) if is_element(place)))
    }),
    ("`broadcast` does nothing", |action| replaced(action, |kind| matches!(kind, ActionKind::Broadcast(..)))),
    ("`broadcast` leaves nobody out", |action| match &mut action.kind {
        ActionKind::Broadcast(_, _, except) => except.take().is_some(),
        _ => false,
    }),
    ("`broadcast` leaves out the one beside it", |action| match &mut action.kind {
        ActionKind::Broadcast(_, _, Some(except)) => {
            *except = binary(BinaryOp::Sub, number(1), except.clone());
            true
        }
        _ => false,
    }),
    ("`broadcast` is for the first channel", |action| match &action.kind {
        ActionKind::Broadcast(channels, values, _) => {
            let first = expr(ExprKind::Index(Box::new(channels.clone()), Box::new(number(0))));
            action.kind = ActionKind::Send(first, values.clone());
            true
        }
        _ => false,
    }),
    ("members are not chosen", |action| replaced(action, |kind| matches!(kind, ActionKind::ChooseMember(..)))),
    ("`send` does nothing", |action| replaced(action, |kind| matches!(kind, ActionKind::Send(..)))),
    ("`receive` does nothing", |action| replaced(action, |kind| matches!(kind, ActionKind::Receive(..)))),
    ("the condition of `receive` is ignored", |action| match &mut action.kind {
        ActionKind::Receive(_, _, condition) => condition.take().is_some(),
        _ => false,
    }),
    ("patterns fit everything", |action| patterns(action, |pattern| matches!(pattern, Pattern::Equal(_)))),
    ("what is received is not kept", |action| patterns(action, |pattern| matches!(pattern, Pattern::Bind(_)))),
];

const EXPRESSIONS: &[BendExpr] = &[
    ("`in` is always true", |e| match &e.kind {
        ExprKind::Binary(BinaryOp::In, ..) => {
            *e = truth(true);
            true
        }
        _ => false,
    }),
    ("`in` is true of the empty set", |e| match &mut e.kind {
        ExprKind::Binary(BinaryOp::In, left, right) if !matches!(right.kind, ExprKind::Set(_)) => {
            let empty = expr(ExprKind::Set(Vec::new()));
            let is_empty = binary(BinaryOp::Eq, (**right).clone(), empty);
            let inside = binary(BinaryOp::In, (**left).clone(), (**right).clone());
            *e = binary(BinaryOp::Or, is_empty, inside);
            // What was put in is not bent again.
            true
        }
        _ => false,
    }),
    ("braces have no members", |e| match &mut e.kind {
        ExprKind::Set(members) => !std::mem::take(members).is_empty(),
        _ => false,
    }),
    ("sets lose the last of two members", |e| match &mut e.kind {
        ExprKind::Set(members) if members.len() > 1 => members.pop().is_some(),
        _ => false,
    }),
    ("what is added to a set is not in it", |e| match &e.kind {
        ExprKind::Binary(BinaryOp::Add, left, right) if matches!(right.kind, ExprKind::Set(_)) => {
            *e = (**left).clone();
            true
        }
        _ => false,
    }),
    ("`count` is at most 1", |e| match &mut e.kind {
        ExprKind::Quantifier(kind @ Quantifier::Count, ..) => {
            *kind = Quantifier::Any;
            true
        }
        _ => false,
    }),
    ("`sum` leaves out the last", |e| match &mut e.kind {
        ExprKind::Quantifier(Quantifier::Sum, _, domain, _) => match &mut **domain {
            Domain::Range(_, hi) => {
                *hi = binary(BinaryOp::Sub, hi.clone(), number(1));
                true
            }
            Domain::Members(_) => false,
        },
        _ => false,
    }),
    ("totals over members are 0", |e| match &e.kind {
        ExprKind::Quantifier(Quantifier::Sum | Quantifier::Count, _, domain, _)
            if matches!(**domain, Domain::Members(_)) =>
        {
            *e = number(0);
            true
        }
        _ => false,
    }),
    ("quantifiers over members are true", |e| match &e.kind {
        ExprKind::Quantifier(Quantifier::All | Quantifier::Any, _, domain, _)
            if matches!(**domain, Domain::Members(_)) =>
        {
            *e = truth(true);
            true
        }
        _ => false,
    }),
    ("`let` gives 0", |e| match &mut e.kind {
        ExprKind::Let(_, value, _) => {
            **value = number(0);
            true
        }
        _ => false,
    }),
    ("`size` is 0", |e| of_call(e, "size", number(0))),
    ("`len` is 0", |e| of_call(e, "len", number(0))),
    ("`full` is false", |e| of_call(e, "full", truth(false))),
    ("`empty` is false", |e| of_call(e, "empty", truth(false))),
    ("`append` adds nothing", |e| first_argument(e, "append")),
    ("`tail` is all", |e| first_argument(e, "tail")),
    ("`remove` removes nothing", |e| first_argument(e, "remove")),
    ("`head` is the last element", |e| renamed(e, "head", "last")),
    ("`last` is the first element", |e| renamed(e, "last", "head")),
    ("no key is among the keys", |e| of_call(e, "keys", expr(ExprKind::Set(Vec::new())))),
    ("braces list the last element first", |e| match &mut e.kind {
        ExprKind::Set(elements) if elements.len() > 1 => {
            elements.reverse();
            true
        }
        _ => false,
    }),
    ("the first element has the number 1", |e| match &mut e.kind {
        ExprKind::Index(base, at) if is_sequence(base) => {
            **at = binary(BinaryOp::Sub, (**at).clone(), number(1));
            true
        }
        _ => false,
    }),
    ("sequences are never equal", |e| match &e.kind {
        ExprKind::Binary(BinaryOp::Eq, left, _) if is_sequence(left) => {
            *e = truth(false);
            true
        }
        _ => false,
    }),
    ("maps are never equal", |e| match &e.kind {
        ExprKind::Binary(BinaryOp::Eq, left, _) if is_map(left) => {
            *e = truth(false);
            true
        }
        _ => false,
    }),
    ("`peek` is another message", |e| match &e.kind {
        ExprKind::Binary(BinaryOp::Eq, left, _) if matches!(&left.kind, ExprKind::Call(n, _) if n.text == "peek") => {
            *e = truth(false);
            true
        }
        _ => false,
    }),
    ("whole values are never equal", |e| match &e.kind {
        ExprKind::Binary(BinaryOp::Eq, left, _) if ["r0", "r1", "a0", "a1"].iter().any(|name| is_named(left, name)) => {
            *e = truth(false);
            true
        }
        _ => false,
    }),
];

fn replaced(action: &mut Action, wanted: impl Fn(&ActionKind) -> bool) -> bool {
    let found = wanted(&action.kind);
    if found {
        action.kind = ActionKind::Skip;
    }
    found
}

fn patterns(action: &mut Action, wanted: fn(&Pattern) -> bool) -> bool {
    let ActionKind::Receive(_, patterns, None) = &mut action.kind else { return false };
    let mut found = false;
    for pattern in patterns.iter_mut().filter(|pattern| wanted(pattern)) {
        *pattern = Pattern::Any(birk_ir::Span::default());
        found = true;
    }
    found
}

/// The channel at which a statement, or the first test of one, looks.
fn peeked(kind: &ActionKind) -> Option<Expr> {
    fn inside(e: &Expr) -> Option<Expr> {
        match &e.kind {
            ExprKind::Call(name, args) if name.text == "peek" => args.first().cloned(),
            ExprKind::Unary(_, a) => inside(a),
            ExprKind::Binary(_, a, b) => inside(a).or_else(|| inside(b)),
            ExprKind::Conditional(a, b, c) => inside(a).or_else(|| inside(b)).or_else(|| inside(c)),
            _ => None,
        }
    }
    match kind {
        ActionKind::Assign(_, a) | ActionKind::Assert(a, _) | ActionKind::Assume(a) | ActionKind::Await(a) => inside(a),
        _ => None,
    }
}

/// Makes an element of an array of channels the first one.
fn first_channel(e: &mut Expr) -> bool {
    let ExprKind::Index(base, at) = &mut e.kind else { return false };
    let is_channel = ["c", "c0", "c1"].iter().any(|name| is_named(base, name)) || first_channel(base);
    if is_channel {
        **at = number(0);
    }
    is_channel
}

fn of_call(e: &mut Expr, name: &str, value: Expr) -> bool {
    let found = matches!(&e.kind, ExprKind::Call(called, _) if called.text == name);
    if found {
        *e = value;
    }
    found
}

/// Makes a call what its first argument is.
fn first_argument(e: &mut Expr, name: &str) -> bool {
    let ExprKind::Call(called, args) = &mut e.kind else { return false };
    let found = called.text == name;
    if found {
        *e = args.swap_remove(0);
    }
    found
}

fn renamed(e: &mut Expr, from: &str, to: &str) -> bool {
    let ExprKind::Call(called, _) = &mut e.kind else { return false };
    let found = called.text == from;
    if found {
        to.clone_into(&mut called.text);
    }
    found
}

fn is_sequence(e: &Expr) -> bool {
    is_named(e, "q0") || is_named(e, "q1")
}

fn is_map(e: &Expr) -> bool {
    is_named(e, "m0") || is_named(e, "m1")
}

fn is_named(e: &Expr, text: &str) -> bool {
    matches!(&e.kind, ExprKind::Name(name) if name == text)
}

/// Visits every statement and every expression, the inner ones first; whether one was bent.
struct Bender<'b> {
    statement: &'b dyn Fn(&mut Action) -> bool,
    expr: &'b dyn Fn(&mut Expr) -> bool,
    found: bool,
}

impl Bender<'_> {
    fn system(&mut self, system: &mut System) {
        for item in &mut system.items {
            match item {
                Item::Thread(thread) => {
                    self.block(&mut thread.body);
                    for step in thread.locations.iter_mut().flat_map(|location| &mut location.transformations) {
                        step.guard.iter_mut().for_each(|guard| self.expr(guard));
                        self.block(&mut step.actions);
                    }
                }
                Item::Procedure(procedure) => self.block(&mut procedure.body),
                Item::Function(function) => self.expr(&mut function.body),
                _ => {}
            }
        }
    }

    fn block(&mut self, block: &mut [Action]) {
        for action in block {
            self.inside(action);
            self.found |= (self.statement)(action);
        }
    }

    fn inside(&mut self, action: &mut Action) {
        match &mut action.kind {
            ActionKind::Assign(_, a) | ActionKind::ChooseMember(_, a) => self.expr(a),
            ActionKind::Assert(a, _) | ActionKind::Assume(a) | ActionKind::Await(a) => self.expr(a),
            ActionKind::Choose(_, a, b) => [a, b].into_iter().for_each(|e| self.expr(e)),
            ActionKind::Start(_, args) | ActionKind::Send(_, args) => args.iter_mut().for_each(|e| self.expr(e)),
            ActionKind::Broadcast(_, values, except) => values.iter_mut().chain(except).for_each(|e| self.expr(e)),
            ActionKind::Receive(_, _, condition) => condition.iter_mut().for_each(|e| self.expr(e)),
            ActionKind::If(branches, otherwise) => {
                for (condition, branch) in branches {
                    self.expr(condition);
                    self.block(branch);
                }
                otherwise.iter_mut().for_each(|branch| self.block(branch));
            }
            ActionKind::While(condition, body) => {
                self.expr(condition);
                self.block(body);
            }
            ActionKind::For(_, _, _, body) | ActionKind::Atomic(body) => self.block(body),
            ActionKind::Either(branches) => branches.iter_mut().for_each(|branch| self.block(branch)),
            ActionKind::Skip | ActionKind::Call(..) | ActionKind::Break | ActionKind::Return | ActionKind::Goto(_) => {}
        }
    }

    fn expr(&mut self, e: &mut Expr) {
        match &mut e.kind {
            ExprKind::Unary(_, a) => self.expr(a),
            ExprKind::Binary(_, a, b) | ExprKind::Let(_, a, b) => [a, b].into_iter().for_each(|e| self.expr(e)),
            ExprKind::Conditional(a, b, c) => [a, b, c].into_iter().for_each(|e| self.expr(e)),
            ExprKind::Quantifier(_, _, _, body) => self.expr(body),
            _ => {}
        }
        self.found |= (self.expr)(e);
    }
}

#[test]
fn bent_constructs_are_noticed() {
    let programs: Vec<_> = programs().into_iter().chain(cases(160..400)).collect();
    let mut rules: Vec<Rule> = Vec::new();
    for (name, bend) in STATEMENTS {
        rules.push((name, Box::new(|system| bent(system, bend, &|_| false))));
    }
    for (name, bend) in EXPRESSIONS {
        rules.push((name, Box::new(|system| bent(system, &|_| false, bend))));
    }
    rules.push(("channels lose nothing", Box::new(|system| unmarked(system, |marks| &mut marks.lossy))));
    rules.push(("channels double nothing", Box::new(|system| unmarked(system, |marks| &mut marks.duplicating))));
    rules.push(("channels swap nothing", Box::new(|system| unmarked(system, |marks| &mut marks.reordering))));
    let mut unnoticed = Vec::new();
    for (name, rule) in rules {
        let notices = |case: &birk_agreement::case::Case| {
            let mut system = case.system.clone();
            let is_bent = rule(&mut system);
            // A bent tree may have other types, at which its interpreter stops.
            let meant = || faithful(&system, &case.program, &case.answer);
            is_bent && catch_unwind(AssertUnwindSafe(meant)).is_ok_and(|checked| checked.is_err())
        };
        if !programs.iter().any(notices) {
            unnoticed.push(name);
        }
    }
    assert!(unnoticed.is_empty(), "nobody notices: {unnoticed:?}");
}

fn bent(system: &mut System, statement: &dyn Fn(&mut Action) -> bool, expr: &dyn Fn(&mut Expr) -> bool) -> bool {
    let mut bender = Bender { statement, expr, found: false };
    bender.system(system);
    bender.found
}

fn unmarked(system: &mut System, mark: fn(&mut birk_lang::ast::ChannelMarks) -> &mut bool) -> bool {
    let mut found = false;
    for item in &mut system.items {
        if let Item::Variables(variables) = item
            && let TypeKind::Channel(marks, ..) = &mut variables.ty.kind
        {
            found |= std::mem::take(mark(marks));
        }
    }
    found
}

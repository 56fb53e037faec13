//! From a tree to a program.

pub(crate) mod chain;
pub(crate) mod channel;
pub(crate) mod property;
pub(crate) mod step;
pub(crate) mod trace;
pub(crate) mod value;

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use birk_ir::text::{NOT_RUNNING, TERMINATED};
use birk_ir::{
    Diagnostic, Expr, Layout, Location, Op, Place, Program, Span, Thread, ThreadKind, ThreadRole, ValueKind, VarId,
    Variable,
};

use crate::flow::{Flow, Local, Range, Scope, build};
use crate::fold::{fold, with_local};
use crate::process;
use crate::sema::{Kind, Proc, World};
use crate::syntax::ast::{self, ExprKind, Model, Pattern, Stmt, StmtKind};
use step::Fine;
use value::Lowering;

/// A model may not have more transitions.
const MAX_TRANSITIONS: usize = 1 << 18;

/// What a model became.
pub(crate) struct Lowered {
    pub(crate) program: Option<Program>,
    pub(crate) conditions: Vec<Expr>,
    pub(crate) world: World,
}

/// Lowers a model; `most` is how many processes there may be, where that was given.
pub(crate) fn lower(
    model: &Model,
    files: &[(String, String)],
    constants: Vec<(String, String)>,
    most: Option<i64>,
    conditions: &[ast::Expr],
) -> Lowered {
    let mut world = World { moving: moving(model), ..World::default() };
    world.declare_mtypes(&model.mtypes);
    for (name, fields) in &model.types {
        if world.types.insert(Rc::clone(&name.text), fields.clone()).is_some() {
            world.error("E2002", name.span, format!("type `{}` is declared twice", name.text), "again");
        }
    }
    globals(&mut world, model);
    let claims = flows(&mut world, model);
    let lines = Lines::new(files);
    process::declare(&mut world, model, most);
    begin(&mut world);
    let watch = watch(&mut world, model, &lines);
    let receivers = step::receivers(&world);
    let mut steps: chain::Steps = Vec::new();
    for instance in 0..world.instances.len() {
        let states = world.procs[world.instances[instance].proc].states.clone();
        steps.push(states.iter().map(|state| step::steps(&mut world, &receivers, instance, *state)).collect());
    }
    let processes = (0..world.instances.len()).map(|instance| kind(&world, instance, &lines));
    let kinds: Vec<ThreadKind> = processes.chain(watch).collect();
    let marks = [at_mark(&kinds, |location| location.accept), at_mark(&kinds, |location| location.progress)];
    let mut asked = property::properties(&mut world, model, &claims, marks);
    let conditions = conditions.iter().map(|expr| asked.condition_elsewhere(&mut world, expr)).collect();
    if world.diagnostics.iter().any(|d| !d.is_warning()) {
        return Lowered { program: None, conditions: Vec::new(), world };
    }
    let program = assemble(&mut world, &steps, kinds, asked, constants);
    Lowered { program, conditions, world }
}

impl property::Asked {
    fn condition_elsewhere(&mut self, world: &mut World, expr: &ast::Expr) -> Expr {
        let mut lowering = Lowering::new(world, None, &Scope::default());
        lowering.is_property = true;
        let value = lowering.value(expr);
        let wrong = Expr::any(value.hazards.iter().map(|hazard| hazard.when.clone()).collect());
        wrong.negate().and(value.truth())
    }
}

/// The names of channels that are assigned to or received into somewhere.
fn moving(model: &Model) -> HashSet<Rc<str>> {
    let mut found = HashSet::new();
    let bodies = model.procs.iter().map(|proc| &proc.body).chain(model.claims.iter().map(|claim| &claim.body));
    for body in bodies {
        walk(body, &mut |stmt| match &stmt.kind {
            StmtKind::Assign(place, _)
            | StmtKind::For { variable: place, .. }
            | StmtKind::ForIn { variable: place, .. }
            | StmtKind::Select { variable: place, .. } => {
                found.insert(Rc::clone(&place.parts[0].0.text));
            }
            StmtKind::Receive { args, .. } => {
                for arg in args {
                    if let Pattern::Place(place) = arg {
                        found.insert(Rc::clone(&place.parts[0].0.text));
                    }
                }
            }
            _ => {}
        });
    }
    found
}

/// Calls `visit` on all statements.
fn walk(stmts: &[Stmt], visit: &mut dyn FnMut(&Stmt)) {
    for stmt in stmts {
        visit(stmt);
        match &stmt.kind {
            StmtKind::Label(_, inner) => walk(std::slice::from_ref(inner), visit),
            StmtKind::Unless(parts) => {
                walk(std::slice::from_ref(&parts.0), visit);
                walk(std::slice::from_ref(&parts.1), visit);
            }
            StmtKind::If(options) | StmtKind::Do(options) => options.iter().for_each(|option| walk(option, visit)),
            StmtKind::Atomic(body)
            | StmtKind::DStep(body)
            | StmtKind::Block(body)
            | StmtKind::Inlined(body)
            | StmtKind::For { body, .. }
            | StmtKind::ForIn { body, .. } => walk(body, visit),
            _ => {}
        }
    }
}

fn globals(world: &mut World, model: &Model) {
    for decl in &model.globals {
        let name = decl.name.text.to_string();
        if world.globals.contains_key(&decl.name.text) || world.mtypes.contains_key(&decl.name.text) {
            world.error("E2002", decl.name.span, format!("`{name}` is declared twice"), "again");
            continue;
        }
        if decl.hidden {
            let message = "a `hidden` variable is part of the state here";
            let label = "SPIN leaves it out, and may count fewer states";
            world.diagnostics.push(birk_ir::Diagnostic::new("W2001", decl.name.span, message, label));
        }
        let (var, group) = world.declare_with_channels(decl, &name, None);
        if let (Some(group), None) = (group, var.fixed) {
            world.chan_groups.extend(var.leaves.iter().map(|leaf| (leaf.id, group)));
        }
        world.globals.insert(Rc::clone(&decl.name.text), var.clone());
        let mut fine = Fine::default();
        if var.fixed.is_none() {
            Lowering::new(world, None, &Scope::default()).initial(decl, &var, &mut fine);
        }
        apply(world, &fine.ops);
    }
}

/// Executes operations in the initial state.
fn apply(world: &mut World, ops: &[Op]) {
    let mut locals: Vec<(birk_ir::LocalId, i64)> = Vec::new();
    for op in ops {
        let value = |world: &World, expr: &Expr| {
            let plain = locals.iter().fold(expr.clone(), |expr, (local, value)| with_local(&expr, *local, *value));
            let initial = |variable: VarId, index: i64| {
                let all = &world.variables[variable.index()].initial;
                Some(usize::try_from(index).ok().and_then(|index| all.get(index)).copied().unwrap_or(0))
            };
            fold(&plain, &initial).as_const().unwrap_or(0)
        };
        match op {
            Op::Assign(Place { variable, index }, expr) => {
                let index = index.as_ref().map_or(0, |index| value(world, index));
                let new = value(world, expr);
                let all = &mut world.variables[variable.index()].initial;
                if let Some(element) = usize::try_from(index).ok().and_then(|index| all.get_mut(index)) {
                    *element = new;
                }
            }
            Op::Let(local, expr) => {
                let new = value(world, expr);
                locals.push((*local, new));
            }
            Op::Check(condition, fault) => {
                if value(world, condition) == 0 {
                    let fault = world.faults[fault.index()].clone();
                    world.error("E2009", fault.span, format!("in the initial state: {}", fault.message), "here");
                }
            }
            Op::Choose(..) | Op::Assume(_) | Op::Require(_) => {}
        }
    }
}

/// The flow of what has no variables: a claim, or a trace.
fn flow_of(claim: &ast::Claim, diagnostics: &mut Vec<Diagnostic>) -> Flow {
    build(&[], &claim.body, claim.end, &[], &|_, _, _| None, diagnostics)
}

/// What watches the order of messages.
fn watch(world: &mut World, model: &Model, lines: &Lines<'_>) -> Option<ThreadKind> {
    let mut found = None;
    for (at, trace) in model.traces.iter().enumerate() {
        if at > 0 {
            let another = Diagnostic::new(
                "E2034",
                trace.name.span,
                "a model has at most one `trace` or `notrace`",
                "another one",
            );
            world.diagnostics.push(Diagnostic { help: Some("check one of them at a time".into()), ..another });
            continue;
        }
        let mut diagnostics = Vec::new();
        let flow = flow_of(trace, &mut diagnostics);
        world.diagnostics.extend(diagnostics);
        let names = place_names(&flow, &flow.states(), lines);
        found = Some(trace::declare(world, trace, &flow, names));
    }
    found
}

/// The flows of all processes, and of the claims.
fn flows(world: &mut World, model: &Model) -> Vec<Flow> {
    let referred = referred(model);
    let mut diagnostics = Vec::new();
    let mut procs = Vec::new();
    let mut claims = Vec::new();
    {
        let range_of = |place: &ast::Place, scope: &Scope, locals: &[Local]| {
            let [(name, index)] = &place.parts[..] else { return None };
            let (is_channel, length) = match scope.find(&name.text) {
                Some(local) => {
                    let decl = &locals[local].decl;
                    (decl.ty == ast::TypeName::Chan, decl.length.as_ref().and_then(|length| world.constant_of(length)))
                }
                None => {
                    let leaf = world.globals.get(&name.text)?.leaves.first()?;
                    (leaf.scalar.kind == Kind::Chan, leaf.lengths[0].map(i64::from))
                }
            };
            let is_one = is_channel && (length.is_none() || index.is_some());
            if is_one { Some(Range::Messages) } else { length.map(Range::Indices) }
        };
        for proc in &model.procs {
            let of = |(name, label): &(Rc<str>, Rc<str>)| (*name == proc.name.text).then(|| Rc::clone(label));
            let labels: Vec<Rc<str>> = referred.iter().filter_map(of).collect();
            let flow = build(&proc.params, &proc.body, proc.end, &labels, &range_of, &mut diagnostics);
            let states = flow.states();
            let position = states.iter().enumerate().map(|(n, state)| (*state, n)).collect();
            let (name, provided) = (proc.name.clone(), proc.provided.clone());
            procs.push(Proc { name, provided, flow, instances: Vec::new(), states, position });
        }
        for claim in &model.claims {
            claims.push(flow_of(claim, &mut diagnostics));
        }
    }
    world.diagnostics.extend(diagnostics);
    for (at, proc) in procs.iter().enumerate() {
        if procs[..at].iter().any(|other| other.name.text == proc.name.text) {
            world.error("E2002", proc.name.span, format!("`{}` is declared twice", proc.name.text), "again");
        }
    }
    world.procs = procs;
    claims
}

/// The labels that formulas, claims and processes refer to, with their proctypes.
fn referred(model: &Model) -> Vec<(Rc<str>, Rc<str>)> {
    let mut found = Vec::new();
    let mut note = |expr: &ast::Expr| {
        if let ExprKind::At(name, _, label) = &expr.kind {
            found.push((Rc::clone(&name.text), Rc::clone(&label.text)));
        }
    };
    for (_, formula) in &model.formulas {
        visit(formula, &mut note);
    }
    let bodies = model.procs.iter().map(|proc| &proc.body).chain(model.claims.iter().map(|claim| &claim.body));
    for body in bodies {
        walk(body, &mut |stmt| match &stmt.kind {
            StmtKind::Assign(_, expr) | StmtKind::Assert(expr) | StmtKind::Wait(expr) => visit(expr, &mut note),
            StmtKind::Send { args, .. } => args.iter().for_each(|arg| visit(arg, &mut note)),
            _ => {}
        });
    }
    found
}

fn visit(expr: &ast::Expr, hear: &mut dyn FnMut(&ast::Expr)) {
    hear(expr);
    match &expr.kind {
        ExprKind::Unary(_, inner) | ExprKind::Temporal(_, inner) => visit(inner, hear),
        ExprKind::Binary(_, both) | ExprKind::Between(_, both) => {
            visit(&both.0, hear);
            visit(&both.1, hear);
        }
        ExprKind::Cond(parts) => {
            visit(&parts.0, hear);
            visit(&parts.1, hear);
            visit(&parts.2, hear);
        }
        ExprKind::Run(_, args) => args.iter().for_each(|arg| visit(arg, hear)),
        _ => {}
    }
}

/// The processes that run from the start.
fn begin(world: &mut World) {
    for instance in 0..world.instances.len() {
        if world.instances[instance].is_active {
            let ops = Lowering::new(world, None, &Scope::default()).start(instance, &[]);
            apply(world, &ops);
        }
    }
}

/// Where lines begin.
struct Lines<'f> {
    files: &'f [(String, String)],
}

impl<'f> Lines<'f> {
    fn new(files: &'f [(String, String)]) -> Self {
        Self { files }
    }

    fn line(&self, span: Span) -> String {
        let Some((name, text)) = self.files.get(span.file as usize) else { return "0".into() };
        let before = text.get(..span.start as usize).unwrap_or_default();
        let number = before.matches('\n').count() + 1;
        if name.is_empty() { format!("line {number}") } else { format!("{name} line {number}") }
    }
}

/// What places are called: by their labels, or by their lines.
fn place_names(flow: &Flow, states: &[usize], lines: &Lines<'_>) -> Vec<String> {
    let mut names: HashMap<String, usize> = HashMap::new();
    let name = |state: &usize| {
        let element = &flow.elements[*state];
        let plain = match (element.labels.first(), &element.node) {
            (Some(label), _) => label.to_string(),
            (None, crate::flow::Node::End) => "end".into(),
            _ => lines.line(element.span),
        };
        let number = names.entry(plain.clone()).or_insert(0);
        *number += 1;
        if *number == 1 { plain } else { format!("{plain} ({number})") }
    };
    states.iter().map(name).collect()
}

fn kind(world: &World, instance: usize, lines: &Lines<'_>) -> ThreadKind {
    let this = &world.instances[instance];
    let proc = &world.procs[this.proc];
    let mut locations = Vec::new();
    for (&state, name) in proc.states.iter().zip(place_names(&proc.flow, &proc.states, lines)) {
        let [end, accept, progress] = proc.flow.marks[state];
        locations.push(Location { name, span: proc.flow.elements[state].span, end, accept, progress });
    }
    ThreadKind {
        name: this.name.clone(),
        role: ThreadRole::Thread,
        span: proc.name.span,
        locations,
        counter: this.counter,
        copies: 1,
        indexed: false,
        fair: false,
        crashed: None,
    }
}

/// Some process is at a place with a label.
fn at_mark(kinds: &[ThreadKind], is_marked: impl Fn(&Location) -> bool) -> Expr {
    let mut any = Vec::new();
    for kind in kinds {
        for (number, _) in kind.locations.iter().enumerate().filter(|(_, location)| is_marked(location)) {
            any.push(Expr::element(kind.counter, Expr::Const(0)).equals(number as i64));
        }
    }
    Expr::any(any)
}

fn assemble(
    world: &mut World,
    steps: &chain::Steps,
    kinds: Vec<ThreadKind>,
    asked: property::Asked,
    constants: Vec<(String, String)>,
) -> Option<Program> {
    let (mut threads, mut transitions) = (Vec::new(), Vec::new());
    let mut spent = 0;
    for (instance, this) in world.instances.iter().enumerate() {
        let mut at = Vec::new();
        for position in 0..kinds[instance].locations.len() {
            let start = transitions.len() as u32;
            for mut transition in chain::transitions(world, steps, instance, position, &mut spent) {
                transition.ordinal = transitions.len() as u32 - start;
                transitions.push(transition);
            }
            at.push((start, transitions.len() as u32));
            if transitions.len() > MAX_TRANSITIONS {
                let span = world.procs[this.proc].name.span;
                let message = format!("this model has more than {MAX_TRANSITIONS} transitions");
                world.error("E2009", span, message, "use fewer processes");
                return None;
            }
        }
        threads.push(Thread { name: this.name.clone(), kind: instance, copy: 0, at });
    }
    // What watches has no steps of its own.
    for (number, watch) in kinds.iter().enumerate().skip(world.instances.len()) {
        let none = (transitions.len() as u32, transitions.len() as u32);
        let at = vec![none; watch.locations.len()];
        threads.push(Thread { name: watch.name.clone(), kind: number, copy: 0, at });
    }
    let mut variables = std::mem::take(&mut world.variables);
    for (number, kind) in kinds.iter().enumerate() {
        let places = kind.locations.iter().map(|location| location.name.clone());
        let is_active = world.instances.get(number).is_none_or(|instance| instance.is_active);
        let elsewhere = if is_active { TERMINATED } else { NOT_RUNNING };
        variables[kind.counter.index()].values = ValueKind::Names(places.chain([elsewhere.into()]).collect());
    }
    let fault = Variable::of_faults(&mut variables, &transitions);
    let (mut ends, mut gone) = (Vec::new(), Vec::new());
    for kind in &kinds {
        let proper = kind.locations.iter().enumerate().filter(|(_, l)| l.end).map(|(i, _)| i as i64);
        let here = Expr::element(kind.counter, Expr::Const(0));
        ends.push(Expr::any(proper.chain([kind.idle()]).map(|value| here.clone().equals(value)).collect()));
        gone.push(here.equals(kind.idle()));
    }
    // Where no process is left, SPIN does not ask how far a trace has come.
    gone.truncate(world.instances.len());
    let is_watched = world.watch.is_some();
    let valid_end = Expr::all(ends);
    let valid_end = if is_watched { Expr::all(gone).or(valid_end) } else { valid_end };
    Some(Program {
        system: "model".into(),
        constants,
        channels: std::mem::take(&mut world.channels),
        layout: Layout::of(&variables),
        variables,
        choices: Vec::new(),
        valid_end,
        kinds,
        threads,
        transitions,
        faults: std::mem::take(&mut world.faults),
        fault,
        property_faults: asked.faults,
        properties: asked.properties,
    })
}

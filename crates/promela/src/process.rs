//! Which processes there can be: those that run from the start, and those that `run` may start.

use std::collections::HashMap;

use birk_ir::VarRole;

use crate::flow::{Flow, Node};
use crate::sema::{Instance, Kind, Scalar, World};
use crate::syntax::ast::{Expr, ExprKind, Model};

/// So many processes may be started where nothing says how many.
const DEFAULT: i64 = 12;
/// SPIN's own limit.
const MOST: i64 = 255;

/// The proctype that a statement starts.
fn started(node: &Node) -> Option<&str> {
    match node {
        Node::Wait(Expr { kind: ExprKind::Run(name, _), .. })
        | Node::Assign(_, Expr { kind: ExprKind::Run(name, _), .. }) => Some(&name.text),
        _ => None,
    }
}

/// How often each proctype is started by one process with this flow; `None` where that is not known.
fn starts(flow: &Flow) -> HashMap<String, Option<i64>> {
    let mut found = HashMap::new();
    let states = flow.states();
    for &state in &states {
        for leaf in flow.leaves(state) {
            let Some(name) = started(&flow.elements[leaf.element].node) else { continue };
            let again = can_repeat(flow, leaf.target, leaf.element);
            let entry = found.entry(name.to_owned()).or_insert((Vec::new(), Some(0)));
            if entry.0.contains(&leaf.element) {
                continue;
            }
            entry.0.push(leaf.element);
            entry.1 = if again { None } else { entry.1.map(|count: i64| count + 1) };
        }
    }
    found.into_iter().map(|(name, (_, count))| (name, count)).collect()
}

/// Whether an element is executed again from a state on.
fn can_repeat(flow: &Flow, from: usize, element: usize) -> bool {
    let mut seen = vec![false; flow.elements.len()];
    let mut open = vec![from];
    while let Some(state) = open.pop() {
        if std::mem::replace(&mut seen[state], true) {
            continue;
        }
        for leaf in flow.leaves(state) {
            if leaf.element == element {
                return true;
            }
            if !matches!(flow.elements[leaf.element].node, Node::End) {
                open.push(leaf.target);
            }
        }
    }
    false
}

/// What is known of the processes, by proctype.
struct Bounds {
    is_started: Vec<bool>,
    does_start: Vec<bool>,
    most: i64,
}

/// Which proctypes can be started, and how many processes there can be at once.
fn bounds(world: &World, active: &[i64]) -> Bounds {
    let table: Vec<HashMap<String, Option<i64>>> = world.procs.iter().map(|proc| starts(&proc.flow)).collect();
    let by_name = |name: &str| world.procs.iter().position(|proc| &*proc.name.text == name);
    let mut is_started = vec![false; world.procs.len()];
    // How many of each there can be in all, in rounds: a cycle never settles.
    let mut counts: Vec<Option<i64>> = active.iter().map(|count| Some(*count)).collect();
    let mut is_settled = false;
    for _ in 0..=world.procs.len() {
        let mut next: Vec<Option<i64>> = active.iter().map(|count| Some(*count)).collect();
        for (proc, starts) in table.iter().enumerate() {
            if counts[proc] == Some(0) {
                continue;
            }
            for (name, count) in starts {
                let Some(other) = by_name(name) else { continue };
                is_started[other] = true;
                let more = counts[proc].zip(*count).map(|(own, each)| own.saturating_mul(each));
                next[other] = next[other].zip(more).map(|(a, b)| a.saturating_add(b));
            }
        }
        is_settled = next == counts;
        counts = next;
        if is_settled {
            break;
        }
    }
    let total = counts.iter().copied().sum::<Option<i64>>().filter(|_| is_settled);
    let fixed: i64 = active.iter().sum();
    let does_start = table.iter().map(|starts| !starts.is_empty()).collect();
    Bounds { is_started, does_start, most: total.unwrap_or(fixed + DEFAULT).clamp(fixed, MOST) }
}

/// Makes all processes and their variables.
pub(crate) fn declare(world: &mut World, model: &Model, given: Option<i64>) {
    let mut active = Vec::new();
    for proc in &model.procs {
        let count = proc.active.as_ref().map_or(Some(0), |count| world.constant(count, "the number of processes"));
        active.push(count.unwrap_or(0).clamp(0, MOST));
    }
    let Bounds { is_started, does_start, most } = bounds(world, &active);
    let fixed: i64 = active.iter().sum();
    let is_any = is_started.iter().any(|started| *started);
    world.most = given.filter(|_| is_any).map_or(most, |given| given.clamp(fixed, MOST));
    let number = Scalar { lo: 0, hi: world.most, kind: Kind::Number };
    let span = birk_ir::Span::default();
    let running = world.variable("_nr_pr", VarRole::Global, number, Vec::new(), span);
    world.variables[running.index()].initial = vec![fixed];
    world.running = Some(running);
    let mut wanted = Vec::new();
    let mut pid = 0;
    for (proc, count) in active.iter().enumerate() {
        for _ in 0..*count {
            wanted.push((proc, pid, true));
            pid += 1;
        }
    }
    for (proc, _) in is_started.iter().enumerate().filter(|(_, started)| **started) {
        // Whoever starts a process is older.
        let starters = wanted.iter().filter(|(proc, _, is_active)| *is_active && does_start[*proc]);
        let first = starters.map(|(_, pid, _)| pid + 1).min().unwrap_or(world.most);
        for pid in first..world.most {
            if !wanted.contains(&(proc, pid, true)) {
                wanted.push((proc, pid, false));
            }
        }
    }
    wanted.sort_by_key(|(_, pid, _)| *pid);
    for (proc, pid, is_active) in wanted {
        instance(world, proc, pid, is_active, |other| active[other] == 1 && !is_started[other]);
    }
}

fn instance(world: &mut World, proc: usize, pid: i64, is_active: bool, is_single: impl Fn(usize) -> bool) {
    let text = world.procs[proc].name.text.to_string();
    let name = if is_single(proc) { text } else { format!("{text}[{pid}]") };
    let kind = world.instances.len();
    let idle = world.procs[proc].states.len() as i64;
    let scalar = Scalar { lo: 0, hi: idle, kind: Kind::Number };
    let span = world.procs[proc].name.span;
    let counter = world.variable(&format!("{name}@"), VarRole::Counter(kind), scalar, vec![1], span);
    world.variables[counter.index()].initial = vec![idle];
    let locals = world.procs[proc].flow.locals.clone();
    let mut vars = Vec::new();
    let first = world.groups.len();
    for local in &locals {
        let (var, group) = world.declare_with_channels(&local.decl, &local.name, Some(&(kind, name.clone())));
        if let (Some(group), None) = (group, var.fixed) {
            world.chan_groups.extend(var.leaves.iter().map(|leaf| (leaf.id, group)));
        }
        vars.push(var);
    }
    let groups = (first..world.groups.len()).collect();
    world.procs[proc].instances.push(kind);
    world.instances.push(Instance { proc, pid, name, counter, vars, is_active, groups });
}

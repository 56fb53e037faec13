//! Random programs with crashes: some threads of another random program may crash. What they do then, and when they may,
//! is what they do and ask for elsewhere.

use birk_lang::ast::{Action, ActionKind, Crashes, Expr, Item, System, Thread};

use crate::random::{Draw as _, Random};
use crate::tree::{action, name};

/// Lets some threads of a system crash.
pub fn with_crashes(system: &mut System, random: &mut Random) {
    for item in &mut system.items {
        if let Item::Thread(thread) = item
            && random.chance(60)
        {
            let conditions = conditions(thread);
            let condition = (!conditions.is_empty() && random.chance(40)).then(|| random.pick(&conditions).clone());
            let crash = random.chance(40).then(|| some(thread, random));
            let restart = random.chance(60).then(|| restart(thread, random));
            for variables in &mut thread.variables {
                variables.durable = random.chance(40);
            }
            thread.crashes = Some(Crashes { condition, crash, restart, span: birk_ir::Span::default() });
        }
    }
}

/// What a thread waits for, where nothing is around it.
fn conditions(thread: &Thread) -> Vec<Expr> {
    let guards = thread.locations.iter().flat_map(|location| &location.transformations);
    let guards = guards.filter_map(|step| step.guard.clone());
    let awaited = thread.body.iter().filter_map(|statement| match &statement.kind {
        ActionKind::Await(condition) | ActionKind::While(condition, _) => Some(condition.clone()),
        ActionKind::If(branches, _) => branches.first().map(|(condition, _)| condition.clone()),
        _ => None,
    });
    guards.chain(awaited).collect()
}

/// Some of what a thread does, without its jumps and labels.
fn some(thread: &Thread, random: &mut Random) -> Vec<Action> {
    let of_steps = thread.locations.iter().flat_map(|location| &location.transformations);
    let all: Vec<&Action> = of_steps.flat_map(|step| &step.actions).chain(&thread.body).filter(|a| stays(a)).collect();
    let count = if all.is_empty() { 0 } else { random.below(3) };
    (0..count).map(|_| Action { labels: Vec::new(), fair: false, ..(*random.pick(&all)).clone() }).collect()
}

/// The same, and sometimes a jump behind it.
fn restart(thread: &Thread, random: &mut Random) -> Vec<Action> {
    let mut restart = some(thread, random);
    if random.chance(15) {
        restart.push(action(ActionKind::Return));
    } else if random.chance(25) && !thread.locations.is_empty() {
        let target = random.pick(&thread.locations).name.text.clone();
        restart.push(action(ActionKind::Goto(name(&target))));
    }
    restart
}

/// Whether a statement leads nowhere else, has no label in it, and is small: it is done once more at each location.
fn stays(statement: &Action) -> bool {
    let all = |block: &[Action]| block.iter().all(stays);
    statement.labels.is_empty()
        && match &statement.kind {
            ActionKind::Break | ActionKind::Return | ActionKind::Goto(_) | ActionKind::While(..) => false,
            ActionKind::If(branches, otherwise) => {
                branches.iter().all(|(_, branch)| all(branch)) && otherwise.as_deref().is_none_or(all)
            }
            ActionKind::For(.., body) | ActionKind::Atomic(body) => all(body),
            ActionKind::Either(branches) => branches.iter().all(|branch| all(branch)),
            _ => true,
        }
}

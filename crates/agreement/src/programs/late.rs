//! Random programs with `timeout`: some guards of another random program wait until nothing else can move.

use birk_lang::ast::{Action, ActionKind, BinaryOp, Expr, Item, System};

use crate::random::{Draw as _, Random};
use crate::tree::{action, binary, named};

/// Makes some guards and statements of a system wait for `timeout`.
pub fn with_timeouts(system: &mut System, random: &mut Random) {
    for item in &mut system.items {
        match item {
            Item::Thread(thread) => {
                for step in thread.locations.iter_mut().flat_map(|location| &mut location.transformations) {
                    if random.chance(25) {
                        step.guard = Some(late(step.guard.take(), random));
                    }
                    statements(&mut step.actions, true, random);
                }
                statements(&mut thread.body, false, random);
            }
            // It may be called inside one step.
            Item::Procedure(procedure) => statements(&mut procedure.body, true, random),
            _ => {}
        }
    }
}

/// A condition that waits for `timeout`, too, or for nothing else.
fn late(condition: Option<Expr>, random: &mut Random) -> Expr {
    let timeout = || named("timeout");
    let Some(condition) = condition else { return timeout() };
    match random.weighted(&[20, 25, 25, 15, 15]) {
        0 => timeout(),
        1 => binary(BinaryOp::And, timeout(), condition),
        2 => binary(BinaryOp::And, condition, timeout()),
        3 => binary(BinaryOp::Or, timeout(), condition),
        _ => binary(BinaryOp::Or, condition, timeout()),
    }
}

fn statements(block: &mut Vec<Action>, in_step: bool, random: &mut Random) {
    for statement in block.iter_mut() {
        match &mut statement.kind {
            ActionKind::Await(condition) if random.chance(40) => {
                *condition = late(Some(condition.clone()), random);
            }
            ActionKind::If(branches, otherwise) => {
                branches.iter_mut().for_each(|(_, branch)| statements(branch, in_step, random));
                otherwise.iter_mut().for_each(|branch| statements(branch, in_step, random));
            }
            ActionKind::While(_, body) | ActionKind::For(.., body) => statements(body, in_step, random),
            ActionKind::Atomic(body) => statements(body, true, random),
            ActionKind::Either(branches) => {
                branches.iter_mut().for_each(|branch| statements(branch, in_step, random));
                // The alternative of whoever waits in vain.
                if random.chance(30) {
                    branches.push(vec![action(ActionKind::Await(named("timeout")))]);
                }
            }
            _ => {}
        }
    }
    let percent = if in_step { 4 } else { 12 };
    if !block.is_empty() && random.chance(percent) {
        // A label of the first statement stays where it is.
        let at = 1 + random.below(block.len());
        block.insert(at, action(ActionKind::Await(named("timeout"))));
    }
}

//! The successor function and the goals: threads, locations, transitions, operations.

use std::ops::Range;

use birk_ir::{Expr, FaultId, Goal, Op, Place, Program, Slot, Transition, TransitionId};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, InstBuilder as _, MemFlagsData, Value, types};
use cranelift_frontend::{FunctionBuilder, Switch, Variable};

use crate::environment::{Bound, Environment, Scratch, span_of};
use crate::expression::Expressions;

/// Emits the successor function of some threads; gives how many 64-bit words the scratch area must have for it.
pub(crate) fn expand(b: &mut FunctionBuilder<'_>, program: &Program, threads: Range<usize>) -> usize {
    let entry = b.create_block();
    b.append_block_params_for_function_params(entry);
    b.switch_to_block(entry);
    let [state, out, steps, end, cut, scratch] = b.block_params(entry)[..] else { unreachable!("six parameters") };
    let (to, step, choice) = (b.declare_var(types::I64), b.declare_var(types::I64), b.declare_var(types::I32));
    b.def_var(to, out);
    b.def_var(step, steps);
    let most = program.transitions.iter().map(|transition| transition.locals as usize).max().unwrap_or(0);
    let scratch = Scratch { address: scratch, values: Scratch::values_for(most) };
    let chooses = program.transitions.iter().flat_map(|t| &t.ops).any(|op| matches!(op, Op::Choose(..)));
    let mut emitter = Emitter { program, b, state, to, step, choice, end, cut, scratch, settled: 0, chooses };
    for thread in threads {
        emitter.thread(thread);
    }
    let settled = emitter.settled;
    let written = b.use_var(step);
    b.ins().return_(&[written]);
    scratch.values + (settled * program.layout.words()).div_ceil(2)
}

/// Emits the evaluation of the goals.
pub(crate) fn evaluate(b: &mut FunctionBuilder<'_>, program: &Program, goals: &[Goal]) {
    let entry = b.create_block();
    b.append_block_params_for_function_params(entry);
    b.switch_to_block(entry);
    let [state, stuck] = b.block_params(entry)[..] else { unreachable!("two parameters") };
    let mut set = b.ins().iconst(types::I64, 0);
    for (goal, Goal::State(bad)) in goals.iter().enumerate() {
        let (yes, done) = (b.create_block(), b.create_block());
        b.append_block_param(done, types::I64);
        let no = b.create_block();
        let mut env = Environment::new(state, program.layout.words());
        Expressions { program, b, stuck: Some(stuck) }.branch(bad, &mut env, yes, no);
        b.switch_to_block(no);
        b.ins().jump(done, &[set.into()]);
        b.switch_to_block(yes);
        let bit = b.ins().iconst(types::I64, (1u64 << goal) as i64);
        let with = b.ins().bor(set, bit);
        b.ins().jump(done, &[with.into()]);
        b.switch_to_block(done);
        set = b.block_params(done)[0];
    }
    b.ins().return_(&[set]);
}

/// Which of at most 64 conditions hold in a state, without a branch where they need none.
pub(crate) fn predicates(b: &mut FunctionBuilder<'_>, program: &Program, conditions: &[Expr]) {
    let entry = b.create_block();
    b.append_block_params_for_function_params(entry);
    b.switch_to_block(entry);
    let [state, stuck] = b.block_params(entry)[..] else { unreachable!("two parameters") };
    let mut set = b.ins().iconst(types::I64, 0);
    for (at, condition) in conditions.iter().enumerate() {
        let mut env = Environment::new(state, program.layout.words());
        let value = Expressions { program, b, stuck: Some(stuck) }.value(condition, &mut env);
        let is_true = b.ins().icmp_imm_s(IntCC::NotEqual, value, 0);
        let bit = b.ins().uextend(types::I64, is_true);
        let bit = b.ins().ishl_imm_s(bit, at as i64);
        set = b.ins().bor(set, bit);
    }
    b.ins().return_(&[set]);
}

struct Emitter<'a, 'f, 'b> {
    program: &'a Program,
    b: &'b mut FunctionBuilder<'f>,
    state: Value,
    /// Where the next successor and its step go.
    to: Variable,
    step: Variable,
    /// The number of the next outcome of the current transition.
    choice: Variable,
    /// Behind the last step there is room for.
    end: Value,
    /// The address of a [`Cut`](crate::Cut).
    cut: Value,
    scratch: Scratch,
    /// States that were settled there, at once.
    settled: usize,
    /// Whether a transition of the program has more than one outcome: how many a state has is then not known for sure.
    chooses: bool,
}

impl<'f> Emitter<'_, 'f, '_> {
    fn thread(&mut self, index: usize) {
        let thread = &self.program.threads[index];
        let kind = &self.program.kinds[thread.kind];
        let done = self.b.create_block();
        let counter = Expr::element(kind.counter, Expr::Const(i64::from(thread.copy)));
        let mut env = self.parent();
        let here = self.expressions().value(&counter, &mut env);
        let mut switch = Switch::new();
        let mut blocks = Vec::new();
        for (location, &(start, end)) in thread.at.iter().enumerate() {
            if start < end {
                let block = self.b.create_block();
                switch.set_entry(location as u128, block);
                blocks.push((block, start, end));
            }
        }
        switch.emit(self.b, here, done);
        for (block, start, end) in blocks {
            self.b.switch_to_block(block);
            for id in start..end {
                self.transition(TransitionId(id));
            }
            self.b.ins().jump(done, &[]);
        }
        self.b.switch_to_block(done);
    }

    fn parent(&self) -> Environment {
        Environment::new(self.state, self.program.layout.words())
    }

    fn expressions(&mut self) -> Expressions<'_, 'f, '_> {
        Expressions { program: self.program, b: &mut *self.b, stuck: None }
    }

    fn transition(&mut self, id: TransitionId) {
        let transition = self.program.transition(id);
        let (enabled, next) = (self.b.create_block(), self.b.create_block());
        let mut env = self.parent();
        self.expressions().branch(&transition.guard, &mut env, enabled, next);
        self.b.switch_to_block(enabled);
        let zero = self.b.ins().iconst(types::I32, 0);
        self.b.def_var(self.choice, zero);
        // What the guard bound may not be known on every path from here.
        self.ops(transition, id, 0, self.parent(), next);
        self.b.switch_to_block(next);
    }

    /// Emits the operations from one on; every outcome ends by going to `next`.
    fn ops(&mut self, transition: &Transition, id: TransitionId, from: usize, mut env: Environment, next: Block) {
        for (at, op) in transition.ops.iter().enumerate().skip(from) {
            if env.is_full() || self.op_needs_settling(op, &env) {
                self.settled = self.settled.max(env.settle(self.b, self.scratch));
            }
            match op {
                Op::Let(local, value) => {
                    self.expressions().bind(*local, value, &mut env);
                    let bound = env.locals.get_mut(local).expect("it was just bound");
                    self.scratch.keep(self.b, *local, bound);
                }
                Op::Assign(place, value) => self.assign(place, value, &mut env),
                Op::Check(condition, fault) => self.check(condition, *fault, id, &mut env, next),
                Op::Assume(condition) => self.assume(condition, id, &mut env, next),
                Op::Require(condition) => {
                    let holds = self.b.create_block();
                    self.expressions().branch(condition, &mut env.clone(), holds, next);
                    self.b.switch_to_block(holds);
                }
                Op::Choose(local, lo, hi) => {
                    let lo = self.expressions().value(lo, &mut env);
                    let hi = self.expressions().value(hi, &mut env);
                    let (head, inside, following) =
                        (self.b.create_block(), self.b.create_block(), self.b.create_block());
                    self.b.append_block_param(head, types::I64);
                    self.b.ins().jump(head, &[lo.into()]);
                    self.b.switch_to_block(head);
                    let value = self.b.block_params(head)[0];
                    let more = self.b.ins().icmp(IntCC::SignedLessThanOrEqual, value, hi);
                    self.b.ins().brif(more, inside, &[], next, &[]);
                    self.b.switch_to_block(inside);
                    env.locals.insert(*local, Bound::Register(value));
                    env.enter_choice();
                    self.ops(transition, id, at + 1, env, following);
                    self.b.switch_to_block(following);
                    let successor = self.b.ins().iadd_imm_s(value, 1);
                    self.b.ins().jump(head, &[successor.into()]);
                    return;
                }
            }
        }
        self.outcome(id, &env);
        self.b.ins().jump(next, &[]);
    }

    fn op_needs_settling(&mut self, op: &Op, env: &Environment) -> bool {
        let expressions = self.expressions();
        let needs = |expr: &Expr| expressions.needs_settling(expr, env);
        match op {
            Op::Let(_, e) | Op::Check(e, _) | Op::Assume(e) | Op::Require(e) => needs(e),
            Op::Choose(_, lo, hi) => needs(lo) || needs(hi),
            Op::Assign(place, value) => needs(value) || place.index.as_ref().is_some_and(needs),
        }
    }

    fn check(&mut self, condition: &Expr, _: FaultId, id: TransitionId, env: &mut Environment, next: Block) {
        let (holds, fails) = (self.b.create_block(), self.b.create_block());
        self.expressions().branch(condition, &mut env.clone(), holds, fails);
        self.b.switch_to_block(fails);
        let mut broken = env.clone();
        let flag = self.program.fault.expect("a program with checks has a fault flag");
        let place = Place { variable: flag, index: None };
        self.assign(&place, &Expr::TRUE, &mut broken);
        self.outcome(id, &broken);
        self.b.ins().jump(next, &[]);
        self.b.switch_to_block(holds);
    }

    fn assume(&mut self, condition: &Expr, id: TransitionId, env: &mut Environment, next: Block) {
        let (holds, fails) = (self.b.create_block(), self.b.create_block());
        self.expressions().branch(condition, &mut env.clone(), holds, fails);
        self.b.switch_to_block(fails);
        let count = self.b.ins().load(types::I64, MemFlagsData::trusted(), self.cut, 0);
        let more = self.b.ins().iadd_imm_s(count, 1);
        self.b.ins().store(MemFlagsData::trusted(), more, self.cut, 0);
        let flags = self.b.ins().load(types::I64, MemFlagsData::trusted(), self.cut, 8);
        let (place, yes) = (self.b.ins().iadd_imm_s(flags, id.index() as i64), self.b.ins().iconst(types::I8, 1));
        self.b.ins().store(MemFlagsData::trusted(), yes, place, 0);
        self.b.ins().jump(next, &[]);
        self.b.switch_to_block(holds);
    }

    fn assign(&mut self, place: &Place, value: &Expr, env: &mut Environment) {
        let slot = *self.program.layout.slot(place.variable);
        if slot.bits == 0 {
            return;
        }
        let index = place.index.as_ref().map_or(Some(0), |index| self.expressions().known(index, env));
        let value = self.expressions().value(value, env);
        let distance = if slot.lo == 0 { value } else { self.b.ins().iadd_imm_s(value, -slot.lo) };
        let narrow = self.b.ins().ireduce(types::I32, distance);
        if let Some(index) = index {
            if let Some(element) = u32::try_from(index).ok().filter(|&element| element < slot.len) {
                let (word, shift) = slot.position(element);
                let bits = self.b.ins().ishl_imm_s(narrow, i64::from(shift));
                let keep = self.b.ins().iconst(types::I32, i64::from((!(slot.mask() << shift)) as i32));
                env.write(self.b, word, keep, bits);
            }
            return;
        }
        let index = place.index.as_ref().expect("only an index can be unknown");
        if self.expressions().is_above(&slot, index, env) {
            return self.assign_in_word(&slot, index, distance, env);
        }
        let (index, inside) = self.expressions().safe_index(&slot, index, env);
        let place = self.expressions().place(&slot, index);
        let mask = self.b.ins().iconst(types::I32, i64::from(slot.mask() as i32));
        let shifted = self.b.ins().ishl(mask, place.shift);
        let mut keep = self.b.ins().bnot(shifted);
        let mut bits = self.b.ins().ishl(narrow, place.shift);
        if let Some(inside) = inside {
            let (all, none) = (self.b.ins().iconst(types::I32, -1), self.b.ins().iconst(types::I32, 0));
            keep = self.b.ins().select(inside, keep, all);
            bits = self.b.ins().select(inside, bits, none);
        }
        match place.offset {
            None => env.write(self.b, slot.word as usize, keep, bits),
            Some(offset) => env.write_late(span_of(&slot), offset, keep, bits),
        }
    }

    /// Writes an element of an array in one word; above it, nothing is written.
    fn assign_in_word(&mut self, slot: &Slot, index: &Expr, distance: Value, env: &mut Environment) {
        let index = self.expressions().value(index, env);
        let place = self.expressions().place(slot, index);
        let mask = self.b.ins().iconst(types::I64, i64::from(slot.mask()));
        let shifted = self.b.ins().ishl(mask, place.shift);
        let end = slot.shift + slot.len * slot.bits;
        let own = self.b.ins().band_imm_u(shifted, (1i64 << end) - 1);
        let moved = self.b.ins().ishl(distance, place.shift);
        let moved = self.b.ins().band(moved, own);
        let (own, bits) = (self.b.ins().ireduce(types::I32, own), self.b.ins().ireduce(types::I32, moved));
        let keep = self.b.ins().bnot(own);
        env.write(self.b, slot.word as usize, keep, bits);
    }

    /// Writes a successor and its step where there is room, and counts it in any case.
    fn outcome(&mut self, id: TransitionId, env: &Environment) {
        let (write, counted) = (self.b.create_block(), self.b.create_block());
        let (step, to, choice) = (self.b.use_var(self.step), self.b.use_var(self.to), self.b.use_var(self.choice));
        let chooses = self.program.transition(id).ops.iter().any(|op| matches!(op, Op::Choose(..)));
        if self.chooses {
            let room = self.b.ins().icmp(IntCC::UnsignedLessThan, step, self.end);
            self.b.ins().brif(room, write, &[], counted, &[]);
        } else {
            self.b.ins().jump(write, &[]);
        }
        self.b.switch_to_block(write);
        env.store(self.b, to);
        let number = self.b.ins().iconst(types::I32, i64::from(id.0));
        self.b.ins().store(MemFlagsData::trusted(), number, step, 0);
        self.b.ins().store(MemFlagsData::trusted(), choice, step, 4);
        let following = self.b.ins().iadd_imm_s(to, (self.program.layout.words() * 4) as i64);
        self.b.def_var(self.to, following);
        self.b.ins().jump(counted, &[]);
        self.b.switch_to_block(counted);
        let following = self.b.ins().iadd_imm_s(step, 8);
        self.b.def_var(self.step, following);
        if chooses {
            let following = self.b.ins().iadd_imm_s(choice, 1);
            self.b.def_var(self.choice, following);
        }
    }
}

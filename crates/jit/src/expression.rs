//! Expressions as native code: as a value in a 64-bit register, or as a branch that leaves early.

use birk_ir::interval::{self, Interval, Scope};
use birk_ir::{BinaryOp, Expr, FoldOp, LocalId, Program, Slot, UnaryOp, VarId};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, InstBuilder as _, MemFlagsData, Value, types};
use cranelift_frontend::FunctionBuilder;

use crate::environment::{Bound, Environment, span_of};

/// A fold whose written-out form has at most this many parts becomes straight-line code.
const UNROLLED: usize = 256;

/// Emits expressions of a program.
pub(crate) struct Expressions<'a, 'f, 'b> {
    pub(crate) program: &'a Program,
    pub(crate) b: &'b mut FunctionBuilder<'f>,
    /// Whether the state is stuck; only in goals.
    pub(crate) stuck: Option<Value>,
}

/// Bounds from the bits of variables. Declared ranges are not to be relied on: 3 bits that should hold 0 to 4 can also hold
/// 7, and no state may lead the code out of its memory.
struct Stored<'s> {
    program: &'s Program,
    env: &'s Environment,
}

impl Scope for Stored<'_> {
    fn program(&self) -> &Program {
        self.program
    }

    fn variable(&self, variable: VarId) -> Interval {
        let slot = self.program.layout.slot(variable);
        (slot.lo, slot.lo + i64::from(slot.mask()))
    }

    fn local(&self, local: LocalId) -> Interval {
        match self.env.locals.get(&local) {
            Some(Bound::Const(value)) => (*value, *value),
            _ => interval::ANY,
        }
    }
}

impl Expressions<'_, '_, '_> {
    /// The value when it is known now.
    pub(crate) fn known(&self, expr: &Expr, env: &Environment) -> Option<i64> {
        match expr {
            Expr::Const(value) => Some(*value),
            Expr::Local(local) => match env.locals.get(local) {
                Some(Bound::Const(value)) => Some(*value),
                _ => None,
            },
            Expr::Binary(op, parts) => Some(op.apply(self.known(&parts.0, env)?, self.known(&parts.1, env)?)),
            Expr::Unary(op, a) => Some(op.apply(self.known(a, env)?)),
            Expr::Wrap(a, lo, hi) => Some(birk_ir::expr::wrap(self.known(a, env)?, *lo, *hi)),
            _ => None,
        }
    }

    fn range(&self, expr: &Expr, env: &Environment) -> Interval {
        interval::of(expr, &Stored { program: self.program, env })
    }

    fn constant(&mut self, value: i64) -> Value {
        self.b.ins().iconst(types::I64, value)
    }

    /// The value of an expression.
    pub(crate) fn value(&mut self, expr: &Expr, env: &mut Environment) -> Value {
        if let Some(value) = self.known(expr, env) {
            return self.constant(value);
        }
        match expr {
            Expr::Const(value) => self.constant(*value),
            Expr::Var(variable) => {
                let slot = *self.program.layout.slot(*variable);
                self.element(&slot, 0, env)
            }
            Expr::Element(variable, index) => self.indexed(*variable, index, env),
            Expr::Local(local) => match env.locals[local] {
                Bound::Const(value) => self.constant(value),
                Bound::Register(value) => value,
                Bound::Memory(area, offset) => self.b.ins().load(types::I64, MemFlagsData::trusted(), area, offset),
            },
            Expr::Unary(UnaryOp::Not, a) => {
                let a = self.value(a, env);
                let zero = self.b.ins().icmp_imm_s(IntCC::Equal, a, 0);
                self.b.ins().uextend(types::I64, zero)
            }
            Expr::Unary(UnaryOp::Neg, a) => {
                let a = self.value(a, env);
                self.b.ins().ineg(a)
            }
            Expr::Unary(UnaryOp::Ones, a) => {
                let a = self.value(a, env);
                self.b.ins().popcnt(a)
            }
            Expr::Binary(op, parts) => self.binary(*op, &parts.0, &parts.1, env),
            Expr::If(parts) => {
                let (yes, no, done) = self.diamond(&parts.0, env);
                self.b.switch_to_block(yes);
                let a = self.value(&parts.1, env);
                self.b.ins().jump(done, &[a.into()]);
                self.b.switch_to_block(no);
                let a = self.value(&parts.2, env);
                self.b.ins().jump(done, &[a.into()]);
                self.b.switch_to_block(done);
                self.b.block_params(done)[0]
            }
            Expr::Wrap(a, lo, hi) => self.wrap(a, *lo, *hi, env),
            Expr::Let { local, parts } => {
                self.bind(*local, &parts.0, env);
                self.value(&parts.1, env)
            }
            Expr::Fold { op: op @ (FoldOp::Count | FoldOp::Sum), local, parts } => {
                self.total(*op, *local, (&parts.0, &parts.1), &parts.2, env)
            }
            Expr::Fold { .. } => {
                let (yes, no, done) = self.diamond(expr, env);
                for (block, value) in [(yes, 1), (no, 0)] {
                    self.b.switch_to_block(block);
                    let value = self.constant(value);
                    self.b.ins().jump(done, &[value.into()]);
                }
                self.b.switch_to_block(done);
                self.b.block_params(done)[0]
            }
            Expr::Stuck => self.stuck.expect("`stuck` occurs only in goals"),
        }
    }

    /// Branches on a condition; the third block takes the value of both ways.
    fn diamond(&mut self, condition: &Expr, env: &mut Environment) -> (Block, Block, Block) {
        let blocks = (self.b.create_block(), self.b.create_block(), self.b.create_block());
        self.b.append_block_param(blocks.2, types::I64);
        self.branch(condition, env, blocks.0, blocks.1);
        blocks
    }

    /// Binds a value to a local.
    pub(crate) fn bind(&mut self, local: LocalId, expr: &Expr, env: &mut Environment) {
        let bound = match self.known(expr, env) {
            Some(value) => Bound::Const(value),
            None => Bound::Register(self.value(expr, env)),
        };
        env.locals.insert(local, bound);
    }

    fn binary(&mut self, op: BinaryOp, left: &Expr, right: &Expr, env: &mut Environment) -> Value {
        if matches!(op, BinaryOp::Div | BinaryOp::Rem) {
            return self.divide(op, left, right, env);
        }
        let a = self.value(left, env);
        let b = self.value(right, env);
        let ins = self.b.ins();
        match op {
            BinaryOp::Add => ins.iadd(a, b),
            BinaryOp::Sub => ins.isub(a, b),
            BinaryOp::Mul => ins.imul(a, b),
            // Both sides are 0 or 1, and neither can go wrong.
            BinaryOp::And => ins.band(a, b),
            BinaryOp::Or => ins.bor(a, b),
            BinaryOp::BitAnd => ins.band(a, b),
            BinaryOp::BitOr => ins.bor(a, b),
            BinaryOp::Shl | BinaryOp::Shr => {
                let moved = if op == BinaryOp::Shl { ins.ishl(a, b) } else { ins.ushr(a, b) };
                let inside = self.b.ins().icmp_imm_s(IntCC::UnsignedLessThan, b, 64);
                let zero = self.constant(0);
                self.b.ins().select(inside, moved, zero)
            }
            BinaryOp::Div | BinaryOp::Rem => unreachable!("handled above"),
            _ => {
                let truth = ins.icmp(comparison(op), a, b);
                self.b.ins().uextend(types::I64, truth)
            }
        }
    }

    /// Division, with 0 for a divisor of 0; a known divisor needs no test.
    fn divide(&mut self, op: BinaryOp, left: &Expr, right: &Expr, env: &mut Environment) -> Value {
        let known = self.known(right, env);
        if known == Some(0) {
            return self.constant(0);
        }
        let a_range = self.range(left, env);
        let a = self.value(left, env);
        if let Some(divisor) = known.filter(|&d| d > 0) {
            if a_range.0 >= 0 && divisor.count_ones() == 1 {
                let shift = i64::from(divisor.trailing_zeros());
                return match op {
                    BinaryOp::Div => self.b.ins().ushr_imm_s(a, shift),
                    _ => self.b.ins().band_imm_u(a, divisor - 1),
                };
            }
            if op == BinaryOp::Rem && a_range.0 >= 0 && a_range.1 < 2 * divisor {
                let less = self.b.ins().iadd_imm_s(a, -divisor);
                let small = self.b.ins().icmp_imm_s(IntCC::SignedLessThan, a, divisor);
                return self.b.ins().select(small, a, less);
            }
            let b = self.constant(divisor);
            return if op == BinaryOp::Div { self.b.ins().sdiv(a, b) } else { self.b.ins().srem(a, b) };
        }
        // Values are of 32 bits where this is reached, so only the divisor 0 is dangerous; -1 is handled by negation.
        let b = self.value(right, env);
        let zero = self.b.ins().icmp_imm_s(IntCC::Equal, b, 0);
        let minus = self.b.ins().icmp_imm_s(IntCC::Equal, b, -1);
        let odd = self.b.ins().bor(zero, minus);
        let one = self.constant(1);
        let safe = self.b.ins().select(odd, one, b);
        let nothing = self.constant(0);
        let (usual, negated) = match op {
            BinaryOp::Div => (self.b.ins().sdiv(a, safe), self.b.ins().ineg(a)),
            _ => (self.b.ins().srem(a, safe), nothing),
        };
        let result = self.b.ins().select(minus, negated, usual);
        self.b.ins().select(zero, nothing, result)
    }

    fn wrap(&mut self, expr: &Expr, lo: i64, hi: i64, env: &mut Environment) -> Value {
        let size = hi - lo + 1;
        let a = self.value(expr, env);
        let distance = self.b.ins().iadd_imm_s(a, -lo);
        let wrapped = if size.count_ones() == 1 {
            self.b.ins().band_imm_u(distance, size - 1)
        } else {
            let divisor = self.constant(size);
            let rest = self.b.ins().srem(distance, divisor);
            let up = self.b.ins().iadd(rest, divisor);
            let negative = self.b.ins().icmp_imm_s(IntCC::SignedLessThan, rest, 0);
            self.b.ins().select(negative, up, rest)
        };
        self.b.ins().iadd_imm_s(wrapped, lo)
    }

    /// An element at a known place.
    fn element(&mut self, slot: &Slot, element: u32, env: &Environment) -> Value {
        if slot.bits == 0 {
            return self.constant(slot.lo);
        }
        let (word, shift) = slot.position(element);
        let word = env.word(self.b, word);
        self.field(word, shift, slot)
    }

    /// The bits of an element, as a value.
    fn field(&mut self, word: Value, shift: u32, slot: &Slot) -> Value {
        let shifted = if shift == 0 { word } else { self.b.ins().ushr_imm_s(word, i64::from(shift)) };
        let masked = match shift + slot.bits {
            32 => shifted,
            _ => self.b.ins().band_imm_u(shifted, i64::from(slot.mask())),
        };
        let wide = self.b.ins().uextend(types::I64, masked);
        if slot.lo == 0 { wide } else { self.b.ins().iadd_imm_s(wide, slot.lo) }
    }

    fn indexed(&mut self, variable: VarId, index: &Expr, env: &mut Environment) -> Value {
        let slot = *self.program.layout.slot(variable);
        if let Some(index) = self.known(index, env) {
            return match u32::try_from(index) {
                Ok(element) if element < slot.len => self.element(&slot, element, env),
                _ => self.constant(0),
            };
        }
        // Reading outside gives 0.
        if slot.lo == 0 && self.is_above(&slot, index, env) {
            return self.one_word(&slot, index, env);
        }
        let (index, inside) = self.safe_index(&slot, index, env);
        let value = if slot.bits == 0 {
            self.constant(slot.lo)
        } else {
            let place = self.place(&slot, index);
            let word = match place.offset {
                None => env.word(self.b, slot.word as usize),
                Some(offset) => env.base_word(self.b, offset),
            };
            let shifted = self.b.ins().ushr(word, place.shift);
            let masked = self.b.ins().band_imm_u(shifted, i64::from(slot.mask()));
            let wide = self.b.ins().uextend(types::I64, masked);
            if slot.lo == 0 { wide } else { self.b.ins().iadd_imm_s(wide, slot.lo) }
        };
        match inside {
            None => value,
            Some(inside) => {
                let zero = self.constant(0);
                self.b.ins().select(inside, value, zero)
            }
        }
    }

    /// Whether an index can be too large for an array in one word, but only so far that a register of 64 bits still has
    /// that place, above the array: what is removed from there needs no test.
    pub(crate) fn is_above(&self, slot: &Slot, index: &Expr, env: &Environment) -> bool {
        let (lo, hi) = self.range(index, env);
        let is_in_register = |hi: i64| (hi + 1) * i64::from(slot.bits) + i64::from(slot.shift) <= 64;
        let is_small = slot.bits > 0 && slot.len <= slot.per_word;
        is_small && lo >= 0 && (i64::from(slot.len)..64).contains(&hi) && is_in_register(hi)
    }

    /// An element of an array in one word, or 0 outside of it.
    fn one_word(&mut self, slot: &Slot, index: &Expr, env: &mut Environment) -> Value {
        let index = self.value(index, env);
        let mut word = env.word(self.b, slot.word as usize);
        let end = slot.shift + slot.len * slot.bits;
        if end < 32 {
            word = self.b.ins().band_imm_u(word, (1i64 << end) - 1);
        }
        let wide = self.b.ins().uextend(types::I64, word);
        let place = self.place(slot, index);
        let shifted = self.b.ins().ushr(wide, place.shift);
        self.b.ins().band_imm_u(shifted, i64::from(slot.mask()))
    }

    /// An index that stays inside the array, or in its only word, and, unless it is sure to be inside, whether it is.
    pub(crate) fn safe_index(&mut self, slot: &Slot, index: &Expr, env: &mut Environment) -> (Value, Option<Value>) {
        let (lo, hi) = self.range(index, env);
        let index = self.value(index, env);
        if lo >= 0 && hi < i64::from(slot.len) {
            return (index, None);
        }
        let inside = self.b.ins().icmp_imm_s(IntCC::UnsignedLessThan, index, i64::from(slot.len));
        if slot.len <= slot.per_word {
            return (index, Some(inside));
        }
        let zero = self.constant(0);
        (self.b.ins().select(inside, index, zero), Some(inside))
    }

    /// Where an element known at run time lies.
    pub(crate) fn place(&mut self, slot: &Slot, index: Value) -> RuntimePlace {
        let (bits, per_word) = (i64::from(slot.bits), i64::from(slot.per_word));
        if slot.len <= slot.per_word {
            let shift = self.b.ins().imul_imm_s(index, bits);
            return RuntimePlace { offset: None, shift: self.b.ins().iadd_imm_s(shift, i64::from(slot.shift)) };
        }
        let (word, within) = if per_word == 1 {
            (index, self.constant(0))
        } else if per_word.count_ones() == 1 {
            let word = self.b.ins().ushr_imm_s(index, i64::from(per_word.trailing_zeros()));
            (word, self.b.ins().band_imm_u(index, per_word - 1))
        } else {
            let divisor = self.constant(per_word);
            let word = self.b.ins().udiv(index, divisor);
            let before = self.b.ins().imul_imm_s(word, per_word);
            (word, self.b.ins().isub(index, before))
        };
        let word = self.b.ins().iadd_imm_s(word, i64::from(slot.word));
        let offset = self.b.ins().ishl_imm_s(word, 2);
        let shift = self.b.ins().imul_imm_s(within, bits);
        RuntimePlace { offset: Some(offset), shift: self.b.ins().iadd_imm_s(shift, i64::from(slot.shift)) }
    }

    /// Whether evaluating needs words that late writes touch: then the state must be settled first.
    pub(crate) fn needs_settling(&self, expr: &Expr, env: &Environment) -> bool {
        let mut needed = false;
        expr.walk(&mut |e| {
            needed |= match e {
                Expr::Var(variable) => env.is_touched(span_of(self.program.layout.slot(*variable))),
                Expr::Element(variable, _) => {
                    let slot = self.program.layout.slot(*variable);
                    env.is_touched(span_of(slot)) || (slot.len > slot.per_word && env.is_changed(span_of(slot)))
                }
                _ => false,
            };
        });
        needed
    }

    /// Goes to `yes` where the expression is true, otherwise to `no`.
    pub(crate) fn branch(&mut self, expr: &Expr, env: &mut Environment, yes: Block, no: Block) {
        if let Some(value) = self.known(expr, env) {
            self.b.ins().jump(if value != 0 { yes } else { no }, &[]);
            return;
        }
        match expr {
            Expr::Binary(op @ (BinaryOp::And | BinaryOp::Or), parts) => {
                let next = self.b.create_block();
                let (on_true, on_false) = if *op == BinaryOp::And { (next, no) } else { (yes, next) };
                self.branch(&parts.0, env, on_true, on_false);
                self.b.switch_to_block(next);
                self.branch(&parts.1, env, yes, no);
            }
            Expr::Unary(UnaryOp::Not, inner) => self.branch(inner, env, no, yes),
            Expr::Let { local, parts } => {
                self.bind(*local, &parts.0, env);
                self.branch(&parts.1, env, yes, no);
            }
            Expr::Binary(op, parts) if is_comparison(*op) => {
                let a = self.value(&parts.0, env);
                let truth = match self.known(&parts.1, env) {
                    Some(b) => self.b.ins().icmp_imm_s(comparison(*op), a, b),
                    None => {
                        let b = self.value(&parts.1, env);
                        self.b.ins().icmp(comparison(*op), a, b)
                    }
                };
                self.b.ins().brif(truth, yes, &[], no, &[]);
            }
            Expr::Fold { op: op @ (FoldOp::All | FoldOp::Any), local, parts } => {
                let (bounds, body) = ((&parts.0, &parts.1), &parts.2);
                self.fold(*op, *local, bounds, body, env, (yes, no));
            }
            other => {
                let value = self.value(other, env);
                self.b.ins().brif(value, yes, &[], no, &[]);
            }
        }
    }

    /// A quantifier: written out where it is short, otherwise a loop that ends as soon as it is decided.
    fn fold(
        &mut self,
        op: FoldOp,
        local: LocalId,
        bounds: (&Expr, &Expr),
        body: &Expr,
        env: &mut Environment,
        (yes, no): (Block, Block),
    ) {
        let (decided, otherwise) = if op == FoldOp::Any { (yes, no) } else { (no, yes) };
        if let (Some(lo), Some(hi)) = (self.known(bounds.0, env), self.known(bounds.1, env)) {
            if hi < lo {
                self.b.ins().jump(otherwise, &[]);
                return;
            }
            if (hi - lo + 1) as usize * body.size() <= UNROLLED {
                for value in lo..=hi {
                    env.locals.insert(local, Bound::Const(value));
                    let next = if value == hi { otherwise } else { self.b.create_block() };
                    self.body(op, body, env, decided, next);
                    if value != hi {
                        self.b.switch_to_block(next);
                    }
                }
                return;
            }
        }
        let lo = self.value(bounds.0, env);
        let hi = self.value(bounds.1, env);
        let (head, inside, next) = (self.b.create_block(), self.b.create_block(), self.b.create_block());
        self.b.append_block_param(head, types::I64);
        self.b.ins().jump(head, &[lo.into()]);
        self.b.switch_to_block(head);
        let value = self.b.block_params(head)[0];
        let more = self.b.ins().icmp(IntCC::SignedLessThanOrEqual, value, hi);
        self.b.ins().brif(more, inside, &[], otherwise, &[]);
        self.b.switch_to_block(inside);
        env.locals.insert(local, Bound::Register(value));
        self.body(op, body, env, decided, next);
        self.b.switch_to_block(next);
        let following = self.b.ins().iadd_imm_s(value, 1);
        self.b.ins().jump(head, &[following.into()]);
    }

    /// A count or a sum: a loop that looks at every value.
    fn total(
        &mut self,
        op: FoldOp,
        local: LocalId,
        bounds: (&Expr, &Expr),
        body: &Expr,
        env: &mut Environment,
    ) -> Value {
        let lo = self.value(bounds.0, env);
        let hi = self.value(bounds.1, env);
        let (head, inside, done) = (self.b.create_block(), self.b.create_block(), self.b.create_block());
        self.b.append_block_param(head, types::I64);
        self.b.append_block_param(head, types::I64);
        let zero = self.constant(0);
        self.b.ins().jump(head, &[lo.into(), zero.into()]);
        self.b.switch_to_block(head);
        let (value, before) = (self.b.block_params(head)[0], self.b.block_params(head)[1]);
        let more = self.b.ins().icmp(IntCC::SignedLessThanOrEqual, value, hi);
        self.b.ins().brif(more, inside, &[], done, &[]);
        self.b.switch_to_block(inside);
        env.locals.insert(local, Bound::Register(value));
        let mut term = self.value(body, env);
        if op == FoldOp::Count {
            let truth = self.b.ins().icmp_imm_s(IntCC::NotEqual, term, 0);
            term = self.b.ins().uextend(types::I64, truth);
        }
        let after = self.b.ins().iadd(before, term);
        let following = self.b.ins().iadd_imm_s(value, 1);
        self.b.ins().jump(head, &[following.into(), after.into()]);
        self.b.switch_to_block(done);
        before
    }

    fn body(&mut self, op: FoldOp, body: &Expr, env: &mut Environment, decided: Block, next: Block) {
        match op {
            FoldOp::Any => self.branch(body, env, decided, next),
            FoldOp::All => self.branch(body, env, next, decided),
            FoldOp::Count | FoldOp::Sum => unreachable!("totals are not decided early"),
        }
    }
}

/// Where an element known at run time lies: in the variable's only word, or at a byte offset.
pub(crate) struct RuntimePlace {
    pub(crate) offset: Option<Value>,
    pub(crate) shift: Value,
}

fn is_comparison(op: BinaryOp) -> bool {
    matches!(op, BinaryOp::Eq | BinaryOp::Ne | BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge)
}

fn comparison(op: BinaryOp) -> IntCC {
    match op {
        BinaryOp::Eq => IntCC::Equal,
        BinaryOp::Ne => IntCC::NotEqual,
        BinaryOp::Lt => IntCC::SignedLessThan,
        BinaryOp::Le => IntCC::SignedLessThanOrEqual,
        BinaryOp::Gt => IntCC::SignedGreaterThan,
        BinaryOp::Ge => IntCC::SignedGreaterThanOrEqual,
        _ => unreachable!("only comparisons are asked for"),
    }
}

//! What the code being emitted knows of the successor it is building.
//!
//! The successor is its base (the parent in memory), with some words replaced by values in registers, then some
//! writes to elements whose place is only known at run time. Nothing is copied before an outcome is complete, unless
//! such an element is read again or too much is pending: then the base becomes a state of the worker's scratch area,
//! and never one on the stack, which has no room for large states.

use std::collections::{BTreeMap, HashMap};

use birk_ir::{LocalId, Slot};
use cranelift_codegen::ir::{InstBuilder as _, MemFlagsData, Value, types};
use cranelift_frontend::FunctionBuilder;

/// States are aligned to their words only.
const UNALIGNED: MemFlagsData = MemFlagsData::new().with_notrap();

/// Pending writes are held in registers, or on the stack where there are not enough of them: no more than this many.
const PENDING: usize = 64;

/// Values bound by a step are held in registers, or on the stack: the first of them, as many as this.
const HELD: usize = 64;

/// A bound value: known now, in a register, or at an offset in the scratch area.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Bound {
    Const(i64),
    Register(Value),
    Memory(Value, i32),
}

/// A worker's scratch area: values that steps bind, then states that are read before they are complete.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scratch {
    pub(crate) address: Value,
    /// Values, 8 bytes each.
    pub(crate) values: usize,
}

impl Scratch {
    /// How many values it must hold if steps bind at most so many.
    pub(crate) fn values_for(most: usize) -> usize {
        if most > HELD { most } else { 0 }
    }

    /// Moves a bound value there if too many are held already.
    pub(crate) fn keep(self, b: &mut FunctionBuilder<'_>, local: LocalId, bound: &mut Bound) {
        if let (Bound::Register(value), HELD..) = (*bound, local.index()) {
            assert!(local.index() < self.values, "a transition says how many values it binds");
            let offset = (local.index() * 8) as i32;
            b.ins().store(MemFlagsData::trusted(), value, self.address, offset);
            *bound = Bound::Memory(self.address, offset);
        }
    }
}

/// A write to a word whose place is known only at run time, or that must come after such a write.
#[derive(Clone, Copy, Debug)]
struct Late {
    /// Byte offset in the state.
    offset: Value,
    keep: Value,
    bits: Value,
}

/// A successor under construction.
#[derive(Clone, Debug)]
pub(crate) struct Environment {
    base: Value,
    /// Which state of the scratch area the base is; `None` where it is the parent, which nobody writes to.
    settled: Option<usize>,
    /// The state of the scratch area that may be written: those before it are bases of enclosing choices.
    free: usize,
    words: usize,
    replaced: BTreeMap<usize, Value>,
    late: Vec<Late>,
    /// Words that late writes may touch.
    touched: Vec<(usize, usize)>,
    pub(crate) locals: HashMap<LocalId, Bound>,
}

/// Words of a variable.
pub(crate) fn span_of(slot: &Slot) -> (usize, usize) {
    let words = if slot.bits == 0 { 0 } else { slot.len.div_ceil(slot.per_word) };
    (slot.word as usize, slot.word as usize + words as usize)
}

impl Environment {
    pub(crate) fn new(base: Value, words: usize) -> Self {
        Self {
            base,
            settled: None,
            free: 0,
            words,
            replaced: BTreeMap::new(),
            late: Vec::new(),
            touched: Vec::new(),
            locals: HashMap::new(),
        }
    }

    fn flags(&self) -> MemFlagsData {
        let flags = MemFlagsData::trusted();
        if self.settled.is_none() { flags.with_readonly().with_can_move() } else { flags }
    }

    /// Whether late writes may have changed a word in this range.
    pub(crate) fn is_touched(&self, (start, end): (usize, usize)) -> bool {
        self.touched.iter().any(|&(from, to)| from < end && start < to)
    }

    /// Whether a word of this range is not what the base says.
    pub(crate) fn is_changed(&self, span: (usize, usize)) -> bool {
        self.is_touched(span) || self.replaced.range(span.0..span.1.max(span.0)).next().is_some()
    }

    /// The current value of a word that no late write touches.
    pub(crate) fn word(&self, b: &mut FunctionBuilder<'_>, word: usize) -> Value {
        match self.replaced.get(&word) {
            Some(&value) => value,
            None => b.ins().load(types::I32, self.flags(), self.base, (word * 4) as i32),
        }
    }

    /// A word of the base at a place known at run time.
    pub(crate) fn base_word(&self, b: &mut FunctionBuilder<'_>, offset: Value) -> Value {
        let address = b.ins().iadd(self.base, offset);
        b.ins().load(types::I32, self.flags(), address, 0)
    }

    /// Replaces bits of a word at a known place.
    pub(crate) fn write(&mut self, b: &mut FunctionBuilder<'_>, word: usize, keep: Value, bits: Value) {
        if self.is_touched((word, word + 1)) {
            let offset = b.ins().iconst(types::I64, (word * 4) as i64);
            self.late.push(Late { offset, keep, bits });
            return;
        }
        let old = self.word(b, word);
        let kept = b.ins().band(old, keep);
        let new = b.ins().bor(kept, bits);
        self.replaced.insert(word, new);
    }

    /// Replaces bits of a word of a range at a place known at run time.
    pub(crate) fn write_late(&mut self, span: (usize, usize), offset: Value, keep: Value, bits: Value) {
        self.touched.push(span);
        self.late.push(Late { offset, keep, bits });
    }

    /// Whether no more writes should be kept pending.
    pub(crate) fn is_full(&self) -> bool {
        self.replaced.len() + self.late.len() >= PENDING
    }

    /// What follows is done once for each value of a choice, every time from the state as it is now.
    pub(crate) fn enter_choice(&mut self) {
        self.free = self.settled.map_or(0, |settled| settled + 1);
    }

    /// Makes the current state the base of what follows, in the scratch area; gives how many states that must hold.
    pub(crate) fn settle(&mut self, b: &mut FunctionBuilder<'_>, scratch: Scratch) -> usize {
        if self.settled != Some(self.free) {
            let offset = scratch.values * 8 + self.free * self.words * 4;
            let to = b.ins().iadd_imm_s(scratch.address, offset as i64);
            self.copy_base(b, to);
            (self.base, self.settled) = (to, Some(self.free));
        }
        self.apply(b, self.base);
        self.replaced.clear();
        self.late.clear();
        self.touched.clear();
        self.free + 1
    }

    /// Writes the whole state to memory.
    pub(crate) fn store(&self, b: &mut FunctionBuilder<'_>, to: Value) {
        self.copy_base(b, to);
        self.apply(b, to);
    }

    /// Writes what is pending to memory.
    fn apply(&self, b: &mut FunctionBuilder<'_>, to: Value) {
        let flags = MemFlagsData::trusted();
        for (&word, &value) in &self.replaced {
            b.ins().store(flags, value, to, (word * 4) as i32);
        }
        for late in &self.late {
            let address = b.ins().iadd(to, late.offset);
            let old = b.ins().load(types::I32, flags, address, 0);
            let kept = b.ins().band(old, late.keep);
            let new = b.ins().bor(kept, late.bits);
            b.ins().store(flags, new, address, 0);
        }
    }

    /// Copies the words that are not replaced, as wide as they lie together.
    fn copy_base(&self, b: &mut FunctionBuilder<'_>, to: Value) {
        const UNROLLED: usize = 64;
        if self.words > UNROLLED {
            return self.copy_long(b, to);
        }
        let mut word = 0;
        while word < self.words {
            if self.replaced.contains_key(&word) {
                word += 1;
                continue;
            }
            let run = (word..self.words).take_while(|w| !self.replaced.contains_key(w)).count();
            let (ty, width) = match run {
                4.. => (types::I8X16, 4),
                2..=3 => (types::I64, 2),
                _ => (types::I32, 1),
            };
            let value = b.ins().load(ty, UNALIGNED, self.base, (word * 4) as i32);
            b.ins().store(UNALIGNED, value, to, (word * 4) as i32);
            word += width;
        }
    }

    /// A loop over sixteen bytes at a time, then the rest.
    fn copy_long(&self, b: &mut FunctionBuilder<'_>, to: Value) {
        let blocks = self.words / 4;
        let (head, done) = (b.create_block(), b.create_block());
        b.append_block_param(head, types::I64);
        let zero = b.ins().iconst(types::I64, 0);
        b.ins().jump(head, &[zero.into()]);
        b.switch_to_block(head);
        let at = b.block_params(head)[0];
        let from = b.ins().iadd(self.base, at);
        let value = b.ins().load(types::I8X16, UNALIGNED, from, 0);
        let target = b.ins().iadd(to, at);
        b.ins().store(UNALIGNED, value, target, 0);
        let next = b.ins().iadd_imm_s(at, 16);
        let end = (blocks * 16) as i64;
        let more = b.ins().icmp_imm_s(cranelift_codegen::ir::condcodes::IntCC::UnsignedLessThan, next, end);
        b.ins().brif(more, head, &[next.into()], done, &[]);
        b.switch_to_block(done);
        for word in blocks * 4..self.words {
            let value = b.ins().load(types::I32, MemFlagsData::trusted(), self.base, (word * 4) as i32);
            b.ins().store(MemFlagsData::trusted(), value, to, (word * 4) as i32);
        }
    }
}

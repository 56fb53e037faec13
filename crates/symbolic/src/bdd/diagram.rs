//! Sets of bit vectors as decision diagrams: the only file that calls OxiDD.
//!
//! Binary decision diagrams with complemented edges (Bryant 1986; Brace, Rudell, Bryant 1990). The manager has all the
//! memory it may ever use from the start. Where an operation finds it full, garbage is collected and the operation
//! tried once more; only then is the memory used up.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::hash::BuildHasherDefault;

use birk_ir::Stop;
use oxidd::bcdd::{BCDDFunction, BCDDManagerRef, new_manager};
use oxidd::util::num::Natural;
use oxidd::util::{AllocResult, FxHasher, OptBool, SatCountCache};
use oxidd::{
    BooleanFunction, BooleanFunctionQuant, BooleanOperator, Function, FunctionSubst, Manager, ManagerRef, Subst,
};

use crate::attempt::{Attempt, Broken};
use crate::bitvector::{Algebra, Arithmetic as _, Number};

/// A function of bits; a set of states, where it is about the bits of a state.
pub(crate) type Set = BCDDFunction;
/// A number of diagrams.
pub(crate) type Value = Number<Set>;
/// How many elements a set has: exact, whatever it is.
pub(crate) type Count = Natural;
/// Bits in place of bits.
pub(crate) type Renaming = Subst<Set>;

/// Bytes of a node: itself, and at most its place in the tables in which nodes are found, which grow by doubling.
pub(crate) const NODE_BYTES: u64 = 40;
/// Bytes of an entry of the cache of results.
const ENTRY_BYTES: u64 = 28;
/// An eighth of the memory is for what is known of sets beside the diagrams.
const BESIDE: u64 = 8;
/// Bytes of one thing that is known of a set, in a table that has just grown.
const KNOWN_BYTES: u64 = 74;
/// Bytes of the count of one node, beside those of the number itself.
const COUNTED_BYTES: u64 = 128;
/// The memory of a search without a limit.
const UNLIMITED: u64 = 4 << 30;
/// Transitions that read and write no more bits than this are narrow: steps of them make small diagrams, even of large sets.
const NARROW: u32 = 6;

/// The cache is written when it is made, and whenever garbage is collected: a larger one would take longer than many
/// searches of so few bits, or of narrow transitions unless there are very many.
fn most_entries(bits: u32, widest: u32) -> u64 {
    match bits {
        0..64 => 1 << 16,
        64..256 => 1 << 20,
        256..8192 if widest <= NARROW => 1 << 20,
        _ => 1 << 22,
    }
}

/// Garbage is not worth collecting below this number of nodes.
const FEW_NODES: usize = 1 << 18;

type Counted = SatCountCache<Count, BuildHasherDefault<FxHasher>>;
/// What is known of sets: they are numbers, which are quickly mixed.
pub(crate) type Known<K, V> = HashMap<K, V, BuildHasherDefault<FxHasher>>;

/// All diagrams of one search.
pub(crate) struct Diagrams {
    manager: BCDDManagerRef,
    pub(crate) yes: Set,
    pub(crate) no: Set,
    /// Garbage is collected when there are more nodes than this.
    collect_at: Cell<usize>,
    peak: Cell<usize>,
    entries: u64,
    capacity: u64,
    /// For all of it.
    memory: u64,
    counted: RefCell<Counted>,
    /// The bits that somebody has asked for.
    bits: RefCell<Vec<Option<Set>>>,
}

impl Diagrams {
    /// Diagrams over some bits, without transitions.
    #[cfg(test)]
    pub(crate) fn new(bytes: u64, bits: u32) -> Self {
        Self::of_steps(bytes, bits, bits)
    }

    /// Diagrams in this much memory, over this many bits: the first is decided first. No transition reads or writes more
    /// than `widest` of them.
    pub(crate) fn of_steps(bytes: u64, bits: u32, widest: u32) -> Self {
        let bytes = if bytes == u64::MAX { UNLIMITED } else { bytes };
        let wanted = (bytes / 8 / ENTRY_BYTES).clamp(1 << 10, most_entries(bits, widest));
        let entries = 1 << wanted.ilog2();
        let nodes = (bytes - bytes / BESIDE).saturating_sub(entries * ENTRY_BYTES) / NODE_BYTES;
        let capacity = nodes.clamp(1 << 10, 1 << 31);
        let manager = new_manager(capacity as usize, entries as usize, 1);
        let (yes, no) = manager.with_manager_exclusive(|manager| {
            manager.add_vars(bits);
            (Set::t(manager), Set::f(manager))
        });
        let (collect_at, peak) = (Cell::new(FEW_NODES), Cell::new(0));
        let (counted, bits) = (RefCell::new(Counted::default()), RefCell::new(vec![None; bits as usize]));
        Self { manager, yes, no, collect_at, peak, entries, capacity, memory: bytes, counted, bits }
    }

    /// Whether a bit is set.
    pub(crate) fn bit(&self, number: u32) -> Attempt<Set> {
        if let Some(bit) = &self.bits.borrow()[number as usize] {
            return Ok(bit.clone());
        }
        let bit = self.attempt(|| self.manager.with_manager_shared(|manager| Set::var(manager, number)))?;
        self.bits.borrow_mut()[number as usize] = Some(bit.clone());
        Ok(bit)
    }

    /// What is true for some value of the bits in `cube`.
    pub(crate) fn exists(&self, a: &Set, cube: &Set) -> Attempt<Set> {
        if *cube == self.yes { Ok(a.clone()) } else { self.attempt(|| a.exists(cube)) }
    }

    /// The same of a conjunction, without making it first.
    pub(crate) fn and_exists(&self, a: &Set, b: &Set, cube: &Set) -> Attempt<Set> {
        self.attempt(|| a.apply_exists(BooleanOperator::And, b, cube))
    }

    /// With the bits in `cube` fixed as they are there.
    pub(crate) fn restrict(&self, a: &Set, cube: &Set) -> Attempt<Set> {
        if *cube == self.yes { Ok(a.clone()) } else { self.attempt(|| a.restrict(cube)) }
    }

    pub(crate) fn rename(&self, a: &Set, renaming: &Renaming) -> Attempt<Set> {
        self.attempt(|| a.substitute(renaming))
    }

    fn balanced(&self, mut parts: Vec<Set>, none: &Set, join: fn(&Self, &Set, &Set) -> Attempt<Set>) -> Attempt<Set> {
        while parts.len() > 1 {
            let pairs = parts.chunks(2).map(|pair| match pair {
                [a, b] => join(self, a, b),
                _ => Ok(pair[0].clone()),
            });
            parts = pairs.collect::<Attempt<Vec<Set>>>()?;
        }
        Ok(parts.pop().unwrap_or_else(|| none.clone()))
    }

    /// Bits with their values, as one conjunction; the bits may come in any order.
    pub(crate) fn cube(&self, literals: &[(u32, bool)]) -> Attempt<Set> {
        let mut literals = literals.to_vec();
        literals.sort_unstable();
        let mut cube = self.yes.clone();
        for &(number, value) in literals.iter().rev() {
            let bit = self.bit(number)?;
            let bit = if value { bit } else { self.not(&bit)? };
            cube = self.and(&bit, &cube)?;
        }
        Ok(cube)
    }

    /// The bits on which some functions depend, if they are no more than `most`.
    pub(crate) fn support(&self, functions: &[Set], most: usize) -> Option<Vec<u32>> {
        let mut support = std::collections::BTreeSet::new();
        let mut seen: Vec<Set> = Vec::new();
        let mut stack = functions.to_vec();
        while let Some(function) = stack.pop() {
            let Some((yes, no)) = function.cofactors() else { continue };
            support.insert(self.top(&function));
            if support.len() > most {
                return None;
            }
            if !seen.contains(&function) {
                seen.push(function);
                stack.extend([yes, no]);
            }
        }
        Some(support.into_iter().collect())
    }

    /// The bit that a function decides first: bits are numbered as they are ordered. A constant decides none.
    pub(crate) fn top(&self, function: &Set) -> u32 {
        function.with_manager_shared(|manager, edge| manager.get_node(edge).level())
    }

    /// The first bit of a function and what it is where that is set, or not, if it comes before another one.
    pub(crate) fn above(&self, function: &Set, other: u32) -> Option<(u32, Set, Set)> {
        function.with_manager_shared(|manager, edge| {
            let bit = manager.get_node(edge).level();
            if bit >= other {
                return None;
            }
            let (yes, no) = Set::cofactors_edge(manager, edge)?;
            Some((bit, Set::from_edge_ref(manager, yes), Set::from_edge_ref(manager, no)))
        })
    }

    /// The function that is `yes` where a bit is set, and `no` where it is not; both begin below it.
    pub(crate) fn node(&self, bit: u32, yes: &Set, no: &Set) -> Attempt<Set> {
        if yes == no { Ok(yes.clone()) } else { self.ite(&self.bit(bit)?, yes, no) }
    }

    /// Nodes of a function.
    pub(crate) fn size(&self, function: &Set) -> usize {
        function.node_count()
    }

    /// How many values of `bits` bits are in the set, which depends on no more than those. A number for each of its nodes
    /// needs memory, too.
    pub(crate) fn count(&self, set: &Set, bits: u32) -> Attempt<Count> {
        let each = COUNTED_BYTES + u64::from(bits) / 8;
        let free = || self.memory.saturating_sub(self.bytes()) / each;
        if self.nodes() > free() && self.size(set) as u64 > free() {
            self.collect();
            if self.size(set) as u64 > free() {
                return Err(Broken::Stopped(Stop::Memory));
            }
        }
        let mut counted = self.counted.borrow_mut();
        let count = set.sat_count(bits, &mut counted);
        if counted.map.len() > self.most_known() {
            *counted = Counted::default();
        }
        Ok(count)
    }

    /// How many things may be known of sets, in a table beside the diagrams.
    pub(crate) fn most_known(&self) -> usize {
        let slots = (self.memory / BESIDE / KNOWN_BYTES).max(1 << 10);
        // Such a table is as large as a power of two, and grows when seven eighths are used.
        (1 << slots.ilog2()) / 8 * 7
    }

    /// Whether an element is in the set, given by the bits on which the set depends.
    pub(crate) fn contains(&self, set: &Set, bits: impl IntoIterator<Item = (u32, bool)>) -> bool {
        set.eval(bits)
    }

    /// One element of a set: the value of each bit; `None` when the set is empty.
    pub(crate) fn pick(&self, set: &Set) -> Option<Vec<bool>> {
        let picked = set.pick_cube(|_, _, _| false)?;
        Some(picked.into_iter().map(|value| value == OptBool::True).collect())
    }

    /// Nodes in use, garbage included.
    pub(crate) fn nodes(&self) -> u64 {
        let nodes = self.manager.with_manager_shared(|manager| manager.approx_num_inner_nodes());
        self.peak.set(self.peak.get().max(nodes));
        nodes as u64
    }

    /// The most nodes that were in use when somebody looked.
    pub(crate) fn peak_nodes(&self) -> u64 {
        self.peak.get().max(self.nodes() as usize) as u64
    }

    /// Bytes of nodes and cache.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes_with(self.nodes())
    }

    /// Bytes of so many nodes, and of the cache.
    pub(crate) fn bytes_with(&self, nodes: u64) -> u64 {
        nodes * NODE_BYTES + self.entries * ENTRY_BYTES
    }

    /// Whether more than a quarter of all nodes that there may be are in use, apart from garbage.
    pub(crate) fn is_quarter_full(&self) -> bool {
        let is_above = || self.nodes() > self.capacity / 4;
        if is_above() {
            self.collect();
        }
        is_above()
    }

    /// Whether there may be much garbage.
    pub(crate) fn is_untidy(&self) -> bool {
        self.nodes() as usize > self.collect_at.get()
    }

    /// Collects garbage if there may be much of it.
    pub(crate) fn tidy(&self) {
        if self.is_untidy() {
            self.collect();
            self.collect_at.set((self.live() * 3).max(FEW_NODES));
        }
    }

    fn collect(&self) {
        self.manager.with_manager_shared(|manager| manager.gc());
    }

    fn live(&self) -> usize {
        self.manager.with_manager_shared(|manager| manager.num_inner_nodes())
    }

    /// The number where these bits have these values.
    pub(crate) fn given(&self, value: &Value, decided: &Set) -> Attempt<Value> {
        if *decided == self.yes || value.as_const().is_some() {
            return Ok(value.clone());
        }
        let bits = value.bits.iter().map(|bit| self.restrict(bit, decided)).collect::<Attempt<_>>()?;
        Ok(self.number(bits, (value.lo, value.hi)))
    }

    fn attempt(&self, operation: impl Fn() -> AllocResult<Set>) -> Attempt<Set> {
        operation().or_else(|_| {
            self.nodes();
            self.collect();
            operation().map_err(|_| Broken::Stopped(Stop::Memory))
        })
    }
}

impl Algebra for Diagrams {
    type Bit = Set;

    fn yes(&self) -> &Set {
        &self.yes
    }

    fn no(&self) -> &Set {
        &self.no
    }

    fn not(&self, a: &Set) -> Attempt<Set> {
        self.attempt(|| a.not())
    }

    fn and(&self, a: &Set, b: &Set) -> Attempt<Set> {
        self.attempt(|| a.and(b))
    }

    fn or(&self, a: &Set, b: &Set) -> Attempt<Set> {
        self.attempt(|| a.or(b))
    }

    fn xor(&self, a: &Set, b: &Set) -> Attempt<Set> {
        self.attempt(|| a.xor(b))
    }

    fn same(&self, a: &Set, b: &Set) -> Attempt<Set> {
        self.attempt(|| a.equiv(b))
    }

    /// What is in the first and not in the second.
    fn minus(&self, a: &Set, b: &Set) -> Attempt<Set> {
        self.attempt(|| b.imp_strict(a))
    }

    fn ite(&self, condition: &Set, yes: &Set, no: &Set) -> Attempt<Set> {
        self.attempt(|| condition.ite(yes, no))
    }

    /// All of them; pairs first, so that what is far apart meets late.
    fn all(&self, parts: Vec<Set>) -> Attempt<Set> {
        self.balanced(parts, &self.yes, Self::and)
    }

    /// Any of them.
    fn any(&self, parts: Vec<Set>) -> Attempt<Set> {
        self.balanced(parts, &self.no, Self::or)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bdd::encoding::Encoding;
    use crate::bitvector::tests::agree;
    use birk_exec::Random;

    /// Entries of the cache for a ring of some threads that pass a value of some bits on.
    fn entries(threads: u32, most: u32, memory: u64) -> u64 {
        let text = format!(
            "system S {{ const N = {threads}; int (0, {most})[N] x; active [N] thread T(int i) {{
             loc l: when x[i] != x[(i + 1) % N] do {{ x[i] := x[(i + 1) % N]; }} goto l;
             loc m: do {{ x[i] := {most}; }} goto l; }} }}"
        );
        let loaded = birk_lang::load(&text, &[]);
        let program = loaded.program.unwrap_or_else(|| panic!("{:#?}", loaded.diagnostics));
        Encoding::new(&program, memory).expect("it can be encoded").diagrams.entries
    }

    #[test]
    fn the_cache_is_as_large_as_the_bits_and_the_steps_ask_for() {
        assert_eq!(entries(8, 1, u64::MAX), 1 << 16, "few bits");
        assert_eq!(entries(40, 1, u64::MAX), 1 << 20, "more bits");
        assert_eq!(
            entries(200, 1, u64::MAX),
            1 << 20,
            "many bits, narrow steps: one of x and its neighbour, and the location"
        );
        assert_eq!(most_entries(8_192, NARROW), 1 << 22, "very many bits");
        assert_eq!(entries(200, 15, u64::MAX), 1 << 22, "many bits, wide steps");
        assert_eq!(entries(200, 15, 8 << 20), 1 << 15, "no more than an eighth of the memory");
    }

    #[test]
    fn a_bit_stays_itself_when_garbage_is_collected() {
        let diagrams = Diagrams::new(1 << 20, 4);
        let before = diagrams.bit(2).expect("memory");
        let both = diagrams.and(&before, &diagrams.bit(3).expect("memory")).expect("memory");
        drop(before);
        diagrams.collect();
        let after = diagrams.bit(2).expect("memory");
        assert_eq!(diagrams.top(&after), 2);
        assert!(diagrams.and(&after, &diagrams.bit(3).expect("memory")).expect("memory") == both);
        assert_eq!(diagrams.count(&after, 4).expect("memory").to_string(), "8");
    }

    /// A count that would need more memory than is left is not begun.
    #[test]
    fn counting_is_limited_as_all_else() {
        let diagrams = Diagrams::new(1 << 20, 1 << 12);
        let mut parity = diagrams.no.clone();
        for bit in (0..1 << 12).rev() {
            parity = diagrams.xor(&parity, &diagrams.bit(bit).expect("memory")).expect("memory");
        }
        assert!(matches!(diagrams.count(&parity, 1 << 12), Err(Broken::Stopped(Stop::Memory))));
        let few = diagrams.bit(7).expect("memory");
        assert_eq!(diagrams.count(&few, 8).expect("memory").to_string(), "128");
    }

    #[test]
    fn arithmetic_is_that_of_the_expressions() {
        let diagrams = Diagrams::new(64 << 20, 6);
        let bits: Vec<Set> = (0..6).map(|bit| diagrams.bit(bit).expect("memory")).collect();
        let mut random = Random::new(9);
        for _ in 0..60 {
            let mut is_set = |at: u32, bit: &Set| bit.eval((0..6).map(|n| (n, at >> n & 1 == 1)));
            agree(&diagrams, &bits, &mut random, &mut is_set);
        }
    }
}

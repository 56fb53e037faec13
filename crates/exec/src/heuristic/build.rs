//! The parts of an estimate, from a goal and the transitions of a program.

use std::collections::HashMap;

use birk_ir::{BinaryOp, Expr, LocalId, Op, Place, Program, Transition, TransitionId, UnaryOp, VarId};

use crate::rewrite::Rewriter;
use birk_engine::NEVER;

use super::{Cell, Part};

/// A condition of more nodes than this is not taken apart.
const MAX_SIZE: usize = 4_000;
/// A condition is not taken apart by more cases than this.
const MAX_CASES: usize = 64;
/// Stands for the element whose value is asked for, until what was written to it is known.
const ASKED: Expr = Expr::Local(LocalId(u32::MAX));

/// Which transitions write what a part looks at, at any depth: a bit for each.
type Writers = Vec<u64>;

pub(super) struct Builder<'p> {
    program: &'p Program,
    max_parts: usize,
    parts: Vec<Part>,
    writers: Vec<Writers>,
    numbers: HashMap<Part, usize>,
    /// For each cell that is written: the transitions that may do so.
    writing: HashMap<Cell, Vec<TransitionId>>,
    conditions: HashMap<(Expr, u32), usize>,
    values: HashMap<(Cell, i64, u32), usize>,
    /// What a transition needs to write a value to a cell, where that can be.
    needs: HashMap<(TransitionId, Cell, i64), Option<Vec<Expr>>>,
}

impl<'p> Builder<'p> {
    pub(super) fn new(program: &'p Program, max_parts: usize) -> Self {
        let mut writing: HashMap<Cell, Vec<TransitionId>> = HashMap::new();
        for (id, transition) in program.transitions.iter().enumerate() {
            for access in transition.writes(program) {
                let elements = match access.element {
                    Some(element) => element..element + 1,
                    None => 0..program.variable(access.variable).len(),
                };
                for element in elements {
                    let writers = writing.entry(Cell { variable: access.variable, element }).or_default();
                    if writers.last() != Some(&TransitionId::new(id)) {
                        writers.push(TransitionId::new(id));
                    }
                }
            }
        }
        Self {
            program,
            max_parts,
            parts: Vec::new(),
            writers: Vec::new(),
            numbers: HashMap::new(),
            writing,
            conditions: HashMap::new(),
            values: HashMap::new(),
            needs: HashMap::new(),
        }
    }

    /// The parts of the estimate of this depth, the whole last; `None` if there are too many. What was built for other
    /// depths is used again.
    pub(super) fn build(&mut self, goal: &Expr, depth: u32) -> Option<Vec<Part>> {
        let whole = self.condition(goal, depth)?;
        let mut numbers = vec![None; whole + 1];
        let mut parts = Vec::new();
        self.copy(whole, &mut numbers, &mut parts);
        Some(parts)
    }

    /// Copies a part and all that it refers to, in front of it.
    fn copy(&self, part: usize, numbers: &mut [Option<usize>], parts: &mut Vec<Part>) -> usize {
        if let Some(number) = numbers[part] {
            return number;
        }
        let mut of = |part: usize| self.copy(part, numbers, parts);
        let copy = match &self.parts[part] {
            Part::Written(cell, value, before) => Part::Written(*cell, *value, of(*before)),
            Part::Least(all) => Part::Least(all.iter().map(|&part| of(part)).collect()),
            Part::Sum(groups) => {
                Part::Sum(groups.iter().map(|group| group.iter().map(|&part| of(part)).collect()).collect())
            }
            alone => alone.clone(),
        };
        parts.push(copy);
        numbers[part] = Some(parts.len() - 1);
        parts.len() - 1
    }

    fn add(&mut self, part: Part, writers: Writers) -> Option<usize> {
        if let Some(&known) = self.numbers.get(&part) {
            return Some(known);
        }
        if self.parts.len() >= self.max_parts {
            return None;
        }
        self.numbers.insert(part.clone(), self.parts.len());
        self.parts.push(part);
        self.writers.push(writers);
        Some(self.parts.len() - 1)
    }

    /// The part of a condition.
    fn condition(&mut self, condition: &Expr, depth: u32) -> Option<usize> {
        let key = (condition.clone(), depth);
        if let Some(&part) = self.conditions.get(&key) {
            return Some(part);
        }
        let mut rewriter = Rewriter { leaf: &mut |_| None, budget: MAX_SIZE };
        let part = match rewriter.rewrite(condition) {
            Some(simple) => self.simple(&simple, depth)?,
            None => self.opaque(condition)?,
        };
        self.conditions.insert(key, part);
        Some(part)
    }

    /// Of a condition in which nothing is bound.
    fn simple(&mut self, condition: &Expr, depth: u32) -> Option<usize> {
        let (cells, unclear) = cells_of(self.program, condition);
        if let ([cell], []) = (&cells[..], &unclear[..])
            && !speaks_of_stuck(condition)
        {
            return self.one_cell(condition, *cell, depth);
        }
        match condition {
            Expr::Const(value) => self.add(Part::Fixed(if *value == 0 { NEVER } else { 0 }), self.none()),
            Expr::Stuck => self.stuck(depth),
            Expr::Binary(BinaryOp::And, _) => {
                let parts = flat(condition, BinaryOp::And);
                self.all(&parts, depth)
            }
            Expr::Binary(BinaryOp::Or, _) => {
                let parts = flat(condition, BinaryOp::Or);
                self.any(&parts, depth)
            }
            Expr::Unary(UnaryOp::Not, inner) => match &**inner {
                Expr::Binary(BinaryOp::And, _) => {
                    let parts: Vec<Expr> = flat(inner, BinaryOp::And).into_iter().map(Expr::negate).collect();
                    self.any(&parts, depth)
                }
                Expr::Binary(BinaryOp::Or, _) => {
                    let parts: Vec<Expr> = flat(inner, BinaryOp::Or).into_iter().map(Expr::negate).collect();
                    self.all(&parts, depth)
                }
                Expr::If(parts) => {
                    let (condition, yes, no) = &**parts;
                    let negated = Expr::choose(condition.clone(), yes.clone().negate(), no.clone().negate());
                    self.simple(&negated, depth)
                }
                _ => self.atom(condition, depth),
            },
            Expr::If(parts) => {
                let (condition, yes, no) = &**parts;
                let yes = condition.clone().and(yes.clone());
                let no = condition.clone().negate().and(no.clone());
                self.any(&[yes, no], depth)
            }
            _ => self.atom(condition, depth),
        }
    }

    fn all(&mut self, conditions: &[Expr], depth: u32) -> Option<usize> {
        let mut parts = Vec::new();
        for condition in conditions {
            let part = self.condition(condition, depth)?;
            if self.parts[part] == Part::Fixed(NEVER) {
                return Some(part);
            }
            if self.parts[part] != Part::Fixed(0) && !parts.contains(&part) {
                parts.push(part);
            }
        }
        if let [part] = parts[..] {
            return Some(part);
        }
        let groups = self.groups(&parts);
        let merged = groups.len() < parts.len();
        let sum = self.sum(groups, &parts)?;
        if depth == 0 || !merged {
            return Some(sum);
        }
        let shallow = self.all(conditions, depth - 1)?;
        let is_alike = match (&self.parts[sum], &self.parts[shallow]) {
            (Part::Sum(deep), Part::Sum(shallow)) => shallow.len() <= deep.len() && shallow.len() != 1,
            _ => false,
        };
        if is_alike { Some(sum) } else { self.sum(vec![vec![sum, shallow]], &[sum, shallow]) }
    }

    fn sum(&mut self, groups: Vec<Vec<usize>>, parts: &[usize]) -> Option<usize> {
        let writers = self.union(parts);
        self.add(Part::Sum(groups), writers)
    }

    fn any(&mut self, conditions: &[Expr], depth: u32) -> Option<usize> {
        let mut parts = Vec::new();
        for condition in conditions {
            parts.push(self.condition(condition, depth)?);
        }
        self.least(parts)
    }

    fn least(&mut self, mut parts: Vec<usize>) -> Option<usize> {
        parts.sort_unstable();
        parts.dedup();
        parts.retain(|&part| self.parts[part] != Part::Fixed(NEVER));
        let writers = self.union(&parts);
        match parts[..] {
            [] => self.add(Part::Fixed(NEVER), writers),
            [part] => Some(part),
            _ => self.add(Part::Least(parts), writers),
        }
    }

    /// Parts that one transition may bring nearer belong together: of a group the greatest counts, groups are added.
    fn groups(&self, parts: &[usize]) -> Vec<Vec<usize>> {
        let mut groups: Vec<(Writers, Vec<usize>)> = Vec::new();
        for &part in parts {
            let mut writers = self.writers[part].clone();
            let mut members = vec![part];
            let meets = |a: &Writers, b: &Writers| a.iter().zip(b).any(|(a, b)| a & b != 0);
            // What the new part joins may be several groups; their writers are all its writers then.
            for (others, group) in groups.extract_if(.., |(others, _)| meets(others, &writers)).collect::<Vec<_>>() {
                writers.iter_mut().zip(&others).for_each(|(all, other)| *all |= other);
                members.extend(group);
            }
            groups.push((writers, members));
        }
        groups.into_iter().map(|(_, group)| group).collect()
    }

    fn union(&self, parts: &[usize]) -> Writers {
        let mut union = self.none();
        for &part in parts {
            union.iter_mut().zip(&self.writers[part]).for_each(|(all, other)| *all |= other);
        }
        union
    }

    fn none(&self) -> Writers {
        vec![0; self.program.transitions.len().div_ceil(64)]
    }

    fn writers_of(&self, cells: &[Cell]) -> Writers {
        let mut writers = self.none();
        for cell in cells {
            for id in self.writing.get(cell).into_iter().flatten() {
                writers[id.index() / 64] |= 1 << (id.index() % 64);
            }
        }
        writers
    }

    /// A condition without `and` and `or` at its top.
    fn atom(&mut self, condition: &Expr, depth: u32) -> Option<usize> {
        let (cells, unclear) = cells_of(self.program, condition);
        // An index that is not known is decided first, so that it is known which element is read.
        let first = match (&unclear[..], &cells[..]) {
            ([], []) => return self.opaque(condition),
            ([], cells) => *cells.iter().min_by_key(|cell| self.size_of(**cell)).expect("there are some"),
            (unclear, _) => *unclear.iter().min_by_key(|cell| self.size_of(**cell)).expect("there are some"),
        };
        let combinations = cells.iter().fold(1u64, |product, &cell| product.saturating_mul(self.size_of(cell)));
        if self.size_of(first) > MAX_CASES as u64 || combinations > MAX_SIZE as u64 {
            return self.opaque(condition);
        }
        let mut cases: Vec<(Expr, Vec<i64>)> = Vec::new();
        for value in self.domain(first) {
            let mut leaf = |leaf: &Expr| (cell_of(leaf) == Some(first)).then_some(Expr::Const(value));
            let Some(rest) = (Rewriter { leaf: &mut leaf, budget: MAX_SIZE }).rewrite(condition) else {
                return self.opaque(condition);
            };
            match cases.iter_mut().find(|(other, _)| *other == rest) {
                Some((_, values)) => values.push(value),
                None => cases.push((rest, vec![value])),
            }
        }
        if cases.len() > MAX_CASES {
            return self.opaque(condition);
        }
        let read = |value| Expr::binary(BinaryOp::Eq, read_of(self.program, first), Expr::Const(value));
        let cases = cases.into_iter().filter(|(rest, _)| *rest != Expr::FALSE);
        let cases: Vec<Expr> =
            cases.map(|(rest, values)| Expr::any(values.into_iter().map(read).collect()).and(rest)).collect();
        let mut parts = Vec::new();
        for case in cases {
            parts.push(self.all(&flat(&case, BinaryOp::And), depth)?);
        }
        self.least(parts)
    }

    /// A condition on one element is a set of values.
    fn one_cell(&mut self, condition: &Expr, cell: Cell, depth: u32) -> Option<usize> {
        if self.size_of(cell) > MAX_SIZE as u64 {
            return self.opaque(condition);
        }
        let mut values = Vec::new();
        for value in self.domain(cell) {
            let mut leaf = |leaf: &Expr| (cell_of(leaf) == Some(cell)).then_some(Expr::Const(value));
            match (Rewriter { leaf: &mut leaf, budget: MAX_SIZE }).rewrite(condition) {
                Some(Expr::Const(0)) => {}
                Some(Expr::Const(_)) => values.push(value),
                _ => return self.opaque(condition),
            }
        }
        self.among(cell, values, depth)
    }

    /// That an element has one of some values.
    fn among(&mut self, cell: Cell, values: Vec<i64>, depth: u32) -> Option<usize> {
        if values.is_empty() {
            return self.add(Part::Fixed(NEVER), self.none());
        }
        // No check has failed in a state that is asked about.
        let is_fault = Some(cell.variable) == self.program.fault;
        if values.len() as u64 == self.size_of(cell) || is_fault && values.contains(&0) {
            return self.add(Part::Fixed(0), self.none());
        }
        if depth == 0 || values.len() > MAX_CASES {
            let writers = self.writers_of(&[cell]);
            return self.add(Part::Among(cell, values), writers);
        }
        let mut parts = Vec::new();
        for value in values {
            parts.push(self.written(cell, value, depth)?);
        }
        self.least(parts)
    }

    /// That an element has a value: it has it already, or a transition writes it.
    fn written(&mut self, cell: Cell, value: i64, depth: u32) -> Option<usize> {
        if let Some(&part) = self.values.get(&(cell, value, depth)) {
            return Some(part);
        }
        let mut ways = Vec::new();
        for id in self.writing.get(&cell).cloned().unwrap_or_default() {
            if let Some(needs) = self.needs(id, cell, value) {
                ways.push(self.all(&needs, depth - 1)?);
            }
        }
        let before = self.least(ways)?;
        let own = self.writers_of(&[cell]);
        let writers = own.iter().zip(&self.writers[before]).map(|(own, before)| own | before).collect();
        let part = self.add(Part::Written(cell, value, before), writers)?;
        self.values.insert((cell, value, depth), part);
        Some(part)
    }

    /// What must be true before a transition if it is to write a value to an element; `None` if it never does.
    fn needs(&mut self, id: TransitionId, cell: Cell, value: i64) -> Option<Vec<Expr>> {
        if let Some(needs) = self.needs.get(&(id, cell, value)) {
            return needs.clone();
        }
        let transition = self.program.transition(id);
        let needs = if Some(cell.variable) == self.program.fault {
            let checks = (0..transition.ops.len()).filter_map(|at| match &transition.ops[at] {
                Op::Check(condition, _) => Some(before(&transition.ops[..at], vec![condition.clone().negate()], None)),
                _ => None,
            });
            Some(Expr::any(checks.map(Expr::all).collect())).filter(|any| *any != Expr::FALSE).map(|any| vec![any])
        } else {
            let asked = Expr::binary(BinaryOp::Eq, ASKED, Expr::Const(value));
            let mut needs = before(&transition.ops, vec![asked], Some(cell));
            // Where nothing was written to it, it has not got this value.
            let mut unwritten = |leaf: &Expr| (*leaf == ASKED).then_some(Expr::Const(value ^ 1));
            for need in &mut needs {
                *need = Rewriter { leaf: &mut unwritten, budget: MAX_SIZE }.rewrite(need).unwrap_or(Expr::TRUE);
            }
            (!needs.contains(&Expr::FALSE)).then_some(needs)
        };
        let needs = needs.map(|needs| [enabled(self.program, transition), needs].concat());
        self.needs.insert((id, cell, value), needs.clone());
        needs
    }

    /// That no step is possible: no transition is enabled. Those that need more than their guard are not examined.
    fn stuck(&mut self, depth: u32) -> Option<usize> {
        let is_plain = |t: &&Transition| !t.ops.iter().any(|op| matches!(op, Op::Require(_)));
        let plain = self.program.transitions.iter().filter(is_plain);
        let disabled: Vec<Expr> = plain.map(|t| Expr::all(enabled(self.program, t)).negate()).collect();
        self.all(&disabled, depth)
    }

    fn opaque(&mut self, condition: &Expr) -> Option<usize> {
        let mut cells = Vec::new();
        let mut of = |variable: VarId| {
            cells.extend((0..self.program.variable(variable).len()).map(|element| Cell { variable, element }));
        };
        condition.walk(&mut |e| {
            if let Expr::Var(variable) | Expr::Element(variable, _) = e {
                of(*variable);
            }
        });
        let is_stuck = speaks_of_stuck(condition);
        let writers = if is_stuck { vec![u64::MAX; self.none().len()] } else { self.writers_of(&cells) };
        // Whether a state is stuck is not known from its values alone: 0 is never too much.
        let part = if is_stuck { Part::Fixed(0) } else { Part::Opaque(condition.clone()) };
        self.add(part, writers)
    }

    fn size_of(&self, cell: Cell) -> u64 {
        let variable = self.program.variable(cell.variable);
        (variable.hi - variable.lo) as u64 + 1
    }

    fn domain(&self, cell: Cell) -> std::ops::RangeInclusive<i64> {
        let variable = self.program.variable(cell.variable);
        variable.lo..=variable.hi
    }
}

/// What a transition needs to be tried: its thread at its place, and its guard.
fn enabled(program: &Program, transition: &Transition) -> Vec<Expr> {
    let thread = program.thread(transition.thread);
    let counter = program.kinds[thread.kind].counter;
    let at = Expr::element(counter, Expr::Const(i64::from(thread.copy)));
    vec![at.equals(transition.location.index() as i64), transition.guard.clone()]
}

/// What must be true before operations if these conditions are to be true after them, or less than that.
fn before(ops: &[Op], conditions: Vec<Expr>, asked: Option<Cell>) -> Vec<Expr> {
    let mut needs = conditions;
    for op in ops.iter().rev() {
        match op {
            Op::Assign(place, value) => {
                replace(&mut needs, &mut |leaf| assigned(place, value, leaf, asked));
            }
            Op::Let(local, value) => {
                replace(&mut needs, &mut |leaf| (*leaf == Expr::Local(*local)).then(|| value.clone()));
            }
            Op::Check(condition, _) | Op::Assume(condition) | Op::Require(condition) => needs.push(condition.clone()),
            Op::Choose(local, lo, hi) => {
                for need in &mut needs {
                    *need = chosen(need, *local, lo, hi);
                }
            }
        }
    }
    needs
}

fn replace(needs: &mut [Expr], leaf: &mut dyn FnMut(&Expr) -> Option<Expr>) {
    for need in needs {
        // What becomes too large is not asked for.
        *need = Rewriter { leaf, budget: MAX_SIZE }.rewrite(need).unwrap_or(Expr::TRUE);
    }
}

/// What a leaf is before an assignment, where that may have changed it.
fn assigned(place: &Place, value: &Expr, leaf: &Expr, asked: Option<Cell>) -> Option<Expr> {
    let read_at = match leaf {
        Expr::Var(variable) if *variable == place.variable => None,
        Expr::Element(variable, index) if *variable == place.variable => Some((**index).clone()),
        leaf if *leaf == ASKED => {
            let cell = asked.filter(|cell| cell.variable == place.variable)?;
            Some(Expr::Const(i64::from(cell.element)))
        }
        _ => return None,
    };
    match (&place.index, read_at) {
        (Some(written), Some(read)) => {
            let same = Expr::binary(BinaryOp::Eq, written.clone(), read);
            Some(Expr::choose(same, value.clone(), leaf.clone()))
        }
        _ => Some(value.clone()),
    }
}

/// True where it is true for some value that may be chosen.
fn chosen(need: &Expr, local: LocalId, lo: &Expr, hi: &Expr) -> Expr {
    let mut is_used = false;
    need.walk(&mut |e| is_used |= *e == Expr::Local(local));
    match (is_used, lo.as_const(), hi.as_const()) {
        (false, ..) => need.clone(),
        (true, Some(lo), Some(hi)) if hi - lo < MAX_CASES as i64 => {
            let case = |value| {
                let mut leaf = |leaf: &Expr| (*leaf == Expr::Local(local)).then_some(Expr::Const(value));
                Rewriter { leaf: &mut leaf, budget: MAX_SIZE }.rewrite(need).unwrap_or(Expr::TRUE)
            };
            Expr::any((lo..=hi).map(case).collect())
        }
        _ => Expr::TRUE,
    }
}

fn speaks_of_stuck(condition: &Expr) -> bool {
    let mut speaks = false;
    condition.walk(&mut |e| speaks |= *e == Expr::Stuck);
    speaks
}

/// The operands of nested `and`s or `or`s.
fn flat(expr: &Expr, op: BinaryOp) -> Vec<Expr> {
    let mut found = Vec::new();
    let mut open = vec![expr];
    while let Some(expr) = open.pop() {
        match expr {
            Expr::Binary(other, parts) if *other == op => open.extend([&parts.1, &parts.0]),
            _ => found.push(expr.clone()),
        }
    }
    found
}

fn cell_of(expr: &Expr) -> Option<Cell> {
    match expr {
        Expr::Var(variable) => Some(Cell { variable: *variable, element: 0 }),
        Expr::Element(variable, index) => {
            let element = u32::try_from(index.as_const()?).ok()?;
            Some(Cell { variable: *variable, element })
        }
        _ => None,
    }
}

fn read_of(program: &Program, cell: Cell) -> Expr {
    match program.variable(cell.variable).shape[..] {
        [] => Expr::Var(cell.variable),
        _ => Expr::element(cell.variable, Expr::Const(i64::from(cell.element))),
    }
}

/// The elements that an expression reads, and those of them on which it depends which others it reads.
fn cells_of(program: &Program, expr: &Expr) -> (Vec<Cell>, Vec<Cell>) {
    let (mut cells, mut unclear) = (Vec::new(), Vec::new());
    let is_there = |cell: &Cell| cell.element < program.variable(cell.variable).len();
    expr.walk(&mut |e| match (e, cell_of(e)) {
        (_, Some(cell)) if is_there(&cell) => cells.push(cell),
        (Expr::Element(_, index), None) => {
            index.walk(&mut |e| unclear.extend(cell_of(e).filter(is_there)));
        }
        _ => {}
    });
    for cells in [&mut cells, &mut unclear] {
        cells.sort_unstable();
        cells.dedup();
    }
    (cells, unclear)
}

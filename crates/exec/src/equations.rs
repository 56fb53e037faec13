//! A formula as a system of equations, one for each part, in blocks of fixpoints of one kind.
//!
//! A variable is no part of its own: what uses it refers to its fixpoint, which stands above. A part in which no
//! variable of an outer fixpoint occurs is closed, and has one value; the others belong to a block, together with the
//! fixpoint that begins it. A block ends where a fixpoint of the other kind begins: there the formula alternates.

use birk_ir::branching::literal;
use birk_ir::{Branching, Expr, Steps, TransitionId};

/// One part of a formula. Parts are numbered from the outside in, so that parts within it have larger numbers.
#[derive(Debug)]
pub struct Part {
    /// What it says.
    pub kind: Kind,
    /// What it is made of; a smaller number is a fixpoint around it.
    pub children: Vec<u32>,
    /// What is made of it.
    pub parents: Vec<u32>,
    /// One behind the last part within it.
    pub end: u32,
    /// No variable of a fixpoint around it occurs in it.
    pub is_closed: bool,
    /// It or something within it is about steps.
    pub is_modal: bool,
    /// An earlier part that says the same, and is closed: what is computed for that is its value.
    pub twin: Option<u32>,
    /// The fixpoint that begins its block; for a closed part other than a fixpoint, none.
    pub block: Option<u32>,
}

/// What a part says, given its children.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A proposition, and whether it is negated.
    Atom(usize, bool),
    /// All children.
    And,
    /// Any of them.
    Or,
    /// The child after some of these steps, by their number in `steps`.
    Some(usize),
    /// The child after each of these steps.
    Every(usize),
    /// The least or the greatest fixpoint of the child.
    Fixpoint {
        /// Whether it is the least one.
        least: bool,
    },
}

/// The steps of a modality.
#[derive(Debug, PartialEq, Eq)]
pub enum Meant {
    /// All of them.
    All,
    /// All of them, and staying where there is none.
    OrStay,
    /// For each transition, whether it is meant.
    Of(Vec<bool>),
    /// The same; and where none of them is possible, all steps are meant, and staying.
    Fair(Vec<bool>),
}

impl Meant {
    /// Whether staying is meant, where no step is possible.
    pub fn includes_staying(&self) -> bool {
        matches!(self, Meant::OrStay | Meant::Fair(_))
    }

    /// Whether a step of this transition is meant, wherever it is.
    pub fn includes(&self, label: Option<TransitionId>) -> bool {
        match self {
            Meant::All | Meant::OrStay => true,
            Meant::Of(meant) | Meant::Fair(meant) => label.is_some_and(|label| meant[label.index()]),
        }
    }
}

/// Fixpoints of one kind, without another kind between them.
#[derive(Debug, Default)]
pub struct Block {
    /// Whether they are least ones.
    pub least: bool,
    /// The parts of the block, the fixpoint that begins it first.
    pub members: Vec<u32>,
    /// What its members use and has a value already: closed parts, and fixpoints around the block.
    pub given: Vec<u32>,
    /// Blocks of the other kind within it, by their first fixpoints: they depend on it, and it on them.
    pub inner: Vec<u32>,
}

/// What is known while a formula is cut into parts.
#[derive(Default)]
struct Names<'f> {
    /// The fixpoints around, by number and part.
    bound: Vec<(u32, u32)>,
    /// The closed parts so far that are about steps, each once.
    closed: Vec<(&'f Branching, u32)>,
}

/// The equations of a formula; part 0 is the whole.
#[derive(Debug, Default)]
pub struct Equations {
    /// By number.
    pub parts: Vec<Part>,
    /// What modalities mean, by number.
    pub steps: Vec<Meant>,
    /// By the fixpoint that begins it.
    blocks: Vec<Option<Block>>,
}

impl Equations {
    /// Of a formula, given the propositions and the number of transitions.
    pub fn new(formula: &Branching, propositions: &[Expr], transitions: usize) -> Self {
        let mut equations = Self::default();
        equations.add(formula, propositions, transitions, &mut Names::default());
        equations.blocks.resize_with(equations.parts.len(), || None);
        for part in 0..equations.parts.len() as u32 {
            for child in equations.parts[part as usize].children.clone() {
                equations.parts[child as usize].parents.push(part);
            }
        }
        equations.assign(0, None);
        for part in 0..equations.parts.len() as u32 {
            let Some(block) = equations.parts[part as usize].block else { continue };
            for child in equations.parts[part as usize].children.clone() {
                let is_inner = equations.block(block).inner.contains(&child);
                let is_member = equations.parts[child as usize].block == Some(block);
                let given = &mut equations.block_mut(block).given;
                if !is_inner && !is_member && !given.contains(&child) {
                    given.push(child);
                }
            }
        }
        equations
    }

    /// The part that is computed for this one.
    pub fn computed_for(&self, part: u32) -> u32 {
        self.parts[part as usize].twin.unwrap_or(part)
    }

    /// The block that a fixpoint begins.
    pub fn block(&self, first: u32) -> &Block {
        self.blocks[first as usize].as_ref().expect("a block is known by the fixpoint that begins it")
    }

    fn block_mut(&mut self, first: u32) -> &mut Block {
        self.blocks[first as usize].as_mut().expect("a block is known by the fixpoint that begins it")
    }

    /// Adds a formula.
    fn add<'f>(&mut self, formula: &'f Branching, known: &[Expr], transitions: usize, names: &mut Names<'f>) -> u32 {
        if let Branching::Variable(number) = formula {
            let found = names.bound.iter().rev().find(|(other, _)| other == number);
            return found.expect("a variable stands within its fixpoint").1;
        }
        let part = self.parts.len() as u32;
        let kind = match formula {
            Branching::Atom(expr) => {
                let (proposition, is_negated) = literal(expr);
                let index = known.iter().position(|other| other == proposition);
                Kind::Atom(index.expect("every condition of the formula is a proposition"), is_negated)
            }
            Branching::Variable(_) | Branching::And(_) => Kind::And,
            Branching::Or(_) => Kind::Or,
            Branching::Some(steps, _) => Kind::Some(self.meant(steps, transitions)),
            Branching::Every(steps, _) => Kind::Every(self.meant(steps, transitions)),
            Branching::Least(..) => Kind::Fixpoint { least: true },
            Branching::Greatest(..) => Kind::Fixpoint { least: false },
        };
        self.parts.push(Part {
            kind,
            children: Vec::new(),
            parents: Vec::new(),
            end: 0,
            is_closed: true,
            is_modal: matches!(kind, Kind::Some(_) | Kind::Every(_)),
            twin: None,
            block: None,
        });
        let mut children = Vec::new();
        match formula {
            Branching::Atom(_) | Branching::Variable(_) => {}
            Branching::And(two) | Branching::Or(two) => {
                children.push(self.add(&two.0, known, transitions, names));
                children.push(self.add(&two.1, known, transitions, names));
            }
            Branching::Some(_, body) | Branching::Every(_, body) => {
                children.push(self.add(body, known, transitions, names));
            }
            Branching::Least(number, body) | Branching::Greatest(number, body) => {
                names.bound.push((*number, part));
                children.push(self.add(body, known, transitions, names));
                names.bound.pop();
            }
        }
        let end = self.parts.len() as u32;
        // Only what is bound at this part itself, or within it, may be referred to from within a closed one.
        let is_open = |at: u32| self.parts[at as usize].children.iter().any(|&child| child < part);
        let is_closed = !(part + 1..end).any(is_open) && children.iter().all(|&child| child >= part);
        self.parts[part as usize].is_modal |= (part + 1..end).any(|at| self.parts[at as usize].is_modal);
        self.parts[part as usize].children = children;
        self.parts[part as usize].end = end;
        self.parts[part as usize].is_closed = is_closed;
        if is_closed && self.parts[part as usize].is_modal {
            let twin = names.closed.iter().find(|(other, _)| *other == formula);
            self.parts[part as usize].twin = twin.map(|(_, part)| *part);
            if twin.is_none() {
                names.closed.push((formula, part));
            }
        }
        part
    }

    fn meant(&mut self, steps: &Steps, transitions: usize) -> usize {
        let meant = match steps {
            Steps::All => Meant::All,
            Steps::OrStay => Meant::OrStay,
            Steps::Of(ids) | Steps::Fair(ids) => {
                let mut of = vec![false; transitions];
                ids.iter().filter(|id| id.index() < transitions).for_each(|id| of[id.index()] = true);
                if matches!(steps, Steps::Of(_)) { Meant::Of(of) } else { Meant::Fair(of) }
            }
        };
        self.steps.iter().position(|other| *other == meant).unwrap_or_else(|| {
            self.steps.push(meant);
            self.steps.len() - 1
        })
    }

    /// Gives a part and what is within it their blocks.
    fn assign(&mut self, part: u32, around: Option<u32>) {
        let Part { kind, is_closed, .. } = self.parts[part as usize];
        let around = around.filter(|_| !is_closed);
        let block = match kind {
            Kind::Fixpoint { least } if around.is_none_or(|around| self.block(around).least != least) => {
                if let Some(around) = around {
                    self.block_mut(around).inner.push(part);
                }
                self.blocks[part as usize] = Some(Block { least, ..Block::default() });
                Some(part)
            }
            _ => around,
        };
        self.parts[part as usize].block = block;
        if let Some(block) = block {
            self.block_mut(block).members.push(part);
        }
        for child in self.parts[part as usize].children.clone() {
            if child > part {
                self.assign(child, block);
            }
        }
    }

    /// Bytes for each state while a value is computed and a run is read off: a bit for each part, the steps that are
    /// left to a modality, the order in which a block was computed, and what waits.
    pub fn bytes_per_state(&self) -> u64 {
        let modal = self.parts.iter().filter(|part| matches!(part.kind, Kind::Some(_) | Kind::Every(_))).count();
        let ordered = self.parts.iter().filter(|part| part.block.is_some()).count();
        (self.parts.len() as u64).div_ceil(8) + 1 + (modal + ordered) as u64 * 4 + 8
    }
}

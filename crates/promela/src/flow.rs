//! The control flow of a process, built as SPIN builds it, because its states are counted: which statements have a state of
//! their own, where a jump leads, and what belongs to an `atomic` sequence.
//!
//! An *element* is a statement or a node between statements. A process is always at an element; those that do nothing are
//! jumped over, except where that would leave an `atomic` sequence.

mod build;
mod finish;

use std::collections::HashMap;
use std::rc::Rc;

use birk_ir::Span;

use crate::syntax::ast::{Decl, Expr, Name, Pattern, Place};

pub(crate) use build::{Range, build};

/// Part of an atomic sequence, and not its last element.
const ATOM: u8 = 1;
/// The last element of an atomic sequence.
const LAST: u8 = 2;
/// In a `d_step`.
const DSTEP: u8 = 4;

/// The names that are visible somewhere in a process, the innermost first.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scope(Option<Rc<Frame>>);

#[derive(Debug)]
struct Frame {
    name: Rc<str>,
    local: usize,
    /// How deep the block is in which it is declared.
    depth: usize,
    outer: Scope,
}

impl Scope {
    pub(crate) fn find(&self, name: &str) -> Option<usize> {
        let mut at = self;
        while let Some(frame) = &at.0 {
            if &*frame.name == name {
                return Some(frame.local);
            }
            at = &frame.outer;
        }
        None
    }
}

/// What an element does.
#[derive(Clone, Debug)]
pub(crate) enum Node {
    Assign(Place, Expr),
    Assert(Expr),
    /// Does nothing, and takes a step.
    Skip,
    /// The same, for `printf`.
    Print,
    Send {
        channel: Place,
        args: Vec<Expr>,
        sorted: bool,
    },
    Receive {
        channel: Place,
        args: Vec<Pattern>,
        random: bool,
        keep: bool,
    },
    Else,
    Wait(Expr),
    /// The options of `if` and `do`.
    Choice,
    /// To a label, or to the end of a loop.
    Goto(Target),
    /// The end of `if`, the head of `do`.
    Dot,
    /// The end of `do`.
    Break,
    Atomic,
    DStep,
    Block,
    /// A sequence, and what it is left for.
    Unless,
    /// The end of the process.
    End,
}

#[derive(Clone, Debug)]
pub(crate) enum Target {
    Label(Name),
    /// The end of the loop with this number.
    Loop(usize),
    Element(usize),
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Seq {
    pub(crate) first: usize,
    pub(crate) last: usize,
    /// The last before what follows was attached.
    extent: usize,
}

#[derive(Clone, Debug)]
pub(crate) struct Element {
    pub(crate) node: Node,
    pub(crate) span: Span,
    pub(crate) scope: Scope,
    next: Option<usize>,
    options: Vec<Seq>,
    body: Option<Seq>,
    /// The sequences that it is left for where they can be executed, the most urgent first.
    escapes: Vec<Seq>,
    status: u8,
    /// Which inline call it is in, for labels.
    inline: usize,
    /// The `d_step` it is in.
    pub(crate) dstep: Option<usize>,
    pub(crate) labels: Vec<Rc<str>>,
}

/// A variable of a process.
#[derive(Clone, Debug)]
pub(crate) struct Local {
    pub(crate) decl: Decl,
    /// Its name, unique in the process.
    pub(crate) name: String,
    /// The names that its initial value may use; `None` where a statement gives the value.
    pub(crate) init: Option<Scope>,
    pub(crate) is_param: bool,
}

/// What an element leads to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Leaf {
    /// The statement that is executed.
    pub(crate) element: usize,
    /// Where the process is then.
    pub(crate) target: usize,
    /// Whether the process goes on at once, where it can.
    pub(crate) atomic: bool,
    /// A lower rank goes first: what a sequence is left for, before its own statements.
    pub(crate) rank: usize,
}

/// The flow of one process.
#[derive(Debug)]
pub(crate) struct Flow {
    pub(crate) elements: Vec<Element>,
    pub(crate) start: usize,
    pub(crate) locals: Vec<Local>,
    /// The element of each label.
    pub(crate) labels: HashMap<Rc<str>, usize>,
    /// By element: labelled `end`, `accept`, `progress`, what a choice hands on included.
    pub(crate) marks: Vec<[bool; 3]>,
}

impl Flow {
    fn target_of(&self, element: usize) -> Option<usize> {
        match &self.elements[element].node {
            Node::Goto(Target::Element(target)) => Some(*target),
            Node::Dot | Node::Break => self.elements[element].next,
            Node::Unless => self.elements[element].options.first().map(|main| main.first),
            _ => None,
        }
    }

    /// Jumps over what does nothing, unless that leaves an atomic sequence.
    fn hunt(&self, from: usize, status: u8) -> usize {
        let mut at = from;
        for _ in 0..500 {
            let Some(next) = self.target_of(at) else { break };
            if status & ATOM != 0 && self.elements[next].status & ATOM == 0 {
                break;
            }
            at = next;
        }
        at
    }

    /// Where an element leads.
    fn after(&self, element: usize) -> usize {
        let this = &self.elements[element];
        let next = match this.node {
            Node::Goto(Target::Element(target)) => target,
            _ => this.next.unwrap_or(element),
        };
        if this.dstep.is_some() { self.hunt_inside(next, this.dstep) } else { self.hunt(next, this.status) }
    }

    /// Inside a `d_step` nobody sees where the process is.
    fn hunt_inside(&self, from: usize, dstep: Option<usize>) -> usize {
        let mut at = from;
        for _ in 0..500 {
            if self.elements[at].dstep != dstep {
                break;
            }
            let Some(next) = self.target_of(at) else { break };
            at = next;
        }
        match dstep {
            // Left: where the whole `d_step` leads.
            Some(whole) if self.elements[at].dstep != dstep => self.after(whole),
            _ => at,
        }
    }

    /// The first element of a sequence.
    fn first_of(&self, seq: Seq) -> usize {
        let mut at = seq.first;
        for _ in 0..200 {
            match (&self.elements[at].node, self.elements[at].next) {
                (Node::Dot, Some(next)) => at = next,
                (Node::Unless, _) => at = self.elements[at].options[0].first,
                _ => break,
            }
        }
        at
    }

    /// What can be executed at an element, in order.
    pub(crate) fn leaves(&self, element: usize) -> Vec<Leaf> {
        let mut found = Vec::new();
        let escapes = self.escapes(element);
        for (rank, &escape) in escapes.iter().enumerate() {
            let state = self.hunt(escape, self.elements[element].status);
            found.extend(self.own_leaves(state).into_iter().map(|leaf| Leaf { rank, ..leaf }));
        }
        let rank = escapes.len();
        found.extend(self.own_leaves(element).into_iter().map(|leaf| Leaf { rank, ..leaf }));
        found
    }

    fn own_leaves(&self, element: usize) -> Vec<Leaf> {
        let mut found = Vec::new();
        self.collect(element, 0, &mut found);
        found
    }

    /// What an element is left for, and the statement that it begins with.
    fn escapes(&self, element: usize) -> Vec<usize> {
        let mut found: Vec<usize> = Vec::new();
        let mut at = element;
        for _ in 0..200 {
            for escape in &self.elements[at].escapes {
                if !found.contains(&escape.first) {
                    found.push(escape.first);
                }
            }
            match (&self.elements[at].node, &self.inner_of(at)[..]) {
                (Node::Atomic | Node::Block, [first]) => at = *first,
                _ => break,
            }
        }
        found
    }

    fn collect(&self, element: usize, depth: usize, found: &mut Vec<Leaf>) {
        let this = &self.elements[element];
        for &inner in self.inner_of(element).iter().filter(|_| depth < 200) {
            self.collect(inner, depth + 1, found);
        }
        if !matches!(this.node, Node::Choice | Node::Atomic | Node::Block | Node::Unless) {
            let target = self.after(element);
            let atomic = this.status & ATOM != 0 || this.dstep.is_some() && self.elements[target].dstep == this.dstep;
            // A `d_step` is entered by its first statement.
            if matches!(this.node, Node::DStep) {
                let body = this.body.expect("a d_step has statements");
                let first = self.hunt_inside(self.first_of(body), Some(element));
                return self.collect(first, depth + 1, found);
            }
            let atomic = match this.dstep {
                Some(whole) if self.elements[target].dstep != this.dstep => self.elements[whole].status & ATOM != 0,
                _ => atomic,
            };
            found.push(Leaf { element, target, atomic, rank: 0 });
        }
    }

    /// The first elements of the parts of a choice or a block.
    fn inner_of(&self, element: usize) -> Vec<usize> {
        let this = &self.elements[element];
        match this.node {
            Node::Choice => this.options.iter().map(|option| self.first_of(*option)).collect(),
            Node::Atomic | Node::Block => this.body.iter().map(|body| self.first_of(*body)).collect(),
            Node::Unless => vec![self.first_of(this.options[0])],
            _ => Vec::new(),
        }
    }

    /// All elements at which the process can be, the first one first.
    pub(crate) fn states(&self) -> Vec<usize> {
        let mut found = vec![self.start];
        let mut seen = vec![false; self.elements.len()];
        seen[self.start] = true;
        let mut at = 0;
        while at < found.len() {
            for leaf in self.leaves(found[at]) {
                let is_end = matches!(self.elements[leaf.element].node, Node::End);
                if !is_end && !std::mem::replace(&mut seen[leaf.target], true) {
                    found.push(leaf.target);
                }
            }
            at += 1;
        }
        found
    }

    /// Hands the labels of what is inside a choice to where its options lead, as SPIN does.
    fn hand_on_marks(&mut self) {
        for element in 0..self.elements.len() {
            let inner = self.inner_of(element);
            if inner.is_empty() {
                continue;
            }
            for first in inner {
                for mark in 0..3 {
                    // A choice in a choice: its own label goes to its options.
                    if self.is_choice(first) && self.marks[first][mark] {
                        for inner in self.inner_of(first) {
                            self.marks[inner][mark] = true;
                        }
                    }
                }
            }
            for leaf in self.own_leaves(element) {
                for mark in 0..3 {
                    let has = self.marks[leaf.element][mark];
                    self.marks[leaf.target][mark] |= has && leaf.element != element;
                }
            }
        }
    }

    fn is_choice(&self, element: usize) -> bool {
        matches!(self.elements[element].node, Node::Choice | Node::Atomic | Node::Block)
    }
}

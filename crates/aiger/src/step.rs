//! The operations of a step: inputs are chosen, every gate is evaluated as soon as it can be, and what is required is asked at once,
//! so that a search which takes one value after the other turns round early.

use birk_ir::{BinaryOp, Expr, LocalId, Op, VarId};

use crate::graph::{Edge, Graph, Node};

/// A step on its way.
pub(crate) struct Step<'g> {
    graph: &'g Graph,
    /// The variables of the latches.
    latches: &'g [VarId],
    /// What each node is bound to, once it is.
    locals: Vec<Option<LocalId>>,
    pub(crate) ops: Vec<Op>,
    pub(crate) count: u32,
}

impl<'g> Step<'g> {
    /// Everything that these signals depend on is bound; where one that is required is false, there is no step.
    pub(crate) fn new(graph: &'g Graph, latches: &'g [VarId], required: &[Edge], used: &[Edge]) -> Self {
        let mut step = Self { graph, latches, locals: vec![None; graph.nodes.len()], ops: Vec::new(), count: 0 };
        let (levels, inputs) = step.levels(required, used);
        let mut by_level: Vec<Vec<usize>> = vec![Vec::new(); inputs.len() + 1];
        for (node, level) in levels.iter().enumerate() {
            if let (Some(level), Node::And(..) | Node::Xor(..) | Node::If(..)) = (level, graph.nodes[node]) {
                by_level[*level].push(node);
            }
        }
        let mut required: Vec<(usize, Edge)> =
            required.iter().map(|&edge| (levels[edge.node()].unwrap_or(0), edge)).collect();
        required.sort_by_key(|&(level, _)| level);
        let mut required = required.into_iter().peekable();
        for (level, nodes) in by_level.into_iter().enumerate() {
            if let Some(&input) = level.checked_sub(1).and_then(|number| inputs.get(number)) {
                let local = step.local();
                step.ops.push(Op::Choose(local, Expr::FALSE, Expr::TRUE));
                step.locals[input] = Some(local);
            }
            for node in nodes {
                let value = step.gate(&graph.nodes[node]);
                let local = step.bind(value);
                step.locals[node] = Some(local);
            }
            while let Some((_, edge)) = required.next_if(|&(of, _)| of == level) {
                let condition = step.value(edge);
                if condition != Expr::TRUE {
                    step.ops.push(Op::Require(condition));
                }
            }
        }
        step
    }

    /// By node that is needed, how many inputs are chosen before it has a value; and the nodes of the inputs in the order in which
    /// they are chosen, those first on which something required depends.
    fn levels(&self, required: &[Edge], used: &[Edge]) -> (Vec<Option<usize>>, Vec<usize>) {
        let graph = self.graph;
        let (first, all) = (graph.cone(required), graph.cone(&[required, used].concat()));
        let is_input = |&node: &usize| all[node] && matches!(graph.nodes[node], Node::Input(_));
        let mut inputs: Vec<usize> = (0..graph.nodes.len()).filter(is_input).collect();
        let number = |node: usize| match graph.nodes[node] {
            Node::Input(number) => number,
            _ => 0,
        };
        inputs.sort_by_key(|&node| (!first[node], number(node)));
        let mut levels = vec![None; graph.nodes.len()];
        for (at, &node) in inputs.iter().enumerate() {
            levels[node] = Some(at + 1);
        }
        for node in (0..graph.nodes.len()).filter(|&node| all[node]) {
            let below = graph.nodes[node].operands().into_iter().filter_map(|edge| levels[edge.node()]).max();
            levels[node] = levels[node].or(Some(below.unwrap_or(0)));
        }
        (levels, inputs)
    }

    /// A value that is not bound yet.
    fn local(&mut self) -> LocalId {
        self.count += 1;
        LocalId(self.count - 1)
    }

    /// Binds a value.
    pub(crate) fn bind(&mut self, value: Expr) -> LocalId {
        let local = self.local();
        self.ops.push(Op::Let(local, value));
        local
    }

    /// A free choice between 0 and 1.
    pub(crate) fn choose(&mut self) -> Expr {
        let local = self.local();
        self.ops.push(Op::Choose(local, Expr::FALSE, Expr::TRUE));
        Expr::Local(local)
    }

    fn gate(&self, node: &Node) -> Expr {
        match *node {
            Node::And(a, b) => Expr::binary(BinaryOp::And, self.value(a), self.value(b)),
            Node::Xor(a, b) => Expr::binary(BinaryOp::Ne, self.value(a), self.value(b)),
            Node::If(a, b, c) => Expr::choose(self.value(a), self.value(b), self.value(c)),
            Node::False | Node::Input(_) | Node::Latch(_) => Expr::FALSE,
        }
    }

    /// The value of a signal.
    pub(crate) fn value(&self, edge: Edge) -> Expr {
        let value = match (self.locals[edge.node()], self.graph.nodes[edge.node()]) {
            (Some(local), _) => Expr::Local(local),
            (None, Node::Latch(latch)) => Expr::Var(self.latches[latch as usize]),
            (None, _) => Expr::FALSE,
        };
        if edge.is_negated() { value.negate() } else { value }
    }

    /// From here on latches are written: what is needed of them as they were is bound.
    pub(crate) fn keep(&mut self, edges: &[Edge]) {
        for edge in edges {
            if let (Node::Latch(latch), None) = (self.graph.nodes[edge.node()], self.locals[edge.node()]) {
                let local = self.bind(Expr::Var(self.latches[latch as usize]));
                self.locals[edge.node()] = Some(local);
            }
        }
    }
}

//! Expressions with some of their leaves replaced, and everything folded that becomes constant.

use birk_ir::expr::wrap;
use birk_ir::{Expr, FoldOp, LocalId, UnaryOp};

/// A fold over more values than this is not written out.
const MAX_UNROLLED: i64 = 64;

/// Rewrites within a number of steps: what values bound by `Let` are written out, and that can be too much.
pub(crate) struct Rewriter<'l> {
    /// What stands for a leaf: a variable, an element whose index was rewritten, a local that is not bound inside.
    pub(crate) leaf: &'l mut dyn FnMut(&Expr) -> Option<Expr>,
    /// Nodes that may still be written.
    pub(crate) budget: usize,
}

impl Rewriter<'_> {
    /// The expression after rewriting; `None` if it becomes too large.
    pub(crate) fn rewrite(&mut self, expr: &Expr) -> Option<Expr> {
        self.within(expr, &mut Vec::new())
    }

    fn within(&mut self, expr: &Expr, bound: &mut Vec<(LocalId, Expr)>) -> Option<Expr> {
        self.budget = self.budget.checked_sub(1)?;
        Some(match expr {
            Expr::Const(_) => expr.clone(),
            Expr::Local(local) => match bound.iter().rev().find(|(name, _)| name == local) {
                Some((_, value)) => {
                    self.budget = self.budget.checked_sub(value.size())?;
                    value.clone()
                }
                None => self.leaf(expr),
            },
            Expr::Var(_) | Expr::Stuck => self.leaf(expr),
            Expr::Element(variable, index) => {
                let element = Expr::element(*variable, self.within(index, bound)?);
                self.leaf(&element)
            }
            Expr::Unary(op, operand) => match (op, self.within(operand, bound)?) {
                (UnaryOp::Not, operand) => operand.negate(),
                (op, Expr::Const(value)) => Expr::Const(op.apply(value)),
                (op, operand) => Expr::Unary(*op, Box::new(operand)),
            },
            Expr::Binary(op, parts) => {
                let (left, right) = (self.within(&parts.0, bound)?, self.within(&parts.1, bound)?);
                Expr::binary(*op, left, right)
            }
            Expr::If(parts) => match self.within(&parts.0, bound)? {
                Expr::Const(0) => self.within(&parts.2, bound)?,
                Expr::Const(_) => self.within(&parts.1, bound)?,
                condition => Expr::choose(condition, self.within(&parts.1, bound)?, self.within(&parts.2, bound)?),
            },
            Expr::Wrap(value, lo, hi) => match self.within(value, bound)? {
                Expr::Const(value) => Expr::Const(wrap(value, *lo, *hi)),
                value => Expr::Wrap(Box::new(value), *lo, *hi),
            },
            Expr::Let { local, parts } => {
                let value = self.within(&parts.0, bound)?;
                bound.push((*local, value));
                let body = self.within(&parts.1, bound);
                bound.pop();
                body?
            }
            Expr::Fold { op, local, parts } => {
                match (self.within(&parts.0, bound)?, self.within(&parts.1, bound)?) {
                    (Expr::Const(lo), Expr::Const(hi)) if hi.saturating_sub(lo) < MAX_UNROLLED => {
                        let mut bodies = Vec::new();
                        for value in lo..=hi {
                            bound.push((*local, Expr::Const(value)));
                            let body = self.within(&parts.2, bound);
                            bound.pop();
                            bodies.push(body?);
                        }
                        combined(*op, bodies)
                    }
                    // What is bound inside would need a name of its own.
                    _ => return None,
                }
            }
        })
    }

    fn leaf(&mut self, leaf: &Expr) -> Expr {
        (self.leaf)(leaf).unwrap_or_else(|| leaf.clone())
    }
}

fn combined(op: FoldOp, bodies: Vec<Expr>) -> Expr {
    let sum = |bodies: Vec<Expr>| {
        bodies.into_iter().fold(Expr::Const(0), |sum, body| Expr::binary(birk_ir::BinaryOp::Add, sum, body))
    };
    match op {
        FoldOp::All => Expr::all(bodies),
        FoldOp::Any => Expr::any(bodies),
        FoldOp::Sum => sum(bodies),
        FoldOp::Count => {
            sum(bodies.into_iter().map(|body| Expr::choose(body, Expr::Const(1), Expr::Const(0))).collect())
        }
    }
}

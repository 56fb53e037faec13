//! `crashes` in the tree.

use birk_ir::Span;

use super::{Action, Expr};

/// `crashes when expr` behind the parameters of a thread, with what it does then.
#[derive(Clone, Debug)]
pub struct Crashes {
    /// When it may.
    pub condition: Option<Expr>,
    /// `on crash { … }`: done in the same step.
    pub crash: Option<Vec<Action>>,
    /// `on restart { … }`: what it does first when it runs again.
    pub restart: Option<Vec<Action>>,
    /// `crashes` with its condition.
    pub span: Span,
}

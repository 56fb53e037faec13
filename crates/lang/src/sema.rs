//! What a system means: names, types, constants, and expressions that become those of a `Program`.

pub(crate) mod aggregate;
pub(crate) mod collection;
pub(crate) mod const_eval;
pub(crate) mod context;
pub(crate) mod declarations;
pub(crate) mod expression;
pub(crate) mod lint;
pub(crate) mod place;
mod proposals;
pub(crate) mod types;

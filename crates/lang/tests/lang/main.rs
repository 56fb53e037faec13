//! The language: what it accepts, how it is lowered and written, and what is said of mistakes.

mod chains;
mod clock;
mod crashes;
mod format;
mod grammar;
mod initial;
mod lints;
mod lowering;
mod mistakes;
mod misuse;
mod refinement;
mod robustness;
mod syntax;
mod timeout;

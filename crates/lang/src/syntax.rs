//! Text to tree and back: tokens, the tree that they make, and the formatter.

pub mod ast;
pub mod fmt;
pub mod lexer;
pub mod parser;

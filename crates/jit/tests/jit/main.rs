//! Native code against the interpreter.

mod oracle;
mod wide;
mod words;

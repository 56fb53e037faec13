//! Native code against the interpreter.

mod oracle;
mod sharing;
mod wide;
mod words;

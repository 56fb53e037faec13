//! What stands in for the compiler where there is no native code: the interpreter.

use birk_exec::Interpreter;
use birk_ir::{Goal, Program};

/// The native code that searches of a program share: none.
#[derive(Debug, Default)]
pub(crate) struct Native(());

/// A program that stays interpreted.
pub(crate) type Staged<'p> = Interpreter<'p>;

/// What is asked of a program that is compiled when its search goes on.
pub(crate) trait NeverCompiled<'p>: Sized {
    /// A model that evaluates these goals.
    fn sharing(native: &'p Native, program: &'p Program, goals: &[Goal]) -> Self;

    /// Why native code was wanted and could not be had: nobody wanted any.
    fn refusal(&self) -> Option<&str> {
        None
    }
}

impl<'p> NeverCompiled<'p> for Interpreter<'p> {
    fn sharing(_: &'p Native, program: &'p Program, goals: &[Goal]) -> Self {
        Self::new(program, goals)
    }
}

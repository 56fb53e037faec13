//! Conditions over states as native code: all of them at once, one bit each.

use birk_exec::reduction::Conditions;
use birk_ir::{Expr, Program};
use cranelift_jit::JITModule;

use crate::{Compiler, Evaluate, emit, module};

/// Conditions of a program as native code.
pub struct Predicates {
    module: Option<JITModule>,
    /// One function for 64 of them.
    functions: Vec<Evaluate>,
    /// Length of a state.
    words: usize,
}

// SAFETY: as with `Code`: after `finalize_definitions` the module only owns the memory of the code, and the functions touch
// only what they are given.
#[allow(unsafe_code, reason = "the module holds raw pointers to code that never changes")]
unsafe impl Send for Predicates {}
// SAFETY: as above.
#[allow(unsafe_code, reason = "the module holds raw pointers to code that never changes")]
unsafe impl Sync for Predicates {}

impl Predicates {
    /// Compiles conditions; an error says why that cannot be.
    pub fn new(program: &Program, conditions: &[Expr]) -> Result<Self, String> {
        let words = program.layout.words();
        if words > crate::MAX_WORDS {
            return Err(format!("its states have {words} words"));
        }
        let mut module = module()?;
        let mut compiler = Compiler::new(&mut module, 0);
        let mut ids = Vec::new();
        for conditions in conditions.chunks(64) {
            ids.push(compiler.function(2, |builder| emit::predicates(builder, program, conditions))?);
        }
        module.finalize_definitions().map_err(|error| error.to_string())?;
        // SAFETY: the functions were declared with exactly this signature.
        #[allow(unsafe_code, reason = "the address of compiled code becomes a function")]
        let function = |id| unsafe { std::mem::transmute::<*const u8, Evaluate>(module.get_finalized_function(id)) };
        let functions = ids.into_iter().map(function).collect();
        Ok(Self { module: Some(module), functions, words })
    }
}

impl Conditions for Predicates {
    fn evaluate(&self, state: &[u32], out: &mut [u64]) {
        assert!(state.len() == self.words, "states are as long as the layout says");
        for (function, out) in self.functions.iter().zip(out) {
            // SAFETY: `state` has the layout's length, and the code only reads it.
            #[allow(unsafe_code, reason = "compiled code reads the state")]
            let bits = unsafe { function(state.as_ptr(), 0) };
            *out = bits;
        }
    }
}

impl std::fmt::Debug for Predicates {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Predicates({} functions)", self.functions.len())
    }
}

impl Drop for Predicates {
    fn drop(&mut self) {
        if let Some(module) = self.module.take() {
            // SAFETY: the function pointers live in this value and die with it.
            #[allow(unsafe_code, reason = "the code is freed with its last user")]
            unsafe {
                module.free_memory();
            }
        }
    }
}

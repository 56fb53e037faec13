//! A program that is interpreted until its search proves worth compiling.
//!
//! Compiling costs milliseconds, as much as interpreting some thousand states; most models are smaller than that.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use birk_engine::{GoalSet, Model, Successors};
use birk_exec::Interpreter;
use birk_ir::{Field, Goal, Program};

use crate::{Code, Compiled};

/// Expansions after which the program is compiled, and after which goals are, where its steps are compiled already.
const PATIENCE: u32 = 2000;
const LITTLE_PATIENCE: u32 = 200;

/// The native code of programs, made when the first search of one wants it, and shared with those that come later.
#[derive(Debug, Default)]
pub struct Native(Mutex<Vec<Arc<Shared>>>);

/// A program, and its native code as soon as there is some.
#[derive(Debug)]
struct Shared {
    program: Program,
    code: OnceLock<Result<Arc<Code>, String>>,
}

impl Native {
    /// The program as native code, which is made only if nobody has made it of an equal one.
    fn compiled<'p>(&self, program: &'p Program, goals: &[Goal]) -> Result<Compiled<'p>, String> {
        let shared = {
            let mut all = self.lock();
            let known = all.iter().find(|shared| shared.program == *program).map(Arc::clone);
            known.unwrap_or_else(|| {
                all.push(Arc::new(Shared { program: program.clone(), code: OnceLock::new() }));
                Arc::clone(&all[all.len() - 1])
            })
        };
        let code = shared.code.get_or_init(|| Code::new(program).map(Arc::new));
        Compiled::sharing(Arc::clone(code.as_ref().map_err(String::clone)?), program, goals)
    }

    /// How long a search for goals waits for native code.
    fn patience(&self, program: &Program, goals: &[Goal]) -> u32 {
        let all = self.lock();
        match all.iter().find(|shared| shared.program == *program).and_then(|shared| shared.code.get()) {
            Some(Ok(code)) if code.evaluates(goals) => 0,
            Some(_) => LITTLE_PATIENCE,
            None => PATIENCE,
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Arc<Shared>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A program, first interpreted, then as native code. Both give the same successors in the same order.
#[derive(Debug)]
pub struct Staged<'p> {
    program: &'p Program,
    goals: Box<[Goal]>,
    interpreter: Interpreter<'p>,
    /// The word and the bits that say that a check failed.
    fault: Option<(usize, u32)>,
    shared: Option<&'p Native>,
    native: OnceLock<Result<Compiled<'p>, String>>,
    expansions: AtomicU32,
    patience: u32,
}

impl<'p> Staged<'p> {
    /// A model that evaluates these goals.
    pub fn new(program: &'p Program, goals: &[Goal]) -> Self {
        Self::with_patience(program, goals, PATIENCE)
    }

    /// The same, which shares the code of its steps with others.
    pub fn sharing(native: &'p Native, program: &'p Program, goals: &[Goal]) -> Self {
        Self { shared: Some(native), ..Self::with_patience(program, goals, native.patience(program, goals)) }
    }

    /// The same, compiled after this many expansions.
    pub fn with_patience(program: &'p Program, goals: &[Goal], patience: u32) -> Self {
        let interpreter = Interpreter::new(program, goals);
        Self {
            program,
            goals: goals.into(),
            interpreter,
            fault: program.fault_bits(),
            shared: None,
            native: OnceLock::new(),
            expansions: AtomicU32::new(0),
            patience,
        }
    }

    /// Whether it runs as native code by now.
    pub fn is_native(&self) -> bool {
        self.native().is_some()
    }

    /// Why native code was wanted and could not be had, if so.
    pub fn refusal(&self) -> Option<&str> {
        self.native.get()?.as_ref().err().map(String::as_str)
    }

    /// For each transition, whether an `assume` has cut one of its outcomes in a state that was expanded.
    pub fn assumed(&self) -> Vec<bool> {
        let mut assumed = self.interpreter.assumed();
        if let Some(native) = self.native() {
            assumed.iter_mut().zip(native.assumed()).for_each(|(all, one)| *all |= one);
        }
        assumed
    }

    #[cold]
    fn interpret(&self, state: &[u32], out: &mut Successors) {
        if self.native.get().is_none() && self.expansions.fetch_add(1, Ordering::Relaxed) == self.patience {
            self.native.get_or_init(|| match self.shared {
                Some(native) => native.compiled(self.program, &self.goals),
                None => Compiled::new(self.program, &self.goals),
            });
        }
        self.interpreter.successors(state, out);
    }

    #[inline]
    fn native(&self) -> Option<&Compiled<'p>> {
        self.native.get().and_then(|native| native.as_ref().ok())
    }
}

impl Model for Staged<'_> {
    fn words(&self) -> usize {
        self.interpreter.words()
    }

    fn fields(&self) -> Vec<Field> {
        self.interpreter.fields()
    }

    fn initial(&self, out: &mut Successors) {
        self.interpreter.initial(out);
    }

    fn successors(&self, state: &[u32], out: &mut Successors) {
        match self.native() {
            Some(native) => native.successors(state, out),
            None => self.interpret(state, out),
        }
    }

    fn evaluate(&self, state: &[u32], stuck: bool) -> GoalSet {
        match self.native() {
            Some(native) => native.evaluate(state, stuck),
            None => self.interpreter.evaluate(state, stuck),
        }
    }

    fn is_state(&self, words: &[u32]) -> bool {
        self.interpreter.is_state(words)
    }

    fn is_fault(&self, state: &[u32]) -> bool {
        self.fault.is_some_and(|(word, bits)| state[word] & bits != 0)
    }

    fn transitions(&self) -> usize {
        self.interpreter.transitions()
    }

    fn written(&self, transition: usize) -> Option<Vec<u32>> {
        self.interpreter.written(transition)
    }
}

//! A `Program` compiled to native code as a `Model`. The only crate that knows Cranelift.
//!
//! The successor function is compiled whole: a dispatch on each thread's location, guards that leave early, packed
//! words kept in registers, and one copy of the parent per successor. It allocates nothing and calls nothing, and its
//! frame does not grow with the state. The interpreter stays its oracle.

mod emit;
mod environment;
mod expression;
mod predicates;
mod staged;

pub use predicates::Predicates;
pub use staged::{Native, Staged};

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use birk_engine::{GoalSet, Model, Successors};
use birk_exec::Interpreter;
use birk_ir::{Field, Goal, Program, Step, TransitionId};
use cranelift_codegen::ir::{AbiParam, UserFuncName, types};
use cranelift_codegen::settings::{self, Configurable as _};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{FuncId, Linkage, Module as _, default_libcall_names};

/// Threads share a function until their transitions have this many parts, so that no function grows without bound.
const FUNCTION_SIZE: usize = 4000;

/// A function that would need a larger stack frame is not used: frames of real models have some hundred bytes.
const FRAME_LIMIT: u32 = 16 << 10;

/// Code reaches the words of larger states no more.
const MAX_WORDS: usize = i32::MAX as usize / 4;

/// Builds with assertions put one more of everything behind the memory that the code may write, and fill it with this:
/// code that writes too far is noticed.
const CANARY: u32 = 0x5ca1_ab1e;
const FENCE: usize = cfg!(debug_assertions) as usize;

/// State, room for successors, room for steps, its end, what was cut, scratch area; gives the end of the steps written (beyond the
/// room where it did not suffice).
type Expand = unsafe extern "C" fn(*const u32, *mut u32, *mut Step, *const Step, *mut Cut, *mut i64) -> usize;
/// How many outcomes an `assume` has cut, and for each transition a flag that says whether one was its own.
#[repr(C)]
struct Cut {
    outcomes: u64,
    assumed: *const AtomicBool,
}

/// State, whether it is stuck; gives the goals.
type Evaluate = unsafe extern "C" fn(*const u32, u64) -> u64;

/// A program as native code, and the goals that one search evaluates.
#[derive(Debug)]
pub struct Compiled<'p> {
    program: &'p Program,
    /// Expands the threads that have too many outcomes for one batch.
    interpreter: Interpreter<'p>,
    code: Arc<Code>,
    evaluate: Evaluate,
    /// For each transition, whether an `assume` has cut one of its outcomes; the code writes here, always the same value.
    assumed: Box<[AtomicBool]>,
}

/// The steps of a program as native code. Searches for different goals share it, and each has a function that evaluates its own.
pub struct Code {
    module: Option<Mutex<Functions>>,
    groups: Vec<Group>,
    /// Length of a state.
    words: usize,
    /// Length of the scratch area, in which the code keeps bound values and unfinished states.
    scratch: usize,
    /// Bytes of the largest stack frame.
    frame: u32,
    /// The word and the bits that say that a check failed.
    fault: Option<(usize, u32)>,
    /// No state has more successors, as far as native code computes all of them.
    most: usize,
}

/// The module with all functions, and those that evaluate goals.
struct Functions {
    module: JITModule,
    /// The number of the next one.
    next: u32,
    evaluations: Vec<(Box<[Goal]>, Evaluate)>,
}

/// Threads that follow each other and are expanded by one function, or interpreted.
struct Group {
    threads: Range<usize>,
    expand: Option<Expand>,
    /// They have no more outcomes.
    most: usize,
}

// SAFETY: after `finalize_definitions` the module only owns the memory of the code; nobody changes it until drop, and
// the compiled functions touch only what they are given.
#[allow(unsafe_code, reason = "the module holds raw pointers to code that never changes")]
unsafe impl Sync for Code {}
// SAFETY: as above; who adds a function holds the lock, and the code that is there stays where it is.
#[allow(unsafe_code, reason = "the module holds raw pointers to code that never changes")]
unsafe impl Send for Code {}

impl<'p> Compiled<'p> {
    /// Compiles a program; an error says why that cannot be.
    pub fn new(program: &'p Program, goals: &[Goal]) -> Result<Self, String> {
        Self::sharing(Arc::new(Code::new(program)?), program, goals)
    }

    /// The same where native code adds at most so many successors at once: threads that may have more are interpreted.
    pub fn in_parts(program: &'p Program, goals: &[Goal], part: usize) -> Result<Self, String> {
        Self::sharing(Arc::new(Code::in_parts(program, part)?), program, goals)
    }

    /// The same with steps that are compiled already, of an equal program.
    fn sharing(code: Arc<Code>, program: &'p Program, goals: &[Goal]) -> Result<Self, String> {
        assert!(goals.len() <= GoalSet::CAPACITY, "one search hunts at most {} goals", GoalSet::CAPACITY);
        let evaluate = code.evaluation(program, goals)?;
        let assumed = program.transitions.iter().map(|_| AtomicBool::new(false)).collect();
        Ok(Self { program, interpreter: Interpreter::new(program, &[]), code, evaluate, assumed })
    }

    /// Bytes of the largest stack frame of its functions that make steps.
    pub fn frame(&self) -> u32 {
        self.code.frame
    }

    /// For each transition, whether an `assume` has cut one of its outcomes in a state that was expanded.
    pub fn assumed(&self) -> Vec<bool> {
        let native = self.assumed.iter().map(|assumed| assumed.load(Ordering::Relaxed));
        native.zip(self.interpreter.assumed()).map(|(native, interpreted)| native || interpreted).collect()
    }

    /// Appends the successors by steps of some threads; false if those of the threads behind them were appended, too.
    #[inline(always)]
    fn run(&self, group: &Group, expand: Expand, state: &[u32], out: &mut Successors) -> bool {
        let (code, room) = (&*self.code, group.most);
        if out.scratch.len() < code.scratch + FENCE {
            out.scratch.resize(code.scratch + FENCE, 0);
        }
        if FENCE > 0 {
            code.fence(out, room);
        }
        let mut cut = Cut { outcomes: 0, assumed: self.assumed.as_ptr() };
        let (states, steps) = out.room(room);
        let (states, first) = (states.as_mut_ptr(), steps.as_mut_ptr());
        let scratch = out.scratch.as_mut_ptr();
        // SAFETY: `state` has the layout's length; `states` and `steps` have room for `room` successors, and the code
        // writes no step at or beyond `end`, and no state without its step; without a choice there are at most `room`.
        // `scratch` is as long as the code asked for when it was emitted, and there is a flag for each transition, in which all
        // write the same value.
        #[allow(unsafe_code, reason = "compiled code writes to the room it is given")]
        let end = unsafe { expand(state.as_ptr(), states, first, first.add(room), &raw mut cut, scratch) };
        debug_assert!(code.is_fence_whole(out, room), "native code wrote behind its room");
        let written = (end - first as usize) / size_of::<Step>();
        if written > room {
            // Words that are no state may have more.
            self.interpreter.successors_of(group.threads.start..self.program.threads.len(), state, out);
            return false;
        }
        out.advance(written);
        out.cut += cut.outcomes;
        true
    }

    /// The next part of the successors of a state that may have very many. Where it left off is a place of the interpreter:
    /// the search may have begun with that.
    #[cold]
    fn part(&self, state: &[u32], out: &mut Successors) {
        let mut place = out.resume(state);
        let thread = place.as_ref().and_then(|place| place.last()).map_or(0, |&thread| thread as usize);
        let before = out.len() as u64 + out.cut;
        for group in self.code.groups.iter().skip_while(|group| group.threads.end <= thread) {
            let done = (out.len() as u64 + out.cut - before) as usize;
            if done > 0 && done.saturating_add(group.most) > out.most() {
                return out.leave(state, vec![group.threads.start as i64]);
            }
            let is_begun = place.as_ref().is_some_and(|place| place.len() > 1 || thread > group.threads.start);
            match group.expand.filter(|_| !is_begun) {
                Some(expand) => {
                    if !self.run(group, expand, state, out) {
                        return;
                    }
                }
                None => {
                    let first = if place.is_some() { thread } else { group.threads.start };
                    if let Some(place) = place.take() {
                        out.leave(state, place);
                    }
                    self.interpreter.successors_of(first..group.threads.end, state, out);
                    if out.has_rest() {
                        return;
                    }
                }
            }
            place = None;
        }
    }
}

impl Code {
    /// Compiles the steps of a program; an error says why that cannot be.
    fn new(program: &Program) -> Result<Self, String> {
        Self::in_parts(program, Successors::part(program.layout.words()))
    }

    fn in_parts(program: &Program, part: usize) -> Result<Self, String> {
        if let Some(reason) = program.interpreted_only() {
            return Err(reason.to_owned());
        }
        let words = program.layout.words();
        if words > MAX_WORDS {
            return Err(format!("its states have {words} words"));
        }
        let mut module = module()?;
        let mut compiler = Compiler::new(&mut module, 0);
        let mut functions = Vec::new();
        for (threads, most) in groups(program, part) {
            let function = match most <= part {
                true => Some(compiler.expand(program, threads.clone())?),
                false => None,
            };
            functions.push((threads, most, function));
        }
        let (scratch, frame, next) = (compiler.scratch, compiler.frame, compiler.next);
        module.finalize_definitions().map_err(|error| error.to_string())?;
        let address = |id: FuncId| module.get_finalized_function(id);
        // SAFETY: the functions were declared with exactly these signatures.
        #[allow(unsafe_code, reason = "the address of compiled code becomes a function")]
        let expand = |id: FuncId| unsafe { std::mem::transmute::<*const u8, Expand>(address(id)) };
        let group = |(threads, most, id): (_, _, Option<FuncId>)| Group { threads, expand: id.map(expand), most };
        let groups: Vec<Group> = functions.into_iter().map(group).collect();
        let fault = program.fault_bits();
        let most = groups.iter().fold(0usize, |all, group| all.saturating_add(group.most));
        let most = if groups.iter().all(|group| group.expand.is_some()) { most } else { usize::MAX };
        let module = Some(Mutex::new(Functions { module, next, evaluations: Vec::new() }));
        Ok(Self { groups, words, scratch, frame, fault, most, module })
    }

    /// An error where a search has panicked while it added one.
    fn functions(&self) -> Result<MutexGuard<'_, Functions>, String> {
        let module = self.module.as_ref().expect("it is freed last");
        module.lock().map_err(|_| "the compiler has panicked before".to_owned())
    }

    /// Whether there is a function that evaluates these goals.
    fn evaluates(&self, goals: &[Goal]) -> bool {
        self.functions().is_ok_and(|all| all.evaluations.iter().any(|(others, _)| **others == *goals))
    }

    /// The function that evaluates goals; it is made where there is none.
    fn evaluation(&self, program: &Program, goals: &[Goal]) -> Result<Evaluate, String> {
        let Functions { module, next, evaluations } = &mut *self.functions()?;
        if let Some((_, evaluate)) = evaluations.iter().find(|(others, _)| **others == *goals) {
            return Ok(*evaluate);
        }
        let mut compiler = Compiler::new(module, *next);
        let id = compiler.evaluate(program, goals);
        *next = compiler.next;
        let id = id?;
        module.finalize_definitions().map_err(|error| error.to_string())?;
        // SAFETY: the function was declared with exactly this signature.
        #[allow(unsafe_code, reason = "the address of compiled code becomes a function")]
        let evaluate = unsafe { std::mem::transmute::<*const u8, Evaluate>(module.get_finalized_function(id)) };
        evaluations.push((goals.into(), evaluate));
        Ok(evaluate)
    }

    /// Fills what lies behind the room for so many successors, and behind the scratch area.
    fn fence(&self, out: &mut Successors, room: usize) {
        out.scratch[self.scratch] = i64::from(CANARY);
        let (states, steps) = out.room(room + FENCE);
        states[room * self.words..][..self.words].fill(CANARY);
        steps[room] = Step { transition: TransitionId(CANARY), choice: CANARY };
    }

    /// Whether all that is as it was.
    fn is_fence_whole(&self, out: &mut Successors, room: usize) -> bool {
        let is_scratch_kept = out.scratch[self.scratch] == i64::from(CANARY);
        let (states, steps) = out.room(room + FENCE);
        let are_states_kept = states[room * self.words..][..self.words].iter().all(|&word| word == CANARY);
        let is_step_kept = steps[room] == Step { transition: TransitionId(CANARY), choice: CANARY };
        is_scratch_kept && are_states_kept && is_step_kept
    }

    #[inline(always)]
    fn is_fault(&self, state: &[u32]) -> bool {
        self.fault.is_some_and(|(word, bits)| state[word] & bits != 0)
    }
}

impl std::fmt::Debug for Code {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Code({} functions)", self.groups.len())
    }
}

impl Drop for Code {
    fn drop(&mut self) {
        if let Some(module) = self.module.take() {
            let Functions { module, .. } = module.into_inner().unwrap_or_else(PoisonError::into_inner);
            // SAFETY: the function pointers live in this value, and in models that hold it, and die with it.
            #[allow(unsafe_code, reason = "the code is freed with its last user")]
            unsafe {
                module.free_memory();
            }
        }
    }
}

impl Model for Compiled<'_> {
    fn words(&self) -> usize {
        self.code.words
    }

    fn fields(&self) -> Vec<Field> {
        self.program.fields()
    }

    fn initial(&self, out: &mut Successors) {
        self.program.initial_states().iter().for_each(|state| out.push(TransitionId(0), 0, state));
    }

    fn successors(&self, state: &[u32], out: &mut Successors) {
        let code = &*self.code;
        assert!(state.len() == code.words && out.words() == code.words, "states are as long as the layout says");
        if code.is_fault(state) {
            return;
        }
        if code.most >= out.most() || out.has_rest() {
            return self.part(state, out);
        }
        for group in &code.groups {
            if group.expand.is_some_and(|expand| !self.run(group, expand, state, out)) {
                return;
            }
        }
    }

    fn evaluate(&self, state: &[u32], stuck: bool) -> GoalSet {
        assert!(state.len() == self.code.words, "states are as long as the layout says");
        // SAFETY: `state` has the layout's length, and the code only reads it.
        #[allow(unsafe_code, reason = "compiled code reads the state")]
        let goals = unsafe { (self.evaluate)(state.as_ptr(), u64::from(stuck)) };
        GoalSet(goals)
    }

    fn is_state(&self, words: &[u32]) -> bool {
        self.program.is_state(words)
    }

    fn is_fault(&self, state: &[u32]) -> bool {
        self.code.is_fault(state)
    }

    fn transitions(&self) -> usize {
        self.program.transitions.len()
    }

    fn written(&self, transition: usize) -> Option<Vec<u32>> {
        Some(self.program.written_words(TransitionId::new(transition)))
    }
}

fn module() -> Result<JITModule, String> {
    let mut flags = settings::builder();
    for (name, value) in [
        ("opt_level", "speed"),
        ("is_pic", "false"),
        ("use_colocated_libcalls", "false"),
        // A frame of more than a page touches each of its pages in turn, so that none lies behind the stack's guard page.
        ("enable_probestack", "true"),
        ("probestack_strategy", "inline"),
        ("enable_verifier", if cfg!(debug_assertions) { "true" } else { "false" }),
    ] {
        flags.set(name, value).map_err(|error| error.to_string())?;
    }
    let isa = cranelift_native::builder()?;
    let isa = isa.finish(settings::Flags::new(flags)).map_err(|error| error.to_string())?;
    Ok(JITModule::new(JITBuilder::with_isa(isa, default_libcall_names())))
}

struct Compiler<'m> {
    module: &'m mut JITModule,
    builder: FunctionBuilderContext,
    next: u32,
    /// Length of the scratch area.
    scratch: usize,
    /// Bytes of the largest stack frame.
    frame: u32,
}

impl<'m> Compiler<'m> {
    /// Its functions are numbered from this on.
    fn new(module: &'m mut JITModule, next: u32) -> Self {
        Self { module, builder: FunctionBuilderContext::new(), next, scratch: 0, frame: 0 }
    }

    fn expand(&mut self, program: &Program, threads: Range<usize>) -> Result<FuncId, String> {
        let mut scratch = 0;
        let id = self.function(6, |builder| scratch = emit::expand(builder, program, threads))?;
        self.scratch = self.scratch.max(scratch);
        Ok(id)
    }

    fn evaluate(&mut self, program: &Program, goals: &[Goal]) -> Result<FuncId, String> {
        self.function(2, |builder| emit::evaluate(builder, program, goals))
    }

    /// A function of 64-bit parameters with one 64-bit result.
    fn function(&mut self, params: usize, emit: impl FnOnce(&mut FunctionBuilder<'_>)) -> Result<FuncId, String> {
        let mut context = self.module.make_context();
        for _ in 0..params {
            context.func.signature.params.push(AbiParam::new(types::I64));
        }
        context.func.signature.returns.push(AbiParam::new(types::I64));
        let name = format!("f{}", self.next);
        let id = self.module.declare_function(&name, Linkage::Local, &context.func.signature);
        let id = id.map_err(|error| error.to_string())?;
        context.func.name = UserFuncName::user(0, self.next);
        self.next += 1;
        let mut builder = FunctionBuilder::new(&mut context.func, &mut self.builder);
        emit(&mut builder);
        builder.seal_all_blocks();
        builder.finalize(self.module.target_config());
        self.module.define_function(id, &mut context).map_err(|error| format!("{error:?}"))?;
        let code = context.compiled_code().expect("it was just compiled");
        let frame = code.buffer.frame_layout().expect("every function has a frame").frame_to_fp_offset;
        if frame > FRAME_LIMIT {
            return Err(format!("a stack frame of {frame} bytes would be needed, and {FRAME_LIMIT} are allowed"));
        }
        self.frame = self.frame.max(frame);
        Ok(id)
    }
}

/// Threads in order, split where a function would become too large or would have more than a part of successors to write;
/// with the most successors that each group can have.
fn groups(program: &Program, part: usize) -> Vec<(Range<usize>, usize)> {
    let mut groups: Vec<(Range<usize>, usize)> = Vec::new();
    let mut size = usize::MAX;
    for (t, thread) in program.threads.iter().enumerate() {
        let range = thread.at.first().map_or(0, |at| at.0) as usize..thread.at.last().map_or(0, |at| at.1) as usize;
        let own: usize = program.transitions[range].iter().map(|t| t.guard.size() + t.ops.len() * 4).sum();
        let of_location = |&(start, end): &(u32, u32)| {
            (start..end).fold(0usize, |all, id| {
                all.saturating_add(program.most_outcomes(TransitionId(id)).try_into().unwrap_or(usize::MAX))
            })
        };
        let most = thread.at.iter().map(of_location).max().unwrap_or(0);
        match groups.last_mut() {
            Some((threads, all)) if size.saturating_add(own) <= FUNCTION_SIZE && all.saturating_add(most) <= part => {
                threads.end = t + 1;
                *all += most;
                size += own;
            }
            _ => {
                groups.push((t..t + 1, most));
                size = own;
            }
        }
    }
    groups
}

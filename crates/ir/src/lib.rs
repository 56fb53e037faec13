//! Everything that crosses a wall in Birk: programs, properties, goals, outcomes, traces, verdicts.
//!
//! Data, with what can be derived from it, and the standard library only. What a program *does* is in `birk-exec`.
#![forbid(unsafe_code)]

pub mod branching;
pub mod diagnostic;
pub mod edit;
pub mod expectation;
pub mod expr;
pub mod front_end;
pub mod ids;
pub mod interval;
pub mod invariant;
pub mod layout;
pub mod locality;
pub mod outcome;
pub mod program;
pub mod property;
pub mod refinement;
pub mod shown;
pub mod text;

pub use branching::{Branching, Steps};
pub use diagnostic::{Code, Diagnostic};
pub use expectation::{Clause, Expectation};
pub use expr::{BinaryOp, Expr, FoldOp, UnaryOp};
pub use front_end::{Conditions, Loaded, RESERVED, Reader, Resolve, Translated, Translator, Unsayable};
pub use ids::{FaultId, LocalId, LocationId, Span, StateId, ThreadId, TransitionId, VarId};
pub use invariant::{BitIs, Invariant};
pub use layout::{Layout, Slot};
pub use locality::Field;
pub use outcome::{Coverage, Outcome, Step, Stop, Trace, Verdict};
pub use program::{
    Access, Channel, Fault, FaultKind, InitialChoice, Location, Op, Place, Program, Receiver, Thread, ThreadKind,
    ThreadRole, Transition, ValueKind, VarRole, Variable,
};
pub use property::{Claim, ClaimState, Formula, Goal, Property, PropertyKind};
pub use refinement::{Mapped, Mapping, Meaning, Observed, Refinement};
pub use shown::{Change, History, ShownState, ShownValue, ShownVariable, View, Whereabouts};

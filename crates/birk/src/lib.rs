//! [`load`] reads a model, [`check`] searches it and answers with a [`Report`]: a verdict for each property, with a trace that
//! was replayed independently, or with what was covered and what was not.
//!
//! A model need not be a text: whatever is an `impl` [`engine::Model`] can be searched by the engines of [`search`], and an engine
//! of your own is a row of [`Engines`].
#![forbid(unsafe_code)]
#![doc = include_str!("../README.md")]

pub mod certificate;
mod check;
mod engines;
mod error;
mod expectations;
#[cfg(not(feature = "native"))]
mod interpreted;
mod load;
mod model;
mod options;
pub mod process_memory;
mod properties;
#[cfg(feature = "native")]
mod prove;
mod recorded;
mod refine;
pub mod repair;
mod report;
mod watch;

pub use birk_certify as certify;
pub use birk_engine as engine;
pub use birk_exec as exec;
pub use birk_ir as ir;
pub use birk_lang as lang;
pub use birk_search as search;

pub use birk_aiger::Form;
pub use birk_engine::Patient;
pub use birk_ir::{Conditions, Loaded};
#[cfg(feature = "native")]
pub use birk_symbolic::{Breach, Gap, Induction, Netlist};
pub use check::{Earlier, Kept, check, decides, night, validate, validate_options};
pub use engines::Engines;
pub use error::Error;
pub use expectations::{differences, expectations};
pub use load::{Encoding, FRONT_ENDS, Formatter, FrontEnd, codes, explain, front_end, load, load_file, load_text};
pub use model::{compiled, heuristics, independence};
pub use options::{Automaton, Fairness, Options, Reduce, Store, Symmetry, Threads};
pub use properties::{goals_of, replay_failure, selected};
#[cfg(feature = "native")]
pub use prove::{Proved, Strengthened, prove};
pub use refine::{Counterexample, Misstep, Refined, refine};
pub use report::{
    Accept, Answer, AutomatonFigures, Grade, Joint, MemberFigures, Pace, Report, ShownTrace, Slices, SymmetryBreak,
    SymmetryFigures,
};
pub use watch::{Phase, Watch};

//! The contract between engines and everybody else: what an engine searches ([`Model`], or the program itself), what it is
//! asked ([`Job`]), whom it tells how it goes ([`Observer`]), what it answers ([`Hunt`]), and how it is offered to users
//! ([`Engine`], a row of a table, with its [options](EngineOption)). There is no algorithm here.
#![forbid(unsafe_code)]

mod cutoff;
mod engine;
mod files;
mod hyperloglog;
mod job;
mod model;
mod monitor;
mod observer;
mod option;
mod peers;
mod stats;
mod successors;

pub use birk_ir as ir;

pub use cutoff::Cutoff;
pub use engine::{Engine, LivenessSearch, ModelSearch, MuCalculusSearch, ProgramSearch, Search};
pub use files::{Files, Stored};
pub use hyperloglog::HyperLogLog;
pub use job::{Job, Limits, Storage};
pub use model::{GoalSet, Model, NEVER};
pub use monitor::{Monitor, Watched};
pub use observer::{Observer, Outside, Patient, Progress, Relief, Save, Spill};
pub use option::{EngineOption, Kind, Options, Value, read_size};
pub use peers::{Link, Peers};
pub use stats::{BddStats, BoundedStats, DiskStats, EngineStats, ExchangeStats, FrontierStats, Hunt, SatStats, Stats};
pub use successors::{Rest, Successors};

//! Certificates of what was proved of a program, and the checker for them, to be read from here on.
//!
//! A certificate is the set of visited states of a complete search (`visited`) or inductive invariants (`inductive`). [`check`] is
//! told the program and the bytes of a file. It relies on `birk-ir`, on a SAT solver, and on nothing else of Birk. What it says it
//! has examined itself: what a file says of itself serves only to explain why it does not fit.
#![forbid(unsafe_code)]
#![doc = include_str!("../README.md")]

mod circuit;
mod evaluate;
mod file;
mod inductive;
mod notation;
mod numbers;
mod symbolic;
mod visited;

use birk_ir::{Expr, Program, Property, PropertyKind};

pub use file::{INVARIANTS, STATES, TOGETHER, identity, seal, sum};
pub use notation::{Element, Names};
pub use visited::Keys;

/// What a certificate is found to certify.
#[derive(Clone, Debug)]
pub struct Certified {
    /// Of these properties, no state that is bad can be reached; of a `reachable` one: no state that satisfies it.
    pub properties: Vec<Property>,
    /// By what.
    pub evidence: Evidence,
}

/// What a certificate consists of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Evidence {
    /// So many states, results of failing checks included; none of so many steps leaves them.
    States(u64, u64),
    /// So many conditions, which no step breaks; so often was the solver asked.
    Invariants(u64, u64),
}

/// Why a certificate is not accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// It is damaged, or about something else: nothing is said of the program.
    Unfit(String),
    /// It is about this program, and what it says does not prove it.
    Fails(String),
    /// The checker cannot tell, because its encoding does not know something in the program.
    Unknown(String),
    /// The caller did not let it go on.
    Stopped,
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Refusal::Unfit(reason) | Refusal::Fails(reason) | Refusal::Unknown(reason) => f.write_str(reason),
            Refusal::Stopped => f.write_str("it was not checked to its end"),
        }
    }
}

/// Whether to go on; asked now and then.
pub type MayGoOn<'a> = &'a (dyn Fn() -> bool + 'a);

/// Checks a certificate of a program.
pub fn check(program: &Program, bytes: &[u8], may_go_on: MayGoOn<'_>) -> Result<Certified, Refusal> {
    let opened = file::open(program, bytes)?;
    let evidence = match opened.kind {
        STATES => visited::check(program, &opened, may_go_on)?,
        INVARIANTS => inductive::check(program, &opened, may_go_on)?,
        other => return file::unfit(&format!("this version knows no certificates by {other}")),
    };
    Ok(Certified { properties: opened.properties.iter().map(|(property, _)| (*property).clone()).collect(), evidence })
}

/// Whether a certificate can be about a property: it is one of states.
pub fn is_certifiable(property: &Property) -> bool {
    property.is_of_states()
}

/// What no reachable state may satisfy, for a property to be certified. A step that a check broke off leads to no state: what is true
/// there counts as a runtime error and as nothing else.
fn bad(program: &Program, property: &Property) -> Option<Expr> {
    let broken_off = || program.fault.map_or(Expr::FALSE, Expr::Var);
    Some(match &property.kind {
        PropertyKind::Deadlock => broken_off().negate().and(Expr::Stuck).and(program.valid_end.clone().negate()),
        PropertyKind::Fault => program.property_faults.iter().fold(broken_off(), |bad, (when, _)| bad.or(when.clone())),
        PropertyKind::Invariant(holds) => broken_off().negate().and(holds.clone().negate()),
        PropertyKind::Reachable(target) => broken_off().negate().and(target.clone()),
        _ => return None,
    })
}

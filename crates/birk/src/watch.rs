//! Whom a check tells how it goes, beyond what its searches tell their observer.

use std::time::Instant;

use birk_engine::{Observer, Patient};

use crate::report::{Answer, ShownTrace};

/// Which of the searches of a check one is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Phase<'a> {
    /// What it decides: a property, or several.
    pub name: &'a str,
    /// Its number, from 1.
    pub number: usize,
    /// How many there are at most: a violation may end the check before the last.
    pub of: usize,
    /// It is about single states: LTL, CTL and the mu-calculus are searched otherwise.
    pub is_of_states: bool,
}

/// Watches a check, which consists of one search or of several.
pub trait Watch: Observer {
    /// A search begins, which counts from nothing.
    fn begin(&mut self, _phase: &Phase<'_>) {}

    /// It is over; what comes next takes as long as it takes.
    fn end(&mut self) {}

    /// The answer at a position is known.
    fn decided(&mut self, _position: usize, _answer: &Answer, _trace: Option<&ShownTrace>) {}

    /// Other engines hunt now what is not decided: these; the search goes on where there are none.
    fn hunting(&mut self, _members: &str) {}

    /// Something that the user should know.
    fn note(&mut self, _text: &str) {}

    /// When the time will be up, if it is limited.
    fn deadline(&self) -> Option<Instant> {
        None
    }
}

impl Watch for Patient {}

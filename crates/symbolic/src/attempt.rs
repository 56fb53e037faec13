//! Computations that may break off, on decision diagrams and on clauses.

use birk_ir::Stop;

/// Why a computation broke off.
#[derive(Debug)]
pub(crate) enum Broken {
    /// A limit, the clock or the user.
    Stopped(Stop),
    /// The program has something in it that cannot be encoded.
    Refused(String),
    /// It would be simpler if the values of these bits were known.
    Undecided(Vec<u32>),
}

/// The result of something that may break off.
pub(crate) type Attempt<T> = Result<T, Broken>;

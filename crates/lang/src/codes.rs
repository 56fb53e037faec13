//! The codes of diagnostics, with what `birk explain` says of them.

/// A code and its explanation.
#[derive(Clone, Copy, Debug)]
pub struct Code {
    /// `E0012`
    pub code: &'static str,
    /// In a few words.
    pub title: &'static str,
    /// Why it is an error or a warning, and what to do.
    pub explanation: &'static str,
    /// Text that provokes it: a whole system, or a part of one.
    pub example: &'static str,
    /// The same, mended.
    pub cure: &'static str,
}

/// All codes, in order.
pub const CODES: &[Code] = &[];

/// The entry of a code, however its letter is written.
pub fn explain(code: &str) -> Option<&'static Code> {
    CODES.iter().find(|entry| entry.code.eq_ignore_ascii_case(code))
}

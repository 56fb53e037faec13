//! The codes of diagnostics, with what `birk explain` says of them.

mod crashes;
mod names;
mod refinement;
mod structured;
mod syntax;
mod values;
mod warnings;

pub use birk_ir::diagnostic::Code;

/// All codes, in order.
pub const CODES: &[Code] = &[
    syntax::E0001,
    syntax::E0002,
    syntax::E0003,
    syntax::E0004,
    syntax::E0005,
    syntax::E0006,
    syntax::E0007,
    syntax::E0008,
    syntax::E0009,
    syntax::E0010,
    syntax::E0011,
    syntax::E0012,
    syntax::E0013,
    syntax::E0014,
    names::E0020,
    names::E0021,
    names::E0022,
    names::E0023,
    names::E0024,
    names::E0025,
    names::E0026,
    names::E0027,
    names::E0028,
    names::E0029,
    values::E0030,
    values::E0031,
    values::E0032,
    values::E0033,
    values::E0034,
    values::E0035,
    values::E0037,
    values::E0038,
    values::E0039,
    values::E0040,
    values::E0041,
    values::E0042,
    values::E0043,
    structured::E0046,
    structured::E0047,
    structured::E0048,
    structured::E0049,
    structured::E0050,
    structured::E0051,
    structured::E0052,
    structured::E0053,
    structured::E0054,
    names::E0055,
    names::E0056,
    structured::E0057,
    refinement::E0058,
    refinement::E0059,
    crashes::E0060,
    crashes::E0061,
    values::E0062,
    warnings::W0001,
    warnings::W0002,
    warnings::W0003,
    warnings::W0004,
    warnings::W0005,
    warnings::W0006,
    warnings::W0007,
    warnings::W0008,
];

/// The entry of a code, however its letter is written.
pub fn explain(code: &str) -> Option<&'static Code> {
    CODES.iter().find(|entry| entry.code.eq_ignore_ascii_case(code))
}

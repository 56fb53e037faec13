//! stub
use crate::diagnostic::Diagnostic;
/// stub
pub fn format(text: &str) -> Result<String, Vec<Diagnostic>> {
    let parsed = crate::parser::parse(text, 0);
    if parsed.diagnostics.is_empty() { Ok(text.to_string()) } else { Err(parsed.diagnostics) }
}

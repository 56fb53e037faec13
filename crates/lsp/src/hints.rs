//! Inlay hints: how many bits of a state a variable of the system takes.

use lsp_types::{InlayHint, InlayHintKind, InlayHintLabel, InlayHintParams};

use crate::documents::Documents;
use crate::scope::Kind;

/// The hints in a part of a text. While a text has errors, the sizes are those of the latest one without.
pub(crate) fn hints(documents: &mut Documents<'_>, params: InlayHintParams) -> Option<Vec<InlayHint>> {
    let uri = params.text_document.uri;
    documents.check(&uri)?;
    let tree = documents.tree(&uri)?;
    let document = documents.get(&uri)?;
    let is_own = |symbol: &&crate::scope::Symbol| symbol.span.file == 0 && symbol.kind == Kind::Variable;
    let hint = |symbol: &crate::scope::Symbol| {
        let bits = document.facts.variables.get(&symbol.name)?.bits;
        let position = document.range(symbol.span.range()).end;
        let is_asked = params.range.start <= position && position <= params.range.end;
        is_asked.then(|| InlayHint {
            position,
            label: InlayHintLabel::String(format!(": {}", size(bits))),
            kind: Some(InlayHintKind::TYPE),
            text_edits: None,
            tooltip: None,
            padding_left: None,
            padding_right: None,
            data: None,
        })
    };
    Some(tree.names.symbols.iter().filter(is_own).filter_map(hint).collect())
}

/// `1 bit`, `4 bits`.
pub(crate) fn size(bits: u64) -> String {
    format!("{bits} bit{}", if bits == 1 { "" } else { "s" })
}

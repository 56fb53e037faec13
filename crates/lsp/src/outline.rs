//! The outline of a BIR text: what it declares, as a tree.

use birk_ir::Span;
use birk_lang::ast::{self, Item};
use lsp_types::{DocumentSymbol, DocumentSymbolParams, DocumentSymbolResponse, SymbolKind};

use crate::document::Document;
use crate::documents::Documents;
use crate::scope::{Kind, Room, Symbol};
use crate::tree::Tree;

/// The declarations of a text.
pub(crate) fn symbols(documents: &mut Documents<'_>, params: DocumentSymbolParams) -> Option<DocumentSymbolResponse> {
    let uri = params.text_document.uri;
    let tree = documents.tree(&uri)?;
    let outline = Outline { tree: &tree, document: documents.get(&uri)? };
    let system = tree.parsed[0].system.as_ref()?;
    let items = system.items.iter().flat_map(|item| outline.item(item)).collect();
    let kind = SymbolKind::MODULE;
    Some(DocumentSymbolResponse::Nested(vec![outline.node(&system.name, kind, None, system.span, items)]))
}

/// How a kind of symbol is shown by editors.
pub(crate) fn symbol_kind(kind: Kind) -> SymbolKind {
    match kind {
        Kind::System => SymbolKind::MODULE,
        Kind::Constant => SymbolKind::CONSTANT,
        Kind::Block => SymbolKind::NAMESPACE,
        Kind::Alias => SymbolKind::TYPE_PARAMETER,
        Kind::Enum => SymbolKind::ENUM,
        Kind::Variant => SymbolKind::ENUM_MEMBER,
        Kind::Record => SymbolKind::STRUCT,
        Kind::Field => SymbolKind::FIELD,
        Kind::Variable | Kind::Local | Kind::Param | Kind::Bound => SymbolKind::VARIABLE,
        Kind::Function | Kind::Procedure => SymbolKind::FUNCTION,
        Kind::Thread => SymbolKind::CLASS,
        Kind::Location => SymbolKind::KEY,
        Kind::Property => SymbolKind::PROPERTY,
    }
}

struct Outline<'t> {
    tree: &'t Tree,
    document: &'t Document,
}

impl Outline<'_> {
    fn node(
        &self,
        name: &ast::Name,
        kind: SymbolKind,
        detail: Option<String>,
        whole: Span,
        children: Vec<DocumentSymbol>,
    ) -> DocumentSymbol {
        let name_text = if name.text.is_empty() { "?".to_owned() } else { name.text.clone() };
        // The name is always inside of the whole, as the protocol demands.
        let range = self.document.range(whole.to(name.span).range());
        #[allow(deprecated, reason = "the type has no other way to be made")]
        DocumentSymbol {
            name: name_text,
            detail,
            kind,
            tags: None,
            deprecated: None,
            range,
            selection_range: self.document.range(name.span.range()),
            children: (!children.is_empty()).then_some(children),
        }
    }

    fn leaf(&self, name: &ast::Name, kind: Kind, whole: Span) -> DocumentSymbol {
        self.node(name, symbol_kind(kind), None, whole, Vec::new())
    }

    fn variables(&self, variables: &ast::Variables, kind: Kind) -> Vec<DocumentSymbol> {
        let detail = self.tree.source(variables.ty.span);
        let one = |name: &ast::Name| self.node(name, symbol_kind(kind), Some(detail.to_owned()), name.span, Vec::new());
        variables.declarators.iter().map(|(name, _)| one(name)).collect()
    }

    fn item(&self, item: &Item) -> Vec<DocumentSymbol> {
        match item {
            Item::Constants(constants) => {
                let entry = |(name, value): &(ast::Name, ast::Expr)| {
                    let detail = Some(self.tree.source(value.span).to_owned());
                    self.node(name, SymbolKind::CONSTANT, detail, name.span.to(value.span), Vec::new())
                };
                let entries = constants.entries.iter().map(entry).collect();
                match &constants.block {
                    Some(name) => vec![self.node(name, SymbolKind::NAMESPACE, None, constants.span, entries)],
                    None => entries,
                }
            }
            Item::Alias(alias) => {
                let detail = Some(self.tree.source(alias.target.span).to_owned());
                vec![self.node(&alias.name, symbol_kind(Kind::Alias), detail, alias.span, Vec::new())]
            }
            Item::Enum(declared) => {
                let variants = declared.variants.iter().map(|name| self.leaf(name, Kind::Variant, name.span));
                vec![self.node(&declared.name, SymbolKind::ENUM, None, declared.span, variants.collect())]
            }
            Item::Record(record) => {
                let fields = record.fields.iter().flat_map(|field| self.variables(field, Kind::Field)).collect();
                vec![self.node(&record.name, SymbolKind::STRUCT, None, record.span, fields)]
            }
            Item::Variables(variables) => self.variables(variables, Kind::Variable),
            Item::Function(function) => {
                let detail = Some(self.tree.source(function.result.span).to_owned());
                vec![self.node(&function.name, SymbolKind::FUNCTION, detail, function.span, Vec::new())]
            }
            Item::Procedure(procedure) => vec![self.leaf(&procedure.name, Kind::Procedure, procedure.span)],
            Item::Thread(thread) => vec![self.thread(thread)],
            Item::Property(property) => {
                let kind = match property.kind {
                    ast::PropertyKind::Invariant => "invariant",
                    ast::PropertyKind::Reachable => "reachable",
                    ast::PropertyKind::Ltl => "ltl",
                    ast::PropertyKind::Ctl => "ctl",
                    ast::PropertyKind::Mu => "mu",
                };
                let detail = Some(kind.to_owned());
                vec![self.node(&property.name, SymbolKind::PROPERTY, detail, property.span, Vec::new())]
            }
            Item::Expectation(_) => Vec::new(),
            Item::Refinement(refinement) => {
                let detail = Some("refines".to_owned());
                vec![self.node(&refinement.name, SymbolKind::INTERFACE, detail, refinement.span, Vec::new())]
            }
        }
    }

    fn thread(&self, thread: &ast::Thread) -> DocumentSymbol {
        let variables = thread.variables.iter().flat_map(|variables| self.variables(variables, Kind::Local));
        let mut children: Vec<DocumentSymbol> = variables.collect();
        let owner = |symbol: &Symbol| symbol.span == thread.name.span && symbol.kind == Kind::Thread;
        if let Some(owner) = self.tree.names.symbols.iter().position(owner) {
            for symbol in self.tree.names.members(Room::Locations(owner)) {
                let symbol = &self.tree.names.symbols[symbol];
                let name = ast::Name { text: symbol.name.clone(), span: symbol.span };
                let declared = thread.locations.iter().find(|location| location.name.span == symbol.span);
                children.push(self.leaf(&name, Kind::Location, declared.map_or(symbol.span, |found| found.span)));
            }
        }
        self.node(&thread.name, SymbolKind::CLASS, None, thread.span, children)
    }
}

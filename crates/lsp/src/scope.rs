//! The names of a BIR text: what is declared, in which scope, and where each name is used.

use std::collections::HashMap;

use birk_ir::Span;
use birk_lang::ast;

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    System,
    Constant,
    Block,
    Alias,
    Enum,
    Variant,
    Record,
    Field,
    Variable,
    Local,
    Param,
    /// Bound by a quantifier, `let`, `for`, `mu` or `nu`.
    Bound,
    Function,
    Procedure,
    Thread,
    Location,
    Property,
}

impl Kind {
    /// What it is, for messages.
    pub(crate) fn noun(self) -> &'static str {
        match self {
            Kind::System => "system",
            Kind::Constant => "constant",
            Kind::Block => "block of constants",
            Kind::Alias => "type",
            Kind::Enum => "enumeration",
            Kind::Variant => "value of an enumeration",
            Kind::Record => "record",
            Kind::Field => "field of a record",
            Kind::Variable => "variable",
            Kind::Local => "variable of a thread",
            Kind::Param => "parameter",
            Kind::Bound => "bound name",
            Kind::Function => "function",
            Kind::Procedure => "procedure",
            Kind::Thread => "thread",
            Kind::Location => "location",
            Kind::Property => "property",
        }
    }
}

/// Something with a name.
#[derive(Clone, Debug)]
pub(crate) struct Symbol {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    /// The name where it is declared.
    pub(crate) span: Span,
    /// The part of the declaration to be shown.
    pub(crate) head: Span,
    /// The enumeration of a value, record of a field, thread of a variable or location, block of a constant.
    pub(crate) owner: Option<usize>,
    /// Its type as written.
    pub(crate) ty: Option<ast::Type>,
    /// Names that share a room must differ.
    pub(crate) room: Room,
}

/// Where a name must be the only one of its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Room {
    /// A scope, by number.
    Scope(usize),
    /// Behind the dot of a symbol.
    Members(usize),
    /// Behind the `@` of a thread, or the labels of a procedure.
    Locations(usize),
    /// All properties.
    Properties,
    /// The system's own name.
    System,
}

/// A place where a name is used or declared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Use {
    pub(crate) span: Span,
    pub(crate) symbol: usize,
    pub(crate) declares: bool,
    pub(crate) writes: bool,
}

/// A part of a text in which names are visible.
#[derive(Clone, Debug)]
pub(crate) struct Scope {
    pub(crate) span: Span,
    pub(crate) parent: Option<usize>,
    pub(crate) names: Vec<usize>,
}

/// The scope of everything that is declared in a system and its libraries.
pub(crate) const GLOBAL: usize = 0;

/// All names of a text and of what it imports.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    pub(crate) symbols: Vec<Symbol>,
    pub(crate) scopes: Vec<Scope>,
    /// In the order of files and places.
    pub(crate) uses: Vec<Use>,
    rooms: HashMap<(Room, String), usize>,
}

impl Names {
    /// Adds a symbol. Of equal names in a room the first is the one that uses mean.
    pub(crate) fn declare(&mut self, symbol: Symbol) -> usize {
        let index = self.symbols.len();
        if !symbol.name.is_empty() {
            self.uses.push(Use { span: symbol.span, symbol: index, declares: true, writes: false });
            self.rooms.entry((symbol.room, symbol.name.clone())).or_insert(index);
            if let Room::Scope(scope) = symbol.room {
                self.scopes[scope].names.push(index);
            }
        }
        self.symbols.push(symbol);
        index
    }

    /// Makes a symbol known in another room, too.
    pub(crate) fn show_in(&mut self, room: Room, symbol: usize) {
        self.rooms.entry((room, self.symbols[symbol].name.clone())).or_insert(symbol);
    }

    pub(crate) fn open(&mut self, span: Span, parent: Option<usize>) -> usize {
        self.scopes.push(Scope { span, parent, names: Vec::new() });
        self.scopes.len() - 1
    }

    /// The symbol of this name in a room.
    pub(crate) fn in_room(&self, room: Room, name: &str) -> Option<usize> {
        self.rooms.get(&(room, name.to_owned())).copied()
    }

    /// What a name stands for in a scope: the innermost that has it.
    pub(crate) fn visible(&self, mut scope: usize, name: &str) -> Option<usize> {
        loop {
            if let Some(symbol) = self.in_room(Room::Scope(scope), name) {
                return Some(symbol);
            }
            scope = self.scopes[scope].parent?;
        }
    }

    /// The innermost scope at a place of the text itself.
    pub(crate) fn scope_at(&self, offset: usize) -> usize {
        let holds = |scope: &Scope| scope.span.file == 0 && scope.span.range().contains(&offset);
        self.scopes.iter().rposition(holds).unwrap_or(GLOBAL)
    }

    /// The use of a name at a place of the text itself; the end of a name counts as the name.
    pub(crate) fn use_at(&self, offset: usize) -> Option<Use> {
        let at = |found: &&Use| {
            found.span.file == 0 && found.span.start as usize <= offset && offset <= found.span.end as usize
        };
        self.uses.iter().rfind(at).copied()
    }

    /// All uses of a symbol in the text itself, its declaration included.
    pub(crate) fn uses_of(&self, symbol: usize) -> impl Iterator<Item = &Use> {
        self.uses.iter().filter(move |found| found.symbol == symbol && found.span.file == 0)
    }

    /// The symbol whose members stand behind the dot of a symbol: its own, or those of the record that is its type.
    pub(crate) fn owner_of(&self, symbol: usize) -> Option<usize> {
        let found = &self.symbols[symbol];
        match found.kind {
            Kind::Enum | Kind::Block | Kind::Thread => Some(symbol),
            _ => self.record_of(found.ty.as_ref()?),
        }
    }

    /// The record that a type consists of, behind its lengths, aliases, channels, sequences and maps.
    fn record_of(&self, ty: &ast::Type) -> Option<usize> {
        let mut ty = ty;
        for _ in 0..ast::MAX_DEPTH {
            match &ty.kind {
                ast::TypeKind::Channel(_, element, _)
                | ast::TypeKind::Sequence(element, _)
                | ast::TypeKind::Map(_, element) => ty = element,
                ast::TypeKind::Named(name) => {
                    let symbol = self.in_room(Room::Scope(GLOBAL), &name.text)?;
                    match self.symbols[symbol].kind {
                        Kind::Record => return Some(symbol),
                        Kind::Alias => ty = self.symbols[symbol].ty.as_ref()?,
                        _ => return None,
                    }
                }
                _ => return None,
            }
        }
        None
    }

    /// The symbols of a room, in the order in which they were declared.
    pub(crate) fn members(&self, room: Room) -> Vec<usize> {
        let mut found: Vec<usize> =
            self.rooms.iter().filter(|((own, _), _)| *own == room).map(|(_, symbol)| *symbol).collect();
        found.sort_unstable();
        found
    }
}

//! From the tree of a BIR text to its names: every scope and every use, as the front end understands them.
//!
//! Bound names come before parameters and variables of a thread or procedure, these before what the system declares.
//! What is not declared has no use; the front end has a diagnostic for it.

mod statement;

use birk_ir::Span;
use birk_lang::ast::{self, Domain, Expr, ExprKind, Item, Type, TypeKind};
use birk_lang::parser::{Parsed, parse_expression};

use crate::scope::{GLOBAL, Kind, Names, Room, Symbol};

/// The names of a text and its libraries: texts and what became of them, the text itself first.
pub(crate) fn resolve(files: &[(String, String)], parsed: &[Parsed]) -> Names {
    let mut resolver = Resolver { files, names: Names::default() };
    let length = files.first().map_or(0, |(_, text)| text.len());
    resolver.names.open(Span::new(0, length), None);
    let systems = || parsed.iter().skip(1).chain(parsed.first()).filter_map(|parsed| parsed.system.as_ref());
    for system in systems() {
        for item in &system.items {
            resolver.declare(item);
        }
    }
    for system in systems().filter(|system| system.span.file == 0) {
        let head = system.span.to(system.name.span);
        let head = Span { end: system.name.span.end, ..head };
        resolver.symbol(&system.name, Kind::System, head, None, None, Room::System);
    }
    for (system, parsed) in parsed.iter().filter_map(|parsed| Some((parsed.system.as_ref()?, parsed))) {
        for item in &system.items {
            resolver.item(item, parsed);
        }
    }
    resolver.names.uses.sort_by_key(|found| (found.span.file, found.span.start, found.span.end));
    resolver.names
}

struct Resolver<'t> {
    files: &'t [(String, String)],
    names: Names,
}

impl Resolver<'_> {
    fn text(&self, span: Span) -> &str {
        self.files.get(span.file as usize).and_then(|(_, text)| text.get(span.range())).unwrap_or_default()
    }

    fn symbol(
        &mut self,
        name: &ast::Name,
        kind: Kind,
        head: Span,
        owner: Option<usize>,
        ty: Option<&Type>,
        room: Room,
    ) -> usize {
        let (text, span) = (name.text.clone(), name.span);
        self.names.declare(Symbol { name: text, kind, span, head, owner, ty: ty.cloned(), room })
    }

    /// From the begin of a declaration to its first brace, or to its end.
    fn head(&self, whole: Span) -> Span {
        let text = self.text(whole);
        let length = text.find('{').map_or(text.len(), |brace| text[..brace].trim_end().len());
        Span { end: whole.start + length as u32, ..whole }
    }

    /// What a system or library declares, before anything is used.
    fn declare(&mut self, item: &Item) {
        let global = Room::Scope(GLOBAL);
        match item {
            Item::Constants(constants) => {
                let block = constants.block.as_ref();
                let block = block.map(|name| self.symbol(name, Kind::Block, constants.span, None, None, global));
                let room = block.map_or(global, Room::Members);
                for (name, value) in &constants.entries {
                    let head = Span { end: value.span.end.max(name.span.end), ..name.span };
                    self.symbol(name, Kind::Constant, head, block, None, room);
                }
            }
            Item::Alias(alias) => {
                self.symbol(&alias.name, Kind::Alias, alias.span, None, Some(&alias.target), global);
            }
            Item::Enum(declared) => {
                let owner = self.symbol(&declared.name, Kind::Enum, declared.span, None, None, global);
                for name in &declared.variants {
                    self.symbol(name, Kind::Variant, name.span, Some(owner), None, Room::Members(owner));
                }
            }
            Item::Record(record) => {
                let owner = self.symbol(&record.name, Kind::Record, record.span, None, None, global);
                for field in &record.fields {
                    for (name, _) in &field.declarators {
                        let room = Room::Members(owner);
                        self.symbol(name, Kind::Field, name.span, Some(owner), Some(&field.ty), room);
                    }
                }
            }
            Item::Variables(variables) => self.variables(variables, Kind::Variable, None, global),
            Item::Function(function) => {
                let head = Span { end: function.result.span.end.max(function.name.span.end), ..function.span };
                self.symbol(&function.name, Kind::Function, head, None, Some(&function.result), global);
            }
            Item::Procedure(procedure) => {
                let head = self.head(procedure.span);
                let owner = self.symbol(&procedure.name, Kind::Procedure, head, None, None, global);
                self.labels(&procedure.body, owner);
            }
            Item::Thread(thread) => {
                let head = self.head(thread.span);
                let owner = self.symbol(&thread.name, Kind::Thread, head, None, None, global);
                self.thread_names(thread, owner);
            }
            Item::Property(property) => {
                self.symbol(&property.name, Kind::Property, property.span, None, None, Room::Properties);
            }
            Item::Expectation(_) | Item::Refinement(_) => {}
        }
    }

    fn variables(&mut self, variables: &ast::Variables, kind: Kind, owner: Option<usize>, room: Room) {
        for (name, _) in &variables.declarators {
            let index = self.symbol(name, kind, name.span, owner, Some(&variables.ty), room);
            if let Some(owner) = owner {
                self.names.show_in(Room::Members(owner), index);
            }
        }
    }

    /// Parameters, variables and locations of a thread, which others can name, too.
    fn thread_names(&mut self, thread: &ast::Thread, owner: usize) {
        let scope = self.names.open(thread.span, Some(GLOBAL));
        self.params(&thread.params, owner, scope);
        for variables in &thread.variables {
            self.variables(variables, Kind::Local, Some(owner), Room::Scope(scope));
        }
        for location in &thread.locations {
            let head = Span { end: location.name.span.end, ..location.span };
            self.symbol(&location.name, Kind::Location, head, Some(owner), None, Room::Locations(owner));
            for transformation in &location.transformations {
                self.labels(&transformation.actions, owner);
            }
        }
        self.labels(&thread.body, owner);
        if let Some(crashes) = &thread.crashes {
            // The place has no declaration but the word that lets the thread crash.
            let place = Span { end: crashes.span.start + "crashes".len() as u32, ..crashes.span };
            let name = ast::Name { text: "crashed".into(), span: place };
            self.symbol(&name, Kind::Location, crashes.span, Some(owner), None, Room::Locations(owner));
            [&crashes.crash, &crashes.restart].into_iter().flatten().for_each(|block| self.labels(block, owner));
        }
    }

    fn params(&mut self, params: &[ast::Param], owner: usize, scope: usize) {
        for param in params {
            let head = param.ty.span.to(param.name.span);
            let index = self.symbol(&param.name, Kind::Param, head, Some(owner), Some(&param.ty), Room::Scope(scope));
            self.names.show_in(Room::Members(owner), index);
        }
    }

    /// What is written in a declaration.
    fn item(&mut self, item: &Item, parsed: &Parsed) {
        match item {
            Item::Constants(constants) => {
                for (_, value) in &constants.entries {
                    self.expr(value, GLOBAL);
                }
            }
            Item::Alias(alias) => self.ty(&alias.target, GLOBAL),
            Item::Enum(_) => {}
            Item::Record(record) => record.fields.iter().for_each(|field| self.values(field, GLOBAL)),
            Item::Variables(variables) => self.values(variables, GLOBAL),
            Item::Function(function) => {
                let scope = self.names.open(function.span, Some(GLOBAL));
                if let Some(owner) = self.declared(&function.name) {
                    self.params(&function.params, owner, scope);
                }
                function.params.iter().for_each(|param| self.ty(&param.ty, GLOBAL));
                self.ty(&function.result, GLOBAL);
                self.expr(&function.body, scope);
            }
            Item::Procedure(procedure) => {
                let scope = self.names.open(procedure.span, Some(GLOBAL));
                let owner = self.declared(&procedure.name);
                if let Some(owner) = owner {
                    self.params(&procedure.params, owner, scope);
                }
                procedure.params.iter().for_each(|param| self.ty(&param.ty, GLOBAL));
                self.block(&procedure.body, scope, owner);
            }
            Item::Thread(thread) => self.thread(thread),
            Item::Property(property) => _ = self.expr(&property.body, GLOBAL),
            Item::Expectation(expectation) => self.expectation(expectation, parsed),
            Item::Refinement(refinement) => self.refinement(refinement),
        }
    }

    /// The symbol that a declaration of the system made.
    fn declared(&self, name: &ast::Name) -> Option<usize> {
        let first = self.names.in_room(Room::Scope(GLOBAL), &name.text);
        let is_it = |symbol: &usize| self.names.symbols[*symbol].span == name.span;
        // Of equal names, which are an error, all but the first must be looked for.
        first.filter(is_it).or_else(|| (0..self.names.symbols.len()).find(is_it))
    }

    /// Types and initial values.
    fn values(&mut self, variables: &ast::Variables, scope: usize) {
        self.ty(&variables.ty, scope);
        for value in variables.declarators.iter().filter_map(|(_, value)| value.as_ref()) {
            self.expr(value, scope);
        }
    }

    fn thread(&mut self, thread: &ast::Thread) {
        let of_thread = |scope: &crate::scope::Scope| scope.span == thread.span && scope.parent == Some(GLOBAL);
        let scope = self.names.scopes.iter().position(of_thread).unwrap_or(GLOBAL);
        let owner = self.declared(&thread.name);
        if let Some(copies) = &thread.copies {
            self.expr(copies, GLOBAL);
        }
        thread.params.iter().for_each(|param| self.ty(&param.ty, GLOBAL));
        for variables in &thread.variables {
            self.values(variables, GLOBAL);
        }
        if let Some(crashes) = &thread.crashes {
            if let Some(condition) = &crashes.condition {
                self.expr(condition, scope);
            }
            [&crashes.crash, &crashes.restart].into_iter().flatten().for_each(|block| self.block(block, scope, owner));
        }
        for transformation in thread.locations.iter().flat_map(|location| &location.transformations) {
            if let Some(guard) = &transformation.guard {
                self.expr(guard, scope);
            }
            self.block(&transformation.actions, scope, owner);
            if let (Some(ast::Jump::Goto(name)), Some(owner)) = (&transformation.jump, owner) {
                self.used_in(Room::Locations(owner), name);
            }
        }
        self.block(&thread.body, scope, owner);
    }

    /// The names of the specification are declared elsewhere; each entry has a scope for those that it binds.
    fn refinement(&mut self, refinement: &ast::Refinement) {
        for mapped in &refinement.mapped {
            let scope = self.names.open(mapped.place.to(mapped.value.span), Some(GLOBAL));
            for part in &mapped.parts {
                match part {
                    ast::MappedPart::Each(name, lo, hi) => {
                        self.expr(lo, GLOBAL);
                        self.expr(hi, GLOBAL);
                        self.symbol(name, Kind::Bound, name.span.to(hi.span), None, None, Room::Scope(scope));
                    }
                    ast::MappedPart::At(index) => _ = self.expr(index, GLOBAL),
                    ast::MappedPart::Field(_) => {}
                }
            }
            self.expr(&mapped.value, scope);
        }
    }

    fn expectation(&mut self, expectation: &ast::Expectation, parsed: &Parsed) {
        for (name, value) in &expectation.constants {
            // A constant of a block is one name with a dot in it; with blanks around the dot it is not looked at.
            if self.text(name.span) == name.text {
                let mut room = self.room_of_constant(name.text.split('.').next().unwrap_or_default());
                let mut start = name.span.start;
                for part in name.text.split('.') {
                    let span = Span { start, end: start + part.len() as u32, ..name.span };
                    start = span.end + 1;
                    let Some(symbol) = self.used_in(room, &ast::Name { text: part.to_owned(), span }) else { break };
                    room = Room::Members(symbol);
                }
            }
            let behind = parsed.tokens.iter().skip_while(|token| token.span.start < name.span.end);
            let place = behind.filter(|token| !token.kind.is_trivia()).nth(1).map(|token| token.span);
            let Some(place) = place else { continue };
            let part = place.start as usize..place.start as usize + value.len();
            let Some((_, text)) = self.files.get(place.file as usize) else { continue };
            if text.get(part.clone()) == Some(value) {
                let (expr, _) = parse_expression(text, part, place.file);
                self.expr(&expr, GLOBAL);
            }
        }
        for name in expectation.clauses.iter().filter_map(|clause| clause.property.as_ref()) {
            self.used_in(Room::Properties, name);
        }
    }

    /// Where the constant with this name is: a block may be left out if no other has a constant of this name.
    fn room_of_constant(&self, name: &str) -> Room {
        let global = Room::Scope(GLOBAL);
        if self.names.in_room(global, name).is_some() {
            return global;
        }
        let is_it = |symbol: &&Symbol| symbol.kind == Kind::Constant && symbol.name == name;
        let mut found = self.names.symbols.iter().filter(is_it);
        match (found.next(), found.next()) {
            (Some(only), None) => only.room,
            _ => global,
        }
    }

    fn ty(&mut self, ty: &Type, scope: usize) {
        self.base(&ty.kind, scope);
        for length in &ty.dimensions {
            self.expr(length, scope);
        }
    }

    /// A type without its lengths.
    fn base(&mut self, kind: &TypeKind, scope: usize) {
        match kind {
            TypeKind::Range(_, lo, hi) | TypeKind::Set(lo, hi) => {
                self.expr(lo, scope);
                self.expr(hi, scope);
            }
            TypeKind::SetOf(name) | TypeKind::OrNobody(name) | TypeKind::Named(name) => {
                self.used_in(Room::Scope(GLOBAL), name);
            }
            TypeKind::Channel(_, element, capacity) | TypeKind::Sequence(element, capacity) => {
                self.ty(element, scope);
                self.expr(capacity, scope);
            }
            TypeKind::Map(keys, value) => {
                self.base(keys, scope);
                self.ty(value, scope);
            }
            TypeKind::Boolean | TypeKind::Byte | TypeKind::Int | TypeKind::Error => {}
        }
    }

    /// Notes the use of a name in a room.
    fn used_in(&mut self, room: Room, name: &ast::Name) -> Option<usize> {
        let symbol = self.names.in_room(room, &name.text).filter(|_| !name.text.is_empty())?;
        self.used(symbol, name.span);
        Some(symbol)
    }

    fn used(&mut self, symbol: usize, span: Span) {
        self.names.uses.push(crate::scope::Use { span, symbol, declares: false, writes: false });
    }

    /// Resolves an expression; answers with the symbol whose members stand behind its dot.
    fn expr(&mut self, expr: &Expr, scope: usize) -> Option<usize> {
        match &expr.kind {
            ExprKind::Name(name) => {
                let symbol = self.names.visible(scope, name)?;
                self.used(symbol, expr.span);
                return self.names.owner_of(symbol);
            }
            ExprKind::Member(base, name) => {
                let owner = self.expr(base, scope)?;
                let symbol = self.used_in(Room::Members(owner), name)?;
                return self.names.owner_of(symbol);
            }
            ExprKind::Index(base, index) => {
                let owner = self.expr(base, scope);
                self.expr(index, scope);
                return owner;
            }
            ExprKind::At(base, name) => {
                if let Some(owner) = self.expr(base, scope) {
                    self.used_in(Room::Locations(owner), name);
                }
            }
            ExprKind::Call(name, args) => {
                let declared = self.used_in(Room::Scope(GLOBAL), name);
                let owners: Vec<Option<usize>> = args.iter().map(|arg| self.expr(arg, scope)).collect();
                if declared.is_none() && ["peek", "head", "last"].contains(&name.text.as_str()) {
                    return owners.first().copied().flatten();
                }
            }
            ExprKind::Unary(_, operand) => _ = self.expr(operand, scope),
            ExprKind::Binary(_, left, right) => {
                self.expr(left, scope);
                self.expr(right, scope);
            }
            ExprKind::Conditional(condition, yes, no) => {
                [condition, yes, no].into_iter().for_each(|part| _ = self.expr(part, scope));
            }
            ExprKind::Quantifier(_, name, domain, body) => {
                match &**domain {
                    Domain::Range(lo, hi) => [lo, hi].into_iter().for_each(|part| _ = self.expr(part, scope)),
                    Domain::Members(members) => _ = self.expr(members, scope),
                }
                let head = Span { end: body.span.start, ..expr.span };
                self.bound(name, head, body, expr.span, scope);
            }
            ExprKind::Let(name, value, body) => {
                self.expr(value, scope);
                let head = Span { end: value.span.end, ..expr.span };
                self.bound(name, head, body, body.span, scope);
            }
            ExprKind::Set(parts) | ExprKind::Choose(parts) => parts.iter().for_each(|part| _ = self.expr(part, scope)),
            ExprKind::Modal(_, whose, body) => {
                if let Some(whose) = whose {
                    self.expr(whose, scope);
                }
                self.expr(body, scope);
            }
            ExprKind::Fixpoint(_, name, body) => {
                let head = Span { end: name.span.end, ..expr.span };
                self.bound(name, head, body, body.span, scope);
            }
            ExprKind::Int(_) | ExprKind::Bool(_) | ExprKind::Error => {}
        }
        None
    }

    /// An expression in which one more name is visible.
    fn bound(&mut self, name: &ast::Name, head: Span, body: &Expr, whole: Span, outer: usize) {
        let scope = self.names.open(whole, Some(outer));
        let head = Span { end: head.end.max(name.span.end), ..head };
        self.symbol(name, Kind::Bound, head, None, None, Room::Scope(scope));
        self.expr(body, scope);
    }
}

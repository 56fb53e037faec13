//! Edits that a person may welcome where something is wrong, made from what is declared.

use birk_ir::Span;

use crate::diagnostic::{Diagnostic, Fix, list};
use crate::edit;
use crate::sema::context::{Context, Evaluated, Symbol};
use crate::sema::types::{Scalar, Ty, Type};
use crate::syntax::ast::{self, TypeKind};
use crate::syntax::lexer::{TokenKind as T, tokenize};

impl<'a> Context<'a> {
    /// The text in which a fix is looked for, unless nobody wants it.
    pub(crate) fn text(&self, span: Span) -> Option<&'a str> {
        self.sources.get(span.file as usize).copied().filter(|_| !self.is_hopeless())
    }

    /// Proposes to remove a part of the text.
    pub(crate) fn without(&self, diagnostic: Diagnostic, part: Option<Span>) -> Diagnostic {
        match part.and_then(|part| Some((part, self.text(part)?))) {
            Some((part, text)) => diagnostic.propose(edit::removal(text, part), ""),
            None => diagnostic,
        }
    }

    /// Proposes to remove the label at which something is reported.
    pub(crate) fn without_label(&self, diagnostic: Diagnostic) -> Diagnostic {
        let name = diagnostic.span;
        match self.text(name).and_then(|text| edit::with_sign(text, name, ':')) {
            Some(label) => diagnostic.propose(label, ""),
            None => diagnostic,
        }
    }

    /// Proposes another name for what is declared twice.
    pub(crate) fn with_other_name(&self, diagnostic: Diagnostic, name: &ast::Name) -> Diagnostic {
        let Some(text) = self.text(name.span) else { return diagnostic.help("give one of them another name") };
        let other = edit::fresh(text, &name.text);
        diagnostic.help(format!("give one of them another name, such as `{other}`")).propose(name.span, other)
    }

    /// Proposes the index nearest to one that is outside: the first, or the last.
    pub(crate) fn with_near_index(&self, diagnostic: Diagnostic, index: i64, last: i64) -> Diagnostic {
        let place = diagnostic.span;
        let source = self.source(place);
        let is_letter = |c: char| c.is_alphanumeric() || c == '_';
        let is_name = source.starts_with(char::is_alphabetic) && source.chars().all(is_letter);
        let (which, near) = match index {
            _ if index < 0 => ("first", "0".to_owned()),
            _ if is_name && index == last + 1 => ("last", format!("{source} - 1")),
            _ => ("last", last.to_string()),
        };
        diagnostic.help(format!("the {which} is `{near}`")).propose(place, near)
    }

    /// Proposes to move a declaration out of what it stands in.
    pub(crate) fn moved_out(&self, diagnostic: Diagnostic, from: Span, declaration: Span) -> Diagnostic {
        let Some(text) = self.text(from) else { return diagnostic };
        let is_whole = text[declaration.range()].ends_with(';');
        let whole = if is_whole { Some(declaration) } else { edit::statement(text, declaration) };
        let Some(declaration) = whole else { return diagnostic };
        let removed = edit::removal(text, declaration);
        let (between, written) = (&text[from.start as usize..removed.start as usize], &text[declaration.range()]);
        let moved = format!("{written}\n  {between}");
        diagnostic.help("move it before what it stands in").propose(Span { end: removed.end, ..from }, moved)
    }

    /// How the expression at a place could be made to have another type.
    pub(crate) fn conversion(&self, from: Ty, to: Ty, span: Span) -> Option<String> {
        let source = self.source(span);
        let is_short = !source.contains(' ') && source.len() <= 30;
        match (from, to) {
            (Ty::Int, Ty::Boolean) if source == "0" => Some("write `false`".into()),
            (Ty::Int, Ty::Boolean) if source == "1" => Some("write `true`".into()),
            (Ty::Int, Ty::Boolean) if source.parse::<i64>().is_ok() => Some("write `true` or `false`".into()),
            (Ty::Int, Ty::Boolean) if is_short => Some(format!("compare it, for example `{source} != 0`")),
            (Ty::Int, Ty::Boolean) => Some("compare it, for example with `!= 0`".into()),
            (Ty::Boolean, Ty::Int) if source == "false" => Some("write `0`".into()),
            (Ty::Boolean, Ty::Int) if source == "true" => Some("write `1`".into()),
            (Ty::Boolean, Ty::Int) if is_short => Some(format!("to count it, write `({source} ? 1 : 0)`")),
            (Ty::Boolean, Ty::Int) => Some("to count it, write `(… ? 1 : 0)`".into()),
            (_, Ty::Enum(index)) => {
                let owner = &self.enums[index];
                let example = self.variant_of(index, &source).or(owner.variants.first())?;
                Some(format!("name a value of `{}`, for example `{}.{example}`", owner.name, owner.name))
            }
            _ => None,
        }
    }

    /// The value of an enumeration that an expression stands for: one of the same name, or that with its number.
    fn variant_of(&self, index: usize, source: &str) -> Option<&String> {
        let variants = &self.enums[index].variants;
        let is_named = |variant: &&String| source.rsplit('.').next() == Some(variant.as_str());
        variants.iter().find(is_named).or_else(|| variants.get(source.parse::<usize>().ok()?))
    }

    /// The edit for it: sure where there is one right way.
    pub(crate) fn converted(&self, from: Ty, to: Ty, span: Span) -> Option<Fix> {
        let source = self.source(span);
        let is_plain = source.chars().all(|c| c.is_alphanumeric() || "_.[]".contains(c));
        let replacement = match (from, to, &*source) {
            (Ty::Int, Ty::Boolean, "0") => "false".to_owned(),
            (Ty::Int, Ty::Boolean, "1") => "true".to_owned(),
            (Ty::Boolean, Ty::Int, "false") => "0".to_owned(),
            (Ty::Boolean, Ty::Int, "true") => "1".to_owned(),
            (Ty::Int, Ty::Boolean, _) if source.parse::<i64>().is_ok() => return None,
            (Ty::Int, Ty::Boolean, _) if is_plain => format!("({source} != 0)"),
            (Ty::Boolean, Ty::Int, _) if is_plain => format!("({source} ? 1 : 0)"),
            (Ty::Int, Ty::Boolean, _) if !source.contains("//") => {
                return Some(Fix::proposed(span, format!("(({source}) != 0)")));
            }
            (Ty::Boolean, Ty::Int, _) if !source.contains("//") => {
                return Some(Fix::proposed(span, format!("(({source}) ? 1 : 0)")));
            }
            (_, Ty::Enum(index), _) => {
                let written = format!("{}.{}", self.enums[index].name, self.variant_of(index, &source)?);
                return Some(Fix::proposed(span, written));
            }
            _ => return None,
        };
        Some(Fix::new(span, replacement))
    }

    /// Proposes to add the arguments that a call lacks, or to remove those that are too many.
    pub(crate) fn with_arguments(
        &self,
        diagnostic: Diagnostic,
        name: Span,
        params: &[ast::Param],
        args: &[ast::Expr],
    ) -> Diagnostic {
        let spans: Vec<Span> = args.iter().map(|arg| arg.span).collect();
        let Some(text) = self.text(name) else { return diagnostic };
        if let Some(place) = edit::surplus(text, &spans, params.len()) {
            return diagnostic.help("remove what is too much").propose(place, "");
        }
        let missing = params.get(args.len()..).unwrap_or_default();
        let values: Option<Vec<String>> = missing.iter().map(|param| self.some_value(&param.ty)).collect();
        let place = edit::last_argument(text, name, spans.last().copied());
        let (Some(place), Some(values), false) = (place, values, missing.is_empty()) else { return diagnostic };
        let names = list(missing.iter().map(|param| param.name.text.as_str()));
        let comma = if args.is_empty() { "" } else { ", " };
        let values = values.join(", ");
        diagnostic.help(format!("give {names} a value, such as `{values}`")).propose(place, format!("{comma}{values}"))
    }

    /// A value of a type as it is written.
    fn some_value(&self, ty: &ast::Type) -> Option<String> {
        if !ty.dimensions.is_empty() {
            return None;
        }
        match &ty.kind {
            TypeKind::Boolean => Some("false".into()),
            TypeKind::Byte | TypeKind::Int => Some("0".into()),
            TypeKind::Range(_, low, _) => Some(self.source(low.span)),
            TypeKind::Named(name) => match self.symbols.get(name.text.as_str()) {
                Some((Symbol::Enum(index), _)) => {
                    let owner = &self.enums[*index];
                    Some(format!("{}.{}", owner.name, owner.variants.first()?))
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// Proposes another value for the constant of the system that is divided by and is 0.
    pub(crate) fn with_divisor(&self, diagnostic: Diagnostic) -> Diagnostic {
        let name = self.source(diagnostic.span);
        let Some((Symbol::Constant(_), declared)) = self.symbols.get(name.as_str()) else { return diagnostic };
        let Some(text) = self.text(*declared) else { return diagnostic };
        let rest = text[declared.end as usize..].trim_start();
        let value = rest.strip_prefix('=').map(str::trim_start);
        let Some(value) = value.filter(|value| value.strip_prefix('0').is_some_and(|rest| rest.starts_with(';')))
        else {
            return diagnostic;
        };
        let start = text.len() - value.len();
        let place = Span { file: declared.file, ..Span::new(start, start + 1) };
        diagnostic.help(format!("give `{name}` another value, such as `1`")).propose(place, "1")
    }

    /// Proposes to receive the parts of a record or an array one by one, where it has few and all are single values.
    pub(crate) fn in_parts(&self, diagnostic: Diagnostic, name: &str, ty: &Type, place: Span) -> Diagnostic {
        const MOST: usize = 8;
        let is_single = |ty: &Type| ty.shape.is_empty() && !matches!(ty.scalar.ty, Ty::Record(_) | Ty::Collection(_));
        let parts: Vec<String> = match (&ty.shape[..], ty.scalar.ty) {
            ([], Ty::Record(index)) => match &self.records[index].fields {
                Evaluated::Done(fields) if fields.iter().all(|(_, ty)| is_single(ty)) => {
                    fields.iter().map(|(field, _)| format!("{name}.{field}")).collect()
                }
                _ => return diagnostic,
            },
            ([length], of) if !matches!(of, Ty::Record(_) | Ty::Collection(_)) => {
                (0..*length).take(MOST + 1).map(|index| format!("{name}[{index}]")).collect()
            }
            _ => return diagnostic,
        };
        match parts.len() {
            1..=MOST => diagnostic.propose(place, parts.join(", ?")),
            _ => diagnostic,
        }
    }

    /// Proposes to declare an enumeration of this name.
    pub(crate) fn with_enumeration(&self, diagnostic: Diagnostic, name: &str) -> Diagnostic {
        let system = self.system;
        let is_here = diagnostic.span.file == system.file;
        let place = self.text(system).and_then(|text| edit::body(text, Span { end: text.len() as u32, ..system }));
        match place.filter(|_| is_here) {
            Some(place) => {
                let declaration = format!("enum {name} {{ first, second }}");
                let own = format!("what is declared, such as `{declaration}`");
                let help = format!("types are `boolean`, `byte`, `int (lo, hi)` and {own}");
                diagnostic.help(help).propose(place, format!("\n  {declaration}"))
            }
            None => diagnostic,
        }
    }

    /// Proposes to declare a variable of the system, if its uses tell its type.
    pub(crate) fn with_declaration(&self, diagnostic: Diagnostic, name: &str) -> Diagnostic {
        let system = self.system;
        let place = self.text(system).and_then(|text| edit::body(text, Span { end: text.len() as u32, ..system }));
        match place.and_then(|place| Some((place, self.type_of_uses(name)?))) {
            Some((place, ty)) => {
                let declaration = format!("{ty} {name};");
                diagnostic.help(format!("declare it: `{declaration}`")).propose(place, format!("\n  {declaration}"))
            }
            None => diagnostic,
        }
    }

    /// The type that a name seems to have, by what stands beside it in the text.
    fn type_of_uses(&self, name: &str) -> Option<String> {
        let text = self.text(self.system)?;
        let mut tokens = tokenize(text).0;
        tokens.retain(|token| !token.kind.is_trivia());
        let word = |at: usize| tokens.get(at).map_or("", |token| &text[token.span.range()]);
        let kind = |at: usize| tokens.get(at).map_or(T::End, |token| token.kind);
        let beside = |at: usize| match kind(at) {
            T::True | T::False | T::Not => Some("boolean".to_owned()),
            T::Number => Some("int".to_owned()),
            T::Name => self.declared(word(at)).and_then(|scalar| self.written(&scalar)),
            _ => None,
        };
        let joins = |kind| matches!(kind, T::AndAnd | T::OrOr | T::Implies);
        let compares =
            |kind| matches!(kind, T::Equal | T::NotEqual | T::Less | T::LessEqual | T::Greater | T::GreaterEqual);
        let counts = |kind| matches!(kind, T::Plus | T::Minus | T::Star | T::Slash | T::Percent);
        let uses = (1..tokens.len()).filter(|&at| kind(at) == T::Name && word(at) == name);
        let mut types = uses.filter_map(|at| match (kind(at - 1), kind(at + 1)) {
            (_, T::Assign) => beside(at + 2),
            (_, after) if compares(after) => beside(at + 2),
            (before, _) if compares(before) => beside(at - 2),
            (before, after) if counts(before) || counts(after) => Some("int".to_owned()),
            (T::Not, _) => Some("boolean".to_owned()),
            (before, after) if joins(before) || joins(after) => Some("boolean".to_owned()),
            (T::When, T::Do) => Some("boolean".to_owned()),
            _ => None,
        });
        types.next()
    }

    /// The type of a variable of this name.
    fn declared(&self, name: &str) -> Option<Scalar> {
        let locals = self.threads.iter().flat_map(|thread| &thread.locals);
        let declared = self.globals.iter().chain(locals).find(|declared| declared.name == name)?;
        declared.ty.shape.is_empty().then_some(declared.ty.scalar)
    }

    /// A type as BIR writes it.
    fn written(&self, scalar: &Scalar) -> Option<String> {
        let (lo, hi) = (scalar.lo, scalar.hi);
        match scalar.ty {
            Ty::Boolean => Some("boolean".into()),
            Ty::Enum(index) => Some(self.enums[index].name.to_owned()),
            Ty::Int if (lo, hi) == (Scalar::INT.lo, Scalar::INT.hi) => Some("int".into()),
            Ty::Int if (lo, hi) == (Scalar::BYTE.lo, Scalar::BYTE.hi) => Some("byte".into()),
            Ty::Int => Some(format!("int ({lo}, {hi})")),
            _ => None,
        }
    }
}

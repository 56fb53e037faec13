//! Declarations of types and variables.

use super::super::ast::{Decl, Init, TypeName};
use super::super::lexer::{Tok, Token};
use super::{Parsed, Parser};

impl Parser {
    pub(super) fn typedef(&mut self) -> Parsed<()> {
        self.take();
        let name = self.name("the name of the type")?;
        self.expect("{")?;
        let mut fields = Vec::new();
        while !self.at("}") {
            if self.eat(";") || self.eat(",") {
                continue;
            }
            fields.extend(self.declaration()?);
        }
        self.expect("}")?;
        self.model.types.push((name, fields));
        Ok(())
    }

    pub(super) fn is_mtype_list(&self) -> bool {
        let sign = |at: usize, sign: &str| self.ahead(at).is_some_and(|token| token.is(sign));
        sign(1, "=")
            || sign(1, "{")
            || sign(1, ":") && (sign(3, "=") || sign(3, "{")) && {
                // `mtype : colour = x` declares a variable; a list has braces.
                sign(3, "{") || sign(4, "{")
            }
    }

    pub(super) fn mtype(&mut self) -> Parsed<()> {
        self.take();
        let kind = if self.eat(":") { Some(self.name("the name of the mtype")?.text) } else { None };
        self.eat("=");
        self.expect("{")?;
        let mut names = Vec::new();
        while !self.at("}") {
            if !self.eat(",") {
                names.push(self.name("a name")?);
            }
        }
        self.expect("}")?;
        self.model.mtypes.push((kind, names));
        Ok(())
    }

    pub(super) fn at_declaration(&self) -> bool {
        let Some(word) = self.peek().name() else { return false };
        let is_type = matches!(&**word, "hidden" | "show" | "local") || self.type_of(word).is_some();
        // The name of a type is also a name of a label or of a variable.
        is_type && !self.ahead(1).is_some_and(|next| next.is(":") && &**word != "mtype" || next.is("."))
    }

    fn type_of(&self, word: &str) -> Option<TypeName> {
        Some(match word {
            "bit" => TypeName::Bit,
            "bool" => TypeName::Bool,
            "byte" => TypeName::Byte,
            "short" => TypeName::Short,
            "int" => TypeName::Int,
            "unsigned" => TypeName::Unsigned(0),
            "pid" => TypeName::Pid,
            "mtype" => TypeName::Mtype,
            "chan" => TypeName::Chan,
            _ if self.types.contains(word) => TypeName::User(word.into()),
            _ => return None,
        })
    }

    fn type_name(&mut self) -> Parsed<TypeName> {
        let found = self.peek().name().cloned().and_then(|word| self.type_of(&word));
        let Some(ty) = found else { return Err(self.unexpected("a type")) };
        self.take();
        if ty == TypeName::Mtype && self.at(":") {
            self.take();
            self.name("the name of the mtype")?;
        }
        Ok(ty)
    }

    /// `byte a = 1, b[3]`
    pub(super) fn declaration(&mut self) -> Parsed<Vec<Decl>> {
        let hidden = self.eat_word("hidden");
        let _ = self.eat_word("show") || self.eat_word("local");
        let ty = self.type_name()?;
        let mut found = Vec::new();
        loop {
            let name = self.name("the name of a variable")?;
            let mut own = ty.clone();
            if self.eat(":") {
                let bits = self.constant()?;
                own = TypeName::Unsigned(bits.clamp(1, 32) as u32);
            } else if own == TypeName::Unsigned(0) {
                return Err(self.unexpected("`:` and the number of bits"));
            }
            let length = match self.eat("[") {
                true => {
                    let length = self.expression()?;
                    self.expect("]")?;
                    Some(length)
                }
                false => None,
            };
            let init = if self.eat("=") { self.init_value()? } else { Init::None };
            found.push(Decl { name, ty: own, length, init, hidden });
            // `int a, int b` is the way to write parameters that SPIN has, too.
            let is_next =
                self.at(",") && self.ahead(1).and_then(Token::name).is_none_or(|word| self.type_of(word).is_none());
            if !is_next {
                return Ok(found);
            }
            self.take();
        }
    }

    fn init_value(&mut self) -> Parsed<Init> {
        if self.at("[") {
            let span = self.take().span;
            let capacity = self.expression()?;
            self.expect("]")?;
            if !self.eat_word("of") {
                return Err(self.unexpected("`of`"));
            }
            self.expect("{")?;
            let mut fields = Vec::new();
            while !self.at("}") {
                if !self.eat(",") && !self.eat(";") {
                    fields.push(self.type_name()?);
                }
            }
            let end = self.expect("}")?;
            return Ok(Init::Chan { capacity, fields, span: span.to(end) });
        }
        if self.eat("{") {
            let mut values = Vec::new();
            while !self.at("}") {
                if !self.eat(",") {
                    values.push(self.expression()?);
                }
            }
            self.expect("}")?;
            return Ok(Init::List(values));
        }
        Ok(Init::Value(self.expression()?))
    }

    fn constant(&mut self) -> Parsed<i64> {
        match self.peek().tok {
            Tok::Number(number) => {
                self.take();
                Ok(number)
            }
            _ => Err(self.unexpected("a number")),
        }
    }
}

//! Files in another modelling language: recognised by words that they surely have and BIR does not.

use super::Parser;
use crate::diagnostic::Diagnostic;
use crate::syntax::lexer::TokenKind as T;
use birk_ir::Span;

impl Parser<'_> {
    /// Says so if the file is no system, but a model in another language.
    pub(super) fn other_language(&self) -> Option<Diagnostic> {
        if self.at(T::System) || matches!(self.word(), "import" | "library") && self.at(T::Name) {
            return None;
        }
        let (language, sign) = self.language()?;
        let message = format!("this looks like {language}, not like BIR");
        let help = format!(
            "there is no front end for {language} yet: write the model in BIR; the page \"Side by side\" of the book \
             (docs/src/side-by-side.md) shows the same models in several languages"
        );
        let label = format!("`{}` is {language}", self.source(sign));
        Some(Diagnostic::new("E0010", sign, message, label).help(help))
    }

    /// The language, and where it shows.
    fn language(&self) -> Option<(&'static str, Span)> {
        let text = |position: usize| self.tokens.get(position).map_or("", |token| self.source(token.span));
        let kind = |position: usize| self.tokens.get(position).map_or(T::End, |token| token.kind);
        // TLA+ and PlusCal share a file; the algorithm stands in a comment of TLA+.
        let begins_algorithm = |at: usize| text(at) == "algorithm" && at > 1 && matches!(text(at - 1), "-" | "fair");
        let is_pluscal = (0..self.tokens.len()).any(begins_algorithm);
        (0..self.tokens.len()).find_map(|at| {
            let [first, second] = [text(at), text(at + 1)];
            let language = match first {
                "MODULE" if at > 0 && text(at - 1) == "-" => {
                    if is_pluscal {
                        "PlusCal"
                    } else {
                        "TLA+"
                    }
                }
                "algorithm" if begins_algorithm(at) => "PlusCal",
                "MODULE" if kind(at + 1) == T::Name => "SMV",
                "proctype" | "mtype" | "d_step" if kind(at + 1) != T::Assign => "Promela",
                "chan" if kind(at + 1) == T::Name => "Promela",
                "never" | "init" if second == "{" => "Promela",
                "do" | "if" if second == ":" && text(at + 2) == ":" => "Promela",
                "module" if at == 0 && kind(1) == T::Name && text(2) == "{" => "Quint",
                "process" if kind(at + 1) == T::Name && text(at + 2) == "{" => "DVE",
                "startstate" | "Startstate" | "ruleset" | "Ruleset" => "Murphi",
                "rule" | "Rule" if kind(at + 1) == T::Text => "Murphi",
                _ => return None,
            };
            Some((language, self.tokens[at].span))
        })
    }
}

//! Tokens with the comments that belong to them, and the blanks that belong between them.

use crate::lexer::{Token, TokenKind as T};

/// A token that means something, and the comments around it.
pub(super) struct Piece<'a> {
    pub(super) kind: T,
    pub(super) text: &'a str,
    /// Comments that come before it: on lines of their own, or on its line.
    pub(super) before: Vec<Comment<'a>>,
    /// Comments behind it, up to the end of its line.
    pub(super) after: Vec<Comment<'a>>,
    /// An empty line stands before it.
    pub(super) blank: bool,
    /// A blank stands before it if it is not the first on its line.
    pub(super) spaced: bool,
}

pub(super) struct Comment<'a> {
    pub(super) text: &'a str,
    /// What follows stands on the same line.
    pub(super) inline: bool,
    /// An empty line stands before it.
    pub(super) blank: bool,
}

/// The pieces of a text, `End` last.
pub(super) fn pieces<'a>(text: &'a str, tokens: &[Token]) -> Vec<Piece<'a>> {
    let mut pieces: Vec<Piece<'a>> = Vec::with_capacity(tokens.len() / 2 + 1);
    let mut begin = 0;
    while begin <= tokens.len() {
        let length = tokens[begin..].iter().take_while(|token| token.kind.is_trivia()).count();
        let next = tokens.get(begin + length);
        let mut piece = Piece {
            kind: next.map_or(T::End, |token| token.kind),
            text: next.map_or("", |token| &text[token.span.range()]),
            before: Vec::new(),
            after: Vec::new(),
            blank: false,
            spaced: false,
        };
        attach(text, &tokens[begin..begin + length], pieces.last_mut(), &mut piece);
        pieces.push(piece);
        begin += length + 1;
    }
    space(&mut pieces);
    pieces
}

/// Gives each comment between two pieces to one of them.
fn attach<'a>(text: &'a str, trivia: &[Token], mut left: Option<&mut Piece<'a>>, right: &mut Piece<'a>) {
    // Comments up to here are on the last line of the left piece, and that line ends before the right piece.
    let is_line_end = |token: &Token| token.kind == T::Whitespace && text[token.span.range()].contains('\n');
    let ends = |from: usize| trivia[from..].iter().any(|token| is_line_end(token) || token.kind == T::LineComment);
    let mut trailing = left.is_some() && (ends(0) || right.kind == T::End);
    let mut line_ends = 0;
    for (index, token) in trivia.iter().enumerate() {
        let source = &text[token.span.range()];
        if token.kind == T::Whitespace {
            line_ends = source.matches('\n').count();
            trailing &= line_ends == 0;
            continue;
        }
        let is_line = token.kind == T::LineComment;
        let ends_here = is_line || trivia.get(index + 1).is_some_and(is_line_end) || is_last(trivia, index, right);
        let comment = Comment {
            text: if is_line { source.trim_end() } else { source },
            inline: !ends_here,
            blank: line_ends > 1,
        };
        match left.as_mut().filter(|_| trailing) {
            Some(left) => left.after.push(comment),
            None => right.before.push(comment),
        }
        line_ends = 0;
    }
    right.blank = line_ends > 1;
}

/// Whether only blanks follow up to the end of the file.
fn is_last(trivia: &[Token], index: usize, right: &Piece<'_>) -> bool {
    right.kind == T::End && trivia[index + 1..].iter().all(|token| token.kind == T::Whitespace)
}

/// Decides where blanks stand.
fn space(pieces: &mut [Piece<'_>]) {
    let mut context = Context::default();
    for index in 0..pieces.len() {
        let spaced = context.is_spaced(pieces, index);
        pieces[index].spaced = spaced;
    }
}

/// What the spacing of a token depends on besides its neighbours.
#[derive(Default)]
struct Context {
    in_formula: bool,
    /// Conditionals whose `:` is still to come.
    questions: usize,
    /// The previous piece is the last of an operand.
    after_operand: bool,
    /// The previous piece is a sign, not an operator between two operands.
    after_sign: bool,
}

impl Context {
    fn is_spaced(&mut self, pieces: &[Piece<'_>], index: usize) -> bool {
        let kind_at = |at: Option<usize>| at.and_then(|at| pieces.get(at)).map_or(T::End, |piece| piece.kind);
        let (kind, next) = (pieces[index].kind, kind_at(index.checked_add(1)));
        let previous = kind_at(index.checked_sub(1));
        let is_box = kind == T::OpenBracket && next == T::CloseBracket;
        let is_operator = kind == T::Name && self.is_temporal(pieces, index);
        let is_sign = kind == T::Minus && !self.after_operand;
        let spaced = match (previous, kind) {
            (_, T::Comma | T::Semicolon | T::CloseParen | T::CloseBracket | T::Dot | T::At) => false,
            (T::OpenParen | T::OpenBracket | T::Dot | T::At | T::Not, _) => false,
            (T::Minus, _) if self.after_sign => false,
            (_, T::Colon) => {
                let of_quantifier = matches!(kind_at(index.checked_sub(3)), T::Forall | T::Exists);
                let of_conditional = !of_quantifier && self.questions > 0;
                self.questions -= usize::from(of_conditional);
                of_quantifier || of_conditional
            }
            (T::Name, T::OpenParen) => !self.after_operand,
            (T::Choose, T::OpenParen) => false,
            (T::Boolean | T::Byte | T::Int, T::OpenBracket) => false,
            (_, T::OpenBracket) => is_box || !self.after_operand,
            _ => true,
        };
        match kind {
            T::Question => self.questions += 1,
            T::Ltl => self.in_formula = true,
            T::Semicolon | T::OpenBrace | T::CloseBrace => *self = Self::default(),
            _ => {}
        }
        let is_wrap = previous == T::Int && next == T::OpenParen;
        self.after_sign = is_sign;
        self.after_operand = match kind {
            T::Name => !is_operator && !is_wrap,
            T::CloseBracket => previous != T::OpenBracket,
            T::Number | T::Text | T::True | T::False | T::CloseParen => true,
            _ => false,
        };
        spaced
    }

    /// Whether a word is an operator of a formula here, as the parser sees it.
    fn is_temporal(&self, pieces: &[Piece<'_>], index: usize) -> bool {
        let kind_at = |at: usize| pieces.get(at).map_or(T::End, |piece| piece.kind);
        if !self.in_formula || matches!(kind_at(index - 1), T::Dot | T::At | T::Ltl) {
            return false;
        }
        match pieces[index].text {
            "U" | "W" | "R" | "until" | "weakuntil" | "release" => self.after_operand,
            "X" | "next" | "always" | "eventually" => match kind_at(index + 1) {
                T::Name | T::Number | T::True | T::False => true,
                T::OpenParen | T::Not | T::Diamond | T::Forall | T::Exists => true,
                next => next == T::OpenBracket && kind_at(index + 2) == T::CloseBracket,
            },
            _ => false,
        }
    }
}

//! Tokens with the comments that belong to them, and the blanks that belong between them.

use crate::syntax::lexer::{Token, TokenKind as T};
use crate::syntax::parser::Parsed;

/// What the tree tells of a token.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// Nothing more than its kind.
    Plain,
    /// A name that is a keyword here.
    Word,
    /// A brace of a block, with the piece that is the other brace.
    Block(usize),
    /// A brace of a set.
    Set,
    /// A bracket of a modality, `<->` before its operand, or the dot of a fixpoint.
    Modal,
}

/// A token that means something, and the comments around it.
pub(super) struct Piece<'a> {
    pub(super) kind: T,
    pub(super) text: &'a str,
    pub(super) role: Role,
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
pub(super) fn pieces<'a>(text: &'a str, parsed: &Parsed) -> Vec<Piece<'a>> {
    let tokens = &parsed.tokens;
    let mut words = parsed.words.iter().peekable();
    let mut sets = parsed.sets.iter().peekable();
    let mut modal = parsed.modal.iter().peekable();
    let mut open = Vec::new();
    let mut pieces: Vec<Piece<'a>> = Vec::with_capacity(tokens.len() / 2 + 1);
    let mut begin = 0;
    while begin <= tokens.len() {
        let length = tokens[begin..].iter().take_while(|token| token.kind.is_trivia()).count();
        let next = tokens.get(begin + length);
        let kind = next.map_or(T::End, |token| token.kind);
        let is_next = |starts: &mut std::iter::Peekable<std::slice::Iter<'_, u32>>| {
            next.is_some_and(|token| starts.next_if(|start| **start == token.span.start).is_some())
        };
        let index = pieces.len();
        let role = match kind {
            T::Name if is_next(&mut words) => Role::Word,
            _ if is_next(&mut modal) => Role::Modal,
            T::OpenBrace => {
                let role = if is_next(&mut sets) { Role::Set } else { Role::Block(index) };
                open.push((index, role));
                role
            }
            T::CloseBrace => match open.pop() {
                Some((partner, Role::Block(_))) => {
                    pieces[partner].role = Role::Block(index);
                    Role::Block(partner)
                }
                _ => Role::Set,
            },
            _ => Role::Plain,
        };
        let mut piece = Piece {
            kind,
            role,
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
    /// Conditionals whose `:` is still to come.
    questions: usize,
    /// The previous piece is the last of an operand.
    after_operand: bool,
    /// The previous piece is a sign, not an operator between two operands.
    after_sign: bool,
    /// How many brackets are open.
    depth: usize,
    /// Behind `send` or `receive`, or `channel of`: its parenthesis, or its capacity, is still to come.
    channel: Option<(T, usize)>,
}

impl Context {
    fn is_spaced(&mut self, pieces: &[Piece<'_>], index: usize) -> bool {
        let kind_at = |at: Option<usize>| at.and_then(|at| pieces.get(at)).map_or(T::End, |piece| piece.kind);
        let (kind, next) = (pieces[index].kind, kind_at(index.checked_add(1)));
        let previous = kind_at(index.checked_sub(1));
        let is_box = kind == T::OpenBracket && next == T::CloseBracket;
        let is_word = pieces[index].role == Role::Word;
        let is_set = pieces[index].role == Role::Set;
        let is_sign = (kind == T::Minus || kind == T::Question) && !self.after_operand;
        let is_modal = pieces[index].role == Role::Modal;
        let follows_modal = index > 0 && pieces[index - 1].role == Role::Modal;
        let spaced = match (previous, kind) {
            // `<T> p`, `[-] p`, `mu X. p`: nothing within the brackets, a blank behind them.
            (_, T::Greater | T::Dot) if is_modal => false,
            (T::Less, _) if follows_modal => false,
            (T::Greater | T::CloseBracket | T::Dot, _) if follows_modal => kind != T::CloseParen,
            (_, T::Less | T::OpenBracket) if is_modal => !matches!(previous, T::OpenParen | T::Not),
            (_, T::OpenParen | T::OpenBracket) if self.channel == Some((kind, self.depth)) => {
                self.channel = None;
                true
            }
            (_, T::CloseBrace) if is_set => false,
            (T::OpenBrace, _) if pieces[index - 1].role == Role::Set => false,
            (_, T::Comma | T::Semicolon | T::CloseParen | T::CloseBracket | T::Dot | T::At) => false,
            (T::OpenParen | T::OpenBracket | T::Dot | T::At | T::Not, _) => false,
            (T::Minus | T::Question, _) if self.after_sign => false,
            (_, T::Colon) => {
                let of_quantifier = index >= 3 && binds(&pieces[index - 3]) && kind_at(Some(index - 2)) == T::OpenParen;
                let of_conditional = !of_quantifier && self.questions > 0 && !is_mapped_index(pieces, index);
                self.questions -= usize::from(of_conditional);
                of_quantifier || of_conditional || is_mapped_index(pieces, index)
            }
            (T::Name, T::OpenParen) => !self.after_operand,
            (T::Choose, T::OpenParen) => false,
            (T::Boolean | T::Byte | T::Int, T::OpenBracket) => false,
            (_, T::OpenBracket) => is_box || !self.after_operand,
            _ => true,
        };
        match kind {
            T::Question if !is_sign => self.questions += 1,
            T::Name if is_word => match pieces[index].text {
                "send" | "receive" | "broadcast" => self.channel = Some((T::OpenParen, self.depth)),
                "channel" | "sequence" => self.channel = Some((T::OpenBracket, self.depth)),
                _ => {}
            },
            T::OpenParen | T::OpenBracket => self.depth += 1,
            T::CloseParen | T::CloseBracket => self.depth = self.depth.saturating_sub(1),
            T::OpenBrace | T::CloseBrace if is_set => {}
            T::Semicolon | T::OpenBrace | T::CloseBrace => *self = Self::default(),
            _ => {}
        }
        self.after_sign = is_sign;
        self.after_operand = match kind {
            T::Name => !is_word,
            T::CloseBrace => is_set,
            T::CloseBracket => previous != T::OpenBracket && !is_modal,
            T::Number | T::Text | T::True | T::False | T::CloseParen => true,
            _ => false,
        };
        spaced
    }
}

/// Whether a colon stands in a mapping's index, as in `votes[i : 0 .. 1]`.
pub(super) fn is_mapped_index(pieces: &[Piece<'_>], index: usize) -> bool {
    index >= 2 && pieces[index - 2].kind == T::OpenBracket && pieces[index - 1].kind == T::Name
}

/// Whether a piece begins what binds a name in parentheses, as in `forall (i : 0 .. 1)`.
pub(super) fn binds(piece: &Piece<'_>) -> bool {
    match piece.kind {
        T::Forall | T::Exists => true,
        _ => piece.role == Role::Word && matches!(piece.text, "count" | "sum" | "for"),
    }
}

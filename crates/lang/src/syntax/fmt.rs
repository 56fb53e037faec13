//! The canonical layout of a BIR file.
//!
//! Works on tokens, never on the tree: tokens and comments are printed in their order, only the blanks and line ends
//! between them are chosen anew. The choice depends on nothing but the tokens, the comments and how these stand
//! (alone on a line, at its end, in it), all of which are kept; so formatting twice changes nothing.

mod piece;

use crate::diagnostic::Diagnostic;
use crate::syntax::lexer::{TokenKind as T, tokenize};
use crate::syntax::parser::parse;
use piece::{Piece, Role, binds, is_mapped_index, pieces};
use std::ops::RangeInclusive;

/// Lines are broken where they can be to stay within this many columns.
const WIDTH: usize = 100;
/// Columns per level.
const STEP: usize = 2;
/// How loosely the head of a quantifier and its body are joined: more tightly than any operands.
const QUANTIFIER: usize = 5;
/// How often a long expression is taken apart: enough for what people write, and few enough to stay linear.
const MOST_ROUNDS: usize = 8;

/// The text in canonical layout; the diagnostics of a text that is not correct.
pub fn format(text: &str) -> Result<String, Vec<Diagnostic>> {
    let parsed = parse(text, 0);
    if !parsed.diagnostics.is_empty() {
        return Err(parsed.diagnostics);
    }
    let mut printer = Printer {
        pieces: pieces(text, &parsed),
        next: 0,
        out: String::with_capacity(text.len()),
        indent: 0,
        column: 0,
        is_fresh: true,
        is_first: true,
        must_break: false,
    };
    printer.file();
    let out = printer.out;
    debug_assert!(meaning(text).eq(meaning(&out)), "formatting keeps every token");
    Ok(out)
}

/// The tokens that mean something.
fn meaning(text: &str) -> impl Iterator<Item = (T, &str)> {
    let tokens = tokenize(text).0.into_iter().filter(|token| !token.kind.is_trivia());
    tokens.map(|token| (token.kind, &text[token.span.range()]))
}

/// Where a piece goes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// On a new line of its own rank.
    Line,
    /// On a new line that continues a statement, indented that much more.
    Continued(usize),
    /// Behind the previous piece.
    Behind,
}

/// A place where a line may be broken.
struct Break {
    /// The piece that would begin the new line.
    index: usize,
    /// How much more the new line is indented.
    indent: usize,
    /// Whether it is broken even if the next part would fit.
    is_sure: bool,
}

struct Printer<'a> {
    pieces: Vec<Piece<'a>>,
    /// The first piece not printed.
    next: usize,
    out: String,
    indent: usize,
    column: usize,
    /// Nothing is printed on this line.
    is_fresh: bool,
    /// Nothing is printed in this block, so that no empty line may come.
    is_first: bool,
    /// A comment ended the line.
    must_break: bool,
}

impl Printer<'_> {
    fn file(&mut self) {
        while self.is_word(self.next, &["import"]) {
            self.statement_to(&[T::Semicolon]);
        }
        self.open(self.block(self.next));
        while self.kind() != T::CloseBrace {
            self.item();
        }
        self.close(self.next);
        self.emit(Place::Line);
        self.out.truncate(self.out.trim_end().len());
        self.out.push('\n');
    }

    fn kind(&self) -> T {
        self.kind_at(self.next)
    }

    fn kind_at(&self, index: usize) -> T {
        self.pieces.get(index).map_or(T::End, |piece| piece.kind)
    }

    /// The first piece of one of these kinds; the text is known to be correct, so that there is one.
    fn find(&self, from: usize, kinds: &[T]) -> usize {
        let last = self.pieces.len() - 1;
        (from..last).find(|index| kinds.contains(&self.kind_at(*index))).unwrap_or(last)
    }

    /// Whether a piece is one of these names, used as a keyword.
    fn is_word(&self, index: usize, words: &[&str]) -> bool {
        self.pieces.get(index).is_some_and(|piece| piece.role == Role::Word && words.contains(&piece.text))
    }

    /// The next brace that opens a block.
    fn block(&self, from: usize) -> usize {
        let last = self.pieces.len() - 1;
        (from..last).find(|index| self.closing(*index).is_some()).unwrap_or(last)
    }

    /// The brace that closes the block which is opened here.
    fn closing(&self, index: usize) -> Option<usize> {
        let piece = self.pieces.get(index).filter(|piece| piece.kind == T::OpenBrace)?;
        if let Role::Block(close) = piece.role { Some(close) } else { None }
    }

    /// Whether there is nothing in a block, not even a comment.
    fn is_empty(&self, open: usize, close: usize) -> bool {
        close == open + 1 && self.has_no_comments(open..=close)
    }

    fn item(&mut self) {
        match self.kind() {
            T::Const if self.kind_at(self.next + 2) == T::OpenBrace => self.constants(),
            T::Enum => self.enumeration(),
            T::Active | T::Thread | T::OpenBracket => self.thread(),
            T::Name if self.is_word(self.next, &["fair"]) => self.thread(),
            T::Name if self.is_word(self.next, &["record", "procedure", "refines"]) => self.plain_block(),
            _ => self.statement_to(&[T::Semicolon]),
        }
    }

    /// A record, procedure or mapping.
    fn plain_block(&mut self) {
        self.open(self.block(self.next));
        self.statements();
        self.close(self.end_of_block(self.next));
    }

    /// Statements and declarations up to what cannot be one.
    fn statements(&mut self) {
        while !matches!(self.kind(), T::Loc | T::CloseBrace | T::End) {
            let end = self.find_end(self.next);
            match self.kind_at(end) {
                T::OpenBrace => self.compound(end),
                _ => self.statement(end),
            }
        }
    }

    /// The `;` of a simple statement, or the brace that opens the first block of another.
    fn find_end(&self, from: usize) -> usize {
        let last = self.pieces.len() - 1;
        let ends = |index: &usize| self.kind_at(*index) == T::Semicolon || self.closing(*index).is_some();
        (from..last).find(ends).unwrap_or(last)
    }

    /// A statement with blocks, the first of which is opened at `open`.
    fn compound(&mut self, mut open: usize) {
        let is_atomic = self.is_word(open - 1, &["atomic"]);
        loop {
            let close = self.closing(open).unwrap_or(open);
            let is_small = is_atomic && self.block(open + 1) > close && self.is_flat(close);
            let next = if self.is_word(close + 1, &["else", "or"]) { Some(self.block(close)) } else { None };
            if is_small || self.is_empty(open, close) {
                match next {
                    // The head goes on behind an empty block.
                    Some(next) => open = next,
                    None => return self.statement(close),
                }
                continue;
            }
            self.open(open);
            self.statements();
            self.indent -= STEP;
            match next {
                Some(next) => open = next,
                None => return self.statement(close),
            }
        }
    }

    fn statement_to(&mut self, kinds: &[T]) {
        let end = self.find(self.next, kinds);
        self.statement(end);
    }

    /// The head of a block up to its brace.
    fn open(&mut self, brace: usize) {
        self.statement(brace);
        self.indent += STEP;
        self.is_first = true;
    }

    /// The closing brace and what follows it up to `end`.
    fn close(&mut self, end: usize) {
        self.indent -= STEP;
        self.statement(end);
    }

    /// The end of a declaration whose brace is at `brace`: a semicolon may follow it.
    fn end_of_block(&self, brace: usize) -> usize {
        brace + usize::from(self.kind_at(brace + 1) == T::Semicolon)
    }

    fn constants(&mut self) {
        self.open(self.next + 2);
        while self.kind() != T::CloseBrace {
            let mut depth = 0usize;
            let end = (self.next..self.pieces.len()).find(|index| match self.kind_at(*index) {
                T::OpenParen | T::OpenBracket => {
                    depth += 1;
                    false
                }
                T::CloseParen | T::CloseBracket => {
                    depth = depth.saturating_sub(1);
                    false
                }
                kind => kind == T::Semicolon || (kind == T::Comma && depth == 0),
            });
            self.statement(end.unwrap_or(self.next));
        }
        self.close(self.end_of_block(self.next));
    }

    fn enumeration(&mut self) {
        let brace = self.find(self.next, &[T::CloseBrace]);
        let end = self.end_of_block(brace);
        if self.is_flat(end) {
            self.statement(end);
            return;
        }
        self.open(self.next + 2);
        while self.kind() != T::CloseBrace {
            let comma = usize::from(self.kind_at(self.next + 1) == T::Comma);
            self.statement(self.next + comma);
        }
        self.close(end);
    }

    fn thread(&mut self) {
        self.open(self.block(self.next));
        self.statements();
        while self.kind() == T::Loc {
            let last = self.pieces.len() - 1;
            let first = (self.next..last).find(|index| self.is_transformation(*index)).unwrap_or(last);
            self.open(first - 1);
            while self.is_transformation(self.next) {
                self.transformation();
            }
            self.indent -= STEP;
        }
        self.close(self.next);
    }

    fn is_transformation(&self, index: usize) -> bool {
        matches!(self.kind_at(index), T::When | T::Do) || self.is_word(index, &["fair"])
    }

    fn transformation(&mut self) {
        let open = self.block(self.next);
        let close = self.closing(open).unwrap_or(open);
        let end = match self.kind_at(close + 1) {
            T::Goto | T::Return => self.find(close, &[T::Semicolon]),
            _ => close,
        };
        if self.is_empty(open, close) || (self.block(open + 1) > close && self.is_flat(end)) {
            self.statement(end);
            return;
        }
        self.open(open);
        self.statements();
        self.close(end);
    }

    /// Whether what comes up to `end` fits on a line and has no comment inside.
    fn is_flat(&self, end: usize) -> bool {
        self.fits(self.next, end, self.indent) && self.has_no_comments(self.next..=end)
    }

    /// Whether no comment stands between these pieces.
    fn has_no_comments(&self, range: RangeInclusive<usize>) -> bool {
        let (start, end) = (*range.start(), *range.end());
        let gaps = start..end;
        gaps.clone().all(|index| self.pieces[index].after.is_empty())
            && gaps.clone().all(|index| self.pieces[index + 1].before.is_empty())
    }

    /// Whether the pieces from `start` to `end` fit on the line from `column` on.
    fn fits(&self, start: usize, end: usize, mut column: usize) -> bool {
        for (index, piece) in self.pieces[start..=end].iter().enumerate() {
            column += piece.text.chars().count() + usize::from(piece.spaced && index > 0);
            if column > WIDTH {
                return false;
            }
        }
        true
    }

    /// Prints what comes up to `end` from a new line on, broken behind operators if it is too long.
    fn statement(&mut self, end: usize) {
        let start = self.next;
        let mut breaks = Vec::new();
        if !self.fits(start, end, self.indent) {
            let body = self.body(start, end);
            breaks.extend(body.map(|index| Break { index, indent: STEP, is_sure: true }));
            // Behind a body of its own lines may start where it starts; elsewhere they would meet the actions below.
            let round = if body.is_some() { 0 } else { 1 };
            self.breaks(body.unwrap_or(start), end, round, &mut breaks);
        }
        let mut upcoming = breaks.into_iter().peekable();
        self.emit(Place::Line);
        while self.next <= end {
            let mut place = Place::Behind;
            if let Some(here) = upcoming.next_if(|at| at.index == self.next) {
                let last = upcoming.peek().map_or(end, |next| next.index - 1);
                if here.is_sure || !self.fits(self.next, last, self.column + 1) {
                    place = Place::Continued(here.indent);
                }
            }
            self.emit(place);
        }
    }

    /// Where the body of a long property or function begins, which gets a line of its own.
    fn body(&self, start: usize, end: usize) -> Option<usize> {
        match self.kind_at(start) {
            T::Invariant | T::Reachable | T::Ltl => Some(start + 3),
            T::Name if self.is_word(start, &["ctl", "mu"]) => Some(start + 3),
            T::Function => Some(self.find(start, &[T::Single]).min(end) + 1),
            _ => None,
        }
    }

    /// Where a line may be broken: at the loosest of the outermost operators, and within what is still too long between
    /// these again.
    fn breaks(&self, start: usize, end: usize, round: usize, breaks: &mut Vec<Break>) {
        let (loosest, mut parts) = self.loosest_breaks(start, end);
        let indent = if round == 0 && loosest < (0, QUANTIFIER) { STEP } else { 2 * STEP };
        parts.push(end + 1);
        let mut index = start;
        for next in parts {
            let is_long = !self.fits(index, next - 1, self.indent + indent);
            if index > start {
                breaks.push(Break { index, indent, is_sure: is_long });
            }
            if is_long && round < MOST_ROUNDS && next - index <= end - start {
                self.breaks(index, next - 1, round + 1, breaks);
            }
            index = next;
        }
    }

    /// The depth and looseness of the loosest outermost operators, and the pieces that would begin the new lines.
    fn loosest_breaks(&self, start: usize, end: usize) -> ((usize, usize), Vec<usize>) {
        let mut depth = 0usize;
        let mut heads = Vec::new();
        let mut loosest = (usize::MAX, usize::MAX);
        let mut found = Vec::new();
        for index in start..end {
            let mut here = self.break_at(index);
            match self.kind_at(index) {
                T::OpenParen | T::OpenBracket | T::OpenBrace => depth += 1,
                T::Forall | T::Exists => heads.push(depth),
                T::Name if self.is_word(index, &["count", "sum"]) => heads.push(depth),
                T::CloseParen | T::CloseBracket | T::CloseBrace => {
                    depth = depth.saturating_sub(1);
                    here = heads.pop_if(|head| *head == depth).map(|_| (QUANTIFIER, index + 1));
                }
                _ => {}
            }
            let Some((looseness, before)) = here.filter(|(_, before)| *before > start) else { continue };
            if (depth, looseness) < loosest {
                loosest = (depth, looseness);
                found.clear();
            }
            if (depth, looseness) == loosest {
                found.push(before);
            }
        }
        (loosest, found)
    }

    /// If a line may be broken at a piece: how loosely it binds, and which piece would begin the new line.
    fn break_at(&self, index: usize) -> Option<(usize, usize)> {
        match self.kind_at(index) {
            // The `?` of a pattern touches what follows.
            T::Question => self.pieces[index + 1].spaced.then_some((0, index)),
            T::Colon => {
                let of_range = index >= 3 && (binds(&self.pieces[index - 3]) || is_mapped_index(&self.pieces, index));
                (self.pieces[index].spaced && !of_range).then_some((0, index))
            }
            T::Comma => Some((0, index + 1)),
            T::Iff if self.pieces[index].role == Role::Modal => None,
            T::Iff => Some((1, index + 1)),
            T::Implies | T::Arrow => Some((2, index + 1)),
            T::OrOr => Some((3, index + 1)),
            T::AndAnd => Some((4, index + 1)),
            _ => None,
        }
    }

    /// Prints the next piece with its comments.
    fn emit(&mut self, place: Place) {
        let index = self.next;
        self.next += 1;
        let kind = self.kind_at(index);
        let indent = match place {
            Place::Line => self.indent,
            Place::Continued(indent) => self.indent + indent,
            Place::Behind => self.indent + 2 * STEP,
        };
        if place != Place::Behind || self.must_break {
            self.end_line();
        }
        // Comments before a closing brace belong to what it closes.
        let is_close = place == Place::Line && kind == T::CloseBrace;
        self.comments_before(index, if is_close { indent + STEP } else { indent }, place == Place::Line);
        let piece = &self.pieces[index];
        let is_spaced = piece.spaced || piece.before.last().is_some_and(|comment| comment.inline);
        let (text, is_blank) = (piece.text, piece.blank && place == Place::Line && !is_close);
        self.write(text, indent, is_spaced, is_blank);
        let comments: Vec<&str> = self.pieces[index].after.iter().map(|comment| comment.text).collect();
        for comment in comments {
            self.write(comment, indent, true, false);
            self.must_break = true;
        }
    }

    fn comments_before(&mut self, index: usize, indent: usize, may_be_blank: bool) {
        let mut glued = false;
        for number in 0..self.pieces[index].before.len() {
            let comment = &self.pieces[index].before[number];
            let (text, inline, is_blank) = (comment.text, comment.inline, comment.blank && may_be_blank);
            // An inline comment stays behind what it follows; one that has a line of its own gets it.
            let starts_line = self.pieces[index].before[number..].iter().any(|comment| !comment.inline);
            if starts_line && !glued {
                self.end_line();
            }
            self.write(text, indent, true, is_blank);
            glued = inline;
            if !inline {
                self.end_line();
            }
        }
    }

    fn write(&mut self, text: &str, indent: usize, is_spaced: bool, is_blank: bool) {
        if self.is_fresh {
            if is_blank && !self.is_first {
                self.out.push('\n');
            }
            self.out.extend(std::iter::repeat_n(' ', indent));
            self.column = indent;
        } else if is_spaced {
            self.out.push(' ');
            self.column += 1;
        }
        self.is_fresh = false;
        self.is_first = false;
        self.out.push_str(text);
        match text.rfind('\n') {
            Some(line_end) => self.column = text[line_end + 1..].chars().count(),
            None => self.column += text.chars().count(),
        }
    }

    fn end_line(&mut self) {
        if !self.is_fresh {
            self.out.push('\n');
            self.is_fresh = true;
        }
        self.must_break = false;
    }
}

//! Steps and goals as texts: two with the same text mean the same. The order of operands that does not matter is not in the text,
//! and neither are the names of bound values. A text can be written with the values of a class renamed.

use super::classes::{Class, Classes};

/// What the nodes of terms are; 0 is a constant.
pub(super) mod tag {
    pub(in crate::symmetry) const STEP: i64 = 1;
    pub(in crate::symmetry) const VARIABLE: i64 = 2;
    pub(in crate::symmetry) const FLAT: i64 = 3;
    pub(in crate::symmetry) const LOCAL: i64 = 4;
    pub(in crate::symmetry) const UNARY: i64 = 5;
    pub(in crate::symmetry) const BINARY: i64 = 6;
    pub(in crate::symmetry) const IF: i64 = 7;
    pub(in crate::symmetry) const WRAP: i64 = 8;
    pub(in crate::symmetry) const FOLD: i64 = 9;
    pub(in crate::symmetry) const LET: i64 = 10;
    pub(in crate::symmetry) const STUCK: i64 = 11;
    pub(in crate::symmetry) const HAS: i64 = 12;
    pub(in crate::symmetry) const SINGLE: i64 = 13;
    pub(in crate::symmetry) const OTHERS: i64 = 14;
    pub(in crate::symmetry) const LATER: i64 = 15;
    pub(in crate::symmetry) const SUM: i64 = 16;
    pub(in crate::symmetry) const ASSIGN: i64 = 20;
    pub(in crate::symmetry) const BIND: i64 = 21;
    pub(in crate::symmetry) const CHOOSE: i64 = 22;
    pub(in crate::symmetry) const CHECK: i64 = 23;
    pub(in crate::symmetry) const ASSUME: i64 = 24;
    pub(in crate::symmetry) const REQUIRE: i64 = 25;
    pub(in crate::symmetry) const BOUNDS: i64 = 26;
}

/// A step or an expression, with the classes of its constants.
#[derive(Clone, Debug)]
pub(super) enum Term {
    /// A constant of a class.
    Const(i64, Class),
    /// Something made of parts, in order or not.
    Node { head: [i64; 2], parts: Vec<Term>, is_unordered: bool },
}

/// Values of a class that become others wherever they occur.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Renaming {
    pub(super) class: Class,
    pub(super) by: By,
}

/// How values are renamed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum By {
    /// Two change places.
    Swap(i64, i64),
    /// Each between the first and the last becomes the next one, and the last one the first.
    Rotation(i64, i64),
}

impl Renaming {
    /// The image of a value of the class.
    pub(super) fn value(self, value: i64) -> i64 {
        match self.by {
            By::Swap(one, other) if value == one => other,
            By::Swap(one, other) if value == other => one,
            By::Rotation(first, last) if value == last => first,
            By::Rotation(first, last) if (first..last).contains(&value) => value + 1,
            _ => value,
        }
    }

    /// The image of a set of such values.
    fn set(self, set: i64) -> i64 {
        match self.by {
            By::Swap(one, other) => {
                let differ = (set >> one ^ set >> other) & 1;
                set ^ (differ << one | differ << other)
            }
            By::Rotation(first, last) => {
                let those = ((1 << (last - first + 1)) - 1) << first;
                let (turned, wrapped) = ((set & those) << 1, set >> last & 1);
                set & !those | turned & those | wrapped << first
            }
        }
    }

    /// The image of a constant.
    pub(super) fn constant(self, classes: &Classes, value: i64, class: Class) -> i64 {
        if classes.is_number(class).is_some() {
            value
        } else if classes.find(class) == self.class {
            self.value(value)
        } else if classes.members(class) == Some(self.class) {
            self.set(value)
        } else {
            value
        }
    }
}

impl Term {
    /// A node whose parts are in order.
    pub(super) fn ordered(head: [i64; 2], parts: Vec<Term>) -> Self {
        Term::Node { head, parts, is_unordered: false }
    }

    /// A node whose parts may be in any order.
    pub(super) fn unordered(head: [i64; 2], parts: Vec<Term>) -> Self {
        Term::Node { head, parts, is_unordered: true }
    }

    /// The same for an operator that is associative: operands that are such nodes give their parts.
    pub(super) fn joined(head: [i64; 2], operands: [Term; 2]) -> Self {
        let mut all = Vec::new();
        for operand in operands {
            match operand {
                Term::Node { head: inner, parts, is_unordered: true } if inner == head => all.extend(parts),
                other => all.push(other),
            }
        }
        Term::unordered(head, all)
    }

    /// The text, with values renamed.
    pub(super) fn text(&self, classes: &Classes, renaming: Option<Renaming>) -> Vec<i64> {
        let mut text = Vec::new();
        self.write(classes, renaming, &mut text);
        text
    }

    fn write(&self, classes: &Classes, renaming: Option<Renaming>, text: &mut Vec<i64>) {
        match self {
            Term::Const(value, class) => {
                text.extend([0, renaming.map_or(*value, |renaming| renaming.constant(classes, *value, *class))]);
            }
            Term::Node { head, parts, is_unordered } => {
                text.extend(head);
                text.push(parts.len() as i64);
                if *is_unordered {
                    let mut all: Vec<Vec<i64>> = parts.iter().map(|part| part.text(classes, renaming)).collect();
                    all.sort_unstable();
                    all.iter().for_each(|part| text.extend(part));
                } else {
                    parts.iter().for_each(|part| part.write(classes, renaming, text));
                }
            }
        }
    }

    /// The text without the values of constants, and these values with their classes, both in the order in which they are written.
    pub(super) fn outline(&self, outline: &mut Vec<i64>, constants: &mut Vec<(i64, Class)>) {
        match self {
            Term::Const(value, class) => {
                outline.push(0);
                constants.push((*value, *class));
            }
            Term::Node { head, parts, .. } => {
                outline.extend(head);
                outline.push(parts.len() as i64);
                parts.iter().for_each(|part| part.outline(outline, constants));
            }
        }
    }
}

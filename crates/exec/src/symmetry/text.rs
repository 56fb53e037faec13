//! Steps and goals as texts: two with the same text mean the same. The order of operands that does not matter is not in the text,
//! and neither are the names of bound values. A text can be written with two values of a class swapped.

use super::classes::{Class, Classes};

/// A step or an expression, with the classes of its constants.
#[derive(Clone, Debug)]
pub(super) enum Term {
    /// A constant of a class.
    Const(i64, Class),
    /// Something made of parts, in order or not.
    Node { head: [i64; 2], parts: Vec<Term>, is_unordered: bool },
}

/// Two values of a class that are swapped wherever they occur.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Swap {
    pub(super) class: Class,
    pub(super) one: i64,
    pub(super) other: i64,
}

impl Swap {
    /// The image of a value of the class.
    pub(super) fn value(self, value: i64) -> i64 {
        match value {
            value if value == self.one => self.other,
            value if value == self.other => self.one,
            value => value,
        }
    }

    /// The image of a set of such values.
    fn set(self, set: i64) -> i64 {
        let differ = (set >> self.one ^ set >> self.other) & 1;
        set ^ (differ << self.one | differ << self.other)
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

    /// The text, with two values swapped.
    pub(super) fn text(&self, classes: &Classes, swap: Option<Swap>) -> Vec<i64> {
        let mut text = Vec::new();
        self.write(classes, swap, &mut text);
        text
    }

    fn write(&self, classes: &Classes, swap: Option<Swap>, text: &mut Vec<i64>) {
        match self {
            Term::Const(value, class) => {
                text.extend([0, swap.map_or(*value, |swap| swap.constant(classes, *value, *class))]);
            }
            Term::Node { head, parts, is_unordered } => {
                text.extend(head);
                text.push(parts.len() as i64);
                if *is_unordered {
                    let mut all: Vec<Vec<i64>> = parts.iter().map(|part| part.text(classes, swap)).collect();
                    all.sort_unstable();
                    all.iter().for_each(|part| text.extend(part));
                } else {
                    parts.iter().for_each(|part| part.write(classes, swap, text));
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

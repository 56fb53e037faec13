//! An estimate in words, for people who ask why a search goes where it goes.

use std::fmt::Write as _;

use birk_engine::NEVER;

use super::{Cell, Heuristic, Part};

/// So deep parts are shown, and of each so many.
const LEVELS: usize = 5;
const SHOWN: usize = 6;

impl Heuristic<'_> {
    /// What the estimate of a state is made of.
    pub fn explain(&self, state: &[u32]) -> String {
        let mut known = vec![super::UNKNOWN; self.parts.len()];
        let mut out = String::new();
        self.line(self.parts.len() - 1, state, &mut known, 0, &mut out);
        out
    }

    fn line(&self, part: usize, state: &[u32], known: &mut [u32], level: usize, out: &mut String) {
        let indent = "  ".repeat(level + 1);
        let value = steps(self.value(part, state, known));
        let (text, below): (String, Vec<usize>) = match &self.parts[part] {
            Part::Fixed(0) => ("true, or no bound is known".into(), vec![]),
            Part::Fixed(_) => ("impossible".into(), vec![]),
            Part::Among(cell, values) => {
                let values: Vec<String> = values.iter().map(|&value| self.value_of(*cell, value)).collect();
                (format!("{} is {}", self.name_of(*cell), values.join(" or ")), vec![])
            }
            Part::Written(cell, value, before) => {
                let text = format!("{} is {}", self.name_of(*cell), self.value_of(*cell, *value));
                (text, if self.value(part, state, known) > 1 { vec![*before] } else { vec![] })
            }
            Part::Opaque(condition) => (self.program.expr_text(condition), vec![]),
            Part::Least(parts) => (format!("disjunction of {}, the minimum of", parts.len()), parts.clone()),
            Part::Sum(groups) => {
                let parts = groups.concat();
                let text = match (groups.len(), parts.len()) {
                    (1, n) => format!("conjunction of {n}, the maximum of"),
                    (n, all) if n == all => format!("conjunction of {n}, the sum of"),
                    (n, all) => format!("conjunction of {all} in {n} groups, the sum of their maxima"),
                };
                (text, parts)
            }
        };
        let _ = writeln!(out, "{indent}{value}  {text}");
        if level + 1 == LEVELS {
            return;
        }
        // What decides comes first: the least where the least counts, else the greatest.
        let mut below: Vec<(u32, usize)> =
            below.into_iter().map(|part| (self.value(part, state, known), part)).collect();
        below.sort_by_key(|&(value, _)| value);
        if !matches!(self.parts[part], Part::Least(_)) {
            below.reverse();
        }
        let rest = below.len().saturating_sub(SHOWN);
        for (_, part) in below.into_iter().take(SHOWN) {
            self.line(part, state, known, level + 1, out);
        }
        if rest > 0 {
            let _ = writeln!(out, "{indent}  … and {rest} more");
        }
    }

    fn name_of(&self, cell: Cell) -> String {
        self.program.element_name(cell.variable, cell.element)
    }

    fn value_of(&self, cell: Cell, value: i64) -> String {
        self.program.variable(cell.variable).value_text(value)
    }
}

/// An estimate as a number of steps.
pub fn steps(estimate: u32) -> String {
    match estimate {
        NEVER => "never".into(),
        1 => "1 step".into(),
        steps => format!("{steps} steps"),
    }
}

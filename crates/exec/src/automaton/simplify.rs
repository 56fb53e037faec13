//! Rewriting while formulas are built: constants, syntactic implication, distribution, pure eventualities and
//! universalities (Etessami and Holzmann, "Optimizing Büchi automata", and Somenzi and Bloem, "Efficient Büchi automata
//! from LTL formulae", both 2000). Each rule keeps the language and makes nothing larger.

use super::formula::{FALSE, FormulaId, Formulas, Node, TRUE};

impl Formulas {
    /// Conjunction.
    pub fn and(&mut self, parts: impl IntoIterator<Item = FormulaId>) -> FormulaId {
        self.join(true, parts)
    }

    /// Disjunction.
    pub fn or(&mut self, parts: impl IntoIterator<Item = FormulaId>) -> FormulaId {
        self.join(false, parts)
    }

    /// Conjunction or disjunction: flat, without what is implied by the rest, temporal operators pulled out.
    fn join(&mut self, all: bool, parts: impl IntoIterator<Item = FormulaId>) -> FormulaId {
        let (neutral, decisive) = if all { (TRUE, FALSE) } else { (FALSE, TRUE) };
        let mut flat = Vec::new();
        for part in parts {
            match self.node(part) {
                Node::And(inner) if all => flat.extend_from_slice(inner),
                Node::Or(inner) if !all => flat.extend_from_slice(inner),
                _ => flat.push(part),
            }
        }
        while let Some((at, other, joined)) = self.joined_pair(all, &flat) {
            flat.swap_remove(other.max(at));
            flat.swap_remove(other.min(at));
            match self.node(joined) {
                Node::And(inner) if all => flat.extend_from_slice(inner),
                Node::Or(inner) if !all => flat.extend_from_slice(inner),
                _ => flat.push(joined),
            }
        }
        flat.sort_unstable();
        flat.dedup();
        flat.retain(|&part| part != neutral);
        if flat.contains(&decisive) || self.contradicts(all, &flat) {
            return decisive;
        }
        let kept = self.without_implied(all, &flat);
        match kept[..] {
            [] => neutral,
            [one] => one,
            _ => self.keep(if all { Node::And(kept) } else { Node::Or(kept) }),
        }
    }

    /// Those that the others do not make superfluous; of two that imply each other the first stays.
    pub(super) fn without_implied(&mut self, all: bool, parts: &[FormulaId]) -> Vec<FormulaId> {
        let mut kept: Vec<FormulaId> = Vec::new();
        for (at, &part) in parts.iter().enumerate() {
            let stronger = |formulas: &mut Self, other: FormulaId, part: FormulaId| {
                if all { formulas.implies(other, part) } else { formulas.implies(part, other) }
            };
            let superfluous = kept.iter().any(|&other| stronger(self, other, part))
                || parts[at + 1..].iter().any(|&other| stronger(self, other, part) && !stronger(self, part, other));
            if !superfluous {
                kept.push(part);
            }
        }
        kept
    }

    /// Whether two parts exclude each other (or, in a disjunction, leave nothing out).
    fn contradicts(&mut self, all: bool, parts: &[FormulaId]) -> bool {
        for (at, &part) in parts.iter().enumerate() {
            for &other in &parts[at + 1..] {
                let excluded = if all {
                    let negation = self.negate(other);
                    self.implies(part, negation)
                } else {
                    let negation = self.negate(part);
                    self.implies(negation, other)
                };
                if excluded {
                    return true;
                }
            }
        }
        false
    }

    /// Two parts that are one formula together.
    fn joined_pair(&mut self, all: bool, parts: &[FormulaId]) -> Option<(usize, usize, FormulaId)> {
        for (at, &a) in parts.iter().enumerate() {
            for (other, &b) in parts.iter().enumerate().skip(at + 1) {
                if let Some(joined) = self.joined(all, a, b) {
                    return Some((at, other, joined));
                }
            }
        }
        None
    }

    fn joined(&mut self, all: bool, a: FormulaId, b: FormulaId) -> Option<FormulaId> {
        let nodes = (self.node(a).clone(), self.node(b).clone());
        match (nodes, all) {
            ((Node::Next(a), Node::Next(b)), _) => {
                let inner = self.join(all, [a, b]);
                Some(self.next(inner))
            }
            ((Node::Until(a, right), Node::Until(b, other)), true) if right == other => {
                let left = self.and([a, b]);
                Some(self.until(left, right))
            }
            ((Node::Until(left, a), Node::Until(other, b)), false) if left == other => {
                let right = self.or([a, b]);
                Some(self.until(left, right))
            }
            ((Node::Release(left, a), Node::Release(other, b)), true) if left == other => {
                let right = self.and([a, b]);
                Some(self.release(left, right))
            }
            ((Node::Release(a, right), Node::Release(b, other)), false) if right == other => {
                let left = self.or([a, b]);
                Some(self.release(left, right))
            }
            // (a U b) || [] a = a W b; (a R b) && <> a = b U (a && b).
            ((Node::Until(left, right), Node::Release(FALSE, stays)), false)
            | ((Node::Release(FALSE, stays), Node::Until(left, right)), false)
                if left == stays =>
            {
                Some(self.weak_until(left, right))
            }
            ((Node::Release(left, right), Node::Until(TRUE, comes)), true)
            | ((Node::Until(TRUE, comes), Node::Release(left, right)), true)
                if left == comes =>
            {
                let both = self.and([left, right]);
                Some(self.until(right, both))
            }
            // FG a && FG b = FG (a && b); GF a || GF b = GF (a || b).
            ((Node::Until(TRUE, a), Node::Until(TRUE, b)), true) if self.is_universal(a) && self.is_universal(b) => {
                let both = self.and([a, b]);
                Some(self.until(TRUE, both))
            }
            ((Node::Release(FALSE, a), Node::Release(FALSE, b)), false)
                if self.is_eventual(a) && self.is_eventual(b) =>
            {
                let either = self.or([a, b]);
                Some(self.release(FALSE, either))
            }
            _ => None,
        }
    }

    /// In the next state.
    pub fn next(&mut self, inner: FormulaId) -> FormulaId {
        if self.is_timeless(inner) { inner } else { self.keep(Node::Next(inner)) }
    }

    /// The first until the second, which comes.
    pub fn until(&mut self, left: FormulaId, right: FormulaId) -> FormulaId {
        if left == FALSE || self.is_eventual(right) || self.implies(left, right) {
            return right;
        }
        let not_right = self.negate(right);
        if left != TRUE && self.implies(not_right, left) {
            return self.until(TRUE, right);
        }
        match (self.node(left).clone(), self.node(right).clone()) {
            // F (a U b) = F b; a U (b U c) = b U c where a implies b.
            (_, Node::Until(inner, last)) if left == TRUE || self.implies(left, inner) => {
                let left = if left == TRUE { TRUE } else { inner };
                return self.until(left, last);
            }
            (Node::True, Node::Next(inner)) => {
                let until = self.until(TRUE, inner);
                return self.next(until);
            }
            (Node::Next(a), Node::Next(b)) => {
                let until = self.until(a, b);
                return self.next(until);
            }
            // What does not depend on when it is asked need not wait.
            (_, Node::And(parts)) => {
                let (timeless, rest): (Vec<_>, Vec<_>) = parts.into_iter().partition(|&part| self.is_timeless(part));
                if !timeless.is_empty() {
                    let rest = self.and(rest);
                    let until = self.until(left, rest);
                    return self.and(timeless.into_iter().chain([until]));
                }
            }
            (_, Node::Or(parts)) => {
                let (eventual, rest): (Vec<_>, Vec<_>) = parts.into_iter().partition(|&part| self.is_eventual(part));
                if !eventual.is_empty() {
                    let rest = self.or(rest);
                    let until = self.until(left, rest);
                    return self.or(eventual.into_iter().chain([until]));
                }
            }
            _ => {}
        }
        self.keep(Node::Until(left, right))
    }

    /// The second up to and including where the first is, or forever.
    pub fn release(&mut self, left: FormulaId, right: FormulaId) -> FormulaId {
        if left == TRUE || self.is_universal(right) || self.implies(right, left) {
            return right;
        }
        let not_right = self.negate(right);
        if left != FALSE && self.implies(left, not_right) {
            return self.release(FALSE, right);
        }
        match (self.node(left).clone(), self.node(right).clone()) {
            (_, Node::Release(inner, last)) if left == FALSE || self.implies(inner, left) => {
                let left = if left == FALSE { FALSE } else { inner };
                return self.release(left, last);
            }
            (Node::False, Node::Next(inner)) => {
                let release = self.release(FALSE, inner);
                return self.next(release);
            }
            (Node::Next(a), Node::Next(b)) => {
                let release = self.release(a, b);
                return self.next(release);
            }
            (_, Node::Or(parts)) => {
                let (timeless, rest): (Vec<_>, Vec<_>) = parts.into_iter().partition(|&part| self.is_timeless(part));
                if !timeless.is_empty() {
                    let rest = self.or(rest);
                    let release = self.release(left, rest);
                    return self.or(timeless.into_iter().chain([release]));
                }
            }
            (_, Node::And(parts)) => {
                let (universal, rest): (Vec<_>, Vec<_>) = parts.into_iter().partition(|&part| self.is_universal(part));
                if !universal.is_empty() {
                    let rest = self.and(rest);
                    let release = self.release(left, rest);
                    return self.and(universal.into_iter().chain([release]));
                }
            }
            _ => {}
        }
        self.keep(Node::Release(left, right))
    }

    /// Whether the first implies the second, as far as their shapes tell.
    pub(super) fn implies(&mut self, a: FormulaId, b: FormulaId) -> bool {
        if a == b || a == FALSE || b == TRUE {
            return true;
        }
        if a == TRUE || b == FALSE {
            return false;
        }
        if let Some(&known) = self.implications.get(&(a, b)) {
            return known;
        }
        let answer = self.implies_by_shape(a, b);
        self.implications.insert((a, b), answer);
        answer
    }

    fn implies_by_shape(&mut self, a: FormulaId, b: FormulaId) -> bool {
        let (left, right) = (self.node(a).clone(), self.node(b).clone());
        match (&left, &right) {
            (Node::Or(parts), _) if parts.iter().all(|&part| self.implies(part, b)) => return true,
            (_, Node::And(parts)) if parts.iter().all(|&part| self.implies(a, part)) => return true,
            (Node::And(parts), _) if parts.iter().any(|&part| self.implies(part, b)) => return true,
            (_, Node::Or(parts)) if parts.iter().any(|&part| self.implies(a, part)) => return true,
            (Node::Next(x), Node::Next(y)) => return self.implies(*x, *y),
            (Node::Until(w, x), Node::Until(y, z)) | (Node::Release(w, x), Node::Release(y, z))
                if self.implies(*w, *y) && self.implies(*x, *z) =>
            {
                return true;
            }
            _ => {}
        }
        match left {
            Node::Until(x, y) if self.implies(x, b) && self.implies(y, b) => return true,
            Node::Release(_, y) if self.implies(y, b) => return true,
            Node::Next(x) if self.is_eventual(b) && self.implies(x, b) => return true,
            _ => {}
        }
        match right {
            Node::Until(_, y) => self.implies(a, y),
            Node::Release(x, y) => self.implies(a, x) && self.implies(a, y),
            Node::Next(y) => self.is_universal(a) && self.implies(a, y),
            _ => false,
        }
    }
}

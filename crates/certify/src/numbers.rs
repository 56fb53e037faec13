//! Arithmetic on numbers whose bits depend on the state, exactly as `Expr` defines it: 64 bits that wrap.
//!
//! A number is its bits in two's complement, the lowest first; all above the last are like it. Results are as long as they can need to
//! be, but not longer than 64 bits, and lose what only repeats the sign.

use birk_ir::{BinaryOp, UnaryOp};

use crate::circuit::{Bit, Circuit};

/// Bits, at least one.
pub(crate) type Number = Vec<Bit>;

const MOST_BITS: usize = 64;

/// A bit of a number.
pub(crate) fn bit(number: &[Bit], at: usize) -> Bit {
    number[at.min(number.len() - 1)]
}

fn sign(number: &[Bit]) -> Bit {
    number[number.len() - 1]
}

/// Without what only repeats the sign.
fn short(bits: impl IntoIterator<Item = Bit>) -> Number {
    let mut number: Number = bits.into_iter().take(MOST_BITS).collect();
    while number.len() > 1 && number[number.len() - 1] == number[number.len() - 2] {
        number.pop();
    }
    number
}

fn inverted(number: &[Bit]) -> Number {
    number.iter().map(|&bit| !bit).collect()
}

impl Circuit<'_> {
    pub(crate) fn number(&self, value: i64) -> Number {
        short((0..MOST_BITS).map(|at| self.constant(value >> at & 1 == 1)))
    }

    /// 1 where a bit is set, else 0.
    pub(crate) fn truth_value(&self, bit: Bit) -> Number {
        short([bit, self.constant(false)])
    }

    /// A number that may be any between these bounds, or some others of as many bits.
    pub(crate) fn any_number(&self, (lo, hi): (i64, i64)) -> Number {
        if lo == hi {
            return self.number(lo);
        }
        let bits = |value: i64| 64 - (value ^ (value >> 63)).leading_zeros();
        let mut number: Number = (0..bits(lo).max(bits(hi))).map(|_| self.free()).collect();
        number.push(if lo >= 0 || hi < 0 { self.constant(hi < 0) } else { self.free() });
        number
    }

    /// Bounds that a number cannot leave, whatever the state.
    pub(crate) fn bounds(&self, number: &[Bit]) -> (i64, i64) {
        let last = number.len() - 1;
        let extreme = |unknown: bool| {
            let set = |at: usize| self.known(bit(number, at)).unwrap_or(unknown == (at < last));
            (0..MOST_BITS).fold(0, |value, at| value | i64::from(set(at)) << at)
        };
        (extreme(false), extreme(true))
    }

    /// Where a number is not 0.
    pub(crate) fn truth(&self, number: &[Bit]) -> Bit {
        self.any(number.iter().copied())
    }

    /// The second number where a bit is set, else the third.
    pub(crate) fn select(&self, condition: Bit, yes: &[Bit], no: &[Bit]) -> Number {
        short((0..yes.len().max(no.len())).map(|at| self.choose(condition, bit(yes, at), bit(no, at))))
    }

    pub(crate) fn equal(&self, a: &[Bit], b: &[Bit]) -> Bit {
        !self.any((0..a.len().max(b.len())).map(|at| self.xor(bit(a, at), bit(b, at))))
    }

    pub(crate) fn less(&self, a: &[Bit], b: &[Bit]) -> Bit {
        let last = a.len().max(b.len()) - 1;
        // The highest bit in which they differ decides; the sign counts the other way round.
        (0..=last).fold(self.constant(false), |less, at| {
            let (a, b) = (bit(a, at), bit(b, at));
            self.choose(self.xor(a, b), if at < last { b } else { a }, less)
        })
    }

    /// Where a number is between two others.
    pub(crate) fn is_between(&self, number: &[Bit], lo: &[Bit], hi: &[Bit]) -> Bit {
        self.and(!self.less(number, lo), !self.less(hi, number))
    }

    /// The lowest bits of a sum, with a carry.
    fn sum(&self, a: &[Bit], b: &[Bit], mut carry: Bit, length: usize) -> Number {
        let mut sum = Vec::with_capacity(length);
        for at in 0..length {
            let (a, b) = (bit(a, at), bit(b, at));
            let differ = self.xor(a, b);
            sum.push(self.xor(differ, carry));
            carry = self.choose(differ, carry, a);
        }
        sum
    }

    pub(crate) fn add(&self, a: &[Bit], b: &[Bit]) -> Number {
        short(self.sum(a, b, self.constant(false), a.len().max(b.len()) + 1))
    }

    fn subtract(&self, a: &[Bit], b: &[Bit]) -> Number {
        short(self.sum(a, &inverted(b), self.constant(true), a.len().max(b.len()) + 1))
    }

    /// The number moved up by some bits where a bit is set, else 0.
    fn part(&self, number: &[Bit], up: usize, condition: Bit) -> Number {
        let zeros = std::iter::repeat_n(self.constant(false), up);
        short(zeros.chain(number.iter().map(|&bit| self.and(condition, bit))))
    }

    fn multiply(&self, a: &[Bit], b: &[Bit]) -> Number {
        let mut product = self.number(0);
        for (at, &digit) in b.iter().enumerate() {
            let part = self.part(a, at, digit);
            // The sign stands for the negated power of two.
            let sum = if at + 1 < b.len() { self.add(&product, &part) } else { self.subtract(&product, &part) };
            product = short(sum.into_iter().take(a.len() + b.len()));
        }
        product
    }

    /// Quotient rounded towards 0 and remainder with the sign of the dividend; both are 0 where the divisor is.
    fn divide(&self, a: &[Bit], b: &[Bit]) -> (Number, Number) {
        let no = self.constant(false);
        let (dividend, divisor) = (self.size(a), self.size(b));
        // Long division: what is left over is less than the divisor, so it needs no more bits.
        let (mut rest, mut quotient) = (vec![no; divisor.len()], vec![no; dividend.len() + 1]);
        for at in (0..dividend.len()).rev() {
            rest.insert(0, dividend[at]);
            let is_less = self.less(&rest, &divisor);
            let difference = self.sum(&rest, &inverted(&divisor), !no, divisor.len() - 1);
            rest = difference.iter().zip(&rest).map(|(&less, &same)| self.choose(is_less, same, less)).collect();
            rest.push(no);
            quotient[at] = !is_less;
        }
        let exists = self.truth(b);
        let signed = |size: &[Bit], is_negative| {
            let size = &size[..size.len().min(MOST_BITS)];
            self.part(&self.select(is_negative, &self.negated(size), size), 0, exists)
        };
        (signed(&quotient, self.xor(sign(a), sign(b))), signed(&rest, sign(a)))
    }

    /// The absolute value, which has a bit more.
    fn size(&self, a: &[Bit]) -> Number {
        let choose = |(&negated, &same): (&Bit, &Bit)| self.choose(sign(a), negated, same);
        self.negated(a).iter().zip(a).map(choose).chain([self.constant(false)]).collect()
    }

    /// The lowest bits of a negated number, as many as it has.
    fn negated(&self, a: &[Bit]) -> Number {
        self.sum(&self.number(0), &inverted(a), self.constant(true), a.len())
    }

    /// Moved up, or down with zeros from above, by any number of bits; 0 where that is not in 0..63.
    fn shift(&self, number: &[Bit], by: &[Bit], is_up: bool) -> Number {
        let mut bits: Number = (0..MOST_BITS).map(|at| bit(number, at)).collect();
        for (stage, far) in [1, 2, 4, 8, 16, 32].into_iter().enumerate() {
            let from = |at: usize| if is_up { at.checked_sub(far) } else { Some(at + far) };
            let moved = |at: usize| from(at).and_then(|from| bits.get(from).copied()).unwrap_or(self.constant(false));
            bits = (0..MOST_BITS).map(|at| self.choose(bit(by, stage), moved(at), bits[at])).collect();
        }
        self.part(&bits, 0, self.is_between(by, &self.number(0), &self.number(63)))
    }

    pub(crate) fn wrap(&self, number: &[Bit], lo: i64, hi: i64) -> Number {
        let (from, size) = (self.number(lo), self.number(hi - lo + 1));
        let distance = self.subtract(number, &from);
        let rest = if (hi - lo + 1).count_ones() == 1 {
            // The lowest bits are the remainder already.
            let low = (0..(hi - lo + 1).trailing_zeros() as usize).map(|at| bit(&distance, at));
            short(low.chain([self.constant(false)]))
        } else {
            let rest = self.divide(&distance, &size).1;
            self.select(sign(&rest), &self.add(&rest, &size), &rest)
        };
        self.add(&from, &rest)
    }

    pub(crate) fn unary(&self, op: UnaryOp, a: &[Bit]) -> Number {
        match op {
            UnaryOp::Not => self.truth_value(!self.truth(a)),
            UnaryOp::Neg => self.subtract(&self.number(0), a),
            UnaryOp::Ones => {
                let length = if self.known(sign(a)) == Some(false) { a.len() } else { MOST_BITS };
                (0..length).fold(self.number(0), |sum, at| self.add(&sum, &self.truth_value(bit(a, at))))
            }
        }
    }

    pub(crate) fn binary(&self, op: BinaryOp, a: &[Bit], b: &[Bit]) -> Number {
        let both = 0..a.len().max(b.len());
        self.truth_value(match op {
            BinaryOp::Add => return self.add(a, b),
            BinaryOp::Sub => return self.subtract(a, b),
            BinaryOp::Mul => return self.multiply(a, b),
            BinaryOp::Div => return self.divide(a, b).0,
            BinaryOp::Rem => return self.divide(a, b).1,
            BinaryOp::Shl => return self.shift(a, b, true),
            BinaryOp::Shr => return self.shift(a, b, false),
            BinaryOp::BitAnd => return short(both.map(|at| self.and(bit(a, at), bit(b, at)))),
            BinaryOp::BitOr => return short(both.map(|at| self.or(bit(a, at), bit(b, at)))),
            BinaryOp::Eq => self.equal(a, b),
            BinaryOp::Ne => !self.equal(a, b),
            BinaryOp::Lt => self.less(a, b),
            BinaryOp::Ge => !self.less(a, b),
            BinaryOp::Gt => self.less(b, a),
            BinaryOp::Le => !self.less(b, a),
            BinaryOp::And => self.and(self.truth(a), self.truth(b)),
            BinaryOp::Or => self.or(self.truth(a), self.truth(b)),
        })
    }
}

//! Bit vectors: numbers that depend on the state, in two's complement, with bounds. A bit is whatever an algebra says:
//! a decision diagram, or a literal of clauses.
//!
//! The bits are exact for 64-bit integers, as `Expr` has them: a result has as many bits as its bounds need, and
//! arithmetic modulo that power of two is the true result, or the one that wraps at 64 bits. Bounds hold for the values
//! that variables can have; bit patterns that stand for no value are in no set of states.

use birk_ir::interval::{self, ANY, Interval};
use birk_ir::{BinaryOp, UnaryOp};

use crate::attempt::Attempt;

/// What can be done with bits that depend on the state.
pub(crate) trait Algebra {
    /// A bit; equal ones are the same in every state.
    type Bit: Clone + PartialEq;

    /// The bit that is always set.
    fn yes(&self) -> &Self::Bit;
    /// The bit that is never set.
    fn no(&self) -> &Self::Bit;
    fn not(&self, a: &Self::Bit) -> Attempt<Self::Bit>;
    fn and(&self, a: &Self::Bit, b: &Self::Bit) -> Attempt<Self::Bit>;
    fn or(&self, a: &Self::Bit, b: &Self::Bit) -> Attempt<Self::Bit>;
    fn xor(&self, a: &Self::Bit, b: &Self::Bit) -> Attempt<Self::Bit>;
    fn ite(&self, condition: &Self::Bit, yes: &Self::Bit, no: &Self::Bit) -> Attempt<Self::Bit>;
    fn all(&self, parts: Vec<Self::Bit>) -> Attempt<Self::Bit>;
    fn any(&self, parts: Vec<Self::Bit>) -> Attempt<Self::Bit>;

    fn constant(&self, value: bool) -> &Self::Bit {
        if value { self.yes() } else { self.no() }
    }

    /// Set where both are alike.
    fn same(&self, a: &Self::Bit, b: &Self::Bit) -> Attempt<Self::Bit> {
        self.not(&self.xor(a, b)?)
    }

    /// Set where only the first is.
    fn minus(&self, a: &Self::Bit, b: &Self::Bit) -> Attempt<Self::Bit> {
        self.and(a, &self.not(b)?)
    }
}

/// A number: bits from the lowest on, the last is the sign.
#[derive(Clone)]
pub(crate) struct Number<B> {
    pub(crate) bits: Vec<B>,
    pub(crate) lo: i64,
    pub(crate) hi: i64,
}

/// A number of an algebra's bits.
type NumberOf<A> = Number<<A as Algebra>::Bit>;

impl<B> Number<B> {
    /// The value when it is the same in every state.
    pub(crate) fn as_const(&self) -> Option<i64> {
        (self.lo == self.hi).then_some(self.lo)
    }

    fn interval(&self) -> Interval {
        (self.lo, self.hi)
    }

    fn sign(&self) -> &B {
        self.bits.last().expect("a number has a sign")
    }

    /// A bit; beyond the last they are all like it.
    pub(crate) fn bit(&self, at: usize) -> &B {
        self.bits.get(at).unwrap_or_else(|| self.sign())
    }
}

/// Bits that a number between these needs.
pub(crate) fn width(lo: i64, hi: i64) -> usize {
    let one = |value: i64| 65 - (if value < 0 { !value } else { value }).leading_zeros() as usize;
    one(lo).max(one(hi))
}

/// Arithmetic on such numbers.
pub(crate) trait Arithmetic: Algebra {
    /// A number of these bits and bounds: without the bits that repeat the sign, and with the bounds that they give.
    fn number(&self, mut bits: Vec<Self::Bit>, (mut lo, mut hi): Interval) -> Number<Self::Bit> {
        while bits.len() > 64 || (bits.len() > 1 && bits[bits.len() - 1] == bits[bits.len() - 2]) {
            bits.pop();
        }
        let above = bits.len() - 1;
        lo = lo.max(-1 << above);
        hi = hi.min(((1u64 << above) - 1) as i64);
        if bits[above] == *self.no() {
            lo = lo.max(0);
        } else if bits[above] == *self.yes() {
            hi = hi.min(-1);
        }
        if bits.iter().all(|bit| bit == self.yes() || bit == self.no()) {
            let unsigned = bits.iter().enumerate().map(|(at, bit)| u64::from(bit == self.yes()) << at).sum::<u64>();
            let value = if bits[above] == *self.yes() { unsigned | !0 << above } else { unsigned };
            (lo, hi) = (value as i64, value as i64);
        }
        Number { bits, lo, hi }
    }

    /// A constant.
    fn literal(&self, value: i64) -> Number<Self::Bit> {
        let bits = (0..width(value, value)).map(|at| self.constant(value >> at & 1 == 1).clone()).collect();
        Number { bits, lo: value, hi: value }
    }

    /// 1 where the set is true, else 0.
    fn boolean(&self, set: Self::Bit) -> Number<Self::Bit> {
        self.number(vec![set, self.no().clone()], (0, 1))
    }

    /// Where the number is not 0.
    fn truth(&self, a: &Number<Self::Bit>) -> Attempt<Self::Bit> {
        match &a.bits[..] {
            [bit, sign] if sign == self.no() => Ok(bit.clone()),
            bits => self.any(bits.to_vec()),
        }
    }

    /// One of two numbers.
    fn choose(
        &self,
        condition: &Self::Bit,
        yes: &Number<Self::Bit>,
        no: &Number<Self::Bit>,
    ) -> Attempt<Number<Self::Bit>> {
        if condition == self.yes() {
            return Ok(yes.clone());
        } else if condition == self.no() {
            return Ok(no.clone());
        }
        let wide = yes.bits.len().max(no.bits.len());
        let bits = (0..wide).map(|at| self.ite(condition, yes.bit(at), no.bit(at))).collect::<Attempt<_>>()?;
        Ok(self.number(bits, interval::hull(yes.interval(), no.interval())))
    }

    fn unary(&self, op: UnaryOp, a: &Number<Self::Bit>) -> Attempt<Number<Self::Bit>> {
        match op {
            UnaryOp::Not => {
                let truth = self.truth(a)?;
                Ok(self.boolean(self.not(&truth)?))
            }
            UnaryOp::Neg => self.sub(&self.literal(0), a),
            UnaryOp::Ones => {
                let wide = if a.lo < 0 { 64 } else { a.bits.len() };
                let mut sum = self.literal(0);
                for at in 0..wide {
                    sum = self.add(&sum, &self.boolean(a.bit(at).clone()))?;
                }
                Ok(sum)
            }
        }
    }

    fn binary(&self, op: BinaryOp, a: &Number<Self::Bit>, b: &Number<Self::Bit>) -> Attempt<Number<Self::Bit>> {
        if let (Some(a), Some(b)) = (a.as_const(), b.as_const()) {
            return Ok(self.literal(op.apply(a, b)));
        }
        let set = match op {
            BinaryOp::Add => return self.add(a, b),
            BinaryOp::Sub => return self.sub(a, b),
            BinaryOp::Mul => return self.mul(a, b),
            BinaryOp::Div => return Ok(self.divide(a, b)?.0),
            BinaryOp::Rem => return Ok(self.divide(a, b)?.1),
            BinaryOp::BitAnd | BinaryOp::BitOr => return self.bitwise(op, a, b),
            BinaryOp::Shl => return self.shift_up(a, b),
            BinaryOp::Shr => return self.shift_down(a, b),
            BinaryOp::Eq => self.equal(a, b)?,
            BinaryOp::Ne => self.not(&self.equal(a, b)?)?,
            BinaryOp::Lt => self.less(a, b)?,
            BinaryOp::Ge => self.not(&self.less(a, b)?)?,
            BinaryOp::Gt => self.less(b, a)?,
            BinaryOp::Le => self.not(&self.less(b, a)?)?,
            BinaryOp::And => self.and(&self.truth(a)?, &self.truth(b)?)?,
            BinaryOp::Or => self.or(&self.truth(a)?, &self.truth(b)?)?,
        };
        Ok(self.boolean(set))
    }

    /// Where two numbers are equal.
    fn equal(&self, a: &Number<Self::Bit>, b: &Number<Self::Bit>) -> Attempt<Self::Bit> {
        if a.hi < b.lo || b.hi < a.lo {
            return Ok(self.no().clone());
        }
        if let (Some(a), Some(b)) = (a.as_const(), b.as_const()) {
            return Ok(self.constant(a == b).clone());
        }
        let wide = a.bits.len().max(b.bits.len());
        let same = (0..wide).map(|at| self.same(a.bit(at), b.bit(at))).collect::<Attempt<_>>()?;
        self.all(same)
    }

    /// Where the first number is the smaller.
    fn less(&self, a: &Number<Self::Bit>, b: &Number<Self::Bit>) -> Attempt<Self::Bit> {
        if a.hi < b.lo || a.lo >= b.hi {
            return Ok(self.constant(a.hi < b.lo).clone());
        }
        let wide = a.bits.len().max(b.bits.len());
        // The sign counts the other way round.
        let mut less = self.minus(a.bit(wide - 1), b.bit(wide - 1))?;
        let mut equal = self.same(a.bit(wide - 1), b.bit(wide - 1))?;
        for at in (0..wide - 1).rev() {
            let here = self.and(&equal, &self.minus(b.bit(at), a.bit(at))?)?;
            less = self.or(&less, &here)?;
            equal = self.and(&equal, &self.same(a.bit(at), b.bit(at))?)?;
        }
        Ok(less)
    }

    fn add(&self, a: &Number<Self::Bit>, b: &Number<Self::Bit>) -> Attempt<Number<Self::Bit>> {
        if let (Some(a), Some(b)) = (a.as_const(), b.as_const()) {
            return Ok(self.literal(a.wrapping_add(b)));
        }
        if b.as_const() == Some(0) {
            return Ok(a.clone());
        }
        let (lo, hi) = interval::binary(BinaryOp::Add, a.interval(), b.interval());
        let bits = self.sum(a, b, false, width(lo, hi))?;
        Ok(self.number(bits, (lo, hi)))
    }

    fn sub(&self, a: &Number<Self::Bit>, b: &Number<Self::Bit>) -> Attempt<Number<Self::Bit>> {
        if let (Some(a), Some(b)) = (a.as_const(), b.as_const()) {
            return Ok(self.literal(a.wrapping_sub(b)));
        }
        if b.as_const() == Some(0) {
            return Ok(a.clone());
        }
        let (lo, hi) = interval::binary(BinaryOp::Sub, a.interval(), b.interval());
        let bits = self.sum(a, b, true, width(lo, hi))?;
        Ok(self.number(bits, (lo, hi)))
    }

    /// The lowest bits of a sum, or of a difference.
    fn sum(&self, a: &Number<Self::Bit>, b: &Number<Self::Bit>, minus: bool, wide: usize) -> Attempt<Vec<Self::Bit>> {
        let mut carry = self.constant(minus).clone();
        let mut bits = Vec::with_capacity(wide);
        for at in 0..wide {
            let (left, right) = (a.bit(at), if minus { self.not(b.bit(at))? } else { b.bit(at).clone() });
            let differ = self.xor(left, &right)?;
            bits.push(self.xor(&differ, &carry)?);
            carry = self.ite(&differ, &carry, left)?;
        }
        Ok(bits)
    }

    fn mul(&self, a: &Number<Self::Bit>, b: &Number<Self::Bit>) -> Attempt<Number<Self::Bit>> {
        let (lo, hi) = interval::binary(BinaryOp::Mul, a.interval(), b.interval());
        let wide = width(lo, hi);
        let (short, long) = if a.bits.len() <= b.bits.len() { (a, b) } else { (b, a) };
        let mut sum = vec![self.no().clone(); wide];
        for at in 0..wide {
            let digit = short.bit(at);
            if digit == self.no() {
                continue;
            }
            let shifted = (0..wide).map(|bit| match bit.checked_sub(at) {
                Some(bit) => self.and(digit, long.bit(bit)),
                None => Ok(self.no().clone()),
            });
            let part = Number { bits: shifted.collect::<Attempt<_>>()?, lo, hi };
            sum = self.sum(&Number { bits: sum, lo, hi }, &part, false, wide)?;
        }
        Ok(self.number(sum, (lo, hi)))
    }

    /// Quotient rounded towards zero and remainder with the sign of the dividend; both 0 when the divisor is.
    fn divide(&self, a: &Number<Self::Bit>, b: &Number<Self::Bit>) -> Attempt<(NumberOf<Self>, NumberOf<Self>)> {
        let (size_a, size_b) = (self.size(a)?, self.size(b)?);
        // Long division, from the highest bit of the dividend on.
        let wide = size_b.len() + 1;
        let mut rest = vec![self.no().clone(); wide];
        let mut quotient = vec![self.no().clone(); size_a.len()];
        for at in (0..size_a.len()).rev() {
            rest.pop();
            rest.insert(0, size_a[at].clone());
            let mut divisor = size_b.clone();
            divisor.push(self.no().clone());
            let (fits, less) = self.take_away(&rest, &divisor)?;
            for (rest, less) in rest.iter_mut().zip(&less) {
                *rest = self.ite(&fits, less, rest)?;
            }
            quotient[at] = fits;
        }
        let is_divisor = self.truth(b)?;
        let differ = self.xor(a.sign(), b.sign())?;
        let whole = interval::binary(BinaryOp::Div, a.interval(), b.interval());
        let part = interval::binary(BinaryOp::Rem, a.interval(), b.interval());
        let quotient = self.signed(quotient, &differ, &is_divisor, whole)?;
        Ok((quotient, self.signed(rest, a.sign(), &is_divisor, part)?))
    }

    /// The absolute value as bits without a sign.
    fn size(&self, a: &Number<Self::Bit>) -> Attempt<Vec<Self::Bit>> {
        let negative = Number { bits: self.sum(&self.literal(0), a, true, a.bits.len())?, lo: 0, hi: 0 };
        (0..a.bits.len()).map(|at| self.ite(a.sign(), negative.bit(at), a.bit(at))).collect()
    }

    /// A number of this size, negative or not; 0 where it does not exist.
    fn signed(
        &self,
        mut size: Vec<Self::Bit>,
        negative: &Self::Bit,
        exists: &Self::Bit,
        bounds: Interval,
    ) -> Attempt<Number<Self::Bit>> {
        size.push(self.no().clone());
        let plus = Number { bits: size, lo: bounds.0, hi: bounds.1 };
        let minus = self.sum(&self.literal(0), &plus, true, plus.bits.len())?;
        let mut bits = Vec::new();
        for (plus, minus) in plus.bits.iter().zip(&minus) {
            bits.push(self.and(exists, &self.ite(negative, minus, plus)?)?);
        }
        Ok(self.number(bits, bounds))
    }

    /// Whether the second is not larger, and the difference: of bits without a sign.
    fn take_away(&self, a: &[Self::Bit], b: &[Self::Bit]) -> Attempt<(Self::Bit, Vec<Self::Bit>)> {
        let mut carry = self.yes().clone();
        let mut bits = Vec::with_capacity(a.len());
        for (a, b) in a.iter().zip(b) {
            let same = self.same(a, b)?;
            bits.push(self.xor(&same, &carry)?);
            carry = self.ite(&same, &carry, a)?;
        }
        Ok((carry, bits))
    }

    fn bitwise(&self, op: BinaryOp, a: &Number<Self::Bit>, b: &Number<Self::Bit>) -> Attempt<Number<Self::Bit>> {
        let wide = a.bits.len().max(b.bits.len());
        let both = |at| match op {
            BinaryOp::BitAnd => self.and(a.bit(at), b.bit(at)),
            _ => self.or(a.bit(at), b.bit(at)),
        };
        let bits = (0..wide).map(both).collect::<Attempt<_>>()?;
        Ok(self.number(bits, interval::binary(op, a.interval(), b.interval())))
    }

    fn shift_up(&self, a: &Number<Self::Bit>, b: &Number<Self::Bit>) -> Attempt<Number<Self::Bit>> {
        self.shifted(b, |by, at| match at.checked_sub(by) {
            Some(from) => a.bit(from).clone(),
            None => self.no().clone(),
        })
    }

    fn shift_down(&self, a: &Number<Self::Bit>, b: &Number<Self::Bit>) -> Attempt<Number<Self::Bit>> {
        self.shifted(b, |by, at| if at + by < 64 { a.bit(at + by).clone() } else { self.no().clone() })
    }

    /// The 64 bits for each distance; none for a distance that is too far.
    fn shifted(
        &self,
        distance: &Number<Self::Bit>,
        bit: impl Fn(usize, usize) -> Self::Bit,
    ) -> Attempt<Number<Self::Bit>> {
        let mut parts: Vec<Vec<Self::Bit>> = vec![Vec::new(); 64];
        for by in distance.lo.max(0)..=distance.hi.min(63) {
            let here = self.equal(distance, &self.literal(by))?;
            for (at, parts) in parts.iter_mut().enumerate() {
                parts.push(self.and(&here, &bit(by as usize, at))?);
            }
        }
        let bits = parts.into_iter().map(|parts| self.any(parts)).collect::<Attempt<_>>()?;
        Ok(self.number(bits, ANY))
    }

    /// The number brought into `lo..=hi` modulo the size of the range.
    fn wrapped(&self, a: &Number<Self::Bit>, lo: i64, hi: i64) -> Attempt<Number<Self::Bit>> {
        if lo <= a.lo && a.hi <= hi {
            return Ok(a.clone());
        }
        let (low, size) = (self.literal(lo), hi - lo + 1);
        let from = self.sub(a, &low)?;
        let within = if size & (size - 1) == 0 {
            let mut bits: Vec<Self::Bit> = (0..size.trailing_zeros() as usize).map(|at| from.bit(at).clone()).collect();
            bits.push(self.no().clone());
            self.number(bits, (0, size - 1))
        } else {
            let size_of = self.literal(size);
            let (_, rest) = self.divide(&from, &size_of)?;
            let lifted = self.add(&rest, &size_of)?;
            let within = self.choose(rest.sign(), &lifted, &rest)?;
            Number { lo: 0, hi: size - 1, ..within }
        };
        let result = self.add(&within, &low)?;
        Ok(Number { lo: result.lo.max(lo), hi: result.hi.min(hi), ..result })
    }
}

impl<A: Algebra> Arithmetic for A {}

#[cfg(test)]
pub(crate) mod tests;

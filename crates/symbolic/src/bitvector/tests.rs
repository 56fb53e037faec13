//! Arithmetic on bit vectors against that of expressions, for whatever a bit is.

use super::*;
use birk_exec::Random;
use birk_ir::expr::wrap;

const UNARY: [UnaryOp; 3] = [UnaryOp::Not, UnaryOp::Neg, UnaryOp::Ones];
const BINARY: [BinaryOp; 17] = [
    BinaryOp::Add,
    BinaryOp::Sub,
    BinaryOp::Mul,
    BinaryOp::Div,
    BinaryOp::Rem,
    BinaryOp::Eq,
    BinaryOp::Ne,
    BinaryOp::Lt,
    BinaryOp::Le,
    BinaryOp::Gt,
    BinaryOp::Ge,
    BinaryOp::And,
    BinaryOp::Or,
    BinaryOp::BitAnd,
    BinaryOp::BitOr,
    BinaryOp::Shl,
    BinaryOp::Shr,
];

/// One of some numbers, chosen by three bits.
fn table<A: Algebra>(algebra: &A, bits: &[A::Bit], numbers: [i64; 8]) -> Number<A::Bit> {
    let mut row: Vec<Number<A::Bit>> = numbers.iter().map(|&number| algebra.literal(number)).collect();
    for bit in bits {
        row = row.chunks(2).map(|pair| algebra.choose(bit, &pair[1], &pair[0]).expect("memory")).collect();
    }
    row.remove(0)
}

fn draw(random: &mut Random) -> [i64; 8] {
    let edges = [0, 1, -1, 2, 7, 31, 63, 64, i64::MIN, i64::MAX, i64::from(i32::MAX), i64::from(i32::MIN)];
    let mut one = || match random.below(4) {
        0 => edges[random.below(edges.len())],
        1 => random.below(16) as i64 - 8,
        2 => random.below(200) as i64,
        _ => random.below(usize::MAX) as i64,
    };
    let (first, mut drawn) = (one(), std::array::from_fn(|_| one()));
    // A number that is always the same takes short cuts, and 0 shorter ones.
    match random.below(4) {
        0 => drawn = [first; 8],
        1 => drawn = [0; 8],
        _ => {}
    }
    drawn
}

/// Every operator on tables of numbers, chosen by six bits, against the one place that defines it. `is_set` says
/// what a bit is when the six are those of a number.
pub(crate) fn agree<A: Algebra>(
    algebra: &A,
    bits: &[A::Bit],
    random: &mut Random,
    is_set: &mut dyn FnMut(u32, &A::Bit) -> bool,
) {
    let (xs, ys) = (draw(random), draw(random));
    let (x, y) = (table(algebra, &bits[..3], xs), table(algebra, &bits[3..], ys));
    let lo = random.below(9) as i64 - 4;
    let hi = lo + random.below(300) as i64;
    let wrapped = algebra.wrapped(&x, lo, hi).expect("memory");
    let binary = BINARY.map(|op| (op, algebra.binary(op, &x, &y).expect("memory")));
    let unary = UNARY.map(|op| (op, algebra.unary(op, &x).expect("memory")));
    for at in 0..64u32 {
        let mut read = |value: &Number<A::Bit>| {
            (0..64).map(|bit| i64::from(is_set(at, value.bit(bit))) << bit).fold(0, |all, bit| all | bit)
        };
        let (a, b) = (xs[at as usize & 7], ys[at as usize >> 3]);
        assert_eq!((read(&x), read(&y)), (a, b));
        assert_eq!(read(&wrapped), wrap(a, lo, hi), "wrap {a} into {lo}..{hi}");
        for (op, result) in &binary {
            let expected = op.apply(a, b);
            assert_eq!(read(result), expected, "{op:?} of {a} and {b}");
            assert!((result.lo..=result.hi).contains(&expected), "bounds of {op:?} of {a} and {b}");
        }
        for (op, result) in &unary {
            assert_eq!(read(result), op.apply(a), "{op:?} of {a}");
        }
    }
}

//! Numbers as words of 32 bits, which is what invocations of a subgroup hand to each other.

use super::super::emit::Emitter;
use spirula_kernel::ir::Expr;
use spirula_program::{Literal, Op, Operator, Scalar};

/// The integer with as many bits.
fn integer(ty: Scalar) -> Scalar {
    match ty.width() {
        8 => Scalar::I8,
        16 => Scalar::I16,
        32 => Scalar::I32,
        _ => Scalar::I64,
    }
}

/// Converts, where there is something to convert.
fn convert(e: &mut Emitter<'_>, op: Op, value: Expr, [from, to]: [Scalar; 2]) -> Expr {
    match from == to {
        true => value,
        false => e.b.apply(Operator::convert(op, from, to), &[value]),
    }
}

/// The words of a number, the lowest first; zeros fill up a smaller one.
pub(super) fn split(e: &mut Emitter<'_>, value: Expr, ty: Scalar) -> Vec<Expr> {
    let bits = integer(ty);
    let value = convert(e, Op::Bits, value, [ty, bits]);
    let value = e.kept(value, bits);
    if bits != Scalar::I64 {
        return vec![convert(e, Op::ZExt, value, [bits, Scalar::I32])];
    }
    let half = e.b.literal(Literal::i64(32));
    let high = e.b.op(Op::LShr, &[value, half]);
    let both = [value, high];
    both.map(|n| convert(e, Op::SExt, n, [bits, Scalar::I32]))
        .to_vec()
}

/// The number that has some words.
pub(super) fn join(e: &mut Emitter<'_>, words: &[Expr], ty: Scalar) -> Expr {
    let bits = integer(ty);
    let whole = match words {
        [low, high] => {
            let wide = [Scalar::I32, bits];
            let [low, high] = [low, high].map(|word| convert(e, Op::ZExt, *word, wide));
            let half = e.b.literal(Literal::i64(32));
            let high = e.b.op(Op::Shl, &[high, half]);
            e.b.op(Op::Or, &[low, high])
        }
        // To fewer bits, the others are cut off.
        _ => convert(e, Op::SExt, words[0], [Scalar::I32, bits]),
    };
    convert(e, Op::Bits, whole, [bits, ty])
}

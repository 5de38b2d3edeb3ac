//! Shuffle words: numbers as words of 32 bits, which is what invocations of a subgroup can exchange.

use super::super::node_emitter::NodeEmitter;
use spirula_kernel::ir::ExprId;
use spirula_program::{ScalarLiteral, ScalarOp, ScalarOperator, ScalarType};

/// The integer type with as many bits as a type.
fn to_integer_type(ty: ScalarType) -> ScalarType {
    match ty.width() {
        8 => ScalarType::I8,
        16 => ScalarType::I16,
        32 => ScalarType::I32,
        _ => ScalarType::I64,
    }
}

/// Converts a value between two types, where they differ.
fn convert_value(
    e: &mut NodeEmitter<'_>,
    op: ScalarOp,
    value: ExprId,
    [from, to]: [ScalarType; 2],
) -> ExprId {
    if from == to {
        return value;
    }
    e.b.apply_operator(ScalarOperator::from_conversion(op, from, to), &[value])
}

/// The words of a number, the lowest first. A smaller number is extended with zeros.
pub(super) fn split_into_words(
    e: &mut NodeEmitter<'_>,
    value: ExprId,
    ty: ScalarType,
) -> Vec<ExprId> {
    let bits = to_integer_type(ty);
    let value = convert_value(e, ScalarOp::Bits, value, [ty, bits]);
    let value = e.bind_to_variable(value, bits);
    if bits != ScalarType::I64 {
        return vec![convert_value(
            e,
            ScalarOp::ZExt,
            value,
            [bits, ScalarType::I32],
        )];
    }
    let half = e.b.make_literal(ScalarLiteral::from_i64(32));
    let high = e.b.apply_op(ScalarOp::LShr, &[value, half]);
    let both = [value, high];
    both.map(|n| convert_value(e, ScalarOp::SExt, n, [bits, ScalarType::I32]))
        .to_vec()
}

/// The number of a type that has some words.
pub(super) fn join_words(e: &mut NodeEmitter<'_>, words: &[ExprId], ty: ScalarType) -> ExprId {
    let bits = to_integer_type(ty);
    let whole = match words {
        [low, high] => {
            let wide = [ScalarType::I32, bits];
            let [low, high] = [low, high].map(|word| convert_value(e, ScalarOp::ZExt, *word, wide));
            let half = e.b.make_literal(ScalarLiteral::from_i64(32));
            let high = e.b.apply_op(ScalarOp::Shl, &[high, half]);
            e.b.apply_op(ScalarOp::Or, &[low, high])
        }
        // A conversion to fewer bits truncates.
        _ => convert_value(e, ScalarOp::SExt, words[0], [ScalarType::I32, bits]),
    };
    convert_value(e, ScalarOp::Bits, whole, [bits, ty])
}

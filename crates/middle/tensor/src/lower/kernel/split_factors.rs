//! Split factors: numbers of `f32` as sums of two `bf16`.
//!
//! The upper part is the number, rounded to 8 bits; the lower part is the rest, rounded likewise. Numbers that would be
//! rounded to infinity are cut off instead. Infinities and NaN stand in the lower part, beside the least normal number of
//! their sign: products of both parts then have the right sign, and no infinity meets a zero that the other factor lacks.

use super::super::node_emitter::NodeEmitter;
use spirula_kernel::ir::{ExprId, StmtKind, VarId, VariableType};
use spirula_program::{ScalarLiteral, ScalarOp, ScalarOperator, ScalarType};

/// The bits of the sign, of the magnitude, and of the upper half.
const SIGN: u32 = 0x8000_0000;
const MAGNITUDE: u32 = 0x7fff_ffff;
const UPPER: u32 = 0xffff_0000;
/// Half of the least bit of the upper half.
const HALF: u32 = 0x8000;
/// The least magnitude whose rounded upper half is infinite.
const LARGE: u32 = 0x7f7f_8000;
const INFINITY: u32 = 0x7f80_0000;
/// The bit that makes NaN of an infinity's upper half.
const QUIET: u32 = 0x0040_0000;
/// The least normal magnitude.
const LEAST: u32 = 0x0080_0000;

/// Words of the upper and of the lower parts of numbers, whose bits variables hold. Each word has two parts.
pub(super) fn split_factors(e: &mut NodeEmitter<'_>, held: &[VarId]) -> [Vec<ExprId>; 2] {
    let mut split = FactorSplit { e };
    let mut parts = Vec::with_capacity(held.len());
    for number in held {
        parts.push(split.split_number(*number));
    }
    split.replace_large(held, &parts);
    let words = parts.chunks(2);
    let words = words.map(|pair| {
        let [first, second] = [pair[0], pair[pair.len() - 1]];
        [0, 1].map(|part| split.pack_halves(first[part], second[part]))
    });
    let words: Vec<[ExprId; 2]> = words.collect();
    [0, 1].map(|part| words.iter().map(|word| word[part]).collect())
}

struct FactorSplit<'e, 'a> {
    e: &'e mut NodeEmitter<'a>,
}

impl FactorSplit<'_, '_> {
    fn apply(&mut self, op: ScalarOp, operands: &[ExprId]) -> ExprId {
        let operator = ScalarOperator::with_type(op, ScalarType::I32);
        self.e.b.apply_operator(operator, operands)
    }

    fn apply_bits(&mut self, op: ScalarOp, value: ExprId, bits: u32) -> ExprId {
        let literal = ScalarLiteral::from_i32(bits as i32);
        let bits = self.e.b.make_literal(literal);
        self.apply(op, &[value, bits])
    }

    fn convert_bits(&mut self, value: ExprId, from: ScalarType, to: ScalarType) -> ExprId {
        let operator = ScalarOperator::from_conversion(ScalarOp::Bits, from, to);
        self.e.b.apply_operator(operator, &[value])
    }

    fn declare_word(&mut self, name: &str, value: ExprId) -> VarId {
        let ty = VariableType::Scalar(ScalarType::I32);
        let var = self.e.b.declare_var(name, ty, false);
        self.e.b.push_assignment(var, value);
        var
    }

    /// The bits of a number without its upper part, rounded such that their upper half is the lower part.
    fn round_rest(&mut self, number: VarId, upper: VarId) -> ExprId {
        let [number, upper] = [number, upper].map(|var| {
            let bits = self.e.b.read_var(var);
            self.convert_bits(bits, ScalarType::I32, ScalarType::F32)
        });
        let subtract = ScalarOperator::with_type(ScalarOp::FSub, ScalarType::F32);
        let rest = self.e.b.apply_operator(subtract, &[number, upper]);
        let rest = self.convert_bits(rest, ScalarType::F32, ScalarType::I32);
        self.apply_bits(ScalarOp::Add, rest, HALF)
    }

    /// The parts of a number that is neither large nor special, in the upper halves of words.
    fn split_number(&mut self, number: VarId) -> [VarId; 2] {
        let bits = self.e.b.read_var(number);
        let rounded = self.apply_bits(ScalarOp::Add, bits, HALF);
        let upper = self.apply_bits(ScalarOp::And, rounded, UPPER);
        let upper = self.declare_word("upper", upper);
        let rest = self.round_rest(number, upper);
        [upper, self.declare_word("lower", rest)]
    }

    /// Replaces the parts of numbers that are large or special, if there are any such.
    fn replace_large(&mut self, numbers: &[VarId], parts: &[[VarId; 2]]) {
        let mut greatest = None;
        for number in numbers {
            let magnitude = self.magnitude(*number);
            greatest = Some(match greatest {
                None => magnitude,
                Some(greatest) => self.apply(ScalarOp::SMax, &[greatest, magnitude]),
            });
        }
        let Some(greatest) = greatest else { return };
        let condition = self.is_at_least(greatest, LARGE);
        let then = self.e.emit_block(|e| {
            let mut split = FactorSplit { e };
            for (number, parts) in numbers.iter().zip(parts) {
                split.replace_parts(*number, *parts);
            }
        });
        let otherwise = self.e.emit_block(|_| {});
        self.e.b.push_statement(StmtKind::If {
            condition,
            then,
            otherwise,
        });
    }

    fn magnitude(&mut self, number: VarId) -> ExprId {
        let bits = self.e.b.read_var(number);
        self.apply_bits(ScalarOp::And, bits, MAGNITUDE)
    }

    /// Whether a magnitude is at least another.
    fn is_at_least(&mut self, magnitude: ExprId, least: u32) -> ExprId {
        let below = self
            .e
            .b
            .make_literal(ScalarLiteral::from_i32(least as i32 - 1));
        self.apply(ScalarOp::SLt, &[below, magnitude])
    }

    /// Replaces the parts of a number that may be large or special.
    fn replace_parts(&mut self, number: VarId, parts: [VarId; 2]) {
        let [upper, lower] = parts;
        let magnitude = self.magnitude(number);
        let is_large = self.is_at_least(magnitude, LARGE);
        let bits = self.e.b.read_var(number);
        let cut = self.apply_bits(ScalarOp::And, bits, UPPER);
        let rounded = self.e.b.read_var(upper);
        let finite = self.apply(ScalarOp::Cond, &[is_large, cut, rounded]);
        self.e.b.push_assignment(upper, finite);
        let rest = self.round_rest(number, upper);
        self.e.b.push_assignment(lower, rest);

        let magnitude = self.magnitude(number);
        let is_special = self.is_at_least(magnitude, INFINITY);
        let bits = self.e.b.read_var(number);
        let sign = self.apply_bits(ScalarOp::And, bits, SIGN);
        let least = self.apply_bits(ScalarOp::Or, sign, LEAST);
        let finite = self.e.b.read_var(upper);
        let replaced = self.apply(ScalarOp::Cond, &[is_special, least, finite]);
        self.e.b.push_assignment(upper, replaced);
        let is_nan = self.is_at_least(magnitude, INFINITY + 1);
        let quiet = self.apply_bits(ScalarOp::Or, bits, QUIET);
        let special = self.apply(ScalarOp::Cond, &[is_nan, quiet, bits]);
        let finite = self.e.b.read_var(lower);
        let replaced = self.apply(ScalarOp::Cond, &[is_special, special, finite]);
        self.e.b.push_assignment(lower, replaced);
    }

    /// The upper halves of two words as one, the first lowest.
    fn pack_halves(&mut self, first: VarId, second: VarId) -> ExprId {
        let [first, second] = [first, second].map(|var| self.e.b.read_var(var));
        let first = self.apply_bits(ScalarOp::LShr, first, 16);
        let second = self.apply_bits(ScalarOp::And, second, UPPER);
        self.apply(ScalarOp::Or, &[first, second])
    }
}

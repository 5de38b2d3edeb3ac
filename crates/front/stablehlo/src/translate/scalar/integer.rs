//! Functions of integers with StableHLO's semantics in edge cases.

use super::calc::ScalarBuilder;
use crate::translate::element::TensorElement;
use spirula_program::{ScalarOp, ScalarType};
use spirula_tensor::ir::ScalarNode;

/// Bits of an integer type, and whether it is signed.
fn integer_width_and_sign(element: TensorElement) -> (u32, bool) {
    match element {
        TensorElement::Int { width, signed } => (width, signed),
        _ => (1, false),
    }
}

impl ScalarBuilder<'_> {
    /// Quotient rounded toward zero; division by zero sets all bits.
    pub fn int_div(&mut self, element: TensorElement, v: &[ScalarNode]) -> ScalarNode {
        let (_, signed) = integer_width_and_sign(element);
        let op = if signed {
            ScalarOp::SQuot
        } else {
            ScalarOp::UDiv
        };
        let (divisor, is_zero) = self.replace_zero_divisor(v[1]);
        let quotient = self.apply_binary(op, v[0], divisor);
        let ones = self.integer_constant(self.node_type(v[0]), u64::MAX);
        self.select(is_zero, ones, quotient)
    }

    /// Remainder with the sign of the dividend; division by zero returns the dividend.
    pub fn int_rem(&mut self, element: TensorElement, v: &[ScalarNode]) -> ScalarNode {
        let (_, signed) = integer_width_and_sign(element);
        let op = if signed {
            ScalarOp::SRem
        } else {
            ScalarOp::UMod
        };
        let (divisor, is_zero) = self.replace_zero_divisor(v[1]);
        let rest = self.apply_binary(op, v[0], divisor);
        self.select(is_zero, v[0], rest)
    }

    /// A divisor with 1 in place of 0.
    fn replace_zero_divisor(&mut self, b: ScalarNode) -> (ScalarNode, ScalarNode) {
        let (zero, one) = (
            self.integer_constant(self.node_type(b), 0),
            self.integer_constant(self.node_type(b), 1),
        );
        let is_zero = self.eq(b, zero);
        (self.select(is_zero, one, b), is_zero)
    }

    /// The greater or lesser one.
    pub fn int_extreme(
        &mut self,
        element: TensorElement,
        greater: bool,
        v: &[ScalarNode],
    ) -> ScalarNode {
        let op = match (integer_width_and_sign(element).1, greater) {
            (true, true) => ScalarOp::SMax,
            (true, false) => ScalarOp::SMin,
            (false, true) => ScalarOp::UMax,
            (false, false) => ScalarOp::UMin,
        };
        self.apply_binary(op, v[0], v[1])
    }

    /// Power; the result of a negative exponent is rounded toward zero.
    pub fn int_pow(&mut self, element: TensorElement, v: &[ScalarNode]) -> ScalarNode {
        let (_, signed) = integer_width_and_sign(element);
        let ty = self.node_type(v[0]);
        let base = self.resize_integer(ScalarType::I64, signed, v[0]);
        let exponent = self.resize_integer(ScalarType::I64, signed, v[1]);
        let low = self.apply_with_constant(ScalarOp::And, exponent, i64::MAX as u64);
        let size = if signed { exponent } else { low };
        let power = self.apply_binary(ScalarOp::Pow, base, size);
        let zero = self.integer_constant(ScalarType::I64, 0);
        let is_negative = self.lt(exponent, zero);
        let odd = self.apply_with_constant(ScalarOp::And, exponent, 1);
        let at_end = if signed {
            // 1 and -1 have an inverse.
            let (one, minus) = (
                self.integer_constant(ScalarType::I64, 1),
                self.integer_constant(ScalarType::I64, u64::MAX),
            );
            let is_odd = self.eq(odd, one);
            let alternating = self.select(is_odd, minus, one);
            let (is_one, is_minus) = (self.eq(base, one), self.eq(base, minus));
            let other = self.select(is_minus, alternating, zero);
            self.select(is_one, one, other)
        } else {
            // x^(2^63) is 1 for odd x and 0 for even x.
            let odd = self.apply_with_constant(ScalarOp::And, base, 1);
            self.mul(odd, power)
        };
        let result = self.select(is_negative, at_end, power);
        self.resize_integer(ty, false, result)
    }

    /// Shift to the left or to the right; a shift by the width or more leaves only copies of the
    /// sign, or zeros.
    pub fn int_shift(
        &mut self,
        op: ScalarOp,
        element: TensorElement,
        v: &[ScalarNode],
    ) -> ScalarNode {
        let (width, _) = integer_width_and_sign(element);
        let ty = self.node_type(v[0]);
        let limit = self.integer_constant(ty, width.into());
        let amount = self.resize_integer(ty, false, v[1]);
        let inside = self.apply_binary(ScalarOp::ULt, amount, limit);
        // Below 8 bits the bits above the width belong to the sign.
        let operand = match op {
            ScalarOp::LShr if width < 8 => {
                self.apply_with_constant(ScalarOp::And, v[0], (1 << width) - 1)
            }
            _ => v[0],
        };
        let shifted = self.apply_binary(op, operand, amount);
        let beyond = match op {
            ScalarOp::AShr => {
                self.apply_with_constant(ScalarOp::AShr, v[0], u64::from(ty.width() - 1))
            }
            _ => self.integer_constant(ty, 0),
        };
        self.select(inside, shifted, beyond)
    }

    /// -1, 0 or 1.
    pub fn int_sign(&mut self, element: TensorElement, v: &[ScalarNode]) -> ScalarNode {
        let op = if integer_width_and_sign(element).1 {
            ScalarOp::SSignum
        } else {
            ScalarOp::USignum
        };
        self.apply_unary(op, v[0])
    }

    /// Leading zeros.
    pub fn int_clz(&mut self, element: TensorElement, v: &[ScalarNode]) -> ScalarNode {
        let (width, _) = integer_width_and_sign(element);
        let ty = self.node_type(v[0]);
        let rest = ty.width() - width;
        let operand = match rest {
            0 => v[0],
            _ => self.apply_with_constant(ScalarOp::And, v[0], (1 << width) - 1),
        };
        let count = self.apply_unary(ScalarOp::Clz, operand);
        let count = self.resize_integer(ty, false, count);
        self.apply_with_constant(ScalarOp::Sub, count, rest.into())
    }

    /// Number of bits that are set.
    pub fn int_popcount(&mut self, element: TensorElement, v: &[ScalarNode]) -> ScalarNode {
        let (width, _) = integer_width_and_sign(element);
        let ty = self.node_type(v[0]);
        let operand = match width {
            8.. => v[0],
            _ => self.apply_with_constant(ScalarOp::And, v[0], (1 << width) - 1),
        };
        let count = self.apply_unary(ScalarOp::Popc, operand);
        self.resize_integer(ty, false, count)
    }
}

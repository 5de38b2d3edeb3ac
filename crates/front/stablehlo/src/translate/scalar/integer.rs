//! Functions of integers whose meaning at the ends is StableHLO's.

use super::calc::ScalarBuilder;
use crate::translate::element::TensorElement;
use spirula_program::{ScalarOp, ScalarType};
use spirula_tensor::ir::ScalarNode;

/// Bits of an integer type, and whether it has a sign.
fn shape(element: TensorElement) -> (u32, bool) {
    match element {
        TensorElement::Int { width, signed } => (width, signed),
        _ => (1, false),
    }
}

impl ScalarBuilder<'_> {
    /// Quotient rounded to zero; by zero all bits are set.
    pub fn int_div(&mut self, element: TensorElement, v: &[ScalarNode]) -> ScalarNode {
        let (_, signed) = shape(element);
        let op = if signed {
            ScalarOp::SQuot
        } else {
            ScalarOp::UDiv
        };
        let (divisor, is_zero) = self.divisor(v[1]);
        let quotient = self.op2(op, v[0], divisor);
        let ones = self.bits(self.ty(v[0]), u64::MAX);
        self.cond(is_zero, ones, quotient)
    }

    /// Remainder with the sign of the dividend; by zero the dividend.
    pub fn int_rem(&mut self, element: TensorElement, v: &[ScalarNode]) -> ScalarNode {
        let (_, signed) = shape(element);
        let op = if signed {
            ScalarOp::SRem
        } else {
            ScalarOp::UMod
        };
        let (divisor, is_zero) = self.divisor(v[1]);
        let rest = self.op2(op, v[0], divisor);
        self.cond(is_zero, v[0], rest)
    }

    /// A divisor with 1 in place of 0.
    fn divisor(&mut self, b: ScalarNode) -> (ScalarNode, ScalarNode) {
        let (zero, one) = (self.bits(self.ty(b), 0), self.bits(self.ty(b), 1));
        let is_zero = self.eq(b, zero);
        (self.cond(is_zero, one, b), is_zero)
    }

    /// The greater or lesser one.
    pub fn int_extreme(
        &mut self,
        element: TensorElement,
        greater: bool,
        v: &[ScalarNode],
    ) -> ScalarNode {
        let op = match (shape(element).1, greater) {
            (true, true) => ScalarOp::SMax,
            (true, false) => ScalarOp::SMin,
            (false, true) => ScalarOp::UMax,
            (false, false) => ScalarOp::UMin,
        };
        self.op2(op, v[0], v[1])
    }

    /// Power; to a negative one what rounding to zero gives.
    pub fn int_pow(&mut self, element: TensorElement, v: &[ScalarNode]) -> ScalarNode {
        let (_, signed) = shape(element);
        let ty = self.ty(v[0]);
        let base = self.resize(ScalarType::I64, signed, v[0]);
        let exponent = self.resize(ScalarType::I64, signed, v[1]);
        let low = self.with(ScalarOp::And, exponent, i64::MAX as u64);
        let size = if signed { exponent } else { low };
        let power = self.op2(ScalarOp::Pow, base, size);
        let zero = self.bits(ScalarType::I64, 0);
        let is_negative = self.lt(exponent, zero);
        let odd = self.with(ScalarOp::And, exponent, 1);
        let at_end = if signed {
            // 1 and -1 have an inverse.
            let (one, minus) = (
                self.bits(ScalarType::I64, 1),
                self.bits(ScalarType::I64, u64::MAX),
            );
            let is_odd = self.eq(odd, one);
            let alternating = self.cond(is_odd, minus, one);
            let (is_one, is_minus) = (self.eq(base, one), self.eq(base, minus));
            let other = self.cond(is_minus, alternating, zero);
            self.cond(is_one, one, other)
        } else {
            // x^(2^63) is 1 for odd x and 0 for even x.
            let odd = self.with(ScalarOp::And, base, 1);
            self.mul(odd, power)
        };
        let result = self.cond(is_negative, at_end, power);
        self.resize(ty, false, result)
    }

    /// Shift to the left or to the right; by the width or more nothing remains.
    pub fn int_shift(
        &mut self,
        op: ScalarOp,
        element: TensorElement,
        v: &[ScalarNode],
    ) -> ScalarNode {
        let (width, _) = shape(element);
        let ty = self.ty(v[0]);
        let limit = self.bits(ty, width.into());
        let amount = self.resize(ty, false, v[1]);
        let inside = self.op2(ScalarOp::ULt, amount, limit);
        // Below 8 bits the bits above the width belong to the sign.
        let operand = match op {
            ScalarOp::LShr if width < 8 => self.with(ScalarOp::And, v[0], (1 << width) - 1),
            _ => v[0],
        };
        let shifted = self.op2(op, operand, amount);
        let beyond = match op {
            ScalarOp::AShr => self.with(ScalarOp::AShr, v[0], u64::from(ty.width() - 1)),
            _ => self.bits(ty, 0),
        };
        self.cond(inside, shifted, beyond)
    }

    /// -1, 0 or 1.
    pub fn int_sign(&mut self, element: TensorElement, v: &[ScalarNode]) -> ScalarNode {
        let op = if shape(element).1 {
            ScalarOp::SSignum
        } else {
            ScalarOp::USignum
        };
        self.op1(op, v[0])
    }

    /// Leading zeros.
    pub fn int_clz(&mut self, element: TensorElement, v: &[ScalarNode]) -> ScalarNode {
        let (width, _) = shape(element);
        let ty = self.ty(v[0]);
        let rest = ty.width() - width;
        let operand = match rest {
            0 => v[0],
            _ => self.with(ScalarOp::And, v[0], (1 << width) - 1),
        };
        let count = self.op1(ScalarOp::Clz, operand);
        let count = self.resize(ty, false, count);
        self.with(ScalarOp::Sub, count, rest.into())
    }

    /// Bits that are set.
    pub fn int_popcount(&mut self, element: TensorElement, v: &[ScalarNode]) -> ScalarNode {
        let (width, _) = shape(element);
        let ty = self.ty(v[0]);
        let operand = match width {
            8.. => v[0],
            _ => self.with(ScalarOp::And, v[0], (1 << width) - 1),
        };
        let count = self.op1(ScalarOp::Popc, operand);
        self.resize(ty, false, count)
    }
}

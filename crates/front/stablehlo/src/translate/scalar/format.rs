//! Conversion of numbers between the formats that the tensor IR lacks and those that it has.
//!
//! Such a number is computed as an `f32`, which has every value of these formats. The result is
//! rounded to nearest, ties to even.

use super::calc::ScalarBuilder;
use crate::mlir::{FloatSpecials, MlirFloat, MlirFloatFormat};
use crate::translate::element::{TensorElement, to_native_type};
use spirula_program::{ScalarOp, ScalarType};
use spirula_tensor::ir::ScalarNode;

impl ScalarBuilder<'_> {
    /// A stored real number in a type that can be computed with: the IR's type, or `f32`.
    pub fn decode_float(&mut self, float: MlirFloat, stored: ScalarNode) -> ScalarNode {
        match float {
            _ if to_native_type(float).is_some() => stored,
            MlirFloat::BF16 => {
                let wide = self.resize_integer(ScalarType::I32, false, stored);
                let bits = self.apply_with_constant(ScalarOp::Shl, wide, 16);
                self.cast_bits(ScalarType::F32, bits)
            }
            _ => self.decode_small(float.format(), stored),
        }
    }

    /// The same as at least an `f32`.
    pub fn decode_wide(&mut self, float: MlirFloat, stored: ScalarNode) -> ScalarNode {
        let value = self.decode_float(float, stored);
        match self.node_type(value) {
            ScalarType::F16 => self.resize_float(ScalarType::F32, value),
            _ => value,
        }
    }

    /// A number of any of the IR's types, rounded to a format, as it is stored.
    pub fn encode_float(&mut self, float: MlirFloat, value: ScalarNode) -> ScalarNode {
        if let Some(ty) = to_native_type(float) {
            return self.resize_float(ty, value);
        }
        let value = match self.node_type(value) {
            ScalarType::F64 => self.round_to_odd(value),
            ScalarType::F16 => self.resize_float(ScalarType::F32, value),
            _ => value,
        };
        match float {
            MlirFloat::BF16 => self.encode_bf16(value),
            _ => self.encode_small(float.format(), value),
        }
    }

    fn encode_bf16(&mut self, value: ScalarNode) -> ScalarNode {
        let bits = self.cast_bits(ScalarType::I32, value);
        let odd = self.apply_with_constant(ScalarOp::LShr, bits, 16);
        let odd = self.apply_with_constant(ScalarOp::And, odd, 1);
        let rounded = self.add(bits, odd);
        let rounded = self.apply_with_constant(ScalarOp::Add, rounded, 0x7fff);
        let quiet = self.apply_with_constant(ScalarOp::Or, bits, 0x40_0000);
        let is_nan = self.apply_unary(ScalarOp::IsNan, value);
        let chosen = self.select(is_nan, quiet, rounded);
        let high = self.apply_with_constant(ScalarOp::LShr, chosen, 16);
        self.resize_integer(ScalarType::I16, false, high)
    }

    /// An `f64` rounded to odd as an `f32` (Boldo and Melquiond, 2008): an inexact result has an
    /// odd last bit. So rounding it to fewer bits gives the same as rounding the `f64`.
    fn round_to_odd(&mut self, value: ScalarNode) -> ScalarNode {
        let near = self.resize_float(ScalarType::F32, value);
        let back = self.resize_float(ScalarType::F64, near);
        let (size, back_size) = (self.abs(value), self.abs(back));
        let is_above = self.lt(size, back_size);
        let is_below = self.lt(back_size, size);
        let is_inexact = self.or(is_above, is_below);
        let bits = self.cast_bits(ScalarType::I32, near);
        let lower = self.apply_with_constant(ScalarOp::Sub, bits, 1);
        let truncated = self.select(is_above, lower, bits);
        let odd = self.apply_with_constant(ScalarOp::Or, truncated, 1);
        let chosen = self.select(is_inexact, odd, bits);
        self.cast_bits(ScalarType::F32, chosen)
    }

    fn decode_small(&mut self, format: &MlirFloatFormat, stored: ScalarNode) -> ScalarNode {
        let shift = u64::from(23 - format.mantissa);
        let width = self.node_type(stored);
        let all = u64::MAX >> (64 - format.width);
        let bits = self.resize_integer(ScalarType::I32, false, stored);
        let bits = self.apply_with_constant(ScalarOp::And, bits, all);
        if format.specials == FloatSpecials::ExponentOnly {
            return self.decode_exponent(bits);
        }
        debug_assert!(width.is_int());
        let sign = 1 << (format.width - 1);
        let size = self.apply_with_constant(ScalarOp::And, bits, sign - 1);
        let shifted = self.apply_with_constant(ScalarOp::Shl, size, shift);
        let normal =
            self.apply_with_constant(ScalarOp::Add, shifted, ((127 - format.bias) as u64) << 23);
        let normal = self.cast_bits(ScalarType::F32, normal);
        let small = self
            .body
            .apply_conversion(ScalarOp::UToF, ScalarType::F32, size);
        let unit = 2f64.powi(1 - format.bias - format.mantissa as i32);
        let small = self.mul_constant(small, unit);
        let first_normal = self.integer_constant(ScalarType::I32, 1 << format.mantissa);
        let is_small = self.lt(size, first_normal);
        let mut value = self.select(is_small, small, normal);
        let nan = self.make_constant(ScalarType::F32, f64::NAN);
        if format.specials == FloatSpecials::Ieee {
            let infinity = self.integer_constant(ScalarType::I32, infinity_bits(format));
            let infinite = self.make_constant(ScalarType::F32, f64::INFINITY);
            let is_infinite = self.eq(size, infinity);
            value = self.select(is_infinite, infinite, value);
            let is_nan = self.lt(infinity, size);
            value = self.select(is_nan, nan, value);
        }
        let is_negative = self.apply_with_constant(ScalarOp::And, bits, sign);
        let zero = self.integer_constant(ScalarType::I32, 0);
        let is_positive = self.eq(is_negative, zero);
        let negative = self.neg(value);
        value = self.select(is_positive, value, negative);
        let nan_bits = match format.specials {
            FloatSpecials::NanAllOnes => Some((size, sign - 1)),
            FloatSpecials::NanNegativeZero => Some((bits, sign)),
            _ => None,
        };
        if let Some((tested, expected)) = nan_bits {
            let expected = self.integer_constant(ScalarType::I32, expected);
            let is_nan = self.eq(tested, expected);
            value = self.select(is_nan, nan, value);
        }
        value
    }

    /// `f8E8M0FNU`: a power of two.
    fn decode_exponent(&mut self, bits: ScalarNode) -> ScalarNode {
        let shifted = self.apply_with_constant(ScalarOp::Shl, bits, 23);
        // 2^-127 is no normal f32.
        let smallest = self.integer_constant(ScalarType::I32, 0x40_0000);
        let (zero, top) = (
            self.integer_constant(ScalarType::I32, 0),
            self.integer_constant(ScalarType::I32, 255),
        );
        let is_smallest = self.eq(bits, zero);
        let value = self.select(is_smallest, smallest, shifted);
        let nan = self.integer_constant(ScalarType::I32, 0x7fc0_0000);
        let is_nan = self.eq(bits, top);
        let value = self.select(is_nan, nan, value);
        self.cast_bits(ScalarType::F32, value)
    }

    fn encode_small(&mut self, format: &MlirFloatFormat, value: ScalarNode) -> ScalarNode {
        let bits = self.cast_bits(ScalarType::I32, value);
        let size = self.apply_with_constant(ScalarOp::And, bits, 0x7fff_ffff);
        let is_nan = self.apply_unary(ScalarOp::IsNan, value);
        let result = match format.specials {
            FloatSpecials::ExponentOnly => self.encode_exponent(bits, size),
            _ => self.encode_signed(format, value, bits, size),
        };
        let nan = self.integer_constant(ScalarType::I32, format.encode_value(f64::NAN));
        let result = self.select(is_nan, nan, result);
        self.resize_integer(ScalarType::I8, false, result)
    }

    /// The middle of two powers is rounded to the larger. A number that is not above 0 has no value
    /// in the format.
    fn encode_exponent(&mut self, bits: ScalarNode, size: ScalarNode) -> ScalarNode {
        let rounded = self.apply_with_constant(ScalarOp::Add, size, 1 << 22);
        let normal = self.apply_with_constant(ScalarOp::LShr, rounded, 23);
        // Below 2^-126 there is one more number, 2^-127.
        let (least, middle) = (1 << 23, 0x60_0000);
        let (least, middle) = (
            self.integer_constant(ScalarType::I32, least),
            self.integer_constant(ScalarType::I32, middle),
        );
        let is_above = self.le(middle, size);
        let small = self
            .body
            .apply_conversion(ScalarOp::FromBool, ScalarType::I32, is_above);
        let is_small = self.lt(size, least);
        let found = self.select(is_small, small, normal);
        let (zero, nan) = (
            self.integer_constant(ScalarType::I32, 0),
            self.integer_constant(ScalarType::I32, 0xff),
        );
        let is_above = self.lt(zero, bits);
        self.select(is_above, found, nan)
    }

    fn encode_signed(
        &mut self,
        format: &MlirFloatFormat,
        value: ScalarNode,
        bits: ScalarNode,
        size: ScalarNode,
    ) -> ScalarNode {
        let shift = u64::from(23 - format.mantissa);
        // Normal numbers: the exponent is rebiased, the significand rounded.
        let moved =
            self.apply_with_constant(ScalarOp::Sub, size, ((127 - format.bias) as u64) << 23);
        let odd = self.apply_with_constant(ScalarOp::LShr, moved, shift);
        let odd = self.apply_with_constant(ScalarOp::And, odd, 1);
        let rounded = self.add(moved, odd);
        let rounded = self.apply_with_constant(ScalarOp::Add, rounded, (1 << (shift - 1)) - 1);
        let normal = self.apply_with_constant(ScalarOp::AShr, rounded, shift);
        // Subnormal numbers: added to a number whose last bit has the weight of the format's last
        // bit.
        let magic = 2f64.powi(23 + 1 - format.bias - format.mantissa as i32);
        let absolute = self.abs(value);
        let aligned = self.add_constant(absolute, magic);
        let aligned = self.cast_bits(ScalarType::I32, aligned);
        let small =
            self.apply_with_constant(ScalarOp::Sub, aligned, (magic as f32).to_bits().into());
        let is_small = self.lt_constant(absolute, 2f64.powi(1 - format.bias));
        let found = self.select(is_small, small, normal);
        let largest = self.integer_constant(ScalarType::I32, largest_finite_bits(format));
        let overflow = self.integer_constant(ScalarType::I32, format.encode_value(f64::INFINITY));
        let is_above = self.lt(largest, found);
        let magnitude = self.select(is_above, overflow, found);
        let sign = self.apply_with_constant(ScalarOp::LShr, bits, u64::from(32 - format.width));
        let sign = self.apply_with_constant(ScalarOp::And, sign, 1 << (format.width - 1));
        let signed = self.apply_binary(ScalarOp::Or, magnitude, sign);
        if format.specials != FloatSpecials::NanNegativeZero {
            return signed;
        }
        let zero = self.integer_constant(ScalarType::I32, 0);
        let is_zero = self.eq(magnitude, zero);
        self.select(is_zero, zero, signed)
    }

    /// An integer wrapped to the range of its type, for types below 8 bits. The sign is extended by
    /// a select: NVIDIA's driver 580 applies other sign extensions of a negation's result before
    /// the negation.
    pub fn wrap_integer(&mut self, element: TensorElement, value: ScalarNode) -> ScalarNode {
        let TensorElement::Int { width, signed } = element else {
            return value;
        };
        let rest = self.node_type(value).width().saturating_sub(width);
        match (rest, signed) {
            (0, _) => value,
            (_, true) => {
                let ty = self.node_type(value);
                let low = self.apply_with_constant(ScalarOp::And, value, (1 << width) - 1);
                let largest = self.integer_constant(ty, (1 << (width - 1)) - 1);
                let is_negative = self.lt(largest, low);
                let below = self.apply_with_constant(ScalarOp::Sub, low, 1 << width);
                self.select(is_negative, below, low)
            }
            (_, false) => self.apply_with_constant(ScalarOp::And, value, (1 << width) - 1),
        }
    }
}

fn infinity_bits(format: &MlirFloatFormat) -> u64 {
    ((1 << format.exponent) - 1) << format.mantissa
}

/// Bits of the largest finite number.
fn largest_finite_bits(format: &MlirFloatFormat) -> u64 {
    let all = (1 << (format.width - 1)) - 1;
    match format.specials {
        FloatSpecials::Ieee => infinity_bits(format) - 1,
        FloatSpecials::NanAllOnes => all - 1,
        _ => all,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mlir::FLOATS;
    use spirula_tensor::ir::NodeGraph;

    /// Formats that are stored as bits.
    fn list_stored_formats() -> impl Iterator<Item = MlirFloat> {
        let names = FLOATS.iter().filter(|f| f.width <= 16 && f.name != "f16");
        names.filter_map(|f| MlirFloat::from_name(f.name))
    }

    #[test]
    fn every_number_is_decoded_and_encoded() {
        for float in list_stored_formats() {
            let format = float.format();
            for bits in 0..1u64 << format.width {
                let mut body = NodeGraph::default();
                let mut calc = ScalarBuilder::new(&mut body);
                let ty = TensorElement::Float(float).storage_type();
                let node = calc.integer_constant(ty, bits);
                let value = calc.decode_float(float, node);
                let found = calc
                    .body
                    .as_literal(value)
                    .map(|l| f32::from_bits(l.bits as u32));
                let (found, expected) = (found.expect("folded"), format.decode_bits(bits) as f32);
                let same = found.to_bits() == expected.to_bits();
                assert!(
                    same || found.is_nan() && expected.is_nan(),
                    "{float:?} {bits:#x}"
                );
                let back = calc.encode_float(float, value);
                let back = calc.body.as_literal(back).map(|l| l.bits);
                if !expected.is_nan() {
                    assert_eq!(back, Some(bits), "{float:?}");
                }
            }
        }
    }

    #[test]
    fn rounding_is_to_nearest_even() {
        let mut state = 1u64;
        for float in list_stored_formats() {
            for round in 0..4000 {
                state = state
                    .wrapping_mul(6364136223846793005)
                    .wrapping_add(1442695040888963407);
                let random = state >> 11;
                // A number between two neighbours: their middle, or any other.
                let near = float
                    .format()
                    .decode_bits(random & ((1 << float.width()) - 1));
                let value = match round % 3 {
                    0 => near * 1.0625,
                    1 => near * (1.0 + 2f64.powi(-40)) * (1.0 + 0.5 / 8.0),
                    _ => f64::from(f32::from_bits(random as u32)),
                };
                if value.is_nan() {
                    continue;
                }
                let mut body = NodeGraph::default();
                let mut calc = ScalarBuilder::new(&mut body);
                let node = calc.make_constant(ScalarType::F64, value);
                let found = calc.encode_float(float, node);
                let found = calc.body.as_literal(found).map(|l| l.bits);
                let expected = float.format().encode_value(value);
                assert_eq!(found, Some(expected), "{float:?} {value:e}");
            }
        }
    }
}

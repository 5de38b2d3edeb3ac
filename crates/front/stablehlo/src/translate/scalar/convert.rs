//! Conversions between StableHLO's types.

use super::calc::ScalarBuilder;
use super::value::ElementValue;
use crate::mlir::MlirFloat;
use crate::translate::element::{TensorElement, to_native_type};
use smallvec::smallvec;
use spirula_program::{ScalarOp, ScalarType};
use spirula_tensor::ir::ScalarNode;

impl ScalarBuilder<'_> {
    /// A value converted to another type. Complex numbers lose their imaginary part, floats their
    /// fraction. Values out of an integer type's range saturate; NaN becomes 0.
    pub fn convert_value(&mut self, v: &ElementValue, to: TensorElement) -> Option<ElementValue> {
        if v.element == to {
            return Some(v.clone());
        }
        match (v.element, to) {
            (TensorElement::Complex(_), TensorElement::Complex(float)) => {
                let ty = to_native_type(float)?;
                let nodes = v.as_complex().map(|part| self.resize_float(ty, part));
                Some(ElementValue {
                    element: to,
                    nodes: nodes.into(),
                })
            }
            (TensorElement::Complex(float), _) => {
                let part = ElementValue::new(TensorElement::Float(float), v.node());
                self.convert_value(&part, to)
            }
            (_, TensorElement::Complex(float)) => {
                let re = self.convert_value(v, TensorElement::Float(float))?.node();
                let im = self.constant_like(re, 0.0);
                Some(ElementValue {
                    element: to,
                    nodes: smallvec![re, im],
                })
            }
            _ => Some(ElementValue::new(to, self.convert_real(v, to)?)),
        }
    }

    fn convert_real(&mut self, v: &ElementValue, to: TensorElement) -> Option<ScalarNode> {
        let node = v.node();
        Some(match (v.element, to) {
            (TensorElement::Float(from), TensorElement::Float(to)) => {
                let value = self.decode_float(from, node);
                self.encode_float(to, value)
            }
            (TensorElement::Float(from), TensorElement::Bool) => {
                let value = self.decode_float(from, node);
                self.body
                    .apply_conversion(ScalarOp::ToBool, ScalarType::Bool, value)
            }
            (TensorElement::Float(from), TensorElement::Int { width, signed }) => {
                let value = self.decode_wide(from, node);
                self.integer_of(value, to, width, signed)
            }
            (TensorElement::Int { signed, .. }, TensorElement::Float(to)) => {
                let op = if signed {
                    ScalarOp::SToF
                } else {
                    ScalarOp::UToF
                };
                let value = self.body.apply_conversion(
                    op,
                    to_native_type(to).unwrap_or(ScalarType::F32),
                    node,
                );
                self.encode_float(to, value)
            }
            (TensorElement::Int { .. }, TensorElement::Bool) => {
                self.body
                    .apply_conversion(ScalarOp::ToBool, ScalarType::Bool, node)
            }
            (TensorElement::Int { signed, .. }, TensorElement::Int { .. }) => {
                let resized = self.resize_integer(to.storage_type(), signed, node);
                self.wrap_integer(to, resized)
            }
            (TensorElement::Bool, TensorElement::Float(to)) => {
                let ty = to_native_type(to).unwrap_or(ScalarType::F32);
                let value = self.body.apply_conversion(ScalarOp::FromBool, ty, node);
                self.encode_float(to, value)
            }
            (TensorElement::Bool, TensorElement::Int { .. }) => {
                self.body
                    .apply_conversion(ScalarOp::FromBool, to.storage_type(), node)
            }
            _ => return None,
        })
    }

    fn integer_of(
        &mut self,
        value: ScalarNode,
        to: TensorElement,
        width: u32,
        signed: bool,
    ) -> ScalarNode {
        let ty = to.storage_type();
        let (op, low, high) = if signed {
            (
                ScalarOp::FToS,
                -(2f64.powi(width as i32 - 1)),
                2f64.powi(width as i32 - 1),
            )
        } else {
            (ScalarOp::FToU, 0.0, 2f64.powi(width as i32))
        };
        let top = if signed {
            (1u64 << (width - 1)) - 1
        } else {
            u64::MAX >> (64 - width)
        };
        let (bottom, top) = (
            self.integer_constant(ty, low as i64 as u64),
            self.integer_constant(ty, top),
        );
        let within = self.body.apply_conversion(op, ty, value);
        let low = self.constant_like(value, low);
        let is_low = self.le(value, low);
        let result = self.select(is_low, bottom, within);
        let is_inside = self.lt_constant(value, high);
        let zero = self.integer_constant(ty, 0);
        let is_nan = self.apply_unary(ScalarOp::IsNan, value);
        let beyond = self.select(is_nan, zero, top);
        self.select(is_inside, result, beyond)
    }

    /// A value rounded to these numbers of bits of exponent and significand, in its own type.
    pub fn reduce_precision(
        &mut self,
        v: &ElementValue,
        exponent: u32,
        mantissa: u32,
    ) -> Option<ElementValue> {
        let TensorElement::Float(float) = v.element else {
            return None;
        };
        let value = self.decode_wide(float, v.node());
        let format = match self.node_type(value) {
            ScalarType::F64 => MlirFloat::F64.format(),
            _ => MlirFloat::F32.format(),
        };
        let bits_ty = match format.width {
            64 => ScalarType::I64,
            _ => ScalarType::I32,
        };
        let bits = self.cast_bits(bits_ty, value);
        let sign_bit = 1u64 << (format.width - 1);
        let mut size = self.apply_with_constant(ScalarOp::And, bits, sign_bit - 1);
        let sign = self.apply_with_constant(ScalarOp::And, bits, sign_bit);
        if mantissa < format.mantissa {
            let dropped = u64::from(format.mantissa - mantissa);
            let odd = self.apply_with_constant(ScalarOp::LShr, size, dropped);
            let odd = self.apply_with_constant(ScalarOp::And, odd, 1);
            let rounded = self.add(size, odd);
            let rounded =
                self.apply_with_constant(ScalarOp::Add, rounded, (1 << (dropped - 1)) - 1);
            size = self.apply_with_constant(ScalarOp::And, rounded, !((1 << dropped) - 1));
        }
        if exponent < format.exponent {
            // Values above the largest exponent become infinite, those below the least normal
            // exponent zero.
            let bias = (1u64 << (exponent - 1)) - 1;
            let largest = (format.bias as u64 + bias + 1) << format.mantissa;
            let smallest = (format.bias as u64 - bias + 1) << format.mantissa;
            let (largest, smallest) = (
                self.integer_constant(bits_ty, largest),
                self.integer_constant(bits_ty, smallest),
            );
            let top = ((1u64 << format.exponent) - 1) << format.mantissa;
            let (infinity, zero) = (
                self.integer_constant(bits_ty, top),
                self.integer_constant(bits_ty, 0),
            );
            let is_small = self.lt(size, smallest);
            let is_inside = self.lt(size, largest);
            size = self.select(is_inside, size, infinity);
            size = self.select(is_small, zero, size);
        }
        let rounded = self.apply_binary(ScalarOp::Or, size, sign);
        let rounded = self.cast_bits(self.node_type(value), rounded);
        // Without a significand there is no NaN.
        let result = match mantissa {
            0 => {
                let is_nan = self.apply_unary(ScalarOp::IsNan, value);
                let infinity = self.constant_like(value, f64::INFINITY);
                let infinity = self.copy_sign(infinity, value);
                self.select(is_nan, infinity, rounded)
            }
            _ => {
                let is_nan = self.apply_unary(ScalarOp::IsNan, value);
                self.select(is_nan, value, rounded)
            }
        };
        Some(ElementValue::new(
            v.element,
            self.encode_float(float, result),
        ))
    }
}

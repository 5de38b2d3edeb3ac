//! Conversions between StableHLO's types.

use super::calc::ScalarBuilder;
use super::value::ElementValue;
use crate::mlir::MlirFloat;
use crate::translate::element::{TensorElement, native};
use smallvec::smallvec;
use spirula_program::{ScalarOp, ScalarType};
use spirula_tensor::ir::ScalarNode;

impl ScalarBuilder<'_> {
    /// A value as another type. Complex numbers lose their imaginary part, floats their fraction;
    /// what is beyond an integer type's range becomes its end, NaN becomes 0.
    pub fn convert(&mut self, v: &ElementValue, to: TensorElement) -> Option<ElementValue> {
        if v.element == to {
            return Some(v.clone());
        }
        match (v.element, to) {
            (TensorElement::Complex(_), TensorElement::Complex(float)) => {
                let ty = native(float)?;
                let nodes = v.complex().map(|part| self.resize_float(ty, part));
                Some(ElementValue {
                    element: to,
                    nodes: nodes.into(),
                })
            }
            (TensorElement::Complex(float), _) => {
                let part = ElementValue::new(TensorElement::Float(float), v.node());
                self.convert(&part, to)
            }
            (_, TensorElement::Complex(float)) => {
                let re = self.convert(v, TensorElement::Float(float))?.node();
                let im = self.like(re, 0.0);
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
                let value = self.decode(from, node);
                self.encode(to, value)
            }
            (TensorElement::Float(from), TensorElement::Bool) => {
                let value = self.decode(from, node);
                self.body.convert(ScalarOp::ToBool, ScalarType::Bool, value)
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
                let value = self
                    .body
                    .convert(op, native(to).unwrap_or(ScalarType::F32), node);
                self.encode(to, value)
            }
            (TensorElement::Int { .. }, TensorElement::Bool) => {
                self.body.convert(ScalarOp::ToBool, ScalarType::Bool, node)
            }
            (TensorElement::Int { signed, .. }, TensorElement::Int { .. }) => {
                let resized = self.resize(to.storage(), signed, node);
                self.wrap(to, resized)
            }
            (TensorElement::Bool, TensorElement::Float(to)) => {
                let ty = native(to).unwrap_or(ScalarType::F32);
                let value = self.body.convert(ScalarOp::FromBool, ty, node);
                self.encode(to, value)
            }
            (TensorElement::Bool, TensorElement::Int { .. }) => {
                self.body.convert(ScalarOp::FromBool, to.storage(), node)
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
        let ty = to.storage();
        let (op, low, high) = match signed {
            true => (
                ScalarOp::FToS,
                -(2f64.powi(width as i32 - 1)),
                2f64.powi(width as i32 - 1),
            ),
            false => (ScalarOp::FToU, 0.0, 2f64.powi(width as i32)),
        };
        let top = match signed {
            true => (1u64 << (width - 1)) - 1,
            false => u64::MAX >> (64 - width),
        };
        let (bottom, top) = (self.bits(ty, low as i64 as u64), self.bits(ty, top));
        let within = self.body.convert(op, ty, value);
        let low = self.like(value, low);
        let is_low = self.le(value, low);
        let result = self.cond(is_low, bottom, within);
        let is_inside = self.below(value, high);
        let zero = self.bits(ty, 0);
        let is_nan = self.op1(ScalarOp::IsNan, value);
        let beyond = self.cond(is_nan, zero, top);
        self.cond(is_inside, result, beyond)
    }

    /// A value rounded to so many bits of exponent and significand, in its own type.
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
        let format = match self.ty(value) {
            ScalarType::F64 => MlirFloat::F64.format(),
            _ => MlirFloat::F32.format(),
        };
        let bits_ty = match format.width {
            64 => ScalarType::I64,
            _ => ScalarType::I32,
        };
        let bits = self.cast_bits(bits_ty, value);
        let sign_bit = 1u64 << (format.width - 1);
        let mut size = self.with(ScalarOp::And, bits, sign_bit - 1);
        let sign = self.with(ScalarOp::And, bits, sign_bit);
        if mantissa < format.mantissa {
            let dropped = u64::from(format.mantissa - mantissa);
            let odd = self.with(ScalarOp::LShr, size, dropped);
            let odd = self.with(ScalarOp::And, odd, 1);
            let rounded = self.add(size, odd);
            let rounded = self.with(ScalarOp::Add, rounded, (1 << (dropped - 1)) - 1);
            size = self.with(ScalarOp::And, rounded, !((1 << dropped) - 1));
        }
        if exponent < format.exponent {
            // Beyond the largest exponent infinite; below the least normal one zero.
            let bias = (1u64 << (exponent - 1)) - 1;
            let largest = (format.bias as u64 + bias + 1) << format.mantissa;
            let smallest = (format.bias as u64 - bias + 1) << format.mantissa;
            let (largest, smallest) = (self.bits(bits_ty, largest), self.bits(bits_ty, smallest));
            let top = ((1u64 << format.exponent) - 1) << format.mantissa;
            let (infinity, zero) = (self.bits(bits_ty, top), self.bits(bits_ty, 0));
            let is_small = self.lt(size, smallest);
            let is_inside = self.lt(size, largest);
            size = self.cond(is_inside, size, infinity);
            size = self.cond(is_small, zero, size);
        }
        let rounded = self.op2(ScalarOp::Or, size, sign);
        let rounded = self.cast_bits(self.ty(value), rounded);
        // Without significand there is no NaN.
        let result = match mantissa {
            0 => {
                let is_nan = self.op1(ScalarOp::IsNan, value);
                let infinity = self.like(value, f64::INFINITY);
                let infinity = self.copy_sign(infinity, value);
                self.cond(is_nan, infinity, rounded)
            }
            _ => {
                let is_nan = self.op1(ScalarOp::IsNan, value);
                self.cond(is_nan, value, rounded)
            }
        };
        Some(ElementValue::new(v.element, self.encode(float, result)))
    }
}

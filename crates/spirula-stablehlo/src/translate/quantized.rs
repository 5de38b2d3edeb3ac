//! Quantised tensors: integers that stand for real numbers, `(stored - zero point) scale`.
//!
//! An operation that only moves elements works on what is stored; any other one works on the real
//! numbers that its operands stand for, and its results are quantised again.

use super::element::Element;
use super::error::Result;
use super::scalar::{Calc, Val};
use super::translator::{Tensor, Translator};
use crate::mlir::{Granularity, Op, Quantized, Type, TypeKind};
use spirula_program::{Literal, Op as Scalar, Scalar as Ty};
use spirula_tensor::ir::{Constant, Node, Structured, TensorType, Value};

/// Scale and zero point of every element.
struct Parameters {
    scale: Value,
    zero_point: Value,
    /// The dimension along which they differ.
    axis: Option<usize>,
}

impl Translator<'_> {
    fn quantized(&self, ty: Type) -> Option<&Quantized> {
        match self.module.types.kind(ty) {
            TypeKind::Quantized(quantized) => Some(quantized),
            _ => None,
        }
    }

    /// The real numbers that an element stands for; others are themselves.
    pub fn expressed(&self, element: Element) -> Element {
        let Element::Quantized { ty, .. } = element else {
            return element;
        };
        let expressed = self.quantized(ty).map(|quantized| quantized.expressed);
        let found = expressed.and_then(|ty| Element::of(self.module, ty));
        found.unwrap_or(element)
    }

    fn parameters(&mut self, op: Op, tensor: &Tensor, ty: Type) -> Result<Parameters> {
        let unknown = || self.unsupported(op, "kind of quantisation");
        let quantized = self.quantized(ty).ok_or_else(unknown)?;
        let axis = match quantized.axis {
            Granularity::Tensor => None,
            Granularity::Axis(axis) => Some(axis as usize),
            Granularity::Blocks { .. } => return Err(unknown()),
        };
        let count = quantized.parameters.len() as u64;
        let shape = self.shape(tensor);
        let expected = match axis {
            None => Some(1),
            Some(axis) => shape.get(axis).and_then(|dim| dim.known()),
        };
        self.ensure(op, expected == Some(count), "has a wrong number of scales")?;
        let sizes: &[u64] = if axis.is_some() { &[count] } else { &[] };
        let scales = quantized
            .parameters
            .iter()
            .flat_map(|(bits, _)| bits.to_le_bytes());
        let scale = Constant {
            ty: TensorType::new(Ty::F64, sizes),
            bytes: scales.collect(),
        };
        let points = quantized
            .parameters
            .iter()
            .flat_map(|(_, zero)| zero.to_le_bytes());
        let zero_point = Constant {
            ty: TensorType::new(Ty::I64, sizes),
            bytes: points.collect(),
        };
        // Rounded to the expressed type while compiling.
        let scale = narrowed(scale, self.expressed(tensor.element));
        let mut made = |constant: Constant| match axis {
            // One value is computed where it is used.
            None => {
                let literal = Literal::new(constant.ty.element, constant.bits(0));
                self.builder.splat(literal, &[])
            }
            Some(_) => self.builder.constant(constant),
        };
        Ok(Parameters {
            scale: made(scale),
            zero_point: made(zero_point),
            axis,
        })
    }

    /// The real numbers that a tensor stands for.
    pub fn dequantized(&mut self, op: Op, tensor: &Tensor) -> Result<Tensor> {
        let Element::Quantized { ty, signed, .. } = tensor.element else {
            return Ok(tensor.clone());
        };
        let expressed = self.expressed(tensor.element);
        let Element::Float(float) = expressed else {
            return Err(self.unsupported(op, "kind of quantisation"));
        };
        let parameters = self.parameters(op, tensor, ty)?;
        let shape = self.shape(tensor);
        self.map(&shape, |t, s, point| {
            let stored = t.read(s, tensor, point).node();
            let (scale, zero_point) = parameters.at(t, s, point);
            let mut c = Calc::new(&mut s.body);
            let stored = c.resize(Ty::I64, signed, stored);
            let offset = c.sub(stored, zero_point);
            let ty = c.ty(scale);
            let offset = c.body.convert(Scalar::SToF, ty, offset);
            let value = c.mul(offset, scale);
            Ok(Val::new(expressed, c.encode(float, value)))
        })
    }

    /// Real numbers as a quantised tensor.
    pub fn quantize(&mut self, op: Op, tensor: &Tensor, to: Element) -> Result<Tensor> {
        let (Element::Quantized { ty, .. }, Element::Float(float)) = (to, tensor.element) else {
            return Err(self.unsupported(op, "kind of quantisation"));
        };
        let like = Tensor::of(to, &tensor.parts);
        let parameters = self.parameters(op, &like, ty)?;
        let range = self.quantized(ty).map_or((0, 0), |q| (q.min, q.max));
        let shape = self.shape(tensor);
        self.map(&shape, |t, s, point| {
            let stored = t.read(s, tensor, point).node();
            let (scale, zero_point) = parameters.at(t, s, point);
            let mut c = Calc::new(&mut s.body);
            let value = c.decode_wide(float, stored);
            let quotient = c.div(value, scale);
            let rounded = c.op1(Scalar::Round, quotient);
            let ty = c.ty(rounded);
            let zero_point = c.body.convert(Scalar::SToF, ty, zero_point);
            let moved = c.add(rounded, zero_point);
            let (low, high) = (c.like(moved, range.0 as f64), c.like(moved, range.1 as f64));
            let moved = c.maximum(low, moved);
            let moved = c.minimum(moved, high);
            let value = match ty {
                Ty::F64 => Element::Float(crate::mlir::Float::F64),
                _ => Element::Float(crate::mlir::Float::F32),
            };
            let value = Val::new(value, moved);
            let integer = c.convert(&value, to.stored());
            let integer = integer.ok_or_else(|| t.unsupported(op, "kind of quantisation"))?;
            Ok(Val::new(to, integer.node()))
        })
    }
}

/// An `f64` constant in a type that can be computed with.
fn narrowed(constant: Constant, expressed: Element) -> Constant {
    if expressed.storage() == Ty::F64 {
        return constant;
    }
    let values = (0..constant.bytes.len() / 8).map(|at| f64::from_bits(constant.bits(at)));
    Constant {
        bytes: values
            .flat_map(|value| (value as f32).to_le_bytes())
            .collect(),
        ty: TensorType {
            element: Ty::F32,
            ..constant.ty
        },
    }
}

impl Parameters {
    fn at(&self, t: &Translator<'_>, s: &mut Structured, point: &[Node]) -> (Node, Node) {
        let position: &[Node] = match self.axis {
            Some(axis) => &point[axis..=axis],
            None => &[],
        };
        let ty = t.builder.ty(self.scale).element;
        (
            s.body.element(self.scale, ty, position),
            s.body.element(self.zero_point, Ty::I64, position),
        )
    }
}

/// `uniform_quantize`, of real numbers or of numbers quantised otherwise.
pub(super) fn uniform_quantize(t: &mut Translator<'_>, op: Op) -> Result<()> {
    let operand = t.operand(op, 0)?;
    let to = t.result_element(op, 0)?;
    let real = t.dequantized(op, &operand)?;
    let result = t.quantize(op, &real, to)?;
    t.give_one(op, result)
}

/// `uniform_dequantize`
pub(super) fn uniform_dequantize(t: &mut Translator<'_>, op: Op) -> Result<()> {
    let operand = t.operand(op, 0)?;
    let result = t.dequantized(op, &operand)?;
    t.give_one(op, result)
}

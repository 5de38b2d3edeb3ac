//! Quantised tensors: integers that stand for real numbers, `(stored - zero point) scale`.
//!
//! An operation that only moves elements works on what is stored; any other one works on the real
//! numbers that its operands stand for, and its results are quantised again.

use super::element::TensorElement;
use super::error::TranslateResult;
use super::scalar::{ElementValue, ScalarBuilder};
use super::translator::{StablehloTranslator, TypedTensor};
use crate::mlir::{
    MlirFloat, MlirOp, MlirType, MlirTypeKind, QuantizationGranularity, QuantizedType,
};
use spirula_program::{ScalarLiteral, ScalarOp as Scalar, ScalarType as Ty};
use spirula_tensor::ir::{
    DenseTensorType, DimExtent, NodeGraph, ScalarNode, StructuredOp, TensorConstant, TensorValue,
};

/// Scale and zero point of every element.
struct QuantizationParameters {
    scale: TensorValue,
    zero_point: TensorValue,
    along: QuantizationAxes,
}

/// What a position has of the index of its parameters.
enum QuantizationAxes {
    Tensor,
    /// For each dimension of the parameters, one of the tensor and how many elements share them.
    Dimensions(Vec<(usize, u64)>),
}

/// What one element is made with.
#[derive(Clone, Copy)]
struct ElementQuantization {
    scale: ScalarNode,
    zero_point: ScalarNode,
}

impl StablehloTranslator<'_> {
    fn quantized(&self, ty: MlirType) -> Option<&QuantizedType> {
        match self.module.types.kind(ty) {
            MlirTypeKind::Quantized(quantized) => Some(quantized),
            _ => None,
        }
    }

    /// The real numbers that an element stands for; others are themselves.
    pub fn expressed(&self, element: TensorElement) -> TensorElement {
        let TensorElement::Quantized { ty, .. } = element else {
            return element;
        };
        let expressed = self.quantized(ty).map(|quantized| quantized.expressed);
        let found = expressed.and_then(|ty| TensorElement::of(self.module, ty));
        found.unwrap_or(element)
    }

    fn parameters(
        &mut self,
        op: MlirOp,
        tensor: &TypedTensor,
        ty: MlirType,
    ) -> TranslateResult<QuantizationParameters> {
        let unknown = || self.unsupported(op, "kind of quantisation");
        let quantized = self.quantized(ty).ok_or_else(unknown)?;
        let shape = self.shape(tensor);
        let (sizes, along) = spread(quantized, &shape)
            .ok_or_else(|| self.invalid(op, "has a wrong number of scales"))?;
        let scales = self.scales(tensor.element, quantized);
        let points = points(quantized);
        let mut made = |literals: Vec<ScalarLiteral>| match along {
            // One value is computed where it is used.
            QuantizationAxes::Tensor => self.builder.splat(literals[0], &[]),
            QuantizationAxes::Dimensions(_) => {
                let ty = DenseTensorType::new(literals[0].ty, &sizes);
                let size = ty.element.size() as usize;
                let bytes = literals
                    .iter()
                    .flat_map(|l| l.bits.to_le_bytes()[..size].to_vec());
                let bytes = bytes.collect();
                self.builder.constant(TensorConstant { ty, bytes })
            }
        };
        Ok(QuantizationParameters {
            scale: made(scales),
            zero_point: made(points),
            along,
        })
    }

    /// The scales in a type that can be computed with, rounded to it while compiling.
    fn scales(&self, element: TensorElement, quantized: &QuantizedType) -> Vec<ScalarLiteral> {
        let is_wide = self.expressed(element).storage() == Ty::F64;
        let scales = quantized.parameters.iter().map(|(bits, _)| match is_wide {
            true => ScalarLiteral::new(Ty::F64, *bits),
            false => ScalarLiteral::new(Ty::F32, (f64::from_bits(*bits) as f32).to_bits().into()),
        });
        scales.collect()
    }

    /// The real numbers that a tensor stands for.
    pub fn dequantized(
        &mut self,
        op: MlirOp,
        tensor: &TypedTensor,
    ) -> TranslateResult<TypedTensor> {
        let TensorElement::Quantized { ty, .. } = tensor.element else {
            return Ok(tensor.clone());
        };
        let parameters = self.parameters(op, tensor, ty)?;
        let shape = self.shape(tensor);
        self.map(&shape, |t, s, point| {
            let stored = t.read(s, tensor, point);
            let at = parameters.at(t, s, point);
            t.real(op, &mut s.body, &stored, at)
        })
    }

    /// Real numbers as a quantised tensor.
    pub fn quantize(
        &mut self,
        op: MlirOp,
        tensor: &TypedTensor,
        to: TensorElement,
    ) -> TranslateResult<TypedTensor> {
        let TensorElement::Quantized { ty, .. } = to else {
            return Err(self.unsupported(op, "kind of quantisation"));
        };
        let like = TypedTensor::of(to, &tensor.parts);
        let parameters = self.parameters(op, &like, ty)?;
        let shape = self.shape(tensor);
        self.map(&shape, |t, s, point| {
            let value = t.read(s, tensor, point);
            let at = parameters.at(t, s, point);
            t.stored(op, &mut s.body, &value, to, at)
        })
    }

    /// The real number that a scalar stands for; others are themselves.
    pub(super) fn real_scalar(
        &self,
        op: MlirOp,
        body: &mut NodeGraph,
        val: ElementValue,
    ) -> TranslateResult<ElementValue> {
        match self.scalar_parameters(op, body, val.element)? {
            Some(at) => self.real(op, body, &val, at),
            None => Ok(val),
        }
    }

    /// A scalar of another type, which is quantised if it stands for one.
    pub(super) fn stored_scalar(
        &self,
        op: MlirOp,
        body: &mut NodeGraph,
        val: ElementValue,
        to: TensorElement,
    ) -> TranslateResult<ElementValue> {
        match self.scalar_parameters(op, body, to)? {
            Some(at) => self.stored(op, body, &val, to, at),
            None => Ok(val),
        }
    }

    fn scalar_parameters(
        &self,
        op: MlirOp,
        body: &mut NodeGraph,
        element: TensorElement,
    ) -> TranslateResult<Option<ElementQuantization>> {
        let TensorElement::Quantized { ty, .. } = element else {
            return Ok(None);
        };
        let quantized = self.quantized(ty);
        let quantized = quantized.filter(|quantized| quantized.parameters.len() == 1);
        let quantized = quantized.ok_or_else(|| self.unsupported(op, "kind of quantisation"))?;
        Ok(Some(ElementQuantization {
            scale: body.literal(self.scales(element, quantized)[0]),
            zero_point: body.literal(points(quantized)[0]),
        }))
    }

    fn real(
        &self,
        op: MlirOp,
        body: &mut NodeGraph,
        stored: &ElementValue,
        at: ElementQuantization,
    ) -> TranslateResult<ElementValue> {
        let expressed = self.expressed(stored.element);
        let TensorElement::Float(float) = expressed else {
            return Err(self.unsupported(op, "kind of quantisation"));
        };
        let mut c = ScalarBuilder::new(body);
        let is_signed = !stored.element.is_unsigned();
        let ty = c.ty(at.zero_point);
        let integer = c.resize(ty, is_signed, stored.node());
        let offset = c.sub(integer, at.zero_point);
        let ty = c.ty(at.scale);
        let offset = c.body.convert(Scalar::SToF, ty, offset);
        let value = c.mul(offset, at.scale);
        Ok(ElementValue::new(expressed, c.encode(float, value)))
    }

    fn stored(
        &self,
        op: MlirOp,
        body: &mut NodeGraph,
        val: &ElementValue,
        to: TensorElement,
        at: ElementQuantization,
    ) -> TranslateResult<ElementValue> {
        let unknown = || self.unsupported(op, "kind of quantisation");
        let (TensorElement::Quantized { ty, .. }, TensorElement::Float(float)) = (to, val.element)
        else {
            return Err(unknown());
        };
        let quantized = self.quantized(ty).ok_or_else(unknown)?;
        let mut c = ScalarBuilder::new(body);
        let value = c.decode_wide(float, val.node());
        let quotient = c.div(value, at.scale);
        let rounded = c.op1(Scalar::Round, quotient);
        let ty = c.ty(rounded);
        let zero_point = c.body.convert(Scalar::SToF, ty, at.zero_point);
        let moved = c.add(rounded, zero_point);
        let low = c.like(moved, quantized.min as f64);
        let high = c.like(moved, quantized.max as f64);
        let moved = c.maximum(low, moved);
        let moved = c.minimum(moved, high);
        let value = match ty {
            Ty::F64 => TensorElement::Float(MlirFloat::F64),
            _ => TensorElement::Float(MlirFloat::F32),
        };
        let integer = c.convert(&ElementValue::new(value, moved), to.stored());
        Ok(ElementValue::new(to, integer.ok_or_else(unknown)?.node()))
    }
}

/// Zero points, in an integer that their distance to what is stored fits in.
fn points(quantized: &QuantizedType) -> Vec<ScalarLiteral> {
    let is_small = |n: i64| n.unsigned_abs() < 1 << 30;
    let mut all = quantized.parameters.iter().map(|(_, point)| *point);
    let bounds = [quantized.min, quantized.max];
    let ty = match all.by_ref().chain(bounds).all(is_small) {
        true => Ty::I32,
        false => Ty::I64,
    };
    let all = quantized.parameters.iter();
    all.map(|(_, point)| ScalarLiteral::new(ty, ty.truncate(*point as u64)))
        .collect()
}

/// Sizes of the tensor of parameters, and which elements share them, where they fit a shape.
fn spread(quantized: &QuantizedType, shape: &[DimExtent]) -> Option<(Vec<u64>, QuantizationAxes)> {
    let count = quantized.parameters.len() as u64;
    let (sizes, along) = match &quantized.axis {
        QuantizationGranularity::Tensor => (vec![], QuantizationAxes::Tensor),
        QuantizationGranularity::Axis(axis) => {
            let axis = *axis as usize;
            (shape.get(axis)?.known() == Some(count)).then_some(())?;
            (vec![count], QuantizationAxes::Dimensions(vec![(axis, 1)]))
        }
        QuantizationGranularity::Blocks { sizes, shape: list } => {
            let mut along = Vec::new();
            (sizes.len() == list.len()).then_some(())?;
            for ((dimension, size), count) in sizes.iter().zip(list) {
                let whole = shape.get(*dimension as usize)?.known()?;
                (*size > 0 && size.checked_mul(*count) == Some(whole)).then_some(())?;
                along.push((*dimension as usize, *size));
            }
            (list.to_vec(), QuantizationAxes::Dimensions(along))
        }
    };
    (count > 0 && sizes.iter().product::<u64>() == count).then_some((sizes, along))
}

impl QuantizationParameters {
    fn at(
        &self,
        t: &StablehloTranslator<'_>,
        s: &mut StructuredOp,
        point: &[ScalarNode],
    ) -> ElementQuantization {
        let position = match &self.along {
            QuantizationAxes::Tensor => Vec::new(),
            QuantizationAxes::Dimensions(dimensions) => {
                let mut c = ScalarBuilder::new(&mut s.body);
                let index = dimensions.iter().map(|(dimension, size)| match size {
                    1 => point[*dimension],
                    _ => {
                        let size = c.body.i64(*size as i64);
                        c.op2(Scalar::SDiv, point[*dimension], size)
                    }
                });
                index.collect()
            }
        };
        let mut read = |value| {
            s.body
                .element(value, t.builder.ty(value).element, &position)
        };
        ElementQuantization {
            scale: read(self.scale),
            zero_point: read(self.zero_point),
        }
    }
}

/// `uniform_quantize`, of real numbers or of numbers quantised otherwise.
pub(super) fn uniform_quantize(t: &mut StablehloTranslator<'_>, op: MlirOp) -> TranslateResult<()> {
    let operand = t.operand(op, 0)?;
    let to = t.result_element(op, 0)?;
    let real = t.dequantized(op, &operand)?;
    let result = t.quantize(op, &real, to)?;
    t.give_one(op, result)
}

/// `uniform_dequantize`
pub(super) fn uniform_dequantize(
    t: &mut StablehloTranslator<'_>,
    op: MlirOp,
) -> TranslateResult<()> {
    let operand = t.operand(op, 0)?;
    let result = t.dequantized(op, &operand)?;
    t.give_one(op, result)
}

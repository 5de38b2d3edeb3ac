//! Quantised tensors: integers that represent real numbers, `(stored - zero point) scale`.
//!
//! An operation that only moves elements works on the stored integers. Any other one works on the
//! real numbers that its operands represent, and its results are quantised again.

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

/// Mapping from positions of a tensor to positions of its parameters.
enum QuantizationAxes {
    Tensor,
    /// For each dimension of the parameters, one of the tensor and how many elements share them.
    Dimensions(Vec<(usize, u64)>),
}

/// Scale and zero point of one element, as nodes.
#[derive(Clone, Copy)]
struct ElementQuantization {
    scale: ScalarNode,
    zero_point: ScalarNode,
}

impl StablehloTranslator<'_> {
    fn quantized_type(&self, ty: MlirType) -> Option<&QuantizedType> {
        match self.module.types.kind(ty) {
            MlirTypeKind::Quantized(quantized) => Some(quantized),
            _ => None,
        }
    }

    /// The type of the real numbers that a quantised type represents; other types are returned as
    /// they are.
    pub fn expressed_element(&self, element: TensorElement) -> TensorElement {
        let TensorElement::Quantized { ty, .. } = element else {
            return element;
        };
        let expressed = self.quantized_type(ty).map(|quantized| quantized.expressed);
        let found = expressed.and_then(|ty| TensorElement::from_type(self.module, ty));
        found.unwrap_or(element)
    }

    fn load_quantization_parameters(
        &mut self,
        op: MlirOp,
        tensor: &TypedTensor,
        ty: MlirType,
    ) -> TranslateResult<QuantizationParameters> {
        let unknown = || self.unsupported_error(op, "kind of quantisation");
        let quantized = self.quantized_type(ty).ok_or_else(unknown)?;
        let shape = self.tensor_shape(tensor);
        let (sizes, along) = spread_parameters(quantized, &shape)
            .ok_or_else(|| self.invalid_error(op, "has a wrong number of scales"))?;
        let scales = self.round_scales(tensor.element, quantized);
        let points = list_zero_points(quantized);
        let mut made = |literals: Vec<ScalarLiteral>| match along {
            // One value is computed where it is used.
            QuantizationAxes::Tensor => self.builder.add_splat(literals[0], &[]),
            QuantizationAxes::Dimensions(_) => {
                let ty = DenseTensorType::new(literals[0].ty, &sizes);
                let size = ty.element.size() as usize;
                let bytes = literals
                    .iter()
                    .flat_map(|l| l.bits.to_le_bytes()[..size].to_vec());
                let bytes = bytes.collect();
                self.builder.add_constant(TensorConstant { ty, bytes })
            }
        };
        Ok(QuantizationParameters {
            scale: made(scales),
            zero_point: made(points),
            along,
        })
    }

    /// The scales in a type that can be computed with; they are rounded at compile time.
    fn round_scales(
        &self,
        element: TensorElement,
        quantized: &QuantizedType,
    ) -> Vec<ScalarLiteral> {
        let is_wide = self.expressed_element(element).storage_type() == Ty::F64;
        let scales = quantized.parameters.iter().map(|(bits, _)| {
            if is_wide {
                ScalarLiteral::new(Ty::F64, *bits)
            } else {
                ScalarLiteral::new(Ty::F32, (f64::from_bits(*bits) as f32).to_bits().into())
            }
        });
        scales.collect()
    }

    /// The real numbers that a tensor represents.
    pub fn dequantize_tensor(
        &mut self,
        op: MlirOp,
        tensor: &TypedTensor,
    ) -> TranslateResult<TypedTensor> {
        let TensorElement::Quantized { ty, .. } = tensor.element else {
            return Ok(tensor.clone());
        };
        let parameters = self.load_quantization_parameters(op, tensor, ty)?;
        let shape = self.tensor_shape(tensor);
        self.map_points(&shape, |t, s, point| {
            let stored = t.read_element(s, tensor, point);
            let at = parameters.read_element_parameters(t, s, point);
            t.dequantize_scalar(op, &mut s.body, &stored, at)
        })
    }

    /// Real numbers as a quantised tensor.
    pub fn quantize_tensor(
        &mut self,
        op: MlirOp,
        tensor: &TypedTensor,
        to: TensorElement,
    ) -> TranslateResult<TypedTensor> {
        let TensorElement::Quantized { ty, .. } = to else {
            return Err(self.unsupported_error(op, "kind of quantisation"));
        };
        let like = TypedTensor::from_components(to, &tensor.parts);
        let parameters = self.load_quantization_parameters(op, &like, ty)?;
        let shape = self.tensor_shape(tensor);
        self.map_points(&shape, |t, s, point| {
            let value = t.read_element(s, tensor, point);
            let at = parameters.read_element_parameters(t, s, point);
            t.quantize_scalar(op, &mut s.body, &value, to, at)
        })
    }

    /// The real number that a quantised scalar represents; other scalars are returned as they are.
    pub(super) fn real_scalar(
        &self,
        op: MlirOp,
        body: &mut NodeGraph,
        val: ElementValue,
    ) -> TranslateResult<ElementValue> {
        match self.scalar_parameters(op, body, val.element)? {
            Some(at) => self.dequantize_scalar(op, body, &val, at),
            None => Ok(val),
        }
    }

    /// A scalar converted to another type, quantised if the type is.
    pub(super) fn stored_scalar(
        &self,
        op: MlirOp,
        body: &mut NodeGraph,
        val: ElementValue,
        to: TensorElement,
    ) -> TranslateResult<ElementValue> {
        match self.scalar_parameters(op, body, to)? {
            Some(at) => self.quantize_scalar(op, body, &val, to, at),
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
        let quantized = self.quantized_type(ty);
        let quantized = quantized.filter(|quantized| quantized.parameters.len() == 1);
        let quantized =
            quantized.ok_or_else(|| self.unsupported_error(op, "kind of quantisation"))?;
        Ok(Some(ElementQuantization {
            scale: body.intern_literal(self.round_scales(element, quantized)[0]),
            zero_point: body.intern_literal(list_zero_points(quantized)[0]),
        }))
    }

    fn dequantize_scalar(
        &self,
        op: MlirOp,
        body: &mut NodeGraph,
        stored: &ElementValue,
        at: ElementQuantization,
    ) -> TranslateResult<ElementValue> {
        let expressed = self.expressed_element(stored.element);
        let TensorElement::Float(float) = expressed else {
            return Err(self.unsupported_error(op, "kind of quantisation"));
        };
        let mut c = ScalarBuilder::new(body);
        let is_signed = !stored.element.is_unsigned();
        let ty = c.node_type(at.zero_point);
        let integer = c.resize_integer(ty, is_signed, stored.node());
        let offset = c.sub(integer, at.zero_point);
        let ty = c.node_type(at.scale);
        let offset = c.body.apply_conversion(Scalar::SToF, ty, offset);
        let value = c.mul(offset, at.scale);
        Ok(ElementValue::new(expressed, c.encode_float(float, value)))
    }

    fn quantize_scalar(
        &self,
        op: MlirOp,
        body: &mut NodeGraph,
        val: &ElementValue,
        to: TensorElement,
        at: ElementQuantization,
    ) -> TranslateResult<ElementValue> {
        let unknown = || self.unsupported_error(op, "kind of quantisation");
        let (TensorElement::Quantized { ty, .. }, TensorElement::Float(float)) = (to, val.element)
        else {
            return Err(unknown());
        };
        let quantized = self.quantized_type(ty).ok_or_else(unknown)?;
        let mut c = ScalarBuilder::new(body);
        let value = c.decode_wide(float, val.node());
        let quotient = c.div(value, at.scale);
        let rounded = c.apply_unary(Scalar::Round, quotient);
        let ty = c.node_type(rounded);
        let zero_point = c.body.apply_conversion(Scalar::SToF, ty, at.zero_point);
        let moved = c.add(rounded, zero_point);
        let low = c.constant_like(moved, quantized.min as f64);
        let high = c.constant_like(moved, quantized.max as f64);
        let moved = c.maximum(low, moved);
        let moved = c.minimum(moved, high);
        let value = match ty {
            Ty::F64 => TensorElement::Float(MlirFloat::F64),
            _ => TensorElement::Float(MlirFloat::F32),
        };
        let integer = c.convert_value(&ElementValue::new(value, moved), to.stored_element());
        Ok(ElementValue::new(to, integer.ok_or_else(unknown)?.node()))
    }
}

/// Zero points, in an integer type that holds their distance to stored values.
fn list_zero_points(quantized: &QuantizedType) -> Vec<ScalarLiteral> {
    let is_small = |n: i64| n.unsigned_abs() < 1 << 30;
    let mut all = quantized.parameters.iter().map(|(_, point)| *point);
    let bounds = [quantized.min, quantized.max];
    let ty = if all.by_ref().chain(bounds).all(is_small) {
        Ty::I32
    } else {
        Ty::I64
    };
    let all = quantized.parameters.iter();
    all.map(|(_, point)| ScalarLiteral::new(ty, ty.truncate_bits(*point as u64)))
        .collect()
}

/// Sizes of the tensor of parameters and the elements that share them, if they fit a shape.
fn spread_parameters(
    quantized: &QuantizedType,
    shape: &[DimExtent],
) -> Option<(Vec<u64>, QuantizationAxes)> {
    let count = quantized.parameters.len() as u64;
    let (sizes, along) = match &quantized.axis {
        QuantizationGranularity::Tensor => (vec![], QuantizationAxes::Tensor),
        QuantizationGranularity::Axis(axis) => {
            let axis = *axis as usize;
            (shape.get(axis)?.as_static() == Some(count)).then_some(())?;
            (vec![count], QuantizationAxes::Dimensions(vec![(axis, 1)]))
        }
        QuantizationGranularity::Blocks { sizes, shape: list } => {
            let mut along = Vec::new();
            (sizes.len() == list.len()).then_some(())?;
            for ((dimension, size), count) in sizes.iter().zip(list) {
                let whole = shape.get(*dimension as usize)?.as_static()?;
                (*size > 0 && size.checked_mul(*count) == Some(whole)).then_some(())?;
                along.push((*dimension as usize, *size));
            }
            (list.to_vec(), QuantizationAxes::Dimensions(along))
        }
    };
    (count > 0 && sizes.iter().product::<u64>() == count).then_some((sizes, along))
}

impl QuantizationParameters {
    fn read_element_parameters(
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
                        let size = c.body.intern_i64(*size as i64);
                        c.apply_binary(Scalar::SDiv, point[*dimension], size)
                    }
                });
                index.collect()
            }
        };
        let mut read = |value| {
            s.body
                .intern_element(value, t.builder.ty(value).element, &position)
        };
        ElementQuantization {
            scale: read(self.scale),
            zero_point: read(self.zero_point),
        }
    }
}

/// `uniform_quantize`, of real numbers or of numbers quantised otherwise.
pub(super) fn uniform_quantize(t: &mut StablehloTranslator<'_>, op: MlirOp) -> TranslateResult<()> {
    let operand = t.tensor_operand(op, 0)?;
    let to = t.result_element(op, 0)?;
    let real = t.dequantize_tensor(op, &operand)?;
    let result = t.quantize_tensor(op, &real, to)?;
    t.bind_result(op, result)
}

/// `uniform_dequantize`
pub(super) fn uniform_dequantize(
    t: &mut StablehloTranslator<'_>,
    op: MlirOp,
) -> TranslateResult<()> {
    let operand = t.tensor_operand(op, 0)?;
    let result = t.dequantize_tensor(op, &operand)?;
    t.bind_result(op, result)
}

//! `fft`: discrete Fourier transforms, each length factored (Cooley and Tukey,
//! "An algorithm for the machine calculation of complex Fourier series", 1965).
//!
//! Each factor is a pass over the elements ([`FourierPass`]). Passes leave their results in an order that needs no permutation at
//! the end (T. G. Stockham, "High-speed convolution and correlation", 1966).

use super::element::TensorElement;
use super::error::TranslateResult;
use super::fourier_factors::choose_factor;
use super::fourier_pass::FourierPass;
use super::real_fourier::{transform_half, transform_real};
use super::scalar::ScalarBuilder;
use super::translator::{StablehloTranslator, TypedTensor};
use super::unity_root::FourierDirection;
use crate::dialect::FftType;
use crate::dialect::records::FftAttributes;
use crate::mlir::MlirOp;
use spirula_program::ScalarType as Ty;
use spirula_tensor::ir::{DenseTensorType, DimExtent, TensorConstant};

/// Maximum length of a transform.
const LONGEST: u64 = 1 << 24;

/// `fft`
pub(super) fn translate_fft(t: &mut StablehloTranslator<'_>, op: MlirOp) -> TranslateResult<()> {
    let operand = t.tensor_operand(op, 0)?;
    let FftAttributes {
        fft_type,
        fft_length,
    } = t.read_attributes(op)?;
    let lengths = fft_length.values;
    let (result, _) = t.result_type(op, 0)?;
    let rank = t.tensor_shape(&operand).len();
    let is_known = (1..=rank).contains(&lengths.len())
        && lengths.iter().all(|n| (0..=LONGEST as i64).contains(n));
    t.ensure_holds(op, is_known, "has wrong lengths")?;
    let float = match (
        operand.element.component_element(),
        result.component_element(),
    ) {
        (TensorElement::Float(float), TensorElement::Float(other)) if float == other => float,
        _ => return Err(t.unsupported_error(op, format!("fft of {}", operand.element))),
    };
    let first = rank - lengths.len();
    let last = rank - 1;
    let length = *lengths.last().unwrap_or(&1) as u64;
    let complex = TensorElement::Complex(float);
    let others: Vec<usize> = (first..last).rev().collect();
    let is_even = length > 0 && length.is_multiple_of(2);
    let result = match fft_type {
        FftType::InverseReal => {
            let mut tensor = operand;
            for axis in others {
                tensor = transform_dimension(t, op, &tensor, axis, FourierDirection::Inverse)?;
            }
            if is_even {
                let result = transform_half(t, op, &tensor, length)?;
                return t.bind_result(op, result);
            }
            tensor = mirror_conjugate_half(t, op, &tensor, length)?;
            let whole = transform_dimension(t, op, &tensor, last, FourierDirection::Inverse)?;
            TypedTensor::new(TensorElement::Float(float), whole.first_component())
        }
        _ => {
            let direction = match fft_type {
                FftType::Inverse => FourierDirection::Inverse,
                _ => FourierDirection::Forward,
            };
            let is_real = fft_type == FftType::Real;
            let mut tensor = if is_real && is_even {
                transform_real(t, op, &operand, complex, length)?
            } else {
                let tensor = t.convert_tensor(op, &operand, complex)?;
                transform_dimension(t, op, &tensor, last, direction)?
            };
            if is_real && !is_even {
                let mut shape = t.tensor_shape(&tensor);
                shape[last] = DimExtent::Static(if length == 0 { 0 } else { length / 2 + 1 });
                tensor = t.gather_elements(&tensor, &shape, |_, point| point.to_vec())?;
            }
            for axis in others {
                tensor = transform_dimension(t, op, &tensor, axis, direction)?;
            }
            tensor
        }
    };
    t.bind_result(op, result)
}

/// A tensor of conjugate symmetry and odd length, from its first half.
fn mirror_conjugate_half(
    t: &mut StablehloTranslator<'_>,
    op: MlirOp,
    tensor: &TypedTensor,
    length: u64,
) -> TranslateResult<TypedTensor> {
    let mut shape = t.tensor_shape(tensor);
    let last = shape.len() - 1;
    let half = if length == 0 { 0 } else { length / 2 + 1 };
    t.ensure_holds(
        op,
        shape[last] == DimExtent::Static(half),
        "has an operand of another length",
    )?;
    shape[last] = DimExtent::Static(length);
    t.map_points(&shape, |t, s, point| {
        let mut c = ScalarBuilder::new(&mut s.body);
        let (half, whole) = (
            c.body.intern_i64(half as i64),
            c.body.intern_i64(length as i64),
        );
        let is_given = c.lt(point[last], half);
        let other = c.sub(whole, point[last]);
        let mut position = point.to_vec();
        position[last] = c.select(is_given, point[last], other);
        let mut val = t.read_element(s, tensor, &position);
        let mut c = ScalarBuilder::new(&mut s.body);
        let negative = c.neg(val.nodes[1]);
        val.nodes[1] = c.select(is_given, val.nodes[1], negative);
        // The element that is its own mirror image is real.
        let (zero, nothing) = (
            c.body.intern_i64(0),
            c.integer_constant(tensor.element.storage_type(), 0),
        );
        let is_first = c.eq(point[last], zero);
        val.nodes[1] = c.select(is_first, nothing, val.nodes[1]);
        Ok(val)
    })
}

/// A transform along a dimension.
pub(super) fn transform_dimension(
    t: &mut StablehloTranslator<'_>,
    op: MlirOp,
    tensor: &TypedTensor,
    axis: usize,
    direction: FourierDirection,
) -> TranslateResult<TypedTensor> {
    let n = t.static_sizes(op, tensor)?[axis];
    let scale = match direction {
        FourierDirection::Forward => 1.0,
        FourierDirection::Inverse => 1.0 / n.max(1) as f64,
    };
    transform_scaled(t, op, tensor, axis, direction, scale)
}

/// A sum along a dimension with the roots of unity of a direction, times a factor.
pub(super) fn transform_scaled(
    t: &mut StablehloTranslator<'_>,
    op: MlirOp,
    tensor: &TypedTensor,
    axis: usize,
    direction: FourierDirection,
    scale: f64,
) -> TranslateResult<TypedTensor> {
    let shape = t.tensor_shape(tensor);
    let sizes = t.static_sizes(op, tensor)?;
    let n = sizes[axis];
    if n <= 1 || sizes.contains(&0) {
        return Ok(tensor.clone());
    }
    let inner: u64 = sizes[axis + 1..].iter().product();
    let mut pass = FourierPass {
        before: sizes[..axis].to_vec(),
        after: sizes[axis + 1..].to_vec(),
        factor: 1,
        rest: n,
        done: 1,
        direction,
        scale: 1.0,
    };
    let mut tensor = t.reshape_tensor(op, tensor, pass.next_shape())?;
    while pass.rest > 1 {
        pass.factor = choose_factor(pass.rest, pass.done * inner);
        pass.rest /= pass.factor;
        if pass.rest == 1 {
            pass.scale = scale;
        }
        tensor = pass.transform_tensor(t, op, &tensor)?;
        pass.done *= pass.factor;
        pass.factor = 1;
        tensor = t.reshape_tensor(op, &tensor, pass.next_shape())?;
    }
    t.reshape_tensor(op, &tensor, shape)
}

/// Roots of unity `w^turn` for `w = e^(∓2πi/n)`, as a constant.
pub(super) fn make_unity_roots(
    t: &mut StablehloTranslator<'_>,
    element: TensorElement,
    shape: &[u64],
    n: u64,
    direction: FourierDirection,
    turns: impl Iterator<Item = u64>,
) -> TypedTensor {
    let values = turns.map(|turn| direction.unity_root(turn, n));
    let values: Vec<[f64; 2]> = values.collect();
    complex_constant(t, element, shape, &values)
}

/// Complex numbers as a constant.
pub(super) fn complex_constant(
    t: &mut StablehloTranslator<'_>,
    element: TensorElement,
    shape: &[u64],
    values: &[[f64; 2]],
) -> TypedTensor {
    let is_double = element.storage_type() == Ty::F64;
    let parts = [0, 1].map(|part| {
        let bytes = values.iter().flat_map(|value| {
            if is_double {
                value[part].to_le_bytes().to_vec()
            } else {
                (value[part] as f32).to_le_bytes().to_vec()
            }
        });
        let bytes = bytes.collect();
        t.builder.add_constant(TensorConstant {
            ty: DenseTensorType::new(element.storage_type(), shape),
            bytes,
        })
    });
    TypedTensor::from_components(element, &parts)
}

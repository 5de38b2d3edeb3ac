//! `bitcast_convert`: the same bits as elements of another type.

use super::element::TensorElement;
use super::error::TranslateResult;
use super::scalar::{ElementValue, ScalarBuilder};
use super::translator::{StablehloTranslator, TypedTensor};
use crate::mlir::MlirOp;
use spirula_program::{ScalarOp as Scalar, ScalarType as Ty};
use spirula_tensor::ir::{DimExtent, ScalarNode, StructuredOp};

/// Bits of one part of an element.
fn component_width(element: TensorElement) -> u32 {
    match element.stored_element() {
        TensorElement::Bool => 1,
        TensorElement::Int { width, .. } => width,
        TensorElement::Float(float) | TensorElement::Complex(float) => float.width(),
        TensorElement::Quantized { width, .. } => width,
    }
}

/// Bits of an element.
fn element_width(element: TensorElement) -> u32 {
    component_width(element) * element.component_count() as u32
}

/// The bits of a part in an `i64`.
fn component_to_bits(
    c: &mut ScalarBuilder<'_>,
    element: TensorElement,
    node: ScalarNode,
) -> ScalarNode {
    let wide = match element.storage_type() {
        Ty::Bool => c.body.apply_conversion(Scalar::FromBool, Ty::I64, node),
        ty if ty.is_float() => {
            let of = match ty {
                Ty::F16 => Ty::I16,
                Ty::F32 => Ty::I32,
                _ => Ty::I64,
            };
            let bits = c.cast_bits(of, node);
            c.resize_integer(Ty::I64, false, bits)
        }
        _ => c.resize_integer(Ty::I64, false, node),
    };
    match component_width(element) {
        width if width < 8 => c.apply_with_constant(Scalar::And, wide, (1 << width) - 1),
        _ => wide,
    }
}

/// The part in the low bits of an `i64`.
fn component_from_bits(
    c: &mut ScalarBuilder<'_>,
    element: TensorElement,
    bits: ScalarNode,
) -> ScalarNode {
    match element.storage_type() {
        Ty::Bool => {
            let low = c.apply_with_constant(Scalar::And, bits, 1);
            c.body.apply_conversion(Scalar::ToBool, Ty::Bool, low)
        }
        ty if ty.is_float() => {
            let of = match ty {
                Ty::F16 => Ty::I16,
                Ty::F32 => Ty::I32,
                _ => Ty::I64,
            };
            let narrow = c.resize_integer(of, false, bits);
            c.cast_bits(ty, narrow)
        }
        ty => {
            let narrow = c.resize_integer(ty, false, bits);
            match element {
                TensorElement::Float(float) if float.width() < 8 => {
                    c.apply_with_constant(Scalar::And, narrow, (1 << float.width()) - 1)
                }
                _ => c.wrap_integer(element.stored_element(), narrow),
            }
        }
    }
}

/// The same bits as an element of another type of the same width.
pub(super) fn bitcast_value(
    c: &mut ScalarBuilder<'_>,
    v: &[ElementValue],
    to: TensorElement,
) -> Option<ElementValue> {
    let [val] = v else { return None };
    let fits = val.nodes.len() == 1
        && to.component_count() == 1
        && element_width(val.element) == element_width(to);
    let bits = component_to_bits(c, val.element, val.node());
    fits.then(|| ElementValue::new(to, component_from_bits(c, to, bits)))
}

/// `bitcast_convert`
pub(super) fn bitcast_convert(t: &mut StablehloTranslator<'_>, op: MlirOp) -> TranslateResult<()> {
    let operand = t.tensor_operand(op, 0)?;
    let to = t.result_element(op, 0)?;
    let from = operand.element;
    let mut shape = t.tensor_shape(&operand);
    let (from_bits, to_bits) = (element_width(from), element_width(to));
    // The narrower one has a last dimension with the pieces of an element of the wider one.
    let (many, one) = (from_bits.max(to_bits), from_bits.min(to_bits));
    let pieces = DimExtent::Static(u64::from(many / one));
    let fits = match from_bits.cmp(&to_bits) {
        std::cmp::Ordering::Equal => true,
        std::cmp::Ordering::Greater => {
            shape.push(pieces);
            true
        }
        std::cmp::Ordering::Less => shape.pop() == Some(pieces),
    };
    t.ensure_holds(op, fits && many % one == 0, "has a result of another size")?;
    let result = t.map_points(&shape, |t, s, point| {
        let nodes = (0..to.component_count() as u32).map(|at| {
            let first = at * component_width(to);
            if from_bits > to_bits {
                bitcast_to_narrower(t, s, &operand, to, point, first)
            } else {
                bitcast_to_wider(t, s, &operand, to, point, first)
            }
        });
        let nodes = nodes.collect();
        Ok(ElementValue { element: to, nodes })
    })?;
    t.bind_result(op, result)
}

/// A part that begins at a bit of the piece at the last index.
fn bitcast_to_narrower(
    t: &StablehloTranslator<'_>,
    s: &mut StructuredOp,
    operand: &TypedTensor,
    to: TensorElement,
    point: &[ScalarNode],
    first: u32,
) -> ScalarNode {
    let from = operand.element;
    let (piece, position) = (point[point.len() - 1], &point[..point.len() - 1]);
    let val = t.read_element(s, operand, position);
    let mut c = ScalarBuilder::new(&mut s.body);
    let size = c.body.intern_i64(element_width(to).into());
    let offset = c.mul(piece, size);
    let first = c.body.intern_i64(first.into());
    let offset = c.add(offset, first);
    let (own, within) = match from.component_count() {
        1 => (component_to_bits(&mut c, from, val.node()), offset),
        _ => {
            let [re, im] = val.as_complex();
            let (re, im) = (
                component_to_bits(&mut c, from, re),
                component_to_bits(&mut c, from, im),
            );
            let half = c.body.intern_i64(component_width(from).into());
            let is_real = c.lt(offset, half);
            let rest = c.apply_binary(Scalar::SMod, offset, half);
            (c.select(is_real, re, im), rest)
        }
    };
    let shifted = c.apply_binary(Scalar::LShr, own, within);
    component_from_bits(&mut c, to, shifted)
}

/// A part from its first bit on, composed of as many elements as it spans.
fn bitcast_to_wider(
    t: &StablehloTranslator<'_>,
    s: &mut StructuredOp,
    operand: &TypedTensor,
    to: TensorElement,
    point: &[ScalarNode],
    first: u32,
) -> ScalarNode {
    let from = operand.element;
    let count = element_width(to) / element_width(from);
    let mut sum: Option<ScalarNode> = None;
    for piece in 0..count {
        let mut position = point.to_vec();
        if count > 1 {
            position.push(s.body.intern_i64(piece.into()));
        }
        let val = t.read_element(s, operand, &position);
        let mut c = ScalarBuilder::new(&mut s.body);
        for (at, node) in val.nodes.iter().enumerate() {
            let start = piece * element_width(from) + at as u32 * component_width(from);
            let is_inside = (first..first + component_width(to)).contains(&start);
            let is_around = start <= first && first < start + component_width(from);
            if !is_inside && !is_around {
                continue;
            }
            let bits = component_to_bits(&mut c, from, *node);
            let moved = if start >= first {
                c.apply_with_constant(Scalar::Shl, bits, (start - first).into())
            } else {
                c.apply_with_constant(Scalar::LShr, bits, (first - start).into())
            };
            sum = Some(match sum {
                None => moved,
                Some(sum) => c.apply_binary(Scalar::Or, sum, moved),
            });
        }
    }
    let mut c = ScalarBuilder::new(&mut s.body);
    let sum = sum.unwrap_or_else(|| c.body.intern_i64(0));
    component_from_bits(&mut c, to, sum)
}

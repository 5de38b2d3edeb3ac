//! `bitcast_convert`: the same bits as elements of another type.

use super::element::TensorElement;
use super::error::TranslateResult;
use super::scalar::{ElementValue, ScalarBuilder};
use super::translator::{StablehloTranslator, TypedTensor};
use crate::mlir::MlirOp;
use spirula_program::{ScalarOp as Scalar, ScalarType as Ty};
use spirula_tensor::ir::{DimExtent, ScalarNode, StructuredOp};

/// Bits of one part of an element.
fn width(element: TensorElement) -> u32 {
    match element.stored() {
        TensorElement::Bool => 1,
        TensorElement::Int { width, .. } => width,
        TensorElement::Float(float) | TensorElement::Complex(float) => float.width(),
        TensorElement::Quantized { width, .. } => width,
    }
}

/// Bits of an element.
fn whole(element: TensorElement) -> u32 {
    width(element) * element.parts() as u32
}

/// A part's bits in an `i64`.
fn bits(c: &mut ScalarBuilder<'_>, element: TensorElement, node: ScalarNode) -> ScalarNode {
    let wide = match element.storage() {
        Ty::Bool => c.body.convert(Scalar::FromBool, Ty::I64, node),
        ty if ty.is_float() => {
            let of = match ty {
                Ty::F16 => Ty::I16,
                Ty::F32 => Ty::I32,
                _ => Ty::I64,
            };
            let bits = c.cast_bits(of, node);
            c.resize(Ty::I64, false, bits)
        }
        _ => c.resize(Ty::I64, false, node),
    };
    match width(element) {
        width if width < 8 => c.with(Scalar::And, wide, (1 << width) - 1),
        _ => wide,
    }
}

/// The part that the low bits of an `i64` are.
fn part(c: &mut ScalarBuilder<'_>, element: TensorElement, bits: ScalarNode) -> ScalarNode {
    match element.storage() {
        Ty::Bool => {
            let low = c.with(Scalar::And, bits, 1);
            c.body.convert(Scalar::ToBool, Ty::Bool, low)
        }
        ty if ty.is_float() => {
            let of = match ty {
                Ty::F16 => Ty::I16,
                Ty::F32 => Ty::I32,
                _ => Ty::I64,
            };
            let narrow = c.resize(of, false, bits);
            c.cast_bits(ty, narrow)
        }
        ty => {
            let narrow = c.resize(ty, false, bits);
            match element {
                TensorElement::Float(float) if float.width() < 8 => {
                    c.with(Scalar::And, narrow, (1 << float.width()) - 1)
                }
                _ => c.wrap(element.stored(), narrow),
            }
        }
    }
}

/// The same bits as an element of another type of the same width.
pub(super) fn recast(
    c: &mut ScalarBuilder<'_>,
    v: &[ElementValue],
    to: TensorElement,
) -> Option<ElementValue> {
    let [val] = v else { return None };
    let fits = val.nodes.len() == 1 && to.parts() == 1 && whole(val.element) == whole(to);
    let bits = bits(c, val.element, val.node());
    fits.then(|| ElementValue::new(to, part(c, to, bits)))
}

/// `bitcast_convert`
pub(super) fn bitcast_convert(t: &mut StablehloTranslator<'_>, op: MlirOp) -> TranslateResult<()> {
    let operand = t.operand(op, 0)?;
    let to = t.result_element(op, 0)?;
    let from = operand.element;
    let mut shape = t.shape(&operand);
    let (from_bits, to_bits) = (whole(from), whole(to));
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
    t.ensure(op, fits && many % one == 0, "has a result of another size")?;
    let result = t.map(&shape, |t, s, point| {
        let nodes = (0..to.parts() as u32).map(|at| {
            let first = at * width(to);
            match from_bits > to_bits {
                true => narrowed(t, s, &operand, to, (point, first)),
                false => widened(t, s, &operand, to, (point, first)),
            }
        });
        let nodes = nodes.collect();
        Ok(ElementValue { element: to, nodes })
    })?;
    t.give_one(op, result)
}

/// A part that begins at a bit of the piece that the last index names.
fn narrowed(
    t: &StablehloTranslator<'_>,
    s: &mut StructuredOp,
    operand: &TypedTensor,
    to: TensorElement,
    (point, first): (&[ScalarNode], u32),
) -> ScalarNode {
    let from = operand.element;
    let (piece, position) = (point[point.len() - 1], &point[..point.len() - 1]);
    let val = t.read(s, operand, position);
    let mut c = ScalarBuilder::new(&mut s.body);
    let size = c.body.i64(whole(to).into());
    let offset = c.mul(piece, size);
    let first = c.body.i64(first.into());
    let offset = c.add(offset, first);
    let (own, within) = match from.parts() {
        1 => (bits(&mut c, from, val.node()), offset),
        _ => {
            let [re, im] = val.complex();
            let (re, im) = (bits(&mut c, from, re), bits(&mut c, from, im));
            let half = c.body.i64(width(from).into());
            let is_real = c.lt(offset, half);
            let rest = c.op2(Scalar::SMod, offset, half);
            (c.cond(is_real, re, im), rest)
        }
    };
    let shifted = c.op2(Scalar::LShr, own, within);
    part(&mut c, to, shifted)
}

/// A part from its first bit on, put together of as many elements as it has.
fn widened(
    t: &StablehloTranslator<'_>,
    s: &mut StructuredOp,
    operand: &TypedTensor,
    to: TensorElement,
    (point, first): (&[ScalarNode], u32),
) -> ScalarNode {
    let from = operand.element;
    let count = whole(to) / whole(from);
    let mut sum: Option<ScalarNode> = None;
    for piece in 0..count {
        let mut position = point.to_vec();
        if count > 1 {
            position.push(s.body.i64(piece.into()));
        }
        let val = t.read(s, operand, &position);
        let mut c = ScalarBuilder::new(&mut s.body);
        for (at, node) in val.nodes.iter().enumerate() {
            let start = piece * whole(from) + at as u32 * width(from);
            let is_inside = (first..first + width(to)).contains(&start);
            let is_around = start <= first && first < start + width(from);
            if !is_inside && !is_around {
                continue;
            }
            let bits = bits(&mut c, from, *node);
            let moved = match start >= first {
                true => c.with(Scalar::Shl, bits, (start - first).into()),
                false => c.with(Scalar::LShr, bits, (first - start).into()),
            };
            sum = Some(match sum {
                None => moved,
                Some(sum) => c.op2(Scalar::Or, sum, moved),
            });
        }
    }
    let mut c = ScalarBuilder::new(&mut s.body);
    let sum = sum.unwrap_or_else(|| c.body.i64(0));
    part(&mut c, to, sum)
}

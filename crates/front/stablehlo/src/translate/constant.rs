//! Translation of constants.

use super::element::TensorElement;
use super::error::TranslateResult;
use super::translator::{StablehloTranslator, TypedTensor, static_shape, tensor_type};
use crate::dialect::ElementsAttribute;
use crate::dialect::records::ConstantAttributes;
use crate::mlir::{ElementsRef, MlirOp};
use spirula_program::{ScalarLiteral, ScalarType};
use spirula_tensor::ir::{DenseTensorType, TensorConstant, TensorValue};

/// Translates the elements of an attribute into a constant tensor.
pub(super) fn translate_elements(
    t: &mut StablehloTranslator<'_>,
    op: MlirOp,
    value: ElementsAttribute,
) -> TranslateResult<TypedTensor> {
    let module = t.module;
    let found = value.elements(module);
    let found = found.ok_or_else(|| t.unsupported_error(op, "constant without elements"))?;
    let (element, shape) = tensor_type(module, module.source_location(op), found.ty)?;
    let shape = static_shape(&shape).ok_or_else(|| t.dynamic_dimension_error(op))?;
    let stored = element.stored_element();
    let ty = DenseTensorType {
        element: stored.storage_type(),
        shape,
    };
    let count = ty.element_count().unwrap_or(0);
    let parts = stored.component_count();
    let width = found.data.len()
        / parts
        / if found.splat {
            1
        } else {
            count.max(1) as usize
        };
    let expected = if found.splat { 1 } else { count as usize } * parts * width;
    let is_whole = (count == 0 || found.data.len() == expected) && width <= 8;
    t.ensure_holds(op, is_whole, "has elements of another type")?;
    let mut tensors: Vec<TensorValue> = Vec::new();
    for part in 0..parts {
        tensors.push(if found.splat || count == 0 {
            let bits = read_element_bits(stored, &found, width, part);
            t.builder
                .add_splat(ScalarLiteral::new(ty.element, bits), &ty.shape)
        } else {
            let size = ty.element.size() as usize;
            let mut bytes = Vec::with_capacity(count as usize * size);
            for at in 0..count as usize {
                let bits = read_element_bits(stored, &found, width, at * parts + part);
                bytes.extend_from_slice(&bits.to_le_bytes()[..size]);
            }
            t.builder.add_constant(TensorConstant {
                ty: ty.clone(),
                bytes,
            })
        });
    }
    Ok(TypedTensor::from_components(element, &tensors))
}

/// An element, as it is stored.
fn read_element_bits(
    element: TensorElement,
    elements: &ElementsRef<'_>,
    width: usize,
    at: usize,
) -> u64 {
    let bytes = elements
        .data
        .get(at * width..(at + 1) * width)
        .unwrap_or(&[]);
    let bits = bytes
        .iter()
        .rev()
        .fold(0, |bits, b| bits << 8 | u64::from(*b));
    stored_bits(element, bits)
}

/// The low bits of an element as it is stored: with their sign, if the type has one.
pub(super) fn stored_bits(element: TensorElement, bits: u64) -> u64 {
    match element {
        TensorElement::Int { width, signed } if width < 8 => {
            let shift = 64 - width;
            let extended = if signed {
                (((bits << shift) as i64) >> shift) as u64
            } else {
                bits << shift >> shift
            };
            element.storage_type().truncate_bits(extended)
        }
        _ => bits,
    }
}

/// The value of a constant of one element.
pub(super) fn scalar_bits(
    t: &StablehloTranslator<'_>,
    op: MlirOp,
    element: TensorElement,
) -> Option<Vec<ScalarLiteral>> {
    let ConstantAttributes { value } = t.read_attributes(op).ok()?;
    let found = value.elements(t.module)?;
    let parts = element.component_count();
    let width = found.data.len() / parts;
    let literal = |part| {
        let bits = read_element_bits(element, &found, width, part);
        ScalarLiteral::new(element.storage_type(), bits)
    };
    let is_one = found.splat || t.module.types.element_count(found.ty) == Some(1);
    (is_one && width > 0 && width <= ScalarType::I64.size() as usize)
        .then(|| (0..parts).map(literal).collect())
}

/// The numbers of an integer constant of `count` elements.
pub(super) fn scalar_list(
    t: &StablehloTranslator<'_>,
    op: MlirOp,
    element: TensorElement,
    count: usize,
) -> Option<Vec<i64>> {
    let ConstantAttributes { value } = t.read_attributes(op).ok()?;
    let found = value.elements(t.module)?;
    let width = if found.splat {
        found.data.len()
    } else {
        found.data.len().checked_div(count)?
    };
    let number = |at: usize| {
        let at = if found.splat { 0 } else { at };
        let literal = ScalarLiteral::new(
            element.storage_type(),
            read_element_bits(element, &found, width, at),
        );
        if element.is_unsigned() || element == TensorElement::Bool {
            literal.bits as i64
        } else {
            literal.to_signed()
        }
    };
    (width <= 8).then(|| (0..count).map(number).collect())
}

/// `constant`
pub(super) fn translate_constant(
    t: &mut StablehloTranslator<'_>,
    op: MlirOp,
) -> TranslateResult<()> {
    let ConstantAttributes { value } = t.read_attributes(op)?;
    let mut tensor = translate_elements(t, op, value)?;
    let declared = t.result_element(op, 0)?;
    // Elements of a quantised type are written as integers of its storage type.
    if declared.stored_element() == tensor.element {
        tensor.element = declared;
    }
    t.bind_result(op, tensor)
}

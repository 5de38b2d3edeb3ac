//! `map`, `chlo.scan`, and collectives of one device.

use super::error::TranslateResult;
use super::movement::select_value;
use super::scalar::{ElementValue, ScalarBuilder};
use super::scalar_region;
use super::translator::{StablehloTranslator, TranslatedValue, TypedTensor};
use crate::dialect::records::{CollectiveAttributes, CollectivePermuteAttributes, ScanAttributes};
use crate::mlir::MlirOp;
use crate::sharding::read_replica_groups;
use spirula_program::ScalarType as Ty;
use spirula_tensor::ir::{DimExtent, StructuredOp, TensorShape, TensorValue};

/// `map`: a region applied to each element.
pub(super) fn translate_map(t: &mut StablehloTranslator<'_>, op: MlirOp) -> TranslateResult<()> {
    let operands = t.tensor_operands(op)?;
    let shape = t.common_shape(op, &operands)?;
    let block = t.region_block(op, 0)?;
    let mut s = StructuredOp::with_parallel_axes(&shape);
    let point = s.axis_indices();
    let values = operands
        .iter()
        .map(|operand| t.read_element(&mut s, operand, &point));
    let values: Vec<ElementValue> = values.collect();
    let results = scalar_region::translate_scalar_region(t, &mut s.body, block, values, None)?;
    t.ensure_holds(op, results.len() == 1, "has a region of another type")?;
    let tensor = t.finish_structured(s, &results[0]);
    t.bind_result(op, tensor)
}

/// `chlo.scan`: a loop over the slices of a dimension. The region takes a slice of each input and
/// the carried values, and returns a slice of each output and the next carried values.
pub(super) fn translate_scan(t: &mut StablehloTranslator<'_>, op: MlirOp) -> TranslateResult<()> {
    let operands = t.tensor_operands(op)?;
    let arguments = t.module.arguments(t.region_block(op, 0)?).len();
    let results = t.module.results(op).len();
    let attributes: ScanAttributes = t.read_attributes(op)?;
    let segments = attributes.operand_segment_sizes;
    let carried = segments.and_then(|segments| usize::try_from(*segments.0.get(1)?).ok());
    let fits = carried.filter(|carried| {
        let count = operands.len();
        arguments == count && (1..count).contains(carried) && *carried <= results
    });
    let carried = fits.ok_or_else(|| t.unsupported_error(op, "form of chlo.scan"))?;
    let (inputs, initial) = operands.split_at(operands.len() - carried);
    let shape = t.tensor_shape(&inputs[0]);
    let dimension = t.check_dimension(op, attributes.dimension, shape.len())?;
    let is_reverse = attributes.is_reverse.unwrap_or(false);
    let count = shape[dimension];
    let mut state = Vec::new();
    for at in 0..results - carried {
        let (element, shape) = t.result_type(op, at)?;
        state.push(t.emit_zeros(element, &shape));
    }
    let outputs = state.len();
    state.extend(initial.iter().cloned());
    let results = t.iterate_tensors(&state, count, |t, before, round| {
        let index = select_slice_index(t, round, count, is_reverse);
        let mut items = Vec::new();
        for input in inputs {
            items.push(TranslatedValue::Tensor(take_slice(
                t, input, dimension, index,
            )?));
        }
        items.extend(
            before[outputs..]
                .iter()
                .cloned()
                .map(TranslatedValue::Tensor),
        );
        let given = region_on(t, op, items)?;
        t.ensure_holds(
            op,
            given.len() == before.len(),
            "has a region of another type",
        )?;
        let mut after = given;
        for (new, old) in after.iter_mut().zip(before).take(outputs) {
            *new = with_slice(t, op, old, new, dimension, index)?;
        }
        Ok(after)
    })?;
    t.bind_results(op, results)
}

/// Translates the region with tensors as arguments; its results are tensors.
fn region_on(
    t: &mut StablehloTranslator<'_>,
    op: MlirOp,
    items: Vec<TranslatedValue>,
) -> TranslateResult<Vec<TypedTensor>> {
    let block = t.region_block(op, 0)?;
    for (argument, item) in t.module.arguments(block).zip(items) {
        t.check_value_type(op, t.module.type_of(argument), &item)?;
        t.bind_value(argument, item);
    }
    let given = t.nested_block(block)?;
    let tensors = given.into_iter().map(|item| match item {
        TranslatedValue::Tensor(tensor) => Ok(tensor),
        _ => Err(t.invalid_error(op, "a region returns a value that is not a tensor")),
    });
    tensors.collect()
}

/// The index of the slice that an iteration takes.
fn select_slice_index(
    t: &mut StablehloTranslator<'_>,
    round: TensorValue,
    count: DimExtent,
    is_reverse: bool,
) -> TensorValue {
    if is_reverse {
        t.builder.add_elementwise(&[round], |body, v| {
            let mut c = ScalarBuilder::new(body);
            let size = c.body.intern_size(count);
            let last = c.add_constant(size, -1.0);
            c.sub(last, v[0])
        })
    } else {
        round
    }
}

/// A slice without its dimension.
fn take_slice(
    t: &mut StablehloTranslator<'_>,
    input: &TypedTensor,
    dimension: usize,
    index: TensorValue,
) -> TranslateResult<TypedTensor> {
    let mut shape: TensorShape = t.tensor_shape(input);
    shape.remove(dimension);
    t.map_points(&shape, |t, s, point| {
        let mut position = point.to_vec();
        position.insert(dimension, s.body.intern_element(index, Ty::I64, &[]));
        Ok(t.read_element(s, input, &position))
    })
}

/// A tensor with one slice replaced.
fn with_slice(
    t: &mut StablehloTranslator<'_>,
    op: MlirOp,
    tensor: &TypedTensor,
    new: &TypedTensor,
    dimension: usize,
    index: TensorValue,
) -> TranslateResult<TypedTensor> {
    let shape = t.tensor_shape(tensor);
    let mut own = shape.clone();
    if dimension < own.len() {
        own.remove(dimension);
    }
    let fits =
        own == t.tensor_shape(new) && tensor.element == new.element && shape.len() > dimension;
    t.ensure_holds(op, fits, "gives a slice of another type")?;
    t.map_points(&shape, |t, s, point| {
        let at = s.body.intern_element(index, Ty::I64, &[]);
        let mut position = point.to_vec();
        position.remove(dimension);
        let (new, old) = (
            t.read_element(s, new, &position),
            t.read_element(s, tensor, point),
        );
        let is_slice = ScalarBuilder::new(&mut s.body).eq(point[dimension], at);
        Ok(select_value(s, is_slice, &new, &old))
    })
}

/// Collectives among groups of one device: the results are the operands.
pub(super) fn translate_trivial_collective(
    t: &mut StablehloTranslator<'_>,
    op: MlirOp,
) -> TranslateResult<()> {
    let CollectiveAttributes { replica_groups, .. } = t.read_attributes(op)?;
    let groups = replica_groups.and_then(|groups| read_replica_groups(t.module, groups));
    if groups.is_none_or(|groups| groups.iter().any(|group| group.len() != 1)) {
        let name = t.module.op_name(op);
        return Err(t.unsupported_error(op, format!("{name} among several devices")));
    }
    let operands = t.tensor_operands(op)?;
    t.bind_results(op, operands)
}

/// `collective_permute` with one device, which sends to itself.
pub(super) fn permuted_alone(t: &mut StablehloTranslator<'_>, op: MlirOp) -> TranslateResult<()> {
    let CollectivePermuteAttributes {
        source_target_pairs,
        ..
    } = t.read_attributes(op)?;
    if source_target_pairs.0.values != [0, 0] {
        return Err(t.unsupported_error(op, "collective_permute among several devices"));
    }
    let operands = t.tensor_operands(op)?;
    t.bind_results(op, operands)
}

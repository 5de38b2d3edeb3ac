//! Reductions of dimensions by the region of an operation.

use super::element::TensorElement;
use super::error::TranslateResult;
use super::scalar::{ElementValue, ScalarBuilder};
use super::scalar_region;
use super::translator::{StablehloTranslator, TypedTensor};
use crate::dialect::records::ReduceAttributes;
use crate::mlir::{MlirBlock, MlirFloat, MlirOp};
use spirula_tensor::ir::{ScalarNode, StructuredOp, TensorReduction, TensorShape};

/// The common format of all values that is reduced as `f32`: one of 16 bits or less.
pub(super) fn find_wide_format(elements: &[TensorElement]) -> Option<MlirFloat> {
    let Some(TensorElement::Float(float)) = elements.first().copied() else {
        return None;
    };
    let same = elements
        .iter()
        .all(|element| *element == TensorElement::Float(float));
    (same && float.width() <= 16).then_some(float)
}

/// Reduces values by a region, starting from initial values. Returns the accumulators in the
/// region's types.
pub(super) fn reduce_by_region(
    t: &mut StablehloTranslator<'_>,
    op: MlirOp,
    s: &mut StructuredOp,
    block: MlirBlock,
    initial: &[ElementValue],
    values: &[ElementValue],
) -> TranslateResult<Vec<ElementValue>> {
    let mut types = Vec::new();
    for argument in t.module.arguments(block) {
        types.push(t.tensor_type(op, t.module.type_of(argument))?.0);
    }
    let count = values.len();
    t.ensure_holds(
        op,
        types.len() == 2 * count && count > 0,
        "has a region of another type",
    )?;
    let wide = find_wide_format(&types);
    let inner: Vec<TensorElement> = types
        .iter()
        .map(|e| scalar_region::promote_element(*e, wide))
        .collect();
    let (combiner, results) = scalar_region::build_combiner(t, op, block, &inner, wide)?;
    let found = results.iter().map(|val| val.element);
    t.ensure_holds(
        op,
        found.eq(inner[..count].iter().copied()),
        "has a region of another type",
    )?;
    let mut convert =
        |vals: &[ElementValue], to: &[TensorElement]| -> TranslateResult<Vec<ScalarNode>> {
            let mut nodes = Vec::new();
            for (val, to) in vals.iter().zip(to) {
                let converted = ScalarBuilder::new(&mut s.body).convert_value(val, *to);
                let converted =
                    converted.ok_or_else(|| t.unsupported_error(op, "type in a reduction"))?;
                nodes.extend(converted.nodes);
            }
            Ok(nodes)
        };
    let initial = convert(initial, &inner[..count])?;
    let values = convert(values, &inner[count..])?;
    let mut nodes = s
        .add_reduction(TensorReduction {
            initial,
            values,
            combiner,
        })
        .into_iter();
    let mut folded = Vec::new();
    for (inner, outer) in inner.iter().zip(&types[..count]) {
        let val = ElementValue {
            element: *inner,
            nodes: nodes.by_ref().take(inner.component_count()).collect(),
        };
        let narrow = ScalarBuilder::new(&mut s.body).convert_value(&val, *outer);
        folded.extend(narrow);
    }
    Ok(folded)
}

/// Results of several accumulators at each point.
pub(super) fn finish_reduction(
    t: &mut StablehloTranslator<'_>,
    mut s: StructuredOp,
    results: &[ElementValue],
) -> Vec<TypedTensor> {
    for node in results.iter().flat_map(|val| &val.nodes) {
        s.add_yield(*node);
    }
    collect_result_tensors(t, s, results)
}

/// The tensors of the results of a structured operation.
pub(super) fn collect_result_tensors(
    t: &mut StablehloTranslator<'_>,
    s: StructuredOp,
    results: &[ElementValue],
) -> Vec<TypedTensor> {
    let mut parts = t.builder.add_structured(s).into_iter();
    let tensors = results.iter().map(|val| TypedTensor {
        element: val.element,
        parts: parts.by_ref().take(val.nodes.len()).collect(),
        tracked: None,
    });
    tensors.collect()
}

/// Inputs of one shape, as many initial values of rank 0, and the shape.
pub(super) fn read_reduction_inputs(
    t: &mut StablehloTranslator<'_>,
    op: MlirOp,
) -> TranslateResult<(Vec<TypedTensor>, Vec<TypedTensor>, TensorShape)> {
    let mut operands = t.tensor_operands(op)?;
    let count = operands.len() / 2;
    t.ensure_holds(
        op,
        operands.len() == 2 * count && count > 0,
        "has a wrong number of operands",
    )?;
    let initial = operands.split_off(count);
    let shape = t.common_shape(op, &operands)?;
    let scalars = initial.iter().all(|value| t.tensor_shape(value).is_empty());
    t.ensure_holds(op, scalars, "has initial values that are not scalars")?;
    Ok((operands, initial, shape))
}

/// `reduce`
pub(super) fn translate_reduce(t: &mut StablehloTranslator<'_>, op: MlirOp) -> TranslateResult<()> {
    let (operands, initial, shape) = read_reduction_inputs(t, op)?;
    let ReduceAttributes { dimensions } = t.read_attributes(op)?;
    let dimensions = t.check_dimensions(op, &dimensions, shape.len())?;
    let block = t.region_block(op, 0)?;
    let mut s = StructuredOp::default();
    let position = s.reduced_position(&shape, &dimensions);
    let initial: Vec<ElementValue> = initial
        .iter()
        .map(|v| t.read_element(&mut s, v, &[]))
        .collect();
    let values: Vec<ElementValue> = operands
        .iter()
        .map(|v| t.read_element(&mut s, v, &position))
        .collect();
    let results = reduce_by_region(t, op, &mut s, block, &initial, &values)?;
    let results = finish_reduction(t, s, &results);
    t.bind_results(op, results)
}

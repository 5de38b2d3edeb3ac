//! `sort` and `top_k`.

use super::element::TensorElement;
use super::error::TranslateResult;
use super::scalar::{ElementValue, ScalarBuilder};
use super::scalar_region;
use super::translator::{StablehloTranslator, TypedTensor};
use crate::dialect::ComparisonDirection;
use crate::dialect::records::{
    CustomCallAttributes, SortAttributes, TargetParameters, TopKAttributes,
};
use crate::mlir::{MlirBlock, MlirOp};
use spirula_tensor::ir::{DimExtent, NodeGraph, ScalarCombiner, TensorSort};

/// `sort`
pub(super) fn translate_sort(t: &mut StablehloTranslator<'_>, op: MlirOp) -> TranslateResult<()> {
    let operands = t.tensor_operands(op)?;
    let attributes: SortAttributes = t.read_attributes(op)?;
    let dimension = attributes.dimension.unwrap_or(-1);
    let is_stable = attributes.is_stable.unwrap_or(false);
    let comparator = t.region_block(op, 0)?;
    let results = sort_tensors(t, op, &operands, dimension, comparator, is_stable)?;
    t.bind_results(op, results)
}

/// Sorts tensors along a dimension by a comparator. A negative dimension counts from the last.
fn sort_tensors(
    t: &mut StablehloTranslator<'_>,
    op: MlirOp,
    operands: &[TypedTensor],
    dimension: i64,
    comparator: MlirBlock,
    is_stable: bool,
) -> TranslateResult<Vec<TypedTensor>> {
    t.ensure_holds(op, !operands.is_empty(), "has no operands")?;
    let rank = t.common_shape(op, operands)?.len() as i64;
    let dimension = match dimension {
        0.. => dimension,
        _ => dimension + rank,
    };
    t.ensure_holds(
        op,
        (0..rank).contains(&dimension),
        "sorts along no dimension",
    )?;
    let mut body = NodeGraph::default();
    let arguments = build_comparator_arguments(&mut body, operands);
    let results =
        scalar_region::translate_scalar_region(t, &mut body, comparator, arguments, None)?;
    let is_test = matches!(&results[..], [val] if val.element == TensorElement::Bool);
    t.ensure_holds(op, is_test, "has a wrong comparator")?;
    let sort = TensorSort {
        operands: operands.iter().flat_map(|o| o.parts.clone()).collect(),
        dimension: dimension as usize,
        is_stable,
        comparator: ScalarCombiner {
            results: vec![results[0].node()],
            body,
        },
    };
    Ok(emit_sort(t, sort, operands))
}

/// `custom_call @ApproxTopK`: the first elements along a dimension, in the order of a function. The
/// operation allows leaving out some of them, which never happens here. The operands after the
/// tensors are padding values, which are not needed.
pub(super) fn approximate_top_k(
    t: &mut StablehloTranslator<'_>,
    op: MlirOp,
) -> TranslateResult<()> {
    let mut operands = t.tensor_operands(op)?;
    operands.truncate(t.module.results(op).len());
    let parameters: TargetParameters = t.read_attributes(op)?;
    let dimension = parameters
        .typed
        .and_then(|attr| {
            t.module
                .as_integer(t.module.find_field(attr, "reduction_dim")?)
        })
        .ok_or_else(|| t.invalid_error(op, "has no reduction_dim"))?;
    let attributes: CustomCallAttributes<'_> = t.read_attributes(op)?;
    let called = attributes.called_computations.map(|names| names.0);
    let comparator = match called.as_deref() {
        Some([Some(name)]) => t.module.find_function(name.0),
        _ => None,
    };
    let comparator =
        comparator.ok_or_else(|| t.invalid_error(op, "names no function that compares"))?;
    let comparator = t.region_block(comparator, 0)?;
    let sorted = sort_tensors(t, op, &operands, dimension, comparator, true)?;
    let mut results = Vec::new();
    for (at, tensor) in sorted.iter().enumerate() {
        let (_, shape) = t.result_type(op, at)?;
        let whole = t.tensor_shape(tensor);
        let fits = shape.len() == whole.len()
            && shape.iter().zip(&whole).all(|(part, whole)| {
                let sizes = part.as_static().zip(whole.as_static());
                sizes.is_some_and(|(part, whole)| part <= whole)
            });
        t.ensure_holds(op, fits, "takes more than there is")?;
        results.push(t.gather_elements(tensor, &shape, |_, point| point.to_vec())?);
    }
    t.bind_results(op, results)
}

/// The two elements of each operand, in the order of the arguments of the IR's comparators.
fn build_comparator_arguments(body: &mut NodeGraph, operands: &[TypedTensor]) -> Vec<ElementValue> {
    let mut first = 0;
    let mut arguments = Vec::new();
    for operand in operands {
        let element = operand.element;
        for side in 0..2 {
            let parts = 0..element.component_count() as u32;
            let argument =
                |part| body.intern_argument(first + 2 * part + side, element.storage_type());
            arguments.push(ElementValue {
                element,
                nodes: parts.map(argument).collect(),
            });
        }
        first += 2 * element.component_count() as u32;
    }
    arguments
}

fn emit_sort(
    t: &mut StablehloTranslator<'_>,
    sort: TensorSort,
    like: &[TypedTensor],
) -> Vec<TypedTensor> {
    let mut parts = t.builder.add_sort(sort).into_iter();
    let results = like.iter().map(|operand| TypedTensor {
        element: operand.element,
        parts: parts.by_ref().take(operand.parts.len()).collect(),
        tracked: None,
    });
    results.collect()
}

/// `chlo.top_k`: the greatest elements of the last dimension and their indices. Equal elements keep
/// their order; NaN is above all numbers.
pub(super) fn top_k(t: &mut StablehloTranslator<'_>, op: MlirOp) -> TranslateResult<()> {
    let TopKAttributes { k } = t.read_attributes(op)?;
    take_extremes(t, op, k, true)
}

/// The `k` greatest or least elements of the last dimension of the operand, and their indices.
pub(super) fn take_extremes(
    t: &mut StablehloTranslator<'_>,
    op: MlirOp,
    k: i64,
    greatest: bool,
) -> TranslateResult<()> {
    let operand = t.tensor_operand(op, 0)?;
    let mut shape = t.tensor_shape(&operand);
    let rank = shape.len();
    let last = shape.last().map(|size| size.as_static());
    let fits = last.is_some_and(|size| 0 <= k && size.is_none_or(|size| k as u64 <= size));
    t.ensure_holds(op, fits, "takes more than there is")?;
    let index = t.result_element(op, 1)?;
    let direction = if greatest {
        ComparisonDirection::Greater
    } else {
        ComparisonDirection::Less
    };
    let sorted = t.sort_last_dimension(op, operand, index, direction)?;
    shape[rank - 1] = DimExtent::Static(k as u64);
    let mut results = Vec::new();
    for tensor in sorted {
        results.push(t.gather_elements(&tensor, &shape, |_, point| point.to_vec())?);
    }
    t.bind_results(op, results)
}

impl StablehloTranslator<'_> {
    /// Sorts the last dimension by a direction of comparison. Returns the elements and the indices
    /// that they had; equal elements keep their order.
    pub fn sort_last_dimension(
        &mut self,
        op: MlirOp,
        operand: TypedTensor,
        index: TensorElement,
        direction: ComparisonDirection,
    ) -> TranslateResult<Vec<TypedTensor>> {
        let shape = self.tensor_shape(&operand);
        let dimension = shape.len() - 1;
        let indices = self.map_points(&shape, |t, s, point| {
            let value = ElementValue::new(TensorElement::I64, point[dimension]);
            let value = ScalarBuilder::new(&mut s.body).convert_value(&value, index);
            value.ok_or_else(|| t.unsupported_error(op, "type of indices"))
        })?;
        let operands = [operand, indices];
        let mut body = NodeGraph::default();
        let arguments = build_comparator_arguments(&mut body, &operands);
        let mut c = ScalarBuilder::new(&mut body);
        let total = matches!(operands[0].element, TensorElement::Float(_));
        let first = c.compare_values(direction, total, &arguments[..2]);
        let first = first.ok_or_else(|| self.unsupported_error(op, "type of ordered values"))?;
        let sort = TensorSort {
            operands: operands.iter().flat_map(|o| o.parts.clone()).collect(),
            dimension,
            is_stable: true,
            comparator: ScalarCombiner {
                results: vec![first.node()],
                body,
            },
        };
        Ok(emit_sort(self, sort, &operands))
    }
}

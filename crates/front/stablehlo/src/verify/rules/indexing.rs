//! Rules of gather and scatter, which access computed positions.

use super::movement::slice_sizes;
use crate::dialect::IndexingNumbers;
use crate::dialect::records::{DynamicGatherAttributes, GatherAttributes, ScatterAttributes};
use crate::mlir::{DimSize, MlirType};
use crate::verify::checked_operation::{
    CheckedOperation, ElementClasses, RuleResult, is_compatible_shape, report_violation,
};

/// Dimension numbers of gather and scatter, whose names differ.
struct IndexingDimensions {
    window: Vec<usize>,
    collapsed: Vec<usize>,
    operand_batching: Vec<usize>,
    index_batching: Vec<usize>,
    start_map: Vec<usize>,
    /// If it is the rank of the indices, each index is one number.
    vector: usize,
}

impl IndexingDimensions {
    /// Checks dimension numbers as far as they do not depend on sizes. `outer` is the rank of the
    /// result or of the updates.
    fn from_numbers(
        check: &CheckedOperation<'_>,
        written: &IndexingNumbers,
        operand: &[DimSize],
        indices: &[DimSize],
        outer: usize,
    ) -> RuleResult<IndexingDimensions> {
        let vector = written.index_vector_dim;
        let numbers = IndexingDimensions {
            window: check.check_axes(&written.offset_dims, outer)?,
            collapsed: check.check_axes(&written.collapsed_dims, operand.len())?,
            operand_batching: check.check_axes(&written.operand_batching_dims, operand.len())?,
            index_batching: check.check_axes(&written.indices_batching_dims, indices.len())?,
            start_map: check.check_axes(&written.index_map, operand.len())?,
            vector: match usize::try_from(vector) {
                Ok(at) if at <= indices.len() => at,
                _ => {
                    return report_violation(format!(
                        "`index_vector_dim` has {vector}, which is not a dimension"
                    ));
                }
            },
        };
        let absent = numbers.collapsed.len() + numbers.operand_batching.len();
        if numbers.window.len() + absent != operand.len() {
            let message = format!(
                "`{}`, `{}` and `{}` together name {} dimensions of {}",
                written.offset_dims.name,
                written.collapsed_dims.name,
                written.operand_batching_dims.name,
                numbers.window.len() + absent,
                operand.len()
            );
            return report_violation(message);
        }
        if numbers.operand_batching.len() != numbers.index_batching.len() {
            return report_violation(format!(
                "`{}` and `{}` differ in length",
                written.operand_batching_dims.name, written.indices_batching_dims.name
            ));
        }
        if !numbers.window.is_sorted() {
            return report_violation(format!(
                "`{}` should be increasing",
                written.offset_dims.name
            ));
        }
        let components = match indices.get(numbers.vector) {
            Some(&size) => size,
            None => Some(1),
        };
        let wanted = numbers.start_map.len() as u64;
        if components.is_some_and(|found| found != wanted) {
            let found = components.unwrap_or(0);
            return report_violation(format!(
                "an index has {found} numbers, `{}` has {wanted}",
                written.index_map.name
            ));
        }
        Ok(numbers)
    }

    /// Sizes of the indices without the dimension of their numbers.
    fn batch_sizes(&self, indices: &[DimSize]) -> Vec<DimSize> {
        let mut batch = indices.to_vec();
        if self.vector < batch.len() {
            batch.remove(self.vector);
        }
        batch
    }

    /// Sizes of windows in a result: those of all dimensions of the operand but the absent.
    fn window_sizes(&self, sizes: &[DimSize]) -> Vec<DimSize> {
        let absent =
            |axis: &usize| self.collapsed.contains(axis) || self.operand_batching.contains(axis);
        let axes = (0..sizes.len()).filter(|axis| !absent(axis));
        axes.map(|axis| sizes[axis]).collect()
    }

    /// Sizes of a result of this rank: window dimensions in their positions, all others from the
    /// batch.
    fn compose_sizes(&self, rank: usize, window: &[DimSize], batch: &[DimSize]) -> Vec<DimSize> {
        let (mut window, mut batch) = (window.iter(), batch.iter());
        let one = |axis: usize| {
            let from = if self.window.contains(&axis) {
                window.next()
            } else {
                batch.next()
            };
            from.copied().flatten()
        };
        (0..rank).map(one).collect()
    }
}

/// `gather`, `dynamic_gather`
pub(crate) fn verify_gather(check: &CheckedOperation<'_>) -> RuleResult {
    let (operand, indices) = (check.operands[0], check.operands[1]);
    check.demand_class(indices, ElementClasses::INTEGER)?;
    let shapes = (
        check.tensor_shape(operand),
        check.tensor_shape(indices),
        check.tensor_shape(check.results[0]),
    );
    let (Some(shape), Some(index_shape), Some(result)) = shapes else {
        return Ok(());
    };
    let DynamicGatherAttributes { dimension_numbers } = check.read_attributes()?;
    let written = &dimension_numbers.0;
    let numbers =
        IndexingDimensions::from_numbers(check, written, shape, index_shape, result.len())?;
    let sizes = match check.operands.get(2) {
        Some(&sizes) => constant_sizes(check, sizes, shape.len())?,
        None => {
            let attributes: GatherAttributes = check.read_attributes()?;
            slice_sizes(
                check.integers_for(&attributes.slice_sizes, shape.len())?,
                shape,
            )?
        }
    };
    let absent = numbers.collapsed.iter().chain(&numbers.operand_batching);
    for &axis in absent {
        if sizes[axis].is_some_and(|size| size > 1) {
            return report_violation(format!(
                "dimension {axis} is left out of the result, but its slice has more than 1"
            ));
        }
    }
    let batch = numbers.batch_sizes(index_shape);
    let window = numbers.window_sizes(&sizes);
    if batch.len() + window.len() != result.len() {
        let (batch, window, found) = (batch.len(), window.len(), result.len());
        return report_violation(format!(
            "{batch} dimensions of indices and {window} of slices do not make the {found} of the result"
        ));
    }
    let result = numbers.compose_sizes(result.len(), &window, &batch);
    check.demand_result(0, &result, operand)
}

/// Sizes that are an operand: known only if it is a constant.
fn constant_sizes(
    check: &CheckedOperation<'_>,
    sizes: MlirType,
    rank: usize,
) -> RuleResult<Vec<DimSize>> {
    check.demand_class(sizes, ElementClasses::INTEGER)?;
    check.demand_rank(sizes, 1)?;
    Ok(vec![None; rank])
}

/// `scatter`: any number of operands, one tensor of indices, as many updates.
pub(crate) fn verify_scatter(check: &CheckedOperation<'_>) -> RuleResult {
    let count = check.operands.len() / 2;
    if check.operands.len() != 2 * count + 1 || count != check.results.len() {
        return report_violation(
            "a scatter has inputs, indices and as many updates as inputs and results",
        );
    }
    check.demand_all_compatible("results", &check.results, &check.operands[..count])?;
    let indices = check.operands[count];
    check.demand_class(indices, ElementClasses::INTEGER)?;
    let (arguments, returned) = check.region_types(0)?;
    if arguments.len() != 2 * count || returned.len() != count {
        return report_violation(
            "the region takes an element of each input and update, and returns as many as inputs",
        );
    }
    let attributes: ScatterAttributes = check.read_attributes()?;
    let written = &attributes.scatter_dimension_numbers.0;
    for at in 0..count {
        let (input, updates) = (check.operands[at], check.operands[count + 1 + at]);
        check.demand_same_element(input, updates)?;
        let shapes = (
            check.tensor_shape(input),
            check.tensor_shape(indices),
            check.tensor_shape(updates),
        );
        let (Some(shape), Some(index_shape), Some(update)) = shapes else {
            return Ok(());
        };
        let numbers =
            IndexingDimensions::from_numbers(check, written, shape, index_shape, update.len())?;
        let batch = numbers.batch_sizes(index_shape);
        let most = numbers.window_sizes(shape);
        if batch.len() + most.len() != update.len() {
            let (batch, window, found) = (batch.len(), most.len(), update.len());
            return report_violation(format!(
                "{batch} dimensions of indices and {window} of windows do not make the {found} of the updates"
            ));
        }
        let most = numbers.compose_sizes(update.len(), &most, &vec![None; batch.len()]);
        let exact = numbers.compose_sizes(update.len(), &vec![None; most.len()], &batch);
        let small =
            |(size, most): (&DimSize, &DimSize)| size.is_none() || most.is_none() || size <= most;
        if !is_compatible_shape(update, &exact) || !update.iter().zip(&most).all(small) {
            let (input, updates, indices) = (
                check.format_type(input),
                check.format_type(updates),
                check.format_type(indices),
            );
            return report_violation(format!(
                "updates {updates} do not fit into {input} at {indices}"
            ));
        }
    }
    Ok(())
}

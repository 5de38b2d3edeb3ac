//! Rules of reductions, windows and sorting.

use crate::dialect::records::{
    ReduceAttributes, ReduceWindowAttributes, SelectAndScatterAttributes, SortAttributes,
};
use crate::dialect::{IntegerElements, IntegerList};
use crate::mlir::{DimSize, MlirType};
use crate::verify::checked_operation::{
    CheckedOperation, ElementClasses, RuleResult, is_compatible_shape, report_violation,
};

/// Inputs and as many initial values. The region takes an accumulator and an element for each.
fn demand_reduction_inputs<'c>(check: &'c CheckedOperation<'_>) -> RuleResult<&'c [MlirType]> {
    let count = check.operands.len() / 2;
    if check.operands.len() != 2 * count || count == 0 || count != check.results.len() {
        return report_violation("there are as many initial values and results as inputs");
    }
    let (inputs, initial) = check.operands.split_at(count);
    for (&input, &initial) in inputs.iter().zip(initial) {
        check.demand_same_shape(input, inputs[0])?;
        check.demand_same_element(input, initial)?;
        check.demand_rank(initial, 0)?;
    }
    for (at, returned) in demand_reducer(check, 0, count)?.into_iter().enumerate() {
        check.demand_promotable(inputs[at], returned)?;
    }
    Ok(inputs)
}

/// The types that a region returns. It takes two values of each of `count` types and returns one of
/// each.
fn demand_reducer(
    check: &CheckedOperation<'_>,
    region: usize,
    count: usize,
) -> RuleResult<Vec<MlirType>> {
    let (arguments, returned) = check.region_types(region)?;
    if arguments.len() != 2 * count || returned.len() != count {
        let (takes, gives) = (arguments.len(), returned.len());
        return report_violation(format!(
            "the region takes {takes} values and returns {gives}, not {} and {count}",
            2 * count
        ));
    }
    for (at, &ty) in arguments.iter().enumerate() {
        check.demand_rank(ty, 0)?;
        check.demand_compatible(ty, returned[at % count])?;
    }
    Ok(returned)
}

/// `all_reduce`, `reduce_scatter`: the region combines elements of the operands.
pub(crate) fn reduce_devices(check: &CheckedOperation<'_>) -> RuleResult {
    let returned = demand_reducer(check, 0, 1)?[0];
    let mut operands = check.operands.iter();
    operands.try_for_each(|&operand| check.demand_promotable(operand, returned))
}

/// `reduce`
pub(crate) fn verify_reduce(check: &CheckedOperation<'_>) -> RuleResult {
    let inputs = demand_reduction_inputs(check)?;
    let Some(shape) = check.tensor_shape(inputs[0]) else {
        return Ok(());
    };
    let ReduceAttributes { dimensions } = check.read_attributes()?;
    let axes = check.check_axes(&dimensions, shape.len())?;
    let kept = (0..shape.len()).filter(|axis| !axes.contains(axis));
    let result: Vec<DimSize> = kept.map(|axis| shape[axis]).collect();
    let (_, returned) = check.region_types(0)?;
    (0..inputs.len()).try_for_each(|at| check.demand_result(at, &result, returned[at]))
}

/// Padding of each dimension: low and high. It is known, as it comes from an attribute.
pub(crate) fn pair_padding(
    padding: Option<&IntegerElements>,
    rank: usize,
) -> RuleResult<Vec<Option<(i64, i64)>>> {
    let Some(IntegerElements(padding)) = padding else {
        return Ok(vec![Some((0, 0)); rank]);
    };
    if padding.values.len() != 2 * rank {
        return report_violation(format!(
            "`padding` has two numbers for each of {rank} dimensions"
        ));
    }
    let pairs = padding.values.chunks(2);
    Ok(pairs.map(|pair| Some((pair[0], pair[1]))).collect())
}

/// Number of windows that fit in each dimension.
pub(crate) fn output_sizes(
    base: &[DimSize],
    window: &[DimSize],
    padding: &[Option<(i64, i64)>],
    strides: &[i64],
    base_dilation: &[i64],
    window_dilation: &[i64],
) -> RuleResult<Vec<DimSize>> {
    let mut sizes = Vec::with_capacity(base.len());
    for axis in 0..base.len() {
        let (stride, base_dilation, window_dilation) =
            (strides[axis], base_dilation[axis], window_dilation[axis]);
        if stride < 1 || base_dilation < 1 || window_dilation < 1 {
            return report_violation("strides and dilations are at least 1");
        }
        let dilated = |size: u64, by: i64| match size {
            0 => 0,
            size => (i128::from(size) - 1) * i128::from(by) + 1,
        };
        sizes.push(match (base[axis], window[axis], padding[axis]) {
            (Some(base), Some(window), Some((low, high))) => {
                let padded = dilated(base, base_dilation) + i128::from(low) + i128::from(high);
                let window = dilated(window, window_dilation);
                if padded < 0 {
                    return report_violation(format!(
                        "padding takes more of dimension {axis} than it has"
                    ));
                }
                let room = padded - window;
                let count = if padded == 0 || room < 0 {
                    0
                } else {
                    room / i128::from(stride) + 1
                };
                u64::try_from(count).ok()
            }
            _ => None,
        });
    }
    Ok(sizes)
}

/// Sizes of a window, each at least one.
fn window_sizes(
    check: &CheckedOperation<'_>,
    sizes: Option<&IntegerList>,
    rank: usize,
) -> RuleResult<Vec<DimSize>> {
    let sizes = check.integers_or(sizes, rank, 1)?;
    match sizes.iter().find(|&&size| size < 1) {
        Some(size) => report_violation(format!("a window has the size {size}")),
        None => Ok(sizes.iter().map(|&size| Some(size as u64)).collect()),
    }
}

/// `reduce_window`
pub(crate) fn reduce_window(check: &CheckedOperation<'_>) -> RuleResult {
    let inputs = demand_reduction_inputs(check)?;
    let Some(shape) = check.tensor_shape(inputs[0]) else {
        return Ok(());
    };
    let rank = shape.len();
    let attributes: ReduceWindowAttributes = check.read_attributes()?;
    let padding = pair_padding(attributes.padding.as_ref(), rank)?;
    let numbers = |list: &Option<IntegerList>| check.integers_or(list.as_ref(), rank, 1);
    let sizes = output_sizes(
        shape,
        &window_sizes(check, Some(&attributes.window_dimensions), rank)?,
        &padding,
        &numbers(&attributes.window_strides)?,
        &numbers(&attributes.base_dilations)?,
        &numbers(&attributes.window_dilations)?,
    )?;
    let (_, returned) = check.region_types(0)?;
    (0..inputs.len()).try_for_each(|at| check.demand_result(at, &sizes, returned[at]))
}

/// `select_and_scatter`: the source has an element for each window.
pub(crate) fn select_and_scatter(check: &CheckedOperation<'_>) -> RuleResult {
    let [operand, source, initial] = check.operands[..] else {
        return Ok(());
    };
    check.demand_same_element(operand, source)?;
    check.demand_same_element(operand, initial)?;
    check.demand_rank(initial, 0)?;
    check.demand_same_shape(operand, check.results[0])?;
    let (arguments, returned) = check.region_types(0)?;
    if arguments.len() != 2 || returned.len() != 1 || !check.is_bool(returned[0]) {
        return report_violation("the first region takes two elements and returns a Boolean");
    }
    for argument in arguments {
        check.demand_rank(argument, 0)?;
        check.demand_same_element(argument, operand)?;
    }
    check.demand_promotable(operand, demand_reducer(check, 1, 1)?[0])?;
    let (Some(shape), Some(found)) = (check.tensor_shape(operand), check.tensor_shape(source))
    else {
        return Ok(());
    };
    let rank = shape.len();
    let attributes: SelectAndScatterAttributes = check.read_attributes()?;
    let padding = pair_padding(attributes.padding.as_ref(), rank)?;
    let ones = vec![1; rank];
    let window = window_sizes(check, attributes.window_dimensions.as_ref(), rank)?;
    let strides = check.integers_or(attributes.window_strides.as_ref(), rank, 1)?;
    let sizes = output_sizes(shape, &window, &padding, &strides, &ones, &ones)?;
    if is_compatible_shape(found, &sizes) {
        Ok(())
    } else {
        report_violation(format!(
            "{} does not have one element for each window",
            check.format_type(source)
        ))
    }
}

/// `sort`
pub(crate) fn verify_sort(check: &CheckedOperation<'_>) -> RuleResult {
    check.demand_all_compatible("results", &check.results, &check.operands)?;
    let count = check.operands.len();
    for &operand in &check.operands {
        check.demand_same_shape(operand, check.operands[0])?;
    }
    if let Some(shape) = check.tensor_shape(check.operands[0]) {
        let rank = shape.len() as i64;
        let attributes: SortAttributes = check.read_attributes()?;
        let at = attributes.dimension.unwrap_or(-1);
        if !(-rank..rank).contains(&at) && rank > 0 {
            return report_violation(format!(
                "`dimension` has {at}, which is not a dimension of {rank}"
            ));
        }
    }
    let (arguments, returned) = check.region_types(0)?;
    if arguments.len() != 2 * count {
        return report_violation(format!(
            "the region takes {} values, not {}",
            arguments.len(),
            2 * count
        ));
    }
    for (at, &ty) in arguments.iter().enumerate() {
        check.demand_rank(ty, 0)?;
        check.demand_same_element(ty, check.operands[at / 2])?;
    }
    match returned.as_slice() {
        &[order] => check.demand_class(order, ElementClasses::BOOL),
        _ => report_violation("the region returns one Boolean"),
    }
}

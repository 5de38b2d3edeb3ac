//! Rules of products of tensors and of convolutions.

use crate::dialect::records::{ConvolutionAttributes, DotAttributes, DotGeneralAttributes};
use crate::dialect::{DotNumbers, IntegerList, PrecisionConfig, TensorLayout};
use crate::mlir::{DimSize, MlirType};
use crate::verify::checked_operation::{
    CheckedOperation, ElementClasses, RuleResult, report_violation,
};

/// The result of a product has this shape; its elements may differ from those of the operands.
/// There are no precisions or two.
fn demand_product(
    check: &CheckedOperation<'_>,
    shape: &[DimSize],
    precisions: Option<PrecisionConfig>,
) -> RuleResult {
    if let Some(PrecisionConfig { count, .. }) = precisions
        && !matches!(count, 0 | 2)
    {
        return report_violation(format!("`precision_config` has {count} members, not 2"));
    }
    check.demand_result(0, shape, check.results[0])
}

/// Corresponding dimensions of both operands have the same size.
fn demand_pairs(
    check: &CheckedOperation<'_>,
    what: &str,
    [left, right]: [&[DimSize]; 2],
    [left_axes, right_axes]: [&[usize]; 2],
) -> RuleResult {
    if left_axes.len() != right_axes.len() {
        return report_violation(format!("{what} dimensions of both sides differ in number"));
    }
    for (&a, &b) in left_axes.iter().zip(right_axes) {
        let (x, y) = (left[a], right[b]);
        if x.is_some() && y.is_some() && x != y {
            let (l, r) = (
                check.format_type(check.operands[0]),
                check.format_type(check.operands[1]),
            );
            return report_violation(format!(
                "{what} dimensions {a} of {l} and {b} of {r} differ in size"
            ));
        }
    }
    Ok(())
}

/// `dot`: vectors and matrices.
pub(crate) fn verify_dot(check: &CheckedOperation<'_>) -> RuleResult {
    let (Some(left), Some(right)) = (
        check.tensor_shape(check.operands[0]),
        check.tensor_shape(check.operands[1]),
    ) else {
        return Ok(());
    };
    let (Some((&inner, rows)), Some((&other, columns))) = (left.split_last(), right.split_first())
    else {
        return report_violation("a dot product has vectors and matrices");
    };
    if rows.len() > 1 || columns.len() > 1 {
        return report_violation("a dot product has vectors and matrices").map_err(
            |f: crate::verify::checked_operation::RuleViolation| {
                f.with_hint("use `stablehlo.dot_general`")
            },
        );
    }
    if inner.is_some() && other.is_some() && inner != other {
        let (left, right) = (
            check.format_type(check.operands[0]),
            check.format_type(check.operands[1]),
        );
        return report_violation(format!(
            "{left} and {right} do not contract: their inner sizes differ"
        ));
    }
    let attributes: DotAttributes = check.read_attributes()?;
    demand_product(
        check,
        &[rows, columns].concat(),
        attributes.precision_config,
    )
}

/// `dot_general`
pub(crate) fn dot_general(check: &CheckedOperation<'_>) -> RuleResult {
    let (Some(left), Some(right)) = (
        check.tensor_shape(check.operands[0]),
        check.tensor_shape(check.operands[1]),
    ) else {
        return Ok(());
    };
    let attributes: DotGeneralAttributes = check.read_attributes()?;
    let DotNumbers {
        batching,
        contracting,
    } = &attributes.dot_dimension_numbers;
    let left_batch = check.check_axes(&batching[0], left.len())?;
    let right_batch = check.check_axes(&batching[1], right.len())?;
    let left_inner = check.check_axes(&contracting[0], left.len())?;
    let right_inner = check.check_axes(&contracting[1], right.len())?;
    let both = |batch: &[usize], inner: &[usize]| batch.iter().any(|axis| inner.contains(axis));
    if both(&left_batch, &left_inner) || both(&right_batch, &right_inner) {
        return report_violation("a dimension is both batching and contracting");
    }
    demand_pairs(
        check,
        "batching",
        [left, right],
        [&left_batch, &right_batch],
    )?;
    demand_pairs(
        check,
        "contracting",
        [left, right],
        [&left_inner, &right_inner],
    )?;
    let free = |shape: &[DimSize], batch: &[usize], inner: &[usize]| -> Vec<DimSize> {
        let axes = (0..shape.len()).filter(|axis| !batch.contains(axis) && !inner.contains(axis));
        axes.map(|axis| shape[axis]).collect()
    };
    let batch = left_batch
        .iter()
        .zip(&right_batch)
        .map(|(&l, &r)| left[l].or(right[r]));
    let mut shape: Vec<DimSize> = batch.collect();
    shape.extend(free(left, &left_batch, &left_inner));
    shape.extend(free(right, &right_batch, &right_inner));
    demand_product(check, &shape, attributes.precision_config)
}

/// Dimensions of one of the three tensors of a convolution: those with a letter, then spatial.
struct ConvolutionDimensions {
    first: usize,
    second: usize,
    spatial: Vec<usize>,
}

impl ConvolutionDimensions {
    /// Checks the dimensions of a tensor; returns its sizes with them.
    fn from_layout(
        check: &CheckedOperation<'_>,
        layout: &TensorLayout,
        ty: MlirType,
    ) -> RuleResult<(ConvolutionDimensions, Vec<DimSize>)> {
        let rank = layout.spatial.len() + 2;
        check.demand_rank(ty, rank)?;
        let mut axes = check.check_axes(&layout.all_dimensions(), rank)?;
        let spatial = axes.split_off(2);
        let shape = check
            .tensor_shape(ty)
            .map_or_else(|| vec![None; rank], <[DimSize]>::to_vec);
        let dimensions = ConvolutionDimensions {
            first: axes[0],
            second: axes[1],
            spatial,
        };
        Ok((dimensions, shape))
    }
}

/// `convolution`, `dynamic_conv`
pub(crate) fn verify_convolution(check: &CheckedOperation<'_>) -> RuleResult {
    let attributes: ConvolutionAttributes = check.read_attributes()?;
    let numbers = &attributes.dimension_numbers;
    let (input, left) =
        ConvolutionDimensions::from_layout(check, &numbers.input, check.operands[0])?;
    let (kernel, right) =
        ConvolutionDimensions::from_layout(check, &numbers.kernel, check.operands[1])?;
    // A quantised kernel may be used with floats.
    if !check.has_class(check.operands[1], ElementClasses::QUANTIZED) {
        check.demand_same_class(check.operands[0], check.operands[1])?;
    }
    let (output, _) = ConvolutionDimensions::from_layout(check, &numbers.output, check.results[0])?;
    let (features, batches) = (attributes.feature_group_count, attributes.batch_group_count);
    if features < 1 || batches < 1 || (features > 1 && batches > 1) {
        return report_violation("one of the group counts is 1, the other at least 1");
    }
    demand_groups(
        &left,
        &right,
        &input,
        &kernel,
        features as u64,
        batches as u64,
    )?;
    if input.spatial.len() != kernel.spatial.len() || input.spatial.len() != output.spatial.len() {
        return report_violation("input, kernel and output differ in their spatial dimensions");
    }
    let window: Vec<DimSize> = kernel.spatial.iter().map(|&axis| right[axis]).collect();
    let base: Vec<DimSize> = input.spatial.iter().map(|&axis| left[axis]).collect();
    let rank = window.len();
    let sizes = match check.operands.len() {
        2 => spatial_sizes(check, &attributes, &base, &window)?,
        // Padding is an operand: sizes are found at run time.
        _ => vec![None; rank],
    };
    let mut shape = vec![None; rank + 2];
    shape[output.first] = left[input.first].map(|size| size / batches as u64);
    shape[output.second] = right[kernel.second];
    for (&axis, size) in output.spatial.iter().zip(sizes) {
        shape[axis] = size;
    }
    demand_product(check, &shape, attributes.precision_config)
}

/// Sizes of the output's spatial dimensions.
fn spatial_sizes(
    check: &CheckedOperation<'_>,
    attributes: &ConvolutionAttributes,
    base: &[DimSize],
    window: &[DimSize],
) -> RuleResult<Vec<DimSize>> {
    let rank = window.len();
    let padding = super::window::pair_padding(attributes.padding.as_ref(), rank)?;
    let numbers = |list: &Option<IntegerList>| check.integers_or(list.as_ref(), rank, 1);
    super::window::output_sizes(
        base,
        window,
        &padding,
        &numbers(&attributes.window_strides)?,
        &numbers(&attributes.lhs_dilation)?,
        &numbers(&attributes.rhs_dilation)?,
    )
}

/// Features and batches are multiples of their groups.
fn demand_groups(
    left: &[DimSize],
    right: &[DimSize],
    input: &ConvolutionDimensions,
    kernel: &ConvolutionDimensions,
    features: u64,
    batches: u64,
) -> RuleResult {
    if let (Some(has), Some(takes)) = (left[input.second], right[kernel.first])
        && (has % features != 0 || has / features != takes)
    {
        return report_violation(format!(
            "the input has {has} features in {features} groups, the kernel takes {takes}"
        ));
    }
    for (size, groups) in [
        (left[input.first], batches),
        (right[kernel.second], batches),
        (right[kernel.second], features),
    ] {
        if size.is_some_and(|size| size % groups != 0) {
            return report_violation(format!(
                "{} is not a multiple of {groups} groups",
                size.unwrap_or(0)
            ));
        }
    }
    Ok(())
}

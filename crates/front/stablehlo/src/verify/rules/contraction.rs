//! Products of tensors and convolutions.

use crate::mlir::{AttributeKind, DimSize, MlirAttr, MlirType};
use crate::verify::check::{CheckedOperation, ElementClasses, RuleResult, report_violation};

/// Elements of a product may be others than those of its operands; there are none or two
/// precisions.
fn demand_product(check: &CheckedOperation<'_>, shape: &[DimSize]) -> RuleResult {
    let precisions = check.module.find_attribute(check.op, "precision_config");
    if let Some(AttributeKind::Array(all)) =
        precisions.map(|attr| check.module.attributes.kind(attr))
        && !matches!(all.len(), 0 | 2)
    {
        let count = all.len();
        return report_violation(format!("`precision_config` has {count} members, not 2"));
    }
    check.demand_result(0, shape, check.results[0])
}

/// Dimensions of both sides that go together have the same size.
fn demand_pairs(
    check: &CheckedOperation<'_>,
    what: &str,
    left: (&[DimSize], &[usize]),
    right: (&[DimSize], &[usize]),
) -> RuleResult {
    if left.1.len() != right.1.len() {
        return report_violation(format!("{what} dimensions of both sides differ in number"));
    }
    for (&a, &b) in left.1.iter().zip(right.1) {
        let (x, y) = (left.0[a], right.0[b]);
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
            |f: crate::verify::check::RuleViolation| f.with_hint("use `stablehlo.dot_general`"),
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
    demand_product(check, &[rows, columns].concat())
}

/// `dot_general`
pub(crate) fn dot_general(check: &CheckedOperation<'_>) -> RuleResult {
    let (Some(left), Some(right)) = (
        check.tensor_shape(check.operands[0]),
        check.tensor_shape(check.operands[1]),
    ) else {
        return Ok(());
    };
    let attr = check.require_attribute("dot_dimension_numbers")?;
    let axes = |name: &str, rank: usize| {
        let values = check.module.field_integers(attr, name);
        check.check_axes(name, &values, rank)
    };
    let left_batch = axes("lhs_batching_dimensions", left.len())?;
    let right_batch = axes("rhs_batching_dimensions", right.len())?;
    let left_inner = axes("lhs_contracting_dimensions", left.len())?;
    let right_inner = axes("rhs_contracting_dimensions", right.len())?;
    let both = |batch: &[usize], inner: &[usize]| batch.iter().any(|axis| inner.contains(axis));
    if both(&left_batch, &left_inner) || both(&right_batch, &right_inner) {
        return report_violation("a dimension is both batching and contracting");
    }
    demand_pairs(
        check,
        "batching",
        (left, &left_batch),
        (right, &right_batch),
    )?;
    demand_pairs(
        check,
        "contracting",
        (left, &left_inner),
        (right, &right_inner),
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
    demand_product(check, &shape)
}

/// Dimensions of one of the three tensors of a convolution: those with a letter, then spatial.
struct ConvolutionDimensions {
    first: usize,
    second: usize,
    spatial: Vec<usize>,
}

impl ConvolutionDimensions {
    fn from_attribute(
        check: &CheckedOperation<'_>,
        attr: MlirAttr,
        names: [&str; 3],
        ty: MlirType,
    ) -> RuleResult<(ConvolutionDimensions, Vec<DimSize>)> {
        let [first, second] =
            [names[0], names[1]].map(|name| check.module.field_integer(attr, name));
        let spatial = check.module.field_integers(attr, names[2]);
        let rank = spatial.len() + 2;
        check.demand_rank(ty, rank)?;
        let mut all = vec![first, second];
        all.extend(spatial);
        let mut axes = check.check_axes("dimension_numbers", &all, rank)?;
        let spatial = axes.split_off(2);
        let shape = check
            .tensor_shape(ty)
            .map_or_else(|| vec![None; rank], <[DimSize]>::to_vec);
        let layout = ConvolutionDimensions {
            first: axes[0],
            second: axes[1],
            spatial,
        };
        Ok((layout, shape))
    }
}

/// `convolution`, `dynamic_conv`
pub(crate) fn verify_convolution(check: &CheckedOperation<'_>) -> RuleResult {
    let attr = check.require_attribute("dimension_numbers")?;
    let names = |part: &str, first: &str, second: &str| {
        [first, second, "spatial"].map(|name| match name {
            "spatial" => format!("{part}_spatial_dimensions"),
            name => format!("{part}_{name}_dimension"),
        })
    };
    let read = |part: &str, first: &str, second: &str, ty: MlirType| {
        let names = names(part, first, second);
        ConvolutionDimensions::from_attribute(check, attr, [&names[0], &names[1], &names[2]], ty)
    };
    let (input, left) = read("input", "batch", "feature", check.operands[0])?;
    let (kernel, right) = read(
        "kernel",
        "input_feature",
        "output_feature",
        check.operands[1],
    )?;
    // A quantised kernel may stand beside floats.
    if !check.has_class(check.operands[1], ElementClasses::QUANTIZED) {
        check.demand_same_class(check.operands[0], check.operands[1])?;
    }
    let (output, _) = read("output", "batch", "feature", check.results[0])?;
    let groups = |name: &str| check.module.find_integer(check.op, name).unwrap_or(1);
    let (features, batches) = (groups("feature_group_count"), groups("batch_group_count"));
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
        2 => spatial_sizes(check, &base, &window)?,
        // Padding is an operand: sizes are found at run time.
        _ => vec![None; rank],
    };
    let mut shape = vec![None; rank + 2];
    shape[output.first] = left[input.first].map(|size| size / batches as u64);
    shape[output.second] = right[kernel.second];
    for (&axis, size) in output.spatial.iter().zip(sizes) {
        shape[axis] = size;
    }
    demand_product(check, &shape)
}

/// Sizes of the output's spatial dimensions.
fn spatial_sizes(
    check: &CheckedOperation<'_>,
    base: &[DimSize],
    window: &[DimSize],
) -> RuleResult<Vec<DimSize>> {
    let rank = window.len();
    let padding: Vec<_> = super::window::read_padding(check, rank)?
        .into_iter()
        .map(Some)
        .collect();
    let numbers = |name: &str| check.integers_for(name, rank, 1);
    super::window::output_sizes(
        base,
        window,
        &padding,
        &numbers("window_strides")?,
        &numbers("lhs_dilation")?,
        &numbers("rhs_dilation")?,
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
                "{} is no multiple of {groups} groups",
                size.unwrap_or(0)
            ));
        }
    }
    Ok(())
}

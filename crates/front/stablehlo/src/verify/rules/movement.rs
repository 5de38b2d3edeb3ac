//! Rules of operations that move elements.

use crate::dialect::records::{
    BroadcastAttributes, BroadcastInDimAttributes, ConcatenateAttributes, DimensionSizeAttributes,
    DynamicBroadcastInDimAttributes, DynamicSliceAttributes, GetTupleElementAttributes,
    IotaAttributes, PadAttributes, ReverseAttributes, SliceAttributes, TransposeAttributes,
};
use crate::dialect::{IntegerList, NamedInteger};
use crate::mlir::{DimSize, MlirType, MlirTypeKind};
use crate::verify::checked_operation::{
    CheckedOperation, ElementClasses, RuleResult, count_elements, is_compatible_shape,
    report_violation,
};

/// `iota`: the dimension is one of the result's.
pub(crate) fn verify_iota(check: &CheckedOperation<'_>) -> RuleResult {
    let numbers = ElementClasses::INTEGER
        .or(ElementClasses::FLOAT)
        .or(ElementClasses::COMPLEX);
    check.demand_class(check.results[0], numbers.or(ElementClasses::QUANTIZED))?;
    let IotaAttributes { iota_dimension } = check.read_attributes()?;
    if let Some(shape) = check.tensor_shape(check.results[0]) {
        check.check_axis(iota_dimension, shape.len())?;
    }
    Ok(())
}

/// An operand with sizes has one for each dimension of the result.
fn demand_sizes(check: &CheckedOperation<'_>, sizes: MlirType) -> RuleResult {
    check.demand_class(sizes, ElementClasses::INTEGER)?;
    check.demand_rank(sizes, 1)?;
    match (
        check.tensor_shape(sizes),
        check.tensor_shape(check.results[0]),
    ) {
        (Some(&[Some(count)]), Some(shape)) if count != shape.len() as u64 => {
            report_violation(format!(
                "there are {count} sizes, but the result has rank {}",
                shape.len()
            ))
        }
        _ => Ok(()),
    }
}

/// `dynamic_iota`
pub(crate) fn dynamic_iota(check: &CheckedOperation<'_>) -> RuleResult {
    demand_sizes(check, check.operands[0])?;
    verify_iota(check)
}

/// `dynamic_reshape`
pub(crate) fn dynamic_reshape(check: &CheckedOperation<'_>) -> RuleResult {
    demand_sizes(check, check.operands[1])?;
    verify_reshape(check)
}

/// `reshape`: the number of elements is unchanged.
pub(crate) fn verify_reshape(check: &CheckedOperation<'_>) -> RuleResult {
    let (from, to) = (check.operands[0], check.results[0]);
    check.demand_class(to, ElementClasses::ANY)?;
    check.demand_same_element(from, to)?;
    let elements = |ty| check.tensor_shape(ty).and_then(count_elements);
    match (elements(from), elements(to)) {
        (Some(before), Some(after)) if before != after => {
            let (from, to) = (check.format_type(from), check.format_type(to));
            report_violation(format!("{from} has {before} elements, {to} has {after}"))
        }
        _ => Ok(()),
    }
}

/// `broadcast`: new leading dimensions.
pub(crate) fn verify_broadcast(check: &CheckedOperation<'_>) -> RuleResult {
    let Some(shape) = check.tensor_shape(check.operands[0]) else {
        return Ok(());
    };
    let BroadcastAttributes { broadcast_sizes } = check.read_attributes()?;
    let new = broadcast_sizes
        .values
        .iter()
        .map(|&size| u64::try_from(size).ok());
    let result: Vec<DimSize> = new.chain(shape.iter().copied()).collect();
    check.demand_result(0, &result, check.operands[0])
}

/// `broadcast_in_dim`: each dimension of the operand is mapped to one of the result, and has its
/// size or 1.
pub(crate) fn broadcast_in_dim(check: &CheckedOperation<'_>) -> RuleResult {
    let BroadcastInDimAttributes {
        broadcast_dimensions,
    } = check.read_attributes()?;
    demand_stretchable(check, &broadcast_dimensions)
}

/// The operand can be stretched to the result along the dimensions that its own are mapped to.
fn demand_stretchable(
    check: &CheckedOperation<'_>,
    broadcast_dimensions: &IntegerList,
) -> RuleResult {
    let (from, to) = (check.operands[0], check.results[0]);
    check.demand_same_element(from, to)?;
    let (Some(source), Some(target)) = (check.tensor_shape(from), check.tensor_shape(to)) else {
        return Ok(());
    };
    if broadcast_dimensions.values.len() != source.len() {
        let message = "`broadcast_dimensions` has one number for each dimension of the operand";
        return report_violation(message);
    }
    let axes = check.check_axes(broadcast_dimensions, target.len())?;
    for (size, &axis) in source.iter().zip(&axes) {
        let fits =
            matches!(size, None | Some(1)) || target[axis].is_none() || *size == target[axis];
        if !fits {
            let (from, to) = (check.format_type(from), check.format_type(to));
            return report_violation(format!(
                "{from} does not stretch to dimension {axis} of {to}"
            ));
        }
    }
    Ok(())
}

/// `dynamic_broadcast_in_dim`
pub(crate) fn dynamic_broadcast_in_dim(check: &CheckedOperation<'_>) -> RuleResult {
    demand_sizes(check, check.operands[1])?;
    let attributes: DynamicBroadcastInDimAttributes = check.read_attributes()?;
    let known = [
        attributes.known_expanding_dimensions,
        attributes.known_nonexpanding_dimensions,
    ];
    let known = IntegerList {
        name: "known_…_dimensions",
        values: known
            .into_iter()
            .flatten()
            .flat_map(|list| list.values)
            .collect(),
    };
    if let Some(shape) = check.tensor_shape(check.operands[0]) {
        check.check_axes(&known, shape.len())?;
    }
    demand_stretchable(check, &attributes.broadcast_dimensions)
}

/// `transpose`
pub(crate) fn verify_transpose(check: &CheckedOperation<'_>) -> RuleResult {
    let Some(shape) = check.tensor_shape(check.operands[0]) else {
        return Ok(());
    };
    let TransposeAttributes { permutation } = check.read_attributes()?;
    check.integers_for(&permutation, shape.len())?;
    let axes = check.check_axes(&permutation, shape.len())?;
    let result: Vec<DimSize> = axes.iter().map(|&axis| shape[axis]).collect();
    check.demand_result(0, &result, check.operands[0])
}

/// `reverse`
pub(crate) fn verify_reverse(check: &CheckedOperation<'_>) -> RuleResult {
    check.demand_compatible(check.operands[0], check.results[0])?;
    let ReverseAttributes { dimensions } = check.read_attributes()?;
    if let Some(shape) = check.tensor_shape(check.operands[0]) {
        check.check_axes(&dimensions, shape.len())?;
    }
    Ok(())
}

/// `concatenate`
pub(crate) fn verify_concatenate(check: &CheckedOperation<'_>) -> RuleResult {
    let first = check.operands[0];
    let Some(shape) = check.tensor_shape(first) else {
        return Ok(());
    };
    let ConcatenateAttributes { dimension } = check.read_attributes()?;
    let axis = check.check_axis(dimension, shape.len())?;
    let mut result = shape.to_vec();
    result[axis] = Some(0);
    for &operand in &check.operands {
        check.demand_same_element(operand, first)?;
        let Some(shape) = check.tensor_shape(operand) else {
            return Ok(());
        };
        let mut expected = shape.to_vec();
        if expected.len() == result.len() {
            expected[axis] = result[axis];
        }
        if !is_compatible_shape(&expected, &result) {
            let (operand, first) = (check.format_type(operand), check.format_type(first));
            return report_violation(format!("{operand} does not continue {first}"));
        }
        let sum = |a: u64, b: u64| a.checked_add(b);
        result[axis] = result[axis].zip(shape[axis]).and_then(|(a, b)| sum(a, b));
        for (known, size) in result
            .iter_mut()
            .zip(shape)
            .enumerate()
            .filter(|(at, _)| *at != axis)
            .map(|(_, pair)| pair)
        {
            *known = known.or(*size);
        }
    }
    check.demand_result(0, &result, first)
}

/// `slice`: starts, limits and strides within the operand.
pub(crate) fn verify_slice(check: &CheckedOperation<'_>) -> RuleResult {
    let Some(shape) = check.tensor_shape(check.operands[0]) else {
        return Ok(());
    };
    let rank = shape.len();
    let attributes: SliceAttributes = check.read_attributes()?;
    let starts = check.integers_for(&attributes.start_indices, rank)?;
    let limits = check.integers_for(&attributes.limit_indices, rank)?;
    let strides = check.integers_for(&attributes.strides, rank)?;
    let mut result = Vec::with_capacity(rank);
    for (axis, &size) in shape.iter().enumerate() {
        let (start, limit, stride) = (starts[axis], limits[axis], strides[axis]);
        let inside = size.is_none_or(|size| i128::from(limit) <= i128::from(size));
        if !(0 <= start && start <= limit && stride > 0 && inside) {
            let size = size.map_or("?".to_owned(), |size| size.to_string());
            return report_violation(format!(
                "[{start}:{limit}:{stride}] is not a range of dimension {axis}, which has size {size}"
            ));
        }
        result.push(Some((limit - start) as u64).map(|length| length.div_ceil(stride as u64)));
    }
    check.demand_result(0, &result, check.operands[0])
}

/// Indices are integers, one tensor without dimensions for each dimension of the operand.
fn demand_indices(check: &CheckedOperation<'_>, indices: &[MlirType], rank: usize) -> RuleResult {
    if indices.len() != rank {
        let found = indices.len();
        return report_violation(format!(
            "there are {found} indices, but the operand has rank {rank}"
        ));
    }
    indices.iter().try_for_each(|&index| {
        check.demand_class(index, ElementClasses::INTEGER)?;
        check.demand_same_element(index, indices[0])?;
        check.demand_rank(index, 0)
    })
}

/// `dynamic_slice`
pub(crate) fn dynamic_slice(check: &CheckedOperation<'_>) -> RuleResult {
    let Some(shape) = check.tensor_shape(check.operands[0]) else {
        return Ok(());
    };
    demand_indices(check, &check.operands[1..], shape.len())?;
    let attributes: DynamicSliceAttributes = check.read_attributes()?;
    let sizes = check.integers_for(&attributes.slice_sizes, shape.len())?;
    let result = slice_sizes(sizes, shape)?;
    check.demand_result(0, &result, check.operands[0])
}

/// Sizes of a slice, each at most that of its dimension.
pub(crate) fn slice_sizes(sizes: &[i64], shape: &[DimSize]) -> RuleResult<Vec<DimSize>> {
    let mut result = Vec::with_capacity(sizes.len());
    for (&size, &of) in sizes.iter().zip(shape) {
        match u64::try_from(size) {
            Ok(size) if of.is_none_or(|of| size <= of) => result.push(Some(size)),
            _ => {
                let of = of.map_or("?".to_owned(), |of| of.to_string());
                return report_violation(format!(
                    "a slice of {size} does not fit into a dimension of {of}"
                ));
            }
        }
    }
    Ok(result)
}

/// `dynamic_update_slice`
pub(crate) fn dynamic_update_slice(check: &CheckedOperation<'_>) -> RuleResult {
    let (operand, update) = (check.operands[0], check.operands[1]);
    check.demand_same_element(operand, update)?;
    check.demand_compatible(operand, check.results[0])?;
    let (Some(shape), Some(part)) = (check.tensor_shape(operand), check.tensor_shape(update))
    else {
        return Ok(());
    };
    demand_indices(check, &check.operands[2..], shape.len())?;
    let fits =
        |(part, whole): (&DimSize, &DimSize)| part.is_none() || whole.is_none() || part <= whole;
    if part.len() == shape.len() && part.iter().zip(shape).all(fits) {
        return Ok(());
    }
    let (operand, update) = (check.format_type(operand), check.format_type(update));
    report_violation(format!("{update} does not fit into {operand}"))
}

/// `real_dynamic_slice`, `dynamic_pad`: lists of numbers, one for each dimension.
pub(crate) fn dynamic_lists(check: &CheckedOperation<'_>) -> RuleResult {
    let operand = check.operands[0];
    check.demand_same_element(operand, check.results[0])?;
    let Some(shape) = check.tensor_shape(operand) else {
        return Ok(());
    };
    check.demand_rank(check.results[0], shape.len())?;
    let lists = check.operands.len() - 3..check.operands.len();
    check.operands[lists].iter().try_for_each(|&list| {
        check.demand_class(list, ElementClasses::INTEGER)?;
        check.demand_rank(list, 1)?;
        match check.tensor_shape(list) {
            Some(&[Some(count)]) if count != shape.len() as u64 => report_violation(format!(
                "there are {count} numbers, but the operand has rank {}",
                shape.len()
            )),
            _ => Ok(()),
        }
    })
}

/// `pad`: sizes of the result follow from the padding.
pub(crate) fn verify_pad(check: &CheckedOperation<'_>) -> RuleResult {
    let operand = check.operands[0];
    check.demand_same_element(operand, check.operands[1])?;
    check.demand_rank(check.operands[1], 0)?;
    let Some(shape) = check.tensor_shape(operand) else {
        return Ok(());
    };
    let rank = shape.len();
    let attributes: PadAttributes = check.read_attributes()?;
    let low = check.integers_for(&attributes.edge_padding_low, rank)?;
    let high = check.integers_for(&attributes.edge_padding_high, rank)?;
    let interior = check.integers_for(&attributes.interior_padding, rank)?;
    let mut result = Vec::with_capacity(rank);
    for (axis, &size) in shape.iter().enumerate() {
        if interior[axis] < 0 {
            return report_violation("interior padding is not negative");
        }
        let padded = size.map(|size| {
            let size = i128::from(size);
            let inside = (size - 1).max(0) * i128::from(interior[axis]);
            size + inside + i128::from(low[axis]) + i128::from(high[axis])
        });
        match padded {
            Some(size) => match u64::try_from(size) {
                Ok(size) => result.push(Some(size)),
                Err(_) => {
                    return report_violation(format!("dimension {axis} gets the size {size}"));
                }
            },
            None => result.push(None),
        }
    }
    check.demand_result(0, &result, operand)
}

/// `get_dimension_size`
pub(crate) fn get_dimension_size(check: &CheckedOperation<'_>) -> RuleResult {
    check.demand_i32(check.results[0])?;
    check.demand_rank(check.results[0], 0)?;
    let DimensionSizeAttributes { dimension } = check.read_attributes()?;
    if let Some(shape) = check.tensor_shape(check.operands[0]) {
        check.check_axis(dimension, shape.len())?;
    }
    Ok(())
}

/// `set_dimension_size`
pub(crate) fn set_dimension_size(check: &CheckedOperation<'_>) -> RuleResult {
    check.demand_same_element(check.operands[0], check.results[0])?;
    check.demand_rank(check.operands[1], 0)?;
    let DimensionSizeAttributes { dimension } = check.read_attributes()?;
    if let Some(shape) = check.tensor_shape(check.operands[0]) {
        check.check_axis(dimension, shape.len())?;
    }
    Ok(())
}

/// Members of a type that has to be a tuple.
fn demand_tuple_members<'m>(
    check: &CheckedOperation<'m>,
    ty: MlirType,
) -> RuleResult<&'m [MlirType]> {
    match check.module.types.kind(ty) {
        MlirTypeKind::Tuple(members) => Ok(members),
        _ => report_violation(format!("{} is not a tuple", check.format_type(ty))),
    }
}

/// `tuple`
pub(crate) fn verify_tuple(check: &CheckedOperation<'_>) -> RuleResult {
    let members = demand_tuple_members(check, check.results[0])?;
    check.demand_all_compatible("operands", &check.operands, members)
}

/// `get_tuple_element`
pub(crate) fn get_tuple_element(check: &CheckedOperation<'_>) -> RuleResult {
    let members = demand_tuple_members(check, check.operands[0])?;
    let GetTupleElementAttributes { index } = check.read_attributes()?;
    let index = NamedInteger {
        name: "index",
        value: index.into(),
    };
    let at = check.check_axis(index, members.len())?;
    check.demand_compatible(check.results[0], members[at])
}

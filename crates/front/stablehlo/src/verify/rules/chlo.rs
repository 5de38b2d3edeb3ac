//! Rules of the `chlo` dialect, and of checks in tests.

use super::classes;
use crate::dialect::records::{ConstantAttributes, ScanAttributes, TopKAttributes};
use crate::mlir::DimSize;
use crate::verify::checked_operation::{
    CheckedOperation, ElementClasses, RuleResult, report_violation,
};

/// Operations with implicit broadcasting: the elements agree.
pub(crate) fn verify_broadcasting(check: &CheckedOperation<'_>) -> RuleResult {
    for &ty in &check.operands {
        check.demand_class(ty, classes::ANY)?;
        check.demand_same_element(ty, check.operands[0])?;
    }
    Ok(())
}

/// `top_k`: the last dimension becomes `k`.
pub(crate) fn top_k(check: &CheckedOperation<'_>) -> RuleResult {
    let operand = check.operands[0];
    let Some(shape) = check.tensor_shape(operand) else {
        return Ok(());
    };
    let TopKAttributes { k } = check.read_attributes()?;
    let (Some((&last, outer)), Ok(k)) = (shape.split_last(), u64::try_from(k)) else {
        return report_violation(format!(
            "`k` is {k}, the operand {}",
            check.format_type(operand)
        ));
    };
    if last.is_some_and(|last| last < k) {
        return report_violation(format!(
            "the last dimension of {} has less than {k}",
            check.format_type(operand)
        ));
    }
    let mut result: Vec<DimSize> = outer.to_vec();
    result.push(Some(k));
    check.demand_result(0, &result, operand)?;
    check.demand_result(1, &result, check.results[1])
}

/// `scan`: inputs and carries; the region takes and returns slices of them.
pub(crate) fn verify_scan(check: &CheckedOperation<'_>) -> RuleResult {
    let (arguments, returned) = check.region_types(0)?;
    if arguments.len() != check.operands.len() || returned.len() != check.results.len() {
        return report_violation(
            "the region takes a slice of each operand and returns one of each result",
        );
    }
    let Some(shape) = check
        .operands
        .first()
        .and_then(|&ty| check.tensor_shape(ty))
    else {
        return Ok(());
    };
    let attributes: ScanAttributes = check.read_attributes()?;
    check.check_axis(attributes.dimension, shape.len())?;
    Ok(())
}

/// `ragged_dot`
pub(crate) fn ragged_dot(check: &CheckedOperation<'_>) -> RuleResult {
    check.demand_class(check.operands[2], ElementClasses::INTEGER)?;
    check.demand_same_element(check.operands[0], check.operands[1])
}

/// `expect_eq` and similar checks: both operands have one type.
pub(crate) fn verify_expect(check: &CheckedOperation<'_>) -> RuleResult {
    check.demand_compatible(check.operands[0], check.operands[1])
}

/// `expect_eq_const` and similar checks: the elements have the type of the operand.
pub(crate) fn expect_const(check: &CheckedOperation<'_>) -> RuleResult {
    let ConstantAttributes { value } = check.read_attributes()?;
    match value.elements(check.module) {
        Some(value) => check.demand_compatible(value.ty, check.operands[0]),
        None => report_violation("`value` has no elements"),
    }
}

//! Rules of control flow.

use crate::mlir::{MlirType, MlirTypeKind};
use crate::verify::checked_operation::{
    CheckedOperation, ElementClasses, RuleResult, report_violation,
};

/// `while`: the condition returns a Boolean, the body new values.
pub(crate) fn while_loop(check: &CheckedOperation<'_>) -> RuleResult {
    let (arguments, returned) = check.region_types(0)?;
    check.demand_all_compatible("arguments of the condition", &arguments, &check.operands)?;
    let &[condition] = returned.as_slice() else {
        return report_violation("the condition returns one value");
    };
    check.demand_class(condition, ElementClasses::BOOL)?;
    check.demand_rank(condition, 0)?;
    let (arguments, returned) = check.region_types(1)?;
    check.demand_all_compatible("arguments of the body", &arguments, &check.operands)?;
    check.demand_all_compatible("values that the body returns", &returned, &check.operands)?;
    check.demand_all_compatible("results", &check.results, &check.operands)
}

/// Regions without arguments that return the results.
fn verify_branches(check: &CheckedOperation<'_>) -> RuleResult {
    for region in 0..check.module.regions(check.op).len() {
        let (arguments, returned) = check.region_types(region)?;
        if !arguments.is_empty() {
            return report_violation("a branch has no arguments");
        }
        check.demand_all_compatible("values that a branch returns", &returned, &check.results)?;
    }
    Ok(())
}

/// `if`
pub(crate) fn if_else(check: &CheckedOperation<'_>) -> RuleResult {
    check.demand_class(check.operands[0], ElementClasses::BOOL)?;
    check.demand_rank(check.operands[0], 0)?;
    verify_branches(check)
}

/// `case`
pub(crate) fn verify_case(check: &CheckedOperation<'_>) -> RuleResult {
    check.demand_i32(check.operands[0])?;
    check.demand_rank(check.operands[0], 0)?;
    verify_branches(check)
}

/// The types of the values that a future has.
fn demand_future<'m>(check: &CheckedOperation<'m>, ty: MlirType) -> RuleResult<&'m [MlirType]> {
    match check.module.types.kind(ty) {
        MlirTypeKind::Future(members) => Ok(members),
        _ => report_violation(format!("{} is not a future", check.format_type(ty))),
    }
}

/// `async_start`: the result is a future of the values that the region returns.
pub(crate) fn async_start(check: &CheckedOperation<'_>) -> RuleResult {
    let (arguments, returned) = check.region_types(0)?;
    check.demand_all_compatible("arguments of the region", &arguments, &check.operands)?;
    let members = demand_future(check, check.results[0])?;
    check.demand_all_compatible("values that the region returns", &returned, members)
}

/// `async_done`
pub(crate) fn async_done(check: &CheckedOperation<'_>) -> RuleResult {
    let members = demand_future(check, check.operands[0])?;
    check.demand_all_compatible("results", &check.results, members)
}

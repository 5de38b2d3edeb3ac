//! Control flow.

use crate::verify::check::{CheckedOperation, ElementClasses, RuleResult, fault};

/// `while`: the condition returns a truth value, the body new values.
pub(crate) fn while_loop(check: &CheckedOperation<'_>) -> RuleResult {
    let (arguments, returned) = check.region_types(0)?;
    check.demand_all_compatible("arguments of the condition", &arguments, &check.operands)?;
    let &[condition] = returned.as_slice() else {
        return fault("the condition returns one value");
    };
    check.demand(condition, ElementClasses::BOOL)?;
    check.demand_rank(condition, 0)?;
    let (arguments, returned) = check.region_types(1)?;
    check.demand_all_compatible("arguments of the body", &arguments, &check.operands)?;
    check.demand_all_compatible("values that the body returns", &returned, &check.operands)?;
    check.demand_all_compatible("results", &check.results, &check.operands)
}

/// Regions without arguments that return the results.
fn branches(check: &CheckedOperation<'_>) -> RuleResult {
    for region in 0..check.module.regions(check.op).len() {
        let (arguments, returned) = check.region_types(region)?;
        if !arguments.is_empty() {
            return fault("a branch has no arguments");
        }
        check.demand_all_compatible("values that a branch returns", &returned, &check.results)?;
    }
    Ok(())
}

/// `if`
pub(crate) fn if_else(check: &CheckedOperation<'_>) -> RuleResult {
    check.demand(check.operands[0], ElementClasses::BOOL)?;
    check.demand_rank(check.operands[0], 0)?;
    branches(check)
}

/// `case`
pub(crate) fn case(check: &CheckedOperation<'_>) -> RuleResult {
    check.demand_i32(check.operands[0])?;
    check.demand_rank(check.operands[0], 0)?;
    branches(check)
}

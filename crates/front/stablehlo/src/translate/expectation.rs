//! Checks of test programs: `check.expect_…`, and custom calls that mean the same.

use super::error::TranslateResult;
use super::result_check::{ResultCheck, ResultTolerance, find_tolerance};
use super::translator::StablehloTranslator;
use super::translator::TypedTensor;
use crate::dialect::records::CheckAttributes;
use crate::mlir::{AttributeKind, MlirOp};
use spirula_program::ScalarLiteral;

/// Binds the result of a check that has one. Its value is true, as the comparison happens after the
/// run.
fn bind_check_result(t: &mut StablehloTranslator<'_>, op: MlirOp) -> TranslateResult<()> {
    if t.module.results(op).len() == 0 {
        return Ok(());
    }
    let value = t.builder.add_splat(
        ScalarLiteral::new(spirula_program::ScalarType::Bool, 1),
        &[],
    );
    t.bind_result(
        op,
        TypedTensor::new(super::element::TensorElement::Bool, value),
    )
}

/// `check.expect_…`
pub(super) fn translate_expect(t: &mut StablehloTranslator<'_>, op: MlirOp) -> TranslateResult<()> {
    let name = t.module.op_name(op);
    record_check(t, op, name.strip_prefix("check.").unwrap_or(name))
}

/// `custom_call @check.…`: records the check, and binds the result that the call may have.
pub(super) fn translate_check_call(
    t: &mut StablehloTranslator<'_>,
    op: MlirOp,
    name: &str,
) -> TranslateResult<()> {
    record_check(t, op, name)?;
    bind_check_result(t, op)
}

/// Records the check that an operation means.
fn record_check(t: &mut StablehloTranslator<'_>, op: MlirOp, name: &str) -> TranslateResult<()> {
    let Some(mut likeness) = find_tolerance(name) else {
        return Err(t.unsupported_error(op, format!("check.{name}")));
    };
    if t.is_nested() {
        return Err(t.unsupported_error(op, "check within control flow"));
    }
    let attributes: CheckAttributes = t.read_attributes(op)?;
    if let (ResultTolerance::Within(_), Some(tolerance)) = (likeness, attributes.tolerance) {
        likeness = ResultTolerance::Within(tolerance);
    }
    if let (ResultTolerance::Ulps(_), Some(most)) = (likeness, attributes.max_ulp_difference) {
        likeness = ResultTolerance::Ulps(most.unsigned_abs());
    }
    let found = t.tensor_operand(op, 0)?;
    let expected = match attributes.value {
        Some(value)
            if matches!(
                t.module.attributes.kind(value.0),
                AttributeKind::Elements(_)
            ) =>
        {
            super::constant::translate_elements(t, op, value)?
        }
        _ => t.tensor_operand(op, 1)?,
    };
    let same =
        found.element == expected.element && t.tensor_shape(&found) == t.tensor_shape(&expected);
    t.ensure_holds(op, same, "compares tensors of different types")?;
    let check = ResultCheck {
        likeness,
        element: found.element,
        found: 0,
        expected: 0,
        place: t.module.source_location(op),
    };
    t.checks.push((check, found, expected));
    Ok(())
}

//! What programs that test an implementation say about their values.

use super::element::TensorElement;
use super::error::TranslateResult;
use super::translator::StablehloTranslator;
use crate::dialect::table::CheckAttributes;
use crate::mlir::{AttributeKind, MlirOp};
use spirula_diagnostics::SourceLocation;

/// How two tensors have to be alike.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ResultTolerance {
    /// The same bits.
    Equal,
    /// Not further apart than this.
    Within(f64),
    /// Not more numbers of the type apart than this.
    Ulps(u64),
}

/// Two results of a function that have to be alike.
#[derive(Clone, Debug, PartialEq)]
pub struct ResultCheck {
    /// How.
    pub likeness: ResultTolerance,
    /// Type of the elements.
    pub element: TensorElement,
    /// The result that is checked.
    pub found: usize,
    /// The result that it is compared with.
    pub expected: usize,
    /// Where the check stands.
    pub place: SourceLocation,
}

/// Checks by their names without dialect: how tensors have to be alike by default.
const CHECKS: &[(&str, ResultTolerance)] = &[
    ("expect_eq", ResultTolerance::Equal),
    ("expect_eq_const", ResultTolerance::Equal),
    ("eq", ResultTolerance::Equal),
    ("expect_almost_eq", ResultTolerance::Within(1e-4)),
    ("expect_almost_eq_const", ResultTolerance::Within(1e-4)),
    ("expect_close", ResultTolerance::Ulps(3)),
];

/// A check that a name means.
pub(super) fn find_tolerance(name: &str) -> Option<ResultTolerance> {
    let row = CHECKS.iter().find(|(row, _)| *row == name);
    row.map(|(_, likeness)| *likeness)
}

/// Notes a check of an operation.
pub(super) fn record_check(
    t: &mut StablehloTranslator<'_>,
    op: MlirOp,
    name: &str,
) -> TranslateResult<()> {
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

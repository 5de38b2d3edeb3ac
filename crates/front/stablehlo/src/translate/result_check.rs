//! What programs that test an implementation say about their values.

use super::element::TensorElement;
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

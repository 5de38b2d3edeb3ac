//! Checks of results, which programs that test an implementation contain.

use super::element::TensorElement;
use spirula_diagnostics::SourceLocation;

/// Required similarity of two tensors.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ResultTolerance {
    /// The same bits.
    Equal,
    /// The distance is at most this.
    Within(f64),
    /// The distance is at most this many representable numbers.
    Ulps(u64),
}

/// Two results of a function that are compared.
#[derive(Clone, Debug, PartialEq)]
pub struct ResultCheck {
    /// Required similarity.
    pub likeness: ResultTolerance,
    /// Type of the elements.
    pub element: TensorElement,
    /// The result that is checked.
    pub found: usize,
    /// The result that it is compared with.
    pub expected: usize,
    /// Location of the check.
    pub place: SourceLocation,
}

/// Checks by their names without dialect, with their default tolerance.
const CHECKS: &[(&str, ResultTolerance)] = &[
    ("expect_eq", ResultTolerance::Equal),
    ("expect_eq_const", ResultTolerance::Equal),
    ("eq", ResultTolerance::Equal),
    ("expect_almost_eq", ResultTolerance::Within(1e-4)),
    ("expect_almost_eq_const", ResultTolerance::Within(1e-4)),
    ("expect_close", ResultTolerance::Ulps(3)),
];

/// The default tolerance of a check.
pub(super) fn find_tolerance(name: &str) -> Option<ResultTolerance> {
    let row = CHECKS.iter().find(|(row, _)| *row == name);
    row.map(|(_, likeness)| *likeness)
}

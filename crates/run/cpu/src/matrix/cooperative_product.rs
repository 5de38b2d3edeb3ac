//! Cooperative product: shapes and types of a product of cooperative matrices.

use crate::module::types::ScalarRepr;

/// A product of `rows` by `depth` components with `depth` by `columns` components.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CooperativeProduct {
    /// Rows of the first factor and of the result.
    pub rows: u32,
    /// Columns of the second factor and of the result.
    pub columns: u32,
    /// Columns of the first factor, rows of the second.
    pub depth: u32,
    /// Component types of the two factors, the summand and the result.
    pub scalars: [ScalarRepr; 4],
    /// Components that each invocation holds of the two factors and the summand.
    pub parts: [u32; 3],
    /// Mask of `CooperativeMatrixOperands`: which operands are signed, and whether the result saturates.
    pub operands: u32,
}

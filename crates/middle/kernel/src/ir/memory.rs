//! Elements of memory.

use super::{ExprId, VarId};
use spirula_program::ScalarType;

/// An element of memory or of a private array.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MemoryElement {
    /// The block or array.
    pub memory: VarId,
    /// Type of the element.
    pub ty: ScalarType,
    /// Its index, counted in elements of this type from the beginning of the block; an `i64`.
    pub index: ExprId,
    /// Whether other workgroups may change it concurrently.
    pub volatile: bool,
}

//! Fragments: cooperative matrices of a subgroup.
//!
//! A fragment is a small matrix that the invocations of a subgroup hold together: each has some of its elements.
//! The device decides which invocation has which element (`SPV_KHR_cooperative_matrix`). All invocations of a
//! subgroup take part in each operation.

use super::{ExprId, MemoryElement, VarId};
use spirula_program::ScalarType;

/// The type of a fragment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FragmentType {
    /// Type of the elements.
    pub number: FragmentElement,
    /// The operand of a product that it is.
    pub role: FragmentRole,
    /// Rows.
    pub rows: u32,
    /// Columns.
    pub columns: u32,
}

/// Element types of fragments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FragmentElement {
    /// IEEE 754 binary16.
    F16,
    /// The upper half of a binary32.
    Bf16,
    /// IEEE 754 binary32.
    F32,
    /// Signed integer of 8 bits.
    I8,
    /// Unsigned integer of 8 bits.
    U8,
    /// Signed integer of 32 bits.
    I32,
}

impl FragmentElement {
    /// All element types with their names.
    pub const NAMES: [(&'static str, FragmentElement); 6] = [
        ("f16", FragmentElement::F16),
        ("bf16", FragmentElement::Bf16),
        ("f32", FragmentElement::F32),
        ("i8", FragmentElement::I8),
        ("u8", FragmentElement::U8),
        ("i32", FragmentElement::I32),
    ];

    /// The scalar type that memory holds for an element.
    pub fn storage_type(self) -> ScalarType {
        match self {
            FragmentElement::F16 => ScalarType::F16,
            FragmentElement::Bf16 => ScalarType::I16,
            FragmentElement::F32 => ScalarType::F32,
            FragmentElement::I8 | FragmentElement::U8 => ScalarType::I8,
            FragmentElement::I32 => ScalarType::I32,
        }
    }

    /// Whether it is a signed integer.
    pub fn is_signed(self) -> bool {
        matches!(self, FragmentElement::I8 | FragmentElement::I32)
    }
}

/// The operand of a product that a fragment is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FragmentRole {
    /// The first factor.
    Left,
    /// The second factor.
    Right,
    /// The sum that products are added to.
    Sum,
}

impl FragmentRole {
    /// All roles with their names.
    pub const NAMES: [(&'static str, FragmentRole); 3] = [
        ("left", FragmentRole::Left),
        ("right", FragmentRole::Right),
        ("sum", FragmentRole::Sum),
    ];
}

/// The order of a fragment's elements in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FragmentOrder {
    /// Row-major: elements of a row are adjacent.
    Rows,
    /// Column-major: elements of a column are adjacent.
    Columns,
}

impl FragmentOrder {
    /// All orders with their names.
    pub const NAMES: [(&'static str, FragmentOrder); 2] = [
        ("rows", FragmentOrder::Rows),
        ("columns", FragmentOrder::Columns),
    ];
}

/// The place of a fragment in memory. The first element and each row (or column) begin at a multiple of 16 bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FragmentAddress {
    /// The first element, with the type that memory holds.
    pub first: MemoryElement,
    /// Whether rows or columns are contiguous.
    pub order: FragmentOrder,
    /// Elements from one row (or column) to the next, an `i64`.
    pub stride: ExprId,
}

/// An operation on fragments.
#[derive(Clone, Debug, PartialEq)]
pub enum FragmentOp {
    /// Sets all elements to zero.
    Clear(VarId),
    /// Loads a fragment from memory.
    Load {
        /// The fragment that is loaded.
        to: VarId,
        /// Its place in memory.
        from: FragmentAddress,
    },
    /// Stores a fragment to memory.
    Store {
        /// Its place in memory.
        to: FragmentAddress,
        /// The fragment that is stored.
        from: VarId,
    },
    /// Adds the product of two fragments to a third.
    Accumulate {
        /// The sum.
        to: VarId,
        /// The factors.
        factors: [VarId; 2],
    },
}

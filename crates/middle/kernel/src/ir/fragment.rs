//! Cooperative matrices: what the invocations of a subgroup hold together.
//!
//! A fragment is a small matrix of which every invocation of a subgroup has some elements; which, is
//! the device's affair (`SPV_KHR_cooperative_matrix`). All invocations of a subgroup take part in each
//! operation.

use super::{ExprId, MemoryElement, VarId};
use spirula_program::ScalarType;

/// The type of fragments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FragmentType {
    /// Type of the elements.
    pub number: FragmentElement,
    /// What it is in products.
    pub role: FragmentRole,
    /// Rows.
    pub rows: u32,
    /// Columns.
    pub columns: u32,
}

/// Types of the elements of fragments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FragmentElement {
    /// IEEE 754 binary16.
    F16,
    /// The upper half of a binary32.
    Bf16,
    /// IEEE 754 binary32.
    F32,
    /// Integer of 8 bits with a sign.
    I8,
    /// Integer of 8 bits without one.
    U8,
    /// Integer of 32 bits with a sign.
    I32,
}

impl FragmentElement {
    /// All, with their names.
    pub const NAMES: [(&'static str, FragmentElement); 6] = [
        ("f16", FragmentElement::F16),
        ("bf16", FragmentElement::Bf16),
        ("f32", FragmentElement::F32),
        ("i8", FragmentElement::I8),
        ("u8", FragmentElement::U8),
        ("i32", FragmentElement::I32),
    ];

    /// What memory holds of it.
    pub fn storage_type(self) -> ScalarType {
        match self {
            FragmentElement::F16 => ScalarType::F16,
            FragmentElement::Bf16 => ScalarType::I16,
            FragmentElement::F32 => ScalarType::F32,
            FragmentElement::I8 | FragmentElement::U8 => ScalarType::I8,
            FragmentElement::I32 => ScalarType::I32,
        }
    }

    /// Whether it is an integer with a sign.
    pub fn is_signed(self) -> bool {
        matches!(self, FragmentElement::I8 | FragmentElement::I32)
    }
}

/// What a fragment is in products.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FragmentRole {
    /// The first factor.
    Left,
    /// The second factor.
    Right,
    /// What products are added to.
    Sum,
}

impl FragmentRole {
    /// All, with their names.
    pub const NAMES: [(&'static str, FragmentRole); 3] = [
        ("left", FragmentRole::Left),
        ("right", FragmentRole::Right),
        ("sum", FragmentRole::Sum),
    ];
}

/// Which elements lie next to each other in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FragmentOrder {
    /// Those of a row.
    Rows,
    /// Those of a column.
    Columns,
}

impl FragmentOrder {
    /// All, with their names.
    pub const NAMES: [(&'static str, FragmentOrder); 2] = [
        ("rows", FragmentOrder::Rows),
        ("columns", FragmentOrder::Columns),
    ];
}

/// Where a fragment lies in memory. First element and rows, or columns, begin at multiples of 16 bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FragmentAddress {
    /// The first element, of the type that memory holds.
    pub first: MemoryElement,
    /// What lies next to each other.
    pub order: FragmentOrder,
    /// Elements from one row, or column, to the next, an `i64`.
    pub stride: ExprId,
}

/// What is done with fragments.
#[derive(Clone, Debug, PartialEq)]
pub enum FragmentOp {
    /// Makes all elements zeros.
    Clear(VarId),
    /// Reads one from memory.
    Load {
        /// Gets it.
        to: VarId,
        /// Where it lies.
        from: FragmentAddress,
    },
    /// Writes one to memory.
    Store {
        /// Where it is to lie.
        to: FragmentAddress,
        /// What is written.
        from: VarId,
    },
    /// Adds the product of two.
    Accumulate {
        /// What it is added to.
        to: VarId,
        /// The factors.
        factors: [VarId; 2],
    },
}

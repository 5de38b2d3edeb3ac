//! Cooperative matrices: what the invocations of a subgroup hold together.
//!
//! A fragment is a small matrix of which every invocation of a subgroup has some elements; which, is
//! the device's affair (`SPV_KHR_cooperative_matrix`). All invocations of a subgroup take part in each
//! operation.

use super::{Element, Expr, Var};
use spirula_program::Scalar;

/// The type of fragments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Fragment {
    /// Type of the elements.
    pub number: Number,
    /// What it is in products.
    pub role: Role,
    /// Rows.
    pub rows: u32,
    /// Columns.
    pub columns: u32,
}

/// Types of the elements of fragments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Number {
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

impl Number {
    /// All, with their names.
    pub const NAMES: [(&'static str, Number); 6] = [
        ("f16", Number::F16),
        ("bf16", Number::Bf16),
        ("f32", Number::F32),
        ("i8", Number::I8),
        ("u8", Number::U8),
        ("i32", Number::I32),
    ];

    /// What memory holds of it.
    pub fn stored(self) -> Scalar {
        match self {
            Number::F16 => Scalar::F16,
            Number::Bf16 => Scalar::I16,
            Number::F32 => Scalar::F32,
            Number::I8 | Number::U8 => Scalar::I8,
            Number::I32 => Scalar::I32,
        }
    }

    /// Whether it is an integer with a sign.
    pub fn is_signed(self) -> bool {
        matches!(self, Number::I8 | Number::I32)
    }
}

/// What a fragment is in products.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// The first factor.
    Left,
    /// The second factor.
    Right,
    /// What products are added to.
    Sum,
}

impl Role {
    /// All, with their names.
    pub const NAMES: [(&'static str, Role); 3] = [
        ("left", Role::Left),
        ("right", Role::Right),
        ("sum", Role::Sum),
    ];
}

/// Which elements lie next to each other in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Those of a row.
    Rows,
    /// Those of a column.
    Columns,
}

impl Order {
    /// All, with their names.
    pub const NAMES: [(&'static str, Order); 2] =
        [("rows", Order::Rows), ("columns", Order::Columns)];
}

/// Where a fragment lies in memory. First element and rows, or columns, begin at multiples of 16 bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Patch {
    /// The first element, of the type that memory holds.
    pub first: Element,
    /// What lies next to each other.
    pub order: Order,
    /// Elements from one row, or column, to the next, an `i64`.
    pub stride: Expr,
}

/// What is done with fragments.
#[derive(Clone, Debug, PartialEq)]
pub enum FragmentOp {
    /// Makes all elements zeros.
    Clear(Var),
    /// Reads one from memory.
    Load {
        /// Gets it.
        to: Var,
        /// Where it lies.
        from: Patch,
    },
    /// Writes one to memory.
    Store {
        /// Where it is to lie.
        to: Patch,
        /// What is written.
        from: Var,
    },
    /// Adds the product of two.
    Accumulate {
        /// What it is added to.
        to: Var,
        /// The factors.
        factors: [Var; 2],
    },
}

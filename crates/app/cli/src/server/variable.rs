//! Variables of a server.

use spirula_program::{ProgramValue, ScalarType};

/// A value of a type: the plain values that it consists of.
#[derive(Clone, Debug, PartialEq)]
pub struct ServerVariable {
    /// Name of its type.
    pub type_name: String,
    /// Its parts, one for a scalar or an array of scalars.
    pub parts: Vec<ProgramValue>,
}

/// The type of a plain value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ValueLayout {
    /// Type of the elements.
    pub element: ScalarType,
    /// Whether integers have no sign.
    pub unsigned: bool,
    /// Number of dimensions.
    pub rank: usize,
}

impl ValueLayout {
    /// The layout of a value.
    pub fn of_value(value: &ProgramValue) -> ValueLayout {
        ValueLayout {
            element: value.element,
            unsigned: value.unsigned && value.element.is_int(),
            rank: value.shape.len(),
        }
    }

    /// The name of the type, `[][]u8`.
    pub fn type_name(self) -> String {
        let scalar = self.make_default();
        "[]".repeat(self.rank) + &scalar.type_name()
    }

    /// Zero, or an array without elements.
    pub fn make_default(self) -> ProgramValue {
        let count = if self.rank > 0 { 0 } else { 1 };
        ProgramValue {
            element: self.element,
            unsigned: self.unsigned,
            shape: vec![0; self.rank],
            bytes: vec![0; count * self.element.size() as usize],
        }
    }
}

//! Values of the evaluator, and values as they come from outside.

use super::SoacValue;
use spirula_program::{ProgramValue, ScalarLiteral, ScalarType};

impl SoacValue {
    /// The parameters of a function for an argument: the sizes of an array, then the scalar or array.
    pub fn list_argument(value: &ProgramValue) -> Vec<Self> {
        let shape: Vec<i64> = value.shape.iter().map(|&size| size as i64).collect();
        let sizes = shape.iter().map(|&size| ScalarLiteral::from_i64(size));
        let mut listed: Vec<Self> = sizes.map(SoacValue::Scalar).collect();
        let bits = value.elements().collect();
        listed.push(SoacValue::from_parts(value.element, &shape, bits));
        listed
    }

    /// The value for the outside, whose integers may have no sign.
    pub fn to_program_value(&self, unsigned: bool) -> ProgramValue {
        let element = self.element();
        let size = element.size() as usize;
        let bits = self.bits();
        let bytes = bits
            .iter()
            .flat_map(|bits| bits.to_le_bytes().into_iter().take(size));
        ProgramValue {
            element,
            unsigned: unsigned && element != ScalarType::Bool,
            shape: self.shape().iter().map(|&size| size as u64).collect(),
            bytes: bytes.collect(),
        }
    }
}

//! Between the arrays of this crate and the values of programs.

use spirula_program::program::{EntrySize, EntryValue};
use spirula_program::{Scalar, Value};
use spirula_runtime::data::{Array, DataError, Element};

/// The types of programs with those of arrays: type, whether it has no sign, and the array's.
const TYPES: &[(Scalar, bool, Element)] = &[
    (Scalar::I8, false, Element::I8),
    (Scalar::I16, false, Element::I16),
    (Scalar::I32, false, Element::I32),
    (Scalar::I64, false, Element::I64),
    (Scalar::I8, true, Element::U8),
    (Scalar::I16, true, Element::U16),
    (Scalar::I32, true, Element::U32),
    (Scalar::I64, true, Element::U64),
    (Scalar::F16, false, Element::F16),
    (Scalar::F32, false, Element::F32),
    (Scalar::F64, false, Element::F64),
    (Scalar::Bool, false, Element::Bool),
];

/// The array type of a program's type.
pub fn element(ty: Scalar, unsigned: bool) -> Option<Element> {
    let row = TYPES.iter().find(|row| (row.0, row.1) == (ty, unsigned));
    row.map(|row| row.2)
}

/// A value as an array.
///
/// # Errors
/// When arrays lack its type, or it is damaged.
pub fn to_array(value: &Value) -> Result<Array, DataError> {
    let name = value.type_name();
    let element = element(value.element, value.unsigned).ok_or(DataError::Element(name))?;
    let shape = value.shape.iter().map(|size| *size as usize).collect();
    Array::new(element, shape, value.bytes.clone())
}

/// An array as a value; `None` when programs lack its type.
pub fn of_array(array: Array) -> Option<Value> {
    let row = TYPES.iter().find(|row| row.2 == array.element())?;
    Some(Value {
        element: row.0,
        unsigned: row.1,
        shape: array.shape().iter().map(|size| *size as u64).collect(),
        bytes: array.into_bytes(),
    })
}

/// The type of a parameter or result as arguments write it, `?x3xf32`; a size that is not known is
/// a question mark.
pub fn type_text(value: Option<&EntryValue>) -> String {
    let Some(value) = value else {
        return "opaque".to_owned();
    };
    let sizes = value.shape.iter().flatten().map(|size| match size {
        EntrySize::Known(size) => format!("{size}x"),
        EntrySize::Scalar(_) => "?x".to_owned(),
    });
    let element = element(value.element, value.unsigned);
    let name = element.map_or(value.element.name(), Element::name);
    sizes.chain([name.to_owned()]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_become_values_and_come_back() {
        for element in Element::all() {
            let bytes = vec![1; 6 * element.size()];
            let array = Array::new(element, vec![2, 3], bytes).unwrap();
            let Some(value) = of_array(array.clone()) else {
                assert_eq!(element, Element::BF16);
                continue;
            };
            assert_eq!(value.type_name(), element.name());
            assert_eq!(to_array(&value), Ok(array));
        }
    }
}

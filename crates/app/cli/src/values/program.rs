//! Conversion between arrays and the values of programs.

use spirula_program::program::{EntrySize, EntryValueType};
use spirula_program::{ProgramValue, ScalarType};
use spirula_runtime::data::{DataError, ElementArray, ElementType};

/// Types of programs with those of arrays: type, whether it is unsigned, and the array's type.
const TYPES: &[(ScalarType, bool, ElementType)] = &[
    (ScalarType::I8, false, ElementType::I8),
    (ScalarType::I16, false, ElementType::I16),
    (ScalarType::I32, false, ElementType::I32),
    (ScalarType::I64, false, ElementType::I64),
    (ScalarType::I8, true, ElementType::U8),
    (ScalarType::I16, true, ElementType::U16),
    (ScalarType::I32, true, ElementType::U32),
    (ScalarType::I64, true, ElementType::U64),
    (ScalarType::F16, false, ElementType::F16),
    (ScalarType::F32, false, ElementType::F32),
    (ScalarType::F64, false, ElementType::F64),
    (ScalarType::Bool, false, ElementType::Bool),
];

/// The array type of a program's type.
pub fn to_element_type(ty: ScalarType, unsigned: bool) -> Option<ElementType> {
    let row = TYPES.iter().find(|row| (row.0, row.1) == (ty, unsigned));
    row.map(|row| row.2)
}

/// Converts a value to an array.
///
/// # Errors
/// When arrays lack the type of the value, or the value is malformed.
pub fn to_array(value: &ProgramValue) -> Result<ElementArray, DataError> {
    let name = value.type_name();
    let element = to_element_type(value.element, value.unsigned).ok_or(DataError::Element(name))?;
    let shape = value.shape.iter().map(|size| *size as usize).collect();
    ElementArray::new(element, shape, value.bytes.clone())
}

/// Converts an array to a value; `None` when programs lack its type.
pub fn of_array(array: ElementArray) -> Option<ProgramValue> {
    let row = TYPES.iter().find(|row| row.2 == array.element())?;
    Some(ProgramValue {
        element: row.0,
        unsigned: row.1,
        shape: array.shape().iter().map(|size| *size as u64).collect(),
        bytes: array.into_bytes(),
    })
}

/// The type of a parameter or result in the syntax of arguments, such as `?x3xf32`. An unknown size is a question mark.
pub fn type_text(value: Option<&EntryValueType>) -> String {
    let Some(value) = value else {
        return "opaque".to_owned();
    };
    let sizes = value.shape.iter().flatten().map(|size| match size {
        EntrySize::Known(size) => format!("{size}x"),
        EntrySize::Scalar(_) => "?x".to_owned(),
    });
    let element = to_element_type(value.element, value.unsigned);
    let name = element.map_or(value.element.name(), ElementType::name);
    sizes.chain([name.to_owned()]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_become_values_and_come_back() {
        for element in ElementType::iter_all() {
            let bytes = vec![1; 6 * element.size()];
            let array = ElementArray::new(element, vec![2, 3], bytes).unwrap();
            let Some(value) = of_array(array.clone()) else {
                assert_eq!(element, ElementType::BF16);
                continue;
            };
            assert_eq!(value.type_name(), element.name());
            assert_eq!(to_array(&value), Ok(array));
        }
    }
}

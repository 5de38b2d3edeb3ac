//! Random values of given types for Futhark's test programs, such as `[100][3]f32 5i64 u8`. Integers have random bits,
//! and floats lie between 0 and 1. The generator is one of this project.

use crate::values::program::of_array;
use spirula_program::ProgramValue;
use spirula_runtime::data::{
    BufferFill, ElementArray, ElementClass, ElementType, generate_elements, measure_shape,
};

/// The seed of the first value. It increases by one with each value.
const SEED: u64 = 1;

/// Size limit of a value, in bytes.
const LARGEST: usize = 1 << 31;

/// Makes one value for each type. Literal values are kept.
///
/// # Errors
/// When a word is neither a type nor a value, or a value is too large.
pub fn make_random_values(types: &str) -> Result<Vec<ProgramValue>, String> {
    let mut values = Vec::new();
    for (number, word) in types.split_whitespace().enumerate() {
        match parse_array_type(word)? {
            Some((shape, element)) => {
                values.push(make_random_array(&shape, element, SEED + number as u64)?);
            }
            None => {
                let literal = ProgramValue::read_all(word.as_bytes());
                values.extend(literal.map_err(|e| format!("{word} is not a type: {e}"))?);
            }
        }
    }
    Ok(values)
}

/// Checks that all words are types or values.
///
/// # Errors
/// The first word that is neither.
pub fn check_random_types(types: &str) -> Result<(), String> {
    types.split_whitespace().try_for_each(|word| {
        if parse_array_type(word)?.is_none() {
            let literal = ProgramValue::read_all(word.as_bytes());
            literal.map_err(|e| format!("{word} is not a type: {e}"))?;
        }
        Ok(())
    })
}

/// Parses a type such as `[10][20i64]f32`; `None` for words that do not end with the name of a type.
fn parse_array_type(word: &str) -> Result<Option<(Vec<usize>, ElementType)>, String> {
    let (sizes, name) = word.split_at(word.rfind(']').map_or(0, |at| at + 1));
    let Ok(element) = name.parse::<ElementType>() else {
        return Ok(None);
    };
    let mut shape = Vec::new();
    for size in sizes.split_inclusive(']') {
        let inner = size.strip_prefix('[').and_then(|s| s.strip_suffix(']'));
        let digits = inner.map(|s| s.trim_end_matches("i64").replace('_', ""));
        let size = digits.and_then(|s| s.parse().ok());
        shape.push(size.ok_or_else(|| format!("{word} is not a type"))?);
    }
    Ok(Some((shape, element)))
}

/// Makes an array, or a scalar where there are no dimensions.
///
/// # Errors
/// When it is too large, or programs lack its type.
pub fn make_random_array(
    shape: &[usize],
    element: ElementType,
    seed: u64,
) -> Result<ProgramValue, String> {
    let room = measure_shape(element, shape).filter(|(_, bytes)| *bytes <= LARGEST);
    let (count, _) = room.ok_or("a random value is too large")?;
    let fill = match element.class() {
        ElementClass::Float => BufferFill::Reals {
            low: 0.0,
            high: 1.0,
            seed,
            diagonal: None,
        },
        _ => BufferFill::Bits { seed },
    };
    let mut bytes = generate_elements(element, count, &fill).map_err(|e| e.to_string())?;
    if element == ElementType::Bool {
        bytes.iter_mut().for_each(|b| *b &= 1);
    }
    let array = ElementArray::new(element, shape.to_vec(), bytes).map_err(|e| e.to_string())?;
    of_array(array).ok_or_else(|| format!("programs have no {element}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_and_values() {
        let made = make_random_values("[2][3i64]f32 i64 5i32 [0]bool [4]bool").unwrap();
        let types: Vec<_> = made
            .iter()
            .map(|v| (v.shape.clone(), v.type_name()))
            .collect();
        let want = [
            (vec![2, 3], "f32"),
            (vec![], "i64"),
            (vec![], "i32"),
            (vec![0], "bool"),
            (vec![4], "bool"),
        ];
        assert_eq!(types, want.map(|(s, n)| (s, n.to_owned())));
        assert_eq!(made[2].bytes, [5, 0, 0, 0]);
        assert_ne!(made[1].bytes, [0; 8]);
        assert!(made[4].bytes.iter().all(|b| *b <= 1));
        for text in ["[2", "[-1]i32", "[x]i32", "what", "[9999999999]i64"] {
            assert!(make_random_values(text).is_err(), "{text}");
        }
    }
}

//! Types: scalars, pointers and tensors.

use super::cursor::{TextCursor, is_word_char};
use super::{MAX_DEPTH, fail};
use crate::TritonResult;
use crate::ir::{FloatFormat, TileElement, TileType};

/// Most elements of a tensor, which Triton limits to 2^20.
const MAX_ELEMENTS: u64 = 1 << 24;

/// Reads a type.
pub(super) fn read_type(cursor: &mut TextCursor<'_>) -> TritonResult<TileType> {
    if cursor.eat("tensor<") {
        return read_tensor(cursor);
    }
    Ok(TileType::scalar(read_element(cursor, 0)?))
}

/// Reads the rest of a tensor: sizes, elements, and an encoding that is ignored.
fn read_tensor(cursor: &mut TextCursor<'_>) -> TritonResult<TileType> {
    let mut shape = Vec::new();
    let mut count: u64 = 1;
    loop {
        cursor.skip_blanks();
        let digits = cursor.take_while(|c| c.is_ascii_digit());
        if digits.is_empty() {
            break;
        }
        let Ok(size) = digits.parse::<u64>() else {
            return fail(cursor, "the size of a dimension is too large");
        };
        count = count.saturating_mul(size);
        if size == 0 || count > MAX_ELEMENTS {
            return fail(cursor, "a tensor has too many elements, or none");
        }
        shape.push(size);
        cursor.expect("x")?;
    }
    let element = read_element(cursor, 0)?;
    cursor.expect(">")?;
    Ok(TileType {
        shape: Some(shape),
        element,
    })
}

/// Reads the type of a scalar or of an element.
fn read_element(cursor: &mut TextCursor<'_>, depth: usize) -> TritonResult<TileElement> {
    if depth > MAX_DEPTH {
        return fail(cursor, "types are nested too deeply");
    }
    if cursor.eat("!tt.ptr<") {
        let pointee = read_element(cursor, depth + 1)?;
        if cursor.eat(",") {
            // The address space, and whether the memory is constant.
            cursor.take_while(|c| c != '>');
        }
        cursor.expect(">")?;
        return Ok(TileElement::Pointer(Box::new(pointee)));
    }
    let start = cursor.clone();
    cursor.skip_blanks();
    let word = cursor.take_while(is_word_char);
    match parse_element(word) {
        Some(element) => Ok(element),
        None => {
            let kind = if word.is_empty() { "this" } else { word };
            fail(&start, format!("values of type {kind} are not supported"))
        }
    }
}

/// The type that a word names.
fn parse_element(word: &str) -> Option<TileElement> {
    if let Some(row) = FloatFormat::NAMES.iter().find(|row| row.0 == word) {
        return Some(TileElement::Float(row.1));
    }
    if word == "index" {
        return Some(TileElement::Integer(64));
    }
    let bits: u32 = word.strip_prefix('i')?.parse().ok()?;
    matches!(bits, 1 | 8 | 16 | 32 | 64).then_some(TileElement::Integer(bits))
}

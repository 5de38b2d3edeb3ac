//! Attributes: numbers, strings, words, arrays and constant tensors.

use super::cursor::TextCursor;
use super::{MAX_DEPTH, fail, types};
use crate::TritonResult;
use crate::ir::TileAttribute;
use std::collections::BTreeMap;

/// Reads a dictionary in braces.
pub(super) fn read_dictionary(
    cursor: &mut TextCursor<'_>,
) -> TritonResult<BTreeMap<String, TileAttribute>> {
    cursor.expect("{")?;
    let mut attributes = BTreeMap::new();
    while !cursor.eat("}") {
        let name = if cursor.peek("\"") {
            cursor.read_string()?
        } else {
            cursor.expect_word()?
        };
        let value = if cursor.eat("=") {
            read_attribute(cursor, 0)?
        } else {
            TileAttribute::Word("unit".to_owned())
        };
        attributes.insert(name, value);
        if !cursor.eat(",") && !cursor.peek("}") {
            return fail(cursor, "expected `,` or `}` in attributes");
        }
    }
    Ok(attributes)
}

/// Reads an attribute with its type, which is ignored.
pub(super) fn read_attribute(
    cursor: &mut TextCursor<'_>,
    depth: usize,
) -> TritonResult<TileAttribute> {
    let value = read_value(cursor, depth)?;
    let is_number = matches!(
        value,
        TileAttribute::Integer(_) | TileAttribute::Float(_) | TileAttribute::Bits(_)
    );
    if is_number && cursor.eat(":") {
        types::read_type(cursor)?;
    }
    Ok(value)
}

/// Reads the value of an attribute, without the type that may follow.
pub(super) fn read_value(cursor: &mut TextCursor<'_>, depth: usize) -> TritonResult<TileAttribute> {
    if depth > MAX_DEPTH {
        return fail(cursor, "attributes are nested too deeply");
    }
    match cursor.peek_char() {
        Some('"') => Ok(TileAttribute::Text(cursor.read_string()?)),
        Some('@') => Ok(TileAttribute::Word(cursor.read_symbol()?)),
        Some('[') => {
            cursor.expect("[")?;
            read_list(cursor, "]", depth)
        }
        Some(c) if c == '-' || c.is_ascii_digit() => read_number(cursor),
        Some('#') => {
            let name = cursor.read_marked("#")?.to_owned();
            skip_angles(cursor)?;
            Ok(TileAttribute::Word(name))
        }
        _ => {
            let word = cursor.expect_word()?;
            match word.as_str() {
                "array" | "dense" if cursor.eat("<") => read_angle_list(cursor, &word, depth),
                _ => Ok(TileAttribute::Word(word)),
            }
        }
    }
}

/// Skips what stands in angle brackets.
fn skip_angles(cursor: &mut TextCursor<'_>) -> TritonResult<()> {
    if !cursor.eat("<") {
        return Ok(());
    }
    let mut depth = 1;
    while depth > 0 {
        cursor.take_while(|c| c != '<' && c != '>');
        if cursor.eat("<") {
            depth += 1;
        } else {
            cursor.expect(">")?;
            depth -= 1;
        }
    }
    Ok(())
}

/// Reads the rest of `array<i32: 1, 0>` or `dense<…>`.
fn read_angle_list(
    cursor: &mut TextCursor<'_>,
    word: &str,
    depth: usize,
) -> TritonResult<TileAttribute> {
    if word == "array" {
        types::read_type(cursor)?;
        if !cursor.eat(":") {
            cursor.expect(">")?;
            return Ok(TileAttribute::List(Vec::new()));
        }
        return read_list(cursor, ">", depth);
    }
    let value = read_value(cursor, depth + 1)?;
    cursor.expect(">")?;
    Ok(value)
}

/// Reads the elements of a list up to its end.
fn read_list(cursor: &mut TextCursor<'_>, end: &str, depth: usize) -> TritonResult<TileAttribute> {
    let mut elements = Vec::new();
    while !cursor.eat(end) {
        elements.push(read_attribute(cursor, depth + 1)?);
        if !cursor.eat(",") && !cursor.peek(end) {
            return fail(cursor, format!("expected `,` or `{end}` in a list"));
        }
    }
    Ok(TileAttribute::List(elements))
}

/// Reads a number: an integer, a floating-point number, or its bits in hexadecimal digits.
fn read_number(cursor: &mut TextCursor<'_>) -> TritonResult<TileAttribute> {
    let start = cursor.clone();
    let sign = if cursor.eat("-") { "-" } else { "" };
    if cursor.eat("0x") {
        let digits = cursor.take_while(|c| c.is_ascii_hexdigit());
        return match u64::from_str_radix(digits, 16) {
            Ok(bits) => Ok(TileAttribute::Bits(bits)),
            Err(_) => fail(&start, "malformed number"),
        };
    }
    let whole = cursor.take_while(|c| c.is_ascii_digit());
    if !cursor.rest().starts_with('.') {
        return match format!("{sign}{whole}").parse() {
            Ok(value) => Ok(TileAttribute::Integer(value)),
            Err(_) => fail(&start, "malformed number"),
        };
    }
    let mut text = format!("{sign}{whole}");
    text += cursor.take_while(|c| c.is_ascii_digit() || c == '.');
    if cursor.rest().starts_with(['e', 'E']) {
        text += cursor.take_while(|c| c.is_ascii_alphabetic());
        text += cursor.take_while(|c| c == '-' || c == '+');
        text += cursor.take_while(|c| c.is_ascii_digit());
    }
    match text.parse() {
        Ok(value) => Ok(TileAttribute::Float(value)),
        Err(_) => fail(&start, "malformed number"),
    }
}

//! Values of literals.

use super::tree::{NumberType, SourceLiteral};

/// The value of a number token. An error is a message.
pub(super) fn read_number(text: &str, is_float: bool) -> Result<SourceLiteral, String> {
    let (digits, suffix) = split_suffix(text);
    let digits: String = digits.chars().filter(|&digit| digit != '_').collect();
    if is_float {
        return Ok(SourceLiteral::Float(digits, suffix));
    }
    let lower = digits.to_ascii_lowercase();
    let value = if let Some(digits) = lower.strip_prefix("0x") {
        u128::from_str_radix(digits, 16)
    } else if let Some(digits) = lower.strip_prefix("0b") {
        u128::from_str_radix(digits, 2)
    } else if lower.starts_with("0r") {
        Ok(read_roman(&digits[2..]))
    } else {
        lower.parse()
    };
    let value = value.map_err(|_| "the number is larger than 2^128".to_owned())?;
    Ok(SourceLiteral::Integer(value, suffix))
}

/// Cuts the suffix of a number off. In a hexadecimal number `f16`, `f32` and `f64` are digits.
fn split_suffix(text: &str) -> (&str, Option<NumberType>) {
    let is_hexadecimal = text.starts_with("0x") || text.starts_with("0X");
    let has_point = text.contains('.');
    let found = NumberType::ALL.iter().find(|number_type| {
        let is_digit = is_hexadecimal && !has_point && number_type.spelling().starts_with('f');
        !is_digit && text.ends_with(number_type.spelling())
    });
    match found {
        Some(number_type) => (
            &text[..text.len() - number_type.spelling().len()],
            Some(*number_type),
        ),
        None => (text, None),
    }
}

/// The value of a Roman numeral: a digit in front of a larger one is subtracted.
fn read_roman(digits: &str) -> u128 {
    let values: Vec<u128> = digits
        .bytes()
        .map(|digit| match digit {
            b'I' => 1,
            b'V' => 5,
            b'X' => 10,
            b'L' => 50,
            b'C' => 100,
            b'D' => 500,
            _ => 1000,
        })
        .collect();
    let mut sum = 0u128;
    for (index, &value) in values.iter().enumerate() {
        let is_subtracted = values.get(index + 1).is_some_and(|&next| value < next);
        sum = if is_subtracted {
            sum.wrapping_sub(value)
        } else {
            sum.wrapping_add(value)
        };
    }
    sum
}

/// The character of a character token.
pub(super) fn read_character(text: &str) -> Option<char> {
    let mut characters = unescape(&text[1..text.len() - 1])?;
    let first = characters.pop()?;
    characters.is_empty().then_some(first)
}

/// The string of a string token.
pub(super) fn read_string(text: &str) -> Option<String> {
    unescape(&text[1..text.len() - 1]).map(|characters| characters.into_iter().collect())
}

/// Resolves escapes: `\n`, `\t` and the like, and the decimal number of a code point.
fn unescape(text: &str) -> Option<Vec<char>> {
    let mut out = Vec::new();
    let mut rest = text.chars().peekable();
    while let Some(character) = rest.next() {
        if character != '\\' {
            out.push(character);
            continue;
        }
        let escaped = rest.next()?;
        if let Some(digit) = escaped.to_digit(10) {
            let mut code = digit;
            while let Some(digit) = rest.peek().and_then(|next| next.to_digit(10)) {
                code = code.checked_mul(10)?.checked_add(digit)?;
                rest.next();
            }
            out.push(char::from_u32(code)?);
            continue;
        }
        out.push(match escaped {
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            'a' => '\u{7}',
            'b' => '\u{8}',
            'f' => '\u{c}',
            'v' => '\u{b}',
            '\\' | '"' | '\'' => escaped,
            _ => return None,
        });
    }
    Some(out)
}

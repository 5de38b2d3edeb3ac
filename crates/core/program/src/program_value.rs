//! Program values: arguments and results of entry points, in text and binary form.
//!
//! The forms are those of Futhark's data format: `5i64`, `-1.5f32`, `[[1, 2], [3, 4]]`,
//! `empty([0][2]i32)`; binary values begin with `b`, version 2, the number of dimensions, the type
//! in four characters, and the dimensions, 64 bits each.

use crate::{ScalarType, read_string};
use std::fmt;

/// A scalar or an array.
#[derive(Clone, Debug, PartialEq)]
pub struct ProgramValue {
    /// Type of the elements.
    pub element: ScalarType,
    /// Whether integers have no sign.
    pub unsigned: bool,
    /// Sizes of the dimensions; none for a scalar.
    pub shape: Vec<u64>,
    /// The elements, little-endian.
    pub bytes: Vec<u8>,
}

/// The reason why values could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValueError {
    /// The fault.
    pub message: String,
    /// The byte of the input.
    pub at: usize,
}

impl fmt::Display for ValueError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "byte {}: {}", self.at, self.message)
    }
}

impl std::error::Error for ValueError {}

/// Deepest nesting of arrays.
const DEPTH: usize = 32;

impl ProgramValue {
    /// Name of the type of the elements: `u8` to `u64` where they have no sign.
    pub fn type_name(&self) -> String {
        element_type_name(self.element, self.unsigned)
    }

    /// The elements' bits.
    pub fn elements(&self) -> impl Iterator<Item = u64> + '_ {
        let size = (self.element.size() as usize).max(1);
        self.bytes.chunks(size).map(|bytes| {
            let mut word = [0; 8];
            word[..bytes.len()].copy_from_slice(bytes);
            u64::from_le_bytes(word)
        })
    }

    /// Reads all values of an input, which may mix text and binary forms. Integers without a type are `i32`, other numbers
    /// `f64`.
    ///
    /// # Errors
    /// The first fault.
    pub fn read_all(input: &[u8]) -> Result<Vec<ProgramValue>, ValueError> {
        Self::read_all_as(input, &[])
    }

    /// The same, where numbers without a type have the wanted type of their value, if there is one. It is a scalar
    /// type, and whether it has no sign.
    ///
    /// # Errors
    /// The first fault.
    pub fn read_all_as(
        input: &[u8],
        wanted: &[Option<(ScalarType, bool)>],
    ) -> Result<Vec<ProgramValue>, ValueError> {
        ValueTextReader::new(input).read_values(wanted)
    }

    /// The same, where integers wrap around that do not fit their type. Futhark reads the data of tests so.
    ///
    /// # Errors
    /// The first fault.
    pub fn read_all_wrapped(
        input: &[u8],
        wanted: &[Option<(ScalarType, bool)>],
    ) -> Result<Vec<ProgramValue>, ValueError> {
        let mut reader = ValueTextReader::new(input);
        reader.is_wrapping = true;
        reader.read_values(wanted)
    }

    /// The value in binary form.
    pub fn to_binary(&self) -> Vec<u8> {
        let mut out = vec![b'b', 2, self.shape.len() as u8];
        out.extend(format!("{:>4}", self.type_name()).bytes());
        for size in &self.shape {
            out.extend(size.to_le_bytes());
        }
        out.extend(&self.bytes);
        out
    }
}

/// The name of a scalar type with or without sign, such as `u8`.
pub fn element_type_name(element: ScalarType, unsigned: bool) -> String {
    if unsigned && element.is_int() {
        format!("u{}", element.width())
    } else {
        element.name().to_owned()
    }
}

/// The scalar type of a name such as `u8`, and whether its integers have no sign.
pub fn parse_element_type(name: &str) -> Option<(ScalarType, bool)> {
    let unsigned = name.strip_prefix('u').map(|width| format!("i{width}"));
    match unsigned.as_deref().and_then(ScalarType::from_name) {
        Some(ty) => Some((ty, true)),
        None => ScalarType::from_name(name)
            .filter(|ty| *ty != ScalarType::Unit)
            .map(|ty| (ty, false)),
    }
}

/// Text, as [`ProgramValue::read_all`] reads it back.
impl fmt::Display for ProgramValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.shape.contains(&0) {
            f.write_str("empty(")?;
            for size in &self.shape {
                write!(f, "[{size}]")?;
            }
            return write!(f, "{})", self.type_name());
        }
        let mut index = 0u64;
        for bits in self.elements() {
            // Brackets open where all inner counters are at 0, and close where they are at their end.
            let mut inner = 1;
            for size in self.shape.iter().rev() {
                inner *= size;
                if index.is_multiple_of(inner) {
                    f.write_str("[")?;
                }
            }
            self.element_text(f, bits)?;
            index += 1;
            let (mut inner, mut closed) = (1, 0);
            for size in self.shape.iter().rev() {
                inner *= size;
                if index.is_multiple_of(inner) {
                    f.write_str("]")?;
                    closed += 1;
                }
            }
            if closed < self.shape.len() {
                f.write_str(", ")?;
            }
        }
        Ok(())
    }
}

impl ProgramValue {
    fn element_text(&self, f: &mut fmt::Formatter<'_>, bits: u64) -> fmt::Result {
        if self.unsigned && self.element.is_int() {
            write!(f, "{bits}{}", self.type_name())
        } else {
            write!(f, "{}", crate::ScalarLiteral::new(self.element, bits))
        }
    }
}

struct ValueTextReader<'a> {
    input: &'a [u8],
    at: usize,
    /// The type of numbers without one in the text.
    wanted: Option<(ScalarType, bool)>,
    /// Whether integers wrap around that do not fit their type.
    is_wrapping: bool,
}

impl<'a> ValueTextReader<'a> {
    fn new(input: &'a [u8]) -> Self {
        ValueTextReader {
            input,
            at: 0,
            wanted: None,
            is_wrapping: false,
        }
    }

    /// Reads the values up to the end of the input.
    fn read_values(
        mut self,
        wanted: &[Option<(ScalarType, bool)>],
    ) -> Result<Vec<ProgramValue>, ValueError> {
        let mut values = Vec::new();
        loop {
            self.skip_blanks();
            if self.at == self.input.len() {
                return Ok(values);
            }
            self.wanted = wanted.get(values.len()).copied().flatten();
            values.push(self.read_value()?);
        }
    }

    fn make_fault<T>(&self, message: impl Into<String>) -> Result<T, ValueError> {
        Err(ValueError {
            message: message.into(),
            at: self.at,
        })
    }

    /// Skips blanks and comments.
    fn skip_blanks(&mut self) {
        loop {
            let rest = &self.input[self.at..];
            let blanks = rest.iter().take_while(|b| b.is_ascii_whitespace()).count();
            self.at += blanks;
            if !self.input[self.at..].starts_with(b"--") {
                return;
            }
            let rest = &self.input[self.at..];
            self.at += rest.iter().take_while(|b| **b != b'\n').count();
        }
    }

    fn eat_byte(&mut self, byte: u8) -> bool {
        self.skip_blanks();
        let found = self.input.get(self.at) == Some(&byte);
        self.at += usize::from(found);
        found
    }

    fn read_value(&mut self) -> Result<ProgramValue, ValueError> {
        let is_binary = self.input[self.at] == b'b' && self.input.get(self.at + 1) == Some(&2);
        if is_binary {
            return self.read_binary();
        }
        if self.input[self.at..].starts_with(b"empty") {
            self.at += 5;
            return self.read_empty();
        }
        let mut value = ProgramValue {
            element: ScalarType::Unit,
            unsigned: false,
            shape: Vec::new(),
            bytes: Vec::new(),
        };
        let shape = self.read_text(&mut value, 0)?;
        value.shape = shape;
        Ok(value)
    }

    fn read_binary(&mut self) -> Result<ProgramValue, ValueError> {
        let header = &self.input[self.at + 2..];
        let Some((&[rank, ref name @ ..], _)) = header.split_first_chunk::<5>() else {
            return self.make_fault("the input ends within a value");
        };
        let name = std::str::from_utf8(name).unwrap_or("").trim();
        let Some((element, unsigned)) = parse_element_type(name) else {
            return self.make_fault(format!("unknown type {name:?}"));
        };
        self.at += 7;
        let mut shape = Vec::new();
        let mut length = Some(element.size());
        for _ in 0..rank {
            let Some((size, _)) = self.input[self.at..].split_first_chunk::<8>() else {
                return self.make_fault("the input ends within a value");
            };
            let size = u64::from_le_bytes(*size);
            length = length.and_then(|l| l.checked_mul(size));
            shape.push(size);
            self.at += 8;
        }
        let rest = &self.input[self.at..];
        let fits = length.and_then(|l| usize::try_from(l).ok());
        let Some(bytes) = fits.and_then(|length| rest.get(..length)) else {
            return self.make_fault("the input ends within a value");
        };
        self.at += bytes.len();
        Ok(ProgramValue {
            element,
            unsigned,
            shape,
            bytes: bytes.to_vec(),
        })
    }

    fn read_empty(&mut self) -> Result<ProgramValue, ValueError> {
        if !self.eat_byte(b'(') {
            return self.make_fault("expected \"(\" after empty");
        }
        let mut shape = Vec::new();
        while self.eat_byte(b'[') {
            let word = self.read_word();
            let size = word.trim_end_matches("i64").replace('_', "").parse();
            let Ok(size) = size else {
                return self.make_fault("expected a size");
            };
            shape.push(size);
            if !self.eat_byte(b']') {
                return self.make_fault("expected \"]\"");
            }
        }
        let Some((element, unsigned)) = parse_element_type(&self.read_word()) else {
            return self.make_fault("expected a type");
        };
        if !shape.contains(&0) || !self.eat_byte(b')') {
            return self.make_fault("an empty array has a dimension of size 0");
        }
        Ok(ProgramValue {
            element,
            unsigned,
            shape,
            bytes: Vec::new(),
        })
    }

    /// Reads a word: letters, digits and signs of numbers.
    fn read_word(&mut self) -> String {
        self.skip_blanks();
        let rest = &self.input[self.at..];
        let is_part = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'+' | b'-');
        let length = rest.iter().take_while(|b| is_part(b)).count();
        self.at += length;
        String::from_utf8_lossy(&rest[..length]).into_owned()
    }

    /// Reads elements and brackets. Returns the shape.
    fn read_text(
        &mut self,
        value: &mut ProgramValue,
        depth: usize,
    ) -> Result<Vec<u64>, ValueError> {
        if depth > DEPTH {
            return self.make_fault("too many nested arrays");
        }
        self.skip_blanks();
        if self.input.get(self.at) == Some(&b'"') {
            return self.read_string_value(value);
        }
        if self.input[self.at..].starts_with(b"empty") {
            let at = self.at;
            self.at += 5;
            let empty = self.read_empty()?;
            self.note_element_type(value, empty.element, empty.unsigned, at)?;
            return Ok(empty.shape);
        }
        if !self.eat_byte(b'[') {
            self.read_element(value)?;
            return Ok(Vec::new());
        }
        let (mut count, mut inner) = (0, None);
        while !self.eat_byte(b']') {
            if count > 0 && !self.eat_byte(b',') {
                return self.make_fault("expected \",\" or \"]\"");
            }
            if count > 0 && self.eat_byte(b']') {
                break;
            }
            let shape = self.read_text(value, depth + 1)?;
            if inner.as_ref().is_some_and(|first| *first != shape) {
                return self.make_fault("rows have different sizes");
            }
            inner = Some(shape);
            count += 1;
        }
        let Some(inner) = inner else {
            return self.make_fault("an array without elements has no type; write empty([0]i32)");
        };
        let mut shape = vec![count];
        shape.extend(inner);
        Ok(shape)
    }

    /// Reads a string as an array of `u8`, in UTF-8.
    fn read_string_value(&mut self, value: &mut ProgramValue) -> Result<Vec<u64>, ValueError> {
        let at = self.at;
        let rest = &self.input[at..];
        let text = match std::str::from_utf8(rest) {
            Ok(text) => text,
            Err(error) => std::str::from_utf8(&rest[..error.valid_up_to()]).unwrap_or_default(),
        };
        let (string, length) = match read_string(text) {
            Ok(read) => read,
            Err(message) => return self.make_fault(message),
        };
        self.note_element_type(value, ScalarType::I8, true, at)?;
        value.bytes.extend(string.bytes());
        self.at += length;
        Ok(vec![string.len() as u64])
    }

    /// Notes the type of an element that begins at a byte. It must be that of the elements before.
    fn note_element_type(
        &mut self,
        value: &mut ProgramValue,
        element: ScalarType,
        unsigned: bool,
        at: usize,
    ) -> Result<(), ValueError> {
        if value.element == ScalarType::Unit {
            (value.element, value.unsigned) = (element, unsigned);
        }
        let (wanted, found) = (value.type_name(), element_type_name(element, unsigned));
        if wanted != found {
            self.at = at;
            return self.make_fault(format!("expected {wanted}, not {found}"));
        }
        Ok(())
    }

    fn read_element(&mut self, value: &mut ProgramValue) -> Result<(), ValueError> {
        let at = self.at;
        let word = self.read_word();
        // After the first element of an array, numbers may be written without its type.
        let known = match value.element {
            ScalarType::Unit => self.wanted,
            element => Some((element, value.unsigned)),
        };
        let Some(parsed) = parse_element(&word, known) else {
            self.at = at;
            return self.make_fault(format!("expected a value, not {word:?}"));
        };
        let ElementLiteral {
            element,
            unsigned,
            bits,
            fits,
        } = parsed;
        if !fits && !self.is_wrapping {
            self.at = at;
            let name = element_type_name(element, unsigned);
            return self.make_fault(format!("{word} does not fit {name}"));
        }
        self.note_element_type(value, element, unsigned, at)?;
        let size = element.size() as usize;
        value.bytes.extend(&bits.to_le_bytes()[..size]);
        Ok(())
    }
}

/// A scalar in a text.
struct ElementLiteral {
    element: ScalarType,
    unsigned: bool,
    bits: u64,
    /// Whether the type has the number, or the type of the same width that has or lacks a sign. `-1u8` and `255i8` are
    /// patterns of bits.
    fits: bool,
}

/// Parses a scalar. Numbers without a type have the known one. Where none is known, integers are `i32` and other numbers
/// `f64`.
fn parse_element(word: &str, known: Option<(ScalarType, bool)>) -> Option<ElementLiteral> {
    let word = word.replace('_', "");
    let of_bits = |element, bits| ElementLiteral {
        element,
        unsigned: false,
        bits,
        fits: true,
    };
    if word == "true" || word == "false" {
        return Some(of_bits(ScalarType::Bool, u64::from(word == "true")));
    }
    let is_special = word.contains("nan") || word.contains("inf");
    if is_special {
        let literal = crate::ScalarLiteral::from_text(&word)?;
        return Some(of_bits(literal.ty, literal.bits));
    }
    let is_hex = word.trim_start_matches('-').starts_with("0x");
    let is_suffix = |c: char| matches!(c, 'i' | 'u') || (c == 'f' && !is_hex);
    let (digits, suffix) = match word.find(is_suffix) {
        Some(at) => word.split_at(at),
        None => (word.as_str(), ""),
    };
    let is_real = !is_hex && digits.contains(['.', 'e', 'E']);
    let known = known.filter(|(ty, _)| ty.is_float() || (ty.is_int() && !is_real));
    let (ty, unsigned) = match (suffix, known) {
        ("", Some(known)) => known,
        ("", None) if is_real => (ScalarType::F64, false),
        ("", None) => (ScalarType::I32, false),
        (name, _) => parse_element_type(name)?,
    };
    if ty.is_float() {
        let value: f64 = digits.parse().ok()?;
        let operator =
            crate::ScalarOperator::from_conversion(crate::ScalarOp::FConv, ScalarType::F64, ty);
        return Some(of_bits(ty, operator.eval_operands(&[value.to_bits()])));
    }
    let (negative, digits) = match digits.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, digits.strip_prefix('+').unwrap_or(digits)),
    };
    let magnitude = match digits.get(..2) {
        Some("0x") => u64::from_str_radix(&digits[2..], 16).ok()?,
        Some("0b") => u64::from_str_radix(&digits[2..], 2).ok()?,
        _ => digits.parse::<u64>().ok()?,
    };
    let value = if negative {
        magnitude.wrapping_neg()
    } else {
        magnitude
    };
    let largest = ty.truncate_bits(u64::MAX);
    let fits = magnitude <= if negative { largest / 2 + 1 } else { largest };
    Some(ElementLiteral {
        element: ty,
        unsigned,
        bits: ty.truncate_bits(value),
        fits,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_read_back_in_both_forms() {
        let text = "5 [[1.5f32, -f32.inf], [f32.nan, 0.1f32]] empty([0][2]u8) [true] 7u64 \"ab\" -- end\n -3i8";
        let values = ProgramValue::read_all(text.as_bytes()).expect("values");
        assert_eq!(values.len(), 7);
        assert_eq!(values[1].shape, [2, 2]);
        for value in &values {
            let again = ProgramValue::read_all(value.to_string().as_bytes()).expect("text");
            assert_eq!(again, std::slice::from_ref(value));
            let binary = value.to_binary();
            assert_eq!(
                ProgramValue::read_all(&binary).expect("binary"),
                std::slice::from_ref(value)
            );
            for end in 1..binary.len() {
                assert!(ProgramValue::read_all(&binary[..end]).is_err());
            }
        }
    }

    #[test]
    fn later_elements_have_the_type_of_the_first() {
        for (text, want) in [
            ("[1u8, 255, 0x0f]", "[1u8, 255u8, 15u8]"),
            ("[[1i64], [-2]]", "[[1i64], [-2i64]]"),
            ("[1f32, 2, 2.5]", "[1.0f32, 2.0f32, 2.5f32]"),
        ] {
            let values = ProgramValue::read_all(text.as_bytes()).expect(text);
            assert_eq!(values[0].to_string(), want);
        }
    }

    #[test]
    fn numbers_without_a_type_have_the_wanted_one() {
        let wanted = [
            Some((ScalarType::I64, false)),
            Some((ScalarType::F32, false)),
            None,
            Some((ScalarType::I8, true)),
            Some((ScalarType::I16, false)),
        ];
        let values = ProgramValue::read_all_as(b"5 2 3 [1, 2] [1i32]", &wanted).expect("values");
        let text: Vec<String> = values.iter().map(ProgramValue::to_string).collect();
        assert_eq!(text, ["5i64", "2.0f32", "3i32", "[1u8, 2u8]", "[1i32]"]);
        assert!(ProgramValue::read_all_as(b"256", &wanted[3..]).is_err());
    }

    #[test]
    fn integers_of_tests_wrap_around() {
        let text = b"300u8 -1u8 32767i8 -129i8 [1i16, 65537]";
        let values = ProgramValue::read_all_wrapped(text, &[]).expect("values");
        let text: Vec<String> = values.iter().map(ProgramValue::to_string).collect();
        assert_eq!(text, ["44u8", "255u8", "-1i8", "127i8", "[1i16, 1i16]"]);
        for text in ["-128i8", "255u8", "-1u8", "-9223372036854775808i64"] {
            assert!(ProgramValue::read_all(text.as_bytes()).is_ok(), "{text}");
        }
    }

    #[test]
    fn strings_are_bytes_and_arrays_of_nothing_nest() {
        for (text, want) in [
            (r#""a\nb""#, "[97u8, 10u8, 98u8]"),
            (r#""\65\x42""#, "[65u8, 66u8]"),
            ("\"\u{e6}\"", "[195u8, 166u8]"),
            (r#"["ab", "\"\\"]"#, "[[97u8, 98u8], [34u8, 92u8]]"),
            (r#""""#, "empty([0]u8)"),
            ("[empty([0]i32), empty([0]i32)]", "empty([2][0]i32)"),
            ("[[empty([2][0]f32)]]", "empty([1][1][2][0]f32)"),
        ] {
            let values = ProgramValue::read_all(text.as_bytes()).expect(text);
            assert_eq!(values[0].to_string(), want);
        }
    }

    #[test]
    fn broken_values_are_refused() {
        for text in [
            "[1u8, 256]",
            "[1, 2.5]",
            "[true, 1]",
            "[1, [2]]",
            "[1, 2u8]",
            "[]",
            "[1",
            "5x",
            "300u8",
            "-129i8",
            "-129u8",
            "99999999999999999999u64",
            "empty([1]i32)",
            "\"a",
            "\"a\\q\"",
            "[empty([0]i32), empty([0]i64)]",
            "[empty([0]i32), [1]]",
            "[1, \"a\"]",
        ] {
            assert!(ProgramValue::read_all(text.as_bytes()).is_err(), "{text}");
        }
    }
}

//! `printf` of OpenCL C: format strings are parsed once and printed with the arguments of each call.
//!
//! The syntax is that of C99 with vectors, by section 6.15.14 of "The OpenCL C Specification":
//! `%[flags][width][.precision][vN][length]conversion`. Each component of a vector is printed by the whole
//! conversion, with commas between them.
//!
//! Undefined cases of the specification are defined here. An invalid conversion, or one without an argument, is
//! printed verbatim. An integer is printed with all its bits if the conversion names no length. A number of another
//! kind than the conversion expects is converted. Widths and precisions are limited to 4095, so that no format
//! requires much memory.

use std::ops::Range;

/// Highest width or precision: the length that C requires a conversion to support.
const MOST: usize = 4095;

/// An argument of a call.
#[derive(Clone, Debug, PartialEq)]
pub enum PrintfValue {
    /// Integers: one, or the components of a vector.
    Ints {
        /// Bits of each, 1 to 64.
        bits: u32,
        /// Their values; bits beyond these do not matter.
        values: Vec<u64>,
    },
    /// Floats: one, or the components of a vector.
    Floats(Vec<f64>),
    /// A string, without its final zero.
    Text(Vec<u8>),
}

/// A format string that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrintfTemplate {
    text: Vec<u8>,
    pieces: Vec<PrintfPiece>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum PrintfPiece {
    /// A part of the text that is printed verbatim.
    Plain(Range<usize>),
    /// A conversion of the next argument, and the text that it is.
    Conversion(PrintfConversion, Range<usize>),
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct PrintfConversion {
    is_left: bool,
    has_plus: bool,
    has_space: bool,
    is_other: bool,
    has_zeros: bool,
    width: usize,
    precision: Option<usize>,
    /// Number of components of its vector.
    components: Option<usize>,
    /// Bits by the length modifier.
    bits: Option<u32>,
    letter: u8,
}

impl PrintfTemplate {
    /// Reads a format string, up to its first zero.
    pub fn new(format: &[u8]) -> PrintfTemplate {
        let end = format.iter().position(|b| *b == 0).unwrap_or(format.len());
        let text = format[..end].to_vec();
        let mut pieces = Vec::new();
        let mut at = 0;
        while at < text.len() {
            let plain = text[at..].iter().position(|b| *b == b'%');
            let begin = plain.map_or(text.len(), |n| at + n);
            if begin > at {
                pieces.push(PrintfPiece::Plain(at..begin));
            }
            if begin == text.len() {
                break;
            }
            let mut reader = PrintfReader {
                text: &text,
                at: begin + 1,
            };
            let found = reader.parse_conversion();
            at = reader.at;
            pieces.push(match found {
                Some(c) if c.letter == b'%' => PrintfPiece::Plain(begin..begin + 1),
                Some(c) => PrintfPiece::Conversion(c, begin..at),
                None => PrintfPiece::Plain(begin..at),
            });
        }
        PrintfTemplate { text, pieces }
    }

    /// The type as which each printed argument is interpreted, in order.
    pub fn list_arguments(&self) -> impl Iterator<Item = PrintfArgumentType> {
        self.iter_conversions()
            .map(|conversion| PrintfArgumentType {
                letter: conversion.letter,
                components: conversion.components.unwrap_or(1).clamp(1, 16),
            })
    }

    fn iter_conversions(&self) -> impl Iterator<Item = &PrintfConversion> {
        self.pieces.iter().filter_map(|piece| match piece {
            PrintfPiece::Conversion(conversion, _) => Some(conversion),
            PrintfPiece::Plain(_) => None,
        })
    }

    /// Appends the output of a call.
    pub fn print_arguments(&self, arguments: &[PrintfValue], out: &mut Vec<u8>) {
        let mut arguments = arguments.iter();
        for piece in &self.pieces {
            match piece {
                PrintfPiece::Plain(range) => out.extend(&self.text[range.clone()]),
                PrintfPiece::Conversion(conversion, range) => match arguments.next() {
                    Some(argument) => conversion.print_argument(argument, out),
                    None => out.extend(&self.text[range.clone()]),
                },
            }
        }
    }
}

/// The type as which an argument is interpreted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PrintfArgumentType {
    letter: u8,
    components: usize,
}

impl PrintfArgumentType {
    /// Whether it is a string.
    pub fn is_text(self) -> bool {
        self.letter == b's'
    }

    /// An argument other than a string, from its bytes: its components one after the other, the lowest byte
    /// first.
    pub fn decode_argument(self, bytes: &[u8]) -> PrintfValue {
        let size = (bytes.len() / self.components).clamp(1, 8);
        let values = bytes.chunks_exact(size).map(|chunk| {
            let mut word = [0; 8];
            word[..size].copy_from_slice(chunk);
            u64::from_le_bytes(word)
        });
        match (b"fFeEgGaA".contains(&self.letter), size) {
            (true, 8) => PrintfValue::Floats(values.map(f64::from_bits).collect()),
            (true, 4) => {
                let single = |bits| f32::from_bits(bits as u32).into();
                PrintfValue::Floats(values.map(single).collect())
            }
            (true, 2) => {
                let half = |bits| crate::convert::f16_to_f32(bits as u16).into();
                PrintfValue::Floats(values.map(half).collect())
            }
            _ => PrintfValue::Ints {
                bits: 8 * size as u32,
                values: values.collect(),
            },
        }
    }
}

struct PrintfReader<'a> {
    text: &'a [u8],
    at: usize,
}

impl PrintfReader<'_> {
    fn peek_byte(&self) -> u8 {
        self.text.get(self.at).copied().unwrap_or(0)
    }

    fn eat_byte(&mut self, byte: u8) -> bool {
        let is_there = self.peek_byte() == byte;
        self.at += usize::from(is_there);
        is_there
    }

    fn parse_number(&mut self) -> usize {
        let mut value = 0_usize;
        while self.peek_byte().is_ascii_digit() {
            value = (value * 10 + usize::from(self.peek_byte() - b'0')).min(MOST);
            self.at += 1;
        }
        value
    }

    /// The conversion after the percent sign.
    fn parse_conversion(&mut self) -> Option<PrintfConversion> {
        let mut made = PrintfConversion::default();
        if self.eat_byte(b'%') {
            made.letter = b'%';
            return Some(made);
        }
        loop {
            match self.peek_byte() {
                b'-' => made.is_left = true,
                b'+' => made.has_plus = true,
                b' ' => made.has_space = true,
                b'#' => made.is_other = true,
                b'0' => made.has_zeros = true,
                _ => break,
            }
            self.at += 1;
        }
        made.width = self.parse_number();
        if self.eat_byte(b'.') {
            made.precision = Some(self.parse_number());
        }
        if self.eat_byte(b'v') {
            made.components = Some(self.parse_number());
        }
        made.bits = match (self.eat_byte(b'h'), self.peek_byte()) {
            (true, b'h') => Some((1, 8)),
            (true, b'l') => Some((1, 32)),
            (true, _) => Some((0, 16)),
            (false, b'l' | b'j' | b'z' | b't') => Some((1, 64)),
            (false, _) => None,
        }
        .map(|(letters, bits)| {
            self.at += letters;
            bits
        });
        made.letter = self.peek_byte();
        if !b"diouxXcsfFeEgGaAp".contains(&made.letter) {
            return None;
        }
        self.at += 1;
        Some(made)
    }
}

impl PrintfConversion {
    fn print_argument(&self, argument: &PrintfValue, out: &mut Vec<u8>) {
        let count = match argument {
            PrintfValue::Ints { values, .. } => values.len(),
            PrintfValue::Floats(values) => values.len(),
            PrintfValue::Text(text) => return self.print_text(text, out),
        };
        for n in 0..count {
            if n > 0 {
                out.push(b',');
            }
            self.print_component(argument, n, out);
        }
    }

    fn print_component(&self, argument: &PrintfValue, n: usize, out: &mut Vec<u8>) {
        let is_float = b"fFeEgGaA".contains(&self.letter);
        let is_signed = matches!(self.letter, b'd' | b'i');
        match argument {
            PrintfValue::Ints { bits, values } if is_float => {
                let value = to_signed(values[n], (*bits).clamp(1, 64));
                self.print_float(value as f64, out);
            }
            PrintfValue::Ints { bits, values } => {
                let own = (*bits).clamp(1, 64);
                let wanted = self.bits.unwrap_or(own);
                let value = if is_signed {
                    to_signed(values[n], own) as u64
                } else {
                    to_unsigned(values[n], own)
                };
                self.print_int(value, wanted, out);
            }
            PrintfValue::Floats(values) if is_float => self.print_float(values[n], out),
            PrintfValue::Floats(values) => {
                let value = values[n];
                let bits = if value < 0.0 {
                    value as i64 as u64
                } else {
                    value as u64
                };
                self.print_int(bits, self.bits.unwrap_or(64), out);
            }
            PrintfValue::Text(_) => {}
        }
    }

    /// Text to the width; digits between a sign and them become zeros.
    fn print_padded(&self, sign: &str, body: &[u8], with_zeros: bool, out: &mut Vec<u8>) {
        let missing = self.width.saturating_sub(sign.len() + body.len());
        let (zeros, spaces) = if with_zeros && !self.is_left {
            (missing, 0)
        } else {
            (0, missing)
        };
        let fill = |out: &mut Vec<u8>, byte, count| out.resize(out.len() + count, byte);
        fill(out, b' ', if self.is_left { 0 } else { spaces });
        out.extend(sign.as_bytes());
        fill(out, b'0', zeros);
        out.extend(body);
        fill(out, b' ', if self.is_left { spaces } else { 0 });
    }

    fn print_text(&self, text: &[u8], out: &mut Vec<u8>) {
        let most = self.precision.unwrap_or(usize::MAX).min(text.len());
        self.print_padded("", &text[..most], false, out);
    }

    fn choose_sign(&self, is_negative: bool) -> &'static str {
        match (is_negative, self.has_plus, self.has_space) {
            (true, _, _) => "-",
            (false, true, _) => "+",
            (false, false, true) => " ",
            (false, false, false) => "",
        }
    }

    fn print_int(&self, value: u64, bits: u32, out: &mut Vec<u8>) {
        let whole = to_unsigned(value, bits);
        let (sign, mut digits) = match self.letter {
            b'd' | b'i' => {
                let value = to_signed(value, bits);
                (
                    self.choose_sign(value < 0),
                    value.unsigned_abs().to_string(),
                )
            }
            b'c' => return self.print_padded("", &[whole as u8], false, out),
            b'o' => ("", format!("{whole:o}")),
            b'x' => ("", format!("{whole:x}")),
            b'X' => ("", format!("{whole:X}")),
            b'p' => ("0x", format!("{whole:x}")),
            // A string that is no longer known; whatever else is a number.
            _ => ("", whole.to_string()),
        };
        if self.precision == Some(0) && whole == 0 {
            digits.clear();
        }
        let missing = self.precision.unwrap_or(1).saturating_sub(digits.len());
        digits.insert_str(0, &"0".repeat(missing));
        let prefix = match (self.is_other, self.letter) {
            (true, b'o') if !digits.starts_with('0') => "0",
            (true, b'x') if whole != 0 => "0x",
            (true, b'X') if whole != 0 => "0X",
            _ => sign,
        };
        let with_zeros = self.has_zeros && self.precision.is_none();
        self.print_padded(prefix, digits.as_bytes(), with_zeros, out);
    }

    fn print_float(&self, value: f64, out: &mut Vec<u8>) {
        let sign = self.choose_sign(value.is_sign_negative());
        let size = value.abs();
        let body = match self.letter.to_ascii_lowercase() {
            _ if size.is_nan() => "nan".to_owned(),
            _ if size.is_infinite() => "inf".to_owned(),
            b'f' => self.format_fixed(size, self.precision.unwrap_or(6)),
            b'e' => self.format_scientific(size, self.precision.unwrap_or(6)),
            b'g' => self.format_shortest(size),
            _ => self.format_hexadecimal(size),
        };
        let body = if self.letter.is_ascii_uppercase() {
            body.to_ascii_uppercase()
        } else {
            body
        };
        let with_zeros = self.has_zeros && size.is_finite();
        // The zeros of a hexadecimal number come after its prefix.
        match body.split_at_checked(2) {
            Some((prefix @ ("0x" | "0X"), digits)) => {
                let sign = format!("{sign}{prefix}");
                self.print_padded(&sign, digits.as_bytes(), with_zeros, out);
            }
            _ => self.print_padded(sign, body.as_bytes(), with_zeros, out),
        }
    }

    fn format_fixed(&self, size: f64, digits: usize) -> String {
        let point = if self.is_other && digits == 0 {
            "."
        } else {
            ""
        };
        format!("{size:.digits$}{point}")
    }

    fn format_scientific(&self, size: f64, digits: usize) -> String {
        let (mantissa, exponent) = split_exponent(size, digits);
        let point = if self.is_other && digits == 0 {
            "."
        } else {
            ""
        };
        let sign = if exponent < 0 { '-' } else { '+' };
        let exponent = exponent.unsigned_abs();
        format!("{mantissa}{point}e{sign}{exponent:02}")
    }

    fn format_shortest(&self, size: f64) -> String {
        let digits = self.precision.unwrap_or(6).max(1);
        let (_, exponent) = split_exponent(size, digits - 1);
        let is_fixed = exponent >= -4 && i64::from(exponent) < digits as i64;
        let made = if is_fixed {
            self.format_fixed(size, (digits as i64 - 1 - i64::from(exponent)) as usize)
        } else {
            self.format_scientific(size, digits - 1)
        };
        if self.is_other || !made.contains('.') {
            return made;
        }
        let (number, rest) = made.split_once('e').unwrap_or((&made, ""));
        let number = number.trim_end_matches('0').trim_end_matches('.');
        let mark = if rest.is_empty() { "" } else { "e" };
        format!("{number}{mark}{rest}")
    }

    fn format_hexadecimal(&self, size: f64) -> String {
        let bits = size.to_bits();
        let (field, mut mantissa) = (bits >> 52 & 0x7ff, bits & ((1 << 52) - 1));
        let exponent = match (field, mantissa) {
            (0, 0) => 0,
            (0, _) => -1022,
            _ => field as i64 - 1023,
        };
        mantissa |= u64::from(field != 0) << 52;
        let digits = self.precision.unwrap_or(13).min(13);
        let dropped = (13 - digits) * 4;
        if dropped > 0 {
            // To nearest even.
            let (half, odd) = (1 << (dropped - 1), mantissa >> dropped & 1);
            mantissa = (mantissa + half - 1 + odd) >> dropped << dropped;
        }
        let first = mantissa >> 52;
        let mut rest = format!("{:013x}", mantissa & ((1 << 52) - 1));
        rest.truncate(digits);
        match self.precision {
            Some(wanted) => rest.push_str(&"0".repeat(wanted.saturating_sub(13))),
            None => rest.truncate(rest.trim_end_matches('0').len()),
        }
        let point = if rest.is_empty() && !self.is_other {
            ""
        } else {
            "."
        };
        format!("0x{first:x}{point}{rest}p{exponent:+}")
    }
}

/// The number with one digit before the point and this number of digits after it, and its decimal exponent.
fn split_exponent(size: f64, digits: usize) -> (String, i32) {
    let made = format!("{size:.digits$e}");
    let (mantissa, exponent) = made.split_once('e').unwrap_or((&made, "0"));
    (mantissa.to_owned(), exponent.parse().unwrap_or(0))
}

fn to_signed(value: u64, bits: u32) -> i64 {
    let unused = 64 - bits;
    (value << unused) as i64 >> unused
}

fn to_unsigned(value: u64, bits: u32) -> u64 {
    value & (u64::MAX >> (64 - bits))
}

//! Arrays of runs: types with sizes, contents, and their texts.

use spirula_program::{ProgramValue, ScalarType, element_type_name, parse_element_type};
use spirula_scalar::convert::{f16_from_f64, f16_to_f32};
use std::fmt::Write;

/// Most elements of an array.
const MOST_ELEMENTS: u64 = 1 << 24;

/// Most elements that are printed, and most that a picture is made of.
const MOST_PRINTED: usize = 4096;
const MOST_DRAWN: usize = 1 << 18;

/// Integers that random contents are below.
const RANDOM_BOUND: u64 = 100;

/// A scalar or an array.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RunArray {
    pub element: ScalarType,
    pub is_unsigned: bool,
    /// Sizes; none for a scalar.
    pub shape: Vec<u64>,
    pub bytes: Vec<u8>,
}

impl RunArray {
    /// Parses a type and contents, such as `f32[4][2] = iota`.
    ///
    /// # Errors
    /// The fault in words.
    pub(crate) fn from_text(text: &str) -> Result<RunArray, String> {
        let Some((ty, contents)) = text.split_once('=') else {
            return Err("a type and contents are needed, as in f32[16] = iota".to_owned());
        };
        if ty.trim() == "struct" {
            return RunArray::parse_structure(contents);
        }
        let mut value = RunArray::parse_type(ty.trim())?;
        value.fill(contents.trim())?;
        Ok(value)
    }

    /// The bytes of a structure: members with types, as in `f32 0.5 1, u32 7`. Each member is aligned to its elements.
    fn parse_structure(text: &str) -> Result<RunArray, String> {
        let mut bytes = Vec::new();
        for member in text.split(',') {
            let member = member.trim();
            let (ty, contents) = member
                .split_once(char::is_whitespace)
                .unwrap_or((member, ""));
            let count = contents.split_whitespace().count();
            let mut value = RunArray::parse_type(&format!("{ty}[{count}]"))?;
            value.fill(contents)?;
            let align = (value.element.size() as usize).max(1);
            bytes.resize(bytes.len().next_multiple_of(align), 0);
            bytes.append(&mut value.bytes);
        }
        Ok(RunArray {
            element: ScalarType::I8,
            is_unsigned: true,
            shape: vec![bytes.len() as u64],
            bytes,
        })
    }

    /// An array of a type, without elements.
    fn parse_type(text: &str) -> Result<RunArray, String> {
        let (name, sizes) = match text.find('[') {
            Some(at) => text.split_at(at),
            None => (text, ""),
        };
        let known = parse_element_type(name.trim());
        let (element, is_unsigned) = known.ok_or_else(|| {
            format!("{name} is no type; types are i8 to i64, u8 to u64, f16, f32, f64 and bool")
        })?;
        let mut shape = Vec::new();
        for size in sizes.split_terminator(']') {
            let size = size
                .trim()
                .strip_prefix('[')
                .and_then(|size| size.trim().parse().ok());
            shape.push(size.ok_or_else(|| format!("{sizes} are no sizes, as in [4][2]"))?);
        }
        let count = shape
            .iter()
            .try_fold(1u64, |total, size| total.checked_mul(*size));
        if count.is_none_or(|count| count > MOST_ELEMENTS) {
            return Err(format!("arrays have at most {MOST_ELEMENTS} elements"));
        }
        Ok(RunArray {
            element,
            is_unsigned,
            shape,
            bytes: Vec::new(),
        })
    }

    /// A value of a program.
    pub(crate) fn from_program(value: ProgramValue) -> RunArray {
        RunArray {
            element: value.element,
            is_unsigned: value.unsigned,
            shape: value.shape,
            bytes: value.bytes,
        }
    }

    /// The value for a program.
    pub(crate) fn to_program(&self) -> ProgramValue {
        ProgramValue {
            element: self.element,
            unsigned: self.is_unsigned,
            shape: self.shape.clone(),
            bytes: self.bytes.clone(),
        }
    }

    /// The same type and shape with other contents.
    pub(crate) fn with_bytes(&self, bytes: Vec<u8>) -> RunArray {
        RunArray {
            bytes,
            shape: self.shape.clone(),
            ..*self
        }
    }

    /// The type with sizes, as scripts have it.
    pub(crate) fn type_name(&self) -> String {
        let sizes: String = self.shape.iter().map(|size| format!("[{size}]")).collect();
        element_type_name(self.element, self.is_unsigned) + &sizes
    }

    fn count(&self) -> u64 {
        self.shape.iter().product()
    }

    fn fill(&mut self, contents: &str) -> Result<(), String> {
        let count = self.count();
        let (word, rest) = contents
            .split_once(char::is_whitespace)
            .unwrap_or((contents, ""));
        match word {
            "iota" => (0..count).for_each(|n| self.push_number(n as f64, n)),
            "random" => {
                let seed = rest.trim().parse().unwrap_or(1);
                for n in 0..count {
                    let bits = mix_bits(seed, n);
                    self.push_number(
                        (bits >> 40) as f64 / f64::from(1 << 24),
                        bits % RANDOM_BOUND,
                    );
                }
            }
            _ => {
                let words = contents.split(|c: char| c.is_whitespace() || "[],".contains(c));
                let numbers: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
                for number in &numbers {
                    self.parse_number(number)?;
                }
                if let ([_], true) = (&numbers[..], count != 1) {
                    self.bytes = self.bytes.repeat(count as usize);
                } else if numbers.len() as u64 != count {
                    let listed = numbers.len();
                    return Err(format!("{listed} numbers are listed for {count} elements"));
                }
            }
        }
        Ok(())
    }

    /// Appends a number: a real one to floats, and an integer to others.
    fn push_number(&mut self, real: f64, integer: u64) {
        match self.element {
            ScalarType::F16 => self.bytes.extend(f16_from_f64(real).to_le_bytes()),
            ScalarType::F32 => self.bytes.extend((real as f32).to_le_bytes()),
            ScalarType::F64 => self.bytes.extend(real.to_le_bytes()),
            ScalarType::Bool => self.bytes.push((integer & 1) as u8),
            element => {
                let bytes = integer.to_le_bytes();
                self.bytes.extend(&bytes[..element.size() as usize]);
            }
        }
    }

    fn parse_number(&mut self, text: &str) -> Result<(), String> {
        let fault = || {
            format!(
                "{text} is no {}",
                element_type_name(self.element, self.is_unsigned)
            )
        };
        if self.element.is_float() {
            let real: f64 = text.parse().map_err(|_| fault())?;
            self.push_number(real, 0);
            return Ok(());
        }
        if self.element == ScalarType::Bool {
            let is_true: bool = text.parse().map_err(|_| fault())?;
            self.push_number(0.0, u64::from(is_true));
            return Ok(());
        }
        let integer: i128 = text.parse().map_err(|_| fault())?;
        let (least, most) = if self.is_unsigned {
            (0, (1i128 << self.element.width()) - 1)
        } else {
            let half = 1i128 << (self.element.width() - 1);
            (-half, half - 1)
        };
        if !(least..=most).contains(&integer) {
            return Err(fault());
        }
        self.push_number(0.0, integer as u64);
        Ok(())
    }

    /// The bits of each element.
    pub(super) fn elements(&self) -> impl Iterator<Item = u64> + '_ {
        let size = (self.element.size() as usize).max(1);
        self.bytes.chunks(size).map(|bytes| {
            let mut word = [0; 8];
            word[..bytes.len()].copy_from_slice(bytes);
            u64::from_le_bytes(word)
        })
    }

    /// The number of an element's bits.
    pub(super) fn read_number(&self, bits: u64) -> f64 {
        match self.element {
            ScalarType::F16 => f16_to_f32(bits as u16).into(),
            ScalarType::F32 => f32::from_bits(bits as u32).into(),
            ScalarType::F64 => f64::from_bits(bits),
            _ if self.is_unsigned => bits as f64,
            element => sign_extend(bits, element) as f64,
        }
    }

    /// The elements as text, with a line for each row.
    pub(crate) fn print_elements(&self) -> String {
        let row = self.shape.last().copied().unwrap_or(1).max(1) as usize;
        let mut out = String::new();
        for (at, bits) in self.elements().take(MOST_PRINTED).enumerate() {
            if at > 0 {
                let is_row = self.shape.len() > 1 && at % row == 0;
                out.push(if is_row { '\n' } else { ' ' });
            }
            // Writing to a string does not fail.
            let _ = match self.element {
                ScalarType::F16 => write!(out, "{}", f16_to_f32(bits as u16)),
                ScalarType::F32 => write!(out, "{}", f32::from_bits(bits as u32)),
                ScalarType::F64 => write!(out, "{}", f64::from_bits(bits)),
                ScalarType::Bool => write!(out, "{}", bits != 0),
                _ if self.is_unsigned => write!(out, "{bits}"),
                element => write!(out, "{}", sign_extend(bits, element)),
            };
        }
        let rest = (self.count() as usize).saturating_sub(MOST_PRINTED);
        if rest > 0 {
            let _ = write!(out, "\n… {rest} more");
        }
        out
    }

    /// The elements as numbers; none where there are too many.
    pub(crate) fn list_numbers(&self) -> Option<Vec<f64>> {
        let is_array = !self.shape.is_empty() && self.count() as usize <= MOST_DRAWN;
        is_array.then(|| self.elements().map(|bits| self.read_number(bits)).collect())
    }
}

fn sign_extend(bits: u64, element: ScalarType) -> i64 {
    spirula_scalar::int::sign_extend(bits, element.width())
}

/// Output `n` of SplitMix64 with a seed.
fn mix_bits(seed: u64, n: u64) -> u64 {
    let x = (seed << 32).wrapping_add(n).wrapping_add(1);
    let x = x.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ x >> 31
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contents_are_printed_as_they_are_read() {
        for (text, printed) in [
            ("f32[2][2] = 1 -2.5 3 4", "1 -2.5\n3 4"),
            ("u8[3] = 255", "255 255 255"),
            ("i16[2] = [-1, 7]", "-1 7"),
            ("f16 = 0.5", "0.5"),
            ("bool[2] = true false", "true false"),
            ("i64[4] = iota", "0 1 2 3"),
            ("f64[0] = 1", ""),
            ("struct = u8 1, u16 258 3", "1 0 2 1 3 0"),
        ] {
            let value = RunArray::from_text(text).unwrap();
            assert_eq!(value.print_elements(), printed, "{text}");
        }
        for text in [
            "f32[2] = 1 2 3",
            "i8 = 200",
            "f32[99999][99999] = 0",
            "f32",
            "int = 1",
            "u8 = -1",
        ] {
            assert!(RunArray::from_text(text).is_err(), "{text}");
        }
    }

    #[test]
    fn random_numbers_are_small() {
        let reals = RunArray::from_text("f32[64] = random 3").unwrap();
        let numbers = reals.list_numbers().unwrap();
        assert!(numbers.iter().all(|n| (0.0..1.0).contains(n)));
        assert_ne!(numbers[0], numbers[1]);
    }
}

//! Values as Futhark's interpreter prints them.

use spirula_futhark::value_structure::ValueStructure;
use spirula_program::{ProgramValue, ScalarType};

/// Prints a value, which is given by its plain values. Arrays of arrays and the fields of records have a line each, unless
/// they are elements of an array that has none.
pub(super) fn print_value(structure: &ValueStructure, parts: &[ProgramValue]) -> String {
    let printer = ValuePrinter { parts };
    printer.print(structure, 0, &mut Vec::new(), PrintStyle::default())
}

/// How a value is laid out.
#[derive(Clone, Copy, Debug, Default)]
struct PrintStyle {
    /// Whether it stands on one line.
    is_flat: bool,
    /// Whether it is part of the payload of a constructor.
    is_payload: bool,
}

struct ValuePrinter<'v> {
    parts: &'v [ProgramValue],
}

impl ValuePrinter<'_> {
    /// Prints the value whose plain values begin at a part, at an index of all arrays around it.
    fn print(
        &self,
        structure: &ValueStructure,
        part: usize,
        index: &mut Vec<u64>,
        style: PrintStyle,
    ) -> String {
        match structure {
            ValueStructure::Scalar => self.print_scalar(part, index),
            ValueStructure::Function => "#<fun>".to_owned(),
            ValueStructure::Array(element) => self.print_array(element, part, index, style),
            ValueStructure::Record(fields) => self.print_record(fields, part, index, style),
            ValueStructure::Sum(clauses) => self.print_sum(clauses, part, index, style),
        }
    }

    /// The bits of a scalar.
    fn find_bits(&self, part: usize, index: &[u64]) -> Option<u64> {
        let value = self.parts.get(part)?;
        let position = value.shape.iter().zip(index);
        let position = position.fold(0, |position, (size, index)| position * size + index);
        let size = value.element.size() as usize;
        let start = size * position as usize;
        let mut bits = [0; 8];
        bits.get_mut(..size)?
            .copy_from_slice(value.bytes.get(start..start + size)?);
        Some(u64::from_le_bytes(bits))
    }

    fn print_scalar(&self, part: usize, index: &[u64]) -> String {
        let (Some(value), Some(bits)) = (self.parts.get(part), self.find_bits(part, index)) else {
            return "?".to_owned();
        };
        let size = value.element.size() as usize;
        let alone = ProgramValue {
            element: value.element,
            unsigned: value.unsigned,
            shape: Vec::new(),
            bytes: bits.to_le_bytes()[..size].to_vec(),
        };
        let text = alone.to_string();
        let number = text.strip_suffix(&alone.type_name()).unwrap_or(&text);
        match value.element {
            ScalarType::F16 | ScalarType::F32 | ScalarType::F64 => {
                print_float(number, &text, &alone.type_name())
            }
            _ => number.to_owned(),
        }
    }

    fn print_array(
        &self,
        element: &ValueStructure,
        part: usize,
        index: &mut Vec<u64>,
        style: PrintStyle,
    ) -> String {
        if count_parts(element) == 0 {
            // Nothing has the size of an array of units.
            return "[…]".to_owned();
        }
        let sizes = self.parts.get(part).map(|value| &value.shape);
        let length = sizes.and_then(|sizes| sizes.get(index.len()).copied());
        let is_nested = matches!(element, ValueStructure::Array(_));
        let inner = PrintStyle {
            is_flat: style.is_flat || !is_nested,
            is_payload: false,
        };
        let elements = (0..length.unwrap_or(0)).map(|position| {
            index.push(position);
            let text = self.print(element, part, index, inner);
            index.pop();
            text
        });
        let elements: Vec<String> = elements.collect();
        let separator = if inner.is_flat { ", " } else { ",\n " };
        let elements: Vec<String> = elements.iter().map(|text| indent(text, 1)).collect();
        format!("[{}]", elements.join(separator))
    }

    fn print_record(
        &self,
        fields: &[(String, ValueStructure)],
        mut part: usize,
        index: &mut Vec<u64>,
        style: PrintStyle,
    ) -> String {
        let mut numbered = fields.iter().enumerate();
        let is_tuple =
            fields.len() != 1 && numbered.all(|(number, (name, _))| *name == number.to_string());
        let inner = PrintStyle {
            is_payload: false,
            ..style
        };
        let mut printed = Vec::with_capacity(fields.len());
        for (name, field) in fields {
            let text = self.print(field, part, index, inner);
            part += count_parts(field);
            let label = if is_tuple {
                String::new()
            } else {
                format!("{name} = ")
            };
            let column = 1 + label.chars().count();
            printed.push(format!("{label}{}", indent(&text, column)));
        }
        let separator = if style.is_flat { ", " } else { ",\n " };
        let (open, close) = if is_tuple { ('(', ')') } else { ('{', '}') };
        format!("{open}{}{close}", printed.join(separator))
    }

    fn print_sum(
        &self,
        clauses: &[(String, Vec<ValueStructure>)],
        part: usize,
        index: &mut Vec<u64>,
        style: PrintStyle,
    ) -> String {
        let tag = self.find_bits(part, index).unwrap_or(0) as usize;
        let before = clauses.iter().take(tag).flat_map(|(_, payload)| payload);
        let mut part = part + 1 + before.map(count_parts).sum::<usize>();
        let Some((name, payload)) = clauses.get(tag) else {
            return "?".to_owned();
        };
        let mut text = format!("#{name}");
        for value in payload {
            let inner = PrintStyle {
                is_flat: true,
                is_payload: true,
            };
            text.push(' ');
            text.push_str(&self.print(value, part, index, inner));
            part += count_parts(value);
        }
        if style.is_payload {
            format!("({text})")
        } else {
            text
        }
    }
}

/// The number of plain values that a value consists of.
fn count_parts(structure: &ValueStructure) -> usize {
    match structure {
        ValueStructure::Scalar => 1,
        ValueStructure::Function => 0,
        ValueStructure::Array(element) => count_parts(element),
        ValueStructure::Record(fields) => fields.iter().map(|(_, field)| count_parts(field)).sum(),
        ValueStructure::Sum(clauses) => {
            let payloads = clauses.iter().flat_map(|(_, payload)| payload);
            1 + payloads.map(count_parts).sum::<usize>()
        }
    }
}

/// Moves all lines but the first to a column.
fn indent(text: &str, column: usize) -> String {
    text.replace('\n', &format!("\n{}", " ".repeat(column)))
}

/// A float with at least one digit on both sides of its point: `0.1`, and `1.0e7` from ten millions on. The rules are those
/// of Haskell's `show` (Haskell 2010 Report, section 9.3).
fn print_float(number: &str, text: &str, type_name: &str) -> String {
    let Ok(value) = number.parse::<f64>() else {
        let is_negative = text.starts_with('-');
        let kind = if text.contains("inf") { "inf" } else { "nan" };
        let sign = if is_negative && kind == "inf" {
            "-"
        } else {
            ""
        };
        return format!("{sign}{type_name}.{kind}");
    };
    let (sign, magnitude) = match number.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", number),
    };
    if value == 0.0 {
        return format!("{sign}0.0");
    }
    let (mantissa, exponent) = magnitude.split_once(['e', 'E']).unwrap_or((magnitude, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    let zeros = digits.len() - digits.trim_start_matches('0').len();
    let digits = digits.trim_matches('0');
    // The value is 0.DIGITS times ten to the power of `point`.
    let point = whole.len() as i32 + exponent - zeros as i32;
    if !(0..=7).contains(&point) {
        let (first, rest) = digits.split_at(1);
        let rest = if rest.is_empty() { "0" } else { rest };
        return format!("{sign}{first}.{rest}e{}", point - 1);
    }
    let point = point as usize;
    let padded = format!("{digits:0<point$}");
    let (whole, fraction) = padded.split_at(point);
    let whole = if whole.is_empty() { "0" } else { whole };
    let fraction = if fraction.is_empty() { "0" } else { fraction };
    format!("{sign}{whole}.{fraction}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_have_digits_on_both_sides() {
        for (number, shown) in [
            ("0.1", "0.1"),
            ("0.01", "1.0e-2"),
            ("1", "1.0"),
            ("1e10", "1.0e10"),
            ("9999999", "9999999.0"),
            ("10000000", "1.0e7"),
            ("123456789.5", "1.234567895e8"),
            ("-2.5", "-2.5"),
            ("0.0", "0.0"),
            ("-0.0", "-0.0"),
            ("1.5e-7", "1.5e-7"),
        ] {
            assert_eq!(print_float(number, number, "f64"), shown, "{number}");
        }
    }
}

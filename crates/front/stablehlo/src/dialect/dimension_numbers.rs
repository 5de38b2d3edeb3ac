//! Dimension numbers of convolutions: `[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]`.

use super::attributes::{AttributeField, always_printed_field, integer_field, integers_field};
use crate::mlir::text::{MlirParseResult, MlirParser};
use crate::mlir::{DialectBody, MlirAttr, MlirModule, NamedAttribute};

/// Fields in order: three for the input, the kernel and the output each. The first two of three
/// are dimensions by a letter, the third those by a number.
pub(crate) const FIELDS: &[AttributeField] = &[
    always_printed_field(integer_field("input_batch_dimension")),
    always_printed_field(integer_field("input_feature_dimension")),
    always_printed_field(integers_field("input_spatial_dimensions")),
    always_printed_field(integer_field("kernel_input_feature_dimension")),
    always_printed_field(integer_field("kernel_output_feature_dimension")),
    always_printed_field(integers_field("kernel_spatial_dimensions")),
    always_printed_field(integer_field("output_batch_dimension")),
    always_printed_field(integer_field("output_feature_dimension")),
    always_printed_field(integers_field("output_spatial_dimensions")),
];

/// The letters of input, kernel and output.
const LETTERS: [[&str; 2]; 3] = [["b", "f"], ["i", "o"], ["b", "f"]];

impl MlirParser<'_> {
    /// All three lists.
    pub(crate) fn dimension_numbers(&mut self) -> MlirParseResult<DialectBody> {
        let mut named = Vec::new();
        for (part, letters) in LETTERS.into_iter().enumerate() {
            match part {
                0 => {}
                1 => self.cursor.expect_punctuation("x")?,
                _ => self.cursor.expect_punctuation("->")?,
            }
            self.dimension_list(letters, &FIELDS[part * 3..part * 3 + 3], &mut named)?;
        }
        Ok(DialectBody::Fields(named.into()))
    }

    fn dimension_list(
        &mut self,
        letters: [&str; 2],
        fields: &[AttributeField],
        named: &mut Vec<NamedAttribute>,
    ) -> MlirParseResult<()> {
        self.cursor.expect_punctuation("[")?;
        let start = self.cursor.skip_to_start();
        let mut lettered = [None; 2];
        let mut spatial: Vec<(u64, i64)> = Vec::new();
        let mut at = 0;
        self.parse_list("]", |parser| {
            if parser.cursor.peek_byte().is_ascii_digit() {
                spatial.push((parser.cursor.read_number()?, at));
            } else {
                let word = parser.cursor.read_word();
                match letters.iter().position(|&letter| letter == word) {
                    Some(letter) => lettered[letter] = Some(at),
                    None => return parser.cursor.report_expected("a dimension"),
                }
            }
            at += 1;
            Ok(())
        })?;
        let place = self.cursor.location_since(start);
        spatial.sort_unstable();
        let in_order = |(at, &(number, _)): (usize, &(u64, i64))| number == at as u64;
        let complete = spatial.iter().enumerate().all(in_order) && spatial.len() + 2 == at as usize;
        let ([Some(first), Some(second)], true) = (lettered, complete) else {
            let [first, second] = letters;
            let message =
                format!("expected `{first}`, `{second}` and the numbers from 0, each once");
            return self.cursor.error_at(place, message);
        };
        let spatial: Vec<i64> = spatial.iter().map(|&(_, at)| at).collect();
        for (field, value) in fields.iter().zip([first, second]) {
            let name = self.module.intern_text(field.name);
            named.push((name, self.integer_attribute(value, 64)));
        }
        let name = self.module.intern_text(fields[2].name);
        named.push((name, self.integers_attribute(&spatial)));
        Ok(())
    }
}

/// The text of dimension numbers.
pub(crate) fn print_dimension_numbers(module: &MlirModule, attr: MlirAttr) -> String {
    let mut out = String::new();
    for (part, letters) in LETTERS.into_iter().enumerate() {
        out.push_str(["", "x", "->"][part]);
        let fields = &FIELDS[part * 3..part * 3 + 3];
        let spatial = module.field_integers(attr, fields[2].name);
        let mut row = vec!["?".to_owned(); spatial.len() + 2];
        let mut put = |at: i64, text: String| {
            if let Some(entry) = usize::try_from(at).ok().and_then(|at| row.get_mut(at)) {
                *entry = text;
            }
        };
        for (field, letter) in fields.iter().zip(letters) {
            put(module.field_integer(attr, field.name), letter.to_owned());
        }
        for (number, at) in spatial.into_iter().enumerate() {
            put(at, number.to_string());
        }
        out.push_str(&format!("[{}]", row.join(", ")));
    }
    out
}

//! Summaries of arrays in a few lines.

use spirula_runtime::data::{ArrayStatistics, ElementArray};
use std::fmt::Write;

/// Rows that are shown of an array with several.
const ROWS: usize = 6;

/// Summarises an array: type, shape, smallest and largest element, and the first `most` elements of the first rows.
pub fn summarise_array(array: &ElementArray, most: usize) -> String {
    let mut out = array.shape_text();
    let element = array.element();
    let statistics = ArrayStatistics::from_array(array);
    // Writing to a string does not fail.
    if let Some((low, high)) = statistics.range {
        let _ = write!(
            out,
            ", {} to {}",
            element.format_number(low),
            element.format_number(high)
        );
    }
    if statistics.nan > 0 {
        let _ = write!(out, ", {} NaN", statistics.nan);
    }
    out.push('\n');
    let width = array.shape().last().copied().unwrap_or(1).max(1);
    let rows = array.element_count() / width;
    let mut numbers = array.iter_numbers();
    for row in 0..rows.min(ROWS) {
        let mut words: Vec<_> = numbers
            .by_ref()
            .take(width.min(most))
            .map(|n| element.format_number(n))
            .collect();
        if width > most {
            words.push("...".to_owned());
        }
        let _ = writeln!(out, "  {}", words.join(" "));
        if row + 1 < rows && width > most {
            numbers.nth(width - most - 1);
        }
    }
    if rows > ROWS {
        out.push_str("  ...\n");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use spirula_runtime::data::ElementType;

    #[test]
    fn rows_and_columns_are_cut() {
        let bytes = (0..80).collect();
        let array = ElementArray::new(ElementType::U8, vec![8, 10], bytes).unwrap();
        let text = summarise_array(&array, 3);
        let rows = [
            "0 1 2", "10 11 12", "20 21 22", "30 31 32", "40 41 42", "50 51 52",
        ];
        let rows: String = rows.iter().map(|r| format!("  {r} ...\n")).collect();
        assert_eq!(text, format!("8x10xu8, 0 to 79\n{rows}  ...\n"));
    }

    #[test]
    fn scalars_and_empty_arrays() {
        let scalar = ElementArray::new(ElementType::I8, vec![], vec![255]).unwrap();
        assert_eq!(summarise_array(&scalar, 8), "i8, -1 to -1\n  -1\n");
        let empty = ElementArray::new(ElementType::I8, vec![3, 0], vec![]).unwrap();
        assert_eq!(summarise_array(&empty, 8), "3x0xi8\n");
    }
}

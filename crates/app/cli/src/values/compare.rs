//! Comparison of arrays.

use spirula_runtime::data::{ElementArray, ElementNumber};
use std::fmt;

/// Tolerance of a comparison. Floats may differ by `absolute + relative * max(|want|, scale)`, and integers by `slack`.
/// NaN equals NaN.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ArrayTolerance {
    /// Absolute tolerance of floats.
    pub absolute: f64,
    /// Tolerance of floats relative to their magnitude.
    pub relative: f64,
    /// Magnitude below which the relative tolerance does not shrink.
    pub scale: f64,
    /// Absolute tolerance of integers.
    pub slack: u64,
}

/// Difference of two arrays.
#[derive(Clone, Debug, PartialEq)]
pub struct ArrayDifference {
    /// Number of elements that differ by more than the tolerance.
    pub count: usize,
    /// Number of all elements.
    pub of: usize,
    /// Index of the first element that differs.
    pub first: usize,
    /// Its coordinates.
    pub coordinates: Vec<usize>,
    /// Its value, and that which is expected, as text.
    pub got_want: (String, String),
    /// Largest difference of any element; NaN where a number is compared with NaN.
    pub largest: f64,
}

/// Compares two arrays of the same type and number of elements; `None` where they agree.
///
/// # Errors
/// When type or number of elements differ.
pub fn compare_arrays(
    got: &ElementArray,
    want: &ElementArray,
    tolerance: ArrayTolerance,
) -> Result<Option<ArrayDifference>, String> {
    if got.element() != want.element() || got.element_count() != want.element_count() {
        return Err(format!(
            "{} was computed, {} is expected",
            got.shape_text(),
            want.shape_text()
        ));
    }
    if got.bytes() == want.bytes() {
        return Ok(None);
    }
    let mut found: Option<ArrayDifference> = None;
    for (i, (g, w)) in got.iter_numbers().zip(want.iter_numbers()).enumerate() {
        let Some(by) = measure_excess_difference(g, w, tolerance) else {
            continue;
        };
        let difference = found.get_or_insert_with(|| ArrayDifference {
            count: 0,
            of: got.element_count(),
            first: i,
            coordinates: got.locate_element(i),
            got_want: (
                got.element().format_number(g),
                got.element().format_number(w),
            ),
            largest: 0.0,
        });
        difference.count += 1;
        if by.is_nan() || by > difference.largest {
            difference.largest = by;
        }
    }
    Ok(found)
}

/// The difference of two numbers, where it exceeds the tolerance.
fn measure_excess_difference(
    got: ElementNumber,
    want: ElementNumber,
    tolerance: ArrayTolerance,
) -> Option<f64> {
    match (got, want) {
        (ElementNumber::Int(g), ElementNumber::Int(w)) => {
            let by = g.abs_diff(w);
            (by > u128::from(tolerance.slack)).then_some(by as f64)
        }
        _ => {
            let (g, w) = (got.to_f64(), want.to_f64());
            if g == w || (g.is_nan() && w.is_nan()) {
                return None;
            }
            let by = (g - w).abs();
            let most = tolerance.absolute + tolerance.relative * w.abs().max(tolerance.scale);
            // A NaN on either side, or an infinity against another number, is never within.
            (by.is_nan() || by.is_infinite() || by > most).then_some(by)
        }
    }
}

impl fmt::Display for ArrayDifference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (got, want) = &self.got_want;
        write!(
            f,
            "{} of {} elements differ; first at {}",
            self.count, self.of, self.first
        )?;
        if self.coordinates.len() > 1 {
            let at: Vec<_> = self.coordinates.iter().map(ToString::to_string).collect();
            write!(f, " [{}]", at.join(", "))?;
        }
        write!(
            f,
            ": got {got}, want {want}; largest difference {:.3e}",
            self.largest
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use spirula_runtime::data::ElementType;

    fn make_float_array(values: &[f32]) -> ElementArray {
        let bytes = values.iter().flat_map(|v| v.to_le_bytes()).collect();
        ElementArray::new(ElementType::F32, vec![2, values.len() / 2], bytes).unwrap()
    }

    #[test]
    fn differences_are_counted_and_placed() {
        let want = make_float_array(&[1.0, 2.0, 3.0, 4.0]);
        let got = make_float_array(&[1.0, 2.5, 3.0, 4.25]);
        let difference = compare_arrays(&got, &want, ArrayTolerance::default())
            .unwrap()
            .unwrap();
        assert_eq!(
            difference.to_string(),
            "2 of 4 elements differ; first at 1 [0, 1]: got 2.5, want 2; largest difference 5.000e-1"
        );
        let loose = ArrayTolerance {
            absolute: 0.3,
            relative: 0.1,
            ..ArrayTolerance::default()
        };
        assert_eq!(compare_arrays(&got, &want, loose), Ok(None));
    }

    #[test]
    fn nan_and_infinity() {
        let loose = ArrayTolerance {
            absolute: f64::MAX,
            ..ArrayTolerance::default()
        };
        let nan = make_float_array(&[f32::NAN, 1.0]);
        let payload = make_float_array(&[f32::from_bits(0x7fc0_0001), 1.0]);
        assert_eq!(compare_arrays(&payload, &nan, loose), Ok(None));
        assert!(
            compare_arrays(&make_float_array(&[0.0, 1.0]), &nan, loose)
                .unwrap()
                .is_some()
        );
        let infinite = make_float_array(&[f32::INFINITY, 1.0]);
        assert!(compare_arrays(&nan, &infinite, loose).unwrap().is_some());
        assert!(
            compare_arrays(&make_float_array(&[1.0, 1.0]), &infinite, loose)
                .unwrap()
                .is_some()
        );
    }

    #[test]
    fn other_types_are_no_comparison() {
        let want = ElementArray::new(ElementType::U32, vec![2], vec![0; 8]).unwrap();
        assert!(
            compare_arrays(
                &make_float_array(&[0.0, 0.0]),
                &want,
                ArrayTolerance::default()
            )
            .is_err()
        );
    }
}

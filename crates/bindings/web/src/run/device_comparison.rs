//! Comparison of the arrays that a device has written with those that the page has computed itself.

use super::run_array::RunArray;

/// How the arrays of a device differ from those of the executor.
#[derive(Debug, Default)]
pub(super) struct DeviceComparison {
    numbers: usize,
    different: usize,
    /// The largest difference, as a part of the larger number.
    largest: f64,
}

impl DeviceComparison {
    /// Compares an array with the expected one.
    pub(super) fn add_array(&mut self, found: &RunArray, expected: &RunArray) {
        for (found_bits, expected_bits) in found.elements().zip(expected.elements()) {
            self.numbers += 1;
            let number = |bits| found.read_number(bits);
            let (found, expected) = (number(found_bits), number(expected_bits));
            let is_nan = found.is_nan() && expected.is_nan();
            if found_bits == expected_bits || is_nan {
                continue;
            }
            self.different += 1;
            let size = found.abs().max(expected.abs());
            let difference = (found - expected).abs() / size;
            // A number that is infinite or NaN on one side alone differs wholly.
            let difference = if difference.is_nan() { 1.0 } else { difference };
            self.largest = self.largest.max(difference);
        }
    }

    /// The result in words.
    pub(super) fn describe(&self) -> String {
        match self.different {
            0 => format!("all {} numbers equal WebAssembly's", self.numbers),
            different => format!(
                "{different} of {} numbers differ from WebAssembly's, by {:.1e} of their size at most",
                self.numbers, self.largest
            ),
        }
    }
}

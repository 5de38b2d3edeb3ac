//! Comparison of the results and errors of Futhark programs with expected ones.

use crate::test::TestOutcome;
use crate::test::session::expect_array;
use crate::values::compare::ArrayTolerance;
use crate::values::program::to_array;
use regex_lite::{Regex, RegexBuilder};
use spirula_program::{ProgramError, ProgramValue};
use spirula_runtime::DeviceError;

/// Tolerance of floats. It is multiplied by the largest expected number where that is above 1.
const TOLERANCE: f64 = 0.002;

/// Compares an error, in the form of standard error, with the expected pattern.
pub fn verify_expected_error(
    found: Result<Vec<ProgramValue>, ProgramError<DeviceError>>,
    pattern: &str,
) -> Result<(), TestOutcome> {
    let told = match found {
        Ok(_) => return Err(TestOutcome::failed("it gave results, an error is expected")),
        Err(error @ (ProgramError::Failed(..) | ProgramError::Invalid(_))) => {
            format!("Error: {error}")
        }
        Err(error) => return Err(error.into()),
    };
    matches_error(&told, pattern)
}

/// Compares a message with the expected pattern.
fn matches_error(told: &str, pattern: &str) -> Result<(), TestOutcome> {
    if matches_pattern(told, pattern).map_err(TestOutcome::failed)? {
        Ok(())
    } else {
        Err(TestOutcome::failed(format!(
            "it failed with {told:?}, expected {pattern:?}"
        )))
    }
}

/// Whether a message has a part that matches a pattern. Line breaks of the message are like other characters.
pub fn matches_pattern(told: &str, pattern: &str) -> Result<bool, String> {
    Ok(compile_pattern(pattern)?.is_match(told))
}

/// Compiles a pattern of a test block. Braces that repeat nothing are characters, as in POSIX's expressions.
pub fn compile_pattern(pattern: &str) -> Result<Regex, String> {
    let compile = |pattern: &str| {
        RegexBuilder::new(pattern)
            .dot_matches_new_line(true)
            .build()
    };
    compile(pattern)
        .or_else(|_| compile(&pattern.replace('{', "\\{").replace('}', "\\}")))
        .map_err(|error| format!("the regular expression {pattern:?}: {error}"))
}

/// Compares results. Types and shapes must be equal, and numbers within the tolerance.
pub fn compare_results(found: &[ProgramValue], wanted: &[ProgramValue]) -> Result<(), TestOutcome> {
    if found.len() != wanted.len() {
        let (found, wanted) = (found.len(), wanted.len());
        return Err(TestOutcome::failed(format!(
            "{found} results, {wanted} are expected"
        )));
    }
    for (number, (found, wanted)) in found.iter().zip(wanted).enumerate() {
        let title = format!("result {number}");
        let found = to_array(found).map_err(TestOutcome::failed)?;
        let wanted = to_array(wanted).map_err(TestOutcome::failed)?;
        if found.shape() != wanted.shape() {
            let (found, wanted) = (found.shape_text(), wanted.shape_text());
            return Err(TestOutcome::failed(format!(
                "{title}: {found}, expected {wanted}"
            )));
        }
        let numbers = wanted.iter_numbers().map(|n| n.to_f64().abs());
        let largest = numbers.filter(|n| n.is_finite()).fold(1.0, f64::max);
        let tolerance = ArrayTolerance {
            absolute: TOLERANCE * largest,
            ..ArrayTolerance::default()
        };
        expect_array(&title, &found, &wanted, tolerance)?;
    }
    Ok(())
}

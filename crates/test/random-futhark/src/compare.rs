//! Comparison of the forms of a program by their evaluators.

use crate::RandomProgram;
use spirula_futhark::compile::{CheckedSource, check_source};
use spirula_futhark::evaluate::ProgramEvaluator;
use spirula_futhark::internalise::internalise_entry;
use spirula_program::ProgramValue;
use spirula_segment::meaning::to_soac;
use spirula_segment::profile::SegmentProfile;
use spirula_segment::translate::translate_function;
use spirula_segment::verify::verify_function;
use spirula_soac::evaluate::{SoacValue, evaluate_function};
use spirula_soac::fuse::FusionScope;
use spirula_soac::ir::{SoacEntry, SoacFunction, SoacProgram};
use spirula_soac::optimise::optimise_function;
use std::fmt;

/// Statements that an evaluator may take.
const FUEL: u64 = 2_000_000;

/// How a form of a program differs from its source.
#[derive(Clone, Debug)]
pub struct FormDifference {
    /// The form.
    pub form: &'static str,
    /// The fault.
    pub message: String,
}

impl fmt::Display for FormDifference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.form, self.message)
    }
}

/// A form that is made of the soac form.
type FormTranslation = fn(SoacFunction) -> Result<SoacFunction, String>;

/// The forms.
const FORMS: &[(&str, FormTranslation)] = &[
    ("soac", Ok),
    ("maps fused", |function| {
        Ok(optimise(function, FusionScope::Maps))
    }),
    ("all fused", |function| {
        Ok(optimise(function, FusionScope::All))
    }),
    ("segments of processors", |function| {
        make_segments(function, SegmentProfile::PROCESSOR)
    }),
    ("segments of graphics cards", |function| {
        make_segments(function, SegmentProfile::GRAPHICS)
    }),
];

/// The results of a program, as text, where all forms have them. `None` if the evaluation takes too long.
///
/// # Errors
/// The first form that has other results, is refused, or breaks the rules of its form.
pub fn compare_forms(program: &RandomProgram) -> Result<Option<String>, FormDifference> {
    let differ = |form, message| FormDifference { form, message };
    let mut read = |_: &str| Ok(program.text.clone());
    let checked = check_source("main.fut", &mut read)
        .map_err(|faults| differ("checker", faults[0].to_string()))?;
    let arguments = ProgramValue::read_all(program.arguments.as_bytes())
        .map_err(|error| differ("arguments", error.to_string()))?;
    let mut evaluator = ProgramEvaluator::new(&checked.program, FUEL);
    let expected = match evaluator.call_entry("main", &arguments) {
        Ok(values) => print_values(&values),
        Err(fault) if is_too_long(&fault.message) => return Ok(None),
        Err(fault) => return Err(differ("source", fault.message)),
    };
    let (function, interface) =
        internalise_last(&checked).map_err(|message| differ("internaliser", message))?;
    for (form, translate) in FORMS {
        let found = translate(function.clone())
            .and_then(|function| evaluate_form(&function, &interface, &arguments));
        match found {
            Ok(found) if found == expected => {}
            Ok(found) => {
                return Err(differ(form, format!("{found}, expected {expected}")));
            }
            Err(message) if is_too_long(&message) => return Ok(None),
            Err(message) => return Err(differ(form, message)),
        }
    }
    Ok(Some(expected))
}

/// Whether a message says that the evaluation takes too long.
fn is_too_long(message: &str) -> bool {
    message.contains("steps")
}

/// The soac form of the last entry point.
fn internalise_last(checked: &CheckedSource) -> Result<(SoacFunction, SoacEntry), String> {
    let entry = checked.program.entries.last();
    let entry = *entry.ok_or("there is no entry point")?;
    let internalised = internalise_entry(&checked.files, &checked.program, entry);
    internalised.map_err(|fault| fault.message)
}

/// The results of a function, which is verified.
fn evaluate_form(
    function: &SoacFunction,
    interface: &SoacEntry,
    arguments: &[ProgramValue],
) -> Result<String, String> {
    let mut verified = SoacProgram::default();
    verified.functions.push(function.clone());
    spirula_soac::verify::verify_program(&verified).map_err(|fault| format!("{fault:?}"))?;
    let arguments = arguments
        .iter()
        .flat_map(SoacValue::list_argument)
        .collect();
    let results = evaluate_function(function, arguments, FUEL)?;
    let unsigned = interface.results.iter();
    let unsigned = unsigned.flat_map(|result| result.unsigned.iter().copied());
    let values = results.iter().zip(unsigned);
    let values: Vec<ProgramValue> = values
        .map(|(value, unsigned)| value.to_program_value(unsigned))
        .collect();
    Ok(print_values(&values))
}

fn make_segments(function: SoacFunction, profile: SegmentProfile) -> Result<SoacFunction, String> {
    let segments = translate_function(optimise(function, FusionScope::All), profile);
    verify_function(&segments).map_err(|fault| format!("{fault:?}"))?;
    Ok(to_soac(&segments))
}

/// The function after all passes.
fn optimise(mut function: SoacFunction, scope: FusionScope) -> SoacFunction {
    optimise_function(&mut function, scope);
    function
}

/// Values as text, one after the other.
fn print_values(values: &[ProgramValue]) -> String {
    let printed: Vec<_> = values.iter().map(ToString::to_string).collect();
    printed.join(" ")
}

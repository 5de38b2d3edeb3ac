//! Comparison of the forms of a program by their evaluators.

use crate::RandomProgram;
use spirula_futhark::compile::{CheckedSource, check_source};
use spirula_futhark::evaluate::ProgramEvaluator;
use spirula_futhark::internalise::internalise_entry;
use spirula_program::{ProgramValue, ScalarLiteral, ScalarType};
use spirula_segment::meaning::to_soac;
use spirula_segment::profile::SegmentProfile;
use spirula_segment::translate::translate_function;
use spirula_segment::verify::verify_function;
use spirula_soac::evaluate::{SoacValue, evaluate_function};
use spirula_soac::fuse::{FusionScope, fuse_function};
use spirula_soac::ir::{SoacFunction, SoacProgram};
use spirula_soac::simplify::simplify_function;
use std::fmt;

/// Statements that an evaluator may take.
const FUEL: u64 = 2_000_000;

/// How a form of a program differs from its source.
#[derive(Clone, Debug)]
pub struct FormDifference {
    /// The form.
    pub form: &'static str,
    /// What is wrong.
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
    for (form, translate) in FORMS {
        match evaluate_form(&checked, &arguments, *translate) {
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

/// The results of `main` in a form.
fn evaluate_form(
    checked: &CheckedSource,
    arguments: &[ProgramValue],
    translate: FormTranslation,
) -> Result<String, String> {
    let entry = checked.program.entries.last();
    let entry = *entry.ok_or("there is no entry point")?;
    let (function, interface) = internalise_entry(&checked.files, &checked.program, entry)
        .map_err(|fault| fault.message)?;
    let function = translate(function)?;
    let mut verified = SoacProgram::default();
    verified.functions.push(function.clone());
    spirula_soac::verify::verify_program(&verified).map_err(|fault| format!("{fault:?}"))?;
    let arguments = arguments.iter().flat_map(list_argument).collect();
    let results = evaluate_function(&function, arguments, FUEL)?;
    let unsigned = interface.results.iter();
    let unsigned = unsigned.flat_map(|result| result.unsigned.iter().copied());
    let values = results.iter().zip(unsigned);
    let values: Vec<ProgramValue> = values
        .map(|(value, unsigned)| to_program_value(value, unsigned))
        .collect();
    Ok(print_values(&values))
}

fn make_segments(function: SoacFunction, profile: SegmentProfile) -> Result<SoacFunction, String> {
    let segments = translate_function(optimise(function, FusionScope::Maps), profile);
    verify_function(&segments).map_err(|fault| format!("{fault:?}"))?;
    Ok(to_soac(&segments))
}

/// The function after all passes.
fn optimise(mut function: SoacFunction, scope: FusionScope) -> SoacFunction {
    simplify_function(&mut function);
    fuse_function(&mut function, scope);
    simplify_function(&mut function);
    function
}

/// An argument as the soac form takes it: its sizes, then its elements.
fn list_argument(value: &ProgramValue) -> Vec<SoacValue> {
    let sizes = value.shape.iter();
    let sizes = sizes.map(|&size| SoacValue::Scalar(ScalarLiteral::from_i64(size as i64)));
    let bits: Vec<u64> = value.elements().collect();
    let contents = if value.shape.is_empty() {
        SoacValue::Scalar(ScalarLiteral::new(value.element, bits[0]))
    } else {
        let shape = value.shape.iter().map(|&size| size as i64).collect();
        SoacValue::from_elements(value.element, shape, bits)
    };
    sizes.chain([contents]).collect()
}

fn to_program_value(value: &SoacValue, unsigned: bool) -> ProgramValue {
    let element = match value {
        SoacValue::Scalar(literal) => literal.ty,
        SoacValue::Array(element, _, _) => *element,
    };
    let size = element.size() as usize;
    let elements = value.bits();
    let bytes = elements.iter();
    ProgramValue {
        element,
        unsigned: unsigned && element != ScalarType::Bool,
        shape: value.shape().iter().map(|&size| size as u64).collect(),
        bytes: bytes
            .flat_map(|bits| bits.to_le_bytes()[..size].to_vec())
            .collect(),
    }
}

/// Values as text, one after the other.
fn print_values(values: &[ProgramValue]) -> String {
    let printed: Vec<_> = values.iter().map(ToString::to_string).collect();
    printed.join(" ")
}

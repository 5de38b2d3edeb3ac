//! Source: programs mean what they should, by two evaluators; the corpus is accepted and rejected.

mod accepted;
mod consumed;
mod derivatives;
mod format;
mod messages;
mod nesting;
mod programs;
mod query;
mod recursive;
mod rejected;
mod restricted;
mod sizes;
mod typed_text;
mod unchecked;

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

/// Statements that an evaluator may take.
const FUEL: u64 = 5_000_000;

/// Checks a program of one file. An error is the first message with its notes.
fn check_text(text: &str) -> Result<CheckedSource, String> {
    let mut read = |path: &str| match path {
        "main.fut" => Ok(text.to_owned()),
        other => Err(format!("there is no {other}")),
    };
    check_source("main.fut", &mut read)
        .map_err(|faults| format!("{}: {}", faults[0].message, faults[0].notes.join("; ")))
}

/// Checks a program of one file. An error is all messages.
fn check_all(text: &str) -> Result<CheckedSource, Vec<String>> {
    let mut read = |_: &str| Ok(text.to_owned());
    check_source("main.fut", &mut read)
        .map_err(|faults| faults.iter().map(ToString::to_string).collect())
}

/// The warnings of a program of one file. An error is the first message.
fn check_warnings(text: &str) -> Result<Vec<String>, String> {
    let warnings = check_text(text)?.warnings;
    let warnings = warnings.iter();
    Ok(warnings
        .map(|warning| warning.diagnostic.to_string())
        .collect())
}

/// Values as text, one after the other.
fn print_values(values: &[ProgramValue]) -> String {
    let printed: Vec<_> = values.iter().map(ToString::to_string).collect();
    printed.join(" ")
}

/// The results of `main` by the evaluator of typed source. An error is a message.
fn run_source(checked: &CheckedSource, input: &[ProgramValue]) -> Result<String, String> {
    let mut evaluator = ProgramEvaluator::new(&checked.program, FUEL);
    let results = evaluator.call_entry("main", input);
    results
        .map(|values| print_values(&values))
        .map_err(|fault| fault.message)
}

/// The soac form of the last entry point. An error is a message.
fn internalise_last(checked: &CheckedSource) -> Result<(SoacFunction, SoacEntry), String> {
    let entry = *checked.program.entries.last().expect("an entry point");
    let internalised = internalise_entry(&checked.files, &checked.program, entry);
    internalised.map_err(|fault| fault.message)
}

/// The results of `main` by the evaluator of the soac form. An error is a message. Passes do not change them.
fn run_soac(checked: &CheckedSource, input: &[ProgramValue]) -> Result<String, String> {
    run_soac_each(checked, &[input.to_vec()])?.swap_remove(0)
}

/// The same for several inputs of one program, which is translated once.
fn run_soac_each(
    checked: &CheckedSource,
    inputs: &[Vec<ProgramValue>],
) -> Result<Vec<Result<String, String>>, String> {
    let plain = TranslatedProgram::new(checked, |function| function)?;
    let optimised =
        TranslatedProgram::new(checked, |function| optimise(function, FusionScope::All))?;
    let run = |input: &Vec<ProgramValue>| {
        let results = plain.run(input);
        match (&results, &optimised.run(input)) {
            (Ok(before), Ok(after)) => assert_eq!(before, after, "before and after passes"),
            (before, after) => assert_eq!(before.is_ok(), after.is_ok(), "{before:?}, {after:?}"),
        }
        results
    };
    Ok(inputs.iter().map(run).collect())
}

/// The results of `main` by what its segmented form means, which is verified. An error is a message.
fn run_segments(checked: &CheckedSource, input: &[ProgramValue]) -> Result<String, String> {
    let program = TranslatedProgram::new(checked, |function| {
        let function = optimise(function, FusionScope::All);
        let segments = translate_function(function, SegmentProfile::PROCESSOR);
        verify_function(&segments).expect("it keeps the rules");
        to_soac(&segments)
    });
    program?.run(input)
}

/// `main` after a translation of its soac form, which is verified.
struct TranslatedProgram {
    function: SoacFunction,
    interface: SoacEntry,
}

impl TranslatedProgram {
    fn new(
        checked: &CheckedSource,
        translate: impl FnOnce(SoacFunction) -> SoacFunction,
    ) -> Result<TranslatedProgram, String> {
        let (function, interface) = internalise_last(checked)?;
        let function = translate(function);
        let mut verified = SoacProgram::default();
        verified.functions.push(function.clone());
        spirula_soac::verify::verify_program(&verified).expect("it keeps the rules");
        Ok(TranslatedProgram {
            function,
            interface,
        })
    }

    /// The results. An error is a message.
    fn run(&self, input: &[ProgramValue]) -> Result<String, String> {
        let arguments = input.iter().flat_map(SoacValue::list_argument).collect();
        let results = evaluate_function(&self.function, arguments, FUEL)?;
        let declared = self.interface.results.iter();
        let unsigned = declared.flat_map(|result| result.unsigned.clone());
        let values = results
            .iter()
            .zip(unsigned)
            .map(|(value, unsigned)| value.to_program_value(unsigned));
        Ok(print_values(&values.collect::<Vec<_>>()))
    }
}

/// The function after all passes.
fn optimise(mut function: SoacFunction, scope: FusionScope) -> SoacFunction {
    optimise_function(&mut function, scope);
    function
}

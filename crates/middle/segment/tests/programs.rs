//! Programs mean the same in segmented form as in source, and become valid modules.

mod sources;

use sources::{PROGRAMS, read_text};
use spirula_futhark::compile::{check_source, internalise_source};
use spirula_futhark::evaluate::ProgramEvaluator;
use spirula_kernel::{compile_program, verify_program};
use spirula_program::ProgramValue;
use spirula_segment::lower::compile_entries;
use spirula_segment::meaning::to_soac;
use spirula_segment::profile::SegmentProfile;
use spirula_segment::translate::translate_function;
use spirula_segment::verify::verify_function;
use spirula_soac::evaluate::{SoacValue, evaluate_function};
use spirula_testing::SpirvValTool;

/// Statements that the evaluator may take.
const FUEL: u64 = 50_000_000;

/// Profiles for which small inputs are narrow and wide, and those of devices.
const PROFILES: &[SegmentProfile] = &[
    SegmentProfile {
        enough_width: 4,
        ..SegmentProfile::PROCESSOR
    },
    SegmentProfile {
        enough_width: 1000,
        ..SegmentProfile::GRAPHICS
    },
];

/// A vector and a matrix.
fn make_inputs(length: u64, rows: u64, columns: u64) -> Vec<ProgramValue> {
    let make = |shape: Vec<u64>| {
        let count: u64 = shape.iter().product();
        let numbers = (0..count).map(|index| (((index * 2_654_435_761) >> 7) % 50) as i32);
        ProgramValue {
            element: spirula_program::ScalarType::I32,
            unsigned: false,
            shape,
            bytes: numbers.flat_map(i32::to_le_bytes).collect(),
        }
    };
    vec![make(vec![length]), make(vec![rows, columns])]
}

fn print_values(values: &[ProgramValue]) -> String {
    let printed: Vec<_> = values.iter().map(ToString::to_string).collect();
    printed.join(" ")
}

/// The results by the evaluator of source.
fn evaluate_source(text: &str, input: &[ProgramValue]) -> String {
    let checked = check_source("main.fut", &mut read_text(text));
    let checked = checked.unwrap_or_else(|faults| panic!("{text}: {}", faults[0].message));
    let mut evaluator = ProgramEvaluator::new(&checked.program, FUEL);
    let results = evaluator.call_entry("main", input);
    print_values(&results.unwrap_or_else(|fault| panic!("{text}: {}", fault.message)))
}

/// The results of the segmented form for a kind of device. The forms are verified on the way.
fn evaluate_segments(text: &str, profile: SegmentProfile, input: &[ProgramValue]) -> String {
    let entries = internalise_source("main.fut", &mut read_text(text));
    let entries = entries.unwrap_or_else(|faults| panic!("{text}: {}", faults[0].message));
    let segments = translate_function(entries[0].0.clone(), profile);
    verify_function(&segments).unwrap_or_else(|fault| panic!("{text}: {fault}\n{segments}"));
    let program = compile_entries(entries, profile, &mut |_, _| {})
        .unwrap_or_else(|bug| panic!("{text}: {bug}"));
    verify_program(&program).unwrap_or_else(|fault| panic!("{text}: {fault}"));
    compile_program(&program).expect("it compiles");
    let arguments = input.iter().flat_map(SoacValue::list_argument).collect();
    let results = evaluate_function(&to_soac(&segments), arguments, FUEL);
    let results = results.unwrap_or_else(|fault| panic!("{text}: {fault}\n{segments}"));
    let values = results.iter().map(|value| value.to_program_value(false));
    print_values(&values.collect::<Vec<_>>())
}

#[test]
fn programs_have_the_results_of_their_source() {
    let inputs = [
        make_inputs(67, 5, 13),
        make_inputs(50, 41, 3),
        make_inputs(51, 3, 1),
    ];
    for text in PROGRAMS {
        let expected = inputs.each_ref().map(|input| evaluate_source(text, input));
        for &profile in PROFILES {
            for (input, expected) in inputs.iter().zip(&expected) {
                let found = evaluate_segments(text, profile, input);
                assert_eq!(&found, expected, "{text}\n{profile:?}");
            }
        }
    }
}

#[test]
fn kernels_are_valid_modules() {
    let Some(validator) = SpirvValTool::find_program() else {
        return;
    };
    for text in PROGRAMS {
        for profile in [SegmentProfile::PROCESSOR, SegmentProfile::GRAPHICS] {
            let entries = internalise_source("main.fut", &mut read_text(text));
            let entries = entries.unwrap_or_else(|faults| panic!("{text}: {}", faults[0].message));
            let program = compile_entries(entries, profile, &mut |_, _| {}).expect("it is lowered");
            for kernel in program.kernel_ids() {
                let lowered = spirula_kernel::lower_kernel(&program, kernel);
                let module = lowered.expect("the kernel is lowered").module.to_bytes();
                let verdict = validator.validate_module(&module, "vulkan1.2");
                assert_eq!(verdict, Ok(()), "{text}");
            }
        }
    }
}

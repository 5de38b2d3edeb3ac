//! Passes on programs in files: each is a program, a line `====`, and what the pass makes of it.
//!
//! With `UPDATE_EXPECTED=1` in the environment the second part is written.

use spirula_program::{ScalarLiteral, ScalarType};
use spirula_soac::evaluate::{SoacValue, evaluate_function};
use spirula_soac::fuse::{FusionScope, fuse_function};
use spirula_soac::ir::{SoacFunction, SoacProgram, SoacType};
use spirula_soac::ownership::settle_ownership;
use spirula_soac::parse::parse_program;
use spirula_soac::simplify::simplify_function;
use spirula_soac::verify::verify_program;
use std::path::{Path, PathBuf};

const SEPARATOR: &str = "====\n";

/// The files of a folder of tests, in order.
fn list_files(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests")
        .join(folder);
    let entries = std::fs::read_dir(folder).expect("the folder exists");
    let mut files: Vec<_> = entries
        .map(|entry| entry.expect("the folder is read").path())
        .collect();
    files.sort();
    files
}

fn parse(text: &str, path: &Path) -> SoacProgram {
    let program = parse_program(text);
    program.unwrap_or_else(|fault| panic!("{}: {fault:?}", path.display()))
}

fn verify(program: &SoacProgram, path: &Path) {
    let verified = verify_program(program);
    verified.unwrap_or_else(|fault| panic!("{}: {fault}\n{program}", path.display()));
}

/// Arguments for a function: sizes and integers are `seed`, the elements of arrays are numbers below it.
fn make_arguments(function: &SoacFunction, seed: u64) -> Vec<SoacValue> {
    let parameters = function.parameters.iter();
    let make = |&id| match &function.variables[id].variable_type {
        SoacType::Scalar(scalar) => SoacValue::Scalar(make_scalar(*scalar, seed)),
        SoacType::Array(element, shape) => {
            let sizes = shape
                .iter()
                .map(|size| size.to_int64().unwrap_or(seed as i64));
            let sizes: Vec<i64> = sizes.collect();
            let count = sizes.iter().product::<i64>() as u64;
            let bits = (0..count).map(|index| make_scalar(*element, index % seed.max(1)).bits);
            SoacValue::from_elements(*element, sizes, bits.collect())
        }
        SoacType::Certificate | SoacType::Accumulator => panic!("a parameter has no data"),
    };
    parameters.map(make).collect()
}

fn make_scalar(scalar: ScalarType, number: u64) -> ScalarLiteral {
    let bits = match scalar {
        ScalarType::F32 => u64::from((number as f32).to_bits()),
        ScalarType::F64 => (number as f64).to_bits(),
        ScalarType::Bool => number % 2,
        _ => number,
    };
    ScalarLiteral::new(scalar, bits)
}

/// Checks that both programs have equal results for some arguments, or fail alike.
fn compare_results(before: &SoacProgram, after: &SoacProgram, path: &Path) {
    for ((_, before), (_, after)) in before.functions.iter().zip(after.functions.iter()) {
        for seed in [0, 1, 2, 5] {
            let arguments = make_arguments(before, seed);
            let wanted = evaluate_function(before, arguments.clone(), 100_000);
            let found = evaluate_function(after, arguments, 100_000);
            assert_eq!(
                wanted.is_ok(),
                found.is_ok(),
                "{}: {wanted:?}, {found:?}",
                path.display()
            );
            if wanted.is_ok() {
                assert_eq!(wanted, found, "{} for {seed}", path.display());
            }
        }
    }
}

/// Applies a pass to the programs of a folder and compares with what is expected. The programs keep the rules.
fn check_folder(folder: &str, pass: fn(&mut SoacFunction)) {
    check_parsed(folder, verify, pass);
}

/// Applies a pass to the programs of a folder, which are examined first, and compares with what is expected.
fn check_parsed(folder: &str, examine: fn(&SoacProgram, &Path), pass: fn(&mut SoacFunction)) {
    let update = std::env::var_os("UPDATE_EXPECTED").is_some();
    for path in list_files(folder) {
        let text = std::fs::read_to_string(&path).expect("the file is read");
        let (input, expected) = text.split_once(SEPARATOR).unwrap_or((&text, ""));
        let before = parse(input, &path);
        examine(&before, &path);
        let mut after = before.clone();
        let ids: Vec<_> = after.functions.ids().collect();
        ids.into_iter()
            .for_each(|id| pass(&mut after.functions[id]));
        verify(&after, &path);
        compare_results(&before, &after, &path);
        let canonical = parse(&after.to_string(), &path).to_string();
        if update {
            let text = format!("{input}{SEPARATOR}{canonical}");
            std::fs::write(&path, text).expect("the file is written");
        } else {
            assert_eq!(canonical, expected, "{}", path.display());
        }
        let again = parse(&canonical, &path).to_string();
        assert_eq!(
            again,
            canonical,
            "{}: the text is read back",
            path.display()
        );
    }
}

#[test]
fn programs_are_simplified() {
    check_folder("simplify", simplify_function);
}

#[test]
fn combinators_are_fused() {
    check_folder("fuse", |function| {
        fuse_function(function, FusionScope::All);
        simplify_function(function);
    });
}

#[test]
fn ownership_is_settled_over_calls() {
    let pass = |function: &mut SoacFunction| settle_ownership(function).expect("it is settled");
    check_parsed("ownership", |_, _| (), pass);
}

#[test]
fn recursion_without_end_is_an_error() {
    let text = "fun main (n: i64) =
  let (x: i64) = call f0 (n)
  in (x)
with f0: fun f (n: i64) =
  let (x: i64) = call f0 (n)
  in (x)";
    let program = parse(text, Path::new("endless"));
    verify(&program, Path::new("endless"));
    let function = &program.functions[program.functions.ids().next().expect("a function")];
    let arguments = make_arguments(function, 3);
    let results = evaluate_function(function, arguments.clone(), 1_000_000);
    assert_eq!(results, Err("calls are nested too deeply".into()));
    let results = evaluate_function(function, arguments, 10);
    assert_eq!(results, Err("the program takes too many steps".into()));
}

/// The first line of each file is a comment with a part of the message.
#[test]
fn bad_programs_are_rejected() {
    for path in list_files("rejected") {
        let text = std::fs::read_to_string(&path).expect("the file is read");
        let wanted = text
            .lines()
            .next()
            .and_then(|line| line.strip_prefix("-- "));
        let wanted = wanted.expect("the first line is a comment");
        let message = match parse_program(&text) {
            Err(fault) => fault.message,
            Ok(program) => verify_program(&program).expect_err("the program is rejected"),
        };
        assert!(message.contains(wanted), "{}: {message}", path.display());
    }
}

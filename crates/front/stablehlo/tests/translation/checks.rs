//! Translation of the corpus: how much of it is translated, and whether the tensor IR yields the
//! right values when it is evaluated by definition.

use super::oracle::{OracleTally, OracleTolerance, first_difference};
use spirula_program::ScalarType;
use spirula_stablehlo::mlir::{MlirModule, parse_text, split_sections};
use spirula_stablehlo::translate::{ResultTolerance, TranslatedEntry, translate_entry};
use spirula_tensor::ir::{DenseTensorType, TensorConstant};
use spirula_tensor::{EvalError, evaluate_function};
use spirula_testing::{find_corpus, list_files};
use std::path::Path;

/// Nodes that a program may evaluate.
const WORK: u64 = 30_000_000;

/// Runs a function without arguments and reports the check that fails.
pub fn run_checks(
    translated: &TranslatedEntry,
    work: u64,
) -> Result<(), Result<String, EvalError>> {
    let results = evaluate_function(&translated.function, Vec::new(), work).map_err(Err)?;
    for check in &translated.checks {
        let (found, expected) = (&results[check.found], &results[check.expected]);
        let rule = match check.likeness {
            ResultTolerance::Equal => OracleTolerance::Within(0.0),
            ResultTolerance::Within(most) => OracleTolerance::Within(most),
            ResultTolerance::Ulps(most) => OracleTolerance::Ulps(most),
        };
        if let Some(difference) = first_difference(check.element, found, expected, rule) {
            return Err(Ok(difference));
        }
    }
    Ok(())
}

/// All functions of a file's modules that are tests.
fn tests(path: &Path, every: bool, tally: &mut OracleTally) {
    let bytes = std::fs::read(path).expect("the file can be read");
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    for range in split_sections(&bytes) {
        let text = &bytes[range];
        let module = parse_text(text).unwrap_or_else(|error| panic!("{stem}: {error}"));
        for name in names(&module, every) {
            let shown = if every {
                format!("{stem}/{name}")
            } else {
                stem.to_string()
            };
            match translate_entry(&module, &name) {
                Err(error) => tally.failed(&shown, error, text),
                Ok(translated) if !translated.parameters.is_empty() => {}
                Ok(translated) => match run_checks(&translated, WORK) {
                    Ok(()) => tally.right += 1,
                    Err(Ok(difference)) => tally.wrong.push(format!("{shown}: {difference}")),
                    Err(Err(EvalError::Work)) => tally.too_long.push(shown),
                    Err(Err(error)) => tally.wrong.push(format!("{shown}: {error}")),
                },
            }
        }
    }
}

fn names(module: &MlirModule, every: bool) -> Vec<String> {
    let all = module.functions().iter();
    let all = all.filter_map(|op| module.find_text(*op, "sym_name"));
    all.filter(|name| every || *name == "main")
        .map(str::to_owned)
        .collect()
}

fn folder(folder: &str, every: bool, least: usize) {
    let Some(path) = find_corpus(&format!("stablehlo/{folder}")) else {
        return;
    };
    let mut tally = OracleTally::default();
    let only = std::env::var("ONLY").unwrap_or_default();
    for file in list_files(&path, ".mlir") {
        let is_direct = file.parent() == Some(&path) || every;
        if is_direct && file.to_string_lossy().contains(&only) {
            tests(&file, every, &mut tally);
        }
    }
    tally.show(folder);
    assert!(
        tally.right >= least || !only.is_empty(),
        "fewer are right than were"
    );
}

#[test]
fn testdata_is_right() {
    folder("testdata", false, 1412);
}

/// Files of dynamic shapes contain no checks: they have to be translated.
#[test]
fn dynamic_testdata_is_translated() {
    let Some(path) = find_corpus("stablehlo/testdata/dynamic") else {
        return;
    };
    let mut tally = OracleTally::default();
    for file in list_files(&path, ".mlir") {
        let bytes = std::fs::read(&file).expect("the file can be read");
        let name = file.file_stem().unwrap_or_default().to_string_lossy();
        let module = parse_text(&bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
        match translate_entry(&module, "main") {
            Ok(_) => tally.right += 1,
            Err(error) => tally.failed(&name, error, &bytes),
        }
    }
    tally.show("testdata/dynamic");
    assert!(tally.right >= 231, "fewer are translated than were");
}

#[test]
fn interpreter_tests_are_right() {
    folder("interpret", true, 270);
}

#[test]
fn quantised_testdata_is_right() {
    folder("testdata/quantized", false, 77);
}

/// Every function of our own programs is a test.
#[test]
fn own_programs_are_right() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/translation/right");
    let mut tally = OracleTally::default();
    for file in list_files(&folder, ".mlir") {
        tests(&file, true, &mut tally);
    }
    tally.show("right");
    let failed = tally.wrong.len() + tally.too_long.len() + tally.unsupported.len();
    assert!(failed == 0 && tally.right >= 10, "some are not right");
}

/// Runs the module on numbers as its arguments.
fn run_on(text: &str, arguments: &[i32]) -> Result<Vec<u64>, EvalError> {
    let module = parse_text(text.as_bytes()).expect("the module can be read");
    let translated = translate_entry(&module, "main").expect("it is known");
    let arguments = arguments.iter().map(|number| TensorConstant {
        ty: DenseTensorType::from_scalar(ScalarType::I32),
        bytes: number.to_le_bytes().to_vec(),
    });
    let results = evaluate_function(&translated.function, arguments.collect(), WORK)?;
    Ok(results
        .iter()
        .map(|result| result.element_bits(0))
        .collect())
}

/// Assertions hold in branches with unused results as well; braces in messages need not be values.
#[test]
fn assertions_say_what_does_not_hold() {
    let text = r#"
func.func @main(%a: tensor<i32>, %b: tensor<i32>) -> tensor<i32> {
  %even = stablehlo.compare EQ, %a, %b, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %unused = "stablehlo.if"(%even) ({
    %small = stablehlo.constant dense<3> : tensor<i32>
    %is = stablehlo.compare LT, %a, %small, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%is, %a) {api_version = 2 : i32, error_message = "{0} is {{large} {7}", has_side_effect = true} : (tensor<i1>, tensor<i32>) -> ()
    stablehlo.return %a : tensor<i32>
  }, {
    stablehlo.return %b : tensor<i32>
  }) : (tensor<i1>) -> tensor<i32>
  %order = stablehlo.compare LE, %a, %b, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
  stablehlo.custom_call @shape_assertion(%order, %b, %a) {api_version = 2 : i32, error_message = "{0} < {1}, of {0}", has_side_effect = true} : (tensor<i1>, tensor<i32>, tensor<i32>) -> ()
  return %a : tensor<i32>
}"#;
    let failed = |message: &str| Err(EvalError::Failed(message.to_owned()));
    assert_eq!(run_on(text, &[1, 2]), Ok(vec![1]));
    assert_eq!(run_on(text, &[2, 2]), Ok(vec![2]));
    assert_eq!(run_on(text, &[5, -2]), failed("-2 < 5, of -2"));
    assert_eq!(run_on(text, &[4, 4]), failed("4 is {large} {7}"));
}

/// A call of Python fails when a run reaches it, in loops and calls as well.
#[test]
fn callbacks_fail_where_they_are_reached() {
    let text = r#"
func.func @main(%a: tensor<i32>) -> tensor<i32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0 = stablehlo.while(%i = %a) : tensor<i32>
  cond {
    %c = stablehlo.compare LT, %i, %zero, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %n = func.call @asked(%i) : (tensor<i32>) -> tensor<i32>
    stablehlo.return %n : tensor<i32>
  }
  return %0 : tensor<i32>
}
func.func private @asked(%a: tensor<i32>) -> tensor<i32> {
  %0 = stablehlo.custom_call @xla_ffi_python_cpu_callback(%a) {backend_config = ""} : (tensor<i32>) -> tensor<i32>
  return %0 : tensor<i32>
}"#;
    assert_eq!(run_on(text, &[7]), Ok(vec![7]));
    let error = run_on(text, &[-1]).expect_err("it is reached").to_string();
    assert!(error.contains("@xla_ffi_python_cpu_callback"), "{error}");
    let direct = text
        .replace("@main", "@other")
        .replace("private @asked", "@main");
    let module = parse_text(direct.as_bytes()).expect("the module can be read");
    let error = translate_entry(&module, "main").expect_err("it is always reached");
    assert!(error.to_string().contains("callback"), "{error}");
}

/// Slices with run-time bounds: those that leave the operand are moved back, those that are larger
/// fail.
#[test]
fn slices_lie_within_their_operands() {
    let text = r#"
func.func @main(%start: tensor<i32>, %limit: tensor<i32>, %stride: tensor<i32>) -> tensor<?xi32> {
  %a = stablehlo.iota dim = 0 : tensor<9xi32>
  %s = stablehlo.reshape %start : (tensor<i32>) -> tensor<1xi32>
  %l = stablehlo.reshape %limit : (tensor<i32>) -> tensor<1xi32>
  %k = stablehlo.reshape %stride : (tensor<i32>) -> tensor<1xi32>
  %0 = stablehlo.real_dynamic_slice %a, %s, %l, %k : (tensor<9xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<?xi32>
  return %0 : tensor<?xi32>
}"#;
    assert_eq!(run_on(text, &[2, 9, 3]), Ok(vec![2]));
    assert_eq!(run_on(text, &[-1, 3, 1]), Ok(vec![0]));
    assert_eq!(run_on(text, &[4, 10, 1]), Ok(vec![3]));
    let wrong = [[0, 10, 1], [5, 4, 1], [2, 9, 0], [9, 99, -1]];
    for [start, limit, stride] in wrong {
        let message = format!(
            "a slice from {start} to {limit} in steps of {stride} does not fit into a dimension of 9"
        );
        assert_eq!(
            run_on(text, &[start, limit, stride]),
            Err(EvalError::Failed(message))
        );
    }
}

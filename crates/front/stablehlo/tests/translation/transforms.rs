//! Fourier transforms of all short lengths, and of their products, beside the sums that define them.

use super::checks::run_checks;
use spirula_stablehlo::mlir::parse_text;
use spirula_stablehlo::translate::translate_entry;

/// Evaluations of nodes that a program may take.
const WORK: u64 = 30_000_000;

/// A program that transforms columns of numbers, and multiplies them by the matrix of a transform.
fn make_text(length: u64, kind: &str) -> String {
    let n = format!("{length}x{length}");
    let x = format!("{length}x3");
    let (sign, scale) = match kind {
        "FFT" => (-1.0, 1.0),
        _ => (1.0, 1.0 / length as f64),
    };
    let step = sign * std::f64::consts::TAU / length as f64;
    format!(
        "func.func @main() {{
  %j = stablehlo.iota dim = 0 : tensor<{n}xi64>
  %k = stablehlo.iota dim = 1 : tensor<{n}xi64>
  %product = stablehlo.multiply %j, %k : tensor<{n}xi64>
  %length = stablehlo.constant dense<{length}> : tensor<{n}xi64>
  %rest = stablehlo.remainder %product, %length : tensor<{n}xi64>
  %turns = stablehlo.convert %rest : (tensor<{n}xi64>) -> tensor<{n}xf64>
  %step = stablehlo.constant dense<{step:?}> : tensor<{n}xf64>
  %angle = stablehlo.multiply %turns, %step : tensor<{n}xf64>
  %scale = stablehlo.constant dense<{scale:?}> : tensor<{n}xf64>
  %cos = stablehlo.cosine %angle : tensor<{n}xf64>
  %sin = stablehlo.sine %angle : tensor<{n}xf64>
  %re = stablehlo.multiply %cos, %scale : tensor<{n}xf64>
  %im = stablehlo.multiply %sin, %scale : tensor<{n}xf64>
  %matrix = stablehlo.complex %re, %im : tensor<{n}xcomplex<f64>>
  %row = stablehlo.iota dim = 0 : tensor<{x}xi64>
  %column = stablehlo.iota dim = 1 : tensor<{x}xi64>
  %seven = stablehlo.constant dense<7> : tensor<{x}xi64>
  %more = stablehlo.add %column, %seven : tensor<{x}xi64>
  %square = stablehlo.multiply %row, %row : tensor<{x}xi64>
  %wide = stablehlo.multiply %square, %more : tensor<{x}xi64>
  %modulus = stablehlo.constant dense<23> : tensor<{x}xi64>
  %mixed = stablehlo.remainder %wide, %modulus : tensor<{x}xi64>
  %a = stablehlo.convert %mixed : (tensor<{x}xi64>) -> tensor<{x}xf64>
  %other = stablehlo.remainder %row, %more : tensor<{x}xi64>
  %b = stablehlo.convert %other : (tensor<{x}xi64>) -> tensor<{x}xf64>
  %x = stablehlo.complex %a, %b : tensor<{x}xcomplex<f64>>
  %expected = stablehlo.dot %matrix, %x : (tensor<{n}xcomplex<f64>>, tensor<{x}xcomplex<f64>>) -> tensor<{x}xcomplex<f64>>
  %turned = stablehlo.transpose %x, dims = [1, 0] : (tensor<{x}xcomplex<f64>>) -> tensor<3x{length}xcomplex<f64>>
  %spectrum = stablehlo.fft %turned, type = {kind}, length = [{length}] : (tensor<3x{length}xcomplex<f64>>) -> tensor<3x{length}xcomplex<f64>>
  %found = stablehlo.transpose %spectrum, dims = [1, 0] : (tensor<3x{length}xcomplex<f64>>) -> tensor<{x}xcomplex<f64>>
  check.expect_almost_eq %found, %expected {{tolerance = 1.0e-10 : f64}} : tensor<{x}xcomplex<f64>>
  return
}}
"
    )
}

#[test]
fn short_lengths_and_their_products() {
    let lengths = (2..=16).chain([20, 26, 34, 49, 91, 100, 121, 126]);
    for length in lengths {
        for kind in ["FFT", "IFFT"] {
            let text = make_text(length, kind);
            let module = parse_text(text.as_bytes()).unwrap_or_else(|error| panic!("{error}"));
            let translated = translate_entry(&module, "main");
            let translated = translated.unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(translated.checks.len(), 1);
            if let Err(failure) = run_checks(&translated, WORK) {
                panic!("{kind} of {length}: {failure:?}");
            }
        }
    }
}

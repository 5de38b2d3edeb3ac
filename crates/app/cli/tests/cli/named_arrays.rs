//! Arguments by the names of arrays in a file, for a function that `jax.export` serialised.
//!
//! `dense.jax_export` is `tanh(x @ params['dense']['kernel'] + params['dense']['bias'])` for any number of rows.

use crate::harness::{ScratchFolder, own, spirula};
use safetensors::tensor::{Dtype, TensorView, serialize_to_file};
use std::fs::File;
use std::io::Write;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

/// The result for the arguments that the tests write.
const RESULT: &str = "result 0: 1x3xf32, 0 to 1\n  1 0 1\n";

/// A `.npz` file of numbers with their shapes in NumPy's form.
fn write_npz(path: &str, arrays: &[(&str, &str, &[f32])]) {
    let mut archive = ZipWriter::new(File::create(path).unwrap());
    for (at, (name, shape, numbers)) in arrays.iter().enumerate() {
        let method = match at % 2 {
            0 => CompressionMethod::Stored,
            _ => CompressionMethod::Deflated,
        };
        let options = SimpleFileOptions::default().compression_method(method);
        archive.start_file(format!("{name}.npy"), options).unwrap();
        let header = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}");
        let header = format!("{header:<117}\n");
        archive.write_all(b"\x93NUMPY\x01\x00").unwrap();
        archive
            .write_all(&(header.len() as u16).to_le_bytes())
            .unwrap();
        archive.write_all(header.as_bytes()).unwrap();
        let bytes: Vec<u8> = numbers.iter().flat_map(|n| n.to_le_bytes()).collect();
        archive.write_all(&bytes).unwrap();
    }
    archive.finish().unwrap();
}

fn write_safetensors(path: &str, arrays: &[(&str, &[usize], &[f32])]) {
    let bytes = arrays.iter().map(|(_, _, numbers)| {
        let bytes: Vec<u8> = numbers.iter().flat_map(|n| n.to_le_bytes()).collect();
        bytes
    });
    let bytes: Vec<Vec<u8>> = bytes.collect();
    let tensors = arrays.iter().zip(&bytes).map(|((name, shape, _), bytes)| {
        let tensor = TensorView::new(Dtype::F32, shape.to_vec(), bytes);
        ((*name).to_owned(), tensor.unwrap())
    });
    serialize_to_file(tensors.collect::<Vec<_>>(), None, path.as_ref()).unwrap();
}

const KERNEL: &[f32] = &[1.0, 2.0, 3.0, 0.0, -1.0, 0.0];
const BIAS: &[f32] = &[19.0, 0.0, 17.0];

#[test]
fn parameters_have_the_names_of_the_source() {
    let told = spirula(&["info", &own("dense.jax_export")]).ok().text();
    let parameters = "  argument 0 params['dense']['bias']: 3xf32\n  \
                      argument 1 params['dense']['kernel']: 2x3xf32\n  argument 2 x: ?x2xf32\n";
    assert!(told.contains(parameters), "{told}");
}

#[test]
fn arrays_of_a_file_are_arguments_by_their_names() {
    let (scratch, dense) = (ScratchFolder::new(), own("dense.jax_export"));
    let file = scratch.text("weights.npz");
    let kernel = ("dense/kernel", "(2, 3)", KERNEL);
    write_npz(&file, &[kernel, ("params.dense.bias", "(3,)", BIAS)]);
    let whole = format!("@{file}");
    let run = |args: &[&str]| spirula(&[&["run", &dense], args].concat());
    let x = "1x2xf32=1 2";
    let text = run(&["--arg", &whole, "--arg", x]).ok().text();
    assert_eq!(text, RESULT);
    let one = format!("params['dense']['kernel']:@{file}[dense/kernel]");
    let text = run(&["--arg", "3xf32=19 0 17", "--arg", &one, "--arg", x]);
    assert_eq!(text.ok().text(), RESULT);
    let timed = run(&["--arg", &whole, "--arg", x, "--runs", "3"]).ok();
    assert!(
        timed.err.contains("main: ") && timed.err.contains(", 3 runs"),
        "{}",
        timed.err
    );

    let arrays = scratch.text("weights.safetensors");
    let named: &[(&str, &[usize], &[f32])] = &[
        ("params.dense.kernel", &[2, 3], KERNEL),
        ("params.dense.bias", &[3], BIAS),
        ("x", &[1, 2], &[1.0, 2.0]),
    ];
    write_safetensors(&arrays, named);
    assert_eq!(run(&["--arg", &format!("@{arrays}")]).ok().text(), RESULT);
}

#[test]
fn numbered_arrays_are_arguments_in_their_order() {
    let (scratch, dense) = (ScratchFolder::new(), own("dense.jax_export"));
    let file = scratch.text("numbered.npz");
    let arrays = [
        ("arr_0", "(3,)", BIAS),
        ("arr_1", "(2, 3)", KERNEL),
        ("arr_2", "(1, 2)", &[1.0, 2.0]),
    ];
    write_npz(&file, &arrays);
    let text = spirula(&["run", &dense, "--arg", &format!("@{file}")]);
    assert_eq!(text.ok().text(), RESULT);
}

#[test]
fn arrays_for_no_parameter_are_refused() {
    let (scratch, dense) = (ScratchFolder::new(), own("dense.jax_export"));
    let file = scratch.text("other.npz");
    write_npz(
        &file,
        &[("kernel", "(2, 3)", KERNEL), ("step", "(1,)", &[0.0])],
    );
    let run = |arg: &str| spirula(&["run", &dense, "--arg", arg]);
    run(&format!("@{file}")).fails(1, "1 arrays that are for no parameter: step");
    run(&format!("x:@{file}")).fails(1, "main takes 3 arguments");
    let scale = own("scale.mlir");
    spirula(&[
        "run",
        &scale,
        "--arg",
        "2x3xf32",
        "--arg",
        &format!("arg1:@{file}"),
    ])
    .fails(1, "has 2 arrays: choose one");
    spirula(&[
        "run",
        &scale,
        "--arg",
        "2x3xf32",
        "--arg",
        &format!("@{file}[none]"),
    ])
    .fails(1, "it has no array none");
    let broken = scratch.text("broken.npz");
    std::fs::write(&broken, b"PK\x03\x04").unwrap();
    run(&format!("@{broken}")).fails(1, "broken.npz");
    let broken = scratch.text("broken.safetensors");
    std::fs::write(&broken, [255; 20]).unwrap();
    run(&format!("@{broken}")).fails(1, "broken.safetensors");
}

//! Inputs of each kind, by content, and outputs of each form.

use crate::harness::{ScratchFolder, module, own, spirula, spirula_with};

#[test]
fn assembly_to_binary_and_back() {
    let binary = module("double.spvasm");
    let text = spirula_with(&["dis", "-"], &binary).ok().text();
    assert!(text.starts_with("; SPIR-V\n"), "{text}");
    assert_eq!(spirula_with(&["as", "-"], text.as_bytes()).ok().out, binary);
    let bare = spirula_with(
        &["dis", "-", "--no-header", "--no-indent", "--friendly-names"],
        &binary,
    )
    .ok()
    .text();
    assert!(bare.starts_with("OpCapability Shader\n"), "{bare}");
    assert!(bare.contains("OpDecorate %outp Binding 5"), "{bare}");
}

#[test]
fn either_byte_order() {
    let little = module("double.spvasm");
    let big: Vec<u8> = little
        .chunks(4)
        .flat_map(|w| w.iter().rev().copied())
        .collect();
    let from_big = spirula_with(&["compile", "-"], &big).ok().out;
    assert_eq!(from_big, spirula_with(&["compile", "-"], &little).ok().out);
}

#[test]
fn names_of_files_do_not_matter() {
    let scratch = ScratchFolder::new();
    let input = scratch.file("kernel.ll", module("scale.spvasm"));
    let output = scratch.text("out.spvasm");
    spirula(&["compile", &input, "-o", &output]).ok();
    let text = std::fs::read_to_string(&output).unwrap();
    assert!(text.contains("OpEntryPoint Kernel"), "{text}");
    let forced = spirula(&["compile", &input, "-o", &output, "--emit", "spv"]).ok();
    assert!(forced.err.is_empty(), "{}", forced.err);
    assert_eq!(std::fs::read(&output).unwrap()[..4], [3, 2, 0x23, 7]);
}

#[test]
fn versions_follow_the_environment() {
    let one = spirula(&["as", &own("scale.spvasm"), "--target-env", "opencl2.2"])
        .ok()
        .out;
    assert_eq!(one[4..8], [0, 2, 1, 0]);
    spirula_with(&["compile", "-", "--target-env", "vulkan1.0"], &one)
        .fails(1, "kernels for Vulkan need SPIR-V 1.5: 1.0 was asked for");
    let shader = spirula(&["as", &own("double.spvasm"), "--target-env", "spv1.5"])
        .ok()
        .out;
    spirula_with(&["compile", "-", "--target-env", "vulkan1.0"], &shader)
        .fails(1, "newer than the 1.0 of the target environment");
}

#[test]
fn functions_alone_are_no_module_for_vulkan() {
    let library = "target triple = \"spir64-unknown-unknown\"\n\
                   define spir_func i32 @twice(i32 %a) {\n  %b = add i32 %a, %a\n  ret i32 %b\n}\n";
    spirula_with(
        &["compile", "-", "--target-env", "vulkan1.3"],
        library.as_bytes(),
    )
    .fails(1, "the module has no kernels but functions such as twice");
    let spirv = spirula_with(&["compile", "-"], library.as_bytes()).ok().out;
    let failed = spirula_with(&["compile", "-", "--target-env", "vulkan1.2"], &spirv);
    failed.fails(1, "make one of the functions a kernel, or link them");
}

#[test]
fn info_shows_what_entry_points_take() {
    let text = spirula(&["info", &own("scale.spvasm")]).ok().text();
    assert!(text.contains("argument 1 by: f32, 4 bytes"), "{text}");
    let text = spirula(&["info", &own("double.spvasm")]).ok().text();
    assert!(
        text.contains("set 1, binding 2 inp: read-only storage buffer of ?xu32"),
        "{text}"
    );
    assert!(
        text.contains("specialisation constant 3: u32, by default 0x2"),
        "{text}"
    );
}

#[test]
fn a_reader_that_leaves_is_no_error() {
    use std::process::{Command, Stdio};
    let mut child = Command::new(env!("CARGO_BIN_EXE_spirula"))
        .args(["dis", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), &module("double.spvasm")).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(
        output.stderr.is_empty(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert_eq!(output.status.code(), Some(0));
}

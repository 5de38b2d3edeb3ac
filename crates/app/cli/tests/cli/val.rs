//! `spirula val`.

use crate::harness::{spirula, spirula_with};

const SCALE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cli/scale.spvasm");

const OLD: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cli/unused.spvasm");

#[test]
fn valid_modules_are_silent() {
    let done = spirula(&["val", SCALE]).ok();
    assert_eq!(done.text(), "");
}

#[test]
fn faults_name_instruction_and_rule() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let file = folder.path().join("bad.spvasm");
    let text = std::fs::read_to_string(SCALE).expect("the test's module is there");
    let first = text
        .lines()
        .find(|l| l.contains("OpCapability"))
        .expect("it declares a capability");
    std::fs::write(&file, text.replacen(first, "", 1)).expect("the file can be written");
    spirula(&["val", file.to_str().expect("the path is UTF-8")]).fails(1, "rule 6");
}

/// A text for SPIR-V 1.3, whose entry point does not list the buffer that it uses, as 1.4 demands.
#[test]
fn texts_are_of_the_version_that_they_say() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let file = folder.path().join("old.spvasm");
    let path = file.to_str().expect("the path is UTF-8");
    let text = std::fs::read_to_string(OLD).expect("the test's module is there");
    for (version, environment, code) in [
        ("; Version: 1.3\n", &[][..], 0),
        (
            "; SPIR-V\n; Version: 1.3\n",
            &["--target-env", "spv1.6"][..],
            0,
        ),
        ("; SPIR-V\n; Version: 1.4\n", &[][..], 1),
        ("", &[][..], 1),
        ("", &["--target-env", "spv1.3"][..], 0),
    ] {
        let body = text.trim_start_matches("; SPIR-V\n; Version: 1.3\n");
        std::fs::write(&file, format!("{version}{body}")).expect("the file can be written");
        let done = spirula(&[&["val", path], environment].concat());
        assert_eq!(
            done.code,
            Some(code),
            "{version}{environment:?}: {}",
            done.err
        );
    }
}

#[test]
fn functions_without_a_body_are_named() {
    let text = b"OpCapability Shader\nOpCapability Linkage\nOpMemoryModel Logical GLSL450\n\
        OpName %f \"mystery\"\n%void = OpTypeVoid\n%type = OpTypeFunction %void\n\
        %f = OpFunction %void None %type\nOpFunctionEnd\n";
    spirula_with(&["val", "-"], text).fails(1, "mystery has no blocks");
    let kernel = b"OpCapability Kernel\nOpCapability Addresses\nOpCapability Linkage\n\
        OpMemoryModel Physical64 OpenCL\nOpEntryPoint Kernel %k \"k\"\nOpName %f \"mystery\"\n\
        OpDecorate %f LinkageAttributes \"mystery\" Import\n%void = OpTypeVoid\n\
        %type = OpTypeFunction %void\n%f = OpFunction %void None %type\nOpFunctionEnd\n\
        %k = OpFunction %void None %type\n%entry = OpLabel\n%r = OpFunctionCall %void %f\n\
        OpReturn\nOpFunctionEnd\n";
    let called = "mystery is called, but has no body";
    spirula_with(&["run", "-", "--global", "1"], kernel).fails(1, called);
    let vulkan = ["compile", "-", "--target-env", "vulkan1.3"];
    spirula_with(&vulkan, kernel).fails(1, called);
}

#[test]
fn rules_are_explained() {
    let text = spirula(&["val", "--explain", "14"]).ok().text();
    assert!(
        text.starts_with("rule 14: control flow is structured\n"),
        "{text}"
    );
    assert_eq!(spirula(&["val", "--explain", "200"]).code, Some(1));
    spirula(&["val"]).fails(1, "error");
}

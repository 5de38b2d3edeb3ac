//! The command line: levels, suggestions, verbosity, standard input, the version, and JSON.

use crate::harness::{ScratchFolder, module, own, spirula, spirula_with};
use serde_json::Value;

/// Standard output as JSON.
fn json_of(args: &[&str], input: &[u8]) -> Value {
    let out = spirula_with(args, input).ok().out;
    serde_json::from_slice(&out).expect("the output is JSON")
}

#[test]
fn levels_are_written_as_for_compilers() {
    let double = own("double.spvasm");
    let out = |args: &[&str]| spirula(&[args, &[double.as_str()]].concat()).ok().out;
    assert_eq!(out(&["opt", "-O"]), out(&["opt", "-O2"]));
    assert_eq!(out(&["compile", "-O"]), out(&["compile", "-O2"]));
    assert_eq!(out(&["compile", "-O2"]), out(&["opt", "-O2"]));
    assert_eq!(out(&["compile", "-Os"]), out(&["opt", "-Os"]));
    assert_eq!(out(&["compile", "-O", "1"]), out(&["opt", "-O1"]));
    assert_eq!(out(&["compile", "-O0"]), out(&["compile"]));
    spirula(&["compile", "-O9", &double]).fails(2, "invalid value '9'");
}

#[test]
fn kernels_of_programs_are_optimised_at_a_level() {
    let program = own("double.imp");
    let text = |args: &[&str]| spirula(args).ok().text();
    let plain = text(&["compile", &program, "--emit", "spvasm"]);
    let optimised = text(&["compile", "-O2", &program, "--emit", "spvasm"]);
    assert!(optimised.contains("OpEntryPoint"), "{optimised}");
    assert!(optimised.lines().count() <= plain.lines().count());
}

#[test]
fn misspelt_words_are_told() {
    let cases: &[(&[&str], &str)] = &[
        (&["dsi"], "there is no command dsi; did you mean dis?"),
        (&["compil", "x"], "did you mean compile?"),
        (&["validate", "x"], "did you mean val?"),
        (&["spirv-opt", "x"], "did you mean as-spirv-opt?"),
        (&["frobnicate"], "there is no command frobnicate"),
        (&["opt", "x", "--passes", "acde"], "did you mean adce?"),
        (
            &["opt", "x", "--passes", "legalise"],
            "did you mean legalize?",
        ),
        (
            &["opt", "x", "--print-after", "mem2rge"],
            "did you mean mem2reg?",
        ),
        (&["compile", "x", "--emit", "spvams"], "'spvasm'"),
        (
            &["val", "x", "--target-env", "vulkan13"],
            "did you mean vulkan1.3?",
        ),
    ];
    for (args, words) in cases {
        spirula(args).fails(2, words);
    }
    let scratch = ScratchFolder::new();
    let file = scratch.file("module.spv", module("double.spvasm"));
    spirula(&[&file]).fails(2, "as in spirula info");
}

#[test]
fn standard_input_is_read_where_nothing_is_named() {
    let binary = module("double.spvasm");
    let text = spirula_with(&["dis"], &binary).ok().text();
    assert!(text.starts_with("; SPIR-V\n"), "{text}");
    assert_eq!(spirula_with(&["as"], text.as_bytes()).ok().out, binary);
    spirula_with(&["val"], &binary).ok();
    spirula_with(&["opt", "-O"], &binary).ok();
    let told = spirula_with(&["info"], &binary).ok().text();
    assert!(told.starts_with("<stdin>: SPIR-V"), "{told}");
}

#[test]
fn verbosity() {
    let scratch = ScratchFolder::new();
    let (double, out) = (own("double.spvasm"), scratch.text("out.spv"));
    let told = spirula(&["opt", "-v", &double, "-o", &out]).ok().err;
    for words in ["note: read ", " passes ran, ", "note: wrote "] {
        assert!(told.contains(words), "{told}");
    }
    let told = spirula(&["val", "--verbose", &double]).ok().err;
    assert!(told.contains("is valid for "), "{told}");
    assert_eq!(spirula(&["opt", "-q", &double, "-o", &out]).ok().err, "");
    spirula_with(&["val", "-q"], b"OpFrobnicate\n").fails(1, "error");
    spirula(&["val", "-q", "-v", &double]).fails(2, "cannot be used with");
}

#[test]
fn versions() {
    let version = concat!("spirula ", env!("CARGO_PKG_VERSION"), "\n");
    assert_eq!(spirula(&["-V"]).ok().text(), version);
    let long = spirula(&["--version"]).ok().text();
    assert!(long.starts_with(version), "{long}");
    for words in [
        "\ncommit: ",
        "\nfeatures: ",
        "\nSPIR-V: 1.0 to ",
        "\ndevice: cpu, ",
    ] {
        assert!(long.contains(words), "{long}");
    }
}

#[test]
fn faults_of_modules_as_json() {
    assert_eq!(
        json_of(&["val", "--json"], &module("double.spvasm")),
        Value::Array(Vec::new())
    );
    let text = b"OpCapability Shader\nOpMemoryModel Logical GLSL450\n%1 = OpTypeInt 31 0\n";
    let ran = spirula_with(&["val", "--json"], text);
    assert_eq!(ran.code, Some(1), "{}", ran.err);
    assert_eq!(ran.err, "");
    let faults: Value = serde_json::from_slice(&ran.out).expect("the output is JSON");
    assert_eq!(faults[0]["severity"], "error", "{faults}");
    assert_eq!(faults[0]["file"], "<stdin>");
}

#[test]
fn modules_and_programs_as_json() {
    let module = json_of(&["info", "--json"], &module("double.spvasm"));
    let entry = &module["entry_points"][0];
    assert_eq!(entry["model"], "GLCompute", "{module}");
    assert_eq!(entry["workgroup_size"][0], 4);
    assert_eq!(entry["bindings"][1]["name"], "inp");
    assert_eq!(entry["bindings"][1]["read_only"], true);
    assert_eq!(module["specialisation_constants"][0]["id"], 3);
    let program = json_of(&["info", "--json", &own("double.imp")], b"");
    assert!(program["entry_points"][0]["name"].is_string(), "{program}");
    assert!(program["kernels"][0]["words"].is_u64(), "{program}");
}

#[test]
fn devices_as_json() {
    let devices = json_of(&["devices", "--json", "cpu"], b"");
    assert_eq!(devices[0]["id"], "cpu");
    assert!(
        devices[0]["limits"]["workgroup_memory_bytes"].is_u64(),
        "{devices}"
    );
}

#[test]
fn instructions_as_json() {
    let binary = module("double.spvasm");
    let listing = json_of(&["dis", "--json"], &binary);
    let first = &listing["instructions"][0];
    assert_eq!(first["offset"], 20);
    assert_eq!(first["name"], "OpCapability");
    assert_eq!(first["text"], "OpCapability Shader");
    assert_eq!(first["words"][0], 1);
    let words = binary.len() / 4;
    let instructions = listing["instructions"].as_array().expect("a list");
    let counted = instructions
        .iter()
        .map(|inst| 1 + inst["words"].as_array().unwrap().len());
    assert_eq!(counted.sum::<usize>() + 5, words);
}

#[test]
fn completions_and_manual_pages() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = spirula(&["completions", shell]).ok().text();
        for words in ["nested-indent", "compile", "target-env"] {
            assert!(script.contains(words), "{shell} lacks {words}");
        }
    }
    spirula(&["completions", "cmd"]).fails(2, "possible values");
    let scratch = ScratchFolder::new();
    spirula(&["man", &scratch.text("man1")]).ok();
    let page = std::fs::read_to_string(scratch.path("man1/spirula-opt.1")).expect("a page");
    assert!(page.contains("spirula\\-opt"), "{page}");
    let main = std::fs::read_to_string(scratch.path("man1/spirula.1")).expect("a page");
    assert_eq!(main, spirula(&["man"]).ok().text());
    assert!(!scratch.path("man1/spirula-test-worker.1").exists());
}

#[test]
fn names_of_outputs_state_their_form() {
    let scratch = ScratchFolder::new();
    let (double, scale) = (own("double.spvasm"), own("scale.spvasm"));
    let refused: &[&[&str]] = &[
        &["compile", &double, "-o", "x.png"],
        &["compile", &double, "-o", "x.bc"],
        &["opt", &double, "-o", "x.ll"],
        &["as", &double, "-o", "x.spvasm"],
        &["dis", &scale, "-o", "x.spv"],
        &["run", &scale, "--global", "4", "--image", "x.jpg"],
        &["bench", &scratch.text(""), "--plot", "x.png"],
    ];
    for args in refused {
        spirula(args).fails(1, "which is not written here");
    }
    let forced = scratch.text("x.png");
    spirula(&["compile", &double, "-o", &forced, "--emit", "spv"]).ok();
    let twice = [
        "run", &scale, "--global", "4", "--out", "x.npy", "--out", "x.npy",
    ];
    spirula(&twice).fails(1, "would be written twice");
}

#[test]
fn numbered_outputs_are_told() {
    let scratch = ScratchFolder::new();
    let two = "module {\n  func.func public @main(%a: tensor<8xf32>) -> (tensor<f32>, tensor<8xf32>) {\n    \
        %z = stablehlo.constant dense<0.0> : tensor<f32>\n    \
        %s = stablehlo.reduce(%a init: %z) applies stablehlo.add across dimensions = [0] : (tensor<8xf32>, tensor<f32>) -> tensor<f32>\n    \
        %t = \"stablehlo.sort\"(%a) ({\n    ^bb0(%x: tensor<f32>, %y: tensor<f32>):\n      \
        %c = stablehlo.compare LT, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>\n      \
        stablehlo.return %c : tensor<i1>\n    }) {dimension = 0 : i64} : (tensor<8xf32>) -> tensor<8xf32>\n    \
        return %s, %t : tensor<f32>, tensor<8xf32>\n  }\n}\n";
    let (input, output) = (scratch.file("two.mlir", two), scratch.text("out.spv"));
    let first = spirula(&["compile", &input, "-o", &output]).ok().err;
    assert!(first.contains(" modules are written, "), "{first}");
    assert!(!first.contains("replace"), "{first}");
    let second = spirula(&["compile", &input, "-o", &output]).ok().err;
    assert!(second.contains("of which replace files"), "{second}");
}

#[test]
fn what_was_not_measured_is_no_success() {
    let scratch = ScratchFolder::new();
    let source = "func.func private @f(%x: tensor<?xf32>) -> tensor<?xf32> {\n  return %x : tensor<?xf32>\n}\n";
    scratch.file("m/a.mlir", source);
    spirula(&["bench", &scratch.text("m")]).fails(1, "nothing was measured");
}

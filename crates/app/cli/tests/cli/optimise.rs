//! The optimiser from the command line.

use crate::harness::{ScratchFolder, module, own, spirula, spirula_with};

fn instructions(module: &[u8]) -> usize {
    let text = spirula_with(&["dis", "-", "--no-header"], module)
        .ok()
        .text();
    text.lines().count()
}

#[test]
fn modules_get_smaller_and_compute_the_same() {
    let scratch = ScratchFolder::new();
    let small = scratch.text("small.spv");
    spirula(&["opt", &own("double.spvasm"), "-o", &small]).ok();
    let bytes = std::fs::read(&small).unwrap();
    assert!(instructions(&bytes) <= instructions(&module("double.spvasm")));
    let run = |path: &str| {
        let args = ["--arg", "8xu32", "--arg", "8xu32=iota", "--push", "u32=100"];
        let all = [&["run", path, "--groups", "2"], &args[..]].concat();
        spirula(&all).ok().text()
    };
    assert_eq!(run(&small), run(&own("double.spvasm")));
}

#[test]
fn forms_of_the_output() {
    let scratch = ScratchFolder::new();
    let scale = own("scale.spvasm");
    let text = spirula(&["opt", &scale, "--emit", "spvasm"]).ok().text();
    assert!(text.starts_with("; SPIR-V\n"), "{text}");
    let path = scratch.text("x.spvasm");
    spirula(&["opt", &scale, "-o", &path]).ok();
    assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
    let binary = spirula(&["opt", &scale]).ok().out;
    assert_eq!(binary[..4], [3, 2, 0x23, 7]);
}

#[test]
fn nothing_is_done_at_level_0() {
    let binary = module("scale.spvasm");
    let same = spirula_with(&["opt", "-", "-O", "0"], &binary).ok().out;
    assert_eq!(same, binary);
    let stripped = spirula_with(&["opt", "-", "-O0", "--strip-debug"], &binary);
    assert!(stripped.ok().out.len() < binary.len());
}

#[test]
fn passes_are_watched() {
    let args = [
        "opt",
        &own("double.spvasm"),
        "--passes",
        "adce,adce",
        "--verify-each",
        "--statistics",
        "--time-passes",
        "--print-after",
        "all",
    ];
    let told = spirula(&args).ok().err;
    assert_eq!(told.matches("; after adce").count(), 2, "{told}");
    assert!(told.contains(" ms"), "{told}");
}

#[test]
fn passes_are_reported_as_a_page() {
    let scratch = ScratchFolder::new();
    let (page, out) = (scratch.text("passes.html"), scratch.text("out.spv"));
    spirula(&[
        "opt",
        "-O2",
        &own("double.spvasm"),
        "-o",
        &out,
        "--html",
        &page,
    ])
    .ok();
    let text = std::fs::read_to_string(&page).expect("the page is there");
    for words in [
        "<!doctype html>",
        ">adce<",
        "<span class=\"d\">-",
        "<span class=\"i\">+",
    ] {
        assert!(text.contains(words), "{words} is not in {text}");
    }
    assert_eq!(
        text.matches("<details").count(),
        text.matches("</details>").count()
    );
    spirula(&["opt", &own("double.spvasm"), "-o", &out, "--html", &out]).fails(1, "written twice");
}

#[test]
fn wrong_usage_of_the_optimiser() {
    let scale = own("scale.spvasm");
    spirula(&["opt", &scale, "--passes", "frobnicate"]).fails(2, "frobnicate");
    spirula(&["opt", &scale, "-O4"]).fails(2, "4");
    spirula(&["opt", &scale, "-O1", "--passes", "adce"]).fails(2, "cannot be used with");
    spirula(&["opt", &scale, "--print-after", "nothing"]).fails(2, "no pass is named nothing");
    spirula_with(&["opt", "-"], b"OpFrobnicate\n").fails(1, "error");
}

#[test]
fn passes_that_are_told_something() {
    let scale = own("scale.spvasm");
    let with = |passes: &str| spirula(&["opt", &scale, "--passes", passes]);
    with("workgroup-size=8:1:1").ok();
    with("workgroup-size=8").fails(2, "workgroup-size=X:Y:Z");
    with("set-spec-const").fails(2, "set-spec-const=ID:VALUE");
    with("adce=3").fails(2, "takes no argument");
}

/// A module of a function that adds floats as integers.
const INVALID: &str = "OpCapability Shader\nOpCapability Linkage\nOpMemoryModel Logical GLSL450\n\
    %void = OpTypeVoid\n%type = OpTypeFunction %void\n%uint = OpTypeInt 32 0\n\
    %float = OpTypeFloat 32\n%one = OpConstant %float 1\n%f = OpFunction %void None %type\n\
    %entry = OpLabel\n%sum = OpIAdd %uint %one %one\nOpReturn\nOpFunctionEnd\n";

#[test]
fn modules_that_break_rules_are_refused() {
    let told = "OpIAdd: operand 0 is of f32";
    for command in ["opt", "link", "convert"] {
        let refused = spirula_with(&[command, "-"], INVALID.as_bytes());
        refused.fails(1, told);
        spirula_with(&[command, "-", "--skip-validation"], INVALID.as_bytes()).ok();
    }
    spirula_with(&["opt", "-", "--verify-each"], INVALID.as_bytes()).fails(1, told);
    let both = ["opt", "-", "--verify-each", "--skip-validation"];
    spirula_with(&both, INVALID.as_bytes()).fails(2, "cannot be used with");
    // Places in an assembled text are its lines.
    spirula_with(&["opt", "-"], INVALID.as_bytes()).fails(1, "<stdin>:11:1");
}

#[test]
fn vectors_of_any_length_are_optimised_without_validation() {
    let long = "OpCapability Shader\nOpCapability Linkage\nOpMemoryModel Logical GLSL450\n\
        %void = OpTypeVoid\n%type = OpTypeFunction %void\n%uint = OpTypeInt 32 0\n\
        %many = OpTypeVector %uint 4000000000\n%zero = OpConstantNull %many\n\
        %x = OpUndef %many\n%f = OpFunction %void None %type\n%entry = OpLabel\n\
        %a = OpISub %many %x %zero\n%b = OpISub %many %a %a\n%c = OpIMul %many %zero %zero\n\
        %d = OpCompositeConstruct %many %b %c\nOpReturn\nOpFunctionEnd\n";
    spirula_with(&["opt", "-", "--skip-validation"], long.as_bytes()).ok();
}

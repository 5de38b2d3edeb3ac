//! Forms of the disassembly, compared with those of `spirv-dis` where it is installed.

use crate::harness::{ScratchFolder, own, spirula};
use std::process::Command;

/// Modules of the tests.
const MODULES: [&str; 4] = [
    "double.spvasm",
    "scale.spvasm",
    "values.spvasm",
    "smooth.spvasm",
];

/// Control flow of every kind: a selection in a case of a switch in a loop.
const NESTED: &str = "\
OpCapability Shader\nOpCapability Linkage\nOpMemoryModel Logical GLSL450\n\
OpName %5 \"f\"\nOpDecorate %5 LinkageAttributes \"f\" Export\nOpDecorate %19 RelaxedPrecision\n\
%1 = OpTypeVoid\n%2 = OpTypeInt 32 1\n%3 = OpTypeFunction %1 %2\n%4 = OpTypeBool\n%8 = OpConstantTrue %4\n\
%5 = OpFunction %1 None %3\n%6 = OpFunctionParameter %2\n%7 = OpLabel\nOpBranch %9\n\
%9 = OpLabel\nOpLoopMerge %10 %11 None\nOpBranch %12\n\
%12 = OpLabel\nOpSelectionMerge %13 None\nOpSwitch %6 %14 1 %15 2 %16\n\
%15 = OpLabel\nOpSelectionMerge %17 None\nOpBranchConditional %8 %18 %17\n\
%18 = OpLabel\n%19 = OpIAdd %2 %6 %6\nOpBranch %17\n%17 = OpLabel\nOpBranch %16\n\
%16 = OpLabel\nOpBranch %13\n%14 = OpLabel\nOpBranch %13\n\
%13 = OpLabel\nOpBranchConditional %8 %10 %11\n%11 = OpLabel\nOpBranch %9\n\
%10 = OpLabel\nOpReturn\nOpFunctionEnd\n";

/// Combinations of options that both programs have.
const FORMS: &[&[&str]] = &[
    &["--raw-id", "--offsets"],
    &["--raw-id", "--comment"],
    &["--raw-id", "--comment", "--offsets", "--no-header"],
    &["--raw-id", "--nested-indent"],
    &["--raw-id", "--nested-indent", "--reorder-blocks"],
    &["--raw-id", "--nested-indent", "--comment", "--no-indent"],
    &["--raw-id", "--color", "--comment", "--offsets"],
    &["--comment", "--nested-indent", "--offsets"],
    &["--reorder-blocks"],
];

/// A text without the control sequences of terminals.
fn without_color(text: &str) -> String {
    let mut parts = text.split("\x1b[");
    let first = parts.next().unwrap_or_default().to_owned();
    let rest = parts.map(|part| part.split_once('m').map_or("", |(_, rest)| rest));
    rest.fold(first, |text, part| text + part)
}

#[test]
fn forms_are_those_of_spirv_dis() {
    let scratch = ScratchFolder::new();
    scratch.file("nested.spvasm", NESTED);
    let mut sources: Vec<String> = MODULES.map(own).to_vec();
    sources.push(scratch.text("nested.spvasm"));
    for source in sources {
        let binary = scratch.text("module.spv");
        spirula(&["as", &source, "-o", &binary]).ok();
        for form in FORMS {
            let Ok(theirs) = Command::new("spirv-dis").args(*form).arg(&binary).output() else {
                eprintln!("spirv-dis is not installed");
                return;
            };
            let theirs = String::from_utf8_lossy(&theirs.stdout);
            let args: Vec<&str> = [&["as-spirv-dis"], *form, &[binary.as_str()]].concat();
            let ours = spirula(&args).ok().text();
            let plain = |text: &str| without_color(text);
            assert_eq!(plain(&ours), plain(&theirs), "{source} {form:?}");
            // Colours of results, ids, numbers and strings.
            for color in ["\x1b[34m", "\x1b[33m%", "\x1b[31m", "\x1b[32m"] {
                let count = |text: &str| text.matches(color).count();
                assert_eq!(count(&ours), count(&theirs), "{source} {form:?} {color:?}");
            }
        }
    }
}

#[test]
fn nesting_is_shown() {
    let nested = crate::harness::spirula_with(&["as"], NESTED.as_bytes())
        .ok()
        .out;
    let form = ["dis", "--nested-indent", "--no-indent", "--no-header"];
    let text = crate::harness::spirula_with(&form, &nested).ok().text();
    for line in [
        "\n%7 = OpLabel\n",
        "\n%12 =     OpLabel\n",
        "\n%18 =             OpLabel\n",
        "\n%11 =   OpLabel\n",
    ] {
        assert!(text.contains(line), "{line:?} is not in\n{text}");
    }
}

#[test]
fn colours_are_chosen() {
    let binary = crate::harness::module("double.spvasm");
    let colored = |args: &[&str]| {
        let text = crate::harness::spirula_with(args, &binary).ok().text();
        text.contains('\x1b')
    };
    assert!(!colored(&["dis"]));
    assert!(colored(&["dis", "--color"]));
    assert!(colored(&["dis", "--color=always"]));
    assert!(!colored(&["dis", "--color=auto"]));
    assert!(!colored(&["dis", "--no-color"]));
    spirula(&["dis", "--color=blue"]).fails(2, "possible values");
}

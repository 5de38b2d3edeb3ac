//! The programs of SPIRV-Tools by their names.

use crate::harness::{CliOutput, ScratchFolder, module, own, spirula, spirula_with};
use std::process::Command;

const TOOLS: [&str; 7] = [
    "spirv-as",
    "spirv-cfg",
    "spirv-dis",
    "spirv-link",
    "spirv-opt",
    "spirv-reduce",
    "spirv-val",
];

/// Options that a program's help lists.
fn listed_options(help: &str) -> Vec<String> {
    let lines = help.lines().filter_map(|line| line.strip_prefix("  "));
    let words = lines.filter(|line| line.starts_with('-')).flat_map(|line| {
        let names = line.split("  ").next().unwrap_or_default();
        names.split([' ', ',']).filter(|word| word.starts_with('-'))
    });
    let name = |word: &str| word.split(['=', '[']).next().unwrap_or_default().to_owned();
    words.map(name).collect()
}

#[test]
fn every_option_of_the_installed_programs_is_known() {
    for tool in TOOLS {
        let Ok(theirs) = Command::new(tool).arg("--help").output() else {
            continue;
        };
        let ours = spirula(&[&format!("as-{tool}"), "--help"]).ok().text();
        let ours = listed_options(&ours);
        let theirs = listed_options(&String::from_utf8_lossy(&theirs.stdout));
        assert!(theirs.len() > 3, "{tool}: {theirs:?}");
        for option in theirs {
            assert!(ours.contains(&option), "{tool} has {option}");
        }
    }
}

#[cfg(unix)]
#[test]
fn links_have_the_options_of_their_names() {
    let scratch = ScratchFolder::new();
    let link = scratch.path("spirv-dis");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_spirula"), &link).expect("a link");
    let binary = scratch.file("double.spv", module("double.spvasm"));
    let ran = Command::new(&link).args([&binary, "--no-header"]).output();
    let ran = CliOutput::from(ran.expect("the link runs")).ok();
    assert!(ran.text().contains("OpName %inp \"inp\""), "{}", ran.text());
}

#[test]
fn passes_by_their_names() {
    let scratch = ScratchFolder::new();
    let (double, out) = (own("double.spvasm"), scratch.text("out.spv"));
    let written = |args: &[&str]| {
        spirula(&[args, &[double.as_str(), "-o", &out]].concat()).ok();
        std::fs::read(&out).expect("the output is there")
    };
    let theirs = written(&["as-spirv-opt", "--ssa-rewrite", "--ccp", "--compact-ids"]);
    assert_eq!(
        theirs,
        written(&["opt", "--passes", "mem2reg,sccp,compact-ids"])
    );
    assert_eq!(written(&["as-spirv-opt", "-O"]), written(&["opt", "-O2"]));
    assert_eq!(
        written(&["as-spirv-opt", "-Os", "-Os"]),
        written(&["opt", "--passes", "Os,Os"])
    );
    assert_eq!(written(&["as-spirv-opt"]), written(&["opt", "-O0"]));
    let set = written(&["as-spirv-opt", "--set-spec-const-default-value", "3:7"]);
    assert_eq!(set, written(&["opt", "--passes", "set-spec-const=3:7"]));
    let config = scratch.file(
        "passes.cfg",
        "# two passes\n--ccp\n  --scalar-replacement=0\n",
    );
    let configured = written(&["as-spirv-opt", &format!("-Oconfig={config}")]);
    assert_eq!(configured, written(&["opt", "--passes", "sccp,sroa"]));
    let told = spirula(&["as-spirv-opt", &double, "-o", &out, "--print-all", "--ccp"]).ok();
    assert!(told.err.contains("; after sccp"), "{}", told.err);
}

#[test]
fn wrong_usage_is_exit_code_1() {
    let double = own("double.spvasm");
    let cases: &[(&[&str], &str)] = &[
        (&["as-spirv-opt", &double], "-o is required"),
        (
            &["as-spirv-opt", &double, "-o", "x.spv", "--cpp"],
            "did you mean --ccp?",
        ),
        (
            &["as-spirv-opt", &double, "-o", "x.spv", "--amd-ext-to-khr"],
            "is not available",
        ),
        (
            &[
                "as-spirv-opt",
                &double,
                "-o",
                "x.spv",
                "--loop-unroll-partial=x",
            ],
            "whole number",
        ),
        (
            &[
                "as-spirv-opt",
                &double,
                "-o",
                "x.spv",
                "--target-env=vulkan9",
            ],
            "vulkan9",
        ),
        (&["as-spirv-val", "--target-env"], "needs a value"),
        (&["as-spirv-dis", "--ofsets"], "did you mean --offsets?"),
        (&["as-spirv-dis", "x", "y"], "more than one input file"),
        (&["as-spirv-link"], "no input file"),
        (
            &["as-spirv-reduce", &double, "-o", "x.spv"],
            "has to follow --",
        ),
        (&["as-spirv-val", "none.spv"], "cannot read none.spv"),
    ];
    for (args, words) in cases {
        spirula(args).fails(1, words);
    }
}

#[test]
fn the_other_programs() {
    let scratch = ScratchFolder::new();
    let binary = module("double.spvasm");
    let file = scratch.file("folder/double.spv", &binary);
    spirula_with(
        &[
            "as-spirv-val",
            "--target-env",
            "vulkan1.1",
            "--scalar-block-layout",
        ],
        &binary,
    )
    .ok();
    spirula(&["as-spirv-val", &scratch.text("folder")]).ok();
    scratch.file("folder/below/bad.spv", &binary[..40]);
    spirula(&["as-spirv-val", &scratch.text("folder")]).fails(1, "bad.spv");
    let text = spirula_with(&["as-spirv-dis", "--raw-id"], &binary)
        .ok()
        .text();
    let assembled = spirula_with(&["as-spirv-as", "-o", "-"], text.as_bytes())
        .ok()
        .out;
    assert_eq!(assembled, binary);
    let dot = spirula(&["as-spirv-cfg", &file]).ok().text();
    assert!(dot.starts_with("digraph"), "{dot}");
    let linked = scratch.text("linked.spv");
    spirula(&[
        "as-spirv-link",
        &file,
        "-o",
        &linked,
        "--use-highest-version",
    ])
    .ok();
    spirula(&["val", &linked]).ok();
    let version = spirula(&["as-spirv-opt", "--version"]).ok().text();
    assert!(version.starts_with("spirv-opt of spirula "), "{version}");
}

#[cfg(unix)]
#[test]
fn modules_are_reduced_while_the_command_succeeds() {
    let scratch = ScratchFolder::new();
    let file = scratch.file("double.spv", module("double.spvasm"));
    let out = scratch.text("small.spv");
    let spirula_path = env!("CARGO_BIN_EXE_spirula");
    let test = scratch.file(
        "interesting.sh",
        format!("\"{spirula_path}\" dis \"$1\" | grep -q OpIMul\n"),
    );
    let args = [
        "as-spirv-reduce",
        &file,
        "-o",
        &out,
        "--step-limit=200",
        "--",
        "sh",
        &test,
    ];
    spirula(&args).ok();
    let small = spirula(&["dis", &out]).ok().text();
    assert!(small.contains("OpIMul"), "{small}");
    let before = spirula(&["dis", &file]).ok().text();
    assert!(small.lines().count() < before.lines().count(), "{small}");
}

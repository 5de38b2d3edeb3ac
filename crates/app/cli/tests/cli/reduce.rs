//! Reducing from the command line, with this command as the one that fails.

use crate::harness::{ScratchFolder, own, spirula};

const SPIRULA: &str = env!("CARGO_BIN_EXE_spirula");

#[test]
fn what_a_command_fails_on_gets_small() {
    let scratch = ScratchFolder::new();
    let wide = scratch.file(
        "wide.spvasm",
        "OpCapability Shader\nOpCapability Linkage\nOpCapability Float64\n\
         OpMemoryModel Logical GLSL450\nOpName %double \"double\"\n%float = OpTypeFloat 32\n\
         %double = OpTypeFloat 64\n%vector = OpTypeVector %double 2\n",
    );
    let small = scratch.text("small.spvasm");
    let fails = [SPIRULA, "convert", "{}", "--allow", "Shader,Linkage"];
    let args = [&["reduce", &wide, "-o", &small, "--"], &fails[..]].concat();
    let told = spirula(&args).ok().err;
    assert!(told.contains("5 of 8 instructions are left"), "{told}");
    let text = std::fs::read_to_string(&small).unwrap();
    assert!(
        text.contains("OpTypeFloat 64") && !text.contains("OpTypeVector"),
        "{text}"
    );
    spirula(&["val", &small]).ok();

    let keeps = ["--keeps-printing", "OpTypeVector", "--", SPIRULA, "dis"];
    let args = [&["reduce", &wide, "-o", &small], &keeps[..]].concat();
    spirula(&args).ok();
    let text = std::fs::read_to_string(&small).unwrap();
    assert!(
        text.contains("OpTypeVector") && !text.contains("OpName"),
        "{text}"
    );
}

#[cfg(unix)]
#[test]
fn the_place_of_the_module_may_be_within_an_argument() {
    let scratch = ScratchFolder::new();
    let small = scratch.text("small.spvasm");
    let holds = format!("! '{SPIRULA}' dis {{}} | grep -q OpStore");
    let args = [
        "reduce",
        &own("scale.spvasm"),
        "-o",
        &small,
        "--",
        "sh",
        "-c",
        &holds,
    ];
    spirula(&args).ok();
    let text = std::fs::read_to_string(&small).unwrap();
    assert!(text.contains("OpStore"), "{text}");
}

#[cfg(unix)]
#[test]
fn the_best_so_far_is_there_before_the_end() {
    let scratch = ScratchFolder::new();
    let (small, seen) = (scratch.text("small.spvasm"), scratch.text("seen"));
    let fails = format!(
        "[ -s '{small}' ] && touch '{seen}'; '{SPIRULA}' dis \"$0\" | grep -q OpStore && exit 1"
    );
    let args = [
        "reduce",
        &own("scale.spvasm"),
        "-o",
        &small,
        "--",
        "sh",
        "-c",
        &fails,
    ];
    spirula(&args).ok();
    assert!(std::path::Path::new(&seen).exists());
}

#[test]
fn a_command_that_does_not_fail_is_told() {
    let scale = own("scale.spvasm");
    let dis = ["--", SPIRULA, "dis", "{}"];
    spirula(&[&["reduce", &scale], &dis[..]].concat()).fails(1, "it ended with 0");
    let other = ["reduce", &scale, "--exit", "7"];
    spirula(&[&other, &dis[..]].concat()).fails(1, "it ended with 0");
    spirula(&["reduce", &scale, "--", "no-such-command-anywhere"]).fails(1, "cannot run");
    spirula(&["reduce", &scale]).fails(2, "COMMAND");
}

//! Bad input has a clear error and exit code 1, and leaves no files.

use crate::harness::{CliOutput, ScratchFolder, module, own, spirula, spirula_with};
use std::process::{Command, Stdio};

/// A run without a crash: success, or a refusal with a message.
#[track_caller]
fn is_told(ran: &CliOutput, what: &str) {
    assert!(
        matches!(ran.code, Some(0 | 1)),
        "{what}: {:?} {}",
        ran.code,
        ran.err
    );
    assert!(!ran.err.contains("panicked"), "{what}: {}", ran.err);
    assert!(
        ran.code == Some(0) || ran.err.contains("error"),
        "{what}: {}",
        ran.err
    );
}

#[test]
fn things_that_are_no_modules() {
    let cases: &[(&[u8], &str)] = &[
        (b"", "the input is empty"),
        (b"\x7fELF\x02\x01\x01", "ELF object"),
        (b"module {\n", "<stdin>:2:1"),
        (b"ML\xefR\x0d", "error"),
        (b"\0\0\0\0", "no known kind of module"),
        (b"BC\xc0\xde", "error"),
        (b"\x03\x02\x23\x07", "ends within its header"),
    ];
    for (bytes, words) in cases {
        spirula_with(&["compile", "-"], bytes).fails(1, words);
    }
}

#[test]
fn files_that_cannot_be_read_or_written() {
    let scratch = ScratchFolder::new();
    spirula(&["compile", &scratch.text("none.spv")]).fails(1, "none.spv");
    spirula(&["compile", &scratch.text("")]).fails(1, "cannot read");
    let input = own("scale.spvasm");
    spirula(&["compile", &input, "-o", &scratch.text("no/such/folder.spv")])
        .fails(1, "cannot write");
    std::fs::create_dir(scratch.path("folder")).unwrap();
    spirula(&["compile", &input, "-o", &scratch.text("folder")]).fails(1, "cannot write");
    assert_eq!(scratch.names(), ["folder"]);
}

#[test]
fn a_refused_input_leaves_the_old_output() {
    let scratch = ScratchFolder::new();
    let input = scratch.file("bad.spvasm", "OpFrobnicate\n");
    let output = scratch.file("out.spv", "before");
    spirula(&["as", &input, "-o", &output]).fails(1, "bad.spvasm:1:1");
    spirula(&["compile", &input, "-o", &output]).fails(1, "error");
    assert_eq!(std::fs::read(&output).unwrap(), b"before");
    assert_eq!(scratch.names(), ["bad.spvasm", "out.spv"]);
}

/// Small outputs overwrite a file and large ones replace it. Nothing of the old contents is left.
#[test]
fn outputs_replace_what_is_there() {
    let scratch = ScratchFolder::new();
    let output = scratch.file("out", vec![b'x'; 300_000]);
    let small = scratch.file("small.spv", module("double.spvasm"));
    let constant = |n| format!("%c{n} = OpConstant %int {n}\n");
    let constants: String = (0..9000).map(constant).collect();
    let begin = "OpCapability Shader\nOpMemoryModel Logical GLSL450\n%int = OpTypeInt 32 0\n";
    let large = scratch.file("large.spvasm", format!("{begin}{constants}"));
    for (input, is_large) in [(&small, false), (&large, true), (&small, false)] {
        let command = if is_large { "as" } else { "dis" };
        spirula(&[command, input, "-o", &output]).ok();
        let shown = spirula(&[command, input, "-o", "-"]).ok().out;
        let written = std::fs::read(&output).unwrap();
        assert_eq!(written.len() > 64 << 10, is_large);
        assert!(written == shown, "{} bytes", written.len());
    }
    assert_eq!(scratch.names(), ["large.spvasm", "out", "small.spv"]);
}

#[test]
fn truncated_modules() {
    let whole = module("double.spvasm");
    for end in (0..whole.len()).step_by(13) {
        for command in ["compile", "dis", "info"] {
            let ran = spirula_with(&[command, "-"], &whole[..end]);
            is_told(&ran, &format!("{command} of {end} bytes"));
            assert!(end % 4 == 0 || ran.code == Some(1), "{end}");
        }
    }
}

#[test]
fn corrupted_modules() {
    let whole = module("scale.spvasm");
    for at in (4..whole.len()).step_by(7) {
        let mut bytes = whole.clone();
        bytes[at] ^= 0xff;
        is_told(&spirula_with(&["info", "-"], &bytes), &format!("byte {at}"));
    }
}

#[test]
fn truncated_and_corrupted_assembly() {
    let whole = std::fs::read(own("double.spvasm")).unwrap();
    for at in (0..whole.len()).step_by(61) {
        is_told(
            &spirula_with(&["compile", "-"], &whole[..at]),
            &format!("{at} bytes"),
        );
        let mut bytes = whole.clone();
        bytes[at] = 0x80;
        is_told(
            &spirula_with(&["compile", "-"], &bytes),
            &format!("byte {at}"),
        );
    }
}

#[test]
fn an_unknown_entry_point_is_told_with_those_that_there_are() {
    spirula(&[
        "run",
        &own("scale.spvasm"),
        "--entry",
        "scael",
        "--global",
        "1",
    ])
    .fails(1, "the module has no entry point scael")
    .fails(1, "it has: scale");
}

#[test]
fn wrong_arguments() {
    let scale = own("scale.spvasm");
    let run = |args: &[&str], words: &str| {
        let all = [&["run", &scale, "--global", "8"], args].concat();
        spirula(&all).fails(1, words);
    };
    let good = ["--arg", "8xf32", "--arg", "f32=1", "--arg", "u32=1"];
    run(&good[..4], "scale takes 3 arguments, 2 are given");
    run(
        &[&good[..], &["--arg", "u32=1"]].concat(),
        "scale takes 3 arguments, 4 are given",
    );
    run(
        &["--arg", "8xf32", "--arg", "i32=1", "--arg", "u32=1"],
        "argument 1 (by) of scale: it takes f32, i32 is given",
    );
    run(
        &["--arg", "8xf32", "--arg", "f64=1", "--arg", "u32=1"],
        "it takes f32, f64 is given",
    );
    run(
        &["--arg", "f32=1", "--arg", "f32=1", "--arg", "u32=1"],
        "argument 0 (out) of scale: it takes a buffer",
    );
    run(
        &["--arg", "8xf32", "--arg", "2xf32", "--arg", "u32=1"],
        "2xf32 is given",
    );
    run(
        &["--arg", "8xf32=1 2", "--arg", "f32=1", "--arg", "u32=1"],
        "2 values are given for 8 elements",
    );
    run(
        &["--arg", "nope:8xf32", "--arg", "f32=1", "--arg", "u32=1"],
        "no parameter named nope",
    );
}

#[test]
fn absurd_sizes() {
    let scale = own("scale.spvasm");
    for size in [
        "99999999999xf32",
        "9999999999999999x9999999999999999xf32",
        "4611686018427387904xf32",
    ] {
        spirula(&[
            "run", &scale, "--global", "8", "--arg", size, "--arg", "f32=1", "--arg", "u32=1",
        ])
        .fails(1, "no memory for");
    }
}

#[test]
fn missing_sizes_are_wrong_usage() {
    let scale = own("scale.spvasm");
    let good = ["--arg", "8xf32", "--arg", "f32=1", "--arg", "u32=1"];
    spirula(&[&["run", &scale], &good[..]].concat()).fails(2, "--global");
    spirula(&[&["run", &scale, "--groups", "2"], &good[..]].concat()).fails(2, "--local");
}

#[test]
fn files_of_arrays_that_are_none() {
    let scratch = ScratchFolder::new();
    let scale = own("scale.spvasm");
    let text = scratch.file("a.npy", "hello");
    let run = |arg: &str, words: &str| {
        spirula(&[
            "run", &scale, "--global", "8", "--arg", arg, "--arg", "f32=1", "--arg", "u32=1",
        ])
        .fails(1, words);
    };
    run(&format!("@{text}"), "not a readable .npy file");
    run(&format!("8xf32=@{text}"), "not a readable .npy file");
    run(
        &format!("8xf32=@{}", scratch.text("none.npy")),
        "cannot read",
    );
    let raw = scratch.file("a.bin", [0; 31]);
    run(&format!("8xf32=@{raw}"), "8xf32 does not have 31 bytes");
}

#[test]
fn devices_that_there_are_not() {
    let args = [
        "run",
        &own("scale.spvasm"),
        "--global",
        "8",
        "--device",
        "abacus",
    ];
    spirula(&args).fails(1, "no device abacus; there are: cpu");
}

/// A printed program with a changed part is refused at that part.
#[test]
fn printed_programs_that_are_wrong() {
    let text = std::fs::read_to_string(own("double.imp")).unwrap();
    let cases = [
        (
            "fadd32 (x_12)",
            "frob32 (x_12)",
            "no operator is named frob32",
            ":56:39",
        ),
        (
            "fadd32 (x_12)",
            "fadd64 (x_12)",
            "expected an expression of type f64",
            ":56:47",
        ),
        (
            "4i64",
            "99999999999999999999i64",
            "99999999999999999999i64 is no value of type i64",
            ":25:28",
        ),
        ("4i64", "300i8", "300i8 is no value of type i8", ":25:28"),
        (
            "<- xs_mem_1<",
            "<- ys_mem_1<",
            "expected a bound name, a value or an operator",
            ":55:19",
        ),
        ("tblock_size  {", "tblocks  {", "tblock_size", ":30:"),
        (
            "f32@global>[at_11]",
            "f33@global>[at_11]",
            "expected a type",
            ":55:",
        ),
    ];
    let scratch = ScratchFolder::new();
    for (from, to, said, place) in cases {
        assert!(text.contains(from), "{from}");
        let path = scratch.file("bad.imp", text.replacen(from, to, 1));
        let ran = spirula_with(&["run", &path, "--entry", "double"], b"[1f32]");
        ran.fails(1, said);
        let ran = spirula_with(&["run", &path, "--entry", "double"], b"[1f32]");
        ran.fails(1, place);
    }
}

/// Requests of a running program that cannot be satisfied.
#[test]
fn printed_programs_that_ask_for_too_much() {
    let text = std::fs::read_to_string(own("double.imp")).unwrap();
    let cases = [
        (
            "mul64 (4i64) (n_2)",
            "9223372036854775807i64",
            "no memory for a buffer",
        ),
        ("[blocks_6]", "[99223372036i64]", "workgroups are too many"),
        (
            "dyn block_size_4",
            "dyn 0i64",
            "a workgroup has no invocations",
        ),
        (
            "dyn block_size_4",
            "dyn 1000000i64",
            "more than 65536 invocations",
        ),
    ];
    let scratch = ScratchFolder::new();
    for (from, to, said) in cases {
        assert!(text.contains(from), "{from}");
        let path = scratch.file("bad.imp", text.replacen(from, to, 1));
        spirula_with(&["run", &path, "--entry", "double"], b"[1f32]").fails(1, said);
    }
}

#[test]
fn nobody_reads_what_is_said() {
    let scratch = ScratchFolder::new();
    let bad = scratch.file("bad.spvasm", "OpFrobnicate\n");
    for (args, code) in [
        (&["compile", &bad][..], 1),
        (&["opt", &own("scale.spvasm"), "--statistics", "-o", "-"], 0),
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_spirula"));
        let piped = command.args(args).stdout(Stdio::null());
        let mut child = piped.stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stderr.take());
        assert_eq!(child.wait().unwrap().code(), Some(code), "{args:?}");
    }
}

//! Whole programs: values on standard input, printed results, kernels.

use crate::harness::{ScratchFolder, own, spirula, spirula_with};
use std::io::Write;

fn add(input: &str) -> crate::harness::CliOutput {
    spirula_with(&["run", &own("add_all.kernel")], input.as_bytes())
}

fn double(more: &[&str], input: &[u8]) -> crate::harness::CliOutput {
    spirula_with(&[&["run", &own("double.imp")], more].concat(), input)
}

#[test]
fn values_come_from_standard_input() {
    let text = add("10 [1, 2, -3] -- a comment").ok().text();
    assert_eq!(text, "[11i32, 12i32, 7i32]\n");
    let text = double(&["--entry", "double"], b"[1.5f32, -f32.inf, 0x1p3f32]");
    assert_eq!(text.code, Some(1), "hexadecimal floats are no values");
    let text = double(&["--entry", "double"], b"[1.5f32, -f32.inf]");
    assert_eq!(text.ok().text(), "[3.0f32, -f32.inf]\n");
    let text = double(&[], b"empty([0]f32)").ok().text();
    assert_eq!(text, "empty([0]f32)\n");
}

/// Numbers without a type on standard input have the type of the parameter.
#[test]
fn plain_numbers_have_the_types_of_parameters() {
    let text = double(&["--entry", "double"], b"[1, -2.5]").ok().text();
    assert_eq!(text, "[2.0f32, -5.0f32]\n");
    double(&["--entry", "double"], b"[1i32]").fails(1, "takes []f32, not []i32");
    assert_eq!(add("10 [1, 2]").ok().text(), "[11i32, 12i32]\n");
    add("10i64 [1]").fails(1, "takes i32, not i64");
}

#[test]
fn values_have_a_binary_form() {
    let header = b"b\x02\x01 f32\x02\0\0\0\0\0\0\0";
    let value = |x: f32| [header, &[x, 4.0].map(f32::to_le_bytes).concat()[..]].concat();
    let input = value(1.0);
    assert_eq!(double(&[], &input).ok().text(), "[2.0f32, 8.0f32]\n");
    let binary = double(&["--binary"], &input).ok().out;
    let doubled = [header, &[2.0_f32, 8.0].map(f32::to_le_bytes).concat()[..]].concat();
    assert_eq!(binary, doubled);
    for end in 1..input.len() {
        double(&[], &input[..end]).fails(1, "error");
    }
}

#[test]
fn arguments_and_results_may_be_arrays_as_of_kernels() {
    let scratch = ScratchFolder::new();
    let saved = scratch.text("out.npy");
    let base = ["run", &own("add_all.kernel"), "--arg", "xs:4xi32=iota"];
    let run = |more: &[&str]| spirula(&[&base[..], more].concat());
    let text = run(&["--arg", "i32=1", "--output", &saved]).ok().text();
    assert_eq!(text, "[1i32, 2i32, 3i32, 4i32]\n");
    run(&["--arg", "i32=1", "--check", &saved]).ok();
    run(&["--arg", "i32=2", "--check", &format!("0={saved}")]).fails(1, "result 0 differs");
    let doubled = double(&["--arg", "2xf32=iota", "--profile"], b"").ok();
    assert_eq!(doubled.text(), "[0.0f32, 2.0f32]\n");
    assert!(doubled.err.contains("JIT"), "{}", doubled.err);
    run(&["--arg", "bf16=1"]).fails(1, "argument 0 (a) of main: programs have no bf16");
    run(&["--arg", "local=1"]).fails(1, "workgroup memory is not a value");
    run(&["--arg", "f32=1"]).fails(1, "a takes i32, not f32");
    run(&[]).fails(1, "main takes 2 arguments, 1 are given");
}

#[test]
fn blocks_whose_size_is_none_are_refused() {
    let run = |n: &str| spirula_with(&["run", &own("sized.kernel")], n.as_bytes());
    assert_eq!(run("5i64").ok().text(), "40i64\n");
    assert_eq!(run("0i64").ok().text(), "0i64\n");
    run("-1i64").fails(1, "a block of memory of -8 bytes cannot be allocated");
    let wrapped = "the size of a block of memory has more than 64 bits";
    run("2305843009213693952i64").fails(1, wrapped);
    run("2305843009213693953i64").fails(1, wrapped);
    run("1152921504606846976i64").fails(1, wrapped);
}

#[test]
fn programs_may_be_compressed() {
    let scratch = ScratchFolder::new();
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed
        .write_all(&std::fs::read(own("double.imp")).unwrap())
        .unwrap();
    let path = scratch.file("double.imp.gz", packed.finish().unwrap());
    let text = spirula_with(&["run", &path], b"[1f32]").ok().text();
    assert_eq!(text, "[2.0f32]\n");
    let whole = std::fs::read(&path).unwrap();
    let cut = scratch.file("cut.imp.gz", &whole[..whole.len() / 2]);
    spirula(&["run", &cut]).fails(1, "cannot read");
}

#[test]
fn entry_points() {
    let program = own("add_all.kernel");
    let zeros = spirula(&["run", &program, "--entry", "zeros"]).ok().text();
    assert_eq!(zeros, "3i64\n[0u32, 0u32, 0u32]\n");
    spirula(&["run", &program, "--entry", "ones"])
        .fails(1, "the program has no entry point ones")
        .fails(1, "it has: main, zeros");
    let text = std::fs::read_to_string(&program).unwrap();
    let renamed = text.replace("entry \"main\"", "entry \"add\"");
    spirula_with(&["run", "-"], renamed.as_bytes()).fails(1, "has 2 entry points: choose one");
}

#[test]
fn values_that_do_not_fit() {
    add("1").fails(1, "main takes 2 values, 1 are given");
    add("1 [1] 3").fails(1, "main takes 2 values, 3 are given");
    add("1u32 [1]").fails(1, "a takes i32, not u32");
    add("1 [[1]]").fails(1, "xs takes []i32, not [][]i32");
    add("1 [1").fails(1, "<stdin>:1:5");
    add("1 [1, true]").fails(1, "expected i32, not bool");
    add("").fails(1, "0 are given");
}

/// Indices of kernels have 32 bits. Larger arrays are refused, and not written elsewhere.
#[test]
fn arrays_beyond_32_bit_indices() {
    let write_last = |n: &str| {
        let size = format!("i64={n}");
        spirula(&["run", &own("huge.kernel"), "--arg", &size])
    };
    assert_eq!(write_last("1000").ok().text(), "[7i8]\n");
    write_last("4294967313").fails(1, "has more than 2^32 elements");
}

#[test]
fn assertions_that_fail() {
    let told = add("5 empty([0]i32)").fails(1, "error: Nothing to add 5 to.");
    assert!(
        told.err
            .contains("Backtrace:\n-> #0  add.fut:2:3-9\n-> #1  add.fut:1:1-4\n"),
        "{}",
        told.err
    );
    assert!(told.out.is_empty());
}

#[test]
fn tuning_parameters() {
    let with = |param: &str| double(&["--param", param], b"[1f32, 2f32, 3f32]");
    for param in [
        "thread_block_size=1",
        "double.segmap_tblock_size_5=2",
        "thread_block_size=4096",
    ] {
        assert_eq!(with(param).ok().text(), "[2.0f32, 4.0f32, 6.0f32]\n");
    }
    with("tile_size=4").fails(1, "no tuning parameter tile_size");
    with("thread_block_size").fails(2, "is not a NAME=VALUE");
}

#[test]
fn options_of_the_other_sort_are_wrong_usage() {
    double(&["--global", "4"], b"").fails(2, "are for modules");
    double(&["--spec", "1=2"], b"").fails(2, "are for modules");
    let scale = own("scale.spvasm");
    spirula(&["run", &scale, "--binary"]).fails(2, "are for programs");
    spirula(&["compile", &scale, "--kernel", "0"]).fails(2, "the input is a module");
}

/// A program whose host does all of it has no module to write.
#[test]
fn programs_without_kernels_compile() {
    let scratch = ScratchFolder::new();
    let path = scratch.file("next.fut", "entry main (x: i32) = x + 1\n");
    let output = scratch.text("next.spv");
    let told = spirula(&["compile", &path, "-o", &output]).ok();
    assert!(
        told.err.contains("the program has no kernels"),
        "{}",
        told.err
    );
    assert_eq!(scratch.names(), ["next.fut"]);
    spirula(&["compile", &path, "--emit", "spvasm"]).ok();
    spirula(&["compile", &path, "-o", &scratch.text("next.spb")]).ok();
    assert!(scratch.path("next.spb").exists());
    spirula(&["compile", &path, "--kernel", "0"]).fails(1, "the program has no kernel 0");
}

#[test]
fn kernels_become_modules() {
    let scratch = ScratchFolder::new();
    let (one, two) = (own("double.imp"), own("add_all.kernel"));
    let binary = spirula(&["compile", &one]).ok().out;
    assert_eq!(binary[..4], [3, 2, 0x23, 7]);
    let text = spirula(&["compile", &two, "--emit", "spvasm"]).ok().text();
    assert!(text.starts_with("; Kernel 0\n; SPIR-V\n"), "{text}");
    assert!(text.contains("\n; Kernel 1\n; SPIR-V\n"), "{text}");
    spirula(&["compile", &two]).fails(1, "the program has 2 kernels, each a module");
    spirula(&["compile", &two, "-o", &scratch.text("k.spv")]).ok();
    assert_eq!(scratch.names(), ["k.0.spv", "k.1.spv"]);
    let second = spirula(&["compile", &two, "--kernel", "1"]).ok().out;
    assert_eq!(second, std::fs::read(scratch.path("k.1.spv")).unwrap());
    spirula(&["compile", &two, "--kernel", "2"]).fails(1, "the program has no kernel 2");
    spirula(&[
        "compile",
        &two,
        "--kernel",
        "1",
        "--target-env",
        "vulkan1.0",
    ])
    .fails(1, "newer than the 1.0 of the target environment");
    spirula(&["opt", &two]).fails(1, "kernel text, a whole program");
}

#[test]
fn kernel_text_is_read_back() {
    let scratch = ScratchFolder::new();
    let text = scratch.text("double.kernel");
    spirula(&["compile", &own("double.imp"), "-o", &text]).ok();
    let again = spirula(&["compile", &text, "--emit", "kernel"]).ok().text();
    assert_eq!(again, std::fs::read_to_string(&text).unwrap());
    let ran = spirula_with(&["run", &text], b"[21f32]").ok().text();
    assert_eq!(ran, "[42.0f32]\n");
    spirula(&["compile", &own("scale.spvasm"), "--emit", "kernel"])
        .fails(1, "SPIR-V assembly has no form as kernel text");
}

#[test]
fn info_shows_entry_points_and_kernels() {
    let text = spirula(&["info", &own("add_all.kernel")]).ok().text();
    let lines: Vec<&str> = text.lines().skip(1).collect();
    let kernels = lines
        .iter()
        .filter(|l| l.starts_with("kernel ") && l.contains("buffers"));
    assert_eq!(kernels.count(), 2, "{text}");
    for line in [
        "entry point main",
        "  argument 1 xs: ?xi32",
        "entry point zeros",
        "  result 1: 3xu32",
        "tuning parameter add.group_size: thread_block_size",
    ] {
        assert!(lines.contains(&line), "{line}: {text}");
    }
}

#[test]
fn damaged_programs_are_refused() {
    for name in ["double.imp", "add_all.kernel"] {
        let whole = std::fs::read(own(name)).unwrap();
        for at in (0..whole.len()).step_by(97) {
            let mut bytes = whole.clone();
            bytes[at] = b'?';
            for bytes in [&whole[..at], &bytes] {
                let ran = spirula_with(&["info", "-"], bytes);
                assert!(matches!(ran.code, Some(0 | 1)), "{at}: {}", ran.err);
                assert!(!ran.err.contains("panicked"), "{at}: {}", ran.err);
            }
        }
    }
    spirula(&["info", &own("double.imp"), "--triple", "x"]).ok();
    spirula_with(&["run", "-"], b"types {\n}\nnonsense\n").fails(1, "<stdin>:3:1");
}

/// Futhark prints exchanges of Booleans as exchanges of `i64`, eight elements at once.
#[test]
fn truth_values_are_exchanged_one_by_one() {
    let ran = spirula_with(
        &["run", &own("seen.imp"), "--entry", "seen"],
        b"[3i32, 1i32, 3i32]",
    );
    assert_eq!(ran.ok().text(), "[false, true, false, true, false]\n");
}

/// A workgroup that waits for the flag of another, which waits for the first and fails.
#[test]
fn nobody_waits_for_a_workgroup_that_failed() {
    for entry in ["alone", "together"] {
        let program = own("waits.imp");
        let run = ["run", &program, "--entry", entry, "--threads", "2"];
        spirula_with(&run, b"[0i32, 0i32]").fails(1, "There is no 7.");
    }
}

/// The command has no functions of other programs. A call that gives nothing back is skipped.
#[test]
fn foreign_calls_without_results_are_skipped() {
    let run = spirula(&["run", &own("printing.mlir"), "--arg", "2xf32=1,2"]).ok();
    assert!(run.text().contains("2 4"), "{}", run.text());
    let wanted =
        r#"warning: calls of the foreign function "print" are skipped: they have no results"#;
    assert!(run.err.contains(wanted), "{}", run.err);
}

//! Compiled programs as files: they run and are described like their sources.

use crate::harness::{ScratchFolder, own, spirula, spirula_with};

#[test]
fn a_compiled_program_runs_as_its_source_does() {
    let scratch = ScratchFolder::new();
    for (source, input) in [
        ("add_all.kernel", "10 [1, 2, -3]"),
        ("double.imp", "[1.5f32, -f32.inf]"),
        ("scale.mlir", "[[1f32,2,3],[4,5,6]] [2f32, 1]"),
    ] {
        let (source, compiled) = (own(source), scratch.text("program.spb"));
        spirula(&["compile", &source, "-o", &compiled]).ok();
        let of = |input: &[u8], path: &str| {
            let ran = spirula_with(&["run", path], input);
            (ran.code, ran.out, ran.err)
        };
        let expected = of(input.as_bytes(), &source);
        assert_eq!(expected.0, Some(0), "{expected:?}");
        assert_eq!(of(input.as_bytes(), &compiled), expected);
        assert_eq!(of(b"", &compiled), of(b"", &source));
        let info = |path: &str| {
            let text = spirula(&["info", path]).ok().text();
            let (_, rest) = text.split_once('\n').unwrap();
            rest.to_owned()
        };
        assert_eq!(info(&compiled), info(&source));
    }
}

#[test]
fn types_that_programs_lack_are_kept() {
    let scratch = ScratchFolder::new();
    let (source, compiled) = (own("scale.mlir"), scratch.text("twice.spb"));
    spirula(&["compile", &source, "--entry", "twice", "-o", &compiled]).ok();
    let run = ["run", &compiled, "--arg", "4xbf16=iota"];
    let text = spirula(&run).ok().text();
    assert_eq!(text, "result 0: 4xbf16, 0 to 6\n  0 2 4 6\n");
    let run = ["run", &compiled, "--arg", "4xi16=iota"];
    spirula(&run).fails(1, "it takes 4xbf16, i16 is given");
}

#[test]
fn kernels_come_out_of_an_archive_as_they_went_in() {
    let scratch = ScratchFolder::new();
    let (source, compiled) = (own("add_all.kernel"), scratch.text("add.spb"));
    spirula(&["compile", &source, "-o", &compiled]).ok();
    let text = |path: &str| spirula(&["compile", path, "--emit", "spvasm"]).ok().text();
    assert_eq!(text(&compiled), text(&source));
    spirula(&["compile", &compiled, "--emit", "kernel"]).fails(1, "no form as kernel text");
    spirula(&["compile", &own("scale.spvasm"), "--emit", "spb"]).fails(2, "is for programs");
    let one = [
        "compile", &source, "--emit", "spb", "--kernel", "0", "-o", "x",
    ];
    spirula(&one).fails(2, "a program is written as a whole");
}

#[test]
fn damaged_archives_are_refused() {
    let scratch = ScratchFolder::new();
    let compiled = scratch.text("program.spb");
    spirula(&["compile", &own("double.imp"), "-o", &compiled]).ok();
    let whole = std::fs::read(&compiled).unwrap();
    spirula_with(&["info", "-"], &whole[..whole.len() / 2]).fails(1, "error");
    // A kernel that is not a valid module, with a correct checksum.
    let words = whole.windows(4).position(|w| w == [3, 2, 0x23, 7]).unwrap();
    let mut changed = whole.clone();
    changed[words + 20] ^= 1;
    spirula_with(&["info", "-"], &changed).fails(1, "checksum");
}

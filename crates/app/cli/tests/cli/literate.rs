//! Tests of `spirula script` and `spirula literate`.

use crate::harness::{ScratchFolder, spirula};
use std::fs;

const PROGRAM: &str = "type state = {at: i64, step: i64}\n\n\
    entry begin (step: i64) : state = {at = 0, step}\n\n\
    def add (x: i32) (y: f32) = f32.i32 x + y\n\n\
    def nest (a: i32) (b: i32) = (a, {b, c = (a + b, true)})\n\n\
    def sum_all (xs: []f64) = f64.sum xs\n\n\
    def move (s: state) : ([][]u32, state) =\n  \
    (tabulate_2d 4 8 (\\_ j -> if j == s.at then 0xFF0000 else 0), s with at = s.at + s.step)\n";

#[test]
fn scripts_call_definitions() {
    let scratch = ScratchFolder::new();
    let path = scratch.file("program.fut", PROGRAM);
    for (script, shown) in [
        ("add 1 2", "3.0f32"),
        ("add (1, 0.5f32)", "1.5f32"),
        ("nest 1 2", "(1i32, {b=2i32, c=(3i32, true)})"),
        ("(nest 1 2).1.c.0", "3i32"),
        (
            "let (a, r) = nest 1 2 let (n, _) = r.c in (n, a)",
            "(3i32, 1i32)",
        ),
        ("sum_all [1, 2, 3]", "6.0f64"),
        (
            "let xs = [[1,2],[3,4]] in (xs[1], xs[0, 1])",
            "([3i32, 4i32], 2i32)",
        ),
        ("(move {at=1, step=2}).1", "{at=3i64, step=2i64}"),
        ("(move (begin 4)).1.at", "4i64"),
        ("[[1, 2], [3, 4]]", "[[1i32, 2i32],\n[3i32, 4i32]]"),
        ("sum_all (empty([0]f64))", "0.0f64"),
        ("\"ab\"", "[97u8, 98u8]"),
    ] {
        let told = spirula(&["script", &path, script]).ok();
        assert_eq!(told.text().trim_end(), shown, "{script}");
    }
    let stored = scratch.text("value");
    let store = format!("$store \"{stored}\" (add 1 2)");
    let restore = format!("$restore \"f32\" \"{stored}\"");
    let told = spirula(&["script", &path, "-e", &store, "-e", &restore]).ok();
    assert_eq!(told.text(), "3.0f32\n");
    let binary = spirula(&["script", &path, "-b", "add 1 2"]).ok().out;
    assert_eq!(binary, fs::read(&stored).expect("a file"));
}

#[test]
fn faults_of_scripts_are_reported() {
    let scratch = ScratchFolder::new();
    let path = scratch.file("program.fut", PROGRAM);
    for (script, message) in [
        ("none 1", "no entry point none"),
        ("add 1", "is a function"),
        ("add 1 2 3", "add takes 2 arguments"),
        ("add 1 true", "add"),
        ("nest 1.5 2", "nest"),
        ("add (1", "expected"),
        ("$none 1", "no function $none"),
        ("$loaddata \"none\"", "cannot read"),
        ("(nest 1 2).7", "a field"),
    ] {
        let told = spirula(&["script", &path, script]).fails(1, message);
        assert!(told.text().is_empty(), "{script}");
    }
    spirula(&["script", &path]).fails(2, "no expression");
    let faulty = scratch.file("faulty.fut", "def f = true + 1\n");
    spirula(&["script", &faulty, "f"]).fails(1, "faulty.fut:1:");
}

#[test]
fn programs_become_text_with_results() {
    let scratch = ScratchFolder::new();
    let source = "-- # Title\n--\n-- Some text.\n\n".to_owned()
        + PROGRAM
        + "\n-- > nest 1 2\n\n-- > :covert add 1 2\n\n-- > :brief :img (move (begin 1)).0;\n-- file: first.png\n\n\
           -- > :video (move, begin 1, 3i64);\n-- format: gif\n-- fps: 5\n\n-- > :plot2d {line=([1, 2], [3, 4])}\n\n\
           -- > :audio [0.5f32, -0.5f32]\n\n-- > :img [1, 2]\n\n-- The end.";
    let path = scratch.file("program.fut", source);
    scratch.file("program-img/stale.png", "");
    spirula(&["literate", &path]).fails(1, "> :img [1, 2] failed: []i32 is not a picture");
    let shown = fs::read_to_string(scratch.path("program.md")).expect("a document");
    let code = PROGRAM.trim_end();
    let expected = format!(
        "# Title\n\nSome text.\n\n```futhark\n{code}\n```\n\n\
         ```\n> nest 1 2\n```\n\n```\n(1i32, {{b=2i32, c=(3i32, true)}})\n```\n\n\n\
         ```\n3.0f32\n```\n\n\n\
         ```\n> :img (move (begin 1)).0\n```\n\n![](program-img/first.png)\n\n\n\
         ```\n> :video (move, begin 1, 3i64);\nformat: gif\nfps: 5\n```\n\n![](program-img/2-video.gif)\n\n\n\
         ```\n> :plot2d {{line=([1, 2], [3, 4])}}\n```\n\n![](program-img/3-plot.svg)\n\n\n\
         ```\n> :audio [0.5f32, -0.5f32]\n```\n\n![](program-img/4-output.wav)\n\n\n\
         ```\n> :img [1, 2]\n```\n\n**FAILED**\n```\n[]i32 is not a picture\n```\n\n\nThe end.\n"
    );
    assert_eq!(shown, expected);
    let file = |name: &str| fs::read(scratch.path(&format!("program-img/{name}"))).expect("a file");
    assert!(file("first.png").starts_with(b"\x89PNG"));
    assert!(file("2-video.gif").starts_with(b"GIF89a"));
    assert!(
        String::from_utf8(file("3-plot.svg"))
            .expect("text")
            .contains("line")
    );
    assert!(file("4-output.wav").starts_with(b"RIFF"));
    assert!(!scratch.path("program-img/stale.png").exists());
}

#[test]
fn pictures_are_read_back() {
    let scratch = ScratchFolder::new();
    let source = "-- > :img [[0xFF0000, 0x00FF00], [0x0000FF, 0]];\n-- file: a.png\n\n\
                  -- > $loadimg \"program-img/a.png\"\n\n-- > :audio [[0.5f64], [-1f64]]\n\n\
                  -- > $loadaudio \"program-img/2-output.wav\"\n";
    let path = scratch.file("program.fut", source);
    spirula(&["literate", &path]).ok();
    let shown = fs::read_to_string(scratch.path("program.md")).expect("a document");
    let pixels = [0xffff_0000u32, 0xff00_ff00, 0xff00_00ff, 0xff00_0000];
    let [a, b, c, d] = pixels.map(|pixel| format!("{pixel}u32"));
    assert!(
        shown.contains(&format!("[[{a}, {b}],\n[{c}, {d}]]")),
        "{shown}"
    );
    assert!(shown.contains("[[0.5f64],\n[-1.0f64]]"), "{shown}");
}

#[test]
fn the_first_failure_may_end_the_command() {
    let scratch = ScratchFolder::new();
    let path = scratch.file("program.fut", "-- > :none 1\n");
    let out = scratch.text("out/other.md");
    spirula(&["literate", &path, "--stop-on-error"]).fails(1, "no directive :none");
    assert_eq!(scratch.names(), ["program.fut"]);
    spirula(&["literate", &path, "-o", &out]).fails(1, "");
}

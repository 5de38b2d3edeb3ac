//! Lists of Futhark programs with the test blocks of their sources.

use crate::harness::{Scratch, own, spirula};

/// A list with one program, whose source has these test blocks.
fn list(scratch: &Scratch, blocks: &str) -> String {
    let program = std::fs::read(own("double.imp")).unwrap();
    scratch.file("imp/tests/double.fut.imp", program);
    scratch.file(
        "tests/double.fut",
        format!("-- Doubles.\n{blocks}entry double = map (2*)\n"),
    );
    let row = "tests/double.fut.imp\ttests/double.fut\tdouble\n";
    scratch.file("imp/INDEX.tsv", format!("dump\tsource\tentries\n{row}"));
    scratch.text("imp")
}

#[track_caller]
fn gives(blocks: &str, lines: &[&str]) {
    let scratch = Scratch::new();
    scratch.file("tests/data/two.in", "[1f32, 2f32]");
    let text = spirula(&["test", &list(&scratch, blocks)]).text();
    assert_eq!(text.lines().collect::<Vec<_>>(), lines);
}

#[test]
fn cases_with_values() {
    gives(
        "-- ==\n-- entry: double\n-- input { [1f32] } output { [2.001f32] }\n\
         -- input @ data/two.in\n-- output { [2f32, 4f32] }\n-- input { [3f32] }\n",
        &["3 passed, 0 failed, 0 unsupported"],
    );
}

#[test]
fn cases_that_fail() {
    let name = "imp/tests/double.fut:double";
    gives(
        "-- ==\n-- entry: double\n-- input { [1f32] } output { [2.1f32] }\n\
         -- input { [1f32] } output { [2f64] }\n-- input { [1f32] } output { [2f32, 3f32] }\n\
         -- input { [1f32] } error: bounds\n-- input { 1f32 } output { 1f32 }\n",
        &[
            &format!(
                "FAILED {name}:0: result 0: 1 of 1 elements differ; first at 0: got 2, want 2.1; \
                 largest difference 1.000e-1"
            ),
            &format!("FAILED {name}:1: result 0: 1xf32 was computed, 1xf64 is expected"),
            &format!("FAILED {name}:2: result 0: 1xf32, expected 2xf32"),
            &format!("FAILED {name}:3: it gave results, an error is expected"),
            &format!("FAILED {name}:4: xs takes []f32, not f32"),
            "0 passed, 5 failed, 0 unsupported",
        ],
    );
}

#[test]
fn expected_errors_are_compared_by_their_text() {
    gives(
        "-- ==\n-- entry: double\n-- input { [[1f32]] } error: takes .*f32.*not\n\
         -- input { 1 } error: bounds\n",
        &[
            "FAILED imp/tests/double.fut:double:1: it failed with \"Error: xs takes []f32, not \
             i32\", expected \"bounds\"",
            "1 passed, 1 failed, 0 unsupported",
        ],
    );
}

#[test]
fn generated_inputs_and_trusted_results() {
    gives(
        "-- ==\n-- entry: double\n-- random input { [1000]f32 } auto output\n",
        &["1 passed, 0 failed, 0 unsupported"],
    );
}

#[test]
fn inputs_made_by_scripts() {
    gives(
        "-- ==\n-- entry: double\n-- script input { double [1f32] } output { [4f32] }\n\
         -- script input { let xs = $loaddata \"data/two.in\" in double (double xs) }\n\
         -- output { [8f32, 16f32] }\n-- script input @ data/two.in\n-- output { [2f32, 4f32] }\n\
         -- script input { treble 1 }\n-- script input { $loadimg \"data/two.in\" }\n\
         -- script input { $loaddata \"none\" }\n",
        &[
            "FAILED imp/tests/double.fut:double:3: script: the program has no entry point treble",
            "UNSUPPORTED 1: the function $loadimg of scripts: imp/tests/double.fut:double:4",
            "3 passed, 1 failed, 1 unsupported",
        ],
    );
}

const SOURCE: &str = "-- ==\n-- entry: double\n-- input { [1f32] } output { [2f32] }\n";

#[test]
fn sources_with_printed_forms_beside_them() {
    let scratch = Scratch::new();
    let program = std::fs::read(own("double.imp")).unwrap();
    scratch.file("src/a/double.fut", SOURCE);
    scratch.file("src/a/double.fut.imp", program);
    scratch.file("src/b/double.fut", SOURCE);
    scratch.file("src/library.fut", "def f = 1\n");
    let text = spirula(&["test", &scratch.text("src")]).text();
    let missing = "a source without its printed form beside it, and no --futhark to print it";
    let lines = [
        &format!("UNSUPPORTED 1: {missing}: b/double.fut:double:0"),
        "1 passed, 0 failed, 1 unsupported",
    ];
    assert_eq!(text.lines().collect::<Vec<_>>(), lines);
    let dumped = scratch.text("dumped");
    let one = scratch.text("src/a/double.fut");
    spirula(&["test", &one, "--dump-spirv", &dumped]).ok();
    spirula(&["val", &format!("{dumped}/double.fut.0.spv")]).ok();
}

#[cfg(unix)]
#[test]
fn a_compiler_prints_what_has_no_printed_form() {
    use std::os::unix::fs::PermissionsExt;
    let scratch = Scratch::new();
    scratch.file("src/double.fut", SOURCE);
    let printer = |name: &str, script: String| {
        scratch.file(name, format!("#!/bin/sh\n{script}\n"));
        let path = scratch.path(name);
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
        scratch.text(name)
    };
    let source = scratch.text("src");
    let form = own("double.imp");
    let good = printer("good", format!("test -f \"$5\" && cat {form}"));
    spirula(&["test", &source, "--futhark", &good]).ok();
    let bench = [
        "bench",
        &source,
        "--futhark",
        &good,
        "--runs",
        "1",
        "--profile",
    ];
    let told = spirula(&bench).ok().text();
    assert!(told.contains("1 measured, 0 failed"), "{told}");
    assert!(told.contains("1.0 launches of "), "{told}");
    let bad = printer("bad", "echo Error at a.fut:1:2 >&2; exit 2".to_owned());
    let told = spirula(&["test", &source, "--futhark", &bad]).text();
    assert!(told.contains("futhark: Error at a.fut:1:2"), "{told}");
    let told = spirula(&["test", &source, "--futhark", "/none/futhark"]).text();
    assert!(told.contains("cannot run /none/futhark"), "{told}");
}

#[test]
fn cases_that_are_not_meant_or_lack_files_are_left_out() {
    gives(
        "-- ==\n-- entry: double\n-- notest input { 1 }\n-- only_c input { 1 }\n\
         -- no_vulkan input { 1 }\n-- input @ data/none.in\n-- input { [1f32] }\n-- output @ none\n\
         -- no_c only_vulkan input { [1f32] }\n",
        &["1 passed, 0 failed, 0 unsupported"],
    );
}

#[test]
fn lists_that_name_what_is_not_there() {
    let scratch = Scratch::new();
    let path = list(&scratch, "");
    spirula(&["test", &path]).fails(1, "there are no tests in");
    std::fs::remove_file(scratch.path("tests/double.fut")).unwrap();
    spirula(&["test", &path]).fails(1, "cannot read");
}

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
        "-- ==\n-- entry: double\n-- random input { [1000]f32 } auto output\n\
         -- script input { f 1 }\n",
        &[
            "UNSUPPORTED 1: inputs made by scripts: imp/tests/double.fut:double:1",
            "1 passed, 0 failed, 1 unsupported",
        ],
    );
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

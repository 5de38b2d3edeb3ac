//! Lists of Futhark programs with the test blocks of their sources.

use crate::harness::{ScratchFolder, own, spirula};

/// A list with one program, whose source has these test blocks.
fn list(scratch: &ScratchFolder, blocks: &str) -> String {
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
    let scratch = ScratchFolder::new();
    scratch.file("tests/data/two.in", "[1f32, 2f32]");
    let text = spirula(&["test", &list(&scratch, blocks)]).text();
    assert_eq!(text.lines().collect::<Vec<_>>(), lines);
}

#[test]
fn cases_with_values() {
    // A printed form has no source to warn about.
    gives(
        "-- ==\n-- entry: double\n-- warning: unused\n-- input { [1f32] } output { [2.001f32] }\n\
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
         -- input { 1i32 } error: bounds\n",
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

/// The program that [`SOURCE`] tests.
const CODE: &str = "entry double [n] (xs: [n]f32) : [n]f32 = map (* 2) xs\n";

const SOURCE: &str = "-- ==\n-- entry: double\n-- input { [1f32] } output { [2f32] }\n\n\
                      entry double [n] (xs: [n]f32) : [n]f32 = map (* 2) xs\n";

/// A source is compiled from its source, also where its printed form is beside it.
#[test]
fn sources_with_printed_forms_beside_them() {
    let scratch = ScratchFolder::new();
    let program = std::fs::read(own("double.imp")).unwrap();
    scratch.file("src/a/double.fut", SOURCE);
    scratch.file("src/a/double.fut.imp", program);
    scratch.file("src/b/double.fut", SOURCE);
    scratch.file("src/library.fut", "def f = 1\n");
    let text = spirula(&["test", &scratch.text("src")]).text();
    let lines = ["2 passed, 0 failed, 0 unsupported"];
    assert_eq!(text.lines().collect::<Vec<_>>(), lines);
    let text = spirula(&["test", &scratch.text("src"), "--printed"]).text();
    assert!(text.contains("there is no printed form beside"), "{text}");
    assert!(
        text.ends_with("1 passed, 1 failed, 0 unsupported\n"),
        "{text}"
    );
    scratch.file("src/a/double.fut.imp", "nonsense");
    let one = scratch.text("src/a/double.fut");
    spirula(&["test", &one]).ok();
    spirula(&["test", &one, "--printed"]).fails(1, "");
    let dumped = scratch.text("dumped");
    spirula(&["test", &one, "--dump-spirv", &dumped]).ok();
    spirula(&["val", &format!("{dumped}/double.fut.0.spv")]).ok();
}

#[cfg(unix)]
#[test]
fn a_compiler_prints_what_has_no_printed_form() {
    use std::os::unix::fs::PermissionsExt;
    let scratch = ScratchFolder::new();
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
    scratch.file("src/double.fut", format!("{SOURCE}\n"));
    let told = spirula(&["test", &source, "--futhark", "/none/futhark"]).text();
    assert!(told.contains("cannot run /none/futhark"), "{told}");
}

#[test]
fn cases_that_are_not_meant_are_left_out() {
    gives(
        "-- ==\n-- entry: double\n-- notest input { 1 }\n-- only_c input { 1 }\n\
         -- no_vulkan input { 1 }\n-- disable input { 1 }\n-- no_c only_vulkan input { [1f32] }\n",
        &["1 passed, 0 failed, 0 unsupported"],
    );
}

/// A list may lack files, with a note. Sources in a folder must have theirs.
#[test]
fn cases_whose_files_are_not_there_do_not_pass() {
    let blocks = "-- ==\n-- entry: double\n-- input @ data/none.in\n-- input { [1f32] } output @ none\n\
                  -- script input { double ($loaddata \"none\") }\n-- input { [1f32] }\n";
    let listed = ScratchFolder::new();
    let ran = spirula(&["test", &list(&listed, blocks)]);
    assert_eq!(ran.text(), "1 passed, 0 failed, 0 unsupported\n");
    let note = &ran.err;
    let wanted = "note: imp: tests left out, because their files of values are missing: 3";
    assert!(note.contains(wanted), "{note}");
    let scratch = ScratchFolder::new();
    scratch.file("src/double.fut", format!("{blocks}{CODE}"));
    scratch.file(
        "src/double.fut.imp",
        std::fs::read(own("double.imp")).unwrap(),
    );
    let told = spirula(&["test", &scratch.text("src")]).text();
    assert_eq!(told.matches("there is no file ").count(), 3, "{told}");
    assert!(told.contains("data/none.in"), "{told}");
    assert!(
        told.ends_with("1 passed, 3 failed, 0 unsupported\n"),
        "{told}"
    );
}

#[test]
fn what_is_no_test_block_is_a_failure() {
    for (block, words) in [
        (
            "-- inptu { [1f32] }\n",
            "line 3: expected \"input\" after \"inptu\"",
        ),
        (
            "-- input { [1f32] } ouput { [2f32] }\n",
            "expected \"input\" after \"ouput\"",
        ),
        ("-- input { [1f32]\n", "this brace is not closed"),
    ] {
        let scratch = ScratchFolder::new();
        let path = list(&scratch, &format!("-- ==\n{block}\n"));
        let told = spirula(&["test", &path]);
        assert_eq!(told.code, Some(1));
        assert!(told.text().contains(words), "{}", told.text());
    }
}

#[test]
fn printed_forms_that_are_older_than_their_sources_are_not_taken() {
    let scratch = ScratchFolder::new();
    scratch.file("src/double.fut", SOURCE);
    scratch.file(
        "src/double.fut.imp",
        std::fs::read(own("double.imp")).unwrap(),
    );
    let source = scratch.text("src");
    spirula(&["test", &source, "--printed"]).ok();
    let file = std::fs::File::options()
        .write(true)
        .open(scratch.path("src/double.fut.imp"));
    let before = std::time::SystemTime::now() - std::time::Duration::from_secs(60);
    file.unwrap().set_modified(before).unwrap();
    let told = spirula(&["test", &source, "--printed"]);
    assert_eq!(told.code, Some(1));
    assert!(
        told.text().contains("double.fut.imp is older than"),
        "{}",
        told.text()
    );
}

/// The project's own programs with their printed forms: program constants in functions, signs, computed sizes,
/// reductions over arrays, strings.
#[test]
fn own_printed_forms_pass() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/futhark");
    let told = spirula(&["test", folder, "--printed"]).ok().text();
    assert_eq!(told, "26 passed, 0 failed, 0 unsupported\n");
}

/// Measurements have Futhark's names, whole microseconds, and also cases that are not tested.
#[test]
fn measurements_are_as_futhark_writes_them() {
    let scratch = ScratchFolder::new();
    scratch.file("src/two.in", "[1f32, 2f32]");
    scratch.file(
        "src/double.fut",
        "-- ==\n-- entry: double\n-- nobench input { [1f32] }\n-- notest input { [1f32,2,3,4,5,6,7,8] }\n\
         -- input @ two.in\n-- \"own name\" input { [1f32] }\n-- random input { [10]f32 }\n\
         -- input { [1f32] } error: bounds\n"
            .to_owned()
            + CODE,
    );
    scratch.file(
        "src/double.fut.imp",
        std::fs::read(own("double.imp")).unwrap(),
    );
    let (source, json) = (scratch.text("src"), scratch.text("times.json"));
    let told = spirula(&["bench", &source, "--runs", "1", "--json", &json])
        .ok()
        .text();
    assert!(told.contains("4 measured, 0 failed"), "{told}");
    let text = std::fs::read_to_string(&json).unwrap();
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    let sets = json["double.fut:double"]["datasets"].as_object().unwrap();
    let names: Vec<&String> = sets.keys().collect();
    let values = "#1 (\"[1.0f32, 2.0f32, 3.0f32, 4.0f32, 5.0f32, 6.0f32, 7...\")";
    assert_eq!(names, [values, "[10]f32", "own name", "two.in"]);
    let times = sets
        .values()
        .flat_map(|set| set["runtimes"].as_array().unwrap());
    assert!(times.clone().count() >= 4);
    assert!(times.clone().all(serde_json::Value::is_u64), "{text}");
    let other = scratch.text("other.json");
    scratch.file(
        "other.json",
        text.replace("double.fut:double", "triple.fut"),
    );
    let told = spirula(&["bench", &source, "--runs", "1", "--compare", &other])
        .ok()
        .err;
    assert!(told.contains("nothing that was measured is in"), "{told}");
}

/// A compiler has a time limit of its own, and ends with the test.
#[cfg(unix)]
#[test]
fn a_compiler_does_not_outlive_its_test() {
    use std::os::unix::fs::PermissionsExt;
    let scratch = ScratchFolder::new();
    scratch.file("src/double.fut", SOURCE);
    let form = own("double.imp");
    let program = |name: &str, script: String| {
        scratch.file(name, format!("#!/bin/sh\n{script}\n"));
        let mode = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(scratch.path(name), mode).unwrap();
        scratch.text(name)
    };
    let source = scratch.text("src");
    let slow = program("slow", format!("sleep 3; cat {form}"));
    spirula(&["test", &source, "--futhark", &slow, "--timeout", "2"]).ok();
    // A refusal is requested within the test.
    scratch.file("src/double.fut", "-- ==\n-- error: type\n");
    let mark = scratch.text("mark");
    let hangs = program("hangs", format!("(sleep 4; touch {mark}) & wait"));
    let told = spirula(&["test", &source, "--futhark", &hangs, "--timeout", "1"]).text();
    assert!(told.contains("did not end within 1 s"), "{told}");
    std::thread::sleep(std::time::Duration::from_secs(5));
    assert!(!scratch.path("mark").exists(), "the compiler went on");
    let right = program("right", "echo an error of types >&2; exit 2".to_owned());
    spirula(&["test", &source, "--futhark", &right]).ok();
    let other = program("other", "echo no parse >&2; exit 2".to_owned());
    let told = spirula(&["test", &source, "--futhark", &other]).ok().text();
    assert!(told.contains("no parse\\n\", not with \"type\""), "{told}");
    let takes = program("takes", "exit 0".to_owned());
    let told = spirula(&["test", &source, "--futhark", &takes]).text();
    assert!(told.contains("which must be refused"), "{told}");
}

#[test]
fn lists_that_name_what_is_not_there() {
    let scratch = ScratchFolder::new();
    let path = list(&scratch, "");
    spirula(&["test", &path]).fails(1, "there are no tests in");
    std::fs::remove_file(scratch.path("tests/double.fut")).unwrap();
    spirula(&["test", &path]).fails(1, "cannot read");
}

//! Tests of Futhark sources by `spirula test`, and `spirula check`.

use crate::harness::{ScratchFolder, spirula, spirula_with};

/// Runs the tests of a source, and returns the lines of the report.
fn report(source: &str) -> Vec<String> {
    report_with(source, "cpu")
}

/// Runs the tests of a source that is scheduled for a kind of device, on the processor.
fn report_with(source: &str, schedule: &str) -> Vec<String> {
    let scratch = ScratchFolder::new();
    scratch.file("two.in", "1i64 2i64");
    let path = scratch.file("program.fut", source);
    let told = spirula(&["test", "--schedule", schedule, &path]);
    assert!(!told.err.contains("panicked"), "{}", told.err);
    told.text().lines().map(str::to_owned).collect()
}

#[track_caller]
fn passes(count: usize, source: &str) {
    assert_eq!(
        report(source),
        [format!("{count} passed, 0 failed, 0 unsupported")]
    );
}

/// The lines of the report, of which each has the text at its position.
#[track_caller]
fn tells(source: &str, texts: &[&str]) {
    let lines = report(source);
    assert_eq!(lines.len(), texts.len(), "{lines:#?}");
    for (line, text) in lines.iter().zip(texts) {
        assert!(line.contains(text), "{text:?} is not in {line:?}");
    }
}

#[test]
fn forms_of_values() {
    passes(
        5,
        "-- ==\n-- input { 1i64 2i64 } output { 3i64 }\n-- input @ two.in\n-- output { 3i64 }\n\
         -- input { 0x10 2 }\n-- output { 18 }\n-- random input { i64 5i64 }\n\
         -- script input { (1, 2) } output { 3i64 }\nentry main (x: i64) (y: i64) = x + y\n",
    );
}

/// Numbers without a type have that of the parameter or result.
#[test]
fn numbers_without_types() {
    passes(
        2,
        "-- ==\n-- input { [1, 2] 3 } output { [4, 5] }\nentry main (xs: []u8) (y: u8) = map (+ y) xs\n\
         -- ==\n-- entry: reals\n-- input { [1, 2] } output { 3 }\nentry reals (xs: []f32) = f32.sum xs\n",
    );
}

/// Values without an external form are given by their parts.
#[test]
fn records_and_tuples() {
    passes(
        2,
        "-- ==\n-- input { 3 4i64 } output { 4i64 3 }\n-- script input { (3, 4i64) } output { 4i64 3 }\n\
         entry main ((a, b): (i32, i64)) = (b, a)\n",
    );
}

#[test]
fn programs_that_must_be_refused() {
    passes(1, "-- ==\n-- error: \nentry main (x: i32) = x + true\n");
    // The verdict counts. The message is a hint.
    tells(
        "-- ==\n-- error: no such words\nentry main (x: i32) = x + true\n",
        &["REMARK", "1 passed, 0 failed"],
    );
    tells(
        "-- ==\n-- error: type\nentry main (x: i32) = x\n",
        &["which must be refused", "0 passed, 1 failed"],
    );
}

#[test]
fn programs_that_are_only_compiled() {
    let scratch = ScratchFolder::new();
    let path = scratch.file(
        "program.fut",
        "-- ==\n-- structure { Screma 1 Loop/If 2 }\nentry main (x: i32) = x\n",
    );
    let told = spirula(&["test", &path]).ok();
    assert_eq!(told.text(), "1 passed, 0 failed, 0 unsupported\n");
    assert!(
        told.err.contains("specifications passed over"),
        "{}",
        told.err
    );
    tells(
        "-- ==\n-- warning: unused\nentry main (x: i32) = x\n",
        &["no warning matches", "0 passed, 1 failed"],
    );
    passes(
        1,
        "-- ==\n-- warning: unused variable `y`\nentry main (x: i32) (y: i32) = x\n",
    );
    passes(1, "-- ==\n-- warning: ^$\nentry main (x: i32) = x\n");
    assert!(
        report("-- ==\n-- tags { no_vulkan }\n-- input { 1 }\nentry main (x: i32) = x\n")
            .is_empty()
    );
}

#[test]
fn properties() {
    passes(
        2,
        "-- ==\n-- property: involution generated\n\
         #[prop]\nentry involution (xs: []i32) = and (map2 (==) (reverse (reverse xs)) xs)\n\
         entry pairs (size: i64) (seed: u64) : (i64, i64) = (size, size + 1)\n\
         #[prop(gen(pairs), size(7))]\nentry generated ((x, y): (i64, i64)) = x < y && x <= 7\n",
    );
    let shrinking = "-- ==\n-- property: small\n\
         entry make (size: i64) (seed: u64) : i64 = size\n\
         entry shrink (x: i64) (random: u64) : i64 = x - 1\n\
         #[prop(gen(make), shrink(shrink))]\nentry small (x: i64) = x < 5\n";
    tells(
        shrinking,
        &[
            "the property small does not hold for 5i64",
            "0 passed, 1 failed",
        ],
    );
    tells(
        "-- ==\n-- property: other wrong\nentry other (x: i32) = x == x\n\
         #[prop(gen(other))]\nentry wrong (x: i32) = x == x\n",
        &[
            "the property other has 0 attributes #[prop]",
            "other has the type i32 -> bool, expected is i64 -> u64 -> i32",
            "0 passed, 2 failed",
        ],
    );
}

#[test]
fn a_bad_block_is_a_failure_with_its_line() {
    for (block, words) in [
        ("-- input { [1, [2]] }", "line 2: rows have different sizes"),
        ("-- random input { [n]i32 }", "line 2: [n]i32 is not a type"),
        ("-- error: (", "line 2: the regular expression"),
        ("-- structure { 3 }", "line 2: expected nodes"),
    ] {
        let source = format!("-- ==\n{block}\nentry main = 1\n");
        tells(&source, &[words, "0 passed, 1 failed"]);
    }
}

/// The other sources are tested and measured nevertheless.
#[test]
fn a_bad_block_stops_no_other_source() {
    let scratch = ScratchFolder::new();
    let good = scratch.file(
        "one/good.fut",
        "-- ==\n-- input { 1 } output { 2 }\nentry main (x: i32) = x + 1\n",
    );
    let bad = scratch.file(
        "one/bad.fut",
        "-- ==\n-- inptu { 1 }\nentry main (x: i32) = x\n",
    );
    for paths in [vec![bad.as_str(), &good], vec![&scratch.text("one")]] {
        let told = spirula(&[&["test"], &paths[..]].concat());
        assert_eq!(told.code, Some(1));
        let text = told.text();
        assert!(
            text.contains("bad.fut: line 2: expected \"input\""),
            "{text}"
        );
        assert!(
            text.ends_with("1 passed, 1 failed, 0 unsupported\n"),
            "{text}"
        );
    }
    let told = spirula(&["bench", &bad, &good, "--runs", "1"]);
    assert_ne!(told.code, Some(0));
    let (text, faults) = (told.text(), &told.err);
    assert!(text.contains("good.fut"), "{text}");
    assert!(
        format!("{text}{faults}").contains("bad.fut: line 2"),
        "{text}{faults}"
    );
}

#[test]
fn all_errors_are_reported_with_their_files() {
    let scratch = ScratchFolder::new();
    let good = scratch.file("good.fut", "import \"lib\"\nentry main = one\n");
    scratch.file("lib.fut", "def one = 1i32\n");
    spirula(&["check", &good]).ok();
    let bad = scratch.file("bad.fut", "def f = 1 + true\n\ndef g = nothing\n");
    let told = spirula(&["check", &bad]).fails(1, "bad.fut:1:").err;
    assert!(told.contains("bad.fut:3:9"), "{told}");
    // A place in an imported file is shown there.
    scratch.file("lib.fut", "def one = 1i32\ndef two = 1 + true\n");
    spirula(&["check", &good]).fails(1, "lib.fut:2:");
    let told = spirula(&["check", &good, &bad, "--json"]);
    assert_eq!(told.code, Some(1));
    let json: serde_json::Value = serde_json::from_slice(&told.out).unwrap();
    let all = json.as_array().unwrap();
    assert_eq!(all.len(), 3, "{json:#}");
    assert!(all[0]["file"].as_str().unwrap().ends_with("lib.fut"));
    assert_eq!(all[2]["start"]["line"], 3);
    assert_eq!(all[2]["start"]["column"], 9);
    assert_eq!(all[2]["severity"], "error");
}

#[test]
fn inputs_of_all_languages_are_checked() {
    let module = crate::harness::module("double.spvasm");
    spirula_with(&["check", "-"], &module).ok();
    spirula_with(&["check", "-"], &module[..module.len() - 4]).fails(1, "");
    spirula(&["check", &crate::harness::own("double.imp")]).ok();
    let empty = spirula_with(&["check", "-", "--json"], &module).ok();
    assert_eq!(empty.text(), "[]\n");
}

/// A program with a parameter of its own, and a threshold between two forms of a nest.
const TUNED: &str = "\
-- ==
-- entry: rows
-- input { [[1i64, 2], [3, 4]] } output { [4i64, 10] }
-- random input { [3][40]i64 }
entry number (x: i64) = #[param(number)] x
entry rows (xss: [][]i64) = map (\\xs -> let ys = scan (+) 0 xs in reduce (+) 0 ys) xss
";

#[test]
fn parameters_replace_values_and_choose_forms() {
    let scratch = ScratchFolder::new();
    let path = scratch.file("tuned.fut", TUNED);
    let number = |more: &[&str]| {
        let mut given = vec!["run", &path, "--entry", "number"];
        given.extend(more);
        spirula_with(&given, b"5i64").ok().text()
    };
    assert_eq!(number(&[]), "5i64\n");
    assert_eq!(number(&["--param", "number=7"]), "7i64\n");
    let rows = |width: &str| {
        let width = format!("rows.outer_width_0={width}");
        let given = ["run", &path, "--entry", "rows", "--param", &width];
        let given = [&given[..], &["--schedule", "gpu"]].concat();
        spirula_with(&given, b"[[1i64, 2], [3, 4]]").ok().text()
    };
    assert_eq!(rows("1"), "[4i64, 10i64]\n");
    assert_eq!(rows("1000000"), "[4i64, 10i64]\n");
    let wrong = scratch.file("wrong.fut", "entry main (x: i32) = #[param(p)] x");
    spirula(&["compile", &wrong]).fails(1, "the value of a tuning parameter is an i64");
}

#[test]
fn thresholds_are_tuned_by_data_sets() {
    let scratch = ScratchFolder::new();
    let path = scratch.file("tuned.fut", TUNED);
    let tuning = scratch.file("tuned.fut.tuning", "rows.outer_width_0=3\nother=4\n");
    let run = ["bench", "--tune", &path, "--schedule", "gpu", "--runs", "1"];
    let told = spirula(&run).ok().text();
    assert!(told.contains("  rows.outer_width_0: "), "{told}");
    let text = std::fs::read_to_string(&tuning).unwrap();
    // A line that another compiler wrote stays.
    assert!(text.starts_with("other=4\n"), "{text}");
    spirula(&["test", &path]).ok();
}

#[test]
fn entry_points_without_parameters_have_the_sizes_of_their_type() {
    let scratch = ScratchFolder::new();
    let path = scratch.file(
        "free.fut",
        "def triad [n] (s: f32) (b: [n]f32) (c: [n]f32) = map2 (+) b (map (* s) c)\n\
         entry main = triad 0.5\n",
    );
    let ran = spirula_with(&["run", &path], b"[1f32, 2] [4f32, 8]").ok();
    assert_eq!(ran.text(), "[3.0f32, 6.0f32]\n");
    let told = "Entry point arguments have invalid sizes.";
    spirula_with(&["run", &path], b"[1f32, 2] [4f32, 8, 9]").fails(1, told);
    // Both maps are one kernel, since they have one width.
    let text = spirula(&["compile", &path, "--emit", "kernel"]).ok().text();
    assert_eq!(text.matches("launch ").count(), 1, "{text}");
}

/// Scans of rows that one reduction reads take no memory of their own.
#[test]
fn streamed_scans() {
    passes(5, include_str!("../futhark_source/streamed_scans.fut"));
}

/// Scatters whose positions are chosen.
#[test]
fn scatters() {
    passes_both_schedules(7, include_str!("../futhark_source/scatters.fut"));
}

/// Powers of integers, of which those of two are shifts.
#[test]
fn powers() {
    passes_both_schedules(2, include_str!("../futhark_source/powers.fut"));
}

/// Tests of a source pass by the kernels of processors and of graphics cards.
fn passes_both_schedules(count: usize, source: &str) {
    let passed = [format!("{count} passed, 0 failed, 0 unsupported")];
    for schedule in ["cpu", "gpu"] {
        assert_eq!(report_with(source, schedule), passed, "{schedule}");
    }
}

/// Reductions by lanes and by columns, beside those of one element after the other.
#[test]
fn folds() {
    passes(13, include_str!("../futhark_source/folds.fut"));
}

/// Maps over the results of reductions, by the kernels of processors and of graphics cards.
#[test]
fn epilogues() {
    passes_both_schedules(17, include_str!("../futhark_source/epilogues.fut"));
}

/// The number of kernels for processors whose workgroups are one gang.
fn count_gang_kernels(source: &str) -> usize {
    let text = print_kernels(source, "cpu");
    text.matches("size [constant 8i64]").count()
}

/// The kernels of a program for a kind of device.
fn print_kernels(source: &str, schedule: &str) -> String {
    let scratch = ScratchFolder::new();
    let path = scratch.file("program.fut", source);
    let told = spirula(&["compile", &path, "--emit", "kernel", "--schedule", schedule]);
    told.text()
}

/// Arrays of neighbouring workers of a processor share no line of caches: the part of each is a multiple of 128 bytes, where the
/// host allocates all and where a worker finds its own. Invocations of graphics cards have interleaved elements.
#[test]
fn arrays_of_workers_begin_at_lines() {
    let source = "entry main [n] (m: i64) (xs: [n]i32): [n]i32 =
        map (\\x -> let a = loop a = replicate m x for i < m do a with [i] = a[(i + 1) % m] + x
                    in i32.sum a) xs";
    for (schedule, count) in [("cpu", 2), ("gpu", 0)] {
        let text = print_kernels(source, schedule);
        assert!(text.contains("%scratch = alloc"), "{text}");
        let parts = text.matches("sdiv_up.i64(%a, 32i64)").count();
        assert_eq!(parts, count, "{text}");
    }
}

/// Histograms of rows: each of the three has a kernel that adds rows by lanes, and one that combines the copies.
#[test]
fn row_histograms() {
    let source = include_str!("../futhark_source/row_histograms.fut");
    passes(17, source);
    assert_eq!(count_gang_kernels(source), 6);
}

/// Arrays that are changed in place before they are results of a map.
#[test]
fn in_place_results() {
    passes(6, include_str!("../futhark_source/in_place_results.fut"));
}

/// The forms before the kernel IR are printed, one by its name or all.
#[test]
fn stages_are_shown() {
    let scratch = ScratchFolder::new();
    let path = scratch.file(
        "sum.fut",
        "entry main (xs: []i32) = i32.sum (map (+ 1) xs)\n",
    );
    let shown = |stage: &str| {
        let told = spirula(&["compile", &path, "--emit", "kernel", "--print-after", stage]);
        told.ok().err
    };
    let [all, typed, soac, segment] = ["all", "typed", "soac", "segment"].map(shown);
    for one in [&typed, &soac, &segment] {
        assert_eq!(one.matches("// After ").count(), 1, "{one}");
        assert!(all.contains(one.trim_end()), "{all}");
    }
    assert!(soac.contains("fun main"), "{soac}");
    assert!(segment.contains("segred"), "{segment}");
    // The typed source is an input with the same stages after it.
    let text = typed.split_once('\n').expect("a line in front").1;
    assert!(text.contains("i32_sum (map "), "{text}");
    let again = scratch.file("typed.fut", text);
    let told = spirula(&[
        "compile",
        &again,
        "--emit",
        "kernel",
        "--print-after",
        "soac",
    ]);
    assert_eq!(told.ok().err, soac);
    // A stage of other inputs is named, with those of this one.
    let absent = shown("fuse");
    assert!(
        absent.contains("does not pass the stage `fuse`"),
        "{absent}"
    );
    assert!(
        absent.contains("its stages are typed, soac, segment"),
        "{absent}"
    );
}

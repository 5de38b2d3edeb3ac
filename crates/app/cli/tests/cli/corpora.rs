//! The programs of the corpora compute the expected results on the CPU device.

use crate::harness::{path_text, spirula};

/// Folders of the corpora, a part of the names of the tests that run, and the least number of passing tests.
const FOLDERS: &[(&str, &str, u32)] = &[
    ("llvm-ir/kernels", "", 250),
    ("futhark/imp", "imp/tests/a", 15),
    ("futhark/imp", "imp/tests/f", 30),
    ("futhark/imp", "imp/tests/h", 15),
    ("futhark/imp", "imp/tests/memory", 15),
    ("futhark/imp", "imp/tests/primitive", 3),
    ("futhark/imp", "imp/tests/s", 10),
    ("stablehlo/seeds", "", 4),
    ("stablehlo/syntax", "", 70),
    ("stablehlo/portable", "portable/elt", 2),
    ("stablehlo/torch", "", 10),
    ("stablehlo/testdata", "testdata/a", 70),
    ("stablehlo/testdata", "dynamic/", 232),
    ("stablehlo/models", "models/elt", 20),
    ("stablehlo/models", "models/reduce", 10),
];

#[test]
fn programs_of_the_corpora() {
    for (folder, part, least) in FOLDERS {
        let Some(path) = spirula_testing::find_corpus(folder) else {
            continue;
        };
        let text = spirula(&["test", &path_text(&path), "--filter", part, "--reading"]);
        let text = text.ok().text();
        let passed = text
            .lines()
            .last()
            .and_then(|l| l.split(' ').next()?.parse().ok());
        assert!(passed.is_some_and(|n: u32| n >= *least), "{text}");
    }
}

/// Folders with modules of both kinds, shaders and kernels.
const OPTIMISED: [&str; 2] = ["spirv/compute", "llvm-ir/kernels"];

/// Runs some tests of both kinds with optimised modules.
fn pass_optimised(passes: &str, limit: &str) {
    for folder in OPTIMISED {
        let Some(path) = spirula_testing::find_corpus(folder) else {
            continue;
        };
        let path = path_text(&path);
        let args = ["test", &path, "--passes", passes, "--limit", limit];
        let text = spirula(&args).text();
        let failed = text.lines().filter_map(|line| line.strip_prefix("FAILED "));
        let unknown: Vec<&str> = failed.filter(|line| !is_exception(line)).collect();
        assert_eq!(unknown, [""; 0], "{passes}");
        let last = text.lines().last().unwrap_or_default();
        assert!(
            last.contains(" passed, ") && !last.starts_with("0 "),
            "{passes}: {text}"
        );
    }
}

/// Whether a test is among those that may fail.
fn is_exception(line: &str) -> bool {
    const EXCEPTIONS: &str = include_str!("../../../../../tests/exceptions.tsv");
    let (id, _) = line.split_once(": ").unwrap_or((line, ""));
    let mut rows = EXCEPTIONS.lines().filter_map(|row| row.split_once('\t'));
    rows.any(|(exception, _)| exception == id)
}

#[test]
fn presets_keep_results() {
    for preset in ["O1", "O2", "O3", "Os", "legalize"] {
        pass_optimised(preset, "30");
    }
}

#[test]
fn every_pass_keeps_results() {
    for pass in spirula_opt::PASSES {
        // These change results, by their argument or by less precision.
        let others = [
            "relaxed-to-half",
            "set-spec-const",
            "freeze-spec-const",
            "workgroup-size",
        ];
        if !others.contains(&pass.name) {
            pass_optimised(
                &format!("inline,sroa,mem2reg,{}", pass.example_pipeline()),
                "5",
            );
        }
    }
}

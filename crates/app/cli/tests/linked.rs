//! Linked modules compute the results of their parts. The kernels of the corpus, each linked with those of other tests,
//! run on the CPU device by `spirula test`.

use serde_json::{Value, json};
use spirula::{CompileOptions, compile_input};
use spirula_spirv::ir::SpirvModule;
use spirula_spirv::link::{LinkOptions, link_modules};
use spirula_testing::{SpirvValTool, find_corpus};
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

/// Number of modules that are linked into one.
const TOGETHER: usize = 4;

/// One of this many tests runs; `EVERY` sets another number.
fn step() -> usize {
    std::env::var("EVERY").map_or(3, |n| n.parse().expect("EVERY is a number"))
}

/// The names of a test's kernels.
fn names(test: &Value) -> BTreeSet<&str> {
    let kernels = test["kernels"].as_array().expect("a test has kernels");
    kernels.iter().filter_map(|k| k["name"].as_str()).collect()
}

/// The module of a test, from one of its forms.
fn module(folder: &Path, test: &Value, number: usize) -> SpirvModule {
    let forms = test["ir"].as_array().expect("a test has forms");
    let form = forms[number % forms.len()]
        .as_str()
        .expect("a form is a file");
    let bytes = std::fs::read(folder.join(form)).expect("the corpus can be read");
    let compiled = compile_input(&bytes, &CompileOptions::default());
    let compiled = compiled.unwrap_or_else(|error| panic!("{form}: {error:?}"));
    compiled
        .into_module()
        .unwrap_or_else(|error| panic!("{form}: {error:?}"))
}

#[test]
fn linked_kernels_compute_the_same() {
    let Some(folder) = find_corpus("llvm-ir/kernels") else {
        return;
    };
    let manifest = std::fs::read(folder.join("manifest.json")).expect("it has a manifest");
    let manifest: Value = serde_json::from_slice(&manifest).expect("the manifest is JSON");
    let tests = manifest["tests"].as_array().expect("there are tests");
    let validator = SpirvValTool::find_program();
    let work = Path::new(env!("CARGO_TARGET_TMPDIR")).join("linked");
    std::fs::create_dir_all(&work).expect("there is room");
    let mut linked = Vec::new();
    for number in (0..tests.len()).step_by(step()) {
        let mut group = vec![number];
        let mut taken = names(&tests[number]);
        for other in (1..tests.len()).map(|n| (number + 7 * n) % tests.len()) {
            if group.len() < TOGETHER && taken.is_disjoint(&names(&tests[other])) {
                taken.extend(names(&tests[other]));
                group.push(other);
            }
        }
        // The test's own module stands at any place.
        group.rotate_left(number % TOGETHER);
        let modules = group
            .iter()
            .map(|n| module(&folder, &tests[*n], *n))
            .collect();
        let whole = link_modules(modules, &LinkOptions::default());
        let whole = whole
            .unwrap_or_else(|error| panic!("{group:?}: {error}"))
            .to_bytes();
        if let Some(validator) = &validator {
            assert_eq!(
                validator.validate_module(&whole, "spv1.6"),
                Ok(()),
                "{group:?}"
            );
        }
        let file = format!("{number}.spv");
        std::fs::write(work.join(&file), whole).expect("there is room");
        let mut test = tests[number].clone();
        test["ir"] = json!([file]);
        linked.push(test);
    }
    for name in ["golden.json", "golden"] {
        copy(&folder.join(name), &work.join(name));
    }
    let count = linked.len();
    let manifest = json!({ "format": manifest["format"], "tests": linked });
    std::fs::write(work.join("manifest.json"), manifest.to_string()).expect("there is room");
    let mut command = Command::new(env!("CARGO_BIN_EXE_spirula"));
    let run = command.arg("test").arg(&work).output().expect("it runs");
    let said = String::from_utf8_lossy(&run.stdout);
    assert!(
        said.contains(&format!("{count} passed, 0 failed, 0 unsupported")),
        "{said}"
    );
    assert!(count > 30, "only {count} tests");
}

/// Copies a file, or a folder with its contents.
fn copy(from: &Path, to: &Path) {
    if !from.is_dir() {
        std::fs::copy(from, to).expect("it can be copied");
        return;
    }
    std::fs::create_dir_all(to).expect("there is room");
    for entry in std::fs::read_dir(from)
        .expect("the folder can be read")
        .flatten()
    {
        copy(&entry.path(), &to.join(entry.file_name()));
    }
}

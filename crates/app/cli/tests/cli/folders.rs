//! Folders of tests.

use crate::harness::{ScratchFolder, module, spirula};

/// A kernel manifest with a passing test, one with a wrong result, one with a broken input, and a file that is not
/// listed.
fn kernels(scratch: &ScratchFolder) -> String {
    let zeros = "af5570f5a1810b7a";
    let test = |name: &str, want: &str| {
        format!(
            r#"{{"id": "{name}", "src": "{name}.cl", "opt": [], "ir": ["{name}.spv"], "needs": [], "tol": 0,
                "kernels": [{{"name": "scale", "global": [2], "local": null, "args": [
                    {{"buf": "f32", "n": 2, "init": "zero", "as": "{want}"}}, {{"f32": 1}}, {{"u32": 3}}]}}]}}"#
        )
    };
    let tests = [test("good", "x"), test("wrong", "x"), test("broken", "x")].join(",");
    scratch.file(
        "k/manifest.json",
        format!(r#"{{"format": 2, "tests": [{tests}]}}"#),
    );
    let golden = |file: &str| {
        format!(
            r#"{{"buffers": {{"x": {{"type": "f32", "n": 2, "initial": "{zeros}", "scale": 1, "file": "{file}"}}}}}}"#
        )
    };
    let (good, wrong) = (golden("three.bin"), golden("four.bin"));
    scratch.file(
        "k/golden.json",
        format!(r#"{{"good": {good}, "wrong": {wrong}, "broken": {good}}}"#),
    );
    scratch.file("k/three.bin", [3.0_f32; 2].map(f32::to_le_bytes).concat());
    scratch.file("k/four.bin", [3.0_f32, 4.0].map(f32::to_le_bytes).concat());
    let module = module("scale.spvasm");
    scratch.file("k/good.spv", &module);
    scratch.file("k/wrong.spv", &module);
    scratch.file("k/broken.spv", &module[..50]);
    scratch.file("k/unlisted.spv", "junk");
    scratch.text("k")
}

/// A compute manifest with one test.
fn compute(scratch: &ScratchFolder) -> String {
    let manifest = r#"{"tests": [{"id": "double", "module": "double.spv", "tol": 0, "out": [0], "reference": null,
        "buffers": [{"type": "u32", "n": 4, "init": "zero", "binding": 5},
                    {"type": "u32", "n": 4, "init": [1, 2, 3, 4], "set": 1, "binding": 2}],
        "dispatches": [{"groups": [1, 1, 1], "push": [{"u32": 1}]}], "spec": {"3": {"u32": 10}}}]}"#;
    scratch.file("c/manifest.json", manifest);
    scratch.file("c/modules/double.spv", module("double.spvasm"));
    scratch.file(
        "c/golden/double.bin",
        [11_u32, 21, 31, 41].map(u32::to_le_bytes).concat(),
    );
    scratch.text("c")
}

#[test]
fn kernel_manifests() {
    let scratch = ScratchFolder::new();
    let json = scratch.text("results.json");
    let ran = spirula(&["test", &kernels(&scratch), "--json", &json]);
    assert_eq!(ran.code, Some(1), "{}", ran.err);
    let text = ran.text();
    assert_eq!(
        text.lines().last(),
        Some("1 passed, 2 failed, 0 unsupported"),
        "{text}"
    );
    assert!(
        text.contains(
            "FAILED k/wrong.spv: buffer x: 1 of 2 elements differ; first at 1: got 3, want 4"
        ),
        "{text}"
    );
    assert!(text.contains("FAILED k/broken.spv: "), "{text}");
    let results: serde_json::Value = serde_json::from_slice(&std::fs::read(json).unwrap()).unwrap();
    assert_eq!(results["tests"][0]["outcome"], "passed");
    assert_eq!(results["tests"].as_array().unwrap().len(), 3);
}

#[test]
fn compute_manifests() {
    let scratch = ScratchFolder::new();
    let text = spirula(&["test", &compute(&scratch), "--strict"])
        .ok()
        .text();
    assert_eq!(text, "1 passed, 0 failed, 0 unsupported\n");
}

#[test]
fn folders_are_searched_and_tests_chosen() {
    let scratch = ScratchFolder::new();
    kernels(&scratch);
    compute(&scratch);
    let all = scratch.text("");
    let last = |more: &[&str]| {
        let ran = spirula(&[&["test", &all], more].concat());
        ran.text().lines().last().unwrap_or_default().to_owned()
    };
    assert_eq!(last(&[]), "2 passed, 2 failed, 0 unsupported");
    assert_eq!(last(&["--limit", "2"]), "1 passed, 1 failed, 0 unsupported");
    assert_eq!(
        last(&["--filter", "good"]),
        "1 passed, 0 failed, 0 unsupported"
    );
    spirula(&["test", &all, "--filter", "nothing"]).fails(1, "no test has \"nothing\" in its name");
}

#[test]
fn folders_that_hold_no_tests() {
    let scratch = ScratchFolder::new();
    spirula(&["test", &scratch.text("")]).fails(1, "there are no tests in");
    spirula(&["test", &scratch.text("none")]).fails(1, "cannot read");
    scratch.file("kernel.spv", "");
    let file = scratch.text("kernel.spv");
    spirula(&["test", &file]).fails(1, "is not a source with tests (.fut, .mlir)");
    scratch.file("a/manifest.json", "{}");
    spirula(&["test", &scratch.text("")]).fails(1, "of no known kind");
    scratch.file("b/manifest.json", "{\"tests\": [");
    scratch.file("b/golden.json", "{}");
    spirula(&["test", &scratch.text("b")]).fails(1, "EOF while parsing");
}

#[test]
fn what_is_unsupported_is_no_pass() {
    let scratch = ScratchFolder::new();
    let path = compute(&scratch);
    let unsupported = std::fs::read_to_string(crate::harness::own("double.spvasm")).unwrap();
    let unsupported =
        unsupported.replace("%y = OpIAdd %uint %xf %add", "%y = OpDPdxFine %uint %xf");
    let source = scratch.file("unsupported.spvasm", unsupported);
    let binary = scratch.text("c/modules/double.spv");
    spirula(&["as", &source, "-o", &binary]).ok();
    let text = spirula(&["test", &path]).ok().text();
    assert_eq!(
        text.lines().last(),
        Some("0 passed, 0 failed, 1 unsupported"),
        "{text}"
    );
    assert!(text.contains("OpDPdxFine"), "{text}");
    let strict = spirula(&["test", &path, "--strict"]);
    assert_eq!(strict.code, Some(1));
    assert!(
        strict.text().contains("NOT ALLOWED c/double"),
        "{}",
        strict.text()
    );
    let list = scratch.file("allowed.tsv", "# derivatives\nc/double\tno derivatives\n");
    spirula(&["test", &path, "--strict", "--allow", &list]).ok();
    let bad = scratch.file("bad.tsv", "c/double\n");
    spirula(&["test", &path, "--strict", "--allow", &bad]).fails(1, "line 1");
}

#[test]
fn a_manifest_may_be_named_itself() {
    let scratch = ScratchFolder::new();
    let path = compute(&scratch) + "/manifest.json";
    spirula(&["test", &path]).ok();
}

#[test]
fn a_kernel_that_never_ends_is_one_failed_test() {
    let scratch = ScratchFolder::new();
    compute(&scratch);
    let path = compute(&scratch);
    let source = std::fs::read_to_string(crate::harness::own("double.spvasm")).unwrap();
    let endless = source.replace(
        "               OpReturn\n",
        "OpBranch %head\n%head = OpLabel\nOpLoopMerge %end %next None\nOpBranch %next\n\
         %next = OpLabel\nOpBranch %head\n%end = OpLabel\nOpReturn\n",
    );
    assert_ne!(endless, source);
    let source = scratch.file("endless.spvasm", endless);
    spirula(&["as", &source, "-o", &scratch.text("c/modules/double.spv")]).ok();
    kernels(&scratch);
    let ran = spirula(&[
        "test",
        &path,
        &scratch.text("k"),
        "--timeout",
        "3",
        "--jobs",
        "1",
    ]);
    let text = ran.text();
    assert!(
        text.contains("FAILED c/double: it did not end within 3 s"),
        "{text}"
    );
    assert_eq!(
        text.lines().last(),
        Some("1 passed, 3 failed, 0 unsupported"),
        "{text}"
    );
}

#[test]
fn a_kernel_that_accesses_what_is_not_there_is_one_failed_test() {
    let scratch = ScratchFolder::new();
    let path = kernels(&scratch);
    let manifest = std::fs::read_to_string(scratch.path("k/manifest.json")).unwrap();
    // Far beyond the end of its buffer, in the first test.
    let far = manifest.replacen(
        "\"local\": null",
        "\"local\": null, \"offset\": [1099511627776]",
        1,
    );
    scratch.file("k/manifest.json", far);
    let text = spirula(&["test", &path, "--jobs", "1"]).text();
    assert!(
        text.contains("FAILED k/good.spv: scale accesses the address"),
        "{text}"
    );
    assert_eq!(
        text.lines().last(),
        Some("0 passed, 3 failed, 0 unsupported"),
        "{text}"
    );
}

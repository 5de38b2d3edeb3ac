//! StableHLO: runs of modules, and folders of tests.

use crate::harness::{ScratchFolder, own, spirula, spirula_with};

#[test]
fn modules_take_and_give_tensors() {
    let scratch = ScratchFolder::new();
    let (scale, saved) = (own("scale.mlir"), scratch.text("out.npy"));
    let base = [
        "run",
        &scale,
        "--arg",
        "2x3xf32=iota",
        "--arg",
        "by:2xf32=1 2",
    ];
    let run = |more: &[&str]| spirula(&[&base[..4], more].concat());
    let text = run(&["--arg", "2xf32=1 2", "--output", &format!("0={saved}")])
        .ok()
        .text();
    let want = "result 0: 2x3xf32, 0 to 10\n  0 1 2\n  6 8 10\n\
                result 1: 2x3xbool, false to true\n  false false false\n  true true true\n";
    assert_eq!(text, want);
    run(&["--arg", "2xf32=1 2", "--check", &format!("0={saved}")]).ok();
    run(&["--arg", "2xf32=1 3", "--check", &format!("0={saved}")]).fails(1, "result 0 differs");
    run(&["--arg", "2xf64=1 2"]).fails(1, "it takes 2xf32, f64 is given");
    run(&["--arg", "3xf32=1"]).fails(1, "3");
    run(&[]).fails(1, "main takes 2 arguments, 1 are given");
    let text = spirula_with(&["run", &scale], b"[[1f32,2,3],[4,5,6]] [2f32, 1]")
        .ok()
        .text();
    assert!(
        text.starts_with("result 0: 2x3xf32, 2 to 6\n  2 4 6\n  4 5 6\n"),
        "{text}"
    );
}

#[test]
fn types_that_programs_lack() {
    let scale = own("scale.mlir");
    let args = ["run", &scale, "--entry", "twice", "--arg", "4xbf16=iota"];
    let text = spirula(&args).ok().text();
    assert_eq!(text, "result 0: 4xbf16, 0 to 6\n  0 2 4 6\n");
    let args = ["run", &scale, "--entry", "twice", "--arg", "4xi16=iota"];
    spirula(&args).fails(1, "it takes 4xbf16, i16 is given");
    let text = spirula(&["info", &scale, "--entry", "twice"]).ok().text();
    assert!(
        text.contains("entry point twice\n  argument 0 arg0: 4xbf16\n"),
        "{text}"
    );
    spirula(&["info", &scale, "--entry", "thrice"]).fails(1, "there is no function @thrice");
}

#[test]
fn complex_numbers_are_pairs() {
    let conjugate = own("conjugate.mlir");
    let text = spirula(&["run", &conjugate, "--arg", "3x2xf32=1 2 3 4 5 6"]);
    let text = text.ok().text();
    assert_eq!(text, "result 0: 3x2xf32, -6 to 5\n  1 -2\n  3 -4\n  5 -6\n");
    let wrong = spirula(&["run", &conjugate, "--arg", "3xf32=1"]);
    wrong.fails(1, "argument 0 has sizes [3], it takes [3x2]");
}

#[test]
fn stages_are_shown() {
    let scale = own("scale.mlir");
    let all = spirula(&[
        "compile",
        &scale,
        "--emit",
        "kernel",
        "--print-after",
        "all",
    ])
    .ok();
    let headings = all.err.lines().filter(|l| l.starts_with("// After "));
    assert!(headings.count() > 3, "{}", all.err);
    assert!(all.text().contains("entry \"main\""), "{}", all.text());
    let one = spirula(&[
        "compile",
        &scale,
        "--kernel",
        "0",
        "--print-after",
        "translate",
    ])
    .ok();
    assert_eq!(one.err.matches("// After ").count(), 1);
    assert_eq!(one.out[..4], [3, 2, 0x23, 7]);
    spirula(&["compile", &scale, "--print-after", "x"]).fails(2, "no stage is named x");
}

#[test]
fn what_is_not_supported_is_named_with_its_place() {
    let text = "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n  \
                %0 = other.thing %x : (tensor<4xf32>) -> tensor<4xf32>\n  return %0 : tensor<4xf32>\n}\n";
    let generic = text.replace("other.thing %x", "\"other.thing\"(%x)");
    spirula_with(&["compile", "-"], generic.as_bytes())
        .fails(1, "other.thing is not supported")
        .fails(1, "<stdin>:2:");
}

const READ: &str =
    "func.func private @f(%x: tensor<?xf32>) -> tensor<?xf32> {\n  return %x : tensor<?xf32>\n}\n";

fn lines(path: &str) -> Vec<String> {
    let text = spirula(&["test", path]).text();
    text.lines().map(str::to_owned).collect()
}

#[test]
fn modules_without_anything_to_run_are_read() {
    let scratch = ScratchFolder::new();
    scratch.file("m/a.mlir", READ);
    scratch.file("m/b/two.mlir", format!("{READ}// -----\n{READ}"));
    scratch.file("m/b/broken.mlir", format!("{READ}// -----\nfunc.func @g("));
    scratch.file("m/b/note.txt", "no module");
    let told = lines(&scratch.text("m"));
    assert!(told[0].starts_with("FAILED m/b/broken.mlir: "), "{told:?}");
    assert_eq!(
        told[1..],
        ["0 passed, 1 failed, 0 unsupported, 2 only read"]
    );
    let told = lines(&scratch.text("m/b/two.mlir"));
    assert_eq!(told, ["0 passed, 0 failed, 0 unsupported, 1 only read"]);
    let two = scratch.text("m/b/two.mlir");
    let err = spirula(&["test", &two]).fails(1, "nothing was tested").err;
    let read = spirula(&["test", &two, "--reading"]).ok().text();
    assert_eq!(read, "1 passed, 0 failed, 0 unsupported\n");
    assert!(
        err.contains("modules only read, because no results are expected: 1"),
        "{err}"
    );
}

#[test]
fn damaged_bytecode_fails() {
    let scratch = ScratchFolder::new();
    scratch.file("m/a.mlirbc", b"ML\xefR\x0dStableHLO_v1.0.0\0");
    let told = lines(&scratch.text("m"));
    assert!(told[0].starts_with("FAILED m/a.mlirbc: "), "{told:?}");
    spirula(&["info", &scratch.text("m/a.mlirbc")]).fails(1, "error");
}

#[test]
fn functions_check_themselves() {
    let scratch = ScratchFolder::new();
    let check = |value: &str| {
        format!(
            "func.func @f() {{\n  %0 = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>\n  \
             %1 = stablehlo.add %0, %0 : tensor<2xf32>\n  \
             check.expect_eq_const %1, dense<{value}> : tensor<2xf32>\n  return\n}}\n"
        )
    };
    let (right, wrong) = (check("[2.0, 4.0]"), check("[2.0, 5.0]"));
    scratch.file("m/checks.mlir", format!("{right}// -----\n{wrong}"));
    scratch.file("m/one.mlir", right);
    let told = lines(&scratch.text("m"));
    let failed = "FAILED m/checks.mlir:1:f: check 0: 1 of 2 numbers differ; first at 1: got 4.0, \
                  want 5.0; largest difference 1.000e0";
    assert_eq!(told, [failed, "2 passed, 1 failed, 0 unsupported"]);
}

#[test]
fn manifests_name_arguments_and_results() {
    let scratch = ScratchFolder::new();
    let result = |name: &str, values: &str| {
        let path = scratch.text(name);
        let array = format!("2x3xf32={values}");
        let copy = [
            "run",
            &own("scale.mlir"),
            "--arg",
            &array,
            "--arg",
            "2xf32=1",
            "--out",
        ];
        spirula(&[&copy[..], &[&format!("0={path}")]].concat()).ok();
    };
    // The random numbers of the seed lie in [2, 2.001).
    std::fs::create_dir(scratch.path("m")).unwrap();
    result("m/a.out0.npy", "2");
    result("m/b.out0.npy", "3");
    let module = "func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {\n  return %x : tensor<2x3xf32>\n}\n";
    for name in ["a", "b"] {
        scratch.file(&format!("m/{name}.mlir"), module);
        let manifest = format!(
            r#"{{"name": "{name}", "entry": "main", "seed": "0x12",
                "args": [{{"dtype": "f32", "shape": [2, 3], "lo": 2.0, "hi": 2.001}}],
                "results": [{{"dtype": "f32", "shape": [2, 3], "absmax": 2.0, "tol": 0.01,
                              "file": "{name}.out0.npy"}}]}}"#
        );
        scratch.file(&format!("m/{name}.json"), manifest);
    }
    let told = lines(&scratch.text("m"));
    assert!(
        told[0].starts_with("FAILED m/b.mlir: result 0: 6 of 6 numbers differ"),
        "{told:?}"
    );
    assert_eq!(told[1..], ["1 passed, 1 failed, 0 unsupported"]);
}

#[test]
fn stages_can_be_written() {
    let scale = own("scale.mlir");
    let forms = [
        ("tensor", "dispatch @main.0"),
        ("kernel", "launch \"fmul_fle_2x3\" ["),
        ("dot", "digraph \"main\""),
        ("svg", "groups "),
    ];
    for (form, wanted) in forms {
        let text = spirula(&["compile", &scale, "--emit", form]).ok().text();
        assert!(text.contains(wanted), "{text}");
    }
    spirula(&["compile", &own("scale.spvasm"), "--emit", "tensor"]).fails(1, "has no dispatches");
}

#[test]
fn dispatches_are_drawn() {
    let scratch = ScratchFolder::new();
    let picture = scratch.text("dispatches.svg");
    for (input, expected) in [
        ("scale.mlir", "entry point main"),
        ("double.imp", "kernel 0"),
        ("add_all.kernel", "kernel 0"),
    ] {
        spirula(&["compile", &own(input), "-o", &picture]).ok();
        let drawn = std::fs::read_to_string(&picture).expect("the picture is written");
        assert!(
            drawn.starts_with("<svg") && drawn.contains(expected),
            "{input}: {drawn}"
        );
    }
    let module = own("scale.spvasm");
    spirula(&["compile", &module, "--emit", "svg"])
        .fails(1, "has no form as kernel text")
        .fails(1, "`spirula cfg` draws the control flow");
}

/// A scan in chunks: the first invocation has no chunk before its own.
#[test]
fn scans_read_what_the_chunk_before_has() {
    let scratch = ScratchFolder::new();
    let program = scratch.file(
        "sums.mlir",
        "func.func @main(%a: tensor<1000xf32>) -> tensor<1000xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = \"stablehlo.reduce_window\"(%a, %zero) <{padding = dense<[[999, 0]]> : tensor<1x2xi64>, window_dimensions = array<i64: 1000>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %1 = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<1000xf32>, tensor<f32>) -> tensor<1000xf32>
  return %0 : tensor<1000xf32>
}",
    );
    for device in ["cpu", "cpu+scalar"] {
        let ran = spirula(&["run", &program, "--arg", "1000xf32=1", "--device", device]);
        let text = ran.ok().text();
        assert!(text.contains("1 to 1000"), "{device}: {text}");
    }
}

/// One of several updates of an element stays, and any may: that is not a race.
#[test]
fn updates_of_one_element_are_no_race() {
    let set = |device: &str| {
        let base = ["run", &own("set.mlir"), "--device", device];
        let arguments = ["--arg", "64xf32=0", "--arg", "1000x1xi32=3"];
        let updates = ["--arg", "1000xf32=7"];
        spirula(&[&base[..], &arguments, &updates].concat())
    };
    for device in ["cpu", "cpu+san"] {
        let text = set(device).ok().text();
        assert!(text.contains("0 0 0 7 0"), "{text}");
    }
}

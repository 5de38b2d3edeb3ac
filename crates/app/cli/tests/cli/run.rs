//! Runs of kernels, and the processing of their results.

use crate::harness::{ScratchFolder, own, spirula};

fn scale(more: &[&str]) -> Vec<String> {
    let base = [
        "run",
        &own("scale.spvasm"),
        "--global",
        "8",
        "--arg",
        "8xf32=iota",
        "--arg",
        "f32=2",
        "--arg",
        "u32=1",
    ];
    base.iter().chain(more).map(ToString::to_string).collect()
}

fn run(args: &[String]) -> crate::harness::CliOutput {
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    spirula(&args)
}

#[test]
fn a_kernel_of_opencl() {
    let text = run(&scale(&[])).ok().text();
    assert_eq!(
        text,
        "argument 0 (out): 8xf32, 1 to 15\n  1 3 5 7 9 11 13 15\n"
    );
}

#[test]
fn arguments_by_name() {
    let args = [
        "run",
        &own("scale.spvasm"),
        "--global",
        "4",
        "--local",
        "2",
        "--arg",
        "from:u32=1",
        "--arg",
        "4xf32=fill(2)",
        "--arg",
        "by:f32=3",
    ];
    let text = spirula(&args).ok().text();
    assert_eq!(text, "argument 0 (out): 4xf32, 7 to 7\n  7 7 7 7\n");
}

#[test]
fn a_shader_of_vulkan() {
    let shader = own("double.spvasm");
    let base = [
        "run",
        &shader,
        "--arg",
        "8xu32",
        "--arg",
        "8xu32=iota",
        "--push",
        "u32=100",
    ];
    let run = |more: &[&str]| spirula(&[&base[..], more].concat()).ok().text();
    let doubled = "set 0, binding 5 (outp): 8xu32, 100 to 114\n  100 102 104 106 108 110 112 114\n";
    assert_eq!(run(&["--groups", "2"]), doubled);
    assert_eq!(run(&["--global", "8"]), doubled);
    let tenfold = "set 0, binding 5 (outp): 8xu32, 0 to 130\n  100 110 120 130 0 0 0 0\n";
    assert_eq!(run(&["--groups", "1", "--spec", "3=10"]), tenfold);
    let placed = [
        "run",
        &shader,
        "--groups",
        "1",
        "--arg",
        "1,2:4xu32=7",
        "--arg",
        "outp:2x2xu32",
        "--push",
        "hex=01000000",
    ];
    assert_eq!(
        spirula(&placed).ok().text(),
        "set 0, binding 5 (outp): 2x2xu32, 15 to 15\n  15 15\n  15 15\n"
    );
}

#[test]
fn wrong_resources() {
    let shader = own("double.spvasm");
    let run = |args: &[&str], words: &str| {
        let base = ["run", &shader, "--groups", "1"];
        spirula(&[&base[..], args].concat()).fails(1, words);
    };
    let both = ["--arg", "4xu32", "--arg", "4xu32"];
    run(&both[..2], "main takes 2 arguments, 1 are given");
    run(&both, "takes 4 bytes of push constants, 0 are given");
    run(
        &[&both[..], &["--push", "u64=1"]].concat(),
        "takes 4 bytes of push constants, 8 are given",
    );
    run(
        &["--arg", "0,9:4xu32", "--arg", "4xu32"],
        "no element 0 of set 0, binding 9",
    );
    run(
        &[&both[..], &["--push", "u32=1", "--spec", "3=x"]].concat(),
        "\"x\" is no value of u32",
    );
    spirula(&[
        "run", &shader, "--global", "5", "--arg", "4xu32", "--arg", "4xu32",
    ])
    .fails(1, "is not a multiple");
    spirula(&["run", &shader, "--groups", "4294967296"]).fails(1, "too large");
}

/// Descriptors and constants that optimisation removed are left out of a launch, with a note.
#[test]
fn launches_of_optimised_modules_stay_launches() {
    let scratch = ScratchFolder::new();
    let small = scratch.text("small.spv");
    let source = own("unused.spvasm");
    spirula(&["opt", &source, "-o", &small]).ok();
    let launch = [
        "--groups",
        "2",
        "--arg",
        "0,0:8xu32=iota",
        "--arg",
        "0,1:8xu32",
        "--push",
        "u32=7",
        "--spec",
        "3=9",
    ];
    let run = |path: &str| spirula(&[&["run", path], &launch[..]].concat()).ok();
    let (before, after) = (run(&source), run(&small));
    assert_eq!(before.text(), after.text());
    assert!(!before.err.contains("note"), "{}", before.err);
    for told in [
        "no element 0 of set 0, binding 0",
        "no push constants",
        "no specialisation constant 3",
    ] {
        assert!(after.err.contains(told), "{}", after.err);
    }
}

#[test]
fn results_are_saved_and_checked() {
    let scratch = ScratchFolder::new();
    let saved = scratch.text("out.npy");
    run(&scale(&[
        "--out",
        &format!("out={saved}"),
        "--out",
        &scratch.text("raw.bin"),
    ]))
    .ok();
    assert_eq!(std::fs::read(scratch.path("raw.bin")).unwrap().len(), 32);
    let told = run(&scale(&["--check", &format!("0={saved}")])).ok().err;
    assert_eq!(told, format!("argument 0 (out) is as in {saved}\n"));
    run(&scale(&["--check", &saved])).ok();
    // The same with one argument changed.
    let mut other = scale(&["--check", &saved]);
    other[5] = "8xf32=0 1 2 3 4 5.5 6 7".to_owned();
    let told = run(&other).fails(
        1,
        "1 of 8 elements differ; first at 5: got 12, want 11; largest difference 1.000e0",
    );
    assert!(told.text().starts_with("argument 0"), "{}", told.text());
    other.extend(["--atol", "1"].map(str::to_owned));
    run(&other).ok();
    run(&scale(&["--check", &format!("7={saved}")])).fails(1, "no buffer 7");
    run(&scale(&["--check", &scratch.text("none.npy")])).fails(1, "cannot read");
}

#[test]
fn results_come_back_as_arguments() {
    let scratch = ScratchFolder::new();
    let saved = scratch.text("out.npy");
    run(&scale(&["--out", &saved])).ok();
    let args = [
        "run",
        &own("scale.spvasm"),
        "--global",
        "8",
        "--arg",
        &format!("@{saved}"),
        "--arg",
        "f32=1",
        "--arg",
        "u32=0",
    ];
    assert_eq!(spirula(&args).ok().text(), "no buffer changed\n");
}

#[test]
fn results_are_drawn() {
    let scratch = ScratchFolder::new();
    let picture = scratch.text("out.png");
    let mut args = scale(&["--image", &picture, "--colormap", "turbo"]);
    run(&args).fails(1, "no buffer for");
    args[5] = "2x4xf32=iota".to_owned();
    run(&args).fails(0, "");
    assert_eq!(std::fs::read(&picture).unwrap()[..4], *b"\x89PNG");
    assert_eq!(scratch.names(), ["out.png"]);
}

#[test]
fn outputs_are_checked_before_anything_runs() {
    let scratch = ScratchFolder::new();
    let told = run(&scale(&["--out", &scratch.text("no/folder.npy")])).fails(1, "cannot write");
    assert!(told.out.is_empty());
    run(&scale(&["--out", "out=x.txt"])).fails(2, ".npy or .bin");
}

#[test]
fn stages_are_timed() {
    let told = run(&scale(&["--profile", "--threads", "1"])).ok().err;
    for stage in ["read", "translate", "JIT", "copy", "run"] {
        assert!(
            told.lines().any(|l| l.starts_with(stage)),
            "{stage}: {told}"
        );
    }
}

#[test]
fn random_contents_depend_on_the_seed_alone() {
    let with = |seed: &str| {
        let mut args = scale(&["--seed", seed]);
        args[5] = "8xf32=random".to_owned();
        run(&args).ok().text()
    };
    assert_eq!(with("1"), with("1"));
    assert_ne!(with("1"), with("2"));
}

#[test]
fn launches_that_do_not_fit() {
    let scale = own("scale.spvasm");
    let good = ["--arg", "8xf32", "--arg", "f32=1", "--arg", "u32=1"];
    let run = |sizes: &[&str], words: &str| {
        spirula(&[&["run", &scale], sizes, &good[..]].concat()).fails(1, words);
    };
    run(&["--global", "8", "--local", "4294967296"], "too large");
    run(&["--global", "8", "--local", "100000"], "too large");
    run(&["--global", "8", "--local", "0"], "empty");
    let local = [
        "--global", "8", "--arg", "8xf32", "--arg", "local=4", "--arg", "u32=1",
    ];
    spirula(&[&["run", &scale], &local[..]].concat()).fails(
        1,
        "argument 1 (by): it takes a value of 4 bytes, workgroup memory is given",
    );
}

#[test]
fn devices_that_agree_are_one() {
    let args = ["--devices", "cpu,cpu+scalar", "--compare"];
    let ran = run(&scale(&args)).ok();
    let text = ran.text();
    assert!(text.ends_with("1 3 5 7 9 11 13 15\n"), "{text}");
    assert_eq!(ran.err, "cpu, cpu+scalar agree\n");
    run(&scale(&["--devices", "cpu", "--compare"])).fails(2, "two devices at least");
    run(&scale(&["--devices", "cpu,cpu"])).fails(2, "--compare");
}

#[test]
fn what_a_run_costs_by_kernel() {
    let told = run(&scale(&["--profile"])).ok().err;
    assert!(told.contains("kernel scale: compile "), "{told}");
    assert!(told.contains(", 1 launches "), "{told}");
}

#[test]
fn images_and_samplers() {
    let shader = own("smooth.spvasm");
    let smooth = |from: &str| {
        spirula(&[
            "run",
            &shader,
            "--groups",
            "1",
            "--arg",
            from,
            "--arg",
            "to:image2d=1x4xrgba8",
        ])
    };
    let texels = "image2d+linear=1x4xr8=0 100 200 50";
    assert_eq!(
        smooth(&format!("from:{}", texels.replace("2d", "2d+repeat")))
            .ok()
            .text(),
        "set 0, binding 1 (to): 1x4x4xu8, 0 to 255\n  25 0 0 255\n  50 0 0 255\n  150 0 0 255\n  125 0 0 255\n"
    );
    let text = smooth(texels).ok().text();
    assert!(text.contains("\n  0 0 0 255\n  50 0 0 255\n"), "{text}");
    smooth("4xf32").fails(1, "it takes an image, a buffer is given");
    smooth("image3d=1x1x4xr8").fails(1, "it takes an image of 2D, 3D is given");
    smooth("image2d=4xr8").fails(2, "image2d takes 2 sizes, 1 are given");
}

#[test]
fn values_have_the_types_of_their_elements() {
    let module = own("values.spvasm");
    let sum = |v: &str, pair: &str, place: &str| {
        let all = ["--arg", "2xi32", "--arg", v, "--arg", pair, "--arg", place];
        spirula(&[&["run", &module, "--global", "1"], &all[..]].concat())
    };
    // The pair is 5 and 6.5.
    let pair = "hex=05000000 0000d040";
    for v in [
        "4xi32=1 2 3 4",
        "4xu32=1 2 3 4",
        "hex=01000000 00000000 00000000 04000000",
    ] {
        let text = sum(v, pair, "i64=1").ok().text();
        assert!(text.ends_with("  0 16\n"), "{text}");
    }
    for v in ["4xf32=1 2 3 4", "2xi64=1 2", "16xu8=1", "8xf16=1"] {
        let wrong = sum(v, pair, "i64=1");
        wrong.fails(
            1,
            "argument 1 (v) of sum: it takes 4xu32 (integers with or without a sign), ",
        );
    }
    for given in ["2xf32=5 6.5", "2xi32=5 6", "8xu8=1", "f64=1"] {
        sum("4xi32=1", given, "i64=1").fails(1, "argument 2 (pair) of sum: it takes {u32, f32}");
    }
    sum("4xi32=1", pair, "f64=1").fails(1, "it takes u64, f64 is given");
}

#[test]
fn buffers_are_passed_by_their_addresses() {
    let module = own("pointers.spvasm");
    let scale = |device: &str, rest: &[&str]| {
        let push = [
            "--push",
            "address=8xu32=iota",
            "--push",
            "address=8xu32",
            "--push",
            "u32=3",
        ];
        spirula(
            &[
                &["run", &module, "--groups", "2", "--device", device],
                &push[..],
                rest,
            ]
            .concat(),
        )
    };
    for device in ["cpu", "cpu+scalar", "cpu+san"] {
        let text = scale(device, &[]).ok().text();
        assert!(
            text.starts_with("push constant 1 (push1): 8xu32, 0 to 21\n"),
            "{text}"
        );
        assert!(text.ends_with("  0 3 6 9 12 15 18 21\n"), "{text}");
    }
    let scratch = ScratchFolder::new();
    let saved = scratch.text("out.npy");
    scale("cpu", &["--out", &format!("push1={saved}")]).ok();
    scale("cpu", &["--check", &format!("push1={saved}")]).ok();
    let short = ["--push", "address=8xu32=iota", "--push", "address=8xu32"];
    let short = spirula(&[&["run", &module, "--groups", "2"], &short[..]].concat());
    short.fails(1, "takes 20 bytes of push constants, 16 are given");
    let wrong = spirula(&["run", &module, "--groups", "2", "--push", "address=f32=1"]);
    wrong.fails(2, "is not contents of a buffer");
    let kernel = own("values.spvasm");
    let mut run = vec!["run", kernel.as_str(), "--global", "1"];
    for value in ["address=4xf32", "4xi32=1", "hex=0500000000000000", "i64=0"] {
        run.extend(["--arg", value]);
    }
    spirula(&run).fails(1, "argument 0 (out) of sum: it takes no address");
}

//! Kernels run from LLVM IR, from SPIR-V for OpenCL and as compiled shaders, with equal arguments and results.

use crate::harness::{ScratchFolder, own, spirula};

/// The kernels as an argument of `run`, in all forms.
fn forms(scratch: &ScratchFolder) -> Vec<Vec<String>> {
    let source = own("kernels.ll");
    let compiled = |name: &str, more: &[&str]| {
        let path = scratch.text(name);
        let base = ["compile", &source, "-o", &path];
        spirula(&[&base[..], more].concat()).ok();
        path
    };
    let kernel = compiled("kernel.spv", &[]);
    let shader = compiled("shader.spv", &["--target-env", "vulkan1.3"]);
    let here = ["--target-env", "vulkan1.3"].map(str::to_owned);
    vec![
        vec![source.clone()],
        [vec![source], here.to_vec()].concat(),
        vec![kernel.clone()],
        [vec![kernel], here.to_vec()].concat(),
        vec![shader],
    ]
}

/// The output of a launch in each form.
fn same(arguments: &[&str]) -> String {
    let scratch = ScratchFolder::new();
    let mut all = forms(&scratch).into_iter().map(|form| {
        let form: Vec<&str> = form.iter().map(String::as_str).collect();
        let printed = spirula(&[&["run"], &form[..], arguments].concat()).ok();
        (form.join(" "), printed.text())
    });
    let (_, first) = all.next().expect("there are forms");
    for (form, printed) in all {
        assert_eq!(printed, first, "{form} {arguments:?}");
    }
    first
}

#[test]
fn kernels_without_parameters() {
    let printed = same(&["--entry", "nothing", "--global", "3", "--local", "1"]);
    assert!(printed.contains("c 8\n"), "{printed}");
}

#[test]
fn vectors_structures_and_workgroup_memory() {
    let base = [
        "--entry", "all", "--global", "8", "--local", "4", "--arg", "8xi32",
    ];
    let more = [
        "--arg",
        "3xi32=1 2 300",
        "--arg",
        "hex=1000000000000000",
        "--arg",
        "local=16",
    ];
    let printed = same(&[&base[..], &more].concat());
    assert!(
        printed.ends_with("319 318 317 316 323 322 321 320\n"),
        "{printed}"
    );
}

#[test]
fn sizes_that_kernels_demand() {
    let printed = same(&["--entry", "sized", "--global", "8", "--arg", "8xi32"]);
    assert!(printed.ends_with("4 4 4 4 4 4 4 4\n"), "{printed}");
    let scratch = ScratchFolder::new();
    for form in forms(&scratch) {
        let form: Vec<&str> = form.iter().map(String::as_str).collect();
        let sized = [
            "--entry", "sized", "--global", "8", "--local", "2", "--arg", "8xi32",
        ];
        let failed = spirula(&[&["run"], &form[..], &sized].concat());
        failed.fails(1, "sized demands workgroups of 4x1x1, not 2x1x1");
    }
}

#[test]
fn shaders_say_what_their_kernels_take() {
    let scratch = ScratchFolder::new();
    let forms = forms(&scratch);
    let info = |form: &str| spirula(&["info", form]).ok().text();
    let (kernel, shader) = (info(&forms[2][0]), info(&forms[4][0]));
    for (told, place) in [
        (
            "argument 0 out: buffer of u32",
            "its address at bytes 32..40 of the push constants",
        ),
        (
            "argument 1 v: 3xu32, 16 bytes",
            "at bytes 48..64 of the push constants",
        ),
        (
            "argument 2 s: {u32, f32}, 8 bytes",
            "at bytes 64..72 of the push constants",
        ),
        (
            "argument 3 l: workgroup memory of u32",
            "specialisation constant",
        ),
    ] {
        assert!(kernel.contains(&format!("{told}\n")), "{told}: {kernel}");
        assert!(
            shader.contains(&format!("{told}, {place}")),
            "{told}: {shader}"
        );
    }
}

/// Accesses to neighbouring parts of a word are not a race, in any form. Writes of the same part are one.
#[test]
fn neighbours_within_words_are_checked_apart() {
    let checked = ["--device", "cpu+san", "--global", "32", "--local", "8"];
    let parts = [
        "--entry",
        "parts",
        "--arg",
        "32xu8=iota",
        "--arg",
        "32xu16=iota",
    ];
    let printed = same(&[&checked[..], &parts].concat());
    assert!(printed.contains("1 2 3 4 5"), "{printed}");
    let scratch = ScratchFolder::new();
    for form in forms(&scratch) {
        let form: Vec<&str> = form.iter().map(String::as_str).collect();
        let meeting = ["--entry", "meeting", "--arg", "32xu8"];
        spirula(&[&["run"], &form[..], &checked, &meeting].concat()).fails(1, "race");
    }
}

/// Modules with rare types run on the present devices, and become shaders.
#[test]
fn types_that_no_device_has() {
    let scratch = ScratchFolder::new();
    let [kernel, shader] = ["kernel.spv", "shader.spv"].map(|name| scratch.text(name));
    let source = own("wide.ll");
    spirula(&["compile", &source, "--spirv-ext", "all", "-o", &kernel]).ok();
    let info = spirula(&["info", &kernel]).ok().text();
    assert!(info.contains("LongVectorEXT"), "{info}");
    spirula(&[
        "compile",
        &kernel,
        "--target-env",
        "vulkan1.3",
        "-o",
        &shader,
    ])
    .ok();
    let three = "hex=03000000000000000000000000000001";
    let five = "hex=05000000000000000000000000000000";
    for form in [&source, &kernel, &shader] {
        let product = ["--entry", "product", "--arg", three, "--arg", five];
        let printed = spirula(&[&["run", form, "--global", "1"], &product[..]].concat()).ok();
        let text = printed.text();
        assert!(text.contains("15 0 0 0 0 0 0 0"), "{form}: {text}");
        let many = ["--entry", "many", "--arg", "64xi32=iota", "--show", "64"];
        let printed = spirula(&[&["run", form, "--global", "1"], &many[..]].concat()).ok();
        let text = printed.text();
        assert!(
            text.contains("1 2 3 4") && text.contains("63 64"),
            "{form}: {text}"
        );
    }
}

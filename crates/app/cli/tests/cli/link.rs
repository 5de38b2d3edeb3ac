//! Linking from the command line.

use crate::harness::{ScratchFolder, own, spirula};

#[test]
fn linked_kernels_run() {
    let scratch = ScratchFolder::new();
    let linked = scratch.text("linked.spv");
    let double = scratch.text("double.spv");
    let source = own("double.spvasm");
    spirula(&["as", &source, "--target-env", "spv1.3", "-o", &double]).ok();
    let args = [
        "link",
        &double,
        &double,
        "--number-entry-points",
        "-o",
        &linked,
    ];
    spirula(&args).ok();
    spirula(&["val", &linked]).ok();
    let info = spirula(&["info", &linked]).ok().text();
    assert!(info.contains("entry point main.1"), "{info}");
    let run = |path: &str, entry: &[&str]| {
        let args = ["--arg", "8xu32", "--arg", "8xu32=iota", "--push", "u32=100"];
        let all = [&["run", path, "--groups", "2"], entry, &args[..]].concat();
        spirula(&all).ok().text()
    };
    let values = |text: String| text.lines().skip(1).map(str::to_owned).collect::<Vec<_>>();
    let alone = values(run(&double, &[]));
    assert!(!alone.is_empty());
    for entry in ["main", "main.1"] {
        assert_eq!(values(run(&linked, &["--entry", entry])), alone);
    }
}

#[test]
fn what_does_not_fit_is_told_by_its_file() {
    let scratch = ScratchFolder::new();
    let double = own("double.spvasm");
    spirula(&["link", &double, &double]).fails(1, "have an entry point main");
    let head = "OpCapability Kernel\nOpCapability Addresses\nOpCapability Linkage\n\
                OpMemoryModel Physical64 OpenCL\n";
    let kernel = scratch.file("kernel.spvasm", head);
    spirula(&["link", &double, &kernel]).fails(1, "kernel.spvasm is Physical64");
    let import = "OpDecorate %f LinkageAttributes \"far\" Import\n%v = OpTypeVoid\n\
                  %t = OpTypeFunction %v\n%f = OpFunction %v None %t\nOpFunctionEnd\n";
    let import = scratch.file("import.spvasm", format!("{head}{import}"));
    spirula(&["link", &import]).fails(1, "import.spvasm imports far");
    spirula(&["link", &import, "--allow-partial", "--emit", "spvasm"]).ok();
    spirula(&["link", &import, "--target-env", "spv1.0"]).fails(1, "newer than the 1.0");
}

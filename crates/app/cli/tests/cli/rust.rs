//! Kernels in Rust, compiled for the machine's own triple by the compiler that builds these tests.

use crate::harness::{ScratchFolder, own, spirula};
use std::process::Command;

/// The crate as LLVM bitcode; `None`, with a message, where there is no `rustc`.
fn bitcode(scratch: &ScratchFolder, level: &str) -> Option<String> {
    let output = scratch.text(&format!("kernel{level}.bc"));
    let compiler = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    let done = Command::new(compiler)
        .args(["--edition", "2024", "--crate-type", "lib", "--emit=llvm-bc"])
        .args(["-C", "panic=abort", "-C", &format!("opt-level={level}")])
        .args(["-o", &output, &own("kernel.rust")])
        .output();
    match done {
        Ok(done) => {
            let said = String::from_utf8_lossy(&done.stderr);
            assert!(done.status.success(), "{said}");
            Some(output)
        }
        Err(fault) => {
            assert!(
                std::env::var_os("CI").is_none(),
                "rustc does not run: {fault}"
            );
            eprintln!("NOT TESTED: rustc does not run: {fault}");
            None
        }
    }
}

#[test]
fn kernels_in_rust() {
    let scratch = ScratchFolder::new();
    for level in ["0", "3"] {
        let Some(file) = bitcode(&scratch, level) else {
            return;
        };
        let pointers = if level == "0" { "untyped" } else { "typed" };
        let run = |entry: &str, global: &str, args: &[&str]| {
            let mut all = vec!["run", &file, "--kernels", "all", "--entry", entry];
            all.extend(["--global", global, "--local", "4", "--pointers", pointers]);
            all.extend(args.iter().flat_map(|arg| ["--arg", arg]));
            spirula(&all).ok().text()
        };
        let saxpy = run(
            "saxpy",
            "4",
            &["u32=4", "f32=2", "4xf32=iota", "4xf32=fill(1)"],
        );
        assert!(saxpy.ends_with("1 3 5 7\n"), "-O{level}: {saxpy}");
        let sums = run(
            "sums",
            "8",
            &["8xf32=iota", "2xf32=fill(0)", "1xu32=fill(0)"],
        );
        assert!(sums.contains("\n  6 22\n"), "-O{level}: {sums}");
        let mixed = run("mixed", "4", &["4xf32=iota", "4xf32=fill(0)"]);
        assert!(mixed.contains("\n  3 20 0 30\n"), "-O{level}: {mixed}");
    }
}

/// Fields that a variant lacks are copied without a value. That is not a fault of the program.
#[test]
fn copies_of_variants_are_checked() {
    let scratch = ScratchFolder::new();
    for level in ["0", "1", "2", "3"] {
        let Some(file) = bitcode(&scratch, level) else {
            return;
        };
        for device in ["cpu", "cpu+san"] {
            let launch = ["run", &file, "--kernels", "variants", "--entry", "variants"];
            let sizes = ["--global", "4", "--device", device, "--arg", "4xf32"];
            let text = spirula(&[&launch[..], &sizes].concat()).ok().text();
            assert!(text.ends_with("\n  4 13 23 21\n"), "-O{level}: {text}");
        }
    }
}

#[test]
fn kernels_have_to_be_there() {
    let scratch = ScratchFolder::new();
    let text = "target triple = \"x86_64-unknown-linux-gnu\"\ndefine void @f() {\n  ret void\n}\n";
    let file = scratch.file("host.ll", text.as_bytes());
    let compiled = spirula(&["compile", &file, "--kernels", "g"]);
    compiled.fails(1, "the module has no function g");
    spirula(&["compile", &file]).fails(1, "which is not a SPIR-V target");
}

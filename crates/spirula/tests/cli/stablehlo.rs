//! Folders of StableHLO modules.

use crate::harness::{Scratch, spirula};

const READ: &str =
    "func.func private @f(%x: tensor<?xf32>) -> tensor<?xf32> {\n  return %x : tensor<?xf32>\n}\n";

fn lines(path: &str) -> Vec<String> {
    let text = spirula(&["test", path]).text();
    text.lines().map(str::to_owned).collect()
}

#[test]
fn modules_without_anything_to_run_are_read() {
    let scratch = Scratch::new();
    scratch.file("m/a.mlir", READ);
    scratch.file("m/b/two.mlir", format!("{READ}// -----\n{READ}"));
    scratch.file("m/b/broken.mlir", format!("{READ}// -----\nfunc.func @g("));
    scratch.file("m/b/note.txt", "no module");
    let told = lines(&scratch.text("m"));
    assert!(told[0].starts_with("FAILED m/b/broken.mlir: "), "{told:?}");
    assert_eq!(told[1..], ["2 passed, 1 failed, 0 unsupported"]);
}

#[test]
fn bytecode_is_told_apart() {
    let scratch = Scratch::new();
    scratch.file("m/a.mlirbc", b"ML\xefR\x0dStableHLO_v1.0.0\0");
    let told = lines(&scratch.text("m"));
    let missing = "UNSUPPORTED 1: the input is MLIR bytecode, which is not accepted: m/a.mlirbc";
    assert_eq!(told, [missing, "0 passed, 0 failed, 1 unsupported"]);
}

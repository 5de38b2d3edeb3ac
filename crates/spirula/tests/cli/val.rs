//! `spirula val`.

use crate::harness::spirula;

const SCALE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cli/scale.spvasm");

#[test]
fn valid_modules_are_silent() {
    let done = spirula(&["val", SCALE]).ok();
    assert_eq!(done.text(), "");
}

#[test]
fn faults_name_instruction_and_rule() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let file = folder.path().join("bad.spvasm");
    let text = std::fs::read_to_string(SCALE).expect("the test's module is there");
    let first = text
        .lines()
        .find(|l| l.contains("OpCapability"))
        .expect("it declares a capability");
    std::fs::write(&file, text.replacen(first, "", 1)).expect("the file can be written");
    spirula(&["val", file.to_str().expect("the path is UTF-8")]).fails(1, "rule 6");
}

#[test]
fn rules_are_explained() {
    let text = spirula(&["val", "--explain", "14"]).ok().text();
    assert!(
        text.starts_with("rule 14: control flow is structured\n"),
        "{text}"
    );
    assert_eq!(spirula(&["val", "--explain", "200"]).code, Some(1));
    assert_eq!(spirula(&["val"]).code, Some(2));
}

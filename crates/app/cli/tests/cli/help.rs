//! Help of the command.

use crate::harness::spirula;

#[test]
fn help_of_every_command() {
    for command in [
        "compile", "opt", "dis", "as", "val", "devices", "info", "link", "convert", "cfg",
        "reduce", "run", "test",
    ] {
        let help = spirula(&[command, "--help"]).ok().text();
        // The generated lists of passes and stages are left out.
        let lists = ["\nPasses:\n", "\nStages:\n"];
        let begin = lists.iter().filter_map(|list| help.find(list)).min();
        let help = &help[..begin.unwrap_or(help.len())];
        insta::assert_snapshot!(command, help);
    }
    insta::assert_snapshot!("spirula", spirula(&["--help"]).ok().text());
}

#[test]
fn wrong_usage_is_exit_code_2() {
    let wrong: &[&[&str]] = &[
        &[],
        &["frobnicate"],
        &["compile"],
        &["compile", "x", "--emit", "pdf"],
        &["compile", "x", "--target-env", "vulkan9"],
        &["run", "x", "--arg", "4xq32"],
        &["run", "x", "--global", "1,2,3,4"],
        &["run", "x", "--global", "4", "--groups", "4"],
        &["run", "x", "--threads", "0"],
        &["test"],
        &["dis", "x", "--raw-id", "--friendly-names"],
    ];
    for args in wrong {
        assert_eq!(spirula(args).code, Some(2), "{args:?}");
    }
}

#[test]
fn devices_are_listed() {
    let text = spirula(&["devices"]).ok().text();
    assert!(text.starts_with("cpu: "), "{text}");
    assert!(text.contains("subgroup size"), "{text}");
}

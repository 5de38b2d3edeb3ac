//! The rule of workflows: the forge's files are YAML, and call tasks, actions and a toolchain that are there.
//!
//! No forge runs here, so a misspelt task would be found by a release.

use anyhow::{Context, Result};
use std::fs;
use std::path::Path;
use yaml_rust2::{Yaml, YamlLoader};

/// The folder of the workflows.
const FOLDER: &str = ".github/workflows";

/// Names and versions that workflows may use.
pub struct WorkflowFacts<'a> {
    /// The names of the tasks.
    pub tasks: &'a [String],
    /// The oldest version of Rust, as the workspace states it.
    pub rust_version: &'a str,
}

/// Reports what is wrong in the workflows.
///
/// # Errors
/// When a file cannot be read.
pub fn check_workflows(
    root: &Path,
    facts: &WorkflowFacts,
    breaches: &mut Vec<String>,
) -> Result<()> {
    for entry in fs::read_dir(root.join(FOLDER)).with_context(|| FOLDER.to_owned())? {
        let path = entry?.path();
        let name = format!(
            "{FOLDER}/{}",
            path.file_name().unwrap_or_default().display()
        );
        let faults = find_faults(&fs::read_to_string(&path)?, facts);
        breaches.extend(faults.into_iter().map(|fault| format!("{name}: {fault}")));
    }
    Ok(())
}

fn find_faults(text: &str, facts: &WorkflowFacts) -> Vec<String> {
    let documents = match YamlLoader::load_from_str(text) {
        Ok(documents) => documents,
        Err(error) => return vec![format!("no YAML: {error}")],
    };
    let mut faults = Vec::new();
    for document in &documents {
        for key in ["on", "jobs", "permissions"] {
            if document[key].is_badvalue() {
                faults.push(format!("`{key}` is missing"));
            }
        }
        for_each_entry(document, &mut |key, value| match key {
            "uses" => faults.extend(find_action_fault(value)),
            "run" => faults.extend(find_task_faults(value, facts.tasks)),
            "toolchain" if value != facts.rust_version => {
                faults.push(format!(
                    "the toolchain is {value}, and `rust-version` {}",
                    facts.rust_version
                ));
            }
            _ => {}
        });
    }
    faults
}

/// Calls a function for each entry of the maps that has a text as its value.
fn for_each_entry(node: &Yaml, visit: &mut dyn FnMut(&str, &str)) {
    match node {
        Yaml::Array(items) => items.iter().for_each(|item| for_each_entry(item, visit)),
        Yaml::Hash(entries) => {
            for (key, value) in entries {
                if let (Some(key), Some(value)) = (key.as_str(), value.as_str()) {
                    visit(key, value);
                }
                for_each_entry(value, visit);
            }
        }
        _ => {}
    }
}

/// An action is named with its major version.
fn find_action_fault(action: &str) -> Option<String> {
    let version = action.split_once("@v").map(|(_, version)| version);
    let is_major = version.is_some_and(|v| !v.is_empty() && v.bytes().all(|b| b.is_ascii_digit()));
    (!is_major).then(|| format!("{action} has no major version"))
}

/// The calls of tasks that are not there.
fn find_task_faults(script: &str, tasks: &[String]) -> Vec<String> {
    let calls = script.split("cargo xtask").skip(1);
    let names = calls.map(|rest| rest.split_whitespace().next().unwrap_or(""));
    names
        .filter(|name| !tasks.iter().any(|task| task == name))
        .map(|name| format!("there is no task `cargo xtask {name}`"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(text: &str) -> Vec<String> {
        let tasks = ["test".to_owned(), "release".to_owned()];
        let facts = WorkflowFacts {
            tasks: &tasks,
            rust_version: "1.95",
        };
        find_faults(text, &facts)
    }

    #[test]
    fn a_right_workflow_has_no_faults() {
        let text = "on: push\npermissions: {}\njobs:\n  a:\n    steps:\n      - uses: x/y@v4\n        with:\n          toolchain: \"1.95\"\n      - run: cargo xtask test\n";
        assert!(find(text).is_empty(), "{:?}", find(text));
    }

    #[test]
    fn faults_are_found() {
        assert!(find("a: [b\n")[0].starts_with("no YAML"));
        let text = "on: push\njobs:\n  a:\n    steps:\n      - uses: x/y@main\n        with:\n          toolchain: \"1.80\"\n      - run: |\n          cargo xtask test\n          cargo xtask releese --target x\n";
        let faults = find(text);
        assert_eq!(
            faults,
            [
                "`permissions` is missing",
                "x/y@main has no major version",
                "the toolchain is 1.80, and `rust-version` 1.95",
                "there is no task `cargo xtask releese`",
            ]
        );
    }
}

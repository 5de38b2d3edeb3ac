//! The reference of the book is what the tables of the program say. `BLESS=1` renews it.

use crate::harness::spirula;
use crate::json_reference;
use spirula_opt::{AnalysisSet, PASSES, PassPipeline};
use spirula_spirv::target::SpirvTarget;
use spirula_spirv::verify::VerifyRule;
use spirula_testing::GoldenFiles;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// A page of the reference.
struct ReferencePage {
    file: &'static str,
    write: fn() -> String,
}

/// All pages.
const PAGES: &[ReferencePage] = &[
    ReferencePage {
        file: "command.md",
        write: write_commands,
    },
    ReferencePage {
        file: "passes.md",
        write: write_passes,
    },
    ReferencePage {
        file: "rules.md",
        write: write_rules,
    },
    ReferencePage {
        file: "environments.md",
        write: write_environments,
    },
    ReferencePage {
        file: "stablehlo.md",
        write: write_operations,
    },
    ReferencePage {
        file: "environment-variables.md",
        write: write_variables,
    },
    ReferencePage {
        file: "exit-codes.md",
        write: write_exit_codes,
    },
    ReferencePage {
        file: "json.md",
        write: json_reference::write_page,
    },
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..")
}

#[test]
fn reference_is_current() {
    let folder = root().join("docs/reference");
    let mut expected = GoldenFiles::new();
    for page in PAGES {
        expected.compare_file(&folder.join(page.file), &(page.write)());
    }
    expected.finish_comparison();
    let pages = std::fs::read_dir(&folder).expect("the reference");
    let files = pages.map(|page| page.expect("a page").file_name());
    let known = |file: &std::ffi::OsString| PAGES.iter().any(|page| file == page.file);
    let foreign: Vec<_> = files.filter(|file| !known(file)).collect();
    assert!(foreign.is_empty(), "no table writes {foreign:?}");
}

/// The beginning of a page.
pub fn begin_page(title: &str, about: &str) -> String {
    format!(
        "# {title}\n\n<!-- Written by crates/app/cli/tests/cli/reference.rs with BLESS=1; do not edit. -->\n\n{about}\n"
    )
}

/// A text for a cell of a table.
pub fn escape_cell(text: &str) -> String {
    text.replace('|', "\\|").replace('<', "&lt;")
}

/// The help of a command, or of all.
fn read_help(arguments: &[&str]) -> String {
    spirula(arguments).ok().text()
}

/// The names of the commands in the help.
fn list_commands(help: &str) -> Vec<String> {
    let rows = help.lines().skip_while(|line| *line != "Commands:");
    rows.skip(1)
        .map_while(|line| line.split_whitespace().next())
        .filter(|name| *name != "help")
        .map(str::to_owned)
        .collect()
}

fn write_commands() -> String {
    let about = "The help of each command, as `spirula help COMMAND` prints it. [The command](../command.md) has examples.";
    let mut page = begin_page("Commands", about);
    let help = read_help(&["--help"]);
    write!(page, "\n```text\n{}\n```\n", help.trim_end()).expect("a string");
    for name in list_commands(&help) {
        let help = read_help(&["help", &name]);
        // The passes have a page of their own.
        let help = help.split("\nPasses:\n").next().unwrap_or_default();
        write!(
            page,
            "\n## spirula {name}\n\n```text\n{}\n```\n",
            help.trim_end()
        )
        .expect("a string");
    }
    page
}

/// Names of sets of analyses.
const ANALYSES: &[(AnalysisSet, &str)] = &[
    (AnalysisSet::FLOW, "flow"),
    (AnalysisSet::DEFINITIONS, "definitions"),
    (AnalysisSet::CALLS, "calls"),
    (AnalysisSet::FACTS, "facts"),
];

fn write_passes() -> String {
    let about = "The passes of `spirula opt --passes NAMES`. A pass keeps the analyses that are named; after a change, the others are computed again. \
        [The optimiser](../optimiser.md) maps the options of `spirv-opt` to passes.";
    let mut page = begin_page("Passes", about);
    page += "\n| Pass | Effect | Keeps |\n| --- | --- | --- |\n";
    for pass in PASSES {
        let argument = pass.required_argument();
        let argument = argument.map_or_else(String::new, |argument| format!("={}", argument.form));
        let kept: Vec<_> = ANALYSES
            .iter()
            .filter(|(set, _)| pass.keeps.contains(*set))
            .map(|(_, name)| *name)
            .collect();
        writeln!(
            page,
            "| `{}{argument}` | {} | {} |",
            pass.name,
            escape_cell(pass.help),
            kept.join(", ")
        )
        .expect("a string");
    }
    page += "\n## Presets\n\nA preset stands for passes and other presets. `-O2` is short for `--passes O2`.\n\n\
        | Preset | Passes |\n| --- | --- |\n";
    for (name, passes) in PassPipeline::presets() {
        let passes = passes.replace(',', ", ");
        writeln!(page, "| `{name}` | {passes} |").expect("a string");
    }
    page
}

fn write_rules() -> String {
    let about = "The rules that `spirula val` checks. Each message names its rule, and `spirula val --explain NUMBER` prints it. Sections are those of the \
        SPIR-V specification. The examples are modules of the tests, each with the message about it.";
    let mut page = begin_page("Rules of the verifier", about);
    let tests = root().join("crates/core/spirv/tests/verify");
    let mut messages: Vec<String> = std::fs::read_dir(&tests)
        .expect("the tests of the verifier")
        .map(|file| {
            file.expect("a file")
                .file_name()
                .to_string_lossy()
                .into_owned()
        })
        .filter(|name| name.ends_with(".txt"))
        .collect();
    messages.sort();
    for rule in VerifyRule::ALL {
        write!(
            page,
            "\n## Rule {}: {}\n\n{}\n\n",
            rule.number(),
            rule.title(),
            rule.text()
        )
        .expect("a string");
        let prefix = format!("{:02}-", rule.number());
        for name in messages.iter().filter(|name| name.starts_with(&prefix)) {
            let message = std::fs::read_to_string(tests.join(name)).expect("a message");
            let first = message.lines().next().unwrap_or_default();
            let first = first
                .split_once("): ")
                .map_or(first, |(_, message)| message);
            let first = first
                .split(" [rule ")
                .next()
                .unwrap_or_default()
                .replace('`', "'");
            let module = name.replace(".txt", ".spvasm");
            let title = module.trim_end_matches(".spvasm").replacen(&prefix, "", 1);
            writeln!(
                page,
                "- [{}](../../crates/core/spirv/tests/verify/{module}): `{first}`",
                title.replace('-', " ")
            )
            .expect("a string");
        }
    }
    page
}

fn write_environments() -> String {
    let about = "The environments of `--target-env`. A module for an environment has at most its version of SPIR-V. `compile` also chooses the form by it: \
        a kernel becomes a compute shader for Vulkan.";
    let mut page = begin_page("Target environments", about);
    page += "\n| Name | Consumer | Newest SPIR-V |\n| --- | --- | --- |\n";
    for name in SpirvTarget::names() {
        let target: SpirvTarget = name.parse().expect("names are targets");
        let consumer = match target.environment {
            spirula_spirv::target::TargetEnvironment::Universal => "any".to_owned(),
            spirula_spirv::target::TargetEnvironment::OpenCl(major, minor) => {
                format!("OpenCL {major}.{minor}")
            }
            spirula_spirv::target::TargetEnvironment::Vulkan(major, minor) => {
                format!("Vulkan {major}.{minor}")
            }
        };
        writeln!(page, "| `{name}` | {consumer} | {} |", target.version).expect("a string");
    }
    page
}

fn write_operations() -> String {
    let about = "The operations of MLIR that the reader of StableHLO knows. The numbers are those of operands, results and regions: `1+` is one or more, `1?` one \
        or none, `*` any. An operation that is not translated is read and verified, and refused by name when a program with it is compiled. Functions, \
        returns and what surrounds them are handled apart.";
    let mut page = begin_page("Operations of StableHLO", about);
    page += "\n| Operation | Numbers | Attributes | Translated |\n| --- | --- | --- | --- |\n";
    for operation in spirula_stablehlo::list_operations() {
        let translated = if operation.is_translated { "yes" } else { "" };
        let attributes: Vec<_> = operation
            .attributes
            .iter()
            .map(|name| format!("`{name}`"))
            .collect();
        writeln!(
            page,
            "| `{}` | {} | {} | {translated} |",
            operation.name,
            operation.signature.replace('*', "\\*"),
            attributes.join(", ")
        )
        .expect("a string");
    }
    page
}

/// The rows under a title of the help.
fn read_help_rows(title: &str) -> Vec<(String, String)> {
    let help = read_help(&["--help"]);
    let rows = help
        .lines()
        .skip_while(|line| line.trim_end() != title)
        .skip(1);
    rows.take_while(|line| !line.is_empty())
        .map(|line| {
            let (name, meaning) = line.trim_start().split_once("  ").expect("two columns");
            (name.to_owned(), meaning.trim().to_owned())
        })
        .collect()
}

fn write_variables() -> String {
    let about = "The variables that Spirula reads, and the parts that read them. `spirula --help` lists them, too.";
    let mut page = begin_page("Environment variables", about);
    page += "\n| Variable | Meaning | Read by |\n| --- | --- | --- |\n";
    for (name, text) in read_help_rows("Environment variables:") {
        let (meaning, reader) = text.rsplit_once(" (").expect("a reader");
        writeln!(
            page,
            "| `{name}` | {meaning} | {} |",
            reader.trim_end_matches(')')
        )
        .expect("a string");
    }
    page
}

fn write_exit_codes() -> String {
    let about = "The exit codes of the command. Called by the name of a program of SPIRV-Tools, it ends with 1 for each failure.";
    let mut page = begin_page("Exit codes", about);
    page += "\n| Code | Meaning |\n| --- | --- |\n";
    for (code, meaning) in read_help_rows("Exit codes:") {
        writeln!(page, "| {code} | {meaning} |").expect("a string");
    }
    page
}

/// Variables of builds and tests.
const INTERNAL: &[&str] = &["SPIRULA_COMMIT", "SPIRULA_TARGET"];

/// Collects the environment variables that sources in a folder name.
fn collect_variables(folder: &Path, found: &mut BTreeSet<String>) {
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().expect("a name").to_string_lossy();
        if path.is_dir() {
            if !matches!(
                &*name,
                "tests" | "examples" | "target" | "test" | "suite" | "node_modules"
            ) {
                collect_variables(&path, found);
            }
            continue;
        }
        if !name.ends_with(".rs") && !name.ends_with(".py") || name.starts_with("test_") {
            continue;
        }
        let text = std::fs::read_to_string(&path).expect("a source");
        for part in text.split('"').filter(|part| part.starts_with("SPIRULA_")) {
            if part.chars().all(|c| c.is_ascii_uppercase() || c == '_') {
                found.insert(part.to_owned());
            }
        }
    }
}

#[test]
fn every_variable_is_described() {
    let mut found = BTreeSet::new();
    collect_variables(&root().join("crates"), &mut found);
    let described: BTreeSet<String> = read_help_rows("Environment variables:")
        .into_iter()
        .map(|(name, _)| name)
        .collect();
    let missing: Vec<_> = found
        .iter()
        .filter(|name| !described.contains(*name))
        .filter(|name| !INTERNAL.contains(&name.as_str()) && !name.starts_with("SPIRULA_TEST_"))
        .collect();
    assert!(missing.is_empty(), "the help lacks {missing:?}");
    let unknown: Vec<_> = described
        .iter()
        .filter(|name| name.starts_with("SPIRULA_") && !found.contains(*name))
        .collect();
    assert!(unknown.is_empty(), "nothing reads {unknown:?}");
}

//! Tests of Futhark sources: names, tags, data sets and files of their cases.

use super::cases::{
    FutharkCase, FutharkCaseInput, FutharkExpectation, FutharkTestBlocks, TestDataSource,
    make_malformed_case, parse_test_blocks,
};
use super::printed::PrintedProgramSource;
use crate::test::TestOutcome;
use spirula_program::ProgramValue;
use std::fs;
use std::path::{Path, PathBuf};

/// Prefix of the script functions that read files.
const LOAD: &str = "$load";

/// The tag of cases that are not tested.
const NOT_TESTED: &str = "notest";

/// The tag of cases that are not measured.
const NOT_MEASURED: &str = "nobench";

/// The tag of cases that are neither.
const DISABLED: &str = "disable";

/// The name by which tags include and exclude this compiler (`only_vulkan`, `no_vulkan`).
const BACKEND: &str = "vulkan";

/// A test: a case of a source.
pub struct FutharkTest {
    /// Name of the test.
    pub name: String,
    /// Whether the test is from a list, whose files of values may be missing.
    is_listed: bool,
    /// The source, as the list names it.
    pub source: String,
    /// Name of the data set in measurements.
    pub dataset: String,
    /// Origin of the printed form.
    pub printed: PrintedProgramSource,
    /// The source's file.
    pub path: PathBuf,
    /// The folder of the source.
    pub beside: PathBuf,
    /// The case.
    pub case: FutharkCase,
}

impl FutharkTest {
    /// Whether the case is tested.
    pub fn is_tested(&self) -> bool {
        !has_tag(&self.case, NOT_TESTED)
    }

    /// Whether the program is run.
    pub fn needs_program(&self) -> bool {
        !matches!(
            self.case.expect,
            FutharkExpectation::Refusal(_)
                | FutharkExpectation::Warning(_)
                | FutharkExpectation::Compilation
                | FutharkExpectation::Malformed(_)
        )
    }

    /// Whether the test is listed and lacks files. A list may lack large files.
    pub fn is_left_out(&self) -> bool {
        self.is_listed && missing_file(&self.case, &self.beside).is_some()
    }

    /// Whether the case is measured. One that is malformed would be.
    pub fn is_measured(&self) -> bool {
        let returns = matches!(
            self.case.expect,
            FutharkExpectation::Anything
                | FutharkExpectation::Values(_)
                | FutharkExpectation::Trusted
                | FutharkExpectation::Malformed(_)
        );
        returns && !has_tag(&self.case, NOT_MEASURED)
    }

    /// Fails where the case is malformed, or a file of it is missing.
    pub fn find_files(&self) -> Result<(), TestOutcome> {
        if let FutharkExpectation::Malformed(reason) = &self.case.expect {
            return Err(TestOutcome::failed(reason));
        }
        match missing_file(&self.case, &self.beside) {
            None => Ok(()),
            Some(name) => {
                let path = self.beside.join(name);
                Err(TestOutcome::failed(format!(
                    "there is no file {}",
                    path.display()
                )))
            }
        }
    }
}

/// The tests of a source.
#[derive(Default)]
pub struct SourceTests {
    /// The tests.
    pub tests: Vec<FutharkTest>,
    /// Number of specifications that are passed over: those of structure, and those of warnings about a printed form.
    pub passed_over: usize,
    /// Whether it has test blocks.
    pub has_blocks: bool,
}

/// The tests of a source. Cases of an entry point are counted from 0. A source with a malformed block has one test, which fails.
pub fn tests_in(
    source: &Path,
    name: &str,
    printed: &PrintedProgramSource,
) -> Result<SourceTests, String> {
    let text = fs::read(source).map_err(|e| format!("cannot read {}: {e}", source.display()))?;
    let beside = source.parent().unwrap_or(source);
    let is_listed = matches!(printed, PrintedProgramSource::File(_));
    let mut tests: Vec<FutharkTest> = Vec::new();
    let blocks = parse_test_blocks(&String::from_utf8_lossy(&text));
    let blocks = blocks.unwrap_or_else(|fault| FutharkTestBlocks {
        cases: vec![make_malformed_case(format!(
            "{}: {fault}",
            source.display()
        ))],
        count: 1,
        ..FutharkTestBlocks::default()
    });
    if !is_meant(&blocks.tags) {
        return Ok(SourceTests {
            has_blocks: true,
            ..SourceTests::default()
        });
    }
    let mut passed_over = blocks.structures;
    for case in blocks.cases {
        if !is_meant(&case.tags) {
            continue;
        }
        if is_listed && matches!(case.expect, FutharkExpectation::Warning(_)) {
            passed_over += 1;
            continue;
        }
        let is_tested = !has_tag(&case, NOT_TESTED);
        let same = tests
            .iter()
            .filter(|t| t.case.entry == case.entry && has_tag(&t.case, NOT_TESTED) != is_tested);
        let number = same.count();
        let kind = if is_tested { "" } else { "notest:" };
        tests.push(FutharkTest {
            name: format!("{name}:{}:{kind}{number}", case.entry),
            is_listed,
            source: name.to_owned(),
            dataset: format_dataset_name(&case),
            printed: printed.clone(),
            path: source.to_owned(),
            beside: beside.to_owned(),
            case,
        });
    }
    Ok(SourceTests {
        tests,
        passed_over,
        has_blocks: blocks.count > 0,
    })
}

fn has_tag(case: &FutharkCase, tag: &str) -> bool {
    case.tags.iter().any(|t| t == tag)
}

/// The name of a data set, as in `futhark bench`: its own name, its file, or its number in the block with the beginning
/// of its values.
fn format_dataset_name(case: &FutharkCase) -> String {
    const MOST: usize = 50;
    if let Some(name) = &case.name {
        return name.clone();
    }
    let one_line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let text = match &case.input {
        FutharkCaseInput::Values(TestDataSource::File(file)) => {
            return file.strip_suffix(".gz").unwrap_or(file).to_owned();
        }
        FutharkCaseInput::Script(TestDataSource::File(file)) => return file.clone(),
        FutharkCaseInput::Script(TestDataSource::Text(text)) | FutharkCaseInput::Random(text) => {
            return one_line(text);
        }
        FutharkCaseInput::Values(TestDataSource::Text(text)) => {
            match ProgramValue::read_all(text.as_bytes()) {
                Ok(values) => {
                    let values: Vec<String> = values.iter().map(ProgramValue::to_string).collect();
                    values.join(" ")
                }
                Err(_) => one_line(text),
            }
        }
        FutharkCaseInput::Nothing | FutharkCaseInput::Candidates => String::new(),
    };
    let number = case.number;
    let dots = if text.chars().count() > MOST {
        "..."
    } else {
        ""
    };
    let text: String = text.chars().take(MOST).collect();
    format!("#{number} (\"{text}{dots}\")")
}

/// Whether tags allow a case for this compiler.
fn is_meant(tags: &[String]) -> bool {
    tags.iter().all(|tag| match tag.split_once('_') {
        Some(("only", backend)) => backend == BACKEND,
        Some(("no", backend)) => backend != BACKEND,
        _ => tag != DISABLED,
    })
}

/// The first missing file of a case.
fn missing_file(case: &FutharkCase, beside: &Path) -> Option<String> {
    let mut needed: Vec<&str> = Vec::new();
    let sources = [
        match &case.input {
            FutharkCaseInput::Values(source) | FutharkCaseInput::Script(source) => Some(source),
            FutharkCaseInput::Random(_)
            | FutharkCaseInput::Nothing
            | FutharkCaseInput::Candidates => None,
        },
        match &case.expect {
            FutharkExpectation::Values(source) => Some(source),
            _ => None,
        },
    ];
    needed.extend(
        sources
            .into_iter()
            .flatten()
            .filter_map(|source| match source {
                TestDataSource::File(name) => Some(name.as_str()),
                TestDataSource::Text(_) => None,
            }),
    );
    if let FutharkCaseInput::Script(TestDataSource::Text(script)) = &case.input {
        let loads = script.split(LOAD).skip(1);
        needed.extend(loads.filter_map(|s| s.split('"').nth(1)));
    }
    let missing = needed.into_iter().find(|name| !beside.join(name).is_file());
    missing.map(str::to_owned)
}

//! Reports of test runs.

use super::{TestCase, TestOutcome};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

/// Number of shown tests for each missing feature.
const SHOWN: usize = 3;

/// The outcomes of a run.
#[derive(Debug, Serialize)]
pub struct TestReport {
    /// Device on which the tests ran.
    device: String,
    /// Tests that passed.
    passed: usize,
    /// Tests that failed.
    failed: usize,
    /// Tests that need something that is missing.
    unsupported: usize,
    /// Tests that only read a module.
    read: usize,
    /// Each test.
    tests: Vec<TestReportRow>,
}

#[derive(Debug, Serialize)]
struct TestReportRow {
    id: String,
    /// Its folder, or its file.
    path: PathBuf,
    #[serde(flatten)]
    outcome: TestOutcome,
    seconds: f64,
}

impl TestReport {
    /// The report of tests and their outcomes, in the same order.
    pub fn new(device: &str, cases: Vec<TestCase>, outcomes: Vec<(TestOutcome, Duration)>) -> Self {
        let rows = cases.into_iter().zip(outcomes);
        let tests: Vec<TestReportRow> = rows
            .map(|(case, (outcome, time))| TestReportRow {
                id: case.id,
                path: case.folder,
                outcome,
                seconds: time.as_secs_f64(),
            })
            .collect();
        let count = |f: fn(&TestOutcome) -> bool| tests.iter().filter(|t| f(&t.outcome)).count();
        TestReport {
            device: device.to_owned(),
            passed: count(|o| matches!(o, TestOutcome::Passed(_))),
            failed: count(|o| matches!(o, TestOutcome::Failed(_))),
            unsupported: count(|o| matches!(o, TestOutcome::Unsupported(_))),
            read: count(|o| matches!(o, TestOutcome::Read)),
            tests,
        }
    }

    /// Whether any test failed.
    pub fn has_failures(&self) -> bool {
        self.failed > 0
    }

    /// Whether modules were read and nothing else was tested.
    pub fn proves_nothing(&self) -> bool {
        self.read > 0 && self.passed + self.failed + self.unsupported == 0
    }

    /// Unsupported tests that a list does not allow.
    pub fn not_allowed<'a>(&'a self, list: &'a AllowList) -> impl Iterator<Item = &'a str> {
        let unsupported = self
            .tests
            .iter()
            .filter(|t| matches!(t.outcome, TestOutcome::Unsupported(_)));
        unsupported
            .map(|t| t.id.as_str())
            .filter(|id| !list.ids.contains_key(*id))
    }

    /// Tests that passed although a list calls them unsupported.
    pub fn find_outdated_entries<'a>(
        &'a self,
        list: &'a AllowList,
    ) -> impl Iterator<Item = &'a str> {
        let passed = self
            .tests
            .iter()
            .filter(|t| matches!(t.outcome, TestOutcome::Passed(_)));
        passed
            .map(|t| t.id.as_str())
            .filter(|id| list.ids.contains_key(*id))
    }
}

/// Prints failures with their reasons, missing features with their numbers of tests, and the totals in the last line.
impl fmt::Display for TestReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut missing: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for test in &self.tests {
            match &test.outcome {
                TestOutcome::Passed(None) | TestOutcome::Read => {}
                TestOutcome::Passed(Some(remark)) => {
                    writeln!(f, "REMARK {}: {remark}", test.id)?;
                }
                TestOutcome::Failed(reason) => writeln!(f, "FAILED {}: {reason}", test.id)?,
                TestOutcome::Unsupported(what) => missing.entry(what).or_default().push(&test.id),
            }
        }
        // The most frequent missing feature comes last, where it is seen.
        let mut missing: Vec<_> = missing.into_iter().collect();
        missing.sort_by_key(|(_, ids)| ids.len());
        for (what, ids) in missing {
            let (count, shown) = (ids.len(), ids[..ids.len().min(SHOWN)].join(" "));
            write!(f, "UNSUPPORTED {count}: {what}: {shown}")?;
            match ids.len().saturating_sub(SHOWN) {
                0 => writeln!(f)?,
                more => writeln!(f, " and {more} more")?,
            }
        }
        let TestReport {
            passed,
            failed,
            unsupported,
            read,
            ..
        } = self;
        write!(
            f,
            "{passed} passed, {failed} failed, {unsupported} unsupported"
        )?;
        match read {
            0 => writeln!(f),
            read => writeln!(f, ", {read} only read"),
        }
    }
}

/// List of tests that may be unsupported. Each line has an id, a tab and the reason. Empty lines and lines that begin
/// with `#` are ignored.
#[derive(Debug, Default)]
pub struct AllowList {
    ids: BTreeMap<String, String>,
}

impl AllowList {
    /// Parses a list.
    ///
    /// # Errors
    /// When a line has no reason.
    pub fn parse_allow_list(text: &str) -> Result<AllowList, String> {
        let mut ids = BTreeMap::new();
        for (number, line) in text.lines().enumerate() {
            if line.trim().is_empty() || line.starts_with('#') {
                continue;
            }
            match line.split_once('\t') {
                Some((id, reason)) if !reason.trim().is_empty() => {
                    ids.insert(id.trim().to_owned(), reason.trim().to_owned());
                }
                _ => {
                    return Err(format!(
                        "line {} has no tab and reason after the test",
                        number + 1
                    ));
                }
            }
        }
        Ok(AllowList { ids })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn make_sample_report() -> TestReport {
        let case = |name: &str| TestCase {
            id: format!("d/{name}"),
            folder: "d".into(),
            name: name.to_owned(),
        };
        let outcomes = [
            TestOutcome::Passed(None),
            TestOutcome::failed("wrong"),
            TestOutcome::unsupported("OpFoo"),
        ];
        let outcomes = outcomes.map(|o| (o, Duration::ZERO)).to_vec();
        TestReport::new("cpu", ["a", "b", "c"].map(case).to_vec(), outcomes)
    }

    #[test]
    fn last_line_has_the_numbers() {
        let text = make_sample_report().to_string();
        let want =
            "FAILED d/b: wrong\nUNSUPPORTED 1: OpFoo: d/c\n1 passed, 1 failed, 1 unsupported\n";
        assert_eq!(text, want);
    }

    #[test]
    fn only_listed_tests_may_be_unsupported() {
        let report = make_sample_report();
        let list = AllowList::parse_allow_list("# why\nd/c\tno foo here\nd/a\told\n").unwrap();
        assert_eq!(report.not_allowed(&list).count(), 0);
        assert_eq!(
            report.find_outdated_entries(&list).collect::<Vec<_>>(),
            ["d/a"]
        );
        assert_eq!(
            report
                .not_allowed(&AllowList::default())
                .collect::<Vec<_>>(),
            ["d/c"]
        );
        assert!(AllowList::parse_allow_list("d/c\n").is_err());
    }

    #[test]
    fn json_has_each_test() {
        let json = serde_json::to_value(make_sample_report()).unwrap();
        assert_eq!(json["failed"], 1);
        assert_eq!(json["tests"][1]["outcome"], "failed");
        assert_eq!(json["tests"][1]["reason"], "wrong");
        assert_eq!(json["tests"][0]["outcome"], "passed");
    }
}

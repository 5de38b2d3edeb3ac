//! Discovery of tests in folders.

use super::{KINDS, MANIFEST, SuiteResult, TestOutcome, TestSuite};
use crate::cli::failure::report_line;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Note about tests whose files are missing.
const LEFT_OUT: &str = "tests left out, because their files of values are missing";
/// Note about modules without expected results.
const ONLY_READ: &str = "modules only read, because no results are expected";

/// Note about specifications that are passed over.
const PASSED_OVER: &str = "specifications passed over (structure: nodes of another compiler; warning: no source to check)";

/// A discovered test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestCase {
    /// Name of its folder, a slash, and its name there.
    pub id: String,
    /// Its folder.
    pub folder: PathBuf,
    /// Its name in the folder.
    pub name: String,
}

/// Loads a folder as the first kind that accepts it; `None` when none does. The Boolean states whether the suite
/// includes subfolders.
fn load_suite(folder: &Path) -> Option<(SuiteResult, bool)> {
    let loaded = KINDS.iter().find_map(|kind| {
        let loaded = (kind.load)(folder)?;
        let loaded = loaded.map_err(|e| format!("{}: {}: {e}", folder.display(), kind.name));
        Some((loaded, kind.claims_below))
    });
    loaded.or_else(|| {
        let claims = folder.join(MANIFEST).is_file();
        claims.then(|| {
            let text = format!("{}: its {MANIFEST} is of no known kind", folder.display());
            (Err(text), true)
        })
    })
}

/// Selects the names of a suite: [`TestSuite::test_names`] or [`TestSuite::workload_names`].
pub type TestSelector = fn(&dyn TestSuite) -> Vec<String>;

/// Discovers all tests in and below a path, in order. A manifest describes all tests in and below its folder.
///
/// # Errors
/// When the path cannot be read, or a manifest is malformed or of no known kind.
fn discover_tests(path: &Path, names: TestSelector) -> Result<Vec<TestCase>, String> {
    let folder = match path.file_name() {
        Some(name) if name == MANIFEST => path.parent().unwrap_or(path),
        _ => path,
    };
    let mut cases = Vec::new();
    search_folder(folder, names, &mut cases)?;
    Ok(cases)
}

/// Selects the tests of several paths whose names contain a text: at most `limit`, evenly spread. One of several paths
/// may have no tests.
///
/// # Errors
/// When discovery fails, or no test is left.
pub fn select_tests(
    paths: &[PathBuf],
    names: TestSelector,
    filter: Option<&str>,
    limit: Option<usize>,
) -> Result<Vec<TestCase>, String> {
    let mut cases = Vec::new();
    for path in paths {
        let found = discover_tests(path, names)?;
        if found.is_empty() {
            let text = format!("there are no tests in {}", path.display());
            if paths.len() == 1 {
                return Err(text);
            }
            report_line("note", &text, None);
        }
        cases.extend(found);
    }
    if let Some(part) = filter {
        cases.retain(|case| case.id.contains(part));
        if cases.is_empty() {
            return Err(format!("no test has {part:?} in its name"));
        }
    }
    Ok(match limit {
        Some(most) => sample_evenly(&cases, most),
        None => cases,
    })
}

/// Prints a note about a number of tests of a folder.
fn note_tests(title: &str, count: usize, how: &str) {
    if count > 0 {
        report_line("note", &format!("{title}: {how}: {count}"), None);
    }
}

fn search_folder(
    folder: &Path,
    names: TestSelector,
    cases: &mut Vec<TestCase>,
) -> Result<(), String> {
    if let Some((suite, claims_below)) = load_suite(folder) {
        let whole = fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
        let title = whole
            .file_name()
            .map_or_else(String::new, |n| n.to_string_lossy().into_owned());
        let suite = suite?;
        note_tests(&title, suite.left_out(), LEFT_OUT);
        note_tests(&title, suite.only_read(), ONLY_READ);
        note_tests(&title, suite.passed_over(), PASSED_OVER);
        cases.extend(names(&*suite).into_iter().map(|name| TestCase {
            id: format!("{title}/{name}"),
            folder: folder.to_owned(),
            name,
        }));
        if claims_below || !folder.is_dir() {
            return Ok(());
        }
    }
    if folder.is_file() {
        let text = "is not a source with tests (.fut, .mlir), nor a folder of tests";
        return Err(format!("{} {text}", folder.display()));
    }
    let unreadable = |e: std::io::Error| format!("cannot read {}: {e}", folder.display());
    let entries = fs::read_dir(folder).map_err(unreadable)?;
    let mut folders = Vec::new();
    for entry in entries {
        let entry = entry.map_err(unreadable)?;
        // Links are not followed, since they may form a cycle.
        if entry.file_type().map_err(unreadable)?.is_dir() {
            folders.push(entry.path());
        }
    }
    folders.sort();
    folders
        .iter()
        .try_for_each(|folder| search_folder(folder, names, cases))
}

/// Cache of test folders. Each is loaded when it is first requested.
#[derive(Default)]
pub struct SuiteCache {
    loaded: BTreeMap<PathBuf, Box<dyn TestSuite>>,
}

impl SuiteCache {
    /// The suite of a folder.
    ///
    /// # Errors
    /// When the folder has no tests, or its description is malformed.
    pub fn suite_for_folder(&mut self, folder: &Path) -> Result<&dyn TestSuite, TestOutcome> {
        if !self.loaded.contains_key(folder) {
            let suite =
                load_suite(folder).ok_or_else(|| TestOutcome::failed("no folder of tests"))?;
            let (suite, _) = suite;
            let suite = suite.map_err(TestOutcome::failed)?;
            self.loaded.insert(folder.to_owned(), suite);
        }
        Ok(&*self.loaded[folder])
    }
}

/// Selects at most `most` of the items, evenly spread.
pub fn sample_evenly<T: Clone>(items: &[T], most: usize) -> Vec<T> {
    let n = most.min(items.len());
    (0..n).map(|i| items[i * items.len() / n].clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spread_takes_evenly() {
        assert_eq!(sample_evenly(&[0, 1, 2, 3, 4, 5, 6], 3), [0, 2, 4]);
        assert_eq!(sample_evenly(&[0, 1], 5), [0, 1]);
        assert_eq!(sample_evenly(&[0, 1], 0), [0; 0]);
    }
}

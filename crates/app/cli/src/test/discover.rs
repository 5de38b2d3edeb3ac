//! Finding tests in folders.

use super::{KINDS, MANIFEST, SuiteResult, TestOutcome, TestSuite};
use crate::cli::failure::tell_line;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// How tests without their files are told.
const LEFT_OUT: &str = "tests left out, as their files of values are not there";
/// How modules without expectations are told.
const ONLY_READ: &str = "modules only read, as nothing says what they give";

/// A test that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestCase {
    /// What it is called: the name of its folder, a slash, and its name there.
    pub id: String,
    /// The folder that has it.
    pub folder: PathBuf,
    /// Its name there.
    pub name: String,
}

/// Loads a folder as the first kind that takes it, and whether that has the folders below, too;
/// `None` when none does.
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

/// Which names of a folder are wanted: [`TestSuite::test_names`] or [`TestSuite::workload_names`].
pub type TestSelector = fn(&dyn TestSuite) -> Vec<String>;

/// All tests in and below a path, in order. A folder with a manifest is claimed by it: nothing else
/// in or below it is a test.
///
/// # Errors
/// When the path cannot be read, a manifest is malformed or of no known kind, or there is no test.
fn discover_tests(path: &Path, names: TestSelector) -> Result<Vec<TestCase>, String> {
    let folder = match path.file_name() {
        Some(name) if name == MANIFEST => path.parent().unwrap_or(path),
        _ => path,
    };
    let mut cases = Vec::new();
    search_folder(folder, names, &mut cases)?;
    if cases.is_empty() {
        return Err(format!("there are no tests in {}", path.display()));
    }
    Ok(cases)
}

/// The tests of several paths, those with a text in their names, at most so many and evenly spread.
///
/// # Errors
/// As [`discover_tests`], and when nothing is left.
pub fn select_tests(
    paths: &[PathBuf],
    names: TestSelector,
    filter: Option<&str>,
    limit: Option<usize>,
) -> Result<Vec<TestCase>, String> {
    let mut cases = Vec::new();
    for path in paths {
        cases.extend(discover_tests(path, names)?);
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

/// Says how many tests of a folder are not what they seem, and how.
fn note_tests(title: &str, count: usize, how: &str) {
    if count > 0 {
        tell_line("note", &format!("{title}: {how}: {count}"), None);
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
        let text = "is no source with tests (.fut, .mlir), nor a folder of tests";
        return Err(format!("{} {text}", folder.display()));
    }
    let unreadable = |e: std::io::Error| format!("cannot read {}: {e}", folder.display());
    let entries = fs::read_dir(folder).map_err(unreadable)?;
    let mut folders = Vec::new();
    for entry in entries {
        let entry = entry.map_err(unreadable)?;
        // Links are not followed: they may lead back.
        if entry.file_type().map_err(unreadable)?.is_dir() {
            folders.push(entry.path());
        }
    }
    folders.sort();
    folders
        .iter()
        .try_for_each(|folder| search_folder(folder, names, cases))
}

/// Folders of tests, each loaded when it is first asked for.
#[derive(Default)]
pub struct SuiteCache {
    loaded: BTreeMap<PathBuf, Box<dyn TestSuite>>,
}

impl SuiteCache {
    /// The tests of a folder.
    ///
    /// # Errors
    /// When it has none, or its description is malformed.
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

/// At most `most` of the items, evenly spread.
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

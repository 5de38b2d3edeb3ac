//! The corpus: what must be accepted is, and is read back from its text, but for the programs that are listed.

use super::typed_text::{LOST, find_difference};
use spirula_futhark::compile::check_source;
use std::fs;
use std::sync::Mutex;

/// The lists of programs, and the beginning of the paths in each.
const LISTS: &[(&str, &str)] = &[("tests.tsv", ""), ("benchmarks.tsv", "benchmarks/")];

/// Programs that must be accepted and are not.
const REFUSED: &[&str] = &[];

#[test]
fn valid_programs_of_the_corpus_are_accepted_and_read_back() {
    let Some(folder) = spirula_testing::find_corpus("futhark") else {
        return;
    };
    let mut paths = Vec::new();
    for (list, programs) in LISTS {
        let table = fs::read_to_string(folder.join(list)).expect("the list of programs");
        for line in table.lines().skip(1) {
            let mut columns = line.split('\t');
            let path = columns.next().expect("a path");
            if !matches!(columns.next(), Some("error" | "property")) {
                paths.push(format!("{programs}{path}"));
            }
        }
    }
    let queue = Mutex::new(paths.iter());
    let faults = Mutex::new(Vec::new());
    let lost = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let Some(path) = queue.lock().expect("no panic").next() else {
                        break;
                    };
                    let main = folder.join(path).display().to_string();
                    let mut read =
                        |file: &str| fs::read_to_string(file).map_err(|error| error.to_string());
                    match check_source(&main, &mut read) {
                        Ok(checked) => {
                            if let Err(difference) = find_difference(&checked) {
                                lost.lock().expect("no panic").push((path, difference));
                            }
                        }
                        Err(found) => {
                            let found = found[0].to_string();
                            faults.lock().expect("no panic").push((path, found));
                        }
                    }
                }
            });
        }
    });
    let mut faults = faults.into_inner().expect("no panic");
    faults.sort();
    let names: Vec<_> = faults.iter().map(|(path, _)| path.as_str()).collect();
    assert_eq!(names, REFUSED, "of {} programs:\n{faults:#?}", paths.len());
    let mut lost = lost.into_inner().expect("no panic");
    lost.sort();
    let names: Vec<_> = lost.iter().map(|(path, _)| path.as_str()).collect();
    let expected: Vec<_> = LOST.iter().map(|(path, _)| *path).collect();
    lost.retain(|(path, _)| !expected.contains(&path.as_str()));
    assert_eq!(names, expected, "of {} programs:\n{lost:#?}", paths.len());
}

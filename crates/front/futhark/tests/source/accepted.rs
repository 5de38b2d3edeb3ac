//! The corpus: what must be accepted is, but for the programs that are listed.

use spirula_futhark::compile::check_source;
use std::fs;
use std::sync::Mutex;

/// The lists of programs, and the beginning of the paths in each.
const LISTS: &[(&str, &str)] = &[("tests.tsv", ""), ("benchmarks.tsv", "benchmarks/")];

/// Programs that must be accepted and are not.
const REFUSED: &[&str] = &[];

#[test]
fn valid_programs_of_the_corpus_are_accepted() {
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
                    if let Err(found) = check_source(&main, &mut read) {
                        faults
                            .lock()
                            .expect("no panic")
                            .push((path, found[0].to_string()));
                    }
                }
            });
        }
    });
    let mut faults = faults.into_inner().expect("no panic");
    faults.sort();
    let names: Vec<_> = faults.iter().map(|(path, _)| path.as_str()).collect();
    assert_eq!(names, REFUSED, "of {} programs:\n{faults:#?}", paths.len());
}

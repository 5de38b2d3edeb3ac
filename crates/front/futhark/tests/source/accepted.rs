//! The corpus: what must be accepted is, but for the programs that are listed.

use spirula_futhark::compile::check_source;
use std::fs;
use std::sync::Mutex;

/// Programs that must be accepted and are not.
const REFUSED: &[&str] = &[];

#[test]
fn valid_programs_of_the_corpus_are_accepted() {
    let Some(folder) = spirula_testing::find_corpus("futhark") else {
        return;
    };
    let table = fs::read_to_string(folder.join("tests.tsv")).expect("the table of tests");
    let paths: Vec<&str> = table
        .lines()
        .skip(1)
        .filter_map(|line| {
            let mut columns = line.split('\t');
            let (path, kind) = (columns.next()?, columns.next()?);
            (kind != "error" && kind != "property").then_some(path)
        })
        .collect();
    let queue = Mutex::new(paths.iter());
    let faults = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let Some(&path) = queue.lock().expect("no panic").next() else {
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
    let names: Vec<_> = faults.iter().map(|(path, _)| *path).collect();
    assert_eq!(names, REFUSED, "of {} programs:\n{faults:#?}", paths.len());
}

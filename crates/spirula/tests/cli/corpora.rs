//! The corpora's programs compute what they should on the CPU device.

use crate::harness::{path_text, spirula};

#[test]
fn programs_of_the_corpora() {
    for (folder, least) in [("llvm-ir/kernels", 250)] {
        let Some(path) = spirula_testing::corpus(folder) else {
            continue;
        };
        let text = spirula(&["test", &path_text(&path)]).ok().text();
        let passed = text
            .lines()
            .last()
            .and_then(|l| l.split(' ').next()?.parse().ok());
        assert!(passed.is_some_and(|n: u32| n >= least), "{text}");
    }
}

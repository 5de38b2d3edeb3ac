//! Smoke test of every fuzz target: finds of fuzzers, which are kept in `finds/TARGET`, the target's seeds, and
//! mutants of them that are the same in every run.
//!
//! There is one test for all targets, because the memory budget is that of the process. `SPIRULA_FUZZ_SECONDS` sets
//! the time for each target's mutants (2 by default); `SPIRULA_FUZZ_TARGET` selects one target.

use rand_mt::Mt64;
use spirula_fuzz::{TARGETS, load_seeds, make_mutant, run_target};
use spirula_testing::list_files;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::{Duration, Instant};

/// Most mutants of a target; fewer if time is short.
const MUTANTS: usize = 3000;

#[test]
fn every_target_holds_for_a_moment() {
    let seconds = std::env::var("SPIRULA_FUZZ_SECONDS");
    let seconds = seconds.map_or(2, |s| s.parse().expect("a number of seconds"));
    let only = std::env::var("SPIRULA_FUZZ_TARGET").ok();
    let mut failures = Vec::new();
    for target in TARGETS {
        if only.as_deref().is_some_and(|name| name != target.name) {
            continue;
        }
        let seeds = load_seeds(target);
        let finds = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/finds");
        let finds = finds.join(target.name);
        let finds = if finds.is_dir() {
            list_files(&finds, "")
        } else {
            Vec::new()
        };
        let tried = |input: &[u8]| {
            let outcome = catch_unwind(AssertUnwindSafe(|| run_target(target, input)));
            outcome.is_ok()
        };
        for (at, seed) in seeds.iter().enumerate() {
            if !tried(seed) {
                failures.push(format!(
                    "{}: seed {at} of {} bytes",
                    target.name,
                    seed.len()
                ));
            }
        }
        for find in finds {
            if !tried(&std::fs::read(&find).expect("a find can be read")) {
                failures.push(format!("{}: {}", target.name, find.display()));
            }
        }
        let mut random = Mt64::new(0x5150_7572);
        let started = Instant::now();
        let most = if only.is_some() { usize::MAX } else { MUTANTS };
        for number in 0..most {
            if started.elapsed() > Duration::from_secs(seconds) {
                break;
            }
            let input = make_mutant(&seeds, &mut random);
            if !tried(&input) {
                let file = std::env::temp_dir().join(format!("{}-{number}", target.name));
                std::fs::write(&file, &input).expect("the input can be kept");
                failures.push(format!("{}: {}", target.name, file.display()));
                break;
            }
        }
    }
    assert!(failures.is_empty(), "what fails:\n{}", failures.join("\n"));
}

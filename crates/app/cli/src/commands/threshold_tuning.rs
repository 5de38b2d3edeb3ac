//! `spirula bench --tune`: writes the thresholds of Futhark programs that suit their data sets.

use crate::bench::{BenchBudget, BenchWorkload, ThresholdTuner};
use crate::cli::{CommandFailure, CommandResult, files};
use crate::test::futhark::tuning::{replace_parameters, tuning_file};
use crate::test::{SuiteCache, TestCase, TestOutcome, session};
use std::fs;
use std::path::{Path, PathBuf};

/// Tunes each program by its data sets.
pub fn tune_thresholds(
    cases: &[TestCase],
    environment: &session::TestEnvironment,
    effort: BenchBudget,
) -> CommandResult {
    let mut suites = SuiteCache::default();
    let mut programs: Vec<(PathBuf, Vec<BenchWorkload>)> = Vec::new();
    let mut failed = 0;
    for case in cases {
        let suite = suites.suite_for_folder(&case.folder);
        match suite.and_then(|suite| suite.load_workload(&case.name, environment)) {
            Ok(Some(workload)) => {
                let Some(source) = workload.source.clone() else {
                    continue;
                };
                match programs.iter_mut().find(|(other, _)| *other == source) {
                    Some((_, workloads)) => workloads.push(workload),
                    None => programs.push((source, vec![workload])),
                }
            }
            Ok(None) => {}
            Err(why) => {
                failed += 1;
                files::print_line(&format!("{}: {why}", case.id))?;
            }
        }
    }
    for (source, workloads) in &mut programs {
        match tune_program(source, workloads, environment, effort) {
            Ok(lines) => lines.iter().try_for_each(|line| files::print_line(line))?,
            Err(why) => {
                failed += 1;
                files::print_line(&format!("{}: {why}", source.display()))?;
            }
        }
    }
    if failed > 0 {
        return Err(CommandFailure::Reported);
    }
    Ok(())
}

/// Tunes a program and writes its file of parameters. Returns lines that tell of it.
fn tune_program(
    source: &Path,
    workloads: &mut [BenchWorkload],
    environment: &session::TestEnvironment,
    effort: BenchBudget,
) -> Result<Vec<String>, TestOutcome> {
    let tuned = ThresholdTuner::new(workloads, environment, effort)?.tune_all()?;
    let path = tuning_file(source);
    let before = fs::read_to_string(&path).unwrap_or_default();
    let after = replace_parameters(&before, &tuned);
    if after != before {
        let written = files::write_text(&path, &after);
        written.map_err(|_| TestOutcome::failed(format!("cannot write {}", path.display())))?;
    }
    let mut lines = vec![format!("{}: {} thresholds", source.display(), tuned.len())];
    for (name, value) in &tuned {
        let value = value.map_or("either way".to_owned(), |value| value.to_string());
        lines.push(format!("  {name}: {value}"));
    }
    Ok(lines)
}

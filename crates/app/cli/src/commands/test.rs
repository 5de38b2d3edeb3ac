//! `spirula test`: runs folders of tests.

use crate::cli::args::{TestArgs, TestWorker};
use crate::cli::progress::ProgressIndicator;
use crate::cli::{CommandFailure, CommandResult, failure, files, schedule};
use crate::test::{
    self, AllowList, TestCase, TestReport, TestRunOptions, run_all, select_tests, session, worker,
};
use spirula_runtime::{ComputeDevice, DeviceOptions};
use std::path::Path;
use std::time::Duration;

/// Runs `spirula test`.
pub fn run_tests(args: &TestArgs) -> CommandResult {
    let allowed = match &args.allow {
        Some(path) => read_list(path)?,
        None => AllowList::default(),
    };
    if let Some(path) = &args.json {
        files::check_writable(path)?;
    }
    // A missing device is reported once, and not by every test.
    ComputeDevice::open(&args.device, &DeviceOptions::default())
        .map_err(|e| CommandFailure::from_message(e.to_string()))?;
    let cases = select_tests(
        &args.paths,
        |suite| suite.test_names(),
        args.filter.as_deref(),
        args.limit,
    );
    let cases = cases.map_err(CommandFailure::from_message)?;
    let progress = ProgressIndicator::new_bar("testing", cases.len() as u64);
    // Failures are also reported at once, for users who do not wait for the end.
    let done = |case: &TestCase, outcome: &test::TestOutcome| {
        if let test::TestOutcome::Failed(reason) = outcome {
            progress.print_line(&format!("failed: {}: {reason}", case.id));
        }
        progress.advance_step();
    };
    let mut outcomes = run_all(&cases, &test_run_options(args), &done);
    let read = outcomes
        .iter_mut()
        .filter(|(outcome, _)| args.reading && *outcome == test::TestOutcome::Read);
    read.for_each(|(outcome, _)| *outcome = test::TestOutcome::Passed(None));
    drop(progress);
    let report = TestReport::new(&args.device, cases, outcomes);
    if let Some(path) = &args.json {
        let json = serde_json::to_string_pretty(&report)
            .map_err(|e| CommandFailure::from_message(e.to_string()))?;
        files::write_text(path, &(json + "\n"))?;
    }
    let outdated: Vec<_> = report.find_outdated_entries(&allowed).collect();
    if !outdated.is_empty() {
        let text = format!(
            "tests pass that the list calls unsupported: {}",
            outdated.join(" ")
        );
        failure::report_line("note", &text, None);
    }
    let mut text = String::new();
    let mut is_bad = report.has_failures();
    if args.strict {
        for id in report.not_allowed(&allowed) {
            text.push_str(&format!(
                "NOT ALLOWED {id}: unsupported, and not in the list of such tests\n"
            ));
            is_bad = true;
        }
    }
    files::write_text(Path::new("-"), &(text + &report.to_string()))?;
    if is_bad {
        Err(CommandFailure::Reported)
    } else if report.proves_nothing() {
        let text = "nothing was tested: no module has expected results";
        let hint = "NAME.json beside NAME.mlir has arguments and results, check.expect_eq in a function checks \
                    itself, and --reading tests that modules can be read";
        Err(CommandFailure::with_hint(text, hint))
    } else {
        Ok(())
    }
}

fn read_list(path: &Path) -> Result<AllowList, CommandFailure> {
    let input = files::read_input_file(path)?;
    let list = AllowList::parse_allow_list(&String::from_utf8_lossy(&input.bytes));
    list.map_err(|e| CommandFailure::from_message(format!("{}: {e}", input.name)))
}

fn test_run_options(args: &TestArgs) -> TestRunOptions {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let mut worker = vec![
        "test-worker".to_owned(),
        "--device".to_owned(),
        args.device.clone(),
        "--passes".to_owned(),
        args.passes.to_string(),
        "--threads".to_owned(),
        args.threads.to_string(),
    ];
    worker.extend(args.lifted.then(|| "--lifted".to_owned()));
    worker.extend(args.programs.printed.then(|| "--printed".to_owned()));
    if let Some(schedule) = &args.schedule {
        worker.extend(["--schedule".to_owned(), schedule.to_string()]);
    }
    if let Some(target) = args.target_env {
        worker.extend(["--target-env".to_owned(), target.to_string()]);
    }
    let programs = [
        ("--futhark", &args.programs.futhark),
        ("--dump-spirv", &args.programs.dump_spirv),
    ];
    for (name, path) in programs {
        if let Some(path) = path {
            worker.extend([name.to_owned(), path.display().to_string()]);
        }
    }
    TestRunOptions {
        jobs: args.jobs.map_or(processors, usize::from),
        timeout: Duration::from_secs(args.timeout),
        worker,
    }
}

/// Runs tests for a parent process.
pub fn serve_test_worker(args: &TestWorker) -> CommandResult {
    let options = session::TestEnvironment {
        device: args.device.clone(),
        options: DeviceOptions {
            threads: Some(args.threads.into()),
            ..DeviceOptions::default()
        },
        lifted: args.lifted,
        target: args.target_env,
        passes: args.passes.clone(),
        profile: schedule::choose_schedule_profile(args.schedule.as_ref(), &args.device),
        programs: args.programs.clone(),
    };
    Ok(worker::serve_requests(&options)?)
}

//! `spirula bench`: measures the programs in folders of tests.

use super::threshold_tuning::tune_thresholds;
use crate::bench::{
    BenchBudget, BenchClock, BenchRecord, BenchWorkload, MeanEstimate, measure_workload,
    plot_record, to_microseconds,
};
use crate::cli::args::BenchArgs;
use crate::cli::output_form::{check_distinct_outputs, check_output_form};
use crate::cli::progress::ProgressIndicator;
use crate::cli::{CommandFailure, CommandResult, failure, files, schedule};
use crate::test::{SuiteCache, TestOutcome as Ended, select_tests, session};
use spirula_opt::PassPipeline;
use spirula_runtime::{ComputeDevice, DeviceOptions, KernelTime};
use std::cmp::Reverse;
use std::path::Path;
use std::time::Duration;

/// Baseline of a comparison.
enum BenchBaseline {
    /// Measurements of another device.
    Device(Box<session::TestEnvironment>),
    /// Earlier measurements.
    Record(BenchRecord),
}

/// Runs `spirula bench`.
pub fn run_bench(args: &BenchArgs) -> CommandResult {
    check_bench_outputs(args)?;
    let options = bench_environment(args, &args.device)?;
    let other = match (&args.against, &args.compare) {
        (Some(device), _) => Some(BenchBaseline::Device(Box::new(bench_environment(
            args, device,
        )?))),
        (None, Some(path)) => Some(BenchBaseline::Record(read_bench_record(path)?)),
        (None, None) => None,
    };
    let cases = select_tests(
        &args.paths,
        |suite| suite.workload_names(),
        args.filter.as_deref(),
        args.limit,
    );
    let cases = cases.map_err(CommandFailure::from_message)?;
    let effort = BenchBudget {
        runs: args.runs.into(),
        time: Duration::from_millis(500),
        most: Duration::from_secs(args.timeout),
        clock: if args.processor_time {
            BenchClock::Processor
        } else {
            BenchClock::Wall
        },
    };
    if args.tune {
        return tune_thresholds(&cases, &options, effort);
    }
    let (mut suites, mut table) = (SuiteCache::default(), BenchTable::default());
    let progress = ProgressIndicator::new_bar("measuring", cases.len() as u64);
    for case in &cases {
        let suite = suites.suite_for_folder(&case.folder);
        let loaded = suite.and_then(|suite| {
            let workload = suite.load_workload(&case.name, &options)?;
            // The other device has a form of its own.
            let other = match &other {
                Some(BenchBaseline::Device(other)) => suite.load_workload(&case.name, other)?,
                _ => None,
            };
            Ok((workload, other))
        });
        match loaded {
            Ok((Some(workload), other_workload)) => {
                let other_workload = other_workload.as_ref().unwrap_or(&workload);
                let baseline = other.as_ref().map(|other| (other, other_workload));
                table.measure_workload(&workload, &options, baseline, effort)
            }
            Ok((None, _)) => Ok(()),
            Err(why) => table.add_refused_row(&case.id, why),
        }?;
        progress.advance_step();
    }
    drop(progress);
    write_bench_outputs(args, &table)?;
    if table.failed > 0 {
        Err(CommandFailure::Reported)
    } else if table.record.iter().count() == 0 {
        let hint = "programs are measured on the arguments of a manifest (.json), or of a test block (.fut)";
        Err(CommandFailure::with_hint("nothing was measured", hint))
    } else {
        Ok(())
    }
}

/// Checks that the files of the results can be written.
fn check_bench_outputs(args: &BenchArgs) -> CommandResult {
    let outputs = || [&args.json, &args.plot].into_iter().flatten();
    check_distinct_outputs(outputs().map(|path| path.as_path()))?;
    if let Some(plot) = &args.plot {
        check_output_form(plot, &["svg"])?;
    }
    outputs().try_for_each(|path| files::check_writable(path))
}

/// Writes the files of the results, and the table.
fn write_bench_outputs(args: &BenchArgs, table: &BenchTable) -> CommandResult {
    if let Some(path) = &args.json {
        files::write_text(path, &table.record.to_json())?;
    }
    if let Some(path) = args
        .plot
        .as_ref()
        .filter(|_| table.record.iter().count() > 0)
    {
        let svg = plot_record(&table.record).map_err(CommandFailure::from_message)?;
        files::write_text(path, &svg)?;
    }
    files::write_text(Path::new("-"), &table.format_table())?;
    if let (Some(path), 0) = (&args.compare, table.ratios.1) {
        let text = format!("nothing that was measured is in {} too", path.display());
        let hint = "programs and data sets are compared by their names";
        failure::report_line("note", &text, Some(hint));
    }
    Ok(())
}

fn bench_environment(
    args: &BenchArgs,
    device: &str,
) -> Result<session::TestEnvironment, CommandFailure> {
    let options = DeviceOptions {
        threads: args.threads.map(usize::from),
        times: args.profile,
        ..DeviceOptions::default()
    };
    // A missing device is reported once.
    ComputeDevice::open(device, &options)
        .map_err(|e| CommandFailure::from_message(e.to_string()))?;
    Ok(session::TestEnvironment {
        device: device.to_owned(),
        options,
        lifted: false,
        target: None,
        passes: PassPipeline::default(),
        profile: schedule::choose_schedule_profile(args.schedule.as_ref(), device),
        programs: args.programs.clone(),
    })
}

fn read_bench_record(path: &Path) -> Result<BenchRecord, CommandFailure> {
    let input = files::read_input_file(path)?;
    let record = BenchRecord::parse_json(&input.bytes);
    record.map_err(|e| {
        CommandFailure::from_message(format!("{} has no measurements: {e}", input.name))
    })
}

/// Table of measurements. Each line is printed at once.
#[derive(Default)]
struct BenchTable {
    record: BenchRecord,
    /// Sum of the logarithms of the speed-ups over the baseline.
    ratios: (f64, u32),
    failed: usize,
    unsupported: usize,
}

impl BenchTable {
    fn measure_workload(
        &mut self,
        workload: &BenchWorkload,
        options: &session::TestEnvironment,
        other: Option<(&BenchBaseline, &BenchWorkload)>,
        effort: BenchBudget,
    ) -> CommandResult {
        let (program, dataset) = (&workload.program, &workload.dataset);
        let title = format!("{program} {dataset}");
        let measured = match measure_workload(workload, options, effort) {
            Ok(measured) => measured,
            Err(why) => {
                self.record.add_failure(program, dataset, &why.to_string());
                return self.add_refused_row(&title, why);
            }
        };
        let times = to_microseconds(&measured.times);
        let summary = MeanEstimate::from_times(&times);
        let before = match other {
            Some((BenchBaseline::Record(record), _)) => record
                .measured_times(program, dataset)
                .map(MeanEstimate::from_times),
            Some((BenchBaseline::Device(other), workload)) => {
                let measured = measure_workload(workload, other, effort);
                let times = measured
                    .ok()
                    .map(|measured| to_microseconds(&measured.times));
                times.map(|times| MeanEstimate::from_times(&times))
            }
            None => None,
        };
        let runs = times.len();
        let mut line = format!("{title}: {summary}, {runs} runs");
        if let Some(before) = before {
            let ratio = before.mean / summary.mean;
            line += &format!(", {ratio:.2} times as fast as {before}");
            self.ratios = (self.ratios.0 + ratio.ln(), self.ratios.1 + 1);
        }
        self.record.add_measurements(program, dataset, times);
        files::print_line(&line)?;
        let kernels = measured.kernels.iter().filter(|k| k.launches > 0);
        let mut kernels: Vec<&KernelTime> = kernels.collect();
        kernels.sort_by_key(|kernel| Reverse(kernel.run));
        kernels
            .into_iter()
            .try_for_each(|k| files::print_line(&of_kernel(k, runs)))
    }

    fn add_refused_row(&mut self, title: &str, why: Ended) -> CommandResult {
        match why {
            Ended::Unsupported(_) => self.unsupported += 1,
            _ => self.failed += 1,
        }
        files::print_line(&format!("{title}: {why}"))
    }

    fn format_table(&self) -> String {
        let mut text = String::new();
        let measured = self.record.iter().count();
        if self.ratios.1 > 0 {
            let mean = (self.ratios.0 / f64::from(self.ratios.1)).exp();
            text += &format!("geometric mean: {mean:.2} times as fast\n");
        }
        text + &format!(
            "{measured} measured, {} failed, {} unsupported\n",
            self.failed, self.unsupported
        )
    }
}

/// The line of a kernel: its mean time in a run. The first and uncounted run is included.
fn of_kernel(kernel: &KernelTime, runs: usize) -> String {
    let run = kernel.run.as_secs_f64() * 1e6;
    let (launches, name) = (kernel.launches as f64, &kernel.name);
    let all = (runs + 1) as f64;
    let (each, share, count) = (run / launches, run / all, launches / all);
    format!("  kernel {name}: {share:.1} us a run, {count:.1} launches of {each:.2} us")
}

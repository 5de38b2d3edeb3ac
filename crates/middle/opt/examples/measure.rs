//! Size and time of a pipeline over modules: `measure PIPELINE FILE...` prints for each the words
//! before and after and the milliseconds of processor time for reading, optimising and writing, then the
//! sums, what each pass did, and which passes did nothing. With `--times` also what each pass took, for which
//! the clock is asked so often that the sums become larger by a tenth; `--out FOLDER` writes the modules, too.

use cpu_time::ProcessTime;
use spirula_opt::{
    PassObserver, PassOutcome, PassPipeline, PipelineOptions, PipelineReport, SpirvPass,
    optimise_module,
};
use spirula_spirv::ir::SpirvModule;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::time::Duration;

/// The time that passes took.
#[derive(Default)]
struct Times {
    began: Option<ProcessTime>,
    sums: BTreeMap<&'static str, Duration>,
}

impl PassObserver for Times {
    fn before_pass(&mut self, _pass: &SpirvPass, _module: &SpirvModule) {
        self.began = Some(ProcessTime::now());
    }

    fn after_pass(&mut self, pass: &SpirvPass, _module: &SpirvModule, _outcome: &PassOutcome) {
        if let Some(began) = self.began.take() {
            *self.sums.entry(pass.name).or_default() += began.elapsed();
        }
    }
}

/// By pass and what it counts: in how many modules it did so, and how often.
type PassCounts = BTreeMap<(&'static str, &'static str), (usize, usize)>;

fn add_statistics(counts: &mut PassCounts, report: &PipelineReport) {
    for run in &report.runs {
        for (what, number) in run.outcome.statistics.iter().filter(|s| s.1 > 0) {
            let sum = counts.entry((run.name, what)).or_default();
            *sum = (sum.0 + 1, sum.1 + number);
        }
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args: Vec<String> = std::env::args().skip(1).collect();
    let mut folder = None;
    let timed = args.first().is_some_and(|a| a == "--times");
    if timed {
        args.remove(0);
    }
    if args.first().is_some_and(|a| a == "--out") && args.len() > 1 {
        folder = args.drain(..2).nth(1);
    }
    let mut args = args.into_iter();
    let text = args
        .next()
        .ok_or("usage: measure [--times] [--out FOLDER] PIPELINE FILE...")?;
    let pipeline: PassPipeline = text.parse()?;
    let mut out = std::io::stdout().lock();
    let (mut before, mut after, mut seconds, mut ratio, mut files) = (0, 0, 0.0, 0.0, 0);
    let (mut times, mut counts) = (Times::default(), PassCounts::new());
    for path in args {
        let bytes = std::fs::read(&path)?;
        let began = ProcessTime::now();
        let mut module = SpirvModule::from_bytes(&bytes)?;
        let mut options = PipelineOptions {
            observer: timed.then_some(&mut times as &mut dyn PassObserver),
            ..PipelineOptions::default()
        };
        let report = optimise_module(&mut module, &pipeline, &mut options)?;
        let written = module.to_bytes();
        let time = began.elapsed().as_secs_f64();
        add_statistics(&mut counts, &report);
        if let (Some(folder), Some(name)) = (&folder, Path::new(&path).file_name()) {
            std::fs::write(Path::new(folder).join(name), &written)?;
        }
        let (old, new) = (bytes.len() / 4, written.len() / 4);
        writeln!(out, "{path}\t{old}\t{new}\t{:.3}", time * 1e3)?;
        before += bytes.len();
        after += written.len();
        seconds += time;
        ratio += (written.len() as f64 / bytes.len() as f64).ln();
        files += 1;
    }
    for (name, time) in &times.sums {
        writeln!(out, "{name:>16} {:10.3} ms", time.as_secs_f64() * 1e3)?;
    }
    for ((name, what), (modules, number)) in &counts {
        writeln!(out, "{name:>16} {number:8} {what} in {modules} modules")?;
    }
    for step in pipeline.steps() {
        let name = step.pass.name;
        if !counts.keys().any(|(known, _)| *known == name) {
            writeln!(out, "{name:>16}        0")?;
        }
    }
    let sum = after as f64 / before as f64;
    let mean = (ratio / f64::from(files)).exp();
    let speed = before as f64 / seconds / 1e6;
    writeln!(out, "{files} modules, {before} bytes: {speed:.1} MB/s")?;
    writeln!(
        out,
        "size after/before: {sum:.3} in sum, {mean:.3} in the geometric mean"
    )?;
    Ok(())
}

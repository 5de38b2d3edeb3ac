//! Wall time of each stage of a run.

use spirula_runtime::{ComputeDevice, KernelTime};
use std::fmt;
use std::time::{Duration, Instant};

/// Stages in the order in which they ran.
pub struct StageTimings {
    rows: Vec<(&'static str, Duration)>,
    instructions: Option<u64>,
    kernels: Vec<KernelTime>,
    start: Instant,
}

impl StageTimings {
    /// A record without stages.
    pub fn new() -> Self {
        StageTimings {
            rows: Vec::new(),
            instructions: None,
            kernels: Vec::new(),
            start: Instant::now(),
        }
    }

    /// Runs and measures a stage.
    pub fn time_stage<T>(&mut self, name: &'static str, work: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let done = work();
        self.rows.push((name, start.elapsed()));
        done
    }

    /// Adds the stages of a device.
    pub fn add_device_timings(&mut self, device: &mut ComputeDevice) {
        self.kernels = device.kernel_times();
        let profile = device.profile();
        let stages = [
            ("JIT", profile.compile),
            ("copy", profile.copy),
            ("run", profile.run),
        ];
        self.rows.extend(stages);
        self.instructions = device.instruction_count();
    }
}

impl fmt::Display for StageTimings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let milliseconds = |d: &Duration| d.as_secs_f64() * 1e3;
        for (name, time) in &self.rows {
            writeln!(f, "{name:15} {:10.3} ms", milliseconds(time))?;
        }
        for kernel in &self.kernels {
            let cached = match kernel.was_cached {
                Some(true) => " (kept from before)",
                _ => "",
            };
            let compile = milliseconds(&kernel.compile);
            write!(f, "kernel {}: compile {compile:.3} ms{cached}", kernel.name)?;
            if kernel.launches > 0 {
                let run = milliseconds(&kernel.run);
                write!(f, ", {} launches {run:.3} ms", kernel.launches)?;
            }
            writeln!(f)?;
        }
        if let Some(count) = self.instructions {
            writeln!(f, "{:15} {count:10}", "instructions")?;
        }
        writeln!(
            f,
            "{:15} {:10.3} ms",
            "in all",
            milliseconds(&self.start.elapsed())
        )
    }
}

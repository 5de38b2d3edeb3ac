//! Wall time of each stage of a run.

use spirula_runtime::Device;
use std::fmt;
use std::time::{Duration, Instant};

/// Stages in the order in which they ran.
pub struct Stages {
    rows: Vec<(&'static str, Duration)>,
    instructions: Option<u64>,
    start: Instant,
}

impl Stages {
    /// None yet.
    pub fn new() -> Self {
        Stages {
            rows: Vec::new(),
            instructions: None,
            start: Instant::now(),
        }
    }

    /// Runs one.
    pub fn time<T>(&mut self, name: &'static str, work: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let done = work();
        self.rows.push((name, start.elapsed()));
        done
    }

    /// Adds those of a device.
    pub fn device(&mut self, device: &Device) {
        let profile = device.profile();
        let stages = [
            ("JIT", profile.compile),
            ("copy", profile.copy),
            ("run", profile.run),
        ];
        self.rows.extend(stages);
        self.instructions = device.instructions();
    }
}

impl fmt::Display for Stages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let milliseconds = |d: &Duration| d.as_secs_f64() * 1e3;
        for (name, time) in &self.rows {
            writeln!(f, "{name:15} {:10.3} ms", milliseconds(time))?;
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

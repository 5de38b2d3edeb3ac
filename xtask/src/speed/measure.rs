//! Cost of processes.

use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, Stdio};
use wait4::Wait4;

/// Processor time of user and system together, and the peak of resident memory.
#[derive(Clone, Copy, Debug)]
pub struct Cost {
    pub seconds: f64,
    pub megabytes: f64,
}

impl Cost {
    /// The median of each figure.
    pub fn median_cost(costs: Vec<Cost>) -> Option<Cost> {
        let of = |figure: fn(&Cost) -> f64| {
            let mut figures: Vec<f64> = costs.iter().map(figure).collect();
            figures.sort_by(f64::total_cmp);
            figures.get(figures.len() / 2).copied()
        };
        Some(Cost {
            seconds: of(|cost| cost.seconds)?,
            megabytes: of(|cost| cost.megabytes)?,
        })
    }
}

/// Runs a program; `None` where it is missing or fails. This process must stay small, since its memory counts for its
/// children.
pub fn measure_process<'a>(
    program: &Path,
    arguments: impl Iterator<Item = &'a OsStr>,
) -> Option<Cost> {
    let mut command = Command::new(program);
    command.args(arguments);
    command.stdin(Stdio::null());
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let used = command.spawn().ok()?.wait4().ok()?;
    let usage = used.rusage;
    used.status.success().then(|| Cost {
        seconds: (usage.utime + usage.stime).as_secs_f64(),
        megabytes: usage.maxrss as f64 / 1e6,
    })
}

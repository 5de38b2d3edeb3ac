//! Measurement of run times of programs.
//!
//! Arguments are on the device before a run begins, and results stay there. The time of the host part and of the
//! kernels is measured, until the device is idle.

mod plot;
mod record;
mod statistics;
pub mod workload;

pub use plot::plot_record;
pub use record::BenchRecord;
pub use statistics::{MeanEstimate, to_microseconds};
pub use workload::BenchWorkload;

use crate::test::{TestOutcome, session};
use cpu_time::ProcessTime;
use spirula_program::{KernelMachine, ProgramError, ProgramSession};
use spirula_runtime::{ComputeDevice, DeviceError, DeviceMachine, KernelTime};
use std::time::{Duration, Instant};

/// Budget of a measurement.
#[derive(Clone, Copy, Debug)]
pub struct BenchBudget {
    /// Least number of runs.
    pub runs: usize,
    /// Least time of all runs together.
    pub time: Duration,
    /// Time after which no further run begins.
    pub most: Duration,
    /// Clock that measures a run.
    pub clock: BenchClock,
}

/// Clock of a measurement.
#[derive(Clone, Copy, Debug)]
pub enum BenchClock {
    /// Wall-clock time.
    Wall,
    /// Processor time of all threads. Other work on the machine affects it less.
    Processor,
}

impl BenchClock {
    /// Measures a call.
    fn time_call<T>(self, work: impl FnOnce() -> T) -> (T, Duration) {
        match self {
            BenchClock::Wall => {
                let start = Instant::now();
                let done = work();
                (done, start.elapsed())
            }
            BenchClock::Processor => {
                let start = ProcessTime::now();
                let done = work();
                (done, start.elapsed())
            }
        }
    }
}

/// Measurement of a workload.
pub struct WorkloadMeasurement {
    /// The time of each run.
    pub times: Vec<Duration>,
    /// The launches of all runs, where the device measures them. There is one more run than there are times.
    pub kernels: Vec<KernelTime>,
}

/// Measures a workload after one run that does not count.
///
/// # Errors
/// When a run fails.
pub fn measure_workload(
    workload: &BenchWorkload,
    session: &session::TestEnvironment,
    effort: BenchBudget,
) -> Result<WorkloadMeasurement, TestOutcome> {
    let mut device = session.open_device()?;
    let times = time_runs(workload, &mut device, effort)?;
    let kernels = device.kernel_times().to_vec();
    Ok(WorkloadMeasurement { times, kernels })
}

fn time_runs(
    workload: &BenchWorkload,
    device: &mut ComputeDevice,
    effort: BenchBudget,
) -> Result<Vec<Duration>, TestOutcome> {
    let mut machine = DeviceMachine::new(device);
    for (name, size) in &workload.sizes {
        machine.set_parameter(name, *size);
    }
    let mut session = ProgramSession::new(&workload.compiled, machine)?;
    let mut run = || -> Result<Duration, ProgramError<DeviceError>> {
        let prepared = session.prepare_items(&workload.entry, &workload.items)?;
        session
            .machine()
            .wait_idle()
            .map_err(ProgramError::Machine)?;
        let (ended, time) = effort.clock.time_call(|| session.execute_call(prepared));
        session.fetch_results(ended?)?;
        Ok(time)
    };
    let start = Instant::now();
    run()?;
    let mut times: Vec<Duration> = Vec::new();
    let mut total = Duration::ZERO;
    while times.len() < effort.runs || total < effort.time {
        let time = run()?;
        total += time;
        times.push(time);
        if start.elapsed() > effort.most {
            break;
        }
    }
    Ok(times)
}

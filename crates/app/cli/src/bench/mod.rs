//! Measuring what programs take.
//!
//! Arguments are on the device before a run begins, and results stay there: what is measured is the
//! host's part and the kernels, until the device has done all of it.

mod plot;
mod record;
mod statistics;

pub use plot::plot_record;
pub use record::BenchRecord;
pub use statistics::{MeanEstimate, to_microseconds};

use crate::test::{TestOutcome, session};
use cpu_time::ProcessTime;
use spirula_program::{CallValue, CompiledProgram, KernelMachine, ProgramError, ProgramSession};
use spirula_runtime::{ComputeDevice, DeviceError, DeviceMachine, KernelTime};
use std::rc::Rc;
use std::time::{Duration, Instant};

/// Something to measure: a call of an entry point.
pub struct BenchWorkload {
    /// The program's name, and that of the entry point where it is not `main`.
    pub program: String,
    /// What it is called with, in a few words.
    pub dataset: String,
    /// The program.
    pub compiled: Rc<CompiledProgram>,
    /// The entry point.
    pub entry: String,
    /// The arguments.
    pub items: Vec<CallValue>,
    /// Values of tuning parameters, by their names or those of their classes.
    pub sizes: Vec<(String, u64)>,
}

/// How long is measured.
#[derive(Clone, Copy, Debug)]
pub struct BenchBudget {
    /// Least number of runs.
    pub runs: usize,
    /// Least time of all runs together.
    pub time: Duration,
    /// Time after which no further run begins.
    pub most: Duration,
    /// What a run takes.
    pub clock: BenchClock,
}

/// What is measured of a run.
#[derive(Clone, Copy, Debug)]
pub enum BenchClock {
    /// The time until it has ended.
    Wall,
    /// The time of all processors, which other work on the machine changes less.
    Processor,
}

impl BenchClock {
    /// What something takes.
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

/// What was measured of a workload.
pub struct WorkloadMeasurement {
    /// The time of each run.
    pub times: Vec<Duration>,
    /// The launches of all runs, one more than there are times, where the device measures them.
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

//! Measurement of run times of programs.
//!
//! Arguments are on the device before the runs begin, and results stay there. The time of the host part and of the
//! kernels is measured, until the device is idle.

mod plot;
mod record;
mod statistics;
mod threshold_tuner;
pub mod workload;

pub use plot::plot_record;
pub use record::BenchRecord;
pub use statistics::{MeanEstimate, to_microseconds};
pub use threshold_tuner::ThresholdTuner;
pub use workload::BenchWorkload;

use crate::cli::foreign_calls::skip_calls_without_results;
use crate::test::{TestOutcome, session};
use cpu_time::ProcessTime;
use spirula_program::{CallValue, KernelMachine, ProgramError, ProgramSession, ResidentValue};
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
    let kernels = device.kernel_times();
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
    session.set_foreign_functions(skip_calls_without_results(&workload.compiled));
    Ok(time_calls(
        session,
        &workload.entry,
        &workload.items,
        effort,
    )?)
}

/// Measures calls of an entry point after one that does not count.
///
/// # Errors
/// When a call fails.
pub fn time_calls<M: KernelMachine<Error = DeviceError>>(
    mut session: ProgramSession<'_, M>,
    entry: &str,
    items: &[CallValue],
    effort: BenchBudget,
) -> Result<Vec<Duration>, BenchError> {
    let start = Instant::now();
    let prepared = session.prepare_items(entry, items)?;
    let ended = session.execute_call(prepared)?;
    session.drop_results(ended);
    let mut arguments = upload_arguments(&mut session, items)?;
    let mut times: Vec<Duration> = Vec::new();
    let mut total = Duration::ZERO;
    while times.len() < effort.runs || total < effort.time {
        let given: Vec<_> = arguments.iter().map(|argument| &argument.value).collect();
        let prepared = session.prepare_resident(entry, &given)?;
        let idle = session.machine().wait_idle();
        idle.map_err(ProgramError::Machine)?;
        let (ended, time) = effort.clock.time_call(|| session.execute_call(prepared));
        session.drop_results(ended?);
        total += time;
        times.push(time);
        if start.elapsed() > effort.most {
            break;
        }
        let is_first = times.len() == 1;
        for argument in &mut arguments {
            argument.restore_bytes(&mut session, is_first)?;
        }
    }
    Ok(times)
}

/// An argument on the device.
struct UploadedArgument<'w> {
    value: ResidentValue,
    /// The elements of an array.
    bytes: &'w [u8],
    /// Whether the program changes the array in place.
    is_changed: bool,
}

type BenchError = ProgramError<DeviceError>;

/// Copies arguments to the device.
fn upload_arguments<'w, M: KernelMachine<Error = DeviceError>>(
    session: &mut ProgramSession<'_, M>,
    items: &'w [CallValue],
) -> Result<Vec<UploadedArgument<'w>>, BenchError> {
    let parts = items.iter().flat_map(|item| match item {
        CallValue::Plain(value) => std::slice::from_ref(value),
        CallValue::Opaque(_, parts) => parts,
    });
    let mut arguments = Vec::new();
    for part in parts {
        let (element, unsigned) = (part.element, part.unsigned);
        let is_scalar = part.shape.is_empty();
        let value = if is_scalar {
            let mut bits = [0; 8];
            bits[..part.bytes.len()].copy_from_slice(&part.bytes);
            ResidentValue::from_scalar(element, unsigned, u64::from_le_bytes(bits))
        } else {
            session.upload_array(element, unsigned, part.shape.clone(), &part.bytes)?
        };
        arguments.push(UploadedArgument {
            value,
            bytes: if is_scalar { &[] } else { &part.bytes },
            is_changed: false,
        });
    }
    Ok(arguments)
}

impl UploadedArgument<'_> {
    /// Gives the array the elements that it had, if a run changes them. The first run shows that.
    fn restore_bytes<M: KernelMachine<Error = DeviceError>>(
        &mut self,
        session: &mut ProgramSession<'_, M>,
        is_first: bool,
    ) -> Result<(), BenchError> {
        if is_first && !self.bytes.is_empty() {
            let mut found = vec![0; self.bytes.len()];
            session.read_resident(&self.value, 0, &mut found)?;
            self.is_changed = found != self.bytes;
        }
        if self.is_changed {
            session.write_resident(&self.value, 0, self.bytes)?;
        }
        Ok(())
    }
}

//! `spirula tune`: searches sizes for the schedules of a tensor program.
//!
//! A setting is tried at once for all dispatches that it affects, since each launch has a time of its own. Each
//! dispatch keeps its best value before the next setting is tried.

use super::compile::compile_options;
use super::run::{default_arguments, known_shapes, program};
use crate::cli::args::TuneArgs;
use crate::cli::progress::ProgressIndicator;
use crate::cli::stderr::print_stderr_line;
use crate::cli::{CommandFailure, CommandResult, files, schedule};
use spirula::{
    CompileOptions, CompileOutput, DispatchTuning, KnownArguments, ProfileSetting, ScheduleProfile,
    ScheduledProgram,
};
use spirula_program::{CompiledProgram, ProgramSession, ProgramValue};
use spirula_runtime::{ComputeDevice, DeviceMachine, DeviceOptions, find_cache_folder};
use std::time::Duration;

/// State of the search for a dispatch.
struct TunedDispatch {
    signature: String,
    strategy: &'static spirula::ScheduleStrategy,
    profile: ScheduleProfile,
    /// Settings that are faster than those of the profile.
    settings: Vec<(String, u64)>,
    before: Duration,
    best: Duration,
}

impl TunedDispatch {
    fn settings_with(&self, name: &str, value: u64) -> Vec<(String, u64)> {
        let mut settings = self.settings.clone();
        settings.retain(|(known, _)| known != name);
        settings.push((name.to_owned(), value));
        settings
    }
}

/// Runs `spirula tune`.
pub fn run_tune(args: &TuneArgs) -> CommandResult {
    let input = files::read_input_file(&args.from.path)?;
    let mut tuner = match ScheduleTuner::new(args, &input.bytes) {
        Ok(tuner) => tuner,
        Err(TuneError::Compile(error)) => {
            return Err(CommandFailure::from_compile_error(input, *error));
        }
        Err(TuneError::Reported(failure)) => return Err(failure),
    };
    tuner.search_settings()?;
    let device = tuner.open_device()?.info().name.clone();
    let mut text = format!("# {} on {device}\n", args.from.path.display());
    for dispatch in &tuner.dispatches {
        let milliseconds = |d: Duration| d.as_secs_f64() * 1e3;
        let (before, best) = (milliseconds(dispatch.before), milliseconds(dispatch.best));
        let name = dispatch.strategy.name;
        print_stderr_line!(
            "{}: {name}, {before:.4} ms, tuned {best:.4} ms",
            dispatch.signature
        );
    }
    text += &tuner.tuning_with_trial(None).to_string();
    files::write_text(&args.output, &text)
}

/// Failure of tuning.
enum TuneError {
    Compile(Box<spirula::CompileError>),
    Reported(CommandFailure),
}

struct ScheduleTuner<'a> {
    args: &'a TuneArgs,
    bytes: &'a [u8],
    options: CompileOptions,
    values: Vec<ProgramValue>,
    dispatches: Vec<TunedDispatch>,
}

impl<'a> ScheduleTuner<'a> {
    fn new(args: &'a TuneArgs, bytes: &'a [u8]) -> Result<Self, TuneError> {
        let refused = |error| TuneError::Compile(Box::new(error));
        let options = CompileOptions {
            known: KnownArguments {
                shapes: known_shapes(&args.arg),
                ..KnownArguments::default()
            },
            profile: schedule::choose_schedule_profile(args.how.schedule.as_ref(), &args.device),
            tuning: args
                .how
                .read_dispatch_tuning()
                .map_err(TuneError::Reported)?,
            ..compile_options(&args.how, args.entry.as_deref())
        };
        let read = spirula::read_input(bytes).map_err(refused)?;
        let scheduled = read.schedule_dispatches(&options).map_err(refused)?;
        let compiled = read.compile_with(&options).map_err(refused)?;
        let tensors = compiled.tensors.unwrap_or_default();
        let CompileOutput::Program(program) = &compiled.output else {
            let text = "only tensor programs have schedules";
            return Err(TuneError::Reported(CommandFailure::Usage(text.to_owned())));
        };
        let mut tuner = ScheduleTuner {
            args,
            bytes,
            options,
            values: Vec::new(),
            dispatches: list_tuned_dispatches(&scheduled),
        };
        let limit = tuner
            .open_device()
            .map_err(TuneError::Reported)?
            .info()
            .limits
            .buffer_size;
        let entry = program.entries.first();
        let entry = entry.ok_or_else(|| {
            TuneError::Reported(CommandFailure::from_message("there is no entry point"))
        })?;
        let given = if args.arg.is_empty() {
            default_arguments(&tensors)
        } else {
            Ok(args.arg.clone())
        };
        let values = given.and_then(|given| {
            program::make_values(&given, args.seed, entry, Some(&tensors), limit)
        });
        tuner.values = values.map_err(TuneError::Reported)?;
        Ok(tuner)
    }

    fn open_device(&self) -> Result<ComputeDevice, CommandFailure> {
        let options = DeviceOptions {
            times: true,
            cache: find_cache_folder(),
            timeout: Some(Duration::from_secs(self.args.timeout)),
            ..DeviceOptions::default()
        };
        ComputeDevice::open(&self.args.device, &options)
            .map_err(|e| CommandFailure::from_message(e.to_string()))
    }

    /// The results so far, with one value for one setting of all dispatches that it affects.
    fn tuning_with_trial(&self, tried: Option<(&ProfileSetting, u64)>) -> DispatchTuning {
        let mut tuning = self.options.tuning.clone();
        for dispatch in &self.dispatches {
            let settings = match tried {
                Some((setting, value)) if dispatch.strategy.has_setting(setting) => {
                    dispatch.settings_with(setting.name, value)
                }
                _ => dispatch.settings.clone(),
            };
            if !settings.is_empty() {
                tuning.insert_settings(&dispatch.signature, settings);
            }
        }
        tuning
    }

    fn search_settings(&mut self) -> CommandResult {
        let times = self.measure_dispatch_times(self.options.tuning.clone());
        let times = times
            .map_err(|text| CommandFailure::from_message(format!("without tuning: {text}")))?;
        for (dispatch, time) in self.dispatches.iter_mut().zip(times) {
            (dispatch.before, dispatch.best) = (time, time);
        }
        let settings = ScheduleProfile::SETTINGS.iter();
        let tried = settings.flat_map(|s| s.tried.iter().map(move |value| (s, *value)));
        let tried: Vec<(&ProfileSetting, u64)> = tried.collect();
        let progress = ProgressIndicator::new_bar("tuning", tried.len() as u64);
        for (setting, value) in tried {
            progress.advance_step();
            let is_new = |d: &TunedDispatch| {
                let mut own = d.profile.settings_of(d.strategy);
                own.any(|(s, current)| s.name == setting.name && current != value)
            };
            if !self.dispatches.iter().any(is_new) {
                continue;
            }
            // A setting that the device refuses is no candidate.
            let Ok(times) =
                self.measure_dispatch_times(self.tuning_with_trial(Some((setting, value))))
            else {
                continue;
            };
            for (dispatch, time) in self.dispatches.iter_mut().zip(times) {
                let is_better = time < dispatch.best && dispatch.strategy.has_setting(setting);
                if is_better && is_new(dispatch) {
                    dispatch.settings = dispatch.settings_with(setting.name, value);
                    dispatch.best = time;
                }
            }
        }
        Ok(())
    }

    /// The shortest time of each dispatch.
    fn measure_dispatch_times(&self, tuning: DispatchTuning) -> Result<Vec<Duration>, String> {
        let options = CompileOptions {
            tuning,
            ..self.options.clone()
        };
        let read = spirula::read_input(self.bytes).map_err(|e| e.to_string())?;
        let compiled = read.compile_with(&options).map_err(|e| e.to_string())?;
        let CompileOutput::Program(program) = compiled.output else {
            return Err("it is not a program".to_owned());
        };
        let mut best = vec![Duration::MAX; self.dispatches.len()];
        for _ in 0..self.args.runs {
            let times = self.time_single_run(&program)?;
            for (best, time) in best.iter_mut().zip(times) {
                *best = time.min(*best);
            }
        }
        Ok(best)
    }

    fn time_single_run(&self, program: &CompiledProgram) -> Result<Vec<Duration>, String> {
        let mut device = self
            .open_device()
            .map_err(|_| "the device is gone".to_owned())?;
        let machine = DeviceMachine::new(&mut device);
        let entry = program.entries.first().map(|e| e.name.as_str());
        let called = ProgramSession::new(program, machine)
            .and_then(|mut session| session.call_entry(entry.unwrap_or_default(), &self.values));
        called.map_err(|e| e.to_string())?;
        let mut times = vec![Duration::ZERO; self.dispatches.len()];
        for kernel in device.kernel_times() {
            if let Some(time) = kernel.number.and_then(|number| times.get_mut(number)) {
                *time += kernel.run;
            }
        }
        Ok(times)
    }
}

fn list_tuned_dispatches(scheduled: &ScheduledProgram) -> Vec<TunedDispatch> {
    let all = scheduled.dispatches.iter();
    all.map(|dispatch| TunedDispatch {
        signature: scheduled.signature(dispatch),
        strategy: dispatch.strategy,
        profile: dispatch.nest.profile,
        settings: Vec::new(),
        before: Duration::ZERO,
        best: Duration::ZERO,
    })
    .collect()
}

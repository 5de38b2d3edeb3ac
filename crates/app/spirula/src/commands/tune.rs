//! `spirula tune`: finds sizes for the schedules of a tensor program by trying them.
//!
//! A setting is tried for all dispatches that it matters to at once, since a launch's time is its own;
//! each dispatch keeps what was best for it before the next setting is tried.

use super::compile::options;
use super::run::{default_arguments, known_shapes, program};
use crate::cli::args::Tune;
use crate::cli::progress::Progress;
use crate::cli::say::say_line;
use crate::cli::{Failure, Outcome, cache, files, schedule};
use spirula::{CompileOptions, Known, Output, Profile, Scheduled, Setting, Tuning};
use spirula_program::{Program, Session, Value};
use spirula_runtime::{Device, DeviceMachine, DeviceOptions};
use std::time::Duration;

/// What is known of a dispatch.
struct Dispatch {
    signature: String,
    strategy: spirula::Strategy,
    profile: Profile,
    /// What does better than the profile.
    settings: Vec<(String, u64)>,
    before: Duration,
    best: Duration,
}

impl Dispatch {
    fn with(&self, name: &str, value: u64) -> Vec<(String, u64)> {
        let mut settings = self.settings.clone();
        settings.retain(|(known, _)| known != name);
        settings.push((name.to_owned(), value));
        settings
    }
}

/// Tunes the schedules of a program and writes what was found.
pub fn run(args: &Tune) -> Outcome {
    let input = files::read(&args.from.path)?;
    let mut tuner = match Tuner::new(args, &input.bytes) {
        Ok(tuner) => tuner,
        Err(Refused::Compile(error)) => return Err(Failure::compile(input, *error)),
        Err(Refused::Told(failure)) => return Err(failure),
    };
    tuner.search()?;
    let device = tuner.device()?.info().name.clone();
    let mut text = format!("# {} on {device}\n", args.from.path.display());
    for dispatch in &tuner.dispatches {
        let milliseconds = |d: Duration| d.as_secs_f64() * 1e3;
        let (before, best) = (milliseconds(dispatch.before), milliseconds(dispatch.best));
        let name = dispatch.strategy.name();
        say_line!(
            "{}: {name}, {before:.4} ms, tuned {best:.4} ms",
            dispatch.signature
        );
    }
    text += &tuner.tuning(None).to_string();
    files::write_text(&args.output, &text)
}

/// Why nothing could be tuned.
enum Refused {
    Compile(Box<spirula::CompileError>),
    Told(Failure),
}

struct Tuner<'a> {
    args: &'a Tune,
    bytes: &'a [u8],
    options: CompileOptions,
    values: Vec<Value>,
    dispatches: Vec<Dispatch>,
}

impl<'a> Tuner<'a> {
    fn new(args: &'a Tune, bytes: &'a [u8]) -> Result<Self, Refused> {
        let refused = |error| Refused::Compile(Box::new(error));
        let options = CompileOptions {
            known: Known {
                shapes: known_shapes(&args.arg),
                ..Known::default()
            },
            profile: schedule::profile(args.how.schedule.as_ref(), &args.device),
            tuning: args.how.tuning().map_err(Refused::Told)?,
            ..options(&args.how, args.entry.as_deref())
        };
        let read = spirula::read(bytes).map_err(refused)?;
        let scheduled = read.scheduled(&options).map_err(refused)?;
        let compiled = read.compile(&options).map_err(refused)?;
        let tensors = compiled.tensors.unwrap_or_default();
        let Output::Program(program) = &compiled.output else {
            let text = "only tensor programs have schedules";
            return Err(Refused::Told(Failure::Usage(text.to_owned())));
        };
        let mut tuner = Tuner {
            args,
            bytes,
            options,
            values: Vec::new(),
            dispatches: dispatches(&scheduled),
        };
        let limit = tuner
            .device()
            .map_err(Refused::Told)?
            .info()
            .limits
            .buffer_size;
        let entry = program.entries.first();
        let entry =
            entry.ok_or_else(|| Refused::Told(Failure::message("there is no entry point")))?;
        let given = match args.arg.is_empty() {
            true => default_arguments(&tensors),
            false => Ok(args.arg.clone()),
        };
        let values = given.and_then(|given| {
            program::make_values(&given, args.seed, entry, Some(&tensors), limit)
        });
        tuner.values = values.map_err(Refused::Told)?;
        Ok(tuner)
    }

    fn device(&self) -> Result<Device, Failure> {
        let options = DeviceOptions {
            times: true,
            cache: cache::folder(),
            timeout: Some(Duration::from_secs(self.args.timeout)),
            ..DeviceOptions::default()
        };
        Device::open(&self.args.device, &options).map_err(|e| Failure::message(e.to_string()))
    }

    /// What was found so far, with a value for one setting of all dispatches that it matters to.
    fn tuning(&self, tried: Option<(&Setting, u64)>) -> Tuning {
        let mut tuning = self.options.tuning.clone();
        for dispatch in &self.dispatches {
            let settings = match tried {
                Some((setting, value)) if setting.of.contains(&dispatch.strategy) => {
                    dispatch.with(setting.name, value)
                }
                _ => dispatch.settings.clone(),
            };
            if !settings.is_empty() {
                tuning.set(&dispatch.signature, settings);
            }
        }
        tuning
    }

    fn search(&mut self) -> Outcome {
        let times = self.times(self.options.tuning.clone());
        let times = times.map_err(|text| Failure::message(format!("without tuning: {text}")))?;
        for (dispatch, time) in self.dispatches.iter_mut().zip(times) {
            (dispatch.before, dispatch.best) = (time, time);
        }
        let settings = Profile::SETTINGS.iter();
        let tried = settings.flat_map(|s| s.tried.iter().map(move |value| (s, *value)));
        let tried: Vec<(&Setting, u64)> = tried.collect();
        let progress = Progress::bar("tuning", tried.len() as u64);
        for (setting, value) in tried {
            progress.step();
            let is_new = |d: &Dispatch| {
                let mut own = d.profile.of(d.strategy);
                own.any(|(s, current)| s.name == setting.name && current != value)
            };
            if !self.dispatches.iter().any(is_new) {
                continue;
            }
            // What a device refuses is no candidate.
            let Ok(times) = self.times(self.tuning(Some((setting, value)))) else {
                continue;
            };
            for (dispatch, time) in self.dispatches.iter_mut().zip(times) {
                let is_better = time < dispatch.best && setting.of.contains(&dispatch.strategy);
                if is_better && is_new(dispatch) {
                    dispatch.settings = dispatch.with(setting.name, value);
                    dispatch.best = time;
                }
            }
        }
        Ok(())
    }

    /// The shortest time of each dispatch.
    fn times(&self, tuning: Tuning) -> Result<Vec<Duration>, String> {
        let options = CompileOptions {
            tuning,
            ..self.options.clone()
        };
        let read = spirula::read(self.bytes).map_err(|e| e.to_string())?;
        let compiled = read.compile(&options).map_err(|e| e.to_string())?;
        let Output::Program(program) = compiled.output else {
            return Err("it is no program".to_owned());
        };
        let mut best = vec![Duration::MAX; self.dispatches.len()];
        for _ in 0..self.args.runs {
            let times = self.once(&program)?;
            for (best, time) in best.iter_mut().zip(times) {
                *best = time.min(*best);
            }
        }
        Ok(best)
    }

    fn once(&self, program: &Program) -> Result<Vec<Duration>, String> {
        let mut device = self.device().map_err(|_| "the device is gone".to_owned())?;
        let machine = DeviceMachine::new(&mut device);
        let entry = program.entries.first().map(|e| e.name.as_str());
        let called = Session::new(program, machine)
            .and_then(|mut session| session.call(entry.unwrap_or_default(), &self.values));
        called.map_err(|e| e.to_string())?;
        let mut times = vec![Duration::ZERO; self.dispatches.len()];
        for kernel in device.kernel_times() {
            let number: Option<usize> = kernel.name.parse().ok();
            if let Some(time) = number.and_then(|number| times.get_mut(number)) {
                *time += kernel.run;
            }
        }
        Ok(times)
    }
}

fn dispatches(scheduled: &Scheduled) -> Vec<Dispatch> {
    let all = scheduled.dispatches.iter();
    all.map(|dispatch| Dispatch {
        signature: scheduled.signature(dispatch),
        strategy: dispatch.strategy,
        profile: dispatch.profile,
        settings: Vec::new(),
        before: Duration::ZERO,
        best: Duration::ZERO,
    })
    .collect()
}

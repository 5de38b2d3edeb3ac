//! Soak test: runs targets for a long time without a fuzzer. Several processes mutate seeds at random, and failing
//! inputs are kept.
//!
//! `soak --out FOLDER [--minutes 60] [--processes 2] [--seeds FOLDER] [--random N] [TARGET…]`
//!
//! Each process cycles through the targets, one minute each. An input fails if it panics, exceeds its budget of
//! time or memory, or kills the process. The first failing input for each place in the code is kept in
//! `FOLDER/finds/TARGET`. `FOLDER/summary.txt` has the numbers of inputs. `--seeds` names a folder that the example
//! `seeds` wrote, for machines without the repository.

use rand_mt::Mt64;
use spirula_fuzz::{FuzzTarget, TARGETS, load_seeds, make_mutant, run_target};
use std::collections::BTreeSet;
use std::error::Error;
use std::ffi::OsString;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use std::{env, fs, thread};

/// How long a process stays with a target.
const TURN: Duration = Duration::from_secs(60);

/// Time after which a process gives up on an input. An input that ends after more than 20 seconds fails, too.
const LONGEST: Duration = Duration::from_secs(60);

type ExampleResult<T> = Result<T, Box<dyn Error>>;

#[derive(Clone, Debug)]
struct Options {
    out: PathBuf,
    minutes: u64,
    processes: u64,
    seeds: Option<PathBuf>,
    random: u64,
    targets: Vec<&'static FuzzTarget>,
    /// Number of the process; set in worker processes.
    worker: Option<u64>,
}

fn main() -> ExitCode {
    let outcome = Options::from_args().and_then(|options| match options.worker {
        Some(number) => run_worker(&options, number).map(|()| true),
        None => watch_processes(&options),
    });
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

impl Options {
    fn from_args() -> ExampleResult<Options> {
        let mut options = Options {
            out: PathBuf::from("fuzz-out"),
            minutes: 60,
            processes: 2,
            seeds: None,
            random: 1,
            targets: Vec::new(),
            worker: None,
        };
        let mut words = env::args_os().skip(1);
        while let Some(word) = words.next() {
            let word = word.to_string_lossy().into_owned();
            let mut value = || words.next().ok_or(format!("{word} needs a value"));
            let number =
                |value: OsString| -> ExampleResult<u64> { Ok(value.to_string_lossy().parse()?) };
            match word.as_str() {
                "--out" => options.out = value()?.into(),
                "--minutes" => options.minutes = number(value()?)?,
                "--processes" => options.processes = number(value()?)?,
                "--seeds" => options.seeds = Some(value()?.into()),
                "--random" => options.random = number(value()?)?,
                "--worker" => options.worker = Some(number(value()?)?),
                name => {
                    let target = FuzzTarget::by_name(name);
                    options
                        .targets
                        .push(target.ok_or(format!("no target {name}"))?);
                }
            }
        }
        if options.targets.is_empty() {
            options.targets = TARGETS.iter().collect();
        }
        Ok(options)
    }

    /// The file to which a process writes each input before it tries it.
    fn current_input_path(&self, worker: u64) -> PathBuf {
        self.out.join(format!("current-{worker}"))
    }

    /// Keeps a failing input.
    fn keep_failing_input(&self, target: &str, input: &[u8]) -> ExampleResult<PathBuf> {
        let folder = self.out.join("finds").join(target);
        fs::create_dir_all(&folder)?;
        let hash = BuildHasherDefault::<DefaultHasher>::default().hash_one(input);
        let file = folder.join(format!("{hash:016x}"));
        fs::write(&file, input)?;
        Ok(file)
    }
}

/// Starts the worker processes and restarts those that an input killed. Returns whether no input failed.
fn watch_processes(options: &Options) -> ExampleResult<bool> {
    fs::create_dir_all(&options.out)?;
    let end = Instant::now() + Duration::from_secs(60 * options.minutes);
    let clean = thread::scope(|scope| {
        let all: Vec<_> = (0..options.processes)
            .map(|number| {
                scope
                    .spawn(move || restart_process(options, number, end).map_err(|e| e.to_string()))
            })
            .collect();
        let all = all.into_iter().map(|watcher| watcher.join());
        all.map(|clean| clean.unwrap_or_else(|_| Err("a watcher panicked".to_owned())))
            .collect::<Result<Vec<bool>, String>>()
    })?;
    let finds = options.out.join("finds");
    Ok(clean.into_iter().all(|c| c) && !finds.is_dir())
}

/// Runs one worker process after another until the time is over.
fn restart_process(options: &Options, number: u64, end: Instant) -> ExampleResult<bool> {
    let mut clean = true;
    let mut start = 0;
    loop {
        let left = end.saturating_duration_since(Instant::now());
        if left < Duration::from_secs(5) {
            return Ok(clean);
        }
        let mut command = Command::new(env::current_exe()?);
        command.arg("--worker").arg(number.to_string());
        command.arg("--out").arg(&options.out);
        command
            .arg("--minutes")
            .arg(left.as_secs().div_ceil(60).to_string());
        // A restarted process must not repeat the same inputs.
        command
            .arg("--random")
            .arg((options.random + 1000 * start).to_string());
        if let Some(seeds) = &options.seeds {
            command.arg("--seeds").arg(seeds);
        }
        command.args(options.targets.iter().map(|t| t.name));
        let status = command.stdin(Stdio::null()).status()?;
        if status.success() {
            return Ok(clean);
        }
        clean = false;
        start += 1;
        let input = fs::read(options.current_input_path(number)).unwrap_or_default();
        let (name, input) = split_target_name(&input);
        let file = options.keep_failing_input(name, input)?;
        eprintln!(
            "{name}: {} takes the process down ({status})",
            file.display()
        );
    }
}

/// Splits the target's name from the input after it.
fn split_target_name(kept: &[u8]) -> (&str, &[u8]) {
    let end = kept.iter().position(|b| *b == b'\n').unwrap_or(0);
    let name = std::str::from_utf8(&kept[..end]).unwrap_or("");
    (name, kept.get(end + 1..).unwrap_or(&[]))
}

/// The worker: runs the targets in turn until the time is over.
fn run_worker(options: &Options, number: u64) -> ExampleResult<()> {
    let end = Instant::now() + Duration::from_secs(60 * options.minutes);
    let mut random = Mt64::new(options.random.wrapping_mul(0x9e37_79b9) ^ number << 32);
    let since = Arc::new(Mutex::new(Instant::now()));
    abort_what_hangs(Arc::clone(&since));
    let places = Arc::new(Mutex::new(String::new()));
    note_panics(Arc::clone(&places));
    let mut known = BTreeSet::new();
    // Processes begin with different targets.
    let count = options.targets.len();
    for turn in number as usize.. {
        let target = options.targets[turn % count];
        let seeds = match &options.seeds {
            Some(folder) => packed_seeds(&folder.join(target.name))?,
            None => load_seeds(target),
        };
        let until = (Instant::now() + TURN).min(end);
        let mut tried = 0u64;
        while Instant::now() < until {
            let input = make_mutant(&seeds, &mut random);
            let mut kept = format!("{}\n", target.name).into_bytes();
            kept.extend_from_slice(&input);
            fs::write(options.current_input_path(number), kept)?;
            *since.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
            let outcome = catch_unwind(AssertUnwindSafe(|| run_target(target, &input)));
            tried += 1;
            if outcome.is_err() {
                let place = places
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .clone();
                if known.insert((target.name, place.clone())) {
                    let file = options.keep_failing_input(target.name, &input)?;
                    eprintln!("{}: {}: {place}", target.name, file.display());
                }
            }
        }
        let summary = options.out.join("summary.txt");
        let mut summary = fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(summary)?;
        writeln!(
            summary,
            "{} {tried} inputs by process {number}",
            target.name
        )?;
        if Instant::now() >= end {
            return Ok(());
        }
    }
    Ok(())
}

/// Reads the seeds that the example `seeds` wrote.
fn packed_seeds(folder: &Path) -> ExampleResult<Vec<Vec<u8>>> {
    let mut files: Vec<PathBuf> = Vec::new();
    for entry in fs::read_dir(folder)? {
        files.push(entry?.path());
    }
    files.sort();
    let seeds: Vec<Vec<u8>> = files.iter().map(fs::read).collect::<Result<_, _>>()?;
    if seeds.is_empty() {
        return Err(format!("{} has no seeds", folder.display()).into());
    }
    Ok(seeds)
}

/// Aborts the process when an input takes too long.
fn abort_what_hangs(since: Arc<Mutex<Instant>>) {
    thread::spawn(move || {
        loop {
            thread::sleep(Duration::from_secs(1));
            if since
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .elapsed()
                > LONGEST
            {
                eprintln!("an input takes over {LONGEST:?}");
                std::process::abort();
            }
        }
    });
}

/// Records the place and the message of the last panic.
fn note_panics(places: Arc<Mutex<String>>) {
    std::panic::set_hook(Box::new(move |info| {
        let place = info.location().map(ToString::to_string).unwrap_or_default();
        *places.lock().unwrap_or_else(PoisonError::into_inner) = place;
        eprintln!("{info}");
    }));
}

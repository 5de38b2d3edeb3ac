//! Hashes of the command's outputs over a corpus, to compare two builds of it.
//!
//! The ending of an input decides whether it is compiled, optimised or assembled. Each line has the file, the step, the
//! exit code and the hash of the output. Two builds have equal outputs where `diff` finds no difference.

use anyhow::{Context, Result, ensure};
use std::ffi::OsStr;
use std::fs;
use std::hash::{DefaultHasher, Hasher};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Seconds that a step may take.
const TIMEOUT: &str = "60";

/// The steps over the inputs with an ending.
struct StepRow {
    ending: &'static str,
    /// Steps over the input.
    over_input: &'static [OutputStep],
    /// Steps over the output of the first step.
    over_output: &'static [OutputStep],
}

/// A step: the arguments of the command before the input. They are its name, too.
type OutputStep = &'static [&'static str];

const COMPILE: OutputStep = &["compile"];
/// A program as one file: its modules would be files of their own.
const COMPILE_PROGRAM: OutputStep = &["compile", "--emit", "spb"];
const OPTIMISE: &[OutputStep] = &[&["opt", "-O2"], &["opt", "-Os"]];

const STEPS: &[StepRow] = &[
    StepRow {
        ending: "ll",
        over_input: &[COMPILE],
        over_output: OPTIMISE,
    },
    StepRow {
        ending: "bc",
        over_input: &[COMPILE],
        over_output: OPTIMISE,
    },
    StepRow {
        ending: "mlir",
        over_input: &[COMPILE_PROGRAM],
        over_output: &[],
    },
    StepRow {
        ending: "mlirbc",
        over_input: &[COMPILE_PROGRAM],
        over_output: &[],
    },
    StepRow {
        ending: "fut",
        over_input: &[COMPILE_PROGRAM],
        over_output: &[],
    },
    StepRow {
        ending: "imp",
        over_input: &[COMPILE_PROGRAM],
        over_output: &[],
    },
    StepRow {
        ending: "spv",
        over_input: OPTIMISE,
        over_output: &[],
    },
    StepRow {
        ending: "spvasm",
        over_input: &[&["as"]],
        over_output: &[],
    },
];

/// Arguments of `cargo xtask outputs`.
#[derive(clap::Args)]
pub struct OutputOptions {
    /// Folder of the inputs
    corpus: PathBuf,
    /// The command whose outputs are hashed
    #[arg(long, default_value = "target/release/spirula")]
    spirula: PathBuf,
    /// Take one input of each N
    #[arg(long, value_name = "N", default_value_t = 1)]
    every: usize,
}

/// Prints a line for each step of each input, in the order of their paths.
pub fn print_outputs(options: &OutputOptions) -> Result<()> {
    let command = options.spirula.canonicalize();
    let command = command.with_context(|| format!("no {}", options.spirula.display()))?;
    let mut inputs = Vec::new();
    gather_inputs(&options.corpus, &mut inputs)?;
    inputs.sort();
    let inputs: Vec<PathBuf> = inputs.into_iter().step_by(options.every.max(1)).collect();
    ensure!(
        !inputs.is_empty(),
        "no inputs in {}",
        options.corpus.display()
    );
    let scratch = std::env::temp_dir().join(format!("outputs-{}", std::process::id()));
    fs::create_dir_all(&scratch)?;
    let lines = Mutex::new(vec![String::new(); inputs.len()]);
    let next = AtomicUsize::new(0);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for thread in 0..threads {
            let folder = scratch.join(thread.to_string());
            let (lines, next, inputs, command) = (&lines, &next, &inputs, &command);
            scope.spawn(move || {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(input) = inputs.get(at) else {
                        return;
                    };
                    let text = hash_input(command, input, &options.corpus, &folder);
                    if let Ok(mut lines) = lines.lock() {
                        lines[at] = text;
                    }
                }
            });
        }
    });
    fs::remove_dir_all(&scratch)?;
    let lines = lines.into_inner().unwrap_or_default();
    print!("{}", lines.concat());
    Ok(())
}

fn gather_inputs(folder: &Path, inputs: &mut Vec<PathBuf>) -> Result<()> {
    let entries = fs::read_dir(folder);
    for entry in entries.with_context(|| format!("cannot read {}", folder.display()))? {
        let entry = entry?;
        let path = entry.path();
        if entry.file_type()?.is_dir() {
            gather_inputs(&path, inputs)?;
        } else if find_steps(&path).is_some() {
            inputs.push(path);
        }
    }
    Ok(())
}

fn find_steps(input: &Path) -> Option<&'static StepRow> {
    let ending = input.extension().and_then(OsStr::to_str)?;
    STEPS.iter().find(|row| row.ending == ending)
}

/// The lines of an input.
fn hash_input(command: &Path, input: &Path, corpus: &Path, folder: &Path) -> String {
    // Outputs of an earlier input must not be hashed again.
    _ = fs::remove_dir_all(folder);
    _ = fs::create_dir_all(folder);
    let Some(row) = find_steps(input) else {
        return String::new();
    };
    let (first, next) = (folder.join("first"), folder.join("next"));
    let over_input = row.over_input.iter().map(|step| (step, input));
    let over_output = row.over_output.iter().map(|step| (step, first.as_path()));
    let name = input.strip_prefix(corpus).unwrap_or(input).display();
    let mut lines = String::new();
    for (number, (step, from)) in over_input.chain(over_output).enumerate() {
        let output = if number == 0 { &first } else { &next };
        let (code, hash) = run_step(command, step, from, output);
        lines += &format!("{name}\t{}\t{code}\t{hash}\n", step.join(" "));
    }
    lines
}

/// Runs a step; its exit code, and the hash of its output.
fn run_step(command: &Path, step: OutputStep, from: &Path, output: &Path) -> (String, String) {
    _ = fs::remove_file(output);
    let status = Command::new("timeout")
        .arg(TIMEOUT)
        .arg(command)
        .args(step)
        .arg(from)
        .arg("-o")
        .arg(output)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    let code = status.ok().and_then(|status| status.code());
    let code = code.map_or("signal".to_owned(), |code| code.to_string());
    let hash = fs::read(output).map_or("nothing".to_owned(), |bytes| {
        let mut hasher = DefaultHasher::new();
        hasher.write(&bytes);
        format!("{:016x}", hasher.finish())
    });
    (code, hash)
}

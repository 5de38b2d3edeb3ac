//! Hashes of all that the command emits over a corpus, to compare two builds of it.
//!
//! Each input is compiled, optimised or assembled, by what its name ends in. A line says which file, which step, the exit
//! code and the hash of what was written: two builds emit the same where `diff` finds no difference.

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

/// Steps by the ending of an input: name, arguments before the input, and whether the step takes what the first wrote.
const STEPS: &[(&str, &[Step])] = &[
    ("ll", &[COMPILE, FAST, SMALL]),
    ("bc", &[COMPILE, FAST, SMALL]),
    ("mlir", &[COMPILE]),
    ("mlirbc", &[COMPILE]),
    ("imp", &[COMPILE]),
    ("spv", &[FAST_INPUT, SMALL_INPUT]),
    ("spvasm", &[ASSEMBLE]),
];

/// A step over an input.
struct Step {
    name: &'static str,
    arguments: &'static [&'static str],
    takes_output: bool,
}

const COMPILE: Step = Step {
    name: "compile",
    arguments: &["compile"],
    takes_output: false,
};
const ASSEMBLE: Step = Step {
    name: "as",
    arguments: &["as"],
    takes_output: false,
};
const FAST: Step = Step {
    name: "opt -O2",
    arguments: &["opt", "-O2"],
    takes_output: true,
};
const SMALL: Step = Step {
    name: "opt -Os",
    arguments: &["opt", "-Os"],
    takes_output: true,
};
const FAST_INPUT: Step = Step {
    takes_output: false,
    ..FAST
};
const SMALL_INPUT: Step = Step {
    takes_output: false,
    ..SMALL
};

/// What `cargo xtask outputs` takes.
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

fn find_steps(input: &Path) -> Option<&'static [Step]> {
    let ending = input.extension().and_then(OsStr::to_str)?;
    let row = STEPS.iter().find(|(of, _)| *of == ending)?;
    Some(row.1)
}

/// The lines of an input.
fn hash_input(command: &Path, input: &Path, corpus: &Path, folder: &Path) -> String {
    // What an input before has left is not hashed again.
    _ = fs::remove_dir_all(folder);
    _ = fs::create_dir_all(folder);
    let first = folder.join("first");
    let name = input.strip_prefix(corpus).unwrap_or(input).display();
    let mut lines = String::new();
    for (at, step) in find_steps(input).unwrap_or_default().iter().enumerate() {
        let output = match at {
            0 => first.clone(),
            _ => folder.join("next"),
        };
        let from = if step.takes_output { &*first } else { input };
        _ = fs::remove_file(&output);
        let done = Command::new("timeout")
            .arg(TIMEOUT)
            .arg(command)
            .args(step.arguments)
            .arg(from)
            .arg("-o")
            .arg(&output)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        let code = done.ok().and_then(|status| status.code());
        let code = code.map_or("signal".to_owned(), |code| code.to_string());
        let written = fs::read(&output).map_or("nothing".to_owned(), |bytes| {
            let mut hasher = DefaultHasher::new();
            hasher.write(&bytes);
            format!("{:016x}", hasher.finish())
        });
        lines += &format!("{name}\t{}\t{code}\t{written}\n", step.name);
    }
    lines
}

//! `spirula reduce`: shrinks a module that a command fails on.

use super::compile::write_spirv_module;
use super::module::read_module;
use crate::cli::args::ReduceArgs;
use crate::cli::input_file::InputFile;
use crate::cli::progress::ProgressIndicator;
use crate::cli::stderr::print_stderr_line;
use crate::cli::{CommandFailure, CommandResult, files};
use spirula_spirv::binary;
use spirula_spirv::ir::SpirvModule;
use spirula_spirv::reduce::{ReduceOptions, reduce_module};
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Runs `spirula reduce`.
pub fn run_reduce(args: &ReduceArgs) -> CommandResult {
    files::check_writable(&args.output)?;
    let input = files::read_input_file(&args.from.path)?;
    let (input, module) = read_module(input, &args.how, None)?;
    let mut trial = ReduceTrial::new(args)?;
    let first = trial.run_candidate(&module.to_words())?;
    let wanted = trial.determine_criterion(args, &first)?;
    let progress = ProgressIndicator::new_spinner("reducing");
    let mut settings = ReduceOptions::default();
    settings.attempts = args.attempts.unwrap_or(settings.attempts);
    if let Some(target) = args.how.target_env {
        settings.verify.target = target;
    }
    let mut error = None;
    let mut attempts = 0;
    let mut best = BestModuleWriter::default();
    let is_interesting = |words: &[u32]| {
        attempts += 1;
        // After a failure to run the command, no candidate is kept.
        if error.is_some() {
            return false;
        }
        let met = trial.run_candidate(words).and_then(|found| {
            let met = wanted.is_met(&found);
            if met {
                best.save_candidate(args, &input, words)?;
            }
            Ok(met)
        });
        met.unwrap_or_else(|failed| {
            error = Some(failed);
            false
        })
    };
    let report = |p: spirula_spirv::reduce::ReduceProgress| {
        progress.set_message(format!(
            "reducing {}: {} instructions left after {} attempts",
            p.pass, p.instructions, p.attempts
        ));
    };
    let small = reduce_module(&module, &settings, is_interesting, report);
    drop(progress);
    if let Some(error) = error {
        return Err(error);
    }
    let Some(small) = small else {
        let text = "the command does not fail in the same way twice";
        return Err(CommandFailure::from_message(text));
    };
    let count = |module: &SpirvModule| module.all_insts().count();
    print_stderr_line!(
        "{} of {} instructions are left after {attempts} attempts",
        count(&small),
        count(&module)
    );
    write_spirv_module(input, &small, &args.output, args.emit)
}

/// Time between two writes of the best module so far.
const PAUSE: Duration = Duration::from_secs(1);

/// Writer of the best module so far. It writes regularly, so a user who stops the command has that module.
#[derive(Default)]
struct BestModuleWriter {
    written: Option<Instant>,
}

impl BestModuleWriter {
    fn save_candidate(
        &mut self,
        args: &ReduceArgs,
        input: &InputFile,
        words: &[u32],
    ) -> CommandResult {
        let is_recent = self.written.is_some_and(|at| at.elapsed() < PAUSE);
        if is_recent || files::is_standard(&args.output) {
            return Ok(());
        }
        self.written = Some(Instant::now());
        match SpirvModule::from_words(words.to_vec()) {
            Ok(module) => write_spirv_module(input.clone(), &module, &args.output, args.emit),
            Err(_) => Ok(()),
        }
    }
}

/// Result of a command.
struct TrialOutput {
    /// Exit code; `None` where a signal ended the command.
    code: Option<i32>,
    /// Text on standard output and standard error.
    printed: Vec<u8>,
}

/// Condition that the command must satisfy on a candidate.
struct TrialCriterion {
    code: Option<Option<i32>>,
    text: Option<String>,
}

impl TrialCriterion {
    fn is_met(&self, found: &Option<TrialOutput>) -> bool {
        let Some(found) = found else { return false };
        let prints = |text: &String| {
            let text = text.as_bytes();
            text.is_empty() || found.printed.windows(text.len()).any(|part| part == text)
        };
        self.code.is_none_or(|code| code == found.code) && self.text.as_ref().is_none_or(prints)
    }
}

/// Placeholder of the module in a command.
const PLACE: &str = "{}";

fn names_place(arg: &OsStr) -> bool {
    arg.to_str().is_some_and(|text| text.contains(PLACE))
}

/// The command with its files. The files are removed at the end.
struct ReduceTrial<'a> {
    command: &'a [OsString],
    timeout: Duration,
    candidate: PathBuf,
    printed: PathBuf,
}

impl<'a> ReduceTrial<'a> {
    fn new(args: &'a ReduceArgs) -> Result<Self, CommandFailure> {
        let folder = std::env::temp_dir();
        let path = |end: &str| folder.join(format!("spirula-reduce-{}{end}", std::process::id()));
        let trial = ReduceTrial {
            command: &args.command,
            timeout: Duration::from_secs(args.timeout),
            candidate: path(".spv"),
            printed: path(".txt"),
        };
        for path in [&trial.candidate, &trial.printed] {
            File::create_new(path).map_err(|e| cannot_write(path, &e))?;
        }
        Ok(trial)
    }

    /// Runs the command on a module. A command that takes too long has no result.
    fn run_candidate(&mut self, words: &[u32]) -> Result<Option<TrialOutput>, CommandFailure> {
        let write =
            |path: &Path, bytes: &[u8]| fs::write(path, bytes).map_err(|e| cannot_write(path, &e));
        write(&self.candidate, &binary::to_bytes(words))?;
        let out = File::create(&self.printed).map_err(|e| cannot_write(&self.printed, &e))?;
        let err = out.try_clone()?;
        let [program, rest @ ..] = self.command else {
            return Err(CommandFailure::Usage("there is no command".to_owned()));
        };
        let mut process = Command::new(program);
        process.args(rest.iter().map(|arg| self.substitute_module_path(arg)));
        if !rest.iter().any(|arg| names_place(arg)) {
            process.arg(&self.candidate);
        }
        process.stdin(Stdio::null()).stdout(out).stderr(err);
        let mut child = process.spawn().map_err(|e| {
            let name = program.to_string_lossy();
            CommandFailure::from_message(format!("cannot run {name}: {e}"))
        })?;
        let began = Instant::now();
        let mut pause = Duration::from_micros(200);
        let status = loop {
            if let Some(status) = child.try_wait()? {
                break status;
            }
            if began.elapsed() > self.timeout {
                child.kill()?;
                child.wait()?;
                return Ok(None);
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(20));
        };
        let printed = fs::read(&self.printed)?;
        let code = status.code();
        Ok(Some(TrialOutput { code, printed }))
    }

    /// An argument in which the path of the module replaces each `{}`.
    fn substitute_module_path(&self, arg: &OsString) -> OsString {
        match arg.to_str() {
            Some(text) if names_place(arg) => {
                let parts: Vec<&OsStr> = text.split(PLACE).map(OsStr::new).collect();
                parts.join(self.candidate.as_os_str())
            }
            _ => arg.clone(),
        }
    }

    /// The criterion of candidates: the requested one, or else the exit code of the input.
    fn determine_criterion(
        &self,
        args: &ReduceArgs,
        first: &Option<TrialOutput>,
    ) -> Result<TrialCriterion, CommandFailure> {
        let Some(found) = first else {
            let text = format!("the command takes longer than {} s", args.timeout);
            return Err(CommandFailure::with_hint(
                text,
                "--timeout SECONDS gives it more",
            ));
        };
        let wanted = TrialCriterion {
            code: match (args.exit, &args.keeps_printing) {
                (Some(code), _) => Some(Some(code)),
                (None, Some(_)) => None,
                (None, None) => Some(found.code),
            },
            text: args.keeps_printing.clone(),
        };
        let is_success = wanted.code.is_some_and(|code| code == Some(0)) && args.exit.is_none();
        if is_success || !wanted.is_met(first) {
            let code = found.code.map_or("a signal".to_owned(), |c| c.to_string());
            let text = format!("the command does not fail on the input: it ended with {code}");
            let hint = "--exit CODE or --keeps-printing TEXT state what is kept";
            return Err(CommandFailure::with_hint(text, hint));
        }
        Ok(wanted)
    }
}

impl Drop for ReduceTrial<'_> {
    fn drop(&mut self) {
        for path in [&self.candidate, &self.printed] {
            // A failure has no one to be reported to.
            let _ = fs::remove_file(path);
        }
    }
}

fn cannot_write(path: &Path, error: &io::Error) -> CommandFailure {
    CommandFailure::from_message(format!("cannot write {}: {error}", path.display()))
}

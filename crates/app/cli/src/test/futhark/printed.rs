//! Programs as source or in printed form. The printed form comes from a file or from Futhark's own compiler.

use crate::cli::args::ProgramArgs;
use crate::cli::files::decompress_gzip;
use crate::cli::futhark::check_program_file;
use crate::test::TestOutcome;
use crate::test::session::read_referenced_file;
use spirula_futhark::compile::FileFault;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

/// Extensions that printed forms add to the names of their sources.
const ENDS: &[&str] = &[".imp", ".imp.gz"];

/// Arguments of Futhark's compiler that print the form.
const ARGUMENTS: &[&str] = &["dev", "-w", "--gpu-mem", "--compile-imp-gpu"];

/// Most time by which a printed form may be older than its source.
const MARGIN: Duration = Duration::from_secs(1);

/// Number of reported lines of the compiler's error.
const LINES: usize = 3;

/// Origin of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PrintedProgramSource {
    /// A printed form.
    File(PathBuf),
    /// A source. Its printed form may be beside it.
    Source(PathBuf),
}

impl PrintedProgramSource {
    /// Reads the program, as an input with its path. A source is read in printed form only where the options ask for
    /// it: from the file beside it, or from the compiler `futhark`. A printed form that is older than its source is not
    /// accepted.
    pub fn read_program(&self, options: &ProgramArgs) -> Result<(Vec<u8>, String), TestOutcome> {
        let source = match self {
            PrintedProgramSource::File(path) => {
                return Ok((read_decompressed(path)?, path.display().to_string()));
            }
            PrintedProgramSource::Source(source) => source,
        };
        let bytes = if options.is_printed() {
            read_printed_form(source, options.futhark.as_deref())?
        } else {
            read_referenced_file(source)?
        };
        Ok((bytes, source.display().to_string()))
    }

    /// The message by which the checker refuses a program that must be refused, in one line: its own checker, or that
    /// of the compiler `futhark` where the options name it.
    pub fn read_refusal(&self, options: &ProgramArgs) -> Result<String, TestOutcome> {
        let accepted = |path: &Path| {
            let text = "the program is accepted, which must be refused";
            Err(TestOutcome::failed(format!("{text}: {}", path.display())))
        };
        let source = match self {
            PrintedProgramSource::File(path) => return accepted(path),
            PrintedProgramSource::Source(source) => source,
        };
        let Some(futhark) = &options.futhark else {
            return match check_source(source) {
                Ok(_) => accepted(source),
                Err(message) => Ok(message),
            };
        };
        let ran = run_futhark_compiler(futhark, &["check"], source)?;
        if ran.status.success() {
            accepted(source)
        } else {
            Ok(String::from_utf8_lossy(&ran.stderr).into_owned())
        }
    }

    /// The warnings of the checker.
    pub fn read_warnings(&self) -> Result<Vec<String>, TestOutcome> {
        match self {
            PrintedProgramSource::File(_) => Err(TestOutcome::unsupported(
                "warnings about a program in printed form",
            )),
            PrintedProgramSource::Source(source) => {
                check_source(source).map_err(TestOutcome::failed)
            }
        }
    }
}

/// Checks a source: its warnings, or the messages by which it is refused.
fn check_source(source: &Path) -> Result<Vec<String>, String> {
    match check_program_file(source) {
        Ok(checked) => Ok(checked.warnings.iter().map(print_fault).collect()),
        Err(faults) => {
            let messages: Vec<String> = faults.iter().map(print_fault).collect();
            Err(messages.join("\n"))
        }
    }
}

/// The message of a fault with its notes.
fn print_fault(fault: &FileFault) -> String {
    let diagnostic = &fault.diagnostic;
    [
        std::slice::from_ref(&diagnostic.message),
        &diagnostic.notes[..],
    ]
    .concat()
    .join("\n")
}

/// The printed form of a source.
fn read_printed_form(source: &Path, futhark: Option<&Path>) -> Result<Vec<u8>, TestOutcome> {
    let beside = lies_beside(source);
    let outdated = beside.as_ref().filter(|path| is_older(path, source));
    match (outdated, beside.as_ref(), futhark) {
        (None, Some(path), _) => read_decompressed(path),
        (_, _, Some(futhark)) => print_program(futhark, source),
        (Some(path), ..) => {
            let (path, source) = (path.display(), source.display());
            let text = format!(
                "{path} is older than {source}: print it again, or say with --futhark who does"
            );
            Err(TestOutcome::failed(text))
        }
        (None, None, None) => Err(TestOutcome::failed(format!(
            "there is no printed form beside {}",
            source.display()
        ))),
    }
}

/// The printed form beside a source.
fn lies_beside(source: &Path) -> Option<PathBuf> {
    let mut paths = ENDS.iter().map(|end| {
        let mut name = source.as_os_str().to_owned();
        name.push(end);
        PathBuf::from(name)
    });
    paths.find(|path| path.is_file())
}

/// Whether a file is older than another by more than [`MARGIN`]. Copying both may swap their order.
fn is_older(path: &Path, than: &Path) -> bool {
    let time = |path: &Path| path.metadata().and_then(|m| m.modified()).ok();
    let (Some(own), Some(other)) = (time(path), time(than)) else {
        return false;
    };
    other.duration_since(own).is_ok_and(|later| later > MARGIN)
}

fn read_decompressed(path: &Path) -> Result<Vec<u8>, TestOutcome> {
    decompress_gzip(read_referenced_file(path)?).map_err(TestOutcome::failed)
}

fn print_program(futhark: &Path, source: &Path) -> Result<Vec<u8>, TestOutcome> {
    let ran = run_futhark_compiler(futhark, ARGUMENTS, source)?;
    if ran.status.success() {
        return Ok(ran.stdout);
    }
    let told = String::from_utf8_lossy(&ran.stderr);
    let lines: Vec<&str> = told.lines().take(LINES).collect();
    Err(TestOutcome::failed(format!("futhark: {}", lines.join(" "))))
}

fn run_futhark_compiler(
    futhark: &Path,
    arguments: &[&str],
    source: &Path,
) -> Result<Output, TestOutcome> {
    let mut command = Command::new(futhark);
    command.args(arguments).arg(source).stdin(Stdio::null());
    command.output().map_err(|e| {
        let path = futhark.display();
        TestOutcome::failed(format!("cannot run {path}: {e}"))
    })
}

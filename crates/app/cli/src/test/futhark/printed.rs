//! Printed forms of programs, from a file or from Futhark's own compiler.

use crate::cli::files::decompress_gzip;
use crate::test::TestOutcome;
use crate::test::session::read_referenced_file;
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

/// Origin of the printed form of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PrintedProgramSource {
    /// A file.
    File(PathBuf),
    /// A source. The printed form may be beside it.
    Source(PathBuf),
}

impl PrintedProgramSource {
    /// Reads the printed form, or runs the compiler `futhark` for it. A form that is older than its source is not
    /// accepted. Without a printed form beside it and without the compiler, the source itself is read.
    ///
    /// The result is an input with its path.
    pub fn read_program(&self, futhark: Option<&Path>) -> Result<(Vec<u8>, String), TestOutcome> {
        let source = match self {
            PrintedProgramSource::File(path) => {
                return Ok((read_decompressed(path)?, path.display().to_string()));
            }
            PrintedProgramSource::Source(source) => source,
        };
        let bytes = read_form_of(source, futhark)?;
        Ok((bytes, source.display().to_string()))
    }

    /// The error of Futhark's compiler for a program that it must refuse.
    pub fn read_compiler_refusal(&self, futhark: Option<&Path>) -> Result<String, TestOutcome> {
        let taken = |path: &Path| {
            let text = "Futhark's compiler took the program, which it has to refuse";
            Err(TestOutcome::failed(format!("{text}: {}", path.display())))
        };
        let source = match self {
            PrintedProgramSource::File(path) => return taken(path),
            PrintedProgramSource::Source(source) => source,
        };
        let Some(futhark) = futhark else {
            return match lies_beside(source) {
                Some(path) => taken(&path),
                None => Err(TestOutcome::unsupported(
                    "a program that Futhark's compiler has to refuse, and no --futhark to ask",
                )),
            };
        };
        let ran = run_futhark_compiler(futhark, &["check"], source)?;
        if ran.status.success() {
            taken(source)
        } else {
            Ok(String::from_utf8_lossy(&ran.stderr).into_owned())
        }
    }
}

/// The printed form of a source, or the source.
fn read_form_of(source: &Path, futhark: Option<&Path>) -> Result<Vec<u8>, TestOutcome> {
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
        (None, None, None) => read_decompressed(source),
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

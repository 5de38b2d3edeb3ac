//! The printed form of programs: from a file, or from Futhark's own compiler.

use crate::cli::files::decompressed;
use crate::test::Outcome;
use crate::test::session::read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Ends that the names of printed forms have besides those of their sources.
const ENDS: &[&str] = &[".imp", ".imp.gz"];

/// What has Futhark's compiler print the form.
const ARGUMENTS: &[&str] = &["dev", "-w", "--gpu-mem", "--compile-imp-gpu"];

/// Lines of the compiler's complaint that are told.
const LINES: usize = 3;

/// Where the printed form of a program comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Printed {
    /// A file.
    File(PathBuf),
    /// A source, beside which it may lie.
    Source(PathBuf),
}

impl Printed {
    /// The printed form. `futhark` is a compiler that may be asked for it.
    pub fn read(&self, futhark: Option<&Path>) -> Result<Vec<u8>, Outcome> {
        let source = match self {
            Printed::File(path) => return unpacked(path),
            Printed::Source(source) => source,
        };
        let beside = ENDS.iter().map(|end| {
            let mut name = source.as_os_str().to_owned();
            name.push(end);
            PathBuf::from(name)
        });
        match (beside.into_iter().find(|path| path.is_file()), futhark) {
            (Some(path), _) => unpacked(&path),
            (None, Some(futhark)) => print(futhark, source),
            (None, None) => Err(Outcome::unsupported(
                "a source without its printed form beside it, and no --futhark to print it",
            )),
        }
    }
}

fn unpacked(path: &Path) -> Result<Vec<u8>, Outcome> {
    decompressed(read(path)?).map_err(Outcome::failed)
}

fn print(futhark: &Path, source: &Path) -> Result<Vec<u8>, Outcome> {
    let ran = Command::new(futhark)
        .args(ARGUMENTS)
        .arg(source)
        .stdin(Stdio::null())
        .output();
    let ran = ran.map_err(|e| {
        let path = futhark.display();
        Outcome::failed(format!("cannot run {path}: {e}"))
    })?;
    if ran.status.success() {
        return Ok(ran.stdout);
    }
    let told = String::from_utf8_lossy(&ran.stderr);
    let lines: Vec<&str> = told.lines().take(LINES).collect();
    Err(Outcome::failed(format!("futhark: {}", lines.join(" "))))
}

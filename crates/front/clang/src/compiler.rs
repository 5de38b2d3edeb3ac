//! The compiler: an installed Clang, and a run of it.

use crate::error::ClangError;
use crate::job::ClangJob;
use crate::version_record::find_version_line;
use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// The oldest version that can be used: it knows SPIR-V as a target and OpenCL 3.0.
const OLDEST: u32 = 15;

/// The newest version whose name is looked for.
const NEWEST: u32 = 30;

/// Options of every run: SPIR-V, the built-in functions as Clang knows them by itself, names of arguments.
const USUAL_OPTIONS: &[&str] = &[
    "--target=spirv64-unknown-unknown",
    "-cl-kernel-arg-info",
    // The version of the device; Clang knows that of the language only.
    "-D__OPENCL_VERSION__=300",
    // Inline functions are defined where they are used, as programs expect and other drivers do.
    "-fgnu89-inline",
    // Warnings before Clang 15 and in other drivers, which later versions of Clang made errors.
    "-Wno-error=implicit-int",
    "-Wno-error=int-conversion",
    "-Wno-error=incompatible-pointer-types",
    "-emit-llvm",
    "-c",
    "-o",
    "-",
];

/// An installed Clang.
#[derive(Clone, Debug)]
pub struct ClangCompiler {
    program: PathBuf,
    version: String,
}

/// The output of Clang.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClangOutput {
    /// LLVM IR as bitcode.
    pub bitcode: Vec<u8>,
    /// Warnings.
    pub log: String,
    /// Files that the source includes, apart from its own headers and Clang's.
    pub included: Vec<PathBuf>,
}

impl ClangCompiler {
    /// Finds Clang: the program that `SPIRULA_CLANG` names, or else `clang` or `clang-N` in the folders of `PATH`.
    ///
    /// # Errors
    /// When there is none that is new enough.
    pub fn find() -> Result<ClangCompiler, ClangError> {
        ClangCompiler::find_with_records(None)
    }

    /// Finds Clang, with the versions that are recorded in a folder.
    pub(crate) fn find_with_records(folder: Option<&Path>) -> Result<ClangCompiler, ClangError> {
        let mut old = Vec::new();
        for program in list_candidates() {
            let Some(version) = find_version_line(&program, folder) else {
                continue;
            };
            let Some(number) = parse_version(&version) else {
                continue;
            };
            if number >= OLDEST {
                return Ok(ClangCompiler { program, version });
            }
            old.push(format!("{} is version {number}", program.display()));
        }
        let found = if old.is_empty() {
            String::new()
        } else {
            format!(" ({})", old.join(", "))
        };
        Err(ClangError::Missing {
            oldest: OLDEST,
            found,
        })
    }

    /// The line of `clang --version` that has the version.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Inputs of outputs besides jobs: the version, and the options of every run.
    pub(crate) fn identity(&self) -> String {
        format!("{} {}", self.version, USUAL_OPTIONS.join(" "))
    }

    /// Compiles a source.
    ///
    /// # Errors
    /// When the source has errors, or Clang cannot be run.
    pub fn compile(&self, job: &ClangJob) -> Result<ClangOutput, ClangError> {
        let folder = tempfile::tempdir().map_err(|error| self.process_error(error))?;
        let headers = folder.path().join("headers");
        write_headers(&headers, &job.headers)?;
        let prelude = folder.path().join("prelude.h");
        let written = std::fs::write(&prelude, job.write_prelude());
        written.map_err(|error| self.process_error(error))?;
        let dependencies = folder.path().join("dependencies");
        let mut command = Command::new(&self.program);
        command.args(["-x", "cl"]).args(USUAL_OPTIONS);
        command.args(job.list_extension_options());
        command.arg("-include").arg(&prelude);
        command.args(&job.options).arg("-I").arg(&headers);
        command.arg("-MD").arg("-MF").arg(&dependencies).arg("-");
        let output = self.run_process(command, job.source.as_bytes())?;
        let log = String::from_utf8_lossy(&output.stderr).into_owned();
        if !output.status.success() {
            return Err(ClangError::Source { log });
        }
        let written = std::fs::read_to_string(&dependencies).unwrap_or_default();
        let included = parse_dependencies(&written);
        let included = included.filter(|path| !path.starts_with(folder.path()));
        Ok(ClangOutput {
            bitcode: output.stdout,
            log,
            included: included.collect(),
        })
    }

    fn run_process(&self, mut command: Command, input: &[u8]) -> Result<Output, ClangError> {
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|error| self.process_error(error))?;
        let stdin = child.stdin.take();
        std::thread::scope(|scope| {
            // Clang may print before it has read everything.
            scope.spawn(move || stdin.map(|mut stdin| stdin.write_all(input)));
            child.wait_with_output()
        })
        .map_err(|error| self.process_error(error))
    }

    fn process_error(&self, error: std::io::Error) -> ClangError {
        ClangError::Process {
            program: self.program.display().to_string(),
            error,
        }
    }
}

/// Programs that may be Clang, the likeliest first.
fn list_candidates() -> Vec<PathBuf> {
    if let Some(own) = std::env::var_os("SPIRULA_CLANG").filter(|path| !path.is_empty()) {
        return vec![PathBuf::from(own)];
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let numbered = (OLDEST..=NEWEST)
        .rev()
        .map(|number| format!("clang-{number}"));
    let names = std::iter::once("clang".to_owned()).chain(numbered);
    let mut found = Vec::new();
    for name in names {
        let name = OsString::from(format!("{name}{}", std::env::consts::EXE_SUFFIX));
        let paths = folders.iter().map(|folder| folder.join(&name));
        found.extend(paths.filter(|path| path.is_file()));
    }
    found
}

/// The number of a Clang's version by the line that has it.
fn parse_version(line: &str) -> Option<u32> {
    let number = line.split("clang version ").nth(1)?.split('.').next()?;
    number.parse().ok()
}

fn write_headers(folder: &Path, headers: &[(String, String)]) -> Result<(), ClangError> {
    for (name, text) in headers {
        let write = || {
            let path = folder.join(name.trim_start_matches('/'));
            std::fs::create_dir_all(path.parent().unwrap_or(folder))?;
            std::fs::write(path, text)
        };
        write().map_err(|error| ClangError::Header {
            name: name.clone(),
            error,
        })?;
    }
    Ok(())
}

/// The files of a rule of `make`, apart from the source and Clang's own headers.
fn parse_dependencies(rule: &str) -> impl Iterator<Item = PathBuf> {
    let files = rule.split_once(": ").map_or("", |(_, files)| files);
    let files = files.replace("\\\n", " ").replace("\\ ", "\u{0}");
    let names: Vec<String> = files
        .split_whitespace()
        .map(|f| f.replace('\u{0}', " "))
        .collect();
    let own = |name: &String| {
        name == "-" || name.ends_with("opencl-c-base.h") || name.ends_with("opencl-c.h")
    };
    names
        .into_iter()
        .filter(move |name| !own(name))
        .map(PathBuf::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dependencies_are_files_of_the_rule() {
        let rule = "-: - \\\n  /usr/lib/clang/19/include/opencl-c-base.h my\\ file.h \\\n  b.h\n";
        let found: Vec<_> = parse_dependencies(rule).collect();
        assert_eq!(found, [PathBuf::from("my file.h"), PathBuf::from("b.h")]);
    }
}

//! The compilers: an installed glslang or DXC, and a run of it.

use crate::error::ShaderError;
use crate::job::{ShaderJob, ShaderLanguage};
use std::ffi::OsString;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The newest environment of Vulkan that the oldest used compilers know.
const ENVIRONMENT: &str = "vulkan1.1";

/// A kind of compiler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ShaderProgramKind {
    Glslang,
    Dxc,
}

/// Names of programs, and the variables that name another program in their place.
const PROGRAMS: &[(ShaderProgramKind, &str, &[&str])] = &[
    (ShaderProgramKind::Dxc, "SPIRULA_DXC", &["dxc"]),
    (
        ShaderProgramKind::Glslang,
        "SPIRULA_GLSLANG",
        &["glslangValidator", "glslang"],
    ),
];

/// An installed compiler.
#[derive(Clone, Debug)]
pub struct ShaderProgram {
    kind: ShaderProgramKind,
    path: PathBuf,
}

impl ShaderProgram {
    /// Finds a compiler of a language. DXC is preferred for HLSL.
    pub fn find(language: ShaderLanguage) -> Result<ShaderProgram, ShaderError> {
        let suits = |kind: ShaderProgramKind| {
            language == ShaderLanguage::Hlsl || kind == ShaderProgramKind::Glslang
        };
        let suitable = || PROGRAMS.iter().filter(|(kind, ..)| suits(*kind));
        for (kind, variable, names) in suitable() {
            if let Some(path) = find_program(variable, names) {
                return Ok(ShaderProgram { kind: *kind, path });
            }
        }
        let programs = suitable()
            .map(|(_, variable, names)| format!("{} (or set {variable} to its path)", names[0]));
        Err(ShaderError::Missing {
            language: language.name(),
            programs: programs.collect::<Vec<_>>().join(", or "),
        })
    }
}

/// The program that a variable names, or else one of these in the folders of `PATH`.
fn find_program(variable: &str, names: &[&str]) -> Option<PathBuf> {
    if let Some(own) = std::env::var_os(variable).filter(|path| !path.is_empty()) {
        return Some(PathBuf::from(own));
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let file = |name: &&str| OsString::from(format!("{name}{}", std::env::consts::EXE_SUFFIX));
    let mut paths = names
        .iter()
        .flat_map(|name| folders.iter().map(move |folder| folder.join(file(name))));
    paths.find(|path| path.is_file())
}

/// Runs a compiler. The result is the module, or what the compiler printed.
pub fn run_compiler(
    program: &ShaderProgram,
    job: &ShaderJob<'_>,
) -> Result<Result<Vec<u8>, String>, ShaderError> {
    let fail = |error: io::Error| ShaderError::Process {
        program: program.path.display().to_string(),
        error,
    };
    let folder = tempfile::tempdir().map_err(fail)?;
    let module = folder.path().join("module.spv");
    let mut command = Command::new(&program.path);
    match program.kind {
        ShaderProgramKind::Dxc => {
            let source = folder.path().join("source.hlsl");
            std::fs::write(&source, job.source).map_err(fail)?;
            command.args(["-spirv", "-T", "cs_6_0", "-E", job.find_entry_point()]);
            command.arg(format!("-fspv-target-env={ENVIRONMENT}"));
            command.arg("-Fo").arg(&module).arg(&source);
            command.stdin(Stdio::null());
        }
        ShaderProgramKind::Glslang => {
            add_glslang_options(&mut command, job, &module);
            command.stdin(Stdio::piped());
        }
    }
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(fail)?;
    let stdin = child.stdin.take();
    let output = std::thread::scope(|scope| {
        // The compiler may print before it has read everything.
        scope.spawn(move || stdin.map(|mut stdin| stdin.write_all(job.source.as_bytes())));
        child.wait_with_output()
    });
    let output = output.map_err(fail)?;
    if output.status.success() {
        return std::fs::read(&module).map(Ok).map_err(fail);
    }
    let texts = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes));
    Ok(Err(texts.join("\n")))
}

/// Adds the options by which glslang reads a source from standard input.
fn add_glslang_options(command: &mut Command, job: &ShaderJob<'_>, module: &Path) {
    let stage = match job.language {
        ShaderLanguage::Glsl => job.find_stage(),
        ShaderLanguage::Hlsl => "comp",
    };
    command.args(["-V", "--target-env", ENVIRONMENT, "--stdin", "-S", stage]);
    if job.language == ShaderLanguage::Hlsl {
        command.args(["-D", "-e", job.find_entry_point()]);
    }
    command.arg("-o").arg(module);
}

//! Checks of a release: programs need no newer glibc than stated, and an archive works apart from the checkout.

use super::content::{DOCUMENTS, LINK_FOLDER, run_command};
use super::file_tree::{FileTree, TreeEntry};
use super::targets::{GlibcVersion, ReleaseLinking, ReleaseTarget};
use anyhow::{Context, Result, bail, ensure};
use flate2::read::GzDecoder;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A call of the command, and a part of its output.
struct ExpectedOutput {
    /// The program, in the archive.
    program: &'static str,
    arguments: &'static [&'static str],
    part: &'static str,
}

/// Calls in the folder of an archive. They read a module, compile, verify, and run machine code.
const CALLS: &[ExpectedOutput] = &[
    ExpectedOutput {
        program: "bin/spirula",
        arguments: &["--version"],
        part: concat!("spirula ", env!("CARGO_PKG_VERSION")),
    },
    ExpectedOutput {
        program: "bin/spirula",
        arguments: &[
            "run",
            "share/spirula/examples/double.spvasm",
            "--global",
            "4",
            "--arg",
            "4xu32=iota",
        ],
        part: "0 2 4 6",
    },
    ExpectedOutput {
        program: "bin/spirula",
        arguments: &[
            "compile",
            "share/spirula/examples/mandelbrot.ll",
            "--emit",
            "spvasm",
        ],
        part: "OpEntryPoint Kernel",
    },
];

/// Calls by the names of SPIRV-Tools. The name of an entry point stands in the binary.
const LINKED_CALLS: &[ExpectedOutput] = &[ExpectedOutput {
    program: "spirv-as",
    arguments: &["share/spirula/examples/double.spvasm", "-o", "-"],
    part: "double",
}];

/// Refuses programs that need a newer glibc than the target states.
///
/// # Errors
/// When one does.
pub fn check_glibc(tree: &FileTree, target: &ReleaseTarget) -> Result<()> {
    let ReleaseLinking::Glibc(oldest) = target.linking else {
        return Ok(());
    };
    for (path, entry) in tree.iter().filter(|(path, _)| !path.ends_with(".a")) {
        let (TreeEntry::Data(bytes) | TreeEntry::Program(bytes)) = entry else {
            continue;
        };
        if !bytes.starts_with(b"\x7fELF") {
            continue;
        }
        let newest = find_newest_glibc(bytes);
        let newest = newest.with_context(|| format!("{path} names no version of glibc"))?;
        ensure!(
            newest <= oldest,
            "{path} needs glibc {newest}, which is newer than {oldest}"
        );
    }
    Ok(())
}

/// The newest version of glibc that a program's table of versions names, as `GLIBC_2.28`.
fn find_newest_glibc(program: &[u8]) -> Option<GlibcVersion> {
    const PREFIX: &[u8] = b"GLIBC_";
    let starts = program
        .windows(PREFIX.len() + 1)
        .enumerate()
        .filter(|(_, window)| window.starts_with(PREFIX));
    starts
        .filter_map(|(at, _)| {
            let rest = &program[at + PREFIX.len()..];
            let end = rest.iter().position(|&byte| byte == 0)?;
            let text = std::str::from_utf8(&rest[..end.min(16)]).ok()?;
            let mut numbers = text.split('.').map(str::parse);
            let major = numbers.next()?.ok()?;
            let minor = numbers.next()?.ok()?;
            Some(GlibcVersion { major, minor })
        })
        .max()
}

/// Unpacks an archive into an empty folder, and runs its programs there with an empty environment. Returns whether they were run.
///
/// Programs for another processor are run by the emulator that `CARGO_TARGET_TRIPLE_RUNNER` names, as by Cargo.
///
/// # Errors
/// When a program does not start, fails, or prints something else.
pub fn check_archive(archive: &Path, target: &ReleaseTarget, root: &Path) -> Result<bool> {
    let name = target.triple.to_uppercase().replace('-', "_");
    let runner = std::env::var(format!("CARGO_TARGET_{name}_RUNNER")).ok();
    if runner.is_none() && !target.runs_here() {
        return Ok(false);
    }
    let runner: Vec<_> = runner
        .iter()
        .flat_map(|text| text.split_whitespace())
        .collect();
    let empty = tempfile::tempdir()?;
    let bytes = fs::File::open(archive)?;
    tar::Archive::new(GzDecoder::new(bytes)).unpack(empty.path())?;
    let folder = find_only_folder(empty.path())?;
    for call in CALLS {
        check_call(&folder, &folder.join(call.program), call, &runner)?;
    }
    if target.has_links() {
        for call in LINKED_CALLS {
            let program = folder.join(LINK_FOLDER).join(call.program);
            if runner.is_empty() {
                check_call(&folder, &program, call, &runner)?;
            } else {
                // An emulator passes the file's name, but not the link's.
                ensure!(program.is_file(), "{} is missing", program.display());
            }
        }
    }
    for name in ["THIRD-PARTY.txt", "LICENSE-MIT", "bill.cdx.json"] {
        let path = folder.join(DOCUMENTS).join(name);
        ensure!(path.is_file(), "{} is missing", path.display());
    }
    if target.has_libraries() && runner.is_empty() && cfg!(unix) {
        check_library(&folder, root)?;
    } else if target.has_libraries() {
        eprintln!("NOT RUN: a program with the C library of {}", target.triple);
    }
    Ok(true)
}

fn check_call(folder: &Path, program: &Path, call: &ExpectedOutput, runner: &[&str]) -> Result<()> {
    let mut command = match runner {
        [] => Command::new(program),
        [emulator, options @ ..] => {
            let mut command = Command::new(emulator);
            command.args(options).arg(program);
            command
        }
    };
    command
        .args(call.arguments)
        .current_dir(folder)
        .env_clear()
        .env("SPIRULA_CACHE_DIR", "");
    if cfg!(windows) {
        // Programs of Windows find its libraries by this variable.
        command.envs(std::env::var("SystemRoot").map(|root| ("SystemRoot", root)));
    }
    let output = run_command(&mut command)?;
    let text = String::from_utf8_lossy(&output);
    ensure!(
        text.contains(call.part),
        "{} {} prints no `{}`: {text}",
        program.display(),
        call.arguments.join(" "),
        call.part
    );
    Ok(())
}

/// Compiles the example of the C library with the options of pkg-config, and runs it.
fn check_library(folder: &Path, root: &Path) -> Result<()> {
    let program = folder.join("modules");
    let mut ask = Command::new("pkg-config");
    ask.args(["--cflags", "--libs", "spirula_c", "spirula_futhark_c"])
        .env("PKG_CONFIG_PATH", folder.join("lib/pkgconfig"));
    let flags = run_command(&mut ask).context("the C library is checked with pkg-config")?;
    let flags = String::from_utf8(flags)?;
    let mut compile = Command::new("cc");
    compile
        .arg(root.join("crates/bindings/c/examples/modules.c"))
        .args(flags.split_whitespace())
        .arg("-o")
        .arg(&program);
    run_command(&mut compile).context("the C library is checked with cc")?;
    let mut run = Command::new(&program);
    let libraries = folder.join("lib");
    run.env("LD_LIBRARY_PATH", &libraries)
        .env("DYLD_LIBRARY_PATH", &libraries);
    let text = String::from_utf8(run_command(&mut run)?)?;
    ensure!(
        text.contains("OpTypeInt 32 0"),
        "the C library prints no module: {text}"
    );
    Ok(())
}

fn find_only_folder(folder: &Path) -> Result<PathBuf> {
    let mut entries = fs::read_dir(folder)?;
    match [entries.next(), entries.next()] {
        [Some(only), None] => Ok(only?.path()),
        _ => bail!("the archive does not contain one folder"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::targets::TARGETS;
    use super::*;

    fn make_tree(versions: &str) -> FileTree {
        let mut tree = FileTree::default();
        tree.add_program("bin/spirula", format!("\x7fELF\0{versions}\0").into_bytes());
        tree
    }

    #[test]
    fn newer_versions_of_glibc_are_refused() {
        let target = &TARGETS[0];
        let right = make_tree("GLIBC_2.2.5\0GLIBC_2.28\0GLIBC_PRIVATE");
        check_glibc(&right, target).expect("2.28 is not newer");
        let wrong = make_tree("GLIBC_2.2.5\0GLIBC_2.34");
        let error = check_glibc(&wrong, target).expect_err("2.34 is newer");
        assert!(error.to_string().contains("needs glibc 2.34"), "{error}");
        let silent = make_tree("");
        check_glibc(&silent, target).expect_err("a program without versions was not read right");
    }
}

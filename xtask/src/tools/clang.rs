//! Clang, by which the OpenCL driver compiles sources.

use super::apt::{Archive, library_folders};
use super::launcher::write_launcher;
use anyhow::{Result, bail};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The oldest version that the driver takes.
const OLDEST: u32 = 15;

/// The package that is fetched, and its program.
const PACKAGE: &str = "clang-19";

/// Finds Clang: `SPIRULA_CLANG`, one that was fetched before, or one on the system's path. Otherwise it is fetched.
pub fn find_or_fetch_clang(target: &Path) -> Result<PathBuf> {
    let tools = target.join("tools");
    let fetched = tools.join("bin/clang");
    let named = std::env::var_os("SPIRULA_CLANG")
        .map(PathBuf::from)
        .into_iter();
    let system = ["clang", PACKAGE].map(PathBuf::from);
    for path in named.chain([fetched.clone()]).chain(system) {
        if query_clang_version(&path).is_some_and(|version| version >= OLDEST) {
            return Ok(path);
        }
    }
    eprintln!("fetching Clang (Debian's {PACKAGE})");
    let root = tools.join("clang");
    let archive = Archive::open_archive(&tools.join("apt-clang"), &["bookworm"])?;
    archive.unpack_packages("bookworm", &[PACKAGE, "libc6"], &root)?;
    let llvm = root.canonicalize()?.join("usr/lib/llvm-19");
    let mut folders = library_folders(&root)?;
    folders.push(llvm.join("lib"));
    // Clang looks for its headers beside the program that runs, which is the loader.
    let headers = format!("-resource-dir '{}'", llvm.join("lib/clang/19").display());
    write_launcher(&fetched, &llvm.join("bin/clang"), &headers, &folders)?;
    match query_clang_version(&fetched) {
        Some(version) if version >= OLDEST => Ok(fetched),
        Some(version) => bail!("the archive has only version {version} of Clang"),
        None => bail!("the fetched Clang does not start"),
    }
}

/// The number in the line `… clang version 19.1.7 …`.
fn query_clang_version(path: &Path) -> Option<u32> {
    let output = Command::new(path).arg("--version").output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let version = text.split_once("clang version ")?.1;
    version.split('.').next()?.parse().ok()
}

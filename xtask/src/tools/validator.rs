//! The Khronos validator, started with the C library that it was built for.

use super::apt::{Archive, library_folders};
use super::launcher::write_launcher;
use anyhow::{Result, bail};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The oldest accepted version.
const OLDEST: (u32, u32) = (2026, 4);

/// Finds the validator: `SPIRV_VAL`, one that was fetched before, or one on the system's path. Otherwise it is fetched.
pub fn find_or_fetch_validator(target: &Path) -> Result<PathBuf> {
    let tools = target.join("tools");
    let fetched = tools.join("bin/spirv-val");
    let named = std::env::var_os("SPIRV_VAL").map(PathBuf::from).into_iter();
    for path in named.chain([fetched.clone(), PathBuf::from("spirv-val")]) {
        if query_validator_version(&path).is_some_and(|v| v >= OLDEST) {
            return Ok(path);
        }
    }
    eprintln!("fetching the SPIR-V validator (Debian's spirv-tools)");
    let root = tools.join("spirv-tools");
    let archive = Archive::open_archive(&tools.join("apt-sid"), &["sid"])?;
    archive.unpack_packages("sid", &["spirv-tools", "libc6"], &root)?;
    let program = root.join("usr/bin/spirv-val");
    write_launcher(&fetched, &program, "", &library_folders(&root)?)?;
    match query_validator_version(&fetched) {
        Some(v) if v >= OLDEST => Ok(fetched),
        Some((year, n)) => bail!("the archive has only version {year}.{n} of the validator"),
        None => bail!("the fetched validator does not start"),
    }
}

/// Year and number that `spirv-val --version` prints.
fn query_validator_version(path: &Path) -> Option<(u32, u32)> {
    let output = Command::new(path).arg("--version").output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let (year, rest) = text.split_once("SPIRV-Tools v")?.1.split_once('.')?;
    let number: String = rest.chars().take_while(char::is_ascii_digit).collect();
    Some((year.parse().ok()?, number.parse().ok()?))
}

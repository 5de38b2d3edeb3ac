//! Launchers: scripts that start unpacked programs with the libraries beside them.

use anyhow::{Context, Result};
use std::fs;
use std::path::{Path, PathBuf};

/// Writes a script that starts an unpacked program with arguments, and with libraries of folders, one of which has their loader.
pub fn write_launcher(
    script: &Path,
    program: &Path,
    arguments: &str,
    folders: &[PathBuf],
) -> Result<()> {
    let names = folders.iter().flat_map(fs::read_dir).flatten();
    let mut loaders = names.filter_map(|e| Some(e.ok()?.path()));
    let loader = loaders
        .find(|p| {
            p.file_name()
                .is_some_and(|n| n.to_string_lossy().starts_with("ld-linux"))
        })
        .context("the archive's C library has no loader")?;
    let text = format!(
        "#!/bin/sh\nexec '{}' --library-path '{}' '{}' {arguments} \"$@\"\n",
        loader.display(),
        std::env::join_paths(folders)?.display(),
        program.canonicalize()?.display()
    );
    if let Some(bin) = script.parent() {
        fs::create_dir_all(bin)?;
    }
    fs::write(script, text)?;
    make_executable(script)
}

#[cfg(unix)]
fn make_executable(path: &Path) -> Result<()> {
    use std::os::unix::fs::PermissionsExt;
    Ok(fs::set_permissions(
        path,
        fs::Permissions::from_mode(0o755),
    )?)
}

#[cfg(not(unix))]
fn make_executable(_path: &Path) -> Result<()> {
    anyhow::bail!("tools are fetched on Linux only")
}

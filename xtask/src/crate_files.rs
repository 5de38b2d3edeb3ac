//! Content of the files that `cargo package` makes: what a registry takes, and what its readers see.

use anyhow::{Context, Result, ensure};
use flate2::read::GzDecoder;
use std::collections::BTreeSet;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Files that each package contains, beside the page that its manifest names.
const FILES: &[&str] = &[MANIFEST, "LICENSE-APACHE", "LICENSE-MIT"];

/// The manifest, as Cargo rewrites it for the registry.
const MANIFEST: &str = "Cargo.toml";

/// Most bytes that the registry takes.
const MOST_BYTES: u64 = 10 << 20;

/// Removes the files of an earlier run.
///
/// # Errors
/// When one cannot be removed.
pub fn remove_crate_files(folder: &Path) -> Result<()> {
    for path in list_crate_files(folder) {
        fs::remove_file(path)?;
    }
    Ok(())
}

/// Checks the files of a folder.
///
/// # Errors
/// When there are none, or one lacks a file or is too large.
pub fn check_crate_files(folder: &Path) -> Result<()> {
    let paths = list_crate_files(folder);
    ensure!(!paths.is_empty(), "{} has no packages", folder.display());
    let mut faults = Vec::new();
    for path in &paths {
        let name = path.file_stem().unwrap_or_default().display().to_string();
        let content = read_content(path, &name).with_context(|| path.display().to_string())?;
        let page = content.page.as_deref().unwrap_or("page of its own");
        let expected = FILES.iter().chain([&page]);
        let missing = expected.filter(|file| !content.files.contains(**file));
        faults.extend(missing.map(|file| format!("{name} has no {file}")));
        let bytes = fs::metadata(path)?.len();
        if bytes > MOST_BYTES {
            faults.push(format!("{name} has {bytes} bytes, at most {MOST_BYTES}"));
        }
    }
    ensure!(faults.is_empty(), "{}", faults.join("\n"));
    eprintln!("  {} packages", paths.len());
    Ok(())
}

fn list_crate_files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let mut found: Vec<_> = paths
        .filter(|path| path.extension().is_some_and(|ending| ending == "crate"))
        .collect();
    found.sort();
    found
}

/// The files of a package, and the one that the registry shows.
#[derive(Default)]
struct CrateContent {
    files: BTreeSet<String>,
    page: Option<String>,
}

fn read_content(path: &Path, name: &str) -> Result<CrateContent> {
    let mut archive = tar::Archive::new(GzDecoder::new(fs::File::open(path)?));
    let mut content = CrateContent::default();
    for entry in archive.entries()? {
        let mut entry = entry?;
        let path = entry.path()?;
        let path = path.strip_prefix(name).unwrap_or(&path).display();
        let path = path.to_string();
        if path == MANIFEST {
            let mut text = String::new();
            entry.read_to_string(&mut text)?;
            let mut lines = text.lines();
            let page = lines.find_map(|line| line.strip_prefix("readme = \"")?.strip_suffix('"'));
            content.page = page.map(str::to_owned);
        }
        content.files.insert(path);
    }
    Ok(content)
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::{Compression, write::GzEncoder};

    fn write_crate(folder: &Path, files: &[&str]) {
        let file = fs::File::create(folder.join("a-1.0.0.crate")).expect("is made");
        let mut archive = tar::Builder::new(GzEncoder::new(file, Compression::fast()));
        for name in files {
            let content: &[u8] = if *name == MANIFEST {
                b"[package]\nreadme = \"GUIDE.md\"\n"
            } else {
                b""
            };
            let mut header = tar::Header::new_gnu();
            header.set_size(content.len() as u64);
            let path = format!("a-1.0.0/{name}");
            archive
                .append_data(&mut header, path, content)
                .expect("is written");
        }
        archive.into_inner().expect("ends").finish().expect("ends");
    }

    #[test]
    fn missing_files_are_found() {
        let folder = tempfile::tempdir().expect("a folder can be made");
        check_crate_files(folder.path()).expect_err("there are no packages");
        write_crate(folder.path(), &[FILES, &["GUIDE.md"]].concat());
        check_crate_files(folder.path()).expect("the package is whole");
        write_crate(folder.path(), &[MANIFEST, "LICENSE-APACHE"]);
        let error = check_crate_files(folder.path()).expect_err("files are missing");
        let expected = "a-1.0.0 has no LICENSE-MIT\na-1.0.0 has no GUIDE.md";
        assert_eq!(error.to_string(), expected);
        remove_crate_files(folder.path()).expect("is removed");
        check_crate_files(folder.path()).expect_err("there are no packages");
    }
}

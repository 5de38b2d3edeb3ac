//! Packages of Debian's archive, unpacked without being installed.

use anyhow::{Context, Result, ensure};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const KEY: &str = "/usr/share/keyrings/debian-archive-keyring.gpg";

/// A separate package state that knows some suites of the archive.
pub struct Archive {
    folder: PathBuf,
}

impl Archive {
    /// Creates the state in a folder and updates its lists.
    pub fn open_archive(folder: &Path, suites: &[&str]) -> Result<Archive> {
        for part in ["lists/partial", "cache/archives/partial", "sources"] {
            fs::create_dir_all(folder.join(part))?;
        }
        fs::write(folder.join("status"), "")?;
        let mirror =
            find_system_mirror().unwrap_or_else(|| "http://deb.debian.org/debian".to_owned());
        // Updates for security have a mirror of their own, beside the others.
        let line = |suite: &&str| {
            let part = if suite.ends_with("-security") {
                "-security"
            } else {
                ""
            };
            format!("deb [signed-by={KEY}] {mirror}{part} {suite} main\n")
        };
        let sources: String = suites.iter().map(line).collect();
        fs::write(folder.join("sources.list"), sources)?;
        let archive = Archive {
            folder: folder.canonicalize()?,
        };
        archive.run_apt(&["update", "-qq"])?;
        Ok(archive)
    }

    /// Unpacks packages and their dependencies, preferably from a suite.
    pub fn unpack_packages(&self, suite: &str, packages: &[&str], root: &Path) -> Result<()> {
        let install = [
            "install",
            "-qq",
            "-y",
            "--no-install-recommends",
            "--download-only",
            "-t",
            suite,
        ];
        self.run_apt(&[&install, packages].concat())?;
        fs::create_dir_all(root)?;
        for entry in fs::read_dir(self.folder.join("cache/archives"))? {
            let path = entry?.path();
            if path.extension().is_some_and(|e| e == "deb") {
                let status = Command::new("dpkg")
                    .arg("-x")
                    .args([&path, root])
                    .status()?;
                ensure!(status.success(), "dpkg could not unpack {}", path.display());
            }
        }
        Ok(())
    }

    fn run_apt(&self, arguments: &[&str]) -> Result<()> {
        let option =
            |name: &str, part: &str| format!("-oDir::{name}={}", self.folder.join(part).display());
        let status = Command::new("apt-get")
            .args([
                option("Etc::sourcelist", "sources.list"),
                option("Etc::sourceparts", "sources"),
                option("State::Lists", "lists"),
                option("State::status", "status"),
                option("Cache", "cache"),
                "-oAPT::Sandbox::User=root".to_owned(),
                "-oDebug::NoLocking=1".to_owned(),
            ])
            .args(arguments)
            .stdout(Stdio::null())
            .status()
            .context("apt-get does not start")?;
        ensure!(status.success(), "apt-get {} failed", arguments.join(" "));
        Ok(())
    }
}

/// The folders of an unpacked root with shared libraries.
pub fn library_folders(root: &Path) -> Result<Vec<PathBuf>> {
    let root = root.canonicalize()?;
    let mut found = Vec::new();
    for part in ["usr/lib", "lib"] {
        for entry in fs::read_dir(root.join(part)).into_iter().flatten() {
            let path = entry?.path();
            if path
                .file_name()
                .is_some_and(|n| n.to_string_lossy().ends_with("-linux-gnu"))
            {
                found.push(path);
            }
        }
    }
    ensure!(!found.is_empty(), "{} holds no libraries", root.display());
    Ok(found)
}

/// The mirror that the system itself uses.
fn find_system_mirror() -> Option<String> {
    let output = Command::new("apt-cache").arg("policy").output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let word = text
        .split_whitespace()
        .find(|w| w.starts_with("http") && w.ends_with("/debian"))?;
    Some(word.to_owned())
}

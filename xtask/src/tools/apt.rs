//! Packages of Debian's archive without installing them.

use anyhow::{Context, Result, ensure};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const KEY: &str = "/usr/share/keyrings/debian-archive-keyring.gpg";

/// A package state of our own that knows some suites of the archive.
pub struct Archive {
    folder: PathBuf,
}

impl Archive {
    /// Makes the state in a folder and brings its lists up to date.
    pub fn open(folder: &Path, suites: &[&str]) -> Result<Archive> {
        for part in ["lists/partial", "cache/archives/partial", "sources"] {
            fs::create_dir_all(folder.join(part))?;
        }
        fs::write(folder.join("status"), "")?;
        let mirror = mirror().unwrap_or_else(|| "http://deb.debian.org/debian".to_owned());
        let line = |suite: &&str| format!("deb [signed-by={KEY}] {mirror} {suite} main\n");
        let sources: String = suites.iter().map(line).collect();
        fs::write(folder.join("sources.list"), sources)?;
        let archive = Archive {
            folder: folder.canonicalize()?,
        };
        archive.run(&["update", "-qq"])?;
        Ok(archive)
    }

    /// Unpacks packages and everything that they depend on; `PACKAGE/SUITE` chooses a suite.
    pub fn unpack(&self, packages: &[&str], root: &Path) -> Result<()> {
        let install = [
            "install",
            "-qq",
            "-y",
            "--no-install-recommends",
            "--download-only",
        ];
        self.run(&[&install, packages].concat())?;
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

    fn run(&self, arguments: &[&str]) -> Result<()> {
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

/// The folder of an unpacked root that holds its shared libraries.
pub fn libraries(root: &Path) -> Result<PathBuf> {
    let library = root.canonicalize()?.join("usr/lib");
    for entry in fs::read_dir(&library)? {
        let path = entry?.path();
        if path
            .file_name()
            .is_some_and(|n| n.to_string_lossy().ends_with("-linux-gnu"))
        {
            return Ok(path);
        }
    }
    anyhow::bail!("{} holds no libraries", library.display())
}

/// The mirror that the system itself uses.
fn mirror() -> Option<String> {
    let output = Command::new("apt-cache").arg("policy").output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let word = text
        .split_whitespace()
        .find(|w| w.starts_with("http") && w.ends_with("/debian"))?;
    Some(word.to_owned())
}

//! External tools that the tests need, fetched from Debian's archive into `target/tools`.
//!
//! Nothing of the system changes: packages are downloaded with a package state of our own, unpacked
//! beside each other and started through their own loader, so that a newer C library than the
//! system's does no harm.

use anyhow::{Context, Result, bail, ensure};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The oldest validator that is asked.
const VALIDATOR: (u32, u32) = (2026, 4);

/// Path of the Khronos validator: `SPIRV_VAL`, else one that was fetched before, else on the
/// system's path, else fetched now.
pub fn validator(target: &Path) -> Result<PathBuf> {
    let fetched = target.join("tools/bin/spirv-val");
    let candidates = std::env::var_os("SPIRV_VAL").map(PathBuf::from).into_iter();
    for path in candidates.chain([fetched.clone(), PathBuf::from("spirv-val")]) {
        if version(&path).is_some_and(|v| v >= VALIDATOR) {
            return Ok(path);
        }
    }
    eprintln!(
        "fetching the SPIR-V validator (Debian's spirv-tools) into {}",
        target.display()
    );
    fetch_spirv_tools(&target.join("tools"))?;
    match version(&fetched) {
        Some(v) if v >= VALIDATOR => Ok(fetched),
        Some((year, n)) => bail!("the archive has only version {year}.{n} of the validator"),
        None => bail!("the fetched validator does not start"),
    }
}

/// Year and number that `spirv-val --version` prints.
fn version(path: &Path) -> Option<(u32, u32)> {
    let output = Command::new(path).arg("--version").output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let (year, rest) = text.split_once("SPIRV-Tools v")?.1.split_once('.')?;
    let number: String = rest.chars().take_while(char::is_ascii_digit).collect();
    Some((year.parse().ok()?, number.parse().ok()?))
}

fn fetch_spirv_tools(tools: &Path) -> Result<()> {
    let work = tools.join("apt");
    for folder in ["lists/partial", "cache/archives/partial", "sources"] {
        fs::create_dir_all(work.join(folder))?;
    }
    fs::write(work.join("status"), "")?;
    let mirror = mirror().unwrap_or_else(|| "http://deb.debian.org/debian".to_owned());
    let key = "/usr/share/keyrings/debian-archive-keyring.gpg";
    fs::write(
        work.join("sid.list"),
        format!("deb [signed-by={key}] {mirror} sid main\n"),
    )?;
    apt(&work, &["update", "-qq"])?;
    apt(
        &work,
        &[
            "install",
            "-qq",
            "-y",
            "--no-install-recommends",
            "--download-only",
            "spirv-tools",
            "libc6",
        ],
    )?;
    let root = tools.join("root");
    fs::create_dir_all(&root)?;
    for entry in fs::read_dir(work.join("cache/archives"))? {
        let path = entry?.path();
        if path.extension().is_some_and(|e| e == "deb") {
            let status = Command::new("dpkg")
                .arg("-x")
                .args([&path, &root])
                .status()?;
            ensure!(status.success(), "dpkg could not unpack {}", path.display());
        }
    }
    write_launcher(tools, &root, "spirv-val")
}

/// A script that starts an unpacked program with the libraries unpacked beside it.
fn write_launcher(tools: &Path, root: &Path, program: &str) -> Result<()> {
    let root = root.canonicalize()?;
    let libraries = fs::read_dir(root.join("usr/lib"))?
        .filter_map(|e| Some(e.ok()?.path()))
        .find(|p| p.join("libc.so.6").exists())
        .context("the archive's C library was not unpacked")?;
    let loader = fs::read_dir(&libraries)?
        .filter_map(|e| Some(e.ok()?.path()))
        .find(|p| {
            p.file_name()
                .is_some_and(|n| n.to_string_lossy().starts_with("ld-linux"))
        })
        .context("the archive's C library has no loader")?;
    let bin = tools.join("bin");
    fs::create_dir_all(&bin)?;
    let script = format!(
        "#!/bin/sh\nexec '{}' --library-path '{}' '{}' \"$@\"\n",
        loader.display(),
        libraries.display(),
        root.join("usr/bin").join(program).display()
    );
    let path = bin.join(program);
    fs::write(&path, script)?;
    make_executable(&path)
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
    bail!("the validator is fetched on Linux only: install SPIRV-Tools and set SPIRV_VAL")
}

fn apt(work: &Path, arguments: &[&str]) -> Result<()> {
    let option = |name: &str, value: &str| format!("-o{name}={value}");
    let at = |part: &str| {
        work.join(part)
            .canonicalize()
            .map(|p| p.display().to_string())
    };
    let status = Command::new("apt-get")
        .args([
            option("Dir::Etc::sourcelist", &at("sid.list")?),
            option("Dir::Etc::sourceparts", &at("sources")?),
            option("Dir::State::Lists", &at("lists")?),
            option("Dir::State::status", &at("status")?),
            option("Dir::Cache", &at("cache")?),
            option("APT::Sandbox::User", "root"),
            option("Debug::NoLocking", "1"),
        ])
        .args(arguments)
        .stdout(std::process::Stdio::null())
        .status()
        .context("apt-get, which fetches the validator, does not start")?;
    ensure!(status.success(), "apt-get {} failed", arguments.join(" "));
    Ok(())
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

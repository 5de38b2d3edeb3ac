//! Builds of the programs and the Python package of a release.
//!
//! Paths of this machine are replaced in the programs, so that builds in other folders have the same bytes.

use super::targets::{ReleaseLinking, ReleaseTarget};
use crate::tools::{self, CrossToolchain};
use anyhow::{Context, Result, ensure};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Cargo's options for the packages and features of all targets.
const COMMAND: &[&str] = &["-p", "spirula-cli", "--features", "spirula-cli/wgsl"];

/// Cargo's options for the libraries with an interface of C.
const LIBRARIES: &[&str] = &[
    "-p",
    "spirula-c",
    "-p",
    "spirula-futhark-c",
    "-p",
    "spirula-opencl-icd",
];

/// Folder of builds with another compiler, in the target folder.
const CROSS_FOLDER: &str = "release-cross";

/// The separator of options in `CARGO_ENCODED_RUSTFLAGS`.
const SEPARATOR: &str = "\x1f";

/// The compiler and the linker of a target.
#[derive(Debug)]
pub struct ReleaseBuilder<'a> {
    root: &'a Path,
    target: &'a ReleaseTarget,
    toolchain: CrossToolchain,
    /// The folder of Zig's programs, where it links.
    zig: Option<PathBuf>,
}

impl<'a> ReleaseBuilder<'a> {
    /// Finds or fetches the compiler and the linker.
    ///
    /// # Errors
    /// When one of them is missing, with the reason.
    pub fn find_builder(root: &'a Path, target: &'a ReleaseTarget) -> Result<ReleaseBuilder<'a>> {
        let folder = root.join("target");
        let toolchain = tools::find_or_fetch_cross_rust(&folder, target.triple)?;
        let zig = match target.linking {
            ReleaseLinking::System => None,
            ReleaseLinking::Glibc(_) | ReleaseLinking::Static => {
                let programs = tools::find_or_fetch_zig(&folder);
                Some(programs.context("Linux programs are linked by Zig")?)
            }
        };
        Ok(ReleaseBuilder {
            root,
            target,
            toolchain,
            zig,
        })
    }

    /// Builds the command and the libraries. Returns the folder that has them.
    ///
    /// # Errors
    /// When the build fails.
    pub fn build_programs(&self) -> Result<PathBuf> {
        let triple = self.target.triple;
        let mut build = match &self.zig {
            Some(programs) => {
                let mut build = Command::new(programs.join("cargo-zigbuild"));
                build.arg("zigbuild");
                build
            }
            None => {
                let mut build = Command::new("cargo");
                build.arg("build");
                build
            }
        };
        let target = match self.target.linking {
            ReleaseLinking::Glibc(version) => format!("{triple}.{version}"),
            ReleaseLinking::System | ReleaseLinking::Static => triple.to_owned(),
        };
        build
            .args(["--locked", "--release", "--target", &target])
            .args(select_packages(self.target));
        self.prepare_build(&mut build)?;
        let status = build.status().context("cargo does not start")?;
        ensure!(status.success(), "the programs of {triple} are not built");
        Ok(self.target_folder().join(triple).join("release"))
    }

    /// Builds the Python package into a folder.
    ///
    /// # Errors
    /// When the build fails.
    pub fn build_wheel(&self, output: &Path) -> Result<()> {
        let triple = self.target.triple;
        let programs = match &self.zig {
            Some(programs) => programs.clone(),
            None => tools::find_or_fetch_maturin(&self.root.join("target"))?,
        };
        let mut build = Command::new(programs.join("maturin"));
        build
            .args(["build", "--locked", "--release", "--strip"])
            .args(["--target", triple, "--out"])
            .arg(output)
            .args(["--manifest-path", "crates/bindings/python/Cargo.toml"]);
        if let ReleaseLinking::Glibc(version) = self.target.linking {
            let platform = format!("manylinux_{}_{}", version.major, version.minor);
            build.args(["--zig", "--compatibility", &platform]);
        }
        self.prepare_build(&mut build)?;
        let status = build.status().context("maturin does not start")?;
        ensure!(status.success(), "the wheel of {triple} is not built");
        Ok(())
    }

    fn target_folder(&self) -> PathBuf {
        let target = self.root.join("target");
        if self.toolchain.builds_library {
            target.join(CROSS_FOLDER)
        } else {
            target
        }
    }

    /// Sets the folder, the compiler, and the options that replace paths.
    fn prepare_build(&self, build: &mut Command) -> Result<()> {
        let rustc = self.toolchain.rustc.as_deref();
        build
            .current_dir(self.root)
            .arg("--target-dir")
            .arg(self.target_folder());
        if let Some(rustc) = rustc {
            build.env("RUSTC", rustc);
        }
        if self.toolchain.builds_library {
            build
                .arg("-Zbuild-std=std,panic_unwind")
                .env("RUSTC_BOOTSTRAP", "1");
        }
        if let Some(programs) = &self.zig {
            build.env("PATH", prepend_path(programs)?);
        }
        let sysroot = tools::locate_sysroot(rustc.unwrap_or(Path::new("rustc")))?;
        let replaced = [
            (find_cargo_home()?, "/cargo"),
            (self.root.to_owned(), "/spirula"),
            (sysroot, "/rust"),
        ];
        let mut options = OsString::new();
        for (path, name) in replaced {
            if !options.is_empty() {
                options.push(SEPARATOR);
            }
            options.push("--remap-path-prefix=");
            options.push(path);
            options.push("=");
            options.push(name);
        }
        build.env("CARGO_ENCODED_RUSTFLAGS", options);
        Ok(())
    }
}

/// Cargo's options for the packages and features of a target.
pub fn select_packages(target: &ReleaseTarget) -> Vec<&'static str> {
    let libraries = if target.has_libraries() {
        LIBRARIES
    } else {
        &[]
    };
    [COMMAND, libraries].concat()
}

/// The search path of programs with a folder before it.
fn prepend_path(folder: &Path) -> Result<OsString> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = [folder.to_owned()];
    let all = folders.into_iter().chain(std::env::split_paths(&path));
    Ok(std::env::join_paths(all)?)
}

fn find_cargo_home() -> Result<PathBuf> {
    if let Some(folder) = std::env::var_os("CARGO_HOME") {
        return Ok(folder.into());
    }
    let home = std::env::home_dir().context("there is no home folder")?;
    Ok(home.join(".cargo"))
}

//! Intel's OpenCL runtime for processors, which accepts SPIR-V 1.0 to 1.4, from Python's package index. Debian 12 has
//! no OpenCL driver that accepts SPIR-V.

use anyhow::{Context, Result, ensure};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The runtime, and the libraries that it is linked with.
const PACKAGES: &[&str] = &[
    "intel-opencl-rt==2026.2.0",
    "intel-cmplr-lib-rt==2026.2.0",
    "tbb==2023.2.0",
    "tcmlib==1.6.0",
];

/// The driver as environment variables for the tests.
pub struct OpenCl {
    /// For `OCL_ICD_VENDORS`: a folder that names the driver.
    pub vendors: PathBuf,
    /// For `LD_LIBRARY_PATH`: a loader, and the libraries that the driver is linked with.
    pub libraries: OsString,
}

/// Finds the driver, or fetches it.
pub fn find_or_fetch_opencl(target: &Path) -> Result<OpenCl> {
    let root = target.join("tools/intel-opencl");
    let vendors = root.join("vendors");
    let libraries = root.join("lib");
    let named = vendors.join("intel.icd");
    if !named.exists() {
        eprintln!("fetching Intel's OpenCL runtime for processors (from Python's package index)");
        let status = Command::new("python3")
            .args([
                "-m",
                "pip",
                "install",
                "--quiet",
                "--no-deps",
                "--ignore-installed",
            ])
            .arg("--prefix")
            .arg(&root)
            .args(PACKAGES)
            .env("PIP_BREAK_SYSTEM_PACKAGES", "1")
            .status()
            .context("python3 does not start")?;
        ensure!(
            status.success(),
            "pip does not install {}",
            PACKAGES.join(" ")
        );
        let driver = libraries.join("libintelocl.so");
        ensure!(driver.exists(), "the packages hold no libintelocl.so");
        fs::create_dir_all(&vendors)?;
        fs::write(&named, format!("{}\n", driver.canonicalize()?.display()))?;
    }
    Ok(OpenCl {
        vendors: vendors.canonicalize()?,
        libraries: libraries.canonicalize()?.into(),
    })
}

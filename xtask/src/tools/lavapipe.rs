//! lavapipe, a Vulkan driver for the processor: Debian 12's backport of 25.0. Debian 12's own 22.3 ends every loop
//! after 65,536 iterations.

use super::apt::{Archive, library_folders};
use anyhow::{Context, Result};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

/// The driver as environment variables for the tests.
pub struct Lavapipe {
    /// For `VK_DRIVER_FILES` and `VK_ICD_FILENAMES`.
    pub driver: PathBuf,
    /// For `LD_LIBRARY_PATH`: the loader, and the libraries that the driver is linked with.
    pub libraries: OsString,
}

/// Libraries that are removed from the package. The C library is the system's own, and must not be loaded twice.
const SYSTEM: &[&str] = &[
    "ld-linux",
    "libc.so",
    "libm.so",
    "libdl.so",
    "libpthread.so",
    "librt.so",
    "libresolv",
    "libutil.so",
    "libnsl",
    "libanl",
    "libmvec",
    "libthread_db",
    "libgcc_s",
    "libstdc++",
];

/// Finds the driver, or fetches it.
pub fn find_or_fetch_lavapipe(target: &Path) -> Result<Lavapipe> {
    let tools = target.join("tools");
    let root = tools.join("lavapipe");
    let driver = root.join("lavapipe.json");
    if !driver.exists() {
        eprintln!("fetching the Vulkan driver lavapipe (Debian's backport of Mesa)");
        let suites = ["bookworm", "bookworm-backports"];
        let archive = Archive::open_archive(&tools.join("apt-bookworm"), &suites)?;
        archive.unpack_packages(suites[1], &["mesa-vulkan-drivers", "libvulkan1"], &root)?;
        let folders = library_folders(&root)?;
        for folder in &folders {
            remove_system_libraries(folder)?;
        }
        let library = folders
            .iter()
            .map(|f| f.join("libvulkan_lvp.so"))
            .find(|l| l.exists());
        let library = library.context("the package holds no libvulkan_lvp.so")?;
        let text = format!(
            "{{\"ICD\":{{\"api_version\":\"1.4.305\",\"library_path\":\"{}\"}},\"file_format_version\":\"1.0.0\"}}\n",
            library.display()
        );
        fs::write(&driver, text)?;
    }
    let libraries = std::env::join_paths(library_folders(&root)?)?;
    Ok(Lavapipe {
        driver: driver.canonicalize()?,
        libraries,
    })
}

fn remove_system_libraries(folder: &Path) -> Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        if SYSTEM.iter().any(|prefix| name.starts_with(prefix)) {
            fs::remove_file(&path).with_context(|| format!("removing {}", path.display()))?;
        }
    }
    Ok(())
}

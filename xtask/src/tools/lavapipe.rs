//! lavapipe, a Vulkan driver for the processor: Debian 12's backport of 25.0. Its own 22.3 ends
//! every loop after 65,536 rounds.

use super::apt::{Archive, libraries};
use anyhow::{Context, Result};
use std::fs;
use std::path::{Path, PathBuf};

/// The driver as environment variables for the tests.
pub struct Lavapipe {
    /// For `VK_DRIVER_FILES` and `VK_ICD_FILENAMES`.
    pub driver: PathBuf,
    /// For `LD_LIBRARY_PATH`: the loader, and what the driver is linked with.
    pub libraries: PathBuf,
}

/// The C library is the system's own, and must not be loaded twice.
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

/// The driver that was fetched before, or now.
pub fn lavapipe(target: &Path) -> Result<Lavapipe> {
    let tools = target.join("tools");
    let root = tools.join("lavapipe");
    let driver = root.join("lavapipe.json");
    if !driver.exists() {
        eprintln!("fetching the Vulkan driver lavapipe (Debian's backport of Mesa)");
        let suites = ["bookworm", "bookworm-backports"];
        let archive = Archive::open(&tools.join("apt-bookworm"), &suites)?;
        archive.unpack(
            &["mesa-vulkan-drivers/bookworm-backports", "libvulkan1"],
            &root,
        )?;
        let libraries = libraries(&root)?;
        for entry in fs::read_dir(&libraries)? {
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
        let library = libraries.join("libvulkan_lvp.so");
        let text = format!(
            "{{\"ICD\":{{\"api_version\":\"1.4.305\",\"library_path\":\"{}\"}},\"file_format_version\":\"1.0.0\"}}\n",
            library.display()
        );
        fs::write(&driver, text)?;
    }
    Ok(Lavapipe {
        driver: driver.canonicalize()?,
        libraries: libraries(&root)?,
    })
}

//! Installation of packages in the folder `lib`.
//!
//! The new folder is built as `lib~new`, and the previous one is renamed to `lib~old`. Between the two renamings and the
//! removal of `lib~old` the previous state can be restored by hand. Source: manual page `futhark-pkg`.

use crate::{PackageError, PackagePath, PackageRegistry, PackageVersion};
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

/// Replaces `lib` in a project by the files of packages. The files of the project's own package are kept.
///
/// # Errors
/// A package cannot be fetched, or a file cannot be written.
pub fn install_packages(
    project: &Path,
    own: Option<&PackagePath>,
    selected: &BTreeMap<PackagePath, PackageVersion>,
    registry: &mut PackageRegistry,
) -> Result<(), PackageError> {
    let [current, new, old] = ["lib", "lib~new", "lib~old"].map(|name| project.join(name));
    remove_folder(&new)?;
    create_folder(&new)?;
    for (path, version) in selected {
        if own != Some(path) {
            write_package(&new.join(path.as_str()), path, version, registry)?;
        }
    }
    let has_previous = current.is_dir();
    if has_previous {
        remove_folder(&old)?;
        rename_folder(&current, &old)?;
    }
    rename_folder(&new, &current)?;
    if let Some(own) = own {
        let kept = old.join(own.as_str());
        if has_previous && kept.is_dir() {
            let target = current.join(own.as_str());
            create_folder(target.parent().unwrap_or(&current))?;
            rename_folder(&kept, &target)?;
        }
    }
    remove_folder(&old)
}

/// Writes the files of a package into a folder.
fn write_package(
    folder: &Path,
    path: &PackagePath,
    version: &PackageVersion,
    registry: &mut PackageRegistry,
) -> Result<(), PackageError> {
    for file in registry.read_package_files(path, version)? {
        let target = folder.join(&file.path);
        create_folder(target.parent().unwrap_or(folder))?;
        fs::write(&target, file.contents).map_err(PackageError::from_file(&target))?;
    }
    Ok(())
}

fn create_folder(path: &Path) -> Result<(), PackageError> {
    fs::create_dir_all(path).map_err(PackageError::from_file(path))
}

fn rename_folder(from: &Path, to: &Path) -> Result<(), PackageError> {
    fs::rename(from, to).map_err(PackageError::from_file(from))
}

/// Removes a folder if it exists.
fn remove_folder(path: &Path) -> Result<(), PackageError> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(PackageError::from_file(path)(error))
        }
        _ => Ok(()),
    }
}

//! Operations on a project: a folder with a manifest.

use crate::install::install_packages;
use crate::{
    MANIFEST_FILE, PackageError, PackageManifest, PackagePath, PackageRegistry, PackageRequirement,
    PackageVersion, select_versions,
};
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// A folder with a manifest, or in which one is created.
pub struct PackageProject {
    folder: PathBuf,
}

/// The version of a requirement before and after a change.
pub struct RequirementChange {
    /// The package.
    pub path: PackagePath,
    /// The version before; `None` where the package was not required.
    pub old: Option<PackageVersion>,
    /// The version after.
    pub new: PackageVersion,
}

impl PackageProject {
    /// The project in a folder.
    #[must_use]
    pub fn new(folder: &Path) -> PackageProject {
        PackageProject {
            folder: folder.to_owned(),
        }
    }

    fn manifest_file(&self) -> PathBuf {
        self.folder.join(MANIFEST_FILE)
    }

    /// The folder of a package in the project.
    fn package_folder(&self, path: &PackagePath) -> PathBuf {
        self.folder.join("lib").join(path.as_str())
    }

    /// Whether the project has a manifest.
    #[must_use]
    pub fn has_manifest(&self) -> bool {
        self.manifest_file().exists()
    }

    /// Reads the manifest. A project without one requires nothing.
    fn read_manifest(&self) -> Result<PackageManifest, PackageError> {
        if self.has_manifest() {
            self.read_existing_manifest()
        } else {
            Ok(PackageManifest::default())
        }
    }

    fn read_existing_manifest(&self) -> Result<PackageManifest, PackageError> {
        let file = self.manifest_file();
        let text = fs::read_to_string(&file).map_err(PackageError::from_file(&file))?;
        PackageManifest::parse(&file.to_string_lossy(), &text)
    }

    fn write_manifest(&self, manifest: &PackageManifest) -> Result<(), PackageError> {
        let file = self.manifest_file();
        fs::write(&file, manifest.to_string()).map_err(PackageError::from_file(&file))
    }

    /// Creates the manifest of a new package and the folder for its files, which is the result.
    ///
    /// # Errors
    /// A manifest exists, or a file cannot be written.
    pub fn create_package(&self, path: &PackagePath) -> Result<PathBuf, PackageError> {
        if self.has_manifest() {
            return Err(PackageError::ManifestExists(self.manifest_file()));
        }
        let folder = self.package_folder(path);
        fs::create_dir_all(&folder).map_err(PackageError::from_file(&folder))?;
        let manifest = PackageManifest {
            path: Some(path.clone()),
            ..PackageManifest::default()
        };
        self.write_manifest(&manifest)?;
        Ok(folder)
    }

    /// Requires a version of a package, by default the newest one.
    ///
    /// # Errors
    /// The version, or one that it requires, does not exist.
    pub fn add_package(
        &self,
        path: &PackagePath,
        version: Option<PackageVersion>,
        registry: &mut PackageRegistry,
    ) -> Result<RequirementChange, PackageError> {
        let new = match version {
            Some(version) => version,
            None => registry.find_newest_version(path)?,
        };
        let mut manifest = self.read_manifest()?;
        let mut requirement = PackageRequirement {
            path: path.clone(),
            version: new.clone(),
            hash: None,
        };
        let others = manifest.requirements().filter(|other| other.path != *path);
        let roots: Vec<_> = others.chain([&requirement]).cloned().collect();
        select_versions(&roots, registry)?;
        // The version of a commit names its hash already.
        if !new.is_zero() {
            requirement.hash = Some(registry.find_commit(path, &new)?);
        }
        let old = manifest.add_requirement(requirement);
        self.write_manifest(&manifest)?;
        Ok(RequirementChange {
            path: path.clone(),
            old: old.map(|old| old.version),
            new,
        })
    }

    /// Ceases to require a package. The result is the version that was required.
    ///
    /// # Errors
    /// The package is not required, or the manifest is malformed.
    pub fn remove_package(&self, path: &PackagePath) -> Result<PackageVersion, PackageError> {
        let mut manifest = self.read_manifest()?;
        let removed = manifest.remove_requirement(path);
        let removed = removed.ok_or_else(|| PackageError::NotRequired(path.clone()))?;
        self.write_manifest(&manifest)?;
        Ok(removed.version)
    }

    /// Rewrites the manifest in its exact form.
    ///
    /// # Errors
    /// The manifest is absent or malformed.
    pub fn format_manifest(&self) -> Result<(), PackageError> {
        let manifest = self.read_existing_manifest()?;
        self.write_manifest(&manifest)
    }

    /// Selects the versions of all required packages, and checks that the project's own package has source.
    ///
    /// # Errors
    /// A version does not exist or is another commit than the manifest states, or there is no source.
    pub fn check_packages(
        &self,
        registry: &mut PackageRegistry,
    ) -> Result<BTreeMap<PackagePath, PackageVersion>, PackageError> {
        let manifest = self.read_manifest()?;
        let selected = select_required(&manifest, registry)?;
        if let Some(own) = &manifest.path {
            let folder = self.package_folder(own);
            if !contains_source(&folder).map_err(PackageError::from_file(&folder))? {
                return Err(PackageError::NoSource(folder));
            }
        }
        Ok(selected)
    }

    /// Fills `lib` with the required packages. All else in it is removed, apart from the project's own package.
    ///
    /// # Errors
    /// A package cannot be fetched, or a file cannot be written.
    pub fn sync_packages(&self, registry: &mut PackageRegistry) -> Result<(), PackageError> {
        let manifest = self.read_manifest()?;
        let selected = select_required(&manifest, registry)?;
        install_packages(&self.folder, manifest.path.as_ref(), &selected, registry)
    }

    /// Requires the newest version of each required package within its major version. The result is `None` where the
    /// manifest does not change, and else the versions that do.
    ///
    /// # Errors
    /// A package cannot be fetched.
    pub fn upgrade_packages(
        &self,
        registry: &mut PackageRegistry,
    ) -> Result<Option<Vec<RequirementChange>>, PackageError> {
        let manifest = self.read_manifest()?;
        let mut upgraded = manifest.clone();
        let mut changes = Vec::new();
        for requirement in upgraded.requirements_mut() {
            let path = requirement.path.clone();
            let new = registry.find_newest_version(&path)?;
            requirement.hash = Some(registry.find_commit(&path, &new)?);
            let old = std::mem::replace(&mut requirement.version, new.clone());
            if old != new {
                changes.push(RequirementChange {
                    path,
                    old: Some(old),
                    new,
                });
            }
        }
        self.write_manifest(&upgraded)?;
        Ok((upgraded != manifest).then_some(changes))
    }
}

fn select_required(
    manifest: &PackageManifest,
    registry: &mut PackageRegistry,
) -> Result<BTreeMap<PackagePath, PackageVersion>, PackageError> {
    let roots: Vec<PackageRequirement> = manifest.requirements().cloned().collect();
    select_versions(&roots, registry)
}

/// Whether a folder has a source file, also in a folder below it. A folder that does not exist has none.
fn contains_source(folder: &Path) -> io::Result<bool> {
    if !folder.is_dir() {
        return Ok(false);
    }
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let is_source = path.extension().is_some_and(|extension| extension == "fut");
        if is_source || path.is_dir() && !path.is_symlink() && contains_source(&path)? {
            return Ok(true);
        }
    }
    Ok(false)
}

//! Packages that are known, fetched when they are first asked for.

use crate::git::{CommittedFile, GitRepository};
use crate::select::RequirementSource;
use crate::{
    MANIFEST_FILE, PackageError, PackageManifest, PackagePath, PackageRequirement, PackageVersion,
};
use std::collections::BTreeMap;
use tempfile::TempDir;

/// Versions, manifests and files of packages.
///
/// Each repository is cloned once, from `https://REPOSITORY`, into a temporary folder that lives as long as the registry.
/// Git's own setting `url.BASE.insteadOf` leads to other protocols and places.
pub struct PackageRegistry {
    folder: TempDir,
    repositories: BTreeMap<String, GitRepository>,
    log: fn(&str),
}

/// A version of a package as a commit of its repository.
struct PackageRevision<'r> {
    repository: &'r GitRepository,
    commit: String,
    /// The package with its version, for errors.
    name: String,
}

impl PackageRegistry {
    /// Creates a registry without packages. `log` gets each command that it runs.
    ///
    /// # Errors
    /// The temporary folder cannot be created.
    pub fn new(log: fn(&str)) -> Result<PackageRegistry, PackageError> {
        let folder = tempfile::tempdir();
        Ok(PackageRegistry {
            folder: folder.map_err(PackageError::from_file(&std::env::temp_dir()))?,
            repositories: BTreeMap::new(),
            log,
        })
    }

    fn open_repository(&mut self, path: &PackagePath) -> Result<&GitRepository, PackageError> {
        let name = path.repository();
        if !self.repositories.contains_key(name) {
            let folder = self.folder.path().join(self.repositories.len().to_string());
            let address = format!("https://{name}");
            let repository = GitRepository::clone_bare(&address, &folder, self.log)?;
            self.repositories.insert(name.to_owned(), repository);
        }
        Ok(&self.repositories[name])
    }

    /// The released versions of a package, in ascending order.
    ///
    /// # Errors
    /// The repository cannot be fetched.
    pub fn list_versions(
        &mut self,
        path: &PackagePath,
    ) -> Result<Vec<PackageVersion>, PackageError> {
        let tags = self.open_repository(path)?.list_tags()?;
        let versions = tags
            .iter()
            .filter_map(|tag| tag.strip_prefix('v')?.parse().ok());
        let mut versions: Vec<PackageVersion> = versions
            .filter(|version| path.covers_version(version))
            .collect();
        versions.sort_by(PackageVersion::compare_precedence);
        Ok(versions)
    }

    /// The newest released version of a package, or else its newest commit.
    ///
    /// # Errors
    /// The repository cannot be fetched, or is empty.
    pub fn find_newest_version(
        &mut self,
        path: &PackagePath,
    ) -> Result<PackageVersion, PackageError> {
        if let Some(newest) = self.list_versions(path)?.pop() {
            return Ok(newest);
        }
        (self.log)(&format!(
            "{path} has no released version, so its newest commit is used"
        ));
        let repository = self.open_repository(path)?;
        let commit = repository.resolve_commit("HEAD")?;
        let time = repository.find_commit_time(&commit)?;
        Ok(PackageVersion::from_commit(&time, &commit))
    }

    /// Hash of the commit of a version.
    ///
    /// # Errors
    /// The repository cannot be fetched, or does not have the version.
    pub fn find_commit(
        &mut self,
        path: &PackagePath,
        version: &PackageVersion,
    ) -> Result<String, PackageError> {
        Ok(self.find_revision(path, version)?.commit)
    }

    fn find_revision(
        &mut self,
        path: &PackagePath,
        version: &PackageVersion,
    ) -> Result<PackageRevision<'_>, PackageError> {
        let reference = match version.commit() {
            Some(commit) => commit.to_owned(),
            None => {
                let known = self.list_versions(path)?;
                let is_same = |other: &&PackageVersion| version.compare_precedence(other).is_eq();
                let Some(found) = known.iter().find(is_same) else {
                    let required = Box::new(PackageRequirement {
                        path: path.clone(),
                        version: version.clone(),
                        hash: None,
                    });
                    return Err(PackageError::UnknownVersion { required, known });
                };
                format!("refs/tags/v{found}")
            }
        };
        let repository = self.open_repository(path)?;
        Ok(PackageRevision {
            repository,
            commit: repository.resolve_commit(&reference)?,
            name: format!("{path} {version}"),
        })
    }

    /// Reads the files of a version of a package. Paths are relative to the folder of the package.
    ///
    /// # Errors
    /// The version is unknown, its manifest is malformed or names no package, or the folder of the package is absent.
    pub(crate) fn read_package_files(
        &mut self,
        path: &PackagePath,
        version: &PackageVersion,
    ) -> Result<Vec<CommittedFile>, PackageError> {
        self.find_revision(path, version)?.read_package_files()
    }
}

impl PackageRevision<'_> {
    fn read_manifest(&self) -> Result<PackageManifest, PackageError> {
        let wanted = [MANIFEST_FILE.to_owned()];
        let file = self.repository.read_files(&self.commit, &wanted)?.pop();
        let file = file.flatten().ok_or_else(|| PackageError::MissingFile {
            revision: self.name.clone(),
            file: MANIFEST_FILE.to_owned(),
        })?;
        let name = format!("{MANIFEST_FILE} of {}", self.name);
        PackageManifest::parse(&name, &String::from_utf8_lossy(&file.contents))
    }

    /// Reads the files in the folder of the package that the revision's own manifest names. A package that was renamed
    /// has another path there.
    fn read_package_files(&self) -> Result<Vec<CommittedFile>, PackageError> {
        let manifest = self.read_manifest()?;
        let own = manifest
            .path
            .ok_or_else(|| PackageError::NoPackagePath(self.name.clone()))?;
        let folder = format!("lib/{own}");
        let paths = self.repository.list_files(&self.commit, &folder)?;
        if paths.is_empty() {
            return Err(PackageError::MissingFile {
                revision: self.name.clone(),
                file: folder,
            });
        }
        let contents = self.repository.read_files(&self.commit, &paths)?;
        let mut files = Vec::new();
        for (path, file) in paths.into_iter().zip(contents) {
            let relative = path
                .strip_prefix(&folder)
                .map(|p| p.trim_start_matches('/'));
            match (relative, file) {
                (Some(relative), Some(file)) => files.push(CommittedFile {
                    path: relative.to_owned(),
                    contents: file.contents,
                }),
                _ => {
                    return Err(PackageError::UnsafeFile {
                        revision: self.name.clone(),
                        file: path,
                    });
                }
            }
        }
        Ok(files)
    }
}

impl RequirementSource for PackageRegistry {
    fn find_requirements(
        &mut self,
        required: &PackageRequirement,
    ) -> Result<Vec<PackageRequirement>, PackageError> {
        let revision = self.find_revision(&required.path, &required.version)?;
        match &required.hash {
            Some(expected) if *expected != revision.commit => Err(PackageError::HashMismatch {
                required: Box::new(required.clone()),
                actual: revision.commit,
            }),
            _ => Ok(revision.read_manifest()?.requirements().cloned().collect()),
        }
    }
}

//! Errors of package management.

use crate::{PackagePath, PackageRequirement, PackageVersion};
use spirula_diagnostics::SourceDiagnostic;
use std::io;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// An error of package management.
#[derive(Debug, Error)]
pub enum PackageError {
    /// A manifest is malformed.
    #[error("{name}: {diagnostic}")]
    Manifest {
        /// Name of the manifest: a file, or a package with its version.
        name: String,
        /// Text of the manifest.
        text: String,
        /// The fault and its place.
        diagnostic: Box<SourceDiagnostic>,
    },
    /// A text is not a package path.
    #[error("{0} is not a package path")]
    InvalidPath(String),
    /// A package has no such version.
    #[error("package {} does not have a version {}", required.path, required.version)]
    UnknownVersion {
        /// The package and the requested version.
        required: Box<PackageRequirement>,
        /// Versions that the package has, in ascending order.
        known: Vec<PackageVersion>,
    },
    /// A version is another commit than the manifest states.
    #[error(
        "package {} {} has commit hash {actual}, but the manifest states {}",
        required.path, required.version, required.hash.as_deref().unwrap_or_default()
    )]
    HashMismatch {
        /// The requirement with the stated hash.
        required: Box<PackageRequirement>,
        /// Hash of the commit in the repository.
        actual: String,
    },
    /// The manifest of a package has no `package` line.
    #[error("the manifest of {0} does not define a package path")]
    NoPackagePath(String),
    /// A revision of a package has no file that is needed.
    #[error("{revision} does not contain {file}")]
    MissingFile {
        /// The package with its version.
        revision: String,
        /// The file or folder.
        file: String,
    },
    /// A revision of a package has a file that is not installed, such as a link that leaves the repository.
    #[error("{revision} contains {file}, which is not a file of the repository")]
    UnsafeFile {
        /// The package with its version.
        revision: String,
        /// The file.
        file: String,
    },
    /// The manifest does not require a package.
    #[error("the manifest does not require {0}")]
    NotRequired(PackagePath),
    /// A manifest exists where one would be created.
    #[error("{} already exists", .0.display())]
    ManifestExists(PathBuf),
    /// The folder of the project's own package does not exist or has no source.
    #[error("the folder {} has no .fut file", .0.display())]
    NoSource(PathBuf),
    /// The program `git` is not installed.
    #[error("the program git was not found")]
    NoGit,
    /// `git` failed.
    #[error("git {command} failed: {output}")]
    GitFailed {
        /// Arguments of `git`.
        command: String,
        /// Standard error of `git`.
        output: String,
    },
    /// A file cannot be read or written.
    #[error("{}: {error}", path.display())]
    File {
        /// The file or folder.
        path: PathBuf,
        /// The reason.
        error: io::Error,
    },
}

impl PackageError {
    /// Advice on an error.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            PackageError::UnknownVersion { required, known } => Some(describe_known_versions(
                &required.path,
                &required.version,
                known,
            )),
            PackageError::InvalidPath(_) => Some(
                "a package path is a URL without its protocol, such as github.com/owner/name"
                    .to_owned(),
            ),
            PackageError::NoGit => {
                Some("install git: packages are fetched from git repositories".to_owned())
            }
            _ => None,
        }
    }

    /// An error about a file, for `map_err`.
    pub(crate) fn from_file(path: &Path) -> impl FnOnce(io::Error) -> PackageError {
        let path = path.to_owned();
        move |error| PackageError::File { path, error }
    }
}

/// The versions that a package has instead of the requested one.
fn describe_known_versions(
    path: &PackagePath,
    version: &PackageVersion,
    known: &[PackageVersion],
) -> String {
    if !path.covers_version(version) {
        let base = path.repository();
        let major = version.major;
        return format!("major version {major} has the package path {base}@{major}");
    }
    if known.is_empty() {
        return "the package has no versions; is the path right?".to_owned();
    }
    let known: Vec<String> = known.iter().map(ToString::to_string).collect();
    format!("known versions: {}", known.join(", "))
}

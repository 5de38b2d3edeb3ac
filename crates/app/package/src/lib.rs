//! Packages of Futhark source.
//!
//! A package is a git repository with a manifest, `futhark.pkg`, and its files under `lib/PATH`. `PATH` is the path of
//! the package such as `github.com/owner/name`. A release is a tag `vX.Y.Z`. A program that requires packages names
//! them in a manifest of its own, and gets their files under its `lib`.
//!
//! - [`PackagePath`], [`PackageVersion`]: names of packages and of their versions.
//! - [`PackageManifest`]: the file `futhark.pkg`, read and written with its comments.
//! - [`select_versions`]: minimal version selection.
//! - [`PackageRegistry`]: versions, manifests and files of packages, fetched by `git`.
//! - [`PackageProject`]: a folder with a manifest, and the operations on it.
//!
//! Source: "Package Management" in Futhark's user guide, and its manual page `futhark-pkg`. Version selection is that of
//! Russ Cox, "Minimal Version Selection" (2018).

mod error;
mod git;
mod install;
mod manifest;
mod manifest_parser;
mod path;
mod project;
mod registry;
mod select;
mod version;

pub use error::PackageError;
pub use manifest::{MANIFEST_FILE, ManifestEntry, PackageManifest, PackageRequirement};
pub use path::PackagePath;
pub use project::{PackageProject, RequirementChange};
pub use registry::PackageRegistry;
pub use select::{RequirementSource, select_versions};
pub use version::PackageVersion;

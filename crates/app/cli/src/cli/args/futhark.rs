//! Arguments of commands for users of Futhark source.

use clap::{Args as ClapArgs, Subcommand};
use spirula_package::{PackagePath, PackageVersion};
use std::path::PathBuf;

/// Arguments of `pkg`.
#[derive(ClapArgs)]
pub struct PkgArgs {
    #[command(subcommand)]
    pub action: PkgAction,
    /// Report the commands that are run
    #[arg(short, long, global = true)]
    pub verbose: bool,
}

/// Arguments of `doc`.
#[derive(ClapArgs)]
pub struct DocArgs {
    /// Futhark source, or a folder whose sources are documented with all that they import
    #[arg(value_name = "FILE|FOLDER")]
    pub path: PathBuf,
    /// Folder for the pages
    #[arg(short, long, value_name = "DIR")]
    pub output: PathBuf,
}

/// Actions of `pkg`.
#[derive(Subcommand)]
pub enum PkgAction {
    /// Require a package in futhark.pkg, or another version of one that is required
    Add {
        /// Address of the package without a protocol, such as github.com/owner/name
        #[arg(value_name = "PKGPATH")]
        path: PackagePath,
        /// Oldest version that will do; by default the newest one
        #[arg(value_name = "X.Y.Z")]
        version: Option<PackageVersion>,
    },
    /// Check that all required versions exist
    Check,
    /// Create futhark.pkg and a folder for a new package
    #[command(visible_alias = "create")]
    Init {
        /// Address of the package without a protocol
        #[arg(value_name = "PKGPATH")]
        path: PackagePath,
    },
    /// Format futhark.pkg
    Fmt,
    /// Cease to require a package in futhark.pkg
    Remove {
        /// Address of the package
        #[arg(value_name = "PKGPATH")]
        path: PackagePath,
    },
    /// Fill the folder lib with the packages that futhark.pkg requires; all else in it is removed, apart from the
    /// package of futhark.pkg itself
    Sync,
    /// Require the newest version of each package within its major version
    Upgrade,
    /// List the versions of a package
    Versions {
        /// Address of the package
        #[arg(value_name = "PKGPATH")]
        path: PackagePath,
    },
}

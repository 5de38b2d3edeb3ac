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

/// Arguments of `script`.
#[derive(ClapArgs)]
pub struct ScriptArgs {
    /// Futhark source
    #[arg(value_name = "PROGRAM")]
    pub path: PathBuf,
    /// Expression, such as `f 1 (x, 2)`
    #[arg(value_name = "EXPRESSION", allow_hyphen_values = true)]
    pub expression: Option<String>,
    /// Expression to evaluate before; only the last value is shown
    #[arg(
        short,
        long = "expression",
        value_name = "EXPRESSION",
        id = "expressions"
    )]
    pub expressions: Vec<String>,
    /// File with an expression to evaluate before
    #[arg(short, long = "file", value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Write the value in binary form
    #[arg(short, long)]
    pub binary: bool,
    /// Device to run on (see spirula devices)
    #[arg(short, long, default_value = "cpu")]
    pub device: String,
}

/// Arguments of `literate`.
#[derive(ClapArgs)]
pub struct LiterateArgs {
    /// Futhark source
    #[arg(value_name = "PROGRAM")]
    pub path: PathBuf,
    /// Markdown file; by default that of the program's name. Files of results go to a folder beside it, NAME-img
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// End at the first directive that fails, without writing the document
    #[arg(long)]
    pub stop_on_error: bool,
    /// Device to run on (see spirula devices)
    #[arg(short, long, default_value = "cpu")]
    pub device: String,
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

//! `spirula pkg`: manages the packages that Futhark source requires.

use crate::cli::args::{PkgAction, PkgArgs};
use crate::cli::failure::report_line;
use crate::cli::stderr::print_stderr_line;
use crate::cli::{CommandFailure, CommandResult, files};
use spirula_package::{MANIFEST_FILE, PackageError, PackageProject, PackageRegistry};
use std::fmt::{Display, Write};
use std::path::Path;

/// The last line of actions after which `lib` is behind the manifest.
const REMINDER: &str = "run spirula pkg sync to update lib\n";

/// Runs `spirula pkg` in the current folder.
pub fn run_pkg(args: &PkgArgs) -> CommandResult {
    let project = PackageProject::new(Path::new(""));
    if reads_manifest(&args.action) && !project.has_manifest() {
        let text = format!("there is no {MANIFEST_FILE} here, so nothing is required");
        report_line("warning", &text, None);
    }
    let report = run_action(args, &project)?;
    files::write_text(Path::new("-"), &report)
}

/// Whether an action takes an absent manifest for an empty one.
fn reads_manifest(action: &PkgAction) -> bool {
    match action {
        PkgAction::Check
        | PkgAction::Sync
        | PkgAction::Upgrade
        | PkgAction::Add { .. }
        | PkgAction::Remove { .. } => true,
        PkgAction::Init { .. } | PkgAction::Fmt | PkgAction::Versions { .. } => false,
    }
}

/// Runs an action, and returns its report.
fn run_action(args: &PkgArgs, project: &PackageProject) -> Result<String, PackageError> {
    let open_registry = || {
        PackageRegistry::new(if args.verbose {
            |line| print_stderr_line!("{line}")
        } else {
            |_| {}
        })
    };
    match &args.action {
        PkgAction::Add { path, version } => {
            let added = project.add_package(path, version.clone(), &mut open_registry()?)?;
            let new = &added.new;
            Ok(match added.old {
                Some(old) if old == *new => format!("{path} {new} was required already\n"),
                Some(old) => format!("replaced {path} {old} by {new}\n{REMINDER}"),
                None => format!("added {path} {new}\n{REMINDER}"),
            })
        }
        PkgAction::Check => {
            let selected = project.check_packages(&mut open_registry()?)?;
            Ok(list_lines(
                selected
                    .iter()
                    .map(|(path, version)| format!("{path} {version}")),
            ))
        }
        PkgAction::Init { path } => {
            let folder = project.create_package(path)?;
            Ok(format!(
                "created {MANIFEST_FILE} and {}\n",
                folder.display()
            ))
        }
        PkgAction::Fmt => project.format_manifest().map(|()| String::new()),
        PkgAction::Remove { path } => {
            let version = project.remove_package(path)?;
            Ok(format!("removed {path} {version}\n{REMINDER}"))
        }
        PkgAction::Sync => {
            project.sync_packages(&mut open_registry()?)?;
            Ok(String::new())
        }
        PkgAction::Upgrade => upgrade_packages(project, &mut open_registry()?),
        PkgAction::Versions { path } => Ok(list_lines(open_registry()?.list_versions(path)?)),
    }
}

fn upgrade_packages(
    project: &PackageProject,
    registry: &mut PackageRegistry,
) -> Result<String, PackageError> {
    let Some(changes) = project.upgrade_packages(registry)? else {
        return Ok("all requirements are the newest versions\n".to_owned());
    };
    let lines = changes.iter().map(|change| {
        let old = change.old.as_ref().map(|old| format!(" {old}"));
        format!(
            "upgraded {}{} to {}",
            change.path,
            old.unwrap_or_default(),
            change.new
        )
    });
    Ok(list_lines(lines) + REMINDER)
}

/// Writes each item on a line.
fn list_lines(items: impl IntoIterator<Item = impl Display>) -> String {
    items.into_iter().fold(String::new(), |mut text, item| {
        // Writing to a string does not fail.
        let _ = writeln!(text, "{item}");
        text
    })
}

impl From<PackageError> for CommandFailure {
    fn from(error: PackageError) -> Self {
        let hint = error.hint();
        match error {
            PackageError::Manifest {
                name,
                text,
                diagnostic,
            } => CommandFailure::Input {
                name,
                bytes: text.into_bytes(),
                diagnostics: vec![*diagnostic],
            },
            other => CommandFailure::Message {
                text: other.to_string(),
                hint,
            },
        }
    }
}

//! `spirula doc`: writes the documentation of Futhark source as HTML.

use crate::cli::args::DocArgs;
use crate::cli::futhark::report_file_faults;
use crate::cli::{CommandFailure, CommandResult, failure, files};
use spirula_document::render_site;
use spirula_futhark::compile::check_files;
use spirula_futhark::document::document_program;
use std::fs;
use std::path::{Path, PathBuf};

/// The file that imports all documented files. No file has such a name.
const ROOT: &str = "<documentation>.fut";

/// Runs `spirula doc`.
pub fn run_doc(args: &DocArgs) -> CommandResult {
    let (folder, names) = find_sources(&args.path)?;
    let root = write_root(&names)?;
    let checked = check_files(ROOT, &mut |path| {
        if path == ROOT {
            return Ok(root.clone());
        }
        fs::read_to_string(folder.join(path)).map_err(|error| error.to_string())
    });
    let checked = checked.map_err(report_file_faults)?;
    let mut documented = document_program(&checked);
    documented.retain(|file| file.name != ROOT);
    let site = render_site(&documented, &names, &checked.program.names);
    for page in &site.pages {
        let path = args.output.join(&page.path);
        let parent = path.parent().unwrap_or(&args.output);
        fs::create_dir_all(parent).map_err(|error| {
            CommandFailure::from_message(format!("cannot create {}: {error}", parent.display()))
        })?;
        files::write_text(&path, &page.contents)?;
    }
    for warning in &site.warnings {
        let diagnostic = std::slice::from_ref(&warning.diagnostic);
        failure::report_diagnostics(&warning.file, warning.text.as_bytes(), diagnostic);
    }
    Ok(())
}

/// The folder to which the names of sources are relative, and these names in order.
fn find_sources(path: &Path) -> Result<(PathBuf, Vec<String>), CommandFailure> {
    let cannot_read = |path: &Path, error: std::io::Error| {
        CommandFailure::from_message(format!("cannot read {}: {error}", path.display()))
    };
    if !path.is_dir() {
        fs::metadata(path).map_err(|error| cannot_read(path, error))?;
        let folder = path.parent().unwrap_or(Path::new("")).to_owned();
        let name = path.file_name().unwrap_or_default();
        return Ok((folder, vec![name.to_string_lossy().into_owned()]));
    }
    let mut names = Vec::new();
    let mut pending = vec![(path.to_owned(), String::new())];
    while let Some((folder, prefix)) = pending.pop() {
        let entries = fs::read_dir(&folder).map_err(|error| cannot_read(&folder, error))?;
        for entry in entries {
            let entry = entry.map_err(|error| cannot_read(&folder, error))?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let is_hidden = name.starts_with('.');
            let full = format!("{prefix}{name}");
            if entry.path().is_dir() && !is_hidden && !entry.path().is_symlink() {
                pending.push((entry.path(), full + "/"));
            } else if files::has_extension(&entry.path(), "fut") && !is_hidden {
                names.push(full);
            }
        }
    }
    names.sort();
    if names.is_empty() {
        let text = format!("{} has no .fut file", path.display());
        return Err(CommandFailure::from_message(text));
    }
    Ok((path.to_owned(), names))
}

/// A program that imports all documented files.
fn write_root(names: &[String]) -> Result<String, CommandFailure> {
    let mut root = String::new();
    for (index, name) in names.iter().enumerate() {
        let Some(import) = name.strip_suffix(".fut") else {
            let text = format!("{name} is not a .fut file");
            return Err(CommandFailure::from_message(text));
        };
        if import.contains(['"', '\\']) {
            let text = format!("{name} cannot be imported because of its name");
            return Err(CommandFailure::from_message(text));
        }
        root.push_str(&format!("module file_{index} = import \"{import}\"\n"));
    }
    Ok(root)
}

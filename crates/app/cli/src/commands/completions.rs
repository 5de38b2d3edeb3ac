//! `spirula completions` and `spirula man`: completions of shells and manual pages, from the arguments of all commands.

use super::{SERVANT, build_all_commands};
use crate::cli::args::{CompletionArgs, ManualArgs};
use crate::cli::{CommandFailure, CommandResult, files};
use clap_mangen::Man;
use std::path::{Path, PathBuf};

/// Name of the command.
const NAME: &str = "spirula";

/// Runs `spirula completions`.
pub fn run_completions(args: &CompletionArgs) -> CommandResult {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut build_all_commands(), NAME, &mut script);
    files::write_text(Path::new("-"), &String::from_utf8_lossy(&script))
}

/// Runs `spirula man`: writes a page for the command and one for each of its commands.
pub fn run_man(args: &ManualArgs) -> CommandResult {
    let mut all = build_all_commands();
    all.build();
    let Some(folder) = &args.folder else {
        return write_page(all, Path::new("-"));
    };
    std::fs::create_dir_all(folder).map_err(|e| {
        CommandFailure::from_message(format!("cannot make {}: {e}", folder.display()))
    })?;
    let pages: Vec<(PathBuf, clap::Command)> = all
        .get_subcommands()
        .filter(|command| !matches!(command.get_name(), SERVANT | "help"))
        .map(|command| {
            let name = format!("{NAME}-{}", command.get_name());
            (folder.join(format!("{name}.1")), command.clone())
        })
        .collect();
    for (path, command) in pages {
        write_page(command, &path)?;
    }
    write_page(all, &folder.join(format!("{NAME}.1")))
}

fn write_page(command: clap::Command, path: &Path) -> CommandResult {
    let command = command.version(env!("CARGO_PKG_VERSION"));
    let mut page = Vec::new();
    Man::new(command).render(&mut page)?;
    files::write_text(path, &String::from_utf8_lossy(&page))
}

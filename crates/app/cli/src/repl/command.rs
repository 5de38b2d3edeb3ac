//! Commands of a session. Each is a row of [`COMMANDS`], and may be shortened.

use super::{ReplSession, SessionState, print_line};
use crate::cli::{CommandFailure, CommandResult};
use std::path::Path;

/// A command.
struct ReplCommand {
    name: &'static str,
    /// Its arguments.
    argument: &'static str,
    about: &'static str,
    run: fn(&mut ReplSession, &str) -> CommandResult,
}

const fn command(
    name: &'static str,
    argument: &'static str,
    about: &'static str,
    run: fn(&mut ReplSession, &str) -> CommandResult,
) -> ReplCommand {
    ReplCommand {
        name,
        argument,
        about,
        run,
    }
}

/// The command that ends the session.
const QUIT: &str = "quit";

/// All commands, in the order of the help. Of several that an abbreviation fits, the first is meant.
const COMMANDS: &[ReplCommand] = &[
    command(
        "load",
        "FILE",
        "load a file in place of the one before, and forget the declarations of the session",
        load_file,
    ),
    command("reload", "", "load the same file again", reload_file),
    command(
        "type",
        "EXPRESSION",
        "show the type of an expression",
        |session, input| session.show_type(input),
    ),
    command(
        "mtype",
        "MODULE",
        "show what a module specifies",
        |session, input| session.show_module_type(input),
    ),
    command("cd", "FOLDER", "change the current folder", change_folder),
    command("pwd", "", "show the current folder", show_folder),
    command("help", "", "show the commands", |_, _| show_help()),
    command(QUIT, "", "end the session", |_, _| Ok(())),
];

impl ReplSession {
    /// Runs a command without its colon.
    pub(super) fn run_command(&mut self, line: &str) -> Result<SessionState, CommandFailure> {
        let line = line.trim();
        let (name, argument) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let found = COMMANDS
            .iter()
            .find(|command| !name.is_empty() && command.name.starts_with(name));
        let Some(found) = found else {
            print_line(&format!(
                "There is no command `:{name}`; `:help` lists all."
            ))?;
            return Ok(SessionState::Open);
        };
        let argument = argument.trim();
        if !found.argument.is_empty() && argument.is_empty() && found.name != "load" {
            print_line(&format!("Usage: :{} {}", found.name, found.argument))?;
            return Ok(SessionState::Open);
        }
        (found.run)(self, argument)?;
        Ok(if found.name == QUIT {
            SessionState::Ended
        } else {
            SessionState::Open
        })
    }
}

/// The names of the commands.
pub(super) fn list_command_names() -> impl Iterator<Item = &'static str> {
    COMMANDS.iter().map(|command| command.name)
}

fn load_file(session: &mut ReplSession, path: &str) -> CommandResult {
    if path.is_empty() {
        return reload_file(session, path);
    }
    print_line(&format!("Loading {path}"))?;
    session.load(Path::new(path))
}

fn reload_file(session: &mut ReplSession, _: &str) -> CommandResult {
    match session.loaded.clone() {
        Some(path) => {
            print_line(&format!("Loading {}", path.display()))?;
            session.load(&path)
        }
        None => print_line("No file was loaded: use `:load FILE`."),
    }
}

fn change_folder(_: &mut ReplSession, folder: &str) -> CommandResult {
    match std::env::set_current_dir(folder) {
        Ok(()) => Ok(()),
        Err(fault) => print_line(&format!("cannot change to `{folder}`: {fault}")),
    }
}

fn show_folder(_: &mut ReplSession, _: &str) -> CommandResult {
    match std::env::current_dir() {
        Ok(folder) => print_line(&folder.display().to_string()),
        Err(fault) => print_line(&format!("the current folder is not known: {fault}")),
    }
}

fn show_help() -> CommandResult {
    print_line("An expression is evaluated, and a declaration is in scope of later inputs.")?;
    for command in COMMANDS {
        let usage = format!(":{} {}", command.name, command.argument);
        print_line(&format!("  {usage:<18} {}", command.about))?;
    }
    Ok(())
}

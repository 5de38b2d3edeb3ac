//! Server of a program: Futhark's line-oriented protocol, by which its tools call entry points.
//!
//! A command is a line of words on standard input; a word in quotes may have blanks. The answer is lines on standard
//! output, then `%%% OK`. A command that fails answers `%%% FAILURE` and a message first. Variables hold values of the
//! program's types. Both forms of the protocol are accepted. Futhark 0.25 and earlier have a variable for each result,
//! and later versions one for all results.

mod array_commands;
mod record_commands;
mod served_entry;
mod types;
mod value_commands;
mod variable;

pub use types::ServerTypes;

use crate::cli::failure::report_line;
use served_entry::{ServedEntry, list_served_entries, list_served_types};
use spirula_futhark::export::ProgramExports;
use spirula_program::{CompiledProgram, ProgramSession};
use spirula_runtime::DeviceMachine;
use std::collections::BTreeMap;
use std::io::{self, BufRead, Write};
use std::rc::Rc;
use variable::ServerVariable;

/// The lines around answers.
const DONE: &str = "%%% OK";
const FAILURE: &str = "%%% FAILURE";

/// A program that is served, with its variables.
pub struct ProgramServer {
    program: Rc<CompiledProgram>,
    /// Its entry points, in the same order.
    entries: Vec<ServedEntry>,
    types: ServerTypes,
    variables: BTreeMap<String, ServerVariable>,
    /// Tuning parameters with their values.
    pub parameters: Vec<(String, u64)>,
}

/// Why the server stops to read commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServerPause {
    /// The input has ended.
    Ended,
    /// The session must begin again with other tuning parameters.
    Restart,
}

/// The answer of a command: its lines, or a message.
type AnswerResult = Result<Vec<String>, String>;

/// A session with a program on a device.
type ServerSession<'p, 'd> = ProgramSession<'p, DeviceMachine<'d>>;

/// A command of the protocol: its name, its words, and its function.
struct ServerCommand {
    name: &'static str,
    /// Least number of words after the name.
    least: usize,
    run: CommandFunction,
}

/// Function of a command.
enum CommandFunction {
    /// It needs the variables only.
    Plain(fn(&mut ProgramServer, &[&str]) -> AnswerResult),
    /// It calls the program.
    Session(
        for<'p, 'd> fn(&mut ProgramServer, &[&str], &mut ServerSession<'p, 'd>) -> AnswerResult,
    ),
}

const fn plain(
    name: &'static str,
    least: usize,
    run: fn(&mut ProgramServer, &[&str]) -> AnswerResult,
) -> ServerCommand {
    ServerCommand {
        name,
        least,
        run: CommandFunction::Plain(run),
    }
}

/// All commands.
const COMMANDS: &[ServerCommand] = &[
    ServerCommand {
        name: "call",
        least: 1,
        run: CommandFunction::Session(ProgramServer::call_entry),
    },
    plain("types", 0, |server, _| Ok(server.types.names())),
    plain("entry_points", 0, |server, _| Ok(server.entry_names())),
    plain("restore", 1, ProgramServer::restore_variables),
    plain("store", 1, ProgramServer::store_variables),
    plain("free", 0, ProgramServer::free_variables),
    plain("rename", 2, ProgramServer::rename_variable),
    plain("inputs", 1, ProgramServer::list_inputs),
    plain("output", 1, ProgramServer::list_output),
    plain("outputs", 1, ProgramServer::list_outputs),
    plain("attributes", 1, ProgramServer::list_attributes),
    plain("type", 1, ProgramServer::tell_type),
    plain("kind", 1, ProgramServer::tell_kind),
    plain("clear", 0, |_, _| Ok(Vec::new())),
    plain("pause_profiling", 0, |_, _| Ok(Vec::new())),
    plain("unpause_profiling", 0, |_, _| Ok(Vec::new())),
    plain("report", 0, |_, _| {
        Ok(vec![r#"{"memory":{},"events":[]}"#.to_owned()])
    }),
    plain("set_tuning_param", 2, ProgramServer::set_parameter),
    plain("tuning_params", 1, ProgramServer::list_parameters),
    plain("tuning_param_class", 1, ProgramServer::tell_parameter_class),
    plain("rank", 1, ProgramServer::tell_rank),
    plain("elemtype", 1, ProgramServer::tell_element_type),
    plain("new_array", 2, ProgramServer::make_array),
    plain("set", 2, ProgramServer::set_element),
    plain("shape", 1, ProgramServer::tell_shape),
    plain("index", 2, ProgramServer::index_array),
    plain("zip", 2, ProgramServer::zip_arrays),
    plain("unzip", 1, ProgramServer::unzip_array),
    plain("fields", 1, ProgramServer::list_fields),
    plain("new", 2, ProgramServer::make_record),
    plain("project", 3, ProgramServer::project_field),
    plain("variants", 1, ProgramServer::list_variants),
    plain("construct", 3, ProgramServer::construct_sum),
    plain("destruct", 1, ProgramServer::destruct_sum),
    plain("variant", 1, ProgramServer::tell_variant),
];

impl ProgramServer {
    /// A server without variables. Where there is source, its exports give the names of the types.
    pub fn new(program: Rc<CompiledProgram>, exports: Option<&ProgramExports>) -> Self {
        ProgramServer {
            types: list_served_types(&program, exports),
            entries: list_served_entries(&program, exports),
            program,
            variables: BTreeMap::new(),
            parameters: Vec::new(),
        }
    }

    /// Answers the commands of an input until it ends, or until tuning parameters change.
    ///
    /// # Errors
    /// When the input or output fails.
    pub fn answer_commands(
        &mut self,
        session: &mut ServerSession<'_, '_>,
        input: &mut dyn BufRead,
        output: &mut dyn Write,
    ) -> io::Result<ServerPause> {
        let mut line = String::new();
        writeln!(output, "{DONE}")?;
        loop {
            output.flush()?;
            line.clear();
            if input.read_line(&mut line)? == 0 {
                return Ok(ServerPause::Ended);
            }
            let words = match split_words(&line) {
                Ok(words) if words.is_empty() => continue,
                words => words,
            };
            let before = self.parameters.len();
            let answer = words.and_then(|words| self.run_command(&words, session));
            for message in session.take_traced() {
                report_line("trace", &message, None);
            }
            match answer {
                Ok(lines) => lines
                    .iter()
                    .try_for_each(|line| writeln!(output, "{line}"))?,
                Err(message) => writeln!(output, "{FAILURE}\n{message}")?,
            }
            if self.parameters.len() > before {
                return Ok(ServerPause::Restart);
            }
            writeln!(output, "{DONE}")?;
        }
    }

    fn run_command(&mut self, words: &[&str], session: &mut ServerSession<'_, '_>) -> AnswerResult {
        let [name, rest @ ..] = words else {
            return Ok(Vec::new());
        };
        let command = COMMANDS.iter().find(|command| command.name == *name);
        let command = command.ok_or_else(|| format!("Unknown command: {name}"))?;
        if rest.len() < command.least {
            return Err(format!("{name} needs at least {} words", command.least));
        }
        match command.run {
            CommandFunction::Plain(run) => run(self, rest),
            CommandFunction::Session(run) => run(self, rest, session),
        }
    }
}

/// Prepares a machine with tuning parameters.
pub fn configure_machine(machine: &mut DeviceMachine<'_>, parameters: &[(String, u64)]) {
    for (name, value) in parameters {
        machine.set_parameter(name, *value);
    }
}

/// Splits a line into words. A word in quotes may have blanks.
fn split_words(line: &str) -> Result<Vec<&str>, String> {
    let mut words = Vec::new();
    let mut rest = line.trim();
    while !rest.is_empty() {
        let (word, after) = match rest.strip_prefix('"') {
            Some(quoted) => quoted
                .split_once('"')
                .ok_or("a word without a closing quote")?,
            None => rest.split_at(rest.find(char::is_whitespace).unwrap_or(rest.len())),
        };
        words.push(word);
        rest = after.trim_start();
    }
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::split_words;

    #[test]
    fn words_and_quotes() {
        assert_eq!(
            split_words("call f  \"a b\" c\n"),
            Ok(vec!["call", "f", "a b", "c"])
        );
        assert_eq!(split_words("  \n"), Ok(Vec::new()));
        assert!(split_words("fields \"a").is_err());
    }
}

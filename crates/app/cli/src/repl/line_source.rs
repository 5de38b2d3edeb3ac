//! Lines of a session: of a terminal, with editing, history and completion, or of any other input.

use super::command::list_command_names;
use super::session_program::SessionProgram;
use crate::cli::CommandFailure;
use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::FileHistory;
use rustyline::validate::Validator;
use rustyline::{CompletionType, Config, Context, Editor, Helper};
use spirula_futhark::query::NamePath;
use spirula_runtime::find_cache_folder;
use std::io::{self, BufRead, IsTerminal, Write};

/// Where the lines of a session come from.
pub enum LineSource {
    /// A terminal.
    Terminal(Box<Editor<NameCompleter, FileHistory>>),
    /// Another input. Prompts are printed, but not the lines.
    Plain,
}

/// The file of the history in the cache folder.
const HISTORY: &str = "repl-history";

/// Names of the program that complete a line.
pub struct NameCompleter {
    program: SessionProgram,
}

impl LineSource {
    /// Standard input.
    ///
    /// # Errors
    /// The terminal cannot be used.
    pub fn open_standard() -> Result<LineSource, CommandFailure> {
        if !io::stdin().is_terminal() {
            return Ok(LineSource::Plain);
        }
        let config = Config::builder()
            .completion_type(CompletionType::List)
            .build();
        let mut editor = Editor::with_config(config).map_err(to_failure)?;
        editor.set_helper(Some(NameCompleter {
            program: SessionProgram::empty(),
        }));
        if let Some(folder) = find_cache_folder() {
            // The first session has no history.
            let _ = editor.load_history(&folder.join(HISTORY));
        }
        Ok(LineSource::Terminal(Box::new(editor)))
    }

    /// Reads a line without its end. None at the end of the input. An interrupt abandons the line.
    pub(super) fn read_line(
        &mut self,
        prompt: &str,
        program: &SessionProgram,
    ) -> Result<Option<String>, CommandFailure> {
        let editor = match self {
            LineSource::Plain => return read_plain_line(prompt),
            LineSource::Terminal(editor) => editor,
        };
        if let Some(completer) = editor.helper_mut() {
            completer.program = program.clone();
        }
        match editor.readline(prompt) {
            Ok(line) => {
                let _ = editor.add_history_entry(&line);
                Ok(Some(line))
            }
            Err(ReadlineError::Interrupted) => Ok(Some(String::new())),
            Err(ReadlineError::Eof) => {
                self.save_history();
                Ok(None)
            }
            Err(fault) => Err(to_failure(fault)),
        }
    }

    /// Reads a further line of an input. Only a terminal shows a prompt for it.
    pub(super) fn read_continuation(
        &mut self,
        program: &SessionProgram,
    ) -> Result<Option<String>, CommandFailure> {
        let prompt = match self {
            LineSource::Plain => "",
            LineSource::Terminal(_) => "   | ",
        };
        self.read_line(prompt, program)
    }

    /// Keeps the history for later sessions. A history that cannot be written is lost.
    pub fn save_history(&mut self) {
        if let (LineSource::Terminal(editor), Some(folder)) = (self, find_cache_folder()) {
            let _ = std::fs::create_dir_all(&folder);
            let _ = editor.save_history(&folder.join(HISTORY));
        }
    }
}

fn to_failure(fault: ReadlineError) -> CommandFailure {
    CommandFailure::from_message(fault.to_string())
}

fn read_plain_line(prompt: &str) -> Result<Option<String>, CommandFailure> {
    let mut output = io::stdout();
    output.write_all(prompt.as_bytes())?;
    output.flush()?;
    let mut bytes = Vec::new();
    if io::stdin().lock().read_until(b'\n', &mut bytes)? == 0 {
        return Ok(None);
    }
    let line = String::from_utf8_lossy(&bytes);
    Ok(Some(line.trim_end_matches(['\r', '\n']).to_owned()))
}

impl Completer for NameCompleter {
    type Candidate = String;

    fn complete(
        &self,
        line: &str,
        at: usize,
        _: &Context<'_>,
    ) -> Result<(usize, Vec<String>), ReadlineError> {
        let path = NamePath::read_before(line, at);
        let start = at - path.start.len();
        if path.holders.is_empty() && line[..start] == *":" {
            let names = list_command_names().filter(|name| name.starts_with(&path.start));
            return Ok((start, names.map(str::to_owned).collect()));
        }
        let end = self.program.len() as u32;
        let names = self.program.analyse(|analysis| {
            let names = analysis.complete_name(analysis.main_file(), end, &path.holders);
            let names = names.into_iter().map(|name| name.name);
            names.collect::<Vec<String>>()
        });
        let mut names = names.unwrap_or_default();
        names.retain(|name| name.starts_with(&path.start));
        names.dedup();
        Ok((start, names))
    }
}

impl Hinter for NameCompleter {
    type Hint = String;
}

impl Highlighter for NameCompleter {}
impl Validator for NameCompleter {}
impl Helper for NameCompleter {}

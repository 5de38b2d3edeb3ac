//! The program of a session: its text, and which part of it was entered where.

use spirula_diagnostics::{DiagnosticSeverity, SourceLocation};
use spirula_futhark::compile::{FileFault, with_large_stack};
use spirula_futhark::query::{SourceAnalysis, analyse_source};
use std::fs;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// The path of the main file of a session without a file. Imports are relative to it.
const NO_FILE: &str = "<repl>.fut";

/// The program of a session.
#[derive(Clone, Debug)]
pub(super) struct SessionProgram {
    /// The path of the main file.
    path: String,
    text: String,
    parts: Vec<EnteredPart>,
}

/// A part of the text that was entered.
#[derive(Clone, Debug)]
struct EnteredPart {
    /// The name of the input.
    name: String,
    range: Range<usize>,
    /// The line of the text at which it begins, from 1.
    line: usize,
}

impl SessionProgram {
    /// A program without declarations.
    pub(super) fn empty() -> SessionProgram {
        SessionProgram {
            path: NO_FILE.to_owned(),
            text: String::new(),
            parts: Vec::new(),
        }
    }

    /// The program of a file.
    pub(super) fn from_file(path: &Path) -> Result<SessionProgram, String> {
        let mut text = fs::read_to_string(path).map_err(|fault| fault.to_string())?;
        text.push('\n');
        let path = path.to_str().ok_or("the path is not UTF-8")?;
        let path = if path.ends_with(".fut") {
            path.to_owned()
        } else {
            format!("{path}.fut")
        };
        Ok(SessionProgram {
            path,
            text,
            parts: Vec::new(),
        })
    }

    /// The path of the main file.
    pub(super) fn path(&self) -> &str {
        &self.path
    }

    /// The program with an input between two other texts. The first ends with a line.
    pub(super) fn with_input(&self, name: &str, prefix: &str, input: &str, suffix: &str) -> Self {
        let mut program = self.clone();
        program.text.push_str(prefix);
        let start = program.text.len();
        let line = program.text.matches('\n').count() + 1;
        program.text.push_str(input);
        program.parts.push(EnteredPart {
            name: name.to_owned(),
            range: start..program.text.len(),
            line,
        });
        program.text.push('\n');
        program.text.push_str(suffix);
        program
    }

    /// Reads a file of the program.
    pub(super) fn read_file(&self, name: &str) -> Result<String, String> {
        if name == self.path {
            return Ok(self.text.clone());
        }
        fs::read_to_string(name).map_err(|fault| fault.to_string())
    }

    /// Asks an analysis of the program.
    pub(super) fn analyse<T: Send>(
        &self,
        ask: impl FnOnce(&SourceAnalysis) -> T + Send,
    ) -> Option<T> {
        with_large_stack(|| {
            let analysis = analyse_source(&self.path, &mut |name| self.read_file(name));
            analysis.ok().map(|analysis| ask(&analysis))
        })
    }

    /// The errors of the program.
    pub(super) fn find_errors(&self) -> Vec<FileFault> {
        self.analyse(list_errors).unwrap_or_default()
    }

    /// The number of bytes of the text.
    pub(super) fn len(&self) -> usize {
        self.text.len()
    }

    /// A fault with the input that it is about in place of the program, if it is about one.
    pub(super) fn locate_fault(&self, fault: &FileFault) -> FileFault {
        let SourceLocation::Text { start, end } = fault.diagnostic.place else {
            return fault.clone();
        };
        let (start, end) = (start as usize, end as usize);
        let mut parts = self.parts.iter();
        let part = parts.find(|part| part.range.start <= start && start <= part.range.end);
        let Some(part) = part.filter(|_| fault.is_main) else {
            return fault.clone();
        };
        let shift = part.range.start;
        let end = end.min(part.range.end) - shift;
        let mut diagnostic = fault.diagnostic.clone();
        diagnostic.place = SourceLocation::from_text_range(start - shift, end);
        FileFault {
            name: Arc::from(part.name.as_str()),
            text: Arc::from(&self.text[part.range.clone()]),
            is_main: true,
            diagnostic,
        }
    }

    /// A place of a running program, `FILE:LINE:COLUMN-END`, with the input in place of the file if it is in one.
    pub(super) fn describe_place(&self, place: &str) -> String {
        self.find_input_place(place)
            .unwrap_or_else(|| place.to_owned())
    }

    fn find_input_place(&self, place: &str) -> Option<String> {
        let rest = place.strip_prefix(&self.path)?.strip_prefix(':')?;
        let (line, rest) = rest.split_once(':')?;
        let line: usize = line.parse().ok()?;
        let part = self.parts.iter().rev().find(|part| part.line <= line)?;
        let shift = part.line - 1;
        let end = rest.split_once('-').and_then(|(start, end)| {
            let (end_line, column) = end.split_once(':')?;
            let end_line: usize = end_line.parse().ok()?;
            Some(format!("{start}-{}:{column}", end_line.checked_sub(shift)?))
        });
        let rest = end.unwrap_or_else(|| rest.to_owned());
        Some(format!("{}:{}:{rest}", part.name, line - shift))
    }
}

/// The errors among the faults of a program.
pub(super) fn list_errors(analysis: &SourceAnalysis) -> Vec<FileFault> {
    let mut faults = analysis.list_faults();
    faults.retain(|fault| fault.diagnostic.severity == DiagnosticSeverity::Error);
    faults
}

#[cfg(test)]
mod tests {
    use super::SessionProgram;

    #[test]
    fn places_are_those_of_inputs() {
        let program = SessionProgram::empty().with_input("[3]", "open {\n", "def f x =\n x", "}\n");
        let program = program.with_input("[4]", "def y =\n", "f 1", "");
        for (place, shown) in [
            ("<repl>.fut:2:1-9", "[3]:1:1-9"),
            ("<repl>.fut:2:5-3:2", "[3]:1:5-2:2"),
            ("<repl>.fut:6:1-3", "[4]:1:1-3"),
            ("a.fut:6:1-3", "a.fut:6:1-3"),
        ] {
            assert_eq!(program.describe_place(place), shown);
        }
    }
}

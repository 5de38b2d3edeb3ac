//! Front end of Futhark source.

use super::format::{
    FormatMarks, FormatReader, FrontEnd, InputFormat, LineMatch, TextMarks, decode_utf8,
    ignore_comment, starts_with_any,
};
use super::source::SourceProgram;
use crate::error::{CompileError, CompileStage};
use spirula_diagnostics::SourceDiagnostic;
use std::fs;

pub(super) static FRONT_END: FrontEnd = FrontEnd {
    title: "Futhark source",
    formats: &[&FUTHARK_SOURCE],
};

/// Futhark source, which may import other files.
pub static FUTHARK_SOURCE: InputFormat = InputFormat {
    name: "Futhark source",
    marks: FormatMarks::Text(TextMarks {
        comments: &["--"],
        match_comment: ignore_comment,
        match_line: |line| LineMatch::certain_if(starts_with_any(line, LINES) || is_module(line)),
    }),
    read: FormatReader::Located(read_program),
};

/// Beginnings of lines that only Futhark source has.
const LINES: &[&str] = &[
    "def ",
    "entry ",
    "let ",
    "import \"",
    "open ",
    "local ",
    "type ",
    "type^ ",
    "type~ ",
    "module type ",
    "#[",
];

/// Whether a line begins the definition of a module. A module of MLIR has a symbol, attributes or a body after
/// its keyword, and LLVM IR has assembly.
fn is_module(line: &str) -> bool {
    let name = line
        .strip_prefix("module ")
        .map(|rest| rest.split([' ', '(', ':', '=']).next().unwrap_or(""));
    name.is_some_and(|name| {
        name.starts_with(|first: char| first.is_ascii_alphabetic())
            && !matches!(name, "asm" | "attributes")
    })
}

fn read_program(
    bytes: &[u8],
    path: &str,
    warnings: &mut Vec<SourceDiagnostic>,
) -> Result<SourceProgram, CompileError> {
    let text = decode_utf8(bytes)?;
    let main = if path.ends_with(".fut") {
        path.to_owned()
    } else {
        format!("{path}.fut")
    };
    let mut read = |file: &str| {
        if file == main {
            return Ok(text.to_owned());
        }
        fs::read_to_string(file).map_err(|error| error.to_string())
    };
    let source = spirula_futhark::compile::internalise_with_warnings(&main, &mut read, warnings);
    source
        .map(|source| SourceProgram::Combinators(Box::new(source)))
        .map_err(|faults| CompileError::from_diagnostics(CompileStage::Read, faults))
}

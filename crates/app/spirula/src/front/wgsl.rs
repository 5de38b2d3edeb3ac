//! Front end of WGSL, by naga.

use super::format::{
    FormatMarks, FormatReader, FrontEnd, InputFormat, LineMatch, TextMarks, decode_utf8,
    ignore_comment, starts_with_any,
};
use super::source::SourceProgram;
use crate::error::CompileError;
use spirula_spirv::ir::SpirvModule;

pub(super) static FRONT_END: FrontEnd = FrontEnd {
    title: "WGSL",
    formats: &[&WGSL],
};

/// The shading language of WebGPU.
static WGSL: InputFormat = InputFormat {
    name: "WGSL",
    marks: FormatMarks::Text(TextMarks {
        comments: &["//"],
        match_comment: ignore_comment,
        match_line: |line| {
            if starts_with_any(line, LINES) {
                LineMatch::Certain
            } else {
                LineMatch::likely_if(starts_with_any(line, LIKELY_LINES))
            }
        },
    }),
    read: FormatReader::Bytes(read_source),
};

/// Beginnings of lines that only WGSL has.
const LINES: &[&str] = &[
    "@binding(",
    "@compute",
    "@fragment",
    "@group(",
    "@vertex",
    "@workgroup_size(",
    "diagnostic(",
    "enable f16",
    "override ",
    "var<",
];

/// Beginnings of lines that WGSL shares with other languages.
const LIKELY_LINES: &[&str] = &["alias ", "const ", "fn ", "struct "];

fn read_source(bytes: &[u8]) -> Result<SourceProgram, CompileError> {
    let words = spirula_wgsl::translate_source(decode_utf8(bytes)?);
    let words = words.map_err(CompileError::from_read_fault)?;
    let module = SpirvModule::from_words(words).map_err(CompileError::from_read_fault)?;
    Ok(SourceProgram::Module(Box::new(module)))
}

//! Front end of kernel text, the text form of the kernel IR.

use super::format::{
    FormatMarks, FormatReader, FrontEnd, InputFormat, LineMatch, TextMarks, decode_utf8,
    ignore_comment, starts_with_any,
};
use super::source::SourceProgram;
use crate::error::CompileError;
use spirula_kernel::ir::KernelProgram;

pub(super) static FRONT_END: FrontEnd = FrontEnd {
    title: "kernel text",
    formats: &[&KERNEL_TEXT],
};

/// The text form of the kernel IR.
static KERNEL_TEXT: InputFormat = InputFormat {
    name: "kernel text",
    marks: FormatMarks::Text(TextMarks {
        comments: &[";"],
        match_comment: ignore_comment,
        match_line: |line| LineMatch::certain_if(starts_with_any(line, LINES)),
    }),
    read: FormatReader::Bytes(|bytes| {
        let program = spirula_kernel::parse_program(decode_utf8(bytes)?);
        verify_kernels(program.map_err(CompileError::from_read_fault)?)
    }),
};

/// Beginnings of lines that only kernel text has.
const LINES: &[&str] = &[
    "function @",
    "entry \"",
    "global %",
    "initialise {",
    "opaque \"",
];

/// Verifies a program in the kernel IR.
pub(super) fn verify_kernels(program: KernelProgram) -> Result<SourceProgram, CompileError> {
    spirula_kernel::verify_program(&program).map_err(CompileError::from_read_fault)?;
    Ok(SourceProgram::Kernels(Box::new(program)))
}

//! Front end of Futhark's printed form: the imperative representation that its compiler prints.

use super::format::{
    FormatMarks, FormatReader, FrontEnd, InputFormat, LineMatch, TextMarks, decode_utf8,
    ignore_comment,
};
use super::kernel_text::verify_kernels;
use crate::error::CompileError;

pub(super) static FRONT_END: FrontEnd = FrontEnd {
    title: "Futhark's printed form",
    formats: &[&FUTHARK_PRINTED],
};

/// The imperative representation that Futhark's compiler prints.
static FUTHARK_PRINTED: InputFormat = InputFormat {
    name: "Futhark's printed form",
    marks: FormatMarks::Text(TextMarks {
        comments: &[],
        match_comment: ignore_comment,
        match_line: |line| LineMatch::certain_if(line == FIRST_LINE),
    }),
    read: FormatReader::Bytes(|bytes| {
        let program = spirula_futhark::read_futhark(decode_utf8(bytes)?);
        verify_kernels(program.map_err(CompileError::from_read_fault)?)
    }),
};

/// The line that the printed form begins with.
const FIRST_LINE: &str = "types {";

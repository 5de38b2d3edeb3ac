//! Front end of SPIR-V: binary modules and assembly.

use super::format::{
    FormatMarks, FormatReader, FrontEnd, InputFormat, LineMatch, TextMarks, decode_utf8,
};
use super::source::SourceProgram;
use crate::error::{CompileError, CompileStage};
use spirula_spirv::grammar::Op;
use spirula_spirv::ir::SpirvModule;
use spirula_spirv::text;

pub(super) static FRONT_END: FrontEnd = FrontEnd {
    title: "SPIR-V (binary or assembly)",
    formats: &[&SPIRV_BINARY, &SPIRV_TEXT],
};

/// A SPIR-V module in either byte order.
pub static SPIRV_BINARY: InputFormat = InputFormat {
    name: "SPIR-V",
    marks: FormatMarks::Magic(&[b"\x03\x02\x23\x07", b"\x07\x23\x02\x03"]),
    read: FormatReader::Bytes(read_binary),
};

/// SPIR-V assembly.
pub static SPIRV_TEXT: InputFormat = InputFormat {
    name: "SPIR-V assembly",
    marks: FormatMarks::Text(TextMarks {
        comments: &[";"],
        match_comment: |comment| LineMatch::certain_if(comment == "; SPIR-V"),
        match_line: |line| LineMatch::certain_if(is_instruction(line)),
    }),
    read: FormatReader::Bytes(read_text),
};

/// Whether a line is `OpName …` or `%id = OpName …`.
fn is_instruction(line: &str) -> bool {
    let mut words = line.split_whitespace();
    let opcode = match words.next() {
        Some(id) if id.starts_with('%') && words.next() == Some("=") => words.next(),
        first => first,
    };
    let Some(opcode) = opcode else { return false };
    let name = opcode.split(['(', ';']).next().unwrap_or(opcode);
    name == "OpUnknown" || (name.starts_with("Op") && Op::by_name(name).is_some())
}

fn read_binary(bytes: &[u8]) -> Result<SourceProgram, CompileError> {
    let module = SpirvModule::from_bytes(bytes).map_err(CompileError::from_read_fault)?;
    Ok(SourceProgram::Module(Box::new(module)))
}

fn read_text(bytes: &[u8]) -> Result<SourceProgram, CompileError> {
    let words = text::parse_assembly(decode_utf8(bytes)?, &text::ParseOptions::default());
    let words =
        words.map_err(|faults| CompileError::from_diagnostics(CompileStage::Read, faults))?;
    let module = SpirvModule::from_words(words).map_err(CompileError::from_read_fault)?;
    Ok(SourceProgram::Module(Box::new(module)))
}

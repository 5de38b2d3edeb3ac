//! Format detection: bitcode or LLVM assembly.

use crate::ir::LlvmModule;
use crate::verify::verify_module;
use crate::{LlvmResult, auto_upgrade, bitcode, error_at, text};
use spirula_diagnostics::{SourceDiagnostic, SourceLocation};

pub use bitcode::is_bitcode;

/// Largest input in bytes. Under this bound ids stay below 2^30 for any input.
const MAX_INPUT: usize = 1 << 28;

/// First bytes of an archive of modules or object files.
const ARCHIVE: &[u8] = b"!<arch>\n";

/// Reads a module from bitcode or LLVM assembly.
///
/// # Errors
/// The first fault in the input, with its place.
pub fn read_module(bytes: &[u8]) -> Result<LlvmModule, SourceDiagnostic> {
    read_any(bytes).map_err(|error| error.into_diagnostic(SourceLocation::Unknown))
}

fn read_any(bytes: &[u8]) -> LlvmResult<LlvmModule> {
    if bytes.len() > MAX_INPUT {
        return Err(error_at(
            SourceLocation::Unknown,
            "the input is larger than 256 MiB",
        ));
    }
    if bytes.starts_with(ARCHIVE) {
        let error = error_at(SourceLocation::Byte(0), "an archive, not a module");
        return Err(error.with_hint("take its members out with llvm-ar x"));
    }
    let mut module = if is_bitcode(bytes) {
        bitcode::read_bitcode(bytes)?
    } else {
        text::parse_assembly(bytes)?
    };
    verify_module(&module)?;
    let LlvmModule { types, layout, .. } = &mut module;
    layout.measure_all(types);
    auto_upgrade::complete_alignments(&mut module);
    Ok(module)
}

/// Words that begin a definition of LLVM assembly at the start of a line.
const PREFIXES: &[&[u8]] = &[
    b"; ModuleID",
    b"source_filename",
    b"target datalayout",
    b"target triple",
    b"define ",
    b"declare ",
    b"attributes #",
    b"@",
    b"!",
];

/// Whether the bytes look like LLVM assembly: the first line that is neither empty nor a comment
/// begins a definition.
pub fn looks_like_llvm_text(bytes: &[u8]) -> bool {
    let lines = bytes.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii);
    let mut lines = lines.filter(|line| !line.is_empty());
    let is_beginning = |line: &[u8]| PREFIXES.iter().any(|&word| line.starts_with(word));
    lines
        .find(|line| line.first() != Some(&b';') || is_beginning(line))
        .is_some_and(|line| is_beginning(line) || is_type_or_comdat(line))
}

/// `%name = type …` or `$name = comdat …`
fn is_type_or_comdat(line: &[u8]) -> bool {
    let word = |word: &[u8]| line.windows(word.len()).any(|window| window == word);
    match line.first() {
        Some(b'%') => word(b"= type "),
        Some(b'$') => word(b"= comdat "),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_have_their_kinds() {
        assert!(is_bitcode(b"BC\xc0\xde...."));
        assert!(looks_like_llvm_text(b"; a remark\n\ndefine void @f() {"));
        assert!(looks_like_llvm_text(b"; ModuleID = 'x'\n"));
        assert!(looks_like_llvm_text(b"%a = type { i32 }\n"));
        assert!(!looks_like_llvm_text(b"; SPIR-V\n%1 = OpTypeVoid\n"));
        assert!(!looks_like_llvm_text(b"OpCapability Shader\n"));
    }
}

//! What an input is, found from its content and never from its name.
//!
//! Binary forms are known by their first bytes. Texts are known by the first line that only one of
//! the languages has; comments are shared between SPIR-V assembly and LLVM IR and say nothing.

use spirula_diagnostics::{SourceDiagnostic, SourceLocation};
use spirula_program::archive;
use spirula_spirv::grammar::Op;

/// The forms of input that are accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputKind {
    /// A SPIR-V module in either byte order.
    SpirvBinary,
    /// SPIR-V assembly.
    SpirvText,
    /// LLVM bitcode, with or without its wrapper.
    LlvmBitcode,
    /// LLVM IR as text.
    LlvmText,
    /// MLIR as text, of which StableHLO is accepted.
    MlirText,
    /// MLIR bytecode, of which StableHLO and its portable artifacts are accepted.
    MlirBytecode,
    /// The text form of the imperative IR.
    Kernels,
    /// The imperative form that Futhark's compiler prints.
    Futhark,
    /// A compiled program as one file.
    Archive,
}

impl InputKind {
    /// The name of the form.
    pub fn name(self) -> &'static str {
        match self {
            InputKind::SpirvBinary => "SPIR-V",
            InputKind::SpirvText => "SPIR-V assembly",
            InputKind::LlvmBitcode => "LLVM bitcode",
            InputKind::LlvmText => "LLVM IR",
            InputKind::MlirText => "MLIR",
            InputKind::MlirBytecode => "MLIR bytecode",
            InputKind::Kernels => "kernel text",
            InputKind::Futhark => "Futhark's printed form",
            InputKind::Archive => "a compiled program",
        }
    }
}

/// First bytes of what is accepted.
const BINARIES: &[(&[u8], InputKind)] = &[
    (b"\x03\x02\x23\x07", InputKind::SpirvBinary),
    (b"\x07\x23\x02\x03", InputKind::SpirvBinary),
    (b"BC\xc0\xde", InputKind::LlvmBitcode),
    (b"\xde\xc0\x17\x0b", InputKind::LlvmBitcode),
    (b"ML\xefR", InputKind::MlirBytecode),
];

const FROM_C: &str = "compile it to LLVM IR first: clang -c -x cl -target spir64-unknown-unknown \
                      -Xclang -finclude-default-header -emit-llvm IN -o OUT.bc";
const FROM_GLSL: &str = "compile it to SPIR-V first, with glslc or glslangValidator";
const FROM_OBJECT: &str = "give the LLVM IR or SPIR-V that it was made from (clang -emit-llvm)";

/// First bytes of what is often given instead, its name and what to do.
const FOREIGN: &[(&[u8], &str, &str)] = &[
    (b"\x7fELF", "an ELF object", FROM_OBJECT),
    (b"MZ", "a Windows executable", FROM_OBJECT),
    (b"\xcf\xfa\xed\xfe", "a Mach-O object", FROM_OBJECT),
    (b"!<arch>", "an archive of objects", FROM_OBJECT),
    (
        b"__CLANG_OFFLOAD_BUNDLE__",
        "a bundle of device code",
        "take the module out of it with clang-offload-bundler -unbundle",
    ),
    (
        b"\x10\xff\x10\xad",
        "a package of device code",
        "take the module out of it with clang-offload-packager",
    ),
    (
        b"DXBC",
        "a DirectX container",
        "compile the source to SPIR-V instead, with dxc -spirv",
    ),
    (b"\x1f\x8b", "compressed with gzip", "decompress it first"),
    (
        b"\x28\xb5\x2f\xfd",
        "compressed with zstd",
        "decompress it first",
    ),
    (
        b"PK\x03\x04",
        "a zip archive",
        "take the module out of it first",
    ),
    (
        b"\x93NUMPY",
        "a NumPy array",
        "arrays are given to kernels with run --arg '@FILE.npy'",
    ),
    (b"\xff\xfe", "text in UTF-16", "convert it to UTF-8 first"),
    (b"\xfe\xff", "text in UTF-16", "convert it to UTF-8 first"),
];

/// Beginnings of lines that only LLVM IR has.
const LLVM_LINES: &[&str] = &[
    "; ModuleID",
    "source_filename",
    "target datalayout",
    "target triple",
    "define ",
    "declare ",
    "module asm",
    "attributes #",
    "@",
    "!",
    "$",
    "^",
];

/// Beginnings of lines that only MLIR has.
const MLIR_LINES: &[&str] = &[
    "module {",
    "module @",
    "module attributes",
    "builtin.module",
    "func.func",
    "\"builtin.module\"",
    "\"func.func\"",
];

/// Beginnings of lines that only the imperative IR's text form has.
const KERNEL_LINES: &[&str] = &[
    "function @",
    "entry \"",
    "global %",
    "initialise {",
    "opaque \"",
];

/// The line with which Futhark's printed form begins.
const FUTHARK_LINE: &str = "types {";

/// Beginnings of lines of other languages, their names and what to do.
const FOREIGN_LINES: &[(&str, &str, &str)] = &[
    ("#version", "GLSL", FROM_GLSL),
    ("layout(", "GLSL", FROM_GLSL),
    ("#include", "C source", FROM_C),
    ("#pragma", "C source", FROM_C),
    ("#define", "C source", FROM_C),
    ("__kernel", "OpenCL C", FROM_C),
    ("kernel ", "OpenCL C", FROM_C),
    ("typedef ", "C source", FROM_C),
    ("static ", "C source", FROM_C),
    ("void ", "C source", FROM_C),
    ("/*", "C source", FROM_C),
    (
        "@compute",
        "WGSL",
        "compile it to SPIR-V first, with naga or tint",
    ),
    (
        "[numthreads",
        "HLSL",
        "compile it to SPIR-V first, with dxc -spirv",
    ),
    (
        ".version",
        "PTX",
        "compile the source for a SPIR-V target instead",
    ),
];

/// What the bytes of an input are.
///
/// # Errors
/// When they are nothing that is accepted; the diagnostic says what they look like instead.
pub fn detect_input_kind(bytes: &[u8]) -> Result<InputKind, SourceDiagnostic> {
    if bytes.is_empty() {
        let error = SourceDiagnostic::error(SourceLocation::Unknown, "the input is empty");
        return Err(error.with_hint(ACCEPTED));
    }
    if let Some((_, kind)) = BINARIES.iter().find(|(magic, _)| bytes.starts_with(magic)) {
        return Ok(*kind);
    }
    if archive::is_archive(bytes) {
        return Ok(InputKind::Archive);
    }
    if let Some((_, name, hint)) = FOREIGN.iter().find(|(magic, ..)| bytes.starts_with(magic)) {
        return Err(make_refusal(SourceLocation::Byte(0), name, hint));
    }
    if let Some((magic, kind)) = BINARIES.iter().find(|(magic, _)| magic.starts_with(bytes)) {
        let message = format!(
            "the input ends after {} of {} bytes of the magic number of {}",
            bytes.len(),
            magic.len(),
            kind.name()
        );
        return Err(SourceDiagnostic::error(SourceLocation::Byte(0), message)
            .with_hint("the file is truncated"));
    }
    let text = readable_prefix(bytes);
    if text.contains('\0') || text.len() < bytes.len().min(16) {
        let error = SourceDiagnostic::error(
            SourceLocation::Byte(0),
            "the input is binary, but no known kind of module",
        );
        return Err(error.with_hint(ACCEPTED));
    }
    detect_text(text)
}

const ACCEPTED: &str = "accepted are SPIR-V (binary or assembly), LLVM IR (bitcode or text), \
                        StableHLO (MLIR text or bytecode), kernel text, Futhark's printed form and compiled \
                        programs";

fn make_refusal(place: SourceLocation, name: &str, hint: &str) -> SourceDiagnostic {
    SourceDiagnostic::error(place, format!("the input is {name}, which is not accepted"))
        .with_note(ACCEPTED)
        .with_hint(hint)
}

/// The UTF-8 text at the beginning, byte order mark left out.
fn readable_prefix(bytes: &[u8]) -> &str {
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(e) => std::str::from_utf8(&bytes[..e.valid_up_to()]).unwrap_or(""),
    };
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

fn detect_text(text: &str) -> Result<InputKind, SourceDiagnostic> {
    let mut comment = None;
    let mut says_nothing = true;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let start = at;
        at += line.len();
        let line = line.trim();
        if line == "; SPIR-V" {
            comment = Some(InputKind::SpirvText);
        }
        if line.starts_with("; ModuleID") {
            comment = Some(InputKind::LlvmText);
        }
        if line.starts_with("//") {
            comment = comment.or(Some(InputKind::MlirText));
        }
        if line.is_empty() || line.starts_with(';') || line.starts_with("//") {
            continue;
        }
        says_nothing = false;
        if is_spirv_line(line) {
            return Ok(InputKind::SpirvText);
        }
        if line == FUTHARK_LINE {
            return Ok(InputKind::Futhark);
        }
        if KERNEL_LINES.iter().any(|begin| line.starts_with(begin)) {
            return Ok(InputKind::Kernels);
        }
        if is_mlir_line(line) {
            return Ok(InputKind::MlirText);
        }
        let foreign = FOREIGN_LINES
            .iter()
            .find(|(begin, ..)| line.starts_with(begin));
        if let Some((_, name, hint)) = foreign {
            let place = SourceLocation::from_text_range(start, start + line.len());
            return Err(make_refusal(place, name, hint));
        }
        if is_llvm_line(line) {
            return Ok(InputKind::LlvmText);
        }
    }
    // A module of nothing but comments is one of LLVM IR: SPIR-V has a memory model at least.
    let empty = (says_nothing && text.contains(';')).then_some(InputKind::LlvmText);
    comment.or(empty).ok_or_else(|| {
        SourceDiagnostic::error(
            SourceLocation::Unknown,
            "the input is text, but in no known language",
        )
        .with_hint(ACCEPTED)
    })
}

/// A line that begins a module, a function, or an alias of an attribute or a type.
fn is_mlir_line(line: &str) -> bool {
    let is_alias = || {
        let (name, value) = line.split_once('=')?;
        let rest = name.trim_end().strip_prefix(['#', '!'])?;
        // Metadata of LLVM IR has numbers, or braces behind the mark.
        let is_name = rest.starts_with(|c: char| c.is_ascii_alphabetic());
        (is_name && !value.trim_start().starts_with('!')).then_some(())
    };
    MLIR_LINES.iter().any(|begin| line.starts_with(begin)) || is_alias().is_some()
}

/// `OpName …` or `%id = OpName …`.
fn is_spirv_line(line: &str) -> bool {
    let mut words = line.split_whitespace();
    let opcode = match words.next() {
        Some(id) if id.starts_with('%') && words.next() == Some("=") => words.next(),
        first => first,
    };
    let Some(opcode) = opcode else { return false };
    let name = opcode.split(['(', ';']).next().unwrap_or(opcode);
    name == "OpUnknown" || (name.starts_with("Op") && Op::by_name(name).is_some())
}

/// A line that begins a declaration of LLVM IR.
fn is_llvm_line(line: &str) -> bool {
    let is_type = || {
        let (name, rest) = line.split_once('=')?;
        let word = rest.split_whitespace().next();
        (name.starts_with('%') && word == Some("type")).then_some(())
    };
    LLVM_LINES.iter().any(|begin| line.starts_with(begin)) || is_type().is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accepted_forms() {
        let cases: &[(&[u8], InputKind)] = &[
            (b"\x03\x02\x23\x07\0\0\x01\0", InputKind::SpirvBinary),
            (b"\x07\x23\x02\x03", InputKind::SpirvBinary),
            (b"BC\xc0\xde....", InputKind::LlvmBitcode),
            (b"\xde\xc0\x17\x0b", InputKind::LlvmBitcode),
            (b"ML\xefR\x0d", InputKind::MlirBytecode),
            (
                b"; comment\n\n  OpCapability Shader\n",
                InputKind::SpirvText,
            ),
            (b"%1 = OpTypeVoid", InputKind::SpirvText),
            (b"; SPIR-V\n; Version: 1.0\n", InputKind::SpirvText),
            (b"nonsense\nOpCapability Kernel", InputKind::SpirvText),
            (b"; ModuleID = 'x'\n", InputKind::LlvmText),
            (b"; nothing\n\n; at all\n", InputKind::LlvmText),
            (b"; RUN: x\n%struct.S = type { i32 }\n", InputKind::LlvmText),
            (b"define void @f() {\n", InputKind::LlvmText),
            (
                b"\xef\xbb\xbfsource_filename = \"x\"\n",
                InputKind::LlvmText,
            ),
            (b"module asm \"x\"\ndeclare void @f()", InputKind::LlvmText),
            (b"// RUN: x\n\nmodule @m {\n}", InputKind::MlirText),
            (b"#loc = loc(unknown)\n", InputKind::MlirText),
            (b"!t = tensor<2xf32>\n", InputKind::MlirText),
            (b"\"builtin.module\"() ({\n", InputKind::MlirText),
            (b"// nothing\n", InputKind::MlirText),
            (b"!llvm.ident = !{!0}\n", InputKind::LlvmText),
            (b"; sums\nglobal %x: i32\n", InputKind::Kernels),
            (b"function @f() -> () {\n}\n", InputKind::Kernels),
            (b"types {\n}\nConstants:\n", InputKind::Futhark),
        ];
        for (bytes, kind) in cases {
            assert_eq!(
                detect_input_kind(bytes).as_ref(),
                Ok(kind),
                "{}",
                bytes.escape_ascii()
            );
        }
    }

    #[test]
    fn other_things_are_named() {
        let cases: &[(&[u8], &str)] = &[
            (b"", "empty"),
            (b"\x7fELF\x02", "an ELF object"),
            (b"\x03\x02", "ends after 2 of 4 bytes"),
            (b"__kernel void f() {}", "OpenCL C"),
            (b"// x\nkernel void f() {}", "OpenCL C"),
            (b"#version 450", "GLSL"),
            (b"\x00\x01\x02\x03", "binary"),
            (b"\xffabc\xfe", "binary"),
            (b"hello", "no known language"),
            (b"; x\nhello", "no known language"),
        ];
        for (bytes, words) in cases {
            let error = detect_input_kind(bytes).unwrap_err();
            assert!(
                error.message.contains(words),
                "{}: {error}",
                bytes.escape_ascii()
            );
            assert!(error.hint.is_some());
        }
    }
}

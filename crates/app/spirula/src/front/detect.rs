//! Detection of an input's format, from its content and never from its name.
//!
//! Binary formats are known by their first bytes. Texts are known by the first line that only one of the languages has.
//! Several languages share their comments, so a comment decides only where no other line does.

use super::foreign::{refuse_bytes, refuse_line, refuse_marked_text, refuse_ttgir};
use super::format::{FormatMarks, InputFormat, LineMatch, TextMarks, starts_with_any};
use super::futhark_source::FUTHARK_SOURCE;
use super::llvm::LLVM_TEXT;
use super::stablehlo::MLIR_TEXT;
use super::table::{all_formats, describe_accepted_inputs};
use super::triton::TTIR;
use spirula_diagnostics::{SourceDiagnostic, SourceLocation};

/// Detects the format of an input.
///
/// # Errors
/// When the input is of no accepted format. The diagnostic names the format that it resembles.
pub fn detect_input_format(bytes: &[u8]) -> Result<&'static InputFormat, SourceDiagnostic> {
    if bytes.is_empty() {
        return Err(make_unknown_error(
            SourceLocation::Unknown,
            "the input is empty",
        ));
    }
    if let Some(format) = all_formats().find(|format| matches_bytes(format, bytes)) {
        let is_tile_module = *format == TTIR;
        let refusal = is_tile_module.then(|| refuse_ttgir(readable_prefix(bytes)));
        return refusal.flatten().map_or(Ok(format), Err);
    }
    if let Some(refusal) = refuse_bytes(bytes) {
        return Err(refusal);
    }
    if let Some(error) = find_truncated_magic(bytes) {
        return Err(error);
    }
    let text = readable_prefix(bytes);
    if text.contains('\0') || text.len() < bytes.len().min(16) {
        let message = "the input is binary, but no known kind of module";
        return Err(make_unknown_error(SourceLocation::Byte(0), message));
    }
    detect_text_format(text)
}

/// Whether an input is of a binary format.
fn matches_bytes(format: &InputFormat, bytes: &[u8]) -> bool {
    match &format.marks {
        FormatMarks::Magic(numbers) => numbers.iter().any(|magic| bytes.starts_with(magic)),
        FormatMarks::Predicate(is_format) => is_format(bytes),
        FormatMarks::Text(_) => false,
    }
}

/// The error of an input that ends within the magic number of a format.
fn find_truncated_magic(bytes: &[u8]) -> Option<SourceDiagnostic> {
    let magic_numbers = all_formats().flat_map(|format| match &format.marks {
        FormatMarks::Magic(numbers) => numbers.iter().map(|magic| (format, *magic)).collect(),
        _ => Vec::new(),
    });
    let (format, magic) = magic_numbers
        .into_iter()
        .find(|(_, magic)| magic.starts_with(bytes))?;
    let message = format!(
        "the input ends after {} of {} bytes of the magic number of {}",
        bytes.len(),
        magic.len(),
        format.name
    );
    Some(
        SourceDiagnostic::error(SourceLocation::Byte(0), message)
            .with_hint("the file is truncated"),
    )
}

fn make_unknown_error(place: SourceLocation, message: &str) -> SourceDiagnostic {
    SourceDiagnostic::error(place, message).with_hint(describe_accepted_inputs())
}

/// The UTF-8 text at the beginning of an input, without its byte order mark.
fn readable_prefix(bytes: &[u8]) -> &str {
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => std::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or(""),
    };
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

fn text_formats() -> impl Iterator<Item = (&'static InputFormat, &'static TextMarks)> {
    all_formats().filter_map(|format| match &format.marks {
        FormatMarks::Text(marks) => Some((format, marks)),
        _ => None,
    })
}

/// Evidence from the lines of a text so far.
#[derive(Default)]
struct CommentEvidence {
    /// The format that comments suggest.
    format: Option<&'static InputFormat>,
    /// Whether there was a line that is neither blank nor a comment.
    has_other_lines: bool,
}

impl CommentEvidence {
    fn add_comment(&mut self, comment: &str) {
        for (format, marks) in text_formats() {
            match (marks.match_comment)(comment) {
                LineMatch::Certain => self.format = Some(format),
                LineMatch::Likely => self.format = self.format.or(Some(format)),
                LineMatch::No => {}
            }
        }
    }

    /// The format of a text in which no line but comments suggested one.
    fn choose_format(&self, text: &str) -> Option<&'static InputFormat> {
        if self.format.is_some() || self.has_other_lines {
            return self.format;
        }
        // A module of nothing but comments is LLVM IR: a SPIR-V module has a memory model at least.
        let has_comment = |mark: &str| text.lines().any(|line| line.trim().starts_with(mark));
        if has_comment(";") {
            Some(&LLVM_TEXT)
        } else {
            has_comment("--").then_some(&FUTHARK_SOURCE)
        }
    }
}

fn detect_text_format(text: &str) -> Result<&'static InputFormat, SourceDiagnostic> {
    let mut evidence = CommentEvidence::default();
    let mut end = 0;
    for line in text.split_inclusive('\n') {
        let (start, length) = (end, line.len());
        end += length;
        let line = line.trim();
        if line.is_empty() {
            continue;
        }
        if is_comment(line) {
            evidence.add_comment(line);
            continue;
        }
        evidence.has_other_lines = true;
        if let Some(format) = find_format(line, LineMatch::Certain) {
            let refusal = (*format == MLIR_TEXT).then(|| refuse_ttgir(text)).flatten();
            return refusal.map_or(Ok(format), Err);
        }
        if let Some(refusal) = refuse_line(text, line, start, length) {
            return Err(refusal);
        }
        if let Some(format) = find_format(line, LineMatch::Likely) {
            return Ok(format);
        }
    }
    let format = evidence.choose_format(text);
    format.ok_or_else(|| {
        refuse_marked_text(text).unwrap_or_else(|| {
            make_unknown_error(
                SourceLocation::Unknown,
                "the input is text, but in no known language",
            )
        })
    })
}

fn is_comment(line: &str) -> bool {
    text_formats().any(|(_, marks)| starts_with_any(line, marks.comments))
}

/// The first format that a line matches in this degree.
fn find_format(line: &str, degree: LineMatch) -> Option<&'static InputFormat> {
    let found = text_formats().find(|(_, marks)| (marks.match_line)(line) == degree);
    found.map(|(format, _)| format)
}

#[cfg(test)]
mod tests {
    use super::detect_input_format;

    #[test]
    fn accepted_formats() {
        let cases: &[(&[u8], &str)] = &[
            (b"\x03\x02\x23\x07\0\0\x01\0", "SPIR-V"),
            (b"\x07\x23\x02\x03", "SPIR-V"),
            (b"BC\xc0\xde....", "LLVM bitcode"),
            (b"\xde\xc0\x17\x0b", "LLVM bitcode"),
            (b"ML\xefR\x0d", "MLIR bytecode"),
            (b"; comment\n\n  OpCapability Shader\n", "SPIR-V assembly"),
            (b"%1 = OpTypeVoid", "SPIR-V assembly"),
            (b"; SPIR-V\n; Version: 1.0\n", "SPIR-V assembly"),
            (b"nonsense\nOpCapability Kernel", "SPIR-V assembly"),
            (b"; ModuleID = 'x'\n", "LLVM IR"),
            (b"; nothing\n\n; at all\n", "LLVM IR"),
            (b"-- nothing\n-- at all\n", "Futhark source"),
            (b"; RUN: x\n%struct.S = type { i32 }\n", "LLVM IR"),
            (b"define void @f() {\n", "LLVM IR"),
            (b"\xef\xbb\xbfsource_filename = \"x\"\n", "LLVM IR"),
            (b"module asm \"x\"\ndeclare void @f()", "LLVM IR"),
            (b"// RUN: x\n\nmodule @m {\n}", "MLIR"),
            (b"#loc = loc(unknown)\n", "MLIR"),
            (b"!t = tensor<2xf32>\n", "MLIR"),
            (b"\"builtin.module\"() ({\n", "MLIR"),
            (b"// nothing\n", "MLIR"),
            (b"!llvm.ident = !{!0}\n", "LLVM IR"),
            (b"; sums\nglobal %x: i32\n", "kernel text"),
            (b"function @f() -> () {\n}\n", "kernel text"),
            (b"types {\n}\nConstants:\n", "Futhark's printed form"),
            (
                b"-- sums\ndef main (xs: []i32) = i32.sum xs\n",
                "Futhark source",
            ),
            (b"import \"lib/m\"\n", "Futhark source"),
            (b"module m = {}\n", "Futhark source"),
        ];
        for (bytes, name) in cases {
            assert_eq!(
                detect_input_format(bytes)
                    .map(|format| format.name)
                    .as_ref(),
                Ok(name),
                "{}",
                bytes.escape_ascii()
            );
        }
    }

    #[test]
    fn other_formats_are_named() {
        let cases: &[(&[u8], &str)] = &[
            (b"", "empty"),
            (b"\x7fELF\x02", "an ELF object"),
            (b"\x03\x02", "ends after 2 of 4 bytes"),
            (b"__kernel void f() {}", "OpenCL C"),
            (b"// x\nkernel void f() {}", "OpenCL C"),
            (b"#version 450", "GLSL"),
            (b"#include <metal_stdlib>\nkernel void f() {}", "Metal"),
            (b"#include <x>\n__global__ void f() {}", "CUDA"),
            (
                b"// x\n#define N 8\n[numthreads(8, 1, 1)]\nvoid main() {}",
                "HLSL",
            ),
            (b"RWStructuredBuffer<float> x;", "HLSL"),
            (
                b"struct S { a: f32 }\n@group(0) @binding(0) var<storage> x: S;",
                "WGSL",
            ),
            (
                b"precision highp float;\nvoid main() { gl_Position = x; }",
                "GLSL",
            ),
            (b"//\n.version 8.0\n.target sm_80", "PTX"),
            (
                b"HloModule jit_f, entry_computation_layout={()->f32[]}\n",
                "HLO",
            ),
            (b"# x\nimport jax\ndef f(x):\n  return x\n", "Python"),
            (b"import triton\n@triton.jit\ndef f(x):\n  pass\n", "Triton"),
            (b"#blocked = #ttg.blocked<{a = 1}>\nmodule {\n}", "TTGIR"),
            (
                b"#b = #ttg.blocked<{a = 1}>\nmodule {\n tt.func @f() {}\n}",
                "TTGIR",
            ),
            (b"#![no_std]\npub fn f() {}", "Rust"),
            (b"\x08\x08\x12\x07pytorch\x1a\x05", "an ONNX model"),
            (b"\x1c\0\0\0TFL3\x14\0", "TensorFlow Lite"),
            (b"\x00\x01\x02\x03", "binary"),
            (b"\xffabc\xfe", "binary"),
            (b"hello", "no known language"),
            (b"; x\nhello", "no known language"),
            (b"-- x\nhello", "no known language"),
        ];
        for (bytes, words) in cases {
            let error = detect_input_format(bytes).unwrap_err();
            assert!(
                error.message.contains(words),
                "{}: {error}",
                bytes.escape_ascii()
            );
            assert!(error.hint.is_some());
        }
    }
}

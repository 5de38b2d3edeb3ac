//! Front end of LLVM IR: bitcode and text, translated to one SPIR-V module.

use super::format::{
    FormatMarks, FormatReader, FrontEnd, InputFormat, LineMatch, TextMarks, starts_with_any,
};
use super::source::{ModuleSource, SourceProgram};
use crate::error::{CompileError, CompileStage};
use crate::options::CompileOptions;
use crate::vulkan::{compile_for_vulkan, is_vulkan};
use spirula_diagnostics::SourceDiagnostic;
use spirula_llvm::ir::LlvmModule;
use spirula_llvm::{AllowedExtensions, TranslationOptions};
use spirula_spirv::analysis::RequirementCeiling;
use spirula_spirv::ir::SpirvModule;
use spirula_spirv::recompute::recompute_capabilities;

pub(super) static FRONT_END: FrontEnd = FrontEnd {
    title: "LLVM IR (bitcode or text)",
    formats: &[&LLVM_BITCODE, &LLVM_TEXT],
};

/// LLVM bitcode, with or without its wrapper.
static LLVM_BITCODE: InputFormat = InputFormat {
    name: "LLVM bitcode",
    marks: FormatMarks::Magic(&[b"BC\xc0\xde", b"\xde\xc0\x17\x0b"]),
    read: FormatReader::Bytes(read_module),
};

/// LLVM IR as text.
pub(super) static LLVM_TEXT: InputFormat = InputFormat {
    name: "LLVM IR",
    marks: FormatMarks::Text(TextMarks {
        comments: &[";"],
        match_comment: |comment| LineMatch::certain_if(comment.starts_with("; ModuleID")),
        // Attributes of other languages begin with `@`, too, so no line is certain.
        match_line: |line| LineMatch::likely_if(starts_with_any(line, LINES) || is_type(line)),
    }),
    read: FormatReader::Bytes(read_module),
};

/// Beginnings of lines of LLVM IR.
const LINES: &[&str] = &[
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

/// Whether a line is `%name = type …`.
fn is_type(line: &str) -> bool {
    let Some((name, rest)) = line.split_once('=') else {
        return false;
    };
    name.starts_with('%') && rest.split_whitespace().next() == Some("type")
}

fn read_module(bytes: &[u8]) -> Result<SourceProgram, CompileError> {
    let module = spirula_llvm::read_module(bytes).map_err(CompileError::from_read_fault)?;
    Ok(SourceProgram::ModuleSource(Box::new(module)))
}

impl ModuleSource for LlvmModule {
    /// The environment is the one of the module's triple, or Vulkan where that is the target.
    fn translate_to_spirv(
        &self,
        options: &CompileOptions,
        diagnostics: &mut Vec<SourceDiagnostic>,
    ) -> Result<SpirvModule, CompileError> {
        let is_shader = spirula_llvm::is_shader(self, &options.llvm);
        let translation = TranslationOptions {
            target: options
                .target
                .filter(|target| is_shader || !is_vulkan(target)),
            extensions: allowed_extensions(options),
            ..options.llvm.clone()
        };
        let translated = spirula_llvm::translate_module(self, &translation);
        let mut translated = translated
            .map_err(|faults| CompileError::from_diagnostics(CompileStage::Translate, faults))?;
        if is_shader {
            // LLVM IR has no structured control flow.
            spirula_legalize::structurise_module(&mut translated)
                .map_err(CompileError::from_translate_fault)?;
            let recomputed =
                recompute_capabilities(&mut translated, &RequirementCeiling::default());
            recomputed.map_err(|error| CompileError::from_translate_fault(*error))?;
            return Ok(translated);
        }
        let shaders = compile_for_vulkan(&translated, options.target, diagnostics)?;
        Ok(shaders.unwrap_or(translated))
    }
}

/// The extensions that a module may use. For Vulkan, extensions that no device has are left out.
fn allowed_extensions(options: &CompileOptions) -> AllowedExtensions {
    match &options.llvm.extensions {
        AllowedExtensions::All if options.target.as_ref().is_some_and(is_vulkan) => {
            AllowedExtensions::of_devices()
        }
        allowed => allowed.clone(),
    }
}

//! Front end of Triton: TTIR as text, lowered to LLVM IR and translated to one SPIR-V module.

use super::format::{FormatMarks, FormatReader, FrontEnd, InputFormat, decode_utf8};
use super::source::{ModuleSource, SourceProgram};
use crate::error::{CompileError, CompileStage};
use crate::options::CompileOptions;
use spirula_diagnostics::SourceDiagnostic;
use spirula_opt::{PassPipeline, PipelineOptions, optimise_module};
use spirula_spirv::ir::SpirvModule;
use spirula_triton::ir::TileModule;

pub(super) static FRONT_END: FrontEnd = FrontEnd {
    title: "Triton (TTIR)",
    formats: &[&TTIR],
};

/// The intermediate representation of Triton as text.
pub(super) static TTIR: InputFormat = InputFormat {
    name: "TTIR",
    marks: FormatMarks::Predicate(spirula_triton::is_triton_module),
    read: FormatReader::Bytes(read_module),
};

/// The passes that kernels need, since each element of a tensor is computed by code of its own.
const PASSES: &str = "O2";

fn read_module(bytes: &[u8]) -> Result<SourceProgram, CompileError> {
    let module = spirula_triton::read_module(decode_utf8(bytes)?);
    let module = module.map_err(CompileError::from_read_fault)?;
    Ok(SourceProgram::ModuleSource(Box::new(module)))
}

impl ModuleSource for TileModule {
    fn translate_to_spirv(
        &self,
        options: &CompileOptions,
        diagnostics: &mut Vec<SourceDiagnostic>,
    ) -> Result<SpirvModule, CompileError> {
        let kernel = spirula_triton::lower_module(self, spirula_triton::PROGRAM_WIDTH);
        let kernel = kernel.map_err(CompileError::from_translate_fault)?;
        let module = spirula_llvm::read_module(kernel.assembly.as_bytes());
        let module = module.map_err(|error| to_fault("operands of wrong types", &error))?;
        let mut module = module.translate_to_spirv(options, diagnostics)?;
        let pipeline: PassPipeline = PASSES
            .parse()
            .map_err(|error| to_fault("optimising the kernel", &error))?;
        let optimised = optimise_module(&mut module, &pipeline, &mut PipelineOptions::default());
        optimised.map_err(|error| to_fault("optimising the kernel", &error))?;
        Ok(module)
    }
}

/// An error that has no place in the source.
fn to_fault(subject: &str, error: &dyn std::fmt::Display) -> CompileError {
    let place = spirula_diagnostics::SourceLocation::Unknown;
    let diagnostic = SourceDiagnostic::error(place, format!("{subject}: {error}"));
    CompileError::from_diagnostics(CompileStage::Translate, vec![diagnostic])
}

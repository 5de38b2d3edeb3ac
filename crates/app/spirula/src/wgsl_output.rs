//! WGSL of modules, by naga's back end.

use crate::error::CompileError;
use spirula_diagnostics::{SourceDiagnostic, SourceLocation};
use spirula_legalize::device::{DescriptorLocation, move_push_constants};
use spirula_opt::{PassPipeline, PipelineOptions, optimise_module};
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::StorageClass;
use spirula_spirv::ir::{ModuleSection, SpirvModule};

/// The passes that rewrite a module for naga.
const PASSES: &str = "legalize-naga";

/// A shader in WGSL.
#[derive(Clone, Debug)]
pub struct WgslShader {
    /// The source.
    pub source: String,
    /// The module that it was written from.
    pub module: SpirvModule,
    /// The storage buffer that push constants were moved to.
    pub push: Option<DescriptorLocation>,
}

/// Translates a module to WGSL. Push constants become a storage buffer.
///
/// # Errors
/// When the module has something that WGSL or naga lacks.
pub fn translate_to_wgsl(module: &SpirvModule) -> Result<WgslShader, CompileError> {
    let (mut module, push) = replace_push_constants(module)?;
    let pipeline = PassPipeline::from_names([PASSES]);
    let pipeline = pipeline.map_err(|error| refuse(error.to_string()))?;
    optimise_module(&mut module, &pipeline, &mut PipelineOptions::default())
        .map_err(|error| refuse(error.to_string()))?;
    let source = spirula_wgsl::write_source(&module.to_words());
    let source = source.map_err(CompileError::from_translate_fault)?;
    Ok(WgslShader {
        source,
        module,
        push,
    })
}

/// The module with its push constants in a storage buffer, where it has any.
fn replace_push_constants(
    module: &SpirvModule,
) -> Result<(SpirvModule, Option<DescriptorLocation>), CompileError> {
    let mut globals = module.section_insts(ModuleSection::Globals);
    let has_pushed = globals.any(|inst| {
        let is_pushed = |class: u32| StorageClass(class) == StorageClass::PushConstant;
        inst.op() == Op::Variable && is_pushed(inst.operand_word(0))
    });
    if !has_pushed {
        return Ok((module.clone(), None));
    }
    let moved = move_push_constants(module);
    let (module, place) =
        moved.ok_or_else(|| refuse("the push constants have no form as a buffer".to_owned()))?;
    Ok((module, Some(place)))
}

fn refuse(message: String) -> CompileError {
    CompileError::from_translate_fault(SourceDiagnostic::error(SourceLocation::Unknown, message))
}

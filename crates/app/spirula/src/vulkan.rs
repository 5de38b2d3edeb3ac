//! Lowering of modules for Vulkan: kernels become compute shaders, and rare types are split.

use crate::error::{CompileError, CompileStage};
use crate::initialisers::warn_of_initialisers;
use spirula_diagnostics::SourceDiagnostic;
use spirula_legalize::VulkanCompileOptions;
use spirula_llvm::{AllowedExtensions, TranslationOptions};
use spirula_spirv::ir::{ModuleSection, SpirvModule};
use spirula_spirv::target::{SpirvTarget, TargetEnvironment};

/// Whether a target is an environment of Vulkan.
pub(crate) fn is_vulkan(target: &SpirvTarget) -> bool {
    matches!(target.environment, TargetEnvironment::Vulkan(..))
}

/// Compiles the kernels of a module to compute shaders. The result is `None` where the target is not Vulkan, or where
/// the module has no kernels. Warnings are appended to `diagnostics`.
///
/// # Errors
/// When the module needs something that Vulkan lacks.
pub(crate) fn compile_for_vulkan(
    module: &SpirvModule,
    target: Option<SpirvTarget>,
    diagnostics: &mut Vec<SourceDiagnostic>,
) -> Result<Option<SpirvModule>, CompileError> {
    let Some(target) = target.filter(is_vulkan) else {
        return Ok(None);
    };
    if !spirula_legalize::is_for_kernels(module) {
        return Ok(None);
    }
    diagnostics.extend(warn_of_initialisers(module));
    let options = VulkanCompileOptions {
        target,
        ..VulkanCompileOptions::default()
    };
    let compiled = spirula_legalize::compile_kernels(module, &options);
    let compiled = compiled
        .map_err(|faults| CompileError::from_diagnostics(CompileStage::Translate, faults))?;
    Ok(Some(compiled))
}

/// Splits integers and vectors of sizes that hardly any device has. The module is lifted to LLVM IR, whose translation
/// splits them. A module that declares no extension for such types is returned unchanged.
///
/// # Errors
/// When a module with such types uses something that LLVM IR has no form for.
pub fn split_rare_types(module: SpirvModule) -> Result<SpirvModule, CompileError> {
    let extensions = AllowedExtensions::of_devices();
    let mut declared = module
        .section_insts(ModuleSection::Extensions)
        .map(|extension| extension.string_operand(0));
    if declared.all(|name| extensions.is_allowed(&name)) {
        return Ok(module);
    }
    let refused = |faults| CompileError::from_diagnostics(CompileStage::Translate, faults);
    let lifted = spirula_llvm::lift_module(&module).map_err(refused)?;
    let options = TranslationOptions {
        extensions,
        ..TranslationOptions::default()
    };
    spirula_llvm::translate_module(&lifted, &options).map_err(refused)
}

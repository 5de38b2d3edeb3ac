//! OpenCL kernels to compute shaders for Vulkan.
//!
//! 1. `prepare`: functions of `std_library` are linked in, calls are inlined, variables become values (`opaque_variables`).
//! 2. `module_info`, `points_to`: the module with its analyses, and the memory that each pointer may point to.
//! 3. `program_scope`: the buffer of variables at program scope; `initial_values` and `pointer_delta` evaluate their contents.
//! 4. `lower`: each kernel becomes a compute shader.
//! 5. The structuriser and passes of the optimiser finish the module.

mod builtin_variables;
mod initial_values;
mod lower;
mod module_info;
mod opaque_variables;
mod pointer_delta;
mod points_to;
mod prepare;
mod program_scope;
mod std_library;

use crate::kernels::module_info::KernelModuleInfo;
use crate::kernels::points_to::PointsToAnalysis;
use crate::kernels::program_scope::ProgramScopeBuffer;
use crate::passes::run_passes;
use crate::structurise::structurise_module;
use spirula_diagnostics::{SourceDiagnostic, SourceLocation};
use spirula_spirv::grammar::SpirvVersion;
use spirula_spirv::grammar::enumerants::{Capability, ExecutionModel};
use spirula_spirv::ir::{ModuleSection, SpirvModule};
use spirula_spirv::target::{SpirvTarget, TargetEnvironment};

/// Options of the compilation of kernels.
#[derive(Clone, Debug)]
pub struct VulkanCompileOptions {
    /// The target environment.
    pub target: SpirvTarget,
    /// The only kernel to compile; by default all.
    pub entry: Option<String>,
    /// Whether float functions may be those of Vulkan, which are fast but exceed OpenCL's error bounds. Calls that a module marks as
    /// fast always use them.
    pub is_fast: bool,
    /// Whether the device's `Fma` rounds once, as OpenCL's function must. Where it does not, a function of integers takes its place.
    pub has_fused_products: bool,
}

impl Default for VulkanCompileOptions {
    /// All kernels for Vulkan 1.3.
    fn default() -> Self {
        VulkanCompileOptions {
            target: SpirvTarget {
                environment: TargetEnvironment::Vulkan(1, 3),
                version: SpirvVersion::new(1, 6),
            },
            entry: None,
            is_fast: false,
            has_fused_products: true,
        }
    }
}

/// Whether a module is for OpenCL and contains no shader, so that it needs [`compile_kernels`] for Vulkan.
pub fn is_for_kernels(module: &SpirvModule) -> bool {
    let has = |wanted: Capability| {
        let mut capabilities = module.section_insts(ModuleSection::Capabilities);
        capabilities.any(|c| c.operand_word(0) == wanted.0)
    };
    has(Capability::Kernel) && (!has(Capability::Shader) || has_kernels(module))
}

/// Whether a module has kernels.
pub fn has_kernels(module: &SpirvModule) -> bool {
    let mut points = module.section_insts(ModuleSection::EntryPoints);
    points.any(|p| p.operand_word(0) == ExecutionModel::Kernel.0)
}

/// First version with buffer addresses and Vulkan's memory model.
const LEAST: SpirvVersion = SpirvVersion::new(1, 5);

/// Passes of the optimiser after control flow is structured.
const AFTER: &str = "dedup,adce,compact-ids";

/// Compiles kernels to compute shaders.
///
/// # Errors
/// Constructs that Vulkan cannot express, or that are not supported: at least one of each refused kernel.
pub fn compile_kernels(
    module: &SpirvModule,
    options: &VulkanCompileOptions,
) -> Result<SpirvModule, Vec<SourceDiagnostic>> {
    let one = |fault: SourceDiagnostic| vec![fault];
    if options.target.version < LEAST {
        let version = options.target.version;
        let message = format!("kernels for Vulkan need SPIR-V {LEAST}: {version} was asked for");
        let hint = "vulkan1.2 and newer take it";
        return Err(vec![
            SourceDiagnostic::error(SourceLocation::Unknown, message).with_hint(hint),
        ]);
    }
    let prepared = prepare::prepare_module(module, options).map_err(one)?;
    let info = KernelModuleInfo::new(&prepared).map_err(one)?;
    let points_to = PointsToAnalysis::from_module_info(&info).map_err(one)?;
    let program = if points_to.program_variables().is_empty() {
        ProgramScopeBuffer::default()
    } else {
        // The buffer is that of the original module, so that all of its kernels find the same layout.
        ProgramScopeBuffer::new(module).map_err(one)?
    };
    let mut lowered = lower::lower_kernels(&info, &points_to, &program, options)?;
    structurise_module(&mut lowered).map_err(one)?;
    run_passes(&mut lowered, AFTER).map_err(one)?;
    Ok(lowered)
}

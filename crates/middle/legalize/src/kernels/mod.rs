//! OpenCL kernels to compute shaders.

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

/// What is made.
#[derive(Clone, Debug)]
pub struct VulkanCompileOptions {
    /// The environment.
    pub target: SpirvTarget,
    /// The one kernel that is compiled; by default all.
    pub entry: Option<String>,
    /// Whether functions of floats may be those of Vulkan, which are fast but not within OpenCL's
    /// bounds. Where a module says so of a call, they are in any case.
    pub is_fast: bool,
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
        }
    }
}

/// Whether a module is for OpenCL and no shader, so that only [`compile_kernels`] makes something for Vulkan of it.
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

/// The version that has addresses and Vulkan's memory model.
const LEAST: SpirvVersion = SpirvVersion::new(1, 5);

/// What is left for the optimiser once control flow has its structure.
const AFTER: &str = "dedup,adce,compact-ids";

/// Compiles kernels to compute shaders.
///
/// # Errors
/// What Vulkan's model has no place for, or what is not supported: at least one thing of each
/// kernel that is refused.
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
    let facts = KernelModuleInfo::new(&prepared).map_err(one)?;
    let classes = PointsToAnalysis::from_module_info(&facts).map_err(one)?;
    let program = match classes.program_variables().is_empty() {
        true => ProgramScopeBuffer::default(),
        // Of the module as it is given, so that every kernel of it finds the same.
        false => ProgramScopeBuffer::new(module).map_err(one)?,
    };
    let mut lowered = lower::lower_kernels(&facts, &classes, &program, options)?;
    structurise_module(&mut lowered).map_err(one)?;
    run_passes(&mut lowered, AFTER).map_err(one)?;
    Ok(lowered)
}
